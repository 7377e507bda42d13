"""Studies, their items and their pictures in the store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.settings.checks import checked_items, checked_settings, checked_title
from consilience.collect.settings.cleaning import as_id, clean
from consilience.collect.settings.group_checks import require_known_cards
from consilience.collect.settings.model import JUDGING, KINDS, OPEN, Item, Picture, Study, StudySettings
from consilience.collect.settings.study_checks import checked_study, require_pictures
from consilience.collect.settings.study_kinds import board_of_kind
from consilience.collect.settings.training_checks import with_checked_training
from consilience.collect.store import tables
from consilience.collect.store.begun import forget_previews, has_begun_in, require_not_begun, require_same_sort, sort_of
from consilience.collect.store.database import Database, now
from consilience.collect.store.quotas import take_places_of_all
from consilience.collect.store.requests import request
from consilience.collect.store.secret import new_id, new_seed, new_token
from consilience.errors import InputError

SAID = 40  # characters of an unknown id in a message
# statements of every visit, which are prepared once
BY_ID = select(tables.studies).where(tables.studies.c.id == bindparam("study_id"))
LOCKED_BY_ID = BY_ID.with_for_update(key_share=True)
ITEMS = (
    select(*(tables.items.c[one.name] for one in fields(Item)))
    .where(tables.items.c.study == bindparam("study_id"))
    .order_by(tables.items.c.number)
)
SOME_ITEMS = ITEMS.where(tables.items.c.number.in_(bindparam("numbers", expanding=True)))
FEW = 200  # items that are asked for by their numbers; more are found faster among all


class Studies(Database):
    """What the store knows of studies."""

    def create_study(
        self,
        title: str,
        items: Iterable[Item | str],
        *,
        kind: str = OPEN,
        board: str = "piles",
        settings: StudySettings | None = None,
        pictures: Iterable[Picture] = (),
    ) -> Study:
        """Make a study, as a draft.

        Parameters
        ----------
        title : str
        items : iterable of Item, or of names
        kind : {"open", "closed", "hybrid", "labels", "pairs"}
        board : {"piles", "sheet"}
            Where people are asked questions, there is none.
        settings : StudySettings, optional
        pictures : iterable of Picture
            Those that the items name by their hashes; see `new_picture`.

        Returns
        -------
        Study

        Raises
        ------
        FieldsError
            Something is wrong with the title, an item or a setting, or a picture is missing: a sentence for each.
        """
        if kind == JUDGING:
            raise InputError(f"The kind of a new study must be one of {', '.join(KINDS)}.")
        held = {picture.hash: picture for picture in pictures}
        board = board_of_kind(kind, board)
        title, found, settings = checked_study(title, items, kind, board, settings or StudySettings(), held)
        study = Study(new_id(), title, kind, board, "draft", settings, len(found), new_token(), new_seed(), now())
        with self.write() as db:
            insert_study(db, study, held.values())
            insert_items(db, study.id, found)
        return study

    def study(self, study_id: str) -> Study:
        """Return a study.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        Study

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        with self.read() as db:
            return study_in(db, study_id)

    def studies(self) -> list[Study]:
        """Return all studies.

        Returns
        -------
        list of Study
            The newest first.
        """
        query = select(tables.studies).order_by(tables.studies.c.created.desc(), tables.studies.c.id)
        with self.read() as db:
            return [_study_of(row) for row in db.execute(query)]

    def items(self, study_id: str) -> list[Item]:
        """Return the items of a study.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        list of Item
            In order.

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        with self.read() as db:
            study_in(db, study_id)
            return items_in(db, study_id)

    def has_begun(self, study_id: str) -> bool:
        """Whether anybody was given cards to sort, previews apart: then these stay as they are."""
        with self.read() as db:
            return has_begun_in(db, study_in(db, study_id).id)

    def update_study(
        self,
        study_id: str,
        *,
        title: str | None = None,
        kind: str | None = None,
        board: str | None = None,
        settings: StudySettings | None = None,
        items: Iterable[Item | str] | None = None,
    ) -> Study:
        """Change a study.

        Once people have begun, its kind, its items, its categories, and whether groups are named and moves
        exported, stay as they are.

        Parameters
        ----------
        study_id : str
        title, kind, board, settings, items : optional
            As for `create_study`; what is None stays.

        Returns
        -------
        Study

        Raises
        ------
        NotOpenError
            People have begun to sort, previews apart, or it is a judging study, whose cards always stay.
        InputError
            A value is wrong.
        """
        with self.write() as db:
            old = study_in(db, study_id, lock=True)
            found = None if items is None else checked_items(items)
            require_same_sort(old, kind, found)
            n_items = old.n_items if found is None else len(found)
            new = replace(
                old,
                title=old.title if title is None else checked_title(title),
                kind=old.kind if kind is None else kind,
                board=board_of_kind(old.kind if kind is None else kind, old.board if board is None else board),
                n_items=n_items,
            )
            checked = checked_settings(settings or old.settings, new.kind, new.board, n_items, old.settings)
            known = items_in(db, old.id) if found is None else found
            require_known_cards(checked, known)
            checked = with_checked_training(checked, new.kind, known, _pictures_held(db, old.id))
            new = replace(new, settings=checked)
            if found is not None or sort_of(new) != sort_of(old):
                require_not_begun(db, study_id)
                forget_previews(db, study_id)
            db.execute(update(tables.studies).where(tables.studies.c.id == study_id).values(**_row_of(new)))
            if new.settings.panel.quotas != old.settings.panel.quotas:
                take_places_of_all(db, new)
            if found is not None:
                require_pictures(found, _pictures_held(db, study_id))
                db.execute(delete(tables.items).where(tables.items.c.study == study_id))
                insert_items(db, study_id, found)
            if new.settings != old.settings or found is not None:
                prepared = tables.subsets.c
                db.execute(delete(tables.subsets).where(prepared.study == study_id, prepared.assignment.is_(None)))
                request(db, study_id, "subsets", now())
        return new

    def open_study(self, study_id: str) -> Study:
        """Let people join, for the first time or again.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        Study

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        with self.write() as db:
            study = study_in(db, study_id, lock=True)
            if study.status != "open":
                study = replace(study, status="open", opened=study.opened or now(), closed=None)
                db.execute(update(tables.studies).where(tables.studies.c.id == study_id).values(**_row_of(study)))
                request(db, study_id, "subsets", now())
        return study

    def close_study(self, study_id: str) -> Study:
        """Give no more assignments; those in progress can still be submitted.

        Parameters
        ----------
        study_id : str

        Returns
        -------
        Study

        Raises
        ------
        NotOpenError
            The study was never opened.
        """
        with self.write() as db:
            study = study_in(db, study_id, lock=True)
            if study.status == "draft":
                raise NotOpenError("The study is a draft and was never open.")
            if study.status != "closed":
                study = replace(study, status="closed", closed=now())
                db.execute(update(tables.studies).where(tables.studies.c.id == study_id).values(**_row_of(study)))
                request(db, study_id, "consensus", now())
        return study

    def delete_study(self, study_id: str) -> None:
        """Delete a study and all that was collected in it; no other study is concerned.

        Parameters
        ----------
        study_id : str

        Raises
        ------
        NotFoundError
            There is no such study.
        """
        with self.write() as db:
            study_in(db, study_id, lock=True)
            db.execute(delete(tables.items).where(tables.items.c.study == study_id))
            db.execute(delete(tables.studies).where(tables.studies.c.id == study_id))
        self.empty_log()

    def renew_join_link(self, study_id: str) -> str:
        """Replace the secret part of the link by which people join; the old link leads nowhere from now on."""
        token = new_token()
        with self.write() as db:
            study_in(db, study_id, lock=True)
            db.execute(update(tables.studies).where(tables.studies.c.id == study_id).values(join_token=token))
        return token

    def study_by_join_token(self, token: str) -> Study:
        """Return the study that a link leads to.

        Raises
        ------
        NotFoundError
            The link is wrong, or was replaced.
        """
        with self.read() as db:
            row = db.execute(select(tables.studies).where(tables.studies.c.join_token == clean(token))).first()
        if row is None:
            raise NotFoundError("This link leads to no study; ask whoever gave it to you for a new one.")
        return _study_of(row)

    def add_picture(self, study_id: str, data: bytes, mime: str, width: int, height: int) -> str:
        """Keep a picture that was checked and encoded again; the same picture is kept once.

        Returns
        -------
        str
            Its hash.
        """
        picture = new_picture(data, mime, width, height)
        with self.write() as db:
            study_in(db, study_id, lock=True)
            if picture.hash not in _pictures_held(db, study_id):
                db.execute(insert(tables.pictures), [_row_of_picture(study_id, picture)])
        return picture.hash

    def require_picture(self, study_id: str, picture_hash: str) -> None:
        """Raise a NotFoundError unless a study has a picture, which is not read."""
        columns = tables.pictures.c
        query = select(columns.hash).where(columns.study == as_id(study_id), columns.hash == as_id(picture_hash))
        with self.read() as db:
            if db.execute(query).first() is None:
                raise NotFoundError("The study has no such picture.")

    def picture(self, study_id: str, picture_hash: str) -> Picture:
        """Return a picture.

        Raises
        ------
        NotFoundError
            The study has no such picture.
        """
        columns = tables.pictures.c
        query = select(tables.pictures).where(columns.study == as_id(study_id), columns.hash == as_id(picture_hash))
        with self.read() as db:
            row = db.execute(query).first()
        if row is None:
            raise NotFoundError("The study has no such picture.")
        return Picture(row.hash, row.mime, row.width, row.height, row.data)


