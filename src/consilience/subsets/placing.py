"""Clusters of all items from the groups of subsets: shared items are fused, groups follow them, items their groups.

The clusters z of the shared items are those of `consilience.consensus.SubsetFusion`, from the groupings of at most
MOST_GROUPINGS subsets. Every group of every subset is then placed by the mixture of groupings
(`consilience.consensus.groupings.grouping_mixture`):

    p(group g | cluster k) = (c_h b_h + m_gk) / (c_h + m_hk)

==== ======================= =================================================================
m_gk ``Linked.counts``       shared items of cluster k in group g
m_hk                         shared items of cluster k in groups of subset h
c_h  ``Linked.consistency``  concentration: how far subset h keeps clusters whole; 1 / (1 + c)
b_h                          1 / (groups of subset h + 2)
==== ======================= =================================================================

and an item's cluster is given by the groups that it is in,

    p(cluster k | item) ∝ (1 + m_k) Π_g p(g | k)

Nothing has more cells than memberships, than groups × clusters, or than items × clusters of a block of items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax

from consilience.annotations import Groupings
from consilience.annotations.types import NumberOfClusters
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships
from consilience.subsets.composing import NO_GROUP, Grouped

MOST_GROUPINGS = 200  # from which the clusters of the shared items are found
BLOCK = 1 << 22  # items × clusters at a time

Probabilities = Float[np.ndarray, "block clusters"]


@dataclass(frozen=True)
class Linked:
    """What the groups of subsets say of the clusters of the shared items.

    scores : ln p(group | cluster); zeros for groups without shared items, and in a last row, for -1.
    prior : ln (1 + m_k).
    has_shared : of each group, whether it has shared items; False in a last entry.
    consistency : of each subset, from 0 (groups at random) to 1 (never separates items of a cluster).
    agreement : of each subset, the adjusted Rand index of its groups of the shared items with the clusters; NaN where
        disagreement is impossible.
    """

    scores: Float[np.ndarray, "groups_and_none clusters"]
    prior: Float[np.ndarray, " clusters"]
    has_shared: Bool[np.ndarray, " groups_and_none"]
    consistency: Float[np.ndarray, " subsets"]
    agreement: Float[np.ndarray, " subsets"]


def fuse(
    grouped: Grouped, n_clusters: NumberOfClusters, *, max_clusters: int, rng: np.random.Generator
) -> SubsetFusion:
    """Fuse the groupings of the shared items by at most MOST_GROUPINGS subsets, drawn at random."""
    n_shared, n_subsets = grouped.of_shared.shape
    chosen = np.sort(rng.choice(n_subsets, min(n_subsets, MOST_GROUPINGS), replace=False))
    said = grouped.of_shared[:, chosen].astype(float)
    said[said == NO_GROUP] = np.nan
    groupings = Groupings.from_matrix(said, items=range(n_shared), annotators=chosen.tolist())
    if n_clusters != "auto":
        n_clusters = min(int(n_clusters), int((~np.isnan(said)).any(1).sum()))
    model = SubsetFusion(n_clusters, max_clusters=max_clusters, copies=None, random_state=int(rng.integers(2**31)))
    return model.fit(groupings)


def link(grouped: Grouped, cluster: Int[np.ndarray, " shared"], n_clusters: int) -> Linked:
    """Compare the groups of all subsets with the clusters of the shared items, -1 for those of none."""
    known = cluster >= 0
    memberships = _memberships(grouped.of_shared[known], grouped.subset_of_group)
    layout = mixture.GroupingLayout.of(memberships)
    state = mixture.learn_concentration(layout, mixture.init(layout, cluster[known], n_clusters))
    counts = mixture.count(layout, state)
    c = state.concentration
    cb = (c * layout.base)[memberships.grouping_of_group]
    below = (c[:, None] + counts.of_groupings)[memberships.grouping_of_group]
    has_shared: np.ndarray = counts.of_groups.sum(1) > 0
    scores = np.where(has_shared[:, None], np.log((cb[:, None] + counts.of_groups) / below), 0.0)
    return Linked(
        scores=np.vstack([scores, np.zeros(n_clusters)]),
        prior=np.log1p(counts.of_clusters),
        has_shared=np.append(has_shared, False),
        consistency=1 / (1 + c),
        agreement=agreement_with(memberships, cluster[known]),
    )


def probabilities(
    groups: Int[np.ndarray, "repeats items"],
    scores: Float[np.ndarray, "groups_and_none clusters"],
    prior: Float[np.ndarray, " clusters"],
) -> Iterator[tuple[slice, Probabilities]]:
    """Yield blocks of items, and the probability of each cluster for each of them.

    groups : of each item, one for each repeat; -1 for none
    scores, prior : of `Linked`
    """
    size = max(BLOCK // len(prior), 1)
    for start in range(0, groups.shape[1], size):
        block = groups[:, start : start + size]
        total = np.tile(prior, (block.shape[1], 1))
        for of_repeat in block:
            total += scores[of_repeat]  # a repeat at a time: all at once would need repeats × items × clusters
        yield slice(start, start + block.shape[1]), softmax(total, axis=1)


def mostly_left_out(groups: Int[np.ndarray, "times items"]) -> Bool[np.ndarray, " items"]:
    """Whether the clusterer left an item out in more than half of its subsets."""
    return np.asarray(2 * (groups == NO_GROUP).sum(0) > len(groups))


def of_no_cluster(
    groups: Int[np.ndarray, "repeats items"], has_shared: Bool[np.ndarray, " groups_and_none"]
) -> tuple[Bool[np.ndarray, " items"], Bool[np.ndarray, " items"]]:
    """Return which items have no cluster, and which of these only because their groups have no shared items."""
    is_left_out, is_linked = mostly_left_out(groups), has_shared[groups].any(0)
    return is_left_out | ~is_linked, ~is_left_out & ~is_linked


def _memberships(
    of_shared: Int[np.ndarray, "known subsets"], subset_of_group: Int[np.ndarray, " groups"]
) -> Memberships:
    """Memberships of the shared items, in which every subset is an annotator."""
    n_items, n_subsets = of_shared.shape
    item, subset = np.nonzero(of_shared != NO_GROUP)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=n_items))])
    ones, group = np.ones(len(item)), of_shared[item, subset]
    return Memberships(
        in_group=csr_array((ones, group, indptr), shape=(n_items, len(subset_of_group))),
        in_grouping=csr_array((ones, subset, indptr), shape=(n_items, n_subsets)),
        grouping_of_group=subset_of_group,
        annotator_of_grouping=np.arange(n_subsets),
        n_annotators=n_subsets,
    )
