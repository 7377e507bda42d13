"""How large a difference two studies of this size would have shown: simulated from the people themselves.

The people of both studies are exchanged at random, so that the two differ by chance alone. Then some items change
places with items of other clusters in one study: whatever is said about the one is taken as said about the other. The
share of such simulations that the test would find, at its critical value under permutations, is its power.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.analysis.studies.permutation import LEVEL, InFirst, Permutations, share_reaching
from consilience.analysis.studies.togetherness import Togetherness, square

N_SIMULATIONS = 100
POWER = 0.8  # share of the simulations in which a difference must be found
SIZES = np.array([2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512])  # items that change places

Matrix = Float[np.ndarray, "items items"]


def power_table(
    table: Togetherness,
    in_first: InFirst,
    measured: Permutations,
    clusters: Int[np.ndarray, " items"],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return how often a difference would be found, by the number of items that changed places.

    table, in_first, measured : as for `moved_items`.
    clusters : of the items, by all people.

    Returns DataFrame, indexed by n_items: `found`, the share of the simulations; without rows if there is one cluster.
    """
    sizes = SIZES[2 * len(_swaps(clusters, np.random.default_rng(0))) >= SIZES]  # any draw makes as many
    splits = 1 + np.arange(min(N_SIMULATIONS, measured.n_permutations))
    found = np.zeros((len(splits), len(sizes)))
    for row, split in enumerate(splits.tolist()):
        studies = _matrices(table, in_first[[split]])
        swaps = _swaps(clusters, rng)
        for column, size in enumerate(sizes.tolist()):
            found[row, column] = _is_found(_swap_items(studies, swaps[: size // 2]), measured)
    return pd.DataFrame({"found": found.mean(0)}, index=pd.Index(sizes, name="n_items"))


def _swaps(clusters: Int[np.ndarray, " items"], rng: np.random.Generator) -> Int[np.ndarray, "swaps two"]:
    """Pair items of different clusters at random."""
    half = len(clusters) // 2
    # cluster after cluster, so that most items half the list apart are of different clusters
    order = np.lexsort((rng.random(len(clusters)), rng.permutation(clusters.max() + 1)[clusters]))
    pairs = np.stack([order[:half], order[half : 2 * half]], axis=1)
    pairs = pairs[clusters[pairs[:, 0]] != clusters[pairs[:, 1]]]
    return pairs[rng.permutation(len(pairs))]


def _matrices(table: Togetherness, in_first: InFirst) -> tuple[Matrix, ...]:
    """Return sums and occasions of both studies as matrices."""
    everything = np.arange(table.n_pairs)
    sums = (*table.sums(in_first, everything), *table.sums(1 - in_first, everything))
    return tuple(square(values[0], table.n_items, 0.0) for values in sums)


def _swap_items(studies: tuple[Matrix, ...], swaps: Int[np.ndarray, "swaps two"]) -> tuple[Matrix, ...]:
    """Exchange items in the second study."""
    place = np.arange(len(studies[0]))
    place[swaps[:, 0]], place[swaps[:, 1]] = swaps[:, 1], swaps[:, 0]
    return (*studies[:2], *(matrix[np.ix_(place, place)] for matrix in studies[2:]))


def _is_found(studies: tuple[Matrix, ...], measured: Permutations) -> bool:
    s_1, o_1, s_2, o_2 = studies
    seen = (o_1 > 0) & (o_2 > 0)
    difference = np.divide(s_1, o_1, out=np.zeros_like(s_1), where=seen)
    difference -= np.divide(s_2, o_2, out=np.zeros_like(s_1), where=seen)
    t = (difference**2 * np.divide(o_1 * o_2, o_1 + o_2, out=np.zeros_like(s_1), where=seen)).sum(1)
    mean, spread = measured.by_item.mean(0), measured.by_item.std(0)
    z = np.divide(t - mean, spread, out=np.zeros_like(t), where=spread > 0)
    values = (t.sum(), z.max())
    p = min(
        float(share_reaching(null, np.array([value]))[0]) for null, value in zip(measured.measures, values, strict=True)
    )
    return bool((measured.smallest_p[1:] <= p).mean() <= LEVEL)
