"""Find the column of a table of features, scores or known classes that names the items, and columns that are mere ids.

Decided here
------------
Contents come before names: if the annotated items are known, the column of items is the one that holds all of them, or
in which every value is one of them. Of two such columns that differ, the one with a usual name for ids is taken; if
names do not decide, the table is refused. If no column holds the items, the one called 'item' is taken, else the only
one with a usual name, else the first, if it can name items at all.

A column can name items if it has no blanks and its values differ. Fractional numbers are measurements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.table import Table
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, plain
from consilience.errors import InputError
from consilience.workflows.sources import TableSource
from consilience.workflows.text import others

FEATURE_ITEM = "feature_item"  # name of the parameter
ITEM = "item"
SYNONYMS = frozenset(
    (
        *("item", "card", "statement", "question", "task", "product", "sample", "use", "object", "image"),
        *("items", "id", "name", "index", "rowname", "rownames"),
    )
)
ROW_NUMBERS = re.compile(r"|unnamed: 0(\.\d+)?|level_0|index", re.IGNORECASE)
ENDS_AS_ID = re.compile(r".*([_\s.-]id|[_\s.-]I[dD]|[a-z0-9]I[dD])")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def is_called_id(name: Any) -> bool:
    """Whether a column has a name that is usual for columns of ids.

    Examples
    --------
    >>> [name for name in ("Card", "patient_id", "sampleID", "Unnamed: 0", "size", "humid") if is_called_id(name)]
    ['Card', 'patient_id', 'sampleID', 'Unnamed: 0']
    """
    text = str(name).strip()
    is_id = text.casefold() in SYNONYMS or ENDS_AS_ID.fullmatch(text) or text.endswith("ID")
    return bool(is_id or ROW_NUMBERS.fullmatch(text))


@dataclass(frozen=True)
class ItemColumn:
    """A column that could name the items.

    name : name of the column
    names : its values, one per row.
    """

    name: Any
    names: pd.Index

    def holds(self, items: pd.Index) -> int:
        """Count the items that occur in it."""
        return int(items.astype(str).isin(self.names.astype(str)).sum())  # 7 in one file may be "7" in another

    def is_same(self, other: ItemColumn) -> bool:
        """Whether both name every row the same."""
        return self.names.astype(str).equals(other.names.astype(str))


def item_column(
    table: Table,
    path: TableSource,
    *,
    items: pd.Index | None = None,
    chosen: str | None = None,
    besides: Sequence[Any] = (),
    parameter: str = FEATURE_ITEM,
) -> Any:
    """Find the column of items. Raises InputError: there is no such column, or two are equally likely.

    path : the file, for messages
    items : the known items.
    chosen : the column named by the user.
    besides : names of columns; columns to exclude.
    parameter : name of the parameter that names the column, "" if there is none.
    """
    if chosen is not None:
        return _find_named(table, path, chosen)
    columns = [name for name in table.columns if name not in besides]
    remedy = f"{spell(**{parameter: ...})} names it" if parameter else "call it 'item'"
    if not columns:
        raise InputError(f"{path}: No column is left to name the items; {remedy}.")
    if items is not None and len(items):
        found = _by_contents(table, columns, items)
        if len(found) > 1:
            found = _decide(found, path, remedy, "all of them hold the annotated items")
        if found:
            return found[0].name
    return _by_name(table, columns, path, remedy)


def _find_named(table: Table, path: TableSource, chosen: str) -> Any:
    for name in table.columns:
        if str(name).strip() == chosen.strip():
            return name
    near = get_close_matches(chosen, [str(name) for name in table.columns], n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"{path}: There is no column {chosen!r} of items.{hint}")


def _by_contents(table: Table, columns: list[Any], items: pd.Index) -> list[ItemColumn]:
    """Return columns that hold all items, or nothing but items; if there are none, the one that holds most items."""
    known = set(map(str, items))
    likely = [name for name in columns if is_called_id(name) or table.frame[name].is_unique]
    likely = [name for name in likely if not table.is_text or table.frame[name].isin(known).any()]
    found = [column for name in likely if (column := _possible(table, name, repeated=is_called_id(name)))]
    counts = [column.holds(items) for column in found]
    whole = [c for c, count in zip(found, counts) if count and count in (len(items), len(c.names))]
    if whole:
        return whole
    most = max(counts, default=0)
    if 2 * most < len(items):
        return []
    return [column for column, count in zip(found, counts) if count == most]


def _possible(table: Table, name: Any, *, repeated: bool = False) -> ItemColumn | None:
    """Return a column if its values can name items; with `repeated`, names may occur twice."""
    column = table.column(name)
    if column.has_missing or _is_measured(column) or not (repeated or len(column.names) == len(column)):
        return None
    return ItemColumn(name, column.names.take(column.codes))


def _is_measured(column: Coded) -> bool:
    """Whether a column holds fractional numbers."""
    if pd.api.types.is_float_dtype(column.names.dtype):
        return True  # columns of whole numbers have become integers
    texts = [name for name in column.names if isinstance(name, str)]
    if len(texts) < len(column.names) or not texts:
        return False
    return all(NUMBER.fullmatch(text.strip()) for text in texts) and any(re.search(r"[.eE]", text) for text in texts)


def _decide(found: list[ItemColumn], path: TableSource, remedy: str, why: str) -> list[ItemColumn]:
    """Choose one of several columns: they are equal, or one has a usual name.

    Raises InputError: they differ, and their names do not decide.
    """
    called = [column for column in found if is_called_id(column.name)] or found
    exact = [column for column in called if str(column.name).strip().casefold() == ITEM]
    if all(column.is_same(called[0]) for column in called):
        return (exact or called)[:1]
    one, other = next((a, b) for a in called for b in called if not a.is_same(b))
    raise InputError(
        f"{path}: Which column names the items, {str(one.name)!r} or {str(other.name)!r}"
        f"{others(len(called) - 1, ', or one of')}? Both could, since {why}; {remedy}."
    )


def _by_name(table: Table, columns: list[Any], path: TableSource, remedy: str) -> Any:
    for name in columns:
        if str(name).strip().casefold() == ITEM:
            return name
    called = [name for name in columns if is_called_id(name) and not _is_measured(table.column(name))]
    possible = [column for name in called if (column := _possible(table, name))]
    if len(possible) > 1:
        possible = _decide(possible, path, remedy, "each has a usual name for ids, and its values differ")
    if possible or called:
        return possible[0].name if possible else called[0]
    first = columns[0]
    values = table.column(first)
    if _is_measured(values):
        raise InputError(
            f"{path}: No column has a usual name for items, and the first, {str(first)!r}, holds numbers such as "
            f"{str(plain(values.names[0]))[:40]}; {remedy}."
        )
    return first


def ids_beside(table: Table, columns: Sequence[Any]) -> list[Any]:
    """Return the columns that are ids instead of features.

    These are row numbers, and columns with a usual name for ids and a different value in each row: text, or whole
    numbers without gaps. The numbers of a column called id, patient_id or patientID may have gaps.
    """
    return [name for name in columns if is_called_id(name) and _is_id(table, name)]


def _is_id(table: Table, name: Any) -> bool:
    column = _possible(table, name)
    if column is None:
        return False
    if not pd.api.types.is_integer_dtype(column.names):
        return not pd.api.types.is_numeric_dtype(column.names)
    text = str(name).strip()
    if text.casefold() == "id" or ENDS_AS_ID.fullmatch(text):
        return True
    return int(np.ptp(column.names.to_numpy())) == len(column.names) - 1
