from functools import partial

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from consilience.inference.softmax import (
    SoftmaxItems,
    fit_weights,
    in_chunks,
    log_posterior,
    moments,
    posteriors,
    with_offset,
)


@pytest.fixture
def items():
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(40, 3)), np.ones(40), np.ones(40)])
    labels = csr_array((rng.random((40, 6)) < 0.4).astype(float))
    return SoftmaxItems(design, labels)


@pytest.mark.parametrize("size", [1, 30, 300])  # scores of up to 10, 300 and 3000: no overflow either
def test_moments_are_sums_over_items(items, size):
    rng = np.random.default_rng(1)
    coefficients, evidence = size * rng.normal(size=(5, 4)), size * rng.normal(size=(6, 4))
    score = items.design @ coefficients + items.labels @ evidence
    p = softmax(score, axis=1)
    for chunks in (
        in_chunks(items, 4),
        [SoftmaxItems(items.design[i : i + 7], items.labels[i : i + 7]) for i in range(0, 40, 7)],
    ):
        found = moments(chunks, coefficients, evidence)
        assert found.log_normalizer == pytest.approx(logsumexp(score, axis=1).sum())
        np.testing.assert_allclose(found.design, items.design.T @ p, atol=1e-12)
        np.testing.assert_allclose(found.labels, items.labels.T @ p, atol=1e-12)
        np.testing.assert_allclose(np.vstack(list(posteriors(chunks, coefficients, evidence))), p, atol=1e-14)
    bare = moments(in_chunks(items, 4), coefficients)
    score = items.design @ coefficients
    assert bare.log_normalizer == pytest.approx(logsumexp(score, axis=1).sum())
    np.testing.assert_allclose(bare.design, items.design.T @ softmax(score, axis=1), atol=1e-12)
    assert bare.labels.shape == (0, 4)


@pytest.mark.parametrize("richness", [0.0, 0.01, 0.0125])
def test_value_and_gradient_are_those_of_equation_4(items, richness):
    rng = np.random.default_rng(2)
    weights, rho = rng.normal(size=(4, 3)), rng.dirichlet(np.ones(3), size=40)
    target = items.design.T @ rho

    def found(w):
        return log_posterior(w, moments(in_chunks(items, 3), with_offset(w, richness)), target, richness, 1.0)

    value, _ = found(weights)
    log_pi = log_softmax(items.design @ with_offset(weights, richness), axis=1)
    assert value == pytest.approx((rho * log_pi).sum() - (weights**2).sum() / 2)
    error = check_grad(
        lambda w: found(w.reshape(4, 3))[0],
        lambda w: found(w.reshape(4, 3))[1].ravel(),
        weights.ravel(),
    )
    assert error < 1e-4  # of a gradient of norm about 30, by forward differences


def test_weights_without_richness_are_multinomial_logistic_regression(items):
    truth = np.random.default_rng(3).integers(3, size=40)
    rho = np.eye(3)[truth]
    chunks, start = in_chunks(items, 3), np.zeros((4, 3))
    model = moments(chunks, with_offset(start, 0.0))
    target, limits = items.design.T @ rho, {"prior_variance": 2.0, "max_iter": 1000}
    weights, model = fit_weights(start, model, partial(moments, chunks), target, 0.0, **limits)
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(items.design[:, :4], truth)
    np.testing.assert_allclose(weights.T, peer.coef_, atol=1e-3)
    again = moments(chunks, with_offset(weights, 0.0))
    assert model.log_normalizer == again.log_normalizer
    np.testing.assert_array_equal(model.design, again.design)


def test_objective_is_concave_up_to_the_limit(items):
    """Along any line the value at the middle is at least the mean of the ends, for λ ≤ 1 / (2 N σ²)."""
    rng = np.random.default_rng(4)
    rho = np.zeros((40, 3))
    rho[:, 0] = 1  # all items in one cluster: the hardest case
    target, limit = items.design.T @ rho, 1 / (2 * 40 * 1.5)

    def value(w):
        return log_posterior(w, moments(in_chunks(items, 3), with_offset(w, limit)), target, limit, 1.5)[0]

    for _ in range(50):
        a, b = rng.normal(scale=3, size=(2, 4, 3))
        ends = [value(w) for w in (a, b, (a + b) / 2)]
        assert ends[2] >= (ends[0] + ends[1]) / 2 - 1e-9
