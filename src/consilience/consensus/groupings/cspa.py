"""Cluster-based similarity partitioning: Strehl & Ghosh (2002), with missing labels.

A. Strehl & J. Ghosh, Cluster ensembles: a knowledge reuse framework for combining multiple partitions, JMLR 3,
section 3.2. Two items are as similar as the share of the groupings that put them together:

    S_ij = C_ij / P_ij

C the number of groupings that put items i and j together, P the number of those that contain both. The clusters
partition the graph of the items with edge weights S.

| paper symbol | name in code | shape |
|---|---|---|
| H, the items in groups | in_group | (items, groups) |
| S = H Hᵀ / r | share | (items, items), sparse |
| r, the number of groupings | P_ij where labels are missing | |

Decided here
------------
The paper divides by the number of groupings; we divide by the number of those that contain both items, so that a pair
that was never presented is not treated as one that everybody separated. The paper partitions the graph with METIS into
clusters of about equal size. We partition it by the leading eigenvectors of the normalised similarities, which needs no
other program and does not constrain the sizes. The mathematics is in `co_occurrence`, including the treatment of items
that were never put together with another, and of evidence in parts.

The number of clusters, if it is not given, is that of the largest gap between eigenvalues, at least 2. Where the
groupings determine it (no two items were ever together, none ever apart, or all pairs were presented and no two
groupings contradict each other), it follows from them.
"""

from __future__ import annotations
