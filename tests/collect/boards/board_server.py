"""A server of the participant's pages that keeps everything in memory, with the rules that the real one has."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import uvicorn
from PIL import Image, ImageDraw
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from consilience.collect.participant import pages
from consilience.collect.serving import VersionedFiles
from consilience.collect.settings.model import Study, StudySettings
from consilience.collect.store import board_state
from consilience.errors import InputError

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def picture(number):
    """Return a PNG picture that can be told from others."""
    hue = number * 47 % 360
    image = Image.new("HSV", (240, 240), (hue * 255 // 360, 60, 235)).convert("RGB")
    drawing = ImageDraw.Draw(image)
    for corner in range(number % 5 + 1):
        left = 30 + 36 * corner
        drawing.ellipse((left, 60 + 20 * (number % 4), left + 50, 130 + 20 * (number % 4)), fill=(40, 50, 60))
    drawing.text((100, 190), str(number), fill=(0, 0, 0), font_size=32)
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


@dataclass
class Sort:
    """One assignment: its cards, and the changes that arrived."""

    title: str = "Animals"
    kind: str = "open"
    board: str = "piles"
    cards: list = field(default_factory=list)
    settings: StudySettings = field(default_factory=StudySettings)
    instructions: str = ""
    number: int = 1
    total: int = 1
    begun: bool = True
    handed_in: bool = False
    changes: list = field(default_factory=list)
    failing: int = 0  # requests to answer with 503
    draw: Callable[[int], bytes] = picture

    @property
    def state(self):
        start = board_state.initial(1, self.numbers, self.settings.categories)
        return board_state.fold(start, self.changes, self.numbers).as_json()

    def take(self, client, changes):
        """Take changes as the store does, or raise an InputError."""
        if self.handed_in:
            raise ClosedError
        self.changes += [(client, board_state.check_change(change, self.study, self.numbers)) for change in changes]

    def change(self, **change):
        """Take one change from elsewhere, such as another device."""
        self.take(f"other{len(self.changes)}", [{"sequence": 0, **change}])

    @property
    def study(self):
        when = datetime(2026, 1, 1, tzinfo=UTC)
        return Study("s1", self.title, self.kind, self.board, "open", self.settings, len(self.cards), "join", 0, when)

    @property
    def numbers(self):
        return [card.number for card in self.cards]

    @property
    def handled(self):
        """Changes that counted, without their numbers."""
        return list({(client, change["sequence"]): change for client, change in self.changes}.values())


class ClosedError(Exception):
    """The set is no longer open."""


def app_of(sort):
    """Return the application that serves one assignment."""

    def html(name, context, status=200):
        return HTMLResponse(pages.render(name, context), status)

    def board(notice="", status=200):
        given = {"number": sort.number, "total": sort.total, "instructions": sort.instructions}
        return html("board", pages.board_context(sort.study, sort.cards, sort.state, notice=notice, **given), status)

    async def show(_):
        if sort.handed_in:
            return html("thanks", pages.thanks_context(sort.study))
        return (
            board() if sort.begun else html("instructions", pages.instructions_context(sort.study, sort.instructions))
        )

    async def begin(_):
        sort.begun = True
        return RedirectResponse("/sort", 303)

    async def change(request):
        given = json.loads(await request.body())
        if sort.failing:
            sort.failing -= 1
            return JSONResponse({"error": "busy"}, 503)
        try:
            sort.take(given["client"], given["changes"])
        except ClosedError:
            return JSONResponse({"error": "The set is no longer open."}, 409)
        except InputError as error:
            return JSONResponse({"error": str(error)}, 422)
        return JSONResponse(sort.state)

    async def state(_):
        if sort.handed_in:
            return JSONResponse({"error": "The set is no longer open."}, 409)
        return JSONResponse(sort.state)

    async def move(request):
        form = await request.form()
        items = [int(item) for item in form.getlist("items")]
        if not items:
            return board("Select a card first.", 422)
        group = form["group"] or None
        if group == "new":
            group = f"g{len(sort.state['groups']) + 1}"
        sort.change(kind="move", items=items, group=group)
        return RedirectResponse("/sort", 303)

    async def name(request):
        form = await request.form()
        sort.change(kind="name", group=form["group"], name=form["name"])
        return RedirectResponse("/sort", 303)

    async def submit(request):
        form = await request.form()
        try:
            state = board_state.BoardState.of_json(sort.state)
            board_state.require_submittable(state, sort.study, confirmed="confirmed" in form)
        except InputError as error:
            return board(str(error), 422)
        sort.handed_in = True
        return RedirectResponse("/sort", 303)

    async def show_picture(request):
        return Response(sort.draw(request.path_params["number"]), media_type="image/png")

    routes = [
        Route("/sort", show),
        Route("/sort/begin", begin, methods=["POST"]),
        Route("/sort/changes", change, methods=["POST"]),
        Route("/sort/state", state),
        Route("/sort/move", move, methods=["POST"]),
        Route("/sort/name", name, methods=["POST"]),
        Route("/sort/submit", submit, methods=["POST"]),
        Route("/pictures/{number:int}", show_picture),
        Mount("/static", VersionedFiles()),
    ]
    return with_policy(Starlette(routes=routes))


def with_policy(app):
    """Add the headers that the real application sends."""

    async def wrapped(scope, receive, send):
        async def sending(message):
            if message["type"] == "http.response.start":
                message["headers"] += [(b"content-security-policy", CSP.encode()), (b"referrer-policy", b"same-origin")]
            await send(message)

        await app(scope, receive, sending)

    return wrapped


class Switch:
    """An application that can be exchanged while the server runs."""

    def __init__(self):
        self.app = None

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)


@contextmanager
def serving():
    """Serve sorts at an address, one after another: yields a function that begins to serve one, and the address."""
    switch = Switch()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(switch, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)

    def serve(sort):
        switch.app = app_of(sort)
        return f"http://127.0.0.1:{listener.getsockname()[1]}/sort"

    yield serve
    server.should_exit = True
    thread.join(5)
    listener.close()
