r"""What a new person would say: the probability of "together" for pairs of items, from judgements and clusters.

The counts of a pair are shrunk towards the rate of its two clusters, this towards the rate of all pairs within or
between clusters, and the result towards the rate of all judgements:

    w_ij = t_ij w + (1 − t_ij) v
    m_ij = (S_kl + c w_ij) / (N_kl + c)                     k, l: the clusters of i and j
    f_ij = (s_ij + a ((1 − λ) b + λ m_ij)) / (n_ij + a)

| symbol | name in code | meaning |
|---|---|---|
| n_ij, s_ij | of_pair | judgements of the pair, and those that put it together |
| N_kl, S_kl | of_clusters | the same for all pairs of an item of one cluster and an item of the other |
| t_ij = Σ_k r_ik r_jk | same | probability that the items are of one cluster |
| w, v | within, between | rate of "together" of two items of one cluster, and of different clusters |
| b | base | rate of "together" of all judgements |
| a, c | amount, cluster_amount | how many judgements the rate of the clusters, and of all clusters, counts as |
| λ | share | how far clusters count; 0 if there is only one |

With λ = 0 this is smoothed co-occurrence; with a large a, the rates of clusters alone.

a, c and λ have the lowest log loss when the judgements of each person are predicted from those of the others, whose
counts are those of all less the person's own. People count equally, however many judgements they made.

Decided here
------------
Clusters fit the judgements that they were found from too well, so they too must be those of the others. To find them
anew would take as long as the fit. Instead, people are divided into `N_FOLDS`, and for each the items are assigned
once more by the judgements of the other people alone: item i to the cluster k with the highest

    Σ_l T_il ln m_kl + (J_il − T_il) ln (1 − m_kl)

where J_il is the number of judgements of i and an item of cluster l, T_il of those that put them together, and m_kl
the rate of the two clusters. Items that this moves elsewhere than the judgements of all people would are moved; those
that the others did not judge are in any, in proportion to their sizes. The rest keep their clusters, which may rest on
features as well.

Even so a smaller λ is preferred: the smallest whose log loss exceeds the lowest by at most `MARGIN` standard errors
over people.

Items whose most probable cluster has a probability below `LEAST` are a further cluster in N_kl and S_kl.
At most `MOST_JUDGEMENTS` judgements are predicted while a, c and λ are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.annotations.groupings import Groupings
from consilience.annotations.judgement_counts import (
    JudgementCounts,
    counts_of_annotators,
    counts_of_clusters,
    counts_of_pairs,
)
from consilience.annotations.judgements import AnnotationRows, draw
from consilience.annotations.pairs import Pairs
from consilience.inference.losses import log_losses
from consilience.inference.pair_evidence import PairEvidence

AMOUNTS = np.geomspace(0.1, 1000, 25)  # a: from hardly shrunk to hardly moved by the judgements of a pair
CLUSTER_AMOUNTS = (1.0, 10.0, 100.0, 1000.0, np.inf)  # c: if infinite, all clusters have the rates w and v
SHARES = (0.25, 0.5, 0.75, 1.0)
MARGIN = 0.5
N_FOLDS = 5  # items are assigned once more for each, which takes time
MOST_JUDGEMENTS = 20_000  # each has a loss in memory under up to 525 settings
LEAST = 0.5  # probability of an item's cluster
NONE = -1  # cluster of an item that nobody judged
IMAGINED = 10.0  # judgements at the rate of all clusters, when items are assigned once more
NEAREST = 0.01  # distance of probabilities from 0 and 1 while a, c and λ are chosen

Places = Int[np.ndarray, " pairs"]
Rates = Float[np.ndarray, " pairs"]
Amounts = Float[np.ndarray, "amounts 1"]


@dataclass(frozen=True)
class ForecastSettings:
    """What is learned: a, c and λ."""

    amount: float
    cluster_amount: float
    share: float


@dataclass(frozen=True)
class Clustered:
    """Judgements, and the clusters of their items.

    of_item : probability of each cluster of each item; 0 for items of which nothing is known.
    """

    annotations: Groupings | Pairs
    of_item: Float[np.ndarray, "items clusters"]

    @property
    def cluster(self) -> Int[np.ndarray, " items"]:
        """More probable cluster than not of each item; a code of its own for items that have none."""
        # last, so that a cluster of probability `LEAST` wins
        every = np.column_stack([self.of_item, np.full(len(self.of_item), LEAST)])
        return every.argmax(axis=1)


@dataclass(frozen=True)
class ForecastEvidence:
    """What is known of some pairs of items.

    same : probability that both items are of one cluster.
    of_pair, of_clusters : judgements of each pair itself, and of all pairs of items of its two clusters.
    within, everything : judgements of all pairs of items of one cluster, and of all pairs.
    """

    same: Rates
    of_pair: JudgementCounts
    of_clusters: JudgementCounts
    within: JudgementCounts
    everything: JudgementCounts

    @classmethod
    def of(cls, clustered: Clustered, a: Places, b: Places) -> ForecastEvidence:
        """Return what all judgements say of pairs of items."""
        return cls(_same(clustered, a, b), *_counts(clustered, a, b))

    @classmethod
    def of_others(cls, clustered: Clustered, a: Places, b: Places, annotator: Places) -> ForecastEvidence:
        """Return what the judgements of all but one annotator, given for each pair, say of it."""
        own = _counts(clustered, a, b, annotator)
        return cls(_same(clustered, a, b), *(one - other for one, other in zip(_counts(clustered, a, b), own)))

    @cached_property
    def base(self) -> Rates:
        """b, with two imagined judgements: no rate is 0 or 1."""
        return _shrunk(self.everything, 0.5, 2.0)

    @cached_property
    def of_all_clusters(self) -> Rates:
        """w_ij."""
        within, between = (_shrunk(counts, self.base, 2.0) for counts in (self.within, self.everything - self.within))
        return self.same * within + (1 - self.same) * between

    def mean(self, cluster_amount: float, share: float) -> Rates:
        """Return (1 − λ) b + λ m_ij."""
        return (1 - share) * self.base + share * _shrunk(self.of_clusters, self.of_all_clusters, cluster_amount)

    def probability(self, settings: ForecastSettings) -> Rates:
        """Return f_ij."""
        return _shrunk(self.of_pair, self.mean(settings.cluster_amount, settings.share), settings.amount)


def _same(clustered: Clustered, a: Places, b: Places) -> Rates:
    return (clustered.of_item[a] * clustered.of_item[b]).sum(axis=1)


def _shrunk(counts: JudgementCounts, mean: Rates | float, amount: float | Amounts) -> Float[np.ndarray, "... pairs"]:
    if np.all(np.isinf(amount)):
        return np.broadcast_to(mean, counts.judged.shape)
    return np.asarray((counts.together + amount * mean) / (counts.judged + amount))


def _counts(clustered: Clustered, a: Places, b: Places, annotator: Places | None = None) -> Iterator[JudgementCounts]:
    """Yield the counts of `ForecastEvidence`: of all annotators, or of one for each pair."""
    given, cluster = clustered.annotations, clustered.cluster
    size, own = int(cluster.max(initial=0)) + 1, np.zeros_like(a) if annotator is None else annotator
    low, high = np.minimum(cluster[a], cluster[b]), np.maximum(cluster[a], cluster[b])
    distinct, place = np.unique((own * size + low) * size + high, return_inverse=True)
    by, low, high = distinct // size**2, distinct // size % size, distinct % size
    yield counts_of_pairs(given, a, b, annotator)
    yield counts_of_clusters(given, cluster, low, high, None if annotator is None else by).of(place)
    for clusters in (cluster, np.zeros_like(cluster)):
        found = counts_of_annotators(given, clusters)
        yield found.total().of(np.zeros_like(a)) if annotator is None else found.of(annotator)


# ---- learning


def learn_weights(clustered: Clustered) -> ForecastSettings:
    """Choose a, c and λ by predicting the judgements of each person from those of the others."""
    given = clustered.annotations
    rows = AnnotationRows.of(given)
    drawn, _ = draw(given, rows, MOST_JUDGEMENTS, np.random.default_rng(0))  # the same judgements at every call
    annotator, fold = rows.annotator[drawn.row_a], rows.rank_of_annotator % N_FOLDS
    if not len(annotator):
        return ForecastSettings(1.0, np.inf, 0.0)
    tried = [(np.inf, 0.0)]
    if clustered.of_item.shape[1] > 1:
        tried += product(CLUSTER_AMOUNTS, SHARES)
    loss = np.empty((len(tried), len(AMOUNTS), len(annotator)))
    for some, others in _of_others(clustered, fold):
        here = np.flatnonzero(some[annotator])
        evidence = ForecastEvidence.of_others(others, drawn.item_a[here], drawn.item_b[here], annotator[here])
        for own, settings in zip(loss, tried):
            p = _shrunk(evidence.of_pair, evidence.mean(*settings), AMOUNTS[:, None])
            own[:, here] = log_losses(drawn.same[here], p, NEAREST)
    every = [ForecastSettings(float(amount), *one) for one in tried for amount in AMOUNTS]
    of_people = _of_people(loss.reshape(len(every), -1), annotator)
    return every[_choose_settings(of_people, np.array([one.share for one in every]))]


def _of_others(
    clustered: Clustered, fold: Int[np.ndarray, " annotators"]
) -> Iterator[tuple[Bool[np.ndarray, " annotators"], Clustered]]:
    """Yield which people are in each fold, and the clusters by the judgements of the others."""
    n_clusters = clustered.of_item.shape[1]
    if n_clusters < 2:
        yield np.ones(len(fold), dtype=bool), clustered
        return
    evidence = PairEvidence.of(clustered.annotations)
    of_all = assign_items(evidence, np.ones(len(fold)), clustered.of_item)
    unknown = clustered.of_item.mean(axis=0)
    for own in range(N_FOLDS):
        some = fold == own
        of_others = assign_items(evidence, 1.0 - some, clustered.of_item)
        moved = np.flatnonzero((of_others != of_all) & clustered.of_item.any(axis=1))
        of_item = clustered.of_item.copy()
        of_item[moved] = np.vstack([np.eye(n_clusters), unknown])[of_others[moved]]  # `NONE`, -1, is the last row
        yield some, replace(clustered, of_item=of_item)


def assign_items(
    evidence: PairEvidence, weight: Float[np.ndarray, " annotators"], of_item: Float[np.ndarray, "items clusters"]
) -> Int[np.ndarray, " items"]:
    """Return the cluster of each item that weighted judgements of it and of the items of all clusters make likeliest.

    `NONE` if there are none.

    evidence : of the judgements
    weight : of each annotator's judgements
    of_item : probability of each cluster of each item
    """
    eta, w = of_item[:, :, None], weight[:, None]
    together = evidence.messages(eta, same=w, apart=0 * w)[:, :, 0]
    judged = evidence.messages(eta, same=w, apart=w)[:, :, 0]
    n_judged, n_together = of_item.T @ judged, of_item.T @ together
    is_within = np.eye(of_item.shape[1], dtype=bool)
    # imagined, so that no rate is 0 or 1
    within, between = ((n_together[where].sum() + 1) / (n_judged[where].sum() + 2) for where in (is_within, ~is_within))
    rate = (n_together + IMAGINED * np.where(is_within, within, between)) / (n_judged + IMAGINED)
    likelihood = together @ np.log(rate) + (judged - together) @ np.log1p(-rate)
    return np.where(judged.any(axis=1), likelihood.argmax(axis=1), NONE)


def _of_people(loss: Float[np.ndarray, "tried pairs"], annotator: Places) -> Float[np.ndarray, "tried people"]:
    """Return the mean loss of each person who judged."""
    _, person, n = np.unique(annotator, return_inverse=True, return_counts=True)
    return np.stack([np.bincount(person, own) for own in loss]) / n


def _choose_settings(loss: Float[np.ndarray, "tried people"], share: Float[np.ndarray, " tried"]) -> int:
    """Return the best settings of the smallest share that is at most `MARGIN` standard errors behind the best."""
    mean = loss.mean(axis=1)
    best = int(mean.argmin())
    for one in np.unique(share):
        own = np.flatnonzero(share == one)
        place = int(own[mean[own].argmin()])
        gap = loss[place] - loss[best]
        # std divides by n: this is the standard error of the mean
        if gap.mean() <= MARGIN * gap.std() / np.sqrt(max(len(gap) - 1, 1)):
            return place
    return best
