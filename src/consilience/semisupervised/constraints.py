"""Must-links and cannot-links, made from judgements of pairs, for the models that need constraints.

`Constraints` combines the judgements of each pair. `neighbourhoods` follows must-links from item to item,
`add_entailed` adds the constraints that follow from them, and `colour_classes` finds sets of items that share no
constraint, which can be moved at once.

Decided here
------------
Crowds contradict themselves, so a contradiction is not an error. Where judgements of a pair differ, the net majority
counts, with its net weight: two "same" and one "different" weigh as much as a single "same". A tie gives no constraint,
and is reported. A chain of must-links that contains a cannot-link is not a neighbourhood: its links count, but nothing
is inferred from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Pairs
from consilience.annotations.pairs import pairs_of_ranks

TIE = 1e-9  # net weight up to which a pair is tied


@dataclass(frozen=True)
class Constraints:
    """Pairs of items that belong together or apart, each pair once.

    item_a, item_b : ``item_a < item_b``, sorted by both.
    must : True for a must-link, False for a cannot-link.
    weight : net weight of the majority, above 0.
    n_contradicted : number of pairs on which judgements differ.
    n_ties : number of those that are tied, and give no constraint.
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
        """Combine the judgements of each pair.

        worth : weight of each judgement, at least 0; by default 1.

        Examples
        --------
        >>> import pandas as pd
        >>> from consilience import Pairs
        >>> rows = [("ant", "bee", "Ann", 1), ("ant", "bee", "Bo", 1), ("ant", "bee", "Cy", 0)]
        >>> rows += [("bee", "cow", "Ann", 0)]
        >>> frame = pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"])
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
        """Return a note on judgements that contradict each other, if there are any."""
        if not self.n_contradicted:
            return []
        return [
            f"Judgements differ on {self.n_contradicted} pairs: the net majority counts, and the {self.n_ties} pairs "
            "without a majority are left out."
        ]


def neighbourhoods(constraints: Constraints) -> Int[np.ndarray, " items"]:
    """Find sets of items that must-links chain together without a contradicting cannot-link.

    Returns ndarray of int, shape (n_items,): neighbourhood of each item, numbered by decreasing size; -1 for items
    without must-links and items of a chain that contains a cannot-link.
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


def add_entailed(constraints: Constraints, most: int) -> Constraints:
    """Add the pairs that follow from neighbourhoods: must-links within one, cannot-links between two that have one.

    most : if more pairs than this would follow, none are added.

    The added constraints have the smallest weight of those given.
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
    """Return the constraints given, followed by those of `pairs` that are new."""
    n = constraints.n_items
    key = pairs[0].astype(np.int64) * n + pairs[1]
    new = ~np.isin(key, constraints.item_a.astype(np.int64) * n + constraints.item_b)
    weight = np.full(int(new.sum()), constraints.weight.min())  # what follows weighs no more than what was said
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
    Plassmann 1993). All items whose neighbours of higher rank are coloured are processed at once. Every constraint is
    visited twice.

    Returns ndarray of int, shape (n_items,): -1 for items without constraints.
    """
    n = constraints.n_items
    rank = rng.permutation(n)  # at random, so that few items wait for each other in a chain
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
    """Entries of some rows: position of the row in `rows`, and column."""
    length = matrix.indptr[rows + 1] - matrix.indptr[rows]
    place = np.repeat(np.arange(len(rows)), length)
    entry = np.arange(len(place)) - np.repeat(length.cumsum() - length, length) + matrix.indptr[rows][place]
    return place, matrix.indices[entry]


def _first_free(item: np.ndarray, colour: np.ndarray, n: int) -> Int[np.ndarray, " ready"]:
    """Smallest colour that is not listed for each of `n` items."""
    most = int(colour.max()) + 1 if len(colour) else 0
    item, colour = np.divmod(np.unique(item * max(most, 1) + colour), max(most, 1))
    start = np.searchsorted(item, np.arange(n))
    gapless = colour == np.arange(len(item)) - start[item]  # true exactly up to the first gap
    return np.bincount(item, gapless, n).astype(np.intp)
