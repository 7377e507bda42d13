"""The store, on SQLite and on PostgreSQL: what goes in comes out, once, also if many write at the same time."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from consilience import Groupings, Labels, read_annotations
from consilience.collect.errors import NotFoundError, NotOpenError, UnsortedError
from consilience.collect.results.exporting import encode_table, export_study
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.store import board_state, new_picture
from consilience.collect.store import quotas as store_quotas
from consilience.collect.store.database import PRAGMAS
from consilience.errors import AnnotationWarning, InputError
from tests.collect.collecting import NAMES, begun, joined, request_job, sort, takes_part
from tests.collect.test_board_state import bodies

RNG = np.random.default_rng(0)
SETTINGS = StudySettings(
    instructions="Sort **all**.",
    language="ar",
    direction="rtl",
    texts={"hand_in": "إرسال"},
    categories=("Birds", "Fish"),
    group_names="required",
    all_sorted="required",
    subset_size=3,
    groupings_wanted=20,
    per_participant=2,
    max_per_item=9,
    strategy="explore",
    random_share=0.25,
    repeat_share=0.1,
    stop_rule="none",
    parameters=("PROLIFIC_PID",),
)


def test_a_study_comes_back_as_it_was_made(store):
    picture = new_picture(b"not really a picture", "image/png", 3, 2)
    items = [Item(0, "ant", "An ant\nin line 2", picture.hash, "alt"), Item(1, "bee"), *map(str, range(6))]
    study = store.create_study(
        "  A \x00 title ", items, kind="hybrid", board="sheet", settings=SETTINGS, pictures=[picture]
    )
    assert store.study(study.id) == study
    assert (study.title, study.kind, study.board, study.status) == ("A title", "hybrid", "sheet", "draft")
    assert study.settings == SETTINGS
    found = store.items(study.id)
    assert found[:2] == [Item(0, "ant", "An ant\nin line 2", picture.hash, "alt"), Item(1, "bee", "bee", None, "bee")]
    assert [item.number for item in found] == list(range(8))
    assert store.picture(study.id, picture.hash) == picture
    assert store.add_picture(study.id, picture.data, "image/png", 3, 2) == picture.hash
    other = store.create_study("Other", NAMES)
    assert store.studies() == [other, study]
    with pytest.raises(NotFoundError, match=r"^The study has no such picture\.$"):
        store.picture(other.id, picture.hash)
    with pytest.raises(InputError, match=r"^The picture of item 'ant' is not in the study\.$"):
        store.create_study("No picture", items)
    for unknown in ("nothing", "\ud800", "x" * 999, "\x00", f"{study.id}\x00", f"{study.id} "):
        for ask in (store.study, store.close_study):
            with pytest.raises(NotFoundError, match=r"^There is no study '"):
                ask(unknown)


def test_links_lead_to_studies_and_people(store):
    study = begun(store, parameters=("PROLIFIC_PID",))
    assert store.study_by_join_token(study.join_token) == study
    old = study.join_token
    renewed = store.renew_join_link(study.id)
    assert renewed != old
    with pytest.raises(NotFoundError):
        store.study_by_join_token(old)
    person, token = store.new_participant(study.id, {"PROLIFIC_PID": " a\nb", "other": "x", "list": ["y"]})
    assert person.parameters == {"PROLIFIC_PID": "a b"}
    assert store.participant_by_token(token) == store.participant(person.id) == person
    assert store.participants(study.id) == [person]
    again = store.renew_token(person.id)
    assert store.participant_by_token(again) == person
    for wrong in (token, "", "\ud800", "x" * 1000):
        with pytest.raises(NotFoundError):
            store.participant_by_token(wrong)
    draft = store.create_study("Draft", NAMES)
    with pytest.raises(NotOpenError, match=r"^This study has not begun\.$"):
        store.new_participant(draft.id)
    preview, _ = store.new_participant(draft.id, preview=True)
    assert store.assignment_for(preview, RNG) is not None
    store.close_study(study.id)
    with pytest.raises(NotOpenError, match=r"^This study is over\.$"):
        store.new_participant(study.id)


def test_a_sort_from_its_beginning_to_its_export(store):
    study = begun(store, parameters=("PID",), group_names="optional")
    person, _ = store.new_participant(study.id, {"PID": "p1"})
    assignment = store.assignment_for(person, np.random.default_rng(1))
    assert (assignment.source, assignment.state, assignment.number) == ("all", "open", 1)
    assert sorted(assignment.items) == list(range(12))
    assert store.assignment_for(person.id, RNG) == assignment  # the same, after a reload
    first, second, *rest = assignment.items
    changes = [
        {"sequence": 1, "kind": "move", "items": [first, second], "group": "g1"},
        {"sequence": 2, "kind": "name", "group": "g1", "name": "Birds"},
        {"sequence": 3, "kind": "move", "items": rest[:3], "group": "g2"},
        {"sequence": 4, "kind": "name", "group": "g2", "name": "Birds"},
        {"sequence": 5, "kind": "move", "items": rest[3:8], "group": "g3"},
    ]
    state = store.record_changes(assignment.id, person.id, "tab", changes[:3])
    assert state.version == 3
    state = store.record_changes(assignment.id, person.id, "tab", changes)  # some of them again
    assert state == store.board_state(assignment.id, person.id)
    assert state.version == 5
    assert store.changes(assignment.id) == [("tab", change) for change in changes]
    with pytest.raises(UnsortedError) as caught:
        store.submit(assignment.id, person.id)
    assert caught.value.count == 2
    done = store.submit(assignment.id, person.id, confirmed=True)
    assert done.state == "submitted"
    assert done.assigned <= done.started <= done.submitted
    assert store.submit(assignment.id, person.id) == done  # a second click
    with pytest.raises(NotOpenError, match=r"^This sort was submitted already\.$"):
        store.record_changes(assignment.id, person.id, "tab", [{**changes[0], "sequence": 6}])
    assert store.record_changes(assignment.id, person.id, "tab", changes) == state  # sent again, as they were recorded
    assert store.assignment_for(person, RNG) is None
    frame = store.export_frame(study.id)
    assert frame["item"].tolist() == [NAMES[item] for item in assignment.items]
    groups = [["Birds"] * 2, ["Birds (2)"] * 3, ["3"] * 5]
    assert frame["group"].tolist()[:10] == list(itertools.chain(*groups))
    assert frame["group_name"].tolist()[:5] == ["Birds"] * 5
    assert frame["group"].isna().tolist() == [False] * 10 + [True] * 2
    assert frame["parameter:PID"].unique().tolist() == ["p1"]
    assert str(frame["submitted"].dtype).endswith("UTC]")


def test_an_export_is_read_back_as_the_groupings(store, tmp_path):
    study = begun(store, subset_size=5)
    for number in range(4):
        takes_part(store, study, number)
    store.export_frame(study.id).to_csv(tmp_path / "export.csv", index=False)
    read = read_annotations(tmp_path / "export.csv", kind="groupings")
    expected = store.groupings(study.id)
    columns = ["item", "annotator", "grouping"]
    one, other = (
        found.to_frame().astype(str).sort_values(columns).reset_index(drop=True) for found in (read, expected)
    )
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("kind", ["closed", "hybrid"])
def test_an_export_says_which_groups_were_given(store, tmp_path, kind):
    study = begun(store, kind=kind, categories=("Birds", "+ Fish", "Worms"))
    given = [["Birds", "+ Fish"], ["Birds", "Birds"]]
    answers = {f"p{i}": dict(zip(NAMES[:2], groups)) for i, groups in enumerate(given)}
    rows = [(item, who, group) for who, groups in answers.items() for item, group in groups.items()]
    kinds = {"closed": (Labels, "label"), "hybrid": (Groupings, "group")}
    of, role = kinds[kind]
    store.import_groupings(study.id, of.from_frame(pd.DataFrame(rows, columns=["item", "annotator", role])))
    (tmp_path / "export.csv").write_bytes(export_study(store, study, "csv").data)
    if kind == "hybrid":
        with pytest.warns(AnnotationWarning, match=r"the groups 'Birds', '\+ Fish', 'Worms' were given to everybody"):
            assert isinstance(read_annotations(tmp_path / "export.csv"), of)
    else:
        read = read_annotations(tmp_path / "export.csv")
        assert isinstance(read, of)
        assert read.classes.tolist() == ["Birds", "+ Fish", "Worms"]
        assert read == store.labels(study.id).restrict(items=read.items)


def test_only_ones_own_assignment_can_be_changed(store):
    study = begun(store)
    ann, bo = joined(store, study), joined(store, study)
    assignment = store.assignment_for(ann, RNG)
    change = {"sequence": 1, "kind": "move", "items": [0], "group": "g1"}
    for call in (
        lambda: store.record_changes(assignment.id, bo.id, "tab", [change]),
        lambda: store.board_state(assignment.id, bo.id),
        lambda: store.submit(assignment.id, bo.id),
        lambda: store.record_changes(assignment.id + 1, ann.id, "tab", [change]),
        lambda: store.record_changes(2**70, ann.id, "tab", [change]),
    ):
        with pytest.raises(NotFoundError, match=r"^There is no such assignment\.$"):
            call()
    assert store.board_state(assignment.id).version == 0


def test_a_wrong_change_keeps_the_others_out(store):
    study = begun(store)
    person = joined(store, study)
    assignment = store.assignment_for(person, RNG)
    right = {"sequence": 1, "kind": "move", "items": [0], "group": "g1"}
    with pytest.raises(InputError, match=r"^Item 99 is not on this board\.$"):
        store.record_changes(assignment.id, person.id, "tab", [right, {**right, "sequence": 2, "items": [99]}])
    assert store.changes(assignment.id) == []
    with pytest.raises(InputError, match=r"^'changes' must be a list of at most 500 changes\.$"):
        store.record_changes(assignment.id, person.id, "tab", [right] * 501)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 6), bodies), max_size=4), max_size=6),
    st.data(),
)
def test_requests_that_arrive_again_change_nothing(sqlite_store, requests, data):
    """Whatever is sent twice, and in whatever pieces: the state is the fold of what arrived first."""
    study = sqlite_store.open_study(
        sqlite_store.create_study("S", NAMES[:5], kind="hybrid", settings=StudySettings(categories=("Birds",))).id
    )
    person = joined(sqlite_store, study)
    assignment = sqlite_store.assignment_for(person, RNG)
    sent, log = [], []
    for batch in requests:
        client = data.draw(st.sampled_from(["a", "b"]))
        sent.append((client, [{"sequence": sequence, **body} for _, sequence, body in batch]))
        if data.draw(st.booleans()):
            sent.append(data.draw(st.sampled_from(sent)))
    for client, changes in sent:
        state = sqlite_store.record_changes(assignment.id, person.id, client, changes)
        log += [(client, change) for change in changes]
    start = board_state.initial(assignment.id, assignment.items, ["Birds"])
    expected = board_state.fold(start, log, assignment.items)
    assert sqlite_store.board_state(assignment.id) == expected
    if sent:
        assert state == expected
    recorded = sqlite_store.changes(assignment.id)
    assert board_state.fold(start, recorded, assignment.items) == expected
    assert len({(client, change["sequence"]) for client, change in recorded}) == len(recorded) == expected.version


def at_once(calls):
    """Call functions in threads that begin together; return their results or errors."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        barrier.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def test_many_write_at_once(store):
    """Every change of 12 people who sort at the same time is there, and none fails."""
    study = begun(store, subset_size=6)
    people = [joined(store, study) for _ in range(12)]

    def whole(person, seed):
        assignment = store.assignment_for(person, np.random.default_rng(seed))
        for number, item in enumerate(assignment.items):
            change = {"sequence": number, "kind": "move", "items": [item], "group": f"g{item % 3 + 1}"}
            store.record_changes(assignment.id, person.id, "tab", [change])
        return store.submit(assignment.id, person.id)

    found = at_once([lambda p=person, s=seed: whole(p, s) for seed, person in enumerate(people)])
    assert [getattr(one, "state", one) for one in found] == ["submitted"] * 12
    assert store.progress(study.id)["submitted"] == 12
    for one in found:
        assert len(store.changes(one.id)) == 6
    frame = store.groupings(study.id).to_frame()
    assert len(frame) == 12 * 6


