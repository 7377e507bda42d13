"""``consilience compare`` and ``fit --model auto``: inputs, output and messages."""

import json

import numpy as np
import pandas as pd
import pytest

from consilience import load, read_annotations, registry
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.selection.comparison import compare
from consilience.semisupervised import PartitionLabelModel
from consilience.workflows.comparing import between, by_model, choose_by_comparing, prepend_preparation
from consilience.workflows.inputs import read_material
from consilience.workflows.jobs import FeatureOptions
from tests.cli.conftest import further

QUICK = ("--set", "SubsetFusion.refine=false", "--folds", "2")
ONE = ("--models", "SubsetFusion", "--clusters", "2:3", *QUICK)


@pytest.fixture
def votes(tmp_path):
    """Labels of 12 items by 5 people, each with at most one error."""
    classes = np.repeat(["cat", "dog", "owl"], 4)
    table = pd.DataFrame({f"p{i}": classes for i in range(5)}, index=pd.Index(range(12), name="item"))
    table.iloc[0, 0], table.iloc[5, 1], table.iloc[9, 2] = "dog", "owl", "cat"
    long = table.reset_index().melt("item", var_name="annotator", value_name="label")
    long.to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path


def test_shows_the_table_of_python(study, run):
    result = run("compare", "sorts.csv", *ONE)
    sorts = read_annotations(study / "sorts.csv")
    models = {f"SubsetFusion(n_clusters={k})": SubsetFusion(n_clusters=k, refine=False) for k in (2, 3)}
    expected = compare(models, sorts, n_folds=2, random_state=0)
    lines, wanted = result.stdout.splitlines(), str(expected).splitlines()
    assert (
        lines[0]
        == wanted[0]
        == "165 of 165 judgements held out in 2 folds of parts of each annotator's annotations; "
        + (f"standard errors over {expected.n_blocks} parts of groupings")
    )
    for found, row in zip(lines[2:5], wanted[2:5]):
        assert found.split()[:8] == row.split()[:8]  # seconds and memory differ
    assert lines[-1] == expected.verdict
    assert further(result.stderr) == []  # progress is for terminals


def test_json_and_out_contain_the_numbers(study, run):
    result = run("compare", "sorts.csv", *ONE, "--json", "--out", "table.csv")
    found = json.loads(result.stdout)
    table = pd.read_csv(study / "table.csv")
    assert table["model"].tolist() == [row["model"] for row in found["models"]]
    np.testing.assert_allclose(table["log_loss"], [row["log_loss"] for row in found["models"]], rtol=1e-12)
    assert (found["held_out"], found["n_folds"], found["n_judgements"]) == ("judgements", 2, 165)
    assert found["chosen"] in set(table["model"])
    settings = {row["model"]: row["parameters"] for row in found["models"]}
    assert settings["SubsetFusion(n_clusters=2)"] == {"n_clusters": 2, "refine": False}
    assert settings["chance"] == {}


@pytest.mark.slow
def test_features_are_standardised_or_not(study, run, features):
    plm = (
        "PartitionLabelModel.n_init=1",
        "PartitionLabelModel.prior_variance=1.0",
        "PartitionLabelModel.max_clusters=4",
    )
    settings = [part for text in plm for part in ("--set", text)]
    arguments = ("--models", "PartitionLabelModel", "--folds", "2", *settings, "--json")
    losses = []
    for more in ([], ["--no-standardize"]):
        found = json.loads(run("compare", "sorts.csv", "--features", "features.csv", *arguments, *more).stdout)
        losses.append({row["model"]: row["log_loss"] for row in found["models"]}["PartitionLabelModel"])
    assert losses[0] != losses[1]
    chance = next(row["log_loss"] for row in found["models"] if row["model"] == "chance")
    assert max(losses) < chance  # three well-separated clusters


@pytest.mark.slow
def test_a_model_that_cannot_read_the_file_gives_the_reason(votes, run):
    arguments = ("--models", "MajorityVote,SubsetFusion", *QUICK, "--json")
    found = json.loads(run("compare", "votes.csv", *arguments).stdout)
    assert {row["model"] for row in found["models"]} == {"MajorityVote", "SubsetFusion", "chance", "co-occurrence"}
    table = pd.read_csv(votes / "votes.csv").rename(columns={"label": "group"})
    table.to_csv(votes / "groups.csv", index=False)
    found = json.loads(run("compare", "groups.csv", *arguments).stdout)
    assert found["models"][-1]["note"] == "MajorityVote reads labels. Got groupings."
    assert found["models"][-1]["log_loss"] is None


def test_by_clusters_gives_different_losses(votes, run):
    arguments = ("compare", "votes.csv", "--models", "MajorityVote", "--folds", "2", "--json")
    own, clusters = (json.loads(run(*arguments, "--by", by).stdout)["models"] for by in ("model", "clusters"))
    by_name, other = ({row["model"]: row["log_loss"] for row in found} for found in (own, clusters))
    assert by_name.keys() == other.keys() == {"MajorityVote", "chance", "co-occurrence"}
    assert by_name["MajorityVote"] != other["MajorityVote"]
    assert (by_name["chance"], by_name["co-occurrence"]) == (other["chance"], other["co-occurrence"])


