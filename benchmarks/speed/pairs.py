"""Pairwise models: growth with the items of a partition label, restarts, and peers on judged pairs.

    python benchmarks/speed/pairs.py [--items 1000 10000 100000 1000000] [--seeds 5]

1. One sweep of MECC on a partition label of all items by each of 20 annotators (10 groups, 6 features), whose
   10⁷ … 10¹³ pairs are never listed: seconds, and peak memory of the sweep's own allocations, with the exponent of the
   number of items.
2. MCVC with 50 restarts: 640 items, 20 features, 5 annotators of 2000 pairs each.
3. Models on judged pairs: 1000 items in four clusters, 20 features of which four inform, 5 annotators right in 95 to
   75 % (noisy) or all (clean) of their 400 pairs. NMI with the clusters and seconds, means over the seeds. MPCKMeans of
   the package active-semi-supervised-clustering is timed in the same run where it is installed; it raises on
   contradictions.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from consilience import Groupings, Pairs
from consilience.consensus_estimator import one_blas_thread
from consilience.inference.pair_evidence import PairEvidence
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, MECC, ITMLClustering, MPCKMeans, multiple_views
from consilience.simulation import simulate_pairs

ACCURACIES = [0.95, 0.9, 0.85, 0.8, 0.75]
MODELS: dict[str, Callable[[], Any]] = {
    "MECC": lambda: MECC(4, random_state=0),
    "MPCKMeans": lambda: MPCKMeans(4, random_state=0),
    "ITMLClustering": lambda: ITMLClustering(4, random_state=0),
}


def main() -> None:
    """Time the three parts and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    show_growth(arguments.items)
    show_restarts()
    show_peers(arguments.seeds)


def show_growth(sizes: list[int]) -> None:
    print("one sweep of MECC, 20 annotators, each a partition label of all items")
    rows = []
    for n_items in sizes:
        seconds, megabytes = sweep(n_items)
        rows.append((n_items, seconds, megabytes))
        print(f"    {n_items:9d} items  {seconds:8.3f} s  {megabytes:8.1f} MB", flush=True)
    table = np.log(np.array(rows))
    if len(rows) > 1:
        time_, memory = (np.polyfit(table[:, 0], table[:, column], 1)[0] for column in (1, 2))
        print(f"    exponent of the items over all sizes: time {time_:.2f}, memory {memory:.2f}")
        print(f"    in the last step: time {slope(table, 1):.2f}, memory {slope(table, 2):.2f}\n")


def slope(table: np.ndarray, column: int) -> float:
    return float((table[-1, column] - table[-2, column]) / (table[-1, 0] - table[-2, 0]))


def sweep(n_items: int, n_annotators: int = 20, n_clusters: int = 10) -> tuple[float, float]:
    """Seconds and megabytes of one sweep, the median of three."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(n_clusters, size=n_items)
    features = rng.normal(size=(n_clusters, 6))[cluster] + rng.normal(size=(n_items, 6))
    labels = np.where(rng.random((n_items, n_annotators)) < 0.2, rng.integers(10, size=(n_items, 1)), cluster[:, None])
    evidence = PairEvidence.of(Groupings.from_matrix(labels.astype(float)))
    problem = multiple_views.Problem.of(features, evidence, multiple_views.Prior(), n_clusters)
    with one_blas_thread():
        state = multiple_views.step(problem, multiple_views.init(problem, 1, 1, rng=rng))
        times = []
        for _ in range(3):
            start = time.perf_counter()
            multiple_views.step(problem, state)
            times.append(time.perf_counter() - start)
        tracemalloc.start()
        multiple_views.step(problem, state)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return float(np.median(times)), peak


def show_restarts() -> None:
    rng = np.random.default_rng(0)
    cluster = rng.integers(4, size=640)
    features = rng.normal(size=(4, 20))[cluster] + 2 * rng.normal(size=(640, 20))
    judged = simulate_pairs(cluster, 5, 2000, ACCURACIES, random_state=0)
    start = time.perf_counter()
    model = MCVC(4, n_init=50, random_state=0).fit(features / features.std(0), judged)
    print(
        f"MCVC, 50 restarts, 640 items, 20 features, 5 annotators of 2000 pairs: {time.perf_counter() - start:.1f} s, "
        f"NMI {nmi(cluster, model.labels_):.3f}\n"
    )


def judged_pairs(seed: int, accuracy: Any) -> tuple[np.ndarray, np.ndarray, Pairs]:
    """Features, standardised; true clusters; judgements."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=1000)
    informing = 1.5 * rng.normal(size=(4, 4))[cluster] + rng.normal(size=(1000, 4))
    features = np.column_stack([informing, 2 * rng.normal(size=(1000, 16))])
    judged = simulate_pairs(cluster, 5, 400, accuracy, random_state=seed)
    return (features - features.mean(0)) / features.std(0), cluster, judged


def show_peers(n_seeds: int) -> None:
    for name, accuracy in (("noisy", ACCURACIES), ("clean", 1.0)):
        print(f"judged pairs, {name}: NMI with the clusters, seconds; means over {n_seeds} seeds")
        rows = []
        for seed in range(n_seeds):
            features, cluster, judged = judged_pairs(seed, accuracy)
            for model, (labels, seconds) in fits(features, judged).items():
                rows.append({"model": model, "nmi": np.nan if labels is None else nmi(cluster, labels), "s": seconds})
        for model, mean in pd.DataFrame(rows).groupby("model", sort=False).mean().iterrows():
            found = "raises on contradictions" if np.isnan(mean["nmi"]) else f"{mean['nmi']:.3f}"
            print(f"    {model:40s} {found:>8s}  {mean['s']:7.2f} s")
        print()


def fits(features: np.ndarray, judged: Pairs) -> dict[str, tuple[np.ndarray | None, float]]:
    """Clusters and seconds of k-means, of ours, and of the package where it is installed."""
    found: dict[str, tuple[np.ndarray | None, float]] = {}
    ways: dict[str, Callable[[], np.ndarray]] = {
        "k-means without pairs": lambda: KMeans(4, n_init=10, random_state=0).fit_predict(features)
    }
    for name, model in MODELS.items():
        ways[name] = lambda model=model: model().fit(features, judged).labels_
    if (package := packaged(judged, features)) is not None:
        ways["MPCKMeans of active-semi-supervised-clustering"] = package
    for name, way in ways.items():
        start = time.perf_counter()
        try:
            labels = way()
        except Exception as reason:
            print(f"        {name}: {type(reason).__name__} {str(reason)[:60]}")
            labels = None
        found[name] = labels, time.perf_counter() - start
    return found


def packaged(judged: Pairs, features: np.ndarray) -> Callable[[], np.ndarray] | None:
    """The package's MPCKMeans on the same pairs; None where it is not installed."""
    try:
        from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans as Packaged
    except ImportError:
        return None
    pairs = list(zip(judged.item_a.tolist(), judged.item_b.tolist()))
    must = [pair for pair, same in zip(pairs, judged.same) if same]
    cannot = [pair for pair, same in zip(pairs, judged.same) if not same]

    def fit() -> np.ndarray:
        model = Packaged(4)
        model.fit(features, ml=must, cl=cannot)
        return np.asarray(model.labels_)

    return fit


if __name__ == "__main__":
    main()
