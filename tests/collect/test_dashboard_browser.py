"""The dashboard in a real browser: legible, accessible, and calm while it follows the study."""

from dataclasses import replace

import pytest

from consilience import Groupings
from consilience.collect.creation import demo
from consilience.collect.settings.model import StudySettings
from consilience.collect.store import Store, overviews
from consilience.collect.worker import Worker
from consilience.datasets import load_cardsort_animals
from tests.pages import drawn_figures
from tests.quick_cases import some_quick

from .collecting import takes_part
from .test_admin_browser import log_in, require_no_violation, sort_by_crowd
from .test_dashboard import PARTS


@pytest.fixture(scope="module")
def new_file(tmp_path_factory):
    """A file of SQLite with the recorded card sort of 12 animals by its first thirty people, and its drawings."""
    path = tmp_path_factory.mktemp("animals") / "studies.db"
    store = Store.open(f"sqlite:///{path}")
    frame = load_cardsort_animals().annotations.to_frame()
    people, items = frame["annotator"].unique()[:30], frame["item"].unique()[:12]
    some = frame[frame["annotator"].isin(people) & frame["item"].isin(items)]
    study = store.create_study("Animals", list(map(str, items)), settings=StudySettings(stop_rule="none"))
    store.import_groupings(study.id, Groupings.from_frame(some))
    store.open_study(study.id)
    worker = Worker(store)
    worker.run()
    store.request_overview(study.id, at_once=True)
    with drawn_figures():
        worker.run()
    assert store.overview(study.id) is not None
    store.close()
    return path


@pytest.fixture
def animals(sqlite_store, password_hash, monkeypatch):
    """The study of animals; what the pages show of it follows without delay."""
    monkeypatch.setattr(overviews, "PATIENCE", 0)
    sqlite_store.set_password_hash(password_hash)
    [study] = sqlite_store.studies()
    return study


def open_drawn(page, study):
    page.goto(f"/admin/studies/{study.id}/dashboard")
    page.locator("#figure-co-occurrence svg").wait_for(timeout=60_000)
    page.locator("#ranked td button").first.wait_for(timeout=60_000)


@pytest.mark.parametrize("width", some_quick([390, 1280]))
def test_it_is_accessible_and_fits_the_screen(page, sqlite_store, animals, width):
    page.set_viewport_size({"width": width, "height": 900})
    log_in(page)
    open_drawn(page, animals)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        require_no_violation(page)
        ink = page.locator("#figure-co-occurrence svg").evaluate(
            "(svg) => getComputedStyle(svg.querySelector('text')).fill"
        )
        assert (sum(map(int, ink.strip("rgb()").split(","))) > 384) == (scheme == "dark")
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    wider = "(all) => all.filter((one) => one.querySelector('table') && one.scrollWidth > one.clientWidth).length"
    assert width > 400 or page.locator(".scroll").evaluate_all(wider) == 0
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_polling_keeps_focus_scroll_and_place(page, sqlite_store, animals):
    log_in(page)
    page.set_viewport_size({"width": 700, "height": 700})
    open_drawn(page, animals)
    button = page.locator("#ranked td button").last
    button.focus()
    mine = button.get_attribute("id")
    page.locator("#ranked .scroll").evaluate("(found) => { found.scrollTop = 40; found.scrollLeft = 30; }")
    before = page.evaluate("() => document.getElementById('ranked').getBoundingClientRect().top")
    page.evaluate("() => { document.querySelector('#figure-co-occurrence').marked = true; }")
    takes_part(sqlite_store, animals, 1)
    page.get_by_text("From 31 groupings by 31 people").wait_for(timeout=60_000)
    page.wait_for_function("() => document.querySelectorAll('#ranked tbody tr').length === 31", timeout=60_000)
    assert page.evaluate("() => document.activeElement.id") == mine
    scrolled = page.locator("#ranked .scroll").evaluate("({ scrollTop, scrollLeft }) => [scrollTop, scrollLeft]")
    assert scrolled == [40, 30]
    after = page.evaluate("() => document.getElementById('ranked').getBoundingClientRect().top")
    assert after == pytest.approx(before, abs=2)


@pytest.mark.slow
def test_nothing_moves_while_nothing_changes(page, animals):
    log_in(page)
    answers = []
    page.on(
        "response", lambda answer: answers.append((answer.url, answer.status)) if "/dashboard/" in answer.url else None
    )

    def seen(wanted, times):
        """Wait until each part was answered so many times with a status that is wanted; return all of them."""
        answers.clear()
        while any(sum(url.endswith(part) and status in wanted for url, status in answers) < times for part in PARTS):
            page.wait_for_timeout(50)
        return {status for _, status in answers}

    open_drawn(page, animals)
    seen({304}, 1)
    page.evaluate("() => { for (const part of document.querySelectorAll('[data-progress] > *')) part.marked = true; }")
    assert seen({200, 304}, 3) == {304}
    assert page.evaluate("() => [...document.querySelectorAll('[data-progress] > *')].every((part) => part.marked)")


@pytest.mark.slow
def test_somebody_is_left_out_and_taken_in_again_by_keyboard(page, sqlite_store, animals):
    log_in(page)
    open_drawn(page, animals)
    mine = page.locator("#ranked td button").first.get_attribute("id")
    person = mine.removeprefix("ranked-")
    page.locator(f"#{mine}").focus()
    page.keyboard.press("Enter")
    page.get_by_text("The consensus is computed again.").wait_for()
    assert sqlite_store.participant(person).excluded
    page.get_by_text("From 29 groupings by 29 people").wait_for(timeout=60_000)
    page.locator(f"#left-out-{person}").focus()
    page.keyboard.press("Enter")
    page.get_by_text("From 30 groupings by 30 people").wait_for(timeout=60_000)
    assert not sqlite_store.participant(person).excluded


@pytest.mark.slow
def test_clusters_show_the_pictures_of_their_cards(page, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)
    study = demo.make(sqlite_store)
    study = sqlite_store.update_study(study.id, settings=replace(study.settings, stop_rule="none"))
    sort_by_crowd(sqlite_store, study, 4)
    log_in(page)
    page.goto(f"/admin/studies/{study.id}/dashboard")
    page.locator("#clusters img").first.wait_for(timeout=60_000)
    page.locator("#clusters img").first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#clusters img').naturalWidth > 0")
    require_no_violation(page)
