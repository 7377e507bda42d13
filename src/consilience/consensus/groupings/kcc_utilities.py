"""Utility functions of `KCC`: similarities of two partitions, and the k-means distances that add up to them.

J. Wu, H. Liu, H. Xiong, J. Cao & J. Chen (2015), K-means-based consensus clustering: a unified view, IEEE TKDE 27.
A convex function φ of the shares m of a cluster's items in the groups of a grouping defines a utility function:

    U = Σ_k p_k φ(m_k) - φ(P)

p_k the share of cluster k among the items of the grouping, P the shares of the groups over all of these. The
corresponding distance is f(x, m) = φ(x) - φ(m) - (x - m)·∇φ(m); its sum over the items of a cluster is smallest at
their mean. For an item in group j, x is the unit vector e_j:

| utility       | φ(m)         | f(e_j, m)                | scale of the normalised form |
|---------------|--------------|--------------------------|------------------------------|
| "categorical" | ‖m‖²         | ‖e_j - m‖²               | ‖P‖²                         |
| "entropy"     | Σ m ln m     | -ln m_j                  | the entropy of P             |
| "cosine"      | ‖m‖          | 1 - m_j / ‖m‖            | ‖P‖                          |
| "lp"          | ‖m‖_p        | 1 - (m_j / ‖m‖_p)^(p-1)  | ‖P‖_p                        |
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import entr

UTILITIES = ("categorical", "entropy", "cosine", "lp")
LEAST_SHARE = 1e-12  # keeps the distance to a group without items of a cluster finite

Shares = Float[np.ndarray, "groups clusters"]


def blocks_of(grouping_of_group: Int[np.ndarray, " groups"], n_groupings: int) -> csr_array:
    """(groupings, groups) sparse 0/1: which groups belong to which grouping."""
    n_groups = len(grouping_of_group)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(grouping_of_group, minlength=n_groupings))])
    return csr_array((np.ones(n_groups), np.arange(n_groups), indptr), shape=(n_groupings, n_groups))


def convex(shares: Shares, blocks: csr_array, utility: str, p: float) -> Float[np.ndarray, "groupings clusters"]:
    """Return φ of each grouping's block of shares.

    shares : of each group in each cluster; those of a grouping sum to 1, or are all 0.
    blocks : of `blocks_of`.
    utility : one of `UTILITIES`.
    p : of "lp".
    """
    if utility == "categorical":
        found = blocks @ shares**2
    elif utility == "entropy":
        found = -(blocks @ entr(shares))
    else:
        found = _norms(shares, blocks, utility, p)
    return np.asarray(found)


def distances(shares: Shares, blocks: csr_array, utility: str, p: float) -> Shares:
    """Return f(e_j, m): distance of an item in each group from each cluster, in the block of that grouping.

    Parameters as for `convex`.
    """
    of_group = np.repeat(np.arange(blocks.shape[0]), np.diff(blocks.indptr))
    if utility == "categorical":
        found = 1 - 2 * shares + (blocks @ shares**2)[of_group]
    elif utility == "entropy":
        found = -np.log(np.maximum(shares, LEAST_SHARE))
    else:
        norms = _norms(shares, blocks, utility, p)[of_group]
        relative = np.divide(shares, norms, out=np.zeros_like(shares), where=norms > 0)
        found = 1 - (relative if utility == "cosine" else relative ** (p - 1))
    return np.asarray(found)


def weights(
    overall: Float[np.ndarray, " groups"], blocks: csr_array, utility: str, p: float, *, normalize: bool
) -> Float[np.ndarray, " groupings"]:
    """Return the weight of each grouping: 1, or one over the scale of the normalised form; 0 where that is 0."""
    if not normalize:
        return np.ones(blocks.shape[0])
    scale = np.abs(convex(overall[:, None], blocks, utility, p)[:, 0])
    return np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > LEAST_SHARE)


def _norms(shares: Shares, blocks: csr_array, utility: str, p: float) -> np.ndarray:
    power = 2.0 if utility == "cosine" else float(p)
    return np.asarray((blocks @ shares**power) ** (1 / power))
