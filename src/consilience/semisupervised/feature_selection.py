"""Features that are associated with the annotations: a permutation test of every feature.

    T_d = Σ_m n_m R²_md,    R²_md = Σ_j n_mj (x̄_mjd − x̄_md)² / Σ_n (x_nd − x̄_md)²

n_mj items are in group j of grouping m, with the mean x̄_mjd of feature d; n_m and x̄_md are those of all its groups, and
the last sum runs over its items. R²_md is the share of the variance between groups of one-way analysis of variance.

Where annotations do not depend on feature d, T_d has the same distribution after a permutation of the items. Whole rows
of the features are permuted, which keeps what annotators have in common with each other. The null values of all
features are pooled, as in the significance analysis of microarrays (Tusher, Tibshirani & Chu 2001), so a few
permutations suffice. The features kept are those of Benjamini & Hochberg (1995).

Decided here
------------
The test needs no clusters, so it does not depend on where a fit starts. Clusters found with features would be
associated with some of these in any case, if there are enough. So only features that were left out are tested against
clusters, as groups of one more grouping: these do not depend on them, except through the annotations, and say more
than a few labels do. Features are added until none is associated.

20 permutations: the smallest p-value, 1 / (20 D + 1), is then below what Benjamini and Hochberg require of a single
feature among D. A tenth of the features kept are expected to be there by chance: a lower share loses features that
matter where labels are few, and a few that do not matter do little harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

N_PERMUTATIONS = 20  # of each feature; the values of all features are pooled
FALSE_DISCOVERIES = 0.1  # expected share of the features kept
BLOCK_ENTRIES = 1 << 22  # of a table of groups × features at a time: 32 megabytes


def associated_features(
    features: Float[np.ndarray, "items features"],
    labels: csr_array,
    grouping_of_group: Int[np.ndarray, " groups"],
    seed: int,
) -> Bool[np.ndarray, " features"]:
    """Which features are associated with the groups that annotators put the items into.

    features : X.
    labels : (items, groups) sparse 0/1.
    grouping_of_group : the grouping of each group, from 0.
    seed : of the permutations.
    """
    rng = np.random.RandomState(seed)
    tables = Tables.of(labels, grouping_of_group)
    orders = [rng.permutation(len(features)) for _ in range(N_PERMUTATIONS)]
    width = max(BLOCK_ENTRIES // max(labels.shape), 1)
    blocks = [features[:, start : start + width] for start in range(0, features.shape[1], width)]
    found = [strength(block, tables) for block in blocks]
    null = [strength(block[order], tables) for block in blocks for order in orders]
    return discoveries(p_values(np.concatenate(found), np.concatenate(null)))


@dataclass(frozen=True)
class Tables:
    """Sums over items and over groups, as products.

    groups : (groups, items) sparse 0/1.
    groupings : (groupings, groups) sparse 0/1.
    covered : (groupings, items) sparse 0/1, the items that each grouping sorts.
    """

    groups: csr_array
    groupings: csr_array
    covered: csr_array

    @classmethod
    def of(cls, labels: csr_array, grouping_of_group: Int[np.ndarray, " groups"]) -> Tables:
        """Tables of the labels, (items, groups)."""
        groups = csr_array(labels.T, dtype=float)
        place = (grouping_of_group, np.arange(len(grouping_of_group)))
        groupings = csr_array((np.ones(len(grouping_of_group)), place))
        return cls(groups, groupings, groupings @ groups)


def strength(features: Float[np.ndarray, "items features"], tables: Tables) -> Float[np.ndarray, " features"]:
    """T_d."""
    centred = features - features.mean(0)  # less rounding in the differences of squares
    n_items = np.asarray(tables.groups.sum(1))
    n_covered = tables.groupings @ n_items
    sums = tables.groups @ centred
    of_mean = (tables.groupings @ sums) ** 2 / np.maximum(n_covered, 1)[:, None]
    between = tables.groupings @ (sums**2 / np.maximum(n_items, 1)[:, None]) - of_mean
    within = tables.covered @ centred**2
    total = within - of_mean
    varies = total > 1e-9 * within  # a constant feature varies by rounding alone
    share = np.divide(between, total, out=np.zeros_like(total), where=varies)
    return n_covered @ share


def p_values(
    found: Float[np.ndarray, " features"], null: Float[np.ndarray, " draws"]
) -> Float[np.ndarray, " features"]:
    """Share of the null values that are as large as each value found, which counts as one of them."""
    null = np.sort(null)
    return (1 + len(null) - np.searchsorted(null, found)) / (1 + len(null))


def discoveries(p: Float[np.ndarray, " tests"]) -> Bool[np.ndarray, " tests"]:
    """Tests that Benjamini and Hochberg's procedure rejects."""
    ordered = np.sort(p)
    passed = ordered <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / max(len(p), 1)
    return p <= ordered[passed].max(initial=-1.0)  # none is rejected
