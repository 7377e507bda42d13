"""Fitted models whose people can be weighed, and how their fits are repeated under weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.capabilities import attributes
from consilience.analysis.copies import groups_of_copies
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.names import MISSING
from consilience.consensus.groupings.co_occurrence import Seen, own_of_parts
from consilience.consensus.groupings.kcc import KCCProblem as Utility
from consilience.consensus.groupings.weighted_co_occurrence import Partitioning
from consilience.consensus.groupings.weighted_kcc import WeightedUtility
from consilience.consensus.groupings.weighted_mixture import WeightedMixtureSearch
from consilience.consensus.labels.annotator_models import NO_PULL
from consilience.consensus.labels.choice_of_prior import PULL, prior_of_classes
from consilience.consensus.labels.constant_annotators import without
from consilience.consensus.labels.copies import merge_groups, one_label_of_each
from consilience.consensus.labels.dawid_skene import imagined_sizes
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.consensus.labels.product_mixture import SMOOTHING
from consilience.consensus.labels.weighted_labels import Encoded, Votes, WeightedDawidSkene, WeightedMixture
from consilience.consensus.labels.weighted_tags import WeightedTags
from consilience.consensus.pairs.weighted_correlation_clustering import WeightedCorrelationClustering
from consilience.errors import InputError
from consilience.estimators.grouping_copies import weighing_together
from consilience.inference.clusters import determined_clusters
from consilience.inference.pair_evidence import PairEvidence
from consilience.inference.product_distributions import shared_weights
from consilience.inference.reweighted import FEWEST_PEOPLE, Clusters, Reweighted, Weights
from consilience.semisupervised.mcvc import MCVCProblem
from consilience.semisupervised.mcvc_estimator import prior_of
from consilience.semisupervised.partition_label_model import PartitionLabelModelProblem
from consilience.semisupervised.weighted_mcvc import WeightedMCVC
from consilience.semisupervised.weighted_partition_labels import WeightedPartitionLabels

ROUNDING = 1e-6  # of sums of counts


@dataclass(frozen=True)
class Fitted:
    """A fitted model and its annotations, all in canonical order.

    items : their positions in the fit.
    cluster : of each item, -1 for none.
    responsibilities : of each item.
    group : of annotators who weigh together, -1 for those who are alone.
    known : class of items of which it is known, else -1.
    features : one row for each item, without columns if there are none.
    rng : for what a fit chooses at random once.
    """

    estimator: Any
    annotations: Groupings | Labels | Pairs
    items: Int[np.ndarray, " items"]
    cluster: Clusters
    responsibilities: np.ndarray
    group: Int[np.ndarray, " annotators"]
    known: Clusters
    features: np.ndarray
    rng: np.random.Generator

    @property
    def groupings(self) -> Groupings:
        """The groupings, without what annotators who weigh together repeat."""
        groupings = self.annotations.to_groupings() if isinstance(self.annotations, Labels) else self.annotations
        if isinstance(groupings, Pairs):
            raise TypeError("Judged pairs are no groupings.")
        return weighing_together(groupings, self.group)

    @property
    def labels(self) -> Labels:
        """The annotations of a model of labels."""
        if not isinstance(self.annotations, Labels):
            raise TypeError("The annotations are no labels.")
        return self.annotations


@dataclass(frozen=True)
class Unanimous:
    """Clusters that follow from the groupings whoever is weighed how."""

    cluster: Clusters

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
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

    Raises InputError: the model cannot weigh people with these settings.
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


def _encode_heard(fitted: Fitted, labels: Labels, n_components: int, weight: np.ndarray) -> Encoded:
    """Encode the labels that the fit reads; every item that has labels, or a known class, is clustered."""
    clustered = (np.diff(fitted.labels.indptr) > 0) | (fitted.known >= 0)
    return Encoded(labels, n_components, weight, fitted.known, clustered)


def _majority_vote(fitted: Fitted) -> Reweighted:
    return Votes(fitted.labels, _merge_labels(fitted.labels, fitted.group), fitted.known)


def _dawid_skene(fitted: Fitted) -> Reweighted:
    estimator, given = fitted.estimator, fitted.labels
    counts = vars(estimator).get("confusion_counts_")  # those that are made when asked for have no history
    if counts is not None and counts.to_numpy().sum() > (1 + ROUNDING) * given.n_rows:
        raise InputError("The people of a DawidSkene with a history cannot be weighed: it does not keep their labels.")
    labels = without(given, estimator.are_silent(given))
    n_subtypes, learned = int(estimator.n_subtypes_), estimator.prior is not None
    encoded = _encode_heard(fitted, labels, labels.n_classes * n_subtypes, _merge_labels(labels, fitted.group))
    if "_sparse_counts" in vars(estimator):
        encoded = replace(encoded, counting=estimator.counting_of_sparse())
    q = fitted.responsibilities
    if n_subtypes > 1:
        own = np.maximum(pd.Series(estimator.subtypes_, estimator.items_).reindex(labels.items).to_numpy(), 0)
        q = (q[:, :, None] * np.eye(n_subtypes)[own][:, None, :]).reshape(len(q), -1)
    of_earlier = PULL if vars(estimator).get("is_cautious_") else NO_PULL  # files of earlier versions have no pull
    pull = tuple(vars(estimator).get("_pull", of_earlier))
    once = one_label_of_each(labels, fitted.group)
    sizes = prior_of_classes(PairSums.of(once, fitted.known), pull) if learned else 0.0
    one_coin = estimator.confusion == "one-coin"
    return WeightedDawidSkene.of(encoded, q, sizes, pull=pull, one_coin=one_coin, learned=learned)


def _mixture(fitted: Fitted, labels: Labels, smoothing: float, *, from_votes: bool = False) -> Reweighted:
    q = fitted.responsibilities
    encoded = _encode_heard(fitted, labels, q.shape[1], np.ones(labels.n_rows))
    return WeightedMixture(encoded, q, smoothing, from_votes)


def _product_mixture(fitted: Fitted) -> Reweighted:
    labels, estimator = merge_groups(fitted.labels, fitted.group), fitted.estimator
    named = fitted.responsibilities.shape[1] == labels.n_classes
    from_votes = isinstance(estimator.init, str) and estimator.init != "random" and named
    return _mixture(fitted, labels, float(estimator.smoothing), from_votes=from_votes)


def _spectral_em(fitted: Fitted) -> Reweighted:
    labels, smoothing = merge_groups(fitted.labels, fitted.group), float(fitted.estimator.smoothing)
    return _mixture(fitted, labels, smoothing, from_votes=True)  # from the fit, noise would be repeated


def _stagewise_em(fitted: Fitted) -> Reweighted:
    labels, estimator = merge_groups(fitted.labels, fitted.group), fitted.estimator
    labels = without(labels, estimator.are_silent(labels))  # the informative set decides
    q = fitted.responsibilities
    if estimator.refine != "informative" or q.shape[1] != labels.n_classes:
        return _mixture(fitted, labels, SMOOTHING)
    encoded = _encode_heard(fitted, labels, q.shape[1], np.ones(labels.n_rows))
    sizes = imagined_sizes(labels) if estimator.fell_back_ else 0.0
    return WeightedDawidSkene.of(encoded, q, sizes, from_votes=bool(estimator.fell_back_))


def _tag_consensus(fitted: Fitted) -> Reweighted:
    estimator, labels = fitted.estimator, fitted.labels
    found = attributes(estimator, ["_known", "_log_rates", "_log_prevalence"])
    evidence = estimator.evidence_of(labels, found["_known"][fitted.items])
    log_rates = found["_log_rates"][:, :, estimator.annotators_.index.get_indexer(labels.annotators)]
    codes_of, n_sets = estimator.codes_of_sets, estimator.n_clusters_
    return WeightedTags(evidence, log_rates, found["_log_prevalence"], codes_of, n_sets, fitted.cluster >= 0)


def _partition_label_model(fitted: Fitted) -> Reweighted:
    estimator, groupings = fitted.estimator, fitted.groupings
    _require_features(fitted, len(estimator.features_used_))
    problem = PartitionLabelModelProblem.of(fitted.features[:, estimator.features_used_], groupings)
    prior = estimator.prior_of(problem, estimator.prior_variance_)
    reliability = estimator.annotators_["reliability"].reindex(groupings.annotators).to_numpy()
    places = fitted.annotations.annotators.get_indexer(groupings.annotators)
    return OfRead(WeightedPartitionLabels.of(problem, prior, fitted.responsibilities, reliability), places)


def _views(fitted: Fitted) -> Reweighted:
    estimator, own = fitted.estimator, fitted.annotations
    n_features = attributes(estimator, ["n_features_in_"]).get("n_features_in_", 0)
    _require_features(fitted, n_features)
    evidence = PairEvidence.of(own, implied=estimator.implied_pairs)
    n_clusters = max(found.shape[1] for found in estimator.view_responsibilities_)
    problem = MCVCProblem.of(fitted.features[:, :n_features], evidence, prior_of(estimator), n_clusters)
    phi = estimator.view_probabilities_.reindex(own.annotators)
    eta = np.zeros((len(own), n_clusters, len(estimator.views_)))
    for view, found in enumerate(estimator.view_responsibilities_):
        eta[:, : found.shape[1], view] = found[fitted.items]
    return WeightedMCVC.of(problem, eta, phi.to_numpy())


def _correlation_clustering(fitted: Fitted) -> Reweighted:
    pairs = fitted.annotations if isinstance(fitted.annotations, Pairs) else fitted.groupings.to_pairs()
    judged = np.union1d(pairs.item_a, pairs.item_b)
    problem = fitted.estimator.problem_of(pairs, judged, fitted.rng)
    cluster = np.unique(fitted.cluster[judged], return_inverse=True)[1]
    places = fitted.annotations.annotators.get_indexer(pairs.annotators)
    return OfJudged(WeightedCorrelationClustering.of(problem, cluster), judged, places, len(fitted.cluster))


def _require_features(fitted: Fitted, n_features: int) -> None:
    """Raise an InputError unless there are as many features as the model was fitted to."""
    if fitted.features.shape[1] != n_features:
        raise InputError(
            f"{type(fitted.estimator).__name__} was fitted to {n_features} features, and the certainty needs them: "
            f"certainty(model, annotations, X). Got {fitted.features.shape[1]}."
        )


@dataclass(frozen=True)
class OfJudged:
    """Draws for the items that are in some judged pair.

    judged : positions of these items.
    annotators : positions of the annotators that are read.
    """

    inner: Reweighted
    judged: Int[np.ndarray, " judged"]
    annotators: Int[np.ndarray, " read"]
    n_items: int

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the clusters; -1 for items in no pair."""
        cluster = np.full(self.n_items, MISSING)
        cluster[self.judged] = self.inner.draw(weights[self.annotators], rng)
        return cluster


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
    "CorrelationClustering": _correlation_clustering,
    "DawidSkene": _dawid_skene,
    "KCC": _kcc,
    "MCVC": _views,
    "MECC": _views,
    "MajorityVote": _majority_vote,
    "PartitionLabelModel": _partition_label_model,
    "ProductMixture": _product_mixture,
    "SpectralEM": _spectral_em,
    "StagewiseEM": _stagewise_em,
    "SubsetFusion": _subset_fusion,
    "TagConsensus": _tag_consensus,
}
NEED_FEATURES = ("MCVC", "MECC", "PartitionLabelModel")  # models that need the features of the fit, if there were any


