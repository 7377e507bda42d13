"""Networks for pictures: two convolutions of stride 2, and a perceptron on what is left."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import equinox as eqx
import jax
from jax import Array
from jaxtyping import Float, PRNGKeyArray

from consilience.deep.networks import Perceptron

CHANNELS = (16, 32)  # after each convolution


class ConvolutionalEncoder(eqx.Module):
    """Maps the numbers of a picture to outputs.

    shape : (height, width, channels) of a picture.
    """

    convolutions: tuple[eqx.nn.Conv2d, ...]
    perceptron: Perceptron
    shape: tuple[int, int, int] = eqx.field(static=True)

    def __init__(self, shape: tuple[int, ...], hidden: Sequence[int], n_outputs: int, *, key: PRNGKeyArray):
        self.shape = with_channels(shape)
        *of_convolutions, of_perceptron = jax.random.split(key, len(CHANNELS) + 1)
        channels = (self.shape[2], *CHANNELS)
        self.convolutions = tuple(
            eqx.nn.Conv2d(n_in, n_out, kernel_size=3, stride=2, padding=1, key=one)
            for n_in, n_out, one in zip(channels[:-1], channels[1:], of_convolutions, strict=True)
        )
        self.perceptron = Perceptron([prod(_reduced_shape(self.shape)), *hidden, n_outputs], key=of_perceptron)

    def __call__(self, value: Float[Array, " features"]) -> Float[Array, " outputs"]:
        picture = value.reshape(self.shape).transpose(2, 0, 1)
        for convolution in self.convolutions:
            picture = jax.nn.relu(convolution(picture))
        return self.perceptron(picture.ravel())


class ConvolutionalDecoder(eqx.Module):
    """Maps a latent position to numbers for each value of a picture, such as its mean and standard deviation.

    shape : (height, width, channels) of a picture. n_each : numbers for each value.
    """

    perceptron: Perceptron
    convolutions: tuple[eqx.nn.ConvTranspose2d, ...]
    shape: tuple[int, int, int] = eqx.field(static=True)
    n_each: int = eqx.field(static=True)

    def __init__(self, n_latent: int, hidden: Sequence[int], shape: tuple[int, ...], n_each: int, *, key: PRNGKeyArray):
        self.shape, self.n_each = with_channels(shape), n_each
        *of_convolutions, of_perceptron = jax.random.split(key, len(CHANNELS) + 1)
        channels = (*reversed(CHANNELS), n_each * self.shape[2])
        self.perceptron = Perceptron([n_latent, *hidden, prod(_reduced_shape(self.shape))], key=of_perceptron)
        self.convolutions = tuple(
            eqx.nn.ConvTranspose2d(n_in, n_out, kernel_size=4, stride=2, padding=1, key=one)
            for n_in, n_out, one in zip(channels[:-1], channels[1:], of_convolutions, strict=True)
        )

    def __call__(self, value: Float[Array, " dims"]) -> Float[Array, " outputs"]:
        height, width, channels = self.shape
        picture = self.perceptron(value).reshape(_reduced_shape(self.shape))
        for convolution in self.convolutions:
            picture = convolution(jax.nn.relu(picture))
        return picture[:, :height, :width].reshape(self.n_each, channels, height, width).transpose(0, 2, 3, 1).ravel()


def with_channels(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Shape of a picture with its channels, 1 if it has none."""
    height, width, *channels = shape
    return height, width, *(channels or [1])  # type: ignore[return-value]


def _reduced_shape(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """Channels, height and width after the convolutions of the encoder."""
    height, width, _ = shape
    for _ in CHANNELS:
        height, width = -(-height // 2), -(-width // 2)
    return CHANNELS[-1], height, width
