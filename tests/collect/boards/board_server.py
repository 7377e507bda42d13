"""A server of the participant's pages that keeps everything in memory, with the rules that the real one has."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import uvicorn
from PIL import Image, ImageDraw
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import consilience.collect
from consilience.collect import pages

STATIC = Path(consilience.collect.__file__).parent / "static"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def settings_of(**chosen):
    """Settings of a study, as the pages read them."""
    usual = {"language": "en", "direction": None, "texts": {}, "group_names": "optional", "all_sorted": True}
    return SimpleNamespace(**(usual | {"categories": ()} | chosen))


@dataclass
class Sort:
    """One assignment: its cards, and the changes that arrived."""

    title: str = "Animals"
    kind: str = "open"
    board: str = "piles"
    cards: list = field(default_factory=list)
    settings: SimpleNamespace = field(default_factory=settings_of)
    instructions: str = ""
    number: int = 1
    total: int = 1
    begun: bool = True
    handed_in: bool = False
    changes: list = field(default_factory=list)
    arrived: set = field(default_factory=set)
    requests: int = 0
    failing: int = 0  # requests to answer with 503

    @property
    def state(self):
        return folded([card.number for card in self.cards], self.settings.categories, self.changes)

    def take(self, client, changes):
        for change in changes:
            if (client, change["sequence"]) not in self.arrived:
                self.arrived.add((client, change["sequence"]))
                self.changes.append(change)


def folded(presented, categories, changes):
    """Return the state of a board after its changes."""
    groups = {f"c{place}": {"name": name, "items": []} for place, name in enumerate(categories, 1)}
    for change in changes:
        group = change["group"]
        if change["kind"] == "move":
            items = list(dict.fromkeys(change["items"]))
            for each in groups.values():
                each["items"] = [item for item in each["items"] if item not in items]
            if group is not None:
                groups.setdefault(group, {"name": "", "items": []})["items"] += items
        elif change["kind"] == "group":
            groups.setdefault(group, {"name": "", "items": []})
        elif change["kind"] == "name" and group in groups and not group.startswith("c"):
            groups[group]["name"] = change["name"]
        elif (
            change["kind"] == "remove" and group in groups and not groups[group]["items"] and not group.startswith("c")
        ):
            del groups[group]
    placed = {item for group in groups.values() for item in group["items"]}
    return {
        "assignment": "a1",
        "version": len(changes),
        "groups": [{"id": key, **group} for key, group in groups.items()],
        "unsorted": [item for item in presented if item not in placed],
    }


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


def app_of(sort):
    """Return the application that serves one assignment."""

    def html(name, context, status=200):
        return HTMLResponse(pages.render(name, context), status)

    def board(notice="", status=200):
        given = {"number": sort.number, "total": sort.total, "instructions": sort.instructions}
        return html("board", pages.board_context(sort, sort.cards, sort.state, notice=notice, **given), status)

    async def show(_):
        if sort.handed_in:
            return html("thanks", pages.thanks_context(sort))
        return board() if sort.begun else html("instructions", pages.instructions_context(sort, sort.instructions))

    async def begin(_):
        sort.begun = True
        return RedirectResponse("/sort", 303)

    async def change(request):
        sort.requests += 1
        given = json.loads(await request.body())
        if sort.failing:
            sort.failing -= 1
            return JSONResponse({"detail": "busy"}, 503)
        if sort.handed_in:
            return JSONResponse({"detail": "The set is no longer open."}, 409)
        known = {card.number for card in sort.cards}
        if any(not set(each.get("items", [])) <= known for each in given["changes"]):
            return JSONResponse({"detail": "There is no such card."}, 422)
        sort.take(given["client"], given["changes"])
        return JSONResponse(sort.state)

    async def state(_):
        if sort.handed_in:
            return JSONResponse({"detail": "The set is no longer open."}, 409)
        return JSONResponse(sort.state)

    async def move(request):
        form = await request.form()
        items = [int(item) for item in form.getlist("items")]
        if not items:
            return board("Select a card first.", 422)
        group = form["group"] or None
        if group == "new":
            group = f"g{len(sort.state['groups']) + 1}"
        sort.changes.append({"kind": "move", "items": items, "group": group})
        return RedirectResponse("/sort", 303)

    async def name(request):
        form = await request.form()
        sort.changes.append({"kind": "name", "group": form["group"], "name": form["name"]})
        return RedirectResponse("/sort", 303)

    async def submit(request):
        form = await request.form()
        if sort.state["unsorted"] and not form.get("confirmed"):
            return board("Some cards are not sorted yet.", 422)
        sort.handed_in = True
        return RedirectResponse("/sort", 303)

    async def show_picture(request):
        return Response(picture(request.path_params["number"]), media_type="image/png")

    routes = [
        Route("/sort", show),
        Route("/sort/begin", begin, methods=["POST"]),
        Route("/sort/changes", change, methods=["POST"]),
        Route("/sort/state", state),
        Route("/sort/move", move, methods=["POST"]),
        Route("/sort/name", name, methods=["POST"]),
        Route("/sort/submit", submit, methods=["POST"]),
        Route("/pictures/{number:int}", show_picture),
        Mount("/static", StaticFiles(directory=STATIC)),
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
        time.sleep(0.01)

    def serve(sort):
        switch.app = app_of(sort)
        return f"http://127.0.0.1:{listener.getsockname()[1]}/sort"

    yield serve
    server.should_exit = True
    thread.join(5)
    listener.close()
