"""BayesSCDC: clusters in the latent space of a network, guided by judged pairs of some items; fully Bayesian.

Luo, Tian, Shi, Zhu & Zhang (2018), Semi-crowdsourced Clustering with Deep Generative Models, NeurIPS, section 3.

Model
-----
    π ~ Dirichlet(α₀)                              shares of the components
    μ_k, Σ_k ~ normal-inverse-Wishart(m, κ, S, ν)  location and shape of component k, k = 1 … K
    c_k                                            its cluster
    α_m, β_m ~ Beta(τ)                             sensitivity and specificity of annotator m
    z_n ~ Categorical(π)                           component of item n
    x_n ~ N(μ_k, Σ_k), k = z_n                     its latent position, d numbers
    o_n ~ p(o | x_n; γ)                            its observed features; γ is the decoder
    L_ij^m = 1 with probability α_m if c(z_i) = c(z_j), else with probability 1 − β_m

In the paper every component is a cluster. Here components whose items people put together form one cluster, which need
not be Gaussian (`merging`).

Symbols
-------
    paper     here                        shape
    φ, γ      parameters                  networks
    r(o; φ)   potential                   (items, dims) twice: h, J
    η_π       posterior.concentration     (components,)
    η_μΣ      posterior.components        (components, …), see `exponential_family`
    c         posterior.joined            (components, clusters), a one in each row
    τ         posterior.sensitivity, .specificity   (annotators, 2)
    E[z]      components                  (items, components)
    E[c(z)]   responsibilities            (items, clusters)
    q(x)      latent                      Gaussians of the items
    Σ w E[c(z_j)]  messages               (items, clusters)

Updates
-------
    q(x_n): natural parameters Σ_k E[z_nk] E(Σ_k⁻¹μ_k, Σ_k⁻¹) + r(o_n; φ)                          (12)
    q(z_n): ln E[z_nk] = E ln π_k + E ln N(x_n | μ_k, Σ_k) + Σ_m Σ_j w_ij^m E[c(z_j) = c_k] + const    (14)
    φ, γ:   Adam on the bound (A.5), at x̂ ~ q(x), through the local fixed point of (12) and (14)
    π, μΣ:  η ← (1 − ρ) η + ρ (η⁰ + scaled statistics)                                             (26, 27)
    τ:      the same                                                                               (28, 29)

With momentum, v ← momentum · v + ρ (target − η), η ← η + v for π and μΣ. With the full gradient, the target is
η⁰ + scaled statistics + the second term of (17): the gradient of the bound of the items in E t(μ, Σ) and E ln π where
these enter through (12) and (14) only.

Decided here
------------
(12) and (14) alternate to a tolerance, and gradients pass through the fixed point itself by its implicit derivative,
not through a number of sweeps. All judged pairs of an item count in every step: E[c(z)] of all annotated items is
remembered, and messages are computed from the remembered values, so that a minibatch of annotated items does not need
their partners. The second term of (17) is left out by default, as in the paper's appendix; of τ it always is. Neither
a step with momentum nor one with the second term is convex, so that η can leave the valid set: a component that would
takes the convex step towards η⁰ + scaled statistics instead, and its velocity is then 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import logsumexp
from jaxtyping import Bool, Float, PRNGKeyArray

from consilience.deep import exponential_family as families
from consilience.deep.exponential_family import ExpectedGaussian, Gaussian, NormalWishart
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements, right_and_wrong
from consilience.deep.linear_algebra import cholesky, inverse_and_log_determinant
from consilience.deep.networks import Encoder, Likelihood, Potential, apply

MAX_SWEEPS = 20  # of (12) and (14), and for the derivative of their fixed point, by default
UNSETTLED = 0.1  # relative change of the derivative above which an item gets that of one sweep
SWEEP_TOL = 1e-4  # mean change of the items' responsibilities, relative to the largest, at which they have settled

Responsibilities = Float[Array, "items components"]


class BayesSCDCPrior(NamedTuple):
    """concentration : α₀ of each component. component : of one component. reliability : τ, right and wrong."""

    concentration: Float[Array, ""]
    component: NormalWishart
    reliability: Float[Array, " 2"]


class BayesSCDCParameters(eqx.Module):
    """φ and γ."""

    encoder: Encoder
    likelihood: Likelihood


class Mixture(NamedTuple):
    """Natural parameters of q(π) and q(μ, Σ), or a change of them."""

    concentration: Float[Array, " components"]
    components: NormalWishart


class Posterior(NamedTuple):
    """q of the global variables, in natural parameters; see the module docstring.

    velocity : of the steps of π and μΣ, if they have momentum.
    """

    concentration: Float[Array, " components"]
    components: NormalWishart
    sensitivity: Float[Array, "annotators 2"]
    specificity: Float[Array, "annotators 2"]
    joined: Float[Array, "components clusters"]
    velocity: Mixture | None = None


class Expected(NamedTuple):
    """E t(μ, Σ) and E ln π, or the gradient in them."""

    gaussians: ExpectedGaussian
    log_shares: Float[Array, " components"]


class Statistics(NamedTuple):
    """Sums over items: of E[z], E[z] E[x], E[z] E[x xᵀ]."""

    size: Float[Array, " components"]
    linear: Float[Array, "components dims"]
    outer: Float[Array, "components dims dims"]


class BayesSCDCLocal(NamedTuple):
    """q of items.

    bound : contribution of each to the bound, with all its messages: every judged pair counts at both of its items.
    responsibilities : of clusters. components : of components.
    """

    bound: Float[Array, " items"]
    responsibilities: Float[Array, "items clusters"]
    latent: Gaussian
    components: Responsibilities


Evidence = tuple[Potential, ExpectedGaussian, Responsibilities]
"""Inputs of the local fixed point: r(o; φ), E t(μ, Σ), and E ln π with the messages."""


def prior_of(
    n_latent: int, *, concentration: float, count: float, scale: float, reliability: tuple[float, float]
) -> BayesSCDCPrior:
    """Prior with m = 0, κ = count, ν = d + κ, S = scale · I."""
    component = families.normal_wishart(
        jnp.zeros(n_latent), jnp.float32(count), scale * jnp.eye(n_latent), jnp.float32(n_latent + count)
    )
    return BayesSCDCPrior(jnp.float32(concentration), component, jnp.array(reliability, jnp.float32))


# --- items: (12), (14) -----------------------------------------------------------------------------------------------


def positions(responsibilities: Responsibilities, potential: Potential, expected: ExpectedGaussian) -> Gaussian:
    """q(x), (12)."""
    components, dims = expected.linear.shape
    precision = (responsibilities @ expected.precision.reshape(components, -1)).reshape(-1, dims, dims)
    precision += potential.precision[:, :, None] * jnp.eye(dims)
    return families.gaussian(responsibilities @ expected.linear + potential.linear, precision)


def log_densities(latent: Gaussian, expected: ExpectedGaussian) -> Responsibilities:
    """E ln N(x | μ_k, Σ_k) for every item and component."""
    components, dims = expected.linear.shape
    quadratic = second_moments(latent).reshape(-1, dims * dims) @ expected.precision.reshape(components, -1).T
    return latent.mean @ expected.linear.T - quadratic / 2 + expected.constant - dims / 2 * jnp.log(2 * jnp.pi)


def sweep(responsibilities: Responsibilities, evidence: Evidence) -> Responsibilities:
    """(12), then (14)."""
    potential, expected, offsets = evidence
    latent = positions(responsibilities, potential, expected)
    return jax.nn.softmax(log_densities(latent, expected) + offsets, axis=1)


def transposed_sweep(
    responsibilities: Responsibilities, evidence: Evidence
) -> Callable[[Responsibilities], Responsibilities]:
    """Return u ↦ (∂T/∂η)ᵀ u, with T the sweep, at these responsibilities η.

    With C and m the covariances and means of q(x), and v the derivative of the softmax in (14), transposed, at u:

        G = −½ Σ_k v_k E Σ_k⁻¹                   pull on the second moment of x
        g = Σ_k v_k E Σ_k⁻¹μ_k + 2 G m           pull on its mean
        (∂T/∂η)ᵀ u = (C g)ᵀ E Σ_k⁻¹μ_k − tr((C G C + C g mᵀ) E Σ_k⁻¹)

    JAX derives the same from `sweep`, but its code takes twice as long.
    """
    potential, expected, offsets = evidence
    latent = positions(responsibilities, potential, expected)
    after = jax.nn.softmax(log_densities(latent, expected) + offsets, axis=1)
    components, dims = expected.linear.shape
    statistics = jnp.concatenate([expected.linear, expected.precision.reshape(components, -1)], 1)

    def transposed(u: Responsibilities) -> Responsibilities:
        v = after * (u - (after * u).sum(1, keepdims=True))
        both = v @ statistics
        of_second = both[:, dims:].reshape(-1, dims, dims) / -2
        of_mean = both[:, :dims] + 2 * jnp.einsum("nij,nj->ni", of_second, latent.mean)
        of_linear = jnp.einsum("nij,nj->ni", latent.covariance, of_mean)
        of_precision = -latent.covariance @ of_second @ latent.covariance
        of_precision -= of_linear[:, :, None] * latent.mean[:, None, :]
        return jnp.concatenate([of_linear, of_precision.reshape(-1, dims * dims)], 1) @ statistics.T

    return transposed


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def settle(start: Responsibilities, evidence: Evidence, max_sweeps: int = MAX_SWEEPS) -> Responsibilities:
    """E[z] at the fixed point of `sweep`, with the derivative of the fixed point."""
    return _repeat(lambda responsibilities: sweep(responsibilities, evidence), start, max_sweeps)


def _settled_forward(start: Responsibilities, evidence: Evidence, max_sweeps: int) -> tuple[Responsibilities, tuple]:
    found = settle(start, evidence, max_sweeps)
    return found, (found, evidence)


def _settled_backward(max_sweeps: int, kept: tuple, pull: Responsibilities) -> tuple:
    """With T the sweep: u = pull + (∂T/∂η)ᵀ u, then (∂T/∂evidence)ᵀ u.

    For an item between two clusters that has not settled, u can diverge: its derivative is then that of one sweep.
    """
    found, evidence = kept
    of_responsibilities = transposed_sweep(found, evidence)

    def step(u: Responsibilities) -> Responsibilities:
        return pull + of_responsibilities(u)

    u = _repeat(step, pull, max_sweeps)
    calm = jnp.abs(step(u) - u).max(1) <= UNSETTLED * jnp.abs(pull).max(1)  # False for NaN
    _, of_evidence = jax.vjp(lambda evidence: sweep(found, evidence), evidence)
    # a fixed point does not depend on where sweeps started
    return jnp.zeros_like(found), *of_evidence(jnp.where(calm[:, None], u, pull))


settle.defvjp(_settled_forward, _settled_backward)


def _repeat(step: Callable[[Array], Array], start: Array, max_sweeps: int) -> Array:
    """Repeat a step until the mean change of the items is at most a share of the start's size.

    The mean, since a single item between two clusters can move for long.
    """
    enough = SWEEP_TOL * jnp.maximum(jnp.abs(start).max(), 1e-30)

    def moves(carry: tuple) -> Array:
        _, change, n = carry
        return (change > enough) & (n < max_sweeps)

    def advance(carry: tuple) -> tuple:
        before, _, n = carry
        after = step(before)
        return after, jnp.abs(after - before).max(1).mean(), n + 1

    value: Array = jax.lax.while_loop(moves, advance, (start, jnp.asarray(jnp.inf, start.dtype), 0))[0]
    return value


def local(
    parameters: BayesSCDCParameters,
    posterior: Posterior,
    observed: Array,
    messages: Float[Array, "items clusters"],
    key: PRNGKeyArray,
    within: Expected | None = None,
    max_sweeps: int = MAX_SWEEPS,
) -> BayesSCDCLocal:
    """q of items, and their contribution to the bound at one draw of each position.

    within : expected statistics in the fixed point of (12) and (14), for the derivative in these; by default those of
        the posterior, which are used outside of the fixed point in any case.
    """
    expected, log_shares = expected_statistics(posterior)
    said = messages @ posterior.joined.T
    offsets = log_shares + said
    inner, inner_offsets = (expected, offsets) if within is None else (within.gaussians, within.log_shares + said)
    potential = apply(parameters.encoder, observed)
    start = jax.nn.softmax(log_densities(_alone(potential), expected) + offsets, axis=1)
    responsibilities = settle(jax.lax.stop_gradient(start), (potential, inner, inner_offsets), max_sweeps)
    latent = positions(responsibilities, potential, inner)
    logits = log_densities(latent, expected) + offsets
    root = cholesky(latent.covariance)
    drawn = latent.mean + jnp.einsum("nij,nj->ni", root, jax.random.normal(key, latent.mean.shape))
    bound = parameters.likelihood.log_probability(observed, drawn) + latent.entropy + logsumexp(logits, axis=1)
    components = jax.nn.softmax(logits, axis=1)
    return BayesSCDCLocal(bound, components @ posterior.joined, latent, components)


def expected_statistics(posterior: Posterior) -> Expected:
    """E t(μ, Σ) and E ln π."""
    gaussians = families.expected_gaussian(posterior.components)
    return Expected(gaussians, families.expected_log(posterior.concentration))


def second_moments(latent: Gaussian) -> Float[Array, "items dims dims"]:
    """E x xᵀ."""
    return latent.covariance + latent.mean[:, :, None] * latent.mean[:, None, :]


def _alone(potential: Potential) -> Gaussian:
    """q(x) from the potential alone."""
    covariance = (1 / potential.precision)[:, :, None] * jnp.eye(potential.precision.shape[-1])
    return Gaussian(potential.linear / potential.precision, covariance, jnp.zeros(len(covariance)))


# --- global variables: (26) to (29) ----------------------------------------------------------------------------------


def statistics(responsibilities: Responsibilities, latent: Gaussian, weight: Float[Array, " items"]) -> Statistics:
    """Weighted sums over items."""
    weighted = responsibilities * weight[:, None]
    dims = latent.mean.shape[1]
    outer = weighted.T @ second_moments(latent).reshape(-1, dims * dims)
    return Statistics(weighted.sum(0), weighted.T @ latent.mean, outer.reshape(-1, dims, dims))


def mixture_step(
    prior: BayesSCDCPrior,
    posterior: Posterior,
    found: BayesSCDCLocal,
    weight: Float[Array, " items"],
    rate: Any,
    *,
    momentum: float = 0.0,
    slope: Expected | None = None,
) -> Posterior:
    """(26) and (27): a step of size `rate`, from items that each count `weight` times.

    momentum : of the posterior's velocity. slope : gradient of the bound through the fixed point, see `second_term`.
    """
    totals = statistics(found.components, found.latent, weight)
    convex = towards_statistics(prior, posterior, totals, rate)
    if posterior.velocity is None and slope is None:
        return convex
    target = Mixture(prior.concentration + totals.size, with_statistics(prior.component, totals))
    if slope is not None:
        target = jax.tree.map(jnp.add, target, second_term(slope))
    return _step_towards(prior, posterior, target, rate, momentum, convex)


def second_term(slope: Expected) -> Mixture:
    """Second term of (17), from the gradient of the bound in E t(μ, Σ) and E ln π through (12) and (14).

    Each natural parameter has the derivative in its expected statistic: κm that in E Σ⁻¹μ, S + κmmᵀ that in −½ E Σ⁻¹,
    and both κ and ν that in `ExpectedGaussian.constant`, the sum of their statistics.
    """
    of_precision, of_constant = slope.gaussians.precision, slope.gaussians.constant
    outer = -of_precision - jnp.swapaxes(of_precision, -1, -2)
    return Mixture(slope.log_shares, NormalWishart(slope.gaussians.linear, outer, of_constant, of_constant))


def _step_towards(
    prior: BayesSCDCPrior, posterior: Posterior, target: Mixture, rate: Any, momentum: float, convex: Posterior
) -> Posterior:
    """Step with velocity towards a target; `convex` for components that this would make invalid."""
    ours = Mixture(posterior.concentration, posterior.components)
    still = jax.tree.map(jnp.zeros_like, ours)
    before = still if posterior.velocity is None else posterior.velocity
    velocity = jax.tree.map(lambda v, to, at: momentum * v + rate * (to - at), before, target, ours)
    moved = jax.tree.map(jnp.add, ours, velocity)
    valid = _are_valid(prior, ours, moved)
    # a convex step stays within what is valid
    kept = _where(valid, moved, Mixture(convex.concentration, convex.components))
    velocity = None if posterior.velocity is None else _where(valid, velocity, still)
    return posterior._replace(concentration=kept.concentration, components=kept.components, velocity=velocity)


def _are_valid(prior: BayesSCDCPrior, before: Mixture, after: Mixture) -> Bool[Array, " components"]:
    """Whether S is positive definite, and α, κ and ν have neither fallen below the prior's nor, if there, fallen."""
    ours, earlier, least = after.components, before.components, prior.component
    _, log_determinant = inverse_and_log_determinant(families.standard(ours)[2])
    return (
        jnp.isfinite(log_determinant)
        & (after.concentration >= jnp.minimum(prior.concentration, before.concentration))
        & (ours.strength >= jnp.minimum(least.strength, earlier.strength))
        & (ours.degrees >= jnp.minimum(least.degrees, earlier.degrees))
    )


