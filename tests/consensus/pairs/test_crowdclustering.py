"""Points, annotators and mixture: the bound by its definition, exact updates, no step that lowers it."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, expit
from scipy.stats import beta, multivariate_normal, wishart

from consilience.annotations import Pairs
from consilience.consensus.pairs import crowdclustering as core
from consilience.consensus.pairs import point_mixture
from consilience.consensus.pairs.crowdclustering import CrowdclusteringProblem, CrowdclusteringState
from consilience.consensus.pairs.point_mixture import PointLayout, PointMixture, PointMixturePrior
from consilience.metrics.clusterings import nmi
from consilience.simulation.pairs import simulate_pairs


def judgements(seed, n_items=6, n_annotators=2, pairs_each=8):
    classes = np.arange(n_items) % 2
    return simulate_pairs(classes, n_annotators, pairs_each, 0.8, balanced=False, random_state=seed)


def problem_of(seed=0, n_components=2, prior=None, **sizes):
    return CrowdclusteringProblem.of(judgements(seed, **sizes), n_components=n_components, prior=prior)


def covariances(rng, shape, d):
    half = rng.normal(size=(*shape, d, d)) / np.sqrt(d)
    return 0.3 * half @ half.swapaxes(-1, -2) + 0.1 * np.eye(d)


def anywhere(problem, seed=0, n_clusters=None):
    """A state in which nothing is at its update."""
    rng, layout = np.random.default_rng(seed), problem.layout
    d, n_weights = layout.n_components, len(layout.weights)
    n_items, n_annotators, k = problem.n_items, problem.n_annotators, n_clusters
    state = CrowdclusteringState(
        points=layout.points(rng.normal(size=(n_items, d)), covariances(rng, (n_items,), d)),
        mean=rng.normal(size=(n_annotators, n_weights)),
        covariance=covariances(rng, (n_annotators,), n_weights),
        delta=rng.uniform(0.1, 3, size=len(problem.sign)),
    )
    if k is None:
        return state
    mixture = PointMixture(
        share=rng.dirichlet(np.ones(k), size=n_items),
        sticks=rng.uniform(0.5, 3, size=(k - 1, 2)),
        centre=rng.normal(size=(k, d)),
        strength=rng.uniform(0.1, 3, size=k),
        freedom=d + rng.uniform(0, 5, size=k),
        scatter=covariances(rng, (k,), d),
    )
    return replace(state, mixture=mixture)


def gaussians(problem, state):
    """Means and covariances of the points."""
    mean = problem.layout.means(state.points)
    return mean, problem.layout.second_moments(state.points) - mean[:, :, None] * mean[:, None, :]


def matrix_of(problem, weights):
    """W of its upper triangle, and τ."""
    d = problem.layout.n_components
    w = np.zeros((d, d))
    w[np.triu_indices(d)] = weights[:-1]
    return np.triu(w) + np.triu(w, 1).T, weights[-1]


def drawn_scores(problem, state, n_draws, rng):
    """A_t for draws from q."""
    mean, covariance = gaussians(problem, state)
    x = np.stack([rng.multivariate_normal(m, c, size=n_draws) for m, c in zip(mean, covariance)])
    w = np.stack([rng.multivariate_normal(m, c, size=n_draws) for m, c in zip(state.mean, state.covariance)])
    d = problem.layout.n_components
    full = np.empty((*w.shape[:2], d, d))
    full[:, :, *np.triu_indices(d)] = w[:, :, :-1]
    full[:, :, *np.triu_indices(d)[::-1]] = w[:, :, :-1]
    other = partners(problem)
    a, j = problem.item_a, problem.annotator
    return np.einsum("tsd,tsde,tse->ts", x[a], full[j], x[other]) + w[j][:, :, -1]


def partners(problem):
    return problem.cell_item[problem.cell_of_b]


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_moments_of_judgements_are_those_of_draws(n_components):
    problem = problem_of(n_components=n_components)
    state = anywhere(problem, 1)
    scores = drawn_scores(problem, state, 40_000, np.random.default_rng(0))
    for found, drawn in zip(core.judgement_moments(problem, state), (scores, scores**2)):
        error = drawn.std(1) / np.sqrt(drawn.shape[1])
        assert (np.abs(found - drawn.mean(1)) < 5 * error).all()


def test_moments_of_judgements_are_those_of_exact_sums():
    """With points and weights known, A_t is x_aᵀ W_j x_b + τ_j and A_t² its square."""
    problem = problem_of(n_components=3)
    state = anywhere(problem)
    mean = problem.layout.means(state.points)
    known = replace(
        state,
        points=problem.layout.points(mean, np.zeros((problem.n_items, 3, 3))),
        covariance=np.zeros_like(state.covariance),
    )
    expected = []
    for a, b, j in zip(problem.item_a, partners(problem), problem.annotator):
        w, tau = matrix_of(problem, state.mean[j])
        expected.append(mean[a] @ w @ mean[b] + tau)
    said, square = core.judgement_moments(problem, known)
    np.testing.assert_allclose(said, expected, rtol=1e-10)
    np.testing.assert_allclose(square, np.square(expected), rtol=1e-9, atol=1e-12)


def bound_by_loops(problem, state):
    """The bound as written, term by term, with SciPy's densities and entropies."""
    prior, d = problem.prior, problem.layout.n_components
    said, square = core.judgement_moments(problem, state)
    total = 0.0
    for t, sign in enumerate(problem.sign):
        delta = state.delta[t]
        total += np.log(expit(delta)) + (sign * said[t] - delta) / 2
        total += (0.5 - expit(delta)) / (2 * delta) * (square[t] - delta**2)
    for mean, covariance in zip(state.mean, state.covariance):
        variance = np.diag([prior.weight_variance] * (len(mean) - 1) + [prior.bias_variance])
        total += multivariate_normal(np.zeros(len(mean)), variance).logpdf(mean)
        total -= np.trace(np.linalg.solve(variance, covariance)) / 2  # E ln p = ln p(mean) − trace / 2
        total += multivariate_normal(mean, covariance).entropy()
    for i, (mean, covariance) in enumerate(zip(*gaussians(problem, state))):
        total += multivariate_normal(mean, covariance).entropy()
        if state.mixture is None:
            total += multivariate_normal(np.zeros(d), prior.item_variance * np.eye(d)).logpdf(mean)
            total -= np.trace(covariance) / prior.item_variance / 2
        else:
            total += expected_log_density(problem, state.mixture, mean, covariance, state.mixture.share[i])
    return total if state.mixture is None else total - divergence(problem, state.mixture)


