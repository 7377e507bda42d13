"""Cuts of the tree of the items into 2, 3, … clusters, and the report's own, by how far they agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.analysis.certainty_moves import LikelySplit
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.cuts import FEWEST, MOST, CutJudge, Tree
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import count_presented
from consilience.metrics.clusterings import ari

MOST_CLUSTERS, BEYOND = 12, 4  # clusters of the finest cut: 12, or 4 more than the report's
LEAST_SEEN = 2.0  # times that a pair of items was seen, on average of those that were; or the tree fits single people
MOST_JOINED, JOINS = 15, 3  # clusters of which every two are joined, and joins that are kept
SMALLEST = 2  # items of a part of a cluster
LITTLE = 0.02  # agreement below the best that makes no difference to a reader
BEST = "best"
AS_GOOD = "nearly as good"
AS_OWN, BETTER, LESS = "as the report's", "better than the report's", "less than the report's"


@dataclass(frozen=True)
class OwnClusters:
    """The report's own clusters, with which the cuts are compared.

    n_clusters, silhouette : as of a cut
    of_annotator : adjusted Rand index of the clusters with each person's groups; NaN if undefined.
    codes : cluster of each item
    items : their names
    titles : of the clusters
    joined : the same with two of the clusters joined, those that agree best with people
    divided : the same with one of the clusters in two parts of at least two items: the part that most likely leaves it
        in draws of other people, for clusters that have one, the most likely first; then, as their own trees divide the
        others, those that agree best with people first
    """

    n_clusters: int
    of_annotator: Float[np.ndarray, " annotators"]
    silhouette: float
    codes: Int[np.ndarray, " items"]
    items: pd.Index
    titles: list[str]
    joined: tuple[OwnClusters, ...] = ()
    divided: tuple[OwnClusters, ...] = ()

    @classmethod
    def of(
        cls,
        judge: CutJudge,
        codes: Int[np.ndarray, " items"],
        items: pd.Index,
        titles: list[str],
        apart: Float[np.ndarray, "items items"],
        likely: Sequence[Bool[np.ndarray, " items"]] = (),
    ) -> OwnClusters:
        """Judge clusters, and what they are with two of them joined, or one of them divided, if they are not many.

        likely : parts that leave their cluster in draws of other people, the most likely first.

        Only clusters whose items are less often `apart` than any two items are joined, or nearly as seldom as those of
        the nearest two: with few pairs between them, any others would agree hardly less.
        """
        found = cls._judge(judge, codes, items, titles)
        used = np.unique(codes)
        if not 2 <= len(used) <= MOST_JOINED:
            return found

        def best(others: list[Int[np.ndarray, " items"]], most: int) -> tuple[OwnClusters, ...]:
            order = np.argsort([-judge.agreement(other) for other in others], kind="stable")[:most]
            return tuple(cls._judge(judge, others[place], items, titles) for place in order)

        at = [codes == code for code in used]
        usual = float(apart.sum()) / (len(codes) * (len(codes) - 1))
        pairs = list(combinations(range(len(used)), 2)) if len(used) > 2 else []
        distance = np.array([apart[np.ix_(at[a], at[b])].mean() for a, b in pairs])
        near = distance < max(usual, distance.min(initial=np.inf) + LITTLE)
        joins = [np.where(at[b], used[a], codes) for (a, b), is_near in zip(pairs, near, strict=True) if is_near]
        whole = [mine for mine in at if not any((mine & part).any() for part in likely)]
        halves = [half for mine in whole if (half := _half_of(mine, apart)) is not None]
        first, then = ([np.where(part, codes.max() + 1, codes) for part in parts] for parts in (likely, halves))
        divided = [cls._judge(judge, other, items, titles) for other in first]
        return replace(found, joined=best(joins, JOINS), divided=(*divided, *best(then, len(then))))

    @classmethod
    def _judge(
        cls, judge: CutJudge, codes: Int[np.ndarray, " items"], items: pd.Index, titles: list[str]
    ) -> OwnClusters:
        of_annotator = np.asarray(agreement_with(judge.memberships, codes))
        return cls(len(np.unique(codes)), of_annotator, judge.silhouette(codes), codes, items, titles)

    @property
    def agreement(self) -> float:
        """Mean over people of the agreement."""
        return float(_means(self.of_annotator[None])[0])

    def beside(self, other: OwnClusters) -> str:
        """Say if others agree with people as these do, to within 0.02 or one standard error, better or less."""
        (beyond,), (error,) = _mean_and_error((other.of_annotator - self.of_annotator)[None])
        if abs(beyond) <= max(error, LITTLE):
            return AS_OWN
        return BETTER if beyond > 0 else LESS


@dataclass(frozen=True)
class CutFigures:
    """Cuts of the tree into 2, 3, … clusters, and how well each fits the groups of each person.

    n_clusters : of each cut
    of_annotator : adjusted Rand index of each cut with each person's groups; NaN if undefined.
    silhouette : of each cut
    clusters : of each item in each cut
    """

    n_clusters: Int[np.ndarray, " cuts"]
    of_annotator: Float[np.ndarray, "cuts annotators"]
    silhouette: Float[np.ndarray, " cuts"]
    clusters: Int[np.ndarray, "cuts items"]

    @classmethod
    def of(cls, tree: Tree, judge: CutJudge, most: int) -> CutFigures:
        """Cut a tree into 2 to `most` clusters, as far as heights allow."""
        numbers = [k for k in tree.numbers_of_clusters(most) if k > 1]
        agreement, silhouette, clusters = [], [], []
        for k in numbers:
            cluster = np.empty(tree.n_leaves, dtype=int)
            cluster[tree.order] = tree.cut(k)
            agreement.append(agreement_with(judge.memberships, cluster))
            silhouette.append(judge.silhouette(cluster))
            clusters.append(cluster)
        shape = (len(numbers), judge.memberships.n_annotators)
        return cls(
            np.array(numbers, dtype=int),
            np.reshape(agreement, shape),
            np.array(silhouette, dtype=float),
            np.reshape(np.array(clusters, dtype=int), (len(numbers), tree.n_leaves)),
        )

    @property
    def agreement(self) -> Float[np.ndarray, " cuts"]:
        """Mean over people of the agreement; NaN if nobody's is defined."""
        return _means(self.of_annotator)

    @property
    def best(self) -> int:
        """The cut that agrees best with people."""
        return int(np.nanargmax(self.agreement))

    def shortfall(self) -> tuple[Float[np.ndarray, " cuts"], Float[np.ndarray, " cuts"]]:
        """Return how far the agreement of each cut is below that of the best, and its standard error over people."""
        return _mean_and_error(self.of_annotator[self.best] - self.of_annotator)

    def shortfall_of(self, own: OwnClusters) -> tuple[float, float]:
        """Return how far the report's clusters are below the best cut, negative if above, and the standard error."""
        mean, error = _mean_and_error((self.of_annotator[self.best] - own.of_annotator)[None])
        return float(mean[0]), float(error[0])

    def mark_of(self, own: OwnClusters) -> str:
        """Say if the report's clusters are within 0.02 or one standard error of the best cut, or better."""
        below, error = self.shortfall_of(own)
        return AS_GOOD if below <= max(error, LITTLE) else ""

    def is_clearly_better(self, own: OwnClusters) -> bool:
        """Whether the best cut agrees with people better than the report's clusters, by more than 0.02 and 2 errors."""
        below, error = self.shortfall_of(own)
        return below > max(LITTLE, 2 * error)

    def like(self, codes: Int[np.ndarray, " items"]) -> Float[np.ndarray, " cuts"]:
        """Adjusted Rand index of each cut with given clusters."""
        return np.array([ari(codes, cluster) for cluster in self.clusters])

    def marks(self) -> list[str]:
        """Say which cut agrees best with people, and which are within 0.02 or one standard error of it."""
        if not np.isfinite(self.agreement).any():
            return [""] * len(self.n_clusters)
        below, error = self.shortfall()
        near = np.isfinite(self.agreement) & (below <= np.maximum(error, LITTLE))
        return [BEST if cut == self.best else AS_GOOD if near[cut] else "" for cut in range(len(near))]


