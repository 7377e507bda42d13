"""Agents: simulated annotators who group any subset of the items that they are shown.

An agent is any callable ``items -> groups``. It gets a list of names of items (the subset) and returns the groups, each
an iterable of those names. It may leave items out. The classes here are agents, including one that replays recorded
groupings of people (`ReplayAgent`); so is any other callable: a clusterer, a program that asks a person, or a language
model::

    def agent(items):
        reply = ask_model("Sort these products into groups of a kind, as a JSON list of lists: " + json.dumps(items))
        return json.loads(reply)

`present` shows subsets to agents and collects their answers as `Groupings`:

>>> from consilience.simulation import present
>>> def by_first_letter(items):
...     return [[item for item in items if item[0] == letter] for letter in sorted({item[0] for item in items})]
>>> subsets = [["ant", "bee", "auk"], ["bat", "bee", "auk"]]
>>> present(by_first_letter, subsets, items=["ant", "auk", "bat", "bee"]).to_matrix()
    answer 1 answer 2
ant        0     None
auk        0        0
bat     None        1
bee        1        1

Source: Veeramachaneni & O'Reilly, Clustering using subset groupings, section 2.2 (`CooccurrenceAgent`).

Decided here
------------
- The paper samples a co-occurrence matrix and groups "referencing this", but independent draws contradict each other:
  a with b, b with c, a apart from c. `CooccurrenceAgent` applies average linkage to the drawn matrix, as long as two
  groups are together in at least half of their pairs, with items in random order. Two items keep their probability
  exactly; of three, pairs of equal probability p gain p²(1 - p).
- Comparison with alternatives: with the pair frequencies of four free sorts as probabilities, answers to subsets of 8
  were off by .03 to .04 (root mean square over pairs). Random pivots were off by .04 to .07, local search for the
  fewest contradictions by .04 to .09, and the transitive closure, which forms chains, by .09 to .34.
- Probabilities that contradict each other beyond chance (0.7 within and 0.3 between clusters) are those of no
  distribution of groupings, and no method can keep them. The more items a subset holds, the more often the other pairs
  outvote one drawn by accident.
- The matrix is drawn anew for each answer, only for the items of the subset.
- `ReplayAgent`, which is not in the paper, counts a grouping as used even if only a part of it was given out; it then
  prefers the others that fit as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from consilience.annotations import Groupings
from consilience.annotations.names import plain, unique_names
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import generator

__all__ = ["CooccurrenceAgent", "ReplayAgent"]

Agent = Callable[[list[Any]], Iterable[Iterable[Any]]]


class CooccurrenceAgent:
    """Agent that puts two items together with a given probability.

    Each call draws for every pair of items of the subset whether they belong together, and returns a grouping that
    contradicts few of these draws: average linkage, as long as two groups are together in at least half of their pairs.

    Parameters
    ----------
    probability : array or DataFrame, shape (n_items, n_items)
        Symmetric, in [0, 1]: the probability that two items are together. The diagonal is ignored.
    items : iterable of names, optional
        By default the index of a DataFrame, else 0 to n_items - 1.
    random_state : int, RandomState, Generator or None
        Source of the randomness; with an int the same subsets, in the same order, get the same answers.

    Raises
    ------
    InputError
        `probability` is not square, not symmetric or out of range, or `items` are not as many distinct names. In a
        call: an item is unknown or occurs twice.

    References
    ----------
    Veeramachaneni & O'Reilly. Clustering using subset groupings. Section 2.2.

    Examples
    --------
    >>> from consilience.simulation import CooccurrenceAgent
    >>> probability = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0.5, 1]]
    >>> agent = CooccurrenceAgent(probability, items=["ant", "bee", "cow", "dog"], random_state=0)
    >>> agent
    CooccurrenceAgent(4 items)
    >>> agent(["cow", "bee", "ant"])
    [['cow'], ['bee', 'ant']]
    >>> [agent(["cow", "dog"]) for _ in range(3)]
    [[['cow', 'dog']], [['cow'], ['dog']], [['cow', 'dog']]]
    """

    def __init__(self, probability: Any, *, items: Any = None, random_state: RandomSource = None):
        self.items = names_of(probability, items)
        self.probability = _probabilities(probability, self.items)
        self._place = {name: place for place, name in enumerate(self.items)}
        self._rng = generator(random_state)

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset.

        Parameters
        ----------
        items : iterable of names

        Returns
        -------
        list of lists of names
        """
        names = list(items)
        places = places_of(names, self._place, "CooccurrenceAgent")
        together = draw_pairs(self.probability[np.ix_(places, places)], self._rng)
        return groups_of(names, resolve(together, self._rng))

    def __repr__(self) -> str:
        return f"CooccurrenceAgent({len(self.items)} items)"


