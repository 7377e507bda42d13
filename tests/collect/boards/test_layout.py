"""What fits where: the end of the sort in sight, few lines of groups on a phone, whole words, words for fingers."""

from dataclasses import replace

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import both, card, filled, pictures, texts
from tests.quick_cases import some_quick

PHONE = {"width": 390, "height": 760, "has_touch": True, "is_mobile": True}
WORDS = [
    "Salted peanuts",
    "Telecommunications",
    "Check-in and check-out",
    "Sunflower seeds",
    "Tea",
    "Personal document",
]
GROUPS = [f"A name of group {number}" for number in range(1, 10)]
BROKEN = """(least) => [...document.querySelectorAll('.card-text')].flatMap((element) => {
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode())
    for (const word of walk.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(walk.currentNode, word.index);
      range.setEnd(walk.currentNode, word.index + word[0].length);
      if (word[0].length < least && range.getClientRects().length > 1) found.push(word[0]);
    }
  return found;
})"""


def height(page, selector):
    return page.locator(selector).bounding_box()["height"]


@pytest.mark.parametrize("board", ["piles", "sheet"])
@pytest.mark.parametrize("look", some_quick([PHONE, {"width": 1280, "height": 760}]))
def test_the_end_of_the_sort_is_in_sight_wherever_one_is(visit, board, look):
    page = visit(Sort(board=board, cards=both([f"card {number}" for number in range(60)])), **look)
    for _ in range(2):
        assert page.get_by_role("button", name="Hand in").count() == 1
        box = page.locator("#hand-in").bounding_box()
        assert 0 <= box["y"] <= look["height"] - box["height"]
        page.evaluate("() => scrollTo(0, document.body.scrollHeight)")


def test_many_groups_take_one_line_of_a_phone(visit):
    page = visit(filled(Sort(cards=texts([f"card {number}" for number in range(20)])), *GROUPS), **PHONE)
    card(page, "card 19").tap()
    assert height(page, ".foot") <= 110
    page.locator("#chips").get_by_role("button", name="New group").tap()  # in sight, though it is the last
    assert len(page.locator("#groups .group:not(.new)").all()) == 10


@pytest.mark.parametrize("kind", some_quick(["open", "closed"]))
@pytest.mark.parametrize("board", ["piles", "sheet"])
@pytest.mark.parametrize(("names", "hint"), [(GROUPS[:4], "1"), (["Sea"], "0")])
def test_groups_that_a_phone_does_not_show_are_hinted_at(visit, board, kind, names, hint):
    sort = Sort(board=board, kind=kind, cards=texts([f"card {number}" for number in range(20)]))
    if kind == "closed":
        sort.settings = StudySettings(categories=tuple(names))
    else:
        filled(sort, *names)
    page = visit(sort, **PHONE)
    if board == "piles":
        card(page, "card 19").tap()
    groups = page.locator("#chips" if board == "piles" else ".choices")
    assert groups.evaluate("e => getComputedStyle(e, '::after').opacity") == hint
    groups.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
    page.wait_for_function("e => getComputedStyle(e, '::after').opacity === '0'", arg=groups.element_handle())


def test_many_groups_take_one_line_beneath_a_sheet(visit):
    sort = filled(Sort(board="sheet", cards=pictures(20)), *GROUPS)
    page = visit(sort, **PHONE)
    assert height(page, ".foot") <= 120
    page.locator(".choice.new").tap()
    card(page, 20).tap()
    assert page.locator(".choice:has(:checked)").evaluate(
        "e => e.getBoundingClientRect().right <= innerWidth && e.getBoundingClientRect().left >= 0"
    )
    page.set_viewport_size({"width": 1280, "height": 760})
    page.locator(".areas > .legend").wait_for()


@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_words_that_fit_on_a_card_are_whole(visit, board):
    settings = StudySettings(language="de")
    names = [*WORDS, "Donaudampfschifffahrtsgesellschaftskapitänspatent"]
    page = visit(filled(Sort(board=board, cards=texts(names), settings=settings), "First"), 360)
    for width in (360, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        page.locator("#board").wait_for()
        assert page.evaluate("innerWidth") == width
        assert page.evaluate(BROKEN, 19) == [], width
        marked = page.locator(".too-long", has_text=names[-1])
        assert marked.evaluate("e => getComputedStyle(e).hyphens") == "auto", width


@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_fingers_are_told_nothing_of_mouse_and_keys(visit, board):
    for look, own, other in [(PHONE, "tap", "lick"), ({}, "lick", "tap")]:
        page = visit(Sort(board=board, cards=texts(), begun=False), **look)
        said = page.locator("main").inner_text().lower()
        assert own in said
        assert other not in said
        assert ("keyboard" in said) == (own == "lick")
    page = visit(Sort(board=board, cards=texts()), **PHONE)
    page.locator("#instructions-button").tap()
    assert "keyboard" not in page.locator("#instructions-dialog").inner_text().lower()


OVERLAPS = """() => [...document.querySelectorAll('#board .card')].flatMap((card) => {
  const boxOf = (one) => one.getBoundingClientRect();
  const covers = [...card.querySelectorAll(".zoom, .pick > .badge:not(.none)")].map(boxOf);
  const range = document.createRange();
  const boxes = [...card.querySelectorAll('img')].map((one) => one.getBoundingClientRect());
  for (const text of card.querySelectorAll('.card-text')) {
    range.selectNodeContents(text);
    const { bottom } = text.getBoundingClientRect();
    boxes.push(...[...range.getClientRects()].filter((box) => box.top < bottom - 1));
  }
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return covers.flatMap((a) => boxes.filter((b) => meet(a, b))
    .map((b) => `${card.textContent} ${a.left},${a.top} ${b.left},${b.top}`));
})"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("board", ["piles", "sheet"])
def test_neither_magnifier_nor_badge_covers_words_or_pictures(visit, board, width):
    cards = [*pictures(4), *(replace(one, number=one.number + 10) for one in both(["Robin", "Owl"]))]
    cards += [replace(one, number=one.number + 20) for one in texts(["A long text on opening hours " * 8, "x" * 150])]
    page = visit(filled(Sort(board=board, cards=cards), "Birds", each=7), width, 844)
    assert page.locator(".zoom").count() == 8
    assert page.evaluate(OVERLAPS) == []
