"""Whether annotators share the names of their labels, or each has separate names, which are names of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from consilience.annotations.names import Coded, sort_rows

FEW_ITEMS = 2000  # looked at first
FEWEST_OWN = 2  # least number of names that only one annotator uses, and of annotators with so many


@dataclass(frozen=True)
class OwnNames:
    """Names of labels that only one annotator gave, though others annotated the same items.

    n_names : names that were given more than once to items with several annotators; other names are not informative.
    """

    n_own: int
    n_names: int

    def __str__(self) -> str:
        return (
            f"annotators share hardly any labels: of {self.n_names:,} that were given repeatedly, {self.n_own:,} come "
            "from one annotator alone, though others labelled the same items"
        )

    def note(self, remedy: str) -> str:
        """Say that the labels may be names of groups, and how to read those."""
        return f"{self}; to read groups, whose names mean nothing to other annotators, use {remedy}"


def own_names(item: Coded, annotator: Coded, label: Coded) -> OwnNames | None:
    """Find out whether most names of labels are used by one annotator only.

    Names count if they were given at least twice to items that several annotators labelled. Most of them must be used
    by one annotator only, and at least two annotators must have two such names: two who never agree on yes and no do
    not.

    item, annotator, label : Coded, one row per label; rows with a missing name do not count

    Returns OwnNames, or None if the annotators share enough names.
    """
    few = np.flatnonzero(item.codes < FEW_ITEMS)
    shared = _names_of_several_items(*(column.take(few) for column in (item, annotator, label)))[2]
    if 2 * (shared > 1).sum() >= len(label.names):  # whatever the other items say
        return None
    people, names, n_people = _names_of_several_items(item, annotator, label)
    informative = np.bincount(names, minlength=len(label.names)) > 1
    own = informative & (n_people == 1)
    owner = np.zeros(len(label.names), dtype=np.intp)
    owner[names] = people
    n_owners = int((np.bincount(owner[own], minlength=1) >= FEWEST_OWN).sum())
    if n_owners < FEWEST_OWN or own.sum() <= informative.sum() / 2:
        return None
    return OwnNames(int(own.sum()), int(informative.sum()))


def _names_of_several_items(
    item: Coded, annotator: Coded, label: Coded
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"], Int[np.ndarray, " names"]]:
    """Return annotator and name of each label of an item that several annotated, and how many gave each name."""
    rows = np.flatnonzero(~(item.missing | annotator.missing | label.missing))
    items, people, names = (column.codes[rows] for column in (item, annotator, label))
    somebody = np.zeros(len(item.names), dtype=np.intp)
    somebody[items] = people
    of_several = (np.bincount(items[people != somebody[items]], minlength=len(item.names)) > 0)[items]
    people, names = people[of_several], names[of_several]
    return people, names, _n_distinct(names, people, len(label.names), len(annotator.names))


def _n_distinct(
    of: Int[np.ndarray, " rows"], what: Int[np.ndarray, " rows"], n_of: int, n_what: int
) -> Int[np.ndarray, " of"]:
    """Count the different codes in `what` that occur with each code in `of`."""
    if not len(of):
        return np.zeros(n_of, dtype=np.intp)
    if n_of * n_what <= len(of):  # a table of all pairs is smaller than the rows
        occurs = np.zeros((n_of, n_what), dtype=bool)
        occurs[of, what] = True
        return occurs.sum(1)
    of, what = sort_rows([of, what], [n_of, max(n_what, 1)])
    first = np.append(True, (of[1:] != of[:-1]) | (what[1:] != what[:-1]))
    return np.bincount(of[first], minlength=n_of)
