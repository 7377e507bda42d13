"""The state of a board: what a participant's changes, in the order in which they came in, make of an assignment.

A change is a dict as the board sends it, with a sequence number that counts up within one client (one tab):

    {"sequence": 7, "kind": "move", "items": [3, 5], "group": "g2"}   group None: back to the unsorted cards
    {"sequence": 8, "kind": "group", "group": "g3"}                   a new, empty group
    {"sequence": 9, "kind": "name", "group": "g3", "name": "Birds"}
    {"sequence": 10, "kind": "remove", "group": "g3"}                 its cards become unsorted

A change that arrives twice, by client and sequence number, counts once. Changes of several tabs are applied one after
another; a change never fails because of what another tab did before: a group that is not there is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from consilience.collect.errors import BoardError, UnsortedError
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import brief, clean_text
from consilience.collect.settings.model import Item, Study
from consilience.collect.settings.sentences import TEXTS
from consilience.collect.settings.study_kinds import UNSURE
from consilience.errors import InputError

MOST_GROUPS = 300  # of a board
NAMELESS = {"cards": "card", "groups": "group"}  # the text for one of a list of names that has none
MOST_SEQUENCE = 2**53 - 1  # a script counts no further
CLIENT = re.compile(r"[A-Za-z0-9-]{1,64}")
GROUP = re.compile(r"[gc][1-9][0-9]{0,5}")
KEYS = {
    "move": {"sequence", "kind", "items", "group"},
    "name": {"sequence", "kind", "group", "name"},
    "group": {"sequence", "kind", "group"},
    "remove": {"sequence", "kind", "group"},
}


@dataclass(frozen=True)
class Group:
    """A group of a board.

    id : "g1", "g2", … made by a client; "c1", "c2", … are the categories of a closed or hybrid sort, or the answers to
        questions; "c0" holds those to which somebody cannot say the answer.
    items : in the order in which they came in.
    """

    id: str
    name: str = ""
    items: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the group as JSON values."""
        return {"id": self.id, "name": self.name, "items": list(self.items)}


@dataclass(frozen=True)
class BoardState:
    """The groups of an assignment.

    version : number of changes so far.
    groups : in the order in which they were made, categories first.
    unsorted : items in no group, in the order presented.
    """

    assignment: int
    version: int
    groups: tuple[Group, ...]
    unsorted: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the state as the board reads it."""
        return {
            "assignment": self.assignment,
            "version": self.version,
            "groups": [group.as_json() for group in self.groups],
            "unsorted": list(self.unsorted),
        }

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> BoardState:
        """Return the state that `as_json` wrote."""
        groups = tuple(Group(group["id"], group["name"], tuple(group["items"])) for group in values["groups"])
        return cls(values["assignment"], values["version"], groups, tuple(values["unsorted"]))


def initial(assignment: int, items: Sequence[int], categories: Sequence[str] = ()) -> BoardState:
    """Return the state before any change."""
    groups = tuple(Group(f"c{number}", name) for number, name in enumerate(categories, 1))
    return BoardState(assignment, 0, groups, tuple(items))


def fold(state: BoardState, received: Iterable[tuple[str, Mapping[str, Any]]], order: Sequence[int]) -> BoardState:
    """Apply changes in order of arrival; one that arrives again, by client and sequence number, counts once.

    state : that before any of the changes.
    received : pairs of a client and a change that is `check_change`
    order : numbers of all items, in the order presented
    """
    seen = set()
    for client, change in received:
        if (client, change["sequence"]) not in seen:
            seen.add((client, change["sequence"]))
            state = apply_change(state, change, order)
    return state


def apply_change(state: BoardState, change: Mapping[str, Any], order: Sequence[int]) -> BoardState:
    """Return the state after a change that `check_change` allows; its version is one higher in any case."""
    version, target = state.version + 1, change["group"]
    kind = change["kind"]
    groups = list(state.groups)
    if kind == "remove":
        return replace(_without_group(state, target, order), version=version)
    if target is not None and all(group.id != target for group in groups):
        groups.append(Group(target))
    if kind == "name":
        groups = [replace(group, name=change["name"]) if group.id == target else group for group in groups]
    unsorted: Iterable[int] = state.unsorted
    if kind == "move":
        groups, unsorted = _move_items(groups, state.unsorted, change["items"], target, order)
    return BoardState(state.assignment, version, tuple(groups), tuple(unsorted))


def changes_to(state: BoardState, groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Return the changes that make a board these groups, whatever is on it.

    Examples
    --------
    >>> state = BoardState(7, 4, (Group("g1", "old", (0, 1)),), (2,))
    >>> for change in changes_to(state, [Group("g1", "new", (1, 2))]):
    ...     print(change)
    {'sequence': 0, 'kind': 'move', 'items': [0, 1], 'group': None}
    {'sequence': 1, 'kind': 'remove', 'group': 'g1'}
    {'sequence': 2, 'kind': 'move', 'items': [1, 2], 'group': 'g1'}
    {'sequence': 3, 'kind': 'name', 'group': 'g1', 'name': 'new'}
    """
    back = [item for group in state.groups for item in group.items]
    changes: list[dict[str, Any]] = [{"kind": "move", "items": back, "group": None}] if back else []
    changes += [{"kind": "remove", "group": group.id} for group in state.groups if group.id.startswith("g")]
    for group in groups:
        changes.append({"kind": "move", "items": list(group.items), "group": group.id})
        if group.id.startswith("g") and group.name:
            changes.append({"kind": "name", "group": group.id, "name": group.name})
    return [{"sequence": number, **change} for number, change in enumerate(changes)]


