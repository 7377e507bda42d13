"""The table of participants, and exports without what identifies people."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from consilience.annotations.files.formats import FORMATS
from consilience.collect.results.exporting import export_study
from consilience.collect.settings.panel import Panel, Question
from consilience.collect.settings.training import RightSort, Training
from consilience.errors import InputError

from .collecting import begun, joined, kind_of, sort

RNG = np.random.default_rng(0)
PANEL = Panel(
    consent="Do you agree?",
    before=(Question("age", "Age?", "number"), Question("diet", "Diet?", "choices", options=("Meat", "Fish"))),
    after=(Question("say", "Anything?"),),
)


def half_of(item):
    return item % 2


def gathered(store):
    """A study with one person who is done, one who declined, and one who withdrew."""
    study = begun(store, parameters=("PID",), panel=PANEL)
    done, declined, gone = (joined(store, study, parameters={"PID": f"p{number}"}) for number in range(3))
    store.decide(done.id, "Do you agree?", agreed=True)
    store.keep_answers(done.id, "before", {"age": 44.0, "diet": ["Meat", "Fish"]})
    sort(store, store.assignment_for(done, RNG))
    store.decide(declined.id, "Do you agree?", agreed=False)
    store.withdraw(gone.id)
    return study, [done, declined, gone]


def test_a_row_tells_what_a_person_decided_answered_and_needed(store):
    study, people = gathered(store)
    frame = store.participants_frame(study.id)
    assert frame["annotator"].tolist() == [one.id for one in people]
    assert frame["consented"].notna().tolist() == [True, False, False]
    assert frame["declined"].notna().tolist() == [False, True, False]
    assert frame["withdrew"].notna().tolist() == [False, False, True]
    assert frame["sorts"].tolist() == [1, 0, 0]
    [found] = store.submitted(study.id)
    assert frame["seconds:1"][0] == pytest.approx((found.submitted - found.started).total_seconds(), abs=1e-3)
    assert frame["seconds:1"].isna().tolist() == [False, True, True]
    assert frame["question:age"][0] == 44
    assert frame["question:diet"][0] == '["Meat", "Fish"]'
    assert frame["question:say"].isna().all()
    assert frame["parameter:PID"].fillna("").tolist() == ["p0", "p1", ""]  # withdrawn: erased
    assert store.export_frame(study.id)["seconds"].unique() == frame["seconds:1"].dropna().unique()


def test_nothing_that_identifies_people_is_left(store):
    study, _ = gathered(store)
    store.import_groupings(study.id, store.groupings(study.id))
    for frame in (
        store.participants_frame(study.id, identifiers=False),
        store.export_frame(study.id, identifiers=False),
    ):
        assert not any(name.startswith("parameter:") for name in frame.columns)
        assert not frame.isin(["p0", "p1", "p2"]).any(axis=None)
        assert set(frame["annotator"]) <= {one.id for one in store.participants(study.id)}
    named = {one.id: one.name for one in store.participants(study.id) if one.name}
    assert named
    assert set(named.values()) <= set(store.participants_frame(study.id)["annotator"])


def test_a_question_that_changed_its_kind_is_one_column_of_text(store):
    study, (_, declined, _) = gathered(store)
    store.keep_answers(declined.id, "before", {"age": "old"})
    assert store.participants_frame(study.id)["question:age"].dropna().tolist() == ["44", "old"]
    file = export_study(store, study, "parquet", "participants")
    assert len(pd.read_parquet(io.BytesIO(file.data))) == 3


def test_whole_numbers_stay_whole_in_every_format(sqlite_store):
    study, (_, declined, _) = gathered(sqlite_store)
    assert sqlite_store.participants_frame(study.id)["question:age"].dtype == "Int64"
    files = {kind: export_study(sqlite_store, study, kind, "participants").data for kind in ("csv", "parquet", "json")}
    rows = list(csv.DictReader(io.StringIO(files["csv"].decode("utf-8-sig"))))
    assert [row["question:age"] for row in rows] == ["44", "", ""]
    assert b'"question:age": 44,' in files["json"]
    found = pd.read_parquet(io.BytesIO(files["parquet"]))["question:age"]
    assert (found.dtype, found[0], found.isna().sum()) == ("Int64", 44, 2)
    sqlite_store.keep_answers(declined.id, "before", {"age": 34.5})
    assert sqlite_store.participants_frame(study.id)["question:age"].dropna().tolist() == [44.0, 34.5]


def answered_by(store, person, rule):
    """Hand in the next sort of somebody, and go on from its answer if it is the practice."""
    done = sort(store, store.assignment_for(person, RNG), rule)
    if done.source == "practice":
        store.see_answer(done.id, person.id)


def test_how_people_did_in_practice_and_admission_is_in_it(store):
    known = RightSort.of_groups({f"kind {kind}": [f"item {item}" for item in range(kind, 12, 3)] for kind in range(3)})
    study = begun(store, training=Training(practice=known, admission=(known,), mark=0.8, tries=2))
    good, bad, again, waits = (joined(store, study) for _ in range(4))
    right, wrong = kind_of, half_of
    ways = ((right, right), (right, wrong, wrong), (wrong, wrong, right, wrong), (wrong, wrong))
    for person, rules in zip((good, bad, again, waits), ways, strict=True):
        for rule in rules:
            answered_by(store, person, rule)
    frame = store.participants_frame(study.id)
    scores = {one.participant: one for one in store.consistency(study.id)}
    assert frame["practice"].tolist() == [scores[one.id].practice for one in (good, bad, again, waits)]
    assert frame["practice"][[0, 1]].tolist() == [1, 1]
    assert frame["admission"].tolist()[:3] == [1, scores[bad.id].admission, 1]
    assert frame["admission"][1] < 0.8
    assert frame["tries"].tolist() == [1, 2, 2, 1]
    assert frame["admitted"].dtype == "boolean"
    assert frame["admitted"].tolist() == [True, False, True, pd.NA]
    assert frame["sorts"].tolist() == [0, 0, 1, 0]
    csv_file, parquet, json_file = (
        export_study(store, study, kind, "participants", identifiers=False).data for kind in ("csv", "parquet", "json")
    )
    rows = list(csv.DictReader(io.StringIO(csv_file.decode("utf-8-sig"))))
    assert [row["admitted"] for row in rows] == ["True", "False", "True", ""]
    assert [row["admitted"] for row in json.loads(json_file)] == [True, False, True, None]
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(parquet)), frame, check_dtype=False)


def test_a_study_without_training_has_no_columns_of_it(sqlite_store):
    study, _ = gathered(sqlite_store)
    assert not {"practice", "admission", "tries", "admitted"} & set(sqlite_store.participants_frame(study.id))


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_study_without_people_has_an_empty_table(sqlite_store, kind):
    study = begun(sqlite_store)
    assert sqlite_store.participants_frame(study.id).empty
    file = export_study(sqlite_store, study, kind, "participants")
    assert file.name == f"study-{study.id}-participants.{kind}"


def test_every_format_of_tables_is_offered(admin, script, sqlite_store):
    study = begun(sqlite_store)
    page = admin.get(f"/admin/studies/{study.id}").text
    refused = script.get(f"/api/v1/studies/{study.id}/export?format=exe").json()["error"]
    for name, known in FORMATS.items():
        assert f'/export/{name}">{known.title}</button>' in page
        assert f"'{name}'" in refused
        assert export_study(sqlite_store, study, name).mime == known.mime


def test_what_cannot_be_exported(sqlite_store):
    study = begun(sqlite_store)
    with pytest.raises(InputError, match=r"^The report is about sorts"):
        export_study(sqlite_store, study, "html", "participants")
    with pytest.raises(InputError, match=r"^The table must be one of sorts, participants, answers, moves, log\.$"):
        export_study(sqlite_store, study, "csv", "people")


def test_the_pages_and_the_api_export_it(admin, script, sqlite_store):
    study, people = gathered(sqlite_store)
    page = admin.get(f"/admin/studies/{study.id}").text
    assert '<option value="participants">' in page
    file = admin.get(f"/admin/studies/{study.id}/export/csv?table=participants&identifiers=no")
    assert f'"study-{study.id}-participants-without-names.csv"' in file.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert [row["annotator"] for row in rows] == [one.id for one in people]
    assert "parameter:PID" not in rows[0]
    path = f"/api/v1/studies/{study.id}/export?format=json&table=participants"
    assert [row["parameter:PID"] for row in script.get(path).json()] == ["p0", "p1", None]
    assert "parameter:PID" not in script.get(f"{path}&identifiers=false").json()[0]
    assert script.get(f"{path}&table=people").status_code == 422


def test_the_ending_is_that_after_the_last_that_was_given(store):
    study = begun(store, subset_size=4, per_participant=2)
    person = joined(store, study)

    def ending():
        return store.participants_frame(study.id)["ending"].astype(object).fillna("").tolist()

    sort(store, store.assignment_for(person, RNG))
    store.keep_ending(person.id, "complete", "C1")
    store.keep_ending(person.id, "complete", "C1")  # the page is loaded again
    assert ending() == ["complete"]
    again = store.assignment_for(person, RNG)
    assert ending() == [""]
    sort(store, again)
    store.keep_ending(person.id, "complete", "C1")
    assert ending() == ["complete"]
