"""Consistency of the attributes of a fitted estimator with each other and with its parameters, beyond shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Groupings
from consilience.annotations.names import name_index
from consilience.consensus import SubsetFusion
from consilience.estimators.base import CrowdEstimator
from consilience.persistence.checks import LARGEST, is_plain

Broken = Iterator[str]
"""Names of attributes that contradict another."""


def broken(estimator: Any) -> str:
    """Name an attribute that contradicts another; empty if none does.

    Parameters
    ----------
    estimator : fitted estimator, or the state of a session (`__getstate__`) as attributes of an object
    """
    given = vars(estimator).get("_given")
    if given is not None and not given.items.equals(estimator.items_):
        return "_given"
    found = _session if isinstance(estimator, SimpleNamespace) else RELATIONS.get(type(estimator).__name__)
    return "" if found is None else next(found(estimator), "")


def _classes(model: Any) -> Broken:
    most_probable, has_label = model.classes_[model.responsibilities_.argmax(1)], ~pd.isna(model.labels_)
    if not np.array_equal(model.labels_[has_label], most_probable[has_label]):  # the others have no labels
        yield "labels_"
    levels: Any = [model.annotators_.index, pd.Index(model.classes_, tupleize_cols=False)]
    rows: Any = np.indices((len(levels[0]), len(levels[1]))).reshape(2, -1)
    keys = pd.MultiIndex(levels, rows)
    for name in {"confusion_matrices_", "confusion_counts_"} & set(vars(model)):
        table = getattr(model, name)
        # as lists: to pandas 2, levels of the type str, which files of pandas 3 have, differ from those of objects
        if not (table.index.tolist() == keys.tolist() and table.columns.equals(model._label_names)):
            yield name


def _views(model: Any) -> Broken:
    found = model.view_responsibilities_[0]
    if not (np.array_equal(found, model.responsibilities_) and found.shape == model.responsibilities_.shape):
        yield "view_responsibilities_"
    labels = model.view_labels_.to_numpy()
    n_clusters = model.views_["n_clusters"].to_numpy()
    if (
        not np.array_equal(labels[:, 0], model.labels_)
        or (labels.min(0) < 0).any()
        or (labels.max(0) >= n_clusters).any()
    ):
        yield "view_labels_"
    if [part.shape[1] for part in model.view_responsibilities_] != n_clusters.tolist():
        yield "view_responsibilities_"
    if [len(own) for own in model._owned] != n_clusters.tolist() or not all(map(_is_distinct, model._owned)):
        yield "_owned"


def _uncertain(model: Any) -> Broken:
    yield from _views(model)
    n_features = getattr(model, "n_features_in_", 0)
    for (mean, deviation), owned in zip(model._weights, model._owned):
        if mean.shape != deviation.shape or len(mean) != n_features + 1 or owned.max(initial=0) >= mean.shape[1]:
            yield "_weights"


def _deep(model: Any) -> Broken:
    if model.image_shape_ and math.prod(model.image_shape_) != model.n_features_in_:
        yield "image_shape_"
        return
    if not model._state_fits():
        yield "state_"
    if not _is_distinct(model._owned) or int(model._owned.max()) >= model.n_clusters:
        yield "_owned"


def _deep_views(model: Any) -> Broken:
    yield from _views(model)
    if not model._state_fits():
        yield "state_"
    if max(int(owned.max(initial=0)) for owned in model._owned) >= model.n_clusters:
        yield "_owned"


def _is_distinct(codes: np.ndarray) -> bool:
    return len(np.unique(codes)) == len(codes)


def _fusion(model: Any) -> Broken:
    groupings = model.groupings_
    if not (isinstance(groupings, Groupings) and groupings.items.equals(model.items_)):
        yield "groupings_"
        return
    if (
        len(groupings.annotators) != len(model.annotators_)
        or not groupings.annotators.isin(model.annotators_.index).all()
    ):
        yield "annotators_"
    if not (len(model.n_clusters_curve_) and {"silhouette", "log_evidence"} <= set(model.n_clusters_curve_.columns)):
        yield "n_clusters_curve_"


def _views_of_groups(model: Any) -> Broken:
    labels, view = model.view_labels_.to_numpy(), model.annotator_view_
    n_clusters = model.views_["n_clusters"].to_numpy()
    if n_clusters[0] != model.n_clusters_ or n_clusters.max() > max(len(model.items_), 1):
        yield "views_"
    if not np.array_equal(labels[:, 0], model.labels_) or (labels.max(0) >= n_clusters).any() or labels.min() < -1:
        yield "view_labels_"
    if len(view) and not -1 <= view.min() <= view.max() < model.n_views_:
        yield "annotator_view_"


def _pairwise(model: Any) -> Broken:
    if (model.annotators_["n_together"] > model.annotators_["n_pairs"]).any():
        yield "annotators_"


def _metric(model: Any) -> Broken:
    yield from _pairwise(model)
    parts = model._metric
    root, log_det = parts
    n_features = model.n_features_in_
    shapes = [(n, n_features, *more) for n in (1, model.n_clusters_) for more in ((), (n_features,))]
    is_root = isinstance(root, np.ndarray) and root.dtype.kind == "f" and root.shape in shapes
    if not (is_root and (np.abs(root) <= LARGEST).all() and len(log_det) == len(root)):
        yield "_metric"


def _inductive(model: Any) -> Broken:
    consensus = model.consensus_
    if not (isinstance(consensus, CrowdEstimator) and type(consensus) is type(model.consensus)):
        yield "consensus_"
        return
    if not hasattr(consensus, "items_") or not consensus.items_.equals(model.items_):
        yield "consensus_"
    elif consensus.n_clusters_ != model.n_clusters_:
        yield "n_clusters_"
    if len(model._rates) != len(model._rated) + 1:
        yield "_rates"
    if not (hasattr(model.classifier_, "predict") and _is_code(model.classifier_, model.n_clusters_)):
        yield "classifier_"


def _is_code(classifier: Any, n_clusters: int) -> bool:
    classes = getattr(classifier, "classes_", None)
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "iu" and len(classes)):
        return False
    return 0 <= int(classes.min()) <= int(classes.max()) < n_clusters


def _session(state: SimpleNamespace) -> Broken:
    if not _is_of_items(state.items, state.items_):
        yield "items"
    groupings, fitted = state._groupings, state._fitted
    if groupings is not None and not (isinstance(groupings, Groupings) and groupings.items.equals(state.items_)):
        yield "_groupings"
    elif state._n_sampled > (0 if groupings is None else groupings.n_groupings):
        yield "_n_sampled"
    if fitted is not None and not (isinstance(fitted, SubsetFusion) and _is_of_items(fitted.items_, state.items_)):
        yield "_fitted"
    if state._counts[0] != len(state.items_):
        yield "_counts"
    numbers = {number for number, *_ in state._pending}
    if len(numbers) < len(state._pending) or not all(_are_items(items, state.items_) for _, items, _ in state._pending):
        yield "_pending"
    if not all(_are_items(items + answered, state.items_) for _, items, _, answered in state._left_out):
        yield "_left_out"


def _of_subsets(model: Any) -> Broken:
    if int(model._groups.max(initial=-1)) >= len(model._scores) - 1:
        yield "_groups"
    if not _is_distinct(model.shared_):
        yield "shared_"


def _is_of_items(items: Any, known: pd.Index) -> bool:
    """Whether these are the items of a session; ranges are compared by their ends."""
    if len(items) != len(known):
        return False
    if isinstance(items, pd.RangeIndex):
        return bool(known.equals(items))
    return all(map(is_plain, items)) and bool(known.equals(name_index(list(items))))


def _are_items(items: Any, known: pd.Index) -> bool:
    try:
        return type(items) is list and all(item in known for item in items)
    except TypeError:  # a list among them
        return False


RELATIONS: dict[str, Callable[[Any], Broken]] = {
    **dict.fromkeys(("MajorityVote", "DawidSkene", "ProductMixture", "SpectralEM", "StagewiseEM"), _classes),
    **dict.fromkeys(("MCVC", "MECC"), _uncertain),
    **dict.fromkeys(("BayesSCDC", "SCDC"), _deep),
    "DeepMCVC": _deep_views,
    "SubsetFusion": _fusion,
    "MetaClustering": _views_of_groups,
    "MPCKMeans": _metric,
    **dict.fromkeys(("ITMLClustering", "SemiCrowd"), _pairwise),
    "InductiveConsensus": _inductive,
    "SubsetClustering": _of_subsets,
}
