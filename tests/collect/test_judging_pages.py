"""The pages of judges and of whoever runs the study: by forms alone, to the end, and closed to others."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from consilience.collect.results.judging import results_of
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.metrics import odd_one_out

from .collecting import begun, takes_part
from .judges import TABLE, ask_judges, judged_animals, judged_sort
from .test_pictures import encoded

PANEL = Panel(
    consent="We keep what you choose.",
    before=(Question("age", "How old are you?", "number"),),
    after=(Question("hard", "How hard was it?", "choice", options=("Easy", "Hard")),),
    endings={"complete": Completion("C1"), "closed": Completion("C3")},
    identified_by="PID",
)


def number_in(page):
    """Which question a page shows, in the study and of the judge; None if it shows none."""
    found = re.search(r'name="question" value="(\d+)".*?', page)
    place = re.search(r"Question (\d+) of (\d+)", page)
    return None if found is None else (int(found[1]), int(place[1]), int(place[2]))


def come(visit, study, query=""):
    browser = visit()
    assert browser.get(f"/join/{study.join_token}{query}").headers["location"] == "/sort"
    return browser


def shown(browser):
    answer = browser.get("/sort")
    assert answer.status_code == 200
    return answer.text


def send(browser, question, answer):
    return browser.post("/sort/judge", data={"question": question, "answer": answer})


def answer_all(browser, place=1):
    count = 0
    while (found := number_in(shown(browser))) is not None:
        assert send(browser, found[0], place).headers["location"] == "/sort"
        count += 1
        assert count < 100
    return count


# ---- judges


def test_a_judge_answers_by_forms_alone(visit, sqlite_store):
    study = judged_animals(sqlite_store, per_participant=4)
    browser = come(visit, study)
    assert "Choose the one that does not belong" in shown(browser)
    browser.post("/sort/begin")
    page = shown(browser)
    question, place, total = number_in(page)
    assert (place, total) == (1, 4)
    assert re.findall(r'name="answer" value="(\d)"', page) == ["1", "2", "3", "4", "0"]
    cards = re.findall(r'class="said" dir="auto">(\w+)<', page)
    names = [item.name for item in sqlite_store.items(study.id)]
    (asked,) = sqlite_store.asked(sqlite_store.participants(study.id)[0].id)
    assert cards == [names[item] for item in asked.shown]
    for cluster in sqlite_store.judging(study.id).clusters:
        assert cluster.name not in page
    assert shown(browser) == page  # a reload changes nothing
    send(browser, question, 3)
    assert number_in(shown(browser))[1] == 2
    send(browser, question, 1)  # of a second tab
    assert number_in(shown(browser))[1] == 2
    assert answer_all(browser, 0) == 3
    assert "Your answers are saved." in shown(browser)
    answers = sqlite_store.asked(asked_by := sqlite_store.participants(study.id)[0].id)
    assert [one.answer for one in answers] == [asked.shown[2], None, None, None]
    browser.post("/sort/begin")
    assert len(sqlite_store.asked(asked_by)) == 4


def test_the_way_from_consent_to_the_code(visit, sqlite_store):
    study = judged_animals(sqlite_store, per_participant=2, panel=PANEL, parameters=("PID",))
    browser = come(visit, study, "?PID=p1")
    assert "We keep what you choose." in shown(browser)
    browser.post("/sort/begin")
    assert number_in(shown(browser)) is None  # nobody skips the consent page
    version = re.search(r'name="version" value="(\w+)"', shown(browser))[1]
    browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": version})
    browser.post("/sort/questions", data={"moment": "before", "answer-age": "44"})
    browser.post("/sort/begin")
    assert answer_all(browser) == 2
    page = shown(browser)
    assert "You have answered all questions about the cards." in page
    browser.post("/sort/questions", data={"moment": "after"})
    assert ">C1<" in shown(browser)
    assert sqlite_store.participants_frame(study.id)[["answers", "question:age"]].values.tolist() == [[2, 44.0]]
    browser.post("/sort/withdraw", data={"confirmed": "yes"})
    assert "You have withdrawn" in shown(browser)
    assert sqlite_store.answers_frame(study.id).empty


@pytest.mark.parametrize(
    ("data", "status", "sentence"),
    [
        ({"question": "0"}, 422, "The form does not say which question"),
        ({"question": "x", "answer": "1"}, 422, "The form does not say which question"),
        ({"question": "-1", "answer": "1"}, 422, "The form does not say which question"),
        ({"question": "9" * 10, "answer": "1"}, 422, "The form does not say which question"),
        ({"question": "999999999", "answer": "1"}, 404, "This question was not asked."),
        ({"question": "asked", "answer": "5"}, 422, "The answer must be a place from 1 to 4"),
        ({"question": "asked", "answer": "１"}, 422, "The form does not say which question"),
        ({"question": "another", "answer": "1"}, 404, "This question was not asked."),
    ],
)
def test_answers_that_are_refused(visit, sqlite_store, data, status, sentence):
    study = judged_animals(sqlite_store)
    browser = come(visit, study)
    browser.post("/sort/begin")
    asked = number_in(shown(browser))[0]
    words = {"asked": asked, "another": (asked + 1) % 24}
    answer = browser.post("/sort/judge", data={name: words.get(value, value) for name, value in data.items()})
    assert (answer.status_code, sentence in answer.text) == (status, True)
    assert number_in(shown(browser))[:2] == (asked, 1)


def test_nobody_answers_for_others_or_from_elsewhere(visit, sqlite_store):
    study = judged_animals(sqlite_store)
    one, other, stranger = come(visit, study), come(visit, study), visit()
    one.post("/sort/begin")
    asked = number_in(shown(one))[0]
    assert send(other, asked, 1).status_code == 404
    assert send(stranger, asked, 1).status_code == 403
    forged = one.post(
        "/sort/judge", data={"question": asked, "answer": 1}, headers={"Origin": "https://elsewhere.example"}
    )
    assert forged.status_code == 403
    assert sqlite_store.answers_frame(study.id).empty
    sorter = visit()
    sorter.get(f"/join/{begun(sqlite_store).join_token}")
    assert send(sorter, asked, 1).status_code == 404
    policy = one.get("/sort").headers["content-security-policy"]
    assert "script-src 'self'; style-src 'self'" in policy
    assert not re.search(r"<[^>]+ (style|on\w+)=", shown(one))


def test_whoever_sorted_reads_why_they_are_not_asked(visit, sqlite_store):
    _, study = judged_sort(sqlite_store, of={"panel": Panel(identified_by="PID")})
    sqlite_store.update_study(study.id, settings=study.settings)
    sorter = come(visit, study, "?PID=sorter2")
    assert "You sorted these cards in an earlier study." in shown(sorter)
    sorter.post("/sort/begin")
    assert "You sorted these cards in an earlier study." in shown(sorter)
    stranger = come(visit, study, "?PID=stranger")
    stranger.post("/sort/begin")
    assert number_in(shown(stranger))[1] == 1


def test_pages_when_there_is_nothing_to_answer(visit, sqlite_store):
    panel = Panel(endings={"closed": Completion("C3")})
    study = judged_animals(sqlite_store, answers_wanted=1, per_participant=24, panel=panel)
    early = come(visit, study)
    ask_judges(sqlite_store, study, 1)
    for browser in (early, come(visit, study)):
        assert "There is nothing left to answer" in shown(browser)
        assert ">C3<" in shown(browser)
        browser.post("/sort/begin")
    sqlite_store.close_study(study.id)
    assert "This study is closed" in shown(early)
    draft = judged_animals(sqlite_store, opened=False)
    assert "not open yet" in visit().get(f"/join/{draft.join_token}").text


def test_pictures_are_shown_with_their_words(visit, sqlite_store, admin):
    table = "name,picture,alt,cluster\n"
    table += "".join(f"c{n},p{n}.png,circle {n},{'round' if n < 4 else 'square'}\n" for n in range(8))
    files = [("pictures", (f"p{n}.png", encoded("PNG", size=(30, 20 + n)), "image/png")) for n in range(8)]
    made = admin.post(
        "/admin/judging/new", data={"title": "Shapes", "items": table, "per_participant": "2"}, files=files
    )
    study = sqlite_store.studies()[0]
    assert made.headers["location"] == f"/admin/studies/{study.id}"
    sqlite_store.open_study(study.id)
    browser = come(visit, study)
    browser.post("/sort/begin")
    page = shown(browser)
    labels = re.findall(r'aria-label="(\d): (circle \d)"', page)
    assert [label[0] for label in labels] == ["1", "2", "3", "4"]
    pictures = re.findall(r'<img src="(/pictures/[^"]+)" alt="(circle \d)"', page)
    assert [alt for _, alt in pictures] == [label[1] for label in labels]
    assert browser.get(pictures[0][0]).status_code == 200
    assert visit().get(pictures[0][0]).status_code == 404


# ---- administration


def test_one_click_makes_a_study_of_the_consensus(admin, sqlite_store):
    source, first = judged_sort(sqlite_store, of={"panel": Panel(consent="Sorts are kept.")})
    page = admin.get(f"/admin/studies/{source.id}").text
    assert f'href="/admin/studies/{source.id}/judging"' in page
    ask_judges(sqlite_store, first, 2, guessers=0, knows=1.0)
    page = admin.get(f"/admin/studies/{source.id}/judging").text
    assert f'href="/admin/studies/{first.id}"' in page
    assert "100%" in page
    made = admin.post(f"/admin/studies/{source.id}/judging")
    study = sqlite_store.studies()[0]
    assert made.headers["location"] == f"/admin/studies/{study.id}"
    page = admin.get(made.headers["location"]).text
    assert "The consent page, the questions and the codes of the sort are not taken over" in page
    assert "Nobody has answered yet." in page
    assert f'href="/admin/studies/{source.id}"' in page
    assert admin.get(f"/admin/studies/{study.id}/judging").headers["location"] == f"/admin/studies/{study.id}"
    assert "24 answers" in admin.get("/admin").text
    empty = begun(sqlite_store)
    assert "There is no consensus yet." in admin.get(f"/admin/studies/{empty.id}/judging").text
    answer = admin.post(f"/admin/studies/{empty.id}/judging")
    assert (answer.status_code, "There is no consensus yet." in answer.text) == (422, True)


def test_results_on_the_page(admin, sqlite_store):
    study = judged_animals(sqlite_store)
    guesser, *_ = ask_judges(sqlite_store, study, 9, seed=2, knows=0.95)
    page = admin.get(f"/admin/studies/{study.id}").text
    assert page.count("<svg") == 1
    assert "style=" not in page
    assert re.search(rf">{guesser}<.*?guesses", page)
    assert page.count("<td>guesses</td>") == 1
    assert "birds" in page
    counts = [int(row["answers"]) for row in results_of(sqlite_store, study).as_json()["clusters"]]
    assert sum(counts) == 108
    for count in counts:
        assert f'<td class="number">{count}</td>' in page
    back = admin.post(f"/admin/studies/{study.id}/participants/{guesser}/exclude", data={"back": "judging"})
    assert back.headers["location"] == f"/admin/studies/{study.id}/judging"
    page = admin.get(f"/admin/studies/{study.id}").text
    assert "The results are computed again." in page
    assert "guesses</td>" not in page
    assert f"/participants/{guesser}/restore" in page
    people = admin.get(f"/admin/studies/{study.id}/people").text
    assert '<th scope="col" class="number">Answers</th>' in people
    assert people.count('<td class="number" data-head="Answers">12</td>') == 9


def test_a_table_makes_a_study_and_mistakes_come_back(admin, sqlite_store):
    form = {"title": "Beasts", "items": TABLE, "answers_wanted": "", "n_questions": "30", "language": "de"}
    assert admin.post("/admin/judging/new", data=form).status_code == 303
    study = sqlite_store.studies()[0]
    assert (len(sqlite_store.odd_questions(study.id)), study.settings.answers_wanted) == (30, None)
    assert study.settings.language == "de"
    for change, sentence in (
        ({"items": ""}, "Give the cards and their clusters once"),
        ({"items": "a\nb"}, "No column of the table is called"),
        ({"n_questions": "1001"}, "The number of questions must be from 1 to 1,000."),
        ({"title": ""}, "The title of a study must not be empty."),
        ({"per_participant": "1001"}, "must be a whole number from 1 to 1,000"),
    ):
        answer = admin.post("/admin/judging/new", data=form | change)
        assert (answer.status_code, sentence in answer.text) == (422, True), answer.text
        assert 'value="de"' in answer.text
    assert len(sqlite_store.studies()) == 1
    notes = admin.post("/admin/judging/new", data=form | {"items": TABLE + "wolf,\n"})
    assert "which were left out: 1." in admin.get(notes.headers["location"]).text


def test_settings_texts_and_links(admin, visit, sqlite_store):
    study = judged_animals(sqlite_store, opened=False)
    address = f"/admin/studies/{study.id}"
    assert 'value="12"' in admin.get(f"{address}/judging/settings").text
    form = {"title": "Tiere", "per_participant": "5", "answers_wanted": "7", "language": "he", "direction": "rtl"}
    form |= {"instructions": "**Los**", "parameters": "PID, X"}
    assert admin.post(f"{address}/judging/settings", data=form).headers["location"] == address
    found = sqlite_store.study(study.id)
    assert (found.title, found.settings.per_participant, found.settings.answers_wanted) == ("Tiere", 5, 7)
    assert (found.settings.direction, found.settings.parameters) == ("rtl", ("PID", "X"))
    wrong = admin.post(f"{address}/judging/settings", data=form | {"per_participant": "0"})
    assert wrong.status_code == 422
    admin.post(f"{address}/texts", data={"text-judge_unsure": "Weiß nicht"})
    admin.post(f"{address}/open")
    links = admin.post(f"{address}/participants", data={"count": "2"}).text
    links = re.findall(r"http://testserver(/join/[\w-]+)", links)
    browser = visit()
    browser.get(links[-1])
    assert "<strong>Los</strong>" in shown(browser)
    browser.post("/sort/begin")
    page = shown(browser)
    assert "Weiß nicht" in page
    assert 'dir="rtl"' in page
    sort = begun(sqlite_store)
    assert admin.get(f"/admin/studies/{sort.id}/judging/settings").status_code == 404
    assert admin.post(f"/admin/studies/{sort.id}/judging/settings", data=form).status_code == 404
    for path in ("/admin/judging/new", f"{address}/judging", f"{address}/judging/settings"):
        assert visit().get(path).headers["location"] == "/admin/login"
        assert visit().post(path, data=form).status_code == 401


def test_exports(admin, sqlite_store):
    study = judged_animals(sqlite_store, parameters=("PID",))
    ask_judges(sqlite_store, study, 3, parameters={"PID": "=1+1"})
    address = f"/admin/studies/{study.id}/export"
    answer = admin.get(f"{address}/csv")
    assert f'filename="study-{study.id}-answers.csv"' in answer.headers["content-disposition"]
    table = pd.read_csv(io.BytesIO(answer.content))
    assert set(table["parameter:PID"]) == {"'=1+1"}
    found = odd_one_out(table.drop_duplicates("question").set_index("question"), table)
    assert found.overall["answers"] == 36
    assert "parameter:PID" not in admin.get(f"{address}/csv?identifiers=no").text
    assert len(pd.read_parquet(io.BytesIO(admin.get(f"{address}/parquet?table=answers").content))) == 36
    rows = admin.get(f"{address}/json").json()
    assert np.mean([row["answer"] == row["odd"] for row in rows]) == (table["answer"] == table["odd"]).mean()
    assert len(admin.get(f"{address}/json?table=participants").json()) == 3
    for query in ("html", "csv?table=sorts", "csv?table=groups"):
        assert admin.get(f"{address}/{query}").status_code == 422
    sort = begun(sqlite_store)
    takes_part(sqlite_store, sort)
    wrong = admin.get(f"/admin/studies/{sort.id}/export/csv?table=answers")
    assert (wrong.status_code, "it has no table of answers" in wrong.text) == (422, True)
    refused = admin.post(
        f"/admin/studies/{study.id}/import", files={"groupings": ("g.csv", b"item,annotator,group\nrobin,a,1\n")}
    )
    assert (refused.status_code, "nobody sorts" in refused.text) == (422, True)


def test_whoever_deletes_reads_that_answers_are_lost(admin, sqlite_store):
    study = judged_animals(sqlite_store)
    ask_judges(sqlite_store, study, 3)
    sqlite_store.close_study(study.id)
    page = admin.get(f"/admin/studies/{study.id}/delete").text
    assert "36 answers of judges" in page
