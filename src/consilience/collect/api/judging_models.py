"""What the API of judging studies takes and gives, as its OpenAPI document describes it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from consilience.collect.api.models import Item, Name, Strict, field_of
from consilience.collect.settings import checks
from consilience.collect.settings.model import MOST_ITEMS, OF_JUDGES
from consilience.collect.store import judging

NumberOfQuestions = Annotated[
    int | None, Field(ge=1, le=judging.MOST_QUESTIONS, description="By default eight for each cluster.")
]
Title = Annotated[str, Field(max_length=checks.LONGEST_TITLE)]


Declared: Any = create_model(
    "Declared",
    __base__=Strict,
    per_participant=field_of(OF_JUDGES["per_participant"], None),
    answers_wanted=field_of(OF_JUDGES["answers_wanted"], judging.USUAL_ANSWERS),
)


class Asking(Declared):
    """How much is asked; all other settings are changed as those of any study."""

    n_questions: NumberOfQuestions = None


class NewJudgingOfStudy(Asking):
    """A study in which the clusters of another study are judged."""

    title: Title = Field(default="", description="By default that of the other study.")
    clusters: dict[Name, Name] | None = Field(
        default=None,
        max_length=MOST_ITEMS,
        description="Name of the cluster of each item, by the item's name; by default those of the consensus.",
    )


class ClusteredItem(Strict):
    """An item and its cluster."""

    name: Name
    cluster: Name
    text: str = Field(default="", max_length=checks.LONGEST_TEXT, description="By default the name.")


class NewJudging(Asking):
    """A study in which clusters are judged that come from elsewhere."""

    title: Title = Field(min_length=1)
    items: list[ClusteredItem] = Field(min_length=4, max_length=MOST_ITEMS)


class Question(BaseModel):
    """A question before a judge."""

    question: int
    items: list[Item] = Field(description="The four cards, in the order in which this judge sees them.")
    number: int = Field(description="Which of their questions, from 1.")


class NextQuestion(BaseModel):
    """What a judge is asked now, null if there is nothing."""

    question: Question | None


class Answer(Strict):
    """Which item does not belong."""

    question: int = Field(ge=0, le=judging.MOST_QUESTIONS)
    answer: Name | None = Field(description="The name of one of its four items; null if they cannot say.")


class Share(BaseModel):
    """How often people were right; shares are null where they are not known."""

    answers: int
    annotators: int
    questions: int
    cannot_say: int
    right: float | None
    right_low: float | None
    right_high: float | None
    beyond_chance: float | None = Field(description="The same where 0 is guessing and 1 always right.")
    beyond_chance_low: float | None
    beyond_chance_high: float | None


class ShareOfCluster(Share):
    """How often people were right about three items of a cluster."""

    cluster: str


class ShareOfPair(Share):
    """How often people told two clusters apart."""

    first: str
    second: str


class Judge(BaseModel):
    """Somebody who answered."""

    id: str
    answers: int
    cannot_say: int
    right: float
    seconds: float = Field(description="Median time of an answer.")
    guesses: bool = Field(description="Whether they are no better than chance, while the others are.")


class JudgingCounts(BaseModel):
    """How far a judging study is; previews are not counted."""

    participants: int
    excluded: int = Field(description="People who were left out.")
    withdrew: int = Field(description="People who withdrew.")
    judges: int
    answers: int
    open: int = Field(description="Questions that somebody has before them.")
    questions: int
    least: int = Field(description="The fewest answers of a question.")
    most: int


class JudgingResults(BaseModel):
    """How far strangers see the clusters."""

    source: str | None = Field(description="The study whose clusters they are.")
    progress: JudgingCounts
    level: float = Field(description="Of the intervals.")
    overall: Share
    clusters: list[ShareOfCluster]
    pairs: list[ShareOfPair] = Field(description="Those with at least 20 answers.")
    judges: list[Judge]
