"""How similar the sorts of annotators are: RV coefficients, weights and a map of the annotators, as in DISTATIS.

H. Abdi, D. Valentin, S. Chollet & C. Chrea (2007), Analyzing assessors and products in sorting tasks: DISTATIS, theory
and applications, Food Quality and Preference 18(4).

    C_h[i, j]  1 if grouping h puts i and j together, C_h[i, i] = 1
    S_a        Σ_h Ξ C_h Ξ over the groupings h of annotator a, Ξ centring over the items of h
    RV_ab      tr(S_a S_b) / sqrt(tr(S_a²) tr(S_b²))
    w          first eigenvector of RV, scaled to sum 1
    G          V Λ^(1/2) of the leading eigenpairs of RV: places of the annotators

Decided here
------------
Items that an annotator left out are not in S_a; RV_ab is taken over the items that both sorted, and is unknown (NaN)
if these are fewer than three, or if an annotator put all of them together. For weights and places, an unknown
coefficient counts as the mean of the known ones.

RV is not corrected for chance: two random sorts have a positive coefficient, which grows with the number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.linalg import eigh

from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.errors import InputError
from consilience.inference.spectral import turn_upright

__all__ = ["rv_coefficients"]

FEWEST_COMMON = 3  # items of two annotators
MOST_NUMBERS = 20_000_000  # annotators × items²
NEGLIGIBLE = 1e-9
MOST_AXES = 10  # whose eigenvectors are kept
AT_ONCE = 500  # annotators whose products are scaled at a time


@dataclass(frozen=True)
class SortTable:
    """Groupings as a table.

    annotator : of each grouping.
    group : of each item in each grouping, numbered from 0; -1 where the item is not in it.
    n_annotators : number of annotators, including those without groupings.
    """

    annotator: Int[np.ndarray, " groupings"]
    group: Int[np.ndarray, "groupings items"]
    n_annotators: int

    @classmethod
    def of(cls, groupings: Groupings) -> SortTable:
        """Read groupings."""
        of_row = groupings.incidence.indices
        grouping = groupings.grouping_of_group
        filled = np.unique(of_row)  # groups that have items
        # groups are in the order of groupings
        first = np.searchsorted(grouping[filled], np.arange(groupings.n_groupings))
        number = np.zeros(groupings.n_groups, dtype=np.intp)
        number[filled] = np.arange(len(filled)) - first[grouping[filled]]
        group = np.full((groupings.n_groupings, groupings.n_items), -1)
        group[grouping[of_row], groupings.item_of_row] = number[of_row]
        return cls(np.asarray(groupings.annotator_of_grouping), group, groupings.n_annotators)

    @property
    def n_groups(self) -> Int[np.ndarray, " groupings"]:
        """Number of groups in each grouping."""
        return np.asarray(self.group.max(1, initial=-1) + 1)

    def of_annotators(self, chosen: Int[np.ndarray, " chosen"]) -> SortTable:
        """Return those of some annotators, who are numbered anew."""
        place = np.full(self.n_annotators, -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.annotator] >= 0
        return SortTable(place[self.annotator[kept]], self.group[kept], len(chosen))


@dataclass(frozen=True)
class ScalarProducts:
    """Centred co-occurrence of the items of each annotator.

    products : S_a.
    seen : whether the annotator sorted the item.
    """

    products: Float[np.ndarray, "annotators items items"]
    seen: Bool[np.ndarray, "annotators items"]

    @classmethod
    def of(cls, sorts: SortTable) -> ScalarProducts:
        """Add up the groupings of each annotator."""
        n_items = sorts.group.shape[1]
        products = np.zeros((sorts.n_annotators, n_items, n_items))
        seen = np.zeros((sorts.n_annotators, n_items), dtype=bool)
        for annotator, group in zip(sorts.annotator.tolist(), sorts.group, strict=True):
            held = group >= 0
            products[annotator] += _centre_grouping(group, held)
            seen[annotator] |= held
        return cls(products, seen)

    @cached_property
    def squares(self) -> Float[np.ndarray, " annotators"]:
        """Sum of the squares of each annotator's products, one after the other, as all squares take much memory."""
        return np.array([(one**2).sum() for one in self.products], dtype=float)

    @cached_property
    def rv(self) -> Float[np.ndarray, "annotators annotators"]:
        """RV coefficients; NaN where they are unknown, also on the diagonal."""
        n = len(self.products)
        flat = self.products.reshape(n, -1)
        numerator = flat @ flat.T
        if self.seen.all():
            own = np.broadcast_to(numerator.diagonal()[:, None], numerator.shape)
        else:
            both = (self.seen[:, :, None] & self.seen[:, None, :]).reshape(n, -1)
            own = flat**2 @ both.T.astype(float)
        scale = own * own.T
        np.sqrt(scale, out=scale)
        known = (self.seen.astype(float) @ self.seen.T >= FEWEST_COMMON) & (scale > NEGLIGIBLE)
        rv = np.divide(numerator, scale, out=np.full(numerator.shape, np.nan), where=known)
        rv[np.diag_indices(n)] = np.where(known.diagonal(), 1.0, np.nan)
        return rv

    @cached_property
    def filled(self) -> Float[np.ndarray, "annotators annotators"]:
        """RV coefficients with the mean of the known ones in place of the unknown ones; 1 on the diagonal."""
        others = ~np.eye(len(self.rv), dtype=bool)
        known = np.isfinite(self.rv)
        mean = self.rv[known & others].mean() if (known & others).any() else 0.0
        filled = np.where(known, self.rv, mean)
        np.fill_diagonal(filled, 1.0)
        return filled

    def _eigenpairs_by_items(self) -> tuple[Float[np.ndarray, " axes"], Float[np.ndarray, "annotators first"]]:
        """Return eigenvalues that are not 0, in rising order, and last eigenvectors, where all coefficients are known.

        From the sums of products of pairs of items, of which there are fewer than annotators. Products of an annotator
        are symmetric: what is beside the diagonal counts twice.
        """
        n, n_items = self.seen.shape
        one, other = np.triu_indices(n_items)
        factor = np.where(one == other, 1.0, np.sqrt(2.0))
        parts = [slice(start, start + AT_ONCE) for start in range(0, n, AT_ONCE)]

        def rows(some: slice) -> Float[np.ndarray, "some pairs"]:
            return self.products[some][:, one, other] * factor / np.sqrt(self.squares[some])[:, None]

        values, axes = eigh(sum(of.T @ of for of in map(rows, parts)))
        values = values[values > NEGLIGIBLE * values[-1]]
        first = np.sqrt(values[-MOST_AXES:])
        return values, np.concatenate([rows(some) @ axes[:, -len(first) :] for some in parts]) / first

    @cached_property
    def eigenpairs(self) -> tuple[Float[np.ndarray, " axes"], Float[np.ndarray, "annotators first"]]:
        """Eigenvalues of the filled coefficients, the largest first, and the first eigenvectors, the first positive."""
        n_annotators, n_items = self.seen.shape
        is_known = n_items >= FEWEST_COMMON and self.seen.all() and self.squares.min(initial=1.0) > NEGLIGIBLE
        is_quick = is_known and n_annotators > n_items * (n_items + 1) // 2
        values, vectors = self._eigenpairs_by_items() if is_quick else eigh(self.filled)
        return values[::-1], turn_upright(vectors[:, : -MOST_AXES - 1 : -1])

    @property
    def weights(self) -> Float[np.ndarray, " annotators"]:
        """Weights of the annotators in the compromise; 0 for those who put all their items together."""
        silent = self.squares <= NEGLIGIBLE
        first = np.where(silent, 0.0, np.abs(self.eigenpairs[1][:, 0]))
        total = first.sum()
        return first / total if total > NEGLIGIBLE else np.full(len(first), 1 / max(len(first), 1))

    def places(self, n_axes: int) -> tuple[Float[np.ndarray, "annotators axes"], Float[np.ndarray, " axes"]]:
        """Coordinates of annotators, NaN without a coefficient, and each axis's share of the positive eigenvalues."""
        values = np.maximum(self.eigenpairs[0], 0.0)
        used = min(n_axes, len(values))
        places, shares = np.zeros((len(self.products), n_axes)), np.zeros(n_axes)
        places[:, :used] = self.eigenpairs[1][:, :used] * np.sqrt(values[:used])
        shares[:used] = values[:used] / max(values.sum(), NEGLIGIBLE)
        places[(self.seen.sum(1) < FEWEST_COMMON) | (self.squares <= NEGLIGIBLE)] = np.nan
        return places, shares

    def some(self, chosen: Int[np.ndarray, " chosen"]) -> ScalarProducts:
        """Return those of some annotators."""
        if np.array_equal(chosen, np.arange(len(self.products))):
            return self  # without a copy of much memory
        return ScalarProducts(self.products[chosen], self.seen[chosen])

    def compromise(self, weights: Float[np.ndarray, " annotators"]) -> Float[np.ndarray, "items items"]:
        """Weighted mean of the S_a, each scaled to length 1; of the annotators who sorted both items."""
        n = len(weights)
        length = np.sqrt(self.squares)
        factor = np.divide(weights, length, out=np.zeros(n), where=length > NEGLIGIBLE)
        total = np.tensordot(factor, self.products, 1)
        seen = self.seen.astype(float)
        of = (seen * weights[:, None]).T @ seen
        return np.divide(total, of, out=np.zeros_like(total), where=of > NEGLIGIBLE)

    def with_matrix(self, matrix: Float[np.ndarray, "items items"]) -> Float[np.ndarray, " annotators"]:
        """RV coefficient of each annotator with a matrix, over the annotator's items; NaN where it is unknown."""
        numerator = np.tensordot(self.products, matrix, 2)
        seen = self.seen.astype(float)
        of_matrix = np.einsum("ai,ij,aj->a", seen, matrix**2, seen, optimize=True)
        scale = np.sqrt(self.squares * of_matrix)
        return np.divide(numerator, scale, out=np.full(len(scale), np.nan), where=scale > NEGLIGIBLE)


