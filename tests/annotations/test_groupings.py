"""Groupings: construction, conversion, and errors with the row at fault."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience.annotations import Groupings, concat
from consilience.errors import AnnotationError, AnnotationWarning

# Ann sorts all, Bo leaves the cow out; "small" means something else to each
FRAME = pd.DataFrame(
    {
        "item": ["ant", "bee", "cow", "ant", "bee"],
        "annotator": ["Ann", "Ann", "Ann", "Bo", "Bo"],
        "group": ["small", "small", "large", "small", "winged"],
    }
)


@pytest.fixture
def groupings():
    return Groupings.from_frame(FRAME)


def test_frame_becomes_incidence_and_vocabulary(groupings):
    assert list(groupings.items) == ["ant", "bee", "cow"]
    assert list(groupings.annotators) == ["Ann", "Bo"]
    assert groupings.group_names.tolist() == ["small", "large", "small", "winged"]
    np.testing.assert_array_equal(groupings.grouping_of_group, [0, 0, 1, 1])
    np.testing.assert_array_equal(groupings.annotator_of_grouping, [0, 1])
    np.testing.assert_array_equal(groupings.annotator_of_group, [0, 0, 1, 1])
    np.testing.assert_array_equal(groupings.incidence.toarray(), [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0]])
    assert groupings.incidence.dtype == np.float64
    assert groupings.incidence.has_sorted_indices
    assert (len(groupings), groupings.shape) == (3, (3,))
    assert (groupings.n_rows, groupings.n_groupings, groupings.n_groups) == (5, 2, 4)


def test_absent_column_takes_the_name_of_the_other():
    by_annotator = Groupings.from_frame(FRAME)
    by_grouping = Groupings.from_frame(FRAME.rename(columns={"annotator": "grouping"}))
    assert by_annotator.grouping_names.tolist() == ["Ann", "Bo"]
    assert by_annotator == by_grouping


def test_names_of_groupings_are_local_to_an_annotator_and_of_groups_to_a_grouping():
    frame = pd.DataFrame(
        {"item": ["ant"] * 3, "annotator": ["Ann", "Ann", "Bo"], "grouping": ["s", "t", "s"], "group": ["g"] * 3}
    )
    groupings = Groupings.from_frame(frame)
    assert (groupings.n_groupings, groupings.n_groups) == (3, 3)
    np.testing.assert_array_equal(groupings.annotator_of_grouping, [0, 0, 1])
    assert list(groupings.to_matrix().columns) == [("Ann", "s"), ("Ann", "t"), ("Bo", "s")]


def test_names_keep_their_type():
    groupings = Groupings.from_frame(
        pd.DataFrame({"item": [7, 3], "annotator": pd.Categorical(["b", "a"]), "group": [1.0, 2.0]})
    )
    assert groupings.items.tolist() == [7, 3]
    assert groupings.items.dtype == np.int64
    assert groupings.annotators.tolist() == ["b", "a"]  # in order of appearance, not of the categories
    assert groupings.group_names.tolist() == [1, 2]
    assert all(type(name) is int for name in groupings.group_names)  # whole floats are integers


def test_text_that_looks_like_a_number_is_a_different_name():
    groupings = Groupings.from_matrix(np.array([["1"], ["1.0"], [1]], dtype=object))
    assert groupings.group_names.tolist() == ["1", "1.0", 1]


def test_tuples_are_names():
    groupings = Groupings.from_lists([[[("a", 1)], [("a", 2)]]])
    assert groupings.items.tolist() == [("a", 1), ("a", 2)]
    assert groupings.restrict(items=[("a", 2)]).items.tolist() == [("a", 2)]


def test_matrix_leaves_out_missing_cells():
    matrix = [[0, 1], [0, -1], [-1, -1], [1, 0]]
    groupings = Groupings.from_matrix(matrix, items=list("abcd"), annotators=["x", "y"], missing=-1)
    assert groupings.to_matrix().to_dict("list") == {"x": [0, 0, None, 1], "y": [1, None, None, 0]}
    assert groupings.named


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "", "  "])
def test_every_kind_of_missing_cell(missing):
    groupings = Groupings.from_matrix(np.array([["p"], [missing], ["q"]], dtype=object))
    assert groupings.to_frame()["item"].tolist() == [0, 2]


def test_float_matrix_with_nan_holds_integer_groups():
    groupings = Groupings.from_matrix(np.array([[0.0, 1.0], [np.nan, 2.0]]))
    assert groupings.to_frame()["group"].tolist() == [0, 1, 2]
    assert groupings.to_frame()["group"].dtype == np.int64


def test_one_column_is_one_annotator_in_every_container():
    expected = Groupings.from_matrix([[0], [1], [0]])
    assert Groupings.from_matrix([0, 1, 0]) == expected
    assert Groupings.from_matrix(np.array([0, 1, 0])) == expected
    assert Groupings.from_matrix(pd.Series([0, 1, 0])) == expected
    assert Groupings.from_matrix(pl.DataFrame({"0": [0, 1, 0]}), annotators=[0]) == expected


def test_annotator_without_annotations_is_kept():
    groupings = Groupings.from_matrix([[0, None], [1, None]])
    assert (groupings.n_annotators, groupings.n_groupings, groupings.n_groups) == (2, 2, 2)
    assert groupings.summary().items_per_annotator.tolist() == [2, 0]


def test_lists_may_have_empty_groups_and_repeated_annotators():
    groupings = Groupings.from_lists(
        [[["ant", "bee"], []], [["ant"], ["cow"]], [["bee"]]], annotators=["Ann", "Bo", "Ann"]
    )
    np.testing.assert_array_equal(groupings.annotator_of_grouping, [0, 1, 0])
    assert groupings.grouping_names.tolist() == [0, 1, 2]
    assert groupings.group_names.tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_array_equal(groupings.incidence.sum(axis=0), [2, 0, 1, 1, 1])


def test_polars_frames_and_their_nulls():
    assert Groupings.from_frame(pl.from_pandas(FRAME)) == Groupings.from_frame(FRAME)
    said = Groupings.from_frame(pl.DataFrame({"item": [1, 2], "annotator": ["a", "a"], "group": [1, None]}))
    assert said.to_matrix()["a"].tolist() == [1, None]
    with pytest.raises(AnnotationError, match="The annotator in row 1 is missing"):
        Groupings.from_frame(pl.DataFrame({"item": [1, 2], "annotator": ["a", None], "group": [1, 1]}))


def test_further_columns_change_nothing():
    assert Groupings.from_frame(FRAME.assign(colour="red", time=range(5))) == Groupings.from_frame(FRAME)


def test_blank_group_leaves_its_item_ungrouped():
    said = Groupings.from_frame(FRAME.assign(group=["g", " ", "g", "h", "i"]))
    assert said.items.tolist() == ["ant", "bee", "cow"]
    assert said.to_matrix()["Ann"].tolist() == ["g", None, "g"]


def test_list_in_a_cell_is_a_row_for_each_element():
    said = Groupings.from_frame(
        pd.DataFrame({"item": [["ant", "bee"], ["cow"]], "annotator": "Ann", "group": ["small", "large"]})
    )
    assert said == Groupings.from_frame(FRAME.iloc[:3])
    names = [("ant", 1), ("bee", 2), ("cow", 3)]  # a tuple is a name
    assert Groupings.from_frame(FRAME.iloc[:3].assign(item=names)).items.tolist() == names


def test_items_given_set_the_order_and_add_items(groupings):
    assert groupings.named
    given = Groupings.from_frame(FRAME, items=["dog", "cow", "bee", "ant"])
    assert given.named
    assert list(given.items) == ["dog", "cow", "bee", "ant"]
    np.testing.assert_array_equal(given.incidence.toarray()[::-1][:3], groupings.incidence.toarray())


def test_row_with_only_an_item_adds_it():
    frame = pd.DataFrame({"item": ["dog", "ant"], "annotator": [None, "Ann"], "group": [None, "small"]})
    groupings = Groupings.from_frame(frame)
    assert list(groupings.items) == ["dog", "ant"]
    assert groupings.n_rows == 1


def test_restriction_keeps_the_vocabulary(groupings):
    fold = groupings[np.array([2])]
    assert list(fold.items) == ["cow"]
    assert list(fold.annotators) == ["Ann", "Bo"]
    np.testing.assert_array_equal(fold.incidence.toarray(), [[0, 1, 0, 0]])
    assert fold.group_names.tolist() == groupings.group_names.tolist()


@pytest.mark.parametrize(
    "key",
    [
        np.array([2, 0]),
        [2, 0],
        (np.array([2, 0]), ...),
        slice(None, None, -2),
        [-1, 0],
        pd.Series([2, 0]),
    ],
)
def test_every_index_that_arrays_take(groupings, key):
    assert list(groupings[key].items) == ["cow", "ant"]


def test_masks_single_positions_and_no_positions(groupings):
    assert list(groupings[[True, False, True]].items) == ["ant", "cow"]
    assert list(groupings[1].items) == ["bee"]
    assert len(groupings[[]]) == 0
    assert [list(one.items) for one in groupings] == [["ant"], ["bee"], ["cow"]]


def test_index_cannot_repeat_or_leave_the_axis(groupings):
    with pytest.raises(AnnotationError, match="repeats the item 'bee'"):
        groupings[[0, 1, 1]]
    with pytest.raises(AnnotationError, match="one axis"):
        groupings[[0], [1]]
    with pytest.raises(IndexError):
        groupings[[3]]


def test_restrict_by_name(groupings):
    kept = groupings.restrict(items=["bee", "ant"], annotators=["Bo"])
    assert kept.to_matrix().to_dict() == {"Bo": {"bee": "winged", "ant": "small"}}
    assert kept.group_names.tolist() == ["small", "winged"]
    assert kept.named
    for wrong in ({"items": ["dog"]}, {"annotators": ["Cy"]}):
        with pytest.raises(AnnotationError, match="is not among the"):
            groupings.restrict(**wrong)


def test_reindex(groupings):
    moved = groupings.reindex(["dog", "cow", "ant", "bee"])
    assert moved.named
    assert moved[[2, 3, 1]] == groupings
    with pytest.raises(AnnotationError, match=r"'cow' has annotations but is not in the list of 2 items \(1 such"):
        groupings.reindex(["ant", "bee"])
    with pytest.raises(AnnotationError, match=r"must differ. Got 'ant' in position 0 and in position 1"):
        groupings.reindex(["ant", "ant"])


def test_equality_is_of_content(groupings):
    shuffled = Groupings.from_frame(FRAME.iloc[[3, 4, 0, 1, 2]])  # Bo comes first, the items keep their order
    assert list(shuffled.annotators) == ["Bo", "Ann"]
    assert shuffled == groupings
    assert groupings != Groupings.from_frame(FRAME.iloc[:-1])
    assert groupings != Groupings.from_frame(FRAME.assign(group=["small", "large", "large", "small", "winged"]))
    assert groupings != Groupings.from_frame(FRAME.replace("Bo", "Cy"))
    assert groupings != Groupings.from_frame(FRAME, items=["bee", "ant", "cow"])
    assert groupings != "groupings"


def test_unhashable_and_immutable(groupings):
    with pytest.raises(TypeError):
        hash(groupings)
    with pytest.raises(AttributeError):
        groupings.items = []
    for array in (groupings.incidence.data, groupings.incidence.indices, groupings.group_names):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


def test_copies_are_equal_and_immutable(groupings):
    for twin in (pickle.loads(pickle.dumps(groupings)), copy.deepcopy(groupings), copy.copy(groupings)):
        assert twin == groupings
        assert not twin.incidence.data.flags.writeable


def test_repr_and_summary(groupings):
    assert repr(groupings) == "Groupings(3 items, 2 annotators, 2 groupings, 4 groups, 5 memberships)"
    summary = groupings.reindex(["ant", "bee", "cow", "dog"]).summary()
    assert summary.coverage == 5 / 8
    assert summary.items_per_annotator.to_dict() == {"Ann": 3, "Bo": 2}
    assert summary.annotators_per_item.to_dict() == {"ant": 2, "bee": 2, "cow": 1, "dog": 0}
    assert summary.n_unannotated_items == 1
    assert summary.groups_per_grouping.to_dict() == {("Ann", "Ann"): 2, ("Bo", "Bo"): 2}
    assert "62.5%" in str(summary)


def test_coverage_counts_an_annotator_once_however_many_groupings():
    groupings = Groupings.from_lists([[["ant", "bee"]], [["ant"]]], annotators=["Ann", "Ann"])
    assert groupings.summary().coverage == 1.0
    assert groupings.summary().items_per_annotator.tolist() == [2]


def test_pairs_are_those_within_a_grouping(groupings):
    pairs = groupings.to_pairs().to_frame()
    assert list(map(tuple, pairs.to_numpy())) == [
        ("ant", "bee", "Ann", True),
        ("ant", "bee", "Bo", False),
        ("ant", "cow", "Ann", False),
        ("bee", "cow", "Ann", False),
    ]


def test_pairs_of_several_groupings_of_one_annotator_are_distinguished():
    groupings = Groupings.from_lists([[["a", "b"]], [["a"], ["b"]]], annotators=["Ann", "Ann"])
    pairs = groupings.to_pairs().to_frame()
    assert pairs["grouping"].tolist() == [0, 1]
    assert pairs["same"].tolist() == [True, False]


def test_pairs_are_counted_before_they_are_made():
    groupings = Groupings.from_matrix(np.zeros((2000, 5)))
    with pytest.raises(AnnotationError, match=r"imply 9995000 pairs, more than max_pairs=1000000"):
        groupings.to_pairs(max_pairs=1_000_000)  # 5 * 2000 * 1999 / 2


def test_concat_of_folds_is_the_whole():
    whole = Groupings.from_matrix(np.random.default_rng(0).integers(-1, 4, (20, 6)), missing=-1)
    joined = concat([whole[:7], whole[7:9], whole[9:]])
    assert joined == whole
    assert joined.n_groups == whole.n_groups
    assert not joined.named
    assert concat([whole.restrict(annotators=[3, 1]), whole.restrict(annotators=[0, 2, 4, 5])]) == whole


def test_concat_joins_different_items_and_annotators():
    more = pd.DataFrame({"item": ["dog", "cow"], "annotator": "Cy", "group": ["pet", "farm"]})
    joined = concat([Groupings.from_frame(FRAME), Groupings.from_frame(more)])
    assert list(joined.items) == ["ant", "bee", "cow", "dog"]
    assert joined == Groupings.from_frame(pd.concat([FRAME, more]))


def test_concat_refuses_parts_that_do_not_match(groupings):
    with pytest.raises(AnnotationError, match="'Ann' of the annotator 'Ann' has different groups"):
        concat([groupings, Groupings.from_frame(pd.DataFrame({"item": ["dog"], "annotator": "Ann", "group": "pet"}))])
    moved = Groupings.from_frame(FRAME.iloc[:3].assign(group=["large", "small", "small"]))
    with pytest.raises(AnnotationError, match=r"'ant' occurs twice .* row 0 of part 0 \(.*\) and row 0 of part 1 \("):
        concat([groupings, moved])
    with pytest.raises(AnnotationError, match="Got Groupings, Pairs instead"):
        concat([groupings, groupings.to_pairs()])
    with pytest.raises(AnnotationError, match="Got nothing instead"):
        concat([])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns="group"), "no column has a usual name for groups or labels. Found 'item', 'annotator'"),
        (FRAME.rename(columns={"item": "itm"}), "no column has a usual name for items.*Did you mean 'itm'"),
        (
            FRAME.rename(columns={"annotator": "anotator"}),
            "usual name for annotators.*Did you mean 'anotator'.* annotator='anotator'",
        ),
        (FRAME[["item", "group"]], "annotator or grouping, but no column has a usual name for annotators"),
        (FRAME.assign(item=["ant", "bee", None, "ant", "bee"]), "item in row 2 is missing"),
        (FRAME.assign(item=["ant", "bee", np.nan, "ant", "bee"]), "item in row 2 is missing"),
        (
            FRAME.assign(annotator=["Ann", "Ann", "Ann", "Bo", ""]),
            "annotator in row 4 is missing or blank; every row needs one. Fill in cells that were merged",
        ),
        (FRAME.iloc[:0], "has no rows"),
        (
            pd.concat([FRAME, FRAME.iloc[[0, 1]].assign(group=["small", "large"])]),
            r"'bee' occurs twice in .*'Ann'.*'Ann'.*row 1 \(group 'small'\) and row 6 \(group 'large'\); keep one, or "
            r"distinguish the groupings in a column, grouping=…\.$",
        ),
        (FRAME.assign(annotator="Ann"), r"'bee' occurs twice .*row 1 .* and row 4"),  # the ant is twice in one group
        (pd.DataFrame([[1, 2]], columns=["item", "item"]), "Two columns are called"),
        ({"item": 1}, "Got dict instead"),
        (FRAME.assign(group=[{"a": 1}, [1], [2], [1], [2]]), "hashable"),
    ],
)
def test_bad_frames_are_refused_by_name_and_row(frame, message):
    with pytest.raises(AnnotationError, match=message):
        Groupings.from_frame(frame)


def test_a_name_missing_in_the_first_row_is_not_due_to_merged_cells():
    with pytest.raises(AnnotationError, match=r"annotator in row 0 is missing or blank; every row needs one\.$"):
        Groupings.from_frame(FRAME.assign(annotator=["", "Ann", "Ann", "Bo", "Bo"]))


def test_duplicate_is_named_by_its_first_repetition_among_many_rows():
    item = np.arange(5000) % 2500
    frame = pd.DataFrame({"item": item, "annotator": np.arange(5000) // 2500, "group": item % 3})
    frame.loc[4321, "item"] = 17
    with pytest.raises(AnnotationError, match=r"item 17 occurs twice .* annotator 1: row 2517 .* and row 4321"):
        Groupings.from_frame(frame)


def test_item_that_is_not_in_the_given_list():
    with pytest.raises(AnnotationError, match="item 'cow' in row 2 is not among the 2 items"):
        Groupings.from_frame(FRAME, items=["ant", "bee"])


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (np.zeros((2, 2, 2)), {}, r"Got shape \(2, 2, 2\)"),
        ([[1, 2], [3]], {}, "rows of equal length"),
        ([[1, 2]], {"items": ["a", "b"]}, "2 names of items for a table with 1 items"),
        ([[1, 2]], {"annotators": ["x"]}, "1 names of annotators for a table with 2 annotators"),
        ([[1, 2]], {"annotators": ["x", "x"]}, "names of annotators must differ"),
        ([[1], [2]], {"items": ["a", None]}, "One of the items, in position 1, has no name"),
    ],
)
def test_bad_matrices_are_refused(matrix, options, message):
    with pytest.raises(AnnotationError, match=message):
        Groupings.from_matrix(matrix, **options)


@pytest.mark.parametrize(
    ("lists", "options", "message"),
    [
        (
            [[["a"], ["b", "a"]]],
            {},
            "'a' occurs twice in the grouping 0.*group 0 of grouping 0 .*group 1 of grouping 0",
        ),
        ([[["a", None]]], {}, "item in group 0 of grouping 0 is missing"),
        ([[["a"]]], {"annotators": ["x", "y"]}, "one annotator name for each of 1 groupings. Got 2"),
        ([[["a"]]], {"annotators": [None]}, "annotator in position 0 is missing"),
        ([[["a"]]], {"items": ["b"]}, "item 'a' in group 0 of grouping 0 is not among the 1 items"),
        ([], {}, "has no rows"),
    ],
)
def test_bad_lists_are_refused(lists, options, message):
    with pytest.raises(AnnotationError, match=message):
        Groupings.from_lists(lists, **options)


def test_lists_of_text_with_none_keep_it_missing():
    assert Groupings.from_matrix([["p", None], ["q", "p"]]).n_rows == 3


def test_empty_annotations():
    silent = Groupings.from_matrix([[0, 1], [1, 1]]).restrict(annotators=[])
    assert (silent.n_items, silent.n_annotators, silent.n_rows) == (2, 0, 0)
    assert silent == Groupings.from_lists([], items=[0, 1]) == concat([silent, silent])
    assert silent.summary().coverage == 0
    assert silent.to_pairs().n_rows == 0
    assert "none" in str(silent[:0].summary())


def test_annotations_do_not_turn_into_arrays(groupings):
    with pytest.raises(TypeError, match=r"^Groupings are not an array.*use to_frame"):
        np.asarray(groupings)


def test_integers_with_nulls_keep_all_digits():
    frame = pl.DataFrame({"item": [2**60 + 1, 2**60 + 2], "annotator": ["a", None], "group": ["g", None]})
    assert Groupings.from_frame(frame).items.tolist() == [2**60 + 1, 2**60 + 2]


@pytest.mark.parametrize("group", [["\ud800"], ["\ud800", 1]])
def test_text_that_utf8_cannot_encode_is_refused(group):
    with pytest.raises(AnnotationError, match="UTF-8 cannot encode"):
        Groupings.from_lists([[group]])


def test_joining_names_of_text_and_tuples():
    parts = [Groupings.from_lists([[["p"]]], annotators=annotators) for annotators in ([("Ann", 1)], ["x"])]
    assert concat(parts).annotators.tolist() == [("Ann", 1), "x"]


def test_exact_duplicates_are_counted_and_left_out(groupings):
    message = (
        r"^2 exact duplicates of memberships are left out: the item 'bee' is in the group 'small' of the grouping "
        r"'Ann' of the annotator 'Ann' in row 1 and again in row 5\.$"
    )
    with pytest.warns(AnnotationWarning, match=message):
        found = Groupings.from_frame(pd.concat([FRAME, FRAME.iloc[[1, 3]]]))
    assert found == Groupings.from_frame(FRAME)
    assert found.incidence.data.tolist() == [1.0] * len(FRAME)
    with pytest.warns(
        AnnotationWarning, match="'a' is in the group 0 .* in group 0 of grouping 0 and again in group 0"
    ):
        assert Groupings.from_lists([[["a", "a", "b"]]]) == Groupings.from_lists([[["a", "b"]]])


def test_concat_leaves_out_memberships_that_occur_in_several_parts(groupings):
    n = (groupings.to_frame()["item"] == groupings.items[1]).sum()
    with pytest.warns(
        AnnotationWarning, match=rf"^{n} exact duplicates .*row \d of part 0 and again in row 0 of part 1"
    ):
        assert concat([groupings[:2], groupings[1:]]) == groupings
