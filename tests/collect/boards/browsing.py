"""What the tests of the boards in a browser have in common."""

from consilience.collect.participant.pages import PageCard
from consilience.collect.settings.model import StudySettings
from tests.collect.boards.board_server import Sort

ANIMALS = ["Robin", "Sparrow", "Eagle", "Owl", "Salmon", "Trout", "Shark", "Wolf", "Fox", "Cat"]
RIGHT_TO_LEFT = ["אדום", "כחול", "ירוק", "צהוב", "לבן", "שחור", "ורוד", "סגול"]
HARD = ["x" * 120, "<b>bold</b> & {braces}", "A long text on opening hours " * 8, "-1 + 2", "مرحبا", "Åland"]


def texts(names=ANIMALS):
    """Cards of text, numbered from one."""
    return [PageCard(number, name) for number, name in enumerate(names, 1)]


def pictures(number):
    """Cards of pictures alone."""
    return [PageCard(each, "", f"/pictures/{each}", f"/pictures/{each}") for each in range(1, number + 1)]


def both(names=ANIMALS):
    """Cards of a picture and a text."""
    return [PageCard(number, name, f"/pictures/{number}") for number, name in enumerate(names, 1)]


def filled(sort, *names, each=2):
    """Let groups of the names hold the first cards."""
    items = [card.number for card in sort.cards]
    for place, name in enumerate(names):
        group = f"g{place + 1}"
        sort.change(kind="move", items=items[place * each : (place + 1) * each], group=group)
        sort.change(kind="name", group=group, name=name)
    return sort


def looks():
    """Boards that differ in how they look, by name."""
    hebrew = {
        "title": "צבעים",
        "cards": texts(RIGHT_TO_LEFT),
        "settings": StudySettings(language="he", direction="rtl"),
    }
    return {
        "piles": filled(Sort(cards=both(ANIMALS * 2), total=3), "Birds", "", each=3),
        "sheet": filled(Sort(board="sheet", cards=pictures(20)), "Round", "", each=3),
        "piles rtl": filled(Sort(**hebrew), "בהיר"),
        "sheet rtl": filled(Sort(board="sheet", **hebrew), "בהיר"),
        "long": filled(Sort(title="y" * 90, cards=texts(HARD)), "A very long name of a group " * 6, "z" * 150),
        "long sheet": filled(Sort(board="sheet", cards=texts(HARD)), "A very long name of a group " * 6, "z" * 150),
    }


def groups_of(sort, names=None):
    """The groups that arrived at the server: sets of numbers, or of names, of cards; empty ones are left out."""
    named = {card.number: card.text for card in sort.cards} if names else {}
    groups = [frozenset(named.get(item, item) for item in group["items"]) for group in sort.state["groups"]]
    return {group for group in groups if group}


def card(page, name):
    """The button of a card, by its text or its number."""
    if isinstance(name, int):
        return page.locator(f".card[data-item='{name}'] .pick")
    return page.locator("#board .card .pick", has_text=name)


def focused(page):
    """Number of the card that has the focus, or the id or class of another element."""
    return page.evaluate(
        "() => { const e = document.activeElement; const c = e.closest('.card');"
        " return c ? Number(c.dataset.item) : e.id || e.className || e.tagName; }"
    )


def let_forms_come(page):
    """Let the seconds pass after which a page shows forms, because the scripts of the board did not come."""
    longest = page.evaluate(
        "() => Math.max(0, ...document.getAnimations().map((one) => one.finish() ?? one.effect.getTiming().delay))"
    )
    assert longest <= 8000  # milliseconds


def settled(page):
    """Wait until the server has everything."""
    page.locator("#status[data-status=saved]").wait_for()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
