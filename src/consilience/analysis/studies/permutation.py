"""Whether two studies differ more than two groups of the same people would: people exchanged between the studies.

If both studies are of one population, it does not matter who was in which; so people are exchanged between them at
random, and the differences are measured again. With the share m_kp of pair of items p in study k, and o_kp the
occasions on which it was seen there,

    d_p = m_1p − m_2p,    q_p = d_p² / (1 / o_1p + 1 / o_2p),    t_i = Σ_(p with i) q_p,    z_p² = q_p / σ_p²

where σ_p² is the variance of p over people (`Togetherness.spread`). The measures are Σ_p q_p, for many small changes,
and the largest t_i, standardised by its mean and standard deviation over the permutations, for few items that moved.
The smaller of their p-values is compared with that of the permutations.

Decided here
------------
Weights of pairs by 1 / σ² in the sums lose power in recorded sorts; they are used for pairs one by one.

An item that moved changes a pair of every other item. So the items that moved are found one at a time: the one with the
largest standardised t_i is taken out with its pairs if the permutations reach its value with a probability of at most
`LEVEL`, and the others are examined again. An item whose pairs with those that are left did not change is returned: it
seemed to move because most of its cluster did. What is left is tested as a whole, too.

Nothing is claimed about items or pairs unless the studies differ as a whole, so that any claim about studies of one
population is made with a probability of at most `LEVEL`. P-values are corrected for the number of items or pairs by
the permutations' largest value.

A pair that nobody saw in one of the (permuted) studies has no difference, and contributes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.analysis.studies.togetherness import Togetherness, ends, places_with

LEVEL = 0.05  # probability of any claim about two studies of one population
TOLERANCE = 1e-9  # relative; values that differ by less are equal
MOST_MOVED = 0.5  # share of the items that may be taken out

InFirst = Float[np.ndarray, "assignments people"]


def assignments(
    first: Bool[np.ndarray, " people"],
    partner: Int[np.ndarray, " people"],
    n_permutations: int,
    rng: np.random.Generator,
) -> InFirst:
    """Return who is in the first study: as observed in the first row, then with people exchanged at random.

    first : who is in the first study.
    partner : place of the same person in the other study; -1 for people who took part once. What one person said in
        both studies is exchanged; the others are permuted.
    n_permutations : number of further rows.
    """
    table = np.tile(first.astype(float), (n_permutations + 1, 1))
    once = np.flatnonzero(partner < 0)
    order = np.argsort(rng.random((n_permutations, len(once))), axis=1)  # a random permutation in each row
    table[1:, once] = first[once][order]
    ours = np.flatnonzero(first & (partner >= 0))
    stay = (rng.random((n_permutations, len(ours))) < 0.5).astype(float)
    table[1:, ours], table[1:, partner[ours]] = stay, 1 - stay
    return table


@dataclass(frozen=True)
class Differences:
    """Differences of some pairs under each assignment: d, and the weight 1 / (1 / o_1 + 1 / o_2), 0 if unseen."""

    difference: Float[np.ndarray, "assignments some"]
    weight: Float[np.ndarray, "assignments some"]
    first: Float[np.ndarray, "assignments some"]
    second: Float[np.ndarray, "assignments some"]

    @classmethod
    def of(cls, table: Togetherness, in_first: InFirst, pairs: Int[np.ndarray, " some"]) -> Differences:
        """Compute the shares of both studies, and compare them."""
        s_1, o_1 = table.sums(in_first, pairs)
        s_2, o_2 = table.sums(1 - in_first, pairs)
        seen = (o_1 > 0) & (o_2 > 0)
        first = np.divide(s_1, o_1, out=np.zeros_like(s_1), where=seen)
        second = np.divide(s_2, o_2, out=np.zeros_like(s_2), where=seen)
        weight = np.divide(o_1 * o_2, o_1 + o_2, out=np.zeros_like(s_1), where=seen)
        return cls(first - second, weight, first, second)

    @property
    def q(self) -> Float[np.ndarray, "assignments some"]:
        """d² / (1 / o_1 + 1 / o_2)."""
        return self.difference**2 * self.weight


@dataclass(frozen=True)
class Permutations:
    """The measures of the two studies (first row) and of the permutations.

    by_item : t_i.
    change : mean |d| over the pairs of each item.
    z2 : z_p² of the two studies, of all pairs.
    largest_z2 : the largest z_p².
    correlation : of the shares of both studies over pairs.
    """

    by_item: Float[np.ndarray, "assignments items"]
    change: Float[np.ndarray, "assignments items"]
    z2: Float[np.ndarray, " pairs"]
    largest_z2: Float[np.ndarray, " assignments"]
    correlation: Float[np.ndarray, " assignments"]

    @classmethod
    def of(cls, table: Togetherness, in_first: InFirst) -> Permutations:
        """Measure the differences under each assignment."""
        n, rows = table.n_items, len(in_first)
        by_item, change, seen = (np.zeros((rows, n)) for _ in range(3))
        z2, largest, moments = np.zeros(table.n_pairs), np.zeros(rows), np.zeros((6, rows))
        low, high = ends(n)
        for pairs in table.some_at_a_time(rows):
            found = Differences.of(table, in_first, pairs)
            each = np.arange(len(pairs))
            member = csr_array(
                (np.ones(2 * len(pairs)), (np.concatenate([low[pairs], high[pairs]]), np.concatenate([each, each]))),
                shape=(n, len(pairs)),
            )
            by_item += (member @ found.q.T).T
            change += (member @ abs(found.difference).T).T
            seen += (member @ (found.weight > 0).astype(float).T).T
            spread = table.spread(pairs)
            z = np.divide(found.q, spread, out=np.zeros_like(found.q), where=spread > TOLERANCE)
            z2[pairs], largest = z[0], np.maximum(largest, z.max(1, initial=0.0))
            moments += _moments(found)
        return cls(
            by_item=by_item,
            change=np.divide(change, seen, out=np.full_like(change, np.nan), where=seen > 0),
            z2=z2,
            largest_z2=largest,
            correlation=_correlation(moments),
        )

    @property
    def n_permutations(self) -> int:
        """Number of permutations."""
        return len(self.largest_z2) - 1

    @cached_property
    def measures(self) -> Float[np.ndarray, "two assignments"]:
        """The sum over all pairs, and the largest standardised t_i."""
        return np.stack([self.by_item.sum(1), standardise(self.by_item).max(1)])

    @cached_property
    def smallest_p(self) -> Float[np.ndarray, " assignments"]:
        """The smaller p-value of the two measures."""
        return np.min([p_values_of_all(values) for values in self.measures], axis=0)

    @property
    def p_value(self) -> float:
        """P-value of the difference as a whole."""
        return float((self.smallest_p <= self.smallest_p[0] * (1 + TOLERANCE)).mean())

    @property
    def p_of_pairs(self) -> Float[np.ndarray, " pairs"]:
        """P-value of each pair, corrected for their number, and at least that of the difference as a whole."""
        return np.maximum(share_reaching(self.largest_z2, self.z2), self.p_value)


@dataclass(frozen=True)
class MovedItems:
    """Items that moved, the clearest first; the p-value of each item; and that of all others together."""

    items: list[int]
    p_value: Float[np.ndarray, " items"]
    p_rest: float


def moved_items(table: Togetherness, in_first: InFirst, measured: Permutations) -> MovedItems:
    """Find the items that moved, one at a time."""
    n, so_far = table.n_items, measured.p_value
    t, left = measured.by_item.copy(), np.ones(n, dtype=bool)
    p_value, moved = np.ones(n), list[int]()
    while True:
        places = np.flatnonzero(left)
        z = standardise(t[:, places])
        p = np.maximum(share_reaching(z.max(1), z[0]), so_far)  # none is surer than those that went before
        best = int(z[0].argmax())
        p_value[places] = p
        if p[best] > LEVEL or len(moved) >= MOST_MOVED * n or len(places) < 3:
            break
        so_far, item = float(p[best]), int(places[best])
        moved.append(item)
        left[item] = False
        t -= _with(item, table, in_first)
    returned = _return_items(moved, left, t, table, in_first)
    p_value[list(returned)] = list(returned.values())
    rest = t[:, left].sum(1) / 2
    return MovedItems(
        [item for item in moved if item not in returned], p_value, float(share_reaching(rest, rest[:1])[0])
    )


def _with(item: int, table: Togetherness, in_first: InFirst) -> Float[np.ndarray, "assignments items"]:
    """Return q of the pairs of an item with each item."""
    n = table.n_items
    q = np.zeros((len(in_first), n))
    q[:, np.arange(n) != item] = Differences.of(table, in_first, places_with(item, n)).q
    return q


def _return_items(
    moved: list[int],
    left: Bool[np.ndarray, " items"],
    t: Float[np.ndarray, "assignments items"],
    table: Togetherness,
    in_first: InFirst,
) -> dict[int, float]:
    """Return items, with their p-values, that have not moved among those that are left; `left` and `t` are changed."""
    returned: dict[int, float] = {}
    while out := [item for item in moved if item not in returned]:
        p = [float(share_reaching(t[:, item], t[:1, item])[0]) for item in out]
        best = int(np.argmax(p))
        if p[best] <= LEVEL:
            break
        item = out[best]
        returned[item] = p[best]
        left[item] = True
        t += _with(item, table, in_first)
    return returned


def standardise(values: Float[np.ndarray, "assignments items"]) -> Float[np.ndarray, "assignments items"]:
    """Return values less their mean over assignments, in standard deviations; 0 where they do not vary."""
    spread = values.std(0)
    from_mean = values - values.mean(0)
    return np.divide(from_mean, spread, out=np.zeros_like(values), where=spread > TOLERANCE * abs(values).max(0))


def share_reaching(largest: Float[np.ndarray, " assignments"], values: Float[np.ndarray, " some"]) -> np.ndarray:
    """Return for each value the share of assignments, the observed one included, whose largest value reaches it."""
    ordered = np.sort(largest)
    # equal but for rounding counts as reached; the observed assignment reaches its own value
    below = np.searchsorted(ordered, values - TOLERANCE * np.maximum(abs(values), 1), side="left")
    return np.maximum(len(ordered) - below, 1) / len(ordered)


def p_values_of_all(values: Float[np.ndarray, " assignments"]) -> Float[np.ndarray, " assignments"]:
    """Return the p-value of every assignment among all of them.

    Examples
    --------
    >>> p_values_of_all(np.array([3.0, 1.0, 2.0, 3.0])).tolist()
    [0.5, 1.0, 0.75, 0.5]
    """
    return np.asarray(share_reaching(values, values))


def _moments(found: Differences) -> Float[np.ndarray, "six assignments"]:
    a, b, seen = found.first, found.second, (found.weight > 0).astype(float)
    return np.stack([seen.sum(1), a.sum(1), b.sum(1), (a * a).sum(1), (b * b).sum(1), (a * b).sum(1)])


def _correlation(moments: Float[np.ndarray, "six assignments"]) -> Float[np.ndarray, " assignments"]:
    n, a, b, aa, bb, ab = moments
    n = np.maximum(n, 1)
    # a variance is below 0 by rounding alone
    both, either = ab / n - a * b / n**2, np.sqrt(np.maximum((aa / n - (a / n) ** 2) * (bb / n - (b / n) ** 2), 0))
    return np.divide(both, either, out=np.full(len(n), np.nan), where=either > 1e-12)
