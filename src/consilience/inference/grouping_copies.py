"""Copies among annotators who group: people who sort more alike than independent people would.

One person who took part twice, a sort handed on, one language model asked with several prompts: models of groupings
take people to be independent, so that copies of one sort outvote the others. The idea is the same as for labels
(`consilience.consensus.labels.copies`), on pairs of items.

The score
---------
Two groupings of n common items put A and B of the P pairs of items together, and T of them both do; independent ones
A B / P. What they agree beyond chance is compared with what is possible: with the mean of A and B, which gives the
adjusted Rand index, and with the smaller of the two, so that a coarse sort can explain a fine one,

    κ = (T - A B / P) / ((A + B) / 2 - A B / P),   κ' = (T - A B / P) / (min(A, B) - A B / P)                (1)

summed over pairs of groupings and pairs of annotators before division. A group S of annotators meets the others, R. If
all are independent given a clustering of which each keeps a share s of the items, a pair of items is kept by two
annotators with s_a² s_b², so that κ_SS = s_S⁴, κ_SR = s_S² s_R², κ_RR = s_R⁴, and the others explain of κ_SS

    E = κ'_SR² / κ_RR                                                                                       (2)

What is left is the dependence, the share of the way from there to complete agreement:

    D = (κ_SS - E) / (1 - E)                                                                                (3)

People who sort well are also why the others agree: E is high. Copies of a sort at random, however many, do not explain
why others agree: E is low.

The assumption
--------------
Independent people do not agree with each other beyond κ_SS = `TIGHT` and D = `LIMIT`. Those who do are copies. Nothing
in the groupings tells copies from people who share a view that nobody else has, if they are much closer to each other
than other people are to those of their view: the user overrules.

The test
--------
An item that one of two alike sorts has moved breaks its pairs with all others, so that κ = s² if a share s of the items
agrees. A group is one of copies if κ_SS is at least `TIGHT`, and s n is improbable (binomial, at `LEVEL` divided by the
number of pairs of annotators) where D = `LIMIT` and E is at its upper limit: the largest of (2), with both factors at
limits of `SURE` standard errors by the jackknife over the others; of the mean κ of the others with those who are
closest to each of them, which schools of thought raise; and of the square of κ_SR of any other annotator. Here n are
items that tell (`telling_items`) times half the number of members, each of whom can differ. If fewer than three others
are left, or agree no more than `SHARED`, nobody is found. Groups to be tested are connected by pairs of annotators
whose agreement is improbable at `LEVEL` under E = the mean κ of all pairs below `TIGHT`, and at least 0.8, 0.9 or 0.97:
the largest that passes is taken.

How they weigh
--------------
Of the members of a group that have grouped an item, the one who grouped the most items is read.

Decided here
------------
Groupings of one annotator are not compared with each other, so that repetition alone makes nobody a copy. Pairs of
annotators count from `LEAST` common items that tell on. Above `MOST_PAIRS` pairs of memberships of one item, a sample
of the items is taken, at equal distances. In κ_RR, members of another group that is tested are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.annotations.pairs import pairs_within
from consilience.inference.copies import (
    ALONE,
    LEAST,
    LEVEL,
    STEPS,
    SURE,
    TIGHT,
    Copies,
    Group,
    among,
    at_limit,
    group_members,
    number_groups,
    search_groups,
    upper_tail,
)
from consilience.inference.memberships import Memberships
from consilience.inference.parts import evenly_spaced
from consilience.inference.telling_items import telling

SHARED = 0.05  # least agreement of the others, at its lower limit
FEWEST_OTHERS = 3
MOST_PAIRS = 50_000_000  # of memberships of one item
AT_A_TIME = 1 << 22  # of them in memory
DENSE_CELLS = 1 << 23  # of a table
DENSE = 0.1  # share of the cells of a matrix that are not 0, from which it is multiplied as a dense one

Table: TypeAlias = np.ndarray | csr_array


@dataclass(frozen=True)
class Pairs:
    """Pairs of annotators with common items.

    first, second : annotators, the first before the second.
    n_items : common items that tell.
    excess : pairs of items that both put together, T, less those expected by chance.
    possible : the same if they agreed, by the mean of A and B.
    attainable : by the smaller of A and B.
    n_annotators : of whom some may be in no pair.
    """

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    n_items: Float[np.ndarray, " pairs"]
    excess: Float[np.ndarray, " pairs"]
    possible: Float[np.ndarray, " pairs"]
    attainable: Float[np.ndarray, " pairs"]
    n_annotators: int

    @cached_property
    def kappa(self) -> Float[np.ndarray, " pairs"]:
        """κ, the adjusted Rand index; 0 where it is undefined."""
        return ratio(self.excess, self.possible)

    @cached_property
    def counts(self) -> Bool[np.ndarray, " pairs"]:
        """Whether the annotators have enough common items."""
        return self.n_items >= LEAST

    @cached_property
    def near(self) -> Bool[np.ndarray, " pairs"]:
        """Whether they agree enough to be joined."""
        return self.counts & (self.kappa >= min(STEPS))

    @property
    def typical(self) -> float:
        """Mean κ of all pairs below `TIGHT`; of all pairs if there are no others."""
        loose = ~self.counts | (self.kappa < TIGHT)
        chosen = loose if loose.any() else np.ones_like(loose)
        possible = self.possible[chosen].sum()
        return float(np.clip(self.excess[chosen].sum() / possible, 0, 1)) if possible > 0 else 0.0


@dataclass(frozen=True)
class Evidence:
    """What the groupings say about groups of annotators, an entry for each group.

    n_items : items that at least two members group.
    n_telling : common items that tell, on average of two members, times half the number of members.
    kappa : κ_SS.
    explained : E, NaN where the others tell nothing.
    explained_at_most : its upper limit, 1 where the others tell nothing.
    """

    n_items: Float[np.ndarray, " groups"]
    n_telling: Float[np.ndarray, " groups"]
    kappa: Float[np.ndarray, " groups"]
    explained: Float[np.ndarray, " groups"]
    explained_at_most: Float[np.ndarray, " groups"]

    @property
    def agreement(self) -> Float[np.ndarray, " groups"]:
        """κ_SS."""
        return self.kappa

    @property
    def expected(self) -> Float[np.ndarray, " groups"]:
        """Agreement that the others explain: E."""
        return self.explained

    @property
    def dependence(self) -> Float[np.ndarray, " groups"]:
        """D, at least -1; NaN where the others tell nothing."""
        return np.maximum(ratio(self.kappa - self.explained, 1 - self.explained), -1) + 0 * self.explained

    @property
    def p_value(self) -> Float[np.ndarray, " groups"]:
        """Probability of so much agreement at the limit of D."""
        return improbable(self.kappa, self.n_telling, self.explained_at_most)


def find_copies(memberships: Memberships) -> Copies[Evidence]:
    """Find groups of annotators who sort more alike than independent people would."""
    memberships = _sample_items(memberships)
    comparable = _comparable(memberships)
    if not comparable.all() and not common_items(_of_annotators(memberships, comparable)).near.any():
        return given_copies(memberships, [])  # in a fraction of the time
    pairs = common_items(memberships)
    n_pairs = int(pairs.counts.sum())
    strange = pairs.near.copy()
    typical = np.full(strange.sum(), pairs.typical if strange.any() else 1.0)
    strange[strange] = improbable(pairs.kappa[strange], pairs.n_items[strange], typical) < LEVEL

    def keep_likely(group: Group) -> Group:
        kappa, n_telling = _within(group, pairs)
        possible = improbable(kappa, n_telling, np.zeros(len(kappa))) * n_pairs < LEVEL  # if others explained nothing
        return number_groups(np.where(among(possible, group), group, ALONE))

    def evidence(group: Group, unit: Group) -> Evidence:
        return evidence_of(memberships, group, unit, pairs)

    return search_groups(pairs, strange, n_pairs, memberships.n_annotators, evidence, keep_likely)


def given_copies(memberships: Memberships, groups: Iterable[Sequence[int]]) -> Copies[Evidence]:
    """Return given groups of annotators with what the groupings say about them."""
    group = group_members(groups, memberships.n_annotators)
    if not (group >= 0).any():
        return Copies(group, Evidence(*np.empty((5, 0))))
    sampled = _sample_items(memberships)
    return Copies(group, evidence_of(sampled, group, group, common_items(sampled)))


def common_items(memberships: Memberships) -> Pairs:
    """Compare the groupings of all pairs of annotators with at least two common items in a grouping of each."""
    owner, n = memberships.annotator_of_grouping, memberships.n_annotators
    one, other, n_items, of_one, of_other, n_paired, n_paired_other = _pairs_of_groupings(memberships)
    n_pairs = n_items * (n_items - 1) / 2
    chance = of_one * of_other / n_pairs
    tell = np.minimum(telling(n_items, n_paired, of_one), telling(n_items, n_paired_other, of_other))
    pair, place = np.unique(owner[one] * n + owner[other], return_inverse=True)

    def total(values: np.ndarray) -> Float[np.ndarray, " pairs"]:
        return np.bincount(place, values, len(pair)).astype(float)  # integers if there are none

    first, second = pair // n, pair % n
    expected = total(chance)
    both = _at(_put_together_by_both(memberships), first, second)
    return Pairs(
        first,
        second,
        np.minimum(total(tell), _n_common(memberships, first, second)),
        both - expected,
        total((of_one + of_other) / 2) - expected,
        total(np.minimum(of_one, of_other)) - expected,
        n,
    )


def _pairs_of_groupings(memberships: Memberships) -> tuple[np.ndarray, ...]:
    """Pairs of groupings by different annotators with at least two common items, the one of the first annotator first.

    Returns
    -------
    The two groupings; their common items; pairs of these that each of the two puts together; common items that each
    puts together with another.
    """
    owner, n = memberships.annotator_of_grouping, memberships.n_groupings
    one, other, n_items = _share_items(memberships.in_grouping, memberships.in_grouping, 2)
    kept = owner[one] < owner[other]  # each pair once, and none of one annotator
    one, other, n_items = one[kept], other[kept], n_items[kept]
    group, grouping, size = _share_items(memberships.in_group, memberships.in_grouping, 2)
    own = memberships.grouping_of_group[group]
    together, paired = _table(own, grouping, size * (size - 1) / 2, n), _table(own, grouping, size, n)
    return (
        one,
        other,
        n_items,
        _at(together, one, other),
        _at(together, other, one),
        _at(paired, one, other),
        _at(paired, other, one),
    )


def _put_together_by_both(memberships: Memberships) -> Table:
    """T of all pairs of annotators, summed over their groupings."""
    n = memberships.n_annotators
    owner = memberships.annotator_of_grouping[memberships.grouping_of_group]
    # both ways count the same: list the fewer of pairs within groups and pairs of memberships of an item
    if (memberships.group_sizes.astype(float) ** 2).sum() <= (memberships.times_seen.astype(float) ** 2).sum():
        order = np.argsort(memberships.group, kind="stable")
        first, second = pairs_within(memberships.group_sizes)
        item = memberships.item[order]
        low, high = np.minimum(item[first], item[second]), np.maximum(item[first], item[second])
        pair, place = np.unique(low * memberships.n_items + high, return_inverse=True)
        annotator = owner[memberships.group[order][first]]
        put = csr_array((np.ones(len(place)), (place, annotator)), shape=(len(pair), n))
        return _table(*_share_items(put, put, 1), n)
    counts = _table(np.zeros(0, int), np.zeros(0, int), np.zeros(0), n)
    for groups in _blocks(memberships):
        one, other, size = _share_items(memberships.in_group[:, groups], memberships.in_group, 2)
        counts = counts + _table(owner[groups][one], owner[other], size * (size - 1) / 2, n)
    return counts


def _blocks(memberships: Memberships) -> list[Int[np.ndarray, " groups"]]:
    """Divide the groups into blocks whose pairs with other groups fit into memory."""
    cost = memberships.in_group.T @ memberships.times_seen.astype(float)
    edges = np.flatnonzero(np.diff(np.cumsum(cost) // AT_A_TIME)) + 1
    return np.split(np.arange(memberships.n_groups), edges)


def _share_items(
    left: csr_array, right: csr_array, least: int
) -> tuple[Int[np.ndarray, " cells"], Int[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """Columns of two matrices with at least so many items in common, and their number."""
    if left.nnz >= DENSE * left.shape[0] * left.shape[1]:
        counts = left.toarray().T @ right.toarray()
        first, second = np.nonzero(counts >= least)
        return first, second, counts[first, second]
    both = csr_array(left.T.tocsr() @ right)
    kept = both.data >= least
    first = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))[kept]
    return first, both.indices[kept], both.data[kept]


def _n_common(
    memberships: Memberships, first: Int[np.ndarray, " pairs"], second: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, " pairs"]:
    """Number of different items that both annotators group."""
    by = _by_annotator(memberships)
    return _at(_table(*_share_items(by, by, 1), memberships.n_annotators), first, second)


def _comparable(memberships: Memberships) -> Bool[np.ndarray, " annotators"]:
    """Whether each annotator has enough common items with any other one."""
    by = _by_annotator(memberships)
    first, second, _ = _share_items(by, by, LEAST)
    return np.bincount(first[first != second], minlength=memberships.n_annotators) > 0


def _of_annotators(memberships: Memberships, chosen: Bool[np.ndarray, " annotators"]) -> Memberships:
    by = memberships.annotator_of_grouping
    of_grouping = chosen[by]
    of_group = of_grouping[memberships.grouping_of_group]
    return Memberships(
        in_group=memberships.in_group[:, np.flatnonzero(of_group)],
        in_grouping=memberships.in_grouping[:, np.flatnonzero(of_grouping)],
        grouping_of_group=(np.cumsum(of_grouping) - 1)[memberships.grouping_of_group[of_group]],
        annotator_of_grouping=(np.cumsum(chosen) - 1)[by[of_grouping]],
        n_annotators=int(chosen.sum()),
    )


def _table(
    row: Int[np.ndarray, " entries"], column: Int[np.ndarray, " entries"], value: Float[np.ndarray, " entries"], n: int
) -> Table:
    """Square table with the sums of the values of equal cells; a sparse one where a dense one would be large."""
    if n * n > DENSE_CELLS:
        return csr_array((value, (row, column)), shape=(n, n))
    return np.bincount(row.astype(np.int64) * n + column, value, n * n).astype(float).reshape(n, n)


def _at(table: Table, row: Int[np.ndarray, " pairs"], column: Int[np.ndarray, " pairs"]) -> np.ndarray:
    """Entries of a table."""
    return np.asarray(table[row, column], np.float64).ravel() if len(row) else np.zeros(0)


def _by_annotator(memberships: Memberships) -> csr_array:
    """1 for each item and annotator who grouped it."""
    annotator = memberships.annotator_of_grouping[memberships.grouping]
    shape = (memberships.n_items, memberships.n_annotators)
    by = csr_array((np.ones(len(annotator)), (memberships.item, annotator)), shape=shape)
    by.data[:] = 1  # csr_array added up the groupings of an annotator that contain an item
    return by


def evidence_of(memberships: Memberships, group: Group, unit: Group, pairs: Pairs) -> Evidence:
    """What the groupings say about every group.

    group : number of the group of each annotator, or -1
    unit : the same for all annotators who are not compared when the others are compared with each other
    pairs : of the same groupings
    """
    n_groups = int(group.max(initial=ALONE)) + 1
    by = _by_annotator(memberships)
    n_items = [float((by @ (group == number).astype(float) > 1).sum()) for number in range(n_groups)]
    explained = [_explained_share(group == number, unit, pairs) for number in range(n_groups)]
    kappa, n_telling = _within(group, pairs)
    return Evidence(np.array(n_items), n_telling, kappa, *np.array(explained, dtype=float).reshape(n_groups, 2).T)


def _within(group: Group, pairs: Pairs) -> tuple[Float[np.ndarray, " groups"], Float[np.ndarray, " groups"]]:
    """κ_SS of each group; common items that tell, on average of two members, times half the number of members."""
    n_groups = int(group.max(initial=ALONE)) + 1
    inside = (group[pairs.first] >= 0) & (group[pairs.first] == group[pairs.second])
    number = group[pairs.first[inside]]
    excess, possible, n_items = (
        np.bincount(number, values[inside], n_groups).astype(float)
        for values in (pairs.excess, pairs.possible, pairs.n_items)
    )
    n_members = np.bincount(group[group >= 0], minlength=n_groups)
    return ratio(excess, possible), n_items / np.maximum(np.bincount(number, minlength=n_groups), 1) * n_members / 2


def _explained_share(member: Bool[np.ndarray, " annotators"], unit: Group, pairs: Pairs) -> tuple[float, float]:
    """E of one group, and its upper limit."""
    n_inside = member[pairs.first].astype(int) + member[pairs.second]
    across, outside = n_inside == 1, n_inside == 0
    at_most, explained = 1.0, np.nan
    apart = outside & ~((unit[pairs.first] >= 0) & (unit[pairs.first] == unit[pairs.second]))
    other = np.where(member[pairs.first], pairs.second, pairs.first)
    shared, low = _mean_kappa(pairs.first, pairs.second, pairs.excess, pairs.possible, apart, -SURE)
    if shared > 0:
        with_others, high = _mean_kappa(other, other, pairs.excess, pairs.attainable, across, SURE)
        explained = min(max(with_others, 0.0) ** 2 / shared, 1.0)
        if low >= SHARED:
            at_most = max(max(high, 0.0) ** 2 / low, _closeness(pairs, outside), _closest(pairs, across, other) ** 2)
    return explained, min(at_most, 1.0)


def _mean_kappa(
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
    excess: Float[np.ndarray, " pairs"],
    possible: Float[np.ndarray, " pairs"],
    chosen: Bool[np.ndarray, " pairs"],
    errors: float,
) -> tuple[float, float]:
    """Mean κ of the chosen pairs, and the same with so many standard errors, by the jackknife over annotators.

    NaN if there are fewer than `FEWEST_OTHERS` annotators, or nothing to agree on without one of them.
    """
    ends = np.stack([first[chosen], second[chosen]])
    others, place = np.unique(ends, return_inverse=True)
    place = place.reshape(ends.shape)
    once = place[0] != place[1]  # pairs with members have the other annotator at both ends

    def of_each(values: np.ndarray) -> Float[np.ndarray, " others"]:
        of_first = np.bincount(place[0], values[chosen], len(others)).astype(float)
        return of_first + np.bincount(place[1], values[chosen] * once, len(others))

    left_excess, left = excess[chosen].sum() - of_each(excess), possible[chosen].sum() - of_each(possible)
    if len(others) < FEWEST_OTHERS or (left <= 1e-9).any():  # 0 but for rounding: no κ without that annotator
        return np.nan, np.nan
    mean = excess[chosen].sum() / possible[chosen].sum()
    without = left_excess / left
    error = np.sqrt((len(others) - 1) * without.var())  # of the jackknife: (n − 1) / n of the sum of squares
    return float(mean), float(mean + errors * error)


def _closeness(pairs: Pairs, chosen: Bool[np.ndarray, " pairs"]) -> float:
    """Mean, over annotators of the chosen pairs, of the largest κ with another of them; 0 if none has enough items."""
    chosen = chosen & pairs.counts
    largest = np.full(pairs.n_annotators, -np.inf)
    for ends in (pairs.first, pairs.second):
        np.maximum.at(largest, ends[chosen], pairs.kappa[chosen])
    largest = largest[np.isfinite(largest)]
    return float(largest.mean()) if len(largest) else 0.0


def _closest(pairs: Pairs, across: Bool[np.ndarray, " pairs"], other: Int[np.ndarray, " pairs"]) -> float:
    """Largest mean κ of the members with an annotator outside of the group; 0 if there is none."""
    chosen = across & pairs.counts
    excess, possible = (
        np.bincount(other[chosen], values[chosen], pairs.n_annotators).astype(float)
        for values in (pairs.excess, pairs.possible)
    )
    return max(float(ratio(excess, possible).max(initial=0.0)), 0.0)


def improbable(
    kappa: Float[np.ndarray, " groups"], n_items: Float[np.ndarray, " groups"], explained: Float[np.ndarray, " groups"]
) -> Float[np.ndarray, " groups"]:
    """Probability of at least this agreement on so many items if D is at its limit."""
    share = np.sqrt(np.clip(at_limit(explained), 0, 1))
    return upper_tail(np.sqrt(np.clip(kappa, 0, 1)) * n_items, n_items, share)


def ratio(excess: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Excess / possible; 0 where nothing is possible."""
    return np.divide(excess, possible, out=np.zeros_like(excess), where=possible > 1e-9)  # 0 but for rounding


