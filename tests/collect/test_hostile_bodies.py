"""Hostile values in every body of JSON that the server takes.

The routes are those of the application, so that a new one needs its right body here. Nothing fails; what is refused is
in a sentence that names the field; what is stored was sent, or is a cleaned form of it.
"""

import json
from collections import Counter
from itertools import count

import numpy as np
import pytest

from consilience.collect.creation.judging import judge_items
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.settings.study_kinds import cards_of

from .collecting import begun, joined, slow_with_postgresql
from .hostile import body_with, cases_of, compared, is_sentence
from .test_hostile import KINDS, body_of
from .test_roles import routes_of

CLUSTERED = [{"name": name, "cluster": "ab"[place % 2], "text": name} for place, name in enumerate("cdefghijkl")]
NUMBERS = count(1)


BODIES = {}
"""For each route that takes JSON, and each kind of study: what makes a right request, and reads what it stored."""


def sends(address, *kinds):
    """Declare what makes requests to a route."""

    def keep(make):
        BODIES.update({(address, kind): make for kind in kinds or ("",)})
        return make

    return keep


def study_in(server, answer):
    """All that a study says."""
    found = answer.json()
    items = server.script.get(f"/api/v1/studies/{found['id']}/items").json()
    return [found["title"], found["settings"], [{**item, "number": 0} for item in items]]


def made(server, **changed):
    """The address of a new draft."""
    answer = server.script.post("/api/v1/studies", json=body_of("closed") | changed)
    assert answer.status_code == 201, answer.text
    return f"/api/v1/studies/{answer.json()['id']}"


@sends("POST /api/v1/studies", *KINDS)
def new_study(server, kind):
    body = body_of(kind)
    return lambda: ("/api/v1/studies", body), lambda answer: study_in(server, answer)


@sends("PUT /api/v1/studies/{study}/settings")
def new_settings(server, _):
    address, body = f"{made(server)}/settings", body_of("closed")["settings"]
    return lambda: (address, body), lambda answer: answer.json()["settings"]


@sends("PUT /api/v1/studies/{study}/training")
def new_training(server, _):
    sort = [{"name": name, "group": "Sweet" if name < "m" else "Sour", "text": name, "alt": name} for name in "klmn"]
    body = {"practice": sort, "admission": [sort], "gold": [sort[1:]], "mark": 0.5, "tries": 1, "gold_share": 0.2}
    address = f"{made(server)}/training"
    return lambda: (address, body), lambda answer: answer.json()["settings"]["training"]


@sends("PUT /api/v1/studies/{study}/items")
def new_items(server, _):
    body, address = body_of("open")["items"][:3], f"{made(server, kind='open', settings={})}/items"
    return lambda: (address, body), lambda answer: [{**item, "number": 0} for item in answer.json()]


@sends("POST /api/v1/studies/{study}/copy")
def copy(server, _):
    address = f"{made(server)}/copy"
    return lambda: (address, {"title": "Nuts"}), lambda answer: answer.json()["title"]


@sends("POST /api/v1/judging")
def new_judging(server, _):
    body = {"title": "Animals", "items": CLUSTERED, "n_questions": 4, "per_participant": 2, "answers_wanted": 3}
    return lambda: ("/api/v1/judging", body), lambda answer: study_in(server, answer)


@sends("POST /api/v1/studies/{study}/judging")
def new_judging_of_study(server, _):
    source = server.store.create_study("Animals", [one["name"] for one in CLUSTERED])
    body = {
        "title": "",
        "n_questions": 4,
        "per_participant": 2,
        "clusters": {one["name"]: one["cluster"] for one in CLUSTERED},
    }
    return lambda: (f"/api/v1/studies/{source.id}/judging", body), lambda answer: study_in(server, answer)


@sends("POST /api/v1/studies/{study}/participants")
def new_participant(server, _):
    study, body = begun(server.store, parameters=("PID",)), {"parameters": {"PID": "p", "other": "o"}, "preview": False}
    return lambda: (f"/api/v1/studies/{study.id}/participants", body), lambda answer: answer.json()["parameters"]


def open_board(server, kind, **settings):
    """Return what gives a board that nobody handed in, and a study."""
    classes = {"open": (), "pairs": ()}.get(kind, ("Sweet", "Sour"))
    more = {"subset_size": 2} if kind in ("labels", "pairs") else {}
    chosen = StudySettings(categories=classes, strategy="random", stop_rule="none", **more, **settings)
    study = server.store.open_study(server.store.create_study("Fruit", list("abcd"), kind=kind, settings=chosen).id)
    boards = []

    def board():
        if not boards or server.store.assignment(boards[-1].id).state != "open":
            boards.append(server.store.assignment_for(joined(server.store, study), np.random.default_rng(0)))
        return boards[-1]

    return study, board


@sends("PUT /api/v1/studies/{study}/assignments/{assignment}/grouping", *KINDS)
def grouping(server, kind):
    study, board = open_board(server, kind)

    def request():
        given = board()
        names = {number: card.name for number, card in server.store.cards(given).items()}
        groups = [{"name": "Sweet", "items": [names[one]]} for one in given.items if kind != "pairs"]
        if kind == "pairs":
            groups = [{"name": "same", "pairs": [[names[card] for card in cards_of(pair)] for pair in given.items]}]
        return f"/api/v1/studies/{study.id}/assignments/{given.id}/grouping", {"groups": groups[:2]}

    def stored(answer):
        return [group["name"] for group in server.store.assignment(answer.json()["assignment"]).answer]

    return request, stored


