"""What distinguishes the clusters: profiles of the features, association with outside scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, kruskal

from consilience.annotations.alignment import in_order_of, rows_of_items
from consilience.annotations.names import plain
from consilience.annotations.types import ArrayLike, FeaturesLike
from consilience.errors import InputError

__all__ = ["association", "cluster_profile"]


def cluster_profile(features: FeaturesLike, labels: ArrayLike) -> pd.DataFrame:
    """Return the size of every cluster, and the mean and standard deviation of every feature in it.

    Table 3 of Chen et al. (2018).

    Parameters
    ----------
    features : DataFrame, Series or array, shape (n_items, n_features) or (n_items,)
        Missing values are ignored.
    labels : array or Series, shape (n_items,)
        Cluster of each item. A Series is matched with features that have an index by name.

    Returns
    -------
    DataFrame, shape (n_clusters, 1 + 2 n_features)
        Indexed by cluster. Columns ``("items", "")``, then ``(feature, "mean")`` and ``(feature, "sd")`` (sample,
        NaN for one item).

    Raises
    ------
    InputError
        The items of both do not match, or a column holds something that is not a number.

    Examples
    --------
    >>> import pandas as pd
    >>> profile = cluster_profile(pd.DataFrame({"size": [1.0, 3.0, 8.0]}), [0, 0, 1])
    >>> profile["size", "mean"].tolist(), profile["items", ""].tolist()
    ([2.0, 8.0], [2, 1])
    """
    numbers, cluster = _match_rows(features, labels, "features")
    by_cluster = numbers.groupby(cluster)
    figures = by_cluster.agg(["mean", "std"]).rename(columns={"std": "sd"}, level=1)
    figures.insert(0, ("items", ""), by_cluster.size())
    return figures.rename_axis(index="cluster")


def association(scores: FeaturesLike, labels: ArrayLike) -> pd.DataFrame:
    """Test whether scores that the model did not see differ between clusters.

    Kruskal-Wallis one-way analysis of variance by ranks, as in Table 2 of Chen et al. (2018), together with the
    p-values adjusted for the number of scores (Benjamini-Hochberg false discovery rate).

    Parameters
    ----------
    scores : DataFrame, Series or array, shape (n_items, n_scores) or (n_items,)
        NaN where a score is missing: the item is left out of that test.
    labels : array or Series, shape (n_items,)
        Cluster of each item. A Series is matched with scores that have an index by name.

    Returns
    -------
    DataFrame, shape (n_scores, 4)
        Indexed by score: ``n_items`` used, ``statistic`` (H), ``p_value``, ``adjusted_p_value``. NaN if fewer than
        two clusters have the score, or all values are equal.

    Raises
    ------
    InputError
        The items of both do not match, or a column holds something that is not a number.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"risk": [1, 2, 3, 11, 12, 13]})
    >>> association(scores, [0, 0, 0, 1, 1, 1]).round(3)
          n_items  statistic  p_value  adjusted_p_value
    risk        6      3.857     0.05              0.05
    """
    numbers, cluster = _match_rows(scores, labels, "scores")
    rows = [_kruskal(column, cluster) for column in numbers.to_numpy(dtype=float).T]
    table = pd.DataFrame(rows, index=numbers.columns, columns=["n_items", "statistic", "p_value"])
    table["adjusted_p_value"] = np.nan
    tested = table["p_value"].notna().to_numpy()
    if tested.any():
        table.loc[tested, "adjusted_p_value"] = false_discovery_control(table.loc[tested, "p_value"])
    return table


def _match_rows(values: Any, labels: Any, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns of numbers, and the cluster of each row."""
    values, labels = in_order_of(values, labels, name, "labels")
    cluster = np.asarray(labels)
    items = values.index if isinstance(values, pd.DataFrame | pd.Series) else pd.RangeIndex(len(cluster))
    table = rows_of_items(values, items, f"'{name}'")
    if cluster.shape != (len(table),):
        raise InputError(
            f"'labels' must have one cluster for each of {len(table)} rows of '{name}'. Got shape {cluster.shape}."
        )
    return table.apply(_numbers, name=name), cluster


def _numbers(column: pd.Series, name: str) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    wrong = (numbers.isna() & column.notna()).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"'{name}' must hold numbers. Got {plain(column.iloc[row])!r} in column {column.name!r}, row "
            f"{plain(column.index[row])!r}."
        )
    return numbers


def _kruskal(score: np.ndarray, labels: np.ndarray) -> tuple[int, float, float]:
    known = np.isfinite(score)
    samples = [score[known & (labels == cluster)] for cluster in np.unique(labels[known])]
    if len(samples) < 2 or np.ptp(score[known]) == 0:  # of equal scores, the statistic is 0 / 0
        return int(known.sum()), np.nan, np.nan
    statistic, p_value = kruskal(*samples)
    return int(known.sum()), float(statistic), float(p_value)
