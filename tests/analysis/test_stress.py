"""Kruskal's stress-1: the definition, and the nonmetric scaling against a search by brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

from consilience.analysis.dissimilarity import classical_scaling
from consilience.analysis.stress import least_stress, stress


def test_stress_is_what_an_isotonic_regression_leaves():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 2))
    distance = squareform(pdist(points))
    assert stress(np.sqrt(distance), points) == 0  # the order is all that counts
    other = squareform(rng.permutation(36) + 1.0)
    given, found = squareform(other), pdist(points)
    rest = found - IsotonicRegression().fit(given, found).predict(given)
    assert stress(other, points) == pytest.approx(np.sqrt((rest**2).sum() / (found**2).sum()))


@pytest.mark.parametrize("n_values", [3, 1000])
def test_no_step_raises_the_stress_of_the_start_with_ties_or_without(n_values):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        distance = squareform(rng.integers(1, n_values, size=45) / n_values)
        start = classical_scaling(distance)[0]
        assert least_stress(distance, start) <= stress(distance, start)


@pytest.mark.parametrize("seed", range(3))
def test_the_scaling_of_a_few_items_is_where_a_search_by_brute_force_ends(seed):
    distance = squareform(np.random.default_rng(seed).permutation(15) + 1.0)
    start = classical_scaling(distance)[0]
    found = minimize(
        lambda points: stress(distance, points.reshape(6, 2)), start.ravel(), method="Powell", options={"maxfev": 10**5}
    ).fun
    assert least_stress(distance, start) == pytest.approx(found, abs=1e-4)


def test_distances_of_ties_may_differ_and_no_order_at_all_has_no_stress():
    start = np.random.default_rng(0).normal(size=(9, 2))
    assert least_stress(squareform(np.ones(36)), start) == stress(squareform(np.ones(36)), start) == 0
    two = squareform(pdist(start) > np.median(pdist(start))).astype(float) + 1 - np.eye(9)  # near or far, no more
    assert stress(two, start) == 0


def test_a_plane_that_was_only_bent_by_a_monotone_function_is_found_again():
    points = np.random.default_rng(1).normal(size=(8, 2))
    distance = squareform(pdist(points) ** 3)
    start = classical_scaling(distance)[0]
    assert stress(distance, start) > 0.05 > 0.01 > least_stress(distance, start)


def test_points_in_one_place_stay_there():
    start = np.zeros((3, 2))
    start[2] = 1.0
    assert np.isfinite(least_stress(squareform([1.0, 2.0, 3.0]), start))