def test_given_probabilities_are_compared(votes, run, fails):
    given = pd.DataFrame(0.05 + 0.85 * np.repeat(np.eye(3), 4, axis=0), columns=["cat", "dog", "owl"])
    given.rename_axis("item").to_csv(votes / "given.csv")
    model = "DawidSkeneClassifier"
    arguments = ("--models", f"DawidSkene,{model}", "--set", f"{model}.classifier=probabilities", "--folds", "2")
    found = json.loads(run("compare", "votes.csv", "--features", "given.csv", *arguments, "--json").stdout)["models"]
    assert {row["model"] for row in found if row["log_loss"]} > {"DawidSkene", model}
    assert {"classifier": "probabilities"} in [row["parameters"] for row in found]
    given[:7].rename_axis("item").to_csv(votes / "few.csv")
    sentence = "The item 7 has annotations in votes.csv but no row in few.csv, and so have 4 more."
    assert fails("compare", "votes.csv", "--features", "few.csv", *arguments).startswith(sentence)


@pytest.mark.slow
def test_by_forecast_predicts_new_people(study, run):
    arguments = ("compare", "sorts.csv", "--models", "SubsetFusion", "--folds", "2", "--json", "--by", "forecast")
    found = json.loads(run(*arguments).stdout)["models"]
    assert {row["model"] for row in found if row["log_loss"] is not None} == {"SubsetFusion", "chance", "co-occurrence"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv"], "There is no file absent.csv."),
        (["sorts.csv", "--models", "KMeans"], "There is no model 'KMeans'; choose one of "),
        (["sorts.csv", "--models", "MajorityVote"], "No model could be compared. MajorityVote: MajorityVote reads"),
        (["sorts.csv", "--set", "refine=false"], "--set refine names no model; write it as KCC.refine="),
        (["sorts.csv", "--set", "SubsetFusion.refin=1"], "SubsetFusion has no parameter 'refin'; it has"),
        (
            ["sorts.csv", "--models", "SubsetFusion", "--set", "DawidSkene.tol=1"],
            "--set names DawidSkene, which is not among the models compared.",
        ),
        (["sorts.csv", "--clusters", "8:2"], "Invalid value for '--clusters': '8-2' is neither a positive integer"),
        (
            ["sorts.csv", "--models", "SubsetFusion", "--folds", "1"],
            "Invalid value for '--folds': '1' is not between 2",
        ),
        (["sorts.csv", "--models", "SubsetFusion", "--hold-out", "groupings"], "5 folds need at least 5 groupings"),
        (["sorts.csv", "--features", "scores.csv"], "scores.csv: 'risk' of the item 'item 11' in line 13 is missing."),
        (["sorts.csv", "--out", "nowhere/table.csv"], "The folder nowhere does not exist."),
    ],
)
def test_bad_input_is_one_sentence(arguments, message, study, fails):
    assert fails("compare", *arguments).startswith(message)


def test_settings_and_numbers():
    assert by_model({"SubsetFusion.n_clusters": 3}, None) == {"SubsetFusion": {"n_clusters": 3}}
    assert between(4, 4) == [4]
    assert between(2, 8) == [2, 3, 4, 6, 8]
    assert max(between(3, 40)) == 40
    models = {"SubsetFusion": SubsetFusion(), "PartitionLabelModel": PartitionLabelModel()}
    table = pd.DataFrame({"size": [1.0, 2.0, 4.0]})
    found = prepend_preparation(models, table, FeatureOptions(), standardize=True)
    assert found["SubsetFusion"] is models["SubsetFusion"]  # it takes no features
    assert found["PartitionLabelModel"][-1] is models["PartitionLabelModel"]
    assert prepend_preparation(models, table, FeatureOptions(), standardize=False) == models
    assert prepend_preparation(models, None, FeatureOptions(), standardize=True) == models


def test_fit_auto_fits_the_best_and_reports_whether_it_is_clear(votes, run, quick_report, monkeypatch):
    kept = {name: registry.ESTIMATORS[name] for name in ("MajorityVote", "ProductMixture")}
    monkeypatch.setattr(registry, "ESTIMATORS", kept)
    result = run("fit", "votes.csv", "--model", "auto", "--out", "out")
    compared = next(line for line in result.stderr.splitlines() if line.startswith("Note: Compared 2 models on "))
    model = load(votes / "out" / "model.zip")
    assert type(model).__name__ in compared
    assert ("is the best" in compared) or ("may be as good" in compared)
    found = compare(
        {name: entry.load()() for name, entry in kept.items()},
        read_annotations(votes / "votes.csv"),
        random_state=0,
    )
    assert type(model).__name__ == found.chosen


def test_auto_refuses_settings_of_one_model(study, fails):
    assert fails("fit", "sorts.csv", "--model", "auto", "--set", "max_clusters=3").startswith(
        "--set max_clusters belongs to one model, but 'auto' compares many; name one by --model."
    )
    (study / "gold.csv").write_text("item,label\nitem 0,a\n")
    assert fails("fit", "sorts.csv", "--model", "auto", "--gold", "gold.csv").startswith(
        "--gold needs a model named by"
    )


def test_choose_gives_the_number_of_clusters_that_won(study, monkeypatch):
    made = {f"SubsetFusion(n_clusters={k})": SubsetFusion(n_clusters=k, refine=False) for k in (2, 3)}
    monkeypatch.setattr("consilience.workflows.comparing.candidates", lambda said, X: made)
    material = read_material(study / "sorts.csv", None, {}, FeatureOptions())
    name, settings, why = choose_by_comparing(
        material,
        settings={"random_state": 4, "n_jobs": 2},
        standardize=True,
        feature_options=FeatureOptions(),
    )
    assert name == "SubsetFusion"
    assert why.startswith("Compared 2 models on ")
    assert settings in [{"n_clusters": k, "refine": False, "random_state": 4} for k in (2, 3)]  # it has no n_jobs
    monkeypatch.setattr("consilience.workflows.comparing.candidates", lambda said, X: {})
    with pytest.raises(InputError, match="No model reads groupings"):
        choose_by_comparing(material, settings={}, standardize=True, feature_options=FeatureOptions())
