"""How often `cluster_cohesion` calls a cluster left over that is one, and finds those that are left over.

    python -m benchmarks.leftovers [--crowds 20] [--seed 1]

In simulated sorts, 20 items are in four clusters; a person puts an item into its cluster with a given probability, else
into any. In half of them, three more items belong nowhere: each person puts each of them into any cluster or alone. A
cluster that SubsetFusion finds is one if most of its items belong to a cluster, and left over if most belong nowhere.
Of recorded sorts, the clusters that are called left over are listed, with how often two of their items were put
together.
"""

import argparse
import warnings

import numpy as np

from benchmarks.people.grouping_crowds import CARD_SORTS, FREE_SORTS, sorts
from consilience.consensus import SubsetFusion
from consilience.inspection import cluster_cohesion

N_CLUSTERS, N_EACH, N_NOWHERE = 4, 5, 3
PEOPLE = (10, 30, 100)
RIGHT = (0.9, 0.7, 0.5, 0.4)


def crowd(rng: np.random.Generator, right: float, n_people: int, n_nowhere: int) -> tuple[np.ndarray, np.ndarray]:
    """Return groups of shape (items, people), and the cluster of each item, -1 for nowhere."""
    truth = np.append(np.repeat(np.arange(N_CLUSTERS), N_EACH), np.full(n_nowhere, -1))
    shape = (len(truth), n_people)
    cells = np.where(rng.random(shape) < right, truth[:, None], rng.integers(N_CLUSTERS, size=shape))
    nowhere = np.flatnonzero(truth < 0)
    alone = N_CLUSTERS + nowhere[:, None]
    anywhere = rng.integers(N_CLUSTERS + 1, size=(len(nowhere), n_people))
    cells[nowhere] = np.where(anywhere == N_CLUSTERS, alone, anywhere)
    return cells, truth


def counts(right: float, n_people: int, n_nowhere: int, draws: range, seed: int) -> np.ndarray:
    """Return the numbers of clusters that are ones, and left over: of all, and of those called left over."""
    found = np.zeros((2, 2), dtype=int)
    for draw in draws:
        rng = np.random.default_rng([seed, draw, int(10 * right), n_people, n_nowhere])
        cells, truth = crowd(rng, right, n_people, n_nowhere)
        labels = SubsetFusion(copies=None, random_state=0).fit(cells).labels_
        for cluster, figures in cluster_cohesion(cells, labels).iterrows():
            nowhere = (truth[labels == cluster] < 0).mean() > 0.5
            if figures["n_items"] > 1:
                found[int(nowhere)] += [1, int(figures["left_over"])]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crowds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("right people  clusters: called left over   left over: called so")
    for right in RIGHT:
        for n_people in PEOPLE:
            total = sum(counts(right, n_people, n, range(given.crowds), given.seed) for n in (0, N_NOWHERE))
            (clusters, wrong), (over, hits) = total.tolist()
            print(f"{right:5.1f}{n_people:7d}{wrong:10d} of {clusters:3d}{hits:18d} of {over:3d}", flush=True)
    n_clusters = 0
    for name in (*CARD_SORTS, *FREE_SORTS):
        groupings = sorts(name).annotations
        labels = SubsetFusion(copies=None, random_state=0).fit(groupings).labels_
        table = cluster_cohesion(groupings, labels)
        n_clusters += int((table["n_items"] > 1).sum())
        for cluster, figures in table[table["left_over"]].iterrows():
            items = ", ".join(map(str, groupings.items[labels == cluster]))
            print(f"{name}: {items}; together {figures['together']:.2f}, all items {figures['chance']:.2f}")
    print(f"of {n_clusters} clusters of recorded sorts")


if __name__ == "__main__":
    main()