def expected_log_density(problem, mixture, mean, covariance, share):
    """Σ_k r_k (E ln N(x; μ_k, Λ_k⁻¹) + E ln π_k − ln r_k), the first by Bishop (2006), eq. 10.64 and 10.65."""
    d, total, log_rest = problem.layout.n_components, 0.0, 0.0
    for k, r in enumerate(share):
        w = np.linalg.inv(mixture.scatter[k])
        log_det = sum(digamma((mixture.freedom[k] - c) / 2) for c in range(d))
        log_det += d * np.log(2) + np.linalg.slogdet(w)[1]
        away = mean - mixture.centre[k]
        square = d / mixture.strength[k] + mixture.freedom[k] * (away @ w @ away + np.trace(w @ covariance))
        log_stick = 0.0
        if k < len(mixture.sticks):
            one, two = mixture.sticks[k]
            log_stick = digamma(one) - digamma(one + two)
        total += r * (log_det / 2 - d / 2 * np.log(2 * np.pi) - square / 2 + log_rest + log_stick - np.log(r))
        if k < len(mixture.sticks):
            log_rest += digamma(two) - digamma(one + two)
    return total


def divergence(problem, mixture):
    """E ln q − E ln p of the sticks and the Normal-Wisharts, the latter given Λ and then of Λ."""
    d, prior, total = problem.layout.n_components, problem.prior, 0.0
    for one, two in mixture.sticks:
        log_rest = digamma(two) - digamma(one + two)
        total -= beta(one, two).entropy() + np.log(prior.stick) + (prior.stick - 1) * log_rest
    for k, freedom in enumerate(mixture.freedom):
        scale = np.linalg.inv(mixture.scatter[k])
        precision = freedom * scale
        square = prior.strength * mixture.centre[k] @ precision @ mixture.centre[k]
        ratio = prior.strength / mixture.strength[k]
        total += (d * (ratio - 1 - np.log(ratio)) + square) / 2
        log_det = digamma((freedom - np.arange(d)) / 2).sum() + d * np.log(2) + np.linalg.slogdet(scale)[1]
        # ln p(Λ) is linear in ln |Λ|, with the factor (ν₀ − d − 1) / 2 = 1/2, and in Λ
        at_mean = wishart(d + 2, np.eye(d) / prior.within).logpdf(precision)
        total -= wishart(freedom, scale).entropy() + at_mean + (log_det - np.linalg.slogdet(precision)[1]) / 2
    return total


