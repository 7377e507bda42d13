"""What a session takes for an answer: groupings of its items, whose names nothing told before bears."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations, compress
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.active.assignments import Placed, Subset, places_of
from consilience.active.grouping_store import Key
from consilience.annotations import Annotations, Groupings
from consilience.annotations.name_lists import listed
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError


def groups_of(answer: Any) -> dict[Any, list[Any]]:
    """Items of each group of an answer, by the name of the group; those of lists are numbered from 1.

    Raises
    ------
    InputError
        It is no answer.
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
            f"An answer is a list of groups, each a list of items, or Groupings. Got {kind} instead; for a table of "
            "several answers use Groupings.from_matrix(frame), or from_frame if it is a long one."
        )
    for name, group in by_name.items():
        if not _is_list(group):
            raise InputError(
                f"Each group of an answer must be a list of items. Got {group!r} for group {name!r}; give lists, "
                "such as [['ant', 'bee'], ['cow']]."
            )
    return {name: listed(group, f"group {name!r}") for name, group in by_name.items()}


def _groups_by_item(group: pd.Series) -> dict[Any, list[Any]]:
    """Items of each group, where each item says its group."""
    if group.map(_is_list).any():
        raise InputError("An answer gives either a list of items for each group, or one group for each item. Got both.")
    group = group[group.notna()]
    return {name: rows.tolist() for name, rows in group.index.to_series().groupby(group.to_numpy(), sort=False)}


def _is_list(value: Any) -> bool:
    """Whether it holds names, and is none; a tuple does."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def as_groupings(groups: dict[Any, list[Any]], items: pd.Index, key: Key) -> Groupings:
    """One answer as groupings of the session's items.

    Parameters
    ----------
    groups : names of the items in each group, by the name of the group
    items : of the session
    key : annotator and name of the grouping

    Raises
    ------
    InputError
        An unknown item, or one that is in two groups of the answer.

    Warns
    -----
    AnnotationWarning
        An item is twice in a group, and counts once.
    """
    rows = [(item, *key, name) for name, group in groups.items() for item in group]
    places_of(items, [row[0] for row in rows])
    frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
    return Groupings.from_frame(frame, items=items)


def new_key(annotator: Any, number: int, told: set[Key]) -> Key:
    """Return an annotator and a grouping that nothing told so far bears.

    Parameters
    ----------
    annotator : whose answer it is; None for one who said nothing else
    number : of the answer, the first to be tried
    told : of every grouping told so far
    """
    if annotator is not None:
        while (annotator, number) in told:
            number += 1
        return annotator, number
    annotators = {whose for whose, _ in told}
    while f"answer {number}" in annotators:
        number += 1
    return f"answer {number}", number


def require_inside(groups: dict[Any, list[Any]], subset: Subset) -> None:
    """Raise an InputError if an answer holds an item that was not in the subset."""
    inside = set(subset.items)
    other = [item for group in groups.values() for item in group if item not in inside]
    if other:
        hint = near_spelling(other[0], subset.items)
        raise InputError(f"Item {other[0]!r} was not in subset {subset.number}.{hint}")


def require_new(groupings: Groupings, told: set[Key]) -> None:
    """Raise an InputError if one of the groupings was told before."""
    for annotator, grouping in groupings.vocabulary.grouping_keys():
        if (annotator, grouping) in told:
            raise InputError(
                f"Grouping {grouping!r} of annotator {annotator!r} was told before. If it is another, give it "
                "another name."
            )


def left_out(answer: Groupings, asked: Placed) -> tuple[Placed, list[Int[np.ndarray, " 2"]]]:
    """Return what of a subset the answer leaves out, and the pairs of the subset that it says nothing of.

    They were asked and presented all the same.
    """
    there = np.diff(answer.incidence.indptr)[asked.places] > 0
    missing = replace(asked.subset, items=list(compress(asked.subset.items, ~there)))
    pairs = [np.array([one, other]) for one, other in combinations(asked.places, 2)]
    silent = [not (one and other) for one, other in combinations(there, 2)]
    return Placed(missing, asked.places[~there]), list(compress(pairs, silent))
