"""Gaussian weights of a softmax: the bound against its formula and the truth, steps against a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import entr, logsumexp, softmax

from consilience.inference import gaussian_softmax
from consilience.inference.gaussian_softmax import Design, Weights


def problem(seed=0, *, n_items=12, n_features=3, n_clusters=3, n_problems=2, sharpness=2.0):
    """Features of different spreads, weights and memberships at random."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_items, n_features)) * rng.uniform(0.1, 3, n_features)
    shape = (n_features + 1, n_clusters, n_problems)
    weights = Weights(rng.normal(size=shape), rng.normal(size=shape) - 2)
    eta = softmax(sharpness * rng.normal(size=(n_items, n_clusters, n_problems)), axis=1)
    return Design.of(features), weights, eta


def formula(x, mean, variance, eta):
    """The bound of the module, of one problem."""
    fit = (eta * (x @ mean)).sum() - logsumexp(x @ mean + x**2 @ variance / 2, axis=1).sum()
    return fit - (variance + mean**2 - 1 - np.log(variance)).sum() / 2  # KL(N(μ, σ²) ‖ N(0, 1))


def of_problem(weights, number):
    return weights.mean[:, :, number], np.exp(weights.log_variance[:, :, number])


def climbed(value, start, size):
    """Parameters of highest value by L-BFGS with numerical slopes, whose noise sets the tolerances below."""
    options = {"maxiter": 2000, "maxfun": 100_000}
    found = minimize(lambda flat: -value(*flat.reshape(size)), start.ravel(), method="L-BFGS-B", options=options)
    return found.x.reshape(size), -found.fun


@pytest.mark.parametrize("n_features", [0, 1, 4])
def test_bound_is_the_formula(n_features):
    design, weights, eta = problem(n_features=n_features, n_problems=3)
    expected = [formula(design.x, *of_problem(weights, p), eta[:, :, p]) for p in range(3)]
    np.testing.assert_allclose(gaussian_softmax.bound(design, weights, eta), expected)
    np.testing.assert_array_equal(design.x[:, -1], 1)


def test_scores():
    design, weights, _ = problem()
    expected = np.einsum("il,lkp->ikp", design.x, weights.mean)
    np.testing.assert_allclose(gaussian_softmax.scores(design, weights), expected)


def test_bound_is_below_the_expectation():
    """E Σ η ln softmax(x·w) − KL over a hundred thousand draws of w; the bound lies below, near where q is narrow."""
    design, weights, eta = problem(n_items=4, n_problems=1)
    rng = np.random.default_rng(0)
    for shift, gap in [(0.0, 5.0), (-6.0, 0.02)]:
        q = Weights(weights.mean, weights.log_variance + shift)
        mean, variance = of_problem(q, 0)
        draws = mean + np.sqrt(variance) * rng.normal(size=(100_000, *mean.shape))
        scores = np.einsum("il,slk->sik", design.x, draws)
        log_softmax = scores - logsumexp(scores, axis=2, keepdims=True)
        values = (eta[:, :, 0] * log_softmax).sum((1, 2))
        divergence = ((variance + mean**2 - 1 - np.log(variance)) / 2).sum()
        error = 4 * values.std() / np.sqrt(len(values))
        below = values.mean() - divergence - gaussian_softmax.bound(design, q, eta)[0]
        assert -error <= below <= gap + error


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(0, 4), st.integers(2, 5), st.sampled_from([0.1, 3.0, 30.0]))
def test_no_step_lowers_the_bound(seed, n_features, n_clusters, sharpness):
    design, weights, eta = problem(seed, n_features=n_features, n_clusters=n_clusters, sharpness=sharpness)
    bounds = [gaussian_softmax.bound(design, weights, eta)]
    for _ in range(8):
        weights = gaussian_softmax.step(design, weights, eta, n_steps=1)
        bounds.append(gaussian_softmax.bound(design, weights, eta))
    gains = np.diff(bounds, axis=0)
    assert (gains >= -1e-11 * np.abs(bounds).max()).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_steps_end_at_the_optimum(seed):
    """The bound is concave in the means and has one maximum here."""
    design, weights, eta = problem(seed, n_items=8, n_features=2, n_clusters=2, n_problems=2)
    weights = gaussian_softmax.step(design, weights, eta, n_steps=500)
    bounds = gaussian_softmax.bound(design, weights, eta)
    for p in range(2):

        def value(mean, log_variance, eta=eta[:, :, p]):
            return formula(design.x, mean, np.exp(log_variance), eta)

        (mean, log_variance), best = climbed(value, np.zeros((2, 3, 2)), (2, 3, 2))
        assert bounds[p] == pytest.approx(best, abs=1e-6)
        np.testing.assert_allclose(weights.mean[:, :, p], mean, atol=1e-3)
        np.testing.assert_allclose(weights.log_variance[:, :, p], log_variance, atol=2e-3)


