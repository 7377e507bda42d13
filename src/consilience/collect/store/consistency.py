"""How consistent each participant is: with the right answers of gold sorts, and with themselves where sorts repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consilience.collect.settings.model import Assignment, Study
from consilience.collect.settings.training import ADMISSION, GOLD, PRACTICE, ROLES
from consilience.collect.store.scoring import score_of
from consilience.collect.store.standing import Trial, mean_score, standing_of


@dataclass(frozen=True)
class Consistency:
    """Scores of a participant: adjusted Rand indices, or Cohen's kappas in a closed sort; None where there is none.

    gold : mean over the gold sorts submitted.
    repeats : mean agreement of repeated sorts with what the same person made of the same cards before.
    practice : score of the practice sort.
    admission : mean score of the last try of the admission.
    attempts : how often the admission was tried.
    standing : {"practice", "admission", "ready", "refused"}; what they sort next: ready for the sorts that count, or
        not admitted to them.
    """

    participant: str
    gold: float | None
    n_gold: int
    repeats: float | None
    n_repeats: int
    practice: float | None
    admission: float | None
    attempts: int
    standing: str


def consistency_of(
    study: Study, participant: str, assignments: Sequence[Assignment], trials: Sequence[Trial]
) -> Consistency:
    """Return the scores of a participant, from all that they were given in the order in which it was."""
    done = [one for one in assignments if one.state == "submitted"]
    repeats = _repeats([one for one in done if one.source not in ROLES], closed=study.has_fixed_groups)
    attempt = max((one.attempt for one in trials if one.role == ADMISSION), default=0)
    gold = [one for one in trials if one.role == GOLD and one.score is not None]
    return Consistency(
        participant,
        gold=mean_score(gold),
        n_gold=len(gold),
        repeats=sum(repeats) / len(repeats) if repeats else None,
        n_repeats=len(repeats),
        practice=mean_score([one for one in trials if one.role == PRACTICE]),
        admission=mean_score([one for one in trials if one.role == ADMISSION and one.attempt == attempt]),
        attempts=attempt,
        standing=standing_of(study, trials, has_begun=any(one.number > 0 for one in assignments)).state,
    )


def _repeats(done: Sequence[Assignment], *, closed: bool) -> list[float]:
    """Return how far each repeated sort agrees with the first of the same cards."""
    first: dict[frozenset[int], Assignment] = {}
    found = []
    for one in done:
        key = frozenset(one.items)
        earlier = first.setdefault(key, one)
        if earlier is not one and one.source == "repeat":
            found.append(_agreement(earlier, one, closed=closed))
    return found


def _agreement(one: Assignment, other: Assignment, *, closed: bool) -> float:
    before, after = _groups(one.answer or (), closed), _groups(other.answer or (), closed)
    right = [before.get(item, "" if closed else ("alone", item)) for item in one.items]
    return score_of(right, [after.get(item, "" if closed else None) for item in one.items], closed=closed)


def _groups(answer: Sequence[Mapping[str, Any]], closed: bool) -> dict[int, Any]:
    return {item: group["name"] if closed else group["id"] for group in answer for item in group["items"]}
