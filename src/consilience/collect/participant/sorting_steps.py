"""The steps of the sort itself: the instructions, the boards, and thanks."""

from __future__ import annotations

from fastapi import Response

from consilience.collect.participant import pages
from consilience.collect.participant.assignments import place_of, show_assignment
from consilience.collect.participant.panel_steps import closed_page
from consilience.collect.participant.visit import Visit
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE


class Sorts:
    """The instructions, a board for each subset, and between two of them a page that offers the next."""

    def page(self, visit: Visit) -> Response | None:
        """Return what is in progress, or the page from which the next sort begins; None if there are no more."""
        current = next((one for one in visit.assignments if one.state != "submitted"), None)
        if current is not None:
            return show_assignment(visit, current)
        if not visit.sorts:
            return self._first(visit)
        more = visit.takes_part and len(visit.sorts) < visit.study.settings.per_participant and not visit.nothing_left
        return _offer_next(visit) if more else None

    def _first(self, visit: Visit) -> Response:
        closed = closed_page(visit)
        if closed is not None:
            return closed
        if any(one.source == GOLD for one in visit.assignments):
            return _offer_next(visit)  # as after any other set
        shown = {
            "admitted": any(one.source == ADMISSION for one in visit.assignments),
            "practised": any(one.source == PRACTICE for one in visit.assignments),
        }
        return visit.render(
            "instructions", pages.instructions_context(visit.study, visit.instructions, **shown, **visit.page)
        )


def _offer_next(visit: Visit) -> Response:
    return visit.render("thanks", pages.thanks_context(visit.study, more=place_of(visit, None), **visit.page))


class Thanks:
    """The end."""

    def page(self, visit: Visit) -> Response:
        """Return thanks."""
        thanks = pages.thanks_context(visit.study, **visit.page)
        return visit.render("thanks", thanks | {"completion": visit.completion("complete")})
