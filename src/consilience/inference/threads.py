"""BLAS in one thread while models are fitted, however many are fitted at a time.

Most products of a fit are small, and threads of BLAS would only wait for each other. The number of BLAS threads is a
setting of the whole process, so concurrent fits share one limit: the first to begin sets it, the last to end removes
it, in whatever order they end.

Decided here
------------
Where BLAS runs on OpenMP, each thread has its own number, and every fit sets and restores its own.

A library that already uses one thread is left alone: other code may have limited it for a time, and will restore it.

A fit that runs in another thread when the process forks never ends in the child. There the limit is held by the fits of
the forking thread only, and removed at once if there are none.

Recent versions of threadpoolctl let only one thread at a time set the number of threads of OpenBLAS, and ignore the
others: the last fit to end takes control, since the thread of the first may be doing something else by then.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import threadpoolctl
from threadpoolctl import LibController, ThreadpoolController


@dataclass(frozen=True)
class Limited:
    """Library that was limited to one thread, and the number it had before."""

    library: LibController
    before: int

    @classmethod
    def of(cls, libraries: list[LibController]) -> list[Limited]:
        """Limit libraries to one thread, and return those that had more."""
        # None if the library does not tell
        had = [cls(library, library.get_num_threads() or 1) for library in libraries]
        for limited in had:
            if limited.before > 1:
                limited.library.set_num_threads(1)
        return [limited for limited in had if limited.before > 1]

    def restore(self) -> None:
        """Restore the number of threads the library had."""
        self.library.set_num_threads(self.before)


class SharedLimit:
    """Limit of BLAS to one thread, from the first `begin` to the last `end`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[object, tuple[int, list[Limited]]] = {}  # thread of each, and limits of that thread
        self._own: list[LibController] = []
        self._shared: list[Limited] = []

    def begin(self, holder: object) -> None:
        """Register a holder; the first sets the limit."""
        with self._lock:
            if not self._holders:
                libraries = _blas_libraries(len(sys.modules))
                self._own = [library for library in libraries if _of_each_thread(library)]
                self._shared = Limited.of([library for library in libraries if not _of_each_thread(library)])
            self._holders[holder] = threading.get_ident(), Limited.of(self._own)

    def end(self, holder: object) -> None:
        """Remove a holder; the last removes the limit."""
        with self._lock:
            _, own = self._holders.pop(holder, (0, []))  # not there after a fork that forgot it
            for limited in own:
                limited.restore()
            self._restore_unless_held()

    def in_child(self) -> None:
        """After a fork: forget the holders of threads that do not exist in the child."""
        self._lock = threading.Lock()  # the old one may be held by a thread that the child lacks
        mine = threading.get_ident()
        self._holders = {holder: begun for holder, begun in self._holders.items() if begun[0] == mine}
        self._restore_unless_held()

    def _restore_unless_held(self) -> None:
        if self._holders or not self._shared:
            return
        _take_over()
        for limited in self._shared:
            limited.restore()
        _take_over()
        self._shared = []


@lru_cache(maxsize=1)  # the search takes as long as a small fit
def _blas_libraries(n_modules: int) -> list[LibController]:
    """Return the libraries of BLAS that are loaded; another one comes with a module that is imported."""
    libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


def _of_each_thread(library: LibController) -> bool:
    """Whether each thread has its own number, rather than one for the whole process."""
    return getattr(library, "threading_layer", None) == "openmp"


def _take_over() -> None:
    """Let any thread set the number of threads, where threadpoolctl remembers which one does."""
    take_over = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if take_over is not None:
        take_over(force=True)


_SHARED = SharedLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.in_child)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which BLAS uses one thread.

    Contexts may be nested, and open in several threads at a time: the number of threads that BLAS had before the first
    one opened is restored when the last one closes.
    """
    holder = object()
    _SHARED.begin(holder)
    try:
        yield
    finally:
        _SHARED.end(holder)
