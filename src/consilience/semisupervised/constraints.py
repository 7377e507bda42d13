"""Must-links and cannot-links: what the pairwise competitors make of people's judgements.

`read_pairs` brings judgements of pairs, groupings or labels into one form, matched with the items of the features.
`Constraints` counts the judgements of a pair together. `neighbourhoods` follows must-links from item to item,
`entailed` adds what follows from them, `colour_classes` tells which items share no constraint, and so may be moved at
once. `log_odds` and `annotator_table` say how far annotators can be trusted, given clusters.

Decided here
------------
Crowds contradict themselves, and no contradiction is an error. Of a pair on which judgements differ, the net majority
counts, with the weight of what is left of it: two yes and one no weigh as much as a single yes. A tie leaves nothing,
and is counted. A chain of must-links that also holds a cannot-link tells nothing but its links: it is no
neighbourhood, and nothing is inferred from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Groupings, Pairs
from consilience.base import as_groupings
from consilience.errors import InputError
from consilience.simulation.pairs import pairs_of_ranks

LARGEST = 1_000_000  # judgements that are taken without being asked to sample
TIE = 1e-9  # net weight that is none
PSEUDO_COUNT = 1.0  # imagined right and wrong judgements of each kind, for each annotator
PAIR_COLUMNS = {"item_a", "item_b"}


@dataclass(frozen=True)
class Constraints:
    """Pairs of items that belong together or apart, each pair once.

    Attributes
    ----------
    n_items : int
    item_a, item_b : int arrays, shape (pairs,)
        ``item_a < item_b``, sorted by both.
    must : bool array, shape (pairs,)
        Whether it is a must-link; else it is a cannot-link.
    weight : float array, shape (pairs,)
        What is left of the judgements of the majority, above 0.
    n_judgements : int
    n_contradicted : int
        Pairs on which judgements differed.
    n_ties : int
        Those of them on which nothing was left, and which are in no constraint.
    """

    n_items: int
    item_a: Int[np.ndarray, " pairs"]
    item_b: Int[np.ndarray, " pairs"]
    must: Bool[np.ndarray, " pairs"]
    weight: Float[np.ndarray, " pairs"]
    n_judgements: int
    n_contradicted: int
    n_ties: int

    @classmethod
    def of(cls, pairs: Pairs, worth: Float[np.ndarray, " judgements"] | None = None) -> Constraints:
        """Count the judgements of each pair together.

        Parameters
        ----------
        pairs : Pairs
        worth : float array, shape (judgements,), optional
            Weight of each judgement, at least 0; by default 1.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Pairs
        >>> said = [("ant", "bee", "Ann", 1), ("ant", "bee", "Bo", 1), ("ant", "bee", "Cy", 0)]
        >>> said += [("bee", "cow", "Ann", 0)]
        >>> frame = pd.DataFrame(said, columns=["item_a", "item_b", "annotator", "same"])
        >>> constraints = Constraints.of(Pairs.from_frame(frame))
        >>> constraints.must.tolist(), constraints.weight.tolist(), constraints.n_contradicted
        ([True, False], [1.0, 1.0], 1)
        """
        worth = np.ones(pairs.n_rows) if worth is None else worth
        keys, pair = np.unique(pairs.item_a.astype(np.int64) * pairs.n_items + pairs.item_b, return_inverse=True)
        net = np.bincount(pair, np.where(pairs.same, worth, -worth), len(keys)).astype(np.float64)
        yes, judged = np.bincount(pair, pairs.same, len(keys)), np.bincount(pair, minlength=len(keys))
        left = np.abs(net) > TIE
        contradicted = (yes > 0) & (yes < judged)
        return cls(
            n_items=pairs.n_items,
            item_a=keys[left] // pairs.n_items,
            item_b=keys[left] % pairs.n_items,
            must=net[left] > 0,
            weight=np.abs(net[left]),
            n_judgements=pairs.n_rows,
            n_contradicted=int(contradicted.sum()),
            n_ties=int((contradicted & ~left).sum()),
        )

    @property
    def n_pairs(self) -> int:
        """Number of constraints."""
        return len(self.must)

    @property
    def notes(self) -> list[str]:
        """What judgements contradict each other, as sentences."""
        if not self.n_contradicted:
            return []
        return [
            f"Judgements differ on {self.n_contradicted} pairs: the net majority counts, and the {self.n_ties} pairs "
            "on which there is none are left out."
        ]


def read_pairs(
    annotations: Any, X: Any, model: str, max_pairs: int | None, rng: np.random.RandomState
) -> tuple[Pairs, list[str]]:
    """Judgements of the items of X, in their order; and a note if some were left out.

    Parameters
    ----------
    annotations : Pairs, Groupings, Labels, a long table of pairs, or an array as for groupings
    X : DataFrame, matched by the names of items in its index, or array, matched by position.
    model : name of the estimator, for messages.
    max_pairs : int, optional
        Of more judgements, so many at random are taken.
    rng : RandomState

    Returns
    -------
    Pairs, list of str

    Raises
    ------
    InputError
        Items that do not match, or more than a million judgements and no `max_pairs`.
    """
    if isinstance(annotations, pd.DataFrame) and set(map(str, annotations.columns)) >= PAIR_COLUMNS:
        annotations = Pairs.from_frame(annotations)
    said: Any = annotations if isinstance(annotations, Pairs) else as_groupings(annotations, X, model)
    said = _matched(said, X)
    n_pairs = said.n_rows if isinstance(said, Pairs) else _n_pairs(said)
    if max_pairs is None and n_pairs > LARGEST:
        raise InputError(
            f"The annotations hold {n_pairs} judgements of pairs, and {model} takes {LARGEST} at most. Set max_pairs "
            "to use so many of them, drawn at random."
        )
    if max_pairs is not None and n_pairs > max_pairs:
        ranks = np.sort(rng.choice(n_pairs, int(max_pairs), replace=False))
        said = said._rows(ranks) if isinstance(said, Pairs) else _drawn(said, ranks)
        return said, [f"Of {n_pairs} judgements of pairs, {max_pairs} were drawn at random."]
    return said if isinstance(said, Pairs) else said.to_pairs(max_pairs=LARGEST), []


def _matched(said: Any, X: Any) -> Any:
    """Groupings or pairs of the items of X, in their order."""
    kind = "pairs" if isinstance(said, Pairs) else "annotations"
    if isinstance(X, pd.DataFrame):
        if X.index.has_duplicates:
            twice = X.index[X.index.duplicated()][0]
            raise InputError(f"Item {twice!r} has more than one row in X. Expected unique names in its index.")
        if said.items.equals(X.index):
            return said
        absent = said.items.difference(X.index, sort=False)
        if len(absent) and len(absent) == len(said.items):
            raise InputError(
                f"No item of the {kind} (such as {absent[0]!r}) is in the index of X (such as {X.index[0]!r}). "
                "Set the items' names as index of X."
            )
        return said.reindex(X.index)
    if not said.positional:
        raise InputError(
            f"X has no names of items, and the items of the {kind} stand in the order of a table's rows. "
            "Give X as a DataFrame indexed by item, or annotations.reindex(items)."
        )
    n_items = len(X) if hasattr(X, "__len__") else len(np.asarray(X))
    if len(said) != n_items:
        raise InputError(
            f"X has {n_items} rows and the {kind} {len(said)} items, so they cannot be matched by position. "
            "Give X as a DataFrame indexed by item, or annotations.reindex(items)."
        )
    return said


def _sizes(groupings: Groupings) -> Int[np.ndarray, " groupings"]:
    grouping = groupings.grouping_of_group[groupings.incidence.indices]
    return np.bincount(grouping, minlength=groupings.n_groupings).astype(np.int64)


def _n_pairs(groupings: Groupings) -> int:
    sizes = _sizes(groupings)
    return int((sizes * (sizes - 1) // 2).sum())


def _drawn(groupings: Groupings, ranks: Int[np.ndarray, " drawn"]) -> Pairs:
    """Pairs of groupings by their ranks among all pairs, which are not listed."""
    group = groupings.incidence.indices.astype(np.int64)
    order = np.argsort(groupings.grouping_of_group[group], kind="stable")
    group, item = group[order], groupings.item_of_row[order]
    first, second = pairs_of_ranks(_sizes(groupings), ranks)
    grouping = groupings.grouping_of_group[group[first]]
    return Pairs(
        items=groupings.items,
        annotators=groupings.annotators,
        positional=groupings.positional,
        item_a=item[first],
        item_b=item[second],
        annotator=groupings.annotator_of_grouping[grouping],
        same=group[first] == group[second],
        grouping=grouping,
        groupings=pd.RangeIndex(groupings.n_groupings),
    ).in_order()


def neighbourhoods(constraints: Constraints) -> Int[np.ndarray, " items"]:
    """Items that must-links chain together, where no cannot-link contradicts the chain.

    Parameters
    ----------
    constraints : Constraints

    Returns
    -------
    ndarray of int, shape (n_items,)
        Neighbourhood of each item, numbered by falling size; -1 for items without must-links and items of a chain
        that holds a cannot-link.
    """
    n, must = constraints.n_items, constraints.must
    a, b = constraints.item_a, constraints.item_b
    links = csr_array((np.ones(int(must.sum())), (a[must], b[must])), shape=(n, n))
    n_chains, chain = connected_components(links, directed=False)
    inside = ~must & (chain[a] == chain[b])
    sizes = np.bincount(chain, minlength=n_chains)
    useful = sizes > 1
    useful[chain[a[inside]]] = False
    order = np.argsort(-np.where(useful, sizes, 0), kind="stable")[: np.count_nonzero(useful)]
    number = np.full(n_chains, -1)
    number[order] = np.arange(len(order))
    return number[chain]


def entailed(constraints: Constraints, most: int) -> Constraints:
    """Add the pairs that follow from neighbourhoods: together in one, apart in two that a cannot-link tells apart.

    Parameters
    ----------
    constraints : Constraints
    most : int
        If more pairs than this would follow, none is added.

    Returns
    -------
    Constraints
        What follows weighs as little as the weakest of the constraints given.
    """
    neighbourhood = neighbourhoods(constraints)
    member = np.flatnonzero(neighbourhood >= 0)
    member = member[np.argsort(neighbourhood[member], kind="stable")]
    sizes = np.bincount(neighbourhood[member])
    a, b = neighbourhood[constraints.item_a], neighbourhood[constraints.item_b]
    split = np.unique(np.sort(np.stack([a, b])[:, ~constraints.must & (a >= 0) & (b >= 0)], axis=0), axis=1)
    apart = sizes[split[0]] * sizes[split[1]]
    together = sizes * (sizes - 1) // 2
    if not len(member) or together.sum() + apart.sum() > most:
        return constraints
    inner = pairs_of_ranks(sizes, np.arange(together.sum()))
    which = np.repeat(np.arange(len(apart)), apart)
    rank = np.arange(apart.sum()) - np.repeat(apart.cumsum() - apart, apart)
    start = sizes.cumsum() - sizes
    one, other = split[:, which]
    outer = np.stack([start[one] + rank // sizes[other], start[other] + rank % sizes[other]])
    pairs = np.sort(member[np.concatenate([inner, outer], axis=1)], axis=0)
    return _with_pairs(constraints, pairs, np.arange(pairs.shape[1]) < inner.shape[1])


def _with_pairs(constraints: Constraints, pairs: np.ndarray, must: np.ndarray) -> Constraints:
    """Constraints given, then those that follow and were not given."""
    n = constraints.n_items
    key = pairs[0].astype(np.int64) * n + pairs[1]
    new = ~np.isin(key, constraints.item_a.astype(np.int64) * n + constraints.item_b)
    weight = np.full(int(new.sum()), constraints.weight.min())
    return Constraints(
        n_items=n,
        item_a=np.concatenate([constraints.item_a, pairs[0][new]]),
        item_b=np.concatenate([constraints.item_b, pairs[1][new]]),
        must=np.concatenate([constraints.must, must[new]]),
        weight=np.concatenate([constraints.weight, weight]),
        n_judgements=constraints.n_judgements,
        n_contradicted=constraints.n_contradicted,
        n_ties=constraints.n_ties,
    )


def colour_classes(constraints: Constraints, rng: np.random.RandomState) -> Int[np.ndarray, " items"]:
    """Colour items so that no two of one colour share a constraint.

    Items are ranked at random; an item takes the first colour that none of its neighbours of higher rank has (Jones &
    Plassmann 1993), all at once whose neighbours of higher rank are done. Every constraint is looked at twice.

    Parameters
    ----------
    constraints : Constraints
    rng : RandomState

    Returns
    -------
    ndarray of int, shape (n_items,)
        -1 for items without constraints.
    """
    n = constraints.n_items
    rank = rng.permutation(n)
    source = np.concatenate([constraints.item_a, constraints.item_b])
    target = np.concatenate([constraints.item_b, constraints.item_a])
    down = rank[source] > rank[target]
    lower = csr_array((np.ones(int(down.sum())), (source[down], target[down])), shape=(n, n))
    higher = lower.T.tocsr()
    waiting = np.bincount(target[down], minlength=n)
    colour = np.full(n, -1)
    ready = np.flatnonzero((waiting == 0) & (np.bincount(source, minlength=n) > 0))
    while len(ready):
        item, neighbour = _rows_of(higher, ready)
        colour[ready] = _first_free(item, colour[neighbour], len(ready))
        _, done = _rows_of(lower, ready)
        below, times = np.unique(done, return_counts=True)
        waiting[below] -= times
        ready = below[waiting[below] == 0]
    return colour


def _rows_of(matrix: csr_array, rows: Int[np.ndarray, " rows"]) -> tuple[np.ndarray, np.ndarray]:
    """Entries of some rows: place of the row among them, and column."""
    length = matrix.indptr[rows + 1] - matrix.indptr[rows]
    place = np.repeat(np.arange(len(rows)), length)
    entry = np.arange(len(place)) - np.repeat(length.cumsum() - length, length) + matrix.indptr[rows][place]
    return place, matrix.indices[entry]


def _first_free(item: np.ndarray, colour: np.ndarray, n: int) -> Int[np.ndarray, " ready"]:
    """For each of `n` items the smallest colour that is not among those listed for it."""
    most = int(colour.max()) + 1 if len(colour) else 0
    item, colour = np.divmod(np.unique(item * max(most, 1) + colour), max(most, 1))
    start = np.searchsorted(item, np.arange(n))
    gapless = colour == np.arange(len(item)) - start[item]  # true up to the first gap, never after it
    return np.bincount(item, gapless, n).astype(np.intp)


def log_odds(pairs: Pairs, labels: Int[np.ndarray, " items"]) -> Float[np.ndarray, " judgements"]:
    """How much each judgement tells, if its annotator is as good as the clusters say.

    ln p(judgement | of one cluster) - ln p(judgement | of two) of a yes, its negative of a no. An annotator has a
    sensitivity and a specificity, each with an imagined right and wrong judgement more. Who is more often wrong than
    right tells nothing: 0.

    Parameters
    ----------
    pairs : Pairs
    labels : int array, shape (n_items,)

    Returns
    -------
    ndarray, shape (judgements,)
    """
    together = labels[pairs.item_a] == labels[pairs.item_b]
    count = np.full((2, 2, pairs.n_annotators), PSEUDO_COUNT)
    np.add.at(count, (together.astype(np.intp), pairs.same.astype(np.intp), pairs.annotator), 1)
    rate = count[:, 1] / count.sum(1)  # of yes, where apart and together
    of_yes, of_no = np.log(rate[1] / rate[0]), np.log((1 - rate[0]) / (1 - rate[1]))
    return np.maximum(np.where(pairs.same, of_yes[pairs.annotator], of_no[pairs.annotator]), 0)


def independent_share(pairs: Pairs) -> Float[np.ndarray, " judgements"]:
    """How much of each judgement does not follow from the others of its occasion.

    Who sorts m items into groups says m (m - 1) / 2 pairs, and no more than m - 1 things: each pair counts for 2 / m.

    Parameters
    ----------
    pairs : Pairs

    Returns
    -------
    ndarray, shape (judgements,)
        (items - 1) / pairs of the annotator's grouping, at most 1.
    """
    occasion, judged = np.unique(
        pairs.annotator.astype(np.int64) * max(len(pairs.groupings), 1) + pairs.grouping, return_inverse=True
    )
    met = np.unique(np.tile(judged, 2) * max(pairs.n_items, 1) + np.concatenate([pairs.item_a, pairs.item_b]))
    n_items = np.bincount(met // max(pairs.n_items, 1), minlength=len(occasion))
    n_pairs = np.bincount(judged, minlength=len(occasion))
    return np.minimum((n_items - 1) / n_pairs, 1.0)[judged]


def annotator_table(pairs: Pairs, labels: Int[np.ndarray, " items"]) -> pd.DataFrame:
    """How the judgements of each annotator agree with clusters.

    Parameters
    ----------
    pairs : Pairs
    labels : int array, shape (n_items,)

    Returns
    -------
    DataFrame, one row an annotator
        n_pairs; n_together, those of one cluster; accuracy, the share of the judgements that agree with the clusters;
        sensitivity, of pairs of one cluster; specificity, of pairs of two. NaN where there are none.
    """
    together = labels[pairs.item_a] == labels[pairs.item_b]
    right = together == pairs.same
    shares = {}
    for name, chosen in (("accuracy", np.ones_like(together)), ("sensitivity", together), ("specificity", ~together)):
        judged = np.bincount(pairs.annotator[chosen], minlength=pairs.n_annotators)
        agreed = np.bincount(pairs.annotator[chosen], right[chosen], pairs.n_annotators)
        shares[name] = np.divide(agreed, judged, out=np.full(len(judged), np.nan), where=judged > 0)
    n_pairs = np.bincount(pairs.annotator, minlength=pairs.n_annotators)
    n_together = np.bincount(pairs.annotator[together], minlength=pairs.n_annotators)
    counts = {"n_pairs": n_pairs, "n_together": n_together}
    return pd.DataFrame(counts | shares, index=pairs.annotators.rename("annotator"))


def same_by_clusters(
    together: Bool[np.ndarray, " pairs"], annotators: pd.DataFrame, annotator: Any = None
) -> Float[np.ndarray, " pairs"]:
    """Probability that pairs belong together, or that an annotator says so, where clusters are certain.

    Parameters
    ----------
    together : bool array, shape (pairs,)
        Whether the two items are of one cluster.
    annotators : DataFrame, as `annotator_table` makes it.
    annotator : name, optional

    Returns
    -------
    ndarray, shape (pairs,)
        1 or 0; with an annotator, the sensitivity or one minus the specificity, a right and a wrong judgement added
        to each.

    Raises
    ------
    InputError
        An unknown annotator.
    """
    if annotator is None:
        return together.astype(np.float64)
    if annotator not in annotators.index:
        raise InputError(f"Annotator {annotator!r} was not fitted.")
    one = annotators.loc[annotator].fillna(0.0)
    n_together, n_apart = one["n_together"], one["n_pairs"] - one["n_together"]
    yes = (n_together * one["sensitivity"] + PSEUDO_COUNT) / (n_together + 2 * PSEUDO_COUNT)
    no = (n_apart * one["specificity"] + PSEUDO_COUNT) / (n_apart + 2 * PSEUDO_COUNT)
    return np.where(together, yes, 1 - no)
