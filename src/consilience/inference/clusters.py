"""Clusters of items as codes: numbered by size, found by k-means, implied by groupings, compared with them."""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.cluster.vq import kmeans2
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from consilience.inference.memberships import Memberships, link_items

KMEANS_ITEMS = 20_000  # with more items, centres are found on a sample of this size
QUICK_ITEMS = 500  # up to which `quick_kmeans` saves time
QUICK_SWEEPS = 10
JITTER = 1e-9  # of coordinates, so that no two points are equal
MOST_CELLS = 200_000  # groups × clusters up to which a dense table of counts is quicker
FEW = 8  # clusters
TIE = 1e-6  # between probabilities that are told apart by how sums are rounded, if at all

Clusters = Int[np.ndarray, " items"]


def most_probable(probability: Float[np.ndarray, "items clusters"]) -> Clusters:
    """Return the most probable cluster of each item, of tied ones the first.

    Examples
    --------
    >>> most_probable(np.array([[0.2, 0.8], [0.5 - 1e-10, 0.5 + 1e-10]])).tolist()
    [1, 0]
    """
    return np.asarray(highest(probability).argmax(1))


def are_tied(probability: Float[np.ndarray, "items clusters"]) -> Bool[np.ndarray, " items"]:
    """Whether several clusters of an item are equally probable, and no other more."""
    return np.asarray(highest(probability).sum(1) > 1)


def highest(probability: Float[np.ndarray, "items clusters"]) -> Bool[np.ndarray, "items clusters"]:
    """Whether a cluster is the most probable one of an item, or tied with it."""
    few = probability.shape[1] <= FEW  # down the columns of a copy, in a tenth of the time
    largest = np.ascontiguousarray(probability.T).max(0) if few else probability.max(1)
    return np.asarray(probability >= largest[:, None] - TIE)


def by_falling_size(sizes: Int[np.ndarray, " clusters"]) -> Int[np.ndarray, " owned"]:
    """Return the numbers of non-empty clusters by decreasing size; equal ones stay in order.

    Examples
    --------
    >>> by_falling_size(np.array([2, 0, 5, 2])).tolist()
    [2, 0, 3]
    """
    return np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]  # empty clusters come last


def numbered_by_size(cluster: Clusters) -> Clusters:
    """Number clusters by decreasing size; among equal sizes, by their first item."""
    _, first, code, sizes = np.unique(cluster, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.intp)
    # the inverse of the order: a rank for each code
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[code])


