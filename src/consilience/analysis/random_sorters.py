"""Who sorted at random: people whose groups agree with those of the others no better than random groups do.

The agreement of a person u is T_u = Σ s_ij over the pairs of items i, j that u put together, s_ij the share of the
others who put them together, of those who saw both. A random sort keeps the sizes of u's groups and permutes the items
among them, within each grouping; z_u is the number of standard deviations by which T_u exceeds the mean of such sorts.

    z_u | u sorts at random ~ Pearson III with the skewness of u's random sorts, mean 0, variance 1
    z_u | u does not        ~ Normal(μ, σ²), σ ≥ 1, the rest of the crowd
    u sorts at random       ~ Bernoulli(π), π ~ Beta(1, 4)

π, μ and σ are found by EM; the probability of being random is the posterior.

Decided here
------------
People who are probably random say nothing about the items, so the others are weighed by the probability that they
are not random, and all is repeated twice. The probability does not rise with z: below the mean of random sorts, it is
that of the mean. Nobody is marked whose agreement fewer than one random sort in twenty reaches. If the others are not
above random sorts by two standard deviations on average (μ < 2), random and careful people cannot be told apart: the
probabilities are unknown, and nobody is marked.

The same holds for a person who shares too few items with the others, or where the others agree too little. Somebody who
puts two items together as often as the others do has the expected z

    E z = Σ (s_ij - s̄)² / σ₀   over the pairs of items that u saw and others saw, too,

with s̄ the mean of s_ij over all pairs, and σ₀ the standard deviation of T_u of random sorts. It must be 3.8: then
somebody who agrees six tenths as much is above 19 of 20 random sorts, three times out of four.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.stats import norm, pearson3

from consilience.annotations import Groupings

THRESHOLD = 0.5  # posterior probability from which somebody is marked
P_VALUE = 0.05  # agreement that fewer random sorts reach is not marked
N_PERMUTATIONS = 400
MOST_PAIRS = 2_000_000  # looked up for a person, or fewer permutations are drawn
FEWEST_PERMUTATIONS = 50
MOST_CELLS, MOST_GROUPINGS = 200_000_000, 5000  # of items × items × annotators; of all annotators
FEWEST_ANNOTATORS = 4
PASSES = 3
FARTHEST = 30.0  # standard deviations, beyond which a density is as good as zero and its logarithm is lost
EM_STEPS = 100
PRIOR_RANDOM, PRIOR_NOT = 1.0, 4.0  # imagined people of either kind
LEAST_MEAN, LEAST_SPREAD = 2.0, 1.0
CAREFUL = 1.645  # z that one random sort in twenty exceeds
LEAST_EXPECTED = 3.8  # z of somebody who sorts like the others; with less, nothing is said of a person
MOST_SKEW = 3.0

# for each grouping of a person its items, and which two of them are together, as places among them: (items, (2, pairs))
Sort = list[tuple[np.ndarray, np.ndarray]]


def random_sorters(groupings: Groupings, *, random_state: int = 0) -> pd.DataFrame | None:
    """Return for each annotator how probable it is that they sorted at random.

    Parameters
    ----------
    groupings : Groupings
    random_state : int
        Seed of the random sorts.

    Returns
    -------
    DataFrame, one row for each annotator, or None
        ``z``, by how many standard deviations the agreement with the others exceeds that of random sorts with groups of
        the same sizes; ``p_value``, the share of such sorts that agree as well; ``probability`` that the annotator is
        one who sorts at random; ``random``, whether they are marked. NaN, and not marked, where every sort into groups
        of these sizes agrees as well: all items in one group, each alone, or seen by nobody else; the probability is
        NaN for all if the annotators agree too little to tell. None if there are fewer than four annotators, more than
        5000 groupings, or more than 2 · 10⁸ pairs of items × annotators.

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
    rng = np.random.default_rng(random_state)
    sorts = _sorts_of(groupings)
    probability = np.zeros(n)
    for _ in range(PASSES):
        weight = 1 - np.nan_to_num(probability)
        z, skew, p_value, expected = _against_random(groupings, sorts, weight, rng)
        tested = expected >= LEAST_EXPECTED
        probability = _posterior(np.where(tested, z, np.nan), skew)
    marked = (np.nan_to_num(probability) >= THRESHOLD) & (np.nan_to_num(p_value) >= P_VALUE)
    return pd.DataFrame(
        {
            "z": z,
            "p_value": p_value,
            "probability": probability,
            "random": marked,
            "expected_z": expected,
            "tested": tested,
        },
        index=groupings.annotators.rename("annotator"),
    )


