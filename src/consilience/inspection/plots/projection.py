"""Projection of items onto the plane: by two features, by many, or by their annotations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.sparse import csr_array
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations, Groupings, Labels, Pairs, alignment
from consilience.annotations.fit_arguments import as_groupings, read_given, with_names
from consilience.annotations.names import MISSING, plain
from consilience.errors import InputError
from consilience.inspection.capabilities import Capabilities, attributes
from consilience.inspection.clustering import FoundClusters
from consilience.inspection.names import as_text


@dataclass(frozen=True)
class Projection:
    """Items in the plane, or in a space of more axes, of which a plane is shown.

    Attributes
    ----------
    points : ndarray, shape (n_items, n_axes)
    axes : names of the coordinates.
    log_odds : log-odds of the clusters at points of the plane, up to a constant for each; None if the plane shows
        only a part of the features.
    rows : names of the clusters, if the second coordinate is the cluster.
    """

    points: Float[np.ndarray, "items axes"]
    axes: tuple[str, ...]
    log_odds: Callable[[np.ndarray], np.ndarray] | None = None
    rows: tuple[str, ...] = ()

    def plane(self, axes: tuple[int, int]) -> Projection:
        """Return two of the axes, numbered from 1."""
        first, second = axes[0] - 1, axes[1] - 1
        return replace(self, points=self.points[:, [first, second]], axes=(self.axes[first], self.axes[second]))


def checked_axes(axes: Any, plot: str, most: int = 9) -> tuple[int, int]:
    """Return the numbers of two axes, from 1.

    Raises
    ------
    InputError
        They are not two different numbers from 1 to `most`.
    """
    numbers = list(axes) if isinstance(axes, tuple | list) else []
    whole = all(isinstance(axis, int | np.integer) and not isinstance(axis, bool) for axis in numbers)
    if len(numbers) != 2 or not whole or numbers[0] == numbers[1] or not all(1 <= axis <= most for axis in numbers):
        raise InputError(
            f"The 'axes' parameter of {plot} must be two different numbers from 1 to {most}, such as (1, 3). "
            f"Got {axes!r} instead."
        )
    return int(numbers[0]), int(numbers[1])


def unwrap(model: Any) -> Any:
    """Return the fitted estimator itself, the last step of a pipeline.

    Raises
    ------
    InputError
        It is not a clustering model of this package.
    sklearn.exceptions.NotFittedError
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

    Raises
    ------
    InputError
        The attribute is missing or None.
    """
    estimator = unwrap(model)
    if not attributes(estimator, [attribute]):
        raise InputError(f"{type(estimator).__name__} {otherwise}.")
    return estimator


def raw_features(model: Any, X: Any) -> pd.DataFrame:
    """Return the rows of X for the fitted items, in their order, with the names of the features if they are known.

    Pictures are rows of numbers, as the model sees them.

    Raises
    ------
    InputError
        X does not fit the items.
    """
    as_table = getattr(unwrap(model), "_as_table", None)  # models that take pictures have it
    X = X if as_table is None else as_table(X)
    return rows_of_items(model, X, "X", getattr(model, "feature_names_in_", None))


def rows_of_items(model: Any, table: Any, what: str, names: Any = None) -> pd.DataFrame:
    """Return the rows of a table for the fitted items, in their order; `names` are for the columns of an array.

    Raises
    ------
    InputError
        The table does not have two dimensions, or does not fit the items.
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

    They are Labels for a model of classes, Pairs if those are given, else Groupings.

    Raises
    ------
    InputError
        They have other items, or annotators that are not in the fit.
    """
    estimator = unwrap(model)
    can = Capabilities.of(estimator)
    found = _own_labels(estimator, annotations) if can.names_classes else _own_groupings(estimator, annotations)
    return found if found.items.equals(estimator.items_) else found.reindex(estimator.items_)


def given_or_kept(model: Any, annotations: Any, function: str) -> Groupings | Labels | Pairs:
    """Return the annotations given, or else those that the model keeps, in the order of the fitted items.

    function : name of the calling function, for messages

    Raises
    ------
    InputError
        None are given and the model keeps none; or as in `own_annotations`.
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
    has = attributes(estimator, ["annotators_", "_missing"])
    known = has["annotators_"].index if "annotators_" in has else pd.Index([])
    missing = None if isinstance(annotations, Annotations) else has.get("_missing")
    found = read_given(annotations, kind, "The report", items=estimator.items_, missing=missing, known=known)
    is_array = isinstance(annotations, np.ndarray | list)
    return with_names(found, estimator.items_) if is_array else found.annotations