def test_many_steps_are_one_step_many_times():
    design, weights, eta = problem()
    once = weights
    for _ in range(4):
        once = gaussian_softmax.step(design, once, eta, n_steps=1)
    together = gaussian_softmax.step(design, weights, eta, n_steps=4)
    np.testing.assert_array_equal(together.mean, once.mean)
    np.testing.assert_array_equal(together.log_variance, once.log_variance)


def test_problems_are_independent():
    design, weights, eta = problem(n_problems=5)
    some = np.array([3, 1])
    together = gaussian_softmax.step(design, weights, eta, n_steps=5).of_problems(some)
    alone = gaussian_softmax.step(design, weights.of_problems(some), eta[:, :, some], n_steps=5)
    np.testing.assert_allclose(alone.mean, together.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(alone.log_variance, together.log_variance, rtol=1e-10)


def alike(design, n_clusters):
    """The best weights that treat all clusters alike: a stationary point, but not a maximum."""
    shape = (design.x.shape[1], n_clusters, 1)
    log_variance = np.repeat(-np.log1p((design.x**2).sum(0) / n_clusters)[:, None, None], n_clusters, axis=1)
    return Weights(np.zeros(shape), log_variance), np.full((len(design.x), n_clusters, 1), 1 / n_clusters)


def with_entropy(design, weights, eta):
    return gaussian_softmax.bound(design, weights, eta)[0] + entr(eta).sum()


@pytest.mark.parametrize(("n_features", "n_clusters"), [(0, 2), (2, 2), (2, 3)])
def test_unused_weights_are_optimal(n_features, n_clusters):
    """No start leads to a higher bound, with the best memberships for each weights."""
    features = np.random.default_rng(3).normal(size=(10, n_features))
    design = Design.of((features - features.mean(0)) / features.std(0))
    weights, eta = gaussian_softmax.weights_of_unused(design, n_clusters)
    best = with_entropy(design, weights, eta)
    np.testing.assert_allclose(eta, softmax(gaussian_softmax.scores(design, weights), axis=1))
    still = gaussian_softmax.step(design, weights, eta, n_steps=3)
    assert with_entropy(design, still, eta) == pytest.approx(best, abs=1e-8)
    size = (2, n_features + 1, n_clusters)

    def value(mean, log_variance):
        found = softmax(design.x @ mean, axis=1)
        return formula(design.x, mean, np.exp(log_variance), found) + entr(found).sum()

    rng = np.random.default_rng(0)
    ends = [climbed(value, rng.normal(size=size), size)[1] for _ in range(3)]
    assert best == pytest.approx(max(ends), abs=1e-6)


@pytest.mark.parametrize("n_items", [5, 400])
def test_unused_weights_are_better_than_identical_clusters(n_items):
    features = np.random.default_rng(0).normal(size=(n_items, 6))
    design = Design.of((features - features.mean(0)) / features.std(0))
    weights, eta = gaussian_softmax.weights_of_unused(design, 4)
    gain = with_entropy(design, weights, eta) - with_entropy(design, *alike(design, 4))
    assert gain > {5: 0.01, 400: 10}[n_items]


def test_arguments_are_not_modified():
    design, weights, eta = problem()
    copies = weights.mean.copy(), weights.log_variance.copy(), eta.copy()
    gaussian_softmax.step(design, weights, eta, n_steps=2)
    for array, copy in zip((weights.mean, weights.log_variance, eta), copies):
        np.testing.assert_array_equal(array, copy)
