"""Transactions that PostgreSQL undoes while people take part: their connection breaks, or others are in their way."""

import re
from itertools import count

import pytest
from sqlalchemy import event

from consilience.collect.settings.panel import Panel, Question

from .collecting import begun, kind_of
from .conftest import visiting

PANEL = Panel(consent="Do you agree?", before=(Question("age", "How old are you?", "number"),))
WRITES = ("INSERT", "UPDATE", "DELETE")


class Breaker:
    """Puts a statement that fails in the place of one of those that write, by its number from 0."""

    def __init__(self, engine, failing, place):
        self.failing, self.place, self.n_writes = failing, place, 0
        event.listen(engine, "before_cursor_execute", self.replace, retval=True)

    def replace(self, connection, cursor, statement, parameters, context, executemany):
        if statement.startswith(WRITES):
            self.n_writes += 1
            if self.n_writes == self.place + 1:
                return self.failing, [{}] if executemany else {}
        return statement, parameters


def take_part(store, browser, study):
    """Take part as a browser does, until the sort is handed in; return the statuses of all answers."""
    answers = []

    def send(method, address, **sent):
        answers.append(browser.request(method, address, **sent))
        return answers[-1].text

    send("GET", f"/join/{study.join_token}")
    form = dict(re.findall(r'name="(\w+)" value="(\w+)"', send("GET", "/sort")))
    send("POST", "/sort/consent", data=form | {"agreed": "yes", "decision": "agree"})
    send("POST", "/sort/questions", data={"moment": "before", "age": "30"})
    send("POST", "/sort/begin")
    [given] = store.assignments(study.id)
    moves = [{"sequence": n, "kind": "move", "items": [n - 1], "group": f"g{kind_of(n) + 1}"} for n in range(1, 13)]
    send("POST", "/sort/changes", json={"assignment": given.id, "client": "tab", "changes": moves})
    send("POST", "/sort/submit", data={"assignment": f"{given.id}"})
    send("GET", "/sort")
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    "failing",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",  # as when PostgreSQL ends
        "DO $$ BEGIN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END $$",
    ],
)
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_transaction_that_is_undone_is_made_again_wherever_it_breaks(store, failing):
    with visiting(store) as open_browser:
        for place in count():
            study = begun(store, panel=PANEL)
            breaker = Breaker(store._reading, failing, place)
            statuses = take_part(store, open_browser(raise_server_exceptions=False), study)
            event.remove(store._reading, "before_cursor_execute", breaker.replace)
            assert statuses == [303, 200, 303, 303, 303, 200, 303, 200]
            [done] = store.submitted(study.id)
            assert sorted(len(group["items"]) for group in done.groups) == [4, 4, 4]
            assert len(store.changes(done.assignment)) == 12
            assert len(store.participants(study.id)) == 1
            if breaker.n_writes <= place:
                break
    assert place > 8
