"""``consilience account``: accounts from the command line, and what commands leave in the log."""

import json

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
pytest.importorskip("argon2", reason="argon2-cffi is not installed")

from consilience.cli import main
from consilience.collect import Store
from consilience.collect.security import matches
from tests.click_runner import invoke

PASSWORD = "correct horse battery"


@pytest.fixture
def db(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def typed(*arguments, password=PASSWORD):
    return invoke(main, ["account", *arguments], input=f"{password}\n" * 2)


def test_accounts_are_added_listed_and_reset(db, run, fails):
    assert typed("add", "Ann Lee", "--role", "administrator", "--db", db).exit_code == 0
    assert "ann@uni.example" in run("account", "add", "ann@uni.example", "--no-password", "--db", db).stdout
    first, second = run("account", "list", "--db", db).stdout.splitlines()
    assert first == "administrator  Ann Lee  (never logged in)"
    assert second == "guest          ann@uni.example  (never logged in)"
    found = json.loads(run("account", "list", "--json", "--db", db).stdout)
    assert [one["has_password"] for one in found] == [True, False]
    assert typed("reset", "ann lee", "--db", db, password="another long one").exit_code == 0
    store = Store.open(db)
    assert matches(store.first_administrator().password_hash, "another long one")
    assert [(one.name, one.action, one.detail) for one in store.actions()] == [
        ("the command line", "set a new password", "Ann Lee"),
        ("the command line", "made an account", "ann@uni.example: guest"),
        ("the command line", "made an account", "Ann Lee: administrator"),
    ]
    store.close()
    assert fails("account", "add", "ANN LEE", "--no-password", "--db", db).startswith("There is an account with this")
    assert fails("account", "add", "", "--no-password", "--db", db).startswith("The name of an account must have")
    assert fails("account", "reset", "Bo", "--db", db).startswith("There is no account 'Bo'")
    short = typed("reset", "Ann Lee", "--db", db, password="short")
    assert (short.exit_code, "10 to 200 characters" in short.stderr) == (2, True)


def test_without_accounts_the_list_says_how_to_make_one(db, run, tmp_path):
    Store.open(db).close()
    assert run("account", "list", "--db", db).stdout.startswith("There are no accounts yet;")
    assert json.loads(run("account", "list", "--json", "--db", db).stdout) == []


def test_commands_on_studies_are_in_the_log(db, run, tmp_path):
    (tmp_path / "cards.csv").write_text("text\napple\npear\n")
    said = run("study", "create", str(tmp_path / "cards.csv"), "--title", "Fruit", "--db", db).stdout
    study = said.split()[0]
    for command in ("open", "close", "copy"):
        run("study", command, study, "--db", db)
    store = Store.open(db)
    assert [(one.name, one.action, one.title) for one in store.actions()] == [
        ("the command line", "copied a study", "Fruit (2)"),
        ("the command line", "closed the study", "Fruit"),
        ("the command line", "opened the study", "Fruit"),
        ("the command line", "made a study", "Fruit"),
    ]
    store.close()
