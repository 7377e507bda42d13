"""Every address of the server × every role: whom it answers is what the table of the docs says."""

import re

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from consilience.collect import app as app_module
from consilience.collect.authority import RuledRoute
from consilience.collect.roles import GUEST, OF_PARTICIPANTS, RULES, VIEWER

from .collecting import begun, takes_part
from .conftest import visiting
from .roles_table import PATH, make_table, read_table
from .team import ROLES, account_of, log_in

ALWAYS = {"/", "/static", "/api/v1/openapi.json"}  # answer everybody; they are no routes of ours
# with the links that are exchanged for a cookie, whose pages are for everybody, these are not asked for below
LOGS_OUT = ("POST /admin/logout", "POST /admin/setup", "POST /admin/login", "POST /admin/account")
ENDS = ("/delete", "/close", "/remove", "/revoke", "/withdraw", "/members/", "/role")  # what would spoil what follows


def routes_of(app):
    """The routes of ours, by what asks for them."""
    modules = [*app_module.PAGES, app_module.api_routes, app_module.api_copying, app_module.api_people]
    modules += [app_module.api_training, app_module.api_judging]
    return [route for module in modules for route in module.router.routes]


def test_every_route_has_a_rule_and_every_rule_a_route(visit):
    app = visit().app
    routes = routes_of(app)
    assert {type(route) for route in routes} == {RuledRoute}
    assert {f"{method} {route.path}" for route in routes for method in route.methods} == set(RULES)
    described = set(app.openapi()["paths"])
    assert described == {rule.partition(" ")[2] for rule in RULES if " /api/" in rule}
    others = {getattr(route, "path", None) for route in app.routes if not isinstance(route, APIRoute)} - {None}
    assert others <= ALWAYS


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
    store, study, person, browsers, scripts = server
    method, path = address.split(" ")
    account = store.account_by_name("Somebody") or store.add_account("Somebody", GUEST)  # who may be removed
    store.set_member(study.id, account.id, VIEWER)
    values = {"study": study.id, "participant": person.id, "assignment": "1", "account": account.id, "token": "none"}
    values |= {"invitation": "1", "name": "words", "kind": "csv", "picture": "0" * 64}
    if "/tokens/" in path:
        values["token"] = str(store.tokens()[-1].id)
    client = (scripts if path.startswith("/api/") else browsers)[role]
    if role != "participant":
        client.cookies.pop("participant", None)  # of a preview
    answer = client.request(method, re.sub(r"{(\w+)}", lambda found: values[found[1]], path))
    return not is_refused(answer, address, study)


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


@pytest.mark.slow
def test_every_role_at_every_address(server):
    assert [(*case[:2], not case[2]) for case in cases() if asks(server, case[1], case[0]) != case[2]] == []
