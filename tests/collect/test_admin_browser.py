"""The pages of the administration in a real browser: a study from its cards to its clusters, legible and accessible."""

import itertools

import numpy as np
import pytest

from consilience.collect.creation import demo
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.store import Store
from consilience.collect.worker import Worker
from tests.pages import VIOLATIONS

from .collecting import begun, takes_part
from .conftest import PASSWORD

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

SORT = RightSort.of_groups({"Red": ["cherry", "rose"], "Blue": ["sky", "sea"]})


def sort_by_crowd(store, study, n_people):
    """Let people hand in the digits, some of which they mistake."""
    digits, rng, worker = demo.digits(), np.random.default_rng(0), Worker(store)
    for _ in range(n_people):
        person, _ = store.new_participant(study.id)
        given = store.assignment_for(person, rng)
        said = {item: digits[item] if rng.random() < 0.95 else rng.integers(10) for item in given.items}
        changes = [
            {"sequence": place, "kind": "move", "items": items, "group": f"g{place}"}
            for place, digit in enumerate(sorted(set(said.values())), 1)
            if (items := [item for item in given.items if said[item] == digit])
        ]
        store.record_changes(given.id, person.id, "crowd", changes)
        store.submit(given.id, person.id)
    worker.run()


@pytest.fixture(scope="module")
def new_file(tmp_path_factory):
    """A file of SQLite with the digits, which four people sorted, and their consensus, found once."""
    path = tmp_path_factory.mktemp("digits") / "studies.db"
    store = Store.open(f"sqlite:///{path}")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(demo, "N_ITEMS", 30)
        study = demo.make(store)
        sort_by_crowd(store, study, 4)
    assert store.consensus(study.id)["advice"]["reason"].startswith("Reliability is")
    store.close()
    return path


@pytest.mark.slow
def test_a_study_from_its_cards_to_its_clusters(page, address, sqlite_store):
    page.goto("/admin/setup/first")
    assert page.url == f"{address}/admin/setup"
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Set the password").click()

    page.get_by_role("link", name="New study").first.click()
    page.get_by_label("Title").fill("Fruit and nuts")
    page.get_by_label("Cards, one on a line").fill("\n".join(f"card {number}" for number in range(30)))
    page.get_by_role("button", name="Make the study").click()
    page.get_by_role("button", name="Open the study").click()
    link = page.get_by_label("Link for all participants").input_value()
    assert link.startswith(f"{address}/join/")
    study = sqlite_store.studies()[0]
    assert (study.n_items, study.status) == (30, "open")

    with page.expect_popup() as opened:
        page.get_by_role("button", name="Preview as a participant").click()
    preview = opened.value
    preview.get_by_role("button", name="Start").click()
    assert preview.url == f"{address}/sort"
    preview.close()
    page.get_by_role("button", name="Close the study").click()
    assert sqlite_store.study(study.id).status == "closed"


@pytest.mark.slow
def test_the_progress_moves_while_it_is_watched(page, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)
    study = begun(sqlite_store)
    log_in(page)
    page.goto(f"/admin/studies/{study.id}")
    assert page.get_by_text("Nobody has handed in yet").count() == 1
    for seed in range(4):
        takes_part(sqlite_store, study, seed)
    Worker(sqlite_store).run()
    page.get_by_text("What belongs together so far").wait_for(timeout=60_000)
    assert page.locator(".figures dd").first.inner_text().strip() == "4"


def log_in(page):
    page.goto("/admin/login")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def in_turn(*looks):
    """Let a test show its pages in one look after the other; that all pages are shown in each look is slow."""
    each = [pytest.param([look], id=f"{look[0]}-{look[1]}", marks=pytest.mark.slow) for look in looks]
    return pytest.mark.parametrize("looks", [pytest.param(looks, id="in turn"), *each])


def take_look(page, look):
    width, scheme = look
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)


