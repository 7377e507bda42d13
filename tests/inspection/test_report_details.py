"""Figures, words and colours of a report on sorts that readers check against each other."""

import re

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis import panels
from consilience.analysis.cut_figures import BEST
from consilience.consensus import SubsetFusion
from consilience.inspection import annotator_agreement, certainty, report
from consilience.inspection.report.item_tables import SELDOM_STAYS
from consilience.inspection.report.tables import number
from tests.pages import Page, draw


@pytest.fixture(scope="module")
def sorts():
    """Twelve products in three groups, which twelve assessors see dimly; four of them put all into two groups."""
    rng = np.random.default_rng(3)
    truth = np.arange(12) % 3
    cells = [np.where(rng.random(12) < 0.4, rng.integers(2 + who % 3, size=12), truth) for who in range(12)]
    return Groupings.from_matrix(
        pd.DataFrame(np.column_stack(cells), index=[f"tea {i}" for i in range(12)]).astype(str)
    )


@pytest.fixture(scope="module")
def fitted(sorts):
    model = SubsetFusion(random_state=0).fit(sorts)
    return model, certainty(model, n_draws=40, random_state=0)


@pytest.fixture(scope="module")
def page(fitted):
    return Page(draw(fitted[0], certainty=fitted[1], words="teas,assessors"))


def block(page, key):
    return next(e for e in page.root.all("div") if e.attributes.get("id") == f"{key}-table")


def findings(page):
    return next(e for e in page.root.all("ul") if e.attributes.get("class") == "findings").text


@pytest.mark.slow
def test_every_share_below_the_limit_is_coloured(page):
    head = page.table("clusters")[0]
    places = [head.index("Teas that stay"), head.index("Found again")]
    rows = [
        [c for c in tr.children if hasattr(c, "tag")] for tr in next(block(page, "clusters").all("tbody")).all("tr")
    ]
    cells = [row[place] for row in rows for place in places]
    assert {cell.attributes["class"] for cell in cells} == {"number", "number high"}
    for cell in cells:
        is_low = float(cell.text.rstrip("%")) < 100 * SELDOM_STAYS
        assert ("high" in cell.attributes["class"].split()) == is_low


def test_no_number_is_minus_zero():
    assert [number(x) for x in (-0.001, 0.0, -0.006, -1234.5, np.nan)] == [
        "0.00",
        "0.00",
        "\u22120.01",
        "\u22121,234.50",
        "–",
    ]
    assert number(-0.4, 0) == "0"


@pytest.mark.slow
def test_the_best_cut_is_nothing_below_itself(page):
    head, *rows = page.table("cuts")
    below, how = head.index("Below the best"), head.index("How good")
    assert [row[below] for row in rows if row[how] == BEST] == ["0.000"]
    assert all(re.match(r"[\d.]+ ± ", row[below]) for row in rows[:-1] if row[how] != BEST)
    assert "that are nearly as good, and the best silhouette." in block(page, "cuts").text


def test_numbers_of_clusters_that_no_cut_leaves_are_named():
    """Three pairs of items that all put together, and nothing else: they meet at the same height."""
    cells = np.repeat(np.arange(3), 2)[:, None] + np.zeros((1, 6), int)
    page = Page(report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(cells)), certainty=None))
    listed = [int(row[0].split()[0]) for row in page.table("cuts")[1:] if "cut" in row[0]]
    assert 2 not in listed
    assert "No cut leaves 2, 4 and 5 clusters" in block(page, "cuts").text


def test_findings_have_the_interval_the_numbers_of_clusters_and_the_panel(page, fitted):
    found, text = fitted[1], findings(page)
    assert f"90% interval: {found.low:.0%} to " in page.section("certainty").text
    assert len(found.n_clusters) > 1
    k = found.n_clusters["share"].idxmax()
    assert (
        f"Of 40 draws of other people, {k} clusters come out in {found.n_clusters['share'].max():.0%} of them" in text
    )
    assert "the best explains no more of how they differ than chance (p " in text


def test_dimension_1_of_the_panel_is_not_told_twice(page):
    head = page.table("panel")[0]
    assert head[2].startswith("RV with the compromise = dimension 1 (")
    assert not any(name.startswith("Dimension 1") for name in head)
    frame = page.file("annotators-rv.csv")
    np.testing.assert_allclose(frame["rv_panel"], frame["dimension_1"], atol=1e-3)


def test_floors_of_p_values_are_stated(page):
    assert f"never below {1 / (1 + panels.N_SIMULATIONS):g}" in block(page, "segment-tests").text
    assert f"never below {1 / (1 + panels.N_SIMULATIONS):g}" in block(page, "axes").text
    assert "from 0.5% to 20% it is counted among 401 of them" in page.section("settings").text


def test_the_file_of_clusters_tells_the_model_from_other_people(page, fitted):
    model, found = fitted
    file = page.file("clusters.csv").set_index("item")
    assert not {"probability", "next_cluster", "next_probability"} & set(file)
    np.testing.assert_allclose(file["model_probability"], model.responsibilities_.max(1), atol=1e-4)
    for name in ("repeats", "stays", "elsewhere"):
        np.testing.assert_allclose(file[name], found.items[name].astype(float), atol=1e-4)
    assert "columns that begin with model_ are the probability that the model gives" in block(page, "clusters").text
    alone = Page(report(model, certainty=None)).file("clusters.csv")
    assert {"probability", "next_cluster", "next_probability"} <= set(alone)


def figure(page, key):
    return next(e for e in page.root.all("figure") if e.attributes.get("id") == f"{key}-figure")


@pytest.mark.parametrize("key", ["map", "map-1-3", "rv-map"])
def test_points_say_their_names_when_pointed_at(page, sorts, key):
    names = sorts.annotators if key == "rv-map" else sorts.items
    said = [title.text for use in figure(page, key).all("use") for title in use.all("title")]
    assert sorted(said) == sorted(map(str, names))


def test_points_have_the_names_that_stand_next_to_them(page):
    drawn = figure(page, "map")
    for use in drawn.all("use"):
        for title in use.all("title"):
            place = float(use.attributes["x"]), float(use.attributes["y"])
            text = next(text for text in drawn.all("text") if text.text == title.text)
            at = [float(text.attributes[name]) for name in ("x", "y")]
            assert abs(at[0] - place[0]) < 130  # at most a name away
            assert abs(at[1] - place[1]) < 65


def test_the_scale_of_agreement_says_that_less_than_chance_looks_like_chance(page, sorts):
    agreement = annotator_agreement(sorts).to_numpy()
    assert agreement.min() < 0
    drawn = figure(page, "agreement")
    assert "\u2264 0" in [text.text for text in drawn.all("text")]
    assert f"Values below 0, down to {number(agreement.min())}, have the colour of 0" in drawn.text
