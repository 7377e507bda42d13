"""Opening a database, and its transactions: on SQLite every write begins with ``BEGIN IMMEDIATE``.

A transaction of SQLite that reads and then writes fails at once with "database is locked" if another wrote in between,
whatever the timeout; one that begins as a write waits for its turn, which `grouped` gives
it. `synchronous` is FULL: what was acknowledged survives a power cut.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError

from consilience.collect.store import schema
from consilience.collect.store.grouped import GroupedWriter
from consilience.errors import InputError, MissingDependencyError

BUSY = 30_000  # milliseconds that a write waits for that of another process
RETRY = 0.01  # seconds
PATIENCE = 2_000  # milliseconds that emptying the log waits for those who read
# synchronous FULL: in WAL, NORMAL may lose the last commits when the power fails
PRAGMAS = {"busy_timeout": BUSY, "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
MAKING = threading.Lock()
OWNER = 0o600  # who may read a new file
# single statements of PostgreSQL need no transaction, and its usual ones see what others commit meanwhile all the same
ONE_BY_ONE, IN_TRANSACTIONS = {"isolation_level": "AUTOCOMMIT"}, {"isolation_level": "READ COMMITTED"}
PASSING = ("40001", "40P01")  # what PostgreSQL says of transactions that were in each other's way, deadlocks included
THREADS = 10  # connections that are kept
MORE_THREADS = 40  # that may be opened besides, for the threads of a web server


def now() -> datetime:
    """Return this moment, in UTC."""
    return datetime.now(UTC)


Kind = TypeVar("Kind", bound="Database")


class Database:
    """A database that is open: transactions that read, and transactions that write.

    Attributes
    ----------
    url : str
        Without the password.
    """

    def __init__(self, engine: Engine) -> None:
        is_file = engine.dialect.name == "sqlite"
        self._reading = engine
        self._at_one_moment = engine if is_file else engine.execution_options(isolation_level="REPEATABLE READ")
        self._writing = engine.execution_options(**{"immediate": True} if is_file else IN_TRANSACTIONS)
        self._grouped = GroupedWriter(self._writing) if is_file else None
        self._path = Path(str(engine.url.database)).absolute()
        self._opened: tuple[int, int] | None = None
        self.url = engine.url.render_as_string(hide_password=True)

    @classmethod
    def open(cls: type[Kind], url: str, *, new: bool = True, as_it_is: bool = False) -> Kind:
        """Open a database, make its tables or bring them up to date.

        Parameters
        ----------
        url : str
            ``sqlite:///file.db``, or ``postgresql://user@host/database``.
        new : bool, default=True
            Whether to make a file of SQLite that does not exist.
        as_it_is : bool, default=False
            Whether to leave the tables as they are, which may be those of an earlier version: for a backup.

        Raises
        ------
        InputError
            The address is none of these, the database cannot be reached or does not exist, holds another program's
            tables, or was written by a later version of the package.
        """
        address = _address(url)
        if not new and address.get_backend_name() == "sqlite" and not Path(str(address.database)).exists():
            raise InputError(f"There is no database {Path(str(address.database)).absolute()}.")
        if address.get_backend_name() == "sqlite":
            _make_private(Path(str(address.database)))
        engine = _engine(address)
        database = cls(engine)
        try:
            if as_it_is:
                with database.read() as db:
                    schema.require_tables(db)
            else:
                with database.write() as db:
                    schema.bring_up_to_date(db)
        except OperationalError as error:
            engine.dispose()
            raise InputError(f"The database {database.url} cannot be opened: {_reason(error)}") from error
        except DatabaseError as error:
            engine.dispose()
            raise InputError(f"{database.url} is not a database of studies: {_reason(error)}") from error
        except Exception:
            engine.dispose()
            raise
        database._opened = database._on_disk()
        return database

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite, which one server has for itself."""
        return self._grouped is not None

    @property
    def is_in_place(self) -> bool:
        """Whether a file of SQLite is still the one that was opened: not deleted, moved or replaced meanwhile."""
        return self._on_disk() == self._opened

    def _on_disk(self) -> tuple[int, int] | None:
        """Return the device and the number of the file that has the name of the database; None if there is none."""
        if not self.is_file:
            return None
        with contextlib.suppress(FileNotFoundError):
            found = self._path.stat()
            return found.st_dev, found.st_ino
        return None

    @property
    def address(self) -> str:
        """The address with the password, for another process that opens the same database."""
        return self._reading.url.render_as_string(hide_password=False)

    @contextlib.contextmanager
    def read(self, *, at_one_moment: bool = False) -> Iterator[Connection]:
        """Begin to read; whether all is as it was at one moment, which on SQLite it always is."""
        with (self._at_one_moment if at_one_moment else self._reading).connect() as db:
            yield db

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """Begin a transaction that writes: all of it is kept once the block ends, or nothing if it raises."""
        with self._grouped.write() if self._grouped else self._writing.begin() as db:
            yield db

    def empty_log(self) -> bool:
        """Take what was deleted out of SQLite's log of writes, the file ``-wal``, too; whether nobody stood in the way.

        What somebody reads at the moment stays in it, until the worker tidies up.
        """
        if not self.is_file:
            return True
        connection = self._reading.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}")
            is_busy: int = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            cursor.execute(f"PRAGMA busy_timeout = {BUSY}")
            cursor.close()
        finally:
            connection.close()
        return not is_busy

    def close(self) -> None:
        """Close all connections."""
        self._reading.dispose()


