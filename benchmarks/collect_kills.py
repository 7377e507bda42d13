"""A server of studies that is killed in the middle of its work, again and again, and what it kept.

    python -m benchmarks.collect_kills [--postgres] [--kills 20] [--at-once 50]

``consilience serve`` is killed (SIGKILL) at random moments while simulated people take part over HTTP, and started
again. People whose connection breaks open the page again, as they would. Afterwards the database is checked: each
submission that was acknowledged is there as it was sent, no change counts twice, no subset was given twice, nobody saw
an item twice, and nobody has two boards.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import closing

import numpy as np

from benchmarks import collecting
from benchmarks.collecting import Browser, Record, Server
from consilience.collect.store import Store

SEED = 24
BETWEEN = (0.5, 3.0)  # seconds from a start to the next kill
MOST_OF_LOG = 20_000  # characters that are shown of it
AGAIN = 0.2  # seconds after which somebody whose connection broke tries again


async def take_part(browser: Browser, link: str) -> None:
    """Take part as `collecting.take_part` does, and go on whenever the connection broke."""
    while True:
        try:
            if browser.cookies:
                await collecting.go_on(browser)
            else:
                await collecting.take_part(browser, link)
            return
        except (OSError, EOFError, TimeoutError) as error:
            browser.record.failures[type(error).__name__] += 1
            await asyncio.sleep(AGAIN)


async def under_kills(server: Server, link: str, n_kills: int, at_once: int) -> Record:
    """Kill and start a server so often while so many people take part at a time."""
    record, rng = Record(), np.random.default_rng(SEED)
    over, numbers = asyncio.Event(), iter(range(10**9))

    async def one_after_the_other() -> None:
        while not over.is_set():
            browser = Browser(server.port, record, str(next(numbers)))
            await take_part(browser, link)
            browser.close()

    async def kill() -> None:
        for number in range(n_kills):
            n_before = len(record.acknowledged)
            await asyncio.sleep(rng.uniform(*BETWEEN))
            while len(record.acknowledged) == n_before:  # never before anything was acknowledged
                await asyncio.sleep(AGAIN)
            await asyncio.to_thread(server.kill)
            print(f"  kill {number + 1}: {len(record.acknowledged):,} submissions acknowledged so far", flush=True)
            await asyncio.to_thread(server.start)
        over.set()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kill())
        for _ in range(at_once):
            tasks.create_task(one_after_the_other())
    return record


def run(arguments: argparse.Namespace) -> bool:
    """Run it; return whether nothing was lost or counted twice."""
    with collecting.database(arguments.postgres) as (db, folder), closing(Store.open(db)) as store:
        study = collecting.open_study(store)
        server = Server(db, folder / "log")
        server.start()
        print(f"{'PostgreSQL' if arguments.postgres else 'SQLite'}, {arguments.at_once} people at once:")
        record = None
        try:
            record = asyncio.run(under_kills(server, study.join_token, arguments.kills, arguments.at_once))
        finally:
            server.stop()
            if record is None or record.n_errors:  # the log says why
                print((folder / "log").read_text(encoding="utf-8")[-MOST_OF_LOG:])
        found = collecting.differences(store, study, record)
        n_kept = len(store.submitted(study.id))
    n_unknown = n_kept - len(record.acknowledged)
    print(
        f"  {arguments.kills} kills, {record.failures.total():,} broken connections; {len(record.acknowledged):,} "
        f"submissions acknowledged, {n_unknown} more kept whose acknowledgement broke; 5xx: {record.n_errors}"
    )
    print("  " + "; ".join(f"{name}: {count}" for name, count in found.items()))
    return not (any(found.values()) or record.n_errors)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL instead of SQLite")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=50)
    good = run(parser.parse_args(words))
    print("All is right." if good else "Not all is right.")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
