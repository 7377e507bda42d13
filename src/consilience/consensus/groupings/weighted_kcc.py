"""KCC where each annotator has a weight: it multiplies the weights w_i of the annotator's groupings in the utility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from consilience.consensus.groupings.kcc import ItemsInMemory, KCCProblem, run
from consilience.inference.clusters import quick_kmeans
from consilience.inference.memberships import Memberships
from consilience.inference.reweighted import Clusters, WeightedEmbedding, Weights
from consilience.inference.spectral import rows_of_length_one


@dataclass(frozen=True)
class WeightedUtility:
    """The problem of a fitted KCC, to be solved again under other weights, from the fit's clusters and anew."""

    memberships: Memberships
    problem: KCCProblem
    fitted: Clusters
    max_iter: int

    @cached_property
    def embedding(self) -> WeightedEmbedding:
        """Coordinates of the items, from which k-means starts."""
        return WeightedEmbedding.of(self.memberships)

    @cached_property
    def items(self) -> ItemsInMemory:
        """The memberships, and their transpose."""
        return ItemsInMemory.of(self.memberships.in_group)

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the clusters of the larger utility, of two runs."""
        of_groupings = weights[self.memberships.annotator_of_grouping]
        problem = replace(self.problem, weights=self.problem.weights * of_groupings)
        number = problem.n_clusters
        points = self.embedding.points(weights, min(number, self.memberships.n_items))
        starts = [self.fitted, quick_kmeans(rows_of_length_one(points), number, rng=rng)]
        counted = [partial(self.items.count, start, number) for start in starts]
        traces = [run(problem, self.items, start, max_iter=self.max_iter) for start in counted]
        return max(traces, key=lambda trace: trace.lower_bound).state.assigned.cluster
