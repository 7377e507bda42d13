"""Names as one line of text, numbers as people write them, drawings as markup."""

import base64
import csv
import io
import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from consilience import Groupings
from consilience.analysis import group_names, names
from consilience.analysis.names import as_text, join_names, plot_text, quantify, shorten, width
from consilience.inspection.plots.style import plain_text
from consilience.inspection.report import item_tables, tables
from consilience.inspection.report.annotators import cut
from consilience.inspection.report.svg import inline_svg, swatch


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain", "plain"),
        (3, "3"),
        (("site 1", 4), "site 1 / 4"),
        (" two \n\t lines ", "two lines"),
        ("\x00a\x1b\ud800\ufffe\x85", "�a���"),
        ("名前 é", "名前 é"),
        ("\u202eevil\u2066", "�evil�"),
    ],
)
def test_as_text(name, text):
    assert as_text(name) == text


def test_width_counts_columns():
    assert [width(text) for text in ("abc", "名前", "e\u0301", "\u202eab")] == [3, 4, 1, 2]


@pytest.mark.parametrize(
    ("text", "short"), [("abcdef", "abcdef"), ("abcdefg", "abcde…"), ("名前名前", "名前…"), ("ab   cd", "ab…")]
)
def test_shortened_to_six_columns(text, short):
    assert shorten(text, 6) == short
    assert width(short) <= 6


def test_plot_text_has_no_mathematics():
    assert plot_text("$a$", 9) == r"\$a\$"


def test_sentences():
    assert [join_names(list(names)) for names in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert [quantify(n, "item") for n in (0, 1, 1234)] == ["0 items", "1 item", "1,234 items"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (0.00001, "< 0.1%"),
        (0.0005, "0.1%"),
        (0.004, "0.4%"),
        (0.5, "50%"),
        (0.9964, "99.6%"),
        (0.9994, "99.9%"),
        (0.99999, "> 99.9%"),
        (1, "100%"),
        (math.nan, "–"),
    ],
)
def test_percent_does_not_round_to_none_or_all(share, text):
    assert tables.percent(float(share)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (123.4, "123"), (0.01234, "0.0123"), (1.5e-7, "1.50e−07"), (-2.5, "−2.50"), (math.inf, "–")],
)
def test_significant(value, text):
    assert tables.significant(value) == text


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (1234.5, 300.0, "1,234"),
        (12.345, 3.0, "12.3"),
        (0.5, 0.012, "0.500"),
        (3e-9, 2e-9, "3.00e−09"),
        (math.nan, 1.0, "–"),
    ],
)
def test_means_have_the_digits_that_the_spread_allows(value, spread, text):
    assert tables.as_exact(value, spread) == text


def test_long_lists_and_long_names():
    cell = tables.names_cell(["a", "b", "n" * 500], 2, " (in x.csv)")
    assert cell.names == ("a", "b")
    assert cell.more == "and 1 more (in x.csv)"
    assert len(names.name_text("n" * 500)) == names.LONGEST_NAME


def test_tables_too_large_for_the_page_are_left_to_the_model():
    small, large = (tables.download("x.csv", pd.DataFrame({"a": range(n)})) for n in (3, 100_000))
    assert small.address.startswith("data:text/csv")
    assert (large.address, large.n_rows) == ("", 100_000)


def content(table):
    return base64.b64decode(table.address.partition("base64,")[2]).decode()


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "-lake"]


@pytest.mark.parametrize("name", FORMULAS)
def test_downloads_hold_no_formulas(name):
    frame = pd.DataFrame({name: ["x", name], "plain": [name, 1.0]}, index=[name, "y"])
    rows = list(csv.reader(io.StringIO(content(tables.download("x.csv", frame, "item")), newline="")))
    safe = "'" + name
    assert rows == [["item", safe, "plain"], [safe, "x", safe], ["y", safe, "1.0"]]


def test_numbers_in_downloads_stay_numbers():
    frame = pd.DataFrame({"figure": [-1.5, 2.0], "name": ["-1.5", "+3e-5"], "mixed": [-2, None]}, index=[-1, -2])
    assert content(tables.download("x.csv", frame, "item")) == (
        '"item","figure","name","mixed"\n-1,-1.5,"-1.5",-2.0\n-2,2.0,"+3e-5",""\n'
    )


def test_other_separators_do_not_split_names_of_downloads():
    frame = pd.DataFrame({"name": ["x;=1+1"], "n": [1]})
    lines = content(tables.download("x.csv", frame)).splitlines()
    assert next(csv.reader(lines[1:], delimiter=";"))[0] == "x;=1+1,1"


