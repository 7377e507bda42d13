"""The section on the compromise of a panel: for readers of sensory science, and where places on sheets are given."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels
from consilience.analysis.compromise import panel_tables
from consilience.analysis.compromise_chance import panel_agreement
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.consensus import MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import compromise_map, plot_compromise, report

WINES = ["a", "b", "c", "d", "e", "<b>f</b>"]


@pytest.fixture(scope="module")
def sorts():
    cells = np.array([[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 0], [0, 0, 1, 1, 2, 2]]).T.astype(object)
    cells[0, 2] = None  # the third assessor left a wine out
    return Groupings.from_matrix(cells, items=WINES, annotators=["J1", "J2", "J3", "J4"])


@pytest.fixture(scope="module")
def model(sorts):
    return SubsetFusion(n_clusters=3, random_state=0).fit(sorts)


def as_on_the_page(found, sorts):
    """The compromise, running as the map of the items does."""
    together = CoOccurrence.of(sorts, None, "the test")
    points = together.map(together.places, 3).points
    assert (np.abs(points).max(0) > 0).all()
    return found.run_like(pd.DataFrame(points, sorts.items))


def test_assessors_get_the_compromise_with_their_partial_scores(model, sorts, read):
    page = read(report(model, certainty=None, words="wines,assessors"))
    found = as_on_the_page(compromise_map(sorts), sorts)
    head, *rows = page.table("compromise")
    assert head[0] == "Wine"
    assert head[-1] == "Spread of the assessors"
    assert [row[0] for row in rows] == WINES
    partial = page.file("partial-scores.csv")
    assert partial[["item", "annotator"]].to_numpy().tolist() == [list(pair) for pair in found.partial.index]
    np.testing.assert_allclose(partial["dimension_1"], found.partial["dimension_1"], atol=1e-4)
    np.testing.assert_allclose(page.file("compromise.csv")["dimension_2"], found.scores["dimension_2"], atol=1e-4)
    assert "left out some wines: J3" in page.root.text


def test_annotators_have_their_weight_in_distatis_beside_how_far_they_follow_the_clusters(model, sorts, read):
    page = read(report(model, certainty=None, words="wines,assessors"))
    head, *rows = page.table("annotators")
    place = head.index("Weight in DISTATIS")
    assert head[place - 1] == "Follows the clusters"
    assert "Weight" not in head
    weights = compromise_map(sorts).weights
    assert {row[0]: row[place] for row in rows} == {"J3": "–"} | {who: f"{weights[who]:.1%}" for who in weights.index}


def test_others_do_not(model, read):
    assert 'id="compromise"' not in read(report(model, certainty=None, words="cards,participants")).source


def test_sheets_bring_it_to_everybody(model, sorts, read):
    rng = np.random.default_rng(0)
    sheets = pd.DataFrame([(item, who, *rng.random(2)) for who in sorts.annotators for item in WINES])
    sheets.columns = ["item", "annotator", "x", "y"]
    page = read(report(model, certainty=None, words="cards,participants", napping=sheets))
    found = as_on_the_page(compromise_map(sorts, sheets), sorts)
    weights = page.file("compromise-weights.csv").set_index("annotator")
    np.testing.assert_allclose(weights["weight"], found.weights[weights.index], atol=1e-4)
    np.testing.assert_allclose(weights["rv"], found.rv[weights.index], atol=1e-4)
    (head,) = (each.text for each in page.root.all("ul") if each.attributes.get("class") == "cautions")
    assert "certainty and tests are of the groups only" in head
    alike = panel_agreement(panel_tables(sorts, sheets))
    np.testing.assert_allclose(weights["rv_own"], alike.own[weights.index], atol=1e-4)
    assert f"is {alike.own.mean():.2f} on average, and least for {alike.own.idxmin()}" in page.root.text
    assert f"with the compromise of the groups alone is {alike.compromises:.2f}" in page.root.text
    by_chance = alike.mean_rv.loc["both", "by_chance"]
    assert f"{found.mean_rv:.2f} for both together (by chance {by_chance:.2f})" in page.root.text
    assert "Compared with tables in which the cards change places at random, none of its dimensions" in page.root.text
    of_each = page.file("annotators.csv").set_index("annotator")["distatis_weight"]
    np.testing.assert_allclose(of_each[found.weights.index], found.weights, atol=1e-4)
    assert "3 tables are weighted" in page.root.text
    assert ["Sheets", "4, of 24 places"] in page.table("given")
    np.testing.assert_allclose(page.file("compromise.csv")["dimension_1"], found.scores["dimension_1"], atol=1e-4)


def test_the_spread_is_in_the_plane_that_is_shown(model, sorts, read):
    found = compromise_map(sorts)
    around = (found.partial - found.scores.reindex(found.partial.index, level="item")).iloc[:, :2]
    square = (around**2).sum(axis=1).mul(found.weights, level="annotator").groupby(level="item").sum()
    page = read(report(model, certainty=None, words="wines,assessors"))
    assert [row[-1] for row in page.table("compromise")[1:]] == [f"{each:.2f}" for each in np.sqrt(square[WINES])]


def test_weights_are_said_to_be_of_the_groups_alone_where_there_are_sheets(sorts, read):
    rng = np.random.default_rng(0)
    whole = Groupings.from_matrix(rng.integers(3, size=(6, 8)), items=WINES)
    sheets = pd.DataFrame([(item, who, *rng.random(2)) for who in whole.annotators for item in WINES])
    sheets.columns = ["item", "annotator", "x", "y"]
    model = SubsetFusion(n_clusters=3, random_state=0).fit(whole)
    page = read(report(model, certainty=None, napping=sheets))
    assert "Of the groups alone, the mean RV coefficient of two annotators is" in page.root.text
    assert "Weights of sheets and groups together are in “The compromise of the panel”" in page.root.text
    without = report(model, certainty=None, words="wines,assessors")
    assert "the groups alone" not in without
    assert 'id="compromise-weights-table"' not in without


def test_sheets_need_groupings(sorts):
    labels = sorts.to_frame().dropna().rename(columns={"group": "label"})
    given = Labels.from_frame(labels[["item", "annotator", "label"]])
    with pytest.raises(InputError, match="go with groupings"):
        report(MajorityVote().fit(given), given, napping=pd.DataFrame(columns=["item", "annotator", "x", "y"]))


def test_the_plot_has_a_line_to_each_partial_score(model, sorts):
    found = compromise_map(sorts)
    ax = plot_compromise(found, model)
    assert sum(len(lines.get_segments()) for lines in ax.collections) == len(found.partial)
    ends = np.vstack([segment[1] for lines in ax.collections for segment in lines.get_segments()])
    np.testing.assert_allclose(ends, found.partial.to_numpy()[:, :2])
    assert not plot_compromise(found, partial=False).collections
    with pytest.raises(InputError, match="has 3 dimensions"):
        plot_compromise(found, axes=(1, 4))
    with pytest.raises(InputError, match="other items"):
        plot_compromise(found, SubsetFusion(n_clusters=2, random_state=0).fit([[0, 0], [0, 1], [1, 1]]))


def test_all_dimensions_that_count_are_counted_shown_and_put_into_words(read):
    """Five kinds of three products are in four dimensions."""
    rng = np.random.default_rng(0)
    shape = (15, 20)
    cells = np.where(rng.random(shape) < 0.85, np.arange(15)[:, None] // 3, rng.integers(5, size=shape))
    whole = Groupings.from_matrix(cells, items=[f"{kind}{n}" for kind in "abcde" for n in range(3)])
    model = SubsetFusion(n_clusters=5, random_state=0).fit(whole)
    page = read(report(model, certainty=None, words="wines,assessors"))
    text = page.section("compromise").text
    assert "the first 4 dimensions show more than chance; what later ones show may be chance." in text
    assert "The map draws dimensions 1 and 2; the table has 4." in text
    assert [head.split(" (")[0] for head in page.table("compromise")[0][2:6]] == [f"Dimension {n}" for n in range(1, 5)]
    assert "dimension_4" in page.file("compromise.csv")
    share = compromise_map(whole).shares.iloc[0]
    of_agreement = panel_tables(whole).weighed.places(1)[1][0]
    assert f"quote {share:.0%} of the compromise, for the wines, and {of_agreement:.0%} of the RV coefficients" in text
    ends = [each for each in text.split(". ") if each.startswith("Dimension ") and " against " in each]
    assert len(ends) == 4
    assert page.root.text.count("Axis 4: ") >= 1
    scores = page.file("compromise.csv").set_index("item")["dimension_1"]
    low, high = ends[0].removeprefix("Dimension 1: ").split(" against ")
    assert scores.idxmin() in low
    assert scores.idxmax() in high
