"""When to stop collecting: how reliable the consensus is, how much it still changes, and how many groupings it needs.

The paper's index of stability (section 5.1) is the mutual information of two consecutive consensus clusterings. It does
not distinguish a consensus that has settled from one that hardly any new grouping concerned, so the reliability is
estimated too: the agreement of two consensus clusterings, each from a random half of the groupings. With f times as
many groupings, the odds of a reliability r would be multiplied by a power of f,

    r_f / (1 − r_f) = f^2.5 r / (1 − r)

so a target R needs f = (R (1 − r) / (r (1 − R)))^0.4 times as many.

Decided here
------------
The prophecy formula of C. Spearman and W. Brown (1910, British Journal of Psychology 3) has the exponent 1. It holds
for sums of equally good answers. But most of the evidence that two items belong together is indirect, through third
items that were sorted with each, and f times as many groupings have f² times as many of these; besides, a clustering
emerges suddenly. On simulated crowds, exponents of 1 and 1.5 forecast up to twice as many groupings as it took and
more, and 2 about twice as many in easy crowds. To learn it from the agreement of quarters was worse: they agree too
little for a slope. Halves are compared by mutual information adjusted
for chance, since clusterings into many small clusters, which are found while there are few groupings, agree by chance
alone. How far both can be trusted is measured by `benchmarks/stopping.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations import Groupings
from consilience.annotations.display import facts
from consilience.annotations.names import inverse
from consilience.errors import InputError
from consilience.inference.reweighted import say_few_people
from consilience.metrics.clusterings import ami

GROWTH = 2.5  # the odds of a reliability grow with this power of the number of groupings


@dataclass(frozen=True)
class Decision:
    """Whether to stop, and why; true if it is time to stop.

    Attributes
    ----------
    stop : bool
    reason : str
        One sentence.
    """

    stop: bool
    reason: str

    def __bool__(self) -> bool:
        return self.stop

    def _repr_html_(self) -> str:
        return facts("", {"stop": "yes" if self.stop else "no", "reason": self.reason})


@dataclass(frozen=True)
class Forecast:
    """How many groupings a target reliability needs.

    Attributes
    ----------
    reliability : float
        Reliability of the consensus of all groupings so far.
    target : float
    groupings : float
        Number of groupings needed in total; infinite if halves do not agree at all.
    more : float
        How many of these are still missing.
    per_item : float
        Mean number of groupings that would hold an item then.
    """

    reliability: float
    target: float
    groupings: float
    more: float
    per_item: float

    def _repr_html_(self) -> str:
        return facts("", {field.name.replace("_", " "): getattr(self, field.name) for field in fields(self)})


@dataclass(frozen=True)
class Round:
    """One consensus of a session: its size, and its agreement with the previous one.

    n_groupings, n_memberships : numbers that it was fitted to.
    n_clusters : number of clusters found.
    stability : normalised mutual information with the previous consensus, NaN in the first round.
    """

    n_groupings: int
    n_memberships: int
    n_clusters: int
    stability: float


def decide(stability: pd.Series, *, tolerance: float, patience: int, floor: float) -> Decision:
    """Decide to stop when stability is high and has fallen little for some rounds.

    stability : stability of each round, NaN in the first.
    tolerance : largest fall between consecutive rounds.
    patience : number of rounds whose change must be so small.
    floor : lowest stability allowed.
    """
    values = stability.dropna().to_numpy()
    if len(values) <= patience:
        return Decision(False, f"There are {len(values)} rounds to compare; {patience + 1} are needed.")
    last = values[-(patience + 1) :]
    fall = max(0.0, float(-np.diff(last).min()))
    if fall > tolerance:
        return Decision(False, f"Stability fell by up to {fall:.3f} in the last {patience} rounds.")
    if last.min() < floor:
        return Decision(False, f"Stability is steady but only {last.min():.3f}; {floor:g} is wanted.")
    return Decision(
        True, f"Stability has been {last.min():.3f} or more for {patience + 1} rounds, falling by at most {fall:.3f}."
    )


def decide_by_reliability(reliability: float, *, floor: float, n_people: int) -> Decision:
    """Decide to stop when the consensus of all groupings is reliable enough, and of enough people."""
    if reliability < floor:
        return Decision(False, f"Reliability is {reliability:.3f}; {floor:g} is wanted.")
    few = say_few_people(n_people)
    reached = f"Reliability is {reliability:.3f}, at least {floor:g}."
    return Decision(not few, f"{reached} But {few}" if few else reached)


def split_half_reliability(
    groupings: Groupings, fuse: Callable[[Groupings], np.ndarray], *, n_splits: int, rng: np.random.Generator
) -> float:
    """Return the reliability of the consensus of all groupings, from the agreement of random halves.

    groupings : at least two.
    fuse : function from groupings to the cluster of each item, -1 for items in none of them.
    n_splits : number of random splits, whose agreement (adjusted mutual information over the items in both halves) is
        averaged.
    rng : numpy Generator

    Returns the mean agreement of halves, at least 0, extrapolated to all groupings.
    """
    agreements = []
    for _ in range(n_splits):
        order = rng.permutation(groupings.n_groupings)
        one, other = (fuse(only(groupings, half)) for half in np.array_split(order, 2))
        both = (one >= 0) & (other >= 0)
        agreements.append(ami(one[both], other[both]) if both.any() else 0.0)
    return lengthen_reliability(max(float(np.mean(agreements)), 0.0), 2.0)  # from half the groupings to all


def require_items(half: Groupings, n_clusters: Any, n_groupings: int) -> None:
    """Raise an InputError if a half of the groupings holds fewer items than the clusters to be found in it.

    half : half of the groupings
    n_clusters : "auto", or the number that the fusion must find
    n_groupings : number of groupings in both halves
    """
    n_held = np.count_nonzero(np.diff(half.incidence.indptr))
    if n_clusters != "auto" and n_clusters > n_held:
        raise InputError(
            f"The fusion must find {n_clusters} clusters, but a half of the {n_groupings} groupings holds only "
            f"{n_held} items: add more groupings before asking how many are needed."
        )


def forecast(groupings: Groupings, reliability: float, target: float, *, n_items: int) -> Forecast:
    """Estimate how many groupings a target reliability needs.

    groupings : all groupings so far
    reliability : reliability of their consensus
    target : target reliability, in (0, 1)
    n_items : number of all items, whether or not they are in a grouping
    """
    needed = factor_for(reliability, target) * groupings.n_groupings
    return Forecast(
        reliability=reliability,
        target=target,
        groupings=needed,
        more=max(needed - groupings.n_groupings, 0.0),
        per_item=needed * groupings.n_rows / groupings.n_groupings / n_items,
    )


def lengthen_reliability(reliability: float, factor: float) -> float:
    """Return the reliability of `factor` times as many groupings."""
    more = factor**GROWTH
    return more * reliability / (1 + (more - 1) * reliability)


def factor_for(reliability: float, target: float) -> float:
    """Return the factor in the number of groupings that a target needs; infinite if the reliability is 0."""
    if reliability <= 0:
        return np.inf
    if reliability >= 1:
        return 0.0
    return float((target * (1 - reliability) / (reliability * (1 - target))) ** (1 / GROWTH))


def only(groupings: Groupings, chosen: Int[np.ndarray, " chosen"]) -> Groupings:
    """Return some of the groupings, of the same items and annotators."""
    chosen = np.sort(chosen)
    place = inverse(chosen, groupings.n_groupings)[groupings.grouping_of_group]
    kept = np.flatnonzero(place >= 0)
    return replace(
        groupings,
        incidence=groupings.incidence[:, kept],
        grouping_of_group=place[kept],
        annotator_of_grouping=groupings.annotator_of_grouping[chosen],
        grouping_names=groupings.grouping_names[chosen],
        group_names=groupings.group_names[kept],
    )
