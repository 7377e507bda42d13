"""Further labels: those that an annotator gives an item after a first one.

Rows are those of `Labels`, sorted by item, annotator and label. The labels of an item by one annotator form a cell.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations.names import Coded, name_index


def is_further(item: Int[np.ndarray, " rows"], annotator: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
    """Whether the previous row belongs to the same cell."""
    further = np.zeros(len(item), dtype=bool)
    np.equal(item[1:], item[:-1], out=further[1:])
    further[1:] &= annotator[1:] == annotator[:-1]
    return further


def sum_cells(
    values: Float[np.ndarray, "rows ..."], item: Int[np.ndarray, " rows"], annotator: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, "rows ..."]:
    """For each row, the sum of the values over its cell.

    Examples
    --------
    >>> sum_cells(np.array([0.1, 0.2, 0.4]), np.array([0, 0, 1]), np.array([3, 3, 3])).round(1).tolist()
    [0.3, 0.3, 0.4]
    """
    first = ~is_further(item, annotator)
    if first.all():
        return values
    return np.asarray(np.add.reduceat(values, np.flatnonzero(first), axis=0)[np.cumsum(first) - 1])


def occasions(item: Coded, annotator: Coded, label: Coded) -> Coded:
    """Number the labels of a cell, as the annotator's name, name (2), name (3), …

    If no cell has several labels, return `annotator` itself. The order of labels within a cell is pseudo-random and
    follows only from the names: the order in which labels were given is unknown, and in any fixed order of the classes
    first labels, and further ones, would agree more often than the annotator meant.
    """
    further = is_further(item.codes, annotator.codes)
    if not further.any():
        return annotator
    row = np.arange(len(further))
    start = np.maximum.accumulate(np.where(further, 0, row))  # of the cell of each row
    number = np.empty_like(row)
    # by hashes of names: the order of rows decides nothing
    number[np.lexsort([_lots(item, annotator, label), start])] = row - start
    names = [str(name) for name in annotator.names]  # all text: in files, the names of a column have one type
    names += [f"{name} ({i})" for i in range(2, int(number.max()) + 2) for name in annotator.names]
    return Coded(number * len(annotator.names) + annotator.codes, name_index(names))


def _lots(*columns: Coded) -> np.ndarray:
    """Return a pseudo-random number for each row that follows from its names."""
    hashes = {}
    for place, column in enumerate(columns):
        text = np.array([str(name) for name in column.names], dtype=object)
        hashes[place] = pd.util.hash_array(text)[column.codes]
    return pd.util.hash_pandas_object(pd.DataFrame(hashes), index=False).to_numpy()
