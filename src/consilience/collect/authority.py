"""Who asks, whether they may, and the log of what they changed: every route of the server is a `RuledRoute`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from consilience.collect.errors import NotFoundError
from consilience.collect.middleware import NAMED
from consilience.collect.roles import (
    ADMINISTRATOR,
    EDITS,
    IN_A_STUDY,
    OWNER,
    OWNS,
    RESEARCHER,
    RULES,
    RUNS,
    VIEWER,
    Rule,
    reaches,
)
from consilience.collect.security import RefusedError
from consilience.collect.serving import SESSION, address, served_by
from consilience.collect.settings.account_names import LONGEST_ACCOUNT_NAME
from consilience.collect.settings.differences import describe_changes
from consilience.collect.settings.model import Study
from consilience.collect.store import Account
from consilience.collect.store.database import is_passing
from consilience.collect.store.studies import no_such_study

OF_SCRIPTS = "/api/"
UNKNOWN = (
    "There is no account {name!r} on this server. Ask an owner of your study, or an administrator, for an invitation, "
    "and open its link here."
)
BY_SERVER = "the server"  # in the log, who sends a token of no account


@dataclass(frozen=True)
class Asker:
    """Who sends a request.

    name : for the log.
    role : on the server.
    roles : in studies, by their ids.
    account : str, or None; the id of the account.
    is_named : whether a proxy names them, so that they cannot log out here.
    """

    name: str
    role: str
    roles: Mapping[str, str]
    account: str | None
    is_named: bool = False

    def can(self, study: str | None) -> dict[str, bool]:
        """Return what pages offer them: to edit and to own the study that a page is about, to make, and to run."""
        rules = {"edit": EDITS, "own": OWNS, "make": Rule(RESEARCHER), "run": RUNS}
        return {name: rule.allows(self.role, self.roles.get(study or "")) for name, rule in rules.items()}

    def sees(self, study: str) -> bool:
        """Whether they have a role in a study."""
        return self.role == ADMINISTRATOR or study in self.roles


class RuledRoute(APIRoute):
    """A route that answers whom its rule in `RULES` allows, before anything of a body is read; without one, none."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        methods = options.get("methods") or {"GET"}
        self.rules = {method: RULES[f"{method} {path}"] for method in methods}
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def answer_allowed(request: Request) -> Response:
            rule = self.rules[request.method]
            if rule.server is None or rule.is_of_participants:  # the page looks by itself for whom it may answer
                return await _answer_twice(answer, request)
            await run_in_threadpool(admit, request, rule)
            response = await answer(request)
            if rule.does and response.status_code < 400:
                await run_in_threadpool(_note, request, rule)
            return response

        return answer_allowed


async def _answer_twice(answer: Callable[[Request], Coroutine[Any, Any, Response]], request: Request) -> Response:
    """Answer a request, once more if the database undid what it wrote: what participants send twice counts once."""
    try:
        return await answer(request)
    except Exception as error:
        if not is_passing(error):
            raise
        return await answer(request)


def admit(request: Request, rule: Rule) -> None:
    """Refuse a request that its rule does not allow, and keep who sent it.

    Raises RefusedError: nobody is known, or they may do less. Raises NotFoundError: they have no role in the study,
    which looks as if there were none.
    """
    asker = request.state.asker = find_asker(request)
    study: str = request.path_params.get("study", "")
    if rule.study is not None and not asker.sees(study):
        raise no_such_study(study)
    if not rule.allows(asker.role, asker.roles.get(study)):
        raise RefusedError(403, _refuse_role(rule, asker.roles.get(study)))
    if rule.does and study:
        request.state.study = served_by(request).store.study(study)


def _refuse_role(rule: Rule, study: str | None) -> str:
    if not reaches(IN_A_STUDY, study, rule.study):
        return f"You are {'a' if study == VIEWER else 'an'} {study} of this study; this takes an {rule.study}."
    if rule.server == ADMINISTRATOR:
        return "This takes an administrator of the server."
    return "You are a guest, who works in studies to which they were invited; this takes somebody who may make studies."


def find_asker(request: Request) -> Asker:
    """Return who sends a request: whose token it has at the API, whose session anywhere else.

    Raises RefusedError: with status 401, nobody is known.
    """
    if request.scope["path"].startswith(OF_SCRIPTS):
        return _find_script(request)
    store, named = served_by(request).store, named_by_proxy(request)
    if named is not None:
        account = store.account_by_name(named)
        if account is None or account.name != named:  # in other letters, it may be somebody else for the institution
            raise RefusedError(403, UNKNOWN.format(name=named[:LONGEST_ACCOUNT_NAME]))
        return _asker_of(request, account)
    account = store.account_by_session(request.cookies.get(SESSION, ""))
    if account is None:
        raise RefusedError(401, "Please log in.")
    return _asker_of(request, account)


def named_by_proxy(request: Request) -> str | None:
    """Return the name that a trusted proxy says; None if it says none, or is not asked to."""
    named: str | None = request.scope.get(NAMED)
    return named


def asker_if_known(request: Request) -> Asker | None:
    """Return who sends a request to a page for everybody; None if nobody is known."""
    try:
        request.state.asker = find_asker(request)
    except RefusedError:
        return None
    return asked_by(request)


def _find_script(request: Request) -> Asker:
    use = served_by(request)
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    token = use.store.check_token(secret.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        use.count("strangers", address(request))
        raise RefusedError(401, "This needs a valid token, in the header 'Authorization: Bearer …'.")
    use.count("api", str(token.id))
    if token.account is None:
        return Asker(f"{BY_SERVER}, by {token.name}", ADMINISTRATOR, {}, None)
    return _asker_of(request, use.store.account(token.account), f", by {token.name}")


def _asker_of(request: Request, account: Account, by: str = "") -> Asker:
    roles = served_by(request).store.roles_of(account.id)
    is_named = named_by_proxy(request) is not None
    return Asker(f"{account.name}{by}", account.role, roles, account.id, is_named)


def asked_by(request: Request) -> Asker:
    """Return who sent a request that was admitted."""
    found: Asker = request.state.asker
    return found


def may_see(request: Request, study: str) -> bool:
    """Whether somebody with a role in a study sends a request, of whom nothing is known yet."""
    asker = asker_if_known(request)
    return asker is not None and asker.sees(study)


def own_study(request: Request, study: Study) -> Study:
    """Let whoever sent a request own a study that was made for them, and return it."""
    account = asked_by(request).account
    if account is not None:
        served_by(request).store.set_member(study.id, account, OWNER)
    request.state.study = request.state.made = study
    return study


def tell_more(request: Request, detail: str) -> None:
    """Let the log say more of what a request does."""
    request.state.detail = detail


def _note(request: Request, rule: Rule) -> None:
    """Write into the log what a request did: whom or what it names, and what differs now in its study."""
    store, state = served_by(request).store, request.state
    study: Study | None = getattr(state, "study", None)
    named = [f"{name} {value}" for name, value in request.path_params.items() if name in ("participant", "token")]
    more = [getattr(state, "detail", ""), *named]
    if study is not None and not hasattr(state, "made"):
        more.append(_changes_of(request, study))
    store.note_action(
        asked_by(request).name,
        rule.does,
        "; ".join(filter(None, more)),
        study_id=study.id if study else None,
        title=study.title if study else "",
    )


def _changes_of(request: Request, before: Study) -> str:
    try:
        return describe_changes(before, served_by(request).store.study(before.id))
    except NotFoundError:  # it was deleted
        return ""
