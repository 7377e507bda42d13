"""What a study consists of: items, settings, participants and assignments, without any storage.

Every text that comes from a user passes `clean`, since no database keeps all characters that JSON can spell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from consilience.active.named_strategies import STRATEGIES
from consilience.annotations.types import Real
from consilience.errors import InputError

OPEN, CLOSED, HYBRID = "open", "closed", "hybrid"
KINDS = (OPEN, CLOSED, HYBRID)
BOARDS = ("piles", "sheet")
STATUSES = ("draft", "open", "closed")
DIRECTIONS = ("ltr", "rtl")
GROUP_NAMES = ("none", "optional", "required")
STOP_RULES = ("reliability", "none")
SOURCES = (*STRATEGIES, "dry", "repeat", "all", "imported")

MOST_ITEMS = 5000
MOST_CATEGORIES = 100
MOST_PARAMETERS = 20
MOST_TEXTS = 500
LONGEST_NAME = 200  # characters of the name of an item, a category or a group
LONGEST_TEXT = 2000  # of the text of an item, its alternative text, or a sentence that a participant reads
LONGEST_TITLE = 300
LONGEST_INSTRUCTIONS = 50_000
LONGEST_PARAMETER = 500  # of the value of an URL parameter

LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
UNKEPT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


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
        How many assignments one participant may submit.
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
    max_per_item: int | None = None
    strategy: str = "informative"
    random_share: Real = 0.15
    repeat_share: Real = 0.0
    stop_rule: str = "reliability"
    parameters: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {
            "texts": dict(self.texts),
            "categories": list(self.categories),
            "parameters": list(self.parameters),
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
        return cls(**{**values, **listed})


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
    kind : {"open", "closed", "hybrid"}
    board : {"piles", "sheet"}
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
        prepared; "repeat", an earlier assignment of the participant again; "all", all items; "imported".
    state : {"open", "submitted", "withdrawn"}
        Withdrawn is what was left untouched for long; it continues when the participant returns.
    number : int
        Number among the assignments of the participant, from 1.
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


def clean(text: str) -> str:
    """Return a text with the characters that databases, files or terminals do not keep replaced by spaces."""
    return UNKEPT.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def line(text: str) -> str:
    """Return a text on one line, cleaned."""
    return " ".join(clean(text).split())


def clean_text(value: Any, what: str, longest: int, *, one_line: bool = False) -> str:
    """Return a text, cleaned.

    Raises
    ------
    InputError
        It is no text, or too long.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} must be text. Got {_got(value)}.")
    if len(value) > longest:
        raise InputError(f"{what} has {len(value):,} characters; at most {longest:,} are allowed.")
    return line(value) if one_line else clean(value)


def checked_title(title: Any) -> str:
    """Return the title of a study, cleaned.

    Raises
    ------
    InputError
        It is empty or too long.
    """
    found = clean_text(title, "The title", LONGEST_TITLE, one_line=True)
    if not found:
        raise InputError("The title of a study must not be empty.")
    return found


def checked_items(items: Any) -> list[Item]:
    """Return items in order, their texts cleaned and numbered from 0.

    Parameters
    ----------
    items : iterable of Item, or of str

    Raises
    ------
    InputError
        There are fewer than two or too many, a name is missing, or two items have the same.
    """
    found = [_checked_item(item, number) for number, item in enumerate(items)]
    if not 2 <= len(found) <= MOST_ITEMS:
        raise InputError(f"A study must have from 2 to {MOST_ITEMS:,} items. Got {len(found):,}.")
    seen: dict[str, int] = {}
    for item in found:
        if item.name in seen:
            raise InputError(f"Items {seen[item.name] + 1} and {item.number + 1} have the same name: {item.name!r}.")
        seen[item.name] = item.number
    return found


def _checked_item(item: Any, number: int) -> Item:
    if isinstance(item, str):
        item = Item(number, item)
    if not isinstance(item, Item):
        raise InputError(f"Item {number + 1} must be an Item or a name. Got {_got(item)}.")
    where = f"of item {number + 1}"
    name = clean_text(item.name, f"The name {where}", LONGEST_NAME, one_line=True)
    if not name:
        raise InputError(f"The name {where} is empty.")
    text = clean_text(item.text, f"The text {where}", LONGEST_TEXT)
    alt = clean_text(item.alt, f"The alternative text {where}", LONGEST_TEXT, one_line=True)
    return Item(
        number,
        name,
        text or ("" if item.picture else name),
        item.picture,
        alt or text or ("" if item.picture else name),
    )


