"""The annotations in a table as columns of names, and how their values are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.table import Reading, Table
from consilience.annotations.files.values import (
    Filled,
    fill_missing,
    given_as_missing,
    quantify,
    require_plain,
    says_unsorted,
    spelled_missing,
    without_abstentions,
)
from consilience.annotations.keywords import spell
from consilience.annotations.names import MISSING, Coded, Where, without

VALUE = {"groupings": "group", "labels": "label", "pairs": "same"}


@dataclass(frozen=True)
class Statements:
    """The annotations in a table.

    kind : {"groupings", "pairs", "labels"}
    columns : parallel columns: item, annotator, group, …; for pairs, item_a and item_b instead of item. Their names may
        include unused ones: items and annotators without annotations.
    where : describes the place of a row.
    wide : whether the table was wide, so that its rows and columns are items and annotators even if all cells are
        blank.
    named : whether the items have names, and are not the numbered rows of a wide table.
    classes : tuple; all classes, if the file lists them.
    place_of_repeats : place, among the notes, of one on what was said again; None if that is not noted.
    """

    kind: str
    columns: dict[str, Coded]
    where: Where
    wide: bool
    named: bool
    reading: Reading
    classes: tuple[Any, ...] = ()
    place_of_repeats: int | None = None


def read_values(
    column: Coded, table: Table, request: ReadingRequest, what: str, where: Where, warnings: list[str]
) -> Coded:
    """Return the values, typed, with missing ones marked as such."""
    if request.missing is not None:
        (typed,) = table.typed(given_as_missing(column, request.missing))
        return typed
    require_plain(column, what, where)
    if what == "group":
        column = mark_unsorted(column, warnings)
    noun = "judgement" if what == "same" else what
    found = spelled_missing(column, noun, where) if table.spells_missing else Filled(column)
    if what == "label":
        abstained = without_abstentions(found.column, what, request.true_classes)
        found = Filled(abstained.column, (*found.notes, *abstained.notes))
    (typed,) = table.typed(found.column)
    # among few judgements, -1 may be one; among grades, it means missing as elsewhere
    has_grades = pd.api.types.is_integer_dtype(typed.names) and len(typed.names) > 3
    last = fill_missing(typed, noun, where) if what != "same" or has_grades else Filled(typed)
    warnings += [*found.notes, *last.notes]
    return last.column


def owner_of(columns: dict[str, Coded]) -> Coded:
    """Return the owner of each row's groups: annotator, grouping or both."""
    held = [columns[part] for part in ("annotator", "grouping") if part in columns]
    if len(held) == 1:
        return held[0]
    n = max(len(held[1].names), 1)
    codes = np.where(held[0].missing | held[1].missing, MISSING, held[0].codes * n + held[1].codes)
    return Coded(codes, pd.RangeIndex(len(held[0].names) * n))


def among(rows: np.ndarray, where: Where) -> Where:
    return lambda row: where(int(rows[row]))


def mark_unsorted(group: Coded, warnings: list[str]) -> Coded:
    """Mark a pile called "unsorted" as missing."""
    is_it = np.array([says_unsorted(name) for name in group.names], dtype=bool)
    if not is_it.any():
        return group
    count = int(np.append(is_it, False)[group.codes].sum())
    name = group.names[int(np.argmax(is_it))]
    warnings.append(f"{quantify(count, 'entry')} {name!r} read as not sorted ({spell(missing=[])} if it is a group)")
    return without(group, is_it)
