"""Places of the items on sheets (napping), from a table: a row for each item and person, or two columns for each.

Decided here
------------
In a wide table, two columns are the sheet of a person if their names are x and y, in any case, before or after the same
name of a person, as in X1 and Y1, J1_x and J1_y. A number alone stands for the only person whose name ends in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from consilience.analysis.item_ratings import ANNOTATOR, ITEM
from consilience.analysis.names import join_names, quantify
from consilience.annotations import Groupings
from consilience.annotations.files.table import Table
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.cells import ColumnReader, read_cells, with_decimal_points
from consilience.workflows.item_columns import item_column
from consilience.workflows.notes import note
from consilience.workflows.people_tables import find_column, find_items, read_names, require_once
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import read_table

AXES = ("x", "y")
SHEET = re.compile(r"(?P<axis>[xy])[\s._-]?(?P<who>.+)|(?P<name>.+?)[\s._-](?P<end>[xy])", re.IGNORECASE)
ENDS_IN_NUMBER = re.compile(r".*?0*(\d+)")


def read_napping(path: TableSource | None, annotations: Any, left_out: Iterable[Any] = ()) -> pd.DataFrame | None:
    """Read the places of the items on the sheets of those who sorted them, in the columns item, annotator, x and y.

    Sheets of people who were left out of the sorts, and of others who did not sort, are left out, and counted in a
    note; so are rows about other items.

    Raises InputError: the annotations are no groupings; or there is no such file or column, nobody who sorted has a
    sheet, a cell is neither blank nor a number, or somebody placed an item twice.
    """
    if path is None:
        return None
    if not isinstance(annotations, Groupings):
        raise InputError(f"{spell(napping=None)} needs groupings, of the same items and people.")
    table = with_decimal_points(read_table(path, annotations.items))
    person = find_column(table, ANNOTATOR)
    places = _read_wide(table, path, annotations) if person is None else _read_long(table, path, person, annotations)
    return _of_study(places, path, annotations, set(left_out))


def _read_long(table: Table, path: TableSource, person: Any, annotations: Groupings) -> pd.DataFrame:
    """Read a row for each item and person; the coordinates are the columns x and y, or the only two of numbers."""
    item = find_items(table, path, person, annotations.items)
    names = read_names(table, path, item, annotations.items)
    rest = [name for name in table.columns if name not in (item, person)]
    axes = [name for name in rest if str(name).strip().casefold() in AXES]
    cells = {name: read_cells(table.frame[name]) for name in axes or rest}
    axes = [name for name, held in cells.items() if axes or not (held.is_text or held.missing.all())]
    if len(axes) != len(AXES):
        found = join_names(list(map(str, axes))) if axes else "none"
        raise InputError(f"{path}: A sheet needs two columns of numbers, x and y. Found {found}.")
    reader = ColumnReader(table, path, names)
    frame = pd.DataFrame({axis: reader.numbers(name, cells[name], blanks=True) for axis, name in zip(AXES, axes)})
    frame.insert(0, ITEM, names)
    frame.insert(1, ANNOTATOR, read_names(table, path, person, annotations.annotators))
    require_once(frame, table, path, "placed")
    return frame


def _read_wide(table: Table, path: TableSource, annotations: Groupings) -> pd.DataFrame:
    """Read a row for each item, and two columns for each person."""
    item = item_column(table, path, items=annotations.items, parameter="")
    names = read_names(table, path, item, annotations.items)
    sheets: dict[str, dict[str, Any]] = {}
    for name in table.columns:
        found = None if name == item else SHEET.fullmatch(str(name).strip())
        if found is not None:
            axis, who = (found["axis"], found["who"]) if found["axis"] else (found["end"], found["name"])
            sheets.setdefault(who, {})[axis.casefold()] = name
    known = _match_people(list(sheets), annotations.annotators)
    whole = {known[who]: axes for who, axes in sheets.items() if who in known and len(axes) == len(AXES)}
    if not whole:
        raise InputError(
            f"{path}: A sheet needs two columns for each person, such as X_{plain(annotations.annotators[0])} and "
            f"Y_{plain(annotations.annotators[0])}, or a row for each item and person. Found "
            f"{', '.join(map(str, table.columns[:6]))}."
        )
    reader, parts = ColumnReader(table, path, names), []
    for who, axes in whole.items():
        cells = {axis: reader.numbers(name, read_cells(table.frame[name]), blanks=True) for axis, name in axes.items()}
        parts.append(pd.DataFrame({ITEM: names, ANNOTATOR: who, **{axis: cells[axis] for axis in AXES}}))
    frame = pd.concat(parts, ignore_index=True)
    if frame.duplicated([ITEM, ANNOTATOR]).any():
        raise InputError(f"{path}: The column {str(item)!r} names an item twice.")
    return frame


def _match_people(written: list[str], annotators: pd.Index) -> dict[str, Any]:
    """Return the annotators by what is written: their names, or the number in which the name of only one ends."""
    by_name = {str(name): name for name in annotators}
    endings: dict[str, list[Any]] = {}
    for name in annotators:
        if (found := ENDS_IN_NUMBER.fullmatch(str(name))) is not None:
            endings.setdefault(found[1], []).append(name)
    numbers = {who: endings.get(who, []) for who in written}
    by_number = {who: names[0] for who, names in numbers.items() if len(names) == 1}
    return by_number | {who: by_name[who] for who in written if who in by_name}


def _of_study(places: pd.DataFrame, path: TableSource, annotations: Groupings, left_out: set[Any]) -> pd.DataFrame:
    """Return the places of known items by people who sorted them, and note what was read and what was not."""
    out = places[ANNOTATOR].isin(left_out)
    strange = ~out & ~places[ANNOTATOR].isin(annotations.annotators)
    other = ~places[ITEM].isin(annotations.items)
    for what, count in (
        ("by annotators who were left out", places.loc[out, ANNOTATOR].nunique()),
        ("by annotators who sorted nothing", places.loc[strange, ANNOTATOR].nunique()),
    ):
        if count:
            note(f"Sheets of {path} {what}: {count:,}.")
    if other.any():
        note(f"Rows of {path} about other items, left out: {int(other.sum()):,}.")
    blank = places[list(AXES)].isna().any(axis=1)
    used = places[~(out | strange | other | blank)].reset_index(drop=True)
    if used.empty:
        example = plain(annotations.annotators[0])
        raise InputError(f"{path}: Nobody who sorted the items, such as {example!r}, has a sheet with any of them.")
    n_people = used[ANNOTATOR].nunique()
    note(f"Sheets of {path}: {quantify(n_people, 'annotator')}, {quantify(used[ITEM].nunique(), 'item')}.")
    return used
