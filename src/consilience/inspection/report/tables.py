"""Tables of a report: cells, the formatting of numbers, and full tables as CSV files inside the page."""

from __future__ import annotations

import base64
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from markupsafe import Markup

from consilience.analysis.names import name_text

FEWEST_ROWS = 4  # of a table whose columns of one value are said in a sentence
MAX_CSV = 300_000  # bytes; a larger table is not embedded in the page
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")  # what a spreadsheet may take for a formula
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Cell:
    """Content of a cell of a table.

    names : a list of names, after the text.
    more : says what the list leaves out.
    pairs : tuple of (str, str); terms, each with what belongs to it.
    tone : CSS class of the cell.
    mark : a marker before the text.
    """

    text: str = ""
    names: tuple[str, ...] = ()
    more: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    tone: str = ""
    mark: Markup = field(default=Markup(""))


@dataclass(frozen=True)
class Column:
    """Heading of a column; `kind` is "number", "text", "line" (not broken), "names" or "wide" (for lists of names).

    `of_items` says that the names in it are those of items, which may have pictures.
    """

    head: str
    kind: str = "number"
    mark: Markup = field(default=Markup(""))
    of_items: bool = False


@dataclass(frozen=True)
class Download:
    """A full table as a file inside the page; `address` is empty if it is too large for that."""

    name: str
    address: str
    n_rows: int


@dataclass(frozen=True)
class ReportTable:
    """A table of the report; the first cell of each row is its header.

    key : unique on the page.
    rows : sequence of sequences of Cell or str
    reading : sentences on how to read the table.
    order : the end of the caption that says how the rows are sorted, after a comma; empty if it does not say so.
    gap : (int, str) or None; row before which others are left out, and the text shown there.
    more : says what is left out at the end.
    download : the full table.
    """

    kind: ClassVar[str] = "table"

    key: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    reading: str = ""
    order: str = ""
    gap: tuple[int, str] | None = None
    more: str = ""
    download: Download | None = None

    @property
    def id(self) -> str:
        """Its id on the page."""
        return f"{self.key}-table"

    @property
    def what(self) -> str:
        """The caption without the order of the rows."""
        return self.caption.removesuffix(f", {self.order}") if self.order else self.caption


def set_apart_constants(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> tuple[list[Column], list[list[Cell]], str]:
    """Take out columns of one number or dash in all rows; also return a sentence, with a blank, on the numbers.

    A table of fewer than `FEWEST_ROWS` rows stays as it is.
    """
    same = [
        place
        for place, column in enumerate(columns)
        if place and len(rows) >= FEWEST_ROWS and len({each[place] for each in rows}) == 1
        if column.kind == "number" or rows[0][place].text == "–"
    ]
    said = [f"{columns[place].head}, {rows[0][place].text}" for place in same if rows[0][place].text != "–"]
    kept = [place for place in range(len(columns)) if place not in same]
    sentence = f"The same in every row: {'; '.join(said)}. " if said else ""
    return [columns[place] for place in kept], [[each[place] for place in kept] for each in rows], sentence


def row(*cells: Any) -> list[Cell]:
    """Return the cells of a row; anything else than a cell becomes text."""
    return [cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in cells]


def name_cell(name: Any, tone: str = "") -> Cell:
    """Return a cell with the name of an item, an annotator or a group."""
    return Cell(names=(name_text(name),), tone=tone)


def names_cell(names: Sequence[Any], most: int, where: str = "") -> Cell:
    """Return a cell with the first of some names, and how many more there are."""
    left = len(names) - most
    more = f"and {left:,} more{where}" if left > 0 else ""
    return Cell(names=tuple(map(name_text, names[:most])), more=more)


def number(value: float, digits: int = 2) -> str:
    """Format a number; a dash if it is not finite."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}"
    if not text.strip("-0."):  # a small negative number is 0, and not −0.00
        text = text.removeprefix("-")
    return text.replace("-", "\u2212")


def significant(value: float) -> str:
    """Format a number of any size with about three digits."""
    if not np.isfinite(value):
        return "–"
    size = np.floor(np.log10(abs(value))) if value else 0
    if size < -4 or size > 6:
        return f"{value:.2e}".replace("-", "\u2212")
    return number(value, int(np.clip(2 - size, 0, 6)))


def as_exact(value: float, spread: float) -> str:
    """Format a number to two digits of the spread, so that numbers that vary by that much can be told apart."""
    digits = 1 - int(np.floor(np.log10(spread)))
    return significant(value) if digits > 5 else number(value, max(digits, 0))


def percent(share: float) -> str:
    """Format a share as a percentage; only an exact 1 is written as 100 %, and only an exact 0 as 0 %."""
    if not np.isfinite(share):
        return "–"
    if 0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1:
        return "> 99.9%"
    return f"{share:.{int(0 < share < 0.005 or 0.995 <= share < 1)}%}"


def may_fit(n_cells: int, most: int = MAX_CSV) -> bool:
    """Whether a table of so many cells, each a character and a separator at least, may have at most so many bytes."""
    return 2 * n_cells <= most


def download(name: str, frame: pd.DataFrame, index_label: str | None = None, *, most: int = MAX_CSV) -> Download:
    """Embed a table in the page as a CSV file for spreadsheets, if it has at most so many bytes.

    Its index becomes the first column if `index_label` is given. No text in it is a formula, see `defused_text`, and
    all text is quoted, so that no other separator splits it.
    """
    if not may_fit(frame.size, most):
        return Download(name, "", len(frame))
    frame = frame if index_label is None else frame.rename_axis(index_label).reset_index(allow_duplicates=True)
    safe = pd.DataFrame({place: defuse_formulas(frame.iloc[:, place]) for place in range(frame.shape[1])})
    head = [defused_text(column) for column in frame.columns]
    text = safe.to_csv(index=False, header=head, quoting=csv.QUOTE_NONNUMERIC)
    content = text.encode("utf-8", "replace")
    address = "data:text/csv;charset=utf-8;base64," + base64.b64encode(content).decode()
    return Download(name, address if len(content) <= most else "", len(frame))


def defuse_formulas(column: pd.Series) -> pd.Series:
    """Return a column without text that a spreadsheet would take for a formula; numbers stay numbers."""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    return pd.Series([defused_text(value) for value in column], index=column.index, dtype=object)


def defused_text(value: Any) -> Any:
    """Return text that a spreadsheet would take for a formula after an apostrophe; anything else is unchanged.

    Examples
    --------
    >>> [defused_text(value) for value in ("=1+1", "@ann", "-1.5", "+3e-5", "-lake", "lake", -1.5)]
    ["'=1+1", "'@ann", '-1.5', '+3e-5', "'-lake", 'lake', -1.5]
    """
    is_formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
