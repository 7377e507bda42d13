"""What a wide table says: a row for each item and a column for each annotator, or the other way round."""

from __future__ import annotations

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest, Wide
from consilience.annotations.files.levels import find_levels
from consilience.annotations.files.no_sort_cells import of_q_sort
from consilience.annotations.files.odd_columns import odd_annotators
from consilience.annotations.files.reading_notes import list_columns
from consilience.annotations.files.statements import VALUE, Statements, among, read_values
from consilience.annotations.files.table import Reading, Table
from consilience.annotations.files.values import quantify
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, code, unique_names
from consilience.errors import AnnotationError


def read_wide(table: Table, layout: Wide, request: ReadingRequest, notes: list[str], warnings: list[str]) -> Statements:
    """Return what the cells of a wide table say; what was left out is added to the warnings."""
    n_columns = len(layout.others)
    role = VALUE[layout.kind]
    where = table.where

    def place(cell: int) -> str:
        return f"{where(cell // n_columns)}, column {str(layout.others[cell % n_columns])!r}"

    if request.same_if is not None:
        raise AnnotationError(f"{spell(same_if=None)} is for judgements of pairs, but the table is wide.")
    if request.kind == "pairs":
        raise AnnotationError(
            "Pairs need the columns item_a, item_b, annotator, same; a wide table cannot contain them."
        )
    cells = code(table.frame[layout.others].to_numpy(object).ravel())
    value = read_values(cells, table, request, role, place, warnings)
    heads = "annotators" if not layout.annotators_in_rows else "items"
    (of_columns,) = table.typed(Coded(np.arange(n_columns), unique_names(layout.others, heads)))
    if layout.key is None:
        row_names: pd.Index = pd.RangeIndex(len(table.frame))
    else:
        row_names = unique_names(
            table.column(layout.key), "annotators" if layout.annotators_in_rows else "items", where
        )
    given = np.flatnonzero(~value.missing)
    row, column = np.divmod(given, n_columns)
    sides = [Coded(row, row_names), Coded(column, of_columns.names)]
    item, annotator = sides[::-1] if layout.annotators_in_rows else sides
    odd = None if layout.annotators_in_rows else odd_annotators(layout.others, value)
    if odd:
        warnings.append(odd)
    order = of_q_sort(value, n_columns, in_rows=layout.annotators_in_rows) if role == "group" else None
    if order:
        warnings.append(order)
    if layout.left_out:
        one = "item" if layout.annotators_in_rows else "annotator"
        warnings.append(f"columns not read as {one}s left out: {list_columns(layout.left_out)} (rename one to read it)")
    columns = {"item": item, "annotator": annotator, role: value.take(given)}
    levels = None if layout.annotators_in_rows or role != "group" else find_levels(layout.others, value)
    if levels is not None:
        columns |= {name: part.take(column) for name, part in zip(("annotator", "grouping"), levels)}
        n_people = quantify(len(levels[0].names), layout.nouns.get("annotator", "annotator"))
        shown = ", ".join(repr(str(name)) for name in layout.others[:2])
        notes.append(f"columns such as {shown} read as levels of the sorts of {n_people}, since they are nested")
    named = layout.key is not None or layout.annotators_in_rows
    return Statements(layout.kind, columns, among(given, place), True, named, Reading(""))
