"""Draws of the clusters: what goes in stays as it is, who said it does not matter, what all agree on comes out."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.active import posterior_samples
from consilience.consensus import SubsetFusion
from consilience.inference.memberships import Memberships
from consilience.metrics.clusterings import nmi

KIND = np.arange(12) % 3


def told(n_groupings=30, size=8, annotators=None, items=range(12)):
    """Groupings of subsets by kind, without error."""
    rng = np.random.default_rng(0)
    subsets = [rng.choice(12, size, replace=False) for _ in range(n_groupings)]
    lists = [[[int(i) for i in subset if KIND[i] == k] for k in range(3)] for subset in subsets]
    return Groupings.from_lists(lists, annotators=annotators, items=items)


def moved(groupings=None, samples=None, n_clusters=5, seed=0):
    return posterior_samples.moved_on(
        told() if groupings is None else groupings, samples, n_clusters, np.random.default_rng(seed)
    )


def test_of_nothing_each_item_is_alone():
    found = posterior_samples.of_nothing(4)
    np.testing.assert_array_equal(found, [[0, 1, 2, 3]] * posterior_samples.N_SAMPLES)


def test_what_all_agree_on_is_in_every_draw():
    found = moved(n_clusters=3)
    assert found.shape == (posterior_samples.N_SAMPLES, 12)
    assert np.mean([nmi(KIND, cluster) for cluster in found]) > 0.95


def test_draws_go_on_from_where_they_were_and_what_is_given_stays():
    """Of clusters that nothing speaks against, with hardly a chance to move, they are the ones given."""
    samples = np.tile(KIND, (posterior_samples.N_SAMPLES, 1))
    before = samples.copy()
    found = moved(told(200), samples, n_clusters=3)
    np.testing.assert_array_equal(samples, before)
    assert found is not samples
    np.testing.assert_array_equal(found, samples)  # the names of the clusters too, which k-means would not give back


def test_draws_begin_anew_where_they_hold_too_many_clusters(monkeypatch):
    """As if there had been none; with as many clusters as may be, they go on."""
    samples = np.tile(np.arange(12) % 5, (posterior_samples.N_SAMPLES, 1))
    np.testing.assert_array_equal(moved(samples=samples, n_clusters=4), moved(samples=None, n_clusters=4))
    monkeypatch.setattr(posterior_samples, "first", lambda *_: pytest.fail("begins anew"))
    moved(samples=samples, n_clusters=5)


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 12])
def test_no_more_clusters_than_are_considered(n_clusters):
    found = moved(told(4, 5), n_clusters=n_clusters)
    assert found.min() >= 0
    assert found.max() < n_clusters
    assert moved(told(4, 5), found, n_clusters=n_clusters).max() < n_clusters


def test_the_same_rng_draws_the_same_and_another_others():
    one, again, other = (moved(told(5, 4), seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_who_said_it_does_not_matter():
    many, one = told(20), told(20, annotators=["Ann"] * 20)
    assert (many.n_annotators, one.n_annotators) == (20, 1)
    np.testing.assert_array_equal(moved(many), moved(one))


def test_draws_begin_by_kmeans_on_the_coordinates():
    """Which tells three kinds apart where nobody errs; sixteen starts of it."""
    found = posterior_samples.first(Memberships.of(told(60)), 3, np.random.default_rng(0))
    assert found.shape == (posterior_samples.N_SAMPLES, 12)
    assert np.median([nmi(KIND, cluster) for cluster in found]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("fusion", "n_items", "n_found", "expected"),
    [
        (SubsetFusion(4), 100, 0, 4),
        (SubsetFusion(4), 100, 30, 4),  # it is not searched for
        (SubsetFusion(4), 3, 0, 3),
        (SubsetFusion(), 100, 0, 10),
        (SubsetFusion(), 100, 4, 10),
        (SubsetFusion(), 100, 7, 14),
        (SubsetFusion(), 100, 25, 30),
        (SubsetFusion(max_clusters=6), 100, 2, 6),
        (SubsetFusion(), 8, 2, 8),
    ],
)
def test_clusters_in_the_draws(fusion, n_items, n_found, expected):
    """As many as are given; else twice those found, from 10 up to `max_clusters` and the number of items."""
    assert posterior_samples.n_clusters_of(fusion, n_items, n_found) == expected
