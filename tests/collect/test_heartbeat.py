"""How a worker that hangs is told from one that computes for long."""

import os
import threading
import time

import pytest

from consilience.collect.worker import Worker, heartbeat
from consilience.collect.worker.heartbeat import LOOKING, Doing, Listener, state_of, tell

from .collecting import begun
from .test_worker_process import until


def ago(seconds):
    return time.monotonic() - seconds


@pytest.mark.parametrize(
    ("what", "begun", "heard", "state"),
    [
        (LOOKING, 60, None, "running"),
        (LOOKING, 180, None, "no longer looking for jobs"),
        ("consensus", 1800, 0, "running"),  # a long fit, in a process that beats
        ("consensus", 1800, 70, "silent for more than 60 seconds"),
        ("overview", 4000, 0, "at one job for more than 60 minutes: overview"),
    ],
)
def test_a_worker_hangs_if_it_is_silent_or_at_one_thing_for_too_long(what, begun, heard, state):
    assert state_of(Doing(what, ago(begun)), None if heard is None else ago(heard)) == state


def test_beats_are_heard_and_anything_else_is_not():
    out, into = os.pipe()
    listener = Listener(os.fdopen(out, "rb"))
    os.write(into, b"some library says hello\n[1, 2, 3]\n")
    tell(into, Doing("consensus", ago(4000)))
    until(lambda: listener.state == "at one job for more than 60 minutes: consensus")
    tell(into, Doing(LOOKING, ago(0)))
    until(lambda: listener.state == "running")
    os.close(into)
    listener.join(10.0)
    assert not listener._thread.is_alive()


def test_a_job_that_does_not_end_is_told(sqlite_store, monkeypatch):
    begun(sqlite_store, subset_size=4)
    going_on = threading.Event()
    monkeypatch.setattr(Worker, "_do", lambda self, job: going_on.wait())
    monkeypatch.setattr(heartbeat, "LONGEST_JOB", 0.0)
    worker = Worker(sqlite_store)
    assert worker.state == "stopped"
    worker.start()
    until(lambda: worker.state == "at one job for more than 0 minutes: subsets")
    going_on.set()
    until(lambda: worker.state == "running")
    worker.stop()
