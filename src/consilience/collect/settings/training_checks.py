"""Whether a study can have its training: practice, admission and gold whose right answers mean something."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from consilience.collect.settings.checks import LONGEST_NAME, LONGEST_TEXT
from consilience.collect.settings.cleaning import clean_text
from consilience.collect.settings.kinds import checked_fields, declared_in
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.settings.study_kinds import ASKED, kind_of_answers
from consilience.collect.settings.training import (
    ADMISSION,
    GOLD,
    LEAST_CARDS,
    MOST_ADMISSION_SORTS,
    MOST_CARDS,
    MOST_GOLD_SORTS,
    PRACTICE,
    ROLES,
    RightCard,
    RightSort,
    Training,
)
from consilience.errors import InputError

CALLED = {PRACTICE: "The practice", ADMISSION: "Admission", GOLD: "Gold"}
NEEDED = {
    "groupings": ("at least two groups, one of them of two cards or more", "no score says much"),
    "labels": ("cards of at least two {classes}", "one answer is right throughout"),
    "pairs": ("two cards that are the same, and one that differs", "one answer is right throughout"),
}


def with_checked_training(
    settings: StudySettings, kind: str, items: Sequence[Item], pictures: Container[str]
) -> StudySettings:
    """Return settings with their training checked and its texts cleaned.

    Raises InputError: a number is out of its bounds, or a sort cannot be scored.

    kind : {"open", "closed", "hybrid", "labels", "pairs"}
    items : those of the study.
    pictures : hashes of the pictures that the study holds.
    """
    training = settings.training
    if not isinstance(training, Training):
        raise InputError(f"'training' must be a Training. Got {training!r:.60}.")
    numbers = checked_fields(training, {name: f"{name!r} of the training" for name in declared_in(training)})
    for role, most in ((ADMISSION, MOST_ADMISSION_SORTS), (GOLD, MOST_GOLD_SORTS)):
        if len(training.sorts(role)) > most:
            raise InputError(f"There can be at most {most} {role} {_call(kind)}s. Got {len(training.sorts(role))}.")
    names = {item.name for item in items}
    found = {
        role: [
            _checked_sort(sort, _name_round(role, place, kind), names, pictures)
            for place, sort in enumerate(training.sorts(role), 1)
        ]
        for role in ROLES
    }
    checked = replace(
        training,
        practice=next(iter(found[PRACTICE]), None),
        admission=tuple(found[ADMISSION]),
        gold=tuple(found[GOLD]),
        **numbers,
    )
    for role in ROLES:
        for place, sort in enumerate(checked.sorts(role), 1):
            _require_answers(sort, _name_round(role, place, kind), kind, settings)
            _require_sizes(sort, _name_round(role, place, kind), settings)
    return replace(settings, training=checked)


def needed_of(kind: str) -> str:
    """Return what a sort whose right answer is known needs in a study of a kind, for a sentence."""
    return NEEDED[kind_of_answers(kind)][0].format(classes="classes" if kind in ASKED else "categories")


def _call(kind: str) -> str:
    return "set" if kind in ASKED else "sort"


def _name_round(role: str, place: int, kind: str) -> str:
    return f"{CALLED[role]} {_call(kind)}" if role == PRACTICE else f"{CALLED[role]} {_call(kind)} {place}"


def _checked_sort(sort: RightSort, called: str, names: Container[str], pictures: Container[str]) -> RightSort:
    cards = tuple(
        _checked_card(card, f"card {n} of {called[0].lower()}{called[1:]}", names)
        for n, card in enumerate(sort.cards, 1)
    )
    if not LEAST_CARDS <= len(cards) <= MOST_CARDS:
        raise InputError(f"{called} must have from {LEAST_CARDS} to {MOST_CARDS} cards. Got {len(cards)}.")
    seen = [card.name for card in cards]
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{called} holds the card {twice!r} twice.")
    for card in cards:
        if card.picture is not None and card.picture not in pictures:
            raise InputError(
                f"The picture of the card {card.name!r} of {called[0].lower()}{called[1:]} is not in the study."
            )
    return RightSort(cards)


def _require_answers(sort: RightSort, called: str, kind: str, settings: StudySettings) -> None:
    """Refuse a sort whose right answers nobody could give, or whose score would say nothing."""
    answers = kind_of_answers(kind)
    for card in sort.cards:
        if answers == "labels" and card.group not in settings.categories:
            word = "class" if kind in ASKED else "category"
            raise InputError(f"{called} puts {card.name!r} into {card.group!r}, which is no {word} of the study.")
    if len(sort.sizes) < 2 or (answers != "labels" and sort.sizes[0] < 2):
        raise InputError(f"{called} needs {needed_of(kind)}: else {NEEDED[answers][1]}.")


def _require_sizes(sort: RightSort, called: str, settings: StudySettings) -> None:
    """Refuse a sort whose right groups nobody could hand in."""
    least, most = settings.least_in_group, settings.most_in_group
    if (least is not None and sort.sizes[-1] < least) or (most is not None and sort.sizes[0] > most):
        raise InputError(f"{called} has a right group of fewer or more cards than a group may have.")


def _checked_card(card: RightCard, where: str, names: Container[str]) -> RightCard:
    name = clean_text(card.name, f"The name of {where}", LONGEST_NAME, one_line=True)
    group = clean_text(card.group, f"The group of {where}", LONGEST_NAME, one_line=True)
    if not name or not group:
        raise InputError(f"{where[0].upper()}{where[1:]} needs a name and the group in which it belongs.")
    if name in names:  # shown as it is in the study
        return RightCard(name, group)
    text = clean_text(card.text, f"The text of {where}", LONGEST_TEXT)
    alt = clean_text(card.alt, f"The alternative text of {where}", LONGEST_TEXT, one_line=True)
    shown = text or ("" if card.picture else name)
    return RightCard(name, group, shown, card.picture, alt or shown)
