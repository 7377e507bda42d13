"""Studies that begin as a copy, as a file or as a template: the same but for people, and hostile files are refused."""

import io
import json
import re
import zipfile
from html import unescape

import pytest

from consilience.collect.creation import demo
from consilience.collect.creation.pictures import check_picture
from consilience.collect.creation.study_file import CONTENT, pack_study, unpack_study
from consilience.collect.creation.templates import TEMPLATES
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.training import RightCard, RightSort, Training
from consilience.collect.store import new_picture
from consilience.errors import InputError

from .collecting import takes_part


@pytest.fixture
def study(sqlite_store, few_digits):
    """A study that uses all that there is, with people in it."""
    checked = [check_picture(demo.picture(image).data) for image in demo.images()[:2]]
    shown, extra = (new_picture(one.data, one.mime, one.width, one.height) for one in checked)
    items = [Item(0, "kiwi", "Kiwi", shown.hash, "a kiwi"), Item(1, "<b>", "ε\n=1+1"), Item(2, "fig"), Item(3, "plum")]
    right = (RightCard("kiwi", "A"), RightCard("own", "B", "My own", extra.hash, "a nut"), RightCard("fig", "A"))
    settings = StudySettings(
        categories=("Sweet", "Sour"),
        texts={"hand_in": "Fertig"},
        language="de",
        parameters=("PID",),
        panel=Panel(
            consent="# Yes?",
            before=(Question("age", "How old?", "number", least=18),),
            endings={"complete": Completion("C1", "https://panel.example/{code}")},
            identified_by="PID",
        ),
        training=Training(practice=RightSort(right)),
        **{"stop_rule": "none", "subset_size": 3, "instructions": "**Sort**"},
    )
    made = sqlite_store.create_study("Früchte", items, kind="hybrid", settings=settings, pictures=[shown, extra])
    made = sqlite_store.open_study(made.id)
    takes_part(sqlite_store, made, rule=lambda item: 0, parameters={"PID": "somebody"})
    return made


def require_alike(store, old, new):
    assert new.id != old.id
    assert new.join_token != old.join_token
    assert (new.status, new.opened, store.participants(new.id)) == ("draft", None, [])
    assert (new.kind, new.board, new.n_items) == (old.kind, old.board, old.n_items)
    assert new.settings.as_json() == old.settings.as_json()  # pictures of our own encode to the same bytes
    assert store.items(new.id) == store.items(old.id)
    shown = [*store.items(new.id), *new.settings.training.practice.cards]
    for one in {card.picture for card in shown} - {None}:
        assert store.picture(new.id, one) == store.picture(old.id, one)


def lead_to(store, answer):
    assert answer.status_code == 303
    return store.study(answer.headers["location"].rsplit("/", 1)[1])


def test_a_copy_is_the_same_without_people(admin, sqlite_store, study):
    copied = lead_to(sqlite_store, admin.post(f"/admin/studies/{study.id}/copy"))
    assert copied.title == "Früchte (2)"
    require_alike(sqlite_store, study, copied)
    assert "This is a copy" in admin.get(f"/admin/studies/{copied.id}").text


def test_a_study_goes_out_as_a_file_and_in_again(admin, sqlite_store, study):
    sent = admin.get(f"/admin/studies/{study.id}/study.zip")
    assert sent.headers["content-disposition"] == f'attachment; filename="study-{study.id}.zip"'
    assert b"somebody" not in sent.content
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert "somebody" not in archive.read(CONTENT).decode()
    again = lead_to(sqlite_store, admin.post("/admin/new/file", files={"study_file": ("s.zip", sent.content)}))
    assert again.title == "Früchte"
    require_alike(sqlite_store, study, again)


