"""The informative set: the tests of annotators, the benefit of the doubt, and the search."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from scipy.stats import chi2, kstest

from consilience import Labels
from consilience.annotations import concat
from consilience.consensus.labels.informative_set import (
    Dependence,
    Refining,
    Start,
    benefit_of_doubt,
    choose_annotators,
    criterion,
    dependence,
    score_statistic,
    shares_of_votes,
)
from consilience.consensus.labels.stagewise_evidence import StagewiseEvidence
from consilience.simulation import simulate_labels, sparse_crowd


def explicit_statistic(q, said, n_labels):
    """(n - 1) tr(cov(q)⁺ cov(q, x) cov(x)⁺ cov(x, q)) of one annotator, with NumPy's pseudo-inverses."""
    x = np.eye(n_labels)[said]
    q, x = q - q.mean(0), x - x.mean(0)
    inverse_q, inverse_x = np.linalg.pinv(q.T @ q, rcond=1e-9), np.linalg.pinv(x.T @ x, rcond=1e-9)
    return (len(q) - 1) * np.trace(inverse_q @ (q.T @ x) @ inverse_x @ (x.T @ q))


def statistic_of(q, annotator, label, shape):
    """T and degrees of freedom of labels with these posteriors."""
    counts = np.zeros(shape, dtype=int)
    np.add.at(counts, (annotator, label), 1)
    return score_statistic(Dependence.of(q.T, annotator, label, shape), counts)


def statistic_of_members(labels, members, log_weights, log_table):
    """T of all annotators, given a mixture of the labels of some."""
    refining = refining_of(labels, len(log_weights))
    given = refining.given(log_weights, log_table, members)
    return score_statistic(refining.parts.total(dependence, given), refining.counts)[0]


def refining_of(labels, n_components, level=0.01):
    evidence = StagewiseEvidence.in_memory(labels, n_components, 0.001)
    return Refining(evidence.parts, evidence.study.counts, level)


def given_posteriors(part, q):
    return q


def votes(labels):
    """A start from the votes of everyone."""
    return Start("votes", tuple(range(labels.n_annotators)), (shares_of_votes, (np.zeros(labels.n_annotators, bool),)))


class TestScoreStatistic:
    def test_equals_the_formula(self):
        rng = np.random.default_rng(0)
        annotator = np.repeat([0, 1, 2], [40, 25, 60])
        label = rng.integers(3, size=125)
        label[annotator == 1] %= 2  # uses two of three labels
        q = rng.dirichlet(np.ones(4), 125)
        statistic, degrees = statistic_of(q, annotator, label, (3, 3))
        for j in range(3):
            mine = annotator == j
            np.testing.assert_allclose(statistic[j], explicit_statistic(q[mine], label[mine], 3), rtol=1e-8)
        np.testing.assert_array_equal(degrees, [6, 3, 6])

    def test_equals_pearsons_for_certain_classes(self):
        """With 0/1 posteriors the statistic is n - 1 over n of Pearson's chi-square."""
        rng = np.random.default_rng(1)
        said, true = rng.integers(3, size=90), rng.integers(2, size=90)
        table = np.zeros((2, 3))
        np.add.at(table, (true, said), 1)
        expected = np.outer(table.sum(1), table.sum(0)) / 90
        pearson = ((table - expected) ** 2 / expected).sum()
        statistic, degrees = statistic_of(np.eye(2)[true], np.zeros(90, int), said, (1, 3))
        np.testing.assert_allclose(statistic, pearson * 89 / 90)
        assert degrees == 2

    def test_its_mean_over_permutations_is_its_degrees_of_freedom(self):
        """All orders of six labels, so that the equality is exact."""
        from itertools import permutations

        q = np.random.default_rng(2).dirichlet(np.ones(3), 6)
        orders = np.array(list(permutations([0, 0, 1, 1, 1, 2])))
        annotator = np.repeat(np.arange(len(orders)), 6)
        statistic, degrees = statistic_of(np.tile(q, (len(orders), 1)), annotator, orders.ravel(), (len(orders), 3))
        assert (degrees == 4).all()
        np.testing.assert_allclose(statistic.mean(), 4)

    def test_p_values_are_uniform_for_uncertain_posteriors(self):
        """2000 annotators who label at random, judged by posteriors that are far from 0 and 1."""
        rng = np.random.default_rng(3)
        q = softmax(rng.normal(size=(200, 3)) * 0.5, axis=1)
        annotator = np.repeat(np.arange(2000), 200)
        statistic, degrees = statistic_of(np.tile(q, (2000, 1)), annotator, rng.integers(3, size=400_000), (2000, 3))
        assert kstest(chi2.sf(statistic, degrees), "uniform").pvalue > 0.01

    def test_no_evidence(self):
        """No label, one label, always the same label, equal posteriors."""
        q = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0.3, 0.7]])
        statistic, degrees = statistic_of(q, np.array([1, 2, 2, 3, 3]), np.array([0, 1, 1, 0, 1]), (4, 2))
        np.testing.assert_array_equal(statistic, 0)
        np.testing.assert_array_equal(degrees, 0)


