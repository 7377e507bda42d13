"""Parameters of estimators: what each must be, and the sentence that says otherwise."""

from inspect import signature
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from consilience import active, registry
from consilience.consensus import DawidSkene
from consilience.errors import InputError
from consilience.estimators.parameters import (
    AUTO,
    POSITIVE,
    TWO_POSITIVE,
    WIDTHS,
    interval,
    is_number,
    is_whole,
    one_of,
    require,
    require_parameters,
    whole,
)

# compared by code of their own, since they hold estimators, networks, files or items
CHECKED_ELSEWHERE = {"consensus", "classifier", "encoder", "decoder", "checkpoint", "items", "classes"}


def classes():
    models = [entry.load() for entry in registry.ESTIMATORS.values()]
    others = [one for one in (getattr(active, name) for name in active.__all__) if isinstance(one, type)]
    return models + [one for one in others if issubclass(one, BaseEstimator) or hasattr(one, "_requirements")]


@pytest.mark.parametrize("one", classes(), ids=lambda one: one.__name__)
def test_every_parameter_is_declared_or_named_here(one):
    declared = set().union(*(vars(base).get("_requirements", {}) for base in one.__mro__))
    parameters = set(signature(one).parameters)
    assert parameters - CHECKED_ELSEWHERE <= declared
    own = set().union(
        *(vars(base).get("_requirements", {}) for base in one.__mro__ if base.__name__ != "CrowdEstimator")
    )
    assert own <= parameters, "a requirement without a parameter"


def test_the_sentence_names_parameter_estimator_and_value():
    model = DawidSkene(tol="small")
    require(model, "tol", "a number of at least 0", True)
    with pytest.raises(InputError) as error:
        require_parameters(model)
    expected = "The 'tol' parameter of DawidSkene must be a number of at least 0. Got 'small' instead."
    assert str(error.value) == expected


def test_a_declaration_takes_the_place_of_that_of_a_base():
    class Base:
        _requirements: ClassVar = {"n": whole(1), "m": whole(1)}

    class Derived(Base):
        _requirements: ClassVar = {"n": AUTO}

        def __init__(self, n, m=1):
            self.n, self.m = n, m

    require_parameters(Derived("auto"))
    with pytest.raises(InputError, match="'n' parameter of Derived must be 'auto'"):
        require_parameters(Derived(3))
    with pytest.raises(InputError, match="'m' parameter"):
        require_parameters(Derived("auto", 0))


def test_options_are_joined_in_a_sentence():
    assert one_of("a").expected == "'a'"
    assert (one_of("a", None) | whole(2)).expected == "'a', None or an int of at least 2"
    either = AUTO | POSITIVE
    assert [either.holds(value) for value in ("auto", 2.5, "other", 0, None)] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("closed", "expected"),
    [("both", [1, 1, 1]), ("left", [1, 1, 0]), ("right", [0, 1, 1]), ("neither", [0, 1, 0])],
)
def test_intervals_hold_their_ends_where_they_are_closed(closed, expected):
    held = interval(0, 1, closed)
    assert [held.holds(value) for value in (0, 0.5, 1)] == [bool(value) for value in expected]
    assert not any(held.holds(value) for value in (-0.1, 1.1, np.nan, None, "0.5", True))


def test_tuples_of_numbers():
    assert TWO_POSITIVE.holds((1, 2.5))
    assert not any(TWO_POSITIVE.holds(value) for value in ((1,), (1, 2, 3), (1, 0), 1.0, "ab", None))
    assert WIDTHS.holds((500, 100))
    assert not any(WIDTHS.holds(value) for value in ((), (0,), (1.5,), 500))


def test_numbers_accepted_as_parameters():
    assert [is_whole(value, 2) for value in (2, np.int64(3), 1, 2.0, True, "2", None)] == [True, True] + [False] * 5
    numbers = (0.5, 1, np.float32(2), 0, -1, np.inf, np.nan, True, "1", None)
    assert [is_number(value) for value in numbers] == [True] * 3 + [False] * 7
    assert is_number(0, zero=True)
    assert not is_number(-1e-9, zero=True)
