"""The table of participants: what each consented to, answered and needed, a row for each person."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype
from sqlalchemy import Connection, Table, func, select

from consilience.annotations.files.values import as_texts
from consilience.collect.settings.cleaning import whole
from consilience.collect.settings.model import JUDGING, Participant, Study
from consilience.collect.settings.panel import MOMENTS
from consilience.collect.store import tables
from consilience.collect.store.database import Database
from consilience.collect.store.people import participants_in
from consilience.collect.store.standing import READY, REFUSED
from consilience.collect.store.studies import study_in
from consilience.collect.store.trials import consistency_in

TIMES = ("came", "consented", "declined", "withdrew")
COLUMNS = ("annotator", *TIMES, "preview", "excluded")
ENDED = ("ending", "code")
LANGUAGE = "language"
KINDS = {
    **dict.fromkeys(("preview", "excluded"), "bool"),
    **dict.fromkeys(("sorts", "answers", "tries"), "int64"),
    **dict.fromkeys(("practice", "admission"), "float64"),
    "admitted": "boolean",
}


class PeopleTable(Database):
    """What the store tells of participants as a table."""

    def done(self, study_id: str) -> Counter[str]:
        """Count the sorts that each participant of a study submitted, or the answers of each judge, by their ids."""
        with self.read() as db:
            return done_in(db, study_in(db, study_id))

    def left_out(self, study_id: str) -> list[Participant]:
        """Return those who are left out and can be taken in again: previews apart, and nobody who withdrew."""
        endings = self.endings(study_id)
        with self.read() as db:
            people = [one for one in participants_in(db, study_id) if one.excluded and not one.preview]
        return [one for one in people if endings.get(one.id) != "withdrawn"]

    def endings(self, study_id: str) -> dict[str, str]:
        """Return how participants of a study ended, one of `panel.ENDINGS`, by their ids; without those still at it."""
        with self.read() as db:
            found = {participant: ending for participant, (ending, _) in _endings(db, study_id).items()}
            return found | dict.fromkeys(_times(db, study_id)["withdrew"], "withdrawn")

    def participants_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return the participants of a study, a row for each, in the order in which they came.

        Columns are `annotator`, as in `export_frame`; when they `came`, `consented`, `declined` and `withdrew`;
        `preview` and `excluded`; the number of submitted `sorts`, or of `answers` in a judging study; the score of
        the `practice`; the mean score of the last try of the `admission`, how many `tries` they had and whether they
        were `admitted`; the `ending` that they reached, one of `consilience.collect.settings.panel.ENDINGS`, and the
        `code` that they were shown; the `language` in which they took part; ``seconds:1``, ``seconds:2``, … from the
        first change to the submission of each sort; ``question:NAME`` for answers; and ``parameter:NAME``. Columns of
        a practice or an admission are left out where there is none. An answer of several options is a JSON list.
        Numbers all of which are whole are integers.

        Parameters
        ----------
        study_id : str
        identifiers : bool, default=True
            Whether names and stored parameters are in it. Answers always are.

        Returns
        -------
        DataFrame
        """
        with self.read() as db:
            study = study_in(db, study_id)
            people = participants_in(db, study_id)
            times, answers, seconds = _times(db, study_id), _answers(db, study_id), _seconds(db, study_id)
            done, endings = done_in(db, study), _endings(db, study_id)
            scores = {} if study.kind == JUDGING else _scores(db, study, people)
        stored = parameters_stored(study, people) if identifiers else []
        asked_now = [one.name for moment in MOMENTS for one in study.settings.panel.questions(moment)]
        asked = list(dict.fromkeys([*asked_now, *(name for found in answers.values() for name in found)]))
        n_sorts = max((number for found in seconds.values() for number in found), default=0)
        rows = [
            (
                (identifiers and one.name) or one.id,
                *(one.created, *(times[name].get(one.id) for name in TIMES[1:])),
                *(one.preview, one.excluded, done[one.id]),
                *(found[one.id] for found in scores.values()),
                *endings.get(one.id, (None, None)),
                one.language,
                *(seconds[one.id].get(number) for number in range(1, n_sorts + 1)),
                *(_plain(answers[one.id].get(name)) for name in asked),
                *(one.parameters.get(name) for name in stored),
            )
            for one in people
        ]
        columns = [
            *COLUMNS,
            "answers" if study.kind == JUDGING else "sorts",
            *scores,
            *ENDED,
            LANGUAGE,
            *(f"seconds:{number}" for number in range(1, n_sorts + 1)),
            *(f"question:{name}" for name in asked),
            *(f"parameter:{name}" for name in stored),
        ]
        return _set_types(pd.DataFrame(rows, columns=columns))


def done_in(db: Connection, study: Study) -> Counter[str]:
    """Count what each participant of a study submitted: sorts, or answers of a judge."""
    work, given = tables.assignments.c, tables.odd_answers.c
    if study.kind == JUDGING:
        query = select(given.participant).where(given.study == study.id, given.answered.is_not(None))
    else:
        query = select(work.participant).where(work.study == study.id, work.state == "submitted", work.number > 0)
    return Counter(db.scalars(query))


