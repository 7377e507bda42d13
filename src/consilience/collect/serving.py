"""What all routes share: the store, the templates, the limits, and how a refusal looks."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined

from consilience.collect.creation.pictures import CheckedPicture, small
from consilience.collect.instructions import as_html
from consilience.collect.security import PublicAddress, Rate, RateLimit, RefusedError, visitor
from consilience.collect.settings.languages import LANGUAGES
from consilience.collect.store import Store
from consilience.collect.wording.catalogues import is_machine_made

STATIC = files("consilience.collect") / "static"
FOR_GOOD = "public, max-age=31536000, immutable"  # what never changes under its address
SESSION, PARTICIPANT, SETUP, INVITED, DEVICE = "session", "participant", "setup", "invited", "device"  # cookies
MOST_SMALL = 1024  # pictures in the size of a card that are remembered
TOO_MANY_LOGINS = "Too many attempts to log in. Wait some minutes, then try again."
HEADINGS = {
    401: "Please log in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Not possible now",
    413: "Too large",
    421: "Another address",
    429: "Too many requests",
    500: "Something went wrong",
}


@cache
def static_address() -> str:
    """Return the address under which pages have scripts, styles and signs: another one for each version of these."""
    content = hashlib.sha256()
    for path in sorted(Path(str(STATIC)).rglob("*.*")):
        content.update(path.read_bytes())
    return f"/static/v-{content.hexdigest()[:12]}"


class VersionedFiles(StaticFiles):
    """Scripts, styles and signs, which browsers keep for good under the address of their version.

    Under another version, such as that of a page from before an update, and under none, browsers ask each time.
    """

    def __init__(self) -> None:
        super().__init__(directory=str(STATIC))

    async def get_response(self, path: str, scope: Any) -> Response:
        """Return a file."""
        version, _, rest = path.replace("\\", "/").partition("/")
        if not version.startswith("v-"):
            return await super().get_response(path, scope)
        answer = await super().get_response(rest, scope)
        if version == static_address().rpartition("/")[2] and answer.status_code in (200, 304):
            answer.headers["Cache-Control"] = FOR_GOOD
        return answer


@dataclass(frozen=True)
class Limits:
    """How much a visitor may ask: by address, those of the API by token, those of the board by participant.

    Passwords are counted by address and by ``account``, which all addresses share, since a proxy is believed whom it
    speaks for; a browser that logged in before has a count of its own, so that nobody can shut it out.
    """

    login: Rate = field(default=Rate(10, 600))
    account: Rate = field(default=Rate(10, 600))
    join: Rate = field(default=Rate(120, 60))  # a class behind one address begins at the same time
    board: Rate = field(default=Rate(1200, 60))
    api: Rate = field(default=Rate(3000, 60))
    strangers: Rate = field(default=Rate(60, 60))  # requests to the API with a wrong token


@dataclass
class Served:
    """What the routes of one application use.

    setup_token : the secret part of the link under which the first password is chosen; None where none is needed.
    public : the address of links; None for that of the browser that asks.
    notices : what the page of a study says once, when it is next shown, by the id of the study.
    small_picture : function of the id of a study and the hash of a picture; returns the picture in the size of a card;
        see `Store.require_picture` for whether it is still there.
    """

    store: Store
    setup_token: str | None
    limits: Limits
    public: PublicAddress | None = None
    notices: dict[str, str] = field(default_factory=dict)
    counters: dict[str, RateLimit] = field(init=False)
    small_picture: Callable[[str, str], CheckedPicture] = field(init=False)

    def __post_init__(self) -> None:
        sentences = {
            "login": TOO_MANY_LOGINS,
            "account": TOO_MANY_LOGINS,
            "join": "Too many people begin from this place at once. Wait a moment, then open the link again.",
            "board": "Too many changes at once. Wait a moment.",
            "api": "Too many requests at once; 'Retry-After' says when to try again.",
            "strangers": "Too many requests without a valid token; 'Retry-After' says when to try again.",
        }
        self.counters = {name: RateLimit(getattr(self.limits, name), text) for name, text in sentences.items()}
        self.small_picture = lru_cache(MOST_SMALL)(self._small_picture)

    def _small_picture(self, study: str, picture: str) -> CheckedPicture:
        """Return a picture of a study in the size of a card; the last ones are remembered."""
        return small(self.store.picture(study, picture).data)

    def count(self, limit: str, who: str) -> None:
        """Count a request by somebody, or refuse it."""
        self.counters[limit].count(who)


def served_by(request: Request) -> Served:
    """Return what the application of a request uses."""
    found: Served = request.app.state.served
    return found


def address(request: Request) -> str:
    """Return by what the visitor is known to the rate limits."""
    return visitor(request.client.host if request.client else None)


def link_to(request: Request, token: str) -> str:
    """Return the whole address by which people join."""
    return full_address(request, "join", token=token)


def full_address(request: Request, route: str, **named: str) -> str:
    """Return the whole address of a route, for others to open."""
    public, found = served_by(request).public, request.url_for(route, **named)
    return str(found) if public is None else f"{public.url}{found.path}"


@cache
def environment() -> Environment:
    """Return the templates, which escape all that they are given, and refuse names that they are not."""
    pages = Environment(
        loader=PackageLoader("consilience.collect"),
        auto_reload=False,  # else each page looks at the dates of its files
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals.update(static=static_address(), known_languages=list_languages)
    pages.globals["board_modules"] = sorted(path.name for path in Path(str(STATIC), "board").glob("*.js"))
    pages.filters["day"] = day
    pages.filters["markdown"] = as_html
    return pages


def list_languages() -> list[tuple[str, str, bool]]:
    """Return the languages of participants' pages: code, name, and whether no native speaker has read it yet."""
    return [(code, name, is_machine_made(code)) for code, (name, _) in LANGUAGES.items()]


