"""Completion of tables that are partly known, the metric learned from them, and crowds whose truth is known."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from consilience import Groupings, Pairs
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import semicrowd as module
from consilience.semisupervised import semicrowd_estimator
from consilience.semisupervised.semicrowd_estimator import SemiCrowd
from consilience.simulation.pairs import simulate_pairs
from tests.semisupervised import test_pairwise_clustering as pairwise

noisy = partial(pairwise.noisy, n=200, accuracy=0.95, pairs_each=400)


def planted(seed=0, n=100, share=0.3, wrong=0.0):
    """A table of four blocks, of which a share is known, some of it wrong."""
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.arange(n) % 4)
    whole = (block[:, None] == block).astype(float)
    a, b = np.triu_indices(n, 1)
    seen = rng.random(len(a)) < share
    a, b = a[seen], b[seen]
    known = np.where(rng.random(len(a)) < wrong, 1 - whole[a, b], whole[a, b])
    diagonal = np.arange(n)
    known = np.concatenate([known, known, np.ones(n)])
    row, column = np.concatenate([a, b, diagonal]), np.concatenate([b, a, diagonal])
    return whole, module.SemiCrowdProblem(row, column, known, n, 2 * float(np.sqrt(n / len(known))))


@pytest.mark.parametrize("seed", range(3))
def test_completes_blocks_of_which_three_tenths_are_known(seed):
    whole, problem = planted(seed, n=150)
    trace = module.complete(problem, max_iter=500, tol=1e-5)
    assert trace.converged
    np.testing.assert_allclose(trace.state.completed, whole, atol=0.01)
    assert np.linalg.matrix_rank(trace.state.completed, tol=1e-3) == 4
    np.testing.assert_allclose(trace.state.error, 0, atol=0.01)


def test_errors_are_found_and_corrected():
    whole, problem = planted(0, n=200, wrong=0.05)
    trace = module.complete(problem, max_iter=500, tol=1e-5)
    assert np.mean((trace.state.completed > 0.5) == whole) > 0.999
    wrong = problem.known != whole[problem.row, problem.column]
    assert np.mean((np.abs(trace.state.error) > 0.5) == wrong) > 0.999


def test_completion_is_a_minimum():
    """No small change of A lowers tr(A) + C Σ |A - Ã|."""
    _, problem = planted(1, n=24, share=0.5, wrong=0.1)
    found = module.complete(problem, max_iter=2000, tol=1e-9).state.completed
    at = module.SemiCrowdState(found, np.zeros(0), np.zeros(0), 1.0, 0.0)
    least = module.objective(at, problem)
    rng = np.random.default_rng(0)
    for size in (0.3, 0.1, 0.03):
        for _ in range(40):
            root = rng.normal(size=(24, 2))
            other = (1 - size * rng.random()) * found + size * rng.random() * root @ root.T / 24
            at = module.SemiCrowdState(other, np.zeros(0), np.zeros(0), 1.0, 0.0)
            assert module.objective(at, problem) >= least - 1e-4 * least


def test_completion_is_symmetric_and_positive_semidefinite():
    _, problem = planted(2, wrong=0.2)
    completed = module.complete(problem, max_iter=300, tol=1e-3).state.completed
    np.testing.assert_allclose(completed, completed.T, atol=1e-10)
    assert np.linalg.eigvalsh(completed)[0] > -1e-8


def test_steps_are_the_proximal_maps():
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(module.shrink(np.array([-2, -0.5, 0.2, 3.0]), 0.5), [-1.5, 0, 0, 2.5])
    root = rng.normal(size=(8, 8))
    table = root + root.T
    values, vectors = np.linalg.eigh(table)
    expected = sum(max(value - 1.5, 0) * np.outer(v, v) for value, v in zip(values, vectors.T))
    np.testing.assert_allclose(module.low_rank(table, 1.5), expected, atol=1e-12)


def test_metric_equals_its_definition():
    rng = np.random.default_rng(1)
    X, root = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    ridge = np.linalg.inv((X - X.mean(0)).T @ X + 0.2 * 12 * np.eye(3))
    X = X - X.mean(0)
    expected = ridge @ X.T @ (root @ root.T) @ X @ ridge
    np.testing.assert_allclose(module.learn_metric(X, root @ root.T, 0.2), expected, atol=1e-12)


def test_only_clear_similarities_are_known():
    rows = [(0, 1, i, i < 4) for i in range(5)] + [(0, 2, i, i < 3) for i in range(5)] + [(1, 2, 0, 0)]
    pairs = Pairs.from_frame(pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]), items=range(4))
    places, share, n_unclear = module.similarities(pairs, 0.0, 0.8)
    np.testing.assert_array_equal(places, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(share, [1, 0])
    assert n_unclear == 1
    model = SemiCrowd(2, random_state=0).fit(np.array([[0.0], [0.1], [1.0], [1.1]]), pairs)
    assert model.n_pairs_ == 2
    assert model.completed_.index.tolist() == [0, 1, 2]
    assert model.notes_ == ["1 pairs have a share of 'same' between d0 and d1, and count as unknown."]


def test_recovers_clusters_from_a_crowd():
    X, cluster, pairs = noisy(0)
    assert nmi(cluster, KMeans(4, n_init=5, random_state=0).fit_predict(X)) < 0.5
    model = SemiCrowd(4, random_state=0).fit(X, pairs)
    assert nmi(cluster, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    assert np.linalg.eigvalsh(model.metric_)[0] > -1e-10
    assert (model.annotators_["accuracy"] > 0.85).all()


def test_items_without_annotations_are_clustered_by_their_features():
    X, cluster, _ = noisy(1, n=400)
    few = np.arange(80)
    said = Groupings.from_matrix(cluster[few][:, None]).reindex(range(400))
    model = SemiCrowd(4, random_state=0).fit(X, said)
    assert model.completed_.shape == (80, 80)
    np.testing.assert_allclose(model.completed_, cluster[few][:, None] == cluster[few], atol=0.05)
    assert nmi(cluster[80:], model.labels_[80:]) > 0.6
    np.testing.assert_array_equal(SemiCrowd(4, random_state=0).fit(X, said).predict(X[:50]), model.labels_[:50])


def test_scale_and_order_of_items_change_nothing():
    X, _, pairs = noisy(2, n=80, pairs_each=100)
    there = SemiCrowd(4, random_state=0).fit(X, pairs)
    scaled = SemiCrowd(4, random_state=0).fit(X * np.geomspace(0.01, 100, 20) + 5, pairs)
    order = np.random.default_rng(0).permutation(80)
    shuffled = SemiCrowd(4, random_state=0).fit(X[order], pairs[order])
    np.testing.assert_array_equal(shuffled.labels_, there.labels_[order])
    assert nmi(there.labels_, scaled.labels_) > 0.99
    np.testing.assert_allclose(shuffled.metric_, there.metric_, rtol=1e-6, atol=1e-12)


def test_names_predictions_and_pickle():
    X, cluster, _ = noisy(3, n=60)
    names = pd.Index([f"item {i}" for i in range(60)])
    said = Groupings.from_matrix(cluster[:, None], items=names, annotators=["Ann"])
    model = SemiCrowd(4, random_state=0).fit(pd.DataFrame(X, index=names), said)
    assert model.completed_.index.equals(names)
    same = model.predict_same(list(names[:30]), list(names[30:]))
    np.testing.assert_array_equal(same, model.labels_[:30] == model.labels_[30:])
    assert 0 < model.predict_same("item 0", "item 1", annotator="Ann") < 1
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(pd.DataFrame(X)), model.labels_)


def test_too_many_annotated_items_raise(monkeypatch):
    monkeypatch.setattr(semicrowd_estimator, "MAX_ANNOTATED", 30)
    X, _, pairs = noisy(4, n=40, pairs_each=60)
    with pytest.raises(InputError, match="accepts at most 30 of them"):
        SemiCrowd(4).fit(X, pairs)
    kept = pairs.restrict(items=range(30)).reindex(range(40))
    assert SemiCrowd(4, random_state=0).fit(X, kept).labels_.shape == (40,)


def test_no_pairs_and_constant_features_are_accepted():
    pairs = simulate_pairs([0, 1] * 5, 1, 8, random_state=0)
    X = np.column_stack([np.r_[np.zeros(5), np.ones(5)] + np.arange(10) / 100, np.full(10, 3.0)])
    none = pairs.restrict(annotators=[]).reindex(range(10))
    model = SemiCrowd(2, random_state=0).fit(X, none)
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], np.repeat([True, False], 5))
    assert model.notes_ == [module.NOTHING]
    assert SemiCrowd(2, random_state=0).fit(X, pairs).labels_.shape == (10,)
    assert SemiCrowd(2, random_state=0).fit(np.zeros((10, 2)), pairs).n_clusters_ == 1
