"""How many people a study needs: simulations of it with people like a pilot's, or as they are imagined.

Each simulation is of two studies of one size by different people, and asks how far their consensus clusterings agree:
the adjusted mutual information of the items that both hold. That is what `ActiveSession` calls reliability, measured
instead of extrapolated. Numbers of people grow by factors of √2, until the agreement has reached its target twice.

The mean agreement of each number of people, smoothed by the closest curve that never falls, gives the number at which
it reaches the target, by interpolation between logarithms. How far forecasts are off is measured by
`benchmarks/planning.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import isotonic_regression

from consilience.active.imagined_people import MOST_ITEMS, imagined_people, people_of
from consilience.annotations.display import facts
from consilience.annotations.display import table as as_html
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.types import AnnotationsLike, Integer, RandomSource, Real
from consilience.consensus import SubsetFusion
from consilience.errors import InputError, UnannotatedWarning
from consilience.estimators.parameters import VERBOSE, Requirement, interval, whole
from consilience.inference.progress import counting, showing
from consilience.metrics.agreement import mean_agreement
from consilience.metrics.clusterings import ami
from consilience.simulation import MapPopulation, present, random_subsets
from consilience.simulation._checks import generator

MOST_ANNOTATORS = 10_000
INNER = 0.1, 0.9  # quantiles between which four in five studies are


@dataclass(frozen=True)
class Plan:
    """How many people, and groupings by them, a study needs.

    Attributes
    ----------
    target : float
        Agreement of the consensus with that of a second study of the same size, by other people, that is wanted.
    annotators : float
        How many people that takes on average; infinite if the largest number that was tried does not.
    groupings : float
        How many groupings they make.
    groupings_per_item : float
        How many of these hold an item on average.
    subset_size, subsets_each : int
        Number of items that are sorted at a time, and how often each person sorts.
    agreement : float
        Adjusted Rand index of two people's groupings, of the pilot or as guessed.
    table : DataFrame, one row per number of annotators tried, which is its index
        groupings, groupings_per_item, `agreement` (mean over the simulations), `low` and `high` (in four of five
        simulations it was between them), `n_clusters` (mean number found) and `covered` (share of the items that a
        study held).
    """

    target: float
    annotators: float
    groupings: float
    groupings_per_item: float
    subset_size: int
    subsets_each: int
    agreement: float
    table: pd.DataFrame

    def _repr_html_(self) -> str:
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "table"}
        rows = [(str(number), *row) for number, row in zip(self.table.index, self.table.round(2).to_numpy().tolist())]
        head = ["people", *(name.replace("_", " ") for name in self.table.columns)]
        return facts("", {name.replace("_", " "): value for name, value in own.items()}) + as_html("", head, rows)


def plan(
    n_items: Integer | None = None,
    *,
    n_clusters: Integer | None = None,
    agreement: Real | None = None,
    pilot: AnnotationsLike | None = None,
    subset_size: Integer | None = None,
    subsets_each: Integer = 1,
    target: Real = 0.8,
    max_annotators: Integer = 300,
    n_draws: Integer = 10,
    model: Any = None,
    random_state: RandomSource = None,
    verbose: int = 0,
) -> Plan:
    """Find by simulation how many people a study of groupings needs, for a consensus that others would repeat.

    Tell either a pilot, whose people and items are taken as they are, or the number of items and how you imagine
    people: how many groups they would make of all items, and how far two of them would agree.

    Parameters
    ----------
    n_items : int, optional
        Number of items, if there is no pilot.
    n_clusters : int, optional
        Number of groups that a person would make of all items on average, if there is no pilot.
    agreement : float, optional
        Adjusted Rand index of two people's groupings, in (0, 1), if there is no pilot. Card sorts of ordinary things
        have .3 to .5, free sorts of smells and tastes .1 to .3.
    pilot : Groupings, Labels, or array of shape (n_items, n_annotators), optional
        What the first people said. Half a dozen of people tell little: see the documentation for how far forecasts
        were off.
    subset_size : int, optional
        Number of items that are sorted at a time. By default all, or as many as at most in the pilot.
    subsets_each : int, default=1
        How many subsets each person sorts.
    target : float, default=0.8
        Wanted agreement with the consensus of a second study by other people, in (0, 1): adjusted mutual information.
    max_annotators : int, default=300
        Largest number of people to try.
    n_draws : int, default=10
        Number of simulations of each number of people.
    model : estimator, optional
        The consensus model of groupings that will be used, by default `SubsetFusion`.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.
    verbose : int, default=0
        Whether to show a progress bar.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        A parameter is wrong, both a pilot and guesses are given or neither, the pilot does not tell how far people
        agree, or its people sorted fewer items at a time than `subset_size`.

    Examples
    --------
    >>> from consilience.active import plan
    >>> needed = plan(12, n_clusters=3, agreement=0.5, n_draws=2, random_state=0)
    >>> 4 < needed.annotators < 30
    True
    >>> bool(needed.table["agreement"].iloc[-1] > 0.8)
    True
    """
    _require(locals())
    rng = generator(random_state)
    if pilot is not None:
        pilot = as_groupings(pilot, None, "plan")
        crowds, agreement = [people_of(pilot, rng)], mean_agreement(pilot)
    most: Any = n_items if pilot is None else crowds[0].size
    size = most if subset_size is None else int(subset_size)
    if size > most:  # before people are imagined, which takes seconds
        raise InputError(
            f"The 'subset_size' parameter of plan must be at most {most}, "
            f"{'the number of items' if pilot is None else 'which people of the pilot sorted at a time'}: how many "
            f"groups they make of more is not known. Got {size} instead."
        )
    if pilot is None:
        told: dict[str, Any] = {"n_clusters": n_clusters, "agreement": agreement}
        crowds = [imagined_people(n_items, **told, rng=rng) for _ in range(n_draws)]  # type: ignore[arg-type]
    design = _Design(crowds, size, int(subsets_each), SubsetFusion() if model is None else model)
    with showing("plan", shown=bool(verbose)):
        table = _curve(design, target, int(max_annotators), int(n_draws), rng)
    annotators = find_crossing(table.index.to_numpy(), table["agreement"].to_numpy(), target)
    groupings = annotators * design.subsets_each
    return Plan(
        target=float(target),
        annotators=annotators,
        groupings=groupings,
        groupings_per_item=groupings * size / design.n_items,
        subset_size=size,
        subsets_each=design.subsets_each,
        agreement=float(agreement),  # type: ignore[arg-type]
        table=table,
    )


@dataclass(frozen=True)
class _Design:
    """A study: who sorts how many items how often, and the model of the consensus.

    Simulations take turns with several crowds, of different items, where these are imagined.
    """

    crowds: list[MapPopulation]
    size: int
    subsets_each: int
    model: BaseEstimator

    @property
    def n_items(self) -> int:
        return len(self.crowds[0].items)

    def consensus(
        self, people: MapPopulation, n_annotators: int, rng: np.random.Generator
    ) -> Int[np.ndarray, " items"]:
        """Simulate a study, and return the cluster of each item, -1 for those in no grouping."""
        agents = [people.draw() for _ in range(n_annotators)]
        subsets = random_subsets(people.items, self.size, n_annotators * self.subsets_each, random_state=rng)
        groupings = present(agents, subsets, items=people.items)
        model = clone(self.model)
        if "random_state" in model.get_params():
            model.set_params(random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnannotatedWarning)  # items in no subset are counted in `covered`
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = np.asarray(model.fit(groupings).labels_)
        seen = np.diff(groupings.incidence.indptr) > 0
        return np.where(seen, labels, -1)

    def simulate(self, n_annotators: int, draw: int, rng: np.random.Generator) -> tuple[float, float, float]:
        """Return the agreement of two studies, and the mean number of clusters and share of items of both."""
        people = self.crowds[draw % len(self.crowds)]
        one, other = (self.consensus(people, n_annotators, rng) for _ in range(2))
        both = (one >= 0) & (other >= 0)
        agreement = ami(one[both], other[both]) if both.sum() > 1 else 0.0
        n_clusters = np.mean([len(np.unique(labels[labels >= 0])) for labels in (one, other)])
        return agreement, float(n_clusters), float(np.mean([one >= 0, other >= 0]))


def _curve(design: _Design, target: float, most: int, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate studies of more and more people, until their agreement has reached the target twice."""
    least = min(max(2, round(design.n_items / (design.size * design.subsets_each))), most)  # each item once on average
    numbers = list(_numbers(least, most))
    rows = []
    with counting("simulations", len(numbers) * n_draws) as simulations:
        for n_annotators in numbers:
            found = np.empty((n_draws, 3))
            for draw in range(n_draws):
                found[draw] = design.simulate(n_annotators, draw, rng)
                simulations.update()
            rows.append(_row(n_annotators, found, design))
            if sum(row["agreement"] >= target for row in rows[-2:]) == 2:  # once may be luck
                break
    return pd.DataFrame(rows).set_index("annotators")


