"""Which items to present together: strategies that compose subsets from the groupings so far.

K. Veeramachaneni & U.-M. O'Reilly, Clustering using subset groupings, section 5.2: `Random`, `Explore`,
`ExploitPairwise`, `ExploitOneVsRest`, `ExploreExploitTradeoff`; our own, `Informative`, is in
`consilience.active.informative`. With P_ij the number of times that a pair was presented, and C_ij put together,

    E_ij  = C_ij / P_ij                           evidence
    AI_ij = exp(−((E_ij − μ)/σ)²)                 ambiguity index, equations 3 and 4

============ ======================= ===================================================
paper        name here               meaning
============ ======================= ===================================================
P, C         ``PairCounts``          counts of the pairs presented
μ, σ         ``mu``, ``sigma``       most ambiguous evidence, and how fast ambiguity falls
β1, β2       ``few``, ``ambiguous``  thresholds of the tradeoff
============ ======================= ===================================================

Decided here
------------
A pair never presented has no E: it counts as E = ``prior`` (½, the most ambiguous). P is divided by its maximum before
the exponential of `Explore`, as in the paper. σ shrinks by the factor ``shrink`` with each grouping, down to
``smallest_sigma``. The paper names `ExploitOneVsRest` without a formula: here items are drawn in proportion to the sum
of the ambiguity of their pairs. The third set of the tradeoff is printed with AI < β2; the text asks for ambiguous
items, so it is AI > β2. Within the first set the paper weighs the ambiguity and the presentation count; here the count
is replaced by the shortfall, (β1 − P)/β1, so that pairs presented less often weigh more. The item drawn last is the one
that the next is compared with.

All strategies draw exactly from their distribution, in memory of the pairs presented. If the subsets are given
(`ask(candidates=…)`), each is chosen in proportion to the mean weight of its pairs or items.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int
from sklearn.base import BaseEstimator

from consilience.active.pair_counts import PairCounts
from consilience.active.pair_sampling import PairWeights, draw_subset
from consilience.annotations.types import Integer, Real
from consilience.estimators.parameters import NOT_NEGATIVE, POSITIVE, Requirements, interval, require_parameters, whole


@dataclass(frozen=True)
class Situation:
    """The information available to a strategy.

    counts : counts of pairs in the groupings, and of pairs presented and not answered.
    times_asked : how often each item was presented.
    n_groupings : number of groupings so far.
    allowed : whether each item may be in the next subset.
    samples : returns samples from the posterior of the clusters (samples × items), computed at the first call.
    """

    counts: PairCounts
    times_asked: Int[np.ndarray, " items"]
    n_groupings: int
    allowed: Bool[np.ndarray, " items"]
    samples: Callable[[], np.ndarray]


class Strategy(BaseEstimator):
    """A rule by which subsets are composed. A subclass implements `compose` and `values`."""

    @abstractmethod
    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Compose a subset.

        Parameters
        ----------
        situation : Situation
        size : int
            At most the number of items allowed.
        rng : numpy Generator

        Returns
        -------
        int array, shape (size,)
            Places of distinct items, all allowed.
        """

    @abstractmethod
    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Return how much each of several subsets is worth.

        Parameters
        ----------
        situation : Situation
        candidates : list of int array
            The items of each subset.

        Returns
        -------
        float array (candidates,)
            At least 0.
        """

    def prefer(self, situation: Situation, candidates: list[np.ndarray], rng: np.random.Generator) -> int:
        """Choose one of several subsets, in proportion to their values.

        Parameters
        ----------
        situation : Situation
        candidates : list of int array
            The items of each subset.
        rng : numpy Generator

        Returns
        -------
        int
            Place of the subset among the candidates.
        """
        values = self.values(situation, candidates)
        total = values.sum()
        return int(rng.choice(len(candidates), p=values / total if total > 0 else None))

    def check(self) -> None:
        """Raise an InputError if a parameter is wrong."""
        require_parameters(self)


class PairStrategy(Strategy):
    """A strategy that draws pairs in proportion to weights. A subclass implements `_weights`."""

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Draw pairs until there are enough items; see `Strategy.compose`."""
        return draw_subset(self._weights(situation), situation.allowed, size, rng)

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Mean weight of the pairs of each subset."""
        return self._weights(situation).of_subsets(candidates)

    @abstractmethod
    def _weights(self, situation: Situation) -> PairWeights:
        """Weights of the pairs."""


class Random(Strategy):
    """All subsets with equal probability: the baseline of the paper.

    Examples
    --------
    >>> from consilience.active import ActiveSession, Random
    >>> session = ActiveSession(["ant", "bee", "cow", "pig"], strategy=Random(), random_state=0)
    >>> len(session.ask(size=3)[0].items)
    3
    """

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Draw items without replacement; see `Strategy.compose`."""
        return rng.choice(np.flatnonzero(situation.allowed), size, replace=False)

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Return the same value for all."""
        return np.ones(len(candidates))


class Explore(PairStrategy):
    """Balanced presentation: pairs in proportion to exp(−P_ij / max P), equation 1."""

    def _weights(self, situation: Situation) -> PairWeights:
        presented = situation.counts.presented
        return PairWeights(situation.counts, np.exp(-presented / max(presented.max(initial=1), 1)), 1.0)


class ExploitPairwise(PairStrategy):
    """Disambiguation: pairs in proportion to their ambiguity, equations 2 to 5.

    Parameters
    ----------
    mu : float, default=0.5
        Share of presentations together that is most ambiguous.
    sigma : float, default=0.3
        How far from `mu` pairs are still ambiguous.
    shrink : float, default=1.0
        Factor of sigma with each grouping, at most 1.
    smallest_sigma : float, default=0.05
    prior : float, default=0.5
        Share assumed for pairs never presented.
    """

    _requirements: ClassVar[Requirements] = {
        "mu": interval(0, 1, "both"),
        "sigma": POSITIVE,
        "shrink": interval(0, 1, "right"),
        "smallest_sigma": POSITIVE,
        "prior": interval(0, 1, "both"),
    }

    def __init__(
        self, mu: Real = 0.5, sigma: Real = 0.3, shrink: Real = 1.0, smallest_sigma: Real = 0.05, prior: Real = 0.5
    ) -> None:
        self.mu = mu
        self.sigma = sigma
        self.shrink = shrink
        self.smallest_sigma = smallest_sigma
        self.prior = prior

    def ambiguity(self, share: Any, n_groupings: int) -> Any:
        """Return the ambiguity index of shares of presentations together, equation 4."""
        sigma = max(self.sigma * self.shrink**n_groupings, self.smallest_sigma)
        return np.exp(-(((share - self.mu) / sigma) ** 2))

    def _weights(self, situation: Situation) -> PairWeights:
        share = situation.counts.share
        seen = self.ambiguity(np.where(np.isnan(share), self.prior, share), situation.n_groupings)
        return PairWeights(situation.counts, seen, float(self.ambiguity(self.prior, situation.n_groupings)))


class ExploitOneVsRest(ExploitPairwise):
    """Disambiguation by items: items in proportion to the ambiguity of all their pairs.

    Parameters
    ----------
    mu, sigma, shrink, smallest_sigma, prior : float
        As for `ExploitPairwise`.
    """

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Draw items one after another; see `Strategy.compose`."""
        weights = np.where(situation.allowed, self._weights(situation).of_items(), 0.0)
        items = np.flatnonzero(situation.allowed)
        log_weights = np.log(np.maximum(weights[items], np.finfo(float).tiny))
        order = np.argsort(-(log_weights + rng.gumbel(size=len(items))))  # equivalent to drawing without replacement
        return items[order[:size]]

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Mean weight of the items of each subset."""
        weights = self._weights(situation).of_items()
        return np.array([weights[items].mean() for items in candidates])


class ExploreExploitTradeoff(ExploitPairwise):
    """From item to item: the next was rarely presented with it and is ambiguous, or else one of both; equations 6, 7.

    Parameters
    ----------
    few : int, default=3
        A pair presented less often than this is rarely presented.
    ambiguous : float, default=0.5
        A pair of larger ambiguity index is ambiguous.
    weight_ambiguity, weight_shortfall : float, default=1.0
        Weights of the two in the choice among items that are both.
    mu, sigma, shrink, smallest_sigma, prior : float
        As for `ExploitPairwise`.
    """

    _requirements: ClassVar[Requirements] = {
        "few": whole(1),
        "ambiguous": interval(0, 1, "left"),
        "weight_ambiguity": NOT_NEGATIVE,
        "weight_shortfall": NOT_NEGATIVE,
    }

    def __init__(
        self,
        few: Integer = 3,
        ambiguous: Real = 0.5,
        weight_ambiguity: Real = 1.0,
        weight_shortfall: Real = 1.0,
        mu: Any = 0.5,
        sigma: Any = 0.3,
        shrink: Any = 1.0,
        smallest_sigma: Any = 0.05,
        prior: Any = 0.5,
    ) -> None:
        super().__init__(mu=mu, sigma=sigma, shrink=shrink, smallest_sigma=smallest_sigma, prior=prior)
        self.few = few
        self.ambiguous = ambiguous
        self.weight_ambiguity = weight_ambiguity
        self.weight_shortfall = weight_shortfall

    def compose(self, situation: Situation, size: int, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Go from item to item; see `Strategy.compose`."""
        ambiguity, shortfall = self._weights(situation), self._shortfall(situation)
        left = situation.allowed.copy()
        item = int(rng.choice(np.flatnonzero(left)))
        subset = [item]
        while len(subset) < size:
            left[item] = False
            item = self._next(ambiguity.of_item(item), shortfall.of_item(item), left, rng)
            subset.append(item)
        return np.array(subset)

    def _next(
        self,
        ambiguity: Float[np.ndarray, " items"],
        shortfall: Float[np.ndarray, " items"],
        left: Bool[np.ndarray, " items"],
        rng: np.random.Generator,
    ) -> int:
        rare, ambiguous = left & (shortfall > 0), left & (ambiguity > self.ambiguous)
        both = self.weight_ambiguity * ambiguity + self.weight_shortfall * shortfall
        one, other = (rare, shortfall), (ambiguous, ambiguity)
        if rng.random() < 0.5:
            one, other = other, one
        choices = ((rare & ambiguous, both), one, other, (left, np.ones(len(left))))
        weights = next(w for among, weight in choices if (w := np.where(among, weight, 0.0)).any())
        return int(rng.choice(len(weights), p=weights / weights.sum()))

    def values(self, situation: Situation, candidates: list[np.ndarray]) -> Float[np.ndarray, " candidates"]:
        """Mean weighted sum of ambiguity and shortfall of the pairs of each subset."""
        ambiguity = self._weights(situation).of_subsets(candidates)
        return self.weight_ambiguity * ambiguity + self.weight_shortfall * self._shortfall(situation).of_subsets(
            candidates
        )

    def _shortfall(self, situation: Situation) -> PairWeights:
        counts = situation.counts
        return PairWeights(counts, np.maximum(self.few - counts.presented, 0) / self.few, 1.0)
