"""Who is let in, and what is refused: passwords, sessions, links, origins, sizes, rates, and what logs hold."""

import asyncio
import logging
from datetime import timedelta

import httpx
import pytest

from consilience.collect import security
from consilience.collect.security import PublicAddress, Rate, RateLimit, RefusedError, require_own_page
from consilience.errors import InputError

from .conftest import PASSWORD, session_of, visiting

PAGES = ["/admin", "/admin/new", "/admin/tokens", "/admin/studies/x", "/admin/studies/x/export/csv"]
ACTIONS = ["/admin/demo", "/admin/new", "/admin/tokens", "/admin/tokens/1/revoke", "/admin/studies/x/open"]


@pytest.fixture
def study(sqlite_store):
    return sqlite_store.open_study(sqlite_store.create_study("Fruit", ["apple", "pear", "nut"]).id)


@pytest.fixture
def participant(visit, study):
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    browser.post("/sort/begin")
    return browser


# ---- passwords and sessions


def test_passwords_are_hashed_with_argon2_and_checked():
    hashed = security.hashed_password(PASSWORD)
    assert hashed.startswith("$argon2id$")
    assert PASSWORD not in hashed
    assert security.matches(hashed, PASSWORD)
    for wrong in ("", PASSWORD + " ", PASSWORD.upper(), "x" * 10_000_000):
        assert not security.matches(hashed, wrong)
    assert not security.matches(None, PASSWORD)
    assert not security.matches("no hash", PASSWORD)
    for odd in ("short", "x" * 201):
        with pytest.raises(InputError, match="10 to 200 characters"):
            security.hashed_password(odd)


def test_the_set_up_link_works_once_and_leaves_the_address(visit, sqlite_store):
    browser, other = visit(), visit()
    assert browser.get("/admin/setup").status_code == 404
    assert browser.get("/admin/setup/second").status_code == 404
    exchanged = browser.get("/admin/setup/first")
    assert exchanged.headers["location"] == "/admin/setup"
    assert "HttpOnly" in exchanged.headers["set-cookie"]
    assert other.post("/admin/setup", data={"password": PASSWORD, "again": PASSWORD}).status_code == 404
    assert "differ" in browser.post("/admin/setup", data={"password": PASSWORD, "again": "x"}).text
    assert "10 to 200" in browser.post("/admin/setup", data={"password": "x", "again": "x"}).text
    assert sqlite_store.accounts() == []
    done = browser.post("/admin/setup", data={"password": PASSWORD, "again": PASSWORD})
    assert done.headers["location"] == "/admin"
    assert browser.get("/admin").status_code == 200
    assert other.get("/admin/setup/first").status_code == 404  # it is used


def test_without_a_session_nothing_is_shown_or_done(visit, admin, sqlite_store):
    stranger = visit()
    for path in PAGES:
        assert stranger.get(path).headers["location"] == "/admin/login", path
    for path in ACTIONS:
        assert stranger.post(path).status_code == 401, path
    assert stranger.get("/admin/studies/x/progress").json() == {"error": "Please log in."}
    assert stranger.post("/admin/login", data={"password": "wrong"}).status_code == 403
    assert stranger.get("/admin", headers={"Cookie": "session=made-up"}).headers["location"] == "/admin/login"
    assert sqlite_store.studies() == []
    assert admin.get("/admin").status_code == 200


def test_sessions_end_by_logging_out_and_by_time(admin, visit, sqlite_store):
    cookie = admin.cookies["session"]
    admin.post("/admin/logout")
    again = visit(cookies={"session": cookie})
    assert again.get("/admin").headers["location"] == "/admin/login"
    over = visit(cookies={"session": session_of(sqlite_store, timedelta(seconds=-1))})
    assert over.get("/admin").headers["location"] == "/admin/login"
    assert over.post("/admin/demo").status_code == 401


def test_cookies_are_kept_from_scripts_and_other_sites(visit, study, password_hash, sqlite_store):
    sqlite_store.set_password_hash(password_hash)
    for scheme in ("http", "https"):
        browser = visit(base_url=f"{scheme}://testserver", headers={"Origin": f"{scheme}://testserver"})
        for answer in (
            browser.get(f"/join/{study.join_token}"),
            browser.post("/admin/login", data={"password": PASSWORD}),
        ):
            cookie = answer.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
            assert ("Secure" in cookie) == (scheme == "https")


