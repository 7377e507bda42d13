"""Plots show what the model found."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.projection import project
from consilience.errors import InputError
from consilience.inspection import (
    annotator_agreement,
    order_by_agreement,
    plot_agreement,
    plot_clusters,
    plot_lower_bound,
    plot_mapping,
    plot_prior_variance,
)
from consilience.inspection.plots.style import COLOURS, MARKERS, colour, marker
from consilience.semisupervised import PartitionLabelModel


def points_of(ax, label):
    return np.column_stack(next(line for line in ax.lines if line.get_label() == label).get_data())


def test_clusters_at_their_features_and_unlabelled_items_hollow(iris):
    pipeline, X, groupings = iris
    ax = plot_clusters(pipeline, X, groupings)
    annotated = groupings.summary().annotators_per_item.to_numpy() > 0
    labels = pipeline[-1].labels_
    for cluster, title in enumerate(FoundClusters.of(pipeline[-1], groupings).titles):
        mine = labels == cluster
        np.testing.assert_array_equal(points_of(ax, title), X[mine & annotated])
        if (mine & ~annotated).any():
            np.testing.assert_array_equal(points_of(ax, f"{title}, no annotations"), X[mine & ~annotated])
    assert (~annotated).sum() > 20
    assert [ax.get_xlabel(), ax.get_ylabel()] == list(X.columns)
    hollow = [line for line in ax.lines if line.get_label().endswith("no annotations")]
    assert {line.get_markerfacecolor() for line in hollow} == {"#ffffff"}


def test_without_annotations_no_item_is_hollow(iris):
    pipeline, X, _ = iris
    ax = plot_clusters(pipeline, X)
    assert sum(len(line.get_xdata()) for line in ax.lines) == len(X)
    assert not any(line.get_label().endswith("no annotations") for line in ax.lines)


def test_lines_between_regions_are_where_two_clusters_are_equally_probable(iris):
    pipeline, X, _ = iris
    ax = plot_clusters(pipeline, X)
    lines = [c for c in ax.collections if c.get_facecolor().size == 0]
    assert len(lines) >= pipeline[-1].n_clusters_ - 1
    for collection in lines:
        vertices = np.concatenate([path.vertices for path in collection.get_paths()])
        best = np.sort(pipeline.predict_proba(pd.DataFrame(vertices, columns=X.columns)), axis=1)
        np.testing.assert_allclose(best[:, -1], best[:, -2], atol=0.02)  # contours are interpolated on a grid


def test_bare_model_is_drawn_as_in_a_pipeline_that_does_nothing(iris):
    _, X, groupings = iris
    bare = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, random_state=0).fit(X, groupings)
    alone, piped = (
        plot_clusters(model, X, groupings, ax=Figure()) for model in (bare, make_pipeline("passthrough", bare))
    )
    for one, other in zip(alone.lines, piped.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


def test_rows_are_matched_by_name(iris):
    pipeline, X, _ = iris
    ordered, shuffled = (plot_clusters(pipeline, table, ax=Figure()) for table in (X, X.sample(frac=1, random_state=0)))
    for one, other in zip(ordered.lines, shuffled.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


def test_many_features_by_principal_components_of_what_the_model_sees(iris, known):
    X = iris[1]
    rng = np.random.default_rng(0)
    wide = np.hstack([X, rng.normal(scale=50, size=(150, 3))])
    pipeline = make_pipeline(StandardScaler(), known(iris[0][-1].labels_)).fit(wide, iris[2].by_position())
    view = project(pipeline, wide, None)
    expected = PCA(2).fit_transform(StandardScaler().fit_transform(wide))
    np.testing.assert_allclose(np.abs(view.points), np.abs(expected), atol=1e-8)  # signs are free
    ax = plot_clusters(pipeline, wide)
    assert ax.get_xlabel().startswith("component 1 (")
    assert not ax.collections  # regions in the plane would be a lie


def test_one_feature_against_the_clusters(known):
    size = np.array([[3.0], [1.0], [2.0]])
    ax = plot_clusters(known([1, 0, 1]).fit(size), size)
    np.testing.assert_array_equal(points_of(ax, "cluster 0"), [[1, 0]])
    np.testing.assert_array_equal(points_of(ax, "cluster 1"), [[3, 1], [2, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "cluster")


def test_without_features_items_put_together_are_close(sorts):
    model, groupings = sorts
    points = project(model, None, groupings).points
    by_item = pd.DataFrame(points, index=model.items_)
    np.testing.assert_allclose(by_item.loc["robin"], by_item.loc["gull"], atol=1e-9)  # told apart by nobody
    assert np.linalg.norm(by_item.loc["robin"] - by_item.loc["cod"]) > 1


def test_names_beside_the_points_do_not_overlap(sorts):
    model, groupings = sorts
    ax = plot_clusters(model, groupings=groupings)
    ax.figure.draw_without_rendering()
    named = [text for text in ax.texts if text.get_visible() and text.get_text() in set(model.items_)]
    assert len(named) >= 3
    boxes = [text.get_window_extent() for text in named]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_a_sample_of_many_items_is_drawn_and_the_caption_says_so(iris):
    pipeline, X, groupings = iris
    ax = plot_clusters(pipeline, X, groupings, max_items=40)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 40
    assert ax.get_xlabel().splitlines()[1:] == ["40 of 150 items, chosen at random"]


def test_legend_counts_items_and_covers_none(iris):
    pipeline, X, groupings = iris
    ax = plot_clusters(pipeline, X, groupings)
    sizes = np.bincount(pipeline[-1].labels_)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    titles = FoundClusters.of(pipeline[-1], groupings).shown
    assert texts[: len(sizes)] == [f"{title}: {size}" for title, size in zip(titles, sizes)]
    ax.figure.draw_without_rendering()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_clusters_have_a_colour_and_a_shape_of_their_own():
    pairs = {(colour(cluster), marker(cluster)) for cluster in range(len(COLOURS) * len(MARKERS))}
    assert len(pairs) == 132
    assert all(marker(cluster) != marker(cluster + 1) for cluster in range(131))  # neighbours differ in both
    assert all(colour(cluster) != colour(cluster + 1) for cluster in range(131))


SIGHT = {  # of linear red, green and blue: Machado, Oliveira & Fernandes (2009), severity 1
    "of most": np.eye(3),
    "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "without blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(linear):
    """CIE L*a*b* of linear red, green and blue."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.clip(linear, 1e-3, 1) @ to_xyz.T / to_xyz.sum(1)).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("sight", SIGHT)
