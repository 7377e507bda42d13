"""Score of models that take features: how well the predicted clusters predict judgements.

    p(annotator u says "same" of i and j) = w_u s_ij + v_u (1 − s_ij),   s_ij = Σ_k r_ik r_jk

r_ik is the probability of cluster k from the features of item i alone; w_u and v_u are the shares of "same" among the
fitted judgements of u, of two items of one cluster and of two. The score is the mean log probability of the judgements,
nats: the more negative, the worse the prediction. It can be compared across numbers of clusters: more clusters than
the annotators distinguish are penalised where they separate items that are put together.

Decided here
------------
As in `consilience.selection`, groupings and labels are judgements of all pairs of their items, at most 20,000 are
drawn, and probabilities are clipped to [0.01, 0.99]. An annotator who was not fitted is predicted as the crowd.

A class of models takes the method from here, ``score = scoring.score``, and implements `_score(X, judgements)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations
from consilience.annotations.judgements import AnnotationRows, draw
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Missing
from consilience.errors import InputError
from consilience.metrics.clusterings import same_log_loss

MOST_JUDGEMENTS = 20_000
NEAREST = 0.01  # distance of probabilities from 0 and 1
CROWD_HABIT = 10.0  # imagined judgements at the crowd's rates, added to each annotator's

Same = Float[np.ndarray, " judgements"]
Places = Int[np.ndarray, " judgements"]


def score(self: Any, X: FeaturesLike, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> float:
    """Mean log probability of judgements of other items, predicted from the items' features.

    Higher is better, also across numbers of clusters; see `consilience.estimators.scoring`.
    `consilience.selection.compare` says more, such as how far a model leads.

    Raises InputError: no two of the items were judged, or the model was fitted without annotations.

    Parameters
    ----------
    X : DataFrame or array, shape (n_items, n_features)
    y : annotations, as for `fit`
        An annotator who was not fitted is predicted like the crowd.
    missing : optional
        Value or list of values that means missing, in addition to blank cells; for tables and arrays.
        By default -1 if it is the only negative integer.

    Returns
    -------
    float
        Nats per judgement, at most 0.
    """
    check_is_fitted(self)
    return float(self._score(X, self._judgements(X, y, missing)))


def rates(
    annotations: Annotations, of_item: Float[np.ndarray, "items clusters"]
) -> Float[np.ndarray, "annotators_and_crowd 2"]:
    """w and v of each annotator, and in the last row of the crowd, whose rates are mixed into those of the others.

    annotations : annotations of the items
    of_item : probability of each cluster of each item
    """
    rows = AnnotationRows.of(annotations)
    drawn, _ = draw(annotations, rows, MOST_JUDGEMENTS, np.random.default_rng(0))  # the same judgements at every call
    together = (of_item[drawn.item_a] * of_item[drawn.item_b]).sum(1)
    annotator, n = rows.annotator[drawn.row_a], annotations.n_annotators
    columns = []
    for weight in (together, 1 - together):
        crowd = (weight @ drawn.same + 1) / (weight.sum() + 2)  # imagined, so that no rate is 0 or 1
        counts = np.bincount(annotator, weight * drawn.same, n) + CROWD_HABIT * crowd
        columns.append(np.append(counts / (np.bincount(annotator, weight, n) + CROWD_HABIT), crowd))
    return np.column_stack(columns)


def rates_of_table(annotators: pd.DataFrame) -> Float[np.ndarray, "annotators_and_crowd 2"]:
    """w and v from the sensitivities and specificities in a table of annotators; missing ones are the crowd's.

    Raises InputError: there are no annotators.
    """
    if annotators.empty:
        raise InputError("The model was fitted without annotations, so it cannot predict judgements.")
    weight = annotators["n_pairs"].to_numpy(float) + 1  # an average needs a weight, even where nobody has pairs
    columns = []
    for share in (annotators["sensitivity"].to_numpy(float), 1 - annotators["specificity"].to_numpy(float)):
        known = np.isfinite(share)
        crowd = np.average(share[known], weights=weight[known]) if known.any() else 0.5
        columns.append(np.append(np.where(known, share, crowd), crowd))
    return np.column_stack(columns)


def score_of_pairs(
    annotations: Annotations,
    together: Callable[[Places, Places, Places], Same],
    w_and_v: Float[np.ndarray, "annotators_and_crowd 2"],
    fitted: pd.Index,
) -> float:
    """Mean log probability of judgements, nats. Raises InputError: no two of the items were judged.

    annotations : annotations of the items to score
    together : s_ij, given the positions of the two items of each judgement and of its annotator in `w_and_v`
    w_and_v : of the fitted annotators, and in the last row of the crowd
    fitted : names of these annotators
    """
    rows = AnnotationRows.of(annotations)
    drawn, _ = draw(annotations, rows, MOST_JUDGEMENTS, np.random.default_rng(0))  # the same judgements at every call
    if not len(drawn.same):
        raise InputError("No two of these items were judged, so there is nothing to score.")
    place = fitted.get_indexer(annotations.annotators)[
        rows.annotator[drawn.row_a]
    ]  # -1, the crowd's row, if not fitted
    same = together(drawn.item_a, drawn.item_b, place)
    within, across = w_and_v[place].T
    # of sums, by rounding
    return -same_log_loss(drawn.same, np.clip(same * within + (1 - same) * across, 0, 1), clip=NEAREST)


def score_of_clusters(
    annotations: Annotations,
    of_item: Float[np.ndarray, "items clusters"],
    w_and_v: Float[np.ndarray, "annotators_and_crowd 2"],
    fitted: pd.Index,
) -> float:
    """`score_of_pairs` for one clustering, with s_ij from the probability of each cluster of each item."""
    return score_of_pairs(annotations, lambda a, b, _: (of_item[a] * of_item[b]).sum(1), w_and_v, fitted)
