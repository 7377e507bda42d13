"""The mixture of groupings: its evidence against sums and enumeration, its steps against differences of evidence."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from consilience import Groupings
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.grouping_mixture import GroupingLayout, GroupingMixtureState
from consilience.inference.memberships import Memberships
from consilience.metrics.clusterings import nmi
from tests.subset_groupings import arguments, drawn_from_mixture, lists_of, made


def log_rising(y, m):
    """ln y (y + 1) … (y + m - 1)."""
    return sum(np.log(y + i) for i in range(m))


def log_likelihood(given_groupings, cluster, n_clusters, concentration):
    """ln p(x | z) by annotator, from the lists: every item of the groupings has a cluster."""
    found = np.zeros(given_groupings.n_annotators)
    for h, grouping in enumerate(lists_of(given_groupings)):
        annotator = given_groupings.annotator_of_grouping[h]
        c, base = concentration[annotator], 1 / (len(grouping) + 2)
        for k in range(n_clusters):
            m = [sum(cluster[item] == k for item in group) for group in grouping]
            found[annotator] += sum(log_rising(c * base, count) for count in m) - log_rising(c, sum(m))
    return found


def log_prior(cluster, n_clusters):
    """Ln p(z)."""
    sizes = np.bincount(cluster, minlength=n_clusters)
    return sum(log_rising(1, int(m)) for m in sizes) - log_rising(n_clusters, len(cluster))


@st.composite
def problems(draw, max_items=6):
    """What `problem` makes a layout and a state of."""
    drawn = draw(arguments(max_items=max_items, max_groupings=5))
    n_items, n_clusters = drawn[2], draw(st.integers(1, 4))
    cluster = draw(st.lists(st.integers(0, n_clusters - 1), min_size=n_items, max_size=n_items))
    concentration = draw(st.lists(st.sampled_from([0.05, 0.7, 4.0, 1000.0]), min_size=3, max_size=3))
    return drawn, n_clusters, cluster, concentration


def problem(drawn, n_clusters, cluster, concentration):
    """Groupings of items that some grouping holds, their layout, and a state."""
    whole = made(drawn)
    given_groupings = whole[np.flatnonzero(np.diff(whole.incidence.indptr))]
    memberships = Memberships.of(given_groupings)
    state = GroupingMixtureState(
        np.array(cluster[: memberships.n_items]), n_clusters, np.array(concentration[: memberships.n_annotators])
    )
    return given_groupings, GroupingLayout.of(memberships), state


@settings(max_examples=30)
@given(problems())
def test_log_evidence_is_the_sum_of_its_parts(drawn):
    given_groupings, layout, state = problem(*drawn)
    expected = log_likelihood(given_groupings, state.cluster, state.n_clusters, state.concentration).sum()
    expected += log_prior(state.cluster, state.n_clusters)
    assert mixture.log_evidence(layout, state) == pytest.approx(expected, abs=1e-9)


def test_probabilities_of_all_groupings_and_assignments_add_up_to_one():
    """One annotator sorts three items, then two of them; of either sort one group is used, three were to be had."""
    subsets, c, n_clusters = [[0, 1, 2], [0, 2]], np.array([0.6]), 2
    base = GroupingLayout.of(Memberships.of(Groupings.from_lists([[subset] for subset in subsets]))).base
    np.testing.assert_allclose(base, 1 / 3)
    given_z = {z: [] for z in itertools.product(range(n_clusters), repeat=3)}
    for x in itertools.product(range(3), repeat=5):
        said = [x[:3], x[3:]]
        lists = [
            [[item for item, group in zip(subset, groups) if group == g] for g in range(3)]
            for subset, groups in zip(subsets, said)
        ]
        whole = Groupings.from_lists(lists, annotators=["a", "a"], items=range(3))
        layout = replace(GroupingLayout.of(Memberships.of(whole)), base=base)  # all three groups are listed here
        for z, found in given_z.items():
            found.append(mixture.log_evidence(layout, GroupingMixtureState(np.array(z), n_clusters, c)))
    for z, found in given_z.items():
        assert logsumexp(found) == pytest.approx(log_prior(np.array(z), n_clusters), abs=1e-10)
    assert logsumexp(list(given_z.values())) == pytest.approx(0, abs=1e-10)


@settings(max_examples=30)
@given(problems())
def test_scores_differ_by_what_a_move_changes(drawn):
    _, layout, state = problem(*drawn)
    scores = mixture.cluster_scores(layout, state)
    now = mixture.log_evidence(layout, state)
    moved = np.empty_like(scores)
    for n, k in itertools.product(*map(range, scores.shape)):
        cluster = state.cluster.copy()
        cluster[n] = k
        moved[n, k] = mixture.log_evidence(layout, replace(state, cluster=cluster))
    own = np.take_along_axis(scores, state.cluster[:, None], 1)
    np.testing.assert_allclose(scores - own, moved - now, atol=1e-8)


@settings(max_examples=30)
@given(problems())
def test_merger_gains_are_differences_of_evidence(drawn):
    _, layout, state = problem(*drawn)
    assume(state.n_clusters > 1)
    gains = mixture.merger_gains(layout, state, rng=np.random.default_rng(0))
    now = mixture.log_evidence(layout, state)
    assert (gains.diagonal() == -np.inf).all()
    found = {}
    for first, second in itertools.combinations(range(state.n_clusters), 2):
        found[first, second] = mixture.log_evidence(layout, mixture.merge(state, first, second)) - now
        assert gains[first, second] == pytest.approx(found[first, second], abs=1e-8)
        assert gains[second, first] == pytest.approx(found[first, second], abs=1e-8)
    best = mixture.best_merger(layout, state, rng=np.random.default_rng(0))
    assert best[0] < best[1]
    assert found[best] == pytest.approx(max(found.values()), abs=1e-8)


def crowd(seed=0, n_items=120, n_clusters=4, concentration=(0.1, 0.1, 0.1, 0.1, 0.1, 0.1), n_each=10, size=12):
    """Clusters of items and groupings of them that the mixture itself made, without items in no grouping."""
    cluster = np.random.default_rng(seed).permutation(np.arange(n_items) % n_clusters)
    given_groupings = drawn_from_mixture(cluster, concentration, n_each=n_each, size=size, seed=seed)
    held = np.flatnonzero(np.diff(given_groupings.incidence.indptr))
    return cluster[held], given_groupings[held]


def test_a_random_share_of_the_groupings_represents_all():
    """Half of them: the mean over many draws is right, to four of its standard errors."""
    cluster, given_groupings = crowd()
    layout = GroupingLayout.of(Memberships.of(given_groupings))
    state = mixture.init(layout, cluster, 4)
    exact = mixture.merger_gains(layout, state, rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    with patch.object(mixture, "MERGER_CELLS", given_groupings.n_groups * 2):
        draws = np.array([mixture.merger_gains(layout, state, rng=rng) for _ in range(400)])
    off = ~np.eye(4, dtype=bool)
    error = draws[:, off].std(0) / 20
    assert (error > 0).all()
    assert (np.abs(draws[:, off].mean(0) - exact[off]) < 4 * error).all()


def test_merging_and_leaving_out():
    state = GroupingMixtureState(np.array([0, 3, 1, 2, 3]), 4, np.ones(1))
    merged = mixture.merge(state, 1, 2)
    assert (merged.cluster.tolist(), merged.n_clusters) == ([0, 2, 1, 1, 2], 3)
    assert state.cluster.tolist() == [0, 3, 1, 2, 3]
    left = mixture.drop_empty_clusters(GroupingMixtureState(np.array([4, 1, 4]), 6, np.ones(1)))
    assert (left.cluster.tolist(), left.n_clusters) == ([1, 0, 1], 2)


@settings(max_examples=30)
@given(problems(max_items=5))
def test_concentrations_are_learned_from_all_annotators(drawn):
    """The mean of ln c over the grid, whose shares are learned by EM: 30 steps, or until they gain next to nothing."""
    given_groupings, layout, state = problem(*drawn)
    grid = mixture.CONCENTRATIONS
    parts = [
        log_likelihood(given_groupings, state.cluster, state.n_clusters, np.full(len(state.concentration), c))
        for c in grid
    ]
    likelihood = np.exp(np.array(parts).T)
    shares, before = np.full(len(grid), 1 / len(grid)), None
    for _ in range(30):
        posterior = shares * likelihood
        shares = (posterior / posterior.sum(1, keepdims=True)).mean(0) + 1e-9
        evidence = np.log((shares * likelihood).sum(1)).sum()
        if before is not None and evidence - before <= 1e-6 * abs(evidence):
            break
        before = evidence
    posterior = shares * likelihood
    expected = np.exp(posterior @ np.log(grid) / posterior.sum(1))
    found = mixture.learn_concentration(layout, state)
    np.testing.assert_allclose(found.concentration, expected, rtol=1e-7)
    assert found.cluster is state.cluster


def test_concentrations_of_the_model_are_recovered():
    """Twenty groupings of twelve each: annotators a factor of thirty apart are not mixed up, a spammer stands out."""
    true = (0.05, 0.05, 0.3, 0.3, 1.5, 1.5, 500.0)
    cluster, given_groupings = crowd(concentration=true, n_each=20)
    layout = GroupingLayout.of(Memberships.of(given_groupings))
    found = mixture.learn_concentration(layout, mixture.init(layout, cluster, 4)).concentration
    np.testing.assert_allclose(np.log(found[:6]), np.log(true[:6]), atol=np.log(2))
    assert found[6] > 10


def test_a_sweep_moves_some_items_to_the_best_cluster_and_reports_it():
    cluster, given_groupings = crowd()
    layout = GroupingLayout.of(Memberships.of(given_groupings))
    rng = np.random.default_rng(0)
    state = mixture.init(layout, rng.integers(4, size=len(cluster)), 4)
    assert np.unique(state.concentration).tolist() == [mixture.FIRST_CONCENTRATION]
    shares = []
    for number in range(1, 8):
        scores = mixture.cluster_scores(layout, state)
        after = mixture.sweep(layout, state, rng=rng)
        moved, wanting = after.cluster != state.cluster, scores.argmax(1) != state.cluster
        np.testing.assert_array_equal(after.cluster[moved], scores.argmax(1)[moved])
        shares.append((moved.sum(), wanting.sum()))
        assert after.restless == wanting.mean()
        assert after.n_sweeps == number
        own = np.take_along_axis(scores, state.cluster[:, None], 1)
        assert after.log_pseudo_likelihood == pytest.approx(own.sum())
        learned = (after.concentration != state.concentration).any()
        assert learned == (number % mixture.LEARN_EVERY == 0)
        state = after
    assert 0.35 < shares[0][0] / shares[0][1] < 0.65  # half of some ninety: three standard errors are 0.16


@pytest.mark.parametrize("seed", range(4))
def test_settling_ends_with_more_evidence(seed):
    """A single half-sweep need not raise the evidence, but all of them together do from a random start."""
    cluster, given_groupings = crowd(seed)
    layout = GroupingLayout.of(Memberships.of(given_groupings))
    rng = np.random.default_rng(seed)
    start = mixture.init(layout, rng.integers(5, size=len(cluster)), 5)
    end = mixture.settle(layout, start, rng=rng)
    assert mixture.log_evidence(layout, end) > mixture.log_evidence(layout, start) + 50
    assert mixture.FEWEST_SWEEPS <= end.n_sweeps < mixture.MOST_SWEEPS
    assert end.restless == 0
    if end.n_sweeps % mixture.LEARN_EVERY:  # else concentrations were learned after the last look
        np.testing.assert_array_equal(mixture.cluster_scores(layout, end).argmax(1), end.cluster)
    assert mixture.settle(layout, start, rng=rng, max_sweeps=3).n_sweeps == 3


@pytest.mark.parametrize("seed", range(3))
def test_mergers_recover_clusters_of_the_model(seed):
    """From thrice as many clusters at random down to one; the evidence is largest at the true number or beside it."""
    cluster, given_groupings = crowd(seed, n_each=20)
    layout, rng = GroupingLayout.of(Memberships.of(given_groupings)), np.random.default_rng(seed)
    found = {}
    for state in mixture.merge_down(layout, mixture.init(layout, rng.integers(12, size=len(cluster)), 12), rng=rng):
        assert np.unique(state.cluster).tolist() == list(range(state.n_clusters))
        assert state.n_clusters not in found
        found[state.n_clusters] = state
    assert list(found) == sorted(found, reverse=True)
    assert min(found) == 1
    assert nmi(cluster, found[4].cluster) > 0.95
    evidence = {k: mixture.log_evidence(layout, state) for k, state in found.items()}
    assert abs(max(evidence, key=evidence.get) - 4) <= 1
    assert evidence[4] > evidence[1] + 100


TINY = Groupings.from_lists(
    [[[0, 1], [2, 3]], [[0, 1, 2], [3]], [[0], [1, 3]], [[1, 2, 0], [3]]], annotators=list("aabb"), items=range(4)
)


def tiny():
    layout = GroupingLayout.of(Memberships.of(TINY))
    return layout, GroupingMixtureState(np.array([0, 1, 1, 0]), 2, np.array([0.4, 1.2]))


def assignments(layout, state):
    """Every z, and p(z | x)."""
    every = np.array(list(itertools.product(range(state.n_clusters), repeat=len(state.cluster))))
    log_p = np.array([mixture.log_evidence(layout, replace(state, cluster=z)) for z in every])
    return every, np.exp(log_p - logsumexp(log_p))


def test_probabilities_of_an_item_given_the_others_by_enumeration():
    layout, state = tiny()
    every, posterior = assignments(layout, state)
    expected = np.zeros((4, 2))
    for n in range(4):
        others = np.delete(np.arange(4), n)
        alike = (every[:, others] == state.cluster[others]).all(1)
        np.add.at(expected[n], every[alike, n], posterior[alike])
    _, found = mixture.sample(layout, state, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), atol=1e-12)


def test_sampling_has_the_stationary_distribution_close_to_the_posterior():
    """Items drawn side by side given the old others are no Gibbs sampler: what 4000 sweeps visit is held to the
    stationary distribution of all transitions, and that to the posterior, from which it is 0.03 away in all.
    """
    layout, state = tiny()
    every, posterior = assignments(layout, state)
    transition = np.zeros((len(every), len(every)))
    for row, z in enumerate(every):
        scores = mixture.cluster_scores(layout, replace(state, cluster=z))
        p = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        stay = np.eye(2)[z]
        each = 0.5 * stay + 0.5 * p  # an item stays, or is drawn
        transition[row] = np.prod(each[np.arange(4), every], axis=1)
    np.testing.assert_allclose(transition.sum(1), 1)
    stationary = np.linalg.matrix_power(transition, 1000)[0]
    rng, visits = np.random.default_rng(0), np.zeros(len(every))
    for _ in range(4000):
        state, _ = mixture.sample(layout, state, rng=rng)
        visits[int("".join(map(str, state.cluster)), 2)] += 1
    # names of clusters change places rarely: the frequencies of partitions. Sweeps hang together over a handful of
    # steps: standard errors of at most √(.25 · 10 / 4000) = 0.025
    visits, both = visits / visits.sum(), np.arange(8)
    np.testing.assert_allclose((visits + visits[::-1])[both], (stationary + stationary[::-1])[both], atol=0.05)
    assert 0.5 * np.abs(stationary - posterior).sum() < 0.05


def test_probabilities_are_the_mean_after_the_first_sweeps():
    layout, state = tiny()
    found = mixture.probabilities(layout, state, rng=np.random.default_rng(3))
    rng, each = np.random.default_rng(3), []
    for _ in range(mixture.BURN_IN + mixture.SAMPLES):
        state, probability = mixture.sample(layout, state, rng=rng)
        each.append(probability)
    np.testing.assert_allclose(found, np.mean(each[mixture.BURN_IN :], axis=0))
    np.testing.assert_allclose(found.sum(1), 1)


def test_half_the_items_are_drawn_at_a_time():
    """An item between two equally probable clusters moves in a quarter of all sweeps."""
    lists = [[[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]] * 5 + [[[0, 6], [3]], [[3, 6], [0]]]
    layout = GroupingLayout.of(Memberships.of(Groupings.from_lists(lists, annotators=["a"] * 12, items=range(7))))
    start = GroupingMixtureState(np.array([0, 0, 0, 1, 1, 1, 0]), 2, np.array([0.1]))
    rng = np.random.default_rng(0)
    drawn = [mixture.sample(layout, start, rng=rng) for _ in range(1000)]
    assert drawn[0][1][6].tolist() == pytest.approx([0.5, 0.5])
    moved = np.mean([state.cluster[6] for state, _ in drawn])
    assert moved == pytest.approx(0.25, abs=0.05)  # three standard errors are 0.041
    assert start.cluster.tolist() == [0, 0, 0, 1, 1, 1, 0]
