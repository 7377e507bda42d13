"""Networks between observed features and latent positions, and distributions of the features.

Any Equinox module may replace the perceptrons: an encoder maps one observation to the numbers of a `Potential` over its
latent position, a decoder maps one latent position to the outputs that the `Likelihood` needs.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int, PRNGKeyArray, PyTree

LEAST_DEVIATION = 1e-2  # standard deviation of a Gaussian observation; features are standardised
LEAST_PRECISION = 1e-3  # of a potential
ROWS = "rows"  # axis of the rows to which a network is applied

Network = Callable[[Array], Array]
"""A module that maps one row of numbers to another."""


class Potential(NamedTuple):
    """r(o; φ), a Gaussian factor exp(h·x − ½ xᵀ diag(J) x) over the latent position.

    linear : h. precision : J, positive.
    """

    linear: Float[Array, "*batch dims"]
    precision: Float[Array, "*batch dims"]


class Perceptron(eqx.Module):
    """Layers of rectified linear units, the last one linear.

    Unlike `eqx.nn.MLP`, its hidden layers may differ in width; it is a tree of arrays only, which can be stacked,
    scanned and saved directly; and it has Glorot's initialisation.
    """

    layers: tuple[eqx.nn.Linear, ...]

    def __init__(self, sizes: Sequence[int], *, key: PRNGKeyArray):
        keys = jax.random.split(key, len(sizes) - 1)
        pairs = zip(sizes[:-1], sizes[1:], keys, strict=True)
        self.layers = tuple(_linear(n_in, n_out, one) for n_in, n_out, one in pairs)

    def __call__(self, value: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        for layer in self.layers[:-1]:
            value = jax.nn.relu(layer(value))
        return self.layers[-1](value)


class UserModule(eqx.Module):
    """A module of the user's, with its arrays separated from the rest.

    shape : of its input, if that is a picture. key : for dropout, during training only.
    """

    arrays: PyTree
    rest: PyTree = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True, default=())
    key: Array | None = None

    def __init__(self, module: eqx.Module, shape: tuple[int, ...] = ()):
        self.arrays, self.rest = eqx.partition(module, eqx.is_inexact_array)
        self.shape, self.key = shape, None

    def __call__(self, value: Array) -> Array:
        module = eqx.combine(self.arrays, self.rest)
        value = value.reshape(self.shape) if self.shape else value
        if self.key is None:
            return jnp.ravel(eqx.nn.inference_mode(module)(value))
        if not takes_key(module):
            return jnp.ravel(module(value))
        return jnp.ravel(module(value, key=jax.random.fold_in(self.key, jax.lax.axis_index(ROWS))))


def takes_key(module: Any) -> bool:
    """Whether a module can be called with a key, as those with dropout must be."""
    return "key" in inspect.signature(module).parameters


def in_training(networks: PyTree, key: PRNGKeyArray) -> PyTree:
    """Networks, of which the user's modules have keys for dropout."""

    def with_key(number: int, network: Any) -> Any:
        if not isinstance(network, UserModule):
            return network
        own = jax.random.fold_in(key, number)
        return eqx.tree_at(lambda one: one.key, network, own, is_leaf=lambda part: part is None)

    return _by_network(with_key, networks)


def with_new_start(networks: PyTree, key: PRNGKeyArray, restart: Int[Array, ""]) -> PyTree:
    """Networks for a restart: except for the first, entries of each matrix of the user's modules in a random order.

    Nothing tells how the user drew them, but a random order has the same distribution.
    """

    def shuffled(number: int, network: Any) -> Any:
        if not isinstance(network, UserModule):
            return network
        leaves, structure = jax.tree.flatten(network.arrays)
        keys = jax.random.split(jax.random.fold_in(key, number), len(leaves))
        moved = [
            jnp.where(restart > 0, jax.random.permutation(one, leaf.ravel()).reshape(leaf.shape), leaf)
            if leaf.ndim > 1
            else leaf
            for one, leaf in zip(keys, leaves, strict=True)
        ]
        return eqx.tree_at(lambda given: given.arrays, network, jax.tree.unflatten(structure, moved))

    return _by_network(shuffled, networks)


def _by_network(change: Callable[[int, Any], Any], networks: PyTree) -> PyTree:
    """Change each of the user's modules, given its number and itself."""
    parts, structure = jax.tree.flatten(networks, is_leaf=lambda part: isinstance(part, UserModule))
    return jax.tree.unflatten(structure, [change(number, part) for number, part in enumerate(parts)])