def test_tokens_of_the_api_work_until_they_are_revoked(admin, visit, sqlite_store):
    shown = admin.post("/admin/tokens", data={"name": "<b>nightly</b>"}).text
    assert "&lt;b&gt;nightly" in shown
    token = shown.split('value="')[1].split('"')[0]
    script = visit(headers={"Authorization": f"Bearer {token}"})
    assert script.get("/api/v1/studies").json() == []
    assert token not in admin.get("/admin/tokens").text
    admin.post(f"/admin/tokens/{sqlite_store.tokens()[0].id}/revoke")
    refused = script.get("/api/v1/studies")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert visit(cookies=dict(admin.cookies)).get("/api/v1/studies").status_code == 401  # cookies do not count there


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic wrong"])
def test_strangers_are_refused_before_their_bodies_are_read(visit, authorization):
    sent = []

    async def receive():
        raise AssertionError("The body was read.")

    async def send(message):
        sent.append(message)

    headers = {"content-length": "11000000", "content-type": "application/json", "authorization": authorization}
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": "/api/v1/studies",
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(visit().app(scope, receive, send))
    assert sent[0]["status"] == 401
    assert b"valid token" in sent[1]["body"]


# ---- links and people


def test_the_token_of_a_link_is_exchanged_for_a_cookie(visit, study):
    answer = visit().get(f"/join/{study.join_token}?PROLIFIC_PID=abc")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sort")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert study.join_token not in answer.headers["set-cookie"]


def test_a_browser_that_opens_the_link_again_continues(visit, study, sqlite_store):
    browser = visit()
    for _ in range(2):
        browser.get(f"/join/{study.join_token}")
    assert len(sqlite_store.participants(study.id)) == 1
    visit().get(f"/join/{study.join_token}")
    assert len(sqlite_store.participants(study.id)) == 2


def test_nobody_reaches_the_board_of_somebody_else(visit, participant, study, sqlite_store):
    number = sqlite_store.assignments(study.id)[0].id
    thief = visit()
    thief.get(f"/join/{study.join_token}")
    move = {"sequence": 1, "kind": "move", "items": [0], "group": "g1"}
    changes = {"assignment": number, "client": "x", "changes": [move]}
    assert thief.get(f"/sort/state?assignment={number}").status_code == 404
    assert thief.post("/sort/changes", json=changes).status_code == 404
    assert thief.post("/sort/move", data={"assignment": number, "items": "0", "group": "g1"}).status_code == 404
    assert thief.post("/sort/submit", data={"assignment": number, "confirmed": "1"}).status_code == 404
    assert sqlite_store.board_state(number).version == 0
    assert participant.post("/sort/changes", json=changes).status_code == 200
    stranger = visit()
    assert stranger.post("/sort/changes", json=changes).status_code == 403
    assert stranger.get("/sort").status_code == 403
    assert stranger.get("/join/made-up").status_code == 404


def test_a_personal_link_is_that_of_one_participant(visit, study, sqlite_store):
    _, token = sqlite_store.new_participant(study.id)
    for _ in range(2):
        browser = visit()
        browser.get(f"/join/{token}")
        browser.post("/sort/begin")
    assert len(sqlite_store.assignments(study.id)) == 1


# ---- where requests come from


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver.evil.example"},
        {"origin": "http://testserver@evil.example"},
        {"origin": "https://testserver"},
        {"origin": "http://testserver:8080"},
        {"origin": "http://[::1"},
        {"origin": "http://testserver", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {},
    ],
    ids=str,
)
def test_forms_of_other_sites_are_refused(headers):
    with pytest.raises(RefusedError) as refused:
        require_own_page("POST", {"host": "testserver"} | headers, "http")
    assert refused.value.status == 403
    require_own_page("GET", {"host": "testserver"} | headers, "http")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://testserver"},
        {"origin": "http://testserver:80"},
        {"origin": "http://testserver", "sec-fetch-site": "same-origin"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin"},
    ],
    ids=str,
)
def test_forms_of_own_pages_are_accepted(headers):
    require_own_page("POST", {"host": "testserver"} | headers, "http")


