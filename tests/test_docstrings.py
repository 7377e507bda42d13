"""The docstrings of the reference follow numpydoc, by its own checks."""

import importlib
import inspect
import re
import runpy

import pytest

from consilience import Groupings, Labels, Pairs, registry
from consilience.active import ActiveSession, LabelSession
from tests.test_docs import DOCS, PAGES, documented

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")
REFERENCE = runpy.run_path(str(DOCS / "_ext/reference.py"))
UNCHECKED = REFERENCE["UNCHECKED"]
OF_MODELS = {"GL01", "PR08"}
"""What is not checked of estimators, of which readers expect more: everything else is."""
RECEIVERS = {
    "store": ("Store",),
    "model": tuple(registry.ESTIMATORS),
}
"""How the pages call objects of these classes, some of whose methods are the package's own."""
OF_THE_PACKAGE = {"in_order", "of_codes", "renumber_items", "with_order_of"}
"""Methods of annotations that no user calls."""


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
    return REFERENCE["remarks_on"](held, unchecked)


@pytest.mark.parametrize("module", sorted({module for module, _ in documented()}))
def test_numpydoc_has_no_remarks_on_the_reference(module):
    held = public_objects(module)
    assert held
    remarks = {name: remarks_on(value) for name, value in held.items()}
    assert {name: found for name, found in remarks.items() if found} == {}


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_methods_that_pages_call_are_in_the_reference(receiver):
    calls = re.compile(rf"\b{receiver}\.(\w+)\(")
    called = {name for page in PAGES for name in calls.findall(page.read_text(encoding="utf-8"))}
    classes = [
        getattr(importlib.import_module(module), name) for module, name in documented() if name in RECEIVERS[receiver]
    ]
    methods = {getattr(held, name) for held in classes for name in called if hasattr(held, name)}
    own = [method for method in methods if (method.__module__ or "").startswith("consilience")]
    assert own
    remarks = {method.__qualname__: REFERENCE["remarks_on"](method) for method in own}
    assert {name: found for name, found in remarks.items() if found} == {}


@pytest.mark.parametrize("held", [Groupings, Labels, Pairs, ActiveSession, LabelSession])
def test_methods_of_annotations_and_sessions_are_in_the_reference(held):
    own = inspect.getmembers(held, lambda one: inspect.isfunction(one) or inspect.ismethod(one))
    public = {name: one for name, one in own if name[0] != "_" and one.__module__.startswith("consilience")}
    assert public
    assert {name for name, one in public.items() if REFERENCE["remarks_on"](one)} <= OF_THE_PACKAGE
