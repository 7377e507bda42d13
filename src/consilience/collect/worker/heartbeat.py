"""Signs of life of the worker: a process of its own tells every few seconds what it is at; the server judges by that.

From outside, a job that never ends looks like one that takes long. So a worker is said to hang if its process is
silent, if it does not come to look for jobs, or if it is at one job for longer than any should take.
"""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass
from typing import IO

BEAT = 2.0  # seconds from a beat to the next
SILENT = 60.0  # seconds without a beat, after which a process hangs: it is stopped, or gets no processor
LONGEST_LOOK = 120.0  # seconds between two looks for jobs, which wait for the database at most half a minute
LONGEST_JOB = 3600.0  # seconds
LOOKING = "looking for jobs"
RUNNING, STOPPED = "running", "stopped"


@dataclass(frozen=True)
class Doing:
    """What a worker does.

    what : `LOOKING`, or the kind of the job.
    since : as `time.monotonic` counts in this process.
    """

    what: str
    since: float


def state_of(doing: Doing, heard: float | None = None) -> str:
    """Return "running", or in which way a worker that is alive hangs.

    heard : when its process gave the last beat; by default now.
    """
    moment = time.monotonic()
    if heard is not None and moment - heard > SILENT:
        return f"silent for more than {SILENT:.0f} seconds"
    if doing.what == LOOKING:
        return RUNNING if moment - doing.since <= LONGEST_LOOK else "no longer looking for jobs"
    if moment - doing.since > LONGEST_JOB:
        return f"at one job for more than {LONGEST_JOB / 60:.0f} minutes: {doing.what}"
    return RUNNING


def tell(descriptor: int, doing: Doing) -> None:
    """Write a beat, a line of JSON: what the worker does, and for how many seconds."""
    line = json.dumps([doing.what, round(time.monotonic() - doing.since, 3)])
    os.write(descriptor, f"{line}\n".encode())


class Listener:
    """Hears the beats of a process, in a thread of its own that ends with the process.

    pipe : binary file; what the process writes; closed at the end.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._heard = time.monotonic()
        self._doing = Doing(LOOKING, self._heard)
        self._thread = threading.Thread(target=self._listen, name="consilience-heartbeat", daemon=True)
        self._thread.start()

    @property
    def state(self) -> str:
        """As of `state_of`; a process that begins has the time of a silence for it."""
        return state_of(self._doing, self._heard)

    def join(self, seconds: float) -> None:
        """Wait for the end of the process, at most for so long."""
        self._thread.join(seconds)

    def _listen(self) -> None:
        with self._pipe:
            for line in self._pipe:
                found = _read(line)
                if found is not None:
                    self._doing = found
                    self._heard = time.monotonic()


def _read(line: bytes) -> Doing | None:
    """Return what a beat tells; None for what something else wrote."""
    try:
        what, seconds = json.loads(line)
        return Doing(str(what), time.monotonic() - float(seconds))
    except (ValueError, TypeError):
        return None
