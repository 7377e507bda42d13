"""Clusters without judgements: components that share items form one cluster.

Where nobody judges, a mixture of many Gaussians has several in each cluster, and the bound has no reason to merge them:
a cluster is rarely one Gaussian. But components of one cluster share items, and those of two clusters hardly do.

Overlap
-------
With r the responsibilities of the components, a walk goes from component k to an item by r_ik, and on to another
component l by r_il; it stays where it is as if a share ε of the items of k were shared with nobody:

    O_kl = Σ_i r_ik r_il for l ≠ k,   O_kk = ε Σ_i r_ik,   S = D^(-1/2) O D^(-1/2),   D = diag(O 1)

A cluster is a set of components that the walk rarely leaves. If there are c, then S has c eigenvalues near 1, and the
others are those of walks within a cluster. Their number is the k with the largest gap √λ_k − √λ_{k+1}, where
eigenvalues below λ₀ count as λ₀, and so does the one after the last. The clusters are read off the k leading
eigenvectors by a pivoted QR decomposition (Damle, Minden & Ying 2019), which needs no start.

Agreement
---------
How Gaussians divide the positions is arbitrary, and where one of them lies across two clusters, these are joined. So
several mixtures are fitted, from different starts; the number is where the mean of their gaps is largest; and their
clusters vote: the clusters of all mixtures, joined by the items that they share, as above but with the whole diagonal.

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
multi-way spectral clustering, Information and Inference 8. Strehl & Ghosh (2002), Cluster ensembles, JMLR 3.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import qr, svd
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from consilience.inference.threads import one_blas_thread

ALONE = 1e-3  # ε: share of a component's items that counts as shared with nobody
LEAST_EIGENVALUE = 0.15  # λ₀
LEAST_SIZE = 0.1  # of a component that counts, relative to the mean
N_MIXTURES = 8
LEAST_ITEMS = 30  # of a component on average; with fewer, components hardly overlap
FEWEST = 4  # components, however few items there are
MOST_ITEMS = 20_000  # to which a mixture is fitted
BREADTH = 1e-3  # share of the variance of the positions, added to that of every component
MAX_SWEEPS = 30  # of EM

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

    responsibilities : probability of each component for each item, of components that were not merged.
    n_clusters : number of clusters, at most that of the components that are not too small. Default: estimated.

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
    values, vectors = _leading(normalised_overlap(given[:, counts]), int(counts.sum()))
    gaps = gaps_of(values)
    number = 1 + int(gaps.argmax()) if n_clusters is None else min(n_clusters, len(values))
    cluster = np.empty(len(sizes), int)
    cluster[counts] = cut(vectors[:, :number])
    shared = given[:, ~counts].T @ given[:, counts] @ _one_hot(cluster[counts])
    cluster[~counts] = shared.argmax(1)
    return Joining(_by_items(cluster, given), len(np.unique(cluster)), values, gaps)


@dataclass(frozen=True)
class Agreement:
    """Clusters of items on which several mixtures agree.

    votes : share of the mixtures for each cluster, numbered by decreasing number of items.
    gaps : mean of those of the mixtures, k = 1, 2, …; the number of clusters is where it is largest.
    numbers : that each mixture would have alone.
    """

    votes: Float[np.ndarray, "items clusters"]
    gaps: Float[np.ndarray, " numbers"]
    numbers: Int[np.ndarray, " mixtures"]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.votes.shape[1]


def agree(mixtures: Sequence[Float[np.ndarray, "items _"]], n_clusters: int | None = None) -> Agreement:
    """Join the components of each mixture to clusters, of a number common to all, and let them vote.

    mixtures : responsibilities of several mixtures of the same items, of shapes (n_items, n_components)
    n_clusters : number of clusters. Default: estimated.

    Examples
    --------
    Two mixtures divide two clusters in different ways, the second into more parts:

    >>> import numpy as np
    >>> one = np.array([[0.7, 0.3, 0, 0], [0.4, 0.6, 0, 0], [0, 0, 0.8, 0.2], [0, 0, 0.1, 0.9], [0, 0, 0.5, 0.5]])
    >>> other = np.array([[1.0, 0, 0], [1, 0, 0], [0, 0.8, 0.2], [0, 0.1, 0.9], [0, 0.5, 0.5]])
    >>> found = agree([one, other])
    >>> found.votes.argmax(1).tolist(), found.numbers.tolist()
    ([1, 1, 0, 0, 0], [2, 2])
    """
    alone = [join_by_overlap(one) for one in mixtures]
    gaps = np.zeros(max(len(one.gaps) for one in alone))
    for one in alone:
        gaps[: len(one.gaps)] += one.gaps / len(alone)
    number = 1 + int(gaps.argmax()) if n_clusters is None else n_clusters
    joined = [one @ _one_hot(join_by_overlap(one, number).cluster) for one in mixtures]
    of_all = np.concatenate(joined, axis=1)
    cluster = cut(_leading(_normalise(of_all.T @ of_all), number)[1])
    votes = of_all @ _one_hot(cluster) / len(mixtures)
    owned = np.argsort(-votes.sum(0), kind="stable")
    return Agreement(votes[:, owned], gaps, np.array([one.n_clusters for one in alone]))


def mixtures_of(
    positions: Float[np.ndarray, "items dims"],
    n_components: int,
    *,
    rng: np.random.Generator,
    n_mixtures: int = N_MIXTURES,
) -> list[Responsibilities]:
    """Responsibilities of several mixtures of Gaussians, from random starts.

    positions : ndarray, shape (n_items, n_dims)
    n_components : of each mixture; several for each cluster.
    rng : of the items to which the mixtures are fitted, and of their starts.
    n_mixtures : number of mixtures.
    """
    return [_mixture(positions, n_components, rng) for _ in range(n_mixtures)]


def clusters_of_components(
    responsibilities: Responsibilities, votes: Float[np.ndarray, "items clusters"]
) -> Int[np.ndarray, " components"]:
    """Cluster to which most of each component's items belong; the largest for a component without items."""
    return np.asarray((responsibilities.T @ votes).argmax(1))


