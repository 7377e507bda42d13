"""Plots of stagewise EM show its rounds and its table."""

import io
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from benchmarks.papers.paper_plots.stagewise import plot_conditional_information, plot_stagewise
from consilience.consensus import MajorityVote, StagewiseEM
from consilience.errors import InputError
from consilience.simulation import simulate_labels, sparse_crowd


@pytest.fixture(scope="module")
def model():
    crowd = sparse_crowd(12, 3, alpha=0.4, accuracy=0.8, random_state=0)[::-1]  # experts last
    return StagewiseEM().fit(simulate_labels(np.arange(500) % 3, confusion=crowd, random_state=0))


@pytest.fixture
def table():
    values = np.array([[np.nan, 0.1, 0.3], [0.1, np.nan, np.nan], [0.3, np.nan, np.nan]])
    return pd.DataFrame(values, index=["Ann", "Bo", "Cy"], columns=["Ann", "Bo", "Cy"])


def drawn(ax):
    return np.ma.filled(ax.images[0].get_array(), np.nan)


def rows_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_rounds_are_those_of_the_trace(model):
    axes = plot_stagewise(make_pipeline("passthrough", model))
    for ax, column in zip(axes, ["log_likelihood", "information", "n_informative"], strict=True):
        (line,) = ax.lines
        np.testing.assert_array_equal(line.get_xdata(), model.trace_.index)
        np.testing.assert_array_equal(line.get_ydata(), model.trace_[column])
    assert not any(ax.get_legend() for ax in axes)  # one line each


def test_truth_is_dashed_in_its_own_panel(model):
    likelihood, information, size = plot_stagewise(model, truth={"information": 0.02, "log_likelihood": -5000})
    for ax, value in ((likelihood, -5000), (information, 0.02)):
        (line,) = (line for line in ax.lines if line.get_linestyle() == "--")
        assert set(line.get_ydata()) == {value}
    assert len(size.lines) == 1
    assert [text.get_text() for text in likelihood.get_legend().get_texts()] == ["the true model"]


@pytest.mark.parametrize("truth", [{"likelihood": 1.0}, {"information": "0.1"}])
def test_truth_that_cannot_be_drawn(model, truth):
    with pytest.raises(InputError, match="must map 'log_likelihood' or 'information' to a number"):
        plot_stagewise(model, truth=truth)


def test_models_without_rounds_are_refused():
    vote = MajorityVote().fit([[0, 1], [1, 1]])
    with pytest.raises(InputError, match="MajorityVote has no trace of rounds"):
        plot_stagewise(vote)
    with pytest.raises(InputError, match="MajorityVote has no conditional information"):
        plot_conditional_information(vote)


def test_informative_annotators_come_first_in_bold(model):
    ax = plot_conditional_information(model)
    rest = [name for name in model.annotators_.index if name not in model.informative_set_]
    assert 0 < len(model.informative_set_) < 12
    assert rows_of(ax) == [*model.informative_set_, *rest]
    assert rows_of(ax) == [text.get_text() for text in ax.get_xticklabels()]
    bold = [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == model.informative_set_
    expected = model.conditional_information().loc[rows_of(ax), rows_of(ax)]
    np.testing.assert_array_equal(drawn(ax), expected)
    border = {round(value, 1) for line in ax.lines for value in line.get_ydata()} - {0.0, 1.0}
    assert border == {len(model.informative_set_) - 0.5}


def test_chosen_annotators_are_drawn(model):
    wanted = ["annotator 9", "annotator 2", "annotator 12"]
    ax = plot_conditional_information(model, wanted)
    assert rows_of(ax) == wanted
    np.testing.assert_array_equal(drawn(ax), model.conditional_information().loc[wanted, wanted])
    with pytest.raises(InputError, match="Annotator 'nobody' is not in the table"):
        plot_conditional_information(model, ["nobody"])


def test_the_diagonal_is_white_and_unknown_values_are_hatched(table):
    ax = plot_conditional_information(table)
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3]

    def shades(row, column):
        """Return the shades of grey or colour within a cell."""
        (left, low), (right, high) = ax.transData.transform([[column - 0.3, row + 0.3], [column + 0.3, row - 0.3]])
        return pixels[round(low) : round(high), round(left) : round(right)].reshape(-1, 3)

    for place in range(3):
        assert (shades(place, place) == 255).all()
    assert len(np.unique(shades(1, 2), axis=0)) > 1  # hatched
    assert len(np.unique(shades(0, 1), axis=0)) == 1
    assert shades(0, 2).mean() < shades(0, 1).mean() < 255  # larger values are darker


def test_colours_end_at_the_largest_value_or_at_vmax(table):
    assert plot_conditional_information(table, ax=Figure()).images[0].get_clim() == (0, 0.3)
    capped = plot_conditional_information(table, vmax=0.2, ax=Figure())
    assert capped.images[0].get_clim() == (0, 0.2)
    assert capped.images[0].colorbar.extend == "max"
    nothing = table.where(table.isna(), 0.0)
    assert plot_conditional_information(nothing, ax=Figure()).images[0].get_clim() == (0, 1)


def test_of_many_annotators_some_are_named():
    names = [f"a{place}" for place in range(61)]
    ax = plot_conditional_information(pd.DataFrame(np.zeros((61, 61)), index=names, columns=names))
    ax.figure.draw_without_rendering()
    assert 20 < len(rows_of(ax)) < 61
    assert ax.get_xlabel() == "61 annotators"


def test_tables_must_be_square(table):
    with pytest.raises(InputError, match="needs a square DataFrame"):
        plot_conditional_information(table.iloc[:2])


def drawn_texts(figure):
    """Return the texts of a figure as they are drawn."""
    drawing = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(drawing, format="svg")
    return {
        "".join(text.itertext()) for text in ET.fromstring(drawing.getvalue()).iter("{http://www.w3.org/2000/svg}text")
    }


def test_dollars_in_names_are_drawn_as_they_are(table):
    names = ["$x^{2}$", "$x^{$", "costs 3$"]
    figure = plot_conditional_information(table.set_axis(names, axis=0).set_axis(names, axis=1), ax=Figure()).figure
    assert set(names) <= drawn_texts(figure)
    unescaped = Figure()
    unescaped.text(0.5, 0.5, "$x^{2}$")
    assert "$x^{2}$" not in drawn_texts(unescaped)  # without the escape, it is drawn as a formula
