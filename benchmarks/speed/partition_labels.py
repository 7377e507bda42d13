"""One EM sweep of the partition label model against its bare arithmetic, in one run.

    python benchmarks/speed/partition_labels.py [--items 100000]

The arithmetic: for the E-step one product with the design, two with the sparse labels, one back, and the exponentials
of all items × clusters; for every evaluation of the M-step's solver a product with the design, one back, and the
exponentials. Each is timed alone, on whole arrays, on the same machine in the same minute, and multiplied by how often
the sweep needed it; the bare products may use every core, the sweep, as in `fit`, only one. Peak memory is that of the
sweep's own allocations.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from consilience import Groupings
from consilience.inference import softmax
from consilience.semisupervised import partition_label_model as model
from consilience.semisupervised.partition_label_model_estimator import PartitionLabelModel


def simulate(n_items: int, n_features: int, n_annotators: int, observed: float, rng: np.random.Generator):
    """Return data of ten Gaussian clusters; annotators have 2 to 5 labels and are right four times in five."""
    cluster = rng.integers(10, size=n_items)
    features = rng.normal(size=(10, n_features))[cluster] * 2 + rng.normal(size=(n_items, n_features))
    labels = np.full((n_items, n_annotators), np.nan)
    for m in range(n_annotators):
        n_labels = rng.integers(2, 6)
        label = rng.integers(n_labels, size=10)[cluster]
        slip = rng.random(n_items) < 0.2
        label[slip] = rng.integers(n_labels, size=slip.sum())
        seen = rng.random(n_items) < observed
        labels[seen, m] = label[seen]
    return features, Groupings.from_matrix(labels)


def fastest(call, repeats: int = 5) -> float:
    """Return the seconds of the fastest of several calls, the one least disturbed by other processes."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=50)
    arguments = parser.parse_args()
    n_items, n_clusters = arguments.items, arguments.clusters
    features, groupings = simulate(n_items, 40, 60, 0.3, np.random.default_rng(0))
    problem = model.Problem.of(features, groupings)
    prior = PartitionLabelModel()._prior(problem, 0.5)
    evidence = problem.evidence(problem.labels, n_clusters)
    state = problem.start_at_random(evidence, prior, n_clusters, 0)
    for _ in range(3):
        state = model.step(state, evidence, prior)

    calls = count_evaluations(lambda: model.step(state, evidence, prior))
    with threadpool_limits(1, user_api="blas"):  # as in fit
        sweep = fastest(lambda: model.step(state, evidence, prior), repeats=7)
    tracemalloc.start()
    model.step(state, evidence, prior)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    bare = bare_costs(problem.design, problem.labels, n_clusters)
    unavoidable = calls * (bare["scores"] + bare["moments"] + bare["exponentials"])
    unavoidable += (
        bare["scores"] + bare["moments"] + bare["exponentials"] + bare["label scores"] + bare["label moments"]
    )
    array = n_items * n_clusters * 8

    print(
        f"{n_items} items, {problem.design.shape[1]} columns, {problem.labels.shape[1]} groups, "
        f"{problem.labels.nnz} labels, K = {n_clusters}"
    )
    for name, seconds in bare.items():
        print(f"  bare {name:14s} {1e3 * seconds:8.1f} ms")
    print(f"  evaluations of the solver in the sweep: {calls}")
    print(f"  unavoidable {1e3 * unavoidable:8.1f} ms")
    print(f"  sweep       {1e3 * sweep:8.1f} ms, ratio {sweep / unavoidable:.2f} (target: at most 1.5)")
    print(
        f"  peak memory of a sweep {peak / 1e6:.0f} MB = {peak / array:.2f} arrays of items x clusters "
        "(target: at most 6)"
    )


def count_evaluations(call) -> int:
    """Count how often the M-step evaluates value and gradient."""
    counted = 0
    original = softmax.log_posterior

    def counting(*arguments):
        nonlocal counted
        counted += 1
        return original(*arguments)

    softmax.log_posterior = counting
    try:
        call()
    finally:
        softmax.log_posterior = original
    return counted


def bare_costs(design: np.ndarray, labels: csr_array, n_clusters: int) -> dict[str, float]:
    """Return seconds of each operation on whole arrays, with outputs allocated beforehand if the library allows."""
    rng = np.random.default_rng(1)
    coefficients = rng.normal(size=(design.shape[1], n_clusters))
    evidence = rng.normal(size=(labels.shape[1], n_clusters))
    score, weight = np.empty((len(design), n_clusters)), rng.random((len(design), n_clusters))
    back = np.empty((design.shape[1], n_clusters))
    exponent = -rng.random(score.shape)
    return {
        "scores": fastest(lambda: np.matmul(design, coefficients, out=score)),
        "moments": fastest(lambda: np.matmul(design.T, weight, out=back)),
        "exponentials": fastest(lambda: np.exp(exponent, out=score)),
        "label scores": fastest(lambda: labels @ evidence),
        "label moments": fastest(lambda: labels.T @ weight),
    }


if __name__ == "__main__":
    main()
