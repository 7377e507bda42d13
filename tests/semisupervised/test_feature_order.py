"""The order of features: it depends on their values and on the groups, not on how columns and items were given."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from consilience.semisupervised.feature_order import colours_of_items, order_of_features

N_ITEMS, N_FEATURES = 30, 8


@pytest.fixture
def drawn():
    """Features of many kinds, and the groups of two annotators."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(N_ITEMS, N_FEATURES))
    features[:, 1] = np.exp(features[:, 0])  # ranks items as the feature before does
    features[:, 2:4] = features[:, 2:4] > 0  # many equal values
    features[:, 4] = features[::-1, 5]  # the same values, at other items
    features[:, 6] = 3.0
    groups = np.add(rng.integers([2, 3], size=(N_ITEMS, 2)), [0, 2])
    labels = csr_array((np.ones(2 * N_ITEMS), (np.repeat(np.arange(N_ITEMS), 2), groups.ravel())))
    return features, labels


@pytest.mark.parametrize("seed", range(5))
def test_order_of_columns_and_of_items_makes_no_difference(drawn, seed):
    features, labels = drawn
    rng = np.random.default_rng(seed)
    columns, items = rng.permutation(N_FEATURES), rng.permutation(N_ITEMS)
    expected = features[:, order_of_features(features, labels)]
    given = features[np.ix_(items, columns)]
    np.testing.assert_array_equal(given[:, order_of_features(given, labels[items])], expected[items])


def test_rounding_and_units_make_no_difference(drawn):
    features, labels = drawn
    expected = order_of_features(features, labels)
    rounded = np.where(features > 0, np.nextafter(features, np.inf), features)  # keeps ranks
    np.testing.assert_array_equal(order_of_features(rounded, labels), expected)
    np.testing.assert_array_equal(order_of_features(1000 * features, labels), expected)


def test_groups_distinguish_features_that_nothing_else_does():
    features = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # each the other's mirror image
    labels = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    one, two = (given[:, order_of_features(given, labels)] for given in (features, features[:, ::-1]))
    np.testing.assert_array_equal(one, two)


def test_items_have_the_colour_of_the_sizes_of_their_groups():
    labels = csr_array(np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]]))
    colours = colours_of_items(labels)  # groups of 2, 2 and 3 items
    assert colours[0] == colours[2] != colours[1]
    assert colours[1] == colours[3] != colours[4]


def test_there_may_be_no_features():
    assert order_of_features(np.empty((3, 0)), csr_array(np.eye(3))).tolist() == []
