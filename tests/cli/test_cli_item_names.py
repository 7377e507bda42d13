"""Texts of numbered items: in all results and commands, beside features, gold and pictures that go by ids."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import load, read_annotations
from tests.quick_cases import some_quick

TEXTS = ["Gift cards", "Vouchers", "Returns", "Refunds", "Opening hours", "Contact", "Careers"]
FAST = ("--out", "out", "--certainty-draws", "0")
PILES = {"Ann": "aabbccc", "Bo": "xxyyzzz", "Cy": "ppqqrrr", "Di": "aabbbcc"}


@pytest.fixture
def study(tmp_path):
    """sorts.csv and labels.csv of the cards 11 to 17, and cards.csv with their texts."""
    rows = [(11 + i, who, piles[i]) for who, piles in PILES.items() for i in range(7)]
    pd.DataFrame(rows, columns=["card", "participant", "pile"]).to_csv(tmp_path / "sorts.csv", index=False)
    labels = [(11 + i, who, "ab"[i > 3]) for who in PILES for i in range(7)]
    pd.DataFrame(labels, columns=["item", "annotator", "label"]).to_csv(tmp_path / "labels.csv", index=False)
    write_texts(tmp_path)
    return tmp_path


def write_texts(folder, ids=range(11, 18), texts=TEXTS, **more):
    pd.DataFrame({"id": list(ids), "text": list(texts), **more}).to_csv(folder / "cards.csv", index=False)


def test_every_result_of_a_fit_has_the_texts_and_the_ids_beside_them(study, run):
    result = run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST)
    assert "Items whose text is known from cards.csv: 7 of 7." in result.stderr
    clusters = pd.read_csv(study / "out" / "clusters.csv")
    assert clusters["item"].tolist() == TEXTS
    assert clusters["id"].tolist() == list(range(11, 18))
    page = (study / "out" / "report.html").read_text("utf-8")
    assert all(text in page for text in TEXTS)
    assert load(study / "out" / "model.zip").items_.tolist() == TEXTS


def test_figures_are_those_of_the_numbered_items(study, run, quick_report):
    plain = json.loads(run("fit", "sorts.csv", "--json", *FAST).stdout)
    numbered = pd.read_csv(study / "out" / "clusters.csv")
    named = json.loads(run("fit", "sorts.csv", "--json", "--item-names", "cards.csv", *FAST).stdout)
    assert plain["n_clusters"] == named["n_clusters"]
    table = pd.read_csv(study / "out" / "clusters.csv").drop(columns="item").rename(columns={"id": "item"})
    pd.testing.assert_frame_equal(table, numbered)


@pytest.mark.slow
def test_features_scores_and_known_classes_go_by_ids(study, run, quick_report):
    values = pd.DataFrame({"item": range(11, 18), "x": np.arange(7) ** 2.0, "y": [3.0, 1, 2, 5, 4, 7, 6]})
    values.to_csv(study / "values.csv", index=False)
    pd.DataFrame({"item": [11, 17], "label": ["a", "b"]}).to_csv(study / "gold.csv", index=False)
    run("fit", "sorts.csv", "--features", "values.csv", "--scores", "values.csv", "--item-names", "cards.csv", *FAST)
    run("fit", "labels.csv", "--gold", "gold.csv", "--features", "values.csv", "--item-names", "cards.csv", *FAST)
    assert len(quick_report) == 2
    for _, annotations, table, _ in quick_report:
        assert annotations.items.tolist() == TEXTS
        assert table.index.tolist() == TEXTS
        assert table["x"].tolist() == [0, 1, 4, 9, 16, 25, 36]
    labels = pd.read_csv(study / "out" / "labels.csv")
    assert labels[["item", "id", "label"]].iloc[0].tolist() == ["Gift cards", 11, "a"]


@pytest.mark.parametrize("fitted_with_texts", some_quick([True, False]))
def test_a_report_written_again_has_the_texts(study, run, fitted_with_texts):
    run("fit", "sorts.csv", *(("--item-names", "cards.csv") if fitted_with_texts else ()), *FAST)
    run("report", "out/model.zip", "sorts.csv", "--item-names", "cards.csv", "--certainty-draws", "0")
    page = (study / "report.html").read_text("utf-8")
    assert all(text in page for text in TEXTS)


@pytest.mark.slow
def test_a_report_says_that_the_texts_of_the_fit_are_missing(study, run):
    run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST)
    result = run("report", "out/model.zip", "sorts.csv", code=2)
    assert "or --item-names of the fit is missing" in result.stderr


@pytest.mark.slow
def test_predictions_conversions_and_differences_have_the_texts(study, run):
    run("fit", "labels.csv", *FAST)
    run("predict", "out/model.zip", "labels.csv", "--item-names", "cards.csv", "-o", "classes.csv")
    classes = pd.read_csv(study / "classes.csv")
    assert classes[["item", "id"]].to_numpy().tolist() == [[text, 11 + i] for i, text in enumerate(TEXTS)]
    run("convert", "sorts.csv", "long.csv", "--item-names", "cards.csv")
    assert read_annotations(study / "long.csv").items.tolist() == TEXTS
    run(
        "difference",
        "sorts.csv",
        "labels.csv",
        "--item-names",
        "cards.csv",
        "--certainty-draws",
        "0",
        "--permutations",
        "99",
    )
    assert set(pd.read_csv(study / "consilience-difference" / "items.csv")["item"]) == set(TEXTS)


@pytest.mark.slow
def test_pictures_of_the_table(study, run):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    Image.new("RGB", (64, 64), (200, 0, 0)).save(study / "red.png")
    write_texts(study, picture=["red.png", *[None] * 6])
    result = run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST)
    assert "Pictures: 6 cards without a picture" in result.stderr or "6 items without a picture" in result.stderr
    assert "data:image/webp" in (study / "out" / "report.html").read_text("utf-8")


def test_items_without_a_text_and_texts_of_other_items_are_told(study, run, quick_report):
    write_texts(study, ids=[*range(11, 16), 16, 40], texts=[*TEXTS[:5], None, "Nothing"])
    result = run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST)
    assert "text is known from cards.csv: 5 of 7." in result.stderr
    assert "16 has no text in cards.csv, nor have 1 more." in result.stderr
    assert "about other items, left out: 1." in result.stderr
    assert pd.read_csv(study / "out" / "clusters.csv")["item"].tolist() == [*TEXTS[:5], "16", "17"]


def test_a_text_of_several_items_has_the_id_behind_it(study, run, quick_report):
    write_texts(study, texts=["Other", "Other", "13 ", "12", *TEXTS[4:]], ids=[11, 12, 14, 13, 15, 16, 17])
    result = run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST)
    assert "share their text with another; their ids follow it, as in 'Other (11)'" in result.stderr
    items = pd.read_csv(study / "out" / "clusters.csv", dtype=str)["item"].tolist()
    assert items == ["Other (11)", "Other (12)", "12", "13", *TEXTS[4:]]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"id": [1, 2], "text": ["a", "b"]},
            "None of its 2 ids (such as 1) is an item of the annotations (such as 11).",
        ),
        ({"id": [11, 11], "text": ["a", "b"]}, "11"),
        ({"id": [11, 12], "one": ["a", "b"], "two": ["c", "d"]}, "texts of the items must be called 'text'. Found id,"),
    ],
)
def test_tables_that_name_no_items_are_refused(study, run, table, sentence):
    pd.DataFrame(table).to_csv(study / "cards.csv", index=False)
    result = run("fit", "sorts.csv", "--item-names", "cards.csv", *FAST, code=2)
    assert "cards.csv: " in result.stderr
    assert sentence in result.stderr
    assert not (study / "out").exists()


def test_the_table_is_never_overwritten(study, run):
    (study / "out").mkdir()
    (study / "cards.csv").rename(study / "out" / "clusters.csv")
    result = run("fit", "sorts.csv", "--item-names", "out/clusters.csv", *FAST, code=2)
    assert "clusters.csv" in result.stderr
    assert pd.read_csv(study / "out" / "clusters.csv")["text"].tolist() == TEXTS


def test_a_missing_table_is_told(study, run):
    assert "nothing.csv" in run("fit", "sorts.csv", "--item-names", "nothing.csv", *FAST, code=2).stderr
