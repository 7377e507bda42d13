"""Requests for the work behind the scenes, made within the transaction that brings it about."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from consilience.collect.store import tables


def request(db: Connection, study_id: str, kind: str, due: datetime) -> None:
    """Ask for a job within a transaction; one that waits already is done no later than the earlier of the two times."""
    columns = tables.jobs.c
    waiting = (columns.study == study_id, columns.kind == kind, columns.state == "waiting")
    row = db.execute(select(columns.id, columns.due).where(*waiting).with_for_update()).first()
    if row is not None:
        if due < row.due:
            db.execute(update(tables.jobs).where(columns.id == row.id).values(due=due))
        return
    values = {"study": study_id, "kind": kind, "state": "waiting", "due": due}
    if db.dialect.name == "postgresql":  # where another transaction may ask for the same at this moment
        from sqlalchemy.dialects.postgresql import insert as insert_or_not

        db.execute(insert_or_not(tables.jobs).values(**values).on_conflict_do_nothing())
    else:
        db.execute(insert(tables.jobs).values(**values))
