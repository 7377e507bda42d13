"""What groups and cards mean, and how many cards a group may hold, on the boards in a real browser."""

from dataclasses import replace

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.participant.pages import PageCard
from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import pictures, settled, texts
from tests.collect.test_admin_browser import require_no_violation

MEANS = {"categories": ("Birds", "Others"), "descriptions": ("Birds = With feathers & <b>wings</b>",)}


def test_too_few_and_too_many_cards_are_named_before_handing_in(visit):
    sort = Sort(cards=texts(), settings=StudySettings(least_in_group=2, most_in_group=4))
    page = visit(sort, width=390)
    sort.change(kind="move", items=[1], group="g1")
    sort.change(kind="move", items=[2, 3, 4, 5, 6], group="g2")
    sort.change(kind="name", group="g2", name="Many")
    page.reload()
    page.locator("#hand-in").click()
    assert page.locator("#submit-text").text_content() == "Cards of a group: at least 2. Fewer are in: Group 1."
    page.locator("#keep-sorting").click()
    sort.change(kind="move", items=[2], group="g1")
    sort.change(kind="move", items=[7], group="g2")
    page.reload()
    page.locator("#hand-in").click()
    assert page.locator("#submit-title").text_content() == "Some groups have too many cards"
    assert page.locator("#submit-text").text_content() == "Cards of a group: at most 4. More are in: Many."
    page.locator("#keep-sorting").click()
    page.get_by_role("button", name="Instructions").click()
    assert page.get_by_text("Put at least 2 cards into each group.").is_visible()
    assert page.get_by_text("Put at most 4 cards into each group.").is_visible()
    settled(page)


@pytest.mark.parametrize(("board", "width"), [("piles", 1280), ("piles", 390), ("sheet", 390)])
def test_what_a_category_means_is_read_on_the_board_or_in_the_instructions(visit, board, width):
    page = visit(Sort(kind="closed", board=board, cards=texts(), settings=StudySettings(**MEANS)), width=width)
    if board == "piles":
        shown = page.locator(".group .meaning:visible")
        assert shown.all_text_contents() == ["With feathers & <b>wings</b>"]
    page.get_by_role("button", name="Instructions").press("Enter")
    said = page.locator("#instructions-dialog .meanings")
    assert said.locator("dt").all_text_contents() == ["Birds", "Others"]
    assert said.locator("dd").all_text_contents() == ["With feathers & <b>wings</b>", ""]
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def explained():
    """Cards of which two have a description, one of them with a picture."""
    plain, word, shown = PageCard(1, "Robin"), PageCard(2, "Owl", description="Hunts at <b>night</b>"), pictures(1)[0]
    return [plain, word, replace(shown, number=3, description="What is drawn")]


@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_what_a_card_means_is_reached_by_keys_mouse_and_finger(visit, board):
    page = visit(Sort(board=board, cards=explained()), width=390, has_touch=True)
    assert page.locator("#board .zoom").count() == 2
    owl = page.locator("#board .card", has_text="Owl")
    assert owl.get_attribute("title") == "Hunts at <b>night</b>"
    owl.locator(".pick").press("z")
    said = page.locator("#zoom-description")
    assert said.text_content() == "Hunts at <b>night</b>"
    assert not page.locator(".zoomed").is_visible()
    page.keyboard.press("ArrowRight")
    assert said.text_content() == "What is drawn"
    assert page.locator("#zoom-picture").is_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="What Owl means").tap()
    assert said.text_content() == "Hunts at <b>night</b>"
    require_no_violation(page)


def test_what_a_card_means_is_read_without_scripts(visit):
    page = visit(Sort(cards=explained()), java_script_enabled=False)
    page.get_by_text("What Owl means").click()
    assert page.get_by_text("Hunts at <b>night</b>").is_visible()


def test_cards_that_must_be_sorted_are_named_before_handing_in(visit):
    cards = [PageCard(1, "Robin"), PageCard(2, "Owl", required=True), replace(pictures(3)[2], required=True)]
    sort = Sort(cards=cards)
    sort.change(kind="move", items=[1], group="g1")
    page = visit(sort)
    page.locator("#hand-in").click()
    assert page.locator("#submit-text").text_content() == "Please sort these cards, too: Owl, Card 3."
    assert not page.locator("#hand-in-anyway").is_visible()
