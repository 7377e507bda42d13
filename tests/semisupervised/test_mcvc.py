"""The model of several views: its bound against loops and the exact evidence, its updates against all other values."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, digamma, logsumexp, softmax

from consilience import Groupings, Pairs
from consilience.inference.pair_evidence import PairEvidence
from consilience.semisupervised import mcvc as module
from consilience.semisupervised.mcvc import MCVCPrior, MCVCProblem
from consilience.simulation.pairs import simulate_pairs


def said_at_random(seed=0, *, n_items=9, n_annotators=3, missing=0.3):
    """Groups at random, None where there is none; every annotator puts some items together."""
    rng = np.random.default_rng(seed)
    said = rng.integers(3, size=(n_items, n_annotators)).astype(object)
    said[rng.random(said.shape) < missing] = None
    said[:2] = 0
    return said


def tiny(seed=0, *, n_features=2, n_clusters=3, n_views=2, n_restarts=2, explicit=False, **sizes):
    """A problem and a state far from any optimum."""
    said = said_at_random(seed, **sizes)
    groupings = Groupings.from_matrix(said)
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(len(said), n_features))
    evidence = PairEvidence.of(groupings.to_pairs() if explicit else groupings)
    problem = MCVCProblem.of(features, evidence, MCVCPrior(stick=1.5, right=4.0, wrong=2.0), n_clusters)
    state = module.init(problem, n_views, n_restarts, rng=rng)
    n_columns = n_views * n_restarts
    weights = replace(state.weights, log_variance=rng.normal(size=state.weights.log_variance.shape) - 2)
    state = replace(
        state,
        eta=np.moveaxis(rng.dirichlet(np.ones(n_clusters), size=(len(said), n_columns)), 2, 1).copy(),
        weights=weights,
        right=rng.uniform(1, 8, state.right.shape),
        sticks=rng.uniform(1, 8, state.sticks.shape),
    )
    return problem, scored(problem, state), groupings


def scored(problem, state):
    """The state with the bounds that belong to it."""
    state = replace(state, of_views=module.clusters_bounds(problem, state.weights, state.eta))
    bounds = module.lower_bounds(problem, state, problem.agreement(state))
    return replace(state, bounds=bounds)


def bounds_of(problem, state):
    return scored(problem, state).bounds


def kl_beta(q, p):
    """KL(Beta(q) ‖ Beta(p))."""
    (a, b), (c, d) = q, p
    return betaln(c, d) - betaln(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b) + (c + d - a - b) * digamma(a + b)


def expected_logs(q):
    """E ln p and E ln (1 − p) under Beta(q)."""
    return digamma(q) - digamma(np.sum(q))


def explicit_bound(problem, state, groupings, restart):
    """The bound of the module's docstring, one restart, a loop over everything."""
    pairs = groupings.to_pairs()
    n_views, prior = state.phi.shape[2], problem.prior
    columns = [restart * n_views + g for g in range(n_views)]
    total = 0.0
    for i, j, m, together in zip(pairs.item_a, pairs.item_b, pairs.annotator, pairs.same):
        alpha, not_alpha = expected_logs(state.right[0, m, restart])
        beta, not_beta = expected_logs(state.right[1, m, restart])
        for g, column in enumerate(columns):
            a = state.eta[i, :, column] @ state.eta[j, :, column]
            within, across = (alpha, not_beta) if together else (not_alpha, beta)
            total += state.phi[m, restart, g] * (a * within + (1 - a) * across)
    for q in state.right[:, :, restart].reshape(-1, 2):
        total -= kl_beta(q, (prior.right, prior.wrong))
    left = 0.0  # Σ_{l<g} E ln (1 − ν_l)
    for g in range(n_views):
        log_v = left
        if g < n_views - 1:
            here, after = expected_logs(state.sticks[restart, g])
            log_v, left = left + here, left + after
            total -= kl_beta(state.sticks[restart, g], (1.0, prior.stick))
        for m in range(len(state.phi)):
            total += state.phi[m, restart, g] * (log_v - np.log(state.phi[m, restart, g]))
    x = problem.design.x
    for column in columns:
        mean, variance = state.weights.mean[:, :, column], np.exp(state.weights.log_variance[:, :, column])
        for i, eta in enumerate(state.eta[:, :, column]):
            inside = x[i] @ mean + x[i] ** 2 @ variance / 2
            total += eta @ (x[i] @ mean) - logsumexp(inside) - eta @ np.log(eta)
        total -= (variance + mean**2 - 1 - np.log(variance)).sum() / 2
    return total


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(1, 4), st.integers(1, 3))
def test_bound_is_the_formula(seed, n_features, n_views, n_annotators):
    problem, state, groupings = tiny(seed, n_features=n_features, n_views=n_views, n_annotators=n_annotators)
    expected = [explicit_bound(problem, state, groupings, restart) for restart in range(2)]
    np.testing.assert_allclose(state.bounds, expected)


