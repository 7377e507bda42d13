"""Prepared subsets, jobs of the background worker, and what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.study_kinds import list_cards
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.requests import request
from consilience.collect.store.studies import study_in

KINDS = ("subsets", "consensus", "overview")
ABANDONED = timedelta(minutes=15)  # after which a job of a worker that died is done again
LONGEST_ERROR = 2000  # characters
LOCK = 7_313_460_216  # of PostgreSQL, held while a worker takes a job
PREPARED = (
    select(tables.subsets)
    .where(tables.subsets.c.study == bindparam("of"), tables.subsets.c.assignment.is_(None))
    .order_by(tables.subsets.c.id)
)
LOCKED_PREPARED = PREPARED.with_for_update(skip_locked=True)


@dataclass(frozen=True)
class Job:
    """Something that the worker has to do.

    kind : {"subsets", "consensus", "overview"}; prepare subsets; find the consensus, how stable it is, and whether to
        stop; or draw what the dashboard shows.
    """

    id: int
    study: str
    kind: str


@dataclass(frozen=True)
class Prepared:
    """A subset that was composed beforehand.

    source : the strategy that composed it.
    participant : whom it was composed for.
    assignment : the assignment by which it was given.
    """

    id: int
    items: tuple[int, ...]
    source: str
    participant: str | None
    assignment: int | None


class Jobs(Database):
    """What the store knows of the work behind the scenes."""

    def claim_job(self) -> Job | None:
        """Take the job that is due first, of a study at which no other worker is at work; None if there is none."""
        columns, moment = tables.jobs.c, now()
        running = select(columns.study).where(columns.state == "running", columns.started > moment - ABANDONED)
        with self.write() as db:
            if db.dialect.name == "postgresql":  # one worker after the other
                db.execute(select(func.pg_advisory_xact_lock(LOCK)))
            _take_back(db, tables.jobs.c.started <= moment - ABANDONED)
            row = db.execute(
                select(tables.jobs)
                .where(columns.state == "waiting", columns.due <= moment, columns.study.not_in(running))
                .order_by(columns.due, columns.id)
                .limit(1)
                .with_for_update(skip_locked=True)
            ).first()
            if row is None:
                return None
            db.execute(update(tables.jobs).where(columns.id == row.id).values(state="running", started=moment))
            return Job(row.id, row.study, row.kind)

    def finish_job(self, job: Job, error: str | None = None) -> None:
        """Forget a job that is done, and the earlier failures of its kind; keep it if it failed."""
        columns = tables.jobs.c
        with self.write() as db:
            failed = (columns.study == job.study, columns.kind == job.kind, columns.state == "failed")
            db.execute(delete(tables.jobs).where(*failed))
            if error is None:
                db.execute(delete(tables.jobs).where(columns.id == job.id))
            else:
                values = {"state": "failed", "finished": now(), "error": error[:LONGEST_ERROR]}
                db.execute(update(tables.jobs).where(columns.id == job.id).values(**values))

    def return_job(self, job: Job) -> None:
        """Ask again for a job that was taken and not done."""
        with self.write() as db:
            db.execute(delete(tables.jobs).where(tables.jobs.c.id == job.id))
            request(db, job.study, job.kind, now())

    def return_jobs(self) -> None:
        """Ask again for all jobs that were taken; for a worker that knows that it is the only one."""
        with self.write() as db:
            _take_back(db)

    def failures(self, study_id: str) -> dict[str, str]:
        """Return why the last jobs of a study failed, by their kind."""
        columns = tables.jobs.c
        query = select(columns.kind, columns.error).where(columns.study == study_id, columns.state == "failed")
        with self.read() as db:
            return {row.kind: row.error for row in db.execute(query)}

    def at_work(self, study_id: str) -> set[str]:
        """Return the kinds of the jobs of a study that wait or are being done."""
        columns = tables.jobs.c
        query = select(columns.kind).where(columns.study == study_id, columns.state.in_(("waiting", "running")))
        with self.read() as db:
            return set(db.scalars(query))

    def next_due(self) -> datetime | None:
        """Return when the next job is due."""
        columns = tables.jobs.c
        with self.read() as db:
            return db.scalar(select(columns.due).where(columns.state == "waiting").order_by(columns.due).limit(1))

    def put_subsets(
        self, study_id: str, subsets: Iterable[tuple[Sequence[int], str, str | None]], *, instead_of: Iterable[int] = ()
    ) -> list[Prepared]:
        """Add subsets to those that are prepared.

        Parameters
        ----------
        study_id : str
        subsets : triples of the numbers of the items, the source, and the participant that it is for or None
        instead_of : ids of prepared subsets that are dropped, unless they were given in the meantime

        Returns
        -------
        list of Prepared

        Raises
        ------
        NotFoundError
            There is no such study any more, or it has other cards or subsets of another size by now.
        """
        columns = tables.subsets.c
        added = []
        new = list(subsets)
        with self.write() as db:
            study = study_in(db, study_id, lock=True)
            if any(len(items) != study.subset_size or max(list_cards(items)) >= study.n_items for items, *_ in new):
                raise NotFoundError("The cards of the study changed.")
            dropped = list(instead_of)
            if dropped:
                db.execute(delete(tables.subsets).where(columns.id.in_(dropped), columns.assignment.is_(None)))
            for items, source, participant in new:
                values = {
                    "study": study_id,
                    "items": [int(item) for item in items],
                    "source": source,
                    "participant": participant,
                    "created": now(),
                }
                row = db.execute(insert(tables.subsets).values(**values).returning(tables.subsets)).one()
                added.append(_prepared_of(row))
        return added

    def prepared_subsets(self, study_id: str) -> list[Prepared]:
        """Return the subsets of a study that were not given yet.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        list of Prepared
            In the order in which they will be given.
        """
        with self.read() as db:
            return prepared_in(db, study_id)

    def given_subsets(self, study_id: str) -> list[tuple[Prepared, str]]:
        """Return the prepared subsets that were given, each with the state of its assignment."""
        columns, work = tables.subsets.c, tables.assignments.c
        query = (
            select(tables.subsets, work.state)
            .join(tables.assignments, work.id == columns.assignment)
            .where(columns.study == study_id)
            .order_by(columns.id)
        )
        with self.read() as db:
            return [(_prepared_of(row), row.state) for row in db.execute(query)]

    def put_consensus(self, study_id: str, summary: Mapping[str, Any], assignments: Iterable[int]) -> bool:
        """Keep what the worker found in these assignments, in place of what it found before; return whether.

        Nothing changes if one of them was deleted meanwhile.
        """
        of = set(assignments)
        values = {"study": study_id, "created": now(), "n_groupings": len(of), "summary": dict(summary)}
        with self.write() as db:
            there = all_there(db, study_id, of)
            if there:
                columns = tables.consensuses.c
                added = insert(tables.consensuses).values(**values).returning(columns.id)
                others = columns.id != db.execute(added).scalar_one()
                db.execute(delete(tables.consensuses).where(columns.study == study_id, others))
            return there

    def forget_findings(self, study_id: str) -> None:
        """Delete the consensus and the overview of a study in which no answer counts any more."""
        with self.write() as db:
            forget_findings(db, study_id)

    def consensus(self, study_id: str) -> dict[str, Any] | None:
        """Return the latest consensus of a study, as the worker wrote it.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        dict of str, or None
            As `consilience.collect.results.consensus` makes it; None as long as there is none.
        """
        columns = tables.consensuses.c
        query = select(columns.summary).where(columns.study == study_id).order_by(columns.id.desc()).limit(1)
        with self.read() as db:
            return db.scalar(query)

    def consensus_number(self, study_id: str) -> int | None:
        """Return the number of the consensus of a study, which grows with each; None if there is none."""
        columns = tables.consensuses.c
        with self.read() as db:
            return db.scalar(select(func.max(columns.id)).where(columns.study == study_id))


def all_there(db: Connection, study_id: str, assignments: Set[int]) -> bool:
    """Whether assignments are still in the store; until the end of the transaction, nobody deletes them."""
    study_in(db, study_id, lock=True)
    columns = tables.assignments.c
    return assignments <= set(db.scalars(select(columns.id).where(columns.study == study_id)))


def forget_findings(db: Connection, study_id: str) -> None:
    """Delete what was found in the answers of a study."""
    for table in (tables.consensuses, tables.overviews):
        db.execute(delete(table).where(table.c.study == study_id))


def prepared_in(db: Connection, study_id: str, *, lock: bool = False) -> list[Prepared]:
    """Return the subsets of a study that were not given yet, in the order in which they will be.

    With `lock`, those that another transaction is giving at this moment are left out, and the others stay as they are
    until this one ends.
    """
    return [_prepared_of(row) for row in db.execute(LOCKED_PREPARED if lock else PREPARED, {"of": study_id})]


def _prepared_of(row: Any) -> Prepared:
    return Prepared(row.id, tuple(row._mapping["items"]), row.source, row.participant, row.assignment)


def _take_back(db: Connection, *which: ColumnElement[bool]) -> None:
    """Ask again for jobs that were taken and not done."""
    taken = (tables.jobs.c.state == "running", *which)
    for row in db.execute(select(tables.jobs).where(*taken).with_for_update(skip_locked=True)).all():
        db.execute(delete(tables.jobs).where(tables.jobs.c.id == row.id))
        request(db, row.study, row.kind, now())
