"""Lists of names as users give them: one name instead of a list, and things that are not lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import pandas as pd

from consilience.errors import AnnotationError


def list_names(names: Any, what: str) -> list[Any]:
    """Return names as a list; one name, such as a text or a number, becomes a list of one.

    Raises AnnotationError: a dict, a table or a mask, in which the names are ambiguous, or a set, which has no order.

    names : iterable of names, or one name
    what : the things named, such as "items"

    Examples
    --------
    >>> list_names("ant", "items"), list_names(("ant", "bee"), "items")
    (['ant'], ['ant', 'bee'])
    """
    require_names(names, what)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        return [names]
    return list(names)


def require_list(names: Any, what: str) -> Any:
    """Return a list of names unchanged; a single name is refused.

    Raises AnnotationError: as in `list_names`, or a single name.
    """
    require_names(names, what)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        kind = "the text " if isinstance(names, str) else ""
        raise AnnotationError(f"'{what}' must be a list of names. Got {kind}{names!r} instead.")
    return names


def require_names(names: Any, what: str) -> None:
    """Raise an AnnotationError for a mapping, set, table or mask."""
    remedy = ""
    if isinstance(names, Mapping):
        remedy = "Give a list of its keys or of its values."
    elif isinstance(names, Set):
        remedy = "A set has no order: give a list, such as sorted(...)."
    elif getattr(names, "ndim", 1) > 1 or isinstance(names, pd.DataFrame) or hasattr(names, "columns"):
        remedy = "Give its index or one of its columns."
    elif getattr(getattr(names, "dtype", None), "kind", "") == "b" and np.size(names) > 1:
        raise AnnotationError(f"'{what}' must be a list of names. Got a mask instead; use it as an index, in brackets.")
    if remedy:
        raise AnnotationError(f"'{what}' must be a list of names. Got a {type(names).__name__} instead. {remedy}")
