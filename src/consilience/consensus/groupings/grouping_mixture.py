"""Mixture of groupings: each grouping keeps the items of a cluster together, up to its annotator's consistency.

The mixture model of A. Topchy, A. K. Jain & W. Punch (2004), A mixture model for clustering ensembles, SDM, adapted to
small subsets: with a handful of items in a grouping, the probabilities of its groups cannot be estimated, so they are
integrated out.

    π    ~ Dirichlet(1, …, 1)               shares of the clusters
    z_n  ~ Categorical(π)                   cluster of item n
    φ_hk ~ Dirichlet(c_a b_h, …, c_a b_h)   groups into which grouping h, by annotator a, puts the items of cluster k
    x_hn ~ Categorical(φ_h,z_n)             group of item n in grouping h, if h contains n

With π and φ integrated out, groups are Dirichlet-multinomial counts:

    ln p(x, z) = Σ_h Σ_k [ Σ_g ln (c b)^(m_hkg rising) − ln c^(m_hk rising) ] + Σ_k ln 1^(m_k rising) − ln K^(N rising)

where m_hkg counts the items of cluster k that h puts into its group g, and y^(m rising) = y (y + 1) … (y + m − 1).

============= ======================= ==================== =============================================
symbol        name in code            shape                meaning
============= ======================= ==================== =============================================
z             ``cluster``             items
c             ``concentration``       annotators           0: keeps clusters whole; ∞: groups at random
1/(1 + c)     intraclass correlation  annotators           weight of an annotator
b             ``base``                groupings            1 / (groups of the grouping + 2)
m_hkg         ``Counts.of_groups``    groups × clusters    sparse, but stored dense
m_hk          ``Counts.of_groupings`` groupings × clusters
============= ======================= ==================== =============================================

One sweep: each item's cluster given all other items,

    ln p(z_n = k | rest) = ln(1 + m_k⁻ⁿ) + Σ_h [ ln(c b + m_hk,g(n)⁻ⁿ) − ln(c + m_hk⁻ⁿ) ]

which is two sparse products, linear in the memberships. A hard sweep takes the most probable cluster, a sampling sweep
draws from it.

Decided here
------------
Clusters do not compete for groups: two of them may share one, which is how a coarse annotator sorts. A grouping is
assumed to have two groups in addition to the observed ones (base 1/(r + 2)): without them, a single group of two items
would have probability 1 whoever sorts. A sweep moves half the items, drawn at random: if all moved at once, items that
belong together could swap clusters for ever. The search starts with too many clusters, and merges those whose merger
gains most, with sweeps in between: from K clusters directly, two true clusters often stay together while a third is
split. The concentration of an annotator is the mean of its logarithm over a grid, whose prior is learned from all
annotators (empirical Bayes), so that annotators who sorted little are judged by the crowd. Probabilities are means over
sampling sweeps, started at the best assignment: they express the uncertainty within this solution, not whether a very
different one is as good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int
from scipy.special import gammaln, logsumexp, softmax

from consilience.inference.iterate import iterate
from consilience.inference.memberships import Memberships

# 1 / (1 + c), which users see as consistency, from 0.95 to 0.001
CONCENTRATIONS = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 50.0, 1000.0])
FIRST_CONCENTRATION = 0.5
MORE_GROUPS = 2  # unobserved groups of each grouping
LEARN_EVERY = 5  # sweeps
REST = 1e-4  # a run ends when at most this share of the items is not in its most probable cluster
FEWEST_SWEEPS = LEARN_EVERY + 1  # so that concentrations are learned and used at least once
MOST_SWEEPS = 60
SWEEPS_BETWEEN_MERGERS = 15
MERGER_CELLS = 1 << 17  # groups × clusters considered for a merger; beyond it, groupings are sampled
BURN_IN, SAMPLES = 5, 25

Scores = Float[np.ndarray, "items clusters"]


@dataclass(frozen=True)
class GroupingLayout:
    """Memberships in the form that sweeps need; every item is in some grouping."""

    memberships: Memberships
    item: Int[np.ndarray, " rows"]
    group: Int[np.ndarray, " rows"]
    grouping: Int[np.ndarray, " rows"]
    base: Float[np.ndarray, " groupings"]

    @classmethod
    def of(cls, memberships: Memberships) -> GroupingLayout:
        """Prepare memberships."""
        n_groups = np.bincount(memberships.grouping_of_group, minlength=memberships.n_groupings)
        base = 1 / (n_groups + MORE_GROUPS)
        return cls(memberships, memberships.item, memberships.group, memberships.grouping, base)


@dataclass(frozen=True)
class GroupingMixtureState:
    """An assignment of items to clusters.

    log_pseudo_likelihood : Σ_n ln p(z_n | rest) of the assignment at the start of the last sweep, up to the
        normaliser, nats.
    restless : share of the items that were not in their most probable cluster at the start of the last sweep.
    """

    cluster: Int[np.ndarray, " items"]
    n_clusters: int
    concentration: Float[np.ndarray, " annotators"]
    log_pseudo_likelihood: float = -np.inf
    restless: float = 1.0
    n_sweeps: int = 0


@dataclass(frozen=True)
class GroupingCounts:
    """Number of items of each cluster, in total, in each group and in each grouping."""

    of_groups: Float[np.ndarray, "groups clusters"]
    of_groupings: Float[np.ndarray, "groupings clusters"]
    of_clusters: Float[np.ndarray, " clusters"]


def init(layout: GroupingLayout, cluster: Int[np.ndarray, " items"], n_clusters: int) -> GroupingMixtureState:
    """Start from an assignment, with equal concentrations."""
    return GroupingMixtureState(cluster, n_clusters, np.full(layout.memberships.n_annotators, FIRST_CONCENTRATION))


def count(layout: GroupingLayout, state: GroupingMixtureState) -> GroupingCounts:
    """m_hkg, m_hk and m_k of an assignment."""
    k, n_clusters = state.cluster[layout.item], state.n_clusters
    cells = []
    for place, size in ((layout.group, layout.memberships.n_groups), (layout.grouping, layout.memberships.n_groupings)):
        cells.append(np.bincount(place * n_clusters + k, minlength=size * n_clusters).reshape(size, n_clusters) * 1.0)
    return GroupingCounts(cells[0], cells[1], np.bincount(state.cluster, minlength=n_clusters) * 1.0)


def cluster_scores(layout: GroupingLayout, state: GroupingMixtureState, counts: GroupingCounts | None = None) -> Scores:
    """ln p(z_n = k | rest) up to a constant for each item.

    counts : of all items, if the layout has only some of them; by default those of the state.
    """
    counts = count(layout, state) if counts is None else counts
    scores = scores_of_new(layout, counts, state.concentration)
    own = np.arange(len(state.cluster)), state.cluster
    # the item itself does not count: ln (1 + m_k) becomes ln m_k
    scores[own] += _own_contribution(layout, state, counts) - np.log1p(1 / counts.of_clusters[state.cluster])
    return scores


def scores_of_new(
    layout: GroupingLayout, counts: GroupingCounts, concentration: Float[np.ndarray, " annotators"]
) -> Scores:
    """ln p(z_n = k | the items counted) up to a constant for each item, which is not among these."""
    c, cb = pseudo_counts(layout, concentration)
    scores: Scores = layout.memberships.in_group @ np.log(cb[:, None] + counts.of_groups)
    scores -= layout.memberships.in_grouping @ np.log(c[:, None] + counts.of_groupings)
    scores += np.log1p(counts.of_clusters)
    return scores


def sweep(layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator) -> GroupingMixtureState:
    """Move half the items, at random, to the cluster most probable given the rest; learn c every few sweeps."""
    state = move(state, cluster_scores(layout, state), rng.random(len(state.cluster)))
    return learn_concentration(layout, state) if state.n_sweeps % LEARN_EVERY == 0 else state


def move(state: GroupingMixtureState, scores: Scores, chance: Float[np.ndarray, " items"]) -> GroupingMixtureState:
    """Move the items whose number from 0 to 1 is below a half to the cluster most probable given the rest."""
    best = scores.argmax(1)
    elsewhere = best != state.cluster
    now = scores[np.arange(len(best)), state.cluster]
    return replace(
        state,
        cluster=np.where(elsewhere & (chance < 0.5), best, state.cluster),  # all at once could swap back and forth
        log_pseudo_likelihood=float(now.sum()),
        restless=float(elsewhere.mean()),
        n_sweeps=state.n_sweeps + 1,
    )


def sample(
    layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator, temperature: float = 1.0
) -> tuple[GroupingMixtureState, Scores]:
    """Sample the clusters of half the items given the rest; also return every item's probabilities.

    With a temperature below 1 the probabilities are sharper than the posterior: raised to the power 1 / temperature.
    """
    probability = normalise_scores(cluster_scores(layout, state) / temperature)
    moving = np.flatnonzero(rng.random(len(probability)) < 0.5)
    return draw_clusters(state, probability, moving, rng.random(len(moving))), probability


def normalise_scores(scores: Scores) -> Scores:
    """Turn scores into the probabilities of the clusters of each item, in place."""
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


def draw_clusters(
    state: GroupingMixtureState,
    probability: Scores,
    moving: Int[np.ndarray, " moving"],
    chance: Float[np.ndarray, " moving"],
) -> GroupingMixtureState:
    """Give some items the clusters that numbers from 0 to 1 draw from their probabilities."""
    below = np.cumsum(probability[moving], axis=1) < chance[:, None]
    cluster = state.cluster.copy()
    cluster[moving] = np.minimum(below.sum(1), state.n_clusters - 1)  # rounding may leave the last sum below 1
    return replace(state, cluster=cluster)


def settle(
    layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator, max_sweeps: int = MOST_SWEEPS
) -> GroupingMixtureState:
    """Sweep until hardly any item moves."""
    fewest = state.n_sweeps + FEWEST_SWEEPS
    trace = iterate(
        state,
        partial(sweep, layout, rng=rng),
        lambda s: s.log_pseudo_likelihood,
        max_iter=max_sweeps,
        settled=lambda s: s.restless < REST and s.n_sweeps >= fewest,
    )
    return trace.state


def merge_down(
    layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator
) -> Iterator[GroupingMixtureState]:
    """Yield the settled state, then one with fewer clusters after each merger, down to one; no cluster is empty."""
    state = drop_empty_clusters(settle(layout, state, rng=rng))
    yield state
    while state.n_clusters > 1:
        first, second = best_merger(layout, state, rng=rng)
        merged = settle(layout, merge(state, first, second), rng=rng, max_sweeps=SWEEPS_BETWEEN_MERGERS)
        state = drop_empty_clusters(merged)
        yield state


def drop_empty_clusters(state: GroupingMixtureState) -> GroupingMixtureState:
    names, cluster = np.unique(state.cluster, return_inverse=True)
    return replace(state, cluster=cluster, n_clusters=len(names))


def merge(state: GroupingMixtureState, first: int, second: int) -> GroupingMixtureState:
    """Merge two clusters; the numbers above the second decrease by one."""
    cluster = np.where(state.cluster == second, first, state.cluster)
    return replace(state, cluster=cluster - (cluster > second), n_clusters=state.n_clusters - 1)


def best_merger(layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator) -> tuple[int, int]:
    """Find the two clusters whose merger increases ln p(x, z) the most, or decreases it the least."""
    gains = merger_gains(layout, state, rng=rng)
    first, second = np.unravel_index(gains.argmax(), gains.shape)
    return int(min(first, second)), int(max(first, second))


def merger_gains(
    layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator
) -> Float[np.ndarray, "clusters clusters"]:
    """Change of ln p(x, z) by each merger, −∞ on the diagonal.

    If groups × clusters exceed MERGER_CELLS, a random share of the groupings represents all.
    """
    counts = count(layout, state)
    n_groups, n_clusters = counts.of_groups.shape
    share = min(1.0, MERGER_CELLS / (n_groups * n_clusters))
    kept = rng.random(len(counts.of_groupings)) < share if share < 1 else np.ones(len(counts.of_groupings), bool)
    kept_group = kept[layout.memberships.grouping_of_group]
    c, cb = pseudo_counts(layout, state.concentration)
    sizes = counts.of_clusters
    together = np.add.outer(sizes, sizes)
    gains = gammaln(1 + together) - np.add.outer(gammaln(1 + sizes), gammaln(1 + sizes))
    gains += gammaln(n_clusters + sizes.sum()) - gammaln(n_clusters)  # one cluster fewer changes ln K^(N rising)
    gains -= gammaln(n_clusters - 1 + sizes.sum()) - gammaln(n_clusters - 1)
    gains += _gain(counts.of_groups[kept_group], cb[kept_group]) / share
    gains -= _gain(counts.of_groupings[kept], c[kept]) / share
    np.fill_diagonal(gains, -np.inf)
    return gains


def learn_concentration(
    layout: GroupingLayout, state: GroupingMixtureState, counts: GroupingCounts | None = None
) -> GroupingMixtureState:
    """Posterior mean of ln c for each annotator over the grid, with the crowd's shares at each c as the prior.

    counts : of all items, if the layout has only some of them; by default those of the state.
    """
    cells = _cells(layout, count(layout, state) if counts is None else counts)
    table = np.stack([cells.log_evidence(np.full(len(state.concentration), c)) for c in CONCENTRATIONS], axis=1)

    def reestimate(log_shares: np.ndarray) -> np.ndarray:
        # no share becomes 0, whose logarithm it would keep
        return np.log(softmax(log_shares + table, axis=1).mean(0) + 1e-9)

    def log_likelihood(log_shares: np.ndarray) -> float:
        return float(logsumexp(log_shares + table, axis=1).sum())

    even = np.full(len(CONCENTRATIONS), -np.log(len(CONCENTRATIONS)))
    log_shares = iterate(even, reestimate, log_likelihood, max_iter=30, tol=1e-6).state
    return replace(state, concentration=np.exp(softmax(log_shares + table, axis=1) @ np.log(CONCENTRATIONS)))


def log_evidence(layout: GroupingLayout, state: GroupingMixtureState) -> float:
    """ln p(x, z), with all its constants, nats."""
    counts = count(layout, state)
    n_clusters, n_items = state.n_clusters, len(state.cluster)
    shares = gammaln(1 + counts.of_clusters).sum() - gammaln(n_clusters + n_items) + gammaln(n_clusters)
    return float(_cells(layout, counts).log_evidence(state.concentration).sum() + shares)


def probabilities(layout: GroupingLayout, state: GroupingMixtureState, *, rng: np.random.Generator) -> Scores:
    """Mean of p(z_n | rest) over sampling sweeps that start at this assignment."""
    total = np.zeros((len(state.cluster), state.n_clusters))
    for number in range(BURN_IN + SAMPLES):
        state, probability = sample(layout, state, rng=rng)
        if number >= BURN_IN:
            total += probability
    return total / SAMPLES


def pseudo_counts(
    layout: GroupingLayout, concentration: Float[np.ndarray, " annotators"]
) -> tuple[Float[np.ndarray, " groupings"], Float[np.ndarray, " groups"]]:
    """c of each grouping, and c b of each group."""
    c = concentration[layout.memberships.annotator_of_grouping]
    return c, (c * layout.base)[layout.memberships.grouping_of_group]


def _own_contribution(
    layout: GroupingLayout, state: GroupingMixtureState, counts: GroupingCounts
) -> Float[np.ndarray, " items"]:
    """Contribution of each item to the score of its own cluster through its groups, to be subtracted."""
    c, cb = pseudo_counts(layout, state.concentration)
    k = state.cluster[layout.item]
    in_group = cb[layout.group] + counts.of_groups.ravel()[layout.group * state.n_clusters + k]
    in_grouping = c[layout.grouping] + counts.of_groupings.ravel()[layout.grouping * state.n_clusters + k]
    excess = np.log((in_group - 1) / in_group * (in_grouping / (in_grouping - 1)))
    return np.bincount(layout.item, excess, len(state.cluster)).astype(float)  # without rows it would be integers


@dataclass(frozen=True)
class _Cells:
    """The positive counts of groups and of groupings, over which ln p(x | z) is a sum.

    sign : 1 for groups, −1 for groupings.
    base : factor on the annotator's concentration.
    """

    m: Float[np.ndarray, " cells"]
    annotator: Int[np.ndarray, " cells"]
    base: Float[np.ndarray, " cells"]
    sign: Float[np.ndarray, " cells"]

    def log_evidence(self, concentration: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " annotators"]:
        """Contribution of each annotator to ln p(x | z)."""
        y = concentration[self.annotator] * self.base
        rising = np.log(y)
        several = self.m > 1  # rare in small subsets
        rising[several] += gammaln(y[several] + self.m[several]) - gammaln(y[several] + 1)
        return np.bincount(self.annotator, self.sign * rising, len(concentration))


def _cells(layout: GroupingLayout, counts: GroupingCounts) -> _Cells:
    by, grouping_of_group = layout.memberships.annotator_of_grouping, layout.memberships.grouping_of_group
    group, cluster = counts.of_groups.nonzero()
    grouping, cluster_too = counts.of_groupings.nonzero()
    in_group = grouping_of_group[group]
    return _Cells(
        m=np.concatenate([counts.of_groups[group, cluster], counts.of_groupings[grouping, cluster_too]]),
        annotator=by[np.concatenate([in_group, grouping])],
        base=np.concatenate([layout.base[in_group], np.ones(len(grouping))]),
        sign=np.repeat([1.0, -1.0], [len(group), len(grouping)]),
    )


def _gain(counts: Float[np.ndarray, "cells clusters"], y: Float[np.ndarray, " cells"]) -> np.ndarray:
    """Σ over the cells of ln y^(m_k + m_l rising) − ln y^(m_k rising) − ln y^(m_l rising), (clusters, clusters)."""
    y = y[:, None]
    one = gammaln(y + counts) - gammaln(y)
    gains = -np.add.outer(one.sum(0), one.sum(0))
    for k in range(counts.shape[1]):
        met = counts[:, k] > 0  # else the merger leaves the cell unchanged
        merged = gammaln(y[met] + counts[met, k, None] + counts[met]) - gammaln(y[met])
        gains[k] += merged.sum(0) + one[~met].sum(0)
    return np.asarray(gains)
