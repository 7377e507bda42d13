"""Counts of judgements of groupings, of pairs of items and of clusters, are those of all pairs listed."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.annotations.judgement_counts import counts_of_annotators, counts_of_clusters, counts_of_pairs

N_ITEMS, N_CLUSTERS = 9, 3


@pytest.fixture(params=["groupings", "pairs"])
def annotations(request):
    """Seven groupings of some items by three people, or the pairs that they imply."""
    rng = np.random.default_rng(5)
    lists = []
    for _ in range(7):
        items, group = rng.permutation(N_ITEMS)[:6], rng.integers(3, size=6)
        lists.append([[f"item {item}" for item in items[group == own]] for own in range(3) if (group == own).any()])
    groupings = Groupings.from_lists(lists, annotators=["Ann", "Ben", "Ann", "Cai", "Ben", "Ann", "Ann"])
    assert groupings.n_items == N_ITEMS
    return groupings if request.param == "groupings" else groupings.to_pairs()


@pytest.fixture
def cluster():
    return np.array([0, 1, 2, 2, 1, 0, 1, 1, 2])


def listed(annotations):
    """Return item, item, annotator and judgement of every pair."""
    pairs = annotations.to_pairs() if isinstance(annotations, Groupings) else annotations
    return pairs.item_a, pairs.item_b, pairs.annotator, pairs.same


@pytest.mark.parametrize("annotator", [None, 0, 1, 2])
def test_counts_of_pairs_are_those_of_the_list(annotations, annotator):
    a, b, by, same = listed(annotations)
    first, second = np.indices((N_ITEMS, N_ITEMS)).reshape(2, -1)
    own = None if annotator is None else np.full(len(first), annotator)
    found = counts_of_pairs(annotations, first, second, own)
    for one, other, judged, together in zip(first, second, found.judged, found.together):
        rows = ((a == one) & (b == other)) | ((a == other) & (b == one))
        rows &= True if annotator is None else by == annotator
        assert (judged, together) == (rows.sum(), same[rows].sum())


@pytest.mark.parametrize("annotator", [None, 0, 1, 2])
def test_counts_of_clusters_are_those_of_the_list(annotations, cluster, annotator):
    a, b, by, same = listed(annotations)
    first, second = np.indices((N_CLUSTERS, N_CLUSTERS)).reshape(2, -1)
    own = None if annotator is None else np.full(len(first), annotator)
    found = counts_of_clusters(annotations, cluster, first, second, own)
    for one, other, judged, together in zip(first, second, found.judged, found.together):
        rows = ((cluster[a] == one) & (cluster[b] == other)) | ((cluster[a] == other) & (cluster[b] == one))
        rows &= True if annotator is None else by == annotator
        assert (judged, together) == (rows.sum(), same[rows].sum())


def test_counts_of_annotators_are_those_of_the_list(annotations, cluster):
    a, b, by, same = listed(annotations)
    found = counts_of_annotators(annotations, cluster)
    within = cluster[a] == cluster[b]
    np.testing.assert_array_equal(found.judged, [(within & (by == own)).sum() for own in range(3)])
    np.testing.assert_array_equal(found.together, [(within & same & (by == own)).sum() for own in range(3)])


def test_nothing_is_wanted(annotations, cluster):
    nothing = np.empty(0, dtype=np.intp)
    for found in (
        counts_of_pairs(annotations, nothing, nothing),
        counts_of_clusters(annotations, cluster, nothing, nothing, nothing),
    ):
        assert found.judged.shape == found.together.shape == (0,)
