"""Simulated labels against their parameters, exactly where these are exact."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from consilience.errors import InputError
from consilience.simulation import simulate_labels, sparse_crowd
from consilience.simulation.labels import distinct_choices

CLASSES = np.repeat(["dog", "ant", "cow", "bee"], [10, 20, 30, 40])


def right(labels, classes):
    """Return (annotator, right) of each row."""
    return labels.annotator, labels.classes.to_numpy()[labels.label] == np.asarray(classes)[labels.item]


def test_by_default_every_annotator_labels_every_item():
    labels = simulate_labels(CLASSES, n_annotators=7, random_state=0)
    np.testing.assert_array_equal(labels.item, np.repeat(np.arange(100), 7))
    np.testing.assert_array_equal(labels.annotator, np.tile(np.arange(7), 100))
    assert labels.annotators.tolist() == [f"annotator {m}" for m in range(1, 8)]
    assert labels.items.tolist() == list(range(100))
    assert not labels.named


def test_labels_are_class_names_in_sorted_order():
    labels = simulate_labels(CLASSES, n_annotators=3, accuracy=1.0, random_state=0)
    assert labels.classes.tolist() == ["ant", "bee", "cow", "dog"]
    assert (labels.to_matrix().to_numpy() == CLASSES[:, None]).all()


def test_items_are_named_by_the_index_of_a_series_or_as_given():
    classes = pd.Series([1, 2, 2], index=["x", "y", "z"])
    assert simulate_labels(classes, random_state=0).items.tolist() == ["x", "y", "z"]
    assert simulate_labels(classes, items=[9, 8, 7], random_state=0).items.tolist() == [9, 8, 7]


def test_accuracy_is_the_probability_of_the_right_label_for_each_annotator():
    classes = np.repeat(CLASSES, 50)
    accuracy = [0.0, 0.3, 0.9, 1.0]
    annotator, hit = right(simulate_labels(classes, n_annotators=4, accuracy=accuracy, random_state=1), classes)
    share = np.bincount(annotator, hit) / np.bincount(annotator)
    np.testing.assert_allclose(share, accuracy, atol=0.026)  # 4 standard errors of 5000 labels
    assert (share[0], share[3]) == (0, 1)


def test_all_wrong_labels_are_equally_probable():
    labels = simulate_labels([0] * 9000 + [1, 2, 3], n_annotators=1, accuracy=0.4, random_state=2)
    wrong = labels.label[:9000][labels.label[:9000] > 0]
    assert chisquare(np.bincount(wrong)[1:]).pvalue > 0.001


def test_confusion_gives_the_probability_of_each_label_by_annotator_and_class():
    rng = np.random.default_rng(3)
    confusion = rng.dirichlet([0.5, 0.5, 0.5], size=(4, 3))
    confusion[1, 2], confusion[2, 0] = [0, 1, 0], [0, 0.5, 0.5]
    classes = np.repeat([0, 1, 2], 4000)
    labels = simulate_labels(classes, confusion=confusion, random_state=4)
    cell = (labels.annotator * 3 + classes[labels.item]) * 3 + labels.label
    counts = np.bincount(cell, minlength=36).reshape(4, 3, 3)
    np.testing.assert_allclose(counts / 4000, confusion, atol=0.032)  # 4 standard errors of 4000 labels
    assert (counts[confusion == 0] == 0).all()


def test_errors_of_different_annotators_are_independent_given_the_class():
    confusion = np.full((2, 2, 2), 0.5)
    labels = simulate_labels([0, 1] * 5000, confusion=confusion, random_state=5)
    first, second = labels.label.reshape(-1, 2).T
    assert chisquare(np.bincount(2 * first + second)).pvalue > 0.001


@pytest.mark.parametrize("confusion", [None, np.tile(np.eye(4), (40, 1, 1))])
def test_each_annotator_labels_labels_each_items(confusion):
    labels = simulate_labels(CLASSES, n_annotators=40, confusion=confusion, labels_each=25, random_state=6)
    seen = labels.to_matrix().notna().to_numpy()
    np.testing.assert_array_equal(seen.sum(axis=0), np.full(40, 25))
    assert len(np.unique(seen, axis=1).T) == 40


def test_each_item_is_labelled_by_annotators_per_item():
    labels = simulate_labels(np.tile(CLASSES, 30), n_annotators=50, annotators_per_item=6, random_state=7)
    assert labels.n_annotators == 50
    np.testing.assert_array_equal(np.diff(labels.indptr), np.full(3000, 6))
    # each count is Binomial(3000, .12); the scaled squares add to about 50, with a standard deviation of 10
    work = np.bincount(labels.annotator, minlength=50)
    assert ((work - 360) ** 2).sum() / (3000 * 0.12 * 0.88) == pytest.approx(50, abs=40)


def test_labels_stay_with_their_annotators_when_rows_are_sorted():
    confusion = np.eye(6)[[[m] * 6 for m in range(6)]]  # annotator m says m, whatever the class
    labels = simulate_labels(list(range(6)) * 20, confusion=confusion, annotators_per_item=4, random_state=8)
    np.testing.assert_array_equal(labels.label, labels.annotator)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_all_subsets_are_equally_probable(size):
    chosen = distinct_choices(10_000, 5, size, np.random.default_rng(9))
    subsets = Counter(tuple(sorted(row)) for row in chosen.tolist())
    assert set(subsets) == set(itertools.combinations(range(5), size))
    assert size == 5 or chisquare(list(subsets.values())).pvalue > 0.001


def test_a_single_class_leaves_no_wrong_label():
    labels = simulate_labels(["a", "a"], n_annotators=2, accuracy=0.1, random_state=0)
    np.testing.assert_array_equal(labels.label, np.zeros(4))
    np.testing.assert_array_equal(simulate_labels([5], confusion=[[[1]]], random_state=0).label, [0])


@pytest.mark.slow
def test_nobody_labels_an_item_of_a_large_crowd_twice():
    labels = simulate_labels(np.arange(200_000) % 10, n_annotators=10_000, annotators_per_item=5, random_state=0)
    assert len(np.unique(labels.item * 10_000 + labels.annotator)) == 1_000_000


@pytest.mark.parametrize(
    "settings", [{}, {"labels_each": 30}, {"annotators_per_item": 4}, {"confusion": np.full((5, 4, 4), 0.25)}]
)
def test_an_int_gives_the_same_labels_each_time_another_int_others(settings):
    def label(seed):
        return simulate_labels(CLASSES, random_state=seed, **settings).to_matrix().fillna("").to_numpy()

    np.testing.assert_array_equal(label(1), label(1))
    assert (label(1) != label(2)).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_annotators": 0}, "'n_annotators' parameter of simulate_labels must be a positive int. Got 0"),
        ({"accuracy": 1.2}, r"'accuracy' parameter of simulate_labels must lie in \[0, 1\]. Got 1.2"),
        ({"accuracy": [0.5, 0.6]}, r"one for each of the 20 annotators. Got an array of shape \(2,\)"),
        ({"labels_each": 101}, "'labels_each' .* of at most 100, the number of items. Got 101"),
        ({"annotators_per_item": 21}, "'annotators_per_item' .* of at most 20, the number of annotators. Got 21"),
        ({"labels_each": 2, "annotators_per_item": 2}, "labels_each or annotators_per_item. Got both"),
        ({"confusion": np.eye(4)}, r"shape \(n_annotators, 4, 4\) for 4 classes. Got shape \(4, 4\)"),
        ({"confusion": np.zeros((0, 4, 4))}, r"Got shape \(0, 4, 4\)"),
        (
            {"confusion": np.full((2, 4, 4), 0.3)},
            r"sum to 1. Got \[0.3.*\] for annotator 0 and class 0",
        ),
        ({"confusion": np.stack([np.eye(4), 2 * np.eye(4) - 0.25])}, "for annotator 1 and class 0"),
        ({"confusion": np.full((2, 4, 4), np.nan)}, "Got .nan.* for annotator 0 and class 0"),
        ({"items": ["a", "b"]}, "'items' must name each of the 100 items. Got 2 names"),
        ({"items": [1] * 100}, "names of items must differ"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate_labels(CLASSES, **arguments)


@pytest.mark.parametrize(("classes", "message"), [([], r"Got shape \(0,\)"), (["a", None], "Got one at position 1")])
def test_bad_classes(classes, message):
    with pytest.raises(InputError, match=message):
        simulate_labels(classes)


@pytest.mark.parametrize(
    ("n_annotators", "alpha", "n_experts"),
    [(100, 0.05, 5), (100, 0.07, 7), (100, 0.15, 15), (100, 0.29, 29), (10, 0.11, 2), (7, 0.0, 0), (7, 1.0, 7)],
)
def test_the_first_annotators_of_a_sparse_crowd_are_its_experts(n_annotators, alpha, n_experts):
    crowd = sparse_crowd(n_annotators, 3, alpha=alpha, random_state=0)
    assert crowd.shape == (n_annotators, 3, 3)
    np.testing.assert_allclose(crowd.sum(axis=2), np.ones((n_annotators, 3)))
    expert = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    np.testing.assert_allclose(crowd[:n_experts], np.tile(expert, (n_experts, 1, 1)))
    np.testing.assert_array_equal(crowd[n_experts:], crowd[n_experts:, :1].repeat(3, axis=1))


def test_experts_may_be_of_different_skill():
    skill = np.linspace(0.7, 0.45, 30)
    crowd = sparse_crowd(alpha=0.3, accuracy=skill, random_state=0)
    np.testing.assert_array_equal(crowd[:30, [0, 1, 2], [0, 1, 2]], np.tile(skill[:, None], 3))
    np.testing.assert_allclose(crowd[:30, 0, 1], (1 - skill) / 2)


def test_habits_are_drawn_from_a_flat_dirichlet_distribution():
    habits = sparse_crowd(40_000, 3, alpha=0.0, random_state=1)[:, 0]
    # each coordinate is Beta(1, 2): mean 1/3, variance 1/18; 4 standard errors of the mean are .005
    np.testing.assert_allclose(habits.mean(axis=0), np.full(3, 1 / 3), atol=0.005)
    np.testing.assert_allclose(habits.var(axis=0), np.full(3, 1 / 18), atol=0.002)


def test_a_sparse_crowd_of_one_class():
    np.testing.assert_array_equal(sparse_crowd(4, 1, random_state=0), np.ones((4, 1, 1)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_annotators": 0}, "'n_annotators' parameter of sparse_crowd"),
        ({"n_classes": 0}, "'n_classes' parameter of sparse_crowd"),
        ({"alpha": 1.1}, r"'alpha' parameter of sparse_crowd must lie in \[0, 1\]. Got 1.1"),
        ({"accuracy": [0.5, 0.6]}, r"one for each of the 10 experts. Got an array of shape \(2,\)"),
    ],
)
def test_bad_parameters_of_a_sparse_crowd(arguments, message):
    with pytest.raises(InputError, match=message):
        sparse_crowd(**arguments)
