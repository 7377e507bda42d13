"""What may still be presented to a participant: cards, or pairs of cards, each at most once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from consilience.collect.settings.study_kinds import list_cards, number_pair

FEW = 0.2  # share of the pairs that are left below which these are listed instead of found by chance


@runtime_checkable
class Left(Protocol):
    """What is left for a participant."""

    @property
    def count(self) -> int:
        """How much there is."""

    def holds(self, numbers: Iterable[int]) -> bool:
        """Whether all of these are among it."""

    def draw(self, size: int, rng: np.random.Generator) -> list[int]:
        """Return so many at random; there must be as many."""


@dataclass(frozen=True)
class CardsLeft:
    """Cards, by their numbers."""

    cards: Int[np.ndarray, " left"]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.cards)

    def holds(self, numbers: Iterable[int]) -> bool:
        """Whether all of these are among them."""
        return bool(np.isin(list(numbers), self.cards).all())

    def draw(self, size: int, rng: np.random.Generator) -> list[int]:
        """Return so many at random."""
        return [int(card) for card in rng.choice(self.cards, size, replace=False)]


@dataclass(frozen=True)
class PairsLeft:
    """Pairs of these cards, but for those that were seen.

    seen : numbers of pairs.
    """

    cards: Int[np.ndarray, " allowed"]
    seen: frozenset[int]

    @property
    def count(self) -> int:
        """How many there are."""
        n_cards = len(self.cards)
        seen = np.isin(list_cards(self.seen), self.cards).reshape(-1, 2)
        return n_cards * (n_cards - 1) // 2 - int(seen.all(1).sum())

    def holds(self, numbers: Iterable[int]) -> bool:
        """Whether all of these are among them."""
        asked = list(numbers)
        return self.seen.isdisjoint(asked) and bool(np.isin(list_cards(asked), self.cards).all())

    def draw(self, size: int, rng: np.random.Generator) -> list[int]:
        """Return so many at random: as long as most are left, by drawing until they are new."""
        if self.count < max(FEW * len(self.cards) ** 2 / 2, 2 * size):
            left = [pair for pair in self._list_all() if pair not in self.seen]
            return [left[place] for place in rng.choice(len(left), size, replace=False)]
        found = dict[int, None]()
        while len(found) < size:
            one, other = (int(card) for card in rng.choice(self.cards, 2, replace=False))
            pair = number_pair(one, other)
            if pair not in self.seen:
                found[pair] = None
        return list(found)

    def _list_all(self) -> list[int]:
        first, second = np.triu_indices(len(self.cards), 1)
        pairs = zip(self.cards[first].tolist(), self.cards[second].tolist(), strict=True)
        return [number_pair(one, other) for one, other in pairs]
