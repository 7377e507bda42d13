"""Conjugate families in natural parameters, as JAX arrays, for natural-gradient steps.

Luo et al. (2018), appendix A, with t the sufficient statistics and ln Z the log-partition function:

    family                  natural parameters             t                                expected t
    Dirichlet               α − 1, stored as α             ln π                             ψ(α) − ψ(Σ α)
    normal-inverse-Wishart  κm, S + κ m mᵀ, κ, ν + d + 2   Σ⁻¹μ, −½Σ⁻¹, −½μᵀΣ⁻¹μ, −½ln|Σ|   below
    Gaussian                P μ, P = precision             x, −½ x xᵀ                       μ, −½ (P⁻¹ + μ μᵀ)

    E t(μ, Σ) = (ν S⁻¹ m,  −½ ν S⁻¹,  −½ (d/κ + ν mᵀS⁻¹m),  ½ (ψ_d(ν/2) + d ln 2 − ln|S|))
    ψ_d(a) = Σᵢ ψ(a + (1 − i)/2), i = 1 … d

A convex combination of natural parameters is again valid, which is why a natural-gradient step of size ρ,
(1 − ρ) η + ρ (η⁰ + statistics), needs no projection. Every family may be batched in the leading axes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import digamma, gammaln, multigammaln
from jaxtyping import Float

from consilience.deep.linear_algebra import inverse_and_log_determinant


class NormalWishart(NamedTuple):
    """Natural parameters of normal-inverse-Wishart distributions of (μ, Σ).

    linear : κ m. outer : S + κ m mᵀ. strength : κ. degrees : ν + d + 2.
    """

    linear: Float[Array, "*batch dims"]
    outer: Float[Array, "*batch dims dims"]
    strength: Float[Array, "*batch"]
    degrees: Float[Array, "*batch"]


class ExpectedGaussian(NamedTuple):
    """Expected statistics of (μ, Σ), the parameters of a cluster for its items.

    linear : E Σ⁻¹μ. precision : E Σ⁻¹. constant : E[−½ μᵀΣ⁻¹μ − ½ ln|Σ|].
    """

    linear: Float[Array, "*batch dims"]
    precision: Float[Array, "*batch dims dims"]
    constant: Float[Array, "*batch"]


class Gaussian(NamedTuple):
    """Gaussian distributions by mean and covariance, with their entropies in nats."""

    mean: Float[Array, "*batch dims"]
    covariance: Float[Array, "*batch dims dims"]
    entropy: Float[Array, "*batch"]


def normal_wishart(
    mean: Float[Array, "*batch dims"],
    count: Float[Array, "*batch"],
    scale: Float[Array, "*batch dims dims"],
    degrees: Float[Array, "*batch"],
) -> NormalWishart:
    """Natural parameters from m, κ, S, ν."""
    outer = scale + count[..., None, None] * mean[..., :, None] * mean[..., None, :]
    return NormalWishart(count[..., None] * mean, outer, count, degrees + mean.shape[-1] + 2)


def standard(natural: NormalWishart) -> tuple[Array, Array, Array, Array]:
    """Return m, κ, S, ν."""
    mean = natural.linear / natural.strength[..., None]
    scale = natural.outer - natural.linear[..., :, None] * mean[..., None, :]
    return mean, natural.strength, scale, natural.degrees - mean.shape[-1] - 2


def expected_gaussian(natural: NormalWishart) -> ExpectedGaussian:
    """Expected statistics of (μ, Σ)."""
    mean, count, scale, degrees = standard(natural)
    dims = mean.shape[-1]
    inverse, log_determinant = inverse_and_log_determinant(scale)
    precision = degrees[..., None, None] * inverse
    linear = jnp.einsum("...ij,...j->...i", precision, mean)
    multidigamma = digamma((degrees / 2)[..., None] - jnp.arange(dims) / 2).sum(-1)  # ψ_d
    log_precision = multidigamma + dims * jnp.log(2.0) - log_determinant
    constant = (log_precision - dims / count - (linear * mean).sum(-1)) / 2
    return ExpectedGaussian(linear, precision, constant)


def log_partition(natural: NormalWishart) -> Float[Array, "*batch"]:
    """Return ln Z of normal-inverse-Wishart distributions, over base measure (2π)^(−d/2)."""
    mean, count, scale, degrees = standard(natural)
    dims = mean.shape[-1]
    _, log_determinant = inverse_and_log_determinant(scale)
    log_wishart = degrees / 2 * (dims * jnp.log(2.0) - log_determinant) + multigammaln(degrees / 2, dims)
    return log_wishart - dims / 2 * jnp.log(count)


def kl_normal_wishart(natural: NormalWishart, prior: NormalWishart) -> Float[Array, "*batch"]:
    """KL divergence from the prior, nats."""
    expected = expected_gaussian(natural)
    apart = [ours - theirs for ours, theirs in zip(natural, prior, strict=True)]
    mean, count, _, _ = standard(natural)
    quadratic = -(mean.shape[-1] / count + (expected.linear * mean).sum(-1)) / 2
    inner = (
        (apart[0] * expected.linear).sum(-1)
        - (apart[1] * expected.precision).sum((-2, -1)) / 2
        + apart[2] * quadratic
        + apart[3] * (expected.constant - quadratic)
    )
    return inner - log_partition(natural) + log_partition(prior)


def expected_log(concentration: Float[Array, "*batch classes"]) -> Float[Array, "*batch classes"]:
    """E ln π of Dirichlet distributions; a Beta distribution is one of two classes."""
    return digamma(concentration) - digamma(concentration.sum(-1, keepdims=True))


def kl_dirichlet(concentration: Float[Array, "*batch classes"], prior: Array) -> Float[Array, "*batch"]:
    """KL divergence from the prior, nats."""
    prior = jnp.broadcast_to(prior, concentration.shape)
    inner = ((concentration - prior) * expected_log(concentration)).sum(-1)
    return inner - _log_beta(concentration) + _log_beta(prior)


def gaussian(linear: Float[Array, "*batch dims"], precision: Float[Array, "*batch dims dims"]) -> Gaussian:
    """Gaussians from natural parameters P μ and P."""
    covariance, log_determinant = inverse_and_log_determinant(precision)
    mean = jnp.einsum("...ij,...j->...i", covariance, linear)
    entropy = (linear.shape[-1] * (1 + jnp.log(2 * jnp.pi)) - log_determinant) / 2
    return Gaussian(mean, covariance, entropy)


def _log_beta(concentration: Array) -> Array:
    return gammaln(concentration).sum(-1) - gammaln(concentration.sum(-1))
