"""Random subsets, and agents' answers to subsets as groupings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from consilience.errors import InputError
from consilience.simulation import CooccurrenceAgent, complete, present, random_subsets

ITEMS = ["ant", "auk", "bat", "bee"]


def by_first_letter(items):
    return [[item for item in items if item[0] == letter] for letter in sorted({item[0] for item in items})]


def apart(items):
    return [[item] for item in items]


def rows(groupings):
    return groupings.to_frame()[["item", "annotator", "group"]].to_numpy().tolist()


def test_each_answer_of_a_single_agent_has_its_own_annotator():
    groupings = present(by_first_letter, [["bat", "ant"], ["auk", "ant"]], items=ITEMS)
    assert groupings.items.tolist() == ITEMS
    assert groupings.named
    assert groupings.annotators.tolist() == ["answer 1", "answer 2"]
    expected = [["ant", "answer 1", 0], ["ant", "answer 2", 0], ["auk", "answer 2", 0], ["bat", "answer 1", 1]]
    assert rows(groupings) == expected


def test_agents_of_a_list_take_turns_and_keep_their_names():
    subsets = [["ant", "auk"], ["ant", "auk"], ["bat", "bee"], ["bat", "bee"], ["ant", "auk"]]
    groupings = present([by_first_letter, apart], subsets, items=ITEMS)
    people = groupings.annotators.take(groupings.annotator_of_grouping)
    assert people.tolist() == ["agent 1", "agent 2", "agent 1", "agent 2", "agent 1"]
    np.testing.assert_array_equal(np.bincount(groupings.grouping_of_group), [1, 2, 1, 2, 1])


def test_a_list_of_one_agent_is_one_annotator():
    assert present([apart], [["ant"], ["bee"]], items=ITEMS).annotators.tolist() == ["agent 1"]


def test_annotators_can_be_named():
    subsets = [["ant"], ["bee"], ["ant"]]
    pair = present([apart, apart], subsets, items=ITEMS, annotators=["Ann", "Bo"])
    assert pair.annotators.take(pair.annotator_of_grouping).tolist() == ["Ann", "Bo", "Ann"]
    one = present(apart, subsets, items=ITEMS, annotators=["Ann", "Ann", "Bo"])
    assert one.annotators.take(one.annotator_of_grouping).tolist() == ["Ann", "Ann", "Bo"]


def test_items_left_out_are_missing_and_empty_groups_dropped():
    groupings = present(lambda items: (group for group in [[], items[1:], ()]), [["ant", "bee", "bat"]], items=ITEMS)
    assert rows(groupings) == [["bat", "answer 1", 0], ["bee", "answer 1", 0]]
    assert groupings.n_groups == 1
    nothing = present(lambda _: [], [["ant", "bee"]], items=ITEMS)
    assert (nothing.n_rows, nothing.n_groupings, nothing.n_items) == (0, 1, 4)


def test_an_agent_gets_a_list_of_its_own():
    def greedy(items):
        return [[items.pop() for _ in range(len(items))]]

    subset = ["ant", "bee"]
    assert present(greedy, [subset, tuple(subset)], items=ITEMS).n_rows == 4
    assert subset == ["ant", "bee"]


def test_names_of_numbers_may_be_arrays():
    groupings = present(lambda items: np.array([items]), [np.array([3, 1])], items=np.arange(5))
    assert rows(groupings) == [[1, "answer 1", 0], [3, "answer 1", 0]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([["ant"], ["cow"]], "The answer of the agent to subset 1 holds the item 'cow', which is not in that subset"),
        ([["ant", "bee"], ["ant"]], "The answer of the agent to subset 1 holds the item 'ant' twice"),
        (["ant", "bee"], "subset 1 must be a list of groups, each a list of names of items. Got the group 'ant'"),
        ([["ant"], 5], "Got the group 5 instead"),
        (None, "The answer of the agent to subset 1 must be a list of groups.* Got None instead"),
        ([[["ant"]]], r"The answer of the agent to subset 1 holds \['ant'\], which is not the name of an item"),
    ],
)
def test_bad_answers(answer, message):
    with pytest.raises(InputError, match=message):
        present(lambda _: answer, [["ant", "bee"]], items=ITEMS)


def test_a_bad_answer_of_one_of_several_names_the_agent_and_the_subset():
    wrong = iter([[["bee"]], [["bat"]]])
    subsets = [["ant"], ["bee"], ["ant"], ["bee"]]
    with pytest.raises(InputError, match="The answer of agent 2 to subset 4 holds the item 'bat', which is not in"):
        present([apart, lambda _: next(wrong)], subsets, items=ITEMS)


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (["ant", "cow"], "Subset 2 holds the item 'cow', which is not among the 4 items"),
        (["ant", "ant"], "Subset 2 holds the item 'ant' twice"),
        ([], "Subset 2 is empty"),
    ],
)
def test_bad_subsets_are_found_before_any_agent_is_called(subset, message):
    asked = []
    with pytest.raises(InputError, match=message):
        present(asked.append, [["ant"], subset], items=ITEMS)
    assert asked == []


@pytest.mark.parametrize(
    ("agent", "annotators", "message"),
    [
        ([], None, "'agent' parameter of present must be a callable, or a list of at least one callable"),
        ([apart, None], None, "must be a callable, or a list"),
        (apart, ["Ann"], "'annotators' parameter of present must have a name for each answer, 2 in total. Got 1"),
        ([apart] * 3, ["Ann", "Bo"], "a name for each agent, 3 in total. Got 2"),
    ],
)
def test_bad_agents_and_annotators(agent, annotators, message):
    with pytest.raises(InputError, match=message):
        present(agent, [["ant"], ["bee"]], items=ITEMS, annotators=annotators)


def test_items_must_differ():
    with pytest.raises(InputError, match=r"names of items must differ. Got 'ant'"):
        present(apart, [["ant"]], items=["ant", "ant"])


def test_complete_shows_all_items_each_time():
    seen = []

    def remember(items):
        seen.append(items)
        return by_first_letter(items)

    groupings = complete(remember, iter(ITEMS), 3)
    assert seen == [ITEMS] * 3
    assert groupings.annotators.tolist() == ["answer 1", "answer 2", "answer 3"]
    np.testing.assert_array_equal(groupings.to_matrix().to_numpy(), np.repeat([[0], [0], [1], [1]], 3, axis=1))
    assert complete([remember, apart], ITEMS, 3).annotators.tolist() == ["agent 1", "agent 2"]


@given(st.integers(1, 12), st.data())
def test_random_subsets_hold_size_distinct_items(n, data):
    size, n_subsets = data.draw(st.integers(1, n)), data.draw(st.integers(1, 5))
    names = [f"item {i}" for i in range(n)]
    subsets = random_subsets(names, size, n_subsets, random_state=0)
    assert len(subsets) == n_subsets
    for subset in subsets:
        assert len(set(subset)) == len(subset) == size
        assert set(subset) <= set(names)


def test_all_random_subsets_are_equally_probable_in_every_order():
    drawn = [tuple(subset) for subset in random_subsets(range(4), 2, 6000, random_state=1)]
    counts = [drawn.count((a, b)) for a in range(4) for b in range(4) if a != b]
    assert chisquare(counts).pvalue > 0.001


def test_random_subsets_are_repeatable_and_work_with_agents():
    subsets = random_subsets(ITEMS, 3, 20, random_state=2)
    assert subsets == random_subsets(ITEMS, 3, 20, random_state=2)
    assert subsets != random_subsets(ITEMS, 3, 20, random_state=3)
    agent = CooccurrenceAgent(np.full((4, 4), 0.5), items=ITEMS, random_state=0)
    np.testing.assert_array_equal(present(agent, subsets, items=ITEMS).incidence.sum(), 60)


@pytest.mark.parametrize(
    ("size", "n_subsets", "message"),
    [
        (5, 1, "'size' parameter of random_subsets must be a positive int of at most 4, the number of items. Got 5"),
        (0, 1, "'size' parameter of random_subsets"),
        (2, 0, "'n_subsets' parameter of random_subsets must be a positive int. Got 0"),
    ],
)
def test_bad_parameters_of_random_subsets(size, n_subsets, message):
    with pytest.raises(InputError, match=message):
        random_subsets(ITEMS, size, n_subsets)


def test_bad_parameters_of_complete():
    with pytest.raises(InputError, match=r"'n_presentations' parameter of complete must be a positive int. Got 0"):
        complete(apart, ITEMS, 0)
