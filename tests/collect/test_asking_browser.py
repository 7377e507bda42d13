"""Labels and pairs in a real browser: by keys, without scripts, in other languages; legible, and nothing is lost."""

import pytest

from consilience.collect.creation.demo import picture
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.wording.wording import Wording

from .conftest import hurry
from .test_asking import CLASSES, NAMES, asking
from .test_languages_browser import require_legible

CALM = 450  # milliseconds after a page came, before which it takes no click, unless it is hurried
QUICK = [("labels", "ar", 390), ("pairs", "en", 390)]
LOOKS = [
    (kind, language, width)
    for kind in ("labels", "pairs")
    for language in ("en", "de", "ar", "ja")
    for width in (390, 1440)
]


def begin(shown, study, wording):
    shown.goto(f"/join/{study.join_token}")
    shown.get_by_role("button", name=wording["start"], exact=True).click()
    at(shown, wording, 1)


def at(shown, wording, number, total=3):
    shown.locator("#way", has_text=wording.fill("judge_progress", number=number, total=total)).wait_for()
    shown.locator(".keys:not([hidden])").wait_for(state="attached")  # the script takes keys


def said_in(store, study):
    """What was answered to each question of the last person, in order."""
    given = store.assignments(study.id)[-1]
    group_of = {item: group.id for group in store.board_state(given.id).groups for item in group.items}
    return [group_of.get(number) for number in given.items]


@pytest.mark.parametrize(
    ("kind", "language", "width"),
    [*QUICK, *(pytest.param(*look, marks=pytest.mark.slow) for look in LOOKS if look not in QUICK)],
)
def test_a_set_by_the_keyboard_alone_in_several_languages(page, sqlite_store, kind, language, width):
    page.set_viewport_size({"width": width, "height": 844})
    cards = [Item(number, f"{'long' * 20}{number}", description="What it is") for number in range(6)]
    study = asking(sqlite_store, kind, cards, subset_size=3, language=language)
    wording = Wording(language)
    page.goto(f"/join/{study.join_token}")
    require_legible(page)
    page.get_by_role("button", name=wording["start"], exact=True).focus()
    page.keyboard.press("Enter")
    at(page, wording, 1)
    assert page.locator(".keys").is_visible() == page.locator(".key").first.is_visible() == (width > 480)
    require_legible(page)
    page.keyboard.press("2" if kind == "labels" else "d")
    at(page, wording, 2)
    page.keyboard.press("0")
    at(page, wording, 3)
    page.keyboard.press("Backspace")
    at(page, wording, 2)
    assert page.locator("button[aria-pressed=true]").get_attribute("value") == "c0"
    page.keyboard.press("9")  # no answer
    page.keyboard.press("Control+1")  # the browser's own
    page.keyboard.press("1")
    at(page, wording, 3)
    page.locator(".answers button").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=wording["all_answered"]).wait_for()
    require_legible(page)
    assert said_in(sqlite_store, study) == ["c2", "c1", "c1"]
    page.get_by_role("button", name=wording["hand_in"], exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=wording["thanks"]).wait_for()


def test_without_scripts(page, address, sqlite_store):
    study = asking(sqlite_store, "pairs", subset_size=3)
    context = page.context.browser.new_context(base_url=address, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"/join/{study.join_token}")
    plain.get_by_role("button", name="Start").click()
    assert not plain.get_by_text("Backspace").is_visible()
    for number, name in enumerate(("Same", "Different", "I cannot say"), 1):
        plain.get_by_text(f"Question {number} of 3").wait_for()
        plain.get_by_role("button", name=name).click()
    plain.get_by_role("link", name="Previous").click()
    plain.get_by_role("button", name="Same").click()
    plain.get_by_role("button", name="Hand in").click()
    plain.get_by_role("heading", name="Thank you!").wait_for()
    assert said_in(sqlite_store, study) == ["c1", "c2", "c1"]
    context.close()


def test_a_double_click_answers_one_question(page, sqlite_store):
    page.context.unroute("**/static/*/judge.js")  # as it is
    study, wording = asking(sqlite_store, subset_size=3), Wording("en")
    begin(page, study, wording)
    page.wait_for_timeout(CALM)
    page.locator(".answers button").first.dblclick()
    at(page, wording, 2)
    page.wait_for_timeout(CALM)
    assert said_in(sqlite_store, study) == ["c1", None, None]


@pytest.mark.slow
def test_pictures_and_many_long_classes_fit_a_phone(page, address, sqlite_store):
    import numpy as np

    pictures = [picture(np.full((8, 8), shade)) for shade in (0, 8, 16)]
    items = [Item(number, f"p{number}", picture=one.hash, alt=f"grey {number}") for number, one in enumerate(pictures)]
    names = ("x" * 150, "A long class with many words in it, too many for a button", *CLASSES, *map(str, range(15)))
    settings = StudySettings(categories=names, subset_size=3)
    made = sqlite_store.create_study("y" * 90, items, kind="labels", settings=settings, pictures=pictures)
    study = sqlite_store.open_study(made.id)
    context = page.context.browser.new_context(
        base_url=address, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}
    )
    hurry(context)
    phone = context.new_page()
    begin(phone, study, Wording("en"))
    require_legible(phone)
    assert not phone.locator(".keys").is_visible()
    phone.locator(".answers button").nth(18).tap()
    at(phone, Wording("en"), 2)
    assert said_in(sqlite_store, study)[0] == "c19"
    context.close()


def test_nothing_that_was_answered_is_lost_by_a_reload_or_another_tab(page, sqlite_store):
    study, wording = asking(sqlite_store, names=NAMES[:6], subset_size=3), Wording("en")
    begin(page, study, wording)
    page.keyboard.press("3")
    at(page, wording, 2)
    page.reload()
    at(page, wording, 2)
    tab = page.context.new_page()
    tab.goto("/sort")
    at(tab, wording, 2)
    tab.keyboard.press("1")
    at(tab, wording, 3)
    page.keyboard.press("2")  # the tab that shows the same question: the later answer holds
    at(page, wording, 3)
    assert said_in(sqlite_store, study) == ["c3", "c2", None]
