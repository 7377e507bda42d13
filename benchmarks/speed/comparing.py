"""What got slower: rows measured again, against those that were kept.

All rows are measured several times, in turns, and medians of processor seconds count. The machine may be another one,
or busier: its factor is the median, over what is not ours, of how many times as long it takes now: the peers, the bare
arithmetic of sweeps, and the rates of the part "machine". A run of ours is slower if its ratio divided by this factor
is too large. Nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments import Cell, Page, Part, Record

BEYOND = 1.5  # times as long, from which a run is slower
REPEATS = 3
SHORT = 0.005  # seconds, below which a run is not judged: a tick of the clock counts
Name = tuple[str, str, str, int, str]
"""Part, data, model, draw, and what was run."""


@dataclass(frozen=True)
class Compared:
    """A run, then and now.

    Attributes
    ----------
    name : of the run
    is_ours : whether it is our code; else it tells how fast the machine is
    kept, now : processor seconds
    """

    name: Name
    is_ours: bool
    kept: float
    now: float

    @property
    def ratio(self) -> float:
        """How many times as long as the kept run."""
        return self.now / self.kept


def compare(
    page: Page, record: Record, parts: Iterable[str], *, repeats: int = REPEATS, beyond: float = BEYOND
) -> tuple[list[str], bool]:
    """Measure the kept rows of some parts again.

    Returns
    -------
    lines, is_slower
        A table, slowest first, and whether a run of ours is slower than `beyond`.
    """
    chosen = {*parts, "machine"}
    due = [
        (part, cell)
        for part, cell, state in page.states(record)
        if part.name in chosen and state not in ("missing", "other settings")
    ]
    again: dict[Name, list[float]] = {}
    for _ in range(repeats):
        for part, cell in due:
            for name, seconds, _ in runs_of(cell, part.compute(cell)):
                again.setdefault(name, []).append(seconds)
    found = list(compared(record, due, again))
    factor = factor_of(found)
    ours = sorted((one for one in found if one.is_ours), key=lambda one: -one.ratio)
    slower = [one for one in ours if one.ratio / factor > beyond]
    lines = [
        f"{len(ours)} runs, medians of {repeats}; this machine takes {factor:.2f} times as long as the kept one did "
        f"({sum(not one.is_ours for one in found)} runs that are not ours)",
        f"{'times':>7s}{'kept':>11s}{'now':>11s}",
    ]
    for one in ours:
        mark = "  SLOWER" if one in slower else ""
        lines.append(f"{one.ratio / factor:7.2f}{one.kept:9.3f} s{one.now:9.3f} s  {described(one.name)}{mark}")
    verdict = f"slower than {beyond:g} times the kept: {len(slower)} of {len(ours)}"
    return [*lines, verdict], bool(slower)


def compared(record: Record, due: Iterable[tuple[Part, Cell]], again: dict[Name, list[float]]) -> Iterator[Compared]:
    """Yield the runs that were kept and measured again."""
    for _, cell in due:
        for name, kept, is_ours in runs_of(cell, record.rows[cell.key]["figures"]):
            if name in again and kept >= SHORT:
                yield Compared(name, is_ours, kept, float(np.median(again[name])))


def runs_of(cell: Cell, figures: dict[str, Any]) -> Iterator[tuple[Name, float, bool]]:
    """Yield the name and the seconds of every run of a row, and whether it is ours."""
    if "sweep" in figures:
        yield (*cell.key, "sweep"), figures["sweep"], True
        yield (*cell.key, "arithmetic"), figures["unavoidable"], False
    runs = dict(figures.get("runs", {}))
    if "run" in figures:
        runs[cell.model] = figures["run"]
    for what, grown in figures.get("growth", {}).items():
        runs |= {f"{what} {size}": run for size, run in grown.items()}
    for name in {"tell", "ask", "ask_named"} & set(figures):
        runs[name] = {"seconds": figures[name][-1] / 1e3}
    peers = set(figures.get("ratio", ())) if isinstance(figures.get("ratio"), dict) else set()
    for name, run in runs.items():
        seconds = run.get("busy", run.get("seconds")) if isinstance(run, dict) else None
        if seconds is not None:
            yield (*cell.key, name), seconds, name not in peers and cell.key[0] != "machine"


def factor_of(found: Iterable[Compared]) -> float:
    """Return how many times as long the machine takes now: the median of what is not ours; 1 if there is nothing."""
    ratios = [one.ratio for one in found if not one.is_ours]
    return float(np.median(ratios)) if ratios else 1.0


def described(name: Name) -> str:
    part, data, model, draw, run = name
    return ", ".join([part, data, model, *([f"draw {draw}"] if draw else []), *([run] if run != model else [])])
