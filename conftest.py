"""Settings for tests and for the examples in docstrings."""

import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # plots need no display


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test or an example left open, so that the next one does not draw on it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
