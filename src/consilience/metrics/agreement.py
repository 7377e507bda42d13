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
TABLE_ENTRIES = 1 << 20  # of a dense table of them, which is written several times: larger ones leave the cache
MOST_OPTIMAL = 1000  # annotators up to which the optimal order of the tree's leaves is computed

Counts = Any  # csr_array, or an array where most numbers are not 0


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
    return pd.DataFrame(index, index=names, columns=names)


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
    excess, possible, pairs = _excess(
        groupings.incidence, groupings.grouping_of_group, groupings.annotator_of_grouping, groupings.n_annotators
    )
    others = ~np.eye(groupings.n_annotators, dtype=bool)
    if not pairs[others].any():
        return np.nan
    most = float(possible[others].sum())
    # 0 but for rounding: no agreement beyond chance is possible
    return float(excess[others].sum()) / most if most > 1e-12 * pairs[others].sum() else 1.0


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

    Parameters
    ----------
    incidence : shape (n_items, n_groups)
        Which item is in which group; √w if an item counts w times.
    grouping_of_group : nondecreasing.
    owner_of_grouping : annotator of each grouping, or the grouping itself.
    n_owners : int

    Returns
    -------
    ndarray, shape (n_owners, n_owners)
        NaN without a pair of common items. The diagonal compares an owner's groupings with each other, and each with
        itself.
    """
    excess, possible, pairs = _excess(incidence, grouping_of_group, owner_of_grouping, n_owners)
    trivial = possible <= 1e-12 * pairs  # 0 but for rounding
    index = np.divide(excess, possible, out=np.ones_like(excess), where=~trivial)
    index[pairs == 0] = np.nan
    return index


def _excess(
    incidence: csr_array,
    grouping_of_group: Int[np.ndarray, " groups"],
    owner_of_grouping: Int[np.ndarray, " groupings"],
    n_owners: int,
) -> tuple[Float[np.ndarray, "owners owners"], ...]:
    """Return S - E, (A + B) / 2 - E and T of each pair of owners, summed over their pairs of groupings."""
    n_groupings = len(owner_of_grouping)
    member = _indicator(grouping_of_group, n_groupings)
    owned = _indicator(owner_of_grouping, n_owners)
    excess, possible, pairs = (np.zeros((n_owners, n_owners)) for _ in range(3))
    held: Counts = incidence.toarray() if _has_dense_products(incidence) else incidence
    presented = held @ member
    entries = CHUNK_ENTRIES if held is incidence else TABLE_ENTRIES
    for some in _chunks(np.bincount(grouping_of_group, minlength=n_groupings), entries):
        observed, either, total = _pair_counts(held, presented, member, some)
        expected = either[0] * either[1] * _inverse(total)
        mean = (either[0] + either[1]) / 2
        for sums, counts in ((excess, observed - expected), (possible, mean - expected), (pairs, total)):
            np.add.at(sums, owner_of_grouping[some], _as_array(counts @ owned))
    return excess, possible, pairs


def _as_array(counts: Counts) -> np.ndarray:
    return counts if isinstance(counts, np.ndarray) else counts.toarray()


def _has_dense_products(incidence: csr_array) -> bool:
    """Whether most groups have items in common with most others, so that a table of all is smaller and quicker."""
    groups_of_item = np.diff(incidence.indptr).astype(float)
    n_items, n_groups = incidence.shape
    return bool(n_items * n_groups <= CHUNK_ENTRIES and (groups_of_item**2).sum() >= float(n_groups) ** 2)


def _pair_counts(
    held: Counts, presented: Counts, member: csr_array, some: slice
) -> tuple[Counts, tuple[Counts, Counts], Counts]:
    """Return S, (A, B) and T of some groupings with every grouping, (some, groupings) each."""
    mine = csr_array(member[:, some].T)
    groups = mine.indices
    mine = mine[:, groups]
    in_groups, in_groupings = held[:, groups].T, presented[:, some].T
    observed = mine @ _pairs_of(in_groups @ held) @ member  # of rows of the Gram matrix
    split, pooled = _pairs_of(in_groups @ presented), _pairs_of(in_groupings @ held)
    return observed, (mine @ split, pooled @ member), _pairs_of(in_groupings @ presented)


def _pairs_of(counts: Counts) -> Counts:
    """Return the numbers of pairs among n items, n (n - 1) / 2."""
    is_array = isinstance(counts, np.ndarray)
    pairs = counts if is_array else csr_array(counts)
    numbers = np.round(counts if is_array else pairs.data)
    others = numbers - 1
    others *= numbers
    others /= 2
    if is_array:
        return others
    pairs.data = others
    pairs.eliminate_zeros()
    return pairs


def _inverse(counts: Counts) -> Counts:
    if isinstance(counts, np.ndarray):
        return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)
    return csr_array((1 / counts.data, counts.indices, counts.indptr), shape=counts.shape)


def _indicator(part: Int[np.ndarray, " members"], n_parts: int) -> csr_array:
    n = len(part)
    return csr_array((np.ones(n), part, np.arange(n + 1)), shape=(n, n_parts))


def _chunks(groups_per_grouping: Int[np.ndarray, " groupings"], entries: int) -> Iterator[slice]:
    """Return slices of groupings whose rows of the Gram matrix have at most about so many entries."""
    ends = np.cumsum(groups_per_grouping)
    chunk = ends * ends[-1:] // entries
    cuts = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(ends)]
    return (slice(start, stop) for start, stop in pairwise(cuts))