def test_twelve_colours_are_told_apart_with_any_sight(sight):
    """As well as the seven of Okabe and Ito, of which the two nearest differ by 16 for people without blue."""
    assert len(COLOURS) == 12
    shown = np.array([to_rgb(each) for each in COLOURS])
    linear = np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
    seen = lab(linear @ np.transpose(SIGHT[sight]))
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(12, 1)]
    assert apart.min() > 15


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (None, "X, the features, or groupings are needed"),
        (np.zeros((149, 2)), "149 rows"),
        (np.zeros(150), "two dimensions"),
        (np.full((150, 2), np.nan), "'petal length .cm.' of item 'iris 0' is nan"),
        (np.zeros((150, 0)), "no features"),
    ],
)
def test_features_that_cannot_be_drawn(iris, X, message):
    with pytest.raises(InputError, match=message):
        plot_clusters(iris[0], X)


@pytest.mark.parametrize(("model", "error"), [("no model", InputError), (PartitionLabelModel(), NotFittedError)])
def test_anything_but_a_fitted_model_is_refused(model, error):
    with pytest.raises(error):
        plot_clusters(model, np.zeros((3, 2)))


def test_other_estimators_are_refused():
    with pytest.raises(InputError, match="PCA has no attribute 'items_'"):
        plot_clusters(PCA().fit(np.eye(3)), np.eye(3))


def test_own_axes_are_drawn_on(iris, sorts, crowd):
    for plot, args in [
        (plot_clusters, iris),
        (plot_clusters, (sorts[0], None, sorts[1])),
        (plot_mapping, sorts[:1]),
        (plot_agreement, sorts[1:]),
        (plot_lower_bound, sorts[:1]),
        (plot_prior_variance, sorts[:1]),
    ]:
        mine = Figure().subplots()
        assert plot(*args, ax=mine) is mine
        assert mine.has_data()


def owners_of(ax):
    """Names beside the rows at which groupings begin."""
    texts = ax.get_yticklabels(minor=True)
    return {round(place): text.get_text() for place, text in zip(ax.get_yticks(minor=True), texts, strict=True)}


def test_mapping_shows_every_probability_once(sorts):
    model, groupings = sorts
    ax = plot_mapping(model)
    drawn = np.asarray(ax.images[0].get_array())
    rows = [text.get_text() for text in ax.get_yticklabels()]
    place = owners_of(ax)
    assert sorted(place.values()) == sorted(groupings.annotators)
    owner, found = None, {}
    for row, name in enumerate(rows):
        owner = place.get(row, owner)
        found[owner, owner, name] = drawn[row]
    assert len(found) == groupings.n_groups
    for key, probabilities in found.items():
        np.testing.assert_array_equal(probabilities, model.mapping_probabilities_.loc[key])


