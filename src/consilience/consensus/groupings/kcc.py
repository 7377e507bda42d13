"""K-means-based consensus clustering: Wu, Liu, Xiong, Cao & Chen (2015), with missing labels.

J. Wu, H. Liu, H. Xiong, J. Cao & J. Chen, K-means-based consensus clustering: a unified view, IEEE TKDE 27(1). The
clusters are those of largest utility, the sum over groupings of how alike the clusters and the grouping are. For the
utilities of `kcc_utilities` that is k-means of the items' memberships, one block of coordinates a grouping.

| paper symbol | name in code | shape |
|---|---|---|
| x_i^(b), the binary data | in_group | (items, groups) sparse 0/1 |
| m_k, the centroid | shares | (groups, clusters) |
| w_i | weights | (groupings,) |
| P^(i) | overall | (groups,) |
| π, the consensus | cluster | (items,) |

A sweep, with O_i the groupings that hold item i:

    z_i ← argmin_k Σ_{g in O_i} w_g f(x_ig, m_kg)                    `assign`
    m_kg ← mean of x_ig over the items of cluster k that g holds     `update`

Both are one product of the sparse memberships with a table of groups and clusters.

Decided here
------------
An item's distance is the *sum* over the groupings that hold it. Then the mean over the held items is the centroid that
lowers Σ_i Σ_{g in O_i} w_g f(x_ig, m_{z_i g}) the most, and no sweep raises it. (With the mean over the groupings that
hold it, centroids would have to be weighted means.) That sum is a constant minus n times

    Σ_g w_g (n_g / n) (Σ_k n_kg / n_g φ(m_kg) - φ(P_g)),

n_g the items that g holds, n_kg those of cluster k: the utility of each grouping times the share of the items that it
holds, as in the paper. A block of which a cluster has no item is the overall block P_g: that changes no sum. Logarithms
are those of shares of at least 1e-12. A cluster that lost its items takes the item that is farthest from its own.

K-means on sparse memberships stays where it starts, since an item makes up much of the few centroids it is near. So
that starts matter, and by default (`init`) they are k-means clusters of spectral coordinates of the graph of items and
groups, not random ones as in the paper. The paper has the utility of entropy for the best in general. With missing
labels that of vectors of order 5 was, and is the default.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.consensus.groupings import kcc_utilities as utilities
from consilience.inference import Trace
from consilience.inference.iterate import iterate
from consilience.inference.memberships import Memberships

Clusters = Int[np.ndarray, " items"]
HABIT = 2.0  # items, of a grouping's own habit in the shares that are expected of clusters


@dataclass(frozen=True)
class Problem:
    """The memberships, and what does not change in a run.

    in_group, of_groups : (items, groups) sparse 0/1, and its transpose.
    blocks : (groupings, groups) sparse 0/1.
    overall : share of each group among the items of its grouping.
    weights : of the groupings.
    n_clusters : K.
    """

    in_group: csr_array
    of_groups: csr_array
    blocks: csr_array
    grouping_of_group: Int[np.ndarray, " groups"]
    overall: Float[np.ndarray, " groups"]
    weights: Float[np.ndarray, " groupings"]
    utility: str
    p: float
    n_clusters: int

    @classmethod
    def of(cls, memberships: Memberships, utility: str, p: float, *, normalize: bool, n_clusters: int) -> Problem:
        """Gather what a run needs."""
        of_group = memberships.grouping_of_group
        blocks = utilities.blocks_of(of_group, memberships.n_groupings)
        held = memberships.grouping_sizes[of_group]
        overall = np.divide(memberships.group_sizes, held, out=np.zeros(len(held)), where=held > 0)
        weights = utilities.weights(overall, blocks, utility, p, normalize=normalize)
        in_group = memberships.in_group
        return cls(in_group, in_group.T.tocsr(), blocks, of_group, overall, weights, utility, p, n_clusters=n_clusters)

    def convex(self, shares: utilities.Shares) -> Float[np.ndarray, "groupings clusters"]:
        """Return φ of each block."""
        return utilities.convex(shares, self.blocks, self.utility, self.p)

    def table(self, shares: utilities.Shares) -> utilities.Shares:
        """How far an item in each group is from each cluster, weighted: w_g f(e_j, m_kg)."""
        found = utilities.distances(shares, self.blocks, self.utility, self.p)
        return np.asarray(self.weights[self.grouping_of_group][:, None] * found)


@dataclass(frozen=True)
class State:
    """Clusters of the items, and their centroids.

    cluster : of each item.
    held : number of items of each cluster that each grouping holds, n_kg.
    """

    cluster: Clusters
    shares: utilities.Shares
    held: Float[np.ndarray, "groupings clusters"]


def update(problem: Problem, cluster: Clusters) -> State:
    """Make each block of a centroid the mean over the items that its grouping holds."""
    n_items, n_clusters = len(cluster), problem.n_clusters
    onehot = csr_array((np.ones(n_items), (np.arange(n_items), cluster)), shape=(n_items, n_clusters))
    counts = (problem.of_groups @ onehot).toarray()
    held = np.asarray(problem.blocks @ counts)
    of_block = held[problem.grouping_of_group]
    overall = np.repeat(problem.overall[:, None], n_clusters, axis=1)
    return State(cluster, np.divide(counts, of_block, out=overall, where=of_block > 0), held)


def assign(problem: Problem, shares: utilities.Shares) -> Clusters:
    """Nearest centroid of each item; clusters left without items take those farthest from theirs."""
    distance = np.asarray(problem.in_group @ problem.table(shares))
    cluster = distance.argmin(1)
    empty = np.flatnonzero(np.bincount(cluster, minlength=problem.n_clusters) == 0)
    if len(empty):
        own = distance[np.arange(len(cluster)), cluster]
        farthest = np.argsort(-own, kind="stable")[: len(empty)]
        farthest = farthest[own[farthest] > 1e-9]  # an item at its centroid gains nothing by a cluster of its own
        cluster[farthest] = empty[: len(farthest)]
    return cluster


def utility_of_groupings(problem: Problem, state: State) -> Float[np.ndarray, " groupings"]:
    """w_g (n_g / n) (Σ_k n_kg / n_g φ(m_kg) - φ(P_g)) of each grouping g."""
    gained = (state.held * problem.convex(state.shares)).sum(1)
    before = state.held.sum(1) * problem.convex(problem.overall[:, None])[:, 0]
    return np.asarray(problem.weights * (gained - before) / problem.in_group.shape[0])


def objective(problem: Problem, state: State) -> float:
    """Sum of the distances of the items from their centroids."""
    of_unit_vector = 0.0 if problem.utility == "entropy" else 1.0
    inner = state.held * (of_unit_vector - problem.convex(state.shares))
    return float((problem.weights * inner.sum(1)).sum())


def spread_seeds(problem: Problem, rng: np.random.Generator) -> Clusters:
    """Clusters around items drawn with a probability in proportion to their distance from those drawn before."""
    n_items = problem.in_group.shape[0]
    nearest = np.ones(n_items)
    distances = np.empty((n_items, problem.n_clusters))
    for k in range(problem.n_clusters):
        total = nearest.sum()
        chosen = int(rng.choice(n_items, p=nearest / total) if total > 0 else rng.integers(n_items))
        distances[:, k] = problem.in_group @ problem.table(_item_as_centroid(problem, chosen))[:, 0]
        nearest = np.maximum(distances[:, : k + 1].min(1), 0.0)
    return distances.argmin(1)


def _item_as_centroid(problem: Problem, item: int) -> utilities.Shares:
    groups = problem.in_group.indices[slice(*problem.in_group.indptr[item : item + 2])]
    known = np.isin(problem.grouping_of_group, problem.grouping_of_group[groups])
    shares = np.where(known, 0.0, problem.overall)
    shares[groups] = 1.0
    return shares[:, None]


def run(problem: Problem, start: Clusters, *, max_iter: int) -> Trace[State]:
    """Sweep until the sum of distances falls no more."""
    return iterate(
        update(problem, start),
        lambda state: update(problem, assign(problem, state.shares)),
        lambda state: -objective(problem, state),
        max_iter=max_iter,
        tol=1e-12,  # rounding
    )
