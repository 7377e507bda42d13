"""When to stop asking: how much the consensus still changes, and how many groupings it would take.

The paper's index (section 5.1) is the mutual information of two consecutive consensus clusterings. It cannot tell a
consensus that has settled from one that hardly any new grouping touched, so that the reliability is told beside it: the
agreement of two consensus clusterings, each of a random half of the groupings. What reliability r a number of groupings
times f would have is Spearman and Brown's prophecy, f r / (1 + (f − 1) r), so that a target R takes

    f = R (1 − r) / (r (1 − R))

times as many groupings (C. Spearman 1910, W. Brown 1910, British Journal of Psychology 3). It is exact for sums of
equally good answers; of clusterings it is an estimate, whose error `docs/models/active.rst` measures.
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
from consilience.metrics.clusterings import nmi


@dataclass(frozen=True)
class Decision:
    """Whether to stop, and why: true if one should stop.

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
    """How many groupings a reliability takes.

    Attributes
    ----------
    reliability : float
        Of the consensus of all groupings so far.
    target : float
    groupings : float
        Groupings needed in all; infinite where halves do not agree at all.
    more : float
        Of these, those still to come.
    per_item : float
        Groupings that hold an item, at `groupings`, on average.
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
    """One consensus of a session: of how much, and how it agrees with the one before it.

    n_groupings, n_memberships : told until then.
    n_clusters : found.
    stability : normalised mutual information with the consensus before, NaN in the first round.
    """

    n_groupings: int
    n_memberships: int
    n_clusters: int
    stability: float


def decide(stability: pd.Series, *, tolerance: float, patience: int, floor: float) -> Decision:
    """Stop when stability has changed little for some rounds and is high.

    Parameters
    ----------
    stability : of each round, the first NaN.
    tolerance : largest change between consecutive rounds.
    patience : rounds that must have changed so little.
    floor : least stability.

    Returns
    -------
    Decision
    """
    values = stability.dropna().to_numpy()
    if len(values) <= patience:
        return Decision(False, f"There are {len(values)} rounds to compare; it takes {patience + 1}.")
    last = values[-(patience + 1) :]
    change = float(np.abs(np.diff(last)).max())
    if change > tolerance:
        return Decision(False, f"Stability changed by up to {change:.3f} in the last {patience} rounds.")
    if last.min() < floor:
        return Decision(False, f"Stability is steady, but as low as {last.min():.3f}; the floor is {floor:g}.")
    return Decision(
        True,
        f"Stability has been {last.min():.3f} or more for {patience + 1} rounds, changing by at most {change:.3f}.",
    )


def split_half_reliability(
    groupings: Groupings, fuse: Callable[[Groupings], np.ndarray], *, n_splits: int, rng: np.random.Generator
) -> float:
    """Reliability of the consensus of all groupings, from the agreement of random halves.

    Parameters
    ----------
    groupings : at least two.
    fuse : groupings → cluster of each item, -1 for items that none holds.
    n_splits : random halvings, whose agreement (NMI over items that both halves hold) is averaged.
    rng : numpy Generator

    Returns
    -------
    float
        The mean agreement of halves, stepped up to the whole length by Spearman and Brown.
    """
    agreements = []
    for _ in range(n_splits):
        order = rng.permutation(groupings.n_groupings)
        one, other = (fuse(only(groupings, half)) for half in np.array_split(order, 2))
        both = (one >= 0) & (other >= 0)
        agreements.append(nmi(one[both], other[both]) if both.any() else 0.0)
    return lengthened(float(np.mean(agreements)), 2.0)


def require_items(half: Groupings, n_clusters: Any, n_groupings: int) -> None:
    """Raise an InputError if a half of the groupings holds fewer items than clusters are to be found in it.

    Parameters
    ----------
    half : half of the groupings
    n_clusters : "auto", or how many the fusion is to find
    n_groupings : in both halves
    """
    n_held = np.count_nonzero(np.diff(half.incidence.indptr))
    if n_clusters != "auto" and n_clusters > n_held:
        raise InputError(
            f"The fusion is to find {n_clusters} clusters, and a half of the {n_groupings} groupings told holds only "
            f"{n_held} items: tell more groupings before asking how many are needed."
        )


def forecast(groupings: Groupings, reliability: float, target: float, *, n_items: int) -> Forecast:
    """How many groupings a target takes.

    Parameters
    ----------
    groupings : told so far
    reliability : of their consensus
    target : reliability wanted, in (0, 1)
    n_items : all there are, whether or not a grouping holds them
    """
    needed = factor_for(reliability, target) * groupings.n_groupings
    return Forecast(
        reliability=reliability,
        target=target,
        groupings=needed,
        more=max(needed - groupings.n_groupings, 0.0),
        per_item=needed * groupings.n_rows / groupings.n_groupings / n_items,
    )


def lengthened(reliability: float, factor: float) -> float:
    """Reliability of a number of groupings times `factor`, by Spearman and Brown."""
    return factor * reliability / (1 + (factor - 1) * reliability)


def factor_for(reliability: float, target: float) -> float:
    """Times as many groupings that a target takes, by Spearman and Brown; infinite where reliability is 0."""
    if reliability <= 0:
        return np.inf
    if reliability >= 1:
        return 0.0
    return target * (1 - reliability) / (reliability * (1 - target))


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
