"""Given subsets to choose among, instead of composing new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.active.assignments import places_of
from consilience.active.strategies import Situation, Strategy
from consilience.annotations.names import plain
from consilience.errors import InputError


@dataclass(frozen=True)
class Pool:
    """Subsets to choose among, and which of them can still be chosen.

    subsets : places of the items of each candidate.
    item, candidate : the same places in one array, and the candidate of each.
    content : a number for each different set of items, of each candidate.
    open : whether each can still be chosen.
    """

    subsets: list[np.ndarray]
    item: Int[np.ndarray, " rows"]
    candidate: Int[np.ndarray, " rows"]
    content: Int[np.ndarray, " candidates"]
    open: Bool[np.ndarray, " candidates"]

    @classmethod
    def of(cls, items: pd.Index, candidates: list[list[Any]], pending: Sequence[np.ndarray]) -> Pool:
        """Look up the items of the candidates; those with the same items as a pending subset are not open.

        Raises InputError: there is no candidate, or one is empty, or has an item twice or an unknown one.
        """
        if not candidates or not all(candidates):
            raise InputError("'candidates' must hold at least one subset, and each at least one item.")
        item = places_of(items, [name for names in candidates for name in names])
        candidate = np.repeat(np.arange(len(candidates)), [len(names) for names in candidates])
        repeated = pd.DataFrame({"candidate": candidate, "item": item}).duplicated().to_numpy()
        if repeated.any():
            name = plain(items[item[repeated][0]])
            raise InputError(f"Item {name!r} occurs twice in candidate {candidate[repeated][0] + 1}.")
        subsets = np.split(item, np.flatnonzero(np.diff(candidate)) + 1)
        sets = [frozenset(subset.tolist()) for subset in subsets]
        taken = {frozenset(subset.tolist()) for subset in pending}
        content = pd.factorize(pd.Series(sets, dtype=object))[0]
        return cls(subsets, item, candidate, content, np.array([items not in taken for items in sets]))

    def choose(self, strategy: Strategy, situation: Situation, rng: np.random.Generator) -> int:
        """Return the candidate that the strategy prefers of those that are open and hold allowed items only.

        Raises InputError: no candidate is left.
        """
        barred = np.bincount(self.candidate, ~situation.allowed[self.item], len(self.subsets)) > 0
        left = np.flatnonzero(self.open & ~barred)
        if not len(left):
            raise InputError(
                f"None of {len(self.subsets)} candidates is left to present: each is pending, or has an item that may "
                "not be presented again."
            )
        return int(left[strategy.prefer(situation, [self.subsets[place] for place in left], rng)])

    def without(self, chosen: int) -> Pool:
        """Close a candidate and all others with the same items."""
        return replace(self, open=self.open & (self.content != self.content[chosen]))
