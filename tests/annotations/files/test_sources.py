"""Files of every kind: detected from their first bytes, and refused in one sentence if they are not tables."""

import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from consilience.annotations import Labels, read_annotations, write_annotations
from consilience.annotations.files.sources import Records, Source, read_source
from consilience.errors import AnnotationError, AnnotationWarning, InputError, MissingDependencyError

ROWS = [("ant", "Ann", "s", "small"), ("bee", "Ann", "s", "small"), ("cow", "Ann", "s", "large")]
FRAME = pd.DataFrame(ROWS, columns=["item", "annotator", "grouping", "group"])


def source(content, name="table.csv"):
    content = content.encode() if isinstance(content, str) else content
    return Source(name, lambda: io.BytesIO(content))


def packed(frame):
    held = io.BytesIO()
    frame.to_parquet(held, index=False)
    return held.getvalue()


def workbook(sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


DRESSES = {
    "table.csv": FRAME.to_csv(index=False).encode(),
    "table.tsv": FRAME.to_csv(index=False, sep="\t").encode(),
    "no ending": FRAME.to_csv(index=False, sep=";").encode(),
    "table.json": FRAME.to_json(orient="records").encode(),
    "table.jsonl": FRAME.to_json(orient="records", lines=True).encode(),
    "export.dat": b"\xef\xbb\xbf " + FRAME.to_json(orient="records").encode(),
    "table.parquet": packed(FRAME),
    "parquet by its bytes.csv": packed(FRAME),
}


@pytest.mark.parametrize("name", DRESSES)
@pytest.mark.parametrize("is_packed", [False, True])
def test_every_format_contains_the_same_table(tmp_path, name, is_packed):
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(DRESSES[name]) if is_packed else DRESSES[name])
    held = read_source(Source.of(path))
    table = held.table() if isinstance(held, Records) else held
    assert table.frame.to_numpy(object).tolist() == FRAME.to_numpy(object).tolist()
    assert table.columns == FRAME.columns.tolist()


def test_workbook_keeps_types_and_rows_of_its_sheet(read):
    content = workbook(
        {"notes": [["only a remark"]], "sorts": [[], ["card", "Ann", "Bo"], [7, 1, 2], [], [8, 1, None]]}
    )
    said = read(content, "table.xlsx")
    assert said.items.tolist() == [7, 8]
    assert said.to_matrix()["Ann"].tolist() == [1, 1]
    table = read_source(source(content, "table.xlsx")).table()
    assert table.where(1) == "row 5 of the sheet"
    with pytest.raises(AnnotationError, match="no sheet 'x'; the workbook has 'notes', 'sorts'"):
        read(content, "table.xlsx", sheet="x")
    with pytest.raises(AnnotationError, match="sheet is empty"):
        read(content, "table.xlsx", sheet="notes")


def test_workbook_with_two_tables_is_refused_with_their_names(read):
    rows = [["card", "Ann", "Bo"], ["a", 1, 2], ["b", 1, 1]]
    content = workbook({"first": rows, "second": [[*row, "y"] for row in rows], "overview": [["", "n"], ["cards", 3]]})
    with pytest.raises(AnnotationError, match=r"The sheets 'first', 'second' all hold annotations.*sheet='first'"):
        read(content, "table.xlsx")
    assert read(content, "table.xlsx", sheet="second").n_annotators == 3


def test_an_overview_is_no_study(read):
    overview = [["", "Value"], ["Participants", 12], ["Cards", 30], ["Categories", 7]]
    for sheets in ({"overview": overview, "sorts": SORTS}, {"sorts": SORTS, "overview": overview}):
        said = read(workbook(sheets), "table.xlsx")
        assert said.annotators.tolist() == ["Ann", "Bo"]
        assert any("sheet 'sorts' was read; others are 'overview'" in note for note in said.reading.notes)
    with pytest.raises(AnnotationError, match="No sheet holds annotations: in 'overview', 'more' nobody put two"):
        read(workbook({"overview": overview, "more": [["", "Time"], *overview[1:]]}), "table.xlsx")


def test_cells_merged_downwards_hold_their_value_in_all_their_rows(read):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["person", "card", "pile"], ["Ann", "a", "x"], [None, "b", None], ["Bo", "a", "y"], [None, "b", "z"]]:
        book.active.append(row)
    for cells in ("A2:A3", "A4:A5", "C2:C3"):
        book.active.merge_cells(cells)
    held = io.BytesIO()
    book.save(held)
    said = read(held.getvalue(), "table.xlsx")
    assert said.to_frame()["group"].tolist() == ["x", "y", "x", "z"]


def test_a_formula_without_its_value_is_refused(read):
    content = workbook({"sorts": [["card", "Ann", "Bo"], ["a", "=1+1", 2], ["b", 1, 1]]})
    with pytest.raises(
        AnnotationError, match=r"The cell B2 of the sheet 'sorts' holds a formula without its value, '=1\+1'"
    ):
        read(content, "table.xlsx")


