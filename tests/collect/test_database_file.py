"""The file of SQLite: who may read it, and what is left in it of what was deleted."""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from consilience.collect.settings.model import Item
from consilience.collect.store import Store, new_picture
from consilience.collect.store.backup import backup, restore

from .collecting import begun, joined, takes_part


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_databases_and_backups_are_readable_by_their_owner_only(tmp_path):
    before = os.umask(0)
    try:
        store = Store.open(f"sqlite:///{tmp_path}/studies.db")
        takes_part(store, begun(store))
        backup(store, tmp_path / "backup")
        restore(f"sqlite:///{tmp_path}/restored.db", tmp_path / "backup")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["studies.db", "studies.db-wal", "studies.db-shm", "backup", "restored.db"], 0o600)
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_backup_that_is_replaced_becomes_private_and_a_pipe_stays_as_it_is(sqlite_store, tmp_path):
    old, pipe = tmp_path / "old", tmp_path / "pipe"
    old.touch()
    old.chmod(0o644)
    backup(sqlite_store, old)
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    os.mkfifo(pipe)
    pipe.chmod(0o622)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        backup(sqlite_store, pipe)
        assert read.result(10)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o622


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_a_file_that_is_there_keeps_its_permissions(tmp_path):
    file = tmp_path / "studies.db"
    file.touch(0o640)
    file.chmod(0o640)
    Store.open(f"sqlite:///{file}").close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_was_deleted_is_not_in_the_file(tmp_path):
    url, file = f"sqlite:///{tmp_path}/studies.db", tmp_path / "studies.db"
    store = Store.open(url)
    study = begun(store, parameters=("PROLIFIC_PID",))
    person = joined(store, study, parameters={"PROLIFIC_PID": "5f0c1a9e-somebody"})
    picture = new_picture(b"many pages of a picture " * 1000, "image/png", 3, 2)
    other = store.create_study("Pictures", [Item(0, "a", picture=picture.hash), "b"], pictures=[picture])
    store.close()  # which writes all of it to the file
    assert b"5f0c1a9e-somebody" in file.read_bytes()
    assert b"many pages of a picture" in file.read_bytes()
    store = Store.open(url)
    store.delete_participant(person.id)
    store.delete_study(other.id)
    store.close()
    assert b"5f0c1a9e-somebody" not in file.read_bytes()
    assert b"many pages of a picture" not in file.read_bytes()


def test_who_is_deleted_leaves_the_log_of_writes_too(admin, sqlite_store, tmp_path):
    study = begun(sqlite_store, parameters=("PROLIFIC_PID",))
    people = [joined(sqlite_store, study, parameters={"PROLIFIC_PID": f"5f0c-some{number}"}) for number in range(2)]

    def files_with(words):
        return [path.name for path in tmp_path.iterdir() if words in path.read_bytes()]

    def delete(person):
        admin.post(f"/admin/studies/{study.id}/participants/{person.id}/delete")

    assert files_with(b"5f0c-some0") == ["studies.db-wal"]
    delete(people[0])
    assert files_with(b"5f0c-some0") == []
    with sqlite_store.read() as reader:  # somebody reads meanwhile
        reader.execute(text("SELECT count(*) FROM participants")).all()
        delete(people[1])
        assert "studies.db-wal" in files_with(b"5f0c-some1") or files_with(b"5f0c-some1") == ["studies.db"]
    sqlite_store.tidy()
    assert files_with(b"5f0c-some1") == []
