"""The mixture of `grouping_mixture` where each annotator has a weight: groups of people other than those asked.

The evidence is a sum over annotators, ln p(x | z) = Σ_a ln p(x_a | z), so a weight w_a multiplies an annotator's terms
in the scores of the items, in the gains of mergers and in the silhouette. An annotator of weight 2 counts as two who
sort alike, and one of weight 0 as nobody.

Decided here
------------
Concentrations stay those of the fit: an annotator's own depends on the weights only through the clusters. A search
starts from more clusters than will be kept, as in the fit, and with fewer sweeps between mergers; starting from the
clusters of the fit, it would seldom leave their number, and the result would look more certain than it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import gammaln

from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.evidence_silhouette import PRIOR_PRESENTATIONS, EvidenceSilhouette
from consilience.consensus.groupings.grouping_mixture import Layout, Scores, State
from consilience.inference.clusters import kmeans
from consilience.inference.iterate import iterate
from consilience.inference.memberships import Memberships
from consilience.inference.reweighted import Clusters, Weights, weighted, weighted_embedding
from consilience.inference.spectral import rows_of_length_one

FIRST_SWEEPS, SWEEPS_BETWEEN, LAST_SWEEPS = 10, 4, 10
MOST_CELLS = 1 << 17  # groups × clusters considered for a merger; beyond it, groupings are sampled


@dataclass(frozen=True)
class WeightedLayout:
    """Memberships with the weight of each annotator.

    layout : without weights.
    of_groupings, of_rows : weight of the annotator of each grouping, and of each membership.
    in_group, in_grouping : (items, groups) and (items, groupings), with these weights in place of 1.
    """

    layout: Layout
    of_groupings: Float[np.ndarray, " groupings"]
    of_rows: Float[np.ndarray, " rows"]
    in_group: csr_array
    in_grouping: csr_array

    @classmethod
    def of(cls, layout: Layout, weights: Weights) -> WeightedLayout:
        """Weigh the annotators of a layout."""
        memberships = layout.memberships
        of_groupings = weights[memberships.annotator_of_grouping]
        of_rows = of_groupings[layout.grouping]
        in_group, in_grouping = weighted(memberships.in_group, of_rows), weighted(memberships.in_grouping, of_rows)
        return cls(layout, of_groupings, of_rows, in_group, in_grouping)


def cluster_scores(weighed: WeightedLayout, state: State) -> Scores:
    """ln p(z_n = k | rest) up to a constant for each item."""
    layout, counts = weighed.layout, mixture.count(weighed.layout, state)
    c, cb = _concentrations(layout, state)
    scores = np.asarray(weighed.in_group @ np.log(cb[:, None] + counts.of_groups))
    scores -= weighed.in_grouping @ np.log(c[:, None] + counts.of_groupings)
    scores += np.log1p(counts.of_clusters)
    k = state.cluster[layout.item]  # an item is not among the rest
    with_it = cb[layout.group] + counts.of_groups[layout.group, k]
    of_all = c[layout.grouping] + counts.of_groupings[layout.grouping, k]
    excess = np.log((with_it - 1) / with_it * (of_all / (of_all - 1)))
    own = np.arange(len(state.cluster)), state.cluster
    scores[own] += np.bincount(layout.item, weighed.of_rows * excess, len(state.cluster))
    scores[own] -= np.log1p(1 / counts.of_clusters[state.cluster])
    return scores


def settle(weighed: WeightedLayout, state: State, *, rng: np.random.Generator, max_sweeps: int) -> State:
    """Sweep until hardly any item moves; no cluster is empty afterwards."""
    trace = iterate(
        mixture.occupied(state),
        partial(_sweep, weighed, rng=rng),
        lambda s: s.log_pseudo_likelihood,
        max_iter=max_sweeps,
        settled=lambda s: s.restless < mixture.REST,
    )
    return mixture.occupied(trace.state)


def best_merger(weighed: WeightedLayout, state: State, *, rng: np.random.Generator) -> tuple[int, int]:
    """Find the two clusters whose merger increases ln p(x, z) the most, or decreases it the least."""
    layout, counts = weighed.layout, mixture.count(weighed.layout, state)
    c, cb = _concentrations(layout, state)
    share = min(1.0, MOST_CELLS / counts.of_groups.size)
    kept = np.ones(len(c), dtype=bool) if share == 1 else rng.random(len(c)) < share
    in_kept = kept[layout.memberships.grouping_of_group]
    of_groups = weighed.of_groupings[layout.memberships.grouping_of_group]
    sizes = counts.of_clusters
    gains = gammaln(1 + np.add.outer(sizes, sizes)) - np.add.outer(gammaln(1 + sizes), gammaln(1 + sizes))
    gains += _gain(counts.of_groups[in_kept], cb[in_kept], of_groups[in_kept]) / share
    gains -= _gain(counts.of_groupings[kept], c[kept], weighed.of_groupings[kept]) / share
    np.fill_diagonal(gains, -np.inf)
    first, second = np.unravel_index(gains.argmax(), gains.shape)
    return int(min(first, second)), int(max(first, second))


def silhouette(weighed: WeightedLayout, rows: Int[np.ndarray, " rows"]) -> EvidenceSilhouette:
    """The silhouette of these items in the weighted evidence."""
    memberships, weights = weighed.layout.memberships, weighed.of_groupings
    group, grouping = memberships.group_sizes.astype(float), memberships.grouping_sizes.astype(float)
    put_together = weights[memberships.grouping_of_group] @ (group**2 - group)
    share = float(put_together / max(weights @ (grouping**2 - grouping), 1e-300))
    counts = weighed.in_group[rows] @ memberships.in_group.T.tocsr()
    presented = csr_array(weighed.in_grouping[rows] @ memberships.in_grouping.T.tocsr())
    above = csr_array(counts - share * presented)
    presented.data = 1 / (presented.data + PRIOR_PRESENTATIONS)
    above = csr_array(above.multiply(presented))
    above.data[np.repeat(rows, np.diff(above.indptr)) == above.indices] = 0.0  # an item with itself
    return EvidenceSilhouette(rows, share, above)


@dataclass(frozen=True)
class Search:
    """A fitted mixture of groupings that can be searched for again under other weights.

    concentration : of each annotator, of the fit.
    numbers : of clusters to choose from.
    rows : items over which the silhouette is a mean.
    """

    layout: Layout
    concentration: Weights
    numbers: range
    rows: Int[np.ndarray, " rows"]

    @classmethod
    def of(cls, memberships: Memberships, cluster: Clusters, numbers: range, *, rng: np.random.Generator) -> Search:
        """Learn the concentrations of the annotators, given the clusters of the fit."""
        layout = Layout.of(memberships)
        state = mixture.learn_concentration(layout, mixture.init(layout, cluster, int(cluster.max()) + 1))
        rows = EvidenceSilhouette.of(memberships, rng=rng).rows
        return cls(layout, state.concentration, numbers, rows)

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Merge clusters from the largest number, and keep those of the largest silhouette."""
        weighed, memberships = WeightedLayout.of(self.layout, weights), self.layout.memberships
        evidence = silhouette(weighed, self.rows)
        most = min(2 * self.numbers[-1] if len(self.numbers) == 1 else self.numbers[-1], memberships.n_items)
        points = weighted_embedding(memberships, weights, most)
        state = self._settled(weighed, kmeans(rows_of_length_one(points), most, rng=rng), FIRST_SWEEPS, rng)
        found = [state]
        while state.n_clusters > max(self.numbers[0], 1):
            merged = mixture.merge(state, *best_merger(weighed, state, rng=rng))
            state = settle(weighed, merged, rng=rng, max_sweeps=SWEEPS_BETWEEN)
            found.append(state)
        allowed = [each for each in found if each.n_clusters <= self.numbers[-1]]
        best = max(allowed, key=lambda each: evidence.score(each.cluster))
        again = kmeans(rows_of_length_one(points[:, : best.n_clusters]), best.n_clusters, rng=rng)
        ends = [self._settled(weighed, start, LAST_SWEEPS, rng) for start in (best.cluster, again)]
        return max(ends, key=lambda each: evidence.score(each.cluster)).cluster

    def _settled(self, weighed: WeightedLayout, start: Clusters, sweeps: int, rng: np.random.Generator) -> State:
        state = mixture.init(self.layout, start, int(start.max()) + 1)
        return settle(weighed, replace(state, concentration=self.concentration), rng=rng, max_sweeps=sweeps)


