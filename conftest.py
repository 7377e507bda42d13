"""Settings for tests and for the examples in docstrings."""

import gc
import os
import sys

import jaxtyping
import pytest

from tests import shape_checks

os.environ.setdefault("MPLBACKEND", "agg")  # plots need no display
# the import hook writes it before every function, also of what the conftest files of folders import before any option
# is known
jaxtyping.jaxtyped = shape_checks.check_some_calls
MODEL = pytest.StashKey()
PATIENCE = 3600  # seconds for a slow test


def pytest_addoption(parser):
    parser.addoption(
        "--check-every-call", action="store_true", help="check the types and shapes of every call, not of some"
    )
    parser.addoption("--model", help="only the tests of this model, by its module or class: dawid_skene, DawidSkene")


def pytest_configure(config):
    gc.set_threshold(20_000, 20, 20)  # with thousands of tests in memory, each search for garbage is long
    shape_checks.Test.every_call = config.getoption("--check-every-call")
    if config.getoption("--model") is not None:
        from tests import of_one_model  # which imports the package

        try:
            config.stash[MODEL] = of_one_model.model_called(config.getoption("--model"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = list(map(str, config.stash[MODEL].files))


def pytest_collection_finish():
    gc.freeze()  # modules and tests stay


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(PATIENCE))
    if MODEL in config.stash:
        kept = list(filter(config.stash[MODEL].concerns, items))
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def pytest_runtest_setup():
    shape_checks.Test.number += 1


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test or an example left open, so that the next one does not draw on it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
