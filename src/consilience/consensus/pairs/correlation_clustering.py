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

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import gammaln

from consilience.inference import iterate
from consilience.inference.exponential_family import expected_log_dirichlet, log_normalizer_dirichlet
from consilience.inference.iterate import Trace

ACCURACIES = (0.95, 0.8, 0.65)  # of all annotators, as guessed by the starts
GUESS_STRENGTH = 10.0  # imagined judgements behind a guess
N_BATCHES = 10  # of items that are moved at a time
POWER_STEPS = 30  # towards the leading eigenvectors by which clusters are split
LEAST_GAIN = 1e-9  # nats
MOST_PATHS = 5_000_000  # of two judged pairs, by which u is estimated; of more, a sample
STANDARD_ERRORS = 3.0
MOST_ENUMERATED = 12  # items, of which all partitions are compared
MOST_CLIMBED = 20  # items, up to which changes are judged by F itself
ENTRIES = 1 << 22  # of a table of counts of all partitions in memory at a time
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


def apart(problem: CorrelationClusteringProblem, accuracy: float) -> CorrelationClusteringState:
    """Every item alone, and annotators of this accuracy."""
    guess = GUESS_STRENGTH * np.array([accuracy, 1 - accuracy])
    return CorrelationClusteringState(np.arange(problem.n_items), np.tile(guess, (2, problem.n_annotators, 1)))


def together(problem: CorrelationClusteringProblem) -> CorrelationClusteringState:
    """All items in one cluster."""
    cluster = np.zeros(problem.n_items, dtype=np.intp)
    return CorrelationClusteringState(cluster, rates_of_partition(problem, cluster))


def scatter_items(problem: CorrelationClusteringProblem, rng: np.random.Generator) -> CorrelationClusteringState:
    """A random partition, into at most about √n clusters."""
    n_clusters = rng.integers(2, 2 + max(math.isqrt(problem.n_items), 1))
    cluster = _without_gaps(rng.integers(n_clusters, size=problem.n_items))
    return CorrelationClusteringState(cluster, rates_of_partition(problem, cluster))


