"""Malformed bodies, wrong ids, those of other studies and hostile queries, at every address of the server."""

import re
from collections import Counter
from itertools import islice, product
from urllib.parse import quote

import pytest

from .collecting import begun, takes_part
from .hostile import KINDS_OF_BODY, MALFORMED, SCRIPT, TEXTS, says_why
from .test_hostile_answers import FORMS
from .test_hostile_bodies import open_board
from .test_roles import routes_of

OTHERS = ("participant", "assignment", "invitation", "picture")
WRONG_IDS = [text for text in TEXTS.values() if len(text) < 60_000]  # no server reads longer addresses
WRONG_IDS += ["0", "-1", "9" * 30, "1e3", "NaN", "\ud800", "%00"]


class Everywhere:
    """The routes of the server, with what their addresses name, and who may ask."""

    def __init__(self, server, admin, named_study=None):
        self.server, self.admin = server, admin
        self.study, board = open_board(server, "open")
        self.board = board()
        self.browser = server.visit()
        self.browser.get(f"/join/{server.store.renew_token(self.board.participant)}")
        self.values = {"study": self.study.id, "participant": self.board.participant, "assignment": str(self.board.id)}
        self.values |= {"token": "none", "account": "none", "invitation": "1", "name": "words", "kind": "csv"}
        self.values |= {"picture": "0" * 64}
        self.routes = [(method, route) for route in routes_of(admin.app) for method in sorted(route.methods)]

    def ask(self, method, route, query="", changed=None, **more):
        """Send a request; `changed` are other values of its parameters."""
        values = self.values | (changed or {})
        parts = {name: quote(value, safe="", errors="surrogatepass") for name, value in values.items()}
        path, of = route.path.format(**parts), route.path.split("/")[1]
        client = {"api": self.server.script, "admin": self.admin}.get(of, self.browser)
        return client.request(method, path + query, **more)


def wrong_ids(everywhere, every=1):
    """Return which wrong ids are answered badly, and how many had each status."""
    cases = [
        (method, route, name, wrong)
        for method, route in everywhere.routes
        for name in re.findall(r"{(\w+)}", route.path)
        for wrong in WRONG_IDS
    ]
    found, statuses = [], Counter()
    for method, route, name, wrong in cases[::every]:
        answer = everywhere.ask(method, route, changed={name: wrong})
        statuses[answer.status_code] += 1
        if answer.status_code >= 500 or SCRIPT in answer.text or (answer.status_code < 300 and name == "study"):
            found.append((method, route.path, wrong[:20], answer.status_code, answer.text[:200]))
    return found, statuses


def test_some_wrong_ids_are_refused(server, admin):
    assert wrong_ids(Everywhere(server, admin), 401)[0] == []


@pytest.mark.slow
def test_wrong_ids_are_refused(server, admin):
    assert wrong_ids(Everywhere(server, admin))[0] == []


def test_what_is_of_another_study_or_person_is_not_there(server, admin):
    everywhere, other = Everywhere(server, admin), begun(server.store)
    takes_part(server.store, other)
    found = []
    for method, route in everywhere.routes:
        if "{study}" in route.path and any(f"{{{name}}}" in route.path for name in OTHERS):
            answer = everywhere.ask(method, route, changed={"study": other.id})
            if answer.status_code not in (404, 422):
                found.append((method, route.path, answer.status_code))
    assert found == []
    browser, mine = server.visit(), everywhere.board.id
    browser.get(f"/join/{other.join_token}")
    browser.post("/sort/begin")
    for step in ("move", "name", "submit", "answer-seen"):
        assert browser.post(f"/sort/{step}", data=FORMS[f"POST /sort/{step}"] | {"assignment": mine}).status_code == 404
    sent = {"assignment": mine, "client": "tab", "changes": []}
    assert browser.post("/sort/changes", json=sent).status_code == 404
    assert browser.get("/sort/state", params={"assignment": mine}).status_code == 404
    assert server.store.board_state(mine).version == 0


def hostile_queries(everywhere):
    for method, route in everywhere.routes:
        names = [one.alias for one in route.dependant.query_params] + ["question"] * (route.path == "/sort")
        for name, text in product(names, WRONG_IDS):
            yield method, route, {"query": f"?{name}={quote(text, errors='surrogatepass')}"}


def malformed_bodies(everywhere):
    for method, route in everywhere.routes:
        if method not in ("GET", "DELETE"):
            for kind, body in product(KINDS_OF_BODY, MALFORMED.values()):
                yield method, route, {"content": body, "headers": {"Content-Type": kind.encode("latin-1")}}


def badly_asked(everywhere, requests, every=1, first=0):
    """Return which requests are answered badly, and how many had each status."""
    found, statuses = [], Counter()
    for method, route, more in islice(requests(everywhere), first, None, every):
        answer = everywhere.ask(method, route, **more)
        statuses[answer.status_code] += 1
        if answer.status_code >= 500 or (answer.status_code >= 400 and not says_why(answer)) or SCRIPT in answer.text:
            found.append((method, route.path, str(more)[:100], answer.status_code, answer.text[:200]))
    return found, statuses


@pytest.mark.parametrize("requests", [hostile_queries, malformed_bodies])
def test_some_hostile_requests_are_answered(server, admin, few_digits, requests):
    assert badly_asked(Everywhere(server, admin), requests, 401, 11)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("requests", [hostile_queries, malformed_bodies])
def test_hostile_requests_are_answered(server, admin, requests):
    assert badly_asked(Everywhere(server, admin), requests)[0] == []
