"""The pages beside the sorts: consent, questions, codes, return and withdrawal, as they answer to a browser."""

import re
from dataclasses import replace

import pytest

from consilience import Groupings
from consilience.collect.results.exporting import export_study
from consilience.collect.settings.panel import Completion, Panel, Question

from .collecting import NAMES, begun, sort, takes_part

PARAMETERS = ("PROLIFIC_PID", "STUDY_ID")
WHO = "PROLIFIC_PID=5f&STUDY_ID=s1&OTHER=x"
PANEL = Panel(
    consent="# Study\n\nWe keep *groups*. <script>1</script>",
    before=(
        Question("age", "How old are you?", "number", required=True, least=18, most=99),
        Question("diet", "What do you eat?", "choices", options=("Meat", "Fish")),
    ),
    after=(Question("hard", "How hard was it?", "choice", options=("Easy", "Hard")),),
    endings={
        "complete": Completion("C1ABC", "https://app.prolific.com/submissions/complete?cc={code}&p={PROLIFIC_PID}"),
        "declined": Completion("D1"),
        "closed": Completion("F1"),
        "withdrawn": Completion("W1", "https://app.prolific.com/submissions/complete?cc={code}&p={PROLIFIC_PID}"),
    },
    identified_by="PROLIFIC_PID",
    keep_days=30,
)


def study_of(store, panel=PANEL, **settings):
    return begun(store, ["a", "b", "c", "d"], parameters=PARAMETERS, panel=panel, **settings)


def come(visit, study, query=WHO):
    browser = visit()
    assert browser.get(f"/join/{study.join_token}?{query}").headers["location"] == "/sort"
    return browser


def seen(browser):
    """The heading of the page that a participant sees."""
    return re.search(r"<h1>(.*?)</h1>", browser.get("/sort").text, re.S)[1]


def agree(browser):
    version = re.search(r'name="version" value="(\w+)"', browser.get("/sort").text)[1]
    return browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": version})


def sort_all(browser, store, study):
    browser.post("/sort/begin")
    number = max(one.id for one in store.assignments(study.id))
    change = {"sequence": 1, "kind": "move", "items": [0, 1, 2, 3], "group": "g1"}
    browser.post("/sort/changes", json={"assignment": number, "client": "tab", "changes": [change]})
    return browser.post("/sort/submit", data={"assignment": number})


