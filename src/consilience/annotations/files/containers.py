"""Containers of Python that hold a table: lists of dicts, dicts of columns, and dicts of dicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience.errors import AnnotationError


def as_frame(given: Any) -> Any:
    """Return the frame that a container holds; anything else unchanged.

    A dict of dicts is ``{item: {annotator: label}}``. Raises AnnotationError: two columns of a frame have the same
    name, or it has no columns.

    Examples
    --------
    >>> as_frame({"item": ["ant", "bee"], "annotator": "Ann", "group": ["p", "q"]}).shape
    (2, 3)
    >>> as_frame({"ant": {"Ann": "p", "Bo": "q"}})
      item annotator label
    0  ant       Ann     p
    1  ant        Bo     q
    """
    if isinstance(given, pd.DataFrame):
        repeated = [name for name, count in Counter(given.columns).items() if count > 1]
        if repeated:
            raise AnnotationError(f"Two columns are called {repeated[0]!r}; drop or rename one.")
    if isinstance(given, list | tuple) and len(given) and all(isinstance(row, Mapping) for row in given):
        return pd.DataFrame(list(given))
    if not isinstance(given, Mapping) or not given:
        return given
    values = list(given.values())
    if all(isinstance(value, Mapping) for value in values):
        rows = [(item, annotator, label) for item, said in given.items() for annotator, label in said.items()]
        return pd.DataFrame(rows, columns=["item", "annotator", "label"], dtype=object)
    if any(isinstance(value, list | tuple | np.ndarray | pd.Series | pd.Index) for value in values):
        try:
            return pd.DataFrame(dict(given))
        except ValueError as error:
            raise AnnotationError(
                "The columns of the dict have different lengths; each row needs one value."
            ) from error
    return given


def require_columns(columns: list[Any]) -> None:
    """Raise an AnnotationError for a table without columns."""
    if not columns or columns == [""]:
        raise AnnotationError("The table has no columns; it needs some for items, annotators and groups or labels.")
