"""``consilience difference``: what two studies of the same items differ in."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import write_annotations
from tests.analysis.test_study_difference import study

FILES = {"report.html", "items.csv", "pairs.csv", "flow.csv", "agreement.csv", "power.csv", "summary.json"}
QUICK = ("--permutations", 99, "--certainty-draws", 0)


@pytest.fixture
def studies(tmp_path):
    rng = np.random.default_rng(5)
    write_annotations(study(rng, 12), tmp_path / "before.csv")
    write_annotations(study(rng, 12, moved=[4], n_items=11), tmp_path / "after.csv")
    return "before.csv", "after.csv"


def test_the_answer_is_printed_and_files_are_written(run, studies, tmp_path):
    result = run("difference", *studies, *QUICK, "--out", "redesign")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("before and after differ more than two random groups of these annotators would (p =")
    assert lines[1] == "1 item moved, the clearest first: card 4."
    assert "1 item only in before; not compared." in lines
    assert "count as different people. With --same-people, what each of them said is compared." in result.stderr
    folder = tmp_path / "redesign"
    assert {path.name for path in folder.iterdir()} == FILES
    items = pd.read_csv(folder / "items.csv")
    assert items.loc[items["moved"] == True, "item"].tolist() == ["card 4"]  # noqa: E712
    assert items.loc[items["only_in"] == "before", "item"].tolist() == ["card 11"]
    pairs = pd.read_csv(folder / "pairs.csv")
    assert len(pairs) == 55
    flow = pd.read_csv(folder / "flow.csv")
    assert flow["n_items"].sum() == 11
    assert "before and after" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_later_result_replaces_the_former_one_and_nothing_else(run, fails, studies, tmp_path):
    run("difference", *studies, *QUICK, "--out", "out")
    found = json.loads(run("difference", *studies, *QUICK, "--out", "out", "--same-people", "--json").stdout)
    assert found["n_same_people"] == 12
    assert found["differ"]
    assert found == json.loads((tmp_path / "out" / "summary.json").read_text())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "items.csv").write_text("my own")
    assert fails("difference", *studies, "--out", "mine").startswith("mine/items.csv exists but does not belong to")


@pytest.mark.slow
def test_names_and_words_are_those_given(run, studies, tmp_path):
    arguments = (*QUICK, "--names", "old site,new site", "--words", "cards,participants", "--out", "out")
    result = run("difference", *studies, *arguments)
    assert result.stdout.startswith("old site and new site differ more than two random groups of these participants")
    assert "old site and new site: what changed among 11 cards" in (tmp_path / "out/report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("before.csv", "missing.csv"), "There is no file missing.csv."),
        (("-", "-"), "Standard input is one study; give a file for the other."),
        (("before.csv", "after.csv", "--names", "one"), "--names must be two different names separated by a comma"),
        (("before.csv", "after.csv", "--certainty-draws", 1), "--certainty-draws must be 0, or at least 2."),
        (("before.csv", "other.csv"), "Two studies can be compared if they have at least 3 items in common"),
        (("before.csv", "pairs.csv"), "pairs.csv: "),
        (("before.csv", "alone.csv"), "Two studies can be compared if at least 2 annotators of each"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(fails, studies, tmp_path, arguments, message):
    rng = np.random.default_rng(0)
    frame = study(rng, 3).to_frame()
    frame.assign(item=frame["item"].str.replace("card", "tile")).to_csv(tmp_path / "other.csv", index=False)
    write_annotations(study(rng, 1), tmp_path / "alone.csv")
    pairs = pd.DataFrame({"item_a": ["a", "b"], "item_b": ["b", "c"], "annotator": "x", "same": [1, 0]})
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    assert fails("difference", *arguments).startswith(message)


def test_segments_of_one_study(run, fails, studies, tmp_path):
    annotators = pd.read_csv(tmp_path / "before.csv")["annotator"].unique()
    answers = pd.DataFrame({"annotator": annotators, "device": ["phone", "desktop"] * 6, "place": "a"})
    answers.to_csv(tmp_path / "people.csv", index=False)
    segments = ("--people", "people.csv", "--by", "device=phone")
    found = json.loads(run("difference", "before.csv", *segments, *QUICK, "--out", "out", "--json").stdout)
    assert found["names"] == ["phone", "not phone"]
    assert found["n_annotators"] == [6, 6]
    two = "Give two studies, or one study with --people FILE and --by COL, which divide it."
    assert fails("difference", "before.csv") == two
    assert fails("difference", *studies, *segments) == two
    assert fails("difference", "before.csv", "--by", "device") == "--by needs --people FILE, too."
    assert fails("difference", "before.csv", "--people", "people.csv") == "--people needs --by COL, too."
    assert "the column 'place' has 1 answer" in fails("difference", "before.csv", *segments[:3], "place")
