"""The steps of a judge: those who sorted before are not asked, and all others get one question after the other."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from consilience.collect.participant import pages
from consilience.collect.participant.assignments import card_of
from consilience.collect.participant.panel_steps import closed_page
from consilience.collect.participant.visit import Visit
from consilience.collect.store.judging import Asked


class SortedBefore:
    """People who sorted in the study whose clusters are judged are not asked how plain these are."""

    def page(self, visit: Visit) -> Response | None:
        """Return why they are not asked, if they are known to have sorted."""
        if visit.asked or not visit.store.sorted_before(visit.participant.id):
            return None
        return visit.message("sorted_before", ending="closed")


class Judge:
    """The instructions, and a page for each question."""

    def page(self, visit: Visit) -> Response | None:
        """Return the question before the judge, or the instructions; None if they have answered all."""
        current = next((one for one in visit.asked if one.answered is None), None)
        if current is not None:
            return visit.render("judge", _context(visit, current))
        return None if visit.asked else _first(visit)


def _first(visit: Visit) -> Response:
    closed = closed_page(visit)
    if closed is not None:
        return closed
    page = pages.page_context(visit.study, **visit.page)
    return visit.render("judge_start", {**page, "instructions": visit.instructions})


def _context(visit: Visit, asked: Asked) -> dict[str, Any]:
    """Return what the page of a question is given."""
    items = visit.store.items(visit.study.id)
    page = pages.page_context(visit.study, **visit.page)
    cards = [card_of(visit, items[number]) for number in asked.shown]
    labels = [pages.label_of(card, place, page["t"]) for place, card in enumerate(cards, 1)]
    n_questions = len(visit.store.odd_questions(visit.study.id))
    return {
        **page,
        "question": asked.question,
        "cards": list(zip(cards, labels, strict=True)),
        "number": asked.place,
        "total": max(asked.place, min(visit.study.settings.per_participant, n_questions)),
    }