def best_of_all(problem: CorrelationClusteringProblem) -> CorrelationClusteringState:
    """The best of all partitions of a few items."""
    evaluate = ObjectiveOfPartitions.of(problem)
    best, found = -np.inf, np.zeros(problem.n_items, dtype=np.int8)
    for partitions in all_partitions(problem.n_items, ENTRIES // (len(problem.first) + 8 * problem.n_annotators)):
        values = evaluate(partitions)
        if values.max() > best:
            best, found = float(values.max()), partitions[int(values.argmax())]
    cluster = found.astype(np.intp)
    return CorrelationClusteringState(cluster, rates_of_partition(problem, cluster))


def all_partitions(n_items: int, size: int) -> Iterator[Int[np.ndarray, "partitions items"]]:
    """Yield all partitions of items, about `size` at a time; every new cluster of a partition has the next number."""
    waiting = [np.zeros((1, 1), dtype=np.int8)]
    while waiting:
        found = waiting.pop()
        if found.shape[1] == n_items:
            yield found
            continue
        n_following = found.max(1).astype(np.intp) + 2
        following = np.arange(n_following.sum()) - np.repeat(np.cumsum(n_following) - n_following, n_following)
        longer = np.column_stack([np.repeat(found, n_following, axis=0), following.astype(np.int8)])
        waiting += np.array_split(longer, -(-len(longer) // max(size, 1)))[::-1]


@dataclass(frozen=True)
class ObjectiveOfPartitions:
    """F(z) of many partitions; see `objective`.

    counts : of each pair, the judgements "same" of each annotator, and then the others.
    start, width : of the part of `table` of each annotator: the contribution to F of s judgements "same" and d others
        within clusters is in row s, column d.
    """

    problem: CorrelationClusteringProblem
    counts: Float[np.ndarray, "pairs columns"]
    start: Int[np.ndarray, " annotators"]
    width: Int[np.ndarray, " annotators"]
    table: Float[np.ndarray, " cells"]

    @classmethod
    def of(cls, problem: CorrelationClusteringProblem) -> ObjectiveOfPartitions:
        """Count the judgements, and tabulate what they contribute."""
        n_annotators = problem.n_annotators
        counts = np.zeros((len(problem.first), 2 * n_annotators))
        np.add.at(counts, (problem.pair, problem.annotator + n_annotators * ~problem.same), 1.0)
        n_same, n_other = counts.sum(0).astype(np.intp).reshape(2, -1)
        cells = [_evidence_by_counts(*each, problem.reliability) for each in zip(n_same.tolist(), n_other.tolist())]
        sizes = (n_same + 1) * (n_other + 1)
        return cls(problem, counts.astype(np.float32), np.cumsum(sizes) - sizes, n_other + 1, np.concatenate(cells))

    def __call__(self, partitions: Int[np.ndarray, "partitions items"]) -> Float[np.ndarray, " partitions"]:
        """Return F(z) of each partition, whose codes may have gaps."""
        problem = self.problem
        within = (partitions[:, problem.first] == partitions[:, problem.second]).astype(np.float32)
        # counts of judgements are whole, and far below 2^24
        same, other = np.split((within @ self.counts).astype(np.intp), 2, axis=1)
        found = self.table[self.start + self.width * same + other].sum(1) + problem.prior_of[_numbers_of(partitions)]
        if problem.unjudged:
            one, other_item = np.triu_indices(problem.n_items, 1)
            n_unjudged = (partitions[:, one] == partitions[:, other_item]).sum(1) - within.sum(1)
            found += problem.unjudged * n_unjudged
        return np.asarray(found)


def _evidence_by_counts(
    n_same: int, n_other: int, reliability: Float[np.ndarray, " outcomes"]
) -> Float[np.ndarray, " cells"]:
    """ln p of an annotator's judgements, by the number of those "same" and of the others within clusters."""
    same, other = np.arange(n_same + 1)[:, None], np.arange(n_other + 1)
    within = np.stack(np.broadcast_arrays(same, other), axis=-1)
    across = np.stack(np.broadcast_arrays(n_other - other, n_same - same), axis=-1)
    found = 2 * log_normalizer_dirichlet(reliability)
    for right_and_wrong in (within, across):
        found = found - log_normalizer_dirichlet(reliability + right_and_wrong)
    return np.asarray(found).ravel()


def _numbers_of(partitions: Int[np.ndarray, "partitions items"]) -> Int[np.ndarray, " partitions"]:
    """Number of clusters of each partition, whose codes may have gaps."""
    ordered = np.sort(partitions, axis=1)
    return np.asarray(1 + (np.diff(ordered, axis=1) > 0).sum(1))


def starts(
    problem: CorrelationClusteringProblem, n_random: int, rng: np.random.Generator
) -> list[CorrelationClusteringState]:
    """All starts; see the module docstring."""
    if problem.n_items <= MOST_ENUMERATED:
        return [best_of_all(problem)]
    alone = [apart(problem, accuracy) for accuracy in ACCURACIES]
    return [*alone, together(problem), *(scatter_items(problem, rng) for _ in range(n_random))]


def run(
    problem: CorrelationClusteringProblem, start: CorrelationClusteringState, *, max_iter: int, tol: float
) -> Trace[CorrelationClusteringState]:
    """Sweep from a start."""
    return iterate(
        start,
        lambda state: step(state, problem),
        lambda state: objective(state, problem),
        max_iter=max_iter,
        tol=tol,
    )


def step(state: CorrelationClusteringState, problem: CorrelationClusteringProblem) -> CorrelationClusteringState:
    """Merges, moves and splits under the rates, then the rates."""
    log_odds = log_odds_of_pairs(problem, state.right)
    cluster = state.cluster
    for change in (merge, move, split):
        cluster = change(cluster, log_odds, problem)
    if problem.n_items <= MOST_CLIMBED:
        cluster = climb(cluster, problem)
    return CorrelationClusteringState(cluster, rates_of_partition(problem, cluster))


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


def merge(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> Clusters:
    """Merge clusters, each with the one that gains most if that holds for both, until no merge raises F."""
    current, before = _value(cluster, log_odds, problem), -np.inf
    while current > before:
        low, high, gain = merge_gains(cluster, log_odds, problem)
        n_clusters = int(cluster.max()) + 1
        order = np.lexsort((high, low, -gain))
        order = order[gain[order] + problem.prior_of[n_clusters - 1] - problem.prior_of[n_clusters] > LEAST_GAIN]
        low, high = low[order], high[order]  # the earlier, the better
        best = np.full(n_clusters, len(order))
        np.minimum.at(best, np.concatenate([low, high]), np.tile(np.arange(len(order)), 2))
        mutual = best[low] == best[high]
        before = current
        merged = partial(_merge, cluster, low[mutual], high[mutual])
        cluster, current = _best_of(merged, int(mutual.sum()), cluster, current, log_odds, problem)
    return cluster


def merge_gains(
    cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem
) -> tuple[Int[np.ndarray, " merges"], Int[np.ndarray, " merges"], Float[np.ndarray, " merges"]]:
    """Every two clusters with a judged pair between them, and the gain of their merge but for Φ."""
    sizes = np.bincount(cluster)
    ends = np.sort(np.column_stack([cluster[problem.first], cluster[problem.second]]), axis=1)
    between = ends[:, 0] != ends[:, 1]
    code, inverse = np.unique(ends[between, 0] * len(sizes) + ends[between, 1], return_inverse=True)
    low, high = np.divmod(code, len(sizes))
    gain = np.bincount(inverse, log_odds[between] - problem.unjudged, len(code))
    return low, high, gain + problem.unjudged * sizes[low] * sizes[high]


def move(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> Clusters:
    """Move the items of each batch into other clusters or alone."""
    weights = problem.matrix(log_odds - problem.unjudged)
    current = _value(cluster, log_odds, problem)
    for batch in problem.batches:
        target, gain = move_gains(cluster, weights, batch, problem)
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > LEAST_GAIN]
        moved = partial(_move, cluster, batch[order], target[order])
        cluster, current = _best_of(moved, len(order), cluster, current, log_odds, problem)
    return cluster


def move_gains(
    cluster: Clusters, weights: csr_array, batch: Int[np.ndarray, " batch"], problem: CorrelationClusteringProblem
) -> tuple[Int[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """Best cluster of each item, -1 for one of its own, and the gain of this move alone.

    weights : w_ij − u of the judged pairs.
    """
    sizes, own = np.bincount(cluster), cluster[batch]
    sums = _sums_over_clusters(weights, cluster, batch)
    row, column = np.repeat(np.arange(len(batch)), np.diff(sums.indptr)), sums.indices
    is_own = column == own[row]
    score = sums.data + problem.unjudged * (sizes[column] - is_own)
    stay = problem.unjudged * (sizes[own] - 1.0)
    stay[row[is_own]] = score[is_own]
    prior, n_clusters = problem.prior_of, len(sizes)
    is_alone = sizes[own] == 1
    # by item, then falling score; its own cluster comes last
    order = np.lexsort((column, -np.where(is_own, -np.inf, score), row))
    top = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    best = np.full(len(batch), -np.inf)
    best[row[top]] = np.where(is_own[top], -np.inf, score[top])
    target = np.full(len(batch), -1)
    target[row[top]] = column[top]
    gain = best - stay + np.where(is_alone, prior[n_clusters - 1] - prior[n_clusters], 0.0)
    leave = np.where(is_alone, -np.inf, prior[n_clusters + 1] - prior[n_clusters] - stay)
    return np.where(leave > gain, -1, target), np.maximum(gain, leave)


def split(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> Clusters:
    """Split clusters in two by the sign of the leading eigenvector of the log-odds within each."""
    n_clusters = int(cluster.max()) + 1
    inside = cluster[problem.first] == cluster[problem.second]
    weights = problem.matrix(np.where(inside, log_odds, 0.0))
    shift = np.zeros(n_clusters)  # makes the leading eigenvalue the largest in size
    np.maximum.at(shift, cluster, np.asarray(abs(weights).sum(1)) / 2)
    vector = problem.direction
    for _ in range(POWER_STEPS):
        vector = weights @ vector + shift[cluster] * vector
        length = np.sqrt(np.bincount(cluster, vector**2, n_clusters))
        vector = vector / np.where(length > 0, length, 1.0)[cluster]
    half = vector > 0
    sizes = np.bincount(2 * cluster + half, minlength=2 * n_clusters).reshape(-1, 2)
    across = inside & (half[problem.first] != half[problem.second])
    lost = np.bincount(cluster[problem.first[across]], log_odds[across] - problem.unjudged, n_clusters)
    gain = -lost - problem.unjudged * sizes[:, 0] * sizes[:, 1]
    order = np.argsort(-gain, kind="stable")
    change = problem.prior_of[min(n_clusters + 1, problem.n_items)] - problem.prior_of[n_clusters]
    order = order[(sizes[order] > 0).all(1) & (gain[order] + change > LEAST_GAIN)]

    divided = partial(_divide, cluster, half, order)
    return _best_of(divided, len(order), cluster, _value(cluster, log_odds, problem), log_odds, problem)[0]


def climb(cluster: Clusters, problem: CorrelationClusteringProblem) -> Clusters:
    """Make the best change of one or two items, or the best merger, until none raises F, with q(p) at its optimum."""
    current, evaluate = -np.inf, ObjectiveOfPartitions.of(problem)
    while True:
        near = neighbours(cluster)
        values = evaluate(near)
        best = int(values.argmax())
        if values[best] <= current + LEAST_GAIN:
            return cluster
        cluster, current = _without_gaps(near[best]), float(values[best])


def neighbours(cluster: Clusters) -> Int[np.ndarray, "partitions items"]:
    """A partition, and all that differ by a move of one or two items, an exchange of two, or a merger."""
    n_items, n_clusters = len(cluster), int(cluster.max()) + 1
    one, other = np.triu_indices(n_items)
    pair, target = np.divmod(np.arange(len(one) * (n_clusters + 1)), n_clusters + 1)
    moved = np.tile(cluster, (len(pair), 1))
    moved[np.arange(len(pair)), one[pair]] = moved[np.arange(len(pair)), other[pair]] = target
    swapped = np.tile(cluster, (len(one), 1))
    swapped[np.arange(len(one)), one], swapped[np.arange(len(one)), other] = cluster[other], cluster[one]
    low, high = np.triu_indices(n_clusters, 1)
    merged = np.where(cluster == high[:, None], low[:, None], cluster)
    return np.concatenate([cluster[None], moved, swapped, merged])


def conditional_shares(
    state: CorrelationClusteringState, problem: CorrelationClusteringProblem
) -> Float[np.ndarray, "items clusters"]:
    """Probability of each cluster of an item, given those of all others; 0 for clusters without a judged pair to it."""
    sizes, n_clusters = np.bincount(state.cluster), state.n_clusters
    log_odds = log_odds_of_pairs(problem, state.right)
    everything = np.arange(problem.n_items)
    sums = _sums_over_clusters(problem.matrix(log_odds - problem.unjudged), state.cluster, everything)
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


def _merge(cluster: Clusters, low: Clusters, high: Clusters, number: int) -> Clusters:
    """Merge the first `number` pairs of clusters."""
    into = np.arange(int(cluster.max()) + 1)
    into[high[:number]] = low[:number]
    return into[cluster]


def _move(cluster: Clusters, item: Clusters, target: Clusters, number: int) -> Clusters:
    """Move the first `number` items; -1 stands for a new cluster."""
    after, is_new = cluster.copy(), target[:number] < 0
    after[item[:number]] = np.where(is_new, cluster.max() + np.cumsum(is_new), target[:number])
    return after


def _divide(cluster: Clusters, half: Bool[np.ndarray, " items"], order: Clusters, number: int) -> Clusters:
    """Split the first `number` clusters of an order."""
    return np.where(np.isin(cluster, order[:number]) & half, cluster + int(cluster.max()) + 1, cluster)


def _best_of(
    change: Callable[[int], Clusters],
    number: int,
    cluster: Clusters,
    current: float,
    log_odds: PerPair,
    problem: CorrelationClusteringProblem,
) -> tuple[Clusters, float]:
    """Make the first `number` of the changes, or half of them, …, or one, as soon as F rises."""
    while number:  # changes that pay one by one may not pay together
        following = _without_gaps(change(number))
        value = _value(following, log_odds, problem)
        if value > current + LEAST_GAIN:
            return following, value
        number //= 2
    return cluster, current


def _value(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> float:
    """F(z) but for a constant, under fixed q(p)."""
    within = cluster[problem.first] == cluster[problem.second]
    return float(log_odds[within].sum() + problem.prior_of[int(cluster.max()) + 1] + _of_unjudged(cluster, problem))


def _of_unjudged(cluster: Clusters, problem: CorrelationClusteringProblem) -> float:
    sizes = np.bincount(cluster).astype(float)
    n_judged = np.count_nonzero(cluster[problem.first] == cluster[problem.second])
    return float(problem.unjudged * ((sizes * (sizes - 1) / 2).sum() - n_judged))


def _within(problem: CorrelationClusteringProblem, cluster: Clusters) -> PerPair:
    return (cluster[problem.first] == cluster[problem.second]).astype(float)


def _sums_over_clusters(weights: csr_array, cluster: Clusters, rows: Int[np.ndarray, " rows"]) -> csr_array:
    """Sum of the weights of each of these items to the items of each cluster."""
    n_items = len(cluster)
    membership = csr_array((np.ones(n_items), cluster, np.arange(n_items + 1)), shape=(n_items, int(cluster.max()) + 1))
    return csr_array(weights[rows] @ membership)


def _without_gaps(cluster: Clusters) -> Clusters:
    return np.unique(cluster, return_inverse=True)[1]


def _symmetric(n_items: int, first: Clusters, second: Clusters, values: PerPair) -> csr_array:
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    return csr_array((np.tile(values, 2), ends), shape=(n_items, n_items))
