"""Practice, admission and gold in the store: sorts whose right answer is known, their scores, and who is consistent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.model import Assignment, Item, Participant, Study
from consilience.collect.settings.study_kinds import PAIRS, list_cards, number_pair, right_answers
from consilience.collect.settings.training import ADMISSION, ROLES
from consilience.collect.store import board_state, tables
from consilience.collect.store.consistency import Consistency, consistency_of
from consilience.collect.store.database import Database, now
from consilience.collect.store.people import participant_in
from consilience.collect.store.scoring import score_of_answer
from consilience.collect.store.standing import Standing, Trial, number_cards, standing_of
from consilience.collect.store.studies import items_in, study_in

N_ORDINARY = (  # prepared once
    select(func.count())
    .select_from(tables.assignments)
    .where(tables.assignments.c.participant == bindparam("who"), tables.assignments.c.number > 0)
)


class Trials(Database):
    """What the store knows of training."""

    def trials_of(self, participant_id: str) -> list[Trial]:
        """Return the practice, admission and gold sorts of a participant, in the order in which they were given."""
        with self.read() as db:
            return trials_in(db, participant_id)

    def trials_by_person(self, study_id: str) -> dict[str, list[Trial]]:
        """Return the practice, admission and gold sorts of all participants of a study, by their ids."""
        found: dict[str, list[Trial]] = {}
        with self.read() as db:
            for person, trial in _trials(db, tables.assignments.c.study == study_id):
                found.setdefault(person, []).append(trial)
        return found

    def standing(self, participant_id: str) -> Standing:
        """Return where a participant is in training: what they sort next, ready, or not admitted."""
        with self.read() as db:
            study = study_in(db, participant_in(db, participant_id).study)
            return standing_in(db, study, participant_id)[0]

    def cards(self, assignment: Assignment) -> dict[int, Item]:
        """Return the cards of an assignment, also those of training that are no items of the study.

        Parameters
        ----------
        assignment : Assignment

        Returns
        -------
        dict of int to Item
            By the numbers of the cards; those of pairs are in the order of these, each once.
        """
        numbers = list_cards(assignment.items)
        with self.read() as db:
            found = {item.number: item for item in items_in(db, assignment.study, numbers)}
            if assignment.number < 0:
                query = select(tables.trials.c.cards).where(tables.trials.c.assignment == assignment.id)
                found |= {one["number"]: _item_of(one) for one in db.scalar(query) or ()}
        return {number: found[number] for number in numbers}

    def see_answer(self, assignment_id: int, participant_id: str) -> None:
        """Note that a participant has seen the right answer of a practice sort.

        Raises
        ------
        NotFoundError
            They submitted no such sort.
        """
        columns, work = tables.trials.c, tables.assignments.c
        theirs = select(work.id).where(work.participant == participant_id, work.state == "submitted")
        with self.write() as db:
            mine = (columns.assignment == assignment_id, columns.assignment.in_(theirs))
            if db.execute(update(tables.trials).where(*mine).values(seen=True)).rowcount == 0:
                raise NotFoundError("There is no such practice sort.")

    def consistency(self, study_id: str) -> list[Consistency]:
        """Return the scores of each participant on gold, repeats, practice and admission; previews are left out.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        list of Consistency

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        people = tables.participants.c
        with self.read() as db:
            study = study_in(db, study_id)
            mine = (people.study == study_id, people.preview.is_(False), people.name.is_(None))
            ids = list(db.scalars(select(people.id).where(*mine).order_by(people.created, people.id)))
            return consistency_in(db, study, ids)


def consistency_in(db: Connection, study: Study, ids: Iterable[str]) -> list[Consistency]:
    """Return the scores of participants of a study, by their ids."""
    work = tables.assignments.c
    given: dict[str, list[Assignment]] = {one: [] for one in ids}
    trials: dict[str, list[Trial]] = {one: [] for one in given}
    for row in db.execute(select(tables.assignments).where(work.study == study.id).order_by(work.id)):
        if row.participant in given:
            given[row.participant].append(_assignment_of(row))
    for person, trial in _trials(db, work.study == study.id):
        if person in trials:
            trials[person].append(trial)
    return [consistency_of(study, one, given[one], trials[one]) for one in given]


