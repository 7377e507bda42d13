"""Silhouette of clusters in the evidence of groupings: how much closer items are to their own cluster than to the next.

P. J. Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster analysis, J.
Comput. Appl. Math. 20, with the dissimilarity 1 − Ê of two items,

    Ê_ij = (C_ij + a s) / (P_ij + a)

C the number of times they were put together, P the number of times they were presented together, s the share of all
presented pairs that were put together. A pair that was never presented has Ê = s and favours no cluster. Ê is s plus a
sparse matrix, so mean dissimilarities to whole clusters are exact without forming all pairs; where there are many
items, the silhouette is averaged over a sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.inference.memberships import Memberships

PRIOR_PRESENTATIONS = 0.5  # a above
MOST_ITEMS = 2000  # over whose silhouettes the mean is taken
MOST_PRODUCTS = 1_000_000  # up to which a product with a dense table of clusters is quicker
MOST_PAIRS = 50_000_000  # presented pairs of these items


@dataclass(frozen=True)
class EvidenceSilhouette:
    """The evidence, in the form that silhouettes of any clusters need.

    rows : the items sampled.
    share : s above.
    above : (rows, items) sparse Ê − s.
    """

    rows: Int[np.ndarray, " rows"]
    share: float
    above: csr_array

    @classmethod
    def of(cls, memberships: Memberships, *, rng: np.random.Generator, all_items: bool = False) -> EvidenceSilhouette:
        """Prepare the evidence of all items, or of a random sample if there are many."""
        group, grouping = memberships.group_sizes.astype(float), memberships.grouping_sizes.astype(float)
        share = (group**2 - group).sum() / max((grouping**2 - grouping).sum(), 1.0)
        n_items = memberships.n_items
        pairs_an_item = (grouping**2).sum() / max(n_items, 1)
        n_rows = n_items if all_items else min(n_items, MOST_ITEMS, max(int(MOST_PAIRS / max(pairs_an_item, 1)), 1))
        rows = np.arange(n_items) if n_rows == n_items else np.sort(rng.choice(n_items, n_rows, replace=False))
        together = memberships.in_group[rows] @ memberships.in_group.T.tocsr()
        presented = csr_array(memberships.in_grouping[rows] @ memberships.in_grouping.T.tocsr())
        above = csr_array(together - share * presented)
        presented.data += PRIOR_PRESENTATIONS
        presented.data = 1 / presented.data
        above = csr_array(above.multiply(presented))
        of_row = np.repeat(rows, np.diff(above.indptr))
        above.data[of_row == above.indices] = 0.0  # an item with itself
        return cls(rows, float(share), above)

    def dissimilarities(self) -> Float[np.ndarray, "rows items"]:
        """1 − Ê of the sampled items with every item as a dense table; 0 of an item with itself."""
        distance = 1 - self.share - self.above.toarray()
        distance[np.arange(len(self.rows)), self.rows] = 0.0
        return np.asarray(distance)

    def widths(self, cluster: Int[np.ndarray, " items"]) -> Float[np.ndarray, " rows"]:
        """Silhouette of each sampled item; 0 for items alone in their cluster, or if there is no other cluster."""
        n_clusters = int(cluster.max()) + 1
        sizes = np.bincount(cluster, minlength=n_clusters).astype(float)
        if self.above.nnz * n_clusters <= MOST_PRODUCTS:
            sums = self.above @ np.eye(n_clusters)[cluster]
        else:
            ones = np.ones(len(cluster)), (np.arange(len(cluster)), cluster)
            sums = (self.above @ csr_array(ones, shape=(len(cluster), n_clusters))).toarray()
        own = cluster[self.rows]
        at = np.arange(len(own)), own
        others = sizes - np.eye(n_clusters)[own]
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 for items alone and empty clusters; not read below
            distance = 1 - self.share - sums / others
        inner = distance[at].copy()
        distance[at] = np.inf
        distance[:, sizes == 0] = np.inf
        outer = distance.min(1)
        larger = np.maximum(inner, outer)
        speaks = (others[at] > 0) & np.isfinite(outer) & (larger > 0)
        return np.where(speaks, (outer - inner) / np.where(speaks, larger, 1.0), 0.0)

    def score(self, cluster: Int[np.ndarray, " items"]) -> float:
        """Mean silhouette of the sampled items."""
        return float(self.widths(cluster).mean())
