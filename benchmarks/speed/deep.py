"""Seconds per epoch of the deep models, and how they grow; how soon a second process begins to train.

deep         BayesSCDC and SCDC at 50 clusters, the sizes of the networks as for handwritten digits (784-500-500-10).
deep_growth  an epoch of BayesSCDC against clusters, items, restarts and judged pairs, all others at their first value.
deep_start   seconds of the import, from there to the end of the first epoch of the warm start, and to that of a fit of
             one epoch, in a new process: first with an empty folder of compiled code, then with that left by the first.

Runs on the default device of JAX, which on a processor uses all its cores. Imports JAX only to measure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.experiments import Cell, Record
from benchmarks.speed.measuring import Run, busy_machine, compared, in_turns, timed
from consilience.deep import SCDC, BayesSCDC
from consilience.inspection.plots.style import FAINT, SMALL, colour, tidy
from consilience.simulation import simulate_pairs

EPOCHS = 3
N_ITEMS = 1000
GROWTH: dict[str, list[int]] = {
    "clusters": [10, 30, 90],
    "items": [2000, 6000, 18_000],
    "restarts": [1, 3, 9],
    "pairs": [1000, 10_000, 100_000],
}
START = """
import time
begin = time.perf_counter()
import numpy as np
from consilience.deep import BayesSCDC, restarts
X = np.random.default_rng(0).random((2000, 64))
begin_fit = restarts.begin
def noted(*arguments):
    *others, tick = arguments
    return begin_fit(*others, lambda: (times.append(time.perf_counter()), tick()))
restarts.begin = noted
times = [begin, time.perf_counter()]
BayesSCDC(20, hidden=(100, 100), n_epochs=1, warm_epochs=1, random_state=0).fit(X)
times.append(time.perf_counter())
print(*(later - times[0 if place == 0 else 1] for place, later in enumerate(times[1:])))
"""


def study(n_items: int, n_features: int, n_pairs: int, n_judged: int) -> tuple[pd.DataFrame, Any]:
    """Return noise with ten bumps, and pairs of some of the items, judged by ten annotators."""
    rng = np.random.default_rng(0)
    z = rng.integers(10, size=n_items)
    pixels = (rng.random((n_items, n_features)) < rng.random((10, n_features))[z]).astype(float)
    judged = simulate_pairs(pd.Series(z[:n_judged]), 10, n_pairs // 10, 0.9, random_state=0)
    return pd.DataFrame(pixels), judged.reindex(pd.RangeIndex(n_items))


class EnoughError(Exception):
    """Ends a fit after the last epoch that is measured: what follows would be compiled for nothing."""


def an_epoch(make: Callable[..., Any], X: pd.DataFrame, judged: Any) -> Run:
    """Return the fastest of the epochs of a fit after the first, which is compiled, all with merges of clusters."""
    from consilience.deep import restarts

    epochs, advance = [], restarts.advance

    def noted(*arguments: Any) -> Any:
        run, course = timed(lambda: advance(*arguments))
        epochs.append(run)
        if len(epochs) > EPOCHS:
            raise EnoughError
        return course

    with patch.object(restarts, "advance", noted), suppress(EnoughError):
        make(n_epochs=2 * EPOCHS, warm_epochs=1, random_state=0).fit(X, judged)
    later = iter(epochs[1:])
    return in_turns({"epoch": lambda: next(later)}, EPOCHS)["epoch"]


def device() -> str:
    import jax

    return str(jax.devices()[0])


def cells_of_deep() -> Iterator[Cell]:
    sizes = {"n_items": N_ITEMS, "n_clusters": 50, "n_pairs": 5000}
    data = f"{N_ITEMS} items, 784 features, {N_ITEMS // 10} of them judged, 5000 pairs, 50 clusters"
    yield Cell("deep", data, "BayesSCDC", 0, settings=sizes)


def compute_deep(cell: Cell) -> dict[str, Any]:
    """Return an epoch of each model."""
    sizes = cell.settings
    X, judged = study(sizes["n_items"], 784, sizes["n_pairs"], sizes["n_items"] // 10)
    makes = {"BayesSCDC": BayesSCDC, "SCDC": SCDC}
    runs = {
        name: an_epoch(partial(model, sizes["n_clusters"], likelihood="bernoulli", batch_size=128), X, judged)
        for name, model in makes.items()
    }
    return compared(runs, cell.model) | {"device": device()}


def cells_of_deep_growth() -> Iterator[Cell]:
    yield Cell("deep_growth", "64 features, networks of 100 units", "BayesSCDC", 0, settings=GROWTH)


def compute_deep_growth(cell: Cell) -> dict[str, Any]:
    """Return an epoch for every value of each size, the others at their first value."""
    usual = {name: values[0] for name, values in cell.settings.items()}
    first = of_sizes(**usual)
    growth = {
        name: {str(values[0]): first} | {str(value): of_sizes(**usual | {name: value}) for value in values[1:]}
        for name, values in cell.settings.items()
    }
    return {"growth": growth, "device": device()} | busy_machine()


def of_sizes(clusters: int, items: int, restarts: int, pairs: int) -> Run:
    X, judged = study(items, 64, pairs, n_judged=items // 2)
    make = partial(BayesSCDC, clusters, n_init=restarts, hidden=(100, 100), likelihood="bernoulli")
    return an_epoch(make, X, judged)


def cells_of_deep_start() -> Iterator[Cell]:
    data = "2000 items, 64 features, 20 clusters, one epoch"
    yield Cell("deep_start", data, "BayesSCDC", 0, settings={"script": START}, uses=(BayesSCDC,))


def compute_deep_start(cell: Cell) -> dict[str, Any]:
    """Return for a first and a second process the seconds of the import, and from there to training and to the end."""
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for which in ("first", "second"):
            command = [sys.executable, "-c", cell.settings["script"]]
            environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": folder}
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            runs[which] = dict(zip(("import", "training", "end"), map(float, output.split()), strict=True))
    return {"runs": runs} | busy_machine()


def draw(record: Record) -> Figure:
    """Draw seconds against each size, with a line of slope 1."""
    (found,) = record.frame("deep_growth")["growth"]
    figure = Figure(figsize=(8.2, 2.5), layout="constrained")
    figure.get_layout_engine().set(wspace=0.12)
    axes = figure.subplots(1, len(found), sharey=True)
    for axis, (name, runs) in zip(axes, found.items(), strict=True):
        sizes, seconds = np.array([[float(size), run["seconds"]] for size, run in runs.items()]).T
        axis.loglog(sizes, seconds[-1] * sizes / sizes[-1], color=FAINT, linestyle="dashed", lw=0.8)
        axis.loglog(sizes, seconds, color=colour(0), marker="o", ms=4, lw=1)
        axis.set_xlabel(name, fontsize=SMALL)
        axis.set_xticks(sizes, [f"{int(size):,}".replace(",", " ") for size in sizes], fontsize=SMALL)
        axis.minorticks_off()
        tidy(axis)
    axes[0].set_ylabel("seconds an epoch", fontsize=SMALL)
    return figure
