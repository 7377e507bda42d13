"""Training as participants and scripts meet it: from the practice to the sort, or to the end of those not let in."""

import re

import pytest

from consilience.collect.settings.panel import Completion, Panel
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.store.scoring import chance_in
from tests.collect.collecting import begun, joined, sort

FRUIT = RightSort.of_groups({"Red": ["cherry", "rose"], "Blue": ["sky", "sea", "ink"], "Green": ["grass"]})


def right(item):
    return [0, 0, 1, 1, 1, 2][item - 12]


def at_the_link(visit, study):
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    return browser


def begin(browser):
    assert browser.post("/sort/begin").headers["location"] == "/sort"
    return browser.get("/sort").text


def hand_in(store, study, rule):
    (current,) = [one for one in store.assignments(study.id) if one.state == "open"]
    return sort(store, current, rule)


def test_practice_then_its_answer_then_admission_then_the_sort(visit, sqlite_store):
    study = begun(sqlite_store, training=Training(practice=FRUIT, admission=(FRUIT, FRUIT), mark=0.9))
    browser = at_the_link(visit, study)
    assert "<h1>First, a practice</h1>" in browser.get("/sort").text
    board = begin(browser)
    assert "<span>Practice</span>" in board
    assert "cherry" in board
    assert "item 1" not in board
    practice = hand_in(sqlite_store, study, lambda item: min(right(item), 1))
    answer = browser.get("/sort").text
    assert "Cards that are where they were expected: 5 of 6." in answer
    assert answer.count("As expected") == 5
    assert re.search(r"Does not belong together with:\s+<bdi>sky</bdi>", answer)  # grass, among what is blue
    assert browser.post("/sort/answer-seen", data={"assignment": practice.id}).headers["location"] == "/sort"
    assert "Sets of cards in the test: 2." in browser.get("/sort").text
    assert "<span>Test</span>" in begin(browser)
    hand_in(sqlite_store, study, right)
    assert "Set 2 of 2" in browser.get("/sort").text
    begin(browser)
    hand_in(sqlite_store, study, right)
    assert "You passed the test" in browser.get("/sort").text
    assert "item 1" in begin(browser)


def test_instructions_are_read_first_and_before_what_counts(visit, sqlite_store):
    training = Training(practice=FRUIT, admission=(FRUIT,), mark=0.9)
    study = begun(sqlite_store, training=training, instructions="Sort by *colour*.")
    browser = at_the_link(visit, study)
    assert "Sort by <em>colour</em>." in browser.get("/sort").text
    begin(browser)
    practice = hand_in(sqlite_store, study, right)
    browser.post("/sort/answer-seen", data={"assignment": practice.id})
    test = browser.get("/sort").text
    assert "The task is the same as in the practice." in test
    assert "colour" not in test
    assert "what belongs together" not in test  # which is said where a study has no instructions of its own
    begin(browser)
    hand_in(sqlite_store, study, right)
    page = browser.get("/sort").text
    assert ("You passed the test" in page, "Sort by <em>colour</em>." in page) == (True, True)


def test_who_only_practised_is_told_that_it_counts_from_now_on(visit, sqlite_store):
    study = begun(sqlite_store, training=Training(practice=FRUIT))
    browser = at_the_link(visit, study)
    begin(browser)
    practice = hand_in(sqlite_store, study, right)
    browser.post("/sort/answer-seen", data={"assignment": practice.id})
    assert "The practice is over. What you sort from now on counts." in browser.get("/sort").text


def test_who_is_not_admitted_is_told_so(visit, sqlite_store):
    study = begun(sqlite_store, training=Training(admission=(FRUIT,), tries=2))
    browser = at_the_link(visit, study)
    begin(browser)
    hand_in(sqlite_store, study, lambda item: item % 3)
    assert "Tries left: 1." in browser.get("/sort").text
    begin(browser)
    hand_in(sqlite_store, study, lambda item: item % 3)
    for _ in range(2):
        page = browser.get("/sort").text
        assert "so you cannot take part in this study" in page
        assert "<form" not in page
        browser.post("/sort/begin")  # changes nothing
    assert len(sqlite_store.assignments(study.id)) == 2


@pytest.mark.parametrize("n_ordinary", [1, 2])  # gold is before the only one
def test_gold_looks_like_any_other_set(visit, sqlite_store, n_ordinary):
    training = Training(gold=(FRUIT,), gold_share=0.5)
    panel = Panel(endings={"complete": Completion("DONE")})
    study = begun(sqlite_store, subset_size=4, per_participant=n_ordinary, training=training, panel=panel)
    browser = at_the_link(visit, study)
    for number in range(1, n_ordinary + 2):
        assert f"<span>Set {number} of {n_ordinary + 1}</span>" in begin(browser)
        hand_in(sqlite_store, study, lambda item: item % 3)
        page, is_over = browser.get("/sort").text, number > n_ordinary
        assert (f"<h1>Set {number + 1} of {n_ordinary + 1}</h1>" in page) != is_over
        assert [said in page for said in ("Sort the next set", "Thank you", "DONE")] == [not is_over, is_over, is_over]
    assert sorted(one.source for one in sqlite_store.assignments(study.id)) == [*["dry"] * n_ordinary, "gold"]


def test_training_by_the_api(script, sqlite_store):
    study = begun(sqlite_store)
    place = f"/api/v1/studies/{study.id}"
    assert script.get(f"{place}/training/chance").json() == {"error": "The study has no admission."}
    cards = [{"name": card.name, "group": card.group} for card in FRUIT.cards]
    sent = script.put(f"{place}/training", json={"admission": [cards], "mark": 0.7, "tries": 3})
    assert sent.json()["settings"]["training"]["mark"] == 0.7
    changed = sqlite_store.study(study.id)
    chance = script.get(f"{place}/training/chance").json()
    assert (chance["once"], chance["measure"]) == (chance_in(changed).once, "adjusted Rand index")
    alone = [{"name": name, "group": "A"} for name in "abc"]
    refused = script.put(f"{place}/training", json={"practice": alone})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("The practice sort needs at least two groups")
    person = joined(sqlite_store, study)
    subset = script.post(f"{place}/participants/{person.id}/subset").json()["subset"]
    assert subset["source"] == "admission"
    groups = [{"items": [card["name"] for card in cards if card["group"] == name]} for name in ("Red", "Blue", "Green")]
    script.put(f"{place}/assignments/{subset['assignment']}/grouping", json={"groups": groups})
    (row,) = script.get(f"{place}/consistency").json()
    assert (row["participant"], row["admission"], row["attempts"]) == (person.id, 1.0, 1)
