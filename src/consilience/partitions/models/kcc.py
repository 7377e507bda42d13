"""`KCC` fitted to partitions: its in-memory fit, with counts of items that are sums over partitions.

    survey       annotators, groups, numbers of items                               1 pass over the source
    sample       of at most `SAMPLE` items: order of the groups, starts of the runs 1 pass over the parts
    sizes        number of items of each group                                      1
    sweeps       nearest centroid of each item, and its groups counted              1 a sweep, 2 if a cluster is empty

A centroid follows from the number of items of each cluster in each group, and so do the utility, the sum of distances
and the agreement of annotators. Each sum has the size of the groups × clusters.

Decided here
------------
A run starts from a clustering of the items whose hashes are the smallest. Up to `SAMPLE` items these are all, and the
fits are the same; beyond, the first sweep puts all items to the centroids of the sample. Of items that are equally far
from their centroids, the first in the order of the partitions goes to an empty cluster, and in memory the first in
canonical order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.canonical import arrange
from consilience.annotations.memberships import incidence_of
from consilience.consensus.groupings import co_occurrence
from consilience.consensus.groupings.kcc import Problem, State, objective, update, utility_of_groupings, with_counts
from consilience.consensus.groupings.kcc_estimator import KCC, expected_shares
from consilience.errors import InputError
from consilience.estimators.traces import keep_end
from consilience.estimators.user_order import restore
from consilience.inference import Trace
from consilience.inference.clusters import by_falling_size
from consilience.inference.memberships import Memberships
from consilience.inference.parts import Additive, Parts
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models.group_counts import agreement
from consilience.partitions.models.requirements import require_same_starts
from consilience.partitions.survey.item_survey import (
    SAMPLE,
    ItemSurvey,
    Keys,
    OwnItems,
    Surveyed,
    group_places,
    read_labelled_items,
)
from consilience.partitions.tables.label_table import Partition

Counts = Float[np.ndarray, "groups clusters"]
NO_ITEMS = np.empty(0, dtype=np.intp)
ROUNDING = 1e-12  # as in `kcc.run`
GAIN = 1e-9  # of an item from a cluster of its own, below which it is at its centroid; as in `kcc.assign`


# ---- what is computed on a partition


def prepared(own: OwnItems, keys: Keys) -> csr_array:
    """Return the groups of each item that is in some grouping, in the order of `keys`."""
    given = own.rows.groupings
    in_group = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    return in_group[np.flatnonzero(np.diff(in_group.indptr))]


@dataclass(frozen=True)
class Sizes(Additive):
    """Number of items, and of those in each group."""

    n_items: int
    of_groups: Int[np.ndarray, " groups"]


def sizes_of(in_group: csr_array) -> Sizes:
    """Return the sizes of a part."""
    return Sizes(in_group.shape[0], np.bincount(in_group.indices, minlength=in_group.shape[1]))


@dataclass(frozen=True)
class Swept(Additive):
    """Number of items of each cluster, and of those in each group."""

    counts: Counts
    sizes: Int[np.ndarray, " clusters"]


def swept(in_group: csr_array, table: Float[np.ndarray, "groups clusters"]) -> Swept:
    """Put items to the nearest centroids, and count."""
    n_items, n_clusters = in_group.shape[0], table.shape[1]
    cluster = np.asarray(in_group @ table).argmin(1)
    onehot = csr_array((np.ones(n_items), (np.arange(n_items), cluster)), shape=(n_items, n_clusters))
    return Swept((in_group.T @ onehot).toarray(), np.bincount(cluster, minlength=n_clusters))


@dataclass(frozen=True)
class Farthest:
    """The items that are farthest from their centroids, falling, of which at most `n` are kept.

    cluster : of each.
    in_group : its groups.
    """

    n: int
    distance: Float[np.ndarray, " kept"]
    cluster: Int[np.ndarray, " kept"]
    in_group: csr_array

    def __add__(self, other: Farthest) -> Farthest:
        distance = np.concatenate([self.distance, other.distance])
        kept = np.argsort(-distance, kind="stable")[: self.n]  # of equal distances the earlier items
        cluster = np.concatenate([self.cluster, other.cluster])
        # rows below rows: those of the second go on where the first end
        indptr = np.append(self.in_group.indptr, self.in_group.indptr[-1] + other.in_group.indptr[1:])
        both = (
            np.concatenate([self.in_group.data, other.in_group.data]),
            np.concatenate([self.in_group.indices, other.in_group.indices]),
            indptr,
        )
        in_group = csr_array(both, shape=(len(distance), self.in_group.shape[1]))
        return Farthest(self.n, distance[kept], cluster[kept], in_group[kept])


def farthest_of(in_group: csr_array, table: Float[np.ndarray, "groups clusters"], n: int) -> Farthest:
    """Find the items of a part that are farthest from their centroids."""
    distance = np.asarray(in_group @ table)
    cluster = distance.argmin(1)
    own = distance[np.arange(len(cluster)), cluster]
    kept = np.argsort(-own, kind="stable")[:n]
    return Farthest(n, own[kept], cluster[kept], in_group[kept])


# ---- sweeps


@dataclass(frozen=True)
class Counted:
    """Centroids, and the items that they are means of.

    counts : number of items of each cluster in each group.
    sizes : number of items of each cluster.
    """

    shares: Counts
    counts: Counts
    sizes: Int[np.ndarray, " clusters"]


@dataclass(frozen=True)
class Sweeps:
    """The model over partitions.

    parts : of `prepared`.
    problem : without items.
    """

    parts: Parts
    problem: Problem

    def state(self, counted: Counted) -> State:
        """Return the state of the model, without clusters of items."""
        return with_counts(self.problem, NO_ITEMS, counted.counts)

    def step(self, counted: Counted) -> Counted:
        """Put each item to the nearest centroid, and the farthest ones to clusters that are empty."""
        table = self.problem.table(counted.shares)
        found = self.parts.total(swept, table)
        counts, sizes = found.counts, found.sizes
        empty = np.flatnonzero(sizes == 0)
        if len(empty):
            far = self.parts.total(farthest_of, table, len(empty))
            for item, (into, of) in enumerate(zip(empty[far.distance > GAIN], far.cluster)):
                groups = far.in_group[[item]].indices
                counts[groups, of] -= 1
                counts[groups, into] += 1
                sizes[[of, into]] += [-1, 1]
        return Counted(with_counts(self.problem, NO_ITEMS, counts).shares, counts, sizes)

    def lower_bound(self, counted: Counted) -> float:
        """Return minus the sum of the distances of the items from their centroids."""
        return -objective(self.problem, self.state(counted))


# ---- the fit


def require_fittable(model: KCC, checkpoint: Any) -> None:
    """Raise an InputError unless the parameters are valid, and a fit from a checkpoint has the same starts."""
    model._check_parameters()
    require_same_starts(model, checkpoint)


def fit_kcc(model: KCC, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model to items in partitions.

    Parameters
    ----------
    model : gets the attributes of its in-memory fit that have no axis of items.
    table : its parts are forgotten.
    checkpoint : path, or None.
    """
    own, survey = table.own, table.survey
    if not survey.groups:
        raise InputError(f"KCC needs labels, and none of the {survey.n_items} items has any.")
    sample = table.sample(SAMPLE)
    arranged = arrange(sample.groupings)
    ordered = arranged.ordered
    keys = ordered.vocabulary.group_keys()
    parts = own.map(prepared, keys)
    own.forget()
    sizes = parts.total(sizes_of)
    co_occurrence.require_at_most(model, model.n_clusters, sizes.n_items)
    runs: Runs[Counted] = runs_at(checkpoint, model, labels=_digest(survey, keys, sizes))
    some = co_occurrence.Seen.of(ordered).memberships
    over = Sweeps(parts, model._problem(some, sizes.of_groups))
    best = _best(model, over, some, runs)
    keep_end(model, best)
    _read_off(model, over.problem, best.state, ordered, sizes)
    restore(model, arranged)
    del model.items_
    parts.forget()


