"""Moments of a sum over pairs of items when the items of one matrix are permuted, in closed form.

    T = Σ a_ij b_π(i)π(j)   over the pairs i < j, π each permutation of the n items with equal probability

(Mantel, The detection of disease clustering, 1967, who gives mean and variance.) Multiplied out, the mean of T² is a
sum over two pairs, and that of T³ over three. A permutation takes pairs to any others that share items in the same way,
so with S_c the sum over all pairs (or threes of pairs) of the kind c of the product of their entries, and N_c their
number,

    E T² = Σ_c S_c(A) S_c(B) / N_c,   E T³ likewise

=================================  =============================================================================
kind, two or three pairs           S_c of a symmetric matrix with zeros on its diagonal, in the order of its pairs
=================================  =============================================================================
one pair twice                     E₂ = Σ a²
two that share an item             W = Σ d² - 2 E₂,  d_i = Σ_j a_ij
two apart                          E₁² - E₂ - W
one pair three times               E₃ = Σ a³
one twice, another shares an item  3 V,  V = Σ q d - 2 E₃,  q_i = Σ_j a_ij²
one twice, another apart           3 (E₁ E₂ - E₃ - V)
a triangle                         Δ = tr A³
three at one item                  Y = Σ d³ - 3 Σ q d + 4 E₃
a path                             L = 6 (Σ a_ij d_i d_j - Σ q d + E₃) - 3 Δ
two that share an item, one apart  3 (E₁ W - 2 V - Δ - Y) - 2 L
three apart                        E₁³ less all the others
=================================  =============================================================================

A sum over pairs is over i < j, one over items over all. N_c is S_c of the matrix of ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class PermutationSums:
    """Sums over the kinds of one pair, of two and of three pairs of items, in the order of the table above."""

    ones: float
    twos: Float[np.ndarray, " 3"]
    threes: Float[np.ndarray, " 8"]

    @classmethod
    def of_matrix(cls, matrix: Float[np.ndarray, "items items"]) -> PermutationSums:
        """Return the sums of a symmetric matrix with zeros on its diagonal."""
        squares = matrix**2
        degrees, of_squares = matrix.sum(1), squares.sum(1)
        return cls._of(
            powers=(degrees.sum() / 2, of_squares.sum() / 2, np.vdot(squares, matrix) / 2),
            of_degrees=((degrees**2).sum(), (degrees**3).sum(), of_squares @ degrees),
            path=degrees @ matrix @ degrees / 2,
            triangles=np.vdot(matrix @ matrix.T, matrix),  # as symmetric, which takes half as long
        )

    @classmethod
    def of_groups(cls, sizes: Float[np.ndarray, " groups"]) -> PermutationSums:
        """Return the sums of a matrix of ones where two items are in one group, by the groups' sizes."""
        within = sizes * (sizes - 1)
        squared, cubed = within @ (sizes - 1), within @ (sizes - 1) ** 2
        return cls._of(
            powers=(within.sum() / 2,) * 3,
            of_degrees=(squared, cubed, squared),
            path=cubed / 2,
            triangles=within @ (sizes - 2),
        )

    @classmethod
    def _of(
        cls, powers: tuple[float, ...], of_degrees: tuple[float, ...], path: float, triangles: float
    ) -> PermutationSums:
        ones, squares, cubes = powers
        squared, cubed, mixed = of_degrees
        sharing = squared - 2 * squares
        twice = mixed - 2 * cubes
        star = cubed - 3 * mixed + 4 * cubes
        line = 6 * (path - mixed + cubes) - 3 * triangles
        threes = [cubes, 3 * twice, 3 * (ones * squares - cubes - twice), triangles, star, line]
        threes.append(3 * (ones * sharing - 2 * twice - triangles - star) - 2 * line)
        return cls(
            float(ones),
            np.array([squares, sharing, ones**2 - squares - sharing]),
            np.array([*threes, ones**3 - sum(threes)]),
        )


def moments_of_permutations(
    groups: PermutationSums, shares: PermutationSums, n_items: int
) -> tuple[float, float, float]:
    """Return the means of T, T² and T³ over all permutations."""
    number = PermutationSums.of_groups(np.array([float(n_items)]))
    return (
        groups.ones * shares.ones / number.ones,
        _mean_product(groups.twos, shares.twos, number.twos),
        _mean_product(groups.threes, shares.threes, number.threes),
    )


def central_moments(mean: float, square: float, cube: float) -> tuple[float, float, float]:
    """Return mean, variance and third central moment from the means of T, T² and T³."""
    variance = square - mean**2
    return mean, variance, cube - 3 * mean * variance - mean**3


def _mean_product(one: np.ndarray, other: np.ndarray, number: np.ndarray) -> float:
    """Return the sum over the kinds that there are: with few items, there are no three pairs apart."""
    there = number > 0.5  # a count, but for rounding
    return float((one[there] * other[there] / number[there]).sum())
