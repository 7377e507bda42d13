"""Studies in which people who did not sort judge clusters: which question a judge is asked, and in which order.

A question shows four cards, three of one cluster and one of another, and asks which does not belong. Questions are
composed once, when the study is made, and each goes to several judges, in an order of the cards of their own.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from consilience.collect.settings.model import Participant, Study
from consilience.metrics import odd_one_out_questions

N_SHOWN = 4  # cards of a question
MOST_QUESTIONS = 1000  # of a study
MOST_CLUSTERS = 500
PER_CLUSTER, LEAST_USUAL = 8, 24  # questions that are composed by default
USUAL_EACH = 12  # questions that a judge is asked by default
USUAL_ANSWERS = 10  # to each question by default


@dataclass(frozen=True)
class Cluster:
    """A cluster that is judged.

    name : what results call it; judges do not see it.
    items : numbers of its items in the judging study.
    """

    name: str
    items: tuple[int, ...]


@dataclass(frozen=True)
class Judging:
    """What is more of a judging study than of others.

    source : the study whose consensus is judged; None if the clusters come from elsewhere, or the study is deleted.
    """

    source: str | None
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True)
class OddQuestion:
    """Four items, of which one does not belong.

    number : from 0.
    items : numbers of the items, in an order that tells nothing.
    odd : the item that does not belong.
    cluster, odd_cluster : places of the clusters of the other three, and of the odd one.
    """

    number: int
    items: tuple[int, ...]
    odd: int
    cluster: int
    odd_cluster: int


@dataclass(frozen=True)
class Asked:
    """A question that was asked of a judge.

    place : which of the judge's questions, from 1.
    shown : the items in the order in which the judge sees them.
    asked : datetime
    answered : datetime, optional
    answer : the item that was chosen; None if they could not say, or have not answered.
    """

    question: int
    place: int
    shown: tuple[int, ...]
    asked: datetime
    answered: datetime | None = None
    answer: int | None = None


def usual_number(clusters: Sequence[Cluster]) -> int:
    """Return how many questions are composed by default: eight for each cluster, as far as there are so many.

    Examples
    --------
    >>> usual_number([Cluster("a", (0, 1, 2)), Cluster("b", (3, 4, 5))])
    6
    """
    sizes = [len(one.items) for one in clusters]
    possible = sum(math.comb(size, 3) * (sum(sizes) - size) for size in sizes)
    return max(1, min(possible, max(LEAST_USUAL, PER_CLUSTER * len(sizes)), MOST_QUESTIONS))


def compose_questions(clusters: Sequence[Cluster], n_questions: int, seed: int) -> list[OddQuestion]:
    """Compose the questions of a study; see `consilience.metrics.odd_one_out_questions`.

    Raises InputError: no cluster has three items while another has one, or there are fewer different questions than
    wanted.
    """
    labels = pd.Series({item: place for place, one in enumerate(clusters) for item in one.items})
    table = odd_one_out_questions(labels, n_questions, random_state=seed)
    found = []
    for number, *items, odd, cluster, odd_cluster in table.itertuples():
        shown = tuple(int(item) for item in items)
        found.append(OddQuestion(int(number), shown, shown[odd - 1], int(cluster), int(odd_cluster)))
    return found


def next_question(
    study: Study,
    participant: Participant,
    questions: Sequence[OddQuestion],
    counts: Mapping[int, int],
    earlier: Sequence[Asked],
) -> tuple[OddQuestion, tuple[int, ...]] | None:
    """Choose what a judge is asked next, and the order of its cards; None if nothing is left for them.

    It is a question with the fewest answers so far; among these, one whose cards the judge has seen least, and among
    these, a random one. What is random depends on the study's seed, the judge and the place of the question alone.

    counts : how many answers each question has or will have, by its number.
    earlier : what the judge was asked.
    """
    settings, known = study.settings, {one.question for one in earlier}
    wanted = math.inf if settings.answers_wanted is None or participant.preview else settings.answers_wanted
    left = [one for one in questions if one.number not in known and counts.get(one.number, 0) < wanted]
    if not left or len(earlier) >= settings.per_participant:
        return None
    rng = np.random.default_rng([study.seed, zlib.crc32(participant.id.encode()), len(earlier)])
    seen = Counter(item for one in earlier for item in one.shown)
    chosen = min(
        (left[place] for place in rng.permutation(len(left))),
        key=lambda one: (counts.get(one.number, 0), sum(seen[item] for item in one.items)),
    )
    return chosen, tuple(int(item) for item in rng.permutation(sorted(chosen.items)))
