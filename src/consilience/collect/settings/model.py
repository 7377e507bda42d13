"""What a study consists of: items, settings, participants and assignments, without any storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from consilience.collect.settings.cleaning import brief
from consilience.collect.settings.kinds import Choice, Names, Number, Text, Whole, declared_in
from consilience.collect.settings.languages import ENGLISH, LANGUAGES, direction_of
from consilience.collect.settings.panel import Panel
from consilience.collect.settings.study_kinds import (
    ASKED,
    BOARD,
    FIXED,
    KIND,
    PAIRS,
    SAMENESS,
    count_questions,
    kind_of_answers,
    size_of_sets,
)
from consilience.collect.settings.study_kinds import CLOSED as CLOSED
from consilience.collect.settings.study_kinds import HYBRID as HYBRID
from consilience.collect.settings.study_kinds import JUDGING as JUDGING
from consilience.collect.settings.study_kinds import KINDS as KINDS
from consilience.collect.settings.study_kinds import OPEN as OPEN
from consilience.collect.settings.study_kinds import QUESTIONS as QUESTIONS
from consilience.collect.settings.training import Training
from consilience.errors import InputError

MOST_ITEMS = 5000
LONGEST_DESCRIPTION = 700  # characters, of a category with its name
MEANS = " = "  # between a category and its description
BY_LANGUAGE = ("texts_in", "translations")  # settings that hold sentences of each language


@dataclass(frozen=True)
class StudySettings:
    """How a study is run: each setting is declared with what it does and what it may be.

    `texts` replace sentences that participants read in the `language` of the study, by key, and `texts_in` those of its
    other `languages`. `translations` are, by language, what the study itself says: title, instructions, consent,
    questions with their options, categories with their descriptions, and cards, each by what was written.
    """

    categories: tuple[str, ...] = Names(
        "A category of a closed or hybrid sort.", option="category", most=100, rows=4
    ).default(())
    descriptions: tuple[str, ...] = Names(
        "What a category means, such as 'Mains = Eaten warm'.",
        option="description",
        most=100,
        rows=4,
        longest_each=LONGEST_DESCRIPTION,
    ).default(())
    least_in_group: int | None = Whole("Fewest cards of a group that holds any.", most=MOST_ITEMS).default(None)
    most_in_group: int | None = Whole("Most cards of a group.", most=MOST_ITEMS).default(None)
    group_names: str = Choice(
        "Whether people name their groups.",
        words={"optional": "Optional", "required": "Required", "none": "Not asked"},
    ).default("optional")
    all_sorted: bool | str = Choice(
        "What happens if cards are left unsorted when a sort is submitted.",
        option="unsorted",
        words={
            "ask": "Ask before handing in",
            "forbid": "Every card must be sorted",
            "allow": "Hand in without asking",
        },
        values={"ask": True, "forbid": "required", "allow": False},
    ).default(True)
    required_cards: tuple[str, ...] = Names(
        "A card that must be sorted, by its name, whatever else is left over.",
        option="require",
        most=MOST_ITEMS,
        rows=3,
    ).default(())
    subset_size: int | None = Whole(
        "Cards that are sorted at a time, or questions of a set.",
        option="size",
        unset="all, or 10 questions",
        least=2,
        most=MOST_ITEMS,
    ).default(None)
    per_participant: int = Whole("Subsets that one person sorts.", most=1000, may_be_none=False).default(1)
    instructions: str = Text("Markdown that is shown before the first sort.", longest=50_000, rows=6).default("")
    language: str = Text(
        "Language of the study, such as pt-BR.",
        longest=35,
        pattern="^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$",
        expected="a language tag such as 'en' or 'pt-BR'",
    ).default(ENGLISH)
    languages: tuple[str, ...] = Names(
        f"Another language that people can choose: {', '.join(LANGUAGES)}; their browser proposes one.",
        option="also-in",
        most=len(LANGUAGES),
        longest_each=35,
    ).default(())
    direction: str = Choice(
        "Direction of the writing of the language of the study.",
        words={"auto": "That of the language", "ltr": "From left to right", "rtl": "From right to left"},
    ).default("auto")
    texts: Mapping[str, str] = field(default_factory=dict)
    texts_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groupings_wanted: int | None = Whole(
        "Give no more subsets once so many are sorted or in progress.", option="groupings"
    ).default(None)
    strategy: str = Choice(
        "How subsets are composed.",
        words={
            "informative": "informative (what is least certain)",
            "random": "random (any)",
            "explore": "explore (cards that were seldom shown together)",
            "exploit-pairwise": "exploit-pairwise (pairs on which people differ)",
            "exploit-one-vs-rest": "exploit-one-vs-rest (cards on which people differ)",
            "explore-exploit": "explore-exploit (seldom shown together, or people differ)",
        },
        only={"closed": "random"},
    ).default("informative")
    random_share: int | float = Number("Share of random subsets among the composed ones.").default(0.15)
    repeat_share: int | float = Number(
        "Share of subsets that show a person an earlier one again; they stay out of the consensus."
    ).default(0.0)
    max_per_item: int | None = Whole("Present no card more often than this.").default(None)
    stop_rule: str = Choice(
        "Whether advice to stop is given.",
        words={"reliability": "When more answers would hardly change the result", "none": "None"},
        only={"closed": "none", "pairs": "none"},
    ).default("reliability")
    answers_wanted: int | None = Whole(
        "In a judging study, ask no question again that has so many answers.", option="answers"
    ).default(None)
    parameters: tuple[str, ...] = Names(
        "Parameter of the participants' address to be stored, such as PROLIFIC_PID.", option="parameter", most=20
    ).default(())
    moves: bool = Choice(
        "Whether there is a table of the moves of cards, which the consent then names.",
        words={"no": "No", "yes": "Yes: a table, and a sentence of the consent"},
        values={"no": False, "yes": True},
    ).default(False)
    panel: Panel = field(default_factory=Panel)
    training: Training = field(default_factory=Training)

    @property
    def meanings(self) -> dict[str, str]:
        """The descriptions of categories, by their names."""
        lines = {name: f"{name}{MEANS}" for name in self.categories}
        return {
            name: line.removeprefix(lines[name])
            for line in self.descriptions
            for name in [max((name for name in lines if line.startswith(lines[name])), key=len)]
        }

    @property
    def offered(self) -> tuple[str, ...]:
        """The languages that people can choose, that of the study first."""
        return (self.language, *self.languages)

    def direction_in(self, language: str) -> str:
        """Return the direction of writing in a language, which the study may set for its own."""
        if language == self.language and self.direction != "auto":
            return self.direction
        return direction_of(language)

    def texts_for(self, language: str) -> Mapping[str, str]:
        """Return the sentences that the study replaces in a language, by key."""
        return self.texts if language == self.language else self.texts_in.get(language, {})

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {
            "languages": list(self.languages),
            "texts": dict(self.texts),
            **{name: {code: dict(said) for code, said in getattr(self, name).items()} for name in BY_LANGUAGE},
            "categories": list(self.categories),
            "descriptions": list(self.descriptions),
            "required_cards": list(self.required_cards),
            "parameters": list(self.parameters),
            "panel": self.panel.as_json(),
            "training": self.training.as_json(),
        }

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> StudySettings:
        """Return settings from JSON values; those that are not given have their defaults.

        Raises InputError: a key is none of the settings.
        """
        known = [one.name for one in fields(cls)]
        unknown = sorted(str(name) for name in values if name not in known)
        if unknown:
            raise InputError(f"There is no setting {brief(unknown[0])}; the settings are {', '.join(known)}.")
        listed = {
            name: tuple(values[name]) if isinstance(values[name], list) else values[name]
            for name in ("categories", "descriptions", "required_cards", "parameters", "languages")
            if name in values
        }
        training = values.get("training", {})
        if not isinstance(training, Training):
            training = Training.of_json(training)
        panel = Panel.of_json(values.get("panel", {}))
        return cls(**{**values, **listed, "panel": panel, "training": training})


SECRET = ("panel.endings",)  # what only editors see: the codes for which a panel pays


def without_secrets(settings: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Return settings as JSON values, in which those that only editors see are empty."""
    return {
        name: {}
        if within + name in SECRET
        else without_secrets(value, f"{within}{name}.")
        if isinstance(value, dict)
        else value
        for name, value in settings.items()
    }


