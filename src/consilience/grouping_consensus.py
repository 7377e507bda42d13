"""The base of the estimators that need groupings alone: groupings brought in, clusters read off."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from consilience.aggregator import one_blas_thread, require_matrix
from consilience.annotations import Groupings, Labels, Pairs
from consilience.base import CrowdEstimator, as_groupings
from consilience.errors import InputError

LONG = {"item", "annotator", "grouping", "group"}


class GroupingConsensus(CrowdEstimator):
    """What the estimators of clusters from groupings share: ``fit(groupings)``.

    A subclass implements `_fuse`, which reads `Groupings` and returns the fitted estimator.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None
        tags.target_tags.required = False
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def fit(self, annotations: Any, y: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        annotations : Groupings, Labels, DataFrame or array of shape (n_items, n_annotators)
            Groupings; a long table of item, annotator and / or grouping, group; or a matrix of group names, in which
            NaN and None mean that the annotator left the item out.
        y : ignored

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Annotations that hold no groupings, or a wrong parameter.
        """
        groupings = self._read_groupings(annotations, reset=True)
        with one_blas_thread():
            return self._fuse(groupings)

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:  # type: ignore[override]
        """Fit, and give the cluster of every item.

        Parameters
        ----------
        X : Groupings, Labels, DataFrame or array, as for `fit`
        y : ignored
        **fit_params : as for `fit`

        Returns
        -------
        ndarray of int, shape (n_items,)
        """
        return self.fit(X, **fit_params).labels_

    @abstractmethod
    def _fuse(self, groupings: Groupings) -> Any:
        """Fit to groupings that hold at least one item."""

    def _read_groupings(self, annotations: Any, *, reset: bool) -> Groupings:
        model = type(self).__name__
        if reset:  # of a fit to a matrix before: groupings have no columns that a new matrix must match
            for name in {"n_features_in_", "feature_names_in_"} & set(vars(self)):
                delattr(self, name)
        if isinstance(annotations, pd.DataFrame) and {"item", "group"} <= set(map(str, annotations.columns)) <= LONG:
            annotations = Groupings.from_frame(annotations)
        elif issparse(annotations):
            raise InputError(f"{model} reads matrices of group names that are not sparse. Got a sparse one.")
        elif annotations is not None and not isinstance(annotations, Groupings | Labels | Pairs):
            require_matrix(annotations, model)
            validate_data(self, annotations, reset=reset, skip_check_array=True)
        groupings = as_groupings(annotations, None, model)
        if not groupings.n_rows:
            raise InputError(f"{model} needs groupings, and none of the {len(groupings)} items is in any.")
        return groupings
