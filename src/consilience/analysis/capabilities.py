"""What a fitted model offers beyond the clusters of its items: the only place that checks which attributes it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.annotations import Groupings

ATTRIBUTES = (
    "_assumes_accuracy",
    "annotator_mapping_",
    "annotators_",
    "co_occurrence",
    "coef_",
    "converged_",
    "covariances_",
    "embedding_",
    "groupings_",
    "losses_",
    "lower_bound_",
    "lower_bounds_",
    "n_ties_",
    "notes_",
    "prior_variance_search_",
    "refined_",
    "responsibilities_",
    "restart_bounds_",
    "tags_",
    "undecided_",
    "values_",
    "views_",
)


@dataclass(frozen=True)
class Capabilities:
    """What a fitted model offers about items, annotators and its own fit.

    names_classes : it learns from labels whose names all annotators share, and finds classes of these names.
    assumes_accuracy : nothing tells how often its labels are right, since no item has two of different annotators.
    maps_groups : it estimates what the annotators' groups mean.
    fuses : it fuses groupings, and keeps how often items were put together.
    rates_annotators : it has figures of every annotator.
    counts_votes : it has the share of votes for each cluster instead of a probability.
    has_values : it has a value of each item on a scale of levels.
    has_tags : its classes are sets of tags, of which it has the probability of each.
    has_probabilities : it has the probability of each item's cluster.
    is_probabilistic : its probabilities can lie between 0 and 1, even if those of this fit do not.
    has_latent_space : clusters are Gaussians in a space that a network decodes.
    has_boundaries : boundaries between the clusters are linear in the features.
    has_epochs : it was trained in epochs, and keeps the loss after each.
    has_bounds : it keeps the lower bound after each sweep.
    searched_variance : it chose its prior variance among several.
    n_views : number of clusterings, held by different annotators.
    n_ties : number of items of which several classes are equally probable, or have equally many votes.
    restart_bounds : ndarray, final bound of each restart; empty if there were none, or they are not kept.
    converged : whether the fit converged; None if it has no such test.
    notes : notes on the fit, in sentences.
    groupings : Groupings to which it was fitted, if it keeps them.
    embedding : coordinates of the items, shape (n_items, n_dimensions), if it has any.
    """

    names_classes: bool
    assumes_accuracy: bool
    maps_groups: bool
    fuses: bool
    rates_annotators: bool
    counts_votes: bool
    has_values: bool
    has_tags: bool
    has_probabilities: bool
    is_probabilistic: bool
    has_latent_space: bool
    has_boundaries: bool
    has_epochs: bool
    has_bounds: bool
    searched_variance: bool
    n_views: int
    n_ties: int
    restart_bounds: np.ndarray
    converged: bool | None
    notes: tuple[str, ...]
    groupings: Groupings | None
    embedding: np.ndarray | None

    @classmethod
    def of(cls, estimator: Any) -> Capabilities:
        """Read the capabilities off a fitted estimator."""
        has = attributes(estimator, ATTRIBUTES)
        kept, embedding = has.get("groupings_"), has.get("embedding_")
        names_classes = hasattr(type(estimator), "confusion_matrices_")  # without making those that are not made yet
        return cls(
            names_classes=names_classes,
            assumes_accuracy=has.get("_assumes_accuracy", False),
            maps_groups="annotator_mapping_" in has,
            fuses="co_occurrence" in has,
            rates_annotators="annotators_" in has,
            counts_votes="n_ties_" in has,
            has_values="values_" in has,
            has_tags="tags_" in has,
            has_probabilities="responsibilities_" in has and bool(has.get("refined_", True)),
            is_probabilistic=names_classes or not has.keys().isdisjoint(("refined_", "lower_bound_")),
            has_latent_space="covariances_" in has,
            has_boundaries="coef_" in has and has["coef_"].shape[1] > 0,
            has_epochs="losses_" in has,
            has_bounds="lower_bounds_" in has,
            searched_variance="prior_variance_search_" in has,
            n_views=len(has.get("views_", ())),
            n_ties=int(np.sum(has.get("undecided_", 0))),
            restart_bounds=np.asarray(has.get("restart_bounds_", ())),
            converged=bool(has["converged_"]) if "converged_" in has else None,
            notes=tuple(has.get("notes_", ())),
            groupings=kept if isinstance(kept, Groupings) else None,
            embedding=None if embedding is None else np.asarray(embedding),
        )

    @property
    def has_views(self) -> bool:
        """Whether there are several clusterings, held by different annotators."""
        return self.n_views > 1


def attributes(estimator: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of those attributes that an estimator has and that are not None."""
    found = {name: getattr(estimator, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}
