"""The cards of a study on the pages of the administration, cards that look the same, and deletion of studies."""

import pytest

from consilience.collect.creation.duplicates import look_alikes, note_on_look_alikes
from consilience.collect.settings.model import Item

from .collecting import begun, takes_part
from .test_admin import made
from .test_pictures import encoded

PAGE = "/admin/studies/{}/cards"


# ---- cards


def test_cards_are_shown_and_corrected_until_the_first_person_begins(admin, visit, sqlite_store):
    pictures = [("pictures", ("dog.png", encoded())), ("pictures", ("cat.png", encoded(colour=(9, 9, 9))))]
    study = made(
        admin, sqlite_store, files=pictures, items="name,text,picture\nd,,dog.png\nc,A cat,cat.png\nm,A mouze,"
    )
    shown = admin.get(PAGE.format(study.id)).text
    hashes = [item.picture for item in sqlite_store.items(study.id)[:2]]
    assert all(f"/pictures/{study.id}/{one}/small" in shown for one in hashes)
    fields = {"text-0": "", "alt-0": "A dog & a bone", "text-1": "A cat", "alt-1": "", "text-2": "A <b>mouse</b>"}
    assert admin.post(PAGE.format(study.id), data=fields).status_code == 303
    dog, cat, mouse = sqlite_store.items(study.id)
    assert (dog.name, dog.text, dog.alt, dog.picture) == ("d", "", "A dog & a bone", hashes[0])
    assert (cat.text, cat.alt, cat.picture) == ("A cat", "A cat", hashes[1])
    assert (mouse.text, mouse.alt) == ("A <b>mouse</b>", "A <b>mouse</b>")  # its words are what it shows
    shown = admin.get(PAGE.format(study.id)).text
    assert "The cards are saved." in shown
    assert "A &lt;b&gt;mouse&lt;/b&gt;" in shown
    assert "<b>mouse" not in shown

    admin.post(f"/admin/studies/{study.id}/open")
    takes_part(sqlite_store, study)
    assert "<textarea" not in admin.get(PAGE.format(study.id)).text
    assert admin.post(PAGE.format(study.id), data=fields | {"text-2": "A moose"}).status_code == 409
    assert sqlite_store.items(study.id)[2].text == "A <b>mouse</b>"


def test_other_cards_take_the_place_of_those_of_a_template(admin, sqlite_store):
    made = admin.post("/admin/new/template/labels").headers["location"]
    study = made.rpartition("/")[2]
    assert admin.post(f"{made}/cards", data={"items": ""}).status_code == 422
    assert admin.post(f"{made}/cards", data={"items": "Owl"}).status_code == 422
    picture = {"pictures": ("bat.png", encoded())}
    sent = {"items": "text,picture\nBat,bat.png" + "".join(f"\nOwl {number}," for number in range(19))}
    assert admin.post(f"{made}/cards", data=sent, files=picture).status_code == 303
    bat, owl, *_ = sqlite_store.items(study)
    assert (bat.text, owl.text, owl.picture) == ("Bat", "Owl 0", None)
    assert admin.get(f"/pictures/{study}/{bat.picture}").status_code == 200
    assert "Replace all 20 cards" in admin.get(f"{made}/cards").text


def test_a_preview_does_not_fix_the_cards(admin, sqlite_store):
    study = made(admin, sqlite_store)
    sqlite_store.new_participant(study.id, preview=True)
    assert not sqlite_store.has_begun(study.id)
    assert "<textarea" in admin.get(PAGE.format(study.id)).text


def test_many_cards_are_on_several_pages_and_one_page_changes_its_own(admin, sqlite_store):
    study = made(admin, sqlite_store, items="\n".join(f"card {number}" for number in range(250)))
    assert [
        admin.get(PAGE.format(study.id), params={"page": page}).text.count('name="text-') for page in (1, 3, 9)
    ] == [*(100, 50, 50)]
    assert (
        admin.post(PAGE.format(study.id) + "?page=3", data={"text-249": "The last"})
        .headers["location"]
        .endswith("?page=3")
    )
    texts = [item.text for item in sqlite_store.items(study.id)]
    assert texts[-1] == "The last"
    assert texts[:-1] == [f"card {number}" for number in range(249)]


def test_a_correction_that_is_too_long_comes_back(admin, sqlite_store):
    study = made(admin, sqlite_store)
    answer = admin.post(PAGE.format(study.id), data={"text-0": "x" * 2001})
    assert answer.status_code == 422
    assert "The text of item 1" in answer.text
    assert "x" * 2001 in answer.text


# ---- cards that look the same