def open_judging(server):
    """Return an open study of four cards at a time, and the names of its cards."""
    names = [one["name"] for one in CLUSTERED]
    items = [Item(number, name) for number, name in enumerate(names)]
    study = judge_items(server.store, "Judged", items, [one["cluster"] for one in CLUSTERED], n_questions=8)
    return server.store.open_study(study.id), names


@sends("PUT /api/v1/studies/{study}/participants/{participant}/answer")
def answer(server, _):
    (study, names), people = open_judging(server), []

    def request():
        asked = server.store.ask(people[-1]) if people else None
        if asked is None:
            people.append(joined(server.store, study).id)
            asked = server.store.ask(people[-1])
        body = {"question": asked.question, "answer": names[asked.shown[0]]}
        return f"/api/v1/studies/{study.id}/participants/{people[-1]}/answer", body

    return request, lambda _: []


@sends("POST /sort/changes", *KINDS)
def changes(server, kind):
    _, board = open_board(server, kind)
    browser, whose, latest = server.visit(), [], []

    def request():
        given = board()
        if not whose or whose[-1] != given.id:
            whose.append(given.id)
            browser.get(f"/join/{server.store.renew_token(given.participant)}")
        number = 10 * next(NUMBERS)
        latest.append(number)
        if kind in ("open", "hybrid"):
            found = [{"kind": "move", "items": list(given.items[:2]), "group": "g1"}]
            found += [{"kind": "name", "group": "g1", "name": "Sweet"}, {"kind": "group", "group": "g2"}]
            found += [{"kind": "remove", "group": "g2"}]
        else:
            found = [{"kind": "move", "items": [given.items[0]], "group": group} for group in ("c1", "c2")]
            found += [{"kind": "move", "items": [given.items[0]], "group": "c0"}] if kind in ("labels", "pairs") else []
        found = [{"sequence": number + place, **one} for place, one in enumerate(found)]
        return "/sort/changes", {"assignment": given.id, "client": "tab", "changes": found}

    def stored(answer):
        recorded = (change for _, change in server.store.changes(whose[-1]) if change["sequence"] >= latest[-1])
        return [change.get("name", "") for change in recorded]

    request.browser = browser
    return request, stored


def test_every_route_that_takes_json_is_asked(visit):
    takes_json = {
        f"{method} {route.path}"
        for route in routes_of(visit().app)
        for method in route.methods
        if route.body_field is not None
    }
    assert {address for address, _ in BODIES} == takes_json


WORDS = {  # of our sentences, where these do not say the key
    "items": ("item", "card"),
    "clusters": ("cluster", "item"),
    "categories": ("category", "class", "description"),
    "answer": ("item",),
    "pairs": ("item",),
    "before": ("question", "answer"),
    "after": ("question",),
    "least": ("limits",),
    "most": ("limits", "quota"),
    "name": ("category",),
    "alt": ("alternative text",),
    "code": ("ends",),
    "url": ("address",),
    "endings": ("end",),
    "texts_in": ("pages", "text"),
    "texts": ("braces",),
    "translations": ("pages", "translat"),
    "screening": ("condition",),
    "quotas": ("condition",),
    "values": ("condition",),
    "identified_by": ("known again",),
    "required_parameters": ("link",),
    "required_cards": ("card",),
    "moves": ("table of moves",),
    "languages": ("language",),
    "practice": ("sort",),
    "admission": ("sort",),
    "gold": ("sort",),
}


def names_field(sentence, path):
    """Whether a sentence says one of the keys that lead to a value."""
    keys = [str(key) for key in path if key != "settings"] or path
    words = [word for key in keys for word in (key, key.removesuffix("s"), *WORDS.get(key, ()))]
    return any(word.replace("_", " ") in sentence.casefold().replace("_", " ") for word in words)


def wrong_answers(server, address, kind, every=1, first=0):
    """Return which bodies of a route are neither kept nor refused in a sentence, and how many had each status."""
    request, stored = BODIES[address, kind](server, kind)
    client, method = getattr(request, "browser", server.script), address.partition(" ")[0]
    statuses, wrong, usual = Counter(), [], None
    for case in [None, *list(cases_of(request()[1]))[first::every]]:
        path, right = request()
        sent, written = body_with(right, *case) if case else (right, json.dumps(right).encode())
        answer = client.request(method, path, content=written, headers={"Content-Type": "application/json"})
        statuses[answer.status_code] += 1
        if answer.status_code < 300:
            kept = compared(stored(answer))
            usual = usual or kept | compared(StudySettings().as_json())
            more = kept - usual - compared(sent) - compared(right)
            said = f"stored {more}" if more else ""
        else:
            sentence = answer.json()["error"]
            assert case is not None, sentence
            fine = answer.status_code in (400, 404, 409, 413, 422) and is_sentence(sentence)
            is_named = "Extra inputs" in sentence or case[1] == "object" or names_field(sentence, case[0])
            said = "" if fine and (is_named or answer.status_code != 422) else sentence
        if said:
            wrong.append((case, answer.status_code, said[:300]))
    assert usual is not None
    return wrong, statuses


@slow_with_postgresql
def test_some_hostile_bodies_are_taken_or_refused(server_at_any, url):
    every = 4999 if url.startswith("sqlite") else 101
    for place, (address, kind) in enumerate(BODIES):
        assert wrong_answers(server_at_any, address, kind, every, 17 * place)[0] == [], (address, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("address", "kind"), BODIES)
def test_hostile_bodies_are_taken_or_refused(server, address, kind):
    assert wrong_answers(server, address, kind)[0] == []
