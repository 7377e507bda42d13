"""The search for the best state: batches, spectral starts, splits."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from consilience import Groupings
from consilience.inference.pair_evidence import PairEvidence
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import mcvc, mcvc_search
from consilience.semisupervised.mcvc import MCVCPrior, MCVCProblem
from consilience.simulation.pairs import simulate_pairs
from tests.semisupervised.test_mcvc import bounds_of, planted_views, scored, tiny


def with_hard(problem, clusters, phi):
    """A state of one restart with these clusters in each view, and weights and annotators that go with them."""
    n_views = clusters.shape[1]
    state = mcvc.init(problem, n_views, 1, rng=np.random.default_rng(0))
    eta = np.stack([mcvc_search.soften_clusters(own, problem.n_clusters) for own in clusters.T], axis=2)
    state = mcvc_search.with_clusters(problem, replace(state, phi=phi[:, None]), eta, np.arange(n_views))
    state = mcvc.update_annotators(problem, state, problem.agreement(state))
    return mcvc_search.sweep_restarts(problem, state, 300, 1e-6).state


@pytest.mark.parametrize("batch", [1 << 24, 1])
@pytest.mark.parametrize("n_init", [1, 3, 10])
def test_run_keeps_the_best_restart(batch, n_init):
    problem, *_ = tiny()
    with patch.object(mcvc_search, "BATCH_ENTRIES", batch):
        trace, bounds = mcvc_search.run(problem, 2, n_init=n_init, max_iter=300, tol=1e-6, rng=np.random.default_rng(0))
    assert bounds.shape == (n_init + n_init // mcvc_search.RANDOM_FOR_SPECTRAL,)
    assert trace.lower_bound >= bounds.max()
    assert trace.state.bounds == pytest.approx([trace.lower_bound])
    assert (np.diff(trace.lower_bounds) >= -1e-9).all()
    assert trace.converged


@pytest.mark.parametrize("seed", range(4))
def test_spectral_starts_and_splits_never_lower_the_bound(seed):
    X, _, pairs = planted_views(seed, n_items=60, n_each=3, pairs_each=150, accuracy=0.8)
    problem = MCVCProblem.of(X, PairEvidence.of(pairs), MCVCPrior(), 6)
    found = []
    for random_for_spectral, splits in ((8, mcvc_search.with_splits), (100, lambda problem, state, max_iter: state)):
        with (
            patch.object(mcvc_search, "RANDOM_FOR_SPECTRAL", random_for_spectral),
            patch.object(mcvc_search, "with_splits", splits),
        ):
            rng = np.random.default_rng(seed)
            found.append(mcvc_search.run(problem, 3, n_init=16, max_iter=300, tol=1e-6, rng=rng))
    (both, bounds), (random, random_bounds) = found
    np.testing.assert_array_equal(bounds[:16], random_bounds)
    assert len(bounds) == 18
    assert both.lower_bound >= random.lower_bound - 1e-9


def test_recovers_two_views():
    X, views, pairs = planted_views(0, n_items=150, n_each=3, pairs_each=400, accuracy=0.9)
    problem = MCVCProblem.of(X, PairEvidence.of(pairs), MCVCPrior(), 3)
    trace, _ = mcvc_search.run(problem, 3, n_init=8, max_iter=300, tol=1e-6, rng=np.random.default_rng(0))
    held = trace.state.phi[:, 0].argmax(1)
    first, second = (held[pairs.annotators.str.startswith(name)] for name in "ab")
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    for view, column in zip(views, (first[0], second[0])):
        assert nmi(view, trace.state.eta[:, :, column].argmax(1)) > 0.95


def test_joined_restarts_are_those_that_were_divided():
    _, state, _ = tiny(n_restarts=5)
    parts = mcvc_search.in_batches(state, 2)
    assert [len(part.bounds) for part in parts] == [2, 2, 1]
    again = mcvc_search.join_restarts(parts)
    for name in ("eta", "phi", "right", "sticks", "of_views", "bounds"):
        np.testing.assert_array_equal(getattr(again, name), getattr(state, name))
    np.testing.assert_array_equal(again.weights.mean, state.weights.mean)
    np.testing.assert_array_equal(again.weights.log_variance, state.weights.log_variance)
    best = mcvc_search.best_of(parts)
    np.testing.assert_array_equal(best.bounds, [state.bounds.max()])
    np.testing.assert_array_equal(mcvc_search.highest(state, 2).bounds, np.sort(state.bounds)[::-1][:2])


@pytest.mark.parametrize("explicit", [False, True])
def test_spectral_starts_take_the_clusters_of_each_view_from_its_annotators(explicit):
    """Two views without features, from a leader that knows who holds which but has clusters at random."""
    rng = np.random.default_rng(0)
    views = rng.integers(3, size=(2, 60))
    said = np.where(rng.random((60, 8)) < 0.9, np.repeat(views, 4, axis=0).T, rng.integers(3, size=(60, 8)))
    groupings = Groupings.from_matrix(said)
    evidence = PairEvidence.of(groupings.to_pairs() if explicit else groupings)
    problem = MCVCProblem.of(np.zeros((60, 0)), evidence, MCVCPrior(), 4)
    leader = mcvc.init(problem, 3, 1, rng=rng)
    eta = np.stack([mcvc_search.soften_clusters(rng.integers(3, size=60), 4) for _ in range(3)], axis=2)
    leader = replace(leader, eta=eta, phi=np.repeat(np.eye(3)[:2], 4, axis=0)[:, None])
    starts = mcvc_search.spectral_starts(problem, leader, 4, rng=np.random.default_rng(0))
    assert starts.eta.shape == (60, 4, 12)
    np.testing.assert_allclose(starts.eta.sum(1), 1)
    found = starts.eta.argmax(1).reshape(60, 4, 3)
    for start in range(4):
        for view in range(2):
            assert nmi(views[view], found[:, start, view]) > 0.5  # one annotator may have most of the weight
            assert nmi(views[1 - view], found[:, start, view]) < 0.2
    np.testing.assert_array_equal(starts.eta[:, :, 2::3], np.repeat(leader.eta[:, :, 2:], 4, axis=2))  # nobody's view
    ends = mcvc_search.best_of([mcvc_search.sweep_restarts(problem, starts, 300, 1e-6).state])
    assert min(nmi(own, ends.eta[:, :, view].argmax(1)) for view, own in enumerate(views)) > 0.95


def merged_problem(explicit=False, n_clusters=6):
    """Six clusters that features and pairs tell; a state in which two pairs of them are merged."""
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 6
    X = 3 * np.eye(6)[truth] + rng.normal(size=(120, 6))
    groupings = Groupings.from_matrix(
        np.where(rng.random((120, 3)) < 0.9, truth[:, None], rng.integers(6, size=(120, 3)))
    )
    judged = groupings if not explicit else simulate_pairs(truth, 3, 600, 0.9, random_state=0)
    problem = MCVCProblem.of((X - X.mean(0)) / X.std(0), PairEvidence.of(judged), MCVCPrior(), n_clusters)
    merged = np.array([0, 0, 1, 1, 2, 3])[truth]
    return problem, truth, with_hard(problem, merged[:, None], np.ones((3, 1)))


@pytest.mark.parametrize("explicit", [False, True])
def test_splits_separate_clusters_that_sweeps_do_not(explicit):
    problem, truth, state = merged_problem(explicit)
    assert len(np.unique(state.eta[:, :, 0].argmax(1))) == 4
    split = mcvc_search.with_splits(problem, state, 300)
    assert nmi(truth, split.eta[:, :, 0].argmax(1)) > 0.97
    assert split.bounds[0] > state.bounds[0] + 20
    np.testing.assert_allclose(split.bounds, bounds_of(problem, split))


def test_splits_need_an_empty_cluster():
    problem, _, state = merged_problem(n_clusters=4)
    _, n_splits, _ = mcvc_search.split_views(problem, state, 100)
    assert n_splits == 0
    assert mcvc_search.with_splits(problem, state, 300) is state


@pytest.mark.parametrize("most", [1, 2, 100])
def test_divided_moves_the_smaller_parts_to_empty_clusters(most):
    problem, truth, state = merged_problem()
    eta, n_splits, views = mcvc_search.split_views(problem, state, most)
    assert n_splits == min(most, 2)
    assert views.tolist() == [0]
    np.testing.assert_allclose(eta.sum(1), 1)
    before, after = state.eta[:, :, 0].argmax(1), eta[:, :, 0].argmax(1)
    assert len(np.unique(after)) == 4 + n_splits
    for cluster in np.unique(after[after != before]):
        assert len(np.unique(before[after == cluster])) == 1
        assert np.bincount(truth[after == cluster]).max() >= 15


@pytest.mark.parametrize("seed", range(4))
def test_splits_never_lower_the_bound(seed):
    """On judgements at random too, where most divisions are rejected."""
    problem, state, _ = tiny(seed, n_clusters=5, n_views=2, n_restarts=1, n_items=14)
    state = mcvc_search.sweep_restarts(problem, scored(problem, state), 300, 1e-6).state
    split = mcvc_search.with_splits(problem, state, 300)
    assert split.bounds[0] >= state.bounds[0]
    np.testing.assert_allclose(split.bounds, bounds_of(problem, split))
