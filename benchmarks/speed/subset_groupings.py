"""Fusion of subset groupings against the dense definition, and as the input grows.

    python benchmarks/speed/subset_groupings.py [--large] [--figure FILE.svg]

Groupings of 50 items by annotators who misplace one item in ten and merge some of ten classes. First 100 groupings of
1000 items: the paper's coordinates from sparse matrices, and by the definition, with a matrix of items × items for each
grouping; the largest difference of the two. Then the same crowd, ten times and a hundred times as large and, with
--large, a thousand times (1 000 000 items, 100 000 groupings): seconds, memory and NMI with the classes for every
setting of `normalize`, each in its own process. The exponent of the memberships in time and memory is that of a line
through the last two sizes on logarithmic axes. The effect of the normalisation by degrees is its NMI compared with that
of "presented".
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import distatis
from consilience.inference.memberships import Memberships
from consilience.inference.threads import one_blas_thread
from consilience.inspection.plots.style import colour, marker, plain_text, tidy
from consilience.metrics import nmi

N_CLASSES, SIZE = 10, 50
SIZES = {1: (1000, 100), 10: (10_000, 1000), 100: (100_000, 10_000), 1000: (1_000_000, 100_000)}
SETTINGS = {
    "normalize=None": {"normalize": None, "refine": False},
    'normalize="presented"': {"normalize": "presented", "refine": False},
    'normalize="degree"': {"normalize": "degree", "refine": False},
    "SubsetFusion()": {},
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


def sparse_coordinates(memberships: Memberships, n_components: int) -> np.ndarray:
    with one_blas_thread():
        return distatis.coordinates(memberships, distatis.weights(memberships), n_components)[0]


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def against_the_definition() -> list[str]:
    """Compare the sparse and the dense coordinates: times, and the largest difference of inner products."""
    memberships = Memberships.of(crowd(*SIZES[1])[0])
    dense_seconds, dense = timed(dense_coordinates, memberships, N_CLASSES)
    sparse_seconds, sparse = min(
        (timed(sparse_coordinates, memberships, N_CLASSES) for _ in range(3)), key=lambda t: t[0]
    )
    difference = np.abs(dense @ dense.T - sparse @ sparse.T).max()
    ratio = dense_seconds / sparse_seconds
    return [
        "1000 items, 100 groupings of 50: coordinates of Algorithm 1",
        f"  dense definition {dense_seconds:8.2f} s",
        f"  sparse           {sparse_seconds:8.3f} s, {ratio:.0f} times faster (target: at least 100)",
        f"  largest difference of inner products {difference:.1e}, of {np.abs(dense @ dense.T).max():.1e}",
    ]


def measure(setting: str, times: int) -> dict[str, float]:
    """Fit in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_measured, setting, times).result()


def _measured(setting: str, times: int) -> dict[str, float]:
    SubsetFusion(2, **SETTINGS[setting], random_state=0).fit([[0, 0], [0, 0], [1, 0], [1, 1]])  # late imports
    groupings, classes = crowd(*SIZES[times])
    before = _megabytes("VmRSS")
    seconds, fusion = timed(SubsetFusion(N_CLASSES, **SETTINGS[setting], random_state=0).fit, groupings)
    peak = _megabytes("VmHWM")
    return {
        "memberships": groupings.n_rows,
        "seconds": seconds,
        "peak": peak,
        "more": peak - before,
        "nmi": nmi(classes, fusion.labels_),
    }


def _megabytes(field: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024


def growth(sizes: list[int]) -> tuple[list[str], dict[str, list[dict[str, float]]]]:
    """Fit every size with every setting."""
    runs = {setting: [measure(setting, times) for times in sizes] for setting in SETTINGS}
    lines = [f"{'':24s} {'items':>8s} {'groupings':>9s} {'seconds':>8s} {'MB':>6s} {'+MB':>6s} {'NMI':>6s}"]
    for setting, found in runs.items():
        for times, one in zip(sizes, found):
            n_items, n_groupings = SIZES[times]
            numbers = f"{one['seconds']:8.2f} {one['peak']:6.0f} {one['more']:6.0f} {one['nmi']:6.3f}"
            lines.append(f"  {setting:22s} {n_items:8d} {n_groupings:9d} {numbers}")
        lines.append(f"  {'':22s} exponent of the memberships: time {exponent(found, 'seconds'):.2f}")
    return lines, runs


def exponent(found: list[dict[str, float]], what: str) -> float:
    """Return the slope between the last two sizes on logarithmic axes."""
    before, last = found[-2:]
    return float(np.log(last[what] / before[what]) / np.log(last["memberships"] / before["memberships"]))


def draw(runs: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Draw seconds and additional memory against the memberships."""
    with plain_text():
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        for axes, (what, name) in zip(figure.subplots(1, 2), (("seconds", "seconds"), ("more", "further memory, MB"))):
            for number, (setting, found) in enumerate(runs.items()):
                x = [one["memberships"] for one in found]
                y = [max(one[what], 1e-3) for one in found]
                axes.loglog(x, y, color=colour(number), marker=marker(number), label=setting)
            ends = np.array([x[0], x[-1]])
            axes.loglog(ends, axes.get_ylim()[0] * 2 * ends / ends[0], color="0.6", ls=":", label="linear")
            axes.set(xlabel="memberships", ylabel=name)
            tidy(axes)
        figure.axes[0].legend(fontsize=7, frameon=False)
        figure.savefig(path)


def main() -> None:
    """Print the tables; draw the growth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--large", action="store_true", help="also 1 000 000 items; some ten minutes")
    parser.add_argument("--figure", type=Path, help="where to draw time and memory against the size")
    arguments = parser.parse_args()
    print("\n".join(against_the_definition()), flush=True)
    lines, runs = growth([times for times in SIZES if times < 1000 or arguments.large])
    print("\n".join(lines))
    if arguments.figure:
        draw(runs, arguments.figure)


if __name__ == "__main__":
    main()
