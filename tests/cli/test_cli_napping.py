"""--napping on the command line: long and wide tables of places on sheets, and what is refused."""

import pandas as pd
import pytest

from tests.quick_cases import some_quick

FAST = ("--clusters", "2", "--certainty-draws", "0", "--out", "out")
PRODUCTS = ["ale", "lager", "stout", "porter"]
PLACES = [(item, f"J{who}", 1.0 * place + who, 2.5 - place) for place, item in enumerate(PRODUCTS) for who in (1, 2, 3)]


@pytest.fixture
def study(tmp_path):
    """sorts.csv: four products in two groups by three judges; places.csv: where each put them on a sheet."""
    sorts = pd.DataFrame({"product": PRODUCTS} | {f"J{who}": [1, 1, 2, 2] for who in (1, 2, 3)})
    sorts.to_csv(tmp_path / "sorts.csv", index=False)
    places().to_csv(tmp_path / "places.csv", index=False)
    return tmp_path


def places():
    return pd.DataFrame(PLACES, columns=["product", "judge", "x", "y"])


def in_columns(name):
    columns = {"product": PRODUCTS}
    for who in (1, 2, 3):
        mine = places()[places()["judge"] == f"J{who}"]
        columns |= {name(axis, who): mine[axis].tolist() for axis in ("x", "y")}
    return pd.DataFrame(columns)


@pytest.mark.parametrize("command", some_quick(["fit", "fuse"]))
def test_a_row_for_each_product_and_judge(study, run, quick_report, command):
    result = run(command, "sorts.csv", "--napping", "places.csv", *FAST)
    assert "Sheets of places.csv: 3 annotators, 4 items." in result.stderr
    (reported,) = quick_report.keywords
    expected = places().rename(columns={"product": "item", "judge": "annotator"})
    pd.testing.assert_frame_equal(reported["napping"], expected, check_dtype=False)


@pytest.mark.parametrize(
    "name",
    some_quick(
        [
            lambda axis, who: f"{axis.upper()}{who}",
            lambda axis, who: f"J{who}_{axis}",
            lambda axis, who: f"{axis} J{who}",
        ],
        2,
    ),
)
def test_two_columns_for_each_judge(study, run, quick_report, name):
    in_columns(name).assign(about="text").to_csv(study / "wide.csv", index=False)
    run("fit", "sorts.csv", "--napping", "wide.csv", *FAST)
    (reported,) = quick_report.keywords
    found = reported["napping"].sort_values(["item", "annotator"], ignore_index=True)
    expected = places().rename(columns={"product": "item", "judge": "annotator"})
    expected = expected.sort_values(["item", "annotator"], ignore_index=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_sheets_of_others_and_of_those_left_out_do_not_count(study, run, quick_report):
    more = pd.concat([places(), places()[:1].assign(judge="X"), places()[:1].assign(product="water")])
    more.to_csv(study / "more.csv", index=False)
    result = run("fit", "sorts.csv", "--napping", "more.csv", "--leave-out", "J3", *FAST)
    assert "Sheets of more.csv by annotators who were left out: 1." in result.stderr
    assert "Sheets of more.csv by annotators who sorted nothing: 1." in result.stderr
    assert "Rows of more.csv about other items, left out: 1." in result.stderr
    assert quick_report.keywords[0]["napping"]["annotator"].unique().tolist() == ["J1", "J2"]


def test_sheets_go_by_ids_if_items_have_texts(study, run, quick_report):
    pd.DataFrame({"id": PRODUCTS, "text": [f"a {name}" for name in PRODUCTS]}).to_csv(study / "texts.csv", index=False)
    run("fit", "sorts.csv", "--napping", "places.csv", "--item-names", "texts.csv", *FAST)
    assert quick_report.keywords[0]["napping"]["item"].iloc[0] == "a ale"


@pytest.mark.slow
def test_a_report_written_again_has_the_compromise(study, run):
    run("fit", "sorts.csv", *FAST)
    run("report", "out/model.zip", "sorts.csv", "--napping", "places.csv", "--certainty-draws", "0")
    assert 'id="compromise"' in (study / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(x=["far", *t["x"][1:]]), "'x' of the item 'ale' in line 2 is 'far'"),
        (lambda t: pd.concat([t, t[:1]]), "The item 'ale' is placed twice by 'J1', again in line 14"),
        (lambda t: t.drop(columns="y"), "A sheet needs two columns of numbers, x and y. Found x."),
        (lambda t: t.assign(judge="Z" + t["judge"]), "Nobody who sorted the items, such as 'J1', has a sheet"),
        (lambda t: in_columns(lambda axis, who: f"{axis}{who + 5}"), "A sheet needs two columns for each person"),
    ],
)
def test_sheets_that_cannot_be_used(study, fails, quick_report, change, said):
    change(places()).to_csv(study / "wrong.csv", index=False)
    message = fails("fit", "sorts.csv", "--napping", "wrong.csv", *FAST)
    assert "wrong.csv: " in message
    assert said in message


def test_labels_have_no_sheets(study, fails, quick_report):
    message = fails("fit", "sorts.csv", "--kind", "labels", "--napping", "places.csv", *FAST[2:])
    assert "--napping needs groupings" in message
