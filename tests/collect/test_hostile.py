"""Hostile values in every form of the administration: each is taken as text, or refused with a sentence.

Nothing fails, and nothing that was taken runs: no script on a page, no formula in a table.
"""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience.collect.admin.panel_forms import question_of
from consilience.collect.admin.training_forms import training_in
from consilience.collect.settings.checks import checked_settings
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Panel, Question
from consilience.collect.settings.training import Training
from consilience.errors import InputError
from tests.pages import Page

from .collecting import joined
from .hostile import SCRIPT, TEXTS

KINDS = ("closed", "hybrid", "open", "labels", "pairs")
PANEL = Panel.of_json(
    {
        "consent": "Do you agree?",
        "before": [
            {"name": "age", "text": "How old?", "kind": "number", "required": True, "least": 18, "most": 99},
            {"name": "diet", "text": "What?", "kind": "choice", "options": ["Meat", "Plants"]},
            {"name": "more", "text": "Why?", "most": 9, "shown_if": {"name": "diet", "values": ["Meat"]}},
        ],
        "endings": {"complete": {"code": "C1", "url": "https://panel.example/{code}"}},
        "identified_by": "PID",
        "required_parameters": ["PID"],
        "screening": [{"name": "age", "values": ["to 20"]}],
        "quotas": [{"name": "diet", "values": ["Meat"], "most": 20}],
    }
)


def body_of(kind):
    """The body of a study in which all that the kind can have is set."""
    classes = {"open": [], "pairs": []}.get(kind, ["Sweet", "Sour"])
    settings = StudySettings(panel=PANEL, stop_rule="none", strategy="random", parameters=("PID",), subset_size=4)
    found = settings.as_json() | {
        "categories": classes,
        "descriptions": [f"{name} = Tastes so" for name in classes],
        "languages": ["de"],
        "texts": {"start": "Go"},
        "texts_in": {"de": {"start": "Los"}},
        "translations": {"de": {"Fruit": "Obst"}},
    }
    if kind in ("closed", "hybrid", "open"):
        found |= {"required_cards": ["a"], "least_in_group": 1, "most_in_group": 4, "moves": True}
        groups = classes or ["one", "two"]
        found["training"]["practice"] = [{"name": name, "group": groups[name > "b"]} for name in "abcd"]
    first = {"name": "a", "text": "A", "alt": "The letter a", "description": "What it is"}
    items = [first, *({"name": name} for name in "bcdefgh")]
    return json.loads(json.dumps({"title": "Fruit", "items": items, "kind": kind, "settings": found}))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"categories": ("Warm", "warm")}, "Two categories have the same name but for case or form of letters: 'Warm'"),
        ({"categories": ("\u00e9", "e\u0301")}, "Two categories have the same name but for case or form of letters"),
        ({"categories": ("Warm", "\u200fWarm")}, "Two categories have the same name but for case or form of letters"),
        (
            {"panel": Panel(before=(Question("diet", "?", "choice", options=("Meat", "meat")),))},
            "Two options of the question 'diet' have the same name but for case or form of letters: 'Meat' and 'meat'.",
        ),
        (
            {"panel": Panel(before=(Question("age", "?"),), after=(Question("age", "?"),))},
            "Two questions have the name 'age'.",
        ),
        (
            {"panel": Panel(before=(Question("age", "?", "number", least=float("nan")),))},
            "The limits of the question 'age' must be numbers.",
        ),
    ],
    ids=["case", "composed", "unseen", "options", "twice", "no number"],
)
def test_names_that_are_taken_for_one_and_numbers_that_are_none_are_refused(changed, sentence):
    settings = StudySettings(**{"categories": ("a", "b"), "strategy": "random", "stop_rule": "none"} | changed)
    with pytest.raises(InputError, match=re.escape(sentence)):
        checked_settings(settings, "closed", "piles", 8)


def test_names_that_a_study_has_already_stay():
    before = (Question("diet", "?", "choice", options=("Meat", "meat")),)
    old = StudySettings(categories=("Warm", "warm"), strategy="random", stop_rule="none", panel=Panel(before=before))
    assert checked_settings(replace(old, instructions="Sort."), "closed", "piles", 8, old).categories == old.categories
    with pytest.raises(InputError, match="Two categories have the same name but for case"):
        checked_settings(replace(old, categories=("Cold", "cold")), "closed", "piles", 8, old)


def test_letters_are_classes_in_both_cases():
    settings = StudySettings(categories=("a", "A"), strategy="random", stop_rule="none")
    assert checked_settings(settings, "labels", "questions", 8).categories == ("a", "A")


# ---- forms


