"""Confusion matrices of many groupings, which differ in size, stored end to end, and their prior.

Source: Chen et al. (2018), Crowdclustering with Partition Labels, (9) and (10); the reliability of annotators is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import gammaln

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


RELIABILITIES = np.linspace(0, 1, 9)
IMAGINED = 20  # labels of the prior's accuracy that each annotator is credited with


@dataclass(frozen=True)
class ConfusionPrior:
    """Dirichlet parameters Ψ of all confusion matrices, given how reliable each annotator is.

        Ψ_l^{mj} = s_m a_m if l = j else s_m (1 − a_m) / (J_m − 1),    s_m = (α + β) (J_m − 1)
        a_m = (1 − r) / J_m + r α / (α + β)

    An annotator of reliability r = 1 has the prior of (10); one of reliability 0 is expected to guess.

    cells : of all groupings.
    strength : (groups,) s_m; α of a grouping with a single group.
    chance, most : (groups,) a_m of reliability 0 and 1.
    annotator : (groups,) whose grouping it is.
    n_annotators : some may have no grouping.
    """

    cells: Cells
    strength: Float[np.ndarray, " groups"]
    chance: Float[np.ndarray, " groups"]
    most: Float[np.ndarray, " groups"]
    annotator: Int[np.ndarray, " groups"]
    n_annotators: int

    @classmethod
    def of(
        cls,
        cells: Cells,
        annotator: Int[np.ndarray, " groups"],
        n_annotators: int,
        diagonal: float,
        off_diagonal: float,
    ) -> ConfusionPrior:
        """The prior whose α is diagonal (J − 1), and whose β is `off_diagonal`, for annotators of reliability 1."""
        n_groups = segment_sizes(cells.starts, len(cells.row))  # J, of each group
        others = n_groups - 1
        most = np.where(others > 0, diagonal / (diagonal + off_diagonal), 1.0)
        strength = np.where(others > 0, (diagonal + off_diagonal) * others, diagonal)
        return cls(cells, strength, np.minimum(1 / n_groups, most), most, annotator, n_annotators)

    def accuracy(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " groups"]:
        """a_m of the grouping of each group."""
        return self.chance + reliability[self.annotator] * (self.most - self.chance)

    def values(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " cells"]:
        """Ψ."""
        right, wrong = self._values_of_rows(reliability)
        return np.where(self.cells.row == self.cells.column, right[self.cells.row], wrong[self.cells.row])

    def _values_of_rows(self, reliability: Float[np.ndarray, " annotators"]) -> tuple[np.ndarray, np.ndarray]:
        """Ψ on the diagonal, and elsewhere, for each j."""
        accuracy = self.accuracy(reliability)
        others = np.maximum(segment_sizes(self.cells.starts, len(self.cells.row)) - 1, 1)
        return self.strength * accuracy, self.strength * (1 - accuracy) / others

    def log_densities(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " annotators"]:
        """ln p(r), less its value at 1: `IMAGINED` labels of the prior's accuracy, divided over the groupings."""
        first = self.cells.first_group
        found, most = self.accuracy(reliability)[first], self.most[first]
        with np.errstate(divide="ignore", invalid="ignore"):
            less = most * np.log(found / most) + (1 - most) * np.log((1 - found) / (1 - most))
        annotator = self.annotator[first]
        n_groupings = np.maximum(np.bincount(annotator, minlength=self.n_annotators), 1)
        less = np.where(most < 1, less, 0.0)
        return IMAGINED * np.bincount(annotator, less, self.n_annotators) / n_groupings

    def most_probable(self, counts: Float[np.ndarray, " cells"]) -> Float[np.ndarray, " annotators"]:
        """The r among `RELIABILITIES` under which counts of labels and itself are most probable, 1 for more than half.

        Without a majority that is believed, nobody would be, and all labels would be explained as guesses.
        """
        scores = np.array([self._log_joint(counts, reliability) for reliability in RELIABILITIES])
        gain = scores.max(0) - scores[-1]
        doubted = np.argsort(-gain, kind="stable")[: (len(np.unique(self.annotator)) - 1) // 2]
        found = np.ones(self.n_annotators)
        found[doubted] = RELIABILITIES[::-1][np.argmax(scores[::-1], axis=0)][doubted]  # of equals the highest
        return found

    def _log_joint(self, counts: Float[np.ndarray, " cells"], reliability: float) -> Float[np.ndarray, " annotators"]:
        """ln p(counts, r) of each annotator who has this reliability, without what does not depend on it."""
        everyone = np.full(self.n_annotators, reliability)
        right, wrong = self._values_of_rows(everyone)
        is_right = self.cells.row == self.cells.column
        of_cells = gammaln(np.where(is_right, right[self.cells.row], wrong[self.cells.row]) + counts)
        of_rows = np.add.reduceat(of_cells, self.cells.starts)
        others = segment_sizes(self.cells.starts, len(self.cells.row)) - 1
        of_rows -= gammaln(right) + np.where(others > 0, others * gammaln(np.where(others > 0, wrong, 1.0)), 0.0)
        return np.bincount(self.annotator, of_rows, self.n_annotators) + self.log_densities(everyone)
