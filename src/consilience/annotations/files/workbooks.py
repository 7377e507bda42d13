"""Excel workbooks: which sheets contain tables, and in which row the header is."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.table import Table
from consilience.annotations.files.title_rows import of_titles
from consilience.annotations.files.vocabulary import named
from consilience.annotations.keywords import written
from consilience.errors import AnnotationError, MissingDependencyError

SEARCHED = 20  # rows in which the header is searched
FILLED = 0.6  # share of the cells of the fullest row that a header fills

Rows = list[tuple[int, tuple[Any, ...]]]  # 1-based numbers of rows, and their cells; blank rows are left out


@dataclass(frozen=True)
class Workbook:
    """The sheets with a table, or the requested one.

    Attributes
    ----------
    sheets : dict of str to list
        Rows of each sheet that are not blank, with their numbers.
    is_chosen : bool
        Whether the sheet was requested.
    """

    sheets: dict[str, Rows]
    is_chosen: bool

    @property
    def names(self) -> list[str]:
        """Names of the sheets."""
        return list(self.sheets)

    def table(self, sheet: str | None = None, passed_over: list[str] | None = None) -> Table:
        """Return one sheet, by default the first, as a table.

        Parameters
        ----------
        sheet : str, optional
        passed_over : list of str, optional
            Earlier sheets without annotations, for the note.

        Raises
        ------
        AnnotationError
            A column has no name, or two have the same.
        """
        sheet = self.names[0] if sheet is None else sheet
        others = [name for name in self.names if name != sheet]
        notes = []
        if others:
            notes.append(f"sheet {sheet!r} was read; others are {', '.join(map(repr, others))} ({written(sheet=...)})")
        if passed_over:
            notes.append(f"no annotations were recognised before it, in {', '.join(map(repr, passed_over))}")
        place = f"of the sheet {sheet!r}" if others else "of the sheet"
        return _table_of_cells(self.sheets[sheet], place, ["; ".join(notes)] if notes else [])

    def require_one_person_a_sheet(self) -> None:
        """Raise an AnnotationError if several sheets have the same columns, without one of annotators."""
        if self.is_chosen:
            return
        headers = {name: [_name(cell) for cell in _header(rows)[1]] for name, rows in self.sheets.items()}
        alike = [name for name, header in headers.items() if header == headers[self.names[0]]]
        roles = [found.role for name in headers[self.names[0]] if (found := named(name)) is not None]
        if len(alike) > 1 and "annotator" not in roles:
            raise AnnotationError(
                f"The sheets {', '.join(map(repr, alike))} have the same columns, without one of annotators; combine "
                f"them into one table with a column 'participant', or choose one, {written(sheet=alike[0])}."
            )


def read_workbook(open_binary: Callable[[], Any], sheet: str | None = None) -> Workbook:
    """Read the sheets of a workbook that contain a table, or the requested one.

    Raises
    ------
    AnnotationError
        The workbook is damaged, has no such sheet, or none with a table.
    MissingDependencyError
        openpyxl is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingDependencyError(
            "Excel workbooks need the package openpyxl: pip install 'consilience[excel]'; or save the table as CSV "
            "(UTF-8)."
        ) from error
    try:
        with open_binary() as file:
            book = load_workbook(io.BytesIO(file.read()), read_only=True, data_only=True)  # values instead of formulas
    except Exception as error:  # openpyxl raises various errors for a damaged archive
        raise AnnotationError(
            "This zip archive is not an Excel workbook, or it is damaged; unpack it, or save the table as CSV (UTF-8)."
        ) from error
    if sheet is not None and sheet not in book.sheetnames:
        raise AnnotationError(f"There is no sheet {sheet!r}; the workbook has {', '.join(map(repr, book.sheetnames))}.")
    wanted = book.sheetnames if sheet is None else [sheet]
    filled = {name: rows for name in wanted if len(rows := _rows_of(book[name])) > 1}
    if not filled:
        raise AnnotationError("The sheet is empty." if sheet is not None else "The workbook has no sheet with a table.")
    return Workbook(filled, is_chosen=sheet is not None)


def _rows_of(sheet: Any) -> Rows:
    if not hasattr(sheet, "iter_rows"):  # a sheet with only a chart
        return []
    rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    return [(number, cells) for number, cells in rows if any(map(_is_filled, cells))]


def _is_filled(cell: Any) -> bool:
    return cell not in (None, "")


def _name(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _header(rows: Rows) -> tuple[int, tuple[Any, ...]]:
    """Return the header row with its number: the first row, or the first below titles."""
    return rows[_n_titles(rows)]


def _n_titles(rows: Rows) -> int:
    """Count the rows above the header, which fill far fewer cells than the table does.

    Rows of several cells are titles only if none of them contains a usual column name, the rows of the table are
    fuller, and the names below them are text: else a table with some unnamed columns would lose its header.
    """
    filled = [sum(map(_is_filled, cells)) for _, cells in rows]
    enough = FILLED * max(filled)
    n_titles = len(list(takewhile(lambda n: n < enough, filled[:SEARCHED])))
    if n_titles >= min(len(rows) - 1, SEARCHED):
        return 0
    several = [row for row in range(n_titles) if filled[row] > 1]
    if several:
        titles = [cell for row in several for cell in rows[row][1] if _is_filled(cell)]
        names = [cell for cell in rows[n_titles][1] if _is_filled(cell)]
        usual = np.median(filled[n_titles + 1 :])
        if (
            any(named(cell) is not None for cell in titles)
            or usual <= max(filled[row] for row in several)
            or not all(isinstance(name, str) for name in names)
        ):
            return 0
    return n_titles


def _table_of_cells(rows: Rows, place: str, notes: list[str]) -> Table:
    n_titles = _n_titles(rows)
    if n_titles:
        notes = [*notes, _of_titles(rows[:n_titles])]
        rows = rows[n_titles:]
    header = [_name(name) for name in rows[0][1]]
    width = max(i + 1 for _, cells in rows for i, cell in enumerate(cells) if _is_filled(cell))
    header = (header + [""] * width)[:width]
    if "" in header[1:]:
        raise AnnotationError(
            f"Column {header.index('', 1) + 1} {place} has no name in row {rows[0][0]}; name it or drop it."
        )
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise AnnotationError(f"The column {repeated[0]!r} occurs twice; rename one.")
    cells = [[*row, *[None] * width][:width] for _, row in rows[1:]]
    lines = [number for number, _ in rows[1:]]
    frame = pd.DataFrame(np.array(cells, dtype=object).reshape(-1, width), columns=header, dtype=object)
    return Table(frame, lambda row: f"row {lines[row]} {place}", is_text=False, notes=tuple(notes), spells_missing=True)


def _of_titles(titles: Rows) -> str:
    first = next(_name(cell) for cell in titles[0][1] if _is_filled(cell))
    return of_titles(len(titles), "row", first)
