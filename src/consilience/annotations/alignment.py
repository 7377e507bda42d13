"""Alignment of values of items with a fitted model or with each other, by the items' names.

| values | are matched |
|---|---|
| a pandas Series or DataFrame | by its index, with the items' names |
| any of these, if items are numbered 0 … n − 1, that is, have no names | by position |
| an array or a list | by position |
| a table of another library, which has no index | by position, if the items have no names |

Everything else is refused: an index in which an item is missing or occurs twice, and numbers 0 … n − 1 in another
order, which may be shuffled rows or arbitrary numbers.

When two clusterings are compared, neither of them a model's, a Series is matched with an array by position if its index
names no items: numbers 0 … n − 1, or other numbers without a name, as left by a split into training and test. An
index of names, or of 0 … n − 1 in another order, is refused with an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from consilience.annotations.names import MISSING, plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import MatchingError

BY_POSITION = "Give an array, such as .to_numpy(), to match by position."


def are_numbers(names: pd.Index) -> bool:
    """Whether items are numbered 0 … n − 1 in this order, and so have no names.

    Examples
    --------
    >>> are_numbers(pd.RangeIndex(3)), are_numbers(pd.Index([1, 0, 2])), are_numbers(pd.Index(["a", "b"]))
    (True, False, False)
    """
    return names.equals(pd.RangeIndex(len(names)))


def rows_of_items(table: Any, items: pd.Index, what: str = "The table") -> pd.DataFrame:
    """Return the rows of a table for items, in their order.

    Raises MatchingError: the rows do not match the items, or the argument is not a table.

    table : DataFrame, Series, array or list of shape (n_items,) or (n_items, n_columns), or a table of polars
    items : names of the items
    what : subject of messages, such as "The table"

    Returns DataFrame, shape (n_items, n_columns): a Series becomes one column with its name.

    Examples
    --------
    >>> rows_of_items(pd.Series([5, 7], index=["bee", "ant"], name="legs"), pd.Index(["ant", "bee"]))
         legs
    ant     7
    bee     5
    """
    if isinstance(table, pd.Series):
        table = table.to_frame(0 if table.name is None else table.name)
    if isinstance(table, pd.DataFrame):
        return _by_name(table, items, what)
    frame, is_array = _frame(table, what)
    if not is_array and not are_numbers(items):
        raise MatchingError(
            f"{what} has no index to name its rows, but the items have names, such as {plain(items[0])!r}. Give a "
            f"pandas table indexed by item. {BY_POSITION}"
        )
    if len(frame) != len(items):
        raise MatchingError(f"{what} has {len(frame)} rows. Expected one for each of {len(items)} items.")
    return frame


def in_order_of(first: Any, second: Any, name_of_first: str, name_of_second: str) -> tuple[Any, Any]:
    """Return two lists of values of the same items, the second reordered to match the first if both have an index.

    Raises MatchingError: two indexes that differ in more than their order, or contain a name twice.

    first, second : anything with one entry per item
    name_of_first, name_of_second : for messages

    Examples
    --------
    >>> a, b = pd.Series([1, 2], index=["ant", "bee"]), pd.Series([2, 1], index=["bee", "ant"])
    >>> in_order_of(a, b, "a", "b")[1].tolist()
    [1, 2]
    """
    both = isinstance(first, pd.Series | pd.DataFrame) and isinstance(second, pd.Series | pd.DataFrame)
    if not both or first.index.equals(second.index):
        return first, second
    if len(first) != len(second):
        return first, second  # the caller compares the lengths
    for table, name in ((first, name_of_first), (second, name_of_second)):
        if table.index.has_duplicates:
            twice = plain(table.index[table.index.duplicated()][0])
            raise MatchingError(
                f"'{name_of_first}' and '{name_of_second}' are indexed differently, and the index of '{name}' contains "
                f"{twice!r} twice, so they cannot be matched by name. {BY_POSITION}"
            )
    place = second.index.get_indexer(first.index)
    if (place == MISSING).any():
        raise MatchingError(
            f"Row {plain(first.index[place == MISSING][0])!r} of '{name_of_first}' is not in the index of "
            f"'{name_of_second}'; values with an index are matched by it. {BY_POSITION}"
        )
    return first, second.iloc[place]


def clusterings_in_order(first: Any, second: Any, name_of_first: str, name_of_second: str) -> tuple[Any, Any]:
    """Return two clusterings of the same items in one order, as `in_order_of`, but refuse names with an array.

    Raises MatchingError: as in `in_order_of`; or one has an index that names its items and the other, such as the
    ``labels_`` of a model, has none.

    first, second : array-like of shape (n_items,)
    name_of_first, name_of_second : for messages

    Examples
    --------
    >>> clusterings_in_order(pd.Series([0, 1], index=["bee", "ant"]), [1, 0], "truth", "labels")
    Traceback (most recent call last):
    consilience.errors.MatchingError: 'truth' is indexed by item (such as 'bee') but 'labels' has no index, ...
    """
    pairs = ((first, name_of_first, second, name_of_second), (second, name_of_second, first, name_of_first))
    for named, name, bare, name_of_bare in pairs:
        if isinstance(named, pd.Series) and not isinstance(bare, pd.Series | pd.DataFrame) and names_items(named.index):
            raise MatchingError(
                f"'{name}' is indexed by item (such as {plain(named.index[0])!r}) but '{name_of_bare}' has no index, "
                "so their orders may differ. For a fitted model give model.labels_series_ instead of model.labels_, to "
                f"match by name; or give {name}.to_numpy(), if the order is the same."
            )
    return in_order_of(first, second, name_of_first, name_of_second)


def names_items(index: pd.Index) -> bool:
    """Whether an index names the item of each row: names, or 0 … n − 1 in another order.

    Examples
    --------
    >>> names_items(pd.Index(["a", "b"])), names_items(pd.Index([1, 0, 2])), names_items(pd.Index([0, 5], name="photo"))
    (True, True, True)
    >>> names_items(pd.RangeIndex(3)), names_items(pd.Index([8, 2, 5]))
    (False, False)
    """
    if are_numbers(index):
        return False
    if index.name is not None or index.nlevels > 1 or not pd.api.types.is_integer_dtype(index.dtype):
        return True
    return bool(index.sort_values().equals(pd.RangeIndex(len(index))))


def _by_name(table: pd.DataFrame, items: pd.Index, what: str) -> pd.DataFrame:
    if table.index.equals(items):
        return table
    if table.index.has_duplicates:
        twice = plain(table.index[table.index.duplicated()][0])
        raise MatchingError(f"{what} has more than one row for item {twice!r}. Expected unique names in its index.")
    absent = items.difference(table.index, sort=False)
    if len(absent):
        numbered = f" The rows of the table are numbered, but the items have names. {BY_POSITION}"
        near = near_spelling(absent[0], table.index.difference(items, sort=False))
        hint = numbered if are_numbers(table.index) and len(absent) == len(items) == len(table) else near
        raise MatchingError(f"{what} has no row for item {plain(absent[0])!r}, one of {len(absent)} missing.{hint}")
    if are_numbers(items):
        raise MatchingError(
            f"{what} is indexed by numbers in another order than the items, which have no names but are numbered 0 "
            f"to {len(items) - 1}. Bring its rows into the order of the items. {BY_POSITION}"
        )
    return table.loc[items]


def _frame(table: Any, what: str) -> tuple[pd.DataFrame, bool]:
    """Return a frame of something without an index, and whether it is an array or a list."""
    native = nw.from_native(table, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise MatchingError(f"{what} is a lazy query. Call collect first.")
    if isinstance(native, nw.DataFrame):
        return pd.DataFrame({name: native[name].to_numpy() for name in native.columns}), False
    if isinstance(native, nw.Series):
        return pd.DataFrame({native.name or 0: native.to_numpy()}), False
    if isinstance(table, (Mapping, str)) or np.ndim(table) == 0:
        kind = type(table).__name__
        raise MatchingError(
            f"{what} must be a DataFrame, a Series or an array with one row per item. Got {kind} instead."
        )
    values = np.asarray(table)
    if values.ndim > 2:
        raise MatchingError(f"{what} must have one or two dimensions, items and columns. Got shape {values.shape}.")
    return pd.DataFrame(values), True
