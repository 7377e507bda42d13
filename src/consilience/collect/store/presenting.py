"""Which subset a participant is given: a prepared one, or a random one where none fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, bindparam, func, select

from consilience.collect.settings.model import Assignment, Participant, Study
from consilience.collect.settings.study_kinds import PAIRS, list_cards
from consilience.collect.settings.training import APART
from consilience.collect.store import tables
from consilience.collect.store.jobs import prepared_in
from consilience.collect.store.questions_left import CardsLeft, Left, PairsLeft

EARLIER = (  # prepared once
    select(tables.assignments.c["items"], tables.assignments.c.source)
    .where(tables.assignments.c.participant == bindparam("who"), tables.assignments.c.number > 0)
    .order_by(tables.assignments.c.number)
)


@dataclass(frozen=True)
class Chosen:
    """Items for a participant.

    items : numbers of the items.
    source : why these; see `Assignment`.
    prepared : id of the prepared subset, if it is one.
    """

    items: tuple[int, ...]
    source: str
    prepared: int | None = None


@dataclass(frozen=True)
class Presented:
    """What was presented so far.

    earlier : assignments of the participant without those of training: their items and sources.
    times : how often each item was presented to anybody, previews and repeats apart.
    """

    earlier: list[tuple[tuple[int, ...], str]]
    times: np.ndarray


def choose(db: Connection, study: Study, participant: Participant, rng: np.random.Generator) -> Chosen | None:
    """Choose what a participant sorts next; None if they are done or the study needs no more."""
    given = db.execute(EARLIER, {"who": participant.id})
    presented = _list_presented(db, study, [(tuple(items), source) for items, source in given])
    settings = study.settings
    if len(presented.earlier) >= settings.per_participant or _is_full(db, study, participant):
        return None
    repeatable = _repeatable(presented.earlier, settings.per_participant) if settings.repeat_share else []
    chosen = None
    if not repeatable or rng.random() >= settings.repeat_share:
        chosen = _new(db, study, participant, _list_left(study, participant, presented), rng)
    if chosen is None and repeatable:
        chosen = Chosen(repeatable[rng.integers(len(repeatable))], "repeat")
    return chosen


def is_left(db: Connection, study: Study, participant: Participant, given: Iterable[Assignment]) -> bool:
    """Whether `choose` has something for a participant, who was given these assignments."""
    presented = _list_presented(db, study, [(one.items, one.source) for one in given if one.number > 0])
    settings = study.settings
    if len(presented.earlier) >= settings.per_participant or _is_full(db, study, participant):
        return False
    if settings.repeat_share and _repeatable(presented.earlier, settings.per_participant):
        return True
    return _list_left(study, participant, presented).count >= study.subset_size


def _new(db: Connection, study: Study, participant: Participant, left: Left, rng: np.random.Generator) -> Chosen | None:
    """Choose cards, or questions, that the participant has not seen; None if too few are left."""
    if participant.preview:
        return _random(study, left, rng, "all" if not study.composes_subsets else "random")
    if not study.composes_subsets:
        return _random(study, left, rng, "all")
    prepared = prepared_in(db, study.id, lock=True)
    fitting = [one for one in prepared if one.participant in (None, participant.id) and left.holds(one.items)]
    if fitting:
        first = min(fitting, key=lambda one: (one.participant is None, one.id))
        return Chosen(first.items, first.source, first.id)
    return _random(study, left, rng, "dry")


def _repeatable(earlier: Sequence[tuple[tuple[int, ...], str]], per_participant: int) -> list[tuple[int, ...]]:
    """Return what can be shown again: what was not yet, and, where there is a choice, not what was sorted just now."""
    again = {frozenset(items) for items, source in earlier if source == "repeat"}
    apart = earlier[:-1] if per_participant > 2 else earlier
    return [items for items, source in apart if source != "repeat" and frozenset(items) not in again]


def n_submitted_of_quota(db: Connection, study: Study) -> int:
    """Count the submitted groupings among those that count towards the number wanted; see `_that_count`."""
    return db.scalar(_that_count(study, func.count()).where(tables.assignments.c.state == "submitted")) or 0


def times_presented(db: Connection, study: Study) -> np.ndarray:
    """Count how often each item was presented, in all that counts towards quotas; see `_that_count`."""
    given = db.scalars(_that_count(study, tables.assignments.c["items"]))
    cards = map(list_cards, given) if study.kind == PAIRS else given
    return np.bincount(_join_lists(cards), minlength=study.n_items)


def _that_count(study: Study, selected: Any) -> Select[Any]:
    """Select from the assignments that count towards quotas.

    They are submitted or in progress, not of previews or people who are left out, and not repeated or imported.
    """
    columns, people = tables.assignments.c, tables.participants.c
    return (
        select(selected)
        .select_from(tables.assignments.join(tables.participants, people.id == columns.participant))
        .where(
            columns.study == study.id,
            columns.state != "withdrawn",
            columns.source.not_in((*APART, "imported")),
            people.preview.is_(False),
            people.excluded.is_(False),
        )
    )


def _list_presented(db: Connection, study: Study, earlier: list[tuple[tuple[int, ...], str]]) -> Presented:
    counts = np.zeros(study.n_items, dtype=int)
    if study.settings.max_per_item is not None:
        counts = times_presented(db, study)
    return Presented(earlier, counts)


def _is_full(db: Connection, study: Study, participant: Participant) -> bool:
    """Whether as many groupings as wanted were submitted or are in progress."""
    if study.settings.groupings_wanted is None or participant.preview:
        return False
    return (db.scalar(_that_count(study, func.count())) or 0) >= study.settings.groupings_wanted


def _list_left(study: Study, participant: Participant, presented: Presented) -> Left:
    """Return what may be presented to a participant: nothing twice, and no card more often than the quota."""
    allowed = np.full(study.n_items, True)
    if study.settings.max_per_item is not None and not participant.preview:
        allowed &= presented.times < study.settings.max_per_item
    seen = _join_lists(items for items, _ in presented.earlier)
    if study.kind == PAIRS:
        return PairsLeft(np.flatnonzero(allowed), frozenset(seen.tolist()))
    allowed[seen] = False
    return CardsLeft(np.flatnonzero(allowed))


def _random(study: Study, left: Left, rng: np.random.Generator, source: str) -> Chosen | None:
    if left.count < study.subset_size:
        return None
    return Chosen(tuple(left.draw(study.subset_size, rng)), source)


def _join_lists(lists: Iterable[Iterable[int]]) -> np.ndarray:
    parts = [np.array(list(items), dtype=np.intp) for items in lists]
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts])
