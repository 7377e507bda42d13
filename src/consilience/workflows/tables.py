"""Tables of numbers for items (features, scores) from files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from consilience.annotations.files.exports import APOSTROPHE
from consilience.annotations.files.importer import table_of_frame
from consilience.annotations.files.sources import Source, read_source
from consilience.annotations.files.table import CANONICAL_INTEGER, Table
from consilience.annotations.names import plain, unique_names
from consilience.errors import AnnotationError, InputError
from consilience.workflows.cells import ColumnReader, read_cells, with_decimal_points
from consilience.workflows.item_columns import ids_beside, item_column
from consilience.workflows.notes import note
from consilience.workflows.sources import TableAtHand, TableSource
from consilience.workflows.text import others

LISTED = 5  # names in a note


def read_table(path: TableSource, items: pd.Index | None = None) -> Table:
    """Read a table from a file of any kind, or take a frame for one.

    With the items of the annotations, their names lose the apostrophe that exports as CSV put before them. Raises
    InputError: there is no such file, or it holds no table.
    """
    try:
        if isinstance(path, TableAtHand):
            return table_of_frame(path.frame, "A request")
        held = read_source(Source.of(path))
        table = held if isinstance(held, Table) else held.table()
    except AnnotationError as error:
        raise InputError(f"{path}: {error}") from error
    return table if items is None else _without_apostrophes(table, items)


def _without_apostrophes(table: Table, items: pd.Index) -> Table:
    """Take the apostrophe off names that are items without it, and are none with it."""
    protected = {f"'{plain(name)}": str(plain(name)) for name in items}
    protected = {name: item for name, item in protected.items() if APOSTROPHE.match(name) and name not in items}
    if not protected:
        return table
    frame = table.frame.map(lambda cell: protected.get(cell, cell) if isinstance(cell, str) else cell)
    return replace(table, frame=frame)


def names_in(table: Table, column: Any, path: TableSource) -> pd.Index:
    """Return the names of the items in a column, one per row. Raises InputError: a name is missing or occurs twice."""
    try:
        return unique_names(table.column(column), "items", table.where).rename("item")
    except AnnotationError as error:
        raise InputError(f"{path}: {error} The column {column!r} was taken for the names of the items.") from error


def numbers(
    table: Table, path: TableSource, *, item: Any, besides: tuple[str, ...] = (), blanks: bool = False
) -> pd.DataFrame:
    """Read all columns of a table as numbers, except that of the items.

    Raises InputError: there are no such columns, or a cell is not a finite number; the message gives column, item and
    line.

    path : the file, for messages
    item : name of the column of items
    besides : further columns to leave out
    blanks : whether missing values are allowed, as NaN

    Returns DataFrame of float, shape (n_items, n_columns), indexed by item.
    """
    reader = ColumnReader(table, path, names_in(table, item, path))
    rest = [name for name in table.columns if name not in {item, *besides}]
    ids = ids_beside(table, rest)
    names = [name for name in rest if name not in ids]
    if not names:
        left_out = ", ".join(map(repr, [item, *besides, *ids]))
        raise InputError(f"{path}: There is no column of numbers besides {left_out}.")
    if ids:
        note(ids_left_out(ids, path))
    columns = {name: reader.numbers(name, read_cells(table.frame[name]), blanks=blanks) for name in names}
    return pd.DataFrame(columns, index=reader.items)


def ids_left_out(ids: list[Any], path: TableSource) -> str:
    """Say that columns were left out as ids."""
    shown = ", ".join(repr(str(name)) for name in ids[:LISTED]) + (", …" if len(ids) > LISTED else "")
    if len(ids) == 1:
        return f"The column {shown} of {path} is an id of the rows and was left out."
    return f"{len(ids)} columns of {path} ({shown}) are ids of the rows and were left out."


def read_numbers(path: TableSource, *, blanks: bool = False, items: pd.Index | None = None) -> pd.DataFrame:
    """Read a table of numbers indexed by item; see `numbers` and `consilience.workflows.item_columns.item_column`."""
    table = with_decimal_points(read_table(path, items))
    return numbers(table, path, item=item_column(table, path, items=items), blanks=blanks)


def named_as(table: pd.DataFrame, items: pd.Index) -> pd.DataFrame:
    """Return a table whose item names are integers or text, like those of other items; see `names_as`."""
    return table.set_axis(names_as(table.index, items).rename("item"), axis=0)


def names_as(names: pd.Index, others: pd.Index) -> pd.Index:
    """Return names as integers or text, like other names of the same things.

    In a text file a column of names is read as integers only if all are, so that 7 in one file may be "7" in another.
    """
    if pd.api.types.is_integer_dtype(others):
        whole = [isinstance(name, str) and CANONICAL_INTEGER.fullmatch(name) is not None for name in names]
        return pd.Index([int(name) if is_whole else name for name, is_whole in zip(names, whole)])
    if pd.api.types.is_string_dtype(others) and pd.api.types.is_integer_dtype(names):
        return names.astype(str)
    return names


def rows_of(table: pd.DataFrame, items: pd.Index, path: TableSource) -> pd.DataFrame:
    """Return the rows of a table for some items, in their order; the number of other rows is noted.

    Raises InputError: an item has no row.
    """
    table = named_as(table, items)
    absent = items[~items.isin(table.index)]
    if len(absent):
        more = others(len(absent), ", nor for")
        raise InputError(f"{path}: There is no row for the item {plain(absent[0])!r}{more}.")
    if len(table) > len(items):
        note(f"Rows of {path} about other items, left out: {len(table) - len(items):,}.")
    return table.loc[items].rename_axis("item")  # pandas 2 takes the name of `items`, which may have none


def read_scores(path: TableSource, items: pd.Index) -> pd.DataFrame:
    """Read a table of external scores, NaN where one is missing, for some items in their order."""
    return rows_of(read_numbers(path, blanks=True, items=items), items, path)
