"""Randomness: from what users pass as `random_state` to the seeds and generators of the models.

A model draws its seeds once and passes them on, so that its result depends on `random_state` alone, whatever runs first
and on however many processors.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import sklearn.utils

from consilience.annotations.display import show_value
from consilience.errors import InputError

LARGEST_SEED = 2**32 - 1


def is_random_state(value: Any) -> bool:
    """Whether `check_random_state` accepts a value."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    known = value is None or value is np.random or isinstance(value, np.random.RandomState | np.random.Generator)
    return known or (whole and 0 <= int(value) <= LARGEST_SEED)


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return the source of randomness that the user gave.

    Raises InputError: it is none of these, or an int that is not a valid seed.

    random_state : int, RandomState, Generator or None; a seed is drawn from a Generator, which advances it: two fits
        with one Generator differ, as with one RandomState.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> check_random_state(rng).randint(100), check_random_state(rng).randint(100)
    (25, 27)
    """
    if isinstance(random_state, np.random.Generator):
        # scikit-learn takes no Generator; a draw, so that the next differs
        return np.random.RandomState(random_state.integers(2**32, size=4, dtype=np.uint32))
    try:
        found: np.random.RandomState = sklearn.utils.check_random_state(random_state)
    except ValueError as error:
        raise InputError(
            "'random_state' must be None, an int from 0 to 2**32 - 1, or a RandomState or Generator of NumPy. Got "
            f"{show_value(random_state)} instead."
        ) from error
    return found


def spawn_seeds(random_state: Any, n: int) -> list[int]:
    """Draw `n` seeds.

    random_state : int, RandomState, Generator or None; an int makes the result reproducible.

    Examples
    --------
    >>> spawn_seeds(0, 2)
    [209652396, 398764591]
    """
    rng = check_random_state(random_state)
    return [int(seed) for seed in rng.randint(np.iinfo(np.int32).max, size=n)]


def spawn_generator(random_state: Any) -> np.random.Generator:
    """Return a new generator, with a seed drawn from `random_state`."""
    return np.random.default_rng(spawn_seeds(random_state, 1)[0])