class ReplayAgent:
    """Agent that answers with recorded groupings, to compare strategies on the work of people.

    For a subset with exactly the items of a recorded grouping, it returns that grouping. For other subsets, it returns
    the recorded grouping that holds most of the items, restricted to them: items can be missing from the answer. If
    several fit equally well, it picks one of those used least often, at random: no grouping is used again, even in
    part, before all others that fit as well have been used.

    Parameters
    ----------
    groupings : Groupings
        The recorded groupings. Groupings without items are never used.
    random_state : int, RandomState, Generator or None
        Source of the randomness; with an int the same subsets, in the same order, get the same answers.

    Attributes
    ----------
    subsets : list of lists of names
        The recorded sets of items, each once, in order of first appearance.
    n_left : int
        Number of recorded groupings that have not been used yet.

    Raises
    ------
    InputError
        No grouping holds an item. In a call: an item is not among those of `groupings`, or occurs twice.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.simulation import ReplayAgent
    >>> recorded = Groupings.from_lists([[["ant", "bee"], ["cow"]], [["cow", "dog"]], [["ant"], ["bee", "cow"]]])
    >>> agent = ReplayAgent(recorded, random_state=0)
    >>> agent.subsets
    [['ant', 'bee', 'cow'], ['cow', 'dog']]
    >>> agent(["bee", "ant", "cow"])
    [['ant'], ['bee', 'cow']]
    >>> agent(["bee", "ant", "dog"])
    [['ant', 'bee']]
    >>> agent
    ReplayAgent(3 groupings of 2 subsets, 1 left)
    """

    def __init__(self, groupings: Groupings, *, random_state: RandomSource = None):
        group = groupings.incidence.indices
        grouping = groupings.grouping_of_group[group]
        order = np.argsort(grouping, kind="stable")
        if len(order) == 0:
            raise InputError("ReplayAgent needs a grouping that holds an item. Got none.")
        self._names = groupings.items.tolist()
        self._place = {name: place for place, name in enumerate(self._names)}
        self._rows = list(zip(groupings.item_of_row[order].tolist(), group[order].tolist()))
        self._bounds = np.searchsorted(grouping[order], np.arange(groupings.n_groupings + 1))
        shape = (groupings.n_items, groupings.n_groupings)
        self._holding = csr_array((np.ones(len(order)), (groupings.item_of_row, grouping)), shape=shape)
        self._recorded: dict[frozenset[int], list[int]] = {}
        for number in np.flatnonzero(np.diff(self._bounds)).tolist():
            self._recorded.setdefault(frozenset(item for item, _ in self._rows_of(number)), []).append(number)
        self._times_given = np.zeros(groupings.n_groupings, dtype=np.int64)
        self._rng = generator(random_state)

    @property
    def subsets(self) -> list[list[Any]]:
        """The sets of items that were recorded."""
        return [[self._names[place] for place in sorted(subset)] for subset in self._recorded]

    @property
    def n_left(self) -> int:
        """Number of recorded groupings of which nothing was given out yet."""
        return int((self._times_given[np.diff(self._bounds) > 0] == 0).sum())

    def __call__(self, items: Iterable[Any]) -> list[list[Any]]:
        """Group a subset as one of the people did.

        Parameters
        ----------
        items : iterable of names

        Returns
        -------
        list of lists of names
            Empty if no recorded grouping holds any of the items.
        """
        names = list(items)
        places = places_of(names, self._place, "ReplayAgent")
        fitting = self._fitting(places)
        if len(fitting) == 0:
            return []
        times = self._times_given[fitting]
        given = int(self._rng.choice(fitting[times == times.min()]))
        self._times_given[given] += 1
        name_of = dict(zip(places.tolist(), names))
        rows = [(name_of[item], group) for item, group in self._rows_of(given) if item in name_of]
        return groups_of([name for name, _ in rows], [group for _, group in rows])

    def __repr__(self) -> str:
        n = int((np.diff(self._bounds) > 0).sum())
        return f"ReplayAgent({n} groupings of {len(self._recorded)} subsets, {self.n_left} left)"

    def _rows_of(self, grouping: int) -> list[tuple[int, int]]:
        """Return the item and group of each membership of a recorded grouping."""
        return self._rows[self._bounds[grouping] : self._bounds[grouping + 1]]

    def _fitting(self, places: Int[np.ndarray, " subset"]) -> Int[np.ndarray, " fitting"]:
        """Return the recorded groupings of exactly these items, or else those that hold most of them."""
        exact = self._recorded.get(frozenset(places.tolist()))
        if exact is not None:
            return np.array(exact, dtype=np.intp)
        shared = np.bincount(self._holding[places].indices, minlength=len(self._times_given))
        return np.flatnonzero(shared == max(shared.max(), 1))  # items of no grouping fit none