def test_one_person_in_two_tabs_has_one_assignment(store):
    study = begun(store, subset_size=4)
    person = joined(store, study)
    found = at_once([lambda s=seed: store.assignment_for(person, np.random.default_rng(s)) for seed in range(6)])
    assert len({one.id for one in found}) == 1
    assignment = found[0]
    change = {"sequence": 0, "kind": "move", "items": [assignment.items[0]], "group": "g1"}
    states = at_once(
        [lambda c=client: store.record_changes(assignment.id, person.id, c, [change]) for client in "aabbcc"]
    )
    assert sorted(state.version for state in states)[-1] == 3
    assert len(store.changes(assignment.id)) == 3
    done = at_once([lambda: store.submit(assignment.id, person.id, True)] * 4)
    assert len({one.submitted for one in done}) == 1


def test_a_prepared_subset_is_given_once_and_quotas_are_kept(store):
    study = begun(store, subset_size=4, groupings_wanted=5)
    store.put_subsets(study.id, [([0, 1, 2, 3], "informative", None), ([4, 5, 6, 7], "informative", None)])
    people = [joined(store, study) for _ in range(8)]
    found = at_once([lambda p=person: store.assignment_for(p, np.random.default_rng(1)) for person in people])
    given = [one for one in found if one is not None]
    assert len(given) == 5
    assert sorted(one.source for one in given) == ["dry"] * 3 + ["informative"] * 2
    composed = [sorted(one.items) for one in given if one.source == "informative"]
    assert sorted(composed) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_what_is_left_for_long_counts_no_more_and_continues(store, monkeypatch):
    study = begun(store, subset_size=4, groupings_wanted=1)
    ann, bo = joined(store, study), joined(store, study)
    anns = store.assignment_for(ann, RNG)
    assert store.assignment_for(bo, RNG) is None
    monkeypatch.setattr(store_quotas, "IDLE", timedelta(0))
    assert store.assignment_for(bo, RNG) is not None
    assert store.assignment(anns.id).state == "withdrawn"
    assert store.assignment_for(ann, RNG) == anns  # who returns goes on
    sort(store, anns)
    assert store.progress(study.id)["submitted"] == 1


