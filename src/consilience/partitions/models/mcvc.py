"""`MCVC` and `MECC` fitted to partitions: their in-memory fit, with final sweeps that are sums over partitions.

    survey       annotators, groups, numbers of items                                1 pass over the source
    sample       of at most `SAMPLE` items: order of the groups, and the search      1 pass over the parts
    sizes        number of items of each group, products of features                 1
    start        η of each item, its sums and those of the weights                   3
    sweeps       weights: 3 to 6 passes; η: 3 to 4                                   6 to 10 a sweep
    unused       if a view is not followed: its best weights, by L-BFGS              as many as it takes, once
    sizes        of the clusters, which decide their order                           1

Each sum has the size of the weights, or of the groups × clusters × views. η grows with the items, and stays with them.

Decided here
------------
The search, restarts, spectral starts and splits of the best, is that of `mcvc_search` on the items whose hashes are the
smallest, in memory. Up to `SAMPLE` items these are all, and the fits are the same up to rounding. Beyond, the final
sweeps start from the weights, views and reliabilities of the sample, and η of a further item is what the groups of the
sample tell it; the bounds of the restarts are those of the sample.

Clusters of a view that own as many items are in the order of their first items in the sample; in memory, in all.
The best weights of an unused view are sought from those of the sample, with variances for the number of all items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.linalg import cho_factor
from scipy.sparse import csr_array
from scipy.special import softmax

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.memberships import incidence_of
from consilience.estimators.elsewhere import keep_for_items, read_features
from consilience.estimators.pair_notes import notes_on_degenerate_clusters
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import restore
from consilience.inference.gaussian_softmax import Weights
from consilience.inference.memberships import Memberships
from consilience.inference.pair_evidence import GroupedItems, PairEvidence
from consilience.inference.parts import Additive, Parts
from consilience.inference.randomness import spawn_generator
from consilience.partitions.engine.checkpoint import Runs, digest, runs_at
from consilience.partitions.engine.item_rows import ItemRowFiles
from consilience.partitions.models import mcvc_sums
from consilience.partitions.models.mcvc_results import Told
from consilience.partitions.models.mcvc_sums import NO_ITEMS, Items, Messages, Part
from consilience.partitions.models.mcvc_sweeps import EtaInParts, ItemsInParts, clusters_bounds
from consilience.partitions.survey.item_survey import (
    ItemSurvey,
    Keys,
    OwnItems,
    Sample,
    Surveyed,
    group_places,
    joined_sample,
    sampled_items,
)
from consilience.partitions.survey.label_survey import hashes_of
from consilience.semisupervised import MCVC, MECC, mapping, mcvc_search
from consilience.semisupervised.mcvc import Eta, MCVCProblem, MCVCState, step
from consilience.semisupervised.mcvc_estimator import (
    mean_weights,
    owning_clusters,
    prior_of,
    read_off,
    require_pairs,
    views_to_begin_with,
)
from consilience.semisupervised.mcvc_search import view_weights

SAMPLE = 5_000  # items; at most survey.CHECKED
OF_ITEMS = ("labels_", "responsibilities_", "view_labels_", "view_responsibilities_")


# ---- what is computed on a partition


def prepare_part(own: OwnItems, keys: Keys, first: Int[np.ndarray, " partitions"], limit: Any) -> Items:
    """Return the items with their groups in the order of `keys`; those whose hash is at most `limit` are sampled."""
    given = own.rows.groupings
    x = np.column_stack([own.rows.features, np.ones(given.n_items)])
    in_group = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    return Items(own.number, x, in_group, np.flatnonzero(hashes_of(own.names(first)) <= limit))


@dataclass(frozen=True)
class Counted(Additive):
    """Products of features, and number of items of each group."""

    products: Float[np.ndarray, "features features"]
    sizes: Int[np.ndarray, " groups"]


def count_part(items: Items) -> Counted:
    """Count a partition."""
    x = np.require(items.x, requirements=["ALIGNED"])  # else BLAS takes another way, with other last digits
    return Counted(x.T @ x, np.bincount(items.in_group.indices, minlength=items.in_group.shape[1]))


def start_part(
    items: Items, eta: Eta, first: Int[np.ndarray, " partitions"], weights: Weights, messages: Messages
) -> Part:
    """Return the items with the first η: that of the sample; of other items, as the sample tells them.

    eta : of the sample, partition by partition.
    first : place of the first item of each partition in the sample.
    """
    own = np.empty((len(items.x), *eta.shape[1:]))
    part = Part(items.number, items.x, items.in_group, items.sampled, own)
    for rows in part.slices(int(np.prod(eta.shape[1:]))):
        own[rows] = softmax(mcvc_sums.field_of(items.x[rows], items.in_group[rows], weights, messages), axis=1)
    start = int(first[items.number])
    own[items.sampled] = eta[start : start + len(items.sampled)]
    return part


def without_eta(items: Items) -> Part:
    """Return the items before η is known."""
    return Part(items.number, items.x, items.in_group, items.sampled, np.empty((len(items.x), 0, 0)))


# ---- the fit


def fit_views(model: MCVC | MECC, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model; see `registry.PartitionedModel`. A checkpoint keeps rows of items in a folder beside it."""
    own, survey, features = table.own, table.survey, table.features
    require_pairs(model, len(survey.vocabulary.group_names) > 0, survey.n_items)
    limit = table.limit(SAMPLE)
    samples = list(own.results(sampled_items, survey.first, limit))
    first = np.cumsum([0] + [len(one.features) for one in samples])[:-1]
    sample = joined_sample(samples, survey.nothing())
    if features:
        _read_features(model, sample, features)
    arranged = arrange(sample.groupings, sample.features)
    items = own.map(prepare_part, arranged.ordered.vocabulary.group_keys(), survey.first, limit)
    own.forget()
    over = _over(model, survey, sample, arranged, items)
    keep_rows = partial(ItemRowFiles.beside, items.map(without_eta), mcvc_sums.rows_of, mcvc_sums.with_rows)
    told, n_judged = survey.vocabulary.group_keys(), np.array([over.evidence.n_pairs, over.evidence.n_same])
    data = digest((told, survey.sizes, int(limit)), n_judged)
    runs: Runs[Swept] = runs_at(checkpoint, model, keep_rows=keep_rows, data=data)
    trace = runs.run(
        lambda: _first(model, over, arranged, items, first),
        lambda swept: replace(swept, state=step(over, swept.state)),
        lambda swept: float(swept.state.bounds[0]),
        max_iter=model.max_iter,
        tol=float(model.tol),
    )
    model.restart_bounds_ = trace.state.restart_bounds
    keep_trace(model, trace)
    _set_attributes(model, over, trace.state.state, arranged)
    items.forget()
    trace.state.state.eta.parts.forget()


