"""Kinds of studies: what people are shown, and what they answer.

People sort cards on a board (open, closed, hybrid), or are asked one question after the other: which class a card is of
(labels), or whether two cards are the same (pairs). Where they are asked, a set of questions is given, saved and handed
in as a sort is: the number of a question stands where that of a card does, and each class is a category. A pair has a
number of its own, which no card has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from consilience.collect.settings.kinds import Choice

OPEN, CLOSED, HYBRID, LABELS, PAIRS = "open", "closed", "hybrid", "labels", "pairs"
KINDS = (OPEN, CLOSED, HYBRID, LABELS, PAIRS)
ASKED = (LABELS, PAIRS)  # one question after the other, without a board
FIXED = (CLOSED, *ASKED)  # people make no groups of their own
JUDGING = "judging"  # the kind of a study in which people who did not sort judge clusters
QUESTIONS = "questions"  # what a study in which people are asked has in place of a board
SAMENESS = SAME, DIFFERENT = "same", "different"  # answers about a pair
UNSURE = "c0"  # the group of the questions to which somebody cannot say the answer
USUAL_SET = 10  # questions of a set, by default
MOST_CLASSES = 50
FIRST_PAIR = 10_000  # above the numbers of all cards

KIND = Choice(
    "Whether people make their own groups, use the categories, or both; or are asked for labels, or about pairs.",
    words={
        OPEN: "Open: people make their own groups",
        CLOSED: "Closed: people use your groups only",
        HYBRID: "Hybrid: your groups, and more if they like",
        LABELS: "Labels: one card at a time, and your classes as buttons",
        PAIRS: "Same or different: two cards at a time",
    },
    hints={
        CLOSED: "Gives labels instead of groupings.",
        LABELS: "The cards that are least certain come next.",
        PAIRS: "The pairs that are least certain come next.",
    },
)
BOARD = Choice(
    "Cards that are moved into groups, or pictures that are marked where they are.",
    words={
        "piles": "Piles: cards are moved into groups",
        "sheet": "Sheet: pictures stay where they are, and are marked",
    },
    hints={"piles": "Suits text, and any number of cards.", "sheet": "Suits 20 to 40 pictures."},
)


def board_of_kind(kind: str, board: str) -> str:
    """Return the board that a study of a kind has: that which is asked for, unless people are asked questions."""
    return QUESTIONS if kind in ASKED else board


def kind_of_answers(kind: str) -> str:
    """Return as which kind of annotations the answers are read, by the kind of the study."""
    return "pairs" if kind == PAIRS else "labels" if kind in (CLOSED, LABELS) else "groupings"


def number_pair(one: int, other: int) -> int:
    """Return the number of a pair of cards.

    Examples
    --------
    >>> number_pair(7, 3), list_cards([number_pair(7, 3), 5])
    (40007, [3, 7, 5])
    """
    first, second = sorted((one, other))
    return (first + 1) * FIRST_PAIR + second


def list_cards(numbers: Iterable[int]) -> list[int]:
    """Return the cards that questions are about, in order: of a pair both, of any other number the card itself."""
    return [card for number in numbers for card in cards_of(number)]


def cards_of(number: int) -> tuple[int, ...]:
    """Return the card, or the two cards, of a question."""
    return (number,) if number < FIRST_PAIR else (number // FIRST_PAIR - 1, number % FIRST_PAIR)


def count_questions(kind: str, n_items: int) -> int:
    """Return how many questions there are about so many cards; the number of cards where people sort them."""
    return n_items * (n_items - 1) // 2 if kind == PAIRS else n_items


def size_of_sets(kind: str, size: int | None, n_items: int) -> int:
    """Return how many items, or questions, an assignment has where ``size`` is set, or nothing."""
    most = count_questions(kind, n_items)
    usual = min(USUAL_SET, most) if kind in ASKED else most
    return usual if size is None else min(size, most)


def right_answers(groups: Mapping[int, str], numbers: Iterable[int]) -> dict[int, str]:
    """Return the right answer to each question: whether two cards are of one group, or else the group of each card.

    groups : by the number of the card.
    """
    pairs = {number: {groups[card] for card in cards_of(number)} for number in numbers if number >= FIRST_PAIR}
    return {number: SAME if len(names) == 1 else DIFFERENT for number, names in pairs.items()} or dict(groups)
