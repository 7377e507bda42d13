"""What the API takes and gives, as its OpenAPI document describes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from consilience.collect.settings import checks, kinds, model, training

Name = Annotated[str, Field(min_length=1, max_length=checks.LONGEST_NAME)]


class Strict(BaseModel):
    """A body in which every key is known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(BaseModel):
    """Why a request was not answered as asked."""

    error: str = Field(description="One sentence.")


class RightCard(Strict):
    """A card, and where it belongs."""

    name: Name = Field(description="That of a card of the study, or of another card.")
    group: Name = Field(description="In a closed sort one of the categories.")
    text: str = Field(default="", max_length=checks.LONGEST_TEXT, description="What another card says.")
    picture: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    alt: str = Field(default="", max_length=checks.LONGEST_TEXT)


RightSort = Annotated[list[RightCard], Field(min_length=3, max_length=training.MOST_CARDS)]


def strict_model(of: type[Any], settings: Mapping[str, kinds.Setting]) -> Any:
    """Return a body of settings with the defaults of a dataclass."""
    declared = {name: field_of(kind, getattr(of, name)) for name, kind in settings.items()}
    return create_model(of.__name__, __base__=Strict, **declared)


def field_of(kind: kinds.Setting, default: Any) -> Any:
    """Return the type of a setting, and its default with what is described of it."""
    more: dict[str, Any] = {"description": f"{kind.help} By default {kind.unset}." if kind.unset else kind.help}
    typed: Any
    match kind:
        case kinds.Whole() | kinds.Number():
            typed = float if isinstance(kind, kinds.Number) else int | None if kind.may_be_none else int
            more |= {"ge": kind.least, "le": kind.most}
        case kinds.Choice():
            typed = Literal[tuple(kind.kept.values())]
        case kinds.Names():
            each = Annotated[str, Field(min_length=1, max_length=kind.longest_each)]
            typed, default, more = list[each], list(default), more | {"max_length": kind.most}
        case kinds.Text():
            typed, more = str, more | {"max_length": kind.longest, "pattern": kind.pattern}
    return typed, Field(default, **more)


class Training(strict_model(training.Training, kinds.declared_in(training.Training))):  # type: ignore[misc]
    """Sorts whose right answer is known; they stay out of the consensus."""

    practice: RightSort | None = Field(default=None, description="Sorted first; then the right answer is shown.")
    admission: list[RightSort] = Field(
        default=[], max_length=training.MOST_ADMISSION_SORTS, description="Sorted before the first sort that counts."
    )
    gold: list[RightSort] = Field(
        default=[], max_length=training.MOST_GOLD_SORTS, description="Mixed in among the ordinary subsets."
    )


class Settings(strict_model(model.StudySettings, model.SETTINGS)):  # type: ignore[misc]
    """How a study is run; what is left out has its default."""

    texts: dict[str, str] = Field(default={}, description="Sentences that participants read, by key.")
    texts_in: dict[str, dict[str, str]] = Field(default={}, description="Those of the other languages, by language.")
    translations: dict[str, dict[str, str]] = Field(
        default={}, description="By language, what the study says (title, questions, cards, …) by what was written."
    )
    panel: dict[str, Any] = Field(
        default={}, description="Consent, questions, endings, and how people come back: see Panels in the docs."
    )
    training: Training = Field(default_factory=lambda: Training(), description="Practice, admission and gold.")


class NewItem(Strict):
    """An item of a new study."""

    name: Name
    text: str = Field(
        default="", max_length=checks.LONGEST_TEXT, description="By default the name, if there is no picture."
    )
    picture: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{64}$", description="What adding the picture returned."
    )
    alt: str = Field(default="", max_length=checks.LONGEST_TEXT, description="The picture in words.")
    description: str = Field(
        default="", max_length=checks.LONGEST_TEXT, description="What the card means, for participants who ask."
    )


class NewStudy(Strict):
    """A study to make."""

    title: str = Field(min_length=1, max_length=checks.LONGEST_TITLE)
    items: list[NewItem] = Field(min_length=2, max_length=model.MOST_ITEMS)
    kind: Literal["open", "closed", "hybrid", "labels", "pairs"] = "open"
    board: Literal["piles", "sheet"] = "piles"
    settings: Settings = Field(default_factory=Settings)


class StudyCopy(Strict):
    """How a copy of a study is called."""

    title: str = Field(
        default="", max_length=checks.LONGEST_TITLE, description="By default that of the study and '(2)'."
    )


class Study(BaseModel):
    """A study."""

    id: str
    title: str
    kind: Literal["open", "closed", "hybrid", "labels", "pairs", "judging"]
    board: Literal["piles", "sheet", "questions"]
    status: Literal["draft", "open", "closed"]
    n_items: int
    settings: dict[str, Any]
    link: str | None = Field(
        description="The link by which anybody takes part while the study is open; null for viewers."
    )
    created: datetime
    opened: datetime | None
    closed: datetime | None


