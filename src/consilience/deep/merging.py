"""Fewer clusters where that raises the bound: components joined to clusters, and two components made one.

**Joined.** Which components make a cluster together touches nothing but the judged pairs: with q(z) as it is, joining
clusters a and b adds to the bound Σ w_ij η_ia η_jb over the judged pairs across them. From all components alone, the
two of highest gain are joined, again and again.

**Merged.** With q(x) as it is and what all items share at its optimum, the bound of components of statistics s is

    Σ_k ln Z(η⁰ + s_k) + Σ_k lnΓ(α₀ + n_k) + H[q(z)] + Σ of judged pairs,   n_k = Σ_i E z_ik

up to what merging leaves as it is. Merging k and l, and their clusters with them, changes each term by what is in this
file, exactly; merges of pairs that share no cluster add up.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln
from jaxtyping import Bool, Float

from consilience.deep import exponential_family as families
from consilience.deep.bayes_scdc import (
    Prior,
    Statistics,
    pair_weights,
    statistics,
    towards_statistics,
    with_statistics,
)
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.training import survey

LEAST_SIZE = 1.0  # items, expected; a smaller component is empty
CHUNK = 4096

Pairs = Float[Array, "components components"]
Joined = Float[Array, "components clusters"]


def merge(model: DeepModel, data: Data, fit: Fit) -> Fit:
    """Join and merge components by all items; what items share ends at its optimum."""
    prior, weight = model.prior, data.weights(model.annotated_weight)
    found = survey(model, data, fit)
    annotated, weight_annotated = found.components[len(data.plain) :], weight[len(data.plain) :]
    messages = data.all_messages(annotated, pair_weights(fit.posterior))
    affinity = annotated.T @ (messages * weight_annotated[:, None])
    joined = better(join(affinity), fit.posterior.joined, affinity)
    totals = statistics(found.components, found.latent, weight)
    into = chosen(gains(prior, totals, lost_entropy(found.components, weight), across(joined, affinity)), joined)
    merged = jax.tree.map(lambda total: jnp.einsum("kl,k...->l...", into, total), totals)
    posterior = towards_statistics(prior, fit.posterior, merged, 1.0)._replace(joined=after(into, joined))
    return fit._replace(posterior=posterior, remembered=annotated @ into @ posterior.joined)


def join(affinity: Pairs) -> Joined:
    """Clusters of components, from all alone, by the judged pairs across them; see the module."""

    def between(joined: Joined) -> Array:
        total = joined.T @ affinity @ joined
        return jnp.where(jnp.eye(len(total), dtype=bool), -jnp.inf, total)

    def more(joined: Joined) -> Bool[Array, ""]:
        return between(joined).max() > 0

    def once(joined: Joined) -> Joined:
        total = between(joined)
        kept, gone = jnp.unravel_index(total.argmax(), total.shape)
        return joined.at[:, kept].add(joined[:, gone]).at[:, gone].set(0.0)

    found: Array = jax.lax.while_loop(more, once, jnp.eye(len(affinity), dtype=affinity.dtype))
    return found


def better(one: Joined, other: Joined, affinity: Pairs) -> Joined:
    """Clusters with more of the judged pairs' bound within them."""
    return jnp.where(_within(one, affinity) >= _within(other, affinity), one, other)


def across(joined: Joined, affinity: Pairs) -> Pairs:
    """What it adds to the judged pairs' bound to join the clusters of each two components."""
    between = joined @ (joined.T @ affinity @ joined) @ joined.T
    return jnp.where(joined @ joined.T > 0, 0.0, between)


def gains(prior: Prior, found: Statistics, entropy: Pairs, affinity: Pairs) -> Pairs:
    """What merging each two components adds to the bound; −inf where one of them is empty.

    entropy : see `lost_entropy`. affinity : see `across`.
    """
    both = jax.tree.map(lambda total: total[:, None] + total[None, :], found)
    alone = evidence(prior, found)
    gain = evidence(prior, both) + evidence(prior, jax.tree.map(jnp.zeros_like, found))[:, None]
    gain += affinity - entropy - alone[:, None] - alone[None, :]
    owns = found.size > LEAST_SIZE
    possible = owns[:, None] & owns[None, :] & ~jnp.eye(len(owns), dtype=bool)
    return jnp.where(possible, gain, -jnp.inf)


def evidence(prior: Prior, found: Statistics) -> Float[Array, "*components"]:
    """ln Z(η⁰ + s) + lnΓ(α₀ + n), nats."""
    natural = with_statistics(prior.component, found)
    return families.log_partition(natural) + gammaln(prior.concentration + found.size)


def lost_entropy(responsibilities: Float[Array, "items components"], weight: Float[Array, " items"]) -> Pairs:
    """Entropy of q(z) that is lost by merging each two components, nats."""
    n_items, n_components = responsibilities.shape
    n_chunks = -(-n_items // CHUNK)
    rows = ((0, n_chunks * CHUNK - n_items), (0, 0))
    eta = jnp.pad(responsibilities, rows).reshape(n_chunks, CHUNK, n_components)
    share = jnp.pad(weight[:, None], rows).reshape(n_chunks, CHUNK)

    def add(total: Array, chunk: tuple[Array, Array]) -> tuple[Array, None]:
        values, counts = chunk
        return total + jax.lax.map(lambda k: counts @ _lost(values[:, k, None], values), jnp.arange(n_components)), None

    return jax.lax.scan(add, jnp.zeros((n_components, n_components), eta.dtype), (eta, share))[0]


def chosen(gain: Pairs, joined: Joined) -> Pairs:
    """What each component becomes, a one in each row: pairs of highest positive gain, none of which share a cluster."""
    together = joined @ joined.T > 0

    def more(carry: tuple[Any, Any]) -> Bool[Array, ""]:
        return carry[1].max() > 0

    def once(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        into, left = carry
        kept, gone = jnp.unravel_index(left.argmax(), left.shape)
        touched = together[kept] | together[gone]
        left = jnp.where(touched[:, None] | touched[None, :], -jnp.inf, left)
        return into.at[gone].set(into[kept]), left

    into: Array = jax.lax.while_loop(more, once, (jnp.eye(len(gain), dtype=joined.dtype), gain))[0]
    return into


def after(into: Pairs, joined: Joined) -> Joined:
    """Clusters after components were merged: those of a merged pair are one."""
    of_clusters = jnp.eye(joined.shape[1], dtype=joined.dtype) + joined.T @ (into - jnp.eye(len(into))) @ joined
    return joined @ of_clusters


def _within(joined: Joined, affinity: Pairs) -> Array:
    """Judged pairs' bound within clusters, twice, nats."""
    return jnp.einsum("kc,kl,lc->", joined, affinity, joined)


def _lost(one: Array, other: Array) -> Array:
    """Entropy of two shares beyond that of their sum."""
    both = one + other

    def entropy(value: Array) -> Array:
        return -value * jnp.log(jnp.maximum(value, 1e-30))

    return entropy(one) + entropy(other) - entropy(both)
