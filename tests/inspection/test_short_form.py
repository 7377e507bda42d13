"""The short form of a report: the answer and nothing else, on at most two pages."""

import re

import numpy as np
import pandas as pd
import pytest

from consilience.consensus import SubsetFusion
from consilience.inspection import certainty, report
from consilience.simulation import simulate_crowd
from tests.pages import draw


@pytest.fixture(scope="module")
def study():
    """An ordinary card sort: 48 cards of twelve kinds by 15 people, and its fit."""
    names = [f"What to know of kind {kind}, {part}" for kind in range(12) for part in "abcd"]
    sorts = simulate_crowd(
        [k // 4 for k in range(48)], n_annotators=15, items_each=48, accuracy=0.9, items=names, random_state=0
    )
    return SubsetFusion(n_clusters=12, random_state=0).fit(sorts)


def n_pages(pdf):
    """Count the pages of a PDF."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_it_has_the_answer_the_lists_a_picture_and_who_took_part(study, read):
    page = read(report(study, short=True, certainty=None, words="cards,participants"))
    assert [section.attributes["id"] for section in page.root.all("section")] == ["clusters"]
    assert [figure.attributes["id"] for figure in page.root.all("figure")] == ["dendrogram-figure"]
    assert len([each for each in page.root.all("div") if each.attributes.get("class") == "listed"]) == 12
    assert "15 participants took part, who sorted 48 cards each" in page.root.text
    assert not list(page.root.all("table"))
    assert not list(page.root.all("script"))


def test_classes_have_the_plane_and_are_labelled_by_people(named, read):
    page = read(report(*named, short=True, certainty=None))
    assert [figure.attributes["id"] for figure in page.root.all("figure")] == ["plane-figure"]
    assert "6 annotators took part, who labelled " in page.root.text


def test_it_takes_at_most_two_pages(study, browser, tmp_path):
    page = browser.new_page()
    page.goto(draw(study, short=True, certainty=None, path=tmp_path / "report.html").as_uri())
    assert 1 <= n_pages(page.pdf(format="A4")) <= 2
    assert page.locator("#dendrogram-figure svg").first.is_visible()
    page.close()


@pytest.mark.parametrize("short", [True, False])
def test_with_ratings_it_has_the_map_the_means_and_the_pattern_match(study, browser, tmp_path, short):
    rng = np.random.default_rng(0)
    ratings = pd.DataFrame(rng.normal(3, 1, (48, 2)).round(1), study.items_, ["importance", "feasibility"])
    page = browser.new_page()
    found = certainty(study, n_draws=20, random_state=0)
    path = draw(study, short=short, certainty=found, ratings=ratings, path=tmp_path / "report.html")
    page.goto(path.as_uri())
    if not short:
        page.evaluate("document.body.classList.add('short-printed')")
    page.emulate_media(media="print")
    for shown in ("#map-figure", "#ratings-table", "#pattern-figure"):
        assert page.locator(f"{shown}.picture").is_visible()
    for hidden in ("#dendrogram-figure", "#go-zone-figure", ".file"):
        assert not page.locator(hidden).filter(visible=True).count()
    assert page.evaluate("getComputedStyle(document.querySelector('main')).zoom") == "0.75"  # of many clusters
    assert 1 <= n_pages(page.pdf(format="A4")) <= 2
    page.close()
