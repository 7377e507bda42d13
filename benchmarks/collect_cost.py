"""What one participant costs a server of studies: SQL statements, and milliseconds of processor.

    python -m benchmarks.collect_cost [--postgres] [--people 300] [--items 48] [--profile]

People take part one after the other, by requests to the application in this process: they open the link, read the first
page, begin, see the board, move cards three times, hand in and see the next page. For each of these, and for an
*arrival* as `benchmarks.collect_load` has it (to hand in, and to see the next page), it prints how many statements the
database got and how long the processor took, SQLite's own work included, that of PostgreSQL and of the background
worker not. Nothing waits for anything, so that it can be measured on a busy machine. ``--profile`` prints the functions
in which an arrival spends its time.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import json
import pstats
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import numpy as np
from sqlalchemy import Engine, event

from benchmarks import collecting
from benchmarks.collecting import BOARD, groups_of
from consilience.collect import create_app
from consilience.collect.security import Rate
from consilience.collect.serving import Limits
from consilience.collect.store import Store

ARRIVAL = ("to hand in", "the page after it")
MANY = Rate(1_000_000, 1)
ENGINE_WORDS = ("BEGIN", "SAVEPOINT", "RELEASE", "PRAGMA")  # of transactions, which are no questions to the database


@dataclass
class Costs:
    """Statements and milliseconds of each request, by what it was for.

    Attributes
    ----------
    statements, milliseconds : dict of lists
    count : int
        Statements so far.
    """

    statements: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0

    def hear(self, _db: Any, _cursor: Any, statement: str, *_: Any) -> None:
        """Count a statement."""
        self.count += not statement.startswith(ENGINE_WORDS)

    def arrival(self) -> tuple[float, float]:
        """Return the mean statements and the median milliseconds of an arrival."""
        statements = sum(float(np.mean(self.statements[name])) for name in ARRIVAL)
        return statements, float(np.median(np.sum([self.milliseconds[name] for name in ARRIVAL], axis=0)))


class Visitor:
    """A browser that asks the application itself, without a network."""

    def __init__(self, app: Any, costs: Costs) -> None:
        self.app, self.costs = app, costs
        self.cookies: dict[str, str] = {}

    async def ask(self, name: str, method: str, path: str, body: bytes = b"", kind: str = "") -> bytes:
        """Send a request, and note what it cost; return the body of the answer."""
        count, begun = self.costs.count, time.process_time()
        status, found = await self._exchange(method, path, body, kind)
        self.costs.milliseconds[name].append(1000 * (time.process_time() - begun))
        self.costs.statements[name].append(self.costs.count - count)
        if status >= 400:
            raise RuntimeError(f"{method} {path} has the status {status}: {found[-300:]!r}")
        return found

    async def _exchange(self, method: str, path: str, body: bytes, kind: str) -> tuple[int, bytes]:
        path, _, query = path.partition("?")
        headers = {"host": "testserver", "origin": "http://testserver", "content-length": str(len(body))}
        headers |= {"content-type": kind} if kind else {}
        headers |= {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        scope = {
            **{"type": "http", "method": method, "path": path, "raw_path": path.encode(), "root_path": ""},
            **{"query_string": query.encode(), "scheme": "http", "http_version": "1.1"},
            **{"client": ("127.0.0.1", 1), "server": ("testserver", 80)},
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        for name, value in sent[0]["headers"]:
            if name.lower() == b"set-cookie":
                key, _, kept = value.decode().partition(";")[0].partition("=")
                self.cookies[key] = kept
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


async def take_part(visitor: Visitor, link: str, number: int, profile: cProfile.Profile | None = None) -> None:
    """Go all the way from the link to the page after the first sort."""
    form = "application/x-www-form-urlencoded"
    await visitor.ask("the link", "GET", f"/join/{link}?{urlencode({'PROLIFIC_PID': f'p{number}'})}")
    await visitor.ask("the first page", "GET", "/sort")
    await visitor.ask("to begin", "POST", "/sort/begin", b"", form)
    page = await visitor.ask("the board", "GET", "/sort")
    state = json.loads(BOARD.search(page)[1])["state"]
    for place, group in enumerate(groups_of(state["unsorted"]), 1):
        change = {"sequence": place, "kind": "move", "items": group, "group": f"g{place}"}
        sent = {"assignment": state["assignment"], "client": f"tab-{number}", "changes": [change]}
        await visitor.ask("a change", "POST", "/sort/changes", json.dumps(sent).encode(), "application/json")
    if profile is not None:
        profile.enable()
    body = urlencode({"assignment": state["assignment"]}).encode()
    await visitor.ask("to hand in", "POST", "/sort/submit", body, form)
    await visitor.ask("the page after it", "GET", "/sort")
    if profile is not None:
        profile.disable()


async def run_here(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    """Run what is meant for another thread in this one, the only one that a profile sees."""
    return function(*arguments)


def measure(
    store: Store, n_people: int, profile: cProfile.Profile | None = None, n_items: int = collecting.N_ITEMS
) -> Costs:
    """Let people take part one after the other in a new study; return what their requests cost."""
    study = collecting.open_study(store, n_items)
    limits = Limits(login=MANY, account=MANY, join=MANY, board=MANY, api=MANY, strangers=MANY)
    app = create_app(store, limits=limits, background=False)
    costs = Costs()

    async def everybody() -> None:
        for number in range(n_people):
            await take_part(Visitor(app, costs), study.join_token, number, profile)

    event.listen(Engine, "before_cursor_execute", costs.hear)
    try:
        with contextlib.nullcontext() if profile is None else mock.patch("anyio.to_thread.run_sync", run_here):
            asyncio.run(everybody())
    finally:
        event.remove(Engine, "before_cursor_execute", costs.hear)
    return costs


def print_costs(costs: Costs) -> None:
    """Print a line for each kind of request, and one for an arrival."""
    for name, counts in costs.statements.items():
        print(f"  {name:20}{np.mean(counts):5.1f} statements{np.median(costs.milliseconds[name]):7.2f} ms")
    statements, milliseconds = costs.arrival()
    print(f"  {'an arrival':20}{statements:5.1f} statements{milliseconds:7.2f} ms", flush=True)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL instead of SQLite")
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--items", type=int, default=collecting.N_ITEMS, help="cards of the study")
    parser.add_argument("--profile", action="store_true", help="print where an arrival spends its time")
    arguments = parser.parse_args(words)
    profile = cProfile.Profile() if arguments.profile else None
    with collecting.database(arguments.postgres) as (db, _), closing(Store.open(db)) as store:
        measure(store, 20)  # what is made once
        print(f"{'PostgreSQL' if arguments.postgres else 'SQLite'}, {arguments.people} people, one after the other:")
        print_costs(measure(store, arguments.people, profile, arguments.items))
    if profile is not None:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(40)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
