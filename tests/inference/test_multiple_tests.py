"""Holm's correction, by hand."""

import numpy as np
import pytest

from consilience.inference.multiple_tests import correct_by_holm


def test_corrected_p_values_are_those_of_the_definition():
    assert correct_by_holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    rejected = correct_by_holm(np.array([0.02, 0.001, 0.03, 0.9])) <= 0.05
    np.testing.assert_array_equal(rejected, [False, True, False, False])
    assert (correct_by_holm(np.array([0.02, 0.001, 0.012, 0.9])) <= 0.05).tolist() == [True, True, True, False]
