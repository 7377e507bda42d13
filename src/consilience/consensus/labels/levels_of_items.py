"""From the latent value of each item to its place on the scale, the probability of each level, and an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from consilience.consensus.labels.ordinal_ratings import ValueGrid

TAIL = 0.05  # of intervals, on either side
STEPS = 20  # for each level, between which the ends of intervals are interpolated


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
        ends = np.column_stack([_where_reached(share, below, at) for share in (TAIL, 1 - TAIL)]).clip(0, last)
        return cls(q @ grid.values.clip(0, last), np.diff(levels, axis=1), ends)


def _where_reached(
    share: float, below: Float[np.ndarray, "items places"], at: Float[np.ndarray, " places"]
) -> Float[np.ndarray, " items"]:
    """Return where a probability that rises reaches a share, between places; at an end if it is beyond."""
    rows, after = np.arange(len(below)), (below < share).sum(1).clip(1, len(at) - 1)
    low, high = below[rows, after - 1], below[rows, after]
    part = np.divide(share - low, high - low, out=np.ones(len(low)), where=high > low).clip(0, 1)
    return np.asarray(at[after - 1] + part * (at[after] - at[after - 1]))
