"""Inverses and determinants of many small positive definite matrices, by elimination in JAX operations.

LAPACK is not used: JAX calls it from the threads of a pool, and LAPACK divides a batch among the threads of the same
pool and waits for them. Two such calls at once on a machine with two cores wait for ever (jaxlib 0.10). For matrices of
about ten rows elimination is as fast.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

Matrices = Float[Array, "*batch dims dims"]


@jax.custom_vjp
@jax.jit
def inverse_and_log_determinant(matrix: Matrices) -> tuple[Array, Array]:
    """Inverse and log-determinant of positive definite matrices.

    By Gauss-Jordan elimination in place: column k, of no more use after its step, holds that of the inverse.
    """
    dims = matrix.shape[-1]
    places = jnp.arange(dims)[:, None, None]

    def step(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        matrices, pivots = carry
        row = jax.lax.dynamic_index_in_dim(matrices, k, 0)
        column = jax.lax.dynamic_index_in_dim(matrices, k, 1)
        pivot = jax.lax.dynamic_index_in_dim(row, k, 1)
        factor = jnp.where(places != k, column / pivot, 0)
        of_inverse = jnp.where(places == k, 1, -factor)
        matrices = jnp.where(places[:, 0] == k, of_inverse, matrices - factor * row)
        return matrices, jax.lax.dynamic_update_index_in_dim(pivots, pivot[0, 0], k, 0)

    matrices = jnp.moveaxis(matrix.reshape(-1, dims, dims), 0, -1)  # last, as operations are vectorised in that axis
    inverse, pivots = jax.lax.fori_loop(0, dims, step, (matrices, jnp.ones_like(matrices[0])))
    inverse = jnp.moveaxis(inverse / pivots[:, None], -1, 0).reshape(matrix.shape)
    return inverse, jnp.log(pivots).sum(0).reshape(matrix.shape[:-2])


def _inverse_forward(matrix: Array) -> tuple[tuple[Array, Array], Array]:
    found = inverse_and_log_determinant(matrix)
    return found, found[0]


def _inverse_backward(inverse: Array, pull: tuple[Array, Array]) -> tuple[Array]:
    """d A⁻¹ = −A⁻¹ dA A⁻¹,  d ln|A| = tr(A⁻¹ dA)."""
    return (pull[1][..., None, None] * inverse - inverse @ pull[0] @ inverse,)


inverse_and_log_determinant.defvjp(_inverse_forward, _inverse_backward)


@jax.custom_vjp
def cholesky(matrix: Matrices) -> Matrices:
    """Lower L of A = L Lᵀ."""
    return _root_and_inverse(matrix)[0]


def _cholesky_forward(matrix: Array) -> tuple[Array, tuple[Array, Array]]:
    found = _root_and_inverse(matrix)
    return found[0], found


def _cholesky_backward(found: tuple[Array, Array], pull: Array) -> tuple[Array]:
    """d L = L Φ(L⁻¹ dA L⁻ᵀ), with Φ the lower triangle, its diagonal halved."""
    root, inverse = found
    inner = jnp.tril(jnp.swapaxes(root, -1, -2) @ pull)
    inner -= _diagonal(inner)[..., None] * jnp.eye(root.shape[-1], dtype=root.dtype) / 2
    half = jnp.swapaxes(inverse, -1, -2) @ inner @ inverse / 2
    return (half + jnp.swapaxes(half, -1, -2),)


cholesky.defvjp(_cholesky_forward, _cholesky_backward)


def inverse_of_lower(lower: Matrices) -> Matrices:
    """Inverse of lower triangular matrices."""
    pivots, inverse = _eliminate(lower)
    return inverse / _diagonal(pivots)[..., None]


def _root_and_inverse(matrix: Array) -> tuple[Array, Array]:
    """L of A = L Lᵀ, and L⁻¹."""
    upper, inverse = _eliminate(matrix)
    scale = jnp.sqrt(_diagonal(upper))[..., None]
    return jnp.swapaxes(jnp.triu(upper / scale), -1, -2), inverse / scale


@jax.jit
def _eliminate(matrix: Array) -> tuple[Array, Array]:
    """A and I after elimination of the entries below the diagonal of A."""
    dims = matrix.shape[-1]
    places = jnp.arange(dims)[:, None]

    def step(k: Array, both: Array) -> Array:
        row = jax.lax.dynamic_index_in_dim(both, k, -2)
        column = jax.lax.dynamic_index_in_dim(both, k, -1)
        return both - jnp.where(places > k, column / jax.lax.dynamic_index_in_dim(row, k, -1), 0) * row

    identity = jnp.broadcast_to(jnp.eye(dims, dtype=matrix.dtype), matrix.shape)
    both = jax.lax.fori_loop(0, dims, step, jnp.concatenate([matrix, identity], -1))
    return both[..., :dims], both[..., dims:]


def _diagonal(matrix: Array) -> Array:
    return jnp.diagonal(matrix, axis1=-2, axis2=-1)
