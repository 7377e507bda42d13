"""The worker in a process of its own, so that requests do not wait while it computes: threads of Python take turns."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import Any

from consilience.collect.log import log_to_standard_error
from consilience.collect.store import Store
from consilience.collect.worker.heartbeat import BEAT, STOPPED, Listener, tell
from consilience.collect.worker.worker import Worker

BEHIND = 10  # how far the process stands back for others, as `nice` counts
GRACE = 5.0  # seconds in which it has to end
PAUSE = 5.0  # seconds until it is started again, should it end unasked
POLL = 0.5  # seconds between looks whether it runs
STANDARD_OUTPUT = 1
COMMAND = "from consilience.collect.worker.process import main; main()"
logger = logging.getLogger(__name__)


class WorkerProcess:
    """Keeps a worker at work in a process of its own, which is started again should it end, and ends with this one.

    store : the process opens the same database.
    """

    def __init__(self, store: Store) -> None:
        self._address = store.address
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: Listener | None = None
        self._ending = threading.Event()
        self._keeper: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def state(self) -> str:
        """Whether it is "running", "stopped", or in which way it hangs; see `consilience.collect.worker.heartbeat`."""
        listener = self._listener
        return listener.state if listener is not None and self.is_alive else STOPPED

    def start(self) -> None:
        """Start the process."""
        if self._keeper is None:
            self._ending.clear()
            self._launch()
            self._keeper = threading.Thread(target=self._keep, name="consilience-keeper", daemon=True)
            self._keeper.start()

    def stop(self) -> None:
        """End the process; what it is at is done by the next worker."""
        self._ending.set()
        if self._keeper is not None:
            self._keeper.join()
            self._keeper = None
        if self._process is not None:
            _end(self._process)
            self._process = None
        if self._listener is not None:
            self._listener.join(GRACE)
            self._listener = None

    def _launch(self) -> None:
        """Start the process, which learns the address from its input: it may hold a password."""
        self._process = subprocess.Popen([sys.executable, "-c", COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._process.stdout:
            self._listener = Listener(self._process.stdout)
        if self._process.stdin:
            with contextlib.suppress(OSError):  # it ended at once
                os.write(self._process.stdin.fileno(), f"{self._address}\n".encode())

    def _keep(self) -> None:
        while not self._ending.wait(POLL):
            if self._process is not None and not self.is_alive:
                logger.error("The worker ended with the status %s; it is started again", self._process.returncode)
                _end(self._process)
                if not self._ending.wait(PAUSE):
                    self._launch()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a process end, and wait for it."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> None:
    """Work until the input ends, which it does when the process that started this one is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the input
    log_to_standard_error()
    if hasattr(os, "nice"):
        os.nice(BEHIND)
    with closing(Store.open(sys.stdin.readline().strip())) as store:
        if store.is_file:
            store.return_jobs()  # of a worker that was killed
        worker = Worker(store)

        def stop(*_: Any) -> None:
            worker.stop()  # at its next look for jobs
            raise SystemExit

        signal.signal(signal.SIGTERM, stop)
        threading.Thread(target=_watch_input, daemon=True).start()
        threading.Thread(target=_beat, args=(worker,), daemon=True).start()
        worker.work()


def _beat(worker: Worker) -> None:
    """Tell what the worker does, from a thread of its own, so that long fits do not silence it."""
    with contextlib.suppress(OSError):  # nobody listens any more
        while True:
            tell(STANDARD_OUTPUT, worker.doing)
            time.sleep(BEAT)


def _watch_input() -> None:
    while sys.stdin.read(1):
        pass
    signal.raise_signal(signal.SIGTERM)
