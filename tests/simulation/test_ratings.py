import numpy as np
import pytest

from consilience.errors import InputError
from consilience.simulation import simulate_ratings


def test_exact_raters_name_the_level_of_the_value():
    values = np.array([0.6, 1.4, 1.6, 3.2, 5.4])
    labels = simulate_ratings(values, n_annotators=3, bias=0.0, slope=1.0, noise=0.0, lapse=0.0, random_state=0)
    assert labels.ordered
    np.testing.assert_array_equal(labels.to_matrix(), np.repeat([[1], [1], [2], [3], [5]], 3, axis=1))


def test_bias_shifts_and_slope_stretches_about_the_middle():
    labels = simulate_ratings(
        [3.0, 4.0], n_annotators=2, bias=[1.0, 0.0], slope=[1.0, 2.0], noise=0.0, lapse=0.0, random_state=0
    )
    np.testing.assert_array_equal(labels.to_matrix(), [[4, 3], [5, 5]])


def test_lapses_are_labels_of_any_item():
    labels = simulate_ratings(np.repeat([1.0, 5.0], 2000), n_annotators=1, bias=0.0, noise=0.1, slope=1.0, lapse=1.0)
    assert abs((labels.label[:2000] == 4).mean() - 0.5) < 0.06  # five standard errors


def test_wrong_parameters_are_refused():
    with pytest.raises(InputError, match="The 'lapse' parameter of simulate_ratings must be a number from 0 to 1"):
        simulate_ratings([1.0], lapse=1.5)
    with pytest.raises(InputError, match="one for each of the 3 annotators"):
        simulate_ratings([1.0], n_annotators=3, bias=[0.0, 1.0])
    with pytest.raises(InputError, match="finite numbers"):
        simulate_ratings([np.nan])
