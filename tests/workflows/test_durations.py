"""Tables of how long people took, on the command line."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.workflows.durations import read_seconds
from tests.inspection.test_card_sort_report import of_people
from tests.quick_cases import some_quick

PEOPLE = pd.Index(["Ann", "Bo", "Cy"])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("annotator,seconds\nAnn,90\nBo,0\nCy,7.5\n", [90, 0, 7.5]),
        ("Participant ID;Minutes\nAnn;1,5\nBo;2\nCy;0\n", [90, 120, 0]),
        ("who\tTime taken\nAnn\t00:04:13\nBo\t4:13\nCy\t1:00:00.5\n", [253, 253, 3600.5]),
        ("card,user,seconds\nx,Ann,5\ny,Ann,5\nx,Bo,6\ny,Cy,7\n", [5, 6, 7]),
    ],
)
def test_times_are_read(tmp_path, text, seconds):
    (tmp_path / "times.csv").write_text(text, encoding="utf-8")
    assert read_seconds(tmp_path / "times.csv", PEOPLE).reindex(PEOPLE).tolist() == seconds


@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=3))
def test_a_clock_and_seconds_say_the_same(tmp_path_factory, seconds):
    path = tmp_path_factory.mktemp("times") / "times.csv"
    clock = [f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]
    for column, values in (("seconds", seconds), ("time", clock)):
        pd.DataFrame({"annotator": PEOPLE, column: values}).to_csv(path, index=False)
        assert read_seconds(path, PEOPLE).tolist() == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("annotator,age\nAnn,9\n", "One column must be called 'seconds', 'minutes' or 'time'. Found annotator, age."),
        ("a,b,seconds\nAnn,x,9\n", "One column must be called 'annotator', or be the only other. Found a, b, seconds."),
        ("annotator,seconds\nAnn,9\nAnn,8\n", "The annotator 'Ann' has two times, the second in line 3;"),
        ("annotator,seconds\nAnn,long\n", "Expected a number in line 2, column 'seconds'. Found 'long'."),
        ("annotator,seconds\nAnn,-3\n", "Expected a number in line 2, column 'seconds'. Found '-3'."),
        ("annotator,time\nAnn,90\n", "Expected a time such as 0:04:13 in line 2, column 'time'. Found '90'."),
        ("annotator,seconds\nDee,9\n", "None of the annotators has any time in it."),
    ],
)
def test_what_is_no_time_is_refused(tmp_path, fails, text, message):
    (tmp_path / "times.csv").write_text(text, encoding="utf-8")
    of_people().to_frame().replace({"annotator": {"p0": "Ann"}}).to_csv(tmp_path / "sorts.csv", index=False)
    assert message in fails("fit", "sorts.csv", "--seconds", "times.csv", "--certainty-draws", 0)


def test_blank_times_are_missing(tmp_path):
    (tmp_path / "times.csv").write_text("annotator,seconds\nAnn,\nBo,3\n", encoding="utf-8")
    found = read_seconds(tmp_path / "times.csv", PEOPLE)
    assert found.to_dict() == {"Bo": 3}
    assert math.isnan(found.reindex(PEOPLE)["Ann"])


@pytest.mark.parametrize("command", some_quick(["fuse", "fit"]))
def test_the_report_has_the_times_of_a_file(run, tmp_path, command, request):
    reports = None if command == "fit" else request.getfixturevalue("quick_report")
    sorts = of_people()
    sorts.to_frame().to_csv(tmp_path / "sorts.csv", index=False)
    times = pd.DataFrame({"annotator": [*sorts.annotators[1:], "stranger"]}).assign(minutes=3)
    times.to_csv(tmp_path / "times.csv", index=False)
    left = ("--leave-out", sorts.annotators[1])
    options = ("--certainty-draws", 0, "--seconds", "times.csv", *left, "--words", "cards,people")
    said = run(command, "sorts.csv", *options, "--out", "out").stderr
    assert "times.csv: 'stranger' gave no annotations; their times are not used." in said
    assert "times.csv: 1 annotator has no time in it." in said
    again = run("report", "out/model.zip", "sorts.csv", *options[:-2], "--out", "again.html")
    assert again.exit_code == 0
    for page in ("out/report.html", "again.html") if reports is None else ():
        assert ">Minutes<" in (tmp_path / page).read_text(encoding="utf-8")
    for reported in () if reports is None else reports.keywords:
        assert reported["seconds"].dropna().to_dict() == dict.fromkeys(
            sorts.annotators[2:], 180
        )  # of those who are left
