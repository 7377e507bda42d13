"""How often people put the items of a cluster together, and clusters that are what is left over.

A model of groupings puts every item into some cluster. Items that have nothing in common, but that nobody puts with
others either, end up in one: each fits there as badly as elsewhere. Such a cluster shows in how often two of its items
were put together,

    t = Σ together / Σ presented,    over the pairs of its items,

against c, the same over all pairs of items. A cluster is called left over if t goes less than a tenth of the way from c
to 1: (t - c) / (1 - c) < 0.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.dissimilarity import ClusterShares
from consilience.annotations.fit_arguments import as_groupings
from consilience.errors import InputError
from consilience.inference.memberships import Memberships

LEFT_OVER = 0.1  # of the way from chance to always together


def cluster_cohesion(groupings: Any, clusters: Any) -> pd.DataFrame:
    """Return how often the items of each cluster were put together, and whether the cluster is what is left over.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
    clusters : array of int, shape (n_items,)
        Cluster of each item, -1 for none, such as ``labels_``.

    Returns
    -------
    DataFrame, indexed by cluster
        ``n_items``; ``together``, the share of the times that two items of the cluster were presented at which they
        were put together, NaN if they never were; ``chance``, that share over all pairs of items; ``left_over``,
        whether the first goes less than a tenth of the way from the second to 1.

    Raises
    ------
    InputError
        The clusters are not one int for each item.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.inspection import cluster_cohesion
    >>> sorts = [["a", "a", "a", "b", "b", "b", "c", "a"], ["x", "x", "x", "y", "y", "y", "y", "z"]]
    >>> cluster_cohesion(np.transpose(sorts), [0, 0, 0, 1, 1, 1, 2, 2])["left_over"].tolist()
    [False, False, True]
    """
    given = as_groupings(groupings, None, "cluster_cohesion")
    found = np.asarray(clusters)
    if found.shape != (given.n_items,) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            f"The 'clusters' parameter of cluster_cohesion must be an array of {given.n_items} ints, one for each "
            f"item. Got {found.dtype} of shape {found.shape} instead."
        )
    return cohesion(Memberships.of(given), found)


def cohesion(memberships: Memberships, cluster: Int[np.ndarray, " items"]) -> pd.DataFrame:
    """Return the table of `cluster_cohesion`."""
    n_clusters = int(cluster.max(initial=-1)) + 1
    within = ClusterShares.of(memberships, cluster, n_clusters)
    seen, counted = np.diag(within.presented), np.diag(within.together)
    share = np.divide(counted, seen, out=np.full(n_clusters, np.nan), where=seen > 0)
    groups, groupings = memberships.group_sizes.astype(float), memberships.grouping_sizes.astype(float)
    chance = float((groups**2 - groups).sum() / max((groupings**2 - groupings).sum(), 1.0))
    return pd.DataFrame(
        {
            "n_items": np.bincount(cluster[cluster >= 0], minlength=n_clusters),
            "together": share,
            "chance": chance,
            "left_over": (share - chance) < LEFT_OVER * (1 - chance),
        },
        index=pd.RangeIndex(n_clusters, name="cluster"),
    )
