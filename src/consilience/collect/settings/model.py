"""What a study consists of: items, settings, participants and assignments, without any storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from consilience.annotations.types import Real
from consilience.collect.settings.cleaning import clean
from consilience.collect.settings.panel import Panel
from consilience.collect.settings.training import Training
from consilience.errors import InputError

OPEN, CLOSED, HYBRID = "open", "closed", "hybrid"
KINDS = (OPEN, CLOSED, HYBRID)  # of sorts
JUDGING = "judging"  # the kind of a study in which people who did not sort judge clusters
BOARDS = ("piles", "sheet")
QUESTIONS = "questions"  # what a judging study has in place of a board
DIRECTIONS = ("ltr", "rtl")
GROUP_NAMES = ("none", "optional", "required")
STOP_RULES = ("reliability", "none")


@dataclass(frozen=True)
class StudySettings:
    """How a study is run.

    Attributes
    ----------
    instructions : str
        Markdown, shown before the first sort.
    language : str
        Language of the study, as in ``<html lang>``.
    direction : {"ltr", "rtl"}
        Direction of its writing.
    texts : dict
        Sentences that replace those of the board, by key.
    categories : tuple of str
        The groups of a closed or hybrid sort.
    group_names : {"none", "optional", "required"}
        Whether participants name their groups.
    all_sorted : bool or "required"
        Whether submitting asks before it leaves cards unsorted; "required" forbids that.
    subset_size : int, optional
        Items of one assignment; by default all items.
    groupings_wanted : int, optional
        No more assignments are given once so many are submitted or in progress.
    per_participant : int
        How many assignments one participant may submit; in a judging study, how many questions they are asked.
    answers_wanted : int, optional
        In a judging study, ask no question again that has so many answers, or will have them.
    max_per_item : int, optional
        Present no item more often than this.
    strategy : str
        Strategy of `consilience.active` that composes subsets.
    random_share : float
        Share of random subsets among the composed ones.
    repeat_share : float
        Share of assignments that repeat an earlier one of the same participant; they stay out of the consensus.
    stop_rule : {"reliability", "none"}
        Whether advice to stop is computed.
    parameters : tuple of str
        Parameters of the address by which a participant came that are stored.
    panel : Panel
        Consent, questions, codes at the end, and how people come back.
    training : Training
        Practice, admission and gold.
    """

    instructions: str = ""
    language: str = "en"
    direction: str = "ltr"
    texts: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    group_names: str = "optional"
    all_sorted: bool | str = True
    subset_size: int | None = None
    groupings_wanted: int | None = None
    per_participant: int = 1
    answers_wanted: int | None = None
    max_per_item: int | None = None
    strategy: str = "informative"
    random_share: Real = 0.15
    repeat_share: Real = 0.0
    stop_rule: str = "reliability"
    parameters: tuple[str, ...] = ()
    panel: Panel = field(default_factory=Panel)
    training: Training = field(default_factory=Training)

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {
            "texts": dict(self.texts),
            "categories": list(self.categories),
            "parameters": list(self.parameters),
            "panel": self.panel.as_json(),
            "training": self.training.as_json(),
        }

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> StudySettings:
        """Return settings from JSON values; those that are not given have their defaults.

        Raises
        ------
        InputError
            A key is none of the settings.
        """
        known = [one.name for one in fields(cls)]
        unknown = sorted(str(name) for name in values if name not in known)
        if unknown:
            raise InputError(f"There is no setting {clean(unknown[0])!r}; the settings are {', '.join(known)}.")
        listed = {
            name: tuple(values[name]) if isinstance(values[name], list) else values[name]
            for name in ("categories", "parameters")
            if name in values
        }
        training = values.get("training", {})
        if not isinstance(training, Training):
            training = Training.of_json(training)
        panel = Panel.of_json(values.get("panel", {}))
        return cls(**{**values, **listed, "panel": panel, "training": training})


@dataclass(frozen=True)
class Item:
    """A card.

    Attributes
    ----------
    number : int
        Position in the study, from 0.
    name : str
        Unique in the study; what exports call it.
    text : str
        What the card says; the name if it has neither text nor picture.
    picture : str, optional
        Hash of a stored picture.
    alt : str
        Alternative text of the picture.
    """

    number: int
    name: str
    text: str = ""
    picture: str | None = None
    alt: str = ""


@dataclass(frozen=True)
class Study:
    """A study, without its items.

    Attributes
    ----------
    id : str
        Short and random.
    title : str
    kind : {"open", "closed", "hybrid", "judging"}
    board : {"piles", "sheet", "questions"}
    status : {"draft", "open", "closed"}
    settings : StudySettings
    n_items : int
    join_token : str
        The secret part of the link by which people join; `Store.renew_join_link` replaces it.
    seed : int
        Seed of everything random in the study but the order of cards.
    created, opened, closed : datetime, or None
    """

    id: str
    title: str
    kind: str
    board: str
    status: str
    settings: StudySettings
    n_items: int
    join_token: str
    seed: int
    created: datetime
    opened: datetime | None = None
    closed: datetime | None = None

    @property
    def subset_size(self) -> int:
        """Items of one assignment."""
        size = self.settings.subset_size
        return self.n_items if size is None else min(size, self.n_items)

    @property
    def composes_subsets(self) -> bool:
        """Whether an assignment holds only a part of the items."""
        return self.subset_size < self.n_items


@dataclass(frozen=True)
class Picture:
    """A stored picture.

    Attributes
    ----------
    hash : str
        SHA-256 of its data, in hexadecimal digits.
    mime : str
    width, height : int
    data : bytes
    """

    hash: str
    mime: str
    width: int
    height: int
    data: bytes


@dataclass(frozen=True)
class Participant:
    """Somebody who sorts.

    Attributes
    ----------
    id : str
        Random; what exports call them, unless they were imported.
    study : str
    name : str, optional
        The annotator of imported groupings.
    parameters : dict of str
        Stored parameters of the address by which they came.
    preview : bool
        A preview by the researcher, whose answers do not count.
    excluded : bool
        Whether the researcher leaves their answers out.
    created : datetime
    """

    id: str
    study: str
    name: str | None
    parameters: Mapping[str, str]
    preview: bool
    excluded: bool
    created: datetime


@dataclass(frozen=True)
class Assignment:
    """Items that one participant sorts.

    Attributes
    ----------
    id : int
    study, participant : str
    items : tuple of int
        Numbers of the items, in the order presented.
    source : str
        Why these items: the name of a strategy ("informative", "random", …); "dry", random because nothing was
        prepared; "repeat", an earlier assignment of the participant again; "all", all items; "imported"; "practice",
        "admission" and "gold", whose right answer is known.
    state : {"open", "submitted", "withdrawn"}
        Withdrawn is what was left untouched for long; it continues when the participant returns.
    number : int
        Number among the assignments of the participant, from 1; those of training are numbered -1, -2, …
    assigned, started, submitted : datetime, or None
        Started is the first change.
    answer : list of dict, or None
        The groups submitted: id, name, items.
    """

    id: int
    study: str
    participant: str
    items: tuple[int, ...]
    source: str
    state: str
    number: int
    assigned: datetime
    started: datetime | None = None
    submitted: datetime | None = None
    answer: Sequence[Mapping[str, Any]] | None = None
