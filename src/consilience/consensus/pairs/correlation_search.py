"""The search of `correlation_clustering`, where the symbols are: starts, and merges, moves and splits of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.consensus.pairs.correlation_clustering import (
    Clusters,
    CorrelationClusteringProblem,
    CorrelationClusteringState,
    PerPair,
    close_gaps,
    log_odds_of_pairs,
    objective,
    rates_of_partition,
    sum_over_clusters,
    value_of_clusters,
)
from consilience.inference import iterate
from consilience.inference.exponential_family import log_normalizer_dirichlet
from consilience.inference.iterate import Trace

ACCURACIES = (0.95, 0.8, 0.65)  # of all annotators, as guessed by the starts
GUESS_STRENGTH = 10.0  # imagined judgements behind a guess
POWER_STEPS = 30  # towards the leading eigenvectors by which clusters are split
LEAST_GAIN = 1e-9  # nats
MOST_ENUMERATED = 12  # items, of which all partitions are compared
MOST_CLIMBED = 20  # items, up to which changes are judged by F itself
ENTRIES = 1 << 22  # of a table of counts of all partitions in memory at a time


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
    cluster = close_gaps(rng.integers(n_clusters, size=problem.n_items))
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


def merge(cluster: Clusters, log_odds: PerPair, problem: CorrelationClusteringProblem) -> Clusters:
    """Merge clusters, each with the one that gains most if that holds for both, until no merge raises F."""
    current, before = value_of_clusters(cluster, log_odds, problem), -np.inf
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
    current = value_of_clusters(cluster, log_odds, problem)
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
    sums = sum_over_clusters(weights, cluster, batch)
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
    return _best_of(divided, len(order), cluster, value_of_clusters(cluster, log_odds, problem), log_odds, problem)[0]


def climb(cluster: Clusters, problem: CorrelationClusteringProblem) -> Clusters:
    """Make the best change of one or two items, or the best merger, until none raises F, with q(p) at its optimum."""
    current, evaluate = -np.inf, ObjectiveOfPartitions.of(problem)
    while True:
        near = neighbours(cluster)
        values = evaluate(near)
        best = int(values.argmax())
        if values[best] <= current + LEAST_GAIN:
            return cluster
        cluster, current = close_gaps(near[best]), float(values[best])


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
        following = close_gaps(change(number))
        value = value_of_clusters(following, log_odds, problem)
        if value > current + LEAST_GAIN:
            return following, value
        number //= 2
    return cluster, current
