"""What was collected: groupings, labels and the long table of a study, and groupings that are brought along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from consilience.annotations import Groupings, Labels, Pairs
from consilience.collect.settings.model import CLOSED, HYBRID, Item, Study
from consilience.collect.settings.study_kinds import PAIRS, SAME, cards_of
from consilience.collect.settings.training import APART, ROLES
from consilience.collect.store import tables
from consilience.collect.store.database import Database
from consilience.collect.store.people_table import seconds_between
from consilience.collect.store.studies import items_in, study_in
from consilience.errors import InputError

COLUMNS = [
    *("item", "annotator", "grouping", "group", "group_name", "source"),
    *("assigned", "started", "submitted", "seconds", "preview", "excluded", "text"),
]

MOVES = ["annotator", "grouping", "move", "moved", "item", "group_id", "group", "source", "preview", "excluded"]


@dataclass(frozen=True)
class Submitted:
    """A submitted assignment.

    annotator : what results call the participant: the name under which they were imported, else the id.
    groups : list of dict; those that hold items: id, name, items.
    assigned, started, submitted : datetime, or None
    """

    assignment: int
    participant: str
    annotator: str
    items: tuple[int, ...]
    groups: list[dict[str, Any]]
    source: str
    preview: bool
    excluded: bool
    assigned: datetime
    started: datetime | None
    submitted: datetime
    parameters: Mapping[str, str]

    @property
    def counts(self) -> bool:
        """Whether it is part of the consensus: not a preview, not left out, no repetition and no training."""
        return not (self.preview or self.excluded or self.source in APART)


class Results(Database):
    """What the store knows of answers."""

    def submitted(self, study_id: str, *, after: int = 0) -> list[Submitted]:
        """Return all submitted assignments of a study, previews, repetitions and people left out included.

        Parameters
        ----------
        study_id : str
        after : int, default=0
            Only those with a larger id.
        """
        with self.read() as db:
            study_in(db, study_id)
            return submitted_in(db, study_id, after)

    def groupings(self, study_id: str, include_preview: bool = False) -> Groupings:
        """Return what participants put together, without repetitions and without people who are left out.

        Groups have the names that participants gave them, or numbers if they have none; the groupings are named by
        the ids of the assignments.

        Parameters
        ----------
        study_id : str
        include_preview : bool, default=False

        Returns
        -------
        Groupings

        Raises
        ------
        InputError
            Nothing was submitted yet.
        """
        rows, names = self._rows(study_id, include_preview)
        return groupings_of(rows, names)

    def labels(self, study_id: str, include_preview: bool = False) -> Labels:
        """Return the categories that participants gave to items, in a closed sort or one card after the other.

        Raises
        ------
        InputError
            The study gives no labels, or nothing was submitted yet.
        """
        study = self._study_of(study_id)
        if not study.gives_labels:
            raise InputError(
                f"A study of the kind {study.kind!r} gives no labels, but {'pairs' if study.is_asked else 'groupings'}."
            )
        rows, names = self._rows(study_id, include_preview)
        return labels_of(study, rows, names)

    def pairs(self, study_id: str, include_preview: bool = False) -> Pairs:
        """Return what participants said of pairs.

        Parameters
        ----------
        study_id : str
        include_preview : bool, default=False

        Returns
        -------
        Pairs

        Raises
        ------
        InputError
            The study does not ask about pairs, or nothing was submitted yet.
        """
        if self._study_of(study_id).kind != PAIRS:
            raise InputError("Nobody is asked about pairs in this study.")
        rows, names = self._rows(study_id, include_preview)
        return pairs_of(rows, names)

    def export_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return everything that was submitted as a long table, a row for each card presented.

        Previews, repetitions and people who are left out are in it, and columns say which they are; training is not,
        since its cards need not be items: see `consistency`. A card that was left unsorted has no group. In closed and
        hybrid sorts, a column ``closed_categories`` or ``hybrid_categories`` lists the groups given. `text` is what
        the card says, and `seconds` how long the sort took from its first change to its submission. Parameters of
        addresses are columns named ``parameter:NAME``.

        Parameters
        ----------
        study_id : str
        identifiers : bool, default=True
            Whether names and stored parameters are in it; else people have their ids.

        Returns
        -------
        DataFrame
        """
        with self.read() as db:
            study = study_in(db, study_id)
            items = items_in(db, study_id)
            rows = [one for one in submitted_in(db, study_id) if one.source not in ROLES]
        if not identifiers:
            rows = [replace(one, annotator=one.participant, parameters={}) for one in rows]
        stored = parameters_in(study, rows) if identifiers else []
        frame = pd.DataFrame(
            [values for one in rows for values in _cards(one, items, stored)],
            columns=[*COLUMNS, *(f"parameter:{name}" for name in stored)],
        )
        if study.kind in (CLOSED, HYBRID):  # `read_annotations` knows these columns
            frame[f"{study.kind}_categories"] = json.dumps(list(study.settings.categories), ensure_ascii=False)
        for name in ("assigned", "started", "submitted"):
            frame[name] = pd.to_datetime(frame[name], utc=True)
        return frame.astype({"preview": bool, "excluded": bool, "grouping": "int64", "seconds": float})

    def moves_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return how cards were moved in what was submitted, a row for each card of each move.

        Columns are `annotator`, `grouping`, `source`, `preview` and `excluded` as in `export_frame`; `move`, the number
        of the move within the grouping; `moved`, when the server heard of it; `item`; `group_id`, which stays the same
        within the grouping, and is missing where the card was taken out; and `group`, what `export_frame` calls that
        group, missing if it was empty in the end.

        Parameters
        ----------
        study_id : str
        identifiers : bool, default=True
            Whether people have the names under which they were imported; else they have their ids.

        Returns
        -------
        DataFrame
        """
        with self.read() as db:
            study_in(db, study_id)
            items = items_in(db, study_id)
            sorts = {one.assignment: one for one in submitted_in(db, study_id) if one.source not in ROLES}
            changes = changes_in(db, study_id)
        rows: list[tuple[Any, ...]] = []
        count = dict.fromkeys(sorts, 0)
        for assignment, received, change in changes:
            if assignment not in sorts or change["kind"] != "move":
                continue
            count[assignment] += 1
            one = sorts[assignment]
            names = dict(zip((group["id"] for group in one.groups), distinct_names(one.groups), strict=True))
            who = one.annotator if identifiers else one.participant
            rest = (change["group"], names.get(change["group"]), one.source, one.preview, one.excluded)
            rows += [
                (who, assignment, count[assignment], received, items[item].name, *rest) for item in change["items"]
            ]
        frame = pd.DataFrame(rows, columns=MOVES)
        frame["moved"] = pd.to_datetime(frame["moved"], utc=True)
        return frame.astype({"grouping": "int64", "move": "int64", "preview": bool, "excluded": bool})

    def _study_of(self, study_id: str) -> Study:
        with self.read() as db:
            return study_in(db, study_id)

    def _rows(self, study_id: str, include_preview: bool) -> tuple[list[Submitted], list[str]]:
        """Return what counts, and the names of the items. Raises InputError: there is nothing yet."""
        with self.read() as db:
            study_in(db, study_id)
            names = [item.name for item in items_in(db, study_id)]
            rows = submitted_in(db, study_id)
        rows = [one for one in rows if one.counts or (include_preview and one.preview and one.source not in APART)]
        if not rows:
            raise InputError("Nothing was submitted in this study yet.")
        return rows, names


def groupings_of(rows: Iterable[Submitted], names: Sequence[str]) -> Groupings:
    """Return answers as groupings of the items of these names, which are in the order of their numbers."""
    frame = pd.DataFrame(
        [
            (names[item], one.annotator, one.assignment, label)
            for one in rows
            for label, group in zip(distinct_names(one.groups), one.groups, strict=True)
            for item in group["items"]
        ],
        columns=["item", "annotator", "grouping", "group"],
    )
    return Groupings.from_frame(frame, items=names, missing=[])


def labels_of(study: Study, rows: Iterable[Submitted], names: Sequence[str]) -> Labels:
    """Return the answers of a closed sort, or of people asked for labels, as labels of the items of these names."""
    frame = pd.DataFrame(
        [
            (names[item], one.annotator, group["name"])
            for one in rows
            for group in one.groups
            for item in group["items"]
        ],
        columns=["item", "annotator", "label"],
    )
    return Labels.from_frame(frame, items=names, classes=list(study.classes), missing=[])


def pairs_of(rows: Iterable[Submitted], names: Sequence[str]) -> Pairs:
    """Return the answers of people who were asked about pairs of the items of these names."""
    frame = pd.DataFrame(
        [
            (*(names[card] for card in cards_of(number)), one.annotator, group["name"] == SAME)
            for one in rows
            for group in one.groups
            for number in group["items"]
        ],
        columns=["item_a", "item_b", "annotator", "same"],
    )
    return Pairs.from_frame(frame, items=names)


def distinct_names(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each group of one grouping: its own, with a number if another has the same, or a number."""
    found: list[str] = []
    for number, group in enumerate(groups, 1):
        name = group["name"] or str(number)
        free, count = name, 2
        while free in found:
            free, count = f"{name} ({count})", count + 1
        found.append(free)
    return found


