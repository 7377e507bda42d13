"""What a notebook shows: pictures that are not blank, short tables, bars where they were asked for, and no errors."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from tests.notebooks.running import colour, ink, of_cells, of_script, outputs, pictures, printed, run

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("plot_*.py"))
LARGEST = 8_000  # characters of what a cell shows, pictures and scikit-learn's diagrams aside
DIAGRAM = "sk-estimator-doc-link"  # in the style sheet of every diagram

FRAME = """
import pandas as pd
from sklearn.datasets import load_wine
from consilience import Groupings
from consilience.simulation import simulate_experts

wine = load_wine(as_frame=True)
features = ((wine.data - wine.data.mean()) / wine.data.std()).set_axis([f"wine {i}" for i in range(178)])
frame = simulate_experts(pd.Series(wine.target.to_numpy(), index=features.index), random_state=0).to_frame()
frame.head()
"""
READ = "groupings = Groupings.from_frame(frame)\ngroupings"
SUMMARY = "groupings.summary()"
FIT = """
from consilience.semisupervised import PartitionLabelModel
model = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=3, n_jobs=2, verbose=True, random_state=0)
model.fit(features, groupings)
"""
PLOT = """
from consilience.inspection import plot_clusters, plot_mapping
ax = plot_clusters(model, features)
"""
PLOT_IN_A_FIGURE = """
import matplotlib.pyplot as plt
plt.figure(figsize=(7, 3))
plot_mapping(model)
plt.title("Who means what")
plt.show()
"""
COMPARE = """
from consilience.selection.comparison import compare
from consilience.consensus import CSPA, KCC
compare([CSPA(random_state=0), KCC(3, random_state=0)], groupings, n_folds=2, random_state=0, verbose=True)
"""
TELL = """
from consilience.active import ActiveSession
session = ActiveSession(groupings.items, random_state=0)
subset = session.ask(size=12)[0]
session.tell([subset.items[:6], subset.items[6:]], subset=subset)
"""
SUBSET = "subset"
TOUR = {
    "frame": FRAME,
    "read": READ,
    "summary": SUMMARY,
    "fit": FIT,
    "plot": PLOT,
    "plot in a figure": PLOT_IN_A_FIGURE,
    "compare": COMPARE,
    "tell": TELL,
    "subset": SUBSET,
}
WITHOUT_WIDGETS = "import sys\nsys.modules['ipywidgets'] = None  # as where they are not installed"


def blank(picture):
    """Whether there is no more than empty axes with ticks and a title: hardly any ink, and all of it grey."""
    return ink(picture) < 0.2 and colour(picture) < 0.001


def require_fit_to_be_seen(notebook):
    """No picture is blank, and no cell shows more than can be read."""
    assert pictures(notebook)
    assert not [number for number, picture in enumerate(pictures(notebook)) if blank(picture)]
    for found in outputs(notebook, "execute_result") + outputs(notebook, "display_data"):
        texts = {kind: text for kind, text in found.data.items() if kind.startswith("text/")}
        if DIAGRAM not in texts.get("text/html", ""):
            assert max(map(len, texts.values())) < LARGEST
    for found in outputs(notebook, "stream"):
        assert len(found.text) < LARGEST


def results(notebook):
    """What was left at the end of each cell, by the name of the cell."""
    code = [cell for cell in notebook.cells if not cell.source.startswith(WITHOUT_WIDGETS)]
    return {
        name: [found.data for found in cell.outputs if found.output_type in {"execute_result", "display_data"}]
        for name, cell in zip(TOUR, code, strict=True)
    }


def html_of(shown):
    return next(data["text/html"] for data in shown if "text/html" in data)


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_the_gallery_runs_as_notebooks(script):
    notebook = run(of_script(script))
    assert printed(notebook, "stderr") == ""
    assert len(pictures(notebook)) == script.read_text(encoding="utf-8").count("plt.show()")
    require_fit_to_be_seen(notebook)


@pytest.fixture(scope="module")
def tour():
    return run(of_cells(*TOUR.values()))


@pytest.mark.slow
def test_a_tour_shows_pictures_tables_and_nothing_else(tour):
    assert printed(tour, "stderr") == ""
    assert printed(tour, "stdout") == ""
    require_fit_to_be_seen(tour)
    assert len(pictures(tour)) == 2


@pytest.mark.parametrize(
    ("cell", "holds"),
    [
        ("read", "Groupings: 178 items"),
        ("summary", "items per annotator"),
        ("compare", "behind the first"),
        ("tell", "groupings"),
        ("subset", "Subset 1: 12 items"),
    ],
)
def test_results_are_tables(tour, cell, holds):
    html = html_of(results(tour)[cell])
    assert holds in html
    assert "<table" in html


def test_a_fitted_estimator_is_scikit_learns_diagram(tour):
    assert DIAGRAM in html_of(results(tour)["fit"])


@pytest.mark.parametrize(("cell", "holds"), [("fit", "3 restarts"), ("compare", "4 fits")])
def test_progress_is_a_widget(tour, cell, holds):
    bar = next(data for data in results(tour)[cell] if "application/vnd.jupyter.widget-view+json" in data)
    widgets = tour.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    box = widgets[bar["application/vnd.jupyter.widget-view+json"]["model_id"]]["state"]
    parts = [widgets[child.removeprefix("IPY_MODEL_")]["state"] for child in box["children"]]
    text = " ".join(part["value"] for part in parts if isinstance(part.get("value"), str))
    assert holds in text.replace("\u2007", " ")
    done = next(part for part in parts if "bar_style" in part)
    assert (done["value"], done["bar_style"]) == (done["max"], "success")


@pytest.mark.slow
def test_progress_is_text_where_there_are_no_widgets():
    notebook = run(of_cells(WITHOUT_WIDGETS, FRAME, READ, FIT, COMPARE.replace("verbose=True", "verbose=False")))
    shown = printed(notebook, "stderr")
    assert "3/3 restarts" in shown
    assert not re.sub(r"PartitionLabelModel: +\d+%\|[^|\r\n]*\| [^|\r\n]*\]", "", shown).strip()  # no warning
    assert len(shown) < 2_000


@pytest.mark.slow
def test_a_blank_picture_is_told_from_others():
    notebook = run(
        of_cells(
            "import matplotlib.pyplot as plt\nplt.figure()\nplt.title('Empty')\nplt.show()",
            "plt.figure(figsize=(3, 2))\nplt.plot([])\nplt.show()",
            "plt.plot([1, 2, 3])\nplt.show()",
            "plt.imshow([[0, 1], [1, 0]], cmap='gray')\nplt.show()",
        )
    )
    assert [blank(picture) for picture in pictures(notebook)] == [True, True, False, False]


def test_an_error_in_a_cell_is_not_passed_over():
    with pytest.raises(CellExecutionError, match="nothing here"):
        run(of_cells("raise ValueError('nothing here')"))


def test_notebooks_of_scripts_are_valid():
    for path in EXAMPLES:
        nbformat.validate(of_script(path))
