"""People from panels in the store: they come back as themselves, and take back what they gave."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import update

from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.settings.panel import Panel
from consilience.collect.store import tables
from consilience.collect.store.database import now
from consilience.collect.worker import Worker

from .collecting import begun, joined, slow_with_postgresql, sort, takes_part
from .judges import judged_animals

PID = {"PID": "5f1"}


def panel_study(store, **panel):
    return begun(
        store,
        subset_size=4,
        per_participant=3,
        parameters=("PID",),
        panel=Panel(**{"identified_by": "PID"} | panel),
    )


def given(store, person, seed=0):
    return store.assignment_for(person, np.random.default_rng(seed))


def test_who_comes_back_resumes_with_new_subsets_and_a_new_secret(store):
    study = panel_study(store)
    person, first = store.arrive(study.id, PID)
    seen = set(sort(store, given(store, person)).items)
    open_one = given(store, person, 1)
    again, second = store.arrive(study.id, PID)
    assert again == person
    assert store.participant_by_token(second) == person
    with pytest.raises(NotFoundError):
        store.participant_by_token(first)
    assert given(store, again, 2).id == open_one.id
    assert not seen & set(open_one.items)
    assert store.arrive(study.id, {"PID": "another"})[0] != person
    assert store.arrive(study.id, {})[0] != store.arrive(study.id, {})[0]


def test_who_comes_back_starts_again_and_counts_once(store):
    study = panel_study(store, returning="restart")
    person, _ = store.arrive(study.id, PID)
    assert store.arrive(study.id, PID)[0] == person  # nothing was begun yet
    sort(store, given(store, person))
    given(store, person, 1)
    again, _ = store.arrive(study.id, PID)
    assert again != person
    assert store.participant(person.id).excluded
    assert not store.participant(again.id).excluded
    assert [one.state for one in store.assignments_of(person.id)] == ["submitted", "withdrawn"]


def test_who_comes_back_is_turned_away_once_they_have_begun(store):
    study = panel_study(store, returning="turn away")
    person, _ = store.arrive(study.id, PID)
    assert store.arrive(study.id, PID)[0] == person
    given(store, person)
    assert store.arrive(study.id, PID) is None


def test_a_closed_study_lets_back_only_who_was_in_it(store):
    study = panel_study(store)
    person, _ = store.arrive(study.id, PID)
    store.close_study(study.id)
    assert store.arrive(study.id, PID)[0] == person
    with pytest.raises(NotOpenError):
        store.arrive(study.id, {"PID": "late"})


def test_people_who_arrive_twice_at_once_are_one(store):
    study = panel_study(store)
    with ThreadPoolExecutor(8) as threads:
        arrived = list(threads.map(lambda _: store.arrive(study.id, PID)[0].id, range(16)))
    assert len(set(arrived)) == 1


def test_consent_is_kept_with_its_text_and_stays(store):
    study = panel_study(store)
    person, _ = store.arrive(study.id, PID)
    assert store.consent(person.id) is None
    store.decide(person.id, "First text", agreed=False)
    store.reconsider(person.id)
    assert store.consent(person.id) is None
    store.decide(person.id, "First text", agreed=True)
    store.decide(person.id, "Second text", agreed=False)
    store.reconsider(person.id)
    decided = store.consent(person.id)
    assert (decided.agreed, decided.text) == (True, "First text")
    assert now() - decided.decided < timedelta(minutes=1)


def test_answers_are_kept_once(store):
    study = panel_study(store)
    person, _ = store.arrive(study.id, PID)
    assert not store.has_answered(person.id, "before")
    store.keep_answers(person.id, "before", {"age": 44.0, "diet": ["Fish"]})
    store.keep_answers(person.id, "before", {"age": 45.0})
    store.keep_answers(person.id, "after", {"hard": None})
    assert store.answers(person.id) == {"age": 44.0, "diet": ["Fish"], "hard": None}


@pytest.mark.parametrize("way", ["withdraw", "delete_participant"])
@slow_with_postgresql
def test_what_is_taken_back_is_gone_and_the_consensus_is_found_anew(store, way):
    study = panel_study(store)
    person, done = takes_part(store, study, parameters=PID)
    other, _ = takes_part(store, study, seed=1, parameters={"PID": "other"})
    store.decide(person.id, "Text", agreed=True)
    store.keep_answers(person.id, "before", {"age": 44.0})
    Worker(store).run()
    assert store.consensus(study.id)["n_groupings"] == 2
    getattr(store, way)(person.id)
    assert store.consensus(study.id) is None
    Worker(store).run()
    assert store.consensus(study.id)["n_groupings"] == 1
    assert [one.participant for one in store.submitted(study.id)] == [other.id]
    assert store.assignments_of(person.id) == []
    assert store.changes(done[0].id) == []
    assert store.answers(person.id) == {}
    assert store.consent(person.id) is None
    assert all(one.parameters != PID for one in store.participants(study.id))
    assert store.has_withdrawn(person.id) == (way == "withdraw")
    if way == "withdraw":
        assert given(store, person) is None
        store.withdraw(person.id)  # changes nothing
    else:
        with pytest.raises(NotFoundError):
            store.delete_participant(person.id)


def test_a_worker_that_heard_an_answer_forgets_it(store):
    study = panel_study(store)
    worker = Worker(store)
    person, _ = takes_part(store, study)
    takes_part(store, study, seed=1)
    worker.run()
    store.withdraw(person.id)
    worker.run()
    assert store.consensus(study.id)["n_groupings"] == 1
    failed = [one for one in store.jobs(study.id) if one.error] if hasattr(store, "jobs") else []
    assert failed == []


def aged(store, table, person, **values):
    column = table.c.participant if "participant" in table.c else table.c.id
    with store.write() as db:
        db.execute(update(table).where(column == person.id).values(**values))


def test_an_untouched_subset_is_released_after_the_time_limit(store):
    study = panel_study(store, minutes=20)
    slow, _ = store.arrive(study.id, PID)
    mine = given(store, slow)
    aged(store, tables.assignments, slow, assigned=now() - timedelta(minutes=19))
    store.tidy()
    assert store.assignment(mine.id).state == "open"
    aged(store, tables.assignments, slow, assigned=now() - timedelta(minutes=21))
    store.tidy()
    assert store.assignment(mine.id).state == "withdrawn"
    assert given(store, slow).id == mine.id  # it continues if they return


def test_parameters_are_erased_when_they_are_old(store):
    study = panel_study(store, keep_days=30)
    kept = panel_study(store)
    old, new, other = (store.arrive(one.id, PID)[0] for one in (study, kept, kept))
    aged(store, tables.participants, old, created=now() - timedelta(days=29))
    assert store.tidy() == 0
    for person in (old, new):
        aged(store, tables.participants, person, created=now() - timedelta(days=31))
    assert store.tidy() == 1
    assert store.participant(old.id).parameters == {}
    assert store.participant(other.id).parameters == PID


def test_nothing_is_kept_of_who_withdrew(store):
    person = joined(store, begun(store))
    store.withdraw(person.id)
    store.keep_answers(person.id, "before", {"age": 44})
    store.decide(person.id, "What this is", agreed=True)
    assert store.answers(person.id) == {}
    assert store.consent(person.id) is None


def test_who_withdrew_is_not_counted_as_left_out(store):
    for study, count in ((begun(store), store.progress), (judged_animals(store), store.judging_progress)):
        gone, left_out, _ = (joined(store, study) for _ in range(3))
        joined(store, study, preview=True)
        store.withdraw(gone.id)
        store.exclude(left_out.id)
        counts = count(study.id)
        assert (counts["participants"], counts["excluded"], counts["withdrew"]) == (3, 1, 1)


def test_who_withdrew_is_not_taken_in_again(store):
    person = joined(store, begun(store))
    store.withdraw(person.id)
    with pytest.raises(NotOpenError, match=r"^This person withdrew, and cannot be taken in again\.$"):
        store.exclude(person.id, False)


@pytest.mark.parametrize("returning", ["resume", "restart", "turn away"])
def test_who_tried_a_preview_comes_for_the_first_time(store, returning):
    study = panel_study(store, returning=returning)
    preview, _ = store.new_participant(study.id, PID, preview=True)
    sort(store, given(store, preview))
    person, _ = store.arrive(study.id, PID)
    assert person.id != preview.id
    assert not person.preview


@pytest.mark.parametrize("way", ["withdraw", "delete_participant"])
def test_earlier_starts_go_with_the_last(store, way):
    panel = Panel(identified_by="PID", returning="restart")
    study = begun(store, panel=panel, parameters=("PID",), subset_size=4)
    first, _ = store.arrive(study.id, {"PID": "p1"})
    sort(store, store.assignment_for(first, np.random.default_rng(0)))
    again, _ = store.arrive(study.id, {"PID": "p1"})
    other, _ = store.arrive(study.id, {"PID": "p2"})
    sort(store, store.assignment_for(other, np.random.default_rng(0)))
    assert again.id != first.id
    getattr(store, way)(again.id)
    assert [one.participant for one in store.submitted(study.id)] == [other.id]
    assert all(one.parameters.get("PID") != "p1" for one in store.participants(study.id))


def test_what_was_found_while_somebody_withdrew_is_not_kept(store):
    study = begun(store, subset_size=4)
    person, _ = takes_part(store, study)
    rows = store.submitted(study.id)
    store.withdraw(person.id)
    assert not store.put_consensus(study.id, {"kind": "groupings"}, [one.assignment for one in rows])
    store.put_overview(study.id, "answers", {}, [one.assignment for one in rows], seconds=0.0)
    assert store.consensus(study.id) is None
    assert store.overview(study.id) is None


def test_without_answers_that_count_there_is_no_consensus(store):
    study = begun(store, subset_size=4)
    person, _ = takes_part(store, study)
    Worker(store).run()
    assert store.consensus(study.id)["n_groupings"] == 1
    store.exclude(person.id)
    Worker(store).run()
    assert store.consensus(study.id) is None
