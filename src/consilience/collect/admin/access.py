"""Administration: the first account, logging in and out, and tokens of the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import FormData

from consilience.collect import security
from consilience.collect.authority import RuledRoute, asked_by, named_by_proxy, tell_more
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import sent_form, text_of
from consilience.collect.roles import ADMINISTRATOR
from consilience.collect.security import RefusedError
from consilience.collect.serving import DEVICE, SESSION, SETUP, address, page, see, served_by, set_cookie
from consilience.collect.settings.account_names import LONGEST_ACCOUNT_NAME, checked_account_name, name_key
from consilience.collect.store import Token
from consilience.collect.store.accounts import FIRST, Account
from consilience.collect.store.secret import new_id
from consilience.errors import InputError

HOURS = 12  # of a session
DAYS = 365  # for which a browser that logged in is known
ANY_DEVICE = "any "  # that is not known; the account follows
LENGTHS = {"shortest": security.SHORTEST_PASSWORD, "longest": security.LONGEST_PASSWORD}
LONGEST_TOKEN_NAME = 100

router = APIRouter(route_class=RuledRoute)
Form = Annotated[FormData, Depends(sent_form)]


# ---- the first account


@router.get("/admin/setup/{token}")
def open_setup_link(request: Request, token: str) -> Response:
    """Exchange the token of the one-time link for a cookie."""
    served_by(request).count("login", address(request))
    _require_setup(request, token)
    answer = see("/admin/setup")
    set_cookie(request, answer, SETUP, token, seconds=3600)
    return answer


@router.get("/admin/setup")
def show_setup(request: Request) -> Response:
    """Show the form of the first name and password."""
    _require_setup(request, request.cookies.get(SETUP, ""))
    return page(request, "setup", called=FIRST, **LENGTHS)


@router.post("/admin/setup")
def set_first_password(request: Request, form: Form) -> Response:
    """Make the first administrator, and log in."""
    served_by(request).count("login", address(request))
    _require_setup(request, request.cookies.get(SETUP, ""))
    name = text_of(form, "username") or FIRST
    try:
        made = served_by(request).store.add_account(checked_account_name(name), ADMINISTRATOR, new_password_in(form))
    except InputError as error:
        return page(request, "setup", status=422, error=str(error), called=name, **LENGTHS)
    served_by(request).setup_token = None
    served_by(request).store.note_action(made.name, "became the first administrator")
    answer = begin_session(request, made)
    answer.delete_cookie(SETUP, path="/")
    return answer


def _require_setup(request: Request, token: str) -> None:
    use = served_by(request)
    is_needed = use.setup_token is not None and use.store.first_administrator() is None
    if not is_needed or not security.equal(token, use.setup_token or ""):
        raise RefusedError(
            404, "This link was used, or is not whole. The server's first lines hold the link that works."
        )


def new_password_in(form: FormData) -> str:
    """Return the hash of a password that was typed twice. Raises InputError: they differ, or it is no good one."""
    password = secret_of(form, "password")
    if password != secret_of(form, "again"):
        raise InputError("The two passwords differ.")
    return security.hashed_password(password)


# ---- sessions


@router.get("/admin/login")
def show_login(request: Request) -> Response:
    """Show the form of the name and the password."""
    return _login_page(request)


@router.post("/admin/login")
def log_in(request: Request, form: Form) -> Response:
    """Begin a session."""
    use, name = served_by(request), text_of(form, "username")[:LONGEST_ACCOUNT_NAME]
    use.count("login", address(request))
    accounts = use.store.accounts()
    account = use.store.account_by_name(name) if name or len(accounts) != 1 else accounts[0]
    use.count("account", _device_of(request, account) or ANY_DEVICE + name_key(account.name if account else name))
    hashed = account.password_hash if account else None
    if not security.matches(hashed, secret_of(form, "password")) or account is None:
        several = len(accounts) > 1
        error = "There is no account with this name and this password." if several else "This is not the password."
        return _login_page(request, status=403, error=error, name=name)
    return begin_session(request, account)


def _login_page(request: Request, *, name: str = "", **answer: Any) -> Response:
    """Return the page of the log-in, which asks for a name where there are several accounts."""
    several = len(served_by(request).store.accounts()) > 1
    return page(request, "login", longest=security.LONGEST_PASSWORD, several=several, called=name, **answer)


@router.post("/admin/logout")
def log_out(request: Request) -> Response:
    """End the session, wherever its cookie is."""
    served_by(request).store.end_session(request.cookies.get(SESSION, ""))
    answer = see("/admin/login")
    answer.delete_cookie(SESSION, path="/")
    return answer


def begin_session(request: Request, account: Account) -> Response:
    """Log an account in, unless a proxy does, and lead to the studies; from now on its browser is known."""
    answer = see("/admin")
    if named_by_proxy(request) is not None:  # whose log-in ends where it began
        return answer
    session = served_by(request).store.new_session(account.id, timedelta(hours=HOURS))
    set_cookie(request, answer, SESSION, session, seconds=HOURS * 3600)
    if account.password_hash is not None:
        device = security.seal(_device_of(request, account) or new_id(), account.password_hash)
        set_cookie(request, answer, DEVICE, device, seconds=DAYS * 86400)
    return answer


def _device_of(request: Request, account: Account | None) -> str | None:
    """Return the id of a browser in which somebody logged in with the password of today; None for others.

    The key of its cookie is the hash of the password, which has a random salt.
    """
    if account is None or account.password_hash is None:
        return None
    return security.unseal(request.cookies.get(DEVICE, ""), account.password_hash)


def secret_of(form: FormData, name: str) -> str:
    """Return a field as it was typed, blanks at its ends included."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


# ---- tokens of the API


@router.get("/admin/tokens")
def list_tokens(request: Request) -> Response:
    """List one's tokens, and to administrators all, without what they are."""
    return _tokens(request)


@router.post("/admin/tokens")
def make_token(request: Request, form: Form) -> Response:
    """Make a token, and show it this once."""
    name = text_of(form, "name")[:LONGEST_TOKEN_NAME] or "without a name"
    token, created = served_by(request).store.create_token(name, asked_by(request).account)
    tell_more(request, token.name)
    return _tokens(request, created)


@router.post("/admin/tokens/{token}/revoke")
def revoke_token(request: Request, token: int) -> Response:
    """Revoke a token; it works no more from now on."""
    if token not in [one.id for one in _tokens_of(request)]:
        raise NotFoundError("There is no such token.")
    served_by(request).store.revoke_token(token)
    return see("/admin/tokens")


def _tokens(request: Request, created: Any = None) -> Response:
    names = {one.id: one.name for one in served_by(request).store.accounts()}
    return page(request, "tokens", here="tokens", tokens=_tokens_of(request), names=names, created=created)


def _tokens_of(request: Request) -> list[Token]:
    asker, found = asked_by(request), served_by(request).store.tokens()
    return [one for one in found if asker.role == ADMINISTRATOR or one.account == asker.account]
