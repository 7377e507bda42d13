"""Items presented to annotators, against loops over items; candidates and incomplete answers, against enumeration."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.active import Random, answers, assignments
from consilience.active.assignments import Subset
from consilience.active.candidates import Pool
from consilience.active.grouping_store import GroupingStore
from consilience.errors import InputError
from tests.active.situations import situation

ITEMS = pd.Index(list("abcdefg"))
ANNOTATORS = ["Ann", "Bo", "Cy"]
subsets = st.lists(st.lists(st.integers(0, 6), min_size=1, unique=True), max_size=4)


def groupings_of(answered, annotators):
    lists = [[[ITEMS[i] for i in items[:2]], [ITEMS[i] for i in items[2:]]] for items in answered]
    return [
        answers.as_groupings(dict(enumerate(groups)), ITEMS, (annotator, number))
        for number, (groups, annotator) in enumerate(zip(lists, annotators))
    ]


@settings(max_examples=30)
@given(answered=subsets, others=subsets, data=st.data())
def test_items_presented_to_annotators_are_counted(answered, others, data):
    annotators = [data.draw(st.sampled_from(ANNOTATORS)) for _ in answered]
    store, places = GroupingStore(7, groupings_of(answered, annotators)), [np.array(items) for items in others]
    everything = [*answered, *others]
    expected = [sum(i in items for items in everything) for i in range(7)]
    np.testing.assert_array_equal(assignments.times_asked(store, places), expected)
    for annotator in ANNOTATORS:
        own = [items for items, name in zip(answered, annotators) if name == annotator]
        seen = [any(i in items for items in [*own, *others]) for i in range(7)]
        np.testing.assert_array_equal(assignments.seen_by(annotator, store, places), seen)


@settings(max_examples=30)
@given(presented=st.lists(st.sampled_from(list(ITEMS)), min_size=1, unique=True), data=st.data())
def test_items_and_pairs_missing_from_an_answer(presented, data):
    there = [data.draw(st.booleans()) for _ in presented]
    grouped = [item for item, is_there in zip(presented, there) if is_there]
    answer = answers.as_groupings({1: grouped[:1], 2: grouped[1:]}, ITEMS, ("Ann", 1))
    missing = answers.left_out(answer, assignments.Placed.of(Subset(1, presented, "Ann"), ITEMS), "Ann")
    assert missing.subset == Subset(1, [item for item in presented if item not in grouped], "Ann")
    assert ITEMS[missing.places].tolist() == missing.subset.items
    pairs = {frozenset(pair) for pair in combinations(presented, 2) if not set(pair) <= set(grouped)}
    assert {frozenset(ITEMS[pair]) for pair in missing.pairs} == pairs
    assert len(missing.pairs) == len(pairs)
    assert ITEMS[missing.answered].tolist() == grouped


def test_the_key_of_an_answer_is_new():
    used = {("Ann", 1), ("Ann", 2), ("answer 3", 3), ("answer 4", "x")}
    assert answers.new_key("Ann", 1, used) == ("Ann", 3)
    assert answers.new_key("Bo", 1, used) == ("Bo", 1)
    assert answers.new_key(None, 3, used) == ("answer 5", 5)
    assert answers.new_key(None, 1, set()) == ("answer 1", 1)


def pool(candidates, pending=()):
    return Pool.of(ITEMS, [list(names) for names in candidates], [np.array(places) for places in pending])


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 6), min_size=1, unique=True), min_size=1, max_size=5), subsets, st.data())
def test_candidates_that_are_left(candidates, pending, data):
    """Each that is not pending and holds only allowed items can be chosen, once whatever its order, and no other."""
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
    with pytest.raises(InputError, match=f"^None of {len(candidates)} candidates is left to present"):
        rest.choose(Random(), now, rng)
