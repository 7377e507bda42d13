"""One EM sweep of the partition label model against its bare arithmetic, and whole fits of two crowds.

The arithmetic of a sweep: for the E-step one product with the design, two with the sparse labels, one back, and the
exponentials of all items × clusters; for every evaluation of the M-step's solver a product with the design, one back,
and the exponentials. Each is timed alone, on whole arrays, in turns with the sweep, and multiplied by how often the
sweep needed it. All have one thread of BLAS, as in `fit`. Peak memory is that of the sweep's own allocations.

The crowds name the kinds of items, which have ten features, and are wrong about one in ten: a sparse one, in which
people have little in common, and one with more items than the prior variance is chosen on.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments import Cell
from benchmarks.speed.measuring import Run, against_arithmetic, compared, in_turns, timed
from consilience import Groupings
from consilience.inference import softmax
from consilience.inference.threads import one_blas_thread
from consilience.metrics import nmi
from consilience.semisupervised import partition_label_model as model
from consilience.semisupervised.partition_label_model_estimator import PartitionLabelModel

N_ITEMS, N_FEATURES, N_ANNOTATORS, N_CLUSTERS = 100_000, 40, 60, 50
N_KINDS, RIGHT = 5, 0.9
SPARSE, LARGE = "2000 items, 200 annotators of 5 labels each", "10 000 items, 50 annotators of 3000 labels each"
CROWDS: dict[str, dict[str, int]] = {
    SPARSE: {"n_items": 2000, "n_annotators": 200, "each": 5, "repeats": 3},
    LARGE: {"n_items": 10_000, "n_annotators": 50, "each": 3000, "repeats": 1},
}
WANTED = {SPARSE: 20.0, LARGE: 60.0}  # seconds of a fit


def cells_of_partition_sweep() -> Iterator[Cell]:
    sizes = {"n_items": N_ITEMS, "n_features": N_FEATURES, "n_annotators": N_ANNOTATORS, "n_clusters": N_CLUSTERS}
    data = f"{N_ITEMS} items, {N_FEATURES} features, {N_ANNOTATORS} annotators, {N_CLUSTERS} clusters"
    yield Cell("partition_sweep", data, "PartitionLabelModel", 0, settings=sizes | {"repeats": 7})


def compute_partition_sweep(cell: Cell) -> dict[str, Any]:
    """Return the fourth sweep, how often its M-step evaluated, its peak memory, and its arithmetic alone."""
    sizes = cell.settings
    n_items, n_clusters = sizes["n_items"], sizes["n_clusters"]
    features, groupings = simulate(n_items, sizes["n_features"], sizes["n_annotators"], np.random.default_rng(0))
    problem = model.PartitionLabelModelProblem.of(features, groupings)
    prior = PartitionLabelModel().prior_of(problem, 0.5)
    evidence = problem.evidence(problem.labels, n_clusters)
    with one_blas_thread():  # as in fit
        state = problem.start_at_random(evidence, prior, n_clusters, 0)
        for _ in range(3):
            state = model.step(state, evidence, prior)
        n_evaluations = count_evaluations(lambda: model.step(state, evidence, prior))
        tracemalloc.start()
        model.step(state, evidence, prior)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        calls = {"sweep": lambda: timed(lambda: model.step(state, evidence, prior))[0]}
        runs = in_turns(calls | bare_operations(problem.design, problem.labels, n_clusters), sizes["repeats"])
    sweep = runs.pop("sweep")["seconds"]
    bare = {name: run["seconds"] for name, run in runs.items()}
    each = bare["scores"] + bare["moments"] + bare["exponentials"]
    unavoidable = (n_evaluations + 1) * each + bare["label scores"] + bare["label moments"]
    return against_arithmetic(sweep, bare, unavoidable) | {
        "evaluations": n_evaluations,
        "megabytes": peak / 1e6,
        "arrays": peak / (n_items * n_clusters * 8),  # of items x clusters
    }


def simulate(n_items: int, n_features: int, n_annotators: int, rng: np.random.Generator) -> tuple[Any, Groupings]:
    """Return data of ten Gaussian clusters; annotators with 2 to 5 labels see three items in ten and err on a fifth."""
    cluster = rng.integers(10, size=n_items)
    features = rng.normal(size=(10, n_features))[cluster] * 2 + rng.normal(size=(n_items, n_features))
    labels = np.full((n_items, n_annotators), np.nan)
    for m in range(n_annotators):
        n_labels = rng.integers(2, 6)
        label = rng.integers(n_labels, size=10)[cluster]
        slip = rng.random(n_items) < 0.2
        label[slip] = rng.integers(n_labels, size=slip.sum())
        seen = rng.random(n_items) < 0.3
        labels[seen, m] = label[seen]
    return features, Groupings.from_matrix(labels)


def count_evaluations(call: Callable[[], Any]) -> int:
    """Count how often the M-step computes the moments of the softmax, for value and gradient."""
    with patch.object(softmax, "moments", wraps=softmax.moments) as counted:
        call()
    return counted.call_count


def bare_operations(design: np.ndarray, labels: csr_array, n_clusters: int) -> dict[str, Callable[[], Run]]:
    """Return each operation on whole arrays, with outputs allocated beforehand if the library allows."""
    rng = np.random.default_rng(1)
    coefficients = rng.normal(size=(design.shape[1], n_clusters))
    evidence = rng.normal(size=(labels.shape[1], n_clusters))
    score, weight = np.empty((len(design), n_clusters)), rng.random((len(design), n_clusters))
    back = np.empty((design.shape[1], n_clusters))
    exponent = -rng.random(score.shape)
    operations = {
        "scores": lambda: np.matmul(design, coefficients, out=score),
        "moments": lambda: np.matmul(design.T, weight, out=back),
        "exponentials": lambda: np.exp(exponent, out=score),
        "label scores": lambda: labels @ evidence,
        "label moments": lambda: labels.T @ weight,
    }
    return {name: lambda call=call: timed(call)[0] for name, call in operations.items()}


# ---- whole fits


def cells_of_partition_fits() -> Iterator[Cell]:
    for data, settings in CROWDS.items():
        yield Cell("partition_fits", data, "PartitionLabelModel", 0, PartitionLabelModel(random_state=0), settings)


def compute_partition_fits(cell: Cell) -> dict[str, Any]:
    """Return what a fit takes, and its agreement with the kinds of items."""
    sizes = cell.settings
    features, kinds, groupings = simulate_kinds(sizes["n_items"], sizes["n_annotators"], sizes["each"])
    model = clone(cell.estimator)
    runs = in_turns({cell.model: lambda: timed(lambda: model.fit(features, groupings))[0]}, sizes["repeats"])
    runs[cell.model]["nmi"] = nmi(kinds, model.labels_)
    return compared(runs, cell.model)


def simulate_kinds(n_items: int, n_annotators: int, each: int) -> tuple[np.ndarray, np.ndarray, Groupings]:
    """Return standardised features, kinds, and groupings of so many items by each annotator."""
    rng = np.random.default_rng(0)
    features, kinds = make_blobs(n_items, centers=N_KINDS, n_features=10, cluster_std=4.0, random_state=0)
    item = np.concatenate([rng.choice(n_items, each, replace=False) for _ in range(n_annotators)])
    said = np.where(rng.random(len(item)) < RIGHT, kinds[item], rng.integers(N_KINDS, size=len(item)))
    table = pd.DataFrame({"item": item, "annotator": np.repeat(np.arange(n_annotators), each), "group": said})
    return StandardScaler().fit_transform(features), kinds, Groupings.from_frame(table, items=range(n_items))
