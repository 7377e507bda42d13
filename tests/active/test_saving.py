"""A session continues from a file as if it had not been interrupted; test_persistence checks that values are equal."""

import copy
import pickle

import pytest

from consilience import Groupings, load, save
from consilience.active import ActiveSession, Explore, ExploreExploitTradeoff, Informative, Strategy
from consilience.active.session import STRATEGIES
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from tests.quick_cases import quick_in_turn
from tests.test_persistence import same


def collecting(strategy, **parameters):
    """Return a session with answers, one of them incomplete, groupings, a consensus and pending subsets."""
    fusion = SubsetFusion(3, refine=False)
    session = ActiveSession(
        list(range(12)), **({"strategy": strategy, "fusion": fusion, "random_state": 0} | parameters)
    )
    for number in range(4):
        for subset in session.ask(2, 5, annotators=[f"a{number}", None]):
            session.tell([subset.items[:2], subset.items[2:4]], subset=subset)
        if number % 2:
            session.consensus()
    session.tell(Groupings.from_lists([[[0, 3, 6], [1, 4]]], annotators=["Bo"]))
    session.ask(2, 4, annotators=["Cy", None])
    return session


SESSIONS = {name: (name, {}) for name in STRATEGIES} | {
    "fusion": ("random", {"fusion": SubsetFusion(3, normalize="presented", refine=False), "max_per_item": 20}),
    "power": (Informative(power=1.5), {"fusion": None}),
    "tradeoff": (ExploreExploitTradeoff(few=2, mu=0.4), {"fusion": SubsetFusion(4)}),
}


@pytest.mark.parametrize(("strategy", "parameters"), quick_in_turn(SESSIONS.values(), 0), ids=list(SESSIONS))
def test_a_saved_session_continues_where_it_was(strategy, parameters, tmp_path):
    session = collecting(strategy, **parameters)
    save(session, tmp_path / "session.zip")
    loaded = load(tmp_path / "session.zip")
    assert same(loaded, session)
    assert loaded.pending_ == session.pending_
    assert same(loaded.stability_, session.stability_)
    results = []
    for one in (session, loaded):
        asked = one.ask(2, 5, annotators=["Cy", "a1"])
        first = one.pending_[0]
        one.tell([first.items[:1], first.items[1:]], subset=first)
        results.append([asked, one.ask(2, 4), one.consensus().labels_, one.groupings_needed(n_splits=1), one.pending_])
    assert same(*results)
    assert same(loaded, session)


def test_a_new_session_is_loaded_equal(tmp_path):
    for session in (ActiveSession(["a", "b"]), ActiveSession([("a", 1), 2, "x"], max_per_item=3, random_state=4)):
        save(session, tmp_path / "session.zip")
        loaded = load(tmp_path / "session.zip")
        assert loaded.items_.tolist() == session.items_.tolist()
        assert same(loaded, session)


def test_other_strategies_and_fusions_are_not_saved(tmp_path):
    class Mine(Explore):
        pass

    assert issubclass(Mine, Strategy)
    for session, named in (
        (ActiveSession(["a", "b"], strategy=Mine()), r"^The 'strategy' of ActiveSession cannot be saved: .*Mine\.$"),
        (ActiveSession(["a", 1j]), r"^The 'items' of ActiveSession cannot be saved: .*complex\. Python's pickle"),
    ):
        with pytest.raises(InputError, match=named):
            save(session, tmp_path / "session.zip")
    with pytest.raises(InputError, match=r"Got Informative instead\.$"):
        save(Informative(), tmp_path / "session.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("items", [range(6), iter("abcdef"), dict.fromkeys("abcdef")])
def test_items_of_every_type_are_saved(items, tmp_path):
    session = ActiveSession(items, random_state=0)
    save(session, tmp_path / "study.zip")
    assert load(tmp_path / "study.zip").ask(1, 3) == session.ask(1, 3)


def test_a_pickle_holds_the_groupings_once_and_continues():
    session, expected = collecting("random"), collecting("random")
    loaded = pickle.loads(pickle.dumps(session))
    assert same(loaded, expected)
    assert loaded.ask(2, 4, annotators=["Cy", None]) == expected.ask(2, 4, annotators=["Cy", None])
    assert loaded.tell([[0, 1]]).consensus().labels_.tolist() == expected.tell([[0, 1]]).consensus().labels_.tolist()
    assert len(pickle.dumps(loaded)) < 1.1 * len(pickle.dumps(session)) + 1000


def test_a_copy_is_independent():
    session, expected = collecting("random"), collecting("random")
    one = copy.deepcopy(session)
    one.withdraw(one.pending_[0])
    one.tell([[0, 1], [2]]).ask(1, 3)
    assert same(session, expected)
    assert not same(one, expected)
