"""Groups that several people made exactly, and the tree of those that are nested: the dendrogram of actual agreement.

A group counts for those who made just this group, and is out of those who sorted all of its items. Averages over pairs,
as in a tree of average linkage, may join items that nobody ever put together; what is here, somebody said.

Decided here
------------
Of two groups that overlap, and of which neither holds the other, the tree has the one that a larger share made; if the
shares are equal, that of more people, then the larger one. So it is the greedy laminar family by share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import plain

__all__ = ["exact_groups"]

CELLS_AT_ONCE = 1 << 22  # groups × groupings: 32 MB
FEWEST = 2  # items of a group, and people who made it


def exact_groups(groupings: Any) -> pd.DataFrame:
    """Return the groups that at least two people made exactly, the largest share first.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)

    Returns
    -------
    DataFrame
        A row for each different group of two items or more. ``items`` is the list of their names, ``n_items`` their
        number; ``n_annotators`` is the number of people who made just this group, ``n_sorted`` that of those who sorted
        all of its items, ``share`` their ratio. ``in_tree`` says whether it is in the tree of actual agreement, and
        ``within`` which row is the smallest group of the tree that holds it, -1 for none.

    Raises
    ------
    InputError
        The annotations are Pairs, or an array of another shape.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import exact_groups
    >>> sorts = Groupings.from_matrix([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1]], items=["ant", "bee", "cat", "dog"])
    >>> exact_groups(sorts)[["items", "n_annotators", "n_sorted"]].values.tolist()
    [[['ant', 'bee', 'cat'], 2, 3]]
    """
    annotations = as_groupings(groupings, None, "exact_groups")
    member, people = _distinct_groups(annotations)
    made = np.asarray(people.sum(1)).ravel().astype(int)
    kept = np.flatnonzero(made >= FEWEST)
    member, made = member[kept], made[kept]
    sizes = np.asarray(member.sum(1)).ravel().astype(int)
    share = made / (n_sorted := _count_sorted(annotations, member, sizes))
    order = np.lexsort((-sizes, -made, -share))
    member = member[order].toarray().astype(bool)
    in_tree, within = _build_tree(member)
    names = [plain(name) for name in annotations.items]
    return pd.DataFrame(
        {
            "items": [[names[item] for item in np.flatnonzero(row)] for row in member],
            "n_items": sizes[order],
            "n_annotators": made[order],
            "n_sorted": n_sorted[order],
            "share": share[order],
            "in_tree": in_tree,
            "within": within,
        }
    )


@dataclass(frozen=True)
class WholeSorts:
    """The different sorts of all items that are in any grouping, the commonest first.

    first : the first item of each item's group in each sort, -1 for items in no grouping
    n_annotators : who made each sort
    n_sorted : who sorted all items
    """

    first: Int[np.ndarray, "sorts items"]
    n_annotators: Int[np.ndarray, " sorts"]
    n_sorted: int

    @classmethod
    def of(cls, groupings: Groupings) -> WholeSorts:
        """Compare the sorts of those who sorted all items at once."""
        item, group = groupings.incidence.tocoo().coords
        grouping = groupings.grouping_of_group[group]
        whole = np.bincount(grouping, minlength=groupings.n_groupings) == len(np.unique(item))
        item, group, grouping = (each[whole[grouping]] for each in (item, group, grouping))
        of_group = np.full(groupings.n_groups, groupings.n_items)
        np.minimum.at(of_group, group, item)
        first = np.full((int(whole.sum()), groupings.n_items), -1)
        first[(np.cumsum(whole) - 1)[grouping], item] = of_group[group]
        annotator = groupings.annotator_of_grouping[whole]
        sorts, number = np.unique(first, axis=0, return_inverse=True)
        made = np.unique(np.column_stack([number.ravel(), annotator]), axis=0)[:, 0]
        counts = np.bincount(made, minlength=len(sorts))
        order = np.argsort(-counts, kind="stable")
        return cls(sorts[order], counts[order], len(np.unique(annotator)))

    def place_of(self, codes: Int[np.ndarray, " items"]) -> int:
        """Return which sort is just these clusters, -1 if nobody made them."""
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        same = np.flatnonzero((self.first == np.where(codes >= 0, first[number], -1)).all(1))
        return int(same[0]) if len(same) else -1


def _distinct_groups(groupings: Groupings) -> tuple[csr_array, csr_array]:
    """Return the different groups of two items or more (groups × items), and who made each (groups × people)."""
    of_group = csr_array(groupings.incidence.T)
    of_group.sort_indices()
    numbers: dict[bytes, int] = {}
    first, number = list[int](), list[int]()
    large = np.flatnonzero(np.diff(of_group.indptr) >= FEWEST)
    for group in large.tolist():
        key = of_group.indices[of_group.indptr[group] : of_group.indptr[group + 1]].tobytes()
        if key not in numbers:
            numbers[key] = len(first)
            first.append(group)
        number.append(numbers[key])
    shape = (len(first), groupings.n_annotators)
    people = csr_array((np.ones(len(number)), (number, groupings.annotator_of_group[large])), shape=shape)
    people.data[:] = 1  # a person may make a group in several groupings
    return of_group[first], people


def _count_sorted(
    groupings: Groupings, member: csr_array, sizes: Int[np.ndarray, " groups"]
) -> Int[np.ndarray, " groups"]:
    """Count the people who sorted all items of each group in one grouping."""
    of_grouping = csr_array(
        (np.ones(groupings.n_groups), (np.arange(groupings.n_groups), groupings.grouping_of_group)),
        shape=(groupings.n_groups, groupings.n_groupings),
    )
    held = groupings.incidence @ of_grouping
    counts = np.zeros(len(sizes), dtype=int)
    at_once = max(1, CELLS_AT_ONCE // max(groupings.n_groupings, 1))
    for start in range(0, len(sizes), at_once):
        some = slice(start, start + at_once)
        seen = (member[some] @ held).toarray() >= sizes[some, None]
        by_person = np.zeros((seen.shape[0], groupings.n_annotators), dtype=bool)
        np.logical_or.at(by_person.T, groupings.annotator_of_grouping, seen.T)
        counts[some] = by_person.sum(1)
    return counts


def _build_tree(
    member: Bool[np.ndarray, "groups items"],
) -> tuple[Bool[np.ndarray, " groups"], Int[np.ndarray, " groups"]]:
    """Take the groups in turn that are nested or apart from those taken; return which, and what holds each of them."""
    sizes = member.sum(1)
    overlaps = member.astype(np.int64) @ member.T
    in_tree = np.zeros(len(member), dtype=bool)
    for group in range(len(member)):
        shared = overlaps[group, in_tree]
        in_tree[group] = ((shared == 0) | (shared == np.minimum(sizes[group], sizes[in_tree]))).all()
    within = np.full(len(member), -1)
    for group in np.flatnonzero(in_tree).tolist():
        holds = np.flatnonzero(in_tree & (overlaps[group] == sizes[group]) & (sizes > sizes[group]))
        if len(holds):
            within[group] = holds[np.argmin(sizes[holds])]
    return in_tree, within
