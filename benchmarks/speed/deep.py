"""Seconds per epoch of the deep models, and how they grow; how soon a second process begins to train.

    python benchmarks/speed/deep.py [--items 12000] [--parts models growth start] [--out FILE.json]
        [--figure docs/models/bayes_scdc_speed.svg]

models  BayesSCDC and SCDC at 50 clusters, the sizes of the networks as for handwritten digits (784-500-500-10).
growth  an epoch of BayesSCDC against clusters, items, restarts and judged pairs, all others at their first value.
start   seconds of the import, from there to the end of the first epoch of the warm start, and to that of a fit of one
        epoch, in a new process: first with an empty folder of compiled code, then with the code left by the first one.

Runs on the default device of JAX.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

PARTS = ("models", "growth", "start")
EPOCHS = 3
GROWTH: dict[str, tuple[int, ...]] = {
    "clusters": (10, 20, 40, 80),
    "items": (2000, 4000, 8000, 16000),
    "restarts": (1, 2, 4, 8),
    "pairs": (1000, 10_000, 100_000),
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


def main() -> None:
    """Time the chosen parts, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--items", type=int, default=12_000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figure", type=Path, help="where to draw the growth; needs Matplotlib")
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    if "start" in arguments.parts:
        found["start"] = starts()
    import jax

    found["device"] = str(jax.devices()[0])
    if "models" in arguments.parts:
        found["models"] = models(arguments.items)
    if "growth" in arguments.parts:
        found["growth"] = growth()
        if arguments.figure:
            draw(found["growth"], arguments.figure)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1), encoding="utf-8")


def study(n_items: int, n_features: int, n_pairs: int, n_judged: int) -> tuple[pd.DataFrame, Any]:
    """Return noise with ten bumps, and pairs of some of the items, judged by ten annotators."""
    from consilience.simulation import simulate_pairs

    rng = np.random.default_rng(0)
    z = rng.integers(10, size=n_items)
    pixels = (rng.random((n_items, n_features)) < rng.random((10, n_features))[z]).astype(float)
    judged = simulate_pairs(pd.Series(z[:n_judged]), 10, n_pairs // 10, 0.9, random_state=0)
    return pd.DataFrame(pixels), judged.reindex(pd.RangeIndex(n_items))


def seconds_an_epoch(make: Any, X: pd.DataFrame, judged: Any) -> float:
    """Return the time of the fastest of the last epochs of a fit, after compilation, including merges of clusters."""
    from consilience.deep import restarts

    times, advance = [], restarts.advance

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        course = advance(*arguments)
        times.append(time.perf_counter() - start)
        return course

    with patch.object(restarts, "advance", timed):
        make(n_epochs=restarts.FIRST_MERGES + EPOCHS, warm_epochs=1, random_state=0).fit(X, judged)
    return min(times[restarts.FIRST_MERGES :])


def models(n_items: int) -> dict[str, float]:
    from consilience.deep import SCDC, BayesSCDC

    X, judged = study(n_items, 784, n_pairs=5000, n_judged=n_items // 10)
    makes = [partial(model, 50, likelihood="bernoulli", batch_size=128) for model in (BayesSCDC, SCDC)]
    found = {name: seconds_an_epoch(make, X, judged) for name, make in zip(("BayesSCDC", "SCDC"), makes, strict=True)}
    for name, seconds in found.items():
        print(f"{name:10s} {seconds:8.2f} s an epoch of {n_items} items, 50 clusters", flush=True)
    print(f"SCDC takes {found['SCDC'] / found['BayesSCDC']:.1f} times as long")
    return found


def growth() -> dict[str, list[list[float]]]:
    usual = {name: values[0] for name, values in GROWTH.items()}
    found: dict[str, list[list[float]]] = {name: [] for name in GROWTH}
    for name, values in GROWTH.items():
        for value in values:
            found[name].append([value, seconds_of_case(**(usual | {name: value}))])
            print(f"{name:10s} {value:8d} {found[name][-1][1]:8.3f} s an epoch", flush=True)
    return found


@cache
def seconds_of_case(clusters: int, items: int, restarts: int, pairs: int) -> float:
    from consilience.deep import BayesSCDC

    X, judged = study(items, 64, pairs, n_judged=items // 2)
    make = partial(BayesSCDC, clusters, n_init=restarts, hidden=(100, 100), likelihood="bernoulli")
    return seconds_an_epoch(make, X, judged)


def draw(found: dict[str, list[list[float]]], path: Path) -> None:
    """Draw seconds against each size, with a line of slope 1."""
    from matplotlib.figure import Figure

    from consilience.inspection.plots.style import FAINT, SMALL, colour, plain_text, tidy

    with plain_text():
        figure = Figure(figsize=(8.2, 2.5), layout="constrained")
        figure.get_layout_engine().set(wspace=0.12)
        axes = figure.subplots(1, len(found), sharey=True)
        for axis, (name, rows) in zip(axes, found.items(), strict=True):
            sizes, seconds = np.array(rows).T
            axis.loglog(sizes, seconds[-1] * sizes / sizes[-1], color=FAINT, linestyle="dashed", lw=0.8)
            axis.loglog(sizes, seconds, color=colour(0), marker="o", ms=4, lw=1)
            axis.set_xlabel(name, fontsize=SMALL)
            axis.set_xticks(sizes, [f"{int(size):,}".replace(",", " ") for size in sizes], fontsize=SMALL)
            axis.minorticks_off()
            tidy(axis)
        axes[0].set_ylabel("seconds an epoch", fontsize=SMALL)
        figure.savefig(path, metadata={"Date": None})


def starts() -> list[list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for which in ("first", "second"):
            command = [sys.executable, "-c", START]
            environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": folder}
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            found.append([float(part) for part in output.split()])
            imported, begun, ended = found[-1]
            print(f"{which} process: import {imported:.1f} s, then {begun:.1f} s to training, {ended:.1f} s to the end")
    return found


if __name__ == "__main__":
    main()
