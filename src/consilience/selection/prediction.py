"""Prediction of held-out judgements by a fitted model: from its clusters alone, or by the model itself.

by="clusters": the same simple model of annotators is used for all models, so that the score is that of the clusters.
An item i belongs to cluster k with probability r_ik (`responsibilities_`; of `DawidSkene` the posterior, which predicts
labels better), and

| held out | p(annotator u puts i and j together) |
|---|---|
| parts of groupings and labels | mean over u's groupings of Σ_kl r_ik r_jl Σ_g q_gk q_gl |
| whole groupings, parts of pairs | w_u Σ_k r_ik r_jk + v_u (1 − Σ_k r_ik r_jk) |

| symbol | meaning |
|---|---|
| q_gk = (n_gk + 2 s_g) / (Σ_g n_gk + 2) | share of cluster k that is put into group g; n_gk = Σ_i in g r_ik |
| s_g | share of group g in its grouping |
| w_u, v_u | share of "same" among u's judgements of two items of one cluster, and of different clusters |

by="model": the model's own `predict_same`, for the annotator who judged. The score is that of its clusters and of its
model of annotators. An annotator without kept annotations is predicted as a new person, by `forecast_same`, if the
model has it.

by="forecast": `forecast_same`, as if all were new people: how often the pair itself was put together counts too.

Decided here
------------
Two items' worth of the annotator's shares is added to q, ten judgements' worth of the crowd's to w and v. The groups
of a grouping that is held out as a whole are not known, so it is predicted by w and v: by those of the crowd, since all
groupings of an annotator are held out together, unless there are fewer annotators than folds. These are counted on at
most 20,000 kept judgements. An annotator without kept annotations is predicted as the crowd.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.names import MISSING
from consilience.errors import InputError
from consilience.estimators.labels import posterior_of
from consilience.estimators.scoring import rates
from consilience.inference.forecast import Clustered, ForecastEvidence, learn_weights
from consilience.selection.folds import HeldOut

OWN_SHARE = 2.0  # items


def predict(
    model: Any, held: HeldOut, kept: Annotations, there: Int[np.ndarray, " some"], by: str
) -> Float[np.ndarray, " some"]:
    """Return the probability of "same" for some held-out judgements.

    Raises InputError: the model returns something that is not a probability, or has no clusters.
    """
    probability = PREDICTIONS[by](model, held, kept, there)
    wrong = ~((probability >= -1e-9) & (probability <= 1 + 1e-9))  # rounding is no mistake of a model
    if wrong.any():
        method = "forecast_same" if by == "forecast" else "predict_same"
        raise InputError(f"'{method}' must return probabilities. Got {probability[wrong][0]}.")
    return np.clip(probability, 0.0, 1.0)


def own_probabilities(
    model: Any, held: HeldOut, kept: Annotations, there: Int[np.ndarray, " some"]
) -> Float[np.ndarray, " some"]:
    """Return the model's own probabilities, for the annotator of each judgement if known to the model."""
    names = held.annotations.annotators
    fitted = getattr(model, "annotators_", None)
    known = kept.annotators if not isinstance(fitted, pd.DataFrame) else kept.annotators.intersection(fitted.index)
    annotator = np.where(names.isin(known)[held.annotator[there]], held.annotator[there], MISSING)
    a, b = (held.annotations.items.take(item[there]) for item in (held.judgements.item_a, held.judgements.item_b))
    probability = np.empty(len(there))
    for of_one in _by_annotator(annotator):
        code = annotator[of_one[0]]
        first, second = a[of_one].tolist(), b[of_one].tolist()
        if code == MISSING and hasattr(model, "forecast_same"):
            probability[of_one] = model.forecast_same(first, second)
        else:
            name = None if code == MISSING else names[code]
            probability[of_one] = model.predict_same(first, second, annotator=name)
    return probability


def forecast(
    model: Any, held: HeldOut, kept: Annotations, there: Int[np.ndarray, " some"]
) -> Float[np.ndarray, " some"]:
    """Return the probabilities for a new person."""
    if not hasattr(model, "forecast_same"):
        raise InputError(f"{type(model).__name__} has no 'forecast_same', so it cannot be compared by its forecasts.")
    items, judgements = held.annotations.items, held.judgements
    first, second = (items.take(item[there]).tolist() for item in (judgements.item_a, judgements.item_b))
    found: np.ndarray = np.asarray(model.forecast_same(first, second))
    return found


