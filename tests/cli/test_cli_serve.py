"""``consilience serve``, as a program that is started, asked and interrupted."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import consilience
from consilience.cli import main

pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install 'consilience[collect]'")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from consilience.collect import Store  # noqa: E402
from consilience.collect.security import matches  # noqa: E402
from tests.click_runner import invoke  # noqa: E402


@pytest.fixture
def database(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def serve(database, monkeypatch):
    """Run the command up to where it would serve; return its result and the application."""
    started = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: started.append(self.config.app))

    def run(*arguments, **options):
        result = invoke(main, ["serve", "--db", database, "--port", "0", *arguments], **options)
        return result, started[-1] if started else None

    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_first_start_is_served_until_it_is_interrupted(database, number):
    source = str(Path(consilience.__file__).parent.parent)
    command = [sys.executable, "-m", "consilience", "serve", "--db", database, "--port", "0", "--demo"]
    environment = os.environ | {"PYTHONPATH": source}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            where, link, _ = (process.stdout.readline() for _ in range(3))
            address = where.rsplit(" ", 1)[1].strip()
            assert address.startswith("http://127.0.0.1:")
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(link.rsplit(" ", 1)[1].strip(), timeout=300) as page:
                assert "Choose a password" in page.read().decode()
            process.send_signal(number)
            log = process.communicate(timeout=300)[1]
        finally:
            process.kill()
    assert process.returncode == 0
    assert "GET /admin/setup/{token} 303" in log
    assert link.rsplit("/", 1)[1].strip() not in log
    store = Store.open(database)
    assert [study.title for study in store.studies()] == ["Demo: handwritten digits"]
    store.close()


def test_a_password_can_be_typed_and_then_there_is_no_link(serve, database):
    result, app = serve()
    assert app.state.served.setup_token in result.stdout
    typed = "correct horse battery\n" * 2
    result, app = serve("--password", input=typed)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "/admin/setup/" not in result.stdout
    assert app.state.served.setup_token is None
    store = Store.open(database)
    assert matches(store.first_administrator().password_hash, "correct horse battery")
    store.close()
    result, _ = serve("--password", input="short\nshort\n")
    assert (result.exit_code, "10 to 200 characters" in result.stderr) == (2, True)


def test_the_public_address_is_said_and_must_be_one(serve, monkeypatch):
    result, app = serve("--public-url", "https://Sort.example.org/")
    assert "Studies are served at https://sort.example.org/admin" in result.stdout
    assert "https://sort.example.org/admin/setup/" in result.stdout
    assert app.state.served.public.url == "https://sort.example.org"
    monkeypatch.setenv("CONSILIENCE_PUBLIC_URL", "http://[::1]:81")
    assert serve()[1].state.served.public.url == "http://[::1]:81"
    monkeypatch.setenv("CONSILIENCE_PUBLIC_URL", "")
    assert serve()[1].state.served.public is None
    for wrong in (
        "sort.example.org",
        "ftp://a.example",
        "https://a.example/path",
        "https://u:p@a.example",
        "https://:80",
    ):
        result, _ = serve("--public-url", wrong)
        assert (result.exit_code, "such as https://sort.example.org" in result.stderr) == (2, True), wrong


def test_the_demo_is_made_where_there_is_no_study(serve, database):
    for _ in range(2):
        serve("--demo")
    store = Store.open(database)
    assert len(store.studies()) == 1
    store.close()


def test_what_cannot_be_served_is_one_sentence(serve):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result, app = serve("--port", str(taken.getsockname()[1]))
    assert (result.exit_code, app) == (2, None)
    assert "choose another port with --port" in result.stderr
    result, _ = serve("--db", "mysql://localhost/x")
    assert result.exit_code == 2
    assert "SQLite or PostgreSQL" in result.stderr
    result, _ = serve("--host", "nowhere.invalid")
    assert result.exit_code == 2
    assert "Cannot listen at nowhere.invalid" in result.stderr


def test_help_needs_no_web_framework():
    code = "import sys; from consilience.cli import main; main(['serve', '--help'], standalone_mode=False); "
    code += "sys.exit(bool({'fastapi', 'sqlalchemy', 'uvicorn', 'numpy'} & set(sys.modules)))"
    source = str(Path(consilience.__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": source}, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_header_of_a_proxy_is_believed_if_it_is_asked_for(serve, monkeypatch):
    from consilience.collect.middleware import NamedByProxy

    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.1")
    result, app = serve("--trust-user-header", "X-Forwarded-User")
    assert result.exit_code == 0, result.stderr
    assert isinstance(app, NamedByProxy)
    assert ("10.0.0.1" in app.trusted, "127.0.0.1" in app.trusted) == (True, False)
    result, _ = serve("--trust-user-header", "X Forwarded: User")
    assert (result.exit_code, "must be the name of a header" in result.stderr) == (2, True)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    result, _ = serve("--trust-user-header", "X-Forwarded-User")
    assert (result.exit_code, "everybody could name an account" in result.stderr) == (2, True)
