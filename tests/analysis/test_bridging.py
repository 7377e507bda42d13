"""Bridging values: the definition by loops over pairs, and what it means."""

import numpy as np
import pytest

from consilience import Groupings
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.errors import InputError
from consilience.inspection import bridging_values, map_axes
from consilience.inspection.plots.fusion import draw_map

ITEMS = ["a", "b", "c", "d", "e"]


def by_loops(sorts, points):
    """Return the values of the definition, from sorts as lists of groups of item numbers."""
    n, raw = len(points), []
    for i in range(n):
        above = below = 0.0
        for j in range(n):
            seen = sum(any(i in g for g in sort) and any(j in g for g in sort) for sort in sorts)
            joined = sum(any(i in g and j in g for g in sort) for sort in sorts)
            if j != i and seen:
                distance = sum((points[i][k] - points[j][k]) ** 2 for k in range(len(points[i]))) ** 0.5
                above, below = above + joined / seen * distance, below + joined / seen
        raw.append(above / below if below else np.nan)
    return (np.array(raw) - np.nanmin(raw)) / (np.nanmax(raw) - np.nanmin(raw))


@pytest.mark.parametrize("seed", range(3))
def test_the_definition_by_loops(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, size=(6, 5))  # -1: not sorted by this person
    sorts = [[[i for i in range(6) if codes[i, p] == g] for g in range(3)] for p in range(5)]
    groupings = Groupings.from_matrix(np.where(codes < 0, np.nan, codes))
    points = rng.normal(size=(6, 2))
    np.testing.assert_allclose(bridging_values(groupings, points).to_numpy(), by_loops(sorts, points), atol=1e-12)


def test_an_item_sorted_to_either_end_is_the_bridge_and_one_sorted_alone_has_no_value():
    codes = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [2, 2, 2, 2]]
    values = bridging_values(Groupings.from_matrix(codes), [[0, 0], [0, 1], [5, 0], [10, 0], [3, 9]])
    assert values.idxmax() == 2
    assert np.isnan(values[4])
    assert values.min() == 0
    assert values.max() == 1


def test_without_axes_that_count_the_default_is_the_plane_of_the_map_that_is_drawn():
    groupings = Groupings.from_lists([[["a", "b"], ["c", "d", "e"]], [["a", "b", "c"], ["d", "e"]]] * 2)
    co_occurrence = CoOccurrence.of(groupings, None, "")
    _, _, points = draw_map(co_occurrence, (1, 2), 100, None, labels=False, legend=False)
    np.testing.assert_allclose(bridging_values(groupings), bridging_values(groupings, points))


def test_the_default_is_all_axes_that_count_so_that_what_a_plane_hides_is_no_anchor():
    rng = np.random.default_rng(0)
    own = np.repeat(np.arange(6), 4)  # six clusters, which need five axes
    sorts = np.where(rng.random((24, 20)) < 0.1, rng.integers(6, size=(24, 20)), own[:, None])
    sorts[20] = rng.integers(5, size=20)  # one item put with anything
    groupings = Groupings.from_matrix(sorts)
    axes = map_axes(groupings, n_permutations=99, random_state=0)
    co_occurrence = CoOccurrence.of(groupings, None, "")
    n_axes = int(axes["real"].sum())
    assert n_axes == 5
    values = bridging_values(groupings)
    np.testing.assert_allclose(values, bridging_values(groupings, co_occurrence.map(np.arange(24), n_axes).points))
    assert values.idxmax() == 20


def test_equal_distances_are_all_anchors():
    points = [[0, 0], [1, 0], [5, 0], [6, 0]]
    assert bridging_values(Groupings.from_matrix([[0], [0], [1], [1]]), points).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("points", [np.zeros((2, 2)), np.full((3, 2), np.inf), np.zeros(3)])
def test_points_that_are_no_coordinates_of_the_items(points):
    with pytest.raises(InputError, match="must be finite coordinates of 3 items"):
        bridging_values(Groupings.from_matrix([[0], [0], [1]]), points)
