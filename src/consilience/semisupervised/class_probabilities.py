"""Probabilities of classes that users give in place of features: columns that are classes, rows that sum to 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.annotations.fit_arguments import first_named
from consilience.annotations.labels import sorted_names
from consilience.annotations.names import MISSING, name_index, plain
from consilience.errors import InputError

ROUNDING = 1e-3  # largest deviation of a row from 1
HINT = "Give a DataFrame with a column for each class, named by the class."


def match_columns(X: Any, labels: Labels) -> tuple[Labels, Int[np.ndarray, " classes"]]:
    """Return labels with the classes of all columns, and the column of each class.

    Columns are matched with classes by name, in whatever form a file gave it; those of an array by position, and those
    of a frame that are numbered from 0 and name no class. Raises InputError: a class has no column, or by position
    there is another number of columns than of classes.
    """
    names = _names_of(X)
    place = _places_of(names, labels.classes)
    if names is None or place is None:
        n_columns = np.shape(X)[1]
        if n_columns != labels.n_classes:
            raise InputError(
                f"There are {n_columns} columns of probabilities, and the labels have {labels.n_classes} classes: "
                f"{first_named(labels.classes)}. {HINT}"
            )
        return labels, np.arange(n_columns)
    together = name_index([*labels.classes, *names.delete(place)])
    columns = np.concatenate([place, np.delete(np.arange(len(names)), place)])
    classes = sorted_names(together) if labels.classes.equals(sorted_names(labels.classes)) else together
    label = classes.get_indexer(labels.classes)[labels.label]
    return replace(labels, classes=classes, label=label).in_order(), columns[together.get_indexer(classes)]


def columns_by_name(X: Any, classes: np.ndarray, fitted: Int[np.ndarray, " classes"]) -> Int[np.ndarray, " classes"]:
    """Return the column of each class of later items: by name where columns name classes, else as fitted.

    Raises InputError: a class has no column.
    """
    place = _places_of(_names_of(X), pd.Index(classes, tupleize_cols=False))
    return fitted if place is None else place


def _places_of(names: pd.Index | None, classes: pd.Index) -> Int[np.ndarray, " classes"] | None:
    """Return the column of each class by its name; None if columns have no names, or are numbered and name no class."""
    if names is None:
        return None
    place = names.astype(str).get_indexer(classes.astype(str))
    absent = place == MISSING
    if absent.all() and isinstance(names, pd.RangeIndex):
        return None
    if absent.any():
        name = plain(classes[absent][0])
        raise InputError(
            f"There is no column of probabilities for the class {name!r}, but {first_named(names)}. {HINT}"
        )
    return np.asarray(place)


def _names_of(X: Any) -> pd.Index | None:
    if isinstance(X, pd.DataFrame):
        return X.columns
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return pd.Index(frame.columns) if isinstance(frame, nw.DataFrame) else None


def require_probabilities(
    values: Float[np.ndarray, "items columns"], items: pd.Index | None
) -> Float[np.ndarray, "items columns"]:
    """Return rows that sum to 1.

    items : names, for the message; by default numbers of rows.

    Raises InputError: a value is negative, or a row does not sum to 1.
    """
    total = values.sum(1)
    wrong = (values < 0).any(1) | (np.abs(total - 1) > ROUNDING)
    if wrong.any():
        row = int(np.argmax(wrong))
        name = row if items is None else plain(items[row])
        raise InputError(
            f"With classifier='probabilities', features are probabilities of the classes. The row of item {name!r} has "
            f"values from {values[row].min():g} to {values[row].max():g} that sum to {total[row]:g}. Expected numbers "
            "from 0 that sum to 1."
        )
    return values / total[:, None]
