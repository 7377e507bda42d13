"""Knowledge of annotators that users give in addition to labels: the counts of earlier ones, a history."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.annotations import Labels
from consilience.annotations.fit_arguments import first_named
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import MISSING, name_index, outside, plain, union
from consilience.errors import AnnotationWarning, InputError

Counts = Float[np.ndarray, "annotators labels classes"]


def with_classes_of(history: Any, labels: Labels) -> Labels:
    """Return the labels with the classes of a history too, sorted if those of the labels are; else these come last.

    Raises InputError: another shape, a duplicate row or column, or no class of the labels.

    Warns AnnotationWarning: no label names some of the classes of the history.

    history : DataFrame indexed by annotator and class, one column for each label; or None
    """
    if history is None:
        return labels
    if not isinstance(history, pd.DataFrame) or history.index.nlevels != 2:
        raise InputError(
            "history must be a DataFrame indexed by annotator and class with a column for each label, such as "
            "confusion_counts_ of another fit."
        )
    if history.index.has_duplicates or history.columns.has_duplicates:
        raise InputError("history has a duplicate row or column. Expected one row for each annotator and class.")
    past = union([name_index(history.index.get_level_values(1).unique()), name_index(history.columns)])
    new = past[labels.classes.get_indexer(past) == MISSING]
    if new.empty:
        return labels
    if len(new) == len(past):
        raise InputError(
            f"history has none of the classes of the labels: it has {first_named(past)}, the labels "
            f"{first_named(labels.classes)}."
        )
    warnings.warn(
        f"history has classes that no label here names, which are among the classes nevertheless: {first_named(new)}.",
        AnnotationWarning,
        stacklevel=outside(),
    )
    together = union([labels.classes, new])
    if labels.classes.equals(sorted_names(labels.classes)):
        together = sorted_names(together)
    place = together.get_indexer(labels.classes)
    return replace(labels, classes=together, label=place[labels.label]).in_order()


def history_counts(history: Any, labels: Labels) -> tuple[pd.Index, Counts | float]:
    """Return all annotators, those of the labels first, and the counts of earlier labels; 0 if there are none.

    Raises InputError: an entry that is not a count.

    history : DataFrame indexed by annotator and class, one column for each label; or None
    labels : Labels with the classes of the history, see `with_classes_of`
    """
    if history is None:
        return labels.annotators, 0.0
    names = history.index.get_level_values(0)
    values = _counts(history, names)
    true = labels.classes.get_indexer(history.index.get_level_values(1))
    said = labels.classes.get_indexer(history.columns)
    annotators = union([labels.annotators, names.unique()])
    counts = np.zeros((len(annotators), labels.n_classes, labels.n_classes))
    counts[annotators.get_indexer(names)[:, None], said, true[:, None]] = values
    return annotators, counts


def _counts(history: pd.DataFrame, names: pd.Index) -> Float[np.ndarray, "rows labels"]:
    values = history.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"history of the annotator {plain(names[row])!r} has {plain(history.iloc[row, column])!r} in the column "
            f"{plain(history.columns[column])!r}. Expected a count of at least 0."
        )
    return values
