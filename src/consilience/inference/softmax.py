"""Softmax of linear scores: its moments over items in one pass, and the fit of its weights.

    π_nk ∝ exp(w_k·φ_n + λ ‖w_k‖²),   w_k ~ N(0, σ² I)                         (Chen et al. 2018, eq. 2 and 3)

λ = 0 is multinomial logistic regression. The offset λ ‖w_k‖² is the last row of the matrix that multiplies the design,
whose last column is therefore 1. Items are processed in chunks that fit the processor's cache, so memory does not grow
with items × clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.sparse import csr_array

CHUNK_ENTRIES = 1 << 16  # scores in memory at a time: half a megabyte, a part of the second-level cache
REMEMBERED = 10  # steps of L-BFGS, at most
SAFE = 300.0  # scores up to this size are exponentiated as they are, without overflow


@dataclass(frozen=True)
class Moments:
    """Sums of softmax probabilities over items, additive over chunks.

    log_normalizer : Σ_n ln Σ_k exp(score_nk).
    design : (columns, clusters) Σ_n x_n p_nk, with the items' share of each cluster in the last row.
    labels : (groups, clusters) Σ_n 1[item n in group] p_nk; without rows if no evidence of labels was given.
    """

    log_normalizer: float
    design: Float[np.ndarray, "columns clusters"]
    labels: Float[np.ndarray, "groups clusters"]

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.log_normalizer + other.log_normalizer, self.design + other.design, self.labels + other.labels
        )


@dataclass(frozen=True)
class SoftmaxItems:
    """A chunk of items: rows of the design and of the label matrix.

    design : (items, columns), the last column 1.
    labels : (items, groups) sparse 0/1.
    """

    design: Float[np.ndarray, "items columns"]
    labels: csr_array

    @cached_property
    def length(self) -> float:
        """Length of the longest row of the design."""
        return float(np.sqrt(np.square(self.design).sum(1).max(initial=0)))


def in_chunks(items: SoftmaxItems, n_clusters: int) -> list[SoftmaxItems]:
    """Cut items into chunks whose scores fit the cache."""
    size = max(CHUNK_ENTRIES // n_clusters, 1)
    starts = range(0, len(items.design), size)
    return [SoftmaxItems(items.design[start : start + size], items.labels[start : start + size]) for start in starts]


def scores(
    items: SoftmaxItems,
    coefficients: Float[np.ndarray, "columns clusters"],
    evidence: Float[np.ndarray, "groups clusters"] | None = None,
) -> Float[np.ndarray, "items clusters"]:
    """x_n·c_k, plus the evidence of the item's labels if given."""
    score = items.design @ coefficients
    if evidence is not None:
        score += items.labels @ evidence
    return score


def moments(
    chunks: list[SoftmaxItems],
    coefficients: Float[np.ndarray, "columns clusters"],
    evidence: Float[np.ndarray, "groups clusters"] | None = None,
) -> Moments:
    """Moments of p_nk ∝ exp(scores), summed over chunks."""
    return reduce(add, (_chunk_moments(chunk, coefficients, evidence) for chunk in chunks))


def _chunk_moments(chunk: SoftmaxItems, coefficients: np.ndarray, evidence: np.ndarray | None) -> Moments:
    # clusters × items: the largest score of each item is then found row by row, which is faster
    weight = coefficients.T @ chunk.design.T
    largest = np.zeros(1)
    if evidence is not None:
        weight += (chunk.labels @ evidence).T
    # no score exceeds the product of the lengths
    if evidence is not None or chunk.length * np.sqrt(np.square(coefficients).sum(0).max()) > SAFE:
        largest = weight.max(0)
        weight -= largest
    np.exp(weight, out=weight)
    total = np.ones(len(weight)) @ weight
    log_normalizer = float(largest.sum() + np.log(total).sum())
    if evidence is None and chunk.design.shape[1] < len(weight):  # normalising the smaller one is cheaper
        design = weight @ (chunk.design / total[:, None])
        return Moments(log_normalizer, design.T, np.empty((0, len(weight))))
    weight /= total
    labels = np.empty((0, len(weight))) if evidence is None else chunk.labels.T @ weight.T
    return Moments(log_normalizer, (weight @ chunk.design).T, labels)


