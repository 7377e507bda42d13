"""Tables in which a row is a pile: lists of items in a cell, in columns, or under the name of each group."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.table import Table
from consilience.annotations.files.tool_export import are_blank
from consilience.annotations.files.values import as_texts, is_number
from consilience.annotations.files.vocabulary import normal, role_of_name


def pile_columns(table: Table, request: ReadingRequest) -> Table:
    """Split rows of one person each whose columns are piles (Pile 1, Pile 2, …) and whose cells are lists of items."""
    roles = {column: found for column in table.columns if (found := role_of_name(column))}
    people = [column for column, found in roles.items() if found.role == "annotator"]
    numbered = [column for column in table.columns if column not in roles and _is_numbered(column, "group")]
    if len(people) != 1 or len(numbered) < 2 or request.columns:
        return table
    frame = table.frame
    long = frame.melt(id_vars=[people[0]], value_vars=numbered, var_name="pile", value_name="cards", ignore_index=False)
    long = long[~are_blank(long["cards"])]
    rows = np.repeat(np.arange(len(frame))[None], len(numbered), axis=0).ravel()  # melt lists a table column by column
    kept = ~are_blank(frame[numbered].melt()["value"])
    where, rows = table.where, rows[kept]
    return replace(table, frame=long.reset_index(drop=True), where=lambda place: where(int(rows[place])))


def piles(table: Table, request: ReadingRequest) -> Table:
    """Split rows of one pile each: a sorter, the pile's name, and the items of the pile in further columns.

    Two piles of one sorter with the same name stay two piles.
    """
    roles = {column: found for column in table.columns if (found := role_of_name(column))}
    numbered = [column for column in table.columns if column not in roles and _is_numbered(column, "item")]
    people = [column for column, found in roles.items() if found.role == "annotator"]
    groups = [column for column, found in roles.items() if found.role == "group"]
    items = [column for column, found in roles.items() if found.role == "item"]
    if not numbered or len(people) != 1 or len(groups) != 1 or items or request.columns:
        return table
    frame = table.frame
    n_rows, width = len(frame), len(numbered)
    cells = frame[numbered].to_numpy(object).ravel()
    # NaN differs from itself
    kept = np.flatnonzero([not (cell is None or cell != cell or str(cell).strip() == "") for cell in cells])
    row = kept // width
    pile = as_texts(frame[groups[0]]).str.strip()
    pile = pile.where(pile != "", "pile")
    again = pd.DataFrame({"who": frame[people[0]], "pile": pile}).duplicated(keep=False)
    pile = pile.where(~again, pile + " (" + pd.Series(np.arange(n_rows), index=frame.index).astype(str) + ")")
    long = pd.DataFrame(
        {
            str(roles[people[0]].noun): frame[people[0]].to_numpy(object)[row],
            "pile": pile.to_numpy(object)[row],
            _noun_of(numbered[0]): [str(cell).strip() if isinstance(cell, str) else cell for cell in cells[kept]],
        },
        dtype=object,
    )
    where = table.where
    return replace(table, frame=long, where=lambda place: where(int(row[place])))


def _noun_of(column: Any) -> str:
    return re.sub(r"[\s\d]+$", "", normal(column))


def _is_numbered(column: Any, role: str) -> bool:
    found = role_of_name(_noun_of(column)) if re.search(r"\d$", normal(column)) else None
    return found is not None and found.role == role


def lists_in_columns(table: Table, name: str) -> Table | None:
    """Return one person's piles, each a named column, as a long table; None if the table is something else."""
    frame = table.frame
    if any(role_of_name(name) is not None or are_blank(frame[name]).all() for name in table.columns):
        return None
    if any(frame[name][~are_blank(frame[name])].duplicated().any() for name in table.columns):
        return None
    cells = frame.to_numpy(object)
    texts = [str(cell).strip() for cell in cells.ravel()]
    filled = np.array([text not in ("", "None") for text in texts], dtype=bool).reshape(cells.shape)
    held = [text for text, is_it in zip(texts, filled.ravel()) if is_it]
    ragged = all((~filled[:-1, place] <= ~filled[1:, place]).all() for place in range(cells.shape[1]))
    uneven = len(set(filled.sum(0))) > 1
    if cells.shape[1] < 2 or not (ragged and uneven and len(set(held)) == len(held)) or any(map(is_number, held)):
        return None
    column, row = np.nonzero(filled.T)
    frame = pd.DataFrame(
        {
            "card": [texts[r * cells.shape[1] + c] for r, c in zip(row, column)],
            "person": PurePath(name).stem,
            "group": [table.columns[c] for c in column],
        },
        dtype=object,
    )
    where = table.where
    return replace(table, frame=frame, where=lambda place: where(int(row[place])), is_text=False)
