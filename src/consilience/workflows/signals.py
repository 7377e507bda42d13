"""Signals: on Ctrl-C, SIGTERM and SIGHUP the program removes its temporary files and ends at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from consilience.atomic_files import remove_temporaries

MESSAGES = {"SIGINT": "Interrupted.", "SIGTERM": "Terminated.", "SIGHUP": "Hung up."}


@dataclass
class _Ending:
    """Whether the program may end now, and a signal that arrived while it may not."""

    is_held: bool = False
    pending: int | None = None


_ending = _Ending()


def end_on_signals() -> None:
    """Make signals end the program at once, with one line and the exit code 128 + signal, unless they are ignored.

    An exception would not do: Python prints and drops one that is raised in a callback or while the interpreter shuts
    down.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for name in MESSAGES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _receive)


def _receive(number: int, _: Any) -> None:
    if _ending.is_held:
        _ending.pending = number
    else:
        _end(number)


def _end(number: int) -> None:
    remove_temporaries()
    line = MESSAGES[signal.Signals(number).name] + "\n"
    with contextlib.suppress(OSError):
        os.write(2, (("\n" if os.isatty(2) else "") + line).encode())
    os._exit(128 + number)  # without atexit and finally, which may wait for threads


@contextlib.contextmanager
def hold_signals() -> Iterator[None]:
    """Run a short block that must not be interrupted: a signal that arrives in it takes effect afterwards."""
    _ending.is_held = True
    try:
        yield
    finally:
        _ending.is_held = False
        number, _ending.pending = _ending.pending, None
        if number is not None:
            _end(number)
