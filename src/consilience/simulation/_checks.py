"""Validation of the simulators' arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.names import name_index
from consilience.errors import InputError

MOST = 100_000_000  # labels, judgements or numbers in one simulation


def generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy Generator for a user's `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise InputError(
        "'random_state' must be None, an int of at least 0, or a Generator or RandomState of NumPy. Got "
        f"{random_state!r}."
    )


def classes_and_items(classes: Any, items: Any) -> tuple[np.ndarray, np.ndarray, pd.Index]:
    """Return class codes (n_items,), names of the classes in order of first appearance, and names of the items."""
    array = np.asarray(classes)
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"'classes' must be a one-dimensional array of classes. Got shape {array.shape} instead.")
    codes, names = pd.factorize(array)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise InputError(f"'classes' must have no missing values. Got one at position {missing[0]}.")
    return codes, names, names_of_items(items, classes, len(codes))


def names_of_items(items: Any, values: Any, n_items: int) -> pd.Index:
    """Return the names of the items; by default the index of a Series of their values, else their numbers."""
    if items is None:
        items = values.index if isinstance(values, pd.Series) else pd.RangeIndex(n_items)
    index = name_index(items)
    if len(index) != n_items:
        raise InputError(f"'items' must name each of the {n_items} items. Got {len(index)} names instead.")
    return index


def accuracies(accuracy: Any, n: int, function: str, *, of: str = "annotators") -> np.ndarray:
    """Return the accuracy of each of `n` annotators."""
    right = np.asarray(accuracy, dtype=float)
    if right.shape not in [(), (n,)]:
        raise InputError(
            f"The 'accuracy' parameter of {function} must be a number, or one for each of the {n} {of}. Got an array "
            f"of shape {right.shape} instead."
        )
    outside = right[~((right >= 0) & (right <= 1))]
    if len(outside):
        raise InputError(f"The 'accuracy' parameter of {function} must lie in [0, 1]. Got {outside[0]} instead.")
    return np.broadcast_to(right, (n,))


def require_count(
    name: str, value: Any, function: str, *, at_most: int | None = None, limit: str = "the number of items"
) -> None:
    """Require a positive int of at most `at_most`, which `limit` describes."""
    if not isinstance(value, int | np.integer) or value < 1 or (at_most is not None and value > at_most):
        bound = "" if at_most is None else f" of at most {at_most}, {limit}"
        raise InputError(f"The '{name}' parameter of {function} must be a positive int{bound}. Got {value!r} instead.")


def require_size(n: int, each: int, what: str, function: str) -> None:
    """Require that `n` times `each` is not more than a machine can hold."""
    if n * each > MOST:
        raise InputError(f"{function} would make {n:,} × {each:,} {what}, more than {MOST:,}. Ask for fewer.")


def require_share(name: str, value: float, function: str, *, zero: bool = True) -> None:
    """Require a number in [0, 1], or in (0, 1] unless `zero` is allowed."""
    if not 0 <= value <= 1 or (value == 0 and not zero):
        raise InputError(
            f"The '{name}' parameter of {function} must lie in {'[' if zero else '('}0, 1]. Got {value!r} instead."
        )
