"""What was collected: groupings, labels and the long table of a study, and groupings that are brought along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, insert, select

from consilience.annotations import Groupings, Labels
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import line, without_apostrophe
from consilience.collect.settings.model import CLOSED, HYBRID, JUDGING, Item, Participant, Study
from consilience.collect.settings.training import APART, ROLES
from consilience.collect.store import board_state, tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.people_table import seconds_between
from consilience.collect.store.requests import request
from consilience.collect.store.secret import new_id
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
            return _submitted_in(db, study_id, after)

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
        if not rows:
            raise InputError("Nothing was submitted in this study yet.")
        return groupings_of(rows, names)

    def labels(self, study_id: str, include_preview: bool = False) -> Labels:
        """Return the categories that participants gave to items in a closed sort.

        Raises
        ------
        InputError
            The study is no closed sort, or nothing was submitted yet.
        """
        study = self._study_of(study_id)
        if study.kind != CLOSED:
            raise InputError("Only a closed sort gives labels; this study gives groupings.")
        rows, names = self._rows(study_id, include_preview)
        if not rows:
            raise InputError("Nothing was submitted in this study yet.")
        return labels_of(study, rows, names)

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
            rows = [one for one in _submitted_in(db, study_id) if one.source not in ROLES]
        if not identifiers:
            rows = [replace(one, annotator=one.participant, parameters={}) for one in rows]
        stored = _parameters_of(study, rows) if identifiers else []
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
        columns = tables.changes.c
        with self.read() as db:
            study_in(db, study_id)
            items = items_in(db, study_id)
            sorts = {one.assignment: one for one in _submitted_in(db, study_id) if one.source not in ROLES}
            query = (
                select(columns.assignment, columns.change, columns.received)
                .select_from(tables.changes.join(tables.assignments, tables.assignments.c.id == columns.assignment))
                .where(tables.assignments.c.study == study_id)
                .order_by(columns.assignment, columns.number)
            )
            changes = db.execute(query).all()
        rows: list[tuple[Any, ...]] = []
        count = dict.fromkeys(sorts, 0)
        for assignment, change, received in changes:
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

    def import_groupings(self, study_id: str, annotations: Groupings | Labels) -> int:
        """Take in groupings that were collected elsewhere; their items must be those of the study.

        Parameters
        ----------
        study_id : str
        annotations : Groupings or Labels
            Labels for a closed sort, and their names must be its categories; groupings for others.

        Returns
        -------
        int
            Number of groupings taken in.

        Raises
        ------
        InputError
            An item or a label is unknown, an annotator was imported before, or the annotations are of another kind.
        """
        with self.write() as db:
            study = study_in(db, study_id, lock=True)
            if study.kind == JUDGING:
                raise InputError("In a judging study nobody sorts, so that it takes no groupings in.")
            number = {item.name: item.number for item in items_in(db, study_id)}
            answers = _answers_of(annotations, study, number)
            people = _new_people(db, study, dict.fromkeys(name for name, _ in answers))
            db.execute(insert(tables.participants), list(people.values()))
            db.execute(insert(tables.assignments), _rows_of_import(study, answers, people))
            request(db, study_id, "subsets", now())
            request(db, study_id, "consensus", now())
        return len(answers)

    def _study_of(self, study_id: str) -> Study:
        with self.read() as db:
            return study_in(db, study_id)

    def _rows(self, study_id: str, include_preview: bool) -> tuple[list[Submitted], list[str]]:
        """Return what counts, and the names of the items."""
        with self.read() as db:
            study_in(db, study_id)
            names = [item.name for item in items_in(db, study_id)]
            rows = _submitted_in(db, study_id)
        return [
            one for one in rows if one.counts or (include_preview and one.preview and one.source not in APART)
        ], names


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
    """Return the answers of a closed sort as labels of the items of these names."""
    frame = pd.DataFrame(
        [
            (names[item], one.annotator, group["name"])
            for one in rows
            for group in one.groups
            for item in group["items"]
        ],
        columns=["item", "annotator", "label"],
    )
    return Labels.from_frame(frame, items=names, classes=list(study.settings.categories), missing=[])


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


def _submitted_in(db: Connection, study_id: str, after: int = 0) -> list[Submitted]:
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


def _parameters_of(study: Study, rows: Iterable[Submitted]) -> list[str]:
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


Answer = dict[str, list[int]]  # the items of each group, by its name


def _answers_of(annotations: Any, study: Study, number: Mapping[str, int]) -> list[tuple[str, Answer]]:
    """Return one answer for each grouping of an annotator, in their order."""
    if study.kind == CLOSED:
        if not isinstance(annotations, Labels):
            raise InputError("A closed sort takes labels in; read the file with the kind 'labels'.")
        frame = annotations.to_frame()
        frame = frame.assign(grouping=0, group=frame["label"])
        if frame.duplicated(["item", "annotator"]).any():
            raise InputError("An annotator gives an item two labels; a closed sort has one.")
        frame["group"] = _as_known(frame["group"], set(study.settings.categories), "category", study)
    else:
        if isinstance(annotations, Labels):
            annotations = annotations.to_groupings()
        if not isinstance(annotations, Groupings):
            raise InputError("A study takes groupings in; judgements of pairs are none.")
        frame = annotations.to_frame()
    if frame.empty:
        raise InputError("There are no groupings to take in.")
    frame = frame.assign(item=_as_known(frame["item"], set(number), "item", study))
    answers: dict[tuple[Any, Any], Answer] = {}
    for item, annotator, grouping, group in frame[["item", "annotator", "grouping", "group"]].itertuples(index=False):
        groups = answers.setdefault((_clean_name(annotator), grouping), {})
        groups.setdefault(_clean_name(group), []).append(number[item])
    return [(annotator, groups) for (annotator, _), groups in answers.items()]


def _clean_name(value: Any) -> str:
    """Return a name as the store keeps it: one line of text, not too long."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return line(str(value))[:LONGEST_NAME]


