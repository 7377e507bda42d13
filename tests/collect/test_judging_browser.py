"""Judging in a real browser: by mouse, finger, keys and without scripts; legible and accessible; and its results."""

import itertools

import pytest

from consilience.collect.creation.judging import judge_consensus
from consilience.collect.results.judging import results_of

from .conftest import hurry
from .judges import ask_judges, judged_animals, judged_digits, judged_sort, odd_place
from .test_admin_browser import in_turn, log_in, take_look
from .test_panel_browser import require_legible

LOOKS = [
    (360, "light", "ltr"),
    (1280, "dark", "rtl"),
    (360, "dark", "rtl"),
    (1280, "dark", "ltr"),
    (1920, "light", "rtl"),
]
QUICK = [("digits", *LOOKS[0]), pytest.param("animals", *LOOKS[1], marks=pytest.mark.slow)]
SLOW = [pytest.param("both", *look, marks=pytest.mark.slow) for look in LOOKS]
CALM = 450  # milliseconds after a page came, before which it takes no answer, unless it is hurried


def begin(shown, study):
    shown.goto(f"/join/{study.join_token}")
    shown.get_by_role("button", name="Start").click()
    at(shown, 1)


def at(shown, number):
    shown.locator("#way", has_text=f"Question {number} of").wait_for()
    shown.locator(".keys:not([hidden])").wait_for(state="attached")  # the script takes keys


def given(store, study):
    """What the last participant was asked."""
    return store.asked(store.participants(study.id)[-1].id)


@pytest.mark.parametrize(("which", "width", "scheme", "direction"), QUICK + SLOW)
def test_every_page_of_a_judge_is_legible(page, sqlite_store, which, width, scheme, direction):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    studies = []
    if which != "digits":
        studies.append(judged_animals(sqlite_store, direction=direction, per_participant=1))
    if which != "animals":
        studies.append(judged_digits(sqlite_store))
    for study in studies:
        page.goto(f"/join/{study.join_token}")
        require_legible(page)
        page.get_by_role("button", name="Start").click()
        at(page, 1)
        require_legible(page)
        boxes = [one.bounding_box() for one in page.locator(".odd").all()]
        assert len(boxes) == 4
        assert all(box["width"] >= 150 and box["height"] >= 100 for box in boxes)
        left_to_right = boxes[0]["x"] < boxes[1]["x"]
        assert left_to_right == (study.settings.direction != "rtl")
        if study.settings.per_participant == 1:
            page.locator(".odd").first.click()
            page.get_by_role("heading", name="Thank you!").wait_for()
            require_legible(page)


def test_long_texts_stay_in_their_cards(page, sqlite_store):
    page.set_viewport_size({"width": 360, "height": 800})
    words = ["x" * 150, "A long text on opening hours," * 6, "<b>bold</b> & {braces}", "מילה ארוכה"]
    names = [f"{word} {number}" for number in range(2) for word in words]
    source = sqlite_store.create_study("y" * 90, names)
    clusters = {name: name[-1] for name in names}
    study = sqlite_store.open_study(judge_consensus(sqlite_store, source, clusters=clusters).id)
    begin(page, study)
    require_legible(page)
    for one in page.locator(".odd").all():
        assert one.evaluate("(button) => button.scrollWidth <= button.clientWidth + 1")


def test_mouse_and_keys(page, sqlite_store):
    study = judged_animals(sqlite_store, per_participant=5)
    begin(page, study)
    page.locator(".odd").nth(2).click()
    at(page, 2)
    page.keyboard.press("4")
    at(page, 3)
    page.keyboard.press("0")
    at(page, 4)
    page.keyboard.press("Control+1")  # the browser's own
    page.keyboard.press("7")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    at(page, 5)
    page.get_by_role("button", name="I cannot say").click()
    page.get_by_role("heading", name="Thank you!").wait_for()
    asked = given(sqlite_store, study)
    places = [None if one.answer is None else one.shown.index(one.answer) + 1 for one in asked]
    assert places == [3, 4, None, 2, None]


@pytest.mark.slow
def test_fingers(page, address, sqlite_store):
    study = judged_digits(sqlite_store)
    context = page.context.browser.new_context(
        base_url=address, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}
    )
    hurry(context)
    phone = context.new_page()
    begin(phone, study)
    phone.locator(".odd").nth(1).tap()
    at(phone, 2)
    assert given(sqlite_store, study)[0].answer == given(sqlite_store, study)[0].shown[1]
    assert phone.evaluate("() => document.documentElement.scrollHeight <= window.innerHeight + 1")  # all in sight
    context.close()