def _where(chosen: Bool[Array, " components"], one: Mixture, other: Mixture) -> Mixture:
    """Components of the one mixture if chosen, else of the other."""

    def of_part(ours: Array, theirs: Array) -> Array:
        return jnp.where(chosen.reshape(-1, *[1] * (ours.ndim - 1)), ours, theirs)

    found: Mixture = jax.tree.map(of_part, one, other)
    return found


def at_rest(posterior: Posterior) -> Posterior:
    """The posterior with a velocity of 0."""
    still = jax.tree.map(jnp.zeros_like, Mixture(posterior.concentration, posterior.components))
    return posterior._replace(velocity=still)


def towards_statistics(prior: BayesSCDCPrior, posterior: Posterior, found: Statistics, rate: Any) -> Posterior:
    """(26) and (27) from statistics of all items."""
    target = with_statistics(prior.component, found)
    return posterior._replace(
        concentration=_towards(posterior.concentration, prior.concentration + found.size, rate),
        components=jax.tree.map(lambda ours, theirs: _towards(ours, theirs, rate), posterior.components, target),
    )


def with_statistics(prior: NormalWishart, found: Statistics) -> NormalWishart:
    """Natural parameters of components with these statistics."""
    return NormalWishart(
        prior.linear + found.linear,
        prior.outer + found.outer,
        prior.strength + found.size,
        prior.degrees + found.size,
    )


