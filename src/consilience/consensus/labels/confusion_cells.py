"""Cells of confusion matrices and their prior, for sums over those in which labels are expected.

    P_jkl = s_k (a_j 1[l = k] + w_j e_kl)                      prior of annotator j, class k, label l
    f     = Σ over cells of F(P_jkl + n_jkl) - F(P_jkl)        a rise: zero in every cell without labels, n = 0

`Hierarchical` of `annotator_models` asks for it, with F = ln Γ and F = ψ: `log_gamma_rise` and `digamma_rise`, since
the difference of two large values would have few digits. There are two bodies. `DenseCells` have all
annotators, labels and components. `SparseCells` have a component for each label, and nearly all of their cells are
empty: they list those in which labels are expected, from `ProbableLabels`. The few labels expected in improbable
classes are divided evenly over the other cells of an annotator and a class, which have one prior, but for errors of the
crowd. ln Γ is convex, so that this does not raise the bound.

Sparse errors e are one value for each class, and exceptions: the labels that somebody gave to items of the class, of
which more than `FEWEST_ERRORS` are expected. Others share what is expected of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from consilience.inference.label_counts import ProbableLabels
from consilience.inference.sparse_tables import SparseTable

TINY = 1e-12  # stands for a prior probability of zero
MOST_FULL = 0.8  # share of cells that are not empty, beyond which it is faster to compute all
LARGE = 100.0  # argument of ln Γ and ψ from which on their series differ from them by rounding alone
FEWEST_ERRORS = 1e-4  # of a label in a class, expected of all annotators: fewer are not told apart

Counts = Float[np.ndarray, "annotators labels components"]
PerAnnotator = Float[np.ndarray, " annotators"]
Totals = Float[np.ndarray, "annotators components"]
Errors = Float[np.ndarray, "labels classes"] | SparseTable
Function = Callable[..., Any]
Rise = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class RowPrior:
    """Parameters of P.

    concentration : (classes,) s.
    right, wrong : (annotators,) a and w.
    errors : (labels, classes) e, zero on the diagonal; a sparse one is a table of one annotator.
    """

    concentration: Float[np.ndarray, " classes"]
    right: PerAnnotator
    wrong: PerAnnotator
    errors: Errors


@dataclass(frozen=True)
class DenseCells:
    """All cells; components are classes, or subtypes of classes, which are adjacent."""

    counts: Counts
    n_subtypes: int

    @cached_property
    def totals(self) -> Totals:
        """Labels of each annotator by component."""
        return np.asarray(self.counts.sum(1))

    @cached_property
    def diagonal(self) -> Totals:
        """Right labels of each annotator by component."""
        component = np.arange(self.counts.shape[2])
        return np.asarray(self.counts[:, component // self.n_subtypes, component])

    def prior(self, of: RowPrior) -> Any:
        """P, at least `TINY`."""
        return np.maximum(self._prior(of), TINY)

    def _prior(self, of: RowPrior) -> Counts:
        mean = of.right[:, None, None] * np.eye(len(of.errors)) + of.wrong[:, None, None] * of.errors
        return self._of_components(of.concentration * mean)

    def rises(self, rise: Rise, prior: Any) -> Any:
        """F(P + n) - F(P) of each cell."""
        differ = prior + self.counts != prior
        if np.count_nonzero(differ) > MOST_FULL * differ.size:
            return rise(prior, self.counts)
        found = np.zeros(differ.shape)
        # not by where=, with which gammaln of SciPy 1.17 writes outside its arrays
        found[differ] = rise(prior[differ], self.counts[differ])
        return found

    def by_class(self, cells: Any) -> Any:
        """Sum over the subtypes of each class."""
        return cells if self.n_subtypes == 1 else cells.reshape(*cells.shape[:2], -1, self.n_subtypes).sum(-1)

    def of_components(self, cells: Any) -> np.ndarray:
        """Sum of each component, or class."""
        return np.asarray(cells.sum((0, 1)))

    def of_annotators(self, cells: Any) -> np.ndarray:
        """Sum of each annotator, of classes."""
        return np.asarray(cells.sum((1, 2)))

    def right(self, cells: Any) -> np.ndarray:
        """Sum of each annotator where label and class are the same."""
        return np.einsum("jkk->j", cells)

    def errors(self, cells: Any) -> Errors:
        """e_kl from expected errors, and one imagined error in each class."""
        n_classes = cells.shape[1]
        others = 1 - np.eye(n_classes)
        seen = cells.sum(0) * others + others / max(n_classes - 1, 1)  # one imagined error, spread over the others
        return np.asarray(seen / np.maximum(seen.sum(0), TINY))

    def logarithms(self, of: RowPrior, function: Function) -> Counts:
        """F(P + n) - F(s + Σ n) of each cell."""
        table = function(self.prior(of) + self.counts)
        table -= function(self._of_components(of.concentration) + self.totals)[:, None, :]
        return np.asarray(table)

    def means(self, of: RowPrior) -> Any:
        """Mean of each row's probabilities, (annotators, components, labels)."""
        seen = self._prior(of) + self.counts
        return (seen / seen.sum(1, keepdims=True)).transpose(0, 2, 1)

    def prior_of_rows(self, of: RowPrior, annotator: np.ndarray, label: np.ndarray) -> np.ndarray:
        """P of labels by annotators, for each component."""
        return np.asarray(self.prior(of)[annotator, label])

    def counts_of_rows(self, annotator: np.ndarray, label: np.ndarray) -> np.ndarray:
        """n of labels by annotators, for each component."""
        return np.asarray(self.counts[annotator, label])

    def _of_components(self, of_classes: np.ndarray) -> np.ndarray:
        return of_classes if self.n_subtypes == 1 else np.repeat(of_classes, self.n_subtypes, axis=-1)


