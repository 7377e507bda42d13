"""Groupings kept one by one, against the same groupings joined at each arrival."""

from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings
from consilience.active import ActiveSession
from consilience.active.grouping_store import GroupingStore
from consilience.annotations import concat
from consilience.annotations import concatenate as joining
from tests.test_persistence import same

ITEMS = pd.Index(list("abcdefg"))
ANNOTATORS = ["Ann", "Bo", ("Cy", 1), 4]
answers = st.lists(
    st.tuples(st.sampled_from(ANNOTATORS), st.lists(st.integers(0, 6), min_size=1, unique=True)), min_size=1, max_size=6
)


def parts_of(drawn):
    """Return one grouping of two groups for each answer."""
    parts = []
    for number, (annotator, items) in enumerate(drawn):
        rows = [(ITEMS[i], annotator, number, place % 2) for place, i in enumerate(items)]
        frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
        parts.append(Groupings.from_frame(frame, items=ITEMS))
    return parts


@settings(max_examples=40)
@given(drawn=answers, data=st.data())
@pytest.mark.slow
def test_the_result_does_not_depend_on_when_groupings_are_joined(drawn, data):
    """Including joins in between, as before a consensus, and several groupings at a time."""
    parts = parts_of(drawn)
    expected = reduce(lambda one, other: concat([one, other]), parts[1:], concat(parts[:1]))
    store = GroupingStore(len(ITEMS))
    n_together = data.draw(st.integers(1, len(parts)))
    store.add(concat(parts[:n_together]))
    for part in parts[n_together:]:
        if data.draw(st.booleans()):
            store.joined()
        store.add(part)
    assert len(store) == expected.n_groupings
    assert store.keys == set(expected.vocabulary.grouping_keys())
    np.testing.assert_array_equal(store.times, np.diff(expected.incidence.indptr))
    for annotator in [*ANNOTATORS, "nobody"]:
        own = expected.restrict(annotators=[annotator]) if annotator in expected.annotators else None
        held = np.zeros(7, dtype=bool) if own is None else np.diff(own.incidence.indptr) > 0
        np.testing.assert_array_equal(store.held_by(annotator), held)
    assert same(store.joined(), expected)
    assert store.joined() is store.joined()


def test_an_empty_store():
    store = GroupingStore(3)
    assert store.joined() is None
    assert len(store) == 0
    assert store.held_by("Ann").tolist() == [False] * 3
    assert store.times.tolist() == [0] * 3


def test_answers_are_joined_only_when_all_are_needed(monkeypatch):
    """Neither `tell`, nor `ask` with a strategy that uses counts of pairs, touches earlier groupings."""
    joined = []
    join = joining._join_groupings
    monkeypatch.setitem(joining.JOIN, Groupings, lambda parts: joined.append(len(parts)) or join(parts))
    session = ActiveSession(list(ITEMS), strategy="explore", random_state=0)
    for _ in range(5):
        (subset,) = session.ask(1, 3)
        session.tell([subset.items[:2], subset.items[2:]], subset=subset)
        session.ask(1, 3, annotators=["Bo"])
        session.withdraw(session.pending_[-1])
    assert joined == []
    session.consensus()
    assert joined == [5]
    session.tell([["a", "b"]])
    assert session.groupings_.n_groupings == 6
    assert joined == [5, 2]
