"""Against SciPy's distributions and against sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from consilience.inference import exponential_family as ef

concentrations = st.lists(st.floats(0.05, 50), min_size=1, max_size=5).map(np.array)


def test_expected_log_is_the_mean_of_the_log():
    concentration = np.array([2.0, 5.0, 0.7])
    draws = np.random.default_rng(0).dirichlet(concentration, size=200_000)
    error = np.log(draws).std(0) / np.sqrt(len(draws))
    np.testing.assert_array_less(np.abs(np.log(draws).mean(0) - ef.expected_log_dirichlet(concentration)), 5 * error)


@given(concentrations)
def test_log_normalizer_is_that_of_the_density(concentration):
    point = np.full(len(concentration), 1 / len(concentration))
    if len(concentration) == 1:  # a point mass, which SciPy does not know
        assert ef.log_normalizer_dirichlet(concentration) == 0
        return
    log_density = stats.dirichlet.logpdf(point, concentration)
    rest = ((concentration - 1) * np.log(point)).sum()
    assert ef.log_normalizer_dirichlet(concentration) == pytest.approx(log_density - rest, abs=1e-8)


@given(st.integers(2, 5), st.integers(0, 1000))
def test_kl_is_cross_entropy_less_entropy(n, seed):
    q, p = np.random.default_rng(seed).uniform(0.2, 20, size=(2, n))
    cross = -ef.log_normalizer_dirichlet(p) - (p - 1) @ ef.expected_log_dirichlet(q)
    assert ef.kl_dirichlet(q, p) == pytest.approx(cross - stats.dirichlet.entropy(q), abs=1e-8)
    assert ef.kl_dirichlet(q, q) == 0


def test_entropy_of_categorical():
    table = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(ef.entropy_categorical(table), stats.entropy(table, axis=1))


@given(st.lists(concentrations, min_size=1, max_size=6))
def test_segments_are_the_distributions_one_by_one(parts):
    starts = np.cumsum([0, *[len(part) for part in parts[:-1]]])
    q = np.concatenate(parts)
    p = q[::-1].copy()
    pieces = np.split(p, starts[1:])
    np.testing.assert_allclose(
        ef.expected_log_dirichlet_segments(q, starts), np.concatenate([ef.expected_log_dirichlet(x) for x in parts])
    )
    assert ef.kl_dirichlet_segments(q, p, starts) == pytest.approx(
        sum(ef.kl_dirichlet(a, b) for a, b in zip(parts, pieces)), abs=1e-7
    )
