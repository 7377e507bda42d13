"""Base classes of clusterings by judgements of pairs, with features and without.

`PairConsensus` reads annotations alone, for `CorrelationClustering` and `Crowdclustering`. `PairwiseClustering`, for
`MPCKMeans`, `ITMLClustering` and `SemiCrowd`, reads judgements and features, passes them to `_learn`, and tabulates how
far annotators agree with the clusters. Models that learn a metric first cluster in it with `learn_kmeans`, and map to
its coordinates by `transform_by_metric`.

Decided here
------------
Judgements are processed one by one, up to a million; `max_pairs` draws a sample.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations, Groupings, Pairs
from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import require_no_second, values_of_missing, warn_of_unannotated
from consilience.annotations.names import inverse
from consilience.annotations.pairs import pairs_of_ranks
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Missing, Name, Self
from consilience.errors import InputError
from consilience.estimators import forecasts, learned, scoring
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.consensus import groupings_of_some, read_groupings_or_pairs
from consilience.estimators.groupings import reason_for_none
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import NONE, NOT_NEGATIVE, RESTARTS, Requirements, is_auto, whole
from consilience.estimators.scoring import rates_of_table, score_of_clusters
from consilience.inference.clusters import by_falling_size
from consilience.inference.pair_reliability import annotator_table, same_by_clusters
from consilience.inference.randomness import check_random_state
from consilience.inference.threads import one_blas_thread

LARGEST = 1_000_000  # judgements that are accepted without sampling


class PairConsensus(CrowdEstimator):
    """Clusters of items by judgements of pairs alone: ``fit(pairs)``.

    A subclass has the parameter `n_clusters`, and learns in `_learn`. ``_most_pairs`` is the largest number of
    judgements, and ``_handles`` says what it does with each.
    """

    _reads_alone = True
    _most_pairs: ClassVar[int]
    _handles: ClassVar[str]

    _learned: ClassVar[Attributes] = {**learned.NO_FEATURES, **learned.CLUSTERS, "notes_": learned.NOTES}

    def fit(self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        annotations : Pairs, Groupings, Labels, DataFrame or array of shape (n_items, n_annotators)
            Judgements of pairs, or their long table; groupings, which imply judgements of all their pairs; a long table
            of groupings; or a matrix of group names, in which NaN and None mean that the annotator left the item out.
        y : not used
            Refused, unless it is one value for each item, which scikit-learn passes to every estimator.
        missing : optional
            Value or list of values that means missing, in addition to blank cells. By default -1 if it is
            the only negative integer; ``missing=[]`` treats it as a name. For tables and arrays only.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Annotations with no judgements of pairs or too many, features given with them, or an invalid parameter.

        Warns
        -----
        AnnotationWarning
            Something was left out, treated as missing, or not used; or another number of clusters was found than
            requested.
        ConvergenceWarning
            The kept restart still improved after `max_iter` sweeps.
        """
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        given = read_groupings_or_pairs(self, annotations, reset=True, missing=missing)
        if not isinstance(given, Pairs):
            given = groupings_of_some(given, type(self).__name__)
        self._require_pairs(given)
        arranged = arrange(self._to_arrange(given))
        with one_blas_thread(), self._progress():
            self._learn(self._list_pairs(arranged.ordered))
        self._restore(arranged)
        forecasts.keep(self, given)
        warn_of_unannotated(given, self.labels_ >= 0, "no judged pair and no cluster (label -1)")
        return self

    forecast_same = forecasts.forecast_same

    def __getattr__(self, name: str) -> Any:
        """Explain why there are no `score` and `predict`: the model cannot place new items."""
        raise AttributeError(reason_for_none(self, name))

    @abstractmethod
    def _learn(self, pairs: Pairs) -> None:
        """Fit to judgements, of which there is at least one."""

    def _to_arrange(self, given: Pairs | Groupings) -> Pairs | Groupings:
        """What is put into canonical order: groupings have another than the pairs that they imply."""
        return given

    def _list_pairs(self, given: Pairs | Groupings) -> Pairs:
        return given if isinstance(given, Pairs) else given.to_pairs(max_pairs=self._most_pairs)

    def _require_pairs(self, given: Pairs | Groupings) -> None:
        model, n_items = type(self).__name__, len(given)
        n_pairs = given.n_rows if isinstance(given, Pairs) else _n_pairs(given)
        if not n_pairs:
            raise InputError(
                f"{model} needs judgements of pairs, and the annotations hold none (n_samples = {n_items})."
            )
        if not is_auto(self.n_clusters) and int(self.n_clusters) > n_items:
            raise InputError(
                f"The 'n_clusters' parameter of {model} must be at most the number of items, {n_items}. Got "
                f"{self.n_clusters} instead."
            )
        if n_pairs > self._most_pairs:
            raise InputError(
                f"{model} {self._handles}, at most {self._most_pairs}, and the annotations hold {n_pairs}. Restrict "
                "the items or the annotators, or use SubsetFusion, which does not list the pairs of groupings."
            )


