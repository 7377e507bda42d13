"""How often pairs of items, and the items of pairs of clusters, were judged and put together: by all, or by one person.

Groupings imply the judgements of all their pairs, which are counted without listing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num
from scipy.sparse import csr_array

from consilience.annotations.groupings import Groupings
from consilience.annotations.pairs import Pairs

CHUNK = 20_000  # pairs at a time

Codes = Int[np.ndarray, " wanted"]


@dataclass(frozen=True)
class JudgementCounts:
    """Numbers of judgements, and of those that put both items together."""

    judged: Float[np.ndarray, " wanted"]
    together: Float[np.ndarray, " wanted"]

    def __sub__(self, others: JudgementCounts) -> JudgementCounts:
        return JudgementCounts(self.judged - others.judged, self.together - others.together)

    def of(self, places: Codes) -> JudgementCounts:
        """Return some of the counts, in this order."""
        return JudgementCounts(self.judged[places], self.together[places])

    def total(self) -> JudgementCounts:
        """Return the sums, as arrays of one number."""
        return JudgementCounts(self.judged.sum(keepdims=True), self.together.sum(keepdims=True))


def counts_of_pairs(
    annotations: Groupings | Pairs, a: Codes, b: Codes, annotator: Codes | None = None
) -> JudgementCounts:
    """Count the judgements of pairs of items.

    a, b : int arrays, shape (n_wanted,); positions of the items of each pair.
    annotator : int array, shape (n_wanted,), optional; the annotator whose judgements count, for each pair; by default
        those of all do.

    An item and itself count 0.
    """
    if isinstance(annotations, Pairs):
        return _of_rows(annotations, np.arange(annotations.n_items), annotations.n_items, a, b, annotator)
    groups, of_group = annotations.incidence, annotations.grouping_of_group
    by, groupings = annotations.annotator_of_grouping, (annotations.n_items, annotations.n_groupings)
    seen = csr_array((groups.data, of_group[groups.indices], groups.indptr), shape=groupings)
    found = np.zeros((2, len(a)))
    for some in _chunks(len(a)):
        own = None if annotator is None else annotator[some]
        for place, (table, by_column) in enumerate([(seen, by), (groups, by[of_group])]):
            found[place, some] = _in_common(table, a[some], b[some], by_column, own)
    return JudgementCounts(*np.where(a == b, 0.0, found))


def counts_of_clusters(
    annotations: Groupings | Pairs,
    cluster: Int[np.ndarray, " items"],
    one: Codes,
    other: Codes,
    annotator: Codes | None = None,
) -> JudgementCounts:
    """Count the judgements of one item of a cluster and another of a cluster, which may be the same.

    cluster : int array, shape (n_items,)
    one, other : the two clusters.
    annotator : as in `counts_of_pairs`.
    """
    n_clusters = int(max(codes.max(initial=0) for codes in (cluster, one, other))) + 1
    if isinstance(annotations, Pairs):
        return _of_rows(annotations, cluster, n_clusters, one, other, annotator)
    group = annotations.incidence.indices
    grouping = annotations.grouping_of_group[group]
    row = cluster[annotations.item_of_row]
    if annotator is not None:  # a row for each annotator and cluster
        row = annotations.annotator_of_grouping[grouping] * n_clusters + row
        one, other = annotator * n_clusters + one, annotator * n_clusters + other
    found = []
    for column, n_columns in ((grouping, annotations.n_groupings), (group, annotations.n_groups)):
        n_rows = n_clusters * (1 if annotator is None else annotations.n_annotators)
        table = csr_array((np.ones(len(row)), (row, column)), shape=(n_rows, n_columns))
        table.sum_duplicates()
        pairs = np.concatenate([_in_common(table, one[some], other[some]) for some in _chunks(len(one))])
        own = np.asarray(table.sum(axis=1))[one]
        found.append(np.where(one == other, (pairs - own) / 2, pairs))
    return JudgementCounts(*found)


def counts_of_annotators(annotations: Groupings | Pairs, cluster: Int[np.ndarray, " items"]) -> JudgementCounts:
    """Count the judgements of each annotator of two items of one cluster.

    cluster : int array, shape (n_items,)

    Returns
    -------
    Counts
        Of shape (n_annotators,).
    """
    if isinstance(annotations, Pairs):
        within = cluster[annotations.item_a] == cluster[annotations.item_b]
        weights = (within.astype(float), (within & annotations.same).astype(float))
        return JudgementCounts(
            *(np.bincount(annotations.annotator, weight, annotations.n_annotators) for weight in weights)
        )
    group = annotations.incidence.indices
    grouping = annotations.grouping_of_group[group]
    own, n_clusters = cluster[annotations.item_of_row], int(cluster.max(initial=0)) + 1
    found = []
    for column, of_column in ((grouping, slice(None)), (group, annotations.grouping_of_group)):
        distinct, sizes = np.unique(column * n_clusters + own, return_counts=True)
        by = annotations.annotator_of_grouping[of_column][distinct // n_clusters]
        found.append(np.bincount(by, sizes * (sizes - 1) / 2, annotations.n_annotators))
    return JudgementCounts(*found)


def _of_rows(
    pairs: Pairs, code: Int[np.ndarray, " items"], n_codes: int, one: Codes, other: Codes, annotator: Codes | None
) -> JudgementCounts:
    """Count the rows whose items have two codes."""
    a, b = code[pairs.item_a], code[pairs.item_b]
    key = np.minimum(a, b) * n_codes + np.maximum(a, b)
    wanted = np.minimum(one, other) * n_codes + np.maximum(one, other)
    if annotator is not None:
        key, wanted = key * pairs.n_annotators + pairs.annotator, wanted * pairs.n_annotators + annotator
    order = np.argsort(key, kind="stable")
    key = key[order]
    first, last = np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right")
    together = np.append(0, np.cumsum(pairs.same[order]))  # judgements of "same" before each row
    return JudgementCounts((last - first).astype(float), (together[last] - together[first]).astype(float))


def _in_common(
    table: csr_array,
    row: Codes,
    other_row: Codes,
    by_column: Int[np.ndarray, " columns"] | None = None,
    annotator: Codes | None = None,
) -> Num[np.ndarray, " wanted"]:
    """Return the products of rows of a table, over all columns or those of an annotator."""
    product = (table[row] * table[other_row]).tocoo()
    place, column = product.coords
    if by_column is None or annotator is None:
        return np.bincount(place, product.data, len(row))
    return np.bincount(place, product.data * (by_column[column] == annotator[place]), len(row))


def _chunks(size: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, max(size, 1), CHUNK))
