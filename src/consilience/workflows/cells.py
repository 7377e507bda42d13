"""Columns of a file as numbers: which cells are numbers, which are missing, and what is wrong with the others.

Decided here
------------
A number is written with a decimal point, or, in text delimited by semicolons or tabs, with a decimal comma throughout.
Percent signs and thousands separators are refused, not guessed, since 1,234 can be two numbers; so is a table in which
every comma is followed by three digits. A column that holds only true and false, in any case, is read as 1 and 0.

A blank cell is missing. In a column whose other cells are numbers, the words of `MISSING` are missing too; in a column
of text they may be names and are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from consilience.annotations.files.table import Table
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.sources import TableSource

LARGEST = 1e150  # so that sums of squares are finite
MISSING = frozenset(("na", "n/a", "#n/a", "nan", "null", "none", "missing", "?", "-", "."))
COMMA_IS_FREE = (";", "\t", "|")  # delimiters with which a comma may be a decimal one
WITH_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
WITH_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")
MAY_BE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
TRUTH = {"true": 1.0, "false": 0.0}
PERCENT = re.compile(r"[-+]?\d[\d.,]*\s*%")
SEPARATED = re.compile(r"[-+]?\d+([ ,.'’\u00a0\u202f]\d+)+")
DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")


def with_decimal_points(table: Table) -> Table:
    """Return a table of text with decimal points instead of decimal commas, and a note that says so.

    A table is returned unchanged if its delimiter is a comma, if a number has a decimal point, or if every comma may be
    a thousands separator.
    """
    if not table.is_text or table.delimiter not in COMMA_IS_FREE:
        return table
    with_commas, may_be_thousands = [], True
    for name in table.columns:
        held = table.frame[name].astype(str).str.strip()
        held = held[(held != "") & ~held.str.casefold().isin(MISSING)]
        if held.str.fullmatch(WITH_POINT).any():
            return table
        has_comma = held.str.contains(",", regex=False)
        if has_comma.any() and held.str.fullmatch(WITH_COMMA).all():
            with_commas.append(name)
            may_be_thousands &= bool(held[has_comma].str.fullmatch(MAY_BE_THOUSANDS).all())
    if not with_commas or may_be_thousands:
        return table
    frame = table.frame.copy()
    for name in with_commas:
        frame[name] = frame[name].astype(str).str.replace(",", ".", regex=False)
    return replace(table, frame=frame, notes=(*table.notes, "decimal commas were read as decimal points"))


@dataclass(frozen=True)
class Cells:
    """A column of a file, read as numbers.

    raw : as read from the file.
    values : NaN where a cell is missing or not a number.
    missing : bool array, shape (n_rows,)
    wrong : cells that are neither missing nor a finite number with a finite square.
    is_truth : whether the column holds only true and false.
    """

    raw: pd.Series
    values: Float[np.ndarray, " rows"]
    missing: Bool[np.ndarray, " rows"]
    wrong: Bool[np.ndarray, " rows"]
    is_truth: bool

    @property
    def is_text(self) -> bool:
        """Whether most of the cells that are filled are not numbers."""
        filled = ~self.missing
        return bool(2 * np.isnan(self.values[filled]).sum() > filled.sum())

    @property
    def all_differ(self) -> bool:
        """Whether all filled cells differ."""
        filled = self.raw[~self.missing]
        return len(filled) > 1 and not filled.duplicated().any()

    def shown(self, row: int) -> str:
        """Return a cell as a message shows it."""
        if is_blank(self.raw.iloc[[row]])[0]:
            return "missing"
        return repr(str(plain(self.raw.iloc[row]))[:40])


def read_cells(raw: pd.Series) -> Cells:
    """Read a column as numbers."""
    if pd.api.types.is_numeric_dtype(raw.dtype) and not pd.api.types.is_bool_dtype(raw.dtype):
        values = raw.to_numpy(float, na_value=np.nan)
        return Cells(raw, values, np.isnan(values), _is_wrong(values), is_truth=False)
    if (plain_numbers := _plain_numbers(raw)) is not None:
        return plain_numbers
    blank = is_blank(raw)
    words = raw.astype(str).str.strip().str.casefold()
    truth = words.mask(blank).map(TRUTH).to_numpy(float)
    if not blank.all() and not np.isnan(truth[~blank]).any():
        return Cells(raw, truth, blank, np.zeros(len(raw), dtype=bool), is_truth=True)
    numbers: Any = raw.astype(object).mask(words.isin(TRUTH).to_numpy())
    values = pd.to_numeric(numbers, errors="coerce").to_numpy(float)
    empty = np.isnan(values)
    absent = blank | (words.isin(MISSING).to_numpy(bool) & empty)
    is_numeric = 2 * (~empty).sum() >= (~absent).sum()
    missing = absent if is_numeric else blank
    return Cells(raw, values, missing, _is_wrong(values) | (empty & ~missing), is_truth=False)


def _plain_numbers(raw: pd.Series) -> Cells | None:
    """Read a column that holds nothing but finite numbers, the fast path; None if it holds anything else."""
    if pd.api.types.is_bool_dtype(raw.dtype) or isinstance(raw.iloc[0] if len(raw) else None, bool):
        return None
    try:
        values = pd.to_numeric(raw.astype(object)).to_numpy()
    except (ValueError, TypeError):
        return None
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        return None
    values, nowhere = values.astype(float), np.zeros(len(raw), dtype=bool)
    return Cells(raw, values, nowhere, _is_wrong(values), is_truth=False)


def _is_wrong(values: Float[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
    return np.abs(values) > LARGEST  # not NaN


def is_blank(column: pd.Series) -> Bool[np.ndarray, " rows"]:
    """Return which cells are empty or hold only whitespace."""
    text = column.astype(object)
    return (column.isna() | text.map(lambda cell: isinstance(cell, str) and not cell.strip())).to_numpy(bool)


def say_expected(cells: Cells, row: int, name: str, *, categorical: bool) -> str:
    """Say what a wrong cell should be, and how to correct it.

    name : of the column
    categorical : whether the command can make indicator columns of text.
    """
    cell, value = cells.raw.iloc[row], cells.values[row]
    text = str(cell).strip()
    if np.isfinite(value):
        return f"Expected a number of at most {LARGEST:g}, so that its square is finite; scale the column."
    start = "Expected a finite number."
    if np.isinf(value):
        return start
    if isinstance(cell, date | np.datetime64) or DATE.fullmatch(text):
        return f"{start} Turn dates into numbers, such as days since a fixed date, or remove the column."
    if PERCENT.fullmatch(text):
        return f"{start} Write percentages as plain numbers, without the percent sign."
    if SEPARATED.fullmatch(text):
        return f"{start} Write numbers with a decimal point and without thousands separators."
    if not categorical or not cells.is_text:
        return start
    if cells.all_differ:
        return f"{start} Its text differs for every item, so it carries no information; remove the column."
    return f"{start} {spell(categorical=[name])} makes an indicator column for each value in it."


@dataclass(frozen=True)
class ColumnReader:
    """Columns of a file with one row per item.

    path : the file, for messages
    items : Index, one name per row
    indicators : whether the command can make indicator columns of text.
    """

    table: Table
    path: TableSource
    items: pd.Index
    indicators: bool = False

    def numbers(self, name: Any, cells: Cells, *, blanks: bool, remedy: str = "") -> Float[np.ndarray, " rows"]:
        """Return a column of numbers, NaN where one is missing.

        Raises InputError: a cell is not a finite number, or is missing and `blanks` is False.
        """
        wrong = cells.wrong if blanks else cells.wrong | cells.missing
        if wrong.any():
            row = int(np.argmax(wrong))
            more = say_expected(cells, row, str(name), categorical=self.indicators)
            if cells.missing[row]:
                more = f"Expected a finite number.{remedy}"
            raise InputError(f"{self.at(name, row)} is {cells.shown(row)}. {more}")
        return cells.values

    def categories(self, name: Any, *, blanks: bool, remedy: str = "") -> np.ndarray:
        """Return a column of text, NaN where it is missing.

        Raises InputError: a cell is missing and `blanks` is False.
        """
        coded = self.table.column(name)
        if coded.has_missing and not blanks:
            row = int(np.argmax(coded.missing))
            raise InputError(f"{self.at(name, row)} is missing. Expected a category.{remedy}")
        return np.array([*(str(plain(text)) for text in coded.names), np.nan], dtype=object)[coded.codes]

    def at(self, name: Any, row: int) -> str:
        """Begin a sentence about a cell."""
        return f"{self.path}: {str(name)!r} of the item {plain(self.items[row])!r} in {self.table.where(row)}"
