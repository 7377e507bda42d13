"""Ratings of the items on one or more scales, from a table: a row for each rating of a person, or for each item."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.analysis.findings import Findings
from consilience.analysis.item_ratings import ANNOTATOR, ITEM, RESERVED, item_ratings
from consilience.analysis.names import join_names, quantify
from consilience.annotations import Groupings
from consilience.annotations.files.table import Table
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.inspection.report.concept_sections import ratings_frame
from consilience.workflows.cells import ColumnReader, read_cells, with_decimal_points
from consilience.workflows.item_columns import ids_beside, item_column
from consilience.workflows.item_names import ItemNames
from consilience.workflows.notes import note
from consilience.workflows.outputs import write_table
from consilience.workflows.people_tables import find_column, find_items, read_names, require_once
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import read_table
from consilience.workflows.text import others

RATINGS_FILE = "ratings.csv"
MOST_SCALES = 10  # more columns of numbers are people, each with a column


def read_ratings(path: TableSource | None, annotations: Any, left_out: Iterable[Any] = ()) -> pd.DataFrame | None:
    """Read ratings of the items: a column of items, one of people if a row is a person's, and a column for each scale.

    Columns of text and of ids are no scales. Rows about other items, and of people who were left out of the sorts, are
    left out, and counted in a note.

    Raises InputError: the annotations are no groupings; or there is no such file, column or item, a cell is neither
    blank nor a number, or somebody rated an item twice.
    """
    if path is None:
        return None
    if not isinstance(annotations, Groupings):
        needs = f"{spell(ratings=None)} needs groupings, since it compares the ratings of clusters"
        raise InputError(f"{needs}; see {spell(kind='groupings')}.")
    table = with_decimal_points(read_table(path, annotations.items))
    person = find_column(table, ANNOTATOR)
    item = item_column(table, path, items=annotations.items, besides=[person], parameter="") if person is None else None
    item = find_items(table, path, person, annotations.items) if item is None else item
    names = read_names(table, path, item, annotations.items)
    frame = _scales(table, path, [item, person], names)
    frame.insert(0, ITEM, names)
    if person is not None:
        frame.insert(1, ANNOTATOR, read_names(table, path, person, annotations.annotators))
    require_once(frame, table, path, "rated")
    return _of_study(frame, path, annotations.items, set(left_out))


def _scales(table: Table, path: TableSource, besides: list[Any], names: pd.Index) -> pd.DataFrame:
    """Return the columns of numbers, NaN where a cell is blank."""
    rest = [name for name in table.columns if name not in besides]
    ids, reader = ids_beside(table, rest), ColumnReader(table, path, names)
    cells = {name: read_cells(table.frame[name]) for name in rest if name not in ids}
    scales = {name: held for name, held in cells.items() if not held.is_text and not held.missing.all()}
    left = [str(name) for name in rest if name not in scales]
    if not scales:
        shown = ", ".join(map(str, table.columns))
        raise InputError(f"{path}: There is no column of numbers for the ratings. Found {shown}.")
    if len(scales) > MOST_SCALES:
        raise InputError(
            f"{path}: There are {len(scales)} columns of numbers, and at most {MOST_SCALES} can be scales; if each is "
            "a person, give a row for each item and person, with the columns item, annotator and one for each scale."
        )
    taken = [name for name in scales if str(name) in RESERVED]
    if taken:
        raise InputError(f"{path}: The column {taken[0]!r} cannot be a scale, as {RATINGS_FILE} has one so called.")
    if left:
        note(f"{path}: {join_names(left)} {'holds' if len(left) == 1 else 'hold'} no ratings and was not used.")
    return pd.DataFrame({str(name): reader.numbers(name, held, blanks=True) for name, held in scales.items()})


def _of_study(frame: pd.DataFrame, path: TableSource, items: pd.Index, left_out: set[Any]) -> pd.DataFrame:
    """Return the ratings of known items by people who were not left out, and note what was read."""
    known = frame[ITEM].isin(items)
    if not known.any():
        example = f"such as {plain(frame[ITEM].iloc[0])!r}"
        raise InputError(f"{path}: None of its items ({example}) is one of the annotations ({plain(items[0])!r}).")
    if not known.all():
        note(f"Rows of {path} about other items, left out: {int((~known).sum()):,}.")
    frame = frame[known]
    people = ""
    if ANNOTATOR in frame:
        out = frame[ANNOTATOR].isin(left_out)
        if out.any():
            note(f"Rows of {path} by annotators who were left out: {int(out.sum()):,}.")
        frame = frame[~out]
        people = f" by {quantify(frame[ANNOTATOR].nunique(), 'annotator')}"
    scales = [str(name) for name in frame if name not in (ITEM, ANNOTATOR)]
    for scale in scales:
        if frame[scale].isna().all():
            raise InputError(f"{path}: Nobody rated an item of the annotations on the scale {scale!r}.")
    note(f"Ratings of {path}: {join_names(scales)}, of {quantify(frame[ITEM].nunique(), 'item')}{people}.")
    without = items[~items.isin(frame[ITEM])]
    if len(without):
        note(f"{path}: The item {plain(without[0])!r} has no ratings{others(len(without), ', nor have')}.")
    return frame.reset_index(drop=True)


def write_ratings(found: Findings, ratings: pd.DataFrame | None, folder: Path, names: ItemNames | None) -> list[str]:
    """Write the mean ratings of the items with their bridging values, if there are ratings; return the file's name."""
    if ratings is None:
        return []
    table = ratings_frame(item_ratings(found, ratings), found.bridging).reset_index()
    write_table(table if names is None else names.add_ids(table), folder / RATINGS_FILE)
    return [RATINGS_FILE]
