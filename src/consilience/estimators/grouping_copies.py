"""From copies among annotators who group to the attributes and notes of an estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.estimators.copies import keep_copies, list_in_short
from consilience.inference.copies import ALONE, Copies, Group
from consilience.inference.grouping_copies import Evidence, find_copies, given_copies, memberships_read
from consilience.inference.memberships import Memberships


@dataclass(frozen=True)
class ReadGroupings:
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


def read_once(estimator: Any, groupings: Groupings) -> ReadGroupings:
    """Read annotators who weigh together by the `copies` parameter as one, and set `copies_`."""
    group = copies_of(estimator, groupings).group
    return ReadGroupings(groupings, weighing_together(groupings, group), group)


def copies_of(estimator: Any, groupings: Groupings) -> Copies[Evidence]:
    """Find the groups of copies that the `copies` parameter asks for, and set `copies_`."""
    memberships = Memberships.of(groupings)
    return keep_copies(
        estimator,
        groupings.annotators,
        lambda: find_copies(memberships),
        lambda groups: given_copies(memberships, groups),
    )


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
    who = list_in_short(row.annotators)
    if not found:
        return f"{who} weigh together as one annotator, as requested."
    return (
        f"{who} sort {row.n_items:,} items more alike than independent people do (adjusted Rand "
        f"index {row.agreement:.2f}, where the other annotators explain {row.expected:.2f}), so they weigh together as "
        "one annotator. If they did work independently, set copies=None."
    )
