"""Silhouettes from sparse evidence against scikit-learn's on the dense dissimilarities."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_samples

from consilience import Groupings
from consilience.consensus.groupings import evidence_silhouette as module
from consilience.consensus.groupings.evidence_silhouette import EvidenceSilhouette
from consilience.inference.memberships import Memberships
from tests.subset_groupings import arguments, dense, drawn_from_mixture, made


def dissimilarity(given_groupings):
    """1 − Ê, 0 on the diagonal, and s."""
    together, presented = (table.sum(0) for table in dense(given_groupings))
    off = ~np.eye(len(together), dtype=bool)
    share = (together * (presented > 0))[off].sum() / max(presented[off].sum(), 1)
    put = np.where(presented > 0, together, 0)
    return (1 - (put + 0.5 * share) / (presented + 0.5)) * off, share


def evidence_of(given_groupings, **settings):
    return EvidenceSilhouette.of(Memberships.of(given_groupings), rng=np.random.default_rng(0), **settings)


@settings(max_examples=30)
@given(arguments(), st.lists(st.integers(0, 4), min_size=8, max_size=8))
def test_widths_are_those_of_scikit_learn(drawn, cluster):
    given_groupings = made(drawn)
    cluster = np.array(cluster[: len(given_groupings)])
    distance, share = dissimilarity(given_groupings)
    evidence = evidence_of(given_groupings)
    assert evidence.share == pytest.approx(share)
    n_occupied = len(np.unique(cluster))
    # not defined for one cluster, nor by scikit-learn if all items are alone: 0 by Rousseeuw
    defined = 2 <= n_occupied < len(cluster)
    expected = silhouette_samples(distance, cluster, metric="precomputed") if defined else np.zeros(len(cluster))
    np.testing.assert_allclose(evidence.widths(cluster), expected, atol=1e-12)
    assert evidence.score(cluster) == pytest.approx(expected.mean(), abs=1e-12)


def test_unseen_pairs_have_the_overall_share():
    """Two of three presented pairs together, in all: a c; b c; a d stays unseen."""
    given_groupings = Groupings.from_lists([[["a", "b"], ["c"]], [["d", "e"]], [["a", "b"]]])
    evidence = evidence_of(given_groupings)
    assert evidence.share == pytest.approx(3 / 5)
    distance = 1 - evidence.share - evidence.above.toarray()
    assert distance[0, 1] == pytest.approx(1 - (2 + 0.3) / 2.5)
    assert distance[0, 2] == pytest.approx(1 - 0.3 / 1.5)
    assert distance[0, 3] == pytest.approx(1 - 0.6)


def crowd():
    cluster = np.arange(60) % 3
    return cluster, drawn_from_mixture(cluster, [0.2] * 5, n_each=12, size=10)


@pytest.mark.parametrize(
    ("limit", "n_rows"), [({"MOST_ITEMS": 17}, 17), ({"MOST_PAIRS": 2000}, 20), ({"MOST_PAIRS": 0}, 1)]
)
def test_items_are_sampled_if_there_are_many(limit, n_rows):
    """60 groupings of 10 items are 6000 presented pairs with those of items with themselves, 100 an item."""
    cluster, given_groupings = crowd()
    everything = evidence_of(given_groupings)
    with patch.multiple(module, **limit):
        some = evidence_of(given_groupings)
        whole = evidence_of(given_groupings, all_items=True)
        other = EvidenceSilhouette.of(Memberships.of(given_groupings), rng=np.random.default_rng(1))
    assert len(some.rows) == len(np.unique(some.rows)) == n_rows
    assert (np.diff(some.rows) > 0).all()
    assert some.rows.tolist() != other.rows.tolist()
    assert everything.rows.tolist() == whole.rows.tolist() == list(range(60))
    np.testing.assert_allclose(some.widths(cluster), everything.widths(cluster)[some.rows], atol=1e-12)
    assert some.score(cluster) == pytest.approx(everything.widths(cluster)[some.rows].mean())


def test_true_clusters_are_better_than_others_and_than_coarser_or_finer_ones():
    cluster, given_groupings = crowd()
    evidence = evidence_of(given_groupings)
    score = evidence.score(cluster)
    finer = np.where((cluster == 0) & (np.arange(60) < 30), 3, cluster)
    assert score > 0.4
    for other in (np.minimum(cluster, 1), finer, np.roll(cluster, 1) * 0 + np.arange(60) // 20):
        assert evidence.score(other) < score - 0.1


def test_singletons_have_silhouette_zero():
    evidence = evidence_of(Groupings.from_lists([[["a", "b"], ["c"]]]))
    assert evidence.widths(np.array([0, 0, 2]))[2] == 0
    np.testing.assert_array_equal(evidence.widths(np.array([0, 0, 0])), 0)
    np.testing.assert_array_equal(evidence.widths(np.array([0, 1, 2])), 0)