def _own_labels(estimator: Any, annotations: Any) -> Labels:
    """Return labels of the annotators of the fit; those of an earlier history may be absent."""
    if annotations is not None:
        annotations = _read(estimator, annotations, "labels")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X (has|does not have)")  # a matrix and Labels hold the same labels
        labels = _in_classes(estimator._labels(annotations, reset=False), estimator.confusion_matrices_.columns)
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


def project(model: Any, X: Any, groupings: Groupings | None) -> Projection:
    """Place the fitted items in the plane.

    Parameters
    ----------
    model : fitted estimator, or a pipeline that ends in one
    X : features as given to the model, or None
    groupings : of the fitted items, read if X is None

    Returns
    -------
    Projection
        Two features as they are, a single one against the clusters; the first two principal components of more; without
        features, those of the annotations; without groupings, those of the model's coordinates of the items, if any.
    """
    if X is None:
        if groupings is None:
            places = Capabilities.of(unwrap(model)).embedding
            if places is not None:
                return _components(places)
            raise InputError("X, the features, or groupings are needed to place the items in the plane. Got neither.")
        return _by_annotations(groupings)
    raw = raw_features(model, X)
    names = column_names(raw, "feature")
    if not names:
        raise InputError("X has no features.")
    if len(names) > 2:
        return _components(_seen(model, raw))
    points = _numbers(raw)
    if len(names) == 1:
        clusters = FoundClusters.of(unwrap(model), groupings)
        return Projection(
            np.column_stack([points, clusters.codes]), (names[0], clusters.noun), rows=tuple(clusters.shown)
        )
    return Projection(points, (names[0], names[1]), _log_odds(model, raw))


def _components(seen: Float[np.ndarray, "items features"]) -> Projection:
    components = PCA(min(2, seen.shape[1]), random_state=0).fit(seen)
    shares = np.append(components.explained_variance_ratio_, 0.0)
    points = np.zeros((len(seen), 2))
    points[:, : components.n_components_] = components.transform(seen)
    return Projection(points, (f"component 1 ({shares[0]:.0%} of the variance)", f"component 2 ({shares[1]:.0%})"))


def _seen(model: Any, raw: pd.DataFrame) -> Float[np.ndarray, "items features"]:
    """Return features as the estimator at the end of a pipeline gets them."""
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return np.asarray(model[:-1].transform(raw), dtype=float)
    return _numbers(raw)


def _numbers(raw: pd.DataFrame) -> Float[np.ndarray, "items features"]:
    """Return features as floats, all finite."""
    for name, column in zip(column_names(raw, "feature"), raw.items(), strict=True):
        numeric = pd.api.types.is_numeric_dtype(column[1].dtype)
        bad = ~np.isfinite(column[1].to_numpy(dtype=float)) if numeric else np.ones(len(raw), dtype=bool)
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"{name!r} of item {raw.index[row]!r} is {column[1].iloc[row]}. Expected a finite number to draw."
            )
    return raw.to_numpy(dtype=float)


def _log_odds(model: Any, raw: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray] | None:
    estimator = unwrap(model)
    if not Capabilities.of(estimator).has_boundaries:
        return None

    def log_odds(points: np.ndarray) -> np.ndarray:
        seen = _seen(model, pd.DataFrame(points, columns=raw.columns))
        return seen @ estimator.coef_.T + estimator.intercept_

    return log_odds


def _by_annotations(groupings: Groupings) -> Projection:
    """Return principal components of the incidence; items left out of a grouping count as the mean of its groups.

    Items are close if the same annotators put them together. An item that nobody grouped is in the middle.
    """
    grouping = groupings.grouping_of_group
    n = len(grouping)
    member = csr_array((np.ones(n), grouping, np.arange(n + 1)), shape=(n, groupings.n_groupings))
    given = groupings.incidence @ member  # (items, groupings)
    size, total = groupings.incidence.sum(0), given.sum(0)
    share = np.divide(size, total[grouping], out=np.zeros(n), where=size > 0)
    centred = csr_array(groupings.incidence - (given @ csr_array(member.T)) * share)
    points = np.zeros((len(groupings), 2))
    if min(centred.shape) > 1:
        found = TruncatedSVD(2, random_state=0).fit_transform(centred)
        points[:, : found.shape[1]] = found
    return Projection(points, ("dimension 1 of the annotations", "dimension 2 of the annotations"))