def _make_private(path: Path) -> None:
    """Make a new file that only its owner may read; SQLite gives the files beside it the same permissions.

    One thread at a time: closing a file ends the locks that other connections of this process have on it.
    """
    with MAKING, contextlib.suppress(OSError):  # which SQLite will tell
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER))


def _address(url: Any) -> URL:
    """Return the address of a database, with the driver that we use."""
    try:
        found = make_url(url)
    except ArgumentError as error:
        raise InputError(
            "The address of the database must be like sqlite:///studies.db or postgresql://user@host/database."
        ) from error
    backend = found.get_backend_name()
    if backend == "sqlite":
        if found.database in (None, "", ":memory:"):
            raise InputError("A store needs a file: give its path after three slashes, such as sqlite:///studies.db.")
        return found.set(drivername="sqlite")
    if backend in ("postgresql", "postgres"):
        return found.set(drivername="postgresql+psycopg")
    raise InputError(f"The database must be SQLite or PostgreSQL. Got an address that begins with {backend!r}.")


def _engine(address: URL) -> Engine:
    is_file = address.get_backend_name() == "sqlite"  # whose connections nobody cuts
    more = {} if is_file else {"pool_pre_ping": True, **ONE_BY_ONE}
    try:
        engine = create_engine(address, pool_size=THREADS, max_overflow=MORE_THREADS, hide_parameters=True, **more)
    except ImportError as error:
        raise MissingDependencyError(
            "PostgreSQL needs psycopg; install it with: pip install 'consilience[postgres]'"
        ) from error
    if is_file:
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: Any) -> None:
    """Set up a new connection to SQLite, and check that it took the settings."""
    connection.isolation_level = None  # so that transactions begin as `_begin` says, not as the driver does
    cursor = connection.cursor()
    for name, value in PRAGMAS.items():
        _set(cursor, name, value)
        found = cursor.execute(f"PRAGMA {name}").fetchone()[0]
        if found != value:
            raise InputError(
                f"SQLite does not accept {name} = {value} for this file (it answers {found}); network drives and "
                "read-only folders cannot hold a store."
            )
    cursor.close()


def _set(cursor: sqlite3.Cursor, name: str, value: Any) -> None:
    """Set a pragma; `busy_timeout` does not hold while another connection turns a new file to WAL."""
    patience = time.monotonic() + BUSY / 1000
    while True:
        try:
            cursor.execute(f"PRAGMA {name} = {value}")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
            time.sleep(RETRY)


def _begin(db: Connection) -> None:
    immediate = db.get_execution_options().get("immediate", False)
    db.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def is_passing(error: Exception) -> bool:
    """Whether a transaction failed that may succeed the next time: its connection broke, or others were in its way."""
    is_broken = isinstance(error, DBAPIError) and error.connection_invalidated
    return is_broken or getattr(getattr(error, "orig", None), "sqlstate", None) in PASSING


def _reason(error: DatabaseError) -> str:
    return " ".join(str(error.orig).split()).rstrip(".") + "."
