"""What judges are asked and answer, in the store."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
from sqlalchemy import Connection, and_, func, insert, or_, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.model import JUDGING, Participant, Study
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.judging import Asked, next_question
from consilience.collect.store.judging_studies import judging_in, odd_questions_in
from consilience.collect.store.people import count_people, participant_in, participants_in, participants_with
from consilience.collect.store.people_table import parameters_stored, seconds_between
from consilience.collect.store.quotas import idle_since, take_places
from consilience.collect.store.studies import items_in, study_in
from consilience.errors import InputError

NUMBERS = range(1, 5)  # of the items of a question
ITEMS = [f"item_{number}" for number in NUMBERS]
COLUMNS = [
    *("question", "annotator", "answer", *ITEMS, "odd", "cluster", "odd_cluster"),
    *("place", "shown", "asked", "answered", "seconds", "preview", "excluded"),
]


class JudgingAnswers(Database):
    """What the store knows of the answers of judges."""

    def ask(self, participant_id: str) -> Asked | None:
        """Return what a judge is asked now: the question before them, else a new one.

        Parameters
        ----------
        participant_id : str

        Returns
        -------
        Asked or None
            None if they are done, left out, screened out or their quota is full, sorted in the study whose clusters
            are judged, or if the study needs no more answers or is closed; a question that they have before them is
            returned all the same.
        """
        with self.write() as db:
            study = study_in(db, participant_in(db, participant_id).study, lock=True)  # so that answers are spread
            return _ask(db, study, participant_in(db, participant_id, lock=True))

    def asked(self, participant_id: str) -> list[Asked]:
        """Return what a judge was asked, in order."""
        with self.read() as db:
            return _questions_of(db, participant_id)

    def answer(self, participant_id: str, question: int, place: int | None) -> Asked | None:
        """Keep the answer to a question, and return the next question as `ask` does; the first answer stays.

        Parameters
        ----------
        participant_id : str
        question : int
        place : int, optional
            Which of the four cards was chosen, from 1, as the judge saw them; None if they could not say.

        Returns
        -------
        Asked or None
            The next question.

        Raises
        ------
        NotFoundError
            There is no such participant, or they were not asked this question.
        InputError
            The place is none of 1 to 4.
        """
        if place not in (None, *NUMBERS) or isinstance(place, bool):
            raise InputError("The answer must be a place from 1 to 4, or empty.")
        with self.write() as db:
            study = study_in(db, participant_in(db, participant_id).study, lock=True)
            participant = participant_in(db, participant_id, lock=True)
            found = next((one for one in _questions_of(db, participant_id) if one.question == question), None)
            if found is None:
                raise NotFoundError("This question was not asked.")
            if found.answered is None:
                columns = tables.odd_answers.c
                mine = (columns.participant == participant_id, columns.question == question)
                values = {"answered": now(), "answer": None if place is None else found.shown[place - 1]}
                db.execute(update(tables.odd_answers).where(*mine).values(**values))
            return _ask(db, study, participant)

    def sorted_before(self, participant_id: str) -> bool:
        """Whether a judge is known to have sorted in the study whose clusters are judged.

        They are if a participant of that study has the same value of the parameter by which the judging study knows
        people again, and was given something to sort.
        """
        with self.read() as db:
            participant = participant_in(db, participant_id)
            return _sorted_before(db, study_in(db, participant.study), participant)

    def needs_no_answers(self, study_id: str) -> bool:
        """Whether each question of a judging study has as many answers as are wanted, or will have them."""
        with self.read() as db:
            study = study_in(db, study_id)
            wanted, counts = study.settings.answers_wanted, _counts(db, study)
            numbers = [one.number for one in odd_questions_in(db, study.id)]
        return wanted is not None and all(counts[number] >= wanted for number in numbers)

    def judging_progress(self, study_id: str) -> dict[str, int]:
        """Count judges and answers of a study, previews apart.

        Returns
        -------
        dict
            ``participants``, ``excluded``, ``withdrew``; ``answers``, without those of people who are left out;
            ``judges``, who gave these; ``open``, questions that somebody has before them; ``questions``, of the study;
            ``least`` and ``most``, the fewest and the most answers of a question.
        """
        people = tables.participants.c
        with self.read() as db:
            study = study_in(db, study_id)
            found = count_people(db, study)
            rows = _rows(db, study, people.preview.is_(False), people.excluded.is_(False))
            numbers = [one.number for one in odd_questions_in(db, study.id)]
            awaited = _counts(db, study).total()
        given = [row for row in rows if row.answered is not None]
        counts = Counter(row.question for row in given)
        each = [counts[number] for number in numbers]
        return {
            **found,
            "judges": len({row.participant for row in given}),
            "answers": len(given),
            "open": awaited - len(given),
            "questions": len(numbers),
            "least": min(each, default=0),
            "most": max(each, default=0),
        }

    def answers_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return the answers of judges as a long table, a row an answer, in the order in which they came.

        `answer` and `odd` are positions among `item_1` to `item_4`, the same for all judges, so that
        `consilience.metrics.odd_one_out` takes the table as it is; `answer` is missing if somebody could not say.
        `shown` are these positions in the order in which the judge saw the cards. `place` says which of the judge's
        questions it was; `seconds` how long it was before them. Previews and people who are left out are in it, and
        columns say which they are. Parameters of addresses are columns named ``parameter:NAME``.

        Parameters
        ----------
        study_id : str
        identifiers : bool, default=True
            Whether stored parameters are in it.

        Returns
        -------
        DataFrame

        Raises
        ------
        NotFoundError
            There is no such study, or it is no judging study.
        """
        with self.read() as db:
            study = study_in(db, study_id)
            names = [one.name for one in judging_in(db, study.id).clusters]
            items = [item.name for item in items_in(db, study.id)]
            questions = {one.number: one for one in odd_questions_in(db, study.id)}
            people = {one.id: one for one in participants_in(db, study.id)}
            given = [row for row in _rows(db, study) if row.answered is not None]
        stored = parameters_stored(study, people.values()) if identifiers else []
        rows = []
        for row in given:
            question, person = questions[row.question], people[row.participant]
            position = {item: number for number, item in enumerate(question.items, 1)}
            rows.append(
                (
                    *(row.question, person.id, position.get(row.answer), *(items[item] for item in question.items)),
                    *(position[question.odd], names[question.cluster], names[question.odd_cluster]),
                    *(row.place, " ".join(str(position[item]) for item in row.shown), row.asked, row.answered),
                    *(seconds_between(row.asked, row.answered), person.preview, person.excluded),
                    *(person.parameters.get(name) for name in stored),
                )
            )
        frame = pd.DataFrame(rows, columns=[*COLUMNS, *(f"parameter:{name}" for name in stored)])
        for name in ("asked", "answered"):
            frame[name] = pd.to_datetime(frame[name], utc=True)
        types: dict[str, Any] = dict.fromkeys(("question", "odd", "place"), "int64")
        types |= {"answer": "Int64", "seconds": float, "preview": bool, "excluded": bool}
        return frame.astype(types)