def draw_pairs(
    probability: Float[np.ndarray, "items items"], rng: np.random.Generator
) -> Bool[np.ndarray, "items items"]:
    """Draw for every pair of items whether they belong together; symmetric, with the diagonal False."""
    together = np.triu(rng.random(probability.shape) < probability, 1)
    return together | together.T


def resolve(together: Bool[np.ndarray, "items items"], rng: np.random.Generator) -> Int[np.ndarray, " items"]:
    """Return a grouping as labels that contradict few of the pairs.

    Average linkage joins the two groups that are together in the largest share of their pairs, while it is at least
    half.
    """
    n = len(together)
    if n < 2:
        return np.zeros(n, dtype=np.intp)
    order = rng.permutation(n)  # else ties would always be broken in favour of the first items
    apart = squareform(1.0 - together[np.ix_(order, order)], checks=False)
    labels = np.empty(n, dtype=np.intp)
    # half is together, however it is rounded
    labels[order] = fcluster(linkage(apart, "average"), 0.5 + 1e-9, "distance")
    return labels


def groups_of(items: list[Any], labels: Iterable[Any]) -> list[list[Any]]:
    """Return the items by label, with groups in the order of their first items."""
    groups: dict[Any, list[Any]] = {}
    for item, label in zip(items, labels):
        groups.setdefault(label, []).append(item)
    return list(groups.values())


def places_of(items: list[Any], place: dict[Any, int], agent: str) -> Int[np.ndarray, " subset"]:
    """Return the places of the items of a subset. Raises InputError: an item is unknown or occurs twice."""
    require_distinct(items, place, f"The subset given to {agent}", f"among its {len(place)} items")
    return np.array([place[item] for item in items], dtype=np.intp)


def require_distinct(items: Iterable[Any], known: Collection[Any], subject: str, among: str) -> None:
    """Require that items are known and distinct; `subject` and `among` are parts of the messages."""
    seen = set()
    for item in items:
        try:
            is_known = item in known
        except TypeError as error:
            raise InputError(f"{subject} holds {item!r}, which is not the name of an item.") from error
        if not is_known:
            raise InputError(f"{subject} holds the item {plain(item)!r}, which is not {among}.")
        if item in seen:
            raise InputError(f"{subject} holds the item {plain(item)!r} twice.")
        seen.add(item)


def names_of(table: Any, items: Any = None) -> pd.Index:
    """Return the names of the rows of a table."""
    if items is None:
        items = table.index if isinstance(table, pd.DataFrame) else pd.RangeIndex(len(table))
    return unique_names(items, "items")


def table_of(table: Any, name: str, owner: str) -> Float[np.ndarray, "rows columns"]:
    """Return a table as an array of numbers."""
    try:
        values = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"The '{name}' parameter of {owner} must be a table of numbers. {error}") from error
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"The '{name}' parameter of {owner} must be a table of numbers. Got shape {values.shape} instead."
        )
    return values


def _probabilities(probability: Any, items: pd.Index) -> Float[np.ndarray, "items items"]:
    values = table_of(probability, "probability", "CooccurrenceAgent").copy()
    n = len(items)
    if values.shape != (n, n):
        raise InputError(
            f"The 'probability' parameter of CooccurrenceAgent must have the shape ({n}, {n}) for {n} items. Got shape "
            f"{values.shape} instead."
        )
    if isinstance(probability, pd.DataFrame) and not probability.columns.equals(probability.index):
        raise InputError("The columns of the 'probability' parameter of CooccurrenceAgent must equal its index.")
    np.fill_diagonal(values, 1)
    wrong = np.argwhere(~((values >= 0) & (values <= 1)))
    what = "lie in [0, 1]"
    if len(wrong) == 0:
        wrong = np.argwhere(~np.isclose(values, values.T, rtol=0, atol=1e-8))
        what = "be symmetric"
    if len(wrong):
        i, j = wrong[0]
        raise InputError(
            f"The 'probability' parameter of CooccurrenceAgent must {what}. Got {values[i, j]} for the items "
            f"{plain(items[i])!r} and {plain(items[j])!r}, and {values[j, i]} the other way round."
        )
    return values
