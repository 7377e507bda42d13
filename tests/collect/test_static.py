"""Scripts, styles and pictures: kept by browsers for good under addresses that change with them."""

import re

import pytest

from consilience.collect.serving import STATIC, static_address
from consilience.collect.settings.model import Item
from consilience.collect.store import new_picture

from .collecting import begun


def test_pages_name_files_by_their_version_and_browsers_keep_them(visit, admin, sqlite_store):
    study = begun(sqlite_store, ["a", "b"])
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    browser.post("/sort/begin")
    pages = browser.get("/sort").text + admin.get("/admin").text
    named = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', pages))
    assert {name.rpartition("/")[2] for name in named} >= {"participant.css", "board.css", "main.js", "admin.css"}
    for name in named:
        assert name.startswith(f"{static_address()}/")
        answer = browser.get(name)
        assert answer.content == (STATIC / name.removeprefix(f"{static_address()}/")).read_bytes()
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_a_board_has_all_its_scripts_while_the_instructions_are_read(visit, sqlite_store):
    def preloaded():
        return set(re.findall(r'rel="modulepreload" href="[^"]+/board/(\w+\.js)"', browser.get("/sort").text))

    browser = visit()
    browser.get(f"/join/{begun(sqlite_store, ['a', 'b']).join_token}")
    before = preloaded()
    browser.post("/sort/begin")
    imported, waiting = {"main.js"}, {"main.js"}
    while waiting:
        found = re.findall(r'from "\./(\w+\.js)"', (STATIC / "board" / waiting.pop()).read_text(encoding="utf-8"))
        waiting |= set(found) - imported
        imported |= set(found)
    assert before == preloaded() == imported


@pytest.mark.parametrize("version", ["", "/v-0123456789ab"])
def test_under_another_version_browsers_ask_each_time(visit, version):
    answer = visit().get(f"/static{version}/board/main.js")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    again = visit().get(f"/static{version}/board/main.js", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["", "/", "/../app.py", "/..%2fapp.py", "/%2e%2e/%2e%2e/app.py", "/nothing.js"])
def test_nothing_else_is_served(visit, path):
    assert visit().get(f"{static_address()}{path}").status_code in (404, 405)


def test_pictures_are_kept_by_the_browser_of_who_may_see_them(visit, sqlite_store):
    picture = new_picture(b"GIF89a", "image/gif", 1, 1)
    study = sqlite_store.create_study("P", [Item(0, "a", picture=picture.hash), "b"], pictures=[picture])
    browser = visit()
    browser.get(f"/join/{sqlite_store.open_study(study.id).join_token}")
    answer = browser.get(f"/pictures/{study.id}/{picture.hash}")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
