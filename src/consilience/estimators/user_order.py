"""What an estimator learned in canonical order, brought back into the order of the user.

An estimator reads annotations, puts them into canonical order (`consilience.annotations.canonical`) so that neither the
order in which they were given nor names make a difference, learns, and ends with `restore`. Which of its attributes
have an axis of items, annotators, groupings or groups, it declares in ``_axes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.canonical import Arrangement
from consilience.annotations.names import inverse

Axes = dict[str, tuple[str | None, ...]]
"""For each attribute what its axes are of: "items", "annotators", "groupings", "groups", or None for anything else."""


def restore(estimator: Any, arrangement: Arrangement[Any]) -> None:
    """Bring the attributes that ``_axes`` declares, and ``items_``, from canonical order into that of the annotations.

    Along an axis, several consecutive places may belong to each annotator, as many to each; annotators beyond those of
    the annotations stay last.
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
            learned[attribute] = restored(learned[attribute], axes, places)
    estimator.items_ = arrangement.names


def restored(value: Any, axes: Sequence[str | None], places: dict[str, Int[np.ndarray, " places"]]) -> Any:
    """Return an array, a table, or a list of such, with its axes in another order.

    Parameters
    ----------
    value : ndarray, Series, DataFrame or list of these
    axes : what each axis is of, a key of `places`; None for one that stays
    places : for each kind the place from which each new row comes
    """
    if isinstance(value, list):
        return [restored(part, axes, places) for part in value]
    for axis, kind in enumerate(axes):
        if kind is not None:
            value = _taken(value, axis, _of_blocks(places[kind], value.shape[axis]))
    return value


def _of_blocks(places: Int[np.ndarray, " places"], length: int) -> Int[np.ndarray, " rows"]:
    """Rows of an axis on which each place has a block of consecutive rows."""
    width = length // max(len(places), 1)
    return (places[:, None] * width + np.arange(width)).ravel()


def _taken(value: Any, axis: int, rows: Int[np.ndarray, " rows"]) -> Any:
    tables = isinstance(value, pd.DataFrame | pd.Series)
    return value.take(rows, axis=axis) if tables else np.take(value, rows, axis=axis)
