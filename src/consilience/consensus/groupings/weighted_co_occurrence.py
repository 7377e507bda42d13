"""CSPA where each annotator has a weight: the shares of co-occurrence are weighted means over groupings.

    S_ij = Σ_h w_h C_h[i, j] / Σ_h w_h P_h[i, j]

The rest is that of `co_occurrence.partition`: the leading eigenvectors of the normalised similarities, and k-means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from consilience.consensus.groupings.co_occurrence import Seen, eigengap, own_of_parts
from consilience.inference.clusters import determined_clusters, kmeans
from consilience.inference.memberships import shares_together
from consilience.inference.reweighted import Clusters, Weights
from consilience.inference.spectral import degree_normalised_eigenpairs, rows_of_length_one

STARTS = 3  # of k-means


@dataclass(frozen=True)
class Partitioning:
    """The groupings of a fitted CSPA, to be partitioned again under other weights.

    fitted : clusters of the fit; items that were never put together with another keep theirs.
    n_clusters : None to choose by the largest gap between eigenvalues, up to max_clusters.
    """

    seen: Seen
    fitted: Clusters
    n_clusters: int | None
    max_clusters: int

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Partition under these weights."""
        memberships, part = self.seen.memberships, self.seen.part
        share = shares_together(memberships, weights[memberships.annotator_of_grouping])
        linked = np.flatnonzero(np.asarray(share.sum(1)) > 0)
        determined = self.n_clusters is None and determined_clusters(memberships, part) is not None
        if determined or not len(linked):
            return self.fitted
        n_parts = len(np.unique(part[linked]))
        wanted = max(self.max_clusters + 1, n_parts) if self.n_clusters is None else self.n_clusters
        values, vectors = degree_normalised_eigenpairs(share[linked][:, linked], min(wanted, len(linked)))
        auto = eigengap(values, max(2, n_parts))
        number = auto if self.n_clusters is None else min(self.n_clusters, len(linked))
        found = kmeans(rows_of_length_one(vectors[:, :number]), number, rng=rng, n_init=STARTS)
        found = own_of_parts(found, part[linked])
        cluster = int(found.max()) + 1 + self.fitted
        cluster[linked] = found
        return np.unique(cluster, return_inverse=True)[1]
