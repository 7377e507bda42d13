"""The steps before the sort itself: the practice with its right answer, and the admission."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from consilience.collect.participant import pages
from consilience.collect.participant.assignments import card_of, show_assignment
from consilience.collect.participant.feedback import feedback_of
from consilience.collect.participant.visit import Visit
from consilience.collect.settings.model import Assignment
from consilience.collect.settings.study_kinds import cards_of
from consilience.collect.settings.training import ADMISSION, PRACTICE
from consilience.collect.store.standing import REFUSED, Standing, Trial


class Practice:
    """A sort that does not count, and how it was meant."""

    def page(self, visit: Visit) -> Response | None:
        """Return the practice, or the right answer until the participant goes on; None if they are past both."""
        if visit.sorts or not _has(visit, PRACTICE):
            return None
        current = _current(visit, PRACTICE)
        if current is not None:
            return show_assignment(visit, current)
        trials = [one for one in visit.store.trials_of(visit.participant.id) if one.role == PRACTICE]
        unseen = next((one for one in trials if one.score is not None and not one.seen), None)
        if unseen is not None:
            return visit.render("feedback", _feedback(visit, unseen))
        if _standing(visit).state == PRACTICE and _may_begin(visit):
            return visit.render("training", _context(visit, PRACTICE, instructed=True))
        return None


class Admission:
    """Sorts that have to be good enough before the participant is let in."""

    def page(self, visit: Visit) -> Response | None:
        """Return the next sort of the admission, or that it was not passed; None to those who are let in."""
        if visit.sorts or not _has(visit, ADMISSION):
            return None
        current = _current(visit, ADMISSION)
        if current is not None:
            return show_assignment(visit, current)
        standing = _standing(visit)
        if standing.state == REFUSED:
            refused = "not_admitted_asked" if visit.study.is_asked else "not_admitted"
            return visit.message(refused, ending="not_admitted", gave_something=True)
        if standing.state != ADMISSION or not _may_begin(visit):
            return None
        training = visit.study.settings.training
        stage = "next" if standing.place else "again" if standing.failed is not None else "first"
        instructed = stage == "first" and not _has(visit, PRACTICE)  # else they have read them
        return visit.render(
            "training",
            _context(visit, ADMISSION, stage=stage, standing=standing, instructed=instructed)
            | {"count": len(training.admission), "left": training.tries - standing.attempt + 1},
        )


def _has(visit: Visit, role: str) -> bool:
    """Whether a participant was given a sort of a role, or is to be."""
    return bool(visit.study.settings.training.sorts(role)) or any(one.source == role for one in visit.assignments)


def _current(visit: Visit, role: str) -> Assignment | None:
    return next((one for one in visit.assignments if one.state != "submitted" and one.source == role), None)


def _standing(visit: Visit) -> Standing:
    return visit.store.standing(visit.participant.id)


def _may_begin(visit: Visit) -> bool:
    """Whether the study lets people begin: else the next step says why not."""
    return visit.takes_part and not visit.nothing_left


def _context(
    visit: Visit, role: str, *, stage: str = "first", standing: Standing | None = None, instructed: bool
) -> dict[str, Any]:
    page = pages.page_context(visit.study, **visit.page)
    said = {"instructed": instructed, "instructions": visit.instructions}
    return {**page, "role": role, "stage": stage, "standing": standing, **said}


def _feedback(visit: Visit, trial: Trial) -> dict[str, Any]:
    """Return what the page of the right answer is given."""
    study = visit.study
    shown = {item.number: card_of(visit, item) for item in trial.cards}
    page = pages.page_context(study, **visit.page)
    label = {card.number: pages.label_of(card, place, page["t"]) for place, card in enumerate(shown.values(), 1)}
    answer = visit.store.assignment(trial.assignment).answer or ()
    closed = study.has_fixed_groups
    groups = feedback_of(trial.right, answer, closed=closed)
    rows: list[dict[str, Any]] = [
        {
            "name": group.name,
            "cards": [
                {
                    "shown": [(shown[card], label[card]) for card in cards_of(one.card)],
                    "right": one.right,
                    "given": one.given,
                    "unsorted": not any(one.card in group["items"] for group in answer),
                    "missed": [] if closed else [label[number] for number in one.missed],
                    "intruders": [] if closed else [label[number] for number in one.intruders],
                }
                for one in group.cards
            ],
        }
        for group in groups
    ]
    n_right = sum(card["right"] for group in rows for card in group["cards"])
    return {
        **page,
        "assignment": trial.assignment,
        "groups": rows,
        "n_right": n_right,
        "n_cards": len(trial.right),
        "closed": closed,
    }
