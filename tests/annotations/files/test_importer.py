"""The importer: rows without values, lists in cells, names with texts, and the line on how a table was read."""

import itertools

import pandas as pd
import pytest

from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.files.importer import statements, table_of_frame
from consilience.annotations.files.layout import ReadingRequest
from consilience.errors import AnnotationError


def said(rows, columns, **asked):
    """Return the annotations in rows, and how they were read."""
    found = statements(
        table_of_frame(pd.DataFrame(rows, columns=columns, dtype=object), "test"), ReadingRequest(**asked)
    )
    names = [
        [None if place < 0 else column.names[place] for place in column.codes] for column in found.columns.values()
    ]
    return list(zip(*names)), found


LABELS = ["item", "annotator", "label"]
GROUPS = ["item", "annotator", "group"]
PAIRS = ["item_a", "item_b", "annotator", "same"]


def test_blank_label_is_left_out_and_blank_group_is_not_sorted():
    rows = [("a", "Ann", "x"), ("b", "Ann", None), ("c", "Bo", " ")]
    found, statement = said(rows, LABELS)
    assert found == [("a", "Ann", "x")]
    assert statement.reading.warnings == ("2 rows without a label left out",)
    found, statement = said(rows, GROUPS)
    assert found == [("a", "Ann", "x")]
    assert statement.reading.notes == ("2 rows without a group = not sorted",)
    assert statement.reading.warnings == ()
    assert statement.columns["item"].names.tolist() == ["a", "b", "c"]  # all were shown
    assert statement.columns["annotator"].names.tolist() == ["Ann", "Bo"]


def test_row_with_only_an_item_is_not_a_row_without_a_label():
    found, statement = said([("z", None, None), ("a", "Ann", "x")], LABELS)
    assert found == [("a", "Ann", "x")]
    assert statement.columns["item"].names.tolist() == ["z", "a"]
    assert statement.reading.warnings == statement.reading.notes == ()


def test_blank_rows_are_counted_where_rows_have_names():
    found, statement = said([("a", "Ann", "x"), (None, None, ""), ("b", "Ann", "x")], LABELS)
    assert len(found) == 2
    assert statement.reading.warnings == ("1 row without any entry left out",)
    assert statement.where(1) == "row 2"


def test_blank_rows_are_items_where_rows_are_numbered():
    rows = [(1, 1, 1), (None, None, None), (2, 2, 1), (1, 2, 2), (2, 1, 1)]
    found, statement = said(rows, ["J1", "J2", "J3"])
    assert statement.columns["item"].names.tolist() == [0, 1, 2, 3, 4]
    assert {item for item, *_ in found} == {0, 2, 3, 4}
    assert statement.reading.warnings == ()


def test_minus_one_is_missing_in_long_and_wide_tables():
    rows = [("a", "Ann", 5), ("b", "Ann", -1), ("c", "Ann", 5)]
    found, statement = said(rows, LABELS)
    assert found == [("a", "Ann", 5), ("c", "Ann", 5)]
    assert statement.reading.warnings[0] == "1 cell with -1 read as missing (missing=[] if -1 is a label)"
    assert said(rows, LABELS, missing=())[0] == rows
    wide = [(name, value, 3) for name, _, value in rows]
    found, statement = said(wide, ["card", "Ann", "Bo"])
    assert [row for row in found if row[1] == "Ann"] == [("a", "Ann", 5), ("c", "Ann", 5)]
    assert statement.reading.warnings == ("1 cell with -1 read as missing (missing=[] if -1 is a group)",)
    two_ways = [("a", "Ann", 1), ("b", "Ann", -1)]
    with pytest.raises(AnnotationError, match=r"label -1 in row 1 can be read in two ways with 1"):
        said(two_ways, LABELS)
    assert said(two_ways, LABELS, missing=(-1,))[0] == two_ways[:1]


def test_pile_of_unsorted_items():
    rows = [("a", "Ann", "g"), ("b", "Ann", "Unsorted"), ("c", "Ann", "g")]
    found, statement = said(rows, GROUPS)
    assert found == [rows[0], rows[2]]
    assert statement.reading.warnings == ("1 entry 'Unsorted' read as not sorted (missing=[] if it is a group)",)
    assert said(rows, GROUPS, missing=())[0] == rows
    assert said(rows, LABELS)[0] == rows  # a label like any other


def test_lists_in_cells_are_rows():
    found, statement = said([(["a", "b"], "Ann", "x"), ("c", "Ann", "y")], GROUPS)
    assert found == [("a", "Ann", "x"), ("b", "Ann", "x"), ("c", "Ann", "y")]
    assert [statement.where(row) for row in range(3)] == ["row 0", "row 0", "row 1"]
    assert said([("a", "Ann", ["x"])], LABELS)[0] == [("a", "Ann", "x")]
    assert said([(("a", 1), "Ann", "x")], GROUPS)[0] == [(("a", 1), "Ann", "x")]  # a tuple is a name