def _row(n_annotators: int, found: Float[np.ndarray, "draws 3"], design: _Design) -> dict[str, Any]:
    groupings = n_annotators * design.subsets_each
    low, high = np.quantile(found[:, 0], INNER)
    mean, n_clusters, covered = found.mean(axis=0)
    return {
        "annotators": n_annotators,
        "groupings": groupings,
        "groupings_per_item": groupings * design.size / design.n_items,
        "agreement": mean,
        "low": low,
        "high": high,
        "n_clusters": n_clusters,
        "covered": covered,
    }


def _numbers(least: int, most: int) -> Iterator[int]:
    """Yield numbers from the least to the most, each about √2 times the one before."""
    exact, last = float(least), 0
    while exact < most:
        if round(exact) > last:
            last = round(exact)
            yield last
        exact *= np.sqrt(2)
    yield most


def find_crossing(numbers: Int[np.ndarray, " sizes"], agreements: Float[np.ndarray, " sizes"], target: float) -> float:
    """Return the number at which the closest curve that never falls reaches a target; infinite if it does not."""
    curve = isotonic_regression(agreements)
    if curve[-1] < target:
        return np.inf
    place = int(np.argmax(curve >= target))
    if place == 0:
        return float(numbers[0])
    share = (target - curve[place - 1]) / (curve[place] - curve[place - 1])
    return float(np.exp(np.log(numbers[place - 1 : place + 1]) @ [1 - share, share]))


