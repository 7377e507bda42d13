"""The fast suite checks types and shapes at some calls of each function, in each file of its room anew."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from consilience.estimators.base import far_apart
from tests.shape_checks import ROOT, Tests, check_some_calls


@check_some_calls(typechecker=beartype)
def double(x: Float[np.ndarray, " n"], *, times: int = 1) -> Float[np.ndarray, " n"]:
    return 2 * times * x


@check_some_calls(typechecker=beartype)
@dataclass
class Numbers:
    values: Float[np.ndarray, " n"]


class Doubled(Numbers):
    @check_some_calls(typechecker=beartype)
    def __init__(self, values: Float[np.ndarray, " n"]) -> None:
        super().__init__(double(values))


def halving() -> Callable[[np.ndarray], np.ndarray]:
    """Make a function anew, as a model does in each fit."""

    @check_some_calls(typechecker=beartype)
    def halve(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return x / 2

    return halve


def is_refused(function, argument):
    try:
        function(argument)
    except TypeCheckError:
        return True
    return False


@pytest.mark.parametrize("file", ["one.py", "another.py"])
def test_calls_that_are_checked(file, request):
    if request.config.getoption("--check-every-call"):
        pytest.skip("every call of the package is checked")
    Tests.begin(ROOT / "tests" / file)
    first_nine = [is_refused(double, np.zeros((2, 2))) for _ in range(9)]
    assert first_nine == [True, True, False, True, False, False, False, True, False]


@pytest.mark.parametrize("calls", [1, 10])
def test_a_function_works_while_it_is_counted_and_afterwards(calls, request):
    Tests.begin(ROOT / "tests" / f"{calls}.py")
    for _ in range(calls):
        assert Doubled(values=np.ones(2)).values.tolist() == [2, 2]
        assert double(np.ones(2), times=2).tolist() == [4, 4]
        assert list(signature(double).parameters) == ["x", "times"]
    is_every = request.config.getoption("--check-every-call")
    assert is_refused(Numbers, np.zeros((2, 2))) == (calls == 1 or is_every)


def test_what_is_made_in_another_function_is_checked_in_turn(request):
    if request.config.getoption("--check-every-call"):
        pytest.skip("every call of the package is checked")
    Tests.begin(ROOT / "tests" / "halving.py")
    assert [is_refused(halving(), np.zeros((2, 2))) for _ in range(5)] == [True, True, False, True, False]


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("tests/test_inputs.py", True),  # of all rooms
        ("tests/estimators/test_base.py", True),
        ("src/consilience/estimators/base.py", True),
        ("tests/cli/test_cli_fit.py", False),
        ("tests/benchmarks/test_sentinels.py", False),
    ],
)
def test_the_package_is_checked_in_tests_of_its_room(path, is_checked, request):
    Tests.begin(ROOT / path)
    assert is_refused(far_apart, np.zeros(3)) == (is_checked or request.config.getoption("--check-every-call"))