def seconds_between(started: Any, submitted: Any) -> float | None:
    """Return the seconds from the first change to the submission, None if there was no change."""
    return None if started is None else round((submitted - started).total_seconds(), 3)


def _scores(db: Connection, study: Study, people: Iterable[Participant]) -> dict[str, dict[str, Any]]:
    """Return the columns of practice and admission, as far as the study has them: values by the ids of people."""
    found = consistency_in(db, study, [one.id for one in people])
    columns: dict[str, dict[str, Any]] = {}
    if study.settings.training.practice is not None or any(one.practice is not None for one in found):
        columns["practice"] = {one.participant: one.practice for one in found}
    if study.settings.training.admission or any(one.attempts for one in found):
        columns["admission"] = {one.participant: one.admission for one in found}
        columns["tries"] = {one.participant: one.attempts for one in found}
        passed = {READY: True, REFUSED: False}  # missing if that is open, or if they never had to
        columns["admitted"] = {one.participant: passed.get(one.standing) if one.attempts else None for one in found}
    return columns


def _endings(db: Connection, study_id: str) -> dict[str, tuple[str, str | None]]:
    """Return how people ended, and the codes that they were shown, by their ids; without those who went on since."""
    begun: dict[str, Any] = {}
    for table, moment in ((tables.assignments, "assigned"), (tables.odd_answers, "asked")):
        query = select(table.c.participant, func.max(table.c[moment])).where(table.c.study == study_id)
        begun |= dict(map(tuple, db.execute(query.group_by(table.c.participant))))
    found = tables.endings.c
    rows = _of_study(db, tables.endings, study_id, found.participant, found.ending, found.code, found.reached)
    stays = (row for row in rows if row.participant not in begun or begun[row.participant] <= row.reached)
    return {row.participant: (row.ending, row.code or None) for row in stays}


def _set_types(frame: pd.DataFrame) -> pd.DataFrame:
    for name in TIMES:
        frame[name] = pd.to_datetime(frame[name], utc=True)
    for name in (*ENDED, LANGUAGE):
        frame[name] = as_texts(frame[name])
    for name in frame.columns[frame.columns.str.startswith("seconds:")]:
        frame[name] = frame[name].astype(float)
    for name in frame.columns[frame.columns.str.startswith("question:")]:
        found = frame[name].dropna()
        if is_numeric_dtype(found) and all(isinstance(whole(value), int) for value in found.tolist()):
            frame[name] = frame[name].astype("Int64")
        elif len({type(value) for value in found}) > 1:  # a question that was of another kind earlier
            frame[name] = frame[name].map(str, na_action="ignore")
    return frame.astype({name: kind for name, kind in KINDS.items() if name in frame})


def _times(db: Connection, study_id: str) -> dict[str, dict[str, Any]]:
    """Return when people consented, declined and withdrew, by their ids."""
    consents, gone = tables.consents.c, tables.withdrawals.c
    decided = _of_study(db, tables.consents, study_id, consents.participant, consents.agreed, consents.decided)
    return {
        "consented": {row.participant: row.decided for row in decided if row.agreed},
        "declined": {row.participant: row.decided for row in decided if not row.agreed},
        "withdrew": dict(map(tuple, _of_study(db, tables.withdrawals, study_id, gone.participant, gone.withdrawn))),
    }


def _answers(db: Connection, study_id: str) -> dict[str, dict[str, Any]]:
    columns = tables.question_answers.c
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in _of_study(db, tables.question_answers, study_id, columns.participant, columns.answers):
        found[row.participant] |= row.answers
    return found


def _of_study(db: Connection, table: Table, study_id: str, *columns: Any) -> list[Any]:
    people = tables.participants
    joined = table.join(people, people.c.id == table.c.participant)
    return list(db.execute(select(*columns).select_from(joined).where(people.c.study == study_id)))


def _seconds(db: Connection, study_id: str) -> dict[str, dict[int, float | None]]:
    """Return how long each submitted sort took, by its number, of each participant."""
    work = tables.assignments.c
    query = select(work.participant, work.number, work.started, work.submitted)
    found: dict[str, dict[int, float | None]] = defaultdict(dict)
    for row in db.execute(query.where(work.study == study_id, work.state == "submitted", work.number > 0)):
        found[row.participant][row.number] = seconds_between(row.started, row.submitted)
    return found


def parameters_stored(study: Study, people: Iterable[Participant]) -> list[str]:
    """Return the parameters that are stored now, and those that were earlier."""
    return list(dict.fromkeys([*study.settings.parameters, *(name for one in people for name in one.parameters)]))


def _plain(answer: Any) -> Any:
    return json.dumps(answer, ensure_ascii=False) if isinstance(answer, list) else whole(answer)