def _sweep(weighed: WeightedLayout, state: State, *, rng: np.random.Generator) -> State:
    """Move half the items, at random, to the cluster most probable given the rest."""
    scores = cluster_scores(weighed, state)
    best = scores.argmax(1)
    elsewhere = best != state.cluster
    moving = elsewhere & (rng.random(len(best)) < 0.5)
    return replace(
        state,
        cluster=np.where(moving, best, state.cluster),
        log_pseudo_likelihood=float(scores[np.arange(len(best)), state.cluster].sum()),
        restless=float(elsewhere.mean()),
        n_sweeps=state.n_sweeps + 1,
    )


def _concentrations(
    layout: Layout, state: State
) -> tuple[Float[np.ndarray, " groupings"], Float[np.ndarray, " groups"]]:
    """Return c of each grouping, and c b of each group."""
    c = state.concentration[layout.memberships.annotator_of_grouping]
    return c, (c * layout.base)[layout.memberships.grouping_of_group]


def _gain(
    counts: Float[np.ndarray, "cells clusters"], y: Float[np.ndarray, " cells"], weights: Float[np.ndarray, " cells"]
) -> np.ndarray:
    """Σ w (ln y^(m_k + m_l rising) − ln y^(m_k rising) − ln y^(m_l rising)) over the cells, (clusters, clusters)."""
    y = y[:, None]
    one = gammaln(y + counts) - gammaln(y)
    alone = weights @ one
    gains = -np.add.outer(alone, alone)
    for k in range(counts.shape[1]):
        met = counts[:, k] > 0  # else the merger leaves the cell unchanged
        merged = gammaln(y[met] + counts[met, k, None] + counts[met]) - gammaln(y[met])
        gains[k] += weights[met] @ merged + weights[~met] @ one[~met]
    return np.asarray(gains)
