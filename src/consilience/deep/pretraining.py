"""Pretraining of networks on the first clusters, so that training starts from these."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Int, PRNGKeyArray, PyTree

from consilience.deep import bayes_scdc
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.networks import apply, in_training
from consilience.deep.training import batches

LEAST_STEPS, LEAST_EPOCHS = 500, 3
WEIGHT = 10.0  # of ln q(first cluster), relative to the bound
LEAST_PROBABILITY = 1e-6  # added, as ln 0 is infinite


def teach_classifier(model: DeepModel, data: Data, fit: Fit, clusters: Int[Array, " items"], key: PRNGKeyArray) -> Fit:
    """Train a model's classifier to predict the first clusters of the items, unjudged ones first."""
    optimiser, parameters = model.optimiser, fit.parameters

    def loss(classifier: PyTree, observed: Array, known: Array) -> Array:
        log_q = jax.nn.log_softmax(apply(classifier, observed), axis=1)
        return -jnp.take_along_axis(log_q, known[:, None], axis=1).mean()

    def step(carry: tuple, batch: tuple) -> tuple:
        classifier, state = carry
        rows, known, key = batch
        observed = parameters.likelihood.draw_observed(data.observed[rows], key)
        change, state = optimiser.update(jax.grad(loss)(classifier, observed, known), state, classifier)
        return (optax.apply_updates(classifier, change), state), None

    start = parameters.classifier, optimiser.init(parameters.classifier)
    classifier = jax.lax.scan(step, start, _minibatches(model, data, clusters, key))[0][0]
    return fit._replace(parameters=eqx.tree_at(lambda one: one.classifier, parameters, classifier))


def teach_positions(model: DeepModel, data: Data, fit: Fit, clusters: Int[Array, " items"], key: PRNGKeyArray) -> Fit:
    """Train all parameters of a model to predict the first clusters of the items from their features.

    Without this, the positions of an autoencoder may not separate the clusters, however certain these are.
    """

    def loss(parameters: PyTree, posterior: PyTree, observed: Array, known: Array, key: Array) -> tuple:
        nothing = jnp.zeros((len(known), fit.remembered.shape[1]))
        found = model.local(in_training(parameters, key), posterior, observed, nothing, key)
        q = jnp.take_along_axis(found.responsibilities, known[:, None], axis=1)[:, 0]
        return -(found.bound + WEIGHT * jnp.log(q + LEAST_PROBABILITY)).mean(), found

    def step(carry: tuple, batch: tuple) -> tuple:
        parameters, optimiser, posterior = carry
        rows, known, key = batch
        key_observed, key_local = jax.random.split(key)
        observed = parameters.likelihood.draw_observed(data.observed[rows], key_observed)
        gradient, found = jax.grad(loss, has_aux=True)(parameters, posterior, observed, known, key_local)
        change, optimiser = model.optimiser.update(gradient, optimiser, parameters)
        weight = jnp.full(len(rows), data.n_items / len(rows))
        posterior = bayes_scdc.mixture_step(
            model.prior, posterior, _restrict(posterior, found, known), weight, model.first_rate(data)
        )
        return (optax.apply_updates(parameters, change), optimiser, posterior), None

    start = fit.parameters, fit.optimiser, fit.posterior
    parameters, optimiser, posterior = jax.lax.scan(step, start, _minibatches(model, data, clusters, key))[0]
    return fit._replace(parameters=parameters, optimiser=optimiser, posterior=posterior)


def _restrict(
    posterior: bayes_scdc.Posterior, found: bayes_scdc.BayesSCDCLocal, clusters: Array
) -> bayes_scdc.BayesSCDCLocal:
    """Local result with items restricted to the components of these clusters."""
    within = (found.components + LEAST_PROBABILITY) * posterior.joined.T[clusters]
    return found._replace(components=within / within.sum(1, keepdims=True))


def _minibatches(model: DeepModel, data: Data, clusters: Array, key: PRNGKeyArray) -> tuple[Array, Array, Array]:
    """Rows of the items of each pretraining step, their first clusters, and keys."""
    batch, n_steps = min(model.batch_size, data.n_items), max(LEAST_EPOCHS * model.n_warm_steps(data), LEAST_STEPS)
    key_rows, key_steps = jax.random.split(key)
    places = batches(key_rows, data.n_items, batch, n_steps)
    return data.rows[places], clusters[places], jax.random.split(key_steps, n_steps)
