"""Checks of the parameters of estimators: one sentence that says what was expected and what was found."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import sklearn.utils

from consilience.errors import InputError

LARGEST_WHOLE = 2**31 - 1
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-100, 1e100  # so that squares and products are neither zero nor infinite
MOST_RESTARTS = 1_000_000
LARGEST_SEED = 2**32 - 1
LONGEST = 80  # characters of a value in a message


def require(estimator: Any, name: str, expected: str, holds: bool) -> None:
    """Raise an InputError that says what a parameter must be, unless `holds`."""
    if not holds:
        value = getattr(estimator, name)
        limit = _limit(value, expected)
        raise InputError(
            f"The '{name}' parameter of {type(estimator).__name__} must be {expected}{limit}. Got {shown(value)} "
            "instead."
        )


def require_common(estimator: Any) -> None:
    """Raise an InputError if a parameter common to many estimators is invalid."""
    held = vars(estimator)
    if "random_state" in held:
        seeds = f"an int from 0 to {LARGEST_SEED}, a RandomState, a Generator or None"
        require(estimator, "random_state", seeds, is_seed(estimator.random_state))
    if "n_init" in held and is_whole(estimator.n_init, MOST_RESTARTS + 1):
        require(estimator, "n_init", f"an int from 1 to {MOST_RESTARTS:,}", False)
    if "n_jobs" in held:
        jobs = estimator.n_jobs is None or (is_whole(estimator.n_jobs, -LARGEST_WHOLE) and estimator.n_jobs != 0)
        require(estimator, "n_jobs", "None, a positive int, or a negative one to count from all processors", jobs)
    if "verbose" in held:
        truth = isinstance(estimator.verbose, bool | np.bool_) or is_whole(estimator.verbose, 0)
        require(estimator, "verbose", "True or False", truth)


def is_one_of(value: Any, values: Iterable[str | None]) -> bool:
    """Whether a value is one of some strings, or None if it is among them."""
    return (value is None or isinstance(value, str)) and value in list(values)


def is_numbers(value: Any) -> bool:
    """Whether a value is a table, an array or a list of numbers."""
    if not (isinstance(value, list | tuple) or hasattr(value, "__array__")):
        return False
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError):  # rows of several lengths
        return False


def is_whole(value: Any, least: int, most: int = LARGEST_WHOLE) -> bool:
    """Whether a value is an int from `least` to `most`, by default the largest index."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_number(value: Any, *, zero: bool = False) -> bool:
    """Whether a value is a number above zero, or zero if allowed, of a size that does not overflow."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    if isinstance(value, Integral) and not -(2**63) <= int(value) < 2**63:  # which no array holds
        return False
    return bool((0 if zero else SMALLEST_NUMBER) <= float(value) <= LARGEST_NUMBER)


def is_seed(value: Any) -> bool:
    """Whether a value is a source of randomness; see `check_random_state`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    known = value is None or value is np.random or isinstance(value, np.random.RandomState | np.random.Generator)
    return known or (whole and 0 <= int(value) <= LARGEST_SEED)


def shown(value: Any) -> str:
    """Show a value in a message, however long it is.

    Examples
    --------
    >>> shown("abc"), shown(10**5000)
    ("'abc'", 'an int of 5001 digits')
    >>> shown("x" * 1000)[-10:]
    'xxxxxxxxx…'
    """
    if isinstance(value, Integral) and abs(int(value)) >= 10**LONGEST:
        digits = int(int(abs(value)).bit_length() * math.log10(2)) + 1
        return f"an int of {digits} digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _limit(value: Any, expected: str) -> str:
    """Return the limit of a number as text, if it is larger or smaller than any parameter may be."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return ""
    if isinstance(value, Integral):
        if int(value) <= LARGEST_WHOLE:
            return ""
        return f", at most {LARGEST_WHOLE:,}" if " int" in f" {expected}" else ", of 64 bits"
    if 0 < float(value) < SMALLEST_NUMBER:
        return f", at least {SMALLEST_NUMBER:g}"
    return f", at most {LARGEST_NUMBER:g}" if LARGEST_NUMBER < float(value) < math.inf else ""


def is_auto(value: Any) -> bool:
    """Whether a value is "auto"."""
    return isinstance(value, str) and value == "auto"


def require_number_of_clusters(estimator: Any) -> None:
    """Raise an InputError unless the parameter `n_clusters` of an estimator is "auto" or a positive int."""
    value = estimator.n_clusters
    require(estimator, "n_clusters", "'auto' or a positive int", is_auto(value) or is_whole(value, 1))


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return the source of randomness that the user gave.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        A seed is drawn from a Generator, which advances it: two fits with one Generator differ, as with one
        RandomState.

    Raises
    ------
    InputError
        It is none of these, or an int that is not a valid seed.

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
            f"{shown(random_state)} instead."
        ) from error
    return found
