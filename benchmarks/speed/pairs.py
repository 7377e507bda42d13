"""Pairwise models: growth with the items of a partition label, restarts, and peers on judged pairs.

1. One sweep of MECC on a partition label of all items by each of 20 annotators (10 groups, 6 features), whose
   10⁷ … 10¹¹ pairs are never listed: seconds, and peak memory of the sweep's own allocations.
2. MCVC with 50 restarts: 640 items, 20 features, 5 annotators of 2000 pairs each.
3. Models on judged pairs: 1000 items in four clusters, 20 features of which four inform, 5 annotators right in 95 to
   75 % (noisy) or all (clean) of their 400 pairs, against scikit-learn's k-means, which does not see the pairs. NMI
   with the clusters and seconds.
4. The same pairs, against other packages: active-semi-supervised-clustering, whose MPCKMeans raises on contradictions
   and is run again without its check and the closure before it; and metric-learn, whose ITML and MMC learn a metric for
   k-means. Both must be installed for this part alone.
"""

from __future__ import annotations

import importlib
import tracemalloc
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.cluster import KMeans

from benchmarks.experiments import Cell
from benchmarks.speed.measuring import Run, busy_machine, compared, in_turns, timed
from consilience import Groupings, Pairs
from consilience.inference.pair_evidence import PairEvidence
from consilience.inference.threads import one_blas_thread
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, MECC, ITMLClustering, MPCKMeans
from consilience.semisupervised import mcvc as multiple_views
from consilience.simulation import simulate_pairs

ACCURACIES = [0.95, 0.9, 0.85, 0.8, 0.75]
CROWDS = {"noisy": ACCURACIES, "clean": 1.0}
N_SEEDS = 3
KMEANS = "scikit-learn KMeans, without pairs"
MODELS = {
    "MECC": MECC(4, random_state=0),
    "MPCKMeans": MPCKMeans(4, random_state=0),
    "ITMLClustering": ITMLClustering(4, random_state=0),
}
THEIR_MPCKMEANS = "MPCKMeans of active-semi-supervised-clustering"
UNCHECKED = f"{THEIR_MPCKMEANS}, unchecked"
PACKAGES = {
    "MPCKMeans": [THEIR_MPCKMEANS, UNCHECKED],
    "ITMLClustering": ["ITML of metric-learn, k-means", "MMC of metric-learn, k-means"],
}
Fit = Callable[[np.ndarray, Pairs], np.ndarray]


# ---- growth


def cells_of_pair_growth() -> Iterator[Cell]:
    settings = {"items": [1000, 10_000, 100_000], "n_annotators": 20, "n_clusters": 10, "repeats": 5}
    yield Cell("pair_growth", "20 annotators, each a partition label of all items", "MECC", 0, settings=settings)


def compute_pair_growth(cell: Cell) -> dict[str, Any]:
    """Return seconds and megabytes of one sweep for every number of items."""
    sizes = cell.settings["n_annotators"], cell.settings["n_clusters"]
    with one_blas_thread():
        sweeps = {str(n_items): sweep_of(n_items, *sizes) for n_items in cell.settings["items"]}
        runs = in_turns(
            {name: lambda sweep=sweep: timed(sweep)[0] for name, sweep in sweeps.items()}, cell.settings["repeats"]
        )
        for name, sweep in sweeps.items():
            tracemalloc.start()
            sweep()
            runs[name]["megabytes"] = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
    return {"runs": runs} | busy_machine()


def sweep_of(n_items: int, n_annotators: int, n_clusters: int) -> Callable[[], Any]:
    """Return a call of one sweep, the second."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(n_clusters, size=n_items)
    features = rng.normal(size=(n_clusters, 6))[cluster] + rng.normal(size=(n_items, 6))
    labels = np.where(rng.random((n_items, n_annotators)) < 0.2, rng.integers(10, size=(n_items, 1)), cluster[:, None])
    evidence = PairEvidence.of(Groupings.from_matrix(labels.astype(float)))
    problem = multiple_views.MCVCProblem.of(features, evidence, multiple_views.MCVCPrior(), n_clusters)
    state = multiple_views.step(problem, multiple_views.init(problem, 1, 1, rng=rng))
    return lambda: multiple_views.step(problem, state)


# ---- restarts


def cells_of_pair_restarts() -> Iterator[Cell]:
    data = "640 items, 20 features, 5 annotators of 2000 pairs each"
    yield Cell("pair_restarts", data, "MCVC, 50 restarts", 0, MCVC(4, n_init=50, random_state=0), {"repeats": 3})


def compute_pair_restarts(cell: Cell) -> dict[str, Any]:
    """Return the time of a fit, and its NMI with the clusters."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(4, size=640)
    features = rng.normal(size=(4, 20))[cluster] + 2 * rng.normal(size=(640, 20))
    judged = simulate_pairs(cluster, 5, 2000, ACCURACIES, random_state=0)
    calls = {cell.model: lambda: scored(of_model(cell.estimator), features / features.std(0), judged, cluster)}
    return compared(in_turns(calls, cell.settings["repeats"]), cell.model)


