"""Tables with a row for each item, or for each item and person: the columns of items and of people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.item_ratings import ANNOTATOR, ITEM
from consilience.annotations.files.table import Table
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.names import MISSING, plain
from consilience.errors import InputError
from consilience.workflows.item_columns import is_called_id
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import names_as


def find_column(table: Table, role: str) -> Any:
    """Return the column whose name has a role, one of ids rather than another; None if there is none."""
    called = {name: found for name in table.columns if (found := role_of_name(name)) is not None and found.role == role}
    return min(called, key=lambda name: called[name].part != "identifier", default=None)


def find_items(table: Table, path: TableSource, person: Any, items: pd.Index) -> Any:
    """Return the column of items of a table with several rows for each."""
    known = set(map(str, items))
    rest = [name for name in table.columns if name != person]
    held = {name: len(known & set(map(str, table.column(name).names))) for name in rest}
    found = [name for name in rest if held[name] and held[name] == max(held.values())]
    called = [name for name in found if is_called_id(name)] or found
    if not called:
        raise InputError(f"{path}: No column names items of the annotations, such as {plain(items[0])!r}.")
    return called[0]


def read_names(table: Table, path: TableSource, column: Any, known: pd.Index) -> pd.Index:
    """Return the names in a column, one per row, written as those known."""
    coded = table.column(column)
    if coded.has_missing:
        row = int(np.argmax(coded.codes == MISSING))
        raise InputError(f"{path}: {str(column)!r} in {table.where(row)} is missing.")
    return names_as(coded.names.take(coded.codes), known)


def require_once(frame: pd.DataFrame, table: Table, path: TableSource, done: str) -> None:
    """Raise an InputError if an item has two rows of somebody, or without people; `done` is what the rows say."""
    keys = [name for name in (ITEM, ANNOTATOR) if name in frame]
    again = frame.duplicated(keys).to_numpy()
    if again.any():
        row = int(np.argmax(again))
        who = f" by {plain(frame[ANNOTATOR][row])!r}" if ANNOTATOR in frame else ""
        where = table.where(row)
        raise InputError(f"{path}: The item {plain(frame[ITEM][row])!r} is {done} twice{who}, again in {where}.")
