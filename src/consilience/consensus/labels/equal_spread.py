"""The mean of ratings with the same spread for all raters, and the rule by which `OrdinalRatings` falls back to it.

    x_n = Σ_j w_nj y_nj / Σ_j w_nj,   p(level k) = Φ((k + ½ − x_n) / d_n) − Φ((k − ½ − x_n) / d_n)
    d_n² = s² / Σ_j w_nj + shared²,   s² = (2 (.7 u)² + Σ_nj w_nj (y_nj − x_n)²) / (2 + Σ_nj w_nj − number of items)

Decided here
------------
The rule has no truth to look at. Its three conditions are those under which raters of their own were behind the mean:
on recorded ratings of which four fifths were one level (an absolute error of .76 against .61 levels), and on simulated
ones where raters miss at random what others see, which the model takes for noise (``benchmarks/ratings.py``). With two
levels, a bias and a threshold are the same, and nothing is gained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from consilience.annotations import Labels
from consilience.consensus.labels.levels_of_items import TAIL, LevelsOfItems
from consilience.consensus.labels.ordinal_ratings import TINY, TYPICAL_NOISE, RatingsState, ValueGrid

LARGEST_LEVEL = 0.75  # share of the labels of one level
LARGEST_NOISE = 0.9  # of a label, relative to the spread of the items

PerItem = Float[np.ndarray, " items"]


@dataclass(frozen=True)
class EqualSpread:
    """mean, number : of the labels of each item, weighted. noise : s, levels."""

    mean: PerItem
    number: PerItem
    noise: float

    @classmethod
    def of(
        cls,
        item: Int[np.ndarray, " labels"],
        label: Int[np.ndarray, " labels"],
        weight: Float[np.ndarray, " labels"] | None,
        n_items: int,
        grid: ValueGrid,
    ) -> EqualSpread:
        """Compute the means; that of items without labels is the mean of all labels."""
        weight = np.ones(len(item)) if weight is None else weight
        number, total = (np.bincount(item, each, n_items) for each in (weight, weight * label))
        mean = np.divide(total, number, out=np.full(n_items, grid.origin), where=number > 0)
        squares = (weight * (label - mean[item]) ** 2).sum()
        freedom = max(number.sum() - np.count_nonzero(number), 0.0)
        return cls(mean, number, float(np.sqrt((squares + 2 * (TYPICAL_NOISE * grid.unit) ** 2) / (freedom + 2))))

    def levels(self, noise: float, spread_of_items: float, shared: float, n_levels: int) -> LevelsOfItems:
        """Return what is told of the items, under the noise of a label and that which raters share."""
        own = np.where(self.number > 0, noise / np.sqrt(np.maximum(self.number, TINY)), spread_of_items)
        spread = np.hypot(own, shared)
        below = ndtr((np.arange(n_levels - 1) + 0.5 - self.mean[:, None]) / spread[:, None])
        end = np.ones((len(spread), 1))
        told = np.diff(np.hstack([0 * end, below, end]), axis=1)
        reach = -ndtri(TAIL) * spread
        ends = np.column_stack([self.mean - reach, self.mean + reach])
        return LevelsOfItems(self.mean, told, np.clip(ends, 0, n_levels - 1))


def reason_for_equal_spread(state: RatingsState, grid: ValueGrid, labels: Labels) -> str:
    """Say why raters of their own are not to be trusted; empty if they are."""
    if grid.n_levels < 3:
        return "there are fewer than three levels"
    shares = np.bincount(labels.label, minlength=grid.n_levels) / labels.n_rows
    if shares.max() >= LARGEST_LEVEL:
        level = labels.classes[int(shares.argmax())]
        return f"{shares.max():.0%} of the labels are {level}, and the rest tells too little"
    n_labels = np.bincount(labels.annotator, minlength=labels.n_annotators)
    noise = float(np.average(state.raters.noise, weights=n_labels))
    if noise >= LARGEST_NOISE * state.spread:
        if np.diff(labels.indptr).max() < 2:
            return "no item has two labels, so that nothing tells how far labels of one item differ"
        return (
            f"labels of one item differ about as much as items do: the noise of a label is {noise:.2g} levels, the "
            f"spread of the items {state.spread:.2g}"
        )
    return ""
