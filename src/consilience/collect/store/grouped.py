"""One writer at a time, whose commits are shared: how many threads of one process write to SQLite.

SQLite lets whoever asks at the right moment write first, so that under load somebody waits for longer than the timeout;
and each commit waits for the disk. Here threads queue in the order in which they came. Each does its work within a
savepoint of one open transaction, and the last in the queue commits for all; nobody goes on before that commit.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator

from sqlalchemy import Connection, Engine

MOST = 16  # of the writes of one commit


class UndoneError(OSError):
    """SQLite undid a transaction by itself, as it does when the disk is full."""


class Queue:
    """A lock that threads get in the order in which they asked for it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._held = False

    def __enter__(self) -> None:
        """Wait for one's turn."""
        with self._changing:
            if not self._held:
                self._held = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()  # whoever held the lock passes it on

    def __exit__(self, *_: object) -> None:
        """Let the next have their turn."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)


class Group:
    """Writes that are committed together."""

    def __init__(self, engine: Engine) -> None:
        self.db: Connection = engine.connect()
        try:
            self.db.begin()
        except BaseException:
            self.db.close()
            raise
        self.count = 0
        self.finished = threading.Event()
        self.error: BaseException | None = None

    @property
    def is_undone(self) -> bool:
        """Whether SQLite undid all of it, which SQLAlchemy does not notice: what was written before is gone, too."""
        return (
            not self.db.in_transaction()
            or self.db.invalidated
            or not getattr(self.db.connection.driver_connection, "in_transaction", True)
        )

    def finish(self, error: BaseException | None = None) -> None:
        """Commit all of it, or nothing after an error, and let everybody know."""
        try:
            if error is None:
                if self.is_undone:
                    raise UndoneError("The database undid what was written.")
                self.db.commit()
        except BaseException as found:
            error = found
        finally:
            self.error = error
            with contextlib.suppress(Exception):
                self.db.close()  # which undoes what was not committed
            self.finished.set()


class GroupedWriter:
    """Writes of several threads, one after the other, with common commits.

    engine : its transactions begin as writes.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue = Queue()
        self._group: Group | None = None

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """Begin a write: all of it is kept once the block ends, or nothing if it raises."""
        with self._queue:
            group = self._group = self._group or Group(self._engine)
            try:
                with group.db.begin_nested():
                    yield group.db
            except BaseException as error:
                if group.is_undone:
                    group.finish(error)
                raise
            finally:
                self._pass_on(group)
        group.finished.wait()
        if group.error is not None:
            raise group.error

    def _pass_on(self, group: Group) -> None:
        """Commit, unless the next in the queue will."""
        group.count += 1
        if not group.finished.is_set():
            if self._queue.is_awaited and group.count < MOST:
                return
            group.finish()
        self._group = None
