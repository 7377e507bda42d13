"""What participants send beside their sorts: consent, answers to questions, and that they withdraw."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from consilience.collect.authority import RuledRoute
from consilience.collect.forms import text_of
from consilience.collect.participant import pages, questioning
from consilience.collect.participant.panel_steps import ConsentStep, Questions, consent_of, version_of
from consilience.collect.participant.visit import Form, Known, Visit
from consilience.collect.serving import see
from consilience.collect.settings.panel import MOMENTS
from consilience.errors import InputError

router = APIRouter(route_class=RuledRoute)


@router.post("/sort/consent")
def decide(request: Request, participant: Known, form: Form) -> Response:
    """Keep whether somebody agreed, when and to which text."""
    visit = Visit(request, participant)
    consent, texts = consent_of(visit), visit.wording
    decision = text_of(form, "decision")
    if not consent:
        return see("/sort")
    if decision == "reconsider":
        visit.store.reconsider(participant.id)
    elif decision == "decline":
        visit.store.decide(participant.id, consent, agreed=False)
    elif text_of(form, "version") != version_of(consent):
        return _again(replace(visit, notice=texts["consent_changed"], status=422))
    elif decision != "agree" or not text_of(form, "agreed"):
        return _again(replace(visit, notice=texts["consent_missing"], status=422))
    else:
        visit.store.decide(participant.id, consent, agreed=True)
    return see("/sort")


def _again(visit: Visit) -> Response:
    return ConsentStep().page(visit) or see("/sort")


@router.post("/sort/questions")
def answer(request: Request, participant: Known, form: Form) -> Response:
    """Keep the answers to the questions of a moment; the page comes back if one is missing or wrong."""
    moment = text_of(form, "moment")
    if moment not in MOMENTS:
        raise InputError("The form does not say which questions it answers.")
    visit = Visit(request, participant)
    step = Questions(moment)
    questions = step.find_due(visit)
    shown = form.getlist("asked")
    if not questions or (shown and not any(one.name in shown for one in questions)):  # a page that was sent before
        return see("/sort")
    texts = visit.wording
    given = questioning.given_in(form, questions)
    answers, wrong = questioning.read_answers(questions, given, texts)
    if wrong:
        return step.form(replace(visit, notice=texts["answers_wrong"], status=422), given, wrong)
    visit.store.keep_answers(participant.id, moment, answers, complete=not step.find_due(visit, answers))
    return see("/sort")


@router.get("/sort/withdraw")
def ask_to_withdraw(request: Request, participant: Known) -> Response:
    """Show what withdrawing means, and ask whether it is meant."""
    return _withdrawal(Visit(request, participant))


@router.post("/sort/withdraw")
def withdraw(request: Request, participant: Known, form: Form) -> Response:
    """Delete what somebody gave.

    The page is shown at once: what the link said of them is erased, and may stand in the address to return to.
    """
    visit = Visit(request, participant)
    if visit.store.has_withdrawn(participant.id):
        return see("/sort")
    if not text_of(form, "confirmed"):
        return _withdrawal(replace(visit, notice=visit.wording["withdraw_missing"], status=422))
    visit.store.withdraw(participant.id)
    return visit.message("withdrawn", ending="withdrawn")


def _withdrawal(visit: Visit) -> Response:
    if visit.store.has_withdrawn(visit.participant.id):
        return see("/sort")
    return visit.render("withdraw", pages.page_context(visit.study, **visit.page))
