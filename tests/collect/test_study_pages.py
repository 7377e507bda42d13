"""Pages of a study: which step is next, finding people, and when drawings are said to be on their way."""

import re

import pytest

from consilience.collect.settings.model import StudySettings
from consilience.collect.store import overviews
from consilience.collect.worker import Worker

from .collecting import begun, joined, takes_part
from .conftest import session_of


def next_step(admin, study):
    page = admin.get(f"/admin/studies/{study.id}").text
    [current] = re.findall(r'<li aria-current="step">(.*?)</li>', page)
    assert "primary" in current
    assert page.count('primary"') == 1  # nothing else stands out
    return re.sub("<.*?>", "", current)


def test_the_next_step_stands_out(admin, sqlite_store):
    study = sqlite_store.create_study("Fruit", ["a", "b"], settings=StudySettings(groupings_wanted=2, stop_rule="none"))
    assert next_step(admin, study) == "Preview as a participant"
    sqlite_store.new_participant(study.id, preview=True)
    assert next_step(admin, study) == "Open the study"
    sqlite_store.open_study(study.id)
    assert next_step(admin, study) == "Pass on the link"
    takes_part(sqlite_store, study)
    assert next_step(admin, study) == "Watch"
    takes_part(sqlite_store, study)
    assert next_step(admin, study) == "Close the study"
    sqlite_store.close_study(study.id)
    assert next_step(admin, study) == "Results"


def people_in(page):
    return re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page)


def test_people_are_listed_some_at_a_time_and_found_by_what_is_known_of_them(admin, sqlite_store):
    study = begun(sqlite_store, parameters=("PROLIFIC_PID",))
    people = [joined(sqlite_store, study, parameters={"PROLIFIC_PID": f"Panel{number:03d}"}) for number in range(120)]
    address = f"/admin/studies/{study.id}/people"
    listed, query = [], ""
    while query is not None:
        page = admin.get(address + query).text
        assert len(people_in(page)) <= 50
        listed += people_in(page)
        query = next(iter(re.findall(r'rel="next" href="(.*?)"', page)), None)
        query = query and query.replace("&amp;", "&")
    assert listed == [one.id for one in people]
    assert "101 to 120 of 120" in page
    assert people_in(admin.get(f"{address}?q=panel007").text) == [people[7].id]
    assert people_in(admin.get(f"{address}?q={people[99].id}&start=51").text) == [people[99].id]
    nobody = admin.get(address, params={"q": '"><script>'}).text
    assert people_in(nobody) == []
    assert "<script>" not in nobody
    assert admin.get(f"{address}?start=0").status_code == 422


def fail(*_):
    raise ZeroDivisionError


def test_drawings_are_said_to_be_drawn_only_while_they_are(admin, sqlite_store, monkeypatch):
    monkeypatch.setattr(overviews, "PATIENCE", 0)
    study = begun(sqlite_store)
    for seed in range(3):
        takes_part(sqlite_store, study, seed)
    address = f"/admin/studies/{study.id}/dashboard"

    def look(part=""):
        return admin.get(f"{address}{part}").text

    assert "Nobody has handed in yet." not in look("/people")  # although no consensus is computed
    Worker(sqlite_store).run()
    page = look()
    assert "They are being drawn" in page
    assert "They are being ranked." in page
    assert "out of date" not in page  # nothing was drawn before
    with monkeypatch.context() as broken:
        broken.setattr("consilience.collect.worker.worker.overview_of", fail)
        Worker(sqlite_store).run()
    page = look("/progress") + look("/findings") + look("/people")
    assert "Reload the page to have them drawn." in page
    assert "Reload the page to have them ranked." in page
    assert not re.search("being (drawn|ranked)|out of date", page)
    monkeypatch.setattr("consilience.collect.worker.worker.overview_of", lambda *_: {})
    look()
    Worker(sqlite_store).run()
    takes_part(sqlite_store, study, 3)
    Worker(sqlite_store).run()
    assert "are out of date, and are being drawn again." in look("/progress")
    monkeypatch.setattr("consilience.collect.worker.worker.overview_of", fail)
    Worker(sqlite_store).run()
    assert "are out of date: reload the page to have them drawn again." in look("/progress")


@pytest.mark.parametrize(("kind", "asked"), [("open", False), ("closed", True), ("hybrid", True)])
def test_groups_are_asked_for_where_some_are_given(page, sqlite_store, password_hash, kind, asked):
    sqlite_store.set_password_hash(password_hash)
    session = session_of(sqlite_store)
    page.goto("/admin/login")
    page.context.add_cookies([{"name": "session", "value": session, "url": page.url}])
    page.goto("/admin/new")
    page.locator(f"#kind-{kind}").check()
    assert page.get_by_label("Your groups, one on a line").is_visible() == asked
    assert page.get_by_label("Names of groups").is_visible() == (kind != "closed")
