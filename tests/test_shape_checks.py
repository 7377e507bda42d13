"""The fast suite checks types and shapes at some calls of each function, in each folder of its room anew."""

from pathlib import Path

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from consilience.estimators.base import far_apart
from tests.shape_checks import Tests, check_some_calls


def double(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return 2 * x


some_of_double = check_some_calls(double, typechecker=beartype)


def is_refused(function, argument):
    try:
        function(argument)
    except TypeCheckError:
        return True
    return False


@pytest.mark.parametrize("folder", ["one", "another"])
def test_calls_that_are_checked(folder, request, monkeypatch):
    if request.config.getoption("--check-every-call"):
        pytest.skip("every call of the package is checked")
    monkeypatch.setattr(Tests, "folder", folder)
    first_nine = [is_refused(some_of_double, np.zeros((2, 2))) for _ in range(9)]
    assert first_nine == [True, True, False, True, False, False, False, True, False]


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
def test_the_package_is_checked_in_tests_of_its_room(path, is_checked, request, monkeypatch):
    for name in ("room", "folder"):
        monkeypatch.setattr(Tests, name, None)
    Tests.begin(Path(__file__).parents[1] / path)
    Tests.folder = path  # where nothing was called yet
    assert is_refused(far_apart, np.zeros(3)) == (is_checked or request.config.getoption("--check-every-call"))
