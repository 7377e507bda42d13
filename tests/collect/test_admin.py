"""The pages of the administration: a study from a list to its results."""

import csv
import io
import re
import zipfile

import pandas as pd
import pytest

from consilience.collect.creation import demo

from .collecting import begun, takes_part
from .test_pictures import encoded

CARDS = "\n".join(f"card {number}" for number in range(30))
TEMPLATE = {"title": "Fruit", "items": "apple\npear\nnut", "kind": "open", "board": "piles"}


def make(admin, files=None, **fields):
    return admin.post("/admin/new", data=TEMPLATE | fields, files=files)


def made(admin, store, files=None, **fields):
    answer = make(admin, files, **fields)
    assert answer.status_code == 303, answer.text
    return store.study(answer.headers["location"].rsplit("/", 1)[1])


def names(store, study):
    return [item.name for item in store.items(study.id)]


def sort(browser, store, study, groups):
    """Take part in a study, and put the cards of each list into a group; they are numbers of items."""
    browser.get(f"/join/{study.join_token}")
    browser.post("/sort/begin")
    number = max(one.id for one in store.assignments(study.id))
    changes = [
        {"sequence": place, "kind": "move", "items": items, "group": f"g{place}"}
        for place, items in enumerate(groups, 1)
    ]
    sent = browser.post("/sort/changes", json={"assignment": number, "client": "tab", "changes": changes})
    assert sent.status_code == 200, sent.text
    return browser.post("/sort/submit", data={"assignment": number})


# ---- making studies


def test_a_study_of_thirty_cards_from_a_csv_file(admin, visit, sqlite_store):
    rows = "id;label;colour\n" + "\n".join(f"c{number};Card {number};red" for number in range(30))
    study = made(admin, sqlite_store, files={"items_file": ("cards.csv", rows.encode("utf-8-sig"))}, items="")
    items = sqlite_store.items(study.id)
    assert [(item.name, item.text) for item in items[:2]] == [("c0", "Card 0"), ("c1", "Card 1")]
    assert len(items) == 30
    page = admin.get(f"/admin/studies/{study.id}").text
    assert "Columns that were not used: &#39;colour&#39;." in page
    assert "not used" not in admin.get(f"/admin/studies/{study.id}").text  # it is said once
    assert study.join_token not in page  # a draft has no link yet
    admin.post(f"/admin/studies/{study.id}/open")
    assert f"http://testserver/join/{study.join_token}" in admin.get(f"/admin/studies/{study.id}").text
    assert sort(visit(), sqlite_store, study, [[*range(15)], [*range(15, 30)]])
    assert sqlite_store.progress(study.id)["submitted"] == 1


def test_pictures_are_cards_or_belong_to_cards(admin, sqlite_store):
    files = [("pictures", (f"cat_{number}.png", encoded(size=(20 + number, 20)))) for number in (10, 2)]
    study = made(admin, sqlite_store, files=files, items="")
    assert names(sqlite_store, study) == ["cat_2", "cat_10"]
    assert [(item.text, item.alt) for item in sqlite_store.items(study.id)] == [("", "cat 2"), ("", "cat 10")]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("all/Apple.PNG", encoded())
        written.writestr("all/other.png", encoded(size=(9, 9)))
    study = made(admin, sqlite_store, files=[("pictures", ("all.zip", archive.getvalue()))])
    first, second, _ = sqlite_store.items(study.id)
    assert (first.text, second.picture) == ("apple", None)
    assert admin.get(f"/pictures/{study.id}/{first.picture}").headers["content-type"] == "image/png"
    assert "Pictures that no card uses: &#39;other.png&#39;." in admin.get(f"/admin/studies/{study.id}").text


def test_all_settings_of_the_form_are_kept_and_shown_again(admin, sqlite_store):
    fields = {
        "kind": "hybrid",
        "board": "sheet",
        "categories": "Sweet\n\nSour\n",
        "group_names": "required",
        "all_sorted": "forbid",
        "subset_size": "2",
        "per_participant": "2",
        "groupings_wanted": "40",
        "strategy": "random",
        "random_share": "20",
        "repeat_share": "25",
        "max_per_item": "9",
        "stop_rule": "none",
        "parameters": "PROLIFIC_PID, STUDY_ID",
        "instructions": "Sort **all**.",
        "language": "he",
        "direction": "rtl",
    }
    study = made(admin, sqlite_store, **fields)
    kept = study.settings
    assert (study.kind, study.board, kept.categories, kept.subset_size) == ("hybrid", "sheet", ("Sweet", "Sour"), 2)
    assert (kept.all_sorted, kept.random_share, kept.repeat_share) == ("required", 0.2, 0.25)
    assert kept.parameters == ("PROLIFIC_PID", "STUDY_ID")
    page = admin.get(f"/admin/studies/{study.id}/settings").text
    assert 'value="40"' in page
    assert "Sort **all**." in page
    changed = admin.post(f"/admin/studies/{study.id}/settings", data=fields | {"title": "New", "groupings_wanted": ""})
    assert "Saved." in admin.get(changed.headers["location"]).text
    assert changed.status_code == 303
    study = sqlite_store.study(study.id)
    assert (study.title, study.settings) == ("New", type(kept)(**vars(kept) | {"groupings_wanted": None}))


