"""Take the pictures of studies of labels and pairs in the documentation: ``python tools/asking_pictures.py [FOLDER]``.

They show handwritten digits that simulated people label. Chromium, with playwright, is needed. With ``--all``, pages
of participants and of the administration are taken in English and Arabic at two widths into FOLDER, to be looked at
when they change.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from consilience.collect import Store  # noqa: E402
from consilience.collect.creation import demo  # noqa: E402
from consilience.collect.security import hashed_password  # noqa: E402
from consilience.collect.settings.model import Item, Study, StudySettings  # noqa: E402
from consilience.collect.settings.study_kinds import cards_of  # noqa: E402
from consilience.collect.worker import Worker  # noqa: E402
from tests.collect.test_admin_browser import log_in  # noqa: E402
from tools.collect_pictures import FOLDER, served, take  # noqa: E402

N_CARDS, N_PEOPLE = 40, 14
DIGITS = tuple(str(digit) for digit in range(10))
LOOKS = [(language, width) for language in ("en", "ar") for width in (390, 1440)]


def make_study(store: Store, kind: str, language: str = "en") -> Study:
    """Make an open study of digits."""
    pictures = [demo.picture(image) for image in demo.images()[:N_CARDS]]
    items = [
        Item(number, f"digit {number + 1}", picture=one.hash, alt=f"handwritten digit {number + 1}")
        for number, one in enumerate(pictures)
    ]
    asked = {"categories": DIGITS} if kind == "labels" else {"stop_rule": "none"}
    settings = StudySettings(**asked, per_participant=2, language=language, random_share=0.0)  # type: ignore[arg-type]
    return store.open_study(
        store.create_study(f"Digits: {kind}", items, kind=kind, settings=settings, pictures=pictures).id
    )


def answer(store: Store, study: Study) -> None:
    """Let simulated people answer sets, the first of them by chance, and the worker find what they say."""
    rng, truth = np.random.default_rng(0), demo.digits()
    for number in range(N_PEOPLE):
        person, _ = store.new_participant(study.id)
        for _ in range(study.settings.per_participant):
            given = store.assignment_for(person, rng)
            if given is None:
                break
            groups = [_say(study, truth, pair, rng, 0.0 if number == 0 else 0.92) for pair in given.items]
            changes = [
                {"sequence": place, "kind": "move", "items": [item], "group": f"c{group}"}
                for place, (item, group) in enumerate(zip(given.items, groups, strict=True), 1)
            ]
            store.record_changes(given.id, person.id, "simulated", changes)
            store.submit(given.id, person.id)
        Worker(store).run()
    store.request_overview(study.id, at_once=True)
    Worker(store).run()


def _say(study: Study, truth: np.ndarray, number: int, rng: np.random.Generator, knows: float) -> int:
    digits = [int(truth[card]) for card in cards_of(number)]
    right = digits[0] + 1 if study.kind == "labels" else 1 if digits[0] == digits[1] else 2
    return right if rng.random() < knows else int(rng.integers(1, len(study.classes) + 1))


def take_all(browser: Browser, address: str, store: Store, studies: dict[str, Study], folder: Path) -> None:
    """Take every page, in two languages, at two widths."""
    for language, width in LOOKS:
        context = browser.new_context(base_url=address, viewport={"width": width, "height": 844})
        page = context.new_page()
        for kind in studies:
            study = store.open_study(make_study(store, kind, language).id)
            page.context.clear_cookies()
            page.goto(f"/join/{study.join_token}")
            take(page, folder / f"start-{kind}-{language}-{width}.png")
            page.locator("form[action='/sort/begin'] button").click()
            take(page, folder / f"question-{kind}-{language}-{width}.png")
            for _ in range(study.subset_size):
                page.locator(".keys:not([hidden])").wait_for(state="attached")
                page.keyboard.press("1")
                page.wait_for_load_state("networkidle")
            take(page, folder / f"over-{kind}-{language}-{width}.png")
        if language == "en":
            log_in(page)
            for kind, study in studies.items():
                for path in ("", "/dashboard", "/settings", "/people", "/training"):
                    page.goto(f"/admin/studies/{study.id}{path}")
                    take(page, folder / f"admin-{kind}{path.replace('/', '-')}-{width}.png", full_page=True)
            page.goto("/admin/new")
            page.locator("#kind-labels").check()
            take(page, folder / f"admin-new-{width}.png", full_page=True)
        context.close()


def take_pictures(browser: Browser, address: str, studies: dict[str, Study], folder: Path) -> None:
    """Take the pictures of the documentation."""
    page = browser.new_context(base_url=address, viewport={"width": 760, "height": 700}).new_page()
    for kind, study in studies.items():
        page.context.clear_cookies()
        page.goto(f"/join/{study.join_token}")
        page.locator("form[action='/sort/begin'] button").click()
        page.locator(".shown").wait_for()
        take(page, folder / f"asking-{kind}.png")
    log_in(page)
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto(f"/admin/studies/{studies['labels'].id}/dashboard")
    take(page, folder / "asking-dashboard.png")


def main() -> None:
    """Make the studies, and take the pictures."""
    asked = [one for one in sys.argv[1:] if one != "--all"]
    folder = Path(asked[0]) if asked else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as place:
        store = Store.open(f"sqlite:///{place}/studies.db")
        store.set_password_hash(hashed_password("correct horse battery"))
        studies = {kind: make_study(store, kind) for kind in ("labels", "pairs")}
        for study in studies.values():
            answer(store, study)
            store.update_study(study.id, settings=replace(study.settings, per_participant=1))
        with served(store) as address, sync_playwright() as started:
            browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            if "--all" in sys.argv:
                take_all(browser, address, store, studies, folder)
            else:
                take_pictures(browser, address, studies, folder)
            browser.close()
        store.close()


if __name__ == "__main__":
    main()
