"""CorrelationClustering where each annotator has a weight: groups of people other than those asked.

A weight multiplies an annotator's terms in the log-odds of the pairs, and in F:

    w_ij = Σ_m w_m Σ of the judgements of i, j by m
    F(z) = Σ_m w_m ln p(S_m | z) + Φ(K) + u · (number of unjudged pairs within clusters)

q(p_mc) is of one annotator, and does not depend on the weight. So an annotator of weight 2 counts as two who judge
alike.

Decided here
------------
A draw takes a few sweeps of mergers, moves and splits, from the clusters of the fit and, under each of the guesses of a
fit about the annotators, from all items apart; it keeps the partition of the highest F. Φ and u stay those of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from consilience.consensus.pairs.correlation_clustering import (
    CorrelationClusteringProblem,
    CorrelationClusteringState,
    Right,
    log_odds_of_pairs,
    rates_of_partition,
    weigh_objective,
)
from consilience.consensus.pairs.correlation_search import ACCURACIES, apart, merge, move, split
from consilience.inference.reweighted import Clusters, Weights

SWEEPS = 3  # of a draw, from each start


@dataclass(frozen=True)
class WeightedCorrelationClustering:
    """A fitted partition of the judged items.

    right : of the annotators, given this partition.
    """

    problem: CorrelationClusteringProblem
    fitted: Clusters
    right: Right

    @classmethod
    def of(cls, problem: CorrelationClusteringProblem, fitted: Clusters) -> WeightedCorrelationClustering:
        """Learn the annotators again from the fitted partition."""
        return cls(problem, fitted, rates_of_partition(problem, fitted))

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the partition of the highest F under these weights."""
        starts = [CorrelationClusteringState(self.fitted, self.right)]
        starts += [apart(self.problem, accuracy) for accuracy in ACCURACIES]
        ends = [self._settled(start, weights) for start in starts]
        return max(ends, key=lambda state: weigh_objective(state, self.problem, weights)).cluster

    def _settled(self, start: CorrelationClusteringState, weights: Weights) -> CorrelationClusteringState:
        cluster, right = start.cluster, start.right
        for _ in range(SWEEPS):
            log_odds = log_odds_of_pairs(self.problem, right, weights)
            for change in (merge, move, split):
                cluster = change(cluster, log_odds, self.problem)
            right = rates_of_partition(self.problem, cluster)
        return CorrelationClusteringState(cluster, right)
