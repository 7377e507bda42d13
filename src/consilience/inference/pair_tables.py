"""Joint tables of the labels of every two annotators, weighted by item; their information and its derivatives.

Only items that both annotators label count. A co-label is a pair of labels that two annotators give to one item; where
an annotator gives an item several labels, each makes a co-label with every label of the others. The table of a pair of
annotators is R × R for R labels; all tables form one array (pairs, labels, labels). For any weights w of the items it
is a Gram matrix, Xᵀ diag(w) X of the one-hot labels X: one dense product where many annotators label the same items,
otherwise a count over the co-labels, which are listed once. Parts of the items have the tables of the same pairs, so
that their sums are the tables of all items.

Decided here
------------
In memory the dense product is one in single precision, which is enough for counts; over partitions it is one in double
precision, because rounding would otherwise depend on the partitioning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array, triu

from consilience.annotations import Labels
from consilience.errors import InputError

Tables = Float[np.ndarray, "pairs labels labels"]
ItemWeights = Float[np.ndarray, " items"]
Precision = type[np.floating]

TINY = 1e-300  # instead of 0, whose logarithm is infinite
MOST_CELLS = 1 << 24  # of all tables; pairs that do not fit are left out, those with the fewest common items first
MOST_COLABELS = 1 << 27  # about ten gigabytes while they are listed
MOST_DENSE = 1 << 26  # entries of a dense one-hot matrix: half a gigabyte
# rough is enough: they choose between two ways to the same tables
DENSE_SPEED, LISTED_SPEED = 2e10, 2e8  # multiplications, and co-labels counted, per second


@dataclass(frozen=True)
class DensePairs:
    """Tables of pairs from the one-hot labels.

    onehot : (items, annotators * labels).
    first, second : annotators of each pair, first < second.
    """

    onehot: Float[np.ndarray, "items columns"]
    n_labels: int
    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]

    def of(self, weights: ItemWeights) -> Tables:
        """Σ_n w_n 1[first gives r, second gives s], for every pair of annotators."""
        if (weights >= 0).all():
            scaled = self.onehot * np.sqrt(weights, dtype=self.onehot.dtype)[:, None]
            gram = scaled.T @ scaled  # BLAS does half the work for a product of an array with itself
        else:
            gram = (self.onehot * weights.astype(self.onehot.dtype)[:, None]).T @ self.onehot
        n_annotators = self.onehot.shape[1] // self.n_labels
        blocks = gram.reshape(n_annotators, self.n_labels, n_annotators, self.n_labels)
        return blocks[self.first, :, self.second].astype(float, copy=False)

    def per_item(self, values: Tables) -> ItemWeights:
        """For every item, the sum of `values` over the cells of its co-labels."""
        n_annotators = self.onehot.shape[1] // self.n_labels
        blocks = np.zeros((n_annotators, self.n_labels, n_annotators, self.n_labels))
        blocks[self.first, :, self.second] = values
        return np.einsum("nc,nc->n", self.onehot @ blocks.reshape(self.onehot.shape[1], -1), self.onehot)


@dataclass(frozen=True)
class ListedPairs:
    """Tables of pairs from the list of co-labels.

    item : of each co-label.
    cell : of each co-label, in the flattened tables.
    first, second : annotators of each pair, first < second.
    """

    item: Int[np.ndarray, " colabels"]
    cell: Int[np.ndarray, " colabels"]
    n_items: int
    n_labels: int
    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]

    def of(self, weights: ItemWeights) -> Tables:
        """See `DensePairs.of`."""
        counts = np.bincount(self.cell, weights[self.item], len(self.first) * self.n_labels**2)
        counts = counts.astype(float, copy=False)  # without co-labels, bincount returns integers
        return counts.reshape(-1, self.n_labels, self.n_labels)

    def per_item(self, values: Tables) -> ItemWeights:
        """See `DensePairs.per_item`."""
        return np.bincount(self.item, values.ravel()[self.cell], self.n_items).astype(float, copy=False)


PairTables = DensePairs | ListedPairs


@dataclass(frozen=True)
class AnnotatorPairs:
    """Pairs of annotators, first < second, sorted."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]


def common_items(labels: Labels) -> csr_array:
    """Number of items that both of two annotators label; 0 but for the first before the second. A sum over items."""
    cells = labels.item * labels.n_annotators + labels.annotator
    cells = cells[np.diff(cells, prepend=-1) > 0]  # they are sorted
    shape = (len(labels), labels.n_annotators)
    given = csr_array((np.ones(len(cells)), np.divmod(cells, labels.n_annotators)), shape=shape)
    if 2 * len(cells) > np.prod(shape) and np.prod(shape) <= MOST_DENSE:  # a dense product is many times faster
        given = given.toarray()
    return csr_array(triu(given.T @ given, 1)).astype(int)


def kept_pairs(common: csr_array, least_common: int, n_labels: int) -> AnnotatorPairs:
    """Pairs of annotators with enough common items; if too many, those with the most, and the first among equals."""
    ordered = common.sorted_indices().tocoo()
    first, second = ordered.coords
    kept = _keep_pairs(ordered.data, least_common, n_labels)
    return AnnotatorPairs(first[kept].astype(int), second[kept].astype(int))


