"""What the dashboards show: the drawings and tables that the worker made of a study last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select

from consilience.annotations.types import Real
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.jobs import all_there
from consilience.collect.store.requests import request

PATIENCE = 10  # times the seconds that the last overview took, from it to the next


@dataclass(frozen=True)
class Overview:
    """An overview of a study, without its content.

    answers : what it was made of, see `consilience.collect.results.consensus.fingerprint`.
    created : datetime
    seconds : how long it took.
    """

    answers: str
    created: datetime
    seconds: float


class Overviews(Database):
    """What the store knows of dashboards."""

    def put_overview(
        self, study_id: str, answers: str, content: Mapping[str, Any], assignments: Iterable[int], *, seconds: Real
    ) -> None:
        """Keep an overview of these assignments in place of the last, unless one of them was deleted meanwhile."""
        mine = tables.overviews.c.study == study_id
        values = {"study": study_id, "answers": answers, "created": now(), "seconds": seconds, "content": dict(content)}
        with self.write() as db:
            if not all_there(db, study_id, set(assignments)):
                return
            db.execute(delete(tables.overviews).where(mine))
            db.execute(insert(tables.overviews).values(**values))

    def overview(self, study_id: str) -> Overview | None:
        """Return of what and when the overview of a study was made, None if there is none."""
        columns = tables.overviews.c
        query = select(columns.answers, columns.created, columns.seconds).where(columns.study == study_id)
        with self.read() as db:
            row = db.execute(query).first()
        return None if row is None else Overview(*row)

    def overview_content(self, study_id: str) -> dict[str, Any] | None:
        """Return what the worker found, see `consilience.collect.results.overview`."""
        columns = tables.overviews.c
        with self.read() as db:
            return db.scalar(select(columns.content).where(columns.study == study_id))

    def request_overview(self, study_id: str, *, at_once: bool = False) -> None:
        """Ask the worker for an overview, so late that they take at most a tenth of its time, or `at_once`."""
        last, due = self.overview(study_id), now()
        if last is not None and not at_once:
            due = max(due, last.created + timedelta(seconds=PATIENCE * last.seconds))
        with self.write() as db:
            request(db, study_id, "overview", due)
