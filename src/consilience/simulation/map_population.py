"""Simulated people who sort items by their places on a map that all share, and that each perceives with errors.

A person p perceives the place of item i as

    z_pi = y_i + ε_pi,    ε_pi ~ N(0, ν² I / d)

with the map scaled so that places have mean 0 and mean squared length 1; d is its number of dimensions, and ν the
noise. The person sorts as many items as `size` says into g_p groups, by Ward's linkage of what is perceived. Shown
fewer, the person thinks of others as well, drawn at random, and names the groups of those shown.

So people err independently, but in the same places: items far from all others are seldom misplaced, and items between
two clusters are now with one, now with the other. Errors that are independent of the items, as in `simulate_crowd`,
cancel much sooner than those of people do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import fcluster, linkage

from consilience.annotations.types import FeaturesLike, Integer, Integers, RandomSource, Real
from consilience.errors import InputError
from consilience.simulation._checks import generator, require_count
from consilience.simulation.agents import groups_of, names_of, places_of, table_of

__all__ = ["MapPopulation"]


class MapAgent:
    """One person of a `MapPopulation`: gives the same places to the items whenever they are shown."""

    def __init__(
        self,
        perceived: Float[np.ndarray, "items dims"],
        place: dict[Any, int],
        n_groups: int,
        size: int,
        rng: np.random.Generator,
    ):
        self._perceived, self._place, self._rng = perceived, place, rng
        self.n_groups, self.size = n_groups, size
        self._all: Int[np.ndarray, " items"] | None = None  # the groups of all items, once known

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset of at most `size` items."""
        names = list(items)
        shown = places_of(names, self._place, "MapPopulation")
        if len(names) > self.size:
            raise InputError(
                f"This person sorts at most {self.size} items at a time, since the number of groups is known for no "
                f"more. Got {len(names)} items."
            )
        return groups_of(names, self._groups(shown))

    def _groups(self, shown: Int[np.ndarray, " shown"]) -> Int[np.ndarray, " shown"]:
        n_items = len(self._perceived)
        if self.size == n_items:
            if self._all is None:
                self._all = self._sorted(np.arange(n_items))
            return self._all[shown]
        others = np.setdiff1d(np.arange(n_items), shown)
        thought_of = self._rng.choice(others, self.size - len(shown), replace=False)
        return self._sorted(np.concatenate([shown, thought_of]))[: len(shown)]

    def _sorted(self, places: Int[np.ndarray, " places"]) -> Int[np.ndarray, " places"]:
        if self.n_groups >= len(places):
            return np.arange(len(places))
        return fcluster(linkage(self._perceived[places], "ward"), self.n_groups, "maxclust")

    def __repr__(self) -> str:
        return f"MapAgent({len(self._perceived)} items, n_groups={self.n_groups}, size={self.size})"


class MapPopulation:
    """People who sort items by their places on a common map, which each perceives with errors.

    `draw` returns a person. A population is itself an agent: each of its answers comes from a newly drawn person.

    Parameters
    ----------
    coordinates : array or DataFrame, shape (n_items, n_dims)
        Places of the items, on any scale; items are named by the index of a DataFrame, else 0 to n_items - 1.
    noise : float
        Standard deviation of a perceived place, as a multiple of the root mean squared distance of the places from
        their mean; at least 0.
    n_groups : int or sequence of ints
        Numbers of groups that people make, all equally probable.
    size : int, optional
        Number of items that a person sorts into so many groups, by default all. More cannot be shown at a time.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same people each time.

    Raises
    ------
    InputError
        `coordinates` is not a table of finite numbers, all places are the same, or a parameter is out of range. In a
        call: an item is unknown or occurs twice, or there are more than `size`.

    Examples
    --------
    >>> from consilience.simulation import MapPopulation, gaussian_clusters, present
    >>> task = gaussian_clusters(30, n_clusters=3, random_state=0)
    >>> people = MapPopulation(task.data, noise=0.5, n_groups=[2, 3, 4], random_state=0)
    >>> people.draw()
    MapAgent(30 items, n_groups=3, size=30)
    >>> present([people.draw() for _ in range(20)], [list(range(30))] * 20, items=range(30))
    Groupings(30 items, 20 annotators, 20 groupings, 60 groups, 600 memberships)
    """

    def __init__(
        self,
        coordinates: FeaturesLike,
        *,
        noise: Real,
        n_groups: Integer | Integers,
        size: Integer | None = None,
        random_state: RandomSource = None,
    ):
        self.items = names_of(coordinates)
        places = table_of(coordinates, "coordinates", "MapPopulation")
        if not np.isfinite(places).all():
            raise InputError("The 'coordinates' parameter of MapPopulation must have no missing or infinite values.")
        centred = places - places.mean(axis=0)
        spread = np.sqrt((centred**2).sum(axis=1).mean())
        if not spread > 0:
            raise InputError("The 'coordinates' parameter of MapPopulation must have at least two different places.")
        if not (isinstance(noise, int | float) and np.isfinite(noise) and noise >= 0):
            raise InputError(f"The 'noise' parameter of MapPopulation must be a number of at least 0. Got {noise!r}.")
        self.size = len(places) if size is None else size
        require_count("size", self.size, "MapPopulation", at_most=len(places))
        self.noise = float(noise)
        self.n_groups = _counts(n_groups)
        self._places = centred / spread
        self._place = {name: place for place, name in enumerate(self.items)}
        self._rng = generator(random_state)

    def draw(self) -> MapAgent:
        """Return a new person, whose errors do not depend on those of others.

        Returns
        -------
        callable ``items -> groups``
        """
        own = np.random.default_rng(self._rng.integers(2**63, size=4))
        # their length is `noise`, whatever the number of dimensions
        errors = own.standard_normal(self._places.shape) * self.noise / np.sqrt(self._places.shape[1])
        n_groups = int(own.choice(self.n_groups))
        return MapAgent(self._places + errors, self._place, n_groups, self.size, own)

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset by a newly drawn person.

        Parameters
        ----------
        items : iterable of names

        Returns
        -------
        list of lists of names
        """
        return self.draw()(items)

    def __repr__(self) -> str:
        return f"MapPopulation({len(self.items)} items, noise={self.noise:.3g}, size={self.size})"


def _counts(n_groups: Any) -> Int[np.ndarray, " counts"]:
    counts = np.atleast_1d(np.asarray(n_groups))
    if counts.ndim != 1 or len(counts) == 0 or not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1:
        raise InputError(
            "The 'n_groups' parameter of MapPopulation must be a positive int or a list of positive ints. Got "
            f"{n_groups!r} instead."
        )
    return counts
