"""Backups: all tables in one compressed, checksummed file of lines of JSON, which either kind of database can take.

The first line says which revision of the tables the file holds; then each table is named, followed by its rows; the
last line is the SHA-256 of all lines before it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, Table, func, insert, inspect, select, text

from consilience import __version__
from consilience.atomic_files import replacing
from consilience.collect.store import schema
from consilience.collect.store.database import Database, now
from consilience.collect.tables import metadata
from consilience.errors import InputError

FORMAT = "consilience store backup 1"
AT_ONCE = 200  # rows


def backup(store: Database, path: str | PathLike[str]) -> dict[str, int]:
    """Write all that a store holds to a file, as it is at one moment; others may read and write meanwhile.

    Parameters
    ----------
    store : Store
    path : path

    Returns
    -------
    dict of int
        Number of rows, by table.
    """
    counts: dict[str, int] = {}
    checksum = hashlib.sha256()
    with replacing(path) as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed, store.read() as db:
        if db.dialect.name == "postgresql":  # one moment for all tables, as SQLite's transactions have
            db.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        for line in _lines(db, counts):
            data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
            checksum.update(data)
            packed.write(data)
        packed.write(f"{checksum.hexdigest()}\n".encode())
    return counts


def restore(url: str, path: str | PathLike[str]) -> dict[str, int]:
    """Fill an empty database from a backup, of SQLite or PostgreSQL alike: wholly, or not at all.

    The tables are made as they were at the backup, and brought up to date afterwards.

    Parameters
    ----------
    url : str
        As for `Store.open`.
    path : path

    Returns
    -------
    dict of int
        Number of rows, by table.

    Raises
    ------
    InputError
        The file is no backup, is damaged or was written by a later version; or the database is not empty.
    """
    head = _checked(path)
    store = Database.open(url)
    try:
        with store.write() as db:
            _require_empty(db)
            schema.move_to(db, schema.BASE)
            schema.move_to(db, head["revision"])
            counts = _fill(db, path)
            schema.move_to(db, schema.HEAD)
        return counts
    finally:
        store.close()


def _lines(db: Connection, counts: dict[str, int]) -> Iterator[Any]:
    """Yield what a backup holds, and count the rows."""
    yield {
        "format": FORMAT,
        "revision": schema.revision(db),
        "version": __version__,
        "created": now().isoformat(),
    }
    for table in metadata.sorted_tables:
        yield {"table": table.name, "columns": [column.name for column in table.columns]}
        counts[table.name] = 0
        order = list(table.primary_key.columns)
        for row in db.execute(select(table).order_by(*order).execution_options(yield_per=AT_ONCE)):
            counts[table.name] += 1
            yield [_packed(value) for value in row]


def _packed(value: Any) -> Any:
    """Return a value as JSON: moments and bytes are marked, and so is what JSON columns hold."""
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return {"json": value} if isinstance(value, dict | list) else value


def _unpacked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "moment":
        return datetime.fromisoformat(content)
    return base64.b64decode(content) if kind == "bytes" else content


def _checked(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a backup to its end, and return its first line."""
    checksum, last, head = hashlib.sha256(), b"", None
    try:
        with gzip.open(path, "rb") as file:
            for line in file:
                checksum.update(last)
                head, last = head or line, line
        found = json.loads(head or b"null")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {Path(path).name}.") from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"The backup {Path(path).name} is damaged: it cannot be read to its end.") from error
    except (gzip.BadGzipFile, ValueError) as error:
        raise InputError(f"{Path(path).name} is not a backup of a store, or is damaged.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{Path(path).name} is not a backup that this version of consilience can read.")
    if last.strip() != checksum.hexdigest().encode():
        raise InputError(f"The backup {Path(path).name} is damaged: its checksum is not that of its content.")
    if not schema.is_known(found.get("revision")):
        raise InputError(
            f"The backup was written by a later version of consilience (revision {found.get('revision')}); update the "
            "package."
        )
    return found


def _require_empty(db: Connection) -> None:
    full = [table.name for table in metadata.sorted_tables if db.execute(select(table).limit(1)).first() is not None]
    if full:
        raise InputError(
            f"The database is not empty: there are rows in its table {full[0]!r}. Restore into a new database."
        )


def _fill(db: Connection, path: str | PathLike[str]) -> dict[str, int]:
    """Insert the rows of a backup, and return how many, by table."""
    counts: dict[str, int] = {}
    there = set(inspect(db).get_table_names())
    table: Table | None = None
    columns: list[str] = []
    rows: list[dict[str, Any]] = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            value = json.loads(line) if line[0] in "[{" else None
            if isinstance(value, list) and table is not None:
                rows.append({name: _unpacked(cell) for name, cell in zip(columns, value, strict=True)})
            if rows and (not isinstance(value, list) or len(rows) == AT_ONCE):
                counts[_insert(db, table, rows)] += len(rows)
                rows = []
            if isinstance(value, dict):
                table, columns = _table_of(value, there), value["columns"]
                counts[table.name] = 0
    if db.dialect.name == "postgresql":
        _count_on(db)
    return counts


def _insert(db: Connection, table: Any, rows: list[dict[str, Any]]) -> str:
    """Insert rows, and return the name of their table."""
    db.execute(insert(table), rows)
    return str(table.name)


def _table_of(said: dict[str, Any], there: set[str]) -> Table:
    """Return the table that a line of a backup names."""
    table = metadata.tables.get(said["table"])
    unknown = [] if table is None else [name for name in said["columns"] if name not in table.columns]
    if table is None or unknown or table.name not in there:
        raise InputError(
            f"The table {said['table']!r} of the backup is laid out as this version of consilience no longer knows it; "
            "restore with the version that wrote it, and upgrade the database then."
        )
    return table


def _count_on(db: Connection) -> None:
    """Let PostgreSQL number new rows after those that were restored."""
    for table in metadata.sorted_tables:
        for column in table.primary_key.columns:
            if isinstance(column.type, Integer) and table.autoincrement_column is column:
                sequence = db.scalar(select(func.pg_get_serial_sequence(table.name, column.name)))
                last = db.scalar(select(func.max(column)))
                if sequence is not None and last is not None:
                    db.execute(select(func.setval(sequence, last)))
