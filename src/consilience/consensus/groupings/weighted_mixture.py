"""The mixture of `grouping_mixture` where each annotator has a weight: groups of people other than those asked.

The evidence is a sum over annotators, ln p(x | z) = Σ_a ln p(x_a | z), so a weight w_a multiplies an annotator's terms
in the scores of the items, in the gains of mergers and in the silhouette. An annotator of weight 2 counts as two who
sort alike, and one of weight 0 as nobody.

Decided here
------------
Concentrations stay those of the fit: an annotator's own depends on the weights only through the clusters. A search
starts from more clusters than will be kept, as in the fit, but at most one and a half times those of the fit and four
more, and with fewer sweeps between mergers. If it started from the clusters of the fit alone, it would seldom leave
their number, and the result would look more certain than it is; they are one of three last candidates, among which the
number is chosen as in the fit, and then the largest silhouette.
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
from consilience.consensus.groupings.grouping_mixture import GroupingLayout, GroupingMixtureState, Scores
from consilience.consensus.groupings.number_of_clusters import NumberJudge
from consilience.inference.clusters import quick_kmeans
from consilience.inference.iterate import iterate
from consilience.inference.memberships import Memberships
from consilience.inference.reweighted import MOST_DENSE, Clusters, WeightedEmbedding, Weights, weight_entries
from consilience.inference.spectral import rows_of_length_one

MORE_CLUSTERS = 4  # than one and a half times those of the fit
MOST_ENTRIES = 1 << 24  # of a table of terms: 128 megabytes
FIRST_SWEEPS, SWEEPS_BETWEEN, LAST_SWEEPS = 6, 3, 6


@dataclass(frozen=True)
class Terms:
    """Terms of the evidence, by the number m of items that a group or grouping has in a cluster.

    With y the concentration of a grouping, or its share for a group: ln(y + m), and ln y^(m rising). They are
    tabulated for m = 0, 1, …, unless the tables would be large.
    """

    y: Float[np.ndarray, " cells"]
    of_log: Float[np.ndarray, "cells counts"] | None
    of_rising: Float[np.ndarray, "cells counts"] | None

    @classmethod
    def of(cls, y: Float[np.ndarray, " cells"], most: int) -> Terms:
        """Tabulate the terms up to `most` items."""
        if len(y) * (most + 1) > MOST_ENTRIES:
            return cls(y, None, None)
        up_to = y[:, None] + np.arange(most + 1)
        return cls(y, np.log(up_to), gammaln(up_to) - gammaln(y)[:, None])

    def log(self, cell: np.ndarray, m: np.ndarray) -> np.ndarray:
        """ln(y + m) of cells, which are broadcast against m."""
        return np.log(self.y[cell] + m) if self.of_log is None else _looked_up(self.of_log, cell, m)

    def rising(self, cell: np.ndarray, m: np.ndarray) -> np.ndarray:
        """ln y^(m rising) of cells, which are broadcast against m."""
        if self.of_rising is None:
            return np.asarray(gammaln(self.y[cell] + m) - gammaln(self.y[cell]))
        return _looked_up(self.of_rising, cell, m)

    @property
    def all(self) -> Int[np.ndarray, "cells 1"]:
        """Every cell, as a column."""
        return np.arange(len(self.y))[:, None]


def _looked_up(table: Float[np.ndarray, "cells counts"], cell: np.ndarray, m: np.ndarray) -> np.ndarray:
    """table[cell, m], in less time."""
    width = table.shape[1]
    return np.asarray(table.ravel().take(cell * width + m))


@dataclass(frozen=True)
class Tables:
    """Terms of the groups and of the groupings, under the concentrations of the fit."""

    layout: GroupingLayout
    of_groups: Terms
    of_groupings: Terms

    @classmethod
    def of(cls, layout: GroupingLayout, concentration: Weights) -> Tables:
        """Tabulate the terms."""
        memberships = layout.memberships
        c = concentration[memberships.annotator_of_grouping]
        cb = (c * layout.base)[memberships.grouping_of_group]
        sizes = memberships.group_sizes.max(initial=0), memberships.grouping_sizes.max(initial=0)
        return cls(layout, Terms.of(cb, int(sizes[0])), Terms.of(c, int(sizes[1])))


@dataclass(frozen=True)
class WeightedLayout:
    """Memberships with the weight of each annotator.

    of_groupings, of_rows : weight of the annotator of each grouping, and of each membership.
    in_group, in_grouping : (items, groups) and (items, groupings), with these weights in place of 1.
    """

    tables: Tables
    of_groupings: Float[np.ndarray, " groupings"]
    of_rows: Float[np.ndarray, " rows"]
    in_group: csr_array
    in_grouping: csr_array

    @classmethod
    def of(cls, tables: Tables, weights: Weights) -> WeightedLayout:
        """Weigh the annotators of a layout."""
        memberships = tables.layout.memberships
        of_groupings = weights[memberships.annotator_of_grouping]
        of_rows = of_groupings[tables.layout.grouping]
        in_group, in_grouping = (
            weight_entries(memberships.in_group, of_rows),
            weight_entries(memberships.in_grouping, of_rows),
        )
        return cls(tables, of_groupings, of_rows, in_group, in_grouping)

    @property
    def layout(self) -> GroupingLayout:
        """The memberships without weights."""
        return self.tables.layout

    def counts(
        self, state: GroupingMixtureState
    ) -> tuple[Int[np.ndarray, "groups clusters"], Int[np.ndarray, "groupings clusters"]]:
        """m_hkg and m_hk of an assignment."""
        layout, n_clusters, found = self.layout, state.n_clusters, []
        k = state.cluster[layout.item]
        for place, size in (
            (layout.group, layout.memberships.n_groups),
            (layout.grouping, layout.memberships.n_groupings),
        ):
            cells = np.bincount(place * n_clusters + k, minlength=size * n_clusters)
            found.append(cells.reshape(size, n_clusters))
        return found[0], found[1]


def cluster_scores(weighed: WeightedLayout, state: GroupingMixtureState) -> Scores:
    """ln p(z_n = k | rest) up to a constant for each item."""
    layout, (of_groups, of_groupings) = weighed.layout, weighed.counts(state)
    group, grouping = weighed.tables.of_groups, weighed.tables.of_groupings
    scores = np.asarray(weighed.in_group @ group.log(group.all, of_groups))
    scores -= weighed.in_grouping @ grouping.log(grouping.all, of_groupings)
    sizes = np.bincount(state.cluster, minlength=state.n_clusters).astype(float)
    scores += np.log1p(sizes)
    k = state.cluster[layout.item]  # an item is not among the rest
    in_group, in_grouping = of_groups[layout.group, k], of_groupings[layout.grouping, k]
    excess = group.log(layout.group, in_group - 1) - group.log(layout.group, in_group)
    excess -= grouping.log(layout.grouping, in_grouping - 1) - grouping.log(layout.grouping, in_grouping)
    own = np.arange(len(state.cluster)), state.cluster
    scores[own] += np.bincount(layout.item, weighed.of_rows * excess, len(state.cluster))
    scores[own] -= np.log1p(1 / sizes[state.cluster])
    return scores


def settle(
    weighed: WeightedLayout, state: GroupingMixtureState, *, rng: np.random.Generator, max_sweeps: int
) -> GroupingMixtureState:
    """Sweep until hardly any item moves; no cluster is empty afterwards."""
    trace = iterate(
        mixture.drop_empty_clusters(state),
        partial(_sweep, weighed, rng=rng),
        lambda s: s.log_pseudo_likelihood,
        max_iter=max_sweeps,
        settled=lambda s: s.restless < mixture.REST,
    )
    return mixture.drop_empty_clusters(trace.state)


def best_merger(weighed: WeightedLayout, state: GroupingMixtureState) -> tuple[int, int]:
    """Find the two clusters whose merger increases ln p(x, z) the most, or decreases it the least."""
    of_groups, of_groupings = weighed.counts(state)
    weights = weighed.of_groupings[weighed.layout.memberships.grouping_of_group]
    sizes = np.bincount(state.cluster, minlength=state.n_clusters)
    gains = gammaln(1 + np.add.outer(sizes, sizes)) - np.add.outer(gammaln(1 + sizes), gammaln(1 + sizes))
    gains += _gain(of_groups, weighed.tables.of_groups, weights)
    gains -= _gain(of_groupings, weighed.tables.of_groupings, weighed.of_groupings)
    np.fill_diagonal(gains, -np.inf)
    first, second = np.unravel_index(gains.argmax(), gains.shape)
    return int(min(first, second)), int(max(first, second))


def silhouette(weighed: WeightedLayout, rows: Int[np.ndarray, " rows"]) -> EvidenceSilhouette:
    """The silhouette of these items in the weighted evidence."""
    memberships, weights = weighed.layout.memberships, weighed.of_groupings
    group, grouping = memberships.group_sizes.astype(float), memberships.grouping_sizes.astype(float)
    put_together = weights[memberships.grouping_of_group] @ (group**2 - group)
    share = float(put_together / max(weights @ (grouping**2 - grouping), 1e-300))  # no pair was presented
    counts, presented = (
        _pairs(left, rows, right)
        for left, right in ((weighed.in_group, memberships.in_group), (weighed.in_grouping, memberships.in_grouping))
    )
    above = csr_array(counts - share * presented)
    presented.data = 1 / (presented.data + PRIOR_PRESENTATIONS)
    above = csr_array(above.multiply(presented))
    above.data[np.repeat(rows, np.diff(above.indptr)) == above.indices] = 0.0  # an item with itself
    return EvidenceSilhouette(rows, share, above)


def _pairs(left: csr_array, rows: Int[np.ndarray, " rows"], right: csr_array) -> csr_array:
    """Return left[rows] rightᵀ, by a dense product if the tables are small."""
    if left.shape[0] * left.shape[1] <= MOST_DENSE >> 4:
        return csr_array(left.toarray()[rows] @ right.toarray().T)
    return csr_array(left[rows] @ right.T.tocsr())


@dataclass(frozen=True)
class WeightedMixtureSearch:
    """A fitted mixture of groupings that can be searched for again under other weights.

    fitted : clusters of the fit.
    numbers : of clusters to choose from.
    most : clusters to start from.
    rows : items over which the silhouette is a mean.
    """

    tables: Tables
    embedding: WeightedEmbedding
    fitted: Clusters
    numbers: range
    most: int
    rows: Int[np.ndarray, " rows"]

    @classmethod
    def of(
        cls, memberships: Memberships, cluster: Clusters, numbers: range, *, rng: np.random.Generator
    ) -> WeightedMixtureSearch:
        """Learn the concentrations of the annotators, given the clusters of the fit."""
        layout = GroupingLayout.of(memberships)
        n_fitted = int(cluster.max()) + 1
        state = mixture.learn_concentration(layout, mixture.init(layout, cluster, n_fitted))
        most = 3 * n_fitted // 2 + MORE_CLUSTERS
        most = min(most if len(numbers) == 1 else min(most, numbers[-1]), memberships.n_items)
        rows = EvidenceSilhouette.of(memberships, rng=rng).rows
        tables = Tables.of(layout, state.concentration)
        return cls(tables, WeightedEmbedding.of(memberships), cluster, numbers, most, rows)

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Merge clusters from the largest number, and choose among their numbers and that of the fit."""
        weighed = WeightedLayout.of(self.tables, weights)
        evidence = silhouette(weighed, self.rows)
        points = self.embedding.points(weights, self.most)
        state = self._settled(weighed, quick_kmeans(rows_of_length_one(points), self.most, rng=rng), FIRST_SWEEPS, rng)
        found = [state]
        while state.n_clusters > max(self.numbers[0], 1):
            merged = mixture.merge(state, *best_merger(weighed, state))
            state = settle(weighed, merged, rng=rng, max_sweeps=SWEEPS_BETWEEN)
            found.append(state)
        judge = NumberJudge(weighed.layout.memberships, evidence, weights)
        allowed = [each for each in found if each.n_clusters <= self.numbers[-1]]  # never none: it ends below
        best = _choose_state(judge, allowed)
        again = quick_kmeans(rows_of_length_one(points[:, : best.n_clusters]), best.n_clusters, rng=rng)
        # equal starts settle once
        starts = {canonical(start).tobytes(): start for start in (best.cluster, again, self.fitted)}
        ends = [self._settled(weighed, start, LAST_SWEEPS, rng) for start in starts.values()]
        return _choose_state(judge, ends).cluster

    def _settled(
        self, weighed: WeightedLayout, start: Clusters, sweeps: int, rng: np.random.Generator
    ) -> GroupingMixtureState:
        state = mixture.init(self.tables.layout, start, int(start.max()) + 1)
        return settle(weighed, state, rng=rng, max_sweeps=sweeps)