def joined_and_apart(
    others: Int[np.ndarray, " items"], codes: Int[np.ndarray, " items"], titles: list[str], items: pd.Index
) -> tuple[list[list[str]], list[list[Any]], list[Any]]:
    """Return which clusters others join, having more than half of each, the items of new ones, and those elsewhere.

    New are those that have more than half of none. An item is elsewhere if it is with most of another cluster, and not
    of its own.
    """
    clusters = np.unique(others, return_inverse=True)[1]
    shared = np.zeros((int(clusters.max()) + 1, int(codes.max()) + 1), dtype=int)
    np.add.at(shared, (clusters, codes), 1)
    held = 2 * shared > shared.sum(0)
    joined = [[titles[code] for code in np.flatnonzero(row)] for row in held if row.sum() > 1]
    apart = [items[clusters == new].tolist() for new in np.flatnonzero(~held.any(1))]
    return joined, apart, items[held.any(1)[clusters] & ~held[clusters, codes]].tolist()


def _half_of(
    mine: Bool[np.ndarray, " items"], apart: Float[np.ndarray, "items items"]
) -> Bool[np.ndarray, " items"] | None:
    """Return a part of the items of a cluster, the smaller that its tree divides from others; None if it has none.

    Single items that the tree divides first stay with the others.
    """
    left = np.flatnonzero(mine)
    while len(left) >= 2 * SMALLEST:
        tree = Tree.of(apart[np.ix_(left, left)])
        smaller, larger = sorted((left[tree.order[tree.cut(2) == number]] for number in (0, 1)), key=len)
        if len(smaller) >= SMALLEST:
            return np.isin(np.arange(len(mine)), smaller)
        left = larger
    return None


