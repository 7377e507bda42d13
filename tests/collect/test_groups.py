"""How many cards a group may hold, and what categories mean: as settings, on pages, and when a sort is handed in."""

import re

import numpy as np
import pytest

from consilience.collect.settings.checks import checked_settings
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.store.board_state import Group
from consilience.errors import InputError

from .collecting import NAMES, begun, joined

MENU = {"categories": ("Mains", "Mains = hot"), "strategy": "random", "stop_rule": "none"}


def checked(kind="open", n_items=12, **settings):
    return checked_settings(StudySettings(**settings), kind, "piles", n_items)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((1, 11), "Cards of a group: at least 2. Fewer are in: Group 1."),
        ((3, 9), "Cards of a group: at most 8. More are in: Large."),
        ((4, 8), None),
        ((2, 0), None),  # a group without cards is none
    ],
)
def test_groups_of_another_size_are_not_taken(store, sizes, sentence):
    study = begun(store, NAMES, least_in_group=2, most_in_group=8)
    given = store.assignment_for(joined(store, study), np.random.default_rng(0))
    groups = [Group("g1", "", tuple(range(sizes[0]))), Group("g2", "Large", tuple(range(sizes[0], sum(sizes))))]
    if sentence is None:
        groups = [group for group in groups if group.items]
        assert store.submit_groups(given.id, given.participant, "script", groups).state == "submitted"
    else:
        with pytest.raises(InputError, match=re.escape(sentence)):
            store.submit_groups(given.id, given.participant, "script", groups)


def test_the_sentence_is_in_the_words_of_the_study(visit, sqlite_store):
    texts = {"too_few_text": "Mindestens {count}; weniger in {groups}."}
    study = begun(sqlite_store, ["a", "b", "c", "d"], least_in_group=2, texts=texts)
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    page = browser.get("/sort").text
    assert "Put at least 2 cards into each group." in page
    browser.post("/sort/begin")
    [given] = sqlite_store.assignments(study.id)
    browser.post("/sort/move", data={"assignment": given.id, "items": ["0"], "group": "new"})
    answer = browser.post("/sort/submit", data={"assignment": given.id, "confirmed": "yes"})
    assert (answer.status_code, "Mindestens 2; weniger in Group 1." in answer.text) == (422, True)


def test_descriptions_are_read_by_participants_and_escaped(visit, sqlite_store):
    described = ("Mains = hot = <i>Eaten</i> = warm", "Mains=All")
    study = begun(sqlite_store, ["a", "b", "c"], kind="closed", **MENU, descriptions=described)
    kept = sqlite_store.study(study.id).settings
    assert kept.meanings == {"Mains = hot": "<i>Eaten</i> = warm", "Mains": "All"}
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    assert "<bdi>&lt;i&gt;Eaten&lt;/i&gt; = warm</bdi>" in browser.get("/sort").text
    browser.post("/sort/begin")
    assert '<p class="meaning"><bdi>All</bdi></p>' in browser.get("/sort").text  # without scripts


def test_instructions_list_the_groups_without_a_description_too(visit, sqlite_store):
    study = begun(sqlite_store, ["a", "b", "c"], kind="closed", **MENU, descriptions=("Mains = All",))
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    listed = re.findall("<dt><bdi>(.*?)</bdi></dt><dd>(.*?)</dd>", browser.get("/sort").text)
    assert listed == [(name, "<bdi>All</bdi>" if name == "Mains" else "") for name in study.settings.categories]


def test_the_form_and_the_api_set_them(admin, script, sqlite_store):
    sent = {"title": "Menu", "items": "Soup\nStew\nIce", "kind": "closed", "board": "piles"}
    sent |= {"categories": "Mains\nSweets", "descriptions": "Mains = Warm, or hot", "most_in_group": "2"}
    answer = admin.post("/admin/new", data=sent)
    assert answer.status_code == 303, answer.text
    study = sqlite_store.study(answer.headers["location"].rpartition("/")[2])
    assert (study.settings.meanings, study.settings.most_in_group) == ({"Mains": "Warm, or hot"}, 2)
    assert "Mains = Warm, or hot</textarea>" in admin.get(f"/admin/studies/{study.id}/settings").text
    wrong = admin.post("/admin/new", data=sent | {"descriptions": "Soups = Warm"})
    assert "&#39;Soups&#39; has a description, and is none of the categories: Mains, Sweets." in wrong.text
    settings = study.settings.as_json() | {"descriptions": ["Sweets = Cold"], "least_in_group": 1}
    answer = script.put(f"/api/v1/studies/{study.id}/settings", json=settings)
    assert answer.json()["settings"]["descriptions"] == ["Sweets = Cold"]


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        ("open", {"least_in_group": 13}, "A group cannot have 13 cards or more: people sort 12 at a time."),
        ("open", {"least_in_group": 3, "subset_size": 2}, "people sort 2 at a time"),
        ("open", {"least_in_group": 3, "most_in_group": 2}, "cannot have 3 cards or more and 2 or fewer"),
        ("closed", MENU | {"most_in_group": 5, "all_sorted": "required"}, "have room for 10"),
        ("open", {"least_in_group": 0}, "'least_in_group' must be a whole number from 1"),
        ("open", {"descriptions": ("Mains = Warm",)}, "A description must be such as"),
        ("closed", MENU | {"descriptions": ("Mains =",)}, "A description must be such as"),
        ("closed", MENU | {"descriptions": ("Mains = a", "Mains = b")}, "'Mains' has two descriptions"),
        ("closed", MENU | {"descriptions": ("Mains = " + "x" * 700,)}, "has 708 characters; at most 700"),
    ],
)
def test_settings_that_cannot_be_are_refused(kind, settings, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        checked(kind, **settings)


def test_a_practice_that_nobody_could_hand_in_is_refused(sqlite_store):
    training = Training(practice=RightSort.of_groups({"A": ["x", "y"], "B": ["z"]}))
    with pytest.raises(InputError, match=r"^The practice sort has a right group of fewer or more cards than"):
        begun(sqlite_store, NAMES, training=training, least_in_group=2)


def test_a_judging_study_has_none():
    with pytest.raises(InputError, match="it has no 'least_in_group'"):
        checked_settings(StudySettings(least_in_group=2), "judging", "questions", 4)


def test_cards_that_must_be_sorted_are_named(store):
    study = begun(store, NAMES, required_cards=("item 3", "item 5"), all_sorted=False)
    given = store.assignment_for(joined(store, study), np.random.default_rng(0))
    with pytest.raises(InputError, match=r"^Please sort these cards, too: item 3\.$"):
        store.submit_groups(given.id, given.participant, "script", [Group("g1", "", (5, 1))])
    done = store.submit_groups(given.id, given.participant, "script", [Group("g1", "", (5, 3))])
    assert done.state == "submitted"


def test_a_card_that_is_not_there_cannot_be_required(admin, sqlite_store):
    sent = {"title": "Menu", "items": "Soup\nStew", "kind": "open", "board": "piles", "required_cards": "Soup\nIce"}
    answer = admin.post("/admin/new", data=sent)
    assert (answer.status_code, "no card with the name &#39;Ice&#39;" in answer.text) == (422, True)
    study = begun(sqlite_store, ["Soup", "Stew"], required_cards=("Soup",))
    with pytest.raises(InputError, match="no card with the name 'Soup'"):
        sqlite_store.update_study(study.id, items=["Ice", "Stew"])
