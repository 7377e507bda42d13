"""`PartitionLabelModel` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey       annotators, groups, numbers of items, ranges of features               1 pass over the source
    sample       of at most `SAMPLE` items: order of features and groups, prior
                 variance, a start                                                      1 pass over the parts
    start        a k-means clustering of the sample, each item at the nearest centre    2 a restart
    sweeps       (18), (20) here; the steps of (4) and (16) in the partitions           6 to 8 a sweep
    merging      sweeps from joined clusters                                            as many
    number       of clusters, if one is requested: who owns items                       1 a join
    groupings    clusters that own items; labels that the model predicts                2

Each sum has the size of the weights or of the groups × clusters: nothing here grows with the number of items, but for
the sample, of a fixed size, and the numbers of items of the partitions.

Decided here
------------
The in-memory fit draws its start over features and groups in an order that depends on the values of all items, and
starts from a k-means clustering of all of them. Here both come from the items whose hashes are the smallest. Up to
`SAMPLE` items these are all, and the fits are the same up to rounding. Beyond, only the start differs.

A fit is as sensitive to rounding as in memory. The optimiser of (4) stops at a threshold, so that the order of a sum
can decide on a step; and pairs of clusters whose labels are equal with certainty are alike, so that it decides which of
them is joined first.

A prior variance is chosen on the sample, of which the in-memory fit takes 5,000 items as well. Not found here is what
needs all items at once: the row space of more features than items, and which of many features to use. Groups that
copies repeat are not left out, so that ``copies=None`` has to be said. The note on annotators whose groups tell next to
nothing is not made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.memberships import incidence_of
from consilience.annotations.names import MISSING
from consilience.errors import InputError
from consilience.estimators.elsewhere import keep_for_items, read_features, told_of_items
from consilience.estimators.forecasts import on_number_of_clusters
from consilience.estimators.grouping_copies import copies_of
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import restore
from consilience.inference.clusters import by_falling_size
from consilience.inference.confusion import ConfusionCells
from consilience.inference.parts import Additive, Parts
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.inference.softmax import Moments, SoftmaxItems, in_chunks, moments, scores, with_offset
from consilience.partitions.engine.checkpoint import Runs, digest, runs_at
from consilience.partitions.models.requirements import require_no_copies, require_same_starts
from consilience.partitions.survey.item_survey import SAMPLE, ItemSurvey, Keys, OwnItems, Surveyed, group_places
from consilience.partitions.tables.item_table import ItemPartition, read_items
from consilience.semisupervised import PartitionLabelModel, mapping
from consilience.semisupervised.feature_order import order_of_features
from consilience.semisupervised.partition_label_model import (
    KMEANS_ROUNDS,
    SEEDED,
    PartitionLabelModelEvidence,
    PartitionLabelModelPrior,
    PartitionLabelModelProblem,
    PartitionLabelModelState,
    label_evidence,
    label_probability,
    leaning_moments,
)
from consilience.semisupervised.partition_label_model_estimator import note_guessers, require_information

Coefficients = Float[np.ndarray, "columns clusters"]
OfLabels = Float[np.ndarray, "groups clusters"]


# ---- what is computed on a partition


def prepare_part(
    own: OwnItems, keys: Keys, columns: Int[np.ndarray, " features"], n_clusters: int
) -> list[SoftmaxItems]:
    """Return the items in chunks, with their features and groups in a given order."""
    given = own.rows.groupings
    design = np.hstack([own.rows.features[:, columns], np.ones((given.n_items, 2))])
    labels = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    items = SoftmaxItems(design, labels)
    chunks = in_chunks(items, n_clusters) or [items]
    for chunk in chunks:
        _ = chunk.length  # is kept with the chunk
    return chunks


def leaning(chunks: list[SoftmaxItems], centres: np.ndarray, cells: ConfusionCells, n_clusters: int) -> Moments:
    """Moments of a start from the features, with each item in the cluster of the nearest centre."""
    design = np.concatenate([chunk.design for chunk in chunks])
    seeds = pairwise_distances_argmin(design, centres) if len(design) else np.empty(0, dtype=np.intp)
    return leaning_moments(PartitionLabelModelEvidence(chunks, cells), seeds, 0.0, n_clusters)


def group_sizes(chunks: list[SoftmaxItems]) -> Int[np.ndarray, " groups"]:
    """Return the number of items in each group."""
    of_chunks = [np.asarray(chunk.labels.sum(0)) for chunk in chunks]
    return np.sum(of_chunks, axis=0).astype(int)


def count_owned(chunks: list[SoftmaxItems], coefficients: Coefficients, said: OfLabels) -> Int[np.ndarray, " clusters"]:
    """Return the number of items whose most probable cluster each is."""
    clusters = np.concatenate([scores(chunk, coefficients, said).argmax(1) for chunk in chunks])
    return np.bincount(clusters, minlength=said.shape[1])


@dataclass(frozen=True)
class Quality(Additive):
    """Sums over items and labels.

    correct : labels of each group that the model predicts.
    together : items of each group whose most probable cluster each is.
    """

    correct: Int[np.ndarray, " groups"]
    together: Float[np.ndarray, "groups clusters"]


def quality(
    chunks: list[SoftmaxItems], coefficients: Coefficients, said: OfLabels, probability: OfLabels, nothing: Groupings
) -> Quality:
    """Sums for ``groupings_`` and ``notes_``, over the clusters found; `nothing` has the groups."""
    labels = _stack(chunks)
    found = np.concatenate([softmax(scores(chunk, coefficients, said), axis=1) for chunk in chunks])
    one_of = np.eye(found.shape[1])[found.argmax(1)]
    correct = mapping.correct_labels(replace(nothing, incidence=labels), found, probability)
    return Quality(correct, labels.T @ one_of)


def _stack(chunks: list[SoftmaxItems]) -> csr_array:
    group = np.concatenate([chunk.labels.indices for chunk in chunks])
    given = np.concatenate([np.diff(chunk.labels.indptr) for chunk in chunks])
    shape = (len(given), chunks[0].labels.shape[1])
    return csr_array((np.ones(len(group)), group, np.append(0, np.cumsum(given))), shape=shape)


# ---- evidence


@dataclass(frozen=True)
class ItemsInParts:
    """Items in partitions, as the updates of the model read them: `partition_label_model.Observations`.

    parts : of `prepare_part`.
    """

    parts: Parts
    cells: ConfusionCells

    def moments(self, coefficients: Coefficients, said: OfLabels | None = None) -> Moments:
        """Moments of π, or with what labels say those of ρ, (16)."""
        total: Moments = self.parts.total(moments, coefficients, said)
        return total

    def owners(self, state: PartitionLabelModelState, prior: PartitionLabelModelPrior) -> Int[np.ndarray, " owning"]:
        """Return the clusters that own items."""
        said = label_evidence(state.assignment, state.expected, self.cells)
        return np.flatnonzero(self.parts.total(count_owned, with_offset(state.weights, prior.richness), said))

    def leaning(self, state: PartitionLabelModelState, centres: np.ndarray) -> PartitionLabelModelState:
        """Return the state with posteriors close to clusters around centres."""
        seen = self.parts.total(leaning, centres, self.cells, state.weights.shape[1])
        return replace(state, moments=replace(seen, log_normalizer=state.moments.log_normalizer))


# ---- the fit


def require_fittable(model: PartitionLabelModel, checkpoint: Any) -> None:
    """Raise an InputError if the parameters need all items at once, or a checkpoint other starts."""
    require_no_copies(model)
    require_same_starts(model, checkpoint)


def fit_partition_label_model(model: PartitionLabelModel, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model; see `registry.PartitionedModel`."""
    own, survey, features = table.own, table.survey, table.features
    n_clusters = model.number_of_clusters(survey.n_items)
    _require_features(model, survey, features)
    sample = table.sample(SAMPLE)
    X = pd.DataFrame(sample.features, index=sample.groupings.items, columns=pd.Index(features, tupleize_cols=False))
    columns, arranged = _arrange(read_features(model, X, reset=True), sample.groupings)
    ordered = arranged.ordered
    keys = ordered.vocabulary.group_keys()
    parts = own.map(prepare_part, keys, columns, n_clusters)
    own.forget()
    counts = parts.total(group_sizes)
    counted = with_counts(ordered, counts)
    require_information(np.empty((survey.n_items, 0)), counted)
    data = digest((keys, survey.n_items), survey.lowest, survey.highest, counts)
    runs: Runs[PartitionLabelModelState] = runs_at(checkpoint, model, data=data)

    of_sample, rng = sample.features[:, columns][arranged.items], check_random_state(model.random_state)
    copies_of(model, ordered)
    model.search(of_sample, ordered, n_clusters, rng)
    problem = _problem(survey, ordered)
    evidence, prior = ItemsInParts(parts, problem.cells), model.prior_of(problem, model.prior_variance_)
    starts = PartitionLabelModelProblem.of(of_sample, ordered)
    best, traces, _ = model.run_restarts(
        lambda most: evidence,
        lambda evidence, most, seed: _start(model, evidence, prior, starts, most, seed),
        lambda state, evidence: evidence.owners(state, prior),
        prior,
        n_clusters,
        spawn_seeds(rng, model.n_init),
        loop=runs.run,
    )
    keep_trace(model, best)
    model.restart_bounds_ = np.array([trace.lower_bound for trace in traces])
    read_off(model, evidence, prior, best.state, columns, arranged, counted)
    parts.forget()
    model.warn_unless_as_many()


