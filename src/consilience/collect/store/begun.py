"""What stays as it is once people have begun to sort, previews apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, select

from consilience.collect.errors import NotOpenError
from consilience.collect.settings.model import JUDGING, Item, Study
from consilience.collect.store import tables
from consilience.errors import InputError


def has_begun_in(db: Connection, study_id: str) -> bool:
    """Whether anybody was given cards to sort, previews apart."""
    columns, people = tables.assignments.c, tables.participants.c
    count = db.scalar(
        select(func.count())
        .select_from(tables.assignments.join(tables.participants, people.id == columns.participant))
        .where(columns.study == study_id, people.preview.is_(False))
    )
    return bool(count)


def sort_of(study: Study) -> tuple[Any, ...]:
    """Return what the sorts of a study depend on."""
    return study.kind, study.settings.categories, study.settings.group_names, study.settings.moves


def require_not_begun(db: Connection, study_id: str) -> None:
    """Refuse what would make sorts before it and after it differ. Raises NotOpenError: people have begun."""
    if has_begun_in(db, study_id):
        raise NotOpenError(
            "People have begun to sort: the items, the kind, the categories, and whether groups are named and moves "
            "exported stay as they are."
        )


def require_same_sort(old: Study, kind: str | None, items: Sequence[Item] | None) -> None:
    """Refuse to make a judging study of a sort, or the other way round, or to change what it asks about."""
    if kind is not None and (kind == JUDGING) != (old.kind == JUDGING):
        raise InputError("A judging study is made from clusters; a sort cannot become one, nor it a sort.")
    if items is not None and old.kind == JUDGING:
        raise NotOpenError("The questions of a judging study are about its cards, which stay as they are.")


def forget_previews(db: Connection, study_id: str) -> None:
    """Delete previews, which sorted something else than people will."""
    people = tables.participants.c
    db.execute(delete(tables.participants).where(people.study == study_id, people.preview.is_(True)))
