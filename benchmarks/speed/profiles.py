"""What the seconds of a fit go into: lines that Python interprets, and functions that take longest.

Where a model has a Python loop over items, annotators or pairs, the lines that Python interprets grow with them; what
NumPy, SciPy and BLAS do in one call is one line at any size. So the lines of a fit are counted, at one size and with
four times as many items or annotators, in all code from the estimator downwards. A number of sweeps that differs makes
these grow too: `culprits` names the functions whose lines grow nearly as the items or annotators do, and make up a
share of all lines that matters. The share of the interpreter in the seconds is estimated from the lines and the seconds
of a line of a plain loop in the same run, which is the least that a line takes.

    python -m benchmarks.speed.profiles [MODEL …]    prints more of it for some models
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from benchmarks.experiments import Cell
from benchmarks.speed.machine import loop_of
from benchmarks.speed.measuring import busy_machine, fastest, timed
from consilience import Groupings, Pairs
from consilience.consensus import (
    CSPA,
    KCC,
    CorrelationClustering,
    Crowdclustering,
    DawidSkene,
    MajorityVote,
    MetaClustering,
    OrdinalRatings,
    ProductMixture,
    SpectralEM,
    StagewiseEM,
    SubsetFusion,
    TagConsensus,
)
from consilience.inference.threads import one_blas_thread
from consilience.semisupervised import (
    MCVC,
    MECC,
    DawidSkeneClassifier,
    InductiveConsensus,
    ITMLClustering,
    MPCKMeans,
    PartitionLabelModel,
    SemiCrowd,
)
from consilience.simulation import simulate_crowd, simulate_labels, simulate_pairs
from consilience.subsets import SubsetClustering

N_CLUSTERS, N_FEATURES, TIMES = 5, 10, 4
GROWS = 0.75  # share of `TIMES` by which the lines of a function must grow to be a loop over what grew
MATTERS = 0.02  # share of all lines
HERE = str(Path(__file__).parents[2])
Arguments = tuple[Any, ...]


# ---- what is fitted


def crowd_of(n_items: int, n_annotators: int) -> tuple[np.ndarray, Groupings]:
    """Return features, and groupings of 30 items for every annotator, or of more if there are many items."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(N_CLUSTERS, size=n_items)
    features = 2 * rng.normal(size=(N_CLUSTERS, N_FEATURES))[cluster] + rng.normal(size=(n_items, N_FEATURES))
    each = max(30, 5 * n_items // n_annotators)
    crowd = simulate_crowd(
        cluster, n_annotators=n_annotators, items_each=min(each, n_items), accuracy=0.85, random_state=0
    )
    return features, crowd


def labels_of(n_items: int, n_annotators: int) -> Arguments:
    """Return five labels an item."""
    cluster = np.random.default_rng(0).integers(N_CLUSTERS, size=n_items)
    return (
        simulate_labels(cluster, n_annotators=n_annotators, accuracy=0.7, annotators_per_item=5, random_state=0),
    )  # fmt: skip


def groupings_of(n_items: int, n_annotators: int) -> Arguments:
    return crowd_of(n_items, n_annotators)[1:]


def features_and_groupings(n_items: int, n_annotators: int) -> Arguments:
    return crowd_of(n_items, n_annotators)


def features_and_labels(n_items: int, n_annotators: int) -> Arguments:
    return crowd_of(n_items, n_annotators)[0], *labels_of(n_items, n_annotators)


def judged(n_items: int, n_annotators: int) -> tuple[np.ndarray, Pairs]:
    """Return features, and ten judged pairs an item."""
    features, _ = crowd_of(n_items, n_annotators)
    cluster = np.random.default_rng(0).integers(N_CLUSTERS, size=n_items)
    return features, simulate_pairs(cluster, n_annotators, 10 * n_items // n_annotators, 0.85, random_state=0)


def pairs_of(n_items: int, n_annotators: int) -> Arguments:
    return judged(n_items, n_annotators)[1:]


def features_alone(n_items: int, n_annotators: int) -> Arguments:
    return crowd_of(n_items, n_annotators)[:1]


MODELS: dict[str, tuple[Any, Callable[[int, int], Arguments], int]] = {  # with the number of items
    "MajorityVote": (MajorityVote(), labels_of, 2000),
    "DawidSkene": (DawidSkene(), labels_of, 2000),
    "OrdinalRatings": (OrdinalRatings(levels=range(N_CLUSTERS)), labels_of, 2000),
    "TagConsensus": (TagConsensus(), labels_of, 2000),
    "ProductMixture": (ProductMixture(N_CLUSTERS, random_state=0), labels_of, 2000),
    "SpectralEM": (SpectralEM(random_state=0), labels_of, 2000),
    "StagewiseEM": (StagewiseEM(), labels_of, 500),
    "SubsetFusion": (SubsetFusion(random_state=0), groupings_of, 500),
    "KCC": (KCC(N_CLUSTERS, random_state=0), groupings_of, 500),
    "CSPA": (CSPA(random_state=0), groupings_of, 500),
    "MetaClustering": (MetaClustering(random_state=0), groupings_of, 500),
    "PartitionLabelModel": (PartitionLabelModel(max_clusters=10, random_state=0), features_and_groupings, 400),
    "DawidSkeneClassifier": (DawidSkeneClassifier(random_state=0), features_and_labels, 400),
    "InductiveConsensus": (InductiveConsensus(KCC(N_CLUSTERS), random_state=0), features_and_groupings, 400),
    "MECC": (MECC(N_CLUSTERS, random_state=0), judged, 400),
    "MCVC": (MCVC(N_CLUSTERS, random_state=0), judged, 200),
    "MPCKMeans": (MPCKMeans(N_CLUSTERS, random_state=0), judged, 400),
    "ITMLClustering": (ITMLClustering(N_CLUSTERS, random_state=0), judged, 200),
    "SemiCrowd": (SemiCrowd(N_CLUSTERS, random_state=0), features_and_groupings, 200),
    "CorrelationClustering": (CorrelationClustering(random_state=0), pairs_of, 200),
    "Crowdclustering": (Crowdclustering(random_state=0), pairs_of, 200),
    "SubsetClustering": (SubsetClustering(KMeans(N_CLUSTERS), subset_size=500, random_state=0), features_alone, 2000),
}
ANNOTATORS = 20


def cells_of_profiles() -> Iterator[Cell]:
    for name, (model, _, n_items) in MODELS.items():
        settings = {"items": n_items, "annotators": ANNOTATORS, "times": TIMES}
        yield Cell("profiles", "what the seconds go into", name, 0, model, settings)


def compute_profiles(cell: Cell) -> dict[str, Any]:
    """Return seconds, lines, the interpreter's share, what grows, and the functions that take longest."""
    n_items, n_annotators = cell.settings["items"], cell.settings["annotators"]
    prepared = MODELS[cell.model][1]
    fit = fit_of(cell.estimator, prepared(n_items, n_annotators))
    with one_blas_thread():
        fit()  # imports, caches
        run, _ = timed(fit)
        lines = lines_of(fit)
        more_items = lines_of(fit_of(cell.estimator, prepared(TIMES * n_items, n_annotators)))
        more_annotators = lines_of(fit_of(cell.estimator, prepared(n_items, TIMES * n_annotators)))
        longest = functions_that_take_longest(fit)
    total = sum(lines.values())
    return {
        "n_items": n_items,
        "run": run,
        "lines": total,
        "interpreter": min(total * seconds_of_a_line() / run["busy"], 1.0),
        "times_with_items": sum(more_items.values()) / total,
        "times_with_annotators": sum(more_annotators.values()) / total,
        "loops_over_items": culprits(lines, more_items),
        "loops_over_annotators": culprits(lines, more_annotators),
        "longest": longest,
    } | busy_machine()


def fit_of(model: Any, arguments: Arguments) -> Callable[[], Any]:
    """Return a call that fits a copy."""

    def fit() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(model).fit(*arguments)

    return fit


# ---- lines


def lines_of(call: Callable[[], Any]) -> Counter[str]:
    """Count the lines of Python that a call interprets, by the function of this repository that they are done for."""
    counts: Counter[str] = Counter()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        name = whose(frame)
        counts[name] += 1

        def count(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                counts[name] += 1
            return count

        return count

    before = sys.gettrace(), threading.gettrace()
    sys.settrace(trace)
    threading.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])
    return counts


def whose(frame: Any) -> str:
    """Return the name of the innermost function of this repository that is being called, or of the outermost one."""
    while not is_ours(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return name_of(frame.f_code.co_filename, frame.f_code.co_qualname)


def is_ours(path: str) -> bool:
    return path.startswith(HERE) and "site-packages" not in path  # of a virtual environment in the repository


def name_of(path: str, function: str) -> str:
    """Return the name of a function with its module, such as consilience.inference.iterate.iterate."""
    parts = Path(path).with_suffix("").parts
    packages = [place for place, part in enumerate(parts) if part in ("site-packages", "src")]
    start = packages[-1] + 1 if packages else max(len(parts) - 2, 0)
    inner = function.replace(".<locals>", "")
    return f"{'.'.join(parts[start:])}.{inner}"


def culprits(lines: Counter[str], more: Counter[str]) -> dict[str, float]:
    """Return the functions with a loop over what there is `TIMES` as many of, and their share of all lines then."""
    total = sum(more.values())
    found = {
        name: number / total
        for name, number in more.items()
        if number > MATTERS * total and number >= GROWS * TIMES * max(lines[name], 1)
    }
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def seconds_of_a_line() -> float:
    """Return the seconds of a line of a plain loop."""
    return fastest(lambda: loop_of(600_000)) / 600_000


def functions_that_take_longest(call: Callable[[], Any], most: int = 5) -> dict[str, float]:
    """Return the functions with the largest share of the seconds without what they call, compiled ones by name."""
    profile = cProfile.Profile()
    profile.runcall(call)
    found: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in found.values())
    shares: Counter[str] = Counter()
    for (path, _, function), (_, _, own, _, _) in found.items():
        shares[function.strip("<>") if path == "~" else name_of(path, function)] += own / total
    return dict(shares.most_common(most))


def main() -> None:
    """Print the profiles of some models, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(MODELS))
    for cell in cells_of_profiles():
        if cell.model in parser.parse_args().models:
            start = time.perf_counter()
            found = compute_profiles(cell)
            print(
                f"{cell.model}: {found['run']['busy']:.2f} s, {found['lines']:,} lines, interpreter "
                f"{found['interpreter']:.0%}; lines × {found['times_with_items']:.1f} with {TIMES} times the items, × "
                f"{found['times_with_annotators']:.1f} with {TIMES} times the annotators"
            )
            for what in ("loops_over_items", "loops_over_annotators", "longest"):
                print(f"  {what}: " + "; ".join(f"{name} {share:.0%}" for name, share in found[what].items()))
            print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
