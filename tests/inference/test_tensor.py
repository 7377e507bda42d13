"""Moments of three views and their decomposition against mixtures that are known exactly."""

import itertools

import numpy as np
import pytest

from consilience.inference.tensor import (
    multilinear,
    orthogonal_components,
    power_method,
    symmetric_moments,
    third_moment,
    weights_and_columns,
    whitening,
)


def mixture(n, seed):
    """Weights, and the columns of three views, (3, n, n)."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(n, 5.0))
    return weights, rng.dirichlet(np.ones(n), size=(3, n)).transpose(0, 2, 1) + 0.5 * np.eye(n)


def moments(weights, a, b, c):
    """E[a ⊗ b], E[a ⊗ c], E[b ⊗ c] and E[a ⊗ b ⊗ c], component by component."""
    n = len(weights)
    ab, ac, bc, abc = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n, n))
    for k, w in enumerate(weights):
        ab += w * np.outer(a[:, k], b[:, k])
        ac += w * np.outer(a[:, k], c[:, k])
        bc += w * np.outer(b[:, k], c[:, k])
        abc += w * np.multiply.outer(np.outer(a[:, k], b[:, k]), c[:, k])
    return ab, ac, bc, abc


def in_order(weights, columns):
    """Components by the first coordinate of their columns."""
    order = columns[0].argsort()
    return weights[order], columns[:, order]


def test_third_moment_is_the_sum_of_outer_products():
    a, b, c = (np.random.default_rng(seed).normal(size=(6, n)) for seed, n in enumerate([2, 3, 4]))
    explicit = sum(np.multiply.outer(np.outer(x, y), z) for x, y, z in zip(a, b, c))
    np.testing.assert_allclose(third_moment(a, b, c), explicit)


def test_multilinear_applies_a_matrix_to_each_axis():
    rng = np.random.default_rng(0)
    tensor, a, b, c = (rng.normal(size=shape) for shape in [(2, 3, 4), (2, 2), (3, 1), (4, 3)])
    found = multilinear(tensor, a, b, c)
    for x, y, z in itertools.product(range(2), range(1), range(3)):
        cells = itertools.product(range(2), range(3), range(4))
        assert found[x, y, z] == pytest.approx(sum(tensor[i, j, k] * a[i, x] * b[j, y] * c[k, z] for i, j, k in cells))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_symmetric_moments_are_those_of_the_third_view_with_itself(n):
    weights, (a, b, c) = mixture(n, seed=n)
    m2, m3 = symmetric_moments(*moments(weights, a, b, c))
    of_c = moments(weights, c, c, c)
    np.testing.assert_allclose(m2, of_c[0], rtol=1e-9)
    np.testing.assert_allclose(m3, of_c[3], rtol=1e-9)


def test_symmetric_moments_of_a_sample_are_symmetric():
    rng = np.random.default_rng(1)
    m2, m3 = symmetric_moments(*rng.random((3, 3, 3)), rng.random((3, 3, 3)))
    np.testing.assert_array_equal(m2, m2.T)
    for order in itertools.permutations(range(3)):
        np.testing.assert_allclose(m3, m3.transpose(order))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_population_moments_recover_weights_and_columns(n):
    weights, (a, b, c) = mixture(n, seed=10 + n)
    found = weights_and_columns(*symmetric_moments(*moments(weights, a, b, c)), np.random.default_rng(0))
    for mine, true in zip(in_order(*found), in_order(weights, c)):
        np.testing.assert_allclose(mine, true, atol=1e-7)


@pytest.mark.parametrize("value", [[3.0, 2.0, 1.5, 1.1], [2.0, 2.0, 2.0, 2.0]])
def test_components_of_an_orthogonal_tensor_are_found(value):
    vector = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    tensor = np.einsum("k,ak,bk,ck->abc", value, vector, vector, vector)
    found_value, found_vector = orthogonal_components(tensor, np.random.default_rng(3))
    mine, true = in_order(found_value, found_vector), in_order(np.array(value), vector)
    np.testing.assert_allclose(mine[0], true[0], atol=1e-9)
    np.testing.assert_allclose(mine[1], true[1], atol=1e-9)


def test_components_survive_a_little_noise():
    rng = np.random.default_rng(4)
    vector = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    value = np.array([1.2, 1.6, 2.0, 2.4])
    noise = rng.normal(size=(4, 4, 4)) * 1e-3
    noise = np.mean([noise.transpose(order) for order in itertools.permutations(range(3))], axis=0)
    tensor = np.einsum("k,ak,bk,ck->abc", value, vector, vector, vector) + noise
    found = in_order(*orthogonal_components(tensor, rng))
    np.testing.assert_allclose(found[0], in_order(value, vector)[0], atol=5e-3)  # of the size of the noise
    np.testing.assert_allclose(found[1], in_order(value, vector)[1], atol=5e-3)


def test_power_method_stops_at_a_fixed_point():
    vector = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    tensor = np.einsum("k,ak,bk,ck->abc", [1.0, 2.0, 3.0], vector, vector, vector)
    starts = np.random.default_rng(6).normal(size=(20, 3))
    ends = power_method(tensor, starts, 100)
    for start, end in zip(starts, ends):
        # coordinate k of T(., v, v) is λ_k times the square of v's: the largest λ_k |v_k| of the start wins
        winner = np.abs([1.0, 2.0, 3.0] * (start @ vector)).argmax()
        np.testing.assert_allclose(end, vector[:, winner], atol=1e-9)


def test_power_method_takes_at_most_n_steps():
    tensor = np.einsum("k,ak,bk,ck->abc", [1.0, 2.0], *[np.eye(2)] * 3)
    # T(., v, v) = (v_1², 2 v_2²): (4, 1) leads to (16, 2), and that to (256, 8)
    np.testing.assert_allclose(power_method(tensor, np.array([[4.0, 1.0]]), 2), [np.array([256, 8]) / np.hypot(256, 8)])


def test_no_weight_of_a_sample_is_above_one():
    weights, (a, b, c) = mixture(3, seed=9)
    m2, m3 = symmetric_moments(*moments(weights, a, b, c))
    found, columns = weights_and_columns(m2, m3 / 100, np.random.default_rng(0))
    np.testing.assert_array_equal(found, [1, 1, 1])
    # the eigenvectors are as before, so the columns keep their directions
    np.testing.assert_allclose(
        in_order(found, columns / columns.sum(0))[1], in_order(weights, c / c.sum(0))[1], atol=1e-6
    )


def test_whitening_makes_the_second_moment_the_identity():
    weights, (_, _, c) = mixture(4, seed=7)
    m2 = c * weights @ c.T
    whiten, unwhiten = whitening(m2)
    np.testing.assert_allclose(whiten.T @ m2 @ whiten, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(unwhiten, np.linalg.inv(whiten.T), atol=1e-9)


@pytest.mark.parametrize(
    ("eigenvalues", "rank"), [([1.0, 0.5, 0.0], 2), ([1.0, 0.5, -0.1], 2), ([1.0, 1e-12, 0.0], 1), ([0.0, 0.0, 0.0], 0)]
)
def test_fewer_positive_eigenvalues_than_labels_raise(eigenvalues, rank):
    basis = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    with pytest.raises(np.linalg.LinAlgError, match=f"{rank} positive eigenvalues of 3"):
        whitening(basis * eigenvalues @ basis.T)
