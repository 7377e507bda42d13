"""``consilience store``: backups from the command line."""

import re

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")


def test_backup_and_restore(run, fails, tmp_path):
    db, new = f"sqlite:///{tmp_path}/studies.db", f"sqlite:///{tmp_path}/new.db"
    (tmp_path / "cards.csv").write_text("text\napple\npear\n")
    run("study", "create", str(tmp_path / "cards.csv"), "--title", "Fruit", "--db", db)
    file = str(tmp_path / "studies.backup")
    said = run("store", "backup", file, "--db", db).stdout
    assert said == f"Backed up to {file} (studies: 1, people: 0, assignments: 0).\n"
    made = r"acked up on \d{4}-\d\d-\d\d \d\d:\d\d UTC by version \S+"
    held = r"\(studies: 1, people: 0, assignments: 0\)\."
    assert re.fullmatch(rf"{re.escape(file)} is whole: b{made} {held}\n", run("store", "verify", file).stdout)
    restored, warned = run("store", "restore", file, "--db", new).stdout.splitlines()
    assert re.fullmatch(rf"Restored from {re.escape(file)} {held}", restored)
    assert re.fullmatch(rf"B{made}; withdrawals and deletions made since have to be made again\.", warned)
    assert "Fruit" in run("study", "list", "--db", new).stdout
    missing = tmp_path / "typo.db"
    said = fails("store", "backup", file, "--db", f"sqlite:///{missing}")
    assert said == f"There is no database {missing}."
    assert not missing.exists()
    assert "The database is not empty" in fails("store", "restore", file, "--db", new)
    assert fails("store", "restore", file + "x", "--db", new) == "There is no file studies.backupx."


def test_a_damaged_backup_is_told_in_one_sentence(run, fails, tmp_path):
    db, file = f"sqlite:///{tmp_path}/studies.db", tmp_path / "studies.backup"
    (tmp_path / "cards.csv").write_text("text\napple\npear\n")
    run("study", "create", tmp_path / "cards.csv", "--title", "Fruit", "--db", db)
    run("store", "backup", file, "--db", db)
    file.write_bytes(file.read_bytes()[:-20])
    assert fails("store", "verify", file) == "The backup studies.backup is damaged: it cannot be read to its end."
