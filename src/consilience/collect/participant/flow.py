"""A participant's way through a study: steps, of which the first that has something to show is shown.

A step is an object with `page`, which returns a page, or None where the participant is past it. Each step reads from
the store how far the participant is, so that a reload, another browser or a restart of the server change nothing.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Protocol, runtime_checkable

from fastapi import Response

from consilience.collect.participant.judging_steps import Judge, SortedBefore
from consilience.collect.participant.panel_steps import Closed, ConsentStep, Questions, TurnedAway, Withdrawn
from consilience.collect.participant.sorting_steps import Sorts, Thanks
from consilience.collect.participant.training_steps import Admission, Practice
from consilience.collect.participant.visit import Visit
from consilience.collect.settings.model import JUDGING, Study


@runtime_checkable
class Step(Protocol):
    """A part of the way."""

    def page(self, visit: Visit) -> Response | None:
        """Return the page that the participant sees now, None if they are past this step."""


STEPS: tuple[Step, ...] = (
    Withdrawn(),
    Closed(),
    TurnedAway(),
    ConsentStep(),
    Questions("before"),
    Practice(),
    Admission(),
    Sorts(),
    Questions("after"),
    Thanks(),
)
STEPS_OF_JUDGES: tuple[Step, ...] = (
    Withdrawn(),
    SortedBefore(),
    Closed(),
    TurnedAway(),
    ConsentStep(),
    Questions("before"),
    Judge(),
    Questions("after"),
    Thanks(),
)


def steps_of(study: Study) -> tuple[Step, ...]:
    """Return the way through a study."""
    return STEPS_OF_JUDGES if study.kind == JUDGING else STEPS


def page_of(visit: Visit) -> Response:
    """Return the page of the first step that has one; the last always has."""
    return next(answer for step in steps_of(visit.study) if (answer := step.page(visit)) is not None)


def reaches(visit: Visit, kind: type[Any]) -> bool:
    """Whether no step before the first one of a kind has something to show."""
    before = takewhile(lambda step: not isinstance(step, kind), steps_of(visit.study))
    return all(step.page(visit) is None for step in before)