# ---- peers


def cells_of_pair_peers() -> Iterator[Cell]:
    for name, accuracy in CROWDS.items():
        for seed in range(N_SEEDS):
            for model, estimator in MODELS.items():
                yield Cell("pair_peers", name, model, seed, estimator, {"accuracy": accuracy, "repeats": 1})


def compute_pair_peers(cell: Cell) -> dict[str, Any]:
    """Return the runs of a model and of k-means."""
    return against(cell, {KMEANS: lambda X, _: KMeans(4, n_init=10, random_state=0).fit_predict(X)})


def cells_of_pair_packages() -> Iterator[Cell]:
    for name, accuracy in CROWDS.items():
        for model, peers in PACKAGES.items():
            package = "active-semi-supervised-clustering" if model == "MPCKMeans" else "metric-learn"
            settings = {"accuracy": accuracy, "package": package, "peers": peers, "repeats": 1}
            yield Cell("pair_packages", name, model, 0, MODELS[model], settings)


def compute_pair_packages(cell: Cell) -> dict[str, Any]:
    """Return the runs of a model and of the same model in another package."""
    packaged = packaged_mpckmeans() if cell.model == "MPCKMeans" else packaged_metrics()
    found = against(cell, {name: packaged[name] for name in cell.settings["peers"]})
    return found | {"package": f"{cell.settings['package']} {version(cell.settings['package'])}"}


def against(cell: Cell, peers: dict[str, Fit]) -> dict[str, Any]:
    features, cluster, judged = judged_pairs(cell.draw, cell.settings["accuracy"])
    fits = {cell.model: of_model(cell.estimator), **peers}
    calls = {name: lambda fit=fit: scored(fit, features, judged, cluster) for name, fit in fits.items()}
    return compared(in_turns(calls, cell.settings["repeats"]), cell.model)


def judged_pairs(seed: int, accuracy: Any) -> tuple[np.ndarray, np.ndarray, Pairs]:
    """Return standardised features, true clusters and judgements."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=1000)
    informing = 1.5 * rng.normal(size=(4, 4))[cluster] + rng.normal(size=(1000, 4))
    features = np.column_stack([informing, 2 * rng.normal(size=(1000, 16))])
    judged = simulate_pairs(cluster, 5, 400, accuracy, random_state=seed)
    return (features - features.mean(0)) / features.std(0), cluster, judged


def of_model(model: Any) -> Fit:
    return lambda X, judged: clone(model).fit(X, judged).labels_


def scored(fit: Fit, features: np.ndarray, judged: Pairs, cluster: np.ndarray) -> Run:
    """Return the run of a fit, with its NMI or, if it raises, the name of the exception."""

    def attempt() -> Any:
        try:
            return fit(features, judged)
        except Exception as reason:  # other packages may raise anything
            return reason

    run, labels = timed(attempt)
    raised = isinstance(labels, Exception)
    return run | ({"raises": type(labels).__name__} if raised else {"nmi": nmi(cluster, labels)})


def packaged_mpckmeans() -> dict[str, Fit]:
    """Return MPCKMeans of active-semi-supervised-clustering, as it is, and without its check."""
    with np.errstate():  # which the package changes globally
        module = importlib.import_module("active_semi_clustering.semi_supervised.pairwise_constraints.mpckmeans")

    def fit(features: np.ndarray, judged: Pairs) -> np.ndarray:
        pairs = np.column_stack([judged.item_a, judged.item_b])
        must, cannot = (list(map(tuple, pairs[kind].tolist())) for kind in (judged.same, ~judged.same))
        np.random.seed(0)  # noqa: NPY002, the package uses the global generator
        return np.asarray(module.MPCKMeans(4).fit(features, ml=must, cl=cannot).labels_)

    def unchecked(features: np.ndarray, judged: Pairs) -> np.ndarray:
        with patch.object(module, "preprocess_constraints", as_they_are):
            return fit(features, judged)

    return {THEIR_MPCKMEANS: fit, UNCHECKED: unchecked}


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
    """Return ITML and MMC of metric-learn, then k-means."""
    module = importlib.import_module("metric_learn")

    def fit(learner: Any, features: np.ndarray, judged: Pairs) -> np.ndarray:
        pairs = features[np.column_stack([judged.item_a, judged.item_b])]
        learner.fit(pairs, np.where(judged.same, 1, -1))
        return KMeans(4, n_init=10, random_state=0).fit_predict(learner.transform(features))

    itml, mmc = PACKAGES["ITMLClustering"]
    return {
        itml: lambda X, judged: fit(module.ITML(random_state=0), X, judged),
        mmc: lambda X, judged: fit(module.MMC(random_state=0), X, judged),
    }
