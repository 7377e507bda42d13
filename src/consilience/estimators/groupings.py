"""Base class of estimators that need only groupings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.fit_arguments import (
    first_named,
    models_of_features,
    require_no_second,
    warn_of_unannotated,
)
from consilience.annotations.types import AnnotationsLike, Missing, Self
from consilience.estimators import forecasts, learned
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.consensus import groupings_of_some, read_groupings_or_pairs
from consilience.estimators.learned import Attributes
from consilience.inference.threads import one_blas_thread


class GroupingConsensus(CrowdEstimator):
    """Base class of estimators of clusters from groupings: ``fit(groupings)``.

    A subclass implements `_fuse`, which reads `Groupings` in canonical order and learns from them.
    """

    _reads_alone = True

    _learned: ClassVar[Attributes] = {**learned.NO_FEATURES, **learned.CLUSTERS}

    def fit(self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        annotations : Groupings, Labels, DataFrame or array of shape (n_items, n_annotators)
            Groupings; a long table of item, annotator and / or grouping, group; or a matrix of group names, in which
            NaN and None mean that the annotator left the item out.
        y : not used
            Refused, unless it is one value for each item, which scikit-learn passes to every estimator.
        missing : optional
            Value or list of values that means missing, in addition to blank cells. By default
            -1 if it is the only negative integer; ``missing=[]`` treats it as a name. For tables and arrays only.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Annotations without groupings, features given with them, or an invalid parameter.

        Warns
        -----
        AnnotationWarning
            Something was left out, treated as missing, or not used.
        """
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        arranged = arrange(self._read_groupings(annotations, reset=True, missing=missing))
        with one_blas_thread(), self._progress():
            self._fuse(arranged.ordered)
        self._restore(arranged)
        forecasts.keep(self, arranged.given)
        if not hasattr(self, "notes_"):  # otherwise a note says so
            grouped = np.diff(arranged.given.incidence.indptr) > 0
            warn_of_unannotated(arranged.given, grouped, "no annotations and no cluster (label -1)")
        return self

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        """Restore the order of the annotations, and name the items of no grouping in a note."""
        super()._restore(arrangement)
        notes: list[str] | None = getattr(self, "notes_", None)
        if notes is not None:
            given = arrangement.given
            self.notes_ = [*notes, *_of_unseen(given.items, np.diff(given.incidence.indptr) > 0)]
            forecasts.note_number_of_clusters(self, given)

    forecast_same = forecasts.forecast_same

    def __getattr__(self, name: str) -> Any:
        """Explain why there are no `score` and `predict` if the model cannot place new items."""
        raise AttributeError(reason_for_none(self, name))

    @abstractmethod
    def _fuse(self, groupings: Groupings) -> Any:
        """Fit to groupings, of which at least one has items."""

    def _read_groupings(self, annotations: Any, *, reset: bool, missing: Any = None) -> Groupings:
        read = read_groupings_or_pairs(self, annotations, reset=reset, missing=missing)
        return groupings_of_some(read, type(self).__name__)


def _of_unseen(items: pd.Index, grouped: Bool[np.ndarray, " items"]) -> list[str]:
    """Return a note that names the items in no grouping, if there are any."""
    unseen = items[~grouped]
    if unseen.empty:
        return []
    be, they = ("is", "it belongs") if len(unseen) == 1 else ("are", "they belong")
    return [
        f"{len(unseen)} of {len(items)} items {be} in no grouping; {they} to no cluster (label -1): "
        f"{first_named(unseen)}."
    ]


def reason_for_none(estimator: Any, name: str) -> str:
    """Explain why an estimator that cannot place new items lacks an attribute, and name alternatives."""
    model = type(estimator).__name__
    if name == "score":
        return (
            f"{model} cannot place new items, so it has no score. To choose a number of clusters use "
            "consilience.selection.compare, which predicts held-out judgements."
        )
    if name in {"predict", "predict_proba"} and not hasattr(type(estimator), "predict"):
        return _for_new_items(model, name)
    return f"{model!r} object has no attribute {name!r}"


def _for_new_items(model: str, method: str) -> str:
    """Name alternatives that place new items."""
    using = [name for name in models_of_features() if name != "InductiveConsensus"]
    return (
        f"{model} cannot place new items, so it has no {method}; labels_series_ has the clusters of the fitted items. "
        f"For new items fit InductiveConsensus({model}(), classifier) to features and annotations, or a model "
        f"of features: {', '.join(using)}."
    )
