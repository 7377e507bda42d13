"""Joint tables of pairs of annotators in one partition; their sums over partitions are the tables of all items.

Every partition has the tables of the same pairs in the same order: those that `pair_tables` keeps of all items, chosen
by the numbers of common items, which are sums over partitions.

Decided here
------------
Tables are counted in double precision, in memory in single precision where one-hot labels are dense: rounding would
otherwise depend on the partitioning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array, triu

from consilience.annotations import Labels
from consilience.errors import InputError
from consilience.inference.pair_tables import (
    DENSE_SPEED,
    LISTED_SPEED,
    MOST_COLABELS,
    MOST_DENSE,
    DensePairs,
    ItemWeights,
    ListedPairs,
    PairTables,
    Tables,
    _kept,
)
from consilience.partitions.survey.label_survey import LabelPart

DOUBLE = 2  # times the memory and the time of single precision


@dataclass(frozen=True)
class Pairs:
    """Pairs of annotators, first < second, sorted."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]


@dataclass(frozen=True)
class DoublePairs(DensePairs):
    """Tables of pairs from the one-hot labels, in double precision; weights are not negative."""

    onehot: Float[np.ndarray, "items columns"]

    def of(self, weights: ItemWeights) -> Tables:
        """See `DensePairs.of`."""
        scaled = self.onehot * np.sqrt(weights)[:, None]
        blocks = (scaled.T @ scaled).reshape(-1, self.n_labels, self.onehot.shape[1] // self.n_labels, self.n_labels)
        return blocks[self.first, :, self.second]


def common_items(part: LabelPart) -> csr_array:
    """Number of items that both of two annotators label; 0 but for the first before the second."""
    labels = part.labels
    cells = np.unique(labels.item * labels.n_annotators + labels.annotator)
    shape = (len(labels), labels.n_annotators)
    given = csr_array((np.ones(len(cells), dtype=int), np.divmod(cells, labels.n_annotators)), shape=shape)
    return csr_array(triu(given.T @ given, 1))


def kept_pairs(common: csr_array, least_common: int, n_labels: int) -> Pairs:
    """Pairs that `pair_tables` keeps, given the numbers of their common items."""
    ordered = common.sorted_indices().tocoo()
    first, second = ordered.coords
    kept = _kept(ordered.data, least_common, n_labels)
    return Pairs(first[kept].astype(int), second[kept].astype(int))


def among(labels: Labels, members: tuple[int, ...]) -> Labels:
    """Labels of some annotators, who are numbered in increasing order."""
    rows = np.isin(labels.annotator, members)
    return replace(
        labels,
        annotators=pd.RangeIndex(len(members)),
        item=labels.item[rows],
        annotator=np.searchsorted(sorted(members), labels.annotator[rows]),
        label=labels.label[rows],
    )


def tables_of_pairs(labels: Labels, pairs: Pairs) -> PairTables:
    """Tables of given pairs, from a list of co-labels or from dense one-hot labels, whichever is faster."""
    return dense(labels, pairs) if is_dense(labels) else listed(labels, pairs)


def is_dense(labels: Labels) -> bool:
    """Whether tables are a dense product, as `pair_tables` decides."""
    entries = DOUBLE * len(labels) * labels.n_annotators * labels.n_classes
    seconds = entries * labels.n_annotators * labels.n_classes / DENSE_SPEED
    return entries <= MOST_DENSE and seconds < _n_colabels(labels) / LISTED_SPEED


def dense(labels: Labels, pairs: Pairs) -> DoublePairs:
    """Tables of given pairs from dense one-hot labels."""
    onehot = np.zeros((len(labels), labels.n_annotators * labels.n_classes))
    onehot[labels.item, labels.annotator * labels.n_classes + labels.label] = 1.0
    return DoublePairs(onehot, labels.n_classes, pairs.first, pairs.second)


def listed(labels: Labels, pairs: Pairs) -> ListedPairs:
    """Tables of given pairs from a list of co-labels."""
    n_colabels = _n_colabels(labels)
    if n_colabels > MOST_COLABELS:
        raise InputError(
            f"The items of a partition have {n_colabels} pairs of labels; at most {MOST_COLABELS} can be listed. Give "
            "smaller partitions."
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
