"""Requirements of parameters of estimators, declared as data, and the message if one is not met.

A class declares its parameters once::

    _requirements: ClassVar[Requirements] = {"n_clusters": AUTO | whole(1), "tol": NOT_NEGATIVE}

and `require_parameters` checks them when the estimator is fitted. Parameters that depend on each other are checked
by the class itself, with `require`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from consilience.annotations.display import show_value
from consilience.errors import InputError
from consilience.inference.randomness import LARGEST_SEED, is_random_state

LARGEST_WHOLE = 2**31 - 1
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-100, 1e100  # so that squares and products are neither zero nor infinite


@dataclass(frozen=True)
class Requirement:
    """Requirement of a parameter: its options in words, and a test that holds for any of them."""

    options: tuple[str, ...]
    holds: Callable[[Any], bool]

    @property
    def expected(self) -> str:
        """The options as part of a sentence."""
        *first, last = self.options
        return f"{', '.join(first)} or {last}" if first else last

    def __or__(self, other: Requirement) -> Requirement:
        return Requirement(self.options + other.options, lambda value: self.holds(value) or other.holds(value))


Requirements = Mapping[str, Requirement]


def one_of(*values: str | None) -> Requirement:
    """Require one of some strings, or None if it is among them.

    Examples
    --------
    >>> (one_of("auto", None) | whole(1)).expected
    "'auto', None or a positive int"
    """
    return Requirement(tuple(map(repr, values)), lambda value: is_one_of(value, values))


def whole(least: int, most: int | None = None) -> Requirement:
    """Require an int of at least `least` and at most `most`."""
    expected = "a positive int" if least == 1 else f"an int of at least {least}"
    if most is not None:
        expected = f"an int from {least} to {most:,}"
    return Requirement((expected,), lambda value: is_whole(value, least, LARGEST_WHOLE if most is None else most))


def interval(low: int, high: int, closed: Literal["both", "left", "right", "neither"]) -> Requirement:
    """Require a number between two ints, `closed` at both, one or neither of them.

    Examples
    --------
    >>> interval(0, 1, "left").expected
    'a number in [0, 1)'
    """
    left, right = closed in ("both", "left"), closed in ("both", "right")

    def holds(value: Any) -> bool:
        if not is_number(value, zero=left and low == 0):
            return False
        return bool((low <= value if left else low < value) and (value <= high if right else value < high))

    return Requirement((f"a number in {'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}",), holds)


AUTO, NONE = one_of("auto"), one_of(None)
TRUTH = Requirement(("True", "False"), lambda value: isinstance(value, bool | np.bool_))
POSITIVE = Requirement(("a positive number",), lambda value: is_number(value))
NOT_NEGATIVE = Requirement(("a number of at least 0",), lambda value: is_number(value, zero=True))
ARRAY = Requirement(("an array",), lambda value: hasattr(value, "__array__") or is_numbers(value))
RESTARTS = whole(1, 1_000_000)
TWO_POSITIVE = Requirement(("two positive numbers",), lambda value: _are(value, is_number) and len(value) == 2)
WIDTHS = Requirement(("a tuple of positive ints",), lambda value: _are(value, lambda one: is_whole(one, 1)))
JOBS = Requirement(
    ("None", "a positive int", "a negative one to count from all processors"),
    lambda value: value is None or (is_whole(value, -LARGEST_WHOLE) and value != 0),
)
VERBOSE = Requirement(("True", "False"), lambda value: TRUTH.holds(value) or is_whole(value, 0))
RANDOM_STATE = Requirement(
    (f"an int from 0 to {LARGEST_SEED}", "a RandomState", "a Generator", "None"), is_random_state
)


def require_parameters(estimator: Any) -> None:
    """Raise an InputError unless every parameter is what its class, or a base of it, declares.

    A declaration of a class overrides those of its bases for the same parameter.
    """
    requirements: dict[str, Requirement] = {}
    for one in reversed(type(estimator).__mro__):
        requirements |= vars(one).get("_requirements", {})
    for name, requirement in requirements.items():
        if name in vars(estimator):  # a class need not take every parameter of its base
            require(estimator, name, requirement.expected, requirement.holds(getattr(estimator, name)))


def require(estimator: Any, name: str, expected: str, holds: bool) -> None:
    """Raise an InputError that says what a parameter must be, unless `holds`."""
    if not holds:
        value = getattr(estimator, name)
        limit = _limit(value, expected)
        raise InputError(
            f"The '{name}' parameter of {type(estimator).__name__} must be {expected}{limit}. Got {show_value(value)} "
            "instead."
        )


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
    return isinstance(value, str) and value == "auto"


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


def _are(values: Any, holds: Callable[[Any], bool]) -> bool:
    """Whether a value is a non-empty tuple or list, and a test holds for all its elements."""
    return isinstance(values, tuple | list) and len(values) > 0 and all(map(holds, values))
