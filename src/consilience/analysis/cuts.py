"""Cuts through the tree of the items, with the figures of the clusters of each, for the report's explorer.

The tree is that of `plot_dendrogram`: average linkage of 1 - the share of presentations in which two items were put
together. Its leaves are in an order in which every branch is a range, so that the clusters of every cut follow from a
list of splits, from the root down: each paints the range of one of the two branches in another number. A script can
then find the clusters of any cut without computing anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.cluster import hierarchy
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships

FEWEST, MOST = 3, 500  # items of a tree
SAME_HEIGHT = 1e-9  # branches that meet at the same height are split together
ABOUT_SILHOUETTE = (
    "1 means clusters that are perfectly clear, 0 none. It is a little lower than the textbook's: half a person, who "
    "puts together as many as all do, is added to each pair."
)


@dataclass(frozen=True)
class Tree:
    """A binary tree whose branches are ranges of its leaves; the leaves come first, and the root is the last node.

    order : the items at the leaves, from the first to the last.
    start, size : of the range of leaves below each node.
    height : of each node; 0 of leaves.
    children : of each node that is not a leaf, the one with the earlier leaves first.
    """

    order: Int[np.ndarray, " leaves"]
    start: Int[np.ndarray, " nodes"]
    size: Int[np.ndarray, " nodes"]
    height: Float[np.ndarray, " nodes"]
    children: Int[np.ndarray, "inner 2"]

    @classmethod
    def of(cls, distance: Float[np.ndarray, "leaves leaves"]) -> Tree:
        """Find the tree of items with the given distances; of two branches, that of the closer items is the first."""
        n = len(distance)
        linked = hierarchy.linkage(squareform(distance, checks=False), "average")
        height = np.append(np.zeros(n), linked[:, 2])
        size = np.append(np.ones(n), linked[:, 3]).astype(int)
        children = np.array(linked[:, :2], dtype=int)
        later = height[children[:, 0]] > height[children[:, 1]]
        children[later] = children[later, ::-1]
        start = np.zeros(2 * n - 1, dtype=int)
        for node in range(2 * n - 2, n - 1, -1):  # from the root down: a branch begins where its node does
            first, second = children[node - n]
            start[first], start[second] = start[node], start[node] + size[first]
        return cls(np.argsort(start[:n]), start, size, height, children)  # the inverse of the places: the leaf at each

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.order)

    @property
    def split_heights(self) -> Float[np.ndarray, " inner"]:
        """Heights of the nodes above the leaves, from the root down."""
        return self.height[: self.n_leaves - 1 : -1]

    def cut(self, n_clusters: int) -> Int[np.ndarray, " leaves"]:
        """Number of the cluster of each leaf, from 0, in the order of the leaves."""
        starts = np.zeros(self.n_leaves, dtype=int)
        # the highest merges are the last; undoing one makes its second branch a cluster
        starts[self.start[self.children[::-1][: n_clusters - 1, 1]]] = 1
        return np.cumsum(starts)

    def painted(self, cluster: Int[np.ndarray, " leaves"]) -> tuple[int, Int[np.ndarray, "inner 3"]]:
        """Number the clusters of all cuts alike: one that is mostly a given cluster has its number, in whichever cut.

        cluster : number of each leaf's cluster, in the order of the leaves.

        Returns
        -------
        base : number of all leaves before the first split; of the largest given cluster that is a branch, if any is.
        splits : first leaf, end, and new number of the branch that each split renumbers, from the root down. The other
            branch keeps its number. Branches of no given cluster have numbers beyond those.
        """
        own = self._branches_of(cluster)
        claim, claimed = own.copy(), np.where(own >= 0, self.size, 0)
        for node, branches in enumerate(self.children, start=self.n_leaves):
            larger = branches[claimed[branches].argmax()]
            if own[node] < 0 and claimed[larger]:
                claim[node], claimed[node] = claim[larger], claimed[larger]
        fresh = count(int(cluster.max()) + 1)
        number = np.full(len(self.size), -1)
        number[-1] = claim[-1] if claim[-1] >= 0 else next(fresh)
        splits = []
        for node in range(len(self.size) - 1, self.n_leaves - 1, -1):
            branches = self.children[node - self.n_leaves]
            ranks = [(claim[b] == number[node], own[b] < 0, self.size[b]) for b in branches]
            heir, other = branches if ranks[0] >= ranks[1] else branches[::-1]
            number[heir] = number[node]
            number[other] = claim[other] if claim[other] >= 0 else next(fresh)
            splits.append([self.start[other], self.start[other] + self.size[other], number[other]])
        return int(number[-1]), np.array(splits, dtype=int)

    def _branches_of(self, cluster: Int[np.ndarray, " leaves"]) -> Int[np.ndarray, " nodes"]:
        """Return the cluster that each node mostly is, -1 for most; none has two nodes, and no node two clusters.

        That is, of the leaves of either, more than half are of both.
        """
        found = np.full(len(self.size), -1)
        for number in np.unique(cluster):
            before = np.append(0, np.cumsum(cluster == number))
            both = before[self.start + self.size] - before[self.start]
            share = both / (self.size + before[-1] - both)
            best = int(share.argmax())
            if share[best] > 1 / 2:
                found[best] = number
        return found

    def numbers_of_clusters(self, most: int) -> list[int]:
        """Numbers of clusters, up to `most`, that a cut at some height leaves."""
        heights = np.append(self.split_heights, 0.0)
        drops = np.flatnonzero(heights[:-1] - heights[1:] > SAME_HEIGHT) + 2
        return [1, *(int(k) for k in drops if k <= most)]


@dataclass(frozen=True)
class Cut:
    """The clusters of a cut, in figures.

    low, high : heights between which the tree is cut.
    agreement : mean adjusted Rand index with the groupings of each annotator; NaN if nobody's is defined.
    """

    n_clusters: int
    low: float
    high: float
    agreement: float


@dataclass(frozen=True)
class CutJudge:
    """Compares clusters of some items with their groupings."""

    memberships: Memberships

    @cached_property
    def _evidence(self) -> EvidenceSilhouette:
        return EvidenceSilhouette.of(self.memberships, rng=np.random.default_rng(0), all_items=True)

    def agreement(self, cluster: Int[np.ndarray, " items"]) -> float:
        """Mean adjusted Rand index of each annotator's groupings and the clusters; NaN if nobody's is defined."""
        found = agreement_with(self.memberships, cluster)
        known = found[np.isfinite(found)]
        return float(known.mean()) if len(known) else np.nan

    def silhouette(self, cluster: Int[np.ndarray, " items"]) -> float:
        """Mean silhouette of the items; NaN if there is a single cluster."""
        return self._evidence.score(cluster) if len(np.unique(cluster)) > 1 else np.nan

    def cuts(self, tree: Tree, most: int) -> list[Cut]:
        """Return the figures of every cut into up to `most` clusters, the fewest first."""
        heights = np.concatenate([[1.05 * tree.height[-1]], tree.split_heights, [0.0]])
        found = []
        for k in tree.numbers_of_clusters(most):
            cluster = np.empty(tree.n_leaves, dtype=int)
            cluster[tree.order] = tree.cut(k)
            low, high = float(heights[k]), float(heights[k - 1])
            found.append(Cut(k, low, high, self.agreement(cluster)))
        return found


def are_moved(cut: Int[np.ndarray, " items"], cluster: Int[np.ndarray, " items"]) -> Bool[np.ndarray, " items"]:
    """Whether each item is elsewhere in a cut than in clusters, of which each is matched with one of the cut."""
    codes = np.unique(cluster, return_inverse=True)[1]
    return np.asarray(matched_numbers(cut, codes, 0)[cut] != codes)


def matched_numbers(
    cut: Int[np.ndarray, " items"], cluster: Int[np.ndarray, " items"], n_numbers: int
) -> Int[np.ndarray, " numbers"]:
    """Return new numbers for those of a cut: of the cluster with which each shares most items, one to one.

    Numbers of no cluster, up to `n_numbers`, get those that are left, in order.

    Examples
    --------
    >>> matched_numbers(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 3).tolist()
    [1, 0, 2]
    """
    n_cut, n_clusters = int(cut.max()) + 1, int(cluster.max()) + 1
    shared = np.zeros((n_cut, n_clusters), dtype=int)
    np.add.at(shared, (cut, cluster), 1)
    numbers = np.full(max(n_numbers, n_cut, n_clusters), -1)
    numbers[:n_cut][linear_sum_assignment(-shared)[0]] = linear_sum_assignment(-shared)[1]
    numbers[numbers < 0] = np.setdiff1d(np.arange(len(numbers)), numbers)
    return numbers