def reliability_step(
    prior: BayesSCDCPrior, posterior: Posterior, judged: NumberedJudgements, agreement: JudgedAgreement, rate: Any
) -> Posterior:
    """(28) and (29): a step of size `rate`."""
    sensitivity, specificity = right_and_wrong(judged, agreement)
    return posterior._replace(
        sensitivity=_towards(posterior.sensitivity, prior.reliability + sensitivity, rate),
        specificity=_towards(posterior.specificity, prior.reliability + specificity, rate),
    )


def pair_weights(posterior: Posterior) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
    """w_ij^m of a judgement "same", and of one "apart"."""
    alpha, beta = families.expected_log(posterior.sensitivity), families.expected_log(posterior.specificity)
    return alpha[:, 0] - beta[:, 1], alpha[:, 1] - beta[:, 0]


def start(
    prior: BayesSCDCPrior,
    first: Responsibilities,
    joined: Float[Array, "components clusters"],
    latent: Gaussian,
    right: Array,
) -> Posterior:
    """q of the global variables, from the items' first components and the clusters of these.

    right : (annotators, 2) first value of both the sensitivities and the specificities.
    """
    n = first.shape[1]
    components = jax.tree.map(lambda part: jnp.broadcast_to(part, (n, *part.shape)), prior.component)
    empty = Posterior(jnp.broadcast_to(prior.concentration, n), components, right, right, joined)
    return towards_statistics(prior, empty, statistics(first, latent, jnp.ones(len(first))), 1.0)


