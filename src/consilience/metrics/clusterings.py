"""How well one clustering agrees with another, and how well same/different judgements are predicted.

Clusterings are two one-dimensional arrays of cluster names, one entry per item; only which items share a name matters,
not the names themselves, and the two clusterings may have different numbers of clusters. Two pandas Series are matched
by their indexes, or refused if these differ in more than their order; arrays, lists and Series whose index is 0 … n - 1
are matched by position. A Series whose index names items is refused together with an array, such as the ``labels_`` of
a model, since their orders may differ; use the model's ``labels_series_``. Measures that scikit-learn has are computed
by scikit-learn; the others use the contingency table of the two clusterings, never all pairs of items.

References
----------
Vinh, Epps & Bailey (2010). Information theoretic measures for clusterings comparison. JMLR 11: NMI, AMI.
Hubert & Arabie (1985). Comparing partitions. Journal of Classification 2: the Rand index adjusted for chance.
Rosenberg & Hirschberg (2007). V-measure. EMNLP-CoNLL.
Yang, Xu, Nie, Yan & Zhuang (2010). Image clustering using local discriminant models and global integration.
IEEE Transactions on Image Processing 19(10): clustering accuracy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
    v_measure_score,
)
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from consilience.annotations.alignment import clusterings_in_order, in_order_of
from consilience.annotations.types import ArrayLike
from consilience.errors import InputError

__all__ = ["PairScores", "ami", "ari", "clustering_accuracy", "nmi", "pairwise_f", "same_log_loss", "v_measure"]


class PairScores(NamedTuple):
    """Precision, recall and their harmonic mean over the pairs of items that share a cluster."""

    precision: float
    recall: float
    f: float


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the mutual information of two clusterings over the arithmetic mean of their entropies.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Cluster names of any kind: numbers, strings, mixed objects.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same clustering); 1 if both have a single cluster. Symmetric.

    Raises
    ------
    InputError
        If an array is empty, not one-dimensional or has a missing label; if the two differ in length; if one is a
        Series whose index names items and the other has no index.

    See Also
    --------
    ami : Corrected for the chance agreement of many small clusters.

    Notes
    -----
    The mean is arithmetic (scikit-learn's default; equal to the V-measure with `beta=1`). Papers that divide by the
    geometric mean report slightly larger values wherever the two entropies differ.

    Examples
    --------
    >>> from consilience.metrics import nmi
    >>> nmi(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.8
    """
    return float(normalized_mutual_info_score(*_codes(labels_true, labels_pred), average_method="arithmetic"))


