"""Three interchangeable models of annotators' confusion matrices.

Each is a distribution over the matrices. `log_table` is the expected log probability of a label given the class, which
the E-step reads; `update(counts)` returns the distribution given these counts of labels by class; `log_prior(labels)`
is its contribution to the bound in addition to the items' log likelihood, where `labels` are the counts of the items in
that likelihood, and any further counts are history, which is evidence too; `matrices()` are mean confusion matrices,
(annotators, components, labels). Counts and tables have the axes (annotators, labels, components). A component is a
class, or one of the subtypes of a class, which are adjacent; only `Hierarchical` has subtypes.

`Smoothed`: every row of every matrix separately, at its most probable value.

`Hierarchical`: the rows of an annotator are drawn towards the annotator's accuracy, and that towards the crowd's.

    a_j  ~ Beta(α, β)                                     accuracy of annotator j
    θ_jk ~ Dirichlet(s_k m_jk)                            row k of annotator j's matrix, one for each subtype of k
    m_jkk = a_j;   m_jkl = (1 - a_j) e_kl  for l ≠ k      e_k: how the crowd errs about class k

α, β, s and e are learned from the crowd (empirical Bayes). q(θ_jk) is a Dirichlet distribution, q(a_j) a Beta.

`OneCoin`: an annotator is right with one probability for all classes, p_j ~ Beta(α, β); all errors are equally likely.

The bound of `Hierarchical`
---------------------------
Given a, θ integrates out to Polya distributions of the counts n, whose logarithm is convex in ln m, so that m may be
replaced by m̃ = exp(E ln m): by Jensen's inequality the result is still a lower bound. m̃_jk sums to less than 1; the
missing mass is a further label with a count of zero, so that q(θ_jk) = Dirichlet(s_k m̃_jk + n_jk, the rest) is still
exact. α, β, s, e and q(a) then follow by minorisation (Minka 2000, Estimating a Dirichlet distribution): with the
expected numbers of tables t = s m̃ (ψ(s m̃ + n) - ψ(s m̃)) the sum over labels is at least t (ln s + E ln m) + constant,
which is conjugate to the Beta prior. All that needs whole counts. An expected count between 0 and 1 makes ln of the
Polya probability concave in ln m, so that for such counts the bound is an approximation, and t no minorant: the update
is then only an uphill direction, that of the natural gradient, and may go too far. So where it lowers the bound it is
halved, up to eight times; if that does not help, the hyperparameters stay.

Hyperpriors
-----------
The crowd includes one imagined annotator whose (ln a, ln(1 - a)) are the expectations under Beta(4, 1.5), and one
imagined error in each class, spread over the other labels. They matter only in very small crowds, where α, β and e
would otherwise diverge to their limits. s has none, or Gamma(1 + g, h): then one class cannot hold what is peculiar to
each annotator while all annotators share the rows of the others, see `choice_of_prior`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from consilience.annotations.further_labels import sum_cells
from consilience.consensus.labels.confusion_cells import (
    TINY,
    Counts,
    DenseCells,
    Errors,
    RowPrior,
    SparseCells,
    cells_of,
    digamma_rise,
    even_errors,
    log_gamma_rise,
    mix_errors,
    sum_log_errors,
)
from consilience.inference.exponential_family import expected_log_dirichlet, log_normalizer_dirichlet
from consilience.inference.label_counts import ProbableLabels, RightLabels
from consilience.inference.sparse_tables import SparseTable

Matrices = Float[np.ndarray, "annotators components labels"]
Codes = Int[np.ndarray, " rows"]
Rows = Float[np.ndarray, "rows components"]
Pull = tuple[float, float]

IMAGINED = np.array([4.0, 1.5])  # Beta distribution of the imagined annotator's accuracy
NO_PULL: Pull = (0.0, 0.0)  # g, h: a flat prior of s
LEAST, MOST = 1e-2, 1e6  # limits of the concentration s
FIRST_REPEATS = 10  # updates of the hyperparameters before the first E-step
LONGEST_STEP = 1.0  # of ln s in a sweep
STEPS = 0.5 ** np.arange(9)  # shares of the way to new hyperparameters, tried in turn
BY_ROUNDING = 1e-9  # of a value: changes below it may come from the order of a sum; in a class, labels that are none
FLAT = 1e-7  # of the terms of a slope: below it, the secant step would depend on how they were rounded
CROWD_STEPS = 10  # steps of the solver for α, β per sweep
CROWD_LIMITS = (np.log(1e-2), np.log(1e6))  # of ln α, ln β
NEWTON_STEPS = 8
SMALL_STEP = 1e-7  # of ln α, ln β: after such a step of Newton's method they are right to rounding
NEAR = 0.1  # of ln α, ln β, within which a minimum is that sought


@dataclass(frozen=True)
class Smoothed:
    """Most probable matrices under Dirichlet(1 + ε) rows; with a small ε, the maximum likelihood estimates."""

    log_table: Counts | SparseTable
    counts: Counts | ProbableLabels
    smoothing: float

    @classmethod
    def of(cls, counts: Counts | ProbableLabels, smoothing: float) -> Smoothed:
        """Estimate from counts."""
        if isinstance(counts, ProbableLabels):
            return cls(cells_of(counts).means(_flat_prior(counts.shape, smoothing)).map(np.log), counts, smoothing)
        seen = counts + smoothing
        return cls(np.log(seen / seen.sum(1, keepdims=True)), counts, smoothing)

    def update(self, counts: Counts | ProbableLabels) -> Smoothed:
        """Estimate anew from counts."""
        return Smoothed.of(counts, self.smoothing)

    def log_prior(self, labels: Counts | ProbableLabels) -> float:
        """ln p(history, θ): Dirichlet(1 + ε) for every row."""
        n_annotators, n_labels, n_classes = self.counts.shape
        constant = gammaln(n_labels * (1 + self.smoothing)) - n_labels * gammaln(1 + self.smoothing)
        # sparse counts have no history
        history = np.vdot(self.counts - labels, self.log_table) if isinstance(labels, np.ndarray) else 0.0
        return float(history + self.smoothing * self.log_table.sum() + n_annotators * n_classes * constant)

    def n_labels(self) -> Float[np.ndarray, " annotators"]:
        """Number of labels of each annotator, those of the history included."""
        return _n_labels(self.counts)

    def left_out(self, item: Codes, annotator: Codes, label: Codes, responsibilities: Rows) -> Rows:
        """Mean of θ under Dirichlet(1 + the counts without the labels that the annotator gives the item).

        item, annotator, label : of each label, sorted by item and annotator.
        responsibilities : of the item.
        """
        cells, own = cells_of(self.counts), sum_cells(responsibilities, item, annotator)
        # below 0 by rounding, or where copies share a weight
        seen = 1 + np.maximum(cells.counts_of_rows(annotator, label) - responsibilities, 0)
        return seen / (self.counts.shape[1] + np.maximum(cells.totals[annotator] - own, 0))

    def matrices(self) -> Any:
        """Most probable matrices."""
        if isinstance(self.log_table, SparseTable):
            return self.log_table.map(np.exp)
        return np.exp(self.log_table).transpose(0, 2, 1)


@dataclass(frozen=True)
class Hierarchical:
    """Dirichlet rows centred on the annotator's accuracy, with a prior learned from the crowd.

    log_table : E ln θ; a sparse one has no exceptions for labels that an annotator never gave, see `complete`.
    counts : n, of labels and history.
    accuracy : (annotators, 2) Beta parameters of q(a_j).
    crowd : (2,) α, β.
    concentration : (classes,) s.
    errors : (labels, classes) e, zero on the diagonal.
    log_rows : (classes,) Σ_j ln of the Polya probability of n_jk, nats.
    pull : g, h of the prior of each s; 0 for none.
    before : (classes,) ln s a sweep ago, and the slope there, d log_rows / d ln s.
    """

    log_table: Counts | SparseTable
    counts: Counts | ProbableLabels
    accuracy: Float[np.ndarray, "annotators 2"]
    crowd: Float[np.ndarray, "2"]
    concentration: Float[np.ndarray, " classes"]
    errors: Errors
    log_rows: Float[np.ndarray, " classes"]
    before: tuple[Float[np.ndarray, " classes"], Float[np.ndarray, " classes"]]
    pull: Pull = NO_PULL

    @classmethod
    def of(cls, counts: Counts | ProbableLabels, pull: Pull = NO_PULL) -> Hierarchical:
        """Initialise from counts."""
        n_annotators, n_classes, _ = counts.shape
        concentration, nothing = np.full(n_classes, 10.0), np.zeros(n_classes)
        if isinstance(counts, ProbableLabels):
            errors: Errors = even_errors(n_classes)
        else:
            errors = (1 - np.eye(n_classes)) / max(n_classes - 1, 1)
        first = cls(
            log_table=_no_table(counts),
            counts=counts,
            accuracy=np.tile(IMAGINED, (n_annotators, 1)),
            crowd=IMAGINED,
            concentration=concentration,
            errors=errors,
            log_rows=nothing,
            before=(np.log(concentration), nothing),
            pull=pull,
        )._with_log_rows()
        return reduce(lambda model, _: model._improved(), range(FIRST_REPEATS), first)._with_rows()

    def update(self, counts: Counts | ProbableLabels) -> Hierarchical:
        """Estimate anew from counts: hyperparameters that do not lower the bound, then the rows."""
        return replace(self, counts=counts)._with_log_rows()._improved()._with_rows()

    def _improved(self) -> Hierarchical:
        """Return hyperparameters that do not lower the bound of the counts; the rows stay as they were."""
        there, lowest = self._proposed(), self._own_bound()
        lowest -= BY_ROUNDING * abs(lowest)
        steps = (there if share == 1 else self._towards(there, share) for share in STEPS)
        return next((model for model in steps if model._own_bound() >= lowest), self)

    def _proposed(self) -> Hierarchical:
        """Return other hyperparameters: a minorising step, or for s a secant step where that is better."""
        cells, tables = self._cells, self._tables()
        concentration = self._of_components(self.concentration)
        seated = self._by_class(digamma_rise(concentration, cells.totals).sum(0))
        right_wrong = self._right_wrong(tables)
        crowd, errors = fit_crowd(self.crowd, right_wrong), cells.errors(tables)
        moved = self._moved(accuracy=crowd + right_wrong, crowd=crowd, errors=errors)
        drawn, seated = cells.of_components(tables) + self.pull[0], seated + self.pull[1]
        # of a class without labels, s is 1: both are what rounding left
        near = np.where(seated > BY_ROUNDING, (drawn + TINY) / (seated + TINY), 1.0).clip(LEAST, MOST)
        slope, place = _slope(drawn, self.concentration * seated), np.log(self.concentration)
        far = np.clip(np.exp(place + _secant_step(place, slope, *self.before)), LEAST, MOST)
        at_far, at_near = moved._log_rows(far), moved._log_rows(near)
        gain = at_far + self._log_prior_of(far) - at_near - self._log_prior_of(near)
        better = gain > BY_ROUNDING * np.maximum(np.abs(at_near), 1.0)
        log_rows = np.where(better, at_far, at_near)
        return moved._moved(concentration=np.where(better, far, near), before=(place, slope), log_rows=log_rows)

    def _towards(self, there: Hierarchical, share: float) -> Hierarchical:
        """Go a part of the way to other hyperparameters: α, β and s in logarithms."""
        return there._moved(
            accuracy=(1 - share) * self.accuracy + share * there.accuracy,
            crowd=self.crowd ** (1 - share) * there.crowd**share,
            errors=mix_errors(self.errors, there.errors, share),
            concentration=self.concentration ** (1 - share) * there.concentration**share,
        )._with_log_rows()

    def with_counts(self, counts: Counts | ProbableLabels) -> Hierarchical:
        """Estimate the rows alone from counts; there can be more subtypes than before."""
        return replace(self, counts=counts, log_table=_no_table(counts))._with_log_rows()._with_rows()

    def with_annotators(self, counts: Counts | ProbableLabels) -> Hierarchical:
        """Estimate the annotators' accuracies and rows from counts; the crowd's prior stays."""
        here = replace(self, counts=counts)
        return replace(self, accuracy=self.crowd + here._right_wrong(here._tables())).with_counts(counts)

    def complete(self) -> Hierarchical:
        """Return the model with E ln θ of labels that an annotator never gave, too."""
        cells = self._cells
        if isinstance(cells, DenseCells):
            return self
        return self._moved(log_table=cells.logarithms(self._row_prior(), digamma, everywhere=True))

    def _moved(self, **changes: Any) -> Hierarchical:
        """Return the model of the same counts, and what is known of these, with other values."""
        moved = replace(self, **changes)
        vars(moved)["_cells"] = self._cells
        return moved

    def _with_log_rows(self) -> Hierarchical:
        return self._moved(log_rows=self._log_rows(self.concentration))

    def _with_rows(self) -> Hierarchical:
        """Estimate q(θ)."""
        return self._moved(log_table=self._cells.logarithms(self._row_prior(), digamma))

    @cached_property
    def _cells(self) -> DenseCells | SparseCells:
        return cells_of(self.counts, self.n_subtypes)

    @property
    def n_subtypes(self) -> int:
        """Number of components of each class."""
        return self.counts.shape[2] // self.errors.shape[-1]

    def _of_components(self, of_classes: np.ndarray) -> np.ndarray:
        """Repeat the last axis for each subtype."""
        return of_classes if self.n_subtypes == 1 else np.repeat(of_classes, self.n_subtypes, axis=-1)

    def _by_class(self, of_components: np.ndarray) -> np.ndarray:
        """Sum the last axis over the subtypes of each class."""
        return np.asarray(of_components.reshape(*of_components.shape[:-1], -1, self.n_subtypes).sum(-1))

    def _tables(self) -> Any:
        """t of each cell, of classes."""
        cells, prior = self._cells, self._cells.prior(self._row_prior())
        return cells.by_class(prior * cells.rises(digamma_rise, prior))

    def _right_wrong(self, tables: Any) -> Float[np.ndarray, "annotators 2"]:
        right = self._cells.right(tables)
        return np.column_stack([right, self._cells.of_annotators(tables) - right])

    def _log_rows(self, concentration: Float[np.ndarray, " classes"]) -> Float[np.ndarray, " classes"]:
        """ln of the Polya probability of the counts under s."""
        cells = self._cells
        rows = cells.of_components(cells.rises(log_gamma_rise, cells.prior(self._row_prior(concentration))))
        concentration = self._of_components(concentration)
        rows = rows - log_gamma_rise(concentration, cells.totals).sum(0)
        return np.asarray(self._by_class(rows))

    def _log_prior_of(self, concentration: Float[np.ndarray, " classes"]) -> Float[np.ndarray, " classes"]:
        """ln p(s) under Gamma(1 + g, h), without its constant."""
        g, h = self.pull
        return np.asarray(g * np.log(concentration) - h * concentration)

    def _row_prior(self, concentration: Float[np.ndarray, " classes"] | None = None) -> RowPrior:
        """s m̃, with m̃ = exp(E ln m)."""
        right, wrong = np.exp(expected_log_dirichlet(self.accuracy)).T
        return RowPrior(self.concentration if concentration is None else concentration, right, wrong, self.errors)

    def log_prior(self, labels: Counts | ProbableLabels) -> float:
        """History · E ln θ - KL(q(θ) ‖ p(θ | m̃)) - KL(q(a) ‖ p(a)) + ln p(crowd, errors)."""
        return self._own_bound() - _dot(labels, self.log_table)

    def _own_bound(self) -> float:
        """Return ln p(counts) under q(a), with KL(q(a) ‖ p(a)) and ln p(crowd, errors)."""
        imagined_errors = sum_log_errors(self.errors) / max(self.errors.shape[-1] - 1, 1)
        of_concentration = float(self._log_prior_of(self.concentration).sum())
        return float(self.log_rows.sum()) - kl_beta(self.accuracy, self.crowd) + imagined_errors + of_concentration

    def totals(self) -> Float[np.ndarray, "annotators components"]:
        """Labels of each annotator by component, those of the history included."""
        return self._cells.totals

    def right_labels(self) -> Float[np.ndarray, "annotators components"]:
        """Right labels of each annotator by component, those of the history included."""
        return self._cells.diagonal

    def n_labels(self) -> Float[np.ndarray, " annotators"]:
        """Number of labels of each annotator, those of the history included."""
        return _n_labels(self.counts)

    def left_out(self, item: Codes, annotator: Codes, label: Codes, responsibilities: Rows) -> Rows:
        """Mean of θ given the counts without these labels, with m̃ for m; see `Smoothed.left_out`."""
        cells, own = self._cells, sum_cells(responsibilities, item, annotator)
        pseudo = cells.prior_of_rows(self._row_prior(), annotator, label)
        total = np.maximum(cells.totals[annotator] - own, 0)
        total += self._of_components(self.concentration)
        # see `Smoothed.left_out`
        return (pseudo + np.maximum(cells.counts_of_rows(annotator, label) - responsibilities, 0)) / total

    def matrices(self) -> Any:
        """Posterior means, m at the mean accuracy."""
        right = self.accuracy[:, 0] / self.accuracy.sum(1)
        return self._cells.means(RowPrior(self.concentration, right, 1 - right, self.errors))


@dataclass(frozen=True)
class OneCoin:
    """One probability of a right label for all classes, with a prior learned from the crowd.

    log_table : E ln θ.
    right_wrong : (annotators, 2) counts of labels and history.
    accuracy : (annotators, 2) Beta parameters of q(p_j).
    crowd : (2,) α, β.
    """

    log_table: Counts | SparseTable
    right_wrong: Float[np.ndarray, "annotators 2"]
    accuracy: Float[np.ndarray, "annotators 2"]
    crowd: Float[np.ndarray, "2"]
    learned: bool

    @classmethod
    def of(cls, counts: Counts | RightLabels, smoothing: float | None) -> OneCoin:
        """Initialise from counts; the prior is learned, or is `smoothing` right and wrong labels per annotator."""
        crowd, n_annotators = IMAGINED if smoothing is None else np.full(2, 1 + smoothing), len(counts)
        nothing = SparseTable.of_matching(np.zeros(n_annotators), np.zeros(n_annotators), counts.shape[1])
        start = cls(nothing, np.zeros((n_annotators, 2)), np.tile(crowd, (n_annotators, 1)), crowd, smoothing is None)
        return start.update(counts)

    def update(self, counts: Counts | RightLabels) -> OneCoin:
        """Estimate anew from counts."""
        right_wrong = _right_wrong(counts)
        crowd = fit_crowd(self.crowd, right_wrong) if self.learned else self.crowd
        accuracy = crowd + right_wrong
        counted = replace(self, right_wrong=right_wrong, accuracy=accuracy, crowd=crowd)
        (right, wrong), n_labels = counted._logs().T, counts.shape[1]
        wrong = wrong - np.log(max(n_labels - 1, 1))
        return replace(counted, log_table=_matching(right, wrong, n_labels, sparse=isinstance(counts, RightLabels)))

    def _logs(self) -> Float[np.ndarray, "annotators 2"]:
        """E ln p and E ln(1 - p), or ln p and ln(1 - p) of the most probable p."""
        if self.learned:
            return expected_log_dirichlet(self.accuracy)
        # the mode of a Beta distribution
        return np.log((self.accuracy - 1) / (self.accuracy - 1).sum(1, keepdims=True))

    def log_prior(self, labels: Counts | RightLabels) -> float:
        """History · E ln θ - KL(q(p) ‖ p(p)) + ln p(crowd); without learning, history · ln θ + ln p(p)."""
        logs, spread = self._logs(), np.log(max(labels.shape[1] - 1, 1))
        history = float(np.vdot(self.right_wrong - _right_wrong(labels), logs - [0.0, spread]))
        if self.learned:
            return history - kl_beta(self.accuracy, self.crowd)
        constant = float(log_normalizer_dirichlet(self.crowd)) * len(logs)
        return history + float(((self.crowd - 1) * logs).sum()) + constant

    def n_labels(self) -> Float[np.ndarray, " annotators"]:
        """Number of labels of each annotator, those of the history included."""
        return np.asarray(self.right_wrong.sum(1))

    def left_out(self, item: Codes, annotator: Codes, label: Codes, responsibilities: Rows) -> Rows:
        """Mean of p, or of (1 - p) / (labels - 1), given the counts without these labels; see `Smoothed.left_out`."""
        right = responsibilities[np.arange(len(label)), label]
        own = sum_cells(np.column_stack([right, 1 - right]), item, annotator)
        seen = self.crowd + np.maximum(self.right_wrong[annotator] - own, 0)
        p = (seen[:, 0] / seen.sum(1))[:, None]
        n_labels = self.log_table.shape[1]
        return np.where(label[:, None] == np.arange(n_labels), p, (1 - p) / max(n_labels - 1, 1))

    def matrices(self) -> Any:
        """Posterior means."""
        n_labels = self.log_table.shape[1]
        seen = self.accuracy if self.learned else self.accuracy - 1  # the mode of a Beta distribution
        right = seen[:, 0] / seen.sum(1)
        if n_labels == 1:
            return np.ones((len(right), 1, 1))
        sparse = isinstance(self.log_table, SparseTable)
        return _matching(right, (1 - right) / (n_labels - 1), n_labels, sparse=sparse)


AnnotatorModel = Smoothed | Hierarchical | OneCoin


def of_newcomer(model: AnnotatorModel) -> Float[np.ndarray, "classes labels"] | None:
    """Mean confusion matrix of an annotator without labels under the learned prior; None if none was learned."""
    if isinstance(model, Smoothed) or (isinstance(model, OneCoin) and not model.learned):
        return None
    right, n_labels = model.crowd[0] / model.crowd.sum(), model.log_table.shape[1]
    if n_labels == 1:
        return np.ones((1, 1))
    errors = (1 - np.eye(n_labels)) / (n_labels - 1)
    if isinstance(model, Hierarchical):
        errors = (model.errors.to_dense()[0] if isinstance(model.errors, SparseTable) else model.errors).T
    return right * np.eye(n_labels) + (1 - right) * errors


def fit_crowd(start: Float[np.ndarray, "2"], right_wrong: Float[np.ndarray, "annotators 2"]) -> Float[np.ndarray, "2"]:
    """Return the α, β that maximise the probability of right and wrong labels, with the imagined annotator.

    The labels of an annotator have a Beta-binomial distribution, since q(a_j) = Beta(α + right, β + wrong) follows.
    """
    imagined = expected_log_dirichlet(IMAGINED)
    counts, n = np.column_stack([right_wrong, right_wrong.sum(1)]), len(right_wrong) + 1

    def sums(log_crowd: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Sum a function over annotators, at α, β and minus that at α + β; with counts, minus without."""
        crowd = np.exp(log_crowd)
        alone = np.append(crowd, crowd.sum())
        return np.asarray((function(alone + counts).sum(0) - n * function(alone)) * [1, 1, -1])

    def objective(log_crowd: np.ndarray) -> tuple[float, np.ndarray]:
        value = sums(log_crowd, gammaln).sum() + (np.exp(log_crowd) - 1) @ imagined
        return -float(value), slope(log_crowd)

    def slope(log_crowd: np.ndarray) -> np.ndarray:  # by ln α and ln β
        terms = sums(log_crowd, digamma)
        return -(terms[:2] + terms[2] + imagined) * np.exp(log_crowd)

    def curvature(log_crowd: np.ndarray) -> np.ndarray:
        crowd, terms = np.exp(log_crowd), sums(log_crowd, _trigamma)
        return np.diag(slope(log_crowd)) - (np.diag(terms[:2]) + terms[2]) * np.outer(crowd, crowd)

    exact = _minimum_near(np.log(start), slope, curvature)
    if exact is None:
        found = minimize(
            objective,
            np.log(start),
            jac=True,
            method="L-BFGS-B",
            bounds=[CROWD_LIMITS] * 2,
            options={"maxiter": CROWD_STEPS},
        ).x
        exact = _minimum_near(found, slope, curvature)
    return np.exp(np.clip(found if exact is None else exact, *CROWD_LIMITS))


