"""Confusion matrices of many groupings, which differ in size, stored end to end, and their prior.

Source: Chen et al. (2018), Crowdclustering with Partition Labels, (9) and (10); the reliability of annotators is ours.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import gammaln

from consilience.inference.exponential_family import segment_sizes

BLOCK_GROUPS = 1 << 16  # groups that Cells.products gathers at a time


@dataclass(frozen=True)
class ConfusionCells:
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
    def of(cls, grouping_of_group: Int[np.ndarray, " groups"]) -> ConfusionCells:
        """Pair the groups of each grouping; the groups of a grouping are contiguous."""
        first = np.flatnonzero(np.diff(grouping_of_group, prepend=-1))
        sizes = segment_sizes(first, len(grouping_of_group))
        width = np.repeat(sizes, sizes)  # of the row of each group
        starts = np.cumsum(width) - width
        row = np.repeat(np.arange(len(width)), width)
        # from the first group of the grouping on, in every row
        column = np.repeat(np.repeat(first, sizes) - starts, width) + np.arange(width.sum())
        return cls(row, column, starts, first)

    def matrix(self, values: Float[np.ndarray, " cells"]) -> csr_array:
        """Block-diagonal (groups, groups) matrix of the values."""
        matrix = copy(self._pattern)  # without the checks of a new one, which take longer than a product
        matrix.data = values
        return matrix

    @cached_property
    def _pattern(self) -> csr_array:
        n, n_cells = len(self.starts), len(self.column)
        return csr_array((np.zeros(n_cells), self.column, np.append(self.starts, n_cells)), shape=(n, n))

    def products(
        self, left: Float[np.ndarray, "groups clusters"], right: Float[np.ndarray, "groups clusters"]
    ) -> Float[np.ndarray, " cells"]:
        """left_j · right_l for every cell."""
        found = np.empty(len(self.row))
        for groups, cells in self._blocks:
            found[cells] = np.einsum("mjk,mlk->mjl", left[groups], right[groups])
        return found

    def softmax(self, score: Float[np.ndarray, "groups clusters"]) -> Float[np.ndarray, "groups clusters"]:
        """Softmax over the groups of each grouping."""
        found = np.empty_like(score)
        for groups, _ in self._blocks:
            block = score[groups]
            block -= block.max(1, keepdims=True)  # no exp overflows
            np.exp(block, out=block)
            found[groups] = block / block.sum(1, keepdims=True)
        return found

    @cached_property
    def _blocks(self) -> list[tuple[Int[np.ndarray, "groupings J"], Int[np.ndarray, "groupings J J"]]]:
        """Groups and cells of the groupings with J groups, for each J; of large ones a part at a time."""
        sizes = segment_sizes(self.first_group, len(self.starts))
        blocks = []
        for size in np.unique(sizes):
            first = self.first_group[sizes == size]
            step = max(BLOCK_GROUPS // int(size), 1)
            for start in range(0, len(first), step):
                groups = first[start : start + step, None] + np.arange(size)
                blocks.append((groups, self.starts[groups][:, :, None] + np.arange(size)))
        return blocks


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

    cells: ConfusionCells
    strength: Float[np.ndarray, " groups"]
    chance: Float[np.ndarray, " groups"]
    most: Float[np.ndarray, " groups"]
    annotator: Int[np.ndarray, " groups"]
    n_annotators: int

    @classmethod
    def of(
        cls,
        cells: ConfusionCells,
        annotator: Int[np.ndarray, " groups"],
        n_annotators: int,
        diagonal: float,
        off_diagonal: float,
    ) -> ConfusionPrior:
        """The prior whose α is diagonal (J − 1), and whose β is `off_diagonal`, for annotators of reliability 1."""
        n_groups = segment_sizes(cells.starts, len(cells.row))  # J, of each group
        others = n_groups - 1
        # a single group cannot be confused with another
        most = np.where(others > 0, diagonal / (diagonal + off_diagonal), 1.0)
        strength = np.where(others > 0, (diagonal + off_diagonal) * others, diagonal)
        # a prior may expect less than chance
        return cls(cells, strength, np.minimum(1 / n_groups, most), most, annotator, n_annotators)

    def accuracy(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " groups"]:
        """a_m of the grouping of each group."""
        return self.chance + reliability[self.annotator] * (self.most - self.chance)

    def values(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " cells"]:
        """Ψ."""
        return self._of_cells(*self._values_of_rows(reliability))

    def _of_cells(self, right: np.ndarray, wrong: np.ndarray) -> Float[np.ndarray, " cells"]:
        """Values on the diagonal, and elsewhere, of each j."""
        return np.where(self.cells.row == self.cells.column, right[self.cells.row], wrong[self.cells.row])

    def _values_of_rows(self, reliability: Float[np.ndarray, " annotators"]) -> tuple[np.ndarray, np.ndarray]:
        """Ψ on the diagonal, and elsewhere, for each j."""
        accuracy = self.accuracy(reliability)
        # a single group has no others, and 1 − a = 0
        others = np.maximum(segment_sizes(self.cells.starts, len(self.cells.row)) - 1, 1)
        return self.strength * accuracy, self.strength * (1 - accuracy) / others

    def log_densities(self, reliability: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, " annotators"]:
        """ln p(r), less its value at 1: `IMAGINED` labels of the prior's accuracy, divided over the groupings."""
        first = self.cells.first_group
        found, most = self.accuracy(reliability)[first], self.most[first]
        # 0 / 0 where a grouping has a single group; replaced below
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
        scores = np.array([self._log_joint(counts, place) for place in range(len(RELIABILITIES))])
        gain = scores.max(0) - scores[-1]  # over a reliability of 1, the last
        doubted = np.argsort(-gain, kind="stable")[: (len(np.unique(self.annotator)) - 1) // 2]
        found = np.ones(self.n_annotators)
        found[doubted] = RELIABILITIES[::-1][np.argmax(scores[::-1], axis=0)][doubted]  # of equals the highest
        return found

    def _log_joint(self, counts: Float[np.ndarray, " cells"], place: int) -> Float[np.ndarray, " annotators"]:
        """ln p(counts, r) of each annotator with the reliability at this place, without what does not depend on it."""
        right, wrong, constant = self._candidates[place]
        of_cells = gammaln(self._of_cells(right, wrong) + counts)
        of_groupings = np.add.reduceat(of_cells, self.cells.starts[self.cells.first_group])
        annotator = self.annotator[self.cells.first_group]
        return np.bincount(annotator, of_groupings, self.n_annotators) + constant

    @cached_property
    def _candidates(self) -> list[tuple[np.ndarray, np.ndarray, Float[np.ndarray, " annotators"]]]:
        """`_values_of_rows`, and what `_log_joint` has without counts, if everyone has the same of `RELIABILITIES`."""
        others = segment_sizes(self.cells.starts, len(self.cells.row)) - 1
        found = []
        for reliability in RELIABILITIES:
            everyone = np.full(self.n_annotators, reliability)
            right, wrong = self._values_of_rows(everyone)
            # ln Γ(0) is infinite where there are no others
            of_rows = gammaln(right) + np.where(others > 0, others * gammaln(np.where(others > 0, wrong, 1.0)), 0.0)
            constant = self.log_densities(everyone) - np.bincount(self.annotator, of_rows, self.n_annotators)
            found.append((right, wrong, constant))
        return found
