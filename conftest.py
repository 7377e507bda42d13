"""Settings for tests and for the examples in docstrings."""

import gc
import os
import sys

import jaxtyping
import pytest

from tests import shape_checks

gc.set_threshold(100_000, 50, 100)  # with thousands of tests in memory, each search for garbage is long
os.environ.setdefault("MPLBACKEND", "agg")  # plots need no display
# the import hook writes it before every function, also of what the conftest files of folders import before any option
# is known
jaxtyping.jaxtyped = shape_checks.check_some_calls
CHOICE = pytest.StashKey()
PATIENCE = 3600  # seconds for a slow test
SLOW_EXAMPLES = {
    "BayesSCDC",
    "SCDC",
    "DeepMCVC",
    "PartitionLabelModel",
    "plan",
    "report",
    "difference_report",
    "plot_plan",
    "study_difference",
    "plot_difference",
    "plot_flow",
}
# in docstrings; seconds each


def pytest_addoption(parser):
    parser.addoption(
        "--check-every-call", action="store_true", help="check the types and shapes of every call, not of some"
    )
    parser.addoption("--thorough", action="store_true", help="draw many examples for the tests of properties")
    parser.addoption("--model", help="only the tests of this model, by its module or class: dawid_skene, DawidSkene")
    parser.addoption("--near", metavar="COMMIT", help="only the tests that concern what changed since a commit")


def pytest_configure(config):
    shape_checks.Tests.every_call = config.getoption("--check-every-call")
    try:
        chosen = choose_tests(config)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    if chosen is not None:
        config.stash[CHOICE] = chosen
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = list(map(str, chosen.files))


def choose_tests(config):
    """Return what the options choose, a model or a change; None is all tests."""
    if config.getoption("--model") is not None:
        from tests.of_one_model import model_called  # which imports the package

        return model_called(config.getoption("--model"))
    if config.getoption("--near") is not None:
        from tests.near_a_change import changed_since

        return changed_since(config.getoption("--near"))
    return None


def pytest_collection_finish():
    gc.freeze()  # modules and tests stay


def pytest_collection_modifyitems(config, items):
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.rpartition(".")[2] in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(PATIENCE))
    if CHOICE in config.stash:
        kept = list(filter(config.stash[CHOICE].concerns, items))
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def pytest_runtest_setup(item):
    shape_checks.Tests.begin(item.path)


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test or an example left open, so that the next one does not draw on it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
