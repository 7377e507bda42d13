"""The API of judging studies: made, asked, answered and read by scripts; a crowd of judges over HTTP."""

import io

import numpy as np
import pandas as pd
import pytest

from consilience.collect.results.judging import results_of
from consilience.metrics import odd_one_out

from .collecting import begun, joined
from .judges import ANIMALS, judged_animals, judged_sort

ITEMS = [{"name": name, "cluster": kind} for kind, names in ANIMALS.items() for name in names]
KIND = {one["name"]: one["cluster"] for one in ITEMS}


def person_in(script, study):
    return script.post(f"/api/v1/studies/{study['id']}/participants", json={}).json()["id"]


def asked(script, study, person):
    answer = script.post(f"/api/v1/studies/{study['id']}/participants/{person}/question")
    assert answer.status_code == 200, answer.text
    return answer.json()["question"]


def answered(script, study, person, question, name):
    sent = {"question": question["question"], "answer": name}
    return script.put(f"/api/v1/studies/{study['id']}/participants/{person}/answer", json=sent)


def odd_name(question):
    kinds = [KIND[item["name"]] for item in question["items"]]
    return next(item["name"] for item in question["items"] if kinds.count(KIND[item["name"]]) == 1)


def made(script, **sent):
    answer = script.post("/api/v1/judging", json={"title": "Animals", "items": ITEMS} | sent)
    assert answer.status_code == 201, answer.text
    return script.post(f"/api/v1/studies/{answer.json()['id']}/open").json()


@pytest.mark.slow
def test_judges_of_different_skill_over_http(script, sqlite_store):
    study = made(script, answers_wanted=8, per_participant=12)
    assert (study["kind"], study["board"], study["settings"]["answers_wanted"]) == ("judging", "questions", 8)
    rng, people = np.random.default_rng(4), []
    while (question := asked(script, study, person := person_in(script, study))) is not None:
        people.append(person)
        assert asked(script, study, person) == question
        while question is not None:
            names = [item["name"] for item in question["items"]]
            knows = KIND[odd_name(question)] == "fish" or rng.random() < 0.3
            name = odd_name(question) if knows else names[rng.integers(4)]
            answer = answered(script, study, person, question, name)
            assert answer.status_code == 200
            question = answer.json()["question"]
    assert len(people) == 16  # 24 questions, 8 answers to each, 12 of each person
    found = script.get(f"/api/v1/studies/{study['id']}/judging").json()
    assert found["progress"] == {
        **{"participants": 17, "excluded": 0, "withdrew": 0, "judges": 16, "answers": 192, "open": 0},
        **{"questions": 24, "least": 8, "most": 8},
    }
    told_apart = {(one["first"], one["second"]): one["right"] for one in found["pairs"]}
    assert min(told_apart, key=told_apart.get) == ("birds", "insects")  # fish are known to all
    assert found["overall"]["right_low"] < found["overall"]["right"] < found["overall"]["right_high"]
    assert [one["id"] for one in found["judges"]] == people
    table = pd.read_csv(io.BytesIO(script.get(f"/api/v1/studies/{study['id']}/export").content))
    again = odd_one_out(table.drop_duplicates("question").set_index("question"), table)
    assert again.overall["right"] == pytest.approx(found["overall"]["right"], abs=1e-6)
    script.post(f"/api/v1/studies/{study['id']}/participants/{people[0]}/exclude")
    assert script.get(f"/api/v1/studies/{study['id']}/judging").json()["progress"]["answers"] == 180
    script.delete(f"/api/v1/studies/{study['id']}/participants/{people[1]}")
    assert script.get(f"/api/v1/studies/{study['id']}/judging").json()["progress"]["judges"] == 14
    listed = script.get(f"/api/v1/studies/{study['id']}/participants").json()
    assert {one["submitted"] for one in listed} == {12, 0}


