"""Elimination against NumPy, its derivatives against numerical ones, and no LAPACK in what is compiled."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from consilience.deep import SCDC, BayesSCDC, restarts
from consilience.deep.linear_algebra import cholesky, inverse_and_log_determinant, inverse_of_lower
from consilience.simulation import simulate_pairs
from tests.deep.precision import enable_x64


@pytest.fixture(params=[1, 2, 7])
def matrices(request):
    """Positive definite, some almost singular, of this size."""
    rng = np.random.default_rng(request.param)
    root = rng.normal(size=(4, request.param, request.param))
    return jnp.asarray(root @ root.swapaxes(1, 2) + 1e-3 * np.eye(request.param))


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def test_equals_numpy(matrices):
    root, (inverse, log_determinant) = cholesky(matrices), inverse_and_log_determinant(matrices)
    np.testing.assert_allclose(root, np.linalg.cholesky(matrices), atol=1e-10)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrices), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(matrices)[1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(inverse_of_lower(root), np.linalg.inv(root), rtol=1e-8, atol=1e-8)


def test_derivatives_are_numerical_ones(matrices):
    def symmetric(free):
        return free + free.swapaxes(1, 2) + 4 * matrices.shape[-1] * jnp.eye(matrices.shape[-1])

    for function in (cholesky, inverse_and_log_determinant, lambda matrix: inverse_of_lower(jnp.tril(matrix))):
        check_grads(
            jax.jit(lambda free, function=function: function(symmetric(free))), (matrices,), order=1, modes=["rev"]
        )


def test_a_matrix_that_is_not_positive_definite_gives_nan():
    assert jnp.isnan(cholesky(jnp.array([[1.0, 2.0], [2.0, 1.0]]))).any()


def test_no_module_uses_lapack():
    for path in Path(restarts.__file__).parent.glob("*.py"):
        assert not {"jnp.linalg", "jax.numpy.linalg", "jax.scipy.linalg"} & set(
            re.findall(r"[a-z.]+linalg", path.read_text())
        )


@pytest.mark.slow
@pytest.mark.parametrize("model", [BayesSCDC, SCDC])
def test_compiled_training_does_not_call_lapack(model, monkeypatch):
    """LAPACK may hang there; see `linear_algebra`."""
    compiled = []

    def lowered(model, data, course, n_epochs):
        compiled.append(restarts._train.lower(model, data, course.fits).compile().as_text())
        return advance(model, data, course, n_epochs)

    advance = restarts.advance
    monkeypatch.setattr(restarts, "advance", lowered)
    X = np.random.default_rng(0).normal(size=(30, 4)).astype("float32")
    said = simulate_pairs([0, 1, 2] * 10, n_annotators=2, pairs_each=20, accuracy=0.9, random_state=0)
    with enable_x64(False):
        model(3, n_latent=3, hidden=(5,), n_init=2, n_epochs=1, warm_epochs=1, random_state=0).fit(X, said)
    assert len(compiled) == 1
    assert 'custom_call_target="lapack' not in compiled[0]