PUBLIC = PublicAddress.of("https://sort.example.org", "inside.example")


def request_to(host, scheme="http"):
    """A request by a name, as it comes from a proxy."""
    return {"base_url": f"{scheme}://{host}", "headers": {"Origin": f"https://{host}"}}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("sort.example.org", 200),
        ("SORT.example.org:443", 200),
        ("inside.example:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("sort.example.org.evil.example", 421),
        ("sort.example.org:8000", 421),
        ("localhost", 421),
        ("[", 421),
    ],
)
def test_only_the_public_name_numbers_and_where_the_server_listens_are_answered(sqlite_store, host, status):
    with visiting(sqlite_store, public=PUBLIC) as open_browser:
        answer = open_browser().get("/admin/login", headers={"Host": host})
    assert answer.status_code == status
    assert ("This server is reached at https://sort.example.org" in answer.text) == (status == 421)


def test_links_have_the_public_address_and_forms_come_from_it(sqlite_store, study, password_hash):
    sqlite_store.set_password_hash(password_hash)
    _, token = sqlite_store.create_token("tests")
    with visiting(sqlite_store, public=PUBLIC) as open_browser:
        admin = open_browser(**request_to("sort.example.org"))  # the proxy does not say that the browser used https
        cookie = admin.post("/admin/login", data={"password": PASSWORD}).headers["set-cookie"]
        assert "Secure" in cookie
        admin.cookies.set("session", cookie.split("session=")[1].split(";")[0])
        page = admin.get(f"/admin/studies/{study.id}")
        assert f'value="https://sort.example.org/join/{study.join_token}"' in page.text
        assert "at which your browser reached this page" not in page.text
        assert "strict-transport-security" in page.headers
        script = open_browser(**request_to("127.0.0.1"))
        shown = script.get(f"/api/v1/studies/{study.id}", headers={"Authorization": f"Bearer {token}"}).json()
        assert shown["link"] == f"https://sort.example.org/join/{study.join_token}"


def test_links_say_that_they_follow_the_browser_where_there_is_no_public_address(admin, study):
    page = admin.get(f"/admin/studies/{study.id}", headers={"Host": "anything.example"}).text
    assert f'value="http://anything.example/join/{study.join_token}"' in page
    assert "This link has the address at which your browser reached this page." in page


def test_a_forged_form_changes_nothing(admin, participant, study, sqlite_store):
    evil = {"Origin": "http://evil.example"}
    for browser, path in [
        (admin, f"/admin/studies/{study.id}/close"),
        (admin, "/admin/demo"),
        (admin, "/admin/logout"),
        (participant, "/sort/begin"),
    ]:
        assert browser.post(path, headers=evil).status_code == 403, path
    assert [one.status for one in sqlite_store.studies()] == ["open"]
    assert admin.get("/admin").status_code == 200


# ---- headers and logs


def test_every_answer_binds_the_browser(visit, study):
    browser = visit()
    for path in [
        "/",
        "/admin/login",
        "/nowhere",
        "/sort",
        "/static/admin.css",
        "/api/v1/studies",
        "/api/v1/openapi.json",
    ]:
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        is_page = headers.get("content-type", "").startswith("text/html")
        assert headers["referrer-policy"] == ("same-origin" if is_page else "no-referrer")
        assert "x-powered-by" not in headers
    assert browser.get("/sort").headers["cache-control"] == "no-store"


def test_pages_have_no_inline_scripts_or_styles(admin, participant, study):
    for browser, path in [
        (admin, "/admin"),
        (admin, "/admin/new"),
        (admin, "/admin/tokens"),
        (admin, f"/admin/studies/{study.id}"),
        (admin, f"/admin/studies/{study.id}/settings"),
        (admin, f"/admin/studies/{study.id}/texts"),
        (participant, "/sort"),
    ]:
        page = browser.get(path)
        assert page.status_code == 200, path
        text = page.text.replace('<script type="application/json"', "<data")
        assert "<style" not in text
        assert "<script>" not in text
        assert " style=" not in text
        assert not [word for word in (" onclick=", " onload=", " onerror=", "javascript:") if word in text]