def _means(of_annotator: Float[np.ndarray, "cuts annotators"]) -> Float[np.ndarray, " cuts"]:
    """Mean over people; NaN if nobody's is defined."""
    known = np.isfinite(of_annotator)
    total = np.where(known, of_annotator, 0.0).sum(1)
    return np.divide(total, known.sum(1), out=np.full(len(total), np.nan), where=known.any(1))


def _mean_and_error(
    apart: Float[np.ndarray, "cuts annotators"],
) -> tuple[Float[np.ndarray, " cuts"], Float[np.ndarray, " cuts"]]:
    """Mean over people of differences, and its standard error."""
    known = np.isfinite(apart)
    n = np.maximum(known.sum(1), 1)
    mean = np.where(known, apart, 0.0).sum(1) / n
    variance = np.where(known, (apart - mean[:, None]) ** 2, 0.0).sum(1) / np.maximum(n - 1, 1)
    return mean, np.sqrt(variance / n)


def compared_cuts(
    co_occurrence: CoOccurrence, clusters: FoundClusters, splits: Sequence[LikelySplit] = ()
) -> tuple[CutFigures, OwnClusters] | None:
    """Return the cuts and the report's clusters; None if the items cannot be explored, or nobody's groups be compared.

    None, too, if pairs of items were seen fewer than twice on average: the tree then fits each person's own groups.
    """
    places = co_occurrence.places
    if not FEWEST <= len(places) <= MOST:
        return None
    memberships = co_occurrence.memberships.of_items(places)
    seen = count_presented(memberships).tocoo()
    if not (seen.row != seen.col).any() or seen.data[seen.row != seen.col].mean() < LEAST_SEEN:
        return None
    judge, apart = CutJudge(memberships), co_occurrence.dissimilarities(places)
    codes = clusters.codes[places]
    most = max(MOST_CLUSTERS, len(np.unique(codes)) + BEYOND)
    found = CutFigures.of(Tree.of(apart), judge, most)
    if not np.isfinite(found.agreement).any():
        return None
    likely = [np.isin(places, split.items) for split in splits]
    return found, OwnClusters.of(judge, codes, co_occurrence.items[places], clusters.titles, apart, likely)
