"""Cluster-based similarity partitioning: Strehl & Ghosh (2002), with missing labels.

A. Strehl & J. Ghosh, Cluster ensembles: a knowledge reuse framework for combining multiple partitions, JMLR 3,
section 3.2. Two items are as similar as the share of the groupings that put them together:

    S_ij = C_ij / P_ij

C the number of groupings that put items i and j together, P the number of those that hold both. The clusters partition
the graph of the items with S on its edges.

| paper symbol | name in code | shape |
|---|---|---|
| H, the items in groups | in_group | (items, groups) |
| S = H Hᵀ / r | share | (items, items), sparse |
| r, the number of groupings | P_ij where labels are missing | |

Decided here
------------
The paper divides by the number of groupings; we divide by the number of those that hold both items, so that a pair that
nobody saw is not taken for one that everybody set apart. It partitions the graph by METIS into clusters of about one
size. We partition it by the leading eigenvectors of the normalised similarities, which need no other program and leave
the sizes free. The mathematics is in `co_occurrence`, and so is what becomes of items that were never put together with
another, and of evidence in parts.

The number of clusters, where it is not given, is that of the largest gap between eigenvalues, at least 2. Where the
groupings leave no doubt (no two items were ever together, none ever apart, or all pairs were seen and nobody
contradicts anybody) it is what they say.
"""

from __future__ import annotations
