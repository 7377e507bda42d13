"""Agents with pair probabilities and with recorded groupings, against their specification."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from consilience import Groupings
from consilience.errors import InputError
from consilience.simulation import CooccurrenceAgent, ReplayAgent
from consilience.simulation.agents import draw_pairs, resolve
from tests.quick_cases import some_quick

ABC = [[1, 0.5, 0.2], [0.5, 1, 0], [0.2, 0, 1]]


def partition(groups):
    """Return groups without their order."""
    return {frozenset(group) for group in groups}


def together(agent, items, a, b, n):
    """Return the share of n answers in which a and b are in one group."""
    return np.mean([any({a, b} <= set(group) for group in agent(items)) for _ in range(n)])


# ---- pair probabilities


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_certain_blocks_are_answered_exactly(blocks, data):
    names = [f"item {i}" for i in range(len(blocks))]
    agent = CooccurrenceAgent(np.equal.outer(blocks, blocks).astype(float), items=names, random_state=0)
    asked = data.draw(st.lists(st.sampled_from(range(len(blocks))), unique=True))
    expected = {frozenset(names[i] for i in asked if blocks[i] == block) for block in blocks} - {frozenset()}
    answer = agent([names[i] for i in asked])
    assert partition(answer) == expected
    assert len(answer) == len(expected)


@given(hnp.arrays(float, (7, 7), elements=st.floats(0, 1)), st.integers(0, 1000))
def test_every_answer_holds_each_item_once(drawn, seed):
    agent = CooccurrenceAgent((drawn + drawn.T) / 2, random_state=seed)
    answer = agent([5, 0, 6, 2])
    assert sorted(item for group in answer for item in group) == [0, 2, 5, 6]
    assert all(answer)


@given(hnp.arrays(bool, (8, 8)), st.integers(0, 1000))
def test_groups_of_an_answer_are_together_in_less_than_half_of_their_pairs(drawn, seed):
    pairs = np.triu(drawn, 1) | np.triu(drawn, 1).T
    labels = resolve(pairs, np.random.default_rng(seed))
    for one in set(labels.tolist()):
        inside = pairs[np.ix_(labels == one, labels == one)]
        n = (labels == one).sum()
        assert (
            inside.sum() >= n * (n - 1) / 2
        )  # average linkage: each join was at half or more, and inside counts twice
        for other in set(labels.tolist()) - {one}:
            assert pairs[np.ix_(labels == one, labels == other)].mean() < 0.5


def test_contradictory_draws_do_not_chain():
    path = np.eye(12, k=1, dtype=bool) | np.eye(12, k=-1, dtype=bool)
    sizes = [np.bincount(resolve(path, np.random.default_rng(seed))).max() for seed in range(50)]
    assert max(sizes) <= 4  # the transitive closure is one group of 12


def test_ties_are_broken_at_random():
    path = np.eye(4, k=1, dtype=bool) | np.eye(4, k=-1, dtype=bool)
    rng = np.random.default_rng(0)
    answers = Counter(tuple(np.equal.outer(labels, labels)[0]) for labels in (resolve(path, rng) for _ in range(200)))
    assert {tuple(row) for row in answers} == {
        (True, True, False, False),
        (True, False, False, False),
        (True,) * 3 + (False,),
    }


def test_draws_are_symmetric_and_independent_with_the_given_probabilities():
    probability = np.array(ABC)
    rng = np.random.default_rng(0)
    draws = np.array([draw_pairs(probability, rng) for _ in range(4000)])
    np.testing.assert_array_equal(draws, draws.transpose(0, 2, 1))
    assert not draws[:, range(3), range(3)].any()
    np.testing.assert_allclose(draws.mean(axis=0)[0, 1:], [0.5, 0.2], atol=0.032)  # 4 standard errors of 4000
    assert not draws[:, 1, 2].any()
    assert abs(np.corrcoef(draws[:, 0, 1], draws[:, 0, 2])[0, 1]) < 0.065


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_two_items_are_together_with_their_probability(p):
    agent = CooccurrenceAgent([[1, p, 0], [p, 1, 1], [0, 1, 1]], random_state=0)
    assert together(agent, [1, 0], 0, 1, 2000) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 2000))


@pytest.mark.slow
@pytest.mark.parametrize("p", some_quick([0.3, 0.7]))
def test_two_of_three_items_of_equal_probability(p):
    # of three pairs two are drawn with probability 3 p² (1 - p); the groups found are then at half, and are joined:
    # the third pair, each of the three in turn, gains p² (1 - p)
    agent = CooccurrenceAgent(np.full((3, 3), p), random_state=1)
    expected = p + p**2 * (1 - p)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        share = together(agent, [0, 1, 2], a, b, 2000)
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 2000))


@pytest.mark.parametrize(("size", "within", "between"), [(6, 0.95, 0.02), (10, 0.9, 0.05), (10, 0.95, 0.0)])
def test_pair_frequencies_approximate_probabilities_of_blocks(size, within, between):
    cluster = np.arange(20) % 4
    same = np.equal.outer(cluster, cluster)
    agent = CooccurrenceAgent(np.where(same, within, between), random_state=2)
    rng = np.random.default_rng(3)
    counts = np.zeros((2, 2))
    for _ in range(600):
        subset = rng.choice(20, size, replace=False)
        label = {item: number for number, group in enumerate(agent(subset.tolist())) for item in group}
        codes = np.array([label[item] for item in subset.tolist()])
        upper = np.triu_indices(size, 1)
        np.add.at(
            counts,
            (same[np.ix_(subset, subset)][upper].astype(int), np.equal.outer(codes, codes)[upper].astype(int)),
            1,
        )
    shares = counts[:, 1] / counts.sum(axis=1)
    np.testing.assert_allclose(shares, [between, within], atol=0.05)


def test_items_are_named_by_the_index_or_as_given_else_by_number():
    frame = pd.DataFrame(ABC, index=list("abc"), columns=list("abc"))
    assert partition(CooccurrenceAgent(frame)(["b", "c"])) == {frozenset("b"), frozenset("c")}
    assert CooccurrenceAgent(frame, items=["x", "y", "z"]).items.tolist() == ["x", "y", "z"]
    assert CooccurrenceAgent(ABC).items.tolist() == [0, 1, 2]
    assert CooccurrenceAgent(ABC)([]) == []
    assert CooccurrenceAgent(ABC)([1]) == [[1]]


def test_the_diagonal_is_ignored_and_the_probabilities_are_a_copy():
    probability = np.where(np.eye(3, dtype=bool), np.nan, 1.0)
    agent = CooccurrenceAgent(probability)
    assert np.isnan(probability[0, 0])
    probability[:] = 0
    assert agent([0, 1, 2]) == [[0, 1, 2]]


def test_answers_are_drawn_anew_and_repeatable():
    probability = np.full((9, 9), 0.5)
    first, again = (CooccurrenceAgent(probability, random_state=4) for _ in range(2))
    answers = [first(range(9)) for _ in range(5)]
    assert answers == [again(range(9)) for _ in range(5)]
    assert len({frozenset(partition(answer)) for answer in answers}) > 1
    assert answers != [CooccurrenceAgent(probability, random_state=5)(range(9)) for _ in range(5)]


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ([0.5, 0.5], r"'probability' parameter of CooccurrenceAgent must be a table of numbers. Got shape \(2,\)"),
        ([["p", "q"], ["q", "p"]], "must be a table of numbers"),
        (np.ones((2, 3)), r"must have the shape \(2, 2\) for 2 items. Got shape \(2, 3\)"),
        ([[1, 0.5], [1.5, 1]], r"must lie in \[0, 1\]. Got 1.5 for the items 1 and 0"),
        ([[1, np.nan], [0.5, 1]], r"must lie in \[0, 1\]. Got nan for the items 0 and 1"),
        ([[1, 0.4], [0.5, 1]], "must be symmetric. Got 0.4 for the items 0 and 1, and 0.5 the other way round"),
        (pd.DataFrame([[1, 0], [0, 1]], index=["a", "b"], columns=["b", "a"]), "columns .* must equal its index"),
    ],
)
def test_bad_probabilities(probability, message):
    with pytest.raises(InputError, match=message):
        CooccurrenceAgent(probability)


def test_names_must_fit_and_differ():
    with pytest.raises(InputError, match=r"shape \(2, 2\) for 2 items. Got shape \(3, 3\)"):
        CooccurrenceAgent(ABC, items=["a", "b"])
    with pytest.raises(InputError, match=r"names of items must differ. Got 'a'"):
        CooccurrenceAgent(ABC, items=["a", "b", "a"])


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ([0, 7], "The subset given to CooccurrenceAgent holds the item 7, which is not among its 3 items"),
        (np.array([1, 1]), "The subset given to CooccurrenceAgent holds the item 1 twice"),
        ([[0, 1]], r"holds \[0, 1\], which is not the name of an item"),
    ],
)
def test_bad_subsets(subset, message):
    with pytest.raises(InputError, match=message):
        CooccurrenceAgent(ABC)(subset)


# ---- recorded people

RECORDED = Groupings.from_lists(
    [
        [["a", "b"], ["c"]],
        [["a"], ["b", "c"]],
        [["c", "d"], ["e"]],
        [["a", "b", "c"]],
        [["f"]],
        [[]],
    ],
    items=["g", "f", "e", "d", "c", "b", "a"],
)
OF_ABC = {frozenset(partition(groups)) for groups in ([["a", "b"], ["c"]], [["a"], ["b", "c"]], [["a", "b", "c"]])}


def test_the_recorded_sets_of_items_are_named_once_in_order_of_appearance():
    assert ReplayAgent(RECORDED).subsets == [["c", "b", "a"], ["e", "d", "c"], ["f"]]


@pytest.mark.parametrize("seed", range(5))
def test_each_grouping_of_a_set_is_used_once_before_any_is_repeated(seed):
    agent = ReplayAgent(RECORDED, random_state=seed)
    assert agent.n_left == 5  # the grouping without items is none
    for n_left in (2, 2):
        answers = [frozenset(partition(agent(["b", "c", "a"]))) for _ in range(3)]
        assert set(answers) == OF_ABC
        assert agent.n_left == n_left


def test_which_grouping_of_a_set_comes_first_is_random():
    first = Counter(frozenset(partition(ReplayAgent(RECORDED, random_state=s)(["a", "b", "c"]))) for s in range(150))
    assert set(first) == OF_ABC
    assert min(first.values()) > 25  # 50 expected, 4 standard deviations are 23


def test_other_items_get_the_grouping_with_most_of_them_restricted():
    agent = ReplayAgent(RECORDED, random_state=0)
    assert partition(agent(["e", "d", "a", "g"])) == {frozenset("d"), frozenset("e")}
    assert agent.n_left == 4
    assert agent(["f", "g"]) == [["f"]]
    assert agent.n_left == 3
    assert agent(["g"]) == []
    assert agent([]) == []
    assert agent.n_left == 3


def test_among_equally_good_groupings_the_least_used_come_first():
    for seed in range(10):
        agent = ReplayAgent(RECORDED, random_state=seed)
        answers = [frozenset(partition(agent(["a", "b"]))) for _ in range(3)]
        joined, split = frozenset(partition([["a", "b"]])), frozenset(partition([["a"], ["b"]]))
        assert Counter(answers) == {joined: 2, split: 1}
        assert agent.n_left == 2


def test_a_grouping_of_exactly_these_items_comes_before_a_larger_one():
    groupings = Groupings.from_lists([[["a", "b", "c"]], [["a"], ["b"]]])
    agent = ReplayAgent(groupings, random_state=0)
    assert [partition(agent(["a", "b"])) for _ in range(4)] == [{frozenset("a"), frozenset("b")}] * 4


recorded_groupings = st.lists(
    st.dictionaries(st.integers(0, 5), st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=12
)


@settings(max_examples=50)
@given(recorded_groupings, st.integers(0, 100))
def test_all_recorded_subsets_return_all_recorded_groupings(recorded, seed):
    lists = [[[i for i, g in one.items() if g == group] for group in set(one.values())] for one in recorded]
    agent = ReplayAgent(Groupings.from_lists(lists), random_state=seed)
    answers = [agent(list(one)) for one in recorded]
    record = Counter(frozenset(partition(groups)) for groups in lists)
    assert Counter(frozenset(partition(answer)) for answer in answers) == record
    assert agent.n_left == 0


@settings(max_examples=50)
@given(recorded_groupings, st.sets(st.integers(0, 5), min_size=1), st.integers(0, 100))
def test_an_answer_is_a_recorded_grouping_of_most_items_restricted(recorded, asked, seed):
    lists = [[[i for i, g in one.items() if g == group] for group in set(one.values())] for one in recorded]
    agent = ReplayAgent(Groupings.from_lists(lists, items=range(6)), random_state=seed)
    most = max(len(asked & set(one)) for one in recorded)
    exact = [groups for one, groups in zip(recorded, lists) if set(one) == asked]
    fitting = exact or [groups for one, groups in zip(recorded, lists) if len(asked & set(one)) == most]
    restricted = [partition([asked & set(group) for group in groups]) - {frozenset()} for groups in fitting]
    assert partition(agent(list(asked))) in restricted


def test_a_replay_is_repeatable_and_does_not_modify_its_groupings():
    asked = [["a", "b", "c"], ["a", "b"], ["d", "e", "c"], ["a", "c"]] * 3
    first, again = (ReplayAgent(RECORDED, random_state=1) for _ in range(2))
    assert [first(items) for items in asked] == [again(items) for items in asked]


def test_bad_use_of_a_replay():
    with pytest.raises(InputError, match="ReplayAgent needs a grouping that holds an item"):
        ReplayAgent(Groupings.from_lists([[[]]], items=["a"]))
    with pytest.raises(
        InputError, match="The subset given to ReplayAgent holds the item 'x', which is not among its 7"
    ):
        ReplayAgent(RECORDED)(["a", "x"])
    with pytest.raises(InputError, match="holds the item 'a' twice"):
        ReplayAgent(RECORDED)(["a", "a"])
