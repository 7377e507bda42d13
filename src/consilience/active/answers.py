"""Reading of answers: groupings of a session's items under new names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from consilience.active.assignments import LeftOut, Placed, Subset, places_of
from consilience.active.grouping_store import Key
from consilience.annotations import Annotations, Groupings
from consilience.annotations.name_lists import list_names
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError


def groups_of(answer: Any) -> dict[Any, list[Any]]:
    """Return the items of each group of an answer, by the name of the group; lists are numbered from 1.

    Raises InputError: it is not an answer.
    """
    if isinstance(answer, pd.Series) or (isinstance(answer, Mapping) and not any(map(_is_list, answer.values()))):
        return _groups_by_item(pd.Series(answer, dtype=object))
    if isinstance(answer, Mapping):
        by_name = dict(answer)
    elif _is_list(answer) and not isinstance(answer, Annotations) and not hasattr(answer, "columns"):
        by_name = dict(enumerate(answer, 1))
    else:
        kind = type(answer).__name__
        raise InputError(
            f"An answer must be a list of groups, each a list of items, or Groupings. Got {kind} instead; for a table "
            "of several answers, use Groupings.from_matrix(frame), or from_frame for a long table."
        )
    for name, group in by_name.items():
        if not _is_list(group):
            raise InputError(
                f"Each group of an answer must be a list of items. Got {group!r} for group {name!r}; use lists, "
                "such as [['ant', 'bee'], ['cow']]."
            )
    return {name: list_names(group, f"group {name!r}") for name, group in by_name.items()}


def _groups_by_item(group: pd.Series) -> dict[Any, list[Any]]:
    """Return the items of each group, given the group of each item."""
    if group.map(_is_list).any():
        raise InputError("An answer must have a list of items for each group, or one group for each item. Got both.")
    group = group[group.notna()]
    return {name: rows.tolist() for name, rows in group.index.to_series().groupby(group.to_numpy(), sort=False)}


def _is_list(value: Any) -> bool:
    """Whether it is a collection of names, as a tuple is, and not a name."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def as_groupings(groups: dict[Any, list[Any]], items: pd.Index, key: Key) -> Groupings:
    """Return one answer as groupings of the session's items.

    Raises InputError: an item is unknown, or is in two groups of the answer.

    Warns AnnotationWarning: an item is in a group twice; it is counted once.

    groups : items of each group, by the name of the group
    items : items of the session
    key : annotator and grouping name
    """
    rows = [(item, *key, name) for name, group in groups.items() for item in group]
    places_of(items, [row[0] for row in rows])
    frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
    return Groupings.from_frame(frame, items=items)


def new_key(annotator: Any, number: int, used: set[Key]) -> Key:
    """Return an annotator and a grouping name that are not in use yet.

    annotator : annotator of the answer; None for a new one
    number : number of the answer, the first name to be tried
    used : keys of all groupings so far
    """
    if annotator is not None:
        while (annotator, number) in used:
            number += 1
        return annotator, number
    annotators = {name for name, _ in used}
    while f"answer {number}" in annotators:
        number += 1
    return f"answer {number}", number


def require_inside(groups: dict[Any, list[Any]], subset: Subset) -> None:
    """Raise an InputError if an answer holds an item that was not in the subset."""
    inside = set(subset.items)
    other = [item for group in groups.values() for item in group if item not in inside]
    if other:
        hint = near_spelling(other[0], subset.items)
        raise InputError(f"Item {other[0]!r} is not in subset {subset.number}.{hint}")


def require_new(groupings: Groupings, used: set[Key]) -> None:
    """Raise an InputError if the session already has one of the groupings."""
    for annotator, grouping in groupings.vocabulary.grouping_keys():
        if (annotator, grouping) in used:
            raise InputError(
                f"The session already has grouping {grouping!r} of annotator {annotator!r}. If this is a different "
                "grouping, rename it."
            )


def left_out(answer: Groupings, presented: Placed, annotator: Any) -> LeftOut:
    """Return the items of a subset that are missing from an answer, which counts as presented all the same."""
    there = np.diff(answer.incidence.indptr)[presented.places] > 0
    missing = replace(presented.subset, items=list(compress(presented.subset.items, ~there)), annotator=annotator)
    return LeftOut(missing, presented.places[~there], presented.places[there])
