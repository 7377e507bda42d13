"""The active session of a study, kept in step with its store: answers in, prepared subsets out.

After a restart of the worker the session is built again from the store, and the subsets that were prepared or given
before are presented in it again; so it is the same session as if it had never stopped, but for its random numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from consilience.active import ActiveSession, Subset
from consilience.collect.results.consensus import fusion_of
from consilience.collect.settings.model import Assignment, Study
from consilience.collect.store import Prepared, Submitted
from consilience.errors import InputError

RANDOM = "random"


@dataclass(frozen=True)
class Composed:
    """A subset that was composed and is not stored yet.

    participant : whom it is for.
    subset : what the session waits for, unless it was drawn at random beside it.
    """

    items: list[int]
    source: str
    participant: str | None = None
    subset: Subset | None = None


class StudySession:
    """The active session of one study.

    session : ActiveSession; its items are the numbers of those of the study, its annotators the ids of the
        participants.
    """

    def __init__(self, study: Study) -> None:
        settings = study.settings
        self.key = key_of(study)
        self.session = ActiveSession(
            range(study.n_items),
            strategy=settings.strategy,
            fusion=fusion_of(study),
            max_per_item=settings.max_per_item,
            random_state=study.seed,
        )
        self._size = study.subset_size
        self._share = 1.0 if settings.strategy == RANDOM else settings.random_share
        self._strategy = settings.strategy
        self._rng = np.random.default_rng([study.seed, 1])
        self._told: dict[int, str] = {}  # participants, by assignment
        self._waiting: dict[int, Subset] = {}  # by prepared subset, or by assignment with a minus
        self._n_composed = 0  # answers when the prepared subsets were composed

    def hear(self, rows: Sequence[Submitted], given: Iterable[tuple[Prepared, str]]) -> None:
        """Tell the session what is new, and forget people who are left out since.

        rows : all answers that count
        given : prepared subsets that were given, with the state of their assignments
        """
        counted = {one.assignment for one in rows}
        gone = {person for number, person in self._told.items() if number not in counted}
        if gone:
            self._forget(gone)
        subset_of = {one.assignment: one.id for one, _ in given}
        for one in rows:
            if one.assignment not in self._told:
                groups = [list(group["items"]) for group in one.groups]
                general = self._waiting.pop(subset_of.get(one.assignment, 0), None)
                subset = self._waiting.pop(-one.assignment, general)
                self.session.tell(groups, subset=subset, annotator=one.participant)
                self._told[one.assignment] = one.participant

    @property
    def is_stale(self) -> bool:
        """Whether so many answers came in that the prepared subsets should be composed anew: a twentieth of all."""
        n_told = len(self._told)
        return abs(n_told - self._n_composed) >= max(1, n_told // 20)

    def wait_for(self, prepared: Sequence[Prepared], going_on: Sequence[Assignment]) -> None:
        """Wait for the answers to these subsets, and for no others.

        prepared : prepared subsets, given or not
        going_on : assignments of people who will get another after it; the session has to know what they see, since
            nobody sees an item twice.
        """
        theirs = {-one.id: one for one in going_on}
        held = {one.id: one for one in prepared if one.assignment is None or -one.assignment not in theirs}
        for number in [number for number in self._waiting if number not in held and number not in theirs]:
            self._withdraw(number)
        for number, one in held.items():
            if number not in self._waiting and one.source == self._strategy != RANDOM:
                self._present_again(number, one.items, one.participant)
        for number, sorting in theirs.items():
            if number not in self._waiting and self._strategy != RANDOM:
                self._present_again(number, sorting.items, sorting.participant)

    def compose(
        self, n_general: int, people: Mapping[str, Iterable[int]], allowed: Bool[np.ndarray, " items"]
    ) -> list[Composed]:
        """Compose subsets: some for whoever comes next, and one for each of several participants.

        people : the items that each of these participants saw already, by their ids; they see no item twice.
        allowed : bool array, shape (n_items,); whether the quota of each item allows to present it.

        Returns fewer where too few items are left.
        """
        self._n_composed = len(self._told)
        wanted: list[str | None] = [*people, *([None] * n_general)]
        at_random = self._rng.random(len(wanted)) < self._share
        asked = self._asked([person for person, chance in zip(wanted, at_random, strict=True) if not chance])
        drawn = [
            self._drawn(person, people.get(person, ()) if person else (), allowed)
            for person, chance in zip(wanted, at_random, strict=True)
            if chance
        ]
        found = [*asked, *(one for one in drawn if one is not None)]
        return [found[place] for place in self._rng.permutation(len(found))]

    def prepared(self, composed: Sequence[Composed], stored: Sequence[Prepared]) -> None:
        """Take note of the numbers under which composed subsets were stored."""
        for one, kept in zip(composed, stored, strict=True):
            if one.subset is not None:
                self._waiting[kept.id] = one.subset

    def _drawn(self, person: str | None, seen: Iterable[int], allowed: Bool[np.ndarray, " items"]) -> Composed | None:
        """Draw a random subset; None if too few items are left."""
        left = allowed.copy()
        left[list(seen)] = False
        if left.sum() < self._size:
            return None
        items = self._rng.choice(np.flatnonzero(left), self._size, replace=False)
        return Composed([int(item) for item in items], RANDOM, person)

    def _asked(self, people: Sequence[str | None]) -> list[Composed]:
        """Ask for a subset for each; those for whom too few items are left get none."""
        if not people:
            return []
        try:
            subsets = self.session.ask(len(people), self._size, annotators=list(people))
        except InputError:
            if len(people) == 1:
                return []
            return [one for person in people for one in self._asked([person])]
        return [
            Composed([int(item) for item in subset.items], self._strategy, subset.annotator, subset)
            for subset in subsets
        ]

    def _present_again(self, number: int, items: Sequence[int], participant: str | None) -> None:
        try:
            (subset,) = self.session.ask(1, annotators=[participant], candidates=[list(items)])
        except InputError:  # by now an item of it may not be presented any more
            return
        self._waiting[number] = subset

    def _withdraw(self, number: int) -> None:
        subset = self._waiting.pop(number)
        if subset in self.session.pending_:
            self.session.withdraw(subset)

    def _forget(self, people: set[str]) -> None:
        self.session = self.session.without(sorted(people))
        self._told = {number: person for number, person in self._told.items() if person not in people}
        pending = self.session.pending_
        self._waiting = {number: subset for number, subset in self._waiting.items() if subset in pending}


def key_of(study: Study) -> tuple[Any, ...]:
    """Return what the session of a study depends on; if it changes, a new session is needed."""
    settings = study.settings
    about = (study.kind, study.classes, study.n_items, study.subset_size)
    return *about, settings.strategy, settings.max_per_item, settings.random_share
