"""The program with models of labels: fit, known classes, earlier counts, new items, the report."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from consilience import Labels, load, read_annotations, save
from consilience.consensus import DawidSkene, MajorityVote
from consilience.simulation import simulate_copies, simulate_labels, simulate_labels_with_features
from tests.cli.conftest import further

FIT = ("fit", "labels.csv", "--model", "DawidSkene", "--out", "out")
TABLES = ["labels.csv", "annotators.csv", "confusion.csv", "counts.csv", "votes.csv", "placements.csv"]
FILES = ["report.html", *TABLES, "model.zip", "summary.json"]
MODEL = "out/model.zip"
pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")  # in Python; of the last item


@pytest.fixture
def cells():
    """Labels by four annotators of 12 items, the last without labels; Di errs often."""
    matrix = pd.DataFrame(
        {
            "Ann": [*["cat"] * 5, *["dog"] * 6, None],
            "Bo": [*["cat"] * 5, *["dog"] * 6, None],
            "Cy": [*["cat"] * 4, *["dog"] * 7, None],
            "Di": [*["cat", "dog"] * 5, "cat", None],
        },
        index=pd.Index([f"item {i}" for i in range(12)], name="item"),
    )
    return matrix


@pytest.fixture
def crowd(tmp_path, cells):
    """Files labels.csv (long), crowd.csv (crowd-kit) and wide.csv."""
    long = Labels.from_matrix(cells).to_frame()
    long = pd.concat([long, pd.DataFrame({"item": ["item 11"]})])
    long.to_csv(tmp_path / "labels.csv", index=False)
    names = {"item": "task", "annotator": "worker"}
    long.rename(columns=names).to_csv(tmp_path / "crowd.csv", index=False)
    cells.to_csv(tmp_path / "wide.csv")
    return tmp_path


@pytest.fixture
def judged(crowd, run, quick_report):
    """The labels after ``consilience fit`` in the folder out."""
    run(*FIT)
    return crowd


def table(path, **options):
    return pd.read_csv(path, **options)


def test_of_many_classes_lists_cells_with_labels_and_says_so(tmp_path, run, quick_report):
    rng = np.random.default_rng(0)
    item, label = np.repeat(np.arange(360), 2), np.repeat(np.arange(360) % 120, 2)
    annotator = np.where(np.arange(720) % 2, rng.integers(20, size=720), rng.integers(20, 40, size=720))
    frame = pd.DataFrame({"item": item, "annotator": annotator, "label": label}).add_prefix("").astype(str)
    frame.to_csv(tmp_path / "labels.csv", index=False)
    result = run(*FIT, "--set", "calibrate=false", "--set", "copies=none")
    cells = table(tmp_path / "out" / "confusion.csv")
    assert cells.columns.tolist() == ["annotator", "class", "label", "n_labels", "probability"]
    said = f"Of the 576,000 cells of the confusion matrices, confusion.csv lists the {len(cells):,} that have labels"
    assert said in result.stderr
    assert len(cells) < 5000
    assert not (tmp_path / "out" / "counts.csv").exists()


def test_writes_the_results_of_the_python_model(crowd, run, quick_report):
    result = run(*FIT)
    labels = read_annotations(crowd / "labels.csv")
    model, out = DawidSkene().fit(labels), crowd / "out"
    assert {path.name for path in out.iterdir()} == set(FILES)
    found = table(out / "labels.csv")
    assert found.columns.tolist() == ["item", "label", "probability"]
    assert found["item"].tolist() == labels.items.tolist()
    assert found["label"].fillna("blank").tolist() == [*model.labels_[:-1], "blank"]
    np.testing.assert_allclose(found["probability"], [*model.responsibilities_.max(1)[:-1], np.nan], rtol=1e-12)
    pd.testing.assert_frame_equal(
        table(out / "annotators.csv", index_col="annotator"), model.annotators_, check_index_type=False
    )
    for name, held in {"confusion": model.confusion_matrices_, "counts": model.confusion_counts_}.items():
        written = table(out / f"{name}.csv", index_col=["annotator", "class"])
        assert written.index.tolist() == held.index.tolist()
        assert written.columns.tolist() == ["cat", "dog"]
        np.testing.assert_allclose(written, held, rtol=1e-12)
    assert load(MODEL).labels_.tolist() == model.labels_.tolist()
    ((reported, said, X, scores),) = quick_report
    assert isinstance(said, Labels)
    assert said == labels
    assert reported.lower_bound_ == model.lower_bound_
    assert X is None
    assert scores is None
    size = (model.labels_ == "cat").sum()
    assert result.stdout.startswith(f"12 items in 2 classes by 4 annotators\n  cat     {size}  ")
    assert "\n  in none 1    8.3%\n" in result.stdout
    assert "\nLeast accurate annotators:\n  Di   accuracy " in result.stdout
    assert " bits per label, 11 labels\n" in result.stdout
    assert result.stdout.endswith(f"Files in out: {', '.join(FILES)}\n")
    unlabelled, few = further(result.stderr)
    assert few.startswith("Note: DawidSkene: There are 4 annotators and no gold, so the probabilities rest on")
    assert unlabelled == "Note: Items without labels: 1 of 12; their classes are unknown."


def test_tables_of_every_form_give_the_same_result(judged, run, quick_report):
    expected = (judged / "out" / "labels.csv").read_text()
    run("fit", "crowd.csv", "--model", "DawidSkene", "-o", "crowd")
    assert (judged / "crowd" / "labels.csv").read_text() == expected
    run("fit", "wide.csv", "--kind", "labels", "--model", "DawidSkene", "-o", "wide")
    assert (judged / "wide" / "labels.csv").read_text() == expected


def test_json_is_the_summary(crowd, run, quick_report):
    found = json.loads(run(*FIT, "--json").stdout)
    assert found == json.loads((crowd / "out" / "summary.json").read_text())
    model = load(MODEL)
    assert (found["model"], found["parameters"]["prior"]) == ("DawidSkene", "learned")
    assert {key: found[key] for key in ("n_items", "n_annotators", "n_labels", "n_classes", "n_features")} == {
        "n_items": 12,
        "n_annotators": 4,
        "n_labels": 44,
        "n_classes": 2,
        "n_features": 0,
    }
    assert [row["label"] for row in found["classes"]] == ["cat", "dog"]
    assert [row["n_items"] for row in found["classes"]] == [(model.labels_ == name).sum() for name in ("cat", "dog")]
    cats = model.responsibilities_.max(1)[model.labels_ == "cat"]
    assert found["classes"][0]["mean_probability"] == pytest.approx(cats.mean())
    worst = found["weakest_annotators"][0]
    assert worst["annotator"] == "Di"
    assert worst["information"] == pytest.approx(model.annotators_.loc["Di", "information"])
    assert found["agreement"] == pytest.approx(model.annotators_["agreement"].mean())  # all have as many labels
    assert found["converged"] is True
    assert {path.rsplit("/")[-1] for path in found["files"].values()} == set(FILES)


@pytest.mark.slow
def test_a_real_report_is_written_and_written_again(crowd, run):
    run(*FIT, "--certainty-draws", 0)
    page = (crowd / "out" / "report.html").read_text(encoding="utf-8")
    assert "12 items in 2 classes by 4 annotators" in page
    assert run("report", MODEL, "labels.csv", "--certainty-draws", 0).stdout == "report.html\n"
    assert (crowd / "report.html").read_text(encoding="utf-8") == page


def test_a_model_without_counts_writes_none(crowd, run, quick_report):
    run("fit", "labels.csv", "--model", "MajorityVote", "-o", "out")
    assert {path.name for path in (crowd / "out").iterdir()} == set(FILES) - {"counts.csv"}
    found = json.loads((crowd / "out" / "summary.json").read_text())
    assert found["measure"] == "share of votes"
    assert "lower_bound" not in found
    assert found["n_ties"] == MajorityVote().fit(read_annotations(crowd / "labels.csv")).n_ties_


def test_components_have_no_names(crowd, run, quick_report):
    result = run("fit", "labels.csv", "--model", "ProductMixture", "--set", "n_clusters=3", "--set", "n_init=2")
    assert "\n  class 0 " in result.stdout
    assert "accuracy" not in result.stdout
    assert "bits per label" in result.stdout
    found = json.loads((crowd / "consilience-report" / "summary.json").read_text())
    assert found["agreement"] is None
    assert found["weakest_annotators"][0]["accuracy"] is None


def test_gold_fixes_classes(crowd, run, quick_report):
    (crowd / "gold.csv").write_text("item,class\nitem 0,dog\nitem 11,dog\nitem 6,cat\nitem 2,\nmore,dog\n")
    result = run(*FIT, "--gold", "gold.csv", "--json")
    assert "Note: Rows of gold.csv about other items, left out: 1.\n" in result.stderr
    assert "Note: Items whose class is known from gold.csv: 3 of 12.\n" in result.stderr
    assert json.loads(result.stdout)["n_known_classes"] == 3
    found = table(crowd / "out" / "labels.csv", index_col="item")
    assert found.loc[["item 0", "item 11", "item 6"], "label"].tolist() == ["dog", "dog", "cat"]
    assert found.loc[["item 0", "item 11", "item 6"], "probability"].tolist() == [1, 1, 1]


def test_gold_that_labels_contradict_is_named(tmp_path, run, quick_report):
    true = np.arange(120) % 3
    labels = simulate_labels(true, n_annotators=10, accuracy=0.85, annotators_per_item=5, random_state=0)
    labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    wrong = [(item, (true[item] + (item < 6)) % 3) for item in range(20)]
    pd.DataFrame(wrong, columns=["item", "label"]).to_csv(tmp_path / "gold.csv", index=False)
    fit = ("fit", "labels.csv", "--model", "DawidSkene", "--gold", "gold.csv")
    assert "Labels contradict the known class of 6 of 20 gold items, more than chance explains: " in run(*fit).stdout
    pd.DataFrame({"item": range(20), "label": true[:20]}).to_csv(tmp_path / "gold.csv", index=False)
    assert "contradict" not in run(*fit).stdout


def test_a_word_of_abstention_is_a_class_if_a_gold_item_is_of_it(tmp_path, run, quick_report):
    rows = ["task,worker,label", *(f"{i},{who},{'skip' if i < 3 else 'keep'}" for i in range(6) for who in "ABC")]
    (tmp_path / "labels.csv").write_text("\n".join([*rows[:-1], "5,C,unsure"]))
    (tmp_path / "gold.csv").write_text("label,task\nskip,0\nkeep,4\n")
    result = run("fit", "labels.csv", "--gold", "gold.csv")
    assert "1 cell with 'unsure' read as missing" in result.stderr
    assert pd.read_csv(tmp_path / "consilience-report" / "labels.csv")["label"].tolist() == ["skip"] * 3 + ["keep"] * 3
    assert "with 'skip', 'unsure' read as missing" in run("fit", "labels.csv").stderr


def test_gold_of_numbers_is_matched_with_labels_of_text(crowd, run, quick_report):
    """0 is an integer in a file in which all labels are integers, and text otherwise."""
    (crowd / "mixed.csv").write_text("item,annotator,label\n1,a,0\n2,a,1\n3,a,x\n1,b,0\n2,b,1\nz,b,x\n")
    (crowd / "gold.csv").write_text("item,label\n1,1\n2,1\n")
    run("fit", "mixed.csv", "--model", "DawidSkene", "--gold", "gold.csv")
    found = table(crowd / "consilience-report" / "labels.csv", index_col="item", dtype=str)
    assert found.loc[["1", "2"], "label"].tolist() == ["1", "1"]


def test_history_matches_the_python_model(judged, run, quick_report):
    run(*FIT[:-1], "again", "--history", "out/counts.csv")
    labels = read_annotations(judged / "labels.csv")
    model = DawidSkene().fit(labels, history=DawidSkene().fit(labels).confusion_counts_)
    counts = table(judged / "again" / "counts.csv", index_col=["annotator", "class"])
    np.testing.assert_allclose(counts, model.confusion_counts_, rtol=1e-9, atol=1e-9)
    assert counts.to_numpy().sum() == pytest.approx(88)  # both times 44


def test_history_of_annotators_without_new_labels(judged, run, quick_report):
    frame = table(judged / "labels.csv").query("annotator != 'Di'")
    frame.to_csv(judged / "fewer.csv", index=False)
    run("fit", "fewer.csv", "--model", "DawidSkene", "--history", "out/counts.csv", "-o", "again")
    annotators = table(judged / "again" / "annotators.csv", index_col="annotator")
    assert annotators.loc["Di", "n_labels"] == 0
    assert "Di" not in run("fit", "fewer.csv", "--model", "DawidSkene", "--history", "out/counts.csv").stdout


def test_labels_with_the_names_of_columns(crowd, run, quick_report):
    frame = table(crowd / "labels.csv").replace({"cat": "class", "dog": "annotator"})
    frame.to_csv(crowd / "odd.csv", index=False)
    run("fit", "odd.csv", "--model", "DawidSkene", "-o", "out")
    counts = table(crowd / "out" / "counts.csv")
    assert counts.columns.tolist() == ["annotator_", "class_", "annotator", "class"]
    run("fit", "odd.csv", "--model", "DawidSkene", "--history", "out/counts.csv", "-o", "again")
    assert table(crowd / "again" / "counts.csv").iloc[:, 2:].to_numpy().sum() == pytest.approx(88)


def test_features_are_only_shown_in_the_report(judged, run, cells, quick_report):
    quick_report.clear()
    features = pd.DataFrame({"size": np.arange(13.0)}, index=pd.Index([*cells.index, "more"], name="item"))
    features[::-1].to_csv(judged / "features.csv")
    result = run(*FIT, "--features", "features.csv", "--scores", "features.csv")
    assert (
        "Note: DawidSkene does not use features; those of features.csv are only shown in the report. --model "
        "DawidSkeneClassifier would use them.\n"
    ) in result.stderr
    assert "Note: Rows of features.csv about other items, left out: 1.\n" in result.stderr
    ((model, _, X, scores),) = quick_report
    assert type(model) is DawidSkene
    pd.testing.assert_frame_equal(X, features[:12])
    assert scores["size"].tolist() == X["size"].tolist()


@pytest.mark.slow
def test_features_take_part_in_the_classes(tmp_path, run, quick_report):
    """Of items that nobody labelled, too; with known classes, and with probabilities instead, which are not scaled."""
    drawn = simulate_labels_with_features(90, n_features=5, n_classes=2, shift=1.5, n_labelled=60, random_state=0)
    names, classes = [f"i{i}" for i in range(90)], np.array(["cat", "dog"])
    labels = drawn.annotations.to_frame()
    said = labels.assign(item="i" + labels["item"].astype(str), label=classes[labels["label"].astype(int)])
    said.to_csv(tmp_path / "labels.csv", index=False)
    drawn.data.set_axis(names).rename_axis("item").to_csv(tmp_path / "features.csv")
    (tmp_path / "gold.csv").write_text(f"item,label\ni0,{classes[1 - drawn.target[0]]}\n")
    result = run("fit", "labels.csv", "--features", "features.csv", "--gold", "gold.csv", "-o", "out")
    assert "Chose DawidSkeneClassifier, since the file holds labels" in result.stderr
    assert "Features take part in the classes" in result.stdout
    found = table(tmp_path / "out" / "labels.csv", index_col="item")
    assert found.loc["i0", "label"] == classes[1 - drawn.target[0]]
    assert (found.loc[names[1:], "label"] == classes[drawn.target[1:]]).mean() > 0.95
    run("predict", "out/model.zip", "features.csv", "--out", "new.csv")
    assert (table(tmp_path / "new.csv")["label"] == classes[drawn.target]).mean() > 0.95
    shares = np.where(np.eye(2)[drawn.target] == 1, 0.9, 0.1)
    pd.DataFrame(shares, names, classes).rename_axis("item").to_csv(tmp_path / "shares.csv")
    given = ("--model", "DawidSkeneClassifier", "--set", "classifier=probabilities")
    run("fit", "labels.csv", "--features", "shares.csv", *given, "-o", "by-shares")
    found = table(tmp_path / "by-shares" / "labels.csv", index_col="item")
    assert (found["label"] == classes[drawn.target]).all()


def test_predict_reads_labels_of_new_items(judged, run):
    (judged / "new.csv").write_text("task,worker,label\nu,Ann,cat\nu,Di,dog\nv,Bo,dog\nw,,\n")
    result = run("predict", MODEL, "new.csv", "--proba")
    found = pd.read_csv(io.StringIO(result.stdout), index_col="item")
    assert found.columns.tolist() == ["label", "probability", "probability of cat", "probability of dog"]
    labels = read_annotations(judged / "new.csv")
    model = load(judged / MODEL)
    assert found.index.tolist() == ["u", "v", "w"]
    assert found["label"].fillna("blank").tolist() == [*model.predict(labels)[:-1], "blank"]
    assert found["probability"].isna().tolist() == [False, False, True]
    np.testing.assert_allclose(found.iloc[:, 2:], model.predict_proba(labels), rtol=1e-12)
    (judged / "new-wide.csv").write_text("item,Ann,Di,Bo\nu,cat,dog,\nv,,,dog\nw,,,\n")
    assert run("predict", MODEL, "new-wide.csv", "--kind", "labels", "--proba").stdout == result.stdout


def test_predict_matches_annotators_named_by_numbers(crowd, run, quick_report):
    (crowd / "mixed.csv").write_text("item,annotator,label\np,7,x\nq,7,y\np,b,x\nq,b,y\n")
    run("fit", "mixed.csv", "--model", "DawidSkene", "-o", "out")
    (crowd / "new.csv").write_text("item,annotator,label\nr,7,y\n")
    assert run("predict", MODEL, "new.csv").stdout.splitlines()[1].startswith("r,y,")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("owl.csv", "item,annotator,label\nu,Ann,owl\n", "owl.csv: The label 'owl' of item 'u' was not fitted."),
        (
            "none.csv",
            "item,annotator,label\nu,,\n",
            "none.csv: DawidSkene needs labels, and none of the 1 items has any.",
        ),
        ("wide.csv", "item,Ann\nu,cat\n", "wide.csv: DawidSkene reads labels, and the file holds groupings. If all a"),
    ],
)
def test_predict_errors(name, content, message, judged, fails):
    (judged / name).write_text(content)
    assert fails("predict", MODEL, name).startswith(message)


def test_predict_takes_newcomers_to_be_like_the_crowd(judged, run):
    (judged / "zoe.csv").write_text("item,annotator,label\nu,Zoe,cat\n")
    result = run("predict", MODEL, "zoe.csv")
    assert result.stdout.splitlines()[1].startswith("u,cat,")
    assert "1 annotator was not fitted and is taken to be like the crowd: 'Zoe'." in result.stderr


@pytest.mark.parametrize("model", ["MajorityVote", "ProductMixture", "SpectralEM", "StagewiseEM"])
def test_every_model_of_labels_takes_gold(model, crowd, run, quick_report):
    (crowd / "gold.csv").write_text("item,class\nitem 0,dog\nitem 11,dog\n")
    result = run("fit", "labels.csv", "--model", model, "--gold", "gold.csv", "-o", "out")
    assert "Note: Items whose class is known from gold.csv: 2 of 12.\n" in result.stderr
    found = table(crowd / "out" / "labels.csv", index_col="item")
    assert found.loc[["item 0", "item 11"], "label"].tolist() == ["dog", "dog"]


def test_predict_needs_a_fitted_model(crowd, fails):
    save(DawidSkene(), crowd / "new.zip")
    assert fails("predict", "new.zip", "labels.csv") == (
        "new.zip: The model was saved before it was fitted, so it cannot predict."
    )


def test_kind_is_refused_with_features(fitted, fails):
    assert fails("predict", MODEL, "features.csv", "--kind", "labels").startswith(
        "PartitionLabelModel predicts clusters from features; leave out --kind."
    )


def test_report_of_other_labels(judged, fails):
    (judged / "other.csv").write_text("item,annotator,label\nu,Ann,cat\n")
    assert fails("report", MODEL, "other.csv").startswith("other.csv: ")
    assert "reads labels, and the file holds groupings" in fails("report", MODEL, "wide.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wide.csv", "--model", "DawidSkene"), "wide.csv: DawidSkene reads labels, and the file holds groupings. If"),
        (("pairs.csv", "--model", "DawidSkene"), "pairs.csv: DawidSkene reads labels, and the file holds pairs."),
        (
            ("labels.csv", "--model", "PartitionLabelModel", "--gold", "gold.csv"),
            "PartitionLabelModel takes no --gold; MajorityVote, DawidSkene, OrdinalRatings, TagConsensus, "
            "ProductMixture, SpectralEM, StagewiseEM and DawidSkeneClassifier can use it.",
        ),
        (
            ("labels.csv", "--model", "MajorityVote", "--history", "gold.csv"),
            "MajorityVote takes no --history; DawidSkene can use it.",
        ),
        (
            ("labels.csv", "--model", "MajorityVote", "--set", "tol=1"),
            "MajorityVote has no parameter 'tol'; it has copies.",
        ),
        (("empty.csv", "--model", "DawidSkene"), "DawidSkene needs labels, and none of the 1 items has any."),
    ],
)
def test_options_that_a_model_of_labels_cannot_use(arguments, message, fails, crowd):
    (crowd / "pairs.csv").write_text("item_a,item_b,annotator,same\na,b,x,1\na,c,x,0\n")
    (crowd / "gold.csv").write_text("item,label\nitem 0,cat\n")
    (crowd / "empty.csv").write_text("item,annotator,label\na,,\n")
    assert fails("fit", *arguments).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,label\nzz,cat\n", "gold.csv: None of the 12 items of the annotations is in it."),
        ("item,label\nitem 0,owl\n", "gold.csv: The item 'item 0' has the class 'owl', which no annotator gave."),
        (
            "item,a,b\nitem 0,cat,1\n",
            "gold.csv: One column, that of the known classes, must be called 'label'. Found",
        ),
        ("item,label\nitem 0,cat\nitem 0,dog\n", "gold.csv: The names of items must differ."),
    ],
)
def test_gold_that_cannot_be_used(content, message, fails, crowd):
    (crowd / "gold.csv").write_text(content)
    assert fails(*FIT, "--gold", "gold.csv").startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,label\nzz,cat\n", "counts.csv: Expected the columns annotator, class, then one for each label"),
        ("annotator,class,cat\nAnn,cat,\n", "counts.csv: 'cat' in line 2 is ''. Expected a number of labels."),
        ("annotator,class,cat\nAnn,,1\n", "counts.csv: class is missing in line 2."),
        ("annotator,class,cat\nAnn,cat,-1\n", "history of the annotator 'Ann' has -1.0 in the column 'cat'."),
        ("annotator,class,owl\nAnn,owl,1\n", "history has none of the classes of the labels: it has 'owl', the labels"),
    ],
)
def test_history_that_cannot_be_used(content, message, fails, crowd):
    (crowd / "counts.csv").write_text(content)
    assert fails(*FIT, "--history", "counts.csv").startswith(message)


def test_the_same_files_again(crowd, run, quick_report):
    for name in ("one", "two"):
        run("fit", "labels.csv", "--model", "DawidSkene", "-o", name)
    for name in set(FILES) - {"summary.json"}:
        assert (crowd / "one" / name).read_bytes() == (crowd / "two" / name).read_bytes()


def test_an_item_that_nobody_labelled_has_a_blank_cell_and_is_counted(judged, run):
    found = table(judged / "out" / "labels.csv", index_col="item")
    assert found.loc["item 11"].isna().all()
    assert found.drop("item 11").notna().all(axis=None)
    assert json.loads((judged / "out" / "summary.json").read_text())["n_items_without_class"] == 1
    again = run(*FIT)
    assert "in none" in again.stdout
    predicted = run("predict", MODEL, "labels.csv")
    for result in (again, predicted):
        assert result.stderr.count("Note: Items without labels: 1 of 12; their classes are unknown.") == 1
    new = table(io.StringIO(predicted.stdout), index_col="item")
    pd.testing.assert_frame_equal(new, found)


COPIES = ["annotator 7", "annotator 7 (copy 1)", "annotator 7 (copy 2)"]


@pytest.fixture
def copied(tmp_path):
    """A file with the labels of six people and of a seventh, poor one, who answered three times."""
    true = np.array(["ant", "bee", "cow", "dog"])[np.arange(300) % 4]
    labels = simulate_labels(true, n_annotators=7, accuracy=[0.7] * 6 + [0.35], random_state=0)
    simulate_copies(labels, "annotator 7", random_state=0).to_frame().to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_copies_are_named_first(copied, run):
    result = run(*FIT)
    first, second, *_ = result.stdout.splitlines()
    summary = json.loads((copied / "out" / "summary.json").read_text())
    (group,) = summary["copies"]
    assert group["annotators"] == COPIES
    shares = f"{group['agreement']:.0%} of the 300 items that they share, where the other annotators explain "
    assert first.startswith(
        f"Weigh together as one annotator: {', '.join(COPIES[:2])} and {COPIES[2]}. They agree on {shares}"
    )
    model = load(copied / MODEL)
    n_changed = int((model.labels_ != model.labels_apart_).sum())
    assert summary["n_items_changed_by_copies"] == n_changed > 0
    assert second == f"If all annotators weighed alone, {n_changed} of 300 items would have another class."
    findings = (copied / "out" / "report.html").read_text().split('class="findings"')[1]
    assert findings.split("<li>")[1].startswith("Weigh together as one annotator: annotator 7, annotator 7 (copy 1)")
    assert second in findings.split("<li>")[2]
    assert "set copies=None" in result.stderr


@pytest.mark.slow
def test_copies_can_be_overruled(copied, run, quick_report):
    apart = run(*FIT, "--set", "copies=none")
    assert "Weigh together" not in apart.stdout
    assert "copies" not in "".join(further(apart.stderr))
    given = run(*FIT, "--set", f"copies={json.dumps([COPIES[:2]])}")
    assert given.stdout.startswith(f"Weigh together as one annotator: {COPIES[0]} and {COPIES[1]}. They agree on ")
