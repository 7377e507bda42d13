"""Where single people put each item: with its cluster, with a part of it, alone, or elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.names import MISSING

SLICE = 512  # items whose pairs with all others are counted at a time


def count_places(groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int) -> pd.DataFrame:
    """Count in how many groupings each item is with its cluster, alone, or with an item of another cluster.

    It is with its cluster if at least half of the others that were sorted are in its group, and with a part of it if
    fewer are, but no other cluster has more in the group.

    Returns DataFrame, indexed by the items: `n_sorted`, `n_with_cluster`, `n_with_part`, `n_alone`; `next`, the
    item of another cluster with which it is most often, None if there is none, and `n_with_next`, the groupings in
    which the two are together; `other`, the number of the cluster with whose items it is most often instead, -1 if
    with none, `n_in_other`, and `n_in_both`, of these the groupings in which it is with its own or part of it, too;
    `n_joined`, those in which it is with its own and with any other. It is with those of another cluster if at
    least half of them that were sorted are in its group, whether with its own or not; or if it is neither with its
    own nor alone, and the group has most items of that cluster; of several, the one of which these are the largest
    part.

    Examples
    --------
    >>> sorts = Groupings.from_matrix([["a", "a"], ["a", "a"], ["b", "a"], ["b", "b"], ["b", "b"]], items=list("pqrst"))
    >>> count_places(sorts, np.array([0, 0, 1, 1, 1]), 2).loc["r"].astype(str).tolist()
    ['2', '1', '0', '0', 'p', '1', '0', '1', '0', '0']
    """
    member = csr_array(codes[:, None] == np.arange(n_clusters), dtype=np.int64)
    held = (csr_array(groupings.incidence.astype(np.int64).T) @ member).toarray()
    there = np.zeros((groupings.n_groupings, n_clusters), dtype=np.int64)
    np.add.at(there, groupings.grouping_of_group, held)
    item, group = groupings.incidence.tocoo().coords
    item, group = item[codes[item] >= 0], group[codes[item] >= 0]
    row, own = np.arange(len(item)), codes[item]
    others = held[group]
    others[row, own] -= 1
    n_own, n_wanted = others[row, own], there[groupings.grouping_of_group[group], own] - 1
    alone = others.sum(1) == 0
    is_with = ~alone & (n_own > 0) & (2 * n_own >= n_wanted)
    others[row, own] = 0
    is_part = ~is_with & (n_own > 0) & (n_own >= others.max(1, initial=0))
    in_other, in_both = np.zeros((2, groupings.n_items, n_clusters), dtype=np.int64)
    has_half = (others > 0) & (2 * others >= there[groupings.grouping_of_group[group]])
    halves, cluster = np.nonzero(has_half)
    np.add.at(in_other, (item[halves], cluster), 1)
    np.add.at(in_both, (item[halves], cluster), is_with[halves] | is_part[halves])
    size = np.maximum(np.bincount(codes[codes >= 0], minlength=n_clusters), 1)
    most = (others + others / (size * (len(codes) + 1))).argmax(1)  # of as many items, the larger part
    is_other = ~(alone | is_with | is_part | has_half[row, most])
    np.add.at(in_other, (item[is_other], most[is_other]), 1)
    instead = in_other - in_both
    other = (instead + in_other / (in_other.max(initial=0) + 1)).argmax(1)  # of as many instead, the one in both most
    n_in_other = in_other[np.arange(groupings.n_items), other]
    counts = (np.bincount(item[mask], minlength=groupings.n_items) for mask in (slice(None), is_with, is_part, alone))
    n_sorted, n_with, n_part, n_alone = counts
    return pd.DataFrame(
        {
            "n_sorted": n_sorted,
            "n_with_cluster": n_with,
            "n_with_part": n_part,
            "n_alone": n_alone,
            **_next(groupings, codes),
            "other": np.where(n_in_other > 0, other, MISSING),
            "n_in_other": n_in_other,
            "n_joined": np.bincount(item[(is_with | is_part) & has_half.any(1)], minlength=groupings.n_items),
            "n_in_both": in_both[np.arange(groupings.n_items), other],
        },
        index=groupings.items,
    )


def _next(groupings: Groupings, codes: Int[np.ndarray, " items"]) -> dict[str, np.ndarray]:
    incidence = csr_array(groupings.incidence.astype(np.int64))
    found, most = np.zeros((2, groupings.n_items), dtype=np.int64)
    for start in range(0, groupings.n_items, SLICE):
        part = slice(start, start + SLICE)
        together = (incidence[part] @ incidence.T).toarray()
        together[(codes[part, None] == codes) | (codes < 0)] = 0
        found[part], most[part] = together.argmax(1), together.max(1, initial=0)
    names = groupings.items.to_numpy(dtype=object)[found]
    names[most == 0] = None
    return {"next": names, "n_with_next": most}


def count_apart(
    groupings: Groupings, part: Int[np.ndarray, " part"], rest: Int[np.ndarray, " rest"]
) -> tuple[int, int]:
    """Count the groupings that have more than half of some items in one group, and of others in another, or the same.

    Of the items that were sorted in the grouping. First those that keep them apart, then those that have them together.

    Examples
    --------
    >>> sorts = Groupings.from_matrix([["a", "a"], ["a", "a"], ["b", "a"], ["b", "b"]])
    >>> count_apart(sorts, np.array([0, 1]), np.array([2, 3])), count_apart(sorts, np.array([0, 1]), np.array([2]))
    ((1, 0), (1, 1))
    """
    of_grouping, incidence = groupings.grouping_of_group, groupings.incidence.tocsr()
    most = []
    for items in (part, rest):
        held = np.asarray(incidence[items].sum(0)).ravel().astype(int)
        n_sorted = np.bincount(of_grouping, held, groupings.n_groupings)
        group = np.full(groupings.n_groupings, MISSING)
        has_most = np.flatnonzero(2 * held > n_sorted[of_grouping])
        group[of_grouping[has_most]] = has_most
        most.append(group)
    first, second = (group[(most[0] >= 0) & (most[1] >= 0)] for group in most)
    return int((first != second).sum()), int((first == second).sum())
