"""How many clusters groupings make: which numbers are considered, and which of them is chosen.

*Groupings of most of the items.* Whoever sorted them says with the number of groups how fine clusters should be. The
number is chosen whose clusters agree best with people: the agreement of a person is the adjusted Rand index of the
person's groups and the clusters, which is 0 for clusters that agree as much as by chance, however many they are.

*Groupings of small parts of the items.* They have fewer groups than there are clusters, and hardly any pair of items
was seen often enough for agreement to tell numbers of clusters apart. The number with the largest silhouette is chosen.

Decided here
------------
On sorts by people who were held out, agreement was better than the silhouette, and than several rules that choose the
number of clusters that comes out most alike, beyond chance, under weights of people: by itself, that is often too few
clusters, and together with agreement it was not better than agreement (`benchmarks/number_of_clusters.py`).

A best number at the bound of what was considered tells nothing about the numbers beyond it. So twice as many clusters
are considered where the number chosen is the largest, unless the user set the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships

MAX_CLUSTERS = 30  # considered at first, if the user sets no other bound
WIDEST = 120  # considered at most then: the time that mergers take grows with the cube of the number
DIGITS = 9  # of agreements: what differs after them is rounding
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
        return float(np.median(self.memberships.grouping_sizes)) >= WHOLE * self.memberships.n_items

    def agreement(self, cluster: Clusters) -> float:
        """Mean agreement of the annotators with clusters; NaN where nobody's is defined."""
        found = agreement_with(self.memberships, cluster)
        known = np.isfinite(found)
        weights = np.ones(len(found)) if self.weights is None else self.weights
        total = weights[known].sum()
        return float(weights[known] @ found[known] / total) if total > 0 else np.nan

    def score(self, cluster: Clusters) -> tuple[float, float]:
        """Agreement with groupings of most of the items, −∞ if it is unknown or there are others; then silhouette."""
        agreement = self.agreement(cluster) if self.sees_most else np.nan
        return round(agreement, DIGITS) if np.isfinite(agreement) else -np.inf, self.evidence.score(cluster)

    def choose(self, clusterings: Mapping[int, Clusters]) -> int:
        """Choose one of several numbers of clusters, given the clusters of each; of equal ones the smallest."""
        return max(sorted(clusterings), key=lambda k: self.score(clusterings[k]))


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
