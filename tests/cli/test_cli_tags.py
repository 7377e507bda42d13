"""Tags on the command line: lists in cells, several rows, what is written and told, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import consilience
from consilience.annotations.names import NO_TAG
from consilience.simulation import simulate_tags

QUICK = ("--set", "max_iter=20")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """tags.csv: lists of the tags of 30 photos by 6 people, of whom the last gives them at random; gold.csv: of two."""
    monkeypatch.chdir(tmp_path)
    truth = pd.DataFrame(np.random.default_rng(0).random((30, 3)) < 0.4, columns=["big", "old", "red"])
    truth.index = [f"photo {number}" for number in range(30)]
    rates = {"sensitivity": [0.9] * 5 + [0.3], "specificity": [0.95] * 5 + [0.7]}
    labels = simulate_tags(truth, n_annotators=6, **rates, random_state=0).to_frame()
    lists = labels.groupby(["item", "annotator"], sort=False)["label"].agg("|".join).replace(NO_TAG, "").reset_index()
    lists.rename(columns={"label": "tags"}).to_csv("tags.csv", index=False)
    rows = [(item, "|".join(truth.columns[truth.loc[item]]) or NO_TAG) for item in ("photo 0", "photo 1")]
    pd.DataFrame(rows, columns=["item", "label"]).to_csv("gold.csv", index=False)
    return truth


def test_tags_are_fitted_told_and_written(study, run):
    result = run("fit", "tags.csv", "--kind", "tags", *QUICK, "--out", "out")
    assert "cells of several tags: lists divided at '|'." in result.stderr
    assert "Chose TagConsensus, since the file holds tags" in result.stderr
    assert result.stdout.startswith("30 items with 3 tags by 6 annotators\n")
    assert "Least accurate annotators:\n  annotator 6  sensitivity" in result.stdout
    table = pd.read_csv("out/tags.csv")
    assert table["tag"].tolist() == ["big", "old", "red"] * 30
    assert (table["present"].to_numpy().reshape(30, 3) == study).to_numpy().mean() > 0.95
    assert set(pd.read_csv("out/rates.csv").columns) == {"annotator", "tag", "sensitivity", "specificity"}
    summary = json.loads(Path("out/summary.json").read_text())
    assert [row["tag"] for row in summary["tags"]] == ["big", "old", "red"]
    page = Path("out/report.html").read_text()
    assert "Each tag, the most frequent first" in page
    assert "30 items with 3 tags by 6 annotators" in page
    assert "tell little: they give nearly as many that are not there as that are: annotator 6." in page


def test_gold_tags(study, run, quick_report):
    run("fit", "tags.csv", "--kind", "tags", "--gold", "gold.csv", *QUICK, "--out", "out")
    model = consilience.load("out/model.zip")
    np.testing.assert_array_equal(model.probabilities_[:2], study.to_numpy()[:2])


def test_a_saved_model_reads_new_tags(study, run, quick_report):
    run("fit", "tags.csv", "--kind", "tags", *QUICK, "--out", "out")
    new = pd.DataFrame({"item": ["x", "y"], "annotator": "annotator 1", "tags": ["red|big", ""]})
    new.to_csv("new.csv", index=False)
    run("predict", "out/model.zip", "new.csv", "--out", "found.csv")
    assert pd.read_csv("found.csv", keep_default_na=False)["label"].tolist() == ["big, red", NO_TAG]


def test_tags_are_compared_with_models_that_see_sets_as_classes(study, run, fails):
    told = ("compare", "tags.csv", "--kind", "tags", "--folds", "2")
    result = run(*told, "--models", "TagConsensus,MajorityVote", "--json")
    table = json.loads(result.stdout)["models"]
    assert {row["model"] for row in table} == {"TagConsensus", "MajorityVote", "co-occurrence", "chance"}
    assert len({row["n_judgements"] for row in table}) == 1
    assert "tags" in run(*told, "--models", "MajorityVote").stdout
    assert "Of tags, parts of each annotator's are held out: leave out --hold-out groupings." in fails(
        *told, "--hold-out", "groupings"
    )
    assert "Only TagConsensus fits tags. Leave out --model auto." in fails(
        "fit", "tags.csv", "--kind", "tags", "--model", "auto"
    )


def test_lists_of_labels_lead_to_tags(study, fails):
    assert "give --kind tags, for TagConsensus" in fails("fit", "tags.csv", "--kind", "labels", "--label", "tags")
