"""Recognition of tables: long or wide, of which kind, and the role of each column."""

import itertools

import pandas as pd
import pytest

from consilience.annotations.files.layout import Long, ReadingRequest, Wide
from consilience.annotations.files.recognition import recognise
from consilience.annotations.files.table import Table
from consilience.annotations.names import frame_row
from consilience.errors import AnnotationError

ITEMS, PEOPLE, GROUPS = (
    ("item", "card", "Task", "statements"),
    ("annotator", "worker", "participantID"),
    ("group", "Category"),
)
LABELS, SAMES = ("label", "answer", "Rating"), ("same", "Match", "is_duplicate")


def table(columns, n=3):
    """Return a table with uninformative cells: each column has its own names, repeated in some rows."""
    frame = pd.DataFrame({name: [f"{name} {row % 2}" for row in range(n)] for name in columns}, dtype=str)
    return Table(frame, frame_row, is_text=True)


def layout(columns, /, **asked):
    return recognise(table(columns), ReadingRequest(**asked))


@pytest.mark.parametrize(("item", "person", "group"), list(itertools.product(ITEMS, PEOPLE, GROUPS)))
def test_long_tables_of_groupings_by_their_names(item, person, group):
    for columns in itertools.permutations([item, person, group]):
        found = layout([*columns, "seconds"])
        assert isinstance(found, Long)
        assert (found.kind, found.left_out) == ("groupings", ["seconds"])
        assert found.columns == {"item": item, "annotator": person, "group": group}


@pytest.mark.parametrize(("item", "person", "label"), list(itertools.product(ITEMS, PEOPLE, LABELS)))
def test_long_tables_of_labels_by_their_names(item, person, label):
    found = layout([label, "time", person, item])
    assert (found.kind, found.left_out) == ("labels", ["time"])
    assert found.columns == {"item": item, "annotator": person, "label": label}
    turned = layout([label, person, item], kind="groupings")
    assert (turned.kind, turned.columns["group"]) == ("groupings", label)


@pytest.mark.parametrize("same", SAMES)
@pytest.mark.parametrize(
    "pair", [("item_a", "item_b"), ("item1", "item2"), ("left_image", "right_image"), ("left", "right")]
)
def test_long_tables_of_pairs_by_their_names(pair, same):
    found = layout([*pair, "worker", same])
    assert found.kind == "pairs"
    assert (found.columns["item"], found.columns["item_b"], found.columns["same"]) == (*pair, same)


def test_session_is_a_grouping():
    found = layout(["card", "session", "category"])
    assert found.columns == {"item": "card", "grouping": "session", "group": "category"}


def test_identifiers_and_texts_of_one_noun_belong_together():
    found = layout(["card_id", "card_label", "category_id", "category_label", "user_id"])
    assert found.columns == {"item": "card_id", "annotator": "user_id", "group": "category_id"}
    assert found.texts == {"item": "card_label", "group": "category_label"}
    assert found.left_out == []


def test_named_columns_come_before_all_guesses():
    columns = ["a", "b", "c", "item"]
    found = layout(columns, columns={"item": "a", "annotator": "b", "group": "c"})
    assert found.columns == {"item": "a", "annotator": "b", "group": "c"}
    assert found.left_out == ["item"]
    assert layout(["task", "card", "worker", "label"], ignore=("task",)).columns["item"] == "card"


@pytest.mark.parametrize(
    ("columns", "asked", "message"),
    [
        (["task", "card", "worker", "label"], {}, "items may be in 'task' or 'card'. Name the column: item='task'"),
        (
            ["item", "worker", "rater", "label"],
            {},
            "annotators may be in 'worker' or 'rater'. Name the column: annotator=",
        ),
        (
            ["item", "worker", "group", "label"],
            {},
            "can be read in two ways: as groupings by 'group' or as labels by 'label'",
        ),
        (["item", "annotator"], {"kind": "pairs"}, "pairs needs the columns item_a, item_b, annotator, same"),
        (["item_a", "item_b", "same"], {}, "no column has a usual name for annotators"),
        (["item_a", "item_b", "annotator"], {}, "no column has a usual name for judgements"),
        (["item", "annotator", "grop"], {}, "no column has a usual name for groups or labels.*Did you mean 'grop'"),
        (["item", "anotator", "group"], {}, "usual name for annotators.*Did you mean 'anotator'"),
        (["itm", "annotator", "group"], {}, "usual name for items.*Did you mean 'itm'"),
        (["item", "annotator", "label"], {"kind": "pairs"}, "contains labels, not pairs"),
        (["a", "b"], {"columns": {"item": "c"}}, "There is no column 'c'. Found 'a', 'b'"),
        (["a", "b"], {"ignore": ("wine",)}, "There is no column 'wine'"),
        (["a", "b"], {"columns": {"item": "a", "group": "a"}}, "'a' was given for two roles"),
        (
            ["text_a", "text_b", "image_a", "image_b", "worker", "same"],
            {},
            "items of the pairs may be in 'text_a' and 'text_b' or",
        ),
    ],
)
def test_ambiguous_or_incomplete_tables_are_refused(columns, asked, message):
    with pytest.raises(AnnotationError, match=message):
        layout(columns, **asked)


