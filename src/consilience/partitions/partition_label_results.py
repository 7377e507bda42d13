"""From the last state of a fit to partitions to the attributes of `PartitionLabelModel`, and to results of items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import softmax

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement
from consilience.annotations.memberships import incidence_of
from consilience.annotations.names import MISSING
from consilience.errors import InputError
from consilience.estimators.forecasts import on_number_of_clusters
from consilience.estimators.user_order import restore
from consilience.inference.clusters import by_falling_size
from consilience.inference.softmax import with_offset
from consilience.partitions import partition_label_sweeps as sweeps
from consilience.partitions.item_survey import OwnItems, group_places
from consilience.partitions.item_table import ItemPartition, read_items
from consilience.partitions.partition_label_sweeps import ItemsInParts
from consilience.semisupervised import PartitionLabelModel, mapping
from consilience.semisupervised.partition_label_model import (
    Prior,
    State,
    expected_accuracy,
    label_evidence,
    label_probability,
)
from consilience.semisupervised.partition_label_model_estimator import _on_guessers


def read_off(
    model: PartitionLabelModel,
    evidence: ItemsInParts,
    prior: Prior,
    state: State,
    columns: Int[np.ndarray, " features"],
    arranged: Arrangement[Groupings],
    counted: Groupings,
) -> None:
    """Set the attributes, as `PartitionLabelModel._read_off` does.

    Parameters
    ----------
    columns : order of the features in the state.
    counted : the groups in the order of the state, with the numbers of their items.
    """
    coefficients, cells = with_offset(state.weights, prior.richness), evidence.cells
    said = label_evidence(state.assignment, state.expected, cells)
    kept = by_falling_size(evidence.parts.total(sweeps.owned, coefficients, said))
    assignment, probability = state.assignment[:, kept], label_probability(state, cells)[:, kept]
    nothing = replace(counted, items=pd.RangeIndex(0), incidence=counted.incidence[:0])
    found = evidence.parts.total(sweeps.quality, coefficients[:, kept], said[:, kept], probability, nothing)

    model.n_clusters_ = len(kept)
    model.coef_ = coefficients[:-2, kept].T
    model.intercept_ = coefficients[-2:, kept].sum(0)
    index = mapping.group_index(counted)
    model.mapping_probabilities_ = pd.DataFrame(assignment, index=index)
    model.label_probabilities_ = pd.DataFrame(probability, index=index)
    model.annotator_mapping_ = mapping.mapping_table(counted, assignment)
    model.groupings_ = mapping.grouping_quality(counted, found.correct, expected_accuracy(state, cells))
    model.annotators_ = mapping.annotator_quality(counted, model.groupings_)
    model.annotators_.insert(3, "reliability", state.reliability)
    model._restore_features(columns)
    restore(model, arranged)
    del model.items_
    model.annotator_mapping_ = model.annotator_mapping_.reset_index(drop=True)
    guessers = _on_guessers(model.annotators_["reliability"])
    model.notes_ = [*guessers, *_on_number_of_clusters(counted, found.together)]
    model._of_labels = model.coef_, pd.DataFrame(said[:, kept], index=index)


def _on_number_of_clusters(groupings: Groupings, together: Float[np.ndarray, "groups clusters"]) -> list[str]:
    """`on_number_of_clusters`, from an item for each group and cluster that have one in common."""
    group, cluster = np.nonzero(together)
    items = np.arange(len(group))
    incidence = incidence_of(items, group, len(items), groupings.n_groups)
    return on_number_of_clusters(replace(groupings, items=pd.RangeIndex(len(items)), incidence=incidence), cluster)


def results_of_items(
    numbered: tuple[int, ItemPartition], model: Any, first: Int[np.ndarray, " partitions"], responsibilities: bool
) -> pd.DataFrame:
    """Return the cluster of each item of a partition.

    Parameters
    ----------
    first : number of the first item of each partition, if items are numbered.
    responsibilities : whether to add the probability of each cluster.
    """
    number, partition = numbered
    rows = read_items(partition)
    given = rows.groupings
    said = _evidence_of(model)
    place = group_places(given, said.index.tolist())
    if (place == MISSING).any():
        annotator, _, name = given.vocabulary.group_keys()[given.incidence.indices[int(np.argmax(place == MISSING))]]
        raise InputError(f"{partition.name}: the group {name!r} of annotator {annotator!r} was not fitted.")
    labels = incidence_of(given.item_of_row, place, given.n_items, len(said))
    found = softmax(rows.features @ model.coef_.T + model.intercept_ + labels @ said.to_numpy(), axis=1)
    table = pd.DataFrame(
        {
            "item": OwnItems(number, rows).names(first),
            "cluster": found.argmax(1),
            "probability": found.max(1, initial=0.0),
        }
    )
    if not responsibilities:
        return table
    return table.join(pd.DataFrame(found, columns=[f"cluster {cluster}" for cluster in range(found.shape[1])]))


def _evidence_of(model: Any) -> pd.DataFrame:
    """Return the evidence of each group for each cluster that a fit to partitions has left."""
    coefficients, said = vars(model).get("_of_labels", (None, None))
    if said is None or coefficients is not model.coef_:
        raise InputError(
            "Clusters of items in partitions come from a PartitionLabelModel that was fitted to partitions, by "
            "consilience.partitions.fit. This one was fitted in memory: see its labels_ and predict."
        )
    return said
