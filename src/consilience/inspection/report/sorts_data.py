"""The groups of each person, in which the report's explorer can colour the items."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.analysis.cuts import matched_numbers
from consilience.analysis.names import name_text
from consilience.analysis.standardisation import StandardNames
from consilience.annotations import Groupings

MOST_CELLS = 100_000  # items by groupings; more would make the page large


def are_shown(groupings: Groupings, n_items: int) -> bool:
    """Whether the page has the groups of every person."""
    return groupings.n_groupings * n_items <= MOST_CELLS


def sorts_data(
    groupings: Groupings,
    places: Int[np.ndarray, " shown"],
    codes: Int[np.ndarray, " shown"],
    standard: StandardNames | None = None,
) -> list[dict[str, Any]]:
    """Return the groups of every grouping for some items; nothing if there are too many groupings.

    The number of a group, and so its colour, is that of the cluster with which it shares most items, one to one.

    places : of the items that are shown.
    codes : their clusters.
    standard : the standard names of the groups.

    Returns list of dict: `name` of the annotator, with that of the grouping if there are several; `labels`, a number
    for each item, -1 if it was not sorted; `names` of the groups by their numbers, and the places of their standard
    names, `called`, -1 for groups without one.
    """
    if not are_shown(groupings, len(places)):
        return []
    sets = groupings.incidence[places].tocsc()
    first = np.searchsorted(groupings.grouping_of_group, np.arange(groupings.n_groupings + 1))
    several = np.bincount(groupings.annotator_of_grouping, minlength=groupings.n_annotators) > 1
    called = np.full(groupings.n_groups, -1) if standard is None else standard.code_of_group
    found = []
    for grouping, who in enumerate(groupings.annotator_of_grouping.tolist()):
        groups = np.arange(first[grouping], first[grouping + 1])
        ends = sets.indptr[first[grouping] : first[grouping + 1] + 1]
        label = np.full(len(places), -1)
        label[sets.indices[ends[0] : ends[-1]]] = np.repeat(np.arange(len(groups)), np.diff(ends))
        is_sorted = label >= 0
        if not is_sorted.any():
            continue
        numbers = matched_numbers(label[is_sorted], codes[is_sorted], len(groups))
        shown = {int(numbers[k]): groups[k] for k in np.unique(label[is_sorted]).tolist()}
        names = {k: name_text(groupings.group_names[group]) for k, group in shown.items()}
        label[is_sorted] = numbers[label[is_sorted]]
        name = name_text(groupings.annotators[who])
        if several[who]:
            name += f", {name_text(groupings.grouping_names[grouping])}"
        found.append(
            {
                "name": name,
                "labels": label.tolist(),
                "names": names,
                "called": {k: int(called[group]) for k, group in shown.items()},
            }
        )
    return found