_SHARE = interval(0, 1, "neither")
_REQUIREMENTS = {
    "subset_size": whole(2) | Requirement(("None",), lambda value: value is None),
    "subsets_each": whole(1, 1000),
    "target": _SHARE,
    "max_annotators": whole(2, MOST_ANNOTATORS),
    "n_draws": whole(1, 1000),
    "model": Requirement(("an estimator", "None"), lambda value: value is None or hasattr(value, "fit")),
    "verbose": VERBOSE,
}
_GUESSES = {"n_items": whole(3, MOST_ITEMS), "n_clusters": whole(2), "agreement": _SHARE}


def _require(given: dict[str, Any]) -> None:
    """Raise an InputError unless the parameters are right, and either a pilot or all guesses are among them."""
    pilot, told = given["pilot"], [name for name in _GUESSES if given[name] is not None]
    if pilot is not None and told:
        raise InputError(f"The 'pilot' of plan tells the '{told[0]}' too. Give only one of them.")
    for name, requirement in (_REQUIREMENTS | ({} if pilot is not None else _GUESSES)).items():
        if not requirement.holds(given[name]):
            instead = ", or a 'pilot' be given" if name in _GUESSES and given[name] is None else ""
            raise InputError(
                f"The '{name}' parameter of plan must be {requirement.expected}{instead}. Got {given[name]!r} instead."
            )
    if pilot is None and given["n_clusters"] > given["n_items"]:
        raise InputError(
            f"The 'n_clusters' parameter of plan must be at most {given['n_items']}, the number of items. Got "
            f"{given['n_clusters']} instead."
        )
