"""Pictures as features: arrays of shape (items, height, width) or (items, height, width, channels).

Or a Series of arrays of one picture each, indexed by the names of the items.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from consilience.annotations.names import plain
from consilience.errors import InputError

LARGEST_GREY = 255.0  # value of white, or of a full colour, in whole numbers of eight bits


class Format(NamedTuple):
    """How pictures are given.

    shape : of one picture; () if features are a table.
    brightest : value of white in arrays of eight-bit integers.
    """

    shape: tuple[int, ...] = ()
    brightest: float = LARGEST_GREY


def format_of(X: Any) -> Format:
    """Format of the pictures on which a model is fitted.

    Raises InputError: an array of more than four dimensions, pictures without pixels, or named pictures of different
    shapes.
    """
    if not is_pictures(X):
        return Format()
    array = _array(X)
    if array.ndim not in (3, 4) or not all(array.shape[1:]):
        raise InputError(
            "Expected pictures of shape (n_items, height, width) or (n_items, height, width, channels). Got "
            f"{array.shape}."
        )
    binary = array.dtype == np.uint8 and array.max(initial=0) <= 1
    return Format(array.shape[1:], 1.0 if binary else LARGEST_GREY)


def as_table(X: Any, known: Format) -> Any:
    """Return pictures as rows of numbers, those of eight-bit integers from 0 to 1; return a table as it is.

    Raises InputError: pictures of another shape than those on which the model was fitted.
    """
    if not is_pictures(X):
        return X
    array = _array(X)
    if array.shape[1:] != known.shape:
        expected = f"pictures of shape {known.shape}" if known.shape else "a table of features"
        raise InputError(f"The model was fitted on {expected}. Got pictures of shape {array.shape[1:]}.")
    flat = array.reshape(len(array), -1)
    flat = flat / known.brightest if flat.dtype == np.uint8 else flat
    return pd.DataFrame(flat, index=X.index) if isinstance(X, pd.Series) else flat


def is_pictures(X: Any) -> bool:
    """Whether features are an array of more than two dimensions, or a Series of arrays.

    Raises InputError: a list of arrays.
    """
    if isinstance(X, pd.Series):
        return bool(len(X)) and isinstance(X.iloc[0], np.ndarray)
    if isinstance(X, list | tuple) and len(X) and getattr(X[0], "ndim", 1) > 1:
        raise InputError(
            "Got a list of pictures. Pass one array of them, numpy.stack(pictures), or, to name them, "
            "pandas.Series(pictures, index=names)."
        )
    return isinstance(X, np.ndarray) and X.ndim > 2


def _array(X: Any) -> np.ndarray:
    if isinstance(X, np.ndarray):
        return X
    first = X.iloc[0]
    for name, picture in X.items():
        if np.shape(picture) != first.shape:
            raise InputError(
                f"Picture {plain(name)!r} has the shape {np.shape(picture)}, but {plain(X.index[0])!r} has "
                f"{first.shape}. Bring all pictures to one size."
            )
    return np.stack(list(X))


def looks_like_greys(values: np.ndarray) -> bool:
    """Whether all features are whole numbers from 0 to 255, and some are near both ends, as in pictures."""
    # few columns, or none above 127, may be counts
    if values.shape[1] < 16 or values.min(initial=0) < 0 or not 128 <= values.max(initial=0) <= LARGEST_GREY:
        return False
    return bool((values == np.floor(values)).all())
