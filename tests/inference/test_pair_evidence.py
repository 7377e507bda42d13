"""Judgements of pairs, listed and implied, against loops over pairs and against each other."""

import itertools
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings, Labels, Pairs
from consilience.inference import pair_evidence as module
from consilience.inference.pair_evidence import GroupedItems, JudgedPairs, PairEvidence
from tests.subset_groupings import arguments, lists_of, made


def judgements(given_groupings):
    """(item, item, annotator, same) of every pair of every grouping."""
    by = given_groupings.annotator_of_grouping
    return [
        (i, j, by[h], g == f)
        for h, grouping in enumerate(lists_of(given_groupings))
        for (i, g), (j, f) in itertools.combinations([(i, g) for g, group in enumerate(grouping) for i in group], 2)
    ]


def explicit_messages(said, eta, same, apart):
    total = np.zeros_like(eta)
    for i, j, m, together in said:
        weight = (same if together else apart)[m]
        total[i] += weight * eta[j]
        total[j] += weight * eta[i]
    return total


def explicit_agreement(said, eta, n_annotators):
    judged, same = (np.zeros((n_annotators, eta.shape[2])) for _ in range(2))
    for i, j, m, together in said:
        alike = (eta[i] * eta[j]).sum(0)
        judged[m] += alike
        same[m] += together * alike
    return judged, same


def drawn(evidence, seed, n_clusters, n_columns):
    """η whose rows need not sum to 1, and weights of either sign."""
    rng = np.random.default_rng(seed)
    eta = rng.normal(size=(evidence.n_items, n_clusters, n_columns))
    return eta, *rng.normal(size=(2, evidence.n_annotators, n_columns))


def assert_equals_loops(evidence, said, eta, same, apart):
    np.testing.assert_allclose(
        evidence.messages(eta, same=same, apart=apart), explicit_messages(said, eta, same, apart), atol=1e-10
    )
    expected = explicit_agreement(said, eta, evidence.n_annotators)
    np.testing.assert_allclose(evidence.agreement(eta), expected, atol=1e-10)
    counts = np.zeros((2, evidence.n_annotators))
    for _, _, m, together in said:
        counts[:, m] += [1, together]
    np.testing.assert_array_equal(evidence.n_pairs, counts[0])
    np.testing.assert_array_equal(evidence.n_same, counts[1])


@settings(max_examples=60)
@given(
    arguments(max_items=9, max_groupings=7),
    st.integers(0, 10_000),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([1, 7, 1 << 18]),
)
def test_listed_and_implied_evidence_equal_the_loops(drawn_groupings, seed, n_clusters, n_columns, chunk):
    """Missing items, empty groups, groupings that one annotator repeats and that contradict each other."""
    groupings = made(drawn_groupings)
    implied, listed = PairEvidence.of(groupings), PairEvidence.of(groupings.to_pairs())
    assert isinstance(implied, GroupedItems)
    assert isinstance(listed, JudgedPairs)
    eta, same, apart = drawn(implied, seed, n_clusters, n_columns)
    said = judgements(groupings)
    with patch.object(module, "CHUNK_ENTRIES", chunk):
        assert_equals_loops(implied, said, eta, same, apart)
        assert_equals_loops(listed, said, eta, same, apart)
        here, there = (evidence.messages(eta, same=same, apart=apart) for evidence in (implied, listed))
        np.testing.assert_allclose(here, there, atol=1e-10)
        np.testing.assert_allclose(implied.agreement(eta), listed.agreement(eta), atol=1e-10)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("xy"), st.booleans()), max_size=25),
    st.integers(0, 10_000),
    st.booleans(),
)
def test_repeated_and_contradictory_judgements(rows, seed, occasions):
    """An annotator may say "same" once and "apart" another time, on one occasion or several; each judgement counts."""
    frame = pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]).query("item_a != item_b")
    if occasions:
        frame["grouping"] = np.arange(len(frame))
    pairs = Pairs.from_frame(frame, items=range(7))  # item 6 is not judged
    evidence = PairEvidence.of(pairs)
    eta, same, apart = drawn(evidence, seed, 3, 2)
    places = pairs.annotators.get_indexer(frame["annotator"])
    said = list(zip(frame["item_a"], frame["item_b"], places, frame["same"]))
    assert_equals_loops(evidence, said, eta, same, apart)