def elsewhere(probability, rng, share=1e-2):
    """Distributions near these."""
    other = np.moveaxis(rng.dirichlet(np.ones(probability.shape[-1]), size=probability.shape[:-1]), -1, -1)
    return (1 - share) * probability + share * other


@pytest.mark.parametrize("seed", range(3))
def test_updates_of_annotators_are_coordinate_maxima(seed):
    problem, state, _ = tiny(seed, n_views=3)
    rng = np.random.default_rng(seed)
    updated = module.update_annotators(problem, state, problem.agreement(state))
    chosen = replace(state, phi=updated.phi)
    best, end = bounds_of(problem, chosen), bounds_of(problem, updated)
    assert (best > state.bounds).all()
    for _ in range(20):
        assert (bounds_of(problem, replace(chosen, phi=elsewhere(updated.phi, rng))) < best).all()
        right = updated.right * np.exp(0.03 * rng.normal(size=updated.right.shape))
        assert (bounds_of(problem, replace(updated, right=right)) < end).all()
        sticks = updated.sticks * np.exp(0.03 * rng.normal(size=updated.sticks.shape))
        assert (bounds_of(problem, replace(updated, sticks=sticks)) < end).all()


@pytest.mark.parametrize("explicit", [False, True])
def test_clusters_move_towards_coordinate_maxima(explicit):
    """For a single item that takes its full update, no other distribution is better."""
    problem, state, _ = tiny(explicit=explicit)
    rng = np.random.default_rng(0)
    columns = np.arange(4)
    with patch.object(module, "largest_share", lambda direction, _: np.ones(len(direction.slope))):
        target = module.update_clusters(problem, state, columns).eta
    for item in range(len(target)):
        eta = state.eta.copy()
        eta[item] = target[item]
        best = bounds_of(problem, replace(state, eta=eta))
        assert (best > state.bounds).all()
        for _ in range(10):
            eta = eta.copy()
            eta[item] = elsewhere(target[item].T, rng).T
            assert (bounds_of(problem, replace(state, eta=eta)) < best).all()


def test_clusters_take_the_largest_share_at_which_the_bound_does_not_fall():
    """Judgements that contradict η: some views can take the full update, others half of it or less."""
    ways = set()
    for seed in range(6):
        problem, state, _ = tiny(seed, n_views=1, n_restarts=3, missing=0.0, n_items=12)
        state = scored(problem, replace(state, right=np.tile([[[60.0, 1.0]]], (2, 3, 3, 1))))
        columns = np.arange(3)
        with patch.object(module, "largest_share", lambda direction, _: np.ones(len(direction.slope))):
            direction = module.update_clusters(problem, state, columns).eta - state.eta
        found = module.update_clusters(problem, state, columns)
        gains = np.array([bounds_of(problem, replace(state, eta=state.eta + w * direction)) for w in module.SHARES])
        way = module.SHARES[(gains >= state.bounds).argmax(0)]
        np.testing.assert_allclose(found.eta, state.eta + way * direction, atol=1e-12)
        ways |= set(way)
    assert len(ways) > 1


