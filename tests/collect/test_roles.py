"""Every address of the server × every role: whom it answers is what the table of the docs says."""

import html
import re
from dataclasses import asdict
from urllib.parse import quote

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from consilience.collect.authority import RuledRoute
from consilience.collect.results.exporting import TABLES
from consilience.collect.roles import (
    ADMINISTRATOR,
    GUEST,
    OF_PARTICIPANTS,
    RESEARCHER,
    RULES,
    VIEWER,
)
from consilience.collect.settings.cleaning import clean
from consilience.collect.settings.panel import Completion

from .collecting import begun, takes_part
from .conftest import visiting
from .roles_table import PATH, make_table, read_table
from .team import ROLES, account_of, log_in

ALWAYS = {"/", "/static", "/api/v1/openapi.json"}  # answer everybody; they are no routes of ours
# with the links that are exchanged for a cookie, whose pages are for everybody, these are not asked for below
LOGS_OUT = ("POST /admin/logout", "POST /admin/setup", "POST /admin/login", "POST /admin/account")
ENDS = ("/delete", "/close", "/remove", "/revoke", "/withdraw", "/members/", "/role")  # what would spoil what follows


def all_routes_of(app):
    for route in app.routes:
        inner = getattr(route, "original_router", None)  # which FastAPI keeps since it stopped copying routes
        yield from all_routes_of(inner) if inner else [route]


def routes_of(app):
    """The routes of ours, by what asks for them."""
    return [route for route in all_routes_of(app) if isinstance(route, APIRoute)]


def test_every_route_has_a_rule_and_every_rule_a_route(visit):
    app = visit().app
    routes = routes_of(app)
    assert {type(route) for route in routes} == {RuledRoute}
    assert {f"{method} {route.path}" for route in routes for method in route.methods} == set(RULES)
    described = set(app.openapi()["paths"])
    assert described == {rule.partition(" ")[2] for rule in RULES if " /api/" in rule}
    assert {getattr(route, "path", None) for route in all_routes_of(app) if not isinstance(route, APIRoute)} == ALWAYS


def test_a_route_of_any_router_is_seen():
    app, outer, inner = FastAPI(openapi_url=None, docs_url=None, redoc_url=None), APIRouter(), APIRouter()
    inner.get("/inner")(lambda: None)
    outer.include_router(inner)
    app.include_router(outer)
    app.get("/own")(lambda: None)
    assert [route.path for route in routes_of(app)] == ["/inner", "/own"]


def test_a_route_without_a_rule_is_refused():
    router = APIRouter(route_class=RuledRoute)
    with pytest.raises(KeyError, match="GET /admin/new-thing"):
        router.get("/admin/new-thing")(lambda: None)


def test_the_table_of_the_docs_is_that_of_the_rules():
    assert PATH.read_text(encoding="utf-8") == make_table()
    assert set(read_table(make_table())) == set(RULES)


@pytest.fixture
def server(sqlite_store, password_hash):
    """A study with people, and somebody of every role: their browsers, and their scripts."""
    study = begun(sqlite_store, ["a", "b", "c", "d"])
    person, _ = takes_part(sqlite_store, study)
    with visiting(sqlite_store) as visit:
        browsers, scripts = {"anonymous": visit(), "participant": visit()}, {}
        browsers["participant"].get(f"/join/{study.join_token}")
        browsers["participant"].post("/sort/begin")
        for role in ROLES[2:]:
            account = account_of(sqlite_store, role, study, password_hash)
            browsers[role] = log_in(visit, account)
            _, token = sqlite_store.create_token("tests", account.id)
            scripts[role] = visit(headers={"Authorization": f"Bearer {token}", "Origin": ""})
        yield sqlite_store, study, person, browsers, scripts | {role: visit() for role in ROLES[:2]}


def asks(server, role, address):
    """Ask for an address as somebody of a role; return whether they are answered."""
    store, study, person, browsers, _ = server
    account = store.account_by_name("Somebody") or store.add_account("Somebody", GUEST)  # who may be removed
    store.set_member(study.id, account.id, VIEWER)
    values = {"study": study.id, "participant": person.id, "assignment": "1", "account": account.id, "token": "none"}
    values |= {"invitation": "1", "name": "words", "kind": "csv", "picture": "0" * 64}
    if "/tokens/" in address:
        values["token"] = str(store.tokens()[-1].id)
    if role != "participant":
        browsers[role].cookies.pop("participant", None)  # of a preview
    answer = send(server, role, address, values)
    return not is_refused(answer, address, study)


def send(server, role, address, values, **body):
    """Ask for an address, with these values of its parameters, as somebody of a role."""
    _, _, _, browsers, scripts = server
    method, path = address.split(" ")
    parts = {name: quote(value, safe="") for name, value in values.items()}
    return (scripts if path.startswith("/api/") else browsers)[role].request(method, path.format(**parts), **body)


def is_refused(answer, address, study):
    """Whether an answer says that somebody may not ask, or that there is nothing for them."""
    if address in OF_PARTICIPANTS and "/pictures/" in address:
        return "no such picture" in answer.text and "has no such picture" not in answer.text
    to_login = answer.headers.get("location") == "/admin/login" and not address.endswith("/logout")
    no_study = answer.status_code == 404 and study.id in answer.text and "There is no study" in answer.text
    return answer.status_code in (401, 403) or to_login or no_study


