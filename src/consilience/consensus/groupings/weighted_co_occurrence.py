"""CSPA where each annotator has a weight: the shares of co-occurrence are weighted means over groupings.

    S_ij = Σ_h w_h C_h[i, j] / Σ_h w_h P_h[i, j]

The rest is that of `co_occurrence.partition`: the leading eigenvectors of the normalised similarities, and k-means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from consilience.consensus.groupings.co_occurrence import Seen, leading_axes, own_of_parts
from consilience.consensus.groupings.number_of_clusters import see_most
from consilience.inference.clusters import determined_clusters, quick_kmeans
from consilience.inference.memberships import shares_together
from consilience.inference.reweighted import MOST_DENSE, Clusters, Weights
from consilience.inference.spectral import rows_of_length_one

STARTS = 2  # of k-means


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

    @cached_property
    def determined(self) -> bool:
        """Whether the clusters follow from the groupings whoever is weighed how."""
        seen = self.seen
        return self.n_clusters is None and determined_clusters(seen.memberships, seen.part) is not None

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Partition under these weights."""
        memberships, part = self.seen.memberships, self.seen.part
        share = self._shares(weights[memberships.annotator_of_grouping])
        linked = np.flatnonzero(np.asarray(share.sum(1)) > 0)
        if self.determined or not len(linked):
            return self.fitted
        n_parts = len(np.unique(part[linked]))
        number, _, vectors = leading_axes(
            share[linked][:, linked], self.n_clusters, self.max_clusters, n_parts, widens=see_most(memberships)
        )
        found = quick_kmeans(rows_of_length_one(vectors[:, :number]), number, rng=rng, n_init=STARTS)
        found = own_of_parts(found, part[linked])
        # items that were put with no other keep their clusters, numbered after the others
        cluster = int(found.max()) + 1 + self.fitted
        cluster[linked] = found
        return np.unique(cluster, return_inverse=True)[1]

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Items of groups and of groupings as tables; None if they are large."""
        memberships = self.seen.memberships
        if memberships.n_items * memberships.n_groups > MOST_DENSE:
            return None
        return memberships.in_group.toarray().astype(float), memberships.in_grouping.toarray().astype(float)

    def _shares(self, weights: Float[np.ndarray, " groupings"]) -> csr_array:
        """`shares_together`, by dense products if the tables are small."""
        memberships = self.seen.memberships
        if self._tables is None:
            return shares_together(memberships, weights)
        in_group, in_grouping = self._tables
        counts = in_group * weights[memberships.grouping_of_group] @ in_group.T
        held = in_grouping * weights @ in_grouping.T
        share = np.divide(counts, held, out=np.zeros_like(counts), where=held > 0)
        np.fill_diagonal(share, 0.0)
        return csr_array(share)