def forms_in(page):
    """The forms of a page that are posted: their addresses, and what their fields hold."""
    for form in Page(page).root.all("form"):
        if form.attributes.get("method") != "post":
            continue
        given = [one.attributes for one in form.all("input")]
        sent = [one for one in given if one.get("type") not in ("radio", "checkbox", "file") or "checked" in one]
        fields = {one.get("name", ""): one.get("value", "") for one in sent}
        fields |= {area.attributes["name"]: "".join(area.children).removeprefix("\n") for area in form.all("textarea")}
        for select in form.all("select"):
            options = [option.attributes for option in select.all("option")]
            chosen = next((option for option in options if "selected" in option), options[0])
            fields[select.attributes["name"]] = chosen.get("value", "")
        yield form.attributes["action"], fields


PAGES = ("", "/settings", "/panel", "/texts?language=en", "/texts?language=de", "/training", "/team", "/cards")
OF_SERVER = ("/new", "/judging/new", "/tokens", "/accounts", "/account")
ENDS = ("/delete", "/logout", "/open", "/close", "/demo", "/revoke", "/remove")
FEW = 3  # fields of one kind, such as those of each card, or of each sentence


def forms_of(admin, study):
    """The forms of the administration, with those of one study."""
    for page in (*(f"/admin/studies/{study}{one}" for one in PAGES), *(f"/admin{one}" for one in OF_SERVER)):
        yield from (form for form in forms_in(admin.get(page).text) if not form[0].endswith(ENDS))


def few_fields(fields):
    """The names of fields, of those that differ by a number or a key only some."""
    kinds = {}
    for name in fields:
        kinds.setdefault(name.partition("-")[0] if "-" in name else name, []).append(name)
    return [name for names in kinds.values() for name in names[:FEW]]


def refused_badly(admin, study, step):
    found, count = [], 0
    for address, fields in list(forms_of(admin, study)):
        for field in few_fields(fields):
            for name, value in TEXTS.items():
                count += 1
                if count % step:
                    continue
                answer = admin.post(address, data=fields | {field: value})
                status = answer.status_code
                is_said = status < 400 or re.search(
                    'class="problem"|role="alert"|<h1>(Not found|Too large)', answer.text
                )
                if status >= 500 or SCRIPT in answer.text or not is_said:
                    found.append((address, field, name, status))
    assert count > 1000
    return found


def test_some_hostile_forms_are_taken_or_refused(admin, script):
    study = script.post("/api/v1/studies", json=body_of("closed")).json()["id"]
    assert refused_badly(admin, study, 607) == []


def test_a_cell_that_is_too_long_is_refused(admin):
    long = TEXTS["longer than a cell of CSV may be"]
    answer = admin.post("/admin/new", data={"title": "Fruit", "items": long, "kind": "open", "board": "piles"})
    assert (answer.status_code, "The table of cards cannot be read: field larger" in answer.text) == (422, True)
    for read in (question_of, lambda line: training_in({"practice": f"Red: {line}"}, (), Training())):
        with pytest.raises(InputError, match="cannot be read: field larger than field limit"):
            read(long)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_forms_are_taken_or_refused(admin, script, kind):
    study = script.post("/api/v1/studies", json=body_of(kind)).json()["id"]
    assert refused_badly(admin, study, 1) == []


# ---- what was taken


@pytest.mark.parametrize("kind", ["hybrid", pytest.param("labels", marks=pytest.mark.slow)])
def test_what_was_taken_is_shown_as_text(admin, script, sqlite_store, kind):
    body = body_of(kind)
    said = f"=1+1 {SCRIPT} \u202e"
    body["title"] = said
    body["items"] = [dict.fromkeys(body["items"][0], f"{said}{place}") for place in range(8)]
    body["settings"] |= {"categories": [f"{said}a1", f"{said}b2"], "descriptions": [f"{said}a1 = {said}"], "panel": {}}
    body["settings"] |= {"instructions": said, "texts": {"start": said}, "required_cards": [], "moves": False}
    body["settings"] |= {"training": {}, "translations": {"de": {said: said}}}
    made = script.post("/api/v1/studies", json=body)
    assert made.status_code == 201, made.text
    study = sqlite_store.open_study(made.json()["id"])
    person = joined(sqlite_store, study, parameters={"PID": said})
    given = sqlite_store.assignment_for(person, np.random.default_rng(0))
    moves = [{"sequence": 1, "kind": "move", "items": list(given.items), "group": "c1"}]
    sqlite_store.record_changes(given.id, person.id, "tab", moves)
    sqlite_store.submit(given.id, person.id)
    pages = [admin.get(f"/admin/studies/{study.id}{page}").text for page in (*PAGES, "/people", "/dashboard", "/log")]
    admin.get(f"/join/{study.join_token}")
    pages.append(admin.get("/sort").text)
    admin.post("/sort/begin")
    pages.append(admin.get("/sort").text)
    assert [place for place, page in enumerate(pages) if SCRIPT in page] == []
    for table in ("answers" if study.is_asked else "sorts", "participants"):
        file = admin.get(f"/admin/studies/{study.id}/export/csv", params={"table": table}).content
        cells = pd.read_csv(io.BytesIO(file), dtype=str).to_numpy().ravel()
        assert [cell for cell in cells if str(cell).startswith("=")] == []
        assert any(str(cell).startswith("'=1+1") for cell in cells)
