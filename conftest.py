"""Settings for tests and for the examples in docstrings."""

import os
import sys

import jaxtyping
import pytest

from tests import shape_checks

os.environ.setdefault("MPLBACKEND", "agg")  # plots need no display


def pytest_addoption(parser):
    parser.addoption(
        "--check-every-call", action="store_true", help="check the types and shapes of every call, not of some"
    )


def pytest_configure(config):
    if not config.getoption("--check-every-call"):
        jaxtyping.jaxtyped = shape_checks.check_some_calls  # which the import hook writes before every function


def pytest_runtest_setup():
    shape_checks.Test.number += 1


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test or an example left open, so that the next one does not draw on it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
