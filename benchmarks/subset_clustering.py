"""A clusterer on overlapping subsets, against the clusterer run whole, and alone where that is impossible.

    python benchmarks/subset_clustering.py [--seeds 1 3 5] [--data digits …]
    python benchmarks/subset_clustering.py --sizes 10000 100000 1000000 10000000 [--features 2 10]
    python benchmarks/subset_clustering.py --subset-sizes 100 200 500 1000 [--data digits …]

Developed on even seeds, reported on odd ones.

The first compares, in adjusted Rand index with the classes ("truth") and with the clusterer run on all items ("whole"),
number of clusters, share of items in no cluster and seconds: the clusterer run on all items; run on one subset only,
each other item then in the cluster of the nearest item in the subset; and `SubsetClustering` with one to three repeats,
the last also with the number of clusters to be found ("auto"). Seconds are those of the processor. The second clusters
blobs with 10 clusters by spectral clustering, in a process of its own for each size, and prints seconds and peak
memory; the clusterer is run whole up to 20 000 items. The third says what small subsets cost, and which warnings say
so.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.speed.measuring import in_own_process, megabytes
from consilience.datasets import load_mnist_crowd
from consilience.errors import InputError, SubsetWarning
from consilience.subsets import SubsetClustering

Data = tuple[np.ndarray, np.ndarray]
MOST_WHOLE = 20_000  # items, up to which spectral clustering is run on all of them
N_CLUSTERS = 10  # of the blobs whose number grows


def digits(seed: int) -> Data:
    """Return 1797 handwritten digits, 64 pixels."""
    return load_digits(return_X_y=True)


def mnist(seed: int) -> Data:
    """Return 10 000 handwritten digits, the leading 50 components of their pixels."""
    found = load_mnist_crowd(all_images=True)
    chosen = np.random.default_rng(seed).choice(len(found.target), 10_000, replace=False)
    return PCA(50, random_state=0).fit_transform(np.asarray(found.data)[chosen]), np.asarray(found.target)[chosen]


def blobs(seed: int) -> Data:
    """Return 10 000 points in eight overlapping Gaussian clusters, 5 features."""
    return make_blobs(10_000, n_features=5, centers=8, cluster_std=2.0, random_state=seed)


def unequal(seed: int) -> Data:
    """Return 10 000 points in six Gaussian clusters, the smallest a hundredth of the largest."""
    sizes = [5000, 2500, 1500, 700, 250, 50]
    return make_blobs(sizes, n_features=5, cluster_std=1.5, random_state=seed)


def moons(seed: int) -> Data:
    """Return 10 000 points in two crescents."""
    return make_moons(10_000, noise=0.06, random_state=seed)


DATA: dict[str, tuple[Callable[[int], Data], int, int]] = {  # with the number of classes, and the size of subsets
    "digits": (digits, 10, 500),
    "mnist": (mnist, 10, 2000),
    "blobs": (blobs, 8, 2000),
    "unequal": (unequal, 6, 2000),
    "moons": (moons, 2, 2000),
}


def clusterers(number: int) -> dict[str, Any]:
    """Return what is to cluster the subsets."""
    return {
        "KMeans": KMeans(number, n_init=3),
        "SpectralClustering": SpectralClustering(number, affinity="nearest_neighbors"),
        "AgglomerativeClustering": AgglomerativeClustering(number),
        "HDBSCAN": HDBSCAN(min_cluster_size=20, copy=False),
    }


def timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the labels and the processor seconds they took."""
    start = time.process_time()
    labels = call()
    return labels, time.process_time() - start


def seeded(clusterer: Any, seed: int) -> Any:
    """Return a copy with a seed, if it draws at random."""
    own = clone(clusterer)
    return own.set_params(random_state=seed) if "random_state" in own.get_params() else own


def by_one_subset(X: np.ndarray, clusterer: Any, size: int, seed: int) -> np.ndarray:
    """Cluster one random subset, and put each other item into the cluster of the nearest item in it."""
    chosen = np.random.default_rng(seed).choice(len(X), size, replace=False)
    labels = clusterer.fit_predict(X[chosen])
    return KNeighborsClassifier(1).fit(X[chosen], labels).predict(X)


def one_run(X: np.ndarray, truth: np.ndarray, clusterer: Any, size: int, seed: int) -> pd.DataFrame:
    """Return the figures of each way to cluster the items, one row each."""
    own = seeded(clusterer, seed)
    ways = {"whole": lambda: clone(own).fit_predict(X), "one subset": lambda: by_one_subset(X, clone(own), size, seed)}
    for number in (1, 2, 3):
        model = SubsetClustering(clusterer, subset_size=size, n_repeats=number, random_state=seed)
        ways[f"{number} repeat{'s' * (number > 1)}"] = lambda model=model: model.fit_predict(X)
    found = SubsetClustering(clusterer, "auto", subset_size=size, random_state=seed)
    ways["3 repeats, auto"] = lambda: found.fit_predict(X)
    rows, whole = {}, None
    for name, way in ways.items():
        labels, seconds = timed(way)
        whole = labels if whole is None else whole
        rows[name] = figures(labels, truth, whole) | {"seconds": seconds}
    return pd.DataFrame.from_dict(rows, orient="index")


