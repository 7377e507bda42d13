"""Knowledge that users give in addition to labels: gold items, and the history of annotators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.annotations.names import MISSING, name_index, plain, union
from consilience.errors import InputError

Counts = Float[np.ndarray, "annotators labels classes"]


def gold_codes(gold: Any, labels: Labels) -> Int[np.ndarray, " items"] | None:
    """Return the code of each item's known class, -1 where it is unknown; None if no gold is given.

    Parameters
    ----------
    gold : Series, or dict of classes by item, or None
    labels : Labels

    Raises
    ------
    InputError
        It is neither, an item is unknown or has two classes, or a class is not among those of the labels.
    """
    if gold is None:
        return None
    if isinstance(gold, dict):
        gold = pd.Series(list(gold.values()), index=name_index(list(gold)), dtype=object)
    if not isinstance(gold, pd.Series):
        raise InputError(f"gold must be a Series or a dict of classes by item. Got {type(gold).__name__} instead.")
    twice = gold.index.duplicated()
    if twice.any():
        raise InputError(f"gold has two classes for the item {plain(gold.index[twice][0])!r}.")
    if gold.isna().any():
        raise InputError(f"The gold item {plain(gold.index[gold.isna()][0])!r} has no class; leave it out.")
    place, code = labels.items.get_indexer(gold.index), labels.classes.get_indexer(name_index(gold.to_numpy()))
    if (place == MISSING).any():
        raise InputError(f"The gold item {plain(gold.index[place == MISSING][0])!r} is not among the items.")
    if (code == MISSING).any():
        row = int(np.argmax(code == MISSING))
        raise InputError(
            f"The gold item {plain(gold.index[row])!r} has the class {plain(gold.iloc[row])!r}, which nobody gave. "
            "Name all classes when you create the Labels, with classes=[...]."
        )
    known = np.full(len(labels), MISSING)
    known[place] = code
    return known


def history_counts(history: Any, labels: Labels) -> tuple[pd.Index, Counts | float]:
    """Return all annotators, those of the labels first, and the counts of earlier labels; 0 if there are none.

    Parameters
    ----------
    history : DataFrame indexed by annotator and class, one column for each label; or None
    labels : Labels

    Raises
    ------
    InputError
        Another shape, a duplicate row or column, a class that is not among those of the labels, or an entry that is
        not a count.
    """
    if history is None:
        return labels.annotators, 0.0
    if not isinstance(history, pd.DataFrame) or history.index.nlevels != 2:
        raise InputError(
            "history must be a DataFrame indexed by annotator and class with a column for each label, such as "
            "confusion_counts_ of another fit."
        )
    if history.index.has_duplicates or history.columns.has_duplicates:
        raise InputError("history has a duplicate row or column. Expected one row for each annotator and class.")
    names = history.index.get_level_values(0)
    values = _counts(history, names)
    true = _places(history.index.get_level_values(1), labels.classes)
    said = _places(history.columns, labels.classes)
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


def _places(names: pd.Index, classes: pd.Index) -> Int[np.ndarray, " names"]:
    place = classes.get_indexer(names)
    if (place == MISSING).any():
        raise InputError(f"history has the class {plain(names[place == MISSING][0])!r}, which the labels do not have.")
    return place