# wide tables


def wide(rows, columns, /, **asked):
    frame = pd.DataFrame(rows, columns=columns).astype(str)
    return recognise(Table(frame, frame_row, is_text=True), ReadingRequest(**asked))


ROWS = [["a", "1", "1"], ["b", "1", "2"], ["c", "2", "2"]]


@pytest.mark.parametrize(
    ("columns", "in_rows"),
    [
        (["card", "x", "y"], False),
        (["participant", "x", "y"], True),
        (["id", "J1", "J2"], False),
        (["id", "card 1", "card 2"], True),
    ],
)
def test_wide_tables_by_their_names(columns, in_rows):
    found = wide(ROWS, columns)
    assert isinstance(found, Wide)
    assert (found.kind, found.key, found.others) == ("groupings", columns[0], columns[1:])
    assert found.annotators_in_rows is in_rows
    turned = wide(ROWS, columns, transpose=not in_rows, kind="labels")
    assert (turned.annotators_in_rows, turned.kind) == (not in_rows, "labels")


def test_columns_without_groups_are_left_out():
    rows = [[*row, "3.5", f"a very long sentence about {row[0]}", "m"] for row in ROWS]
    found = wide(rows, ["card", "x", "y", "score", "description", "Gender"])
    assert (found.others, found.left_out) == (["x", "y"], ["score", "description", "Gender"])


def test_items_named_by_single_letters_are_not_counts():
    letters = [chr(65 + k) for k in range(16)]  # among them N
    found = wide([["1", *"1122112211221122"], ["2", *"1212121212121212"]], ["participant", *letters])
    assert (found.others, found.left_out) == (letters, [])


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([["a", "1", "0"], ["b", "0", "1"]], ["", "a", "b"], "table of similarities"),
        (
            [["a", "5", "0", "1"], ["b", "1", "4", "1"], ["c", "0", "6", "0"], ["d", "3", "3", "0"]],
            ["card", "Tea", "Jam", "Ale"],
            "seems to be a table of counts",
        ),
        ([[k, k, k + 10] for k in range(5)], ["wine", "a", "b"], "no annotator gave two items the same"),
        (
            [["Ann", "x", "1"], ["Bo", "y", "2"], ["Ann", "x", "3"]],
            ["Ann", "x", "9"],
            "seems to contain data instead of names",
        ),
        (
            [["a", "1", "1"], ["a", "1", "2"]],
            ["card", "x", "y"],
            "names of items must differ. Got 'a' in row 0 and in row 1",
        ),
        ([["a", "1", "1"], ["", "1", "2"]], ["card", "x", "y"], "One of the items, in row 1, has no name"),
        ([["1.5", "2.5"], ["1.5", "3.5"]], ["sepal", "petal"], "'sepal', 'petal' are not recognised"),
    ],
)
def test_tables_without_annotations_are_refused(rows, columns, message):
    with pytest.raises(AnnotationError, match=message):
        wide(rows, columns)


def test_an_unknown_word_for_the_rows_is_asked_about():
    with pytest.raises(AnnotationError, match="can be read in two ways"):
        wide(ROWS, ["thing", "x", "y"])
    assert not wide(ROWS, ["thing", "x", "y"], transpose=False).annotators_in_rows


def test_list_in_a_cell_of_an_unrecognised_table():
    frame = pd.DataFrame({"thing": ["a", "b"], "x": [[1], [2]]}, dtype=object)
    with pytest.raises(
        AnnotationError, match="'x' contains a list in row 0, but the table is not recognised as a long one"
    ):
        recognise(Table(frame, frame_row, is_text=False), ReadingRequest())