def figures(labels: np.ndarray, truth: np.ndarray, whole: np.ndarray) -> dict[str, float]:
    """Return the agreement of labels with classes and with those of the clusterer run whole; -1 is one more label."""
    return {
        "ARI truth": adjusted_rand_score(truth, labels),
        "NMI truth": normalized_mutual_info_score(truth, labels),
        "ARI whole": adjusted_rand_score(whole, labels),
        "NMI whole": normalized_mutual_info_score(whole, labels),
        "clusters": len(set(labels.tolist()) - {-1}),
        "in none": float((labels < 0).mean()),
    }


def compare(names: list[str], seeds: list[int]) -> None:
    """Print the agreement of every way, for each data set and clusterer."""
    for name in names:
        make, number, size = DATA[name]
        print(f"\n{name}: {make.__doc__.split('Return ')[1][:-1]}; subsets of {size}; means of seeds {seeds}")
        for called, clusterer in clusterers(number).items():
            runs = [one_run(*make(seed), clusterer, size, seed) for seed in seeds]
            print_table(called, sum(runs) / len(runs))


def print_table(called: str, table: pd.DataFrame) -> None:
    """Print a table, a row for each way."""
    print(f"{called:24s}" + "".join(f"{column:>11s}" for column in table), flush=True)
    for name, row in table.iterrows():
        print(f"  {name:22s}" + "".join(f"{value:11.3f}" for value in row), flush=True)


def small_subsets(names: list[str], subset_sizes: list[int], seeds: list[int]) -> None:
    """Print agreement and warnings for several sizes of subsets."""
    for name in names:
        make, number, _ = DATA[name]
        for called, clusterer in clusterers(number).items():
            rows = {size: sizes_of(make, clusterer, size, seeds) for size in subset_sizes}
            print_table(f"{name}, {called}", pd.DataFrame.from_dict(rows, orient="index").rename("{} a subset".format))


def sizes_of(make: Callable[[int], Data], clusterer: Any, size: int, seeds: list[int]) -> dict[str, float]:
    """Return the mean figures of subsets of a size, over the draws that are not refused."""
    rows = []
    for seed in seeds:
        X, truth = make(seed)
        model = SubsetClustering(clusterer, subset_size=size, random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                labels = model.fit_predict(X)
            except InputError:  # no shared item is in any group
                rows.append({"refused": 1.0})
                continue
        found = figures(labels, truth, truth)
        rows.append(
            {name: found[name] for name in ("ARI truth", "clusters", "in none")}
            | {"agreement": model.subsets_["agreement"].median()}
            | {"warned": float(any(issubclass(one.category, SubsetWarning) for one in caught)), "refused": 0.0}
        )
    return pd.DataFrame(rows).mean().to_dict()


def grow(sizes: list[int], numbers: list[int], seed: int) -> None:
    """Print seconds and peak memory as items grow."""
    print(
        f"{'items':>12s}{'features':>9s}  {'':10s}{'processor s':>12s}{'seconds':>10s}{'peak MB':>10s}"
        f"{'data MB':>10s}{'ARI':>8s}"
    )
    for n_features in numbers:
        for size in sizes:
            for way in ("whole", "subsets"):
                if way == "subsets" or size <= MOST_WHOLE:
                    run = in_own_process(one_size, size, n_features, way, seed)
                    print(
                        f"{size:12,d}{n_features:9d}  {way:10s}{run['busy']:12.1f}{run['seconds']:10.1f}"
                        f"{run['peak']:10.0f}{run['data']:10.0f}{run['ari']:8.3f}",
                        flush=True,
                    )


def one_size(n_items: int, n_features: int, way: str, seed: int) -> dict[str, float]:
    """Cluster so many blobs by spectral clustering, whole or in subsets; return seconds, megabytes and agreement."""
    warnings.simplefilter("ignore")
    X, truth = spread_blobs(n_items, n_features, seed)
    before = megabytes("VmRSS")
    clusterer = SpectralClustering(N_CLUSTERS, affinity="nearest_neighbors", random_state=seed)
    model = clusterer if way == "whole" else SubsetClustering(clusterer, random_state=seed)
    start = time.perf_counter()
    labels, busy = timed(lambda: model.fit_predict(X))
    return {
        "seconds": time.perf_counter() - start,
        "busy": busy,
        "peak": megabytes(),
        "data": before,
        "ari": adjusted_rand_score(truth[:100_000], labels[:100_000]),
    }


def spread_blobs(n_items: int, n_features: int, seed: int) -> Data:
    """Return Gaussian clusters of standard deviation 1 around centres on a circle, ten apart or more."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(N_CLUSTERS) / N_CLUSTERS
    centres = np.zeros((N_CLUSTERS, n_features))
    centres[:, 0], centres[:, 1] = 10 * np.cos(angle), 10 * np.sin(angle)
    truth = rng.integers(N_CLUSTERS, size=n_items)
    X = rng.standard_normal((n_items, n_features))
    for start in range(0, n_items, 100_000):
        X[start : start + 100_000] += centres[truth[start : start + 100_000]]
    return X, truth


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 3, 5])
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--features", nargs="+", type=int, default=[2, 10])
    parser.add_argument("--subset-sizes", nargs="+", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.sizes:
        grow(options.sizes, options.features, options.seeds[0])
    elif options.subset_sizes:
        small_subsets(options.data, options.subset_sizes, options.seeds)
    else:
        compare(options.data, options.seeds)


if __name__ == "__main__":
    main()
