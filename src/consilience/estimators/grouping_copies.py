"""From copies among annotators who group to the attributes and notes of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import plain
from consilience.annotations.types import Name
from consilience.errors import InputError
from consilience.estimators.parameters import Requirement, one_of
from consilience.inference.grouping_copies import ALONE, Copies, Group, find_copies, given_copies, memberships_read
from consilience.inference.memberships import Memberships

MOST_NAMED = 8  # annotators of a group in a note


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


@dataclass(frozen=True)
class Read:
    """Groupings, and what a model reads of them.

    given : of all annotators.
    kept : without what annotators who weigh together repeat; those without anything else are left out.
    group : number of the group of each annotator of `given` who weigh together, -1 for those who are alone.
    """

    given: Groupings
    kept: Groupings
    group: Group

    @property
    def has_copies(self) -> bool:
        """Whether some annotators weigh together."""
        return bool((self.group >= 0).any())

    @property
    def places(self) -> Int[np.ndarray, " kept"]:
        """Positions of the annotators of `kept` in `given`."""
        return self.given.annotators.get_indexer(self.kept.annotators)

    def first_of_each(self) -> Int[np.ndarray, " annotators"]:
        """Position in `kept` of each annotator of `given`, or else of the first one of the same group."""
        place = self.kept.annotators.get_indexer(self.given.annotators)
        inside = place >= 0
        first = np.full(int(self.group.max(initial=ALONE)) + 1, len(place))
        np.minimum.at(first, self.group[inside & (self.group >= 0)], place[inside & (self.group >= 0)])
        place[~inside] = first[self.group[~inside]]
        return place


def read_once(estimator: Any, groupings: Groupings) -> Read:
    """Read annotators who weigh together by the `copies` parameter as one, and set `copies_`."""
    group = copies_of(estimator, groupings).group
    return Read(groupings, weighing_together(groupings, group), group)


def copies_of(estimator: Any, groupings: Groupings) -> Copies:
    """Find the groups of copies that the `copies` parameter asks for, and set `copies_`."""
    asked, memberships = estimator.copies, Memberships.of(groupings)
    if isinstance(asked, str):
        found = find_copies(memberships)
    else:
        found = given_copies(memberships, [_places(estimator, group, groupings) for group in asked or ()])
    evidence = found.evidence
    members = [sorted_names(groupings.annotators.take(found.members(number))).tolist() for number in range(len(found))]
    estimator.copies_ = pd.DataFrame(
        {
            "annotators": pd.Series([[plain(name) for name in names] for names in members], dtype=object),
            "n_items": evidence.n_items.astype(int),
            "agreement": evidence.kappa,
            "expected": evidence.explained,
            "dependence": evidence.dependence,
            "p_value": evidence.p_value,
        }
    ).rename_axis("group")
    return found


def weighing_together(groupings: Groupings, group: Group) -> Groupings:
    """Keep one membership of each group of annotators for each item; annotators without any are dropped."""
    if not (group >= 0).any():
        return groupings
    read = memberships_read(Memberships.of(groupings), group)
    incidence = groupings.incidence
    row = np.repeat(np.arange(groupings.n_items), np.diff(incidence.indptr))[read]
    kept = csr_array((incidence.data[read], (row, incidence.indices[read])), shape=incidence.shape)
    heard = np.bincount(groupings.annotator_of_group[kept.indices], minlength=groupings.n_annotators) > 0
    return replace(groupings, incidence=kept).restrict(annotators=groupings.annotators[heard | (group == ALONE)])


def notes_on_copies(estimator: Any) -> list[str]:
    """Return a note on each group of annotators who weigh together."""
    return [_note(row, found=isinstance(estimator.copies, str)) for row in estimator.copies_.itertuples()]


def _note(row: Any, *, found: bool) -> str:
    names = [repr(name) for name in row.annotators]
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED:,} others"]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if not found:
        return f"The annotators {listed} weigh together as one annotator, as requested."
    return (
        f"The annotators {listed} sort {row.n_items:,} items more alike than independent people do (adjusted Rand "
        f"index {row.agreement:.2f}, where the other annotators explain {row.expected:.2f}), so they weigh together as "
        "one annotator. If they did work independently, set copies=None."
    )


def _places(estimator: Any, group: Sequence[Name], groupings: Groupings) -> list[int]:
    names = pd.Index(list(group), tupleize_cols=False, dtype=object)  # a tuple is one name, not two levels
    places = groupings.annotators.get_indexer(names).tolist()
    if ALONE in places:
        raise InputError(
            f"The 'copies' parameter of {type(estimator).__name__} must name annotators of the annotations. Got "
            f"{plain(group[places.index(ALONE)])!r}, who is none of them."
        )
    return places
