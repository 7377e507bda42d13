"""Meta clustering: annotators who group alike share a view, and each view has its own clusters.

After R. Caruana, M. Elhawary, N. Nguyen & C. Smith, Meta clustering, ICDM 2006, with annotators instead of clusterings:
cluster the annotators by the similarity of their groupings, then compute one consensus for each cluster of annotators.

| symbol | name in code | shape |
|---|---|---|
| R_uv, adjusted Rand index of annotators u and v | similarity_ | (annotators, annotators) |
| view of an annotator | annotator_view_ | (annotators,) |
| clusters of a view | view_labels_ | (items, views) |

1. *Similarity.* Over all pairs of items that are in a grouping of u and in one of v, with N pairs in all, T_u and T_v
   that u and v put together, and B that both did,

       R_uv = (B - T_u T_v / N) / ((T_u + T_v) / 2 - T_u T_v / N).

2. *Views.* K-means on the leading eigenvectors of D^(-1/2) R D^(-1/2), rows scaled to length one: as many as the
   largest gap between eigenvalues indicates.
3. *Clusters.* `co_occurrence` on the groupings of the annotators of each view.

Decided here
------------
Where R is undefined, since both put all their common pairs together or both kept all apart, it is the share of these
pairs on which they agree: 1. Annotators without a common pair get the average similarity; those who agree less than by
chance get 0. The diagonal is left out: with it, noisy annotators, none of whom resembles another much, would each seem
to be a view. An annotator who resembles nobody forms a view alone; one who hardly resembles anybody joins some view,
with little harm. Views are numbered by decreasing number of annotators, then of memberships. A view is a set of
annotators, so one who sorts by size today and by colour tomorrow blurs both: give each such sorting its own annotator.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.inference.memberships import Memberships

LARGEST_TABLE = 5000  # annotators: all pairs of them are compared
Similarity = Float[np.ndarray, "annotators annotators"]


def similarities(memberships: Memberships) -> Similarity:
    """Adjusted Rand index of every pair of annotators, over the pairs of items that both grouped.

    Where it is undefined, the share of these pairs on which they agree; NaN without such a pair. 1 on the diagonal.
    """
    groups = _by_annotator(memberships, memberships.grouping_of_group)
    groupings = _by_annotator(memberships, np.arange(memberships.n_groupings))
    in_group, in_grouping = memberships.in_group, memberships.in_grouping
    both = _sum_pairs(groups, _pairs(in_group, in_group), groups)
    first = _sum_pairs(groups, _pairs(in_group, in_grouping), groupings)
    total = _sum_pairs(groupings, _pairs(in_grouping, in_grouping), groupings)
    second = first.T
    product = np.divide(first * second, total, out=np.zeros_like(total), where=total > 0)
    possible = (first + second) / 2 - product
    # where both put all or no pairs together, the index is 0 / 0: take the share of pairs on which they agree
    agreed = np.divide(total + 2 * both - first - second, total, out=np.full_like(total, np.nan), where=total > 0)
    found = np.divide(both - product, possible, out=agreed, where=possible > 1e-9)
    np.fill_diagonal(found, 1.0)
    return found


def affinities(similarity: Similarity) -> Similarity:
    """Replace negative and missing similarities; 0 on the diagonal, except 1 for annotators who resemble nobody."""
    off_diagonal = similarity[~np.eye(len(similarity), dtype=bool)]
    known = off_diagonal[np.isfinite(off_diagonal)]
    mean = float(known.mean()) if len(known) else 0.0
    found = np.maximum(np.where(np.isnan(similarity), mean, similarity), 0.0)
    np.fill_diagonal(found, 0.0)
    np.fill_diagonal(found, (found.sum(1) == 0).astype(float))  # no row of an affinity may sum to 0
    return found


def _by_annotator(memberships: Memberships, grouping: Int[np.ndarray, " things"]) -> csr_array:
    """(annotators, things) sparse 0/1: which annotator made the grouping of each thing."""
    annotator = memberships.annotator_of_grouping[grouping]
    shape = (memberships.n_annotators, len(grouping))
    return csr_array((np.ones(len(grouping)), (annotator, np.arange(len(grouping)))), shape=shape)


def _pairs(left: csr_array, right: csr_array) -> csr_array:
    """Number of pairs of items in the intersection of each column of `left` with each of `right`."""
    counts = csr_array(left.T.tocsr() @ right)
    return csr_array((counts.data * (counts.data - 1) / 2, counts.indices, counts.indptr), shape=counts.shape)


def _sum_pairs(left: csr_array, pairs: csr_array, right: csr_array) -> Similarity:
    return np.asarray((left @ pairs @ right.T).toarray())
