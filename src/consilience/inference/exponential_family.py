"""Expectations, entropies and divergences of Dirichlet, Beta and categorical distributions, all constants kept.

The last axis holds the parameters of one distribution. The functions named `…_segments` do the same for distributions
of different sizes stored end to end, each from its start to the start of the next. A Beta distribution is a Dirichlet
distribution with two parameters.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.special import digamma, entr, gammaln

Starts = Int[np.ndarray, " segments"]
Batch = Float[np.ndarray, "*batch"] | np.floating  # a scalar for a single distribution


def expected_log_dirichlet(
    concentration: Float[np.ndarray, "*batch categories"],
) -> Float[np.ndarray, "*batch categories"]:
    """E[ln p] under p ~ Dirichlet(concentration); Bishop (2006), eq. B.21."""
    return digamma(concentration) - digamma(concentration.sum(-1, keepdims=True))


def kl_dirichlet(q: Float[np.ndarray, "*batch categories"], p: Float[np.ndarray, "*batch categories"]) -> Batch:
    """KL(Dirichlet(q) ‖ Dirichlet(p)), nats."""
    return ((q - p) * expected_log_dirichlet(q)).sum(-1) + log_normalizer_dirichlet(q) - log_normalizer_dirichlet(p)


def log_normalizer_dirichlet(concentration: Float[np.ndarray, "*batch categories"]) -> Batch:
    """Log of the density's normalising constant: ln Γ(Σ c) − Σ ln Γ(c)."""
    return gammaln(concentration.sum(-1)) - gammaln(concentration).sum(-1)


def entropy_categorical(probability: Float[np.ndarray, "*batch categories"]) -> Batch:
    """−Σ p ln p, nats; 0 ln 0 = 0."""
    return entr(probability).sum(-1)


def expected_log_dirichlet_segments(
    concentration: Float[np.ndarray, " entries"], starts: Starts
) -> Float[np.ndarray, " entries"]:
    """`expected_log_dirichlet` of distributions stored end to end."""
    totals = np.add.reduceat(concentration, starts)
    return digamma(concentration) - np.repeat(digamma(totals), segment_sizes(starts, len(concentration)))


def kl_dirichlet_segments(q: Float[np.ndarray, " entries"], p: Float[np.ndarray, " entries"], starts: Starts) -> float:
    """Σ KL(Dirichlet(q) ‖ Dirichlet(p)) over distributions stored end to end, nats."""

    def log_normalizer(concentration: np.ndarray) -> float:
        return float(gammaln(np.add.reduceat(concentration, starts)).sum() - gammaln(concentration).sum())

    expected = expected_log_dirichlet_segments(q, starts)
    return float((q - p) @ expected) + log_normalizer(q) - log_normalizer(p)


def segment_sizes(starts: Starts, n_entries: int) -> Int[np.ndarray, " segments"]:
    """Entries in each segment."""
    return np.diff(starts, append=n_entries)
