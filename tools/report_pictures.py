"""Take the pictures of the report in the documentation: `python tools/report_pictures.py`.

They show the report on an open sort of 20 animals by 107 people, `load_cardsort_animals`, which needs the folder of
real data in the environment variable CONSILIENCE_DATA; and Chromium, with playwright.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from consilience.consensus import SubsetFusion
from consilience.datasets import load_cardsort_animals
from consilience.inspection import report

FOLDER = Path(__file__).parents[1] / "docs" / "_static"
COLOURS = 255  # of a picture, so that its file is small
TITLE = "20 animals, sorted by 107 people"


def take(page: Page, name: str, first: str, last: str) -> None:
    """Save the part of the page from the top of one element to the bottom of another."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    top, bottom = page.locator(first).bounding_box(), page.locator(last).bounding_box()
    if top is None or bottom is None:
        raise SystemExit(f"{name}: {first} or {last} is not shown.")
    scrolled, width = page.evaluate("() => [scrollY, innerWidth]")
    height = bottom["y"] + bottom["height"] - top["y"] + 12
    clip = {"x": 0, "y": top["y"] + scrolled - 12, "width": width, "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
    picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        FOLDER / name, optimize=True
    )


def main() -> None:
    """Write report.png, report-cut.png, report-placements.png, report-represented.png and report-phone.png."""
    animals = load_cardsort_animals()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        model = SubsetFusion(random_state=0).fit(animals.annotations)
        path = report(model, title=TITLE, path=Path(folder) / "report.html")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=1.25)
        page.goto(Path(path).as_uri())
        take(page, "report.png", "#evidence h2", "#tree-panel")
        page.locator("#cut").focus()
        for _ in range(2):
            page.keyboard.press("ArrowRight")
        page.locator("#find").fill(str(animals.annotations.items[0]))
        take(page, "report-cut.png", "#explorer .bar", "#tree-panel")
        sorts = report(model, title=TITLE, words="cards,participants", path=Path(folder) / "sorts.html")
        page.goto(Path(sorts).as_uri())
        take(page, "report-placements.png", "#placements-table", "#placements-table")
        take(page, "report-represented.png", "#represented h2", "#representatives-table")
        phone = browser.new_page(viewport={"width": 390, "height": 800}, device_scale_factor=1.25)
        phone.goto(Path(path).as_uri())
        take(phone, "report-phone.png", "#matrix-panel", "#map-panel")
        browser.close()


if __name__ == "__main__":
    main()
