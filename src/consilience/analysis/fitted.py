"""The estimator that was fitted, and the annotations and features of its items, in their order."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from consilience.analysis.capabilities import Capabilities, attributes
from consilience.analysis.names import as_text
from consilience.annotations import Annotations, Groupings, Labels, Pairs, alignment
from consilience.annotations.fit_arguments import as_groupings, read_given, with_names
from consilience.annotations.names import MISSING, plain
from consilience.errors import InputError


def unwrap(model: Any) -> Any:
    """Return the fitted estimator itself, the last step of a pipeline.

    Raises InputError: it is not a clustering model of this package. Raises sklearn.exceptions.NotFittedError.
    """
    estimator = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not hasattr(estimator, "get_params"):
        raise InputError(f"A fitted clustering model is needed, or a Pipeline that ends in one. Got {estimator!r}.")
    check_is_fitted(estimator)
    missing = [name for name in ("items_", "labels_", "n_clusters_") if not hasattr(estimator, name)]
    if missing:
        raise InputError(
            f"A clustering model of this package is needed. {type(estimator).__name__} has no attribute {missing[0]!r}."
        )
    return estimator


def estimator_with(model: Any, attribute: str, otherwise: str) -> Any:
    """Return the fitted estimator itself, which must have an attribute; `otherwise` is the message if it has not.

    Raises InputError: the attribute is missing or None.
    """
    estimator = unwrap(model)
    if not attributes(estimator, [attribute]):
        raise InputError(f"{type(estimator).__name__} {otherwise}.")
    return estimator


def raw_features(model: Any, X: Any) -> pd.DataFrame:
    """Return the rows of X for the fitted items, in their order, with the names of the features if they are known.

    Pictures are rows of numbers, as the model sees them. Raises InputError: X does not fit the items.
    """
    as_table = getattr(unwrap(model), "_as_table", None)  # models that take pictures have it
    X = X if as_table is None else as_table(X)
    return rows_of_items(model, X, "X", getattr(model, "feature_names_in_", None))


def rows_of_items(model: Any, table: Any, what: str, names: Any = None) -> pd.DataFrame:
    """Return the rows of a table for the fitted items, in their order; `names` are for the columns of an array.

    Raises InputError: the table does not have two dimensions, or does not fit the items.
    """
    items = unwrap(model).items_
    if not isinstance(table, pd.DataFrame) and np.ndim(table) != 2:
        raise InputError(f"{what} must have two dimensions, items and columns. Got shape {np.shape(table)} instead.")
    frame = alignment.rows_of_items(table, items, what)
    if isinstance(table, pd.DataFrame):
        return frame
    names = getattr(table, "columns", names)
    known = names is not None and len(names) == frame.shape[1]
    columns = list(names) if known else frame.columns
    return frame.set_axis(items).set_axis(columns, axis=1).infer_objects()


def column_names(table: pd.DataFrame, thing: str) -> list[str]:
    """Return the names of the columns as text; "feature 0" if they are numbers."""
    return [f"{thing} {name}" if isinstance(name, int | np.integer) else as_text(name) for name in table.columns]


def own_annotations(model: Any, annotations: Any) -> Groupings | Labels | Pairs:
    """Return the annotations of the fitted items, in their order.

    They are Labels for a model of classes, Pairs if those are given, else Groupings. Raises InputError: they have other
    items, or annotators that are not in the fit.
    """
    estimator = unwrap(model)
    can = Capabilities.of(estimator)
    found = _own_labels(estimator, annotations) if can.names_classes else _own_groupings(estimator, annotations)
    return found if found.items.equals(estimator.items_) else found.reindex(estimator.items_)


def given_or_kept(model: Any, annotations: Any, function: str) -> Groupings | Labels | Pairs:
    """Return the annotations given, or else those that the model keeps, in the order of the fitted items.

    function : name of the calling function, for messages

    Raises InputError: none are given and the model keeps none; or as in `own_annotations`.
    """
    if annotations is not None:
        return own_annotations(model, annotations)
    estimator = unwrap(model)
    kept = Capabilities.of(estimator).groupings
    if kept is None:
        name = type(estimator).__name__
        raise InputError(f"{name} does not keep its annotations. Give them too: {function}(model, groupings).")
    return kept


def _own_groupings(estimator: Any, annotations: Any) -> Groupings | Pairs:
    if annotations is not None:
        annotations = _read(estimator, annotations, "groupings")
    found = annotations if isinstance(annotations, Pairs) else as_groupings(annotations, None, "The report")
    if Capabilities.of(estimator).rates_annotators:
        _require_same(found.annotators, estimator.annotators_.index)
    return found


def _read(estimator: Any, annotations: Any, kind: str) -> Annotations:
    """Read annotations of any form; rows without names are the fitted items, in order.

    The marker of missing cells is that of the fit.
    """
    has = attributes(estimator, ["annotators_", "_missing", "_label_names"])
    known = has["annotators_"].index if "annotators_" in has else pd.Index([])
    missing = None if isinstance(annotations, Annotations) else has.get("_missing")
    classes = has.get("_label_names", ())  # of which one may have been known by gold items
    found = read_given(
        annotations, kind, "The report", items=estimator.items_, missing=missing, known=known, gold_classes=classes
    )
    is_array = isinstance(annotations, np.ndarray | list)
    return with_names(found, estimator.items_) if is_array else found.annotations


def _own_labels(estimator: Any, annotations: Any) -> Labels:
    """Return labels of the annotators of the fit; those of an earlier history may be absent."""
    if annotations is not None:
        annotations = _read(estimator, annotations, "labels")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X (has|does not have)")  # a matrix and Labels hold the same labels
        labels = _in_classes(estimator._labels(annotations, reset=False), estimator._label_names)
    quality = estimator.annotators_
    wanted = (quality["n_labels"] > 0).to_numpy() | quality.index.isin(labels.annotators)
    _require_same(labels.annotators, quality.index[wanted])
    return labels


def groupings_of(annotations: Groupings | Labels) -> Groupings:
    """Return groupings or labels as groupings."""
    return annotations.to_groupings() if isinstance(annotations, Labels) else annotations


def _in_classes(labels: Labels, fitted: pd.Index) -> Labels:
    """Return labels over all classes of the fit, including those that nobody gave."""
    place = fitted.get_indexer(labels.classes)
    absent = place[labels.label] == MISSING
    if absent.any():
        name = plain(labels.classes[labels.label[np.argmax(absent)]])
        raise InputError(f"The label {name!r} is not in the fit. Give the annotations of the fit.")
    return replace(labels, classes=fitted.rename(None), label=place[labels.label]).in_order()


def _require_same(given: pd.Index, fitted: pd.Index) -> None:
    for names, others, where in ((given, fitted, "fit"), (fitted, given, "annotations")):
        odd = names.difference(others, sort=False)
        if len(odd):
            left = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
            raise InputError(f"Annotator {odd[0]!r} is not in the {where}{left}. Give the annotations of the fit.")


def is_standardized(estimator: Any) -> bool:
    """Whether features are standardised before the model sees them."""
    steps = [step for _, step in estimator.steps[:-1]] if hasattr(estimator, "steps") else []
    parts = [part for step in steps for part in parts_of(step)]
    return any(isinstance(part, StandardScaler) for part in parts)


def parts_of(step: Any) -> list[Any]:
    """Return the transformers in a step, including the step itself."""
    if isinstance(step, ColumnTransformer):
        return [part for _, inner, _ in step.transformers for part in parts_of(inner)]
    if isinstance(step, Pipeline):
        return [part for _, inner in step.steps for part in parts_of(inner)]
    return [step]
