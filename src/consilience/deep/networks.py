"""Networks between observed features and latent positions, and distributions of the features.

Any Equinox module may replace the perceptrons: an encoder maps one observation to a `Potential` over its latent
position, a decoder maps one latent position to the outputs that the `Likelihood` needs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, PRNGKeyArray, PyTree

LEAST_DEVIATION = 1e-2  # standard deviation of a Gaussian observation; features are standardised
LEAST_PRECISION = 1e-3  # of a potential


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


class Given(eqx.Module):
    """A module of the user's, with its arrays separated from the rest."""

    arrays: PyTree
    rest: PyTree = eqx.field(static=True)

    def __init__(self, module: eqx.Module):
        self.arrays, self.rest = eqx.partition(module, eqx.is_inexact_array)

    def __call__(self, value: Array) -> Array:
        result: Array = eqx.combine(self.arrays, self.rest)(value)
        return result


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

    network: Perceptron | Given

    def __call__(self, observed: Float[Array, " features"]) -> Potential:
        return potential(self.network(observed))


def potential(outputs: Float[Array, " twice_dims"]) -> Potential:
    """Potential from a network's outputs: its peak, and its precision before `softplus`."""
    peak, precision = jnp.split(outputs, 2)
    precision = jax.nn.softplus(precision) + LEAST_PRECISION
    return Potential(peak * precision, precision)


class Likelihood(eqx.Module):
    """p(o | x): the distribution of observations, and its decoder."""

    decoder: Perceptron | Given

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
    return jax.vmap(network)(rows)


def _linear(n_in: int, n_out: int, key: PRNGKeyArray) -> eqx.nn.Linear:
    """Linear layer with Glorot's initialisation and zero offsets."""
    layer = eqx.nn.Linear(n_in, n_out, key=key)
    limit = jnp.sqrt(6 / (n_in + n_out))
    weight = jax.random.uniform(key, (n_out, n_in), minval=-limit, maxval=limit)
    return eqx.tree_at(lambda one: (one.weight, one.bias), layer, (weight, jnp.zeros(n_out)))
