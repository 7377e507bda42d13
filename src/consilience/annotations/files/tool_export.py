"""A table of a known tool, and what the readers of such tables share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.sameness import DIFFERENT, SAME
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import pair_sides
from consilience.errors import AnnotationError


@dataclass(frozen=True)
class Export:
    """A table of a known tool.

    tool : description of the table, for messages.
    request : what the caller specified, completed by what is known of the tool's columns.
    nouns : what items and annotators are called in messages.
    notes : what was left out.
    given : groups that everybody was given, of a hybrid sort.
    """

    tool: str
    table: Table
    request: ReadingRequest
    nouns: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


def has_columns(*names: str) -> Callable[[set[str]], bool]:
    return lambda columns: set(names) <= columns


def starts_a_column(prefix: str) -> Callable[[set[str]], bool]:
    return lambda columns: any(column.startswith(prefix) for column in columns)


def are_blank(column: pd.Series) -> np.ndarray:
    return np.asarray(column.isna() | (column.astype(str).str.strip() == ""), dtype=bool)


def keep_rows(table: Table, kept: np.ndarray, what: str) -> tuple[Table, tuple[str, ...]]:
    n_left_out = int((~kept).sum())
    if not n_left_out:
        return table, ()
    return table.rows(np.flatnonzero(kept)), (f"{quantify(n_left_out, 'row')} {what} left out",)


def with_columns(request: ReadingRequest, **columns: Any) -> ReadingRequest:
    return replace(
        request, columns={role: column for role, column in columns.items() if column is not None} | request.columns
    )


def only_column(columns: list[str], role: str, tool: str, table: Table) -> str:
    """Return the only column that can have a role.

    Raises AnnotationError: there is no such column, or there are several.
    """
    filled = [column for column in columns if not are_blank(table.frame[column]).all()]
    if len(filled) == 1:
        return filled[0]
    what = {"label": "answers", "item": "items"}[role]
    if not filled:
        raise AnnotationError(f"This file of {tool} has no column of {what}.")
    shown = ", ".join(map(repr, filled[:6])) + (", …" if len(filled) > 6 else "")
    raise AnnotationError(
        f"This file of {tool} has several columns of {what}: {shown}. Name one: {role}={filled[0]!r} "
        f"(--{role} '{filled[0]}')."
    )


def pair_of(columns: list[str], strip: Callable[[str], str]) -> tuple[str, str] | None:
    bare = {strip(column): column for column in columns}
    pairs = pair_sides(list(bare))
    return (bare[pairs[0][0]], bare[pairs[0][1]]) if len(pairs) == 1 and len(columns) == 2 else None


def means_same(column: pd.Series) -> bool:
    words = {str(value).strip().casefold() for value in column if str(value).strip()}
    return bool(words) and words <= SAME | DIFFERENT
