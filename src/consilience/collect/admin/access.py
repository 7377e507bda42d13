"""Administration: the first password, logging in and out, tokens of the API, and who may see its pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import FormData

from consilience.collect import security
from consilience.collect.forms import sent_form, text_of
from consilience.collect.security import RefusedError
from consilience.collect.serving import DEVICE, SESSION, SETUP, address, page, see, served_by, set_cookie
from consilience.collect.store.secret import new_id
from consilience.errors import InputError

HOURS = 12  # of a session
DAYS = 365  # for which a browser that logged in is known
ANY_DEVICE = "any"  # that is not known
LENGTHS = {"shortest": security.SHORTEST_PASSWORD, "longest": security.LONGEST_PASSWORD}
LONGEST_TOKEN_NAME = 100

router = APIRouter()
Form = Annotated[FormData, Depends(sent_form)]


def signed_in(request: Request) -> None:
    """Refuse a request without the cookie of a session that goes on."""
    token = request.cookies.get(SESSION, "")
    if not (token and served_by(request).store.is_session(token)):
        raise RefusedError(401, "Please log in.")
    request.state.signed_in = True


SignedIn = Depends(signed_in)


# ---- the first password


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
    """Show the form of the first password."""
    _require_setup(request, request.cookies.get(SETUP, ""))
    return page(request, "setup", **LENGTHS)


@router.post("/admin/setup")
def set_first_password(request: Request, form: Form) -> Response:
    """Set the first password, and log in."""
    served_by(request).count("login", address(request))
    _require_setup(request, request.cookies.get(SETUP, ""))
    password = _secret(form, "password")
    if password != _secret(form, "again"):
        return page(request, "setup", status=422, error="The two passwords differ.", **LENGTHS)
    try:
        hashed = security.hashed_password(password)
    except InputError as error:
        return page(request, "setup", status=422, error=str(error), **LENGTHS)
    served_by(request).store.set_password_hash(hashed)
    served_by(request).setup_token = None
    answer = _begin_session(request)
    answer.delete_cookie(SETUP, path="/")
    return answer


def _require_setup(request: Request, token: str) -> None:
    expected = served_by(request).setup_token
    if expected is None or served_by(request).store.password_hash() is not None or not security.equal(token, expected):
        raise RefusedError(
            404, "This link was used, or is not whole. The server's first lines hold the link that works."
        )


# ---- sessions


@router.get("/admin/login")
def show_login(request: Request) -> Response:
    """Show the form of the password."""
    return page(request, "login", longest=security.LONGEST_PASSWORD)


@router.post("/admin/login")
def log_in(request: Request, form: Form) -> Response:
    """Begin a session."""
    served_by(request).count("login", address(request))
    served_by(request).count("account", _device_of(request) or ANY_DEVICE)
    if not security.matches(served_by(request).store.password_hash(), _secret(form, "password")):
        error = "This is not the password."
        return page(request, "login", status=403, error=error, longest=security.LONGEST_PASSWORD)
    return _begin_session(request)


@router.post("/admin/logout")
def log_out(request: Request) -> Response:
    """End the session, wherever its cookie is."""
    served_by(request).store.end_session(request.cookies.get(SESSION, ""))
    answer = see("/admin/login")
    answer.delete_cookie(SESSION, path="/")
    return answer


def _begin_session(request: Request) -> Response:
    answer = see("/admin")
    set_cookie(
        request, answer, SESSION, served_by(request).store.new_session(timedelta(hours=HOURS)), seconds=HOURS * 3600
    )
    device = security.seal(_device_of(request) or new_id(), _key_of_devices(request))
    set_cookie(request, answer, DEVICE, device, seconds=DAYS * 86400)
    return answer


def _device_of(request: Request) -> str | None:
    """Return the id of a browser in which somebody logged in with the password of today; None for others."""
    return security.unseal(request.cookies.get(DEVICE, ""), _key_of_devices(request))


def _key_of_devices(request: Request) -> str:
    """Return the key of the cookies of known browsers: the hash of the password, which has a random salt."""
    return served_by(request).store.password_hash() or ""


def _secret(form: FormData, name: str) -> str:
    """Return a field as it was typed, blanks at its ends included."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


# ---- tokens of the API


@router.get("/admin/tokens", dependencies=[SignedIn])
def list_tokens(request: Request) -> Response:
    """List the tokens, without what they are."""
    return _tokens(request)


@router.post("/admin/tokens", dependencies=[SignedIn])
def make_token(request: Request, form: Form) -> Response:
    """Make a token, and show it this once."""
    name = text_of(form, "name")[:LONGEST_TOKEN_NAME] or "without a name"
    _, created = served_by(request).store.create_token(name)
    return _tokens(request, created)


@router.post("/admin/tokens/{token}/revoke", dependencies=[SignedIn])
def revoke_token(request: Request, token: int) -> Response:
    """Revoke a token; it works no more from now on."""
    served_by(request).store.revoke_token(token)
    return see("/admin/tokens")


def _tokens(request: Request, created: Any = None) -> Response:
    return page(request, "tokens", here="tokens", tokens=served_by(request).store.tokens(), created=created)
