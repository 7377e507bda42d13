"""Spectra of pair evidence: clusters from leading eigenvectors, and the halves of a cluster, without a matrix of items.

With a weight for every judgement, pair evidence is a symmetric operator A on functions of the items,

    (A v)_i = Σ_m Σ_j w_m(S_ij) v_j

large where items that v holds together were judged "same" (`PairEvidence.messages`). Its product with a vector costs a
pass over the judgements, or over the memberships of groupings. Items of one cluster have like entries in its leading
eigenvectors. Of a cluster that should be two, the leading eigenvector of A restricted to its items has one sign on one
part and the other sign on the other.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import orth
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans

from consilience.inference.pair_evidence import PairEvidence, Weights
from consilience.inference.spectral import EMBEDDING_TOLERANCE, leading_eigenpairs

LANCZOS_STEPS = 20  # for the halves of clusters: signs need no accuracy
NO_STEP = 1e-10  # of the norm of the first step: below this, the space of a cluster is exhausted

PerItem = Float[np.ndarray, "items views"]
Clusters = Int[np.ndarray, "items views"]


def feature_basis(features: Float[np.ndarray, "items features"]) -> Float[np.ndarray, "items rank"]:
    """Orthonormal basis of the centred features."""
    centred = features - features.mean(0)
    return np.asarray(orth(centred)) if centred.any() else centred[:, :0]


def evidence_operator(
    evidence: PairEvidence,
    basis: Float[np.ndarray, "items rank"],
    *,
    same: Float[np.ndarray, " annotators"],
    apart: Float[np.ndarray, " annotators"],
    of_features: float,
) -> LinearOperator:
    """C (A + f B Bᵀ) C; C subtracts the mean, B is `basis`, f is `of_features`. If f is infinite, C B Bᵀ A B Bᵀ C.

    With f, a function of the items that is linear in the features counts as f judgements of every item in its favour;
    if f is infinite, no other function is considered.
    """
    size = evidence.n_items
    weights = {"same": same[:, None], "apart": apart[:, None]}
    only_features = np.isinf(of_features)

    def product(vectors: np.ndarray) -> np.ndarray:
        own = vectors.reshape(size, -1)
        own = own - own.mean(0)
        linear = basis @ (basis.T @ own)
        said = evidence.messages((linear if only_features else own)[:, :, None], **weights)[:, :, 0]
        said = basis @ (basis.T @ said) if only_features else said + of_features * linear
        return (said - said.mean(0)).reshape(vectors.shape)

    return LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)


def spectral_clusters(
    operator: LinearOperator, n_clusters: int, *, rng: np.random.Generator
) -> Int[np.ndarray, " items"]:
    """Cluster items by k-means on the leading eigenvectors, each with length √eigenvalue; 0 if that is negative."""
    size = operator.shape[0]
    # K centred means span K − 1 dimensions
    values, vectors = leading_eigenpairs(operator, min(max(n_clusters - 1, 1), size), tol=EMBEDDING_TOLERANCE)
    rows = vectors * np.sqrt(np.maximum(values, 0.0))
    n_clusters = min(n_clusters, len(np.unique(rows, axis=0)))  # k-means finds no more clusters than rows differ
    found = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(rows)
    return np.asarray(found.labels_, dtype=int)


def halves(
    evidence: PairEvidence, clusters: Clusters, n_clusters: int, *, same: Weights, apart: Weights
) -> tuple[Bool[np.ndarray, "items views"], Float[np.ndarray, "clusters views"]]:
    """Divide each cluster of each view by the signs of the leading eigenvector of its own evidence.

    Returns
    -------
    second
        Whether an item is in the second part, which is the smaller one.
    gain
        Evidence that the parts are apart, −Σ w_ij over the pairs between them, nats; 0 if a part is empty.
    """
    positive = _leading_vectors(evidence, clusters, n_clusters, same=same, apart=apart) > 0
    inside, sizes = _sums(positive, clusters, n_clusters), _sums(np.ones(clusters.shape), clusters, n_clusters)
    # the smaller half: the sign of an eigenvector is arbitrary
    second = positive ^ _of_items(2 * inside > sizes, clusters)
    across = _within(evidence, second.astype(float), clusters, n_clusters, same=same, apart=apart)
    return second, -_sums(across * ~second, clusters, n_clusters)  # from one half only, so that pairs across count once


def _leading_vectors(
    evidence: PairEvidence, clusters: Clusters, n_clusters: int, *, same: Weights, apart: Weights
) -> PerItem:
    """Leading eigenvector of the evidence within each cluster: Lanczos for all of them at once.

    Clusters of a view are disjoint, so that one vector of the items holds a vector of each.
    """
    start = np.random.default_rng(0).normal(size=clusters.shape)  # the same start at every call
    basis, diagonal, beside = [_of_length_one(start, clusters, n_clusters)[0]], [], []
    for _ in range(min(LANCZOS_STEPS, int(_sums(np.ones(clusters.shape), clusters, n_clusters).max()))):
        onward = _within(evidence, basis[-1], clusters, n_clusters, same=same, apart=apart)
        diagonal.append(_sums(onward * basis[-1], clusters, n_clusters))
        for _ in range(2):  # once leaves rounding behind
            for former in basis:
                onward = onward - former * _of_items(_sums(onward * former, clusters, n_clusters), clusters)
        following, length = _of_length_one(onward, clusters, n_clusters)
        basis.append(following)
        beside.append(length)
    tridiagonal = np.moveaxis(np.zeros((len(diagonal), len(diagonal), *diagonal[0].shape)), (0, 1), (2, 3))
    steps = np.arange(len(diagonal))
    tridiagonal[..., steps, steps] = np.moveaxis(np.array(diagonal), 0, -1)
    # eigh reads the lower triangle alone
    tridiagonal[..., steps[1:], steps[:-1]] = np.moveaxis(np.array(beside[:-1]).reshape(-1, *diagonal[0].shape), 0, -1)
    leading = np.linalg.eigh(tridiagonal)[1][..., -1]
    return np.sum([own * _of_items(leading[..., step], clusters) for step, own in zip(steps, basis)], axis=0)


def _within(
    evidence: PairEvidence, vector: PerItem, clusters: Clusters, n_clusters: int, *, same: Weights, apart: Weights
) -> PerItem:
    """A v within each cluster: Σ_j w_ij v_j over the other items of the cluster of i."""
    spread = np.zeros((len(vector), n_clusters, vector.shape[1]))
    np.put_along_axis(spread, clusters[:, None], vector[:, None], axis=1)
    received = evidence.messages(spread, same=same, apart=apart)
    return np.asarray(np.take_along_axis(received, clusters[:, None], axis=1)[:, 0])


def _of_length_one(vector: PerItem, clusters: Clusters, n_clusters: int) -> tuple[PerItem, np.ndarray]:
    """Part of each cluster divided by its length, and the lengths; zero where the length is."""
    length = np.sqrt(_sums(np.square(vector), clusters, n_clusters))
    length[length < NO_STEP * max(length.max(), 1.0)] = 0.0
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return vector * _of_items(inverse, clusters), length


def _sums(values: np.ndarray, clusters: Clusters, n_clusters: int) -> Float[np.ndarray, "clusters views"]:
    """Sum of the values in each cluster of each view."""
    n_views = clusters.shape[1]
    place = clusters * n_views + np.arange(n_views)
    return np.bincount(place.ravel(), np.asarray(values, float).ravel(), n_clusters * n_views).reshape(-1, n_views)


def _of_items(values: np.ndarray, clusters: Clusters) -> np.ndarray:
    """Value of the cluster of each item."""
    return np.take_along_axis(values, clusters, axis=0)