@pytest.mark.parametrize("n_clusters", [None, 1, 3])
def test_bound_is_the_written_formula(n_clusters):
    problem = problem_of(prior=PointMixturePrior(4.0, 3.0, 2.0, 1.5, 0.7))
    state = anywhere(problem, 2, n_clusters)
    assert core.lower_bound(problem, state) == pytest.approx(bound_by_loops(problem, state), rel=1e-9)


def test_bound_lies_below_the_evidence_and_not_far():
    """Two items, one annotator and one judgement: p(l = 1) = 1/2, since W and τ are symmetric about 0."""
    # with small W little is lost to the Gaussians being independent
    small = PointMixturePrior(item_variance=0.5, weight_variance=0.1)
    problem = problem_of(n_components=1, prior=small, n_items=2, n_annotators=1, pairs_each=1)
    state = core.init(problem, rng=np.random.default_rng(0))
    for _ in range(50):
        state = core.step(problem, state)
    assert np.log(0.5) - 0.1 < state.bound <= np.log(0.5)


def test_bound_of_the_logistic_function():
    delta, a = map(np.ravel, np.meshgrid(np.linspace(0.01, 6, 50), np.linspace(-6, 6, 51)))
    below = np.log(expit(delta)) + (a - delta) / 2 + core.slopes(delta) * (a**2 - delta**2)
    assert (below <= np.log(expit(a)) + 1e-12).all()
    np.testing.assert_allclose(core.slopes(np.array([0.0, 1e-5, 1e-4])), -0.125, atol=1e-9)


def moved(state, name, at, by):
    values = getattr(state, name).copy()
    values[at] += by
    return replace(state, **{name: values})


def gradient(problem, state, name, entries, step=1e-4):
    """Central differences of the bound."""
    there = [core.lower_bound(problem, moved(state, name, at, step)) for at in entries]
    back = [core.lower_bound(problem, moved(state, name, at, -step)) for at in entries]
    return (np.array(there) - np.array(back)) / (2 * step)


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_update_of_points_is_exact(monkeypatch, n_clusters):
    """With one item per batch, the last item is at its maximum."""
    monkeypatch.setattr(core, "N_BATCHES", 6)
    problem = problem_of(1)
    state = core.update_points(problem, anywhere(problem, 3, n_clusters))
    entries = [(5, m) for m in range(problem.layout.moments.shape[0] - 1)]
    np.testing.assert_allclose(gradient(problem, state, "points", entries, 1e-5), 0, atol=1e-5)
    before = gradient(problem, anywhere(problem, 3, n_clusters), "points", entries, 1e-5)
    assert np.abs(before).max() > 0.1


