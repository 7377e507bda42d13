"""MPCKMeans against its written objective, k-means, and crowds whose truth is known."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.cluster import KMeans

from consilience import Groupings, Pairs
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import mpckmeans as core
from consilience.semisupervised.constraints import Constraints, colour_classes
from consilience.semisupervised.mpckmeans_estimator import MPCKMeans
from consilience.simulation.pairs import simulate_pairs
from tests.semisupervised.test_pairwise_clustering import noisy

KINDS = [(None, False), ("diagonal", False), ("diagonal", True), ("full", False), ("full", True)]


def problem_of(metric, per_cluster, seed=0, n=30, n_pairs=25, n_clusters=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 2, 0.5]
    pairs = simulate_pairs(rng.integers(3, size=n), 3, n_pairs, 0.7, random_state=seed)
    constraints = Constraints.of(pairs, rng.uniform(0.1, 1, pairs.n_rows))
    return core.MPCKMeansProblem.of(X, constraints, n_clusters, metric, per_cluster)


def state_of(problem, seed=0):
    rng = np.random.default_rng(seed)
    return core.init(rng.integers(problem.n_clusters, size=len(problem.features)), problem)


def matrices(state, problem):
    roots = state.metric.root if state.metric.root.ndim == 3 else np.stack([np.diag(r) for r in state.metric.root])
    return np.broadcast_to(roots @ roots.transpose(0, 2, 1), (problem.n_clusters, *roots.shape[1:]))


def written_out(labels, centres, A, separation, problem):
    """J, term by term."""
    X, c = problem.features, problem.constraints
    total = 0.0
    for i, k in enumerate(labels):
        away = X[i] - centres[k]
        total += away @ A[k] @ away - (np.log(np.linalg.det(A[k])) if problem.metric else 0)
    for a, b, must, w in zip(c.item_a, c.item_b, c.must, c.weight):
        v, (k, h) = X[a] - X[b], labels[[a, b]]
        if must and k != h:
            total += w * (v @ A[k] @ v + v @ A[h] @ v) / 2
        if not must and k == h:
            total += w * (separation[k] - v @ A[k] @ v)
    if problem.metric:
        for one in A if problem.per_cluster else A[:1]:
            total += problem.imagined * (np.trace(one * X.var(0)) - np.log(np.linalg.det(one)))
    return total


@pytest.mark.parametrize(("metric", "per_cluster"), KINDS)
def test_objective_equals_its_definition(metric, per_cluster):
    problem = problem_of(metric, per_cluster)
    state = core.step(state_of(problem), problem)
    separation = core.costs(state.centres, state.metric, problem).separation
    expected = written_out(state.labels, state.centres, matrices(state, problem), separation, problem)
    assert state.objective == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("metric", "per_cluster"), KINDS)
def test_moving_items_of_a_colour_at_once_equals_one_by_one(metric, per_cluster):
    problem = problem_of(metric, per_cluster, seed=1)
    state = state_of(problem)
    at = core.costs(state.centres, state.metric, problem)
    A, labels = matrices(state, problem), state.labels.copy()
    for i in itertools.chain(problem.free, *(colour.items for colour in problem.colours)):
        tried = []
        for k in range(problem.n_clusters):
            labels[i] = k
            tried.append(written_out(labels, state.centres, A, at.separation, problem))
        labels[i] = int(np.argmin(tried))
    np.testing.assert_array_equal(core.assign(state.labels, at, problem), labels)


@pytest.mark.parametrize(("metric", "per_cluster"), KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_no_sweep_raises_the_objective(metric, per_cluster, seed):
    problem = problem_of(metric, per_cluster, seed)
    states = [state_of(problem, seed)]
    for _ in range(8):
        states.append(core.step(states[-1], problem))
    objectives = np.array([state.objective for state in states])
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[1:])).all()
    assert objectives[-1] < objectives[0]


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_without_violations_the_metric_minimises_the_objective(metric):
    problem = core.without_constraints(problem_of(metric, False, seed=2))
    state = state_of(problem)

    def value(entries):
        root = np.diag(np.exp(entries[:3])) if metric == "diagonal" else np.zeros((3, 3))
        if metric == "full":
            root[np.tril_indices(3)] = entries
        A = np.broadcast_to(root @ root.T, (3, 3, 3))
        return written_out(state.labels, state.centres, A, np.zeros(3), problem)

    start = np.zeros(3) if metric == "diagonal" else np.eye(3)[np.tril_indices(3)]
    found = minimize(value, start, method="BFGS")
    assert state.objective == pytest.approx(found.fun, rel=1e-6)


def test_without_pairs_and_metric_it_is_kmeans():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) + 3 * rng.integers(3, size=(200, 1))
    first = X[[0, 1, 2]]
    expected = KMeans(3, init=first, n_init=1, tol=0).fit(X)
    empty = _no_pairs(200)
    model = MPCKMeans(3, metric=None, init=first, tol=0).fit(X, empty)
    np.testing.assert_array_equal(model.labels_, _by_size(expected.labels_)[expected.labels_])
    assert model.objective_ == pytest.approx(expected.inertia_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(np.sort(model.cluster_centers_, 0), np.sort(expected.cluster_centers_, 0))


def _no_pairs(n):
    return simulate_pairs(np.zeros(n), 1, 1, balanced=False, random_state=0).restrict(annotators=[]).reindex(range(n))


def _by_size(labels):
    return np.argsort(np.argsort(-np.bincount(labels), kind="stable"))


def test_recovers_clusters_from_a_contradictory_crowd():
    for seed in (0, 1):
        X, cluster, pairs = noisy(seed)
        assert nmi(cluster, KMeans(4, n_init=5, random_state=0).fit_predict(X)) < 0.5
        model = MPCKMeans(4, random_state=0).fit(X, pairs)
        assert nmi(cluster, model.labels_) > 0.75
        assert nmi(cluster, model.predict(X)) > 0.7
        assert (np.diff(np.bincount(model.labels_)) <= 0).all()
        assert model.annotators_["accuracy"].iloc[0] > model.annotators_["accuracy"].iloc[-1] + 0.1
        assert model.n_violated_ > 0


@pytest.mark.parametrize(("metric", "per_cluster"), KINDS[1:])
def test_consistent_pairs_are_satisfied(metric, per_cluster):
    X, cluster, pairs = noisy(2, accuracy=1.0)
    model = MPCKMeans(4, metric=metric, metric_per_cluster=per_cluster, random_state=0).fit(X, pairs)
    assert nmi(cluster, model.labels_) > 0.89
    assert model.notes_ == []
    assert model.metric_.shape == ((4, 20, 20) if per_cluster else (20, 20))


def test_a_random_annotator_does_little_harm():
    X, cluster, pairs = noisy(3, accuracy=[0.95, 0.95, 0.5, 0.5, 0.5])
    learned = MPCKMeans(4, random_state=0).fit(X, pairs)
    equal = MPCKMeans(4, weight=0.2, random_state=0).fit(X, pairs)
    assert nmi(cluster, learned.labels_) > nmi(cluster, equal.labels_) + 0.1


def test_closure_helps_where_nothing_contradicts_it():
    """Two chains and a cannot-link between them decide items whose features say the opposite."""
    X = np.array([[0.0], [0.1], [10.0], [0.2], [9.9], [10.1]])
    rows = [(0, 1, "a", 1), (1, 2, "a", 1), (3, 4, "a", 1), (4, 5, "a", 1), (0, 5, "a", 0)]
    pairs = Pairs.from_frame(pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]), items=range(6))
    model = MPCKMeans(2, closure=True, weight=10.0, metric=None, random_state=0).fit(X, pairs)
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], [1, 1, 1, 0, 0, 0])


def test_contradictions_are_reported_and_do_not_raise():
    rows = [(0, 1, "a", 1), (0, 1, "b", 0), (1, 2, "a", 1), (0, 2, "a", 0), (2, 3, "a", 0), (2, 3, "b", 0)]
    rows += [(2, 3, "c", 1)]
    pairs = Pairs.from_frame(pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]), items=range(4))
    model = MPCKMeans(2, random_state=0).fit(np.arange(4.0)[:, None], pairs)
    assert (model.n_contradicted_, model.n_pairs_) == (2, 3)
    assert model.notes_[0].startswith("Judgements differ on 2 pairs: the net majority counts, and the 1 pairs")


def test_scale_and_order_of_items_change_nothing():
    X, _, pairs = noisy(4, n=120, pairs_each=60)
    there = MPCKMeans(4, random_state=0).fit(X, pairs)
    scaled = MPCKMeans(4, random_state=0).fit(X * np.geomspace(0.01, 100, 20), pairs)
    np.testing.assert_array_equal(scaled.labels_, there.labels_)
    order = np.random.default_rng(0).permutation(120)
    shuffled = MPCKMeans(4, random_state=0).fit(X[order], pairs[order])
    np.testing.assert_array_equal(shuffled.labels_, there.labels_[order])


def test_names_predictions_and_pickle():
    X, _, pairs = noisy(5, n=80, pairs_each=60)
    names = pd.Index([f"item {i}" for i in range(80)])
    frame = pairs.to_frame().assign(item_a=lambda f: names[f.item_a], item_b=lambda f: names[f.item_b])
    model = MPCKMeans(4, random_state=0).fit(pd.DataFrame(X, index=names), frame)
    np.testing.assert_array_equal(model.labels_, MPCKMeans(4, random_state=0).fit(X, pairs).labels_)
    same = model.predict_same(list(names[:40]), list(names[40:]))
    np.testing.assert_array_equal(same, model.labels_[:40] == model.labels_[40:])
    by = model.predict_same("item 0", "item 1", annotator="annotator 1")
    one = model.annotators_.loc["annotator 1"]
    n, share = (
        (one.n_together, one.sensitivity)
        if model.labels_[0] == model.labels_[1]
        else (one.n_pairs - one.n_together, 1 - one.specificity)
    )
    assert by == pytest.approx((n * share + 1) / (n + 2))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), model.labels_)


def test_accepts_groupings():
    X, cluster, _ = noisy(6, n=60)
    said = Groupings.from_matrix(np.where(np.random.default_rng(0).random((60, 3)) < 0.5, cluster[:, None], np.nan))
    assert nmi(cluster, MPCKMeans(4, random_state=0).fit(X, said).labels_) > 0.9
    drawn = MPCKMeans(4, max_pairs=200, random_state=0).fit(X, said)
    assert "200 were drawn at random" in drawn.notes_[0]
    assert drawn.annotators_["n_pairs"].sum() == 200


def test_constant_features_and_one_kind_of_pairs():
    X = np.column_stack([np.r_[np.zeros(10), np.ones(10)], np.full(20, 7.0)])
    for share in (0, 1):
        classes = np.arange(20) if share == 0 else np.zeros(20)
        pairs = simulate_pairs(classes, 1, 15, 1.0, balanced=False, random_state=0)
        assert MPCKMeans(2, random_state=0).fit(X, pairs).labels_.shape == (20,)
    assert MPCKMeans(2, random_state=0).fit(np.zeros((20, 2)), pairs).n_clusters_ >= 1


def test_colours_hold_every_constraint_twice():
    problem = problem_of("diagonal", False, seed=3)
    colour = colour_classes(problem.constraints, np.random.RandomState(0))
    seen = np.concatenate([c.pair for c in problem.colours])
    np.testing.assert_array_equal(np.bincount(seen), np.full(problem.constraints.n_pairs, 2))
    assert {*problem.free.tolist()} == {*np.flatnonzero(colour < 0).tolist()}