def checked_settings(settings: StudySettings, kind: Any, board: Any, n_items: int) -> StudySettings:
    """Return settings that a study of this kind can have, their texts cleaned.

    Raises
    ------
    InputError
        A setting has a wrong value, or two contradict each other.
    """
    _require_one_of("kind", kind, KINDS)
    _require_one_of("board", board, BOARDS)
    _require_one_of("direction", settings.direction, DIRECTIONS)
    _require_one_of("group_names", settings.group_names, GROUP_NAMES)
    _require_one_of("strategy", settings.strategy, tuple(STRATEGIES))
    _require_one_of("stop_rule", settings.stop_rule, STOP_RULES)
    if not (isinstance(settings.all_sorted, bool) or settings.all_sorted == "required"):
        raise InputError(f"'all_sorted' must be true, false or 'required'. Got {_got(settings.all_sorted)}.")
    if not (isinstance(settings.language, str) and LANGUAGE.fullmatch(settings.language)):
        raise InputError(f"'language' must be a language tag such as 'en' or 'pt-BR'. Got {_got(settings.language)}.")
    _require_numbers(settings, n_items)
    _require_possible(settings, kind, n_items)
    values = settings.as_json() | {
        "instructions": clean_text(settings.instructions, "The instructions", LONGEST_INSTRUCTIONS),
        "texts": _checked_texts(settings.texts),
        "categories": list(_checked_categories(settings.categories, kind)),
        "parameters": list(_checked_parameters(settings.parameters)),
        "random_share": float(settings.random_share),
        "repeat_share": float(settings.repeat_share),
    }
    return StudySettings.of_json(values)


def checked_parameters(parameters: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, str]:
    """Return the parameters of an address that a study stores, cleaned and cut."""
    return {
        name: line(value[:LONGEST_PARAMETER])
        for name in wanted
        if isinstance(value := parameters.get(name), str) and line(value)
    }


def _require_one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if not (isinstance(value, str) and value in allowed):
        raise InputError(f"{name!r} must be one of {', '.join(allowed)}. Got {_got(value)}.")


def _require_numbers(settings: StudySettings, n_items: int) -> None:
    bounds = {
        "subset_size": (2, n_items, True),
        "groupings_wanted": (1, 1_000_000, True),
        "per_participant": (1, 1000, False),
        "max_per_item": (1, 1_000_000, True),
    }
    for name, (least, most, may_be_none) in bounds.items():
        value = getattr(settings, name)
        is_whole = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        if not is_whole and not (may_be_none and value is None):
            raise InputError(f"{name!r} must be a whole number from {least} to {most:,}. Got {_got(value)}.")
    for name in ("random_share", "repeat_share"):
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{name!r} must be a number from 0 to 1. Got {_got(value)}.")


def _require_possible(settings: StudySettings, kind: str, n_items: int) -> None:
    size = n_items if settings.subset_size is None else settings.subset_size
    if size * settings.per_participant > n_items and settings.repeat_share == 0:
        raise InputError(
            f"Nobody sorts an item twice, and there are {n_items:,} items: {settings.per_participant:,} subsets of "
            f"{size:,} for each participant are too many."
        )
    if settings.repeat_share == 1 or (settings.repeat_share and settings.per_participant == 1):
        raise InputError(
            "'repeat_share' must be below 1, and needs participants who may sort at least two subsets "
            "('per_participant')."
        )
    if kind == CLOSED and settings.strategy != "random":
        raise InputError(f"A closed sort has random subsets: the strategy must be 'random'. Got {settings.strategy!r}.")
    if kind == CLOSED and settings.stop_rule != "none":
        raise InputError("There is no stop rule for closed sorts: 'stop_rule' must be 'none'.")


def _checked_texts(texts: Any) -> dict[str, str]:
    if not isinstance(texts, Mapping) or len(texts) > MOST_TEXTS:
        raise InputError(f"'texts' must be at most {MOST_TEXTS} sentences by their keys.")
    return {
        clean_text(key, "The key of a text", LONGEST_NAME, one_line=True): clean_text(
            text, f"The text {clean(str(key))!r}", LONGEST_TEXT
        )
        for key, text in texts.items()
    }


def _checked_categories(categories: Any, kind: str) -> tuple[str, ...]:
    if not isinstance(categories, Sequence) or isinstance(categories, str) or len(categories) > MOST_CATEGORIES:
        raise InputError(f"'categories' must be a list of at most {MOST_CATEGORIES} names.")
    found = tuple(clean_text(name, "The name of a category", LONGEST_NAME, one_line=True) for name in categories)
    if not all(found):
        raise InputError("The name of a category must not be empty.")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"Two categories have the name {twice!r}.")
    least = {OPEN: 0, HYBRID: 1, CLOSED: 2}[kind]
    if len(found) < least:
        raise InputError(f"A sort of the kind {kind!r} needs at least {least} categories. Got {len(found)}.")
    if found and kind == OPEN:
        raise InputError("An open sort has no categories; a hybrid one has some, and participants may add groups.")
    return found


def _checked_parameters(parameters: Any) -> tuple[str, ...]:
    if not isinstance(parameters, Sequence) or isinstance(parameters, str) or len(parameters) > MOST_PARAMETERS:
        raise InputError(f"'parameters' must be a list of at most {MOST_PARAMETERS} names.")
    for name in parameters:
        if not (isinstance(name, str) and PARAMETER.fullmatch(name)):
            raise InputError(f"{_got(name)} cannot be the name of a parameter of an address, such as PROLIFIC_PID.")
    return tuple(dict.fromkeys(parameters))


def _got(value: Any) -> str:
    """Show a value in a message, briefly."""
    shown = repr(value)
    return clean(shown if len(shown) <= 60 else f"{shown[:57]}…")
