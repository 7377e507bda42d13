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
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError, MissingDependencyError

SEARCHED = 20  # rows in which the header is searched
EXACT = 2**53  # numbers below are exact
FILLED = 0.6  # share of the cells of the fullest row that a header fills

Rows = list[tuple[int, tuple[Any, ...]]]  # 1-based numbers of rows, and their cells; blank rows are left out


@dataclass(frozen=True)
class Workbook:
    """The sheets with a table, or the requested one.

    sheets : rows of each sheet that are not blank, with their numbers.
    is_chosen : whether the sheet was requested.
    """

    sheets: dict[str, Rows]
    is_chosen: bool

    @property
    def names(self) -> list[str]:
        """Names of the sheets."""
        return list(self.sheets)

    def table(self, sheet: str | None = None) -> Table:
        """Return one sheet, by default the first, as a table.

        Raises AnnotationError: a column has no name, or two have the same.
        """
        sheet = self.names[0] if sheet is None else sheet
        others = [name for name in self.names if name != sheet]
        place = f"of the sheet {sheet!r}" if others else "of the sheet"
        shown = f"sheet {sheet!r} was read; others are {', '.join(map(repr, others))} ({spell(sheet=...)})"
        return _table_of_cells(self.sheets[sheet], place, [shown] if others else [])

    def one_person_a_sheet(self) -> Table | None:
        """Return one table of the sheets with the same columns, without one of annotators, which stand for people.

        None if there are no such sheets. Raises AnnotationError: the columns are not those of items and their groups or
        labels, so that the people are unknown.
        """
        if self.is_chosen:
            return None
        headers = {name: [_name(cell) for cell in rows[_n_titles(rows)][1]] for name, rows in self.sheets.items()}
        by_header: dict[tuple[str, ...], list[str]] = {}
        for name, header in headers.items():
            by_header.setdefault(tuple(header), []).append(name)
        shared, alike = max(by_header.items(), key=lambda found: len(found[1]))
        roles = [found.role for name in shared if (found := role_of_name(name)) is not None]
        if len(alike) < 2 or "annotator" in roles or not roles:
            return None
        if "item" not in roles or not {"group", "label"} & set(roles):
            raise AnnotationError(
                f"The sheets {', '.join(map(repr, alike))} have the same columns, without one of annotators; combine "
                f"them into one table with a column 'participant', or choose one, {spell(sheet=alike[0])}."
            )
        tables = [_table_of_cells(self.sheets[name], f"of the sheet {name!r}", []) for name in alike]
        frames = [table.frame.assign(participant=name) for name, table in zip(alike, tables)]
        places = [(table, row) for table in tables for row in range(len(table.frame))]
        note = f"the sheets {', '.join(map(repr, alike))} are one person's each, by their names ({spell(sheet=...)})"
        return Table(
            pd.concat(frames, ignore_index=True),
            lambda row: places[row][0].where(places[row][1]),
            is_text=False,
            notes=(note, *(note for table in tables for note in table.notes)),
            spells_missing=True,
            warnings=tuple(note for table in tables for note in table.warnings),
        )


def read_workbook(open_binary: Callable[[], Any], sheet: str | None = None) -> Workbook:
    """Read the sheets of a workbook that contain a table, or the requested one.

    Raises AnnotationError: the workbook is damaged, has no such sheet, or none with a table. Raises
    MissingDependencyError: openpyxl is not installed.
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
            content = file.read()
        book = load_workbook(io.BytesIO(content), data_only=True)  # values instead of formulas
    except Exception as error:  # openpyxl raises various errors for a damaged archive
        raise AnnotationError(
            "This zip archive is not an Excel workbook, or it is damaged; unpack it, or save the table as CSV (UTF-8)."
        ) from error
    if sheet is not None and sheet not in book.sheetnames:
        raise AnnotationError(f"There is no sheet {sheet!r}; the workbook has {', '.join(map(repr, book.sheetnames))}.")
    wanted = book.sheetnames if sheet is None else [sheet]
    filled = {name: rows for name in wanted if len(rows := _rows_of(book[name])) > 1}
    _require_values(content, book, list(filled))
    if not filled:
        raise AnnotationError("The sheet is empty." if sheet is not None else "The workbook has no sheet with a table.")
    return Workbook(filled, is_chosen=sheet is not None)


def _rows_of(sheet: Any) -> Rows:
    if not hasattr(sheet, "iter_rows"):  # a sheet with only a chart
        return []
    held = [list(cells) for cells in sheet.iter_rows(values_only=True)]
    for merged in sheet.merged_cells.ranges:  # cells that were merged downwards hold their value in all their rows
        if merged.min_col == merged.max_col:
            for row in range(merged.min_row, merged.max_row):
                held[row][merged.min_col - 1] = held[merged.min_row - 1][merged.min_col - 1]
    rows = enumerate((tuple(cells) for cells in held), start=1)
    return [(number, cells) for number, cells in rows if any(map(_is_filled, cells))]


def _require_values(content: bytes, book: Any, names: list[str]) -> None:
    """Raise an AnnotationError if a cell holds a formula whose value was not saved, so that it seems to be blank."""
    from openpyxl import load_workbook

    with_formulas = load_workbook(io.BytesIO(content), read_only=True)
    for name in names:
        values = book[name]
        for row, cells in enumerate(with_formulas[name].iter_rows(), start=1):
            for cell in cells:
                if cell.data_type == "f" and values.cell(row, cell.column).value is None:
                    raise AnnotationError(
                        f"The cell {cell.coordinate} of the sheet {name!r} holds a formula without its value, "
                        f"{str(cell.value)[:40]!r}; open the workbook in a spreadsheet program and save it again."
                    )


def _is_filled(cell: Any) -> bool:
    return cell not in (None, "")


def _name(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


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
            any(role_of_name(cell) is not None for cell in titles)
            or usual <= max(filled[row] for row in several)
            or not all(isinstance(name, str) for name in names)
        ):
            return 0
    return n_titles


def _table_of_cells(rows: Rows, place: str, notes: list[str]) -> Table:
    n_titles = _n_titles(rows)
    if n_titles:
        first = next(_name(cell) for cell in rows[0][1] if _is_filled(cell))
        notes = [*notes, of_titles(n_titles, "row", first)]
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
    return Table(
        frame,
        lambda row: f"row {lines[row]} {place}",
        is_text=False,
        notes=tuple(notes),
        spells_missing=True,
        warnings=_of_large_numbers(rows),
    )


def _of_large_numbers(rows: Rows) -> tuple[str, ...]:
    """Warn of the first number of more digits than a spreadsheet keeps."""
    for number, cells in rows:
        for cell in cells:
            if isinstance(cell, int | float) and abs(cell) >= EXACT:
                return (
                    f"row {number} holds {cell:.0f}, a number of more digits than spreadsheets keep, which may be "
                    "rounded; format such a column as text",
                )
    return ()