def random_start(
    prior: BayesSCDCPrior, n_components: int, right: Array, key: PRNGKeyArray, *, variance: float
) -> Posterior:
    """The paper's start: components with random means around 0, one item each, and almost equal shares."""
    of_shares, of_means = jax.random.split(key)
    n_latent = prior.component.linear.shape[-1]
    means = variance**0.5 * jax.random.normal(of_means, (n_components, n_latent))
    ones = jnp.ones(n_components)
    scale = jnp.broadcast_to((n_latent + 1) * jnp.eye(n_latent), (n_components, n_latent, n_latent))
    components = families.normal_wishart(means, ones, scale, (n_latent + 1) * ones)
    shares = jax.random.uniform(of_shares, (n_components,), minval=1.0, maxval=2.0)
    return Posterior(shares, components, right, right, jnp.eye(n_components))


def _towards(ours: Array, target: Array, rate: Any) -> Array:
    return (1 - rate) * ours + rate * target


def lower_bound(
    prior: BayesSCDCPrior, posterior: Posterior, found: BayesSCDCLocal, messages: Array, judged: Any
) -> Array:
    """Bound on ln p(O, L), nats, (A.5); `found` is of all items, `messages` and `judged` of the annotated, last."""
    items = found.bound.sum()
    divergence = families.kl_dirichlet(posterior.concentration, prior.concentration)
    divergence += families.kl_normal_wishart(posterior.components, prior.component).sum()
    if judged is None:
        return items - divergence
    annotated = found.responsibilities[len(found.bound) - len(messages) :]
    sides = [posterior.sensitivity, posterior.specificity]
    counts = right_and_wrong(judged, judged.agreement(annotated))
    said = sum((n * families.expected_log(side)).sum() for n, side in zip(counts, sides, strict=True))
    divergence += sum(families.kl_dirichlet(side, prior.reliability).sum() for side in sides)
    return items - (annotated * messages).sum() + said - divergence
