"""Tables of annotators × labels × components of which most cells do not depend on the label.

With many classes most annotators give most labels never, and what is known of such a label is what is known of any
other. A `SparseTable` has one value for all labels of an annotator, given the component, and exceptions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_array, csr_array, vstack
from scipy.special import entr

DENSE_CELLS = 1 << 19  # of tables that are dense whatever they hold: 4 megabytes
CELLS_PER_LABEL = 50  # in a table that is sparse, at least

PerAnnotator = Float[np.ndarray, " annotators"]


def are_mostly_empty(n_cells: int, n_labels: int) -> bool:
    """Whether a table of so many cells is better sparse, for so many labels."""
    return n_cells > max(DENSE_CELLS, CELLS_PER_LABEL * n_labels)


@dataclass(frozen=True)
class SparseTable:
    """Values of annotators × labels × components.

    base : (annotators, components) of labels without an exception.
    rest : (annotators × labels, components) what exceptions add to it.
    """

    base: Float[np.ndarray, "annotators components"]
    rest: csr_array

    @classmethod
    def of_matching(cls, right: PerAnnotator, wrong: PerAnnotator, n_labels: int) -> SparseTable:
        """Return a table with one value where label and component are the same, and another elsewhere."""
        n_annotators = len(right)
        label = np.tile(np.arange(n_labels, dtype=np.int32), n_annotators)
        pointers = np.arange(len(label) + 1, dtype=np.int32)
        rest = csr_array((np.repeat(right - wrong, n_labels), label, pointers), shape=(len(label), n_labels))
        return cls(np.broadcast_to(wrong[:, None], (n_annotators, n_labels)), rest)

    @classmethod
    def of_one(cls, values: Float[np.ndarray, "labels components"]) -> SparseTable:
        """Return the table of one annotator, all of whose values are exceptions."""
        return cls(np.zeros((1, values.shape[1])), csr_array(values))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Annotators, labels, components."""
        n_annotators, n_components = self.base.shape
        return n_annotators, self.rest.shape[0] // max(n_annotators, 1), n_components

    def __len__(self) -> int:
        return len(self.base)

    def __truediv__(self, divisor: float) -> SparseTable:
        return SparseTable(self.base / divisor, self.rest / divisor)

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> SparseTable:
        """Apply a function to every value."""
        base = function(self.base)
        data = function(self.exceptions()) - base[self._annotator_of_exception(), self.rest.indices]
        return SparseTable(base, csr_array((data, self.rest.indices, self.rest.indptr), shape=self.rest.shape))

    def sums_of(self, onehot: csc_array) -> Float[np.ndarray, "items components"]:
        """Sum the rows of the labels of each item; columns of `onehot` are annotators × labels."""
        n_annotators, n_labels, _ = self.shape
        # columns of an annotator are adjacent
        by_annotator = csc_array(
            (onehot.data, onehot.indices, onehot.indptr[::n_labels]), shape=(onehot.shape[0], n_annotators)
        )
        sums = self._sums_of_base(by_annotator)
        more = (onehot.tocsr() @ self.rest).tocoo()
        sums[more.row, more.col] += more.data
        return np.asarray(sums)

    def _sums_of_base(self, by_annotator: csc_array) -> Float[np.ndarray, "items components"]:
        first = self.base[:, :1]
        if (self.base == first).all():  # as in tables of one value for what is right and another for what is wrong
            return np.repeat(by_annotator @ first, self.shape[2], axis=1)
        return np.asarray(by_annotator @ np.ascontiguousarray(self.base))

    def rows_of(
        self, annotator: Int[np.ndarray, " rows"], label: Int[np.ndarray, " rows"]
    ) -> Float[np.ndarray, "rows components"]:
        """Return the values of labels by annotators."""
        return self.base[annotator] + self.rest[annotator * self.shape[1] + label].toarray()

    def matching(self) -> Float[np.ndarray, "annotators labels"]:
        """Return the values where label and component are the same; there are as many components as labels."""
        n_annotators, n_labels, _ = self.shape
        row = np.repeat(np.arange(self.rest.shape[0]), np.diff(self.rest.indptr))
        found = np.flatnonzero(row % n_labels == self.rest.indices)
        more = np.bincount(row[found], self.rest.data[found], self.rest.shape[0])
        return self.base + more.reshape(n_annotators, n_labels)

    def mean_of_components(self, share: Float[np.ndarray, " components"]) -> Float[np.ndarray, "annotators labels"]:
        """Mean over components."""
        return (self.base @ share)[:, None] + (self.rest @ share).reshape(len(self), -1)

    def sum(self) -> float:
        """Sum of all values."""
        return float(self.shape[1] * self.base.sum() + self.rest.sum())

    def entropy(self) -> Float[np.ndarray, "annotators components"]:
        """Entropy of the labels given the component, where values are probabilities, nats."""
        n_annotators, n_labels, n_components = self.shape
        annotator = self._annotator_of_exception()
        more = entr(self.exceptions()) - entr(self.base)[annotator, self.rest.indices]
        sums = np.bincount(annotator * n_components + self.rest.indices, more, n_annotators * n_components)
        return n_labels * entr(self.base) + sums.reshape(self.base.shape)

    def mean_of_annotators(self, weights: PerAnnotator) -> Float[np.ndarray, "labels components"]:
        """Mean over annotators."""
        n_annotators, n_labels, _ = self.shape
        share = weights / weights.sum()
        column, row = np.arange(self.rest.shape[0]), np.tile(np.arange(n_labels), n_annotators)
        sums = csr_array((np.repeat(share, n_labels), (row, column)), shape=(n_labels, len(column)))
        return share @ self.base + (sums @ self.rest).toarray()

    def take(self, annotators: Int[np.ndarray, " taken"]) -> SparseTable:
        """Return the table of some annotators."""
        n_labels = self.shape[1]
        rows = (annotators[:, None] * n_labels + np.arange(n_labels)).ravel()
        return SparseTable(self.base[annotators], self.rest[rows])

    def to_dense(self) -> Float[np.ndarray, "annotators labels components"]:
        """Return all values."""
        return self.base[:, None] + self.rest.toarray().reshape(self.shape)

    def followed_by(self, other: SparseTable) -> SparseTable:
        """Return a table of further annotators after these."""
        return SparseTable(np.vstack([self.base, other.base]), vstack([self.rest, other.rest], format="csr"))

    def with_others(self, annotators: Int[np.ndarray, " some"], others: SparseTable) -> SparseTable:
        """Return a table in which some annotators have other values."""
        places = np.arange(len(self))
        places[annotators] = len(self) + np.arange(len(annotators))
        return self.followed_by(others).take(places)

    def exceptions_at(
        self, row: Int[np.ndarray, " cells"], component: Int[np.ndarray, " cells"]
    ) -> Float[np.ndarray, " cells"]:
        """Return what exceptions add in some cells; a row is an annotator and a label."""
        rest = self.rest if self.rest.has_sorted_indices else self.rest.sorted_indices()
        n_rows, n_components = rest.shape
        places = np.repeat(np.arange(n_rows), np.diff(rest.indptr)) * n_components + rest.indices
        places, values = np.append(places, n_rows * n_components), np.append(rest.data, 0.0)
        wanted = row * n_components + component
        found = np.searchsorted(places, wanted)
        return np.where(places[found] == wanted, values[found], 0.0)

    def _annotator_of_exception(self) -> Int[np.ndarray, " exceptions"]:
        n_labels = self.shape[1]
        return np.repeat(np.arange(len(self)), np.diff(self.rest.indptr[::n_labels]))

    def exceptions(self) -> Float[np.ndarray, " exceptions"]:
        """Return the values of exceptions."""
        return self.rest.data + self.base[self._annotator_of_exception(), self.rest.indices]


Confusion = Float[np.ndarray, "annotators classes labels"] | SparseTable
"""Probability of each label of an annotator, given the class; sparse tables have the classes last."""


def accuracy_of(confusion: Confusion, share: Float[np.ndarray, " classes"]) -> PerAnnotator:
    """Probability that an annotator's label is right."""
    if isinstance(confusion, SparseTable):
        return confusion.matching() @ share
    return np.asarray(np.einsum("akk,k->a", confusion, share))


def rows_of(
    table: Float[np.ndarray, "annotators labels components"] | SparseTable,
    annotator: Int[np.ndarray, " rows"],
    label: Int[np.ndarray, " rows"],
) -> Float[np.ndarray, "rows components"]:
    """Return the values of labels by annotators."""
    return table.rows_of(annotator, label) if isinstance(table, SparseTable) else table[annotator, label]
