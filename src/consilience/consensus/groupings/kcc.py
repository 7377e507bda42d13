"""K-means-based consensus clustering: Wu, Liu, Xiong, Cao & Chen (2015), with missing labels.

J. Wu, H. Liu, H. Xiong, J. Cao & J. Chen, K-means-based consensus clustering: a unified view, IEEE TKDE 27(1). The
clusters maximise the utility, the sum over groupings of their similarity to the clusters. For the
utilities of `kcc_utilities` this is k-means of the items' memberships, one block of coordinates for each grouping.

| paper symbol | name in code | shape |
|---|---|---|
| x_i^(b), the binary data | in_group | (items, groups) sparse 0/1 |
| m_k, the centroid | shares | (groups, clusters) |
| w_i | weights | (groupings,) |
| P^(i) | overall | (groups,) |
| π, the consensus | cluster | (items,) |

A sweep, with O_i the groupings that contain item i:

    z_i ← argmin_k Σ_{g in O_i} w_g f(x_ig, m_kg)                    `Items.assign`
    m_kg ← mean of x_ig over the items of cluster k in grouping g   `update`

Each is one product of the sparse memberships with a table of groups and clusters.

Decided here
------------
An item's distance is the *sum* over the groupings that contain it. Then the mean over the items in the grouping is the
centroid that minimises Σ_i Σ_{g in O_i} w_g f(x_ig, m_{z_i g}), and no sweep raises it. (With the mean over the
groupings that contain it, centroids would have to be weighted means.) That sum is a constant minus n times

    Σ_g w_g (n_g / n) (Σ_k n_kg / n_g φ(m_kg) - φ(P_g)),

n_g the number of items in g, n_kg of those the number in cluster k: the utility of each grouping times the share of the
items that it contains, as in the paper. Where a cluster has no item in a grouping, its block is the overall block P_g,
which changes no sum. Shares are raised to at least 1e-12 before logarithms. An empty cluster takes the item that is
farthest from its centroid.

K-means on sparse memberships hardly moves from its start, since each item contributes much to the few centroids near
it. The start therefore matters; by default (`init`) it is k-means on spectral coordinates of the graph of items and
groups, not random as in the paper. The paper recommends the entropy utility in general. With missing labels, the "lp"
utility of order 5 was best, and is the default.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.consensus.groupings import kcc_utilities as utilities
from consilience.inference import Trace
from consilience.inference.iterate import Loop, begin
from consilience.inference.memberships import Memberships

Clusters = Int[np.ndarray, " items"]
Counts = Float[np.ndarray, "groups clusters"]
GAIN = 1e-9  # of an item from a cluster of its own, below which it is at its centroid
HABIT = 2.0  # imagined items, at a grouping's overall shares, in the expected shares of clusters


@dataclass(frozen=True)
class KCCProblem:
    """The memberships, and quantities that are constant in a run.

    blocks : (groupings, groups) sparse 0/1.
    overall : share of each group among the items of its grouping.
    weights : of the groupings.
    n_clusters : K.
    """

    blocks: csr_array
    grouping_of_group: Int[np.ndarray, " groups"]
    overall: Float[np.ndarray, " groups"]
    weights: Float[np.ndarray, " groupings"]
    utility: str
    p: float
    n_clusters: int

    @classmethod
    def of(
        cls,
        memberships: Memberships,
        utility: str,
        p: float,
        *,
        normalize: bool,
        n_clusters: int,
        group_sizes: Int[np.ndarray, " groups"] | None = None,
    ) -> KCCProblem:
        """Prepare memberships for a run; `group_sizes` count all items, if these are not in the memberships."""
        of_group = memberships.grouping_of_group
        blocks = utilities.blocks_of(of_group, memberships.n_groupings)
        sizes = memberships.group_sizes if group_sizes is None else group_sizes
        held = (blocks @ sizes)[of_group]
        overall = np.divide(sizes, held, out=np.zeros(len(held)), where=held > 0)
        weights = utilities.weights(overall, blocks, utility, p, normalize=normalize)
        return cls(blocks, of_group, overall, weights, utility, p, n_clusters=n_clusters)

    def convex(self, shares: utilities.Shares) -> Float[np.ndarray, "groupings clusters"]:
        """Return φ of each block."""
        return utilities.convex(shares, self.blocks, self.utility, self.p)

    def table(self, shares: utilities.Shares) -> utilities.Shares:
        """Weighted distance of an item in each group from each cluster: w_g f(e_j, m_kg)."""
        found = utilities.distances(shares, self.blocks, self.utility, self.p)
        return np.asarray(self.weights[self.grouping_of_group][:, None] * found)


@dataclass(frozen=True)
class Assigned:
    """Clusters of items, counted.

    cluster : of each item; of none, if clusters stay where the items are.
    counts : number of items of each cluster in each group.
    sizes : number of items of each cluster.
    """

    cluster: Clusters
    counts: Counts
    sizes: Int[np.ndarray, " clusters"]


class KCCItems(ABC):
    """What the sweeps need of the items, wherever they are."""

    @abstractmethod
    def assign(self, table: Counts) -> Assigned:
        """Put each item to the nearest centroid; empty clusters take the items farthest from theirs.

        table : distances of an item in each group from each cluster.
        """


@dataclass(frozen=True)
class ItemsInMemory(KCCItems):
    """Memberships of all items: (items, groups) sparse 0/1, and its transpose."""

    in_group: csr_array
    of_groups: csr_array

    @classmethod
    def of(cls, in_group: csr_array) -> ItemsInMemory:
        """Keep the transpose, too."""
        return cls(in_group, in_group.T.tocsr())

    def assign(self, table: Counts) -> Assigned:
        """See `Items.assign`."""
        return self.count(nearest(self.in_group, table), table.shape[1])

    def count(self, cluster: Clusters, n_clusters: int) -> Assigned:
        """Count items of these clusters."""
        n_items = len(cluster)
        onehot = csr_array((np.ones(n_items), (np.arange(n_items), cluster)), shape=(n_items, n_clusters))
        return Assigned(cluster, (self.of_groups @ onehot).toarray(), np.bincount(cluster, minlength=n_clusters))


@dataclass(frozen=True)
class KCCState:
    """Clusters of the items, and their centroids.

    held : number of items of each cluster in each grouping, n_kg.
    """

    assigned: Assigned
    shares: utilities.Shares
    held: Float[np.ndarray, "groupings clusters"]


def update(problem: KCCProblem, assigned: Assigned) -> KCCState:
    """Set each block of a centroid to the mean over the items in its grouping."""
    counts = assigned.counts
    held = np.asarray(problem.blocks @ counts)
    of_block = held[problem.grouping_of_group]
    overall = np.repeat(problem.overall[:, None], counts.shape[1], axis=1)
    return KCCState(assigned, np.divide(counts, of_block, out=overall, where=of_block > 0), held)


def nearest(in_group: csr_array, table: Counts) -> Clusters:
    """Nearest centroid of each item; empty clusters take the items farthest from theirs."""
    distance = np.asarray(in_group @ table)
    cluster = distance.argmin(1)
    empty = np.flatnonzero(np.bincount(cluster, minlength=table.shape[1]) == 0)
    if len(empty):
        own = distance[np.arange(len(cluster)), cluster]
        farthest = np.argsort(-own, kind="stable")[: len(empty)]
        farthest = farthest[own[farthest] > GAIN]  # an item at its centroid gains nothing from its own cluster
        cluster[farthest] = empty[: len(farthest)]
    return cluster


def utility_of_groupings(problem: KCCProblem, state: KCCState) -> Float[np.ndarray, " groupings"]:
    """w_g (n_g / n) (Σ_k n_kg / n_g φ(m_kg) - φ(P_g)) of each grouping g."""
    gained = (state.held * problem.convex(state.shares)).sum(1)
    before = state.held.sum(1) * problem.convex(problem.overall[:, None])[:, 0]
    return np.asarray(problem.weights * (gained - before) / state.assigned.sizes.sum())


def objective(problem: KCCProblem, state: KCCState) -> float:
    """Sum of the distances of the items from their centroids."""
    of_unit_vector = 0.0 if problem.utility == "entropy" else 1.0
    inner = state.held * (of_unit_vector - problem.convex(state.shares))
    return float((problem.weights * inner.sum(1)).sum())


def spread_seeds(problem: KCCProblem, in_group: csr_array, rng: np.random.Generator) -> Clusters:
    """Clusters around items drawn with a probability in proportion to their distance from those drawn before."""
    n_items = in_group.shape[0]
    closest = np.ones(n_items)
    distances = np.empty((n_items, problem.n_clusters))
    for k in range(problem.n_clusters):
        total = closest.sum()
        # 0 if each item is where a seed is
        chosen = int(rng.choice(n_items, p=closest / total) if total > 0 else rng.integers(n_items))
        distances[:, k] = in_group @ problem.table(_item_as_centroid(problem, in_group, chosen))[:, 0]
        closest = np.maximum(distances[:, : k + 1].min(1), 0.0)  # rounding: rng.choice takes no negative probability
    return distances.argmin(1)


def _item_as_centroid(problem: KCCProblem, in_group: csr_array, item: int) -> utilities.Shares:
    groups = in_group.indices[slice(*in_group.indptr[item : item + 2])]
    known = np.isin(problem.grouping_of_group, problem.grouping_of_group[groups])
    shares = np.where(known, 0.0, problem.overall)
    shares[groups] = 1.0
    return shares[:, None]


def run(
    problem: KCCProblem, items: KCCItems, start: Callable[[], Assigned], *, max_iter: int, loop: Loop = begin
) -> Trace[KCCState]:
    """Sweep until the sum of distances falls no more; `start` makes the first clusters, of all items or of some."""
    return loop(
        lambda: update(problem, start()),
        lambda state: update(problem, items.assign(problem.table(state.shares))),
        lambda state: -objective(problem, state),
        max_iter=max_iter,
        tol=1e-12,  # rounding
    )
