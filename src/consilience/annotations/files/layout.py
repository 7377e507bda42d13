"""Layout of a table: long or wide, and what the caller specifies about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.table import Table

NEEDED = {
    "groupings": "item, group, and annotator or grouping",
    "labels": "item, annotator, label",
    "pairs": "item_a, item_b, annotator, same",
}


@dataclass(frozen=True)
class ReadingRequest:
    """What the caller specifies about a table, which overrides every guess.

    kind : {"groupings", "pairs", "labels"}, optional
    columns : dict of str to column name; keys are among item, item_b, annotator, grouping, group, label, same.
    ignore : tuple of column names
    transpose : whether the rows of a wide table are annotators.
    missing : tuple, optional; cells that mean missing, in addition to blank ones; by default -1 among integers and NA
        among numbers.
    same_if : judgements that mean "same".
    classes : tuple; declared classes: "skip" among them is no abstention, and labels get their spelling.
    gold_classes : tuple; classes of gold items: "skip" among them is no abstention.
    exact : whether classes that differ only in case, spaces or form of letters are kept apart.
    tags : whether labels are tags, of which a cell may hold several, or none.
    ratings : whether labels are levels, which may be numbers with decimals.
    """

    kind: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    ignore: tuple[Any, ...] = ()
    transpose: bool | None = None
    missing: tuple[Any, ...] | None = None
    same_if: str | None = None
    classes: tuple[Any, ...] = ()
    gold_classes: tuple[Any, ...] = ()
    exact: bool = False
    tags: bool = False
    ratings: bool = False

    @property
    def true_classes(self) -> tuple[Any, ...]:
        """Names that are classes whatever they say."""
        return (*self.classes, *self.gold_classes)


@dataclass(frozen=True)
class Long:
    """A long table: one row per membership, label or judgement.

    kind : {"groupings", "pairs", "labels"}
    columns : dict of str to column name; the column of each part that is present.
    texts : dict of str to column name; the column of texts that goes with one of identifiers, for item and group.
    nouns : what the table calls items and annotators.
    left_out : list of column names
    """

    kind: str
    columns: dict[str, Any]
    texts: dict[str, Any]
    nouns: dict[str, str]
    left_out: list[Any]


@dataclass(frozen=True)
class Wide:
    """A wide table: rows and columns are items and annotators, or annotators and items.

    kind : {"groupings", "labels"}
    key : column name, or None; the column that names the rows; None if they are numbered.
    others : list of column names
    why : what determined which side is which.
    left_out : list of column names
    """

    kind: str
    key: Any
    others: list[Any]
    annotators_in_rows: bool
    nouns: dict[str, str]
    why: str
    left_out: list[Any]


def quote(columns: Sequence[Any]) -> str:
    shown = ", ".join(repr(str(name)) for name in columns[:8])
    return shown + (f", … ({len(columns)} columns)" if len(columns) > 8 else "")


def say_needed() -> str:
    return "; ".join(f"a long table of {kind} needs {needs}" for kind, needs in NEEDED.items()).capitalize() + ";"


def first_list(column: pd.Series) -> int | None:
    """Return the first row of a column that holds a list or a mapping, None if none does."""
    if column.dtype != object:
        return None
    return next((row for row, cell in enumerate(column) if isinstance(cell, list | dict | np.ndarray)), None)


def names_rows(table: Table, name: Any) -> bool:
    column = table.frame[name]
    if first_list(column) is not None:
        return False
    blank = column.isna() | (column.astype(object) == "")
    return not blank.any() and column.astype(object).is_unique and not pd.api.types.is_float_dtype(column.dtype)
