"""The fast suite checks types and shapes at some calls of each function, in each test anew."""

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from consilience.estimators.base import far_apart
from tests.of_one_model import model_called
from tests.shape_checks import Test, check_some_calls


def double(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return 2 * x


some_of_double = check_some_calls(double, typechecker=beartype)


def is_checked():
    try:
        some_of_double(np.zeros((2, 2)))
    except TypeCheckError:
        return True
    return False


@pytest.mark.parametrize("test", [1, 2])
def test_calls_that_are_checked(test, request):
    if request.config.getoption("--check-every-call"):
        pytest.skip("every call of the package is checked")
    assert [is_checked() for _ in range(9)] == [True, True, False, True, False, False, False, True, False]
    Test.number += 1
    assert is_checked()


@pytest.mark.parametrize("test", [1, 2])
def test_the_package_is_checked(test):
    with pytest.raises(TypeCheckError):
        far_apart(np.zeros(3))


@pytest.mark.parametrize("asked", ["dawid_skene", "DawidSkene", "dawid_skene_estimator", "dawidskene"])
def test_a_model_is_found_by_its_module_or_class(asked):
    model = model_called(asked)
    assert model.name == "DawidSkene"
    assert {path.name for path in model.tests} >= {"test_dawid_skene.py"}
    assert model.page.name == "dawid_skene.rst"


def test_an_unknown_model_is_answered_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"^No model is called 'xyz'\. .* The models are in the modules bayes_scdc, "):
        model_called("xyz")
    with pytest.raises(ValueError, match=r"Did you mean 'dawid_skene'\?$"):
        model_called("dawid_skein")
