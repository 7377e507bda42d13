"""Sweeps of the mixture of groupings over partitions: its own moves, with counts that are sums over partitions.

The clusters of items stay with their partitions, and the number of items of each cluster in each group is a sum over
them. Scores, moves and concentrations are those of `grouping_mixture`.

Decided here
------------
A sweep moves half the items at random. For the items of the sample the numbers are those that the mixture draws for
them in memory, in canonical order; the others have numbers of their partition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, UInt64
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.annotations.memberships import incidence_of
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.grouping_mixture import GroupingCounts, GroupingLayout, GroupingMixtureState
from consilience.inference.memberships import Memberships
from consilience.inference.parts import Additive, Parts
from consilience.partitions.survey.item_survey import OwnItems, group_places
from consilience.partitions.survey.label_survey import hashes_of

Clusters = Int[np.ndarray, " items"]
Concentration = Float[np.ndarray, " annotators"]
PartOfGroupings = Int[np.ndarray, " groupings"]
NO_ITEMS = np.empty(0, dtype=np.intp)
OTHER = -1  # place in the sample of an item that is not in it


# ---- what is computed on a partition


@dataclass(frozen=True)
class PreparedItems:
    """Items of a partition that are in some grouping, and their clusters.

    number : of the partition.
    layout : of these items, over all groups.
    place : of each item in the sample.
    cluster : of each item.
    probability : of each item's clusters, or the sum of those of several sweeps.
    log_pseudo_likelihood, n_elsewhere : of the last sweep; see `mixture.State`.
    """

    number: int
    layout: GroupingLayout
    place: Int[np.ndarray, " items"]
    cluster: Clusters
    probability: Float[np.ndarray, "items clusters"]
    log_pseudo_likelihood: float = 0.0
    n_elsewhere: int = 0

    def state(self, n_clusters: int, concentration: Concentration) -> GroupingMixtureState:
        """Return the state of these items."""
        return GroupingMixtureState(self.cluster, n_clusters, concentration)


def parts_of_items(layout: GroupingLayout, part_of: PartOfGroupings) -> Clusters:
    """Return the part of the evidence that each item is in, from those of the groupings."""
    in_grouping = layout.memberships.in_grouping
    return part_of[in_grouping.indices[in_grouping.indptr[:-1]]]


def layout_of(given: Groupings, nothing: Groupings) -> tuple[GroupingLayout, Int[np.ndarray, " seen"]]:
    """Return the layout of the items that are in some grouping, and their places; `nothing` has all groups."""
    keys = nothing.vocabulary.group_keys()
    incidence = incidence_of(given.item_of_row, group_places(given, keys), given.n_items, len(keys))
    seen = np.flatnonzero(np.diff(incidence.indptr))
    everything = Memberships.of(replace(nothing, items=pd.RangeIndex(given.n_items), incidence=incidence))
    return GroupingLayout.of(everything.of_items(seen)), seen


def prepare_part(
    own: OwnItems, nothing: Groupings, sampled: UInt64[np.ndarray, " sampled"], first: Int[np.ndarray, " partitions"]
) -> PreparedItems:
    """Return the items of a partition; `sample_part` are the hashes of the items of the sample."""
    layout, seen = layout_of(own.rows.groupings, nothing)
    hashes = hashes_of(own.names(first).take(seen))
    order = np.argsort(sampled)
    # beyond the last hash there is none to compare with, so the last stands for it and differs
    found = np.minimum(np.searchsorted(sampled, hashes, sorter=order), len(sampled) - 1)
    place = np.where(sampled[order[found]] == hashes, order[found], OTHER)
    return PreparedItems(own.number, layout, place, np.zeros(len(seen), dtype=np.intp), np.empty((len(seen), 0)))


def links(own: PreparedItems) -> csr_array:
    """Return how many items every two groupings share."""
    in_grouping = own.layout.memberships.in_grouping
    return csr_array(in_grouping.T @ in_grouping)


def n_items_of(own: PreparedItems) -> int:
    """Return the number of items."""
    return len(own.place)


def begun(own: PreparedItems, start: GroupingMixtureState, counts: GroupingCounts) -> PreparedItems:
    """Give the items of the sample the clusters of a state, and others the most probable ones by its counts."""
    cluster = mixture.scores_of_new(own.layout, counts, start.concentration).argmax(1)
    inside = own.place != OTHER
    cluster[inside] = start.cluster[own.place[inside]]
    return replace(own, cluster=cluster, probability=np.zeros((len(cluster), start.n_clusters)))


@dataclass(frozen=True)
class Counted(Additive):
    """Fields of `mixture.Counts`, and sums of the last sweep."""

    of_groups: Float[np.ndarray, "groups clusters"]
    of_groupings: Float[np.ndarray, "groupings clusters"]
    of_clusters: Float[np.ndarray, " clusters"]
    log_pseudo_likelihood: float
    n_elsewhere: int

    @property
    def counts(self) -> GroupingCounts:
        """Number of items of each cluster, in total, in each group and in each grouping."""
        return GroupingCounts(self.of_groups, self.of_groupings, self.of_clusters)


def count_part(own: PreparedItems, n_clusters: int) -> Counted:
    """Count the items of a partition."""
    counts = mixture.count(own.layout, own.state(n_clusters, np.empty(0)))
    return Counted(
        counts.of_groups, counts.of_groupings, counts.of_clusters, own.log_pseudo_likelihood, own.n_elsewhere
    )


@dataclass(frozen=True)
class Draws:
    """A number from 0 to 1 for each item.

    sampled : of the items of the sample.
    key : from which those of other items are drawn, partition by partition.
    """

    sampled: Float[np.ndarray, " sampled"]
    key: tuple[int, ...]

    def of(self, own: PreparedItems) -> Float[np.ndarray, " items"]:
        """Return the numbers of the items of a partition."""
        numbers = np.random.default_rng([*self.key, own.number]).random(len(own.place))
        inside = own.place != OTHER
        numbers[inside] = self.sampled[own.place[inside]]
        return numbers


def sweep_part(own: PreparedItems, counts: GroupingCounts, concentration: Concentration, draws: Draws) -> PreparedItems:
    """Move half the items to the clusters most probable given the rest: `mixture.move`."""
    if not len(own.place):
        return own
    state = own.state(counts.of_groups.shape[1], concentration)
    found = mixture.move(state, mixture.cluster_scores(own.layout, state, counts), draws.of(own))
    n_elsewhere = round(found.restless * len(own.place))
    return replace(
        own, cluster=found.cluster, log_pseudo_likelihood=found.log_pseudo_likelihood, n_elsewhere=n_elsewhere
    )


def sample_part(
    own: PreparedItems,
    counts: GroupingCounts,
    concentration: Concentration,
    moving: Draws,
    chance: Draws,
    weight: float,
) -> PreparedItems:
    """Draw the clusters of half the items given the rest, and add the probabilities of all with this weight."""
    state = own.state(counts.of_groups.shape[1], concentration)
    probability = mixture.normalise_scores(mixture.cluster_scores(own.layout, state, counts))
    some = np.flatnonzero(moving.of(own) < 0.5)
    cluster = mixture.draw_clusters(state, probability, some, chance.of(own)[some]).cluster
    return replace(own, cluster=cluster, probability=own.probability + weight * probability)


def given_the_rest(own: PreparedItems, counts: GroupingCounts, concentration: Concentration) -> PreparedItems:
    """Set the probabilities of each item's clusters given the rest."""
    scores = mixture.cluster_scores(own.layout, own.state(counts.of_groups.shape[1], concentration), counts)
    return replace(own, probability=mixture.normalise_scores(scores))


