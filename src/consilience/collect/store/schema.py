"""The layout of the tables in a database: brought up to date when a store is opened."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, inspect, text

from consilience.errors import InputError

FOLDER = Path(__file__).parent / "migrations"
LOCK = 7_313_460_215  # of PostgreSQL, held while one of several processes makes the tables
HEAD, BASE = "head", "base"


def _config(db: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = db
    return config


def revision(db: Connection) -> str | None:
    """Return the revision of the tables; None if there are none yet."""
    return MigrationContext.configure(db).get_current_revision()


def newest() -> str:
    """Return the revision of this version of the package."""
    head = ScriptDirectory(str(FOLDER)).get_current_head()
    return str(head)


def is_known(found: str | None) -> bool:
    """Whether this version of the package knows a revision, or there are no tables yet."""
    try:
        return found is None or ScriptDirectory(str(FOLDER)).get_revision(found) is not None
    except CommandError:
        return False


def bring_up_to_date(db: Connection) -> None:
    """Run the steps that are missing, in the transaction of the connection.

    Raises InputError: the database was written by a later version of the package, or holds the tables of another
    program.
    """
    if db.dialect.name == "postgresql":
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    found = revision(db)
    if found == newest():
        return
    if found is None and set(inspect(db).get_table_names()) - {"alembic_version"}:
        raise InputError(
            "The database holds tables of another program; give a database or a file of its own for studies."
        )
    move_to(db, HEAD)


def move_to(db: Connection, target: str) -> None:
    """Run the steps up or down to a revision, or to "head" or "base".

    Raises InputError: the database was written by a later version of the package.
    """
    found = revision(db)
    _require_known(found)
    is_earlier = target == BASE or (found is not None and target < found)  # they are numbered
    (command.downgrade if is_earlier else command.upgrade)(_config(db), target)


def require_tables(db: Connection) -> None:
    """Refuse a database without tables of this version or an earlier one.

    Raises InputError: the database has no tables of studies, or was written by a later version of the package.
    """
    found = revision(db)
    if found is None:
        raise InputError("The database holds no studies: it has none of their tables.")
    _require_known(found)


def _require_known(found: str | None) -> None:
    if not is_known(found):
        raise InputError(
            f"The database was written by a later version of consilience (revision {found}); update the package."
        )
