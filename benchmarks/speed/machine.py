"""What the machine could do at most: rates of matrix products, of copies, of exponentials, and lines of Python.

Each is the fastest of several, in turns, on arrays that no cache holds (but the product, whose blocks do).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.experiments import Cell
from benchmarks.speed.measuring import busy_machine, in_turns, timed
from consilience.inference.threads import one_blas_thread

LIMITS = {  # what is counted in a second, and how it is written
    "matrix product": "GFLOP/s",
    "copy": "GB/s",
    "exponentials": "million/s",
    "lines of Python": "million/s",
}
UNIT = {"GFLOP/s": 1e9, "GB/s": 1e9, "million/s": 1e6}


def cells_of_machine() -> Iterator[Cell]:
    settings = {"side": 1000, "copied": 16_000_000, "exponentials": 4_000_000, "lines": 600_000, "repeats": 7}
    yield Cell("machine", "one core", "limits", 0, settings=settings)


def compute_machine(cell: Cell) -> dict[str, Any]:
    """Return the rate of each operation."""
    work = work_of(cell.settings)
    with one_blas_thread():
        runs = in_turns({name: call for name, (call, _) in work.items()}, cell.settings["repeats"])
    rates = {name: work[name][1] / run["seconds"] / UNIT[LIMITS[name]] for name, run in runs.items()}
    return {"runs": runs, "rates": rates} | busy_machine()


def work_of(sizes: Any) -> dict[str, tuple[Callable[[], dict[str, float]], float]]:
    """Return a call of each operation, and how much it does: operations, bytes read and written, values, lines."""
    rng = np.random.default_rng(0)
    side, lines = sizes["side"], sizes["lines"]
    left, right = rng.normal(size=(2, side, side))
    product = np.empty((side, side))
    source, target = rng.normal(size=sizes["copied"]), np.empty(sizes["copied"])
    values = rng.normal(size=sizes["exponentials"])
    found = np.empty_like(values)

    return {
        "matrix product": (lambda: timed(lambda: np.dot(left, right, out=product))[0], 2.0 * side**3),
        "copy": (lambda: timed(lambda: np.copyto(target, source))[0], 2.0 * source.nbytes),
        "exponentials": (lambda: timed(lambda: np.exp(values, out=found))[0], float(len(values))),
        "lines of Python": (lambda: timed(lambda: loop_of(lines))[0], float(lines)),
    }


def loop_of(lines: int) -> float:
    """Run a plain loop of so many lines."""
    total = 0.0
    for number in range(lines // 3):
        half = number * 0.5
        total += half
    return total