def test_mapping_puts_similar_distinctions_side_by_side(sorts):
    model, _ = sorts
    owners = [owner for _, owner in sorted(owners_of(plot_mapping(model)).items())]
    assert abs(owners.index("Cy") - owners.index("Di")) == 1  # both see birds and the rest
    assert abs(owners.index("Ann") - owners.index("Bo")) == 1


def test_mapping_is_capped_by_whole_groupings(crowd):
    model, _ = crowd
    ax = plot_mapping(model, max_groups=20)
    rows = np.asarray(ax.images[0].get_array()).shape[0]
    owners = owners_of(ax)
    n_shown = len(owners)
    assert 17 < rows <= 20
    assert " ".join(ax.get_xlabel().split()) == f"cluster {n_shown} of 240 groupings (most labels)"
    fewest = min(model.groupings_["n_labels"].nlargest(n_shown))
    assert {len(owner.split(" / ")) for owner in owners.values()} == {2}  # annotator / grouping
    assert fewest == 10


def test_mapping_keeps_at_least_one_grouping(sorts):
    assert len(owners_of(plot_mapping(sorts[0], max_groups=1))) == 1


def test_dollars_and_long_names_are_drawn_as_they_are():
    names = ["$x^{$", r"a\$b", "n" * 100]
    groupings = Groupings.from_matrix([[name, "p"] for name in names for _ in range(3)])
    ax = plot_mapping(
        PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, random_state=0).fit(None, groupings)
    )
    ax.figure.draw_without_rendering()  # "$x^{$" as mathematics would raise
    assert 12 < max(len(text.get_text()) for text in ax.get_yticklabels()) <= 24


def test_agreement_in_its_order_with_numbers():
    groupings = Groupings.from_matrix(
        [["p", "x", "r", None], ["p", "x", "s", None], ["q", "y", "s", "u"], ["q", "y", "r", None]],
        annotators=["Ann", "Bo", "Cy", "Di"],
    )
    matrix = annotator_agreement(groupings)
    order = order_by_agreement(matrix)
    ax = plot_agreement(groupings)
    np.testing.assert_array_equal(
        np.ma.filled(ax.images[0].get_array(), np.nan), matrix.to_numpy()[np.ix_(order, order)]
    )
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == matrix.index[order].tolist() == [text.get_text() for text in ax.get_xticklabels()]
    cells = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in ax.texts}
    assert cells[names.index("Ann"), names.index("Bo")] == "1"
    assert cells[names.index("Ann"), names.index("Cy")] == "−.50"
    assert (names.index("Ann"), names.index("Di")) not in cells  # one item in common: hatched
    assert ax.patch.get_hatch()


def test_agreement_of_many_annotators_names_some(crowd):
    ax = plot_agreement(crowd[1])
    assert ax.get_xlabel() == "120 annotators, those who agree side by side"
    ax.figure.draw_without_rendering()
    assert 20 < len(ax.get_yticks()) < 60
    assert not ax.texts
    assert max(ax.figure.get_size_inches()) < 9


def test_agreement_refuses_other_objects():
    with pytest.raises(InputError, match=r"plot_agreement needs Groupings.* Got ndarray"):
        plot_agreement(np.eye(3))


def test_lower_bound_after_every_sweep_and_where_restarts_ended(sorts):
    model, _ = sorts
    kept, others = plot_lower_bound(model).lines
    np.testing.assert_array_equal(kept.get_xdata(), np.arange(1, len(model.lower_bounds_) + 1))
    np.testing.assert_array_equal(kept.get_ydata(), model.lower_bounds_)
    np.testing.assert_array_equal(others.get_ydata(), np.sort(model.restart_bounds_)[:-1])


def test_prior_variance_with_errors_and_the_choice(sorts):
    model, _ = sorts
    search = model.prior_variance_search_
    ax = plot_prior_variance(make_pipeline("passthrough", model))
    line, _, (bars,) = ax.containers[0]
    np.testing.assert_array_equal(line.get_xydata(), search[["prior_variance", "log_probability"]])
    spans = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(spans.mean(1), search["log_probability"])
    np.testing.assert_allclose(np.ptp(spans, axis=1), 2 * search["standard_error"])
    (chosen,) = (line for line in ax.lines if line.get_label().startswith("chosen"))
    assert chosen.get_xdata() == [model.prior_variance_]
    assert ax.get_xscale() == "log"
    assert to_hex(chosen.get_markeredgecolor()) == colour(3).lower()


def test_prior_variance_that_was_given_has_no_plot(crowd):
    with pytest.raises(InputError, match="no search of the prior variance"):
        plot_prior_variance(crowd[0])
