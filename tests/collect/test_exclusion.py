"""Leaving people out of a study and taking them in again, on the pages and by the API."""

import numpy as np
import pytest

from consilience.collect.worker import Worker
from consilience.inspection import random_sorters
from tests.quick_cases import quick_in_turn

from .collecting import begun, takes_part

pytestmark = pytest.mark.usefixtures("nobody_is_fast")


@pytest.fixture
def study(sqlite_store):
    found = begun(sqlite_store)
    for seed in range(3):
        takes_part(sqlite_store, found, seed)
    Worker(sqlite_store).run()
    return found


def one_of(store, study):
    return store.participants(study.id)[0]


@pytest.mark.parametrize("back", quick_in_turn(["people", "dashboard", "//elsewhere", ""], 0, every=2))
def test_a_button_leaves_somebody_out_and_another_takes_them_in(admin, sqlite_store, study, back):
    person = one_of(sqlite_store, study)
    base = f"/admin/studies/{study.id}/participants/{person.id}"
    shown = back if back in ("people", "dashboard") else "people"
    assert f'action="{base}/exclude"' in admin.get(f"/admin/studies/{study.id}/people").text
    answer = admin.post(f"{base}/exclude", data={"back": back})
    assert answer.headers["location"] == f"/admin/studies/{study.id}/{shown}"
    assert sqlite_store.participant(person.id).excluded
    assert Worker(sqlite_store).run() > 0
    assert sqlite_store.consensus(study.id)["n_groupings"] == 2
    page = admin.get(f"/admin/studies/{study.id}/people").text
    assert f"{person.id} is left out; nothing of theirs is deleted." in page
    assert f'action="{base}/restore"' in page
    admin.post(f"{base}/restore", data={"back": back})
    Worker(sqlite_store).run()
    assert sqlite_store.consensus(study.id)["n_groupings"] == 3


def test_who_withdrew_is_not_offered_to_be_taken_in_again(admin, sqlite_store, study):
    sqlite_store.withdraw(one_of(sqlite_store, study).id)
    for page in ("people", "dashboard/people"):
        assert "/restore" not in admin.get(f"/admin/studies/{study.id}/{page}").text
    assert ">withdrew</td>" in admin.get(f"/admin/studies/{study.id}/people").text


def test_previews_are_no_people_of_the_list(admin, sqlite_store, study):
    preview, _ = sqlite_store.new_participant(study.id, preview=True)
    page = admin.get(f"/admin/studies/{study.id}/people").text
    assert preview.id not in page
    assert one_of(sqlite_store, study).id in page


def test_a_study_without_people_says_so(admin, sqlite_store):
    page = admin.get(f"/admin/studies/{begun(sqlite_store).id}/people").text
    assert "Nobody has come yet." in page


def test_only_people_of_the_study_can_be_left_out(admin, script, sqlite_store, study):
    stranger, _ = takes_part(sqlite_store, begun(sqlite_store))
    for client, start in ((admin, "/admin"), (script, "/api/v1")):
        answer = client.post(f"{start}/studies/{study.id}/participants/{stranger.id}/exclude")
        assert answer.status_code == 404
        assert "There is no such participant." in answer.text
    assert not sqlite_store.participant(stranger.id).excluded


def test_strangers_can_leave_nobody_out(visit, sqlite_store, study):
    person = one_of(sqlite_store, study)
    answer = visit().post(f"/admin/studies/{study.id}/participants/{person.id}/exclude")
    assert answer.status_code == 401
    assert not sqlite_store.participant(person.id).excluded


def test_scripts_list_people_and_leave_them_out(script, sqlite_store, study):
    base = f"/api/v1/studies/{study.id}/participants"
    people = script.get(base).json()
    assert [(one["submitted"], one["excluded"]) for one in people] == [(1, False)] * 3
    person = people[0]["id"]
    assert script.post(f"{base}/{person}/exclude").json() == {"id": person, "excluded": True}
    assert [one["excluded"] for one in script.get(base).json()] == [True, False, False]
    assert Worker(sqlite_store).run() > 0
    assert sqlite_store.consensus(study.id)["n_groupings"] == 2
    assert script.post(f"{base}/{person}/restore").json() == {"id": person, "excluded": False}


