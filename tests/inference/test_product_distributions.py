"""E-step and its sums against loops over items, components and labels."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from consilience.inference import product_distributions
from consilience.inference.product_distributions import OneHotLabels, log_scores, posterior


def random_labels(rng, n_items, n_variables, n_labels, density=0.7):
    """Item and column of onehot, rising by item, and the shape of the one-hot table."""
    item, variable = np.nonzero(rng.random((n_items, n_variables)) < density)
    return item, variable * n_labels + rng.integers(n_labels, size=len(item)), (n_items, n_variables * n_labels)


def random_parameters(rng, n_columns, n_components, scale=1.0):
    """Any ln ω and ln μ; they need not be normalised here."""
    return np.log(rng.dirichlet(np.ones(n_components))), scale * np.log(rng.random((n_columns, n_components)))


def explicit_scores(item, column, n_items, log_weights, log_table):
    scores = np.tile(log_weights, (n_items, 1))
    for n, c in zip(item, column):
        for k in range(len(log_weights)):
            scores[n, k] += log_table[c, k]
    return scores


def explicit_posterior(scores, known):
    """Posterior and log likelihood, an item at a time."""
    q, log_likelihood = np.zeros_like(scores), 0.0
    for n, row in enumerate(scores):
        if known[n] >= 0:
            q[n, known[n]] = 1.0
            log_likelihood += row[known[n]]
        else:
            q[n] = np.exp(row - logsumexp(row))
            log_likelihood += logsumexp(row)
    return q, log_likelihood


def explicit_sums(item, column, n_columns, q):
    sizes, counts = np.zeros(q.shape[1]), np.zeros((n_columns, q.shape[1]))
    for row in q:
        sizes += row
    for n, c in zip(item, column):
        counts[c] += q[n]
    return sizes, counts


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n_items=st.integers(1, 40),
    n_variables=st.integers(1, 5),
    n_labels=st.integers(1, 4),
    n_components=st.integers(1, 5),
    density=st.sampled_from([0.0, 0.2, 0.7, 1.0]),
    share_known=st.sampled_from([0.0, 0.3, 1.0]),
    scale=st.sampled_from([1.0, 30.0, 3000.0, -3000.0]),
    chunk_entries=st.sampled_from([1, 12, 1 << 18]),
    n_jobs=st.sampled_from([None, 2]),
)
def test_sums_and_posteriors_equal_explicit_ones(
    seed, n_items, n_variables, n_labels, n_components, density, share_known, scale, chunk_entries, n_jobs
):
    rng = np.random.default_rng(seed)
    item, column, shape = random_labels(rng, n_items, n_variables, n_labels, density)
    log_weights, log_table = random_parameters(rng, shape[1], n_components, scale)
    known = np.where(rng.random(n_items) < share_known, rng.integers(n_components, size=n_items), -1)
    with patch.object(product_distributions, "CHUNK_ENTRIES", chunk_entries):
        onehot = OneHotLabels.of(item, column, shape, n_components, known=known, n_jobs=n_jobs)
    scores = explicit_scores(item, column, n_items, log_weights, log_table)
    q, log_likelihood = explicit_posterior(scores, known)
    sizes, counts = explicit_sums(item, column, shape[1], q)
    found = onehot.expectation(log_weights, log_table)
    # scores reach 1e5, so that their differences, of which exp is taken, are known to about 1e-10
    np.testing.assert_allclose(posterior(onehot, log_weights, log_table), q, atol=1e-9)
    np.testing.assert_allclose(np.vstack(list(log_scores(onehot, log_weights, log_table))), scores, rtol=1e-12)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(found.sizes, sizes, atol=1e-8)
    np.testing.assert_allclose(found.counts, counts, atol=1e-8)


@pytest.mark.parametrize(
    ("entries", "n_chunks"),
    # 100 items × 3 components; a chunk has at least as many labels as half the columns: 200 / 5 = 40 chunks at most
    [(1 << 18, 1), (30, 10), (3, 40)],
)
def test_items_are_processed_in_chunks(monkeypatch, entries, n_chunks):
    monkeypatch.setattr(product_distributions, "CHUNK_ENTRIES", entries)
    onehot = OneHotLabels.of(*random_labels(np.random.default_rng(0), 100, 2, 5, density=1.0), n_components=3)
    sizes = [chunk.onehot.shape[0] for chunk in onehot.chunks]
    assert (len(sizes), sum(sizes)) == (n_chunks, 100)
    np.testing.assert_array_equal([chunk.start for chunk in onehot.chunks], np.cumsum([0, *sizes[:-1]]))


@pytest.mark.parametrize("n_jobs", [2, 3, 64])
def test_threads_change_only_the_order_of_sums(monkeypatch, n_jobs):
    monkeypatch.setattr(product_distributions, "CHUNK_ENTRIES", 100)
    rng = np.random.default_rng(1)
    item, column, shape = random_labels(rng, 500, 8, 3)
    parameters = random_parameters(rng, shape[1], 4)
    one = OneHotLabels.of(item, column, shape, 4).expectation(*parameters)
    shared = OneHotLabels.of(item, column, shape, 4, n_jobs=n_jobs)
    assert len(shared.chunks) == 20
    many = shared.expectation(*parameters)
    assert many.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(many.sizes, one.sizes, rtol=1e-12)
    np.testing.assert_allclose(many.counts, one.counts, rtol=1e-12)
    again = shared.expectation(*parameters)
    assert again.log_likelihood == many.log_likelihood  # the same number of threads adds in the same order
    np.testing.assert_array_equal(again.counts, many.counts)


def test_an_item_without_labels_has_the_weights_as_its_posterior():
    weights = np.array([0.2, 0.5, 0.3])
    onehot = OneHotLabels.of(np.array([1]), np.array([0]), (3, 2), 3)
    table = np.log([[0.1, 0.4, 0.2], [0.9, 0.6, 0.8]])
    q = posterior(onehot, np.log(weights), table)
    np.testing.assert_allclose(q[[0, 2]], np.tile(weights, (2, 1)))
    np.testing.assert_allclose(q[1], np.array([0.02, 0.2, 0.06]) / 0.28)  # ω times the first row of μ
    assert onehot.expectation(np.log(weights), table).log_likelihood == pytest.approx(np.log(0.28))  # ln 1 twice


def test_an_item_of_known_class_has_only_its_term():
    weights, table = np.array([0.2, 0.8]), np.log([[0.1, 0.4], [0.9, 0.6]])
    onehot = OneHotLabels.of(np.array([0, 1]), np.array([0, 1]), (3, 2), 2, known=np.array([0, -1, 1]))
    found = onehot.expectation(np.log(weights), table)
    free = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.6)
    np.testing.assert_allclose(
        posterior(onehot, np.log(weights), table), [[1, 0], [free, 1 - free], [0, 1]], atol=1e-15
    )
    assert found.log_likelihood == pytest.approx(np.log(0.2 * 0.1) + np.log(0.2 * 0.9 + 0.8 * 0.6) + np.log(0.8))
    np.testing.assert_allclose(found.counts, [[1, 0], [free, 1 - free]])


@pytest.mark.parametrize("known", [None, np.array([0, 1, -1, 2])])
@pytest.mark.parametrize("size", [-599.0, -601.0, -750.0, -1e5, 750.0])
def test_scores_outside_the_range_of_exp(size, known):
    """Below -745 exp is 0 and above 709 infinite; item 3 has a posterior between all components, far from 0."""
    onehot = OneHotLabels.of(np.array([0, 1, 3]), np.array([0, 1, 2]), (4, 3), 3, known=known)
    table = np.array([[size, 2 * size, 3 * size], [0.0, size, size + 1], [size, size + 0.5, size - 0.5]])
    log_weights = np.log([0.2, 0.5, 0.3])
    scores = np.vstack([log_weights + table[0], log_weights + table[1], log_weights, log_weights + table[2]])
    q, log_likelihood = explicit_posterior(scores, np.full(4, -1) if known is None else known)
    np.testing.assert_allclose(posterior(onehot, log_weights, table), q, rtol=1e-9, atol=1e-300)
    assert onehot.expectation(log_weights, table).log_likelihood == pytest.approx(log_likelihood, rel=1e-13)


@pytest.mark.parametrize("chunk_entries", [1, 1 << 18])
def test_sums_of_given_posteriors(monkeypatch, chunk_entries):
    monkeypatch.setattr(product_distributions, "CHUNK_ENTRIES", chunk_entries)
    rng = np.random.default_rng(2)
    item, column, shape = random_labels(rng, 30, 4, 3)
    given_posteriors = rng.dirichlet(np.ones(3), 30)
    found = OneHotLabels.of(item, column, shape, 3).expectation_of(given_posteriors)
    sizes, counts = explicit_sums(item, column, shape[1], given_posteriors)
    np.testing.assert_allclose(found.sizes, sizes)
    np.testing.assert_allclose(found.counts, counts)
    assert np.isnan(found.log_likelihood)
