"""Files of other tools are read without options and exactly, or refused with one sentence."""

import json
import re
import warnings
import zipfile

import pytest

from consilience import read_annotations
from consilience.errors import AnnotationError, AnnotationWarning
from tests.annotations.files.formats import SAMPLES, formats
from tests.annotations.files.formats_table import COMMAND, PAGE, table

ALL = list(formats())


def rows_of(annotations):
    """Return the rows of the long table, without the grouping if it has the name of its annotator."""
    frame = annotations.to_frame()
    if "grouping" in frame and (frame["grouping"] == frame["annotator"]).all():
        frame = frame.drop(columns="grouping")
    return [tuple(value.item() if hasattr(value, "item") else value for value in row) for row in frame.to_numpy(object)]


def sorted_rows(rows):
    return sorted(rows, key=lambda row: [(type(value).__name__, str(value)) for value in row])


def ids(found):
    return found.file


@pytest.mark.parametrize("found", [found for found in ALL if found.rows], ids=ids)
def test_a_file_gives_exactly_its_annotations(found, tmp_path):
    path = found.write(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        annotations = read_annotations(path, **found.options)
    assert type(annotations).__name__.lower() == found.kind
    assert sorted_rows(rows_of(annotations)) == sorted_rows(found.rows)
    keys = (0, 1) if found.kind == "pairs" else (0,)
    assert set(annotations.items) == {row[key] for row in found.rows for key in keys} | set(found.items)
    assert annotations.reading.warnings == found.left_out
    assert [str(warning.message) for warning in caught] == [f"{path}: {text}." for text in found.left_out]
    assert {warning.category for warning in caught} <= {AnnotationWarning}


@pytest.mark.parametrize("found", [found for found in ALL if found.refused], ids=ids)
def test_a_file_is_refused_with_one_sentence(found, tmp_path):
    path = found.write(tmp_path)
    with pytest.raises(AnnotationError, match=re.escape(found.refused)) as refusal:
        read_annotations(path)
    assert "\n" not in str(refusal.value)


def test_every_file_is_read_or_refused_and_every_sample_is_used():
    assert all(found.rows or found.refused for found in ALL)
    assert {found.file for found in ALL if found.make is None} == {path.name for path in SAMPLES.iterdir()}
    assert len({found.file for found in ALL}) == len(ALL)


def test_only_ambiguous_files_need_options():
    """Labels in a wide table of numbers need one too, since they look like groups."""
    for found in ALL:
        if found.options:
            assert found.options == {"kind": "labels"} or re.search("can be read in two ways|several", found.refused)


def test_the_table_in_the_docs_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == table(), f"docs/{PAGE.name} is out of date; run: {COMMAND}"


# Not confirmed by a public sample: names of columns and shapes that such files would have


@pytest.mark.parametrize(
    "content",
    [
        'participant,category,cards\np1,Orders,"Returns, Parcels"\np1,Shop,"Vouchers, Hours"\n'
        'p2,Help,"Returns, Hours"\np2,Mine,"Parcels, Vouchers"\n',
        "participant id,card label,category label\np1,Returns,Orders\np1,Parcels,Orders\np1,Vouchers,Shop\n"
        "p1,Hours,Shop\np2,Returns,Help\np2,Hours,Help\np2,Parcels,Mine\np2,Vouchers,Mine\n",
        "Respondent;Statement;Pile\np1;Returns;Orders\np1;Parcels;Orders\np1;Vouchers;Shop\n"
        "p1;Hours;Shop\np2;Returns;Help\np2;Hours;Help\np2;Parcels;Mine\np2;Vouchers;Mine\n",
        "participant,Returns,Parcels,Vouchers,Hours\np1,Orders,Orders,Shop,Shop\np2,Help,Mine,Mine,Help\n",
    ],
)
def test_card_sorts_by_the_names_of_their_columns(content, tmp_path):
    (tmp_path / "export.csv").write_text(content)
    assert sorted_rows(rows_of(read_annotations(tmp_path / "export.csv"))) == sorted_rows(
        [
            ("Returns", "p1", "Orders"),
            ("Parcels", "p1", "Orders"),
            ("Vouchers", "p1", "Shop"),
            ("Hours", "p1", "Shop"),
            ("Returns", "p2", "Help"),
            ("Hours", "p2", "Help"),
            ("Parcels", "p2", "Mine"),
            ("Vouchers", "p2", "Mine"),
        ]
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",A,B,C,D\nA,100,50,0,0\nB,50,100,0,0\nC,0,0,100,80\nD,0,0,80,100\n", "table of similarities"),
        ("card,Orders,Shop,Help\nA,9,1,0\nB,10,0,0\nC,0,10,0\nD,0,3,7\n", "seems to be a table of counts"),
        ("card,category,frequency\nA,Orders,9\nA,Shop,1\n", "table of counts: 'frequency'"),
        ("s1,1\ns2,1\ns3,2\n", "'s1' has the form of the cells below it"),
        ("tulip,1\nrose,1\noak,2\n", "'1' is a number"),
    ],
)
def test_tables_without_groups_are_refused(content, message, tmp_path):
    (tmp_path / "export.csv").write_text(content)
    with pytest.raises(AnnotationError, match=message):
        read_annotations(tmp_path / "export.csv")


