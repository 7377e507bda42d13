"""Displays: each draws what its function draws, and draws it again."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import inspection
from consilience.consensus import CSPA, DawidSkene
from consilience.inspection import DendrogramDisplay
from consilience.semisupervised import PartitionLabelModel
from tests.quick_cases import quick_in_turn

SORTS = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", "x"], ["a", "y"]]
SAID = [["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "dog", "cat"], ["dog", "dog", "cat"]]
NAMES = sorted(name for name in inspection.__all__ if name.endswith("Display"))
FUNCTIONS = {
    "AnnotatorsDisplay": "plot_annotators",
    "ClustersDisplay": "plot_clusters",
    "CoOccurrenceDisplay": "plot_co_occurrence",
    "ConfusionDisplay": "plot_confusion",
    "DendrogramDisplay": "plot_dendrogram",
    "ItemMapDisplay": "plot_item_map",
    "LowerBoundDisplay": "plot_lower_bound",
    "MappingDisplay": "plot_mapping",
}


@pytest.fixture(scope="module")
def fitted():
    """Fitted models with what their plots need, by name of the display."""
    groups, labels = CSPA(n_clusters=2, random_state=0).fit(SORTS), DawidSkene().fit(SAID)
    X = np.random.default_rng(0).normal(size=(6, 3))
    quick = PartitionLabelModel(prior_variance=1.0, n_init=1, max_clusters=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), quick).fit(X, SORTS)
    return {
        "AnnotatorsDisplay": (labels,),
        "ClustersDisplay": (pipeline, X, SORTS),
        "CoOccurrenceDisplay": (groups, SORTS),
        "ConfusionDisplay": (labels,),
        "DendrogramDisplay": (groups, SORTS),
        "ItemMapDisplay": (groups, SORTS),
        "LowerBoundDisplay": (pipeline,),
        "MappingDisplay": (pipeline,),
    }


def picture(figure):
    """Return the pixels of a figure."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def test_every_display_is_tried():
    assert list(FUNCTIONS) == NAMES


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 0, every=2))
def test_a_display_draws_what_its_function_draws(name, fitted):
    plt.close("all")
    drawn = getattr(inspection, FUNCTIONS[name])(*fitted[name], labels=False)
    expected = picture((drawn[0] if isinstance(drawn, list) else drawn).get_figure(root=True))
    plt.close("all")
    display = getattr(inspection, name).from_estimator(*fitted[name], labels=False)
    np.testing.assert_array_equal(picture(display.figure_), expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_display_draws_again_elsewhere(name, fitted):
    plt.close("all")
    display = getattr(inspection, name).from_estimator(*fitted[name])
    first, (figure, ax) = display.figure_, plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.figure_ is figure is not first
    assert isinstance(display.ax_, list) or display.ax_ is ax


def test_items_are_counted_once(fitted, monkeypatch):
    display = DendrogramDisplay.from_estimator(*fitted["DendrogramDisplay"])

    def refuse(*given):
        raise AssertionError("counted again")

    monkeypatch.setattr("consilience.analysis.dissimilarity.CoOccurrence.of", refuse)
    display.plot()
