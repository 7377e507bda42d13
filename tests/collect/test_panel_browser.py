"""The way of people from a panel in a real browser: legible, accessible, to the code, and out by withdrawal."""

import pytest

from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.training import RightSort, Training

from .collecting import begun
from .test_admin_browser import require_no_violation

PANEL = Panel(
    consent="# What this is\n\nYou sort *4 cards*.",
    before=(
        Question("age", "How old are you?", "number", required=True, least=18),
        Question("diet", "What do you eat?", "choices", options=("Meat", "Fish")),
    ),
    after=(Question("hard", "How hard was it?", "choice", options=("Easy", "Hard")),),
    endings={"complete": Completion("C1ABC", "https://panel.example/done?code={code}")},
    keep_days=30,
)
COLOURS = RightSort.of_groups({"Red": ["cherry", "rose"], "Blue": ["sky", "sea"]})
LOOKS = [(390, "light", "ltr"), (1280, "dark", "ltr"), (390, "dark", "rtl")]


def in_looks(quick):
    """Let a test run in every look, all but one of which are slow: which one, each test says."""
    marks = [() if look == quick else pytest.mark.slow for look in LOOKS]
    looks = [pytest.param(*look, marks=marked) for look, marked in zip(LOOKS, marks, strict=True)]
    return pytest.mark.parametrize(("width", "scheme", "direction"), looks)


def require_legible(shown):
    require_no_violation(shown)
    wider = shown.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0, shown.url


def come(shown, store, direction="ltr"):
    study = begun(store, ["a", "b", "c", "d"], panel=PANEL, direction=direction)
    shown.goto(f"/join/{study.join_token}")
    return study


def agree_and_answer(shown):
    shown.get_by_label("I have read this and agree.").check()
    shown.get_by_role("button", name="Continue").click()
    shown.get_by_label("How old are you?").fill("44")
    shown.get_by_label("Fish").check()


@in_looks(quick=LOOKS[0])
def test_from_consent_to_the_code(page, sqlite_store, width, scheme, direction):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    study = come(page, sqlite_store, direction)
    require_legible(page)
    agree_and_answer(page)
    require_legible(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    page.locator("#board").wait_for()
    require_legible(page)
    page.get_by_role("button", name="Select several").click()
    for name in "abcd":
        page.locator("#board .card .pick", has_text=name).click()
    page.locator("#new-group").click()
    page.locator("#status[data-status=saved]").wait_for()
    page.locator("#hand-in").click()
    page.get_by_role("heading", name="Some last questions").wait_for()
    require_legible(page)
    page.get_by_label("Easy").check()
    page.get_by_role("button", name="Continue").click()
    assert page.locator(".code").inner_text() == "C1ABC"
    link = page.get_by_role("link", name="Go back to where you came from")
    assert link.get_attribute("href") == "https://panel.example/done?code=C1ABC"
    require_legible(page)
    [person] = sqlite_store.participants(study.id)
    assert sqlite_store.answers(person.id) == {"age": 44.0, "diet": ["Fish"], "hard": "Easy"}
    assert len(sqlite_store.submitted(study.id)) == 1


@pytest.mark.slow
@in_looks(quick=LOOKS[1])
def test_withdrawal_from_the_board(page, sqlite_store, width, scheme, direction):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    study = come(page, sqlite_store, direction)
    agree_and_answer(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start").click()
    page.locator("#board").wait_for()
    page.get_by_role("link", name="Withdraw from this study").click()
    require_legible(page)
    page.get_by_label("I want to withdraw.").check()
    page.get_by_role("button", name="Delete what I gave").click()
    page.get_by_role("heading", name="You have withdrawn").wait_for()
    require_legible(page)
    assert sqlite_store.answers(sqlite_store.participants(study.id)[0].id) == {}
    assert sqlite_store.assignments(study.id) == []


def sort_into(shown, *groups):
    """Sort the board that is shown, and hand it in."""
    shown.locator("#board").wait_for()
    shown.get_by_role("button", name="Select several").click()
    for names in groups:
        for name in names:
            shown.locator("#board .card .pick", has_text=name).click()
        shown.locator("#new-group").click()
    shown.locator("#status[data-status=saved]").wait_for()
    shown.locator("#hand-in").click()


@pytest.mark.slow
@in_looks(quick=LOOKS[2])
def test_practice_with_its_answer_then_admission_at_the_second_try(page, sqlite_store, width, scheme, direction):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    training = Training(practice=COLOURS, admission=(COLOURS,), mark=0.9, tries=2)
    study = begun(sqlite_store, ["a", "b"], training=training, direction=direction, instructions="Sort by **colour**.")
    page.goto(f"/join/{study.join_token}")
    require_legible(page)
    page.get_by_role("button", name="Start the practice").click()
    page.locator("#board").wait_for()
    require_legible(page)
    sort_into(page, ["cherry", "sky"], ["rose", "sea"])
    page.get_by_role("heading", name="What was expected in the practice").wait_for()
    assert page.get_by_text("Does not belong together with:").count() == 2
    require_legible(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="A test before you take part").wait_for()
    require_legible(page)
    page.get_by_role("button", name="Start").click()
    sort_into(page, ["cherry", "sky"], ["rose", "sea"])
    page.get_by_role("heading", name="Please try the test again").wait_for()
    require_legible(page)
    page.get_by_role("button", name="Start").click()
    sort_into(page, ["cherry", "rose"], ["sky", "sea"])
    page.get_by_text("You passed the test").wait_for()
    require_legible(page)
    page.get_by_role("button", name="Start").click()
    sort_into(page, ["a", "b"])
    page.get_by_role("heading", name="Thank you!").wait_for()
    [one] = [one for one in sqlite_store.submitted(study.id) if one.counts]
    assert [sorted(group["items"]) for group in one.groups] == [[0, 1]]


@pytest.mark.slow
def test_who_is_not_admitted_gets_the_code_for_that(page, sqlite_store):
    panel = Panel(endings={"not_admitted": Completion("C9NO")})
    study = begun(sqlite_store, ["a", "b"], training=Training(admission=(COLOURS,), mark=0.9, tries=1), panel=panel)
    page.goto(f"/join/{study.join_token}")
    page.get_by_role("button", name="Start").click()
    sort_into(page, ["cherry", "sky"], ["rose", "sea"])
    page.get_by_text("so you cannot take part").wait_for()
    assert page.locator(".code").inner_text() == "C9NO"
    require_legible(page)


@pytest.mark.slow
def test_a_participant_returns_on_another_browser_to_what_they_sorted(page, sqlite_store, address):
    panel = Panel(identified_by="PID", minutes=60)
    study = begun(sqlite_store, ["a", "b", "c"], panel=panel, parameters=("PID",))
    link = f"/join/{study.join_token}?PID=p7"
    page.goto(link)
    page.get_by_role("button", name="Start").click()
    page.locator("#board .card .pick", has_text="a").click()
    page.locator("#new-group").click()
    page.locator("#status[data-status=saved]").wait_for()
    other = page.context.browser.new_context(base_url=address)
    again = other.new_page()
    again.goto(link)
    again.locator("#groups .card", has_text="a").wait_for()
    assert "PID" not in again.url
    assert len(sqlite_store.participants(study.id)) == 1
    other.close()


@pytest.mark.slow
def test_who_declines_can_think_again(page, sqlite_store):
    come(page, sqlite_store)
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("heading", name="You do not take part").wait_for()
    require_legible(page)
    page.get_by_role("button", name="Read it again").click()
    page.get_by_label("I have read this and agree.").wait_for()
