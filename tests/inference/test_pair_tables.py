"""Tables of pairs, their information and its derivatives, against loops over items and pairs and numerical slopes."""

import itertools
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from consilience import Labels
from consilience.errors import InputError
from consilience.inference import pair_tables as module
from consilience.inference.pair_tables import (
    DensePairs,
    ListedPairs,
    common_items,
    curvature,
    kept_pairs,
    log_ratio,
    mutual_information,
    tables_of_pairs,
)

BODIES = [DensePairs, ListedPairs]


def pair_tables(item, annotator, label, shape, least_common):
    """Tables of all pairs of annotators with enough common items, in single precision where they are dense."""
    names = [pd.RangeIndex(size) for size in shape]
    labels = Labels(names[0], names[1], False, names[2], item, annotator, label)
    pairs = kept_pairs(common_items(labels), least_common, shape[2])
    return tables_of_pairs(labels, pairs, np.float32)


def random_labels(rng, n_items, n_annotators, n_labels, density=0.6):
    """Label of each item by each annotator, -1 where there is none."""
    labels = rng.integers(n_labels, size=(n_items, n_annotators))
    return np.where(rng.random(labels.shape) < density, labels, -1)


def tables_of(labels, n_labels, body, least_common=1):
    """Tables of a label matrix by the implementation wanted, which is forced through the speeds."""
    item, annotator = np.nonzero(labels >= 0)
    speed = {"DENSE_SPEED": np.inf} if body is DensePairs else {"LISTED_SPEED": np.inf}
    with patch.multiple(module, **speed):
        found = pair_tables(item, annotator, labels[item, annotator], (*labels.shape, n_labels), least_common)
    assert isinstance(found, body)
    return found


def explicit_tables(labels, n_labels, weights, pairs):
    tables = np.zeros((len(pairs), n_labels, n_labels))
    for p, (i, j) in enumerate(pairs):
        for row, weight in zip(labels, weights):
            if row[i] >= 0 and row[j] >= 0:
                tables[p, row[i], row[j]] += weight
    return tables


def pairs_with_common_items(labels, least):
    pairs = itertools.combinations(range(labels.shape[1]), 2)
    return [(i, j) for i, j in pairs if ((labels[:, i] >= 0) & (labels[:, j] >= 0)).sum() >= least]


def pairs_of(tables):
    return list(zip(tables.first.tolist(), tables.second.tolist()))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_items=st.integers(1, 30),
    n_annotators=st.integers(2, 6),
    n_labels=st.integers(1, 4),
    density=st.sampled_from([0.3, 0.7, 1.0]),
    signed=st.booleans(),
    least_common=st.integers(0, 8),
)
def test_both_implementations_equal_the_loops(seed, n_items, n_annotators, n_labels, density, signed, least_common):
    rng = np.random.default_rng(seed)
    labels = random_labels(rng, n_items, n_annotators, n_labels, density)
    labels[0, :2] = 0  # at least one pair, else the list is always chosen
    weights = rng.normal(size=n_items) if signed else rng.random(n_items)
    expected = pairs_with_common_items(labels, max(least_common, 1))
    for body in BODIES:
        tables = tables_of(labels, n_labels, body, least_common)
        assert pairs_of(tables) == expected
        # single precision: 1e-7 of sums of up to 30 weights near 1
        np.testing.assert_allclose(tables.of(weights), explicit_tables(labels, n_labels, weights, expected), atol=1e-5)
        values = rng.normal(size=(len(expected), n_labels, n_labels))
        per_item = [
            sum(values[p, row[i], row[j]] for p, (i, j) in enumerate(expected) if row[i] >= 0 and row[j] >= 0)
            for row in labels
        ]
        np.testing.assert_allclose(tables.per_item(values), per_item, atol=1e-12)


