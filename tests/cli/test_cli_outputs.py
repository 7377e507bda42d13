"""Output of commands never overwrites their inputs, nor the files of another fit."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from consilience import Groupings, read_annotations, write_annotations
from consilience.datasets.catalogue import data_files
from tests.cli.conftest import further
from tests.workflows.whole_folders import fit_of, leftovers

LABELS = "item,Ann,Bo,Cy\na,x,x,y\nb,x,x,x\nc,y,y,y\nd,y,y,y\ne,y,x,y\nf,x,x,x\n"
FUSED = ("fit", "sorts.csv", "--model", "SubsetFusion")


@pytest.fixture
def labels(tmp_path):
    """A file with the name of one that a fit of labels writes."""
    path = tmp_path / "labels.csv"
    path.write_text(LABELS)
    return path


def last(stderr):
    return further(stderr)[-1].removeprefix("Error: ")


def over(output, read):
    return f"{output} would overwrite the input {read}; choose another file or folder to write."


# ---- fit, fuse


def test_fit_does_not_overwrite_its_labels(labels, run, quick_report):
    result = run("fit", "labels.csv", "--kind", "labels", "--out", ".", code=2)
    assert last(result.stderr) == over("labels.csv", "labels.csv")
    assert labels.read_text() == LABELS
    assert os.listdir(labels.parent) == ["labels.csv"]


def test_fuse_does_not_overwrite_its_groupings(study, run, quick_report):
    sorts = (study / "sorts.csv").rename(study / "clusters.csv")
    before = sorts.read_text()
    result = run("fuse", "clusters.csv", "--out", ".", code=2)
    assert last(result.stderr) == over("clusters.csv", "clusters.csv")
    assert sorts.read_text() == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_fit_does_not_overwrite_an_input_with_another_name(link, labels, run, quick_report):
    (labels.parent / "out").mkdir()
    link(labels, labels.parent / "out" / "annotators.csv")
    result = run("fit", "labels.csv", "--kind", "labels", "--out", "out", code=2)
    assert last(result.stderr) == over("out/annotators.csv", "labels.csv")
    assert labels.read_text() == LABELS


@pytest.mark.slow
def test_fit_does_not_overwrite_standard_input(labels):
    with labels.open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "consilience", "fit", "-", "--kind", "labels", "--out", "."],
            **{"stdin": file, "capture_output": True, "text": True, "cwd": labels.parent},
        )
    assert done.returncode == 2
    assert last(done.stderr) == over("labels.csv", "standard input")
    assert labels.read_text() == LABELS


@pytest.mark.parametrize("option", ["--features", "--scores"])
def test_fit_does_not_overwrite_its_other_tables(option, study, run, quick, quick_report):
    (study / "features.csv").rename(study / "annotators.csv")
    before = (study / "annotators.csv").read_text()
    result = run("fit", "sorts.csv", option, "annotators.csv", *quick, "--out", ".", code=2)
    assert last(result.stderr) == over("annotators.csv", "annotators.csv")
    assert (study / "annotators.csv").read_text() == before


@pytest.mark.slow
def test_fit_does_not_overwrite_the_counts_it_starts_from(labels, run, quick_report):
    run("fit", "labels.csv", "--kind", "labels", "--out", "out")
    again = ("fit", "labels.csv", "--kind", "labels", "--history", "out/counts.csv", "--out")
    assert last(run(*again, "out", code=2).stderr) == over("out/counts.csv", "out/counts.csv")
    run(*again, "second")
    assert fit_of(labels.parent / "second")


def test_fit_in_the_folder_of_its_input(labels, run, quick_report):
    named = labels.rename(labels.parent / "said.csv")
    run("fit", "said.csv", "--kind", "labels", "--out", ".")
    assert fit_of(labels.parent)["n_items"] == 6
    assert named.read_text() == LABELS
    run("fit", "said.csv", "--kind", "labels", "--out", ".")  # and again
    assert sorted(os.listdir(labels.parent)) == sorted(
        [*fit_of(labels.parent)["checksums"], "summary.json", "said.csv"]
    )


def test_two_fits_do_not_mix(study, labels, run, quick, quick_report):
    run("fit", "sorts.csv", "--features", "features.csv", *quick, "--out", "out")
    assert "mapping.csv" in os.listdir(study / "out")
    run("fit", "labels.csv", "--kind", "labels", "--out", "out")
    assert set(fit_of(study / "out")["checksums"]) == {
        *("report.html", "labels.csv", "annotators.csv", "confusion.csv", "counts.csv", "votes.csv", "placements.csv"),
        "model.zip",
    }
    assert leftovers(study) == []


def test_a_foreign_table_is_not_replaced(study, run, quick_report):
    (study / "out").mkdir()
    (study / "out" / "clusters.csv").write_text("mine")
    result = run(*FUSED, "--out", "out", code=2)
    assert last(result.stderr) == (
        "out/clusters.csv exists but does not belong to a fit in out; move it, or name another folder with --out."
    )
    assert os.listdir(study / "out") == ["clusters.csv"]
    assert (study / "out" / "clusters.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        (*FUSED, "--out", ""),
        ("fuse", "sorts.csv", "--out", ""),
        ("compare", "sorts.csv", "--out", ""),
        ("simulate", "experts", "iris", "--out", ""),
        ("simulate", "experts", "iris", "--out", "a.csv", "--features-out", ""),
        ("convert", "sorts.csv", ""),
        ("datasets", "iris", "--out", ""),
        ("fit", ""),
    ],
)
def test_an_empty_name_is_refused(arguments, study, fails):
    before = sorted(os.listdir(study))
    assert fails(*arguments).endswith(": the name is empty.")
    assert sorted(os.listdir(study)) == before


def test_a_failed_fit_makes_no_folder(study, run, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("consilience.workflows.results.save", full)
    result = run(*FUSED, "--out", "new/out", code=1)
    assert last(result.stderr) == "There is no space left to write new/out."
    assert not (study / "new" / "out").exists()
    assert leftovers(study) == []


# ---- files


@pytest.mark.parametrize(
    ("arguments", "output", "read"),
    [
        (("convert", "sorts.csv", "./sorts.csv"), "sorts.csv", "sorts.csv"),
        (("convert", "link.csv", "sorts.csv"), "sorts.csv", "link.csv"),
        (("convert", "sorts.csv", "link.csv"), "link.csv", "sorts.csv"),
        (("convert", "sorts.csv", "hard.csv"), "hard.csv", "sorts.csv"),
        (("compare", "sorts.csv", "--out", "sorts.csv"), "sorts.csv", "sorts.csv"),
        (("compare", "sorts.csv", "--features", "features.csv", "-o", "features.csv"), "features.csv", "features.csv"),
        (("predict", "out/model.zip", "features.csv", "-o", "features.csv"), "features.csv", "features.csv"),
        (("report", "out/model.zip", "sorts.csv", "-o", "out/model.zip"), "out/model.zip", "out/model.zip"),
        (("report", "out/model.zip", "sorts.csv", "-o", "sorts.csv"), "sorts.csv", "sorts.csv"),
        (("simulate", "crowd", "features.csv", "--out", "features.csv"), "features.csv", "features.csv"),
        (
            ("simulate", "agents", "--features", "features.csv", "-o", "a.csv", "--features-out", "features.csv"),
            "features.csv",
            "features.csv",
        ),
    ],
)
def test_no_command_overwrites_its_inputs(arguments, output, read, fitted, fails):
    os.symlink(fitted / "sorts.csv", fitted / "link.csv")
    os.link(fitted / "sorts.csv", fitted / "hard.csv")
    before = {path: path.read_bytes() for path in fitted.rglob("*") if path.is_file()}
    assert fails(*arguments) == over(output, read)
    assert {path: path.read_bytes() for path in fitted.rglob("*") if path.is_file()} == before


def test_a_data_set_is_not_overwritten(run, tmp_path, monkeypatch):
    held, (source,) = os.environ.get("CONSILIENCE_DATA"), data_files("seeds") or (None,)
    if source is None or not source.is_file():
        pytest.skip("CONSILIENCE_DATA names no folder with the data set")
    copied = tmp_path / "data" / source.relative_to(held)
    copied.parent.mkdir(parents=True)
    shutil.copy(source, copied)
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "data"))
    before = copied.read_bytes()
    for arguments in (
        ("datasets", "seeds"),
        ("simulate", "crowd", "seeds"),
        ("simulate", "agents", "--features", "seeds"),
    ):
        result = run(*arguments, "--out", copied, code=2)
        assert result.stderr == f"Error: {over(copied, copied)}\n"
    assert copied.read_bytes() == before


def test_one_name_for_two_files_is_refused(run, tmp_path, fails):
    same = "b.csv is the name of two output files; choose another for one of them."
    assert fails("simulate", "experts", "iris", "--out", "b.csv", "--features-out", "./b.csv") == same
    assert fails("simulate", "agents", "--out", "a.csv", "--truth-out", "b.csv", "--features-out", "b.csv") == same
    assert os.listdir(tmp_path) == []


def test_several_files_are_written_together_or_not_at_all(run, tmp_path):
    (tmp_path / "a.csv").write_text("old")
    arguments = ("simulate", "experts", "iris", "--out", "a.csv", "--features-out", "b.txt.xlsx")
    assert "The file name must end in .csv" in run(*arguments, code=2).stderr
    assert (tmp_path / "a.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_files_of_a_fit_are_not_replaced_by_others(fitted, fails):
    message = "out/clusters.csv belongs to the fit in out; choose another file to write."
    assert fails("convert", "sorts.csv", "out/clusters.csv") == message
    assert fails("predict", "out/model.zip", "features.csv", "--out", "out/clusters.csv") == message
    assert fit_of(fitted / "out")


def test_the_report_of_a_fit_can_be_written_again(fitted, run, fails, quick, quick_report, monkeypatch):
    again = ("sorts.csv", "--features", "features.csv", "--out", "out/report.html")
    monkeypatch.setattr(
        "consilience.workflows.saved_models.write_report",
        lambda *_, path, **__: path.write_text("the report, with scores"),
    )
    run("report", "out/model.zip", *again)
    assert (fitted / "out" / "report.html").read_text() == "the report, with scores"
    assert fit_of(fitted / "out")
    run("fit", "sorts.csv", "--features", "features.csv", *quick, "--seed", "5", "--out", "other")
    assert fails("report", "other/model.zip", *again) == (
        "out/report.html belongs to the fit in out; choose another file to write."
    )
    run(
        "fit", "sorts.csv", "--features", "features.csv", *quick, "--out", "out"
    )  # only our commands changed the folder


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.parquet"])
def test_tables_of_every_format_are_read_back(name, fitted, run):
    run("predict", "out/model.zip", "features.csv", "--out", name)
    read = (
        pd.read_parquet(fitted / name)
        if name.endswith("parquet")
        else pd.read_csv(fitted / name, sep=None, engine="python")
    )
    assert read["item"].tolist() == [f"item {number}" for number in range(12)]


def test_names_are_unchanged_in_tables_that_are_read_back(run, tmp_path, quick_report):
    names = ["=1+1", "+a", "-b", "@c", "'d", "-1.5"]
    groupings = Groupings.from_lists([[names[:3], names[3:]]] * 3, annotators=["=x", "@y", "z"])
    write_annotations(groupings, tmp_path / "said.csv")
    assert read_annotations(tmp_path / "said.csv") == groupings
    run("fuse", "said.csv", "--out", "out")
    assert sorted(pd.read_csv(tmp_path / "out" / "clusters.csv")["item"]) == sorted(names)
    run("convert", "said.csv", "again.csv")
    assert read_annotations(tmp_path / "again.csv") == groupings


@pytest.mark.slow
def test_a_full_standard_output_is_named(fitted):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "consilience", "predict", "out/model.zip", "features.csv"]
        done = subprocess.run(command, cwd=fitted, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: There is no space left to write standard output.\n"


def test_summary_names_the_files_with_their_checksums(fitted):
    summary = json.loads((fitted / "out" / "summary.json").read_text())
    assert set(summary["checksums"]) | {"summary.json"} == {
        os.path.basename(path) for path in summary["files"].values()
    }
