"""Checks of the parameters of estimators: one sentence that says what was expected and what was found."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import sklearn.utils

from consilience.errors import InputError


def require(estimator: Any, name: str, expected: str, holds: bool) -> None:
    """Raise an InputError that says what a parameter must be, unless it holds."""
    if not holds:
        value = getattr(estimator, name)
        raise InputError(
            f"The '{name}' parameter of {type(estimator).__name__} must be {expected}. Got {value!r} instead."
        )


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is an int of at least `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_number(value: Any, *, zero: bool = False) -> bool:
    """Whether a value is a finite number above zero, or zero where it may be."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and 0 <= float(value) < float("inf") and (zero or float(value) > 0)


def is_auto(value: Any) -> bool:
    """Whether a value says that the model is to find it."""
    return isinstance(value, str) and value == "auto"


def require_number_of_clusters(estimator: Any) -> None:
    """Raise an InputError unless the parameter `n_clusters` of an estimator is "auto" or a positive int."""
    value = estimator.n_clusters
    require(estimator, "n_clusters", "'auto' or a positive int", is_auto(value) or is_whole(value, 1))


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return the source of randomness that a user named.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        A Generator is asked for a seed, and so goes on: two fits with one Generator differ, as with one RandomState.

    Raises
    ------
    InputError
        It is none of these, or an int that is no seed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> check_random_state(rng).randint(100), check_random_state(rng).randint(100)
    (25, 27)
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32, size=4, dtype=np.uint32))
    try:
        found: np.random.RandomState = sklearn.utils.check_random_state(random_state)
    except ValueError as error:
        raise InputError(
            "'random_state' must be None, an int from 0 to 2**32 - 1, or a RandomState or Generator of NumPy. Got "
            f"{random_state!r} instead."
        ) from error
    return found
