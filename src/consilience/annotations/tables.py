"""Tables of annotations as columns of names: required columns, items, and places of errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from consilience.annotations.keywords import no_rows
from consilience.annotations.names import (
    MISSING,
    Coded,
    Where,
    are_row_numbers,
    by_appearance,
    code,
    is_default,
    union,
    unique_names,
)
from consilience.errors import AnnotationError


def require_names(columns: dict[str, Coded], where: Where) -> None:
    """Raise an AnnotationError that gives the place of a missing name, if there is one."""
    for what, column in columns.items():
        if column.has_missing:
            row = int(np.argmax(column.missing))
            merged = " Fill in cells that were merged or left empty below the first." if row else ""
            raise AnnotationError(f"The {what} in {where(row)} is missing or blank; every row needs one.{merged}")


def place_items(
    columns: dict[str, Coded], keys: tuple[str, ...], items: Iterable[Any] | None, where: Where
) -> tuple[dict[str, Coded], Where]:
    """Number items in the same order for all columns that contain them, and require every row to be complete.

    A row in which only the first of the `keys` is filled adds an item, and is dropped. Raises AnnotationError: an item
    is not among `items`, a name is missing, or the table has no rows and `items` is not given.
    """
    names = _common_names([columns[key] for key in keys]) if items is None else unique_names(items, "items")
    if items is None and not len(names):
        raise AnnotationError(no_rows())
    columns = columns | {key: recode(columns[key], names, key, "items", where) for key in keys}
    if not any(column.has_missing for column in columns.values()):
        return columns, where
    others = [column.missing for what, column in columns.items() if what != keys[0]]
    rows = np.flatnonzero(columns[keys[0]].missing | ~np.logical_and.reduce(others))
    columns = {what: column.take(rows) for what, column in columns.items()}
    where = _among(rows, where)
    require_names(columns, where)
    return columns, where


def _common_names(columns: list[Coded]) -> pd.Index:
    """Return the names of parallel columns: those that they already share, else in order of first appearance."""
    names = columns[0].names
    return names if all(column.names is names for column in columns) else all_names(columns)


def _among(rows: np.ndarray, where: Where) -> Where:
    return lambda row: where(int(rows[row]))


def all_names(columns: list[Coded]) -> pd.Index:
    """Return the names of parallel columns in order of first appearance, row by row."""
    names = union(column.names for column in columns)
    if len(columns) == 1:
        return names
    numbered = [column.renamed(names.get_indexer(column.names), names).codes for column in columns]
    return by_appearance(Coded(np.column_stack(numbered).ravel(), names)).names


def recode(column: Coded, names: pd.Index, what: str, whole: str, where: Where) -> Coded:
    """Number the names in a column (`what`, such as "label") by position in a complete list (`whole`, "classes").

    Raises AnnotationError: a name is not in the list.
    """
    if column.names is names:
        return column
    place = names.get_indexer(column.names)
    if (place == MISSING).any():
        row = int(np.argmax(np.isin(column.codes, np.flatnonzero(place == MISSING))))
        raise AnnotationError(f"The {what} {column.name(row)!r} in {where(row)} is not among the {len(names)} {whole}.")
    return column.renamed(place, names)


@dataclass(frozen=True)
class WideCells:
    """The cells of a wide table row by row, and the names of its rows (items) and columns (annotators).

    `named` is whether the rows have names instead of mere numbers.
    """

    cell: Coded
    rows: pd.Index
    columns: pd.Index
    named: bool


def wide_cells(matrix: Any, items: Iterable[Any] | None, annotators: Iterable[Any] | None, caller: str) -> WideCells:
    """Return the cells and names of a wide table.

    Raises AnnotationError: the table is not one- or two-dimensional, or the names do not match its shape.
    """
    frame = _as_frame(matrix, caller)
    rows = unique_names(frame.index if items is None else items, "items")
    columns = unique_names(frame.columns if annotators is None else annotators, "annotators")
    for what, names, expected in (("items", rows, frame.shape[0]), ("annotators", columns, frame.shape[1])):
        if len(names) != expected:
            raise AnnotationError(f"{caller} got {len(names)} names of {what} for a table with {expected} {what}.")
    named = not is_default(frame.index) if items is None else not are_row_numbers(items)
    return WideCells(code(frame.to_numpy().ravel()), rows, columns, named)


def _as_frame(matrix: Any, caller: str) -> pd.DataFrame:
    if isinstance(matrix, pd.DataFrame):
        return matrix
    if isinstance(matrix, pd.Series):
        return matrix.to_frame(0 if matrix.name is None else matrix.name)
    try:
        table = nw.from_native(matrix, eager_only=True)
    except TypeError:
        return _array_as_frame(matrix, caller)
    return pd.DataFrame({name: table[name].to_list() for name in table.columns}, dtype=object)


def _array_as_frame(matrix: Any, caller: str) -> pd.DataFrame:
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise AnnotationError(f"{caller} takes rows of equal length. Got rows of different lengths.") from error
    if array.dtype.kind in "US" and not isinstance(matrix, np.ndarray):
        array = np.asarray(matrix, dtype=object)  # else None and NaN in lists of text would become text
    if array.ndim not in (1, 2):
        raise AnnotationError(
            f"{caller} takes an array of shape (n_items, n_annotators) or (n_items,). Got shape {array.shape} instead."
        )
    return pd.DataFrame(array)


def wide_rows(cells: WideCells) -> tuple[np.ndarray, Coded, Coded]:
    """Return the item, annotator and content of each filled cell."""
    filled = np.flatnonzero(~cells.cell.missing)
    item, annotator = np.divmod(filled, max(len(cells.columns), 1))
    return item, Coded(annotator, cells.columns), cells.cell.take(filled)
