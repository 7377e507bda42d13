"""Labels: classes, order, and repeated labels by one annotator."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience.annotations import Groupings, Labels, Pairs, concat, read_annotations, write_annotations
from consilience.annotations.names import MANY_ROWS, sort_rows
from consilience.errors import AnnotationError, AnnotationWarning

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
    assert not labels.named
    assert labels.n_annotators == 3


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns="label"), "no column has a usual name for groups or labels. Found 'item', 'annotator'"),
        (FRAME.rename(columns={"label": "lable"}), "Did you mean 'lable'"),
        (
            FRAME.rename(columns={"item": "task"}).assign(card="c"),
            "items may be in 'task' or 'card'. Name the column: item='task'",
        ),
        (FRAME.assign(annotator=["Ann", None, "Bo", "Bo"]), "annotator in row 1 is missing"),
        (FRAME.iloc[:0], "has no rows"),
    ],
)
def test_bad_frames_are_refused_by_name_and_row(frame, message):
    with pytest.raises(AnnotationError, match=message):
        Labels.from_frame(frame)


def test_columns_named_item_annotator_and_label_come_before_synonyms(labels):
    assert Labels.from_frame(FRAME.assign(task="t", worker="w", answer="a", group="g")) == labels
    renamed = FRAME.rename(columns={"item": "task"}).assign(card="c")
    assert Labels.from_frame(renamed, item="task") == Labels.from_frame(renamed, ignore="card") == labels


def test_row_without_a_label_is_counted_and_left_out():
    with pytest.warns(AnnotationWarning, match=r"^1 row without a label left out\.$"):
        said = Labels.from_frame(FRAME.assign(label=["small", None, "small", "large"]))
    assert said.items.tolist() == ["ant", "cow", "bee"]
    assert said.n_rows == 3


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


def test_concat_of_folds_keeps_classes_in_the_order_given():
    whole = Labels.from_frame(FRAME, classes=["small", "medium", "large"])
    assert list(concat([whole[:1], whole[1:]]).classes) == ["small", "medium", "large"]


AGAIN = pd.DataFrame({"item": ["ant", "cow"], "annotator": "Ann", "label": ["large", "small"]})


@pytest.fixture
def repeats():
    """Ann gives two items a second, different label."""
    return Labels.from_frame(pd.concat([FRAME, AGAIN], ignore_index=True))


class TestRepeats:
    def test_a_second_and_different_label_is_a_row(self, repeats):
        np.testing.assert_array_equal(repeats.item, [0, 0, 0, 1, 1, 2])
        np.testing.assert_array_equal(repeats.annotator, [0, 0, 1, 0, 0, 1])
        np.testing.assert_array_equal(repeats.label, [0, 1, 0, 0, 1, 1])
        np.testing.assert_array_equal(repeats.indptr, [0, 3, 5, 6])
        assert repr(repeats) == "Labels(3 items, 2 annotators, 2 classes, 6 labels)"

    def test_exact_duplicates_are_counted_and_left_out(self, repeats):
        frame = pd.concat([FRAME, AGAIN, FRAME.iloc[[3, 0, 3]]], ignore_index=True)
        message = (
            r"^3 exact duplicates of labels are left out: the annotator 'Bo' gives the item 'ant' the label 'large' in "
            r"row 3 and again in row 6\.$"
        )
        with pytest.warns(AnnotationWarning, match=message):
            found = Labels.from_frame(frame)
        assert found == repeats
        with pytest.warns(AnnotationWarning, match=r"^1 exact duplicate of a label is left out: .* row 1 and .* row 2"):
            Labels.from_frame(pd.DataFrame({"item": [1, 2, 2], "annotator": "Ann", "label": "p"}))

    def test_the_warning_points_at_the_users_line(self, tmp_path):
        script = tmp_path / "script.py"
        table = 'pd.DataFrame({"item": [1, 1], "annotator": "Ann", "label": "p"})'
        script.write_text(
            "import pandas as pd\nfrom consilience.consensus import MajorityVote\n"
            f"from consilience import Labels\nLabels.from_frame({table})\nMajorityVote().fit({table})\n"
        )
        # in a separate process: here the type checker's frames are between the test and the package
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        assert re.findall(r"script\.py:(\d+): AnnotationWarning: 1 exact duplicate", done.stderr) == ["4", "5"]

    def test_duplicates_are_counted_in_files_by_line(self, tmp_path):
        path = tmp_path / "labels.csv"
        path.write_text("item,annotator,label\na,Ann,x\nb,Ann,x\na,Ann,y\nb,Ann,x\n")
        with pytest.warns(
            AnnotationWarning, match="'Ann' gives the item 'b' the label 'x' in line 3 and again in line 5"
        ):
            labels = read_annotations(path)
        assert labels.to_frame().to_numpy().tolist() == [["a", "Ann", "x"], ["a", "Ann", "y"], ["b", "Ann", "x"]]

    def test_duplicates_among_too_many_codes_to_pack(self):
        n = 2**21
        item, annotator = np.repeat(np.arange(n - 4, n), 2), np.repeat([2**20 + 1, 2**20], 4)
        many = {"items": pd.RangeIndex(n), "annotators": pd.RangeIndex(n), "classes": pd.RangeIndex(n)}
        labels = Labels(**many, named=True, item=item, annotator=annotator, label=item % 3)
        assert n**3 >= 2**63
        with pytest.warns(AnnotationWarning, match="4 exact duplicates of labels .*row 0 and again in row 1"):
            np.testing.assert_array_equal(labels.in_order().item, np.arange(n - 4, n))

    def test_summary_counts_labels_and_cells_apart(self, repeats):
        summary = repeats.summary()
        assert (summary.n_rows, summary.coverage) == (6, 4 / 6)
        assert summary.items_per_annotator.to_dict() == {"Ann": 2, "Bo": 2}

    def test_a_matrix_cannot_contain_two_labels(self, repeats):
        message = (
            r"'Ann' gives the item 'ant' several labels \('large', 'small'\), but a cell of a matrix can hold only"
        )
        with pytest.raises(AnnotationError, match=message):
            repeats.to_matrix()
        assert repeats.restrict(annotators=["Bo"]).to_matrix().loc["ant", "Bo"] == "large"

    def test_one_label_of_an_item_is_in_each_grouping_of_the_annotator(self, repeats):
        groupings = repeats.to_groupings()
        frame = groupings.to_frame()
        assert groupings.vocabulary.grouping_keys() == [("Ann", "Ann"), ("Ann", "Ann (2)"), ("Bo", "Bo")]
        found = frame.drop(columns="grouping").sort_values(["item", "annotator", "group"], ignore_index=True)
        said = repeats.to_frame().rename(columns={"label": "group"})
        pd.testing.assert_frame_equal(found, said.sort_values(list(said.columns), ignore_index=True))
        assert frame.query("grouping == 'Ann'")["item"].tolist() == ["ant", "cow"]
        assert frame.query("grouping == 'Ann (2)'")["item"].tolist() == ["ant", "cow"]

    def test_the_order_of_labels_is_pseudo_random(self):
        """All items have both labels of Ann and all three of Bo: each label is first in a fair share of the items."""
        item = np.repeat(np.arange(1000), 5)
        frame = pd.DataFrame({"item": item, "annotator": [*"AABBB"] * 1000, "label": [*"pqpqr"] * 1000})
        groupings = Labels.from_frame(frame).to_groupings()
        sizes = pd.Series(groupings.incidence.sum(0), index=groupings.vocabulary.group_keys())
        assert len(sizes) == 2 * 2 + 3 * 3
        of_ann, of_bo = sizes[[key[0] == "A" for key in sizes.index]], sizes[[key[0] == "B" for key in sizes.index]]
        assert of_ann.between(500 - 63, 500 + 63).all()  # four standard deviations of a binomial share of a half ...
        assert of_bo.between(333 - 60, 333 + 60).all()  # ... and of a third
        first, second = (groupings.incidence[:, [g]].toarray().ravel() for g in (0, 4))
        assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(1000)  # independent for each annotator

    def test_the_order_of_labels_depends_on_names_alone(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.integers(4, size=(200, 3)), columns=["item", "annotator", "label"]).drop_duplicates()
        labels = Labels.from_frame(frame.sort_values(["item", "annotator"]), items=range(4))
        whole = labels.to_groupings()
        assert whole.n_groupings > 8
        moved = Labels.from_frame(frame.iloc[::-1], items=[2, 3, 0, 1], classes=[3, 1, 0, 2])
        assert moved.to_groupings().reindex(range(4)) == whole
        assert labels[[3, 1]].to_groupings() == whole[[3, 1]]

    def test_groupings_of_repeats_by_numbered_annotators_can_be_written(self, tmp_path):
        frame = pd.DataFrame({"item": [1, 1, 1, 2], "annotator": [7, 7, 8, 7], "label": ["p", "q", "p", "p"]})
        groupings = Labels.from_frame(frame).to_groupings()
        assert groupings.vocabulary.grouping_keys() == [(7, "7"), (7, "7 (2)"), (8, "8")]
        for name in ("said.csv", "said.json", "said.parquet"):
            write_annotations(groupings, tmp_path / name)
            assert read_annotations(tmp_path / name) == groupings

    def test_pairs_are_those_within_groupings(self, repeats):
        assert repeats.to_pairs() == repeats.to_groupings().to_pairs()
        assert repeats.to_pairs().to_frame()["grouping"].tolist() == ["Ann", "Ann (2)", "Bo"]

    def test_equality_restriction_and_order(self, repeats, labels):
        assert repeats != labels
        assert repeats == pickle.loads(pickle.dumps(repeats)) == copy.deepcopy(repeats)
        assert repeats == Labels.from_frame(repeats.to_frame().iloc[::-1], items=repeats.items)
        assert repeats == Labels.from_frame(repeats.to_frame(), classes=["small", "medium", "large"])
        assert repeats.reindex(["bee", "cow", "dog", "ant"]).reindex(repeats.items) == repeats
        assert repeats[[1]].to_frame()["label"].tolist() == ["large", "small"]
        assert repeats.restrict(annotators=["Bo", "Ann"]) == repeats

    def test_concat_keeps_repeats_and_counts_duplicates(self, repeats, labels):
        again = Labels.from_frame(AGAIN)
        assert concat([labels, again]) == repeats
        message = (
            r"2 exact duplicates of labels .* 'Ann' .* 'ant' the label 'large' in row 0 of part 0 and again in row 0"
        )
        with pytest.warns(AnnotationWarning, match=message + r" of part 1\.$"):
            assert concat([repeats, again]) == repeats


@pytest.mark.parametrize("sizes", [(1,), (3,), (7, 1, 1000), (40, 2**20, 5), (2**30, 2**30, 5), (2**31, 2**31, 5)])
@pytest.mark.parametrize("n", [0, 300, MANY_ROWS])
def test_rows_are_sorted_by_column_whatever_their_number(n, sizes):
    rng = np.random.default_rng(0)
    columns = [rng.integers(size, size=n) for size in sizes]
    order = np.lexsort(columns[::-1])
    for found, column in zip(sort_rows(columns, sizes), columns, strict=True):
        np.testing.assert_array_equal(found, column[order])
