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

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

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
        """Return the weights of some problems."""
        return Weights(self.mean[:, :, some], self.log_variance[:, :, some])


def scores(design: Design, weights: Weights) -> Soft:
    """x_i·μ_k."""
    return _times(design.x, weights.mean)


def bound(design: Design, weights: Weights, eta: Soft) -> PerProblem:
    """The bound, without the entropy of η; nats."""
    return _bound(_times(design.x.T, eta), weights, _log_sum(design, weights)[0])


def step(design: Design, weights: Weights, eta: Soft, *, n_steps: int) -> Weights:
    """Raise the bound."""
    drawn = _times(design.x.T, eta)
    log_sum, p = _log_sum(design, weights)
    value = _bound(drawn, weights, log_sum)
    for _ in range(n_steps):
        slope = drawn - _times(design.x.T, p) - weights.mean
        move = cho_solve((design.curvature, True), slope.reshape(len(slope), -1)).reshape(slope.shape)
        narrow = -np.log1p(_times(design.squares.T, p))  # no ascent step: taken back below where the bound falls
        moved = Weights(weights.mean + move, narrow)
        log_sum, p = _log_sum(design, moved)
        after = _bound(drawn, moved, log_sum)
        if (worse := after < value).any():
            kept = np.where(worse, weights.log_variance, narrow)
            moved = Weights(moved.mean, kept)
            log_sum, p = _log_sum(design, moved)
            after = _bound(drawn, moved, log_sum)
        weights, value = moved, after
    return weights


def unused(design: Design, n_clusters: int) -> tuple[Weights, Soft]:
    """Weights and η that maximise the bound plus the entropy of η, when nothing else is known about η: one problem.

    This objective has several maxima. The search starts from weights that give all items to one cluster: with
    standardised features this leads to the highest maximum that random starts find, far above the best weights that
    treat all clusters alike.
    """
    shape = (2, design.x.shape[1], n_clusters, 1)
    start = np.zeros(shape)
    start[0, -1, 0] = ALL_TO_ONE  # equal weights are a stationary point, whose η is uniform
    start[1] = -np.log1p(design.squares.sum(0) / n_clusters)[:, None, None]
    loss: Any = partial(_unused_loss, design, shape)
    mean, log_variance = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=CLIMB).x.reshape(shape)
    weights = Weights(mean, log_variance)
    return weights, softmax(scores(design, weights), axis=1)


def _unused_loss(design: Design, shape: tuple[int, ...], parameters: np.ndarray) -> tuple[float, np.ndarray]:
    """Objective that `unused` minimises, with η the softmax of the scores; and its gradient."""
    mean, log_variance = parameters.reshape(shape)
    weights = Weights(mean, np.minimum(log_variance, LARGEST))  # a line search may try more than exp can hold
    score = scores(design, weights)
    log_sum, p = _log_sum(design, weights)
    value = logsumexp(score, axis=1).sum(0) + _bound(np.zeros(shape[1:]), weights, log_sum)
    variance = np.exp(weights.log_variance)
    of_mean = _times(design.x.T, softmax(score, axis=1) - p) - weights.mean
    of_log_variance = (1 - variance - variance * _times(design.squares.T, p)) / 2
    return -float(value[0]), -np.stack([of_mean, of_log_variance]).ravel()


def _log_sum(design: Design, weights: Weights) -> tuple[PerProblem, Soft]:
    """Σ_i ln Σ_k exp(…), and the softmax inside."""
    score = _times(design.x, weights.mean)
    score += _times(design.squares, np.exp(weights.log_variance) / 2)
    top = score.max(1, keepdims=True)
    np.exp(score - top, out=score)  # no exp overflows
    total = score.sum(1, keepdims=True)
    score /= total
    return (top + np.log(total)).sum((0, 1)), score


def _bound(drawn: Table, weights: Weights, log_sum: PerProblem) -> PerProblem:
    divergence = np.exp(weights.log_variance) + np.square(weights.mean) - 1 - weights.log_variance
    return np.asarray((drawn * weights.mean).sum((0, 1)) - log_sum - divergence.sum((0, 1)) / 2)


def _times(matrix: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Matrix product over the first axis of the tensor."""
    product: np.ndarray = (matrix @ tensor.reshape(len(tensor), -1)).reshape(-1, *tensor.shape[1:])
    return product
