"""Reports of every kind of study on screens of three widths: nothing is cut, and nothing lies over something else."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, Pairs
from consilience.consensus import CorrelationClustering, DawidSkene, SubsetFusion
from consilience.inspection import report
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd
from tests.inspection.test_browser import BOXES
from tests.pages import drawn_figures

WIDTHS = (1440, 1024, 390)
A4 = 703  # CSS pixels between margins of 12 mm
KINDS = ["open sort", "closed sort", "free sort", "labels with gold", "pairs", "features", "statements"]
LONG = "A statement of the kind that people write on cards when they are asked what would make this a better place"


def troubles(page):
    """Return what is cut, overlaps or reaches out of the page; everything that is folded is opened before."""
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(BOXES)


def crowd(n_items, n_classes, items=None, n_annotators=12):
    truth = np.arange(n_items) % n_classes
    return simulate_crowd(
        truth, n_annotators=n_annotators, items_each=n_items, accuracy=0.85, items=items, random_state=0
    )


def labels(n_items, n_annotators=12):
    rng = np.random.default_rng(0)
    names = np.array(["Orders", "Returns and refunds", "Account", "The company and its stores"])
    cells = np.where(rng.random((n_items, n_annotators)) < 0.8, np.arange(n_items)[:, None] % 4, rng.integers(4))
    people = [f"P{place}" for place in range(n_annotators)]
    return Labels.from_matrix(names[cells], items=[f"Card on {place}" for place in range(n_items)], annotators=people)


def study(kind):
    """Return the arguments of a report."""
    rng = np.random.default_rng(0)
    if kind == "open sort":
        sorts = crowd(48, 13, [f"Returns and more {place}" for place in range(48)])
        return (SubsetFusion(n_clusters=13, random_state=0).fit(sorts),), {"words": "cards,participants"}
    if kind == "closed sort":
        sorts = labels(20)
        return (DawidSkene().fit(sorts), sorts), {"words": "cards,participants"}
    if kind == "free sort":
        cells = np.where(rng.random((12, 16)) < 0.2, rng.integers(3, size=(12, 16)), np.arange(12)[:, None] % 3)
        words = np.array(["fruity; fresh", "harsh", "sweet, soft"])[cells]
        sorts = Groupings.from_matrix(pd.DataFrame(words, index=[f"wine {place}" for place in range(12)]))
        return (SubsetFusion(random_state=0).fit(sorts),), {"words": "wines,assessors"}
    if kind == "labels with gold":
        given = labels(60)
        gold = pd.Series(["Orders"] * 20, index=given.items[:20])
        return (DawidSkene().fit(given), given), {"given_labels": gold}
    if kind == "pairs":
        first, second = np.triu_indices(24, 1)
        names = [f"photo {place}" for place in range(24)]
        rows = [(names[a], names[b], f"judge {who}", a % 4 == b % 4) for a, b in zip(first, second) for who in "ab"]
        pairs = Pairs.from_frame(pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"]))
        return (CorrelationClustering(random_state=0).fit(pairs), pairs), {}
    if kind == "features":
        X = pd.DataFrame(
            rng.normal(size=(90, 3)) + 4 * np.eye(3)[np.arange(90) % 3], columns=["length", "width", "age"]
        )
        sorts = crowd(90, 3, X.index)
        return (PartitionLabelModel(n_init=1, prior_variance=3.0, random_state=0).fit(X, sorts), sorts, X), {}
    sorts = crowd(60, 15, [f"{LONG}, the {place}th of them" for place in range(60)], 8)
    rows = [(item, who, *rng.integers(1, 6, 2)) for item in sorts.items for who in range(9)]
    scales = ["how important it is for the whole of the district", "how easily it can be done within a single year"]
    ratings = pd.DataFrame(rows, columns=["item", "annotator", *scales])
    model = SubsetFusion(n_clusters=15, random_state=0).fit(sorts)
    return (model,), {"words": "statements,participants", "ratings": ratings}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_or_overlaps(kind, browser, tmp_path):
    given, options = study(kind)
    with drawn_figures():
        path = report(*given, **options, path=tmp_path / "report.html")
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        assert troubles(page) == [], width
        page.close()


@pytest.mark.slow
def test_a_table_of_many_names_fits_on_paper(browser, tmp_path):
    topics = (
        "orders returns payment delivery account shops company press jobs gifts sizes colours brands offers news help"
    )
    names = np.array([f"Everything about {topic}" for topic in topics.split()])
    rows = [(f"card {place}", f"P{person}", names[place % 16]) for place in range(48) for person in range(6)]
    sorts = Groupings.from_frame(pd.DataFrame(rows, columns=["card", "participant", "group"]))
    with drawn_figures():
        model = SubsetFusion(n_clusters=16, random_state=0).fit(sorts)
        path = report(model, certainty=None, path=tmp_path / "report.html")
    page = browser.new_page(viewport={"width": A4, "height": 900})
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.locator("#placements-table thead .count").count() > 8
    assert page.locator("#placements-table table").evaluate("(table) => table.scrollWidth") <= A4
    page.close()


def test_faults_are_seen(browser):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_content(
        '<style>body { margin: 0 } p { margin: 0 }</style><main><p style="height: 40px">one</p>'
        '<p style="margin-top: -30px">two</p><p style="white-space: nowrap; overflow: hidden">' + LONG + "</p>"
        '<figure id="map"><svg width="90" height="40"><text x="70" y="20">outside</text>'
        '<text x="20" y="30">one</text><text x="22" y="31">other</text></svg></figure></main>'
    )
    found = troubles(page)
    assert any('"one" in # overlaps p "two"' in text for text in found)
    assert any(text.startswith("cut: p") for text in found)
    assert any('out of its figure: text "outside" in #map' in text for text in found)
    assert any('text "one" in #map over text "other"' in text for text in found)
    page.close()
