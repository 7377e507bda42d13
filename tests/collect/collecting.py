"""People who take part in a study, for tests: they sort by a rule, through the store as the server does."""

from datetime import timedelta

import numpy as np
import pytest

from consilience.collect.settings.model import StudySettings
from consilience.collect.store.database import now
from consilience.collect.store.requests import request

slow_with_postgresql = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
"""For tests that fit or draw for seconds; what they ask of the database has quick tests with both."""

NAMES = [f"item {number}" for number in range(12)]


def begun(store, names=NAMES, *, kind="open", **settings):
    """Return a study that is open; by default nobody advises to stop, which takes eight fits besides the consensus."""
    settings = {"stop_rule": "none"} | settings
    if kind == "closed":
        settings = {"strategy": "random", "categories": ("A", "B", "C")} | settings
    return store.open_study(store.create_study("A study", names, kind=kind, settings=StudySettings(**settings)).id)


def joined(store, study, **options):
    """Return a new participant."""
    return store.new_participant(study.id, **options)[0]


def kind_of(item):
    """The rule by which people sort: three groups."""
    return item % 3


def sort(store, assignment, rule=kind_of, *, leave=0, client="tab"):
    """Sort an assignment, without the last cards, and submit it."""
    study = store.study(assignment.study)
    letter = "c" if study.kind == "closed" else "g"
    changes = [
        {"sequence": number, "kind": "move", "items": [item], "group": f"{letter}{rule(item) + 1}"}
        for number, item in enumerate(assignment.items[: len(assignment.items) - leave], 1)
    ]
    store.record_changes(assignment.id, assignment.participant, client, changes)
    return store.submit(assignment.id, assignment.participant, confirmed=True)


def takes_part(store, study, seed=0, rule=kind_of, times=1, **options):
    """Let a new participant sort; return what they submitted."""
    person, rng = joined(store, study, **options), np.random.default_rng(seed)
    found = []
    for _ in range(times):
        assignment = store.assignment_for(person, rng)
        if assignment is None:
            break
        found.append(sort(store, assignment, rule))
    return person, found


def request_job(store, study, kind, *, delay=0):
    """Ask for work behind the scenes that is due after some seconds."""
    with store.write() as db:
        request(db, study.id, kind, now() + timedelta(seconds=delay))