def test_update_of_annotators_is_exact():
    problem = problem_of(1)
    state = core.update_annotators(problem, anywhere(problem, 3))
    n_weights = len(problem.layout.weights)
    entries = [(j, p) for j in range(2) for p in range(n_weights)]
    np.testing.assert_allclose(gradient(problem, state, "mean", entries), 0, atol=1e-6)
    for p in range(n_weights):
        for q in range(p, n_weights):
            at = (np.array([0, 0]), np.array([p, q]), np.array([q, p]))
            assert gradient(problem, state, "covariance", [at], 1e-5) == pytest.approx(0, abs=1e-4)


def test_update_of_delta_is_exact():
    problem = problem_of(1)
    state = core.update_delta(problem, anywhere(problem, 3, 2))
    entries = list(range(len(problem.sign)))
    np.testing.assert_allclose(gradient(problem, state, "delta", entries), 0, atol=1e-6)
    assert state.bound == pytest.approx(core.lower_bound(problem, state))


@pytest.mark.parametrize("name", ["sticks", "centre", "strength", "freedom", "scatter"])
def test_updates_of_the_mixture_are_exact(name):
    """All but the shares stand at their maximum for the shares they were made from; each share for what came before."""
    problem = problem_of(1)
    state = anywhere(problem, 3, 3)
    found = replace(mixture_updated(problem, state).mixture, share=state.mixture.share)
    state = replace(state, mixture=found)
    values = getattr(found, name)
    if name == "scatter":
        entries = [(k, [d, e], [e, d]) for k in range(3) for d in range(2) for e in range(d, 2)]
    else:
        entries = list(np.ndindex(values.shape))
    for at in entries:
        change = np.zeros_like(values)
        change[at] = 1e-4
        up, down = (replace(state, mixture=replace(found, **{name: values + way * change})) for way in (1, -1))
        slope = (core.lower_bound(problem, up) - core.lower_bound(problem, down)) / 2e-4
        assert slope == pytest.approx(0, abs=1e-5)


def test_update_of_shares_is_exact():
    problem = problem_of(1)
    state = anywhere(problem, 3, 3)
    found = mixture_updated(problem, state).mixture
    bound = core.lower_bound(problem, replace(state, mixture=found))
    rng = np.random.default_rng(0)
    for other in rng.dirichlet(np.ones(3), size=20):
        for towards in (0.01, 1.0):
            share = (1 - towards) * found.share + towards * other
            assert core.lower_bound(problem, replace(state, mixture=replace(found, share=share))) <= bound