def test_the_dashboard_shows_flags_and_both_consensuses(admin, script, sqlite_store, study):
    lazy, _ = takes_part(sqlite_store, study, 9, rule=lambda item: 0)
    Worker(sqlite_store).run()
    page = admin.get(f"/admin/studies/{study.id}/dashboard").text
    assert "Put all 12 sorted cards into one group." in page
    assert f'action="/admin/studies/{study.id}/participants/{lazy.id}/exclude"' in page
    sent = script.get(f"/api/v1/studies/{study.id}/flags").json()
    assert [(one["participant"], one["kind"]) for one in sent["flags"]] == [(lazy.id, "one pile")]
    both = sent["comparison"]
    assert (both["everybody"]["n_annotators"], both["without"]["n_annotators"]) == (4, 3)
    assert both["without"]["sizes"] == [4, 4, 4]
    table = admin.get(f"/admin/studies/{study.id}/flags.csv").text
    assert "Put all 12 sorted cards" in table
    assert "All but those flagged" in page


def test_the_dashboard_looks_at_everybody_whom_its_test_calls_random(admin, script, sqlite_store):
    study = begun(sqlite_store, [f"card {number}" for number in range(24)])
    for seed in range(6):
        takes_part(sqlite_store, study, seed)
    drawn = np.random.default_rng(0).integers(3, size=(2, 24))
    anywhere = [takes_part(sqlite_store, study, rule=groups.__getitem__)[0] for groups in drawn]
    tested = random_sorters(sqlite_store.groupings(study.id))
    marked = set(tested.index[tested["random"]])
    assert marked == {person.id for person in anywhere}
    Worker(sqlite_store).run()
    page = admin.get(f"/admin/studies/{study.id}/dashboard").text
    table = page.split('id="flagged-table"')[1].split("</table>")[0]
    assert {person for person in marked if person in table} == marked
    sent = script.get(f"/api/v1/studies/{study.id}/flags").json()["flags"]
    assert {one["participant"] for one in sent if one["kind"] == "random"} == marked


def test_the_part_of_the_dashboard_that_changes_has_a_tag(admin, sqlite_store, study):
    address = f"/admin/studies/{study.id}/dashboard/people"
    first = admin.get(address)
    assert "Nobody is flagged." in first.text
    assert admin.get(address, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


def test_a_button_deletes_somebody_for_good(admin, sqlite_store, study):
    person, other = one_of(sqlite_store, study), begun(sqlite_store)
    path = f"participants/{person.id}/delete"
    assert admin.post(f"/admin/studies/{other.id}/{path}").status_code == 404
    assert f'action="/admin/studies/{study.id}/{path}"' in admin.get(f"/admin/studies/{study.id}/people").text
    answer = admin.post(f"/admin/studies/{study.id}/{path}")
    assert answer.headers["location"] == f"/admin/studies/{study.id}/people"
    page = admin.get(f"/admin/studies/{study.id}/people").text
    assert f"{person.id} is deleted." in page
    assert f"participants/{person.id}" not in page
    assert len(sqlite_store.submitted(study.id)) == 2
    Worker(sqlite_store).run()
    assert sqlite_store.consensus(study.id)["n_groupings"] == 2


def test_replacements_are_wanted_for_who_is_left_out(admin, sqlite_store):
    study = begun(sqlite_store, groupings_wanted=3)
    people = [takes_part(sqlite_store, study, seed)[0] for seed in range(3)]
    address = f"/admin/studies/{study.id}"
    assert "3 of 3 wanted" in admin.get(address).text
    sqlite_store.exclude(people[0].id)
    page = admin.get(address).text
    assert "2 of 3 wanted" in page
    assert 'max="3" value="2"' in page
    assert "(2 of 3 wanted)" in admin.get("/admin").text
    assert takes_part(sqlite_store, study, 3)[1]
    assert "3 of 3 wanted" in admin.get(address).text
