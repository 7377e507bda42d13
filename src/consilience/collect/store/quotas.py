"""Who may take part: who is screened out, and places in quotas, which people take when they begin.

A place is taken in the transaction that gives somebody their first cards or question, while the study is locked, so
that people who come at the same time never exceed a quota. It is free again for others once its holder did nothing for
as long as a subset waits for its participant, was left out, or ended in another way than by completing the study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, or_, select, update

from consilience.collect.settings.conditions import Quota, any_holds
from consilience.collect.settings.model import Participant, Study
from consilience.collect.settings.panel import QUOTA_FULL, SCREENED_OUT
from consilience.collect.store import tables
from consilience.collect.store.database import now

IDLE = timedelta(hours=24)  # by default, after which what nobody touches no longer counts towards quotas

WITHDRAW = (  # prepared once
    update(tables.assignments)
    .where(tables.assignments.c.study == bindparam("of"), tables.assignments.c.state == "open")
    .where(func.coalesce(tables.assignments.c.changed, tables.assignments.c.assigned) < bindparam("since"))
    .values(state="withdrawn")
)


def idle_since(study: Study) -> datetime:
    """Return since when somebody must have done something for what they were given to count towards quotas."""
    minutes = study.settings.panel.minutes
    return now() - (IDLE if minutes is None else timedelta(minutes=minutes))


def withdraw_idle(db: Connection, study: Study) -> int:
    """Stop waiting for assignments that nobody has touched for long; they continue if the participant returns.

    Returns how many.
    """
    return db.execute(WITHDRAW, {"of": study.id, "since": idle_since(study)}).rowcount


def turned_away_in(db: Connection, study: Study, participant: Participant) -> str | None:
    """Return why a participant cannot begin, None if they can; a preview counts in no quota."""
    panel = study.settings.panel
    if not panel.chooses:
        return None
    known = _known_of(db, participant.id, participant.parameters)
    if any_holds(panel.screening, known):
        return SCREENED_OUT
    quotas = [] if participant.preview else _quotas_of(study, known)
    if not quotas or _holds_place(db, study, participant):
        return None
    taken = _count_taken(db, study)
    return QUOTA_FULL if any(taken[quota.key] >= quota.most for quota in quotas) else None


def take_places(db: Connection, study: Study, participant: Participant) -> bool:
    """Let a participant of a locked study take their places in its quotas; whether they can take part."""
    if turned_away_in(db, study, participant) is not None:
        return False
    if study.settings.panel.quotas and not participant.preview:
        _take(db, study, participant.id, participant.parameters)
    return True


def take_places_of_all(db: Connection, study: Study) -> None:
    """Let everybody who began take their places in the quotas of a study, which were changed."""
    people = tables.participants.c
    begun = or_(
        *(exists().where(table.c.participant == people.id) for table in (tables.assignments, tables.odd_answers))
    )
    mine = (people.study == study.id, people.preview.is_(False), people.name.is_(None), begun)
    for who, parameters in db.execute(select(people.id, people.parameters).where(*mine)).all():
        _take(db, study, who, parameters)


def free_places(db: Connection, participant_id: str) -> None:
    """Let others take the places of a participant."""
    db.execute(delete(tables.quota_places).where(tables.quota_places.c.participant == participant_id))


def count_places(db: Connection, study: Study) -> list[tuple[Quota, int]]:
    """Return the quotas of a study, each with how many of its places are taken."""
    taken = _count_taken(db, study) if study.settings.panel.quotas else Counter()
    return [(quota, taken[quota.key]) for quota in study.settings.panel.quotas]


def _known_of(db: Connection, participant_id: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return what conditions are about: parameters of the link, and answers before the first sort."""
    columns = tables.question_answers.c
    query = select(columns.answers).where(columns.participant == participant_id, columns.moment == "before")
    return {**parameters, **(db.scalar(query) or {})}


def _quotas_of(study: Study, known: Mapping[str, Any]) -> list[Quota]:
    return [quota for quota in study.settings.panel.quotas if quota.condition.holds(known)]


def _take(db: Connection, study: Study, participant_id: str, parameters: Mapping[str, str]) -> None:
    columns = tables.quota_places.c
    held = set(db.scalars(select(columns.quota).where(columns.participant == participant_id)))
    keys = [quota.key for quota in _quotas_of(study, _known_of(db, participant_id, parameters))]
    rows = [{"participant": participant_id, "quota": key, "taken": now()} for key in keys if key not in held]
    if rows:
        db.execute(insert(tables.quota_places), rows)


def _holds_place(db: Connection, study: Study, participant: Participant) -> bool:
    columns = tables.quota_places.c
    query = select(func.count()).where(columns.participant == participant.id, _is_live(study))
    return bool(db.scalar(query))


def _count_taken(db: Connection, study: Study) -> Counter[str]:
    columns, people = tables.quota_places.c, tables.participants.c
    query = (
        select(columns.quota, func.count())
        .select_from(tables.quota_places.join(tables.participants, people.id == columns.participant))
        .where(people.study == study.id, people.excluded.is_(False), _is_live(study))
        .group_by(columns.quota)
    )
    return Counter(dict(map(tuple, db.execute(query))))


def _is_live(study: Study) -> Any:
    """Whether the holder of a place does something: they came lately, have something before them, or handed in."""
    columns, work, asked = tables.quota_places.c, tables.assignments.c, tables.odd_answers.c
    limit = idle_since(study)
    counts = or_(work.state == "open", and_(work.state == "submitted", work.number > 0))
    return or_(
        columns.taken >= limit,
        exists().where(work.participant == columns.participant, counts),
        exists().where(
            asked.participant == columns.participant, or_(asked.answered.is_not(None), asked.asked >= limit)
        ),
    )
