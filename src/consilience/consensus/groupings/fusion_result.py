"""Additional results of `SubsetFusion`: its table of annotators, and notes on the limits of the evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships

DOUBTFUL = (
    "A single cluster explains the groupings as well as these do: they are too few for so many items, or contradict "
    "each other too often. The clusters are uncertain."
)


def weights(
    memberships: Memberships, state: mixture.State | None, of_groupings: Float[np.ndarray, " groupings"] | None
) -> Float[np.ndarray, " annotators"]:
    """Weight of each annotator, as far as it does not depend on how the annotator separates the clusters.

    Parameters
    ----------
    memberships : what was grouped
    state : of the mixture, whose intraclass correlations are the weights; or None
    of_groupings : otherwise the weights of the groupings, summed for each annotator; None if all count equally

    Returns
    -------
    ndarray, shape (n_annotators,)
    """
    if state is not None:
        return np.asarray(1 / (1 + state.concentration))
    n_groupings, by = memberships.n_groupings, memberships.annotator_of_grouping
    each = np.full(n_groupings, 1 / n_groupings) if of_groupings is None else of_groupings
    return np.asarray(np.bincount(by, each, memberships.n_annotators))


def weights_of_all(
    memberships: Memberships,
    weight: Float[np.ndarray, " read"],
    places: Int[np.ndarray, " read"],
    group: Int[np.ndarray, " annotators"],
    state: mixture.State | None,
) -> Float[np.ndarray, " annotators"]:
    """Extend weights from the annotators who were read to all, some of whom weigh together.

    Parameters
    ----------
    memberships : of all annotators
    weight : `weights` of those who were read
    places : of these among all annotators
    group : who weighs together; -1 for those who are alone
    state : of the mixture, under which each member of a group has an intraclass correlation; or None

    Returns
    -------
    ndarray, shape (n_annotators,)
        Without a mixture, the members of a group have equal shares of its weight.
    """
    everyone = np.zeros(memberships.n_annotators)
    everyone[places] = weight
    inside = group >= 0
    if state is None:
        total = np.bincount(group[inside], everyone[inside])
        everyone[inside] = (total / np.bincount(group[inside]))[group[inside]]
        return everyone
    start = replace(state, concentration=np.ones(memberships.n_annotators))
    learned = mixture.learn_concentration(mixture.Layout.of(memberships), start)
    return np.where(inside, 1 / (1 + learned.concentration), everyone)


def kept_apart(memberships: Memberships, cluster: Int[np.ndarray, " items"]) -> Float[np.ndarray, " annotators"]:
    """Share of the pairs of items of two clusters, among those in an annotator's groupings, that are kept apart.

    1 where there are no such pairs.
    """
    by, n_annotators, n_clusters = memberships.annotator_of_grouping, memberships.n_annotators, int(cluster.max()) + 1

    def across(place: Int[np.ndarray, " rows"], annotator: Int[np.ndarray, " places"]) -> np.ndarray:
        """Pairs of two clusters in one place, by annotator."""
        cell, inside = np.unique(place * n_clusters + cluster[memberships.item], return_counts=True)
        size = np.bincount(place, minlength=len(annotator)).astype(float)
        squares = np.bincount(cell // n_clusters, inside.astype(float) ** 2, len(annotator))
        return np.bincount(annotator, (size**2 - squares) / 2, n_annotators)

    presented = across(memberships.grouping, by)
    together = across(memberships.group, by[memberships.grouping_of_group])
    return 1 - np.divide(together, presented, out=np.zeros(n_annotators), where=presented > 0)


def annotators_table(
    groupings: Groupings,
    memberships: Memberships,
    weight: Float[np.ndarray, " annotators"],
    cluster: Int[np.ndarray, " items"],
    *,
    refined: bool,
) -> pd.DataFrame:
    """Tabulate the contribution, weight and agreement of each annotator.

    Parameters
    ----------
    groupings : whose annotators these are
    memberships : of the items that are in some grouping
    weight : of each annotator
    cluster : of each of these items
    refined : whether the weights are intraclass correlations

    Returns
    -------
    DataFrame, one row an annotator
        n_groupings, n_items, n_groups, consistency, weight and agreement, as `SubsetFusion.annotators_`.
    """
    by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    return pd.DataFrame(
        {
            "n_groupings": np.bincount(by, minlength=n_annotators),
            "n_items": np.bincount(by[memberships.grouping], minlength=n_annotators),
            "n_groups": np.bincount(
                by[memberships.grouping_of_group], memberships.group_sizes > 0, n_annotators
            ).astype(int),
            "consistency": weight if refined else np.full(n_annotators, np.nan),
            "weight": weight * kept_apart(memberships, cluster) if refined else weight,
            "agreement": agreement_with(memberships, cluster),
        },
        index=groupings.annotators.rename("annotator"),
    )


def notes(groupings: Groupings, part: Int[np.ndarray, " seen"], n_clusters: Any, n_found: int) -> list[str]:
    """Return notes on the limits of the groupings.

    Parameters
    ----------
    groupings : all that was fitted
    part : of each item that is in some grouping; no chain of groupings links two parts
    n_clusters : "auto", or the number requested
    n_found : clusters found
    """
    found = []
    n_parts = int(part.max()) + 1
    if n_parts > 1:
        sizes = np.bincount(part)
        some = ", ".join(map(str, sizes[:5])) + (", …" if n_parts > 5 else "")
        found.append(
            f"The items fall into {n_parts} parts (of {some} items) that no chain of groupings links; each has "
            "clusters of its own, and nothing is known about pairs across parts."
        )
    if n_clusters != "auto" and n_found < n_clusters:
        found.append(f"{n_clusters} clusters were requested; the groupings distinguish {n_found}.")
    if groupings.n_groupings == 1:
        found.append("There is only one grouping: the clusters are its groups, of unknown certainty.")
    return found