def _trigamma(x: np.ndarray) -> np.ndarray:
    """ψ'(x) to nine digits, enough for a curvature, in a tenth of the time of SciPy's."""
    total, end = np.zeros_like(x), x
    for _ in range(6):
        total += 1 / end**2
        end = end + 1
    return total + (1 + (0.5 + (1 / 6 - (1 / 30 - 1 / (42 * end**2)) / end**2) / end) / end) / end


def _minimum_near(
    start: Float[np.ndarray, "2"],
    slope: Callable[[np.ndarray], np.ndarray],
    curvature: Callable[[np.ndarray], np.ndarray],
) -> Float[np.ndarray, "2"] | None:
    """Return a minimum by Newton's method; None if there is none within NEAR, where the curvature is positive."""
    place = start
    for _ in range(NEWTON_STEPS):
        curved = curvature(place)
        if curved[0, 0] <= 0 or np.linalg.det(curved) <= 0:
            return None
        step = np.linalg.solve(curved, slope(place))
        place = place - step
        if np.abs(place - start).max() >= NEAR:
            return None
        if np.abs(step).max() <= SMALL_STEP:
            return place
    return None


def kl_beta(accuracy: Float[np.ndarray, "annotators 2"], crowd: Float[np.ndarray, "2"]) -> float:
    """Σ_j KL(q(a_j) ‖ Beta(α, β)) - ln p(imagined annotator | α, β)."""
    logs = expected_log_dirichlet(accuracy)
    normalizer = float(log_normalizer_dirichlet(crowd))
    divergence = ((accuracy - crowd) * logs).sum() + log_normalizer_dirichlet(accuracy).sum()
    imagined = float((crowd - 1) @ expected_log_dirichlet(IMAGINED)) + normalizer
    return float(divergence) - len(accuracy) * normalizer - imagined


