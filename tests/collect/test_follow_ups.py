"""Questions that depend on earlier answers: on a page that follows, for those only whom they concern."""

import re

import pytest

from consilience.collect.admin.panel_forms import line_of, question_of
from consilience.collect.settings.conditions import condition_of
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.panel_checks import checked_panel
from consilience.errors import InputError

from .collecting import begun
from .test_panel_browser import require_legible
from .test_panel_pages import seen, sort_all
from .test_whom import AGE, DIET, come

FISH = Question("fish", "Which fish?", required=True, shown_if=condition_of("diet = Fish"))
RAW = Question("raw", "Raw, too?", "choice", options=("Yes", "No"), shown_if=condition_of("diet = Fish | Meat"))
LATER = Question("later", "Would you eat it again?", shown_if=condition_of("raw = Yes"))
PANEL = Panel(
    before=(AGE, DIET, FISH, RAW),
    after=(LATER,),
    screening=(condition_of("diet = Plants"),),
    endings={"complete": Completion("C1"), "screened_out": Completion("S1")},
)


def study_of(store, panel=PANEL):
    return begun(store, ["a", "b", "c", "d"], parameters=("FROM",), panel=panel)


def asked(browser):
    """The names of the questions that a participant sees."""
    return re.findall(r'name="asked" value="(\w+)"', browser.get("/sort").text)


def send(browser, moment="before", **answers):
    """Answer the questions that are shown."""
    sent = {"moment": moment, "asked": asked(browser)}
    return browser.post("/sort/questions", data=sent | {f"answer-{name}": given for name, given in answers.items()})


def test_who_is_concerned_is_asked_on_the_next_page(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    assert asked(browser) == ["age", "diet"]
    assert send(browser, age="30", diet=["Meat", "Fish"]).status_code == 303
    assert asked(browser) == ["fish", "raw"]
    assert browser.post("/sort/begin").headers["location"] == "/sort"  # nothing is given before
    assert sqlite_store.assignments(study.id) == []
    answer = send(browser, raw="Yes")
    assert (answer.status_code, "Please answer this question." in answer.text) == (422, True)
    assert send(browser, fish="Cod", raw="Yes").status_code == 303
    sort_all(browser, sqlite_store, study)
    assert asked(browser) == ["later"]
    send(browser, "after", later="No")
    assert "C1" in browser.get("/sort").text
    [person] = sqlite_store.participants(study.id)
    given = {"age": 30, "diet": ["Meat", "Fish"], "fish": "Cod", "raw": "Yes", "later": "No"}
    assert sqlite_store.answers(person.id) == given
    frame = sqlite_store.participants_frame(study.id)
    assert frame.filter(like="question:").columns.tolist() == [f"question:{name}" for name in given]


def test_who_is_not_concerned_goes_on_at_once(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    send(browser, age="30")
    assert seen(browser) == "<bdi>A study</bdi>"
    sort_all(browser, sqlite_store, study)
    assert "C1" in browser.get("/sort").text  # the only question afterwards depends on one that was not asked
    [person] = sqlite_store.participants(study.id)
    assert sqlite_store.answers(person.id) == {"age": 30, "diet": None}


def test_who_is_screened_out_by_the_first_page_sees_no_second(visit, sqlite_store):
    browser = come(visit, study_of(sqlite_store))
    send(browser, diet=["Fish", "Plants"])
    assert "S1" in browser.get("/sort").text


def test_a_page_that_is_sent_twice_answers_no_follow_up(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    sent = {"moment": "before", "asked": ["age", "diet"], "answer-age": "30", "answer-diet": ["Meat"]}
    for _ in range(2):
        assert browser.post("/sort/questions", data=sent).status_code == 303
    assert asked(browser) == ["raw"]
    assert sqlite_store.answers(sqlite_store.participants(study.id)[0].id) == {"age": 30, "diet": ["Meat"]}


def test_a_link_decides_what_is_asked(visit, sqlite_store):
    panel = Panel(before=(Question("where", "Where?", shown_if=condition_of("FROM = uk")),))
    study = study_of(sqlite_store, panel)
    assert asked(come(visit, study, "uk")) == ["where"]
    assert seen(come(visit, study, "de")) == "<bdi>A study</bdi>"


def test_questions_that_are_new_are_not_asked_of_those_who_answered(store):
    study = study_of(store)
    person, _ = store.new_participant(study.id)
    store.keep_answers(person.id, "before", {"age": 30}, complete=False)
    assert not store.has_answered(person.id, "before")
    store.keep_answers(person.id, "before", {"age": 31, "diet": None})
    assert store.has_answered(person.id, "before")
    store.keep_answers(person.id, "before", {"fish": "Cod"})
    assert store.answers(person.id) == {"age": 30, "diet": None}


def test_a_condition_survives_json_and_a_line():
    settings = StudySettings(parameters=("FROM",), panel=PANEL)
    assert StudySettings.of_json(settings.as_json()) == settings
    assert line_of(FISH) == "fish* if diet = Fish; Which fish?"
    quoted = Question("q", "What if; so?", "choice", False, ("x; y", "z"), shown_if=condition_of("diet = a; b"))
    for one in (FISH, RAW, quoted):
        assert question_of(line_of(one)) == one


@pytest.mark.parametrize("before", [(FISH, DIET), (FISH,)])
def test_a_question_depends_on_earlier_ones_only(before):
    with pytest.raises(InputError, match="on 'diet', which must be a question that is asked before"):
        checked_panel(Panel(before=before), ())


def test_a_condition_of_another_shape_is_refused():
    question = {"name": "a", "text": "?", "shown_if": {"name": "b"}}
    with pytest.raises(InputError, match="'shown_if' of question 1 of 'before' must have a 'values'"):
        StudySettings.of_json({"panel": {"before": [question]}})


def test_from_the_first_page_to_the_second_in_a_browser(page, sqlite_store):
    page.set_viewport_size({"width": 390, "height": 844})
    study = study_of(sqlite_store)
    page.goto(f"/join/{study.join_token}")
    page.get_by_label("Fish").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_label("Which fish?").fill("Cod")
    require_legible(page)
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_role("button", name="Start").wait_for()