def trials_in(db: Connection, participant_id: str) -> list[Trial]:
    """Return the trials of a participant, in the order in which they were given."""
    return [trial for _, trial in _trials(db, tables.assignments.c.participant == participant_id)]


def standing_in(db: Connection, study: Study, participant_id: str) -> tuple[Standing, list[Trial], int]:
    """Return where a participant is, their trials, and how many ordinary sorts they were given."""
    n_ordinary = db.scalar(N_ORDINARY, {"who": participant_id}) or 0
    trials = trials_in(db, participant_id) if any(map(study.settings.training.sorts, ROLES)) else []
    return standing_of(study, trials, has_begun=n_ordinary > 0), trials, n_ordinary


def give_trial(
    db: Connection,
    study: Study,
    participant: Participant,
    role: str,
    rng: np.random.Generator,
    *,
    place: int = 0,
    attempt: int = 1,
) -> Any:
    """Give a sort of the training to a participant, the cards in an order of their own; return the row."""
    sort = study.settings.training.sorts(role)[place]
    cards = number_cards(sort, items_in(db, study.id))
    asked = list(cards)
    if study.kind == PAIRS:
        asked = [number_pair(asked[one], asked[two]) for one, two in sort.choose_pairs(study.subset_size)]
    order = [int(number) for number in rng.permutation(np.array(asked))]
    work = tables.assignments.c
    lowest = db.scalar(select(func.min(work.number)).where(work.participant == participant.id)) or 0
    values = {
        **{"study": study.id, "participant": participant.id, "items": order, "source": role},
        **{"state": "open", "number": min(lowest, 0) - 1, "assigned": now()},
        "board": board_state.initial(0, order, study.classes).as_json(),
    }
    row = db.execute(insert(tables.assignments).returning(tables.assignments), values).one()
    right = [{**asdict(item), "group": group} for item, group in zip(cards.values(), sort.labels, strict=True)]
    mark = study.settings.training.mark if role == ADMISSION else None
    db.execute(
        insert(tables.trials).values(
            assignment=row.id, role=role, place=place, attempt=attempt, cards=right, mark=mark, seen=False
        )
    )
    return row


def score_trial(db: Connection, study: Study, assignment_id: int, answer: Sequence[Mapping[str, Any]]) -> None:
    """Score a trial when it is submitted."""
    columns = tables.trials.c
    (trial,) = [one for _, one in _trials(db, columns.assignment == assignment_id)]
    score = score_of_answer(trial.right, answer, closed=study.has_fixed_groups)
    db.execute(update(tables.trials).where(columns.assignment == assignment_id).values(score=score))


def _trials(db: Connection, which: Any) -> list[tuple[str, Trial]]:
    """Return trials with the participant of each."""
    work = tables.assignments.c
    query = (
        select(tables.trials, work.participant, work["items"].label("asked"))
        .join(tables.assignments, work.id == tables.trials.c.assignment)
        .where(which)
        .order_by(work.id)
    )
    found = []
    for row in db.execute(query):
        cards = tuple(_item_of(one) for one in row.cards)
        right = right_answers({one["number"]: one["group"] for one in row.cards}, row.asked)
        rest = (row.mark, row.score, row.seen)
        found.append((row.participant, Trial(row.assignment, row.role, row.place, row.attempt, cards, right, *rest)))
    return found


def _item_of(values: Mapping[str, Any]) -> Item:
    return Item(**{name: value for name, value in values.items() if name != "group"})


def _assignment_of(row: Any) -> Assignment:
    values = {name: value for name, value in row._mapping.items() if name not in ("board", "changed")}
    return Assignment(**{**values, "items": tuple(values["items"])})
