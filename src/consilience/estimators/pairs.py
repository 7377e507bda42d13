"""Base class of clusterings by features and judgements of pairs: `MPCKMeans`, `ITMLClustering`, `SemiCrowd`.

`PairwiseClustering` reads judgements and features, passes them to `_learn`, and tabulates how far annotators agree with
the clusters. Models that learn a metric first cluster in it with `learn_kmeans`.

Decided here
------------
Judgements are processed one by one, up to a million; `max_pairs` draws a sample.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations, Groupings, Pairs
from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.names import inverse
from consilience.annotations.pairs import pairs_of_ranks
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Missing, Name, Self
from consilience.errors import InputError
from consilience.estimators import forecasts, scoring
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.parameters import (
    NONE,
    NOT_NEGATIVE,
    RESTARTS,
    Requirements,
    whole,
)
from consilience.estimators.scoring import rates_of_table, score_of_clusters
from consilience.inference.clusters import by_falling_size
from consilience.inference.pair_reliability import annotator_table, same_by_clusters
from consilience.inference.randomness import check_random_state
from consilience.inference.threads import one_blas_thread

LARGEST = 1_000_000  # judgements that are accepted without sampling


class PairwiseClustering(CrowdEstimator):
    """Clusters of items by their features and by judgements of pairs.

    A subclass has the parameters `n_clusters`, `n_init`, `max_pairs`, `max_iter`, `tol` and `random_state`, and learns
    in `_learn`.
    """

    _requirements: ClassVar[Requirements] = {
        "n_clusters": whole(1),
        "n_init": RESTARTS,
        "max_pairs": NONE | whole(1),
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def fit(self, X: FeaturesLike | None, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
            Features, finite. A DataFrame is matched with the annotations by the item names in its index, an array by
            position.
        y : Pairs, Groupings, Labels, long table of pairs, or array of shape (n_items, n_annotators)
            Judgements of pairs, or annotations that imply them.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Features and annotations that do not match, too many judgements or items, or an invalid parameter.

        Warns
        -----
        ConvergenceWarning
            The model still changed after `max_iter`.
        """
        self._check_parameters()
        self._require_annotations(X, y)
        model, features = type(self).__name__, self._features(X, reset=True)
        rng = check_random_state(self.random_state)
        self._missing = values_of_missing(missing)
        arranged = arrange(self._judgements(X, y, missing), features)
        pairs, notes = read_pairs(arranged.ordered, model, self.max_pairs, rng)
        if self.n_clusters > len(features):
            raise InputError(
                f"The 'n_clusters' parameter of {model} must be at most the number of items, {len(features)} "
                f"(n_samples = {len(features)}). Got {self.n_clusters} instead."
            )
        with one_blas_thread(), self._progress():
            self.notes_ = notes + self._learn(features[arranged.items], pairs, rng)
        self.annotators_ = annotator_table(pairs, self.labels_)
        self._restore(arranged)
        forecasts.keep(self, arranged.given)
        return self

    forecast_same = forecasts.forecast_same

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """1 or 0; for an annotator, by sensitivity and specificity."""
        place = None if annotator is None else self._place_of_annotator(annotator)
        return same_by_clusters(self.labels_[a] == self.labels_[b], self.annotators_, place)

    def predict(self, X: FeaturesLike) -> Int[np.ndarray, " items"]:
        """Cluster of new items: the nearest centroid, in the learned metric.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray of int, shape (n_items,)
            Fitted items may be in another cluster than in `labels_`, if constraints contribute to these.
        """
        check_is_fitted(self)
        return self._nearest(self._features(X, reset=False))

    score = scoring.score

    def _score(self, X: FeaturesLike, judgements: Annotations) -> float:
        of_item = np.eye(self.n_clusters_)[self.predict(X)]
        return score_of_clusters(judgements, of_item, rates_of_table(self.annotators_), self.annotators_.index)

    @abstractmethod
    def _learn(self, features: np.ndarray, pairs: Pairs, rng: np.random.RandomState) -> list[str]:
        """Set clusters and the other fitted attributes; return notes on what was left out."""

    def _nearest(self, features: Float[np.ndarray, "items features"]) -> Int[np.ndarray, " items"]:
        """Nearest centroid, here in the metric whose root is ``components_``."""
        rows, centres = features @ self.components_.T, self.cluster_centers_ @ self.components_.T
        # the squares of rows are the same for all centres
        nearest: np.ndarray = (-2 * rows @ centres.T + (centres**2).sum(1)).argmin(1)
        return nearest

    def _set_clusters(self, cluster: Int[np.ndarray, " items"]) -> Int[np.ndarray, " kept"]:
        """Set the clusters of the items, numbered by decreasing size; return the old number of each."""
        sizes = np.bincount(cluster)
        kept = by_falling_size(sizes)
        self.n_clusters_ = len(kept)
        self.labels_ = inverse(kept, len(sizes))[cluster]
        self.responsibilities_ = np.eye(len(kept))[self.labels_]
        return kept


