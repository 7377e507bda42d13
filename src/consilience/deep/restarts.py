"""From data to trained fits: warm start, first clusters, epochs; several restarts in one call."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int, PyTree

from consilience.deep import first_clusters
from consilience.deep.exponential_family import Gaussian
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.networks import with_new_start
from consilience.deep.training import by_chunks, standard_position, survey, train, warm_up

FIRST_MERGES = 4  # first epochs, after each of which clusters are merged
LATER_MERGES = 20  # largest number of regular merges in a fit
OF_START, OF_TEACHING = 1 << 20, (1 << 20) + 1  # to derive keys that differ from those of all epochs
FIRST_SURE = 0.9  # responsibility of an annotated item's first cluster


# for code that runs a few times in a fit, of which the compilation takes most of the time
compiled_quickly = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


class Course(NamedTuple):
    """Fits of all restarts during training.

    fits : `Fit` of all restarts, stacked. losses : nats per item. left : number of clusters that own items.
    """

    fits: Fit
    losses: Float[np.ndarray, "epochs restarts"]
    left: Int[np.ndarray, "epochs restarts"]

    @property
    def n_epochs(self) -> int:
        """Number of epochs done."""
        return len(self.losses)


def begin(model: DeepModel, data: Data, keys: Array, n_epochs: int, tick: Callable[[], object]) -> Course:
    """Run a warm start, then find first clusters, for one restart per key; call `tick` after each epoch.

    What follows is compiled meanwhile, in another thread.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_compile_training, model, data, len(keys))
        split = _split(keys)
        parameters, optimiser = _start_untrained(model, split[:, 0])
        for epoch in range(n_epochs):
            found = _warm_up(model, data, parameters, optimiser, split[:, 1], epoch)
            parameters, optimiser = jax.block_until_ready(found)
            tick()
        latent = _positions(data, parameters)
        positions = (np.asarray(one, float) for one in latent.mean)
        chosen = [_first(model, data, one, key) for one, key in zip(positions, split[:, 2], strict=True)]
        first, joined = (jnp.stack(part) for part in zip(*chosen, strict=True))
        fits = _start(model, data, parameters, latent, first, joined, split[:, 3])
    return Course(fits, np.empty((0, len(keys))), np.empty((0, len(keys)), int))


def _compile_training(model: DeepModel, data: Data, n_restarts: int) -> None:
    """Compile all that begins with fits of this size; JAX finds it when it is called."""

    def fits() -> Fit:
        remembered = jnp.zeros((len(data.annotated), model.n_clusters))
        fit = blank(model, data.n_annotators)._replace(remembered=remembered)
        return jax.tree.map(lambda part: jnp.broadcast_to(part, (n_restarts, *part.shape)), fit)

    several = jax.eval_shape(fits)
    one = jax.eval_shape(lambda: jax.tree.map(lambda part: part[0], fits()))
    _train.lower(model, data, several).compile()
    if model.merges:
        _merge.lower(model, data, several).compile()
    _owners.lower(model, several).compile()
    survey.lower(model, data, one).compile()
    _bound.lower(model, data, one, jax.eval_shape(survey, model, data, one)).compile()


