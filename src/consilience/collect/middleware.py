"""What every request passes: a log without secrets, headers that bind browsers, bounded bodies, forms of own pages.

Plain ASGI, without a framework's classes, so that each part can be read and tested by itself.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Container, MutableMapping
from typing import Any

from consilience.collect.security import PublicAddress, RefusedError, require_own_page

NAMED = "consilience.named"  # in a scope, the account that a trusted proxy names
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Answer = Callable[[Message, RefusedError], Application]  # to a refused request, by its scope

ACCESS = logging.getLogger("consilience.access")
FAILURES = logging.getLogger("consilience.failures")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
# A form on a page with no-referrer says "Origin: null", which a forged one says too; with same-origin it says what is
# true, and other sites learn nothing all the same.
REFERRER_POLICY_OF_PAGES = "same-origin"

UNEXPECTED = "Something went wrong here. It is in the server's log under {number}; please try again."


class Guarded:
    """An application behind all of the checks that do not depend on the route.

    answer : makes the answer to a refused request, a page or JSON.
    most_bytes : gives how large a body may be, by the path.
    without_cookies : whether a path never looks at cookies, so that no other site's page can use somebody's session
        there.
    public : by which alone the server is reached, and whose scheme is that of its requests.
    """

    def __init__(
        self,
        app: Application,
        *,
        answer: Answer,
        most_bytes: Callable[[str], int],
        without_cookies: Callable[[str], bool],
        public: PublicAddress | None = None,
    ) -> None:
        self.app, self.answer, self.most_bytes, self.without_cookies = app, answer, most_bytes, without_cookies
        self.public = public

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request; other events pass."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.public is not None and self.public.is_named(headers_of(scope).get("host", "")):
            scope["scheme"] = self.public.scheme  # whatever a proxy says of the connection to itself
        sent = Sent(scope, send)
        begun = time.perf_counter()
        number = secrets.token_hex(4)  # of the request, in the log and on the page of an error
        try:
            await self._answered(scope, receive, sent, number)
        finally:
            took = 1000 * (time.perf_counter() - begun)
            ACCESS.info("%s %s %s %s %.0f ms", number, scope["method"], route_of(scope), sent.status or "-", took)

    async def _answered(self, scope: Message, receive: Receive, sent: Sent, number: str) -> None:
        try:
            headers = headers_of(scope)
            if self.public is not None:
                self.public.require_known(headers.get("host", ""))
            if not self.without_cookies(scope["path"]):
                require_own_page(scope["method"], headers, scope.get("scheme", "http"))
            await self.app(scope, bound_body(receive, headers, self.most_bytes(scope["path"])), sent)
        except Exception as error:
            refused = refusal_in(error)
            if refused is None:
                FAILURES.exception("%s %s %s failed", number, scope["method"], route_of(scope))
                refused = RefusedError(500, UNEXPECTED.format(number=number), text="failed_text", number=number)
            if sent.status is None:
                await self.answer(scope, refused)(scope, receive, sent)


class NamedByProxy:
    """Takes from a header of a trusted proxy whom it let in, and from nobody else.

    It is outside of what puts the visitor's address in place of the proxy's.

    header : its name.
    trusted : addresses of proxies.
    """

    def __init__(self, app: Application, header: str, trusted: Container[str]) -> None:
        self.app, self.header, self.trusted = app, header.lower().encode("ascii"), trusted

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Keep the name in the scope of a request; a header that is there twice is the name of nobody."""
        if scope["type"] == "http":
            address = (scope.get("client") or ("",))[0]
            values = [value.strip() for name, value in scope["headers"] if name.lower() == self.header]
            if address in self.trusted and any(values):
                scope[NAMED] = _decode_name(values[0]) if len(values) == 1 else ""
        await self.app(scope, receive, send)


def _decode_name(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def refusal_in(error: BaseException | None) -> RefusedError | None:
    """Return the refusal that led to an error; frameworks wrap what goes wrong while a body is read."""
    while error is not None and not isinstance(error, RefusedError):
        error = error.__cause__ or error.__context__
    return error


class Sent:
    """Passes an answer on with our headers, and remembers its status."""

    def __init__(self, scope: Message, send: Send) -> None:
        self.scope, self.send, self.status = scope, send, None

    async def __call__(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": with_ours(message["headers"], self.scope.get("scheme") == "https")}
        await self.send(message)


def with_ours(headers: Any, encrypted: bool) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those of `HEADERS` that it does not set itself."""
    headers = [(bytes(name).lower(), bytes(value)) for name, value in headers]
    given = dict(headers)
    ours = HEADERS | ({"strict-transport-security": "max-age=31536000"} if encrypted else {})
    if b"etag" in given:
        ours["cache-control"] = "no-cache"  # kept by the browser, which asks each time whether it still holds
    if given.get(b"content-type", b"").startswith(b"text/html"):
        ours["referrer-policy"] = REFERRER_POLICY_OF_PAGES
    return headers + [(name.encode(), value.encode()) for name, value in ours.items() if name.encode() not in given]


def headers_of(scope: Message) -> dict[str, str]:
    """Return the headers of a request by name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def bound_body(receive: Receive, headers: dict[str, str], most: int) -> Receive:
    """Return a way to receive a body that refuses one that says that it is too large, or is."""
    sentence = f"The request is too large; at most {most:,} bytes are allowed."
    stated = headers.get("content-length", "0")
    if not stated.isdecimal() or len(stated) > 12 or int(stated) > most:
        raise RefusedError(413, sentence)
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise RefusedError(413, sentence)
        return message

    return receive_bounded


def route_of(scope: Message) -> str:
    """Return the route of a request as the code writes it, without what stands for its parameters or in its query.

    An address may hold a participant's token or, in its query, a panel's id; neither is logged.
    """
    path: str = getattr(scope.get("route"), "path", "")
    if scope["path"].startswith("/static/"):
        return "/static/{file}"
    return path or "(no such page)"
