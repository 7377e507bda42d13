"""Backups: all tables in one compressed file with a checksum, which either kind of database can take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import URL, Connection, Integer, Table, func, insert, inspect, select
from sqlalchemy.exc import DataError, IntegrityError

from consilience.atomic_files import replacing
from consilience.collect.store import schema
from consilience.collect.store.backup_file import (
    AT_ONCE,
    Backup,
    check_backup,
    does_not_fit,
    new_backup,
    read_rows,
    write_lines,
)
from consilience.collect.store.database import OWNER, Database
from consilience.collect.store.tables import metadata
from consilience.errors import InputError


def backup(store: Database, path: str | PathLike[str]) -> Backup:
    """Write all that a store holds to a file, as it is at one moment; others may read and write meanwhile.

    Only its owner may read the file.

    store : its tables may be those of an earlier version; they are written as they are.
    """
    with replacing(path) as file, store.read(at_one_moment=True) as db:
        _make_private(Path(file.name), Path(path))
        made = new_backup(schema.revision(db))
        write_lines(file, made, _rows_of(db))
    return made


def restore(url: str, path: str | PathLike[str]) -> Backup:
    """Fill an empty database from a backup, of SQLite or PostgreSQL alike: wholly, or not at all.

    The tables are made as they were at the backup, and brought up to date afterwards. Raises InputError: the file is no
    backup, is damaged or was written by a later version; or the database is not empty.

    url : as for `Store.open`.
    """
    found = check_backup(path)
    store = Database.open(url)
    try:
        with store.write() as db:
            _require_empty(db)
            schema.move_to(db, schema.BASE)
            if found.revision is not None:
                schema.move_to(db, found.revision)
            _fill(db, path, found.counts)
            schema.move_to(db, schema.HEAD)
        return found
    finally:
        store.close()


def verify(path: str | PathLike[str]) -> Backup:
    """Read a backup to its end and restore it into a temporary file, which is removed again.

    Raises InputError: the file is no backup, is damaged or was written by a later version.
    """
    with TemporaryDirectory(prefix="consilience-") as folder:
        url = URL.create("sqlite", database=str(Path(folder) / "verified.db"))
        return restore(url.render_as_string(), path)


def _rows_of(db: Connection) -> Iterator[tuple[str, list[str], Iterable[Any]]]:
    """Yield what each table holds, in the columns that it has: no revision has others than `tables`."""
    there = inspect(db)
    names = set(there.get_table_names())
    for table in (one for one in metadata.sorted_tables if one.name in names):
        has = {column["name"] for column in there.get_columns(table.name)}
        columns = [column for column in table.columns if column.name in has]
        query = select(*columns).order_by(*table.primary_key.columns).execution_options(yield_per=AT_ONCE)
        yield table.name, [column.name for column in columns], db.execute(query)


def _make_private(*paths: Path) -> None:
    """Let only its owner read a file, and the one it replaces, whose permissions it gets; pipes stay as they are."""
    for path in paths:
        if path.is_file():
            path.chmod(OWNER)


def _require_empty(db: Connection) -> None:
    full = [table.name for table in metadata.sorted_tables if db.execute(select(table).limit(1)).first() is not None]
    if full:
        raise InputError(
            f"The database is not empty: there are rows in its table {full[0]!r}. Restore into a new database."
        )


def _fill(db: Connection, path: str | PathLike[str], counts: dict[str, int]) -> None:
    """Insert the rows of a backup, and count them."""
    for table, rows in read_rows(path, set(inspect(db).get_table_names())):
        counts[table.name] = counts.get(table.name, 0) + len(rows)
        if rows:
            _insert(db, table, rows, path)
    if db.dialect.name == "postgresql":
        _count_on(db)


def _insert(db: Connection, table: Table, rows: list[dict[str, Any]], path: str | PathLike[str]) -> None:
    try:
        db.execute(insert(table), rows)
    except (IntegrityError, DataError) as error:
        raise does_not_fit(path, table) from error


def _count_on(db: Connection) -> None:
    """Let PostgreSQL number new rows after those that were restored."""
    there = set(inspect(db).get_table_names())
    for table in metadata.sorted_tables:
        for column in table.primary_key.columns if table.name in there else ():
            if isinstance(column.type, Integer) and table.autoincrement_column is column:
                sequence = db.scalar(select(func.pg_get_serial_sequence(table.name, column.name)))
                last = db.scalar(select(func.max(column)))
                if sequence is not None and last is not None:
                    db.execute(select(func.setval(sequence, last)))
