"""Values of items with a fitted model, or with each other: matched by name, or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from consilience import Groupings, metrics
from consilience.analysis.chance import chance_test
from consilience.annotations.alignment import in_order_of, rows_of_items
from consilience.consensus import KCC, DawidSkene, ProductMixture
from consilience.errors import InputError
from consilience.metrics.profiles import association, cluster_profile

NAMES = [f"item {i}" for i in range(30)]
BLOB = np.repeat([0, 1, 2], 10)
SHUFFLED = np.random.default_rng(0).permutation(30)
SCORE = pd.Series(BLOB + np.random.default_rng(1).normal(0, 0.1, 30), index=NAMES, name="score")


@pytest.fixture(scope="module")
def named():
    return KCC(3, random_state=0).fit(Groupings.from_matrix(np.column_stack([BLOB] * 3), items=NAMES))


@pytest.fixture(scope="module")
def numbered():
    return KCC(3, random_state=0).fit(np.column_stack([BLOB] * 3))


@pytest.mark.parametrize("table", [SCORE, SCORE.to_frame()], ids=["Series", "DataFrame"])
def test_scores_are_matched_by_name(named, table):
    expected = named.association(table)
    assert expected.loc["score", "p_value"] < 1e-5
    pd.testing.assert_frame_equal(named.association(table.iloc[SHUFFLED]), expected)
    pd.testing.assert_frame_equal(
        named.cluster_profile(table.iloc[SHUFFLED]), named.cluster_profile(table), check_names=True
    )


def test_scores_without_names_are_matched_by_position(named, numbered):
    values = SCORE.to_numpy()
    p_value = named.association(SCORE)["p_value"].item()
    for model, table in (
        (named, values),
        (named, list(values)),
        (numbered, values[:, None]),
        (numbered, pd.Series(values)),
        (numbered, pl.Series("score", values)),
        (numbered, pl.DataFrame({"score": values})),
    ):
        assert model.association(table)["p_value"].item() == pytest.approx(p_value)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pl.Series("score", SCORE.to_numpy()), "^The table has no index to name its rows, but the items have names"),
        (
            pl.DataFrame({"score": SCORE.to_numpy()}).lazy(),
            "^The table is a lazy query. Call collect first",
        ),
        (SCORE.reset_index(drop=True), "no row for item 'item 0', one of 30 missing. The rows .* are numbered"),
        (SCORE.iloc[1:], "^The table has no row for item 'item 0', one of 1 missing.$"),
        (SCORE.iloc[[0, *range(30)]], "^The table has more than one row for item 'item 0'"),
        (SCORE.to_numpy()[1:], "^The table has 29 rows. Expected one for each of 30 items"),
        (dict(SCORE), "^The table must be a DataFrame, a Series or an array with one row per item. Got dict instead"),
        ("score", "Got str instead"),
        (np.zeros((30, 1, 1)), r"Got shape \(30, 1, 1\)"),
        (SCORE.astype(object).where(SCORE.index != "item 3", "much"), "Got 'much' in column 'score', row 'item 3'"),
    ],
    ids=["polars", "lazy", "numbered", "lacks", "twice", "short", "dict", "text", "three axes", "no number"],
)
def test_tables_that_match_no_items_are_refused(named, table, sentence):
    for method in (named.association, named.cluster_profile):
        with pytest.raises(InputError, match=sentence):
            method(table)


def test_numbers_in_another_order_are_refused_if_items_have_no_names(numbered):
    with pytest.raises(InputError, match="indexed by numbers in another order than the items"):
        numbered.association(pd.Series(SCORE.to_numpy()).iloc[SHUFFLED])


def test_functions_match_two_indexes(named):
    labels = pd.Series(BLOB, index=NAMES)
    for function in (association, cluster_profile):
        expected = function(SCORE, BLOB)
        pd.testing.assert_frame_equal(function(SCORE, labels.iloc[SHUFFLED]), expected)
        pd.testing.assert_frame_equal(function(SCORE.to_frame(), labels.iloc[SHUFFLED].to_frame()[0]), expected)
        with pytest.raises(InputError, match=r"^Row 'item 0' of '.*' is not in the index of 'labels'"):
            function(SCORE, pd.Series(BLOB))
        with pytest.raises(InputError, match=r"^'labels' must have one cluster for each of 30 rows"):
            function(SCORE, BLOB[1:])


def test_missing_scores_of_nullable_columns_are_left_out():
    scores = pd.DataFrame({"n": pd.array([1, 2, None, 8, 9, 10], dtype="Int64")})
    assert association(scores, [0, 0, 0, 1, 1, 1])["n_items"].tolist() == [5]


@pytest.mark.parametrize("measure", [metrics.ari, metrics.nmi, metrics.ami, metrics.clustering_accuracy])
def test_measures_of_agreement_match_two_indexes(measure):
    true = pd.Series(BLOB, index=NAMES)
    assert measure(true, true.iloc[SHUFFLED]) == 1
    assert measure(BLOB, true.iloc[SHUFFLED].to_numpy()) < 0.5
    with pytest.raises(InputError, match=r"is not in the index of 'labels_pred'.*to_numpy"):
        measure(true, pd.Series(BLOB))
    again = pd.Series(BLOB, index=["item 0", *NAMES[:-1]])
    with pytest.raises(InputError, match="the index of 'labels_pred' contains 'item 0' twice"):
        measure(true, again)


MEASURES = [
    *(metrics.ari, metrics.nmi, metrics.ami, metrics.v_measure),
    *(metrics.clustering_accuracy, metrics.pairwise_f),
]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "index",
    [NAMES, SHUFFLED, pd.RangeIndex(7, 37, name="photo"), pd.MultiIndex.from_product([range(6), range(5)])],
    ids=["names", "shuffled", "numbers with a name", "two levels"],
)
def test_measures_of_agreement_refuse_names_with_an_array(measure, index):
    true = pd.Series(BLOB, index=index)
    for bare in (BLOB, BLOB.tolist(), pl.Series(BLOB)):
        with pytest.raises(
            InputError, match=r"^'labels_true' is indexed by item .* give model\.labels_series_ instead"
        ):
            measure(true, bare)
        with pytest.raises(InputError, match=r"^'labels_pred' is indexed by item .* give labels_pred\.to_numpy\(\)"):
            measure(bare, true)


@pytest.mark.parametrize("measure", [metrics.ari, metrics.nmi, metrics.ami, metrics.clustering_accuracy])
def test_measures_of_agreement_match_by_position_if_an_index_names_nothing(measure, numbered):
    true = pd.Series(BLOB)
    assert measure(true, numbered.labels_) == 1
    assert measure(true, pl.Series(BLOB)) == 1
    part = true.iloc[SHUFFLED[:20]]  # as train_test_split leaves them
    assert measure(part, BLOB[SHUFFLED[:20]]) == 1


def test_a_truth_in_another_order_is_matched_with_labels_of_a_model_by_name(named):
    true = pd.Series(BLOB, index=NAMES).iloc[SHUFFLED]
    assert metrics.ari(true, named.labels_series_) == 1
    with pytest.raises(InputError, match="labels_series_"):
        metrics.ari(true, named.labels_)


def test_probabilities_of_judgements_match_two_indexes():
    same = pd.Series([True, False], index=["p", "q"])
    probability = pd.Series([0.1, 0.9], index=["q", "p"])
    assert metrics.same_log_loss(same, probability) == pytest.approx(-np.log(0.9))


def test_first_responsibilities_are_matched_by_name():
    labels = Groupings.from_matrix(np.column_stack([BLOB] * 3), items=NAMES).to_matrix()
    start = pd.DataFrame(np.eye(3)[BLOB] + 0.01, index=NAMES)
    expected = ProductMixture(3, init=start, max_iter=5).fit(labels).responsibilities_
    shuffled = ProductMixture(3, init=start.iloc[SHUFFLED], max_iter=5).fit(labels).responsibilities_
    np.testing.assert_array_equal(shuffled, expected)


def test_tests_of_chance_match_features_by_name():
    groupings = Groupings.from_matrix(BLOB[:, None], items=NAMES)
    assert not chance_test(groupings, SCORE.to_frame()).at_chance
    assert chance_test(groupings, SCORE.to_frame().iloc[SHUFFLED]) == chance_test(groupings, SCORE.to_frame())


def test_gold_items_are_matched_by_name():
    labels = pd.DataFrame(np.column_stack([BLOB] * 3), index=NAMES)
    gold = pd.Series([2, 0], index=["item 0", "item 29"])
    fitted = DawidSkene().fit(labels, gold=gold)
    assert fitted.labels_[[0, 29]].tolist() == [2, 0]


def test_two_tables_that_are_not_both_indexed_are_unchanged():
    assert in_order_of([1, 2], SCORE, "a", "b")[1] is SCORE
    assert rows_of_items([[1, 2], [3, 4]], pd.Index(["p", "q"])).shape == (2, 2)
