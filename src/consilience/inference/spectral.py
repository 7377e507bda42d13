"""Leading eigenvectors and singular vectors of operators, computed deterministically."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

SEED = 0  # of the vector from which Lanczos starts: it changes the result by rounding alone
DENSE_SIZE = 256  # up to this size the whole matrix is as cheap
LARGEST_DENSE_SIZE = 4000  # up to this size the whole matrix is used if Lanczos fails
EMBEDDING_TOLERANCE = 1e-4  # of eigenvalues, at most 1: enough to cluster the rows
MACHINE_ACCURACY_ITEMS = 2000  # up to this many, coordinates are exact to machine precision


def leading_eigenpairs(
    operator: LinearOperator, n_components: int, *, tol: float = 0.0
) -> tuple[Float[np.ndarray, " components"], Float[np.ndarray, "size components"]]:
    """Return the largest eigenvalues of a symmetric operator, in decreasing order, and their eigenvectors.

    Parameters
    ----------
    operator : symmetric LinearOperator
    n_components : at most its size.
    tol : relative accuracy of the eigenvalues; 0 means machine precision.

    Returns
    -------
    eigenvalues, eigenvectors
        The entry of each vector with the largest absolute value is positive.
    """
    size = operator.shape[0]
    if size <= DENSE_SIZE or n_components >= size - 1:
        values, vectors = _of_whole_matrix(operator, n_components)
    else:
        values, vectors = _lanczos(operator, n_components, tol)
    order = np.argsort(-values, kind="stable")
    return values[order], _with_signs(vectors[:, order])


def _of_whole_matrix(operator: LinearOperator, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    matrix = operator @ np.eye(operator.shape[0])
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return values[-n_components:], vectors[:, -n_components:]


def _lanczos(operator: LinearOperator, n_components: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos; a disconnected operator can make it fail: then with a larger space, or on the whole matrix."""
    size = operator.shape[0]
    rng = np.random.default_rng(SEED)
    for space in (2 * n_components + 20, 6 * n_components + 60):
        try:
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
    Brodley 2004). The cost is linear in the number of memberships.

    Parameters
    ----------
    incidence : (items, groups) sparse 0/1, B in the formula.
    n_components : at most the number of items.

    Returns
    -------
    ndarray, shape (n_items, n_components)
        Rows of items without groups are zero.
    """
    per_item = np.diff(incidence.indptr)
    per_group = np.bincount(incidence.indices, minlength=incidence.shape[1])
    scale = 1 / np.sqrt(np.repeat(per_item, per_item) * per_group[incidence.indices])
    scaled = csr_array((scale, incidence.indices, incidence.indptr), shape=incidence.shape)
    back = scaled.T.tocsr()
    size = incidence.shape[0]

    def product(vectors: np.ndarray) -> np.ndarray:
        return np.asarray(scaled @ (back @ vectors))

    gram = LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)
    _, vectors = leading_eigenpairs(gram, n_components, tol=EMBEDDING_TOLERANCE)
    return vectors


def rows_of_length_one(rows: Float[np.ndarray, "items components"]) -> Float[np.ndarray, "items components"]:
    """Rows divided by their lengths; rows of zeros are kept."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-12)


def _with_signs(vectors: Float[np.ndarray, "size components"]) -> Float[np.ndarray, "size components"]:
    largest = vectors[np.abs(vectors).argmax(0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)
