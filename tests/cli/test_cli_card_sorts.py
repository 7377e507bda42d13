"""People left out of a fit, and corrections of the names of groups, on the command line."""

import json

import pandas as pd
import pytest

from consilience.inspection import standard_names
from tests.inspection.test_card_sort_report import of_people


@pytest.fixture
def sorts(tmp_path):
    path = tmp_path / "sorts.csv"
    of_people().to_frame().to_csv(path, index=False)
    return path


def fit(run, *arguments):
    return run("fit", *arguments, "--certainty-draws", 0, "--json")


def test_a_fit_writes_the_grid_and_the_matrix(run, sorts, tmp_path, quick_report):
    found = json.loads(fit(run, sorts, "--out", tmp_path / "out").stdout)
    assert {"standard-names.csv", "placements.csv"} <= set(found["checksums"])
    assert found["files"]["placements"].endswith("placements.csv")
    grid = pd.read_csv(tmp_path / "out" / "standard-names.csv")
    assert grid.columns.tolist() == ["name", "standard", "why", "n_annotators", "n_items"]
    assert pd.read_csv(tmp_path / "out" / "placements.csv", index_col="item").loc["owl"].sum() == 8


def test_an_edited_grid_is_given_back(run, sorts, tmp_path, quick_report):
    fit(run, sorts, "--out", tmp_path / "out")
    grid = pd.read_csv(tmp_path / "out" / "standard-names.csv")
    grid.loc[grid["standard"] == "Birds", "standard"] = "Winged"
    grid.to_csv(tmp_path / "names.csv", index=False, sep=";")
    found = json.loads(fit(run, sorts, "--names", tmp_path / "names.csv", "--out", tmp_path / "out").stdout)
    assert "Winged" in found["cluster_names"]
    assert "Winged" in set(pd.read_csv(tmp_path / "out" / "clusters.csv")["name"])
    again = pd.read_csv(tmp_path / "out" / "standard-names.csv")
    pd.testing.assert_series_equal(
        again.set_index("name")["standard"].sort_index(), grid.set_index("name")["standard"].sort_index()
    )
    assert "Winged" in pd.read_csv(tmp_path / "out" / "placements.csv")


@pytest.mark.parametrize(("to", "shown"), [("Winged", "'Winged'"), ("", "no name")])
def test_spellings_that_stay_behind_in_an_edited_grid_are_said(run, sorts, tmp_path, quick_report, to, shown):
    grid = standard_names(of_people()).grid
    spellings = grid.loc[grid["standard"] == "Birds", "name"].tolist()
    grid.loc[grid["name"] == spellings[0], "standard"] = to
    grid.to_csv(tmp_path / "names.csv", index=False)
    said = fit(run, sorts, "--names", tmp_path / "names.csv", "--out", tmp_path / "out").stderr
    assert f"'{spellings[0]}' becomes {shown}, but '{spellings[1]}' and 1 other spelling stay with 'Birds'" in said
    grid.loc[grid["name"].isin(spellings), "standard"] = to
    grid.to_csv(tmp_path / "names.csv", index=False)
    assert "becomes" not in fit(run, sorts, "--names", tmp_path / "names.csv", "--out", tmp_path / "out").stderr


def test_people_are_left_out_by_name_and_by_file_and_can_come_back(run, sorts, tmp_path, quick_report):
    (tmp_path / "out.txt").write_text("odd\n\np1\n")
    every = json.loads(fit(run, sorts, "--out", tmp_path / "out").stdout)
    by_file = json.loads(fit(run, sorts, "--leave-out", tmp_path / "out.txt", "--out", tmp_path / "out").stdout)
    by_name = json.loads(fit(run, sorts, "--leave-out", "odd,p1", "--out", tmp_path / "out").stdout)
    assert by_name["left_out"] == by_file["left_out"] == ["odd", "p1"]
    assert by_name["n_annotators"] == every["n_annotators"] - 2 == 6
    assert by_name["cluster_examples"] == by_file["cluster_examples"]
    assert every["left_out"] == []
    assert [len(reported["left_out"]) for reported in quick_report.keywords] == [0, 2, 2]


