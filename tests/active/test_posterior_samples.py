"""Samples of the clusters: arguments are not modified, annotators do not matter, agreement is found."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.active import posterior_samples
from consilience.consensus import SubsetFusion
from consilience.inference.memberships import Memberships
from consilience.metrics.clusterings import nmi

KIND = np.arange(12) % 3


def correct(n_groupings=30, size=8, annotators=None, items=range(12)):
    """Return groupings of subsets by kind, without error."""
    rng = np.random.default_rng(0)
    subsets = [rng.choice(12, size, replace=False) for _ in range(n_groupings)]
    lists = [[[int(i) for i in subset if KIND[i] == k] for k in range(3)] for subset in subsets]
    return Groupings.from_lists(lists, annotators=annotators, items=items)


def updated(groupings=None, samples=None, n_clusters=5, seed=0):
    return posterior_samples.update_samples(
        correct() if groupings is None else groupings, samples, n_clusters, np.random.default_rng(seed)
    )


def test_without_groupings_each_item_is_alone():
    found = posterior_samples.initial(4)
    np.testing.assert_array_equal(found, [[0, 1, 2, 3]] * posterior_samples.N_SAMPLES)


def test_agreement_is_in_every_sample():
    found = updated(n_clusters=3)
    assert found.shape == (posterior_samples.N_SAMPLES, 12)
    assert np.mean([nmi(KIND, cluster) for cluster in found]) > 0.95


def test_samples_continue_and_arguments_are_not_modified():
    """With clusters that fit all groupings, and hardly a chance to move, the samples stay as given."""
    samples = np.tile(KIND, (posterior_samples.N_SAMPLES, 1))
    before = samples.copy()
    found = updated(correct(200), samples, n_clusters=3)
    np.testing.assert_array_equal(samples, before)
    assert found is not samples
    np.testing.assert_array_equal(found, samples)  # including the numbers of the clusters, which k-means would change


def test_samples_begin_anew_if_they_hold_too_many_clusters(monkeypatch):
    """As if there had been none; with just the number of clusters allowed, they continue."""
    samples = np.tile(np.arange(12) % 5, (posterior_samples.N_SAMPLES, 1))
    np.testing.assert_array_equal(updated(samples=samples, n_clusters=4), updated(samples=None, n_clusters=4))
    monkeypatch.setattr(posterior_samples, "first", lambda *_: pytest.fail("begins anew"))
    updated(samples=samples, n_clusters=5)


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 12])
def test_samples_hold_no_more_clusters_than_allowed(n_clusters):
    found = updated(correct(4, 5), n_clusters=n_clusters)
    assert found.min() >= 0
    assert found.max() < n_clusters
    assert updated(correct(4, 5), found, n_clusters=n_clusters).max() < n_clusters


def test_samples_depend_on_the_rng_alone():
    one, again, other = (updated(correct(5, 4), seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_annotators_do_not_matter():
    many, one = correct(20), correct(20, annotators=["Ann"] * 20)
    assert (many.n_annotators, one.n_annotators) == (20, 1)
    np.testing.assert_array_equal(updated(many), updated(one))


def test_samples_begin_with_kmeans_on_the_coordinates():
    """Which separates three kinds if there are no errors, from sixteen starts."""
    found = posterior_samples.first(Memberships.of(correct(60)), 3, np.random.default_rng(0))
    assert found.shape == (posterior_samples.N_SAMPLES, 12)
    assert np.median([nmi(KIND, cluster) for cluster in found]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("fusion", "n_items", "n_found", "expected"),
    [
        (SubsetFusion(4), 100, 0, 4),
        (SubsetFusion(4), 100, 30, 4),  # the number is given
        (SubsetFusion(4), 3, 0, 3),
        (SubsetFusion(), 100, 0, 10),
        (SubsetFusion(), 100, 4, 10),
        (SubsetFusion(), 100, 7, 14),
        (SubsetFusion(), 100, 25, 30),
        (SubsetFusion(max_clusters=6), 100, 2, 6),
        (SubsetFusion(), 8, 2, 8),
    ],
)
def test_clusters_in_the_samples(fusion, n_items, n_found, expected):
    """The number given; else twice those found, from 10 up to `max_clusters` and the number of items."""
    assert posterior_samples.n_clusters_of(fusion, n_items, n_found) == expected
