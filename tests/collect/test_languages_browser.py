"""From consent to the code by the keyboard alone, in four languages: legible, accessible, and nothing cut."""

import pytest

from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.wording.wording import Wording

from .collecting import begun
from .test_admin_browser import require_no_violation

CARDS = ["Apple", "Pear", "Nut", "Salt"]
PANEL = Panel(
    consent="# What this is\n\nYou sort *4 cards*.",
    before=(Question("age", "How old are you?", "number", required=True, least=18),),
    after=(Question("hard", "How hard was it?", "choice", options=("Easy", "Hard")),),
    endings={"complete": Completion("C1ABC", "https://panel.example/done?code={code}")},
    keep_days=30,
)
QUICK = ("ar", 390)
LOOKED_AT = ("consent", "questions", "board", "end")  # in the quick one, with axe
LOOKS = [(language, width) for language in ("en", "de", "ar", "ja") for width in (390, 1440)]
CUT = """() => [...document.querySelectorAll("button, summary, h1, h2, label, legend, .facts span, p, a")]
    .filter((one) => one.offsetWidth > 1 && !one.closest(".unseen"))
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
    .map((one) => one.outerHTML.slice(0, 120))"""
OFF = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def require_legible(page):
    require_no_violation(page)
    assert page.evaluate(OFF) <= 0
    assert page.evaluate(CUT) == []


def go_to(page, wanted):
    """Press Tab until something has the focus."""
    for _ in range(60):
        if wanted.first.evaluate("(one) => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {wanted}")


def press(page, wanted, key="Enter"):
    go_to(page, wanted)
    page.keyboard.press(key)


def go_through(page, wording):
    """Take part by the keyboard, and yield the name of each page that is shown."""

    def button(key):
        return page.get_by_role("button", name=wording[key], exact=True)

    yield "consent"
    press(page, page.locator("#agreed"), "Space")
    press(page, button("consent_go_on"))
    page.get_by_role("textbox").wait_for()
    go_to(page, page.get_by_role("textbox"))
    yield "questions"
    page.keyboard.type("33")
    press(page, button("questions_go_on"))
    button("start").wait_for()
    yield "instructions"
    press(page, button("start"))
    page.locator("#board").wait_for()
    go_to(page, page.locator("#unsorted .pick").first)
    for key in ("1", "1", "2"):
        page.keyboard.press(key)
    yield "board"
    press(page, button("hand_in"))
    page.get_by_text(wording.fill("still_unsorted_text", count=1)).wait_for()
    yield "dialog"
    press(page, button("hand_in_anyway"))
    page.get_by_role("heading", name=wording["questions_after"]).wait_for()
    yield "last questions"
    press(page, page.get_by_role("radio").first, "Space")
    press(page, button("questions_go_on"))
    page.get_by_text("C1ABC").wait_for()
    yield "end"


@pytest.mark.parametrize(
    ("language", "width"), [pytest.param(*look, marks=() if look == QUICK else pytest.mark.slow) for look in LOOKS]
)
def test_from_consent_to_the_code_by_the_keyboard(page, sqlite_store, language, width):
    study = begun(sqlite_store, CARDS, languages=("de", "ar", "ja"), panel=PANEL, group_names="none")
    page.set_extra_http_headers({"Accept-Language": language})
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"/join/{study.join_token}")
    shown = []
    for name in go_through(page, Wording(language)):
        if (language, width) != QUICK or name in LOOKED_AT:
            require_legible(page)
        assert page.locator("html").get_attribute("lang") == language
        shown.append(name)
    assert len(shown) == 7
    [person] = sqlite_store.participants(study.id)
    assert person.language == language
    assert sqlite_store.assignments(study.id)[0].state == "submitted"
    press(page, page.locator(".languages summary"))
    assert page.evaluate(CUT) == []
    press(page, page.get_by_role("button", name="Deutsch"))
    page.get_by_role("heading", name="Vielen Dank!").wait_for()


def test_scripts_speak_in_the_plural_of_the_language(page, sqlite_store):
    study = begun(sqlite_store, [f"card {number}" for number in range(6)], language="ru")
    page.goto(f"/join/{study.join_token}")
    page.get_by_role("button", name="Начать").click()
    for count, word in ((2, "карточки теперь"), (4, "карточки теперь")):
        page.locator("#unsorted .pick").first.focus()
        if count == 2:
            page.keyboard.press("Shift+ArrowRight")
        else:
            page.keyboard.press("Control+a")
        page.keyboard.press("1")
        page.get_by_text(f"{count} {word} в группе «Группа 1».").wait_for()
    said = page.evaluate(
        """async () => {
            const place = document.querySelector("script[type=module]").src.replace("main", "texts");
            const { fill, textFor } = await import(place);
            const { texts } = JSON.parse(document.getElementById("board-data").textContent);
            return [1, 5, 21, 111, 1234].map((count) => fill(textFor(texts.moved_many, texts[""], count), { count }));
        }"""
    )
    words = [one.split(" теперь")[0].replace("\N{NO-BREAK SPACE}", " ") for one in said]
    assert words == ["1 карточка", "5 карточек", "21 карточка", "111 карточек", "1 234 карточки"]
