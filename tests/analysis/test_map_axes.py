"""How many axes of the map count, and how often the items of a cluster were put together."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis.axes import change_places, variances
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.inspection import cluster_cohesion, map_axes, report
from consilience.semisupervised import MPCKMeans


def in_clusters(n_clusters, n_items=15, n_people=30, right=0.8, seed=0):
    rng = np.random.default_rng(seed)
    truth, shape = np.arange(n_items) % n_clusters, (n_items, n_people)
    return np.where(rng.random(shape) < right, truth[:, None], rng.integers(max(n_clusters, 4), size=shape))


@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_clusters_take_one_axis_less_than_there_are(n_axes):
    found = map_axes(in_clusters(n_axes + 1), random_state=0)
    assert found["real"].tolist()[: n_axes + 1] == [True] * n_axes + [False]
    assert found["times_chance"].iloc[n_axes - 1] > 2


def test_random_sorts_have_no_axis():
    assert not map_axes(in_clusters(1, right=0.0), random_state=1)["real"].any()


def test_the_variances_are_those_of_the_map():
    groupings = Groupings.from_matrix(in_clusters(3))
    projection = CoOccurrence.of(groupings, None, "").map(np.arange(15), 3)
    group = in_clusters(3).T
    shares = variances(group)[:3] / variances(group).sum()
    assert projection.axes == tuple(f"dimension {axis} ({share:.0%})" for axis, share in enumerate(shares, 1))


def test_change_places_keep_the_sizes_of_groups_and_who_is_in():
    group = np.array([[0, 0, 1, -1, 2, -1], [0, 1, 1, 1, 0, 2]])
    moved = change_places(group, np.random.default_rng(0).random(group.shape))
    np.testing.assert_array_equal(np.sort(moved, axis=1), np.sort(group, axis=1))
    np.testing.assert_array_equal(moved < 0, group < 0)
    assert (moved != group).any()


@pytest.mark.parametrize(("sorts", "n"), [(np.zeros((3, 4), int), 199), (np.zeros((8, 4), int), 5)])
def test_what_cannot_be_tested_is_an_error(sorts, n):
    with pytest.raises(InputError, match="map_axes"):
        map_axes(sorts, n_permutations=n)


def test_the_report_says_which_axes_count_and_what_the_map_is():
    model = SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(3)))
    page = report(model, certainty=None)
    assert "the first 2 axes show more than chance; axis 3 does not: places along it may be chance" in page
    assert "a classical scaling, and not the compromise of DISTATIS" not in page
    assert "from another side: its first and third axis. The third axis is no larger than that of random sorts" in page
    more = report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(in_clusters(4))), certainty=None)
    assert "its first and third axis. Items that are close on both maps are close on all three axes." in more


def with_leftovers():
    """Three clusters of five items, and two items that everybody leaves alone or puts anywhere."""
    rng = np.random.default_rng(0)
    cells = in_clusters(3, right=0.95)
    nowhere = rng.integers(4, 12, size=(2, 30))
    return np.vstack([cells, nowhere])


def test_the_cohesion_is_that_of_all_pairs():
    cells, labels = with_leftovers(), np.append(np.arange(15) % 3, [3, 3])
    same = (cells[:, None] == cells).mean(2)
    off = ~np.eye(17, dtype=bool)
    expected = [same[(labels[:, None] == k) & (labels == k) & off].mean() for k in range(4)]
    found = cluster_cohesion(cells, labels)
    np.testing.assert_allclose(found["together"], expected)
    np.testing.assert_allclose(found["chance"], same[off].mean())
    assert found["left_over"].tolist() == [False, False, False, True]


def test_a_single_item_is_not_left_over():
    found = cluster_cohesion(with_leftovers(), np.append(np.arange(15) % 3, [3, 4]))
    assert found["together"].isna().tolist() == [False] * 3 + [True] * 2
    assert not found["left_over"].any()


def test_clusters_of_other_items_are_an_error():
    with pytest.raises(InputError, match="array of 17 ints"):
        cluster_cohesion(with_leftovers(), [0, 1])


@pytest.mark.slow
def test_the_report_names_a_cluster_that_is_left_over():
    items = [f"card {place}" for place in range(17)]
    names = pd.DataFrame(with_leftovers(), index=items).astype(str)
    model = SubsetFusion(n_clusters=4, random_state=0).fit(Groupings.from_matrix(names))
    page = report(model, certainty=None)
    assert "is what is left over, not a group that people made" in page
    assert "(left over)" in page


@pytest.mark.slow
def test_a_report_says_that_a_model_has_no_certainty():
    rng = np.random.default_rng(0)
    groupings = Groupings.from_matrix(in_clusters(3))
    X = np.eye(3)[np.arange(15) % 3] + 0.1 * rng.standard_normal((15, 3))
    page = report(MPCKMeans(3, random_state=0).fit(X, groupings), groupings, X)
    assert "the people of MPCKMeans cannot be weighed" in page


def test_the_plane_of_items_in_two_groups_shows_all():
    found = CoOccurrence.of([["a", "a"], ["a", "a"], ["b", "b"], ["b", "b"]], None, "test")
    assert found.plane_shares(found.places).sum() > 0.98  # shares are smoothed
    assert found.stress(found.places) == pytest.approx(0, abs=1e-6)
