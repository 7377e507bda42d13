"""Fusion of subset groupings against the dense definition, and as the input grows.

Groupings of 50 items by annotators who misplace one item in ten and merge some of ten classes. First 100 groupings of
1000 items: the paper's coordinates from sparse matrices, and by the definition, with a matrix of items × items for each
grouping; the largest difference of the two. Then the same crowd, ten times and a hundred times as large and, in a part
of its own, a thousand times (1 000 000 items, 100 000 groupings): seconds, memory and NMI with the classes for every
setting of `normalize`, each in its own process. The effect of the normalisation by degrees is its NMI compared with
that of "presented".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Record
from benchmarks.speed.measuring import Run, busy_machine, compared, in_own_process, in_turns, megabytes, timed
from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import distatis
from consilience.inference.memberships import Memberships
from consilience.inference.threads import one_blas_thread
from consilience.inspection.plots.style import colour, marker, tidy
from consilience.metrics import nmi

N_CLASSES, SIZE = 10, 50
SIZES = {1000: 100, 10_000: 1000, 100_000: 10_000}  # items and groupings
LARGE = {1_000_000: 100_000}
SPARSE, DENSE = "sparse matrices", "dense definition"
MODELS = {
    "normalize=None": SubsetFusion(N_CLASSES, normalize=None, refine=False, random_state=0),
    'normalize="presented"': SubsetFusion(N_CLASSES, normalize="presented", refine=False, random_state=0),
    'normalize="degree"': SubsetFusion(N_CLASSES, normalize="degree", refine=False, random_state=0),
    "SubsetFusion()": SubsetFusion(N_CLASSES, random_state=0),
}


def crowd(n_items: int, n_groupings: int, seed: int = 0) -> tuple[Groupings, np.ndarray]:
    """Return groupings of SIZE items each, and the true classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(N_CLASSES, size=n_items)
    item = np.sort(rng.integers(n_items, size=(n_groupings, SIZE)), axis=1)
    while (again := item[:, 1:] == item[:, :-1]).any():  # an item twice in one grouping
        item[:, 1:][again] = rng.integers(n_items, size=again.sum())
        item = np.sort(item, axis=1)
    sees = np.tile(np.arange(N_CLASSES), (n_groupings, 1))
    merged = rng.random(sees.shape) < 0.2
    sees[merged] = rng.integers(N_CLASSES, size=merged.sum())
    group = np.take_along_axis(sees, classes[item], axis=1)
    wrong = rng.random(group.shape) < 0.1
    group[wrong] = rng.integers(N_CLASSES, size=wrong.sum())
    frame = {"item": item.ravel(), "grouping": np.repeat(np.arange(n_groupings), SIZE), "group": group.ravel()}
    return Groupings.from_frame(pd.DataFrame(frame), items=np.arange(n_items)), classes


# ---- the definition


def cells_of_fusion() -> Iterator[Cell]:
    sizes = {"n_items": 1000, "n_groupings": 100, "repeats": 5}
    yield Cell("fusion", f"1000 items, 100 groupings of {SIZE}", SPARSE, 0, settings=sizes)


def compute_fusion(cell: Cell) -> dict[str, Any]:
    """Return times of the sparse and, once, the dense coordinates, and the largest difference of inner products."""
    memberships = Memberships.of(crowd(cell.settings["n_items"], cell.settings["n_groupings"])[0])
    found = {}

    def noted(name: str, function: Any) -> Run:
        run, found[name] = timed(lambda: function(memberships, N_CLASSES))
        return run

    with one_blas_thread():  # as in fit
        runs = in_turns({SPARSE: lambda: noted(SPARSE, sparse_coordinates)}, cell.settings["repeats"])
        runs |= in_turns({DENSE: lambda: noted(DENSE, dense_coordinates)}, 1)
    inner, same = (found[name] @ found[name].T for name in (DENSE, SPARSE))
    return compared(runs, SPARSE) | {"difference": np.abs(inner - same).max(), "largest": np.abs(inner).max()}


def sparse_coordinates(memberships: Memberships, n_components: int) -> np.ndarray:
    return distatis.coordinates(memberships, distatis.weights(memberships), n_components)[0]


