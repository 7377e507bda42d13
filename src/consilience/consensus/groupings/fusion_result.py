"""Additional results of `SubsetFusion`: its table of annotators, and notes on the limits of the evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Groupings
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.inference.clusters import agreement_of_counts, pairs_kept_apart
from consilience.inference.memberships import Memberships

DOUBTFUL = (
    "A single cluster explains the groupings as well as these do: they are too few for so many items, or contradict "
    "each other too often. The clusters are uncertain."
)


def weights(
    memberships: Memberships,
    state: mixture.GroupingMixtureState | None,
    of_groupings: Float[np.ndarray, " groupings"] | None,
) -> Float[np.ndarray, " annotators"]:
    """Weight of each annotator, as far as it does not depend on how the annotator separates the clusters.

    memberships : what was grouped
    state : of the mixture, whose intraclass correlations are the weights; or None
    of_groupings : otherwise the weights of the groupings, summed for each annotator; None if all count equally
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
    state: mixture.GroupingMixtureState | None,
) -> Float[np.ndarray, " annotators"]:
    """Extend weights from the annotators who were read to all, some of whom weigh together.

    memberships : of all annotators
    weight : `weights` of those who were read
    places : of these among all annotators
    group : who weighs together; -1 for those who are alone
    state : of the mixture, under which each member of a group has an intraclass correlation; or None

    Returns ndarray, shape (n_annotators,): without a mixture, the members of a group have equal shares of its weight.
    """
    everyone = np.zeros(memberships.n_annotators)
    everyone[places] = weight
    inside = group >= 0
    if state is None:
        total = np.bincount(group[inside], everyone[inside])
        everyone[inside] = (total / np.bincount(group[inside]))[group[inside]]
        return everyone
    start = replace(state, concentration=np.ones(memberships.n_annotators))
    learned = mixture.learn_concentration(mixture.GroupingLayout.of(memberships), start)
    return np.where(inside, 1 / (1 + learned.concentration), everyone)


def annotators_table(
    groupings: Groupings,
    memberships: Memberships,
    weight: Float[np.ndarray, " annotators"],
    counts: csr_array,
    *,
    refined: bool,
) -> pd.DataFrame:
    """Tabulate the contribution, weight and agreement of each annotator.

    groupings : whose annotators these are
    memberships : whose groups and groupings these are; they may be without items
    weight : of each annotator
    counts : number of items of each cluster in each group
    refined : whether the weights are intraclass correlations

    Returns DataFrame, one row for each annotator: n_groupings, n_items, n_groups, consistency, weight and agreement, as
    `SubsetFusion.annotators_`.
    """
    by, n_annotators = memberships.annotator_of_grouping, memberships.n_annotators
    of_group, sizes = by[memberships.grouping_of_group], counts.sum(1)
    return pd.DataFrame(
        {
            "n_groupings": np.bincount(by, minlength=n_annotators),
            "n_items": np.bincount(of_group, sizes, n_annotators).astype(int),
            "n_groups": np.bincount(of_group, sizes > 0, n_annotators).astype(int),
            "consistency": weight if refined else np.full(n_annotators, np.nan),
            "weight": weight * pairs_kept_apart(memberships, counts) if refined else weight,
            "agreement": agreement_of_counts(memberships, counts),
        },
        index=groupings.annotators.rename("annotator"),
    )


def notes(groupings: Groupings, part: Int[np.ndarray, " seen"], n_clusters: Any, n_found: int) -> list[str]:
    """Return notes on the limits of the groupings.

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
