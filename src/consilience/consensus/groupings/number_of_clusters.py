"""How many clusters groupings make: which numbers are considered, and which of them is chosen.

*Groupings of most of the items.* Whoever sorted them says with the groups how fine clusters should be. Of the numbers
of clusters that agree with people about as well as the best, that with the largest silhouette is chosen. The agreement
of a person is the adjusted Rand index of the person's groups and the clusters, which is 0 for clusters that agree as
much as by chance, however many they are; a number is about as good if its mean agreement is at most one standard error
of the difference, over people, behind the best (the rule of L. Breiman, J. Friedman, R. Olshen & C. Stone 1984,
Classification and Regression Trees).

*Groupings of small parts of the items.* They have fewer groups than there are clusters, and hardly any pair of items
was seen often enough for agreement to tell numbers of clusters apart. The number with the largest silhouette of all is
chosen.

Decided here
------------
On sorts by people who were held out, this was better than the largest silhouette of all, which is often too many
clusters, or two. On simulated crowds agreement alone found the true number less often than the silhouette, and this as
often. What comes out most alike, beyond chance, under weights of people is by itself often too few clusters; among the
numbers about as good it was not better than the silhouette (`benchmarks/number_of_clusters.py`).

A best number at the bound of what was considered tells nothing about the numbers beyond it. So twice as many clusters
are considered where the number chosen is the largest, unless the user set the bound. Not so with groupings of small
parts: on simulated crowds of few people, whose clusters are too many already, it led further from the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships

MAX_CLUSTERS = 30  # considered at first, if the user sets no other bound
WIDEST = 120  # considered at most then: the time that mergers take grows with the cube of the number
ROUNDING = 1e-9  # of mean agreements
WHOLE = 0.5  # share of the items in the median grouping from which on people's groups tell how fine clusters are

Clusters = Int[np.ndarray, " items"]
Weights = Float[np.ndarray, " annotators"]


@dataclass(frozen=True)
class NumberJudge:
    """What clusterings with several numbers of clusters are compared by.

    weights : of the annotators, of mean 1; None if all count equally.
    """

    memberships: Memberships
    evidence: EvidenceSilhouette
    weights: Weights | None = None

    @property
    def sees_most(self) -> bool:
        """Whether the median grouping has most of the items."""
        return see_most(self.memberships)

    def agreement(self, cluster: Clusters) -> float:
        """Mean agreement of the annotators with clusters; NaN where nobody's is defined."""
        found = agreement_with(self.memberships, cluster)
        known = np.isfinite(found)
        total = self._weights[known].sum()
        return float(self._weights[known] @ found[known] / total) if total > 0 else np.nan

    def score(self, cluster: Clusters) -> tuple[float, float]:
        """Agreement with groupings of most of the items, −∞ if it is unknown or they are smaller; then silhouette."""
        agreement = self.agreement(cluster) if self.sees_most else np.nan
        return agreement if np.isfinite(agreement) else -np.inf, self.evidence.score(cluster)

    def choose(self, clusterings: Mapping[int, Clusters]) -> int:
        """Choose one of several numbers of clusters, given the clusters of each; of equal ones the smallest."""
        numbers = sorted(clusterings)
        several = [k for k in numbers if k > 1]  # a single cluster separates no items, and so agrees with nobody
        if self.sees_most and several:
            agreement = np.stack([agreement_with(self.memberships, clusterings[k]) for k in several])
            numbers = [k for k, near in zip(several, about_as_good(agreement, self._weights), strict=True) if near]
        return max(numbers, key=lambda k: self.evidence.score(clusterings[k]))

    @property
    def _weights(self) -> Weights:
        return np.ones(self.memberships.n_annotators) if self.weights is None else self.weights


def see_most(memberships: Memberships) -> bool:
    """Return whether the median grouping has most of the items."""
    return float(np.median(memberships.grouping_sizes)) >= WHOLE * memberships.n_items


def about_as_good(agreement: Float[np.ndarray, "numbers annotators"], weights: Weights) -> Bool[np.ndarray, " numbers"]:
    """Whether the mean of a row is at most one standard error of their difference below the highest mean.

    Annotators whose agreement with some row is undefined are left out; without two others, all rows are as good.

    Examples
    --------
    >>> about_as_good(np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.8], [0.6, 0.5, 0.9]]), np.ones(3)).tolist()
    [False, True, True]
    """
    known = np.isfinite(agreement).all(0)
    if known.sum() < 2 or not weights[known].any():
        return np.ones(len(agreement), dtype=bool)
    share = weights[known] / weights[known].sum()
    best = int((agreement[:, known] @ share).argmax())
    behind = agreement[best, known] - agreement[:, known]
    mean = behind @ share
    error = np.sqrt((behind - mean[:, None]) ** 2 @ share / (known.sum() - 1))
    return np.asarray(mean <= error + ROUNDING)


def numbers_to_try(n_clusters: int | str, max_clusters: int, n_items: int) -> range:
    """Numbers of clusters to consider: the one that is given, or from 2 on."""
    if not isinstance(n_clusters, str):
        return range(n_clusters, n_clusters + 1)
    most = min(max_clusters, max(n_items - 1, 1))
    return range(min(2, most), most + 1)


def wider_and_wider(n_clusters: int | str, max_clusters: int, n_items: int) -> Iterator[range]:
    """Yield numbers of clusters to consider where those of `numbers_to_try` do not suffice, ever more of them."""
    numbers = numbers_to_try(n_clusters, max_clusters, n_items)
    while n_clusters == "auto" and max_clusters == MAX_CLUSTERS and numbers[-1] < min(WIDEST, n_items - 1):
        numbers = numbers_to_try(n_clusters, 2 * numbers[-1], n_items)
        yield numbers
