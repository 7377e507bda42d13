"""Signs of careless sorting: one sentence with its evidence for each; the researcher says what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from sklearn.metrics import adjusted_rand_score

from consilience.analysis.random_sorters import random_sorters
from consilience.collect.settings.model import CLOSED, Assignment
from consilience.collect.settings.training import ROLES
from consilience.collect.store import Submitted
from consilience.collect.store.results import groupings_of

FAST = 0.3  # of the median time of a card, below which somebody is too fast
FEWEST_PEOPLE = 5  # others with whom somebody is compared
FEWEST_CARDS = 6  # of a sort that is compared with those of others
FEWEST_COMMON = 10  # cards of two sorts, from which one may be a copy
LEFT_OVER = 0.2  # share of sorted cards up to which everything is left over
COPY, UNLIKE = 0.95, 0.15  # agreement of copies; by how much it exceeds that with anybody else
CHUNK = 1 << 20  # numbers held in memory at a time
REPEATED = 0.3  # agreement with one's own earlier sort of the same cards, below which somebody is inconsistent


@dataclass(frozen=True)
class Flag:
    """One reason to look at what somebody did.

    annotator : what results call the participant.
    kind : {"fast", "one pile", "all alone", "left over", "random", "copy", "inconsistent", "unfinished"} of sorts;
        {"fast", "unsure", "gold", "weak", "unfinished"} of answers to questions
    sentence : the evidence.
    """

    participant: str
    annotator: str
    kind: str
    sentence: str


Labels = Int[np.ndarray, "sorts items"]


def flags_of(
    rows: Sequence[Submitted], assignments: Iterable[Assignment], *, n_items: int, kind: str = "open"
) -> list[Flag]:
    """Return what is suspicious about the people of a study; previews and training, which may have other cards, apart.

    rows : all that was submitted; people who are left out of the consensus are judged, too.
    assignments : those of the study, for people who did not finish.
    kind : {"open", "closed", "hybrid"}, default="open"

    Returns list of Flag: grouped by person, in the order in which they submitted first.
    """
    shown = [one for one in rows if not one.preview and one.source not in ROLES]
    sorts = [one for one in shown if one.source != "repeat"]
    labels = np.array([labels_of(one, n_items) for one in sorts], dtype=int).reshape(len(sorts), n_items)
    found = [
        *flag_fast(sorts),
        *_shapes(sorts, kind),
        *([] if kind == CLOSED else _flag_random(rows, n_items)),
        *_copies(sorts, labels),
        *_inconsistent(shown, n_items),
        *flag_unfinished(shown, assignments),
    ]
    order = {person: place for place, person in enumerate(dict.fromkeys(one.participant for one in shown))}
    return sorted(found, key=lambda one: order.get(one.participant, len(order)))


def labels_of(row: Submitted, n_items: int) -> Int[np.ndarray, " items"]:
    """Return the number of the group of each item, -1 for those that are in none."""
    found = np.full(n_items, -1)
    for number, group in enumerate(row.groups):
        found[list(group["items"])] = number
    return found


def _flag(row: Submitted, kind: str, sentence: str) -> Flag:
    return Flag(row.participant, row.annotator, kind, sentence)


def flag_fast(sorts: Sequence[Submitted]) -> list[Flag]:
    """Return the flags of those who are much faster than the others."""
    timed = [one for one in sorts if one.started is not None and one.source != "imported" and one.items]
    seconds = np.array([_seconds(one) for one in timed])
    if len({one.participant for one in timed}) <= FEWEST_PEOPLE:
        return []
    usual = float(np.median(seconds))
    return [
        _flag(one, "fast", f"Took {spent:.1f} s a card; half of all sorts took {usual:.1f} s or more.")
        for one, spent in zip(timed, seconds.tolist(), strict=True)
        if spent < FAST * usual
    ]


def _seconds(row: Submitted) -> float:
    """Return the seconds from the first change to the submission, a card."""
    started = row.submitted if row.started is None else row.started
    return (row.submitted - started).total_seconds() / len(row.items)


def _shapes(sorts: Sequence[Submitted], kind: str) -> list[Flag]:
    """Return the flags for what is no sort at all."""
    found = []
    for one in sorts:
        sizes = [len(group["items"]) for group in one.groups]
        n_sorted, n_cards = sum(sizes), len(one.items)
        if n_cards < FEWEST_CARDS:
            continue
        if n_sorted <= LEFT_OVER * n_cards:
            found.append(_flag(one, "left over", f"Left {n_cards - n_sorted} of {n_cards} cards over."))
        elif len(sizes) == 1:
            found.append(_flag(one, "one pile", f"Put all {n_sorted} sorted cards into one group."))
        elif max(sizes) == 1 and kind != CLOSED:
            found.append(_flag(one, "all alone", f"Put each of {n_sorted} cards into a group of its own."))
    return found


def _flag_random(rows: Sequence[Submitted], n_items: int) -> list[Flag]:
    """Return the flags of those whom the test of random sorters marks, which the dashboard and the report show, too.

    The answers tested are those that count, as there; people who are left out are tested among all.
    """
    counted = [one for one in rows if one.counts]
    left_out = [replace(one, excluded=False) for one in rows if one.excluded]
    found = _mark_random(counted, n_items)
    if any(one.counts for one in left_out):
        outside = {one.participant for one in left_out}
        among_all = _mark_random([one for one in (*counted, *left_out) if one.counts], n_items)
        found += [flag for flag in among_all if flag.participant in outside]
    return found


def _mark_random(rows: Sequence[Submitted], n_items: int) -> list[Flag]:
    if not any(one.groups for one in rows):
        return []
    tested = random_sorters(groupings_of(rows, [str(number) for number in range(n_items)]))
    if tested is None:
        return []
    first = {one.annotator: one for one in reversed(rows)}
    marked = tested[tested["random"]]
    said = zip(marked.index, marked["probability"], marked["p_value"], strict=True)
    return [
        _flag(
            first[name],
            "random",
            f"Sorted as if at random, or by principles of their own ({_percent(probability)}): of random sorts into "
            f"groups of the same sizes, {_percent(p_value)} agree with the others as well.",
        )
        for name, probability, p_value in said
    ]


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _is_sort(labels: Int[np.ndarray, " items"]) -> bool:
    """Whether a sort can be compared with others: some cards are together, and some apart."""
    sizes = np.bincount(labels[labels >= 0])
    return bool(sizes.sum() >= FEWEST_CARDS and len(sizes) > 1 and sizes.max() > 1)


def _copies(sorts: Sequence[Submitted], labels: Labels) -> list[Flag]:
    places = [place for place, row in enumerate(labels) if _is_sort(row)]
    if len(places) < FEWEST_PEOPLE:
        return []
    nearest = Nearest.of(labels[places], np.array([sorts[place].participant for place in places]))
    copies = (nearest.n_compared >= FEWEST_PEOPLE) & (nearest.best >= COPY) & (nearest.best >= nearest.next + UNLIKE)
    return [
        _flag(
            sorts[places[row]],
            "copy",
            f"Sorted {nearest.n_common[row]} common cards as {sorts[places[nearest.other[row]]].annotator} did "
            f"(agreement {nearest.best[row]:.2f}); the agreement with anybody else is at most {nearest.next[row]:.2f}.",
        )
        for row in np.flatnonzero(copies)
    ]


@dataclass(frozen=True)
class Nearest:
    """The sort of somebody else that each sort agrees with most, of those with `FEWEST_COMMON` common cards.

    n_compared : how many sorts there are to compare with.
    other, n_common : the nearest one, and the number of common cards.
    best, next : adjusted Rand indices over the common cards, with the nearest one and the one after it; -inf without
        any.
    """

    n_compared: Int[np.ndarray, " sorts"]
    other: Int[np.ndarray, " sorts"]
    n_common: Int[np.ndarray, " sorts"]
    best: Float[np.ndarray, " sorts"]
    next: Float[np.ndarray, " sorts"]

    @classmethod
    def of(cls, labels: Labels, person: np.ndarray) -> Nearest:
        """Compare all sorts, some with all others at a time."""
        n = len(labels)
        held = (labels >= 0).astype(np.float32)
        found = cls(*(np.zeros(n, dtype=int) for _ in range(3)), *(np.full(n, -np.inf) for _ in range(2)))
        step = max(1, CHUNK // n)
        for some in (slice(start, min(start + step, n)) for start in range(0, n, step)):
            common = (held[some] @ held.T).astype(int)
            rows, others = np.nonzero((common >= FEWEST_COMMON) & (person[some, None] != person))
            agreement = np.full(common.shape, -np.inf)
            agreement[rows, others] = adjusted_rand_of_pairs(labels, rows + some.start, others)
            found.n_compared[some] = np.bincount(rows, minlength=len(common))
            found.other[some] = agreement.argmax(1)
            found.n_common[some] = np.take_along_axis(common, found.other[some, None], 1)[:, 0]
            found.next[some], found.best[some] = np.partition(agreement, -2)[:, -2:].T
        return found


def adjusted_rand_of_pairs(
    labels: Labels, one: Int[np.ndarray, " pairs"], two: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, " pairs"]:
    """Return the adjusted Rand index of each pair of sorts over the cards that both sorted.

    Examples
    --------
    >>> adjusted_rand_of_pairs(np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, -1]]), np.array([0]), np.array([1]))
    array([1.])
    """
    n_groups = labels.max(initial=0) + 1
    side = n_groups + 1  # of a table of counts; the last row and column are for cards that were left over
    kept = np.where(labels >= 0, labels, n_groups)
    found = np.empty(len(one))
    step = max(1, CHUNK // max(side**2, labels.shape[1]))
    for some in (slice(start, start + step) for start in range(0, len(one), step)):
        cell = kept[one[some]] * side + kept[two[some]]
        n = len(cell)
        cell += side**2 * np.arange(n)[:, None]
        counts = np.bincount(cell.ravel(), minlength=n * side**2).reshape(n, side, side)[:, :-1, :-1]
        both, here, there = (_pairs(sums).sum(-1) for sums in (counts.reshape(n, -1), counts.sum(2), counts.sum(1)))
        total = _pairs(counts.sum((1, 2)))
        chance = here * there / total
        possible = (here + there) / 2 - chance
        # two sorts of one group agree; 0 / 0, but for rounding
        found[some] = np.divide(both - chance, possible, out=np.ones(n), where=possible > 1e-12 * total)
    return found


def _pairs(counts: np.ndarray) -> np.ndarray:
    """Return the numbers of pairs among so many."""
    return counts * (counts - 1) / 2


def _inconsistent(shown: Sequence[Submitted], n_items: int) -> list[Flag]:
    found = []
    for again in shown:
        if again.source != "repeat" or len(again.items) < FEWEST_CARDS:
            continue
        before = [
            one
            for one in shown
            if one.participant == again.participant and one.source != "repeat" and set(one.items) == set(again.items)
        ]
        if not before:
            continue
        first, second = labels_of(before[0], n_items), labels_of(again, n_items)
        common = (first >= 0) & (second >= 0)
        agreement = adjusted_rand_score(first[common], second[common]) if common.sum() > 1 else 0.0
        if agreement < REPEATED:
            sentence = (
                f"Sorted {len(again.items)} cards differently when they came again: the two sorts agree by "
                f"{agreement:.2f}, where 1 is the same and 0 is chance."
            )
            found.append(_flag(again, "inconsistent", sentence))
    return found


def flag_unfinished(shown: Sequence[Submitted], assignments: Iterable[Assignment]) -> list[Flag]:
    """Return the flags of those who left what they were given."""
    done = {one.participant for one in shown}
    return [
        Flag(
            one.participant,
            one.participant,
            "unfinished",
            f"Was given {len(one.items)} cards at {one.assigned:%Y-%m-%d %H:%M} UTC and left them; handed in nothing.",
        )
        for one in assignments
        if one.state == "withdrawn" and one.participant not in done
    ]
