"""Backups hold every row of every table, and can be restored into either kind of database."""

import gzip
import hashlib
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import insert, inspect, select, text

from consilience.collect.settings.model import Item
from consilience.collect.store import Store, new_picture, schema, tables
from consilience.collect.store.backup import backup, restore, verify
from consilience.collect.worker import Worker
from consilience.errors import InputError
from tests.collect.collecting import begun, joined, takes_part
from tests.collect.conftest import session_of
from tests.collect.judges import ask_judges, judged_animals
from tests.quick_cases import some_quick

OF_TODAY = ("studies", "pictures", "items", "participants", "assignments", "changes", "subsets", "jobs", "tokens")
OF_TODAY += (
    "consensuses",
    "sessions",
    "accounts",
    "members",
    "invitations",
    "actions",
    "judgings",
    "odd_questions",
    "odd_answers",
)


def filled(store):
    """Put something into the tables: people at every stage, pictures, jobs, what the worker found, secrets."""
    study = begun(store, subset_size=4, parameters=("PROLIFIC_PID",))
    takes_part(store, study, parameters={"PROLIFIC_PID": "pânel; 'id'"})
    Worker(store, ahead=2).run()
    store.assignment_for(joined(store, study), np.random.default_rng(0))
    picture = new_picture(bytes(range(256)), "image/png", 3, 2)
    store.create_study("Pictures", [Item(0, "a", picture=picture.hash), "b"], pictures=[picture])
    judged = judged_animals(store)
    ask_judges(store, judged, 2)
    store.ask(joined(store, judged).id)
    store.create_token("script")
    store.set_password_hash("hash")  # which ends sessions
    store.set_member(study.id, store.add_account("Ann", "guest").id, "viewer")
    store.invite("owner", study.id, inviter_id=store.first_administrator().id)
    store.note_action("Ann", "opened the study", study_id=study.id, title=study.title)
    session_of(store)
    return study


def everything(store):
    with store.read() as db:
        return {
            table.name: [tuple(row) for row in db.execute(select(table).order_by(*table.primary_key.columns))]
            for table in tables.metadata.sorted_tables
        }


@pytest.mark.parametrize("kind", some_quick(["the same", "sqlite"]))
def test_what_was_backed_up_is_restored(store, url, tmp_path, kind):
    study = filled(store)
    made = backup(store, tmp_path / "backup")
    counts = made.counts
    before = everything(store)
    assert counts == {name: len(rows) for name, rows in before.items()}
    assert [name for name, count in counts.items() if not count and name in OF_TODAY] == []
    if kind == "sqlite" or url.startswith("sqlite"):
        target = f"sqlite:///{tmp_path}/restored.db"
    else:
        target = url
        with store.write() as db:
            schema.move_to(db, schema.BASE)
    assert restore(target, tmp_path / "backup") == made
    assert verify(tmp_path / "backup") == made
    assert timedelta(0) <= datetime.now(UTC) - made.created < timedelta(minutes=10)
    again = Store.open(target)
    assert everything(again) == before
    takes_part(again, study, seed=1)  # new rows are numbered after the restored ones
    assert len(again.submitted(study.id)) == 2
    again.close()


def test_a_backup_of_sqlite_fills_postgresql(sqlite_store, request, tmp_path):
    study = filled(sqlite_store)
    backup(sqlite_store, tmp_path / "backup")
    address = request.getfixturevalue("postgres")
    assert restore(address, tmp_path / "backup").counts["studies"] == 3
    again = Store.open(address)
    assert everything(again) == everything(sqlite_store)
    takes_part(again, study, seed=1)
    with again.write() as db:
        schema.move_to(db, schema.BASE)
    again.close()


def test_a_store_that_holds_something_is_not_overwritten(sqlite_store, tmp_path):
    filled(sqlite_store)
    backup(sqlite_store, tmp_path / "backup")
    before = everything(sqlite_store)
    with pytest.raises(InputError, match=r"^The database is not empty: .* Restore into a new database\.$"):
        restore(f"sqlite:///{tmp_path}/studies.db", tmp_path / "backup")
    assert everything(sqlite_store) == before


