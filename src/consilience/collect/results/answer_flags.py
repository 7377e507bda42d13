"""Signs of careless answers to questions: one sentence with its evidence for each, as `flags` has them of sorts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scipy.stats import binom

from consilience.collect.results.flags import Flag, flag_fast, flag_unfinished
from consilience.collect.settings.model import Assignment, Study
from consilience.collect.settings.study_kinds import PAIRS, SAMENESS, cards_of
from consilience.collect.settings.training import GOLD, ROLES
from consilience.collect.store import Submitted
from consilience.collect.store.standing import Trial

LEVEL = 0.01  # at which somebody is right less often than the others
FEWEST = 10  # answers of somebody who is flagged for them
FEWEST_GOLD = 4
MOST_UNSURE = 0.8  # share of the questions from which on somebody hardly ever says an answer

Shares = dict[str, tuple[int, int]]  # by participant: how many of how many


def flags_of_answers(
    study: Study,
    rows: Sequence[Submitted],
    assignments: Iterable[Assignment],
    trials: Mapping[str, Sequence[Trial]],
    labels: Sequence[int],
) -> list[Flag]:
    """Return what is suspicious about the people of a study who are asked questions; previews apart.

    rows : all that was handed in; people who are left out of the consensus are judged, too.
    assignments : those of the study, for people who did not finish.
    trials : those of each participant, for gold.
    labels : the class or the cluster of each item in the consensus, -1 for items in none.
    """
    shown = [one for one in rows if not one.preview and one.source not in ROLES]
    sets = [one for one in shown if one.source != "repeat"]
    names = {one.participant: one.annotator for one in rows}
    gold = [one for one in rows if one.source == GOLD and not one.preview]
    found = [
        *flag_fast(sets),
        *_flag_unsure(sets),
        *_flag_few(_count_gold(gold, trials), names, FEWEST_GOLD, "gold", "Right in {} of {} questions of the gold"),
        *_flag_few(
            _count_agreed(study, sets, labels), names, FEWEST, "weak", "Agrees with the consensus in {} of {} answers"
        ),
        *flag_unfinished(shown, assignments),
    ]
    order = {person: place for place, person in enumerate(dict.fromkeys(one.participant for one in shown))}
    return sorted(found, key=lambda one: order.get(one.participant, len(order)))


def _flag_unsure(sets: Sequence[Submitted]) -> list[Flag]:
    """Return the flags of those who hardly ever say an answer."""
    asked: Shares = {}
    for one in sets:
        said, total = asked.get(one.participant, (0, 0))
        asked[one.participant] = (said + sum(len(group["items"]) for group in one.groups), total + len(one.items))
    names = {one.participant: one.annotator for one in sets}
    return [
        Flag(person, names[person], "unsure", f"Could not say the answer to {total - said} of {total} questions.")
        for person, (said, total) in asked.items()
        if total >= FEWEST and total - said >= MOST_UNSURE * total
    ]


def _flag_few(shares: Shares, names: Mapping[str, str], fewest: int, kind: str, sentence: str) -> list[Flag]:
    """Return the flags of those whose share is so low that somebody like the others has it in 1 % of cases."""
    total_right, total = (sum(one[place] for one in shares.values()) for place in (0, 1))
    found = []
    for person, (right, asked) in shares.items():
        others = total - asked
        if asked < fewest or not others:
            continue
        usual = (total_right - right) / others
        if right / asked < usual and binom.cdf(right, asked, usual) < LEVEL:
            who = "the other person" if len(shares) == 2 else "the others"
            said = f"{sentence.format(right, asked)}; {who} in {usual:.0%}."
            found.append(Flag(person, names[person], kind, said))
    return found


def _count_gold(gold: Iterable[Submitted], trials: Mapping[str, Sequence[Trial]]) -> Shares:
    """Count the questions of the gold that each person answered rightly, of all that they were asked."""
    found: Shares = {}
    for one in gold:
        right = next(trial.right for trial in trials[one.participant] if trial.assignment == one.assignment)
        said = _answers(one)
        n_right, total = found.get(one.participant, (0, 0))
        n_right += sum(said.get(number) == answer for number, answer in right.items())
        found[one.participant] = (n_right, total + len(right))
    return found


def _count_agreed(study: Study, sets: Sequence[Submitted], labels: Sequence[int]) -> Shares:
    """Count the answers of each person that the consensus has, too, of those to questions that it answers."""
    found: Shares = {}
    for one in sets:
        both = [(answer, _answer_of(study, labels, number)) for number, answer in _answers(one).items()]
        agreed = [answer == other for answer, other in both if other is not None]
        known, total = found.get(one.participant, (0, 0))
        found[one.participant] = (known + sum(agreed), total + len(agreed))
    return found


def _answer_of(study: Study, labels: Sequence[int], number: int) -> str | None:
    """Return the answer of the consensus to a question, None if it has none."""
    found = [labels[card] for card in cards_of(number)]
    if min(found) < 0:
        return None
    return SAMENESS[len({*found}) - 1] if study.kind == PAIRS else study.classes[found[0]]


def _answers(row: Submitted) -> dict[int, str]:
    return {number: group["name"] for group in row.groups for number in group["items"]}
