"""The report on two studies in a real browser: accessible, complete without scripts, on phones and on paper."""

import numpy as np
import pytest

from consilience.inspection import difference_report, study_difference
from tests.analysis.test_study_difference import study
from tests.pages import VIOLATIONS, drawn_figures

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    rng = np.random.default_rng(5)
    first, second = study(rng, 15), study(rng, 15, moved=[4, 7], n_items=11, prefix="q")
    found = study_difference(
        first, second, names=("the old site", "the new site"), n_permutations=99, n_draws=3, random_state=0
    )
    with drawn_figures():
        return difference_report(found, path=tmp_path_factory.mktemp("two") / "report.html").as_uri()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_to_mend_and_nothing_is_fetched(browser, address, looked_at, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    troubles, requested = [], []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requested.append(request.url))
    page.goto(address)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page, looked_at, VIOLATIONS)
    assert found.violations_count == 0, found.generate_report()
    assert troubles == []
    assert {url.partition(":")[0] for url in requested} <= {"file", "blob", "data"}
    page.close()


def test_without_scripts_and_on_paper_everything_is_there(browser, address):
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    assert page.locator("figure").count() == 2
    assert page.locator("button:visible, input:visible").count() == 0
    shown = page.locator("figure, .block > .scroll > table")
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        assert shown.filter(visible=True).count() == shown.count() > 2
    page.close()


@pytest.mark.slow
def test_tables_can_be_sorted(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.locator("#pairs-table .sort").nth(2).click()
    first = page.locator("#pairs-table tbody tr").first.locator("td").nth(2).inner_text()
    assert first.startswith("\u2212")
    page.close()
