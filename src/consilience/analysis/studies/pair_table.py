"""Pairs of items, how often they were together in each of two studies, and how far that changed.

The interval of a difference of two shares is Newcombe's hybrid score interval, from the Wilson intervals of both: it
keeps its coverage for shares near 0 and 1 and for few people, where that of the bootstrap has no width. People who saw
a pair several times count once.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.analysis.studies.permutation import Differences, Permutations
from consilience.analysis.studies.togetherness import Togetherness, ends

Z = 1.959963984540054  # 95 %

Shares = Float[np.ndarray, " pairs"]
Counts = Int[np.ndarray, " pairs"]


def pair_table(
    table: Togetherness, items: pd.Index, first: Bool[np.ndarray, " people"], measured: Permutations
) -> pd.DataFrame:
    """Return the column of pairs of `StudyDifference`; the clearest changes come first."""
    low, high = ends(table.n_items)
    places, in_first = np.arange(table.n_pairs), first[None].astype(float)
    found = Differences.of(table, in_first, places)
    seen = found.weight[0] > 0
    shares = [np.where(seen, share[0], np.nan) for share in (found.first, found.second)]
    counts = [table.n_people_of(weights, places) for weights in (first, ~first)]
    lower, upper = difference_interval(shares[1], counts[1], shares[0], counts[0])
    frame = pd.DataFrame(
        {
            "item_a": items.take(low),
            "item_b": items.take(high),
            "first": shares[0],
            "second": shares[1],
            "n_first": counts[0],
            "n_second": counts[1],
            "difference": shares[1] - shares[0],
            "low": lower,
            "high": upper,
            "p_value": np.where(seen, measured.p_of_pairs, np.nan),
        }
    )
    # pairs that nobody saw come last
    return frame.iloc[np.argsort(np.where(seen, -measured.z2, np.inf), kind="stable")].reset_index(drop=True)


def difference_interval(one: Shares, n_one: Counts, other: Shares, n_other: Counts) -> tuple[Shares, Shares]:
    """Return the 95 % interval of the difference of two shares.

    Examples
    --------
    >>> low, high = difference_interval(np.array([56 / 70]), np.array([70]), np.array([48 / 80]), np.array([80]))
    >>> low.round(4), high.round(4)  # Newcombe's example: 0.0524 to 0.3339
    (array([0.0524]), array([0.3339]))
    """
    difference = one - other
    low_one, high_one = wilson(one, n_one)
    low_other, high_other = wilson(other, n_other)
    low = difference - np.sqrt((one - low_one) ** 2 + (high_other - other) ** 2)
    high = difference + np.sqrt((high_one - one) ** 2 + (other - low_other) ** 2)
    return low, high


def wilson(share: Shares, n: Counts) -> tuple[Shares, Shares]:
    """Return the 95 % Wilson score interval of a share of n people."""
    n = np.maximum(n, 1)
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return centre - half, centre + half
