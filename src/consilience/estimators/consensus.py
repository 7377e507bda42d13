"""The base of the estimators that need no features: tables brought in, and linear algebra in one thread.

`LabelAggregator` is that of models of labels, `GroupingConsensus` that of models of groupings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from consilience.annotations import Annotations
from consilience.annotations.files.given import NOBODY, is_frame
from consilience.annotations.given import read_given, values_of_missing, warn_of_fractions
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator


class ConsensusEstimator(CrowdEstimator):
    """What the estimators that need only what people said share: ``fit(annotations)``.

    A subclass implements `fit`: it refuses a second argument with `require_no_second`, reads the annotations with
    `_read`, and learns from them in `one_blas_thread`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None
        tags.target_tags.required = False
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and give the cluster or class of every item.

        Parameters
        ----------
        X : annotations, as for `fit`
        y : not used, as for `fit`
        **fit_params : as for `fit`

        Returns
        -------
        ndarray, shape (n_items,)
            ``labels_``: numbers of clusters, or names of classes.
        """
        return self.fit(X, y, **fit_params).labels_

    def _forget_columns(self) -> None:
        """Forget those of a matrix fitted before: annotations have no columns that a new matrix must match."""
        for name in {"n_features_in_", "feature_names_in_"} & set(vars(self)):
            delattr(self, name)

    def _read(self, given: Any, kind: str, *, reset: bool, missing: Any = None) -> Annotations:
        """Annotations of what a user gave for them; columns are kept in mind, or those of an array compared."""
        model = type(self).__name__
        if reset:
            self._forget_columns()
            self._missing = values_of_missing(missing)
        if isinstance(given, pd.Series) and given.index.nlevels == 1:
            raise InputError(
                f"{model} reads what several annotators said, and a Series holds what one did. Give a DataFrame with a "
                "column for each annotator, or a long table."
            )
        is_array = not (isinstance(given, Annotations | pd.Series) or is_frame(given, model))
        if is_array:
            self._require_matrix(given, reset=reset)
        known = NOBODY if reset else self.annotators_.index
        found = read_given(given, kind, model, missing=missing, known=known)
        if is_array and reset:
            warn_of_fractions(given, model)
        elif found.matrix is not None and reset:  # later frames are matched by the names of annotators
            self._require_matrix(found.matrix, reset=True)
        return found.annotations

    def _require_matrix(self, matrix: Any, *, reset: bool) -> None:
        """Raise an InputError unless it is a matrix of labels; keep in mind its columns, or compare them."""
        require_matrix(matrix, type(self).__name__)
        validate_data(self, matrix, reset=reset, skip_check_array=True)


def require_matrix(matrix: Any, model: str) -> None:
    """Raise an InputError unless it is a matrix of labels, real and of at least one row and column."""
    if isinstance(matrix, dict):
        raise InputError(f"{model} expected a label matrix, a table or annotations. Got a dict; give pd.DataFrame(…).")
    try:
        values = np.asarray(matrix)
    except ValueError as error:
        raise InputError(f"{model} expected a label matrix with rows of one length. Got rows that differ.") from error
    if np.iscomplexobj(values):
        raise InputError("Complex data not supported: labels are names or numbers of classes.")
    shape = values.shape
    if len(shape) != 2:
        raise InputError(
            f"{model} expected a label matrix of shape (n_items, n_annotators), Reshape your data. Got shape {shape}."
        )
    for what, size in (("sample", shape[0]), ("feature", shape[1])):
        if not size:
            raise InputError(f"0 {what}(s) (shape={shape}) while a minimum of 1 is required: {model} needs labels.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        raise InputError(f"The label of item {row} by annotator {column} is inf (infinity), which names no class.")
