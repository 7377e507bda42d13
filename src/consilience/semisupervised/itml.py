"""k-means in a metric learned from pairs: information-theoretic metric learning.

Davis, Kulis, Jain, Sra & Dhillon (2007), Information-Theoretic Metric Learning, ICML.

Model
-----
Find the metric A, and for each pair c a bound ξ_c, that minimise

    D(A, A_0) + Σ_c γ_c d(ξ_c, b_c)    with    d_A(c) ≤ ξ_c for pairs put together, d_A(c) ≥ ξ_c for pairs kept apart,
    D(A, B) = tr(A B⁻¹) - ln det(A B⁻¹) - D,    d(ξ, b) = ξ/b - ln(ξ/b) - 1

where d_A(c) = vᵀ A v is the squared distance of the two items. Then k-means in that metric.

Symbols
-------
    paper    here               shape
    A        metric             (features, features)
    x_i-x_j  difference         (pairs, features)       v above
    δ        sign               (pairs,)                1: put together, -1: kept apart
    λ        multiplier         (pairs,)                at least 0
    ξ        bound              (pairs,)
    b        first_bound        (pairs,)                u if together, else l
    γ        slack              (pairs,)

Update, for one pair after another
-----------------------------------
    α = min(λ, δ γ/(γ+1) (1/d_A - 1/ξ)),    λ ← λ - α,    ξ ← γ ξ / (γ + δ α ξ),    A ← A + β A v vᵀ A
    with β = δ α / (1 - δ α d_A)

which is the projection of A and ξ onto the constraint, limited so that λ does not become negative. It maximises the
dual in λ_c:

    G = D(A, A_0) + Σ_c γ_c d(ξ_c, b_c) + Σ_c λ_c δ_c (d_A(c) - ξ_c)

Decided here
------------
- The bounds u and l are the 5th and the 95th percentile of the squared distances of items in A_0, as in the paper.
- Judgements of the same pair are combined; γ_c is γ times the net majority, so that a pair on which more people
  agree has less slack.
- A pair of items with the same features has no distance to change. It is left out, and `notes_` reports the number.
- The passes end when the multipliers change by less than `tol` of their sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg.blas import dsymv, dsyr

from consilience.inference.iterate import Trace, iterate

PRIORS = ("scale", "identity", "covariance")
PERCENTILES = (5, 95)
SAMPLED = 100_000  # pairs of items from which the percentiles are estimated
SAME_FEATURES = 1e-12  # distance, relative to the mean distance, up to which features are equal
FLAT = 1e-6  # smallest eigenvalue of a covariance, relative to their mean


@dataclass(frozen=True)
class ITMLProblem:
    """Pairs with their signs, bounds and slack; first_metric: A_0."""

    difference: Float[np.ndarray, "pairs features"]
    sign: Float[np.ndarray, " pairs"]
    first_bound: Float[np.ndarray, " pairs"]
    slack: Float[np.ndarray, " pairs"]
    first_metric: Float[np.ndarray, "features features"]


@dataclass(frozen=True)
class ITMLState:
    """moved: change of the multipliers in the last pass."""

    metric: Float[np.ndarray, "features features"]
    multiplier: Float[np.ndarray, " pairs"]
    bound: Float[np.ndarray, " pairs"]
    moved: float


def init(problem: ITMLProblem) -> ITMLState:
    return ITMLState(problem.first_metric, np.zeros(len(problem.sign)), problem.first_bound, np.inf)


def step(state: ITMLState, problem: ITMLProblem) -> ITMLState:
    """One pass over the pairs; alpha is δ α."""
    # a copy, in the order that dsyr can overwrite
    metric = np.array(state.metric, order="F")  # only its lower triangle is updated
    multiplier, bound = state.multiplier.tolist(), state.bound.tolist()
    rows = zip(problem.difference, problem.sign.tolist(), problem.slack.tolist())
    for c, (v, sign, slack) in enumerate(rows):
        toward = dsymv(1.0, metric, v, lower=1)
        distance = float(v @ toward)
        alpha = sign * min(multiplier[c], sign * slack / (slack + 1) * (1 / distance - 1 / bound[c]))
        if alpha:
            multiplier[c] -= sign * alpha
            bound[c] = slack * bound[c] / (slack + alpha * bound[c])
            metric = dsyr(alpha / (1 - alpha * distance), toward, a=metric, lower=1, overwrite_a=1)
    lower = np.tril(metric)
    after = np.array(multiplier)
    moved = float(np.abs(after - state.multiplier).sum())
    return ITMLState(lower + np.tril(lower, -1).T, after, np.array(bound), moved)


def dual(state: ITMLState, problem: ITMLProblem) -> float:
    """G."""
    away = distances(problem.difference, state.metric) - state.bound
    return divergence(state, problem) + float((state.multiplier * problem.sign) @ away)


def divergence(state: ITMLState, problem: ITMLProblem) -> float:
    """D(A, A_0) + Σ_c γ_c d(ξ_c, b_c)."""
    ratio = np.linalg.solve(problem.first_metric, state.metric)
    bound = state.bound / problem.first_bound
    of_bounds = problem.slack @ (bound - np.log(bound) - 1)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(ratio) + of_bounds)


def distances(difference: Float[np.ndarray, "pairs features"], metric: np.ndarray) -> Float[np.ndarray, " pairs"]:
    """vᵀ A v."""
    result: np.ndarray = np.einsum("pd,pd->p", difference @ metric, difference)
    return result


def run(problem: ITMLProblem, *, max_iter: int, tol: float) -> Trace[ITMLState]:
    """Run passes until the multipliers settle."""

    def rest(state: ITMLState) -> bool:
        return bool(state.moved <= tol * state.multiplier.sum())

    return iterate(
        init(problem), lambda s: step(s, problem), lambda s: dual(s, problem), max_iter=max_iter, settled=rest
    )


def percentiles(
    features: Float[np.ndarray, "items features"], metric: np.ndarray, rng: np.random.RandomState
) -> tuple[float, float]:
    """u and l, from the squared distances of all pairs of items or of a large sample."""
    n = len(features)
    if n * (n - 1) // 2 <= SAMPLED:
        a, b = np.triu_indices(n, 1)
    else:
        a = rng.randint(n, size=SAMPLED)
        b = (a + rng.randint(1, n, size=SAMPLED)) % n  # never the item itself
    found = distances(features[a] - features[b], metric)
    low, high = np.percentile(found[found > 0], PERCENTILES) if (found > 0).any() else (1.0, 1.0)
    return float(low), float(high)


def first_metric(features: Float[np.ndarray, "items features"], prior: str) -> Float[np.ndarray, "features features"]:
    """A_0."""
    variance = features.var(0)
    # a constant feature counts as an average one
    variance = np.where(variance > 0, variance, variance.mean() or 1.0)
    if prior == "identity":
        return np.eye(len(variance))
    if prior == "scale":
        return np.diag(1 / variance)
    scale = np.sqrt(variance)
    correlation = np.atleast_2d(np.cov((features / scale).T, bias=True))
    result: np.ndarray = np.linalg.inv(correlation + FLAT * np.eye(len(scale))) / np.outer(scale, scale)
    return (result + result.T) / 2
