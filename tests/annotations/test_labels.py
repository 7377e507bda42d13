"""Labels: classes, order, and what an annotator may not do twice."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience.annotations import Groupings, Labels, Pairs, concat
from consilience.errors import AnnotationError

FRAME = pd.DataFrame(
    {
        "item": ["ant", "cow", "bee", "ant"],
        "annotator": ["Ann", "Ann", "Bo", "Bo"],
        "label": ["small", "large", "small", "large"],
    }
)


@pytest.fixture
def labels():
    return Labels.from_frame(FRAME)


def test_rows_are_sorted_by_item_then_annotator(labels):
    assert list(labels.items) == ["ant", "cow", "bee"]
    assert list(labels.classes) == ["large", "small"]
    np.testing.assert_array_equal(labels.item, [0, 0, 1, 2])
    np.testing.assert_array_equal(labels.annotator, [0, 1, 0, 1])
    np.testing.assert_array_equal(labels.label, [1, 0, 0, 1])
    np.testing.assert_array_equal(labels.indptr, [0, 2, 3, 4])
    assert (labels.n_rows, labels.n_classes, labels.shape) == (4, 2, (3,))


def test_indptr_of_items_without_labels(labels):
    moved = labels.reindex(["dog", "cow", "elk", "ant", "bee", "fly"])
    np.testing.assert_array_equal(moved.indptr, [0, 0, 1, 1, 3, 4, 4])


def test_crowd_kit_names_of_columns(labels):
    assert Labels.from_frame(FRAME.rename(columns={"item": "task", "annotator": "worker"})) == labels


def test_classes_that_cannot_be_compared_keep_the_order_of_appearance():
    frame = FRAME.assign(label=["small", 3, "small", "large"])
    assert Labels.from_frame(frame).classes.tolist() == ["small", 3, "large"]


def test_classes_given_set_the_order_and_add_classes():
    labels = Labels.from_frame(FRAME, classes=["small", "medium", "large"])
    np.testing.assert_array_equal(labels.label, [0, 2, 2, 0])
    assert labels == Labels.from_frame(FRAME)
    with pytest.raises(AnnotationError, match="label 'large' in row 1 is not among the 2 classes"):
        Labels.from_frame(FRAME, classes=["small", "medium"])


def test_matrix_and_back():
    matrix = np.array([[0, 1, -1], [2, -1, -1], [-1, -1, -1]])
    labels = Labels.from_matrix(matrix, missing=-1)
    wide = labels.to_matrix()
    assert wide.to_numpy().tolist() == [[0, 1, None], [2, None, None], [None, None, None]]
    assert Labels.from_matrix(wide) == labels
    assert labels.positional
    assert labels.n_annotators == 3


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns="label"), "needs the column 'label'"),
        (FRAME.rename(columns={"label": "lable"}), "Did you mean 'lable'"),
        (FRAME.assign(group="g"), "does not know the column 'group'"),
        (FRAME.assign(task="t", worker="w"), "Two columns are called 'item', or mean it"),
        (FRAME.assign(label=["small", None, "small", "large"]), "label in row 1 is missing"),
        (FRAME.assign(item="ant"), r"'Ann' labels the item 'ant' twice: row 0 \('small'\) and row 1 \('large'\)"),
        (FRAME.iloc[:0], "has no rows"),
    ],
)
def test_bad_frames_are_refused_by_name_and_row(frame, message):
    with pytest.raises(AnnotationError, match=message):
        Labels.from_frame(frame)


def test_restriction_keeps_classes_and_annotators(labels):
    kept = labels[[1]]
    assert list(kept.classes) == ["large", "small"]
    assert list(kept.annotators) == ["Ann", "Bo"]
    assert kept.to_frame().to_numpy().tolist() == [["cow", "Ann", "large"]]
    assert labels.restrict(annotators=["Bo"]).to_frame()["item"].tolist() == ["ant", "bee"]
    assert labels.restrict(annotators=["Bo", "Ann"]) == labels


def test_equality(labels):
    assert labels != Labels.from_frame(FRAME.assign(label="small"))
    assert labels != Labels.from_frame(FRAME.replace("Bo", "Cy"))
    assert labels == pickle.loads(pickle.dumps(labels)) == copy.deepcopy(labels)
    assert repr(labels) == "Labels(3 items, 2 annotators, 2 classes, 4 labels)"


def test_groupings_have_a_group_for_each_class_an_annotator_used(labels):
    groupings = labels.to_groupings()
    assert groupings.group_names.tolist() == ["large", "small", "large", "small"]
    assert groupings == Groupings.from_frame(FRAME.rename(columns={"label": "group"}))


def test_pairs_say_which_labels_of_an_annotator_are_equal(labels):
    expected = pd.DataFrame({"item_a": ["ant", "ant"], "item_b": ["cow", "bee"], "annotator": ["Ann", "Bo"], "same": 0})
    assert labels.to_pairs() == Pairs.from_frame(expected)


def test_summary(labels):
    summary = labels.summary()
    assert summary.coverage == 4 / 6
    assert summary.items_per_annotator.to_dict() == {"Ann": 2, "Bo": 2}
    assert summary.annotators_per_item.to_dict() == {"ant": 2, "cow": 1, "bee": 1}


def test_polars(labels):
    assert Labels.from_frame(pl.from_pandas(FRAME)) == labels


def test_concat_joins_classes(labels):
    more = pd.DataFrame({"item": ["dog"], "annotator": ["Cy"], "label": ["medium"]})
    joined = concat([labels, Labels.from_frame(more)])
    assert list(joined.classes) == ["large", "medium", "small"]
    assert joined == Labels.from_frame(pd.concat([FRAME, more]))
    with pytest.raises(AnnotationError, match=r"'Bo' labels the item 'ant' twice: row 1 of part 0 .* row 0 of part 1"):
        concat([labels, Labels.from_frame(FRAME.iloc[[3]])])


def test_concat_of_folds_keeps_classes_in_the_order_given():
    whole = Labels.from_frame(FRAME, classes=["small", "medium", "large"])
    assert list(concat([whole[:1], whole[1:]]).classes) == ["small", "medium", "large"]