class PairwiseClustering(CrowdEstimator):
    """Clusters of items by their features and by judgements of pairs.

    A subclass has the parameters `n_clusters`, `n_init`, `max_pairs`, `max_iter`, `tol` and `random_state`, and learns
    in `_learn`.
    """

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        **learned.CLUSTERS,
        **learned.SETTLED,
        **learned.annotators(n_pairs="c", n_together="c", accuracy="p", sensitivity="p", specificity="p"),
        "cluster_centers_": learned.reals("clusters", "features"),
        "metric_": learned.either(
            learned.array(float, "features", "features"), learned.array(float, "clusters", "features", "features")
        ),
        "n_pairs_": learned.whole(),
        "objective_": learned.number(),
        "notes_": learned.NOTES,
    }

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

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        if (self.annotators_["n_together"] > self.annotators_["n_pairs"]).any():
            yield "annotators_"


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

    Raises InputError: more than a million judgements and no `max_pairs`.

    model : name of the estimator, for messages.
    max_pairs : if there are more judgements, this many are drawn at random.

    Returns the pairs and the notes.
    """
    n_pairs = annotations.n_rows if isinstance(annotations, Pairs) else _n_pairs(annotations)
    if max_pairs is None and n_pairs > LARGEST:
        raise InputError(
            f"The annotations hold {n_pairs} judgements of pairs, and {model} accepts at most {LARGEST}. Set max_pairs "
            "to draw that many at random."
        )
    if max_pairs is not None and n_pairs > max_pairs:
        ranks = np.sort(rng.choice(n_pairs, int(max_pairs), replace=False))  # drawn judgements keep their order
        annotations = annotations._rows(ranks) if isinstance(annotations, Pairs) else _draw_pairs(annotations, ranks)
        return annotations, [f"Of {n_pairs} judgements of pairs, {max_pairs} were drawn at random."]
    return annotations if isinstance(annotations, Pairs) else annotations.to_pairs(max_pairs=n_pairs), []


def _sizes(groupings: Groupings) -> Int[np.ndarray, " groupings"]:
    grouping = groupings.grouping_of_group[groupings.incidence.indices]
    return np.bincount(grouping, minlength=groupings.n_groupings).astype(np.int64)


def _n_pairs(groupings: Groupings) -> int:
    sizes = _sizes(groupings)
    return int((sizes * (sizes - 1) // 2).sum())


def _draw_pairs(groupings: Groupings, ranks: Int[np.ndarray, " drawn"]) -> Pairs:
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


def transform_by_metric(self: Any, X: FeaturesLike) -> Float[np.ndarray, "items components"]:
    """Map to coordinates in which the learned metric is the Euclidean distance.

    Parameters
    ----------
    X : DataFrame or array, shape (n_items, n_features)

    Returns
    -------
    ndarray, shape (n_items, n_components)
    """
    check_is_fitted(self)
    coordinates: np.ndarray = self._features(X, reset=False) @ self.components_.T
    return coordinates
