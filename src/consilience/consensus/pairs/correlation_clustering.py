"""Correlation clustering of judged pairs: a partition, and the sensitivity and specificity of every annotator.

Bansal, Blum & Chawla (2004), Correlation clustering, Machine Learning 56: given a weight for every pair, positive for
"same" and negative for "different", find the partition with the largest sum of weights within clusters. Here a weight
is the log-odds of the judgements of the pair under rates of the annotators that are learned with the partition (Dawid &
Skene 1979), so that the number of clusters need not be known. Heuristics as compared by Elsner & Schudy (2009),
Bounding and comparing methods for correlation clustering beyond ILP.

Model
-----
    z             ~ every cluster of an item equally probable a priori, given their number K
    p_m1, p_m0    ~ Beta(a, b)                       sensitivity and specificity of annotator m
    S_ijm         "same" with probability p_m1 if z_i = z_j, "different" with probability p_m0 if not

Symbols
-------
    here           shape
    cluster        (items,)                          z
    right          (2, annotators, 2)                Beta parameters of q(p_m0) and q(p_m1): right and wrong judgements
    log_odds       (pairs,)                          w_ij, of all judgements of a pair together
    prior_of       (items + 1,)                      Φ(K), log prior of K clusters
    unjudged       number                            u ≤ 0, log-odds of a pair that nobody judged

Objective, with everything but z integrated out, nats
-----------------------------------------------------
    F(z) = ln p(S | z) + Φ(K) + u · (number of unjudged pairs within clusters)

Updates, none of which lowers F
-------------------------------
    merge   two clusters, by Σ w_ij over all judged pairs between them
    move    an item into another cluster or alone
    split   a cluster by the sign of the leading eigenvector of its weights
    q(p_mc) = Beta(a + right, b + wrong judgements of the pairs within (c = 1) or between clusters (c = 0))

Decided here
------------
- **Φ(K).** With equally probable clusters, Φ(K) = ln K! − n ln K. One merge changes it by about n / K − ln K: it is a
  reason to merge where clusters are large, and one not to where they are small. With a prior that prefers large
  clusters, as the Chinese restaurant process does, hundreds of small clusters become few. Pairs to judge are often
  chosen because they look alike. So a merge costs at most the log-odds of "different" among the judged pairs, each by
  its majority.
- **Unjudged pairs.** One wrong "same" between two clusters of several items should not join them where their other
  pairs would have been judged if they belonged together. If i, j were judged "same" and j, k too, is i, k judged more
  often than if j, k were judged "different"? With these two rates, s and d, u = ln (1 − s) / (1 − d), by bounds of
  three standard errors; 0 if s is not clearly above d, as where pairs are drawn at random or in batches.
- Several merges, moves or splits are made at a time, those of highest gain first. F is then computed anew; if it did
  not rise, half of them are made instead, and so on: no loop over items is needed, and F never falls.
- **Starts.** All items apart, under several guesses of the annotators' rates; all together; and random partitions. Of
  at most twelve items, all partitions are compared instead, up to 4,213,597.
- Of at most twenty items, a sweep also makes the best change of one or two items under F itself, until none raises it:
  of 60 problems of ten items, 1 instead of 17 then had another partition than the best of all 115,975.
- The judgements that a grouping implies count as if they were independent. They are not, and probabilities are then too
  sure; but with a weight of 2/m each for m items, clusters in simulated groupings were less like the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import gammaln

from consilience.inference.exponential_family import expected_log_dirichlet, log_normalizer_dirichlet

N_BATCHES = 10  # of items that are moved at a time
MOST_PATHS = 5_000_000  # of two judged pairs, by which u is estimated; of more, a sample
STANDARD_ERRORS = 3.0
OFF_NUMBER = 1e6  # log prior of one cluster more or less than requested

Clusters = Int[np.ndarray, " _"]  # codes of clusters, or of items
PerPair = Float[np.ndarray, " pairs"]
Right = Float[np.ndarray, "sides annotators outcomes"]


@dataclass(frozen=True)
class CorrelationClusteringProblem:
    """Judgements, and the prior; see the module docstring.

    first, second : items of each different pair that was judged.
    pair, annotator, same : of each judgement.
    reliability : a and b.
    batches : items that are moved together.
    direction : of each item, from which the leading eigenvectors are sought.
    """

    n_items: int
    n_annotators: int
    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    pair: Int[np.ndarray, " judgements"]
    annotator: Int[np.ndarray, " judgements"]
    same: Bool[np.ndarray, " judgements"]
    reliability: Float[np.ndarray, " outcomes"]
    prior_of: Float[np.ndarray, " numbers"]
    unjudged: float
    batches: tuple[Int[np.ndarray, " _"], ...]
    direction: Float[np.ndarray, " items"]

    @classmethod
    def of(
        cls,
        item_a: Int[np.ndarray, " judgements"],
        item_b: Int[np.ndarray, " judgements"],
        annotator: Int[np.ndarray, " judgements"],
        same: Bool[np.ndarray, " judgements"],
        *,
        shape: tuple[int, int],
        reliability: tuple[float, float],
        n_clusters: int | None,
        rng: np.random.Generator,
    ) -> CorrelationClusteringProblem:
        """Problem of judgements of (items, annotators); every item has some."""
        n_items, n_annotators = shape
        # codes of pairs exceed 32 bits
        code, pair = np.unique(item_a * np.int64(n_items) + item_b, return_inverse=True)
        first, second = np.divmod(code, n_items)
        majority = np.sign(np.bincount(pair, np.where(same, 1.0, -1.0), len(code)))
        return cls(
            n_items=n_items,
            n_annotators=n_annotators,
            first=first,
            second=second,
            pair=pair,
            annotator=annotator,
            same=same,
            reliability=np.asarray(reliability, dtype=float),
            prior_of=log_prior(n_items, majority, n_clusters),
            unjudged=log_odds_of_unjudged(n_items, first, second, majority, rng),
            batches=tuple(np.array_split(rng.permutation(n_items), min(N_BATCHES, n_items))),
            direction=rng.standard_normal(n_items),
        )

    @cached_property
    def senders(self) -> Int[np.ndarray, " directed"]:
        """The items that send messages over the pairs, first to second and then back."""
        return np.concatenate([self.first, self.second])

    @cached_property
    def into_items(self) -> csr_array:
        """Which item each message is for, of shape (items, directed)."""
        receivers = np.concatenate([self.second, self.first])
        number = np.arange(len(receivers))
        return csr_array((np.ones(len(receivers)), (receivers, number)), shape=(self.n_items, len(receivers)))

    def matrix(self, values: PerPair) -> csr_array:
        """Symmetric sparse matrix with these values of the pairs."""
        return _symmetric(self.n_items, self.first, self.second, values)


@dataclass(frozen=True)
class CorrelationClusteringState:
    """z and q(p); see the module docstring. Clusters are numbered from 0 without gaps."""

    cluster: Clusters
    right: Right

    @property
    def n_clusters(self) -> int:
        """K."""
        return int(self.cluster.max()) + 1


def log_prior(
    n_items: int, majority: Float[np.ndarray, " pairs"], n_clusters: int | None
) -> Float[np.ndarray, " numbers"]:
    """Φ(K) for K = 0, …, n + 1; the ends are not used. `n_clusters` is the number requested, if any."""
    number = np.arange(1, n_items + 2)
    share = (np.sum(majority > 0) + np.sum(majority == 0) / 2 + 1) / (len(majority) + 2)
    increments = np.diff(gammaln(number + 1) - n_items * np.log(number))
    cheapest = np.minimum(increments, np.log((1 - share) / share))
    prior = np.append(0.0, np.cumsum(cheapest))
    if n_clusters is not None:
        prior -= OFF_NUMBER * np.abs(number - n_clusters)
    return np.append(0.0, prior)


def log_odds_of_unjudged(
    n_items: int,
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
    majority: Float[np.ndarray, " pairs"],
    rng: np.random.Generator,
) -> float:
    """Estimate u, from whether the third pair of items was judged where two were."""
    judged = _symmetric(n_items, first, second, np.ones(len(first)))
    centres = rng.permutation(n_items)
    n_paths = np.cumsum(np.diff(judged.indptr)[centres].astype(float) ** 2)
    centres = centres[: max(int(np.searchsorted(n_paths, MOST_PATHS)), 1)]
    alike, different = (
        _symmetric(n_items, first[chosen], second[chosen], np.ones(int(chosen.sum())))
        for chosen in (majority > 0, majority < 0)
    )

    def bound(other: csr_array, sign: float) -> float | None:
        paths = csr_array(alike[:, centres] @ other[centres])
        paths.setdiag(0)  # from an item to itself and back
        total, closed = paths.sum(), paths.multiply(judged).sum()
        rate = (closed + 1) / (total + 2)  # imagined, so that no rate is 0 or 1
        return None if not total else float(rate + sign * STANDARD_ERRORS * np.sqrt(2 * rate * (1 - rate) / total))

    low, high = bound(alike, -1.0), bound(different, 1.0)
    return 0.0 if low is None or high is None or low <= high else float(np.log((1 - low) / (1 - high)))


def objective(state: CorrelationClusteringState, problem: CorrelationClusteringProblem) -> float:
    """F(z), with q(p) at its optimum."""
    return weigh_objective(state, problem, np.ones(problem.n_annotators))


def weigh_objective(
    state: CorrelationClusteringState, problem: CorrelationClusteringProblem, weights: Float[np.ndarray, " annotators"]
) -> float:
    """F(z), with q(p) at its optimum, where the judgements of each annotator have a weight."""
    prior = log_normalizer_dirichlet(problem.reliability)
    judgements = weights @ (2 * prior - log_normalizer_dirichlet(state.right).sum(0))
    return float(judgements + problem.prior_of[state.n_clusters] + _of_unjudged(state.cluster, problem))


def rates_of_partition(problem: CorrelationClusteringProblem, cluster: Clusters) -> Right:
    """q(p), given a partition."""
    return rates(problem, _within(problem, cluster))


def rates(problem: CorrelationClusteringProblem, within: PerPair) -> Right:
    """q(p), given the probability that each pair is of one cluster."""
    of_judgement = within[problem.pair]
    right = np.empty((2, problem.n_annotators, 2))
    for side, share in enumerate((1 - of_judgement, of_judgement)):
        for outcome, chosen in enumerate((problem.same == side, problem.same != side)):
            count = np.bincount(problem.annotator[chosen], share[chosen], problem.n_annotators)
            right[side, :, outcome] = problem.reliability[outcome] + count
    return right


def log_odds_of_pairs(
    problem: CorrelationClusteringProblem, right: Right, weights: Float[np.ndarray, " annotators"] | None = None
) -> PerPair:
    """Σ over the judgements of a pair of E ln p(S | one cluster) − E ln p(S | two clusters).

    weights : of the annotators; by default 1.
    """
    expected = expected_log_dirichlet(right)
    same, different = expected[1, :, 0] - expected[0, :, 1], expected[1, :, 1] - expected[0, :, 0]
    if weights is not None:
        same, different = weights * same, weights * different
    by = problem.annotator
    return np.bincount(problem.pair, np.where(problem.same, same[by], different[by]), len(problem.first))


def conditional_shares(
    state: CorrelationClusteringState, problem: CorrelationClusteringProblem
) -> Float[np.ndarray, "items clusters"]:
    """Probability of each cluster of an item, given those of all others; 0 for clusters without a judged pair to it."""
    sizes, n_clusters = np.bincount(state.cluster), state.n_clusters
    log_odds = log_odds_of_pairs(problem, state.right)
    everything = np.arange(problem.n_items)
    sums = sum_over_clusters(problem.matrix(log_odds - problem.unjudged), state.cluster, everything)
    score = np.full((problem.n_items, n_clusters), -np.inf)
    row = np.repeat(everything, np.diff(sums.indptr))
    score[row, sums.indices] = sums.data + problem.unjudged * sizes[sums.indices]
    own = score[everything, state.cluster]
    alone = problem.prior_of[n_clusters] - problem.prior_of[n_clusters - 1] if n_clusters > 1 else 0.0
    own = np.where(np.isfinite(own), own, problem.unjudged * sizes[state.cluster]) - problem.unjudged
    score[everything, state.cluster] = np.where(sizes[state.cluster] == 1, alone, own)
    score -= score.max(1, keepdims=True)
    share = np.exp(score, out=score)  # large where there are many clusters
    share /= share.sum(1, keepdims=True)
    return share


def value_of_clusters(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> float:
    """F(z) but for a constant, under fixed q(p)."""
    within = cluster[problem.first] == cluster[problem.second]
    return float(log_odds[within].sum() + problem.prior_of[int(cluster.max()) + 1] + _of_unjudged(cluster, problem))


def _of_unjudged(cluster: Clusters, problem: CorrelationClusteringProblem) -> float:
    sizes = np.bincount(cluster).astype(float)
    n_judged = np.count_nonzero(cluster[problem.first] == cluster[problem.second])
    return float(problem.unjudged * ((sizes * (sizes - 1) / 2).sum() - n_judged))


def _within(problem: CorrelationClusteringProblem, cluster: Clusters) -> PerPair:
    return (cluster[problem.first] == cluster[problem.second]).astype(float)


def sum_over_clusters(weights: csr_array, cluster: Clusters, rows: Int[np.ndarray, " rows"]) -> csr_array:
    """Sum of the weights of each of these items to the items of each cluster."""
    n_items = len(cluster)
    membership = csr_array((np.ones(n_items), cluster, np.arange(n_items + 1)), shape=(n_items, int(cluster.max()) + 1))
    return csr_array(weights[rows] @ membership)


def close_gaps(cluster: Clusters) -> Clusters:
    return np.unique(cluster, return_inverse=True)[1]


def _symmetric(n_items: int, first: Clusters, second: Clusters, values: PerPair) -> csr_array:
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    return csr_array((np.tile(values, 2), ends), shape=(n_items, n_items))
