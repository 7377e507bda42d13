"""``consilience fit-partitions``: classes of labels in a folder of Parquet files."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from consilience.consensus import KCC, DawidSkene, OrdinalRatings, ProductMixture, StagewiseEM, SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.partitions import PartitionedItems, PartitionedTable, fit, item_results
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel
from tests.partitions.item_tables import FEATURES, items
from tests.partitions.made import crowd, cut, whole

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def labels(tmp_path):
    """The labels of a crowd; they are written to the folder labels, in three partitions."""
    frame = crowd(90, 6)
    (tmp_path / "labels").mkdir()
    for number, part in enumerate(cut(frame, 3)):
        part.to_parquet(tmp_path / "labels" / f"{number}.parquet")
    return frame


@pytest.mark.slow
def test_results_are_those_of_fit(run, tmp_path, labels):
    result = run("fit-partitions", "labels", "--out", "classes", "--set", "copies=none", "--jobs", 2)
    assert "90 items, 360 labels by 6 annotators, in 3 partitions." in result.stdout
    table = PartitionedTable(cut(labels, 3))
    model = fit(DawidSkene(subtypes=1, copies=None), table, n_jobs=2)
    expected = pd.concat(item_results(model, table)).set_index("item")
    found = pd.read_parquet(tmp_path / "classes" / "labels.parquet").set_index("item").loc[expected.index]
    assert found["label"].tolist() == expected["label"].tolist()
    assert found["probability"].tolist() == expected["probability"].tolist()
    annotators = pd.read_csv(tmp_path / "classes" / "annotators.csv", index_col="annotator")
    np.testing.assert_allclose(annotators["agreement"], model.annotators_["agreement"].loc[annotators.index])
    assert len(pd.read_csv(tmp_path / "classes" / "confusion.csv")) == 6 * 3


def test_results_are_those_in_memory(run, tmp_path, labels):
    settings = "--set", "copies=none", "--set", "tol=1e-12"  # before convergence, sweeps enlarge rounding errors
    run("fit-partitions", "labels", "--out", "classes", *settings)
    model = DawidSkene(subtypes=1, copies=None, tol=1e-12).fit(whole([labels]))
    found = pd.read_parquet(tmp_path / "classes" / "labels.parquet").set_index("item").loc[model.items_]
    assert found["label"].tolist() == model.labels_series_.tolist()
    np.testing.assert_allclose(found["probability"], model.responsibilities_.max(1), rtol=1e-6)


def test_the_summary_says_what_was_found(run, tmp_path, labels):
    found = json.loads(run("fit-partitions", "labels", "--json").stdout)
    assert found["n_items"] == sum(found["class_sizes"].values()) == 90
    assert (found["n_partitions"], found["n_items_without_labels"], found["converged"]) == (3, 0, True)
    assert set(found["checksums"]) == {"labels.parquet", "annotators.csv", "confusion.csv", "counts.csv"}
    assert json.loads((tmp_path / "consilience-report" / "summary.json").read_text()) == found
    run("fit-partitions", "labels")  # replaces the earlier results


def test_groups_are_clustered(run, tmp_path, labels):
    said = run("fit-partitions", "labels", "--model", "kcc", "--set", "n_clusters=3", "--out", "groups").stdout
    assert "KCC: 90 items, 360 labels by 6 annotators, in 3 partitions.\nClusters: 0 " in said
    model = KCC(3, random_state=0).fit(whole([labels]))
    found = pd.read_parquet(tmp_path / "groups" / "clusters.parquet").set_index("item").loc[model.items_]
    assert found["cluster"].tolist() == model.labels_.tolist()
    assert found.columns.tolist() == ["cluster"]
    centroids = pd.read_csv(tmp_path / "groups" / "centroids.csv", index_col=["annotator", "group"])
    np.testing.assert_allclose(centroids.filter(like="cluster").groupby("annotator").sum(), 1)
    summary = json.loads((tmp_path / "groups" / "summary.json").read_text())
    assert list(summary["cluster_sizes"].values()) == np.bincount(model.labels_).tolist()
    assert summary["utility"] == pytest.approx(model.utility_)
    assert set(summary["files"]) == {"annotators", "centroids", "clusters", "summary"}
    assert set(summary["checksums"]) == {"annotators.csv", "centroids.csv", "clusters.parquet"}
    run("fit-partitions", "labels", "--out", "groups")  # a fit of another model replaces its files
    assert not (tmp_path / "groups" / "centroids.csv").exists()


def test_components_of_labels(run, tmp_path, labels):
    run("fit-partitions", "labels", "--model", "ProductMixture", "--set", "tol=1e-10", "--out", "mixture")
    model = ProductMixture(copies=None, tol=1e-10).fit(whole([labels]))
    found = pd.read_parquet(tmp_path / "mixture" / "labels.parquet").set_index("item").loc[model.items_]
    assert found["label"].tolist() == model.labels_series_.tolist()
    np.testing.assert_allclose(found["probability"], model.responsibilities_.max(1), rtol=1e-6)
    summary = json.loads((tmp_path / "mixture" / "summary.json").read_text())
    assert set(summary["checksums"]) == {"annotators.csv", "confusion.csv", "labels.parquet"}


@pytest.mark.parametrize(
    ("model", "settings", "files"),
    [
        (StagewiseEM(copies=None), (), {"labels.parquet", "annotators.csv", "confusion.csv"}),
        (
            OrdinalRatings(["dog", "cow", "cat"]),
            ("--set", 'levels=["dog", "cow", "cat"]'),
            {"labels.parquet", "annotators.csv", "confusion.csv"},
        ),
        (SubsetFusion(copies=None, random_state=0), (), {"clusters.parquet", "annotators.csv"}),
        (
            MECC(3, n_init=2, random_state=0),
            ("--set", "n_clusters=3", "--set", "n_init=2"),
            {"clusters.parquet", "annotators.csv", "views.csv"},
        ),
        (
            MCVC(3, n_init=2, random_state=0),
            ("--set", "n_clusters=3", "--set", "n_init=2"),
            {"clusters.parquet", "annotators.csv", "views.csv"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_model_writes_its_results(run, tmp_path, labels, model, settings, files):
    name = type(model).__name__
    seed = ("--seed", 0) if "random_state" in model.get_params() else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        said = run("fit-partitions", "labels", "--model", name, *settings, *seed, "--out", "found").stdout
        table = PartitionedTable(tmp_path / "labels")
        expected = pd.concat(item_results(fit(model, table), table), ignore_index=True)
    assert said.startswith(f"{name}: 90 items, ")
    summary = json.loads((tmp_path / "found" / "summary.json").read_text())
    assert set(summary["checksums"]) == files
    of_items = next(file for file in files if file.endswith(".parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "found" / of_items), expected, check_dtype=False)
    sizes = summary["class_sizes" if "labels.parquet" in files else "cluster_sizes"]
    assert sum(sizes.values()) == 90
    assert sizes == {str(key): size for key, size in expected[expected.columns[1]].value_counts().items()}


def test_items_without_groups_have_no_cluster(run, tmp_path, labels):
    blank = pd.DataFrame({"item": [1000, 1001], "annotator": None, "label": None})
    blank.astype({"annotator": "string", "label": "string"}).to_parquet(tmp_path / "labels" / "blank.parquet")
    settings = "--model", "KCC", "--set", "n_clusters=3", "--seed", 1
    assert "2 items without labels." in run("fit-partitions", "labels", *settings).stdout
    found = pd.read_parquet(tmp_path / "consilience-report" / "clusters.parquet").set_index("item")
    assert found["cluster"].isna().sum() == found.loc[[1000, 1001], "cluster"].isna().sum() == 2


@pytest.mark.slow
def test_items_with_features_are_clustered(run, tmp_path):
    frame = items()
    (tmp_path / "items").mkdir()
    for number, part in enumerate((frame[:100], frame[100:])):
        part.to_parquet(tmp_path / "items" / f"{number}.parquet")
    features, people = FEATURES, [name for name in frame if str(name).startswith("annotator")]
    settings = {"prior_variance": 1.0, "max_clusters": 6, "n_init": 2}
    options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    columns = "--features", ", ".join(features), "--annotators", ",".join(people), "--seed", 3
    model = ("--model", "PartitionLabelModel")
    said = run("fit-partitions", "items", *model, *columns, *options, "--out", "found").stdout
    assert said.startswith(f"PartitionLabelModel: {len(frame)} items, ")
    table = PartitionedItems(tmp_path / "items", features=features, annotators=people)
    here = fit(PartitionLabelModel(copies=None, random_state=3, **settings), table)
    expected = pd.concat(item_results(here, table), ignore_index=True)
    found = pd.read_parquet(tmp_path / "found" / "clusters.parquet")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    mapping = pd.read_csv(tmp_path / "found" / "mapping.csv")
    assert len(mapping) == len(here.annotator_mapping_)


def test_items_without_labels_have_no_class(run, tmp_path, labels):
    blank = pd.DataFrame({"item": [1000, 1001], "annotator": None, "label": None})
    blank.astype({"annotator": "string", "label": "string"}).to_parquet(tmp_path / "labels" / "blank.parquet")
    assert "2 items without labels." in run("fit-partitions", "labels").stdout
    found = pd.read_parquet(tmp_path / "consilience-report" / "labels.parquet").set_index("item")
    assert found.loc[[1000, 1001]].isna().all(axis=None)


def test_names_of_columns_and_missing_values(run, tmp_path, labels):
    folder = tmp_path / "renamed"
    folder.mkdir()
    names = {"item": "picture", "annotator": "who", "label": "says"}
    labels.rename(columns=names).replace("dog", "?").to_parquet(folder / "all.parquet")
    options = ("--item", "picture", "--annotator", "who", "--label", "says", "--missing", "?")
    found = json.loads(run("fit-partitions", "renamed", *options, "--json").stdout)
    assert sorted(found["class_sizes"]) == ["cat", "cow"]


def test_an_interrupted_fit_goes_on(run, tmp_path, labels):
    run("fit-partitions", "labels", "--checkpoint", "fit.npz", "--out", "one")
    result = run("fit-partitions", "labels", "--checkpoint", "fit.npz", "--out", "two")
    assert "90 items" in result.stdout
    one, two = (pd.read_parquet(tmp_path / name / "labels.parquet") for name in ("one", "two"))
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.slow
def test_workers_find_the_same(run, tmp_path, labels):
    run("fit-partitions", "labels", "--out", "threads")
    run("fit-partitions", "labels", "--out", "workers", "--workers", 2)
    one, two = (pd.read_parquet(tmp_path / name / "labels.parquet") for name in ("threads", "workers"))
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere",), "There is no file nowhere."),
        (("labels", "--out", "labels"), "labels holds the table itself; name another folder with --out."),
        (
            ("labels", "--jobs", 2, "--workers", 2),
            "--jobs and --workers exclude each other: threads or a cluster do the work.",
        ),
        (
            ("labels", "--set", "subtypes=2"),
            "Over partitions, DawidSkene finds no subtypes of classes: they are divided along an eigenvector with an "
            "entry for each item, which is no sum over partitions. Give subtypes=1. Got subtypes=2.",
        ),
        (
            ("labels", "--model", "KCC", "--features", "x,y"),
            "--features cannot be used: KCC reads a long table of labels.",
        ),
        (
            ("labels", "--model", "PartitionLabelModel", "--label", "label"),
            "--label cannot be used: PartitionLabelModel reads a row for each item.",
        ),
        (
            ("labels", "--model", "PartitionLabelModel", "--features", "x"),
            "PartitionLabelModel needs --annotators: names of columns, separated by commas.",
        ),
        (
            ("labels", "--item", "card"),
            "0.parquet: the column 'card' is missing. The columns are 'item', 'annotator', 'label'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(fails, labels, arguments, sentence):
    assert fails("fit-partitions", *arguments).startswith(sentence)


def test_items_of_two_types_are_refused(fails, tmp_path, labels):
    labels.assign(item=[f"a{item}" for item in labels["item"]]).to_parquet(tmp_path / "labels" / "named.parquet")
    assert "another type" in fails("fit-partitions", "labels")


def test_fit_names_the_command_for_folders(fails, labels):
    assert fails("fit", "labels").endswith("'consilience fit-partitions' reads all of them.")


def test_a_cluster_that_does_not_answer(fails, labels):
    pytest.importorskip("dask.distributed", reason="dask is not installed")
    assert fails("fit-partitions", "labels", "--scheduler", "nonsense") == "No Dask cluster answers at nonsense."
