"""From groups of copies to the attributes and the warning of an estimator: all models of labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from sklearn.base import clone

from consilience.annotations import Labels
from consilience.annotations.names import outside
from consilience.consensus.labels.copies import CopyEvidence, find_copies, given_copies
from consilience.errors import AnnotationWarning
from consilience.estimators.copies import keep_copies, list_in_short
from consilience.estimators.labels import LabelAggregator
from consilience.inference.copies import ALONE, Copies


def copies_of(
    estimator: LabelAggregator,
    labels: Labels,
    *,
    known: Int[np.ndarray, " items"] | None = None,
    annotators: pd.Index | None = None,
) -> Copies[CopyEvidence]:
    """Find the groups of copies that the `copies` parameter asks for, and set `copies_`.

    `annotators` are those of the labels and any further ones, who are in no group.
    """
    found = keep_copies(
        estimator,
        labels.annotators,
        lambda: find_copies(labels, known),
        lambda groups: given_copies(labels, groups, known),
    )
    n_further = 0 if annotators is None else len(annotators) - labels.n_annotators
    estimator._copy_group = np.append(found.group, np.full(n_further, ALONE))
    return found


def compare_with_apart(
    estimator: LabelAggregator, found: Copies[Any], fit: Callable[[Any], object], labels: Labels
) -> None:
    """Set `labels_apart_`, the classes if all annotators weighed alone; warn if groups were found by their labels.

    `fit` fits an estimator to the same annotations.
    """
    if not len(found):
        estimator.labels_apart_ = estimator.labels_.copy()
        return
    apart = clone(estimator).set_params(copies=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of `estimator` gave them
        fit(apart)
    estimator.labels_apart_ = apart.labels_
    if isinstance(estimator.copies, str):
        effect = f"; {n_changed(estimator):,} of {len(labels):,} items have another class if all weigh alone"
        warnings.warn(say_who_weighs_together(estimator, effect), AnnotationWarning, stacklevel=outside())


def n_changed(estimator: LabelAggregator) -> int:
    """Return the number of items whose class changes if all annotators weigh alone."""
    now, apart = pd.Series(estimator.labels_), pd.Series(estimator.labels_apart_)
    return int(((now != apart) & ~(now.isna() & apart.isna())).sum())


def say_who_weighs_together(estimator: Any, effect: str = "") -> str:
    """Return the warning that names the groups that were found; `effect` is what they change."""
    table = estimator.copies_
    groups = [
        f"{list_in_short(row.annotators)} give the same label to {row.agreement:.0%} of the {row.n_items:,} items that "
        f"they share, where the other annotators explain {row.expected:.0%}"
        for row in table.itertuples()
    ]
    together = "each of these groups weighs" if len(table) > 1 else "they weigh together"
    return (
        f"{type(estimator).__name__}: {'; '.join(groups)}. Independent people do not agree like that, so {together} as "
        f"one annotator{effect}. If they did work independently, set copies=None; to say who belongs together, give "
        "copies a list of lists of annotators."
    )
