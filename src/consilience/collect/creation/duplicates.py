"""Cards that look the same, which is mostly a mistake: said wherever a study is made, and never refused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from consilience.annotations.files.values import fold_name
from consilience.collect.settings.model import Item

MOST_SAID = 5  # sets of cards in a note


def look_alikes(items: Sequence[Item]) -> list[list[Item]]:
    """Return the sets of cards that nobody can tell apart: with one text, unless their pictures differ, or one picture.

    Upper case, blanks and the form of letters make no difference.

    Examples
    --------
    >>> cards = [Item(0, "a", "Red apple"), Item(1, "b", "Pear"), Item(2, "c", "red  apple")]
    >>> [[card.name for card in alike] for alike in look_alikes(cards)]
    [['a', 'c']]
    """
    found = []
    for _, same in groupby(sorted(items, key=_words), key=_words):
        alike = list(same)
        shown = {item.picture for item in alike if item.picture is not None}
        parts = [[item for item in alike if item.picture in (None, one)] for one in shown] or [alike]
        found += [part for part in parts if len(part) > 1 and (_words(part[0]) or part[0].picture is not None)]
    return sorted(found, key=lambda alike: alike[0].number)


def note_on_look_alikes(items: Sequence[Item]) -> str:
    """Return a sentence on cards that look the same, empty if there are none.

    Examples
    --------
    >>> note_on_look_alikes([Item(0, "a", "Pear"), Item(1, "b", "pear")])
    "Cards that look the same: 'a' and 'b'."
    """
    found = look_alikes(items)
    said = "; ".join(" and ".join(repr(item.name) for item in alike) for alike in found[:MOST_SAID])
    return f"Cards that look the same: {said}{'; …' if len(found) > MOST_SAID else ''}." if found else ""


def _words(item: Item) -> str:
    return fold_name(item.text)
