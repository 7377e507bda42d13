"""Answers that were collected elsewhere, taken in: groupings, labels, or judgements of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection, insert, select

from consilience.annotations import Groupings, Labels, Pairs
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import line, without_apostrophe
from consilience.collect.settings.model import JUDGING, Participant, Study
from consilience.collect.settings.study_kinds import DIFFERENT, PAIRS, SAME, number_pair
from consilience.collect.store import board_state, tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.requests import request
from consilience.collect.store.secret import new_id
from consilience.collect.store.studies import items_in, study_in
from consilience.errors import InputError


class Imports(Database):
    """How the store takes in what was collected elsewhere."""

    def import_groupings(self, study_id: str, annotations: Groupings | Labels | Pairs) -> int:
        """Take in groupings that were collected elsewhere; their items must be those of the study.

        Parameters
        ----------
        study_id : str
        annotations : Groupings, Labels or Pairs
            Labels where people give labels, and their names must be the categories; pairs where people are asked about
            these; groupings for other studies.

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


Answer = dict[str, list[int]]  # the items of each group, by its name


def _answers_of(annotations: Any, study: Study, number: Mapping[str, int]) -> list[tuple[str, Answer]]:
    """Return one answer for each grouping of an annotator, in their order."""
    if study.kind == PAIRS:
        return _answers_about_pairs(annotations, study, number)
    if study.gives_labels:
        if not isinstance(annotations, Labels):
            raise InputError("This study takes labels in; read the file with the kind 'labels'.")
        frame = annotations.to_frame()
        frame = frame.assign(grouping=0, group=frame["label"])
        if frame.duplicated(["item", "annotator"]).any():
            raise InputError("An annotator gives an item two labels; this study has one.")
        frame["group"] = _as_known(frame["group"], set(study.classes), "category", study)
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


def _answers_about_pairs(annotations: Any, study: Study, number: Mapping[str, int]) -> list[tuple[str, Answer]]:
    """Return one answer for each annotator of pairs, in their order."""
    if not isinstance(annotations, Pairs):
        raise InputError("This study takes judgements of pairs in; read the file with the kind 'pairs'.")
    frame = annotations.to_frame()
    if frame.empty:
        raise InputError("There are no judgements to take in.")
    for name in ("item_a", "item_b"):
        frame[name] = _as_known(frame[name], set(number), "item", study)
    answers: dict[str, Answer] = {}
    seen = set()
    for one, other, annotator, same in frame[["item_a", "item_b", "annotator", "same"]].itertuples(index=False):
        who, pair = _clean_name(annotator), number_pair(number[one], number[other])
        if (who, pair) in seen:
            raise InputError(f"The annotator {who!r} judges {one!r} and {other!r} twice; this study has one answer.")
        seen.add((who, pair))
        answers.setdefault(who, {}).setdefault(SAME if same else DIFFERENT, []).append(pair)
    return list(answers.items())


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
    category = {name: f"c{number}" for number, name in enumerate(study.classes, 1)}
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
