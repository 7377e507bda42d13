"""Gold items: items of known class, which users give in addition to labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.annotations.files.classes import place_of_classes
from consilience.annotations.names import MISSING, name_index, plain
from consilience.annotations.types import Gold
from consilience.errors import InputError
from consilience.inference.product_distributions import Responsibilities


def classes_of_gold(gold: Gold | None) -> list[Any]:
    """Return the classes of gold items, before it is known whether these are among the items.

    Examples
    --------
    >>> classes_of_gold({"ant": "skip", "bee": "cat"}), classes_of_gold(None)
    (['skip', 'cat'], [])
    """
    if not isinstance(gold, dict | pd.Series):
        return []
    return list(gold.values()) if isinstance(gold, dict) else gold.dropna().tolist()


def gold_codes(gold: Gold | None, labels: Labels) -> Int[np.ndarray, " items"] | None:
    """Return the code of each item's known class, -1 where it is unknown; None without gold items.

    Raises InputError: it is neither, an item is unknown or has two classes, or a class is not among those of the
    labels.

    gold : Series, or dict of classes by item, or None
    """
    if gold is None:
        return None
    if isinstance(gold, dict):
        gold = pd.Series(list(gold.values()), index=name_index(list(gold)), dtype=object)
    if isinstance(gold, pd.DataFrame) and gold.shape[1] in (1, 2):
        item, label = gold.columns[0], gold.columns[-1]
        remedy = f"gold[{label!r}]" if gold.shape[1] == 1 else f"gold.set_index({item!r})[{label!r}]"
        raise InputError(f"gold must be a Series or a dict of classes by item, not a frame; give {remedy}.")
    if not isinstance(gold, pd.Series):
        raise InputError(f"gold must be a Series or a dict of classes by item. Got {type(gold).__name__} instead.")
    twice = gold.index.duplicated()
    if twice.any():
        raise InputError(f"gold has two classes for the item {plain(gold.index[twice][0])!r}.")
    if gold.isna().any():
        raise InputError(f"The gold item {plain(gold.index[gold.isna()][0])!r} has no class; leave it out.")
    place, code = labels.items.get_indexer(gold.index), place_of_classes(gold.to_numpy(), labels.classes)
    if (place == MISSING).any():
        raise InputError(f"The gold item {plain(gold.index[place == MISSING][0])!r} is not among the items.")
    if (code == MISSING).any():
        row = int(np.argmax(code == MISSING))
        raise InputError(
            f"The gold item {plain(gold.index[row])!r} has the class {plain(gold.iloc[row])!r}, which nobody gave. "
            "Name all classes when you create the Labels, with classes=[...]."
        )
    if gold.empty:
        return None
    known = np.full(len(labels), MISSING)
    known[place] = code
    return known


def require_named(known: np.ndarray | None, n_components: int, labels: Labels, model: str) -> None:
    """Refuse gold items where the components are not the classes of the labels.

    Raises InputError: there are gold items, and another number of components than of classes.
    """
    if known is not None and n_components != labels.n_classes:
        raise InputError(
            f"gold names classes, and the components of {model} are not classes: there are {n_components}, and the "
            f"labels have {labels.n_classes}. Leave out gold, or n_clusters."
        )


def with_known(
    responsibilities: Responsibilities, known: Int[np.ndarray, " items"] | None
) -> Float[np.ndarray, "items components"]:
    """Return responsibilities in which gold items have their class; the same if there are none.

    Examples
    --------
    >>> with_known(np.full((2, 2), 0.5), np.array([-1, 1]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if known is None:
        return responsibilities
    # -1 reads the last row, which is not taken
    return np.where((known >= 0)[:, None], np.eye(responsibilities.shape[1])[known], responsibilities)
