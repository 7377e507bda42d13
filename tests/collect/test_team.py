"""Accounts, invitations, roles and the log, through the pages that people use."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pandas as pd
import pytest

from consilience.collect.errors import NotFoundError
from consilience.collect.roles import ADMINISTRATOR, EDITOR, GUEST, OWNER, RESEARCHER, VIEWER
from consilience.collect.security import Rate
from consilience.collect.settings.panel import Completion, Panel
from consilience.collect.store import invitations
from consilience.errors import InputError

from .collecting import begun, takes_part
from .conftest import PASSWORD, session_of
from .team import account_of, log_in

NEW = {"password": PASSWORD, "again": PASSWORD}
HOSTILE = [
    *("", " ", "x" * 101, "x" * 100_000, "\ufdfa" * 100),  # of which the last is 18 times as long in plain letters
    *("a\0b", "a\u200bnn", "\u202eann", "\u3164", "\ud800"),  # not seen
    "p\u0430ypal",  # with a Cyrillic letter
]


@pytest.fixture
def study(sqlite_store):
    return begun(sqlite_store, ["apple", "pear", "nut"])


@pytest.fixture
def hashes(monkeypatch, password_hash):
    """Let hashing passwords, which is slow on purpose, cost nothing."""
    monkeypatch.setattr("consilience.collect.security.hashed_password", checked_hash(password_hash))
    monkeypatch.setattr("consilience.collect.security._hash_of_nothing", lambda: password_hash)


def checked_hash(password_hash):
    def hash_password(password):
        if len(password) < 10:
            raise InputError("The password must have 10 to 200 characters.")
        return password_hash

    return hash_password


def link_in(page):
    return re.search(r'value="http://testserver(/invited/[^"]+)"', page.text)[1]


def accept(visit, link, name, **more):
    browser = visit()
    assert browser.get(link).headers["location"] == "/admin/invited"
    return browser, browser.post("/admin/invited", data={"username": name} | NEW | more)


# ---- invitations


def test_a_colleague_is_invited_as_viewer(admin, visit, study, sqlite_store, hashes):
    team = f"/admin/studies/{study.id}"
    link = link_in(admin.post(f"{team}/invitations", data={"role": VIEWER}))
    assert link not in admin.get(f"{team}/team").text  # it is shown once
    browser, done = accept(visit, link, "  Ann   <b>Lee</b> ")
    assert done.headers["location"] == team
    assert "You have joined as viewer. You see everything that is collected" in browser.get(team).text
    assert study.title in browser.get("/admin").text
    page = browser.get(team).text
    assert study.join_token not in page
    assert f"{team}/open" not in page
    assert f"{team}/settings" not in page
    assert browser.post(f"{team}/close").status_code == 403
    assert "You are a viewer of this study; this takes an editor." in browser.post(f"{team}/close").text
    assert browser.get("/admin/new").status_code == 403
    assert browser.get("/admin/accounts").status_code == 403
    members = admin.get(f"{team}/team").text
    assert "Ann &lt;b&gt;Lee&lt;/b&gt;" in members
    assert "<b>Lee" not in members
    assert [(one.name, role) for one, role in sqlite_store.members(study.id)] == [("Ann <b>Lee</b>", VIEWER)]


def test_an_invitation_works_once(admin, visit, study, hashes):
    link = link_in(admin.post(f"/admin/studies/{study.id}/invitations", data={"role": EDITOR}))
    first, second = visit(), visit()
    first.get(link)
    second.get(link)
    assert "as an editor" in first.get("/admin/invited").text
    assert first.post("/admin/invited", data={"username": "Ann"} | NEW).status_code == 303
    assert second.post("/admin/invited", data={"username": "Bo"} | NEW).status_code == 404
    assert "was used or revoked" in visit().get(link).text
    assert visit().get("/admin/invited").status_code == 404


def test_an_invitation_is_over_after_a_week_or_when_it_is_revoked(admin, visit, study, monkeypatch):
    address = f"/admin/studies/{study.id}/invitations"
    link = link_in(admin.post(address, data={"role": VIEWER}))
    number = re.search(rf"{address}/(\d+)/revoke", admin.get(f"/admin/studies/{study.id}/team").text)[1]
    admin.post(f"{address}/{number}/revoke")
    assert visit().get(link).status_code == 404
    monkeypatch.setattr(invitations, "LIFETIME", timedelta(seconds=-1))
    assert visit().get(link_in(admin.post(address, data={"role": VIEWER}))).status_code == 404


def test_an_invitation_holds_as_long_as_who_invited_may_invite(visit, study, sqlite_store, password_hash, hashes):
    owner = account_of(sqlite_store, OWNER, study, password_hash)
    other = account_of(sqlite_store, ADMINISTRATOR, study, password_hash)
    sqlite_store.set_member(study.id, other.id, OWNER)
    token = sqlite_store.invite(OWNER, study.id, inviter_id=owner.id)
    assert sqlite_store.invitation(token).role == OWNER
    sqlite_store.set_member(study.id, owner.id, EDITOR)
    assert visit().get(f"/invited/{token}").status_code == 404
    sqlite_store.set_member(study.id, owner.id, OWNER)
    sqlite_store.remove_account(owner.id)
    with pytest.raises(NotFoundError):
        sqlite_store.invitation(token)


def test_somebody_with_an_account_joins_with_it_and_keeps_a_higher_role(visit, study, sqlite_store, password_hash):
    account = account_of(sqlite_store, EDITOR, study, password_hash)
    sqlite_store.add_account("Another", ADMINISTRATOR, password_hash)
    browser = log_in(visit, account)
    for role, then in [(VIEWER, EDITOR), (OWNER, OWNER)]:
        browser.get(f"/invited/{sqlite_store.invite(role, study.id)}")
        assert "Join as <bdi>The editor</bdi>" in browser.get("/admin/invited").text
        assert browser.post("/admin/invited", data={"join": "1"}).status_code == 303
        assert sqlite_store.roles_of(account.id) == {study.id: then}
    assert sqlite_store.account(account.id).role == RESEARCHER  # owners may make studies


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:12])
def test_names_that_are_none_or_deceive_are_refused(visit, sqlite_store, hashes, name):
    token = sqlite_store.invite(RESEARCHER)
    browser = visit()
    browser.get(f"/invited/{token}")
    body = (
        b"password=correct+horse+battery&again=correct+horse+battery&username="
        + "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass")).encode()
    )
    answer = browser.post("/admin/invited", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 422
    assert "name of an account" in answer.text
    assert sqlite_store.accounts() == []
    assert sqlite_store.invitation(token)  # which can still be accepted


def test_a_name_is_taken_in_other_letters_too(store):
    store.add_account("Ann Lee", GUEST)
    for twin in ("ann lee", "ANN  LEE", "\uff21nn Lee", "Ann\u00a0Lee", "aNN lEE"):
        with pytest.raises(InputError, match=r"^There is an account with this name already"):
            store.add_account(twin, GUEST)
        assert store.account_by_name(twin).name == "Ann Lee"


def test_passwords_of_invitations_are_checked(visit, sqlite_store, hashes):
    browser = visit()
    browser.get(f"/invited/{sqlite_store.invite(ADMINISTRATOR)}")
    for password, again, sentence in [("x" * 12, "y" * 12, "differ"), ("short", "short", "10 to 200")]:
        answer = browser.post("/admin/invited", data={"username": "Ann", "password": password, "again": again})
        assert (answer.status_code, sentence in answer.text) == (422, True)
        assert 'value="Ann"' in answer.text


def test_of_several_at_once_one_accepts(store):
    study = begun(store)
    token = store.invite(EDITOR, study.id)

    def accept_as(name):
        try:
            return store.accept_invitation(token, name=name).name
        except NotFoundError:
            return None

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(accept_as, ["Ann", "Bo", "Cy", "Di"]))
    assert [one.name for one in store.accounts()] == [name for name in found if name] != []
    assert len(store.members(study.id)) == 1


@pytest.mark.parametrize("number", ["0", "-1", "x", str(10**30)])
def test_numbers_of_invitations_that_are_none(admin, study, number):
    for address in (f"/admin/studies/{study.id}", "/admin/accounts"):
        assert admin.post(f"{address}/invitations/{number}/revoke").status_code == 422
    assert admin.get("/admin/log", params={"before": number}).status_code == 422


# ---- accounts and passwords


def test_who_forgot_a_password_gets_a_link(admin, visit, study, sqlite_store, password_hash, hashes):
    account = account_of(sqlite_store, VIEWER, study, None)
    browser = visit()
    link = link_in(admin.post(f"/admin/accounts/{account.id}/reset"))
    browser.get(link)
    assert "The viewer" in browser.get("/admin/invited").text
    assert browser.post("/admin/invited", data=NEW).status_code == 303
    assert log_in(visit, account).get("/admin").status_code == 200
    assert visit().get(link).status_code == 404


def test_one_changes_ones_own_password_and_other_sessions_end(visit, study, sqlite_store, password_hash, hashes):
    account = account_of(sqlite_store, VIEWER, study, password_hash)
    sqlite_store.add_account("Another", GUEST)
    here, elsewhere = log_in(visit, account), log_in(visit, account)
    assert here.post("/admin/account", data={"old": "wrong"} | NEW).status_code == 403
    assert here.post("/admin/account", data={"old": PASSWORD, "password": "x", "again": "x"}).status_code == 422
    assert here.post("/admin/account", data={"old": PASSWORD} | NEW).status_code == 303
    assert here.get("/admin").status_code == 200
    assert elsewhere.get("/admin").headers["location"] == "/admin/login"


def test_a_removed_account_loses_everything_at_once(admin, visit, study, sqlite_store, password_hash):
    account = account_of(sqlite_store, OWNER, study, password_hash)
    browser = log_in(visit, account)
    _, token = sqlite_store.create_token("script", account.id)
    script = visit(headers={"Authorization": f"Bearer {token}"})
    assert script.get("/api/v1/studies").json()[0]["id"] == study.id
    admin.post(f"/admin/accounts/{account.id}/remove")
    assert browser.get("/admin").headers["location"] == "/admin/login"
    assert script.get("/api/v1/studies").status_code == 401
    assert sqlite_store.study(study.id)  # which stays
    assert sqlite_store.members(study.id) == []


def test_a_role_that_is_taken_holds_for_the_next_request(admin, visit, study, sqlite_store, password_hash):
    account = account_of(sqlite_store, EDITOR, study, password_hash)
    browser = log_in(visit, account)
    address = f"/admin/studies/{study.id}"
    assert browser.get(f"{address}/settings").status_code == 200
    admin.post(f"{address}/members/{account.id}", data={"role": VIEWER})
    assert browser.get(f"{address}/settings").status_code == 403
    assert admin.post(f"{address}/members/{account.id}", data={"role": "king"}).status_code == 422
    admin.post(f"{address}/members/{account.id}", data={"role": ""})
    assert browser.get(address).status_code == 404
    assert study.title not in browser.get("/admin").text
    assert admin.post("/admin/accounts/invitations", data={"role": "viewer"}).status_code == 422


def test_somebody_stays_administrator_and_somebody_owner(store, password_hash):
    study = begun(store)
    owner = account_of(store, OWNER, study, password_hash)
    admin = store.add_account("Ann", ADMINISTRATOR)
    with pytest.raises(InputError, match=r"^Somebody has to own the study"):
        store.set_member(study.id, owner.id, VIEWER)
    for change in (lambda: store.set_role(admin.id, GUEST), lambda: store.remove_account(admin.id)):
        with pytest.raises(InputError, match=r"^Somebody has to be administrator"):
            change()
    store.add_account("Bo", ADMINISTRATOR)
    assert store.set_role(admin.id, GUEST).role == GUEST


def test_the_log_in_asks_for_a_name_where_there_are_several(admin, visit, sqlite_store, hashes):
    stranger = visit()
    assert 'for="username"' not in stranger.get("/admin/login").text
    sqlite_store.add_account("Ann", GUEST)
    assert 'for="username"' in stranger.get("/admin/login").text
    for name in ("", "nobody", "Ann", "admi\u0000n", "x" * 100_000):
        answer = stranger.post("/admin/login", data={"username": name, "password": PASSWORD})
        assert (answer.status_code, "no account with this name and this password" in answer.text) == (403, True)
    assert stranger.post("/admin/login", data={"username": "ADMIN", "password": PASSWORD}).status_code == 303


def test_passwords_are_counted_by_account(admin, visit, sqlite_store, password_hash, hashes):
    sqlite_store.add_account("Ann", GUEST, password_hash)
    browser = visit()
    browser.app.state.served.counters["account"].rate = Rate(1, 600)
    browser.app.state.served.counters["account"]._left.clear()

    def log_in_as(name, password="wrong"):
        return browser.post("/admin/login", data={"username": name, "password": password}).status_code

    assert [log_in_as("ann"), log_in_as("Ann"), log_in_as("ANN", PASSWORD)] == [403, 429, 429]
    assert [log_in_as("nobody"), log_in_as("NOBODY")] == [403, 429]  # as if there were such an account
    assert log_in_as("admin", PASSWORD) == 303


# ---- tokens


def test_a_script_may_do_what_its_account_may(visit, study, sqlite_store, password_hash):
    hidden = begun(sqlite_store, ["x", "y", "z"])
    account = account_of(sqlite_store, VIEWER, study, password_hash)
    sqlite_store.add_account("Another", ADMINISTRATOR)
    browser = log_in(visit, account)
    page = browser.post("/admin/tokens", data={"name": "script"}).text
    token = page.split('aria-label="The new token"')[0].rsplit('value="', 1)[1].split('"')[0]
    script = visit(headers={"Authorization": f"Bearer {token}"})
    [shown] = script.get("/api/v1/studies").json()
    assert (shown["id"], shown["link"]) == (study.id, None)
    assert script.get(f"/api/v1/studies/{hidden.id}").json() == {"error": f"There is no study '{hidden.id}'."}
    assert script.post(f"/api/v1/studies/{study.id}/participants", json={}).status_code == 403
    assert script.post("/api/v1/studies", json={"title": "x", "items": []}).status_code == 403
    other, _ = sqlite_store.create_token("of the server")
    assert "of the server" not in browser.get("/admin/tokens").text
    assert browser.post(f"/admin/tokens/{other.id}/revoke").status_code == 404


# ---- the log


def test_the_log_says_who_changed_what(admin, visit, study, sqlite_store, password_hash):
    person, _ = takes_part(sqlite_store, study)
    editor = log_in(visit, account_of(sqlite_store, EDITOR, study, password_hash))
    address = f"/admin/studies/{study.id}"
    fields = {"title": "<i>Nuts</i>", "kind": "open", "board": "piles", "groupings_wanted": "20"}
    assert editor.post(f"{address}/settings", data=fields).status_code == 303
    assert editor.post(f"{address}/settings", data=fields | {"title": ""}).status_code == 422  # changes nothing
    editor.post(f"{address}/participants/{person.id}/exclude", data={})
    admin.post(f"{address}/close")
    shown = sqlite_store.actions(study.id)
    assert [(one.name, one.action) for one in shown] == [
        ("admin", "closed the study"),
        ("The editor", "left somebody out"),
        ("The editor", "changed settings"),
    ]
    assert shown[0].detail == 'status: "open" → "closed"'
    assert shown[1].detail == f"participant {person.id}"
    assert 'title: "A study" → "<i>Nuts</i>"' in shown[2].detail
    assert "groupings_wanted: null → 20" in shown[2].detail
    page = editor.get(f"{address}/log").text
    assert "&lt;i&gt;Nuts" in page
    assert "<i>Nuts" not in page
    frame = pd.DataFrame(editor.get(f"{address}/export/json", params={"table": "log"}).json())
    assert frame.account.tolist() == ["The editor", "The editor", "admin"]
    bo = sqlite_store.add_account("Bo", GUEST)
    sqlite_store.set_member(study.id, bo.id, EDITOR)
    admin.post(f"{address}/members/{bo.id}", data={"role": VIEWER})
    assert sqlite_store.actions(study.id)[0].detail == "Bo: viewer"
    without = editor.get(f"{address}/export/csv", params={"table": "log", "identifiers": "no"}).text
    assert "changed the role of somebody" in without
    assert not any(name in without for name in ("The editor", "Bo"))
    admin.post(f"{address}/delete", data={"confirmed": "1"})
    server = admin.get("/admin/log").text
    assert "deleted the study" in server
    assert editor.get("/admin/log").status_code == 403


def test_the_log_is_read_page_by_page(admin, sqlite_store):
    for number in range(250):
        sqlite_store.note_action("Ann", "did something", f"number {number}")
    first = admin.get("/admin/log").text
    assert ("number 249" in first, "number 150" in first, "number 149<" in first) == (True, True, False)
    second = admin.get(f"/admin/log?before={re.search(r'before=([0-9]+)', first)[1]}").text
    assert ("number 149" in second, "number 50<" in second, "number 49<" in second) == (True, True, False)
    assert admin.get("/admin/log?before=0").status_code == 422


def test_whoever_makes_a_study_owns_it(visit, sqlite_store, password_hash):
    own = begun(sqlite_store)
    account = account_of(sqlite_store, OWNER, own, password_hash)
    sqlite_store.add_account("Another", ADMINISTRATOR)
    browser = log_in(visit, account)
    browser.post("/admin/new", data={"title": "Fruit", "items": "a\nb\nc", "kind": "open", "board": "piles"})
    browser.post("/admin/new/template/words")
    browser.post(f"/admin/studies/{own.id}/copy")
    roles = sqlite_store.roles_of(account.id)
    assert set(roles) == {one.id for one in sqlite_store.studies()}
    assert set(roles.values()) == {OWNER}
    made = [one.action for one in sqlite_store.actions()]
    assert made == ["copied a study", "made a study", "made a study"]


@pytest.mark.parametrize(("role", "codes"), [(VIEWER, {}), (EDITOR, {"complete": {"code": "C1ABC", "url": ""}})])
def test_codes_are_for_who_may_edit(visit, sqlite_store, password_hash, role, codes):
    study = begun(sqlite_store, panel=Panel(endings={"complete": Completion("C1ABC")}))
    account = account_of(sqlite_store, role, study, password_hash)
    browser, (_, token) = log_in(visit, account), sqlite_store.create_token("script", account.id)
    script = visit(headers={"Authorization": f"Bearer {token}", "Origin": ""})
    address = f"studies/{study.id}"
    assert script.get(f"/api/v1/{address}").json()["settings"]["panel"]["endings"] == codes
    answers = [browser.get(f"/admin/{address}/study.zip"), script.get(f"/api/v1/{address}/pack")]
    assert {one.status_code for one in answers} == {200 if codes else 403}
    assert ("Save it as a file" in browser.get(f"/admin/{address}").text) == bool(codes)


def test_pictures_are_for_who_may_see_the_study(visit, study, sqlite_store, password_hash):
    picture = sqlite_store.add_picture(study.id, b"x", "image/png", 1, 1)
    viewer = log_in(visit, account_of(sqlite_store, VIEWER, study, password_hash))
    other = log_in(visit, account_of(sqlite_store, "owner of another study", study, password_hash))
    address = f"/pictures/{study.id}/{picture}"
    assert [one.get(address).status_code for one in (viewer, other, visit())] == [200, 404, 404]


def test_a_session_of_before_goes_on_beside_those_of_others(visit, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)
    browser = visit(cookies={"session": session_of(sqlite_store)})
    assert browser.get("/admin").status_code == 200
    assert "<bdi>admin</bdi>" in browser.get("/admin/account").text


def test_nobody_joins_a_study_without_an_invitation(visit, study, sqlite_store, password_hash):
    owner = log_in(visit, account_of(sqlite_store, OWNER, study, password_hash))
    stranger, members = sqlite_store.add_account("Bo", GUEST), sqlite_store.members(study.id)
    answer = owner.post(f"/admin/studies/{study.id}/members/{stranger.id}", data={"role": VIEWER})
    assert (answer.status_code, "Bo" in answer.text) == (404, False)
    assert sqlite_store.members(study.id) == members
