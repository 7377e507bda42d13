"""From the latent value of each item to its place on the scale, the probability of each level, and an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from consilience.consensus.labels.ordinal_ratings import ValueGrid

TAIL = 0.05  # of intervals, on either side
STEPS = 20  # for each level, at which the ends of intervals are sought


@dataclass(frozen=True)
class LevelsOfItems:
    """What is told of each item, places counting levels from 0.

    place : expected value, within the scale.
    told : probability of each level.
    ends : of an interval.
    """

    place: Float[np.ndarray, " items"]
    told: Float[np.ndarray, "items levels"]
    ends: Float[np.ndarray, "items 2"]

    @classmethod
    def of(
        cls, q: Float[np.ndarray, "items cells"], grid: ValueGrid, shared: Float[np.ndarray, " cells"]
    ) -> LevelsOfItems:
        """Read them off posteriors over cells, with noise that is shared by all raters."""
        last = grid.n_levels - 1
        at = np.linspace(-0.5, last + 0.5, grid.n_levels * STEPS + 1)
        below = q @ ndtr((at - grid.values[:, None]) / shared[:, None])
        levels = np.hstack([np.zeros((len(q), 1)), below[:, STEPS:-STEPS:STEPS], np.ones((len(q), 1))])
        places = [(below < share).sum(1).clip(max=len(at) - 1) for share in (TAIL, 1 - TAIL)]
        ends = at[np.column_stack(places)].clip(0, last)
        return cls(q @ grid.values.clip(0, last), np.diff(levels, axis=1), ends)