@in_turn((360, "light"), (1280, "dark"))
def test_pages_are_accessible_and_fit_the_screen(page, sqlite_store, password_hash, looks):
    looks = itertools.cycle(looks)
    take_look(page, next(looks))
    sqlite_store.set_password_hash(password_hash)
    page.goto("/admin/login")
    require_no_violation(page)
    log_in(page)
    require_no_violation(page)
    [study] = sqlite_store.studies()
    sqlite_store.create_token("nightly")
    trained = begun(sqlite_store, ["a", "b", "c"], training=Training(practice=SORT, admission=(SORT,), gold=(SORT,)))
    takes_part(sqlite_store, trained, rule=lambda item: item % 2)
    draft = sqlite_store.create_study("A draft", ["Pear", "pear", "x" * 200])
    paths = [f"/studies/{study.id}{end}" for end in ("", "/settings", "/texts", "/cards", "/panel", "/people")]
    paths += [f"/studies/{trained.id}/{end}" for end in ("training", "people")]
    paths += [f"/studies/{draft.id}{end}" for end in ("", "/cards", "/delete")]
    sqlite_store.set_member(study.id, sqlite_store.add_account("Ann Lee " * 9, "guest").id, "viewer")
    sqlite_store.invite("viewer", study.id)
    sqlite_store.note_action("Ann", "changed settings", "subset_size: 3 → 4; " * 9, study_id=study.id)
    paths += [f"/studies/{study.id}/{end}" for end in ("team", "log")]
    page.goto(f"/invited/{sqlite_store.invite('researcher')}")
    for path in ["/invited", "", "/new", "/tokens", "/accounts", "/account", "/log", *paths]:
        take_look(page, next(looks))
        page.goto(f"/admin{path}")
        page.evaluate("() => document.querySelectorAll('details').forEach((found) => { found.open = true; })")
        require_no_violation(page)
        wider = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, path
        if not path:
            assert page.get_by_role("region", name="Studies").evaluate("(box) => box.scrollWidth <= box.clientWidth")


@pytest.mark.slow
def test_the_table_of_people_fits(page, sqlite_store, password_hash):
    names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    study = begun(sqlite_store, training=Training(practice=SORT, admission=(SORT,), gold=(SORT,)), parameters=names)
    for number in range(3):
        takes_part(sqlite_store, study, parameters=dict.fromkeys(names, f"{number:024x}"), times=3)
    sqlite_store.set_password_hash(password_hash)
    log_in(page)
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/admin/studies/{study.id}/people")
        box = page.get_by_role("region", name="People")
        assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
        button = page.get_by_role("button", name="Leave out").first
        button.scroll_into_view_if_needed()
        found = button.bounding_box()
        assert found["x"] >= 0
        assert found["x"] + found["width"] <= width
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_researcher_sets_up_a_practice_by_pressing_cards(page, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)
    study = sqlite_store.create_study("Fruit", ["apple", "salt, pepper", "pear", "nut"])
    log_in(page)
    page.goto(f"/admin/studies/{study.id}")
    page.get_by_role("link", name="Practice and checks").click()
    page.get_by_text("The cards of the study").click()
    practice = page.get_by_label("The practice sort")
    practice.fill("Sweet:")
    for name in ("apple", "pear"):
        page.get_by_role("button", name=name, exact=True).click()
    assert practice.input_value() == "Sweet: apple, pear"
    practice.press("End")
    practice.type("\nOther:")
    page.get_by_role("button", name="salt, pepper").click()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    found = sqlite_store.study(study.id).settings.training.practice
    assert [(card.name, card.group) for card in found.cards] == [
        *(("apple", "Sweet"), ("pear", "Sweet"), ("salt, pepper", "Other"))
    ]


@pytest.mark.slow
def test_a_draft_is_corrected_and_deleted(page, sqlite_store, password_hash):
    sqlite_store.set_password_hash(password_hash)
    sqlite_store.delete_study(sqlite_store.studies()[0].id)
    study = sqlite_store.create_study("Fruit", ["aple", "pear"])
    log_in(page)
    page.goto(f"/admin/studies/{study.id}")
    page.get_by_role("link", name="Cards").click()
    page.get_by_label("Text of aple").fill("apple")
    page.get_by_role("button", name="Save these cards").click()
    page.get_by_text("The cards are saved.").wait_for()
    assert [item.text for item in sqlite_store.items(study.id)] == ["apple", "pear"]
    page.get_by_role("link", name="Fruit").click()
    page.get_by_role("link", name="Delete this study…").click()
    page.get_by_role("button", name="Delete for good").click()
    assert sqlite_store.study(study.id)  # the browser asks for the box first
    page.get_by_label("I want to delete the study").check()
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_text("There is no study yet").wait_for()
    assert sqlite_store.studies() == []


def require_no_violation(page):
    page.wait_for_load_state()  # with its colours
    found = axe.Axe().run(page, options=VIOLATIONS)
    assert found.violations_count == 0, found.generate_report()