def test_a_double_click_answers_one_question(page, sqlite_store):
    page.context.unroute("**/static/*/judge.js")  # as it is
    study = judged_animals(sqlite_store)
    begin(page, study)
    page.wait_for_timeout(CALM)
    page.locator(".odd").first.dblclick()
    at(page, 2)
    page.locator("main.judge").wait_for()
    assert [one.answered is not None for one in given(sqlite_store, study)] == [True, False]


@pytest.mark.slow
def test_reload_second_tab_and_back(page, sqlite_store):
    study = judged_animals(sqlite_store)
    begin(page, study)
    texts = page.locator(".said").all_inner_texts()
    page.reload()
    at(page, 1)
    assert page.locator(".said").all_inner_texts() == texts
    tab = page.context.new_page()
    tab.goto("/sort")
    at(tab, 1)
    page.keyboard.press("1")
    at(page, 2)
    tab.keyboard.press("3")
    at(tab, 2)
    first, second = given(sqlite_store, study)
    assert first.answer == first.shown[0]
    assert second.answered is None
    page.go_back()
    at(page, 2)  # the answer that was given stays


def test_without_scripts(page, address, sqlite_store):
    study = judged_animals(sqlite_store, per_participant=2)
    context = page.context.browser.new_context(base_url=address, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"/join/{study.join_token}")
    plain.get_by_role("button", name="Start").click()
    assert not plain.get_by_text("on the keyboard").is_visible()
    plain.locator(".odd").nth(3).click()
    plain.get_by_text("Question 2 of 2").wait_for()
    plain.get_by_role("button", name="I cannot say").click()
    plain.get_by_role("heading", name="Thank you!").wait_for()
    assert [one.answer for one in given(sqlite_store, study)] == [given(sqlite_store, study)[0].shown[3], None]
    context.close()


@pytest.mark.slow
def test_judges_who_know_the_clusters_are_seen_to(page, sqlite_store, password_hash):
    """From one click on the page of a sort to the shares: one judge answers in the browser, the others by the store."""
    sqlite_store.set_password_hash(password_hash)
    source, _ = judged_sort(sqlite_store)
    log_in(page)
    page.goto(f"/admin/studies/{source.id}")
    page.get_by_role("link", name="Judged by others").click()
    page.get_by_role("button", name="Make a study of the clusters").click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Questions that a person is asked").fill("3")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Open the study").click()
    link = page.get_by_label("Link for all judges").input_value()
    study = sqlite_store.studies()[0]
    page.goto(link)
    page.get_by_role("button", name="Start").click()
    for number in (1, 2, 3):
        at(page, number)
        page.keyboard.press(str(odd_place(sqlite_store, study, given(sqlite_store, study)[-1])))
    page.get_by_role("heading", name="Thank you!").wait_for()
    ask_judges(sqlite_store, study, 6, knows=1.0, guessers=0)
    page.goto(f"/admin/studies/{study.id}")
    assert page.locator(".figures dd").first.inner_text().split()[0] == "21"
    assert page.locator(".judged svg").count() == 1
    assert results_of(sqlite_store, study).found.overall["right"] == 1.0
    page.get_by_role("button", name="Leave out").first.click()
    page.get_by_text("The results are computed again.").wait_for()


@in_turn((360, "light"), (1280, "dark"), (360, "dark"))
@pytest.mark.slow
def test_pages_of_the_administration_are_legible(page, sqlite_store, password_hash, looks):
    looks = itertools.cycle(looks)
    sqlite_store.set_password_hash(password_hash)
    source, _ = judged_sort(sqlite_store)
    study = judged_animals(sqlite_store)
    first = ask_judges(sqlite_store, study, 6)[0]
    sqlite_store.exclude(first)
    log_in(page)
    own = f"/studies/{study.id}"
    for path in ("", own, f"{own}/judging/settings", f"{own}/people", f"/studies/{source.id}/judging", "/judging/new"):
        take_look(page, next(looks))
        page.goto(f"/admin{path}")
        page.evaluate("() => document.querySelectorAll('details').forEach((found) => { found.open = true; })")
        require_legible(page)