@pytest.mark.parametrize("body", BODIES)
def test_counts_are_whole_numbers(body):
    labels = random_labels(np.random.default_rng(0), 500, 5, 3)
    tables = tables_of(labels, 3, body)
    np.testing.assert_array_equal(tables.of(np.ones(500)), explicit_tables(labels, 3, np.ones(500), pairs_of(tables)))


def test_annotators_who_share_no_item_have_no_tables():
    labels = np.array([[0, -1], [-1, 1]])
    item, annotator = np.nonzero(labels >= 0)
    tables = pair_tables(item, annotator, labels[item, annotator], (2, 2, 2), 1)
    assert pairs_of(tables) == []
    assert tables.of(np.ones(2)).shape == (0, 2, 2)
    np.testing.assert_array_equal(tables.per_item(np.zeros((0, 2, 2))), [0.0, 0.0])


def test_the_faster_implementation_is_chosen():
    def body(n_items, n_annotators, density):
        labels = random_labels(np.random.default_rng(1), n_items, n_annotators, 2, density)
        item, annotator = np.nonzero(labels >= 0)
        return type(pair_tables(item, annotator, labels[item, annotator], (*labels.shape, 2), 1))

    assert body(200, 40, 1.0) is DensePairs  # 780 co-labels an item
    assert body(200, 400, 0.01) is ListedPairs  # about 8
    with patch.object(module, "MOST_DENSE", 100):
        assert body(200, 40, 1.0) is ListedPairs


@pytest.mark.parametrize("body", BODIES)
def test_pairs_with_the_most_common_items_are_kept_if_too_many(body, monkeypatch):
    labels = random_labels(np.random.default_rng(2), 40, 6, 2)
    everything = tables_of(labels, 2, body)
    common = everything.of(np.ones(40)).sum((1, 2))
    monkeypatch.setattr(module, "MOST_CELLS", 7 * 4)
    kept = tables_of(labels, 2, body)
    expected = np.sort(np.argsort(-common, kind="stable")[:7])  # the first where several have as many
    assert pairs_of(kept) == [pairs_of(everything)[p] for p in expected]
    np.testing.assert_array_equal(kept.of(np.ones(40)), everything.of(np.ones(40))[expected])


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("cells", "n_pairs"), [(60, 15), (59, 14), (4, 1), (3, 0)])
def test_first_pairs_are_kept_if_all_have_equally_many_common_items(body, cells, n_pairs, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", cells)
    labels = random_labels(np.random.default_rng(3), 20, 6, 2, density=1.0)
    assert pairs_of(tables_of(labels, 2, body)) == list(itertools.combinations(range(6), 2))[:n_pairs]


@pytest.mark.parametrize("body", BODIES)
def test_information_is_that_of_scikit_learn(body):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 60, 5, 3)
    labels[:, 1] = np.where(labels[:, 0] >= 0, (labels[:, 0] + 1) % 3, -1)  # the same information under other names
    labels[:, 2] = 0  # no information
    tables = tables_of(labels, 3, body)
    information, total = mutual_information(tables.of(np.ones(60)))
    for p, (i, j) in enumerate(pairs_of(tables)):
        both = (labels[:, [i, j]] >= 0).all(1)
        assert information[p] == pytest.approx(mutual_info_score(*labels[both][:, [i, j]].T), abs=1e-12)
        assert total[p] == both.sum()
    share = np.bincount(labels[labels[:, 0] >= 0, 0]) / (labels[:, 0] >= 0).sum()
    assert information[0] == pytest.approx(-share @ np.log(share))  # of an annotator with itself: the entropy
    np.testing.assert_allclose(information[[p for p, pair in enumerate(pairs_of(tables)) if 2 in pair]], 0, atol=1e-12)


def test_information_of_weighted_tables_and_of_empty_ones():
    table = np.array([[0.3, 1.2], [0.0, 0.5]])
    p = table / 2
    rows, columns = p.sum(1), p.sum(0)
    by_hand = sum(p[r, s] * np.log(p[r, s] / (rows[r] * columns[s])) for r in range(2) for s in range(2) if p[r, s] > 0)
    information, total = mutual_information(np.stack([table, np.zeros((2, 2))]))
    np.testing.assert_allclose(information, [by_hand, 0])
    np.testing.assert_allclose(total, [2, 0])


