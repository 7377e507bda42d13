"""The worker composes what people sort next, and finds the consensus of what they submitted."""

import logging
import time
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import func, select

from consilience import Groupings, Labels
from consilience.collect.errors import NotFoundError
from consilience.collect.settings.model import StudySettings
from consilience.collect.store import Store, studies, tables
from consilience.collect.store import work as store_work
from consilience.collect.store.database import now
from consilience.collect.worker import Worker
from consilience.metrics import ari
from tests.collect.collecting import NAMES, begun, joined, kind_of, request_job, slow_with_postgresql, sort, takes_part
from tests.collect.conftest import DEBOUNCE


def test_subsets_are_prepared_and_given_in_their_order(store):
    study = begun(store, subset_size=4, random_share=0.5)
    Worker(store, ahead=40).run()
    prepared = store.prepared_subsets(study.id)
    assert len(prepared) == 40
    assert {one.source for one in prepared} == {"informative", "random"}
    for one in prepared[:3]:
        assignment = store.assignment_for(joined(store, study), np.random.default_rng(0))
        assert sorted(assignment.items) == sorted(one.items)
        assert assignment.source == one.source
    assert store.prepared_subsets(study.id) == prepared[3:]
    Worker(store, ahead=40).run()  # another one, which knows nothing of the first
    assert len(store.prepared_subsets(study.id)) == 40


def test_without_a_worker_subsets_are_random_and_marked(store):
    study = begun(store, subset_size=4)
    sources = [takes_part(store, study, seed)[1][0].source for seed in range(3)]
    assert sources == ["dry"] * 3
    assert store.export_frame(study.id)["source"].unique().tolist() == ["dry"]


def test_the_share_of_random_subsets(sqlite_store):
    study = begun(sqlite_store, subset_size=4, strategy="explore", random_share=0.25)
    Worker(sqlite_store, ahead=200).run()
    counts = Counter(one.source for one in sqlite_store.prepared_subsets(study.id))
    assert set(counts) == {"explore", "random"}
    assert 30 <= counts["random"] <= 70  # 50 expected, standard deviation 6


@slow_with_postgresql
def test_a_consensus_is_kept_in_place_of_the_last(store):
    first, other = begun(store), begun(store)
    numbers = []
    for seed in range(3):
        takes_part(store, first, seed)
        takes_part(store, other, seed)
        Worker(store).run()
        numbers.append(store.consensus_number(first.id))
    assert numbers[0] < numbers[1] < numbers[2]  # by which pages know that there is a new one
    with store.read() as db:
        kept = dict(db.execute(select(tables.consensuses.c.study, tables.consensuses.c.n_groupings)).all())
        assert db.scalar(select(func.count()).select_from(tables.consensuses)) == 2
    assert kept == {first.id: 3, other.id: 3}
    assert store.consensus(first.id)["n_groupings"] == 3


def test_answers_that_follow_each_other_closely_make_one_consensus(sqlite_store, monkeypatch):
    """It is due some time after the first of them, for which a worker waits."""
    assert timedelta(seconds=1) <= DEBOUNCE <= timedelta(seconds=5)
    monkeypatch.setattr(store_work, "DEBOUNCE", timedelta(seconds=0.5))
    study = begun(sqlite_store)
    _, [first] = takes_part(sqlite_store, study)
    while sqlite_store.next_due() <= first.submitted:  # subsets, of which there are none
        assert Worker(sqlite_store).work_once()
    takes_part(sqlite_store, study, 1)
    with sqlite_store.read() as db:
        found = select(tables.jobs.c.due).where(tables.jobs.c.kind == "consensus")
        assert db.scalars(found).all() == [first.submitted + timedelta(seconds=0.5)]
    assert Worker(sqlite_store).run() == 2  # subsets again
    assert now() >= first.submitted + timedelta(seconds=0.5)
    assert sqlite_store.consensus(study.id)["n_groupings"] == 2


