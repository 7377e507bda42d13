"""Checks of the networks that users give: that they map what they get to as many numbers as are needed."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax import Array

from consilience.deep.networks import takes_key
from consilience.errors import InputError


def check_module(name: str, module: Any, shape: tuple[int, ...], n_outputs: int, text: str) -> None:
    """Raise an InputError if a module does not map an array of this shape to this many numbers.

    name : of the parameter
    module : Equinox module; None passes.
    shape : of one input
    n_outputs, text : expected number of outputs, and what it is the number of
    """
    if module is None:
        return
    if not isinstance(module, eqx.Module) or not callable(module):
        raise InputError(f"{name!r} must be an Equinox module with a __call__ method. Got {type(module).__name__}.")
    leaves = jax.tree.leaves(module, is_leaf=_is_state)
    if any(map(_is_state, leaves)):
        raise InputError(
            f"{name!r} has a layer with a state, such as BatchNorm, which is not kept during training. Use layers "
            "without one, such as GroupNorm or LayerNorm."
        )
    if not any(map(eqx.is_inexact_array, leaves)):
        raise InputError(f"{name!r} has no weights to train: none of its parts is an array of floats.")
    try:
        found = _output(module, shape)
    except Exception as error:  # whatever a network of others raises
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"{name!r} fails for an input of shape {shape}: {type(error).__name__}: {first}") from error
    numbers = jax.tree.leaves(found)
    if len(numbers) != 1:
        raise InputError(f"{name!r} must return one array. For an input of shape {shape}, it returns {len(numbers)}.")
    size, returned = int(np.prod(numbers[0].shape)), tuple(numbers[0].shape)
    if size != n_outputs:
        raise InputError(
            f"{name!r} returns an array of shape {returned}, {size:,} numbers, for an input of shape {shape}. Expected "
            f"{n_outputs:,}: {text}."
        )


def _output(module: Any, shape: tuple[int, ...]) -> Any:
    """Shape of the output, without computing it."""

    def of_training(value: Array, key: Array) -> Any:
        return module(value, key=key) if takes_key(module) else module(value)

    key = jax.random.key(0)
    return eqx.filter_eval_shape(of_training, jax.ShapeDtypeStruct(shape, np.float32), key)


def _is_state(part: Any) -> bool:
    return isinstance(part, eqx.nn.StateIndex)
