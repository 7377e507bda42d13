"""Information-theoretic metric learning against a general optimiser, and crowds whose truth is known."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.cluster import KMeans

from consilience import Groupings, Pairs
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import itml
from consilience.semisupervised.itml_estimator import ITMLClustering
from consilience.simulation.pairs import simulate_pairs
from tests.semisupervised.test_pairwise_clustering import noisy


def problem_of(seed=0, n_pairs=12, n_features=2, slack=None):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_features, n_features))
    sign = np.where(rng.random(n_pairs) < 0.5, 1.0, -1.0)
    return itml.ITMLProblem(
        difference=rng.normal(size=(n_pairs, n_features)),
        sign=sign,
        first_bound=np.where(sign > 0, 0.3, 4.0),
        slack=rng.uniform(0.05, 2, n_pairs) if slack is None else np.full(n_pairs, slack),
        first_metric=root @ root.T + np.eye(n_features),
    )


@pytest.mark.parametrize("seed", range(4))
def test_result_minimises_the_divergence(seed):
    """A and the bounds in two dimensions, by sequential quadratic programming on the primal."""
    problem = problem_of(seed)

    def state(entries):
        root = np.array([[np.exp(entries[0]), 0], [entries[1], np.exp(entries[2])]])
        return itml.ITMLState(root @ root.T, np.zeros(12), problem.first_bound * np.exp(entries[3:]), 0.0)

    def held(entries):
        at = state(entries)
        return problem.sign * (at.bound - itml.distances(problem.difference, at.metric))

    found = minimize(
        lambda e: itml.divergence(state(e), problem),
        np.zeros(15),
        method="SLSQP",
        constraints={"type": "ineq", "fun": held},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    ours = itml.run(problem, max_iter=5000, tol=1e-9).state
    np.testing.assert_allclose(ours.metric, state(found.x).metric, atol=2e-4)
    np.testing.assert_allclose(ours.bound, state(found.x).bound, rtol=2e-3)
    assert itml.divergence(ours, problem) == pytest.approx(found.fun, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_no_pass_lowers_the_dual_and_the_metric_stays_positive_definite(seed):
    problem = problem_of(seed, n_pairs=60, n_features=4)
    states = [itml.init(problem)]
    for _ in range(12):
        states.append(itml.step(states[-1], problem))
        assert np.linalg.eigvalsh(states[-1].metric)[0] > 0
        assert (states[-1].multiplier >= 0).all()
        assert (states[-1].bound > 0).all()
    duals = [itml.dual(state, problem) for state in states]
    assert (np.diff(duals) >= -1e-9).all()
    assert duals[-1] > duals[0] + 0.1


def test_a_pass_does_not_modify_the_previous_state():
    problem = problem_of(1)
    first = itml.init(replace(problem, first_metric=np.asfortranarray(problem.first_metric)))
    before = first.metric.copy()
    itml.step(first, problem)
    np.testing.assert_array_equal(first.metric, before)


def test_metric_and_bounds_follow_from_the_multipliers():
    """A⁻¹ = A_0⁻¹ + Σ δ λ v vᵀ and 1/ξ = 1/b - δ λ / γ: where the gradient of the Lagrangian vanishes."""
    problem = problem_of(2, n_pairs=40, n_features=3)
    state = itml.run(problem, max_iter=7, tol=0.0).state
    pull = problem.sign * state.multiplier
    inverse = np.linalg.inv(problem.first_metric) + (problem.difference.T * pull) @ problem.difference
    np.testing.assert_allclose(np.linalg.inv(state.metric), inverse, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(1 / state.bound, 1 / problem.first_bound - pull / problem.slack, rtol=1e-9)


def test_pairs_keep_their_bounds_at_convergence():
    problem = problem_of(3, n_pairs=80, n_features=4)
    state = itml.run(problem, max_iter=5000, tol=1e-8).state
    gap = problem.sign * (itml.distances(problem.difference, state.metric) - state.bound)
    assert gap.max() < 1e-4 * problem.first_bound.max()
    np.testing.assert_allclose(gap[state.multiplier > 1e-6], 0, atol=1e-4)


def test_with_much_slack_the_metric_does_not_change():
    problem = problem_of(4, slack=1e-8)
    np.testing.assert_allclose(itml.run(problem, max_iter=20, tol=1e-6).state.metric, problem.first_metric, atol=1e-5)


def test_recovers_clusters_from_a_contradictory_crowd():
    X, cluster, pairs = noisy(0)
    assert nmi(cluster, KMeans(4, n_init=5, random_state=0).fit_predict(X)) < 0.5
    model = ITMLClustering(4, random_state=0).fit(X, pairs)
    assert nmi(cluster, model.labels_) > 0.7
    np.testing.assert_allclose(model.metric_, model.components_.T @ model.components_, atol=1e-10)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    weight = np.diag(model.metric_) * X.var(0)
    assert weight[:5].mean() > 1.5 * weight[5:].mean()
    clean = ITMLClustering(4, random_state=0).fit(*noisy(0, accuracy=1.0)[::2])
    assert nmi(cluster, clean.labels_) > 0.8
    assert clean.converged_


def test_bounds_are_percentiles_of_the_distances_of_all_pairs():
    X = np.random.default_rng(0).normal(size=(30, 3))
    pairs = simulate_pairs(np.arange(30) % 2, 1, 20, random_state=0)
    model = ITMLClustering(prior="identity", random_state=0).fit(X, pairs)
    a, b = np.triu_indices(30, 1)
    np.testing.assert_allclose(model.bounds_, np.percentile(((X[a] - X[b]) ** 2).sum(1), [5, 95]))


def test_priors():
    X = np.random.default_rng(0).normal(size=(500, 3)) @ np.array([[1, 0, 0], [2, 1, 0], [0, 0, 9.0]])
    np.testing.assert_array_equal(itml.first_metric(X, "identity"), np.eye(3))
    np.testing.assert_allclose(itml.first_metric(X, "scale"), np.diag(1 / X.var(0)))
    np.testing.assert_allclose(itml.first_metric(X, "covariance"), np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-3)


def test_items_with_the_same_features_are_skipped_and_reported():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    rows = [(0, 1, "a", 0), (0, 2, "a", 1), (2, 3, "a", 0)]
    pairs = Pairs.from_frame(pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]), items=range(4))
    model = ITMLClustering(2, random_state=0).fit(X, pairs)
    assert model.n_pairs_ == 2
    assert model.notes_ == [
        "1 pairs are of items with the same features, which no metric separates: they are left out."
    ]


def test_scale_and_order_of_items_change_nothing():
    X, _, pairs = noisy(4, n=120, pairs_each=60)
    there = ITMLClustering(4, random_state=0).fit(X, pairs)
    scaled = ITMLClustering(4, random_state=0).fit(X * np.geomspace(0.01, 100, 20), pairs)
    np.testing.assert_array_equal(scaled.labels_, there.labels_)
    order = np.random.default_rng(0).permutation(120)
    shuffled = ITMLClustering(4, random_state=0).fit(X[order], pairs[order])
    np.testing.assert_array_equal(shuffled.labels_, there.labels_[order])


def test_names_predictions_and_pickle():
    X, cluster, _ = noisy(5, n=80)
    names = pd.Index([f"item {i}" for i in range(80)])
    said = Groupings.from_matrix(cluster[:, None], items=names, annotators=["Ann"])
    model = ITMLClustering(4, max_pairs=300, random_state=0).fit(pd.DataFrame(X, index=names), said)
    assert model.annotators_.loc["Ann", "n_pairs"] == 300
    same = model.predict_same(list(names[:40]), list(names[40:]))
    np.testing.assert_array_equal(same, model.labels_[:40] == model.labels_[40:])
    assert 0 < model.predict_same("item 0", "item 1", annotator="Ann") < 1
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(pd.DataFrame(X)), model.labels_)


def test_no_pairs_and_constant_features_are_accepted():
    pairs = simulate_pairs([0, 1] * 5, 1, 8, random_state=0)
    X = np.column_stack([np.arange(10.0), np.full(10, 3.0)])
    none = pairs.restrict(annotators=[]).reindex(range(10))
    np.testing.assert_array_equal(ITMLClustering(2, prior="scale", random_state=0).fit(X, none).multipliers_, [])
    assert ITMLClustering(2, random_state=0).fit(X, pairs).labels_.shape == (10,)
    assert ITMLClustering(2, random_state=0).fit(np.zeros((10, 2)), pairs).n_clusters_ == 1
