"""The fast suite checks types and shapes at some calls of each function, in each folder of tests anew."""

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from consilience.estimators.base import far_apart
from tests.shape_checks import Tests, check_some_calls


def double(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return 2 * x


some_of_double = check_some_calls(double, typechecker=beartype)


def is_checked():
    try:
        some_of_double(np.zeros((2, 2)))
    except TypeCheckError:
        return True
    return False


@pytest.mark.parametrize("folder", ["one", "another"])
def test_calls_that_are_checked(folder, request, monkeypatch):
    if request.config.getoption("--check-every-call"):
        pytest.skip("every call of the package is checked")
    monkeypatch.setattr(Tests, "folder", folder)
    assert [is_checked() for _ in range(9)] == [True, True, False, True, False, False, False, True, False]


def test_the_package_is_checked():
    with pytest.raises(TypeCheckError):
        far_apart(np.zeros(3))