def learn_kmeans(model: Any, features: Float[np.ndarray, "items features"], rng: np.random.RandomState) -> None:
    """Set clusters and centroids by k-means in the model's metric, whose root is ``components_``."""
    rows = features @ model.components_.T
    n_clusters = min(int(model.n_clusters), len(np.unique(rows, axis=0)))
    kmeans = KMeans(n_clusters, n_init=model.n_init, random_state=rng).fit(rows)
    model._set_clusters(kmeans.labels_)
    model.inertia_ = float(kmeans.inertia_)
    sizes = np.bincount(model.labels_)
    model.cluster_centers_ = model.responsibilities_.T @ features / sizes[:, None]


def read_pairs(
    annotations: Pairs | Groupings, model: str, max_pairs: int | None, rng: np.random.RandomState
) -> tuple[Pairs, list[str]]:
    """Return judgements of pairs, and a note if some were left out.

    Parameters
    ----------
    annotations : Pairs or Groupings
    model : name of the estimator, for messages.
    max_pairs : int, optional
        If there are more judgements, this many are drawn at random.
    rng : RandomState

    Returns
    -------
    Pairs, list of str

    Raises
    ------
    InputError
        More than a million judgements and no `max_pairs`.
    """
    n_pairs = annotations.n_rows if isinstance(annotations, Pairs) else _n_pairs(annotations)
    if max_pairs is None and n_pairs > LARGEST:
        raise InputError(
            f"The annotations hold {n_pairs} judgements of pairs, and {model} accepts at most {LARGEST}. Set max_pairs "
            "to draw that many at random."
        )
    if max_pairs is not None and n_pairs > max_pairs:
        ranks = np.sort(rng.choice(n_pairs, int(max_pairs), replace=False))  # drawn judgements keep their order
        annotations = annotations._rows(ranks) if isinstance(annotations, Pairs) else _drawn(annotations, ranks)
        return annotations, [f"Of {n_pairs} judgements of pairs, {max_pairs} were drawn at random."]
    return annotations if isinstance(annotations, Pairs) else annotations.to_pairs(max_pairs=n_pairs), []


def _sizes(groupings: Groupings) -> Int[np.ndarray, " groupings"]:
    grouping = groupings.grouping_of_group[groupings.incidence.indices]
    return np.bincount(grouping, minlength=groupings.n_groupings).astype(np.int64)


def _n_pairs(groupings: Groupings) -> int:
    sizes = _sizes(groupings)
    return int((sizes * (sizes - 1) // 2).sum())


def _drawn(groupings: Groupings, ranks: Int[np.ndarray, " drawn"]) -> Pairs:
    """Pairs of groupings by their ranks among all pairs, without listing all."""
    group = groupings.incidence.indices.astype(np.int64)
    # rows of a grouping together, as pairs_of_ranks counts them
    order = np.argsort(groupings.grouping_of_group[group], kind="stable")
    group, item = group[order], groupings.item_of_row[order]
    first, second = pairs_of_ranks(_sizes(groupings), ranks)
    grouping = groupings.grouping_of_group[group[first]]
    return Pairs(
        items=groupings.items,
        annotators=groupings.annotators,
        named=groupings.named,
        item_a=item[first],
        item_b=item[second],
        annotator=groupings.annotator_of_grouping[grouping],
        same=group[first] == group[second],
        grouping=grouping,
        groupings=pd.RangeIndex(groupings.n_groupings),
    ).in_order()