def _slope(rise: Float[np.ndarray, " classes"], fall: Float[np.ndarray, " classes"]) -> Float[np.ndarray, " classes"]:
    """Difference of the two; zero where it is small, as of rows of single labels, which do not depend on s."""
    slope, size = rise - fall, rise + fall
    return np.where((np.abs(slope) > FLAT * size) & (size > BY_ROUNDING), slope, 0.0)


def _secant_step(
    place: Float[np.ndarray, " classes"],
    slope: Float[np.ndarray, " classes"],
    place_before: Float[np.ndarray, " classes"],
    slope_before: Float[np.ndarray, " classes"],
) -> Float[np.ndarray, " classes"]:
    """Step to where the line through two slopes is zero; the longest step uphill if they do not fall towards it."""
    moved = np.where(np.abs(place - place_before) > BY_ROUNDING, place - place_before, 0.0)
    curvature = (slope - slope_before) * np.sign(moved)
    is_concave = curvature < 0
    step = np.divide(-slope * np.abs(moved), curvature, out=np.sign(slope) * LONGEST_STEP, where=is_concave)
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)


def _no_table(counts: Counts | ProbableLabels) -> Counts | SparseTable:
    """Return a table of the form of the counts, before there is one."""
    if isinstance(counts, np.ndarray):
        return counts
    zero = np.zeros(len(counts))
    return SparseTable.of_matching(zero, zero, counts.shape[1])


