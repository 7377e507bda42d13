"""Belief propagation for few clusters: exact on trees, against sums over all assignments."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from consilience.consensus.pairs import belief_propagation, correlation_clustering
from consilience.consensus.pairs.correlation_clustering import CorrelationClusteringProblem
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet


def problem_of(pairs, n_items, seed=0, per_pair=2):
    rng = np.random.default_rng(seed)
    first, second = np.repeat(np.asarray(pairs), per_pair, axis=0).T
    return CorrelationClusteringProblem.of(
        first,
        second,
        rng.integers(2, size=len(first)),
        rng.random(len(first)) < 0.5,
        shape=(n_items, 2),
        reliability=(8.0, 2.0),
        n_clusters=None,
        rng=rng,
    )


def enumerated(problem, right, n_clusters):
    """Log sum over all K^n assignments, and the probability that the items of each pair are of one cluster."""
    log_odds = correlation_clustering.log_odds_of_pairs(problem, right)
    expected = expected_log_dirichlet(right)
    if_apart = np.where(problem.same, expected[0, problem.annotator, 1], expected[0, problem.annotator, 0]).sum()
    z = np.array(list(product(range(n_clusters), repeat=problem.n_items)))
    within = z[:, problem.first] == z[:, problem.second]
    log_weight = if_apart + within @ log_odds - problem.n_items * np.log(n_clusters)
    total = logsumexp(log_weight)
    return total, np.exp(log_weight - total) @ within


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_exact_on_a_tree(seed, n_clusters):
    problem = problem_of([(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)], 6, seed)
    rng = np.random.default_rng(seed)
    right = rng.uniform(2, 9, size=(2, 2, 2))
    excess = np.expm1(correlation_clustering.log_odds_of_pairs(problem, right))
    messages = rng.dirichlet(np.ones(n_clusters), 10).T
    for _ in range(6):  # the longest path has five items
        messages = belief_propagation.update_messages(messages, excess, problem)
    score = belief_propagation._scores(messages, excess, problem)[1]
    share = np.exp(score - logsumexp(score, axis=1, keepdims=True))
    alike, normalizer = belief_propagation._alike(messages, excess)
    total, expected = enumerated(problem, right, n_clusters)
    np.testing.assert_allclose(alike, expected)
    np.testing.assert_allclose(share, 1 / n_clusters)  # no item is distinguished by its number of cluster
    divergence = kl_dirichlet(right, np.broadcast_to([8.0, 2.0], right.shape)).sum()
    value = belief_propagation.evidence(score, normalizer, share, alike, right, problem)
    assert value == pytest.approx(total - divergence)


def test_certain_shares_count_every_numbering():
    """Two cliques that nobody doubts: nearly all of the sum is in K! assignments, of which messages follow one."""
    cliques = [(i, j) for i in range(8) for j in range(i) if i // 4 == j // 4]
    across = [(i, j) for i in range(4) for j in range(4, 8)]
    pairs = np.array([*cliques, *across])
    same = np.repeat([True, False], [len(cliques), len(across)])
    order = np.repeat(np.arange(len(pairs)), 3)
    problem = CorrelationClusteringProblem.of(
        np.minimum(*pairs.T)[order],
        np.maximum(*pairs.T)[order],
        np.zeros(len(order), dtype=int),
        same[order],
        shape=(8, 1),
        reliability=(8.0, 2.0),
        n_clusters=None,
        rng=np.random.default_rng(0),
    )
    start = belief_propagation.shares_of(np.arange(8) // 4)
    trace = belief_propagation.run(problem, start, max_iter=100, tol=1e-9)
    state = trace.state
    assert trace.converged
    np.testing.assert_array_equal(state.share.argmax(1), np.arange(8) // 4)
    np.testing.assert_allclose(state.share.max(1), 1, atol=1e-6)
    total, _ = enumerated(problem, state.right, 2)
    divergence = kl_dirichlet(state.right, np.broadcast_to([8.0, 2.0], state.right.shape)).sum()
    assert state.evidence == pytest.approx(total - divergence, abs=1e-4)
    cluster = np.arange(8) // 4
    hard = correlation_clustering.CorrelationClusteringState(
        cluster, correlation_clustering.rates(problem, correlation_clustering._within(problem, cluster))
    )
    of_partition = correlation_clustering.objective(hard, problem) - problem.prior_of[2]
    assert state.evidence == pytest.approx(of_partition + gammaln(3) - 8 * np.log(2), abs=1e-3)


def test_search_stops_where_more_clusters_gain_nothing():
    rng = np.random.default_rng(0)
    classes = np.arange(40) % 3
    a, b = np.triu_indices(40, 1)
    chosen = rng.random(len(a)) < 0.4
    a, b = a[chosen], b[chosen]
    problem = CorrelationClusteringProblem.of(
        a,
        b,
        np.zeros(len(a), dtype=int),
        (classes[a] == classes[b]) ^ (rng.random(len(a)) < 0.1),
        shape=(40, 1),
        reliability=(8.0, 2.0),
        n_clusters=None,
        rng=rng,
    )
    partition = np.zeros(40, dtype=int)
    found = belief_propagation.search(
        problem, partition, range(2, 20), n_init=2, max_iter=200, tol=1e-6, n_jobs=None, rng=rng
    )
    assert {trace.state.share.shape[1] for trace in found} <= set(range(2, 7))
    best = max(found, key=lambda trace: trace.lower_bound).state.share
    assert best.shape[1] == 3
    assert len(np.unique(3 * best.argmax(1) + classes)) == 3
