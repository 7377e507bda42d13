"""Take the pictures of the report in the documentation: `python tools/report_pictures.py`.

They show the report on an open sort of 20 animals by 107 people, `load_cardsort_animals`, which needs the folder of
real data in the environment variable CONSILIENCE_DATA; and Chromium, with playwright. One shows scikit-learn's digits,
sorted by simulated people.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_digits

from consilience.consensus import SubsetFusion
from consilience.datasets import load_cardsort_animals
from consilience.inspection import report
from consilience.simulation import simulate_crowd

FOLDER = Path(__file__).parents[1] / "docs" / "_static"
COLOURS = 255  # of a picture, so that its file is small
N_DIGITS = 60
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


def take_digits(browser: Browser, folder: str) -> None:
    """Save the map and the table of a report with pictures."""
    digits = load_digits()
    names = [f"digit {place}" for place in range(N_DIGITS)]
    sorts = simulate_crowd(
        digits.target[:N_DIGITS], n_annotators=15, items_each=30, accuracy=0.85, items=names, random_state=0
    )
    path = report(
        SubsetFusion(random_state=0).fit(sorts),
        pictures=dict(zip(names, np.asarray(16 - digits.images[:N_DIGITS]), strict=True)),
        path=Path(folder) / "digits.html",
    )
    page = browser.new_page(viewport={"width": 760, "height": 900}, device_scale_factor=1.25)
    page.goto(Path(path).as_uri())
    page.evaluate("() => document.querySelectorAll('.still').forEach((figure) => figure.remove())")
    page.evaluate("() => document.querySelector('#items-table .scroll').style.setProperty('max-height', '16rem')")
    take(page, "report-pictures.png", "#map-panel", "#items-table .scroll")


def main() -> None:
    """Write the pictures of docs/report.rst and of the tutorial on card sorts."""
    animals = load_cardsort_animals()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        model = SubsetFusion(random_state=0).fit(animals.annotations)
        path = report(model, title=TITLE, words="animals,people", path=Path(folder) / "report.html")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=1.25)
        page.goto(Path(path).as_uri())
        take(page, "report-first.png", "h1", "#clusters .lists")
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
        take_digits(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