@dataclass(frozen=True)
class SparseCells:
    """Cells in which labels are expected, and the other ones of an annotator and a class together.

    Values of cells are those of the listed ones, then of all annotators × classes, for the others.
    """

    counts: ProbableLabels

    @property
    def totals(self) -> Totals:
        """Labels of each annotator by class."""
        return self.counts.totals

    @cached_property
    def diagonal(self) -> Totals:
        """Right labels of each annotator by class."""
        annotator, label, component = self.counts.places
        return self._of_rows(annotator, component, np.where(label == component, self.counts.counts.data, 0.0))

    @cached_property
    def _others(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Annotator and class whose other cells have labels, how many these cells are, and labels of each."""
        annotator, label, component = self.counts.places
        n_listed = self._of_rows(annotator, component, np.where(label == component, 0.0, 1.0))
        rest = self.counts.rest
        places = np.nonzero(rest)
        n_others = np.maximum(rest.shape[1] - 1 - n_listed[places], 1.0)
        return *places, n_others, rest[places] / n_others

    @cached_property
    def _values(self) -> tuple[np.ndarray, np.ndarray]:
        """n of each cell, and how many cells it stands for."""
        _, _, n_others, labels = self._others
        n_listed = self.counts.counts.nnz
        return np.append(self.counts.counts.data, labels), np.append(np.ones(n_listed), n_others)

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Annotator and class of each cell."""
        annotator, _, component = self.counts.places
        return np.append(annotator, self._others[0]), np.append(component, self._others[1])

    def prior(self, of: RowPrior) -> Any:
        """P, at least `TINY`."""
        annotator, component = self._places
        _, label, listed = self.counts.places
        table = cast(SparseTable, of.errors)
        errors = table.base[0, component]
        errors[: len(label)] += table.exceptions_at(label, listed)
        mean = of.wrong[annotator] * errors
        mean[: len(label)] += np.where(label == listed, of.right[annotator[: len(label)]], 0.0)
        return np.maximum(of.concentration[component] * mean, TINY)

    def rises(self, rise: Rise, prior: Any) -> Any:
        """F(P + n) - F(P) of each cell, summed over those that it stands for."""
        n, times = self._values
        return times * rise(prior, n)

    def by_class(self, cells: Any) -> Any:
        """Return the cells: each component is a class."""
        return cells

    def of_components(self, cells: Any) -> np.ndarray:
        """Sum of each class."""
        return np.bincount(self._places[1], cells, self.totals.shape[1])

    def of_annotators(self, cells: Any) -> np.ndarray:
        """Sum of each annotator."""
        return np.bincount(self._places[0], cells, len(self.totals))

    def right(self, cells: Any) -> np.ndarray:
        """Sum of each annotator where label and class are the same."""
        annotator, label, component = self.counts.places
        return np.bincount(annotator, np.where(label == component, cells[: len(label)], 0.0), len(self.totals))

    def errors(self, cells: Any) -> Errors:
        """e_kl from expected errors, and one imagined error in each class."""
        n_classes = self.totals.shape[1]
        _, label, component = self.counts.places
        wrong = label != component
        places = label[wrong] * n_classes + component[wrong]
        which, inverse = np.unique(places, return_inverse=True)
        seen = np.bincount(inverse, cells[: len(label)][wrong], len(which))
        total = 1 + self.of_components(cells) - np.bincount(component[~wrong], cells[: len(label)][~wrong], n_classes)
        told = seen > FEWEST_ERRORS
        which, seen = which[told], seen[told]
        of_class = np.bincount(which % n_classes, seen, n_classes)
        exceptions = csr_array(
            (seen / total[which % n_classes], (which // n_classes, which % n_classes)), shape=(n_classes, n_classes)
        )
        return _exceptions((total - of_class) / (total * max(n_classes - 1, 1)), exceptions)

    def logarithms(self, of: RowPrior, function: Function, *, everywhere: bool = False) -> SparseTable:
        """F(P + n) - F(s + Σ n) of each cell; of labels that an annotator never gave only if wanted."""
        less = function(of.concentration + self.totals)
        return self._table(of, lambda seen, place: function(seen) - less[place], everywhere=everywhere)

    def means(self, of: RowPrior) -> Any:
        """Mean of each row's probabilities."""
        total = of.concentration + self.totals
        return self._table(of, lambda seen, place: seen / total[place], everywhere=True)

    def prior_of_rows(self, of: RowPrior, annotator: np.ndarray, label: np.ndarray) -> np.ndarray:
        """P of labels by annotators, for each class."""
        errors = cast(SparseTable, of.errors).rows_of(np.zeros_like(annotator), label)
        mean = of.wrong[annotator, None] * errors
        mean[np.arange(len(label)), label] += of.right[annotator]
        return np.asarray(np.maximum(of.concentration * mean, TINY))

    def counts_of_rows(self, annotator: np.ndarray, label: np.ndarray) -> np.ndarray:
        """n of labels by annotators, for each class."""
        return np.asarray(self.counts.counts[annotator * self.totals.shape[1] + label].toarray())

    def _table(self, of: RowPrior, function: Function, *, everywhere: bool) -> SparseTable:
        """Apply a function to P + n, and to the place of its annotator and class."""
        n_annotators, n_classes = self.totals.shape
        errors = cast(SparseTable, of.errors)
        others, n_each = self._others[:2], np.zeros(self.totals.shape)
        n_each[others] = self._others[3]
        place = np.indices(self.totals.shape)
        base = of.concentration * of.wrong[:, None] * errors.base
        base = function(np.maximum(base, TINY) + n_each, tuple(place))
        row = np.arange(n_annotators * n_classes)
        if not everywhere:
            row = row[np.diff(self.counts.counts.indptr) > 0]
        # both parts of complex numbers: one sum has the cells of either
        cells = (errors.rest[row % n_classes] + 1j * self.counts.counts[row]).tocsr()
        where = np.repeat(row, np.diff(cells.indptr))
        annotator, label, component = where // n_classes, where % n_classes, cells.indices
        mean = of.wrong[annotator] * (errors.base[0, component] + cells.data.real)
        mean = np.where(label == component, of.right[annotator], mean)
        seen = np.maximum(of.concentration[component] * mean, TINY) + cells.data.imag
        data = function(seen, (annotator, component)) - base[annotator, component]
        sizes = np.zeros(n_annotators * n_classes, dtype=cells.indptr.dtype)
        sizes[row] = np.diff(cells.indptr)
        pointers = np.append(0, np.cumsum(sizes)).astype(cells.indptr.dtype)
        return SparseTable(base, csr_array((data, component, pointers), shape=(len(sizes), n_classes)))

    def _of_rows(self, annotator: np.ndarray, component: np.ndarray, cells: np.ndarray) -> Totals:
        shape = self.totals.shape
        return np.bincount(annotator * shape[1] + component, cells, shape[0] * shape[1]).reshape(shape)


def cells_of(counts: Counts | ProbableLabels, n_subtypes: int = 1) -> DenseCells | SparseCells:
    return SparseCells(counts) if isinstance(counts, ProbableLabels) else DenseCells(counts, n_subtypes)


def log_gamma_rise(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """ln Γ(x + n) - ln Γ(x), to rounding of the difference."""
    return _rise(x, n, gammaln, _log_gamma_rise_by_series)


def digamma_rise(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """ψ(x + n) - ψ(x), to rounding of the difference."""
    return _rise(x, n, digamma, _digamma_rise_by_series)


def _rise(x: np.ndarray, n: np.ndarray, function: Function, by_series: Rise) -> np.ndarray:
    found = np.asarray(function(x + n) - function(x))
    x, n = np.broadcast_arrays(x, n)
    large = x > LARGE
    found[large] = by_series(x[large], n[large])
    return found


def _log_gamma_rise_by_series(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    end = x + n
    return (x - 0.5) * np.log1p(n / x) + n * (np.log(end) - 1) - n / (12 * x * end) - (end**-3 - x**-3) / 360


def _digamma_rise_by_series(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    end = x + n
    inverse = n / (x * end)  # 1 / x - 1 / (x + n)
    return np.log1p(n / x) + inverse / 2 + inverse * (1 / x + 1 / end) / 12 + (end**-4 - x**-4) / 120


def even_errors(n_classes: int) -> SparseTable:
    """Return sparse errors that are all equally likely."""
    return _exceptions(np.full(n_classes, 1 / max(n_classes - 1, 1)), csr_array((n_classes, n_classes)))


def mix_errors(one: Errors, other: Errors, share: float) -> Errors:
    """Go a part of the way from one to the other."""
    if isinstance(one, SparseTable) and isinstance(other, SparseTable):
        return SparseTable((1 - share) * one.base + share * other.base, (1 - share) * one.rest + share * other.rest)
    return np.asarray((1 - share) * cast(np.ndarray, one) + share * cast(np.ndarray, other))


def sum_log_errors(errors: Errors) -> float:
    """Σ ln e over the cells that are not zero."""
    if not isinstance(errors, SparseTable):
        return float(np.log(errors[errors > 0]).sum())
    base, n_classes = errors.base[0], errors.shape[1]
    values = errors.exceptions()
    told = values > TINY * base[errors.rest.indices]  # but for the diagonal
    n_others = n_classes - np.bincount(errors.rest.indices, minlength=n_classes)
    return float(n_others @ np.log(base) + np.log(values[told]).sum())


def _exceptions(base: Float[np.ndarray, " classes"], more: csr_array) -> SparseTable:
    """Return errors of one value for each class, and more of some; none on the diagonal."""
    place = np.arange(len(base))
    rest = (more - csr_array((base, (place, place)), shape=more.shape)).tocsr()
    rest.sort_indices()
    return SparseTable(base[None], rest)