def rewritten(data, change):
    """Return a file with other content."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        content = json.loads(old.read(CONTENT))
        rest = {name: old.read(name) for name in old.namelist() if name != CONTENT}
    changed = change(content)
    content = changed if isinstance(changed, str) or changed == [1] else content
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        new.writestr(CONTENT, content if isinstance(content, str) else json.dumps(content))
        for name, one in rest.items():
            new.writestr(name, one)
    return file.getvalue()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: "no JSON", "no study that was saved"),
        (lambda content: [1], "no study that was saved"),
        (lambda content: content.pop("items"), "no study that was saved"),
        (lambda content: content.update(version=2), "later version"),
        (lambda content: content.update(items="abc"), "items are no list"),
        (lambda content: content.update(items=[1, 2]), "wrong kind"),
        (lambda content: content.update(items=[{"name": "a", "evil": 1}, {"name": "b"}]), "wrong kind"),
        (lambda content: content.update(title=["x"]), "title"),
        (lambda content: content.update(kind="judging"), "kind"),
        (lambda content: content.update(settings=[]), "wrong kind"),
        (lambda content: content["settings"].update(evil=1), "no setting 'evil'"),
        (lambda content: content["settings"].update(subset_size="many"), "subset_size"),
        (lambda content: content["settings"].update(texts={"evil": "x"}), "evil"),
        (lambda content: content["items"][0].update(picture="../../etc/passwd"), "lacks the picture"),
        (lambda content: content["items"][0].update(name="x" * 10_000), "name"),
    ],
)
def test_hostile_files_are_refused_with_a_sentence(admin, sqlite_store, study, change, sentence):
    data = rewritten(pack_study(sqlite_store, study), change)
    before = len(sqlite_store.studies())
    answer = admin.post("/admin/new/file", files={"study_file": ("s.zip", data)})
    assert answer.status_code == 422
    assert sentence in answer.text.replace("&#39;", "'")
    assert len(sqlite_store.studies()) == before


@pytest.mark.parametrize("data", [b"", b"PK", b"x" * 1000])
def test_what_is_no_archive_is_refused(admin, data):
    assert "no study that was saved" in admin.post("/admin/new/file", files={"study_file": ("s.zip", data)}).text


def test_pictures_in_a_file_are_written_anew(sqlite_store, study):
    file = io.BytesIO(pack_study(sqlite_store, study))
    with zipfile.ZipFile(file) as old:
        [name, *_] = [one for one in old.namelist() if one != CONTENT]
        changed = {one: old.read(one) + (b"hidden behind it" if one == name else b"") for one in old.namelist()}
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w") as new:
        for one, data in changed.items():
            new.writestr(one, data)
    taken = unpack_study(sqlite_store, again.getvalue())
    kept = sqlite_store.picture(taken.id, sqlite_store.items(taken.id)[0].picture).data
    assert b"hidden" not in kept


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_can_be_previewed_and_opened_at_once(admin, sqlite_store, few_digits, name):
    offered = admin.get("/admin/new").text
    assert f'action="/admin/new/template/{name}"' in offered
    assert TEMPLATES[name].holds in unescape(offered)
    made = lead_to(sqlite_store, admin.post(f"/admin/new/template/{name}"))
    assert made.status == "draft"
    assert admin.post(f"/admin/studies/{made.id}/preview").headers["location"] == "/sort"
    assert admin.get("/sort").status_code == 200
    figures = {
        made.n_items,
        made.subset_size,
        len(made.classes),
        *(len(one.cards) for one in made.settings.training.gold),
    }
    figures |= {len(made.settings.training.practice.cards)} if made.settings.training.practice else set()
    said = {int(number) for number in re.findall(r"\d+", TEMPLATES[name].holds)}
    assert said - figures <= ({120} if name == "pictures" else set())  # of which these tests have few
    sqlite_store.open_study(made.id)


def test_only_what_there_is_can_be_copied(admin, sqlite_store, study):
    assert admin.post("/admin/new/template/none").status_code == 404
    assert admin.post("/admin/studies/none/copy").status_code == 404
    with pytest.raises(InputError, match="lacks the picture"):
        unpack_study(sqlite_store, without_pictures(pack_study(sqlite_store, study)))


def without_pictures(data):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        new.writestr(CONTENT, old.read(CONTENT))
    return file.getvalue()


def test_a_script_copies_packs_and_unpacks(script, sqlite_store, study):
    address = f"/api/v1/studies/{study.id}"
    copied = script.post(f"{address}/copy", json={"title": "Again"})
    assert (copied.status_code, copied.json()["title"], copied.json()["status"]) == (201, "Again", "draft")
    assert script.post(f"{address}/copy", json={}).json()["title"] == f"{study.title[:296]} (2)"
    packed = script.get(f"{address}/pack")
    assert packed.headers["content-type"] == "application/zip"
    taken = script.post("/api/v1/studies/unpack", content=packed.content)
    assert taken.status_code == 201
    for made in (copied, taken):
        assert made.json()["settings"] == study.settings.as_json()
        names = [item.name for item in sqlite_store.items(made.json()["id"])]
        assert names == [item.name for item in sqlite_store.items(study.id)]


def test_scripts_are_told_what_cannot_be_copied(visit, script, study):
    assert script.post("/api/v1/studies/none/copy", json={}).status_code == 404
    assert script.get("/api/v1/studies/none/pack").status_code == 404
    assert script.post(f"/api/v1/studies/{study.id}/copy", json={"titel": "x"}).status_code == 422
    assert script.post(f"/api/v1/studies/{study.id}/copy", json={"title": "x" * 301}).status_code == 422
    answer = script.post("/api/v1/studies/unpack", content=b"PK no archive")
    assert (answer.status_code, "no study that was saved" in answer.json()["error"]) == (422, True)
    stranger = visit()
    requests = (("POST", f"{study.id}/copy"), ("GET", f"{study.id}/pack"), ("POST", "unpack"))
    for method, path in requests:
        assert stranger.request(method, f"/api/v1/studies/{path}").status_code == 401