# MECC finds one cluster in the groupings of very few people, and some in their noise where they are a few more
FEWEST = {
    "MECC": 15
}  # people of whom draws were as sure as others repeated (benchmarks/certainty.py), else `FEWEST_PEOPLE`


def fewest_people(estimator: Any) -> int:
    """Return how many people must decide, so that what others would repeat is stated."""
    return FEWEST.get(type(estimator).__name__, FEWEST_PEOPLE)


def places_of_copies(estimator: Any, annotators: pd.Index) -> Int[np.ndarray, " annotators"]:
    """Number of the group of each annotator who weighs together with others, -1 for those who are alone."""
    group = np.full(len(annotators), MISSING)
    for number, copies in enumerate(groups_of_copies(estimator)):
        group[annotators.get_indexer(pd.Index(copies["annotators"], tupleize_cols=False))] = number
    return group


def people_behind(
    estimator: Any, annotations: Groupings | Labels | Pairs
) -> tuple[Int[np.ndarray, " annotators"], Int[np.ndarray, " annotators"]]:
    """Number of the person behind each annotator, -1 for those who decide nothing; and `places_of_copies`."""
    group = places_of_copies(estimator, annotations.annotators)
    alone = np.arange(len(group)) + int(group.max(initial=0)) + 1
    person = np.unique(np.where(group >= 0, group, alone), return_inverse=True)[1]
    heard = np.ones(len(group), dtype=bool)
    if isinstance(annotations, Labels) and "_log_table" in vars(estimator):
        heard = ~estimator.are_silent(annotations)
    person[heard] = np.unique(person[heard], return_inverse=True)[1]
    return np.where(heard, person, MISSING), group


def count_rows(estimator: Any, annotations: Groupings | Labels | Pairs) -> int:
    """Count what a draw reads: memberships, labels, or judged pairs, of a model that lists those of groupings."""
    if type(estimator).__name__ == "CorrelationClustering":
        return int(estimator.annotators_["n_pairs"].sum())
    return annotations.n_rows
