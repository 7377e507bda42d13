"""A server in a process of its own, with people who take part over HTTP, and when it is killed."""

import sys

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from benchmarks import collect_cost, collect_kills, collect_load, collecting
from consilience.collect.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed with their group")


@pytest.mark.slow
def test_nothing_is_lost_under_load(capsys):
    assert collect_load.main(["--submissions", "32", "--at-once", "8", "--rate", "10", "--seconds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "32 acknowledged, 32 in the database; answers with 5xx: 0" in printed
    assert "p99" in printed
    assert collect_load.main(["--highest", "--rate", "20", "--seconds", "0.2"]) == 0
    assert "highest rate with p99 below 150 ms" in capsys.readouterr().out


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_is_killed(capsys, monkeypatch):
    monkeypatch.setattr(collect_kills, "BETWEEN", (0.1, 0.5))
    assert collect_kills.main(["--kills", "1", "--at-once", "6"]) == 0
    printed = capsys.readouterr().out
    assert "1 kills" in printed
    assert "lost: 0" in printed


@pytest.mark.parametrize("limit", [0, 40, 51, 100, 130, 450])
def test_the_search_for_the_highest_rate_ends_close_to_it(limit):
    tried = []
    found = collect_load.find_highest(lambda rate: tried.append(rate) or rate <= limit, 100)
    assert len(tried) <= collect_load.MOST_RUNS
    assert found <= limit <= found * collect_load.CLOSE


def test_the_check_finds_what_is_wrong(tmp_path):
    store = Store.open(f"sqlite:///{tmp_path}/studies.db")
    study = collecting.open_study(store)
    list(collect_load.who_have_sorted(store, study, 2))
    first, second = store.assignments(study.id)
    store.submit(first.id, first.participant)
    store.submit(second.id, second.participant)
    record = collecting.Record()
    record.acknowledged[second.id + 1] = [[1]]
    record.sent[first.id] = [[0, 1]]
    found = {name: count for name, count in collecting.differences(store, study, record).items() if count}
    assert found == {"lost": 1, "other than sent": 1, "not sent by anybody": 1}
    store.close()


def test_an_arrival_takes_no_more_statements_than_it_needs(store):
    costs = collect_cost.measure(store, 2)
    assert costs.arrival()[0] <= 9.5  # what hands in, and the page that follows; the first makes a job as well
    assert max(costs.statements["the first page"]) == 3
    assert max(costs.statements["the link"]) == 3
    assert max(costs.statements["to begin"]) <= 13  # the first makes a job as well
