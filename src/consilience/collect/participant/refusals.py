"""What a participant reads when something is refused or fails, in their language."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from consilience.collect.errors import BoardError, NotFoundError, UnsortedError
from consilience.collect.participant import pages
from consilience.collect.participant.visit import asked_language, known_by, moved_from, unknown_study
from consilience.collect.security import RefusedError
from consilience.collect.serving import served_by, wants_json
from consilience.collect.settings.languages import ENGLISH, catalogue_for
from consilience.collect.settings.model import Study
from consilience.collect.store.board_state import NAMELESS, name_each
from consilience.collect.wording.wording import Wording

PLACES = ("/join/", "/sort")
HEADINGS = {404: "no_page", 405: "no_page", 409: "handed_in", 429: "wait", 500: "failed"}
TEXTS = {404: "no_page_text", 405: "no_page_text", 409: "no_longer_open"}
WITHOUT_STORE = (429, 500)  # answered although the store may be busy, or be what failed


def is_of_participants(request: Request) -> bool:
    """Whether a request is one of a participant's pages and scripts."""
    return request.scope["path"].startswith(PLACES)


def refuse_participant(request: Request, refused: RefusedError, error: Exception | None = None) -> Response:
    """Return the answer to a refused request of a participant: JSON to scripts, a page to people.

    error : what led to it.
    """
    headers = {} if refused.retry_after is None else {"Retry-After": str(refused.retry_after)}
    study, language = (unknown_study(), "") if refused.status in WITHOUT_STORE else _asker(request)
    language = language or asked_language(request, study.settings.offered)
    wording = pages.wording_of(study, language)
    sentence = _sentence(request, refused, error, wording)
    if wants_json(request):
        return JSONResponse({"error": sentence}, refused.status, headers)
    heading = HEADINGS.get(refused.status, "not_taken")
    context = pages.message_context(study, heading, sentence=sentence, language=language)
    return HTMLResponse(pages.render("message", context), refused.status, headers)


def _asker(request: Request) -> tuple[Any, str]:
    """Return the study of whoever sent a request, and their language, as far as both are known."""
    try:
        found = known_by(request)
    except NotFoundError:
        return moved_from(request) or unknown_study(), ""
    study = served_by(request).store.study(found.study)
    return study, found.language if found.language in study.settings.offered else ""


def _sentence(request: Request, refused: RefusedError, error: Exception | None, wording: Wording) -> str:
    """Return what a participant reads; what only English has a sentence for is said in general."""
    if isinstance(error, BoardError):
        return say_board_error(error, wording)
    if refused.status == 429:
        return wording["wait_join_text" if request.scope["path"].startswith("/join/") else "wait_text"]
    if refused.text:
        return wording.fill(refused.text, **refused.words)
    if catalogue_for(wording.language) == ENGLISH:
        return refused.sentence
    return wording[TEXTS.get(refused.status, "not_taken_text")]


def say_error(error: Exception, wording: Wording, study: Study) -> str:
    """Return what is wrong with a board, as a participant reads it."""
    if isinstance(error, UnsortedError) and study.is_asked:
        return wording.fill("unanswered_text", count=error.count)
    if isinstance(error, UnsortedError):
        key = "sort_all_text" if study.settings.all_sorted == "required" else "still_unsorted_text"
        return wording.fill(key, count=error.count)
    return say_board_error(error, wording) if isinstance(error, BoardError) else wording["not_taken_text"]


def say_board_error(error: BoardError, wording: Wording) -> str:
    """Return the text of an error, with the names in it one after another."""
    words = {
        name: value
        if isinstance(value, int)
        else wording.join(map(wording.own, name_each(value, wording[NAMELESS[name]])))
        for name, value in error.words.items()
    }
    return wording.fill(error.text, **words)
