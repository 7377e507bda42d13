"""Simulated pairs against their parameters, exactly where these are exact."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from consilience.annotations.pairs import pairs_of_ranks
from consilience.errors import InputError
from consilience.simulation.pairs import _between, simulate_pairs

CLASSES = np.repeat(["dog", "ant", "cow"], [10, 20, 30])


def truly_same(pairs, classes):
    classes = np.asarray(classes)
    return classes[pairs.item_a] == classes[pairs.item_b]


def test_every_annotator_judges_pairs_each_pairs_half_of_one_class():
    pairs = simulate_pairs(CLASSES, 4, 51, 0.5, random_state=0)
    np.testing.assert_array_equal(np.bincount(pairs.annotator), np.full(4, 51))
    np.testing.assert_array_equal(np.bincount(pairs.annotator, truly_same(pairs, CLASSES)), np.full(4, 26))
    assert pairs.annotators.tolist() == [f"annotator {m}" for m in (1, 2, 3, 4)]
    assert pairs.items.tolist() == list(range(60))
    assert not pairs.named


def test_accuracy_is_the_probability_of_a_right_judgement_of_both_kinds():
    accuracy = [0.0, 0.6, 0.9, 1.0]
    pairs = simulate_pairs(np.tile(CLASSES, 10), 4, 6000, accuracy, random_state=1)
    truth = truly_same(pairs, np.tile(CLASSES, 10))
    for kind in (True, False):
        chosen = truth == kind
        right = np.bincount(pairs.annotator[chosen], pairs.same[chosen] == kind) / np.bincount(pairs.annotator[chosen])
        np.testing.assert_allclose(right, accuracy, atol=0.036)  # 4 standard errors of 3000 judgements
        assert (right[0], right[3]) == (0, 1)


def test_ranks_number_all_pairs_once():
    sizes = np.array([3, 1, 0, 4, 2])
    code = np.repeat(np.arange(5), sizes)
    everything = set(itertools.combinations(range(10), 2))
    same = {(a, b) for a, b in everything if code[a] == code[b]}
    assert set(map(tuple, pairs_of_ranks(sizes, np.arange(len(same))).T.tolist())) == same
    assert set(map(tuple, _between(sizes, np.arange(45 - len(same))).T.tolist())) == everything - same


@pytest.mark.parametrize("balanced", [True, False])
def test_all_pairs_of_a_kind_are_equally_probable(balanced):
    classes = [0, 0, 0, 1, 1, 1]
    pairs = simulate_pairs(classes, 3000, 3, 1.0, balanced, random_state=2)
    counts = np.bincount(pairs.item_a * 6 + pairs.item_b, minlength=36).reshape(6, 6)[np.triu_indices(6, 1)]
    kinds = np.equal.outer(classes, classes)[np.triu_indices(6, 1)]
    groups = [kinds, ~kinds] if balanced else [np.ones(15, dtype=bool)]
    for group in groups:
        assert chisquare(counts[group]).pvalue > 0.001


def test_items_are_named_by_the_index_of_a_series_or_as_given():
    classes = pd.Series([1, 2, 2, 1], index=list("wxyz"))
    assert simulate_pairs(classes, 1, 2, random_state=0).items.tolist() == list("wxyz")
    assert simulate_pairs(classes, 1, 2, random_state=0, items=[9, 8, 7, 6]).items.tolist() == [9, 8, 7, 6]


@pytest.mark.parametrize("kind", [list, pd.MultiIndex.from_tuples, lambda names: pd.Index(names, tupleize_cols=False)])
def test_a_tuple_is_a_name(kind):
    names = [("p", 1), ("p", 2), ("q", 1), ("q", 2)]
    assert simulate_pairs([1, 2, 2, 1], 1, 2, random_state=0, items=kind(names)).items.tolist() == names
    assert simulate_pairs(pd.Series([1, 2, 2, 1], index=kind(names)), 1, 2, random_state=0).items.tolist() == names


def test_is_deterministic():
    assert simulate_pairs(CLASSES, random_state=3, pairs_each=50) == simulate_pairs(
        CLASSES, random_state=3, pairs_each=50
    )
    assert simulate_pairs(CLASSES, random_state=3, pairs_each=50) != simulate_pairs(
        CLASSES, random_state=4, pairs_each=50
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": []}, "one-dimensional"),
        ({"classes": ["a", None]}, "missing"),
        ({"n_annotators": 0}, "positive int"),
        ({"pairs_each": 2.5}, "positive int"),
        ({"accuracy": 1.2}, r"\[0, 1\]"),
        ({"accuracy": [0.5, 0.5]}, "one for each of the 5"),
        ({"balanced": "yes"}, "True or False"),
        ({"classes": [0, 0, 0]}, "200 distinct pairs of items of one class, but there are only 3"),
        ({"classes": [0, 0, 0], "pairs_each": 4}, "items of two classes, but there are only 0"),
        ({"classes": [0, 1], "balanced": False}, "400 distinct pairs of items, but there are only 1"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        simulate_pairs(**({"classes": CLASSES} | arguments))