def _move_items(
    groups: list[Group], unsorted: Sequence[int], items: Sequence[int], target: str | None, order: Sequence[int]
) -> tuple[list[Group], Sequence[int]]:
    """Move items to the end of a group; those that are in it already keep their places."""
    moved = dict.fromkeys(items)
    staying = set(next((group.items for group in groups if group.id == target), ()))
    found = []
    for group in groups:
        if group.id == target:
            found.append(replace(group, items=(*group.items, *(item for item in moved if item not in staying))))
        else:
            found.append(replace(group, items=tuple(item for item in group.items if item not in moved)))
    if target is None:
        back = {*unsorted, *moved}
        return found, [item for item in order if item in back]
    return found, [item for item in unsorted if item not in moved]


def _without_group(state: BoardState, target: str, order: Sequence[int]) -> BoardState:
    """Remove a group; its items become unsorted."""
    freed = {item for group in state.groups if group.id == target for item in group.items}
    back = freed.union(state.unsorted)
    groups = tuple(group for group in state.groups if group.id != target)
    return replace(state, groups=groups, unsorted=tuple(item for item in order if item in back))


def checked_client(client: Any) -> str:
    """Return the name that a client gave itself.

    Raises InputError: it is not made of 1 to 64 letters, digits and hyphens.
    """
    if not (isinstance(client, str) and CLIENT.fullmatch(client)):
        raise InputError("'client' must be 1 to 64 letters, digits and hyphens, such as a UUID.")
    return client


def check_change(change: Any, study: Study, items: Iterable[int]) -> dict[str, Any]:
    """Return a change that the board of a study allows, its texts cleaned.

    Raises InputError: it is no change, concerns other items or groups, or is not allowed in this study.

    change : as the board sends it
    items : numbers of the items of the assignment
    """
    if not isinstance(change, Mapping):
        raise InputError("A change must be a JSON object.")
    kind, sequence = change.get("kind"), change.get("sequence", -1)
    if not isinstance(kind, str) or kind not in KEYS:
        raise InputError(f"The 'kind' of a change must be one of {', '.join(KEYS)}.")
    if set(change) != KEYS[kind]:
        raise InputError(f"A change of the kind {kind!r} must have the keys {', '.join(sorted(KEYS[kind]))}.")
    if not _is_count(sequence) or sequence > MOST_SEQUENCE:
        raise InputError("The 'sequence' of a change must be a whole number of at least 0.")
    group = change["group"]
    _require_group(group, kind, study)
    found = {"sequence": sequence, "kind": kind, "group": group}
    if kind == "move":
        found["items"] = _checked_numbers(change["items"], items)
    if kind == "name":
        found["name"] = clean_text(change["name"], "The name of a group", LONGEST_NAME, one_line=True)
    return found


