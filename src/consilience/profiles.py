"""What distinguishes the clusters: profiles of the features, association with outside scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, kruskal

__all__ = ["association", "cluster_profile"]


def cluster_profile(features: pd.DataFrame, labels: Sequence[int] | np.ndarray) -> pd.DataFrame:
    """Size of every cluster, and mean and standard deviation of every feature in it.

    Table 3 of Chen et al. (2018).

    Parameters
    ----------
    features : DataFrame, shape (n_items, n_features)
        Missing values are left out of the figures.
    labels : array, shape (n_items,)
        Cluster of each item.

    Returns
    -------
    DataFrame, shape (n_clusters, 1 + 2 n_features)
        Indexed by cluster. Columns ``("items", "")``, then ``(feature, "mean")`` and ``(feature, "sd")`` (of a sample,
        NaN for one item).

    Examples
    --------
    >>> import pandas as pd
    >>> profile = cluster_profile(pd.DataFrame({"size": [1.0, 3.0, 8.0]}), [0, 0, 1])
    >>> profile["size", "mean"].tolist(), profile["items", ""].tolist()
    ([2.0, 8.0], [2, 1])
    """
    by_cluster = features.groupby(np.asarray(labels))
    figures = by_cluster.agg(["mean", "std"]).rename(columns={"std": "sd"}, level=1)
    figures.insert(0, ("items", ""), by_cluster.size())
    return figures.rename_axis(index="cluster")


def association(scores: pd.DataFrame, labels: Sequence[int] | np.ndarray) -> pd.DataFrame:
    """Whether scores that the model did not see differ between clusters.

    Kruskal-Wallis one-way analysis of variance by ranks, as in Table 2 of Chen et al. (2018), and beside it the
    p-values adjusted for the number of scores (Benjamini-Hochberg false discovery rate).

    Parameters
    ----------
    scores : DataFrame, shape (n_items, n_scores)
        NaN where a score is missing: that item is left out of that test.
    labels : array, shape (n_items,)
        Cluster of each item.

    Returns
    -------
    DataFrame, shape (n_scores, 4)
        Indexed by score: ``n_items`` used, ``statistic`` (H), ``p_value``, ``adjusted_p_value``. NaN where fewer than
        two clusters have the score, or all values are equal.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"risk": [1, 2, 3, 11, 12, 13]})
    >>> association(scores, [0, 0, 0, 1, 1, 1]).round(3)
          n_items  statistic  p_value  adjusted_p_value
    risk        6      3.857     0.05              0.05
    """
    labels = np.asarray(labels)
    rows = [_kruskal(scores[name].to_numpy(dtype=float), labels) for name in scores]
    table = pd.DataFrame(rows, index=scores.columns, columns=["n_items", "statistic", "p_value"])
    table["adjusted_p_value"] = np.nan
    tested = table["p_value"].notna().to_numpy()
    if tested.any():
        table.loc[tested, "adjusted_p_value"] = false_discovery_control(table.loc[tested, "p_value"])
    return table


def _kruskal(score: np.ndarray, labels: np.ndarray) -> tuple[int, float, float]:
    known = np.isfinite(score)
    samples = [score[known & (labels == cluster)] for cluster in np.unique(labels[known])]
    if len(samples) < 2 or np.ptp(score[known]) == 0:
        return int(known.sum()), np.nan, np.nan
    statistic, p_value = kruskal(*samples)
    return int(known.sum()), float(statistic), float(p_value)