def new_picture(data: bytes, mime: str, width: int, height: int) -> Picture:
    """Return a picture with its hash."""
    return Picture(hashlib.sha256(data).hexdigest(), mime, width, height, data)


def study_in(db: Connection, study_id: Any, *, lock: bool = False) -> Study:
    """Return a study; `lock` makes other writers of it wait until the transaction ends.

    Whoever locks a study and something else locks the study first, so that nobody waits for each other. Raises
    NotFoundError: there is no such study.
    """
    row = db.execute(LOCKED_BY_ID if lock else BY_ID, {"study_id": as_id(study_id)}).first()
    if row is None:
        raise no_such_study(study_id)
    return _study_of(row)


def no_such_study(study_id: Any) -> NotFoundError:
    """Return the error for an id that is that of no study, or of none that somebody may see."""
    return NotFoundError(f"There is no study {clean(str(study_id))[:SAID]!r}.")


def lock_study_of(db: Connection, table: Table, its_id: Any) -> Study:
    """Return the study to which an assignment or a participant belongs, by the table and the id, and lock it.

    Raises NotFoundError: there is no such assignment or participant.
    """
    row = db.execute(_select_study_of(table), {"its_id": as_id(its_id) if isinstance(its_id, str) else its_id}).first()
    if row is None:
        raise NotFoundError(f"There is no such {table.name.removesuffix('s')}.")
    return _study_of(row)


