"""Confusion matrices of many groupings, which differ in size, stored end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.inference.exponential_family import segment_sizes

PRODUCT_ENTRIES = 1 << 22  # entries of each factor that Cells.products gathers at a time: 32 megabytes


@dataclass(frozen=True)
class Cells:
    """Pairs (j, l) of groups of one grouping, ordered by j, then l: the entries of all confusion matrices.

    row, column : (cells,) the groups j and l.
    starts : (groups,) first cell of each j.
    first_group : (groupings,) first group of each grouping.
    """

    row: Int[np.ndarray, " cells"]
    column: Int[np.ndarray, " cells"]
    starts: Int[np.ndarray, " groups"]
    first_group: Int[np.ndarray, " groupings"]

    @classmethod
    def of(cls, grouping_of_group: Int[np.ndarray, " groups"]) -> Cells:
        """Pair the groups of each grouping; the groups of a grouping are contiguous."""
        first = np.flatnonzero(np.diff(grouping_of_group, prepend=-1))
        sizes = segment_sizes(first, len(grouping_of_group))
        width = np.repeat(sizes, sizes)  # of the row of each group
        starts = np.cumsum(width) - width
        row = np.repeat(np.arange(len(width)), width)
        column = np.repeat(np.repeat(first, sizes) - starts, width) + np.arange(width.sum())
        return cls(row, column, starts, first)

    def matrix(self, values: Float[np.ndarray, " cells"]) -> csr_array:
        """Block-diagonal (groups, groups) matrix of the values."""
        n = len(self.starts)
        return csr_array((values, self.column, np.append(self.starts, len(values))), shape=(n, n))

    def products(
        self, left: Float[np.ndarray, "groups clusters"], right: Float[np.ndarray, "groups clusters"]
    ) -> Float[np.ndarray, " cells"]:
        """left_j · right_l for every cell."""
        step = max(PRODUCT_ENTRIES // left.shape[1], 1)
        parts = [
            np.einsum("ck,ck->c", left[self.row[i : i + step]], right[self.column[i : i + step]])
            for i in range(0, len(self.row), step)
        ]
        return np.concatenate(parts)


def confusion_prior(cells: Cells, diagonal: float, off_diagonal: float) -> Float[np.ndarray, " cells"]:
    """(10): α = diagonal (J − 1) where l = j, β elsewhere."""
    others = np.maximum(segment_sizes(cells.starts, len(cells.row)) - 1, 1)
    return np.where(cells.row == cells.column, diagonal * others[cells.row], off_diagonal)
