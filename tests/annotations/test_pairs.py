"""Pairs: orientation, order, judgements, and repeated judgements."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience.annotations import Pairs, concat
from consilience.annotations.pairs import pairs_of_ranks, pairs_within
from consilience.errors import AnnotationError, AnnotationWarning

FRAME = pd.DataFrame(
    {
        "item_a": ["cow", "ant", "ant", "bee"],
        "item_b": ["ant", "bee", "bee", "cow"],
        "annotator": ["Ann", "Bo", "Ann", "Ann"],
        "same": [False, True, True, False],
    }
)


@pytest.fixture
def pairs():
    return Pairs.from_frame(FRAME)


def test_items_are_numbered_row_by_row_and_the_smaller_comes_first(pairs):
    assert list(pairs.items) == ["cow", "ant", "bee"]
    np.testing.assert_array_equal(pairs.item_a, [0, 0, 1, 1])
    np.testing.assert_array_equal(pairs.item_b, [1, 2, 2, 2])
    assert [pairs.annotators[code] for code in pairs.annotator] == ["Ann", "Ann", "Ann", "Bo"]
    np.testing.assert_array_equal(pairs.same, [False, False, True, True])
    assert pairs.n_rows == 4
    assert pairs.shape == (3,)


def test_order_and_orientation_of_rows_do_not_matter(pairs):
    turned = FRAME.rename(columns={"item_a": "item_b", "item_b": "item_a"}).iloc[::-1]
    assert Pairs.from_frame(turned, items=pairs.items) == pairs


@pytest.mark.parametrize(
    "same",
    [
        [True, False],
        [1, 0],
        [1.0, 0.0],
        ["true", "FALSE"],
        ["T", "f"],
        ["Yes", " no "],
        ["1", "0"],
        pd.Categorical(["yes", "no"]),
    ],
)
def test_every_word_for_same(same):
    frame = pd.DataFrame({"item_a": [1, 1], "item_b": [2, 3], "annotator": "Ann", "same": same})
    assert Pairs.from_frame(frame).same.tolist() == [True, False]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("perhaps", r"must be true or false .*Got 'perhaps' in row 1 instead"),
        (2, "judgements are 1 and 2, which can be read in two ways. Give those that mean"),
        (0.5, "judgements are 0.5 and 1, which can be read in two ways"),
        ("2", "judgements are 1 and 2, which can be read in two ways"),
    ],
)
def test_words_that_mean_neither_same_nor_different(value, message):
    frame = pd.DataFrame({"item_a": [1, 1], "item_b": [2, 3], "annotator": "Ann", "same": [1, value]}, dtype=object)
    with pytest.raises(AnnotationError, match=message):
        Pairs.from_frame(frame)


def test_undecided_judgement_is_counted_and_left_out():
    frame = pd.DataFrame({"item_a": 1, "item_b": [2, 3, 4], "annotator": "Ann", "same": ["yes", "maybe", "no"]})
    with pytest.warns(AnnotationWarning, match=r"^1 judgement left out: undecided\.$"):
        said = Pairs.from_frame(frame)
    assert said.same.tolist() == [True, False]
    assert said.items.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns="same"), "no column has a usual name for judgements"),
        (FRAME.drop(columns="item_b"), "item_b"),
        (FRAME.assign(item_b=["ant", "ant", "bee", "cow"]), "item 'ant' is paired with itself in row 1"),
        (FRAME.assign(item_b=["ant", "bee", None, "cow"]), "item_b in row 2 is missing"),
        (FRAME.iloc[:0], "has no rows"),
    ],
)
def test_bad_frames_are_refused_by_name_and_row(frame, message):
    with pytest.raises(AnnotationError, match=message):
        Pairs.from_frame(frame)


def test_item_that_is_not_in_the_given_list():
    with pytest.raises(AnnotationError, match="item_a 'cow' in row 0 is not among the 2 items"):
        Pairs.from_frame(FRAME, items=["ant", "bee"])


def test_occasions_distinguish_judgements_of_one_annotator():
    frame = FRAME.assign(annotator="Ann", grouping=["s", "s", "t", "t"])
    pairs = Pairs.from_frame(frame)
    assert pairs.n_rows == 4
    assert list(pairs.to_frame().columns) == ["item_a", "item_b", "annotator", "grouping", "same"]
    assert Pairs.from_frame(pairs.to_frame(), items=pairs.items) == pairs


def test_grouping_with_the_annotators_name_is_not_a_column(pairs):
    assert list(pairs.to_frame().columns) == ["item_a", "item_b", "annotator", "same"]
    assert Pairs.from_frame(FRAME.assign(grouping=FRAME["annotator"])) == pairs


def test_restriction_keeps_pairs_of_kept_items(pairs):
    kept = pairs[[2, 1]]
    assert list(kept.items) == ["bee", "ant"]
    assert list(kept.annotators) == list(pairs.annotators)
    assert kept.to_frame()[["item_a", "item_b"]].to_numpy().tolist() == [["bee", "ant"]] * 2
    assert (kept.item_a < kept.item_b).all()
    assert pairs.restrict(annotators=["Bo"]).to_frame()["annotator"].tolist() == ["Bo"]
    assert pairs.restrict(annotators=["Bo", "Ann"]) == pairs


def test_reindex_swaps_pairs_but_keeps_judgements(pairs):
    back = pairs.reindex(["bee", "dog", "ant", "cow"]).reindex(pairs.items)
    assert back == pairs
    with pytest.raises(AnnotationError, match="'bee' has annotations"):
        pairs.reindex(["cow", "ant"])


def test_equality(pairs):
    assert pairs != Pairs.from_frame(FRAME.assign(same=True))
    assert pairs != Pairs.from_frame(FRAME.replace("Bo", "Cy"))
    assert pairs != Pairs.from_frame(FRAME.assign(grouping=["s", "t", "u", "v"]))
    assert pairs != Pairs.from_frame(FRAME.iloc[:3])
    assert pairs == pickle.loads(pickle.dumps(pairs)) == copy.deepcopy(pairs)


def test_summary_counts_items_judged(pairs):
    summary = pairs.reindex(["cow", "ant", "bee", "dog"]).summary()
    assert summary.items_per_annotator.to_dict() == {"Ann": 3, "Bo": 2}
    assert summary.annotators_per_item.to_dict() == {"cow": 1, "ant": 2, "bee": 2, "dog": 0}
    assert summary.coverage == 5 / 8
    assert summary.groups_per_grouping is None
    assert repr(pairs) == "Pairs(3 items, 2 annotators, 4 judgements)"


def test_polars(pairs):
    assert Pairs.from_frame(pl.from_pandas(FRAME)) == pairs


def test_concat(pairs):
    joined = concat([Pairs.from_frame(FRAME.iloc[:2]), Pairs.from_frame(FRAME.iloc[2:])])
    assert joined == pairs
    again = concat([pairs, Pairs.from_frame(FRAME.iloc[[3]])])
    assert again == Pairs.from_frame(pd.concat([FRAME, FRAME.iloc[[3]]]))
    assert again.n_rows == 5


@pytest.mark.parametrize(
    ("said", "kept"), [([0, 1, 0], [False, False, True]), ([1, 1, 1], [True, True, True])], ids=["contradict", "agree"]
)
def test_judgements_of_a_pair_by_one_annotator_are_all_kept(said, kept):
    frame = pd.DataFrame({"item_a": list("aba"), "item_b": list("bab"), "annotator": "Ann", "same": said})
    pairs = Pairs.from_frame(frame)
    assert pairs.same.tolist() == kept
    np.testing.assert_array_equal([pairs.item_a, pairs.item_b], [[0, 0, 0], [1, 1, 1]])
    assert Pairs.from_frame(pairs.to_frame()) == pairs == Pairs.from_frame(frame.iloc[::-1], items=pairs.items)
    assert pairs != Pairs.from_frame(frame.iloc[:2])
    assert pairs.reindex(["b", "c", "a"]).reindex(["a", "b"]) == pairs
    assert pairs.restrict(annotators=["Ann"])[[0, 1]] == pairs
    assert pairs.summary().coverage == 1


def test_pairs_within_blocks_match_a_loop():
    sizes = np.array([3, 0, 1, 4])
    starts = np.cumsum(sizes) - sizes
    expected = {(s + i, s + j) for s, n in zip(starts, sizes) for j in range(n) for i in range(j)}
    first, second = pairs_within(sizes)
    assert len(first) == len(expected)
    assert set(zip(first, second)) == expected


def test_ranks_number_the_pairs_within_blocks():
    sizes = np.array([3, 1, 0, 4, 2])
    listed = np.stack(pairs_within(sizes))
    np.testing.assert_array_equal(pairs_of_ranks(sizes, np.arange(10)), listed)
    np.testing.assert_array_equal(pairs_of_ranks(sizes, np.array([9, 2, 2])), listed[:, [9, 2, 2]])


def test_large_ranks_are_exact():
    n = 3_000_000_000
    last = n * (n - 1) // 2 - 1
    first_of_last = (n - 1) * (n - 2) // 2
    pairs = pairs_of_ranks(np.array([n]), np.array([last, first_of_last, first_of_last - 1]))
    np.testing.assert_array_equal(pairs.T, [[n - 2, n - 1], [0, n - 1], [n - 3, n - 2]])


def test_many_items_and_annotators_are_ordered_without_overflow():
    n, items = 3000, np.arange(2**21)
    last = items[-2 * n :]  # large codes: packed into one number, a row of them would exceed 2 ** 63
    frame = pd.DataFrame(
        {
            "item_a": last[:n],
            "item_b": last[n:],
            "annotator": np.random.default_rng(0).permutation(n),
            "same": np.arange(n) % 2 == 0,
        }
    )
    assert len(items) ** 2 * n**2 * 2 > 2**63
    pd.testing.assert_frame_equal(Pairs.from_frame(frame.iloc[::-1], items=items).to_frame(), frame)
