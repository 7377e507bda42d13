"""Base class of models of several views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations, Groupings, Pairs
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Missing, Name, Self
from consilience.errors import InputError
from consilience.estimators import forecasts, learned, scoring
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import is_whole
from consilience.estimators.scoring import rates_of_table, score_of_pairs
from consilience.estimators.user_order import Axes


class ViewEstimator(CrowdEstimator):
    """Base class of models of several views, each held by some annotators."""

    _axes: ClassVar[Axes] = CrowdEstimator._axes | {
        "view_labels_": ("items",),
        "view_responsibilities_": ("items",),
        "view_probabilities_": ("annotators",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        **learned.CLUSTERS,
        "views_": learned.table("views", learned.OF_VIEWS),
        "view_labels_": learned.table("items", "views", dtype="i"),
        "view_responsibilities_": learned.list_of(
            learned.array(float, "items", None, low=0, high=1, shares=True), "views"
        ),
        "view_probabilities_": learned.table("annotators", "views", dtype="p"),
        "_owned": learned.list_of(learned.array(int, None, low=0), "views"),
        **learned.annotators(n_pairs="c", view="i", sensitivity="p", specificity="p", weight="f"),
        "restart_bounds_": learned.array(float, None, nan=True, inf=True),
        "lower_bounds_": learned.array(float, None),
        "lower_bound_": learned.number(),
        "n_iter_": learned.whole(),
    }

    def fit(self, X: FeaturesLike | None, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features), or None
            Features, finite; standardise them first. A DataFrame is matched with the annotations by the item names in
            its index, an array by position. Without features (None), if the model allows it, the clusters depend on the
            judgements alone.
        y : Pairs, Groupings, Labels, long table of pairs, or array of shape (n_items, n_annotators)
            Judgements of pairs. A grouping implies judgements of all its pairs, which are not listed.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Features and annotations that do not match, annotations without judgements, or an invalid parameter.
        FloatingPointError
            Training of a deep model failed in every restart.

        Warns
        -----
        ConvergenceWarning
            The kept restart still improved after `max_iter` sweeps.
        """
        self._check_parameters()
        self._require_annotations(X, y)
        self._forget_columns()
        without = X is None and self._does_without_features
        features = None if without else self._features(X, reset=True)
        self._missing = values_of_missing(missing)
        annotations = self._judgements(X, y, missing)
        features = np.empty((len(annotations), 0)) if features is None else features
        arranged = arrange(annotations, features)
        self._learn(features[arranged.items], arranged.ordered)
        self._restore(arranged)
        return self

    def predict(self, X: FeaturesLike, view: Any = 0) -> Int[np.ndarray, " items"]:
        """Most probable cluster of new items by their features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
        view : int, default=0
            A row of `views_`.

        Returns
        -------
        ndarray of int, shape (n_items,)

        Raises
        ------
        InputError
            Features that are not finite, a model fitted without any, or an unknown view.
        """
        return self.predict_proba(X, view).argmax(1)

    def predict_proba(self, X: FeaturesLike, view: Any = 0) -> Float[np.ndarray, "items clusters"]:
        """Probability of each cluster for new items by their features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
        view : int, default=0
            A row of `views_`.

        Returns
        -------
        ndarray, shape (n_items, n clusters of the view)

        Raises
        ------
        InputError
            Features that are not finite, a model fitted without any, or an unknown view.
        """
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            raise InputError(f"{type(self).__name__} was fitted without features. It cannot predict new items.")
        if not (is_whole(view, 0) and view < len(self.views_)):
            raise InputError(f"'view' must be an int from 0 to {len(self.views_) - 1}. Got {view!r} instead.")
        # probability of empty clusters is shared out
        owned = self._predicted(self._features(X, reset=False), int(view))[:, self._owned[view]]
        return owned / owned.sum(1, keepdims=True)

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """In the first view; of an annotator, averaged over the views that the annotator may hold."""
        within = np.stack([(eta[a] * eta[b]).sum(1) for eta in self.view_responsibilities_], axis=1)
        if annotator is None:
            return within[:, 0]
        place = self._place_of_annotator(annotator)
        own = self.annotators_.iloc[place]
        same = within @ self.view_probabilities_.to_numpy()[place]
        return same * own["sensitivity"] + (1 - same) * (1 - own["specificity"])

    score = scoring.score

    def _score(self, X: FeaturesLike, judgements: Annotations) -> float:
        views = [self.predict_proba(X, view) for view in range(len(self.views_))]
        holds = np.vstack([self.view_probabilities_.to_numpy(), self.views_["weight"].to_numpy()])  # the crowd last

        def together(a: np.ndarray, b: np.ndarray, place: np.ndarray) -> np.ndarray:
            return (np.stack([(eta[a] * eta[b]).sum(1) for eta in views], axis=1) * holds[place]).sum(1)

        return score_of_pairs(judgements, together, rates_of_table(self.annotators_), self.annotators_.index)

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        super()._restore(arrangement)
        self.responsibilities_ = self.view_responsibilities_[0]
        forecasts.keep(self, arrangement.given)

    forecast_same = forecasts.forecast_same

    @abstractmethod
    def _learn(self, features: Float[np.ndarray, "items features"], annotations: Pairs | Groupings) -> None:
        """Fit to annotations in canonical order; ends with `_read_views`."""

    @abstractmethod
    def _predicted(self, features: Float[np.ndarray, "items features"], view: int) -> np.ndarray:
        """Probabilities of all clusters of a kept view, up to a factor for each item."""

    def _read_views(
        self,
        eta: Float[np.ndarray, "views items clusters"],
        phi: Float[np.ndarray, "annotators views"],
        judged: Bool[np.ndarray, " annotators"],
        share: Float[np.ndarray, " views"],
        annotations: Annotations,
    ) -> Int[np.ndarray, " kept"]:
        """Set the views with annotators, the most followed first, and their non-empty clusters; return the views kept.

        judged : whether each annotator judged any pair. share : of each view. annotations : for their names.
        """
        kept, followers = most_common(phi[judged].argmax(1))  # a view is held by those who said something
        self._owned = [most_common(eta[view].argmax(1))[0] for view in kept]
        self.view_responsibilities_ = [
            eta[view][:, owned] / eta[view][:, owned].sum(1, keepdims=True)
            for view, owned in zip(kept, self._owned, strict=True)
        ]
        names = pd.RangeIndex(len(kept), name="view")
        labels = np.column_stack([own.argmax(1) for own in self.view_responsibilities_])
        self.view_labels_ = pd.DataFrame(labels, index=annotations.items, columns=names)
        # not a view of the table of all views
        self.labels_, self.responsibilities_ = labels[:, 0].copy(), self.view_responsibilities_[0]
        self.n_clusters_ = self.responsibilities_.shape[1]
        table = {
            "n_annotators": followers,
            "weight": share[kept] / share[kept].sum(),
            "n_clusters": [len(owned) for owned in self._owned],
        }
        self.views_ = pd.DataFrame(table, index=names)
        own = phi[:, kept] / phi[:, kept].sum(1, keepdims=True)
        self.view_probabilities_ = pd.DataFrame(own, index=annotations.annotators.rename("annotator"), columns=names)
        return kept

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        first = self.view_responsibilities_[0]
        if not (np.array_equal(first, self.responsibilities_) and first.shape == self.responsibilities_.shape):
            yield "view_responsibilities_"
        labels = self.view_labels_.to_numpy()
        n_clusters = self.views_["n_clusters"].to_numpy()
        if (
            not np.array_equal(labels[:, 0], self.labels_)
            or (labels.min(0) < 0).any()
            or (labels.max(0) >= n_clusters).any()
        ):
            yield "view_labels_"
        if [part.shape[1] for part in self.view_responsibilities_] != n_clusters.tolist():
            yield "view_responsibilities_"
        if [len(own) for own in self._owned] != n_clusters.tolist() or not all(map(learned.are_distinct, self._owned)):
            yield "_owned"


def most_common(codes: Int[np.ndarray, " codes"]) -> tuple[np.ndarray, np.ndarray]:
    """Codes that occur and their counts, the most common first; equally common ones in order of occurrence."""
    found, first, counts = np.unique(codes, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return found[order], counts[order]
