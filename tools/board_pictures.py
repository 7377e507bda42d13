"""Take the pictures of the boards in the documentation: `python tools/board_pictures.py [FOLDER]`.

They show an open sort of 20 animals and a sheet of 30 handwritten digits, served from memory as in the tests; Chromium,
with playwright, is needed. With ``--all``, both boards are also taken at three widths, light and dark, from left to
right and from right to left, into FOLDER, to be looked at when the pages change.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from consilience.collect.participant.pages import PageCard  # noqa: E402
from consilience.collect.settings.model import StudySettings  # noqa: E402
from tests.collect.boards.board_server import Sort, serving  # noqa: E402
from tests.collect.boards.browsing import RIGHT_TO_LEFT, filled, texts  # noqa: E402

FOLDER = ROOT / "docs" / "_static"
COLOURS = 64  # of a picture, so that its file is small
WIDTHS = {360: 740, 1280: 860, 1920: 1080}
ANIMALS = """Beaver Ant Lion Trout Owl Frog Wolf Goose Bee Whale Cow Toad Robin Shark Sheep Spider Eagle Seal
Horse Crab"""
N_DIGITS = 30


def digit(number: int) -> bytes:
    """Return a digit as PNG."""
    pixels = 255 - load_digits().images[number] / 16 * 255
    image = Image.fromarray(pixels.astype(np.uint8)).resize((160, 160), Image.Resampling.BICUBIC)
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


def piles() -> Sort:
    """Return a sort of animals, half done."""
    sort = Sort(title="Which animals belong together?", cards=texts(ANIMALS.split()))
    for place, (name, items) in enumerate([("In the water", [4, 10, 14]), ("Birds", [5, 8, 13, 17]), ("", [2, 9])], 1):
        sort.change(kind="move", items=items, group=f"g{place}")
        sort.change(kind="name", group=f"g{place}", name=name)
    return sort


def sheet() -> Sort:
    """Return a sheet of digits, partly marked."""
    places = [f"/pictures/{number}" for number in range(N_DIGITS)]
    cards = [PageCard(number, "", place, place) for number, place in enumerate(places)]
    sort = Sort(title="Handwritten digits", board="sheet", cards=cards, settings=StudySettings(group_names="none"))
    sort.draw = digit
    for group in range(5):
        sort.change(kind="move", items=list(range(group, N_DIGITS, 10)), group=f"g{group + 1}")
    return sort


def right_to_left(board: str) -> Sort:
    """Return a board in Hebrew."""
    settings = StudySettings(language="he", direction="rtl")
    return filled(Sort(title="צבעים", board=board, cards=texts(RIGHT_TO_LEFT), settings=settings), "בהיר", "כהה")


def opened(browser: Browser, address: str, width: int, height: int, scheme: str = "light") -> Page:
    """Open a board."""
    page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=1.25)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(address)
    page.locator("#board").wait_for()
    page.wait_for_load_state("networkidle")
    return page


def save(page: Page, path: Path) -> None:
    """Save what the window shows, in few colours, and close the page."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()


def main() -> None:
    """Write board-piles.png, board-sheet.png and two of phones; with ``--all``, every look."""
    folders = [Path(word) for word in sys.argv[1:] if word != "--all"]
    folder = folders[0] if folders else FOLDER
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with serving() as serve, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, sort in (("piles", piles), ("sheet", sheet)):
            save(opened(browser, serve(sort()), 1280, 640), folder / f"board-{name}.png")
            phone = opened(browser, serve(sort()), 390, 760)
            phone.locator("#board .pick").nth(2 if name == "piles" else 5).click()
            save(phone, folder / f"board-{name}-phone.png")
        if "--all" in sys.argv:
            for look, make in {"piles": piles, "sheet": sheet}.items():
                for width, height in WIDTHS.items():
                    for scheme in ("light", "dark"):
                        name = f"{look}-{width}-{scheme}"
                        save(opened(browser, serve(make()), width, height, scheme), folder / f"{name}.png")
                        page = opened(browser, serve(right_to_left(look)), width, height, scheme)
                        save(page, folder / f"{name}-rtl.png")
        browser.close()


if __name__ == "__main__":
    main()
