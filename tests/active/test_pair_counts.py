"""Counts of pairs against dense matrices filled in a loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active.pair_counts import PairCounts
from tests.active.situations import counts_of, dense_counts
from tests.subset_groupings import arguments, lists_of, made


def matrices(counts):
    """Return P, its answered part and C, dense and symmetric."""
    found = np.zeros((3, counts.n_items, counts.n_items), dtype=int)
    for matrix, column in zip(found, (counts.presented, counts.answered, counts.together)):
        matrix[counts.first, counts.second] = column
    return found + found.transpose(0, 2, 1)


def assert_in_order(counts):
    """Check that keys increase, so that none occurs twice, that first items are below second, and that P > 0."""
    assert (np.diff(counts.key) > 0).all()
    assert (counts.first < counts.second).all()
    assert (counts.presented > 0).all()


subsets = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True), max_size=3)


@settings(max_examples=20)
@given(arguments(min_items=3), subsets)
def test_counts_against_dense_matrices(drawn, pending):
    groupings = made(drawn)
    counts = PairCounts.none(len(groupings)).with_groupings(groupings).with_subsets([np.array(s) for s in pending])
    assert_in_order(counts)
    np.testing.assert_array_equal(matrices(counts), dense_counts(len(groupings), lists_of(groupings), pending))


@settings(max_examples=20)
@given(arguments(min_items=3), arguments(min_items=3), subsets)
def test_counts_do_not_depend_on_order_or_batches(first, second, pending):
    n_items = max(first[2], second[2])
    one, other = (made((lists, by, n_items)) for lists, by, _ in (first, second))
    waiting = [np.array(subset) for subset in pending]
    there = PairCounts.none(n_items).with_groupings(one).with_subsets(waiting).with_groupings(other)
    back = PairCounts.none(n_items).with_groupings(other)
    for subset in waiting:
        back = back.with_subsets([subset])
    back = back.with_groupings(one)
    for name in ("key", "presented", "answered", "together"):
        np.testing.assert_array_equal(getattr(there, name), getattr(back, name))
    both = lists_of(one) + lists_of(other)
    np.testing.assert_array_equal(matrices(there), dense_counts(n_items, both, pending))


def test_counts_are_not_modified():
    before = counts_of(4, [[[0, 1], [2]]])
    kept = [column.copy() for column in (before.key, before.presented, before.answered, before.together)]
    before.with_subsets([np.array([0, 1, 3])])
    before.with_groupings(made(([[[0, 1, 2]]], ["x"], 4)))
    for column, old in zip((before.key, before.presented, before.answered, before.together), kept):
        np.testing.assert_array_equal(column, old)
    assert before.with_subsets([]) is before


def test_pending_subsets_are_presented_and_not_answered():
    """0 and 1 were put together once and are pending once; 2 and 3 are only pending, and so have no share."""
    counts = counts_of(4, [[[0, 1], [2]], [[0], [1]]], [[1, 0], [3, 2]])
    assert list(zip(counts.first.tolist(), counts.second.tolist())) == [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert counts.presented.tolist() == [3, 1, 1, 1]
    assert counts.answered.tolist() == [2, 1, 1, 0]
    assert counts.together.tolist() == [1, 0, 0, 0]
    np.testing.assert_array_equal(counts.share, [0.5, 0.0, 0.0, np.nan])


def test_nothing_was_presented():
    none = PairCounts.none(3)
    place, there = none.at(np.array([1, 5]))
    assert (len(none.key), len(place), there.tolist()) == (0, 2, [False, False])
    assert not matrices(none).any()


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True), min_size=1, max_size=4))
def test_keys_of_subsets(drawn):
    """Every pair once for each subset that holds it, the smaller item first, whatever the order of the items."""
    key, subset = PairCounts.none(6).keys_of([np.array(items) for items in drawn])
    expected = [(number, a * 6 + b) for number, items in enumerate(drawn) for a in items for b in items if a < b]
    assert sorted(zip(subset.tolist(), key.tolist())) == sorted(expected)


@pytest.mark.parametrize("wanted", [[0 * 5 + 1, 1 * 5 + 3, 0 * 5 + 2, 3 * 5 + 4], [24], []])
def test_places_of_keys(wanted):
    counts = counts_of(5, [[[0, 1]], [[1], [3]]])
    place, there = counts.at(np.array(wanted, dtype=np.int64))
    known = {1: 0, 8: 1}
    assert there.tolist() == [key in known for key in wanted]
    assert place[there].tolist() == [known[key] for key in wanted if key in known]
    assert ((place >= 0) & (place < 2)).all()  # even for missing keys, so that all can be looked up at once