def test_a_closed_study_lets_people_finish(store):
    study = begun(store)
    ann, bo = joined(store, study), joined(store, study)
    assignment = store.assignment_for(ann, RNG)
    store.close_study(study.id)
    assert store.assignment_for(bo, RNG) is None
    assert store.assignment_for(ann, RNG) == assignment
    assert sort(store, assignment).state == "submitted"
    assert store.open_study(study.id).status == "open"
    assert store.assignment_for(bo, RNG) is not None


def test_what_can_be_changed_once_people_began(store):
    study = begun(store)
    store.update_study(study.id, title="New", items=["a", "b", "c"])
    assert [item.name for item in store.items(study.id)] == ["a", "b", "c"]
    takes_part(store, study, preview=True)
    store.update_study(study.id, items=NAMES)  # previews are forgotten
    assert store.assignments(study.id) == []
    takes_part(store, study)
    changed = store.update_study(study.id, settings=StudySettings(instructions="More"), board="sheet")
    assert (changed.settings.instructions, changed.board, changed.title) == ("More", "sheet", "New")
    assert store.study(study.id) == changed
    hybrid = {"kind": "hybrid", "settings": StudySettings(categories=("A",))}
    names = [{"settings": StudySettings(group_names=one)} for one in ("none", "required")]
    for change in ({"items": ["a", "b"]}, hybrid, *names):
        with pytest.raises(
            NotOpenError, match=r"^People have begun to sort: the items, the kind, the categories, and whether"
        ):
            store.update_study(study.id, **change)
    assert len(store.items(study.id)) == 12


