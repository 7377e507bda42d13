"""Practice, admission and gold: sorts whose right answer is known, as settings of a study.

Their cards are cards of the study, by name, or others that appear in no result. Nothing of it enters the consensus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from random import Random
from typing import Any

from consilience.collect.settings.kinds import Number, Whole
from consilience.collect.settings.study_kinds import number_pair, right_answers
from consilience.errors import InputError

PRACTICE, ADMISSION, GOLD = "practice", "admission", "gold"
ROLES = (PRACTICE, ADMISSION, GOLD)  # and the sources of their assignments
APART = (*ROLES, "repeat")  # sources that stay out of the consensus
MOST_ADMISSION_SORTS = 5
MOST_GOLD_SORTS = 20
LEAST_CARDS, MOST_CARDS = 3, 60  # of one sort


@dataclass(frozen=True)
class RightCard:
    """A card of which it is known where it belongs.

    name : that of a card of the study, which is then shown as it is there; or of another card.
    group : where it belongs: in a closed sort one of the categories, else any name.
    text : what another card says; by default its name.
    picture : hash of a picture of the study, for another card.
    alt : the picture in words.
    """

    name: str
    group: str
    text: str = ""
    picture: str | None = None
    alt: str = ""


@dataclass(frozen=True)
class RightSort:
    """Cards to sort, each with the group in which it belongs."""

    cards: tuple[RightCard, ...]

    @property
    def labels(self) -> list[str]:
        """The right group of each card."""
        return [card.group for card in self.cards]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cards of the right groups, the largest first."""
        return tuple(sorted((self.labels.count(name) for name in dict.fromkeys(self.labels)), reverse=True))

    def choose_pairs(self, size: int) -> list[tuple[int, int]]:
        """Return the places of the cards of so many pairs, half of which are of one group, as far as there are."""
        pairs = list(combinations(range(len(self.cards)), 2))
        Random(0).shuffle(pairs)
        same = [(one, other) for one, other in pairs if self.labels[one] == self.labels[other]]
        different = [pair for pair in pairs if pair not in same]
        n_same = min(len(same), max(size // 2, size - len(different)))
        return [*same[:n_same], *different[: size - n_same]]

    def about_pairs(self, size: int) -> RightSort:
        """Return the questions about such pairs as cards, whose groups are the answers."""
        pairs = self.choose_pairs(size)
        found = right_answers(dict(enumerate(self.labels)), [number_pair(*pair) for pair in pairs])
        return RightSort(tuple(RightCard(str(number), answer) for number, answer in found.items()))

    @classmethod
    def of_groups(cls, groups: Mapping[str, Any]) -> RightSort:
        """Return a sort from the names of the cards of each group.

        Examples
        --------
        >>> RightSort.of_groups({"Birds": ["owl", "robin"], "Fish": ["trout"]}).sizes
        (2, 1)
        """
        return cls(tuple(RightCard(name, group) for group, names in groups.items() for name in names))


@dataclass(frozen=True)
class Training:
    """What people do besides the sorts that count; beside what is declared:

    practice : sorted first; then the right answer is shown.
    admission : up to five, sorted before the first sort that counts; their right answers are not shown.
    gold : mixed in among the ordinary subsets, each at most once a person.
    """

    practice: RightSort | None = None
    admission: tuple[RightSort, ...] = ()
    mark: int | float = Number(  # the adjusted Rand index, or Cohen's kappa in a closed sort
        "Mean score that the admission needs.", option="pass-mark", is_share=False
    ).default(0.6)
    tries: int = Whole("How often the admission may be tried.", most=10, may_be_none=False).default(2)
    gold: tuple[RightSort, ...] = field(default=())
    gold_share: int | float = Number("Share of gold among what a person sorts.", most=0.5).default(0.1)

    def sorts(self, role: str) -> tuple[RightSort, ...]:
        """Return the sorts of a role: "practice", "admission" or "gold"."""
        if role == PRACTICE:
            return () if self.practice is None else (self.practice,)
        return self.admission if role == ADMISSION else self.gold

    def as_json(self) -> dict[str, Any]:
        """Return the training as JSON values."""
        return {
            **{"mark": self.mark, "tries": self.tries, "gold_share": self.gold_share},
            "practice": None if self.practice is None else _cards_of(self.practice),
            "admission": [_cards_of(sort) for sort in self.admission],
            "gold": [_cards_of(sort) for sort in self.gold],
        }

    @classmethod
    def of_json(cls, values: Any) -> Training:
        """Return the training that `as_json` wrote; what is left out has its default.

        Raises InputError: a value is of the wrong kind, or a key is unknown.
        """
        names = ("practice", "admission", "mark", "tries", "gold", "gold_share")
        if not isinstance(values, Mapping) or not set(values) <= set(names):
            raise InputError(f"'training' must be an object with the keys {', '.join(names)}; each may be left out.")
        found = dict(values)
        for role in (ADMISSION, GOLD):
            sorts = found.get(role, [])
            if not isinstance(sorts, list):
                raise InputError(f"{role!r} of the training must be a list of sorts, each a list of cards.")
            found[role] = tuple(_sort_of(sort, role) for sort in sorts)
        if found.get(PRACTICE) is not None:
            found[PRACTICE] = _sort_of(found[PRACTICE], PRACTICE)
        return cls(**found)


def _cards_of(sort: RightSort) -> list[dict[str, Any]]:
    return [asdict(card) for card in sort.cards]


def _sort_of(cards: Any, role: str) -> RightSort:
    fine = isinstance(cards, list) and all(
        isinstance(card, Mapping) and {"name", "group"} <= set(card) <= {"name", "group", "text", "picture", "alt"}
        for card in cards
    )
    if not fine:
        raise InputError(
            f"A sort of the {role} must be a list of cards, each with a name and a group; text, picture and alt may "
            "be left out."
        )
    return RightSort(tuple(RightCard(**card) for card in cards))
