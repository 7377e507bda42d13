r"""Practice, admission and gold as lines of a form: a line for each group, an empty line between two sorts.

    Birds: owl, robin
    Fish: trout, "pike, perch and eel"

A name with a comma, a colon or quotation marks in it stands in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from consilience.collect.admin.setting_forms import shown_value, value_in
from consilience.collect.creation.cards import read_rows
from consilience.collect.forms import text_of
from consilience.collect.settings.kinds import declared_in
from consilience.collect.settings.model import Item
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE, ROLES, RightCard, RightSort, Training
from consilience.errors import InputError

TRAINING = declared_in(Training)
EMPTY = vars(Training()) | {"gold_share": 0.0}  # what fields say in which nothing stands
LINE = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^":]*))\s*:(?P<cards>.*)', re.DOTALL)
PLAIN = re.compile(r"[^\s,:\"](?:[^,:\"]*[^\s,:\"])?")
CALLED = {PRACTICE: "the practice", ADMISSION: "the admission", GOLD: "the gold"}


def training_in(form: Mapping[str, Any], items: Sequence[Item], earlier: Training) -> Training:
    """Return the training that a form says. Raises InputError: a line or a number cannot be read.

    form : mapping
    items : the cards of the study, which the form calls by their names or by what they say.
    earlier : whose cards of its own keep their text and picture, since the form holds only their names.
    """
    names = _names_of(items)
    own = {card.name: card for role in ROLES for sort in earlier.sorts(role) for card in sort.cards}
    sorts = {role: tuple(sorts_of(text_of(form, role), CALLED[role], names, own)) for role in ROLES}
    if len(sorts[PRACTICE]) > 1:
        raise InputError("There is one practice; take out the empty line in it.")
    return Training(
        practice=next(iter(sorts[PRACTICE]), None),
        admission=sorts[ADMISSION],
        gold=sorts[GOLD],
        **{name: value_in(form, name, kind, EMPTY[name]) for name, kind in TRAINING.items()},
    )


def fields_of_training(training: Training) -> dict[str, str]:
    """Return what the fields of the form hold."""
    lines = {role: "\n\n".join(lines_of_sort(sort) for sort in training.sorts(role)) for role in ROLES}
    return lines | {name: shown_value(kind, getattr(training, name)) for name, kind in TRAINING.items()}


def sorts_of(
    text: str, called: str, names: Mapping[str, str], own: Mapping[str, RightCard] | None = None
) -> Iterable[RightSort]:
    r"""Yield the sorts that a text holds.

    called : what the text is about, for messages.
    names : names of the cards of the study, by how they can be called in the text, in lower case.
    own : cards that are none of the study's, by their names.

    Examples
    --------
    >>> [sort] = sorts_of('Birds: Owl, "a, b"\nFish: trout', "the practice", {"owl": "c7"})
    >>> [(card.name, card.group) for card in sort.cards]
    [('c7', 'Birds'), ('a, b', 'Birds'), ('trout', 'Fish')]
    """
    for block in re.split(r"\n\s*\n", text.strip().replace("\r\n", "\n")):
        if not block.strip():
            continue
        cards = []
        for line in block.splitlines():
            group, called_cards = _group_of(line, called)
            for word in called_cards:
                name = names.get(word.casefold(), word)
                found = (own or {}).get(name)
                rest = (found.text, found.picture, found.alt) if found else ()
                cards.append(RightCard(name, group, *rest))
        yield RightSort(tuple(cards))


def lines_of_sort(sort: RightSort) -> str:
    """Return a sort as lines.

    Examples
    --------
    >>> print(lines_of_sort(RightSort.of_groups({"Birds": ["owl", "a, b"], "Fish": ["trout"]})))
    Birds: owl, "a, b"
    Fish: trout
    """
    groups: dict[str, list[str]] = {}
    for card in sort.cards:
        groups.setdefault(card.group, []).append(_quote(card.name))
    return "\n".join(f"{_quote(group)}: {', '.join(cards)}" for group, cards in groups.items())


def others_in(training: Training, items: Sequence[Item]) -> list[str]:
    """Return the names of the cards of a training that are none of the study's."""
    known = {item.name for item in items}
    used = dict.fromkeys(card.name for role in ROLES for sort in training.sorts(role) for card in sort.cards)
    return [name for name in used if name not in known]


def _names_of(items: Sequence[Item]) -> dict[str, str]:
    """Return the names of cards by what they can be called: by their names, or by a text that is only theirs."""
    texts = [" ".join(item.text.split()).casefold() for item in items]
    by_text = {text: item.name for text, item in zip(texts, items, strict=True) if texts.count(text) == 1}
    return by_text | {item.name.casefold(): item.name for item in items}


def _group_of(line: str, called: str) -> tuple[str, list[str]]:
    found = LINE.fullmatch(line)
    group = "" if found is None else (found["quoted"] or found["plain"] or "").replace('""', '"').strip()
    if found is None or not group:
        raise InputError(f"A line of {called} must be a group, a colon and its cards. Got {line.strip()[:60]!r}.")
    rows = read_rows(found["cards"].strip(), f"A line of {called}", skipinitialspace=True)
    cards = [cell.strip() for row in rows[:1] for cell in row if cell.strip()]
    if not cards:
        raise InputError(f"The group {group[:60]!r} of {called} has no cards.")
    return group, cards


def _quote(name: str) -> str:
    if PLAIN.fullmatch(name):
        return name
    return '"' + name.replace('"', '""') + '"'