@cache
def _select_study_of(table: Table) -> Any:
    mine = select(table.c.study).where(table.c.id == bindparam("its_id")).scalar_subquery()
    return select(tables.studies).where(tables.studies.c.id == mine).with_for_update(key_share=True)


def items_in(db: Connection, study_id: str, numbers: Sequence[int] | None = None) -> list[Item]:
    """Return the items of a study, in order: all, or those with some numbers at least."""
    if numbers is None or len(numbers) > FEW:
        rows = db.execute(ITEMS, {"study_id": study_id})
    else:
        rows = db.execute(SOME_ITEMS, {"study_id": study_id, "numbers": numbers})
    return [Item(*row) for row in rows]


def insert_study(db: Connection, study: Study, pictures: Iterable[Picture]) -> None:
    """Keep a new study, which was checked, and its pictures; its items follow."""
    db.execute(insert(tables.studies), [_row_of(study)])
    rows = [_row_of_picture(study.id, one) for one in pictures]
    if rows:
        db.execute(insert(tables.pictures), rows)


def insert_items(db: Connection, study_id: str, items: Sequence[Item]) -> None:
    """Keep the items of a study, which were checked."""
    db.execute(insert(tables.items), [{"study": study_id, **vars(item)} for item in items])


def _study_of(row: Any) -> Study:
    values = dict(row._mapping)
    return Study(**{**values, "settings": StudySettings.of_json(values["settings"])})


def _row_of(study: Study) -> dict[str, Any]:
    return {**vars(study), "settings": study.settings.as_json()}


def _row_of_picture(study_id: str, picture: Picture) -> dict[str, Any]:
    return {"study": study_id, **vars(picture)}


def _pictures_held(db: Connection, study_id: str) -> set[str]:
    return set(db.scalars(select(tables.pictures.c.hash).where(tables.pictures.c.study == study_id)))
