"""What the reference shows of a class: the methods whose docstrings numpydoc finds complete.

The others are for the package's own use, such as the steps of a fit that partitions take as well.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection
from typing import Any

from numpydoc.validate import validate
from sphinx.application import Sphinx

UNCHECKED = {
    "ES01": "many functions are said in one sentence",
    "GL01": "ruff sees to where a docstring begins",
    "EX01": "plots and loaders have theirs in the guides",
    "PR07": "a fitted model, a path or a number of items needs no second sentence",
    "PR08": "a description may begin with the symbol of the paper",
    "RT03": "a class of the package describes itself",
    "SA01": "many functions have no neighbour",
}


def remarks_on(held: Any, unchecked: Collection[str] = UNCHECKED) -> list[tuple[str, str]]:
    """Return numpydoc's remarks on an object, each with its code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpydoc's own, on sections that it does not know: GL06 is an error here
        found = validate(f"{held.__module__}.{held.__qualname__}")["errors"]
    # of all parameters it is the one whose type says least: what an int does is said everywhere
    return [(code, remark) for code, remark in found if code not in unchecked or '"random_state"' in remark]


def skip_incomplete(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave a method out of the reference if its docstring is incomplete."""
    is_method = inspect.isfunction(member) or inspect.ismethod(member)
    return True if is_method and member.__module__.startswith("consilience") and remarks_on(member) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", skip_incomplete)
    return {"parallel_read_safe": True}