def _ask(db: Connection, study: Study, participant: Participant) -> Asked | None:
    earlier = _questions_of(db, participant.id)
    current = next((one for one in earlier if one.answered is None), None)
    if current is not None:
        return current
    open_to = ("draft", "open") if participant.preview else ("open",)
    if study.kind != JUDGING or participant.excluded or study.status not in open_to:
        return None
    if not earlier and _sorted_before(db, study, participant):
        return None
    chosen = next_question(study, participant, odd_questions_in(db, study.id), _counts(db, study), earlier)
    if chosen is None or not take_places(db, study, participant):
        return None
    question, shown = chosen
    asked = Asked(question.number, len(earlier) + 1, shown, now())
    values = {**vars(asked), "shown": list(shown), "participant": participant.id, "study": study.id}
    db.execute(insert(tables.odd_answers).values(**values))
    return asked


def _questions_of(db: Connection, participant_id: str) -> list[Asked]:
    columns = tables.odd_answers.c
    query = select(tables.odd_answers).where(columns.participant == participant_id).order_by(columns.place)
    return [_asked_of(row) for row in db.execute(query)]


def _asked_of(row: Any) -> Asked:
    rest = {name: row._mapping[name] for name in ("question", "place", "asked", "answered", "answer")}
    return Asked(**rest, shown=tuple(row.shown))


def _counts(db: Connection, study: Study) -> Counter[int]:
    """Count the answers of each question that count, and those that are awaited: not for longer than the time limit."""
    columns, people = tables.odd_answers.c, tables.participants.c
    query = (
        select(columns.question, func.count())
        .join(tables.participants, people.id == columns.participant)
        .where(
            columns.study == study.id,
            and_(people.preview.is_(False), people.excluded.is_(False)),
            or_(columns.answered.is_not(None), columns.asked >= idle_since(study)),
        )
        .group_by(columns.question)
    )
    return Counter(dict(map(tuple, db.execute(query))))


def _rows(db: Connection, study: Study, *which: Any) -> list[Any]:
    """Return what was asked in a study, in the order in which it was answered."""
    columns, people = tables.odd_answers.c, tables.participants.c
    query = (
        select(tables.odd_answers)
        .join(tables.participants, people.id == columns.participant)
        .where(columns.study == study.id, *which)
        .order_by(columns.answered, columns.participant, columns.place)
    )
    return list(db.execute(query))


def _sorted_before(db: Connection, study: Study, participant: Participant) -> bool:
    name = study.settings.panel.identified_by
    who = participant.parameters.get(name)
    source = judging_in(db, study.id).source if study.kind == JUDGING and who and not participant.preview else None
    if who is None or source is None:
        return False
    work = tables.assignments.c
    same = [one.id for one in participants_with(db, source, name, who)]
    return bool(db.scalar(select(func.count()).where(work.participant.in_(same))))
