"""Agreement of annotators: the adjusted Rand index of each pair, and an order that puts those who agree side by side.

The index of two partitions compares the number of pairs of items that both put together, S, with the number expected
for random partitions with groups of the same sizes, E = A B / T, on a scale where the maximum is 1. With A and B the
numbers of pairs that each puts together, and T all pairs of the items that both partition,

    ARI = (S - E) / ((A + B) / 2 - E).

Everything comes from one matrix, the counts G = LᵀL of items that two groups have in common (L: the incidence).

Decided here
------------
For annotators with several groupings, S, E and (A + B) / 2 are summed over the pairs of groupings that share items, so
that chance is corrected for within each such pair. Otherwise two annotators who each gave a grouping of few large
groups and one of many small ones would seem to agree. If only the same trivial partition is possible (all items
together, or each alone, by both), the index is 1, as in scikit-learn.

References
----------
Hubert & Arabie (1985). Comparing partitions. Journal of Classification 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from consilience.annotations.fit_arguments import as_groupings
from consilience.errors import InputError

__all__ = ["annotator_agreement", "mean_agreement", "order_by_agreement"]

CHUNK_ENTRIES = 1 << 23  # counts of common items held in memory at a time
TABLE_ENTRIES = 1 << 20  # of dense counts, which are written several times: larger ones leave the cache
TABLE_OF_PAIRS = (
    1 << 24
)  # groupings × pairs of items, in single precision: 64 MB, four to five times as many while it is made
MOST_OPTIMAL = 1000  # annotators up to which the optimal order of the tree's leaves is computed

Counts = Any  # a sparse array in rows or in columns, or an array


def annotator_agreement(groupings: Any) -> pd.DataFrame:
    """Return the adjusted Rand index of each pair of annotators over the items that both grouped.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        An annotator who gave several groupings is compared grouping by grouping, and the counts of pairs are pooled.

    Returns
    -------
    DataFrame, shape (n_annotators, n_annotators)
        Symmetric: 1 for the same groups, 0 for agreement by chance, below 0 for less. NaN if two annotators have fewer
        than 2 items in common; the diagonal is 1, or NaN for annotators who grouped fewer than 2 items.

    Raises
    ------
    InputError
        The annotations are Pairs, or an array of another shape.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import annotator_agreement
    >>> groupings = Groupings.from_matrix(
    ...     [["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]], annotators=["Ann", "Bo", "Cy"]
    ... )
    >>> annotator_agreement(groupings).to_numpy()
    array([[ 1. ,  1. , -0.5],
           [ 1. ,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    groupings = as_groupings(groupings, None, "annotator_agreement")
    index = adjusted_rand(
        groupings.incidence, groupings.grouping_of_group, groupings.annotator_of_grouping, groupings.n_annotators
    )
    sizes = np.bincount(groupings.grouping_of_group, groupings.incidence.sum(0), groupings.n_groupings)
    largest = np.zeros(groupings.n_annotators)
    np.maximum.at(largest, groupings.annotator_of_grouping, sizes)
    np.fill_diagonal(index, np.where(largest > 1, 1.0, np.nan))
    names = groupings.annotators.rename("annotator")
    return pd.DataFrame(index, index=names, columns=names, copy=False)


def mean_agreement(groupings: Any) -> float:
    """Return the adjusted Rand index of two different annotators, pooled over all pairs of annotators.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)

    Returns
    -------
    float
        The excess of pairs of items that both put together, as a share of the largest possible, both summed over the
        pairs of annotators: those with many items in common count more. NaN if no two annotators have two items in
        common.

    Raises
    ------
    InputError
        The annotations are Pairs, or an array of another shape.

    Examples
    --------
    >>> from consilience.metrics import mean_agreement
    >>> round(mean_agreement([["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]]), 3)
    0.0
    """
    groupings = as_groupings(groupings, None, "mean_agreement")
    number = np.arange(groupings.n_annotators)
    excess = most = pairs = 0.0
    for some, found in _excess(
        groupings.incidence, groupings.grouping_of_group, groupings.annotator_of_grouping, groupings.n_annotators
    ):
        others = number[some, None] != number
        more = [float(counts[others].sum()) for counts in found]
        excess, most, pairs = excess + more[0], most + more[1], pairs + more[2]
    if not pairs:
        return np.nan
    # 0 but for rounding: no agreement beyond chance is possible
    return excess / most if most > 1e-12 * pairs else 1.0


def order_by_agreement(matrix: Any) -> Int[np.ndarray, " annotators"]:
    """Return an order in which annotators who agree are side by side.

    Average linkage of 1 - agreement, with the leaves ordered so that neighbours agree as far as possible (for more than
    1000 annotators in the order of the tree, since the optimum takes too long). An unknown agreement (NaN) is replaced
    by the mean of the known ones.

    Parameters
    ----------
    matrix : DataFrame or array, shape (n_annotators, n_annotators)
        Symmetric, as returned by `annotator_agreement`. The diagonal is ignored.

    Returns
    -------
    ndarray of int, shape (n_annotators,)
        Positions in the matrix, as for ``matrix.iloc[order, order]``.

    Raises
    ------
    InputError
        The matrix is not square or not symmetric.

    References
    ----------
    Bar-Joseph, Gifford & Jaakkola (2001). Fast optimal leaf ordering for hierarchical clustering. Bioinformatics 17.

    Examples
    --------
    >>> from consilience.inspection import order_by_agreement
    >>> order = order_by_agreement([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]])
    >>> order.tolist() in ([1, 2, 0], [0, 2, 1])
    True
    """
    agreement = np.array(matrix, dtype=float)
    if agreement.ndim != 2 or agreement.shape[0] != agreement.shape[1]:
        raise InputError(f"Agreement must be a square matrix, annotators by annotators. Got shape {agreement.shape}.")
    np.fill_diagonal(agreement, 1.0)
    if not np.allclose(agreement, agreement.T, equal_nan=True):
        row, column = np.argwhere(~np.isclose(agreement, agreement.T, equal_nan=True))[0]
        raise InputError(
            f"Agreement must be symmetric, but row {row}, column {column} is {agreement[row, column]:g} and row "
            f"{column}, column {row} is {agreement[column, row]:g}."
        )
    n = len(agreement)
    if n < 3:
        return np.arange(n)
    distance = squareform(np.clip(1 - agreement, 0, None), checks=False)
    known = np.isfinite(distance)
    distance[~known] = distance[known].mean() if known.any() else 1.0
    tree = linkage(distance, "average")
    return leaves_list(tree if n > MOST_OPTIMAL else optimal_leaf_ordering(tree, distance)).astype(int)


def adjusted_rand(
    incidence: csr_array,
    grouping_of_group: Int[np.ndarray, " groups"],
    owner_of_grouping: Int[np.ndarray, " groupings"],
    n_owners: int,
) -> Float[np.ndarray, "owners owners"]:
    """Return the adjusted Rand index of each pair of owners of groupings.

    incidence : shape (n_items, n_groups); which item is in which group; √w if an item counts w times.
    grouping_of_group : nondecreasing.
    owner_of_grouping : annotator of each grouping, or the grouping itself.

    Returns ndarray, shape (n_owners, n_owners): NaN without a pair of common items. The diagonal compares an owner's
    groupings with each other, and each with itself.
    """
    index = np.empty((n_owners, n_owners))
    for some, (excess, possible, pairs) in _excess(incidence, grouping_of_group, owner_of_grouping, n_owners):
        trivial = possible <= 1e-12 * pairs  # 0 but for rounding
        index[some] = np.divide(excess, possible, out=np.ones_like(excess), where=~trivial)
        index[some][pairs == 0] = np.nan
    return index


def _excess(
    incidence: csr_array,
    grouping_of_group: Int[np.ndarray, " groups"],
    owner_of_grouping: Int[np.ndarray, " groupings"],
    n_owners: int,
) -> Iterator[tuple[slice, list[Float[np.ndarray, "some owners"]]]]:
    """Yield S - E, (A + B) / 2 - E and T of some owners with every owner, summed over their pairs of groupings."""
    n_groupings = len(owner_of_grouping)
    order = np.argsort(owner_of_grouping, kind="stable")
    begins = np.searchsorted(owner_of_grouping[order], np.arange(n_owners + 1))
    member, owned = _indicator(grouping_of_group, n_groupings), _indicator(owner_of_grouping, n_owners)
    has_one_each = np.array_equal(owner_of_grouping, np.arange(n_owners))
    presented = incidence @ member
    if _has_few_pairs(incidence, presented):
        table = _table_of_pairs(incidence, grouping_of_group, n_groupings)
        rows, entries = np.bincount(owner_of_grouping, minlength=n_owners), TABLE_ENTRIES
    else:
        table = None
        rows, entries = np.bincount(owner_of_grouping[grouping_of_group], minlength=n_owners), CHUNK_ENTRIES
    for owners in _chunks(rows, entries):
        some = order[begins[owners.start] : begins[owners.stop]]
        observed, either, total = (
            _pair_counts(incidence, presented, member, some) if table is None else _counts_of_table(*table, some)
        )
        expected = either[0] * either[1] * _inverse(total)
        mean = (either[0] + either[1]) / 2
        found = [observed - expected, mean - expected, total]
        if not has_one_each:
            mine = csr_array(owned[some][:, owners].T)
            found = [mine @ counts @ owned for counts in found]
        yield owners, [counts if isinstance(counts, np.ndarray) else counts.toarray() for counts in found]


def _has_few_pairs(incidence: csr_array, presented: csr_array) -> bool:
    """Whether most groups have items in common with most others, and all pairs of items are few enough for a table."""
    groups_of_item = np.diff(incidence.indptr).astype(float)
    n_items, n_groups = incidence.shape
    is_small = n_items * (n_items - 1) // 2 * presented.shape[1] <= TABLE_OF_PAIRS
    is_plain = bool((presented.data == 1).all())  # no item counts several times
    return is_small and is_plain and bool((groups_of_item**2).sum() >= float(n_groups) ** 2)


def _table_of_pairs(
    incidence: csr_array, grouping_of_group: Int[np.ndarray, " groups"], n_groupings: int
) -> tuple[Float[np.ndarray, "pairs groupings"], Float[np.ndarray, "pairs groupings"] | None]:
    """Return which pairs of items each grouping puts together, and which it holds, None if all; sums are exact."""
    n_items = incidence.shape[0]
    group = np.full((n_items, n_groupings), -1, dtype=np.int32)
    item = np.repeat(np.arange(n_items), np.diff(incidence.indptr))
    group[item, grouping_of_group[incidence.indices]] = incidence.indices
    one, other = (group[items] for items in np.triu_indices(n_items, 1))
    held = (one >= 0) & (other >= 0)
    joined = ((one == other) & held).astype(np.float32)
    return joined, None if held.all() else held.astype(np.float32)


def _counts_of_table(
    joined: Float[np.ndarray, "pairs groupings"],
    held: Float[np.ndarray, "pairs groupings"] | None,
    some: Int[np.ndarray, " some"],
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return S, (A, B) and T of some groupings with every grouping, (some, groupings) each."""
    mine = joined[:, some].T
    observed = (mine @ joined).astype(float)
    if held is None:
        own, others = mine.sum(1, dtype=float)[:, None], joined.sum(0, dtype=float)
        return observed, (own, others), np.full(observed.shape, float(len(joined)))
    both = held[:, some].T
    return observed, ((mine @ held).astype(float), (both @ joined).astype(float)), (both @ held).astype(float)


def _pair_counts(
    held: csr_array, presented: csr_array, member: csr_array, some: Int[np.ndarray, " some"]
) -> tuple[Counts, tuple[Counts, Counts], Counts]:
    """Return S, (A, B) and T of some groupings with every grouping, (some, groupings) each."""
    mine = csr_array(member[:, some].T)
    groups = mine.indices
    mine = mine[:, groups]
    in_groups, in_groupings = held[:, groups].T, presented[:, some].T
    observed = mine @ _pairs_of(in_groups @ held) @ member  # of rows of the Gram matrix
    split, pooled = _pairs_of(in_groups @ presented), _pairs_of(in_groupings @ held)
    return observed, (mine @ split, pooled @ member), _pairs_of(in_groupings @ presented)


def _pairs_of(counts: Counts) -> csr_array:
    """Return the numbers of pairs among n items, n (n - 1) / 2."""
    pairs = csr_array(counts)
    numbers = np.round(pairs.data)
    pairs.data = numbers * (numbers - 1) / 2
    pairs.eliminate_zeros()
    return pairs


def _inverse(counts: Counts) -> Counts:
    if isinstance(counts, np.ndarray):
        return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)
    return csr_array((1 / counts.data, counts.indices, counts.indptr), shape=counts.shape)


def _indicator(part: Int[np.ndarray, " members"], n_parts: int) -> csr_array:
    n = len(part)
    return csr_array((np.ones(n), part, np.arange(n + 1)), shape=(n, n_parts))


def _chunks(rows: Int[np.ndarray, " owners"], entries: int) -> Iterator[slice]:
    """Return slices of owners whose rows of the Gram matrix have at most about so many entries."""
    ends = np.cumsum(rows)
    chunk = ends * ends[-1:] // entries
    cuts = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(ends)]
    return (slice(start, stop) for start, stop in pairwise(cuts))
