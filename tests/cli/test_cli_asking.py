"""consilience ask: which items to label next, by whom, the forecast, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience.active import LabelSession
from consilience.annotations import Labels
from consilience.simulation import simulate_labels


@pytest.fixture
def labels(tmp_path, monkeypatch):
    """labels.csv: 30 items, of which each has two labels by six annotators who are numbers; items.csv: two more."""
    monkeypatch.chdir(tmp_path)
    truth = np.random.default_rng(0).integers(2, size=30)
    frame = simulate_labels(truth, n_annotators=6, annotators_per_item=2, random_state=0).to_frame()
    frame["annotator"] = frame["annotator"].str.removeprefix("annotator ").astype(int)
    frame.to_csv("labels.csv", index=False)
    pd.DataFrame({"item": range(32), "text": "x"}).to_csv("items.csv", index=False)
    return Labels.from_frame(frame)


@pytest.mark.filterwarnings("ignore::consilience.errors.CalibrationWarning")
def test_questions_are_those_of_a_session(labels, run):
    result = run("ask", "labels.csv", "--n-labels", 4, "--whom", "1", "--whom", "2=3", "--out", "next.csv", "--json")
    session = LabelSession(labels.items, random_state=0).tell(labels)
    session.consensus()
    expected = session.ask(4, annotators={1: 1.0, 2: 3.0})
    table = pd.read_csv("next.csv")
    assert table["item"].tolist() == [each.item for each in expected]
    assert table["annotator"].tolist() == [each.annotator for each in expected]
    found = json.loads(result.stdout)
    assert [each["item"] for each in found["questions"]] == table["item"].tolist()
    assert found["forecast"]["labels"] is None or found["forecast"]["labels"] >= 60
    assert found["stop"] is False


def test_items_without_labels_come_first(labels, run):
    shown = run("ask", "labels.csv", "--all-items", "items.csv", "--n-labels", 2, "--random-share", 0).stdout
    head, *questions, blank, forecast, decision = shown.splitlines()
    assert head == "2 to be labelled next, with what a label is expected to do:"
    assert {line.split()[0] for line in questions} == {"30", "31"}
    assert blank == ""
    assert forecast.startswith("About ")
    assert decision == "2 items have no label yet."


def test_wrong_usage_is_said_in_a_sentence(labels, fails):
    pd.DataFrame({"item": range(9), "text": "x"}).to_csv("few.csv", index=False)
    lacks = "few.csv: --all-items needs all items, and lacks 9, which has labels."
    assert lacks in fails("ask", "labels.csv", "--all-items", "few.csv")
    assert "is not between 0 and 1" in fails("ask", "labels.csv", "--target", 2)
    sorts = pd.DataFrame({"ant": [1, 1], "bee": [2, 1], "cow": [2, 2]}, index=["x", "y"])
    sorts.to_csv("sorts.csv", index_label="person")
    assert "DawidSkene reads labels, and the file holds groupings" in fails("ask", "sorts.csv", "--kind", "groupings")
