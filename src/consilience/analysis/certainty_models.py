"""Fitted models whose people can be weighed, and how their fits are repeated under weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.copies import groups_of_copies
from consilience.annotations import Groupings, Labels
from consilience.annotations.names import MISSING
from consilience.consensus.groupings.co_occurrence import Seen, own_of_parts
from consilience.consensus.groupings.kcc import KCCProblem as Utility
from consilience.consensus.groupings.weighted_co_occurrence import Partitioning
from consilience.consensus.groupings.weighted_kcc import WeightedUtility
from consilience.consensus.groupings.weighted_mixture import WeightedMixtureSearch
from consilience.consensus.labels.copies import merge_groups, one_label_of_each
from consilience.consensus.labels.dawid_skene import imagined_sizes
from consilience.consensus.labels.weighted_labels import Encoded, Votes, WeightedDawidSkene, WeightedMixture
from consilience.errors import InputError
from consilience.estimators.grouping_copies import weighing_together
from consilience.inference.clusters import determined_clusters
from consilience.inference.product_distributions import shared_weights
from consilience.inference.reweighted import Clusters, Reweighted, Weights
from consilience.semisupervised.partition_label_model import PartitionLabelModelProblem
from consilience.semisupervised.weighted_partition_labels import WeightedPartitionLabels

ROUNDING = 1e-6  # of sums of counts


@dataclass(frozen=True)
class Fitted:
    """A fitted model and its annotations, all in canonical order.

    cluster : of each item, -1 for none.
    responsibilities : of each item.
    group : of annotators who weigh together, -1 for those who are alone.
    features : one row for each item, without columns if there are none.
    rng : for what a fit chooses at random once.
    """

    estimator: Any
    annotations: Groupings | Labels
    cluster: Clusters
    responsibilities: np.ndarray
    group: Int[np.ndarray, " annotators"]
    features: np.ndarray
    rng: np.random.Generator

    @property
    def groupings(self) -> Groupings:
        """The groupings, without what annotators who weigh together repeat."""
        groupings = self.annotations.to_groupings() if isinstance(self.annotations, Labels) else self.annotations
        return weighing_together(groupings, self.group)

    @property
    def labels(self) -> Labels:
        """The annotations of a model of labels."""
        if not isinstance(self.annotations, Labels):
            raise TypeError("Groupings have no labels.")
        return self.annotations


@dataclass(frozen=True)
class Unanimous:
    """Clusters that follow from the groupings whoever is weighed how."""

    cluster: Clusters

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the clusters."""
        return self.cluster


