"""Parts of a file other than estimators of the registry: steps of pipelines, clusterers of subsets, and sessions."""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from consilience.annotations import Groupings, Labels
from consilience.annotations.names import name_index
from consilience.consensus import SubsetFusion
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import (
    ANYTHING,
    NAME,
    TEXT,
    TRUTH,
    Attributes,
    Check,
    Sizes,
    array,
    either,
    is_plain,
    list_of,
    names,
    number,
    one_of,
    optional,
    or_none,
    reals,
    size,
    texts,
    tuple_of,
    whole,
)

STEPS = {
    "StandardScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "RobustScaler": "sklearn.preprocessing",
    "PCA": "sklearn.decomposition",
    "SimpleImputer": "sklearn.impute",
    "OneHotEncoder": "sklearn.preprocessing",
    "ColumnTransformer": "sklearn.compose",
}
CLASSIFIERS = {"LogisticRegression": "sklearn.linear_model", "DummyClassifier": "sklearn.dummy"}
CLUSTERERS = {
    **dict.fromkeys(("KMeans", "MiniBatchKMeans", "BisectingKMeans", "SpectralClustering"), "sklearn.cluster"),
    **dict.fromkeys(("AgglomerativeClustering", "Birch", "DBSCAN", "HDBSCAN", "OPTICS"), "sklearn.cluster"),
    **dict.fromkeys(("AffinityPropagation", "MeanShift"), "sklearn.cluster"),
    **dict.fromkeys(("GaussianMixture", "BayesianGaussianMixture"), "sklearn.mixture"),
}
PARTS = (
    STEPS
    | CLASSIFIERS
    | CLUSTERERS
    | {
        "Pipeline": "sklearn.pipeline",
        "MissingIndicator": "sklearn.impute",
        "FunctionTransformer": "sklearn.preprocessing",
    }
)
"""Classes of scikit-learn that a file may contain.

MissingIndicator is part of an imputer. FunctionTransformer is what a fitted ColumnTransformer uses for columns that
pass through; no file can contain a function.
"""

STRATEGIES = ("ExploitOneVsRest", "ExploitPairwise", "Explore", "ExploreExploitTradeoff", "Informative", "Random")
SESSIONS = ("ActiveSession", "LabelSession")
SESSION_CLASSES = dict.fromkeys((*SESSIONS, *STRATEGIES), "consilience.active")
"""Sessions in progress, and the strategies that compose their subsets."""
CLUSTERING = "SubsetClustering"
OWN_CLASSES = SESSION_CLASSES | {CLUSTERING: "consilience.subsets"}
"""Classes of the package that read no annotations when they are made, so that the registry does not name them."""


def is_part(value: Any, parts: dict[str, str]) -> bool:
    """Whether a value is an instance of one of these classes, and not of a subclass."""
    name = type(value).__name__
    return name in parts and type(value) is getattr(import_module(parts[name]), name)


def instance_of(*parts: str) -> Check:
    """An instance of one of these classes, by name."""
    return Check(" or ".join(parts), lambda value, sizes: type(value).__name__ in parts)


def _dict_of(kind: type) -> Check:
    def holds(value: Any, sizes: Sizes) -> bool:
        return type(value) is dict and all(isinstance(part, kind) for part in value.values())

    return Check(f"a dict of values of type {kind.__name__}", holds)


def _are_counts(value: Any, sizes: Sizes) -> bool:
    """Whether these are the number of items, and for each pair its key and three counts: presented, judged, same."""
    own: Sizes = {}
    columns = [array(int, "pairs", low=0)] * 4
    if not tuple_of(whole(), *columns).holds(value, own):
        return False
    n_items, key, _, answered, together = value
    known = not len(key) or (int(key[-1]) < n_items**2 and bool((np.diff(key) > 0).all()))
    return known and bool((together <= answered).all())


