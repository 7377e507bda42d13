"""Assignments in the store: what a participant sorts next, every change as it happens, and the submission."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from jaxtyping import Int
from sqlalchemy import Connection, bindparam, insert, select, update

from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.settings.model import JUDGING, Assignment, Participant, Study
from consilience.collect.settings.study_kinds import UNSURE
from consilience.collect.settings.training import GOLD
from consilience.collect.store import board_state, tables
from consilience.collect.store.board_state import BoardState, Group
from consilience.collect.store.database import Database, now
from consilience.collect.store.people import participant_in
from consilience.collect.store.presenting import Chosen, choose, is_left, n_submitted_of_quota, times_presented
from consilience.collect.store.quotas import take_places, withdraw_idle
from consilience.collect.store.requests import request, request_all
from consilience.collect.store.standing import READY, REFUSED, Standing, Trial, next_gold
from consilience.collect.store.studies import items_in, lock_study_of, study_in
from consilience.collect.store.trials import give_trial, score_trial, standing_in
from consilience.errors import InputError

MOST_CHANGES = 500  # in one request
MOST_CHANGES_KEPT = 50_000  # of an assignment
# statements of every visit, which are prepared once
WITH_PREVIEW = select(tables.assignments, tables.participants.c.preview).join(
    tables.participants, tables.participants.c.id == tables.assignments.c.participant
)
BY_ID = WITH_PREVIEW.where(tables.assignments.c.id == bindparam("assignment"))
LOCKED_BY_ID = BY_ID.with_for_update(key_share=True, of=tables.assignments)
OF_PARTICIPANT = (
    select(tables.assignments)
    .where(tables.assignments.c.participant == bindparam("who"))
    .order_by(tables.assignments.c.number)
)
BEGUN = (
    select(tables.assignments)
    .where(tables.assignments.c.participant == bindparam("who"), tables.assignments.c.state != "submitted")
    .with_for_update()
)
RECORDED = select(tables.changes.c.sequence).where(
    tables.changes.c.assignment == bindparam("of"),
    tables.changes.c.client == bindparam("by"),
    tables.changes.c.sequence.in_(bindparam("sequences", expanding=True)),
)
UPDATE = update(tables.assignments).where(tables.assignments.c.id == bindparam("which"))
TAKE = update(tables.subsets).where(tables.subsets.c.id == bindparam("prepared"))
DEBOUNCE = timedelta(seconds=2)  # from a submission to the next consensus


class Work(Database):
    """What the store knows of assignments."""

    def assignment_for(self, participant: Participant | str, rng: np.random.Generator) -> Assignment | None:
        """Return what a participant sorts next: what they have begun, else something new.

        Parameters
        ----------
        participant : Participant, or its id
        rng : numpy Generator
            For the order of the cards, and the subset if none is prepared.

        Returns
        -------
        Assignment or None
            None if they are done, were not admitted, are screened out or their quota is full, the study needs no more,
            is closed or asks for no sorts; what they have begun is returned all the same. Practice and admission come
            first, and gold among the rest; see `cards`.
        """
        participant_id = participant.id if isinstance(participant, Participant) else participant
        with self.write() as db:
            study = lock_study_of(db, tables.participants, participant_id)  # so that quotas are kept
            found = participant_in(db, participant_id, lock=True)
            begun = _begun(db, found.id)
            if begun is not None:
                return _resume(db, begun)
            if study.kind == JUDGING or found.excluded:
                return None
            if study.status not in (("draft", "open") if found.preview else ("open",)):
                return None
            withdraw_idle(db, study)
            chosen = choose(db, study, found, rng)
            if chosen is None:
                return None
            standing, trials, n_ordinary = standing_in(db, study, found.id)
            if standing.state == REFUSED or not take_places(db, study, found):
                return None
            trial = _next_trial(db, study, found, rng, standing, trials, n_ordinary)
            if trial is not None:
                return trial
            if not found.preview:
                request(db, study.id, "subsets", now())
            return _assign(db, study, found, chosen, n_ordinary + 1, rng)

    def is_left(self, participant: Participant, study: Study, given: Iterable[Assignment]) -> bool:
        """Whether there is more to sort for who was given these, training apart, as far as cards and quotas go."""
        with self.read() as db:
            return is_left(db, study, participant, given)

    def n_submitted_of_quota(self, study_id: str) -> int:
        """Count submitted groupings as the number wanted does: without repeats, imported ones and people left out."""
        with self.read() as db:
            return n_submitted_of_quota(db, study_in(db, study_id))

    def assignment(self, assignment_id: int) -> Assignment:
        """Return an assignment.

        Raises
        ------
        NotFoundError
            There is no such assignment.
        """
        with self.read() as db:
            return _assignment_of(_row(db, assignment_id))

    def assignments(self, study_id: str) -> list[Assignment]:
        """Return all assignments of a study, previews included, in the order in which they were given."""
        columns = tables.assignments.c
        query = select(tables.assignments).where(columns.study == study_id).order_by(columns.id)
        with self.read() as db:
            return [_assignment_of(row) for row in db.execute(query)]

    def assignments_of(self, participant_id: str) -> list[Assignment]:
        """Return the assignments of a participant, in the order in which they were given."""
        with self.read() as db:
            return [_assignment_of(row) for row in db.execute(OF_PARTICIPANT, {"who": participant_id})]

    def board_state(
        self, assignment_id: int, participant_id: str | None = None, *, to_change: bool = False
    ) -> BoardState:
        """Return the groups of an assignment.

        Parameters
        ----------
        assignment_id : int
        participant_id : str, optional
            Whose it must be.
        to_change : bool, default=False
            Whether it must be open to changes.

        Raises
        ------
        NotFoundError
            There is no such assignment, or it is somebody else's.
        NotOpenError
            It was submitted, and is to be changed.
        """
        with self.read() as db:
            row = _row(db, assignment_id, participant_id)
            if to_change:
                _require_open(row)
            return _state_of(row)

    def record_changes(self, assignment_id: int, participant_id: str, client: Any, changes: Any) -> BoardState:
        """Apply changes in their order; those that were recorded before, by client and sequence number, are skipped.

        All changes are recorded, or none if one of them is wrong.

        Parameters
        ----------
        assignment_id : int
        participant_id : str
        client : str
            Random name of the tab.
        changes : list of dict
            See `consilience.collect.store.board_state`.

        Returns
        -------
        BoardState
            With the changes of all tabs.

        Raises
        ------
        NotFoundError
            There is no such assignment, or it is somebody else's.
        NotOpenError
            It was submitted.
        InputError
            A change is wrong.
        """
        client = board_state.checked_client(client)
        if not isinstance(changes, list) or len(changes) > MOST_CHANGES:
            raise InputError(f"'changes' must be a list of at most {MOST_CHANGES} changes.")
        with self.write() as db:
            row = _row(db, assignment_id, participant_id, lock=True)
            study = study_in(db, row.study)
            checked = [board_state.check_change(change, study, row._mapping["items"]) for change in changes]
            state = _state_of(row)
            new = _not_recorded(db, row.id, client, checked)
            if not new:
                return state
            _require_open(row)
            after = _after(state, row, client, new)
            _record(db, row, client, state.version, new)
            moment = now()
            _update(db, row.id, board=after.as_json(), started=row.started or moment, changed=moment, state="open")
            return after

    def changes(self, assignment_id: int) -> list[tuple[str, dict[str, Any]]]:
        """Return every change of an assignment in order of arrival, each with the client that sent it."""
        columns = tables.changes.c
        query = select(columns.client, columns.change).where(columns.assignment == assignment_id)
        with self.read() as db:
            return [(row.client, dict(row.change)) for row in db.execute(query.order_by(columns.number))]

    def submit(self, assignment_id: int, participant_id: str, confirmed: bool = False) -> Assignment:
        """Submit an assignment as it is; what was submitted already is returned.

        Parameters
        ----------
        assignment_id : int
        participant_id : str
        confirmed : bool, default=False
            Whether the participant agreed to leave cards unsorted.

        Returns
        -------
        Assignment

        Raises
        ------
        NotFoundError
            There is no such assignment, or it is somebody else's.
        UnsortedError
            Cards are left unsorted and this was not confirmed, or the study forbids it.
        InputError
            No card is in a group, one that must be is not, a group has no name and the study asks for one, or it has
            too few or too many cards.
        """
        with self.write() as db:
            study = lock_study_of(db, tables.assignments, _checked_id(assignment_id))
            row = _row(db, assignment_id, participant_id, lock=True)
            if row.state == "submitted":
                return _assignment_of(row)
            state = _state_of(row)
            _require_submittable(db, study, row, state, confirmed=confirmed)
            return _submit(db, study, row, state)

    def submit_groups(
        self, assignment_id: int, participant_id: str, client: str, groups: Sequence[Group]
    ) -> Assignment:
        """Submit these groups in place of what is on the board, recorded as changes of a client: wholly, or not at all.

        Raises
        ------
        NotFoundError
            There is no such assignment, or it is somebody else's.
        NotOpenError
            It was submitted already.
        UnsortedError
            Cards are left unsorted and the study forbids it.
        InputError
            A group is not allowed, or has no name and the study asks for one.
        """
        client = board_state.checked_client(client)
        with self.write() as db:
            study = lock_study_of(db, tables.assignments, _checked_id(assignment_id))
            row = _row(db, assignment_id, participant_id, lock=True)
            _require_open(row)
            state = _state_of(row)
            changes = board_state.changes_to(state, groups)
            checked = [board_state.check_change(change, study, row._mapping["items"]) for change in changes]
            after = _after(state, row, client, checked)
            _require_submittable(db, study, row, after, confirmed=True)
            _record(db, row, client, state.version, checked)
            _update(db, row.id, board=after.as_json(), changed=now())
            return _submit(db, study, row, after)

    def times_presented(self, study_id: str) -> Int[np.ndarray, " items"]:
        """Count how often each item was presented, as far as this counts towards `max_per_item`."""
        with self.read() as db:
            return times_presented(db, study_in(db, study_id))


def _begun(db: Connection, participant_id: str) -> Any | None:
    return db.execute(BEGUN, {"who": participant_id}).first()


def _resume(db: Connection, row: Any) -> Assignment:
    if row.state == "withdrawn":
        _update(db, row.id, state="open", changed=now())
    return replace(_assignment_of(row), state="open")


def _next_trial(
    db: Connection,
    study: Study,
    participant: Participant,
    rng: np.random.Generator,
    standing: Standing,
    trials: Sequence[Trial],
    n_ordinary: int,
) -> Assignment | None:
    """Give what comes before the next ordinary sort: practice, admission or gold; None if nothing does."""
    if standing.state != READY:
        place, attempt = standing.place, standing.attempt
        return _assignment_of(give_trial(db, study, participant, standing.state, rng, place=place, attempt=attempt))
    gold = next_gold(study, participant.id, trials, n_ordinary)
    return None if gold is None else _assignment_of(give_trial(db, study, participant, GOLD, rng, place=gold))


def _assign(
    db: Connection, study: Study, participant: Participant, chosen: Chosen, number: int, rng: np.random.Generator
) -> Assignment:
    """Give a subset to a participant, the cards in an order of their own."""
    order = [int(item) for item in rng.permutation(np.array(chosen.items))]
    values = {
        **{"study": study.id, "participant": participant.id, "items": order, "source": chosen.source},
        **{"state": "open", "number": number, "assigned": now()},
        "board": board_state.initial(0, order, study.classes).as_json(),
    }
    row = db.execute(insert(tables.assignments).returning(tables.assignments), values).one()
    if chosen.prepared is not None:
        db.execute(TAKE, {"prepared": chosen.prepared, "assignment": row.id})
    return _assignment_of(row)


def _state_of(row: Any) -> BoardState:
    return BoardState.of_json({**row.board, "assignment": row.id})


def _checked_id(assignment_id: Any) -> int:
    if not isinstance(assignment_id, int) or isinstance(assignment_id, bool) or not 0 < assignment_id < 2**31:
        raise NotFoundError("There is no such assignment.")
    return assignment_id


def _row(db: Connection, assignment_id: Any, participant_id: str | None = None, *, lock: bool = False) -> Any:
    """Return the row of an assignment, and whether it is of a preview."""
    row = db.execute(LOCKED_BY_ID if lock else BY_ID, {"assignment": _checked_id(assignment_id)}).first()
    if row is None or (participant_id is not None and row.participant != participant_id):
        raise NotFoundError("There is no such assignment.")
    return row


def _require_open(row: Any) -> None:
    if row.state == "submitted":
        raise NotOpenError("This sort was submitted already.")


def _not_recorded(
    db: Connection, assignment_id: int, client: str, changes: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the changes that are new; of two with one sequence number the first."""
    by_sequence: dict[int, dict[str, Any]] = {}
    for change in changes:
        by_sequence.setdefault(change["sequence"], change)
    known = set(db.scalars(RECORDED, {"of": assignment_id, "by": client, "sequences": list(by_sequence)}))
    return [change for sequence, change in by_sequence.items() if sequence not in known]


