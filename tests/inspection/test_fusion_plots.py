"""Plots of a fusion of groupings show what the model holds."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.spatial.distance import pdist, squareform

from consilience import Groupings
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.dissimilarity import ClusterShares, CoOccurrence, classical_scaling
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.inference.memberships import Memberships
from consilience.inspection import (
    plot_co_occurrence,
    plot_dendrogram,
    plot_item_map,
    plot_silhouette_curve,
    plot_stability,
)
from consilience.inspection.plots import point_labels
from consilience.inspection.plots.fusion import outline_clusters
from consilience.inspection.plots.point_labels import _further_off, _is_nearest, name_points
from consilience.inspection.plots.style import NO_DATA, colour, marker


def points_of(ax, label):
    return np.column_stack(next(line for line in ax.lines if line.get_label() == label).get_data())


def test_the_map_is_the_scaling_of_the_dissimilarities(fusion):
    model, groupings = fusion
    ax = plot_item_map(model)
    seen = np.flatnonzero(model.labels_ >= 0)
    points, shares, _ = classical_scaling(CoOccurrence.of(model, None, "the test").dissimilarities(seen))
    for cluster, title in enumerate(FoundClusters.of(model, groupings).titles):
        mine = model.labels_[seen] == cluster
        np.testing.assert_allclose(points_of(ax, title), points[mine])
        line = next(line for line in ax.lines if line.get_label() == title)
        assert (to_hex(line.get_markerfacecolor()).upper(), line.get_marker()) == (colour(cluster), marker(cluster))
    assert ax.get_xlabel() == f"dimension 1 ({shares[0]:.0%})\n1 item left out: not grouped"
    ax.figure.draw_without_rendering()
    named = [text.get_text() for text in ax.texts if text.get_visible()]
    assert set(named) <= set(model.items_[seen])
    assert len(named) > 5
    assert ax.get_aspect() == 1


def test_classical_scaling_finds_points_from_their_distances():
    points = np.random.default_rng(0).normal(size=(12, 2)) * [3, 1]
    found, shares, squares = classical_scaling(squareform(pdist(points)))
    np.testing.assert_allclose(squares, ((points - points.mean(0)) ** 2).sum(1))
    np.testing.assert_allclose(pdist(found), pdist(points), rtol=1e-9)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] > shares[1]
    assert (found[np.abs(found).argmax(0), [0, 1]] > 0).all()
    np.testing.assert_array_equal(classical_scaling(np.zeros((1, 1)))[0], [[0, 0]])


@pytest.mark.parametrize("has_model", [False, True])
def test_items_that_the_plane_hardly_shows_are_hollow(has_model):
    """Three pairs and an item that is alone with half of the people: the plane holds the pairs, and not the item."""
    cells = np.array([[0, 0, 1, 1, 2, 2, 3]] * 6 + [[0, 0, 1, 1, 2, 2, k % 3] for k in range(6)]).T
    sorts = Groupings.from_matrix(cells, items=list("abcdefg"))
    projection = CoOccurrence.of(sorts, None, "the test").map(np.arange(7), 6)
    np.testing.assert_allclose(projection.cos2.sum(1), 1.0)
    assert np.flatnonzero(projection.plane((1, 2)).hardly_shown).tolist() == [6]
    assert not projection.plane((1, 3)).hardly_shown[6]
    ax = plot_item_map(SubsetFusion(random_state=0).fit(sorts) if has_model else sorts, ax=Figure())
    hollow = [line for line in ax.lines if to_hex(line.get_markerfacecolor()) == "#ffffff" and len(line.get_xdata())]
    np.testing.assert_allclose(np.column_stack(hollow[0].get_data()), projection.points[6:, :2])
    assert len(hollow) == 1
    assert "hollow: 1 item, hardly shown here" in ax.get_xlabel()


def test_a_map_of_thin_evidence_uses_the_coordinates_of_the_model(subsets):
    model, _ = subsets
    ax = plot_item_map(model, max_items=50)
    assert ax.get_xlabel() == "coordinate 1 of the chains of groupings\n50 of 90 items, chosen at random"
    assert sum(len(line.get_xdata()) for line in ax.lines) == 50


def test_the_matrix_is_ordered_by_cluster(fusion):
    model, _ = fusion
    ax = plot_co_occurrence(model)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(names) == sorted(model.items_[model.labels_ >= 0])
    clusters = pd.Series(model.labels_, index=model.items_)[names].tolist()
    assert clusters == sorted(clusters)
    drawn = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    np.testing.assert_array_equal(drawn, model.co_occurrence(names).to_numpy())
    frames = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    sizes = np.bincount(clusters)
    assert frames == list(zip(np.cumsum(sizes) - sizes - 0.5, sizes))
    (above,) = [child for child in ax.child_axes if child.get_xlabel() == "cluster"]
    called = FoundClusters.of(*fusion).called
    assert [text.get_text() for text in above.get_xticklabels()] == called


def test_pairs_that_nobody_saw_have_a_colour_of_their_own(fusion, subsets):
    ax = plot_co_occurrence(subsets[0], max_items=40)
    assert np.ma.getmaskarray(np.ma.masked_invalid(ax.images[0].get_array())).any()
    assert to_hex(ax.patch.get_facecolor()).upper() == NO_DATA
    assert ax.patch.get_hatch() == "////"
    shown = [text.get_text() for legend in _legends(ax) for text in legend.get_texts()]
    assert shown == ["never shown\ntogether"]
    assert not _legends(plot_co_occurrence(fusion[0], ax=Figure()))
    assert plot_co_occurrence(subsets[0], ax=Figure()).patch.get_hatch() == ""


def _legends(ax):
    return [each.get_legend() for each in (ax, *ax.child_axes) if each.get_legend() is not None]


def test_a_sample_of_many_items_says_so(subsets):
    ax = plot_co_occurrence(subsets[0], max_items=40)
    assert ax.get_xlabel() == "40 of 90 items, chosen at random"
    assert ax.images[0].get_array().shape == (40, 40)


def test_shares_of_clusters_are_over_pairs_of_their_items(subsets):
    model, groupings = subsets
    ax = plot_co_occurrence(model, by_cluster=True)
    pairs = groupings.to_pairs().to_frame()
    label = pd.Series(model.labels_, index=model.items_)
    a, b = (label.loc[pairs[side]].to_numpy() for side in ("item_a", "item_b"))
    expected = np.full((model.n_clusters_,) * 2, np.nan)
    for k in range(model.n_clusters_):
        for other in range(model.n_clusters_):
            mine = ((a == k) & (b == other)) | ((a == other) & (b == k))
            if mine.any():
                expected[k, other] = pairs["same"].to_numpy()[mine].mean()
    np.testing.assert_allclose(np.ma.filled(ax.images[0].get_array().astype(float), np.nan), expected)
    shares = ClusterShares.of(Memberships.of(groupings), model.labels_, model.n_clusters_)
    np.testing.assert_allclose(shares.distance + np.diag(1 - np.diag(expected)), 1 - expected)


def test_the_dendrogram_is_the_linkage_of_the_model(fusion):
    model, _ = fusion
    ax = plot_dendrogram(model)
    seen = model.items_[model.labels_ >= 0]
    tree = model.linkage(seen.tolist())
    links = [line for line in ax.lines if len(line.get_xdata()) == 4]
    np.testing.assert_allclose(sorted(line.get_xdata()[1] for line in links), np.sort(tree[:, 2]))
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(labels) == sorted(seen)
    cluster = pd.Series(model.labels_, index=model.items_)
    for line in links:  # each colour on the branches of its cluster alone
        low, high = min(line.get_ydata()), max(line.get_ydata())
        below = {int(cluster[name]) for place, name in zip(ax.get_yticks(), labels) if low <= place <= high}
        if to_hex(line.get_color()).upper() in {colour(k) for k in range(model.n_clusters_)}:
            assert {colour(k) for k in below} == {to_hex(line.get_color()).upper()}
    leaves = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [line.get_marker() for line in leaves] == [marker(int(cluster[name])) for name in labels]


def test_a_dendrogram_of_many_items_is_one_of_clusters(subsets):
    model, groupings = subsets
    ax = plot_dendrogram(model)
    sizes = np.bincount(model.labels_)
    assert sorted(text.get_text() for text in ax.get_yticklabels()) == [
        f"cluster {k}: {size} items" for k, size in enumerate(sizes)
    ]
    distance = ClusterShares.of(Memberships.of(groupings), model.labels_, model.n_clusters_).distance
    nearest = distance[np.triu_indices(len(distance), 1)].min()
    assert min(line.get_xdata()[1] for line in ax.lines if len(line.get_xdata()) == 4) == pytest.approx(nearest)


def test_a_dendrogram_shows_branches_of_several_clusters(known):
    sorts = Groupings.from_matrix([["p", "p"], ["p", "p"], ["q", "p"], ["r", "r"], ["r", "r"], ["s", "r"]])
    agreed, parted = ([*"aaabbb"], [*"aabbba"])  # item 2 is put with 0 and 1, and item 5 with 3 and 4
    for answer in (agreed, parted):
        ax = plot_dendrogram(known(answer).fit(None, sorts), sorts, ax=Figure())
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert legend == ["0: 3", "1: 3", "several clusters"]
        grey = {line.get_color() for line in ax.lines} - {colour(0), colour(1)}
        assert to_hex(ax.get_legend().legend_handles[-1].get_color()) in grey
        assert ax.get_xlabel() == "share of annotators who put both apart"


def test_a_dendrogram_of_one_cluster_has_no_branch_of_several(known):
    sorts = Groupings.from_matrix([["p", "p"], ["p", "p"], ["q", "p"]])
    ax = plot_dendrogram(known([*"aaa"]).fit(None, sorts), sorts, ax=Figure())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0: 3"]


def test_a_dendrogram_needs_two_leaves():
    model = SubsetFusion(random_state=0).fit(Groupings.from_matrix([["a"]]))
    with pytest.raises(InputError, match=r"needs at least 2 items\. Got 1"):
        plot_dendrogram(model)


def test_the_silhouette_curve_rings_the_choice(fusion):
    model, _ = fusion
    ax = plot_silhouette_curve(model)
    curve, ring = ax.lines
    assert curve.get_xdata().tolist() == model.n_clusters_curve_.index.tolist()
    np.testing.assert_array_equal(curve.get_ydata(), model.n_clusters_curve_["silhouette"])
    assert ring.get_xdata()[0] == model.n_clusters_
    assert ring.get_ydata()[0] == model.n_clusters_curve_["silhouette"].max()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["considered", "found: 3 clusters"]


def test_stability_is_drawn_as_given():
    table = pd.DataFrame({"n_groupings": [10, 20, 20, 40], "stability": [np.nan, 0.5, 0.7, -0.1], "more": "x"})
    ax = plot_stability(table)
    mean, each = ax.lines
    assert mean.get_xydata().tolist() == [[20, 0.6], [40, -0.1]]
    assert each.get_xydata().tolist() == [[20, 0.5], [20, 0.7], [40, -0.1]]
    assert ax.get_ylim()[0] == -0.1
    assert len(plot_stability(table[2:], ax=Figure()).lines) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "columns n_groupings and stability. Got list."),
        (pd.DataFrame({"stability": [1]}), r"Got \['stability'\]"),
        (pd.DataFrame({"n_groupings": [1, 2], "stability": [1, "high"]}), "'stability' of the .* 'high' in row 1"),
        (pd.DataFrame({"n_groupings": [1], "stability": [np.nan]}), "has no row with both"),
    ],
)
def test_stability_that_cannot_be_drawn(table, message):
    with pytest.raises(InputError, match=message):
        plot_stability(table)


@pytest.mark.parametrize("plot", [plot_co_occurrence, plot_dendrogram, plot_item_map])
def test_models_that_keep_no_groupings_ask_for_them(plot, sorts):
    with pytest.raises(InputError, match=rf"PartitionLabelModel does not keep .*{plot.__name__}\(model, groupings\)"):
        plot(sorts[0])


def test_models_without_a_curve_have_none(sorts):
    with pytest.raises(InputError, match="PartitionLabelModel has no silhouette curve"):
        plot_silhouette_curve(sorts[0])


def test_outlines_hold_the_items_of_their_clusters(fusion):
    model, groupings = fusion
    ax = plot_item_map(model, outlines=True)
    titles = FoundClusters.of(model, groupings).titles
    assert len(ax.patches) == len(titles)
    for title, outline in zip(titles, ax.patches, strict=True):
        points = points_of(ax, title)
        corners = outline.get_xy()[:-1]
        assert all(any(np.allclose(corner, point) for point in points) for corner in corners)
        around = np.roll(corners, -1, 0) - corners
        turns = [around[:, 0] * (y - corners[:, 1]) - around[:, 1] * (x - corners[:, 0]) for x, y in points]
        assert (np.array(turns) >= -1e-9).all() or len(corners) < 3  # each point is to the left of each side


def test_outlines_of_items_on_a_line_are_lines():
    sorts = [["a", "a", "b"], ["a", "a", "b"], ["a", "a", "b"], ["b", "b", "a"], ["b", "b", "a"]]
    ax = plot_item_map(SubsetFusion(n_clusters=2, random_state=0).fit(Groupings.from_matrix(sorts)), outlines=True)
    assert len(ax.patches) == 2
    assert not plot_item_map(Groupings.from_matrix(sorts), outlines=True).patches  # no clusters


def test_the_ends_of_a_line_are_its_outline():
    figure = Figure()
    ax = figure.subplots()
    points = np.array([[0.0, 0.0], [2.0, -2.0], [1.0, -1.0], [3.0, -3.0]])
    outline_clusters(ax, points, np.zeros(4, dtype=int))
    assert {tuple(corner) for corner in ax.patches[0].get_xy()} == {(0.0, 0.0), (3.0, -3.0)}


def test_outlines_have_the_names_of_their_clusters_outside_of_all_points(fusion):
    model, groupings = fusion
    ax = plot_item_map(model, outlines=True)
    ax.figure.draw_without_rendering()
    bold = [text for text in ax.texts if text.get_fontweight() == "bold" and text.get_visible()]
    names = [text.get_text() for text in bold]
    assert names
    assert len(set(names)) == len(names)
    assert set(names) <= set(FoundClusters.of(model, groupings).shown)
    points = ax.transData.transform(np.vstack([np.column_stack(line.get_data()) for line in ax.lines]))
    for box in (text.get_window_extent() for text in bold):
        assert not ((points > [box.x0, box.y0]) & (points < [box.x1, box.y1])).all(1).any()


def test_names_at_the_end_of_a_line_are_not_beside_another_point():
    """Of points all around one, none of which is named, nothing is near enough for a name that is led away."""
    place, size = np.array([100.0, 100.0]), np.array([20.0, 8.0])
    frame, none = np.array([0.0, 0.0, 200.0, 200.0]), np.zeros((0, 4))
    alone = _further_off(0, place[None], size, frame, none)
    assert alone is not None
    others = np.array([(x, y) for x in range(30, 175, 15) for y in range(30, 175, 15)], dtype=float)
    assert _further_off(0, np.vstack([place, others]), size, frame, none) is None


def test_of_few_points_all_are_named_although_they_lie_close_together(monkeypatch):
    places = np.array([(x, y) for x in range(2) for y in range(5)]) / 20  # of axes from -1 to 1

    def n_written(few):
        monkeypatch.setattr(point_labels, "FEW", few)
        ax = Figure(figsize=(6, 5)).subplots()
        ax.plot([-1, 1], [-1, 1], ls="")
        name_points(ax, places, [f"product {n}" for n in range(len(places))], leaders=True)
        ax.figure.draw_without_rendering()
        texts = [text for text in ax.texts if text.get_visible()]
        boxes = [Text.get_window_extent(text).padded(-0.5) for text in texts]  # without their lines; half a pixel less
        assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
        return len(boxes)

    assert n_written(few=len(places) - 1) < n_written(few=len(places)) == len(places)


def test_a_name_is_nearer_to_its_own_point_than_to_any_other():
    box = np.array([10.0, 0.0, 30.0, 8.0])  # beside the first point
    places = np.array([(3.0, 4.0), (20.0, 30.0)])
    assert _is_nearest(box, 0, places)
    assert not _is_nearest(box, 0, np.vstack([places, (20.0, 16.0)]))  # 8 above the box, which is 7 from its own
    assert _is_nearest(box, 0, np.vstack([places, (20.0, 17.0)]))
