"""Pictures as features: arrays of shape (items, height, width) or (items, height, width, channels)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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

    Raises
    ------
    InputError
        An array of more than four dimensions, or pictures without pixels.
    """
    if not is_pictures(X):
        return Format()
    if X.ndim > 4 or not all(X.shape[1:]):
        raise InputError(
            f"Expected pictures of shape (n_items, height, width) or (n_items, height, width, channels). Got {X.shape}."
        )
    binary = X.dtype == np.uint8 and X.max(initial=0) <= 1
    return Format(X.shape[1:], 1.0 if binary else LARGEST_GREY)


def as_table(X: Any, known: Format) -> Any:
    """Return pictures as rows of numbers, those of eight-bit integers from 0 to 1; return a table as it is.

    Raises
    ------
    InputError
        Pictures of another shape than those on which the model was fitted.
    """
    if not is_pictures(X):
        return X
    if X.shape[1:] != known.shape:
        expected = f"pictures of shape {known.shape}" if known.shape else "a table of features"
        raise InputError(f"The model was fitted on {expected}. Got pictures of shape {X.shape[1:]}.")
    flat = X.reshape(len(X), -1)
    return flat / known.brightest if X.dtype == np.uint8 else flat


def is_pictures(X: Any) -> bool:
    """Whether features are an array of more than two dimensions."""
    return isinstance(X, np.ndarray) and X.ndim > 2


def looks_like_greys(values: np.ndarray) -> bool:
    """Whether all features are whole numbers from 0 to 255, and some are near both ends, as in pictures."""
    if values.shape[1] < 16 or values.min(initial=0) < 0 or not 128 <= values.max(initial=0) <= LARGEST_GREY:
        return False
    return bool((values == np.floor(values)).all())