RANDOM_NUMBERS = Check("a RandomState", lambda value, sizes: type(value) is np.random.RandomState)
SUBSET = tuple_of(whole(), list_of(NAME), NAME)  # number, items, annotator
LEFT_OUT = tuple_of(whole(), list_of(NAME), NAME, list_of(NAME))  # also the items that were answered
OF_FEATURES = reals("features", nan=True)
INPUT: Attributes = {"n_features_in_": size("features"), "feature_names_in_": optional(texts("features"))}
SEEN = {"n_samples_seen_": either(number(0), array(float, "features", low=0), array(int, "features", low=0))}
NAMES = list_of(TEXT)
COLUMNS = Check("columns", lambda value, sizes: isinstance(value, str | int | list | UserList | slice | np.ndarray))
STEP = Check("a step", lambda value, sizes: isinstance(value, str) or hasattr(value, "get_params"))
TRANSFORMER = tuple_of(TEXT, STEP, COLUMNS)
TRANSFORMERS = list_of(TRANSFORMER)

ATTRIBUTES: dict[str, Attributes] = {
    "StandardScaler": INPUT
    | SEEN
    | {"mean_": or_none(OF_FEATURES), "scale_": or_none(OF_FEATURES)}
    | {"var_": or_none(array(float, "features", low=0, nan=True))},
    "MinMaxScaler": INPUT
    | {"n_samples_seen_": number(0)}
    | dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), OF_FEATURES),
    "RobustScaler": INPUT | {name: or_none(OF_FEATURES) for name in ("center_", "scale_")},
    "PCA": INPUT
    | {
        "n_components_": size("components"),
        "components_": reals("components", "features"),
        "mean_": reals("features"),
        "explained_variance_": array(float, "components"),
        "explained_variance_ratio_": array(float, "components", nan=True),
        "singular_values_": array(float, "components"),
        "noise_variance_": number(nan=True),
        "n_samples_": whole(),
    },
    "SimpleImputer": INPUT
    | {"statistics_": array(None, "features"), "indicator_": or_none(instance_of("MissingIndicator"))},
    "MissingIndicator": {
        "n_features_in_": size("features"),
        "features_": array(int, None, low=0),
        "_n_features": size("features"),
    },
    "OneHotEncoder": INPUT
    | {
        "categories_": list_of(array(None, None), "features"),
        "drop_idx_": or_none(array(None, "features")),
        "_n_features_outs": list_of(whole(), "features"),
    },
    "ColumnTransformer": INPUT
    | {
        "transformers_": TRANSFORMERS,
        "_columns": list_of(COLUMNS),
        "_transformer_to_input_indices": _dict_of(list),
        "_remainder": TRANSFORMER,
        "output_indices_": _dict_of(slice),
        "sparse_output_": TRUTH,
    },
    "FunctionTransformer": {},
    "LogisticRegression": {
        **INPUT,
        "classes_": names("classes", array=True),
        "n_iter_": array(int, None, low=0),
        "coef_": either(reals(1, "features"), reals("classes", "features")),
        "intercept_": either(reals(1), reals("classes")),
    },
    "DummyClassifier": {
        "n_outputs_": whole(1),
        "classes_": names("classes", array=True),
        "n_classes_": size("classes"),
        "class_prior_": array(float, "classes", low=0, high=1, shares=True),
        "_strategy": one_of("most_frequent", "prior", "stratified", "uniform", "constant"),
        "sparse_output_": TRUTH,
    },
    "ActiveSession": {
        "items_": names("items"),
        "_groupings": ANYTHING,
        "_pending": list_of(SUBSET),
        "_left_out": list_of(LEFT_OUT),
        "_strategy": instance_of(*STRATEGIES),
        "_random": RANDOM_NUMBERS,
        "_counts": Check("counts of pairs", _are_counts),
        "_n_asked": whole(),
        "_history": list_of(tuple_of(whole(), whole(), whole(), number(nan=True))),
        "_fitted": or_none(instance_of("SubsetFusion")),
        "_samples": or_none(array(int, None, "items", low=0)),
        "_n_sampled": whole(),
    },
    "LabelSession": {
        "items_": names("items"),
        "_labels": ANYTHING,
        "_pending": list_of(tuple_of(whole(1), NAME, NAME, number(0, nan=True), TRUTH)),
        "_declined": list_of(tuple_of(NAME, NAME)),
        "_answered": list_of(tuple_of(TRUTH, number(0), TRUTH)),
        "_random": RANDOM_NUMBERS,
        "_n_asked": whole(),
        "_fitted": ANYTHING,
        "_n_fitted": whole(),
    },
}
"""The attributes of parts of scikit-learn on which their results depend; other versions have more."""


