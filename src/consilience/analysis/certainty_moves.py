"""What happens to the clusters in draws of other people: which come back, and where their items go together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.analysis.certainty import contingency, places_in_fit
from consilience.analysis.clustering import FoundClusters
from consilience.annotations.names import MISSING

LEAST_SPLIT = 0.2  # share of the draws in which a part of a cluster leaves together, for it to be said


class LikelySplit(NamedTuple):
    """A part of a cluster that leaves it together, as a new cluster, in a share of the draws."""

    cluster: int
    items: Int[np.ndarray, " part"]
    share: float


@dataclass(frozen=True)
class Moves:
    """Clusters of the fit and of the draws, of the items that are in one.

    items : their places among all items
    own : cluster of each in the fit, one of `n_clusters`
    draws : cluster of each in each draw
    places : cluster of the fit that this is; -1 for a new one, see `places_in_fit`
    is_named : whether they are classes, which are neither joined nor divided
    """

    items: Int[np.ndarray, " clustered"]
    own: Int[np.ndarray, " clustered"]
    draws: Int[np.ndarray, "draws clustered"]
    places: Int[np.ndarray, "draws clustered"]
    n_clusters: int
    is_named: bool = False

    @classmethod
    def of(cls, draws: Int[np.ndarray, "draws all_items"], clusters: FoundClusters) -> Moves:
        """Take those of a `Certainty`."""
        items = np.flatnonzero((clusters.codes >= 0) & (draws >= 0).all(0))
        own, kept = clusters.codes[items], draws[:, items]
        return cls(items, own, kept, places_in_fit(clusters, own, kept), len(clusters.index), clusters.is_named)

    @cached_property
    def found_again(self) -> Float[np.ndarray, " clusters"]:
        """Share of the draws with much the same cluster: of the items of either, more than half are in both.

        Nor has it more than half of another cluster of several items, with which it is joined.
        """
        return np.mean([self._alike(draw)[0] for draw in self.draws], axis=0)

    @cached_property
    def found_whole(self) -> Float[np.ndarray, " clusters"]:
        """Share of the draws in which all items of each cluster are in one of those that `found_again` counts."""
        return np.mean([self._alike(draw)[1] for draw in self.draws], axis=0)

    def _alike(self, draw: Int[np.ndarray, " clustered"]) -> tuple[Bool[np.ndarray, " clusters"], ...]:
        """Return which clusters of the fit a draw has again, and which of these whole."""
        both = contingency(draw, self.own, self.n_clusters)
        size = both.sum(0)
        has_most = (2 * both > size) & (size > 1)
        joins = has_most.sum(1, keepdims=True) - has_most > 0
        again = (2 * both > both.sum(1, keepdims=True) + size - both) & ~joins
        return again.any(0), (again & (both == size)).any(0)

    @cached_property
    def leave_with_others(self) -> Bool[np.ndarray, "draws clustered"]:
        """Whether each item leaves its cluster in each draw, but not on its own.

        It is in another cluster with most others of its own, as the items of one of two clusters that are joined, or in
        a new one with most others of its part of `splits`.
        """
        left = np.zeros(self.draws.shape, dtype=bool)
        if self.is_named:
            return left
        others = np.bincount(self.own, minlength=self.n_clusters)[self.own] - 1
        for place, draw in enumerate(self.draws):
            with_it = contingency(draw, self.own, self.n_clusters)[draw, self.own] - 1
            left[place] = (draw != self.own) & (2 * with_it > others)
        for split in self.splits:
            part = np.flatnonzero(np.isin(self.items, split.items))
            gone = np.where(self.places[:, part] == MISSING, self.draws[:, part], MISSING)
            with_it = (gone[:, :, None] == gone[:, None]).sum(2) - 1
            left[:, part] |= (gone >= 0) & (2 * with_it > len(part) - 1)
        return left

    def moves_with_others(self, n_items: int) -> Float[np.ndarray, " items"]:
        """Share of the draws in which each of all items does; see `leave_with_others`."""
        shares = np.zeros(n_items)
        shares[self.items] = self.leave_with_others.mean(0)
        return shares

    def goes_singly_to(self, item: int) -> tuple[int, float] | None:
        """Return where an item is most often when it leaves its cluster on its own, and the share of the draws.

        The number of a cluster of the fit, or -1 for a new one; None if it never does.
        """
        column = int(np.flatnonzero(self.items == item)[0])
        places = self.places[:, column]
        gone = places[(places != self.own[column]) & ~self.leave_with_others[:, column]]
        if not len(gone):
            return None
        found, counts = np.unique(gone, return_counts=True)
        return int(found[counts.argmax()]), float(counts.max() / len(places))

    def companions(self, item: int) -> Int[np.ndarray, " others"]:
        """Return who else is in the new clusters that an item is in; the most often first, none if it is mostly alone.

        Those that are there in more than half of these draws, or the one that is there most often.
        """
        place = int(np.flatnonzero(self.items == item)[0])
        draws = self.draws[self.places[:, place] == MISSING]
        joined = draws == draws[:, [place]]
        if 2 * (joined.sum(1) == 1).sum() >= len(draws):
            return self.items[:0]
        share = joined.mean(0)
        share[place] = 0
        order = np.argsort(-share, kind="stable")
        return self.items[order[: max(int((share > 1 / 2).sum()), 1)]]

    @cached_property
    def splits(self) -> list[LikelySplit]:
        """The part of each cluster that most likely leaves it as a new cluster, if one often does; most likely first.

        Of parts that leave in some draw, the one for which draws in which they leave, times items less one, are most.
        """
        found = []
        for cluster in range(self.n_clusters):
            members = np.flatnonzero(self.own == cluster)
            gone = np.where(self.places[:, members] == MISSING, self.draws[:, members], MISSING)
            parts = {part.tobytes(): part for draw in gone for part in _parts_of(draw) if not part.all()}
            shares = [float(_leaves_whole(gone[:, part]).mean()) for part in parts.values()]
            likely = [
                ((part.sum() - 1) * share, LikelySplit(cluster, self.items[members[part]], share))
                for part, share in zip(parts.values(), shares, strict=True)
                if share >= LEAST_SPLIT
            ]
            found += [max(likely, key=lambda each: each[0])] if likely else []
        return [split for _, split in sorted(found, key=lambda each: -each[0])]


def _leaves_whole(gone: Int[np.ndarray, "draws part"]) -> Bool[np.ndarray, " draws"]:
    """Whether all items of a part are in the same new cluster."""
    return ((gone >= 0) & (gone == gone[:, :1])).all(1)


def _parts_of(gone: Int[np.ndarray, " members"]) -> list[np.ndarray]:
    """Return which members of a cluster are together in each new cluster that holds at least two of them."""
    numbers, counts = np.unique(gone[gone >= 0], return_counts=True)
    return [gone == number for number in numbers[counts > 1]]