def by_co_occurrence(held: HeldOut, kept: Annotations, there: Int[np.ndarray, " some"]) -> Float[np.ndarray, " some"]:
    """Return how often others put the items together, smoothed: a forecast without clusters."""
    given: Any = kept.to_groupings() if isinstance(kept, Labels) else kept
    alone = Clustered(given, np.zeros((given.n_items, 0)))
    evidence = ForecastEvidence.of(alone, held.judgements.item_a[there], held.judgements.item_b[there])
    return evidence.probability(learn_weights(alone))


def by_clusters(
    model: Any, held: HeldOut, kept: Annotations, there: Int[np.ndarray, " some"]
) -> Float[np.ndarray, " some"]:
    """Return the probabilities by the clusters, with the same model of annotators for all models."""
    if not hasattr(model, "responsibilities_"):
        raise InputError(
            f"{type(model).__name__} has no 'responsibilities_', so it cannot be compared by its clusters."
        )
    place = model.items_.get_indexer(held.annotations.items)
    of_item = np.asarray(posterior_of(model), dtype=float)[place]
    a, b = held.judgements.item_a[there], held.judgements.item_b[there]
    annotator = kept.annotators.get_indexer(held.annotations.annotators)[held.annotator[there]]
    if held.level == "groupings" or isinstance(kept, Pairs):
        within, across = rates(kept, of_item).T
        same = (of_item[a] * of_item[b]).sum(1)
        return np.asarray(same * within[annotator] + (1 - same) * across[annotator])  # the last row is the crowd
    groupings: Any = kept.to_groupings() if isinstance(kept, Labels) else kept
    share, weight = shares(groupings, of_item), np.ones(groupings.n_groupings)
    if isinstance(kept, Labels):
        weight = shares_of_labels(groupings)
    of_group, weight_of_group = groupings.annotator_of_group, weight[groupings.grouping_of_group]
    total = np.bincount(groupings.annotator_of_grouping, weight, groupings.n_annotators)
    probability = np.empty(len(there))
    for of_one in _by_annotator(annotator):
        code = annotator[of_one[0]]
        mine = slice(None) if code == MISSING else of_group == code
        q, n = share[mine], weight.sum() if code == MISSING else total[code]
        together = q.T @ (q * weight_of_group[mine, None])
        probability[of_one] = (of_item[a[of_one]] @ together * of_item[b[of_one]]).sum(1) / n
    return probability


def shares_of_labels(groupings: Groupings) -> Float[np.ndarray, " groupings"]:
    """Return the share of an annotator's labels in each grouping; repeated labels of an item make several."""
    labels = np.bincount(groupings.grouping_of_group[groupings.incidence.indices], minlength=groupings.n_groupings)
    by = groupings.annotator_of_grouping
    all_of_annotator = np.bincount(by, labels, groupings.n_annotators)
    return np.asarray(labels / np.maximum(all_of_annotator, 1)[by])


def shares(groupings: Groupings, of_item: Float[np.ndarray, "items clusters"]) -> Float[np.ndarray, "groups clusters"]:
    """Return q, the share of each cluster that a grouping puts into each of its groups."""
    counts = np.asarray(groupings.incidence.T @ of_item)
    grouping, size = groupings.grouping_of_group, counts.sum(1)
    whole = np.zeros((groupings.n_groupings, counts.shape[1]))
    np.add.at(whole, grouping, counts)
    share = size / whole.sum(1)[grouping]
    counts += OWN_SHARE * share[:, None]  # in place: with many classes this is the largest array of a comparison
    counts /= (whole + OWN_SHARE)[grouping]
    return counts


PREDICTIONS = {"clusters": by_clusters, "model": own_probabilities, "forecast": forecast}
WAYS = tuple(PREDICTIONS)


def _by_annotator(annotator: Int[np.ndarray, " some"]) -> list[Int[np.ndarray, " of_one"]]:
    """Return the places of the judgements of each annotator."""
    if not len(annotator):
        return []
    order = np.argsort(annotator, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(annotator[order])) + 1)