def contradictions_of_session(state: SimpleNamespace) -> Iterator[str]:
    """Yield the names of attributes of a session in progress (`__getstate__`) that contradict another."""
    if not _is_of_items(state.items, state.items_):
        yield "items"
    yield from _of_labels(state) if hasattr(state, "_labels") else _of_groupings(state)


def _of_labels(state: SimpleNamespace) -> Iterator[str]:
    labels, fitted = state._labels, state._fitted
    if labels is not None and not (isinstance(labels, Labels) and labels.items.equals(state.items_)):
        yield "_labels"
    elif state._n_fitted > (0 if labels is None else labels.n_rows):
        yield "_n_fitted"
    if (fitted is None) != (state._n_fitted == 0):
        yield "_fitted"
    if fitted is not None and not (isinstance(fitted, LabelAggregator) and _is_of_items(fitted.items_, state.items_)):
        yield "_fitted"
    numbers = {number for number, *_ in state._pending}
    asked = [item for _, item, *_ in state._pending]
    if len(numbers) < len(asked) or max(numbers, default=0) > state._n_asked or not _are_items(asked, state.items_):
        yield "_pending"
    if not _are_items([item for item, _ in state._declined], state.items_):
        yield "_declined"


def _of_groupings(state: SimpleNamespace) -> Iterator[str]:
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


class WidthError(ValueError):
    """Steps return another number of features than the model takes."""


def try_out(pipeline: Pipeline) -> None:
    """Pass one item through the fitted steps before the model of a pipeline; they raise an error if they mismatch."""
    n_features = getattr(pipeline[0], "n_features_in_", None)
    if n_features is None or not (_takes_features(pipeline[-1]) and _are_fitted(pipeline)):
        return  # unfitted, or part of a ColumnTransformer, which is tried out as a whole
    called = getattr(pipeline[0], "feature_names_in_", None)
    item = pd.DataFrame([[0.0] * n_features], columns=called).astype(object)
    for column, category in _categories(pipeline[0]):
        item.isetitem(column, [category])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        typed = item.infer_objects()
        found = pipeline[:-1].transform(typed.to_numpy() if called is None else typed)
    wanted = pipeline[-1].n_features_in_
    if found.shape != (1, wanted):
        raise WidthError(f"the steps return {found.shape[1]} features, but the model takes {wanted}")


def _takes_features(model: Any) -> bool:
    return hasattr(model, "predict") and hasattr(model, "n_features_in_")


def _are_fitted(pipeline: Pipeline) -> bool:
    before = [step for _, step in pipeline.steps[:-1]]
    return all(step == "passthrough" or step is None or hasattr(step, "n_features_in_") for step in before)


def _categories(step: Any) -> list[tuple[int, Any]]:
    """Return a valid category for each text column, by the columns of the first step."""
    if isinstance(step, OneHotEncoder):
        return [(place, values[0]) for place, values in enumerate(step.categories_) if len(values)]
    if isinstance(step, Pipeline):
        return _categories(step[-1])
    if isinstance(step, ColumnTransformer):
        columns = step._transformer_to_input_indices
        return [
            (columns[name][place], category)
            for name, part, _ in step.transformers_
            for place, category in _categories(part)
        ]
    return []