def test_items_listed_in_a_row_for_each_group():
    rows = [("Ann", "g", "ant; bee"), ("Ann", "h", "cow"), ("Bo", "g", "ant;bee; cow")]
    found, _ = said(rows, ["participant", "category", "cards"])
    assert sorted((item, person) for item, person, _ in found) == sorted(
        itertools.product(["ant", "bee", "cow"], ["Ann", "Bo"])
    )


def test_lists_in_columns_are_one_persons_piles_unless_the_first_column_names_the_rows():
    rows = [("ant", "cow"), ("bee", None)]
    assert said(rows, ["small", "large"])[0] == [
        ("ant", "table", "small"),
        ("bee", "table", "small"),
        ("cow", "table", "large"),
    ]
    assert said(rows, ["card", "Ann"])[0] == [("ant", "Ann", "cow")]
    assert said([("ant", None), ("bee", None)], ["card", "Ann"])[0] == []


def test_things_with_texts_are_named_by_their_texts():
    columns = ["card_id", "card_label", "category_id", "category_label", "user_id"]
    rows = [
        (1, "Ant", 1, "Small", "u"),
        (2, "Bee", 2, "Small", "u"),
        (3, "Ant", 3, None, "u"),
        (1, "Ant", 1, "Small", "v"),
    ]
    found, statement = said(rows, columns)
    assert {(item, person, group) for item, person, group in found} == {
        ("Ant (1)", "u", "Small (1)"), ("Bee", "u", "Small (2)"), ("Ant (3)", "u", "3"), ("Ant (1)", "v", "Small"),
    }  # fmt: skip
    assert "columns not used" not in str(statement.reading)


def test_copies_of_pair_judgements_count_unless_the_time_is_the_same_too():
    rows = [("a", "b", "Ann", "yes"), ("a", "b", "Ann", "yes"), ("a", "b", "Ann", "no")]
    found, statement = said(rows, PAIRS)
    assert len(found) == 3
    assert statement.reading.warnings == ()
    timed = [(*row, time) for row, time in zip(rows, ("9:00", "9:00", "9:05"))]
    found, statement = said(timed, [*PAIRS, "timestamp"])
    assert len(found) == 2
    assert statement.reading.warnings == ("1 row that repeats another, including time or session, left out",)


def test_preferences_are_not_judgements():
    for same in (
        [("a", "b", "Ann", "left"), ("a", "c", "Ann", "right")],
        [("a", "b", "Ann", "a"), ("c", "d", "Ann", "d"), ("a", "d", "Bo", "c")],
    ):
        with pytest.raises(AnnotationError, match="which of two items was preferred"):
            said(same, PAIRS)


def test_near_twins_and_totals_are_noted():
    rows = [("ant", "Ann", "x"), ("Ant ", "ann", "x"), ("Total", "Bo", "x")]
    notes = said(rows, GROUPS)[1].reading.notes
    assert "the items 'ant' and 'Ant ' differ only in case, spaces or form of letters" in notes
    assert "there is an item called 'Total'; if it is a total, delete it" in notes
    assert "the annotators 'Ann' and 'ann' differ only in case, spaces or form of letters" in notes


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (
            [("a", "Ann", "x")],
            ["card", "participant", "category"],
            "1 card × 1 participant, long table of groupings (card, participant, category)",
        ),
        (
            [("a", "Ann", "x"), ("b", "Bo", "y")],
            LABELS,
            "2 items × 2 annotators, 2 classes, long table of labels (item, annotator, label)",
        ),
        (
            [("a", "b", "Ann", "yes")],
            PAIRS,
            "1 judgement of pairs of 2 items × 1 annotator, long table of pairs (item_a, item_b, annotator, same)",
        ),
        (
            [("a", 1, 1), ("b", 1, 2)],
            ["wine", "x", "y"],
            "2 wines × 2 annotators, wide table of groupings "
            "(a row per wine, a column per annotator: the column 'wine')",
        ),
    ],
)
def test_one_line_says_how_a_table_was_read(rows, columns, expected):
    reading = said(rows, columns)[1].reading
    assert reading.how == expected
    assert str(reading).startswith(f"read as: {expected}")


def test_wide_groupings_note_that_they_may_be_labels():
    rows = [("a", 1, 1), ("b", 1, 2)]
    assert any("kind='labels'" in note for note in said(rows, ["wine", "x", "y"])[1].reading.notes)
    assert said(rows, ["wine", "x", "y"], kind="labels")[1].reading.notes == ()


def test_condition_without_pairs():
    for rows, columns in (([("a", "Ann", 1)], LABELS), ([("a", 1, 1), ("b", 1, 2)], ["wine", "x", "y"])):
        with pytest.raises(AnnotationError, match="is for judgements of pairs"):
            said(rows, columns, same_if=">1")


@pytest.mark.parametrize("make", [Groupings, Labels, Pairs])
def test_things_that_are_not_tables(make):
    for bad in ({"item": 1}, [[1, 2]], "x", 7, None, pd.Series([1])):
        with pytest.raises(AnnotationError, match=rf"{make.__name__}.from_frame takes a table"):
            make.from_frame(bad)
    with pytest.raises(AnnotationError, match=r"one level of names\. Got 2 levels"):
        make.from_frame(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))
