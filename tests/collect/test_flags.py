"""Signs of careless sorting: each kind is found where it is, and careful people and minorities are spared."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from consilience import Groupings
from consilience.collect.results import flags
from consilience.collect.results.flags import flags_of
from consilience.collect.settings.model import Assignment
from consilience.collect.store import Submitted
from consilience.metrics.agreement import annotator_agreement

N_ITEMS = 40
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def row(person, labels, *, seconds=120.0, source="all", **options):
    """Return a sort: the group of each item, negative for those that are left over."""
    groups = [
        {"id": f"g{label}", "name": "", "items": [int(item) for item in np.flatnonzero(labels == label)]}
        for label in np.unique(labels[labels >= 0])
    ]
    values = {"preview": False, "excluded": False} | options
    return Submitted(
        **{"assignment": 1, "participant": person, "annotator": person, "items": tuple(range(len(labels)))},
        **{"groups": groups, "source": source, "assigned": START, "started": START},
        **{"submitted": START + timedelta(seconds=seconds), "parameters": {}},
        **values,
    )


def careful(rng, n_people, truth, wrong=0.25, start=0):
    """Return people who sort by a truth, and put some cards anywhere."""
    drawn = [np.where(rng.random(N_ITEMS) < wrong, rng.integers(6, size=N_ITEMS), truth) for _ in range(n_people)]
    return [row(f"p{start + number}", labels) for number, labels in enumerate(drawn)]


@pytest.fixture
def panel():
    return careful(np.random.default_rng(1), 16, np.arange(N_ITEMS) % 6)


def found(rows, assignments=(), **options):
    return [(one.participant, one.kind) for one in flags_of(rows, assignments, n_items=N_ITEMS, **options)]


def test_careful_people_are_not_flagged(panel):
    assert found(panel) == []


def test_what_is_no_sort_is_flagged_by_its_kind(panel):
    empty = np.full(N_ITEMS, -1)
    rows = [
        *panel,
        row("pile", np.zeros(N_ITEMS, int)),
        row("alone", np.arange(N_ITEMS)),
        row("none", np.where(np.arange(N_ITEMS) < 3, 0, empty)),
        row("rapid", np.arange(N_ITEMS) % 6, seconds=8.0),
    ]
    assert found(rows) == [("pile", "one pile"), ("alone", "all alone"), ("none", "left over"), ("rapid", "fast")]
    assert ("alone", "all alone") not in found(rows, kind="closed")
    assert flags_of(rows, [], n_items=N_ITEMS)[0].sentence == "Put all 40 sorted cards into one group."


def test_copies_are_flagged_both(panel):
    rng = np.random.default_rng(3)
    labels = np.where(rng.random(N_ITEMS) < 0.5, rng.integers(6, size=N_ITEMS), np.arange(N_ITEMS) % 6)
    flagged = found([*panel, row("one", labels), row("two", (labels + 1) % 6)])
    assert [one for one in flagged if one[1] == "copy"] == [("one", "copy"), ("two", "copy")]


def test_the_nearest_sorts_are_those_of_all_pairs(monkeypatch):
    monkeypatch.setattr(flags, "CHUNK", 300)  # so that sorts are compared some at a time
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((40, 16)) < 0.85, rng.integers(4, size=(40, 16)), -1)
    labels[3] = labels[30]
    labels[:2, :12] = 0  # trivial ones agree wholly
    person = np.repeat(np.arange(20), 2)
    found = flags.Nearest.of(labels, person)
    groupings = Groupings.from_matrix(np.where(labels >= 0, labels, np.nan).T)
    agreement = annotator_agreement(groupings).to_numpy(copy=True)
    common = (labels >= 0).astype(int) @ (labels >= 0).T
    agreement[(person[:, None] == person) | (common < flags.FEWEST_COMMON)] = -np.inf
    np.testing.assert_array_equal(found.n_compared, np.isfinite(agreement).sum(1))
    np.testing.assert_allclose(np.sort(agreement)[:, -2:], np.column_stack([found.next, found.best]), atol=1e-12)
    rows = np.arange(40)
    np.testing.assert_allclose(agreement[rows, found.other], found.best, atol=1e-12)
    np.testing.assert_array_equal(common[rows, found.other], found.n_common)


def test_people_who_all_sort_alike_are_no_copies():
    assert found([row(f"p{number}", np.arange(N_ITEMS) % 6) for number in range(12)]) == []


def test_a_repetition_that_differs_is_flagged(panel):
    other = np.random.default_rng(4).integers(6, size=N_ITEMS)
    rows = [*panel, row("p0", other, source="repeat"), row("p1", np.arange(N_ITEMS) % 6, source="repeat")]
    assert found(rows) == [("p0", "inconsistent")]


def test_the_unfinished_are_flagged_and_previews_are_not(panel):
    left = Assignment(7, "s", "gone", (1, 2), "all", "withdrawn", 1, START)
    going_on = Assignment(8, "s", "here", (1, 2), "all", "open", 1, START)
    preview = row("me", np.zeros(N_ITEMS, int), preview=True)
    assert found([*panel, preview], [left, going_on]) == [("gone", "unfinished")]
