"""From groups of annotators who weigh together to the `copies` parameter and the attributes of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from consilience.annotations.labels import sorted_names
from consilience.annotations.names import plain
from consilience.annotations.types import Name
from consilience.errors import InputError
from consilience.estimators.parameters import Requirement, one_of
from consilience.inference.copies import ALONE, Copies, Evidence

MOST_NAMED = 8  # annotators of a group in a sentence


def _are_groups(value: Any) -> bool:
    """Whether a value is a list of lists, each of two names or more, of which none occurs twice."""
    if not isinstance(value, list | tuple) or not all(isinstance(group, list | tuple) for group in value):
        return False
    try:
        names = {name for group in value for name in group}
    except TypeError:  # names are hashable
        return False
    return all(len(group) > 1 for group in value) and len(names) == sum(map(len, value))


COPIES = one_of("auto", None) | Requirement(
    ("a list of lists of two or more annotators, none of whom is in two of them",), _are_groups
)


def keep_copies(
    estimator: Any,
    annotators: pd.Index,
    find: Callable[[], Copies[Evidence]],
    given: Callable[[list[list[int]]], Copies[Evidence]],
) -> Copies[Evidence]:
    """Return the groups that the `copies` parameter asks for, and set `copies_`.

    annotators : names.
    find : finds groups by what the annotators said.
    given : what these said about groups of these members.
    """
    asked = estimator.copies
    if isinstance(asked, str):
        found = find()
    else:
        found = given([_places(estimator, group, annotators) for group in asked or ()])
    evidence = found.evidence
    members = [sorted_names(annotators.take(found.members(number))).tolist() for number in range(len(found))]
    estimator.copies_ = pd.DataFrame(
        {
            "annotators": pd.Series([[plain(name) for name in names] for names in members], dtype=object),
            "n_items": evidence.n_items.astype(int),
            "agreement": evidence.agreement,
            "expected": evidence.expected,
            "dependence": evidence.dependence,
            "p_value": evidence.p_value,
        }
    ).rename_axis("group")
    return found


def list_in_short(names: Sequence[Name]) -> str:
    """Return the names of at least two annotators as part of a sentence, and how many more there are."""
    shown = [repr(name) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED:,} others")
    return f"The annotators {', '.join(shown[:-1])} and {shown[-1]}"


def _places(estimator: Any, group: Sequence[Name], annotators: pd.Index) -> list[int]:
    names = pd.Index(list(group), tupleize_cols=False, dtype=object)  # a tuple is one name, not two levels
    places: list[int] = annotators.get_indexer(names).tolist()
    if ALONE in places:
        raise InputError(
            f"The 'copies' parameter of {type(estimator).__name__} must name annotators of the annotations. Got "
            f"{plain(group[places.index(ALONE)])!r}, who is none of them."
        )
    return places
