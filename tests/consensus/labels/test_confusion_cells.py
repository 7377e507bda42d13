"""Cells of confusion matrices: sparse ones are those of dense ones that have labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from consilience.consensus.labels.annotator_models import Hierarchical
from consilience.consensus.labels.confusion_cells import (
    DenseCells,
    RowPrior,
    SparseCells,
    digamma_rise,
    even_errors,
    log_gamma_rise,
    sum_log_errors,
)
from consilience.inference.label_counts import MOST_PROBABLE, ProbableLabels, probable
from consilience.inference.sparse_tables import SparseTable

N_ANNOTATORS, N_CLASSES = 3, 5
SHAPE = (N_ANNOTATORS, N_CLASSES, N_CLASSES)


def sparse_counts(counts, listed):
    """Counts of which only some cells are listed; the others are in the totals alone."""
    rows = np.where(listed, counts, 0.0).reshape(-1, N_CLASSES)
    return ProbableLabels(csr_array(rows), counts.sum(1))


def random_counts(rng):
    return np.where(rng.random(SHAPE) < 0.5, rng.gamma(1.0, size=SHAPE), 0.0)


def random_prior(rng, errors):
    accuracy = rng.uniform(0.3, 0.9, N_ANNOTATORS)
    return RowPrior(rng.uniform(0.5, 20, N_CLASSES), accuracy, 1 - accuracy, errors)


def dense_errors(errors):
    return np.maximum(errors.to_dense()[0], 0.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_cells_with_labels_have_the_sums_of_all(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng)
    sparse, dense = SparseCells(sparse_counts(counts, counts > 0)), DenseCells(counts, 1)
    tables = sparse.errors(rng.gamma(1.0, size=int((counts > 0).sum())) + 0.01)
    prior = random_prior(rng, tables)
    of_all = RowPrior(prior.concentration, prior.right, prior.wrong, dense_errors(tables))
    np.testing.assert_allclose(of_all.errors.sum(0), 1.0, rtol=1e-12)
    assert sum_log_errors(prior.errors) == pytest.approx(sum_log_errors(of_all.errors), rel=1e-12)
    np.testing.assert_allclose(sparse.totals, dense.totals)
    np.testing.assert_allclose(sparse.diagonal, dense.diagonal)
    for rise_of in (log_gamma_rise, digamma_rise):
        rises = sparse.rises(rise_of, sparse.prior(prior)), dense.rises(rise_of, dense.prior(of_all))
        for sums in ("of_components", "of_annotators", "right"):
            one, other = (getattr(cells, sums)(rise) for cells, rise in zip((sparse, dense), rises, strict=True))
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    logs = sparse.logarithms(prior, digamma, everywhere=True).to_dense()
    np.testing.assert_allclose(logs, dense.logarithms(of_all, digamma), rtol=1e-9)
    np.testing.assert_allclose(sparse.means(prior).to_dense().transpose(0, 2, 1), dense.means(of_all), rtol=1e-9)
    annotator, label = rng.integers(N_ANNOTATORS, size=4), rng.integers(N_CLASSES, size=4)
    for rows in ("prior_of_rows", "counts_of_rows"):
        given = [(prior,), (of_all,)] if rows == "prior_of_rows" else [(), ()]
        one, other = (
            getattr(cells, rows)(*args, annotator, label) for cells, args in zip((sparse, dense), given, strict=True)
        )
        np.testing.assert_allclose(one, other, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_errors_are_those_of_all_cells(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng)
    values = rng.gamma(1.0, size=SHAPE) + 0.01
    sparse, dense = SparseCells(sparse_counts(counts, counts > 0)), DenseCells(counts, 1)
    listed = values[counts > 0]
    order = np.argsort(np.flatnonzero((counts > 0).reshape(-1)))
    found = sparse.errors(listed[order])
    np.testing.assert_allclose(
        dense_errors(found), dense.errors(np.where(counts > 0, values, 0.0)), rtol=1e-9, atol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_spreading_labels_over_other_cells_never_raises_the_bound(seed):
    """Few labels in wrong cells of one prior: their ln Γ is convex, so that its mean is the least."""
    rng = np.random.default_rng(seed)
    counts = random_counts(rng)
    wrong = ~np.eye(N_CLASSES, dtype=bool)
    listed = (counts > 0) & ((rng.random(SHAPE) < 0.5) | ~wrong)
    prior = random_prior(rng, even_errors(N_CLASSES))
    sparse, dense = SparseCells(sparse_counts(counts, listed)), DenseCells(counts, 1)
    of_all = RowPrior(prior.concentration, prior.right, prior.wrong, dense_errors(prior.errors))
    least = sparse.of_components(sparse.rises(log_gamma_rise, sparse.prior(prior)))
    exact = dense.of_components(dense.rises(log_gamma_rise, dense.prior(of_all)))
    assert (least <= exact + 1e-9 * np.abs(exact)).all()


def test_cells_that_change_nothing_are_not_computed():
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(SHAPE) < 0.2, 1.0, 1e-30)
    cells, seen = DenseCells(counts, 1), []
    prior = rng.gamma(1.0, size=SHAPE) + 0.1

    def rise(x, n):
        seen.append(x.size)
        return log_gamma_rise(x, n)

    np.testing.assert_array_equal(cells.rises(rise, prior), gammaln(prior + counts) - gammaln(prior))
    assert seen == [int((counts == 1).sum())]


@pytest.mark.parametrize("x", [0.5, 99.0, 101.0, 1e4, 1e6])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_rises_have_as_many_digits_as_their_sums(x, n):
    """Differences of ln Γ and ψ have 9 of ψ at 1e6: bounds of large concentrations rose and fell by 1e-8."""
    terms = x + np.arange(n)
    near = {"rel": 2e-13}
    assert log_gamma_rise(np.array([x]), np.array([n]))[0] == pytest.approx(math.fsum(np.log(terms)), **near)
    assert digamma_rise(np.array([x]), np.array([n]))[0] == pytest.approx(math.fsum(1 / terms), **near)


def test_no_update_lowers_the_bound_of_sparse_counts():
    rng = np.random.default_rng(1)
    counts = random_counts(rng) + 5 * np.eye(N_CLASSES)
    model = Hierarchical.of(sparse_counts(counts, counts > 0.2))
    bounds = [model._own_bound()]
    for _ in range(10):
        model = model.update(model.counts)
        bounds.append(model._own_bound())
    assert (np.diff(bounds) >= -1e-8).all()
    assert isinstance(model.log_table, SparseTable)


def test_few_classes_of_an_item_are_probable():
    q = np.full((3, MOST_PROBABLE + 3), 1e-9)
    q[0, :2] = 0.6, 0.4
    q[1] = 1 / q.shape[1]  # none is more probable than another
    q[2] = np.arange(q.shape[1]) / np.arange(q.shape[1]).sum()
    found = probable(q)
    assert np.diff(found.indptr).tolist() == [2, 0, MOST_PROBABLE]
    np.testing.assert_allclose(found.toarray()[2, 3:], q[2, 3:])


def test_labels_without_probable_classes_are_in_the_totals():
    counts = np.zeros(SHAPE)
    counts[0, 1, 2] = 2.0
    held = sparse_counts(counts, np.zeros(SHAPE, dtype=bool))
    np.testing.assert_array_equal(held.rest, counts.sum(1))
    together = held + held
    np.testing.assert_array_equal(together.totals, 2 * counts.sum(1))
    with pytest.raises(TypeError, match="cannot be added"):
        held + 1.0
