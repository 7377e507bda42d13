"""Clusters in a metric learned from a completed table of similarities.

Yi, Jin, Jain, Jain & Yang (2012), Semi-Crowdsourced Clustering: Generalizing Crowd Labeling by Robust Distance Metric
Learning, NIPS.

Model
-----
    Ã_ij = 1 where the share of "same" is at least d1, 0 where it is at most d0, else unknown;   Ã_ii = 1
    A    = argmin tr(A) + C Σ_known |A_ij - Ã_ij|, A positive semi-definite                   low rank, errors sparse
    M    = (XᵀX + λ n I)⁻¹ Xᵀ A X (XᵀX + λ n I)⁻¹                                             metric, of annotated items
    k-means of all items with the kernel xᵀ M x'

Symbols
-------
    paper   here        shape
    Ã       known       (entries,)              of both triangles and the diagonal
    A       completed   (annotated, annotated)
    E       error       (entries,)
    Y       multiplier  (entries,)
    μ       penalty     scalar
    M       metric      (features, features)

Update (inexact augmented Lagrangian of known = A + E)
------------------------------------------------------
    E ← shrink(known - A + Y/μ, C/μ)
    A ← eigenvalues above 1/μ, less 1/μ, of the matrix that is known - E + Y/μ where known, A elsewhere
    Y ← Y + μ (known - A - E),    μ ← 1.1 μ

Decided here
------------
- A similarity of clusters is positive semi-definite, so A is; its nuclear norm is its trace.
- C = 2/√(n p) with n annotated items and p the share of their pairs that is known: twice the value for robust principal
  component analysis, which did not fully recover a table without errors of which three tenths were known.
- Features are centred and scaled to variance 1, so that λ means the same for all, and so that the mean similarity,
  which distinguishes nothing, has no influence. M is positive semi-definite because A is.
- A is a table of all pairs of annotated items, and every step computes its eigenvectors. More than 2000 annotated items
  are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import eigh

from consilience.annotations import Pairs
from consilience.inference.iterate import Trace, iterate

MAX_ANNOTATED = 2000
GROWTH = 1.1  # of the penalty
FLAT = 1e-9  # smallest eigenvalue of a metric that is kept, relative to the largest
NOTHING = "The similarities separate no items by their features, so the clusters are those of the features alone."


@dataclass(frozen=True)
class SemiCrowdProblem:
    """Known entries, by row and column; weight: C."""

    row: Int[np.ndarray, " entries"]
    column: Int[np.ndarray, " entries"]
    known: Float[np.ndarray, " entries"]
    n_items: int
    weight: float


@dataclass(frozen=True)
class SemiCrowdState:
    """residual: ‖known - A - E‖ / ‖known‖."""

    completed: Float[np.ndarray, "annotated annotated"]
    error: Float[np.ndarray, " entries"]
    multiplier: Float[np.ndarray, " entries"]
    penalty: float
    residual: float


def init(problem: SemiCrowdProblem) -> SemiCrowdState:
    zeros = np.zeros(len(problem.known))
    largest = max(np.sqrt((problem.known**2).sum()), 1.0)
    return SemiCrowdState(np.zeros((problem.n_items,) * 2), zeros, zeros, 1.25 / float(largest), np.inf)


def step(state: SemiCrowdState, problem: SemiCrowdProblem) -> SemiCrowdState:
    at = (problem.row, problem.column)
    push = state.multiplier / state.penalty
    error = shrink(problem.known - state.completed[at] + push, problem.weight / state.penalty)
    target = state.completed.copy()
    target[at] = problem.known - error + push
    completed = low_rank(target, 1 / state.penalty)
    gap = problem.known - completed[at] - error
    residual = float(np.linalg.norm(gap)) / max(float(np.linalg.norm(problem.known)), 1.0)
    multiplier = state.multiplier + state.penalty * gap
    return SemiCrowdState(completed, error, multiplier, GROWTH * state.penalty, residual)


def shrink(values: Float[np.ndarray, " entries"], by: float) -> Float[np.ndarray, " entries"]:
    """Move values towards 0 by `by`, but not past it."""
    result: np.ndarray = np.sign(values) * np.maximum(np.abs(values) - by, 0)
    return result


def low_rank(target: Float[np.ndarray, "annotated annotated"], by: float) -> Float[np.ndarray, "annotated annotated"]:
    """Keep the eigenvalues above `by`, reduced by it."""
    values, vectors = eigh(target, subset_by_value=(by, np.inf), check_finite=False)
    result: np.ndarray = (vectors * (values - by)) @ vectors.T
    return result


def objective(state: SemiCrowdState, problem: SemiCrowdProblem) -> float:
    """tr(A) + C Σ_known |A_ij - Ã_ij|."""
    error = problem.known - state.completed[problem.row, problem.column]
    return float(np.trace(state.completed) + problem.weight * np.abs(error).sum())


def complete(problem: SemiCrowdProblem, *, max_iter: int, tol: float) -> Trace[SemiCrowdState]:
    """Sweep until A and E reproduce the known entries."""
    return iterate(
        init(problem),
        lambda s: step(s, problem),
        lambda s: -objective(s, problem),
        max_iter=max_iter,
        settled=lambda s: s.residual <= tol,
    )


def similarities(pairs: Pairs, d0: float, d1: float) -> tuple[Int[np.ndarray, "two entries"], np.ndarray, int]:
    """Pairs that are clearly together or apart, their similarity (1 or 0), and the number of pairs that are neither."""
    keys, pair = np.unique(pairs.item_a.astype(np.int64) * pairs.n_items + pairs.item_b, return_inverse=True)
    share = np.bincount(pair, pairs.same, len(keys)) / np.bincount(pair, minlength=len(keys))
    clear = (share <= d0) | (share >= d1)
    places = np.stack(np.divmod(keys[clear], pairs.n_items))
    return places, (share[clear] >= d1).astype(np.float64), int((~clear).sum())


def learn_metric(
    features: Float[np.ndarray, "annotated features"], completed: np.ndarray, ridge: float
) -> Float[np.ndarray, "features features"]:
    """M, from features that are centred here."""
    n, d = features.shape
    features = features - features.mean(0) if n else features
    back = np.linalg.solve(features.T @ features + ridge * max(n, 1) * np.eye(d), features.T)
    metric = back @ completed @ back.T
    result: np.ndarray = (metric + metric.T) / 2
    return result
