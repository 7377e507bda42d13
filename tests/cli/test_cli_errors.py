"""Bad input to ``consilience fit``: exit code 2 and one sentence that says what, where and what is expected."""

import gzip

import numpy as np
import pandas as pd
import pytest
from click import NoSuchOption

from tests.cli.conftest import PARTITION


def write(path, text):
    path.write_text(text)
    return path.name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty.csv: The file is empty; the first line must name the columns."),
        ("only.csv", b"item,annotator,group\n", "only.csv: The table has no rows"),
        ("junk.csv", bytes(range(256)), "junk.csv: This is not text; save the table as CSV (UTF-8)."),
        ("junk.parquet", bytes(range(256)), "junk.parquet: This is not a Parquet file, or it is damaged."),
        ("junk.json", bytes(range(256)), "junk.json: This is not JSON"),
        ("book.csv", b"PK\x03\x04junk", "book.csv: This zip archive is not an Excel workbook, or it is damaged"),
        ("broken.csv.gz", gzip.compress(b"item,Ann\na,1\n", mtime=0)[:-6], "broken.csv.gz"),
        ("columns.csv", b"item,annotater,label\na,x,1\n", "columns.csv: A long table of labels needs the column"),
        ("twice.csv", b"item,annotator,group\na,x,1\na,x,2\n", "twice.csv: The item 'a' occurs twice in the grouping"),
        ("strange.csv", b"colour,price,size\nred,1.5,2\nred,2.5,3\n", "strange.csv: The table looks like records"),
        (
            "pairs.csv",
            b"item_a,item_b,annotator,same\na,b,x,1\na,c,x,0\n",
            "pairs.csv: PartitionLabelModel reads groupings or",
        ),
        ("same.csv", b"item,Ann,Bo\na,1,2\nb,1,2\nc,1,2\n", "Every annotator gave one label only"),
        (
            "none.csv",
            b"item,annotator,group\na,Ann,\nb,Bo,\nc,Bo,\n",
            "None of the items has a label, so there is nothing to learn from.",
        ),
        (
            "single.csv",
            b"item,Ann,Bo\na,1,2\n",
            "single.csv: At least 3 items are needed to find clusters, and there is 1.",
        ),
        ("two.csv", b"item_a,item_b,annotator,same\na,b,x,1\n", "two.csv: At least 3 items are needed"),
        ("apart.csv", b"card,Ann,Bo\na,1,x\nb,2,y\nc,3,z\n", "apart.csv: Everybody kept all items apart"),
    ],
)
def test_annotations_that_cannot_be_used(name, content, message, fails, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert fails("fit", name, *PARTITION).startswith(message)


def test_annotations_that_are_not_a_file(fails, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert fails("fit", "absent.csv") == "There is no file absent.csv."
    assert fails("fit", "folder.csv") == "folder.csv: This is a folder; give one of its files."
    assert fails("fit") == "Missing argument 'ANNOTATIONS'."


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "empty.csv: The file is empty; the first line must name the columns."),
        ("junk.csv", "\0\1\2\3\4\5\6\7", "junk.csv: This is not text; save the table as CSV (UTF-8)."),
        ("junk.parquet", "junk", "junk.parquet: This is not a Parquet file, or it is damaged."),
        ("one.csv", "item\na\n", "one.csv: The first line has only one column, 'item'"),
        ("data.json", "[]", "data.json: The file is an empty list."),
        (
            "blank.csv",
            "item,size\nitem 0,1\nitem 1,\n",
            "blank.csv: 'size' of the item 'item 1' in line 3 is missing. Expected a finite number.",
        ),
        (
            "text.csv",
            "item,size\nitem 0,1\nitem 1,big\n",
            "text.csv: 'size' of the item 'item 1' in line 3 is 'big'. Expected a finite number.",
        ),
        (
            "nan.csv",
            "item,size\nitem 0,NaN\nitem 1,2\n",
            "nan.csv: 'size' of the item 'item 0' in line 2 is 'NaN'. Expected a finite number.",
        ),
        (
            "inf.csv",
            "item,size\nitem 0,1\nitem 1,inf\n",
            "inf.csv: 'size' of the item 'item 1' in line 3 is 'inf'. Expected a finite number.",
        ),
        (
            "twice.csv",
            "item,size\na,1\na,2\n",
            "twice.csv: The names of items must differ. Got 'a' in line 2 and in line 3. The column 'item' was taken "
            "for the names of the items.",
        ),
        ("noname.csv", "item,size\na,1\n,2\n", "noname.csv: One of the items, in line 3, has no name."),
        ("ragged.csv", "item,size\na,1,2\nb,1\n", "ragged.csv: Line 2 has 3 cells, but the first line names 2"),
        (
            "others.csv",
            "item,size\nx,1\ny,2\n",
            "No item of sorts.csv (such as 'item 0') is in others.csv (such as 'x').",
        ),
        (
            "fewer.csv",
            "item,size\nitem 0,1\nitem 1,2\n",
            "The item 'item 2' has annotations in sorts.csv but no row in fewer.csv, and so have 8 more.",
        ),
    ],
)
def test_features_that_cannot_be_used(name, content, message, fails, study):
    write(study / name, content)
    assert fails("fit", "sorts.csv", "--features", name).startswith(message)


