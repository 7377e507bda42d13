"""How often each pair of items was presented and put together: the counts from which subsets are composed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.annotations import Groupings
from consilience.annotations.pairs import pairs_within


@dataclass(frozen=True)
class PairCounts:
    """Counts of the pairs that were presented, in the order of their keys.

    key : first item × n_items + second item, the first below the second; in increasing order.
    presented : number of subsets with both items, answered or not; at least 1.
    answered : number of groupings with both.
    together : number of groupings with both in one group.
    """

    n_items: int
    key: Int[np.ndarray, " pairs"]
    presented: Int[np.ndarray, " pairs"]
    answered: Int[np.ndarray, " pairs"]
    together: Int[np.ndarray, " pairs"]

    @classmethod
    def none(cls, n_items: int) -> PairCounts:
        """Return counts before any pair was presented."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(n_items, nothing, nothing, nothing, nothing)

    @property
    def first(self) -> Int[np.ndarray, " pairs"]:
        """First item of each pair."""
        return self.key // self.n_items

    @property
    def second(self) -> Int[np.ndarray, " pairs"]:
        """Second item of each pair."""
        return self.key % self.n_items

    @property
    def share(self) -> Float[np.ndarray, " pairs"]:
        """E = C / P of the paper: the share of answers that put the pair together; NaN without answers."""
        nothing = np.full(len(self.key), np.nan)
        return np.divide(self.together, self.answered, out=nothing, where=self.answered > 0)

    def with_groupings(self, groupings: Groupings) -> PairCounts:
        """Return the counts with further groupings of the same items; the cost is that of their pairs and a copy."""
        order = np.argsort(groupings.grouping_of_group[groupings.incidence.indices], kind="stable")
        item, group = groupings.item_of_row[order], groupings.incidence.indices[order]
        sizes = np.bincount(groupings.grouping_of_group[group], minlength=groupings.n_groupings)
        one, other = pairs_within(sizes)
        key = np.minimum(item[one], item[other]) * self.n_items + np.maximum(item[one], item[other])
        return self._plus(key, np.ones(len(key)), group[one] == group[other])

    def with_subsets(self, subsets: Sequence[np.ndarray]) -> PairCounts:
        """Return the counts with further subsets added that were presented and not answered."""
        if not subsets:
            return self
        key, _ = self.keys_of(subsets)
        nothing = np.zeros(len(key))
        return self._plus(key, nothing, nothing)

    def at(self, key: Int[np.ndarray, " wanted"]) -> tuple[Int[np.ndarray, " wanted"], Bool[np.ndarray, " wanted"]]:
        """Return the place of each key among the pairs presented, and whether it is there."""
        place = np.minimum(np.searchsorted(self.key, key), max(len(self.key) - 1, 0))
        return place, (self.key[place] == key) if len(self.key) else np.zeros(len(key), dtype=bool)

    def keys_of(self, subsets: Sequence[np.ndarray]) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
        """Return the keys of all pairs of each subset of items, and the number of the subset."""
        sizes = np.array([len(subset) for subset in subsets], dtype=np.int64)
        item, subset = np.concatenate(subsets), np.repeat(np.arange(len(subsets)), sizes)
        item = item[np.lexsort((item, subset))]
        one, other = pairs_within(sizes)
        return item[one] * self.n_items + item[other], subset[one]

    def _plus(self, key: np.ndarray, answered: np.ndarray, together: np.ndarray) -> PairCounts:
        names, code = np.unique(key, return_inverse=True)
        place, there = self.at(names)
        where = np.searchsorted(self.key, names[~there])
        columns = []
        for old, weight in ((self.presented, np.ones(len(key))), (self.answered, answered), (self.together, together)):
            more = np.bincount(code, weight, len(names)).astype(np.int64)
            grown = old.copy()
            grown[place[there]] += more[there]
            columns.append(np.insert(grown, where, more[~there]))  # keys stay sorted
        return PairCounts(self.n_items, np.insert(self.key, where, names[~there]), *columns)
