"""DeepMCVC: its bound against sums, recovery of a nonlinear view, two views."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from consilience import concat
from consilience.deep import DeepMCVC, deep_mcvc
from consilience.deep.judgements import annotated_items, judgements
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_pairs

QUICK = {"hidden": (16,), "n_init": 3, "n_sweeps": 60, "random_state": 0}


def rings(n_items=120):
    """A disc and the ring around it, which are not linearly separable."""
    rng = np.random.default_rng(0)
    z = np.arange(n_items) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n_items), 1 + 2 * z + 0.2 * rng.normal(size=n_items)
    X = pd.DataFrame({"x": radius * np.cos(angle), "y": radius * np.sin(angle)})
    return X / X.std(), z


@pytest.fixture(scope="module")
def fitted():
    X, z = rings()
    said = simulate_pairs(pd.Series(z[:60]), 3, 150, 0.9, random_state=0).reindex(X.index)
    return DeepMCVC(2, max_views=1, **QUICK).fit(X, said), X, z


@pytest.mark.slow
def test_finds_nonlinear_clusters_and_predicts_the_rest(fitted):
    model, X, z = fitted
    assert nmi(z, model.labels_) > 0.9
    assert nmi(z[60:], model.predict(X.iloc[60:])) > 0.9
    np.testing.assert_allclose(model.predict_proba(X.iloc[60:]), model.responsibilities_[60:], atol=1e-5)
    assert model.annotators_["weight"].between(2, 7).all()  # the true one is 2 ln 9 = 4.4


@pytest.mark.slow
def test_two_views():
    rng = np.random.default_rng(0)
    colour, form = rng.integers(2, size=(2, 100))
    X = pd.DataFrame(np.column_stack([colour, form]) * 3 + rng.normal(size=(100, 2)) * 0.5)
    by_colour = simulate_pairs(colour, 3, 200, 0.95, random_state=0)
    by_form = simulate_pairs(form, 3, 200, 0.95, random_state=1)
    turned = by_form.to_frame()
    turned["annotator"] = "other " + turned["annotator"].astype(str)
    said = concat([by_colour, type(by_form).from_frame(turned, items=range(100))])
    model = DeepMCVC(2, max_views=3, **QUICK).fit((X - X.mean()) / X.std(), said)
    assert len(model.views_) == 2
    views = model.annotators_["view"]
    assert views.groupby(views.index.str.startswith("other")).nunique().tolist() == [1, 1]
    found = model.view_labels_.to_numpy().T
    held = int(views[~views.index.str.startswith("other")].iloc[0])
    assert nmi(colour, found[held]) > 0.9
    assert nmi(form, found[1 - held]) > 0.9


def test_bound_against_sums_over_pairs():
    X, z = rings(8)
    said = simulate_pairs(z, 2, 10, 0.8, random_state=0)
    items = annotated_items(said)
    judged = judgements(said, items, implied="all")
    settings = deep_mcvc.DeepMCVCSettings((2, 4, 3), 2, 1, 0.01, 1.0, 1.0, (10.0, 1.0))
    features = jnp.asarray(X.to_numpy()[items], jnp.float32)
    start = jax.jit(deep_mcvc.init, static_argnums=(0, 2))(settings, features, 2, jax.random.key(0))
    state = jax.jit(deep_mcvc.sweep, static_argnums=0)(settings, features, judged, start)
    same, apart = (np.asarray(part) for part in deep_mcvc.pair_weights(state))
    eta, phi = np.asarray(state.eta), np.asarray(state.phi)
    place = np.full(8, -1)
    place[items] = np.arange(len(items))
    log_beta = np.asarray(deep_mcvc.expected_log(state.right[1]))
    said_total = 0.0
    for a, b, m, together in zip(place[said.item_a], place[said.item_b], said.annotator, said.same, strict=True):
        alike = sum(phi[m, g] * eta[g, a] @ eta[g, b] for g in range(2))
        said_total += alike * (same if together else apart)[m] + log_beta[m, 1 if together else 0]
    prior = jnp.array([10.0, 1.0])
    rest = (phi * np.asarray(deep_mcvc.expected_log_sticks(state.sticks))).sum() - (phi * np.log(phi)).sum()
    rest -= float(deep_mcvc.kl_dirichlet(state.sticks, jnp.ones(2)).sum())
    rest -= float(deep_mcvc.kl_dirichlet(state.right, prior).sum())
    rest += (eta * np.asarray(deep_mcvc.scores(state.networks, features))).sum() - (eta * np.log(eta)).sum()
    rest += float(deep_mcvc.log_prior(settings, state.networks))
    bound = float(jax.jit(deep_mcvc.lower_bound, static_argnums=0)(settings, features, judged, state))
    np.testing.assert_allclose(bound, said_total + rest, rtol=1e-4)


@pytest.mark.slow
def test_predict_same_uses_the_annotators_view(fitted):
    model, X, _ = fitted
    within = (model.responsibilities_[0] * model.responsibilities_[2]).sum()
    assert model.predict_same(X.index[0], X.index[2]) == pytest.approx(within)
    own = model.annotators_.iloc[0]
    expected = within * own["sensitivity"] + (1 - within) * (1 - own["specificity"])
    assert model.predict_same(X.index[0], X.index[2], model.annotators_.index[0]) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "value"), [("n_clusters", 0), ("hidden", 4), ("max_views", "all"), ("n_sweeps", 0)])
def test_invalid_parameters(name, value):
    X, z = rings()
    with pytest.raises(InputError, match=f"The '{name}' parameter of DeepMCVC must be"):
        DeepMCVC(**{name: value}).fit(X, simulate_pairs(z, 2, 10, 0.9, random_state=0))
