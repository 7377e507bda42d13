"""SCDC's divergences and sums over clusters against draws and loops."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from consilience.deep import scdc
from consilience.deep.exponential_family import Gaussian
from consilience.deep.networks import GaussianLikelihood, Perceptron

divergences = jax.jit(scdc.divergences)
local = jax.jit(scdc.local, static_argnames="n_candidates")


@pytest.fixture(scope="module")
def parameters():
    keys = jax.random.split(jax.random.key(0), 4)
    rng = np.random.default_rng(0)
    encoder = scdc.ConditionalEncoder(3, (5, 4), 2, 4, key=keys[0])
    return scdc.SCDCParameters(
        classifier=Perceptron([3, 5, 4], key=keys[1]),
        encoder=encoder,
        likelihood=GaussianLikelihood(Perceptron([2, 5, 6], key=keys[2])),
        log_shares=jnp.asarray(rng.normal(size=4), jnp.float32),
        means=jnp.asarray(rng.normal(size=(4, 2)), jnp.float32),
        roots=jnp.asarray(rng.normal(size=(4, 2, 2)) * 0.3, jnp.float32),
    )


def observed(n_items=6):
    return jnp.asarray(np.random.default_rng(1).normal(size=(n_items, 3)), jnp.float32)


@pytest.mark.slow
def test_divergence_is_the_mean_log_ratio_of_draws(parameters):
    mean, variance = jnp.array([[[0.3, -0.5]]]), jnp.array([[[0.2, 0.6]]])
    found = divergences(mean, variance, parameters, jnp.array([[2]]))[0, 0]
    root = np.asarray(scdc.lower_roots(parameters.roots))[2]
    rng = np.random.default_rng(2)
    draws = np.asarray(mean[0, 0]) + np.sqrt(np.asarray(variance[0, 0])) * rng.normal(size=(50_000, 2))
    own = norm.logpdf(draws, np.asarray(mean[0, 0]), np.sqrt(np.asarray(variance[0, 0]))).sum(1)
    ratio = own - multivariate_normal.logpdf(draws, np.asarray(parameters.means[2]), root @ root.T)
    assert abs(found - ratio.mean()) < 5 * ratio.std() / np.sqrt(len(draws))


def test_bound_is_a_sum_over_clusters(parameters):
    o, key = observed(), jax.random.key(5)
    messages = jnp.asarray(np.random.default_rng(3).normal(size=(6, 4)), jnp.float32)
    reliability = scdc.SCDCReliability(jnp.ones((1, 2)), jnp.ones((1, 2)))
    found = local(parameters, reliability, o, messages, key)
    q = np.asarray(jax.nn.softmax(jax.vmap(parameters.classifier)(o), axis=1))
    np.testing.assert_allclose(found.responsibilities, q, rtol=1e-5)
    order = np.argsort(-q, axis=1)  # the draws are made in the order of probability
    noise = np.asarray(jax.random.normal(key, (6, 4, 2)))
    log_pi = np.asarray(jax.nn.log_softmax(parameters.log_shares))
    of_clusters = eqx.filter_jit(parameters.encoder.of_clusters)
    log_probability = eqx.filter_jit(parameters.likelihood.log_probability)
    for n in range(6):
        total = 0.0
        for rank, k in enumerate(order[n]):
            potential = of_clusters(o[n], jnp.array([k]))
            mean, variance = potential.linear / potential.precision, 1 / potential.precision
            drawn = mean + jnp.sqrt(variance) * noise[n, rank]
            seen = float(log_probability(o[n][None], drawn)[0])
            apart = float(divergences(mean[None], variance[None], parameters, jnp.array([[k]]))[0, 0])
            total += q[n, k] * (seen - apart + log_pi[k] + float(messages[n, k]) - np.log(q[n, k]))
        np.testing.assert_allclose(found.bound[n], total, rtol=1e-3)


def test_candidates_are_the_most_probable_clusters(parameters):
    reliability = scdc.SCDCReliability(jnp.ones((1, 2)), jnp.ones((1, 2)))
    few = local(parameters, reliability, observed(), jnp.zeros((6, 4)), jax.random.key(0), n_candidates=2)
    q = np.asarray(jax.nn.softmax(jax.vmap(parameters.classifier)(observed()), axis=1))
    best = np.sort(q, axis=1)[:, -2:].sum(1)
    np.testing.assert_allclose((q * np.asarray(few.responsibilities > 0)).sum(1), best, rtol=1e-5)
    np.testing.assert_allclose(few.responsibilities.sum(1), 1, rtol=1e-5)


@pytest.mark.slow
def test_start_takes_the_moments_of_first_clusters(parameters):
    rng = np.random.default_rng(0)
    z = np.arange(4000) % 4
    centres = np.array([[0, 0], [4, 0], [0, 4], [4, 4.0]])
    points = centres[z] + rng.normal(size=(4000, 2)) * [0.5, 1.0]
    latent = Gaussian(jnp.asarray(points), jnp.zeros((4000, 2, 2)), jnp.zeros(4000))
    started = scdc.start(parameters, jnp.asarray(np.eye(4)[z]), latent, 3.0)
    np.testing.assert_allclose(started.means, centres, atol=0.15)
    roots = np.asarray(scdc.lower_roots(started.roots))
    np.testing.assert_allclose(roots @ roots.swapaxes(1, 2), np.tile(np.diag([0.25, 1.0]), (4, 1, 1)), atol=0.12)
    np.testing.assert_allclose(jax.nn.softmax(started.log_shares), 0.25, atol=0.01)


def test_start_of_a_few_items_far_from_the_origin(parameters):
    points = 30 + np.random.default_rng(0).normal(size=(8, 2)) * 0.1
    latent = Gaussian(jnp.asarray(points), jnp.zeros((8, 2, 2)), jnp.zeros(8))
    started = scdc.start(parameters, jnp.asarray(np.eye(4)[np.arange(8) % 4]), latent, 3.0)
    assert jnp.isfinite(started.roots).all()
    np.testing.assert_allclose(started.means, points.mean(0) * np.ones((4, 1)), atol=0.3)


def test_weights_of_judgements():
    right = scdc.SCDCReliability(jnp.array([[9.0, 1.0]]), jnp.array([[8.0, 2.0]]))
    same, apart = scdc.pair_weights(right)
    np.testing.assert_allclose([same[0], apart[0]], [np.log(0.9 / 0.2), np.log(0.1 / 0.8)], rtol=1e-5)
