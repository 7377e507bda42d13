"""How many items of a grouping tell something: those that are neither alone nor all in one group.

Whoever puts nearly all items into one group never separates items of a cluster, and whoever leaves nearly all alone
never puts items of two clusters together. Both look consistent, and tell next to nothing.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from consilience.inference.memberships import Memberships

LITTLE = 0.1  # share of items that tell, up to which an annotator tells next to nothing
USUAL = 0.3  # least median share of all annotators; below, the items or the task may be the reason
FEWEST = 10  # items of an annotator


def telling(
    n_items: Float[np.ndarray, " groupings"],
    n_paired: Float[np.ndarray, " groupings"],
    n_together: Float[np.ndarray, " groupings"],
) -> Float[np.ndarray, " groupings"]:
    """Items that tell: those that are not alone, or the share of the pairs that is apart of all items, if that is less.

    n_items : of each grouping
    n_paired : items that are in one group with another
    n_together : pairs of items in one group
    """
    n_pairs = np.maximum(n_items * (n_items - 1) / 2, 1)
    return np.minimum(n_paired, n_items * (1 - n_together / n_pairs))


def share_that_tells(memberships: Memberships) -> Float[np.ndarray, " annotators"]:
    """Share of the items in the groupings of each annotator that tell something; NaN without items."""
    size, grouping, n = memberships.group_sizes.astype(float), memberships.grouping_of_group, memberships.n_groupings
    n_items = memberships.grouping_sizes.astype(float)
    n_paired = np.bincount(grouping, np.where(size > 1, size, 0.0), n)
    n_together = np.bincount(grouping, size * (size - 1) / 2, n)
    by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    total = np.bincount(by, n_items, n_annotators)
    tell = np.bincount(by, telling(n_items, n_paired, n_together), n_annotators)
    return np.divide(tell, total, out=np.full(n_annotators, np.nan), where=total > 0)


def tell_little(memberships: Memberships) -> Bool[np.ndarray, " annotators"]:
    """Whether nearly all items of an annotator are in one group or alone, unlike those of most annotators."""
    share = share_that_tells(memberships)
    by = memberships.annotator_of_grouping
    n_items = np.bincount(by, memberships.grouping_sizes, memberships.n_annotators)
    little = (np.nan_to_num(share, nan=1.0) <= LITTLE) & (n_items >= FEWEST)
    usual = np.median(share[np.isfinite(share)]) if np.isfinite(share).any() else 0.0
    return little & (usual >= USUAL)
