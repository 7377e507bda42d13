"""How many axes of the map of the items show more than random sorts would: parallel analysis.

An axis of the map is an eigenvector of the doubly centred squared dissimilarities, and its eigenvalue the variance that
it shows. Some is shown even if people sort at random. So the eigenvalues are compared with those of random sorts, in
which each grouping keeps its items and the sizes of its groups, but its items change places. An axis counts if its
eigenvalue is larger than that of the same rank in all but 5 % of random sorts, and all axes before it count
(J. L. Horn 1965, Psychometrika 30; A. Buja & N. Eyuboglu 1992, Multivariate Behavioral Research 27).

An axis that counts need not be a property of the items: a single property, cut into groups, bends into a horseshoe that
takes two axes or more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.analysis.dissimilarity import inner_products
from consilience.analysis.rv import SortTable
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.types import Integer, RandomSource
from consilience.consensus.groupings.evidence_silhouette import PRIOR_PRESENTATIONS
from consilience.errors import InputError
from consilience.inference.randomness import spawn_generator
from consilience.inference.threads import one_blas_thread

LEVEL = 0.05
MOST_AXES = 10
FEWEST_ITEMS = 4
FEWEST_PERMUTATIONS = 19
MOST_CELLS = 5_000_000  # groupings × items²


def map_axes(groupings: Any, *, n_permutations: Integer = 199, random_state: RandomSource = None) -> pd.DataFrame:
    """Compare the axes of the map of the items with those of random sorts.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        At least 4 items.
    n_permutations : int, default=199
        Number of random sorts; at least 19.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    DataFrame, one row for each axis, at most 10
        ``share`` of the variance; ``times_chance``, its variance as a multiple of the mean of random sorts;
        ``p_value``, the share of random sorts in which it is as large; ``real``, whether it and all axes before it are
        larger than in random sorts (p ≤ 0.05).

    Raises
    ------
    InputError
        There are too few items, or too many, or too few permutations.

    References
    ----------
    Horn (1965). A rationale and test for the number of factors in factor analysis. Psychometrika 30.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.inspection import map_axes
    >>> rng = np.random.default_rng(0)
    >>> sorts = [np.where(rng.random(12) < 0.2, rng.integers(3, size=12), np.arange(12) % 3) for _ in range(20)]
    >>> map_axes(np.transpose(sorts), random_state=0)["real"].tolist()[:4]
    [True, True, False, False]
    """
    given = as_groupings(groupings, None, "map_axes")
    if given.n_items < FEWEST_ITEMS or given.n_items**2 * given.n_groupings > MOST_CELLS:
        raise InputError(
            f"map_axes needs at least {FEWEST_ITEMS} items, and at most {MOST_CELLS:,} groupings × items². Got "
            f"{given.n_items} items and {given.n_groupings} groupings."
        )
    whole = isinstance(n_permutations, int | np.integer) and not isinstance(n_permutations, bool)
    if not whole or n_permutations < FEWEST_PERMUTATIONS:
        raise InputError(
            f"The 'n_permutations' parameter of map_axes must be an int of at least {FEWEST_PERMUTATIONS}. Got "
            f"{n_permutations!r} instead."
        )
    rng = spawn_generator(random_state)
    group = SortTable.of(given).group
    with one_blas_thread():
        found = variances(group)
        drawn = np.array([variances(change_places(group, rng.random(group.shape))) for _ in range(int(n_permutations))])
    n_axes = min(MOST_AXES, given.n_items - 1)
    return compare_variances(found, drawn, n_axes)


def compare_variances(
    found: Float[np.ndarray, " items"], drawn: Float[np.ndarray, "draws items"], n_axes: int
) -> pd.DataFrame:
    """Compare the variances along the first axes with those of random draws; see `map_axes`."""
    as_large = (drawn[:, :n_axes] >= found[:n_axes] * (1 - 1e-9)).sum(0)  # equal but for rounding counts
    p_value = (1 + as_large) / (1 + len(drawn))
    mean = drawn[:, :n_axes].mean(0)
    return pd.DataFrame(
        {
            "share": found[:n_axes] / max(found.sum(), np.finfo(float).tiny),
            "times_chance": np.divide(found[:n_axes], mean, out=np.full(n_axes, np.nan), where=mean > 0),
            "p_value": p_value,
            "real": np.logical_and.accumulate(p_value <= LEVEL),
        },
        index=pd.RangeIndex(1, n_axes + 1, name="axis"),
    )


def variances(group: Int[np.ndarray, "sorts items"]) -> Float[np.ndarray, " items"]:
    """Eigenvalues of the map, the largest first; negative ones are 0."""
    held = (group >= 0).astype(float)
    names = np.where(group >= 0, group + np.arange(len(group))[:, None] * (group.max(initial=0) + 1), -1)
    columns = np.unique(names[names >= 0])
    table = np.zeros((len(columns), group.shape[1]))
    rows, items = np.nonzero(group >= 0)
    table[np.searchsorted(columns, names[rows, items]), items] = 1.0
    counts, of = table.T @ table, held.T @ held
    off = ~np.eye(len(counts), dtype=bool)
    share = counts[off].sum() / max(of[off].sum(), 1.0)
    distance = 1 - (counts + PRIOR_PRESENTATIONS * share) / (of + PRIOR_PRESENTATIONS)
    np.fill_diagonal(distance, 0.0)
    return np.maximum(np.linalg.eigvalsh(inner_products(distance))[::-1], 0.0)


def change_places(
    group: Int[np.ndarray, "sorts items"], key: Float[np.ndarray, "sorts items"]
) -> Int[np.ndarray, "sorts items"]:
    """Let the items of each sort change places by keys in [0, 1), drawn at random; those not in it (-1) stay."""
    held = group >= 0
    key = np.where(held, key, 2.0)  # beyond every draw, so that those not in the sort come last
    moved = np.empty_like(group)
    np.put_along_axis(
        moved, np.argsort(key, axis=1), np.take_along_axis(group, np.argsort(~held, axis=1, kind="stable"), 1), 1
    )
    return moved
