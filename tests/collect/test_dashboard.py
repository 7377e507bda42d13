"""What the dashboard shows: one consensus throughout, drawn by the worker when somebody looks, and said to be late."""

import re

import numpy as np
import pytest

from consilience import Groupings
from consilience.collect.results import exporting, overview
from consilience.collect.results.consensus import fingerprint, fusion_of
from consilience.collect.results.progress import quotas_of
from consilience.collect.settings.conditions import Quota
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Panel
from consilience.collect.store import overviews
from consilience.collect.worker import Worker
from consilience.simulation import simulate_crowd
from tests.collect.collecting import slow_with_postgresql
from tests.quick_cases import some_quick

from .collecting import begun, joined, kind_of, takes_part
from .judges import judged_animals

PARTS = ("progress", "findings", "people")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Let drawings be due at once."""
    monkeypatch.setattr(overviews, "PATIENCE", 0)


def study_of(store, n_people=6, *, names=None, **options):
    study = begun(store, *([names] if names else []), **options)
    for seed in range(n_people):
        takes_part(store, study, seed)
    return study


def dashboard(admin, study, part=""):
    return admin.get(f"/admin/studies/{study.id}/dashboard{'/' if part else ''}{part}")


def drawn(admin, store, study):
    """The dashboard after the worker has drawn what was asked for."""
    Worker(store).run()
    dashboard(admin, study)
    Worker(store).run()
    assert store.failures(study.id) == {}
    return dashboard(admin, study).text


def unclear(store, n_items=24, n_people=9, seed=0):
    """A study of noisy sorts, in which the number of clusters depends on the seed of a fit."""
    names = [f"card {number}" for number in range(n_items)]
    study = store.create_study("Noise", names, settings=StudySettings(stop_rule="none"))
    crowd = simulate_crowd(np.arange(n_items) % 6, n_annotators=n_people, accuracy=0.45, random_state=seed)
    frame = crowd.to_frame().assign(item=lambda found: "card " + found["item"].astype(str))
    store.import_groupings(study.id, Groupings.from_frame(frame))
    return study


@pytest.mark.parametrize("seed", some_quick([1, 2, 3]))
@pytest.mark.slow
def test_the_worker_the_comparison_and_the_report_find_the_same_clusters(sqlite_store, seed):
    study = unclear(sqlite_store, seed=seed)
    Worker(sqlite_store).run()
    found = sqlite_store.consensus(study.id)
    rows = sqlite_store.submitted(study.id)
    model, _ = exporting.fit_study(study, rows, sqlite_store.items(study.id))
    assert model.labels_.tolist() == found["labels"]
    shuffled, _ = exporting.fit_study(study, rows[::-1], sqlite_store.items(study.id))
    assert shuffled.labels_.tolist() == found["labels"]


@pytest.mark.slow
def test_all_pages_and_the_report_name_the_same_clusters(admin, sqlite_store):
    study = unclear(sqlite_store)
    page = drawn(admin, sqlite_store, study)
    found = sqlite_store.consensus(study.id)
    counts = [len(one["items"]) for one in found["clusters"]]
    shown = re.findall(r"<h3><bdi>(.*?)</bdi> <small>(\d+) card", page)
    assert shown == [(one["title"], str(size)) for one, size in zip(found["clusters"], counts, strict=True)]
    assert re.findall(r"<h4><bdi>(.*?)</bdi> <small>(\d+) card", admin.get(f"/admin/studies/{study.id}").text) == shown
    report = exporting.export_study(sqlite_store, study, "html").data.decode()
    findings = sqlite_store.overview_content(study.id)["findings"]
    assert findings[0] in report
    assert f"<dt>Clusters</dt><dd>{len(counts)}</dd>" in page


def test_who_is_left_out_is_in_one_row_of_the_comparison_only(admin, sqlite_store, nobody_is_fast):
    study = study_of(sqlite_store)
    lazy, _ = takes_part(sqlite_store, study, 9, rule=lambda item: 0)
    sqlite_store.exclude(lazy.id)
    Worker(sqlite_store).run()
    found = sqlite_store.consensus(study.id)
    both = found["quality"]["comparison"]
    assert [both[name]["n_annotators"] for name in ("everybody", "now", "without")] == [7, 6, 6]
    assert both["now"]["sizes"] == sorted((len(one["items"]) for one in found["clusters"]), reverse=True)


@pytest.mark.parametrize(
    ("kind", "n_people"),
    some_quick([("open", 0), ("open", 2), ("closed", 1), ("open", 1), ("open", 3), ("closed", 0), ("closed", 3)], 3),
)
@pytest.mark.usefixtures("with_drawings")
def test_few_people(admin, sqlite_store, kind, n_people):
    study = study_of(sqlite_store, n_people, kind=kind)
    page = drawn(admin, sqlite_store, study)
    if not n_people:
        assert "Nobody has handed in yet." in page
        assert "There is nothing to draw yet." in page
        assert sqlite_store.overview(study.id) is None
        return
    assert "out of date" not in page
    content = sqlite_store.overview_content(study.id)
    assert content["n_people"] == n_people
    assert content["certainty"] is None  # of fewer than four people, nothing is stated
    assert "ask at least 4." in page.partition('id="certainty"')[2]
    assert "too much data" not in page
    is_open = kind == "open"
    assert f'<a href="#clusters">{"Clusters" if is_open else "Classes"}</a>' in page
    assert f'<a href="#drawings">{"Map, matrix and tree" if is_open else "Accuracy"}</a>' in page
    assert f"presented {n_people} time{'s' * (n_people > 1)}." in page
    assert "needs leaving out" not in page  # beside flags, of which the report knows nothing
    nothing_tells = (kind, n_people) == ("closed", 1)  # who is right: no card has two labels
    assert [one[:11] for one in content["warnings"]] == ["DawidSkene:"] * nothing_tells
    assert f"From {n_people} grouping" in page
    assert page.count("<svg") >= len(content["figures"])
    assert bool(content["figures"]) == (not nothing_tells)


@pytest.mark.slow
def test_drawings_are_asked_for_by_those_who_look(admin, sqlite_store):
    study = study_of(sqlite_store)
    Worker(sqlite_store).run()
    assert sqlite_store.overview(study.id) is None
    assert "are being drawn" in dashboard(admin, study).text
    assert sqlite_store.at_work(study.id) == {"overview"}
    assert Worker(sqlite_store).run() == 1
    assert "What another group of people would repeat" in dashboard(admin, study).text
    assert sqlite_store.at_work(study.id) == set()


def test_the_page_says_what_is_out_of_date_until_it_is_not(admin, sqlite_store):
    study = study_of(sqlite_store)
    drawn(admin, sqlite_store, study)
    first = sqlite_store.overview(study.id)
    person = sqlite_store.participants(study.id)[0]
    admin.post(f"/admin/studies/{study.id}/participants/{person.id}/exclude", data={"back": "dashboard"})
    assert "the consensus is out of date" in dashboard(admin, study, "progress").text
    page = dashboard(admin, study).text
    assert "Take in again" in page
    assert "From 6 groupings" in page  # still the old drawings
    Worker(sqlite_store).run()
    page = dashboard(admin, study).text
    assert "out of date" not in page
    assert "From 5 groupings" in page
    assert sqlite_store.overview(study.id).answers != first.answers
    admin.post(f"/admin/studies/{study.id}/participants/{person.id}/restore", data={"back": "dashboard"})
    assert "From 6 groupings" in drawn(admin, sqlite_store, study)
    assert sqlite_store.overview(study.id).answers == first.answers


@pytest.mark.slow
@slow_with_postgresql
def test_an_overview_is_of_the_same_answers_as_the_consensus(store):
    """Answers that came between the two are in both."""
    study = study_of(store, 3)
    worker = Worker(store)
    worker.run()
    store.request_overview(study.id, at_once=True)
    takes_part(store, study, 7)
    worker.run()
    rows = [one for one in store.submitted(study.id) if one.counts]
    made, found = store.overview(study.id), store.consensus(study.id)
    assert made.answers == found["answers"] == fingerprint(rows)
    assert store.overview_content(study.id)["consensus"]["labels"] == found["labels"]


@pytest.mark.slow
def test_parts_that_did_not_change_are_not_sent_again(admin, sqlite_store, monkeypatch):
    study = study_of(sqlite_store)
    drawn(admin, sqlite_store, study)
    tags = {part: {"If-None-Match": dashboard(admin, study, part).headers["ETag"]} for part in PARTS}

    def statuses(parts=PARTS):
        address = f"/admin/studies/{study.id}/dashboard"
        return [admin.get(f"{address}/{part}", headers=tags[part]).status_code for part in parts]

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "overview_content", None)  # not even read
        assert statuses(["findings"]) == [304]
    assert statuses() == [304] * 3
    takes_part(sqlite_store, study, 8)
    drawn(admin, sqlite_store, study)
    assert statuses() == [200] * 3


def test_strangers_see_no_part(visit, sqlite_store):
    study = study_of(sqlite_store, 1)
    for part in PARTS:
        assert visit().get(f"/admin/studies/{study.id}/dashboard/{part}").status_code == 401


@pytest.mark.slow
def test_a_drawing_that_fails_is_tried_again_when_the_page_is_opened(admin, sqlite_store, monkeypatch, caplog):
    study = study_of(sqlite_store)
    Worker(sqlite_store).run()
    dashboard(admin, study)
    with monkeypatch.context() as patched:
        patched.setattr("consilience.collect.worker.worker.overview_of", None)
        Worker(sqlite_store).run()
    assert "The drawings could not be computed" in dashboard(admin, study, "progress").text
    assert sqlite_store.at_work(study.id) == set()
    assert "Map, matrix and tree" in drawn(admin, sqlite_store, study)


@slow_with_postgresql
def test_who_is_deleted_is_in_no_drawing(admin_of_any, store):
    study = study_of(store)
    drawn(admin_of_any, store, study)
    store.delete_participant(store.participants(study.id)[0].id)
    assert store.overview(study.id) is None


def test_who_withdrew_or_was_left_out_is_said_so(admin, sqlite_store):
    for study, pages in ((begun(sqlite_store), ("", "/dashboard")), (judged_animals(sqlite_store), ("",))):
        sqlite_store.withdraw(joined(sqlite_store, study).id)
        for page in pages:
            text = admin.get(f"/admin/studies/{study.id}{page}").text
            assert "<dt>Withdrew</dt><dd>1 <small>person</small>" in text
            assert "Left out</dt>" not in text


def test_quotas_are_apart_from_limits(admin, sqlite_store):
    panel = Panel(quotas=(Quota("PID", ("p1",), 5),))
    study = begun(sqlite_store, panel=panel, parameters=("PID",), groupings_wanted=7)
    takes_part(sqlite_store, study, parameters={"PID": "p1"})
    page = admin.get(f"/admin/studies/{study.id}/dashboard").text
    assert "1 <small>of 5</small>" in page.partition("<h3>Limits</h3>")[0]
    assert "1 of 7 wanted" in page.partition("<h3>Limits</h3>")[2]
    assert "Quotas" not in page


def test_quotas(store):
    study = study_of(store, 4, subset_size=6, max_per_item=3, groupings_wanted=10)
    times = store.times_presented(study.id)
    found = quotas_of(store, study)
    assert times.sum() == 24
    assert (found["least"], found["most"], found["limit"]) == (times.min(), times.max(), 3)
    assert found["full"] == (times >= 3).sum()
    assert found["unseen"] == (times == 0).sum()
    assert found["median"] == np.median(times)


@pytest.mark.slow
def test_many_people_are_shown_in_part(admin, sqlite_store, monkeypatch):
    monkeypatch.setattr(overview, "MOST_PEOPLE", 3)
    page = drawn(admin, sqlite_store, study_of(sqlite_store, 5))
    assert "The first 3 of 5." in page
    assert len(re.findall(r'id="ranked-[a-z0-9]+"', page)) == 3 + 1  # the link to all of them


def test_names_are_escaped(admin, sqlite_store):
    names = [f"<b>{number}</b> & co" for number in range(12)]
    page = drawn(admin, sqlite_store, study_of(sqlite_store, names=names))
    assert "<b>0</b>" not in page
    assert "&lt;b&gt;0&lt;/b&gt; &amp; co" in page


def test_the_curve_of_stability_ends_at_all_groupings(sqlite_store):
    study = study_of(sqlite_store, 8)
    rows = sqlite_store.submitted(study.id)
    labels = fusion_of(study).fit(sqlite_store.groupings(study.id)).labels_
    curve = overview._stability(study, rows, labels)
    assert curve["n_groupings"].tolist() == [4, 5, 6, 7, 8]
    assert curve["stability"].tolist() == pytest.approx([1.0] * 5)  # everybody sorts by one rule
    assert overview._stability(study, rows[:4], labels) is None
    assert labels.tolist() == [labels[kind_of(item)] for item in range(12)]


@pytest.mark.slow
def test_five_hundred_cards_and_three_hundred_people(admin, sqlite_store):
    names = [f"card {number}" for number in range(500)]
    study = sqlite_store.create_study("Large", names)
    crowd = simulate_crowd(np.arange(500) % 8, n_annotators=300, accuracy=0.8, items_each=40, random_state=0)
    frame = crowd.to_frame().assign(item=lambda found: "card " + found["item"].astype(str))
    sqlite_store.import_groupings(study.id, Groupings.from_frame(frame))
    page = drawn(admin, sqlite_store, study)
    assert "Only 300 of 500 cards are drawn, chosen at random." in page
    assert "The first 50 of 300." in page
    assert re.search(r"and \d+ more", page)
    assert len(page) < 1_500_000
