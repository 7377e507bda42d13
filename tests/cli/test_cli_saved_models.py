"""``consilience predict`` and ``consilience report``: use of saved models."""

import io
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import load, read_annotations, save
from consilience.semisupervised import PartitionLabelModel

MODEL = "out/model.zip"


def test_predict_writes_cluster_and_probability(fitted, run, features):
    features[:5].to_csv(fitted / "new.csv")
    result = run("predict", MODEL, "new.csv")
    table = pd.read_csv(io.StringIO(result.stdout), index_col="item")
    model = load(fitted / MODEL)
    assert table.index.tolist() == features.index[:5].tolist()
    assert table.columns.tolist() == ["cluster", "probability"]
    assert table["cluster"].tolist() == model.predict(features[:5]).tolist()
    np.testing.assert_allclose(table["probability"], model.predict_proba(features[:5]).max(1), rtol=1e-12)
    assert result.stderr == ""


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_predict_writes_the_probability_of_every_cluster(suffix, fitted, run, features):
    path = fitted / f"found.{suffix}"
    assert run("predict", MODEL, "features.csv", "--proba", "--out", path).stdout == ""
    read = {"csv": pd.read_csv, "tsv": lambda p: pd.read_csv(p, sep="\t"), "parquet": pd.read_parquet}[suffix]
    table = read(path).set_index("item")
    assert table.columns.tolist() == ["cluster", "probability", "cluster 0", "cluster 1", "cluster 2"]
    probability = load(fitted / MODEL).predict_proba(features)
    np.testing.assert_allclose(table.iloc[:, 2:], probability, rtol=1e-12)


def test_predict_matches_columns_by_name(fitted, run, features):
    expected = run("predict", MODEL, "features.csv").stdout
    features[["width", "length"]].assign(more="text").drop(columns="more").assign(extra=1).to_csv(fitted / "odd.csv")
    result = run("predict", MODEL, "odd.csv")
    assert result.stdout == expected
    assert result.stderr == "Note: Columns of odd.csv that are not features of the model, left out: 1.\n"


def test_predict_matches_columns_by_position_if_the_model_has_no_names(study, run, features, quick):
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0)
    model = make_pipeline(StandardScaler(), model).fit(features.to_numpy(), read_annotations("sorts.csv").by_position())
    save(model, study / "plain.zip")
    table = pd.read_csv(io.StringIO(run("predict", "plain.zip", "features.csv").stdout))
    assert table["cluster"].tolist() == model.predict(features.to_numpy()).tolist()


def test_predict_errors(fitted, fails, features, tmp_path):
    features[["length"]].to_csv(fitted / "short.csv")
    assert fails("predict", MODEL, "short.csv") == ("short.csv: There is no column 'width'; the model needs it.")
    assert fails("predict", "features.csv", "features.csv").startswith(
        "features.csv is not a saved model or is truncated"
    )
    assert fails("predict", "absent.zip", "features.csv") == "There is no file absent.zip."
    assert fails("predict", ".", "features.csv") == ". is a folder, not a saved model."
    assert fails("predict", MODEL, "absent.csv") == "There is no file absent.csv."
    assert fails("predict", MODEL, "features.csv", "-o", "nowhere/x.csv") == "The folder nowhere does not exist."
    assert fails("predict", MODEL, "features.csv", "-o", "out") == "out is a folder; give the name of a file."
    assert "must end in .csv, .tsv" in fails("predict", MODEL, "features.csv", "-o", "found.xlsx")
    content = bytearray((fitted / MODEL).read_bytes())
    (fitted / "cut.zip").write_bytes(content[: len(content) // 2])
    assert fails("predict", "cut.zip", "features.csv").startswith("cut.zip is not a saved model or is truncated")


def test_predict_needs_a_fitted_model_with_features(study, run, fails, quick, quick_report):
    run("fit", "sorts.csv", *quick, "-o", "bare")
    message = fails("predict", "bare/model.zip", "features.csv")
    assert message.startswith("The model was fitted without features, so it cannot predict new items")
    save(PartitionLabelModel(), study / "new.zip")
    assert fails("predict", "new.zip", "features.csv") == (
        "new.zip: The model was saved before it was fitted, so it cannot predict."
    )


def test_report_reorders_files_to_match_the_model(fitted, run, features, quick_report):
    quick_report.clear()
    features[::-1].to_csv(fitted / "features.csv")
    scores = pd.read_csv(fitted / "scores.csv", index_col="item")
    scores.sample(frac=1, random_state=0).to_csv(fitted / "scores.csv")
    result = run(
        *("report", MODEL, "sorts.csv", "--features", "features.csv", "--scores", "scores.csv"), "--out", "page.html"
    )
    assert result.stdout == "page.html\n"
    ((model, groupings, X, rated),) = quick_report
    assert model.predict(features).tolist() == model[-1].labels_.tolist()
    assert groupings == read_annotations(fitted / "sorts.csv")
    pd.testing.assert_frame_equal(X, features)
    pd.testing.assert_frame_equal(rated, scores)


def test_report_equals_that_of_fit(study, run, quick, is_drawn):
    run("fit", "sorts.csv", "--features", "features.csv", *quick, "-o", "out")
    run("report", MODEL, "sorts.csv", "--features", "features.csv")
    assert (study / "report.html").read_bytes() == (study / "out" / "report.html").read_bytes()


@pytest.mark.slow
def test_the_short_form_is_a_file_to_hand_on(study, run, fitted_once):
    shutil.copytree(fitted_once, study / "out")
    asked = ("--features", "features.csv", "--certainty-draws", "0", "--short", "--out", "short.html")
    run("report", MODEL, "sorts.csv", *asked)
    assert 'class="short-form"' in (study / "short.html").read_text()


def test_report_errors(fitted, fails, features):
    features[:7].to_csv(fitted / "fewer.csv")
    assert fails("report", MODEL, "sorts.csv", "--features", "fewer.csv") == (
        "fewer.csv: There is no row for the item 'item 7', nor for 4 more."
    )
    (fitted / "other.csv").write_text("item,Ann\nsomething,1\n")
    message = fails("report", MODEL, "other.csv")
    assert message.startswith("other.csv: The item 'something' has annotations but is not in the list of 12 items")
    assert fails("report", MODEL, "sorts.csv", "--out", "nowhere/x.html") == "The folder nowhere does not exist."
    assert fails("report", MODEL, "sorts.csv", "--scores", "absent.csv") == "There is no file absent.csv."
    save(PartitionLabelModel(), fitted / "new.zip")
    assert fails("report", "new.zip", "sorts.csv") == (
        "new.zip: The model was saved before it was fitted, so there is nothing to report."
    )