@settings(max_examples=30)
@given(
    st.integers(0, 10_000),
    st.integers(0, 3),
    st.integers(2, 4),
    st.integers(1, 5),
    st.integers(1, 4),
    st.booleans(),
)
def test_no_sweep_lowers_the_bound(seed, n_features, n_clusters, n_views, n_annotators, explicit):
    """From states far from an optimum, with more and with fewer views than annotators."""
    problem, state, _ = tiny(
        seed,
        n_features=n_features,
        n_clusters=n_clusters,
        n_views=n_views,
        n_annotators=n_annotators,
        explicit=explicit,
    )
    bounds = [state.bounds]
    for _ in range(15):
        state = module.step(problem, state)
        bounds.append(state.bounds)
    assert (np.diff(bounds, axis=0) >= -1e-8 * np.abs(bounds).max()).all()
    np.testing.assert_allclose(state.bounds, bounds_of(problem, state))
    np.testing.assert_allclose(state.eta.sum(1), 1)
    assert (state.eta >= 0).all()


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_no_sweep_lowers_the_bound_when_views_empty(seed, n_features):
    """Annotators who agree on nine tenths leave most of four views, and settle in few."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=40)
    said = np.where(rng.random((40, 4)) < 0.9, truth[:, None], rng.integers(3, size=(40, 4)))
    features = np.eye(3)[truth, :n_features] + rng.normal(size=(40, n_features))
    problem = MCVCProblem.of(features, PairEvidence.of(Groupings.from_matrix(said)), MCVCPrior(), 3)
    state = module.init(problem, 4, 3, rng=rng)
    bounds = []
    for _ in range(12):
        empty = state.phi.sum(0) <= module.FOLLOWED
        state = module.step(problem, state)
        bounds.append(state.bounds)
    assert empty.any()  # before the last sweep, which has set them to a good state
    assert (state.of_views[empty.ravel()] >= problem.unused[2]).all()
    # a view is given up while an annotator is in it with probability 1e-8, whose judgements are then lost
    assert (np.diff(bounds, axis=0) >= -1e-7 * np.abs(bounds).max()).all()
    np.testing.assert_allclose(state.bounds, bounds_of(problem, state))


def test_listed_and_implied_evidence_give_the_same_states():
    ends = []
    for explicit in (False, True):
        problem, state, _ = tiny(explicit=explicit)
        for _ in range(6):
            state = module.step(problem, state)
        ends.append(state)
    for name in ("eta", "phi", "right", "sticks", "bounds", "of_views"):
        np.testing.assert_allclose(getattr(ends[0], name), getattr(ends[1], name), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ends[0].weights.mean, ends[1].weights.mean, rtol=1e-8, atol=1e-10)


def test_restarts_are_independent():
    problem, together, _ = tiny(n_restarts=4, n_views=3)
    some = np.array([2, 0])
    alone = together.of_restarts(some)
    for _ in range(6):
        together, alone = module.step(problem, together), module.step(problem, alone)
    chosen = together.of_restarts(some)
    for name in ("eta", "phi", "right", "sticks", "bounds", "of_views"):
        np.testing.assert_allclose(getattr(alone, name), getattr(chosen, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(chosen.bounds, together.bounds[some])
    np.testing.assert_array_equal(chosen.eta[:, :, 3:], together.eta[:, :, :3])


def log_evidence(pairs, prior, n_items):
    """ln p(S) of two clusters and two views without features: over all clusters and views; the rest by integrals."""
    points, shares = np.polynomial.hermite_e.hermegauss(80)
    p = 1 / (1 + np.exp(-np.sqrt(2) * points))  # softmax of two N(0, 1): their difference is N(0, 2)
    all_z = np.array(list(itertools.product([0, 1], repeat=n_items)))
    of_z = np.array([np.log((shares * p ** (z == 0).sum() * (1 - p) ** (z == 1).sum()).sum()) for z in all_z])
    of_z -= np.log(shares.sum())
    np.testing.assert_allclose(logsumexp(of_z), 0, atol=1e-12)
    right = np.array([prior.right, prior.wrong])
    n_annotators = pairs.n_annotators
    of_judgements = np.zeros((n_annotators, len(all_z)))  # ln p(S^m | z of the view of m)
    for m in range(n_annotators):
        mine = pairs.annotator == m
        for number, z in enumerate(all_z):
            alike = (z[pairs.item_a] == z[pairs.item_b])[mine]
            same = pairs.same[mine]
            within = right + np.array([(alike & same).sum(), (alike & ~same).sum()])
            across = right + np.array([(~alike & ~same).sum(), (~alike & same).sum()])
            of_judgements[m, number] = betaln(*within) + betaln(*across) - 2 * betaln(*right)
    terms = []
    for c in itertools.product([0, 1], repeat=n_annotators):
        n_second = sum(c)
        of_c = betaln(1 + n_annotators - n_second, prior.stick + n_second) - betaln(1, prior.stick)
        views = [logsumexp(of_z + of_judgements[np.equal(c, g)].sum(0)) for g in (0, 1)]
        terms.append(of_c + sum(views))
    return logsumexp(terms)


@pytest.mark.parametrize("seed", range(4))
def test_bound_is_below_the_evidence(seed):
    """Of every state, and near it at the end: the gap is the posterior's symmetry and its factorisation."""
    problem, state, groupings = tiny(
        seed, n_features=0, n_clusters=2, n_views=2, n_items=5, n_annotators=3, n_restarts=8
    )
    evidence = log_evidence(groupings.to_pairs(), problem.prior, 5)
    assert (state.bounds < evidence).all()
    for _ in range(40):
        state = module.step(problem, state)
        assert (state.bounds < evidence).all()
    assert state.bounds.max() > evidence - 6  # of about 20 nats: 2 to 5.5


