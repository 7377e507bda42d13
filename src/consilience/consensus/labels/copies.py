"""Copies among annotators of labels: groups who agree with each other more than independent people would.

One person who answered three times, workers who collude, one language model asked with several prompts: the models of
labels take errors to be independent, so that copies of one annotator outvote the others.

The score
---------
Of two labels of an item by different annotators, T is the table of their joint frequencies, J = T minus the product of
its margins, and κ = (tr T - c) / (1 - c) the agreement beyond chance, c the trace of that product. A group S of
annotators meets the others, R, on its items, which gives J_SS, J_SR and J_RR. If all are independent given a class,
with the classes' frequencies in D and mean matrices A_S and A_R, centred,

    J_SS = A_S D A_Sᵀ,   J_SR = A_S D A_Rᵀ,   J_RR = A_R D A_Rᵀ                                              (1)

whatever the truth is. So the others explain of the agreement within S, and S explains of theirs,

    e_S = tr(J_SR J_RR⁺ J_RS) / (1 - c),   e_R = tr(J_RS J_SS⁺ J_SR) / tr J_RR                               (2)

If S is a group of independent people, the first is κ_SS if the others know all that S knows, and the second is 1 if S
knows all that the others know: the agreement explained is the larger of the two, E = max(e_S, κ_SS e_R). If all err
alike in all classes, both are κ_SR² / κ_RR. What is left is the dependence, the share of the way from there to complete
agreement:

    D = (κ_SS - E) / (1 - E)                                                                                 (3)

Experts among poor annotators agree as closely as copies do, but the truth that they know is also why the poor ones
agree with each other: E is high. Copies of a poor annotator, however many, do not explain why others agree: E is low.

The assumption
--------------
Independent people do not agree with each other beyond κ_SS = `TIGHT` and D = `LIMIT`, a limit that is learned from the
others through E. Those who do are copies. Nothing in the labels tells copies from people who share a view that nobody
else has: known classes, and the user, overrule.

The test
--------
A group is one of copies if κ_SS is at least `TIGHT`, and the number of items on which its members agree is improbable
(binomial, at `LEVEL` divided by the number of pairs of annotators) where D = `LIMIT` and E is at its upper limit: the
largest of its confidence limit, `SURE` standard errors by the jackknife over ten parts of the items and by Fieller's
theorem; of κ_RR; and of the square of the agreement of S with any other annotator. Groups to be tested are connected by
pairs of annotators whose agreement is improbable in the same sense under E = the mean κ of all pairs below `TIGHT`, and
at least 0.8, 0.9 or 0.97: the largest that passes is taken. If no two others agree, nobody is found.

Decided here
------------
Pairs count from `LEAST` common items on. Above `MOST_PAIRS` pairs of labels of one item, a sample of the items is
taken, at equal distances. In J_RR, members of another group that is tested are one person. Inverses leave out
directions in which a table is noise. Where the classes of at least `LEAST` items of the group are known, E is the
square of its members' agreement with these, with a limit from the standard error of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array, triu

from consilience.annotations import Labels
from consilience.consensus.labels.copy_tables import (
    Tables,
    beyond_chance,
    explained_at_most,
    explained_share,
    explanations,
)
from consilience.inference.copies import (
    ALONE,
    LEAST,
    LEVEL,
    SURE,
    TIGHT,
    Copies,
    Group,
    at_limit,
    group_members,
    search_groups,
    upper_tail,
)
from consilience.inference.parts import evenly_spaced
from consilience.inference.product_distributions import one_of_each

N_PARTS = 10  # of the items, for standard errors
MOST_PAIRS = 1_500_000  # of labels of one item


@dataclass(frozen=True)
class Pairs:
    """Pairs of annotators with common items.

    first, second : annotators.
    n_items : common items.
    agreement : share of equal labels.
    chance : the same for independent labels of the same frequencies.
    n_further, kappa_further : common items of all other pairs together, and their mean agreement beyond chance.
    """

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    n_items: Float[np.ndarray, " pairs"]
    agreement: Float[np.ndarray, " pairs"]
    chance: Float[np.ndarray, " pairs"]
    n_further: float
    kappa_further: float

    @property
    def kappa(self) -> Float[np.ndarray, " pairs"]:
        """Agreement beyond chance."""
        return beyond_chance(self.agreement, self.chance)

    @property
    def typical(self) -> float:
        """Mean κ of all pairs below `TIGHT`; of all pairs if there are no others."""
        loose = self.kappa < TIGHT
        total = self.n_further + self.n_items[loose].sum()
        if total == 0:
            return float(np.average(self.kappa, weights=self.n_items))
        mean = (self.n_further * self.kappa_further + (self.n_items * self.kappa)[loose].sum()) / total
        return float(np.clip(mean, 0, 1))


@dataclass(frozen=True)
class CopyEvidence:
    """What the labels say about groups of annotators, an entry for each group.

    n_items : items that at least two members label.
    agreement : share of equal labels of two members.
    chance : the same for independent labels.
    explained : E, NaN where the others tell nothing.
    explained_at_most : its upper limit, 1 where the others tell nothing.
    """

    n_items: Float[np.ndarray, " groups"]
    agreement: Float[np.ndarray, " groups"]
    chance: Float[np.ndarray, " groups"]
    explained: Float[np.ndarray, " groups"]
    explained_at_most: Float[np.ndarray, " groups"]

    @property
    def kappa(self) -> Float[np.ndarray, " groups"]:
        """κ_SS."""
        return beyond_chance(self.agreement, self.chance)

    @property
    def expected(self) -> Float[np.ndarray, " groups"]:
        """Agreement that the others explain."""
        return self.chance + (1 - self.chance) * self.explained

    @property
    def dependence(self) -> Float[np.ndarray, " groups"]:
        """D, at least -1; NaN where the others tell nothing."""
        return np.maximum(beyond_chance(self.kappa, self.explained), -1) + 0 * self.explained

    @property
    def p_value(self) -> Float[np.ndarray, " groups"]:
        """Probability of so much agreement at the limit of D."""
        return improbable(self.agreement, self.n_items, self.chance, self.explained_at_most)


def find_copies(labels: Labels, known: Int[np.ndarray, " items"] | None = None) -> Copies[CopyEvidence]:
    """Find groups of annotators who agree more than independent people would.

    known : the class of each item if it is known, else -1
    """
    labels, known = _sample_items(labels, known)
    pairs = common_items(labels)
    n_pairs = len(pairs.first)
    if not n_pairs:
        return given_copies(labels, [])
    typical = np.full(n_pairs, pairs.typical)
    strange = improbable(pairs.agreement, pairs.n_items, pairs.chance, typical) * n_pairs < LEVEL

    def evidence(group: Group, unit: Group) -> CopyEvidence:
        return evidence_of(labels, group, unit, pairs, known)

    return search_groups(pairs, strange, n_pairs, labels.n_annotators, evidence)


def given_copies(
    labels: Labels, groups: Iterable[Sequence[int]], known: Int[np.ndarray, " items"] | None = None
) -> Copies[CopyEvidence]:
    """Return given groups of annotators with what the labels say about them."""
    group = group_members(groups, labels.n_annotators)
    if not (group >= 0).any():
        return Copies(group, CopyEvidence(*np.empty((5, 0))))
    sampled, known = _sample_items(labels, known)
    return Copies(group, evidence_of(sampled, group, group, common_items(sampled), known))


def common_items(labels: Labels) -> Pairs:
    """Count common items and equal labels of all pairs of annotators with at least `LEAST` of them."""
    n_annotators, n_classes = labels.n_annotators, labels.n_classes
    ones = np.ones(labels.n_rows, np.float32)  # counts up to 2 ** 24 are exact
    items = csr_array((ones, (labels.item, labels.annotator)), shape=(len(labels), n_annotators))
    items.data[:] = 1  # csr_array added up several labels of an item by one annotator
    cell, row = np.unique(labels.item * n_classes + labels.label, return_inverse=True)
    cells = csr_array((ones, (row, labels.annotator)), shape=(len(cell), n_annotators))
    both = triu(items.T @ items, 1).tocoo()
    kept = both.data >= LEAST
    first, second, n_items = both.row[kept], both.col[kept], both.data[kept].astype(float)
    same = np.zeros(0)
    if len(first):
        same = np.asarray((cells.T @ cells).tocsr()[first, second], dtype=float).ravel()
    frequency = _shares(labels.annotator * n_classes + labels.label, (n_annotators, n_classes))
    chance = np.einsum("pk,pk->p", frequency[first], frequency[second])
    n_further, same_further = both.data[~kept].sum(), np.maximum(_n_pairs(row) - same.sum(), 0)
    overall = float((_shares(labels.label, (1, n_classes)) ** 2).sum())
    further = beyond_chance(np.array(same_further / max(n_further, 1)), np.array(overall))
    return Pairs(
        first.astype(int),
        second.astype(int),
        n_items,
        np.minimum(same / n_items, 1),  # several labels of one item by one annotator can agree
        chance,
        float(n_further),
        float(further) if n_further else 0.0,
    )


def evidence_of(
    labels: Labels, group: Group, unit: Group, pairs: Pairs, known: Int[np.ndarray, " items"] | None = None
) -> CopyEvidence:
    """What the labels say about every group.

    group : number of the group of each annotator, or -1
    unit : the same for all annotators who count as one person when the others are compared with each other
    pairs : of the same labels
    known : the class of each item if it is known, else -1
    """
    n_groups = int(group.max(initial=ALONE)) + 1
    rows = np.flatnonzero(group[labels.annotator] >= 0)
    rows = rows[np.argsort(group[labels.annotator[rows]], kind="stable")]
    edges = np.searchsorted(group[labels.annotator[rows]], np.arange(n_groups + 1))
    closest, indptr = closest_others(pairs, group, n_groups), labels.indptr
    person = np.where(unit >= 0, unit, unit.max(initial=ALONE) + 1 + np.arange(len(unit)))
    found = [
        _of_group(labels, rows[start:stop], indptr, group == number, person, closest[number], known)
        for number, (start, stop) in enumerate(pairwise(edges))
    ]
    return CopyEvidence(*np.array(found, dtype=float).reshape(n_groups, 5).T)


def _of_group(
    labels: Labels,
    rows: Int[np.ndarray, " rows"],
    indptr: Int[np.ndarray, " items_and_one"],
    member: Bool[np.ndarray, " annotators"],
    person: Int[np.ndarray, " annotators"],
    closest: float,
    known: Int[np.ndarray, " items"] | None,
) -> tuple[float, float, float, float, float]:
    """Entries of `CopyEvidence` for one group, of whose members `rows` are the labels."""
    cells = np.unique(labels.item[rows].astype(np.int64) * labels.n_annotators + labels.annotator[rows])
    items, within = np.unique(cells // labels.n_annotators, return_counts=True)
    n_labels = indptr[items + 1] - indptr[items]
    of_items = np.arange(n_labels.sum()) + np.repeat(indptr[items] - np.cumsum(n_labels) + n_labels, n_labels)
    part = np.repeat(np.arange(len(items)) % N_PARTS, n_labels)
    parts = [Tables.of(labels, of_items[part == number], member, person) for number in range(N_PARTS)]
    whole = reduce(add, parts)
    found = explanations(whole)
    # of the jackknife over parts of the items
    spread = (N_PARTS - 1) * np.cov(np.array([explanations(whole - one) for one in parts]).T, bias=True)
    value = explained_share(found, whole.members.kappa) if whole.others.kappa > 0 else np.nan
    at_most = explained_at_most(found, spread, whole.members.kappa)
    at_most = max(at_most, whole.others_apart.kappa, max(closest, 0.0) ** 2)
    if known is not None and (seen := known[labels.item[rows]] >= 0).any():
        value, at_most = _by_known(labels, rows[seen], known, (value, at_most))
    inside = whole.members
    return float((within > 1).sum()), inside.agreement, inside.chance, min(value, 1.0), min(at_most, 1.0)


def closest_others(pairs: Pairs, group: Group, n_groups: int) -> Float[np.ndarray, " groups"]:
    """Largest mean κ of the members of each group with an annotator outside of it; 0 if there is none."""
    ends = np.concatenate([np.stack([pairs.first, pairs.second]), np.stack([pairs.second, pairs.first])], axis=1)
    n_items, kappa = np.tile(pairs.n_items, 2), np.tile(pairs.kappa, 2)
    crossing = (group[ends[0]] >= 0) & (group[ends[0]] != group[ends[1]])
    cell, place = np.unique(group[ends[0, crossing]] * len(group) + ends[1, crossing], return_inverse=True)
    weight = np.bincount(place, n_items[crossing], len(cell))
    mean = np.bincount(place, (n_items * kappa)[crossing], len(cell)) / weight
    closest = np.zeros(n_groups)
    np.maximum.at(closest, cell // len(group), mean)
    return closest


def _by_known(
    labels: Labels, rows: Int[np.ndarray, " rows"], known: Int[np.ndarray, " items"], otherwise: tuple[float, float]
) -> tuple[float, float]:
    """E and its limit from the known classes of the items in `rows`, if there are enough."""
    items, place, n_labels = np.unique(labels.item[rows], return_inverse=True, return_counts=True)
    if len(items) < LEAST:
        return otherwise
    truth, label = known[labels.item[rows]], labels.label[rows]
    right = np.bincount(place, truth == label) / n_labels
    n_classes = labels.n_classes
    chance = float(np.bincount(truth, minlength=n_classes) @ np.bincount(label, minlength=n_classes)) / len(rows) ** 2
    kappa = (right.mean() - chance) / max(1 - chance, 1e-9)
    error = right.std() / np.sqrt(len(items)) / max(1 - chance, 1e-9)
    return float(np.clip(kappa, 0, 1) ** 2), float(np.clip(kappa + SURE * error, 0, 1) ** 2)


def improbable(
    agreement: Float[np.ndarray, " groups"],
    n_items: Float[np.ndarray, " groups"],
    chance: Float[np.ndarray, " groups"],
    explained: Float[np.ndarray, " groups"],
) -> Float[np.ndarray, " groups"]:
    """Probability of at least this agreement on so many items if D is at its limit."""
    share = np.clip(chance + (1 - chance) * at_limit(explained), 0, 1)
    return upper_tail(agreement * n_items, n_items, share)


def first_members(group: Group, n_labels: Int[np.ndarray, " annotators"]) -> Int[np.ndarray, " annotators"]:
    """Annotator who stands for each annotator: the member of the group with the most labels, or the same."""
    stands = np.arange(len(group))
    order = np.argsort(-n_labels, kind="stable")
    inside = order[group[order] >= 0]
    _, first = np.unique(group[inside], return_index=True)  # the first of a group has most labels
    return np.where(group >= 0, inside[first][group] if len(first) else stands, stands)


def one_label_of_each(labels: Labels, group: Group) -> Labels:
    """Keep one label of each group for each item: the label that most of its members gave, the first of equal ones."""
    if not (group[labels.annotator] >= 0).any():
        return labels
    kept = one_of_each(labels.item, group[labels.annotator], labels.label)
    return replace(labels, item=labels.item[kept], annotator=labels.annotator[kept], label=labels.label[kept])


def merge_groups(labels: Labels, group: Group, stands: Int[np.ndarray, " annotators"] | None = None) -> Labels:
    """One label of each group for each item, all by the member who stands for the group.

    stands : `first_members`; by default those with the most of these labels.
    """
    kept = one_label_of_each(labels, group)
    if stands is None:
        stands = first_members(group, np.bincount(labels.annotator, minlength=len(group)))
    return replace(kept, annotator=stands[kept.annotator]).in_order()


def _sample_items(labels: Labels, known: np.ndarray | None) -> tuple[Labels, np.ndarray | None]:
    """Evenly spaced items, if there are too many pairs of labels."""
    n_labels = np.diff(labels.indptr).astype(float)
    share = MOST_PAIRS / max((n_labels**2).sum(), 1)
    if share >= 1:
        return labels, known
    return labels._rows(evenly_spaced(len(labels), share)[labels.item]), known


def _n_pairs(place: Int[np.ndarray, " labels"]) -> float:
    """Number of pairs of labels in the same place."""
    counts = np.bincount(place).astype(float)
    return float((counts * (counts - 1)).sum() / 2)


def _shares(cell: Int[np.ndarray, " labels"], shape: tuple[int, int]) -> Float[np.ndarray, "rows classes"]:
    """Share of each column in the entries of each row."""
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    return counts / np.maximum(counts.sum(1, keepdims=True), 1)