def test_features_of_parquet_that_are_not_numbers(fails, study, features):
    features.assign(length=np.where(features["width"] > 1, np.nan, 1.0)).to_parquet(study / "nan.parquet")
    message = fails("fit", "sorts.csv", "--features", "nan.parquet")
    first = features.index[features["width"] > 1][0]
    assert message.startswith(f"nan.parquet: 'length' of the item {first!r} in row ")
    assert message.endswith(
        " is missing. Expected a finite number. --impute median fills missing numbers with the median of their column."
    )
    features.assign(colour="red").to_parquet(study / "text.parquet")
    assert "'colour' of the item 'item 0' in row 0 is 'red'" in fails("fit", "sorts.csv", "--features", "text.parquet")


def test_features_that_are_not_a_file(fails, study):
    assert fails("fit", "sorts.csv", "--features", "absent.csv") == "There is no file absent.csv."
    assert fails("fit", "sorts.csv", "--features", ".") == ".: This is a folder; give one of its files."


def test_features_that_are_all_constant(fails, study, features):
    features.assign(length=1, width=2).to_csv(study / "still.csv")
    assert fails("fit", "sorts.csv", "--features", "still.csv").startswith(
        "All 2 features are constant over the 12 items, so they do not distinguish any."
    )


def test_scores_that_cannot_be_used(fails, study, features):
    features[:3].to_csv(study / "few.csv")
    assert fails("fit", "sorts.csv", "--scores", "few.csv") == (
        "few.csv: There is no row for the item 'item 3', nor for 8 more."
    )
    pd.DataFrame({"item": features.index, "risk": "high"}).to_csv(study / "text.csv", index=False)
    assert "'risk' of the item 'item 0' in line 2 is 'high'" in fails("fit", "sorts.csv", "--scores", "text.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--set", "max_clusters=13"),
            "The 'max_clusters' parameter of PartitionLabelModel must be at most the number",
        ),
        (
            ("--set", "n_init=0"),
            "The 'n_init' parameter of PartitionLabelModel must be an int from 1 to 1,000,000.",
        ),
        (
            ("--set", "tol=small"),
            "The 'tol' parameter of PartitionLabelModel must be a number of at least 0. Got 'small'",
        ),
        (
            ("--set", "max_cluster=3"),
            "PartitionLabelModel has no parameter 'max_cluster'; it has n_clusters, max_clusters, prior_v",
        ),
        (
            ("--set", "zzz=3"),
            "PartitionLabelModel has no parameter 'zzz'; it has n_clusters, max_clusters, prior",
        ),
        (("--set", "tol"), "Invalid value for '--set': 'tol' is not of the form key=value."),
        (("--set", "=3"), "Invalid value for '--set': '=3' is not of the form key=value."),
        (("--set", "tol=1", "--set", "tol=2"), "--set tol is given twice."),
        (("--seed", "1", "--set", "random_state=1"), "--seed and --set random_state are the same; give one of them."),
        (("--seed", "x"), "Invalid value for '--seed': 'x' is not a valid integer."),
        (("--model", "KMeans"), "There is no model 'KMeans'; choose one of PartitionLabelModel, "),
        (
            ("--kind", "rows"),
            "Invalid value for '--kind': 'rows' is not one of 'groupings', 'pairs', 'labels', 'ratings', 'tags'.",
        ),
        (("--item", "thing"), "sorts.csv: There is no column 'thing'. Found 'item', 'Ann', 'Bo', 'Cy'."),
        (("--out", "sorts.csv"), "sorts.csv cannot be a folder, since a file of that name exists."),
        (("--out", "sorts.csv/deeper"), "sorts.csv/deeper cannot be a folder"),
        (("--feature", "x"), NoSuchOption("--feature").format_message()),
        (("more.csv",), "Got unexpected extra argument"),
    ],
)
def test_options_that_cannot_be_used(arguments, message, fails, study):
    named = () if "--model" in arguments else PARTITION
    assert fails("fit", "sorts.csv", *named, *arguments).startswith(message)