def submitted_in(db: Connection, study_id: str, after: int = 0) -> list[Submitted]:
    work, people = tables.assignments.c, tables.participants.c
    query = (
        select(
            *(work.id, work.participant, people.name, work["items"], work.answer, work.source),
            *(people.preview, people.excluded, work.assigned, work.started, work.submitted, people.parameters),
        )
        .select_from(tables.assignments.join(tables.participants, people.id == work.participant))
        .where(work.study == study_id, work.state == "submitted", work.id > after)
        .order_by(work.id)
    )
    return [
        Submitted(number, person, name or person, tuple(items), list(groups), *rest)
        for number, person, name, items, groups, *rest in db.execute(query)
    ]


def changes_in(db: Connection, study_id: str) -> Sequence[Any]:
    """Return the changes in a study: the number of the assignment, when the server heard of it, and the change."""
    columns, work = tables.changes.c, tables.assignments.c
    query = (
        select(columns.assignment, columns.received, columns.change)
        .select_from(tables.changes.join(tables.assignments, work.id == columns.assignment))
        .where(work.study == study_id)
        .order_by(columns.assignment, columns.number)
    )
    return db.execute(query).all()


def parameters_in(study: Study, rows: Iterable[Submitted]) -> list[str]:
    """Return the parameters that are stored now, and those that were earlier."""
    return list(dict.fromkeys([*study.settings.parameters, *(name for one in rows for name in one.parameters)]))


def _cards(one: Submitted, items: Sequence[Item], stored: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Return the rows of the long table for one answer, in the order in which the cards were presented."""
    group_of = {
        item: (label, group["name"] or None)
        for label, group in zip(distinct_names(one.groups), one.groups, strict=True)
        for item in group["items"]
    }
    times = (one.assigned, one.started, one.submitted, seconds_between(one.started, one.submitted))
    rest = (one.source, *times, one.preview, one.excluded)
    parameters = [one.parameters.get(name) for name in stored]
    for item in one.items:
        label, name = group_of.get(item, (None, None))
        yield (items[item].name, one.annotator, one.assignment, label, name, *rest, items[item].text, *parameters)