def test_a_number_of_too_many_digits_is_noted(read):
    content = workbook({"sorts": [["card", "Ann", "Bo"], [2**53 + 2, 1, 2], [7, 1, 1]]})
    with pytest.warns(AnnotationWarning, match="more digits than spreadsheets keep"):
        read(content, "table.xlsx")


def test_array_of_numpy(read):
    held = io.BytesIO()
    np.save(held, np.array([[1, 1, 2], [1, 2, 2], [2, 2, -1], [3, 1, 1]]))
    said = read(held.getvalue(), "table.npy", transpose=False, missing=-1)
    assert said.to_matrix().to_numpy().tolist() == [[1, 1, 2], [1, 2, 2], [2, 2, None], [3, 1, 1]]
    for array in (np.arange(3), np.array([["a", {}]], dtype=object), np.zeros((2, 2), dtype=complex)):
        held = io.BytesIO()
        np.save(held, array)
        with pytest.raises(AnnotationError, match="NumPy array"):
            read(held.getvalue(), "table.npy")


def test_json_of_labels_by_task_and_worker(read):
    with pytest.warns(AnnotationWarning, match="1 row without a label left out"):
        said = read('{"t1": {"Ann": "x", "Bo": "y"}, "t2": {"Ann": null}}', "votes.json")
    assert said.items.tolist() == ["t1", "t2"]
    assert said.to_frame().to_numpy().tolist() == [["t1", "Ann", "x"], ["t1", "Bo", "y"]]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "table.csv", "is empty"),
        (b"junk", "table.parquet", "not a Parquet file"),
        (b"PAR1junk", "table.parquet", "not a Parquet file"),
        (b"junk", "table.xlsx", "not an Excel workbook"),
        (b"PK\x03\x04junk", "table.csv", "zip archive is not an Excel workbook"),
        (b"junk", "table.npy", "not a NumPy array"),
        (b"\x93NUMPYjunk", "table.npy", "contains objects, or is damaged"),
        (b"\xd0\xcf\x11\xe0 old", "table.xls", r"old Excel \(.xls\); save it as .xlsx or CSV"),
        (b"%PDF-1.7", "table.csv", "not a table; save"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "table.csv", "not a table; save"),
        (b"{", "table.json", "not JSON"),
        (b"[1, 2]", "table.json", "list of objects"),
        (b"[]", "table.json", "empty list"),
        (b"\xff\xfe", "table.json", "not JSON"),
        (b'{"a": 1}\n{"a": \n', "table.jsonl", r"Line 2 is not JSON"),
        (b"[" * 100_000, "table.json", "not JSON"),
        (b"x", "table", "only one column"),
    ],
)
def test_files_that_are_not_tables_are_refused(read, content, name, message):
    with pytest.raises(AnnotationError, match=message) as error:
        read(content, name)
    assert name in str(error.value)


def test_damaged_gzip_of_any_kind(tmp_path):
    for name, content in DRESSES.items():
        whole = gzip.compress(content * 50, mtime=0)
        path = tmp_path / f"{name}.gz"
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(AnnotationError, match=r"damaged or truncated|damaged"):
            read_annotations(path)


def test_sheet_of_a_file_without_sheets(read):
    with pytest.raises(AnnotationError, match="Only Excel workbooks have sheets"):
        read(FRAME.to_csv(index=False), sheet="first")


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*nothing\.csv"):
        read_annotations(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="This is a folder; give one of its files"):
        read_annotations(tmp_path)


@pytest.mark.parametrize("name", ["table.csv", "table.json", "table.parquet"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_standard_input(monkeypatch, name, is_packed):
    content = gzip.compress(DRESSES[name]) if is_packed else DRESSES[name]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    said = read_annotations("-")
    assert said.items.tolist() == ["ant", "bee", "cow"]


def test_messages_name_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"item,annotator,label\na,,x\n")))
    with pytest.raises(AnnotationError, match=r"^standard input: The annotator in line 2"):
        read_annotations("-")


@pytest.mark.parametrize(("module", "name"), [("pyarrow", "labels.parquet"), ("openpyxl", "labels.xlsx")])
def test_packages_that_are_not_installed(tmp_path, monkeypatch, module, name):
    labels = Labels.from_matrix([["x"], ["y"]], items=["a", "b"], annotators=["Ann"])
    if name.endswith("parquet"):
        write_annotations(labels, tmp_path / name)
    else:
        (tmp_path / name).write_bytes(workbook({"s": [["item", "Ann"], ["a", "x"]]}))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=f"the package {module}"):
        read_annotations(tmp_path / name)


def test_json_keeps_types_and_parquet_too(read, tmp_path):
    frame = pd.DataFrame({"item": ["1", "2"], "annotator": [1, 2], "label": [True, False]})
    frame.to_parquet(tmp_path / "labels.parquet")
    json_text = json.dumps(frame.to_dict("records"))
    for labels in (read_annotations(tmp_path / "labels.parquet"), read(json_text, "labels.json")):
        assert labels.items.tolist() == ["1", "2"]
        assert labels.annotators.tolist() == [1, 2]
        assert labels.classes.tolist() == [False, True]


SORTS = [["card", "Ann", "Bo"], ["ant", 1, 2], ["bee", 1, 1], ["cow", 2, 2]]


