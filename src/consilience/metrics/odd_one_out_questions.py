"""Questions for people who have not seen a clustering: which of four items does not belong?

Three of the items are of one cluster, and one is of another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.display import show_value
from consilience.annotations.types import ArrayLike
from consilience.errors import InputError
from consilience.inference.randomness import spawn_generator

__all__ = ["odd_one_out_questions"]

N_SHOWN = 4  # items of a question
ITEMS = [f"item_{number}" for number in range(1, N_SHOWN + 1)]
N_TRIES = 10  # candidates among which a question is chosen

Candidate = tuple[frozenset[int], int]  # three items of a cluster, and one of another


def odd_one_out_questions(labels: ArrayLike, n_questions: int, *, random_state: Any = None) -> pd.DataFrame:
    """Compose questions with three items of one cluster and one of another.

    Clusters give the three items equally often, as far as their sizes allow, and the other clusters in turn the fourth.
    Items, and pairs of items in the same question, recur as little as possible; no question occurs twice.

    Parameters
    ----------
    labels : array or Series, shape (n_items,)
        Cluster of each item; missing for items that no question is to show. The index of a Series names the items.
    n_questions : int
        Number of questions.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    DataFrame, shape (n_questions, 7)
        Indexed by ``question``, from 0. ``item_1`` to ``item_4`` are the items in the order shown; ``odd`` is the
        position of the one that does not belong, from 1 to 4; ``cluster`` is that of the other three, and
        ``odd_cluster`` its own.

    Raises
    ------
    InputError
        No cluster has three items while another has one, or there are fewer different questions than wanted.

    See Also
    --------
    odd_one_out : How often people are right.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.metrics import odd_one_out_questions
    >>> labels = pd.Series([0, 0, 0, 1, 1, 1], index=["ant", "bee", "fly", "cow", "pig", "ram"])
    >>> questions = odd_one_out_questions(labels, 2, random_state=0)
    >>> questions.shape, sorted(questions["cluster"])
    ((2, 7), [0, 1])
    """
    series = _items_of_clusters(labels)
    if not isinstance(n_questions, int | np.integer) or isinstance(n_questions, bool) or n_questions < 1:
        raise InputError(f"'n_questions' must be a positive int. Got {show_value(n_questions)} instead.")
    codes, clusters = pd.factorize(series, sort=False)
    rng = spawn_generator(random_state)
    composer = _Composer(codes, rng)
    order = _clusters_in_turn(composer.possible, int(n_questions), rng)
    positions = _positions(len(order), rng)
    rows = []
    for cluster, place in zip(order, positions, strict=True):
        three, odd = composer.compose(int(cluster))
        items: list[int] = rng.permutation(sorted(three)).tolist()
        items.insert(int(place), odd)
        names = [series.index[item] for item in items]
        rows.append([*names, int(place) + 1, clusters[cluster], clusters[codes[odd]]])
    index = pd.RangeIndex(len(rows), name="question")
    return pd.DataFrame(rows, columns=[*ITEMS, "odd", "cluster", "odd_cluster"], index=index)


def _items_of_clusters(labels: Any) -> pd.Series:
    try:
        series = labels if isinstance(labels, pd.Series) else pd.Series(np.asarray(labels))
    except ValueError as error:
        raise InputError("'labels' must have one cluster for each item, in one dimension.") from error
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()][0]
        raise InputError(f"The index of 'labels' names an item twice: {show_value(twice)}.")
    return series[series.notna()]


def _clusters_in_turn(possible: Int[np.ndarray, " clusters"], n: int, rng: np.random.Generator) -> list[int]:
    """Return whose three items each question shows: each cluster equally often, unless its questions run out."""
    if not possible.any():
        raise InputError(
            "Questions need a cluster of at least three items and another cluster. Merge clusters, or give 'labels' "
            "with larger ones."
        )
    if possible.sum() < n:
        raise InputError(
            f"There are only {int(possible.sum()):,} different questions about these clusters. 'n_questions' is {n:,}."
        )
    counts = np.zeros(len(possible), dtype=int)
    order: list[int] = []
    while len(order) < n:
        round_ = rng.permutation(np.flatnonzero(counts < possible))[: n - len(order)]
        counts[round_] += 1
        order += round_.tolist()
    return order


def _positions(n: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """Return the places of the odd items, from 0: each of the four equally often, in random order."""
    first = rng.permutation(N_SHOWN)
    return rng.permutation(first[np.arange(n) % N_SHOWN])


class _Composer:
    """Chooses questions whose items, and pairs of items, were used least by those before.

    possible : (clusters,) int array; how many different questions there are about each cluster.
    """

    def __init__(self, codes: Int[np.ndarray, " items"], rng: np.random.Generator) -> None:
        n_clusters = int(codes.max(initial=-1)) + 1
        sizes = np.bincount(codes, minlength=n_clusters)
        self.possible = np.array([math.comb(int(size), 3) * int(len(codes) - size) for size in sizes], dtype=int)
        self._codes, self._rng = codes, rng
        self._members = [np.flatnonzero(codes == cluster) for cluster in range(n_clusters)]
        self._used = np.zeros(len(codes), dtype=int)
        self._together = np.zeros((len(codes), len(codes)), dtype=int)
        self._odd = np.zeros((n_clusters, n_clusters), dtype=int)  # how often the second gave the fourth item
        self._asked: set[Candidate] = set()

    def compose(self, cluster: int) -> Candidate:
        """Return a new question about a cluster."""
        found = [one for one in self._candidates(cluster) if one not in self._asked]
        chosen = min(found, key=self._cost) if found else next(self._remaining(cluster))
        self._record(cluster, chosen)
        return chosen

    def _candidates(self, cluster: int) -> list[Candidate]:
        odd_cluster = self._next_odd_cluster(cluster)
        return [self._draw(cluster, odd_cluster) for _ in range(N_TRIES)]

    def _next_odd_cluster(self, cluster: int) -> int:
        others = self._rng.permutation([other for other in range(len(self._members)) if other != cluster])
        return int(others[self._odd[cluster, others].argmin()])

    def _draw(self, cluster: int, odd_cluster: int) -> Candidate:
        """Draw a question item by item: each among those used least with what is chosen already, then least at all."""
        chosen: list[int] = []
        for members in [self._members[cluster]] * (N_SHOWN - 1) + [self._members[odd_cluster]]:
            left = self._rng.permutation(np.setdiff1d(members, chosen))
            together = self._together[left][:, chosen].sum(1)
            chosen.append(int(left[np.lexsort((self._used[left], together))[0]]))
        return frozenset(chosen[:-1]), chosen[-1]

    def _cost(self, question: Candidate) -> tuple[int, int, int]:
        """How often its most used pair occurred, all its pairs together, and its items."""
        items = [*question[0], question[1]]
        pairs = self._together[np.ix_(items, items)][np.triu_indices(N_SHOWN, 1)]
        return int(pairs.max()), int((pairs**2).sum()), int((self._used[items] ** 2).sum())

    def _remaining(self, cluster: int) -> Iterator[Candidate]:
        """Yield the questions about a cluster that were not asked."""
        others = np.flatnonzero(self._codes != cluster).tolist()
        for three in combinations(self._members[cluster].tolist(), 3):
            for odd in others:
                if (frozenset(three), odd) not in self._asked:
                    yield frozenset(three), odd

    def _record(self, cluster: int, question: Candidate) -> None:
        three, odd = question
        items = [*three, odd]
        self._asked.add(question)
        self._odd[cluster, self._codes[odd]] += 1
        self._used[items] += 1
        self._together[np.ix_(items, items)] += 1