def _as_known(values: pd.Series, known: set[str], what: str, study: Study) -> pd.Series:
    """Return names as the study has them, also those to which an export as CSV added an apostrophe."""
    named = values.map(_clean_name)
    named = named.where(named.isin(known), named.map(without_apostrophe))
    unknown = [value for value in dict.fromkeys(named) if value not in known]
    if unknown:
        more = f", nor are {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise InputError(f"The {what} {unknown[0]!r} is not in the study {study.title!r}{more}.")
    return named


def _new_people(db: Connection, study: Study, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return a participant for each annotator, by the name."""
    columns = tables.participants.c
    taken = set(db.scalars(select(columns.name).where(columns.study == study.id, columns.name.is_not(None))))
    people = {}
    for name in names:
        if name in taken:
            raise InputError(f"The annotator {name!r} was imported before; rename them if these are other groupings.")
        people[name] = vars(Participant(new_id(), study.id, name, {}, False, False, now()))
    return people


def _rows_of_import(
    study: Study, answers: Sequence[tuple[str, Answer]], people: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of submitted assignments."""
    moment, count, rows = now(), dict.fromkeys(people, 0), []
    category = {name: f"c{number}" for number, name in enumerate(study.settings.categories, 1)}
    for annotator, groups in answers:
        count[annotator] += 1
        items = [item for group in groups.values() for item in group]
        answer = [
            board_state.Group(category.get(name, f"g{number}"), name, tuple(group)).as_json()
            for number, (name, group) in enumerate(groups.items(), 1)
        ]
        rows.append(
            {
                **{"study": study.id, "participant": people[annotator]["id"], "items": items, "source": "imported"},
                **{"state": "submitted", "number": count[annotator], "assigned": moment, "submitted": moment},
                "board": {"version": 0, "groups": answer, "unsorted": []},
                "answer": answer,
            }
        )
    return rows