def _require_features(model: PartitionLabelModel, survey: ItemSurvey, features: tuple[Any, ...]) -> None:
    n_features, n_items = len(features), survey.n_items
    if n_features + 1 > n_items:
        raise InputError(
            f"Over partitions, PartitionLabelModel needs more items than features. Got {n_items} items and "
            f"{n_features} features: fit it in memory."
        )
    if model.chooses_features(n_items, n_features):
        raise InputError(
            f"Over partitions, PartitionLabelModel uses all features. Of {n_features} features of {n_items} items it "
            "would choose some: fit it in memory, or give select_features=False."
        )
    if not (survey.highest - survey.lowest).any():
        raise InputError(
            f"All {n_features} features are constant over the {n_items} items, so they do not distinguish any. Give "
            "features that vary."
        )


def _arrange(
    features: Float[np.ndarray, "items features"], groupings: Groupings
) -> tuple[Int[np.ndarray, " features"], Arrangement[Groupings]]:
    """Order of the features, and of all else, that depends on the content alone, as in the fit in memory."""
    columns = order_of_features(features, groupings.incidence)
    return columns, arrange(groupings, features[:, columns])


def with_counts(ordered: Groupings, counts: Int[np.ndarray, " groups"]) -> Groupings:
    """Return groupings with one row, the number of items of each group, for what needs only sums over items."""
    row = csr_array(counts[None, :].astype(float))
    return replace(ordered, items=pd.RangeIndex(1), incidence=row)