@dataclass(frozen=True)
class OfSeen:
    """Draws for the items that are in some grouping; those of some annotators alone are read.

    annotators : positions of those that are read.
    """

    inner: Reweighted
    seen: Seen
    annotators: Int[np.ndarray, " read"]

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return clusters that do not span parts of the evidence; -1 for items in no grouping."""
        found = self.inner.draw(weights[self.annotators], rng)
        return self.seen.scattered(own_of_parts(found, self.seen.part))


def build_reweighted(fitted: Fitted) -> Reweighted:
    """Return what repeats the fit under weights; the model is one of `BUILDERS`.

    Raises
    ------
    InputError
        The model cannot weigh people with these settings.
    """
    return BUILDERS[type(fitted.estimator).__name__](fitted)


def _of_seen(fitted: Fitted, make: Callable[[Seen, Clusters], Reweighted]) -> Reweighted:
    groupings = fitted.groupings
    seen = Seen.of(groupings)
    places = fitted.annotations.annotators.get_indexer(groupings.annotators)
    cluster = np.unique(fitted.cluster[seen.places], return_inverse=True)[1]
    return OfSeen(make(seen, cluster), seen, places)


def _subset_fusion(fitted: Fitted) -> Reweighted:
    estimator = fitted.estimator
    if not estimator.refine:
        raise InputError("The people of SubsetFusion cannot be weighed with refine=False. Fit it with refine=True.")
    auto = estimator.n_clusters == "auto"

    def make(seen: Seen, cluster: Clusters) -> Reweighted:
        determined = auto and determined_clusters(seen.memberships, seen.part) is not None
        if determined or (not auto and int(estimator.n_clusters) == 1):
            return Unanimous(cluster)
        n_items = seen.memberships.n_items
        bound = max(int(estimator.max_clusters), int(cluster.max()) + 1)  # the fit may have gone beyond its bound
        most = min(bound, max(n_items - 1, 1)) if auto else int(estimator.n_clusters)
        numbers = range(min(2, most), most + 1) if auto else range(most, most + 1)
        return WeightedMixtureSearch.of(seen.memberships, cluster, numbers, rng=fitted.rng)

    return _of_seen(fitted, make)


def _cspa(fitted: Fitted) -> Reweighted:
    estimator = fitted.estimator
    number = None if estimator.n_clusters == "auto" else int(estimator.n_clusters)
    return _of_seen(fitted, lambda seen, cluster: Partitioning(seen, cluster, number, int(estimator.max_clusters)))


def _kcc(fitted: Fitted) -> Reweighted:
    estimator = fitted.estimator

    def make(seen: Seen, cluster: Clusters) -> Reweighted:
        settings: dict[str, Any] = {"normalize": estimator.normalize, "n_clusters": int(estimator.n_clusters)}
        problem = Utility.of(seen.memberships, estimator.utility, estimator.p, **settings)
        return WeightedUtility(seen.memberships, problem, cluster, int(estimator.max_iter))

    return _of_seen(fitted, make)


def _merge_labels(labels: Labels, group: Int[np.ndarray, " annotators"]) -> np.ndarray:
    weight = shared_weights(labels.item, group[labels.annotator])
    return np.ones(labels.n_rows) if weight is None else weight


def _majority_vote(fitted: Fitted) -> Reweighted:
    return Votes(fitted.labels, _merge_labels(fitted.labels, fitted.group))


def _dawid_skene(fitted: Fitted) -> Reweighted:
    estimator, labels = fitted.estimator, fitted.labels
    if estimator.confusion_counts_.to_numpy().sum() > (1 + ROUNDING) * labels.n_rows:
        raise InputError("The people of a DawidSkene with a history cannot be weighed: it does not keep their labels.")
    n_subtypes, learned = int(estimator.n_subtypes_), estimator.prior is not None
    encoded = Encoded(labels, labels.n_classes * n_subtypes, _merge_labels(labels, fitted.group))
    q = fitted.responsibilities
    if n_subtypes > 1:
        own = np.maximum(pd.Series(estimator.subtypes_, estimator.items_).reindex(labels.items).to_numpy(), 0)
        q = (q[:, :, None] * np.eye(n_subtypes)[own][:, None, :]).reshape(len(q), -1)
    sizes = imagined_sizes(one_label_of_each(labels, fitted.group)) if learned else 0.0
    return WeightedDawidSkene.of(encoded, q, sizes, one_coin=estimator.confusion == "one-coin", learned=learned)


def _product_mixture(fitted: Fitted) -> Reweighted:
    labels = merge_groups(fitted.labels, fitted.group)
    estimator, q = fitted.estimator, fitted.responsibilities
    from_votes = isinstance(estimator.init, str) and estimator.init != "random" and q.shape[1] == labels.n_classes
    encoded = Encoded(labels, q.shape[1], np.ones(labels.n_rows))
    return WeightedMixture(encoded, q, float(estimator.smoothing), from_votes)


def _partition_label_model(fitted: Fitted) -> Reweighted:
    estimator, groupings = fitted.estimator, fitted.groupings
    if fitted.features.shape[1] != len(estimator.features_used_):
        raise InputError(
            f"PartitionLabelModel was fitted to {len(estimator.features_used_)} features, and the certainty needs "
            f"them: certainty(model, annotations, X). Got {fitted.features.shape[1]}."
        )
    problem = PartitionLabelModelProblem.of(fitted.features[:, estimator.features_used_], groupings)
    prior = estimator.prior_of(problem, estimator.prior_variance_)
    reliability = estimator.annotators_["reliability"].reindex(groupings.annotators).to_numpy()
    places = fitted.annotations.annotators.get_indexer(groupings.annotators)
    return OfRead(WeightedPartitionLabels.of(problem, prior, fitted.responsibilities, reliability), places)


@dataclass(frozen=True)
class OfRead:
    """Draws where only some annotators are read, at these positions."""

    inner: Reweighted
    annotators: Int[np.ndarray, " read"]

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the clusters of all items."""
        return self.inner.draw(weights[self.annotators], rng)


BUILDERS: dict[str, Callable[[Fitted], Reweighted]] = {
    "CSPA": _cspa,
    "DawidSkene": _dawid_skene,
    "KCC": _kcc,
    "MajorityVote": _majority_vote,
    "PartitionLabelModel": _partition_label_model,
    "ProductMixture": _product_mixture,
    "SubsetFusion": _subset_fusion,
}
NEED_FEATURES = ("PartitionLabelModel",)  # models that need the features of the fit, if there were any


def places_of_copies(estimator: Any, annotators: pd.Index) -> Int[np.ndarray, " annotators"]:
    """Number of the group of each annotator who weighs together with others, -1 for those who are alone."""
    group = np.full(len(annotators), MISSING)
    for number, copies in enumerate(groups_of_copies(estimator)):
        group[annotators.get_indexer(pd.Index(copies["annotators"], tupleize_cols=False))] = number
    return group
