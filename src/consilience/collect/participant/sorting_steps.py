"""The steps of the sort itself: the instructions, the boards, and thanks."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from consilience.collect.participant import pages
from consilience.collect.participant.panel_steps import closed_page
from consilience.collect.participant.visit import Visit
from consilience.collect.settings.model import Assignment, Item
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE
from consilience.collect.store.standing import gold_plan


class Sorts:
    """The instructions, a board for each subset, and between two of them a page that offers the next."""

    def page(self, visit: Visit) -> Response | None:
        """Return what is in progress, or the page from which the next sort begins; None if there are no more."""
        current = next((one for one in visit.assignments if one.state != "submitted"), None)
        if current is not None:
            return visit.render("board", board_of(visit, current))
        if not visit.sorts:
            return self._first(visit)
        more = visit.takes_part and len(visit.sorts) < visit.study.settings.per_participant and not visit.nothing_left
        if not more:
            return None
        return visit.render("thanks", pages.thanks_context(visit.study, more=True, **visit.page))

    def _first(self, visit: Visit) -> Response:
        closed = closed_page(visit)
        if closed is not None:
            return closed
        shown = {
            "admitted": any(one.source == ADMISSION for one in visit.assignments),
            "practised": any(one.source == PRACTICE for one in visit.assignments),
        }
        return visit.render(
            "instructions", pages.instructions_context(visit.study, visit.instructions, **shown, **visit.page)
        )


class Thanks:
    """The end."""

    def page(self, visit: Visit) -> Response:
        """Return thanks."""
        return visit.render(
            "thanks",
            {
                **pages.thanks_context(visit.study, **visit.page),
                "completion": visit.completion("complete"),
            },
        )


def board_of(visit: Visit, assignment: Assignment) -> dict[str, Any]:
    """Return what the board of an assignment is given."""
    study = visit.study
    cards = [card_of(visit, item) for item in visit.store.cards(assignment).values()]
    number, total = place_of(visit, assignment)
    return pages.board_context(
        study,
        cards,
        visit.store.board_state(assignment.id).as_json(),
        number=number,
        total=total,
        stage=assignment.source if assignment.source in (PRACTICE, ADMISSION) else "",
        instructions=visit.instructions,
        **visit.page,
    )


def card_of(visit: Visit, item: Item) -> pages.PageCard:
    """Return a card as pages show it."""
    study, own, language = visit.study, visit.wording.own, visit.wording.foreign_language(item.text)
    place = f"/pictures/{study.id}/{item.picture}" if item.picture else None
    required = item.name in study.settings.required_cards
    small = f"{place}/small" if place else None
    return pages.PageCard(
        item.number, own(item.text), place, small, own(item.alt), own(item.description), required, language
    )


def place_of(visit: Visit, assignment: Assignment) -> tuple[int, int]:
    """Return which set this is for the participant, and how many there are; gold is counted like any other."""
    mine = [one for one in visit.assignments if one.number > 0 or one.source == GOLD]
    number = 1 + sum(one.id < assignment.id for one in mine)
    planned = len(gold_plan(visit.study, visit.participant.id))
    return number, max(visit.study.settings.per_participant + planned, number)
