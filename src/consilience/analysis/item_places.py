"""Where single people put each item: with its cluster, alone, or elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings


def count_places(groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int) -> pd.DataFrame:
    """Count in how many groupings each item is with its cluster, alone, or with another cluster.

    It is with its cluster if at least half of the others that were sorted are in its group, and else with the cluster
    of most others in its group.

    Returns
    -------
    DataFrame, indexed by the items
        `n_sorted`, `n_with_cluster`, `n_alone`; `next`, the other cluster with which it is most often, -1 for none, and
        `n_with_next`.

    Examples
    --------
    >>> sorts = Groupings.from_matrix([["a", "a"], ["a", "a"], ["b", "a"], ["b", "b"], ["b", "b"]], items=list("pqrst"))
    >>> count_places(sorts, np.array([0, 0, 1, 1, 1]), 2).loc["r"].tolist()
    [2, 1, 0, 0, 1]
    """
    member = csr_array(codes[:, None] == np.arange(n_clusters), dtype=np.int64)
    held = (csr_array(groupings.incidence.astype(np.int64).T) @ member).toarray()
    there = np.zeros((groupings.n_groupings, n_clusters), dtype=np.int64)
    np.add.at(there, groupings.grouping_of_group, held)
    item, group = groupings.incidence.tocoo().coords
    item, group = item[codes[item] >= 0], group[codes[item] >= 0]
    row, own = np.arange(len(item)), codes[item]
    others = held[group]
    others[row, own] -= 1
    n_own, n_wanted = others[row, own], there[groupings.grouping_of_group[group], own] - 1
    alone = others.sum(1) == 0
    is_with = ~alone & (n_own > 0) & (2 * n_own >= n_wanted)
    others[row, own] = 0
    away = ~alone & ~is_with & others.any(1)
    places = np.zeros((groupings.n_items, n_clusters), dtype=int)
    np.add.at(places, (item[away], others[away].argmax(1)), 1)
    most = places.max(1, initial=0)
    counts = (np.bincount(item[mask], minlength=groupings.n_items) for mask in (slice(None), is_with, alone))
    n_sorted, n_with, n_alone = counts
    return pd.DataFrame(
        {
            "n_sorted": n_sorted,
            "n_with_cluster": n_with,
            "n_alone": n_alone,
            "next": np.where(most > 0, places.argmax(1), -1),
            "n_with_next": most,
        },
        index=groupings.items,
    )
