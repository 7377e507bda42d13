"""People from panels in the store: how they come back, consent, answers to questions, withdrawal and deletion."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.checks import checked_parameters
from consilience.collect.settings.conditions import Quota
from consilience.collect.settings.model import Participant, Study
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.jobs import forget_findings
from consilience.collect.store.people import (
    has_withdrawn_in,
    new_participant_in,
    participant_in,
    participants_with,
    require_filled,
    require_open,
)
from consilience.collect.store.quotas import count_places, free_places, turned_away_in, withdraw_idle
from consilience.collect.store.requests import request
from consilience.collect.store.secret import hash_token, new_token
from consilience.collect.store.studies import study_in


@dataclass(frozen=True)
class Consent:
    """What a participant decided on the consent page.

    text : markdown of the page that they saw.
    decided : datetime
    """

    agreed: bool
    text: str
    decided: datetime


class Panels(Database):
    """What the store knows of people from panels."""

    def arrive(
        self, study_id: str, parameters: Mapping[str, Any], language: str | None = None
    ) -> tuple[Participant, str] | None:
        """Let somebody in who opened the link of a study: as a new participant, or as one who comes back.

        People come back if the study names a parameter that identifies them (`Panel.identified_by`). Who resumes gets
        a new secret, and the one of the browser used before is not valid any more. Who starts again is a new
        participant, and the earlier one is left out of every result. Who is new takes part in the `language`.

        Returns
        -------
        tuple of Participant and str, or None
            With their secret; None if the study turns away people who have begun before.

        Raises
        ------
        NotOpenError
            The study is not open, and they were not in it before.
        InputError
            A parameter is still the placeholder that a panel should have replaced.
        """
        with self.write() as db:
            study = study_in(db, study_id, lock=True)  # so that nobody comes twice at the same moment
            panel = study.settings.panel
            kept = checked_parameters(parameters, study.settings.parameters)
            require_filled(kept)
            who = kept.get(panel.identified_by)
            earlier = participants_with(db, study.id, panel.identified_by, who) if who else []
            if earlier and panel.returning == "turn away" and any(_has_begun(db, one.id) for one in earlier):
                return None
            if earlier and (panel.returning != "restart" or not any(_has_begun(db, one.id) for one in earlier)):
                return earlier[-1], _renew(db, earlier[-1].id)
            require_open(study)
            for one in earlier:
                _leave_out(db, one)
            return new_participant_in(db, study, kept, language=language)

    def decide(self, participant_id: str, text: str, *, agreed: bool) -> None:
        """Keep whether a participant agreed to a text; the first time that they agree stays.

        Nothing is kept of who withdrew.
        """
        with self.write() as db:
            participant_in(db, participant_id, lock=True)
            found = _consent_in(db, participant_id)
            if has_withdrawn_in(db, participant_id) or (found is not None and found.agreed):
                return
            db.execute(delete(tables.consents).where(tables.consents.c.participant == participant_id))
            values = {"participant": participant_id, "agreed": agreed, "text": text, "decided": now()}
            db.execute(insert(tables.consents).values(**values))

    def reconsider(self, participant_id: str) -> None:
        """Let a participant who declined decide once more."""
        columns = tables.consents.c
        with self.write() as db:
            mine = (columns.participant == participant_id, columns.agreed.is_(False))
            if db.execute(delete(tables.consents).where(*mine)).rowcount:
                db.execute(delete(tables.endings).where(tables.endings.c.participant == participant_id))

    def consent(self, participant_id: str) -> Consent | None:
        """Return what a participant decided, None if nothing yet."""
        with self.read() as db:
            return _consent_in(db, participant_id)

    def keep_answers(
        self, participant_id: str, moment: str, answers: Mapping[str, Any], *, complete: bool = True
    ) -> None:
        """Keep the answers to questions of a moment; those that were given first stay.

        Nothing is kept of who withdrew, or had answered them completely.
        """
        with self.write() as db:
            participant_in(db, participant_id, lock=True)
            if has_withdrawn_in(db, participant_id) or _has_answered(db, participant_id, moment):
                return
            columns = tables.question_answers.c
            mine = (columns.participant == participant_id, columns.moment == moment)
            known = db.scalar(select(columns.answers).where(*mine)) or {}
            db.execute(delete(tables.question_answers).where(*mine))
            values = {"answers": {**answers, **known}, "answered": now(), "complete": complete}
            db.execute(insert(tables.question_answers).values(participant=participant_id, moment=moment, **values))

    def has_answered(self, participant_id: str, moment: str) -> bool:
        """Whether a participant answered the questions of a moment, follow-ups included."""
        with self.read() as db:
            return _has_answered(db, participant_id, moment)

    def answers(self, participant_id: str) -> dict[str, Any]:
        """Return all answers of a participant, by the names of the questions."""
        columns = tables.question_answers.c
        query = select(columns.answers).where(columns.participant == participant_id).order_by(columns.answered)
        with self.read() as db:
            return {name: value for found in db.scalars(query) for name, value in found.items()}

    def turned_away(self, participant_id: str) -> str | None:
        """Return why a participant cannot begin: "screened_out" or "quota_full"; None if they can."""
        with self.read() as db:
            participant = participant_in(db, participant_id)
            return turned_away_in(db, study_in(db, participant.study), participant)

    def quota_counts(self, study_id: str) -> list[tuple[Quota, int]]:
        """Return the quotas of a study, each with how many of its places are taken."""
        with self.read() as db:
            return count_places(db, study_in(db, study_id))

    def keep_ending(self, participant_id: str, ending: str, code: str = "") -> None:
        """Keep how a participant ended, one of `panel.ENDINGS` in `settings`, and the code that they were shown.

        The last ending stays: somebody who is done can withdraw.
        """
        columns = tables.endings.c
        known = select(columns.ending, columns.code, columns.reached).where(columns.participant == participant_id)
        with self.read() as db:
            row = db.execute(known).first()
            if row and (row.ending, row.code) == (ending, code) and not _went_on(db, participant_id, row.reached):
                return
        with self.write() as db:
            participant_in(db, participant_id, lock=True)
            db.execute(delete(tables.endings).where(columns.participant == participant_id))
            if ending != "complete":
                free_places(db, participant_id)
            values = {"participant": participant_id, "ending": ending, "code": code, "reached": now()}
            db.execute(insert(tables.endings).values(**values))

    def has_withdrawn(self, participant_id: str) -> bool:
        """Whether a participant withdrew."""
        with self.read() as db:
            return has_withdrawn_in(db, participant_id)

    def withdraw(self, participant_id: str) -> None:
        """Delete all that a participant gave, earlier starts included.

        That they withdrew stays, so that their link says so.

        Parameters
        ----------
        participant_id : str
        """
        with self.write() as db:
            for participant in _selves(db, participant_id):
                _forget(db, participant)
                mine = update(tables.participants).where(tables.participants.c.id == participant.id)
                db.execute(mine.values(parameters={}, excluded=True, name=None))
                if not has_withdrawn_in(db, participant.id):
                    db.execute(insert(tables.withdrawals).values(participant=participant.id, withdrawn=now()))
        self.empty_log()

    def delete_participant(self, participant_id: str) -> None:
        """Delete a participant and all that they gave, earlier starts included; their link leads nowhere after it."""
        with self.write() as db:
            for participant in _selves(db, participant_id):
                _forget(db, participant)
                db.execute(delete(tables.participants).where(tables.participants.c.id == participant.id))
        self.empty_log()

    def tidy(self) -> int:
        """Release subsets that nobody touched within a study's time limit, and erase parameters that are old enough.

        The log of writes is emptied, of what was deleted while somebody read, too.

        Returns
        -------
        int
            From how many participants parameters were erased.
        """
        count = 0
        with self.read() as db:
            ids = list(db.scalars(select(tables.studies.c.id)))
        for study_id in ids:
            with contextlib.suppress(NotFoundError), self.write() as db:  # unless it was deleted in the meantime
                study = study_in(db, study_id, lock=True)
                if withdraw_idle(db, study) and study.status == "open":
                    request(db, study.id, "subsets", now())
                count += _erase_old(db, study)
        self.empty_log()
        return count


def _erase_old(db: Connection, study: Study) -> int:
    """Erase the parameters of those who came too long ago; return how many had some."""
    if study.settings.panel.keep_days is None:
        return 0
    columns = tables.participants.c
    limit = now() - timedelta(days=study.settings.panel.keep_days)
    rows = db.execute(select(columns.id, columns.parameters).where(columns.study == study.id, columns.created < limit))
    some = [row.id for row in rows if row.parameters]
    for one in some:
        db.execute(update(tables.participants).where(columns.id == one).values(parameters={}))
    return len(some)


def _has_begun(db: Connection, participant_id: str) -> bool:
    given = (tables.assignments.c.participant, tables.odd_answers.c.participant)
    return any(db.scalar(select(func.count()).where(column == participant_id)) for column in given)


def _went_on(db: Connection, participant_id: str, ended: datetime) -> bool:
    """Whether a participant was given something after they had ended."""
    moments = ((tables.assignments.c, "assigned"), (tables.odd_answers.c, "asked"))
    later = (
        select(columns.participant).where(columns.participant == participant_id, columns[moment] > ended)
        for columns, moment in moments
    )
    return any(db.execute(query.limit(1)).first() is not None for query in later)


def _renew(db: Connection, participant_id: str) -> str:
    token = new_token()
    mine = tables.participants.c.id == participant_id
    db.execute(update(tables.participants).where(mine).values(token_hash=hash_token(token)))
    return token


def _leave_out(db: Connection, participant: Participant) -> None:
    """Leave somebody out who starts again, and their subset to others."""
    columns = tables.assignments.c
    begun = (columns.participant == participant.id, columns.state == "open")
    db.execute(update(tables.assignments).where(*begun).values(state="withdrawn"))
    if not participant.excluded:
        db.execute(update(tables.participants).where(tables.participants.c.id == participant.id).values(excluded=True))
        request(db, participant.study, "subsets", now())
        request(db, participant.study, "consensus", now())


def _selves(db: Connection, participant_id: str) -> list[Participant]:
    """Lock a participant, and the earlier ones that they were where people may start again."""
    study = study_in(db, participant_in(db, participant_id).study, lock=True)
    participant = participant_in(db, participant_id, lock=True)
    by = study.settings.panel.identified_by
    who = participant.parameters.get(by)
    if not who or participant.preview:
        return [participant]
    others = [one for one in participants_with(db, study.id, by, who) if one.id != participant.id]
    return [participant, *(participant_in(db, one.id, lock=True) for one in others)]


def _forget(db: Connection, participant: Participant) -> None:
    """Delete all that a participant gave, and what was found with it, and ask for the consensus of the others."""
    given = (tables.subsets, tables.assignments, tables.odd_answers)
    for table in (*given, tables.consents, tables.question_answers, tables.endings, tables.quota_places):
        db.execute(delete(table).where(table.c.participant == participant.id))
    if not participant.preview:
        forget_findings(db, participant.study)
        request(db, participant.study, "subsets", now())
        request(db, participant.study, "consensus", now())


def _consent_in(db: Connection, participant_id: str) -> Consent | None:
    columns = tables.consents.c
    row = db.execute(
        select(columns.agreed, columns.text, columns.decided).where(columns.participant == participant_id)
    ).first()
    return None if row is None else Consent(*row)


def _has_answered(db: Connection, participant_id: str, moment: str) -> bool:
    columns = tables.question_answers.c
    mine = (columns.participant == participant_id, columns.moment == moment, columns.complete.is_(True))
    return bool(db.scalar(select(func.count()).where(*mine)))