def test_a_column_of_the_name_of_the_index_stays():
    frame = pd.DataFrame({"annotator": [1.0], "b": [2.0]}, index=["annotator"])
    assert content(tables.download("x.csv", frame, "annotator")).splitlines() == [
        '"annotator","annotator","b"',
        '"annotator",1.0,2.0',
    ]


def test_variance_explained_by_hand():
    values = np.array([[1.0, 0, 5], [3, 0, np.nan], [5, 0, 5], [7, 0, 6]])
    labels = np.array([0, 0, 1, 1])
    # first: total 20 around 4, between 2 * 4 + 2 * 4; third: 5 | 5, 6 around 16/3, so between 1/9 + 2/36 of 2/3
    np.testing.assert_allclose(item_tables.variance_explained(values, labels), [0.8, np.nan, 0.25])


def test_common_names_are_those_that_tell():
    cells = np.array(
        [["Cat", "cat", "group 1", "x"], ["cát", "dog", "group 1", "y"], ["Dog", "dog", "group 2", "z"]] * 2
    )
    clusters = np.array([0, 0, 1, 0, 0, 1])
    called = group_names.count_group_names(group_names.cluster_names(Groupings.from_matrix(cells), clusters, 2), 2, 3)
    # half of cluster 0 is "cat" to both, half of who is "dog" to one is in cluster 1; x, y and z by one each
    assert (
        called == [["Cat (2)"], ["Dog (2)"]]
        or called == [["cat (2)"], ["dog (2)"]]
        or called == [["Cat (2)"], ["dog (2)"]]
    )


def draw(text):
    with plain_text():
        ax = Figure(figsize=(3, 2)).subplots()
        ax.plot([0, 1, 2], [0, 1, 0.123456789], ls="", marker="o", label=text)
        ax.imshow(np.eye(2), interpolation="none")
        ax.patch.set_hatch("//")
        ax.legend()
        return inline_svg(ax.figure, "key", f"says {text}")


def test_svg_keeps_its_text_and_loses_what_a_page_must_not_have():
    drawn = draw("<script>&名")
    root = ET.fromstring(drawn)
    assert root.get("aria-label") == "says <script>&名"
    assert "<script>&名" in [text.text for text in root.iter("text")]
    assert {element.tag for element in root.iter()}.isdisjoint({"style", "metadata", "script"})
    assert "http" not in drawn
    assert "font-family" not in drawn
    assert not re.search(r'[" ]\d+\.\d{3}', drawn)


def test_svg_references_point_into_itself():
    root = ET.fromstring(draw("x"))
    ids = {element.get("id") for element in root.iter()} - {None}
    assert all(name.startswith("key-") for name in ids)
    hrefs = {element.get("href")[1:] for element in root.iter("use")}
    assert len(hrefs) >= 3
    assert hrefs <= ids
    targets = set(re.findall(r"url\(#(.*?)\)", ET.tostring(root, encoding="unicode")))
    assert len(targets) >= 2  # a clip path and a hatch
    assert targets <= ids


def test_svg_does_not_depend_on_the_run():
    assert draw("x") == draw("x")


def test_swatches_are_the_markers_of_the_plot():
    assert swatch(1).count("L") == 3  # a square
    assert 'fill="#E69F00"' in swatch(1)
    assert len({swatch(cluster) for cluster in range(70)}) == 70


@pytest.mark.parametrize(("n_rows", "gap"), [(100, None), (120, (50, "20 more annotators between these"))])
def test_the_middle_of_a_long_table_of_annotators_is_counted(n_rows, gap):
    shown, found = cut(pd.DataFrame({"annotator": np.arange(n_rows)}))
    assert found == gap
    assert shown["annotator"].tolist() == [*range(50), *range(n_rows - 50, n_rows)]


def test_columns_of_one_value_are_said_in_a_sentence():
    columns = [tables.Column("Card", "text"), tables.Column("Sorted"), tables.Column("Names", "wide")]
    rows = [tables.row(name, "16", "–") for name in "abcd"]
    kept, shorter, sentence = tables.set_apart_constants(columns, rows)
    assert [column.head for column in kept] == ["Card"]
    assert [[cell.text for cell in row] for row in shorter] == [["a"], ["b"], ["c"], ["d"]]
    assert sentence == "The same in every row: Sorted, 16. "
    assert tables.set_apart_constants(columns, rows[:3])[1] == rows[:3]
    rows[0][1] = tables.Cell("15")
    kept, _, sentence = tables.set_apart_constants(columns, rows)
    assert [column.head for column in kept] == ["Card", "Sorted"]
    assert sentence == ""