def problems_of(page):
    """The sentences at fields of a form, by the fields, and the fields to which the list above them leads."""
    found = dict(re.findall(r'<p class="problem" id="(\w+)-problem">(.*?)</p>', page))
    return found, re.findall(r'<li><a href="#(\w+)">', page)


WRONG = {
    **{"title": "", "subset_size": "many", "kind": "closed", "categories": "one", "language": "<b>"},
    **{"parameters": "a=b", "repeat_share": "101", "strategy": "random", "stop_rule": "none"},
}


def test_all_that_is_wrong_is_said_at_once_each_at_its_field(admin, sqlite_store):
    answer = make(admin, **WRONG, items="apple")
    found, listed = problems_of(answer.text)
    assert answer.status_code == 422
    wrong = {"title", "items", "subset_size", "categories", "language", "parameters", "repeat_share"}
    assert (set(found), set(listed)) == (wrong, wrong)
    assert found["items"] == "A study must have from 2 to 5,000 items. Got 1."
    assert found["title"] == "The title of a study must not be empty."
    assert 'id="language-problem"' in answer.text
    described = ' aria-invalid="true" aria-describedby="title-hint title-problem">'
    assert re.search(rf'<input id="title"[^>]*{described}', answer.text)
    assert re.search(r"<details open>\s*<summary><h2>More", answer.text)
    assert sqlite_store.studies() == []

    study = made(admin, sqlite_store)
    answer = admin.post(f"/admin/studies/{study.id}/settings", data=TEMPLATE | WRONG)
    assert set(problems_of(answer.text)[0]) == wrong - {"items"}
    assert sqlite_store.study(study.id) == study


def test_a_script_reads_all_that_is_wrong_in_one_answer(script):
    sent = {"title": " ", "items": [{"name": "a"}, {"name": "a"}], "settings": {"categories": ["A"]}}
    answer = script.post("/api/v1/studies", json=sent)
    assert answer.status_code == 422
    sentences = ("The title of a study must not be empty.", "Items 1 and 2 have the same name", "An open sort has no")
    assert all(sentence in answer.json()["error"] for sentence in sentences)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": ""}, "title"),
        ({"items": ""}, "There are no cards yet"),
        ({"items": "apple"}, "from 2 to"),
        ({"items": "id\tfruit\na\tb"}, "Got 1"),
        ({"items": "a\tb\nc\td"}, "the first line does not name them"),
        ({"subset_size": "2.5"}, "must be a whole number"),
        ({"subset_size": "4"}, "from 2 to 3"),
        ({"kind": "closed", "categories": "one"}, "at least 2 categories"),
        ({"kind": "odd"}, "must be one of"),
        ({"language": "<b>"}, "language tag"),
        ({"parameters": "a=b"}, "PROLIFIC_PID"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value),
)
def test_a_form_with_a_mistake_comes_back_as_it_was(admin, sqlite_store, fields, sentence):
    answer = make(admin, instructions="Keep this.", **fields)
    assert answer.status_code == 422
    assert sentence in answer.text.split('role="alert">')[1].split("</div>")[0]
    assert "Keep this." in answer.text
    assert sqlite_store.studies() == []


