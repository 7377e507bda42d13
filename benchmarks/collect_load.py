"""A server of studies under load: simulated people take part over HTTP, and the database is checked afterwards.

    python -m benchmarks.collect_load [--postgres] [--submissions 20000] [--at-once 200] [--rate 100] [--seconds 30]
    python -m benchmarks.collect_load --highest [--postgres] [--rate 100] [--seconds 30]

Two things are measured, each with ``consilience serve`` in a process of its own:

all at once  So many people take part at the same moment, and the next comes when one has finished: they open the link,
             begin, sort four subsets, change by change, and submit each. Nothing that was acknowledged may be missing
             in the database, nothing may be there twice, and no answer may say that the server failed.
arrivals     People who have sorted hand in, independently of each other (Poisson): each opens a connection, submits,
             and asks for the page that follows, as a browser does. Seconds are counted from the moment at which the
             submission was due to its acknowledgement, so that a server that falls behind cannot hide it.

`--highest` looks for the highest rate of arrivals at which 99 % of them take less than 150 ms, and does nothing else.
The given rate is doubled or halved until the answer lies between two rates, and these are brought together until they
are 10 % apart, in at most `MOST_RUNS` runs. Before each, as many people join and sort; it ends `GRACE` seconds after
the last was to come.

The people are simulated in one process on the same machine; its share of a processor is printed beside that of the
server.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np

from benchmarks import collecting
from benchmarks.collecting import Browser, Record, Server
from consilience.collect.settings.model import Study
from consilience.collect.store import Store

GOAL = 0.150  # seconds within which 99 % of the submissions are to be acknowledged
SEED = 24
MOST_RUNS, CLOSE = 8, 1.1  # of the search for the highest rate, and the ratio of two rates between which it ends
GRACE = 5  # seconds after the last arrival, when those who have no answer give up


def all_at_once(server: Server, link: str, n_submissions: int, at_once: int) -> Record:
    """Let so many people take part at a time until there are so many submissions."""
    record = Record()
    n_people = -(-n_submissions // collecting.SUBSETS_EACH)
    waiting = iter(range(n_people))

    async def one_after_the_other() -> None:
        for number in waiting:
            browser = Browser(server.port, record, str(number))
            await collecting.take_part(browser, link)
            browser.close()

    async def everybody() -> None:
        await asyncio.gather(*(one_after_the_other() for _ in range(min(at_once, n_people))))

    asyncio.run(everybody())
    return record


def who_have_sorted(store: Store, study: Study, n_people: int) -> Iterator[tuple[str, int, list[list[int]]]]:
    """Let people join and sort what they get; yield their cookies, assignments and groups."""
    rng = np.random.default_rng(SEED)
    for number in range(n_people):
        person, token = store.new_participant(study.id, {"PROLIFIC_PID": f"p{number}"})
        assignment = store.assignment_for(person, rng)
        groups = collecting.groups_of(list(assignment.items))
        changes = [
            {"sequence": place, "kind": "move", "items": group, "group": f"g{place}"}
            for place, group in enumerate(groups, 1)
        ]
        store.record_changes(assignment.id, person.id, f"tab-{number}", changes)
        yield token, assignment.id, groups


def arrivals(
    server: Server, store: Store, study: Study, rate: float, seconds: float, patience: float = collecting.PATIENCE
) -> Record:
    """Let people who have sorted hand in, at a rate; they give up so many seconds after the last was to come."""
    record = Record()
    times = np.cumsum(np.random.default_rng(SEED).exponential(1 / rate, round(rate * seconds)))
    people = list(who_have_sorted(store, study, len(times)))

    async def hand_in(number: int, due: float, end: float) -> None:
        await asyncio.sleep(due - time.perf_counter())
        cookie, assignment, groups = people[number]
        browser = Browser(server.port, record, str(number))
        browser.cookies["participant"] = cookie
        try:
            async with asyncio.timeout(end - time.perf_counter()):
                await collecting.submit(browser, assignment, groups, due)
                await browser.get("/sort")
        except (OSError, EOFError, TimeoutError) as error:
            record.failures[type(error).__name__] += 1
        browser.close()

    async def everybody() -> None:
        begun = time.perf_counter() + 0.5
        end = begun + seconds + patience
        await asyncio.gather(*(hand_in(number, begun + due, end) for number, due in enumerate(times)))

    asyncio.run(everybody())
    return record


# ---- what is printed


class Watch:
    """Seconds, and those of processor time of the server and of these simulated people."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.begun = self._now()

    def _now(self) -> np.ndarray:
        return np.array([time.perf_counter(), time.process_time(), self.server.cpu()])

    def shares(self) -> tuple[float, str]:
        """Return the seconds since it was made, and how busy everybody was."""
        seconds, mine, theirs = self._now() - self.begun
        shares = f"processors busy: server {theirs / seconds:.2f}, simulated people {mine / seconds:.2f}"
        return seconds, f"{shares}, of {os.cpu_count()}"


