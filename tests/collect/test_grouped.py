"""Writes of many threads are committed together: each wholly or not at all, and none is acknowledged before."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from consilience.collect.store import Store, grouped


@pytest.fixture
def numbers(sqlite_store):
    with sqlite_store.write() as db:
        db.execute(text("CREATE TABLE numbers (number INTEGER PRIMARY KEY)"))
        db.execute(text("CREATE TABLE texts (text TEXT)"))
    return sqlite_store


def put(store, *values):
    with store.write() as db:
        for value in values:
            db.execute(text("INSERT INTO numbers VALUES (:value)"), {"value": value})
            if value % 7 == 6:
                raise ValueError(value)


def kept(store):
    with store.read() as db:
        return set(db.scalars(text("SELECT number FROM numbers")))


def test_each_write_is_kept_wholly_or_not_at_all(numbers, tmp_path):
    other = Store.open(f"sqlite:///{tmp_path}/studies.db")  # which sees only what was committed

    def write(number):
        try:
            put(numbers, 1000 + number, number)
        except ValueError:
            return None
        return number if number in kept(other) else "not there yet"

    with ThreadPoolExecutor(20) as threads:
        found = set(threads.map(write, range(100)))
    right = {number for number in range(100) if number % 7 != 6 and (1000 + number) % 7 != 6}
    assert found == right | {None}
    assert kept(numbers) == right | {1000 + number for number in right}
    other.close()


def test_writes_that_wait_share_a_commit(numbers, monkeypatch):
    commits, finish = [], grouped.Group.finish
    monkeypatch.setattr(
        grouped.Group, "finish", lambda self, *error: (commits.append(self.count), finish(self, *error))
    )
    begun = threading.Barrier(5)
    with ThreadPoolExecutor(4) as threads:
        with numbers.write():
            waiting = [threads.submit(lambda n=n: (begun.wait(), put(numbers, n))) for n in range(4)]
            begun.wait()
            while len(numbers._grouped._queue._waiting) < 4:
                time.sleep(0.001)
            assert kept(numbers) == set()
        for one in waiting:
            one.result()
    assert commits == [5]
    assert kept(numbers) == {0, 1, 2, 3}


def test_what_sqlite_undid_is_acknowledged_to_nobody(numbers):
    """A full disk undoes the whole transaction, with what others wrote in it before."""
    found, begun, go = {}, threading.Event(), threading.Event()

    def write(name, work):
        try:
            with numbers.write() as db:
                work(db)
            found[name] = "acknowledged"
        except Exception as error:
            found[name] = type(error).__name__

    def first(db):
        db.execute(text("INSERT INTO numbers VALUES (1)"))
        begun.set()
        go.wait(30)

    def too_much(db):
        most = db.exec_driver_sql("PRAGMA page_count").scalar() + 1
        db.exec_driver_sql(f"PRAGMA max_page_count = {most}")
        try:
            db.execute(text("INSERT INTO texts VALUES (:text)"), {"text": "x" * 2_000_000})
        finally:
            db.exec_driver_sql("PRAGMA max_page_count = 1000000")

    threads = [threading.Thread(target=write, args=("first", first))]
    threads[0].start()
    assert begun.wait(30)
    for name, work in (("second", too_much), ("third", lambda db: db.execute(text("INSERT INTO numbers VALUES (3)")))):
        threads.append(threading.Thread(target=write, args=(name, work)))
        threads[-1].start()
        while len(numbers._grouped._queue._waiting) < len(threads) - 1:
            time.sleep(0.001)
    go.set()
    for thread in threads:
        thread.join(30)
    assert found["second"] == "OperationalError"
    kept_of = {"first": 1, "third": 3}
    assert kept(numbers) == {kept_of[name] for name, what in found.items() if what == "acknowledged"}
    assert found["first"] != "acknowledged"
    put(numbers, 5)
    assert 5 in kept(numbers)


def test_a_commit_that_fails_is_told_to_everybody(numbers, monkeypatch):
    def fail(self):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("sqlalchemy.Connection.commit", fail)
        with pytest.raises(OSError, match="the disk is full"):
            put(numbers, 1)
    assert kept(numbers) == set()
    put(numbers, 2)
    assert kept(numbers) == {2}
