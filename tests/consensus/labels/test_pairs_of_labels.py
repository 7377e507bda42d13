"""Proportions of classes from pairs of labels: the table by counting, the estimate by a general optimiser."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from consilience import Labels
from consilience.consensus.labels.pairs_of_labels import ACCURACY, EVEN, PairSums, pair_counts, proportions_of_pairs
from consilience.simulation import simulate_labels


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_pairs_are_counted_item_by_item(seed, n_classes):
    rng = np.random.default_rng(seed)
    said = np.where(rng.random((6, 5)) < 0.5, rng.integers(n_classes, size=(6, 5)), -1)
    said[0, 0] = 0
    expected = np.zeros((n_classes, n_classes))
    for row in said:
        spoken = row[row >= 0]
        for one, other in itertools.permutations(spoken, 2):
            expected[one, other] += 0.5 / (len(spoken) - 1)
    found = pair_counts(Labels.from_matrix(said, missing=-1, classes=range(n_classes)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_labels_of_an_item_by_one_annotator_are_no_pair():
    """Item 0: p and q by u, p by v; item 1: p and r by u."""
    rows = [(0, "u", "p"), (0, "u", "q"), (0, "v", "p"), (1, "u", "p"), (1, "u", "r")]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]), classes=["p", "q", "r"])
    expected = np.array([[2, 1, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(pair_counts(labels), 1.5 * expected / expected.sum())
    assert PairSums.of(labels).n_several == 1


def log_posterior(logits, accuracy, pairs):
    """Of π and a, given the pairs, up to a constant; each unordered pair is in the table twice."""
    n_classes = len(pairs)
    proportions = np.exp(logits) / np.exp(logits).sum()
    rows = np.full((n_classes, n_classes), (1 - accuracy) / (n_classes - 1))
    np.fill_diagonal(rows, accuracy)
    shared = np.einsum("k,kl,km->lm", proportions, rows, rows)
    prior = (EVEN - 1) * np.log(proportions).sum()
    prior += (ACCURACY[0] - 1) * np.log(accuracy) + (ACCURACY[1] - 1) * np.log1p(-accuracy)
    return (pairs * np.log(shared)).sum() + prior


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_proportions_are_the_most_probable(n_classes):
    rng = np.random.default_rng(n_classes)
    true = rng.choice(n_classes, 200, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    pairs = pair_counts(simulate_labels(true, n_annotators=9, accuracy=0.75, annotators_per_item=3, random_state=0))
    proportions, accuracy = proportions_of_pairs(pairs)

    def objective(at):
        return -log_posterior(np.append(at[1:], 0.0), 1 / (1 + np.exp(-at[0])), pairs)

    best = minimize(objective, np.append(1.0, np.zeros(n_classes - 1)), method="BFGS")
    found = -log_posterior(np.log(proportions), accuracy, pairs)
    assert found == pytest.approx(best.fun, abs=1e-4)
    assert proportions.sum() == pytest.approx(1)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_rare_class_is_found_rare(share):
    rng = np.random.default_rng(1)
    true = (rng.random(2000) > share).astype(int)
    pairs = pair_counts(simulate_labels(true, n_annotators=30, accuracy=0.7, annotators_per_item=2, random_state=1))
    proportions, accuracy = proportions_of_pairs(pairs)
    assert proportions[0] == pytest.approx(np.mean(true == 0), abs=0.07)
    assert accuracy == pytest.approx(0.7, abs=0.05)


def test_without_pairs_proportions_are_equal():
    proportions, _ = proportions_of_pairs(np.zeros((4, 4)))
    np.testing.assert_array_equal(proportions, 0.25)
    alone, _ = proportions_of_pairs(np.full((1, 1), 7.0))
    assert alone.tolist() == [1]