def test_expected_log_sticks():
    sticks = np.array([[[2.0, 3.0], [1.0, 4.0]]])
    (first, others), (second, last) = (expected_logs(q) for q in sticks[0])
    np.testing.assert_allclose(module.expected_log_sticks(sticks), [[first, others + second, others + last]])
    np.testing.assert_array_equal(module.expected_log_sticks(np.ones((2, 0, 2))), np.zeros((2, 1)))


def test_views_without_annotators_take_the_better_state():
    problem, state, _ = tiny(n_views=3, n_restarts=1)
    phi = np.tile([1.0, 0.0, 0.0], (3, 1, 1))
    state = scored(problem, replace(state, phi=phi))
    weights, eta, bound = problem.unused
    kept = module.reset_unused(
        problem, replace(state, of_views=np.array([0.0, bound + 1, bound - 1])), np.array([1, 2])
    )
    np.testing.assert_array_equal(kept.eta[:, :, :2], state.eta[:, :, :2])
    np.testing.assert_array_equal(kept.eta[:, :, 2:], eta)
    np.testing.assert_array_equal(kept.weights.mean[:, :, 2:], weights.mean)
    np.testing.assert_array_equal(kept.of_views, [0.0, bound + 1, bound])
    moved = module.step(problem, state)
    assert (moved.bounds > state.bounds).all()
    np.testing.assert_array_equal(moved.of_views[1:], bound)


@pytest.mark.parametrize("n_features", [0, 3])
def test_start(n_features):
    """Annotators' reliabilities at their prior, memberships those of the weights, or at random without features."""
    problem, *_ = tiny(n_features=n_features)
    state = module.init(problem, 3, 4, rng=np.random.default_rng(0))
    assert state.eta.shape == (9, 3, 12)
    np.testing.assert_allclose(state.phi.sum(2), 1)
    np.testing.assert_array_equal(state.right, np.broadcast_to([4.0, 2.0], (2, 3, 4, 2)))
    np.testing.assert_array_equal(state.sticks, np.broadcast_to([1.0, 1.5], (4, 2, 2)))
    of_weights = softmax(np.einsum("il,lkp->ikp", problem.design.x, state.weights.mean), axis=1)
    assert np.allclose(state.eta, of_weights) == (n_features > 0)
    assert np.abs(state.eta - state.eta[:1]).max() > 0.1


def planted_views(seed, *, n_items=600, accuracy=None, pairs_each=400, n_each=10, distance=2.5):
    """Two clusterings into three of the same items, each told by three features and judged by its own annotators.

    Annotators "a 1", … judge by the first view, "b 1", … by the second; accuracies fall from .95 to .70 in both.
    """
    rng = np.random.default_rng(seed)
    views = [rng.integers(3, size=n_items) for _ in range(2)]
    centers = [distance * np.sqrt(2) * np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in views]
    X = np.column_stack([center[view] + rng.normal(size=(n_items, 3)) for view, center in zip(views, centers)])
    accuracy = np.linspace(0.95, 0.70, n_each) if accuracy is None else accuracy
    frames = []
    for view, name in zip(views, "ab"):
        judged = simulate_pairs(view, n_each, pairs_each, accuracy, random_state=int(rng.integers(2**31)))
        frame = judged.to_frame()
        frames.append(frame.assign(annotator=name + frame["annotator"].str.removeprefix("annotator")))
    return (X - X.mean(0)) / X.std(0), views, Pairs.from_frame(pd.concat(frames), items=range(n_items))