def agreement(responsibilities: Responsibilities, votes: Float[np.ndarray, "items clusters"]) -> float:
    """Mean probability that the clusters of an item by its components, and by a vote, are the same."""
    cluster = clusters_of_components(responsibilities, votes)
    return float((responsibilities * votes[:, cluster]).sum(1).mean())


def n_components_of(n_items: int, n_dims: int, *, most: int) -> int:
    """Number of components of a mixture: at most `most`.

    With `LEAST_ITEMS` each and as many as parameters; but not below `FEWEST`, so that few items can be divided at all.
    """
    n_parameters = n_dims * (n_dims + 3) // 2
    return min(max(n_items // max(n_parameters, LEAST_ITEMS), FEWEST), most)


def normalised_overlap(responsibilities: Float[np.ndarray, "items counted"]) -> Overlap:
    """S of the module docstring."""
    overlap = responsibilities.T @ responsibilities
    np.fill_diagonal(overlap, ALONE * responsibilities.sum(0))
    return _normalise(overlap)


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


def _mixture(
    positions: Float[np.ndarray, "items dims"], n_components: int, rng: np.random.Generator
) -> Responsibilities:
    """Responsibilities of a mixture of Gaussians from a random start."""
    some = positions[rng.permutation(len(positions))[:MOST_ITEMS]]
    n = min(n_components, len(np.unique(some, axis=0)))
    if n == 1:
        return np.ones((len(positions), 1))
    breadth = BREADTH * some.var() + 1e-9
    seed = int(rng.integers(2**31 - 1))
    mixture = GaussianMixture(n, reg_covar=breadth, max_iter=MAX_SWEEPS, random_state=seed)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(mixture.fit(some).predict_proba(positions))


def _normalise(overlap: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    root = np.sqrt(overlap.sum(1))
    return overlap / root[:, None] / root


def _leading(
    matrix: Float[np.ndarray, "n n"], n_vectors: int
) -> tuple[Float[np.ndarray, " leading"], Float[np.ndarray, "n leading"]]:
    """Eigenvalues in decreasing order, and their eigenvectors."""
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:n_vectors], vectors[:, ::-1][:, :n_vectors]


def _one_hot(cluster: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n clusters"]:
    return np.eye(int(cluster.max()) + 1)[cluster]


def _by_items(cluster: Int[np.ndarray, " components"], given: Responsibilities) -> Int[np.ndarray, " components"]:
    """Clusters renumbered by decreasing number of items."""
    names, code = np.unique(cluster, return_inverse=True)
    rank = np.empty(len(names), int)
    rank[np.argsort(-np.bincount(code, given.sum(0)), kind="stable")] = np.arange(len(names))
    return rank[code]