def certain(own: PreparedItems) -> PreparedItems:
    """Give each item's cluster probability 1."""
    return replace(own, probability=fusing.onehot(own.cluster, own.probability.shape[1]))


def renumber_part(own: PreparedItems, number: Int[np.ndarray, " clusters"]) -> PreparedItems:
    """Give the clusters other numbers."""
    return replace(own, cluster=number[own.cluster])


@dataclass(frozen=True)
class Owners:
    """Number of items of each cluster of each part of the evidence, and the first item of each, in the whole table.

    Items of the sample come first, in canonical order, then the others in the order of the partitions.
    """

    sizes: Int[np.ndarray, " owners"]
    first: Float[np.ndarray, " owners"]

    def __add__(self, other: Owners) -> Owners:
        return Owners(self.sizes + other.sizes, np.minimum(self.first, other.first))

    def by_size(self) -> Int[np.ndarray, " owned"]:
        """Return those that own items, the largest first."""
        order = np.lexsort((self.first, -self.sizes))  # equal sizes by their first item, as `numbered_by_size` has it
        return order[: np.count_nonzero(self.sizes)]


def owners_of(
    own: PreparedItems, part_of: PartOfGroupings, n_sampled: int, before: Int[np.ndarray, " partitions"]
) -> Owners:
    """Return what `fusing.owners` numbers, by the most probable cluster; without clusters, the parts themselves.

    before : number of items in the partitions before each.
    """
    part, n_parts = parts_of_items(own.layout, part_of), int(part_of.max(initial=0)) + 1
    n_clusters = max(own.probability.shape[1], 1)
    owner = fusing.owners(own.probability, part) if own.probability.shape[1] else part
    position = np.where(own.place == OTHER, n_sampled + before[own.number] + np.arange(len(part)), own.place)
    first = np.full(n_parts * n_clusters, np.inf)
    np.minimum.at(first, owner, position)
    return Owners(np.bincount(owner, minlength=len(first)), first)


