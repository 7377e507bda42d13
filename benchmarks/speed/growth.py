"""How fits of the models that `consilience fit` chooses grow with items, annotators and clusters or classes.

One size varies at a time, the others are at their first value; data are those of the part "profiles". Seconds are of
one fit, memory is the peak of the allocations of another one, as the count of these takes time. Each item has equally
many labels or pairs however many annotators there are, and groupings are of 30 items or more. The most items that fit
in 24 GB follow from the memory of the largest fit and its exponent; nothing of that size is fitted.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.speed import profiles
from benchmarks.speed.measuring import Run, busy_machine, exponent, timed
from consilience.inference.threads import one_blas_thread

DEFAULTS = {  # with the fewest items
    "SubsetFusion": 500,
    "PartitionLabelModel": 400,
    "DawidSkene": 2000,
    "DawidSkeneClassifier": 400,
    "OrdinalRatings": 2000,
    "TagConsensus": 2000,
    "CorrelationClustering": 200,
    "MECC": 60,
}
TIMES = (1, 2, 4)
MEMORY = 24_000  # megabytes
MOST = 1e9  # items, beyond which nothing is estimated
ENOUGH = 50  # megabytes of the largest fit, below which fixed costs hide how memory grows


def cells_of_growth() -> Iterator[Cell]:
    for name, n_items in DEFAULTS.items():
        model = profiles.MODELS[name][0]
        usual = {"items": n_items, "annotators": profiles.ANNOTATORS, "clusters": profiles.N_CLUSTERS}
        sizes = {what: [times * number for times in TIMES] for what, number in usual.items()}
        yield Cell("growth", "one size at a time", name, 0, model, sizes)


def compute_growth(cell: Cell) -> dict[str, Any]:
    """Return a fit for every value of each size, the others at their first value."""
    usual = {what: values[0] for what, values in cell.settings.items()}
    fit_of_sizes(cell, **usual)  # imports, caches
    first = fit_of_sizes(cell, **usual)
    growth = {
        what: {str(values[0]): first}
        | {str(value): fit_of_sizes(cell, **usual | {what: value}) for value in values[1:]}
        for what, values in cell.settings.items()
    }
    return {"growth": growth} | busy_machine()


def fit_of_sizes(cell: Cell, items: int, annotators: int, clusters: int) -> Run:
    """Return seconds and peak memory of a fit."""
    with patch.object(profiles, "N_CLUSTERS", clusters):
        given = profiles.MODELS[cell.model][1](items, annotators)
    fit = profiles.fit_of(with_clusters(cell.estimator, clusters), given)
    with one_blas_thread():
        run, _ = timed(fit)
        tracemalloc.start()
        fit()
        run["megabytes"] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return run


def with_clusters(model: Any, clusters: int) -> Any:
    """Return a copy that is told so many clusters or levels, if it is told any."""
    told = {"n_clusters": clusters, "max_clusters": 2 * clusters, "levels": range(clusters)}
    given = model.get_params()
    return clone(model).set_params(**{name: value for name, value in told.items() if given.get(name) is not None})


def growth_of(record: Record) -> dict[str, dict[str, dict[str, Run]]]:
    """Return the runs of each model by what grows and its size."""
    return {row["model"]: row["growth"] for row in record.frame("growth").to_dict("records")}


def exponent_of(runs: dict[str, Run], column: str) -> float:
    """Return the slope from the smallest to the largest size; between two next to each other, noise may decide."""
    (least, of_least), *_, (most, of_most) = runs.items()
    return exponent([float(least), float(most)], [max(run[column], 1e-3) for run in (of_least, of_most)])


def table_of_exponents(record: Record) -> list[str]:
    """Return the exponents of each model, and the most items that fit in memory."""
    found = growth_of(record)
    if not found:
        return []
    columns = [(column, what) for column in ("busy", "megabytes") for what in next(iter(found.values()))]
    lines = [
        f"{'':24s}{'seconds with more':>33s}{'memory with more':>33s}{'most items':>14s}",
        f"{'':24s}" + "".join(f"{what:>11s}" for _, what in columns) + f"{'in 24 GB':>14s}",
    ]
    for model, growth in found.items():
        exponents = "".join(f"{exponent_of(growth[what], column):11.2f}" for column, what in columns)
        lines.append(f"{model:24s}{exponents}{most_items(growth['items']):>14s}")
    return lines


def most_items(runs: dict[str, Run]) -> str:
    """Return how many items fit in memory, to one digit, if it goes on growing like that."""
    power, (size, run) = exponent_of(runs, "megabytes"), list(runs.items())[-1]
    if run["megabytes"] < ENOUGH:
        return "-"
    found = int(size) * (MEMORY / run["megabytes"]) ** (1 / power)
    return f"{found:.0e}" if found < MOST else f"> {MOST:.0e}"
