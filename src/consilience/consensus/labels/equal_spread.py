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
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from consilience.annotations import Labels
from consilience.consensus.labels.constant_annotators import count_labels
from consilience.consensus.labels.levels_of_items import TAIL, LevelsOfItems
from consilience.consensus.labels.ordinal_ratings import TINY, TYPICAL_NOISE, RatingsState, ValueGrid
from consilience.inference.parts import Additive

LARGEST_LEVEL = 0.75  # share of the labels of one level
LARGEST_NOISE = 0.9  # of a label, relative to the spread of the items

PerItem = Float[np.ndarray, " items"]


@dataclass(frozen=True)
class EqualSpread:
    """mean, number : of the labels of each item, weighted."""

    mean: PerItem
    number: PerItem

    @classmethod
    def of(
        cls,
        item: Int[np.ndarray, " labels"],
        label: Int[np.ndarray, " labels"],
        weight: Float[np.ndarray, " labels"] | None,
        n_items: int,
        otherwise: float,
    ) -> EqualSpread:
        """Compute the means; that of items without labels is `otherwise`."""
        weight = np.ones(len(item)) if weight is None else weight
        number, total = (np.bincount(item, each, n_items).astype(float) for each in (weight, weight * label))
        return cls(np.divide(total, number, out=np.full(n_items, otherwise), where=number > 0), number)

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


@dataclass(frozen=True)
class RatingSums(Additive):
    """Sums over labels and items that tell where the levels are, and whether raters differ.

    n_labels : of each rater, of each level.
    weights : of the labels of each level.
    squares : of the distances of labels from the mean of their item, weighted.
    freedom : weight of the labels beyond one of each item.
    n_several : items with several labels.
    """

    n_labels: Int[np.ndarray, "raters levels"]
    weights: Float[np.ndarray, " levels"]
    squares: float
    freedom: float
    n_several: int

    @classmethod
    def of(cls, labels: Labels, weight: Float[np.ndarray, " labels"] | None) -> RatingSums:
        """Sum over labels, of which each counts by its weight, by default 1."""
        weight = np.ones(labels.n_rows) if weight is None else weight
        means = EqualSpread.of(labels.item, labels.label, weight, len(labels), 0.0)
        return cls(
            count_labels(labels),
            np.bincount(labels.label, weight, labels.n_classes).astype(float),
            float(weight @ (labels.label - means.mean[labels.item]) ** 2),
            float(means.number.sum() - np.count_nonzero(means.number)),
            int((np.diff(labels.indptr) > 1).sum()),
        )

    @property
    def grid(self) -> ValueGrid:
        """Cells of the levels, around the mean label."""
        levels = np.arange(len(self.weights))
        return ValueGrid.of(len(levels), float(np.average(levels, weights=self.weights)))

    @property
    def spread(self) -> float:
        """Standard deviation of the labels."""
        distance = np.arange(len(self.weights)) - self.grid.origin
        return float(np.sqrt(np.average(distance**2, weights=self.weights)))

    @property
    def shares(self) -> Float[np.ndarray, " levels"]:
        """r: of the labels, of each level, with one more of each."""
        sizes = self.n_labels.sum(0) + 1.0
        return sizes / sizes.sum()

    @property
    def noise(self) -> float:
        """s, levels."""
        squares = self.squares + 2 * (TYPICAL_NOISE * self.grid.unit) ** 2
        return float(np.sqrt(squares / (max(self.freedom, 0.0) + 2)))


def reason_for_equal_spread(state: RatingsState, sums: RatingSums, levels: pd.Index) -> str:
    """Say why raters of their own are not to be trusted; empty if they are."""
    if len(levels) < 3:
        return "there are fewer than three levels"
    shares = sums.n_labels.sum(0) / sums.n_labels.sum()
    if shares.max() >= LARGEST_LEVEL:
        return f"{shares.max():.0%} of the labels are {levels[int(shares.argmax())]}, and the rest tells too little"
    noise = float(np.average(state.raters.noise, weights=sums.n_labels.sum(1)))
    if noise >= LARGEST_NOISE * state.spread:
        if not sums.n_several:
            return "no item has two labels, so that nothing tells how far labels of one item differ"
        return (
            f"labels of one item differ about as much as items do: the noise of a label is {noise:.2g} levels, the "
            f"spread of the items {state.spread:.2g}"
        )
    return ""
