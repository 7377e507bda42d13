"""Latent class model from third moments, by the orthogonal tensor power method.

Anandkumar, Ge, Hsu, Kakade & Telgarsky (2014), Tensor Decompositions for Learning Latent Variable Models, JMLR 15.

Three vectors a, b, c are independent given h ~ Categorical(w), with expectations α_k, β_k, γ_k at h = k.
Then, with ⊗ the outer product,

    E[a ⊗ b] = Σ_k w_k α_k ⊗ β_k                    and likewise for the other pairs
    E[a ⊗ b ⊗ c] = Σ_k w_k α_k ⊗ β_k ⊗ γ_k

`symmetric_moments` computes from these M2 = Σ_k w_k γ_k ⊗ γ_k and M3 = Σ_k w_k γ_k ⊗ γ_k ⊗ γ_k, and
`weights_and_columns` finds w and γ from M2 and M3: a whitening Q with Qᵀ M2 Q = I turns sqrt(w_k) γ_k into orthonormal
v_k = Qᵀ sqrt(w_k) γ_k, and M3 into Σ_k w_k^(-1/2) v_k ⊗ v_k ⊗ v_k, whose eigenpairs the power method finds one after
another.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from jaxtyping import Float

N_STARTS = 100  # for each component: of a noisy tensor, some end at lower eigenvalues
N_STEPS = 100
LEAST_EIGENVALUE = 1e-8  # of a second moment, relative to the largest: anything smaller is rounding
SETTLED = 1e-12  # largest change of a coordinate of a unit vector in the last step

Matrix = Float[np.ndarray, "labels labels"]
Tensor = Float[np.ndarray, "labels labels labels"]


def third_moment(
    a: Float[np.ndarray, "items a"], b: Float[np.ndarray, "items b"], c: Float[np.ndarray, "items c"]
) -> Float[np.ndarray, "a b c"]:
    """Σ_n a_n ⊗ b_n ⊗ c_n."""
    return np.stack([(a * column[:, None]).T @ b for column in c.T], axis=2)


def symmetric_moments(ab: Matrix, ac: Matrix, bc: Matrix, abc: Tensor) -> tuple[Matrix, Tensor]:
    """M2 and M3 of the third vector, from the moments of pairs and of all three vectors.

    a′ = E[c ⊗ b] E[a ⊗ b]⁻¹ a has the expectation γ_k at h = k, and so has b′, defined likewise: M2 = E[a′ ⊗ b′],
    M3 = E[a′ ⊗ b′ ⊗ c]. Both are averaged over the order of their axes, since sample moments are not exactly symmetric.
    """
    inverse = np.linalg.pinv(ab)
    m2 = bc.T @ inverse @ ac
    m3 = multilinear(abc, (bc.T @ inverse).T, (ac.T @ inverse.T).T, np.eye(len(ab)))
    # symmetric but for sampling
    return (m2 + m2.T) / 2, np.mean([m3.transpose(order) for order in permutations(range(3))], axis=0)


def weights_and_columns(
    m2: Matrix, m3: Tensor, rng: np.random.Generator, *, n_starts: int = N_STARTS, n_steps: int = N_STEPS
) -> tuple[Float[np.ndarray, " components"], Float[np.ndarray, "labels components"]]:
    """w and γ from M2 and M3, as many components as labels; also for moments of a sample, no w is above 1.

    Raises LinAlgError: M2 has fewer positive eigenvalues than labels.
    """
    whiten, unwhiten = whitening(m2)
    value, vector = orthogonal_components(
        multilinear(m3, whiten, whiten, whiten), rng, n_starts=n_starts, n_steps=n_steps
    )
    value = np.maximum(value, 1)  # w_k^(-1/2), of a weight of at most 1
    return value**-2.0, unwhiten @ vector * value


def whitening(m2: Matrix) -> tuple[Matrix, Matrix]:
    """Q with Qᵀ M2 Q = I, and the inverse of Qᵀ. Raises LinAlgError: an eigenvalue of M2 is not positive."""
    eigenvalue, basis = np.linalg.eigh(m2)
    if not eigenvalue[0] > LEAST_EIGENVALUE * eigenvalue[-1]:  # not `<=`, which NaN would pass
        rank = int((eigenvalue > LEAST_EIGENVALUE * eigenvalue[-1]).sum())
        raise np.linalg.LinAlgError(f"The second moment has {rank} positive eigenvalues of {len(m2)}.")
    return basis / np.sqrt(eigenvalue), basis * np.sqrt(eigenvalue)


def orthogonal_components(
    tensor: Tensor, rng: np.random.Generator, *, n_starts: int = N_STARTS, n_steps: int = N_STEPS
) -> tuple[Float[np.ndarray, " components"], Matrix]:
    """Eigenvalues λ and orthonormal eigenvectors v (columns) of a symmetric tensor Σ_k λ_k v_k ⊗ v_k ⊗ v_k, λ > 0.

    Each in turn is the best that the power method finds from random starts; it is then subtracted from the tensor.
    """
    n = len(tensor)
    rest, value, vector = tensor, np.empty(n), np.empty((n, n))
    for k in range(n):
        ends = power_method(rest, rng.normal(size=(n_starts, n)), n_steps)
        heights = np.einsum("sa,sa->s", _contract(rest, ends), ends)
        value[k], vector[:, k] = heights.max(), ends[heights.argmax()]
        rest = rest - value[k] * np.einsum("a,b,c->abc", *[vector[:, k]] * 3)
    return value, vector


def power_method(
    tensor: Tensor, starts: Float[np.ndarray, "starts labels"], n_steps: int
) -> Float[np.ndarray, "starts labels"]:
    """Iterate v ← T(·, v, v) / ‖T(·, v, v)‖ from all starts at once, until all have settled."""
    v = _unit(starts)
    for _ in range(n_steps):  # not `iterate`, which watches a bound: there is none here
        before, v = v, _unit(_contract(tensor, v))
        if np.abs(v - before).max() <= SETTLED:
            break
    return v


def multilinear(
    tensor: Float[np.ndarray, "a b c"],
    of_a: Float[np.ndarray, "a x"],
    of_b: Float[np.ndarray, "b y"],
    of_c: Float[np.ndarray, "c z"],
) -> Float[np.ndarray, "x y z"]:
    """T(A, B, C): a matrix applied to each axis."""
    return np.einsum("abc,ax,by,cz->xyz", tensor, of_a, of_b, of_c, optimize=True)


def _contract(tensor: Tensor, v: Float[np.ndarray, "starts labels"]) -> Float[np.ndarray, "starts labels"]:
    """T(·, v, v) for every v."""
    n = len(tensor)
    squares = (v[:, :, None] * v[:, None, :]).reshape(len(v), n * n)
    return squares @ tensor.reshape(n, n * n).T


def _unit(v: Float[np.ndarray, "starts labels"]) -> Float[np.ndarray, "starts labels"]:
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), np.finfo(float).tiny)
