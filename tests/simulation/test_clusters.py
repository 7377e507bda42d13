"""Gaussian clusters of given separation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from consilience.errors import InputError
from consilience.simulation import gaussian_clusters


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 9), st.floats(0.1, 20), st.integers(0, 1000))
def test_clusters_keep_the_separation_and_nearest_ones_reach_it(n_clusters, n_features, separation, seed):
    task = gaussian_clusters(
        n_clusters, n_clusters=n_clusters, n_features=n_features, separation=separation, random_state=seed
    )
    distances = squareform(pdist(task.centres))
    least = separation * np.add.outer(task.deviations, task.deviations) / 2
    pairs = ~np.eye(n_clusters, dtype=bool)
    slack = (distances / least)[pairs]
    assert (slack >= 1 - 1e-12).all()
    assert slack.min() == pytest.approx(1, rel=1e-12)  # the nearest two: no cluster is narrower than it must be
    nearest = np.where(pairs, distances, np.inf).min(axis=1)
    np.testing.assert_allclose(task.deviations, nearest / separation, rtol=1e-12)


@given(st.integers(2, 40), st.integers(2, 10))
def test_sizes_differ_by_one_at_most(n_items, n_clusters):
    n_clusters = min(n_clusters, n_items)
    sizes = np.bincount(gaussian_clusters(n_items, n_clusters=n_clusters).target, minlength=n_clusters)
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == n_items


def test_items_have_the_mean_and_deviation_of_their_cluster():
    task = gaussian_clusters(40_000, n_clusters=4, n_features=3, separation=2.0, random_state=0)
    values = task.data.to_numpy()
    for k in range(4):
        mine = values[task.target == k]
        # 4 standard errors of 10 000 items: .04 of a deviation for a mean, .03 for a deviation
        np.testing.assert_allclose(mine.mean(axis=0), task.centres[k], atol=0.04 * task.deviations[k])
        np.testing.assert_allclose(mine.std(axis=0), np.full(3, task.deviations[k]), rtol=0.03)
        correlations = np.corrcoef(mine.T)[np.triu_indices(3, 1)]
        np.testing.assert_allclose(correlations, np.zeros(3), atol=0.04)


def test_centres_are_standard_normal():
    centres = gaussian_clusters(3000, n_clusters=3000, n_features=2, random_state=1).centres
    np.testing.assert_allclose(centres.mean(axis=0), [0, 0], atol=0.075)
    np.testing.assert_allclose(centres.std(axis=0), [1, 1], atol=0.055)


def test_shapes_names_and_defaults():
    task = gaussian_clusters(25, random_state=0)
    assert task.data.shape == (25, 8)
    assert task.data.index.tolist() == list(range(25))
    assert task.data.columns.tolist() == [f"feature {j}" for j in range(1, 9)]
    assert task.centres.shape == (10, 8)
    assert sorted(set(task.target.tolist())) == list(range(10))
    assert task.target.tolist() != sorted(task.target.tolist())


def test_an_int_gives_the_same_data_each_time_another_int_others():
    one, same, other = (gaussian_clusters(30, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.data, same.data)
    np.testing.assert_array_equal(one.target, same.target)
    assert (one.data.to_numpy() != other.data.to_numpy()).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_items": 9}, "'n_clusters' parameter .* positive int of at most 9, the number of items. Got 10"),
        ({"n_items": 0}, "'n_items' parameter of gaussian_clusters must be a positive int. Got 0"),
        ({"n_items": 9, "n_clusters": 1}, "'n_clusters' parameter of gaussian_clusters must be at least 2. Got 1"),
        ({"n_items": 20, "n_features": 0}, "'n_features' parameter of gaussian_clusters .* Got 0"),
        ({"n_items": 20, "separation": 0}, "'separation' parameter .* must be a positive number. Got 0"),
        ({"n_items": 20, "separation": float("nan")}, "must be a positive number. Got nan"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(InputError, match=message):
        gaussian_clusters(**arguments)
