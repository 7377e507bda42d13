"""What the server says of its own state, and what it logs of a request that failed."""

import logging
import re
import sys

import pytest
from sqlalchemy import text

from consilience.collect.store import Store

pytest.importorskip("fastapi", reason="FastAPI is not installed")
client = pytest.importorskip("starlette.testclient", reason="no client to test the application with")


@pytest.fixture
def create_app():
    from consilience.collect import create_app

    return create_app


def test_a_server_that_works_says_so(create_app, sqlite_store):
    with client.TestClient(create_app(sqlite_store)) as browser:
        answer = browser.get("/healthz")
    expected = {"status": "ok", "database": "reachable", "tables": "current", "worker": "running"}
    assert (answer.status_code, answer.json()) == (200, expected)


def test_a_server_whose_worker_stopped_or_whose_tables_changed_says_so(create_app, sqlite_store):
    browser = client.TestClient(create_app(sqlite_store))  # without its lifespan, in which the worker runs
    assert (browser.get("/healthz").status_code, browser.get("/healthz").json()["worker"]) == (503, "stopped")
    browser = client.TestClient(create_app(sqlite_store, background=False))
    assert browser.get("/healthz").json()["status"] == "ok"
    with sqlite_store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert browser.get("/healthz").status_code == 503
    assert browser.get("/healthz").json()["tables"] == "of another version"


def test_a_database_that_is_gone_is_told_without_its_address(create_app, sqlite_store, monkeypatch, caplog):
    def fail():
        raise OSError("postgresql://secret@host")

    monkeypatch.setattr(sqlite_store, "read", fail)
    answer = client.TestClient(create_app(sqlite_store, background=False)).get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing", "database": "unreachable"})
    assert "secret" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps files that are open")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_deleted_or_replaced_under_the_server_is_told(create_app, sqlite_store, tmp_path, replaced):
    sqlite_store.create_study("Fruit", ["apple", "pear"])
    browser = client.TestClient(create_app(sqlite_store, background=False))
    assert browser.get("/healthz").status_code == 200
    (tmp_path / "studies.db").rename(tmp_path / "moved.db")
    if replaced:
        Store.open(f"sqlite:///{tmp_path}/studies.db").close()
    answer = browser.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing", "database": "deleted or replaced"})
    if not replaced:
        assert len(sqlite_store.studies()) == 1  # from a connection that is open: a query alone would not tell


def test_a_worker_that_hangs_is_told(create_app, sqlite_store):
    class Hanging:
        state = "silent for more than 60 seconds"

        def start(self):
            pass

        def stop(self):
            pass

    answer = client.TestClient(create_app(sqlite_store, background=Hanging())).get("/healthz")
    assert (answer.status_code, answer.json()["worker"]) == (503, Hanging.state)


def test_a_failure_is_found_in_the_log_by_the_number_on_the_page(visit, sqlite_store, monkeypatch, caplog):
    monkeypatch.setattr(sqlite_store, "study_by_join_token", lambda token: 1 / 0)
    with caplog.at_level(logging.INFO, logger="consilience"):
        answer = visit().get("/join/secret-token?PROLIFIC_PID=panel-id")
    (number,) = re.findall(r"this number: ([0-9a-f]{8})", answer.text)
    lines = [record.getMessage() for record in caplog.records if number in record.getMessage()]
    assert lines[0] == f"{number} GET /join/{{token}} failed"
    assert re.fullmatch(rf"{number} GET /join/{{token}} 500 \d+ ms", lines[1])
    assert "panel-id" not in " ".join(lines)
