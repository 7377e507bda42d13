"""Same/different judgements of pairs as an operator: what pairwise models need from them, without a list of pairs.

A pairwise model with soft clusters η, (items, clusters), needs two sums over the judgements S_ij of annotator m:

    message    h_i = Σ_m Σ_j w_m(S_ij) η_j                     (items, clusters)
    agreement  Σ_E a_ij  and  Σ_E a_ij S_ij,  a_ij = η_i·η_j    of each annotator

over the pairs E(m) that m judged, where w_m(S) is one weight for "same" and one for "apart". Two implementations give
the same sums. `JudgedPairs` stores the pairs. `GroupedItems` stores groupings, whose pairs are implied: with s_g the
sum of η over group g and s_h the sum over its grouping h,

    Σ_j w(S_ij) η_j = w₀ (s_h − s_g) + w₁ (s_g − η_i)
    Σ_E a_ij S_ij   = ½ Σ_k [ Σ_g s_gk² − Σ_i η_ik² ]

so that m items cost m, not m². The pairs of a grouping are not independent of each other: one item in the wrong group
makes many pairs wrong. ``implied="independent"`` counts the pairs of a grouping of m items as m − 1 judgements, by a
weight of 2/m each; ``"all"`` counts every pair.

Several clusterings are processed at once: η is (items, clusters, views), weights are (annotators, views).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings, Labels, Pairs
from consilience.inference.memberships import Memberships

CHUNK_ENTRIES = 1 << 18  # judgements × columns in memory at a time: two megabytes, which fit the cache

Soft = Float[np.ndarray, "items clusters views"]
Weights = Float[np.ndarray, "annotators views"]


class PairAgreement(NamedTuple):
    """Expected number of judged pairs within clusters, for each annotator and view.

    judged : Σ_E a_ij. same : Σ_E a_ij S_ij.
    """

    judged: Weights
    same: Weights


@dataclass(frozen=True)
class PairEvidence(ABC):
    """Judgements of pairs by several annotators; see the module docstring.

    n_pairs, n_same : number of judgements of each annotator, and of those that are "same".
    """

    n_items: int
    n_annotators: int
    n_pairs: Float[np.ndarray, " annotators"]
    n_same: Float[np.ndarray, " annotators"]

    @staticmethod
    def of(annotations: Pairs | Groupings | Labels, *, implied: str = "all") -> PairEvidence:
        """Build the evidence of annotations; the pairs of groupings and labels are implied, not listed.

        implied : {"all", "independent"}; how the pairs of a grouping count; see the module docstring.

        Examples
        --------
        >>> from consilience import Groupings
        >>> from consilience.inference.pair_evidence import PairEvidence
        >>> sort = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]]])
        >>> evidence = PairEvidence.of(sort)
        >>> evidence.n_pairs, evidence.n_same
        (array([6.]), array([2.]))
        """
        if isinstance(annotations, Pairs):
            return JudgedPairs.of_pairs(annotations)
        groupings = annotations.to_groupings() if isinstance(annotations, Labels) else annotations
        return GroupedItems.of_groupings(groupings, implied=implied)

    @abstractmethod
    def messages(self, eta: Soft, *, same: Weights, apart: Weights) -> Soft:
        """Σ_m Σ_j w_m(S_ij) η_j for every item."""

    @abstractmethod
    def agreement(self, eta: Soft) -> PairAgreement:
        """Expected number of judged pairs within clusters, and of those judged "same"."""


@dataclass(frozen=True)
class JudgedPairs(PairEvidence):
    """Evidence that lists its pairs. A cell holds the judgements of one item by one annotator with one outcome.

    partners : (cells, items) sparse, how often each item is the other one of the pair; cells are sorted by item.
    item, annotator, same : of each cell.
    """

    partners: csr_array
    item: Int[np.ndarray, " cells"]
    annotator: Int[np.ndarray, " cells"]
    same: Bool[np.ndarray, " cells"]

    @classmethod
    def of_pairs(cls, pairs: Pairs) -> JudgedPairs:
        """Evidence of judged pairs."""
        here = np.concatenate([pairs.item_a, pairs.item_b])
        there = np.concatenate([pairs.item_b, pairs.item_a])
        # annotator and outcome in one code, once for either end of the pair
        judgement = np.tile(2 * pairs.annotator + pairs.same, 2)
        names, cell = np.unique(here * (2 * pairs.n_annotators) + judgement, return_inverse=True)
        partners = csr_array((np.ones(len(cell)), (cell, there)), shape=(len(names), pairs.n_items))
        item, judgement = np.divmod(names, 2 * pairs.n_annotators)
        return cls(
            n_items=pairs.n_items,
            n_annotators=pairs.n_annotators,
            n_pairs=np.bincount(pairs.annotator, minlength=pairs.n_annotators).astype(float),
            n_same=np.bincount(pairs.annotator[pairs.same], minlength=pairs.n_annotators).astype(float),
            partners=partners,
            item=item,
            annotator=judgement // 2,
            same=judgement % 2 == 1,
        )

    def messages(self, eta: Soft, *, same: Weights, apart: Weights) -> Soft:
        """See `PairEvidence.messages`."""
        total = np.zeros(eta.shape)
        for cells in self._chunks(eta):
            by = self.annotator[cells]
            of_partners = self._of_partners(cells, eta)
            of_partners *= np.where(self.same[cells, None], same[by], apart[by])[:, None, :]
            item = self.item[cells]
            first = np.flatnonzero(np.diff(item, prepend=-1))
            # names are sorted by item, whose cells two chunks may share
            total[item[first]] += np.add.reduceat(of_partners, first, axis=0)
        return total

    def agreement(self, eta: Soft) -> PairAgreement:
        """See `PairEvidence.agreement`."""
        alike = np.empty((len(self.item), eta.shape[2]))
        for cells in self._chunks(eta):
            alike[cells] = (self._of_partners(cells, eta) * eta[self.item[cells]]).sum(1)
        by = self.annotator + self.n_annotators * self.same
        apart, same = np.split(_sums(alike, by, 2 * self.n_annotators) / 2, 2)  # every pair is listed from both ends
        return PairAgreement(judged=apart + same, same=same)

    def _of_partners(self, cells: slice, eta: Soft) -> Float[np.ndarray, "cells clusters views"]:
        """Sum of η over the partners in each cell."""
        return (self.partners[cells] @ eta.reshape(len(eta), -1)).reshape(-1, *eta.shape[1:])

    def _chunks(self, eta: Soft) -> Iterator[slice]:
        """Yield slices of cells whose sums fit the cache; the cells of an item are in one chunk or in adjacent ones."""
        size = max(CHUNK_ENTRIES // (eta.shape[1] * eta.shape[2]), 1)
        for start in range(0, len(self.item), size):
            yield slice(start, start + size)


@dataclass(frozen=True)
class GroupedItems(PairEvidence):
    """Evidence of groupings, whose pairs are implied: every two items of a grouping were judged.

    weight : of a pair of each grouping.
    """

    memberships: Memberships
    weight: Float[np.ndarray, " groupings"]

    @classmethod
    def of_groupings(cls, groupings: Groupings, *, implied: str) -> GroupedItems:
        """Evidence of groupings."""
        memberships = Memberships.of(groupings)
        return cls.of_sizes(memberships, memberships.group_sizes, implied=implied)

    @classmethod
    def of_sizes(
        cls, memberships: Memberships, group_sizes: Int[np.ndarray, " groups"], *, implied: str
    ) -> GroupedItems:
        """Evidence of groups of these sizes, whatever stands for their items in the memberships."""
        by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
        of_group = memberships.grouping_of_group
        sizes = np.bincount(of_group, group_sizes, memberships.n_groupings).astype(int)
        # n − 1 of the n (n − 1) / 2 pairs of a grouping imply the others; below two items, there are none
        weight = 2 / np.maximum(sizes, 2) if implied == "independent" else np.ones(len(sizes))
        return cls(
            n_items=memberships.n_items,
            n_annotators=n_annotators,
            n_pairs=_n_pairs(sizes, weight, by, n_annotators),
            n_same=_n_pairs(group_sizes, weight[of_group], by[of_group], n_annotators),
            memberships=memberships,
            weight=weight,
        )

    def messages(self, eta: Soft, *, same: Weights, apart: Weights) -> Soft:
        """See `PairEvidence.messages`."""
        group, grouping = self.memberships.in_group, self.memberships.in_grouping
        by = self.memberships.annotator_of_grouping
        of_same, of_apart = same[by] * self.weight[:, None], apart[by] * self.weight[:, None]
        excess = (of_same - of_apart)[self.memberships.grouping_of_group]
        flat = eta.reshape(len(eta), -1)
        of_groups = (group.T @ flat).reshape(-1, *eta.shape[1:]) * excess[:, None, :]
        of_groupings = (grouping.T @ flat).reshape(-1, *eta.shape[1:]) * of_apart[:, None, :]
        total = group @ of_groups.reshape(-1, flat.shape[1])
        total += grouping @ of_groupings.reshape(-1, flat.shape[1])
        # the item itself is in its group and grouping
        return total.reshape(eta.shape) - eta * (grouping @ of_same)[:, None, :]

    def agreement(self, eta: Soft) -> PairAgreement:
        """See `PairEvidence.agreement`."""
        return self.agreement_of_sums(eta, np.square(eta).sum(1))

    def agreement_of_sums(self, eta: Soft, squares: Float[np.ndarray, "items views"]) -> PairAgreement:
        """`agreement`, if what stands for items is sums of several: of their η, and of its squares."""
        by, of_group = self.memberships.annotator_of_grouping, self.memberships.grouping_of_group
        return PairAgreement(
            self._within(self.memberships.in_grouping, self.weight, by, eta, squares),
            self._within(self.memberships.in_group, self.weight[of_group], by[of_group], eta, squares),
        )

    def _within(self, blocks: csr_array, weight: np.ndarray, by: np.ndarray, eta: Soft, squares: np.ndarray) -> Weights:
        """Weighted Σ a_ij over the pairs within blocks of items, for each annotator."""
        sums = (blocks.T @ eta.reshape(len(eta), -1)).reshape(-1, *eta.shape[1:])
        # (Σ a)² − Σ a² counts every pair twice
        pairs = (np.square(sums).sum(1) - blocks.T @ squares) / 2 * weight[:, None]
        return _sums(pairs, by, self.n_annotators)


def _n_pairs(
    sizes: Int[np.ndarray, " blocks"],
    weight: Float[np.ndarray, " blocks"],
    by: Int[np.ndarray, " blocks"],
    n_annotators: int,
) -> Float[np.ndarray, " annotators"]:
    """Weighted pairs within blocks of items of these sizes, for each annotator."""
    pairs = weight * sizes * (sizes - 1.0) / 2
    return np.bincount(by, pairs, n_annotators).astype(float)  # without blocks, bincount returns integers


def _sums(
    values: Float[np.ndarray, "rows views"], of: Int[np.ndarray, " rows"], n: int
) -> Float[np.ndarray, "n views"]:
    """Sum of the rows of each code below n."""
    into = csr_array((np.ones(len(of)), of, np.arange(len(of) + 1)), shape=(len(of), n))
    return np.asarray(into.T @ values)
