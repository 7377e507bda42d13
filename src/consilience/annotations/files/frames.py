"""Frames and matrices of annotations, read by the importer as the caller specifies."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw
import pandas as pd

from consilience.annotations.files.classes import one_spelling, refuse_tags
from consilience.annotations.files.containers import as_frame
from consilience.annotations.files.importer import statements, table_of_frame
from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.odd_columns import names_of_rows, odd_annotators
from consilience.annotations.files.statements import Statements
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import (
    Filled,
    fill_missing,
    given_as_missing,
    like_missing,
    spelled_missing,
    without_abstentions,
)
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.files.wide_tables import without_missing as without_blank
from consilience.annotations.keywords import VALUES, if_every_column, of_frames, of_from_frame, written_by
from consilience.annotations.names import Coded, Where, outside, plain, warn_of
from consilience.errors import AnnotationError, AnnotationWarning


def request_of(
    columns: dict[str, Any],
    *,
    kind: str | None,
    ignore: Any = (),
    transpose: bool | None = None,
    missing: Any = None,
    same_if: str | None = None,
    classes: Iterable[Any] | None = None,
    gold_classes: Iterable[Any] = (),
    exact: bool = False,
    tags: bool = False,
    ratings: bool = False,
) -> ReadingRequest:
    """Collect what a caller specifies about a table."""
    return ReadingRequest(
        kind=kind,
        columns={role: column for role, column in columns.items() if column is not None},
        ignore=several(ignore),
        transpose=transpose,
        missing=None if missing is None else several(missing),
        same_if=same_if,
        classes=() if classes is None else tuple(classes),
        gold_classes=tuple(gold_classes),
        exact=exact,
        tags=tags,
        ratings=ratings,
    )


def several(values: Any) -> tuple[Any, ...]:
    """Return a value, or a list of them, as a tuple."""
    is_one = isinstance(values, str) or not isinstance(values, Iterable)
    return (values,) if is_one else tuple(values)


def in_frame(frame: Any, kind: str, columns: dict[str, Any], *, caller: str, **options: Any) -> Statements:
    """Read a frame of any library that narwhals supports.

    Warns AnnotationWarning: something was left out, or read as missing.
    """
    with written_by(of_from_frame(kind)):
        found = statements(table_of_frame(frame, caller), request_of(columns, kind=kind, **options))
    warn_of(found.reading.warnings)
    return found


def require_matrix(matrix: Any, kind: str, caller: str, missing: Any) -> None:
    """Refuse a long table where a table of items × annotators is expected.

    Raises AnnotationError: the names or cells show that the table is long; the message contains the call that reads it.

    Warns AnnotationWarning: a column is unlike those of the other annotators.
    """
    matrix = as_frame(matrix)
    if not isinstance(nw.from_native(matrix, eager_only=True, pass_through=True), nw.DataFrame):
        return
    warn_of_transposed(matrix)
    try:
        table = table_of_frame(matrix, caller)
    except AnnotationError:  # due to names that only a matrix can have, such as columns of two levels
        return
    columns = [name for name in table.columns if name in matrix.columns]
    with written_by(of_frames(kind)):
        if _is_long(table):
            remedy = f"{kind.capitalize()}.from_frame(frame)"
            raise AnnotationError(f"The names of the columns are those of a long table: {remedy}.{if_every_column()}")
        guess = guess_columns(table, table.columns)
        if guess.crosses:
            raise AnnotationError(guess.refusal(kind))
        cells = without_blank(table, table.cells(columns), request_of({}, kind=kind, missing=missing))
        odd = names_of_rows(table, columns) or odd_annotators(columns, cells)
    warn_of([odd] if odd else [])


def warn_of_transposed(matrix: Any) -> None:
    """Warn if the columns of a pandas frame have a name for items, as after a transposition.

    A transposed frame keeps the name of the index above its columns; a pivoted table has names for rows and columns.
    """
    name = matrix.columns.name if isinstance(matrix, pd.DataFrame) else None
    if name is None or matrix.index.name is not None:
        return
    found, (n_rows, n_columns) = role_of_name(name), matrix.shape
    if (found is None and n_columns > n_rows) or (found is not None and found.role == "item"):
        warnings.warn(
            f"The frame looks transposed: its columns are called {str(name)!r}, and its rows have no name. Its "
            f"{n_rows} rows were read as items and its {n_columns} columns as annotators. If the columns are items, "
            "give frame.T; else name the rows: frame.rename_axis('item').",
            AnnotationWarning,
            stacklevel=outside(),
        )


def _is_long(table: Table) -> bool:
    """Whether the names of columns are those of a complete long table of groupings or labels."""
    try:
        long = long_table(table, ReadingRequest())
    except AnnotationError:
        return False
    return long is not None and long.kind in VALUES


def without_missing(cells: Coded, annotators: pd.Index, missing: Any, what: str, **classes: Any) -> Coded:
    """Return the cells of a matrix as `read_cells` does.

    Warns AnnotationWarning: cells were read as missing, or look like missing values.
    """
    n_columns = max(len(annotators), 1)

    def where(cell: int) -> str:
        return f"row {cell // n_columns}, column {plain(annotators[cell % n_columns])!r}"

    column, notes = read_cells(cells, what, where, missing, **classes)
    warn_of(notes)
    return column


def read_cells(
    cells: Coded,
    what: str,
    where: Where,
    missing: Any,
    *,
    classes: Iterable[Any] = (),
    gold_classes: Iterable[Any] = (),
    exact: bool = False,
    spells_missing: bool = True,
) -> tuple[Coded, list[str]]:
    """Return cells with missing ones marked as such, and classes in one spelling unless `exact`; and notes on this.

    what : {"group", "label"}
    where : describes the place of a row.
    missing : optional; a value, or a list of them, that means missing.
    classes, gold_classes : iterables of names; declared classes, and those of gold items.
    exact : whether classes of several spellings are kept apart.
    spells_missing : whether text such as NA may mean missing.
    """
    notes: list[str] = []
    declared = tuple(classes)
    true_classes = (*declared, *gold_classes)
    if missing is not None:
        column = given_as_missing(cells, several(missing))
    else:
        is_label = what == "label"
        spelled = spelled_missing(cells, what, where) if spells_missing else Filled(cells)
        abstained = without_abstentions(spelled.column, what, true_classes) if is_label else Filled(spelled.column)
        found = fill_missing(abstained.column, what, where)
        column, doubtful = found.column, like_missing(found.column, what, true_classes)
        notes += [*spelled.notes, *abstained.notes, *found.notes, *([doubtful] if doubtful else [])]
    if what == "label" and not exact:
        refuse_tags(column, where)
        column, note = one_spelling(column, declared)
        notes += [note] if note else []
    return column, notes
