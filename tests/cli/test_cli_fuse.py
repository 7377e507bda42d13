"""``consilience fuse``, and other commands with a model that fuses groupings."""

import json

import numpy as np
import pandas as pd
import pytest
from click import NoSuchOption

from consilience import load, read_annotations
from consilience.consensus import SubsetFusion
from consilience.metrics import split_half
from tests.cli.conftest import further

FILES = {"report.html", "clusters.csv", "annotators.csv", "model.zip", "summary.json"}


@pytest.fixture
def sheets(tmp_path):
    """File sheets.csv: 20 annotators sort 8 of 18 items of three kinds each, the last at random; nobody sorted x."""
    rng = np.random.default_rng(0)
    rows = []
    for k in range(20):
        seen = rng.choice(18, 8, replace=False)
        said = seen % 3 if k < 19 else rng.permutation(seen % 3)
        rows += [{"item": f"i{i}", "annotator": f"a{k}", "group": group} for i, group in zip(seen, said)]
    names = pd.DataFrame({"item": [f"i{i}" for i in range(18)] + ["x"]})
    names.merge(pd.DataFrame(rows), how="left").to_csv(tmp_path / "sheets.csv", index=False)
    return tmp_path


def kinds(clusters):
    """Whether items of one kind, and no others, are together."""
    table = clusters[clusters["cluster"] >= 0]
    kind = table["item"].str[1:].astype(int) % 3
    return pd.crosstab(kind, table["cluster"]).gt(0).to_numpy().sum() == 3 == table["cluster"].nunique()


def test_fuse_writes_the_results_of_the_python_model(sheets, run, quick_report):
    run("fuse", "sheets.csv", "--seed", "3", "--out", "out")
    said = read_annotations(sheets / "sheets.csv")
    model = SubsetFusion(random_state=3).fit(said)
    assert {path.name for path in (sheets / "out").iterdir()} == FILES
    clusters = pd.read_csv(sheets / "out" / "clusters.csv")
    assert clusters["item"].tolist() == said.items.tolist()
    assert clusters["cluster"].tolist() == model.labels_.tolist()
    assert kinds(clusters)
    seen = model.labels_ >= 0
    assert clusters.loc[~seen, ["item", "cluster"]].to_numpy().tolist() == [["x", -1]]
    np.testing.assert_allclose(clusters["probability"][seen], model.responsibilities_[seen].max(1), rtol=1e-12)
    assert clusters["probability"][~seen].isna().all()
    annotators = pd.read_csv(sheets / "out" / "annotators.csv", index_col="annotator")
    pd.testing.assert_frame_equal(annotators, model.annotators_)
    ((reported, groupings, X, scores),) = quick_report
    assert (reported.labels_ == model.labels_).all()
    assert (groupings, X, scores) == (said, None, None)
    loaded = load(sheets / "out" / "model.zip")
    assert loaded.get_params() == model.get_params() | {"verbose": True}  # the command shows its progress


def test_summary_in_text(sheets, run, quick_report):
    lines = run("fuse", "sheets.csv", "-o", "out").stdout.splitlines()
    model = load(sheets / "out" / "model.zip")
    typical = model.responsibilities_.max(1).round(4)
    members = [pd.Series(typical[model.labels_ == i], model.items_[model.labels_ == i]) for i in range(3)]
    members = [", ".join(found.sort_values(ascending=False, kind="stable").index) for found in members]
    assert lines[:5] == [
        "3 clusters of 19 items by 20 annotators in 20 groupings",
        f"  cluster 0   6   31.6%  {members[0]}",
        f"  cluster 1   6   31.6%  {members[1]}",
        f"  cluster 2   6   31.6%  {members[2]}",
        "  in none     1    5.3%",
    ]
    most = model.n_clusters_curve_.index.max()
    no_more = " (the groupings distinguish no more)" if most == 3 else ""
    found = f"Found 3 clusters, of 2 to {most} considered{no_more}; smoothed silhouette {model.silhouette_:.3f} "
    assert lines[5].startswith(found)
    assert lines.pop(6).startswith("Annotators agree with no cut of the tree better than with these 3 clusters (0.")
    assert lines[6] == "Annotators with the lowest weight:"
    weakest = model.annotators_.sort_values("weight")
    assert lines[7].split()[:3] == ["a19", "weight", f"{weakest['weight'].iloc[0]:.3f},"]
    assert [line.split()[0] for line in lines[7:10]] == weakest.index[:3].tolist()
    note, halves, reliability, by_chance = lines[10:-1]
    assert "alpha" in reliability
    shares = f"would correlate with r = {split_half(model.groupings_, n_divisions=40).value:.2f} ("
    assert shares in halves
    assert [note] == model.notes_
    assert note.startswith("1 of 19 items is in no grouping; it belongs to no cluster (label -1): '")
    assert by_chance == "No better than chance: a19"
    assert lines[-1].startswith("Files in out: report.html, clusters.csv, annotators.csv, model.zip")


