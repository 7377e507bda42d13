"""Lists of names as people give them: one name where a list of one is meant, and what is no list of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import pandas as pd

from consilience.errors import AnnotationError


def listed(names: Any, what: str) -> list[Any]:
    """Names as a list; one name, such as a text or a number, is a list of one.

    Parameters
    ----------
    names : iterable of names, or one name
    what : they are names of, such as "items"

    Raises
    ------
    AnnotationError
        A dict, a table or a mask, of which nothing says which names are meant, or a set, which has no order.

    Examples
    --------
    >>> listed("ant", "items"), listed(("ant", "bee"), "items")
    (['ant'], ['ant', 'bee'])
    """
    require_names(names, what)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        return [names]
    return list(names)


def require_list(names: Any, what: str) -> Any:
    """Give back a list of names, which must not be one name.

    Raises
    ------
    AnnotationError
        As in `listed`, or one name.
    """
    require_names(names, what)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        kind = "the text " if isinstance(names, str) else ""
        raise AnnotationError(f"'{what}' must be a list of names. Got {kind}{names!r} instead.")
    return names


def require_names(names: Any, what: str) -> None:
    """Raise an AnnotationError for what holds names together with something else, or none."""
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
