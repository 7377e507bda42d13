"""Reordering of fitted attributes from canonical order into the user's order.

An estimator reads annotations, puts them into canonical order (`consilience.annotations.canonical`) so that neither
their order nor their names make a difference, learns, and ends with `restore`. It declares in ``_axes`` which of its
attributes have an axis of items, annotators, groupings or groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.canonical import Arrangement
from consilience.annotations.names import inverse
from consilience.inference.sparse_tables import SparseTable

Axes = dict[str, tuple[str | None, ...]]
"""Kind of each axis of each attribute: "items", "annotators", "groupings", "groups", or None for any other."""


def restore(estimator: Any, arrangement: Arrangement[Any]) -> None:
    """Reorder the attributes that ``_axes`` declares, and ``items_``, from canonical order into the annotations' order.

    Along an axis, each annotator may have several consecutive positions, equally many for all; annotators who are not
    in the annotations stay last.
    """
    places = {
        name: inverse(order, len(order))
        for name, order in vars(arrangement).items()
        if name in ("items", "annotators", "groupings", "groups")
    }
    learned = vars(estimator)
    if "annotators_" in learned:  # those of a history come after the others
        further = np.arange(len(places["annotators"]), len(learned["annotators_"]))
        places["annotators"] = np.concatenate([places["annotators"], further])
    for attribute, axes in estimator._axes.items():
        if attribute in learned:
            learned[attribute] = restore_order(learned[attribute], axes, places)
    estimator.items_ = arrangement.names


def restore_order(value: Any, axes: Sequence[str | None], places: dict[str, Int[np.ndarray, " places"]]) -> Any:
    """Return an array, a table, or a list of these, with reordered axes.

    value : ndarray, Series, DataFrame or list of these
    axes : kind of each axis, a key of `places`; None for one that is not reordered
    places : for each kind, the old position of each new row
    """
    if isinstance(value, list):
        return [restore_order(part, axes, places) for part in value]
    for axis, kind in enumerate(axes):
        if kind is not None:
            value = _take(value, axis, _of_blocks(places[kind], value.shape[axis]))
    return value


def _of_blocks(places: Int[np.ndarray, " places"], length: int) -> Int[np.ndarray, " rows"]:
    """Rows of an axis on which each position has a block of consecutive rows."""
    width = length // max(len(places), 1)
    return (places[:, None] * width + np.arange(width)).ravel()


def _take(value: Any, axis: int, rows: Int[np.ndarray, " rows"]) -> Any:
    if isinstance(value, SparseTable):
        return value.take(rows)
    tables = isinstance(value, pd.DataFrame | pd.Series)
    return value.take(rows, axis=axis) if tables else np.take(value, rows, axis=axis)
