"""Results of items of `SubsetFusion` that was fitted to partitions.

The clusters of items are drawn at random, and kept with their partitions while the fit lasts. What remains are the
counts of the groups from which they were drawn, in which each item counts for a cluster that is not known any more. The
results of an item are its probabilities given these counts without it, averaged over where it may have been:

    w_k ∝ exp s_k(C − 1_k),   p_j = Σ_k w_k softmax_j s(C − 1_k)

with s the scores, and C − 1_k the counts without the item if it was in cluster k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.annotations.names import MISSING, plain
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings import subset_fusion as fusing
from consilience.consensus.groupings.grouping_mixture import GroupingCounts, GroupingLayout
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.errors import InputError
from consilience.estimators.elsewhere import told_of_items
from consilience.partitions.models.subset_fusion_sweeps import layout_of, parts_of_items
from consilience.partitions.survey.item_survey import read_labelled_items
from consilience.partitions.tables.label_table import LabelPartition


@dataclass(frozen=True)
class Fused:
    """What a fitted model knows of all items, from which the clusters of each follow.

    nothing : all groups, without items.
    drawn_from : counts from which the probabilities of an item are averaged.
    is_certain : whether clusters have probability 1.
    part_of : part of the evidence of each grouping.
    owned : the clusters found, in `fusing.owners`'s numbers.
    shares : of these among all items.
    """

    nothing: Groupings
    concentration: Float[np.ndarray, " annotators"]
    drawn_from: list[GroupingCounts]
    is_certain: bool
    part_of: Int[np.ndarray, " groupings"]
    owned: Int[np.ndarray, " owned"]
    shares: Float[np.ndarray, " owned"]

    def probabilities(self, layout: GroupingLayout) -> Float[np.ndarray, "items owned"]:
        """Return the probabilities of the clusters found for items that are in some grouping."""
        total = np.zeros((layout.memberships.n_items, self.drawn_from[0].of_groups.shape[1]))
        for counts in self.drawn_from:
            total += without_own(layout, counts, self.concentration)
        if self.is_certain:
            total = fusing.onehot(total.argmax(1), total.shape[1])
        return fusing.among(total, parts_of_items(layout, self.part_of), self.owned)


def without_own(
    layout: GroupingLayout, counts: GroupingCounts, concentration: Float[np.ndarray, " annotators"]
) -> Float[np.ndarray, "items clusters"]:
    """Probabilities of the clusters of items that are counted, each averaged over where it may have been."""
    with_own = mixture.scores_of_new(layout, counts, concentration)
    without = with_own + _own_contributions(layout, counts, concentration)
    top = with_own.max(1, keepdims=True)
    here, gone = np.exp(with_own - top), np.exp(without - top)
    was = gone / gone.sum(1, keepdims=True)
    share = was / (here.sum(1, keepdims=True) - here + gone)
    return here * (share.sum(1, keepdims=True) - share) + gone * share


def _own_contributions(
    layout: GroupingLayout, counts: GroupingCounts, concentration: Float[np.ndarray, " annotators"]
) -> Float[np.ndarray, "items clusters"]:
    """Return what an item in each cluster contributes to its own score, to be added; -inf where it cannot have been."""
    c, cb = mixture.pseudo_counts(layout, concentration)
    memberships = layout.memberships
    with np.errstate(divide="ignore", invalid="ignore"):  # for counts below 1, which are replaced
        of_groups = np.where(counts.of_groups < 1, -np.inf, np.log1p(-1 / (cb[:, None] + counts.of_groups)))
        of_groupings = np.where(counts.of_groupings < 1, 0.0, np.log1p(-1 / (c[:, None] + counts.of_groupings)))
    own = memberships.in_group @ of_groups - memberships.in_grouping @ of_groupings
    return np.asarray(own - np.log1p(1 / np.maximum(counts.of_clusters, 1)))


def results_of_items(
    numbered: tuple[int, LabelPartition],
    model: SubsetFusion,
    first: Int[np.ndarray, " partitions"],
    responsibilities: bool,
) -> pd.DataFrame:
    """Return the cluster of each item of a partition, missing for items without labels, and its probability.

    All items have names.

    responsibilities : whether to add the probability of each cluster; for items without labels, its share of the items.
    """
    groupings = read_labelled_items(numbered).rows.groupings
    fused: Fused = told_of_items(model)
    _require_known(groupings, fused.nothing, numbered[1].name)
    layout, seen = layout_of(groupings, fused.nothing)
    probability = np.tile(fused.shares, (groupings.n_items, 1))
    probability[seen] = fused.probabilities(layout)
    cluster = pd.array(probability.argmax(1), dtype="Int64")
    unseen = np.ones(groupings.n_items, dtype=bool)
    unseen[seen] = False
    cluster[unseen] = pd.NA
    largest = np.where(unseen, np.nan, probability.max(1, initial=0.0))
    table = pd.DataFrame({"item": groupings.items, "cluster": cluster, "probability": largest})
    if not responsibilities:
        return table
    return table.join(pd.DataFrame(probability, columns=[f"cluster {number}" for number in range(model.n_clusters_)]))


def _require_known(groupings: Groupings, fitted: Groupings, name: str) -> None:
    """Raise an InputError if a group was not fitted."""
    unknown = groupings.vocabulary.place_in(fitted.vocabulary.group_keys()) == MISSING
    if unknown.any():
        annotator, _, group = groupings.vocabulary.group_keys()[int(unknown.argmax())]
        raise InputError(f"{name}: the group {plain(group)!r} of annotator {plain(annotator)!r} was not fitted.")
