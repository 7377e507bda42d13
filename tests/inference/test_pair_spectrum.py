"""Spectra of pair evidence: against matrices, planted clusters, and divisions of small clusters one by one."""

import itertools

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.inference.pair_evidence import PairEvidence
from consilience.inference.pair_spectrum import evidence_operator, feature_basis, halves, spectral_clusters
from consilience.metrics.clusterings import nmi
from consilience.simulation.pairs import simulate_pairs


def said_by_three(seed=0, n_items=12):
    """Groups at random, with a third missing."""
    rng = np.random.default_rng(seed)
    said = rng.integers(3, size=(n_items, 3)).astype(object)
    said[rng.random(said.shape) < 0.3] = None
    said[:2] = 0
    return Groupings.from_matrix(said)


def matrix_of(groupings, same, apart):
    """The evidence as a matrix: the sum of the weights of the judgements of each pair."""
    pairs = groupings.to_pairs()
    matrix = np.zeros((groupings.n_items, groupings.n_items))
    weight = np.where(pairs.same, same[pairs.annotator], apart[pairs.annotator])
    np.add.at(matrix, (pairs.item_a, pairs.item_b), weight)
    return matrix + matrix.T


def centred(matrix):
    centre = np.eye(len(matrix)) - 1 / len(matrix)
    return centre @ matrix @ centre


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("of_features", [0.0, 5.0, np.inf])
def test_operator_is_the_matrix_of_its_formula(explicit, of_features):
    rng = np.random.default_rng(0)
    groupings = said_by_three()
    evidence = PairEvidence.of(groupings.to_pairs() if explicit else groupings)
    same, apart = rng.normal(size=(2, 3))
    basis = feature_basis(rng.normal(size=(12, 2)))
    operator = evidence_operator(evidence, basis, same=same, apart=apart, of_features=of_features)
    evidence_matrix, linear = matrix_of(groupings, same, apart), basis @ basis.T
    if np.isinf(of_features):
        expected = centred(linear @ evidence_matrix @ linear)
    else:
        expected = centred(evidence_matrix + of_features * linear)
    np.testing.assert_allclose(operator @ np.eye(12), expected, atol=1e-10)
    vector = rng.normal(size=12)
    np.testing.assert_allclose(operator @ vector, expected @ vector, atol=1e-10)


def test_basis_spans_the_centred_features():
    features = np.random.default_rng(0).normal(size=(20, 3))
    features = np.column_stack([features, features[:, 0] + features[:, 1], np.full(20, 7.0)])
    basis = feature_basis(features)
    assert basis.shape == (20, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    rest = features - features.mean(0)
    np.testing.assert_allclose(basis @ (basis.T @ rest), rest, atol=1e-10)
    assert feature_basis(np.ones((4, 2))).shape == (4, 0)
    assert feature_basis(np.zeros((4, 0))).shape == (4, 0)


@pytest.mark.parametrize("n_clusters", [2, 6])
def test_planted_clusters_are_recovered_from_pairs_alone(n_clusters):
    """Each item in 40 judgements, right in 85 %: many more than log n, at which the spectrum separates the clusters."""
    truth = np.arange(300) % n_clusters
    judged = simulate_pairs(truth, 4, 1500, 0.85, random_state=0)
    weight = np.full(4, np.log(0.85 / 0.15))
    operator = evidence_operator(
        PairEvidence.of(judged), np.zeros((300, 0)), same=weight, apart=-weight, of_features=0.0
    )
    found = spectral_clusters(operator, n_clusters, rng=np.random.default_rng(0))
    assert nmi(truth, found) > 0.98


def test_features_decide_about_items_that_nobody_judged():
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 2
    features = np.column_stack([4 * truth + rng.normal(size=300), 10 * rng.normal(size=300)])
    judged = simulate_pairs(truth[:60], 3, 200, 0.9, random_state=0).reindex(range(300))
    weight = np.full(3, 2.0)
    operator = evidence_operator(
        PairEvidence.of(judged), feature_basis(features), same=weight, apart=-weight, of_features=np.inf
    )
    found = spectral_clusters(operator, 2, rng=rng)
    assert nmi(truth, found) > 0.7  # the larger feature alone has 0


def test_fewer_clusters_where_the_evidence_has_none():
    pairs = Pairs.from_frame(pd.DataFrame({"item_a": [0], "item_b": [1], "annotator": "x", "same": True}))
    nothing = evidence_operator(
        PairEvidence.of(pairs), np.zeros((2, 0)), same=np.zeros(1), apart=np.zeros(1), of_features=0.0
    )
    assert spectral_clusters(nothing, 2, rng=np.random.default_rng(0)).tolist() == [0, 0]


def across(matrix, items, second):
    """−Σ w_ij over the pairs of a division."""
    return -matrix[np.ix_(items[~second], items[second])].sum()


@pytest.mark.parametrize("explicit", [False, True])
def test_gains_are_those_of_the_pairs_between_the_parts(explicit):
    """In two views with weights of their own, on clusters of which some are empty or hold one item."""
    groupings = said_by_three(1)
    evidence = PairEvidence.of(groupings.to_pairs() if explicit else groupings)
    same, apart = np.random.default_rng(2).normal(size=(2, 3, 2))
    clusters = np.column_stack([np.repeat([0, 1, 3], [6, 5, 1]), np.zeros(12, int)])
    second, gain = halves(evidence, clusters, 4, same=same, apart=apart)
    for view, cluster in itertools.product(range(2), range(4)):
        items = np.flatnonzero(clusters[:, view] == cluster)
        own = second[items, view]
        assert 2 * own.sum() <= len(items)
        matrix = matrix_of(groupings, same[:, view], apart[:, view])
        np.testing.assert_allclose(gain[cluster, view], across(matrix, items, own), atol=1e-10)
        if len(items) > 1:
            leading = np.linalg.eigh(matrix[np.ix_(items, items)])[1][:, -1] > 0
            np.testing.assert_array_equal(own == own[0], leading == leading[0])


@pytest.mark.parametrize("explicit", [False, True])
def test_two_groups_in_one_cluster_are_the_halves(explicit):
    """The best of all divisions of ten items, by enumeration; a cluster that the evidence supports is not worth one."""
    truth = np.array([0] * 6 + [1] * 4 + [2] * 5)
    groupings = Groupings.from_matrix(np.column_stack([truth, truth]))
    evidence = PairEvidence.of(groupings.to_pairs() if explicit else groupings)
    clusters = np.minimum(truth, 1)[:, None] * 0 + (truth == 2)[:, None]
    same, apart = np.full((2, 1), 1.5), np.full((2, 1), -1.0)
    second, gain = halves(evidence, clusters, 3, same=same, apart=apart)
    np.testing.assert_array_equal(np.flatnonzero(second[:10, 0]), np.arange(6, 10))
    matrix = matrix_of(groupings, same[:, 0], apart[:, 0])
    best = max(
        across(matrix, np.arange(10), np.array((0, *division), bool))
        for division in itertools.product([0, 1], repeat=9)
    )
    np.testing.assert_allclose(gain[:, 0], [best, 0.0, 0.0], atol=1e-10)
    assert best == pytest.approx(24 * 2)