def _choose_state(judge: NumberJudge, states: list[GroupingMixtureState]) -> GroupingMixtureState:
    """Return the state of the best number of clusters with the largest silhouette."""
    clearest = {each.n_clusters: each for each in sorted(states, key=lambda each: judge.evidence.score(each.cluster))}
    return clearest[judge.choose({k: each.cluster for k, each in clearest.items()})]


def canonical(cluster: Clusters) -> Clusters:
    """Number clusters by their first items, so that equal clusterings have equal numbers."""
    _, first, code = np.unique(cluster, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code])


def _sweep(weighed: WeightedLayout, state: GroupingMixtureState, *, rng: np.random.Generator) -> GroupingMixtureState:
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


def _gain(
    counts: Int[np.ndarray, "cells clusters"], terms: Terms, weights: Float[np.ndarray, " cells"]
) -> Float[np.ndarray, "clusters clusters"]:
    """Σ w (ln y^(m_k + m_l rising) − ln y^(m_k rising) − ln y^(m_l rising)) over the cells."""
    one = terms.rising(terms.all, counts)
    alone = weights @ one
    gains = -np.add.outer(alone, alone)
    for k in range(counts.shape[1] - 1):
        met, others = np.flatnonzero(counts[:, k]), slice(k + 1, None)  # else a merger leaves the cell unchanged
        merged = terms.rising(met[:, None], counts[met, k, None] + counts[met, others]) - one[met, others]
        gained = alone[others] + weights[met] @ merged
        gains[k, others] += gained
        gains[others, k] += gained
    return np.asarray(gains)
