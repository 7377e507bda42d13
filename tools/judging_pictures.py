"""Take the pictures of judging studies in the documentation: ``python tools/judging_pictures.py [FOLDER]``.

They show animals that simulated judges know. Chromium, with playwright, is needed. With ``--all``, the pages of judges
and of the administration are taken at three widths, light and dark, into FOLDER, to be looked at when they change.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from consilience.collect import Store  # noqa: E402
from consilience.collect.security import hashed_password  # noqa: E402
from consilience.collect.settings.model import Study  # noqa: E402
from tests.collect.judges import ask_judges, judged_animals, judged_digits  # noqa: E402
from tests.collect.test_admin_browser import log_in  # noqa: E402
from tools.collect_pictures import FOLDER, served, take  # noqa: E402

WIDTHS = {390: "light", 1280: "light", 1920: "dark"}


def come(page: Page, study: Study) -> None:
    """Join a study as a judge, and begin."""
    page.goto(f"/join/{study.join_token}")
    page.get_by_role("button", name="Start").click()
    page.locator(".four").wait_for()


def take_all(browser: Browser, address: str, studies: dict[str, Study], folder: Path) -> None:
    """Take every page at three widths."""
    for width, scheme in [*WIDTHS.items(), (390, "dark")]:
        options = {"base_url": address, "viewport": {"width": width, "height": 844}, "color_scheme": scheme}
        page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
        for name, study in studies.items():
            page.context.clear_cookies()
            page.goto(f"/join/{study.join_token}")
            take(page, folder / f"start-{name}-{width}-{scheme}.png")
            come(page, study)
            take(page, folder / f"judge-{name}-{width}-{scheme}.png")
        log_in(page)
        source = studies["animals"].id
        paths = {f"admin-{name}": f"studies/{study.id}" for name, study in studies.items()}
        paths |= {
            "settings": f"studies/{source}/judging/settings",
            "new": "judging/new",
            "people": f"studies/{source}/people",
        }
        for name, path in paths.items():
            page.goto(f"/admin/{path}")
            take(page, folder / f"{name}-{width}-{scheme}.png", full_page=True)
        page.context.close()


def main() -> None:
    """Make the studies, let judges answer, and take the pictures."""
    words = [word for word in sys.argv[1:] if word != "--all"]
    folder = Path(words[0]) if words else FOLDER
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        store = Store.open(f"sqlite:///{place}/studies.db")
        store.set_password_hash(hashed_password("correct horse battery"))
        studies = {"animals": judged_animals(store), "digits": judged_digits(store)}
        ask_judges(store, studies["animals"], 16, seed=1)
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(store) as address:
            if "--all" in sys.argv:
                take_all(browser, address, studies, folder)
            else:
                page = browser.new_context(base_url=address, viewport={"width": 900, "height": 760}).new_page()
                come(page, studies["digits"])
                take(page, folder / "judging-question.png")
                log_in(page)
                page.goto(f"/admin/studies/{studies['animals'].id}")
                box = page.locator("section[aria-labelledby=found]").bounding_box()
                end = page.get_by_role("heading", name="By pair of clusters").bounding_box()
                take(page, folder / "judging-results.png", full_page=True, clip={**box, "height": end["y"] - box["y"]})
        browser.close()
        store.close()


if __name__ == "__main__":
    main()