@pytest.mark.parametrize(
    ("titles", "count"),
    [
        ([["Our study"]], "1 row above the names of the columns left out, which says 'Our study'"),
        ([[None, "Our study"], [], ["by us"]], "2 rows above the names of the columns left out, which begin with 'Our"),
    ],
)
def test_titles_above_the_names_of_the_columns_are_left_out(read, titles, count):
    said = read(workbook({"sorts": [*titles, *SORTS]}), "table.xlsx")
    assert said.to_matrix().to_numpy().tolist() == [[1, 2], [1, 1], [2, 2]]
    assert any(count in note for note in said.reading.notes)
    table = read_source(source(workbook({"sorts": [*titles, *SORTS]}), "table.xlsx")).table()
    assert table.where(0) == f"row {len(titles) + 2} of the sheet"


def test_titles_of_several_cells_above_a_fuller_table(read):
    wide = [[*row, *row[1:], *row[1:]] for row in SORTS]
    wide[0] = ["card", "Ann", "Bo", "Cy", "Di", "Ed", "Flo"]
    said = read(workbook({"sorts": [["Study", "of cards"], ["Date", 2024], *wide]}), "table.xlsx")
    assert said.annotators.tolist() == wide[0][1:]
    assert any(
        "2 rows above the names of the columns left out, which begin with 'Study'" in note
        for note in said.reading.notes
    )


@pytest.mark.parametrize(
    "rows",
    [
        [
            ["card", "Ann"],
            ["ant", "x", "y", "z", "w"],
            ["bee", "y", "z", "w", "u"],
        ],  # the first row has a usual column name
        [["a", "b"], [1, 2, 3, 4], [1, 2, 2, 3]],  # no names below
        [["a", "b", "c"], ["x", "y", "z"], ["x", "y", "u"], ["p", "q", "r", "s", "t", "u"]],  # not fuller than this row
    ],
)
def test_unnamed_columns_below_a_title_are_refused(read, rows):
    with pytest.raises(AnnotationError, match=r"Column \d of the sheet has no name in row 1"):
        read(workbook({"sorts": rows}), "table.xlsx")


def test_a_sheet_for_each_person_is_one_study(read):
    long = [["card", "group"], ["ant", "small"], ["bee", "small"], ["cow", "large"]]
    content = workbook({"Ann": long, "Bo": [*long[:3], ["cow", "small"]], "notes": [["a", "b"], ["c", "d"]]})
    said = read(content, "table.xlsx")
    assert said.annotators.tolist() == ["Ann", "Bo"]
    assert said.to_frame()["group"].tolist() == ["small", "small", "small", "small", "large", "small"]
    assert any("the sheets 'Ann', 'Bo' are one person's each" in note for note in said.reading.notes)
    assert read(content, "table.xlsx", sheet="Ann", kind="groupings", transpose=False).n_rows == 3
    wide = [["card", "first", "second"], ["ant", 1, 2], ["bee", 1, 1]]
    with pytest.raises(
        AnnotationError, match="The sheets 'Ann', 'Bo' have the same columns, without one of annotators"
    ):
        read(workbook({"Ann": wide, "Bo": wide}), "table.xlsx")
    with_people = [["participant", *row] if i == 0 else ["Ann", *row] for i, row in enumerate(long)]
    with pytest.raises(AnnotationError, match="The sheets 'first', 'second' all hold annotations"):
        read(workbook({"first": with_people, "second": with_people}), "table.xlsx")


COUNTS = [["word", "count"], ["sweet", 7], ["sour", 3]]


def test_sheets_without_annotations_are_skipped(read):
    unnamed = [["a", "", "c"], ["x", "y", "z"]]
    said = read(workbook({"words": COUNTS, "odd": unnamed, "sorts": SORTS}), "table.xlsx")
    assert said.annotators.tolist() == ["Ann", "Bo"]
    assert "sheet 'sorts' was read; others are 'words', 'odd' (sheet=…)" in said.reading.notes
    with pytest.raises(AnnotationError, match=r"^\S+: Sheet 'words': "):
        read(workbook({"words": COUNTS, "odd": unnamed}), "table.xlsx")
    with pytest.raises(AnnotationError) as error:
        read(workbook({"words": COUNTS, "sorts": SORTS}), "table.xlsx", sheet="words")
    assert "Sheet 'words'" not in str(error.value)


def test_a_sheet_of_annotations_with_an_error_is_not_skipped(read):
    wrong = [["card", "annotator", "group"], ["ant", "Ann", "x"], ["ant", "Ann", "y"], ["bee", "Ann", "y"]]
    with pytest.raises(AnnotationError, match=r"The item 'ant' occurs twice.*row 2 of the sheet 'answers'"):
        read(workbook({"answers": wrong, "words": COUNTS}), "table.xlsx")
    pairs = [["item_a", "item_b", "annotator", "same"], ["a", "b", "Ann", "perhaps"], ["a", "c", "Ann", "never"]]
    with pytest.raises(AnnotationError, match=r"Sheet 'answers': .*perhaps"):
        read(workbook({"answers": pairs, "sorts": SORTS}), "table.xlsx")
