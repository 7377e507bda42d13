"""Simulated annotators against their parameters, exactly where these are exact."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from consilience.errors import InputError
from consilience.metrics.clusterings import ari
from consilience.simulation import simulate_crowd, simulate_experts
from consilience.simulation.experts import merge_classes, split_classes

CLASSES = np.repeat(["ant", "bee", "cow", "dog"], [10, 20, 30, 40])


def matrix(annotations):
    """Return group names (n_items, n_annotators), "" if missing."""
    return annotations.to_matrix().astype(object).fillna("").to_numpy(object)


def given(annotations):
    return matrix(annotations) != ""


@pytest.mark.parametrize("n_classes", [3, 4, 15])
def test_no_set_of_a_split_is_empty(n_classes):
    splits = split_classes(n_classes, 500, np.random.default_rng(0))
    assert splits.shape == (500, n_classes)
    assert all(set(split) == {0, 1, 2} for split in splits.tolist())


@pytest.mark.parametrize(("n_classes", "n_splits"), [(3, 6), (4, 36)])
def test_all_splits_are_equally_probable(n_classes, n_splits):
    # 3! S(n, 3) ways to split n classes into three named non-empty sets: 6 for three classes, 36 for four
    splits = split_classes(n_classes, 200 * n_splits, np.random.default_rng(1))
    counts = Counter(map(tuple, splits.tolist()))
    assert len(counts) == n_splits
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_without_errors_each_expert_labels_by_one_binary_question():
    experts = simulate_experts(CLASSES, n_annotators=50, flip=0.0, random_state=0)
    for column in matrix(experts).T:
        of_class = [set(column[name == CLASSES]) for name in np.unique(CLASSES)]
        assert all(len(said) == 1 for said in of_class)
        assert set.union(*of_class) == {"positive", "negative", ""}


@pytest.mark.parametrize(("flip", "share"), [(0.1, 0.1), (0.37, 0.37), (1.0, 1.0)])
def test_exactly_the_given_share_of_each_experts_labels_is_flipped(flip, share):
    right = matrix(simulate_experts(CLASSES, n_annotators=50, flip=0.0, random_state=3))
    flipped = matrix(simulate_experts(CLASSES, n_annotators=50, flip=flip, random_state=3))
    labelled = right != ""
    np.testing.assert_array_equal(flipped != "", labelled)
    wrong = ((right != flipped) & labelled).sum(axis=0)
    np.testing.assert_array_equal(wrong, np.floor(share * labelled.sum(axis=0) + 0.5))


@pytest.mark.parametrize("observed", [0.1, 0.5, 0.93])
def test_exactly_the_given_share_of_each_experts_labels_is_observed(observed):
    whole = given(simulate_experts(CLASSES, n_annotators=50, random_state=4)).sum(axis=0)
    part = given(simulate_experts(CLASSES, n_annotators=50, observed=observed, random_state=4)).sum(axis=0)
    np.testing.assert_array_equal(part, np.floor(observed * whole + 0.5))


def test_labels_observed_at_a_lower_share_are_among_those_at_a_higher_one():
    shares = [matrix(simulate_experts(CLASSES, observed=share, random_state=5)) for share in (0.1, 0.3, 0.7, 1.0)]
    for fewer, more in itertools.pairwise(shares):
        kept = fewer != ""
        np.testing.assert_array_equal(fewer[kept], more[kept])


def test_which_labels_are_hidden_differs_between_experts():
    # experts who label the same two classes would hide the same items if they shared their draws
    shown = given(simulate_experts(["a"] * 50 + ["b"] * 50 + ["c"] * 50, n_annotators=30, observed=0.5, random_state=6))
    assert len(np.unique(shown, axis=1).T) == 30


def test_errors_do_not_depend_on_the_class_or_on_being_observed():
    classes = np.repeat(["a", "b", "c"], 1000)
    right = matrix(simulate_experts(classes, n_annotators=60, flip=0.0, random_state=7))
    seen = matrix(simulate_experts(classes, n_annotators=60, flip=0.1, observed=0.5, random_state=7))
    kept = seen != ""
    wrong = (seen != right) & kept
    assert wrong.sum() / kept.sum() == pytest.approx(0.1, abs=0.005)  # 60 000 labels: 4 standard errors
    for name in "abc":
        of_class = classes == name
        assert wrong[of_class].sum() / kept[of_class].sum() == pytest.approx(0.1, abs=0.01)


def test_every_expert_keeps_at_least_one_label():
    experts = simulate_experts(["a", "b", "c"], n_annotators=7, observed=0.01, random_state=8)
    np.testing.assert_array_equal(given(experts).sum(axis=0), np.ones(7))


def test_experts_names_items_and_shape():
    experts = simulate_experts(CLASSES, n_annotators=3, random_state=0)
    assert experts.annotators.tolist() == ["expert 1", "expert 2", "expert 3"]
    assert experts.items.tolist() == list(range(100))
    assert experts.n_groupings == 3
    assert set(experts.group_names) == {"positive", "negative"}
    assert not experts.named


def test_items_are_named_by_the_index_of_a_series_or_as_given():
    classes = pd.Series(["a", "b", "c", "c"], index=["w", "x", "y", "z"])
    assert simulate_experts(classes, random_state=0).items.tolist() == ["w", "x", "y", "z"]
    assert simulate_experts(classes, items=[4, 3, 2, 1], random_state=0).items.tolist() == [4, 3, 2, 1]
    assert simulate_crowd(classes, items=[4, 3, 2, 1], random_state=0).items.tolist() == [4, 3, 2, 1]


def test_annotators_without_errors_or_merging_recover_the_classes():
    crowd = simulate_crowd(CLASSES, n_annotators=5, accuracy=1.0, random_state=0)
    assert all(ari(CLASSES, column) == 1.0 for column in matrix(crowd).T)


def test_each_annotator_sees_items_each_random_items():
    crowd = simulate_crowd(CLASSES, n_annotators=40, items_each=25, random_state=1)
    shown = given(crowd)
    np.testing.assert_array_equal(shown.sum(axis=0), np.full(40, 25))
    assert len(np.unique(shown, axis=1).T) == 40
    assert crowd.annotators.tolist() == [f"annotator {m}" for m in range(1, 41)]
    assert crowd.n_items == 100


def test_every_item_is_equally_likely_to_be_seen():
    views = given(simulate_crowd(CLASSES, n_annotators=4000, items_each=25, random_state=2)).sum(axis=1)
    # each count is Binomial(4000, 1/4); the scaled squares add to 100 on average, with a standard deviation of 14
    assert ((views - 1000) ** 2).sum() / (4000 * 0.25 * 0.75) == pytest.approx(100, abs=50)


def test_accuracy_is_the_probability_of_the_right_group_for_each_annotator():
    classes = np.repeat(np.arange(4), 500)
    accuracy = np.array([1.0, 0.9, 0.6, 0.3])
    crowd = matrix(simulate_crowd(classes, n_annotators=4, accuracy=accuracy, random_state=3))
    right = matrix(simulate_crowd(classes, n_annotators=4, accuracy=1.0, random_state=3))
    # the same random_state: the same groups, other errors. 4 standard errors of 2000 items are below .045
    np.testing.assert_allclose((crowd == right).mean(axis=0), accuracy, atol=0.045)
    assert (crowd[:, 0] == right[:, 0]).all()


def test_misplaced_items_spread_evenly_over_the_other_groups():
    classes = np.zeros(3000, dtype=int)
    classes[:3] = [1, 2, 3]
    column = matrix(simulate_crowd(classes, n_annotators=1, accuracy=0.0, random_state=4))[3:, 0]
    right = matrix(simulate_crowd(classes, n_annotators=1, accuracy=1.0, random_state=4))[3, 0]
    counts = Counter(column.tolist())
    assert right not in counts
    assert len(counts) == 3
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_coarse_annotators_merge_whole_classes():
    crowd = simulate_crowd(CLASSES, n_annotators=100, accuracy=1.0, merge=0.5, random_state=5)
    columns = matrix(crowd).T
    for column in columns:
        assert all(len(set(column[name == CLASSES])) == 1 for name in np.unique(CLASSES))
    n_groups = [len(set(column)) for column in columns]
    # 1 + Binomial(3, 1/2): mean 2.5, standard error .087 over 100
    assert np.mean(n_groups) == pytest.approx(2.5, abs=0.35)
    assert len({tuple(pd.factorize(column)[0]) for column in columns}) > 5


def test_merging_everything_leaves_one_group_and_no_room_for_errors():
    crowd = simulate_crowd(CLASSES, n_annotators=6, accuracy=0.0, merge=1.0, random_state=6)
    assert crowd.n_groups == crowd.n_groupings == 6


def test_no_group_is_empty_and_every_class_is_as_likely_to_be_joined():
    groups, n_groups = merge_classes(4, 6000, 0.4, np.random.default_rng(7))
    assert all(set(row) == set(range(n)) for row, n in zip(groups.tolist(), n_groups.tolist(), strict=True))
    alone = [(groups == groups[:, [k]]).sum(axis=1) == 1 for k in range(4)]
    shares = np.mean(alone, axis=1)
    np.testing.assert_allclose(shares, shares.mean(), atol=0.025)  # about 4 standard errors of 6000


def test_a_crowd_of_a_single_class():
    crowd = simulate_crowd(["a", "a", "a"], n_annotators=2, accuracy=0.5, random_state=0)
    assert crowd.n_groups == 2


simulators = pytest.mark.parametrize("simulate", [simulate_experts, simulate_crowd])


@simulators
def test_an_int_gives_the_same_annotations_each_time_another_int_others(simulate):
    np.testing.assert_array_equal(matrix(simulate(CLASSES, random_state=1)), matrix(simulate(CLASSES, random_state=1)))
    assert (matrix(simulate(CLASSES, random_state=1)) != matrix(simulate(CLASSES, random_state=2))).any()


@simulators
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_advanced_and_repeatable(simulate, make):
    source = make(0)
    first, second = matrix(simulate(CLASSES, random_state=source)), matrix(simulate(CLASSES, random_state=source))
    assert (first != second).any()
    np.testing.assert_array_equal(first, matrix(simulate(CLASSES, random_state=make(0))))


@simulators
def test_without_a_random_state_annotations_differ(simulate):
    assert (matrix(simulate(CLASSES)) != matrix(simulate(CLASSES))).any()


@simulators
def test_names_of_classes_do_not_matter(simulate):
    numbers = pd.factorize(CLASSES)[0] + 7
    np.testing.assert_array_equal(matrix(simulate(numbers, random_state=1)), matrix(simulate(CLASSES, random_state=1)))


@simulators
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], r"'classes' must be a one-dimensional array of classes. Got shape \(0,\)"),
        (np.zeros((3, 2)), r"Got shape \(3, 2\)"),
        (["a", None, "b", "c"], "'classes' must have no missing values. Got one at position 1"),
    ],
)
def test_bad_classes(simulate, classes, message):
    with pytest.raises(InputError, match=message):
        simulate(classes)


@simulators
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_annotators": 0}, "'n_annotators' parameter of simulate_.* must be a positive int. Got 0"),
        ({"items": ["a", "b"]}, "'items' must name each of the 100 items. Got 2 names"),
    ],
)
def test_bad_parameters_of_both(simulate, arguments, message):
    with pytest.raises(InputError, match=message):
        simulate(CLASSES, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observed": 0.0}, r"'observed' parameter of simulate_experts must lie in \(0, 1\]. Got 0.0"),
        ({"observed": 1.5}, r"must lie in \(0, 1\]. Got 1.5"),
        ({"flip": -0.1}, r"'flip' parameter of simulate_experts must lie in \[0, 1\]. Got -0.1"),
        ({"flip": float("nan")}, r"must lie in \[0, 1\]. Got nan"),
    ],
)
def test_bad_parameters_of_experts(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate_experts(CLASSES, **arguments)


def test_experts_need_three_classes():
    with pytest.raises(InputError, match=r"simulate_experts needs at least 3 classes.*Got 2 instead"):
        simulate_experts(["a", "b", "a"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items_each": 101}, "'items_each' parameter .* positive int of at most 100, the number of items. Got 101"),
        ({"items_each": 0}, "'items_each' parameter .* Got 0"),
        ({"merge": 2.0}, r"'merge' parameter of simulate_crowd must lie in \[0, 1\]. Got 2.0"),
        ({"accuracy": 1.1}, r"'accuracy' parameter of simulate_crowd must lie in \[0, 1\]. Got 1.1"),
        ({"accuracy": [0.5, 0.6]}, r"one for each of the 20 annotators. Got an array of shape \(2,\)"),
    ],
)
def test_bad_parameters_of_a_crowd(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate_crowd(CLASSES, **arguments)