def cases():
    """Addresses and roles, with whether the table says that they are answered; what spoils others is last."""
    found = [
        (address, role, allowed[role])
        for address, allowed in read_table(PATH.read_text(encoding="utf-8")).items()
        for role in ROLES
        if address not in LOGS_OUT and ("{token}" not in address or "/tokens/" in address)
    ]
    return sorted(found, key=lambda case: any(end in case[0] for end in ENDS))


def test_some_roles_at_some_addresses(server):
    some = [case for case in cases() if not case[2] or case[0].startswith("GET ")][::4]  # 4 and 7 roles: each in turn
    assert [(*case[:2], not case[2]) for case in some if asks(server, case[1], case[0]) != case[2]] == []


def test_what_only_editors_see_is_nowhere_shown_to_viewers(server):
    _, study, person, _, scripts = server
    old, new = Completion("OLD-CODE", "https://panel.example/?c=OLD-CODE"), Completion("NEW-CODE", "https://a.example")
    for ending in (old, new):
        settings = {"panel": {"endings": {"complete": asdict(ending)}}}
        sent = scripts["editor"].put(f"/api/v1/studies/{study.id}/settings", json=settings)
        assert sent.status_code == 200
    values = {"study": study.id, "participant": person.id, "kind": "csv", "picture": "0" * 64}
    seen = [address for address, rule in RULES.items() if address.startswith("GET ") and rule.study == VIEWER]
    said = {address: send(server, "viewer", address, values).text for address in seen}
    said |= {
        table: send(server, "viewer", "GET /admin/studies/{study}/export/{kind}", values, params={"table": table}).text
        for table in TABLES
    }
    assert "panel.endings.complete.code" in said["log"]
    secrets = ("OLD-CODE", "NEW-CODE", "panel.example", "a.example", study.join_token)
    assert [(address, one) for address, text in said.items() for one in secrets if one in text] == []
    assert "NEW-CODE" in send(server, "editor", "GET /admin/studies/{study}/panel", values).text


@pytest.mark.slow
def test_every_role_at_every_address(server):
    assert [(*case[:2], not case[2]) for case in cases() if asks(server, case[1], case[0]) != case[2]] == []


# ---- what somebody may not see answers as what is not there

BODIES = {"answer": {"question": 1, "answer": "a"}, "grouping": {"groups": []}}


def studies_not_seen(store, study):
    """Ids of studies in which nobody of `ROLES` but the administrator has a role, or which there are not."""
    other, deleted = begun(store), begun(store)
    store.delete_study(deleted.id)
    odd = [study.id.upper(), f"{study.id} ", f"{study.id}\0", f"{study.id}.", f"{study.id}%", f"{study.id}<b>"]
    return [other.id, deleted.id, *odd]


def parts_not_seen(store):
    """Values of the other parameters of addresses that are of another study or person, or which there are not."""
    other = begun(store)
    person, (board,) = takes_part(store, other)
    account = store.add_account("A stranger", RESEARCHER)
    store.invite(VIEWER, other.id)
    token, _ = store.create_token("theirs", account.id)
    return {
        "participant": [person.id, person.id.upper(), f"{person.id}\0", f"{person.id}<b>"],
        "assignment": [str(board.id)],
        "account": [account.id, f"{account.id}\0"],
        "token": [str(token.id)],
        "invitation": [str(store.invitations(other.id)[0].id)],
        "picture": [store.add_picture(other.id, b"x", "image/png", 1, 1)],
    }


def like(value):
    """Something of the same form that there is not."""
    return "9" * 8 if value.isdecimal() else re.sub("[a-z0-9]", "a", re.sub("[A-Z]", "A", value))


def told(server, role, address, values, name, value):
    """All that an answer says but the text for which was asked."""
    body = {"data": {"role": VIEWER}} if "POST /admin" in address else {"json": BODIES.get(address.rpartition("/")[2])}
    answer = send(server, role, address, values | {name: value}, **({} if address.startswith("GET ") else body))
    ways = () if value.isdecimal() else (value, clean(value), quote(value, safe=""), html.escape(value))
    text = re.sub("|".join(map(re.escape, ways)) or "(?!)", "…", answer.text)
    return answer.status_code, answer.headers.get("location"), answer.headers.get("set-cookie"), text


def tells_of_others(server, every=1):
    """Return which answers on what somebody may not see differ from those on what there is not."""
    store, study, person, _, _ = server
    values = {"study": study.id, "participant": person.id, "assignment": "1", "account": "0" * 10, "invitation": "1"}
    values |= {"name": "words", "kind": "csv", "picture": "0" * 64, "token": "1"}
    hidden = {"study": studies_not_seen(store, study)} | parts_not_seen(store)
    asked = [
        (role, address, name, form)
        for address in RULES
        for name in re.findall(r"{(\w+)}", address)
        if name in hidden and ("{token}" not in address or "/tokens/" in address)
        for form in hidden[name]
        for role in ROLES
        if role != ADMINISTRATOR or (name not in ("account", "token") and form != hidden["study"][0])
    ]
    found = []
    for role, address, name, form in asked[::every]:
        answer, usual = (told(server, role, address, values, name, value) for value in (form, like(form)))
        if answer != usual:
            found.append((role, address, name, form, answer, usual))
    assert asked
    return found


def test_some_answers_on_what_is_not_there_and_on_what_is_others_are_the_same(server):
    assert tells_of_others(server, 101) == []


@pytest.mark.slow
def test_what_is_of_others_answers_as_if_it_were_not_there(server):
    assert tells_of_others(server) == []