def test_a_study_is_judged_by_one_request(script, sqlite_store):
    source, first = judged_sort(sqlite_store)
    answer = script.post(f"/api/v1/studies/{source.id}/judging", json={"per_participant": 4})
    assert answer.status_code == 201
    study = answer.json()
    assert (study["title"], study["status"]) == (source.title, "draft")
    assert study["settings"]["per_participant"] == 4
    listed = script.get(f"/api/v1/studies/{source.id}/judgings").json()
    assert {one["id"] for one in listed} == {study["id"], first.id}
    assert script.get(f"/api/v1/studies/{study['id']}/judging").json()["source"] == source.id
    own = {"clusters": {f"item {n}": "low" if n < 6 else "high" for n in range(12)}, "title": "Own", "n_questions": 9}
    study = script.post(f"/api/v1/studies/{source.id}/judging", json=own).json()
    assert {one.name for one in sqlite_store.judging(study["id"]).clusters} == {"low", "high"}
    assert len(sqlite_store.odd_questions(study["id"])) == 9


def test_settings_of_a_judging_study_are_changed_like_others(script):
    study = made(script)
    address = f"/api/v1/studies/{study['id']}/settings"
    sent = study["settings"] | {"per_participant": 3, "answers_wanted": None, "panel": {"consent": "Text"}}
    assert script.put(address, json=sent).json()["settings"]["answers_wanted"] is None
    answer = script.put(address, json=sent | {"subset_size": 4})
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "In a judging study nobody sorts: it has no 'subset_size'.",
    )
    items = script.put(f"/api/v1/studies/{study['id']}/items", json=[{"name": "a"}, {"name": "b"}])
    assert items.status_code == 409
    person = person_in(script, study)
    subset = script.post(f"/api/v1/studies/{study['id']}/participants/{person}/subset")
    assert subset.json() == {"subset": None}


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"items": ITEMS[:3]}, "items: List should have at least 4 items after validation, not 3"),
        ({"items": [one | {"cluster": "all"} for one in ITEMS]}, "From 2 to 500 clusters can be judged. Got 1."),
        ({"n_questions": 0}, "n_questions: Input should be greater than or equal to 1"),
        ({"n_questions": 1000, "items": ITEMS[:8]}, "There are only 35 different questions about these clusters."),
        ({"answers_wanted": 0}, "answers_wanted: Input should be greater than or equal to 1"),
        ({"items": [*ITEMS, {"name": "robin", "cluster": "fish"}]}, "Items 1 and 21 have the same name: 'robin'."),
        ({"wrong": 1}, "wrong: Extra inputs are not permitted"),
    ],
)
def test_clusters_that_are_refused(script, sent, sentence):
    answer = script.post("/api/v1/judging", json={"title": "Animals", "items": ITEMS} | sent)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(sentence)


def test_answers_that_are_refused(script, sqlite_store):
    study, other = made(script), made(script)
    mine, theirs = person_in(script, study), person_in(script, study)
    question = asked(script, study, mine)
    wrong = [
        (answered(script, study, theirs, question, None), 404, "This question was not asked."),
        (answered(script, other, mine, question, None), 404, "There is no such participant."),
        (answered(script, study, mine, question | {"question": 1000}, None), 404, "This question was not asked."),
        (answered(script, study, mine, question, "unicorn"), 422, "The item 'unicorn' is none of the four."),
        (answered(script, study, mine, question | {"question": -1}, None), 422, "question: Input should be greater"),
    ]
    for answer, status, sentence in wrong:
        assert answer.status_code == status
        assert answer.json()["error"].startswith(sentence)
    assert sqlite_store.answers_frame(study["id"]).empty
    following = answered(script, study, mine, question, None)
    assert following.json()["question"]["number"] == 2
    assert answered(script, study, mine, question, odd_name(question)).json() == following.json()
    assert results_of(sqlite_store, sqlite_store.study(study["id"])).found.overall["cannot_say"] == 1


def test_a_sort_is_not_judged_unless_it_has_clusters(script, sqlite_store):
    sort = begun(sqlite_store)
    assert script.get(f"/api/v1/studies/{sort.id}/judging").status_code == 404
    answer = script.post(f"/api/v1/studies/{sort.id}/judging", json={})
    assert (answer.status_code, answer.json()["error"][:27]) == (409, "There is no consensus yet. ")
    judged = judged_animals(sqlite_store)
    assert script.post(f"/api/v1/studies/{judged.id}/judging", json={}).status_code == 422
    person = joined(sqlite_store, sort).id
    assert asked(script, {"id": sort.id}, person) is None
    assert script.get(f"/api/v1/studies/{judged.id}/export?format=html").status_code == 422
