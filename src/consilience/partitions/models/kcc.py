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

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations.canonical import arrange
from consilience.annotations.memberships import incidence_of
from consilience.consensus.groupings.co_occurrence import Seen
from consilience.consensus.groupings.kcc import GAIN, Assigned, Counts, KCCItems, KCCState
from consilience.consensus.groupings.kcc_estimator import KCC
from consilience.errors import InputError
from consilience.estimators.user_order import restore
from consilience.inference.clusters import by_falling_size
from consilience.inference.parts import Additive, Parts
from consilience.partitions.engine.checkpoint import Runs, digest, runs_at
from consilience.partitions.survey.item_survey import (
    SAMPLE,
    Keys,
    OwnItems,
    Surveyed,
    group_places,
    read_labelled_items,
)
from consilience.partitions.tables.label_table import LabelPartition

NO_ITEMS = np.empty(0, dtype=np.intp)


# ---- what is computed on a partition


def prepare_part(own: OwnItems, keys: Keys) -> csr_array:
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


def sweep_part(in_group: csr_array, table: Float[np.ndarray, "groups clusters"]) -> Swept:
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
class ItemsInParts(KCCItems):
    """Items in partitions, for the sweeps of the model: `kcc.KCCItems`.

    parts : of `prepare_part`.
    """

    parts: Parts

    def assign(self, table: Counts) -> Assigned:
        """Put each item to the nearest centroid, and the farthest ones to clusters that are empty."""
        found = self.parts.total(sweep_part, table)
        counts, sizes = found.counts, found.sizes
        empty = np.flatnonzero(sizes == 0)
        if len(empty):
            far = self.parts.total(farthest_of, table, len(empty))
            for item, (into, of) in enumerate(zip(empty[far.distance > GAIN], far.cluster)):
                groups = far.in_group[[item]].indices
                counts[groups, of] -= 1
                counts[groups, into] += 1
                sizes[[of, into]] += [-1, 1]
        return Assigned(NO_ITEMS, counts, sizes)


# ---- the fit


def fit_kcc(model: KCC, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model; see `registry.PartitionedModel`."""
    own, survey = table.own, table.survey
    if not survey.groups:
        raise InputError(f"KCC needs labels, and none of the {survey.n_items} items has any.")
    sample = table.sample(SAMPLE)
    arranged = arrange(sample.groupings)
    ordered = arranged.ordered
    keys = ordered.vocabulary.group_keys()
    parts = own.map(prepare_part, keys)
    own.forget()
    sizes, some = parts.total(sizes_of), Seen.of(ordered).memberships
    problem = model.problem_of(some, sizes.n_items, sizes.of_groups)
    runs: Runs[KCCState] = runs_at(checkpoint, model, labels=digest((keys, survey.n_items), sizes.of_groups))
    state = model.learn(problem, some, ItemsInParts(parts), loop=runs.run)
    model.keep_clusters(problem, state, by_falling_size(state.assigned.sizes), ordered)
    restore(model, arranged)
    del model.items_
    parts.forget()


# ---- results of items


def results_of_items(
    numbered: tuple[int, LabelPartition], model: KCC, first: Int[np.ndarray, " partitions"], responsibilities: bool
) -> pd.DataFrame:
    """Return the cluster of each item of a partition, missing for items without labels; all items have names.

    responsibilities : whether to add a column for each cluster: 1 for that of the item, and for items without labels
        the shares of the clusters.
    """
    groupings = read_labelled_items(numbered).rows.groupings
    found, probability = model.tell_clusters(groupings)
    cluster = pd.array(np.where(found < 0, 0, found), dtype="Int64")
    cluster[found < 0] = pd.NA
    table = pd.DataFrame({"item": groupings.items, "cluster": cluster})
    if not responsibilities:
        return table
    return table.join(pd.DataFrame(probability, columns=[f"cluster {number}" for number in range(model.n_clusters_)]))