def test_people_who_are_left_out_are_in_no_result_but_the_export(store):
    study = begun(store)
    takes_part(store, study, 1)
    mallory, _ = takes_part(store, study, 2)
    takes_part(store, study, 3, preview=True)
    assert store.exclude(mallory.id).excluded
    assert store.groupings(study.id).n_annotators == 1
    assert store.groupings(study.id, include_preview=True).n_annotators == 2
    frame = store.export_frame(study.id)
    assert frame.groupby("annotator")[["preview", "excluded"]].first().sum().tolist() == [1, 1]
    assert store.progress(study.id) == {
        **{"participants": 2, "excluded": 1, "withdrew": 0},
        **{"open": 0, "withdrawn": 0, "submitted": 2, "imported": 0},
    }


def test_a_study_without_answers(store):
    study = begun(store)
    for call in (lambda: store.groupings(study.id), lambda: store.labels(begun(store, kind="closed").id)):
        with pytest.raises(InputError, match=r"^Nothing was submitted in this study yet\.$"):
            call()
    with pytest.raises(InputError, match=r"gives no labels, but groupings"):
        store.labels(study.id)
    assert store.export_frame(study.id).empty


def test_imported_groupings(store):
    study = begun(store)
    lists = [[NAMES[:3], NAMES[3:6]], [NAMES[:2], NAMES[2:]]]
    given = Groupings.from_lists(lists, annotators=["Ann", "Bo"])
    assert store.import_groupings(study.id, given) == 2
    found = store.groupings(study.id)
    assert found.annotators.tolist() == ["Ann", "Bo"]
    for name in ("Ann", "Bo"):
        expected, got = (one.restrict(annotators=[name]).to_frame() for one in (given, found))
        assert expected.groupby("group")["item"].agg(set).tolist() == got.groupby("group")["item"].agg(set).tolist()
    with pytest.raises(InputError, match=r"^The annotator 'Ann' was imported before"):
        store.import_groupings(study.id, given)
    with pytest.raises(InputError, match=r"^The item 'zebra' is not in the study 'A study', nor are 1 more\.$"):
        store.import_groupings(study.id, Groupings.from_lists([[["zebra", "lion", "item 1"]]], annotators=["Cy"]))
    assert store.progress(study.id)["imported"] == 2
    closed = begun(store, kind="closed")
    labels = pd.DataFrame({"item": ["item 0", "item 1"], "annotator": ["Ann", "Ann"], "label": ["A", "C"]})
    assert store.import_groupings(closed.id, Labels.from_frame(labels)) == 1
    assert store.labels(closed.id).to_frame().values.tolist() == labels.values.tolist()
    with pytest.raises(InputError, match=r"^The category 'Z' is not in the study"):
        store.import_groupings(closed.id, Labels.from_frame(labels.assign(annotator="Bo", label="Z")))
    with pytest.raises(InputError, match=r"^This study takes labels in"):
        store.import_groupings(closed.id, given)


