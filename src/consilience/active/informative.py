"""Our own strategy: present together items for which the posterior does not settle whether they belong together.

Samples of the clusters from the posterior of the mixture of groupings
(`consilience.consensus.groupings.grouping_mixture`) are kept and updated from subset to subset, by a few sampling
sweeps each. With p_ij the share of the samples in which i and j are in one cluster,

    V_ij = (p_ij (1 − p_ij) + ε) / (1 + P_ij)

is the value of presenting the pair: the variance of the answer, reduced if the pair was presented before. A subset
begins with one of the least presented items; each further item j is drawn in proportion to (Σ_i V_ij)³ over the items i
in the subset, so that a subset is about one open question: a few clusters and the items between them.

Decided here
------------
All items that were never presented come first, whatever their values: nothing is known about them. p is estimated from
samples instead of the fitted probabilities, since these are overconfident while there are few answers. With fewer than
ten answers per item, the samples are sharpened (temperature 0.1 × answers per item, at least ½): early, a posterior
that moves through many solutions composes subsets at random. Tried and dropped, since no better: the entropy of the
whole subset's partition over the samples, a target number of clusters per subset, a core of items presented first,
p²(1 − p).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from consilience.active.pair_counts import PairCounts
from consilience.active.strategies import Situation, Strategy
from consilience.annotations.types import Real
from consilience.estimators.parameters import NOT_NEGATIVE, Requirements

LITTLE = 1e-3  # ε above: value of a pair on which all samples agree


class Informative(Strategy):
    """Items for which the posterior does not settle whether they belong together, beginning with a least presented one.

    Parameters
    ----------
    power : float, default=3.0
        How strongly more uncertain items are preferred; 0 draws all with equal probability.

    Examples
    --------
    >>> from consilience.active import ActiveSession, Informative
    >>> session = ActiveSession(["ant", "bee", "cow", "pig"], strategy=Informative(power=2.0), random_state=0)
    >>> sorted(session.ask(size=4)[0].items)
    ['ant', 'bee', 'cow', 'pig']
    """

    _requirements: ClassVar[Requirements] = {"power": NOT_NEGATIVE}

    def __init__(self, power: Real = 3.0) -> None:
        self.power = power

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Add items one by one; see `Strategy.compose`."""
        times, left = situation.times_asked, situation.allowed.copy()
        if times[left].min() == 0:
            # allowed items first, then those asked least, ties at random
            return np.lexsort((rng.random(len(times)), times, ~left))[:size]
        samples = situation.samples()
        least = np.flatnonzero(left & (times == times[left].min()))
        subset = [int(rng.choice(least))]
        value = np.zeros(len(times))
        while len(subset) < size:
            left[subset[-1]] = False
            value += _values_with(situation.counts, samples, subset[-1])
            weights = np.where(left, value / value[left].max(), 0.0) ** self.power * left
            subset.append(int(rng.choice(len(weights), p=weights / weights.sum())))
        return np.array(subset)

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Mean value of the pairs of each subset; as long as some items were never presented, their share in it."""
        place = np.repeat(np.arange(len(candidates)), [len(items) for items in candidates])
        never = (situation.times_asked == 0)[np.concatenate(candidates)]
        if never.any():
            return np.bincount(place, never, len(candidates)) / np.bincount(place, minlength=len(candidates))
        key, subset = situation.counts.keys_of(candidates)
        value = _pair_values(situation.counts, situation.samples(), key)
        return np.bincount(subset, value, len(candidates)) / np.bincount(subset, minlength=len(candidates)).clip(1)

    def prefer(self, situation: Situation, candidates: list[np.ndarray], rng: np.random.Generator) -> int:
        """Choose the subset of the highest value, at random among equals; see `Strategy.prefer`."""
        values = self.values(situation, candidates)
        return int(rng.choice(np.flatnonzero(values == values.max())))


def _pair_values(
    counts: PairCounts, samples: Int[np.ndarray, "samples items"], key: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, " pairs"]:
    """Return V above."""
    one, other = np.divmod(key, counts.n_items)
    same = (samples[:, one] == samples[:, other]).mean(0)
    place, there = counts.at(key)
    presented = np.zeros(len(key))
    presented[there] = counts.presented[place[there]]
    return (same * (1 - same) + LITTLE) / (1 + presented)


def _values_with(
    counts: PairCounts, samples: Int[np.ndarray, "samples items"], item: int
) -> Float[np.ndarray, " items"]:
    """Return V of the pairs of one item with every item; meaningless for the item itself."""
    others = np.arange(counts.n_items)
    return _pair_values(counts, samples, np.minimum(others, item) * counts.n_items + np.maximum(others, item))