def dense_coordinates(memberships: Memberships, n_components: int) -> np.ndarray:
    """Compute Algorithm 1 literally: a centred matrix of items × items for each grouping, all at once."""
    n_items, n_groupings = memberships.n_items, memberships.n_groupings
    group_of = np.full((n_groupings, n_items), -1)
    group_of[memberships.grouping, memberships.item] = memberships.group
    centring = np.eye(n_items) - 1 / n_items
    scalars = np.empty((n_groupings, n_items, n_items))
    for number, group in enumerate(group_of):
        together = ((group[:, None] == group) & (group >= 0)[:, None]).astype(float)
        np.fill_diagonal(together, 1.0)
        product = centring @ together @ centring / 2
        scalars[number] = product / np.linalg.eigvalsh(product)[-1]
    flat = scalars.reshape(n_groupings, -1)
    lengths = np.linalg.norm(flat, axis=1)
    agreement = flat @ flat.T / np.outer(lengths, lengths)
    first = np.abs(np.linalg.eigh(agreement)[1][:, -1])
    values, vectors = np.linalg.eigh(np.tensordot(first / first.sum(), scalars, axes=1))
    return vectors[:, -n_components:][:, ::-1] * np.sqrt(np.maximum(values[-n_components:][::-1], 0))


# ---- growth


def cells_of_fusion_growth() -> Iterator[Cell]:
    for name, model in MODELS.items():
        settings = {"items": list(SIZES), "groupings": list(SIZES.values()), "repeats": 1}
        yield Cell("fusion_growth", f"groupings of {SIZE}", name, 0, model, settings)


def cells_of_large_fusion() -> Iterator[Cell]:
    for name, model in MODELS.items():
        settings = {"items": list(LARGE), "groupings": list(LARGE.values()), "repeats": 1}
        yield Cell("fusion_large", f"groupings of {SIZE}", name, 0, model, settings)


def compute_growth(cell: Cell) -> dict[str, Any]:
    """Return the runs of one setting for every number of items, each in its own process."""
    sizes = zip(cell.settings["items"], cell.settings["groupings"], strict=True)
    calls = {
        str(n_items): lambda size=(n_items, n_groupings): in_own_process(fitted, cell.estimator, *size)
        for n_items, n_groupings in sizes
    }
    return {"runs": in_turns(calls, cell.settings["repeats"])} | busy_machine()


def fitted(model: SubsetFusion, n_items: int, n_groupings: int) -> Run:
    """Fit in this process."""
    clone(model).set_params(n_clusters=2).fit([[0, 0], [0, 0], [1, 0], [1, 1]])  # imports what is imported late
    groupings, classes = crowd(n_items, n_groupings)
    before = megabytes("VmRSS")
    run, fusion = timed(lambda: clone(model).fit(groupings))
    more = {"memberships": groupings.n_rows, "megabytes": megabytes() - before}
    return run | more | {"nmi": nmi(classes, fusion.labels_)}


def runs_of(record: Record) -> dict[str, list[Run]]:
    """Return the runs of each setting by size, with the largest where it was measured."""
    found: dict[str, list[Run]] = {}
    for part in ("fusion_growth", "fusion_large"):
        for _, row in record.frame(part).iterrows():
            found.setdefault(row["model"], []).extend({"items": int(n)} | run for n, run in row["runs"].items())
    return {name: sorted(runs, key=lambda run: run["items"]) for name, runs in found.items()}


def draw(record: Record) -> Figure:
    """Draw seconds and additional memory against the memberships."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    for axes, (what, name) in zip(figure.subplots(1, 2), (("seconds", "seconds"), ("megabytes", "further memory, MB"))):
        for number, (setting, runs) in enumerate(runs_of(record).items()):
            x = [run["memberships"] for run in runs]
            y = [max(run[what], 1e-3) for run in runs]
            axes.loglog(x, y, color=colour(number), marker=marker(number), label=setting)
        ends = np.array([x[0], x[-1]])
        axes.loglog(ends, axes.get_ylim()[0] * 2 * ends / ends[0], color="0.6", ls=":", label="linear")
        axes.set(xlabel="memberships", ylabel=name)
        tidy(axes)
    figure.axes[0].legend(fontsize=7, frameon=False)
    return figure
