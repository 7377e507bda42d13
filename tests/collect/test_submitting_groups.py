"""Groups that a script sends: they take the place of what is on the board and are submitted at once, or not at all."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from consilience.collect.errors import NotFoundError, NotOpenError, UnsortedError
from consilience.collect.store.board_state import Group
from consilience.errors import InputError

from .collecting import begun, joined


def given(store, study):
    return store.assignment_for(joined(store, study), np.random.default_rng(0))


def test_groups_take_the_place_of_the_board(store):
    one = given(store, begun(store, ["a", "b", "c", "d"]))
    moved = {"sequence": 1, "kind": "move", "items": [0, 1, 2], "group": "g7"}
    store.record_changes(one.id, one.participant, "tab", [moved])
    done = store.submit_groups(one.id, one.participant, "script", [Group("g1", "first", (0, 3)), Group("g2", "", (1,))])
    assert (done.state, done.submitted is not None) == ("submitted", True)
    assert [(group["name"], group["items"]) for group in done.answer] == [("first", [0, 3]), ("", [1])]
    assert store.board_state(one.id).unsorted == (2,)
    assert store.at_work(one.study) == {"subsets", "consensus"}
    assert [client for client, _ in store.changes(one.id)] == ["tab"] + ["script"] * 5
    with pytest.raises(NotFoundError):
        store.submit_groups(one.id, "somebody", "script", [Group("g1", "", (0,))])


def test_what_cannot_be_submitted_changes_nothing(store):
    one = given(store, begun(store, ["a", "b", "c", "d"], all_sorted="required", group_names="required"))
    before = store.board_state(one.id)
    whole = Group("g1", "all", (0, 1, 2, 3))
    for groups, error in [
        ([Group("g1", "some", (0, 1))], UnsortedError),
        ([Group("g1", "", (0, 1, 2, 3))], InputError),
        ([whole, Group("c1", "", (0,))], InputError),  # no such category
        ([whole, Group("g2", "more", (9,))], InputError),  # not on this board
    ]:
        with pytest.raises(error):
            store.submit_groups(one.id, one.participant, "script", groups)
        assert store.board_state(one.id) == before
        assert store.changes(one.id) == []
        assert store.assignment(one.id).state == "open"
    assert store.submit_groups(one.id, one.participant, "script", [whole]).state == "submitted"


def test_of_two_at_once_one_is_kept_whole(store):
    one = given(store, begun(store, ["a", "b", "c", "d"]))
    both = [[Group("g1", "", (0, 1)), Group("g2", "", (2, 3))], [Group("g1", "", (0, 2)), Group("g2", "", (1, 3))]]

    def send(groups):
        try:
            return store.submit_groups(one.id, one.participant, "script", groups).answer
        except NotOpenError:
            return None

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(send, both))
    assert answers.count(None) == 1
    kept = store.submitted(one.study)[0].groups
    assert [group["items"] for group in kept] in [[list(group.items) for group in groups] for groups in both]
    assert kept in answers
