"""Probabilities of few clusters by belief propagation: the second stage of `correlation_clustering`.

Where an item has few judged pairs, many partitions explain the judgements almost equally well. The best of them follows
the errors, and may be worse than a single cluster even if the judgements do tell clusters apart. With few clusters the
sum over all partitions is approximated instead, by belief propagation for the planted partition with labelled edges:
Decelle, Krzakala, Moore & Zdeborová (2011), Asymptotic analysis of the stochastic block model, Physical Review E 84;
Saade, Lelarge, Krzakala & Zdeborová (2016), Clustering from sparse pairwise measurements, ISIT. The model is that of
`correlation_clustering`, for a given number K of clusters.

Symbols
-------
    here        shape
    messages    (2 pairs, clusters)     μ_{i→j}(k), of z_i = k without the pair i, j: from the first items of all pairs
                                        to the second ones, then from the second to the first
    share       (items, clusters)       probability of each cluster
    x           (pairs,)                e^w − 1, w the log-odds of the pair

Updates
-------
    μ_{i→j}(k) ∝ Π_{l ≠ j} (1 + x_il μ_{l→i}(k))
    p(z_i = z_j) = e^w Σ_k μ_{i→j}(k) μ_{j→i}(k) / Z_ij,     Z_ij = 1 + x_ij Σ_k μ_{i→j}(k) μ_{j→i}(k)
    q(p) as in `correlation_clustering`, with these probabilities

Evidence (Bethe)
----------------
    ln p(S) ≈ E ln p(S | all apart) + Σ_i ln Z_i − Σ_ij ln Z_ij − KL(q(p) ‖ p) + c ln K!,   Z_i = 1/K Σ_k Π_l (1 + …)

It is no bound, and a sweep may lower it.

Decided here
------------
- Numbering the clusters otherwise gives K! equal sums, of which the messages follow one. If they do not tell the
  clusters apart, there is only one. So ln K! counts by the certainty c of the shares: 0 where they are equal, 1 where
  they are 0 or 1.
- The log-odds u of unjudged pairs enter the evidence, by the expected number of such pairs within clusters, and not the
  messages.
- Runs are ignored if they end with nearly equal shares, which tell nothing apart, whatever their evidence; and if they
  do not settle: where judgements are sparse and contradict each other, messages may oscillate.
- A new message is a weighted mean of the old one and the update.
- All numbers of clusters from 2 are tried, until two in turn gain nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln, logsumexp, softmax

from consilience.consensus.pairs.correlation_clustering import (
    Clusters,
    CorrelationClusteringProblem,
    PerPair,
    Right,
    log_odds_of_pairs,
    rates,
)
from consilience.consensus.pairs.correlation_search import ACCURACIES, apart
from consilience.inference import iterate
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet
from consilience.inference.iterate import Trace, restarts

PASSES = 3  # of all messages in a sweep, before the rates
DAMPING = 0.7  # share of the old messages: undamped ones can oscillate
PATIENCE = 2  # numbers of clusters in turn without a gain, after which no larger one is tried
SPREAD = 3.0  # of the Dirichlet distribution of random first shares
CERTAINTY = 0.5  # of first shares that follow a partition
LEAST_CERTAINTY = 0.1  # of shares that tell clusters apart
LARGEST_LOG_ODDS = 50.0  # beyond, one cluster or two is certain; exp overflows at 709

Shares = Float[np.ndarray, "items clusters"]
Messages = Float[np.ndarray, "clusters directed"]  # rows are long: sums over clusters are sums of rows


@dataclass(frozen=True)
class Beliefs:
    """Messages and rates; what follows from them, and by how much a sweep changed the evidence."""

    messages: Messages
    right: Right
    share: Shares
    evidence: float
    change: float


def search(
    problem: CorrelationClusteringProblem,
    partition: Clusters,
    numbers: Sequence[int],
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    rng: np.random.Generator,
) -> list[Trace[Beliefs]]:
    """Run from the partition, and from random shares of each number of clusters, until `PATIENCE` numbers gain nothing.

    Returns the traces of those that settled and that tell clusters apart.
    """
    settle = partial(run, problem, max_iter=max_iter, tol=tol)
    found = [settle(shares_of(partition))] if partition.max() and partition.max() + 1 in numbers else []
    highest, n_failed = -np.inf, 0
    for number in numbers:
        traces = restarts(settle, [(random_shares(problem, number, rng),) for _ in range(n_init)], n_jobs=n_jobs)
        found += traces
        evidence = max((trace.lower_bound for trace in traces if _is_answer(trace)), default=-np.inf)
        n_failed = 0 if evidence > highest else n_failed + 1
        highest = max(highest, evidence)
        if n_failed == PATIENCE:
            break
    return [trace for trace in found if _is_answer(trace)]


def random_shares(problem: CorrelationClusteringProblem, n_clusters: int, rng: np.random.Generator) -> Shares:
    """First shares without knowledge."""
    return rng.dirichlet(np.full(n_clusters, SPREAD), problem.n_items)


def shares_of(cluster: Clusters) -> Shares:
    """First shares that follow a partition."""
    n_clusters = int(cluster.max()) + 1
    return CERTAINTY * np.eye(n_clusters)[cluster] + (1 - CERTAINTY) / n_clusters


def run(problem: CorrelationClusteringProblem, start: Shares, *, max_iter: int, tol: float) -> Trace[Beliefs]:
    """Sweep until the evidence stands still."""
    right = apart(problem, ACCURACIES[1]).right
    state = Beliefs(start.T[:, problem.senders], right, start, -np.inf, np.inf)
    return iterate(
        state,
        lambda beliefs: step(beliefs, problem),
        lambda beliefs: beliefs.evidence,
        max_iter=max_iter,
        settled=lambda beliefs: bool(beliefs.change <= tol * abs(beliefs.evidence)),
    )


def step(beliefs: Beliefs, problem: CorrelationClusteringProblem) -> Beliefs:
    """Pass all messages, and update the rates."""
    excess = np.expm1(np.minimum(log_odds_of_pairs(problem, beliefs.right), LARGEST_LOG_ODDS))
    messages = beliefs.messages
    for _ in range(PASSES):
        passed = update_messages(messages, excess, problem)
        passed *= 1 - DAMPING
        passed += DAMPING * messages
        messages = passed
    score = _scores(messages, excess, problem)[1]
    share = softmax(score, axis=1)
    alike, normalizer = _alike(messages, excess)
    value = evidence(score, normalizer, share, alike, beliefs.right, problem)
    return Beliefs(messages, rates(problem, alike), share, value, abs(value - beliefs.evidence))


def update_messages(messages: Messages, excess: PerPair, problem: CorrelationClusteringProblem) -> Messages:
    """Messages from all others but the one to whom they go."""
    received, score = _scores(messages, excess, problem)
    others = np.take(score.T, problem.senders, axis=1)
    there, back = np.split(others, 2, axis=1)
    there -= received[:, len(excess) :]  # from the receiver of each message
    back -= received[:, : len(excess)]
    return _normalize(others)


def evidence(
    score: Shares,
    normalizer: PerPair,
    share: Shares,
    alike: PerPair,
    right: Right,
    problem: CorrelationClusteringProblem,
) -> float:
    """Bethe approximation of ln p(judgements), nats."""
    n_clusters = share.shape[1]
    expected = expected_log_dirichlet(right)
    by = problem.annotator
    if_apart = np.where(problem.same, expected[0, by, 1], expected[0, by, 0]).sum()
    of_items = logsumexp(score, axis=1).sum() - len(share) * np.log(n_clusters)
    divergence = kl_dirichlet(right, np.broadcast_to(problem.reliability, right.shape)).sum()
    n_unjudged = (share.sum(0) ** 2 - (share**2).sum(0)).sum() / 2 - alike.sum()
    return float(
        if_apart
        + of_items
        - np.log(normalizer).sum()
        - divergence
        + certainty(share) * gammaln(n_clusters + 1)
        + problem.unjudged * max(n_unjudged, 0.0)
    )


def certainty(share: Shares) -> float:
    """0 if all clusters of an item are equally probable, 1 if one is certain; the mean over items."""
    equal = 1 / share.shape[1]
    return float(((share**2).sum(1).mean() - equal) / (1 - equal))


def _is_answer(trace: Trace[Beliefs]) -> bool:
    return trace.converged and certainty(trace.state.share) >= LEAST_CERTAINTY


def _scores(messages: Messages, excess: PerPair, problem: CorrelationClusteringProblem) -> tuple[Messages, Shares]:
    """Log factor of each message at its receiver, and their sums."""
    received = np.tile(excess, 2) * messages
    np.log1p(received, out=received)
    return received, np.stack([problem.into_items @ of_cluster for of_cluster in received], axis=1)


def _normalize(score: Messages) -> Messages:
    """Softmax over clusters, in place: a pass takes as long as arrays of all messages are written."""
    score -= score.max(0)
    np.exp(score, out=score)
    score /= score.sum(0)
    return score


def _alike(messages: Messages, excess: PerPair) -> tuple[PerPair, PerPair]:
    """p(z_i = z_j) and Z_ij of the judged pairs."""
    there, back = np.split(messages, 2, axis=1)
    agreement = (there * back).sum(0)
    normalizer = 1 + excess * agreement
    return (1 + excess) * agreement / normalizer, normalizer