def test_the_way_from_consent_to_the_code(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    page = browser.get("/sort").text
    assert "&lt;script&gt;" in page
    assert "<em>groups</em>" in page
    assert "is erased after 30 days" in page
    assert browser.post("/sort/begin").headers["location"] == "/sort"  # nothing is given before consent
    assert sqlite_store.assignments(study.id) == []
    assert agree(browser).status_code == 303
    assert seen(browser) == "Some questions first"
    answers = {"moment": "before", "answer-age": "44", "answer-diet": ["Meat", "Fish"]}
    assert browser.post("/sort/questions", data=answers).status_code == 303
    assert seen(browser) == "<bdi>A study</bdi>"
    assert "C1ABC" not in browser.get("/sort").text
    assert sort_all(browser, sqlite_store, study).status_code == 303
    assert seen(browser) == "Some last questions"
    assert browser.post("/sort/questions", data={"moment": "after"}).status_code == 303
    page = browser.get("/sort").text
    assert '<strong class="code" dir="ltr">C1ABC</strong>' in page
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1ABC&amp;p=5f"' in page
    person = sqlite_store.participants(study.id)[0]
    assert person.parameters == {"PROLIFIC_PID": "5f", "STUDY_ID": "s1"}
    assert sqlite_store.answers(person.id) == {"age": 44.0, "diet": ["Meat", "Fish"], "hard": None}
    assert sqlite_store.consent(person.id).text.startswith("# Study")


def test_consent_needs_the_box_and_the_text_that_was_shown(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    version = re.search(r'name="version" value="(\w+)"', browser.get("/sort").text)[1]
    for sent in ({"decision": "agree"}, {"decision": "maybe", "agreed": "yes"}, {"agreed": "yes"}):
        answer = browser.post("/sort/consent", data={**sent, "version": version})
        assert (answer.status_code, "please tick the box" in answer.text) == (422, True)
    answer = browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": "0"})
    assert (answer.status_code, "This text was changed" in answer.text) == (422, True)
    assert sqlite_store.consent(sqlite_store.participants(study.id)[0].id) is None


def test_who_declines_gets_a_code_and_can_reconsider(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    browser.post("/sort/consent", data={"decision": "decline"})
    page = browser.get("/sort").text
    assert "You do not take part" in page
    assert ">D1<" in page
    browser.post("/sort/consent", data={"decision": "reconsider"})
    assert seen(browser) == "Before you begin"


def test_a_wrong_answer_comes_back_with_what_was_given(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    agree(browser)
    answer = browser.post("/sort/questions", data={"moment": "before", "answer-age": "12", "answer-diet": "Fish"})
    assert answer.status_code == 422
    assert "Please enter a number that is not below 18." in answer.text
    assert 'value="12"' in answer.text
    assert re.search(r'value="Fish" checked', answer.text)
    assert browser.post("/sort/questions", data={"moment": "never"}).status_code == 422
    assert seen(browser) == "Some questions first"


def test_people_resume_on_another_browser(visit, sqlite_store):
    study = study_of(sqlite_store)
    first = come(visit, study)
    agree(first)
    second = come(visit, study)
    assert seen(second) == "Some questions first"
    answer = first.get("/sort")
    assert (answer.status_code, "You cannot go on in this browser" in answer.text) == (403, True)
    assert "open your link once more" in first.post("/sort/begin").text
    assert len(sqlite_store.participants(study.id)) == 1
    other = come(visit, study, "PROLIFIC_PID=6e")
    assert seen(other) == "Before you begin"
    first.get(f"/join/{study.join_token}?{WHO}")
    assert seen(first) == "Some questions first"
    sqlite_store.delete_participant(sqlite_store.participants(study.id)[0].id)
    assert "This link does not work" in first.get("/sort").text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "PROLIFIC_PID"),
        ("PROLIFIC_PID=&STUDY_ID=s1", "PROLIFIC_PID"),
        ("PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}", "PROLIFIC_PID, STUDY_ID"),
        ("PROLIFIC_PID=5f&STUDY_ID=%STUDY_ID%", "STUDY_ID"),
    ],
)
def test_an_incomplete_link_lets_nobody_in(visit, admin, sqlite_store, query, names):
    study = study_of(sqlite_store, replace(PANEL, required_parameters=("PROLIFIC_PID",)))
    answer = visit().get(f"/join/{study.join_token}?{query}")
    assert (answer.status_code, "This link is incomplete" in answer.text) == (422, True)
    assert f"It lacks {names}, which this study needs." in answer.text
    assert sqlite_store.participants(study.id) == []
    assert admin.post(f"/admin/studies/{study.id}/preview").headers["location"] == "/sort"
    assert seen(come(visit, study)) == "Before you begin"


def test_who_is_known_by_the_browser_needs_no_complete_link(visit, sqlite_store):
    study = study_of(sqlite_store, Panel(required_parameters=("STUDY_ID",)))
    browser = come(visit, study)
    assert browser.get(f"/join/{study.join_token}").headers["location"] == "/sort"
    assert len(sqlite_store.participants(study.id)) == 1


def test_a_placeholder_identifies_nobody_and_what_is_not_stored_may_be_one(visit, script, sqlite_store):
    study = study_of(sqlite_store)
    answer = visit().get(f"/join/{study.join_token}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}")
    assert answer.status_code == 422
    sent = {"parameters": {"PROLIFIC_PID": "[%worker%]"}}
    answer = script.post(f"/api/v1/studies/{study.id}/participants", json=sent)
    assert answer.json() == {"error": "The parameter 'PROLIFIC_PID' was not filled in: it is still '[%worker%]'."}
    come(visit, study, "OTHER={{x}}")
    assert [one.parameters for one in sqlite_store.participants(study.id)] == [{}]


def test_people_are_turned_away(visit, sqlite_store):
    study = study_of(sqlite_store, Panel(identified_by="PROLIFIC_PID", returning="turn away"))
    sort_all(come(visit, study), sqlite_store, study)
    answer = visit().get(f"/join/{study.join_token}?{WHO}")
    assert (answer.status_code, "You have taken part already" in answer.text) == (403, True)


def test_a_closed_and_a_full_study_give_their_code(visit, sqlite_store):
    study = study_of(sqlite_store, groupings_wanted=1)
    first, late = come(visit, study), come(visit, study, "PROLIFIC_PID=late")
    agree(first)
    first.post("/sort/questions", data={"moment": "before", "answer-age": "44"})
    sort_all(first, sqlite_store, study)
    page = late.get("/sort").text
    assert ("nothing left to sort" in page, ">F1<" in page) == (True, True)
    sqlite_store.close_study(study.id)
    page = visit().get(f"/join/{study.join_token}?PROLIFIC_PID=later").text
    assert ("This study is closed" in page, ">F1<" in page) == (True, True)
    assert seen(first) == "Some last questions"  # who has sorted goes on to the code


def test_withdrawal_is_confirmed_and_deletes(visit, sqlite_store):
    study = study_of(sqlite_store)
    browser = come(visit, study)
    assert 'href="/sort/withdraw"' in browser.get("/sort").text
    agree(browser)
    browser.post("/sort/questions", data={"moment": "before", "answer-age": "44"})
    sort_all(browser, sqlite_store, study)
    assert "cannot be brought back" in browser.get("/sort/withdraw").text
    assert browser.post("/sort/withdraw").status_code == 422
    assert len(sqlite_store.submitted(study.id)) == 1
    page = browser.post("/sort/withdraw", data={"confirmed": "yes"}).text
    assert ("You have withdrawn" in page, ">W1<" in page) == (True, True)
    assert 'href="https://app.prolific.com/submissions/complete?cc=W1&amp;p=5f"' in page
    again = browser.get("/sort").text
    assert ("You have withdrawn" in again, ">W1<" in again) == (True, True)
    assert "submissions/complete" not in again  # nothing is known of them any more that the address needs
    assert browser.post("/sort/withdraw", data={"confirmed": "yes"}).headers["location"] == "/sort"
    assert sqlite_store.submitted(study.id) == []
    assert browser.post("/sort/begin").headers["location"] == "/sort"
    assert sqlite_store.assignments(study.id) == []
    assert browser.get("/sort/withdraw").headers["location"] == "/sort"


def ended(store, study):
    """How each person ended, and the code that they were shown."""
    frame = store.participants_frame(study.id)
    return frame[["ending", "code"]].astype(object).fillna("").values.tolist()


def test_how_each_person_ended_is_exported(visit, sqlite_store):
    panel = replace(PANEL, before=(), after=())
    study = study_of(sqlite_store, panel, groupings_wanted=2)
    done, busy, declined, gone, late, gave_up = (
        come(visit, study, f"PROLIFIC_PID={name}") for name in ("done", "busy", "declined", "gone", "late", "gave-up")
    )
    for one in (done, busy, late, gone):
        agree(one)
    for one in (declined, gave_up):
        one.post("/sort/consent", data={"decision": "decline"})
        one.get("/sort")
    sort_all(done, sqlite_store, study)
    assert "C1ABC" in done.get("/sort").text
    busy.post("/sort/begin")
    assert "F1" in late.get("/sort").text
    gone.post("/sort/withdraw", data={"confirmed": "yes"})
    gave_up.post("/sort/consent", data={"decision": "reconsider"})
    found = [["complete", "C1ABC"], ["", ""], ["declined", "D1"], ["withdrawn", "W1"], ["closed", "F1"], ["", ""]]
    assert ended(sqlite_store, study) == found


def test_people_lists_how_each_ended(admin, visit, sqlite_store):
    study = study_of(sqlite_store, replace(PANEL, before=(), after=()))
    declined = come(visit, study)
    declined.post("/sort/consent", data={"decision": "decline"})
    declined.get("/sort")
    come(visit, study, "PROLIFIC_PID=new")
    page = admin.get(f"/admin/studies/{study.id}/people").text
    assert re.findall(r'"Ended as">(.*)</td>\n<td .*>(.*)</td>\n<td>', page) == [
        ("declined", "no"),
        ("–", "nothing yet"),
    ]
    other = begun(sqlite_store)
    assert "Came by" in page
    takes_part(sqlite_store, other)
    assert "Came by" not in admin.get(f"/admin/studies/{other.id}/people").text


def test_who_goes_on_after_an_ending_has_not_ended(visit, sqlite_store):
    study = study_of(sqlite_store, Panel(endings=PANEL.endings), groupings_wanted=1)
    first, late = (come(visit, study, f"PROLIFIC_PID={name}") for name in ("first", "late"))
    first.post("/sort/begin")
    assert "F1" in late.get("/sort").text
    sqlite_store.update_study(study.id, settings=replace(study.settings, groupings_wanted=2))
    assert ended(sqlite_store, study)[1] == ["closed", "F1"]
    assert late.post("/sort/begin").headers["location"] == "/sort"
    assert ended(sqlite_store, study)[1] == ["", ""]


@pytest.mark.parametrize("path", ["/sort/consent", "/sort/questions", "/sort/withdraw"])
def test_strangers_and_other_sites_change_nothing(visit, sqlite_store, path):
    study = study_of(sqlite_store)
    assert visit().post(path, data={"confirmed": "yes"}).status_code == 403
    browser = come(visit, study)
    assert browser.post(path, headers={"Origin": "https://evil.example"}).status_code == 403


def test_a_study_without_a_panel_has_none_of_these_pages(visit, sqlite_store):
    study = begun(sqlite_store, ["a", "b", "c", "d"])
    browser = come(visit, study)
    assert "withdraw" not in browser.get("/sort").text
    sort_all(browser, sqlite_store, study)
    page = browser.get("/sort").text
    assert ("Thank you!" in page, "completion" in page) == (True, False)


def test_a_script_deletes_a_participant_with_all_they_gave(visit, sqlite_store, script):
    study, other = study_of(sqlite_store, Panel()), begun(sqlite_store)
    sort_all(come(visit, study), sqlite_store, study)
    person = sqlite_store.participants(study.id)[0].id
    assert script.delete(f"/api/v1/studies/{other.id}/participants/{person}").status_code == 404
    assert script.delete(f"/api/v1/studies/{study.id}/participants/{person}").status_code == 204
    assert sqlite_store.participants(study.id) == []
    assert sqlite_store.submitted(study.id) == []


def test_who_finds_no_more_cards_gets_to_the_code(visit, sqlite_store):
    panel = Panel(endings={"complete": Completion("DONE1")})
    study = begun(sqlite_store, NAMES[:8], subset_size=4, max_per_item=1, per_participant=2, panel=panel)
    takes_part(sqlite_store, study)
    browser = come(visit, study, "")
    browser.post("/sort/begin")
    (mine,) = [one for one in sqlite_store.assignments(study.id) if one.state == "open"]
    sort(sqlite_store, mine)
    assert "DONE1" in browser.get("/sort").text
    assert "There is nothing left to sort" in come(visit, study, "").get("/sort").text


@pytest.mark.slow
def test_the_report_without_identifiers_names_nobody(sqlite_store):
    study = begun(sqlite_store, ["ant", "bee", "cow", "dog"])
    names = ["Annabel Smith", "Bo", "Cy"]
    given = Groupings.from_lists([[["ant", "bee"], ["cow", "dog"]]] * 3, annotators=names)
    sqlite_store.import_groupings(study.id, given)
    named, unnamed = (
        export_study(sqlite_store, study, "html", identifiers=identifiers).data.decode()
        for identifiers in (True, False)
    )
    assert "Annabel" in named
    assert "Annabel" not in unnamed
