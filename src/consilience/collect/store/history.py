"""The log of who changed what, of each study and of the server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
from sqlalchemy import insert, select

from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.studies import study_in

ACTIONS = tables.actions.c


@dataclass(frozen=True)
class Action:
    """Something that somebody changed.

    done : datetime
    name : of the account, as it was then.
    study : str, or None; the id of the study, which may be deleted.
    title : of the study, as it was then.
    action, detail : what was done, and more of it.
    """

    id: int
    done: datetime
    name: str
    study: str | None
    title: str
    action: str
    detail: str


class History(Database):
    """What the store knows of what was changed."""

    def note_action(
        self, name: str, action: str, detail: str = "", *, study_id: str | None = None, title: str = ""
    ) -> None:
        """Write into the log that somebody changed something."""
        values = {"done": now(), "name": name, "action": action, "detail": detail, "study": study_id, "title": title}
        with self.write() as db:
            db.execute(insert(tables.actions).values(**values))

    def actions(self, study_id: str | None = None, *, before: int | None = None, most: int = 100) -> list[Action]:
        """Return the last actions, the newest first: those in a study, or all.

        before : id of an action; only earlier ones are returned.
        """
        query = select(tables.actions).order_by(ACTIONS.id.desc()).limit(most)
        if study_id is not None:
            query = query.where(ACTIONS.study == study_id)
        if before is not None:
            query = query.where(ACTIONS.id < before)
        with self.read() as db:
            return [Action(**row._mapping) for row in db.execute(query)]

    def log_frame(self, study_id: str, *, identifiers: bool = True) -> pd.DataFrame:
        """Return the log of a study, the oldest first; without identifiers, without accounts and details."""
        query = select(ACTIONS.done, ACTIONS.name, ACTIONS.action, ACTIONS.detail).order_by(ACTIONS.id)
        with self.read() as db:
            rows = db.execute(query.where(ACTIONS.study == study_in(db, study_id).id)).all()
        frame = pd.DataFrame(rows, columns=["time", "account", "action", "detail"])
        return frame if identifiers else frame.drop(columns=["account", "detail"])