def test_json_is_the_summary(sheets, run, quick_report):
    found = json.loads(run("fuse", "sheets.csv", "--json").stdout)
    assert found == json.loads((sheets / "consilience-report" / "summary.json").read_text())
    model = load(sheets / "consilience-report" / "model.zip")
    assert (found["n_clusters"], found["cluster_sizes"], found["n_items_without_cluster"]) == (3, [6, 6, 6], 1)
    assert found["silhouette"] == model.silhouette_
    assert found["n_clusters_considered"] == model.n_clusters_curve_.index.tolist()
    assert found["caveats"] == model.notes_
    assert found["weakest_annotators"][0]["annotator"] == "a19"
    assert found["mean_probability"] == model.responsibilities_[:18].max(1).mean()


def test_options_are_parameters(sheets, run, quick_report):
    result = run("fuse", "sheets.csv", "--clusters", "2", "--normalize", "none", "--no-refine", "-o", "out")
    model = load(sheets / "out" / "model.zip")
    asked = {"n_clusters": 2, "normalize": None, "refine": False, "random_state": 0}
    assert {name: model.get_params()[name] for name in asked} == asked
    assert "\n2 clusters, as asked for; smoothed silhouette" in result.stdout
    run("fuse", "sheets.csv", "--clusters", "Auto", "--normalize", "presented", "-o", "out")
    model = load(sheets / "out" / "model.zip")
    assert (model.n_clusters, model.normalize, model.refine) == ("auto", "presented", True)


def test_fit_with_the_model_is_the_same(sheets, run, is_drawn):
    run("fuse", "sheets.csv", "-o", "one")
    run("fit", "sheets.csv", "--model", "SubsetFusion", "-o", "two")
    for name in FILES - {"summary.json"}:
        assert (sheets / "one" / name).read_bytes() == (sheets / "two" / name).read_bytes(), name
    run("report", "one/model.zip", "sheets.csv")
    assert (sheets / "report.html").read_bytes() == (sheets / "one" / "report.html").read_bytes()


def test_labels_become_groupings_with_the_right_reason(sheets, run, quick_report):
    result = run("fuse", "sheets.csv", "--kind", "groupings")
    assert "turned" not in result.stderr
    table = pd.read_csv(sheets / "sheets.csv").dropna().rename(columns={"group": "label"})
    table.to_csv(sheets / "labels.csv", index=False)
    result = run("fuse", "labels.csv")
    assert further(result.stderr) == [
        "Note: The labels were turned into groupings, since SubsetFusion uses which items annotators put together, "
        "not the names of the labels."
    ]


def test_predict_explains_why_it_is_impossible(sheets, run, fails, quick_report):
    run("fuse", "sheets.csv", "-o", "out")
    assert fails("predict", "out/model.zip", "sheets.csv") == (
        "out/model.zip: SubsetFusion finds clusters only of the items that it is fitted to; clusters.csv of the fit "
        "lists them. To place new items, fit it to groupings that include them."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--clusters", "0"),
            "Invalid value for '--clusters': '0' is neither 'auto' nor an integer from 1 to 2147483647.",
        ),
        (
            ("--clusters", "some"),
            "Invalid value for '--clusters': 'some' is neither 'auto' nor an integer from 1 to 2147483647.",
        ),
        (("--clusters", "19"), "The 'n_clusters' parameter of SubsetFusion must be at most 18, the number of items"),
        (("--normalize", "x"), "Invalid value for '--normalize': 'x' is not one of 'degree', 'presented', 'none'."),
        (("--features", "x"), NoSuchOption("--features").format_message()),
        (("--out", "sheets.csv"), "sheets.csv cannot be a folder, since a file of that name exists."),
    ],
)
def test_options_that_cannot_be_used(arguments, message, sheets, fails):
    assert fails("fuse", "sheets.csv", *arguments).startswith(message)


def test_files_that_cannot_be_used(sheets, fails):
    assert fails("fuse", "absent.csv") == "There is no file absent.csv."
    (sheets / "twice.csv").write_text("item,annotator,group\na,x,1\na,x,2\n")
    assert fails("fuse", "twice.csv").startswith("twice.csv: The item 'a' occurs twice in the grouping")
    (sheets / "pairs.csv").write_text("item_a,item_b,annotator,same\na,b,x,1\nb,c,x,0\n")
    assert fails("fuse", "pairs.csv").startswith("pairs.csv: SubsetFusion reads groupings or labels, and the file")
