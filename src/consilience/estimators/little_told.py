"""A note on annotators whose groups tell next to nothing."""

from __future__ import annotations

import numpy as np

from consilience.annotations import Groupings
from consilience.inference.memberships import Memberships
from consilience.inference.telling_items import tell_little

MOST_NAMED = 10  # annotators of a kind


def notes_on_little_told(groupings: Groupings) -> list[str]:
    """Return a note that names the annotators who put nearly all items into one group, or leave nearly all alone."""
    memberships = Memberships.of(groupings)
    little = tell_little(memberships)
    if not little.any():
        return []
    by = memberships.annotator_of_grouping
    size, n = memberships.group_sizes, memberships.n_annotators
    alone = np.bincount(by[memberships.grouping_of_group], size == 1, n)
    n_items = np.bincount(by, memberships.grouping_sizes, n)
    fine = 2 * alone > n_items
    kinds = [
        (f"put nearly all items into one group: {_name(groupings, little & ~fine)}", (little & ~fine).any()),
        (f"leave nearly all items alone in a group: {_name(groupings, little & fine)}", (little & fine).any()),
    ]
    which = "; ".join(text for text, occurs in kinds if occurs)
    return [f"{little.sum():,} of {n:,} annotators tell next to nothing. They {which}."]


def _name(groupings: Groupings, chosen: np.ndarray) -> str:
    names = groupings.annotators[chosen]
    shown = [repr(name) for name in names[:MOST_NAMED].tolist()]
    return ", ".join([*shown, *([f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else [])])