class Same:
    """A module, or None, compared by identity: a key for caches per module."""

    def __init__(self, module: Any):
        self.module = module

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.module is self.module

    def __hash__(self) -> int:
        return id(self.module)


class Encoder(eqx.Module):
    """Recognition network: an observation to a potential over its latent position.

    network : maps an observation to twice as many numbers as there are latent dimensions.
    """

    network: Network

    def __call__(self, observed: Float[Array, " features"]) -> Potential:
        return potential(self.network(observed))


def potential(outputs: Float[Array, " twice_dims"]) -> Potential:
    """Potential from a network's outputs: its peak, and its precision before `softplus`."""
    peak, precision = jnp.split(outputs, 2)
    precision = jax.nn.softplus(precision) + LEAST_PRECISION
    return Potential(peak * precision, precision)


class Likelihood(eqx.Module):
    """p(o | x): the distribution of observations, and its decoder."""

    decoder: Network

    @staticmethod
    @abstractmethod
    def n_outputs(n_features: int) -> int:
        """Number of outputs of the decoder."""

    @abstractmethod
    def log_probability(
        self, observed: Float[Array, "items features"], latent: Float[Array, "items dims"]
    ) -> Float[Array, " items"]:
        """Return ln p(o | x), nats."""

    @abstractmethod
    def mean(self, latent: Float[Array, "items dims"]) -> Float[Array, "items features"]:
        """E o, given x."""

    def draw_observed(self, data: Float[Array, "items features"], key: PRNGKeyArray) -> Float[Array, "items features"]:
        """Observations to train on: by default the data themselves."""
        return data


class GaussianLikelihood(Likelihood):
    """Continuous features, each with its own mean and standard deviation at every x."""

    @staticmethod
    def n_outputs(n_features: int) -> int:
        """See `Likelihood.n_outputs`."""
        return 2 * n_features

    def log_probability(self, observed: Array, latent: Array) -> Array:
        """See `Likelihood.log_probability`."""
        mean, deviation = self._moments(latent)
        density = ((observed - mean) / deviation) ** 2 + 2 * jnp.log(deviation) + jnp.log(2 * jnp.pi)
        return -density.sum(-1) / 2

    def mean(self, latent: Array) -> Array:
        """See `Likelihood.mean`."""
        return self._moments(latent)[0]

    def _moments(self, latent: Array) -> tuple[Array, Array]:
        mean, deviation = jnp.split(apply(self.decoder, latent), 2, axis=-1)
        return mean, jax.nn.softplus(deviation) + LEAST_DEVIATION


class BernoulliLikelihood(Likelihood):
    """Features from 0 to 1, the probabilities of ones; binary observations are drawn anew in every step."""

    @staticmethod
    def n_outputs(n_features: int) -> int:
        """See `Likelihood.n_outputs`."""
        return n_features

    def log_probability(self, observed: Array, latent: Array) -> Array:
        """See `Likelihood.log_probability`."""
        logits = apply(self.decoder, latent)
        return (observed * logits - jax.nn.softplus(logits)).sum(-1)

    def mean(self, latent: Array) -> Array:
        """See `Likelihood.mean`."""
        return jax.nn.sigmoid(apply(self.decoder, latent))

    def draw_observed(self, data: Array, key: PRNGKeyArray) -> Array:
        """Ones and zeros."""
        return (jax.random.uniform(key, data.shape) < data).astype(data.dtype)


LIKELIHOODS: dict[str, type[Likelihood]] = {"gaussian": GaussianLikelihood, "bernoulli": BernoulliLikelihood}


def apply(network: Any, rows: Array) -> Any:
    """Apply a network of one row to many."""
    return jax.vmap(network, axis_name=ROWS)(rows)


def _linear(n_in: int, n_out: int, key: PRNGKeyArray) -> eqx.nn.Linear:
    """Linear layer with Glorot's initialisation and zero offsets."""
    layer = eqx.nn.Linear(n_in, n_out, key=key)
    limit = jnp.sqrt(6 / (n_in + n_out))
    weight = jax.random.uniform(key, (n_out, n_in), minval=-limit, maxval=limit)
    return eqx.tree_at(lambda one: (one.weight, one.bias), layer, (weight, jnp.zeros(n_out)))
