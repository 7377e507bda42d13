"""Clusters from co-occurrence of items: shared by `CSPA`, `MetaClustering` and, in part, `KCC`.

    S_ij = C_ij / P_ij

C the number of times that two items were put together, P the number of times that they were presented together; the
diagonal is zero. The items' coordinates are the leading eigenvectors of D^(-1/2) S D^(-1/2), D the row sums of S. Their
rows, scaled to length one, are clustered by k-means (Ng, Jordan & Weiss 2002).

Clusters never span two *parts* of the evidence, which no chain of groupings links. A *loner*, an item that was never
put together with another, has no coordinates; it joins the cluster of its part from which it was separated least often,
relative to the size of the cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.consensus.groupings.number_of_clusters import see_most, wider_and_wider
from consilience.errors import InputError
from consilience.inference.clusters import agreement_of_counts, determined_clusters, kmeans, numbered_by_size
from consilience.inference.memberships import Memberships, parts, shares_together
from consilience.inference.spectral import degree_normalised_eigenpairs, rows_of_length_one

Clusters = Int[np.ndarray, " items"]


@dataclass(frozen=True)
class Seen:
    """The items that are in some grouping.

    places : of these items among all items.
    part : of `memberships.parts`.
    """

    memberships: Memberships
    places: Int[np.ndarray, " seen"]
    part: Int[np.ndarray, " seen"]
    n_items: int

    @classmethod
    def of(cls, groupings: Groupings) -> Seen:
        """Leave out the items that are in no grouping."""
        everything = Memberships.of(groupings)
        places = np.flatnonzero(everything.times_seen > 0)
        memberships = everything.of_items(places)
        return cls(memberships, places, parts(memberships), len(groupings))

    def scattered(self, cluster: Int[np.ndarray, " seen"]) -> Int[np.ndarray, " items"]:
        """Clusters of all items; -1 for those that are in no grouping."""
        everywhere = np.full(self.n_items, -1)
        everywhere[self.places] = cluster
        return everywhere


@dataclass(frozen=True)
class Partition:
    """Clusters by decreasing size.

    eigenvalues : the leading ones considered, in decreasing order.
    n_loners : items that were never put together with another.
    """

    cluster: Clusters
    eigenvalues: Float[np.ndarray, " components"]
    n_loners: int


def partition(seen: Seen, n_clusters: int | None, max_clusters: int, *, rng: np.random.Generator) -> Partition:
    """Cluster the items.

    n_clusters : None to choose by the largest gap between eigenvalues, unless the groupings determine it.
    max_clusters : largest number considered if n_clusters is None.
    rng : of k-means.
    """
    memberships, part = seen.memberships, seen.part
    share = shares_together(memberships)
    degree = np.asarray(share.sum(1))
    linked = np.flatnonzero(degree > 0)
    determined = determined_clusters(memberships, part) if n_clusters is None else None
    if determined is None and not len(linked):
        determined = np.arange(memberships.n_items)
    if determined is not None:
        return Partition(numbered_by_size(determined), np.empty(0), len(part) - len(linked))
    n_parts = len(np.unique(part[linked]))
    number, values, vectors = leading_axes(
        share[linked][:, linked], n_clusters, max_clusters, n_parts, widens=see_most(memberships)
    )
    found = kmeans(rows_of_length_one(vectors[:, :number]), number, rng=rng, n_init=10)
    cluster = np.full(memberships.n_items, -1)
    cluster[linked] = own_of_parts(found, part[linked])
    return Partition(numbered_by_size(_with_loners(memberships, part, cluster)), values, len(part) - len(linked))


def leading_axes(
    share: csr_array, n_clusters: int | None, max_clusters: int, n_parts: int, *, widens: bool
) -> tuple[int, Float[np.ndarray, " components"], Float[np.ndarray, "items components"]]:
    """Return the number of clusters, and the leading eigenvalues and eigenvectors, in as many components or more.

    Gaps beyond the eigenvalues considered are at most as large as the last of these. While that leaves place for a
    larger one, twice as many are considered, unless the user set the bound or groupings hold small parts of the items.

    share : (items, items) shares of groupings that put two items together.
    n_clusters : None for that with the largest gap.
    max_clusters : largest number considered at first.
    n_parts : fewest clusters.
    widens : whether groupings are of most of the items, see `number_of_clusters`.
    """
    n_items, fewest = share.shape[0], max(2, n_parts)
    if n_clusters is not None:
        return min(n_clusters, n_items), *degree_normalised_eigenpairs(share, min(n_clusters, n_items))
    wider = wider_and_wider("auto", max_clusters, n_items) if widens else ()
    for numbers in chain([range(max_clusters + 1)], wider):
        # one eigenvalue more, for the gap after the last
        values, vectors = degree_normalised_eigenpairs(share, min(max(numbers[-1] + 1, n_parts), n_items))
        if values[-1] <= -np.diff(values)[fewest - 1 :].min(initial=0.0):
            break
    return eigengap(values, fewest), values, vectors


def eigengap(eigenvalues: Float[np.ndarray, " components"], fewest: int) -> int:
    """Return the number k, at least `fewest`, with the largest gap between the k-th eigenvalue and the next."""
    gaps = eigenvalues[:-1] - eigenvalues[1:]
    if len(gaps) < fewest:
        return min(fewest, len(eigenvalues))
    return fewest + int(gaps[fewest - 1 :].argmax())


def own_of_parts(cluster: Clusters, part: Clusters) -> Clusters:
    """Split clusters that span several parts: each part gets its own cluster for each that it has items of."""
    _, code = np.unique(np.column_stack([part, cluster]), axis=0, return_inverse=True)
    return np.asarray(code)


def probabilities(labels: Int[np.ndarray, " items"], n_clusters: int) -> Float[np.ndarray, "items clusters"]:
    """One-hot probabilities; the clusters' shares for items of label -1."""
    certain = np.eye(n_clusters)[labels]
    certain[labels < 0] = certain[labels >= 0].mean(0)
    return certain