def test_logs_hold_neither_tokens_nor_ids_of_panels(visit, study, caplog):
    caplog.set_level(logging.DEBUG, logger="consilience")
    browser = visit()
    browser.get(f"/join/{study.join_token}?PROLIFIC_PID=panel-7")
    browser.get("/admin/setup/first")
    browser.get("/join/mistyped-token")
    browser.get("/joim/mistyped-token?PROLIFIC_PID=panel-7")
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("consilience")]
    assert [line.split(" ", 1)[1].rsplit(" ", 2)[0] for line in ours] == [
        "GET /join/{token} 303",
        "GET /admin/setup/{token} 303",
        "GET /join/{token} 404",
        "GET (no such page) 404",
    ]


def test_a_failure_is_one_sentence_and_its_details_are_logged(visit, study, sqlite_store, monkeypatch, caplog):
    browser = visit()
    browser.get(f"/join/{study.join_token}")

    def fail(*_):
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(sqlite_store, "assignments_of", fail)
    answer = browser.get("/sort")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "Something went wrong" in answer.text
    assert "a secret detail" in caplog.text


# ---- sizes and rates


def test_bodies_are_bounded_whatever_they_say_of_themselves(admin, participant):
    large = b"x" * 1_100_000
    for browser, path in [(participant, "/sort/changes"), (participant, "/sort/move"), (admin, "/admin/tokens")]:
        assert browser.post(path, content=large).status_code == 413, path
        kind = "application/json" if path.endswith("changes") else "application/x-www-form-urlencoded"
        in_parts = (large[:100_000] for _ in range(11))  # which do not say how many they will be
        assert browser.post(path, content=in_parts, headers={"Content-Type": kind}).status_code == 413, path
    assert participant.post("/sort/changes", headers={"Content-Length": "x"}).status_code in (400, 413)


def test_a_bucket_fills_again_and_forgets_the_longest_gone(monkeypatch):
    time = 0.0
    limit = RateLimit(Rate(2, 60), "Too many.", clock=lambda: time)
    limit.count("a")
    limit.count("a")
    with pytest.raises(RefusedError) as refused:
        limit.count("a")
    assert (refused.value.status, refused.value.retry_after) == (429, 30)
    time = 30.0
    limit.count("a")
    with pytest.raises(RefusedError):
        limit.count("a")
    monkeypatch.setattr(security, "MOST_VISITORS", 3)
    for name in "bcde":
        limit.count(name)
    assert len(limit._left) == 3


def test_logging_in_joining_and_wrong_tokens_are_limited(visit, sqlite_store, study, password_hash):
    browser = visit()
    sqlite_store.set_password_hash(password_hash)
    use = browser.app.state.served
    for name in ("login", "join", "strangers"):
        use.counters[name].rate = Rate(1, 600)
    requests = {
        "login": lambda: browser.post("/admin/login", data={"password": "wrong"}),
        "join": lambda: browser.get("/join/made-up"),
        "strangers": lambda: browser.get("/api/v1/studies", headers={"Authorization": "Bearer x"}),
    }
    for name, request in requests.items():
        use.counters[name]._left.clear()
        first, second = request(), request()
        assert first.status_code in (401, 403, 404), name
        assert second.status_code == 429, name
        assert 500 < int(second.headers["retry-after"]) <= 600


def test_passwords_are_slowed_whatever_address_a_proxy_names(address, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)

    def log_in(number, password="wrong", cookies=""):
        return httpx.post(
            f"{address}/admin/login",
            data={"password": password},
            headers={"X-Forwarded-For": f"192.0.2.{number}", "Origin": address, "Cookie": cookies},
        )

    known = log_in(0, PASSWORD).cookies["device"]
    statuses = [log_in(number).status_code for number in range(1, 16)]
    assert (statuses[0], statuses[-1]) == (403, 429)
    assert log_in(16, PASSWORD).status_code == 429
    assert log_in(17, PASSWORD, f"device={known[:-1]}x").status_code == 429  # made up
    assert log_in(18, PASSWORD, f"device={known}").status_code == 303  # nobody shuts out who logged in before
