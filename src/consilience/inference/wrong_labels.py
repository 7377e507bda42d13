"""The probability that labels given beforehand are right, from the probabilities of classes that a model found.

A column of labels is treated as one more annotator, of unknown accuracy, who did not see the others' labels.

    c_n                     class of item n
    p_n(k)                  probability of class k by the model
    p'_n(k)                 (1 - ε) p_n(k)^(1/τ) / Σ_l p_n(l)^(1/τ) + ε / K
    g_n                     given label: c_n with probability a, else l with probability E(c_n, l)
    E_s(k, l)               (1 - s) / (K - 1) + s M(k, l), 0 on the diagonal
    M(k, l)                 how often k and l are the likely classes of an item, Σ_n p_n(k) p_n(l), scaled to rows of 1
    P(g_n | a, ε, τ, s)     a p'_n(g_n) + (1 - a) Σ_k p'_n(k) E_s(k, g_n)
    P(c_n = g_n | …)        the first of these two terms as a share of both

The parameters are summed out over a grid: a, the accuracy of the given labels, with an even prior; τ and ε, by which
the model's probabilities are too sure, with ln τ ~ N(0, 0.35²) and ε ~ Exponential(mean 0.06); s, how far wrong labels
are those that annotators find likely too. The number of wrong labels is a sum of independent draws given the
parameters, so that its distribution is a mixture of normals.

Decided here
------------
Neither the model's probabilities nor one accuracy alone suffice. A crowd that is too sure makes right labels look
wrong, and so do errors that most annotators share. τ and ε let disagreement come from either side: the fewer the items
of which the crowd is less sure, and on which disagreement is more frequent, the more of it is due to given labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, softmax

ERRORS = np.geomspace(1e-4, 0.6, 40)  # 1 - a
TEMPERATURES = np.exp(np.linspace(np.log(0.5), np.log(2.5), 7))
SHARED = np.array([0, 0.02, 0.04, 0.07, 0.1, 0.15])  # ε
LIKELY = (0.0, 0.5, 0.9)  # s
SPREAD, MEAN_SHARED = 0.35, 0.06  # of ln τ; of ε
LEAST = 1e-9  # probability of a class
NEGLIGIBLE = 1e-6  # weight of a point of the grid
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class WrongLabels:
    """What is found about given labels.

    right : probability that the given label of an item is right.
    low, high : a range of the number of wrong labels.
    """

    right: Float[np.ndarray, " items"]
    low: int
    high: int


def wrong_labels(probability: Float[np.ndarray, "items classes"], given: Int[np.ndarray, " items"]) -> WrongLabels:
    """Judge given labels by the probabilities of classes.

    probability : of each class of each item.
    given : code of the class that is given for each item.
    """
    if len(given) == 0 or probability.shape[1] == 1:
        return WrongLabels(np.ones(len(given)), 0, 0)
    log_prior, terms = zip(*_points(probability, given), strict=True)
    errors = ERRORS[:, None]
    log_weight = np.array(
        [
            np.log((1 - errors) * right + errors * wrong).sum(1) + prior
            for prior, (right, wrong) in zip(log_prior, terms)
        ]
    ) + np.log(ERRORS)  # the points are even in ln(1 - a), the prior in a
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    found, weights, means, variances = np.zeros(len(given)), [], [], []
    for weight_of_errors, (right, wrong) in zip(weight, terms):
        kept = np.flatnonzero(weight_of_errors > NEGLIGIBLE)
        is_right = (1 - errors[kept]) * right
        is_right /= is_right + errors[kept] * wrong
        found += weight_of_errors[kept] @ is_right
        weights.append(weight_of_errors[kept])
        means.append((1 - is_right).sum(1))
        variances.append((is_right * (1 - is_right)).sum(1))
    kept_weight = np.concatenate(weights)
    low, high = _range(kept_weight, np.concatenate(means), np.concatenate(variances), len(given))
    return WrongLabels(found / kept_weight.sum(), low, high)


def _points(
    probability: Float[np.ndarray, "items classes"], given: Int[np.ndarray, " items"]
) -> Iterator[tuple[float, tuple[Float[np.ndarray, " items"], Float[np.ndarray, " items"]]]]:
    """Yield for each τ, ε and s the log prior, and P(g_n) if the label is right and if it is wrong."""
    items, n_classes = np.arange(len(given)), probability.shape[1]
    logs = np.log(np.maximum(probability, LEAST))
    likely = _likely(probability)[:, given].T
    shapes = LIKELY if n_classes > 2 else LIKELY[:1]  # of two classes one is wrong, however likely
    for temperature, shared in product(TEMPERATURES, SHARED):
        prior = float(-0.5 * (np.log(temperature) / SPREAD) ** 2 - shared / MEAN_SHARED)
        flat = (1 - shared) * softmax(logs / temperature, axis=1) + shared / n_classes
        right = flat[items, given]
        even = (1 - right) / (n_classes - 1)
        by_likely = np.einsum("nk,nk->n", flat, likely)
        for share in shapes:
            yield prior, (right, np.maximum((1 - share) * even + share * by_likely, LEAST**2))


def _likely(probability: Float[np.ndarray, "items classes"]) -> Float[np.ndarray, "classes classes"]:
    """Return M; a class that is never likely together with another is taken for all others equally."""
    n_classes = probability.shape[1]
    both = probability.T @ probability
    np.fill_diagonal(both, 0)
    total = both.sum(1, keepdims=True)
    even = (1 - np.eye(n_classes)) / (n_classes - 1)
    return np.where(total > LEAST, both / np.maximum(total, LEAST), even)


def _range(
    weight: Float[np.ndarray, " points"],
    mean: Float[np.ndarray, " points"],
    variance: Float[np.ndarray, " points"],
    most: int,
) -> tuple[int, int]:
    """Quantiles of a mixture of normal distributions, as whole numbers."""
    steps = np.unique(np.linspace(0, most, min(most, 4000) + 1).round().astype(int))
    spread = np.sqrt(variance + 1e-9)  # not 0 where every label is certain
    # half a label more, since numbers of labels are whole
    below = np.array([weight @ ndtr((step + 0.5 - mean) / spread) for step in steps.tolist()]) / weight.sum()
    low, high = (int(steps[min(int(np.searchsorted(below, share)), len(steps) - 1)]) for share in INTERVAL)
    return low, high
