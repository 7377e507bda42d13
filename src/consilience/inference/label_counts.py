"""Expected labels of annotators by class, where a table of all annotators, labels and classes would be mostly empty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_array, csr_array

Counting = Literal["all", "right", "probable"]
"""Which labels are counted: all, by class; only how many are right; or those of the probable classes of each item."""

IMPROBABLE = 1e-6  # probability of a class, below which the labels of an item are not counted for it
MOST_PROBABLE = 50  # classes of an item for which its labels are counted
LEAST = 1e-12  # of the labels of a class, relative: less comes from rounding

Responsibilities = Float[np.ndarray, "items classes"]
Totals = Float[np.ndarray, "annotators classes"]


@dataclass(frozen=True)
class RightLabels:
    """How many labels of each annotator are right, and wrong: all that a model of one accuracy needs.

    counts : (annotators, 2)
    n_labels : in use
    """

    counts: Float[np.ndarray, "annotators 2"]
    n_labels: int

    @classmethod
    def of(cls, onehot: csc_array, q: Responsibilities) -> RightLabels:
        """Count the labels of items with these probabilities of classes."""
        n_labels, n_columns = q.shape[1], onehot.shape[1]
        column = np.repeat(np.arange(n_columns), np.diff(onehot.indptr))
        right = onehot.data * q[onehot.indices, column % n_labels]
        sums = [np.bincount(column // n_labels, each, n_columns // n_labels) for each in (right, onehot.data)]
        return cls(np.column_stack([sums[0], np.maximum(sums[1] - sums[0], 0.0)]), n_labels)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Annotators, labels, components."""
        return len(self.counts), self.n_labels, self.n_labels

    def __len__(self) -> int:
        return len(self.counts)

    def __add__(self, other: RightLabels | float) -> RightLabels:
        more = other.counts if isinstance(other, RightLabels) else other
        return RightLabels(self.counts + more, self.n_labels)


@dataclass(frozen=True)
class ProbableLabels:
    """Expected number of labels of each annotator by class, as far as classes are probable, and sums over all classes.

    counts : (annotators × labels, classes) of the probable classes of each item.
    totals : (annotators, classes) number of labels of items of each class.
    """

    counts: csr_array
    totals: Totals

    @classmethod
    def of(cls, onehot: csc_array, q: Responsibilities) -> ProbableLabels:
        """Count the labels of items with these probabilities of classes."""
        n_classes = q.shape[1]
        # columns of an annotator are adjacent
        of_annotators = csc_array(
            (onehot.data, onehot.indices, onehot.indptr[::n_classes]),
            shape=(onehot.shape[0], onehot.shape[1] // n_classes),
        )
        return cls((onehot.T @ probable(q)).tocsr(), np.asarray(of_annotators.T @ q))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Annotators, labels, components."""
        n_annotators, n_classes = self.totals.shape
        return n_annotators, n_classes, n_classes

    def __len__(self) -> int:
        return len(self.totals)

    def __add__(self, other: ProbableLabels | float) -> ProbableLabels:
        if isinstance(other, ProbableLabels):
            return ProbableLabels(self.counts + other.counts, self.totals + other.totals)
        if other == 0:
            return self
        raise TypeError("Labels of probable classes cannot be added to counts of other labels.")

    @cached_property
    def places(self) -> tuple[Int[np.ndarray, " cells"], Int[np.ndarray, " cells"], Int[np.ndarray, " cells"]]:
        """Annotator, label and class of each cell of `counts`."""
        n_classes = self.totals.shape[1]
        row = np.repeat(np.arange(self.counts.shape[0]), np.diff(self.counts.indptr))
        return row // n_classes, row % n_classes, self.counts.indices

    @cached_property
    def rest(self) -> Totals:
        """Number of labels of items of each class where that is improbable."""
        annotator, _, component = self.places
        n_annotators, n_classes = self.totals.shape
        counted = np.bincount(annotator * n_classes + component, self.counts.data, n_annotators * n_classes)
        rest = self.totals - counted.reshape(self.totals.shape)
        return np.where(rest > LEAST * self.totals, rest, 0.0)


def probable(q: Responsibilities) -> csr_array:
    """Return the probabilities of the classes of each item, without those of improbable ones."""
    counted = q > IMPROBABLE
    many = np.flatnonzero(counted.sum(1) > MOST_PROBABLE)
    if len(many):
        # classes that are as probable as the first one too many are left out with it
        bound = np.partition(q[many], -MOST_PROBABLE - 1, axis=1)[:, [-MOST_PROBABLE - 1]]
        counted[many] = q[many] > bound * (1 + 1e-9)
    places = np.flatnonzero(counted)
    pointers = np.append(0, np.cumsum(counted.sum(1)))
    return csr_array((q.ravel()[places], places % q.shape[1], pointers), shape=q.shape)
