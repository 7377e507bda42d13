"""Tables of numbers for items (features, scores) from files, and tables to files."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pandas as pd

from consilience.annotations.files.sources import TEXT, Records, Source, import_pyarrow, read_source
from consilience.annotations.files.table import CANONICAL_INTEGER, Table
from consilience.annotations.names import plain, unique_names
from consilience.cli.program import note, others
from consilience.errors import AnnotationError, InputError


def read_table(path: Path) -> Table:
    """Read a table from CSV, TSV or Parquet.

    Raises
    ------
    InputError
        There is no such file, or it holds no table.
    """
    try:
        held = read_source(Source.of(path))
    except AnnotationError as error:
        raise InputError(f"{path}: {error}") from error
    return held.table() if isinstance(held, Records) else held


def item_column(table: Table) -> str:
    """Name of the column of items: the one called item, else the first."""
    return next((name for name in table.columns if str(name).strip().casefold() == "item"), table.columns[0])


def item_names(table: Table, path: Path) -> pd.Index:
    """Names of the items, one a row.

    Raises
    ------
    InputError
        A name is missing or there twice.
    """
    column = item_column(table)
    try:
        return unique_names(table.column(column), "items", table.where).rename("item")
    except AnnotationError as error:
        raise InputError(f"{path}: {error} The column {column!r} was taken for the names of the items.") from error


def numbers(table: Table, path: Path, *, besides: tuple[str, ...] = (), blanks: bool = False) -> pd.DataFrame:
    """Take all columns of a table but that of the items for numbers.

    Parameters
    ----------
    table : Table
    path : where it was read from, for messages
    besides : further columns that are left out
    blanks : whether a blank cell is a missing value, NaN, or an error

    Returns
    -------
    DataFrame of float, shape (n_items, n_columns), indexed by item

    Raises
    ------
    InputError
        There are no such columns, or a cell is no finite number; the message names column, item and line.
    """
    items = item_names(table, path)
    left_out = {item_column(table), *besides}
    names = [name for name in table.columns if name not in left_out]
    if not names:
        raise InputError(f"{path}: There is no column of numbers beside {', '.join(map(repr, sorted(left_out)))}.")
    columns = {}
    for name in names:
        column = table.frame[name]
        values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(float)
        wrong = ~np.isfinite(values)
        if blanks:
            wrong &= ~_is_blank(column)
        if wrong.any():
            row = int(np.argmax(wrong))
            cell = plain(column.iloc[row])
            found = "missing" if _is_blank(column.iloc[[row]])[0] else f"{str(cell)[:40]!r}"
            raise InputError(
                f"{path}: {str(name)!r} of the item {plain(items[row])!r} in {table.where(row)} is {found}. "
                "Expected a finite number."
            )
        columns[name] = values
    return pd.DataFrame(columns, index=items)


def _is_blank(column: pd.Series) -> np.ndarray:
    return (column.isna() | (column.astype(object) == "")).to_numpy(bool)


def read_numbers(path: Path, *, blanks: bool = False) -> pd.DataFrame:
    """Read a table of numbers indexed by item; see `numbers`."""
    return numbers(read_table(path), path, blanks=blanks)


def named_as(table: pd.DataFrame, items: pd.Index) -> pd.DataFrame:
    """Return a table whose item names are integers or text as those of other items are; see `names_as`."""
    return table.set_axis(names_as(table.index, items).rename("item"), axis=0)


def names_as(names: pd.Index, others: pd.Index) -> pd.Index:
    """Return names as integers or text, as other names of such things are.

    In a file of text a column of names is one of integers if all are, so that 7 in one file may be "7" in another.
    """
    if pd.api.types.is_integer_dtype(others):
        whole = [isinstance(name, str) and CANONICAL_INTEGER.fullmatch(name) is not None for name in names]
        return pd.Index([int(name) if is_whole else name for name, is_whole in zip(names, whole)])
    if pd.api.types.is_string_dtype(others) and pd.api.types.is_integer_dtype(names):
        return names.astype(str)
    return names


def rows_of(table: pd.DataFrame, items: pd.Index, path: Path) -> pd.DataFrame:
    """Rows of a table for some items, in their order; how many rows are left out is noted.

    Raises
    ------
    InputError
        An item has no row.
    """
    table = named_as(table, items)
    absent = items[~items.isin(table.index)]
    if len(absent):
        more = others(len(absent), ", nor for")
        raise InputError(f"{path}: There is no row for the item {plain(absent[0])!r}{more}.")
    if len(table) > len(items):
        note(f"Rows of {path} about other items, left out: {len(table) - len(items):,}.")
    return table.loc[items]


def write_table(frame: pd.DataFrame, path: Path | None) -> None:
    """Write a table to CSV, TSV or Parquet, or as CSV to standard output if `path` is None.

    Raises
    ------
    InputError
        The folder does not exist, or the file name ends otherwise.
    """
    if path is None:
        click.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    require_folder(path)
    if text := TEXT.search(path.name):
        frame.to_csv(path, sep="," if text[1].lower() == "csv" else "\t", index=False, lineterminator="\n")
    elif path.suffix.lower() == ".parquet":
        import_pyarrow()
        frame.to_parquet(path, index=False)
    else:
        raise InputError(f"The file name must end in .csv, .tsv (also with .gz) or .parquet. Got {path.name!r}.")


def require_folder(path: Path) -> None:
    """Raise an InputError unless a file could be made at `path`."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.")
