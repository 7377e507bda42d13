"""Two clusters become one where that raises the bound.

With q(x) as it is and what all items share at its optimum, the bound of clusters of statistics s is

    Σ_k ln Z(η⁰ + s_k) + Σ_k lnΓ(α₀ + n_k) + H[q(z)] + Σ of judged pairs,   n_k = Σ_i E z_ik

up to what merging leaves as it is. Merging k and l changes each term by what is in this file, exactly; merges of
pairs that share no cluster add up. Judged pairs speak for a merge where annotators put items of k and of l together.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln
from jaxtyping import Bool, Float, Int

from consilience.deep import exponential_family as families
from consilience.deep.bayes_scdc import (
    METHOD,
    Prior,
    Statistics,
    pair_weights,
    statistics,
    towards_statistics,
    with_statistics,
)
from consilience.deep.training import Data, Fit, Plan, survey

LEAST_SIZE = 1.0  # items, expected; a smaller cluster is empty
CHUNK = 4096

Pairs = Float[Array, "clusters clusters"]


def merge(prior: Prior, plan: Plan, data: Data, fit: Fit) -> Fit:
    """Merge clusters by all items; what items share ends at its optimum."""
    weight = data.weights(plan.annotated_weight)
    found = survey(METHOD, data, fit)
    totals = statistics(found.responsibilities, found.latent, weight)
    annotated = found.responsibilities[len(data.plain) :]
    messages = data.all_messages(annotated, pair_weights(fit.posterior))
    affinity = annotated.T @ (messages * weight[len(data.plain) :, None])
    entropy = lost_entropy(found.responsibilities, weight)
    into = jax.nn.one_hot(chosen(gains(prior, totals, entropy, affinity)), len(affinity))
    merged = jax.tree.map(lambda total: jnp.einsum("kl,k...->l...", into, total), totals)
    posterior = towards_statistics(prior, fit.posterior, merged, 1.0)
    return fit._replace(posterior=posterior, remembered=fit.remembered @ into)


def gains(prior: Prior, found: Statistics, entropy: Pairs, affinity: Pairs) -> Pairs:
    """What merging each two clusters adds to the bound; −inf where one of them is empty.

    entropy : see `lost_entropy`. affinity : Σ w_ij η_ik η_jl over judged pairs across clusters k and l.
    """
    both = jax.tree.map(lambda total: total[:, None] + total[None, :], found)
    alone = evidence(prior, found)
    gain = evidence(prior, both) + evidence(prior, jax.tree.map(jnp.zeros_like, found))[:, None]
    gain += affinity - entropy - alone[:, None] - alone[None, :]
    owns = found.size > LEAST_SIZE
    possible = owns[:, None] & owns[None, :] & ~jnp.eye(len(owns), dtype=bool)
    return jnp.where(possible, gain, -jnp.inf)


def evidence(prior: Prior, found: Statistics) -> Float[Array, "*clusters"]:
    """ln Z(η⁰ + s) + lnΓ(α₀ + n), nats."""
    natural = with_statistics(prior.cluster, found)
    return families.log_partition(natural) + gammaln(prior.concentration + found.size)


def lost_entropy(responsibilities: Float[Array, "items clusters"], weight: Float[Array, " items"]) -> Pairs:
    """Entropy of q(z) that is lost by merging each two clusters, nats."""
    n_items, n_clusters = responsibilities.shape
    n_chunks = -(-n_items // CHUNK)
    rows = ((0, n_chunks * CHUNK - n_items), (0, 0))
    eta = jnp.pad(responsibilities, rows).reshape(n_chunks, CHUNK, n_clusters)
    share = jnp.pad(weight[:, None], rows).reshape(n_chunks, CHUNK)

    def add(total: Array, chunk: tuple[Array, Array]) -> tuple[Array, None]:
        values, counts = chunk
        return total + jax.lax.map(lambda k: counts @ _lost(values[:, k, None], values), jnp.arange(n_clusters)), None

    return jax.lax.scan(add, jnp.zeros((n_clusters, n_clusters), eta.dtype), (eta, share))[0]


def chosen(gain: Pairs) -> Int[Array, " clusters"]:
    """The cluster that each becomes: the pairs of highest positive gain, none of which share a cluster."""

    def more(carry: tuple) -> Bool[Array, ""]:
        return carry[1].max() > 0

    def merge(carry: tuple) -> tuple:
        target, left = carry
        kept, gone = jnp.unravel_index(left.argmax(), left.shape)
        left = left.at[jnp.stack([kept, gone])].set(-jnp.inf).at[:, jnp.stack([kept, gone])].set(-jnp.inf)
        return target.at[gone].set(kept), left

    return jax.lax.while_loop(more, merge, (jnp.arange(len(gain)), gain))[0]


def _lost(one: Array, other: Array) -> Array:
    """Entropy of two shares beyond that of their sum."""
    both = one + other

    def entropy(value: Array) -> Array:
        return -value * jnp.log(jnp.maximum(value, 1e-30))

    return entropy(one) + entropy(other) - entropy(both)
