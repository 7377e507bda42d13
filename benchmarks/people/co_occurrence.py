"""Plain baselines for groupings and pairs: co-occurrence, and clusterings of its matrix.

The probability that a new person puts two items together is estimated by

    p_ij = (s_ij + a b) / (n_ij + a)

| symbol | meaning |
|---|---|
| n_ij, s_ij | how often the two were seen together, and put together |
| b | share of judgements "together", people weighted equally |
| a | smoothing, the one of `AMOUNTS` with the lowest log loss if each person is predicted from the others |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

from benchmarks.people.held_out import Judgements, losses

AMOUNTS = np.geomspace(0.1, 1000, 25)


@dataclass(frozen=True)
class CoOccurrence:
    """How often pairs of items were put together, smoothed.

    Attributes
    ----------
    n_items : int
    pair : the pairs that were seen, n_items * first + second, in order
    seen, together : how often each was seen, and put together
    base : share of judgements "together"
    amount : a, how many judgements the base counts as
    """

    n_items: int
    pair: np.ndarray
    seen: np.ndarray
    together: np.ndarray
    base: float
    amount: float

    @classmethod
    def learned(cls, judgements: Judgements, n_items: int) -> CoOccurrence:
        """Count the judgements, and choose the amount of smoothing."""
        pair, place = np.unique(n_items * judgements.first + judgements.second, return_inverse=True)
        seen, together = np.bincount(place), np.bincount(place, judgements.same)
        weight = judgements.weight
        base = float(np.average(judgements.same, weights=weight))
        _, own = np.unique(len(pair) * judgements.person + place, return_inverse=True)
        of_others = seen[place] - np.bincount(own)[own]
        together_by_others = together[place] - np.bincount(own, judgements.same)[own]
        loss = [
            np.average(
                losses(judgements.same, (together_by_others + amount * base) / (of_others + amount)), weights=weight
            )
            for amount in AMOUNTS
        ]
        return cls(n_items, pair, seen, together, base, float(AMOUNTS[np.argmin(loss)]))

    def probability(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the probability that a new person puts two items together."""
        wanted = self.n_items * first + second
        place = np.minimum(np.searchsorted(self.pair, wanted), len(self.pair) - 1)
        known = self.pair[place] == wanted
        seen, together = np.where(known, self.seen[place], 0), np.where(known, self.together[place], 0)
        return (together + self.amount * self.base) / (seen + self.amount)

    def matrix(self) -> np.ndarray:
        """Return the probabilities of all pairs, of shape (n_items, n_items), with 1 on the diagonal."""
        first, second = np.triu_indices(self.n_items, 1)
        found = np.eye(self.n_items)
        found[first, second] = found[second, first] = self.probability(first, second)
        return found


def by_linkage(similarity: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the clusters of average linkage."""
    tree = linkage(squareform(1 - similarity, checks=False), "average")
    return fcluster(tree, n_clusters, "maxclust") - 1


def by_kmeans(similarity: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return the clusters of k-means of the rows."""
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(similarity)
