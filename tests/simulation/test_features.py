"""Labels of items with features: sizes, what the shift does, who labels what; and the noisy crowd that gives them."""

import numpy as np
import pandas as pd
import pytest

from consilience.errors import InputError
from consilience.simulation import noisy_crowd, simulate_labels_with_features


def test_some_items_have_labels_and_all_have_features():
    drawn = simulate_labels_with_features(
        100, n_features=7, n_classes=3, n_labelled=40, n_annotators=9, annotators_per_item=4, random_state=0
    )
    assert drawn.data.shape == (100, 7)
    assert np.bincount(drawn.target).tolist() == [34, 33, 33]
    n_labels = np.diff(drawn.annotations.indptr)
    assert sorted(set(n_labels)) == [0, 4]
    assert (n_labels == 4).sum() == 40
    assert drawn.annotations.n_annotators == 9
    assert drawn.annotations.items.equals(drawn.data.index)


def test_features_are_gaussian_about_means_that_the_shift_moves_apart():
    """Within classes the variance is one; means differ by the shift times a normal difference, of variance two."""
    drawn = simulate_labels_with_features(2000, n_features=400, n_classes=2, shift=0.5, random_state=0)
    means = drawn.data.groupby(drawn.target).mean()
    within = drawn.data - means.loc[drawn.target].to_numpy()
    assert within.to_numpy().var() == pytest.approx(1, abs=0.01)
    assert (means.loc[0] - means.loc[1]).var() == pytest.approx(0.25 * 2, abs=0.15)  # of 400: error .035
    nothing = simulate_labels_with_features(2000, n_features=400, n_classes=2, shift=0, random_state=0).data
    apart = nothing.groupby(drawn.target).mean()
    assert (apart.loc[0] - apart.loc[1]).abs().max() < 0.2  # of means of 1,000: error .045


def test_an_int_gives_the_same_data_each_time_another_int_others():
    small = {"n_items": 20, "n_features": 3, "n_labelled": 10}
    one, two, other = (simulate_labels_with_features(**small, random_state=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one.data, two.data)
    pd.testing.assert_frame_equal(one.annotations.to_frame(), two.annotations.to_frame())
    assert not one.data.equals(other.data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_items": 0}, "'n_items' parameter of simulate_labels_with_features must be a positive int"),
        ({"n_labelled": 301}, "'n_labelled' .* must be a positive int of at most 300"),
        ({"shift": -1}, "'shift' .* must be a number of at least 0. Got -1"),
        ({"n_classes": 301}, "'n_classes' .* of at most 300"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate_labels_with_features(**arguments)


def test_everybody_in_a_noisy_crowd_has_an_accuracy_and_errors_of_their_own():
    crowd = noisy_crowd(400, 3, low=0.4, high=0.8, random_state=0)
    np.testing.assert_allclose(crowd.sum(2), 1)
    right = np.einsum("akk->ak", crowd)
    np.testing.assert_allclose(right, np.repeat(right[:, :1], 3, axis=1))
    assert 0.4 <= right.min() < 0.42
    assert 0.78 < right.max() <= 0.8
    share = crowd[:, 0, 1] / (1 - right[:, 0])  # of Dirichlet(1, 1): uniform
    np.testing.assert_allclose(np.quantile(share, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.08)
    assert noisy_crowd(2, 1, random_state=0).tolist() == [[[1.0]], [[1.0]]]
    with pytest.raises(InputError, match=r"'low' parameter of noisy_crowd must lie in \[0, 1\]"):
        noisy_crowd(2, 2, low=-0.1)
