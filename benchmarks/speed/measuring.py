"""Seconds, processor seconds and memory of calls: of several in turns, or in processes of their own.

A run is what one call took: a dictionary with "seconds", "busy" (processor seconds) and, where they are measured,
"megabytes" and what its answer is checked by. Of several runs the fastest counts, the one least disturbed by other
processes, and calls that are compared run in turns, so that all are disturbed alike.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

Run = dict[str, Any]


def timed(call: Callable[[], Any]) -> tuple[Run, Any]:
    """Return what a call took, and its result."""
    start, busy = time.perf_counter(), time.process_time()
    result = call()
    return {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy}, result


def fastest(call: Callable[[], Any], repeats: int = 7) -> float:
    """Return the seconds of the fastest of several calls."""
    return min(timed(call)[0]["seconds"] for _ in range(repeats))


def in_turns(calls: Mapping[str, Callable[[], Run]], repeats: int) -> dict[str, Run]:
    """Return the fastest run of each call, with the seconds of the slowest.

    Parameters
    ----------
    calls : what each returns is a run
    repeats : how often all are called, one after the other
    """
    runs: dict[str, list[Run]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            runs[name].append(call())
    return {
        name: min(found, key=lambda run: run["seconds"]) | {"slowest": max(run["seconds"] for run in found)}
        for name, found in runs.items()
    }


def compared(runs: dict[str, Run], model: str) -> dict[str, Any]:
    """Return the figures of a row: the runs, how many times as long as the model each peer took, the machine's load."""
    ratio = {name: run["seconds"] / runs[model]["seconds"] for name, run in runs.items() if name != model}
    return {"runs": runs, "ratio": ratio} | busy_machine()


def against_arithmetic(sweep: float, bare: dict[str, float], unavoidable: float) -> dict[str, Any]:
    """Return the figures of a sweep: its seconds, those of each bare operation, and of all that it cannot avoid."""
    return {"sweep": sweep, "bare": bare, "unavoidable": unavoidable, "ratio": sweep / unavoidable} | busy_machine()


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope between the last two sizes on logarithmic axes: 1 if values are proportional to sizes."""
    return float(np.log(values[-1] / values[-2]) / np.log(sizes[-1] / sizes[-2]))


def busy_machine() -> dict[str, float]:
    """Return how many processes ran on average during the last minute, this one among them, and how many could."""
    return {"load": os.getloadavg()[0], "cores": os.cpu_count()}


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new process, whose memory no other measurement has raised."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def megabytes(field: str = "VmHWM") -> float:
    """Return the peak of this process's memory, or another field of Linux's status.

    That of getrusage is inherited from the parent process.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024
