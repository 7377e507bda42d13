"""Training of deep models: compiled epochs of minibatches, stratified by annotated and other items.

A step draws unjudged items, and annotated ones with the messages of all their judged pairs; each is weighted by the
number of items it represents, so that the gradient is that of the bound. An epoch passes over all items; the smaller
stratum is repeated until the larger is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Float, Int, PRNGKeyArray, PyTree

from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.networks import apply, in_training

MESSAGES_AT_ONCE = 1 << 21  # memberships × clusters up to which messages are updated in every step; else more rarely
DAMPING = 0.5  # share of the remembered responsibilities that a visit keeps
CHUNK_SIZE = 1024  # items processed at a time outside of training


def train(model: DeepModel, data: Data, fit: Fit) -> tuple[Fit, Array]:
    """Train for one epoch; return the fit after it, and the mean loss of its steps, nats per item."""
    sizes, n_steps = model.sizes(data)
    key_plain, key_annotated, key_steps, key_after = jax.random.split(fit.key, 4)
    drawn = (
        batches(key_plain, len(data.plain), sizes[0], n_steps),
        batches(key_annotated, len(data.annotated), sizes[1], n_steps),
        jax.random.split(key_steps, n_steps),
        jnp.arange(n_steps),
    )
    stands_for = jnp.concatenate([_stands_for(len(data.plain), sizes[0]), _stands_for(len(data.annotated), sizes[1])])
    weight = stands_for * data.weights(model.annotated_weight, sizes)
    rate = model.first_rate(data) / (1 + fit.epoch * n_steps / model.rate_delay) ** model.rate_decay
    rate_of_reliability = jnp.where(fit.epoch >= model.trust_epochs, rate, 0.0)
    fresh, judged = messages_every(data, fit.remembered.shape[1]), data.judgements

    def loss(learned: tuple, posterior: PyTree, observed: Array, messages: Array, key: Array) -> tuple:
        parameters, within = learned
        found = model.local(in_training(parameters, key), posterior, observed, messages, key, within)
        return -(weight * found.bound).sum() / data.n_items, found

    def step(carry: tuple, batch: tuple) -> tuple:
        parameters, optimiser, posterior, remembered, messages = carry
        plain, annotated, key, number = batch
        key_observed, key_local = jax.random.split(key)
        if judged is not None:
            messages = jax.lax.cond(
                number % fresh == 0,
                lambda: data.all_messages(remembered, model.pair_weights(posterior)),
                lambda: messages,
            )
        rows = jnp.concatenate([data.plain[plain], data.annotated[annotated]])
        observed = parameters.likelihood.draw_observed(data.observed[rows], key_observed)
        own = jnp.concatenate([jnp.zeros((len(plain), remembered.shape[1])), messages[annotated]])
        (value, found), (gradient, slope) = jax.value_and_grad(loss, has_aux=True)(
            (parameters, model.expected(posterior)), posterior, observed, own, key_local
        )
        slope = jax.tree.map(lambda part: -data.n_items * part, slope)  # from the loss, of an item, to the bound of all
        change, optimiser = model.optimiser.update(gradient, optimiser, parameters)
        parameters = optax.apply_updates(parameters, change)
        posterior = model.shared_step(posterior, found, weight, rate, slope)
        if judged is not None:
            after = found.responsibilities[len(plain) :]
            remembered = remembered.at[annotated].set(DAMPING * remembered[annotated] + (1 - DAMPING) * after)
            posterior = jax.lax.cond(
                number % fresh == 0,
                lambda: model.reliability_step(posterior, judged, judged.agreement(remembered), rate_of_reliability),
                lambda: posterior,
            )
        return (parameters, optimiser, posterior, remembered, messages), value

    start = (*fit[:4], jnp.zeros_like(fit.remembered))  # messages are made in the first step, as 0 % fresh is 0
    carry, losses = cast(tuple[tuple, Array], jax.lax.scan(step, start, drawn))
    parameters, optimiser, posterior, remembered, _ = carry
    return Fit(parameters, optimiser, posterior, remembered, key_after, fit.epoch + 1), jnp.mean(losses)


def warm_up(model: DeepModel, data: Data, parameters: PyTree, optimiser: PyTree, key: PRNGKeyArray) -> tuple:
    """Train a plain autoencoder for one epoch, q(x) drawn loosely to N(0, I); return parameters and optimiser state."""
    batch, n_steps = min(model.batch_size, data.n_items), model.n_warm_steps(data)
    key_rows, key_steps = jax.random.split(key)
    rows = batches(key_rows, data.n_items, batch, n_steps)

    def loss(parameters: PyTree, observed: Array, key: Array) -> Array:
        parameters = in_training(parameters, key)
        mean, variance = standard_position(parameters.encoder, observed)
        drawn = mean + jnp.sqrt(variance) * jax.random.normal(key, mean.shape)
        divergence = (variance + mean**2 - 1 - jnp.log(variance)).sum(1) / 2
        bound = parameters.likelihood.log_probability(observed, drawn) - model.warm_weight * divergence
        return -bound.mean()

    def step(carry: tuple, batch: tuple) -> tuple:
        parameters, optimiser = carry
        places, key = batch
        key_observed, key_drawn = jax.random.split(key)
        observed = parameters.likelihood.draw_observed(data.observed[places], key_observed)
        gradient = jax.grad(loss)(parameters, observed, key_drawn)
        change, optimiser = model.optimiser.update(gradient, optimiser, parameters)
        return (optax.apply_updates(parameters, change), optimiser), None

    drawn = rows, jax.random.split(key_steps, n_steps)
    after: tuple = jax.lax.scan(step, (parameters, optimiser), drawn)[0]
    return after


@jax.jit
def survey(model: DeepModel, data: Data, fit: Fit) -> Any:
    """Local result of all items, unjudged ones first; annotated ones with their messages.

    Observations are the data themselves, and draws use one key, so that two surveys of a fit are equal.
    """
    messages = data.all_messages(fit.remembered, model.pair_weights(fit.posterior))
    own = jnp.concatenate([jnp.zeros((len(data.plain), messages.shape[1])), messages])
    rows = data.rows

    def of_chunk(places: Array, key: PRNGKeyArray) -> Any:
        return model.local(fit.parameters, fit.posterior, data.observed[rows[places]], own[places], key)

    return by_chunks(of_chunk, data.n_items)


def by_chunks(of_chunk: Callable[[Array, PRNGKeyArray], Any], n_items: int) -> Any:
    """Apply a function of positions and a key to all items, in chunks."""
    size = min(CHUNK_SIZE, n_items)
    n_chunks = -(-n_items // size)
    # the last chunk is filled up with the last item
    places = jnp.minimum(jnp.arange(n_chunks * size), n_items - 1).reshape(n_chunks, size)
    # the same noise in every survey
    found = jax.lax.map(lambda chunk: of_chunk(*chunk), (places, jax.random.split(jax.random.key(0), n_chunks)))
    return jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:])[:n_items], found)


def standard_position(encoder: Any, observed: Float[Array, "items features"]) -> tuple[Array, Array]:
    """Mean and variance of q(x) if x ~ N(0, I) instead of a mixture."""
    potential = apply(encoder, observed)
    variance = 1 / (1 + potential.precision)
    return potential.linear * variance, variance


def _stands_for(n_items: int, size: int) -> Array:
    """Number of items that each item of a step represents."""
    return jnp.full(size, n_items / max(size, 1), jnp.float32)


def batches(key: PRNGKeyArray, n_items: int, size: int, n_steps: int) -> Int[Array, "steps size"]:
    """Positions among n items for every step; none is repeated before all have occurred."""
    if not size:
        return jnp.zeros((n_steps, 0), int)
    rounds = jax.random.split(key, -(-n_steps * size // n_items))  # rounded up: in each round every item comes once
    places = jax.vmap(lambda one: jax.random.permutation(one, n_items))(rounds).ravel()
    return places[: n_steps * size].reshape(n_steps, size)


def messages_every(data: Data, n_clusters: int) -> int:
    """Number of steps for which messages are kept."""
    rows = 0 if data.judgements is None else data.judgements.n_rows
    return max(round(rows * n_clusters / MESSAGES_AT_ONCE), 1)
