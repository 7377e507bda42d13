"""SCDC: clusters in the latent space of a network, guided by judged pairs of some items; by point estimates.

Luo, Tian, Shi, Zhu & Zhang (2018), Semi-crowdsourced Clustering with Deep Generative Models, NeurIPS, section 2.

Model
-----
    z_n ~ Categorical(π)                cluster of item n
    x_n ~ N(μ_k, Σ_k), k = z_n          its latent position, d numbers
    o_n ~ p(o | x_n; γ)                 its observed features
    L_ij^m = 1 with probability α_m if z_i = z_j, else with probability 1 − β_m

    q(z_n, x_n | o_n) = Categorical(π(o_n; φ)) N(μ(z_n, o_n; φ), diag σ²(z_n, o_n; φ))

Symbols
-------
    paper     here                          shape
    π         parameters.log_shares         (clusters,), up to a constant
    μ         parameters.means              (clusters, dims)
    Σ         parameters.roots              (clusters, dims, dims): of Σ = R Rᵀ, logs on the diagonal
    φ         parameters.classifier, .encoder
    γ         parameters.likelihood
    α, β      posterior.sensitivity, .specificity   (annotators, 2): judgements right and wrong

Objective
---------
    Σ_n Σ_k q(z_n = k) [ln π_k − ln q(z_n = k) + E ln p(o_n | x) − KL(q(x | k, o_n) ‖ N(μ_k, Σ_k))]            (6, 7)
        + Σ_m Σ_ij E ln p(L_ij^m | z_i, z_j)

by Adam, at one draw of x for every item and cluster: the cost is K passes of the decoder.

Decided here
------------
- The divergence of two Gaussians is computed in closed form, not at the draw.
- α and β are not updated by gradients: given q(Z) their optimum is known, a share of judgements.
- All judged pairs of an item count in every step, through remembered responsibilities of the others: see `training`.
- With `n_candidates` the sum goes over the most probable clusters of each item only, to which q(z) is then restricted:
  a looser bound, at a cost that does not grow with K.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, PRNGKeyArray

from consilience.deep.exponential_family import Gaussian
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements, right_and_wrong
from consilience.deep.linear_algebra import cholesky, inverse_of_lower
from consilience.deep.networks import Likelihood, Perceptron, Potential, apply, potential

Responsibilities = Float[Array, "items clusters"]


class ConditionalEncoder(eqx.Module):
    """q(x | z, o): maps an observation and a cluster to a Gaussian; without a cluster, to a common one.

    The first layer is applied to the observation once, whatever the number of clusters.
    """

    first: Perceptron
    offsets: Float[Array, "clusters hidden"]
    rest: Perceptron

    def __init__(self, n_features: int, hidden: Sequence[int], n_latent: int, n_clusters: int, *, key: PRNGKeyArray):
        of_first, of_rest = jax.random.split(key)
        self.first = Perceptron([n_features, hidden[0]], key=of_first)
        self.offsets = jnp.zeros((n_clusters, hidden[0]))
        self.rest = Perceptron([*hidden, 2 * n_latent], key=of_rest)

    def __call__(self, observed: Float[Array, " features"]) -> Potential:
        return self._finish(self.first(observed))

    def of_clusters(self, observed: Array, clusters: Array) -> Potential:
        """Potentials of one observation in each of some clusters."""
        return jax.vmap(self._finish)(self.first(observed) + self.offsets[clusters])

    def _finish(self, hidden: Array) -> Potential:
        return potential(self.rest(jax.nn.relu(hidden)))


class SCDCParameters(eqx.Module):
    """Parameters that gradients update; see the module docstring."""

    classifier: Perceptron
    encoder: ConditionalEncoder
    likelihood: Likelihood
    log_shares: Float[Array, " clusters"]
    means: Float[Array, "clusters dims"]
    roots: Float[Array, "clusters dims dims"]


class SCDCReliability(NamedTuple):
    """Right and wrong judgements of each annotator: of pairs within clusters, then of others."""

    sensitivity: Float[Array, "annotators 2"]
    specificity: Float[Array, "annotators 2"]


class SCDCPrior(NamedTuple):
    """reliability : imagined right and wrong judgements, added to those of every annotator."""

    reliability: Float[Array, " 2"]


class Position(NamedTuple):
    """mean : of q(x), over clusters."""

    mean: Float[Array, "items dims"]


class SCDCLocal(NamedTuple):
    """q of items; see `bayes_scdc.BayesSCDCLocal`."""

    bound: Float[Array, " items"]
    responsibilities: Responsibilities
    latent: Position


def local(
    parameters: SCDCParameters,
    posterior: SCDCReliability,
    observed: Array,
    messages: Responsibilities,
    key: PRNGKeyArray,
    *,
    n_candidates: int | None = None,
) -> SCDCLocal:
    """q of items, and their contribution to the objective."""
    n_clusters = len(parameters.log_shares)
    log_q = jax.nn.log_softmax(apply(parameters.classifier, observed), axis=1)
    n_candidates = min(n_candidates or n_clusters, n_clusters)
    among, clusters = jax.lax.top_k(log_q, n_candidates)
    among = jax.nn.log_softmax(among, axis=1)
    of_clusters = jax.vmap(parameters.encoder.of_clusters)(observed, clusters)
    mean, variance = of_clusters.linear / of_clusters.precision, 1 / of_clusters.precision
    drawn = mean + jnp.sqrt(variance) * jax.random.normal(key, mean.shape)
    many = jnp.repeat(observed, n_candidates, axis=0)
    seen = parameters.likelihood.log_probability(many, drawn.reshape(len(many), -1)).reshape(among.shape)
    within = seen - divergences(mean, variance, parameters, clusters)
    offsets = jnp.take_along_axis(jax.nn.log_softmax(parameters.log_shares) + messages, clusters, axis=1)
    share = jnp.exp(among)
    bound = (share * (within + offsets - among)).sum(1)
    rows = jnp.arange(len(observed))[:, None]
    responsibilities = jnp.zeros_like(log_q).at[rows, clusters].set(share)
    return SCDCLocal(bound, responsibilities, Position((share[:, :, None] * mean).sum(1)))


def divergences(
    mean: Float[Array, "items candidates dims"], variance: Array, parameters: SCDCParameters, clusters: Array
) -> Float[Array, "items candidates"]:
    """KL(N(mean, diag variance) ‖ N(μ_k, Σ_k)) for each item and each of its clusters, nats."""
    roots = lower_roots(parameters.roots)
    inverse = inverse_of_lower(roots)[clusters]
    log_root = jnp.diagonal(parameters.roots, axis1=1, axis2=2).sum(1)[clusters]
    apart = jnp.einsum("nkij,nkj->nki", inverse, mean - parameters.means[clusters])
    trace = (inverse**2 * variance[:, :, None, :]).sum((-2, -1))
    return (trace + (apart**2).sum(-1) - mean.shape[-1] - jnp.log(variance).sum(-1)) / 2 + log_root


def lower_roots(roots: Float[Array, "clusters dims dims"]) -> Float[Array, "clusters dims dims"]:
    """R of Σ = R Rᵀ."""
    diagonal = jnp.exp(jnp.diagonal(roots, axis1=1, axis2=2))
    return jnp.tril(roots, -1) + diagonal[:, :, None] * jnp.eye(roots.shape[1])


def start(
    parameters: SCDCParameters, responsibilities: Responsibilities, latent: Gaussian, shrinkage: float
) -> SCDCParameters:
    """Gaussians of first clusters, shrunk towards a common one."""
    sizes = responsibilities.sum(0)
    second = latent.covariance + latent.mean[:, :, None] * latent.mean[:, None, :]
    dims = second.shape[1]
    centre = latent.mean.mean(0)
    whole = second.mean(0) - centre[:, None] * centre
    means = (responsibilities.T @ latent.mean + centre) / (sizes[:, None] + 1)
    outer = (responsibilities.T @ second.reshape(-1, dims * dims)).reshape(-1, dims, dims)
    counts = sizes[:, None, None] + 1
    within = outer + centre[:, None] * centre - counts * means[:, :, None] * means[:, None, :]
    covariances = (within + shrinkage * whole) / (sizes + shrinkage)[:, None, None]
    roots = cholesky(covariances + 1e-4 * jnp.eye(dims))  # positive definite, even where features are constant
    diagonal = jnp.log(jnp.diagonal(roots, axis1=1, axis2=2))
    return eqx.tree_at(
        lambda one: (one.log_shares, one.means, one.roots),
        parameters,
        (jnp.log(sizes + 1), means, jnp.tril(roots, -1) + diagonal[:, :, None] * jnp.eye(dims)),
    )


def pair_weights(posterior: SCDCReliability) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
    """w_ij^m of a judgement "same", and of one "apart"."""
    alpha, beta = (jnp.log(right / right.sum(1, keepdims=True)) for right in posterior)
    return alpha[:, 0] - beta[:, 1], alpha[:, 1] - beta[:, 0]


def reliability_step(
    prior: SCDCPrior, posterior: SCDCReliability, judged: NumberedJudgements, agreement: JudgedAgreement, rate: Any
) -> SCDCReliability:
    """α and β: a step of size `rate` towards their optimum."""
    found = right_and_wrong(judged, agreement)
    return SCDCReliability(
        *((1 - rate) * ours + rate * (prior.reliability + own) for ours, own in zip(posterior, found, strict=True))
    )


def lower_bound(
    posterior: SCDCReliability, found: SCDCLocal, messages: Responsibilities, judged: NumberedJudgements | None
) -> Array:
    """The objective, nats; `found` is of all items, `messages` and `judged` of the last, annotated ones."""
    items = found.bound.sum()
    if judged is None:
        return items
    annotated = found.responsibilities[len(found.bound) - len(messages) :]
    counts = right_and_wrong(judged, judged.agreement(annotated))
    said = sum(
        (own * jnp.log(right / right.sum(1, keepdims=True))).sum() for own, right in zip(counts, posterior, strict=True)
    )
    return items - (annotated * messages).sum() + said
