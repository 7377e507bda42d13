"""Groups of annotators who weigh together: what the tests for copies of labels and of groupings share.

Both tests say how far people agree, how much of that others explain, and how improbable the rest is; see
`consilience.consensus.labels.copies` and `inference.grouping_copies`. Groups to be tested are connected by pairs of
annotators, the largest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import betainc

TIGHT = 0.8  # least agreement within a group of copies, beyond chance
LIMIT = 0.5  # of the dependence among independent people
LEVEL = 0.01  # of the test, for all pairs together
SURE = 2.0  # standard errors
LEAST = 20  # common items
STEPS = (0.8, 0.9, 0.97)  # limits of κ at which annotators are joined into groups
ALONE = -1

Group = Int[np.ndarray, " annotators"]
OfGroups = Float[np.ndarray, " groups"]


@runtime_checkable
class EvidenceOfGroups(Protocol):
    """What annotations say about groups of annotators, an entry for each group.

    n_items : items that at least two members annotate.
    agreement : of two members.
    expected : what the other annotators explain of it, NaN where they tell nothing.
    kappa : agreement beyond chance.
    dependence : how far the agreement goes from there towards 1.
    p_value : probability of so much agreement at the limit of the dependence.
    """

    @property
    def n_items(self) -> OfGroups: ...
    @property
    def agreement(self) -> OfGroups: ...
    @property
    def expected(self) -> OfGroups: ...
    @property
    def kappa(self) -> OfGroups: ...
    @property
    def dependence(self) -> OfGroups: ...
    @property
    def p_value(self) -> OfGroups: ...


Evidence = TypeVar("Evidence", bound=EvidenceOfGroups)


@dataclass(frozen=True)
class Copies(Generic[Evidence]):
    """Groups of annotators who weigh together.

    group : number of the group of each annotator, -1 for those who are alone.
    evidence : about each group.
    """

    group: Group
    evidence: Evidence

    def __len__(self) -> int:
        return len(self.evidence.n_items)

    def members(self, number: int) -> list[int]:
        """Annotators of a group."""
        return [int(annotator) for annotator in np.flatnonzero(self.group == number)]


@runtime_checkable
class PairsOfAnnotators(Protocol):
    """Pairs of annotators with common items, and their agreement beyond chance."""

    @property
    def first(self) -> Int[np.ndarray, " pairs"]: ...
    @property
    def second(self) -> Int[np.ndarray, " pairs"]: ...
    @property
    def kappa(self) -> Float[np.ndarray, " pairs"]: ...


def search_groups(
    pairs: PairsOfAnnotators,
    strange: Bool[np.ndarray, " pairs"],
    n_pairs: int,
    n_annotators: int,
    evidence_of: Callable[[Group, Group], Evidence],
    keep_likely: Callable[[Group], Group] = lambda group: group,
) -> Copies[Evidence]:
    """Test the groups that pairs connect, looser ones first; the members of those that pass are tested no more.

    pairs : of annotators.
    strange : whether the agreement of each is improbable among independent people.
    n_pairs : for which `LEVEL` is divided.
    evidence_of : groups; and those together with groups found before, none of whom are compared with each other.
    keep_likely : leaves out groups that cannot pass.
    """
    found = np.full(n_annotators, ALONE)
    tried = found
    for limit in STEPS:
        alone = (found[pairs.first] == ALONE) & (found[pairs.second] == ALONE)
        joined = strange & (pairs.kappa >= limit) & alone
        group = connect(pairs.first[joined], pairs.second[joined], n_annotators)
        if np.array_equal(group, tried):
            continue
        tried = group
        # numbers of groups tried and of those found do not meet
        unit = np.where(found >= 0, found + group.max() + 1, group)
        group = keep_likely(group)
        evidence = evidence_of(group, unit)
        passed = (evidence.kappa >= TIGHT) & (evidence.p_value * n_pairs < LEVEL)
        found = np.where(among(passed, group), found.max() + 1 + group, found)
    found = number_groups(found)
    return Copies(found, evidence_of(found, found))


def among(chosen: Bool[np.ndarray, " groups"], group: Group) -> Bool[np.ndarray, " annotators"]:
    """Whether each annotator is in one of the chosen groups."""
    return np.asarray(np.append(chosen, False)[group])  # `ALONE`, -1, reads the appended False


def group_members(groups: Iterable[Sequence[int]], n_annotators: int) -> Group:
    """Return the number of the group of each annotator from the members of each group."""
    group = np.full(n_annotators, ALONE)
    for number, members in enumerate(groups):
        group[list(members)] = number
    return group


def number_groups(group: Group) -> Group:
    """Number groups from 0 on, in the order of their first members."""
    found, first, place = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(np.where(found >= 0, first, -1), kind="stable")
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order)) - int((found < 0).any())  # `ALONE` comes first and stays -1
    return rank[place]


def connect(first: Int[np.ndarray, " links"], second: Int[np.ndarray, " links"], n_annotators: int) -> Group:
    """Number of the connected part of each annotator, -1 for those without links."""
    graph = csr_array((np.ones(len(first)), (first, second)), shape=(n_annotators, n_annotators))
    part = connected_components(graph, directed=False)[1]
    return number_groups(np.where(np.bincount(part)[part] > 1, part, ALONE))


def at_limit(explained: OfGroups) -> OfGroups:
    """Agreement beyond chance at the limit of the dependence, if others explain so much of it."""
    return np.asarray(explained + LIMIT * (1 - explained))


def upper_tail(equal: Any, n_items: Any, share: Any) -> np.ndarray:
    """Probability of at least so many equal items of a binomial distribution, whose numbers need not be whole."""
    return np.where(equal > 0, betainc(np.maximum(equal, 1e-9), n_items - equal + 1, share), 1.0)
