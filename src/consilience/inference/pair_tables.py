"""Joint tables of the labels of every two annotators, weighted by item; their information and its derivatives.

Only items that both annotators label count. A co-label is a pair of labels that two annotators give to one item; where
an annotator gives an item several labels, each makes a co-label with every label of the others. The table of a pair of
annotators is R × R for R labels; all tables form one array (pairs, labels, labels). For any weights w of the items it
is a Gram matrix, Xᵀ diag(w) X of the one-hot labels X: one dense product where many annotators label the same items,
otherwise a count over the co-labels, which are listed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int

from consilience.errors import InputError

Tables = Float[np.ndarray, "pairs labels labels"]
ItemWeights = Float[np.ndarray, " items"]

TINY = 1e-300  # instead of 0, whose logarithm is infinite
MOST_CELLS = 1 << 24  # of all tables; pairs that do not fit are left out, those with the fewest common items first
MOST_COLABELS = 1 << 27  # about ten gigabytes while they are listed
MOST_DENSE = 1 << 26  # entries of a dense one-hot matrix: half a gigabyte
# rough is enough: they choose between two ways to the same tables
DENSE_SPEED, LISTED_SPEED = 2e10, 2e8  # multiplications, and co-labels counted, per second


@dataclass(frozen=True)
class DensePairs:
    """Tables of pairs from the one-hot labels; single precision is enough for counts.

    onehot : (items, annotators * labels).
    first, second : annotators of each pair, first < second.
    """

    onehot: Float32[np.ndarray, "items columns"]
    n_labels: int
    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]

    def of(self, weights: ItemWeights) -> Tables:
        """Σ_n w_n 1[first gives r, second gives s], for every pair of annotators."""
        if (weights >= 0).all():
            scaled = self.onehot * np.sqrt(weights, dtype=np.float32)[:, None]
            gram = scaled.T @ scaled  # BLAS does half the work for a product of an array with itself
        else:  # negative weights have no roots
            gram = (self.onehot * weights.astype(np.float32)[:, None]).T @ self.onehot
        n_annotators = self.onehot.shape[1] // self.n_labels
        blocks = gram.reshape(n_annotators, self.n_labels, n_annotators, self.n_labels)
        return blocks[self.first, :, self.second].astype(float)

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


def pair_tables(
    item: Int[np.ndarray, " labels"],
    annotator: Int[np.ndarray, " labels"],
    label: Int[np.ndarray, " labels"],
    shape: tuple[int, int, int],
    least_common: int,
) -> PairTables:
    """Tables of all pairs of annotators who label at least `least_common` items in common.

    Parameters
    ----------
    item, annotator, label : codes of each label given, sorted by item, then by annotator, without duplicates.
    shape : (items, annotators, labels).
    least_common : int

    Raises
    ------
    InputError
        The items have too many co-labels to list.
    """
    n_items, n_annotators, n_labels = shape
    per_item = np.bincount(item, minlength=n_items)
    n_colabels = int((per_item * (per_item - 1) // 2).sum())
    columns = n_annotators * n_labels
    dense_seconds = n_items * columns**2 / DENSE_SPEED
    if n_items * columns <= MOST_DENSE and dense_seconds < n_colabels / LISTED_SPEED:
        onehot = np.zeros((n_items, columns), dtype=np.float32)
        onehot[item, annotator * n_labels + label] = 1.0
        given = np.zeros((n_items, n_annotators))
        given[item, annotator] = 1.0
        first, second = np.triu_indices(n_annotators, 1)
        kept = _kept((given.T @ given)[first, second], least_common, n_labels)
        return DensePairs(onehot, n_labels, first[kept], second[kept])
    if n_colabels > MOST_COLABELS:
        raise InputError(
            f"The items have {n_colabels} pairs of labels; at most {MOST_COLABELS} can be listed. Fit to some "
            "of the items and predict the others."
        )
    return _listed(item, annotator, label, per_item, shape, least_common)


def _listed(
    item: np.ndarray,
    annotator: np.ndarray,
    label: np.ndarray,
    per_item: np.ndarray,
    shape: tuple[int, int, int],
    least_common: int,
) -> ListedPairs:
    n_items, n_annotators, n_labels = shape
    ends = np.cumsum(per_item)[item]
    n_after = ends - np.arange(len(item)) - 1  # later labels of the same item
    one = np.repeat(np.arange(len(item)), n_after)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    first = np.diff(item * n_annotators + annotator, prepend=-1) != 0  # the annotator's first label of the item
    if not first.all():
        by_two = annotator[one] != annotator[other]
        one, other = one[by_two], other[by_two]
    pair, number, common = np.unique(
        annotator[one] * n_annotators + annotator[other], return_inverse=True, return_counts=True
    )
    if not first.all():
        # items in common, however many labels of one item an annotator gives
        common = np.bincount(number[first[one] & first[other]], minlength=len(pair))
    kept = _kept(common, least_common, n_labels)
    place = np.cumsum(kept) - 1
    rows = kept[number]
    cell = (place[number[rows]] * n_labels + label[one[rows]]) * n_labels + label[other[rows]]
    first, second = np.divmod(pair[kept], n_annotators)
    return ListedPairs(item[one[rows]], cell, n_items, n_labels, first, second)


def _kept(common: np.ndarray, least_common: int, n_labels: int) -> np.ndarray:
    """Mask of the pairs with enough common items; if too many, those with the most, and the first among equals."""
    kept = common >= max(least_common, 1)
    room = MOST_CELLS // n_labels**2
    if kept.sum() > room:
        kept[np.argsort(-common, kind="stable")[room:]] = False
    return kept


def mutual_information(tables: Tables) -> tuple[Float[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """Mutual information of the two labels, nats, and total weight of each table; 0 where that is 0."""
    one = np.ones(tables.shape[1])  # a product with it sums a small axis several times faster than `sum`
    rows, columns = tables @ one, one @ tables
    total = rows @ one
    log_odds = _x_log_x(tables) @ one @ one - _x_log_x(rows) @ one - _x_log_x(columns) @ one + _x_log_x(total)
    # below 0 by rounding alone
    return np.divide(np.maximum(log_odds, 0.0), total, out=np.zeros_like(total), where=total > 0), total


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
