"""Expectations are gradients of log-partition functions; divergences and steps follow from them."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import dirichlet, invwishart

from consilience.deep import exponential_family as families
from consilience.deep.exponential_family import NormalWishart
from tests.deep.precision import enable_x64


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def drawn(seed, dims=3):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(dims, dims))
    return families.normal_wishart(
        jnp.array(rng.normal(size=dims)),
        jnp.array(rng.uniform(0.5, 5)),
        jnp.array(root @ root.T + np.eye(dims)),
        jnp.array(dims + rng.uniform(0.5, 5)),
    )


def slopes(natural):
    """Numerical gradient of ln Z in every natural parameter."""
    step = 1e-5

    def along(part, index):
        moved = [natural._replace(**{part: getattr(natural, part).at[index].add(way * step)}) for way in (1, -1)]
        return (families.log_partition(moved[0]) - families.log_partition(moved[1])) / (2 * step)

    return NormalWishart(
        *(
            np.array([along(part, index) for index in np.ndindex(value.shape)]).reshape(value.shape)
            for part, value in natural._asdict().items()
        )
    )


@pytest.mark.parametrize("seed", range(3))
def test_expected_statistics_are_the_gradient_of_the_log_partition(seed):
    natural = drawn(seed)
    slope, expected = slopes(natural), families.expected_gaussian(natural)
    np.testing.assert_allclose(expected.linear, slope.linear, rtol=1e-4)
    np.testing.assert_allclose(expected.precision, -2 * slope.outer, rtol=1e-4)
    np.testing.assert_allclose(expected.constant, slope.strength + slope.degrees, rtol=1e-4)


def test_expected_statistics_are_those_of_draws():
    natural = drawn(0, dims=2)
    mean, count, scale, degrees = (np.asarray(part) for part in families.standard(natural))
    rng = np.random.default_rng(1)
    sigma = invwishart(float(degrees) + 4, scale).rvs(20_000, random_state=rng)  # four more, or the spread is infinite
    natural = families.normal_wishart(jnp.array(mean), jnp.array(count), jnp.array(scale), jnp.array(degrees + 4))
    expected = families.expected_gaussian(natural)
    mu = mean + np.einsum("nij,nj->ni", np.linalg.cholesky(sigma / count), rng.normal(size=(20_000, 2)))
    precision = np.linalg.inv(sigma)
    quadratic = np.einsum("ni,nij,nj->n", mu, precision, mu)
    constant = -quadratic / 2 - np.linalg.slogdet(sigma)[1] / 2
    error = 5 * precision.std(0) / np.sqrt(20_000)  # five standard errors
    assert (np.abs(expected.precision - precision.mean(0)) < error).all()
    assert abs(expected.constant - constant.mean()) < 5 * constant.std() / np.sqrt(20_000)


def test_natural_parameters_round_trip():
    natural = drawn(2)
    again = families.normal_wishart(*families.standard(natural))
    for ours, theirs in zip(natural, again, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_divergence_of_a_family_member_is_the_bregman_divergence():
    one, other = drawn(3), drawn(4)
    slope = slopes(one)
    inner = sum(((a - b) * s).sum() for a, b, s in zip(one, other, slope, strict=True))
    expected = inner - families.log_partition(one) + families.log_partition(other)
    np.testing.assert_allclose(families.kl_normal_wishart(one, other), expected, rtol=1e-4)
    assert families.kl_normal_wishart(one, one) == pytest.approx(0, abs=1e-9)
    assert families.kl_normal_wishart(one, other) > 0


def test_dirichlet_against_scipy():
    concentration, prior = jnp.array([0.5, 2.0, 3.5]), jnp.array([1.0, 1.0, 2.0])
    draws = dirichlet(np.asarray(concentration)).rvs(100_000, random_state=0)
    draws = np.maximum(draws, 1e-300)
    np.testing.assert_allclose(families.expected_log(concentration), np.log(draws).mean(0), atol=0.05)
    ratio = dirichlet.logpdf(draws[:20_000].T / draws[:20_000].sum(1), np.asarray(concentration))
    ratio -= dirichlet.logpdf(draws[:20_000].T / draws[:20_000].sum(1), np.asarray(prior))
    np.testing.assert_allclose(families.kl_dirichlet(concentration, prior), ratio.mean(), atol=0.05)


def test_gaussian_of_natural_parameters():
    precision = jnp.array([[2.0, 0.5], [0.5, 1.0]])
    found = families.gaussian(precision @ jnp.array([1.0, -1.0]), precision)
    np.testing.assert_allclose(found.mean, [1, -1], rtol=1e-5)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(precision), rtol=1e-5)
    np.testing.assert_allclose(found.entropy, np.log(2 * np.pi * np.e) - np.linalg.slogdet(precision)[1] / 2, rtol=1e-5)
