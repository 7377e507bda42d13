"""Where a participant is in training: what they sort next, whether they passed, and where gold comes among the rest."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from consilience.collect.settings.model import Item, Study, StudySettings
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE, RightSort
from consilience.collect.store.scoring import CLOSE

READY, REFUSED = "ready", "refused"


@dataclass(frozen=True)
class Trial:
    """A sort whose right answer is known, as a participant was given it.

    role : {"practice", "admission", "gold"}
    place : which of the sorts of its role, from 0.
    attempt : which try of the admission, from 1; 1 for other roles.
    cards : numbered as on the board: cards of the study as there, others from the number of items on.
    right : the right group of each card, by its number; or the right answer to each question.
    mark : mean score that was needed when an admission sort was given.
    score : None until it is submitted.
    seen : whether the participant went on from the right answer of a practice sort.
    """

    assignment: int
    role: str
    place: int
    attempt: int
    cards: tuple[Item, ...]
    right: Mapping[int, str]
    mark: float | None = None
    score: float | None = None
    seen: bool = False


@dataclass(frozen=True)
class Standing:
    """Where somebody is.

    state : {"practice", "admission", "ready", "refused"}; what they sort next; ready for the sorts that count, or not
        admitted to them.
    place : which admission sort is next, from 0.
    attempt : which try of the admission this is.
    failed : mean score of the last try, if it was not enough.
    """

    state: str
    place: int = 0
    attempt: int = 1
    failed: float | None = None


def standing_of(study: Study, trials: Sequence[Trial], *, has_begun: bool) -> Standing:
    """Return where a participant is.

    trials : of the participant, in the order in which they were given.
    has_begun : whether they were given a sort that counts: then no training that was added later sends them back.
    """
    training = study.settings.training
    if has_begun:
        return Standing(READY)
    practice = [one for one in trials if one.role == PRACTICE]
    if training.practice is not None and not any(one.score is not None for one in practice):
        return Standing(PRACTICE)
    return _admission(study, [one for one in trials if one.role == ADMISSION])


def _admission(study: Study, sorts: Sequence[Trial]) -> Standing:
    training = study.settings.training
    if not training.admission:
        return Standing(READY)
    attempt = max((one.attempt for one in sorts), default=1)
    last = [one for one in sorts if one.attempt == attempt]
    scores = [one.score for one in last if one.score is not None]
    if len(scores) < len(training.admission):
        earlier = mean_score([one for one in sorts if one.attempt == attempt - 1])
        return Standing(ADMISSION, len(scores), attempt, earlier)
    mean = float(np.mean(scores))
    mark = float(training.mark if last[-1].mark is None else last[-1].mark)
    if mean >= mark - CLOSE:
        return Standing(READY)
    if attempt >= training.tries:
        return Standing(REFUSED, attempt=attempt, failed=mean)
    return Standing(ADMISSION, 0, attempt + 1, mean)


def mean_score(trials: Sequence[Trial]) -> float | None:
    """Return the mean score of what was submitted, None if nothing was."""
    scores = [one.score for one in trials if one.score is not None]
    return float(np.mean(scores)) if scores else None


def gold_plan(study: Study, participant_id: str) -> dict[int, int]:
    """Return before which ordinary sorts a participant gets gold: places of gold sorts, by numbers of ordinary ones.

    The plan is drawn once for each participant: the same share on average, each gold sort at most once, and at most one
    before each ordinary sort.
    """
    settings, training = study.settings, study.settings.training
    if not training.gold or training.gold_share == 0:
        return {}
    rng = np.random.default_rng([study.seed, zlib.crc32(participant_id.encode())])
    wanted = gold_each(settings)
    count = int(wanted) + int(rng.random() < wanted % 1)
    before = rng.choice(settings.per_participant, count, replace=False) + 1
    which = rng.permutation(len(training.gold))[:count]
    return {int(number): int(place) for number, place in zip(sorted(before), which, strict=True)}


def gold_each(settings: StudySettings) -> float:
    """Return how many gold sorts a person gets on average."""
    wanted = settings.per_participant * settings.training.gold_share / (1 - settings.training.gold_share)
    return float(min(wanted, len(settings.training.gold), settings.per_participant))


def next_gold(study: Study, participant_id: str, trials: Sequence[Trial], n_ordinary: int) -> int | None:
    """Return the place of the gold sort that comes before the next ordinary one, None if none does."""
    place = gold_plan(study, participant_id).get(n_ordinary + 1)
    given = {one.place for one in trials if one.role == GOLD}
    return None if place is None or place in given else place


def number_cards(sort: RightSort, items: Sequence[Item]) -> dict[int, Item]:
    """Return the cards of a sort by the numbers that the board uses.

    Cards of the study keep theirs; others are numbered after the last card of the study.
    """
    by_name = {item.name: item for item in items}
    found = {}
    for place, card in enumerate(sort.cards):
        item = by_name.get(card.name)
        if item is None:
            item = Item(
                len(items) + place, card.name, card.text or ("" if card.picture else card.name), card.picture, card.alt
            )
        found[item.number] = item
    return found
