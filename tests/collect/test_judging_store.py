"""Judging studies in SQLite and PostgreSQL: made, asked, answered, and taken back."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import func, select, update

from consilience.collect.creation.judging import judge_consensus, judge_table
from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.results.judging import results_of
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.settings.panel import Panel
from consilience.collect.store import new_picture, tables
from consilience.collect.store.database import now
from consilience.collect.store.judging import Cluster
from consilience.collect.worker import Worker
from consilience.errors import InputError
from consilience.metrics import odd_one_out
from tests.collect.collecting import slow_with_postgresql

from .collecting import NAMES, begun, kind_of, takes_part
from .judges import ask_judges, judged_animals, judged_sort, odd_place

IDENTIFIED = {"panel": Panel(identified_by="PID", consent="We keep all.")}


def judge(store, study, **options):
    return store.new_participant(study.id, **options)[0]


def counts_of(store, study):
    rows = store.answers_frame(study.id)
    return Counter(rows["question"])


# ---- making


def test_a_consensus_becomes_a_study_with_what_concerns_judges(store):
    panel = Panel(identified_by="PID", consent="We keep all.", minutes=30, returning="turn away", keep_days=9)
    source, study = judged_sort(store, of={"panel": panel, "language": "de", "texts": {"start": "Los"}}, opened=False)
    assert (study.kind, study.board, study.status, study.title) == ("judging", "questions", "draft", source.title)
    settings = study.settings
    assert (settings.language, settings.texts, settings.parameters) == ("de", {"start": "Los"}, ("PID",))
    assert settings.panel == Panel(identified_by="PID", minutes=30, returning="turn away", keep_days=9)
    assert (settings.per_participant, settings.answers_wanted) == (12, 10)
    judging = store.judging(study.id)
    assert judging.source == source.id
    names = [item.name for item in store.items(study.id)]
    assert {frozenset(names[item] for item in one.items) for one in judging.clusters} == {
        frozenset(name for number, name in enumerate(NAMES) if kind_of(number) == kind) for kind in range(3)
    }
    assert [one.name for one in judging.clusters] == ["Cluster 1", "Cluster 2", "Cluster 3"]
    assert len(store.odd_questions(study.id)) == 24
    assert store.judgings_of(source.id) == [study]
    store.delete_study(source.id)
    assert store.judging(study.id).source is None


def test_categories_of_a_closed_sort_are_clusters(store):
    source = begun(store, kind="closed")
    for seed in range(3):
        takes_part(store, source, seed=seed)
    Worker(store).run()
    study = judge_consensus(store, source)
    assert {one.name: len(one.items) for one in store.judging(study.id).clusters} == {"A": 4, "B": 4, "C": 4}


def test_pictures_are_copied_and_items_without_a_cluster_left_out(store):
    pictures = [new_picture(bytes([number]) * 9, "image/png", 2, 2) for number in range(8)]
    items = [Item(number, f"i{number}", picture=one.hash) for number, one in enumerate(pictures)]
    source = store.create_study("Pictures", items, pictures=pictures)
    clusters = {f"i{number}": "even" if number % 2 == 0 else "odd" for number in range(1, 8)}
    study = judge_consensus(store, source, title="Judged", clusters=clusters, n_questions=4)
    assert study.title == "Judged"
    assert [item.name for item in store.items(study.id)] == [f"i{number}" for number in range(1, 8)]
    for item in store.items(study.id):
        assert store.picture(study.id, item.picture).data == store.picture(source.id, item.picture).data
    with pytest.raises(NotFoundError):
        store.picture(study.id, pictures[0].hash)


@pytest.mark.parametrize(
    ("clusters", "n_questions", "sentence"),
    [
        ({"nothing": "a"}, None, r"^There is no item 'nothing' in the study 'A study'\.$"),
        ({"item 0": "a", "item 1": "b"}, None, r"^Questions need a cluster of at least three items"),
        (dict.fromkeys(NAMES, "a"), None, r"^From 2 to 500 clusters can be judged\. Got 1\.$"),
        ({name: "a" if number < 4 else "b" for number, name in enumerate(NAMES)}, 1001, r"from 1 to 1,000\. Got 1001"),
    ],
)
def test_clusters_about_which_nothing_can_be_asked(sqlite_store, clusters, n_questions, sentence):
    source = begun(sqlite_store)
    with pytest.raises(InputError, match=sentence):
        judge_consensus(sqlite_store, source, clusters=clusters, n_questions=n_questions)
    assert len(sqlite_store.studies()) == 1


def test_what_cannot_be_judged(sqlite_store):
    source = begun(sqlite_store)
    with pytest.raises(NotOpenError, match=r"^There is no consensus yet"):
        judge_consensus(sqlite_store, source)
    study = judged_animals(sqlite_store)
    with pytest.raises(InputError, match=r"^This is a study in which clusters are judged already"):
        judge_consensus(sqlite_store, study)
    with pytest.raises(InputError, match=r"^No column of the table is called 'cluster'"):
        judge_table(sqlite_store, "No clusters", "text\nant\nbee\n")
    with pytest.raises(NotFoundError, match=r"^This is no study in which clusters are judged\.$"):
        sqlite_store.judging(source.id)
    with pytest.raises(InputError, match=r"must be one of open, closed, hybrid, labels, pairs\.$"):
        sqlite_store.create_study("Wrong", NAMES, kind="judging", board="questions")
    with pytest.raises(InputError, match="picture"):
        sqlite_store.create_judging(
            "Wrong", [Item(0, "a", picture="0" * 64), *"bcd"], [Cluster("x", (0, 1, 2)), Cluster("y", (3,))]
        )


def test_a_judging_study_stays_one(sqlite_store):
    source, study = begun(sqlite_store), judged_animals(sqlite_store)
    for wrong in ({"kind": "open", "board": "piles"}, {"settings": StudySettings(subset_size=3)}):
        with pytest.raises(InputError):
            sqlite_store.update_study(study.id, **wrong)
    with pytest.raises(NotOpenError, match=r"which stay as they are\.$"):
        sqlite_store.update_study(study.id, items=NAMES)
    with pytest.raises(InputError, match=r"a sort cannot become one"):
        sqlite_store.update_study(source.id, kind="judging", board="questions")
    with pytest.raises(InputError, match=r"^'answers_wanted' is about questions"):
        sqlite_store.update_study(source.id, settings=StudySettings(answers_wanted=3))
    changed = sqlite_store.update_study(study.id, title="Beasts", settings=StudySettings(per_participant=5))
    assert (changed.title, changed.settings.per_participant) == ("Beasts", 5)
    assert sqlite_store.assignment_for(judge(sqlite_store, study), np.random.default_rng(0)) is None
    Worker(sqlite_store).run()
    assert sqlite_store.failures(study.id) == {}


# ---- asking and answering


@slow_with_postgresql
def test_judges_answer_until_each_question_has_enough(store):
    study = judged_animals(store, answers_wanted=3)
    people = ask_judges(store, study, 7)
    assert set(counts_of(store, study).values()) == {3}  # 24 questions: six judges of 12 are enough
    assert store.needs_no_answers(study.id)
    assert store.asked(people[-1]) == []
    assert store.judging_progress(study.id) == {
        **{"participants": 7, "excluded": 0, "withdrew": 0, "judges": 6, "answers": 72, "open": 0},
        **{"questions": 24, "least": 3, "most": 3},
    }


def test_answers_stay_even_while_people_come_and_go(store):
    study = judged_animals(store, answers_wanted=None)
    people = [judge(store, study).id for _ in range(9)]
    rng = np.random.default_rng(0)
    for _ in range(60):
        person = people[rng.integers(len(people))]
        asked = store.ask(person)
        if asked is not None:
            store.answer(person, asked.question, 1)
    counts = counts_of(store, study)
    assert max(counts.values()) - min(counts[number] for number in range(24)) <= 1


def test_the_first_answer_stays_and_nothing_is_asked_twice(store):
    study = judged_animals(store)
    person = judge(store, study).id
    first = store.ask(person)
    assert store.ask(person) == first  # until it is answered
    second = store.answer(person, first.question, 2)
    assert (second.place, second.question != first.question) == (2, True)
    assert store.answer(person, first.question, 3) == second
    kept = store.asked(person)[0]
    assert kept.answer == first.shown[1]
    assert kept.answered >= kept.asked
    assert store.answer(person, second.question, None).place == 3
    assert store.asked(person)[1].answer is None


def test_answers_at_the_same_moment_are_one(store):
    study = judged_animals(store)
    person = judge(store, study).id
    with ThreadPoolExecutor(8) as threads:
        asked = set(threads.map(lambda _: store.ask(person).question, range(8)))
        (question,) = asked
        after = set(threads.map(lambda place: store.answer(person, question, place % 4 + 1).question, range(8)))
    assert len(after) == 1
    assert [one.answered is not None for one in store.asked(person)] == [True, False]


def test_what_was_not_asked_cannot_be_answered(store):
    study, other = judged_animals(store), judged_animals(store)
    mine, theirs = judge(store, study).id, judge(store, other).id
    asked = store.ask(mine)
    for person, question in ((mine, (asked.question + 1) % 24), (theirs, asked.question), (mine, 10**9), (mine, -1)):
        with pytest.raises(NotFoundError, match=r"^This question was not asked\.$"):
            store.answer(person, question, 1)
    for place in (0, 5, -1, True):
        with pytest.raises(InputError, match=r"^The answer must be a place from 1 to 4, or empty\.$"):
            store.answer(mine, asked.question, place)
    assert store.asked(mine)[0].answered is None
    with pytest.raises(NotFoundError):
        store.ask("nobody")
    sort = takes_part(store, begun(store))[0]
    assert store.ask(sort.id) is None  # a sort asks no questions


def test_whoever_sorted_is_not_asked(store):
    source, study = judged_sort(store, of=IDENTIFIED)
    came = judge(store, source, parameters={"PID": "came only"})
    sorter, onlooker, stranger, unknown = (
        judge(store, study, parameters=one) for one in ({"PID": "sorter1"}, {"PID": "came only"}, {"PID": "new"}, {})
    )
    assert store.sorted_before(sorter.id)
    assert store.ask(sorter.id) is None
    for person in (onlooker, stranger, unknown):
        assert not store.sorted_before(person.id)
        assert store.ask(person.id) is not None
    store.assignment_for(came, np.random.default_rng(0))
    assert store.ask(onlooker.id) is not None  # what they have begun, they can end
    preview = judge(store, study, parameters={"PID": "sorter1"}, preview=True)
    assert store.ask(preview.id) is not None


def test_a_study_that_is_closed_asks_nothing_new(store):
    study = judged_animals(store)
    person, late = judge(store, study).id, judge(store, study).id
    asked = store.ask(person)
    store.close_study(study.id)
    assert store.ask(person) == asked
    assert store.answer(person, asked.question, 1) is None  # it is kept, and nothing follows
    assert store.asked(person)[0].answered is not None
    assert store.ask(late) is None


def test_previews_do_not_count_and_see_drafts(store):
    study = judged_animals(store, opened=False, answers_wanted=1)
    preview = judge(store, study, preview=True).id
    asked = store.ask(preview)
    store.answer(preview, asked.question, 1)
    with pytest.raises(NotOpenError):
        judge(store, study)
    assert store.judging_progress(study.id)["answers"] == 0
    assert results_of(store, study).found.overall["answers"] == 0
    assert store.answers_frame(study.id)["preview"].tolist() == [True]


def test_a_question_left_alone_is_asked_of_others_after_the_time_limit(store):
    study = judged_animals(store, answers_wanted=1, per_participant=24, panel=Panel(minutes=20))
    slow = judge(store, study).id
    asked = store.ask(slow)
    quick = judge(store, study).id
    rest = [store.ask(quick)]
    while (following := store.answer(quick, rest[-1].question, 1)) is not None:
        rest.append(following)
    assert asked.question not in {one.question for one in rest}
    assert len(rest) == 23
    assert store.needs_no_answers(study.id)
    with store.write() as db:
        mine = tables.odd_answers.c.participant == slow
        db.execute(update(tables.odd_answers).where(mine).values(asked=now() - timedelta(minutes=21)))
    assert not store.needs_no_answers(study.id)
    assert store.ask(judge(store, study).id).question == asked.question
    assert store.ask(slow).question == asked.question  # which they can answer all the same


# ---- results, and what is taken back


@slow_with_postgresql
def test_the_table_of_answers_gives_the_results(store):
    study = judged_animals(store, parameters=("PID",))
    guesser, *others = ask_judges(store, study, 8, parameters={"PID": "x"}, knows=1.0)
    ask_judges(store, study, 1, preview=True)
    table = store.answers_frame(study.id)
    counted = table[~table["preview"] & ~table["excluded"]]
    questions = table.drop_duplicates("question").set_index("question")
    found = results_of(store, study)
    assert found.found.overall.equals(odd_one_out(questions, counted).overall)
    assert set(found.found.clusters.index) == {"birds", "fish", "insects"}
    assert [(one.id, one.guesses) for one in found.judges] == [(guesser, True), *((one, False) for one in others)]
    right = counted[counted["annotator"] != guesser]
    assert (right["answer"] == right["odd"]).all()
    names = [item.name for item in store.items(study.id)]
    for row in table.head(30).itertuples():
        asked = next(one for one in store.asked(row.annotator) if one.question == row.question)
        items = [row.item_1, row.item_2, row.item_3, row.item_4]
        assert [items[int(place) - 1] for place in row.shown.split()] == [names[item] for item in asked.shown]
        assert items[row.answer - 1] == names[asked.answer]
        assert items[row.odd - 1] == names[store.odd_questions(study.id)[row.question].odd]
        assert row.seconds == pytest.approx((asked.answered - asked.asked).total_seconds(), abs=0.001)
    assert table["parameter:PID"].fillna("").tolist() == ["x"] * 96 + [""] * 12
    assert "parameter:PID" not in store.answers_frame(study.id, identifiers=False)


def test_who_cannot_say_is_counted_as_a_guess(store):
    study = judged_animals(store, per_participant=4)
    for _ in range(2):
        person = judge(store, study).id
        asked = store.ask(person)
        for place in (None, None, 1, 1):
            place = place and odd_place(store, study, asked)
            asked = store.answer(person, asked.question, place)
    found = results_of(store, study)
    assert found.found.overall[["answers", "cannot_say", "right"]].tolist() == [8, 4, 0.625]
    assert [(one.answers, one.cannot_say, one.right) for one in found.judges] == [(4, 2, 0.625)] * 2
    assert store.answers_frame(study.id)["answer"].isna().sum() == 4


def test_who_is_left_out_makes_room_for_others(store):
    study = judged_animals(store, answers_wanted=1, per_participant=24)
    first = ask_judges(store, study, 1)[0]
    assert store.needs_no_answers(study.id)
    store.exclude(first)
    assert not store.needs_no_answers(study.id)
    assert results_of(store, study).judges == []
    assert store.answers_frame(study.id)["excluded"].all()
    ask_judges(store, study, 1)
    store.exclude(first, False)
    assert store.judging_progress(study.id)["most"] == 2


@pytest.mark.parametrize("way", ["withdraw", "delete_participant"])
def test_what_is_taken_back_is_gone(store, way):
    study = judged_animals(store, panel=Panel(consent="Text"))
    gone, other = ask_judges(store, study, 2)
    getattr(store, way)(gone)
    assert store.asked(gone) == []
    assert set(store.answers_frame(study.id)["annotator"]) == {other}
    if way == "withdraw":
        assert store.ask(gone) is None
    with store.read() as db:
        assert db.scalar(select(func.count()).select_from(tables.odd_answers)) == 12
    store.delete_study(study.id)
    with store.read() as db:
        for table in (tables.odd_answers, tables.odd_questions, tables.judgings):
            assert db.scalar(select(func.count()).select_from(table)) == 0


def test_who_comes_back_goes_on_or_starts_again(store):
    pid = {"PID": "5f1"}
    same = judged_animals(store, parameters=("PID",), panel=Panel(identified_by="PID"))
    person, _ = store.arrive(same.id, pid)
    asked = store.ask(person.id)
    assert store.ask(store.arrive(same.id, pid)[0].id) == asked
    panel = Panel(identified_by="PID", returning="restart")
    anew = judged_animals(store, parameters=("PID",), panel=panel)
    person, _ = store.arrive(anew.id, pid)
    assert store.arrive(anew.id, pid)[0] == person  # nothing was begun yet
    store.ask(person.id)
    again, _ = store.arrive(anew.id, pid)
    assert again != person
    assert store.participant(person.id).excluded
    once = judged_animals(store, parameters=("PID",), panel=Panel(identified_by="PID", returning="turn away"))
    store.ask(store.arrive(once.id, pid)[0].id)
    assert store.arrive(once.id, pid) is None


def test_the_table_of_people_counts_answers(store):
    study = judged_animals(store, per_participant=3)
    ask_judges(store, study, 2)
    frame = store.participants_frame(study.id)
    assert frame["answers"].tolist() == [3, 3]
    assert "sorts" not in frame