class QuotaCount(BaseModel):
    """How far a quota is."""

    condition: str
    taken: int
    most: int


class Counts(BaseModel):
    """How far a study is; previews are not counted."""

    participants: int
    excluded: int = Field(description="People who were left out.")
    withdrew: int = Field(description="People who withdrew.")
    open: int = Field(description="Subsets that somebody is sorting.")
    withdrawn: int = Field(description="Subsets that nobody has touched for long.")
    submitted: int
    imported: int
    quotas: list[QuotaCount]


class Item(BaseModel):
    """An item of a study."""

    number: int
    name: str
    text: str
    picture: str | None
    alt: str
    description: str


class Picture(BaseModel):
    """A picture that is kept."""

    picture: str = Field(description="Its SHA-256, by which items name it.")
    width: int
    height: int


class NewParticipant(Strict):
    """Somebody who will take part."""

    parameters: dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=500)]] = Field(
        default={}, max_length=100, description="Those that the settings list are stored."
    )
    preview: bool = Field(default=False, description="Whether the answers do not count.")


class Participant(BaseModel):
    """A participant."""

    id: str
    parameters: dict[str, str]
    preview: bool
    link: str = Field(description="Their personal link to the board; it is not shown again.")


class Subset(BaseModel):
    """What a participant sorts next."""

    assignment: int
    items: list[Item] = Field(description="In the order in which they are presented.")
    source: str = Field(description="Why these: a strategy, all, repeat, or dry: at random, since none was prepared.")
    pairs: list[list[str]] | None = Field(
        default=None, description="Where people are asked about pairs, the names of both items of each; else null."
    )


class Chance(BaseModel):
    """How easily the mark of the admission is reached."""

    measure: str = Field(description="What a score is: the adjusted Rand index, or Cohen's kappa in a closed sort.")
    mark: float
    tries: int
    once: float = Field(description="Chance to pass one try for who puts every card into a random group.")
    ever: float = Field(description="The same for all tries together.")
    exact: bool = Field(description="Whether all sorts were counted; else some were drawn at random.")
    slip_least: float = Field(description="Lowest mean score of who is right but for one card.")
    slip_most: float = Field(description="Highest mean score of who is right but for one card.")
    forgives_slip: bool = Field(description="Whether everybody passes who is right but for one card.")


class Consistency(BaseModel):
    """How consistent a participant is: mean scores, null where there is none."""

    participant: str
    gold: float | None
    n_gold: int
    repeats: float | None = Field(description="Agreement of repeated sorts with the first of the same cards.")
    n_repeats: int
    practice: float | None
    admission: float | None = Field(description="Of the last try.")
    attempts: int
    standing: Literal["practice", "admission", "ready", "refused"] = Field(description="What they sort next.")


class NextSubset(BaseModel):
    """The subset that a participant sorts next, null if there is none."""

    subset: Subset | None


class Group(Strict):
    """Items that belong together."""

    name: str = Field(
        default="",
        max_length=checks.LONGEST_NAME,
        description="In a closed sort one of its categories, in a study of labels one of its classes; of pairs same or "
        "different.",
    )
    items: list[Name] = Field(default=[], max_length=model.MOST_ITEMS, description="Names of items.")
    pairs: list[Annotated[list[Name], Field(min_length=2, max_length=2)]] = Field(
        default=[],
        max_length=model.MOST_ITEMS,
        description="Where people are asked about pairs, in place of items: the names of both items of each.",
    )


class Grouping(Strict):
    """The answer to a subset; items of it may be left out if the settings do not require all."""

    groups: list[Group] = Field(min_length=1, max_length=300)


class Submission(BaseModel):
    """A grouping that is kept."""

    assignment: int
    submitted: datetime


class Consensus(BaseModel):
    """What the background worker found last, null if nothing yet."""

    consensus: dict[str, Any] | None


class Person(BaseModel):
    """Somebody who takes part, or whose groupings were brought along."""

    id: str
    name: str | None = Field(description="What they were called where their groupings come from.")
    parameters: dict[str, str]
    created: datetime
    excluded: bool = Field(description="Whether their answers are left out of the consensus.")
    submitted: int = Field(description="Sorts that they submitted, or answers of a judge.")


class Excluded(BaseModel):
    """Whether a participant is left out."""

    id: str
    excluded: bool


class Flag(BaseModel):
    """A reason to look at what somebody did."""

    participant: str
    annotator: str
    kind: str
    sentence: str = Field(description="The evidence.")


class Quality(BaseModel):
    """Who is flagged, and the consensus with everybody and without them."""

    flags: list[Flag]
    comparison: dict[str, Any] | None
