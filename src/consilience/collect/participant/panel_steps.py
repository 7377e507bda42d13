"""The steps of a participant's way beside the sorts: withdrawn, study closed, consent, and questions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from fastapi import Response
from markupsafe import Markup

from consilience.collect.instructions import as_html
from consilience.collect.participant import pages, questioning
from consilience.collect.participant.visit import Visit, not_open
from consilience.collect.settings.model import QUESTIONS
from consilience.collect.settings.panel import Question


class Withdrawn:
    """People who withdrew see this and nothing else."""

    def page(self, visit: Visit) -> Response | None:
        """Return that nothing is kept of them, if they withdrew."""
        gone = visit.participant.excluded and visit.store.has_withdrawn(
            visit.participant.id
        )  # who withdraws is left out
        return visit.message("withdrawn", ending="withdrawn") if gone else None


class Closed:
    """Nobody is asked anything by a study in which they cannot sort or judge."""

    def page(self, visit: Visit) -> Response | None:
        """Return that the study is closed or full, to those who have not begun."""
        return None if visit.has_begun else closed_page(visit)


def closed_page(visit: Visit) -> Response | None:
    """Return why a participant cannot begin, with the code for this; None if they can."""
    if not visit.takes_part:
        return visit.message(not_open(visit.study), ending="closed")
    left = "nothing_left_to_judge" if visit.study.board == QUESTIONS else "nothing_left"
    return visit.message(left, ending="closed") if visit.nothing_left else None


class TurnedAway:
    """People for whom a study does not look, or of whom it has enough, see this in place of all that follows."""

    def page(self, visit: Visit) -> Response | None:
        """Return why the participant cannot take part, as far as it is known already; None if they can, or began."""
        if visit.has_begun or not visit.study.settings.panel.chooses:
            return None
        ending = visit.store.turned_away(visit.participant.id)
        return None if ending is None else visit.message(ending, ending=ending, gave_something=True)


class ConsentStep:
    """The page to which people agree before anything else."""

    def page(self, visit: Visit) -> Response | None:
        """Return the page, or what those see who declined; None if they agreed or need not."""
        text = consent_of(visit)
        if not text:
            return None
        decided = visit.store.consent(visit.participant.id)
        if decided is not None and decided.agreed:
            return None
        context = {
            **pages.page_context(visit.study, **visit.page),
            "consent": Markup(as_html(text)),
            "version": version_of(text),
            "keep_days": visit.study.settings.panel.keep_days,
            "completion": None if decided is None else visit.completion("declined"),
        }
        return visit.render("consent" if decided is None else "declined", context)


def consent_of(visit: Visit) -> str:
    """Return the text of the consent, with the sentence on moves where they are exported; empty if there is none."""
    text = visit.wording.own(visit.study.settings.panel.consent)
    tells_moves = text and visit.study.settings.moves
    return "\n\n".join((text, visit.wording["consent_moves"])) if tells_moves else text


def version_of(text: str) -> str:
    """Return by what a form says which text was on the page."""
    return hashlib.sha256(text.encode()).hexdigest()


class Questions:
    """The questions of a moment, on one page, and those that depend on their answers on the next.

    moment : {"before", "after"}
    """

    def __init__(self, moment: str) -> None:
        self.moment = moment

    def page(self, visit: Visit) -> Response | None:
        """Return the questions, unless there are none or they were answered."""
        return self.form(visit) if self.find_due(visit) else None

    def find_due(self, visit: Visit, answers: Mapping[str, Any] | None = None) -> list[Question]:
        """Return what is to be asked now, or once these ``answers`` were given, too."""
        asked = visit.study.settings.panel.questions(self.moment)
        if not asked or visit.store.has_answered(visit.participant.id, self.moment):
            return []
        known = {**visit.store.answers(visit.participant.id), **(answers or {})}
        return [one for one in asked if one.is_due(known, visit.participant.parameters)]

    def form(
        self, visit: Visit, given: Mapping[str, Any] | None = None, wrong: Mapping[str, str] | None = None
    ) -> Response:
        """Return the page with what was given before, and what is wrong with it."""
        context = {
            **pages.page_context(visit.study, **visit.page),
            "moment": self.moment,
            "questions": questioning.show_questions(self.find_due(visit), given or {}, wrong or {}),
        }
        return visit.render("questions", context)
