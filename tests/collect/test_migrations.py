"""The steps between layouts of the tables: the last is that of `tables`, and all can be undone."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import column, create_engine, insert, inspect, table, text

from consilience.collect.store import Store, schema, tables
from consilience.collect.store.backup import backup, restore
from consilience.collect.store.database import now
from consilience.collect.store.secret import hash_token
from consilience.errors import InputError
from tests.collect.collecting import NAMES, takes_part
from tests.collect.test_backup import everything, filled

HOUR = timedelta(hours=1)
MOMENTS = ("created", "expires")
OF_0010 = {
    name: table(name, *map(column, ("token_hash", "name")), *(column(one, tables.Moment) for one in MOMENTS))
    for name in ("sessions", "tokens")
}


def named(store):
    with store.read() as db:
        return set(inspect(db).get_table_names()) - {"alembic_version"}


def test_the_steps_lead_to_the_tables_and_back(store):
    assert named(store) == set(tables.metadata.tables)
    with store.read() as db:
        assert compare_metadata(MigrationContext.configure(db, opts={"compare_type": True}), tables.metadata) == []
        assert schema.revision(db) == schema.newest()
    with store.write() as db:
        schema.move_to(db, schema.BASE)
    assert named(store) == set()
    with store.write() as db:
        schema.move_to(db, schema.HEAD)
    assert named(store) == set(tables.metadata.tables)
    assert store.create_study("Works", NAMES).title == "Works"


def test_a_step_that_fails_leaves_nothing(store):
    def undo():
        with store.write() as db:
            schema.move_to(db, schema.BASE)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undo()
    assert named(store) == set(tables.metadata.tables)


def test_several_processes_open_a_new_database(url):
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: Store.open(url), range(4)))
    study = stores[0].create_study("One", NAMES)
    assert all(store.studies() == [study] for store in stores)
    for store in stores:
        store.close()


def test_a_database_of_a_later_version_is_refused(store, url):
    with store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"later version of consilience \(revision 9999\); update the package\.$"):
        Store.open(url)


def test_a_database_of_another_program_is_refused(url):
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as db:
        db.execute(text("CREATE TABLE theirs (id INTEGER)"))
    engine.dispose()
    with pytest.raises(InputError, match=r"^The database holds tables of another program"):
        Store.open(url)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "notes.db").write_text("not a database, but long enough to be taken for one" * 50)
    with pytest.raises(
        InputError, match=r"^sqlite:///.*notes\.db is not a database of studies: file is not a database\.$"
    ):
        Store.open(f"sqlite:///{tmp_path}/notes.db")
    with pytest.raises(InputError, match=r"cannot be opened: unable to open database file\.$"):
        Store.open(f"sqlite:///{tmp_path}/nowhere/studies.db")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("studies.db", r"^The address of the database must be like sqlite:///studies\.db or postgresql://"),
        ("sqlite://", r"^A store needs a file"),
        ("sqlite:///:memory:", r"^A store needs a file"),
        ("mysql://host/db", r"^The database must be SQLite or PostgreSQL\. Got an address that begins with 'mysql'\.$"),
    ],
)
def test_addresses_that_are_refused(url, sentence):
    with pytest.raises(InputError, match=sentence):
        Store.open(url)


def test_a_file_locked_for_long_is_named(tmp_path, monkeypatch):
    path = tmp_path / "studies.db"
    Store.open(f"sqlite:///{path}").close()
    monkeypatch.setattr("consilience.collect.store.database.PRAGMAS", {"busy_timeout": 50, "journal_mode": "wal"})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match=r"cannot be opened: database is locked\.$"):
        Store.open(f"sqlite:///{path}")
    other.close()


def test_what_a_database_of_an_earlier_version_holds_stays(store, url, tmp_path):
    study = filled(store)
    person, _ = takes_part(store, study, seed=9)
    store.keep_answers(person.id, "before", {"age": 30})
    before = all_but_accounts(store)
    with store.write() as db:
        schema.move_to(db, "0006")
    old = Store.open(url, as_it_is=True)
    backup(old, tmp_path / "backup")
    old.close()
    Store.open(url).close()
    assert all_but_accounts(store) == before
    assert store.has_answered(person.id, "before")
    restore(f"sqlite:///{tmp_path}/again.db", tmp_path / "backup")
    again = Store.open(f"sqlite:///{tmp_path}/again.db")
    assert all_but_accounts(again) == before
    again.close()


def all_but_accounts(store):
    """What tables hold, without those that came with accounts, which a step back empties."""
    of_accounts = {"accounts", "sessions", "members", "invitations", "actions"}
    return {name: rows for name, rows in everything(store).items() if name not in of_accounts}


def test_the_one_password_becomes_the_first_administrator(store, url, tmp_path):
    with store.write() as db:
        schema.move_to(db, "0010")
        db.execute(text("INSERT INTO secrets VALUES ('password', 'its hash')"))
        for number, (token, expires) in enumerate([("goes on", now() + HOUR), ("is over", now() - HOUR)]):
            values = {"token_hash": hash_token(token), "created": now(), "expires": expires}
            db.execute(insert(OF_0010["sessions"]).values(**values))
            db.execute(
                insert(OF_0010["tokens"]).values(name=f"script {number}", token_hash=hash_token(token), created=now())
            )
    old = Store.open(url, as_it_is=True)
    backup(old, tmp_path / "backup")
    old.close()
    Store.open(url).close()
    require_first_administrator(store)
    restore(f"sqlite:///{tmp_path}/again.db", tmp_path / "backup")
    again = Store.open(f"sqlite:///{tmp_path}/again.db")
    require_first_administrator(again)
    with store.write() as db:
        schema.move_to(db, "0010")
        assert db.execute(text("SELECT * FROM secrets")).all() == [("password", "its hash")]
        assert db.scalar(text("SELECT count(*) FROM tokens")) == 2
    again.close()


def require_first_administrator(store):
    [account] = store.accounts()
    assert (account.name, account.role, account.password_hash) == ("admin", "administrator", "its hash")
    assert store.account_by_session("goes on") == account
    assert store.account_by_session("is over") is None
    assert [(token.name, token.account) for token in store.tokens()] == [("script 0", None), ("script 1", None)]
    assert store.check_token("goes on").name == "script 0"
    with store.read() as db:
        assert db.execute(text("SELECT * FROM secrets")).all() == []


def test_without_a_password_there_is_no_account_after_the_step(store):
    with store.write() as db:
        schema.move_to(db, "0010")
        schema.move_to(db, schema.HEAD)
    assert store.accounts() == []


def test_tokens_of_guests_do_not_outlive_a_step_back(store):
    store.create_token("of a guest", store.add_account("Bo", "guest").id)
    store.create_token("of an administrator", store.add_account("Ann", "administrator").id)
    store.create_token("of nobody")
    with store.write() as db:
        schema.move_to(db, "0010")
        names = db.scalars(text("SELECT name FROM tokens ORDER BY id")).all()
    assert names == ["of an administrator", "of nobody"]


def test_codes_that_the_log_told_are_taken_out(store, url, tmp_path):
    told = {
        'title: "A" → "B"; panel.endings.complete.code: null → "C; SECRET \\" x"; n_items: 2 → 3': (
            'title: "A" → "B"; panel.endings.complete.code; n_items: 2 → 3'
        ),
        'panel.endings.closed.url: "https://SECRET.example" → null; panel.endings.declined.code: "SECR': (
            "panel.endings.closed.url; panel.endings.declined.code"
        ),
        "panel.endings: {} → null": "panel.endings",
        'title: "of panel.endings: all" → "A"': 'title: "of panel.endings: all" → "A"',
    }
    with store.write() as db:
        schema.move_to(db, "0011")
    for detail in told:
        store.note_action("Ann", "changed the settings", detail)
    old = Store.open(url, as_it_is=True)
    backup(old, tmp_path / "backup")
    old.close()
    restore(f"sqlite:///{tmp_path}/again.db", tmp_path / "backup")
    for address in (url, f"sqlite:///{tmp_path}/again.db"):
        found = Store.open(address)
        assert [one.detail for one in reversed(found.actions())] == list(told.values())
        found.close()