ONES = "1" * 400
NO_SEED = "Invalid value for '--seed': '-1' is not between 0 and 4294967295."
NO_NUMBER = f"Invalid value for '--clusters': '{ONES[:40]}…' is neither 'auto' nor an integer from 1 to 2147483647."
PARAMETER = "parameter of PartitionLabelModel must be"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "sorts.csv", "--seed", "-1"), NO_SEED),
        (("fuse", "sorts.csv", "--seed", "-1"), NO_SEED),
        (("compare", "sorts.csv", "--seed", "-1"), NO_SEED),
        (("simulate", "experts", "features.csv", "--seed", "-1"), NO_SEED),
        (("fit", "sorts.csv", "--seed", "4294967296"), "Invalid value for '--seed': '4294967296' is not between 0 and"),
        (
            ("fit", "sorts.csv", "--jobs", "0"),
            "Invalid value for '--jobs': '0' is not a number of jobs; give at least 1",
        ),
        (("fit", "sorts.csv", "--jobs", "many"), "Invalid value for '--jobs': 'many' is not a valid integer."),
        (("fit", "sorts.csv", "--clusters", ONES), NO_NUMBER),
        (("fuse", "sorts.csv", "--clusters", ONES), NO_NUMBER),
        (("compare", "sorts.csv", "--clusters", ONES), f"Invalid value for '--clusters': '{ONES[:40]}…' is neither"),
        (("fit", "sorts.csv", *PARTITION, "--set", "n_jobs=abc"), f"The 'n_jobs' {PARAMETER} None, a positive int or"),
        (("fit", "sorts.csv", *PARTITION, "--set", "n_jobs=0"), f"The 'n_jobs' {PARAMETER} None, a positive int or"),
        (("fit", "sorts.csv", *PARTITION, "--set", "random_state=-1"), f"The 'random_state' {PARAMETER} an int from 0"),
        (
            ("fit", "sorts.csv", *PARTITION, "--set", f"n_init={ONES}"),
            f"The 'n_init' {PARAMETER} an int from 1 to 1,",
        ),
        (
            ("fit", "sorts.csv", *PARTITION, "--set", "tol=1e308"),
            f"The 'tol' {PARAMETER} a number of at least 0, at m",
        ),
        (("simulate", "agents", "--separation", "1e308"), "Invalid value for '--separation': '1e308' is not between "),
    ],
)
def test_numbers_that_are_too_large_or_too_small(arguments, message, fails, study, features):
    assert fails(*arguments).startswith(message)


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "LONG"),
        ("fit", "sorts.csv", "--features", "LONG"),
        ("fit", "sorts.csv", "--out", "LONG"),
        ("fuse", "sorts.csv", "--out", "LONG"),
        ("convert", "sorts.csv", "LONG.csv"),
        ("predict", "LONG", "features.csv"),
        ("report", "LONG", "sorts.csv"),
    ],
)
def test_paths_that_are_too_long(arguments, fails, study, features, tmp_path):
    """Longer than a file system allows, which is an error of the operating system."""
    before = sorted(tmp_path.iterdir())
    said = fails(*(word.replace("LONG", "x" * 300) for word in arguments))
    assert "longer than the file system allows." in said or said.endswith("cannot be read: File name too long.")
    assert "x" * 100 in said
    assert sorted(tmp_path.iterdir()) == before


def test_the_nearest_parameter_is_proposed(fails, study):
    assert fails("fit", "sorts.csv", *PARTITION, "--set", "max_cluster=3").endswith("Did you mean 'max_clusters'?")
    assert "Did you mean" not in fails("fit", "sorts.csv", *PARTITION, "--set", "zzz=3")


def test_fit_of_a_folder_a_missing_file_and_empty_standard_input(tmp_path, fails):
    (tmp_path / "folder").mkdir()
    assert fails("fit", "folder") == "folder: This is a folder; give one of its files."
    assert fails("fit", "nothing.csv") == "There is no file nothing.csv."
    assert fails("fit", "-") == "standard input: The file is empty; the first line must name the columns."