def weighted_information(tables):
    information, total = mutual_information(tables)
    return information @ total


def test_log_ratio_is_the_slope_of_weighted_information():
    tables = np.random.default_rng(5).random((2, 3, 3)) + 0.2
    slopes, h = np.zeros_like(tables), 1e-5
    for cell in np.ndindex(tables.shape):
        up, down = tables.copy(), tables.copy()
        up[cell] += h
        down[cell] -= h
        slopes[cell] = (weighted_information(up) - weighted_information(down)) / (2 * h)
    np.testing.assert_allclose(log_ratio(tables), slopes, atol=1e-8)


def test_log_ratio_of_empty_cells_is_zero():
    tables = np.array([[[2.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    # n = 4; rows 2, 2; columns 3, 1
    np.testing.assert_allclose(log_ratio(tables), [np.log([[8 / 6, 1], [4 / 6, 2]]), np.zeros((2, 2))])


def test_curvature_is_the_numerical_second_derivative():
    rng = np.random.default_rng(6)
    tables = rng.random((2, 3, 3)) + 0.5
    tables[0, 1] = 0  # a label that nobody in the component gave: neither its cells nor its row may move
    directions = rng.normal(size=(3, 2, 3, 3))
    directions[:, 0, 1] = 0
    h = 1e-4

    def at(a, b, first, second):
        return weighted_information(tables + h * (first * directions[a] + second * directions[b]))

    numerical = [
        [(at(a, b, 1, 1) - at(a, b, 1, -1) - at(a, b, -1, 1) + at(a, b, -1, -1)) / (4 * h * h) for b in range(3)]
        for a in range(3)
    ]
    np.testing.assert_allclose(curvature(tables, directions), numerical, rtol=1e-5, atol=1e-6)  # rounding / h²


def test_too_many_pairs_of_labels_raise(monkeypatch):
    monkeypatch.setattr(module, "MOST_DENSE", 0)
    monkeypatch.setattr(module, "MOST_COLABELS", 5)
    item, annotator = np.repeat(np.arange(2), 3), np.tile(np.arange(3), 2)
    with pytest.raises(InputError, match="The items have 6 pairs of labels; at most 5 can be listed"):
        pair_tables(item, annotator, np.zeros(6, int), (2, 3, 2), 1)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("least_common", [1, 9])
def test_each_of_several_labels_of_an_item_makes_co_labels_with_those_of_others(body, least_common):
    """Items in common are counted once, co-labels as often as there are pairs of labels, none of one annotator."""
    rng = np.random.default_rng(7)
    said = rng.random((20, 4, 3)) < 0.3  # any number of the three labels
    item, annotator, label = np.nonzero(said)
    speed = {"DENSE_SPEED": np.inf} if body is DensePairs else {"LISTED_SPEED": np.inf}
    with patch.multiple(module, **speed):
        tables = pair_tables(item, annotator, label, said.shape, least_common)
    assert isinstance(tables, body)
    both = said.any(2)
    pairs = [(i, j) for i, j in itertools.combinations(range(4), 2) if (both[:, i] & both[:, j]).sum() >= least_common]
    assert pairs_of(tables) == pairs
    assert len(pairs) == 6 if least_common == 1 else 0 < len(pairs) < 6
    weights, values = rng.random(20), rng.normal(size=(len(pairs), 3, 3))
    expected = np.array([np.einsum("n,nr,ns->rs", weights, said[:, i], said[:, j]) for i, j in pairs])
    np.testing.assert_allclose(tables.of(weights), expected, atol=1e-5)
    per_item = sum(np.einsum("rs,nr,ns->n", v, said[:, i], said[:, j]) for v, (i, j) in zip(values, pairs))
    np.testing.assert_allclose(tables.per_item(values), per_item, atol=1e-5)