SETTINGS = declared_in(StudySettings)
OF_SORTS = {"kind": KIND, "board": BOARD} | {name: kind for name, kind in SETTINGS.items() if name != "answers_wanted"}
DIFFERENT_FOR_JUDGES: dict[str, dict[str, Any]] = {
    "per_participant": {"help": "Questions that one judge is asked.", "unset": "12, or all", "may_be_none": True},
    "answers_wanted": {"help": "Ask no question again that has so many answers.", "unset": "10"},
    "instructions": {"help": "Markdown that is shown before the first question."},
    "language": {"unset": "that of STUDY, or en"},
    "languages": {"unset": "those of STUDY"},
    "direction": {"unset": "that of STUDY, or auto"},
    "parameters": {"help": "Parameter of the judges' address to be stored.", "unset": "those of STUDY"},
}
OF_JUDGES = {name: replace(SETTINGS[name], **others) for name, others in DIFFERENT_FOR_JUDGES.items()}


@dataclass(frozen=True)
class Item:
    """A card.

    number : position in the study, from 0.
    name : unique in the study; what exports call it.
    text : what the card says; the name if it has neither text nor picture.
    picture : hash of a stored picture.
    alt : alternative text of the picture.
    description : what the card means, for participants who ask.
    """

    number: int
    name: str
    text: str = ""
    picture: str | None = None
    alt: str = ""
    description: str = ""