def test_a_deleted_study_leaves_nothing(store):
    study, other = begun(store, subset_size=4), begun(store)
    store.add_picture(study.id, b"x", "image/png", 1, 1)
    takes_part(store, study)
    takes_part(store, other)
    store.delete_study(study.id)
    assert store.studies() == [other]
    with store.read() as db:
        for table in ("items", "pictures", "participants", "assignments", "subsets", "jobs"):
            assert db.scalar(text(f"SELECT count(*) FROM {table} WHERE study = :id"), {"id": study.id}) == 0
        assert db.scalar(text("SELECT count(*) FROM changes")) == 12


def test_access(store):
    assert store.first_administrator() is None
    store.set_password_hash("old hash")
    first = store.first_administrator()
    session = store.new_session(first.id, timedelta(hours=1))
    assert store.account_by_session(session).name == "admin"
    assert store.account_by_session(session + "x") is None
    assert store.account_by_session(store.new_session(first.id, timedelta(0))) is None
    store.set_password_hash("hash")
    assert store.account(first.id).password_hash == "hash"
    assert store.account_by_session(session) is None
    again = store.new_session(first.id, timedelta(hours=1))
    store.end_session(again)
    assert store.account_by_session(again) is None
    token, secret = store.create_token(" my\nscript ")
    assert token.name == "my script"
    assert store.check_token(secret).id == token.id
    assert store.tokens()[0].used is not None
    assert store.check_token("other") is None
    store.revoke_token(token.id)
    assert store.check_token(secret) is None
    with pytest.raises(NotFoundError):
        store.revoke_token(99)
    with store.read() as db:
        stored = [
            *db.execute(text("SELECT token_hash FROM tokens")),
            *db.execute(text("SELECT token_hash FROM sessions")),
        ]
    assert all(len(row[0]) == 64 and row[0] not in (secret, session) for row in stored)