def _read_features(model: MCVC | MECC, sample: Sample, features: tuple[Any, ...]) -> None:
    """Read the features of the sample as the fit in memory does, for their names and scales."""
    columns = pd.Index(features, tupleize_cols=False)
    frame = pd.DataFrame(sample.features, index=sample.groupings.items, columns=columns)
    read_features(model, frame, reset=True)


def _over(
    model: MCVC | MECC, survey: ItemSurvey, sample: Sample, arranged: Arrangement[Groupings], items: Parts
) -> ItemsInParts:
    """Return the items as the sweeps read them."""
    found = items.total(count_part)
    evidence = among_groups(arranged.ordered, found.sizes, model.implied_pairs)
    require_pairs(model, bool(evidence.n_pairs.any()), survey.n_items)
    prior, n_clusters = prior_of(model), min(model.n_clusters, survey.n_items)
    of_sample = PairEvidence.of(arranged.ordered, implied=model.implied_pairs)
    problem = MCVCProblem.of(sample.features[arranged.items], of_sample, prior, n_clusters)
    curvature = cho_factor(found.products / 2 + np.eye(len(found.products)), lower=True)[0]
    return ItemsInParts(items, evidence, prior, curvature, problem, survey.n_items)


def among_groups(ordered: Groupings, sizes: Int[np.ndarray, " groups"], implied: str) -> GroupedItems:
    """Evidence of groups of these sizes, with each group in place of its items; see `mcvc_sums`."""
    n_groups = ordered.n_groups
    itself = csr_array((np.ones(n_groups), np.arange(n_groups), np.arange(n_groups + 1)), shape=(n_groups, n_groups))
    memberships = Memberships.of(replace(ordered, items=pd.RangeIndex(n_groups), incidence=itself))
    return GroupedItems.of_sizes(memberships, sizes, implied=implied)