def quantiles(record: Record) -> tuple[float, float]:
    """Return the median and the 99th percentile of the seconds until a submission was acknowledged."""
    return tuple(np.quantile(record.times, [0.5, 0.99])) if record.times else (float("inf"),) * 2


def print_check(store: Store, study: Study, record: Record) -> bool:
    """Print what is wrong in the database, and return whether nothing is."""
    found = collecting.differences(store, study, record)
    wrong = {name: count for name, count in found.items() if count}
    n_kept = len(store.submitted(study.id))
    print(
        f"  {len(record.acknowledged):,} acknowledged, {n_kept:,} in the database; answers with 5xx: {record.n_errors}"
    )
    print("  " + "; ".join(f"{name}: {count}" for name, count in found.items()))
    return not (wrong or record.n_errors or record.failures)


def print_times(record: Record, rate: float, shares: str) -> bool:
    """Print how long submissions took, and return whether the goal is met."""
    middle, slow = quantiles(record)
    good = slow < GOAL and not record.n_errors and not record.failures
    print(
        f"  {rate:.0f} submissions a second: p50 {1000 * middle:.0f} ms, p99 {1000 * slow:.0f} ms; "
        f"5xx: {record.n_errors}, broken connections: {record.failures.total()}; {shares}",
        flush=True,
    )
    return good


def run_all_at_once(store: Store, server: Server, n_submissions: int, at_once: int) -> bool:
    """Run the first part; return whether all is right."""
    study = collecting.open_study(store)
    watch = Watch(server)
    record = all_at_once(server, study.join_token, n_submissions, at_once)
    seconds, shares = watch.shares()
    n_answers = record.statuses.total()
    print(
        f"  {n_submissions:,} submissions, {at_once} people at once: {seconds:.0f} s, "
        f"{n_submissions / seconds:.0f} submissions and {n_answers / seconds:.0f} requests a second; {shares}"
    )
    good = print_check(store, study, record)
    store.close_study(study.id)
    return good


def run_arrivals(
    store: Store, server: Server, rate: float, seconds: float, patience: float = collecting.PATIENCE
) -> tuple[bool, bool]:
    """Run the second part at one rate; return whether the goal is met, and whether the database is right."""
    study = collecting.open_study(store)
    watch = Watch(server)
    record = arrivals(server, store, study, rate, seconds, patience)
    met = print_times(record, rate, watch.shares()[1])
    wrong = any(collecting.differences(store, study, record).values())
    store.close_study(study.id)
    return met, not wrong


def find_highest(is_met: Callable[[float], bool], rate: float) -> float:
    """Return the highest rate at which something is met, by at most `MOST_RUNS` trials from a first one; 0 if none."""
    met, missed = 0.0, math.inf
    for _ in range(MOST_RUNS):
        if is_met(rate):
            met = rate
        else:
            missed = rate
        if missed <= CLOSE * met:
            break
        rate = math.sqrt(met * missed) if met and missed < math.inf else 2 * met or missed / 2
    return met


def run(arguments: argparse.Namespace) -> bool:
    """Run both parts; return whether nothing was lost, counted twice or failed."""
    kind = "PostgreSQL" if arguments.postgres else "SQLite"
    with collecting.database(arguments.postgres) as (db, folder), closing(Store.open(db)) as store:
        server = Server(db, folder / "log")
        server.start()
        try:
            if arguments.highest:
                print(f"{kind}, looking for the highest rate:")
                found = find_highest(
                    lambda rate: all(run_arrivals(store, server, rate, arguments.seconds, GRACE)), arguments.rate or 100
                )
                print(f"  highest rate with p99 below {1000 * GOAL:.0f} ms: {found:.0f} submissions a second")
                return True
            good = True
            if arguments.submissions:
                print(f"{kind}, all at once:")
                good = run_all_at_once(store, server, arguments.submissions, arguments.at_once)
            if arguments.rate:
                print(f"{kind}, arrivals:")
                good &= run_arrivals(store, server, arguments.rate, arguments.seconds)[1]
        finally:
            server.stop()
    return good


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL instead of SQLite")
    parser.add_argument("--submissions", type=int, default=20_000, help="all at once; 0 leaves this part out")
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--rate", type=float, default=100, help="arrivals a second; 0 leaves this part out")
    parser.add_argument("--seconds", type=float, default=30, help="of arrivals, at each rate")
    parser.add_argument("--highest", action="store_true", help="look for the highest rate, and nothing else")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))  # a connection for everybody
    good = run(parser.parse_args(words))
    print("All is right." if good else "Not all is right.")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
