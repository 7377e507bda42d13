"""Writing: what is written is read back, or the writer warns beforehand."""

import itertools
import json
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

from consilience.annotations import Groupings, Labels, read_annotations, write_annotations
from consilience.annotations.files.formats import FORMATS, TableFormat, format_of
from consilience.errors import AnnotationError, AnnotationWarning, InputError
from consilience.workflows.outputs import write_table
from tests.quick_cases import mark_slow, quick_in_turn

GROUPINGS = Groupings.from_frame(
    pd.DataFrame(
        [
            ("ant", "Ann", "s", "small"),
            ("bee", "Ann", "s", "small"),
            ("cow", "Ann", "s", "large"),
            ("ant", "Bo", "t", "x"),
        ],
        columns=["item", "annotator", "grouping", "group"],
    )
)
PAIRS = GROUPINGS.to_pairs()
LABELS = Labels.from_frame(
    pd.DataFrame({"item": [3, 1, 3], "annotator": ["Ann", "Ann", "Bo"], "label": ["x", "y", "y"]}), items=[3, 2, 1]
)
FILES = ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz", "out.parquet", "out.json"]
TEXT = [name for name in FILES if "sv" in name]


def labels_of(items=("a", "b"), labels=("x", "y"), annotator="Ann"):
    return Labels.from_matrix(
        [[label] for label in labels], items=list(items), annotators=[annotator], missing=[], exact=True
    )


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("annotations", [GROUPINGS, PAIRS, LABELS], ids=["groupings", "pairs", "labels"])
def test_written_annotations_are_read_back(tmp_path, name, annotations):
    write_annotations(annotations, str(tmp_path / name))
    again = read_annotations(str(tmp_path / name))
    assert again == annotations
    assert again.reading.warnings == ()


@pytest.mark.parametrize("name", FILES)
def test_items_nobody_annotated_and_their_order_are_kept(tmp_path, name):
    for annotations in (GROUPINGS, PAIRS):
        moved = annotations.reindex(["dog", "cow", "bee", "ant", "elk"])
        write_annotations(moved, tmp_path / name)
        assert read_annotations(tmp_path / name) == moved


