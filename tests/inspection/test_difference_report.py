"""The report on two studies, and its plots: the answer, escaping, text alternatives, and what may be lacking."""

import base64
import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.errors import InputError
from consilience.inspection import difference_report, plot_difference, plot_flow, study_difference
from tests.analysis.test_study_difference import study
from tests.pages import Page, drawn_figures

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def changed():
    rng = np.random.default_rng(5)
    first, second = study(rng, 20), study(rng, 20, moved=[4], prefix="q")
    return study_difference(first, second, names=("before", "after"), n_permutations=199, n_draws=5, random_state=0)


@pytest.fixture(scope="module")
def unchanged():
    rng = np.random.default_rng(6)
    first, second = study(rng, 6), study(rng, 7, n_items=10, prefix="q")
    return study_difference(first, second, n_permutations=199, n_draws=0, random_state=0)


@pytest.fixture(scope="module")
def source(changed):
    return difference_report(changed)


def findings(page):
    listed = next(each for each in page.root.all("ul") if each.attributes.get("class") == "findings")
    return [item.text for item in listed.all("li")]


def test_the_answer_comes_first(changed):
    page = Page(difference_report(changed, words="cards,participants"))
    answer, moved, rest, *_ = findings(page)
    assert answer.startswith("before and after differ more than two random groups of these participants would (p =")
    assert moved == "1 card moved, the clearest first: card 4."
    assert rest.startswith("The other 11 cards are sorted alike, as far as these participants can tell")
    assert "annotator" not in page.root.text


def test_without_a_difference_the_page_says_what_would_have_been_found(unchanged):
    page = Page(difference_report(unchanged))
    answer, power, *_ = findings(page)
    assert answer.startswith("No difference between first and second was found")
    assert "6 and 7 annotators would have found a difference in at least 80%" in power
    assert "2 items only in first; not compared." in findings(page)
    assert "none of these moves is certain" in page.root.text
    assert "card 10, card 11" in page.root.text


def test_tables_hold_what_the_figures_show(changed, source):
    page = Page(source)
    drawings = [each for each in page.root.all("svg") if each.attributes.get("role") == "img"]
    assert len(drawings) == 2
    assert all("table" in drawing.attributes["aria-label"] for drawing in drawings)
    address = next(each for each in page.root.all("a") if each.attributes.get("download") == "pairs.csv")
    content = base64.b64decode(address.attributes["href"].partition("base64,")[2])
    table = pd.read_csv(io.BytesIO(content))
    assert len(table) == 66
    assert table["difference"].to_numpy() == pytest.approx(changed.pairs["difference"].round(4).to_numpy())


def test_names_are_escaped_and_formulas_disarmed():
    rng = np.random.default_rng(7)
    plain = [study(rng, 5), study(rng, 5, prefix="q")]
    names = [NASTY, "=1+1", *(f"card {i}" for i in range(2, 12))]
    frames = [each.to_matrix().set_axis(names, axis=0) for each in plain]
    found = study_difference(
        *map(Groupings.from_matrix, frames), names=(NASTY, "$x$"), n_permutations=99, n_draws=0, random_state=0
    )
    with drawn_figures():
        source = difference_report(found, title=NASTY)
    assert NASTY not in source
    assert len(re.findall("<script", source)) == 1
    address = next(each for each in Page(source).root.all("a") if each.attributes.get("download") == "items.csv")
    content = base64.b64decode(address.attributes["href"].partition("base64,")[2]).decode()
    assert '"\'=1+1"' in content


def test_the_page_allows_nothing_but_its_own_style_and_script(source):
    policy = re.search('Content-Security-Policy" content="([^"]*)"', source)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert not re.search(r'(src|href)="(?!#|data:)', source)


def test_a_page_is_written_to_a_path(changed, source, tmp_path):
    path = difference_report(changed, path=tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == source


def test_the_matrix_has_the_changes_in_its_cells(changed):
    plt.close("all")
    ax = plot_difference(changed)
    drawn = ax.images[0].get_array()
    names = [text.get_text() for text in ax.get_yticklabels()]
    expected = changed.matrix().loc[names, names].to_numpy()
    np.testing.assert_allclose(np.ma.filled(drawn, np.nan), expected)
    low, high = ax.images[0].get_clim()
    assert low == -high


def test_bands_are_as_wide_as_the_items_that_they_carry(changed):
    plt.close("all")
    ax = plot_flow(changed)
    bands = [patch for patch in ax.patches if type(patch).__name__ == "PathPatch"]
    widths = [np.ptp(band.get_path().vertices[[0, -2], 1]) for band in bands]
    counts = changed.flow.to_numpy()
    assert sorted(widths) == pytest.approx(sorted(counts[counts > 0]))
    edged = [band for band in bands if band.get_edgecolor()[3] > 0]
    rows, columns = np.nonzero(counts)
    assert len(edged) == (changed.flow.index[rows] != changed.flow.columns[columns]).sum()


def test_a_sample_is_drawn_of_many_items(changed):
    plt.close("all")
    ax = plot_difference(changed, max_items=5)
    assert len(ax.get_yticklabels()) == 5


@pytest.mark.parametrize("function", [plot_difference, plot_flow, difference_report])
def test_anything_else_than_a_difference_is_refused(function):
    with pytest.raises(InputError, match=r"must be a StudyDifference. Got DataFrame instead"):
        function(pd.DataFrame())