def test_second_labels_of_an_annotator_form_a_second_grouping():
    table = pd.DataFrame({"item": [*"abcab"], "annotator": "x", "label": [*"ppqqr"]})
    labels = Labels.from_frame(table)
    evidence, groupings = PairEvidence.of(labels), labels.to_groupings()
    eta, same, apart = drawn(evidence, 0, 2, 2)
    assert len(judgements(groupings)) == 3 + 1  # of a, b and c; of a and b again
    assert_equals_loops(evidence, judgements(groupings), eta, same, apart)


def test_labels_are_one_grouping_per_annotator():
    table = pd.DataFrame({"item": [*"abcabd"], "annotator": [*"xxxyyy"], "label": [*"ppqqpp"]})
    evidence = PairEvidence.of(Labels.from_frame(table, items=[*"abcde"]))
    eta, same, apart = drawn(evidence, 0, 2, 2)
    x = [(0, 1, 0, True), (0, 2, 0, False), (1, 2, 0, False)]
    y = [(0, 1, 1, False), (0, 3, 1, False), (1, 3, 1, True)]
    assert_equals_loops(evidence, x + y, eta, same, apart)
    assert evidence.n_items == 5


@pytest.mark.parametrize("kind", ["pairs", "groupings"])
def test_no_judgements_give_no_evidence(kind):
    nothing = Groupings.from_lists([[["a"]], [[]]], items=["a", "b"], annotators=["x", "y"])
    evidence = PairEvidence.of(nothing if kind == "groupings" else nothing.to_pairs())
    eta = np.ones((2, 3, 1))
    np.testing.assert_array_equal(evidence.messages(eta, same=np.ones((2, 1)), apart=np.ones((2, 1))), 0)
    np.testing.assert_array_equal(evidence.agreement(eta), np.zeros((2, 2, 1)))
    np.testing.assert_array_equal([evidence.n_pairs, evidence.n_same], 0)


@pytest.mark.parametrize("kind", ["pairs", "groupings"])
def test_messages_are_the_gradient_of_the_agreement(kind):
    """½ Σ_i η_i·h_i = Σ_m w₁ Σ_E a S + w₀ Σ_E a (1 − S): what lets a sweep find how far it may go."""
    rng = np.random.default_rng(0)
    said = rng.integers(3, size=(20, 4)).astype(object)
    said[rng.random(said.shape) < 0.3] = None
    groupings = Groupings.from_matrix(said)
    evidence = PairEvidence.of(groupings if kind == "groupings" else groupings.to_pairs())
    eta, same, apart = drawn(evidence, 1, 3, 2)
    judged, together = evidence.agreement(eta)
    energy = (same * together + apart * (judged - together)).sum(0)
    messages = evidence.messages(eta, same=same, apart=apart)
    np.testing.assert_allclose((eta * messages).sum((0, 1)) / 2, energy)


def test_a_large_grouping_costs_no_more_than_its_items():
    """Five billion pairs, too many to list."""
    evidence = PairEvidence.of(Groupings.from_matrix(np.arange(100_000)[:, None] % 2))
    assert evidence.n_pairs.tolist() == [100_000 * 99_999 / 2]
    assert evidence.n_same.tolist() == [2 * (50_000 * 49_999 / 2)]
    eta = np.zeros((100_000, 2, 1))
    eta[::2, 0], eta[1::2, 1] = 1, 1
    np.testing.assert_array_equal(evidence.agreement(eta), np.full((2, 1, 1), evidence.n_same[0]))
    messages = evidence.messages(eta, same=np.array([[2.0]]), apart=np.array([[-1.0]]))
    np.testing.assert_array_equal(messages[0, :, 0], [2 * 49_999, -50_000])


def test_pairs_of_a_grouping_can_count_as_independent_judgements():
    groupings = Groupings.from_lists(
        [[["a", "b"], ["c", "d"], ["e"]], [["a", "c"], ["e"]]], annotators=["Ann", "Bob"], items=list("abcde")
    )
    every, fewer = PairEvidence.of(groupings), PairEvidence.of(groupings, implied="independent")
    np.testing.assert_allclose(every.n_pairs, [10, 3])
    np.testing.assert_allclose(fewer.n_pairs, [4, 2])
    np.testing.assert_allclose(fewer.n_same, [2 * 2 / 5, 2 / 3])
    rng = np.random.default_rng(0)
    eta, same, apart = rng.random((5, 3, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    share = np.array([[2 / 5], [2 / 3]])
    np.testing.assert_allclose(
        fewer.messages(eta, same=same, apart=apart),
        every.messages(eta, same=same * share, apart=apart * share),
        atol=1e-12,
    )
    for few, all_ in zip(fewer.agreement(eta), every.agreement(eta), strict=True):
        np.testing.assert_allclose(few, all_ * share, atol=1e-12)