@dataclass(frozen=True)
class Study:
    """A study, without its items.

    id : short and random.
    kind : {"open", "closed", "hybrid", "labels", "pairs", "judging"}
    board : {"piles", "sheet", "questions"}
    status : {"draft", "open", "closed"}
    join_token : the secret part of the link by which people join; `Store.renew_join_link` replaces it.
    seed : seed of everything random in the study but the order of cards.
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
        """Items, or questions, of one assignment."""
        return size_of_sets(self.kind, self.settings.subset_size, self.n_items)

    @property
    def composes_subsets(self) -> bool:
        """Whether an assignment holds only a part of the items, or questions."""
        return self.subset_size < count_questions(self.kind, self.n_items)

    @property
    def is_asked(self) -> bool:
        """Whether people are asked one question after the other, instead of sorting cards on a board."""
        return self.kind in ASKED

    @property
    def has_fixed_groups(self) -> bool:
        """Whether people make no groups of their own."""
        return self.kind in FIXED

    @property
    def gives_labels(self) -> bool:
        """Whether answers are labels of cards, whose names are the same for everybody."""
        return kind_of_answers(self.kind) == "labels"

    @property
    def classes(self) -> tuple[str, ...]:
        """The groups that are given: the categories, or the two answers about a pair."""
        return SAMENESS if self.kind == PAIRS else self.settings.categories


@dataclass(frozen=True)
class Picture:
    """A stored picture.

    hash : SHA-256 of its data, in hexadecimal digits.
    """

    hash: str
    mime: str
    width: int
    height: int
    data: bytes


@dataclass(frozen=True)
class Participant:
    """Somebody who sorts.

    id : random; what exports call them, unless they were imported.
    name : the annotator of imported groupings.
    parameters : stored parameters of the address by which they came.
    preview : a preview by the researcher, whose answers do not count.
    excluded : whether the researcher leaves their answers out.
    language : in which they take part; None if it is not known.
    """

    id: str
    study: str
    name: str | None
    parameters: Mapping[str, str]
    preview: bool
    excluded: bool
    created: datetime
    language: str | None = None


@dataclass(frozen=True)
class Assignment:
    """Items that one participant sorts.

    items : numbers of the items, in the order presented.
    source : why these items: the name of a strategy ("informative", "random", …); "dry", random because nothing was
        prepared; "repeat", an earlier assignment of the participant again; "all", all items; "imported"; "practice",
        "admission" and "gold", whose right answer is known.
    state : {"open", "submitted", "withdrawn"}; withdrawn is what was left untouched for long; it continues when the
        participant returns.
    number : number among the assignments of the participant, from 1; those of training are numbered -1, -2, …
    started : when the first change came.
    answer : the groups submitted: id, name, items.
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
