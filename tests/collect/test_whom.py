"""Who takes part: screening by answers and links, and quotas, which people who come at the same time do not exceed."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from consilience.collect.admin.panel_forms import fields_of_panel, panel_in
from consilience.collect.settings.conditions import Condition, Quota, condition_of
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.panel_checks import checked_panel
from consilience.collect.store import quotas
from consilience.errors import InputError

from .collecting import begun, joined, takes_part
from .judges import judged_animals
from .test_panel_pages import ended, seen, sort_all

AGE = Question("age", "How old are you?", "number")
DIET = Question("diet", "What do you eat?", "choices", options=("Meat", "Fish", "Plants"))
WHOM = Panel(
    before=(AGE, DIET),
    screening=(condition_of("age = to 17"), condition_of("FROM = robots")),
    quotas=(Quota("diet", ("Meat", "Fish"), 1), Quota("FROM", ("uk",), 2)),
    endings={"screened_out": Completion("S1", "https://panel.example/?cc={code}"), "quota_full": Completion("Q1")},
)


def study_of(store, panel=WHOM, **settings):
    return begun(store, ["a", "b", "c", "d"], parameters=("FROM",), panel=panel, **settings)


def come(visit, study, come_from=""):
    browser = visit()
    browser.get(f"/join/{study.join_token}?FROM={come_from}")
    return browser


def answer(browser, age="", diet=()):
    sent = {"moment": "before", "answer-age": age, "answer-diet": list(diet)}
    assert browser.post("/sort/questions", data=sent).status_code == 303
    return browser.get("/sort").text


def heading(page):
    return re.search(r"<h1>(.*?)</h1>", page, re.S)[1]


def test_an_answer_screens_out_kindly_with_a_code_of_its_own(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    page = answer(browser, "17")
    assert heading(page) == "This study looks for other people"
    assert 'Your code is <strong class="code" dir="ltr">S1</strong>' in page  # who did not take part completed nothing
    assert 'href="https://panel.example/?cc=S1"' in page
    assert browser.post("/sort/begin").headers["location"] == "/sort"
    assert sqlite_store.assignments(study.id) == []
    assert ended(sqlite_store, study) == [["screened_out", "S1"]]
    assert heading(answer(come(visit, study), "18")) == "<bdi>A study</bdi>"


def test_a_link_screens_out_before_anything_is_asked(visit, sqlite_store):
    study = study_of(sqlite_store, replace(WHOM, consent="Do you agree?"))
    assert seen(come(visit, study, "robots")) == "This study looks for other people"
    assert seen(come(visit, study, "uk")) == "Before you begin"


def test_who_comes_when_a_quota_is_full_gets_its_code(visit, admin, script, sqlite_store):
    study = study_of(sqlite_store)
    first, late, other = (come(visit, study) for _ in range(3))
    answer(first, "30", ["Plants", "Fish"])
    assert heading(answer(late, "30", ["Meat"])) == "<bdi>A study</bdi>"  # nobody has begun yet
    first.post("/sort/begin")
    assert late.post("/sort/begin").headers["location"] == "/sort"
    page = late.get("/sort").text
    said = re.search(r"<p>(.*) <strong.*>Q1<", page)[1]
    assert (heading(page), said) == ("These places are taken", "Your code is")
    assert heading(answer(other, "30", ["Plants"])) == "<bdi>A study</bdi>"
    assert sort_all(first, sqlite_store, study).status_code == 303
    assert ended(sqlite_store, study) == [["", ""], ["quota_full", "Q1"], ["", ""]]
    assert first.get("/sort").status_code == 200
    page = admin.get(f"/admin/studies/{study.id}").text
    assert "<bdi>diet = Meat | Fish</bdi></dt><dd>1 <small>of 1</small>" in page
    assert script.get(f"/api/v1/studies/{study.id}/progress").json()["quotas"] == [
        {"condition": "diet = Meat | Fish", "taken": 1, "most": 1},
        {"condition": "FROM = uk", "taken": 0, "most": 2},
    ]


def test_a_quota_by_the_link_is_told_at_once(visit, sqlite_store):
    study = study_of(sqlite_store)
    for _ in range(2):
        browser = come(visit, study, "uk")
        answer(browser, "30")
        browser.post("/sort/begin")
    assert seen(come(visit, study, "uk")) == "These places are taken"
    assert seen(come(visit, study, "de")) == "Some questions first"


def test_people_who_begin_at_the_same_moment_do_not_exceed_a_quota(store):
    panel = replace(WHOM, quotas=(Quota("diet", ("Meat",), 3), Quota("FROM", ("uk",), 5)))
    study = study_of(store, panel)
    people = [joined(store, study, parameters={"FROM": "uk"}) for _ in range(12)]
    for number, person in enumerate(people):
        store.keep_answers(person.id, "before", {"diet": ["Meat"] if number % 2 else ["Plants"]})
    with ThreadPoolExecutor(8) as threads:
        given = list(threads.map(lambda one: store.assignment_for(one, np.random.default_rng(0)), people))
    meat = sum(one is not None for number, one in enumerate(given) if number % 2)
    assert sum(one is not None for one in given) == 5
    assert meat <= 3
    assert [taken for _, taken in store.quota_counts(study.id)] == [meat, 5]


@pytest.mark.parametrize("way", ["idle", "left out", "deleted", "withdrawn", "not admitted"])
def test_a_place_is_free_again(store, monkeypatch, way):
    study = study_of(store, replace(WHOM, quotas=(Quota("FROM", ("uk",), 1),)))
    first, late = (joined(store, study, parameters={"FROM": "uk"}) for _ in range(2))
    given = store.assignment_for(first, np.random.default_rng(0))
    assert store.turned_away(late.id) == "quota_full"
    assert store.assignment_for(late, np.random.default_rng(0)) is None
    match way:
        case "idle":
            monkeypatch.setattr(quotas, "IDLE", timedelta(0))
            store.tidy()
        case "left out":
            store.exclude(first.id)
        case "deleted":
            store.delete_participant(first.id)
        case "withdrawn":
            store.withdraw(first.id)
        case "not admitted":
            store.keep_ending(first.id, "not_admitted")
    assert store.turned_away(late.id) is None
    assert store.assignment_for(late, np.random.default_rng(0)) is not None
    if way == "idle":  # who returns goes on all the same
        assert store.assignment_for(first, np.random.default_rng(0)).id == given.id


def test_who_has_a_place_keeps_it_for_the_next_subset(store):
    study = study_of(store, replace(WHOM, quotas=(Quota("FROM", ("uk",), 1),)), subset_size=2, per_participant=2)
    _, done = takes_part(store, study, parameters={"FROM": "uk"}, times=2)
    assert len(done) == 2


def test_previews_fill_no_quota_and_meet_none(store):
    study = study_of(store, replace(WHOM, quotas=(Quota("FROM", ("uk",), 1),)))
    for _ in range(2):
        preview = joined(store, study, parameters={"FROM": "uk"}, preview=True)
        assert store.assignment_for(preview, np.random.default_rng(0)) is not None
    assert store.quota_counts(study.id)[0][1] == 0


def test_a_new_quota_counts_those_who_began_before(store):
    study = study_of(store, replace(WHOM, quotas=()))
    person, _ = takes_part(store, study, parameters={"FROM": "uk"})
    joined(store, study, parameters={"FROM": "uk"})  # who did not begin
    panel = replace(WHOM, quotas=(Quota("FROM", ("uk",), 2), Quota("FROM", ("uk", "de"), 1)))
    store.update_study(study.id, settings=replace(study.settings, panel=panel))
    assert [taken for _, taken in store.quota_counts(study.id)] == [1, 1]
    assert store.turned_away(person.id) is None


def test_judges_are_held_to_quotas(store):
    study = judged_animals(store)
    panel = Panel(quotas=(Quota("FROM", ("uk",), 1),))
    store.update_study(study.id, settings=replace(study.settings, parameters=("FROM",), panel=panel))
    store.open_study(study.id)
    first, late = (joined(store, study, parameters={"FROM": "uk"}) for _ in range(2))
    asked = store.ask(first.id)
    assert (asked is None, store.ask(late.id)) == (False, None)
    assert store.answer(first.id, asked.question, 1) is not None


def test_screening_and_quotas_survive_json_and_the_form():
    settings = StudySettings(parameters=("FROM",), panel=WHOM)
    assert StudySettings.of_json(json.loads(json.dumps(settings.as_json()))) == settings
    fields = fields_of_panel(WHOM)
    assert fields["screening"] == "age = to 17\nFROM = robots"
    assert fields["quotas"] == "diet = Meat | Fish: 1\nFROM = uk: 2"
    assert panel_in(fields) == WHOM


def test_the_form_keeps_them_and_says_what_is_wrong(admin, sqlite_store):
    study = study_of(sqlite_store, Panel(before=(AGE, DIET)))
    address = f"/admin/studies/{study.id}/panel"
    sent = fields_of_panel(study.settings.panel) | {"screening": "age = to 17", "quotas": "diet = Plants: 20"}
    assert admin.post(address, data=sent).status_code == 303
    panel = sqlite_store.study(study.id).settings.panel
    assert (panel.screening, panel.quotas) == ((Condition("age", ("to 17",)),), (Quota("diet", ("Plants",), 20),))
    page = admin.get(address).text
    assert "diet = Plants: 20" in page
    answer = admin.post(address, data=sent | {"quotas": "diet = <script>: 20"})
    assert answer.status_code == 422
    assert "must name one of its options. Got &#39;&lt;script&gt;&#39;." in answer.text
    assert "<script>:" not in answer.text


@pytest.mark.parametrize(
    ("panel", "sentence"),
    [
        (Panel(screening=(condition_of("who = me"),)), "A condition is on 'who', which must be a question that is"),
        (Panel(after=(AGE,), screening=(condition_of("age = 3"),)), "must be a question that is asked before"),
        (Panel(before=(AGE,), screening=(condition_of("age = old"),)), "must name a number, or a range such as"),
        (
            Panel(before=(replace(AGE, least=18, most=99),), screening=(condition_of("age = 17 to 20 | to 17"),)),
            "names 'to 17', which its limits forbid anybody to answer",
        ),
        (Panel(before=(DIET,), screening=(condition_of("diet = Ice"),)), "must name one of its options. Got 'Ice'."),
        (Panel(before=(Question("a", "?"),), screening=(condition_of("a = b"),)), "asks for a text, on which there"),
        (Panel(screening=(Condition("PID", ("a|b",)),)), "must be a text without '|'"),
        (Panel(screening=(Condition("PID", ()),)), "must be a text without '|'"),
        (Panel(screening=(condition_of("PID = 1"),) * 101), "'screening' can have at most 100 conditions. Got 101."),
        (Panel(quotas=(Quota("PID", ("1",), 0),)), "those with 'PID = 1' must be a whole number from 1 to 1,000,000"),
        (Panel(quotas=(Quota("PID", ("1",), 1),) * 2), "Two quotas are of those with 'PID = 1'."),
    ],
)
def test_conditions_that_cannot_be_are_refused(panel, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        checked_panel(panel, ("PID",))


@pytest.mark.parametrize("text", ["", "age", "= 3", "age =", "age = 1 | | 2"])
def test_a_text_that_is_no_condition_is_refused(text):
    with pytest.raises(InputError, match=re.escape("A condition must be such as")):
        condition_of(text)


@pytest.mark.parametrize("line", ["age = 18", "age = 18: many", "age = 18: -1", "50"])
def test_a_line_that_is_no_quota_is_refused(line):
    with pytest.raises(InputError):
        panel_in({"quotas": line})


def test_a_preview_that_is_screened_out_says_that_it_is_one(admin, sqlite_store):
    study = study_of(sqlite_store)
    admin.post(f"/admin/studies/{study.id}/preview")
    admin.post("/sort/questions", data={"moment": "before", "answer-age": "12", "answer-diet": "Fish"})
    page = admin.get("/sort").text
    assert (heading(page), 'class="preview"' in page) == ("This study looks for other people", True)
