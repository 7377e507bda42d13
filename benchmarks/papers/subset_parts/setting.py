"""What the parts share: the paper's cases, simulated groupings and recorded answers, looks and cells of tables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.experiments.statistics import Difference, paired
from consilience.consensus import SubsetFusion
from consilience.inspection.plots.style import colour, marker
from consilience.simulation import ClusteringPopulation, gaussian_clusters, present, random_subsets

K = 10
CASE_1: dict[str, Any] = {"n_items": 100, "size": 8, "n_groups": (3, 6)}
CASE_2: dict[str, Any] = {"n_items": 1000, "size": 50, "n_groups": (5, 10)}
OURS = "informative"
ORACLE = "knowing the clusters"
RANDOM = "random"
EXPLOIT = "exploit-pairwise"
STRATEGIES = (RANDOM, "explore", EXPLOIT, "exploit-one-vs-rest", "explore-exploit", OURS)
PAPERS: dict[str, Any] = {"normalize": None, "refine": False}  # settings of SubsetFusion that give the paper's fusion


def look_of(strategy: str) -> dict[str, str]:
    """Return the colour and marker of a strategy, the same in every figure."""
    number = STRATEGIES.index(strategy) if strategy in STRATEGIES else len(STRATEGIES)  # black: no strategy
    return {"color": colour(number), "marker": marker(number)}


@lru_cache(maxsize=1)
def simulated(n_items: int, size: int, n_groups: tuple[int, int], tau: float, n_subsets: int, seed: int):
    """Return groupings of random subsets, and the clusters."""
    data = gaussian_clusters(n_items, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=n_groups, random_state=seed)
    items = list(data.data.index)
    subsets = random_subsets(items, size, n_subsets, random_state=seed)
    return present(agents, subsets, items=items), data.target


def random_tasks(bunch: Any) -> tuple[Any, Any]:
    """Return Orchestra's answers to its 205 random tasks."""
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["sample"] == "random_samples"]), bunch.target


def fusion_of(n_clusters: int, **settings: Any) -> SubsetFusion:
    """Return the fusion of every session: with the number of clusters, and one seed."""
    return SubsetFusion(n_clusters, random_state=0, **settings)


# ---- cells of tables


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Return mean and standard deviation, such as ".912 ± .010"."""
    found = np.asarray(list(values), dtype=float)
    return short(f"{found.mean():.{digits}f} ± {found.std(ddof=1):.{digits}f}")


def against(difference: Difference, digits: int = 3) -> str:
    """Return a mean difference with its standard error, and a star if it is more than two of these."""
    star = " " if difference.verdict == "level" else "*"
    return short(f"{difference.mean:+.{digits}f} ± {difference.error:.{digits}f}") + star


def short(text: str) -> str:
    """Leave out the zero before a decimal point."""
    return text.replace("0.", ".")


def counts(differences: Iterable[Difference]) -> dict[str, int]:
    """Count comparisons by verdict."""
    verdicts = [difference.verdict for difference in differences]
    return {name: verdicts.count(name) for name in ("above", "level", "below")} | {"all": len(verdicts)}


def versus(table: Any, first: str, second: str) -> Difference:
    """Compare two columns over the draws that both have."""
    both = table[[first, second]].dropna()
    return paired(both[first], both[second])