def posteriors(
    chunks: list[SoftmaxItems],
    coefficients: Float[np.ndarray, "columns clusters"],
    evidence: Float[np.ndarray, "groups clusters"] | None = None,
) -> Iterator[Float[np.ndarray, "items clusters"]]:
    """p_nk of each chunk in turn."""
    for chunk in chunks:
        score = scores(chunk, coefficients, evidence)
        score -= score.max(1, keepdims=True)
        np.exp(score, out=score)
        yield score / score.sum(1, keepdims=True)


def with_offset(
    weights: Float[np.ndarray, "features clusters"], richness: float
) -> Float[np.ndarray, "columns clusters"]:
    """Weights with the offset λ ‖w_k‖² as a last row: the matrix that multiplies the design."""
    return np.vstack([weights, richness * (weights**2).sum(0)])


def log_posterior(
    weights: Float[np.ndarray, "features clusters"],
    model: Moments,
    target: Float[np.ndarray, "columns clusters"],
    richness: float,
    prior_variance: float,
) -> tuple[float, Float[np.ndarray, "features clusters"]]:
    """Objective of the M-step (Chen et al. 2018, eq. 4), without the Gaussian's constants, and its gradient.

    weights : W, a column for each cluster.
    model : moments of π under these weights.
    target : Σ_n x_n ρ_nk, the moments under the responsibilities.
    richness : λ.
    prior_variance : σ².

    Returns
    -------
    value : Σ_nk ρ_nk ln π_nk − ‖W‖² / (2σ²), nats.
    gradient : Φᵀ(ρ − π) + 2λ W diag(Σ_n ρ_nk − Σ_n π_nk) − W / σ².
    """
    surplus, norms = target - model.design, (weights**2).sum(0)
    score = (target[:-1] * weights).sum() + richness * (target[-1] @ norms)
    value = score - model.log_normalizer - norms.sum() / (2 * prior_variance)
    gradient = surplus[:-1] + weights * (2 * richness * surplus[-1] - 1 / prior_variance)
    return float(value), gradient


def fit_weights(
    weights: Float[np.ndarray, "features clusters"],
    model: Moments,
    moments_of: Callable[[Float[np.ndarray, "columns clusters"]], Moments],
    target: Float[np.ndarray, "columns clusters"],
    richness: float,
    prior_variance: float,
    *,
    max_iter: int,
) -> tuple[Float[np.ndarray, "features clusters"], Moments]:
    """Maximise `log_posterior` by at most `max_iter` steps of L-BFGS from `weights`; it never decreases.

    weights, model, target, richness, prior_variance : as for `log_posterior`.
    moments_of : coefficients → moments of π, a sum over the items wherever they are.

    Returns weights, moments of π under them.
    """
    at, found = weights, model

    def moments_at(flat: np.ndarray) -> Moments:
        nonlocal at, found
        if not np.array_equal(flat, at.ravel()):  # the moments at the start, and at the last point, are known
            at = flat.reshape(weights.shape).copy()  # a view would equal whatever the optimiser writes next
            found = moments_of(with_offset(at, richness))
        return found

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        seen = moments_at(flat)
        value, gradient = log_posterior(at, seen, target, richness, prior_variance)
        return -value, -gradient.ravel()

    # as many steps are remembered as there can be
    options = {"maxiter": max_iter, "maxcor": min(max_iter, REMEMBERED)}
    best = minimize(objective, weights.ravel(), jac=True, method="L-BFGS-B", options=options).x
    return best.reshape(weights.shape), moments_at(best)
