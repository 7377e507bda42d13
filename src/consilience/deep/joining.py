"""Clusters without judgements: components that share items form one cluster.

Where nobody judges, a mixture of many Gaussians has several in each cluster, and the bound has no reason to merge them:
a cluster is rarely one Gaussian. But components of one cluster share items, and those of two clusters hardly do.

Model
-----
With r the responsibilities of the components, a walk goes from component k to an item by r_ik, and on to another
component l by r_il; it stays where it is as if a share ε of the items of k were shared with nobody:

    O_kl = Σ_i r_ik r_il for l ≠ k,   O_kk = ε Σ_i r_ik,   S = D^(-1/2) O D^(-1/2),   D = diag(O 1)

A cluster is a set of components that the walk rarely leaves. If there are c, then S has c eigenvalues near 1, and the
others are those of walks within a cluster. Their number is the k with the largest gap √λ_k − √λ_{k+1}, where
eigenvalues below λ₀ count as λ₀, and so does the one after the last. The clusters are read off the k leading
eigenvectors by a pivoted QR decomposition (Damle, Minden & Ying 2019), which needs no start.

Decided here
------------
The diagonal of O is left out, since it tells how sure items are, and not with whom a component shares them; ε keeps
the normalisation from making much of the little that a lone component shares. Roots, since a gap between small
eigenvalues tells more than one of equal size between large ones: within a cluster, the walk meets most components in a
step or two, while two clusters may share more or fewer items. λ₀ since one Gaussian that is divided in ten dimensions
has eigenvalues of .2 to .3. Components that are much smaller than the others do not count as clusters: they join the
one with which they share most.

A cluster that is long for its width, such as a ring, is divided: the walk takes many steps to its other end. So is a
single Gaussian in two or three dimensions.

References
----------
Ng, Jordan & Weiss (2002), On spectral clustering, NeurIPS 14. Hennig (2010), Methods for merging Gaussian mixture
components, Advances in Data Analysis and Classification 4. Damle, Minden & Ying (2019), Simple, direct and efficient
multi-way spectral clustering, Information and Inference 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import qr, svd

ALONE = 1e-3  # ε: share of a component's items that counts as shared with nobody
LEAST_EIGENVALUE = 0.15  # λ₀
LEAST_SIZE = 0.1  # of a component that counts, relative to the mean

Responsibilities = Float[np.ndarray, "items components"]
Overlap = Float[np.ndarray, "counted counted"]
Eigenvalues = Float[np.ndarray, " counted"]


@dataclass(frozen=True)
class Joining:
    """Clusters of components.

    cluster : of each component, numbered by decreasing number of items.
    n_clusters : number of clusters.
    eigenvalues : λ of the components that are not too small, in decreasing order.
    gaps : √λ_k − √λ_{k+1}, k = 1, 2, …; the number of clusters is where it is largest.
    """

    cluster: Int[np.ndarray, " components"]
    n_clusters: int
    eigenvalues: Eigenvalues
    gaps: Eigenvalues


def join_by_overlap(responsibilities: Responsibilities, n_clusters: int | None = None) -> Joining:
    """Join components that share items to clusters; see the module docstring.

    Parameters
    ----------
    responsibilities : ndarray, shape (n_items, n_components)
        Probability of each component for each item, of components that were not merged.
    n_clusters : int, optional
        Number of clusters, at most that of the components that are not too small. Default: estimated.

    Returns
    -------
    Joining

    Examples
    --------
    Four components, of which two and two share items:

    >>> import numpy as np
    >>> rows = [[0.7, 0.3, 0, 0], [0.4, 0.6, 0, 0], [0, 0, 0.8, 0.2], [0, 0, 0.1, 0.9], [0, 0.01, 0.49, 0.5]]
    >>> found = join_by_overlap(np.array(rows))
    >>> found.n_clusters, found.cluster.tolist()
    (2, [1, 1, 0, 0])
    """
    given = np.asarray(responsibilities, float)
    sizes = given.sum(0)
    counts = sizes > LEAST_SIZE * sizes.mean()
    values, vectors = np.linalg.eigh(normalised_overlap(given[:, counts]))
    values, vectors = values[::-1], vectors[:, ::-1]
    gaps = gaps_of(values)
    number = 1 + int(gaps.argmax()) if n_clusters is None else min(n_clusters, len(values))
    cluster = np.empty(len(sizes), int)
    cluster[counts] = cut(vectors[:, :number])
    shared = given[:, ~counts].T @ given[:, counts] @ np.eye(number)[cluster[counts]]
    cluster[~counts] = shared.argmax(1)
    return Joining(_by_items(cluster, given), len(np.unique(cluster)), values, gaps)


def normalised_overlap(responsibilities: Float[np.ndarray, "items counted"]) -> Overlap:
    """S of the module docstring."""
    overlap = responsibilities.T @ responsibilities
    np.fill_diagonal(overlap, ALONE * responsibilities.sum(0))
    root = np.sqrt(overlap.sum(1))
    return overlap / root[:, None] / root


def gaps_of(eigenvalues: Eigenvalues) -> Eigenvalues:
    """√λ_k − √λ_{k+1} for k = 1 … all, of decreasing eigenvalues."""
    roots = np.sqrt(np.maximum(np.append(eigenvalues, 0.0), LEAST_EIGENVALUE))
    return roots[:-1] - roots[1:]


def cut(vectors: Float[np.ndarray, "counted clusters"]) -> Int[np.ndarray, " counted"]:
    """Cluster of each row of orthonormal eigenvectors: rotated so that the rows lie along the axes.

    The axes are those of the most different rows, which pivots of a QR decomposition find.
    """
    pivots = qr(vectors.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
    left, _, right = svd(vectors[pivots].T)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(1))


def _by_items(cluster: Int[np.ndarray, " components"], given: Responsibilities) -> Int[np.ndarray, " components"]:
    """Clusters renumbered by decreasing number of items."""
    names, code = np.unique(cluster, return_inverse=True)
    rank = np.empty(len(names), int)
    rank[np.argsort(-np.bincount(code, given.sum(0)), kind="stable")] = np.arange(len(names))
    return rank[code]
