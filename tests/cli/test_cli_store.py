"""``consilience store``: backups from the command line."""

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")


def test_backup_and_restore(run, fails, tmp_path):
    db, new = f"sqlite:///{tmp_path}/studies.db", f"sqlite:///{tmp_path}/new.db"
    (tmp_path / "cards.csv").write_text("text\napple\npear\n")
    run("study", "create", str(tmp_path / "cards.csv"), "--title", "Fruit", "--db", db)
    file = str(tmp_path / "studies.backup")
    said = run("store", "backup", file, "--db", db).stdout
    assert said == f"Backed up to {file} (studies: 1, people: 0, assignments: 0).\n"
    assert run("store", "restore", file, "--db", new).stdout.startswith(f"Restored from {file} (studies: 1,")
    assert "Fruit" in run("study", "list", "--db", new).stdout
    missing = tmp_path / "typo.db"
    said = fails("store", "backup", file, "--db", f"sqlite:///{missing}")
    assert said == f"There is no database {missing}."
    assert not missing.exists()
    assert "The database is not empty" in fails("store", "restore", file, "--db", new)
    assert fails("store", "restore", file + "x", "--db", new) == "There is no file studies.backupx."