def test_update_of_scale_changes_no_judgement_and_is_exact():
    problem = problem_of(1)
    state = anywhere(problem, 3, 3)
    found = core.update_scale(problem, state)
    for one, two in zip(core.judgement_moments(problem, state), core.judgement_moments(problem, found)):
        np.testing.assert_allclose(one, two)
    assert core.lower_bound(problem, found) > core.lower_bound(problem, state) + 0.1
    again = core.update_scale(problem, found)
    np.testing.assert_allclose(again.points, found.points)
    np.testing.assert_allclose(again.mean, found.mean)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    n_items=st.integers(2, 12),
    n_annotators=st.integers(1, 3),
    n_components=st.integers(1, 3),
    n_clusters=st.sampled_from([None, 1, 2, 5]),
    prior=st.builds(
        PointMixturePrior,
        st.floats(1, 9),
        st.floats(0.1, 20),
        st.floats(0.1, 5),
        st.floats(0.1, 5),
        st.floats(0.1, 0.9),
    ),
    n_batches=st.sampled_from([1, 3, 16]),
)
def test_no_step_lowers_the_bound(seed, n_items, n_annotators, n_components, n_clusters, prior, n_batches):
    pairs = judgements(seed, n_items, n_annotators, n_items * (n_items - 1) // 2)
    problem = CrowdclusteringProblem.of(pairs, n_components=n_components, prior=prior)
    state = anywhere(problem, seed, n_clusters)
    before = core.lower_bound(problem, state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "N_BATCHES", n_batches)
        for _ in range(2):
            for update in (core.update_points, core.update_annotators, mixture_updated, core.update_scale):
                state = update(problem, state)
                before = at_least(problem, state, before)
            state = core.update_delta(problem, state)
            before = at_least(problem, state, before)
            state = core.step(problem, state)
            before = at_least(problem, state, before)


def mixture_updated(problem, state):
    if state.mixture is None:
        return state
    mixture = point_mixture.update_mixture(problem.layout, problem.prior, state.points, state.mixture)
    return replace(state, mixture=mixture)


def at_least(problem, state, before):
    bound = core.lower_bound(problem, state)
    assert bound >= before - 1e-8 * max(abs(before), 1)
    return bound


def test_updates_do_not_modify_their_arguments():
    problem = problem_of()
    state = anywhere(problem, 0, 2)
    kept = [np.copy(getattr(state, f.name)) for f in fields(state)[:4]]
    core.step(problem, state)
    for f, values in zip(fields(state), kept):
        np.testing.assert_array_equal(getattr(state, f.name), values)


def test_links_list_every_judgement_from_both_sides():
    problem = problem_of(4)
    weight = np.random.default_rng(0).normal(size=len(problem.sign))
    expected = np.zeros((problem.n_items, problem.n_items, problem.n_annotators))
    for a, b, j, w in zip(problem.item_a, partners(problem), problem.annotator, weight):
        expected[a, b, j] += w
        expected[b, a, j] += w
    found = np.zeros_like(expected)
    links = problem.links(slice(0, problem.n_items), weight).toarray()
    for cell, (item, annotator) in enumerate(zip(problem.cell_item, problem.cell_annotator)):
        found[:, item, annotator] = links[:, cell]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(problem.links(slice(2, 4), weight).toarray(), links[2:4])
    np.testing.assert_allclose(
        problem.links(slice(2, 4), weight, 2 * weight).toarray(), np.concatenate([links[2:4], 2 * links[2:4]])
    )


def test_batches_hold_every_item_once():
    for n_items in (2, 7, 50):
        problem = problem_of(n_items=n_items, pairs_each=1)
        held = np.concatenate([np.arange(n_items)[batch] for batch in problem.batches])
        np.testing.assert_array_equal(held, np.arange(n_items))


def test_points_and_coefficients_of_gaussians():
    rng, layout = np.random.default_rng(0), PointLayout.of(3)
    mean, covariance = rng.normal(size=(5, 3)), covariances(rng, (5,), 3)
    points = layout.points(mean, covariance)
    np.testing.assert_allclose(layout.means(points), mean)
    expected = [multivariate_normal(m, c).entropy() for m, c in zip(mean, covariance)]
    np.testing.assert_allclose(layout.entropies(points), expected)
    precision, linear, constant = np.linalg.inv(covariance), rng.normal(size=(5, 3)), rng.normal(size=5)
    coefficients = layout.coefficients(precision, linear, constant)
    x = rng.normal(size=(5, 3))
    at_x = layout.points(x, np.zeros((5, 3, 3)))
    by_hand = [c + h @ v - v @ p @ v / 2 for v, p, h, c in zip(x, precision, linear, constant)]
    np.testing.assert_allclose((coefficients * at_x).sum(1), by_hand)
    best = layout.points((covariance @ linear[:, :, None])[:, :, 0], covariance)
    np.testing.assert_allclose(layout.maximum(coefficients), best)


def test_expected_sticks_are_means_of_draws():
    sticks = np.array([[2.0, 3.0], [1.0, 4.0]])
    v = np.random.default_rng(0).beta(*sticks.T, size=(200_000, 2))
    drawn = np.column_stack([v[:, 0], (1 - v[:, 0]) * v[:, 1], (1 - v[:, 0]) * (1 - v[:, 1])])
    np.testing.assert_allclose(point_mixture.expected_sticks(sticks), drawn.mean(0), atol=0.003)
    np.testing.assert_allclose(point_mixture.expected_log_sticks(sticks), np.log(drawn).mean(0), atol=0.02)
    np.testing.assert_allclose(point_mixture.expected_sticks(np.empty((0, 2))), [1.0])


def test_a_point_without_judgements():
    problem = problem_of()
    given = problem.layout, problem.prior
    np.testing.assert_allclose(point_mixture.prior_points(*given, None), [5, 0, 5, 0, 0, 1])
    at_rest = point_mixture.at_rest(*given, np.zeros((1, 3)))
    np.testing.assert_allclose(point_mixture.prior_points(*given, at_rest), [5, 0, 5, 0, 0, 1])  # within + within / β₀


def test_prior_of_the_points_is_that_of_the_first_stage():
    """One cluster of fixed μ and Λ is a Gaussian prior: the variance of the points is 5 in both."""
    prior = PointMixturePrior()
    assert prior.within + prior.within / prior.strength == pytest.approx(prior.item_variance)


@pytest.mark.parametrize("two_stage", [True, False])
def test_finds_planted_clusters_and_their_number(two_stage):
    """Two annotators mostly right, one mostly wrong, one at random."""
    classes = np.random.default_rng(0).permutation(np.arange(60) % 3)
    pairs = simulate_pairs(classes, 4, 400, [0.95, 0.9, 0.05, 0.5], random_state=0)
    problem = CrowdclusteringProblem.of(pairs)
    trace, mixture = core.run(problem, 5, 0, two_stage=two_stage, max_iter=100, tol=1e-4)
    assert (np.diff(trace.lower_bounds) >= -1e-8 * abs(trace.lower_bound)).all()
    assert nmi(classes, mixture.share.argmax(1)) > 0.95
    assert (np.bincount(mixture.share.argmax(1), minlength=5) > 0).sum() == 3
    assert (trace.state.mixture is None) == two_stage


def test_start_weights_annotators_with_the_right_sign():
    classes = np.random.default_rng(0).permutation(np.arange(60) % 3)
    pairs = simulate_pairs(classes, 4, 400, [0.95, 0.9, 0.05, 0.5], random_state=0)
    agreed = core.agree(CrowdclusteringProblem.of(pairs), rng=np.random.default_rng(0))
    weight = agreed.weight / np.abs(agreed.weight).max()
    np.testing.assert_allclose(weight, [1, 0.9, -1, 0], atol=0.2)
    centred = np.eye(3)[classes] - 1 / 3  # two dimensions, which the axes must hold
    np.testing.assert_allclose(np.linalg.norm(agreed.axes.T @ centred / np.sqrt(20), axis=None), np.sqrt(2), atol=0.05)


def test_score_of_one_pair_is_that_of_a_judgement():
    problem = problem_of(5)
    state = anywhere(problem, 5)
    said, square = core.judgement_moments(problem, state)
    for t in (0, 3):
        points = state.points[[problem.item_a[t]]], state.points[[partners(problem)[t]]]
        j = problem.annotator[t]
        mean, second = core.scores_of_pairs(*points, state.mean[j], state.covariance[j])
        np.testing.assert_allclose([mean[0], second[0]], [said[t], square[t]])


def test_pairs_judged_twice_count_twice():
    pairs = judgements(0, pairs_each=5)
    frame = pairs.to_frame()
    both = pd.concat([frame.assign(grouping="first"), frame.assign(grouping="again")])
    one = CrowdclusteringProblem.of(pairs, n_components=2)
    two = CrowdclusteringProblem.of(Pairs.from_frame(both, items=pairs.items), n_components=2)
    state = core.update_delta(one, anywhere(one))
    said, _ = core.judgement_moments(one, state)
    judgements_alone = (np.log(expit(state.delta)) + (one.sign * said - state.delta) / 2).sum()
    twice = core.update_delta(two, replace(state, delta=np.ones(len(two.sign))))
    assert twice.bound == pytest.approx(state.bound + judgements_alone)