def _after(state: BoardState, row: Any, client: str, changes: Sequence[dict[str, Any]]) -> BoardState:
    """Return the state after changes that are new."""
    if state.version + len(changes) > MOST_CHANGES_KEPT:
        raise InputError(f"More than {MOST_CHANGES_KEPT:,} changes were made; submit the sort, or begin anew.")
    after = board_state.fold(state, [(client, change) for change in changes], row._mapping["items"])
    board_state.require_few_groups(after)
    return after


def _require_submittable(db: Connection, study: Study, row: Any, state: BoardState, *, confirmed: bool) -> None:
    board_state.require_submittable(state, study, confirmed=confirmed)
    if study.settings.required_cards and state.unsorted:
        board_state.require_cards(state, study, items_in(db, study.id), row._mapping["items"])


def _submit(db: Connection, study: Study, row: Any, state: BoardState) -> Assignment:
    """Submit an assignment whose board is in a state that can be submitted."""
    moment = now()
    answer = [group.as_json() for group in state.groups if group.items and group.id != UNSURE]
    started = row.started or moment
    done = replace(_assignment_of(row), state="submitted", submitted=moment, started=started, answer=answer)
    _update(db, row.id, state=done.state, submitted=moment, started=started, answer=answer)
    if row.number < 0:
        score_trial(db, study, row.id, answer)
    elif not row.preview:
        request_all(db, study.id, {"subsets": moment, "consensus": moment + DEBOUNCE})
    return done


def _record(db: Connection, row: Any, client: str, version: int, changes: Sequence[Mapping[str, Any]]) -> None:
    moment = now()
    rows = [
        {
            **{"assignment": row.id, "number": number, "client": client, "sequence": change["sequence"]},
            **{"change": dict(change), "received": moment},
        }
        for number, change in enumerate(changes, version + 1)
    ]
    db.execute(insert(tables.changes), rows)


def _update(db: Connection, assignment_id: int, **values: Any) -> None:
    db.execute(UPDATE, {"which": assignment_id, **values})


def _assignment_of(row: Any) -> Assignment:
    values = {name: value for name, value in row._mapping.items() if name not in ("board", "changed", "preview")}
    return Assignment(**{**values, "items": tuple(values["items"])})
