"""Notes on the way of a job: how a file was read, what was left out. The command line prints them as they come.

Without a listener they go to the logger ``consilience``, at the level of information.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]

LISTENER: ContextVar[Listener] = ContextVar("listener", default=logging.getLogger("consilience").info)


def note(text: str) -> None:
    """Tell the listener what is neither a result nor an error."""
    LISTENER.get()(text)


@contextmanager
def notes_to(listener: Listener) -> Iterator[None]:
    """Have notes told to a function."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)