def _digest(survey: ItemSurvey, keys: Keys, sizes: Sizes) -> str:
    named = hashlib.sha256(repr((keys, survey.n_items)).encode())
    named.update(np.ascontiguousarray(sizes.of_groups).tobytes())
    return named.hexdigest()


def _best(model: KCC, over: Sweeps, some: Memberships, runs: Runs[Counted]) -> Trace[Counted]:
    """Return the best of the runs, each from a clustering of some items."""
    start = model._start(some, over.problem)

    def from_seed(seed: int) -> Trace[Counted]:
        def first() -> Counted:
            shares = update(over.problem, start(np.random.default_rng(seed))).shares
            return Counted(shares, np.zeros_like(shares), np.zeros(shares.shape[1], dtype=int))

        return runs.run(first, over.step, over.lower_bound, max_iter=model.max_iter, tol=ROUNDING)

    seeds = spawn_seeds(check_random_state(model.random_state), model.n_init)
    return max((from_seed(seed) for seed in seeds), key=lambda trace: trace.lower_bound)


def _read_off(model: KCC, problem: Problem, best: Counted, ordered: Groupings, sizes: Sizes) -> None:
    """Set the attributes, as `KCC._set_result` does."""
    state, kept = with_counts(problem, NO_ITEMS, best.counts), by_falling_size(best.sizes)
    model.n_clusters_ = len(kept)
    model._keep_centroids(problem, state, kept, ordered)
    of_clusters = replace(ordered, items=pd.RangeIndex(len(kept)), incidence=csr_array(best.counts[:, kept].T))
    one_of = np.eye(len(kept))
    model._expected_shares, _ = expected_shares(of_clusters, one_of, np.ones(len(kept), dtype=bool))
    model._sizes = best.sizes[kept].astype(float)
    model.objective_ = objective(problem, state)
    by_grouping = utility_of_groupings(problem, state) * problem.in_group.shape[0] / sizes.n_items
    model.utility_ = float(by_grouping.sum())
    by, n_annotators = ordered.annotator_of_grouping, ordered.n_annotators
    model.annotators_ = pd.DataFrame(
        {
            "n_groupings": np.bincount(by, minlength=n_annotators),
            "n_items": np.bincount(ordered.annotator_of_group, sizes.of_groups, n_annotators).astype(int),
            "utility": np.bincount(by, by_grouping, n_annotators),
            "agreement": agreement(ordered, best.counts),
        },
        index=ordered.annotators.rename("annotator"),
    )


# ---- results of items


def results_of_items(
    numbered: tuple[int, Partition], model: KCC, first: Int[np.ndarray, " partitions"], responsibilities: bool
) -> pd.DataFrame:
    """Return the cluster of each item of a partition, missing for items without labels; all items have names.

    Parameters
    ----------
    responsibilities : whether to add a column for each cluster: 1 for that of the item, and for items without labels
        the shares of the clusters.
    """
    groupings = read_labelled_items(numbered).rows.groupings
    found = model.predict(groupings) if groupings.n_rows else np.full(groupings.n_items, -1)
    cluster = pd.array(np.where(found < 0, 0, found), dtype="Int64")
    cluster[found < 0] = pd.NA
    table = pd.DataFrame({"item": groupings.items, "cluster": cluster})
    if not responsibilities:
        return table
    probability = np.eye(model.n_clusters_)[found]
    probability[found < 0] = model._sizes / model._sizes.sum()
    return table.join(pd.DataFrame(probability, columns=[f"cluster {number}" for number in range(model.n_clusters_)]))