def test_uploads_that_are_not_what_they_say_are_refused(admin, sqlite_store):
    page = b"<script>alert(1)</script>"
    for field, name, data, sentence in [
        ("pictures", "cat.png", page, "not a readable PNG"),
        ("pictures", "cats.zip", page, "not a readable ZIP"),
        ("pictures", "cat.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "not a readable PNG"),
        ("pictures", "cat.png", b"x" * 10_000_001, "at most 10,000,000"),
        ("items_file", "cards.csv", b"PK\x03\x04 a workbook", "save the table as CSV"),
        ("items_file", "cards.csv", bytes(100), "not a text file"),
    ]:
        answer = make(admin, files={field: (name, data)}, items="")
        assert answer.status_code == 422, name
        assert sentence in answer.text
    assert sqlite_store.studies() == []


def test_names_of_files_lead_nowhere(admin, sqlite_store, tmp_path):
    names_of_files = ["../../evil.png", "..\\..\\evil2.png", "/etc/evil3.png"]
    study = made(admin, sqlite_store, files=[("pictures", (name, encoded())) for name in names_of_files], items="")
    assert names(sqlite_store, study) == ["evil", "evil2", "evil3"]
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} <= {"studies.db"}
    for path in ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd"]:
        assert admin.get(path).status_code == 404, path
    picture = sqlite_store.items(study.id)[0].picture
    for path in [f"/pictures/{study.id}/../../etc/passwd", f"/pictures/../{picture}", f"/pictures/other/{picture}"]:
        assert admin.get(path).status_code == 404, path


SCRIPT = "<script>alert('x')</script>"


def test_scripts_in_names_are_shown_as_text(admin, visit, sqlite_store):
    evil = f'"{SCRIPT}"'
    study = made(admin, sqlite_store, title=SCRIPT, items=f"{evil}\n<img src=x onerror=alert(1)>", instructions=SCRIPT)
    admin.post(f"/admin/studies/{study.id}/open")
    browser = visit()
    pages = [admin.get("/admin").text, admin.get(f"/admin/studies/{study.id}").text]
    browser.get(f"/join/{study.join_token}")
    pages.append(browser.get("/sort").text)
    browser.post("/sort/begin")
    number = sqlite_store.assignments(study.id)[0].id
    browser.post("/sort/move", data={"assignment": number, "items": ["0", "1"], "group": "new"})
    browser.post("/sort/name", data={"assignment": number, "group": "g1", "name": SCRIPT})
    pages.append(browser.get("/sort").text)
    for page in pages:
        assert SCRIPT not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;" in page or "\\u003cscript" in page
    browser.post("/sort/submit", data={"assignment": number})
    assert SCRIPT not in admin.get(f"/admin/studies/{study.id}").text


# ---- running studies


def test_a_preview_does_not_count(admin, visit, sqlite_store):
    study = made(admin, sqlite_store)
    assert admin.post(f"/admin/studies/{study.id}/preview").headers["location"] == "/sort"
    assert "This is a preview." in admin.get("/sort").text
    admin.post("/sort/begin")
    number = sqlite_store.assignments(study.id)[0].id
    admin.post("/sort/move", data={"assignment": number, "items": ["0", "1", "2"], "group": "new"})
    assert admin.post("/sort/submit", data={"assignment": number}).status_code == 303
    assert sqlite_store.progress(study.id)["submitted"] == 0
    assert sqlite_store.export_frame(study.id)["preview"].all()


def test_a_study_that_is_not_open_takes_nobody_in(admin, visit, sqlite_store):
    study = made(admin, sqlite_store)
    assert "This study is not open yet" in visit().get(f"/join/{study.join_token}").text
    admin.post(f"/admin/studies/{study.id}/open")
    begun = visit()
    begun.get(f"/join/{study.join_token}")
    begun.post("/sort/begin")
    admin.post(f"/admin/studies/{study.id}/close")
    assert "This study is closed" in visit().get(f"/join/{study.join_token}").text
    number = sqlite_store.assignments(study.id)[0].id
    begun.post("/sort/move", data={"assignment": number, "items": ["0", "1", "2"], "group": "new"})
    begun.post("/sort/submit", data={"assignment": number})
    assert sqlite_store.progress(study.id)["submitted"] == 1  # what was begun may be finished


def test_personal_links_are_shown_once(admin, visit, sqlite_store):
    study = made(admin, sqlite_store)
    admin.post(f"/admin/studies/{study.id}/open")
    page = admin.post(f"/admin/studies/{study.id}/participants", data={"count": "3"}).text
    links = [line for line in page.split("<textarea")[1].split(">", 1)[1].split("</textarea")[0].split() if line]
    assert len(links) == 3
    browser = visit()
    assert browser.get(links[0].removeprefix("http://testserver")).headers["location"] == "/sort"
    assert links[0] not in admin.get(f"/admin/studies/{study.id}").text
    assert admin.post(f"/admin/studies/{study.id}/participants", data={"count": "501"}).status_code == 422


