"""Fitted models and findings in a notebook: the first screen of the report with its picture, and of bounded size."""

import re

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis import findings
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.inspection import certainty
from consilience.inspection.report import first_screen as module
from tests.pages import Page, drawn_figures

LARGEST = 300_000  # bytes


def crowd(n_items, n_classes=4, n_people=8):
    truth = np.arange(n_items) % n_classes
    rng = np.random.default_rng(0)
    cells = {f"p{who}": np.where(rng.random(n_items) < 0.1, 0, truth).astype(str) for who in range(n_people)}
    return Groupings.from_matrix(pd.DataFrame(cells, index=[f"<b>{place}</b>" for place in range(n_items)]))


def display(shown):
    with drawn_figures():
        bundle = getattr(shown, "_repr_mimebundle_", lambda: {"text/html": shown._repr_html_()})()
    page = bundle["text/html"]
    assert "<b>0</b>" not in page
    return page


@pytest.mark.parametrize(("n_items", "picture"), [(12, "dendrogram"), (100, "map"), (400, "")])
def test_a_fitted_model_shows_the_first_screen_and_stays_small(n_items, picture):
    page = display(SubsetFusion(n_clusters=4, random_state=0).fit(crowd(n_items)))
    assert f"4 clusters of {n_items} items by 8 annotators" in page
    assert len(re.findall('<svg [^>]*role="img"', page)) == bool(picture)
    assert f'id="{picture}-' in page or not picture
    assert len(page) < LARGEST + 50_000  # of scikit-learn's diagram
    assert "<script" not in page[: page.index("SubsetFusion found:")]


def test_findings_say_how_sure_they_are_and_draw_features():
    rng = np.random.default_rng(0)
    sorts = crowd(24)
    model = SubsetFusion(n_clusters=4, random_state=0).fit(sorts)
    features = pd.DataFrame(rng.normal(size=(24, 3)), index=sorts.items)
    page = display(findings(model, X=features, certainty=certainty(model, n_draws=4, random_state=0)))
    assert "simulated from these, would find" in page
    assert '"plane-' in page


def test_labels_and_models_without_their_annotations_have_no_picture():
    model = DawidSkene().fit([["a", "a"], ["b", "b"], ["a", "b"]])
    assert "DawidSkene found:" in display(model)
    assert 'role="img"' not in display(model)[: display(model).index("DawidSkene found:")]


def test_two_displays_share_no_ids():
    pages = [display(SubsetFusion(n_clusters=4, random_state=0).fit(crowd(n))) for n in (12, 16)]
    ids = [set(re.findall(r'id="(dendrogram-[^"]+)"', page)) for page in pages]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_it_is_valid_and_large_models_have_none(monkeypatch):
    model = SubsetFusion(n_clusters=4, random_state=0).fit(crowd(12))
    Page(module.first_screen_of(model))
    monkeypatch.setattr(module, "MOST_CELLS", 1)
    assert module.first_screen_of(model) == ""
    assert "cluster 0" in display(model)
