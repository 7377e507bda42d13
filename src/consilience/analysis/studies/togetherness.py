"""How often each person put each two items together: the table from which two studies are compared.

For person u and pair of items p, s_up counts how often u put both together, and o_up how often u had both in one
grouping. A study is a weighting w of people; its share of a pair is Σ_u w_u s_up / Σ_u w_u o_up. Many weightings are
one matrix product, and pairs are taken some at a time, so that memory stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csc_array

from consilience.annotations import Groupings
from consilience.annotations.pairs import pairs_within
from consilience.errors import InputError

MOST_ENTRIES = 60_000_000  # of a sparse table
MOST_CELLS = 4_000_000  # of weightings × pairs held at a time


@dataclass(frozen=True)
class Togetherness:
    """Counts for each person and each pair of items i < j, at place j (j - 1) / 2 + i.

    together : how often a person put a pair together.
    occasions : how often a person had a pair in one grouping; one column if that is the same for all pairs.
    """

    n_items: int
    together: csc_array
    occasions: csc_array

    @classmethod
    def of(cls, groupings: Groupings) -> Togetherness:
        """Count the pairs of some groupings; every person has a row, in the order of the annotators."""
        n_people, n_pairs = groupings.n_annotators, pairs_of(groupings.n_items)
        by_group = csc_array(groupings.incidence)
        together = _counts(by_group, groupings.annotator_of_group, (n_people, n_pairs))
        per_grouping = np.bincount(
            groupings.grouping_of_group, np.diff(by_group.indptr), minlength=groupings.n_groupings
        )
        if (per_grouping == groupings.n_items).all():
            times = np.bincount(groupings.annotator_of_grouping, minlength=n_people).astype(float)
            return cls(groupings.n_items, together, csc_array(times[:, None]))
        shape = (len(groupings.grouping_of_group), groupings.n_groupings)
        part = csc_array((np.ones(shape[0]), (np.arange(shape[0]), groupings.grouping_of_group)), shape=shape)
        by_grouping = csc_array(groupings.incidence @ part)
        return cls(
            groupings.n_items, together, _counts(by_grouping, groupings.annotator_of_grouping, (n_people, n_pairs))
        )

    @property
    def n_people(self) -> int:
        """Number of people."""
        return int(self.together.shape[0])

    @property
    def n_pairs(self) -> int:
        """Number of pairs of items."""
        return int(self.together.shape[1])

    @property
    def is_complete(self) -> bool:
        """Whether everybody had all pairs equally often."""
        return self.occasions.shape[1] == 1

    def sums(
        self, weights: Float[np.ndarray, "weightings people"], pairs: Int[np.ndarray, " some"]
    ) -> tuple[Float[np.ndarray, "weightings some"], Float[np.ndarray, "weightings some"]]:
        """Return Σ_u w_u s_up and Σ_u w_u o_up of some pairs, for each of several weightings of the people."""
        together = np.asarray((self.together[:, pairs].T @ weights.T).T)
        these = self.occasions if self.is_complete else self.occasions[:, pairs]
        occasions = np.asarray((these.T @ weights.T).T)
        return together, np.broadcast_to(occasions, together.shape)

    def n_people_of(self, people: Bool[np.ndarray, " people"], pairs: Int[np.ndarray, " some"]) -> np.ndarray:
        """Count, among some people, those who had each of some pairs in a grouping."""
        these = self.occasions if self.is_complete else self.occasions[:, pairs]
        counts = np.asarray((these > 0).astype(np.int64).T @ people.astype(np.int64))
        return np.broadcast_to(counts, len(pairs))

    def spread(self, pairs: Int[np.ndarray, " some"]) -> Float[np.ndarray, " some"]:
        """Return the variance over people that a share of some pairs has in a study, times its occasions.

        With the share m over all people, σ² = Σ_u (s_up − m o_up)² / Σ_u o_up; it is m (1 − m) if everybody had the
        pair once.
        """
        s = self.together[:, pairs]
        o = self.occasions if self.is_complete else self.occasions[:, pairs]
        both = s.multiply(o) if not self.is_complete else s.multiply(o.toarray())
        all_s, all_o = np.asarray(s.sum(0)), np.broadcast_to(np.asarray(o.sum(0)), len(pairs))
        share = np.divide(all_s, all_o, out=np.zeros(len(pairs)), where=all_o > 0)
        squares = np.asarray(s.multiply(s).sum(0)) - 2 * share * np.asarray(both.sum(0))
        squares = squares + share**2 * np.asarray(o.multiply(o).sum(0))
        return np.divide(squares, all_o, out=np.zeros(len(pairs)), where=all_o > 0)

    def some_at_a_time(self, n_weightings: int) -> Iterator[Int[np.ndarray, " some"]]:
        """Yield the places of all pairs, so many at a time that their sums fit into memory."""
        step = max(MOST_CELLS // max(n_weightings, 1), 1)
        for start in range(0, self.n_pairs, step):
            yield np.arange(start, min(start + step, self.n_pairs))


def pairs_of(n_items: int) -> int:
    """Return the number of pairs among some items."""
    return n_items * (n_items - 1) // 2


def ends(n_items: int) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """Return both items of each pair, in the order of `Togetherness`.

    Examples
    --------
    >>> first, second = ends(3)
    >>> first.tolist(), second.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    return pairs_within(np.array([n_items]))


def places_with(item: int, n_items: int) -> Int[np.ndarray, " others"]:
    """Return the places of the pairs of an item with every other item, in their order.

    Examples
    --------
    >>> places_with(1, 4).tolist()
    [0, 2, 4]
    """
    others = np.delete(np.arange(n_items), item)
    low, high = np.minimum(others, item), np.maximum(others, item)
    # pairs are numbered by their later item, so that a further item changes no number
    return np.asarray(high * (high - 1) // 2 + low)


def square(values: Float[np.ndarray, " pairs"], n_items: int, diagonal: float) -> Float[np.ndarray, "items items"]:
    """Return a symmetric matrix with the values of the pairs."""
    matrix = np.full((n_items, n_items), diagonal)
    first, second = ends(n_items)
    matrix[first, second] = matrix[second, first] = values
    return matrix


def _counts(blocks: csc_array, person: Int[np.ndarray, " blocks"], shape: tuple[int, int]) -> csc_array:
    """Count for each person the pairs of items that are in one block."""
    sizes = np.diff(blocks.indptr).astype(np.int64)
    if (sizes * (sizes - 1) // 2).sum() > MOST_ENTRIES:
        raise InputError(
            f"The two studies have more than {MOST_ENTRIES:,} pairs of items in groups; compare fewer items or people."
        )
    a, b = pairs_within(sizes)
    block = np.repeat(np.arange(len(sizes)), sizes)[a]
    low, high = np.minimum(blocks.indices[a], blocks.indices[b]), np.maximum(blocks.indices[a], blocks.indices[b])
    place = high.astype(np.int64) * (high.astype(np.int64) - 1) // 2 + low
    return csc_array((np.ones(len(place)), (person[block], place)), shape=shape)
