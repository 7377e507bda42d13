"""What a practice sort got right, card by card: each group of it stands for the right group that it shares most with.

Groups are paired so that as many cards as possible lie in the group that stands for theirs: a card in the wrong group
is wrong, and those among which it was put are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class CardFeedback:
    """How a card was sorted.

    card : number of the card.
    right : whether it lies in the group that stands for its own; in a closed sort, in its category.
    missed : cards with which it belongs, and from which it was kept apart.
    intruders : cards with which it was put together, and does not belong.
    given : in a closed sort the category in which it was put; None if it was left unsorted.
    """

    card: int
    right: bool
    missed: tuple[int, ...]
    intruders: tuple[int, ...]
    given: str | None


@dataclass(frozen=True)
class GroupFeedback:
    """A right group, and how its cards were sorted."""

    name: str
    cards: tuple[CardFeedback, ...]


def feedback_of(
    right: Mapping[int, str], answer: Sequence[Mapping[str, Any]], *, closed: bool
) -> tuple[GroupFeedback, ...]:
    """Return the right groups with what is to say of each of their cards.

    right : the right group of each card, by its number.
    answer : the groups submitted: id, name, items.
    closed : whether the groups are categories: then a card is right if it lies in its own.
    """
    stands_for = {} if closed else _pairs(right, answer)
    group_of = {item: place for place, group in enumerate(answer) for item in group["items"]}
    found: dict[str, list[CardFeedback]] = {name: [] for name in right.values()}
    for card, name in right.items():
        place = group_of.get(card)
        with_it = {item for item in answer[place]["items"] if item in right} if place is not None else {card}
        missed = tuple(item for item, other in right.items() if other == name and item not in with_it)
        intruders = tuple(item for item in right if item in with_it and right[item] != name)
        given = answer[place]["name"] if place is not None and closed else None
        fine = given == name if closed else place is not None and stands_for.get(place) == name
        found[name].append(CardFeedback(card, fine, missed, intruders, given))
    return tuple(GroupFeedback(name, tuple(cards)) for name, cards in found.items())


def _pairs(right: Mapping[int, str], answer: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the right group for which each group of an answer stands, at most one each, of those that share cards."""
    names = list(dict.fromkeys(right.values()))
    shared = np.array([[sum(right.get(item) == name for item in group["items"]) for name in names] for group in answer])
    if not len(answer):
        return {}
    return {int(row): names[column] for row, column in zip(*linear_sum_assignment(-shared)) if shared[row, column]}
