"""Moments over permutations, against all permutations."""

from itertools import permutations

import numpy as np
import pytest

from consilience.analysis.permutation_moments import PermutationSums, central_moments, moments_of_permutations

SIZES = [(2,), (2, 1), (3,), (2, 2), (3, 1, 1), (4, 1), (1, 1, 1, 1, 1, 1), (3, 3), (2, 2, 2), (4, 1, 1), (3, 2, 1, 1)]


def is_together(sizes):
    group = np.repeat(np.arange(len(sizes)), sizes)
    return (group[:, None] == group) & ~np.eye(len(group), dtype=bool)


def shares_of(n_items):
    drawn = np.random.default_rng(n_items).exponential(size=(n_items, n_items))  # skewed, and not centred
    shares = drawn + drawn.T
    np.fill_diagonal(shares, 0.0)
    return shares


@pytest.mark.parametrize("sizes", SIZES)
def test_moments_are_those_of_all_permutations(sizes):
    together, shares = is_together(sizes), shares_of(sum(sizes))
    orders = [list(order) for order in permutations(range(len(shares)))]
    every = np.array([shares[np.ix_(order, order)][together].sum() / 2 for order in orders])
    found = moments_of_permutations(
        PermutationSums.of_groups(np.array(sizes, dtype=float)), PermutationSums.of_matrix(shares), len(shares)
    )
    np.testing.assert_allclose(found, [(every**power).mean() for power in (1, 2, 3)], rtol=1e-10)
    away = every - every.mean()
    np.testing.assert_allclose(central_moments(*found)[1:], [(away**2).mean(), (away**3).mean()], atol=1e-9)


@pytest.mark.parametrize("sizes", [*SIZES, (7, 5, 5, 2, 1)])
def test_sums_of_groups_are_those_of_their_matrix(sizes):
    of_groups = PermutationSums.of_groups(np.array(sizes, dtype=float))
    of_matrix = PermutationSums.of_matrix(is_together(sizes).astype(float))
    assert of_groups.ones == of_matrix.ones
    np.testing.assert_allclose(of_groups.twos, of_matrix.twos)
    np.testing.assert_allclose(of_groups.threes, of_matrix.threes)
