"""Annotator models: contribution to the bound, term by term, updates, and limits."""

import itertools
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import betaln, digamma, gammaln, zeta
from scipy.stats import beta, dirichlet

from consilience.consensus.labels.annotator_models import (
    IMAGINED,
    Hierarchical,
    OneCoin,
    Smoothed,
    _trigamma,
    fit_crowd,
)

MODELS = {
    "smoothed": lambda counts: Smoothed.of(counts, 0.3),
    "hierarchical": Hierarchical.of,
    "one coin, learned": lambda counts: OneCoin.of(counts, None),
    "one coin": lambda counts: OneCoin.of(counts, 0.3),
}


def random_counts(rng, n_annotators, n_classes, most=20.0):
    """Expected labels, (annotators, labels, classes): one annotator gives all classes the same label, another none."""
    counts = most * rng.random((n_annotators, n_classes, n_classes)) * (0.3 + 2 * np.eye(n_classes))
    counts[0, 1:] = 0
    counts[-1] = 0
    return counts


def expected_logs(parameters):
    """E ln a and E ln(1 - a) under Beta(parameters)."""
    return digamma(parameters) - digamma(parameters.sum())


def explicit_log_prior(model, history):
    """What a model adds to the bound besides the items' likelihood, each term as it is defined."""
    if isinstance(model, Smoothed):
        return _explicit_smoothed(model, history)
    return _explicit_hierarchical(model, history) if isinstance(model, Hierarchical) else _explicit_coin(model, history)


def _explicit_smoothed(model, history):
    """ln p(history | θ) + ln p(θ)."""
    total = (history * model.log_table).sum()
    for matrix in np.exp(model.log_table):
        for row in matrix.T:
            total += dirichlet.logpdf(row / row.sum(), np.full(len(row), 1 + model.smoothing))
    return total


def crowds_log_prior(model):
    """ln p(imagined annotator | α, β), and of Hierarchical ln p(imagined errors | e)."""
    total = (model.crowd - 1) @ expected_logs(IMAGINED) - betaln(*model.crowd)
    if isinstance(model, Hierarchical):
        for label, k in itertools.permutations(range(len(model.errors)), 2):
            total += np.log(model.errors[label, k]) / (len(model.errors) - 1)
    return total


def negative_kl_beta(accuracy, crowd):
    """E_q ln p(a) + H(q) of one annotator."""
    return (crowd - 1) @ expected_logs(accuracy) - betaln(*crowd) + beta.entropy(*accuracy)


def pseudo_counts(model, annotator, k):
    """s m̃ of the labels, and last of what m̃ lacks."""
    right, wrong = np.exp(expected_logs(model.accuracy[annotator]))
    mean = [right if label == k else wrong * model.errors[label, k] for label in range(len(model.errors))]
    return model.concentration[k] * np.array([*mean, 1 - sum(mean)])