def test_counts_are_groups_on_request(tmp_path):
    (tmp_path / "export.csv").write_text("card,Ann,Bo\nA,9,1\nB,9,1\nC,0,10\nD,3,7\n")
    assert read_annotations(tmp_path / "export.csv", kind="groupings").n_rows == 8


def test_one_person_who_labelled_items(tmp_path):
    (tmp_path / "gt.csv").write_text("task,label\nt1,cat\nt2,cat\n")
    assert rows_of(read_annotations(tmp_path / "gt.csv", kind="labels")) == [
        ("t1", "label", "cat"),
        ("t2", "label", "cat"),
    ]


def split(groups):
    """Split text into single digits and NA."""
    return re.findall(r"\d|NA", groups)


def test_missing_cells_do_not_hide_the_orientation(tmp_path):
    groups = {"x": "1122112211", "y": "12345678NA8", "z": "1123344556"}
    rows = [f"{item},{a},{b},{c}" for item, a, b, c in zip("ABCDEFGHIJ", *map(split, groups.values()))]
    for missing in ("NA", "nan", "-1", ""):
        (tmp_path / "export.csv").write_text("\n".join([",x,y,z", *rows]).replace("NA", missing) + "\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)
            annotations = read_annotations(tmp_path / "export.csv")
        assert annotations.annotators.tolist() == ["x", "y", "z"]
        assert annotations.n_rows == 29


def test_archive_of_lines_names_the_file_at_fault(tmp_path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("ana.jsonl", '{"id": 1, "text": "x", "label": ["a"]}\n')
        archive.writestr("ben.jsonl", '{"id": 1, "text": "x", "label": ["a"]}\n\n{"id": 2, "text"\n')
    with pytest.raises(AnnotationError, match=r"ben\.jsonl: Line 3 is not JSON"):
        read_annotations(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("ana.jsonl", '{"id": 1, "text": "x", "label": ["a"]}\n')
        archive.writestr("ben.jsonl", '{"id": 1, "text": "x", "label": [[0, 1, "A"]]}\n')
    with pytest.raises(AnnotationError, match=r"line 1 of ben\.jsonl of doccano contains spans"):
        read_annotations(tmp_path / "export.zip")


@pytest.mark.parametrize("content", [b"PK\x03\x04junk", b"PK\x03\x04"])
def test_damaged_archive(content, tmp_path):
    (tmp_path / "export.zip").write_bytes(content)
    with pytest.raises(AnnotationError, match="zip archive is not an Excel workbook, or it is damaged"):
        read_annotations(tmp_path / "export.zip")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", '[{"id": 1, "annotations": [{"result": [{"type": []}]}]}]', "not in the format of Label Studio"),
        (
            "x.jsonl",
            '{"text": "a", "_input_hash": 1, "_annotator_id": "b", "answer": "accept", "accept": ["c"], '
            '"options": [{}]}',
            "not in the format of Prodigy",
        ),
        (
            "x.jsonl",
            '{"text": "a", "_input_hash": 1, "_annotator_id": "b", "answer": "accept", "accept": [["c"]]}',
            "not in the format of Prodigy|hashable",
        ),
        (
            "x.json",
            '[{"annotation_id": 1, "annotator": 1, "id": 1, "sim": null, "rank": null}]',
            "no column of answers",
        ),
        (
            "x.csv",
            'annotation_id,annotator,id,animal\n1,1,1,"{""choices"": [""cat"""\n2,2,1,dog\n',
            "choices is truncated",
        ),
    ],
)
def test_records_that_no_tool_writes(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(AnnotationError, match=message):
        read_annotations(tmp_path / name)


def test_a_blank_answer_of_json_min_is_missing(tmp_path):
    rows = [
        {"annotation_id": 1, "annotator": 1, "id": 1, "animal": "cat"},
        {"annotation_id": 2, "annotator": 2, "id": 1, "animal": None},
        {"annotation_id": 3, "annotator": 2, "id": 2, "animal": "dog"},
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    with pytest.warns(AnnotationWarning, match="1 row without a label left out"):
        labels = read_annotations(tmp_path / "x.json")
    assert rows_of(labels) == [(1, 1, "cat"), (2, 2, "dog")]
