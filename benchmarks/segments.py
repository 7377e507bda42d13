"""How often `consilience.inspection.panel_segments` finds segments in panels without any, with some, and in free sorts.

    python benchmarks/segments.py [--seeds 1 3 5 …] [--free-sorts]

Panels of one kind all hold one clustering of the items, or see one map of them, with errors; their members differ in
accuracy, or in how many groups they make. Other panels hold two or three independent clusterings. The method was
developed on even seeds; by default the first 20 odd ones are used. `--free-sorts` shows the free sorts of
`consilience.datasets` instead.
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from consilience import Groupings
from consilience.datasets import list_datasets, load_free_sort
from consilience.inspection import panel_segments
from consilience.metrics import ari
from consilience.simulation import simulate_crowd

SIZES = ((20, 12), (40, 18))  # people and items
N_CLUSTERS = 4
Truth = np.ndarray


def one_clustering(
    rng: np.random.Generator,
    n_people: int,
    n_items: int,
    accuracy: tuple[float, float],
    merge: float,
    share: float = 1.0,
) -> Groupings:
    """All hold one clustering; accuracies are uniform, and some people merge clusters or see a share of the items."""
    right, seed = rng.uniform(*accuracy, n_people), int(rng.integers(2**31))
    each = round(share * n_items)
    classes = np.arange(n_items) % N_CLUSTERS
    return simulate_crowd(
        classes, n_annotators=n_people, accuracy=right, merge=merge, items_each=each, random_state=seed
    )


def one_map(rng: np.random.Generator, n_people: int, n_items: int) -> Groupings:
    """All see the items at the same places of a plane, with noise of their own, and find 3 to 6 groups by k-means."""
    places, sorts = rng.normal(size=(n_items, 2)), []
    for noise, n_groups in zip(rng.uniform(0.2, 1.0, n_people), rng.integers(3, 7, n_people), strict=True):
        seen = places + noise * rng.normal(size=places.shape)
        sorts.append(KMeans(n_groups, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(seen))
    return Groupings.from_matrix(np.transpose(sorts))


def schools(
    rng: np.random.Generator, n_people: int, n_items: int, sizes: tuple[float, ...], accuracy: float
) -> tuple[Groupings, Truth]:
    """Each school holds a random clustering of its own; the sizes are shares of the people."""
    school = np.repeat(np.arange(len(sizes)), np.round(np.array(sizes) * n_people).astype(int))
    held = np.stack([rng.permutation(np.arange(n_items) % N_CLUSTERS) for _ in sizes])[school]
    wrong = rng.random(held.shape) >= accuracy
    return Groupings.from_matrix(np.where(wrong, rng.integers(N_CLUSTERS, size=held.shape), held).T), school


ONE: dict[str, Callable[..., Groupings]] = {
    "one panel, accuracy 0.8": lambda *size: one_clustering(*size, (0.8, 0.8), 0.0),
    "one panel, accuracies 0.4 to 0.95": lambda *size: one_clustering(*size, (0.4, 0.95), 0.0),
    "one panel, some merge clusters": lambda *size: one_clustering(*size, (0.7, 0.9), 0.3),
    "one panel, 80 % of the items each": lambda *size: one_clustering(*size, (0.6, 0.9), 0.0, 0.8),
    "one panel, random groups": lambda *size: one_clustering(*size, (0.25, 0.25), 0.0),
    "one panel, a map seen with noise": one_map,
}
SEVERAL: dict[str, Callable[..., tuple[Groupings, Truth]]] = {
    "two halves, accuracy 0.8": lambda *size: schools(*size, (0.5, 0.5), 0.8),
    "two halves, accuracy 0.6": lambda *size: schools(*size, (0.5, 0.5), 0.6),
    "three quarters and a quarter, 0.8": lambda *size: schools(*size, (0.75, 0.25), 0.8),
    "three of 50, 30 and 20 %, 0.8": lambda *size: schools(*size, (0.5, 0.3, 0.2), 0.8),
}


def simulated(seeds: list[int]) -> pd.DataFrame:
    """One row for each kind and size: share of panels in which segments were found, and how right they were."""
    rows = []
    for name in [*ONE, *SEVERAL]:
        for n_people, n_items in SIZES:
            found = []
            for seed in seeds:
                size = (np.random.default_rng([seed, n_people]), n_people, n_items)
                groupings, school = (ONE[name](*size), None) if name in ONE else SEVERAL[name](*size)
                result = panel_segments(groupings, n_simulations=99, clusters=np.zeros(n_items, int), random_state=seed)
                segment = result.annotators["segment"].to_numpy()
                right = np.nan if school is None else ari(school, segment)
                number = 1 if school is None else len(np.unique(school))
                found.append((result.n_segments > 1, result.n_segments == number, right))
            split, number, right = np.array(found, dtype=float).T
            rows.append((name, n_people, n_items, split.mean(), number.mean(), right.mean()))
            print(*rows[-1], sep="\t", file=sys.stderr)
    return pd.DataFrame(rows, columns=["panel", "people", "items", "split", "right number", "ARI"])


def recorded() -> pd.DataFrame:
    """One row for each free sort: the segments, and the test of the whole panel."""
    rows = []
    known = list_datasets()
    for name in known.loc[known["loader"].str.contains("load_free_sort"), "name"]:
        groupings = load_free_sort(name).annotations
        found = panel_segments(groupings, random_state=1)
        first = (
            found.tests.iloc[0] if len(found.tests) else {"explained": np.nan, "expected": np.nan, "p_value": np.nan}
        )
        sizes = " ".join(map(str, found.segments["n_annotators"]))
        rows.append(
            (name, groupings.n_items, sizes, found.rv, *(first[c] for c in ("explained", "expected", "p_value")))
        )
    columns = ["free sort", "items", "segments", "mean RV", "explained", "expected", "p"]
    return pd.DataFrame(rows, columns=columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(1, 41, 2)))
    parser.add_argument("--free-sorts", action="store_true")
    options = parser.parse_args()
    table = recorded() if options.free_sorts else simulated(options.seeds)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
