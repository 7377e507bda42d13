"""The file of a backup: compressed lines of JSON, of which each names a table or is a row, and a checksum at the end.

The first line says which revision of the tables the file holds; then each table is named, followed by its rows; the
last line is the SHA-256 of all lines before it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import IO, Any

from sqlalchemy import JSON, Column, Float, Table

from consilience import __version__
from consilience.collect.store import schema
from consilience.collect.store.database import now
from consilience.collect.store.tables import Moment, metadata
from consilience.errors import InputError

FORMAT = "consilience store backup 1"
AT_ONCE = 200  # rows


@dataclass(frozen=True)
class Backup:
    """What a file says of itself, and what it holds.

    created : datetime; the moment as of which it holds the database.
    version : of the package that wrote it.
    revision : of the tables.
    counts : number of rows, by table.
    """

    created: datetime
    version: str
    revision: str | None
    counts: dict[str, int] = field(default_factory=dict)


def new_backup(revision: str | None) -> Backup:
    """Return what the backup that is made now says of itself; its rows are still to be counted."""
    return Backup(now(), __version__, revision)


def write_lines(file: IO[bytes], backup: Backup, rows_of: Iterable[tuple[str, list[str], Iterable[Any]]]) -> None:
    """Write a backup, and count its rows.

    file : binary file
    rows_of : iterable of triples; the name of a table, those of its columns, and its rows.
    """
    checksum = hashlib.sha256()
    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        for line in _lines(backup, rows_of):
            data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
            checksum.update(data)
            packed.write(data)
        packed.write(f"{checksum.hexdigest()}\n".encode())


def _lines(backup: Backup, rows_of: Iterable[tuple[str, list[str], Iterable[Any]]]) -> Iterator[Any]:
    yield {
        "format": FORMAT,
        "revision": backup.revision,
        "version": backup.version,
        "created": backup.created.isoformat(),
    }
    for name, columns, rows in rows_of:
        yield {"table": name, "columns": columns}
        backup.counts[name] = 0
        for row in rows:
            backup.counts[name] += 1
            yield [_pack(value) for value in row]


def _pack(value: Any) -> Any:
    """Return a value as JSON: moments and bytes are marked, and so is what JSON columns hold."""
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return {"json": value} if isinstance(value, dict | list) else value


def _unpack(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "moment":
        return datetime.fromisoformat(content)
    return base64.b64decode(content) if kind == "bytes" else content


def check_backup(path: str | PathLike[str]) -> Backup:
    """Read a backup to its end, and return what it says of itself.

    Raises InputError: the file is no backup, is damaged or was written by a later version.
    """
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
    said = _head(found)
    if said is None:
        raise InputError(f"{Path(path).name} is not a backup that this version of consilience can read.")
    if last.strip() != checksum.hexdigest().encode():
        raise InputError(f"The backup {Path(path).name} is damaged: its checksum is not that of its content.")
    if not schema.is_known(said.revision):
        raise InputError(
            f"The backup was written by a later version of consilience (revision {said.revision}); update the package."
        )
    return said


def _head(found: Any) -> Backup | None:
    """Return what the first line of a file says, None if it is that of another format."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return None
    try:
        return Backup(datetime.fromisoformat(found["created"]), str(found["version"]), found["revision"])
    except (KeyError, TypeError, ValueError):
        return None


def read_rows(path: str | PathLike[str], there: set[str]) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Yield the rows of a backup that was checked, at most `AT_ONCE` of one table; of an empty table no rows.

    Raises InputError: a table is laid out otherwise, or a row does not fit its table.

    there : names of the tables that are to be filled.
    """
    table: Table | None = None
    columns: list[Column[Any]] = []
    rows: list[dict[str, Any]] = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            value = json.loads(line) if line[0] in "[{" else None
            if isinstance(value, list) and table is not None:
                rows.append(_row(columns, value, path))
            if table is not None and rows and (not isinstance(value, list) or len(rows) == AT_ONCE):
                yield table, rows
                rows = []
            if isinstance(value, dict):
                table, columns = _table_of(value, there)
                yield table, []


def _table_of(said: dict[str, Any], there: set[str]) -> tuple[Table, list[Column[Any]]]:
    """Return the table that a line of a backup names, and its columns."""
    name, named = said.get("table"), said.get("columns", [])
    table = metadata.tables.get(str(name))
    unknown = [] if table is None else [column for column in named if column not in table.columns]
    if table is None or unknown or table.name not in there:
        raise InputError(
            f"The table {name!r} of the backup is laid out as this version of consilience no longer knows it; "
            "restore with the version that wrote it, and upgrade the database then."
        )
    return table, [table.columns[column] for column in named]


def _row(columns: list[Column[Any]], cells: list[Any], path: str | PathLike[str]) -> dict[str, Any]:
    """Return a row by the names of its columns.

    Raises InputError: a value is of another type than its column, or one is missing.
    """
    try:
        row = {column.name: _unpack(cell) for column, cell in zip(columns, cells, strict=True)}
    except (ValueError, TypeError):
        row = {}
    if not row or not all(_fits(column, row[column.name]) for column in columns):
        raise does_not_fit(path, columns[0].table)
    return row


def _fits(column: Column[Any], value: Any) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, JSON):
        return True
    if isinstance(column.type, Float):
        return isinstance(value, int | float)
    return type(value) is (datetime if isinstance(column.type, Moment) else column.type.python_type)


def does_not_fit(path: str | PathLike[str], table: Any) -> InputError:
    """Return the error for rows that a table does not take."""
    return InputError(f"The backup {Path(path).name} is damaged: a row of its table {table.name!r} does not fit.")
