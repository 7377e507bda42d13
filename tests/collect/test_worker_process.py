"""The worker in a process of its own: it works, is started again should it end, and leaves nothing half done."""

import os
import signal
import subprocess
import sys
import time

import pytest

from consilience.collect.worker import heartbeat
from consilience.collect.worker import process as worker_process
from consilience.collect.worker.process import COMMAND, WorkerProcess

from .collecting import begun, takes_part

SECONDS = 60
OFTEN = COMMAND.replace("main()", "import consilience.collect.worker.process as own; own.BEAT = 0.2; main()")


def until(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_it_works_and_is_started_again(sqlite_store, monkeypatch):
    monkeypatch.setattr(worker_process, "PAUSE", 0.0)
    study = begun(sqlite_store, subset_size=4)
    worker = WorkerProcess(sqlite_store)
    assert not worker.is_alive
    worker.start()
    until(lambda: len(sqlite_store.prepared_subsets(study.id)) == 8)
    first = worker._process.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: worker.is_alive and worker._process.pid != first)
    takes_part(sqlite_store, study)
    until(lambda: sqlite_store.consensus(study.id) is not None)
    worker.stop()
    assert not worker.is_alive
    worker.stop()  # nothing is left to stop


@pytest.mark.slow
def test_the_jobs_of_a_worker_that_was_killed_are_done_at_once(sqlite_store):
    study = begun(sqlite_store, subset_size=4)
    assert sqlite_store.claim_job().kind == "subsets"
    assert sqlite_store.claim_job() is None
    worker = WorkerProcess(sqlite_store)
    worker.start()
    until(lambda: len(sqlite_store.prepared_subsets(study.id)) == 8)
    worker.stop()


@pytest.mark.slow
def test_it_ends_with_whoever_started_it(sqlite_store):
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", COMMAND], stdin=pipe, stdout=pipe, stderr=pipe)
    process.stdin.write(f"{sqlite_store.address}\n".encode())
    process.stdin.flush()
    study = begun(sqlite_store, subset_size=4)
    until(lambda: sqlite_store.prepared_subsets(study.id))
    process.stdin.close()
    assert process.wait(SECONDS) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    process.stdout.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows does not stop processes")
def test_a_process_that_is_stopped_hangs_until_it_goes_on(sqlite_store, monkeypatch):
    monkeypatch.setattr(worker_process, "COMMAND", OFTEN)
    worker = WorkerProcess(sqlite_store)
    assert worker.state == "stopped"
    worker.start()
    first = worker._listener._heard
    until(lambda: worker._listener._heard > first)
    assert worker.state == "running"
    monkeypatch.setattr(heartbeat, "SILENT", 1.0)
    os.kill(worker._process.pid, signal.SIGSTOP)
    until(lambda: worker.state == "silent for more than 1 seconds")
    os.kill(worker._process.pid, signal.SIGCONT)
    until(lambda: worker.state == "running")
    worker.stop()
    assert worker.state == "stopped"


def test_a_job_of_a_worker_that_is_ended_is_done_by_the_next(store, monkeypatch):
    study = begun(store, subset_size=4)

    def end(self, job):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("consilience.collect.worker.worker.Worker._do", end)
        with pytest.raises(SystemExit):
            worker_process.Worker(store).work()
    assert store.at_work(study.id) == {"subsets"}
    assert worker_process.Worker(store).run() == 1
    assert len(store.prepared_subsets(study.id)) == 8
