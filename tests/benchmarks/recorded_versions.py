"""The oldest libraries by which all rows of the record of results can be computed."""

from importlib import metadata

import pytest
from packaging.version import Version

OLDEST = {
    "jax": "0.5",  # earlier ones draw other random numbers
    "scikit-learn": "1.8",  # earlier ones have other parameters of logistic regression, which are settings of rows
}


def require_recorded(library: str) -> None:
    """Skip a test with a library that is older than the record."""
    if Version(metadata.version(library)) < Version(OLDEST[library]):
        pytest.skip(f"the record is of {library} {OLDEST[library]} or later")
