"""A session rebuilt without somebody equals a session that never heard them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings
from consilience.active import ActiveSession, Explore, Informative
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from tests.active.test_session import Watching, situation_of
from tests.test_persistence import same

ITEMS = list("abcdefghij")
PEOPLE = ["Ann", "Bo", "Cy"]

told = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.lists(st.sampled_from(ITEMS), min_size=2, max_size=5, unique=True),  # presented
        st.integers(0, 5),  # how many of these are answered
    ),
    min_size=1,
    max_size=8,
)


def tell(session, annotator, presented, n_answered, *, number):
    """Answer a subset in two groups, under a name of its own."""
    subset = session.ask(1, candidates=[presented])[0]
    answered = presented[:n_answered]
    session.tell([answered[::2], answered[1::2]], subset=subset, annotator=f"{annotator} {number}")


def evidence(session):
    """What strategies and fusions see of a session, as arrays."""
    found = situation_of(session)
    return {
        "counts": found.counts,
        "times": found.times_asked,
        "n": found.n_groupings,
        "pending": session.pending_,
        "groupings": None if session.groupings_ is None else session.groupings_.to_frame().values.tolist(),
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(told, st.sampled_from(PEOPLE))
def test_the_evidence_is_that_of_a_session_that_never_heard_them(rows, dropped):
    whole, never = (ActiveSession(ITEMS, strategy=Watching(), random_state=0) for _ in range(2))
    for number, (annotator, presented, n_answered) in enumerate(rows):
        tell(whole, annotator, presented, n_answered, number=number)
    for number, (annotator, presented, n_answered) in enumerate(rows):
        if annotator != dropped:
            tell(never, annotator, presented, n_answered, number=number)
    theirs = [f"{annotator} {number}" for number, (annotator, *_) in enumerate(rows) if annotator == dropped]
    before = evidence(whole)
    found, expected = evidence(whole.without(theirs)), evidence(never)
    rows_of = [[[item, who, group] for item, who, _, group in one.pop("groupings") or []] for one in (found, expected)]
    assert rows_of[0] == rows_of[1]  # but for the numbers of the answers, which stay as they were
    assert same(found, expected)
    assert same(evidence(whole), before)


@pytest.mark.parametrize(
    "strategy",
    [
        Explore(),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("informative", "random", Informative(power=1.0))),
    ],
)
@pytest.mark.slow
def test_what_comes_next_is_that_of_a_session_that_never_heard_them(strategy):
    """Random numbers begin again, so the two go on alike: the same subsets, consensus and reliability."""

    def begun():
        return ActiveSession(ITEMS, strategy=strategy, fusion=SubsetFusion(3), max_per_item=30, random_state=4)

    answers = {
        f"P{number}": [
            [ITEMS[i] for i in half] for half in np.array_split(np.random.default_rng(number).permutation(10), 3)
        ]
        for number in range(8)
    }
    whole, never = begun(), begun()
    for name, groups in answers.items():
        whole.tell(Groupings.from_lists([groups], annotators=[name]))
        if name != "P3":
            never.tell(Groupings.from_lists([groups], annotators=[name]))
        if name in ("P1", "P7"):
            whole.consensus()
    rebuilt = whole.without("P3")
    assert len(rebuilt.stability_) == 0
    assert rebuilt.groupings_ == never.groupings_
    for _ in range(2):
        asked = [session.ask(2, 4) for session in (rebuilt, never)]
        assert asked[0] == asked[1]
        fitted = [session.consensus() for session in (rebuilt, never)]
        np.testing.assert_array_equal(fitted[0].labels_, fitted[1].labels_)
        assert rebuilt.groupings_needed() == never.groupings_needed()
        for session, subsets in zip((rebuilt, never), asked):
            session.tell([subsets[0].items[:2], subsets[0].items[2:]], subset=subsets[0])
    assert same(rebuilt.stability_, never.stability_)


def test_pending_subsets_of_others_can_still_be_answered():
    session = ActiveSession(ITEMS, strategy="random", random_state=0)
    anns, nobodys, bos = session.ask(3, 3, annotators=["Ann", None, "Bo"])
    session.tell([bos.items], subset=bos)
    rebuilt = session.without(["Ann"])
    assert rebuilt.pending_ == [nobodys]
    assert session.pending_ == [anns, nobodys]
    rebuilt.tell([nobodys.items], subset=nobodys)
    with pytest.raises(InputError, match=r"^Subset 1 is not pending"):
        rebuilt.tell([anns.items], subset=anns)
    assert rebuilt.ask(1, 3)[0].number == 4  # no number is given twice
    assert rebuilt.without(["Bo"]).groupings_.annotators.tolist() == ["answer 2"]


def test_everybody_and_nobody():
    session = ActiveSession(ITEMS, random_state=0).tell([ITEMS[:5], ITEMS[5:]], annotator="Ann").tell([ITEMS[:2]])
    nobody_left = session.without(["Ann", "answer 2"])
    assert nobody_left.groupings_ is None
    assert len(nobody_left.ask(1, 4)) == 1
    assert session.without([]).groupings_ == session.groupings_


def test_an_unknown_annotator_is_refused():
    session = ActiveSession(ITEMS, random_state=0).tell([ITEMS], annotator="Mallory")
    with pytest.raises(InputError) as caught:
        session.without("mallory ")
    assert str(caught.value) == ("The session does not know the annotator 'mallory '. The nearest name is 'Mallory'.")
    with pytest.raises(InputError, match=r"^An annotator must be one name\. Got a list instead"):
        session.without([["Mallory"]])
