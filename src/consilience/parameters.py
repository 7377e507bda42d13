"""Checks of the parameters of estimators: one sentence that says what was expected and what was found."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

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
