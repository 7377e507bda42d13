"""What a plot is given: a fitted model and its annotations, annotations alone, or findings, which hold both."""

from __future__ import annotations

from typing import Any

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.findings import Findings
from consilience.analysis.fitted import own_annotations, unwrap
from consilience.annotations import Groupings, Labels, Pairs
from consilience.errors import InputError


def fit_of(
    model: Any, X: Any, annotations: Any, plot: str
) -> tuple[Any, Any, Groupings | Labels | Pairs | None, FoundClusters]:
    """Return a fitted model, features, annotations in the order of its items, and the clusters as people call them.

    plot : name of the plot, for messages

    Raises InputError: findings come with features or annotations, or annotations do not fit the model.
    """
    if isinstance(model, Findings):
        _require_alone(plot, X, annotations)
        return model.model, model.features, model.annotations, model.clusters
    given = None if annotations is None else own_annotations(model, annotations)
    return model, X, given, FoundClusters.of(unwrap(model), given)


def co_occurrence_of(model: Any, annotations: Any, plot: str) -> CoOccurrence:
    """Return which items were put together, of findings, of a model and annotations, or of annotations alone.

    plot : name of the plot, for messages

    Raises InputError: findings come with annotations, or are of items that are in no grouping; or as in
    `CoOccurrence.of`.
    """
    if not isinstance(model, Findings):
        return CoOccurrence.of(model, annotations, plot)
    _require_alone(plot, annotations)
    if model.co_occurrence is None:
        n_items = len(model.annotations)
        raise InputError(f"{plot} needs items that are in a grouping. Got {n_items} items, none of them in any.")
    return model.co_occurrence


def _require_alone(plot: str, *more: Any) -> None:
    if any(value is not None for value in more):
        raise InputError(f"The findings given to {plot} hold annotations and features already; leave these out.")
