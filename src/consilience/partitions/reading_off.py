"""From the last state of a fit to partitions to the attributes of `DawidSkene` that have no axis of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.consensus.labels.accuracy_interval import accuracy_interval
from consilience.consensus.labels.annotator_models import AnnotatorModel, of_newcomer
from consilience.consensus.labels.calibration import Calibration
from consilience.consensus.labels.constant_annotators import as_constant
from consilience.consensus.labels.dawid_skene import State
from consilience.consensus.labels.dawid_skene_estimator import DawidSkene
from consilience.estimators.labels import information
from consilience.partitions import statistics
from consilience.partitions.map_reduce import Parts
from consilience.partitions.statistics import Calibrated, Heard, Quality
from consilience.partitions.survey import Survey

Matrices = Float[np.ndarray, "annotators classes labels"]


def read_off(
    model: DawidSkene,
    parts: Parts,
    survey: Survey,
    heard: Heard,
    labels: Int[np.ndarray, "annotators labels"],
    state: State,
    found: Calibration,
    imagined: Any,
) -> None:
    """Set the attributes.

    Parameters
    ----------
    labels : number of labels of each annotator, of each class.
    imagined : items of each class in the prior of the proportions.
    """
    shape = (len(survey.annotators), len(survey.classes), len(survey.classes))
    log_table = state.model.log_table.reshape(-1, shape[1])
    sums = parts.total(statistics.quality, heard, state.log_weights, log_table)
    confusion = state.model.matrices()
    counts = state.expected.counts.reshape(shape).transpose(0, 2, 1)
    annotators = _annotators(survey.annotators, labels, sums, confusion, state.model)
    constant = heard.constant
    table = state.model.log_table
    if constant.any():
        of_all = parts.total(statistics.calibrated, heard, found, state.log_weights, log_table)
        confusion, counts, table = confusion.copy(), counts.copy(), table.copy()
        confusion[constant], table[constant] = as_constant(of_all.counts)[constant], 0.0
        counts[constant] = of_all.counts.transpose(0, 2, 1)[constant]
        annotators = _with_constant(annotators, constant, confusion, of_all)
    sizes = state.expected.sizes + (model.prior is not None) + imagined
    model.classes_, model.n_clusters_ = survey.classes.to_numpy(), shape[1]
    model.class_proportions_ = sizes / sizes.sum()
    model.annotators_ = annotators
    model.confusion_matrices_ = tabulated(confusion, survey.annotators, survey.classes, survey.classes)
    model.confusion_counts_ = tabulated(counts, survey.annotators, survey.classes, survey.classes)
    model.n_subtypes_, model.temperature_ = 1, found.temperature
    model._shared, model._shared_confusion = found.shared, found.confusion
    model._newcomer = of_newcomer(state.model)
    model._label_names = survey.classes
    model._log_weights, model._log_table = state.log_weights, table.reshape(-1, shape[1])


def _annotators(
    names: pd.Index,
    labels: Int[np.ndarray, "annotators labels"],
    sums: Quality,
    confusion: Matrices,
    model: AnnotatorModel,
) -> pd.DataFrame:
    """Tabulate the annotators, as `annotator_quality` does from all items."""
    share, n_labels = sums.sizes / sums.n_items, labels.sum(1)
    low, high = accuracy_interval(model, share, sums.doubted)
    return pd.DataFrame(
        {
            "n_labels": n_labels,
            "agreement": np.divide(sums.right, n_labels, out=np.full(len(names), np.nan), where=n_labels > 0),
            "accuracy": np.einsum("akk,k->a", confusion, share),
            "accuracy_low": low,
            "accuracy_high": high,
            "information": information(share, confusion),
        },
        index=names.rename("annotator"),
    )


def _with_constant(
    annotators: pd.DataFrame, constant: statistics.Annotators, confusion: Matrices, sums: Calibrated
) -> pd.DataFrame:
    """Replace what is told of annotators who were not heard."""
    share = sums.sizes / sums.sizes.sum()
    own = {
        "accuracy": np.einsum("akk,k->a", confusion, share),
        "accuracy_low": np.nan,
        "accuracy_high": np.nan,
        "information": information(share, confusion),
    }
    return annotators.assign(**{name: np.where(constant, value, annotators[name]) for name, value in own.items()})


def tabulated(values: Matrices, annotators: pd.Index, classes: pd.Index, labels: pd.Index) -> pd.DataFrame:
    """Return a row for each annotator and class, and a column for each label."""
    levels: Any = [annotators, classes]
    rows: Any = np.indices(values.shape[:2]).reshape(2, -1)
    index = pd.MultiIndex(levels, rows, names=["annotator", "class"])
    return pd.DataFrame(values.reshape(-1, values.shape[2]), index, labels.rename("label"))
