"""Questions against their definition, shares by hand, and intervals against Clopper and Pearson."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from consilience.errors import InputError
from consilience.inspection import plot_odd_one_out
from consilience.metrics import odd_one_out, odd_one_out_questions
from consilience.metrics.odd_one_out import _correlation

ITEMS = ["item_1", "item_2", "item_3", "item_4"]
UNEVEN = np.repeat(range(6), [20, 10, 5, 4, 3, 2])


def pairs_used(questions):
    pairs = [pair for row in questions[ITEMS].to_numpy() for pair in itertools.combinations(sorted(row), 2)]
    return pd.Series(pairs).value_counts()


def answered(questions, people, right):
    rows = [
        (number, who, odd if right(number, who) else odd % 4 + 1)
        for who in range(people)
        for number, odd in questions["odd"].items()
    ]
    return pd.DataFrame(rows, columns=["question", "annotator", "answer"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labels", [UNEVEN, np.arange(32) % 4])
def test_three_are_of_one_cluster_and_one_is_not(labels, seed):
    questions = odd_one_out_questions(labels, 30, random_state=seed)
    for row in questions.itertuples():
        items = [row.item_1, row.item_2, row.item_3, row.item_4]
        assert len(set(items)) == 4
        odd = items.pop(row.odd - 1)
        assert labels[odd] == row.odd_cluster != row.cluster
        assert (labels[items] == row.cluster).all()
    assert len({(frozenset(row[:4]), row[4]) for row in questions[[*ITEMS, "odd_cluster"]].to_numpy()}) == 30


def test_clusters_positions_and_odd_clusters_are_balanced():
    questions = odd_one_out_questions(UNEVEN, 50, random_state=0)
    assert questions["cluster"].value_counts().to_dict() == dict.fromkeys(range(5), 10)  # the last has two items
    assert set(questions["odd"].value_counts()) == {12, 13}
    by_both = questions.groupby(["cluster", "odd_cluster"]).size()
    assert by_both.tolist() == [2] * 25


def test_no_pair_of_items_is_overused():
    """24 questions about 4 clusters of 8 show 96 items: each item three times, and hardly a pair of them again."""
    for seed in range(3):
        questions = odd_one_out_questions(np.arange(32) % 4, 24, random_state=seed)
        used = pairs_used(questions)
        assert used.max() <= 2
        assert (used > 1).mean() < 0.1
        assert np.bincount(questions[ITEMS].to_numpy().ravel(), minlength=32).max() <= 5


def test_all_questions_that_there_are():
    labels = [0, 0, 0, 0, 1, 1]  # four triples, each with one of two others
    questions = odd_one_out_questions(labels, 8, random_state=0)
    assert len({frozenset(row) for row in questions[ITEMS].to_numpy().tolist()}) == 8
    with pytest.raises(InputError, match=r"only 8 different questions about these clusters. 'n_questions' is 9"):
        odd_one_out_questions(labels, 9)


def test_small_clusters_leave_their_share_to_others():
    questions = odd_one_out_questions([0, 0, 0, *[1] * 6], 20, random_state=0)
    assert questions["cluster"].value_counts().to_dict() == {1: 14, 0: 6}  # one triple, six others


def test_names_seeds_and_items_without_cluster():
    labels = pd.Series([*"aaabbb", None], index=[*"tuvwxyz"])
    first, second = (odd_one_out_questions(labels, 6, random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert set(first[ITEMS].to_numpy().ravel()) == set("tuvwxy")
    assert set(first["cluster"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("labels", "n", "message"),
    [
        ([0, 0, 1, 1], 1, "at least three items"),
        ([0, 0, 0], 1, "at least three items"),
        ([], 1, "at least three items"),
        ([0, 0, 0, 1], 0, "'n_questions' must be a positive int. Got 0"),
        ([[0, 0], [0, 1]], 1, "in one dimension"),
    ],
)
def test_questions_that_cannot_be_made(labels, n, message):
    with pytest.raises(InputError, match=message):
        odd_one_out_questions(labels, n)


def test_shares_by_hand():
    questions = pd.DataFrame({"odd": [1, 2, 3], "cluster": [0, 0, 1], "odd_cluster": [1, 2, 0]})
    answers = pd.DataFrame(
        [(0, "Ann", 1), (1, "Ann", 1), (2, "Ann", 3), (0, "Bo", 1), (1, "Bo", None)],
        columns=["question", "annotator", "answer"],
    )
    found = odd_one_out(questions, answers, least_answers=2)
    assert found.overall[["answers", "annotators", "questions", "cannot_say"]].tolist() == [5, 2, 3, 1]
    np.testing.assert_allclose(found.overall["right"], 3.25 / 5)
    np.testing.assert_allclose(found.clusters["right"], [2.25 / 4, 1])
    np.testing.assert_allclose(found.clusters["beyond_chance"], [(2.25 / 4 - 0.25) / 0.75, 1])
    assert found.clusters["right_low"].isna().tolist() == [False, True]  # the second has one question
    assert found.pairs["right"].to_dict() == {(0, 1): 1.0, (0, 2): 0.125}
    assert found.annotators.loc["Bo"].to_dict() == {"answers": 2, "cannot_say": 1, "right": 0.625}
    assert odd_one_out(questions, answers).pairs.empty  # fewer than 20 answers


def test_interval_contains_that_of_independent_answers():
    """Answers of one person are alike, so the interval is wider than that of as many independent answers."""
    questions = odd_one_out_questions(np.arange(32) % 4, 24, random_state=0)
    answers = answered(questions, 10, lambda number, who: who < 6)  # six who know all, four who know nothing
    found = odd_one_out(questions, answers).overall
    people = binomtest(6, 10).proportion_ci()  # ten people, no matter how many questions
    independent = binomtest(144, 240).proportion_ci()
    assert found["right_low"] < independent.low - 0.1
    assert found["right_high"] > independent.high + 0.1
    np.testing.assert_allclose([found["right_low"], found["right_high"]], people, atol=0.05)


def test_questions_that_vary_widen_the_interval():
    questions = odd_one_out_questions(np.arange(32) % 4, 20, random_state=0)
    by_question = odd_one_out(questions, answered(questions, 30, lambda number, who: number % 2 == 0)).overall
    alternating = odd_one_out(questions, answered(questions, 30, lambda number, who: (number + who) % 2 == 0)).overall
    assert by_question["right"] == alternating["right"] == 0.5
    widths = [found["right_high"] - found["right_low"] for found in (by_question, alternating)]
    assert widths[0] > 2 * widths[1]


def test_correlation_of_units_that_are_constant_and_of_independent_ones():
    rng = np.random.default_rng(0)
    unit, stratum, scale = np.repeat(range(200), 10), np.zeros(2000, dtype=int), np.full(2000, 0.5)
    constant = np.repeat(rng.permutation(np.arange(200) % 2), 10) - 0.5
    independent = rng.permutation(np.arange(2000) % 2) - 0.5
    np.testing.assert_allclose(_correlation(constant, scale, unit, stratum), 1, atol=0.01)
    assert _correlation(independent, scale, unit, stratum) < 0.03  # 9000 pairs: a standard deviation of 0.01


@pytest.mark.parametrize("right", [True, False])
def test_all_right_or_all_wrong(right):
    questions = odd_one_out_questions([0] * 6 + [1] * 6, 10, random_state=0)
    found = odd_one_out(questions, answered(questions, 5, lambda number, who: right)).overall
    independent = binomtest(50 * right, 50).proportion_ci()
    if right:
        assert 0.5 < found["right_low"] < independent.low
        assert found["right_high"] == found["beyond_chance_high"] == 1
    else:
        assert found["right_low"] == 0
        assert independent.high < found["right_high"] < 0.5


def test_names_of_clusters_order_of_rows_and_level_matter_not_or_do():
    questions = odd_one_out_questions(np.arange(32) % 4, 24, random_state=0)
    rng = np.random.default_rng(1)
    answers = answered(questions, 8, lambda number, who: rng.random() < 0.7)
    found, turned = odd_one_out(questions, answers), odd_one_out(questions, answers.sample(frac=1, random_state=0))
    pd.testing.assert_frame_equal(found.clusters, turned.clusters)
    mixed = questions.replace({"cluster": {3: "x"}, "odd_cluster": {3: "x"}})
    np.testing.assert_allclose(odd_one_out(mixed, answers).overall.to_numpy(), found.overall.to_numpy())
    assert len(odd_one_out(mixed, answers, least_answers=1).pairs) == 6
    wide = odd_one_out(questions, answers, level=0.99).clusters
    assert (wide["right_low"] < found.clusters["right_low"]).all()
    assert (wide["right_high"] > found.clusters["right_high"]).all()


def test_no_answers_yet():
    questions = odd_one_out_questions([0] * 6 + [1] * 6, 10, random_state=0)
    found = odd_one_out(questions, answered(questions, 0, lambda number, who: True))
    assert found.overall["answers"] == 0
    assert np.isnan(found.overall["right"])
    assert found.clusters.empty
    with pytest.raises(InputError, match=r"no answers to draw"):
        plot_odd_one_out(found)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(9, "Ann", 1)], "a question that is not in 'questions': 9"),
        ([(0, "Ann", 5)], "a position from 1 to 4, or missing. Got 5"),
        ([(0, "Ann", "b")], "Got 'b'"),
        ([(0, "Ann", 1), (0, "Ann", 2)], "Annotator 'Ann' answered question 0 twice"),
    ],
)
def test_answers_that_are_refused(rows, message):
    questions = odd_one_out_questions([0, 0, 0, 1], 1)
    with pytest.raises(InputError, match=message):
        odd_one_out(questions, pd.DataFrame(rows, columns=["question", "annotator", "answer"]))


def test_tables_that_are_refused():
    questions = odd_one_out_questions([0, 0, 0, 1], 1)
    answers = answered(questions, 2, lambda number, who: True)
    with pytest.raises(InputError, match=r"'answers' has no column 'annotator'"):
        odd_one_out(questions, answers.drop(columns="annotator"))
    with pytest.raises(InputError, match=r"'questions' must be a DataFrame. Got list"):
        odd_one_out([1], answers)
    with pytest.raises(InputError, match=r"'level' must be a number between 0 and 1. Got 95"):
        odd_one_out(questions, answers, level=95)


def test_plot_draws_shares_intervals_and_chance():
    questions = odd_one_out_questions([0] * 6 + [1] * 6, 10, random_state=0)
    found = odd_one_out(questions, answered(questions, 5, lambda number, who: (number + who) % 3 > 0))
    ax = plot_odd_one_out(found, names={0: "birds"})
    intervals, share, chance = ax.lines
    assert share.get_xdata().tolist() == [found.overall["right"], *found.clusters["right"]]
    assert set(chance.get_xdata()) == {0.25}
    drawn = intervals.get_xdata().reshape(-1, 3)[:, :2]
    ends = [found.overall, *(row for _, row in found.clusters.iterrows())]
    np.testing.assert_allclose(drawn, [[row["right_low"], row["right_high"]] for row in ends])
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["all", "birds", "1"]
    with pytest.raises(InputError, match=r"must be an OddOneOut. Got DataFrame"):
        plot_odd_one_out(found.clusters)
