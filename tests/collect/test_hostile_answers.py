"""Hostile values in every form of participants, and in the links by which they come.

Nothing fails; what is refused is said on the page; what is stored was sent, or is a cleaned form of it.
"""

import re
from collections import Counter
from itertools import product
from urllib.parse import quote

import pytest

from consilience.collect.roles import OF_PARTICIPANTS

from .collecting import begun
from .hostile import SCRIPT, TEXTS, compared, says_why
from .test_hostile import body_of
from .test_hostile_bodies import BODIES, open_judging

YES = "yes"
FORMS = {
    "POST /sort/language": {"language": "de"},
    "POST /sort/consent": {"decision": "agree", "agreed": YES},
    "POST /sort/questions": {"moment": "before", "asked": "age", "answer-age": "30", "answer-diet": "Plants"},
    "POST /sort/begin": {},
    "POST /sort/judge": {"answer": "1"},
    "POST /sort/move": {"items": "0", "group": "c1"},
    "POST /sort/name": {"group": "g1", "name": "Nice"},
    "POST /sort/submit": {"confirmed": YES},
    "POST /sort/answer-seen": {},
    "POST /sort/withdraw": {"confirmed": YES},
}
LATER = {"version": ("consent",), "question": ("judge",), "assignment": ("move", "name", "submit", "answer-seen")}
"""Fields of which only who came there knows the right value."""
WAYS = {
    "open": ("language", "consent", "questions", "begin", "move", "name", "submit", "answer-seen", "withdraw"),
    "labels": ("begin", "move"),
    "pairs": ("begin", "move"),
    "judging": ("begin", "judge"),
}


def test_every_form_of_participants_is_asked():
    sent = {address for address in OF_PARTICIPANTS if address.startswith("POST ")}
    assert {f"POST /sort/{step}" for way in WAYS.values() for step in way} == set(FORMS)
    assert set(FORMS) | {address for address, _ in BODIES} >= sent


class Visitor:
    """Somebody who goes the way of a study, up to a step."""

    def __init__(self, server, study, way, step):
        self.server, self.study, self.step = server, study, step
        self.person, token = server.store.new_participant(study.id, {"PID": "p"})
        self.browser = server.visit()
        self.browser.get(f"/join/{token}")
        for one in way[: way.index(step)]:
            answer = self.send(one, self.right(one))
            assert answer.status_code == 303, (one, answer.text)

    def right(self, step):
        """The form of a step as its page sends it."""
        fields = dict(FORMS[f"POST /sort/{step}"])
        if step in LATER["version"]:
            fields["version"] = re.search(r'name="version" value="(\w+)"', self.browser.get("/sort").text)[1]
        if step in LATER["question"]:
            fields["question"] = str(self.server.store.asked(self.person.id)[-1].question)
        if step in LATER["assignment"]:
            given = self.server.store.assignments_of(self.person.id)[-1]
            fields["assignment"] = str(given.id)
        if step == "move":
            fields["items"] = [str(given.items[0])] if self.study.is_asked else [str(one) for one in given.items]
            fields["group"] = "c1" if self.study.is_asked else "new"
        return fields

    def send(self, step, fields, **more):
        return self.browser.post(f"/sort/{step}", data=fields, **more)

    def stored(self):
        """All texts and numbers that are stored of them."""
        store, consent = self.server.store, self.server.store.consent(self.person.id)
        boards = [store.board_state(one.id) for one in store.assignments_of(self.person.id)]
        return [
            *(store.answers(self.person.id), store.participant(self.person.id).language),
            *(
                consent and consent.text.partition("\n\n")[0],
                [group.name for board in boards for group in board.groups],
            ),
            [one.answered is None for one in store.asked(self.person.id)],
        ]


def study_for(server, kind):
    """An open study whose participants are asked all that it can ask."""
    if kind == "judging":
        return open_judging(server)[0]
    body = body_of(kind)
    changed = {"required_cards": [], "least_in_group": None, "most_in_group": None} if kind == "open" else {"panel": {}}
    answer = server.script.post("/api/v1/studies", json=body | {"settings": body["settings"] | changed})
    assert answer.status_code == 201, answer.text
    return server.store.open_study(answer.json()["id"])


def hostile_cases(step):
    """What can be hostile in the form of a step: the field, and its text or what is done to it."""
    fields = [*FORMS[f"POST /sort/{step}"], *(name for name, steps in LATER.items() if step in steps)]
    return [*product(fields, (*TEXTS, "twice", "a file", "missing")), ("other", "unknown")]


def hostile_form(right, field, name):
    """A form of which one field is hostile, and its files."""
    rest = {key: value for key, value in right.items() if key != field}
    if name in TEXTS:
        return {**right, field: TEXTS[name]}, {}
    if name == "twice":
        return {**right, field: [SCRIPT, right[field]]}, {}
    if name == "unknown":
        return {**right, SCRIPT: SCRIPT}, {}
    return rest, {"files": {field: ("a\0b", b"\xff\x00")}} if name == "a file" else {}


def badly_answered(server, kind, every=1):
    """Return which forms of participants are answered badly, and how many had each status."""
    study, way, wrong, statuses = study_for(server, kind), WAYS[kind], [], Counter()
    visitor = None
    for step, case in [(one, case) for one in way for case in hostile_cases(one)][every - 1 :: every]:
        if visitor is None or visitor.step != step:
            visitor = Visitor(server, study, way, step)
        usual = compared([visitor.stored(), study.settings.as_json(), list(study.classes), [30]])
        fields, more = hostile_form(visitor.right(step), *case)
        answer = visitor.send(step, fields, **more)
        statuses[answer.status_code] += 1
        others = compared(visitor.stored()) - usual - compared(fields)
        fine = answer.status_code < 400 or (answer.status_code < 500 and says_why(answer))
        if others or not fine:
            wrong.append((step, case, answer.status_code, others, answer.text[:300]))
        if answer.status_code < 400:
            assert SCRIPT not in visitor.browser.get("/sort").text
            visitor = None
    return wrong, statuses


def test_some_hostile_forms_of_participants_are_taken_or_refused(server):
    assert [badly_answered(server, kind, 151)[0] for kind in ("open", "judging")] == [[], []]


@pytest.mark.slow
@pytest.mark.parametrize("kind", WAYS)
def test_hostile_forms_of_participants_are_taken_or_refused(server, kind):
    assert badly_answered(server, kind)[0] == []


@pytest.mark.slow
def test_links_keep_what_they_say_or_a_cleaned_form_of_it(server):
    study = begun(server.store, parameters=("PID",))
    for name, text in TEXTS.items():
        if len(text) > 60_000:  # than which servers read no longer addresses
            continue
        for query in (
            f"PID={quote(text)}",
            f"{quote(text)}=1&PID=x&PID={quote(text)}",
            f"PID=%ff%ed%a0%80{quote(text)}",
        ):
            answer = server.visit().get(f"/join/{study.join_token}?{query}")
            assert answer.status_code in (303, 422), (name, answer.text)
    for person in server.store.participants(study.id):
        kept = person.parameters.get("PID", "")
        clean = [re.sub("[\\s\0-\x1f\x7f-\x9f]+", "", text) for text in TEXTS.values()]
        assert any(re.sub(r"\s|\ufffd", "", kept) in one for one in clean), kept
