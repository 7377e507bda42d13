"""Wide frames given to `fit`: rows are items and columns annotators, unless their names show otherwise.

A frame is read like an array, except for what its names and cells show: a column that names the items, columns that are
not annotators, and annotators in the rows. What cannot be detected in arrays is refused here: a long table with unusual
column names, features, and columns unlike the others. The columns of known annotators, in predictions, are accepted
without these checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from consilience.annotations.files.layout import ReadingRequest, Wide, names_rows, quote
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.orientation import Orientation, look_alike, orientation
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import MOST_NUMBERED
from consilience.annotations.files.vocabulary import NEUTRAL, normal, role_of_name
from consilience.annotations.files.wide_tables import (
    are_letters,
    are_measurements,
    find_named_key,
    is_fraction,
    names_things,
    no_persons,
    refuse_lists,
    refuse_mixture,
    refuse_similarities,
    refuse_singletons,
    refuse_what_holds_no_groups,
    require_key,
    without_missing,
)
from consilience.annotations.names import Coded, code, plain
from consilience.annotations.shared_names import own_names
from consilience.errors import AnnotationError

FEWEST_ROWS = 8  # least number of rows to judge that a column is not an annotator


class HoldsFeaturesError(AnnotationError):
    """A frame given as annotations contains features."""


class HoldsGroupsError(AnnotationError):
    """A frame given as labels contains names of groups, which mean nothing to other annotators."""


def wide_frame(
    table: Table, request: ReadingRequest, kind: str, *, key: Any, known: pd.Index, items: pd.Index | None
) -> Wide:
    """Return the layout of a frame that is not a long table.

    Raises AnnotationError: the frame contains something else, or a column that may not be an annotator.

    kind : {"groupings", "labels"}
    key : name of the column that names the rows, None if they are numbered
    known : names of known annotators, whose columns are accepted without checks
    items : names of items; rows with these names are accepted as items without checks
    """
    if not len(table.frame):
        raise AnnotationError("The table has no rows.")
    refuse_lists(table, request)
    others = [name for name in table.columns if name != key]
    unsure = [name for name in others if name not in known]
    _refuse_long_table(table, unsure, kind)
    left_out = []
    if unsure:
        cells = code(table.frame[unsure].to_numpy(object).ravel())
        measured = are_measurements(cells, len(unsure), ratings=request.ratings)
        _refuse_features(table, unsure, measured)
        left_out = no_persons(table, unsure, cells, measured)
    left_out += [name for name in unsure if name not in left_out and key is not None and _also_names(table, name)]
    others = [name for name in others if name not in left_out]
    unsure = [name for name in unsure if name not in left_out]
    if not others:
        raise AnnotationError(f"No column contains groups or labels. Found {quote(table.columns)}.")
    cells = without_missing(table, table.cells(others), request)
    if unsure:
        _refuse_strangers(table, request, kind, key, others, cells)
    found = _orientation(table, kind, key, others, cells, items)
    in_rows = found.annotators == "rows"
    if unsure:
        refuse_singletons(cells, len(table.frame), len(others), in_rows=in_rows)
    roles = ("annotator", "item") if in_rows else ("item", "annotator")
    nouns = {role: noun for role, noun in zip(roles, (found.noun_of_rows, found.noun_of_columns)) if noun}
    return Wide(kind, key, others, in_rows, nouns, found.why, left_out)


def key_of(table: Table, columns: list[Any]) -> Any:
    """Find the column that names the rows, None if there is none."""
    if not columns or (look_alike(columns) and len(columns) > 1):
        return None
    named, first = find_named_key(columns), columns[0]
    if named is not None:
        return require_key(table, named)
    if len(columns) > 1 and normal(first) in NEUTRAL and not are_letters(columns):
        return require_key(table, first)
    return first if len(columns) > 1 and names_things(table, first) else None


def _also_names(table: Table, name: Any) -> bool:
    """Whether a column names the rows, in addition to the chosen one."""
    found = role_of_name(name)
    return found is not None and found.role in {"item", "annotator"} and names_rows(table, name)


def _refuse_long_table(table: Table, columns: list[Any], kind: str) -> None:
    """Raise an AnnotationError if two columns cross like those of items and annotators in a long table."""
    guess = guess_columns(table, columns)
    if guess.crosses:
        raise AnnotationError(guess.refusal())


def _refuse_features(table: Table, columns: list[Any], measured: Bool[np.ndarray, " columns"]) -> None:
    """Raise an AnnotationError if most columns contain fractions."""
    if np.mean(measured) > 0.5:
        name = columns[int(np.argmax(measured))]
        row = int(np.argmax([is_fraction(value) for value in table.frame[name]]))
        raise HoldsFeaturesError(
            f"The frame seems to contain features instead of labels or groups: {str(name)!r} is "
            f"{plain(table.frame[name].iloc[row])!r} in {table.where(row)}."
        )


def _refuse_strangers(
    table: Table, request: ReadingRequest, kind: str, key: Any, others: list[Any], cells: Coded
) -> None:
    """Raise an AnnotationError for a table without labels or groups, and for columns unlike the others."""
    refuse_similarities(table, key, others)
    if kind == "groupings":
        refuse_what_holds_no_groups(table, request, others, cells)
    refuse_mixture(others, cells)
    _refuse_larger_numbers(table, others)
    codes = cells.codes.reshape(len(table.frame), len(others))
    filled = (codes >= 0).sum(0)
    distinct = np.array([len(np.unique(column[column >= 0])) for column in codes.T])
    differing = (distinct == filled) & (filled >= FEWEST_ROWS)
    for place, name in enumerate(others):
        peers = np.delete(distinct, place)[np.delete(filled, place) >= filled[place] / 2]
        if differing[place] and (peers < filled[place]).any():
            _refuse_transposed([other for other, is_it in zip(others, differing) if is_it], len(others))
            _raise_stranger(name, "differs in every row")
        if len(peers) and distinct[place] > max(MOST_NUMBERED, 5 * peers.max()):
            _raise_stranger(name, f"has {distinct[place]} values where others have at most {peers.max()}")
    if kind == "labels" and len(others) > 1:
        _refuse_names_of_groups(table, others, cells)
        _refuse_other_words(others, codes, filled)


def _refuse_transposed(differing: list[Any], n_columns: int) -> None:
    """Raise an AnnotationError if several columns differ in every row, as items do about which no two people agree.

    Annotators who put no two items together are rare.
    """
    if len(differing) > 1:
        raise AnnotationError(
            f"The frame looks transposed: {len(differing)} of {n_columns} columns differ in every row, such as "
            f"{str(differing[0])!r}. If the rows are annotators and the columns items, give frame.T. If these columns "
            "are not annotators, drop them."
        )


def _refuse_names_of_groups(table: Table, others: list[Any], cells: Coded) -> None:
    """Raise a HoldsGroupsError if annotators share hardly any names."""
    n_rows, n_columns = len(table.frame), len(others)
    item, annotator = np.divmod(np.arange(n_rows * n_columns), n_columns)
    own = own_names(Coded(item, pd.RangeIndex(n_rows)), Coded(annotator, pd.RangeIndex(n_columns)), cells)
    if own is not None:
        raise HoldsGroupsError(f"The frame seems to contain groups instead of labels: {own}.")


def _refuse_larger_numbers(table: Table, others: list[Any]) -> None:
    """Raise an AnnotationError if a column contains much larger numbers than all others, such as seconds."""
    coded = [table.column(name) for name in others]
    if len(coded) < 2 or not all(pd.api.types.is_integer_dtype(column.names) and len(column.names) for column in coded):
        return
    highest = np.array([int(column.names.max()) for column in coded])
    place, second = int(highest.argmax()), int(np.sort(highest)[-2])
    if highest[place] > max(MOST_NUMBERED, 5 * second, len(table.frame)):
        _raise_stranger(others[place], f"contains numbers up to {highest[place]} where others contain at most {second}")


def _refuse_other_words(others: list[Any], codes: np.ndarray, filled: np.ndarray) -> None:
    """Raise an AnnotationError if a column shares no label with another, though annotators share their names."""
    n_names = int(codes.max(initial=0)) + 1
    used = np.stack([np.bincount(column[column >= 0], minlength=n_names) > 0 for column in codes.T])
    alone = ~(used & (used.sum(0) > 1)).any(1)
    if (alone & (filled >= FEWEST_ROWS)).any():
        _raise_stranger(others[int(np.argmax(alone & (filled >= FEWEST_ROWS)))], "shares no label with the others")


def _raise_stranger(name: Any, what: str) -> None:
    raise AnnotationError(
        f"The column {str(name)!r} {what}, and may not be an annotator. Drop it, or make it the index if it names "
        "the items."
    )


def _orientation(
    table: Table, kind: str, key: Any, others: list[Any], cells: Coded, items: pd.Index | None
) -> Orientation:
    rows = [0] if key is None else [plain(name) for name in table.frame[key]]
    as_given = Orientation("columns", "", "", "as in an array")
    if items is not None and key is not None and pd.Index(rows, tupleize_cols=False).isin(items).all():
        return as_given
    head = "" if key is None else str(key)
    by_name = orientation(head, rows, others, None)
    if by_name is not None or kind == "labels":
        return by_name or as_given
    rows = list(range(len(table.frame))) if key is None else rows
    found = orientation(head, rows, others, cells)
    if found is not None and found.annotators == "rows":
        raise AnnotationError(
            f"The rows of the frame seem to be annotators and its columns items, since {found.why}. If so, give "
            "frame.T. If rows are items, give Groupings.from_matrix(frame, annotators=frame.columns)."
        )
    return as_given
