"""The table of moves: whole and in order, off by default, and named where people consent."""

import io

import numpy as np
import pandas as pd
import pytest

from consilience.collect.errors import NotOpenError
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Panel
from consilience.errors import InputError

from .collecting import begun, joined, takes_part

ASKED = Panel(consent="# Yes?")


def moved(store, study, moves):
    """Let somebody move cards, of which each move is a pair of cards and group, and hand in."""
    person = joined(store, study)
    assignment = store.assignment_for(person, np.random.default_rng(0))
    sent = [{"kind": "move", "items": items, "group": group} for items, group in moves]
    sent.append({"kind": "name", "group": "g1", "name": "Red"})
    for number, change in enumerate(sent):
        store.record_changes(assignment.id, person.id, "tab", [{"sequence": number, **change}])
    store.submit(assignment.id, person.id, confirmed=True)
    return person


MOVES = [([2, 0], "g1"), ([1], "g2"), ([0], None), ([0], "g1"), ([1], "g1"), ([1], "g3")]


def test_each_card_of_each_move_is_a_row_in_order(store):
    study = begun(store, ["a", "b", "c"], panel=ASKED, moves=True)
    person = moved(store, study, MOVES)
    frame = store.moves_frame(study.id)
    assert frame["annotator"].unique().tolist() == [person.id]
    rows = frame[["move", "item", "group_id", "group"]].astype(object).where(frame.notna(), None)
    assert rows.to_numpy().tolist() == [
        *([1, "c", "g1", "Red"], [1, "a", "g1", "Red"], [2, "b", "g2", None], [3, "a", None, None]),
        *([4, "a", "g1", "Red"], [5, "b", "g1", "Red"], [6, "b", "g3", "2"]),
    ]
    assert frame["moved"].is_monotonic_increasing
    sorts = store.export_frame(study.id).set_index("item").sort_index()
    last = frame.groupby("item").last()
    assert last["group"].to_dict() == sorts["group"].to_dict()
    assert (last["moved"] <= sorts["submitted"]).all()
    assert abs((frame["moved"].min() - sorts["started"].min()).total_seconds()) < 1  # each takes the time by itself


def test_there_is_no_such_table_unless_it_was_asked_for(admin, sqlite_store):
    study = begun(sqlite_store, ["a", "b", "c"])
    takes_part(sqlite_store, study)
    address = f"/admin/studies/{study.id}"
    answer = admin.get(f"{address}/export/csv?table=moves")
    assert (answer.status_code, "has no table of moves" in answer.text) == (422, True)
    assert 'value="moves"' not in admin.get(address).text
    with pytest.raises(NotOpenError, match="People have begun"):
        sqlite_store.update_study(study.id, settings=StudySettings(panel=ASKED, moves=True))
    with pytest.raises(InputError, match="needs a consent"):
        sqlite_store.create_study("x", ["a", "b"], settings=StudySettings(moves=True))


def test_the_consent_names_it_and_what_was_agreed_to_is_kept(admin, visit, sqlite_store):
    study = begun(sqlite_store, ["a", "b", "c"], panel=ASKED, moves=True)
    one = visit()
    one.get(f"/join/{study.join_token}")
    page = one.get("/sort").text
    assert "Each move of a card is kept with its time" in page
    version = page.split('name="version" value="')[1].split('"')[0]
    one.post("/sort/consent", data={"version": version, "agreed": "yes", "decision": "agree"})
    [person] = sqlite_store.participants(study.id)
    assert "Each move of a card is kept with its time" in sqlite_store.consent(person.id).text
    moved(sqlite_store, study, MOVES)
    sent = admin.get(f"/admin/studies/{study.id}/export/csv?table=moves&identifiers=no")
    assert len(pd.read_csv(io.BytesIO(sent.content))) == 7
    assert 'value="moves"' in admin.get(f"/admin/studies/{study.id}").text
