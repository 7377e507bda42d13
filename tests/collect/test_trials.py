"""Training in the store, on SQLite and on PostgreSQL: what people get when, how it is scored, and what stays apart."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.settings.model import Study, StudySettings
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.store.standing import gold_plan
from consilience.collect.worker import Worker
from consilience.errors import InputError
from tests.collect.collecting import NAMES, begun, joined, kind_of, slow_with_postgresql, sort, takes_part

RNG = np.random.default_rng(0)
FRUIT = RightSort.of_groups({"Red": ["cherry", "rose"], "Blue": ["sky", "sea", "ink"], "Green": ["grass"]})
KNOWN = RightSort.of_groups({f"kind {kind}": [NAMES[item] for item in range(kind, 12, 3)] for kind in range(3)})


def right(item):
    """Sort the cards of `FRUIT`, which are numbered after the twelve of the study, as they are meant."""
    return [0, 0, 1, 1, 1, 2][item - 12]


def wrong(item):
    return (item - 12) % 3


def given(store, person):
    return store.assignment_for(person, RNG)


def test_a_way_through_practice_and_admission(store):
    training = Training(practice=FRUIT, admission=(KNOWN, FRUIT), mark=0.8)
    study = begun(store, training=training, subset_size=4, per_participant=2)
    assert store.study(study.id).settings.training.practice.sizes == (3, 2, 1)
    person = joined(store, study)
    practice = given(store, person)
    assert (practice.source, practice.number, sorted(practice.items)) == ("practice", -1, list(range(12, 18)))
    assert sorted(item.name for item in store.cards(practice).values()) == sorted(one.name for one in FRUIT.cards)
    assert list(store.cards(practice)) == list(practice.items)
    assert given(store, person) == practice  # after a reload
    with pytest.raises(NotFoundError):
        store.see_answer(practice.id, person.id)
    sort(store, practice, wrong)
    (trial,) = store.trials_of(person.id)
    assert (trial.role, trial.seen, trial.mark) == ("practice", False, None)
    assert trial.score < 0.5
    store.see_answer(practice.id, person.id)
    assert store.trials_of(person.id)[0].seen
    first = given(store, person)
    assert (first.source, first.number, sorted(first.items)) == ("admission", -2, list(range(12)))
    sort(store, first)
    second = given(store, person)
    assert second.number == -3
    assert store.standing(person.id).state == "admission"
    sort(store, second, right)
    assert store.standing(person.id).state == "ready"
    ordinary = given(store, person)
    assert (ordinary.number, ordinary.source, len(ordinary.items)) == (1, "dry", 4)
    sort(store, ordinary)
    assert given(store, person).number == 2
    assert store.groupings(study.id).n_groupings == 1
    assert store.export_frame(study.id)["grouping"].unique().tolist() == [ordinary.id]
    assert [one.counts for one in store.submitted(study.id)] == [False, False, False, True]
    counts = store.progress(study.id)
    assert (counts["submitted"], counts["open"]) == (1, 1)
    assert store.times_presented(study.id).sum() == 8
    with pytest.raises(NotFoundError):
        store.see_answer(practice.id, joined(store, study).id)


@pytest.mark.slow
@slow_with_postgresql
def test_practice_with_cards_of_its_own_leaves_the_consensus_alone(store, nobody_is_fast):
    study = begun(store, training=Training(practice=FRUIT))
    for _ in range(6):
        person = joined(store, study)
        practice = given(store, person)
        sort(store, practice, wrong)
        store.see_answer(practice.id, person.id)
        sort(store, given(store, person))
    store.request_overview(study.id, at_once=True)
    Worker(store).run()
    assert store.failures(study.id) == {}
    assert store.consensus(study.id)["n_groupings"] == 6
    assert store.consensus(study.id)["quality"]["flags"] == []
    assert store.overview(study.id) is not None


def test_who_fails_may_try_again_and_then_is_not_admitted(store):
    study = begun(store, training=Training(admission=(FRUIT,), mark=0.8, tries=2))
    person = joined(store, study)
    sort(store, given(store, person), wrong)
    standing = store.standing(person.id)
    assert (standing.state, standing.attempt) == ("admission", 2)
    assert standing.failed < 0.8
    again = given(store, person)
    assert again.number == -2
    sort(store, again, wrong)
    assert store.standing(person.id).state == "refused"
    assert given(store, person) is None
    lenient = replace(study.settings, training=replace(study.settings.training, mark=0.0))
    store.update_study(study.id, settings=lenient)
    assert store.standing(person.id).state == "refused"  # by the mark that held when they tried
    lucky = joined(store, study)
    sort(store, given(store, lucky), right)
    assert given(store, lucky).number == 1
    (row, other) = store.consistency(study.id)
    assert (row.participant, row.attempts, row.n_gold) == (person.id, 2, 0)
    assert row.admission < 0.8
    assert other.admission == 1


def test_training_that_is_added_later_sends_nobody_back(store):
    study = begun(store, subset_size=4, per_participant=2)
    person, _ = takes_part(store, study)
    changed = replace(study.settings, training=Training(practice=FRUIT))
    store.update_study(study.id, settings=changed)
    assert given(store, person).number == 2
    assert given(store, joined(store, study)).source == "practice"


def test_gold_is_mixed_in_and_scored_and_stays_out_of_the_consensus(store):
    gold = RightSort.of_groups({"a": NAMES[0:12:3], "b": NAMES[1:12:3]})
    study = begun(
        store, subset_size=3, per_participant=4, training=Training(gold=(gold, FRUIT), gold_share=0.5), random_share=1.0
    )
    people = [joined(store, study) for _ in range(3)]
    for person in people:
        plan = gold_plan(study, person.id)
        assert len(plan) == 2  # as many as there are, though the share would be four
        sources = []
        while (one := given(store, person)) is not None:
            sources.append(one.source)
            assert store.progress(study.id)["open"] == 1  # also who is at gold
            sort(store, one, right if max(one.items) > 11 else kind_of)
        expected = [what for number in range(1, 5) for what in (["gold", "dry"] if number in plan else ["dry"])]
        assert sources == expected
    rows = store.consistency(study.id)
    assert [(row.gold, row.n_gold, row.repeats, row.n_repeats) for row in rows] == [(1.0, 2, None, 0)] * 3
    assert store.groupings(study.id).n_groupings == 12
    assert store.progress(study.id)["submitted"] == 12


def test_the_share_of_gold_is_kept_on_average():
    settings = StudySettings(per_participant=3, training=Training(gold=(FRUIT,) * 3, gold_share=0.1))
    study = Study("s", "A study", "open", "piles", "open", settings, 12, "token", 1, datetime(2026, 1, 1, tzinfo=UTC))
    plans = [gold_plan(study, f"person{number}") for number in range(900)]
    assert plans[0] == gold_plan(study, "person0")
    n_gold = sum(map(len, plans))
    assert abs(n_gold / (n_gold + 2700) - 0.1) < 0.01  # three standard deviations of 900 draws
    assert {number for plan in plans for number in plan} == {1, 2, 3}
    assert {place for plan in plans for place in plan.values()} == {0, 1, 2}


def test_repeats_come_apart_from_what_they_repeat_and_are_scored(store):
    study = begun(store, subset_size=3, per_participant=5, repeat_share=0.8, random_share=1.0)
    person, rng, sorts = joined(store, study), np.random.default_rng(1), []
    while (one := store.assignment_for(person, rng)) is not None:
        careless = one.source == "repeat"
        sorts.append(sort(store, one, (lambda item: 0) if careless else kind_of))
    assert [one.source for one in sorts[:2]] == ["dry", "dry"]
    repeats = [place for place, one in enumerate(sorts) if one.source == "repeat"]
    assert repeats
    for place in repeats:
        earlier = [set(one.items) for one in sorts[: place - 1]]
        assert earlier.count(set(sorts[place].items)) == 1  # once, and not the one just before
    (row,) = store.consistency(study.id)
    assert row.n_repeats == len(repeats)
    assert row.repeats < 0.5


def test_agreement_with_oneself_in_a_closed_sort_is_kappa(store):
    study = begun(store, kind="closed", subset_size=6, per_participant=2, repeat_share=0.99)
    person = joined(store, study)
    first = sort(store, given(store, person), kind_of)
    again = store.assignment_for(person, np.random.default_rng(0))
    assert set(again.items) == set(first.items)
    sort(store, again, lambda item: (kind_of(item) + 1) % 3)
    (row,) = store.consistency(study.id)
    assert row.repeats < 0


def test_training_in_a_closed_sort_is_scored_by_categories(store):
    sort_known = RightSort.of_groups({"A": NAMES[0:6:3], "B": NAMES[1:6:3], "C": NAMES[2:6:3]})
    study = begun(store, kind="closed", training=Training(admission=(sort_known,), tries=1))
    person, other = joined(store, study), joined(store, study)
    sort(store, given(store, person), kind_of)
    assert store.standing(person.id).state == "ready"
    sort(store, given(store, other), lambda item: (kind_of(item) + 1) % 3)
    assert store.standing(other.id).state == "refused"


def test_nobody_practises_for_a_study_that_needs_no_more(store):
    study = begun(store, groupings_wanted=1, training=Training(practice=FRUIT))
    person = joined(store, study)
    sort(store, given(store, person), right)
    assert given(store, person).number == 1
    assert given(store, joined(store, study)) is None


def test_training_is_checked_when_it_is_set(store):
    study = begun(store)
    bad = RightSort.of_groups({"A": ["x", "y", "z"]})
    with pytest.raises(InputError, match=r"^The practice sort needs at least two groups"):
        store.update_study(study.id, settings=StudySettings(training=Training(bad)))
    with pytest.raises(InputError, match=r"^The practice sort needs at least two groups"):
        store.create_study("A", NAMES, settings=StudySettings(training=Training(bad)))


def test_cards_stay_once_somebody_practised(store):
    study = begun(store, training=Training(practice=FRUIT))
    given(store, joined(store, study))
    with pytest.raises(NotOpenError):
        store.update_study(study.id, items=["a", "b"])