def test_progress_is_sent_again_only_when_it_changed(admin, visit, sqlite_store):
    study = made(admin, sqlite_store)
    admin.post(f"/admin/studies/{study.id}/open")
    first = admin.get(f"/admin/studies/{study.id}/progress")
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "no-store"
    again = admin.get(f"/admin/studies/{study.id}/progress", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    sort(visit(), sqlite_store, study, [[0, 1], [2]])
    changed = admin.get(f"/admin/studies/{study.id}/progress", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_texts_can_be_replaced_in_the_language_of_the_study(admin, visit, sqlite_store):
    study = made(admin, sqlite_store, language="de")
    wrong = admin.post(f"/admin/studies/{study.id}/texts", data={"text-progress": "Satz {x}"})
    assert wrong.status_code == 422
    assert "Satz {x}" in wrong.text
    assert admin.post(f"/admin/studies/{study.id}/texts", data={"text-start": "Los"}).status_code == 303
    admin.post(f"/admin/studies/{study.id}/settings", data=TEMPLATE | {"language": "de"})  # keeps the texts
    admin.post(f"/admin/studies/{study.id}/open")
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    page = browser.get("/sort").text
    assert "Los</button>" in page
    assert '<html lang="de"' in page


def test_groupings_can_be_brought_along(admin, sqlite_store):
    study = made(admin, sqlite_store)
    table = b"item,annotator,group\napple,Ann,x\npear,Ann,x\nnut,Ann,y\n"
    answer = admin.post(f"/admin/studies/{study.id}/import", files={"groupings": ("old.csv", table)})
    assert answer.status_code == 303, answer.text
    assert "1 grouping imported." in admin.get(f"/admin/studies/{study.id}").text
    assert sqlite_store.groupings(study.id).n_groupings == 1
    wrong = admin.post(
        f"/admin/studies/{study.id}/import", files={"groupings": ("x.csv", table.replace(b"nut", b"fig"))}
    )
    assert wrong.status_code == 422
    assert "fig" in wrong.text


# ---- results


def test_a_report_before_there_are_answers_leads_back_to_the_study(admin, sqlite_store):
    study = begun(sqlite_store)
    takes_part(sqlite_store, study, preview=True)  # does not count
    answer = admin.get(f"/admin/studies/{study.id}/export/html")
    assert answer.status_code == 409
    assert "<h1>Not possible now</h1>" in answer.text
    assert "There are no answers yet that a report could be about." in answer.text
    assert f'<a href="/admin/studies/{study.id}">Back to the study</a>' in answer.text
    for address in (f"/admin/studies/{study.id}x/export/html", f"/admin/studies/{study.id}/no-such-page"):
        assert "Back to the study" not in admin.get(address).text


def test_exports(admin, visit, sqlite_store):
    study = made(admin, sqlite_store, items="=1+1\npear\nnut\nfig")
    admin.post(f"/admin/studies/{study.id}/open")
    for _ in range(4):
        sort(visit(), sqlite_store, study, [[0, 1], [2, 3]])
    files = {kind: admin.get(f"/admin/studies/{study.id}/export/{kind}") for kind in ("csv", "parquet", "json", "html")}
    for kind, file in files.items():
        assert file.status_code == 200, file.text
        assert file.headers["content-disposition"] == f'attachment; filename="study-{study.id}.{kind}"'
    rows = list(csv.DictReader(io.StringIO(files["csv"].content.decode("utf-8-sig"))))
    assert len(rows) == 16
    assert {row["item"] for row in rows} == {"'=1+1", "pear", "nut", "fig"}  # a spreadsheet does not run it
    assert {row["item"] for row in files["json"].json()} == {"=1+1", "pear", "nut", "fig"}
    assert len(pd.read_parquet(io.BytesIO(files["parquet"].content))) == 16
    assert "2 clusters" in files["html"].text
    assert "Minutes" in files["html"].text
    assert admin.get(f"/admin/studies/{study.id}/export/exe").status_code == 422


def test_the_demo_works_at_once(admin, visit, sqlite_store):
    assert "Make the demo study" in admin.get("/admin").text
    location = admin.post("/admin/demo").headers["location"]
    study = sqlite_store.study(location.rsplit("/", 1)[1])
    assert (study.status, study.n_items, study.subset_size) == ("open", demo.N_ITEMS, demo.SIZE)
    browser = visit()
    browser.get(f"/join/{study.join_token}")
    browser.post("/sort/begin")
    page = browser.get("/sort").text
    picture = page.split('src="/pictures/')[1].split('"')[0]
    assert browser.get(f"/pictures/{picture}").headers["content-type"] == "image/png"
    assert visit().get(f"/pictures/{picture}").status_code == 404  # for those who take part
    assert "Make the demo study" not in admin.get("/admin").text
