"""Who sorted at random: people whose groups agree with those of the others no better than random groups do.

The agreement of a person u is T_u = Σ s_ij over the pairs of items i, j that u put together, s_ij the share of the
others who put them together, of those who saw both. A random sort keeps the sizes of u's groups and permutes the items
among them, within each grouping; z_u is the number of standard deviations by which T_u exceeds the mean of such sorts.

    z_u | u sorts at random ~ Pearson III with the skewness of u's random sorts, mean 0, variance 1
    z_u | u does not        ~ Normal(μ, σ²), σ ≥ 1, the rest of the crowd
    u sorts at random       ~ Bernoulli(π), π ~ Beta(1, 4)

π, μ and σ are found by EM; the probability of being random is the posterior. Mean, variance and skewness of T_u of all
such sorts are known in closed form (`permutation_moments`), as is the p-value of Pearson III.

Decided here
------------
A p-value of Pearson III from .005 to .2 is replaced by the share of sorts that are drawn. Pearson III alone has a level
of up to .2 in place of .05 where few items or pairs let T_u have few values; but of 750 cases of 4 to 50 items, in none
was a p-value above .05 where Pearson III has less than .005, or below .05 where it has more than .2
(``python -m benchmarks.random_levels``). 400 sorts have a standard error of .011 at .05: where the share of them is
within three standard errors of .05, 10,000 are drawn, or as many as have 2 · 10⁷ pairs in groups.

People who are probably random say nothing about the items, so the others are weighed by the probability that they
are not random, and all is repeated, at most twice. The probability does not rise with z: below the mean of random
sorts, it is that of the mean. Nobody is marked whose agreement fewer than one random sort in twenty reaches. If the
others are not above random sorts by two standard deviations on average (μ < 2), random and careful people cannot be
told apart: the probabilities are unknown, and nobody is marked.

The same holds for a person who shares too few items with the others, or where the others agree too little. Somebody who
puts two items together as often as the others do has the expected z

    E z = Σ (s_ij - s̄)² / σ₀   over the pairs of items that u saw and others saw, too,

with s̄ the mean of s_ij over all pairs, and σ₀ the standard deviation of T_u of random sorts. It must be 3.8: then
somebody who agrees six tenths as much is above 19 of 20 random sorts, three times out of four. With less, a high
p-value says nothing; one below .005 says as much as anybody's, since its level does not depend on what is expected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.stats import norm, pearson3

from consilience.analysis.permutation_moments import PermutationSums, central_moments, moments_of_permutations
from consilience.annotations import Groupings

THRESHOLD = 0.5  # posterior probability from which somebody is marked
P_VALUE = 0.05  # agreement that fewer random sorts reach is not marked
DOUBTFUL = (0.005, 0.2)  # p-values that are counted among random sorts
N_PERMUTATIONS = 400
MOST_PERMUTATIONS, MOST_DRAWN_PAIRS = 10_000, 20_000_000  # where these leave open on which side of P_VALUE the share is
CLOSE = 3.0  # standard errors
MOST_PAIRS = 2_000_000  # looked up for a person at a time
MOST_CELLS, MOST_GROUPINGS = 200_000_000, 5000  # of items × items × annotators; of all annotators
FEWEST_ANNOTATORS = 4
PASSES = 3
SAME_WEIGHT = 1e-6  # that nobody's weight changes by, or another pass is made
FARTHEST = 30.0  # standard deviations, beyond which a density is as good as zero and its logarithm is lost
EM_STEPS = 100
PRIOR_RANDOM, PRIOR_NOT = 1.0, 4.0  # imagined people of either kind
LEAST_MEAN, LEAST_SPREAD = 2.0, 1.0
CAREFUL = 1.645  # z that one random sort in twenty exceeds
LEAST_EXPECTED = 3.8  # z of somebody who sorts like the others; with less, nothing is said of a person
MOST_SKEW = 3.0


@dataclass(frozen=True)
class PersonSort:
    """A grouping of a person.

    items : the items in it
    places : of these items among all items of the person
    pairs : the places, among the items of the grouping, of each two that are together
    sums : of these pairs, see `PermutationSums`
    """

    items: Int[np.ndarray, " items"]
    places: Int[np.ndarray, " items"]
    pairs: Int[np.ndarray, "2 pairs"]
    sums: PermutationSums


@dataclass(frozen=True)
class AgainstRandom:
    """The agreement of each person with the others, against that of random sorts; NaN where all sorts agree equally."""

    z: Float[np.ndarray, " annotators"]
    skew: Float[np.ndarray, " annotators"]
    expected: Float[np.ndarray, " annotators"]

    @property
    def p_value(self) -> Float[np.ndarray, " annotators"]:
        """That of Pearson III with this skewness."""
        return pearson3.sf(self.z, self.skew)


def random_sorters(groupings: Groupings, *, random_state: int = 0) -> pd.DataFrame | None:
    """Return for each annotator how probable it is that they sorted at random.

    Parameters
    ----------
    groupings : Groupings
    random_state : int
        Seed of the random sorts that are drawn where the p-value is from .005 to .2.

    Returns
    -------
    DataFrame, one row for each annotator, or None
        ``z``, by how many standard deviations the agreement with the others exceeds that of random sorts with groups of
        the same sizes; ``p_value``, the share of such sorts that agree as well; ``probability`` that the annotator is
        one who sorts at random; ``random``, whether they are marked; ``expected_z``, that of somebody who sorts like
        the others; ``tested``, whether this is large enough for a high p-value to say something, or the p-value is
        below .005. NaN, and not marked, where every sort into groups of these sizes agrees as well: all items in one
        group, each alone, or seen by nobody else; the probability is NaN for all if the annotators agree too little to
        tell. None if there are fewer than four annotators, more than 5000 groupings, or more than 2 · 10⁸ pairs of
        items × annotators.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience import Groupings
    >>> from consilience.inspection import random_sorters
    >>> sorts = np.repeat(np.arange(20)[:, None] % 4, 8, axis=1)
    >>> sorts[:, 5] = np.random.default_rng(0).permutation(sorts[:, 5])
    >>> random_sorters(Groupings.from_matrix(sorts))["random"].tolist()
    [False, False, False, False, False, True, False, False]
    """
    n = groupings.n_annotators
    too_large = groupings.n_items**2 * n > MOST_CELLS or groupings.n_groupings > MOST_GROUPINGS
    if n < FEWEST_ANNOTATORS or too_large:
        return None
    sorts = _sorts_of(groupings)
    weight = np.ones(n)
    for _ in range(PASSES):
        weighed = WeighedPairs.of(groupings.n_items, sorts, weight)
        found = _against_random(sorts, weighed)
        tested = found.expected >= LEAST_EXPECTED
        probability = _posterior(np.where(tested, found.z, np.nan), np.clip(found.skew, 0, MOST_SKEW))
        weight = 1 - np.nan_to_num(probability)
        if np.abs(weight - weighed.weight).max() < SAME_WEIGHT:
            break
    p_value = _p_values(found, sorts, weighed, np.random.default_rng(random_state))
    tested |= np.nan_to_num(p_value, nan=1.0) < DOUBTFUL[0]
    marked = (np.nan_to_num(probability) >= THRESHOLD) & (np.nan_to_num(p_value) >= P_VALUE)
    return pd.DataFrame(
        {
            "z": found.z,
            "p_value": p_value,
            "probability": probability,
            "random": marked,
            "expected_z": found.expected,
            "tested": tested,
        },
        index=groupings.annotators.rename("annotator"),
    )


def _sorts_of(groupings: Groupings) -> list[list[PersonSort]]:
    """Return the groupings of each annotator."""
    members = groupings.incidence.tocsc()
    groups: list[list[np.ndarray]] = [[] for _ in range(groupings.n_groupings)]
    for group, grouping in enumerate(groupings.grouping_of_group):
        inside = members.indices[members.indptr[group] : members.indptr[group + 1]]
        groups[grouping].append(np.asarray(inside, dtype=np.intp))
    by_annotator: list[list[list[np.ndarray]]] = [[] for _ in range(groupings.n_annotators)]
    for grouping, annotator in enumerate(groupings.annotator_of_grouping):
        if any(len(each) for each in groups[grouping]):
            by_annotator[annotator].append(groups[grouping])
    pairs_of = cache(lambda size: np.array(np.triu_indices(size, 1)))  # most groups are of a few sizes
    return [_sort_of(each, pairs_of) for each in by_annotator]


def _sort_of(groupings: list[list[np.ndarray]], pairs_of: Callable[[int], np.ndarray]) -> list[PersonSort]:
    """Return the groupings of one annotator, each a list of the items of its groups.

    pairs_of : function from the size of a group to the places of its pairs.
    """
    inside = [np.unique(np.concatenate(groups)) for groups in groupings]
    items = np.unique(np.concatenate([*inside, np.empty(0, dtype=np.intp)]))
    sort = []
    for groups, of_grouping in zip(groupings, inside, strict=True):
        places = [np.searchsorted(of_grouping, each) for each in groups]
        pairs = np.concatenate([each[pairs_of(len(each))] for each in places], axis=1)
        sums = PermutationSums.of_groups(np.array([len(each) for each in groups], dtype=float))
        sort.append(PersonSort(of_grouping, np.searchsorted(items, of_grouping), pairs, sums))
    return sort


@dataclass(frozen=True)
class WeighedPairs:
    """How often two items were put together, and seen together, each annotator weighed.

    together, seen : sums of the annotators' weights
    weight : of each annotator
    share, known : of those who saw two items, the share that put them together, and whether anybody saw them
    total, number : their sums
    """

    together: Float[np.ndarray, "items items"]
    seen: Float[np.ndarray, "items items"]
    weight: Float[np.ndarray, " annotators"]
    share: Float[np.ndarray, "items items"]
    known: Bool[np.ndarray, "items items"]
    total: float
    number: int

    @classmethod
    def of(cls, n_items: int, sorts: list[list[PersonSort]], weight: Float[np.ndarray, " annotators"]) -> WeighedPairs:
        """Count the pairs of all annotators."""
        together, seen = np.zeros((2, n_items, n_items))
        for sort, of_sort in zip(sorts, weight, strict=True):
            for one in sort:
                a, b = one.items[one.pairs]
                np.add.at(together, (a, b), of_sort)
                seen[_block(one.items, n_items)] += of_sort
        together += together.T
        share, known = _shares(together, seen)
        return cls(together, seen, weight, share, known, float(share.sum()), int(known.sum()))

    def of_others(self, annotator: int, sort: list[PersonSort]) -> Float[np.ndarray, "items items"]:
        """Return the shares of the others among the items of an annotator, less their mean over all items."""
        items = np.unique(np.concatenate([one.items for one in sort]))
        block = _block(items, len(self.share))
        together, seen = self.together[block].copy(), self.seen[block].copy()
        total, number = self.total - self.share[block].sum(), self.number - self.known[block].sum()
        own = self.weight[annotator]
        for one in sort:
            a, b = one.places[one.pairs]
            np.subtract.at(together, (a, b), own)
            np.subtract.at(together, (b, a), own)
            seen[_block(one.places, len(items))] -= own
        share, known = _shares(together, seen)
        mean = (total + share.sum()) / max(int(number + known.sum()), 1)
        return np.where(known, share - mean, 0.0)


def _block(places: Int[np.ndarray, " chosen"], n: int) -> Any:
    """Return the index of the rows and columns at some of n places, which is quicker for all."""
    return np.ix_(places, places) if len(places) < n else np.s_[:, :]


def _shares(together: np.ndarray, seen: np.ndarray) -> tuple[Float[np.ndarray, "items items"], np.ndarray]:
    """Return the share of those who saw two items that put them together, and where anybody saw them; 0 elsewhere."""
    known = seen > 1e-9  # what is left where nobody else saw both is rounding of weights
    np.fill_diagonal(known, False)
    return np.divide(together, seen, out=np.zeros_like(together), where=known), known


def _against_random(sorts: list[list[PersonSort]], weighed: WeighedPairs) -> AgainstRandom:
    """Compare the agreement of each annotator with the moments of that of random sorts."""
    found = np.full((len(sorts), 3), np.nan)
    for annotator, sort in enumerate(sorts):
        if sort:
            found[annotator] = _compare_with_random(sort, weighed.of_others(annotator, sort))
    return AgainstRandom(*found.T)


def _compare_with_random(sort: list[PersonSort], share: np.ndarray) -> tuple[float, float, float]:
    """Return z, the skewness of random sorts, and the z expected of somebody who sorts like the others."""
    cumulants, signal, scale = np.zeros(3), 0.0, 0.0
    for one in sort:
        inside = share[_block(one.places, len(share))]
        sums = PermutationSums.of_matrix(inside)
        cumulants += central_moments(*moments_of_permutations(one.sums, sums, len(one.items)))
        signal += sums.twos[0]  # of squares
        scale += one.sums.ones * float(np.abs(inside).max())
    mean, variance, third = cumulants
    # every permutation agrees equally, but for rounding: nothing can be tested
    if variance <= (1e-6 * scale) ** 2:
        return (np.nan,) * 3
    spread = float(np.sqrt(variance))
    return (_agreement(sort, share) - mean) / spread, third / spread**3, signal / spread


def _agreement(sort: list[PersonSort], share: np.ndarray) -> float:
    """Return the sum of the shares of the pairs that a person put together."""
    return sum(float(share[tuple(one.places[one.pairs])].sum()) for one in sort)


def _p_values(
    found: AgainstRandom, sorts: list[list[PersonSort]], weighed: WeighedPairs, rng: np.random.Generator
) -> Float[np.ndarray, " annotators"]:
    """Return the p-value of each annotator; those where Pearson III may decide wrongly are counted."""
    p_value = found.p_value
    low, high = DOUBTFUL
    for annotator in np.flatnonzero((p_value >= low) & (p_value <= high)).tolist():
        sort = sorts[annotator]
        p_value[annotator] = _share_as_high(sort, weighed.of_others(annotator, sort), rng)
    return p_value


def _share_as_high(sort: list[PersonSort], share: np.ndarray, rng: np.random.Generator) -> float:
    """Return the share of random sorts that agree as well, the person's own among them; of more where it is close."""
    observed = _agreement(sort, share)
    least = observed - 1e-9 * max(abs(observed), 1)  # equal but for rounding counts as reached
    reached = _agreements_of_random(sort, share, N_PERMUTATIONS, rng) >= least
    found = (1 + reached.sum()) / (1 + N_PERMUTATIONS)
    error = np.sqrt(P_VALUE * (1 - P_VALUE) / N_PERMUTATIONS)
    n_pairs = sum(one.pairs.shape[1] for one in sort)
    n_more = min(MOST_PERMUTATIONS, MOST_DRAWN_PAIRS // max(n_pairs, 1)) - N_PERMUTATIONS
    if abs(found - P_VALUE) > CLOSE * error or n_more <= 0:
        return float(found)
    further = _agreements_of_random(sort, share, n_more, rng) >= least
    return float((1 + reached.sum() + further.sum()) / (1 + N_PERMUTATIONS + n_more))


def _agreements_of_random(
    sort: list[PersonSort], share: np.ndarray, n_sorts: int, rng: np.random.Generator
) -> Float[np.ndarray, " draws"]:
    """Return the agreements of random sorts, those of as few at a time as memory asks for."""
    drawn = np.zeros(n_sorts)
    for one in sort:
        a, b = one.pairs
        at_a_time = int(np.clip(MOST_PAIRS // max(len(a), 1), 1, n_sorts))
        for first in range(0, n_sorts, at_a_time):
            part = drawn[first : first + at_a_time]
            order = rng.permuted(np.tile(one.places, (len(part), 1)), axis=1)
            part += share[order[:, a], order[:, b]].sum(1)
    return drawn


def _posterior(z: Float[np.ndarray, " annotators"], skew: np.ndarray) -> Float[np.ndarray, " annotators"]:
    """Return the probability that each annotator is random, by EM; NaN where z is."""
    known = np.isfinite(z)
    probability = np.full(len(z), np.nan)
    if not known.any():
        return probability
    z, skew = z[known], skew[known]
    random = _density(z, skew)
    careful = z > CAREFUL
    share = (PRIOR_RANDOM + (~careful).sum()) / (PRIOR_RANDOM + PRIOR_NOT + len(z))
    mean, spread = _moments(z, careful.astype(float))
    for _ in range(EM_STEPS):
        # below 0 as at 0, as in `_density`: how far below tells nothing
        other = norm.pdf(np.maximum(z, 0.0), mean, spread)
        posterior = share * random / (share * random + (1 - share) * other + 1e-300)  # not 0 / 0 where both vanish
        share = (PRIOR_RANDOM + posterior.sum()) / (PRIOR_RANDOM + PRIOR_NOT + len(z))
        mean, spread = _moments(z, 1 - posterior)
    if mean > LEAST_MEAN:
        probability[known] = posterior
    return probability


def _density(z: np.ndarray, skew: np.ndarray) -> np.ndarray:
    """Return the density of z under random sorts; below their mean, that at the mean."""
    return pearson3.pdf(np.clip(z, 0.0, FARTHEST), skew)


def _moments(z: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return mean and spread of the z of those who are not random, within bounds."""
    total = float(weight.sum())
    if total < 1e-6:
        return LEAST_MEAN, LEAST_SPREAD
    mean = max(float((weight * z).sum() / total), LEAST_MEAN)
    return mean, max(float(np.sqrt((weight * (z - mean) ** 2).sum() / total)), LEAST_SPREAD)


def are_at_chance(found: pd.DataFrame) -> pd.Series:
    """Whether each annotator was tested, and one random sort in twenty or more agrees as well."""
    return (found["p_value"] >= P_VALUE) & found["tested"]


def marked_names(found: Any) -> list[Any]:
    """Return the names of those who are marked, the most probable first; none if `found` is None."""
    if found is None:
        return []
    return found[found["random"]].sort_values("probability", ascending=False, kind="stable").index.tolist()
