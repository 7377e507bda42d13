"""Sets of questions for people who are asked one after the other, composed of what is least certain.

Labels are chosen by `consilience.active.LabelSession`, from the posterior of the labels so far: items without a label
first, then those whose class a label is most likely to put right, given who is to be asked. Pairs are chosen by
`consilience.active.ActiveSession`, as subsets of two cards. Some sets are drawn at random, which the export says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from consilience.active import ActiveSession, LabelSession
from consilience.annotations import Labels
from consilience.collect.settings.model import Assignment, Study
from consilience.collect.settings.study_kinds import cards_of, number_pair
from consilience.collect.store import Prepared, Submitted
from consilience.collect.store.questions_left import CardsLeft, PairsLeft
from consilience.collect.store.results import labels_of
from consilience.collect.worker.study_session import RANDOM, Composed, key_of

INFORMATIVE = "informative"


class QuestionSession:
    """What both kinds share: how many sets are drawn at random, and when the others are to be composed anew."""

    def __init__(self, study: Study) -> None:
        self.key = key_of(study)
        self.study = study
        self._share = 1.0 if study.settings.strategy == RANDOM else study.settings.random_share
        self._rng = np.random.default_rng([study.seed, 1])
        self._n_told = self._n_composed = 0

    @property
    def is_stale(self) -> bool:
        """Whether so many sets came in that the prepared ones should be composed anew: a twentieth of all."""
        return abs(self._n_told - self._n_composed) >= max(1, self._n_told // 20)

    def prepared(self, composed: Sequence[Composed], stored: Sequence[Prepared]) -> None:
        """Take note of composed sets that were stored: they are waited for when `wait_for` names them."""

    def _draw_chances(self, n_sets: int) -> Bool[np.ndarray, " sets"]:
        """Draw which sets are random."""
        self._n_composed = self._n_told
        return self._rng.random(n_sets) < self._share


class LabelQuestions(QuestionSession):
    """The labels of one study: made anew of all that was handed in whenever sets are composed."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self._labels: Labels | None = None
        self._session = self._begin()

    def hear(self, rows: Sequence[Submitted], given: Iterable[tuple[Prepared, str]]) -> None:
        """Take in all answers that count."""
        self._n_told = len(rows)
        found = labels_of(self.study, rows, [str(number) for number in range(self.study.n_items)])
        self._labels = found if found.n_rows else None

    def wait_for(self, prepared: Sequence[Prepared], going_on: Sequence[Assignment]) -> None:
        """Begin a session that knows all labels, and the questions that somebody has or will have before them."""
        self._session = self._begin()
        given: list[Prepared | Assignment] = [*prepared, *going_on]
        for items in sorted({tuple(sorted(one.items)) for one in given}):
            self._session.ask(len(items), candidates=[str(item) for item in items])

    def compose(
        self, n_general: int, people: Mapping[str, Iterable[int]], allowed: Bool[np.ndarray, " items"]
    ) -> list[Composed]:
        """Compose sets: some for whoever comes next, and one for each of several participants.

        people : the items that each of them saw already, by their ids.
        allowed : whether the quota of each item allows to ask about it.
        """
        wanted: list[str | None] = [*people, *([None] * n_general)]
        found, n_informed = [], 0
        for person, chance in zip(wanted, self._draw_chances(len(wanted)), strict=True):
            left = allowed.copy()
            left[[*(people[person] if person is not None else ())]] = False
            cards = CardsLeft(np.flatnonzero(left))
            if cards.count < self.study.subset_size:
                continue
            if chance:
                found.append(Composed(cards.draw(self.study.subset_size, self._rng), RANDOM, person))
            elif person is None:
                n_informed += 1
            else:
                found.append(Composed(self._ask(1, cards, [person])[0], INFORMATIVE, person))
        general = CardsLeft(np.flatnonzero(allowed))
        while n_informed:
            n_sets = min(n_informed, general.count // self.study.subset_size)  # a call asks about an item once
            found += [Composed(items, INFORMATIVE) for items in self._ask(n_sets, general)]
            n_informed -= n_sets
        return [found[place] for place in self._rng.permutation(len(found))]

    def _begin(self) -> LabelSession:
        session = LabelSession(
            [str(number) for number in range(self.study.n_items)],
            classes=self.study.classes,
            random_share=0,
            random_state=np.random.default_rng([self.study.seed, 2, self._n_told]),
        )
        return session if self._labels is None else session.tell(self._labels)

    def _ask(self, n_sets: int, cards: CardsLeft, annotators: list[str] | None = None) -> list[list[int]]:
        names = [str(card) for card in cards.cards]
        asked = self._session.ask(n_sets * self.study.subset_size, annotators=annotators, candidates=names)
        return [[int(question.item) for question in asked[place::n_sets]] for place in range(n_sets)]


class PairQuestions(QuestionSession):
    """The pairs of one study."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self._begin()

    def hear(self, rows: Sequence[Submitted], given: Iterable[tuple[Prepared, str]]) -> None:
        """Tell the session what is new; begin again if somebody is left out since."""
        if not self._told <= {one.assignment for one in rows}:
            self._begin()
        for one in rows:
            if one.assignment not in self._told:
                for group in one.groups:
                    for pair in group["items"]:
                        first, second = cards_of(pair)
                        groups = [[first, second]] if group["id"] == "c1" else [[first], [second]]
                        self._session.tell(groups, annotator=one.participant)
                self._told.add(one.assignment)
        self._n_told = len(self._told)

    def wait_for(self, prepared: Sequence[Prepared], going_on: Sequence[Assignment]) -> None:
        """Wait for the answers to the pairs that somebody has or will have before them, and for no others."""
        for subset in self._session.pending_:
            self._session.withdraw(subset)
        given: list[Prepared | Assignment] = [*prepared, *going_on]
        waiting = dict.fromkeys(pair for one in given for pair in one.items)
        if waiting and self._share < 1:
            self._session.ask(len(waiting), candidates=[list(cards_of(pair)) for pair in waiting])

    def compose(
        self, n_general: int, people: Mapping[str, Iterable[int]], allowed: Bool[np.ndarray, " items"]
    ) -> list[Composed]:
        """Compose sets for whoever comes next, and as many more as there are people who go on.

        allowed : whether the quota of each item allows to ask about it.
        """
        size, cards = self.study.subset_size, PairsLeft(np.flatnonzero(allowed), frozenset())
        if cards.count < size:
            return []
        chances = self._draw_chances(n_general + len(people))
        found = [Composed(cards.draw(size, self._rng), RANDOM) for _ in range(int(chances.sum()))]
        n_sets = len(chances) - len(found)
        pairs = self._ask(n_sets * size, cards) if n_sets else []
        sets = [pairs[place::n_sets] for place in range(n_sets)]
        found += [Composed(one, INFORMATIVE) for one in sets if len(one) == size]
        return [found[place] for place in self._rng.permutation(len(found))]

    def _begin(self) -> None:
        self._session = ActiveSession(range(self.study.n_items), random_state=self.study.seed)
        self._told = set[int]()

    def _ask(self, n_pairs: int, cards: PairsLeft) -> list[int]:
        """Return the numbers of informative pairs, each once: fewer if there are not so many."""
        candidates = None
        if len(cards.cards) < self.study.n_items:
            drawn = cards.draw(min(cards.count, 4 * n_pairs), self._rng)
            candidates = [list(cards_of(pair)) for pair in drawn]
        asked = self._session.ask(n_pairs, 2, candidates=candidates)
        return list(dict.fromkeys(number_pair(*map(int, subset.items)) for subset in asked))