def _centre_grouping(
    group: Int[np.ndarray, " items"], held: Bool[np.ndarray, " items"]
) -> Float[np.ndarray, "items items"]:
    """Return the centred co-occurrence of a grouping; 0 for items that are not in it."""
    both = held[:, None] & held
    joined = ((group[:, None] == group) & both).astype(float)
    n = max(int(held.sum()), 1)
    mean = joined.sum(0) / n
    joined -= mean[:, None] + mean - mean.sum() / n
    joined *= both
    return joined


def rv_coefficients(groupings: Any) -> pd.DataFrame:
    """Return the RV coefficient of each pair of annotators: how similar their centred co-occurrence matrices are.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        The co-occurrence of an annotator with several groupings is the sum over these.

    Returns
    -------
    DataFrame, shape (n_annotators, n_annotators)
        Symmetric, from 0 to 1: 1 for the same groups. It is not corrected for chance; `annotator_agreement` is. NaN if
        two annotators have fewer than 3 items in common, or if one of them put all their items together.

    Raises
    ------
    InputError
        The annotations are Pairs or an array of another shape; or there are too many annotators and items.

    References
    ----------
    Robert & Escoufier (1976). A unifying tool for linear multivariate statistical methods: the RV-coefficient.
    Journal of the Royal Statistical Society C 25.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import rv_coefficients
    >>> sorts = Groupings.from_matrix(
    ...     [["p", "x", "x"], ["p", "x", "y"], ["q", "y", "y"], ["q", "y", "x"]], annotators=["Ann", "Bo", "Cy"]
    ... )
    >>> rv_coefficients(sorts).to_numpy()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    found = scalar_products(as_groupings(groupings, None, "rv_coefficients"), "rv_coefficients")
    names = found[0].annotators.rename("annotator")
    return pd.DataFrame(found[1].rv, index=names, columns=names)


def scalar_products(groupings: Groupings, function: str) -> tuple[Groupings, ScalarProducts]:
    """Return groupings with their products. Raises InputError: there are too many annotators and items."""
    if not fits(groupings):
        raise InputError(
            f"{function} compares matrices of items × items of all annotators, which would take too much memory for "
            f"{groupings.n_items:,} items and {groupings.n_annotators:,} annotators (the limit is items² × annotators "
            f"= {MOST_NUMBERS:,}). Restrict the groupings to some of them."
        )
    return groupings, ScalarProducts.of(SortTable.of(groupings))


def fits(groupings: Groupings) -> bool:
    """Whether the matrices of all annotators fit into memory."""
    return groupings.n_items**2 * max(groupings.n_annotators, groupings.n_groupings) <= MOST_NUMBERS
