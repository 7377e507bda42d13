"""Requests for the work behind the scenes, made within the transaction that brings it about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from consilience.collect.store import tables

WAITING = (  # prepared once
    select(tables.jobs.c.id, tables.jobs.c.kind, tables.jobs.c.due)
    .where(
        tables.jobs.c.study == bindparam("of"),
        tables.jobs.c.kind.in_(bindparam("kinds", expanding=True)),
        tables.jobs.c.state == "waiting",
    )
    .order_by(tables.jobs.c.id)
    .with_for_update()
)
SOONER = update(tables.jobs).where(tables.jobs.c.id == bindparam("which"))


def request(db: Connection, study_id: str, kind: str, due: datetime) -> None:
    """Ask for a job within a transaction; one that waits already is done no later than the earlier of the two times."""
    request_all(db, study_id, {kind: due})


def request_all(db: Connection, study_id: str, due_of: Mapping[str, datetime]) -> None:
    """Ask for jobs of several kinds, as `request` does for one."""
    rows = {row.kind: row for row in db.execute(WAITING, {"of": study_id, "kinds": list(due_of)})}
    for kind, due in due_of.items():
        if kind not in rows:
            _insert(db, study_id, kind, due)
        elif due < rows[kind].due:
            db.execute(SOONER, {"which": rows[kind].id, "due": due})


def _insert(db: Connection, study_id: str, kind: str, due: datetime) -> None:
    values = {"study": study_id, "kind": kind, "state": "waiting", "due": due}
    if db.dialect.name == "postgresql":  # where another transaction may ask for the same at this moment
        from sqlalchemy.dialects.postgresql import insert as insert_or_not

        db.execute(insert_or_not(tables.jobs).on_conflict_do_nothing(), values)
    else:
        db.execute(insert(tables.jobs), values)
