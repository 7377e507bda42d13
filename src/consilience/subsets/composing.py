"""Subsets of items that overlap in shared ones, and the groups into which a clusterer puts their items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

NO_GROUP = -1
FEWEST_SHARED = 2

Codes = Int[np.ndarray, " members"]


@dataclass(frozen=True)
class SubsetPlan:
    """Which items each subset has: shared ones, which are in all of them, and its own.

    shared : the shared items, first in every subset.
    own : for each repeat, the other items in random order; consecutive ones are of one subset.
    ends : where the subsets of a repeat end in this order.
    """

    shared: Int[np.ndarray, " shared"]
    own: Int[np.ndarray, "repeats others"]
    ends: Int[np.ndarray, " subsets_of_a_repeat"]

    @property
    def n_subsets(self) -> int:
        """Number of subsets, of all repeats."""
        return len(self.own) * len(self.ends)

    def own_parts(self) -> Iterator[tuple[int, slice]]:
        """Yield the repeat of each subset, and where its own items are in the order of this repeat."""
        starts = [0, *self.ends[:-1].tolist()]
        for repeat in range(len(self.own)):
            for start, end in zip(starts, self.ends.tolist(), strict=True):
                yield repeat, slice(start, end)

    def subsets(self) -> Iterator[Int[np.ndarray, " members"]]:
        """Yield the items of each subset, the shared ones first."""
        for repeat, part in self.own_parts():
            yield np.concatenate([self.shared, self.own[repeat, part]])


@dataclass(frozen=True)
class Grouped:
    """The groups of all subsets, numbered throughout; -1 where the clusterer left an item out.

    of_shared : of each shared item in each subset.
    of_own : of each other item in each repeat, in the order of the plan.
    subset_of_group : nondecreasing.
    """

    of_shared: Int[np.ndarray, "shared subsets"]
    of_own: Int[np.ndarray, "repeats others"]
    subset_of_group: Int[np.ndarray, " groups"]


def compose(n_items: int, subset_size: int, overlap: float, n_repeats: int, *, rng: np.random.Generator) -> SubsetPlan:
    """Draw the shared items, and deal all others to subsets of nearly equal size, once for each repeat.

    n_items : more than `subset_size`
    subset_size : largest size of a subset
    overlap : share of a subset of the largest size that are shared items, in (0, 1)
    n_repeats : how often each item that is not shared is dealt
    """
    n_shared = min(max(FEWEST_SHARED, round(overlap * subset_size)), subset_size - 1)
    order = rng.permutation(np.arange(n_items, dtype=np.int32))  # half the memory, for each repeat and item
    others = order[n_shared:]
    n_subsets = -(-len(others) // (subset_size - n_shared))
    ends = np.arange(1, n_subsets + 1) * len(others) // n_subsets
    dealt = np.empty((n_repeats, len(others)), dtype=np.int32)
    for repeat in range(n_repeats):
        dealt[repeat] = rng.permutation(others)
    return SubsetPlan(order[:n_shared], dealt, ends)


def collect(plan: SubsetPlan, labels: Iterable[Int[np.ndarray, "..."]]) -> Grouped:
    """Number the groups of all subsets throughout.

    labels : of the items of each subset, in the order of `Plan.subsets`; below 0 where the clusterer left one out
    """
    n_shared = len(plan.shared)
    of_shared = np.full((n_shared, plan.n_subsets), NO_GROUP, dtype=np.int32)
    of_own = np.full(plan.own.shape, NO_GROUP, dtype=np.int32)
    n_groups = []
    begin = 0
    for number, ((repeat, part), found) in enumerate(zip(plan.own_parts(), labels, strict=True)):
        code, here = number_groups(found)
        code[code >= 0] += begin
        of_shared[:, number], of_own[repeat, part] = code[:n_shared], code[n_shared:]
        n_groups.append(here)
        begin += here
    return Grouped(of_shared, of_own, np.repeat(np.arange(plan.n_subsets), n_groups))


def number_groups(labels: Codes) -> tuple[Codes, int]:
    """Number the groups of a subset from 0; labels below 0 become -1. Also return how many groups there are."""
    names, code = np.unique(labels, return_inverse=True)
    n_left_out = int((names < 0).sum())
    return np.maximum(code - n_left_out, NO_GROUP), len(names) - n_left_out


def sizes(plan: SubsetPlan, grouped: Grouped) -> dict[str, Int[np.ndarray, " subsets"]]:
    """Return for each subset how many items and groups it has, and how many items the clusterer left out."""
    n_shared = len(plan.shared)
    left_out = [int((grouped.of_own[repeat, part] == NO_GROUP).sum()) for repeat, part in plan.own_parts()]
    return {
        "n_items": np.array([n_shared + part.stop - part.start for _, part in plan.own_parts()]),
        "n_groups": np.bincount(grouped.subset_of_group, minlength=plan.n_subsets),
        "n_left_out": (grouped.of_shared == NO_GROUP).sum(0) + np.array(left_out),
    }
