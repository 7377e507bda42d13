"""Which items people tell apart: a test for each pair of items, and letters for items that are not told apart.

If nobody can tell items i and j apart, then what a person did with i they might as well have done with j: the two can
change places in the person's sort, and it is as probable as before. Of the groupings of person a that hold both,

    d_ak = how often k was put together with i, but not with j - how often with j, but not with i

for every other item k, and d_a becomes -d_a if i and j change places. So signs are drawn at random, one a person:

    T = |Σ_a d_a|²        large if people put i and j together with different items

The sum is over people, who are independent; nothing is assumed of how they see the items. T says nothing of items that
have no company, each alone in a group. A person who has G groups, and puts two items that are alike to them into these
groups independently, puts them together with a probability of at least 1/G, since the sum of the squares of G
probabilities is at least that. So the number of people who put i and j together is compared with a sum of Bernoulli
variables of probabilities 1/G: small if i and j are kept apart on purpose.

Decided here
------------
The distribution of T under random signs is taken for a Pearson III with the exact mean, variance and third moment; no
p-value is below 2^(1 - n), n the number of people for whom d_a is not 0. The p-value of a pair is twice the smaller of
the two. All pairs of items are corrected together, by Holm's method: with a probability of 95 %, no pair of equal items
is called separated.

Items share a letter if they are not separated (the insert-and-absorb algorithm: H.-P. Piepho 2004, J. Comput. Graph.
Stat. 13). Sharing a letter is no proof of being alike: more people might separate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.stats import binom, norm, pearson3

from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import MISSING
from consilience.errors import InputError
from consilience.inference.memberships import Memberships
from consilience.inference.multiple_tests import correct_by_holm

LEVEL = 0.05
MOST_ITEMS = 60
MOST_CELLS = 20_000_000  # people × items²
CELLS_AT_ONCE = 1 << 18  # people × items × pairs, which stay in a processor's cache
LEAST_SKEW = 1e-3  # below which a distribution is taken for normal


@dataclass(frozen=True)
class Separation:
    """Which items people tell apart; see `separated_items`.

    Attributes
    ----------
    pairs : DataFrame, one row for each pair of items
        ``item_a``, ``item_b``; ``n_people`` whose groupings hold both; ``share`` of them who put both together;
        ``p_company``, p-value of their being put together with the same items; ``p_apart``, that of their being kept
        apart; ``p_corrected``, of both and over all pairs; ``separated``.
    letters : Series of str, one for each item, or None
        Items with a letter in common are not separated. None if more than 26 letters are needed.
    """

    pairs: pd.DataFrame
    letters: pd.Series | None


def separated_items(groupings: Any, *, level: float = LEVEL) -> Separation:
    """Test for each pair of items whether people tell them apart.

    Equal items, which nobody can tell apart, may change places in the sorts of each person. A pair is separated if the
    sorts contradict this, with a correction for the number of pairs. See the module for the two tests.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        Of 3 to 60 items.
    level : float, default=0.05
        Probability that any pair of equal items is called separated.

    Returns
    -------
    Separation

    Raises
    ------
    InputError
        There are too few or too many items, or the level is not between 0 and 1.

    References
    ----------
    Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.inspection import separated_items
    >>> rng = np.random.default_rng(0)
    >>> sorts = [np.where(rng.random(6) < 0.1, rng.integers(3, size=6), np.arange(6) // 2) for _ in range(30)]
    >>> separated_items(np.transpose(sorts)).letters.tolist()
    ['a', 'a', 'b', 'b', 'c', 'c']
    """
    given = as_groupings(groupings, None, "separated_items")
    n_items = given.n_items
    if not 3 <= n_items <= MOST_ITEMS or n_items**2 * given.n_annotators > MOST_CELLS:
        raise InputError(
            f"separated_items compares 3 to {MOST_ITEMS} items, and at most {MOST_CELLS:,} annotators × items². Got "
            f"{n_items} items and {given.n_annotators} annotators."
        )
    if not 0 < level < 1:
        raise InputError(f"The 'level' parameter of separated_items must be between 0 and 1. Got {level!r} instead.")
    first, second = np.triu_indices(n_items, 1)
    people, share, company, apart = _tests(Memberships.of(given), first, second)
    corrected = correct_by_holm(np.minimum(1, 2 * np.fmin(company, apart)))
    pairs = pd.DataFrame(
        {
            "item_a": given.items[first],
            "item_b": given.items[second],
            "n_people": people,
            "share": share,
            "p_company": company,
            "p_apart": apart,
            "p_corrected": corrected,
            "separated": corrected <= level,
        }
    )
    separated = list(zip(first[corrected <= level].tolist(), second[corrected <= level].tolist(), strict=True))
    letters = letters_of(n_items, separated)
    index = given.items.rename("item")
    return Separation(pairs, None if letters is None else pd.Series(letters, index, name="letters"))


def _tests(
    memberships: Memberships, first: Int[np.ndarray, " pairs"], second: Int[np.ndarray, " pairs"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for each pair the number of people, the share who put it together, and both p-values."""
    n = memberships.n_items
    group = np.full((n, memberships.n_groupings), MISSING)
    group[memberships.item, memberships.grouping] = memberships.group
    order = np.argsort(memberships.annotator_of_grouping, kind="stable")  # those of a person are adjacent
    group, by = group[:, order], memberships.annotator_of_grouping[order]
    held = group != MISSING
    joined = ((group[:, :, None] == group.T) & held[:, :, None]).view(np.int8)
    # pairs are in the order of their first items
    company = np.concatenate([_company(joined, held, by, item) for item in range(n - 1)])
    used = memberships.grouping_of_group[memberships.group_sizes > 0]
    chance = 1 / np.maximum(np.bincount(used, minlength=len(by)), 1)[order]
    people, counts, apart = _kept_apart(joined, held, by, chance, (first, second))
    return people, counts / np.maximum(people, 1), company, apart


def _company(
    joined: Int[np.ndarray, "items groupings items"],
    held: Bool[np.ndarray, "items groupings"],
    by: Int[np.ndarray, " groupings"],
    item: int,
) -> Float[np.ndarray, " others"]:
    """Return the p-values of the company of an item and each later one."""
    n = len(held)
    people = np.unique(by, return_index=True)[1]
    at_once = max(1, CELLS_AT_ONCE // (len(by) * n))
    found = []
    for start in range(item + 1, n, at_once):
        others = np.arange(start, min(start + at_once, n))
        difference = joined[item] - joined[others]
        difference[:, :, item] = 0
        difference[np.arange(len(others)), :, others] = 0
        difference *= (held[item] & held[others])[:, :, None]
        of_person = difference.astype(float)
        if len(people) < len(by):
            of_person = np.add.reduceat(of_person, people, axis=1)
        found.append(p_of_random_signs(of_person))
    return np.concatenate(found)


def p_of_random_signs(vectors: Float[np.ndarray, "sets people items"]) -> Float[np.ndarray, " sets"]:
    """Probability that the length of the sum of vectors with random signs is at least that of the sum, of each set."""
    own = np.einsum("spi,spi->sp", vectors, vectors)
    n_people = (own > 0).sum(1)
    least = 2.0 ** (1 - np.maximum(n_people, 1))  # all signs alike, one way or the other: no result is rarer
    turned = vectors.transpose(0, 2, 1)
    gram = turned @ vectors
    observed, mean = (vectors.sum(1) ** 2).sum(1), own.sum(1)
    squared = np.einsum(
        "spi,spi->sp", vectors @ gram, vectors
    )  # diagonal of the square of the Gram matrix of the people
    variance = 2 * ((gram**2).sum((1, 2)) - (own**2).sum(1))
    cubes = (gram @ gram * gram).sum((1, 2))
    third = 8 * (cubes - 3 * (own * squared).sum(1) + 2 * (own**3).sum(1))
    varies = variance > 1e-9 * mean**2  # else the sum is the same whatever the signs, but for rounding
    spread = np.sqrt(np.where(varies, variance, 1.0))
    skew, z = third / spread**3, (observed - mean) / spread
    skewed = varies & (skew > LEAST_SKEW)
    found = np.where(varies, norm.sf(z), 1.0)
    found[skewed] = pearson3.sf(z[skewed], skew[skewed])
    return np.asarray(np.clip(found, least, 1.0))


def _kept_apart(
    joined: Int[np.ndarray, "items groupings items"],
    held: Bool[np.ndarray, "items groupings"],
    by: Int[np.ndarray, " groupings"],
    chance: Float[np.ndarray, " groupings"],
    pairs: tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of people who have each pair, that of those who put it together, and the p-value of so few.

    Of several groupings of a person with the pair, the first counts.
    """
    first, second = pairs
    waiting = np.ones((int(by.max()) + 1, len(first)), dtype=bool)
    counts = np.zeros(len(first), dtype=int)
    chances, which = np.unique(chance, return_inverse=True)
    n_people = np.zeros((len(chances), len(first)), dtype=int)
    for grouping, person in enumerate(by.tolist()):
        new = waiting[person] & held[first, grouping] & held[second, grouping]
        waiting[person] &= ~new
        counts += new & (joined[first, grouping, second] > 0)
        n_people[which[grouping]] += new
    return n_people.sum(0), counts, _p_of_so_few(counts, n_people, chances)


def _p_of_so_few(
    counts: Int[np.ndarray, " sums"], n_people: Int[np.ndarray, "chances sums"], chances: Float[np.ndarray, " chances"]
) -> Float[np.ndarray, " sums"]:
    """Probability that at most so many of people with these chances put a pair together."""
    crowds, crowd = np.unique(n_people, axis=1, return_inverse=True)
    found = np.empty(len(counts))
    for number, sizes in enumerate(crowds.T):
        probability = np.ones(1)
        for n, chance in zip(sizes, chances):
            probability = np.convolve(probability, binom.pmf(np.arange(n + 1), n, chance))
        own = crowd.reshape(-1) == number
        found[own] = np.cumsum(probability)[counts[own]]
    return np.minimum(found, 1.0)


def letters_of(n_items: int, separated: list[tuple[int, int]]) -> list[str] | None:
    """Return letters for items, such that items have none in common if and only if they are separated.

    None if more than 26 letters are needed.

    Examples
    --------
    >>> letters_of(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(n_items))]
    for i, j in separated:
        split = [part for column in columns for part in _without(column, i, j)]
        columns = _drop_nested(split)
        if len(columns) > len(ascii_lowercase):
            return None
    kept = _keep_needed(columns)
    kept.sort(key=sorted)
    return [
        "".join(letter for letter, column in zip(ascii_lowercase, kept) if item in column) for item in range(n_items)
    ]


def _without(column: frozenset[int], i: int, j: int) -> list[frozenset[int]]:
    return [column - {i}, column - {j}] if i in column and j in column else [column]


def _drop_nested(columns: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out columns that are within another."""
    unique = list(dict.fromkeys(columns))
    return [one for one in unique if not any(one < other for other in unique)]


def _keep_needed(columns: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out columns whose items and pairs of items are all in others."""
    kept = list(columns)
    for column in sorted(columns, key=len):
        others = [other for other in kept if other != column]
        pairs = list(combinations(sorted(column), 2)) or [(min(column, default=0),) * 2]
        if others and all(any(a in other and b in other for other in others) for a, b in pairs):
            kept = others
    return kept