def _explicit_hierarchical(model, history):
    """Σ E ln p(history | θ) + E ln p(θ | s m̃) + H(q(θ)), and the annotators' and the crowd's share."""
    total = crowds_log_prior(model)
    for j, component in np.ndindex(len(model.counts), model.counts.shape[2]):
        prior = pseudo_counts(model, j, component // model.n_subtypes)
        q = prior + np.append(model.counts[j, :, component], 0)
        logs = digamma(q) - digamma(q.sum())
        total += gammaln(prior.sum()) - gammaln(prior).sum() + (prior - 1) @ logs + dirichlet.entropy(q)
        total += history[j, :, component] @ logs[:-1]
    return total + sum(negative_kl_beta(accuracy, model.crowd) for accuracy in model.accuracy)


def _explicit_coin(model, history):
    """E ln p(history | p) - KL of one number an annotator; or at its most probable value."""
    n_classes = history.shape[1]
    total = crowds_log_prior(model) if model.learned else 0.0
    for said, parameters in zip(history, model.accuracy):
        if model.learned:
            right, wrong = expected_logs(parameters)
            total += negative_kl_beta(parameters, model.crowd)
        else:
            p = (parameters[0] - 1) / (parameters.sum() - 2)
            right, wrong = np.log(p), np.log1p(-p)
            total += beta.logpdf(p, *model.crowd)
        for label, k in np.ndindex(said.shape):
            total += said[label, k] * (right if label == k else wrong - np.log(n_classes - 1))
    return total


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_history", [False, True])
def test_share_of_the_bound_term_by_term(name, n_classes, with_history):
    rng = np.random.default_rng(n_classes)
    labels = random_counts(rng, 4, n_classes)
    history = random_counts(rng, 4, n_classes)[::-1] if with_history else np.zeros_like(labels)
    model = MODELS[name](labels + history)
    assert model.log_prior(labels) == pytest.approx(explicit_log_prior(model, history), rel=1e-9, abs=1e-9)
    moved = model.update(0.3 * labels + history)  # other labels of the items, the same history
    assert moved.log_prior(0.3 * labels) == pytest.approx(explicit_log_prior(moved, history), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_tables_are_expectations_of_the_explicit_posteriors(n_classes):
    counts = random_counts(np.random.default_rng(0), 3, n_classes)
    model = Hierarchical.of(counts)
    for j, k in np.ndindex(3, n_classes):
        q = pseudo_counts(model, j, k) + np.append(counts[j, :, k], 0)
        np.testing.assert_allclose(model.log_table[j, :, k], (digamma(q) - digamma(q.sum()))[:-1])
    coin = OneCoin.of(counts, None)
    for j in range(3):
        right = np.trace(counts[j])
        np.testing.assert_allclose(coin.accuracy[j], np.add(coin.crowd, [right, counts[j].sum() - right]))
        logs = expected_logs(coin.accuracy[j]) - [0, np.log(n_classes - 1)]
        np.testing.assert_allclose(coin.log_table[j], np.where(np.eye(n_classes), *logs))


def test_smoothed_and_fixed_coins_are_shares():
    counts = random_counts(np.random.default_rng(1), 3, 3)
    rows = Smoothed.of(counts, 0.5).matrices()
    for j, k, label in np.ndindex(3, 3, 3):
        assert rows[j, k, label] == pytest.approx((counts[j, label, k] + 0.5) / (counts[j, :, k].sum() + 1.5))
    coins = OneCoin.of(counts, 0.5).matrices()
    for j, k, label in np.ndindex(3, 3, 3):
        right = (np.trace(counts[j]) + 0.5) / (counts[j].sum() + 1)
        assert coins[j, k, label] == pytest.approx(right if k == label else (1 - right) / 2)


def own_bound(model):
    """The bound on ln p(counts): all that an update can raise."""
    return model.log_prior(np.zeros_like(model.counts))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n_annotators=st.integers(1, 6),
    n_classes=st.integers(1, 5),
    n_subtypes=st.integers(1, 3),
    most=st.sampled_from([0.05, 0.5, 0.99, 3.0, 30.0, 3000.0]),
    spread=st.sampled_from([0.3, 3.0]),
)
def test_no_update_of_the_hyperparameters_lowers_the_bound(seed, n_annotators, n_classes, n_subtypes, most, spread):
    """From any hyperparameters, not only from those that an update leaves behind."""
    rng = np.random.default_rng(seed)
    counts = most * rng.random((n_annotators, n_classes, n_classes * n_subtypes))
    errors = rng.random((n_classes, n_classes)) * (1 - np.eye(n_classes))
    errors /= np.maximum(errors.sum(0), 1e-12)
    accuracy = np.exp(spread * rng.normal(size=(n_annotators, 2)))
    crowd, concentration = (np.exp(spread * rng.uniform(-1, 2, size=n)) for n in (2, n_classes))  # within their limits
    before = rng.normal(size=(2, n_classes))  # the place and the slope that the secant step reads
    model = Hierarchical(counts, counts, accuracy, crowd, concentration, errors, np.zeros(n_classes), tuple(before))
    model = model.with_counts(counts)
    # of the counts themselves the bound is ln of their Polya distributions, whatever q(θ) was
    bounds = [model.log_rows.sum() + explicit_hyperprior(model)]
    for _ in range(5):
        model = model.update(counts)
        bounds.append(model.log_rows.sum() + explicit_hyperprior(model))
    assert np.diff(bounds).min() >= -1e-9 * max(1, np.abs(bounds).max())  # rounding


def explicit_hyperprior(model):
    return crowds_log_prior(model) + sum(negative_kl_beta(accuracy, model.crowd) for accuracy in model.accuracy)


def test_errors_of_the_crowd_are_expected_tables_and_one_imagined_error():
    counts = random_counts(np.random.default_rng(9), 4, 3, most=2.0)
    before = Hierarchical.of(counts)
    errors = np.zeros((3, 3))
    for j, k in np.ndindex(4, 3):
        pseudo = pseudo_counts(before, j, k)[:-1]
        tables = pseudo * (digamma(pseudo + counts[j, :, k]) - digamma(pseudo))
        errors[:, k] += tables
    errors += 1 / 2  # one error about each class, spread over two labels
    np.fill_diagonal(errors, 0)
    np.testing.assert_allclose(before.update(counts).errors, errors / errors.sum(0))


def test_rows_given_the_hyperparameters_are_the_best():
    """-KL(q(θ) ‖ p(θ)) + E ln p(counts | θ) is ln of the Polya distribution at q(θ), and less at any other."""
    rng = np.random.default_rng(2)
    counts = random_counts(rng, 3, 3) + 0.1
    model = Hierarchical.of(counts)

    def share(factor):
        total = 0.0
        for j, k in np.ndindex(3, 3):
            prior, n = pseudo_counts(model, j, k), np.append(counts[j, :, k], 0)
            q = (prior + n) * factor(4)
            logs = digamma(q) - digamma(q.sum())
            total += n @ logs + gammaln(prior.sum()) - gammaln(prior).sum() + (prior - 1) @ logs + dirichlet.entropy(q)
        return total

    best = model.log_rows.sum()
    assert share(np.ones) == pytest.approx(best, rel=1e-10)
    for _ in range(10):
        assert share(lambda n: np.exp(0.1 * rng.normal(size=n))) < best


def test_equal_rows_give_the_one_coin_model():
    """Where s is very large, the rows of an annotator do not vary; with two classes there is only one way to err."""
    counts = random_counts(np.random.default_rng(3), 4, 2)
    coin = OneCoin.of(np.zeros_like(counts), None).update(counts)
    start = Hierarchical.of(np.zeros_like(counts))
    alike = replace(start, concentration=np.full(2, 1e6), crowd=IMAGINED).update(counts)
    assert alike.concentration.min() > 1e5
    coin = replace(coin, crowd=IMAGINED).update(counts)
    np.testing.assert_allclose(alike.crowd, coin.crowd, rtol=1e-3)
    np.testing.assert_allclose(alike.log_table, coin.log_table, rtol=1e-3, atol=1e-3)
    assert alike.log_prior(counts / 2) == pytest.approx(coin.log_prior(counts / 2), rel=1e-3)


def test_rows_are_drawn_towards_the_annotators_accuracy():
    """For a class without labels of an annotator, the accuracy in the other classes counts."""
    rng = np.random.default_rng(4)
    right = rng.beta(20, 5, size=30)
    counts = np.empty((30, 2, 2))
    for k in range(2):
        counts[:, k, k], counts[:, 1 - k, k] = 200 * right, 200 * (1 - right)
    counts[0, :, 0], counts[0, :, 1] = 0, [10, 190]
    counts[1, :, 0], counts[1, :, 1] = 0, [100, 100]
    model = reduce(lambda model, _: model.update(counts), range(50), Hierarchical.of(counts))
    assert model.concentration.min() > 300  # two rows of an annotator differ less than 200 labels tell
    rows = model.matrices()
    assert rows[0, 0, 0] == pytest.approx(0.95, abs=0.02)
    assert rows[1, 0, 0] == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(Smoothed.of(counts, 0.3).matrices()[:2, 0], 0.5)  # which learns nothing from others


def test_annotators_without_labels_have_the_errors_of_the_crowd():
    rng = np.random.default_rng(5)
    counts = random_counts(rng, 20, 3, most=300.0)
    counts[1:-1, 2, 0] = 0  # the crowd takes class 0 for class 1, never for class 2
    model = Hierarchical.of(counts)
    mean = model.crowd[0] / model.crowd.sum()
    silent = model.matrices()[-1]
    np.testing.assert_allclose(np.diag(silent), mean, atol=0.01)
    assert silent[0, 1] > 0.9 * (1 - mean)
    coin = OneCoin.of(counts, None)
    np.testing.assert_allclose(np.diag(coin.matrices()[-1]), coin.crowd[0] / coin.crowd.sum())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_rows_of_matrices_are_probabilities(name, n_classes):
    matrices = MODELS[name](random_counts(np.random.default_rng(6), 4, n_classes)).matrices()
    assert matrices.shape == (4, n_classes, n_classes)
    assert (matrices >= 0).all()
    np.testing.assert_allclose(matrices.sum(2), 1)


@pytest.mark.parametrize("name", MODELS)
def test_update_does_not_modify_the_model_or_the_counts(name):
    counts = random_counts(np.random.default_rng(7), 3, 3)
    model, kept = MODELS[name](counts), counts.copy()
    table = model.log_table.copy()
    assert not np.allclose(model.update(counts[::-1]).log_table, table)
    np.testing.assert_array_equal(model.log_table, table)
    np.testing.assert_array_equal(counts, kept)


def test_the_curvature_of_the_crowd_is_that_of_the_logarithm_of_gamma():
    places = np.geomspace(1e-2, 1e6, 200)
    np.testing.assert_allclose(_trigamma(places), zeta(2, places), rtol=1e-9)


@pytest.mark.parametrize("size", [0.1, 3.0, 1000.0])
def test_fit_crowd_finds_the_most_probable_beta_binomial(size):
    right_wrong = size * np.random.default_rng(8).random((12, 2)) * [3, 1]

    def loss(log_crowd):
        crowd = np.exp(log_crowd)
        labels = sum(betaln(*(crowd + counted)) - betaln(*crowd) for counted in right_wrong)
        return -labels - ((crowd - 1) @ expected_logs(IMAGINED) - betaln(*crowd))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    found = fit_crowd(np.array([0.5, 20.0]), right_wrong)
    assert loss(np.log(found)) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(np.log(found), best.x, atol=1e-2)  # the loss is flat there


def test_the_imagined_annotator_alone_is_the_crowd():
    np.testing.assert_allclose(fit_crowd(np.array([1.0, 1.0]), np.zeros((5, 2))), IMAGINED, rtol=1e-3)
