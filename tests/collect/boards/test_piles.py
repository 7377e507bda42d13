"""The board of piles in a real browser: whole sorts by mouse, by touch and by keyboard alone."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import card, filled, focused, groups_of, pictures, settled, texts

BIRDS, FISH, MAMMALS = frozenset({1, 2, 3, 4}), frozenset({5, 6, 7}), frozenset({8, 9, 10})
WHOLE = {BIRDS, FISH, MAMMALS}


def hold_and_drag(page, start, end, wait=320):
    """Hold a card with a finger, and move it: Chromium's protocol has the fingers that Playwright lacks."""
    fingers = page.context.new_cdp_session(page)
    box, to = start.bounding_box(), end.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    goal = (to["x"] + to["width"] / 2, to["y"] + to["height"] / 2)
    fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    page.wait_for_timeout(wait)
    for part in (0.3, 0.6, 1):
        at = {"x": x + part * (goal[0] - x), "y": y + part * (goal[1] - y)}
        fingers.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [at]})
        page.wait_for_timeout(40)
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def drag(page, start, end):
    """Drag with the mouse from the middle of one element to that of another."""
    box, to = start.bounding_box(), end.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(to["x"] + to["width"] / 2, to["y"] + 10, steps=5)
    page.mouse.up()


def test_a_whole_sort_by_mouse(visit):
    sort = Sort(cards=texts(), begun=False)
    page = visit(sort)
    page.get_by_role("button", name="Start").click()
    card(page, "Robin").click()
    card(page, "Owl").click(modifiers=["Shift"])
    assert page.locator("#selected-count").text_content() == "4 selected"
    page.locator("#new-group").click()
    card(page, "Salmon").click()
    card(page, "Shark").click(modifiers=["Control"])
    drag(page, card(page, "Salmon"), page.locator("#new-group"))
    drag(page, card(page, "Trout"), page.locator(".group[data-drop]").nth(1))
    for name in ("Wolf", "Fox"):
        card(page, name).click()
        page.locator("#chips button").nth(2).click()
    page.locator(".group-name").nth(1).fill("Fish")
    page.locator("#hand-in").click()
    assert "not sorted yet: 1." in page.locator("#submit-text").text_content()
    page.get_by_role("button", name="Keep sorting").click()
    card(page, "Cat").click()
    page.locator(".group .here").nth(2).click()
    page.locator("#undo").click()
    assert page.locator("#unsorted-count").text_content() == "1"
    page.locator("#redo").click()
    settled(page)
    assert groups_of(sort) == WHOLE
    assert [group["name"] for group in sort.state["groups"]] == ["", "Fish", ""]
    page.locator("#hand-in").click()
    page.get_by_role("heading", name="Thank you!").wait_for()
    assert sort.handed_in


@pytest.mark.slow
def test_a_whole_sort_by_touch(visit):
    sort = Sort(cards=texts())
    page = visit(sort, 390, 844, has_touch=True, is_mobile=True)
    assert page.locator("#several").is_hidden()
    for name in ("Robin", "Sparrow", "Wolf", "Eagle", "Wolf"):  # the second tap on a card takes it back
        card(page, name).tap()
    assert page.locator("#selected-count").text_content() == "3 selected"
    page.locator("#chips button").last.tap()  # a new group
    card(page, "Owl").tap()
    page.locator("#chips button").first.tap()
    card(page, "Salmon").tap()
    page.locator("#move-to").tap()
    page.locator("#move-options button", has_text="New group").tap()
    fish = page.locator(".group[data-drop]").nth(1)
    hold_and_drag(page, card(page, "Trout"), fish)
    hold_and_drag(page, card(page, "Shark"), fish)
    for name in ("Wolf", "Fox", "Cat"):
        card(page, name).tap()
        page.locator("#chips button").nth(2).tap()
    settled(page)
    assert groups_of(sort) == WHOLE
    page.locator("#hand-in").tap()
    page.get_by_role("heading", name="Thank you!").wait_for()


def test_where_there_is_a_mouse_too_each_click_selects_one(visit):
    page = visit(Sort(cards=texts()), has_touch=True)
    card(page, "Robin").tap()
    card(page, "Owl").tap()
    assert page.locator(".card.selected").count() == 2
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".card.selected").count() == 1
    card(page, "Robin").tap()
    card(page, "Eagle").click()
    assert page.locator(".card.selected").count() == 1
    assert page.locator(".unsorted .here").get_attribute("aria-disabled") == "true"  # it lies there already
    assert page.locator("#look").is_hidden()  # no card has a picture or a description


def test_a_finger_that_moves_at_once_scrolls_and_drags_nothing(visit):
    sort = filled(Sort(cards=pictures(40)), "Birds")
    page = visit(sort, 390, 844, has_touch=True, is_mobile=True)
    hold_and_drag(page, card(page, 15), card(page, 3), wait=0)
    page.wait_for_timeout(300)
    assert page.locator(".ghost, .card.selected").count() == 0
    assert page.evaluate("scrollY") > 0
    assert len(sort.changes) == 2