def ami(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the mutual information of two clusterings, adjusted for chance (arithmetic mean of entropies).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Cluster names of any kind.

    Returns
    -------
    float
        1 for the same clustering, 0 on average for random ones with these cluster sizes, possibly below. Symmetric.

    Raises
    ------
    InputError
        As in `nmi`.

    Examples
    --------
    >>> from consilience.metrics import ami
    >>> ami([0, 0, 1, 1], ["x", "x", "y", "y"])
    1.0
    >>> ami([0, 0, 0, 0], [0, 1, 2, 3])
    0.0
    """
    true, pred = _codes(labels_true, labels_pred)  # numbered by appearance
    if np.array_equal(true, pred):
        return 1.0  # if each item is its own cluster, this is 0 / 0, of which scikit-learn 1.6 makes 0
    return float(adjusted_mutual_info_score(true, pred, average_method="arithmetic"))


def ari(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of pairs that two clusterings treat alike, adjusted for chance (adjusted Rand index).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Cluster names of any kind.

    Returns
    -------
    float
        1 for the same clustering, 0 on average for random ones with these cluster sizes, never below -0.5. Symmetric.

    Raises
    ------
    InputError
        As in `nmi`.

    Examples
    --------
    >>> from consilience.metrics import ari
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> ari([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5

    A Series indexed by item, in any order, and the clusters of a model:

    >>> import pandas as pd
    >>> from consilience import Groupings
    >>> from consilience.consensus import CSPA
    >>> sorts = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]], [["ant", "bee"], ["cow"], ["pig"]]])
    >>> kind = pd.Series({"cow": "mammal", "ant": "insect", "bee": "insect", "pig": "mammal"})
    >>> ari(kind, CSPA(n_clusters=2, random_state=0).fit(sorts).labels_series_)
    1.0
    """
    return float(adjusted_rand_score(*_codes(labels_true, labels_pred)))


def v_measure(labels_true: ArrayLike, labels_pred: ArrayLike, *, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of homogeneity and completeness.

    Homogeneity: each cluster holds only one class. Completeness: each class lies in only one cluster.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Class and cluster names of any kind.
    beta : float, default=1.0
        Weight of completeness relative to homogeneity; at 1 the measure is symmetric and equal to `nmi`.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    InputError
        As in `nmi`; if `beta` is not positive.

    Examples
    --------
    >>> from consilience.metrics import v_measure
    >>> round(v_measure([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.8
    """
    if not 0 < beta < np.inf:
        raise InputError(f"The 'beta' parameter of v_measure must be a positive number. Got {beta!r} instead.")
    return float(v_measure_score(*_codes(labels_true, labels_pred), beta=beta))


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of items in the right cluster under the best one-to-one matching of clusters and classes.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Class and cluster names of any kind. Their numbers may differ: classes or clusters without a partner in the best
        matching (Hungarian algorithm) count as wrong.

    Returns
    -------
    float
        Above 0, at most 1. Symmetric.

    Raises
    ------
    InputError
        As in `nmi`.

    Notes
    -----
    The table of n_classes x n_clusters counts is dense, as `scipy.optimize.linear_sum_assignment` requires.

    Examples
    --------
    Two of the three clusters are matched, the third has no partner:

    >>> from consilience.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [0, 0, 1, 2])
    0.75
    """
    counts = contingency_matrix(*_codes(labels_true, labels_pred))
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def pairwise_f(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairScores:
    """Return precision, recall and F of the pairs of items that `labels_pred` puts together.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_items,)
        Class and cluster names of any kind.

    Returns
    -------
    PairScores
        Named tuple `(precision, recall, f)`. Precision: share of the pairs together in `labels_pred` that are
        together in `labels_true`. Recall: share of the pairs together in `labels_true` that are together in
        `labels_pred`. A share of no pairs at all is 1: without claims, none is wrong. Swapping the
        arguments swaps precision and recall.

    Raises
    ------
    InputError
        As in `nmi`.

    Examples
    --------
    Of the two pairs within a class, the clusters keep one together, and put no other pair together:

    >>> from consilience.metrics import pairwise_f
    >>> precision, recall, f = pairwise_f([0, 0, 1, 1], [0, 0, 1, 2])
    >>> precision, recall, round(f, 3)
    (1.0, 0.5, 0.667)
    """
    (_, only_pred), (only_true, both) = pair_confusion_matrix(*_codes(labels_true, labels_pred)).tolist()
    return PairScores(
        precision=_share(both, both + only_pred),
        recall=_share(both, both + only_true),
        f=_share(2 * both, 2 * both + only_pred + only_true),
    )


def same_log_loss(same: ArrayLike, probability: ArrayLike, *, clip: float = float(np.finfo(float).eps)) -> float:
    """Return the mean negative log probability of same/different judgements, in nats.

    Parameters
    ----------
    same : array-like of shape (n_pairs,), bool or 0/1
        The judgements: True if the two items were judged the same.
    probability : array-like of shape (n_pairs,)
        A model's probability of "same" for each pair, as from its `predict_same`.
    clip : float, default=2.2e-16
        Probabilities are clipped to [clip, 1 - clip], so that the loss of a model that was certain and wrong is
        -ln(clip) (36 nats by default, scikit-learn's choice) instead of infinity. In (0, 0.5).

    Returns
    -------
    float
        At least 0 (up to the clipping); ln 2 = 0.693 for a model that always predicts one half.

    Raises
    ------
    InputError
        If an array is empty, not one-dimensional or has a missing value, the two differ in length, a judgement is
        neither True nor False, a probability lies outside [0, 1], or `clip` outside (0, 0.5).

    Examples
    --------
    >>> from consilience.metrics import same_log_loss
    >>> round(same_log_loss([True, False], [0.5, 0.5]), 3)
    0.693
    >>> round(same_log_loss([True, False, True], [0.9, 0.2, 0.6]), 3)
    0.28
    """
    if not 0 < clip < 0.5:
        raise InputError(f"The 'clip' parameter of same_log_loss must lie between 0 and 0.5. Got {clip!r} instead.")
    same, probability = in_order_of(same, probability, "same", "probability")
    judged, p = _one_dimensional(same, "same"), _one_dimensional(probability, "probability")
    _require_same_length(judged, p, "same", "probability")
    _require(np.isin(judged, [0, 1]), judged, "Every entry of 'same' must be True or False.")
    p = _numbers(p, "probability")
    _require((p >= 0) & (p <= 1), p, "Every entry of 'probability' must lie between 0 and 1.")
    judged, p = judged.astype(float), np.clip(p, clip, 1 - clip)
    return float(-np.mean(xlogy(judged, p) + xlogy(1 - judged, 1 - p)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _codes(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return integer codes (n_items,) of both clusterings."""
    labels_true, labels_pred = clusterings_in_order(labels_true, labels_pred, "labels_true", "labels_pred")
    true, pred = _one_dimensional(labels_true, "labels_true"), _one_dimensional(labels_pred, "labels_pred")
    _require_same_length(true, pred, "labels_true", "labels_pred")
    return _factorize(true, "labels_true"), _factorize(pred, "labels_pred")


def _factorize(labels: np.ndarray, name: str) -> np.ndarray:
    try:
        return pd.factorize(labels)[0]
    except TypeError as error:
        raise InputError(f"'{name}' must be one-dimensional and hold hashable names: {error}.") from error


def _one_dimensional(values: Any, name: str) -> np.ndarray:
    """Return `values` as an (n,) array without missing entries; names of different types stay distinct."""
    array = np.asarray(pd.Series(values, dtype=object)) if isinstance(values, list | tuple) else np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"'{name}' must be one-dimensional. Got an array of shape {array.shape} instead.")
    if len(array) == 0:
        raise InputError(f"'{name}' must have at least one entry. Got an empty array instead.")
    _require(~pd.isna(array), array, f"'{name}' must have no missing values.")
    return array


def _numbers(array: np.ndarray, name: str) -> np.ndarray:
    try:
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise InputError(f"'{name}' must hold numbers: {error}.") from error


def _require_same_length(a: np.ndarray, b: np.ndarray, name_a: str, name_b: str) -> None:
    if len(a) != len(b):
        raise InputError(
            f"'{name_a}' and '{name_b}' must have the same length. "
            f"Got {len(a)} entries in '{name_a}' and {len(b)} in '{name_b}'."
        )


def _require(fine: np.ndarray, array: np.ndarray, requirement: str) -> None:
    if not fine.all():
        position = int(np.argmin(fine))
        raise InputError(f"{requirement} Got {array.tolist()[position]!r} at position {position}.")
