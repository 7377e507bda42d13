"""Judging studies in the store: made from clusters, with their questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, insert, literal, select

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.checks import checked_items, checked_settings, checked_title
from consilience.collect.settings.model import JUDGING, QUESTIONS, Item, Picture, Study, StudySettings
from consilience.collect.settings.study_checks import require_pictures
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.judging import USUAL_EACH, Cluster, Judging, OddQuestion, compose_questions, usual_number
from consilience.collect.store.judging_checks import checked_clusters, checked_n_questions
from consilience.collect.store.secret import new_id, new_seed, new_token
from consilience.collect.store.studies import insert_items, insert_study, study_in


class JudgingStudies(Database):
    """What the store knows of judging studies, their clusters and their questions."""

    def create_judging(
        self,
        title: str,
        items: Iterable[Item | str],
        clusters: Sequence[Cluster],
        *,
        n_questions: int | None = None,
        settings: StudySettings | None = None,
        pictures: Iterable[Picture] = (),
        source: str | None = None,
    ) -> Study:
        """Make a study in which people judge clusters, as a draft.

        Parameters
        ----------
        title : str
        items : iterable of Item, or of names
        clusters : sequence of Cluster
            Each item must be in one.
        n_questions : int, optional
            By default eight for each cluster; see `consilience.collect.store.judging.usual_number`.
        settings : StudySettings, optional
            By default each judge is asked 12 questions.
        pictures : iterable of Picture
            Those that the items name by their hashes.
        source : str, optional
            The study that the clusters are of. Its pictures can be named too, and whoever sorted in it is not asked.

        Returns
        -------
        Study

        Raises
        ------
        NotFoundError
            There is no study `source`.
        InputError
            Something is wrong with the title, an item, a cluster or a setting, there are not so many questions about
            these clusters, or a picture is missing.
        """
        found = checked_items(items)
        judged = checked_clusters(clusters, len(found))
        number = usual_number(judged) if n_questions is None else checked_n_questions(n_questions)
        settings = settings or StudySettings(per_participant=min(USUAL_EACH, number))
        settings = checked_settings(settings, JUDGING, QUESTIONS, len(found))
        ids = (new_id(), checked_title(title), JUDGING, QUESTIONS, "draft")
        study = Study(*ids, settings, len(found), new_token(), new_seed(), now())
        questions = compose_questions(judged, number, study.seed)
        held = {picture.hash: picture for picture in pictures}
        with self.write() as db:
            theirs = set() if source is None else _pictures_of(db, study_in(db, source).id, found, held)
            require_pictures(found, {*held, *theirs})
            insert_study(db, study, held.values())
            _copy_pictures(db, source, study.id, theirs)
            insert_items(db, study.id, found)
            values = {"study": study.id, "source": source, "clusters": [asdict(one) for one in judged]}
            db.execute(insert(tables.judgings).values(**values))
            db.execute(insert(tables.odd_questions), [{"study": study.id, **asdict(one)} for one in questions])
        return study

    def judging(self, study_id: str) -> Judging:
        """Return the clusters that a study is about.

        Raises
        ------
        NotFoundError
            There is no such study, or it is no judging study.
        """
        with self.read() as db:
            return judging_in(db, study_in(db, study_id).id)

    def judgings_of(self, source: str) -> list[Study]:
        """Return the studies in which the consensus of a study is judged, the newest first."""
        columns = tables.judgings.c
        with self.read() as db:
            study_in(db, source)
            found = [study_in(db, one) for one in db.scalars(select(columns.study).where(columns.source == source))]
        return sorted(found, key=lambda one: one.created, reverse=True)

    def odd_questions(self, study_id: str) -> list[OddQuestion]:
        """Return the questions of a judging study.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        list of OddQuestion
            In order; empty if the study is of another kind.

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        with self.read() as db:
            study_in(db, study_id)
            return odd_questions_in(db, study_id)


def judging_in(db: Connection, study_id: str) -> Judging:
    """Return what is more of a judging study. Raises NotFoundError: it is none."""
    row = db.execute(select(tables.judgings).where(tables.judgings.c.study == study_id)).first()
    if row is None:
        raise NotFoundError("This is no study in which clusters are judged.")
    return Judging(row.source, tuple(Cluster(one["name"], tuple(one["items"])) for one in row.clusters))


def odd_questions_in(db: Connection, study_id: str) -> list[OddQuestion]:
    """Return the questions of a study, in order."""
    columns = tables.odd_questions.c
    query = select(tables.odd_questions).where(columns.study == study_id).order_by(columns.number)
    return [_question_of(row) for row in db.execute(query)]


def _question_of(row: Any) -> OddQuestion:
    values = dict(row._mapping)
    del values["study"]
    return OddQuestion(**{**values, "items": tuple(values["items"])})


def _pictures_of(db: Connection, source: str, items: Iterable[Item], held: Iterable[str]) -> set[str]:
    """Return the pictures of items that another study holds."""
    columns = tables.pictures.c
    theirs = set(db.scalars(select(columns.hash).where(columns.study == source)))
    return theirs.intersection(item.picture for item in items if item.picture).difference(held)


def _copy_pictures(db: Connection, source: str | None, study_id: str, hashes: Iterable[str]) -> None:
    """Copy pictures of another study within the database."""
    columns = tables.pictures.c
    names = [column.name for column in columns if column.name != "study"]
    for one in sorted(hashes):
        mine = select(literal(study_id), *(columns[name] for name in names))
        query = mine.where(columns.study == source, columns.hash == one)
        db.execute(insert(tables.pictures).from_select(["study", *names], query))
