"""Long tables under names of one's own: which column is which, as far as the names and the cells tell."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from consilience.annotations.files.layout import first_list
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import is_number
from consilience.annotations.files.vocabulary import named
from consilience.annotations.keywords import VALUES, columns_of_a_long_table, if_every_column
from consilience.annotations.names import code

BY_CHANCE = 5.0  # pairs of rows that two columns have in common, of which annotators would have some
FEW_COLUMNS = 8  # that a long table has at most, where cells and not names tell that it is one


@dataclass(frozen=True)
class Guess:
    """Which columns seem to hold items, annotators and what was said; ... for what cannot be guessed.

    Attributes
    ----------
    item, annotator, value : names of columns, or ...
    crosses : bool
        Whether hardly two rows have both item and annotator in common, as in no table of annotators.
    """

    item: Any = ...
    annotator: Any = ...
    value: Any = ...
    crosses: bool = False

    @property
    def has_both(self) -> bool:
        """Whether both items and annotators are found."""
        return self.item is not ... and self.annotator is not ...

    def told(self, kind: str | None = None) -> str:
        """Write the keywords that say which column is which."""
        return columns_of_a_long_table(self.item, self.annotator, self.value, kind=kind)

    def refusal(self, kind: str | None = None) -> str:
        """Say that a table is a long one, and how to read it."""
        why = (
            f", since hardly two rows have both {self.item!r} and {self.annotator!r} in common" if self.crosses else ""
        )
        return f"This seems to be a long table{why}. Say which column is which: {self.told(kind)}.{if_every_column()}"


def guess_columns(table: Table, columns: list[Any]) -> Guess:
    """Guess which column of a long table holds what, by their names and by which two of them cross.

    An item and an annotator meet once in a long table, while two annotators who agree put some items together.
    """
    if len(columns) < 3:
        return Guess()
    roles = {name: found.role for name in columns if (found := named(name)) is not None}
    value = next((name for name in columns if roles.get(name) in VALUES.values()), ...)
    keys = [name for name in columns if name is not value]
    pair, crosses = _crossing(
        table, keys, roles, is_told=value is not ... or {"item", "annotator"} <= {*roles.values()}
    )
    if pair is None:
        told = {role: name for name, role in reversed(roles.items()) if role in {"item", "annotator"}}
        return Guess(told.get("item", ...), told.get("annotator", ...), value)
    item, annotator = pair
    rest = [name for name in keys if name not in pair and not _describes(table, name, pair)]
    rest = [name for name in rest if not _measures(table, name)]
    return Guess(item, annotator, rest[0] if value is ... and len(rest) == 1 else value, crosses)


def _crossing(
    table: Table, columns: list[Any], roles: dict[Any, str], *, is_told: bool
) -> tuple[tuple[Any, Any] | None, bool]:
    """Find the columns of items and annotators, and whether their cells alone would tell so.

    is_told : whether names say that the table is a long one, so that less is asked of the cells.
    """
    if not 2 <= len(columns) <= FEW_COLUMNS:
        return None, False
    held = {name: code(table.frame[name]) for name in columns if first_list(table.frame[name]) is None}
    coded = {name: column for name, column in held.items() if not column.has_missing and len(column.names)}
    best, found, crosses = 0.0, None, False
    for a, b in combinations(coded, 2):
        if {roles.get(a, "item"), roles.get(b, "annotator")} - {"item", "annotator"}:
            continue
        one, other = coded[a], coded[b]
        expected = _pairs(one.codes) * _pairs(other.codes) / max(len(one) * (len(one) - 1) / 2, 1)
        common = _pairs(one.codes * len(other.names) + other.codes)
        is_sure = expected >= BY_CHANCE and common <= expected / 20
        if (is_sure or (is_told and expected > 0 and not common)) and expected > best:
            best, crosses = expected, is_sure
            swapped = roles.get(a) == "annotator" or roles.get(b) == "item"
            told = swapped or roles.get(a) == "item" or roles.get(b) == "annotator"
            swapped = swapped if told else len(one.names) < len(other.names)
            found = (b, a) if swapped else (a, b)
    return found, crosses


def _describes(table: Table, name: Any, keys: tuple[Any, Any]) -> bool:
    """Whether a column says the same of an item, or of an annotator, in every row, such as somebody's age."""
    if first_list(table.frame[name]) is not None:
        return True
    said = table.frame[name].astype(object).astype(str)
    return any((said.groupby(table.frame[key].to_numpy()).nunique() <= 1).all() for key in keys)


def _measures(table: Table, name: Any) -> bool:
    """Whether a column holds fractions, such as seconds, which name no group."""
    return any(is_number(value) and float(value) % 1 for value in code(table.frame[name]).names)


def _pairs(codes: np.ndarray) -> float:
    """Count the pairs of rows with the same code."""
    counts = np.unique(codes, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())
