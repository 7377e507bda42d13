"""The clusters of two studies, which of them correspond, and which items moved from one to another.

Both studies are fitted by `SubsetFusion` with one number of clusters, that of the people of both together unless
another is given: with two numbers, clusters would split although nothing changed. The clusters of the second study are
matched with those of the first such that as many items as possible stay (`scipy.optimize.linear_sum_assignment`).

How sure a move is follows from `consilience.inspection.certainty`: each study is fitted again as if other people of
the same kind had been asked. The probability of a move is the share of pairs of such draws in which the item is in the
former cluster in the one, and in the latter in the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from consilience.analysis.certainty import certainty
from consilience.analysis.certainty_models import people_behind
from consilience.analysis.group_names import cluster_names, count_group_names
from consilience.annotations import Groupings, concat
from consilience.annotations.types import NumberOfClusters
from consilience.consensus import SubsetFusion
from consilience.inference.reweighted import FEWEST_PEOPLE


@dataclass(frozen=True)
class MatchedClusters:
    """Clusters of the items in both studies, and by all people.

    first, second : cluster of each item; clusters with the same number correspond.
    stays : for both studies, the share of draws in which each item is in its cluster; NaN without draws, and of fewer
        than four people.
    pooled : cluster of each item by the people of both studies together.
    """

    first: Int[np.ndarray, " items"]
    second: Int[np.ndarray, " items"]
    stays: Float[np.ndarray, "two items"]
    pooled: Int[np.ndarray, " items"]

    @property
    def probability(self) -> Float[np.ndarray, " items"]:
        """Probability that an item is in these two clusters, NaN without draws."""
        return np.asarray(self.stays[0] * self.stays[1])

    def flow(self) -> pd.DataFrame:
        """Count the items of each cluster of the first study (rows) in each of the second (columns)."""
        n = int(max(self.first.max(), self.second.max())) + 1
        counts = np.bincount(self.first * n + self.second, minlength=n * n).reshape(n, n)
        rows, columns = np.flatnonzero(counts.sum(1)), np.flatnonzero(counts.sum(0))
        return pd.DataFrame(counts[np.ix_(rows, columns)], index=rows, columns=columns)


def matched_clusters(
    studies: tuple[Groupings, Groupings], n_clusters: NumberOfClusters, n_draws: int, rng: np.random.Generator
) -> MatchedClusters:
    """Find the clusters of two studies of the same items in the same order, and match them."""
    both = concat([number_annotators(study, start) for study, start in zip(studies, (0, studies[0].n_annotators))])
    seeds = rng.integers(2**31 - 1, size=2).tolist()
    together = _fusion(both, n_clusters, seeds[0])
    number = together.n_clusters_ if n_clusters == "auto" else n_clusters
    fits = [_fusion(study, number, seeds[0]) for study in studies]
    first, second = (np.asarray(fit.labels_) for fit in fits)
    return MatchedClusters(
        first=first,
        second=matched_to(first, second),
        stays=np.stack([_stays(fit, n_draws, seeds[1]) for fit in fits]),
        pooled=np.asarray(together.labels_),
    )


def cluster_table(studies: tuple[Groupings, Groupings], found: MatchedClusters) -> pd.DataFrame:
    """Return the sizes of the clusters, and what people call them, in both studies."""
    n = int(max(found.first.max(), found.second.max())) + 1
    table = pd.DataFrame(index=pd.RangeIndex(n, name="cluster"))
    for study, codes, name in zip(studies, (found.first, found.second), ("first", "second"), strict=True):
        table[f"n_{name}"] = np.bincount(codes, minlength=n)
        common = count_group_names(cluster_names(study, codes, n), n, 1)
        table[f"called_{name}"] = [names[0].rpartition(" (")[0] if names else "" for names in common]
    return table[["n_first", "n_second", "called_first", "called_second"]]


def matched_to(first: Int[np.ndarray, " items"], second: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Number the clusters of a second clustering like those of the first; those without a match follow.

    Examples
    --------
    >>> matched_to(np.array([0, 0, 1, 1]), np.array([2, 1, 0, 0])).tolist()
    [2, 0, 1, 1]
    """
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    overlap = np.bincount(second * n_first + first, minlength=n_first * n_second).reshape(n_second, n_first)
    rows, columns = linear_sum_assignment(-overlap)
    number = np.full(n_second, -1)
    matched = overlap[rows, columns] > 0
    number[rows[matched]] = columns[matched]
    without = number < 0
    number[without] = n_first + np.arange(int(without.sum()))
    return np.asarray(number[second])


def number_annotators(groupings: Groupings, start: int) -> Groupings:
    """Return groupings whose annotators have consecutive numbers instead of names."""
    return replace(groupings, annotators=pd.RangeIndex(start, start + groupings.n_annotators), reading=None)


def _fusion(groupings: Groupings, n_clusters: NumberOfClusters, seed: int) -> SubsetFusion:
    return SubsetFusion(n_clusters, random_state=int(seed)).fit(groupings)


def _stays(fit: SubsetFusion, n_draws: int, seed: int) -> Float[np.ndarray, " items"]:
    person, _ = people_behind(fit, fit.groupings_)
    if not n_draws or person.max() + 1 < FEWEST_PEOPLE:
        return np.full(len(fit.labels_), np.nan)
    return certainty(fit, n_draws=n_draws, random_state=int(seed)).items["stays"].to_numpy()
