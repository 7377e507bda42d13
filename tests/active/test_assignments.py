"""What was asked of whom, against loops over items; candidates, and what an answer leaves out, against enumeration."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import Random, answers, assignments
from consilience.active.assignments import Subset
from consilience.active.candidates import Pool
from consilience.active.grouping_store import Told
from consilience.errors import InputError
from tests.active.situations import situation

ITEMS = pd.Index(list("abcdefg"))
ANNOTATORS = ["Ann", "Bo", "Cy"]
subsets = st.lists(st.lists(st.integers(0, 6), min_size=1, unique=True), max_size=4)


def groupings_of(told, whose):
    lists = [[[ITEMS[i] for i in items[:2]], [ITEMS[i] for i in items[2:]]] for items in told]
    return [
        answers.as_groupings(dict(enumerate(groups)), ITEMS, (who, number))
        for number, (groups, who) in enumerate(zip(lists, whose))
    ]


@settings(max_examples=30)
@given(told=subsets, more=subsets, data=st.data())
def test_what_was_asked_of_whom(told, more, data):
    whose = [data.draw(st.sampled_from(ANNOTATORS)) for _ in told]
    told_so_far, places = Told(7, groupings_of(told, whose)), [np.array(items) for items in more]
    everything = [*told, *more]
    expected = [sum(i in items for items in everything) for i in range(7)]
    np.testing.assert_array_equal(assignments.times_asked(told_so_far, places), expected)
    for annotator in ANNOTATORS:
        own = [items for items, who in zip(told, whose) if who == annotator]
        seen = [any(i in items for items in [*own, *more]) for i in range(7)]
        np.testing.assert_array_equal(assignments.seen_by(annotator, told_so_far, places), seen)


@settings(max_examples=30)
@given(asked_items=st.lists(st.sampled_from(list(ITEMS)), min_size=1, unique=True), data=st.data())
def test_what_an_answer_leaves_out(asked_items, data):
    there = [data.draw(st.booleans()) for _ in asked_items]
    said = [item for item, is_there in zip(asked_items, there) if is_there]
    answer = answers.as_groupings({1: said[:1], 2: said[1:]}, ITEMS, ("Ann", 1))
    missing, silent = answers.left_out(answer, assignments.Placed.of(Subset(1, asked_items, "Ann"), ITEMS))
    assert missing.subset == Subset(1, [item for item in asked_items if item not in said], "Ann")
    assert ITEMS[missing.places].tolist() == missing.subset.items
    pairs = {frozenset(pair) for pair in combinations(asked_items, 2) if not set(pair) <= set(said)}
    assert {frozenset(ITEMS[pair]) for pair in silent} == pairs
    assert len(silent) == len(pairs)


def test_an_answer_bears_a_name_of_its_own():
    told = {("Ann", 1), ("Ann", 2), ("answer 3", 3), ("answer 4", "x")}
    assert answers.new_key("Ann", 1, told) == ("Ann", 3)
    assert answers.new_key("Bo", 1, told) == ("Bo", 1)
    assert answers.new_key(None, 3, told) == ("answer 5", 5)
    assert answers.new_key(None, 1, set()) == ("answer 1", 1)


def pool(candidates, pending=()):
    return Pool.of(ITEMS, [list(names) for names in candidates], [np.array(places) for places in pending])


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 6), min_size=1, unique=True), min_size=1, max_size=5), subsets, st.data())
def test_candidates_that_are_left(candidates, pending, data):
    """Each that is not pending and holds only allowed items may be chosen, once whatever its order, and no other."""
    allowed = np.array([data.draw(st.booleans()) for _ in range(7)])
    names = [[ITEMS[i] for i in items] for items in candidates]
    taken = {frozenset(items) for items in pending}
    left = {frozenset(items) for items in candidates if allowed[items].all()} - taken
    rest, now, rng = pool(names, pending), situation(7, allowed=np.flatnonzero(allowed)), np.random.default_rng(0)
    found = []
    for _ in range(len(left)):
        chosen = rest.choose(Random(), now, rng)
        was_open = rest.open.copy()
        after = rest.without(chosen)
        np.testing.assert_array_equal(rest.open, was_open)
        assert rest.subsets[chosen].tolist() == candidates[chosen]
        found.append(frozenset(candidates[chosen]))
        rest = after
    assert set(found) == left
    with pytest.raises(InputError, match=f"^None of {len(candidates)} candidates is left to ask"):
        rest.choose(Random(), now, rng)
