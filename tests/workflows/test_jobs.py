"""Whole jobs from Python: what the commands do and print, from requests."""

import json
import logging
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pandas as pd
import pytest

from consilience import workflows
from consilience.annotations import Groupings
from consilience.cli import main
from consilience.errors import InputError
from consilience.workflows import (
    ComparisonRequest,
    DifferenceRequest,
    FeatureOptions,
    FitRequest,
    PlanRequest,
    PredictionRequest,
    ReportRequest,
    compare,
    compare_studies,
    fit,
    plan_study,
    predict,
    report_again,
)
from consilience.workflows.jobs import Request
from consilience.workflows.notes import note, notes_to
from tests.click_runner import invoke

SORTS = {"Ann": [*"ppqqrr"], "Bo": [*"xxyyzz"], "Cy": [*"aaabbb"], "Di": [*"uuvvww"]}


@pytest.fixture
def sorts(tmp_path, monkeypatch):
    """Work in a folder with a card sort of six items by four people."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(SORTS, index=list("abcdef")).rename_axis("item").to_csv("sorts.csv")
    for target in ("fitting.report", "saved_models.write_report"):
        monkeypatch.setattr(
            f"consilience.workflows.{target}", lambda *_, path, **__: Path(path).write_text("the report")
        )
    return tmp_path


def test_a_fit_from_python_is_that_of_the_command(sorts):
    result = fit(FitRequest(annotations="sorts.csv", out="python", certainty_draws=0, clusters=3))
    printed = invoke(main, ["fit", "sorts.csv", "--out", "program", "--certainty-draws", "0", "--clusters", "3"])
    assert printed.exit_code == 0, printed.stderr
    assert str(result).replace("python", "program") + "\n" == printed.stdout
    assert result.summary == json.loads(Path("python/summary.json").read_text(encoding="utf-8"))
    assert result.findings.annotations == Groupings.from_matrix(pd.DataFrame(SORTS, index=list("abcdef")))
    assert result.estimator.n_clusters_ == 3
    assert result.warnings == result.summary["warnings"]
    assert not result.is_undecided


@pytest.mark.slow
def test_annotations_of_a_request_may_be_at_hand(sorts):
    frame = pd.DataFrame(SORTS, index=pd.Index(list("abcdef"), name="item")).reset_index()
    groupings = Groupings.from_matrix(frame.set_index("item"))
    results = {}
    for name, annotations in (("file", "sorts.csv"), ("frame", frame), ("groupings", groupings)):
        result = fit(FitRequest(annotations=annotations, certainty_draws=0, clusters=3, out=name))
        results[name] = {key: result.summary[key] for key in ("cluster_sizes", "silhouette", "n_labels", "warnings")}
        assert result.findings.annotations == groupings
        page = report_again(ReportRequest(saved=f"{name}/model.zip", annotations=annotations, out=f"{name}.html"))
        assert page == Path(f"{name}.html")
    assert results["file"] == results["frame"] == results["groupings"]
    found = compare(ComparisonRequest(annotations=groupings, models=["KCC"], clusters=(3, 3), folds=2))
    assert found.summary["read_as"] == ""
    planned = plan_study(PlanRequest(pilot=frame, draws=1, max_annotators=10))
    assert planned.plan.table["agreement"].notna().all()


def test_features_and_scores_of_a_request_may_be_at_hand(sorts):
    items = pd.Index(list("abcdef"), name="item")
    table = pd.DataFrame({"size": [0.0, 0.1, 5.0, 5.1, 9.0, 9.2], "kind": [*"uuvvww"]}, index=items)
    scores = pd.DataFrame({"item": [*"fedcba"], "price": [6, 5, 4, 3, 2, 1]})
    table.to_csv("features.csv")
    scores.to_csv("scores.csv", index=False)
    settings = {"n_init": 1, "prior_variance": 1.0, "max_clusters": 3}
    asked = {"annotations": "sorts.csv", "settings": settings, "certainty_draws": 0}
    options = FeatureOptions(categorical=("kind",))
    ways = {"files": ("features.csv", "scores.csv"), "frames": (table, scores)}
    results = {
        way: fit(FitRequest(**asked, features=features, scores=rated, feature_options=options, out=way))
        for way, (features, rated) in ways.items()
    }
    sizes = [result.summary["cluster_sizes"] for result in results.values()]
    assert sizes[0] == sizes[1] == [2, 2, 2]
    pd.testing.assert_frame_equal(*(result.findings.features for result in results.values()), check_dtype=False)
    found = [predict(PredictionRequest(saved="frames/model.zip", table=way)) for way in ("features.csv", table)]
    pd.testing.assert_frame_equal(*found)
    with pytest.raises(InputError, match=r"^the table of features: There is no column 'colour' of features"):
        fit(FitRequest(**asked, features=table, feature_options=FeatureOptions(categorical=("colour",))))
    with pytest.raises(InputError, match=r"^the table of scores: There is no row for the item 'a'"):
        fit(FitRequest(annotations="sorts.csv", scores=scores[:5]))
    with pytest.raises(InputError, match=r"^the table of features: A request takes a table of pandas"):
        fit(FitRequest(annotations="sorts.csv", features=[[1.0]]))


def test_two_studies_may_be_at_hand(sorts, monkeypatch):
    monkeypatch.setattr("consilience.workflows.difference.difference_report", lambda *_, path, **__: path.touch())
    groupings, heard = Groupings.from_matrix(pd.DataFrame(SORTS, index=list("abcdef"))), []
    request = DifferenceRequest(first=groupings, second="sorts.csv", permutations=99, certainty_draws=0)
    with notes_to(heard.append):
        assert compare_studies(request).summary["names"] == ["first", "second"]
    assert heard[0] == "first:"
    assert "sorts.csv:" in heard


def test_annotations_at_hand_are_not_read_again(sorts):
    groupings = Groupings.from_matrix(pd.DataFrame(SORTS, index=list("abcdef")))
    with pytest.raises(InputError, match=r"^kind is for files and frames\. Got Groupings\.$"):
        fit(FitRequest(annotations=groupings, reading={"kind": "labels"}))
    with pytest.raises(InputError, match=r"^the annotations: DawidSkene reads labels, and the file holds groupings"):
        fit(FitRequest(annotations=groupings, model="DawidSkene"))
    with pytest.raises(InputError, match=r"takes the path of a file, or a DataFrame\. Got list"):
        fit(FitRequest(annotations=[["a", "b"]]))


def test_what_a_fit_cannot_use_is_an_error(sorts):
    with pytest.raises(InputError, match="has no parameter 'colour'"):
        fit(FitRequest(annotations="sorts.csv", settings={"colour": 1}))
    with pytest.raises(InputError, match="There is no file none"):
        fit(FitRequest(annotations="none.csv"))
    assert not Path("consilience-report").exists()


def test_models_are_compared_and_predict_from_python(sorts):
    result = compare(ComparisonRequest(annotations="sorts.csv", models=["KCC", "CSPA"], clusters=(3, 3), folds=2))
    assert {row["model"].partition("(")[0] for row in result.summary["models"]} > {"KCC", "CSPA"}
    assert result.comparison.chosen == result.summary["chosen"]
    pd.DataFrame({"item": list("ab"), "annotator": ["x", "y"], "label": ["p", "q"]}).to_csv("labels.csv", index=False)
    fit(FitRequest(annotations="labels.csv", model="MajorityVote", out="votes"))
    found = predict(PredictionRequest(saved="votes/model.zip", table="labels.csv"))
    assert found["label"].tolist() == ["p", "q"]


def test_paths_of_a_request_may_be_text_and_requests_cannot_be_changed():
    request = FitRequest(annotations="a.csv", features="b.csv", words="cards,people", out="c")
    assert (request.annotations, request.features, request.out) == (Path("a.csv"), Path("b.csv"), Path("c"))
    assert request.words == "cards,people"
    with pytest.raises(FrozenInstanceError):
        request.out = "d"


def test_every_option_of_fit_is_a_field_of_its_request():
    """An option is named beside its help, and reaches the request by that name; a few stand for settings."""
    of_options = {name for parameter in main.commands["fit"].params if (name := parameter.name) is not None}
    gathered = {
        "feature_item",
        "categorical",
        "impute",
        "leave_out",
        "people",
        "where",
        "given_groups",
        "names",
        "seconds",
        "seed",
        "jobs",
    }
    only_printed = {"as_json", "no_standardize", "traceback", "config", "quiet", "help"}
    reading = {"kind", "item", "item_b", "annotator", "grouping", "group", "label", "same", "ignore", "transpose"}
    reading |= {"missing", "same_if", "exact", "encoding", "sheet"}
    known = {entry.name for entry in fields(FitRequest)}
    assert of_options - gathered - only_printed - reading == known - {
        "feature_options",
        "card_sort",
        "reading",
        "standardize",
    }


def test_notes_go_to_a_listener_or_to_the_logger(caplog):
    heard = []
    with notes_to(heard.append):
        note("one")
    with caplog.at_level(logging.INFO, "consilience"):
        note("two")
    assert heard == ["one"]
    assert caplog.messages == ["two"]


def test_a_request_can_be_made_without_numpy():
    code = "import sys; from consilience.workflows import FitRequest; FitRequest(annotations='a'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.split()


def test_every_public_name_can_be_imported():
    assert all(getattr(workflows, name) is not None for name in workflows.__all__)
    assert dir(workflows) == sorted(workflows.__all__)
    with pytest.raises(AttributeError, match="no attribute 'fitted'"):
        _ = workflows.fitted
    assert issubclass(FitRequest, Request)