def memberships_read(memberships: Memberships, group: Group) -> Bool[np.ndarray, " rows"]:
    """Whether each membership is read: of the members of a group, the one who grouped the most items comes first."""
    annotator = memberships.annotator_of_grouping[memberships.grouping]
    inside = group[annotator] >= 0
    if not inside.any():
        return np.ones(len(annotator), bool)
    n_items = np.bincount(annotator, minlength=memberships.n_annotators)
    rank = np.empty(len(n_items), int)
    rank[np.argsort(-n_items, kind="stable")] = np.arange(len(n_items))  # the inverse of the order
    n_groups = int(group.max()) + 1
    first = np.full(memberships.n_items * n_groups, len(n_items))
    cell = memberships.item[inside] * n_groups + group[annotator[inside]]
    np.minimum.at(first, cell, rank[annotator[inside]])
    read = ~inside
    read[inside] = rank[annotator[inside]] == first[cell]
    return read


def _sample_items(memberships: Memberships) -> Memberships:
    """Evenly spaced items, if there are too many pairs of memberships."""
    share = MOST_PAIRS / max((memberships.times_seen.astype(float) ** 2).sum(), 1)
    if share >= 1:
        return memberships
    return memberships.of_items(np.flatnonzero(evenly_spaced(memberships.n_items, share)))