def _sorts_of(groupings: Groupings) -> list[Sort]:
    """Return the groupings of each annotator: the items of each, and the pairs of places that are together."""
    members = groupings.incidence.tocsc()
    groups: list[list[np.ndarray]] = [[] for _ in range(groupings.n_groupings)]
    for group, grouping in enumerate(groupings.grouping_of_group):
        inside = members.indices[members.indptr[group] : members.indptr[group + 1]]
        groups[grouping].append(np.asarray(inside, dtype=np.intp))
    sorts: list[Sort] = [[] for _ in range(groupings.n_annotators)]
    for grouping, annotator in enumerate(groupings.annotator_of_grouping):
        if any(len(each) for each in groups[grouping]):
            items = np.unique(np.concatenate(groups[grouping]))
            places = [np.searchsorted(items, each) for each in groups[grouping]]
            pairs = [each[np.array(np.triu_indices(len(each), 1))] for each in places]
            sorts[annotator].append((items, np.concatenate(pairs, axis=1)))
    return sorts


def _against_random(
    groupings: Groupings, sorts: list[Sort], weight: Float[np.ndarray, " annotators"], rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Return z, the skewness of the random sorts, the p-value, and the z expected of each annotator."""
    together, seen = _counts(groupings, sorts, weight)
    found = np.full((groupings.n_annotators, 4), np.nan)
    for annotator, sort in enumerate(sorts):
        own_together, own_seen = _counts_of(sort, groupings.n_items)
        share = _share(together - weight[annotator] * own_together, seen - weight[annotator] * own_seen)
        observed, drawn = _agreements(sort, share, rng)
        spread = drawn.std()
        # every permutation agrees equally, but for rounding: nothing can be tested
        if spread <= 1e-9 * max(abs(observed), 1):
            continue
        scores = (drawn - drawn.mean()) / spread
        # equal but for rounding counts as reached
        p_value = (1 + (drawn >= observed - 1e-9 * max(abs(observed), 1)).sum()) / (1 + len(drawn))
        skew = np.clip((scores**3).mean(), 0, MOST_SKEW)
        found[annotator] = (observed - drawn.mean()) / spread, skew, p_value, _signal(sort, share) / spread
    return tuple(found.T)


def _counts(groupings: Groupings, sorts: list[Sort], weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how often two items were put together, and seen together, each annotator weighed."""
    together, seen = np.zeros((2, groupings.n_items, groupings.n_items))
    for sort, of_sort in zip(sorts, weight, strict=True):
        for items, (a, b) in sort:
            np.add.at(together, (items[a], items[b]), of_sort)
            seen[np.ix_(items, items)] += of_sort
    return together + together.T, seen


def _counts_of(sort: Sort, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    together, seen = np.zeros((2, n_items, n_items))
    for items, (a, b) in sort:
        np.add.at(together, (items[a], items[b]), 1.0)
        seen[np.ix_(items, items)] += 1.0
    return together + together.T, seen


def _share(together: np.ndarray, seen: np.ndarray) -> Float[np.ndarray, "items items"]:
    """Return the share of those who saw two items that put them together, less its mean; 0 where nobody saw them."""
    known = seen > 1e-9  # what is left where nobody else saw both is rounding of weights
    np.fill_diagonal(known, False)
    share = np.divide(together, seen, out=np.zeros_like(together), where=known)
    mean = share.sum() / max(int(known.sum()), 1)
    return np.where(known, share - mean, 0.0)


def _agreements(sort: Sort, share: np.ndarray, rng: np.random.Generator) -> tuple[float, Float[np.ndarray, " draws"]]:
    """Return the agreement of a person, and those of random sorts."""
    n_pairs = sum(pairs.shape[1] for _, pairs in sort)
    n_draws = int(np.clip(MOST_PAIRS // max(n_pairs, 1), FEWEST_PERMUTATIONS, N_PERMUTATIONS))
    observed, drawn = 0.0, np.zeros(n_draws)
    for items, (a, b) in sort:
        observed += float(share[items[a], items[b]].sum())
        order = rng.permuted(np.tile(items, (n_draws, 1)), axis=1)
        drawn += share[order[:, a], order[:, b]].sum(1)
    return observed, drawn


def _signal(sort: Sort, share: np.ndarray) -> float:
    """Return by how much the agreement of somebody who sorts like the others is expected to exceed a random one's."""
    return sum(float((share[np.ix_(items, items)] ** 2).sum()) / 2 for items, _ in sort)


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
    within = np.clip(z, 0.0, FARTHEST)
    return np.array([pearson3.pdf(one, three) for one, three in zip(within.tolist(), skew.tolist(), strict=True)])


def _moments(z: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return mean and spread of the z of those who are not random, within bounds."""
    total = float(weight.sum())
    if total < 1e-6:
        return LEAST_MEAN, LEAST_SPREAD
    mean = max(float((weight * z).sum() / total), LEAST_MEAN)
    return mean, max(float(np.sqrt((weight * (z - mean) ** 2).sum() / total)), LEAST_SPREAD)


def marked_names(found: Any) -> list[Any]:
    """Return the names of those who are marked, the most probable first; none if `found` is None."""
    if found is None:
        return []
    return found[found["random"]].sort_values("probability", ascending=False, kind="stable").index.tolist()