@dataclass(frozen=True)
class Swept:
    """A state, with the bounds of the restarts of the search."""

    state: MCVCState
    restart_bounds: Float[np.ndarray, " restarts"]


def _first(
    model: MCVC | MECC,
    over: ItemsInParts,
    arranged: Arrangement[Groupings],
    items: Parts,
    first: Int[np.ndarray, " partitions"],
) -> Swept:
    """State of all items from the best of the sample."""
    best, bounds = mcvc_search.search(
        over.sample,
        views_to_begin_with(model, over.evidence.n_annotators),
        n_init=model.n_init,
        max_iter=model.max_iter,
        tol=float(model.tol),
        rng=spawn_generator(model.random_state),
    )
    ordered, columns = arranged.ordered, np.arange(best.eta.shape[2])
    sizes = np.bincount(ordered.incidence.indices, minlength=ordered.n_groups)
    of_sample = mcvc_sums.sum_eta(Part(0, over.sample.design.x, ordered.incidence, NO_ITEMS, best.eta), columns)
    evidence = among_groups(ordered, sizes, model.implied_pairs)
    messages = Messages.of(evidence, of_sample.groups, *view_weights(best))
    eta = np.empty_like(best.eta)
    eta[arranged.items] = best.eta
    parts = items.map(start_part, eta, first, best.weights, messages)
    sums, logs = parts.total(mcvc_sums.sum_eta, columns), parts.total(mcvc_sums.log_sums, best.weights)
    of_views = clusters_bounds(best.weights, sums, logs)
    return Swept(replace(best, eta=EtaInParts(parts, sums, logs), of_views=of_views), bounds)


def _set_attributes(model: MCVC | MECC, over: ItemsInParts, state: MCVCState, arranged: Arrangement[Groupings]) -> None:
    ordered, evidence, parts = arranged.ordered, over.evidence, state.eta.parts
    of_sample = np.concatenate(list(parts.results(mcvc_sums.clusters_of_sample)))[arranged.items]
    eta = one_of_each(parts.total(mcvc_sums.count_owned), of_sample)
    nowhere = csr_array((len(eta), ordered.n_groups))
    named = replace(ordered, items=pd.RangeIndex(len(eta)), incidence=nowhere)
    kept = read_off(model, replace(state, eta=eta), evidence, named)
    for name in OF_ITEMS:
        delattr(model, name)
    restore(model, arranged)
    del model.items_
    if isinstance(model, MECC):
        model.notes_ = _notes(model, evidence, over.n_items)
    same, apart = view_weights(state)
    messages = Messages.of(evidence, state.eta.sums.groups[:, :, kept], same[:, kept], apart[:, kept])
    told = Told(mapping.group_index(ordered), messages, mean_weights(model), owning_clusters(model))
    keep_for_items(model, told)


def _notes(model: MECC, evidence: GroupedItems, n_items: int) -> list[str]:
    """Notes of the model on one cluster, or as many as items; no others need the clusters of items."""
    found = model.n_clusters_
    labels = np.arange(n_items) if found == n_items else np.zeros(n_items if found == 1 else 0, dtype=np.int8)
    requested = 1 if model.n_clusters == 1 else None
    return notes_on_degenerate_clusters(labels, evidence.n_same.sum(), evidence.n_pairs.sum(), requested)


def one_of_each(sizes: Int[np.ndarray, "clusters columns"], of_sample: Int[np.ndarray, "sampled columns"]) -> Eta:
    """η of an item of each cluster that owns any, in falling order of their sizes; shorter views repeat the first.

    of_sample : clusters of some items, whose order decides among clusters of one size.
    """
    n_clusters, n_views = sizes.shape
    first = np.full(sizes.shape, len(of_sample))
    for view in range(n_views):
        found, place = np.unique(of_sample[:, view], return_index=True)
        first[found, view] = place
    # equal sizes by their first item of the sample; clusters without items come last
    order, n_owned = np.lexsort((first, -sizes), axis=0), (sizes > 0).sum(0)
    rows = np.arange(n_owned.max())[:, None]
    clusters = np.take_along_axis(order, np.where(rows < n_owned, rows, 0), axis=0)
    return np.eye(n_clusters)[clusters].transpose(0, 2, 1)