def tables_of_pairs(labels: Labels, pairs: AnnotatorPairs, precision: Precision) -> PairTables:
    """Tables of given pairs, from a list of co-labels or from dense one-hot labels, whichever is faster.

    Labels are sorted by item, then by annotator, without duplicates. Raises InputError: the items have too many
    co-labels to list.
    """
    return dense_pairs(labels, pairs, precision) if is_dense(labels, precision) else listed_pairs(labels, pairs)


def is_dense(labels: Labels, precision: Precision) -> bool:
    """Whether a dense product is faster than counting co-labels, and fits in memory."""
    entries = np.dtype(precision).itemsize // 4 * len(labels) * labels.n_annotators * labels.n_classes
    seconds = entries * labels.n_annotators * labels.n_classes / DENSE_SPEED
    return entries <= MOST_DENSE and seconds < _n_colabels(labels) / LISTED_SPEED


def dense_pairs(labels: Labels, pairs: AnnotatorPairs, precision: Precision) -> DensePairs:
    """Tables of given pairs from dense one-hot labels."""
    onehot = np.zeros((len(labels), labels.n_annotators * labels.n_classes), dtype=precision)
    onehot[labels.item, labels.annotator * labels.n_classes + labels.label] = 1.0
    return DensePairs(onehot, labels.n_classes, pairs.first, pairs.second)


def listed_pairs(labels: Labels, pairs: AnnotatorPairs) -> ListedPairs:
    """Tables of given pairs from a list of co-labels."""
    n_colabels = _n_colabels(labels)
    if n_colabels > MOST_COLABELS:
        raise InputError(
            f"The items have {n_colabels} pairs of labels; at most {MOST_COLABELS} can be listed. Fit to some of the "
            "items and predict the others; over partitions, give smaller ones."
        )
    row = np.arange(labels.n_rows)
    n_after = labels.indptr[1:][labels.item] - row - 1  # later labels of the same item
    one = np.repeat(row, n_after)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    codes = pairs.first * labels.n_annotators + pairs.second
    code = labels.annotator[one] * labels.n_annotators + labels.annotator[other]
    place = np.searchsorted(codes, code)
    rows = np.append(codes, -1)[place] == code
    one, other, n_labels = one[rows], other[rows], labels.n_classes
    cell = (place[rows] * n_labels + labels.label[one]) * n_labels + labels.label[other]
    return ListedPairs(labels.item[one], cell, len(labels), n_labels, pairs.first, pairs.second)


def _n_colabels(labels: Labels) -> int:
    per_item = np.diff(labels.indptr)
    return int((per_item * (per_item - 1) // 2).sum())


def _keep_pairs(common: np.ndarray, least_common: int, n_labels: int) -> np.ndarray:
    """Mask of the pairs with enough common items; if too many, those with the most, and the first among equals."""
    kept = common >= max(least_common, 1)
    room = MOST_CELLS // n_labels**2
    if kept.sum() > room:
        kept[np.argsort(-common, kind="stable")[room:]] = False
    return kept


def mutual_information(tables: Tables) -> tuple[Float[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """Mutual information of the two labels, nats, and total weight of each table; 0 where that is 0."""
    rows, columns = _sums(tables), np.einsum("prs->ps", tables)
    total = _sums(rows)
    log_odds = _sums(_sums(_x_log_x(tables))) - _sums(_x_log_x(rows)) - _sums(_x_log_x(columns)) + _x_log_x(total)
    # below 0 by rounding alone
    return np.divide(np.maximum(log_odds, 0.0), total, out=np.zeros_like(total), where=total > 0), total


def _sums(x: np.ndarray) -> np.ndarray:
    """Sums over the last axis: if it is short, one product is many times faster than `sum`."""
    return (x.reshape(-1, x.shape[-1]) @ np.ones(x.shape[-1])).reshape(x.shape[:-1])


def _x_log_x(x: np.ndarray) -> np.ndarray:
    """x ln x, 0 at 0; several times faster than SciPy's xlogy."""
    return x * np.log(np.maximum(x, TINY))


def log_ratio(tables: Tables) -> Tables:
    """ln P(r, s) / (P(r) P(s)), the derivative of weight × information with respect to a cell; 0 in empty cells."""
    expected = tables.sum(2)[:, :, None] * tables.sum(1)[:, None, :]
    total = tables.sum((1, 2))[:, None, None]
    ratio = np.divide(tables * total, expected, out=np.ones_like(tables), where=tables > 0)
    return np.log(np.maximum(ratio, TINY))


def curvature(tables: Tables, directions: Float[np.ndarray, "directions pairs labels labels"]) -> np.ndarray:
    """Second derivatives of Σ weight × information along every pair of directions of the tables."""

    def form(inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
        flat = inner.reshape(len(inner), -1)
        scaled = np.divide(flat, outer.ravel(), out=np.zeros_like(flat), where=outer.ravel() > 0)
        return scaled @ flat.T

    of_cells = form(directions, tables)
    of_rows = form(directions.sum(3), tables.sum(2))
    of_columns = form(directions.sum(2), tables.sum(1))
    return of_cells - of_rows - of_columns + form(directions.sum((2, 3)), tables.sum((1, 2)))
