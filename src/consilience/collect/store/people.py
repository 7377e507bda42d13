"""Participants in the store, and the tokens of their links and cookies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, insert, or_, select, update

from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.settings.checks import checked_parameters
from consilience.collect.settings.cleaning import as_id, brief
from consilience.collect.settings.model import Participant, Study
from consilience.collect.settings.panel import is_unfilled
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.requests import request
from consilience.collect.store.secret import hash_token, new_id, new_token
from consilience.collect.store.studies import study_in
from consilience.errors import InputError

# statements of every visit, which are prepared once
BY_TOKEN = select(tables.participants).where(tables.participants.c.token_hash == bindparam("token"))
BY_ID = select(tables.participants).where(tables.participants.c.id == bindparam("participant"))
LOCKED_BY_ID = BY_ID.with_for_update(key_share=True)


class People(Database):
    """What the store knows of participants."""

    def new_participant(
        self,
        study_id: str,
        parameters: Mapping[str, Any] | None = None,
        preview: bool = False,
        language: str | None = None,
    ) -> tuple[Participant, str]:
        """Let somebody take part.

        Parameters
        ----------
        study_id : str
        parameters : dict of str, optional
            All parameters of the address by which they came; those that the study stores are kept.
        preview : bool, default=False
            Whether it is a preview, whose answers do not count; a draft can only be previewed.
        language : str, optional
            In which they take part.

        Returns
        -------
        participant : Participant
        token : str
            Their secret, which is not stored and cannot be read again; see `renew_token`.

        Raises
        ------
        NotOpenError
            The study is not open.
        InputError
            A parameter is still the placeholder that a panel should have replaced.
        """
        with self.write() as db:
            study = study_in(db, study_id)
            if not preview:
                require_open(study)
            kept = checked_parameters(parameters or {}, study.settings.parameters)
            require_filled(kept)
            return new_participant_in(db, study, kept, preview, language)

    def set_language(self, participant_id: str, language: str) -> None:
        """Keep in which language of the study a participant goes on.

        Raises
        ------
        InputError
            The study is not in this language.
        """
        with self.write() as db:
            found = participant_in(db, participant_id, lock=True)
            offered = study_in(db, found.study).settings.offered
            if language not in offered:
                raise InputError(f"The study is in {', '.join(offered)}. Got {brief(language)}.")
            columns = tables.participants.c
            db.execute(update(tables.participants).where(columns.id == found.id).values(language=language))

    def renew_token(self, participant_id: str) -> str:
        """Replace the secret of a participant, for a personal link; what was valid before is not any more."""
        token = new_token()
        with self.write() as db:
            participant_in(db, participant_id, lock=True)
            columns = tables.participants.c
            db.execute(
                update(tables.participants).where(columns.id == participant_id).values(token_hash=hash_token(token))
            )
        return token

    def participant_by_token(self, token: str) -> Participant:
        """Return the participant to whom a token belongs.

        Raises
        ------
        NotFoundError
            It belongs to nobody.
        """
        with self.read() as db:
            row = db.execute(BY_TOKEN, {"token": hash_token(token)}).first()
        if row is None:
            raise NotFoundError("This link or cookie belongs to no participant.")
        return _participant_of(row)

    def participant(self, participant_id: str) -> Participant:
        """Return a participant."""
        with self.read() as db:
            return participant_in(db, participant_id)

    def participants(self, study_id: str) -> list[Participant]:
        """Return the participants of a study in the order in which they came, previews included."""
        with self.read() as db:
            study_in(db, study_id)
            return participants_in(db, study_id)

    def exclude(self, participant_id: str, excluded: bool = True) -> Participant:
        """Leave the answers of a participant out of every result, or take them in again; nothing is deleted.

        Parameters
        ----------
        participant_id : str
        excluded : bool, default=True

        Returns
        -------
        Participant

        Raises
        ------
        NotOpenError
            They withdrew, and cannot be taken in again.
        """
        with self.write() as db:
            study_in(db, participant_in(db, participant_id).study, lock=True)
            participant = participant_in(db, participant_id, lock=True)
            if not excluded and has_withdrawn_in(db, participant_id):
                raise NotOpenError("This person withdrew, and cannot be taken in again.")
            columns = tables.participants.c
            db.execute(update(tables.participants).where(columns.id == participant_id).values(excluded=excluded))
            if participant.excluded != excluded:
                request(db, participant.study, "subsets", now())
                request(db, participant.study, "consensus", now())
            return participant_in(db, participant_id)

    def progress(self, study_id: str) -> dict[str, int]:
        """Count participants and assignments that are no previews, repeats included; of training, what is open.

        Returns
        -------
        dict
            ``participants``, ``excluded``, ``withdrew``, ``open``, ``withdrawn``, ``submitted``, ``imported``.
        """
        people, work = tables.participants.c, tables.assignments.c
        with self.read() as db:
            found = count_people(db, study_in(db, study_id))
            by_state = dict.fromkeys(("open", "withdrawn", "submitted", "imported"), 0)
            rows = db.execute(
                select(work.state, work.source, func.count())
                .select_from(tables.assignments.join(tables.participants, people.id == work.participant))
                .where(people.study == study_id, people.preview.is_(False))
                .where(or_(work.number > 0, work.state == "open"))
                .group_by(work.state, work.source)
            )
            for state, source, count in rows:
                by_state["imported" if source == "imported" else state] += count
            return found | by_state


def count_people(db: Connection, study: Study) -> dict[str, int]:
    """Count the ``participants`` of a study, previews apart; who is ``excluded``, and who ``withdrew``."""
    people = tables.participants.c
    mine = (people.study == study.id, people.preview.is_(False), people.name.is_(None))
    counted = select(func.count()).select_from(tables.participants).where(*mine)
    withdrew = exists().where(tables.withdrawals.c.participant == people.id)
    return {
        "participants": db.scalar(counted) or 0,
        "excluded": db.scalar(counted.where(people.excluded.is_(True), ~withdrew)) or 0,
        "withdrew": db.scalar(counted.where(withdrew)) or 0,
    }


def require_filled(parameters: Mapping[str, str]) -> None:
    """Refuse a parameter that is still the placeholder which a panel should have replaced.

    Raises InputError: there is one.
    """
    for name, value in parameters.items():
        if is_unfilled(value):
            raise InputError(f"The parameter {name!r} was not filled in: it is still {value[:60]!r}.")


def require_open(study: Study) -> None:
    """Refuse new participants of a study that is not open. Raises NotOpenError: it is not."""
    if study.status != "open":
        raise NotOpenError("This study has not begun." if study.status == "draft" else "This study is over.")


def new_participant_in(
    db: Connection, study: Study, parameters: Mapping[str, str], preview: bool = False, language: str | None = None
) -> tuple[Participant, str]:
    """Make a participant, with checked parameters; return them with their secret."""
    token = new_token()
    participant = Participant(new_id(), study.id, None, parameters, preview, False, now(), language)
    db.execute(insert(tables.participants), {**vars(participant), "token_hash": hash_token(token)})
    return participant, token


def participants_with(db: Connection, study_id: str, name: str, value: str) -> list[Participant]:
    """Return the participants of a study with a value of a stored parameter, in the order in which they came."""
    columns = tables.participants.c
    mine = (
        *(columns.study == study_id, columns.preview.is_(False)),
        columns.parameters[name].as_string() == value,
    )
    query = select(tables.participants).where(*mine).order_by(columns.created, columns.id)
    return [_participant_of(row) for row in db.execute(query)]


def participants_in(db: Connection, study_id: str) -> list[Participant]:
    """Return the participants of a study in the order in which they came, previews included."""
    columns = tables.participants.c
    query = select(tables.participants).where(columns.study == study_id).order_by(columns.created, columns.id)
    return [_participant_of(row) for row in db.execute(query)]


def participant_in(db: Connection, participant_id: Any, *, lock: bool = False) -> Participant:
    """Return a participant; `lock` makes other writers of them wait until the transaction ends.

    Raises NotFoundError: there is no such participant.
    """
    row = db.execute(LOCKED_BY_ID if lock else BY_ID, {"participant": as_id(participant_id)}).first()
    if row is None:
        raise NotFoundError("There is no such participant.")
    return _participant_of(row)


def _participant_of(row: Any) -> Participant:
    values = dict(row._mapping)
    del values["token_hash"]
    return Participant(**values)


def has_withdrawn_in(db: Connection, participant_id: str) -> bool:
    """Whether a participant withdrew."""
    columns = tables.withdrawals.c
    return db.scalar(select(func.count()).where(columns.participant == participant_id)) == 1
