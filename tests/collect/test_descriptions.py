"""What cards mean: from a table or a script to the board, corrected on the page of the cards, copied and packed."""

import pytest

from consilience.collect.creation.cards import read_cards
from consilience.collect.creation.study_file import copy_study, pack_study, unpack_study
from consilience.collect.settings.checks import checked_items
from consilience.collect.settings.model import Item
from consilience.errors import InputError

from .collecting import begun

OWL = Item(0, "owl", "Owl", description="Hunts at\nnight")


@pytest.mark.parametrize(
    ("table", "text", "description"),
    [
        ("name,text,description\no,Owl,At night", "Owl", "At night"),
        ("label;explanation\nOwl;At night", "Owl", "At night"),
        ("name,description\no,An owl", "An owl", ""),  # the only words there are
    ],
)
def test_a_table_has_descriptions(table, text, description):
    [card] = read_cards(table).cards
    assert (card.text, card.description) == (text, description)
    assert read_cards(table).notes == ()


def test_descriptions_are_cleaned_and_not_too_long():
    assert checked_items([Item(0, "a", description=" b\x00\n c "), "d"])[0].description == "b \n c"
    with pytest.raises(InputError, match="The description of item 1 has 2,001 characters"):
        checked_items([Item(0, "a", description="x" * 2001), "d"])


def test_they_are_made_corrected_and_read_on_pages(admin, visit, sqlite_store):
    sent = {"title": "Birds", "items": "text,description\nOwl,At <i>night</i>\nWren,", "kind": "open", "board": "piles"}
    study = admin.post("/admin/new", data=sent).headers["location"].rpartition("/")[2]
    assert "At &lt;i&gt;night&lt;/i&gt;</textarea>" in admin.get(f"/admin/studies/{study}/cards").text
    changed = {"text-0": "Owl", "description-0": "By day", "text-1": "Wren", "description-1": "Small & loud"}
    assert admin.post(f"/admin/studies/{study}/cards", data=changed).status_code == 303
    assert [item.description for item in sqlite_store.items(study)] == ["By day", "Small & loud"]
    browser = visit()
    browser.get(f"/join/{sqlite_store.open_study(study).join_token}")
    browser.post("/sort/begin")
    page = browser.get("/sort").text
    assert '<p class="description" dir="auto">Small &amp; loud</p>' in page
    assert "Description: <bdi>By day</bdi>" in admin.get(f"/admin/studies/{study}/cards").text


def test_they_are_kept_by_scripts_copies_and_files(script, sqlite_store):
    study = begun(sqlite_store, [OWL, "wren"])
    [owl, wren] = script.get(f"/api/v1/studies/{study.id}/items").json()
    assert (owl["description"], wren["description"]) == ("Hunts at\nnight", "")
    sent = [{"name": "owl", "description": "By night"}, {"name": "wren"}]
    made = script.post("/api/v1/studies", json={"title": "Two", "items": sent}).json()
    assert sqlite_store.items(made["id"])[0].description == "By night"
    for again in (copy_study(sqlite_store, study), unpack_study(sqlite_store, pack_study(sqlite_store, study))):
        assert sqlite_store.items(again.id) == sqlite_store.items(study.id)