def test_members_are_judged_without_their_own_labels():
    """The posteriors of a member's test are those of a mixture in which the member has no factor."""
    rng = np.random.default_rng(4)
    labels = Labels.from_matrix(rng.integers(3, size=(80, 4)))
    weights, table = np.log(rng.dirichlet(np.ones(2))), np.log(rng.dirichlet(np.ones(3), (2, 2))).transpose(0, 2, 1)
    said = labels.to_matrix().to_numpy(int)
    members = (1, 3)
    factor = np.stack([table[place][said[:, j]] for place, j in enumerate(members)])
    scores = weights + factor.sum(0)
    statistic = statistic_of_members(labels, members, weights, table.reshape(-1, 2))
    for j in range(4):
        seen = scores - factor[members.index(j)] if j in members else scores
        np.testing.assert_allclose(statistic[j], explicit_statistic(softmax(seen, axis=1), said[:, j], 3), rtol=1e-6)


class TestBenefitOfDoubt:
    def test_share_of_the_crowd_is_the_most_likely_one(self):
        statistic, degrees = np.array([30.0, 25, 3, 2, 6, 1]), np.full(6, 2)
        n_labels = np.array([50, 60, 40, 80, 10, 10])
        factor = np.exp((statistic - degrees * np.log(n_labels)) / 2)
        share = minimize_scalar(lambda r: -np.log(1 - r + r * factor).sum(), bounds=(0, 1), method="bounded").x
        expected = share * factor / (1 - share + share * factor)
        np.testing.assert_allclose(benefit_of_doubt(statistic, degrees, n_labels), expected, atol=1e-4)

    def test_annotators_with_few_labels_are_judged_by_the_crowd(self):
        """Twenty labels without evidence: inside a crowd of experts, outside a crowd of few."""
        many = np.append(np.full(30, 60.0), 2.0)
        few = np.append(np.append(np.full(3, 60.0), np.full(27, 1.0)), 2.0)
        n_labels = np.append(np.full(30, 500), 20)
        assert benefit_of_doubt(many, np.ones(31, int), n_labels)[-1] > 0.5
        assert benefit_of_doubt(few, np.ones(31, int), n_labels)[-1] < 0.5

    def test_annotators_without_labels_are_not_members(self):
        assert benefit_of_doubt(np.zeros(3), np.zeros(3, int), np.zeros(3, int)).tolist() == [0, 0, 0]

    def test_at_least_three_members(self):
        p_values = np.array([0.5, 1e-9, 0.2, 0.9])
        assert choose_annotators(p_values, np.zeros(4), np.arange(4), 0.01) == (0, 1, 2)
        assert choose_annotators(np.full(2, 0.9), np.zeros(2), np.arange(2), 0.01) == (0, 1)

    @pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]])
    def test_of_equal_annotators_all_or_none_are_members(self, order):
        """By number three of them were, so that the set followed the order of annotators."""
        n_labels = np.array([2, 1, 2, 3, 0])
        chosen = choose_annotators(np.ones(5), np.zeros(5), n_labels[order], 0.01)
        assert sorted(n_labels[order][list(chosen)]) == [2, 2, 3]
        assert len(choose_annotators(np.ones(5), np.zeros(5), np.minimum(n_labels, 2)[order], 0.01)) == 3
        assert len(choose_annotators(np.ones(5), np.zeros(5), np.ones(5), 0.01)) == 5