def _problem(survey: ItemSurvey, ordered: Groupings) -> PartitionLabelModelProblem:
    """Return the problem of all items, with their number and the groups; the design takes no memory."""
    design = np.broadcast_to(np.zeros(len(survey.lowest) + 2), (survey.n_items, len(survey.lowest) + 2))
    cells = ConfusionCells.of(ordered.grouping_of_group)
    return PartitionLabelModelProblem(
        design, None, ordered.incidence[:0], cells, ordered.annotator_of_group, ordered.n_annotators
    )


def _start(
    model: PartitionLabelModel,
    evidence: ItemsInParts,
    prior: PartitionLabelModelPrior,
    starts: PartitionLabelModelProblem,
    n_clusters: int,
    seed: int,
) -> PartitionLabelModelState:
    """First state of a restart, `Problem.start_from_features` or `Problem.start_at_random` of the model."""
    state = starts.start_at_random(evidence, prior, n_clusters, seed)
    if model.init == "random":
        return state
    k = max(round(SEEDED * n_clusters), 1)
    found = KMeans(k, n_init=1, max_iter=KMEANS_ROUNDS, random_state=seed).fit(starts.design)
    return evidence.leaning(state, found.cluster_centers_)


# ---- results


def read_off(
    model: PartitionLabelModel,
    evidence: ItemsInParts,
    prior: PartitionLabelModelPrior,
    state: PartitionLabelModelState,
    columns: Int[np.ndarray, " features"],
    arranged: Arrangement[Groupings],
    counted: Groupings,
) -> None:
    """Set the attributes.

    columns : order of the features in the state.
    counted : the groups in the order of the state, with the numbers of their items.
    """
    coefficients, cells = with_offset(state.weights, prior.richness), evidence.cells
    said = label_evidence(state.assignment, state.expected, cells)
    kept = by_falling_size(evidence.parts.total(count_owned, coefficients, said))
    nothing = replace(counted, items=pd.RangeIndex(0), incidence=counted.incidence[:0])
    likely = label_probability(state, cells)[:, kept]
    found = evidence.parts.total(quality, coefficients[:, kept], said[:, kept], likely, nothing)
    model.keep_linear_model(state.weights[:, kept], prior.richness)
    model.keep_meanings(state, kept, cells, counted, lambda _: found.correct)
    model.restore_features(columns)
    restore(model, arranged)
    del model.items_
    model.annotator_mapping_ = model.annotator_mapping_.reset_index(drop=True)
    guessers = note_guessers(model.annotators_["reliability"])
    model.notes_ = [*guessers, *_on_number_of_clusters(counted, found.together)]
    keep_for_items(model, pd.DataFrame(said[:, kept], index=mapping.group_index(counted)))