@dataclass(frozen=True)
class Read(Additive):
    """Sums over items: of the probabilities of the clusters found, and of those in each group."""

    shares: Float[np.ndarray, " owned"]
    counts: Float[np.ndarray, "groups owned"]


def read(own: PreparedItems, part_of: PartOfGroupings, owned: Int[np.ndarray, " owned"]) -> Read:
    """Sums over the items of a partition."""
    probability = fusing.among(own.probability, parts_of_items(own.layout, part_of), owned)
    state = GroupingMixtureState(probability.argmax(1), len(owned), np.empty(0))
    return Read(probability.sum(0), mixture.count(own.layout, state).of_groups)


def of_sample(
    own: PreparedItems, part_of: PartOfGroupings, owned: Int[np.ndarray, " owned"]
) -> tuple[Int[np.ndarray, " sampled"], Clusters]:
    """Return places and clusters of the items of the sample."""
    inside = np.flatnonzero(own.place != OTHER)
    cluster = fusing.among(own.probability, parts_of_items(own.layout, part_of), owned).argmax(1)
    return own.place[inside], cluster[inside]


# ---- sweeps


@dataclass(frozen=True)
class Spread:
    """Clusters of items in partitions, and what is known of all.

    parts : of `PreparedItems`.
    state : of the mixture, without items.
    counts : of all items.
    """

    parts: Parts
    state: GroupingMixtureState
    counts: GroupingCounts


@dataclass(frozen=True)
class SubsetFusionSweeps:
    """The mixture over partitions.

    nothing : layout without items.
    n_items : number of items in some grouping.
    n_sampled : number of these in the sample.
    """

    nothing: GroupingLayout
    n_items: int
    n_sampled: int

    def begun(self, parts: Parts, start: GroupingMixtureState, counts: GroupingCounts) -> Spread:
        """Begin with a state of the items of the sample, and its counts."""
        own = parts.map(begun, start, counts)
        total = own.total(count_part, start.n_clusters)
        return Spread(own, replace(start, cluster=NO_ITEMS), total.counts)

    def step(self, spread: Spread, draws: Draws) -> Spread:
        """Return the state after `mixture.sweep`."""
        before = spread.state
        own = spread.parts.map(sweep_part, spread.counts, before.concentration, draws)
        total = own.total(count_part, before.n_clusters)
        spread.parts.forget()
        state = replace(
            before,
            log_pseudo_likelihood=total.log_pseudo_likelihood,
            restless=total.n_elsewhere / self.n_items,
            n_sweeps=before.n_sweeps + 1,
        )
        if state.n_sweeps % mixture.LEARN_EVERY == 0:
            state = mixture.learn_concentration(self.nothing, state, total.counts)
        return Spread(own, state, total.counts)

    def occupied(self, spread: Spread) -> Spread:
        """Return the state without empty clusters."""
        owned = spread.counts.of_clusters > 0
        if owned.all():
            return spread
        number = np.cumsum(owned) - 1
        own = spread.parts.map(renumber_part, number)
        spread.parts.forget()
        counts = GroupingCounts(*(each[..., owned] for each in vars(spread.counts).values()))
        return Spread(own, replace(spread.state, n_clusters=int(owned.sum())), counts)

    def sampled(self, spread: Spread, moving: Draws, chance: Draws, *, kept: bool) -> Spread:
        """Draw clusters once, as `mixture.sample` does, and add the probabilities if they are to be kept."""
        own = spread.parts.map(sample_part, spread.counts, spread.state.concentration, moving, chance, float(kept))
        total = own.total(count_part, spread.state.n_clusters)
        spread.parts.forget()
        return Spread(own, spread.state, total.counts)