def test_a_whole_sort_by_keyboard_alone(visit):
    sort = Sort(cards=texts(), settings=StudySettings(group_names="required"))
    page = visit(sort)
    press = page.keyboard.press
    for _ in range(20):
        press("Tab")
        if isinstance(focused(page), int):
            break
    assert focused(page) == 1
    for _ in range(3):
        press("Shift+ArrowRight")
    press("1")  # makes the first group of four cards
    assert focused(page) == 5  # the next card that is not sorted
    press("2")
    assert focused(page) == 6
    press("Enter")
    press("ArrowRight")
    press("Control+Enter")
    press("2")
    assert focused(page) == 8
    press("3")
    press("3")
    press("7")
    page.get_by_text("There is no group 7.").wait_for()
    press("0")  # is not sorted yet: nothing happens
    press("3")
    settled(page)
    assert groups_of(sort) == WHOLE
    page.get_by_text("Cat is now in Group 3. Not sorted yet: 0.").wait_for()
    assert focused(page) == "unsorted-title"
    card(page, "Cat").focus()
    press("Delete")
    assert focused(page) == 9  # the card before it in its group
    press("Control+z")
    settled(page)
    assert groups_of(sort) == WHOLE
    page.locator("#hand-in").focus()
    press("Enter")
    page.get_by_role("heading", name="Please name every group").wait_for()
    press("Enter")
    for name in ("Birds", "Fish", "Mammals"):
        page.locator(".group-name:focus").wait_for()
        page.keyboard.type(name)
        press("Enter")
        assert focused(page) == "here"
        for _ in range(10):
            press("Tab")
            if focused(page) in ("group-name", "new-group"):
                break
    page.locator("#hand-in").focus()
    press("Enter")
    page.get_by_role("heading", name="Thank you!").wait_for()
    assert [group["name"] for group in sort.state["groups"]] == ["Birds", "Fish", "Mammals"]


@pytest.mark.slow
def test_undo_takes_back_every_kind_of_change_and_redo_does_it_again(visit):
    sort = filled(Sort(cards=texts()), "Birds", "Fish")
    page = visit(sort)
    start = sort.state["groups"]
    page.locator("#new-group").click()
    page.keyboard.type("Mine")
    page.keyboard.press("Enter")
    card(page, "Robin").click()
    card(page, "Eagle").click(modifiers=["Control"])
    page.locator(".group .here").nth(2).click()
    settled(page)
    end = sort.state["groups"]
    assert [group["name"] for group in end] == ["Birds", "Fish", "Mine"]
    assert end[2]["items"] == [1, 3]
    for _ in range(3):
        page.locator("#undo").click()
    settled(page)
    assert [{**group, "items": sorted(group["items"])} for group in sort.state["groups"]] == start
    assert page.locator("#undo").get_attribute("aria-disabled") == "true"
    for _ in range(3):
        page.locator("#redo").click()
    settled(page)
    assert sort.state["groups"] == end


def test_empty_groups_can_be_removed_and_others_cannot(visit):
    sort = filled(Sort(cards=texts()), "Birds")
    page = visit(sort)
    page.locator("#new-group").click()
    assert [button.is_visible() for button in page.locator(".group .remove").all()] == [False, True]
    page.locator(".group .remove >> visible=true").click()
    settled(page)
    assert [group["name"] for group in sort.state["groups"]] == ["Birds"]


def test_search_shows_what_is_found_and_moves_nothing_that_is_hidden(visit):
    sort = Sort(cards=texts([f"{'red' if number % 2 else 'blue'} {number}" for number in range(30)]))
    page = visit(sort)
    card(page, "red 1").first.click()
    page.locator("#search").fill("BLUE")
    assert page.locator("#found").text_content() == "15 of 30 found"
    assert page.locator("#unsorted .card >> visible=true").count() == 15
    assert page.locator("#bar").is_hidden()
    page.locator("#unsorted .pick >> visible=true").first.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("1")
    settled(page)
    assert groups_of(sort) == {frozenset(range(1, 31, 2))}


def test_a_closed_sort_offers_its_categories_and_no_others(visit):
    sort = Sort(
        kind="closed", cards=texts(), settings=StudySettings(categories=("Birds", "Others"), all_sorted="required")
    )
    page = visit(sort)
    assert page.locator("#new-group, .group-name").count() == 0
    assert page.locator(".group-title").all_text_contents() == ["Birds", "Others"]
    card(page, "Robin").click()
    page.keyboard.press("3")
    page.get_by_text("There is no group 3.").wait_for()
    page.keyboard.press("1")
    settled(page)
    assert groups_of(sort) == {frozenset({1})}
    page.locator("#hand-in").click()
    page.get_by_role("heading", name="Please sort all cards").wait_for()
    assert page.locator("#hand-in-anyway").is_hidden()


def test_a_picture_can_be_enlarged_and_the_others_reached_from_there(visit):
    page = visit(Sort(cards=pictures(4)))
    card(page, 2).hover()
    page.get_by_role("button", name="Enlarge Card 2").click()
    picture = page.locator("#zoom-picture")
    assert picture.get_attribute("src") == "/pictures/2"
    page.keyboard.press("ArrowRight")
    assert picture.get_attribute("src") == "/pictures/3"
    page.locator("#zoom-previous").click()
    page.locator("#zoom-previous").click()
    assert page.locator("#zoom-title").text_content() == "Card 1"
    page.keyboard.press("Escape")
    page.locator(".card[data-item='1'] .pick:focus").wait_for()


def test_escape_gives_up_a_drag(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    box = card(page, "Robin").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    target = page.locator("#new-group").bounding_box()
    page.mouse.move(target["x"] + 20, target["y"] + 20, steps=4)
    assert page.locator(".ghost").count() == 1
    page.keyboard.press("Escape")
    page.mouse.up()
    assert page.locator(".ghost").count() == 0
    assert sort.changes == []
