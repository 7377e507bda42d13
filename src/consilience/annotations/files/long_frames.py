"""Long tables with unusual column names: which column is which, as far as names and cells show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from consilience.annotations.files.layout import first_list
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import as_texts, is_number
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.keywords import VALUES, columns_of_a_long_table, if_every_column
from consilience.annotations.names import code

BY_CHANCE = 5.0  # expected number of pairs of rows that agree in two columns, of which annotators would have some
FEW_COLUMNS = 8  # most columns of a long table that is recognised by its cells instead of its names


@dataclass(frozen=True)
class Guess:
    """The columns that seem to contain items, annotators and values; ... if one cannot be guessed.

    item, annotator, value : names of columns, or ...
    crosses : whether hardly any two rows agree in both item and annotator, unlike in a table of annotators.
    pair : names of two columns, optional; the columns of items and annotators, if it is unknown which is which.
    """

    item: Any = ...
    annotator: Any = ...
    value: Any = ...
    crosses: bool = False
    pair: tuple[Any, Any] | None = None

    @property
    def has_both(self) -> bool:
        """Whether both items and annotators were found."""
        return self.item is not ... and self.annotator is not ...

    def keywords(self, kind: str | None = None) -> str:
        """Write the keywords that name the columns."""
        return columns_of_a_long_table(self.item, self.annotator, self.value, kind=kind)

    def refusal(self, kind: str | None = None) -> str:
        """Say that a table is long, and how to read it."""
        one, other = self.pair or (self.item, self.annotator)
        why = f", since hardly any two rows have the same {one!r} and {other!r}" if self.crosses else ""
        return f"This seems to be a long table{why}. Name its columns: {self.keywords(kind)}.{if_every_column()}"


def guess_columns(table: Table, columns: list[Any]) -> Guess:
    """Guess the columns of a long table by their names and by which two of them cross.

    An item and an annotator occur together only once in a long table, while two annotators who agree share groups of
    items.
    """
    if len(columns) < 3:
        return Guess()
    roles = {name: found.role for name in columns if (found := role_of_name(name)) is not None}
    value = next((name for name in columns if roles.get(name) in VALUES.values()), ...)
    keys = [name for name in columns if name is not value]
    pair, crosses = _crossing(
        table, keys, roles, is_told=value is not ... or {"item", "annotator"} <= {*roles.values()}
    )
    if pair is None:
        named_roles = {role: name for name, role in reversed(roles.items()) if role in {"item", "annotator"}}
        return Guess(named_roles.get("item", ...), named_roles.get("annotator", ...), value)
    item, annotator = pair
    rest = [name for name in keys if name not in pair and not _describes(table, name, pair)]
    rest = [name for name in rest if not _measures(table, name)]
    value = rest[0] if value is ... and len(rest) == 1 else value
    if not {roles.get(item), roles.get(annotator)} & {"item", "annotator"}:
        return Guess(value=value, crosses=crosses, pair=pair)  # as many items as people, or more: nothing tells which
    return Guess(item, annotator, value, crosses)


def _crossing(
    table: Table, columns: list[Any], roles: dict[Any, str], *, is_told: bool
) -> tuple[tuple[Any, Any] | None, bool]:
    """Find the columns of items and annotators, and whether their cells alone show that.

    is_told : whether names show that the table is long, so that weaker evidence of the cells is enough.
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
        # an annotator meets an item once; columns that are no key meet as often as chance has it
        is_sure = expected >= BY_CHANCE and common <= expected / 20
        if (is_sure or (is_told and expected > 0 and not common)) and expected > best:
            best, crosses = expected, is_sure
            swapped = roles.get(a) == "annotator" or roles.get(b) == "item"
            is_named = swapped or roles.get(a) == "item" or roles.get(b) == "annotator"
            swapped = swapped if is_named else len(one.names) < len(other.names)
            found = (b, a) if swapped else (a, b)
    return found, crosses


def _describes(table: Table, name: Any, keys: tuple[Any, Any]) -> bool:
    """Whether a column has the same value for an item, or for an annotator, in every row, such as a person's age."""
    if first_list(table.frame[name]) is not None:
        return True
    values = as_texts(table.frame[name].astype(object))
    return any((values.groupby(table.frame[key].to_numpy()).nunique() <= 1).all() for key in keys)


def _measures(table: Table, name: Any) -> bool:
    """Whether a column contains fractions, such as seconds, which do not name groups."""
    return any(is_number(value) and float(value) % 1 for value in code(table.frame[name]).names)


def _pairs(codes: np.ndarray) -> float:
    """Count the pairs of rows with the same code."""
    counts = np.unique(codes, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())
