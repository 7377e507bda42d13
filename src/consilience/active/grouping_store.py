"""Storage of groupings as they come in: kept one by one, and joined when all of them are needed."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from consilience.annotations import Groupings, concat

Key = tuple[Any, Any]  # annotator and name of a grouping


class GroupingStore:
    """Groupings of the same items in the order in which they came in, with distinct names for each annotator.

    keys : set of (annotator, name); keys of all groupings.
    """

    def __init__(self, n_items: int, groupings: Iterable[Groupings] = ()) -> None:
        self.n_items = n_items
        self.keys: set[Key] = set()
        self._parts: list[Groupings] = []
        self._is_joined = True
        self._items_of: dict[Any, list[np.ndarray]] = defaultdict(list)
        for part in groupings:
            self.add(part)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def times(self) -> Int[np.ndarray, " items"]:
        """Number of groupings that hold each item."""
        return np.bincount(_end_to_end(itertools.chain(*self._items_of.values())), minlength=self.n_items)

    def add(self, groupings: Groupings) -> None:
        """Add groupings, whose keys must be new."""
        self._parts.append(groupings)
        self._is_joined = False
        self.keys |= set(groupings.vocabulary.grouping_keys())
        annotator = groupings.annotator_of_grouping[groupings.grouping_of_group[groupings.incidence.indices]]
        order = np.argsort(annotator, kind="stable")
        starts = np.searchsorted(annotator[order], np.arange(1, len(groupings.annotators)))
        for name, items in zip(groupings.annotators, np.split(groupings.item_of_row[order], starts)):
            self._items_of[name].append(items)

    def joined(self) -> Groupings | None:
        """Return all groupings as one, None if there are none. The result is kept, so that a second call is free."""
        if not self._is_joined:
            self._parts, self._is_joined = [concat(self._parts)], True
        return self._parts[0] if self._parts else None

    def held_by(self, annotator: Any) -> Bool[np.ndarray, " items"]:
        """Whether each item is in a grouping of an annotator."""
        held = np.zeros(self.n_items, dtype=bool)
        held[_end_to_end(self._items_of.get(annotator, ()))] = True
        return held


def _end_to_end(parts: Iterable[np.ndarray]) -> Int[np.ndarray, " rows"]:
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])
