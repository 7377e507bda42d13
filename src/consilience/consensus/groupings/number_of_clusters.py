"""How many clusters groupings make: which numbers are considered, and which of them is chosen.

*Groupings of most of the items.* Whoever sorted them says with the number of groups how fine clusters should be. Of the
numbers of clusters that agree with people about as well as the best, that is chosen which other people would repeat
best beyond chance. The agreement of a person is the adjusted Rand index of the person's groups and the clusters; a
number is about as good as the best if its mean agreement is at most one standard error of the difference, over people,
behind. What other people would repeat is the share of pairs of items, together or apart, that comes out again under
weights of people (`inference.reweighted`) with the same number of clusters: (repeats − chance) / (1 − chance).

*Groupings of small parts of the items.* They have fewer groups than there are clusters, and hardly any pair of items
was seen often enough for agreement to tell numbers of clusters apart. The number with the largest silhouette is chosen.

Decided here
------------
Neither suffices alone: what is repeated best beyond chance is often two clusters, or one more than anybody makes, and
agreement is flat near its largest value. On sorts by people who were held out, the rule was better than either, and
than the largest silhouette (`benchmarks/number_of_clusters.py`).

A largest silhouette or agreement at the bound of what was considered tells nothing about the numbers beyond it. So
twice as many clusters are considered where the number chosen is the largest, unless the user set the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from sklearn.metrics.cluster import pair_confusion_matrix

from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.consensus.groupings.grouping_mixture import GroupingMixtureState
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships

MAX_CLUSTERS = 30  # considered at first, if the user sets no other bound
WIDEST = 120  # considered at most then: the time that mergers take grows with the cube of the number
WHOLE = 0.5  # share of the items in the median grouping from which on people's groups tell how fine clusters are
ROUNDING = 1e-9  # of means of agreements

Clusters = Int[np.ndarray, " items"]
Weights = Float[np.ndarray, " annotators"]


@dataclass(frozen=True)
class NumberJudge:
    """What clusterings with several numbers of clusters are compared by.

    weights : of the annotators, of mean 1; None if all count equally.
    repeats : beyond chance, of each number of clusters; empty if it is unknown.
    """

    memberships: Memberships
    evidence: EvidenceSilhouette
    weights: Weights | None = None
    repeats: Mapping[int, float] | None = None

    @property
    def sees_most(self) -> bool:
        """Whether the median grouping has most of the items."""
        return float(np.median(self.memberships.grouping_sizes)) >= WHOLE * self.memberships.n_items

    def agreement(self, cluster: Clusters) -> float:
        """Mean agreement of the annotators with clusters; NaN where nobody's is defined."""
        found = agreement_with(self.memberships, cluster)
        known = np.isfinite(found)
        return float(np.average(found[known], weights=self._weights[known])) if known.any() else np.nan

    def score(self, cluster: Clusters) -> float:
        """Agreement with groupings of most of the items, else the silhouette."""
        return self.agreement(cluster) if self.sees_most else self.evidence.score(cluster)

    def choose(self, clusterings: Mapping[int, Clusters]) -> int:
        """Choose one of several numbers of clusters, given the clusters of each."""
        numbers = np.array(sorted(clusterings))
        if self.sees_most and numbers[-1] > 1:
            numbers = numbers[numbers > 1]  # a single cluster separates no items, and so agrees with nobody
            agreement = np.stack([agreement_with(self.memberships, clusterings[k]) for k in numbers])
            numbers = numbers[about_as_good(agreement, self._weights)]
            known = [k for k in numbers if k in (self.repeats or {})]
            if known:
                return int(max(known, key=(self.repeats or {}).__getitem__))
        return int(max(numbers, key=lambda k: self.evidence.score(clusterings[k])))

    def choose_state(self, states: Sequence[GroupingMixtureState]) -> GroupingMixtureState:
        """Choose a number of clusters, and of the states with as many the one with the largest silhouette."""
        by_silhouette = sorted(states, key=lambda state: self.evidence.score(state.cluster))
        clearest = {state.n_clusters: state for state in by_silhouette}
        return clearest[self.choose({k: state.cluster for k, state in clearest.items()})]

    @property
    def _weights(self) -> Weights:
        return np.ones(self.memberships.n_annotators) if self.weights is None else self.weights


def about_as_good(agreement: Float[np.ndarray, "numbers annotators"], weights: Weights) -> Bool[np.ndarray, " numbers"]:
    """Whether the mean of a row is at most one standard error of their difference below the highest mean.

    Annotators whose agreement with some row is undefined are left out; without two others, all rows are as good.

    Examples
    --------
    >>> import numpy as np
    >>> about_as_good(np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.8], [0.6, 0.5, 0.9]]), np.ones(3)).tolist()
    [False, True, True]
    """
    known = np.isfinite(agreement).all(0)
    if known.sum() < 2:
        return np.ones(len(agreement), dtype=bool)
    share = weights[known] / weights[known].sum()
    best = int((agreement[:, known] @ share).argmax())
    behind = agreement[best, known] - agreement[:, known]
    mean = behind @ share
    error = np.sqrt((behind - mean[:, None]) ** 2 @ share / (known.sum() - 1))
    return np.asarray(mean <= error + ROUNDING)


def repeats_beyond_chance(first: Clusters, second: Clusters) -> float:
    """Return the share of pairs that a second clustering repeats, together or apart: 1 all, 0 as many as by chance.

    Examples
    --------
    >>> import numpy as np
    >>> repeats_beyond_chance(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = pair_confusion_matrix(first, second)
    share = table / table.sum()
    chance = share.sum(0) @ share.sum(1)
    return float((np.trace(share) - chance) / (1 - chance)) if chance < 1 else 1.0


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
