"""The table of participants, and exports without what identifies people."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from consilience.collect.exporting import exported
from consilience.collect.panel import Panel, Question
from consilience.errors import InputError

from .collecting import begun, joined, sort

RNG = np.random.default_rng(0)
PANEL = Panel(
    consent="Do you agree?",
    before=(Question("age", "Age?", "number"), Question("diet", "Diet?", "choices", options=("Meat", "Fish"))),
    after=(Question("say", "Anything?"),),
)


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
        assert not frame.map(lambda value: value in ("p0", "p1", "p2")).any(axis=None)
        assert set(frame["annotator"]) <= {one.id for one in store.participants(study.id)}
    named = {one.id: one.name for one in store.participants(study.id) if one.name}
    assert named
    assert set(named.values()) <= set(store.participants_frame(study.id)["annotator"])


def test_a_question_that_changed_its_kind_is_one_column_of_text(store):
    study, (_, declined, _) = gathered(store)
    store.keep_answers(declined.id, "before", {"age": "old"})
    assert store.participants_frame(study.id)["question:age"].dropna().tolist() == ["44.0", "old"]
    file = exported(store, study, "parquet", "participants")
    assert len(pd.read_parquet(io.BytesIO(file.data))) == 3


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_study_without_people_has_an_empty_table(sqlite_store, kind):
    study = begun(sqlite_store)
    assert sqlite_store.participants_frame(study.id).empty
    file = exported(sqlite_store, study, kind, "participants")
    assert file.name == f"study-{study.id}-participants.{kind}"


def test_what_cannot_be_exported(sqlite_store):
    study = begun(sqlite_store)
    with pytest.raises(InputError, match=r"^The report is about sorts"):
        exported(sqlite_store, study, "html", "participants")
    with pytest.raises(InputError, match=r"^The table must be one of sorts, participants, answers\.$"):
        exported(sqlite_store, study, "csv", "people")


def test_the_pages_and_the_api_export_it(admin, script, sqlite_store):
    study, people = gathered(sqlite_store)
    page = admin.get(f"/admin/studies/{study.id}").text
    assert '<option value="participants">' in page
    file = admin.get(f"/admin/studies/{study.id}/export/csv?table=participants&identifiers=no")
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert [row["annotator"] for row in rows] == [one.id for one in people]
    assert "parameter:PID" not in rows[0]
    path = f"/api/v1/studies/{study.id}/export?format=json&table=participants"
    assert [row["parameter:PID"] for row in script.get(path).json()] == ["p0", "p1", None]
    assert "parameter:PID" not in script.get(f"{path}&identifiers=false").json()[0]
    assert script.get(f"{path}&table=people").status_code == 422
