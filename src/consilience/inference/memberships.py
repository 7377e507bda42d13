"""Memberships of items in groups as sparse matrices, and the counts of pairs that they imply.

With Z the 0/1 matrix of items × groups and U that of items × groupings, Z Zᵀ counts how often two items were put
together and U Uᵀ how often they were presented together. Both are kept as these factors, whose size is the number of
memberships; this is enough for products with vectors. Where the pairs themselves are needed, only those that occur in
some grouping are formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Groupings

PAIRS_AT_A_TIME = 1 << 24  # presented pairs in memory while ratios are formed: a few hundred megabytes


@dataclass(frozen=True)
class Memberships:
    """Which items are in which groups, which groups in which groupings, and whose the groupings are.

    in_group : (items, groups) sparse 0/1.
    in_grouping : (items, groupings) sparse 0/1; the same memberships in the same order.
    grouping_of_group : nondecreasing.
    """

    in_group: csr_array
    in_grouping: csr_array
    grouping_of_group: Int[np.ndarray, " groups"]
    annotator_of_grouping: Int[np.ndarray, " groupings"]
    n_annotators: int

    @classmethod
    def of(cls, groupings: Groupings) -> Memberships:
        """Memberships of groupings, including empty groups and groupings."""
        incidence = groupings.incidence
        grouping = groupings.grouping_of_group[incidence.indices]
        shape = (groupings.n_items, groupings.n_groupings)
        return cls(
            in_group=incidence,
            in_grouping=csr_array((incidence.data, grouping, incidence.indptr), shape=shape),
            grouping_of_group=groupings.grouping_of_group,
            annotator_of_grouping=groupings.annotator_of_grouping,
            n_annotators=groupings.n_annotators,
        )

    def of_items(self, places: Int[np.ndarray, " chosen"]) -> Memberships:
        """Return the memberships of the items at these places, in this order."""
        return replace(self, in_group=self.in_group[places], in_grouping=self.in_grouping[places])

    @property
    def n_items(self) -> int:
        """Number of items, including those without memberships."""
        return int(self.in_group.shape[0])

    @property
    def n_groups(self) -> int:
        """Number of groups, including empty ones."""
        return int(self.in_group.shape[1])

    @property
    def n_groupings(self) -> int:
        """Number of groupings, including empty ones."""
        return int(self.in_grouping.shape[1])

    @property
    def item(self) -> Int[np.ndarray, " rows"]:
        """Item of each membership."""
        return np.repeat(np.arange(self.n_items), np.diff(self.in_group.indptr))

    @property
    def group(self) -> Int[np.ndarray, " rows"]:
        """Group of each membership."""
        return self.in_group.indices

    @property
    def grouping(self) -> Int[np.ndarray, " rows"]:
        """Grouping of each membership."""
        return self.in_grouping.indices

    @property
    def group_sizes(self) -> Int[np.ndarray, " groups"]:
        """Number of items in each group."""
        return np.bincount(self.group, minlength=self.n_groups)

    @property
    def grouping_sizes(self) -> Int[np.ndarray, " groupings"]:
        """Number of items in each grouping."""
        return np.bincount(self.grouping, minlength=self.n_groupings)

    @property
    def times_seen(self) -> Int[np.ndarray, " items"]:
        """Number of groupings that contain each item."""
        return np.diff(self.in_group.indptr)


def together(memberships: Memberships, weights: Float[np.ndarray, " groupings"] | None = None) -> csr_array:
    """Sum of the weights of the groupings that put two items together; the diagonal is empty.

    weights : one for each grouping; by default 1.

    Returns csr_array, shape (n_items, n_items): symmetric, without entries for pairs that no grouping puts together.
    """
    by_group = None if weights is None else weights[memberships.grouping_of_group]
    return _without_diagonal(_gram(memberships.in_group, memberships.in_group, by_group))


def count_presented(memberships: Memberships, weights: Float[np.ndarray, " groupings"] | None = None) -> csr_array:
    """Sum of the weights of the groupings that contain both items; the diagonal is empty.

    Parameters and result as for `together`. The number of entries grows with the square of the size of each grouping.
    """
    return _without_diagonal(_gram(memberships.in_grouping, memberships.in_grouping, weights))


def shares_together(memberships: Memberships, weights: Float[np.ndarray, " groupings"] | None = None) -> csr_array:
    """Share of their joint presentations at which two items were put together.

    E_ij = Σ_h w_h C_h[i, j] / Σ_h w_h P_h[i, j]

    weights : one for each grouping; by default 1.

    Returns csr_array, shape (n_items, n_items): symmetric, with an empty diagonal and no entries where the share is 0.
    The denominators are formed in blocks of rows, so that pairs that are never together are not all in memory at once.
    """
    share = together(memberships, weights)
    share.sort_indices()  # for searchsorted below
    if weights is not None:
        share.eliminate_zeros()  # a pair that occurs only in groupings of weight 0 would be 0 / 0
    in_grouping = memberships.in_grouping
    for rows in _blocks(memberships):
        block = _gram(in_grouping[rows.start : rows.stop], in_grouping, weights)
        block.sort_indices()
        start, stop = share.indptr[rows.start], share.indptr[rows.stop]
        part = slice(start, stop)
        n_items = memberships.n_items
        row = np.repeat(np.arange(len(rows)), np.diff(share.indptr[rows.start : rows.stop + 1]))
        wanted = row * n_items + share.indices[part]
        held_row = np.repeat(np.arange(len(rows)), np.diff(block.indptr))
        held = held_row * n_items + block.indices
        # every pair that was put together was presented, so that it is found
        share.data[part] /= block.data[np.searchsorted(held, wanted)]
    return share


def parts(memberships: Memberships) -> Int[np.ndarray, " items"]:
    """Connected part of each item; no chain of shared groupings links items of different parts.

    Parts are numbered from 0 by decreasing size; items that are in no grouping have -1.
    """
    n_items = memberships.n_items
    part = link_items(memberships.item, memberships.grouping, n_items, memberships.n_groupings)
    part[memberships.times_seen == 0] = -1
    seen = part >= 0
    names, code, counts = np.unique(part[seen], return_inverse=True, return_counts=True)
    rank = np.empty(len(names), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(names))  # the inverse of the order
    out = np.full(n_items, -1)
    out[seen] = rank[code]
    return out


def link_items(
    item: Int[np.ndarray, " rows"], held_by: Int[np.ndarray, " rows"], n_items: int, n_sets: int
) -> Int[np.ndarray, " items"]:
    """Connected component of each item, linked by the groups or groupings that hold them, numbered by first items."""
    size = n_items + n_sets  # nodes of the graph: the sets come after the items
    graph = csr_array((np.ones(len(item), np.int8), (item, held_by + n_items)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][:n_items])


def _gram(left: csr_array, right: csr_array, weights: Float[np.ndarray, " columns"] | None) -> csr_array:
    if weights is not None:
        left = csr_array((left.data * weights[left.indices], left.indices, left.indptr), shape=left.shape)
    return csr_array(left @ right.T.tocsr())


def _without_diagonal(counts: csr_array) -> csr_array:
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    kept = row != counts.indices
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=counts.shape[0]))])
    return csr_array((counts.data[kept], counts.indices[kept], indptr), shape=counts.shape)


def _blocks(memberships: Memberships) -> Iterator[range]:
    """Yield ranges of rows whose presented pairs fit into memory together."""
    pairs = memberships.in_grouping @ memberships.grouping_sizes.astype(float)
    block = (np.cumsum(pairs) // PAIRS_AT_A_TIME).astype(np.int64)
    edges = np.concatenate([[0], np.flatnonzero(np.diff(block)) + 1, [len(pairs)]])
    return (range(start, stop) for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist()))