def test_cards_that_look_the_same():
    cards = [
        Item(0, "a", "Pear"),
        Item(1, "b", "  pear "),
        Item(2, "c", "Shoe", "h1"),
        Item(3, "d", "Shoe", "h2"),  # told from the one before by its picture
        Item(4, "e", "", "h3"),
        Item(5, "f", "", "h3"),
        Item(6, "g", "", "h4"),
        Item(7, "h", "Nut", "h3"),
        Item(8, "i", "Shoe"),  # told from neither of the other shoes by a picture of its own
    ]
    assert [[card.name for card in alike] for alike in look_alikes(cards)] == [
        ["a", "b"],
        ["c", "i"],
        ["d", "i"],
        ["e", "f"],
    ]
    assert note_on_look_alikes(cards[2:4]) == ""
    many = [Item(number, f"n{number}", f"text {number // 2}") for number in range(20)]
    assert note_on_look_alikes(many).count(" and ") == 5
    assert note_on_look_alikes(many).endswith("; ….")


def test_cards_that_look_the_same_are_said_and_taken(admin, sqlite_store):
    study = made(admin, sqlite_store, items="apple\npear\nApple")
    sentence = "Cards that look the same: &#39;apple&#39; and &#39;Apple&#39;."
    assert sentence in admin.get(f"/admin/studies/{study.id}").text
    assert sentence in admin.get(PAGE.format(study.id)).text
    picture = encoded()
    study = made(
        admin, sqlite_store, files=[("pictures", ("a.png", picture)), ("pictures", ("b.png", picture))], items=""
    )
    assert "Cards that look the same: &#39;a&#39; and &#39;b&#39;." in admin.get(f"/admin/studies/{study.id}").text


# ---- deletion


def test_a_study_is_deleted_after_a_page_that_says_what_is_lost(admin, sqlite_store):
    study = begun(sqlite_store)
    for seed in range(2):
        takes_part(sqlite_store, study, seed)
    other = begun(sqlite_store)
    address = f"/admin/studies/{study.id}/delete"
    assert admin.get(address).status_code == 409  # people may be sorting
    assert admin.post(address, data={"confirmed": "yes"}).status_code == 409
    assert address not in admin.get(f"/admin/studies/{study.id}").text
    admin.post(f"/admin/studies/{study.id}/close")
    assert f'href="{address}"' in admin.get(f"/admin/studies/{study.id}").text
    page = admin.get(address).text
    for lost in ("12 cards", "2 people", "2 groupings"):
        assert lost in page
    answer = admin.post(address)
    assert (answer.status_code, "please tick the box" in answer.text) == (422, True)
    assert sqlite_store.study(study.id)
    assert admin.post(address, data={"confirmed": "yes"}).headers["location"] == "/admin"
    assert [one.id for one in sqlite_store.studies()] == [other.id]
    assert admin.get(f"/admin/studies/{study.id}").status_code == 404


def test_a_draft_is_deleted_with_its_pictures(admin, sqlite_store):
    study = made(admin, sqlite_store, files=[("pictures", ("apple.png", encoded()))], items="apple\npear")
    page = admin.get(f"/admin/studies/{study.id}/delete").text
    assert "1 picture<" in page
    assert "people" not in page
    admin.post(f"/admin/studies/{study.id}/delete", data={"confirmed": "yes"})
    assert sqlite_store.studies() == []


@pytest.mark.parametrize("end", ["cards", "delete", "panel", "training"])
def test_strangers_see_and_change_nothing(visit, admin, sqlite_store, end):
    study = made(admin, sqlite_store)
    address = f"/admin/studies/{study.id}/{end}"
    assert visit().get(address).headers["location"] == "/admin/login"
    assert visit().post(address, data={"confirmed": "yes"}).status_code == 401
    assert admin.post(address, data={"confirmed": "yes"}, headers={"Origin": "https://evil.example"}).status_code == 403
    assert [one.id for one in sqlite_store.studies()] == [study.id]
    assert admin.get(f"/admin/studies/none/{end}").status_code == 404


def test_small_pictures_are_made_once_and_go_with_their_study(admin, sqlite_store, monkeypatch):
    dog = ("pictures", ("dog.png", encoded()))
    study = made(admin, sqlite_store, files=[dog], items="name,text,picture\nd,,dog.png\nm,A mouse,\nc,A cat,")
    address = f"/pictures/{study.id}/{sqlite_store.items(study.id)[0].picture}/small"
    first = admin.get(address)
    assert first.headers["content-type"] == "image/png"

    def read_again(*_):
        raise AssertionError("The picture was read again.")

    monkeypatch.setattr(type(sqlite_store), "picture", read_again)
    assert admin.get(address).content == first.content
    sqlite_store.delete_study(study.id)
    assert admin.get(address).status_code == 404
