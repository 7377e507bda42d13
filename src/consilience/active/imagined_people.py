"""People for a study that has not begun: as a pilot shows them, or as they are imagined.

They sort by a common map (`consilience.simulation.MapPopulation`), and what is not known of them is chosen so that two
of them agree as much as two of the pilot, or as much as was guessed.

Of a pilot, people make the numbers of groups that its people made. The map is the classical scaling of the shares in
which two items were put together, each with one more judgement, a forecast by their clusters
(`SubsetFusion.forecast_same`), for pairs that few people saw.
Imagined people sort items in clusters that are as far apart as `SEPARATION` says. The numbers of groups that they would
make of all items vary by `SPREAD` of their mean, as in recorded free sorts of a dozen items and more, and the mean is
the number of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.annotations.judgement_counts import counts_of_pairs
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.metrics.agreement import mean_agreement
from consilience.simulation import MapPopulation, gaussian_clusters, present

SPREAD = 0.3  # standard deviation of people's numbers of groups, as a share of their mean
SEPARATION = 4.0  # of the clusters that imagined people sort, see `gaussian_clusters`
MOST_DIMS = 32  # of a map
MOST_ITEMS = 3000  # whose pairs are all held in memory
PILOT_SIZE = 0.75  # share of the largest grouping's items with which a grouping tells how many groups people make
N_COMPARED = 40, 200  # fewest and most simulated people whose agreement is compared with that of people
NOISES = 0.01, 10.0
LEAST_NOISE = 0.015  # below which people would agree more if there were less of it, but there is none
N_HALVINGS = 10  # of the range of the logarithm of the noise


def people_of(pilot: Groupings, rng: np.random.Generator) -> MapPopulation:
    """Return people like those of a pilot, who sort the same items.

    Raises InputError: there are too many items, or no two annotators grouped the same two items.
    """
    if pilot.n_items > MOST_ITEMS:
        raise InputError(
            f"A pilot may have at most {MOST_ITEMS:,} items, whose pairs are all held in memory. Got {pilot.n_items:,}."
        )
    agreement = mean_agreement(pilot)
    if np.isnan(agreement):
        raise InputError(
            "The pilot does not tell how far people agree: no two annotators grouped the same two items. Give the "
            "number of items, the numbers of groups and the agreement instead."
        )
    sizes = np.bincount(pilot.grouping_of_group, pilot.incidence.sum(0), pilot.n_groupings)
    n_groups = np.bincount(pilot.grouping_of_group, minlength=pilot.n_groupings)
    told = sizes >= PILOT_SIZE * sizes.max()
    coordinates = pd.DataFrame(map_of(pilot, rng), index=pilot.items)
    size = int(sizes.max())
    return _agreeing(coordinates, n_groups[told], size, agreement, _subsets_of(pilot), rng)


def imagined_people(n_items: int, *, n_clusters: int, agreement: float, rng: np.random.Generator) -> MapPopulation:
    """Return people who agree as far as is guessed.

    n_clusters : number of clusters, and mean number of groups that a person would make of all items.
    agreement : adjusted Rand index of two people's groupings, in (0, 1).
    rng : numpy Generator
    """
    task = gaussian_clusters(n_items, n_clusters=n_clusters, separation=SEPARATION, random_state=rng)
    everything = [list(range(n_items))]
    deviations = rng.standard_normal(N_COMPARED[1])
    for spread in SPREAD * np.array([1.0, 0.5, 0.25, 0.0]):  # people who agree much make similar numbers of groups
        counts = np.clip(np.round(n_clusters * (1 + spread * deviations)), 2, n_items).astype(int)
        people = _agreeing(task.data, counts, n_items, agreement, everything, rng)
        if people.noise > LEAST_NOISE:
            break
    return people


def map_of(pilot: Groupings, rng: np.random.Generator) -> Float[np.ndarray, "items dims"]:
    """Return places of items, near each other if people put them together."""
    centred = _together(pilot, rng)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    kept = np.argsort(values)[::-1][:MOST_DIMS]
    kept = kept[values[kept] > 1e-9 * values.max()]
    return vectors[:, kept] * np.sqrt(values[kept])


def _together(pilot: Groupings, rng: np.random.Generator) -> Float[np.ndarray, "items items"]:
    """Return the probability that a person puts two items together: the counts, and a forecast that counts as one."""
    fusion = SubsetFusion(random_state=int(rng.integers(2**31))).fit(pilot)
    a, b = np.triu_indices(pilot.n_items, 1)
    counts = counts_of_pairs(pilot, a, b)
    forecast = fusion.forecast_same(pilot.items[a], pilot.items[b])
    together = np.eye(pilot.n_items)
    # one imagined judgement of each pair, as forecast
    together[a, b] = together[b, a] = (counts.together + forecast) / (counts.judged + 1)
    return together


def _agreeing(
    coordinates: pd.DataFrame,
    n_groups: Int[np.ndarray, " counts"],
    size: int,
    agreement: float,
    subsets: list[list[Any]],
    rng: np.random.Generator,
) -> MapPopulation:
    """Return a population whose people agree as far as told about some subsets."""
    seed = int(rng.integers(2**31))
    n_people = int(np.clip(len(subsets), *N_COMPARED))
    shown = [subsets[number % len(subsets)] for number in range(n_people)]

    def people(noise: float, random_state: Any = seed) -> MapPopulation:
        return MapPopulation(coordinates, noise=noise, n_groups=n_groups.tolist(), size=size, random_state=random_state)

    def agreed(noise: float) -> float:
        population = people(noise)  # the same errors, scaled
        agents = [population.draw() for _ in range(n_people)]
        return mean_agreement(present(agents, shown, items=coordinates.index))

    return people(_noise_for(agreed, agreement), rng)


def _noise_for(agreed: Callable[[float], float], agreement: float) -> float:
    """Return the noise with which people agree as far as told, by halving the range of its logarithm."""
    low, high = NOISES
    for _ in range(N_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if agreed(middle) > agreement else (low, middle)
    return float(np.sqrt(low * high))


def _subsets_of(pilot: Groupings) -> list[list[Any]]:
    """Return the items of each grouping."""
    columns = pilot.incidence.tocsc()
    ends = np.cumsum(np.bincount(pilot.grouping_of_group, minlength=pilot.n_groupings))
    bounds = columns.indptr[np.concatenate([[0], ends])]
    return [pilot.items[columns.indices[start:stop]].tolist() for start, stop in pairwise(bounds)]
