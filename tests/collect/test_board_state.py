"""The fold of changes against a second way to compute it: where the last change put each card."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.collect.errors import UnsortedError
from consilience.collect.settings.model import Study, StudySettings
from consilience.collect.store import board_state
from consilience.collect.store.board_state import BoardState, Group, check_change, fold, initial, require_submittable
from consilience.errors import InputError

ORDER = (4, 0, 2, 1, 3)
STUDY = Study("s", "T", "open", "piles", "open", StudySettings(), 5, "join", 0, datetime.now(UTC))
CATEGORIES = StudySettings(categories=("Birds", "Fish"), strategy="random", stop_rule="none")

numbers = st.lists(st.sampled_from(ORDER), min_size=1, max_size=4, unique=True)
groups = st.sampled_from(["g1", "g2", "c1"])
own = st.sampled_from(["g1", "g2"])
bodies = st.one_of(
    st.builds(lambda items, group: {"kind": "move", "items": items, "group": group}, numbers, groups | st.none()),
    st.builds(lambda group, name: {"kind": "name", "group": group, "name": name}, own, st.sampled_from(["", "x", "y"])),
    st.builds(lambda group: {"kind": "group", "group": group}, own),
    st.builds(lambda group: {"kind": "remove", "group": group}, own),
)
logs = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 5), bodies), max_size=12).map(
    lambda rows: [(client, {"sequence": sequence, **body}) for client, sequence, body in rows]
)


def by_brute_force(log):
    """Where each card is, and the names of groups: each change on a dict of cards, without regard to speed."""
    where, since, names, made = dict.fromkeys(ORDER), {}, {}, ["c1"]
    seen, clock = [], 0
    for client, change in log:
        if (client, change["sequence"]) in seen:
            continue
        seen.append((client, change["sequence"]))
        kind, group = change["kind"], change["group"]
        if kind == "remove":
            if group in made:
                made.remove(group)
            names.pop(group, None)
            where = {item: None if held == group else held for item, held in where.items()}
            continue
        if group is not None and group not in made:
            made.append(group)
        if kind == "name":
            names[group] = change["name"]
        if kind == "move":
            for item in change["items"]:
                if where[item] != group:
                    where[item], since[item], clock = group, clock, clock + 1
    lines = [
        Group(
            group,
            "Birds" if group == "c1" else names.get(group, ""),
            tuple(sorted((item for item in ORDER if where[item] == group), key=since.get)),
        )
        for group in made
    ]
    return BoardState(7, len(seen), tuple(lines), tuple(item for item in ORDER if where[item] is None))


@settings(max_examples=300)
@given(logs)
def test_the_fold_is_that_by_brute_force(log):
    assert fold(initial(7, ORDER, ["Birds"]), log, ORDER) == by_brute_force(log)


@given(logs, st.randoms(use_true_random=False))
def test_changes_that_arrive_again_change_nothing(log, random):
    once = fold(initial(7, ORDER, ["Birds"]), log, ORDER)
    again = list(log)
    for change in log:  # each comes again at some later time
        first = again.index(change)
        again.insert(random.randint(first + 1, len(again)), change)
    assert fold(initial(7, ORDER, ["Birds"]), again, ORDER) == once


@given(logs)
def test_every_card_is_in_one_place(log):
    state = fold(initial(7, ORDER, ["Birds"]), log, ORDER)
    assert sorted([*state.unsorted, *(item for group in state.groups for item in group.items)]) == sorted(ORDER)
    assert len({group.id for group in state.groups}) == len(state.groups)
    assert BoardState.of_json(state.as_json()) == state


def test_a_move_and_its_inverse():
    state = initial(7, ORDER)
    there = fold(state, [("a", {"sequence": 1, "kind": "move", "items": [2, 4], "group": "g1"})], ORDER)
    assert there == BoardState(7, 1, (Group("g1", "", (2, 4)),), (0, 1, 3))
    back = fold(there, [("a", {"sequence": 2, "kind": "move", "items": [2, 4], "group": None})], ORDER)
    assert back == BoardState(7, 2, (Group("g1"),), ORDER)
    assert state == initial(7, ORDER)  # nothing was written into


MOVE = {"sequence": 1, "kind": "move", "items": [0], "group": "g1"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ([], "A change must be a JSON object."),
        ({}, "The 'kind' of a change must be one of move, name, group, remove."),
        ({"kind": []}, "The 'kind' of a change must be one of move, name, group, remove."),
        ({**MOVE, "more": 1}, "A change of the kind 'move' must have the keys group, items, kind, sequence."),
        ({**MOVE, "sequence": -1}, "The 'sequence' of a change must be a whole number of at least 0."),
        ({**MOVE, "sequence": True}, "The 'sequence' of a change must be a whole number of at least 0."),
        ({**MOVE, "sequence": 2**53}, "The 'sequence' of a change must be a whole number of at least 0."),
        ({**MOVE, "items": []}, "The 'items' of a change must be a list of the numbers of items."),
        ({**MOVE, "items": ["0"]}, "The 'items' of a change must be a list of the numbers of items."),
        ({**MOVE, "items": [0, 9]}, "Item 9 is not on this board."),
        ({**MOVE, "items": [10**4000]}, f"Item 1{56 * '0'}… is not on this board."),
        ({**MOVE, "group": "x1"}, "The 'group' of a change must be the id of a group, such as 'g1'."),
        ({**MOVE, "group": "g01"}, "The 'group' of a change must be the id of a group, such as 'g1'."),
        ({**MOVE, "group": "c1"}, "This study has no category 'c1'."),
        (
            {"sequence": 1, "kind": "group", "group": None},
            "The 'group' of a change must be the id of a group, such as 'g1'.",
        ),
        (
            {"sequence": 1, "kind": "name", "group": "g1", "name": "x" * 201},
            "The name of a group has 201 characters; at most 200 are allowed.",
        ),
        ({"sequence": 1, "kind": "name", "group": "g1", "name": 3}, "The name of a group must be text. Got 3."),
    ],
)
def test_wrong_changes_are_refused(change, sentence):
    with pytest.raises(InputError) as caught:
        check_change(change, STUDY, ORDER)
    assert str(caught.value) == sentence


def test_categories_can_only_be_filled():
    closed = replace(STUDY, kind="closed", settings=CATEGORIES)
    assert check_change({**MOVE, "group": "c2"}, closed, ORDER) == {**MOVE, "group": "c2"}
    for kind in ("name", "group", "remove"):
        change = {"sequence": 1, "kind": kind, "group": "c1"} | ({"name": "x"} if kind == "name" else {})
        with pytest.raises(InputError, match=r"^The categories of a study cannot be made, renamed or removed\.$"):
            check_change(change, closed, ORDER)
    with pytest.raises(InputError, match=r"^The groups of a closed sort are its categories\.$"):
        check_change(MOVE, closed, ORDER)
    hybrid = replace(closed, kind="hybrid")
    assert check_change(MOVE, hybrid, ORDER) == MOVE
    nameless = replace(STUDY, settings=StudySettings(group_names="none"))
    with pytest.raises(InputError, match=r"^Groups have no names in this study\.$"):
        check_change({"sequence": 1, "kind": "name", "group": "g1", "name": "x"}, nameless, ORDER)


def test_names_are_cleaned():
    name = "  Bi\x00rds \ud800\r\nof   prey\x1b[31m\u200f "
    found = check_change({"sequence": 1, "kind": "name", "group": "g1", "name": name}, STUDY, ORDER)
    assert found["name"] == "Bi rds of prey [31m\u200f"


PARTLY = BoardState(1, 1, (Group("g1", "", (0, 1)), Group("g2")), (2,))
WHOLE = replace(PARTLY, unsorted=())


@pytest.mark.parametrize(
    ("state", "settings", "confirmed", "error"),
    [
        (PARTLY, {}, False, UnsortedError),
        (PARTLY, {}, True, None),
        (PARTLY, {"all_sorted": False}, False, None),
        (PARTLY, {"all_sorted": "required"}, True, UnsortedError),
        (WHOLE, {"all_sorted": "required"}, False, None),
        (WHOLE, {"group_names": "required"}, True, InputError),
        (replace(WHOLE, groups=(Group("g1", "A", (0,)), Group("g2"))), {"group_names": "required"}, False, None),
        (initial(1, ORDER), {"all_sorted": False}, True, InputError),
    ],
)
def test_what_can_be_submitted(state, settings, confirmed, error):
    study = replace(STUDY, settings=StudySettings(**settings))
    if error is None:
        require_submittable(state, study, confirmed=confirmed)
        return
    with pytest.raises(error) as caught:
        require_submittable(state, study, confirmed=confirmed)
    if error is UnsortedError:
        assert caught.value.count == 1
        assert str(caught.value) == "1 card is not in a group yet."


def test_a_board_has_so_many_groups():
    many = tuple(Group(f"g{number}") for number in range(1, board_state.MOST_GROUPS + 1))
    board_state.require_few_groups(BoardState(1, 0, many, ()))
    with pytest.raises(InputError, match=r"^A board can have at most 300 groups\.$"):
        board_state.require_few_groups(BoardState(1, 0, (*many, Group("g9999")), ()))


@pytest.mark.parametrize("client", ["", "a b", "é", "x" * 65, None, 3])
def test_clients_have_plain_names(client):
    with pytest.raises(InputError, match=r"^'client' must be 1 to 64 letters, digits and hyphens, such as a UUID\.$"):
        board_state.checked_client(client)
