"""What a participant asks of the server: to join, the board, every change, the submission, and pictures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any
from uuid import uuid4

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData

from consilience.collect.authority import RuledRoute, may_see
from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.forms import text_of
from consilience.collect.participant.flow import page_of, reaches
from consilience.collect.participant.judging_steps import Judge
from consilience.collect.participant.refusals import say_error
from consilience.collect.participant.training_steps import Practice
from consilience.collect.participant.visit import (
    Form,
    Known,
    Visit,
    asked_language,
    completion_of,
    known_by,
    message,
    moved_from,
    not_open,
    participant_of,
    set_participant,
)
from consilience.collect.security import RefusedError
from consilience.collect.serving import address, see, served_by
from consilience.collect.settings.checks import checked_parameters
from consilience.collect.settings.model import JUDGING, Participant, Study
from consilience.collect.store.board_state import BoardState
from consilience.errors import InputError

PRIVATE_FOR_GOOD = "private, max-age=31536000, immutable"
LONGEST_ID = 64  # of an assignment, a client or a group, as it is sent

router = APIRouter(route_class=RuledRoute)


class Changes(BaseModel):
    """What the board sends: the changes that one tab made since it sent the last."""

    model_config = ConfigDict(extra="forbid")
    assignment: int = Field(ge=1, le=2**31 - 1)
    client: str = Field(max_length=LONGEST_ID)
    changes: list[dict[str, Any]] = Field(max_length=500)


# ---- to join


@router.get("/join/{token}")
def join(request: Request, token: str) -> Response:
    """Exchange the token of a link for a cookie, and go on to an address that holds none.

    The link of a study makes a new participant, unless this browser has one of the study already; a personal link is
    that of one participant.
    """
    served_by(request).count("join", address(request))
    store = served_by(request).store
    try:
        study = store.study_by_join_token(token)
    except NotFoundError:
        return _join_personally(request, token)
    parameters = dict(request.query_params)
    if _returns(request, study, parameters):
        return see("/sort")
    kept = checked_parameters(parameters, study.settings.parameters)
    lacking = study.settings.panel.lacking(kept)
    if lacking:
        return message(request, study, "incomplete_link", 422, names=", ".join(lacking))
    try:
        language = asked_language(request, study.settings.offered)
        arrived = store.arrive(study.id, parameters, language)
    except NotOpenError:
        return message(request, study, not_open(study), completion=completion_of(study, "closed", kept))
    return message(request, study, "turned_away", 403) if arrived is None else _as(request, *arrived)


def _join_personally(request: Request, token: str) -> Response:
    try:
        found = served_by(request).store.participant_by_token(token)
    except NotFoundError:
        return message(request, None, "unknown_link", 404)
    if found.language is None:
        study = served_by(request).store.study(found.study)
        served_by(request).store.set_language(found.id, asked_language(request, study.settings.offered))
    return _as(request, found, token)


def _returns(request: Request, study: Study, parameters: Mapping[str, str]) -> bool:
    """Whether this browser has a participant of the study, who is no preview, and whom the link does not identify."""
    panel = study.settings.panel
    if panel.identified_by and checked_parameters(parameters, [panel.identified_by]):
        return False  # the store knows them, on whatever browser
    try:
        found = known_by(request)
    except NotFoundError:
        return False
    return found.study == study.id and not found.preview


def _as(request: Request, participant: Participant, token: str) -> Response:
    answer = see("/sort")
    set_participant(request, answer, participant, token)
    return answer


def begin_preview(request: Request, study_id: str) -> Response:
    """Return a redirection to the board, as a participant whose answers do not count."""
    store = served_by(request).store
    language = asked_language(request, store.study(study_id).settings.offered)
    return _as(request, *store.new_participant(study_id, preview=True, language=language))


# ---- the pages


@router.get("/sort")
def show(request: Request) -> Response:
    """Show the instructions, the board, or thanks."""
    try:
        participant = participant_of(request)
    except RefusedError as refused:
        if refused.status == 429:
            raise
        study = moved_from(request)
        return message(request, study, "unknown_link" if study is None else "moved_on", 403)
    return page_of(Visit(request, participant))


@router.post("/sort/language")
def choose_language(request: Request, participant: Known, form: Form) -> Response:
    """Go on in another of the languages of the study."""
    served_by(request).store.set_language(participant.id, text_of(form, "language"))
    return see("/sort")


@router.post("/sort/begin")
def begin(request: Request, participant: Known) -> Response:
    """Give the participant something to sort, or the first question of a judge."""
    store = served_by(request).store
    visit = Visit(request, participant)
    if visit.study.kind == JUDGING:
        if reaches(visit, Judge):
            store.ask(participant.id)
        return see("/sort")
    if not reaches(visit, Practice):
        return see("/sort")
    given = store.assignment_for(participant, np.random.default_rng())
    if given is None and not store.turned_away(participant.id) and not store.assignments_of(participant.id):
        left = "nothing_left_to_judge" if visit.study.is_asked else "nothing_left"
        return visit.message(left if visit.study.status == "open" else not_open(visit.study), ending="closed")
    return see("/sort")


@router.post("/sort/judge")
def judge(request: Request, participant: Known, form: Form) -> Response:
    """Keep which of four cards does not belong; the answer that arrived first stays."""
    question, answer = text_of(form, "question"), text_of(form, "answer")
    if not _is_number(question) or not _is_number(answer):
        raise InputError("The form does not say which question it answers, and how.")
    served_by(request).store.answer(participant.id, int(question), int(answer) or None)
    return see("/sort")


@router.post("/sort/answer-seen")
def go_on(request: Request, participant: Known, form: Form) -> Response:
    """Go on from the right answer of the practice."""
    served_by(request).store.see_answer(_assignment_in(form), participant.id)
    return see("/sort")


# ---- the board


@router.post("/sort/changes")
def record(request: Request, participant: Known, sent: Changes) -> Response:
    """Keep changes; those that arrive again change nothing."""
    state = served_by(request).store.record_changes(sent.assignment, participant.id, sent.client, sent.changes)
    return JSONResponse(state.as_json())


@router.get("/sort/state")
def state(request: Request, participant: Known, assignment: Annotated[int, Query(ge=1, le=2**31 - 1)]) -> Response:
    """Return the groups of an assignment, of all tabs together, unless one of them handed it in."""
    found = served_by(request).store.board_state(assignment, participant.id, to_change=True)
    return JSONResponse(found.as_json())


@router.post("/sort/move")
def move(request: Request, participant: Known, form: Form) -> Response:
    """Move cards, without scripts."""
    items = [int(value) for value in form.getlist("items") if isinstance(value, str) and _is_number(value)]
    if items:
        group = text_of(form, "group") or None
        assignment = _assignment_in(form)
        if group == "new":
            group = _new_group(served_by(request).store.board_state(assignment, participant.id))
        _change(request, participant, assignment, {"kind": "move", "items": items, "group": group})
    return see("/sort")


@router.post("/sort/name")
def name(request: Request, participant: Known, form: Form) -> Response:
    """Name a group, without scripts."""
    change = {"kind": "name", "group": text_of(form, "group"), "name": text_of(form, "name")}
    _change(request, participant, _assignment_in(form), change)
    return see("/sort")


@router.post("/sort/submit")
def submit(request: Request, participant: Known, form: Form) -> Response:
    """Submit an assignment; the board comes back with a sentence if something is missing."""
    store = served_by(request).store
    try:
        store.submit(_assignment_in(form), participant.id, confirmed=bool(text_of(form, "confirmed")))
    except (NotFoundError, NotOpenError):
        raise
    except InputError as error:
        visit = Visit(request, participant)
        return page_of(replace(visit, notice=say_error(error, visit.wording, visit.study), status=422))
    return see("/sort")


def _change(request: Request, participant: Participant, assignment: int, change: Mapping[str, Any]) -> None:
    """Record one change by a form, as a client of its own."""
    sent = {"sequence": time.time_ns() // 1000, **change}
    served_by(request).store.record_changes(assignment, participant.id, f"form-{uuid4()}", [sent])


def _assignment_in(form: FormData) -> int:
    text = text_of(form, "assignment")
    if not _is_number(text):
        raise InputError("The form does not say which set of cards it is about.")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9


def _new_group(state: BoardState) -> str:
    """Return the id of the next group, after all that were ever on the board in this order."""
    numbers = [int(group.id[1:]) for group in state.groups if group.id.startswith("g")]
    return f"g{max(numbers, default=0) + 1}"


# ---- pictures


@router.get("/pictures/{study}/{picture}")
def show_picture(request: Request, study: str, picture: str) -> Response:
    """Send a picture of a study to its participants and to the administration."""
    _require_picture(request, study, picture)
    kept = served_by(request).store.picture(study, picture)
    return _sent_picture(kept.data, kept.mime)


@router.get("/pictures/{study}/{picture}/small")
def show_small_picture(request: Request, study: str, picture: str) -> Response:
    """Send a picture in the size of a card."""
    _require_picture(request, study, picture)
    reduced = served_by(request).small_picture(study, picture)
    return _sent_picture(reduced.data, reduced.mime)


def _require_picture(request: Request, study: str, picture: str) -> None:
    """Refuse who may not see a picture, or one that is not there."""
    if not (_takes_part(request, study) or may_see(request, study)):
        raise RefusedError(404, "There is no such picture.")
    served_by(request).store.require_picture(study, picture)


def _takes_part(request: Request, study: str) -> bool:
    try:
        return known_by(request).study == study
    except NotFoundError:
        return False


def _sent_picture(data: bytes, mime: str) -> Response:
    """Return a picture, which never changes under its address and is kept by this browser alone."""
    return Response(data, media_type=mime, headers={"Cache-Control": PRIVATE_FOR_GOOD})
