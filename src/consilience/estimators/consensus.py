"""Reading of annotations by estimators without features, ``fit(annotations)``: tables and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from consilience.annotations import Annotations, Groupings
from consilience.annotations.files.array_likes import NOBODY, is_frame
from consilience.annotations.files.containers import as_frame
from consilience.annotations.fit_arguments import as_groupings, read_given, values_of_missing, warn_of_fractions
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator


def read_alone(
    estimator: CrowdEstimator, given: Any, kind: str, *, reset: bool, missing: Any = None, **of_labels: Any
) -> Annotations:
    """Annotations of what a user gave for them; columns are kept in mind, or those of an array compared.

    Raises InputError: it is neither, or a matrix of other columns than were fitted.

    estimator : with ``annotators_`` unless `reset`
    given : annotations, a table or a matrix
    kind : {"groupings", "labels"}
    reset : whether the estimator is being fitted
    missing : as for `fit`
    **of_labels : `gold_classes`, `tags` and `ratings` of `annotations_of`
    """
    model = type(estimator).__name__
    if reset:
        estimator._forget_columns()
        estimator._missing = values_of_missing(missing)
    if isinstance(given, pd.Series) and given.index.nlevels == 1:
        raise InputError(
            f"{model} reads annotations of several annotators, and a Series holds those of one. Give a DataFrame with "
            "a column for each annotator, or a long table."
        )
    given = as_frame(given)
    is_array = not (isinstance(given, Annotations | pd.Series) or is_frame(given, model))
    if is_array:
        keep_columns(estimator, given, reset=reset)
    known = NOBODY if reset else estimator.annotators_.index
    found = read_given(given, kind, model, missing=missing, known=known, **of_labels)
    if is_array and reset:
        if not of_labels.get("ratings"):
            warn_of_fractions(given, model)
    elif found.matrix is not None and reset:  # later frames are matched by the names of annotators
        keep_columns(estimator, found.matrix, reset=True)
    return found.annotations


def read_groupings_or_pairs(
    estimator: CrowdEstimator, annotations: Any, *, reset: bool, missing: Any = None
) -> Annotations | None:
    """Annotations of any kind, or None if there are none; see `read_alone`."""
    if issparse(annotations):
        raise InputError(
            f"{type(estimator).__name__} reads matrices of group names that are not sparse. Got a sparse one."
        )
    if annotations is None:
        return None
    return read_alone(estimator, annotations, "groupings", reset=reset, missing=missing)


def groupings_of_some(annotations: Annotations | None, model: str) -> Groupings:
    """Return annotations as groupings, of which at least one has items. Raises InputError: there are none."""
    groupings = as_groupings(annotations, None, model)
    if not groupings.n_rows:
        raise InputError(f"{model} needs groupings, and none of the {len(groupings)} items is in any.")
    return groupings


def keep_columns(estimator: CrowdEstimator, matrix: Any, *, reset: bool) -> None:
    """Raise an InputError unless it is a matrix of labels; remember its columns, or compare them."""
    require_matrix(matrix, type(estimator).__name__)
    validate_data(estimator, matrix, reset=reset, skip_check_array=True)  # names are no numbers


def require_matrix(matrix: Any, model: str) -> None:
    """Raise an InputError unless it is a real matrix of labels with at least one row and column."""
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
