"""Given labels and pictures on the command line: files, columns, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import read_annotations
from consilience.consensus import DawidSkene
from consilience.inspection import label_quality
from tests.quick_cases import some_quick

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")
FIT = ("fit", "labels.csv", "--kind", "labels", "--out", "out", "--certainty-draws", "0")


@pytest.fixture
def study(tmp_path):
    """labels.csv (the last item without labels), given.csv with one wrong label, and pictures in a folder."""
    rows = [(f"item {i}", who, "cat" if i < 6 else "dog") for i in range(12) for who in ("Ann", "Bo", "Cy")]
    frame = pd.DataFrame([*rows, ("item 12", None, None)], columns=["item", "annotator", "label"])
    frame.to_csv(tmp_path / "labels.csv", index=False)
    given = pd.Series(["cat"] * 5 + ["dog"] * 8, index=[f"item {i}" for i in range(13)], name="label")
    given["item 3"] = None
    given["item 4"] = "cow"
    given["else"] = "dog"
    given.rename_axis("item").to_csv(tmp_path / "given.csv")
    (tmp_path / "photos").mkdir()
    for i in range(11):
        Image.new("RGB", (64, 64), (20 * i, 0, 0)).save(tmp_path / "photos" / f"item {i}.png")
    table = pd.DataFrame({"item": [f"item {i}" for i in range(13)], "size": np.arange(13) % 5})
    table["given"], table["photo"] = (
        given.iloc[:13].to_numpy(),
        [f"photos/item {i}.png" for i in range(11)] + [None] * 2,
    )
    table.to_csv(tmp_path / "items.csv", index=False)
    return tmp_path


def test_given_labels_of_a_file(study, run):
    result = run(*FIT, "--given-labels", "given.csv")
    labels = read_annotations(study / "labels.csv")
    given = pd.read_csv(study / "given.csv").set_index("item")["label"]
    found = label_quality(DawidSkene().fit(labels), labels, given)
    file = pd.read_csv(study / "out" / "given-labels.csv").set_index("item")
    assert file["state"].value_counts().to_dict() == {
        "checked": 10,
        "unknown label": 1,
        "no annotations": 1,
        "no given label": 1,
        "not among the items": 1,
    }
    assert file.index[:2].tolist() == ["item 4", "item 5"]
    shown = found.items["probability"].dropna()
    np.testing.assert_allclose(file.loc[shown.index, "probability"], shown, rtol=1e-9)
    summary = json.loads((study / "out" / "summary.json").read_text())
    assert summary["given_labels"]["n_checked"] == 10
    assert summary["given_labels"]["n_wrong"] == pytest.approx(found.n_wrong)
    assert summary["files"]["given-labels"] == "out/given-labels.csv"
    assert "of the 10 given labels" in result.stderr
    assert "Not checked: 1 item has a given label that is none of the model's classes" in result.stderr
    assert "Given labels that may be wrong" in (study / "out" / "report.html").read_text("utf-8")
    votes = pd.read_csv(study / "out" / "votes.csv").set_index("item")
    assert votes.loc["item 2", ["votes: cat", "votes: dog"]].tolist() == [3, 0]


def test_columns_of_the_features_are_no_features(study, run, quick_report):
    run(*FIT, "--features", "items.csv", "--given-labels", "given", "--pictures", "photo")
    ((_, _, X, _),) = quick_report
    assert X.columns.tolist() == ["size"]
    file = pd.read_csv(study / "out" / "given-labels.csv").set_index("item")
    assert file.loc["item 4", "state"] == "unknown label"


def test_a_fit_without_them_removes_their_file(study, run, quick_report):
    run(*FIT, "--given-labels", "given.csv")
    run(*FIT)
    assert not (study / "out" / "given-labels.csv").exists()


@pytest.mark.parametrize("source", some_quick(["table.csv", "photos"]))
def test_pictures_of_a_folder_or_a_table(study, run, source, request):
    reports = None if source == "photos" else request.getfixturevalue("quick_report")
    table = pd.read_csv(study / "items.csv")[["item", "photo"]]
    table.to_csv(study / "table.csv", index=False)
    result = run(*FIT, "--pictures", source)
    assert "Note: Pictures: 2 items without a picture: item 11 and item 12." in result.stderr
    run("report", "out/model.zip", "labels.csv", "--pictures", source, "--certainty-draws", "0", "--out", "new.html")
    for page in ("out/report.html", "new.html") if reports is None else ():
        assert (study / page).read_text("utf-8").count("data:image/webp") == 11
    for reported in () if reports is None else reports.keywords:
        assert reported["pictures"].without == ["item 11", "item 12"]


def test_pictures_of_cards(study, run, quick_report):
    sorts = [(f"item {i}", who, "a" if i < 6 else "b") for i in range(12) for who in ("Ann", "Bo", "Cy")]
    pd.DataFrame(sorts, columns=["item", "annotator", "group"]).to_csv(study / "sorts.csv", index=False)
    result = run("fuse", "sorts.csv", "--pictures", "photos", "--out", "sorted")
    assert "1 item without a picture: item 11." in result.stderr


def test_what_cannot_be_used(study, fails):
    assert fails(*FIT, "--given-labels", "none.csv") == (
        "--given-labels: There is no file 'none.csv'; if it is a column, --features names its table."
    )
    assert fails(*FIT, "--features", "items.csv", "--pictures", "fotos") == (
        "--pictures: 'fotos' is neither a file nor a column of items.csv. Did you mean 'photo'?"
    )
    table = pd.read_csv(study / "items.csv")
    table.loc[2, "photo"] = "../secret.png"
    table.to_csv(study / "items.csv", index=False)
    assert fails(*FIT, "--features", "items.csv", "--pictures", "photo", "--given-labels", "given") == (
        "The picture of the item 'item 2', '../secret.png', is not in the folder '.'."
    )
    pd.DataFrame({"item": ["x"], "label": ["cat"]}).to_csv(study / "other.csv", index=False)
    assert fails(*FIT, "--given-labels", "other.csv").startswith("other.csv: None of the 13 items")
    pd.DataFrame({"item": ["item 1"] * 2, "label": ["cat", "dog"]}).to_csv(study / "twice.csv", index=False)
    assert "twice.csv" in fails(*FIT, "--given-labels", "twice.csv")
    pd.DataFrame({"item": ["item 1"], "one": ["cat"], "two": ["dog"]}).to_csv(study / "wide.csv", index=False)
    assert fails(*FIT, "--given-labels", "wide.csv") == (
        "wide.csv: One column, that of --given-labels, must be called 'label'. Found item, one, two."
    )


def test_given_labels_need_labels(study, fails):
    sorts = [(f"item {i}", who, "a" if i < 6 else "b") for i in range(12) for who in ("Ann", "Bo", "Cy")]
    pd.DataFrame(sorts, columns=["item", "annotator", "group"]).to_csv(study / "sorts.csv", index=False)
    assert "--given-labels needs labels" in fails("fit", "sorts.csv", "--given-labels", "given.csv")
