"""From states of the mixture of groupings on a sample to the clusters of all items: settle, then draw.

Each state of the search is tried in turn: unless the sample has all items, sweeps settle it on all of them; then
clusters are drawn at random, and their probabilities averaged, as in `grouping_mixture.probabilities`. The first state
whose items end up in more than one cluster is kept. A checkpoint holds the walk after each sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.grouping_mixture import GroupingCounts, GroupingLayout, GroupingMixtureState
from consilience.inference.parts import Parts
from consilience.partitions.engine.item_rows import Arrays
from consilience.partitions.models.subset_fusion_sweeps import Draws, PreparedItems, Spread, SubsetFusionSweeps

DRAWS = mixture.BURN_IN + mixture.SAMPLES


@dataclass(frozen=True)
class Place:
    """How far the walk has come.

    spread : clusters of all items.
    number : of the state that is tried; how many there are once all were tried in vain.
    generator : state of the generator of the items of the sample.
    drawn_from : counts from which each draw that is kept was drawn.
    n_settling, n_draws : sweeps so far.
    """

    spread: Spread
    number: int
    generator: dict[str, Any]
    drawn_from: tuple[GroupingCounts, ...] = ()
    n_settling: int = 0
    n_draws: int = 0
    is_settled: bool = False
    is_over: bool = False


@dataclass(frozen=True)
class Walk:
    """The walk of one fit.

    over, parts : the mixture over partitions, and parts of `Own` without clusters.
    layout : of the sample.
    ends : states of the sample, the best first.
    owned : the clusters that own items.
    """

    over: SubsetFusionSweeps
    parts: Parts
    layout: GroupingLayout
    ends: list[GroupingMixtureState]
    owned: Callable[[Spread], Int[np.ndarray, " owned"]]

    def start(self, number: int, generator: dict[str, Any]) -> Place:
        """Begin with a state."""
        end = self.ends[number]
        spread = self.over.begun(self.parts, end, mixture.count(self.layout, end))
        return Place(spread, number, generator, is_settled=self.over.n_items == self.over.n_sampled)

    def step(self, place: Place) -> Place:
        """Sweep once."""
        rng = generator_at(place.generator)
        now = self.drawing(place, rng) if place.is_settled else self.settling(place, rng)
        return replace(now, generator=state_of(rng))

    def settling(self, place: Place, rng: np.random.Generator) -> Place:
        """Move items, as `mixture.settle` does, and drop empty clusters in the end."""
        draws = Draws(rng.random(self.over.n_sampled), (key_of(place), place.n_settling))
        spread, n = self.over.step(place.spread, draws), place.n_settling + 1
        rests = spread.state.restless < mixture.REST and n >= mixture.FEWEST_SWEEPS
        if not (rests or n == mixture.MOST_SWEEPS):
            return replace(place, spread=spread, n_settling=n)
        return replace(place, spread=self.over.occupied(spread), n_settling=n, is_settled=True)

    def drawing(self, place: Place, rng: np.random.Generator) -> Place:
        """Draw clusters; after the last draw, keep them or try the next state."""
        moving = rng.random(self.over.n_sampled)
        chance = np.zeros(self.over.n_sampled)
        chance[moving < 0.5] = rng.random(np.count_nonzero(moving < 0.5))
        key, kept = (key_of(place), place.n_settling + place.n_draws), place.n_draws >= mixture.BURN_IN
        drawn_from = (*place.drawn_from, place.spread.counts) if kept else ()
        spread = self.over.sampled(place.spread, Draws(moving, (*key, 0)), Draws(chance, (*key, 1)), kept=kept)
        now = replace(place, spread=spread, drawn_from=drawn_from, n_draws=place.n_draws + 1)
        if now.n_draws < DRAWS:
            return now
        if len(self.owned(spread)) > 1:
            return replace(now, is_over=True)
        if place.number + 1 == len(self.ends):
            return replace(now, number=len(self.ends), is_over=True)
        spread.parts.forget()
        return self.start(place.number + 1, state_of(rng))

    def settled(self, number: int, generator: dict[str, Any]) -> Spread:
        """Return a state as it settles on all items, without draws."""
        place = self.start(number, generator)
        while not place.is_settled:
            place = self.step(place)
        return place.spread


def rows_of(own: PreparedItems) -> Arrays:
    """Return the rows of the items of a partition."""
    return {"cluster": own.cluster, "probability": own.probability}


def with_rows(own: PreparedItems, rows: Arrays) -> PreparedItems:
    """Return the items with these rows."""
    return replace(own, cluster=rows["cluster"], probability=rows["probability"])


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    return deepcopy(dict(rng.bit_generator.state))


def generator_at(state: dict[str, Any]) -> np.random.Generator:
    """Return a generator in this state."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng


def key_of(place: Place) -> int:
    """Key of the items outside the sample in this sweep, which does not move the generator of those inside."""
    return int(generator_at(place.generator).integers(2**63))
