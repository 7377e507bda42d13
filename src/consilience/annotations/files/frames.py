"""Frames and matrices of annotations: what the importer makes of them, and what the caller may say of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import pandas as pd

from consilience.annotations.files.layout import Asked
from consilience.annotations.files.statements import Statements, statements, table_of_frame
from consilience.annotations.files.values import filled
from consilience.annotations.names import Coded, plain
from consilience.errors import AnnotationWarning


def asked_of(
    columns: dict[str, Any],
    *,
    kind: str | None,
    ignore: Any = (),
    transpose: bool | None = None,
    missing: Any = None,
    same_if: str | None = None,
) -> Asked:
    """Bring what a caller says of a table into one form."""
    return Asked(
        kind=kind,
        columns={role: column for role, column in columns.items() if column is not None},
        ignore=_several(ignore),
        transpose=transpose,
        missing=None if missing is None else _several(missing),
        same_if=same_if,
    )


def _several(values: Any) -> tuple[Any, ...]:
    """Return a value, or a list of them, as a tuple."""
    is_one = isinstance(values, str) or not isinstance(values, Iterable)
    return (values,) if is_one else tuple(values)


def in_frame(frame: Any, kind: str, columns: dict[str, Any], *, caller: str, **asked: Any) -> Statements:
    """Read a frame of any library that narwhals knows.

    Warns
    -----
    AnnotationWarning
        Something was left out, or taken for missing.
    """
    found = statements(table_of_frame(frame, caller), asked_of(columns, kind=kind, **asked))
    for text in found.reading.warnings:
        warnings.warn(f"{text[0].upper()}{text[1:]}.", AnnotationWarning, stacklevel=3)
    return found


def without_missing(cells: Coded, annotators: pd.Index, missing: Any, what: str) -> Coded:
    """Return the cells of a matrix in which what means that nothing was said is missing.

    Warns
    -----
    AnnotationWarning
        Cells with -1 were taken for missing.
    """
    n_columns = max(len(annotators), 1)

    def where(cell: int) -> str:
        return f"row {cell // n_columns}, column {plain(annotators[cell % n_columns])!r}"

    found = filled(cells, what, where, missing=None if missing is None else _several(missing))
    for text in found.notes:
        warnings.warn(f"{text}.", AnnotationWarning, stacklevel=3)
    return found.column
