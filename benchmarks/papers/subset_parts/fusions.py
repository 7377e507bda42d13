"""fusions: NMI and ARI of every fusion and peer on the same groupings, simulated and real."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from subset_parts.setting import CASE_1, CASE_2, K, everywhere, random_tasks, simulated

from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.datasets import load_dogs_birds, load_mnist_crowd, load_orchestra
from consilience.inference.memberships import Memberships, presented, together
from consilience.metrics import ari, nmi
from consilience.simulation import simulate_crowd

FUSIONS: dict[str, dict[str, Any]] = {
    "SubsetFusion()": {},
    'SubsetFusion(normalize="presented")': {"normalize": "presented"},
    "degree, k-means (as HBGF)": {"refine": False},
    "presented, k-means (C/P)": {"normalize": "presented", "refine": False},
    "None, k-means (the paper's)": {"normalize": None, "refine": False},
}
PEERS = ("average linkage of C/P (as CSPA)", "k-means on the rows of C")
ROWS = (*FUSIONS, *PEERS)
LARGEST_DENSE = 3000  # items up to which peers may hold all pairs


def fuse(name: str, groupings: Groupings, n_clusters: int) -> np.ndarray:
    """Return the clusters of the items; those without groupings are a separate cluster."""
    if name in FUSIONS:
        return SubsetFusion(n_clusters, random_state=0, **FUSIONS[name]).fit_predict(groupings)
    memberships = Memberships.of(groupings)
    if memberships.n_items > LARGEST_DENSE:
        raise MemoryError
    counted, of = together(memberships).toarray(), presented(memberships).toarray()
    if name == "average linkage of C/P (as CSPA)":
        share = counted / np.maximum(of, 1)
        distance = squareform(1 - share, checks=False)
        return fcluster(linkage(distance, "average"), n_clusters, "maxclust")
    np.fill_diagonal(counted, memberships.times_seen)
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(counted)


def noisy(n_items: int, n_subsets: int, seed: int):
    classes = np.arange(n_items) % K
    crowd = simulate_crowd(classes, n_annotators=n_subsets, items_each=50, accuracy=0.85, merge=0.2, random_state=seed)
    return crowd, classes


def whole(bunch):
    return bunch.annotations, bunch.target


CROWDS: dict[str, Callable[..., Any]] = {
    "case 1, tau 5, 150 subsets": lambda seed: simulated(*CASE_1.values(), 5, 150, seed),
    "case 1, tau 5, 400 subsets": lambda seed: simulated(*CASE_1.values(), 5, 400, seed),
    "case 1, tau 5, 1000 subsets": lambda seed: simulated(*CASE_1.values(), 5, 1000, seed),
    "case 1, tau 2, 400 subsets": lambda seed: simulated(*CASE_1.values(), 2, 400, seed),
    "case 2, tau 5": lambda seed: simulated(*CASE_2.values(), 5, 100, seed),
    "case 2, tau 2": lambda seed: simulated(*CASE_2.values(), 2, 100, seed),
    "noisy agents, 1000 items, 100 x 50": lambda seed: noisy(1000, 100, seed),
    "noisy agents, 10 000 items, 2000 x 50": lambda seed: noisy(10_000, 2000, seed),
}
PEOPLE: dict[str, Callable[[], Any]] = {
    "orchestra scenes, 205 random": lambda: random_tasks(load_orchestra("scenes")),
    "orchestra scenes, all": lambda: whole(load_orchestra("scenes")),
    "orchestra ImageNet, 205 random": lambda: random_tasks(load_orchestra("imagenet")),
    "orchestra ImageNet, all": lambda: whole(load_orchestra("imagenet")),
    "mnist-crowd": lambda: whole(load_mnist_crowd()),
    "dogs3": lambda: whole(load_dogs_birds("dogs3")),
    "birds5": lambda: whole(load_dogs_birds("birds5")),
}


def scores(crowd: str, seed: int) -> dict[str, list[float]]:
    """Return NMI and ARI of every fusion on one set of groupings, over the items in any grouping."""
    groupings, truth = CROWDS[crowd](seed) if crowd in CROWDS else PEOPLE[crowd]()
    seen = Memberships.of(groupings).times_seen > 0
    truth = np.asarray(truth)
    found = {}
    for name in ROWS:
        try:
            labels = fuse(name, groupings, len(np.unique(truth)))
        except MemoryError:
            continue
        found[name] = [nmi(truth[seen], labels[seen]), ari(truth[seen], labels[seen])]
    return found


def compute_fusions(arguments: argparse.Namespace) -> Any:
    tasks = [*product(CROWDS, range(arguments.runs)), *((crowd, 0) for crowd in PEOPLE)]
    return [[crowd, found] for (crowd, _), found in zip(tasks, everywhere(scores, tasks, arguments.jobs))]


def show_fusions(results: Any) -> tuple[list[str], None]:
    rows = [
        {"crowd": crowd, "fusion": name, "nmi": both[0], "ari": both[1]}
        for crowd, found in results
        for name, both in found.items()
    ]
    frame = pd.DataFrame(rows)
    lines = ["NMI / ARI with the truth, number of clusters given; means over the draws where simulated", ""]
    for crowd, part in frame.groupby("crowd", sort=False):
        mean = part.groupby("fusion", sort=False)[["nmi", "ari"]].mean()
        lines.append(f"{crowd}" + (f" ({part.groupby('fusion').size().max()} draws)" if crowd in CROWDS else ""))
        lines += [f"    {name:36s} {row['nmi']:.3f} / {row['ari']:.3f}" for name, row in mean.iterrows()]
    return lines, None
