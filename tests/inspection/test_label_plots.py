"""Plots of models of labels alone: classes by name, confusion matrices, annotators."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from consilience import Labels
from consilience.analysis.projection import project
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture
from consilience.errors import InputError
from consilience.inspection import plot_annotators, plot_clusters, plot_confusion, plot_lower_bound

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")  # of items 40 and 41


def panels(axes):
    return {ax.get_title(): np.asarray(ax.images[0].get_array()) for ax in axes}


def test_items_by_their_labels_with_class_names(named):
    model, labels = named
    ax = plot_clusters(model, groupings=labels)
    points = project(model, None, labels.to_groupings()).points
    lines = {line.get_label(): line for line in ax.lines}
    for name in ("owl", "cat", "dog"):
        mine = (model.labels_ == name) & (np.arange(42) < 40)
        np.testing.assert_array_equal(np.column_stack(lines[name].get_data()), points[mine])
    assert len(lines["yak"].get_xdata()) == 0
    assert len(lines["no class"].get_xdata()) == 2  # those that nobody labelled
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[:4] == [f"{name}: {(model.labels_ == name).sum()}" for name in ("owl", "cat", "dog", "yak")]
    assert ax.get_legend().get_title().get_text() == "class: items"


def test_one_feature_against_the_classes(named):
    model, labels = named
    ax = plot_clusters(model, pd.DataFrame({"size": np.arange(42.0)}, index=labels.items))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["owl", "cat", "dog", "yak"]
    assert ax.get_ylabel() == "class"


def test_confusion_of_the_crowd_first_then_of_annotators(named):
    model, _ = named
    quality = model.annotators_
    shown = panels(plot_confusion(model))
    crowd, *names = shown
    assert crowd == "the crowd"
    assert [name.split(" (")[0] for name in names] == quality.sort_values("accuracy", ascending=False).index.tolist()
    matrices = model.confusion_matrices_.to_numpy().reshape(6, 4, 4)
    weighted = (matrices * quality["n_labels"].to_numpy()[:, None, None]).sum(0) / quality["n_labels"].sum()
    np.testing.assert_allclose(shown[crowd], weighted)
    for name in names:
        who, count = name.removesuffix(")").split(" (")
        np.testing.assert_array_equal(shown[name], model.confusion_matrices_.loc[who])
        assert count == f"{quality.loc[who, 'n_labels']} labels"


def test_confusion_of_chosen_annotators(named):
    axes = plot_confusion(make_pipeline(named[0]), ["Flo", "Al"])
    assert [name.split(" (")[0] for name in panels(axes)] == ["the crowd", "Flo", "Al"]
    with pytest.raises(InputError, match="'Zoe' was not fitted"):
        plot_confusion(named[0], ["Zoe"])


def test_confusion_of_those_with_most_labels(named):
    titles = [name.split(" (")[0] for name in panels(plot_confusion(named[0], max_annotators=5))]
    assert set(titles) == {"the crowd", "Al", "Bea", "Cy", "Di", "Ed"}  # Flo has two labels


def test_confusion_names_classes_outside_and_writes_percentages(named):
    model, _ = named
    axes = plot_confusion(model)
    figure = axes[0].figure
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["owl", "cat", "dog", "yak"]
    assert [text.get_text() for text in axes[-1].get_xticklabels()] == ["owl", "cat", "dog", "yak"]
    assert not [text for text in axes[1].get_yticklabels() if text.get_text()]
    written = {text.get_position(): text for text in axes[0].texts}
    matrix = np.asarray(axes[0].images[0].get_array())
    assert len(written) == 16
    for (column, row), text in written.items():
        assert text.get_text() == f"{100 * matrix[row, column]:.0f}"
        dark = np.mean(to_rgb(axes[0].images[0].cmap(matrix[row, column]))) < 0.5
        assert text.get_color() == "#FFFFFF" or not dark or matrix[row, column] < 0.7
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in axes]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_confusion_need_not_be_square(animals):
    model = ProductMixture(n_clusters=2, n_init=1, random_state=0).fit(animals)
    assert {matrix.shape for matrix in panels(plot_confusion(model)).values()} == {(2, 4)}


def test_confusion_of_many_classes_has_no_numbers():
    labels = Labels.from_matrix(np.arange(75).reshape(75, 1).repeat(2, axis=1))
    axes = plot_confusion(MajorityVote().fit(labels))
    figure = axes[0].figure
    assert not any(ax.texts for ax in axes)
    figure.draw_without_rendering()
    assert 5 < len(axes[-1].get_xticks()) < 40
    assert max(figure.get_size_inches()) < 15


def test_confusion_is_drawn_on_the_figure_given(named):
    mine = Figure(figsize=(9, 6), layout="constrained")
    axes = plot_confusion(named[0], ax=mine)
    assert len(panels(axes)) == 7
    assert {ax.figure for ax in axes} == {mine}


def test_annotators_by_labels_and_accuracy(named):
    model, _ = named
    ax = plot_annotators(model)
    quality = model.annotators_
    (points,) = ax.collections
    np.testing.assert_array_equal(np.asarray(points.get_offsets()), quality[["n_labels", "accuracy"]])
    np.testing.assert_array_equal(points.get_array(), quality["information"])
    (guess,) = ax.lines
    assert guess.get_ydata()[0] == model.responsibilities_.mean(0).max()
    assert ax.get_xscale() == "log"  # from 2 to 40 labels
    ax.figure.draw_without_rendering()
    assert {"Flo", quality["accuracy"].idxmin()} <= {text.get_text() for text in ax.texts if text.get_visible()}


def test_annotators_with_as_many_labels_each_by_information(animals):
    model = DawidSkene().fit(animals.restrict(annotators=["Al", "Bea", "Cy"]))
    ax = plot_annotators(model)
    assert ax.get_xlabel() == "information of a label (bits)"
    np.testing.assert_array_equal(
        np.asarray(ax.collections[0].get_offsets()), model.annotators_[["information", "accuracy"]]
    )
    assert not ax.child_axes  # no colour bar


def test_annotators_where_nothing_is_right_or_wrong(animals):
    model = ProductMixture(n_clusters=3, n_init=1, random_state=0).fit(animals)
    ax = plot_annotators(model)
    np.testing.assert_array_equal(
        np.asarray(ax.collections[0].get_offsets()), model.annotators_[["n_labels", "information"]]
    )
    assert not ax.lines


def test_names_of_annotators_cover_nothing(named):
    ax = plot_annotators(named[0])
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_visible()]
    assert len(boxes) > 3
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    height = ax.transData.transform((1, ax.lines[0].get_ydata()[0]))[1]
    assert not any(box.y0 < height < box.y1 for box in boxes)


def test_annotators_without_labels_are_not_drawn(named, animals):
    some = animals.restrict(annotators=["Al", "Bea", "Cy", "Flo"])
    model = DawidSkene().fit(some, history=named[0].confusion_counts_)
    assert len(model.annotators_) == 6
    assert len(plot_annotators(model).collections[0].get_offsets()) == 4


def test_own_axes_are_drawn_on(named):
    mine = Figure().subplots()
    assert plot_annotators(named[0], ax=mine) is mine


def test_a_single_run_needs_no_legend(named):
    assert plot_lower_bound(named[0]).get_legend() is None


@pytest.mark.parametrize("plot", [plot_confusion, plot_annotators])
def test_models_of_clusters_are_refused(plot, sorts):
    with pytest.raises(InputError, match="PartitionLabelModel"):
        plot(sorts[0])
