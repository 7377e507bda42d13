"""Levels of ratings: labels whose names have an order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from consilience.annotations.files.values import is_number
from consilience.annotations.names import MISSING, plain, unique_names
from consilience.errors import AnnotationError

MOST_LEVELS = 101  # a scale from 0 to 100


def order_levels(names: pd.Index, levels: Iterable[Any] | None) -> pd.Index:
    """Return all levels in rising order.

    Raises AnnotationError: the names are not numbers, and there are no `levels`; a name is not among them; or there are
    too many.

    names : levels that were given.
    levels : all levels in rising order; None if the names are numbers. Whole numbers that nobody gave, between the
        others, are levels, too.

    Examples
    --------
    >>> order_levels(pd.Index([1, 5, 2]), None).tolist()
    [1, 2, 3, 4, 5]
    >>> order_levels(pd.Index(["low", "high"]), ["low", "medium", "high"]).tolist()
    ['low', 'medium', 'high']
    """
    found = _levels_of_numbers(names) if levels is None else unique_names(list(levels), "levels")
    if found.empty:
        raise AnnotationError("There are no levels; give all, from the lowest to the highest, as levels=[…].")
    if len(found) > MOST_LEVELS:
        raise AnnotationError(f"Ratings have at most {MOST_LEVELS} levels. Got {len(found)}; round them to fewer.")
    unknown = found.get_indexer(names) == MISSING
    if unknown.any():
        shown = ", ".join(repr(plain(level)) for level in found[:10])
        raise AnnotationError(f"The label {plain(names[unknown][0])!r} is not among the levels {shown}.")
    return found


def numbers_in_text(names: pd.Index) -> pd.Index:
    """Return names that are all numbers in text, such as half stars of a file, as numbers; others unchanged.

    Examples
    --------
    >>> numbers_in_text(pd.Index(["4.5", "2"])).tolist(), numbers_in_text(pd.Index(["high", "2"])).tolist()
    ([4.5, 2.0], ['high', '2'])
    """
    are_numbers = len(names) > 0 and all(isinstance(name, str) and is_number(name) for name in names)
    return pd.Index(pd.to_numeric(names.str.strip().to_numpy(object))) if are_numbers else names


def _levels_of_numbers(names: pd.Index) -> pd.Index:
    if not pd.api.types.is_numeric_dtype(names) or pd.api.types.is_bool_dtype(names):
        name = plain(names[0]) if len(names) else None
        raise AnnotationError(
            f"Labels that are not numbers, such as {name!r}, have no order: give all levels, from the lowest to the "
            "highest, as levels=[…], or an ordered categorical."
        )
    rising = names.unique().sort_values()
    if not pd.api.types.is_integer_dtype(names) or rising[-1] - rising[0] >= MOST_LEVELS:
        return rising
    return pd.Index(np.arange(rising[0], rising[-1] + 1))


def ordered_categories(frame: Any, names: pd.Index) -> pd.Index | None:
    """Return the categories of an ordered categorical column that has all these names; None if there is none.

    Examples
    --------
    >>> column = pd.Categorical(["low", "high"], categories=["low", "medium", "high"], ordered=True)
    >>> ordered_categories(pd.DataFrame({"label": column}), pd.Index(["high", "low"])).tolist()
    ['low', 'medium', 'high']
    """
    for column in _ordered_columns(frame):
        if len(names) and (column.get_indexer(names) != MISSING).all():
            return column
    return None


def _ordered_columns(frame: Any) -> list[pd.Index]:
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if isinstance(frame, pd.DataFrame):
        types = [kind for kind in frame.dtypes if isinstance(kind, pd.CategoricalDtype) and kind.ordered]
        return [pd.Index(kind.categories, tupleize_cols=False) for kind in types]
    native = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return []
    enumerated = [column for name in native.columns if (column := native[name]).dtype == nw.Enum]
    return [pd.Index(column.cat.get_categories().to_list()) for column in enumerated]


def scale_of_levels(levels: np.ndarray) -> tuple[float, float]:
    """Return the first of the numbers that levels are, and their distance; 1 and 1 if they are not equally far apart.

    Examples
    --------
    >>> scale_of_levels(np.array([0, 10, 20])), scale_of_levels(np.array(["low", "high"]))
    ((0.0, 10.0), (1.0, 1.0))
    """
    if levels.dtype.kind not in "iuf" or not np.allclose(np.diff(levels, 2), 0):
        return 1.0, 1.0
    return float(levels[0]), float(levels[1] - levels[0]) if len(levels) > 1 else 1.0
