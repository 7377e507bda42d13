"""What the API takes and gives, as its OpenAPI document describes it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from consilience.collect import model

StudyId = Annotated[str, Field(pattern=r"^[a-z0-9]{1,16}$")]
Name = Annotated[str, Field(min_length=1, max_length=model.LONGEST_NAME)]
MOST_NUMBER = 1_000_000


class Strict(BaseModel):
    """A body in which every key is known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(BaseModel):
    """Why a request was not answered as asked."""

    error: str = Field(description="One sentence.")


class Settings(Strict):
    """How a study is run; what is left out has its default."""

    instructions: str = Field(
        default="", max_length=model.LONGEST_INSTRUCTIONS, description="Markdown, shown before all cards."
    )
    language: str = Field(default="en", max_length=35, pattern=rf"^{model.LANGUAGE.pattern}$")
    direction: Literal["ltr", "rtl"] = "ltr"
    texts: dict[str, str] = Field(default={}, description="Sentences that participants read, by key.")
    categories: list[Name] = Field(
        default=[], max_length=model.MOST_CATEGORIES, description="For closed and hybrid sorts."
    )
    group_names: Literal["none", "optional", "required"] = "optional"
    all_sorted: bool | Literal["required"] = Field(
        default=True, description="Whether handing in asks before cards are left unsorted, or forbids it."
    )
    subset_size: int | None = Field(
        default=None, ge=2, le=model.MOST_ITEMS, description="Items sorted at a time; null for all."
    )
    groupings_wanted: int | None = Field(default=None, ge=1, le=MOST_NUMBER)
    per_participant: int = Field(default=1, ge=1, le=1000, description="Subsets that one participant may sort.")
    max_per_item: int | None = Field(default=None, ge=1, le=MOST_NUMBER)
    strategy: str = Field(default="informative", max_length=50, description="A strategy of consilience.active.")
    random_share: float = Field(default=0.15, ge=0, le=1)
    repeat_share: float = Field(default=0.0, ge=0, le=1)
    stop_rule: Literal["reliability", "none"] = "reliability"
    parameters: list[str] = Field(
        default=[], max_length=model.MOST_PARAMETERS, description="Parameters of links to store."
    )


class NewItem(Strict):
    """An item of a new study."""

    name: Name
    text: str = Field(
        default="", max_length=model.LONGEST_TEXT, description="By default the name, if there is no picture."
    )
    picture: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{64}$", description="What adding the picture returned."
    )
    alt: str = Field(default="", max_length=model.LONGEST_TEXT, description="The picture in words.")


class NewStudy(Strict):
    """A study to make."""

    title: str = Field(min_length=1, max_length=model.LONGEST_TITLE)
    items: list[NewItem] = Field(min_length=2, max_length=model.MOST_ITEMS)
    kind: Literal["open", "closed", "hybrid"] = "open"
    board: Literal["piles", "sheet"] = "piles"
    settings: Settings = Field(default_factory=Settings)


class Study(BaseModel):
    """A study."""

    id: str
    title: str
    kind: Literal["open", "closed", "hybrid"]
    board: Literal["piles", "sheet"]
    status: Literal["draft", "open", "closed"]
    n_items: int
    settings: dict[str, Any]
    link: str = Field(description="The link by which anybody takes part while the study is open.")
    created: datetime
    opened: datetime | None
    closed: datetime | None


class Counts(BaseModel):
    """How far a study is; previews are not counted."""

    participants: int
    excluded: int
    open: int = Field(description="Subsets that somebody is sorting.")
    withdrawn: int = Field(description="Subsets that nobody has touched for long.")
    submitted: int
    imported: int


class Item(BaseModel):
    """An item of a study."""

    number: int
    name: str
    text: str
    picture: str | None
    alt: str


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


class NextSubset(BaseModel):
    """The subset that a participant sorts next, null if there is none."""

    subset: Subset | None


class Group(Strict):
    """Items that belong together."""

    name: str = Field(default="", max_length=model.LONGEST_NAME, description="In a closed sort, one of its categories.")
    items: list[Name] = Field(min_length=1, max_length=model.MOST_ITEMS, description="Names of items.")


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
