"""Latent classes: every grouping is a noisy observation of one hidden clustering.

Lazarsfeld & Henry (1968), Latent Structure Analysis; mean-field treatment after Bishop (2006), ch. 10.

Model
-----
    π          ~ Dirichlet(γ, …, γ)                              cluster proportions, k = 1 … K
    z_n        ~ Categorical(π)                                  cluster of item n
    θ^{mk}     ~ Dirichlet(β, …, β)                              distribution of cluster k over the groups of grouping m
    y_nm | z_n = k ~ Categorical(θ^{mk})                         the group into which grouping m puts item n

Symbols
-------
    paper   here              shape
    y       labels            (items, groups)      sparse 0/1; the groups of all groupings side by side
    z       responsibilities  (items, clusters)    q(z_n = k)
    θ       spread            (cells,)             Dirichlet parameters of q(θ^{mk}); cluster by cluster, all groups
    π       proportions       (clusters,)          Dirichlet parameters of q(π)

Updates
-------
    (1)  ln q(z_n = k) = E[ln π_k] + Σ_m E[ln θ^{mk}_{y_nm}] + const
    (2)  q(θ^{mk}) = Dirichlet(β + Σ_n q(z_n = k) 1[y_nm = ·])
    (3)  q(π)      = Dirichlet(γ + Σ_n q(z_n))

Decided here
------------
A missing label contributes to none of the sums. A sweep is (2), (3), (1). The initial responsibilities are random; with
γ = 1 / K, clusters that are not needed become empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax

from consilience.annotations import Groupings
from consilience.inference import Trace, iterate
from consilience.inference.exponential_family import (
    entropy_categorical,
    expected_log_dirichlet,
    expected_log_dirichlet_segments,
    kl_dirichlet_segments,
)


@dataclass(frozen=True)
class LatentClassPrior:
    """proportion : γ. spread : β."""

    proportion: float
    spread: float


@dataclass(frozen=True)
class LatentClassData:
    """labels : which item is in which group. starts : (groupings,) first group of each grouping."""

    labels: csr_array
    starts: Int[np.ndarray, " groupings"]

    @classmethod
    def of(cls, groupings: Groupings) -> LatentClassData:
        return cls(groupings.incidence, np.flatnonzero(np.diff(groupings.grouping_of_group, prepend=-1)))

    def segments(self, n_clusters: int) -> Int[np.ndarray, " segments"]:
        """Return the first cell of every θ^{mk}, cluster by cluster."""
        offsets = np.arange(n_clusters) * self.labels.shape[1]
        return (offsets[:, None] + self.starts).ravel()


@dataclass(frozen=True)
class LatentClassState:
    responsibilities: Float[np.ndarray, "items clusters"]
    spread: Float[np.ndarray, " cells"]
    proportions: Float[np.ndarray, " clusters"]


def init(
    data: LatentClassData, prior: LatentClassPrior, n_clusters: int, rng: np.random.RandomState
) -> LatentClassState:
    """Return the first state: random responsibilities, with the updates that follow from them."""
    random = rng.dirichlet(np.ones(n_clusters), size=data.labels.shape[0])
    return LatentClassState(random, update_spread(random, data, prior), update_proportions(random, prior))


def run(
    data: LatentClassData, prior: LatentClassPrior, n_clusters: int, seed: int, *, max_iter: int, tol: float
) -> Trace[LatentClassState]:
    """Fit one restart, with the loop that all models share."""
    return iterate(
        init(data, prior, n_clusters, np.random.RandomState(seed)),
        lambda state: step(state, data, prior),
        lambda state: lower_bound(state, data, prior),
        max_iter=max_iter,
        tol=tol,
    )


def step(state: LatentClassState, data: LatentClassData, prior: LatentClassPrior) -> LatentClassState:
    spread = update_spread(state.responsibilities, data, prior)
    proportions = update_proportions(state.responsibilities, prior)
    return LatentClassState(update_responsibilities(spread, proportions, data), spread, proportions)


def update_responsibilities(
    spread: Float[np.ndarray, " cells"], proportions: Float[np.ndarray, " clusters"], data: LatentClassData
) -> Float[np.ndarray, "items clusters"]:
    """(1)."""
    log_likelihood = data.labels @ expected_log_spread(spread, len(proportions), data)
    return softmax(expected_log_dirichlet(proportions) + log_likelihood, axis=1)


def update_spread(
    responsibilities: Float[np.ndarray, "items clusters"], data: LatentClassData, prior: LatentClassPrior
) -> Float[np.ndarray, " cells"]:
    """(2)."""
    return prior.spread + (responsibilities.T @ data.labels).ravel()


def update_proportions(
    responsibilities: Float[np.ndarray, "items clusters"], prior: LatentClassPrior
) -> Float[np.ndarray, " clusters"]:
    """(3)."""
    return prior.proportion + responsibilities.sum(0)


def expected_log_spread(
    spread: Float[np.ndarray, " cells"], n_clusters: int, data: LatentClassData
) -> Float[np.ndarray, "groups clusters"]:
    """E[ln θ]: the log likelihood of each group under each cluster."""
    expected = expected_log_dirichlet_segments(spread, data.segments(n_clusters))
    return expected.reshape(n_clusters, -1).T


def lower_bound(state: LatentClassState, data: LatentClassData, prior: LatentClassPrior) -> float:
    """Lower bound of ln p(labels) in nats, with all constants."""
    rho, n_clusters = state.responsibilities, len(state.proportions)
    log_likelihood = data.labels @ expected_log_spread(state.spread, n_clusters, data)
    items = (rho * (log_likelihood + expected_log_dirichlet(state.proportions))).sum() + entropy_categorical(rho).sum()
    spread = kl_dirichlet_segments(state.spread, np.full_like(state.spread, prior.spread), data.segments(n_clusters))
    proportions = kl_dirichlet_segments(state.proportions, np.full(n_clusters, prior.proportion), np.array([0]))
    return float(items - spread - proportions)
