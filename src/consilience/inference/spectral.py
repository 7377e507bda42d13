"""Leading eigenvectors and singular vectors of operators, computed deterministically.

A graph of several connected components has the eigenvalue 1 that many times. If fewer eigenvectors are taken, rounding
decides which, and they tell no more than the component of an item. If most items are in one component, as where a few
stand apart, such a graph is connected first, by a weak edge between every two of its vertices, so that the eigenvectors
divide that component: A. A. Amini, A. Chen, P. J. Bickel & E. Levina, Pseudo-likelihood methods for community detection
in large sparse networks, Annals of Statistics 41(4), 2013. A graph in small pieces is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, aslinearoperator, eigsh

SEED = 0  # of the vector from which Lanczos starts: it changes the result by rounding alone
DENSE_SIZE = 256  # up to this size the whole matrix is as cheap
LARGEST_DENSE_SIZE = 4000  # up to this size the whole matrix is used if Lanczos fails
EMBEDDING_TOLERANCE = 1e-4  # of eigenvalues, at most 1: enough to cluster the rows
WEAK_EDGE = 0.25  # of the mean weight over all pairs of vertices, as in Amini et al.
MACHINE_ACCURACY_ITEMS = 2000  # up to this many, coordinates are exact to machine precision


def leading_eigenpairs(
    operator: LinearOperator, n_components: int, *, tol: float = 0.0
) -> tuple[Float[np.ndarray, " components"], Float[np.ndarray, "size components"]]:
    """Return the largest eigenvalues of a symmetric operator, in decreasing order, and their eigenvectors.

    operator : symmetric LinearOperator
    n_components : at most its size.
    tol : relative accuracy of the eigenvalues; 0 means machine precision.

    Returns eigenvalues, eigenvectors: the entry of each vector with the largest absolute value is positive.
    """
    size = operator.shape[0]
    if size <= DENSE_SIZE or n_components >= size - 1:  # ARPACK needs fewer components than rows
        values, vectors = _of_whole_matrix(operator, n_components)
    else:
        values, vectors = _lanczos(operator, n_components, tol)
    order = np.argsort(-values, kind="stable")  # eigh returns rising values, eigsh promises no order
    return values[order], turn_upright(vectors[:, order])


def _of_whole_matrix(operator: LinearOperator, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    matrix = operator @ np.eye(operator.shape[0])
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)  # symmetric but for rounding
    return values[-n_components:], vectors[:, -n_components:]


def _lanczos(operator: LinearOperator, n_components: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos; a disconnected operator can make it fail: then with a larger space, or on the whole matrix."""
    size = operator.shape[0]
    rng = np.random.default_rng(SEED)
    for space in (2 * n_components + 20, 6 * n_components + 60):
        try:
            # v0: ARPACK's own start is random
            found = eigsh(
                operator, n_components, which="LA", v0=rng.standard_normal(size), tol=tol, ncv=min(space, size - 1)
            )
        except ArpackError as error:
            failure = error
        else:
            return found[0], found[1]
    if size > LARGEST_DENSE_SIZE:
        raise failure
    return _of_whole_matrix(operator, n_components)


def degree_normalised_embedding(incidence: csr_array, n_components: int) -> Float[np.ndarray, "items components"]:
    """Leading left singular vectors of D_items^(-1/2) B D_groups^(-1/2).

    Spectral partition of the graph of items and groups (Dhillon 2001; the hybrid bipartite graph of Fern &
    Brodley 2004). The cost is linear in the number of memberships. If the graph has more than `n_components` connected
    components and one of them holds most items, a weak edge between every item and every group connects them.

    incidence : (items, groups) sparse 0/1, B in the formula.
    n_components : at most the number of items.

    Returns ndarray, shape (n_items, n_components): rows of items without groups are zero.
    """
    size, n_groups = incidence.shape
    per_item = np.diff(incidence.indptr)
    per_group = np.bincount(incidence.indices, minlength=n_groups)
    with_group, with_item = (per_item > 0).astype(float), (per_group > 0).astype(float)
    _, part = connected_components(block_array([[None, incidence], [incidence.T, None]]), directed=False)
    edge = 0.0
    if _has_parts_beside_a_large_one(part[:size][per_item > 0], n_components):
        edge = WEAK_EDGE * len(incidence.indices) / (with_group.sum() * with_item.sum())
    per_item = per_item + edge * with_item.sum()
    per_group = per_group + edge * with_group.sum()
    scale = 1 / np.sqrt(np.repeat(per_item, np.diff(incidence.indptr)) * per_group[incidence.indices])
    scaled = csr_array((scale, incidence.indices, incidence.indptr), shape=incidence.shape)
    back = scaled.T.tocsr()
    if not edge:
        gram = _operator(lambda vectors: scaled @ (back @ vectors), size)
    else:
        of_items, of_groups = with_group / np.sqrt(per_item), with_item / np.sqrt(per_group)

        def product(vectors: np.ndarray) -> np.ndarray:
            inner = back @ vectors + np.multiply.outer(of_groups, edge * (of_items @ vectors))
            return np.asarray(scaled @ inner + np.multiply.outer(of_items, edge * (of_groups @ inner)))

        gram = _operator(product, size)
    _, vectors = leading_eigenpairs(gram, n_components, tol=EMBEDDING_TOLERANCE)
    return vectors


def degree_normalised_eigenpairs(
    similarity: csr_array, n_components: int
) -> tuple[Float[np.ndarray, " components"], Float[np.ndarray, "items components"]]:
    """Leading eigenvalues and eigenvectors of D^(-1/2) S D^(-1/2), D the row sums of S, none of which may be 0.

    If S has more than `n_components` connected components and one of them holds most items, a weak edge between every
    two items connects them.
    """
    size = similarity.shape[0]
    _, part = connected_components(similarity, directed=False)
    edge = WEAK_EDGE * similarity.sum() / size**2 if _has_parts_beside_a_large_one(part, n_components) else 0.0
    scale = 1 / np.sqrt(np.asarray(similarity.sum(1)) + edge * size)
    row = np.repeat(np.arange(size), np.diff(similarity.indptr))
    entries = similarity.data * (scale[row] * scale[similarity.indices])
    scaled = csr_array((entries, similarity.indices, similarity.indptr), shape=similarity.shape)
    tol = 0.0 if size <= MACHINE_ACCURACY_ITEMS else EMBEDDING_TOLERANCE
    if not edge:
        return leading_eigenpairs(aslinearoperator(scaled), n_components, tol=tol)

    def product(vectors: np.ndarray) -> np.ndarray:
        return np.asarray(scaled @ vectors + np.multiply.outer(scale, edge * (scale @ vectors)))

    return leading_eigenpairs(_operator(product, size), n_components, tol=tol)


def _has_parts_beside_a_large_one(part_of_item: Int[np.ndarray, " items"], n_components: int) -> bool:
    sizes = np.bincount(part_of_item)
    return bool((sizes > 0).sum() > n_components and 2 * sizes.max() > sizes.sum())


def _operator(product: Callable[[np.ndarray], np.ndarray], size: int) -> LinearOperator:
    # without matmat, SciPy multiplies column by column
    return LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)


def rows_of_length_one(rows: Float[np.ndarray, "items components"]) -> Float[np.ndarray, "items components"]:
    """Rows divided by their lengths; rows of zeros are kept."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-12)


def turn_upright(vectors: Float[np.ndarray, "size components"]) -> Float[np.ndarray, "size components"]:
    """Flip columns so that the largest entry of each is positive: the sign then does not depend on the machine."""
    largest = vectors[np.abs(vectors).argmax(0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)
