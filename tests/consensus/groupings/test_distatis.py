"""DISTATIS from sparse memberships against the dense definition of Algorithm 1, on subsets of every kind."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings

from consilience import Groupings
from consilience.consensus.groupings import distatis
from consilience.inference import spectral
from consilience.inference.memberships import Memberships
from tests.subset_groupings import arguments, dense, made


def definition(given_groupings):
    """Ξ C_h Ξ, its first eigenvalue, and R, all dense."""
    c, _ = dense(given_groupings)
    centre = np.eye(len(given_groupings)) - 1 / len(given_groupings)
    s = centre @ c @ centre
    first = np.linalg.eigvalsh(s)[:, -1]
    first[first < 1e-9] = 0
    norm = np.sqrt(np.einsum("hij,hij->h", s, s))
    scale = np.divide(1, norm, out=np.zeros_like(norm), where=norm > 1e-6)
    return s, first, np.einsum("hij,lij->hl", s, s) * scale[:, None] * scale


@settings(max_examples=30)
@given(arguments())
def test_first_eigenvalues(drawn):
    given_groupings = made(drawn)
    _, first, _ = definition(given_groupings)
    np.testing.assert_allclose(distatis.first_eigenvalues(Memberships.of(given_groupings)), first, atol=1e-8)


@settings(max_examples=30)
@given(arguments())
def test_agreement_by_pairs_and_by_shared_groups(drawn):
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    c, _ = dense(given_groupings)
    together = c - np.eye(len(given_groupings))
    x = np.einsum("hij,lij->hl", together, together)
    every = np.eye(memberships.n_groupings)
    for product in (distatis._by_pairs(memberships), distatis._by_shared_groups(memberships)):
        np.testing.assert_allclose([product(one) for one in every], x, atol=1e-10)
    _, _, r = definition(given_groupings)
    for way in (distatis._by_pairs, distatis._by_shared_groups):
        with patch.object(distatis, "_pairs_both_put_together", lambda m, way=way: (way(m), x.diagonal())):
            np.testing.assert_allclose(distatis.agreement(memberships) @ every, r, atol=1e-8)
    np.testing.assert_allclose(distatis.agreement(memberships) @ every, r, atol=1e-8)


@settings(max_examples=30)
@given(arguments())
def test_weights_are_the_first_eigenvector(drawn):
    given_groupings = made(drawn)
    _, _, r = definition(given_groupings)
    values, vectors = np.linalg.eigh(r)
    found = distatis.weights(Memberships.of(given_groupings))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assume(len(values) == 1 or values[-1] - values[-2] > 1e-3)  # else it is no one vector
    expected = np.abs(vectors[:, -1])
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-8)


@settings(max_examples=30)
@given(arguments())
def test_coordinates_have_the_products_of_the_compromise(drawn):
    given_groupings = made(drawn)
    memberships = Memberships.of(given_groupings)
    s, first, _ = definition(given_groupings)
    w = np.linspace(1, 2, len(first))
    w /= w.sum()
    compromise = np.tensordot(np.divide(w, first, out=np.zeros_like(w), where=first > 0), s, 1)
    f, values = distatis.coordinates(memberships, w, len(compromise))
    np.testing.assert_allclose(f @ f.T, compromise, atol=1e-8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(compromise)[::-1], atol=1e-8)
    np.testing.assert_allclose(f.T @ f, np.diag(np.maximum(values, 0)), atol=1e-8)
    first_of_all, _ = distatis.coordinates(memberships, w, 1)  # one of them, where several have this eigenvalue
    np.testing.assert_allclose(compromise @ first_of_all, values[0] * first_of_all, atol=1e-8)
    np.testing.assert_allclose(first_of_all.T @ first_of_all, max(values[0], 0), atol=1e-8)


def test_the_same_by_lanczos():
    rng = np.random.default_rng(0)
    cluster, lists = rng.integers(3, size=60), []
    for _ in range(50):
        subset = rng.choice(60, 20, replace=False)
        said = np.where(rng.random(20) < 0.2, rng.integers(3, size=20), cluster[subset])
        lists.append([subset[said == g].tolist() for g in range(3)])
    given_groupings = Groupings.from_lists(lists, items=range(60))
    memberships = Memberships.of(given_groupings)
    s, first, r = definition(given_groupings)
    vector = np.abs(np.linalg.eigh(r)[1][:, -1])
    with patch.multiple(spectral, DENSE_SIZE=20, _of_whole_matrix=None):
        w = distatis.weights(memberships)
        f, _ = distatis.coordinates(memberships, w, 2)
    np.testing.assert_allclose(w, vector / vector.sum(), atol=1e-8)
    values, vectors = np.linalg.eigh(np.tensordot(w / first, s, 1))
    expected = vectors[:, -2:] * np.sqrt(values[-2:])
    np.testing.assert_allclose(f @ f.T, expected @ expected.T, atol=1e-8)


def test_the_cheaper_product_is_used():
    small = Memberships.of(Groupings.from_lists([[[0, 1], [2, 3]]] * 9))
    large = Memberships.of(Groupings.from_lists([[list(range(9))]]))
    for memberships, way in ((small, "_by_pairs"), (large, "_by_shared_groups")):
        with patch.object(distatis, way, side_effect=LookupError(way)), pytest.raises(LookupError, match=way):
            distatis.agreement(memberships)


def test_a_grouping_with_a_single_group_has_no_weight():
    lists = [[["a", "b"], ["c", "d"]], [["a", "b", "c", "d"]], [["a", "b"], ["c"], ["d"]]]
    w = distatis.weights(Memberships.of(Groupings.from_lists(lists)))
    assert w[1] == pytest.approx(0, abs=1e-12)
    assert (w[[0, 2]] > 0.3).all()


def test_an_outlier_has_less_weight():
    """Four equal groupings and a different one, which has less weight by Algorithm 1."""
    lists = [[[0, 1, 2], [3, 4, 5]]] * 4 + [[[0, 3], [1, 4], [2, 5]]]
    w = distatis.weights(Memberships.of(Groupings.from_lists(lists)))
    np.testing.assert_allclose(w[:4], w[0])
    assert w[4] < w[0] / 2
