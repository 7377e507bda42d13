"""The test of features against analysis of variance, and against what chance finds."""

import numpy as np
import pytest
from scipy.stats import f_oneway, false_discovery_control

from consilience import Groupings
from consilience.semisupervised import feature_selection
from consilience.semisupervised.feature_selection import Tables, associated_features, discoveries, p_values, strength

N_ITEMS, N_FEATURES = 60, 150


@pytest.fixture
def sorted_items():
    """Features, of which the first three differ between four kinds, and incomplete sorts of the items by kind."""
    rng = np.random.default_rng(0)
    kind = rng.integers(4, size=N_ITEMS)
    features = 5 + rng.normal(size=(N_ITEMS, N_FEATURES))
    features[:, :3] += rng.normal(scale=2, size=(4, 3))[kind]
    meaning = np.array([[0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]])
    labels = meaning[:, kind].T.astype(float)
    labels[rng.random(labels.shape) < 0.3] = np.nan
    return features, labels, Groupings.from_matrix(labels)


def test_strength_is_the_variance_between_groups(sorted_items):
    features, labels, groupings = sorted_items
    features[:, 5] = 7.0  # constant
    expected = np.zeros(N_FEATURES)
    for column in labels.T:
        parts = [features[column == group] for group in np.unique(column[~np.isnan(column)])]
        between, within, n = len(parts) - 1, sum(map(len, parts)) - len(parts), sum(map(len, parts))
        varying = np.arange(N_FEATURES) != 5
        f = f_oneway(*[part[:, varying] for part in parts]).statistic
        expected[varying] += n * f * between / (f * between + within)
    found = strength(features, Tables.of(groupings.incidence, groupings.grouping_of_group))
    np.testing.assert_allclose(found, expected)


def test_features_that_differ_between_kinds_are_found(sorted_items):
    features, _, groupings = sorted_items
    found = associated_features(features, groupings.incidence, groupings.grouping_of_group, 0)
    assert found[:3].all()
    assert found.sum() <= 5


def test_chance_finds_no_features_in_nine_cases_of_ten(sorted_items):
    """Every discovery is false here, so that the rate of false discoveries is the share of the cases that have one."""
    _, _, groupings = sorted_items
    features = np.random.default_rng(1).normal(size=(40, N_ITEMS, N_FEATURES))
    found = [associated_features(x, groupings.incidence, groupings.grouping_of_group, 0).any() for x in features]
    assert np.mean(found) <= 0.2  # two standard errors above 0.1


def test_blocks_and_order_of_features_change_nothing(sorted_items, monkeypatch):
    features, _, groupings = sorted_items
    given = groupings.incidence, groupings.grouping_of_group, 0
    found = associated_features(features, *given)
    order = np.random.default_rng(2).permutation(N_FEATURES)
    np.testing.assert_array_equal(associated_features(features[:, order], *given), found[order])
    np.testing.assert_array_equal(associated_features(1 - 3 * features, *given), found)
    monkeypatch.setattr(feature_selection, "BLOCK_ENTRIES", 7 * N_ITEMS)
    np.testing.assert_array_equal(associated_features(features, *given), found)


def test_p_values_and_discoveries():
    np.testing.assert_allclose(p_values(np.array([5.0, 2.0, -1.0]), np.array([1.0, 2.0, 3.0])), [0.25, 0.75, 1.0])
    p = np.random.default_rng(3).random(200) ** 3
    np.testing.assert_array_equal(discoveries(p), false_discovery_control(p) <= 0.1)
    assert not discoveries(np.full(10, 0.5)).any()
    assert discoveries(np.empty(0)).shape == (0,)
