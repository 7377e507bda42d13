"""Sampling from distributions over pairs that are uniform except for the pairs seen, in memory of the pairs seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.active.pair_counts import PairCounts

FEW_UNSEEN = 0.05  # share of the pairs below which unseen ones are listed instead of found by rejection


@dataclass(frozen=True)
class PairWeights:
    """Weights of all pairs of items, up to a constant factor.

    seen : weights of the pairs presented, in their order.
    unseen : weight of every other pair.
    """

    counts: PairCounts
    seen: Float[np.ndarray, " pairs"]
    unseen: float

    def of_subsets(self, subsets: list[np.ndarray]) -> Float[np.ndarray, " subsets"]:
        """Return the mean weight of the pairs of each subset; 0 for subsets of one item."""
        key, subset = self.counts.keys_of(subsets)
        place, there = self.counts.at(key)
        weight = np.full(len(key), self.unseen)
        weight[there] = self.seen[place[there]]
        n_pairs = np.bincount(subset, minlength=len(subsets))
        return np.bincount(subset, weight, len(subsets)) / np.maximum(n_pairs, 1)

    def of_items(self) -> Float[np.ndarray, " items"]:
        """Return the sum of the weights of each item's pairs."""
        n_items = self.counts.n_items
        first, second = self.counts.first, self.counts.second
        n_seen = np.bincount(first, minlength=n_items) + np.bincount(second, minlength=n_items)
        known = np.bincount(first, self.seen, n_items) + np.bincount(second, self.seen, n_items)
        return known + self.unseen * (n_items - 1 - n_seen)

    def of_item(self, item: int) -> Float[np.ndarray, " items"]:
        """Return the weights of one item's pairs with every item; 0 with itself."""
        weights = np.full(self.counts.n_items, self.unseen)
        first, second = self.counts.first, self.counts.second
        here, there = first == item, second == item
        weights[second[here]] = self.seen[here]
        weights[first[there]] = self.seen[there]
        weights[item] = 0.0
        return weights


def draw_subset(
    weights: PairWeights, allowed: Bool[np.ndarray, " items"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, " size"]:
    """Draw pairs one after another, in proportion to their weights, until there are `size` distinct items.

    A pair without a new item would be rejected, so pairs are drawn among those that have one. If there is room for only
    one item, the last pair contributes one of its items at random. If no weight is left, pairs are equally probable.

    allowed : whether each item may be drawn; at least `size` are.
    rng : numpy Generator

    Returns int array, shape (size,).
    """
    first, second = weights.counts.first, weights.counts.second
    within = allowed[first] & allowed[second]
    chosen = np.zeros(len(allowed), dtype=bool)
    subset: list[int] = []
    if size == 1 or np.count_nonzero(allowed) == 1:
        return rng.choice(np.flatnonzero(allowed), size, replace=False)
    while len(subset) < size:
        has_new = within & ~(chosen[first] & chosen[second])
        pair = _draw_pair(weights, np.where(has_new, weights.seen, 0.0), allowed, chosen, rng)
        new = [item for item in pair if not chosen[item]]
        if len(new) > size - len(subset):
            new = [new[rng.integers(len(new))]]
        chosen[new] = True
        subset += new
    return np.array(subset)


def _draw_pair(
    weights: PairWeights,
    seen: Float[np.ndarray, " pairs"],
    allowed: Bool[np.ndarray, " items"],
    chosen: Bool[np.ndarray, " items"],
    rng: np.random.Generator,
) -> tuple[int, int]:
    counts = weights.counts
    cumulative = np.cumsum(seen)
    known = float(cumulative[-1]) if len(cumulative) else 0.0
    n_allowed, n_chosen = int(allowed.sum()), int(chosen.sum())
    possible = n_allowed * (n_allowed - 1) // 2 - n_chosen * (n_chosen - 1) // 2
    n_seen = np.count_nonzero(
        allowed[counts.first] & allowed[counts.second] & ~(chosen[counts.first] & chosen[counts.second])
    )
    unseen = (possible - n_seen) * weights.unseen
    if known + unseen <= 0:
        return _uniform_pair(allowed, chosen, rng)
    if rng.random() * (known + unseen) < known:
        # rounding may leave the last sum below the number drawn
        place = min(int(np.searchsorted(cumulative, rng.random() * known, side="right")), len(seen) - 1)
        return int(counts.first[place]), int(counts.second[place])
    if possible - n_seen < FEW_UNSEEN * possible:
        return _listed_pair(counts, allowed, chosen, rng)
    while True:
        pair = _uniform_pair(allowed, chosen, rng)
        key = np.array([min(pair) * counts.n_items + max(pair)])
        if not counts.at(key)[1][0]:
            return pair


def _uniform_pair(
    allowed: Bool[np.ndarray, " items"], chosen: Bool[np.ndarray, " items"], rng: np.random.Generator
) -> tuple[int, int]:
    """Draw two allowed items, not both chosen, with equal probability for all such pairs."""
    items = np.flatnonzero(allowed)
    while True:
        one, other = rng.choice(items, 2, replace=False)
        if not (chosen[one] and chosen[other]):
            return int(one), int(other)


def _listed_pair(
    counts: PairCounts,
    allowed: Bool[np.ndarray, " items"],
    chosen: Bool[np.ndarray, " items"],
    rng: np.random.Generator,
) -> tuple[int, int]:
    items = np.flatnonzero(allowed)
    one, other = np.triu_indices(len(items), 1)
    key = items[one] * counts.n_items + items[other]
    open_key = key[~counts.at(key)[1] & ~(chosen[items[one]] & chosen[items[other]])]
    drawn = int(rng.choice(open_key))
    return drawn // counts.n_items, drawn % counts.n_items
