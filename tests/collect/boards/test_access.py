"""The pages for everybody: what axe finds, sizes of targets, narrow and wide screens, hard names, forced colours."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe

from tests.collect.boards.board_server import Sort
from tests.collect.boards.browsing import card, let_forms_come, looks, pictures, settled, texts
from tests.pages import VIOLATIONS
from tests.quick_cases import some_quick

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(page):
    found = Axe().run(page, options=RULES | VIOLATIONS)
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found.response["violations"]]


QUICK = {"piles": "dark", "sheet": None, "piles rtl": None, "sheet rtl": "light"}


@pytest.mark.parametrize(
    ("look", "scheme"),
    [
        pytest.param(look, scheme, marks=() if scheme == quick else pytest.mark.slow)
        for look, quick in QUICK.items()
        for scheme in ("light", "dark")
    ],
)
def test_axe_finds_nothing_to_mend(visit, look, scheme):
    page = visit(looks()[look], 390 if "rtl" in look else 1280, color_scheme=scheme)
    assert violations(page) == []
    page.locator("#board .pick").first.click()
    page.locator("#instructions-button").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # clears the selection, in whose place a narrow screen shows the end of the sort
    page.locator("#hand-in").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    if look == "piles":
        page.locator("#unsorted .pick").nth(1).click()
        page.locator("#move-to").click()
        assert violations(page) == []
        page.keyboard.press("Escape")
    elif look == "sheet":
        page.locator("#names-button").click()
        assert violations(page) == []
        page.keyboard.press("Escape")
    if "rtl" not in look:
        page.locator("#board .pick").first.focus()
        page.keyboard.press("z")
        assert violations(page) == []


@pytest.mark.slow
def test_axe_finds_nothing_on_the_other_pages_and_without_scripts(browser, serve, visit):
    sort = Sort(cards=texts(), begun=False)
    page = visit(sort, 390)
    assert violations(page) == []
    sort.handed_in = True
    page.reload()
    assert violations(page) == []
    for look in ("piles", "sheet"):  # axe is a script: the forms are looked at where the board's script is cut off
        cut = browser.new_page()
        cut.route("**/board/main.js", lambda route: route.abort())
        cut.goto(serve(looks()[look]))
        let_forms_come(cut)
        cut.locator("#plain-move button").first.wait_for(timeout=8000)
        assert violations(cut) == []
        cut.close()


SMALL = """() => [...document.querySelectorAll('button, input, textarea, a')].filter((e) => {
  const box = (e.closest('label') ?? e).getBoundingClientRect();
  return e.checkVisibility() && box.width && (box.width < 24 || box.height < 24);
}).map((e) => e.outerHTML)"""
WIDER = """() => [...document.querySelectorAll('body *')].filter((e) => {
  const box = e.getBoundingClientRect();
  return e.checkVisibility() && !e.closest('.unseen, .chips, .choices')
    && (box.right > innerWidth + 1 || box.left < -1);
}).map((e) => e.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("look", some_quick(looks(), 2))
def test_targets_are_large_and_nothing_is_wider_than_the_screen(visit, look):
    page = visit(looks()[look])
    for width in (360, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        page.locator("#board .pick").first.click()
        assert page.evaluate("innerWidth") == width
        assert page.evaluate(SMALL) == [], width
        assert page.evaluate(WIDER) == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_the_card_that_has_the_focus_is_not_hidden_by_what_sticks_to_the_edges(visit):
    page = visit(Sort(cards=pictures(40)), 390, 700)
    card(page, 1).click()
    uncovered = """() => { const box = document.activeElement.getBoundingClientRect();
      const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      return document.activeElement.contains(at); }"""
    for key in [*39 * ["ArrowRight"], *13 * ["ArrowUp"]]:
        page.keyboard.press(key)
        page.wait_for_function(uncovered, timeout=5000)  # once the page has scrolled


def test_a_list_is_one_stop_of_the_tab_key(visit):
    page = visit(looks()["piles"])
    stops = "list => [...list.querySelectorAll('.pick')].filter((e) => e.tabIndex === 0).length"
    assert [lists.evaluate(stops) for lists in page.locator("#board ul.cards").all()] == [1, 1, 1]
    page.locator("#unsorted .pick").nth(4).click()
    assert page.locator("#unsorted").evaluate(stops) == 1
    assert page.locator("#unsorted .pick").nth(4).evaluate("e => e.tabIndex") == 0


def test_names_of_any_kind_are_shown_as_they_are(visit):
    sort = looks()["long"]
    page = visit(sort)
    assert card(page, 2).text_content() == "<b>bold</b> & {braces}"
    name = page.locator(".group-name").first
    name.fill('</script><img src=x onerror="alert(1)">')
    name.press("Enter")
    settled(page)
    page.reload()
    assert page.locator(".group-name").first.input_value() == '</script><img src=x onerror="alert(1)">'
    assert page.locator("img[src=x]").count() == 0


def test_a_picture_that_does_not_load_gives_way_to_its_name(visit):
    sort = Sort(cards=pictures(3))
    sort.cards[1] = type(sort.cards[1])(2, "", "/pictures/none", None, "A red circle")
    page = visit(sort)
    page.locator(".card-text", has_text="A red circle").wait_for()


@pytest.mark.slow
def test_selection_can_be_seen_in_forced_colours_and_nothing_moves_where_motion_is_unwanted(visit):
    page = visit(looks()["piles"], forced_colors="active", reduced_motion="reduce")
    first = page.locator("#unsorted .pick").first
    first.click()
    style = first.evaluate("e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).transitionDuration]")
    assert style == ["solid", "0s"]
    assert first.evaluate("e => getComputedStyle(e, '::after').content").startswith('"✓"')