def _on_number_of_clusters(groupings: Groupings, together: Float[np.ndarray, "groups clusters"]) -> list[str]:
    """`on_number_of_clusters`, from an item for each group and cluster that have one in common."""
    group, cluster = np.nonzero(together)
    items = np.arange(len(group))
    incidence = incidence_of(items, group, len(items), groupings.n_groups)
    return on_number_of_clusters(replace(groupings, items=pd.RangeIndex(len(items)), incidence=incidence), cluster)


def results_of_items(
    numbered: tuple[int, ItemPartition], model: Any, first: Int[np.ndarray, " partitions"], responsibilities: bool
) -> pd.DataFrame:
    """Return the cluster of each item of a partition.

    first : number of the first item of each partition, if items are numbered.
    responsibilities : whether to add the probability of each cluster.
    """
    number, partition = numbered
    rows = read_items(partition)
    given = rows.groupings
    said = told_of_items(model)
    place = group_places(given, said.index.tolist())
    if (place == MISSING).any():
        annotator, _, name = given.vocabulary.group_keys()[given.incidence.indices[int(np.argmax(place == MISSING))]]
        raise InputError(f"{partition.name}: the group {name!r} of annotator {annotator!r} was not fitted.")
    labels = incidence_of(given.item_of_row, place, given.n_items, len(said))
    found = softmax(rows.features @ model.coef_.T + model.intercept_ + labels @ said.to_numpy(), axis=1)
    table = pd.DataFrame(
        {
            "item": OwnItems(number, rows).names(first),
            "cluster": found.argmax(1),
            "probability": found.max(1, initial=0.0),
        }
    )
    if not responsibilities:
        return table
    return table.join(pd.DataFrame(found, columns=[f"cluster {cluster}" for cluster in range(found.shape[1])]))
