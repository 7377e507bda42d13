"""The pages of a participant as they are sent: escaped, in the study's language, and whole without scripts."""

import json
import re
from types import SimpleNamespace

import pytest
from markupsafe import Markup

from consilience.collect.participant import pages
from consilience.collect.participant.pages import PageCard
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.sentences import TEXTS

STATE = {
    "assignment": 7,
    "version": 3,
    "groups": [{"id": "c1", "name": "Birds", "items": [2]}, {"id": "g1", "name": "", "items": [0]}],
    "unsorted": [1],
}
CIRCLE = PageCard(1, "", "/pictures/1", "/pictures/1/small", "A <blue> circle")
CARDS = [PageCard(0, "Robin"), CIRCLE, PageCard(2, "", "/pictures/2")]


def study(board="piles", kind="hybrid", **chosen):
    return SimpleNamespace(title="A <b>study</b>", kind=kind, board=board, settings=StudySettings(**chosen))


def board(of, **options):
    return pages.render("board", pages.board_context(of, CARDS, STATE, **options))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="board-data">(.*?)</script>', page, re.S)[1])


@pytest.mark.parametrize("kind", ["piles", "sheet"])
def test_the_board_is_whole_without_scripts(kind):
    page = board(study(kind))
    assert page.count('name="items"') == 3
    assert [f'<button name="group" value="{value}"' in page for value in ("c1", "g1", "new", "")] == [True] * 4
    assert page.count('action="/sort/name"') == 1  # not for the category
    assert 'name="confirmed"' in page
    assert page.count('name="assignment" value="7"') == 4


def test_data_for_scripts_hold_what_the_board_needs():
    data = data_of(board(study(group_names="required")))
    assert data["state"] == STATE
    assert [card["label"] for card in data["cards"]] == ["Robin", "A <blue> circle", "Card 3"]
    assert (data["board"], data["kind"], data["groupNames"]) == ("piles", "hybrid", "required")
    assert data_of(board(study(kind="closed", group_names="required")))["groupNames"] == "none"


def test_nothing_that_a_user_wrote_becomes_markup():
    state = {**STATE, "groups": [{"id": "g1", "name": "</script><script>alert(1)</script>", "items": [0]}]}
    hostile = study(texts={"undo": "<i>Undo</i>"})
    cards = [PageCard(0, "<img src=x>"), *CARDS[1:]]
    page = pages.render("board", pages.board_context(hostile, cards, state, instructions="<script>1</script>"))
    assert page.count("<script") == 2  # the module and the data
    assert "<img src=x>" not in page
    assert "<i>" not in page
    assert "<b>study" not in page
    assert data_of(page)["state"]["groups"][0]["name"] == "</script><script>alert(1)</script>"


def test_no_page_holds_style_or_script_of_its_own():
    settings = study()
    sent = [board(study(kind), preview=True, notice="No.") for kind in ("piles", "sheet")]
    sent.append(pages.render("instructions", pages.instructions_context(settings, Markup("<p>Sort.</p>"))))
    sent.append(pages.render("thanks", pages.thanks_context(settings, more=(2, 2))))
    sent.append(pages.render("message", pages.message_context(settings, "closed")))
    for page in sent:
        assert not re.search(r"<[^>]*\s(style|on\w+)=", page)
        assert "javascript:" not in page
        assert not re.search(r"(src|href)=\"(?!/|data:,)", page)
        assert page.count("<h1>") == 1


def test_language_and_direction_are_those_of_the_study():
    page = board(study(language="he", direction="rtl", texts={"hand_in": "שליחה"}))
    assert '<html lang="he" dir="rtl">' in page
    assert page.count("שליחה") == 2  # the button, and that of the forms
    assert data_of(page)["texts"]["hand_in"] == "שליחה"


def test_what_the_page_tells_the_participant():
    page = board(study(), number=2, total=5, preview=True, notice="Select a card first.", instructions="Sort & rest")
    for text in ("Set 2 of 5", "This is a preview.", "Select a card first.", "Sort &amp; rest", "2 of 3 sorted"):
        assert text in page
    assert "Set 1 of 1" not in board(study())
    assert "Put each card into the group" in pages.render("instructions", pages.instructions_context(study()))


def test_thanks_and_messages():
    more = pages.render("thanks", pages.thanks_context(study(), more=(2, 2)))
    assert 'action="/sort/begin"' in more
    assert ("<h1>Set 2 of 2</h1>" in more, "Thank you" in more) == (True, False)
    assert "<form" not in pages.render("thanks", pages.thanks_context(study()))
    assert "Nothing was counted" in pages.render("thanks", pages.thanks_context(study(), preview=True))
    for message in ("closed", "nothing_left", "unknown_link"):
        page = pages.render("message", pages.message_context(study(), message))
        assert page.count(TEXTS[message]) == 2


def test_a_study_that_wants_all_cards_sorted_offers_no_way_around_it():
    assert 'name="confirmed" value="yes"> Hand in although' not in board(study(all_sorted="required"))