def test_jobs_wait_once_and_are_taken_once(store):
    study, other = begun(store, subset_size=4), begun(store, subset_size=4)
    for _ in range(3):
        request_job(store, study, "consensus", delay=60)
    request_job(store, study, "consensus")  # earlier
    found = [job for job in at_once([store.claim_job] * 6) if job is not None]
    assert {(job.study, job.kind) for job in found} == {(study.id, "subsets"), (other.id, "subsets")}
    assert len(found) == 2  # the third is of a study at which a worker is at work
    for job in found:
        store.finish_job(job)
    last = store.claim_job()
    assert (last.study, last.kind) == (study.id, "consensus")
    store.finish_job(last, "no luck")
    assert store.failures(study.id) == {"consensus": "no luck"}
    assert store.claim_job() is None
    assert store.next_due() is None


def test_what_sqlite_is_set_to(sqlite_store):
    with sqlite_store.read() as db:
        assert {name: db.exec_driver_sql(f"PRAGMA {name}").scalar() for name in PRAGMAS} == PRAGMAS


def test_repeats_are_given_where_nothing_new_is_left(store):
    study = begun(store, NAMES[:4], per_participant=2, repeat_share=0.1, strategy="random")
    for seed in range(4):
        _, done = takes_part(store, study, seed, times=2)
        assert [one.source for one in done] == ["all", "repeat"]


def test_what_is_left_is_what_is_given(store):
    """Somebody who is left out makes room for another, and cards that are used up end it."""

    def is_left(person):
        return store.is_left(person, study, store.assignments_of(person.id))

    study = begun(store, subset_size=4, groupings_wanted=2, per_participant=2)
    people = [takes_part(store, study, seed)[0] for seed in range(2)]
    late = joined(store, study)
    assert not is_left(late)
    assert store.assignment_for(late, np.random.default_rng(0)) is None
    store.exclude(people[0].id)
    assert is_left(late)
    assert store.assignment_for(late, np.random.default_rng(0)) is not None
    study = begun(store, NAMES[:8], subset_size=4, max_per_item=1, per_participant=2)
    first, _ = takes_part(store, study)
    assert is_left(first)
    last, _ = takes_part(store, study, 1)
    assert not is_left(first)
    assert not is_left(last)


@pytest.mark.parametrize("kind", ["open", "closed"])
def test_an_export_as_csv_can_be_imported(store, tmp_path, kind):
    names = ["-5 °C", "+1", "@home", "'tis", "=4", "five"]
    settings = {"categories": ("-cold", "'warm", "hot")} if kind == "closed" else {}
    study = begun(store, names, kind=kind, **settings)
    takes_part(store, study)
    table = tmp_path / "sorts.csv"
    table.write_bytes(encode_table(store.export_frame(study.id), "csv"))
    assert "'-5 °C" in table.read_text(encoding="utf-8-sig")
    again = begun(store, names, kind=kind, **settings)
    reading = {"label" if kind == "closed" else "group": "group"}
    assert store.import_groupings(again.id, read_annotations(table, item="item", annotator="annotator", **reading)) == 1
    (one,), (other,) = store.submitted(study.id), store.submitted(again.id)
    named = [{frozenset(group["items"]): group["name"] for group in sort.groups} for sort in (one, other)]
    assert named[0].keys() == named[1].keys()
    if kind == "closed":
        assert named[0] == named[1]
