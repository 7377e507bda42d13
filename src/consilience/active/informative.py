"""Our own strategy: ask together about items of which the posterior cannot tell whether they belong together.

Draws of the clusters from the posterior of the mixture of groupings
(`consilience.consensus.groupings.grouping_mixture`) are kept and moved on from round to round, by a few sampling sweeps
each. With p_ij the share of the draws in which i and j
are of one cluster,

    V_ij = (p_ij (1 − p_ij) + ε) / (1 + P_ij)

is what asking about the pair is worth: the variance of the answer, less where the pair was presented before. A subset
begins with one of the items asked least; each further item j is drawn in proportion to (Σ_i V_ij)³ over the items i in
the subset, so that a subset is about one doubt: a few clusters and the items between them.

Decided here
------------
Items never asked come first, all of them, before anything is weighed: nothing is known of them. Draws and not the
fitted probabilities tell p, since those are too sure of themselves while little was answered. With fewer than ten
answers an item the draws are sharpened (temperature 0.1 × answers an item, at least ½): early, a posterior that moves
through many solutions composes subsets at random. Tried and left, since no better: the entropy of the whole subset's
partition over the draws, a number of clusters a subset aimed at, a core of items asked first, p²(1 − p).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from consilience.active.pair_counts import PairCounts
from consilience.active.strategies import Situation, Strategy
from consilience.annotations.types import Real
from consilience.estimators.parameters import NOT_NEGATIVE, Requirements

LITTLE = 1e-3  # ε above: what asking about a pair is worth of which all draws say the same


class Informative(Strategy):
    """Items of which the posterior cannot tell whether they belong together, beginning with one of those asked least.

    Parameters
    ----------
    power : float, default=3.0
        How strongly items are preferred about which there is more doubt; 0 draws them alike.

    Examples
    --------
    >>> from consilience.active import ActiveSession, Informative
    >>> session = ActiveSession(["ant", "bee", "cow", "pig"], strategy=Informative(power=2.0), random_state=0)
    >>> sorted(session.ask(size=4)[0].items)
    ['ant', 'bee', 'cow', 'pig']
    """

    _requirements: ClassVar[Requirements] = {
        "power": NOT_NEGATIVE,
    }

    def __init__(self, power: Real = 3.0) -> None:
        self.power = power

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Add items one by one; see `Strategy.compose`."""
        times, left = situation.times_asked, situation.allowed.copy()
        if times[left].min() == 0:
            return np.lexsort((rng.random(len(times)), times, ~left))[:size]
        samples = situation.samples()
        least = np.flatnonzero(left & (times == times[left].min()))
        subset = [int(rng.choice(least))]
        doubt = np.zeros(len(times))
        while len(subset) < size:
            left[subset[-1]] = False
            doubt += _worth_with(situation.counts, samples, subset[-1])
            weights = np.where(left, doubt / doubt[left].max(), 0.0) ** self.power * left
            subset.append(int(rng.choice(len(weights), p=weights / weights.sum())))
        return np.array(subset)

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Mean worth of the pairs of each subset; while items were never asked, the share of them in it."""
        place = np.repeat(np.arange(len(candidates)), [len(items) for items in candidates])
        never = (situation.times_asked == 0)[np.concatenate(candidates)]
        if never.any():
            return np.bincount(place, never, len(candidates)) / np.bincount(place, minlength=len(candidates))
        key, subset = situation.counts.keys_of(candidates)
        worth = _worth(situation.counts, situation.samples(), key)
        return np.bincount(subset, worth, len(candidates)) / np.bincount(subset, minlength=len(candidates)).clip(1)

    def prefer(self, situation: Situation, candidates: list[np.ndarray], rng: np.random.Generator) -> int:
        """Choose the subset worth most, at random among equals; see `Strategy.prefer`."""
        values = self.values(situation, candidates)
        return int(rng.choice(np.flatnonzero(values == values.max())))


def _worth(
    counts: PairCounts, samples: Int[np.ndarray, "samples items"], key: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, " pairs"]:
    """V above."""
    one, other = np.divmod(key, counts.n_items)
    same = (samples[:, one] == samples[:, other]).mean(0)
    place, there = counts.at(key)
    presented = np.zeros(len(key))
    presented[there] = counts.presented[place[there]]
    return (same * (1 - same) + LITTLE) / (1 + presented)


def _worth_with(
    counts: PairCounts, samples: Int[np.ndarray, "samples items"], item: int
) -> Float[np.ndarray, " items"]:
    """V of the pairs of one item with every item; of itself it means nothing."""
    others = np.arange(counts.n_items)
    return _worth(counts, samples, np.minimum(others, item) * counts.n_items + np.maximum(others, item))
