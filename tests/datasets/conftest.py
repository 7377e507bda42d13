from functools import cache

import pytest

from consilience.datasets import load_dataset
from consilience.errors import MissingDataError

_load = cache(load_dataset)


@pytest.fixture(scope="session")
def load():
    """Load a real data set by name, or skip the test with the loader's reason."""

    def load_or_skip(name):
        try:
            return _load(name)
        except MissingDataError as error:
            pytest.skip(str(error))

    return load_or_skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder for the loaders."""
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path))
    return tmp_path
