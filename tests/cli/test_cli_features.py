"""Features from files: the column that names the items, text and missing values, and cells that are refused."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from consilience import load, read_annotations, save
from consilience.errors import InputError
from consilience.semisupervised import PartitionLabelModel
from consilience.workflows.features import read_features
from consilience.workflows.jobs import FeatureOptions
from tests.cli.conftest import further
from tests.quick_cases import some_quick

MODEL = "out/model.zip"
ITEMS = pd.Index([f"item {i}" for i in range(12)], name="item")
COLOURS = np.repeat(["red", "green", "blue"], 4)


def read(path, items=ITEMS, **options):
    return read_features(path, FeatureOptions(**options), items)


@pytest.fixture
def table(tmp_path, features):
    """Write a table of features with columns in the given order, and return its path."""

    def write(columns, name="table.csv"):
        pd.DataFrame(columns).to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return write


# ---- the column of items


@pytest.mark.parametrize(
    "name", ["item", "Card", "patient_id", "sampleID", "Id", "ID", "Unnamed: 0", "index", "whatever", "species"]
)
def test_the_column_of_the_annotated_items_is_found_anywhere(name, table, features):
    path = table({"length": features["length"], name: features.index, "width": features["width"]})
    found = read(path)
    assert found.table.index.tolist() == ITEMS.tolist()
    assert found.table.columns.tolist() == ["length", "width"]
    np.testing.assert_allclose(found.table, features, rtol=1e-12)
    assert found.notes == []


def test_numbers_as_items_are_found_by_contents(table):
    items = pd.Index(range(101, 113))
    columns = {"age": [30, 41, 30, *range(50, 59)], "visit": range(12), "who": range(101, 113)}
    assert read(table(columns), items).table.index.tolist() == items.tolist()
    assert read(table(columns), items.astype(str)).table.index.tolist() == items.astype(str).tolist()


def test_contents_come_before_a_name(table, features):
    path = table({"card": [f"c{i}" for i in range(12)], "what": features.index, "width": features["width"]})
    found = read(path)
    assert found.table.index.equals(ITEMS)
    assert found.table.columns.tolist() == ["width"]
    assert found.notes == [f"The column 'card' of {path} is an id of the rows and was left out."]


def test_a_usual_name_decides_between_two_columns_of_items(table):
    items = pd.Index(range(12))
    path = table({"rank": range(11, -1, -1), "item": range(12), "size": np.arange(12) ** 2})
    found = read(path, items)
    assert found.table["rank"].tolist() == list(range(11, -1, -1))
    assert found.table.index.tolist() == list(range(12))


def test_two_possible_columns_are_refused_and_the_option_decides(table):
    items = pd.Index(range(1, 12))
    path = table({"Unnamed: 0": range(12), "patient_id": range(1, 13), "size": np.arange(12) ** 2})
    with pytest.raises(
        InputError, match=r"Which column names the items, 'Unnamed: 0' or 'patient_id'\? Both could, .*"
    ):
        read(path, items)
    assert read(path, items, feature_item="patient_id").table.index.tolist() == list(range(1, 13))
    assert read(path, items, feature_item="Unnamed: 0").table.index.tolist() == list(range(12))
    with pytest.raises(InputError, match=r"There is no column 'patient' of items\. Did you mean 'patient_id'\?"):
        read(path, items, feature_item="patient")


def test_two_equal_columns_count_as_one(table, features):
    path = table({"patient_id": features.index, "item": features.index, "width": features["width"]})
    found = read(path)
    assert found.table.columns.tolist() == ["width"]
    assert found.notes == [f"The column 'patient_id' of {path} is an id of the rows and was left out."]


def test_measurements_are_never_read_as_names(table, study, fails, features):
    path = table(features)
    with pytest.raises(
        InputError, match=r"No column has a usual name for items, and the first, 'length', holds numbers"
    ):
        read(path)
    assert "--feature-item COL names it." in fails("fit", "sorts.csv", "--features", path)


def test_a_repeated_item_is_not_hidden_by_another_column(table):
    path = table({"item": [*range(11), 10], "rank": range(12)})
    with pytest.raises(
        InputError, match=r"must differ\. Got 10 in line 12 and in line 13\. The column 'item' was taken"
    ):
        read(path, pd.Index(range(11)))


def test_further_ids_are_not_features_but_measurements_are(table, features):
    path = table(
        {
            "Unnamed: 0": range(12),
            "item": features.index,
            "barcode_id": [f"b{i}" for i in range(12)],
            "scan_id": np.arange(12) * 7 + 3,
            "index": features["width"] + 1.5,  # a refractive index
            "site_id": [1, 2] * 6,
            "length": features["length"],
        }
    )
    found = read(path)
    assert found.table.columns.tolist() == ["index", "site_id", "length"]
    assert found.notes == [
        f"3 columns of {path} ('Unnamed: 0', 'barcode_id', 'scan_id') are ids of the rows and were left out.",
        "The column 'site_id' was read as a measurement; if its numbers are codes, give categorical.",
    ]
    assert read(path, categorical=("site_id",)).table["site_id"].tolist() == ["1", "2"] * 6


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_the_apostrophe_of_exports_is_taken_off_where_it_makes_an_item(tmp_path, suffix):
    items = pd.Index(["-5 °C", "=sum", "'@ann", "'tis", "+1"])
    written = ["'-5 °C", "'=sum", "'@ann", "'tis", "+1", "'-6 °C"]
    table = pd.DataFrame({"card": written, "size": [1.0, 2, 3, 4, 5, 7]})
    path = tmp_path / f"table{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_excel(path, index=False)
    assert read(path, items).table.index.tolist() == [*items, "'-6 °C"]


def test_scores_and_known_classes_find_their_items_too(study, run, quick, quick_report, features):
    scores = pd.read_csv(study / "scores.csv")
    scores.rename(columns={"item": "patient"})[["risk", "patient"]].to_csv(study / "odd.csv", index=False)
    run("fit", "sorts.csv", "--scores", "odd.csv", *quick)
    rated = quick_report[-1][3]
    assert rated.index.tolist() == ITEMS.tolist()
    assert rated["risk"].tolist()[:11] == list(range(11))


def test_gold_finds_its_items_by_contents(tmp_path, run, quick_report):
    (tmp_path / "votes.csv").write_text("item,annotator,label\na,x,1\nb,x,2\na,y,1\nb,y,2\nc,y,1\n")
    (tmp_path / "gold.csv").write_text("class,thing\n1,a\n2,b\n")
    result = run("fit", "votes.csv", "--model", "DawidSkene", "--gold", "gold.csv")
    assert "Note: Items whose class is known from gold.csv: 2 of 3." in result.stderr


@pytest.mark.slow
def test_the_option_names_the_items_on_every_command(study, run, quick, quick_report, features):
    features.reset_index().assign(other_id=[f"o{i}" for i in range(12)]).to_csv(study / "two.csv", index=False)
    run("fit", "sorts.csv", "--features", "two.csv", "--feature-item", "item", *quick, "--out", "out")
    run("report", MODEL, "sorts.csv", "--features", "two.csv", "--feature-item", "item")
    for column, first in (("item", "item 0"), ("other_id", "o0")):
        told = pd.read_csv(io.StringIO(run("predict", MODEL, "two.csv", "--feature-item", column).stdout))
        assert told["item"][0] == first
    run(
        *("compare", "sorts.csv", "--features", "two.csv", "--feature-item", "item"),
        *("--models", "SubsetFusion", "--clusters", "2:3", "--folds", "2"),
    )


def test_predict_finds_the_items_among_columns_that_are_not_features(fitted, run, fails, features):
    features[["width", "length"]].assign(Patient_ID=features.index).to_csv(fitted / "last.csv", index=False)
    told = pd.read_csv(io.StringIO(run("predict", MODEL, "last.csv").stdout))
    assert told["item"].tolist() == ITEMS.tolist()
    features.to_csv(fitted / "bare.csv", index=False)
    assert fails("predict", MODEL, "bare.csv") == (
        "bare.csv: No column is left to name the items; --feature-item COL names it."
    )


# ---- text and missing values


@pytest.fixture
def patients(study, features):
    """Features with text and gaps in the file mixed.csv, and without gaps in whole.csv."""
    whole = features.assign(colour=COLOURS, smoker=["true", "FALSE"] * 6)
    whole.to_csv(study / "whole.csv")
    mixed = whole.copy()
    mixed.loc["item 1", "length"], mixed.loc["item 2", "length"] = np.nan, np.nan
    mixed.loc["item 5", "colour"] = None
    mixed.to_csv(study / "mixed.csv")
    return mixed


def test_text_is_refused_with_the_remedy(patients, fails):
    assert fails("fit", "sorts.csv", "--features", "whole.csv") == (
        "whole.csv: 'colour' of the item 'item 0' in line 2 is 'red'. Expected a finite number. --categorical colour "
        "makes an indicator column for each value in it."
    )
    assert fails("fit", "sorts.csv", "--features", "whole.csv", "--categorical", "color") == (
        "whole.csv: There is no column 'color' of features, named by --categorical. Did you mean 'colour'?"
    )


def test_gaps_are_refused_with_the_remedy(patients, fails):
    assert fails("fit", "sorts.csv", "--features", "mixed.csv", "--categorical", "colour") == (
        "mixed.csv: 'length' of the item 'item 1' in line 3 is missing. Expected a finite number. --impute median "
        "fills missing numbers with the median of their column."
    )
    patients.drop(columns="length").to_csv("text.csv")
    assert fails("fit", "sorts.csv", "--features", "text.csv", "--categorical", "colour") == (
        "text.csv: 'colour' of the item 'item 5' in line 7 is missing. Expected a category. --impute most_frequent "
        "fills missing text with the most frequent value of its column."
    )


@pytest.mark.parametrize("impute", some_quick(["median", "mean", "most_frequent"]))
@pytest.mark.parametrize("categorical", ["all", "colour"])
def test_predict_applies_the_preprocessing_of_fit(impute, categorical, patients, study, run, quick, quick_report):
    options = ("--categorical", categorical, "--impute", impute)
    result = run("fit", "sorts.csv", "--features", "mixed.csv", *options, *quick, "--out", "out")
    assert "Note: The column 'smoker' of true and false was read as 1 and 0." in result.stderr
    shown = f"{impute.replace('_', ' ')}, text with its most frequent value: 'length' 2, 'colour' 1."
    assert f"Note: Missing values of mixed.csv, each column filled with its {shown}" in result.stderr

    by_hand = patients.assign(smoker=[1.0, 0.0] * 6)
    known = by_hand["length"].dropna()
    fill = {"median": known.median(), "mean": known.mean(), "most_frequent": known.min()}[impute]
    numbers = by_hand[["length", "width", "smoker"]].fillna({"length": fill})
    scaled = (numbers - numbers.mean()) / numbers.std(ddof=0)
    colour = by_hand["colour"].fillna("blue")  # 4 blue, 4 red and 3 green: the first of the most frequent
    for value in ("blue", "green", "red"):
        scaled[f"colour_{value}"] = (colour == value).astype(float)

    pipeline = load(study / MODEL)
    assert [*map(str, pipeline[-1].feature_names_in_)] == scaled.columns.tolist()
    told = pd.read_csv(io.StringIO(run("predict", MODEL, "mixed.csv", "--proba").stdout), index_col="item")
    np.testing.assert_allclose(told.iloc[:, 2:], pipeline[-1].predict_proba(scaled), rtol=1e-9)

    shown = quick_report[-1][2]
    assert shown.columns.tolist() == scaled.columns.tolist()
    np.testing.assert_allclose(shown["length"], numbers["length"])  # in the units of the file
    assert json.loads((study / "out" / "summary.json").read_text())["standardized"] is True


def test_new_items_may_have_gaps_other_categories_and_another_order(patients, study, run, quick, quick_report):
    run("fit", "sorts.csv", "--features", "mixed.csv", "--categorical", "all", "--impute", "mean", *quick, "-o", "out")
    new = patients.iloc[[0, 4, 8]].set_axis(["n1", "n2", "n3"]).rename_axis("patient_id")
    new.loc["n2", "colour"], new.loc["n3", "width"] = "purple", np.nan
    new["smoker"] = [True, True, True]
    new[["smoker", "colour", "width", "length"]].assign(more="text").to_csv(study / "new.csv")
    result = run("predict", MODEL, "new.csv", "--proba")
    assert result.stderr.splitlines() == [
        "Note: Columns of new.csv that are not features of the model, left out: 1.",
        "Note: new.csv: 'colour' of the item 'n2' in line 3 is 'purple'; "
        "no item that the model was fitted to had this value.",
    ]
    told = pd.read_csv(io.StringIO(result.stdout), index_col="item")
    pipeline = load(study / MODEL)
    raw = new.assign(smoker=1.0)[["length", "width", "colour", "smoker"]]
    np.testing.assert_allclose(told.iloc[:, 2:], pipeline.predict_proba(raw), rtol=1e-12)
    numbers = patients[["length", "width"]].astype(float)
    scale = StandardScaler().fit(numbers.fillna(numbers.mean()).assign(smoker=[1.0, 0.0] * 6))
    filled = raw[["length", "width", "smoker"]].fillna(numbers.mean())
    by_hand = pd.DataFrame(scale.transform(filled), columns=scale.feature_names_in_)
    indicators = pd.DataFrame(0.0, index=range(3), columns=["colour_blue", "colour_green", "colour_red"])
    indicators.iloc[0, 2] = indicators.iloc[2, 0] = 1.0  # n2 has none
    np.testing.assert_allclose(told.iloc[:, 2:], pipeline[-1].predict_proba(by_hand.join(indicators)), rtol=1e-9)


def test_a_model_fitted_without_imputing_refuses_gaps(fitted, fails, features):
    features.assign(width=np.where(np.arange(12) == 3, np.nan, 1.0)).to_csv(fitted / "new.csv")
    assert fails("predict", MODEL, "new.csv") == (
        "new.csv: 'width' of the item 'item 3' in line 5 is missing. Expected a finite number. The model was fitted "
        "without --impute and cannot fill it."
    )


@pytest.mark.slow
def test_the_report_of_a_saved_pipeline_equals_that_of_fit(patients, study, run, fails, quick):
    options = ("--features", "mixed.csv", "--categorical", "all", "--impute", "median")
    run("fit", "sorts.csv", *options, *quick, "--certainty-draws", 2, "-o", "out")
    run("report", MODEL, "sorts.csv", "--features", "mixed.csv", "--certainty-draws", 2)
    page = (study / "report.html").read_bytes()
    assert page == (study / "out" / "report.html").read_bytes()
    assert b"colour_red" in page
    assert fails("report", MODEL, "sorts.csv", *options).startswith("The saved model fills and encodes")


def test_models_without_features_show_them_in_the_report(patients, run, quick_report):
    options = ("--features", "mixed.csv", "--categorical", "colour", "--impute", "median")
    run("fit", "sorts.csv", "--model", "KCC", "--set", "n_clusters=3", *options, "-o", "out")
    model, _, shown, _ = quick_report[-1]
    assert type(model).__name__ == "KCC"
    assert shown.columns.tolist() == ["length", "width", "smoker", "colour_blue", "colour_green", "colour_red"]
    assert not shown.isna().any(axis=None)
    run("report", MODEL, "sorts.csv", *options)
    pd.testing.assert_frame_equal(quick_report[-1][2], shown)


@pytest.mark.slow
def test_compare_prepares_features_in_every_fold(patients, run):
    result = run(
        *("compare", "sorts.csv", "--features", "mixed.csv", "--categorical", "all", "--impute", "median"),
        *("--models", "MPCKMeans,MECC", "--clusters", "3:3", "--folds", "2", "--json"),
    )
    rows = {row["model"]: row for row in json.loads(result.stdout)["models"]}
    assert {"MPCKMeans(n_clusters=3)", "MECC(n_clusters=3)"} < set(rows)
    assert all(np.isfinite(row["log_loss"]) for row in rows.values())
    assert result.stderr.count("Missing values of mixed.csv") == 1


def test_indicators_are_not_scaled_and_numbers_once(patients, study, run, quick, quick_report):
    run("fit", "sorts.csv", "--features", "whole.csv", "--categorical", "colour", *quick, "-o", "out")
    columns, scale, _ = (step for _, step in load(study / MODEL).steps)
    assert isinstance(columns, ColumnTransformer)
    raw = pd.read_csv(study / "whole.csv", index_col="item").assign(smoker=[1.0, 0.0] * 6)
    found = scale.transform(columns.transform(raw))
    np.testing.assert_allclose(found[["length", "width", "smoker"]].std(ddof=0), 1.0)
    assert set(np.unique(found.filter(like="colour"))) == {0.0, 1.0}
    run(
        "fit",
        "sorts.csv",
        "--features",
        "whole.csv",
        "--categorical",
        "colour",
        "--no-standardize",
        *quick,
        "-o",
        "out",
    )
    assert [name for name, _ in load(study / MODEL).steps] == ["columns", "partitionlabelmodel"]
    assert json.loads((study / "out" / "summary.json").read_text())["standardized"] is False


def test_features_with_the_same_name_are_refused(study, features, fails):
    features.assign(colour=COLOURS, colour_red=1.5).to_csv(study / "twice.csv")
    assert fails("fit", "sorts.csv", "--features", "twice.csv", "--categorical", "colour") == (
        "Two features would be called 'colour_red', one of them for a category; rename a column."
    )


def test_words_for_missing_are_gaps_in_numbers_and_categories_in_text(table, features):
    words = ["NA", "n/a", "NaN", "null", "?", "-", ".", "#N/A", " "]
    path = table({"item": ITEMS, "size": [1, 2, 4, *words], "kind": ["none", "a", "b", "none"] * 3})
    found = read(path, impute="median", categorical=("kind",))
    assert found.table["size"].isna().tolist() == [False] * 3 + [True] * 9
    assert found.notes[0] == ("'none' in the column 'kind' was read as a category; missing cells must be blank.")


# ---- cells that are refused, and columns that are noted


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("inf", "is 'inf'. Expected a finite number."),
        ("-Infinity", "is '-Infinity'. Expected a finite number."),
        ("1e400", "is '1e400'. Expected a finite number."),
        ("1e308", "is '1e308'. Expected a number of at most 1e+150, so that its square is finite; scale the column."),
        ("2024-03-01", "is '2024-03-01'. Expected a finite number. Turn dates into numbers, such as days since"),
        ("1/2/2024", "is '1/2/2024'. Expected a finite number. Turn dates into numbers"),
        ("12%", "is '12%'. Expected a finite number. Write percentages as plain numbers, without the percent sign."),
        (
            "1,234",
            "is '1,234'. Expected a finite number. Write numbers with a decimal point and without thousands separators",
        ),
        (
            "1 234",
            "is '1 234'. Expected a finite number. Write numbers with a decimal point and without thousands separators",
        ),
        ("1.234.567", "is '1.234.567'. Expected a finite number. Write numbers with a decimal point and without thou"),
        (
            "3,5",
            "is '3,5'. Expected a finite number. Write numbers with a decimal point and without thousands separators",
        ),
        ("true", "is 'true'. Expected a finite number."),
        ("NA", "is 'NA'. Expected a finite number. --impute median fills missing numbers"),
        ("big", "is 'big'. Expected a finite number."),
    ],
)
@pytest.mark.parametrize("everywhere", [False, True], ids=["one cell", "the column"])
def test_cells_that_are_not_numbers(cell, message, everywhere, study, features, fails):
    cells = [cell] * 12 if everywhere else ["1", "2", "3", cell, *"45678912"]
    if everywhere and cell in {"true", "NA"}:
        cells[0] = "x"  # else it is a column of truth values, or empty
    row = 0 if everywhere else 3
    features.assign(size=cells).to_csv(study / "odd.csv")
    told = fails("fit", "sorts.csv", "--features", "odd.csv")
    if everywhere and cell in {"true", "NA"}:
        assert "--categorical size makes an indicator column for each value in it." in told
    else:
        assert told.startswith(f"odd.csv: 'size' of the item 'item {row}' in line {row + 2} {message}")


def test_other_columns_that_are_refused(study, features, fails):
    features.assign(size="").to_csv(study / "empty.csv")
    assert fails("fit", "sorts.csv", "--features", "empty.csv", "--impute", "mean") == (
        "empty.csv: The column 'size' is empty; remove it."
    )
    features.assign(note=[f"note {i}" for i in range(12)]).to_csv(study / "notes.csv")
    assert fails("fit", "sorts.csv", "--features", "notes.csv").endswith(
        "Its text differs for every item, so it carries no information; remove the column."
    )
    assert fails("fit", "sorts.csv", "--features", "notes.csv", "--categorical", "all").startswith(
        "notes.csv: Every item has a different value in 'note'"
    )
    dates = pd.date_range("2024", periods=12)
    features.assign(born=dates).to_parquet(study / "dates.parquet")
    assert "Turn dates into numbers" in fails("fit", "sorts.csv", "--features", "dates.parquet")
    features.iloc[[0, 1, *range(12)]].to_csv(study / "rows.csv")
    assert "Got 'item 0' in line 2 and in line 4" in fails("fit", "sorts.csv", "--features", "rows.csv")
    features[1:].to_csv(study / "short.csv")
    assert fails("fit", "sorts.csv", "--features", "short.csv") == (
        "The item 'item 0' has annotations in sorts.csv but no row in short.csv."
    )


def test_an_outlier_and_constant_columns_are_noted_and_fitted(study, features, run, quick, quick_report):
    far = np.where(np.arange(12) == 6, 1e12, np.arange(12.0))
    flag = (np.arange(12) == 3).astype(float)
    features.assign(income=far, flag=flag, still=2.0).to_csv(study / "odd.csv")
    notes = further(run("fit", "sorts.csv", "--features", "odd.csv", *quick).stderr)
    assert notes[:2] == [
        "Note: The feature 'still' is constant and carries no information.",
        "Note: 'income' of the item 'item 6' is 1e+12, so far from all others that the feature carries hardly "
        "any other information; if it is an error, correct it.",
    ]
    assert not any("flag" in note for note in notes)


def test_truth_values_of_parquet_are_1_and_0(study, features, run, quick, quick_report):
    features.assign(smoker=[True, False] * 6).to_parquet(study / "truth.parquet")
    result = run("fit", "sorts.csv", "--features", "truth.parquet", *quick)
    assert "Note: The column 'smoker' of true and false was read as 1 and 0." in result.stderr
    assert quick_report[-1][2]["smoker"].tolist() == [1.0, 0.0] * 6


def test_items_with_only_features_are_kept(study, features, run, quick, quick_report):
    more = pd.concat([features, features.set_axis([f"new {i}" for i in range(12)])]).rename_axis("item")
    more.to_csv(study / "more.csv")
    result = run("fit", "sorts.csv", "--features", "more.csv", *quick, "--out", "out")
    assert "Note: Items without annotations: 13 of 24; clustered by their features." in result.stderr
    assert len(pd.read_csv(study / "out" / "clusters.csv")) == 24


def test_scales_far_apart_are_noted_without_standardising(study, features, run, quick, quick_report):
    features.assign(width=features["width"] * 1e5).to_csv(study / "raw.csv")
    told = run("fit", "sorts.csv", "--features", "raw.csv", "--no-standardize", *quick).stderr
    assert "Note: The scale of feature 'width' is " in told
    assert "standardise the features with StandardScaler." in told
    assert "The scale of feature" not in run("fit", "sorts.csv", "--features", "raw.csv", *quick).stderr


# ---- pipelines made in Python


def test_predict_and_report_apply_a_pipeline_made_in_python(patients, study, run, fails, quick_report):
    """Columns by position, codes that are numbers, and no imputer for the text."""
    whole = pd.read_csv(study / "whole.csv", index_col="item").drop(columns="smoker").assign(site=[1, 2, 3] * 4)
    whole.loc["item 2", "width"] = np.nan
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), slice(0, 2)),
            ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [2]),
            ("codes", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["site"]),
        ]
    )
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0)
    pipeline = make_pipeline(columns, model).set_output(transform="pandas")
    pipeline.fit(whole, read_annotations(study / "sorts.csv"))
    save(pipeline, study / "own.zip")
    whole[["site", "colour", "width", "length"]].to_csv(study / "own.csv")
    told = pd.read_csv(io.StringIO(run("predict", "own.zip", "own.csv", "--proba").stdout), index_col="item")
    np.testing.assert_allclose(told.iloc[:, 2:], pipeline.predict_proba(whole), rtol=1e-12)
    run("report", "own.zip", "sorts.csv", "--features", "own.csv")
    assert quick_report[-1][0] is not None
    np.testing.assert_array_equal(quick_report[-1][2].to_numpy(float), columns.transform(whole))
    whole.assign(colour=None).to_csv(study / "gap.csv")
    assert fails("predict", "own.zip", "gap.csv") == (
        "gap.csv: 'colour' of the item 'item 0' in line 2 is missing. Expected a category. The model was fitted "
        "without --impute and cannot fill it."
    )