def advance(model: DeepModel, data: Data, course: Course, n_epochs: int) -> Course:
    """Train every restart for one epoch, of `n_epochs` in total."""
    fits, losses = _train(model, data, course.fits)
    done = course.n_epochs + 1
    if model.merges and (done <= FIRST_MERGES or done % -(-n_epochs // LATER_MERGES) == 0):
        fits = _merge(model, data, fits)
    left = _owners(model, fits)
    return Course(fits, np.vstack([course.losses, losses]), np.vstack([course.left, left]))


def blank(model: DeepModel, n_annotators: int) -> Fit:
    """Return an untrained fit, as a template of the structure and shapes."""
    key, dims = jax.random.key(0), model.n_latent
    latent = Gaussian(jnp.zeros((1, dims)), jnp.zeros((1, dims, dims)), jnp.zeros(1))
    nothing = jnp.zeros((1, model.n_clusters))
    apart = jnp.eye(model.n_clusters)
    return _start_one(model, model.untrained(key), latent, nothing, apart, n_annotators, key)


def finish(model: DeepModel, data: Data, course: Course) -> tuple[Fit, Any, float, Float[np.ndarray, " restarts"]]:
    """Return the fit with the highest bound, its local result for all items, its bound, and the bounds of all fits.

    At the end its components are joined to clusters, which may change its bound.
    """
    fits = [jax.tree.map(itemgetter(place), course.fits) for place in range(course.losses.shape[1])]
    # one restart after another: each survey holds all items
    bounds = np.array([_bound(model, data, fit, survey(model, data, fit)) for fit in fits], float)
    best = int(np.nanargmax(bounds)) if np.isfinite(bounds).any() else 0
    fit = fits[best]
    joined, found = model.joined(data, fit, survey(model, data, fit))
    bound = float(bounds[best]) if joined is fit else float(_bound(model, data, joined, found))
    return joined, found, bound, bounds


def continue_fit(model: DeepModel, data: Data, fit: Fit) -> Fit:
    """Return the fit as one restart on these data, remembering annotated items as their features predict."""
    unjudged = Data(data.observed, data.rows, jnp.empty(0, int), None)
    found = survey(model, unjudged, fit._replace(remembered=jnp.empty((0, model.n_clusters))))
    fit = fit._replace(remembered=found.responsibilities[len(data.plain) :])
    return jax.tree.map(lambda part: part[None], fit)


@jax.jit
def _train(model: DeepModel, data: Data, fits: Fit) -> tuple[Fit, Array]:
    return _each(lambda fit: train(model, data, fit), fits)


def _each(function: Callable[..., Any], *stacked: PyTree) -> Any:
    """Apply a function to every restart: all at once, or on a processor, where that is slower, one after another.

    To a single one directly, as code with an axis of restarts is slower.
    """
    n_restarts = len(jax.tree.leaves(stacked)[0])
    if n_restarts > 1:
        at_once = None if jax.default_backend() == "cpu" else n_restarts
        return jax.lax.map(lambda one: function(*one), stacked, batch_size=at_once)
    found = function(*jax.tree.map(itemgetter(0), stacked))
    return jax.tree.map(lambda part: part[None], found)


@jax.jit
def _split(keys: Array) -> Array:
    return jax.vmap(lambda key: jax.random.split(key, 4))(keys)


@compiled_quickly
def _start_untrained(model: DeepModel, keys: Array) -> tuple[PyTree, PyTree]:
    parameters = jax.vmap(model.untrained)(keys)
    parameters = jax.vmap(with_new_start)(parameters, keys, jnp.arange(len(keys)))
    return parameters, jax.vmap(model.optimiser.init)(parameters)


@jax.jit
def _warm_up(
    model: DeepModel, data: Data, parameters: PyTree, optimiser: PyTree, keys: Array, epoch: Any
) -> tuple[PyTree, PyTree]:
    def of_restart(parameters: PyTree, optimiser: PyTree, key: Array) -> tuple[PyTree, PyTree]:
        return warm_up(model, data, parameters, optimiser, jax.random.fold_in(key, epoch))

    return _each(of_restart, parameters, optimiser, keys)


@jax.jit
def _merge(model: DeepModel, data: Data, fits: Fit) -> Fit:
    return jax.vmap(lambda fit: model.merged(data, fit))(fits)


@jax.jit
def _owners(model: DeepModel, fits: Fit) -> Array:
    return jax.vmap(model.n_owners)(fits)


@compiled_quickly
def _bound(model: DeepModel, data: Data, fit: Fit, found: Any) -> Array:
    return model.lower_bound(data, fit, found)


@jax.jit
def _positions(data: Data, parameters: PyTree) -> Gaussian:
    """Latent positions of all items after the warm start, unjudged ones first."""
    rows = data.rows

    def of_restart(one: PyTree) -> Gaussian:
        mean, variance = by_chunks(
            lambda places, _: standard_position(one.encoder, data.observed[rows[places]]), data.n_items
        )
        return Gaussian(mean, variance[:, :, None] * jnp.eye(mean.shape[1]), jnp.zeros(len(mean)))

    return jax.lax.map(of_restart, parameters)


def _first(model: DeepModel, data: Data, positions: Float[np.ndarray, "items dims"], key: Array) -> tuple[Array, Array]:
    """First components of all items, unjudged ones first, and the clusters of the components, both one-hot."""
    n = model.n_clusters
    if model.init == "random":
        return jnp.full((data.n_items, n), 1 / n), jnp.eye(n)
    if model.init == "mixture":
        component, cluster = first_clusters.of_positions(positions, n, key), np.arange(n)
    else:
        component, cluster = first_clusters.of_judgements(data, n, key), np.arange(n)
        if model.mixes:
            component, cluster = first_clusters.divide_clusters(component, positions, n, key)
    return jax.nn.one_hot(component, n), jax.nn.one_hot(cluster, n)


@jax.jit
def _start(
    model: DeepModel, data: Data, parameters: PyTree, latent: Gaussian, first: Array, joined: Array, keys: Array
) -> Fit:
    def of_restart(parameters: PyTree, latent: Gaussian, first: Array, joined: Array, key: Array) -> Fit:
        fit = _start_one(model, parameters, latent, first, joined, data.n_annotators, key)
        fit = model.taught(data, fit, (first @ joined).argmax(1), jax.random.fold_in(key, OF_TEACHING))
        return fit._replace(remembered=fit.remembered[len(data.plain) :])

    return jax.vmap(of_restart)(parameters, latent, first, joined, keys)


def _start_one(
    model: DeepModel, parameters: PyTree, latent: Gaussian, first: Array, joined: Array, n_annotators: int, key: Array
) -> Fit:
    """Fit from first components of all items; it remembers all of them."""
    key_start = jax.random.fold_in(key, OF_START)
    parameters, posterior = model.start(parameters, first, joined, latent, n_annotators, key_start)
    remembered = FIRST_SURE * first @ joined + (1 - FIRST_SURE) / model.n_clusters
    return Fit(parameters, model.optimiser.init(parameters), posterior, remembered, key, jnp.int32(0))