def annotator_table(
    groupings: Groupings, memberships: Memberships, counts: csr_array, **columns: np.ndarray
) -> pd.DataFrame:
    """Tabulate annotators: n_groupings, n_items (memberships), further columns, and agreement with the clusters.

    groupings, memberships : of the same annotators; they may be without items
    counts : number of items of each cluster in each group
    **columns : one value for each annotator
    """
    by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    return pd.DataFrame(
        {
            "n_groupings": np.bincount(by, minlength=n_annotators),
            "n_items": np.bincount(by[memberships.grouping_of_group], counts.sum(1), n_annotators).astype(int),
            **columns,
            "agreement": agreement_of_counts(memberships, counts),
        },
        index=groupings.annotators.rename("annotator"),
    )


def habits(memberships: Memberships, cluster: Clusters) -> Float[np.ndarray, "annotators 2"]:
    """Rates at which each annotator puts together two items of one cluster, and two of different clusters.

    Shares of the pairs in the annotator's groupings, with one imagined pair at the crowd's rate added.
    """
    by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    n_clusters, k = int(cluster.max()) + 1, cluster[memberships.item]

    def pairs(cell: np.ndarray, grouping: np.ndarray) -> Float[np.ndarray, " annotators"]:
        _, first, m = np.unique(cell, return_index=True, return_counts=True)
        return np.bincount(by[grouping[first]], m * (m - 1) / 2, n_annotators)

    grouping = memberships.grouping
    both = pairs(memberships.group * n_clusters + k, grouping)
    within, total = pairs(grouping * n_clusters + k, grouping), pairs(grouping, grouping)
    counted = np.column_stack([both, pairs(memberships.group, grouping) - both])
    of = np.column_stack([within, total - within])
    # imagined: a pair of one cluster that is together, and a pair of two that is not
    crowd = (counted.sum(0) + np.array([1, 0])) / (of.sum(0) + 1)
    return np.asarray((counted + crowd) / (of + 1))  # imagined, a pair at the crowd's rate


def require_at_most(estimator: Any, n_clusters: Any, n_seen: int) -> None:
    """Raise an InputError if more clusters are requested than there are items in groupings."""
    if n_clusters > n_seen:
        raise InputError(
            f"The 'n_clusters' parameter of {type(estimator).__name__} must be at most the number of items that are in "
            f"some grouping (n_samples = {n_seen}). Got {n_clusters} instead."
        )


def notes(seen: Seen, found: Partition, n_clusters: int | None) -> list[str]:
    """Return notes on the limits of the evidence.

    seen, found : of `partition`
    n_clusters : the number requested, None if it was to be chosen
    """
    sentences = []
    n_parts = int(seen.part.max()) + 1
    if n_parts > 1:
        sentences.append(
            f"The items fall into {n_parts} parts that no chain of groupings links; each has clusters of its own, and "
            "nothing is known about pairs across parts."
        )
    if found.n_loners:
        sentences.append(
            f"{found.n_loners} items were never put together with another. Their clusters are uncertain: those from "
            "which they were separated least often, if there are any."
        )
    number = int(found.cluster.max()) + 1
    if n_clusters is not None and number != n_clusters:
        sentences.append(f"{n_clusters} clusters were requested; the groupings make {number}.")
    return sentences


def _with_loners(memberships: Memberships, part: Clusters, cluster: Clusters) -> Clusters:
    """Put items of cluster -1 into the cluster from which they were separated least, or each into its own."""
    loners, linked = np.flatnonzero(cluster < 0), np.flatnonzero(cluster >= 0)
    if not len(loners):
        return cluster
    n_clusters = int(cluster.max()) + 1
    sizes = np.bincount(cluster[linked], minlength=n_clusters)
    part_of_cluster = np.empty(n_clusters, dtype=part.dtype)
    part_of_cluster[cluster[linked]] = part[linked]
    onehot = csr_array((np.ones(len(linked)), (linked, cluster[linked])), shape=(len(cluster), n_clusters))
    held = memberships.in_grouping
    apart = (held[loners] @ (held.T.tocsr() @ onehot)).toarray() / sizes
    apart[part[loners][:, None] != part_of_cluster] = np.inf
    filled = cluster.copy()
    # without a cluster in its part, a new one
    filled[loners] = np.where(np.isfinite(apart).any(1), apart.argmin(1), n_clusters + np.arange(len(loners)))
    return filled
