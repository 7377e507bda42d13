"""Reduction of the number of clusters where it raises the bound: joining and merging components.

**Joining.** Which components form a cluster together affects only the judged pairs: with q(z) fixed, joining clusters a
and b adds Σ w_ij η_ia η_jb over the judged pairs across them to the bound. Starting from one cluster per component, the
two of highest gain are joined, again and again. Judgements that fit worse than chance do not count. After training,
what the features say does: it is as if one more person, right nine times out of ten, had put Gaussians that share items
together (`consilience.deep.joining`). Many judgements outweigh that; few leave most Gaussians to it.

**Merging.** With q(x) fixed and the global variables at their optimum, the bound of components with statistics s is

    Σ_k ln Z(η⁰ + s_k) + Σ_k lnΓ(α₀ + n_k) + H[q(z)] + Σ of judged pairs,   n_k = Σ_i E z_ik

up to terms that merging does not change. The functions below give the exact change of the first three when two
components of a cluster are merged; the last does not change. The bound prefers few Gaussians, and a merger is for good.
So components of different clusters are never merged, and those of a cluster only if the judged pairs across them weigh
more than that one person's judgement, times the share of their items that nobody judged: few pairs, which may be wrong,
must not decide on many other items.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln
from jaxtyping import Bool, Float

from consilience.deep import exponential_family as families
from consilience.deep.bayes_scdc import (
    BayesSCDCPrior,
    Posterior,
    Statistics,
    at_rest,
    pair_weights,
    statistics,
    towards_statistics,
    with_statistics,
)
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.training import survey

LEAST_SIZE = 1.0  # expected number of items; a smaller component is empty
CHUNK = 4096
SUGGESTED = math.log(9.0)  # nats that a suggestion counts: as much as a judgement that is right nine times out of ten

Pairs = Float[Array, "components components"]
Joined = Float[Array, "components clusters"]


def merge(model: DeepModel, data: Data, fit: Fit) -> Fit:
    """Join and merge components using all items; the global variables end at their optimum."""
    prior, weight = model.prior, data.weights(model.annotated_weight)
    found = survey(model, data, fit)
    annotated, weight_annotated = found.components[len(data.plain) :], weight[len(data.plain) :]
    messages = data.all_messages(annotated, weights_for_joining(fit.posterior))
    affinity = annotated.T @ (messages * weight_annotated[:, None])
    joined = better(join(affinity), fit.posterior.joined, affinity)
    totals = statistics(found.components, found.latent, weight)
    gain = gains(prior, totals, lost_entropy(found.components, weight))
    least = SUGGESTED * share_of_unjudged(found.components.sum(0), annotated.sum(0))
    into = choose_merges(jnp.where(affinity > least, gain, -jnp.inf), joined)
    merged = jax.tree.map(lambda total: jnp.einsum("kl,k...->l...", into, total), totals)
    posterior = towards_statistics(prior, fit.posterior, merged, 1.0)._replace(joined=joined)
    posterior = posterior if posterior.velocity is None else at_rest(posterior)
    return fit._replace(posterior=posterior, remembered=annotated @ into @ posterior.joined)


def join_as_suggested(data: Data, fit: Fit, components: Float[Array, "items components"], cluster: Array) -> Fit:
    """Join components by the judged pairs and by a suggestion; see the module docstring.

    components : responsibilities of all items, unjudged ones first. cluster : suggested for each component.
    """
    annotated = components[len(data.plain) :]
    affinity = annotated.T @ data.all_messages(annotated, weights_for_joining(fit.posterior))
    owns = components.sum(0) > LEAST_SIZE
    alike = jnp.where(cluster[:, None] == cluster[None, :], SUGGESTED, -SUGGESTED)
    affinity += jnp.where(owns[:, None] & owns[None, :], alike, 0.0)
    joined = better(join(affinity), fit.posterior.joined, affinity)
    return fit._replace(posterior=fit.posterior._replace(joined=joined), remembered=annotated @ joined)


def weights_for_joining(posterior: Posterior) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
    """Weights of a judgement "same", not below 0, and of one "apart", not above 0.

    Where the clusters are not what people judge by, the reliabilities that fit them reverse what people say. Components
    would then be joined since people keep them apart, which fits such reliabilities even better.
    """
    same, apart = pair_weights(posterior)
    return jnp.maximum(same, 0.0), jnp.minimum(apart, 0.0)


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


def share_of_unjudged(size: Float[Array, " components"], judged: Float[Array, " components"]) -> Pairs:
    """Share of the items of two components, for each two, that nobody judged, from expected numbers of items."""
    total = jnp.maximum(size[:, None] + size[None, :], LEAST_SIZE)
    return 1 - (judged[:, None] + judged[None, :]) / total


def gains(prior: BayesSCDCPrior, found: Statistics, entropy: Pairs) -> Pairs:
    """Gain of the bound if two components of a cluster are merged, for each two; −inf if one of them is empty.

    entropy : see `lost_entropy`.
    """
    both = jax.tree.map(lambda total: total[:, None] + total[None, :], found)
    alone = evidence(prior, found)
    gain = evidence(prior, both) + evidence(prior, jax.tree.map(jnp.zeros_like, found))[:, None]
    gain -= entropy + alone[:, None] + alone[None, :]
    owns = found.size > LEAST_SIZE
    possible = owns[:, None] & owns[None, :] & ~jnp.eye(len(owns), dtype=bool)
    return jnp.where(possible, gain, -jnp.inf)


def evidence(prior: BayesSCDCPrior, found: Statistics) -> Float[Array, "*components"]:
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
        # one component at a time: in memory are chunk × components, not their square
        return total + jax.lax.map(
            lambda k: counts @ _lost_entropy(values[:, k, None], values), jnp.arange(n_components)
        ), None

    return jax.lax.scan(add, jnp.zeros((n_components, n_components), eta.dtype), (eta, share))[0]


def choose_merges(gain: Pairs, joined: Joined) -> Pairs:
    """Component that each becomes, as one-hot rows: of each cluster, the two of highest positive gain are merged."""
    together = joined @ joined.T > 0

    def more(carry: tuple[Any, Any]) -> Bool[Array, ""]:
        return carry[1].max() > 0

    def once(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        into, left = carry
        kept, gone = jnp.unravel_index(left.argmax(), left.shape)
        left = jnp.where(together[kept][:, None] | together[kept], -jnp.inf, left)
        return into.at[gone].set(into[kept]), left

    of_clusters = jnp.where(together, gain, -jnp.inf)
    into: Array = jax.lax.while_loop(more, once, (jnp.eye(len(gain), dtype=joined.dtype), of_clusters))[0]
    return into


def _within(joined: Joined, affinity: Pairs) -> Array:
    """Twice the judged pairs' bound within clusters, nats."""
    return jnp.einsum("kc,kl,lc->", joined, affinity, joined)


def _lost_entropy(one: Array, other: Array) -> Array:
    """Entropy of two shares in excess of that of their sum."""
    both = one + other

    def entropy(value: Array) -> Array:
        return -value * jnp.log(jnp.maximum(value, 1e-30))

    return entropy(one) + entropy(other) - entropy(both)
