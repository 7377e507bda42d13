"""Linear algebra in one thread while models are fitted, however many are fitted at a time.

Most products of a fit are small, and threads of BLAS would only wait for each other. How many threads BLAS takes is a
setting of the whole process, so that fits side by side share one limit: the first to begin sets it, the last to end
undoes it, whatever the order in which they end.

Decided here
------------
Where BLAS runs on OpenMP the number is one of each thread, and every fit sets and restores its own.

What stood at one thread already is left alone: another may have limited it for a time, who then restores it.

A fit that is going on in another thread when the process forks never ends in the child. There the limit is held by what
the forking thread itself was doing, and undone at once if that is nothing.

Recent versions of threadpoolctl let only one thread at a time set the number of threads of OpenBLAS, and ignores
the others: the last fit to end takes this over, since the thread of the first may be at something else by then.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import threadpoolctl
from threadpoolctl import LibController, ThreadpoolController


@dataclass(frozen=True)
class Limited:
    """A library that was brought to one thread, and how many it had."""

    library: LibController
    before: int

    @classmethod
    def of(cls, libraries: list[LibController]) -> list[Limited]:
        """Bring libraries to one thread; those that had more."""
        had = [cls(library, library.get_num_threads() or 1) for library in libraries]
        for limited in had:
            if limited.before > 1:
                limited.library.set_num_threads(1)
        return [limited for limited in had if limited.before > 1]

    def restore(self) -> None:
        """Give the library the threads that it had."""
        self.library.set_num_threads(self.before)


class SharedLimit:
    """A limit of BLAS to one thread that holds from the first `begin` to the last `end`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[
            object, tuple[int, list[Limited]]
        ] = {}  # the threads that they began in, and what is theirs
        self._own: list[LibController] = []
        self._shared: list[Limited] = []

    def begin(self, holder: object) -> None:
        """Let a holder begin; the first sets the limit."""
        with self._lock:
            if not self._holders:
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._own = [library for library in libraries if _of_each_thread(library)]
                self._shared = Limited.of([library for library in libraries if not _of_each_thread(library)])
            self._holders[holder] = threading.get_ident(), Limited.of(self._own)

    def end(self, holder: object) -> None:
        """Let a holder end; the last undoes the limit."""
        with self._lock:
            _, own = self._holders.pop(holder, (0, []))
            for limited in own:
                limited.restore()
            self._undo_unless_held()

    def in_child(self) -> None:
        """After a fork: forget the holders of threads that the child has not."""
        self._lock = threading.Lock()
        mine = threading.get_ident()
        self._holders = {holder: begun for holder, begun in self._holders.items() if begun[0] == mine}
        self._undo_unless_held()

    def _undo_unless_held(self) -> None:
        if self._holders or not self._shared:
            return
        _take_over()
        for limited in self._shared:
            limited.restore()
        _take_over()
        self._shared = []


def _of_each_thread(library: LibController) -> bool:
    """Whether each thread has a number of its own, and not the process one for all."""
    return getattr(library, "threading_layer", None) == "openmp"


def _take_over() -> None:
    """Let any thread set the number of threads, where threadpoolctl keeps in mind which one does."""
    take_over = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if take_over is not None:
        take_over(force=True)


_SHARED = SharedLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.in_child)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which BLAS keeps to one thread.

    Contexts may be nested, and open in several threads at a time: the number of threads that BLAS had before the first
    is restored when the last is left.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> import numpy
    >>> with one_blas_thread():
    ...     threads = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    >>> threads <= {1}
    True
    """
    holder = object()
    _SHARED.begin(holder)
    try:
        yield
    finally:
        _SHARED.end(holder)
