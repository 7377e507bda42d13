"""Checks of the parameters of estimators."""

import numpy as np
import pytest

from consilience.consensus import DawidSkene
from consilience.errors import InputError
from consilience.estimators.parameters import is_number, is_whole, require


def test_the_sentence_names_parameter_estimator_and_value():
    model = DawidSkene(tol="small")
    require(model, "tol", "a float of at least 0", True)
    with pytest.raises(InputError) as error:
        require(model, "tol", "a float of at least 0", False)
    expected = "The 'tol' parameter of DawidSkene must be a float of at least 0. Got 'small' instead."
    assert str(error.value) == expected


def test_numbers_accepted_as_parameters():
    assert [is_whole(value, 2) for value in (2, np.int64(3), 1, 2.0, True, "2", None)] == [True, True] + [False] * 5
    numbers = (0.5, 1, np.float32(2), 0, -1, np.inf, np.nan, True, "1", None)
    assert [is_number(value) for value in numbers] == [True] * 3 + [False] * 7
    assert is_number(0, zero=True)
    assert not is_number(-1e-9, zero=True)
