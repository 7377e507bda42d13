"""Accounts that a proxy names after the log-in of an institution: believed from a trusted address only."""

import asyncio
from datetime import timedelta

import httpx
import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from consilience.collect.middleware import NAMED, NamedByProxy
from consilience.collect.roles import ADMINISTRATOR, EDITOR, RESEARCHER, VIEWER

from .collecting import begun
from .conftest import PASSWORD
from .team import account_of

PROXY, ELSEWHERE = "10.0.0.1", "192.0.2.7"
HEADER = "X-Forwarded-User"


@pytest.fixture
def behind(visit):
    """Open a browser behind a proxy, or one that reaches the server by itself, which sends headers of its choice."""
    app = visit().app
    client = pytest.importorskip("starlette.testclient")

    def open_browser(headers, address=PROXY):
        inner = ProxyHeadersMiddleware(app, trusted_hosts=PROXY)
        found = NamedByProxy(inner, HEADER, inner.trusted_hosts)
        browser = client.TestClient(found, follow_redirects=False, client=(address, 50_000))
        browser.headers = httpx.Headers([("Origin", "http://testserver"), *headers])
        return browser

    return open_browser


def test_who_is_named_needs_no_password(behind, sqlite_store):
    sqlite_store.add_account("ann@uni.example", ADMINISTRATOR)
    browser = behind([(HEADER, "ann@uni.example")])
    page = browser.get("/admin")
    assert page.status_code == 200
    assert "ann@uni.example" in page.text
    assert "Log out" not in page.text
    assert browser.post("/admin/demo", headers={"Origin": "http://evil.example"}).status_code == 403
    assert "as the log-in of your institution says" in browser.get("/admin/account").text


def test_other_addresses_name_nobody(behind, sqlite_store):
    sqlite_store.add_account("Ann", ADMINISTRATOR)
    for more in ([], [("X-Forwarded-For", PROXY)], [("X-Forwarded-For", "127.0.0.1")]):
        browser = behind([(HEADER, "Ann"), *more], ELSEWHERE)
        assert browser.get("/admin").headers["location"] == "/admin/login"
    through = behind([(HEADER, "Ann"), ("X-Forwarded-For", ELSEWHERE)])
    assert through.get("/admin").status_code == 200  # the visitor's address is not the proxy's


@pytest.mark.parametrize(
    "headers",
    [
        [(HEADER, "Eve")],
        [(HEADER, "ann")],  # another, perhaps, for the institution
        [(HEADER, "Ann"), (HEADER, "Ann")],
        [(HEADER, "Eve"), (HEADER, "Ann")],
        [(HEADER, "Lee"), (HEADER, "Ann")],
        [(HEADER, "<script>")],
        [(HEADER, "x" * 5000)],
    ],
    ids=lambda headers: ascii(headers[-1][1])[:12],
)
def test_unknown_names_are_refused(behind, sqlite_store, headers):
    sqlite_store.add_account("Ann", ADMINISTRATOR)
    sqlite_store.add_account("Lee, Ann", ADMINISTRATOR)
    answer = behind([]).get("/admin", headers=headers)  # a browser's own would be joined to one
    assert (answer.status_code, "There is no account" in answer.text) == (403, True)
    assert "<script>" not in answer.text
    assert len(answer.text) < 3000


@pytest.mark.parametrize(
    ("value", "name"), [("Zoë".encode(), "Zoë"), (b"Zo\xeb", "Zoë"), ("\uff21nn".encode(), "\uff21nn")]
)
def test_names_have_letters_of_every_kind(sqlite_store, value, name):
    scopes = []

    async def keep(scope, receive, send):
        scopes.append(scope)

    scope = {"type": "http", "client": (PROXY, 1), "headers": [(HEADER.lower().encode(), value)]}
    asyncio.run(NamedByProxy(keep, HEADER, {PROXY})(scope, None, None))
    assert scopes[0][NAMED] == name


@pytest.mark.parametrize("headers", [[], [(HEADER, "")], [("X_Forwarded_User", "Ann")]], ids=str)
def test_who_is_not_named_logs_in_by_password(behind, sqlite_store, password_hash, headers):
    sqlite_store.add_account("Ann", ADMINISTRATOR, password_hash)
    browser = behind(headers)
    assert browser.get("/admin").headers["location"] == "/admin/login"
    browser.post("/admin/login", data={"password": PASSWORD})
    assert browser.get("/admin").status_code == 200


def test_a_name_goes_before_a_session(behind, sqlite_store, password_hash):
    study = begun(sqlite_store)
    ann, viewer = sqlite_store.add_account("Ann", ADMINISTRATOR), account_of(sqlite_store, VIEWER, study, None)
    browser = behind([(HEADER, viewer.name)])
    session = sqlite_store.new_session(ann.id, timedelta(hours=1))
    assert browser.get("/admin/accounts", headers={"Cookie": f"session={session}"}).status_code == 403


def test_an_invitation_lets_an_unknown_name_in(behind, sqlite_store):
    study = begun(sqlite_store)
    browser = behind([(HEADER, "Bo")])
    browser.get(f"/invited/{sqlite_store.invite(EDITOR, study.id)}")
    page = browser.get("/admin/invited").text
    assert "Join as <bdi>Bo</bdi>" in page
    assert 'name="password"' not in page
    assert browser.post("/admin/invited", data={"username": "Eve", "password": "x", "again": "x"}).status_code == 303
    assert "session" not in browser.cookies  # the log-in of the institution ends where it began
    [account] = sqlite_store.accounts()
    assert (account.name, account.password_hash, account.role) == ("Bo", None, "guest")
    assert browser.get(f"/admin/studies/{study.id}/settings").status_code == 200
    browser.get(f"/invited/{sqlite_store.invite(RESEARCHER)}")
    browser.post("/admin/invited", data={"join": "1"})
    assert sqlite_store.account(account.id).role == RESEARCHER


def test_no_session_begins_for_who_is_named(behind, sqlite_store, password_hash):
    sqlite_store.add_account("Ann", ADMINISTRATOR, password_hash)
    browser = behind([(HEADER, "Ann")])
    new = {"old": PASSWORD, "password": "a new password", "again": "a new password"}
    for page, form in (("login", {"username": "Ann", "password": PASSWORD}), ("account", new)):
        answer = browser.post(f"/admin/{page}", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/admin")
        assert not browser.cookies


def test_the_api_knows_tokens_only(behind, sqlite_store):
    sqlite_store.add_account("Ann", ADMINISTRATOR)
    assert behind([(HEADER, "Ann")]).get("/api/v1/studies").status_code == 401
