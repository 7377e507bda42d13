"""Take the pictures of the pages of studies in the documentation: ``python tools/collect_pictures.py [FOLDER]``.

They show the demo study after a simulated crowd, and the dashboard of a card sort of animals; Chromium, with
playwright, is needed. With ``--all``, every page of the administration is also taken at three widths, light and dark,
into FOLDER, to be looked at when the pages change.
"""

from __future__ import annotations

import io
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from consilience.collect import Store, create_app  # noqa: E402
from consilience.collect.creation import demo  # noqa: E402
from consilience.collect.security import hashed_password  # noqa: E402
from consilience.collect.settings.model import Study  # noqa: E402
from consilience.collect.worker import Worker  # noqa: E402
from consilience.datasets import load_cardsort_animals  # noqa: E402
from tests.collect.test_admin_browser import log_in, sort_by_crowd  # noqa: E402

FOLDER = ROOT / "docs" / "_static"
COLOURS = 64  # of a picture, so that its file is small
WIDTHS = {390: "light", 1280: "light", 1920: "dark"}


@contextmanager
def served(store: Store) -> Iterator[str]:
    """Serve a store, and give the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(store, background=False), log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def take(page: Page, path: Path, **options: object) -> None:
    """Write what a page shows to a file."""
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot(**options)))  # type: ignore[arg-type]
    picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def animals(store: Store) -> Study:
    """Make a study of a card sort of animals, with what the worker finds in it."""
    found = load_cardsort_animals().annotations
    study = store.create_study("Animals", list(found.items))
    store.import_groupings(study.id, found)
    store.request_overview(study.id, at_once=True)
    Worker(store).run()
    return study


def main() -> None:
    """Make the study, let the crowd sort, and take the pictures."""
    words = [word for word in sys.argv[1:] if word != "--all"]
    folder = Path(words[0]) if words else FOLDER
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        store = Store.open(f"sqlite:///{place}/studies.db")
        store.set_password_hash(hashed_password("correct horse battery"))
        study = demo.make(store)
        for n_people in (6, 9, 12, 12):
            sort_by_crowd(store, study, n_people)
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(store) as address:
            for width, scheme in WIDTHS.items() if "--all" in sys.argv else [(1280, "light")]:
                context = browser.new_context(
                    base_url=address, viewport={"width": width, "height": 1180}, color_scheme=scheme
                )
                page = context.new_page()
                log_in(page)
                page.goto(f"/admin/studies/{study.id}")
                if "--all" not in sys.argv:
                    take(page, folder / "collect-study.png")
                    page.set_viewport_size({"width": 1080, "height": 1480})
                    page.goto(f"/admin/studies/{animals(store).id}/dashboard")
                    take(page, folder / "collect-dashboard.png")
                    continue
                for name in ("", "/new", "/tokens", f"/studies/{study.id}", f"/studies/{study.id}/texts"):
                    page.goto(f"/admin{name}")
                    called = name.rsplit("/", 1)[-1].replace(study.id, "study") or "studies"
                    take(page, folder / f"{called}-{width}.png", full_page=True)
        browser.close()
        store.close()


if __name__ == "__main__":
    main()