@slow_with_postgresql
def test_the_consensus_is_found_and_a_stop_advised(store):
    study = begun(store, subset_size=6, stop_rule="reliability")
    worker = Worker(store, ahead=3)
    for number in range(12):
        if number % 3 == 0:  # so many subsets are prepared
            worker.run()
        takes_part(store, study, number)
    worker.run()
    found = store.consensus(study.id)
    assert found["kind"] == "groupings"
    assert found["n_groupings"] == found["n_annotators"] == 12
    assert found["n_items_grouped"] == 12
    assert ari(np.array(found["labels"]), [kind_of(item) for item in range(12)]) == 1
    assert sorted(tuple(one["items"]) for one in found["clusters"]) == [(0, 3, 6, 9), (1, 4, 7, 10), (2, 5, 8, 11)]
    assert found["advice"]["stop"] is True
    assert found["advice"]["reason"].startswith("Reliability is ")
    assert [one["n_groupings"] for one in found["rounds"]] == [3, 6, 9, 12]
    assert found["rounds"][0]["stability"] is None
    assert found["rounds"][-1]["stability"] == pytest.approx(1)
    assert "dry" not in found["sources"]


@pytest.mark.slow
def test_a_consensus_does_not_depend_on_a_restart(sqlite_store):
    """A worker that heard everything one by one finds what one finds that begins now; no informative draws differ."""
    study = begun(sqlite_store, subset_size=6)
    worker = Worker(sqlite_store)
    for number in range(6):
        takes_part(sqlite_store, study, number)
        worker.run()
    first = sqlite_store.consensus(study.id)
    request_job(sqlite_store, study, "consensus")
    Worker(sqlite_store).run()
    again = sqlite_store.consensus(study.id)
    assert ari(np.array(first["labels"]), np.array(again["labels"])) == 1
    assert len(again["rounds"]) == len(first["rounds"])  # of the same groupings: no new round


def test_people_who_are_left_out_are_forgotten(sqlite_store):
    study = begun(sqlite_store, subset_size=6)
    worker = Worker(sqlite_store)
    for number in range(5):
        takes_part(sqlite_store, study, number)
    mallory, _ = takes_part(sqlite_store, study, 9, rule=lambda item: 0)
    worker.run()
    assert sqlite_store.consensus(study.id)["n_annotators"] == 6
    assert mallory.id in worker._sessions[study.id].session.groupings_.annotators
    sqlite_store.exclude(mallory.id)
    worker.run()
    assert sqlite_store.consensus(study.id)["n_annotators"] == 5
    assert mallory.id not in worker._sessions[study.id].session.groupings_.annotators
    sqlite_store.exclude(mallory.id, False)
    worker.run()
    assert sqlite_store.consensus(study.id)["n_annotators"] == 6


def test_previews_and_repetitions_stay_out(sqlite_store):
    study = begun(sqlite_store, subset_size=4, per_participant=6, repeat_share=0.6)
    _, submitted = takes_part(sqlite_store, study, 1, times=6)
    repeats = [one for one in submitted if one.source == "repeat"]
    assert repeats
    earlier = {frozenset(one.items) for one in submitted if one.source != "repeat"}
    assert all(frozenset(one.items) in earlier for one in repeats)
    takes_part(sqlite_store, study, 2, preview=True)
    worker = Worker(sqlite_store)
    worker.run()
    assert sqlite_store.consensus(study.id)["n_groupings"] == len(submitted) - len(repeats)
    assert sqlite_store.consensus(study.id)["sources"] == {"dry": len(submitted) - len(repeats)}
    assert worker._sessions[study.id].session.groupings_.n_groupings == len(submitted) - len(repeats)


# with 532361453, a subset prepared for somebody no longer fits
@pytest.mark.slow
@pytest.mark.parametrize("seed", [532361453, pytest.param(1, marks=pytest.mark.slow)])
def test_people_who_go_on_get_subsets_of_their_own(sqlite_store, monkeypatch, seed):
    """No item is presented twice to them, and what they get is composed, not dry."""
    monkeypatch.setattr(studies, "new_seed", lambda: seed)
    study = begun(sqlite_store, subset_size=4, per_participant=3, random_share=0.3)
    worker, sources = Worker(sqlite_store), []
    for number in range(4):
        person, rng, seen = joined(sqlite_store, study), np.random.default_rng(number), []
        worker.run()
        while (assignment := sqlite_store.assignment_for(person, rng)) is not None:
            seen += assignment.items
            sources.append(assignment.source)
            worker.run()
            sort(sqlite_store, assignment)
            worker.run()
        assert sorted(seen) == list(range(12))
    assert len(sources) == 12
    assert set(sources) == {"informative", "random"}


