"""Sparse counts of pairs against the dense definitions, and parts against paths in a table of pairs."""

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings
from consilience.inference import memberships as module
from consilience.inference.memberships import Memberships, count_presented, parts, shares_together, together
from tests.subset_groupings import arguments, dense, lists_of, made

THREE = Groupings.from_lists(
    [[["a", "b"], ["c"]], [], [["b", "d"], []]], annotators=["x", "y", "x"], items=list("dcbaz")
)


def off_diagonal(table):
    return table * ~np.eye(len(table), dtype=bool)


def test_the_rows_of_memberships():
    found = Memberships.of(THREE)
    assert (found.n_items, found.n_groups, found.n_groupings, found.n_annotators) == (5, 4, 3, 2)
    rows = list(zip(found.item.tolist(), found.group.tolist(), found.grouping.tolist()))
    assert rows == [(0, 2, 2), (1, 1, 0), (2, 0, 0), (2, 2, 2), (3, 0, 0)]  # d, c, b twice, a; z in none
    assert found.group_sizes.tolist() == [2, 1, 2, 0]
    assert found.grouping_sizes.tolist() == [3, 0, 2]
    assert found.times_seen.tolist() == [1, 1, 2, 1, 0]
    assert found.annotator_of_grouping.tolist() == [0, 1, 0]
    assert found.in_grouping.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]]


def test_selection_and_reordering_of_items():
    found = Memberships.of(THREE).of_items(np.array([3, 0]))
    assert found.item.tolist() == [0, 1]
    assert found.group.tolist() == [0, 2]
    assert found.grouping.tolist() == [0, 2]
    assert (found.n_groups, found.n_groupings) == (4, 3)


@settings(max_examples=30)
@given(arguments(), st.data())
def test_counts_of_pairs(drawn, data):
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    c, p = dense(given_groupings)
    weight = data.draw(st.sampled_from([0.0, 0.3, 1.0, 2.5]).flatmap(st.just))
    weights = np.array([weight, *np.linspace(0.4, 1.9, memberships.n_groupings)[1:]])
    for w, of in ((None, np.ones(len(weights))), (weights, weights)):
        expected = off_diagonal(np.tensordot(of, c, 1)), off_diagonal(np.tensordot(of, p, 1))
        np.testing.assert_allclose(together(memberships, w).toarray(), expected[0], atol=1e-12)
        np.testing.assert_allclose(count_presented(memberships, w).toarray(), expected[1], atol=1e-12)
    assert together(memberships).nnz == np.count_nonzero(off_diagonal(c.sum(0)))
    assert count_presented(memberships).nnz == np.count_nonzero(off_diagonal(p.sum(0)))


@settings(max_examples=30)
@given(arguments(), st.integers(1, 40), st.sampled_from([0.0, 0.7]), st.booleans())
def test_shares_together_in_blocks_of_any_size(drawn, at_a_time, first, weighted):
    """A first weight of 0 may leave pairs that no grouping with weight holds: 0 / 0, which is no entry."""
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    c, p = dense(given_groupings)
    weights = np.array([first, *np.linspace(0.4, 1.9, memberships.n_groupings)[1:]])
    of = weights if weighted else np.ones(len(weights))
    both, shown = off_diagonal(np.tensordot(of, c, 1)), np.tensordot(of, p, 1)
    with patch.object(module, "PAIRS_AT_A_TIME", at_a_time):
        found = shares_together(memberships, weights if weighted else None)
    np.testing.assert_allclose(found.toarray(), np.divide(both, shown, out=both * 0, where=both > 0), atol=1e-12)
    assert found.nnz == np.count_nonzero(both)


def test_blocks_cover_all_rows_once_and_hold_few_pairs():
    rng = np.random.default_rng(0)
    lists = [[rng.choice(30, 5, replace=False).tolist()] for _ in range(20)]
    memberships = Memberships.of(Groupings.from_lists(lists, items=range(30)))
    with patch.object(module, "PAIRS_AT_A_TIME", 60):
        blocks = list(module._blocks(memberships))
    assert [row for block in blocks for row in block] == list(range(30))
    sizes = [5 * memberships.times_seen[block.start : block.stop].sum() for block in blocks]
    assert len(blocks) >= 500 // 60
    assert max(sizes) <= 60 + 5 * memberships.times_seen.max()  # a row is not cut


@settings(max_examples=30)
@given(arguments())
def test_parts_are_connected_components(drawn):
    given_groupings = made(drawn)
    linked = dense(given_groupings)[1].sum(0) > 0
    for _ in range(len(linked)):
        linked = linked | ((linked.astype(int) @ linked) > 0)
    found = parts(Memberships.of(given_groupings))
    np.testing.assert_array_equal(found == -1, ~linked.diagonal())
    held = found >= 0
    np.testing.assert_array_equal((found[:, None] == found)[np.ix_(held, held)], linked[np.ix_(held, held)])
    sizes = np.bincount(found[held])
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()


def test_parts_of_equal_size_are_ordered_by_their_items():
    lists = [[["p", "q"]], [["a"], ["b"]], [["x", "y", "z"]]]
    found = parts(Memberships.of(Groupings.from_lists(lists, items=list("abpqxyz0"))))
    assert found.tolist() == [1, 1, 2, 2, 0, 0, 0, -1]


def test_the_dense_definition_of_these_tests():
    c, p = dense(THREE)
    assert lists_of(THREE) == [[[2, 3], [1]], [], [[0, 2], []]]
    np.testing.assert_array_equal(c[1], np.eye(5))
    assert np.argwhere(np.triu(c[0], 1)).tolist() == [[2, 3]]
    assert np.argwhere(np.triu(p[0], 1)).tolist() == [[1, 2], [1, 3], [2, 3]]
    assert p[0].diagonal().tolist() == [0, 1, 1, 1, 0]