def test_tables_are_plain(tmp_path):
    write_annotations(LABELS, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == ["item,annotator,label", "3,,", "2,,", "1,,", "3,Ann,x", "3,Bo,y", "1,Ann,y"]
    write_annotations(GROUPINGS, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().splitlines()[:2] == [
        "item\tannotator\tgrouping\tgroup",
        "ant\tAnn\ts\tsmall",
    ]


@pytest.mark.parametrize("name", FILES)
def test_names_with_every_delimiter_quote_and_end_of_line(tmp_path, name):
    names = [
        *("a,b", "a;b", "a\tb", 'a"b', '"', '""', '"a"', "a\nb", "a\rb", "a\r\nb", " a ", "\\", "#a", "é", "e\u0301"),
        "𝔸",
        *("\ufeff", "\ufeffa", "a\u00a0b", "\u2003a", "=1+1", "sep=;", "item", "group", "label", "[1]", "{}", "Total"),
    ]  # fmt: skip
    labels = labels_of(names, names, "Ann\r")
    write_annotations(labels, tmp_path / name)
    assert read_annotations(tmp_path / name, exact=True) == labels


# what text cannot keep


def test_null_character_in_a_name(tmp_path):
    labels = labels_of(["a\0", "b"])
    with pytest.raises(InputError, match="null character, which text files cannot keep; write JSON"):
        write_annotations(labels, tmp_path / "out.csv")
    write_annotations(labels, tmp_path / "out.json")
    assert read_annotations(tmp_path / "out.json") == labels


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_tab_and_line_break_in_one_name(tmp_path, end):
    labels = labels_of([f"a\t\t{end}b", "c"])
    with pytest.raises(InputError, match="both a tab and a line break, which tab-separated files cannot keep"):
        write_annotations(labels, tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()
    for name in ("out.csv", "out.json"):
        write_annotations(labels, tmp_path / name)
        assert read_annotations(tmp_path / name) == labels


@pytest.mark.parametrize("name", TEXT)
def test_text_that_would_become_integers_causes_a_warning(tmp_path, name):
    labels = labels_of(["1", "2"])
    with pytest.warns(AnnotationWarning, match="item names are text that will be read as integers"):
        write_annotations(labels, tmp_path / name)
    assert read_annotations(tmp_path / name) == labels_of([1, 2])


@pytest.mark.parametrize("items", [["1.0", "2.0"], ["1", "1.0"], ["7.0", "-3"]])
def test_whole_numbers_with_a_point_are_refused(tmp_path, items):
    with pytest.raises(InputError, match=r"cannot keep the item '[17]\.0' if all names are whole numbers"):
        write_annotations(labels_of(items), tmp_path / "out.csv")
    mixed = labels_of([*items, "x"], "xyz")
    write_annotations(mixed, tmp_path / "out.csv")
    assert read_annotations(tmp_path / "out.csv") == mixed


@pytest.mark.parametrize(
    ("names", "name", "message"),
    [
        ([1, "a"], "out.csv", "the item 1 would not be read back; write JSON"),
        ([0.5, 1.5], "out.csv", "the item 0.5 would not be read back; write JSON"),
        ([2**70, 1], "out.csv", f"the item {2**70} would not be read back"),
        ([1, "a"], "out.parquet", "names of one type in a column"),
        ([("a", 1), ("a", 2)], "out.json", r"the item \('a', 1\) would not be read back"),
        (["a", "b"], "out.xlsx", "must end in .csv, .tsv, .parquet or .json"),
    ],
)
def test_names_that_a_format_cannot_keep(tmp_path, names, name, message):
    with pytest.raises(InputError, match=message):
        write_annotations(labels_of(names), tmp_path / name)
    assert not (tmp_path / name).exists()


# formats


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_found_by_the_name_of_the_file(name):
    found = format_of(Path(name.upper()))
    assert found is FORMATS["csv" if name in TEXT else Path(name).suffix[1:]]


def test_a_further_format_is_one_entry(tmp_path, monkeypatch):
    """For annotations and for tables of results; tests/collect/test_people_table.py has the exports of studies."""

    def writer(frame, name):
        return lambda file: file.write(f"{name}: {', '.join(map(str, frame.iloc[:, 0]))}".encode())

    ours = TableFormat("Lists", "text/plain", re.compile(r"\.list$"), writer, lambda frame, path: frame.head(2))
    monkeypatch.setitem(FORMATS, "list", ours)
    write_annotations(GROUPINGS, tmp_path / "out.list")
    assert (tmp_path / "out.list").read_text() == "out.list: ant, ant"
    write_table(pd.DataFrame({"item": [1, 2, 3]}), tmp_path / "table.list")
    assert (tmp_path / "table.list").read_text() == "table.list: 1, 2, 3"
    with pytest.raises(InputError, match=r"must end in \.csv, \.tsv, \.parquet, \.json or \.list"):
        write_annotations(GROUPINGS, tmp_path / "out.xlsx")


def test_tables_of_results_in_json(tmp_path):
    times = pd.to_datetime(["2026-01-02 03:04:05.9", None], utc=True)
    write_table(pd.DataFrame({"item": ["a\r", "é"], "p": [0.1 + 0.2, None], "time": times}), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == [
        {"item": "a\r", "p": 0.1 + 0.2, "time": "2026-01-02T03:04:05Z"},
        {"item": "é", "p": None, "time": None},
    ]


# what reading treats as missing

MISSING_IN_TEXT = ["NA", "nan", "NaN", "null", "<NA>", "#N/A", "n/a"]


@pytest.mark.parametrize(("label", "name"), quick_in_turn(itertools.product(MISSING_IN_TEXT, TEXT), 0))
def test_labels_that_mean_missing_in_text_cause_a_warning(tmp_path, label, name):
    labels = labels_of(labels=(label, "x"))
    with pytest.warns(AnnotationWarning, match=rf"The label '{label}' will be read as missing, or refused,"):
        write_annotations(labels, tmp_path / name)
    assert read_annotations(tmp_path / name, missing=[]) == labels
    with pytest.raises((AnnotationError, AnnotationWarning), match=r"read as missing|can be read in two ways"):
        read_annotations(tmp_path / name)


@pytest.mark.parametrize(("label", "name"), list(itertools.product(MISSING_IN_TEXT, ["out.json", "out.parquet"])))
def test_files_with_types_keep_them(tmp_path, label, name):
    labels = labels_of(labels=(label, "x"))
    write_annotations(labels, tmp_path / name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_annotations(tmp_path / name) == labels
    assert [str(warning.message).endswith("if a label is meant).") for warning in caught] == [True] * (label == "#N/A")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", [Labels, Groupings])
@pytest.mark.parametrize("others", [(1,), *map(mark_slow, [((0, 1),), ((2, 3),), ((0, 5),)])])
def test_minus_one_causes_a_warning(tmp_path, name, kind, others):
    values = [-1, *others]
    said = kind.from_matrix([[v] for v in values], items=[f"i{v}" for v in values], annotators=["Ann"], missing=[])
    with pytest.warns(AnnotationWarning, match=r"The (group|label) -1 will be read as missing, or refused"):
        write_annotations(said, tmp_path / name)
    assert read_annotations(tmp_path / name, missing=[]) == said


@pytest.mark.parametrize("values", [(-2, -1, 1), (0, 1, 2), (-3, 4)])
def test_integers_without_a_lone_minus_one_cause_no_warning(tmp_path, values):
    said = labels_of([f"i{v}" for v in values], values)
    write_annotations(said, tmp_path / "out.csv")
    assert read_annotations(tmp_path / "out.csv") == said


@pytest.mark.parametrize("name", FILES)
def test_group_named_unsorted_causes_a_warning(tmp_path, name):
    said = Groupings.from_matrix([["Unsorted"], ["x"]], items=["a", "b"], annotators=["Ann"])
    with pytest.warns(AnnotationWarning, match="The group 'Unsorted' will be read as missing"):
        write_annotations(said, tmp_path / name)
    assert read_annotations(tmp_path / name, missing=[]) == said
    write_annotations(labels_of(labels=("Unsorted", "x")), tmp_path / name)  # an ordinary label


def test_items_and_annotators_may_have_any_name(tmp_path):
    names = [*MISSING_IN_TEXT, "-1", "unsorted", "Total", "None"]
    names.remove("#N/A")  # an error of a spreadsheet, which is refused
    for annotator in names:
        labels = labels_of(names, ["x"] * len(names), annotator)
        if annotator == "-1":
            continue  # as text it becomes an integer, which is tested above
        write_annotations(labels, tmp_path / "out.csv")
        assert read_annotations(tmp_path / "out.csv") == labels


def test_parquet_keeps_all_digits_of_integers_when_an_item_is_in_no_grouping(tmp_path):
    said = Groupings.from_lists([[["a"]]], items=["a", "b"], annotators=[2**60 + 1])
    write_annotations(said, tmp_path / "out.parquet")
    assert read_annotations(tmp_path / "out.parquet") == said
