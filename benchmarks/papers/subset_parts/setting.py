"""What the parts share: the paper's cases, simulated groupings and recorded answers, parallel processes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from consilience.inspection.plots.style import colour, marker
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets

K = 10
CASE_1 = {"n_items": 100, "size": 8, "n_groups": (3, 6)}
CASE_2 = {"n_items": 1000, "size": 50, "n_groups": (5, 10)}
OURS = "informative"
ORACLE = "knowing the clusters"
STRATEGIES = ("random", "explore", "exploit-pairwise", "exploit-one-vs-rest", "explore-exploit", OURS)


def look_of(strategy: str) -> dict[str, str]:
    """Return the colour and marker of a strategy, the same in every figure."""
    number = STRATEGIES.index(strategy) if strategy in STRATEGIES else len(STRATEGIES)  # black: no strategy
    return {"color": colour(number), "marker": marker(number)}


def everywhere(function: Callable[..., Any], tasks: Iterable[tuple], jobs: int) -> list[Any]:
    """Call the function for every task, in parallel processes with one BLAS thread each."""
    return Parallel(jobs)(delayed(_quietly)(function, task) for task in tasks)


def _quietly(function: Callable[..., Any], task: tuple) -> Any:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*task)


def simulated(n_items: int, size: int, n_groups: tuple[int, int], tau: float, n_subsets: int, seed: int):
    data = gaussian_clusters(n_items, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=n_groups, random_state=seed)
    items = list(data.data.index)
    subsets = random_subsets(items, size, n_subsets, random_state=seed)
    return present(agents, subsets, items=items), data.target


def random_tasks(bunch):
    """Return Orchestra's answers to its 205 random tasks."""
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["sample"] == "random_samples"]), bunch.target
