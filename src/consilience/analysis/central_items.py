"""The most central items of each cluster, which name it where people did not: those most often put with its others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.analysis.names import as_text, shorten
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.fit_arguments import as_groupings

N_NAMED = 2  # items in the name of a cluster
LONGEST = 40  # letters of each of them


def named_by_items(
    annotations: Groupings | Labels | Pairs, codes: Int[np.ndarray, " items"], n_clusters: int
) -> list[str]:
    """Return the names of the two most central items of each cluster, such as "Returns, Track a parcel".

    Empty if the names of the items are numbers, which tell nobody what is in a cluster.

    annotations : what people said of the items
    codes : cluster of each item, -1 for none.
    """
    names = [shorten(as_text(name), LONGEST) for name in annotations.items]
    if not all(any(map(str.isalpha, name)) for name in names):
        return []
    return [", ".join(names[item] for item in items) for items in central_items(annotations, codes, n_clusters)]


def central_items(
    annotations: Groupings | Labels | Pairs, codes: Int[np.ndarray, " items"], n_clusters: int
) -> Sequence[Sequence[int]]:
    """Return the places of the most central items of each cluster, the most central first."""
    centrality = _centrality_in_pairs(annotations, codes) if isinstance(annotations, Pairs) else None
    if centrality is None:
        centrality = _centrality_in_groups(as_groupings(annotations, None, "central_items"), codes, n_clusters)
    order = np.argsort(-centrality, kind="stable")
    return [order[codes[order] == cluster][:N_NAMED].tolist() for cluster in range(n_clusters)]


def _centrality_in_groups(
    groupings: Groupings, codes: Int[np.ndarray, " items"], n_clusters: int
) -> Float[np.ndarray, " items"]:
    """Share of the times that an item was shown with others of its cluster in which they were put together."""
    clustered = np.flatnonzero(codes >= 0)
    ones = np.ones(len(clustered), dtype=np.int64)
    member = csr_array((ones, (clustered, codes[clustered])), shape=(len(codes), n_clusters))
    groups = csr_array(groupings.incidence.astype(np.int64))
    n_groups = groups.shape[1]
    of_grouping = csr_array(
        (np.ones(n_groups, dtype=np.int64), (np.arange(n_groups), groupings.grouping_of_group)),
        shape=(n_groups, groupings.n_groupings),
    )
    together, shown = (_with_others(found, member) for found in (groups, groups @ of_grouping))
    return np.divide(together, shown, out=np.zeros(len(codes)), where=shown > 0)


def _with_others(found: csr_array, member: csr_array) -> Float[np.ndarray, " items"]:
    """Count the other items of its cluster with which each item is in the same groups."""
    counts = (found @ (found.T @ member)).multiply(member).sum(1) - found.sum(1)
    return np.maximum(np.asarray(counts, dtype=float).ravel(), 0)


def _centrality_in_pairs(pairs: Pairs, codes: Int[np.ndarray, " items"]) -> Float[np.ndarray, " items"]:
    """Share of the judgements of an item with others of its cluster that say they are the same."""
    inside = (codes[pairs.item_a] == codes[pairs.item_b]) & (codes[pairs.item_a] >= 0)
    ends = np.concatenate([pairs.item_a[inside], pairs.item_b[inside]])
    same = np.tile(pairs.same[inside].astype(float), 2)
    judged = np.bincount(ends, minlength=len(codes))
    return np.divide(np.bincount(ends, same, len(codes)), judged, out=np.zeros(len(codes)), where=judged > 0)
