"""Further labels: those that an annotator gives an item beside a first one.

Rows are those of `Labels`, sorted by item, annotator and label. The labels that an annotator gives an item are a cell.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.annotations.names import Coded, name_index


def is_further(item: Int[np.ndarray, " rows"], annotator: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
    """Whether the row before is of the same cell."""
    further = np.zeros(len(item), dtype=bool)
    np.equal(item[1:], item[:-1], out=further[1:])
    further[1:] &= annotator[1:] == annotator[:-1]
    return further


def occasions(item: Coded, annotator: Coded, label: Coded) -> Coded:
    """Tell the labels of a cell apart, as the annotator's name, name (2), name (3), …

    Where no cell has several labels, `annotator` itself. Which label of a cell is the first follows from the names
    alone, as if drawn by lot: the order in which labels were given is not known, and by any order of the classes first
    labels, and further ones, would be alike more often than the annotator said.
    """
    further = is_further(item.codes, annotator.codes)
    if not further.any():
        return annotator
    row = np.arange(len(further))
    start = np.maximum.accumulate(np.where(further, 0, row))  # of the cell of each row
    number = np.empty_like(row)
    number[np.lexsort([_lots(item, annotator, label), start])] = row - start
    names = [str(name) for name in annotator.names]  # text throughout: files keep names of one kind in a column
    names += [f"{name} ({i})" for i in range(2, int(number.max()) + 2) for name in annotator.names]
    return Coded(number * len(annotator.names) + annotator.codes, name_index(names))


def _lots(*columns: Coded) -> np.ndarray:
    """Return a number for each row that follows from its names and looks like chance."""
    hashes = {}
    for place, column in enumerate(columns):
        text = np.array([str(name) for name in column.names], dtype=object)
        hashes[place] = pd.util.hash_array(text)[column.codes]
    return pd.util.hash_pandas_object(pd.DataFrame(hashes), index=False).to_numpy()
