"""Softmax with Gaussian weights: q(w) that raises a bound on the expected log-softmax, for many problems at once.

    z_i | W ~ softmax(x_i·w_1, …, x_i·w_K),   w_lk ~ N(0, 1),   q(w_lk) = N(μ_lk, σ²_lk)

For items that belong to cluster k with probability η_ik, by Jensen's inequality

    bound = Σ_ik η_ik x_i·μ_k − Σ_i ln Σ_k exp(x_i·μ_k + ½ Σ_l σ²_lk x_il²) − KL(q ‖ prior)

One column of x is 1, for the intercept. A problem is one choice of η; the last axis runs over problems.

Decided here
------------
The Hessian of the logarithm in μ is at most ½ XᵀX (Böhning 1992), whatever the weights, so a step with one factorised
matrix for all problems and clusters never lowers the bound. The variances become σ² = 1 / (1 + Σ_i p_ik x_il²), with p
the softmax inside the logarithm; where that does not raise the bound, they are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from consilience.inference.parts import Additive

ALL_TO_ONE = 10.0  # intercept at which one cluster takes all items
LARGEST = 300.0  # log variance while the start is sought
CLIMB: Any = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-6}

Soft = Float[np.ndarray, "items clusters problems"]
Table = Float[np.ndarray, "columns clusters problems"]
PerProblem = Float[np.ndarray, " problems"]


@dataclass(frozen=True)
class Design:
    """Features with a last column of ones; their squares; the Cholesky factor of ½ XᵀX + I."""

    x: Float[np.ndarray, "items columns"]
    squares: Float[np.ndarray, "items columns"]
    curvature: Float[np.ndarray, "columns columns"]

    @classmethod
    def of(cls, features: Float[np.ndarray, "items features"]) -> Design:
        """Append a column of ones to the features, and factorise."""
        x = np.column_stack([features, np.ones(len(features))])
        return cls(x, np.square(x), cho_factor(x.T @ x / 2 + np.eye(x.shape[1]), lower=True)[0])


@dataclass(frozen=True)
class Weights:
    """q(w): means and log variances."""

    mean: Table
    log_variance: Table

    def of_problems(self, some: np.ndarray) -> Weights:
        return Weights(self.mean[:, :, some], self.log_variance[:, :, some])

    def with_problems(self, some: np.ndarray, own: Weights) -> Weights:
        """Return these weights with others for some problems."""
        mean, log_variance = self.mean.copy(), self.log_variance.copy()
        mean[:, :, some], log_variance[:, :, some] = own.mean, own.log_variance
        return Weights(mean, log_variance)


class SoftmaxLogSums:
    """Base of Σ_i ln Σ_k exp(…), and sums of features, and of their squares, × the softmax inside."""

    log_sum: PerProblem
    of_x: Table
    of_squares: Table


Sums = TypeVar("Sums", bound=SoftmaxLogSums)


@dataclass(frozen=True)
class LogSumsInMemory(SoftmaxLogSums):
    """See `SoftmaxLogSums`; the last two are not needed at the last weights, and are computed when asked for."""

    design: Design
    log_sum: PerProblem
    inside: Soft

    @property
    def of_x(self) -> Table:  # type: ignore[override]
        """Features × the softmax."""
        return _times(self.design.x.T, self.inside)

    @property
    def of_squares(self) -> Table:  # type: ignore[override]
        """Their squares × the softmax."""
        return _times(self.design.squares.T, self.inside)


def scores(design: Design, weights: Weights) -> Soft:
    """x_i·μ_k."""
    return _times(design.x, weights.mean)


def bound(design: Design, weights: Weights, eta: Soft) -> PerProblem:
    """The bound, without the entropy of η; nats."""
    return bound_of_sums(draw(design, eta), weights, log_sums(design, weights).log_sum)


def draw(design: Design, eta: Soft) -> Table:
    """Σ_i x_i η_ik."""
    return _times(design.x.T, eta)


def log_sums(design: Design, weights: Weights) -> LogSumsInMemory:
    """Sums of the items under the weights."""
    score = _times(design.x, weights.mean)
    score += _times(design.squares, np.exp(weights.log_variance) / 2)
    top = score.max(1, keepdims=True)
    np.exp(score - top, out=score)  # no exp overflows
    total = score.sum(1, keepdims=True)
    score /= total
    return LogSumsInMemory(design, (top + np.log(total)).sum((0, 1)), score)


def bound_of_sums(drawn: Table, weights: Weights, log_sum: PerProblem) -> PerProblem:
    """The bound, from `draw` and `SoftmaxLogSums`."""
    divergence = np.exp(weights.log_variance) + np.square(weights.mean) - 1 - weights.log_variance
    return np.asarray((drawn * weights.mean).sum((0, 1)) - log_sum - divergence.sum((0, 1)) / 2)


def step(design: Design, weights: Weights, eta: Soft, *, n_steps: int) -> Weights:
    """Raise the bound."""
    logs, curvature = log_sums(design, weights), design.curvature
    return climb(weights, draw(design, eta), logs, partial(log_sums, design), curvature, n_steps=n_steps)[0]


def climb(
    weights: Weights,
    drawn: Table,
    logs: Sums,
    sums_at: Callable[[Weights], Sums],
    curvature: Float[np.ndarray, "columns columns"],
    *,
    n_steps: int,
) -> tuple[Weights, Sums]:
    """Raise the bound by sums over items, wherever these are; return the weights and their sums.

    logs : of the first weights; `sums_at` makes those of others.
    """
    value = bound_of_sums(drawn, weights, logs.log_sum)
    for _ in range(n_steps):
        slope = drawn - logs.of_x - weights.mean
        move = cho_solve((curvature, True), slope.reshape(len(slope), -1)).reshape(slope.shape)
        narrow = -np.log1p(logs.of_squares)  # no ascent step: taken back below where the bound falls
        moved = Weights(weights.mean + move, narrow)
        logs = sums_at(moved)
        after = bound_of_sums(drawn, moved, logs.log_sum)
        if (worse := after < value).any():
            moved = Weights(moved.mean, np.where(worse, weights.log_variance, narrow))
            logs = sums_at(moved)
            after = bound_of_sums(drawn, moved, logs.log_sum)
        weights, value = moved, after
    return weights, logs


def weights_of_unused(design: Design, n_clusters: int) -> tuple[Weights, Soft]:
    """Weights and η that maximise the bound plus the entropy of η, when nothing else is known about η: one problem.

    This objective has several maxima. The search starts from weights that give all items to one cluster: with
    standardised features this leads to the highest maximum that random starts find, far above the best weights that
    treat all clusters alike.
    """
    shape = (2, design.x.shape[1], n_clusters, 1)
    start = np.zeros(shape)
    start[0, -1, 0] = ALL_TO_ONE  # equal weights are a stationary point, whose η is uniform
    start[1] = -np.log1p(design.squares.sum(0) / n_clusters)[:, None, None]
    weights = best_unused(start, lambda weights: unused_sums(design, weights))[0]
    return weights, softmax(scores(design, weights), axis=1)


@dataclass(frozen=True)
class UnusedSums(Additive):
    """What the objective of `weights_of_unused` needs of the items; η is the softmax of the scores.

    of_scores : Σ_i ln Σ_k exp(x_i·μ_k).
    log_sum, of_squares : as in `SoftmaxLogSums`.
    excess : features × the difference of η and the softmax of `SoftmaxLogSums`.
    """

    of_scores: PerProblem
    log_sum: PerProblem
    excess: Table
    of_squares: Table


def unused_sums(design: Design, weights: Weights) -> UnusedSums:
    """Sums of the items under the weights."""
    score, logs = scores(design, weights), log_sums(design, weights)
    excess = _times(design.x.T, softmax(score, axis=1) - logs.inside)
    return UnusedSums(logsumexp(score, axis=1).sum(0), logs.log_sum, excess, logs.of_squares)


def best_unused(
    start: Float[np.ndarray, "2 columns clusters 1"], sums: Callable[[Weights], UnusedSums]
) -> tuple[Weights, float]:
    """Climb from means and log variances to the weights of `weights_of_unused`; return them with the objective."""

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        mean, log_variance = parameters.reshape(start.shape)
        weights = Weights(mean, np.minimum(log_variance, LARGEST))  # a line search may try more than exp can hold
        found = sums(weights)
        value = found.of_scores + bound_of_sums(np.zeros(start.shape[1:]), weights, found.log_sum)
        variance = np.exp(weights.log_variance)
        of_mean = found.excess - weights.mean
        of_log_variance = (1 - variance - variance * found.of_squares) / 2
        return -float(value[0]), -np.stack([of_mean, of_log_variance]).ravel()

    climbed: Any = loss
    best = minimize(climbed, start.ravel(), jac=True, method="L-BFGS-B", options=CLIMB)
    return Weights(*best.x.reshape(start.shape)), -float(best.fun)


def _times(matrix: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Matrix product over the first axis of the tensor."""
    # sizes are said, since there may be no items
    shape = tensor.shape[1:]
    product: np.ndarray = matrix @ tensor.reshape(len(tensor), math.prod(shape))
    return product.reshape(len(matrix), *shape)
