"""Features of items from a file: numbers, and text for which the user asks for indicator columns.

Notes report what became of the columns: ids that are left out, columns of true and false, constant columns, and
columns whose spread is due to one item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.cells import MISSING, Cells, ColumnReader, read_cells, with_decimal_points
from consilience.workflows.item_columns import FEATURE_ITEM, ids_beside, is_called_id, item_column
from consilience.workflows.jobs import ALL_COLUMNS, FeatureOptions
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import LISTED, ids_left_out, named_as, names_in, read_table

ALONE = 1000  # times the distance of all others: an item to which a column owes its spread


@dataclass(frozen=True)
class Features:
    """Features of items, as they were read.

    table : DataFrame, shape (n_items, n_columns), indexed by item; columns of float, and of text (object) that become
        indicator columns. NaN where a value is missing.
    notes : what the user should know about them.
    """

    table: pd.DataFrame
    notes: list[str]


def categorical_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the text columns of a table of features."""
    return [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name].dtype)]


def read_features(path: TableSource, options: FeatureOptions, items: pd.Index) -> Features:
    """Read a table of features for items that are known from the annotations.

    Raises InputError: the file cannot be read, the column of items cannot be determined, or a cell is not a number and
    its column is not categorical; the message gives column, item, line and remedy.

    path : path
    options : what the user asks for
    items : Index of the known items

    Returns Features: all rows of the file in order, with names that are integers or text as those of the known items
    are.
    """
    table = with_decimal_points(read_table(path, items))
    item = item_column(table, path, items=items, chosen=options.feature_item, parameter=FEATURE_ITEM)
    rest = [name for name in table.columns if name != item and str(name) not in options.besides]
    text = _asked_for(options.categorical, rest, path)
    ids = [name for name in ids_beside(table, rest) if name not in text]
    rest = [name for name in rest if name not in ids]
    if not rest:
        raise InputError(
            f"{path}: There is no column of features besides {', '.join(map(repr, [item, *ids, *options.besides]))}."
        )
    reader = ColumnReader(table, path, names_in(table, item, path), indicators=True)
    notes = [f"{path}: {text}." for text in table.notes] + ([ids_left_out(ids, path)] if ids else [])
    columns: dict[str, np.ndarray] = {}
    for name in rest:
        cells = read_cells(table.frame[name])
        if name in text or (ALL_COLUMNS in options.categorical and cells.is_text):
            columns[str(name)] = _categories(reader, name, options, notes)
        else:
            columns[str(name)] = _numbers(reader, name, cells, options, notes)
    found = pd.DataFrame(columns, index=reader.items)
    notes += _about_missing(found, path, options)
    return Features(named_as(found, items), notes + _about_numbers(found))


def _asked_for(wanted: Sequence[str], columns: list[Any], path: TableSource) -> list[Any]:
    """Return the columns that the user calls categorical; their names may contain commas.

    Raises InputError: there is no such column.
    """
    called, asked = {str(name).strip(): name for name in columns}, spell(categorical=None)
    found: list[Any] = []
    for words in wanted:
        for word in [words] if words.strip() in called else words.split(","):
            name = word.strip()
            if name not in called and name != ALL_COLUMNS:
                near = get_close_matches(name, called, n=1, cutoff=0.5)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise InputError(f"{path}: There is no column {name!r} of features, named by {asked}.{hint}")
            found += [called[name]] if name in called else []
    return found


def _numbers(reader: ColumnReader, name: Any, cells: Cells, options: FeatureOptions, notes: list[str]) -> np.ndarray:
    remedy = f" {spell(impute='median')} fills missing numbers with the median of their column."
    values = reader.numbers(name, cells, blanks=options.impute is not None, remedy=remedy)
    if cells.missing.all():
        raise InputError(f"{reader.path}: The column {str(name)!r} is empty; remove it.")
    if cells.is_truth:
        notes.append(f"The column {str(name)!r} of true and false was read as 1 and 0.")
    elif is_called_id(name) and pd.Series(values).duplicated().any() and (values == np.rint(values)).all():
        remedy = f"if its numbers are codes, give {spell(categorical=None)}"
        notes.append(f"The column {str(name)!r} was read as a measurement; {remedy}.")
    return values


def _categories(reader: ColumnReader, name: Any, options: FeatureOptions, notes: list[str]) -> np.ndarray:
    remedy = f" {spell(impute='most_frequent')} fills missing text with the most frequent value of its column."
    texts = reader.categories(name, blanks=options.impute is not None, remedy=remedy)
    known = pd.Series(texts).dropna()
    if known.empty:
        raise InputError(f"{reader.path}: The column {str(name)!r} is empty; remove it.")
    if len(known) > 1 and not known.duplicated().any():
        raise InputError(
            f"{reader.path}: Every item has a different value in {str(name)!r}, so that indicator columns of it would "
            "carry no information; remove the column."
        )
    words = [text for text in known.unique() if text.strip().casefold() in MISSING]
    if words:
        notes.append(f"{words[0]!r} in the column {str(name)!r} was read as a category; missing cells must be blank.")
    if len(known.unique()) == 1:
        notes.append(f"The feature {str(name)!r} is constant and carries no information.")
    return texts


def _about_missing(table: pd.DataFrame, path: TableSource, options: FeatureOptions) -> list[str]:
    count = table.isna().sum()
    holes = count[count > 0]
    if holes.empty:
        return []
    shown = ", ".join(f"{name!r} {n:,}" for name, n in holes[:LISTED].items()) + (", …" if len(holes) > LISTED else "")
    by = str(options.impute).replace("_", " ")
    if set(holes.index) & set(categorical_columns(table)):
        by += ", text with its most frequent value"
    return [f"Missing values of {path}, each column filled with its {by}: {shown}."]


def _about_numbers(table: pd.DataFrame) -> list[str]:
    """Return notes on columns that carry no information, or hardly any beyond one item."""
    names = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name].dtype)]
    values = table[names].to_numpy(float)
    if not values.size:
        return []
    ordered = np.sort(values, axis=0)  # NaN last
    last = (~np.isnan(values)).sum(axis=0) - 1
    top, place = ordered[last, np.arange(len(names))], np.arange(len(names))
    notes = []
    constant = [name for name, still in zip(names, ordered[0] == top) if still]
    if len(constant) == 1:
        notes.append(f"The feature {constant[0]!r} is constant and carries no information.")
    elif constant:
        shown = ", ".join(map(repr, constant[:LISTED])) + (", …" if len(constant) > LISTED else "")
        notes.append(f"{len(constant)} features ({shown}) are constant and carry no information.")
    if len(values) > 2:
        second, lower = ordered[np.maximum(last - 1, 0), place], ordered[np.minimum(1, last), place]
        without = np.minimum(second - ordered[0], top - lower)  # the spread without the most extreme item
        alone = np.flatnonzero((without > 0) & (ALONE * without < top - ordered[0]))
        notes += [_alone(table, names[column], values[:, column]) for column in alone[:LISTED]]
        if len(alone) > LISTED:
            notes.append(f"Other features whose spread is due to one item: {len(alone) - LISTED:,}.")
    return notes


def _alone(table: pd.DataFrame, name: str, values: np.ndarray) -> str:
    row = int(np.nanargmax(np.abs(values - np.nanmedian(values))))
    return (
        f"{name!r} of the item {plain(table.index[row])!r} is {values[row]:g}, so far from all others that the feature "
        "carries hardly any other information; if it is an error, correct it."
    )
