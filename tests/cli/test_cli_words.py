"""``--words``, and the names of clusters, in what commands print and write."""

import json
import re

import pandas as pd
import pytest

CARDS = ["cat", "dog", "cow", "oak", "elm", "fir"]
NAMED = {"Ann": ("Animals", "Trees"), "Bo": ("animal", "trees:"), "Cy": ("Beasts", "Plants"), "Di": ("ANIMALS", "tree")}


@pytest.fixture
def sorts(tmp_path):
    rows = [(card, who, names[i // 3]) for who, names in NAMED.items() for i, card in enumerate(CARDS)]
    pd.DataFrame(rows, columns=["card", "participant", "pile"]).to_csv(tmp_path / "sorts.csv", index=False)
    return "sorts.csv"


def test_the_summary_has_the_words_of_the_columns(sorts, run, quick_report):
    shown = run("fit", sorts, "--out", "out").stdout
    assert shown.startswith("2 clusters of 6 cards by 4 participants in 4 groupings\n")
    assert "Participants with the lowest weight:" in shown
    assert "6 cards sorted" in shown
    assert "item" not in shown


@pytest.mark.parametrize("command", [("fit",), ("fuse",), ("fit", "--model", "MetaClustering")])
def test_the_summary_has_the_words_that_are_given(sorts, run, quick_report, tmp_path, command):
    name, *options = command
    shown = run(name, sorts, *options, "--words", "tiles/tile,good judges", "--out", "out").stdout
    assert shown.startswith("2 clusters of 6 tiles by 4 good judges")
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert found["words"]["annotator"] == "good judge"
    assert "n_items" in found  # keys for scripts stay


@pytest.mark.parametrize("command", ["fit", "fuse", "plan", "compare"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("cards", "two plurals separated by a comma"),
        ("cards,<b>", "letters or digits"),
        ("Karten,people", "singular of 'Karten' is not known"),
        ("clusters,people", "means something else"),
    ],
)
def test_bad_words_are_refused_before_anything_is_read(fails, command, words, message, tmp_path):
    (tmp_path / "empty.csv").write_text("")  # which would be refused, too
    assert message in fails(command, str(tmp_path / "empty.csv"), "--words", words)


def test_the_comparison_speaks_of_cards_and_participants(sorts, run):
    quick = ("--models", "SubsetFusion", "--clusters", "2:2", "--set", "SubsetFusion.refine=false", "--folds", "2")
    shown = run("compare", sorts, *quick, "--words", "tiles/tile,judges/judge").stdout
    assert "annotations" in shown.splitlines()[0]
    assert "judge's annotations" in shown.splitlines()[0]
    assert "annotator's" not in shown
    found = json.loads(run("compare", sorts, *quick, "--json").stdout)
    assert (found["words"]["items"], found["words"]["annotators"]) == ("cards", "participants")


def test_clusters_have_the_names_that_people_gave(sorts, run, quick_report, tmp_path):
    shown = run("fit", sorts, "--out", "out").stdout
    assert re.search(r"\n  cluster [01]   Animals 3   50.0%  cat, dog, cow\n", shown)
    clusters = pd.read_csv(tmp_path / "out" / "clusters.csv").set_index("item")
    assert clusters.columns.tolist() == ["cluster", "name", "probability"]
    assert clusters["name"].to_dict() == dict(zip(CARDS, ["Animals"] * 3 + [clusters.loc["oak", "name"]] * 3))
    assert clusters.loc["oak", "name"].rstrip("s:").casefold() == "tree"
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert sorted(found["cluster_names"]) == sorted(clusters["name"].unique())
    assert ["Animals (3)"] in found["cluster_name_choices"]


def test_without_names_nothing_changes(tmp_path, run, quick_report):
    rows = [(card, who, i // 3) for who in NAMED for i, card in enumerate(CARDS)]
    pd.DataFrame(rows, columns=["item", "annotator", "group"]).to_csv(tmp_path / "sorts.csv", index=False)
    shown = run("fit", "sorts.csv", "--out", "out").stdout
    assert shown.startswith("2 clusters of 6 items by 4 annotators")
    assert "  cluster 0   3   50.0%" in shown
    columns = pd.read_csv(tmp_path / "out" / "clusters.csv").columns.tolist()
    assert columns[:3] == ["item", "cluster", "probability"]
    assert columns[3:] in ([], ["repeats", "stays", "elsewhere"])
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["cluster_names"] is None


@pytest.mark.slow
def test_the_report_of_a_saved_model_has_the_words(sorts, run, tmp_path):
    run("fit", sorts, "--out", "out", "--certainty-draws", 0)
    run("report", "out/model.zip", sorts, "--certainty-draws", 0, "--words", "tiles,judges", "--out", "again.html")
    assert "<title>2 clusters of 6 tiles by 4 judges</title>" in (tmp_path / "again.html").read_text()
    assert "<title>2 clusters of 6 cards by 4 participants</title>" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_a_plan_has_the_words(run):
    guesses = ("--items", 12, "--clusters", 3, "--agreement", 0.5, "--draws", 1, "--max-annotators", 20)
    assert "items seen" in run("plan", *guesses).stdout
    shown = run("plan", *guesses, "--words", "cards,participants").stdout
    assert "12 cards at a time" in shown
    assert "Participants who agree to" in shown
    assert "item" not in shown