class TestRefine:
    settings: ClassVar = {"level": 0.01, "max_iter": 500, "tol": 1e-7}

    def crowd(self, seed):
        matrices = sparse_crowd(50, 3, alpha=0.16, accuracy=0.65, random_state=seed)
        classes = np.arange(900) % 3
        return simulate_labels(classes, confusion=matrices, random_state=seed), classes

    def test_finds_the_experts_from_half_of_them(self):
        for seed in range(5):
            labels, classes = self.crowd(seed)
            q = np.eye(3)[classes] * 0.5 + 1 / 6  # half of what is known, spread
            trace = refining_of(labels, 3).refine(Start("half", (0, 1, 2, 3), (given_posteriors, (q,))))
            assert trace.converged
            assert trace.state.members == tuple(range(8))

    def test_criterion_is_schwarzs(self):
        labels, _ = self.crowd(0)
        refining = refining_of(labels, 3)
        state = refining.refine(votes(labels)).state
        said = labels.to_matrix().to_numpy(int)
        inside = np.array(state.members)
        table = np.exp(state.mixture.state.log_table).reshape(len(inside), 3, 3)
        weights = np.exp(state.mixture.state.log_weights)
        product = np.prod([table[place][said[:, j]] for place, j in enumerate(inside)], axis=0)
        expected = np.log(product @ weights).sum()
        for j in set(range(50)) - set(inside):
            counts = np.bincount(said[:, j])
            counts = counts[counts > 0]
            expected += (counts * np.log(counts / 900)).sum()
        log_likelihood, penalised = criterion(refining.counts, state)
        np.testing.assert_allclose(log_likelihood, expected, rtol=1e-10)
        np.testing.assert_allclose(penalised, expected - len(inside) * 4 * np.log(900) / 2, rtol=1e-10)


def test_a_crowd_without_experts_keeps_few():
    labels = Labels.from_matrix(np.random.default_rng(0).integers(3, size=(200, 12)))
    state = refining_of(labels, 3).refine(votes(labels)).state
    assert len(state.members) <= 6  # EM finds some dependence in anything, but not in all


def test_members_are_judged_without_any_of_their_labels_of_the_item():
    """A member gives items two labels: the posteriors of either label's test hold neither."""
    rng = np.random.default_rng(6)
    once = Labels.from_matrix(rng.integers(3, size=(60, 3)))
    again = Labels.from_frame(
        pd.DataFrame({"item": np.arange(20), "annotator": 1, "label": (once.label[1:60:3] + 1) % 3}), items=range(60)
    )
    labels = concat([once, again])
    assert labels.n_rows == 200
    table = np.log(rng.dirichlet(np.ones(3), (2, 2))).transpose(0, 2, 1)
    members = (0, 1)
    weights = np.log(rng.dirichlet(np.ones(2)))
    scores = np.tile(weights, (60, 1))
    own = np.zeros((3, 60, 2))
    for item, annotator, label in zip(labels.item, labels.annotator, labels.label):
        if annotator in members:
            scores[item] += table[annotator, label]
            own[annotator, item] += table[annotator, label]
    statistic = statistic_of_members(labels, members, weights, table.reshape(-1, 2))
    for j in range(3):
        rows = labels.annotator == j
        q = softmax((scores - own[j])[labels.item[rows]], axis=1)
        np.testing.assert_allclose(statistic[j], explicit_statistic(q, labels.label[rows], 3), rtol=1e-6)
