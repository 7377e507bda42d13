"""The docstrings of the reference follow numpydoc, by its own checks."""

import importlib
import inspect
import warnings

import pytest

from consilience import registry
from tests.test_docs import documented

validate = pytest.importorskip("numpydoc.validate").validate

UNCHECKED = {
    "ES01": "many functions are said in one sentence",
    "GL01": "ruff sees to where a docstring begins",
    "EX01": "plots and loaders have theirs in the guides",
    "PR07": "a fitted model, a path or a number of items needs no second sentence",
    "PR08": "a description may begin with the symbol of the paper",
    "RT03": "a class of the package describes itself",
    "SA01": "many functions have no neighbour",
}
OF_MODELS = {"GL01", "PR08"}
"""What is not checked of estimators, of which readers expect more: everything else is."""


def public_objects(module):
    """Return the classes and functions of the reference that are imported from a module, by name."""
    found = {name: getattr(importlib.import_module(module), name) for known, name in documented() if known == module}
    return {name: held for name, held in found.items() if inspect.isclass(held) or inspect.isroutine(held)}


def remarks_on(held):
    """Return numpydoc's remarks on an object, without those that are not checked."""
    is_model = held.__name__ in registry.ESTIMATORS or held.__name__ == "SubsetClustering"
    unchecked = set(OF_MODELS if is_model else UNCHECKED)
    if inspect.isclass(held) and not is_model:
        unchecked.add("PR01")  # fields of results and requests are attributes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpydoc's own, on sections that it does not know: GL06 is an error here
        found = validate(f"{held.__module__}.{held.__qualname__}")["errors"]
    # of all parameters it is the one whose type says least: what an int does is said everywhere
    return [(code, remark) for code, remark in found if code not in unchecked or '"random_state"' in remark]


@pytest.mark.parametrize("module", sorted({module for module, _ in documented()}))
def test_numpydoc_has_no_remarks_on_the_reference(module):
    held = public_objects(module)
    assert held
    remarks = {name: remarks_on(value) for name, value in held.items()}
    assert {name: found for name, found in remarks.items() if found} == {}
