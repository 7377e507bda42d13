"""A visit of a participant: who asks, of which study, and how the pages that answer are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.datastructures import FormData

from consilience.collect.errors import NotFoundError
from consilience.collect.forms import sent_form
from consilience.collect.instructions import as_html
from consilience.collect.participant import pages
from consilience.collect.security import RefusedError
from consilience.collect.serving import PARTICIPANT, served_by, set_cookie
from consilience.collect.settings.languages import LANGUAGES, choose_language
from consilience.collect.settings.model import JUDGING, Assignment, Participant, Study, StudySettings
from consilience.collect.store import Store
from consilience.collect.store.judging import Asked
from consilience.collect.wording.wording import Wording

DAYS = 90  # that the cookie of a participant lasts
WITHOUT_FOOT = ("withdraw", "message")  # pages that do not lead to withdrawing
Form = Annotated[FormData, Depends(sent_form)]


SEPARATOR = "."  # in a cookie, between the secret of a participant and their id


def set_participant(request: Request, answer: Response, participant: Participant, token: str) -> None:
    """Let a browser be that of a participant.

    Their id is beside their secret, so that the browser can be told when the secret is replaced.
    """
    set_cookie(request, answer, PARTICIPANT, f"{token}{SEPARATOR}{participant.id}", seconds=DAYS * 86400)


def known_by(request: Request) -> Participant:
    """Return the participant whose cookie a request carries.

    Raises NotFoundError: it carries none, or their secret was replaced.
    """
    token = request.cookies.get(PARTICIPANT, "").partition(SEPARATOR)[0]
    if not token:
        raise NotFoundError("There is no cookie of a participant.")
    return served_by(request).store.participant_by_token(token)


def moved_from(request: Request) -> Study | None:
    """Return the study of a participant whom this browser was, and whose secret was replaced; None if there is none."""
    store = served_by(request).store
    try:
        found = store.participant(request.cookies.get(PARTICIPANT, "").partition(SEPARATOR)[2])
    except NotFoundError:
        return None
    return store.study(found.study)


def participant_of(request: Request) -> Participant:
    """Return the participant whose cookie a request carries."""
    try:
        found = known_by(request)
    except NotFoundError as error:
        study = moved_from(request)
        said = "Please open the link to the study again; this browser does not know who you are."
        raise RefusedError(403, said, text="moved_on_text" if study else "stranger_text") from error
    served_by(request).count("board", found.id)
    return found


Known = Annotated[Participant, Depends(participant_of)]


@dataclass(frozen=True)
class Visit:
    """What the steps of a participant's way are given.

    notice : a sentence at the top of the page: why the last form was refused.
    status : HTTP status of the page that answers.
    """

    request: Request
    participant: Participant
    notice: str = ""
    status: int = 200

    @cached_property
    def store(self) -> Store:
        return served_by(self.request).store

    @cached_property
    def study(self) -> Study:
        """The study in which the participant takes part."""
        return self.store.study(self.participant.study)

    @cached_property
    def assignments(self) -> list[Assignment]:
        """What the participant was given, in order."""
        return [] if self.study.kind == JUDGING else self.store.assignments_of(self.participant.id)

    @cached_property
    def sorts(self) -> list[Assignment]:
        """The assignments of the sort proper, without training."""
        return [one for one in self.assignments if one.number > 0]

    @cached_property
    def asked(self) -> list[Asked]:
        """What the participant was asked as a judge, in order."""
        return self.store.asked(self.participant.id) if self.study.kind == JUDGING else []

    @property
    def has_begun(self) -> bool:
        """Whether the participant was given something to sort, or asked a question as a judge."""
        return bool(self.assignments or self.asked)

    @property
    def takes_part(self) -> bool:
        """Whether the participant may begin something new."""
        return (self.study.status == "open" or self.participant.preview) and not self.participant.excluded

    @cached_property
    def nothing_left(self) -> bool:
        """Whether there is nothing more to sort, or to answer, for the participant."""
        if self.study.kind == JUDGING:
            return not self.participant.preview and self.store.needs_no_answers(self.study.id)
        return not self.store.is_left(self.participant, self.study, self.assignments)

    @property
    def instructions(self) -> Markup | str:
        """The study's instructions as harmless HTML; empty if it has none."""
        text = self.study.settings.instructions
        return Markup(as_html(self.wording.own(text))) if text else ""

    @cached_property
    def language(self) -> str:
        """The language in which the participant takes part, or that of the study which their browser likes best."""
        offered, own = self.study.settings.offered, self.participant.language
        return own if own in offered else asked_language(self.request, offered)

    @cached_property
    def wording(self) -> Wording:
        """The sentences in this language."""
        return pages.wording_of(self.study, self.language)

    @property
    def page(self) -> dict[str, Any]:
        """What every page is given: see `pages.page_context`."""
        preview = self.participant.preview
        return {"language": self.language, "preview": preview, "notice": self.notice, "choose": True}

    def render(self, name: str, context: Mapping[str, Any]) -> Response:
        """Return a page, by the name of its template and what that is given."""
        may_withdraw = bool(self.study.settings.panel.consent) and name not in WITHOUT_FOOT
        return HTMLResponse(pages.render(name, {"withdraw": may_withdraw, **context}), self.status)

    def message(self, key: str, *, ending: str | None = None, gave_something: bool = False) -> Response:
        """Return a page that says why there is nothing to do, by the key of its text.

        ``ending`` is how the participant ends, one of `consilience.collect.settings.panel.ENDINGS`; its code is
        shown. Who ``gave_something`` can withdraw it.
        """
        context = {
            **pages.message_context(self.study, key, **self.page),
            "completion": None if ending is None else self.completion(ending),
            "withdraw": gave_something and bool(self.study.settings.panel.consent),
        }
        return self.render("message", context)

    def completion(self, ending: str) -> dict[str, str] | None:
        """Return the code and the address of an ending for the participant, None if the study has none.

        That they reached it is kept.
        """
        found = completion_of(self.study, ending, self.participant.parameters)
        self.store.keep_ending(self.participant.id, ending, found["code"] if found else "")
        return found


def not_open(study: Study) -> str:
    """Return the message for people whom a study does not let in."""
    return "not_open" if study.status == "draft" else "closed"


def completion_of(study: Study, ending: str, parameters: Mapping[str, str]) -> dict[str, str] | None:
    """Return the code and the address of an ending, filled in; None if the study has none."""
    found = study.settings.panel.endings.get(ending)
    return None if found is None else found.filled(parameters)


def message(
    request: Request,
    study: Study | None,
    key: str,
    status: int = 200,
    *,
    completion: Mapping[str, str] | None = None,
    **words: Any,
) -> Response:
    """Return a page that says why there is nothing to do, to somebody who is no participant.

    ``words`` are those that the text of the page has in braces.
    """
    shown = study or unknown_study()
    language = asked_language(request, shown.settings.offered)
    context = {**pages.message_context(shown, key, words, language=language), "completion": completion}
    return HTMLResponse(pages.render("message", context), status)


def unknown_study() -> Any:
    """Return what pages are made of where the study is not known: in all languages."""
    return SimpleNamespace(title="Consilience", settings=StudySettings(languages=tuple(LANGUAGES)))


def asked_language(request: Request, offered: Sequence[str]) -> str:
    """Return the one of some languages that a browser likes best."""
    return offered[0] if len(offered) == 1 else choose_language(request.headers.get("accept-language", ""), offered)
