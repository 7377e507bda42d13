"""Eigenpairs by Lanczos and of whole matrices against NumPy, and the embedding against a dense singular value
decomposition.
"""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, aslinearoperator, eigsh

from consilience import Groupings
from consilience.inference import spectral as module
from consilience.inference.memberships import Memberships
from consilience.inference.spectral import (
    DENSE_SIZE,
    WEAK_EDGE,
    degree_normalised_eigenpairs,
    degree_normalised_embedding,
    leading_eigenpairs,
    rows_of_length_one,
)
from tests.subset_groupings import arguments, made


def symmetric(size, seed=0):
    """A matrix with known, distinct eigenvalues, positive and negative."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((size, size)))
    values = np.linspace(-3.0, 2.0, size) ** 3
    return (basis * values) @ basis.T, values[::-1], basis[:, ::-1]


def hold_to(found, values, vectors):
    """Eigenvectors up to their signs, which are those of their largest entries."""
    n = len(found[0])
    np.testing.assert_allclose(found[0], values[:n], atol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(found[1] * vectors[:, :n], axis=0)), 1, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found[1], axis=0), 1, atol=1e-10)
    assert (found[1][np.abs(found[1]).argmax(0), np.arange(n)] > 0).all()


@pytest.mark.parametrize(
    ("size", "n_components"),
    [(1, 1), (2, 1), (7, 3), (DENSE_SIZE, 4), (DENSE_SIZE + 1, 4), (DENSE_SIZE + 1, DENSE_SIZE)],
)
def test_leading_eigenpairs(size, n_components):
    matrix, values, vectors = symmetric(size)
    hold_to(leading_eigenpairs(aslinearoperator(matrix), n_components), values, vectors)


def test_lanczos_uses_only_the_operator_and_is_deterministic():
    size, calls = DENSE_SIZE + 50, []
    matrix, values, vectors = symmetric(size, 1)

    def recorded(operator, *arguments, **settings):
        calls.append(settings)
        return eigsh(operator, *arguments, **settings)

    with patch.object(module, "eigsh", recorded), patch.object(module, "_of_whole_matrix", None):
        one, two = (leading_eigenpairs(aslinearoperator(matrix), 3, tol=0.0) for _ in range(2))
        leading_eigenpairs(aslinearoperator(matrix), 3, tol=1e-3)
    hold_to(one, values, vectors)
    np.testing.assert_array_equal(one[1], two[1])
    assert [settings["tol"] for settings in calls] == [0.0, 0.0, 1e-3]


@pytest.mark.parametrize("failures", [1, 2])
def test_lanczos_falls_back_to_a_larger_space_then_to_the_whole_matrix(failures):
    size, spaces = DENSE_SIZE + 20, []
    matrix, values, vectors = symmetric(size, 2)

    def failing(operator, n_components, **settings):
        spaces.append(settings["ncv"])
        if len(spaces) <= failures:
            raise ArpackError(-9999)
        return eigsh(operator, n_components, **settings)

    with patch.object(module, "eigsh", failing):
        hold_to(leading_eigenpairs(aslinearoperator(matrix), 3), values, vectors)
    assert spaces == [26, 78]


def test_lanczos_failure_is_raised_if_the_matrix_is_too_large():
    def failing(*_, **__):
        raise ArpackError(-9999)

    matrix, *_ = symmetric(DENSE_SIZE + 20)
    with patch.multiple(module, eigsh=failing, LARGEST_DENSE_SIZE=DENSE_SIZE), pytest.raises(ArpackError):
        leading_eigenpairs(aslinearoperator(matrix), 3)


def test_an_operator_with_many_identical_blocks():
    """Two hundred blocks of two items: an eigenvalue 200 times over, which a Krylov space holds once."""
    matrix = np.kron(np.eye(200), np.ones((2, 2)))
    values, vectors = leading_eigenpairs(aslinearoperator(matrix), 5)
    np.testing.assert_allclose(values, 2, atol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, 2 * vectors, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-8)


@settings(max_examples=30)
@given(arguments())
def test_embedding_has_the_singular_vectors_of_the_scaled_memberships(drawn):
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    b = memberships.in_group.toarray()
    with np.errstate(divide="ignore"):
        rows, columns = (np.where(d > 0, d, np.inf) ** -0.5 for d in (b.sum(1), b.sum(0)))
    scaled = rows[:, None] * b * columns
    gram = scaled @ scaled.T
    values = np.linalg.eigvalsh(gram)[::-1]
    found = degree_normalised_embedding(memberships.in_group, len(b))
    # all of them span everything; what a single one is shows in its eigenvalue, whichever the basis of alike ones
    np.testing.assert_allclose(found.T @ found, np.eye(len(b)), atol=1e-8)
    np.testing.assert_allclose(found.T @ gram @ found, np.diag(values), atol=1e-8)


@pytest.mark.parametrize("n_items", [60, DENSE_SIZE + 44])
def test_embedding_is_zero_for_items_without_groups_and_separates_parts(n_items):
    """Two parts of the graph: two singular values of 1, whose vectors are the roots of the degrees on each part."""
    rng = np.random.default_rng(0)
    half = (n_items - 10) // 2
    lists = []
    for _ in range(40):
        for first in (0, half):
            subset = first + rng.choice(half, 10 if n_items < 100 else 40, replace=False)
            lists.append([subset[:4].tolist(), subset[4:].tolist()])
    given_groupings = Groupings.from_lists(lists, items=range(n_items))
    degree = np.asarray(given_groupings.incidence.sum(1)).ravel()
    found = degree_normalised_embedding(given_groupings.incidence, 2)
    assert (degree[:-10] > 0).all()
    np.testing.assert_allclose(found[-10:], 0, atol=1e-8)
    expected = np.zeros((n_items, 2))
    expected[:half, 0], expected[half : 2 * half, 1] = np.sqrt(degree[:half]), np.sqrt(degree[half : 2 * half])
    expected /= np.linalg.norm(expected, axis=0)
    # vectors of one value are defined up to a rotation; to EMBEDDING_TOLERANCE where Lanczos finds them
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3 if n_items > DENSE_SIZE else 1e-8)


def in_many_parts(n_items):
    """Memberships of few groupings: one large component and many small ones; some items and one group are in none."""
    rng = np.random.default_rng(3)
    incidence = np.zeros((n_items, n_items // 2 + 1))
    for group in range(n_items // 2):
        incidence[rng.choice(n_items - 5, 1 + group % 4, replace=False), group] = 1
    return csr_array(incidence)


@pytest.mark.parametrize("n_items", [60, DENSE_SIZE + 44])
def test_weak_edges_connect_items_and_groups_of_more_parts_than_components(n_items):
    incidence = in_many_parts(n_items)
    b = incidence.toarray()
    items, groups = b.any(1), b.any(0)
    linked = b[np.ix_(items, groups)]
    linked = linked + WEAK_EDGE * linked.mean()
    vectors, values, _ = np.linalg.svd(linked / np.sqrt(np.outer(linked.sum(1), linked.sum(0))))
    assert (np.diff(values[:4]) < -1e-3).all()
    found = degree_normalised_embedding(incidence, 3)
    np.testing.assert_allclose(found[~items], 0, atol=1e-12)
    tol = 1e-9 if n_items <= DENSE_SIZE else 0.02  # Lanczos ends at EMBEDDING_TOLERANCE
    np.testing.assert_allclose(np.abs((found[items] * vectors[:, :3]).sum(0)), 1, atol=tol)
    order = np.random.default_rng(0).permutation(n_items)
    moved = degree_normalised_embedding(csr_array(b[order]), 3)
    np.testing.assert_allclose(moved, found[order], atol=tol)


def test_no_edge_is_added_where_the_components_are_as_many_as_the_parts():
    incidence = in_many_parts(60)
    b = incidence.toarray()
    n_parts = int(connected_components(csr_array(b @ b.T), directed=False)[0] - (~b.any(1)).sum())
    found = degree_normalised_embedding(incidence, n_parts)
    items, groups = b.any(1), b.any(0)
    scaled = b[np.ix_(items, groups)] / np.sqrt(np.outer(b.sum(1)[items], b.sum(0)[groups]))
    np.testing.assert_allclose(scaled @ scaled.T @ found[items], found[items], atol=1e-9)


def test_no_edge_is_added_to_graphs_in_small_pieces():
    """Three pairs and a group of three: no component holds most of the nine items."""
    incidence = np.zeros((9, 4))
    for group, items in enumerate(([0, 1], [2, 3], [4, 5], [6, 7, 8])):
        incidence[items, group] = 1
    found = degree_normalised_embedding(csr_array(incidence), 2)
    together = incidence @ incidence.T
    np.testing.assert_allclose(together @ found / together.sum(1, keepdims=True), found, atol=1e-9)
    values, _ = degree_normalised_eigenpairs(csr_array(together), 2)
    np.testing.assert_allclose(values, 1, atol=1e-9)


def test_eigenpairs_of_similarities_in_more_parts_than_components():
    b = in_many_parts(80).toarray()
    similarity = (b @ b.T)[np.ix_(b.any(1), b.any(1))]
    connected = similarity + WEAK_EDGE * similarity.mean()
    scale = 1 / np.sqrt(connected.sum(1))
    values, vectors = np.linalg.eigh(scale[:, None] * connected * scale)
    hold_to(degree_normalised_eigenpairs(csr_array(similarity), 3), values[::-1], vectors[:, ::-1])
    n_parts, _ = connected_components(csr_array(similarity), directed=False)
    values, _ = degree_normalised_eigenpairs(csr_array(similarity), n_parts)
    np.testing.assert_allclose(values, 1, atol=1e-9)


def test_rows_of_length_one():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0], [1e-13, 0.0]])
    np.testing.assert_allclose(rows_of_length_one(rows), [[0.6, 0.8], [0, 0], [0, -1], [0, 0]])
    assert rows[0].tolist() == [3, 4]
