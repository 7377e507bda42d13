"""What groups mean and how many cards they may hold, on the boards in a real browser."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import settled, texts

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
    assert said.locator("dt").all_text_contents() == ["Birds"]
    assert said.locator("dd").all_text_contents() == ["With feathers & <b>wings</b>"]
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