def kmeans(
    points: Float[np.ndarray, "items components"], n_clusters: int, *, rng: np.random.Generator, n_init: int = 1
) -> Clusters:
    """Clusters of points, fewer if fewer points are distinct; of many points, the centres are those of a sample."""
    from sklearn.cluster import KMeans  # with all of scikit-learn's metrics and linear models, which few models need

    # scikit-learn takes no Generator
    model = KMeans(n_clusters, n_init=n_init, random_state=int(rng.integers(2**31 - 1)))
    some = points if len(points) <= KMEANS_ITEMS else points[rng.choice(len(points), KMEANS_ITEMS, replace=False)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        model.fit(some)
    return model.predict(points).astype(np.intp)


def quick_kmeans(
    points: Float[np.ndarray, "items components"], n_clusters: int, *, rng: np.random.Generator, n_init: int = 1
) -> Clusters:
    """Clusters of a few points in a few sweeps, for many problems in a row; `kmeans` of more points."""
    if len(points) > QUICK_ITEMS:
        return kmeans(points, n_clusters, rng=rng, n_init=n_init)
    apart = points + JITTER * rng.standard_normal(points.shape)
    best, least = np.zeros(len(points), dtype=np.intp), np.inf
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One of the clusters is empty", UserWarning)
        for _ in range(n_init):
            centres, cluster = kmeans2(apart, n_clusters, QUICK_SWEEPS, minit="++", rng=rng, check_finite=False)
            inertia = float(((apart - centres[cluster]) ** 2).sum())
            if inertia < least:
                best, least = cluster, inertia
    return np.unique(best, return_inverse=True)[1]  # k-means can leave clusters empty: number those that occur


def determined_clusters(memberships: Memberships, part: Clusters) -> Clusters | None:
    """Return the clusters if the groupings determine them without inference, else None.

    No two items ever together: each is a cluster. None ever apart: each part is a cluster. All pairs within parts
    presented, and no two groupings contradict each other, directly or through a third item: the groups they agree on.
    """
    group_pairs = (memberships.group_sizes.astype(float) ** 2 - memberships.group_sizes).sum()
    pairs = (memberships.grouping_sizes.astype(float) ** 2 - memberships.grouping_sizes).sum()
    if group_pairs == 0:
        return np.arange(memberships.n_items)
    if group_pairs == pairs:
        return part
    of_part = np.bincount(part).astype(float)
    # fewer than the pairs within parts: some were never presented, which the product below need not find out
    if pairs < (of_part**2 - of_part).sum():
        return None
    cluster = link_items(memberships.item, memberships.group, memberships.n_items, memberships.n_groups)
    split = np.unique(np.column_stack([memberships.grouping, cluster[memberships.item]]), axis=0)
    if len(split) != np.count_nonzero(memberships.group_sizes):
        return None  # a grouping separates items of a cluster
    # with the diagonal, as in the squares
    seen = csr_array(memberships.in_grouping @ memberships.in_grouping.T.tocsr()).nnz
    return cluster if seen == (of_part**2).sum() else None


def count_clusters(memberships: Memberships, cluster: Clusters) -> csr_array:
    """Number of items of each cluster in each group, (groups, clusters)."""
    shape = (memberships.n_groups, int(cluster.max()) + 1)
    return csr_array((np.ones(len(memberships.group)), (memberships.group, cluster[memberships.item])), shape=shape)


def count_in_groupings(memberships: Memberships, counts: csr_array) -> csr_array:
    """Number of items of each cluster in each grouping, from those in each group."""
    group = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    shape = (len(memberships.annotator_of_grouping), counts.shape[1])
    return csr_array((counts.data, (memberships.grouping_of_group[group], counts.indices)), shape=shape)


def agreement_with(memberships: Memberships, cluster: Clusters) -> Float[np.ndarray, " annotators"]:
    """Adjusted Rand index of each annotator's groupings with clusters, over all pairs in these groupings.

    NaN where it is undefined: without pairs, or where disagreement is impossible.
    """
    n_clusters = int(cluster.max()) + 1
    if memberships.n_groups * n_clusters > MOST_CELLS:
        return agreement_of_counts(memberships, count_clusters(memberships, cluster))
    of_grouping, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators

    def pairs(place: np.ndarray, whose: np.ndarray) -> tuple[Float[np.ndarray, " annotators"], ...]:
        """Pairs of items of one cluster in one place, and all pairs in one place, by annotator."""
        cells = np.bincount(place * n_clusters + cluster[memberships.item], minlength=len(whose) * n_clusters)
        sizes = cells.reshape(-1, n_clusters).astype(float)
        of_one, whole = (sizes * (sizes - 1) / 2).sum(1), sizes.sum(1)
        return np.bincount(whose, of_one, n_annotators), np.bincount(whose, whole * (whole - 1) / 2, n_annotators)

    both, in_group = pairs(memberships.group, of_grouping[memberships.grouping_of_group])
    in_cluster, total = pairs(memberships.grouping, of_grouping)
    return _adjusted_rand(both, in_group, in_cluster, total)


def agreement_of_counts(memberships: Memberships, counts: csr_array) -> Float[np.ndarray, " annotators"]:
    """`agreement_with` from the numbers of items of each cluster in each group; `memberships` may be without items."""
    of_grouping, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    of_group, held = of_grouping[memberships.grouping_of_group], count_in_groupings(memberships, counts)

    def pairs(sizes: np.ndarray, whose: np.ndarray) -> Float[np.ndarray, " annotators"]:
        return np.bincount(whose, sizes * (sizes - 1) / 2, n_annotators).astype(float)

    both, in_group = pairs(counts.data, _of_cells(counts, of_group)), pairs(counts.sum(1), of_group)
    in_cluster, total = pairs(held.data, _of_cells(held, of_grouping)), pairs(held.sum(1), of_grouping)
    return _adjusted_rand(both, in_group, in_cluster, total)


def _adjusted_rand(
    both: Float[np.ndarray, " annotators"],
    in_group: Float[np.ndarray, " annotators"],
    in_cluster: Float[np.ndarray, " annotators"],
    total: Float[np.ndarray, " annotators"],
) -> Float[np.ndarray, " annotators"]:
    """Return the adjusted Rand index from the pairs together in both, in groups, in clusters, and of all items."""
    expected = np.divide(in_cluster * in_group, total, out=np.zeros(len(total)), where=total > 0)
    possible = (in_cluster + in_group) / 2 - expected
    # 0 but for rounding
    return np.divide(both - expected, possible, out=np.full(len(total), np.nan), where=possible > 1e-9)


def pairs_kept_apart(memberships: Memberships, counts: csr_array) -> Float[np.ndarray, " annotators"]:
    """Share of the pairs of items of two clusters, among those in an annotator's groupings, that are kept apart.

    1 where there are no such pairs. Parameters as for `agreement_of_counts`.
    """
    of_grouping, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators

    def across(sizes: csr_array, whose: Int[np.ndarray, " places"]) -> np.ndarray:
        """Pairs of two clusters in one place, by annotator."""
        squares = np.bincount(_of_cells(sizes, np.arange(len(whose))), sizes.data**2, len(whose))
        return np.bincount(whose, (sizes.sum(1) ** 2 - squares) / 2, n_annotators)

    presented = across(count_in_groupings(memberships, counts), of_grouping)
    together = across(counts, of_grouping[memberships.grouping_of_group])
    return 1 - np.divide(together, presented, out=np.zeros(n_annotators), where=presented > 0)


def _of_cells(table: csr_array, of_rows: np.ndarray) -> np.ndarray:
    """Repeat a value for each entry of its row."""
    return np.repeat(of_rows, np.diff(table.indptr))