def test_damaged_files_are_refused_and_fill_nothing(sqlite_store, tmp_path):
    filled(sqlite_store)
    backup(sqlite_store, tmp_path / "backup")
    data, target = (tmp_path / "backup").read_bytes(), f"sqlite:///{tmp_path}/new.db"
    content = gzip.decompress(data)
    wrong = {
        "cut": (data[: len(data) // 2], "cannot be read to its end"),
        "changed": (gzip.compress(content.replace(b"Pictures", b"Puctures")), "checksum"),
        "text": (b"not a backup", "is not a backup"),
        "other": (gzip.compress(b"{}\n"), "is not a backup that this version"),
    }
    for name, (found, sentence) in wrong.items():
        (tmp_path / name).write_bytes(found)
        with pytest.raises(InputError, match=sentence):
            restore(target, tmp_path / name)
        with pytest.raises(InputError, match=sentence):
            verify(tmp_path / name)
    assert not (tmp_path / "new.db").exists()


def test_a_backup_of_a_later_version_is_refused(sqlite_store, tmp_path):
    with sqlite_store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    backup(sqlite_store, tmp_path / "backup")
    assert json.loads(gzip.decompress((tmp_path / "backup").read_bytes()).splitlines()[0])["revision"] == "9999"
    with pytest.raises(InputError, match=r"^The backup was written by a later version .*\(revision 9999\); update"):
        restore(f"sqlite:///{tmp_path}/new.db", tmp_path / "backup")


def test_rows_that_do_not_fit_the_tables_are_found(sqlite_store, tmp_path):
    study = filled(sqlite_store).id
    backup(sqlite_store, tmp_path / "backup")
    whole = gzip.decompress((tmp_path / "backup").read_bytes()).decode()
    for before, after in [
        ('"Pictures"', "12"),  # a number where a text belongs
        ('"Pictures"', "null"),
        (', "image/png"', ""),  # a value is missing
        (f'["{study}", 0, ', '["nowhere", 0, '),  # an item of no study
        (f'["{study}", 1, ', f'["{study}", 0, '),  # two items with one number
    ]:
        changed = whole.replace(before, after, 1)
        assert changed != whole
        body = changed[: changed.rstrip("\n").rindex("\n") + 1].encode()  # with the right checksum
        (tmp_path / "changed").write_bytes(gzip.compress(body + f"{hashlib.sha256(body).hexdigest()}\n".encode()))
        with pytest.raises(
            InputError, match=r"^The backup changed is damaged: a row of its table '\w+' does not fit\.$"
        ):
            verify(tmp_path / "changed")


def at_revision(store, revision):
    """Bring the tables of an empty store to an earlier revision."""
    with store.write() as db:
        schema.move_to(db, schema.BASE)
        schema.move_to(db, revision)


@pytest.mark.parametrize("revision", some_quick(["0004", "0001", "0002", "0003"]))
def test_tables_of_an_earlier_version_are_backed_up_as_they_are(store, url, tmp_path, revision):
    study = begun(store, subset_size=4)
    store.create_token("script")
    kept = {name: rows for name, rows in everything(store).items() if name in ("studies", "items", "tokens")}
    at_revision(store, revision)
    with store.write() as db:
        for name, rows in kept.items():
            table = tables.metadata.tables[name]
            has = {column["name"] for column in inspect(db).get_columns(name)}
            named = [dict(zip(table.columns.keys(), row, strict=True)) for row in rows]
            db.execute(insert(table), [{key: row[key] for key in row if key in has} for row in named])
    store.close()
    old = Store.open(url, as_it_is=True)
    made = backup(old, tmp_path / "backup")
    with old.read() as db:
        assert schema.revision(db) == revision == made.revision
    old.close()
    assert "overviews" not in made.counts  # which came with the last step
    assert restore(f"sqlite:///{tmp_path}/new.db", tmp_path / "backup") == made
    again = Store.open(f"sqlite:///{tmp_path}/new.db")
    with again.read() as db:
        assert schema.revision(db) == schema.newest()
    assert {name: everything(again)[name] for name in kept} == kept
    assert again.study(study.id) == study
    again.close()


def test_every_revision_has_only_tables_and_columns_of_today(sqlite_store):
    with sqlite_store.write() as db:
        for revision in ("0001", "0002", "0003", "0004", schema.newest()):
            schema.move_to(db, schema.BASE)
            schema.move_to(db, revision)
            at = inspect(db)
            for name in set(at.get_table_names()) - {"alembic_version"}:
                has = {column["name"] for column in at.get_columns(name)}
                assert has <= set(tables.metadata.tables[name].columns.keys())


def test_a_database_without_studies_cannot_be_backed_up_as_it_is(tmp_path):
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match=r"^The database holds no studies: it has none of their tables\.$"):
        Store.open(f"sqlite:///{tmp_path}/empty.db", new=False, as_it_is=True)
