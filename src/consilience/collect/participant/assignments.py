"""What is shown of an assignment: its board, or one question after the other."""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from typing import Any

from fastapi import Response

from consilience.collect.participant import pages
from consilience.collect.participant.visit import Visit
from consilience.collect.settings.model import Assignment, Item, Study
from consilience.collect.settings.study_kinds import PAIRS, SAMENESS, UNSURE, cards_of
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE
from consilience.collect.store.standing import gold_plan
from consilience.collect.wording.wording import Wording

MOST_KEYS = 9  # answers that a key gives
DIGITS = frozenset("0123456789")


def show_assignment(visit: Visit, assignment: Assignment) -> Response:
    """Return the board of an assignment, or the question of it that is next."""
    if visit.study.is_asked:
        return visit.render("ask", question_of(visit, assignment))
    return visit.render("board", board_of(visit, assignment))


def board_of(visit: Visit, assignment: Assignment) -> dict[str, Any]:
    """Return what the board of an assignment is given."""
    study = visit.study
    cards = [card_of(visit, item) for item in visit.store.cards(assignment).values()]
    number, total = place_of(visit, assignment)
    return pages.board_context(
        study,
        cards,
        visit.store.board_state(assignment.id).as_json(),
        number=number,
        total=total,
        stage=assignment.source if assignment.source in (PRACTICE, ADMISSION) else "",
        instructions=visit.instructions,
        **visit.page,
    )


def card_of(visit: Visit, item: Item) -> pages.PageCard:
    """Return a card as pages show it."""
    study, own, language = visit.study, visit.wording.own, visit.wording.foreign_language(item.text)
    place = f"/pictures/{study.id}/{item.picture}" if item.picture else None
    required = item.name in study.settings.required_cards
    small = f"{place}/small" if place else None
    return pages.PageCard(
        item.number, own(item.text), place, small, own(item.alt), own(item.description), required, language
    )


def question_of(visit: Visit, assignment: Assignment) -> dict[str, Any]:
    """Return what the page of a question is given, or the page on which the set is handed in."""
    study, page = visit.study, pages.page_context(visit.study, **visit.page)
    number, total = place_of(visit, assignment)
    groups, cards = visit.store.board_state(assignment.id).groups, visit.store.cards(assignment)
    answers = {number: group.id for group in groups for number in group.items}
    place = _place_asked(visit, assignment, answers)
    shown = [card_of(visit, cards[card]) for card in _order_cards(assignment, place)]
    said = answers.get(assignment.items[place - 1]) if shown else None
    return {
        **page,
        "cards": [(card, pages.label_of(card, at, page["t"])) for at, card in enumerate(shown, 1)],
        "choices": [choice | {"is_given": choice["group"] == said} for choice in _list_choices(study, page["t"])],
        "is_unsure": said == UNSURE,
        "unsure_key": "?" if "0" in study.classes else "0",
        "assignment": assignment.id,
        "asked": assignment.items[place - 1] if shown else None,
        "place": place,
        "n_questions": len(assignment.items),
        "number": number,
        "total": total,
        "stage": assignment.source if assignment.source in (PRACTICE, ADMISSION) else "",
        "instructions": visit.instructions,
    }


def _place_asked(visit: Visit, assignment: Assignment, answers: Container[int]) -> int:
    """Return which question is shown, from 1: that to which somebody went back, else the first without an answer.

    One more than there are is the page on which the set is handed in.
    """
    wanted = visit.request.query_params.get("question", "")
    first = next((at for at, one in enumerate(assignment.items, 1) if one not in answers), len(assignment.items) + 1)
    back = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 6 else first
    return back if 1 <= back < first else first


def _order_cards(assignment: Assignment, place: int) -> tuple[int, ...]:
    """Return the cards of a question, a pair in one of both orders by chance; none on the last page."""
    if place > len(assignment.items):
        return ()
    cards = cards_of(assignment.items[place - 1])
    return cards[::-1] if zlib.crc32(f"{assignment.id} {place}".encode()) % 2 else cards


def _list_choices(study: Study, texts: Wording) -> list[dict[str, str]]:
    """Return the answers, each with the keys that give it, as far as there are."""
    if study.kind == PAIRS:
        keys = zip(SAMENESS, ("s", "d"), strict=True)
        return [
            {"group": f"c{at}", "title": texts[name], "said": name, "key": key.upper(), "keys": f"{key} {at}"}
            for at, (name, key) in enumerate(keys, 1)
        ]
    return [
        {"group": f"c{at}", "title": texts.own(name), "said": name, "key": key, "keys": key}
        for at, (name, key) in enumerate(zip(study.classes, _keys_of(study.classes), strict=True), 1)
    ]


def _keys_of(classes: Sequence[str]) -> list[str]:
    """Return the key of each class: the number of its place, or, where digits are classes, the digit that it is."""
    if DIGITS.intersection(classes):
        return [name if name in DIGITS else "" for name in classes]
    return [str(at) if at <= MOST_KEYS else "" for at in range(1, len(classes) + 1)]


def place_of(visit: Visit, assignment: Assignment | None) -> tuple[int, int]:
    """Return which set this is for the participant, and how many there are; gold is counted like any other.

    assignment : None for the set that comes after those that were given.
    """
    mine = [one for one in visit.assignments if one.number > 0 or one.source == GOLD]
    number = 1 + sum(assignment is None or one.id < assignment.id for one in mine)
    planned = len(gold_plan(visit.study, visit.participant.id))
    return number, max(visit.study.settings.per_participant + planned, number)