def _dot(labels: Counts | ProbableLabels, table: Counts | SparseTable) -> float:
    """Sum of the values of a table at the labels."""
    if isinstance(labels, ProbableLabels) and isinstance(table, SparseTable):
        return float((labels.totals * table.base).sum() + labels.counts.multiply(table.rest).sum())
    return float(np.vdot(cast(np.ndarray, labels), cast(np.ndarray, table)))


def _flat_prior(shape: tuple[int, int, int], smoothing: float) -> RowPrior:
    """Return the prior with the same pseudo-count of all labels."""
    n_annotators, n_labels, n_classes = shape
    right, others = np.full(n_annotators, 1 / n_labels), (n_labels - 1) / n_labels
    errors = even_errors(n_classes)
    return RowPrior(np.full(n_classes, smoothing * n_labels), right, np.full(n_annotators, others), errors)


def _n_labels(counts: Counts | ProbableLabels) -> Float[np.ndarray, " annotators"]:
    return np.asarray(counts.sum((1, 2)) if isinstance(counts, np.ndarray) else counts.totals.sum(1))


def _matching(
    right: Float[np.ndarray, " annotators"], wrong: Float[np.ndarray, " annotators"], n_labels: int, *, sparse: bool
) -> Any:
    """Return one value of each annotator where label and class are the same, and another elsewhere."""
    if sparse:
        return SparseTable.of_matching(right, wrong, n_labels)
    return np.where(np.eye(n_labels, dtype=bool), right[:, None, None], wrong[:, None, None])


def _right_wrong(counts: Counts | RightLabels) -> Float[np.ndarray, "annotators 2"]:
    if isinstance(counts, RightLabels):
        return counts.counts
    right = np.einsum("jkk->j", counts)
    return np.column_stack([right, np.maximum(counts.sum((1, 2)) - right, 0.0)])