def day(moment: datetime) -> str:
    """Show a moment to the minute.

    Examples
    --------
    >>> from datetime import UTC
    >>> day(datetime(2026, 3, 1, 14, 5, 9, tzinfo=UTC))
    '2026-03-01 14:05 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def page(request: Request, name: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a page of the administration, from its template."""
    usual: dict[str, Any] = {"here": None, "error": None, "problems": {}}
    asker = getattr(request.state, "asker", None)
    can = asker.can(getattr(context.get("study"), "id", None)) if asker else {}
    given = usual | {"asker": asker, "can": can} | context
    return HTMLResponse(environment().get_template(f"admin/{name}.html.j2").render(given), status)


def see(path: str) -> RedirectResponse:
    """Return a redirection after a form was accepted."""
    return RedirectResponse(path, 303)


def set_cookie(request: Request, answer: Response, name: str, value: str, *, seconds: int | None = None) -> None:
    """Set a cookie that scripts cannot read and that forms of other sites do not send."""
    answer.set_cookie(
        name, value, max_age=seconds, httponly=True, samesite="lax", secure=request.url.scheme == "https", path="/"
    )


def refusal(request: Request, refused: RefusedError) -> Response:
    """Return the answer to a refused request: JSON to scripts, a page to people."""
    headers = {} if refused.retry_after is None else {"Retry-After": str(refused.retry_after)}
    if refused.status == 401 and request.scope["path"].startswith("/api/"):
        headers["WWW-Authenticate"] = "Bearer"
    if wants_json(request):
        return JSONResponse({"error": refused.sentence}, refused.status, headers)
    if refused.status == 401 and request.method == "GET":
        return see("/admin/login")
    heading = HEADINGS.get(refused.status, "Please check what you sent")
    asker, named = getattr(request.state, "asker", None), request.path_params.get("study", "")
    back = named if asker and asker.sees(named) and refused.status != 404 else ""
    answer = page(request, "error", status=refused.status, heading=heading, sentence=refused.sentence, back=back)
    answer.headers.update(headers)
    return answer


def wants_json(request: Request) -> bool:
    """Whether a request is sent by a script."""
    path = request.scope["path"]
    return (
        path.startswith(("/api/", "/sort/changes", "/sort/state"))
        or path.endswith(("/progress", "/dashboard/findings", "/dashboard/people"))
        or request.headers.get("content-type", "").startswith("application/json")
    )


def tag_answer(request: Request, answer: Response) -> Response:
    """Return an answer with an ETag of its content, or 304 if the sender has it already."""
    return answer_version(request, bytes(answer.body).decode(), lambda: answer)


def answer_version(request: Request, version: str, made: Callable[[], Response]) -> Response:
    """Return an answer that is made only if the sender does not have this version of it; else 304."""
    tag = f'"{zlib.crc32(version.encode()):x}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    answer = made()
    answer.headers.update({"ETag": tag, "Cache-Control": "no-store"})
    return answer
