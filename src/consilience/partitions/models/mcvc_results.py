"""Results of items of `MCVC` and `MECC` that were fitted to partitions.

An item's η follows from its features and groups, and from what the groups of the fit tell their items, up to the item's
own part in the sums of its groups, which is η itself. With c what is told and d the weight of the own part in it,

    η_k ∝ exp(c_k − d η_k),    so that    d η_k = ω(c_k − λ + ln d)

with ω Wright's function, ω + ln ω = z. For d ≥ 0 one λ makes the sum of η 1, and Newton's method finds it from below.
For d < 0, of annotators who rather say "apart" within clusters, the term is held at the last η until that stands still.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import softmax, wrightomega

from consilience.annotations.memberships import incidence_of
from consilience.annotations.names import MISSING
from consilience.errors import InputError
from consilience.estimators.elsewhere import read_features, told_of_items
from consilience.inference.gaussian_softmax import Weights
from consilience.partitions.models.mcvc_sums import Messages, field_of
from consilience.partitions.survey.item_survey import OwnItems, group_places, read_labelled_items, read_own_items
from consilience.partitions.tables.item_table import ItemPartition
from consilience.partitions.tables.label_table import LabelPartition
from consilience.semisupervised import MCVC, MECC

SMALLEST = 1e-12  # weight of an item's own part that counts
CLOSE = 1e-12  # to 1, of the sum of η
STILL = 1e-10  # change of η at which it has settled
STEPS = 100

Rows = Float[np.ndarray, "rows clusters"]


@dataclass(frozen=True)
class Told:
    """What a fitted model knows of all items, from which the clusters of each follow.

    index : keys of the groups.
    messages : what each group tells its items, in each view.
    weights : mean weights of each view.
    owned : clusters of each view that own items.
    """

    index: pd.MultiIndex
    messages: Messages
    weights: list[Float[np.ndarray, "features clusters"]]
    owned: list[Int[np.ndarray, " owned"]]


def results_of_items(
    numbered: tuple[int, LabelPartition | ItemPartition], model: Any, first: Int[np.ndarray, " partitions"], each: bool
) -> pd.DataFrame:
    """Return the cluster of each item of a partition in each view, and its probability.

    Items without features and groups have no cluster.

    first : number of the first item of each partition, if items are numbered.
    each : whether to add the probability of each cluster.
    """
    number, partition = numbered
    if isinstance(partition, ItemPartition):
        own = read_own_items((number, partition))
    else:
        own = read_labelled_items((number, partition))
    found = _responsibilities(own, partition, model)
    known = np.diff(own.rows.groupings.incidence.indptr) > 0
    columns: dict[str, Any] = {"item": own.names(first)}
    for view, probability in enumerate(found):
        place = f" in view {view}" if isinstance(model, MCVC) else ""
        columns |= _clusters(probability, known, place, always=isinstance(partition, ItemPartition))
    for view, probability in enumerate(found if each else []):
        place = f" in view {view}" if isinstance(model, MCVC) else ""
        columns |= {f"cluster {number}{place}": probability[:, number] for number in range(probability.shape[1])}
    return pd.DataFrame(columns)


def _clusters(probability: Rows, known: np.ndarray, place: str, *, always: bool) -> dict[str, Any]:
    """Most probable clusters; missing for items of which nothing is known, unless there is always something."""
    cluster, largest = probability.argmax(1), probability.max(1, initial=0.0)
    if not always:
        largest = np.where(known, largest, np.nan)
        cluster = pd.array(cluster, dtype="Int64")
        cluster[~known] = pd.NA
    return {f"cluster{place}": cluster, f"probability{place}": largest}


def _responsibilities(own: OwnItems, partition: LabelPartition | ItemPartition, model: MCVC | MECC) -> list[Rows]:
    """Probabilities of the clusters of each view, those that own items."""
    given = own.rows.groupings
    told: Told = told_of_items(model)
    index, messages = told.index, told.messages
    place = group_places(given, index.tolist())
    if (place == MISSING).any():
        annotator, _, group = given.vocabulary.group_keys()[given.incidence.indices[int(np.argmax(place == MISSING))]]
        raise InputError(f"{partition.name}: the group {group!r} of annotator {annotator!r} was not fitted.")
    in_group = incidence_of(given.item_of_row, place, given.n_items, len(index))
    features = own.rows.features
    if len(features) and isinstance(partition, ItemPartition):
        columns = pd.Index(partition.features, tupleize_cols=False)
        features = read_features(model, pd.DataFrame(features, columns=columns), reset=False)
    x = np.column_stack([features, np.ones(given.n_items)])
    found = []
    for view, mean in enumerate(told.weights):
        one = Messages(messages.of_groups[:, :, [view]], messages.own[:, [view]])
        field = field_of(x, in_group, Weights(mean[:, :, None], mean[:, :, None]), one)[:, :, 0]
        eta = settle_eta(field, in_group @ messages.own[:, view])[:, told.owned[view]]
        found.append(eta / eta.sum(1, keepdims=True))
    return found


def settle_eta(told: Rows, own: Float[np.ndarray, " rows"]) -> Rows:
    """η ∝ exp(told − own η)."""
    eta = softmax(told, axis=1)
    for _ in range(STEPS):
        # a negative part of the own weight is held at the last η, a positive one is solved for
        following = without_own(told - np.minimum(own, 0.0)[:, None] * eta, np.maximum(own, SMALLEST))
        change, eta = np.abs(following - eta).max(initial=0.0), following
        if change < STILL or (own >= 0).all():
            break
    return eta


def without_own(told: Rows, own: Float[np.ndarray, " rows"]) -> Rows:
    """η ∝ exp(told − own η) for positive weights of the own part."""
    eta, log_own = np.empty_like(told), np.log(own)
    level = told.max(1, initial=-np.inf) - own  # at which the largest η alone is 1
    open_ = np.arange(len(told))
    for _ in range(STEPS):
        if not len(open_):
            break
        weight = own[open_, None]
        here = wrightomega(told[open_] + (log_own - level)[open_, None]) / weight
        excess = here.sum(1) - 1
        eta[open_] = here
        level[open_] += excess / (here / (1 + weight * here)).sum(1)
        open_ = open_[np.abs(excess) > CLOSE]
    return eta / eta.sum(1, keepdims=True)
