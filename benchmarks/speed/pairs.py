"""Pairwise models: growth with the items of a partition label, restarts, and peers on judged pairs.

    python benchmarks/speed/pairs.py [--parts growth restarts peers] [--items 1000 10000 100000 1000000] [--seeds 5]
        [--peer-seeds 1]

1. One sweep of MECC on a partition label of all items by each of 20 annotators (10 groups, 6 features), whose
   10⁷ … 10¹³ pairs are never listed: seconds, and peak memory of the sweep's own allocations, with the exponent of the
   number of items.
2. MCVC with 50 restarts: 640 items, 20 features, 5 annotators of 2000 pairs each.
3. Models on judged pairs: 1000 items in four clusters, 20 features of which four inform, 5 annotators right in 95 to
   75 % (noisy) or all (clean) of their 400 pairs. NMI with the clusters and seconds, means over the seeds. Packages are
   timed in the same run, on the first seeds, if they are installed: active-semi-supervised-clustering, whose
   MPCKMeans raises on contradictions and is run again without its check and the closure before it; and
   metric-learn, whose ITML and MMC learn a metric for k-means.
"""

from __future__ import annotations

import argparse
import importlib
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans

from consilience import Groupings, Pairs
from consilience.inference.pair_evidence import PairEvidence
from consilience.inference.threads import one_blas_thread
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, MECC, ITMLClustering, MPCKMeans
from consilience.semisupervised import mcvc as multiple_views
from consilience.simulation import simulate_pairs

ACCURACIES = [0.95, 0.9, 0.85, 0.8, 0.75]
Fit = Callable[[np.ndarray, Pairs], np.ndarray]
OURS: dict[str, Fit] = {
    "k-means without pairs": lambda X, _: KMeans(4, n_init=10, random_state=0).fit_predict(X),
    "MECC": lambda X, judged: MECC(4, random_state=0).fit(X, judged).labels_,
    "MPCKMeans": lambda X, judged: MPCKMeans(4, random_state=0).fit(X, judged).labels_,
    "ITMLClustering": lambda X, judged: ITMLClustering(4, random_state=0).fit(X, judged).labels_,
}


def main() -> None:
    """Time the three parts and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--parts", nargs="+", choices=("growth", "restarts", "peers"), default=["growth", "restarts", "peers"]
    )
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer-seeds", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "growth" in arguments.parts:
        show_growth(arguments.items)
    if "restarts" in arguments.parts:
        show_restarts()
    if "peers" in arguments.parts:
        show_peers(arguments.seeds, arguments.peer_seeds)


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
    """Return seconds and megabytes of one sweep, the median of three."""
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
    """Return standardised features, true clusters and judgements."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=1000)
    informing = 1.5 * rng.normal(size=(4, 4))[cluster] + rng.normal(size=(1000, 4))
    features = np.column_stack([informing, 2 * rng.normal(size=(1000, 16))])
    judged = simulate_pairs(cluster, 5, 400, accuracy, random_state=seed)
    return (features - features.mean(0)) / features.std(0), cluster, judged


def show_peers(n_seeds: int, n_peer_seeds: int) -> None:
    peers = {name: fit for package in (packaged_mpckmeans, packaged_metrics) for name, fit in package().items()}
    for name, accuracy in (("noisy", ACCURACIES), ("clean", 1.0)):
        print(
            f"judged pairs, {name}: NMI with the clusters, seconds; means over {n_seeds} seeds, packages {n_peer_seeds}"
        )
        rows = []
        for seed in range(n_seeds):
            features, cluster, judged = judged_pairs(seed, accuracy)
            for model, fit in (OURS | (peers if seed < n_peer_seeds else {})).items():
                labels, seconds = timed(fit, features, judged)
                rows.append({"model": model, "nmi": np.nan if labels is None else nmi(cluster, labels), "s": seconds})
        for model, mean in pd.DataFrame(rows).groupby("model", sort=False).mean().iterrows():
            found = "raises" if np.isnan(mean["nmi"]) else f"{mean['nmi']:.3f}"
            print(f"    {model:50s} {found:>8s}  {mean['s']:7.2f} s")
        print(flush=True)


def timed(fit: Fit, features: np.ndarray, judged: Pairs) -> tuple[np.ndarray | None, float]:
    """Return clusters and seconds; no clusters if the method raises."""
    start = time.perf_counter()
    try:
        labels = fit(features, judged)
    except Exception as reason:  # other packages may raise anything
        print(f"        {type(reason).__name__}: {str(reason)[:90]}")
        labels = None
    return labels, time.perf_counter() - start


def packaged_mpckmeans() -> dict[str, Fit]:
    """Return MPCKMeans of active-semi-supervised-clustering; nothing, and a message, if it is not installed."""
    home = "active_semi_clustering.semi_supervised.pairwise_constraints.mpckmeans"
    try:
        with np.errstate():  # which the package changes globally
            module = importlib.import_module(home)
    except ImportError:
        print("active-semi-supervised-clustering is not installed: its MPCKMeans is left out.\n")
        return {}

    def fit(features: np.ndarray, judged: Pairs) -> np.ndarray:
        pairs = np.column_stack([judged.item_a, judged.item_b])
        must, cannot = (list(map(tuple, pairs[kind].tolist())) for kind in (judged.same, ~judged.same))
        np.random.seed(0)  # noqa: NPY002, the package uses the global generator
        return np.asarray(module.MPCKMeans(4).fit(features, ml=must, cl=cannot).labels_)

    def unchecked(features: np.ndarray, judged: Pairs) -> np.ndarray:
        with patch.object(module, "preprocess_constraints", as_they_are):
            return fit(features, judged)

    name = "MPCKMeans of active-semi-supervised-clustering"
    return {name: fit, name + ", unchecked": unchecked}


def as_they_are(must: list, cannot: list, n_items: int) -> tuple[dict[int, set], dict[int, set], list[list[int]]]:
    """Convert constraints as the package does, without closure and check."""
    graphs: tuple[dict[int, set], dict[int, set]] = tuple({item: set() for item in range(n_items)} for _ in range(2))
    for graph, pairs in zip(graphs, (must, cannot)):
        for a, b in pairs:
            graph[a].add(b)
            graph[b].add(a)
    rows, columns = np.array(must).T
    part = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_items, n_items)))[1]
    chains = [np.flatnonzero(part == number).tolist() for number in range(part.max() + 1)]
    return *graphs, [chain for chain in chains if len(chain) > 1]


def packaged_metrics() -> dict[str, Fit]:
    """Return ITML and MMC of metric-learn, then k-means; nothing, and a message, if it is not installed."""
    try:
        module = importlib.import_module("metric_learn")
    except ImportError:
        print("metric-learn is not installed: its ITML and MMC are left out.\n")
        return {}

    def fit(learner: Any, features: np.ndarray, judged: Pairs) -> np.ndarray:
        pairs = features[np.column_stack([judged.item_a, judged.item_b])]
        learner.fit(pairs, np.where(judged.same, 1, -1))
        return KMeans(4, n_init=10, random_state=0).fit_predict(learner.transform(features))

    return {
        "ITML of metric-learn, k-means": lambda X, judged: fit(module.ITML(random_state=0), X, judged),
        "MMC of metric-learn, k-means": lambda X, judged: fit(module.MMC(random_state=0), X, judged),
    }


if __name__ == "__main__":
    main()
