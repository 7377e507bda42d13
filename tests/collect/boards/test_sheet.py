"""The sheet in a real browser: whole sorts by mouse, by touch and by keyboard alone."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import card, filled, focused, groups_of, pictures, settled

WHOLE = {frozenset({1, 2, 3, 4}), frozenset({5, 6, 7}), frozenset({8, 9})}


def sheet(**chosen):
    return Sort(board="sheet", cards=pictures(9), settings=StudySettings(**chosen))


def choice(page, name):
    return page.locator(".choice", has_text=name)


def hand_in(page):
    page.get_by_role("button", name="Hand in", exact=True).click()
    page.get_by_role("heading", name="Thank you!").wait_for()


@pytest.mark.slow
def test_a_whole_sort_by_mouse(visit):
    sort = sheet()
    page = visit(sort)
    for item in (1, 2, 3, 4, 5):
        card(page, item).click()
    choice(page, "New group").click()
    for item in (6, 7, 5, 8):  # 5 is marked anew
        card(page, item).click()
    card(page, 8).click()  # the same mark again takes it away
    assert card(page, 8).get_attribute("aria-label") == "Card 8: No group"
    choice(page, "New group").click()
    card(page, 8).click()
    card(page, 9).click()
    settled(page)
    assert groups_of(sort) == WHOLE
    badges = page.locator("#sheet .pick > .badge").all_text_contents()
    assert badges == ["1"] * 4 + ["2"] * 3 + ["3"] * 2
    page.locator("#undo").click()
    assert page.locator("#count").text_content() == "8 of 9 sorted"
    page.locator("#redo").click()
    page.get_by_role("button", name="Name the groups").click()
    page.keyboard.type("Round")
    page.keyboard.press("Enter")
    choice(page, "Round").wait_for()
    hand_in(page)
    assert groups_of(sort) == WHOLE
    assert [group["name"] for group in sort.state["groups"]] == ["Round", "", ""]


@pytest.mark.slow
def test_a_whole_sort_by_touch(visit):
    sort = sheet(group_names="none")
    page = visit(sort, 360, 740, has_touch=True, is_mobile=True)
    assert page.locator("#names-button").count() == 0
    for item in (1, 2, 3, 4):
        card(page, item).tap()
    choice(page, "New group").tap()
    for item in (5, 6, 7, 8):
        card(page, item).tap()
    choice(page, "No group").tap()
    card(page, 8).tap()
    choice(page, "New group").tap()
    for item in (8, 9):
        card(page, item).tap()
    settled(page)
    assert groups_of(sort) == WHOLE
    hand_in(page)


def test_a_whole_sort_by_keyboard_alone(visit):
    sort = sheet()
    page = visit(sort)
    press = page.keyboard.press
    for _ in range(20):
        press("Tab")
        if isinstance(focused(page), int):
            break
    for key in "1111222":
        press(key)
        press("ArrowRight")
    press("3")
    page.get_by_text("Card 8 is now in Group 3. Not sorted yet: 1.").wait_for()
    press("End")
    press("Enter")  # marks with the group used last
    press("Home")
    press("5")
    page.get_by_text("There is no group 5.").wait_for()
    press("Delete")
    press("Control+z")
    settled(page)
    assert groups_of(sort) == WHOLE
    press("z")
    page.locator("#zoom-picture").wait_for()
    press("Escape")
    page.locator(".card[data-item='1'] .pick:focus").wait_for()
    page.locator("#hand-in").focus()
    press("Enter")
    page.get_by_role("heading", name="Thank you!").wait_for()


def test_arrow_keys_follow_the_rows_and_the_direction_of_the_text(visit):
    page = visit(sheet(language="ar", direction="rtl"))
    card(page, 1).focus()
    page.keyboard.press("ArrowLeft")
    assert focused(page) == 2
    page.keyboard.press("ArrowRight")
    assert focused(page) == 1
    page.set_viewport_size({"width": 360, "height": 800})  # three in a row
    page.keyboard.press("ArrowDown")
    assert focused(page) == 4
    page.keyboard.press("ArrowUp")
    assert focused(page) == 1


def test_required_names_are_asked_for_before_handing_in(visit):
    sort = filled(sheet(group_names="required"), "Round", "", each=5)
    page = visit(sort)
    page.locator("#hand-in").click()
    assert page.locator("#submit-text").text_content() == "Groups without a name: Group 2."
    page.locator("#keep-sorting").click()
    page.locator("#names-dialog input:focus").wait_for()
    page.keyboard.type("Square")
    page.keyboard.press("Enter")
    choice(page, "Square").wait_for()
    hand_in(page)
    assert [group["name"] for group in sort.state["groups"]] == ["Round", "Square"]


def test_more_groups_than_colours_keep_their_numbers(visit):
    sort = Sort(board="sheet", cards=pictures(12))
    filled(sort, *[""] * 12, each=1)
    page = visit(sort)
    assert page.locator("#sheet .pick > .badge").all_text_contents() == [str(number) for number in range(1, 13)]
    classes = page.eval_on_selector_all("#sheet .card", "cards => cards.map((card) => card.className)")
    assert "colour-1" in classes[9]
    choice(page, "Group 12").click()
    card(page, 1).click()
    settled(page)
    assert frozenset({12, 1}) in groups_of(sort)