def test_nothing_is_composed_where_everything_is_sorted_or_nobody_may(sqlite_store):
    whole = begun(sqlite_store)
    closed = begun(sqlite_store, subset_size=4)
    sqlite_store.close_study(closed.id)
    draft = sqlite_store.create_study("Draft", NAMES, settings=StudySettings(subset_size=4))
    request_job(sqlite_store, draft, "subsets")
    Worker(sqlite_store).run()
    for study in (whole, closed, draft):
        assert sqlite_store.prepared_subsets(study.id) == []
        assert sqlite_store.consensus(study.id) is None


@pytest.mark.slow
def test_a_quota_of_each_item_is_kept(sqlite_store):
    study = begun(sqlite_store, subset_size=4, max_per_item=2, random_share=0.3)
    worker, presented = Worker(sqlite_store, ahead=2), Counter()
    for number in range(20):
        worker.run()
        for one in takes_part(sqlite_store, study, number)[1]:
            presented.update(one.items)
    assert max(presented.values()) == 2
    assert sum(presented.values()) >= 20  # of 24


@slow_with_postgresql
def test_a_closed_sort_gives_categories(store):
    study = begun(store, kind="closed", subset_size=6)
    worker = Worker(store)
    worker.run()
    for number in range(8):
        takes_part(store, study, number)
        worker.run()
    found = store.consensus(study.id)
    assert found["kind"] == "labels"
    assert found["categories"] == ["A", "B", "C"]
    given = np.array(found["labels"]) >= 0
    assert given.sum() == found["n_items_grouped"]
    np.testing.assert_array_equal(np.array(found["labels"])[given], np.arange(12)[given] % 3)
    assert np.array(found["counts"]).sum() == 8 * 6
    assert found["advice"] is None
    assert isinstance(store.labels(study.id), Labels)
    assert found["sources"] == {"random": 8}


def test_existing_groupings_are_where_it_starts(store):
    study = begun(store, subset_size=4)
    lists = [[[name for name in NAMES if NAMES.index(name) % 3 == kind] for kind in range(3)]] * 3
    assert store.import_groupings(study.id, Groupings.from_lists(lists, annotators=["Ann", "Bo", "Cy"])) == 3
    Worker(store).run()
    found = store.consensus(study.id)
    assert found["sources"] == {"imported": 3}
    assert found["n_clusters"] == 3


def test_a_job_that_fails_is_noted_and_the_worker_goes_on(sqlite_store, monkeypatch, caplog):
    study, other = begun(sqlite_store, subset_size=4), begun(sqlite_store, subset_size=4)
    worker, whole = Worker(sqlite_store), Worker._prepare

    def prepare(self, one, rows):
        if one.id == study.id:
            raise RuntimeError("no luck")
        whole(self, one, rows)

    with monkeypatch.context() as patched, caplog.at_level(logging.CRITICAL):
        patched.setattr(Worker, "_prepare", prepare)
        worker.run()
    assert sqlite_store.failures(study.id) == {"subsets": "RuntimeError: no luck"}
    assert sqlite_store.prepared_subsets(other.id)
    request_job(sqlite_store, study, "subsets")
    worker.run()
    assert sqlite_store.failures(study.id) == {}
    assert sqlite_store.prepared_subsets(study.id)


def test_the_thread_works_while_people_sort(url):
    store = Store.open(url)
    study = begun(store, subset_size=4)
    worker = Worker(store, poll=0.02)
    worker.start()
    worker.start()  # which is the same
    try:
        deadline = time.monotonic() + 60
        for number in range(3):
            takes_part(store, study, number)
        while time.monotonic() < deadline:
            found = store.consensus(study.id)
            if found is not None and found["n_groupings"] == 3:
                break
            time.sleep(0.05)
        assert found["n_groupings"] == 3
        assert store.prepared_subsets(study.id)
    finally:
        worker.stop()
        store.close()


def test_subsets_of_cards_that_changed_meanwhile_are_not_kept(store):
    study = begun(store, subset_size=4)
    with pytest.raises(NotFoundError, match=r"^The cards of the study changed\.$"):
        store.put_subsets(study.id, [([0, 1, 2, 12], "informative", None)])
    with pytest.raises(NotFoundError):
        store.put_subsets(study.id, [([0, 1, 2], "informative", None)])
    assert store.prepared_subsets(study.id) == []