def _checked_numbers(numbers: Any, items: Iterable[int]) -> list[int]:
    allowed = set(items)
    if not isinstance(numbers, list | tuple) or not numbers or not all(_is_count(number) for number in numbers):
        raise InputError("The 'items' of a change must be a list of the numbers of items.")
    other = [number for number in numbers if number not in allowed]
    if other:
        raise InputError(f"Item {brief(other[0])} is not on this board.")
    return list(dict.fromkeys(numbers))


def _require_group(group: Any, kind: str, study: Study) -> None:
    if kind == "move" and (group is None or (group == UNSURE and study.is_asked)):
        return
    if not (isinstance(group, str) and GROUP.fullmatch(group)):
        raise InputError("The 'group' of a change must be the id of a group, such as 'g1'.")
    if group.startswith("c"):
        if int(group[1:]) > len(study.classes):
            raise InputError(f"This study has no category {group!r}.")
        if kind != "move":
            raise InputError("The categories of a study cannot be made, renamed or removed.")
    elif study.has_fixed_groups:
        raise InputError("The groups of a closed sort are its categories.")
    if kind == "name" and study.settings.group_names == "none":
        raise InputError("Groups have no names in this study.")


def require_few_groups(state: BoardState) -> None:
    """Raise an InputError if a board has too many groups."""
    if len(state.groups) > MOST_GROUPS:
        raise BoardError(f"A board can have at most {MOST_GROUPS} groups.", "most_groups_text", count=MOST_GROUPS)


def require_submittable(state: BoardState, study: Study, *, confirmed: bool) -> None:
    """Raise an error unless a board can be submitted.

    Raises UnsortedError: cards are left unsorted and this was not confirmed, or the study forbids it. Raises
    InputError: no card is in a group, a group has no name and the study asks for one, or too few or too many cards.

    confirmed : whether the participant agreed to leave cards unsorted.
    """
    unsorted, asks = len(state.unsorted), "required" if study.is_asked else study.settings.all_sorted
    if unsorted and (asks == "required" or (asks and not confirmed)):
        raise UnsortedError(unsorted)
    if study.is_asked:
        return
    if not any(group.items for group in state.groups):
        raise BoardError("No card is in a group yet.", "sort_some_text")
    if study.settings.group_names == "required":
        unnamed = [place for place, group in enumerate(state.groups, 1) if group.items and not group.name]
        if unnamed:
            sentence = "1 group has no name yet." if len(unnamed) == 1 else f"{len(unnamed)} groups have no name yet."
            raise BoardError(sentence, "name_all_text", groups=unnamed)
    _require_sizes(state, study)


def require_cards(state: BoardState, study: Study, items: Sequence[Item], order: Sequence[int]) -> None:
    """Raise an InputError that names the cards which a study wants sorted and which are not.

    items : those of the study.
    order : numbers of the items of the assignment, in the order presented
    """
    wanted, left = set(study.settings.required_cards), set(state.unsorted)
    missing = [item for item in items if item.name in wanted and item.number in left]
    if missing:
        cards = [item.text or order.index(item.number) + 1 for item in missing]
        raise _wrong_board("sort_these_text", cards=cards)


def _require_sizes(state: BoardState, study: Study) -> None:
    """Refuse groups with too few or too many cards."""
    least, most = study.settings.least_in_group, study.settings.most_in_group
    if least is None and most is None:
        return
    sized = [(group.name or place, len(group.items)) for place, group in enumerate(state.groups, 1) if group.items]
    small = [name for name, size in sized if least is not None and size < least]
    large = [name for name, size in sized if most is not None and size > most]
    for key, names, limit in (("too_few", small, least), ("too_many", large, most)):
        if names:
            raise _wrong_board(f"{key}_text", count=limit or 0, groups=names)


def _wrong_board(text: str, **words: Any) -> BoardError:
    """Return the error that says in English what its text says to participants."""
    said = {
        name: ", ".join(name_each(value, TEXTS[NAMELESS[name]])) if name in NAMELESS else value
        for name, value in words.items()
    }
    return BoardError(TEXTS[text].format(**said), text, **words)


def name_each(names: Sequence[str | int], nameless: str) -> list[str]:
    """Return names, of which a number is that of what has none."""
    return [nameless.format(number=one) if isinstance(one, int) else one for one in names]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
