"""Credible intervals of accuracy: exact cases, order, and coverage on simulated crowds."""

import numpy as np
import pytest
from scipy.stats import beta

from benchmarks.accuracy_intervals import coverage, kinds
from consilience import Labels
from consilience.consensus import DawidSkene
from consilience.consensus.labels.accuracy_interval import accuracy_interval, doubted_labels
from consilience.consensus.labels.annotator_models import Hierarchical, OneCoin
from consilience.simulation import simulate_labels

TRUE = np.random.default_rng(0).integers(3, size=300)
COLUMNS = ["accuracy_low", "accuracy", "accuracy_high"]


def certain(labels, true):
    return np.eye(labels.n_classes)[true]


def counts_of(labels, q):
    counts = np.zeros((labels.n_annotators, labels.n_classes, labels.n_classes))
    np.add.at(counts, (labels.annotator, labels.label), q[labels.item])
    return counts


def test_one_coin_with_known_classes_is_a_beta_distribution():
    labels = simulate_labels(TRUE, n_annotators=6, accuracy=0.7, random_state=0)
    q = certain(labels, TRUE)
    model = OneCoin.of(counts_of(labels, q), None)
    low, high = accuracy_interval(model, q.mean(0), doubted_labels(labels, q, None, labels.n_annotators))
    np.testing.assert_allclose(low, beta.ppf(0.05, *model.accuracy.T), rtol=1e-6)
    np.testing.assert_allclose(high, beta.ppf(0.95, *model.accuracy.T), rtol=1e-6)


def test_full_matrices_with_known_classes_against_draws():
    """Draws of a_j, then of the rows given a_j; the interval is of the Beta distribution with their moments."""
    labels = simulate_labels(TRUE[:60], n_annotators=8, accuracy=np.linspace(0.4, 0.95, 8), random_state=1)
    q = certain(labels, TRUE[:60])
    model = Hierarchical.of(counts_of(labels, q))
    rng, share = np.random.default_rng(0), q.mean(0)
    low, high = accuracy_interval(model, q.mean(0), doubted_labels(labels, q, None, labels.n_annotators))
    for annotator in range(8):
        a = rng.beta(*model.accuracy[annotator], size=(20_000, 1))
        right = model.concentration * a + np.diag(model.counts[annotator])
        rest = model.concentration + model.counts[annotator].sum(0) - right
        drawn = rng.beta(right, rest) @ share
        np.testing.assert_allclose([low[annotator], high[annotator]], np.quantile(drawn, [0.05, 0.95]), atol=0.012)


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_columns_of_the_estimator(confusion):
    labels = simulate_labels(TRUE, n_annotators=15, accuracy=0.7, annotators_per_item=4, random_state=2)
    model = DawidSkene(confusion, calibrate=False)  # what more labels do not narrow is added by the calibration
    table = model.fit(labels).annotators_
    assert list(table.columns) == ["n_labels", "agreement", *COLUMNS[1:2], *COLUMNS[::2], "information"]
    low, mean, high = table[COLUMNS].to_numpy().T
    assert ((low >= 0) & (low < mean) & (mean < high) & (high <= 1)).all()
    # five times the labels, less than two thirds of the width
    more = simulate_labels(np.tile(TRUE, 5), n_annotators=15, accuracy=0.7, annotators_per_item=4, random_state=2)
    wide = model.fit(more).annotators_
    assert (wide["accuracy_high"] - wide["accuracy_low"]).mean() < 2 / 3 * (high - low).mean()


def test_doubt_about_the_classes_widens():
    labels = simulate_labels(TRUE, n_annotators=8, accuracy=0.7, annotators_per_item=4, random_state=3)
    doubted = DawidSkene(tol=1e-4).fit(labels).annotators_
    known = DawidSkene(tol=1e-4).fit(labels, gold=dict(enumerate(TRUE))).annotators_
    widths = [(table["accuracy_high"] - table["accuracy_low"]).mean() for table in (known, doubted)]
    assert widths[0] < widths[1]


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_maximum_likelihood_has_none(confusion):
    labels = simulate_labels(TRUE[:50], n_annotators=4, accuracy=0.7, random_state=4)
    table = DawidSkene(confusion, prior=None, tol=1e-4).fit(labels).annotators_
    assert table[["accuracy_low", "accuracy_high"]].isna().all(axis=None)


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_a_single_class_and_a_history_without_new_labels(confusion):
    alone = DawidSkene(confusion).fit([["a", "a"], ["a", None]]).annotators_
    np.testing.assert_allclose(alone[COLUMNS], 1)
    labels = simulate_labels(TRUE, n_annotators=6, accuracy=0.7, random_state=5)
    history = DawidSkene(confusion).fit(labels).confusion_counts_
    few = Labels.from_matrix([[0, 0], [1, 1], [2, 2]], annotators=["Ann", "annotator 1"])
    table = DawidSkene(confusion).fit(few, history=history).annotators_
    width = table["accuracy_high"] - table["accuracy_low"]
    assert (width[[f"annotator {number}" for number in range(1, 7)]] < width["Ann"]).all()


@pytest.mark.slow
def test_coverage_of_one_kind_of_crowd():
    """The slow test below has many kinds."""
    kind = kinds(5)[0]
    assert 0.75 < np.mean([coverage(kind, draw) for draw in range(1, 9, 2)]) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("each", [2, 3, 5, 10])
def test_coverage_on_simulated_crowds(each):
    """The claim of the documentation: 85 to 95 % on average over kinds of crowds, and at least 65 % for each kind."""
    found = [np.mean([coverage(kind, draw) for draw in range(1, 21, 2)]) for kind in kinds(each)]
    assert 0.85 < np.mean(found) < 0.95
    assert min(found) > 0.65
