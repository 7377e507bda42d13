"""The answers of people who are asked one question after the other, as a table: labels of cards, or pairs of cards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from consilience.collect.settings.model import Item
from consilience.collect.settings.study_kinds import PAIRS, SAME, cards_of
from consilience.collect.settings.training import ROLES
from consilience.collect.store.database import Database
from consilience.collect.store.people_table import seconds_between
from consilience.collect.store.results import Submitted, changes_in, parameters_in, submitted_in
from consilience.collect.store.studies import items_in, study_in
from consilience.errors import InputError

OF_LABELS, OF_PAIRS = ("item", "annotator", "label"), ("item_a", "item_b", "annotator", "same")
REST = ("set", "place", "source", "answered", "seconds", "preview", "excluded")


class AnswersTable(Database):
    """What the store tells of answers to questions as a table."""

    def asked_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return the answers that were handed in as a long table, a row an answer, in the order of the questions.

        Columns are `item`, `annotator` and `label`, or `item_a`, `item_b`, `annotator` and `same`; the last is missing
        where somebody could not say. `set` is the number of the set, `place` that of the question in it; `source` says
        why the person got this set; `answered` when the answer was given, or changed last; `seconds` how long the
        question was before them, from the answer before it. `text` is what the card says, `text_a` and `text_b` what
        two cards say. Previews, repetitions and people who are left out are in it, and columns say which they are;
        training is not. `labels_categories` lists the classes. Parameters of addresses are columns ``parameter:NAME``.

        Parameters
        ----------
        study_id : str
        identifiers : bool, default=True
            Whether names and stored parameters are in it; else people have their ids.

        Returns
        -------
        DataFrame

        Raises
        ------
        InputError
            People sort cards in this study, or judge clusters.
        """
        with self.read() as db:
            study = study_in(db, study_id)
            if not study.is_asked:
                raise InputError("Nobody is asked for labels or about pairs in this study.")
            items = items_in(db, study_id)
            rows = [one for one in submitted_in(db, study_id) if one.source not in ROLES]
            times = _times_in(db, study_id)
        stored = parameters_in(study, rows) if identifiers else []
        values = [
            (*about, *(one.parameters.get(name) for name in stored))
            for one in rows
            for about in _answers(one, items, times.get(one.assignment, ()), identifiers)
        ]
        of_pairs = study.kind == PAIRS
        texts = ("text_a", "text_b") if of_pairs else ("text",)
        columns = [*(OF_PAIRS if of_pairs else OF_LABELS), *REST, *texts, *(f"parameter:{name}" for name in stored)]
        frame = pd.DataFrame(values, columns=columns)
        frame["answered"] = pd.to_datetime(frame["answered"], utc=True)
        if not of_pairs:  # `read_annotations` knows this column
            frame["labels_categories"] = json.dumps(list(study.classes), ensure_ascii=False)
        types: dict[str, Any] = {"set": "int64", "place": "int64", "seconds": float, "preview": bool, "excluded": bool}
        return frame.astype(types | ({"same": "boolean"} if of_pairs else {}))


def _times_in(db: Connection, study_id: str) -> dict[int, list[tuple[datetime, Mapping[str, Any]]]]:
    """Return what was answered in each assignment of a study, and when."""
    found: dict[int, list[tuple[datetime, Mapping[str, Any]]]] = {}
    for assignment, received, change in changes_in(db, study_id):
        found.setdefault(assignment, []).append((received, change))
    return found


def _answers(
    one: Submitted, items: Sequence[Item], times: Iterable[tuple[datetime, Mapping[str, Any]]], identifiers: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an assignment."""
    said = {number: group["name"] for group in one.groups for number in group["items"]}
    answered, seconds, before = dict[int, datetime](), dict[int, float | None](), one.assigned
    for moment, change in times:
        for number in change.get("items", ()):
            seconds.setdefault(number, seconds_between(before, moment))
            answered[number] = moment
        before = moment
    who = one.annotator if identifiers else one.participant
    for place, number in enumerate(one.items, 1):
        cards = [items[card] for card in cards_of(number)]
        answer: Any = said.get(number)
        if len(cards) == 2 and answer is not None:
            answer = answer == SAME
        rest = (one.assignment, place, one.source, answered.get(number), seconds.get(number), one.preview, one.excluded)
        yield (*(card.name for card in cards), who, answer, *rest, *(card.text for card in cards))