def test_corrections_of_those_left_out_do_no_harm(run, sorts, tmp_path, quick_report):
    (tmp_path / "names.csv").write_text("name,standard\n<b>Odd</b>,Rest\nBirds,Winged\n")
    options = ("--names", tmp_path / "names.csv", "--leave-out", "odd", "--out", tmp_path / "out")
    fit(run, sorts, *options)
    assert "Rest" not in pd.read_csv(tmp_path / "out" / "placements.csv")
    assert "Winged" in pd.read_csv(tmp_path / "out" / "placements.csv")


@pytest.mark.slow
def test_the_report_of_a_saved_model_takes_both(run, sorts, tmp_path):
    (tmp_path / "names.csv").write_text("name,standard\nBirds,Winged\n")
    options = ("--names", tmp_path / "names.csv", "--leave-out", "odd")
    shown = run("fit", sorts, "--leave-out", "odd", "--certainty-draws", 0, "--out", tmp_path / "out")
    assert "Left out of the fit: odd" in shown.stdout
    assert "1 annotator was left out of the fit" in (tmp_path / "out" / "report.html").read_text()
    run(
        *("report", tmp_path / "out" / "model.zip", sorts, *options),
        *("--certainty-draws", 0, "--out", tmp_path / "again.html"),
    )
    page = (tmp_path / "again.html").read_text()
    assert "Winged" in page
    assert "was left out of the fit" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--leave-out", "nobody"], "There is no annotator 'nobody' to leave out, and no file of that name."),
        (["--leave-out", "out.txt"], "out.txt: There is no annotator 'P01' to leave out. The nearest name is 'p1'."),
        (["--leave-out", "odd,p0,p1,p2,p3,p4,p5,p6"], "--leave-out names all 8 annotators; nobody is left."),
        (["--names", "unknown.csv"], "unknown.csv: Nobody gave a group the name 'Bats'."),
        (["--names", "columns.csv"], "columns.csv: Expected the columns 'name' and 'standard'"),
        (["--names", "twice.csv"], "The name 'Birds' has two standard names, 'a' and 'b' (in line 3)."),
        (["--names", "blank.csv"], "The name is missing in line 2 of the corrections of names."),
        (["--names", "absent.csv"], "There is no file absent.csv."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(run, sorts, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.txt").write_text("P01\n")
    (tmp_path / "unknown.csv").write_text("name,standard\nBats,Winged\n")
    (tmp_path / "columns.csv").write_text("name,new\nBirds,Winged\n")
    (tmp_path / "twice.csv").write_text("name,standard\nBirds,a\nBirds,b\n")
    (tmp_path / "blank.csv").write_text("name,standard\n,b\n")
    shown = run("fit", sorts, *options, "--out", "out", code=2)
    assert message in shown.stderr
    assert not (tmp_path / "out").exists()


def test_names_of_labels_are_not_corrected(run, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,u,cat\na,v,cat\nb,u,dog\nb,v,dog\n")
    (tmp_path / "names.csv").write_text("name,standard\ncat,dog\n")
    shown = run("fit", path, "--names", tmp_path / "names.csv", "--out", tmp_path / "out", code=2)
    assert "--names corrects the names of groups; the model reads labels" in shown.stderr


def test_people_are_kept_by_what_they_answered(run, fails, sorts, tmp_path, quick_report):
    people = tmp_path / "people.csv"
    people.write_text("participant,device\n" + "".join(f"p{n},{'phone' if n % 2 else 'desktop'}\n" for n in range(7)))
    by_answer = json.loads(
        fit(run, sorts, "--people", people, "--where", "device=phone", "--out", tmp_path / "out").stdout
    )
    clusters = (tmp_path / "out" / "clusters.csv").read_bytes()
    by_name = json.loads(fit(run, sorts, "--leave-out", "odd,p0,p2,p4,p6", "--out", tmp_path / "out").stdout)
    assert sorted(by_answer.pop("left_out")) == sorted(by_name.pop("left_out"))
    assert clusters == (tmp_path / "out" / "clusters.csv").read_bytes()
    assert by_answer["n_annotators"] == 3
    assert fails("fit", sorts, "--where", "device=phone") == (
        "--where needs the answers of the annotators: --people FILE."
    )
    assert "--people is read for --where" in fails("fit", sorts, "--people", people)
    assert "Nobody's 'device' is 'watch'" in fails("fit", sorts, "--people", people, "--where", "device=watch")
