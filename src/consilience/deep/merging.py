"""Reduction of the number of clusters where it raises the bound: joining and merging components.

**Joining.** Which components form a cluster together affects only the judged pairs: with q(z) fixed, joining clusters a
and b adds Σ w_ij η_ia η_jb over the judged pairs across them to the bound. Starting from one cluster per component, the
two of highest gain are joined, again and again.

**Merging.** With q(x) fixed and the global variables at their optimum, the bound of components with statistics s is

    Σ_k ln Z(η⁰ + s_k) + Σ_k lnΓ(α₀ + n_k) + H[q(z)] + Σ of judged pairs,   n_k = Σ_i E z_ik

up to terms that merging does not change. The functions below give the exact change of each term when k and l, and their
clusters with them, are merged; the changes of pairs that share no cluster add up.
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

LEAST_SIZE = 1.0  # expected number of items; a smaller component is empty
CHUNK = 4096

Pairs = Float[Array, "components components"]
Joined = Float[Array, "components clusters"]


def merge(model: DeepModel, data: Data, fit: Fit) -> Fit:
    """Join and merge components using all items; the global variables end at their optimum."""
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
    """Join components to clusters by the judged pairs across them, from one cluster each; see the module docstring."""

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
    """Of two joinings, return the one with the larger bound of judged pairs within clusters."""
    return jnp.where(_within(one, affinity) >= _within(other, affinity), one, other)


def across(joined: Joined, affinity: Pairs) -> Pairs:
    """Gain of the judged pairs' bound if the clusters of two components are joined, for each two."""
    between = joined @ (joined.T @ affinity @ joined) @ joined.T
    return jnp.where(joined @ joined.T > 0, 0.0, between)


def gains(prior: Prior, found: Statistics, entropy: Pairs, affinity: Pairs) -> Pairs:
    """Gain of the bound if two components are merged, for each two; −inf if one of them is empty.

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
    """Entropy of q(z) lost by merging two components, for each two, nats."""
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
    """Component that each becomes, as one-hot rows: pairs of highest positive gain that share no cluster are merged."""
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
    """Clusters after a merge of components: those of a merged pair become one."""
    of_clusters = jnp.eye(joined.shape[1], dtype=joined.dtype) + joined.T @ (into - jnp.eye(len(into))) @ joined
    return joined @ of_clusters


def _within(joined: Joined, affinity: Pairs) -> Array:
    """Twice the judged pairs' bound within clusters, nats."""
    return jnp.einsum("kc,kl,lc->", joined, affinity, joined)


def _lost(one: Array, other: Array) -> Array:
    """Entropy of two shares in excess of that of their sum."""
    both = one + other

    def entropy(value: Array) -> Array:
        return -value * jnp.log(jnp.maximum(value, 1e-30))

    return entropy(one) + entropy(other) - entropy(both)
