"""Nothing that a participant does is lost: reloads, lost connections, two tabs, servers that fail; and no scripts."""

import json
import random
import time

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.settings.model import StudySettings
from consilience.collect.store.board_state import fold, initial
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import card, filled, groups_of, let_forms_come, pictures, settled, texts
from tests.quick_cases import some_quick


def put(page, name, place):
    """Move a card to the group at a place, made if it is the next."""
    card(page, name).click()
    page.keyboard.press(str(place))


def status(page):
    return page.locator("#status").get_attribute("data-status")


def stored(page):
    """Changes kept on the device."""
    kept = page.evaluate(
        "Object.keys(localStorage).filter((k) => k.startsWith('consilience/')).map((k) => localStorage[k])"
    )
    return [change for text in kept for change in json.loads(text)]


@pytest.mark.slow
def test_a_reload_in_the_middle_shows_what_was_there(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    put(page, "Robin", 1)
    put(page, "Salmon", 2)
    settled(page)
    assert stored(page) == []
    page.reload()
    assert page.locator(".group .card-text").all_text_contents() == ["Robin", "Salmon"]
    assert page.locator("#count").text_content() == "2 of 10 sorted"


def test_changes_that_the_server_has_not_taken_survive_a_reload(visit):
    sort = Sort(cards=texts(), failing=10_000)
    page = visit(sort)
    put(page, "Robin", 1)
    put(page, "Owl", 1)
    page.locator("#status[data-status=saving]").wait_for()
    assert [change["kind"] for change in stored(page)] == ["group", "move", "move"]
    page.reload()
    assert page.locator(".group .card-text").all_text_contents() == ["Robin", "Owl"]
    put(page, "Eagle", 1)
    sort.failing = 0
    page.reload()
    settled(page)
    assert groups_of(sort) == {frozenset({1, 3, 4})}
    assert stored(page) == []


def test_an_answer_that_gets_lost_does_not_double_the_change(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    page.route("**/sort/changes", lambda route: (route.fetch(), route.abort()))
    put(page, "Robin", 1)
    page.locator("#status[data-status=offline]").wait_for()
    assert len(sort.changes) == 2  # they did arrive
    page.unroute("**/sort/changes")
    page.evaluate("dispatchEvent(new Event('online'))")
    settled(page)
    assert [change["kind"] for _, change in sort.changes[:2]] == ["group", "move"]
    assert [change["kind"] for change in sort.handled] == ["group", "move"]


def test_offline_and_back(visit):
    sort = Sort(cards=texts(), settings=StudySettings(all_sorted=False))
    page = visit(sort)
    page.context.set_offline(True)
    put(page, "Robin", 1)
    put(page, "Salmon", 2)
    page.locator("#status[data-status=offline]").wait_for()
    assert page.locator("#status").text_content() == "Offline: kept on this device"
    page.locator("#hand-in").click()
    page.get_by_role("heading", name="There is no connection").wait_for()
    page.keyboard.press("Escape")
    page.locator("#undo").click()
    assert sort.changes == []
    page.context.set_offline(False)
    settled(page)
    page.get_by_text("The connection is back. Everything is saved.").wait_for()
    assert groups_of(sort) == {frozenset({1})}
    page.locator("#hand-in").click()
    page.get_by_role("heading", name="Thank you!").wait_for()


@pytest.mark.slow
def test_two_tabs_show_the_same(visit):
    sort = Sort(cards=texts())
    first = visit(sort)
    second = visit(sort, context=first.context)
    put(first, "Robin", 1)
    second.locator(".group .card", has_text="Robin").wait_for()
    put(second, "Robin", 2)
    put(second, "Owl", 1)
    first.locator(".group[data-drop]").nth(1).locator(".card", has_text="Robin").wait_for()
    settled(first)
    assert groups_of(sort) == {frozenset({1}), frozenset({4})}
    shown = [page.locator(".group .card-text").all_text_contents() for page in (first, second)]
    assert shown[0] == shown[1] == ["Owl", "Robin"]


@pytest.mark.slow
def test_groups_made_in_two_tabs_at_once_stay_two(visit):
    sort = Sort(cards=texts())
    first = visit(sort)
    second = visit(sort, context=first.context)
    first.context.set_offline(True)
    put(first, "Robin", 1)
    put(second, "Salmon", 1)
    first.context.set_offline(False)
    settled(first)
    settled(second)
    assert groups_of(sort) == {frozenset({1}), frozenset({5})}


def test_another_device_is_asked_for_when_the_page_is_looked_at(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    filled(sort, "Elsewhere")
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator(".group .card", has_text="Sparrow").wait_for()
    assert page.locator(".group-name").input_value() == "Elsewhere"


def test_a_refused_change_is_told_and_does_not_hold_up_the_next(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    sort.cards = sort.cards[1:]  # the server does not know Robin any more
    put(page, "Robin", 1)
    page.get_by_text("A change could not be saved: Item 1 is not on this board.").wait_for()
    put(page, "Salmon", 1)
    settled(page)
    assert groups_of(sort) == {frozenset({5})}


def test_a_set_that_was_handed_in_elsewhere_takes_no_more_changes(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    sort.handed_in = True
    put(page, "Robin", 1)
    page.get_by_text("This set has been handed in or closed.").wait_for()
    assert stored(page) == []
    page.get_by_role("link", name="Load the page again").click()
    page.get_by_role("heading", name="Thank you!").wait_for()


def test_a_tab_that_is_left_behind_moves_nothing(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    put(page, "Robin", 1)
    settled(page)
    sort.handed_in = True
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.get_by_role("link", name="Load the page again").wait_for()
    page.evaluate("() => document.querySelector('.card[data-item=\"4\"] .pick').click()")  # a finger cannot any more
    page.keyboard.press("1")
    assert page.locator(".group .card-text").all_text_contents() == ["Robin"]
    assert page.locator("#count").text_content() == "1 of 10 sorted"
    assert stored(page) == []


@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_a_name_that_is_being_typed_survives_a_reload_at_once(visit, board):
    sort = filled(Sort(board=board, cards=pictures(4)), "")
    page = visit(sort)
    sort.failing = 10_000
    type_name(page, board, "Bir")
    assert [change["name"] for change in stored(page)][-1:] == ["Bir"]
    sort.failing = 0
    page.reload()
    page.wait_for_function("() => Object.keys(localStorage).length === 0")
    assert [group["name"] for group in sort.state["groups"]] == ["Bir"]


@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_a_name_is_sent_while_it_is_typed_and_when_the_page_goes(visit, board):
    sort = filled(Sort(board=board, cards=pictures(4)), "")
    page = visit(sort)
    with page.expect_request("**/sort/changes", timeout=800 + 2000):  # the browser itself takes its time
        type_name(page, board, "Bi")
    page.keyboard.type("rds")
    page.goto("about:blank")
    wait_until(lambda: [group["name"] for group in sort.state["groups"]] == ["Birds"])


def type_name(page, board, name):
    if board == "sheet":
        page.locator("#names-button").click()
        page.locator("#names-fields input").first.click()
    else:
        page.locator(".group-name").first.click()
    page.keyboard.type(name)


def wait_until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_browser_that_keeps_nothing_says_so_until_all_is_saved(visit):
    sort = Sort(cards=texts())
    page = visit(sort)
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    sort.failing = 1
    put(page, "Robin", 1)
    page.locator("#status[data-status=not_kept]").wait_for()
    settled(page)
    assert groups_of(sort) == {frozenset({1})}


@pytest.mark.parametrize("board", some_quick(["piles", "sheet"]))
def test_a_whole_sort_without_scripts(visit, board):
    sort = Sort(board=board, cards=pictures(4), begun=False)
    page = visit(sort, 360, 740, java_script_enabled=False)
    page.get_by_role("button", name="Start").click()
    for items, into in [((1, 2), "New group"), ((3,), "New group"), ((2,), "2 Group 2")]:
        for item in items:
            page.locator(f"input[name=items][value='{item}']").check()
        page.locator("#plain-move").get_by_role("button", name=into).click()
    page.get_by_label("Name of group 2").fill("Square")
    page.get_by_role("button", name="Save name").nth(1).click()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("1 card is not in a group yet.").wait_for()
    assert not sort.handed_in
    page.get_by_label("Hand in although cards are not sorted yet: 1").check()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_role("heading", name="Thank you!").wait_for()
    assert groups_of(sort) == {frozenset({1}), frozenset({2, 3})}
    assert [group["name"] for group in sort.state["groups"]] == ["", "Square"]


def test_the_plain_forms_are_there_if_the_scripts_do_not_come(browser, serve):
    page = browser.new_page()
    page.route("**/board/state.js", lambda route: route.abort())
    page.goto(serve(Sort(cards=texts())))
    button = page.locator("#plain-move button").first
    assert not button.is_visible()
    let_forms_come(page)
    button.wait_for(timeout=8000)
    page.close()


def random_changes(rng, presented, many):
    """Changes that the store allows, whether or not they make sense."""
    for _ in range(many):
        kind = rng.choice(["move", "move", "move", "group", "name", "remove"])
        group = rng.choice(["c1", "c2", "g1", "g2", "g3"] if kind == "move" else ["g1", "g2", "g3"])
        if kind == "move":
            items = rng.sample(presented, rng.randint(1, 3))
            yield {"kind": "move", "items": items, "group": rng.choice([None, group])}
        elif kind == "name":
            yield {"kind": "name", "group": group, "name": rng.choice(["Birds", "", "鳥"])}
        else:
            yield {"kind": kind, "group": group}


def test_the_browser_folds_changes_as_the_server_does_and_can_undo_them_all(visit):
    rng = random.Random(5)
    presented = [3, 1, 4, 2, 6, 5]
    page = visit(Sort(cards=texts()))
    script = """async ([start, changes, presented]) => {
      const { applyAll, inverseOfAll } = await import('/static/board/state.js');
      const end = applyAll(start, changes, presented);
      return [end, applyAll(end, inverseOfAll(start, changes, presented), presented)];
    }"""
    start = initial(1, presented, ("Mammals", "Birds"))
    for _ in range(100):
        changes = list(random_changes(rng, presented, 12))
        end, undone = page.evaluate(script, [start.as_json(), changes, presented])
        received = [(str(place), {"sequence": 0, **change}) for place, change in enumerate(changes)]
        assert {**end, "version": 12} == fold(start, received, presented).as_json()
        assert undone == start.as_json()
