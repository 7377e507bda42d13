"""``consilience fit``: inputs, output and messages."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, load, read_annotations
from consilience.annotations import write_annotations
from consilience.errors import AnnotationWarning
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd, simulate_pairs
from consilience.workflows.saved_models import last_step
from tests.cli.conftest import PARTITION, further
from tests.quick_cases import quick_in_turn

FILES = {"report.html", "clusters.csv", "annotators.csv", "mapping.csv", "model.zip", "summary.json"}
HEAPS = [0] * 4 + [1] * 4 + [2] * 4


def partition(labels):
    """Return the same for equal partitions, whatever the clusters are called."""
    return pd.factorize(np.asarray(labels))[0].tolist()


def test_writes_the_results_of_the_python_model(study, run, features, quick_report):
    result = run(
        *("fit", "sorts.csv", "--features", "features.csv", "--scores", "scores.csv", "--out", "new/out"),
        *("--model", "PartitionLabelModel", "--set", "n_init=2", "--set", "prior_variance=1.0", "--seed", "3"),
        *("--jobs", "2"),
    )
    sorts = read_annotations(study / "sorts.csv")
    model = PartitionLabelModel(n_init=2, prior_variance=1.0, random_state=3, n_jobs=2, verbose=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(features, sorts)
    last, out = model[-1], study / "new" / "out"

    assert {path.name for path in out.iterdir()} == FILES
    clusters = pd.read_csv(out / "clusters.csv")
    assert clusters["item"].tolist() == features.index.tolist()
    assert clusters["cluster"].tolist() == last.labels_.tolist()
    np.testing.assert_allclose(clusters["probability"], last.responsibilities_.max(1), rtol=1e-9)
    assert partition(clusters["cluster"]) == HEAPS
    annotators = pd.read_csv(out / "annotators.csv", index_col="annotator")
    pd.testing.assert_frame_equal(annotators, last.annotators_, check_index_type=False)
    mapping = pd.read_csv(out / "mapping.csv", dtype={"clusters": str})
    of_p = mapping.query("annotator == 'Cy' and group == 'q'")["clusters"].item()
    assert [int(cluster) for cluster in of_p.split()] == sorted({*last.labels_[4:]})
    assert mapping["n_items"].tolist() == last.annotator_mapping_["n_items"].tolist()
    loaded = load(out / "model.zip")
    np.testing.assert_allclose(loaded.predict_proba(features), model.predict_proba(features), rtol=1e-9)

    ((reported, groupings, X, scores),) = quick_report
    assert reported[-1].lower_bound_ == pytest.approx(last.lower_bound_, rel=1e-9)
    assert groupings == sorts
    pd.testing.assert_frame_equal(X, features)
    assert scores["risk"].tolist()[:11] == list(range(11))
    assert np.isnan(scores["risk"].iloc[11])
    assert result.stdout.startswith("3 clusters of 12 items by 3 annotators\n  cluster 0   4   33.3%  item ")
    assert "of 33 labels" in result.stdout
    assert "Files in new/out: report.html, clusters.csv" in result.stdout
    assert further(result.stderr) == ["Note: Items without annotations: 1 of 12; clustered by their features."]


def test_json_is_the_summary(study, run, quick, quick_report):
    result = run("fit", "sorts.csv", "--features", "features.csv", *quick, "--json")
    found = json.loads(result.stdout)
    assert found == json.loads((study / "consilience-report" / "summary.json").read_text())
    assert {key: found[key] for key in ("n_items", "n_annotators", "n_groupings", "n_labels", "n_features")} == {
        "n_items": 12,
        "n_annotators": 3,
        "n_groupings": 3,
        "n_labels": 33,
        "n_features": 2,
    }
    assert found["model"] == "PartitionLabelModel"
    assert found["parameters"]["max_clusters"] == 6
    assert found["parameters"]["random_state"] == 0
    assert found["n_items_without_annotations"] == 1
    assert (found["n_clusters"], found["cluster_sizes"]) == (3, [4, 4, 4])
    examples = [sorted(int(name.split()[1]) for name in names) for names in found["cluster_examples"]]
    assert sorted(examples) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert found["accuracy"] == 1.0  # three clusters, of which everybody's groups are unions
    assert found["weakest_annotators"][0]["n_labels"] == 11
    assert found["standardized"] is True
    assert found["read_as"].startswith("12 items × 3 annotators, wide table of groupings")
    assert [note[:15] for note in found["notes"]] == ["Names of groups", "Items without a"]
    assert {path.rsplit("/")[-1] for path in found["files"].values()} == FILES


def test_a_real_report_is_written(study, run, quick):
    tables = ("sorts.csv", "--features", "features.csv", "--scores", "scores.csv")
    run("fit", *tables, *quick, "--certainty-draws", 0, "-o", "out")
    page = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "3 clusters of 12 items by 3 annotators" in page
    assert all(name in page for name in ("length", "risk", "Cy"))


def test_without_features(study, run, quick, quick_report):
    result = run("fit", "sorts.csv", *quick, "--json")
    found = json.loads(result.stdout)
    assert (found["n_features"], found["standardized"]) == (0, False)
    assert further(result.stderr) == ["Note: Items without annotations: 1 of 12; their clusters are unknown."]
    clusters = pd.read_csv(study / "consilience-report" / "clusters.csv")["cluster"]
    assert partition(clusters[:11]) == HEAPS[:11]


def test_no_standardize_uses_unscaled_features(study, run, features, quick, quick_report):
    run("fit", "sorts.csv", "--features", "features.csv", "--no-standardize", *quick)
    model = load(study / "consilience-report" / "model.zip")
    assert type(model) is PartitionLabelModel
    assert model.feature_names_in_.tolist() == ["length", "width"]
    again = PartitionLabelModel(n_init=1, prior_variance=1.0, max_clusters=6, tol=0.001, random_state=0)
    again.fit(features, read_annotations(study / "sorts.csv"))
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)  # pandas 2 reads a number to the last bit but one


@pytest.mark.parametrize("suffix", ["tsv", "csv.gz", "parquet"])
def test_features_in_other_formats_and_another_order_make_no_difference(
    suffix, study, run, features, quick, quick_report
):
    path = study / f"shuffled.{suffix}"
    table = features[::-1].reset_index()[["length", "item", "width"]]  # the column called item need not be the first
    if suffix == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, sep="\t" if suffix == "tsv" else ",", index=False)
    run("fit", "sorts.csv", "--features", "features.csv", *quick, "-o", "one")
    run("fit", "sorts.csv", "--features", path, *quick, "-o", "two")
    one, two = (pd.read_csv(study / name / "clusters.csv", index_col="item") for name in ("one", "two"))
    assert (one["cluster"] == two["cluster"].loc[one.index]).all()
    assert two.index.tolist() == features.index[::-1].tolist()


def test_items_named_by_numbers_are_matched_across_files(study, run, quick, quick_report):
    """7 is an integer in a file in which all names are integers, and text otherwise."""
    (study / "numbers.csv").write_text(
        "item,annotator,group\n" + "\n".join(f"{i},{who},{i // 2}" for who in "ab" for i in range(6))
    )
    (study / "mixed.csv").write_text("id,size\nextra,9\n" + "\n".join(f"{i},{i // 2}" for i in range(6)))
    run("fit", "numbers.csv", "--features", "mixed.csv", *quick)
    clusters = pd.read_csv(study / "consilience-report" / "clusters.csv")
    assert clusters["item"].tolist() == ["extra", *map(str, range(6))]
    (study / "text.csv").write_text((study / "numbers.csv").read_text() + "\nextra,a,9\n")
    (study / "all.csv").write_text("id,size\n" + "\n".join(f"{i},{i // 2}" for i in range(6)) + "\n")
    result = run("fit", "text.csv", "--features", "all.csv", *quick, code=2)
    assert "The item 'extra' has annotations in text.csv but no row in all.csv." in result.stderr


def test_labels_become_groupings_with_a_note(study, run, quick, quick_report):
    with pytest.warns(AnnotationWarning, match="annotators share hardly any labels"):
        sorts = read_annotations(study / "sorts.csv", kind="labels").to_frame()
    sorts.rename(columns={"item": "task", "annotator": "worker"}).to_csv(study / "crowd.csv", index=False)
    result = run("fit", "crowd.csv", *quick)
    shared, turned = further(result.stderr)
    assert shared.startswith("Note: Annotators share hardly any labels")
    assert shared.endswith("use --kind groupings.")
    assert turned == (
        "Note: The labels were turned into groupings, since PartitionLabelModel estimates what each annotator's "
        "labels mean."
    )
    assert isinstance(quick_report[0][1], Groupings)
    result = run("fit", "sorts.csv", "--kind", "labels", *quick)
    assert "The labels were turned into groupings" in result.stderr


def test_item_column_names_the_items_of_a_wide_table(study, run, features, quick, quick_report):
    table = pd.read_csv(study / "sorts.csv").rename(columns={"item": "what"})[["Ann", "what", "Bo", "Cy"]]
    table.to_csv(study / "odd.csv", index=False)
    run("fit", "odd.csv", "--item", "what", *quick)
    assert pd.read_csv(study / "consilience-report" / "clusters.csv")["item"].tolist() == features.index.tolist()


def test_annotators_with_only_one_label_are_named(study, run, quick, quick_report):
    table = pd.read_csv(study / "sorts.csv")
    table["Di"] = "same"
    table.to_csv(study / "one.csv", index=False)
    result = run("fit", "one.csv", *quick)
    assert "Note: The annotator 'Di' gave only one label, which carries no information.\n" in result.stderr
    for name in ("E", "F", "G", "H", "I"):
        table[name] = "same"
    table.to_csv(study / "six.csv", index=False)
    result = run("fit", "six.csv", *quick)
    assert "Note: 6 annotators ('Di', 'E', 'F', 'G', 'H', …) gave only one label, which" in result.stderr


def test_constant_features_are_named(study, run, features, quick, quick_report):
    features.assign(still=7.0).to_csv(study / "still.csv")
    result = run("fit", "sorts.csv", "--features", "still.csv", *quick)
    assert "Note: The feature 'still' is constant and carries no information.\n" in result.stderr
    features.assign(still=7.0, dead=0).to_csv(study / "dead.csv")
    result = run("fit", "sorts.csv", "--features", "dead.csv", *quick)
    assert "Note: 2 features ('still', 'dead') are constant and carry no information.\n" in result.stderr


def test_items_with_neither_annotations_nor_features_are_left_out_and_counted(
    study, run, features, quick, quick_report
):
    features[:11].to_csv(study / "fewer.csv")  # without item 11, which is in no group
    result = run("fit", "sorts.csv", "--features", "fewer.csv", *quick)
    assert further(result.stderr) == ["Note: Items with neither annotations nor features, left out: 1."]
    assert len(pd.read_csv(study / "consilience-report" / "clusters.csv")) == 11


def test_rows_of_scores_about_other_items_are_left_out_and_counted(study, run, quick, quick_report):
    table = pd.read_csv(study / "scores.csv")
    pd.concat([table[::-1], pd.DataFrame({"item": ["else"], "risk": [0]})]).to_csv(study / "more.csv", index=False)
    result = run("fit", "sorts.csv", "--scores", "more.csv", *quick)
    assert "Note: Rows of more.csv about other items, left out: 1.\n" in result.stderr
    assert quick_report[0][3]["risk"].tolist()[:11] == list(range(11))


def test_warnings_of_the_library_are_notes(study, run, quick_report):
    result = run(
        "fit", "sorts.csv", *PARTITION, "--set", "max_iter=2", "--set", "n_init=1", "--set", "prior_variance=1.0"
    )
    assert (
        "Note: PartitionLabelModel: The objective still improved after max_iter=2 sweeps. Raise max_iter."
        in result.stderr
    )
    assert "partition_label_model.py" not in result.stderr


def test_settings_are_parsed(study, run, quick_report):
    settings = ("max_clusters=none", "prior_variance=1.5", "tol=1e-3", "verbose=False", "n_init=1", "random_state=7")
    run("fit", "sorts.csv", *PARTITION, *(part for text in settings for part in ("--set", text)), "-o", "out")
    model = load(study / "out" / "model.zip")
    assert (model.max_clusters, model.prior_variance, model.tol) == (None, 1.5, 1e-3)
    assert (model.verbose, model.n_init, model.random_state) == (False, 1, 7)


def test_the_same_seed_gives_the_same_files(study, run, quick, quick_report):
    for name in ("one", "two"):
        run("fit", "sorts.csv", "--features", "features.csv", *quick, "-o", name)
    for name in FILES - {"summary.json"}:
        assert (study / "one" / name).read_bytes() == (study / "two" / name).read_bytes()


@pytest.mark.parametrize("model", quick_in_turn(["MCVC", "MPCKMeans", "Crowdclustering", "KCC"], 0, every=2))
def test_models_of_pairs_write_a_report_and_a_summary(model, tmp_path, run, monkeypatch, request):
    reports = None if model == "MPCKMeans" else request.getfixturevalue("quick_report")
    classes = pd.Series(np.repeat([0, 1], 8), index=[f"item {i}" for i in range(16)])
    features = pd.DataFrame({"f": classes * 4.0 + np.linspace(0, 1, 16), "g": np.linspace(0, 1, 16)})
    features.rename_axis("item").to_csv(tmp_path / "features.csv")
    if model == "KCC":
        said = simulate_crowd(classes, n_annotators=3, items_each=16, random_state=0)
    else:
        said = simulate_pairs(classes, 3, 40, 0.95, random_state=0)
    write_annotations(said, tmp_path / "said.csv")
    monkeypatch.chdir(tmp_path)
    more = {"MCVC": ("n_init=2",), "Crowdclustering": ("n_init=1",)}.get(model, ("n_clusters=2",))
    features = () if model in ("Crowdclustering", "KCC") else ("--features", "features.csv")
    settings = [part for text in more for part in ("--set", text)]
    result = run("fit", "said.csv", *features, "--model", model, *settings, "--out", "out")
    assert "Annotators whose " in result.stdout
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (found["model"], found["n_clusters"], len(found["weakest_annotators"])) == (model, 2, 3)
    if reports is None:
        assert "of 16 items by 3 annotators" in (tmp_path / "out" / "report.html").read_text()
    else:
        assert [type(last_step(reported)).__name__ for reported, *_ in reports] == [model]


def test_of_many_clusters_the_first_are_shown(run, tmp_path, quick_report):
    records = np.repeat(np.arange(70), [4, 4, *[3] * 68])
    write_annotations(simulate_pairs(records, 3, 400, 1.0, random_state=0), tmp_path / "pairs.csv")
    result = run("fit", "pairs.csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "70 clusters of 212 items by 3 annotators"
    assert [line.split()[1] for line in lines[1:21]] == [str(cluster) for cluster in range(20)]
    assert lines[21] == "  and 50 more, of 3 items each"
    assert len(json.loads((tmp_path / "consilience-report" / "summary.json").read_text())["cluster_sizes"]) == 70
