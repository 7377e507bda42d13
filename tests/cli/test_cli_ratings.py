"""--ratings on the command line: tables of people's ratings and of means, what is written, and what is refused."""

import pandas as pd
import pytest

from consilience.workflows import FitRequest, fit
from tests.quick_cases import some_quick

FAST = ("--clusters", "2", "--certainty-draws", "0", "--out", "out")
STATEMENTS = ["buses", "trains", "trees", "parks"]
RATED = [(item, who, 1 + place + n, 5 - place) for place, item in enumerate(STATEMENTS) for n, who in enumerate("pq")]


@pytest.fixture
def study(tmp_path):
    """sorts.csv: four statements in two groups by four people; ratings.csv: two scales by two people."""
    rows = [(item, who, place // 2) for who in "abcd" for place, item in enumerate(STATEMENTS)]
    pd.DataFrame(rows, columns=["statement", "participant", "group"]).to_csv(tmp_path / "sorts.csv", index=False)
    ratings().to_csv(tmp_path / "ratings.csv", index=False)
    return tmp_path


def ratings():
    return pd.DataFrame(RATED, columns=["statement", "participant", "importance", "feasibility"])


@pytest.mark.parametrize("command", some_quick(["fit", "fuse"]))
def test_ratings_by_people(study, run, quick_report, command):
    result = run(command, "sorts.csv", "--ratings", "ratings.csv", *FAST)
    assert "Ratings of ratings.csv: importance and feasibility, of 4 items by 2 annotators." in result.stderr
    assert "ratings.csv" in result.stdout
    file = pd.read_csv(study / "out" / "ratings.csv").set_index("item")
    assert file["importance"].to_dict() == dict(zip(STATEMENTS, [1.5, 2.5, 3.5, 4.5]))
    assert file["importance_n"].tolist() == [2] * 4
    assert file["importance_se"].tolist() == [0.5] * 4
    assert file["above"].tolist() == ["feasibility"] * 2 + ["importance"] * 2
    assert file["bridging"].between(0, 1).all()
    (reported,) = quick_report.keywords
    assert len(reported["ratings"]) == 8


def test_means_of_items_with_a_column_of_text_and_a_blank(study, run, quick_report):
    means = ratings().groupby("statement", sort=False)[["importance", "feasibility"]].mean().reset_index()
    means["about"] = "text"
    means.loc[0, "importance"] = None
    means.to_csv(study / "means.csv", index=False)
    result = run("fit", "sorts.csv", "--ratings", "means.csv", *FAST)
    assert "means.csv: about holds no ratings and was not used." in result.stderr
    file = pd.read_csv(study / "out" / "ratings.csv").set_index("item")
    assert pd.isna(file.loc["buses", "importance"])
    assert "importance_n" not in file


def test_people_who_are_left_out_and_other_items_do_not_count(study, run, quick_report):
    more = pd.concat(
        [ratings(), ratings()[::2].assign(participant="a", importance=9), ratings()[:1].assign(statement="x")]
    )
    more.to_csv(study / "more.csv", index=False)
    result = run("fit", "sorts.csv", "--ratings", "more.csv", "--leave-out", "a", *FAST)
    assert "Rows of more.csv about other items, left out: 1." in result.stderr
    assert "Rows of more.csv by annotators who were left out: 4." in result.stderr
    assert pd.read_csv(study / "out" / "ratings.csv")["importance"].tolist() == [1.5, 2.5, 3.5, 4.5]


def test_ratings_go_by_ids_if_items_have_texts(study, run, quick_report):
    ids = dict(zip(STATEMENTS, range(1, 5)))
    for name in ("sorts.csv", "ratings.csv"):
        table = pd.read_csv(study / name)
        table.assign(statement=table["statement"].map(ids)).to_csv(study / name, index=False)
    pd.DataFrame({"id": range(1, 5), "text": STATEMENTS}).to_csv(study / "texts.csv", index=False)
    run("fit", "sorts.csv", "--ratings", "ratings.csv", "--item-names", "texts.csv", *FAST)
    file = pd.read_csv(study / "out" / "ratings.csv")
    assert file[["item", "id", "importance"]].to_numpy().tolist() == [
        [text, place + 1, 1.5 + place] for place, text in enumerate(STATEMENTS)
    ]
    run("report", "out/model.zip", "sorts.csv", "--ratings", "ratings.csv", "--item-names", "texts.csv", *FAST[2:4])
    assert quick_report.keywords[-1]["ratings"]["item"].iloc[0] == "buses"


def test_ratings_at_hand(study, no_drawing):
    means = pd.DataFrame({"item": STATEMENTS, "cost": [1, 2, 3, 4]})
    fit(FitRequest(annotations=study / "sorts.csv", ratings=means, certainty_draws=0, out=study / "other"))
    assert pd.read_csv(study / "other" / "ratings.csv")["cost"].tolist() == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_report_written_again_has_the_ratings(study, run):
    run("fit", "sorts.csv", *FAST)
    run("report", "out/model.zip", "sorts.csv", "--ratings", "ratings.csv", "--certainty-draws", "0")
    page = (study / "report.html").read_text("utf-8")
    assert 'id="ratings"' in page
    assert 'id="bridging"' in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda t: t.assign(importance=["high", *t["importance"][1:]]),
            "'importance' of the item 'buses' in line 2 is 'high'",
        ),
        (lambda t: pd.concat([t, t[:1]]), "The item 'buses' is rated twice by 'p', again in line 10"),
        (lambda t: t.assign(participant=[None, *t["participant"][1:]]), "'participant' in line 2 is missing"),
        (lambda t: t[["statement", "participant"]], "There is no column of numbers for the ratings"),
        (lambda t: t.rename(columns={"importance": "cluster"}), "The column 'cluster' cannot be a scale"),
        (lambda t: t.assign(statement=t["statement"] + "!"), "No column names items of the annotations"),
        (
            lambda t: t.assign(statement=t["statement"] + "!")[["statement", "importance"]][::2],
            "None of its items (such as 'buses!') is one of the annotations ('buses')",
        ),
        (lambda t: t[["statement", "importance"]], "rated twice, again in line 3"),
        (lambda t: t[::2].assign(**{f"P{i}": 1 for i in range(9)}), "There are 11 columns of numbers"),
    ],
)
def test_ratings_that_cannot_be_used(study, fails, quick_report, change, said):
    change(ratings()).to_csv(study / "wrong.csv", index=False)
    message = fails("fit", "sorts.csv", "--ratings", "wrong.csv", *FAST)
    assert "wrong.csv: " in message
    assert said in message


def test_labels_have_no_ratings_by_cluster(study, fails, quick_report):
    message = fails("fit", "sorts.csv", "--kind", "labels", "--ratings", "ratings.csv", *FAST[2:])
    assert "--ratings needs groupings" in message
