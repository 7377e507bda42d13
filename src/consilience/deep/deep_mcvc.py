"""Deep MCVC: clustering views from uncertain experts, each predicted from the features by a network.

Luo et al. (2018), appendix C: Chang et al. (2017), Multiple Clustering Views from Multiple Uncertain Experts, ICML,
with a network instead of the linear scores. It learns from annotated items only, and predicts the others.

Model
-----
    ν_g ~ Beta(1, γ),  v_g = ν_g Π_{l<g} (1 − ν_l)     g = 1 … G; the last stick takes the rest
    c_m ~ Categorical(v)                              the view by which annotator m judges
    z_i^g ~ softmax(f_g(x_i))                         cluster of item i in view g; f_g a network, its weights N(0, σ²)
    α_m, β_m ~ Beta(10, 1)                            sensitivity and specificity
    S_ij^m = 1 with probability α_m if z_i = z_j in view c_m, else with probability 1 − β_m

Symbols
-------
    paper    here              shape
    η        eta               (views, items, clusters)   q(z_i^g = k), free
    f        networks          stacked over views
    φ        phi               (annotators, views)        q(c_m = g)
    α, β     right             (2, annotators, 2)         Beta
    ν        sticks            (views − 1, 2)             Beta

Updates of a sweep
------------------
    η:    half way to softmax(ln softmax f(x) + Σ_m φ_mg Σ_j w_ij^m η_j)
    f:    steps of Adam on Σ_i η_i·ln softmax f(x_i) − ‖weights‖² / 2σ²
    φ, ν, α, β: as in `semisupervised.mcvc`

Decided here
------------
The weights of the networks are point estimates, so the bound is on ln p(S, weights | X). All annotated items move at
once, half way, which prevents oscillation; the bound is monitored, but not forced to rise.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.scipy.special import entr
from jaxtyping import Float, PRNGKeyArray, PyTree

from consilience.deep.exponential_family import expected_log, kl_dirichlet
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements, right_and_wrong
from consilience.deep.networks import Perceptron, apply
from consilience.inference.progress import counting

NETWORK_STEPS = 5  # per sweep
DAMPING = 0.5  # share of the old responsibilities: updates of all items at once can oscillate


class DeepMCVCSettings(NamedTuple):
    """Hashable settings, on which compiled code depends. deviation : σ. stick : γ."""

    sizes: tuple[int, ...]
    n_views: int
    n_sweeps: int
    learning_rate: float
    deviation: float
    stick: float
    reliability: tuple[float, float]

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Optimiser of the networks."""
        return optax.adam(self.learning_rate)


class DeepMCVCState(NamedTuple):
    """One restart; see the module docstring."""

    networks: Perceptron
    optimiser: PyTree
    eta: Float[Array, "views items clusters"]
    phi: Float[Array, "annotators views"]
    sticks: Float[Array, "sticks 2"]
    right: Float[Array, "2 annotators 2"]


def init(
    settings: DeepMCVCSettings, features: Float[Array, "items features"], n_annotators: int, key: PRNGKeyArray
) -> DeepMCVCState:
    """Start with untrained networks, and random views of annotators."""
    of_networks, of_phi = jax.random.split(key)
    keys = jax.random.split(of_networks, settings.n_views)
    networks = jax.vmap(lambda one: Perceptron(settings.sizes, key=one))(keys)
    phi = jax.random.dirichlet(of_phi, jnp.ones(settings.n_views), (n_annotators,))
    right = jnp.broadcast_to(jnp.array(settings.reliability), (2, n_annotators, 2))
    sticks = jnp.tile(jnp.array([1.0, settings.stick]), (settings.n_views - 1, 1))
    eta = jax.nn.softmax(scores(networks, features), axis=2)
    return DeepMCVCState(networks, settings.optimiser.init(networks), eta, phi, sticks, right)


def scores(networks: Perceptron, features: Float[Array, "items features"]) -> Float[Array, "views items clusters"]:
    """ln softmax f for every view."""
    return jax.nn.log_softmax(jax.vmap(lambda one: apply(one, features))(networks), axis=2)


def sweep(
    settings: DeepMCVCSettings, features: Array, judged: NumberedJudgements, state: DeepMCVCState
) -> DeepMCVCState:
    """η, f, then φ, ν, α, β."""
    same, apart = pair_weights(state)
    messages = jax.vmap(judged.messages)(state.eta, (same[:, None] * state.phi).T, (apart[:, None] * state.phi).T)
    target = jax.nn.softmax(scores(state.networks, features) + messages, axis=2)
    eta = DAMPING * state.eta + (1 - DAMPING) * target

    def loss(networks: Perceptron) -> Array:
        return -(eta * scores(networks, features)).sum() - log_prior(settings, networks)

    def learn(carry: tuple, _: None) -> tuple:
        networks, optimiser = carry
        change, optimiser = settings.optimiser.update(jax.grad(loss)(networks), optimiser)
        return (optax.apply_updates(networks, change), optimiser), None

    (networks, optimiser), _ = jax.lax.scan(learn, (state.networks, state.optimiser), length=NETWORK_STEPS)
    agreement = jax.vmap(judged.agreement)(eta)
    phi = jax.nn.softmax(view_scores(state.sticks, same, apart, agreement), axis=1)
    followers = phi.sum(0)
    later = followers[::-1].cumsum()[::-1] - followers
    sticks = jnp.stack([followers, later], 1)[:-1] + jnp.array([1.0, settings.stick])
    right = jnp.array(settings.reliability) + jnp.stack(right_and_wrong(judged, _hold(phi, agreement)))
    return DeepMCVCState(networks, optimiser, eta, phi, sticks, right)


def lower_bound(settings: DeepMCVCSettings, features: Array, judged: NumberedJudgements, state: DeepMCVCState) -> Array:
    """Bound on ln p(S, weights | X), nats."""
    agreement = jax.vmap(judged.agreement)(state.eta)
    counts = jnp.stack(right_and_wrong(judged, _hold(state.phi, agreement)))
    prior = jnp.array(settings.reliability)
    said = (counts * expected_log(state.right)).sum() - kl_dirichlet(state.right, prior).sum()
    choice = (state.phi * expected_log_sticks(state.sticks)).sum() + entr(state.phi).sum()
    choice -= kl_dirichlet(state.sticks, jnp.array([1.0, settings.stick])).sum()
    items = (state.eta * scores(state.networks, features)).sum() + entr(state.eta).sum()
    return said + choice + items + log_prior(settings, state.networks)


def log_prior(settings: DeepMCVCSettings, networks: Perceptron) -> Array:
    """ln p of the weights, nats."""
    leaves = jax.tree.leaves(networks)
    squares = sum((leaf**2).sum() for leaf in leaves) / settings.deviation**2
    constant = sum(leaf.size for leaf in leaves) * math.log(2 * math.pi * settings.deviation**2)
    return -(squares + constant) / 2


def view_scores(
    sticks: Array, same: Array, apart: Array, agreement: JudgedAgreement
) -> Float[Array, "annotators views"]:
    """ln φ up to a constant."""
    within_same, within_apart = agreement.same.T, (agreement.judged - agreement.same).T
    return expected_log_sticks(sticks) + same[:, None] * within_same + apart[:, None] * within_apart


def expected_log_sticks(sticks: Float[Array, "sticks 2"]) -> Float[Array, " views"]:
    """E ln v_g."""
    logs = jnp.pad(expected_log(sticks), ((0, 1), (0, 0)))  # the last stick is all that is left, and ln 1 = 0
    return logs[:, 0] + logs[:, 1].cumsum() - logs[:, 1]


def pair_weights(state: DeepMCVCState) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
    """w_ij^m of a judgement "same", and of one "apart"."""
    alpha, beta = expected_log(state.right)
    return alpha[:, 0] - beta[:, 1], alpha[:, 1] - beta[:, 0]


def run(
    settings: DeepMCVCSettings, features: Array, judged: NumberedJudgements, keys: Array
) -> tuple[DeepMCVCState, Array]:
    """Run restarts in parallel; return their last states, and bounds (restarts, sweeps)."""
    states, bounds = _begin(settings, features, judged, keys), []
    with counting("sweeps", settings.n_sweeps) as sweeps:
        for _ in range(settings.n_sweeps):
            states, bound = _advance(settings, features, judged, states)
            bounds.append(jax.block_until_ready(bound))
            sweeps.update()
    return states, jnp.stack(bounds, axis=1)


@partial(jax.jit, static_argnames="settings")
def _begin(settings: DeepMCVCSettings, features: Array, judged: NumberedJudgements, keys: Array) -> DeepMCVCState:
    return jax.vmap(lambda key: init(settings, features, len(judged.n_pairs), key))(keys)


@partial(jax.jit, static_argnames="settings")
def _advance(
    settings: DeepMCVCSettings, features: Array, judged: NumberedJudgements, states: DeepMCVCState
) -> tuple[DeepMCVCState, Array]:
    after = jax.vmap(lambda state: sweep(settings, features, judged, state))(states)
    return after, jax.vmap(lambda state: lower_bound(settings, features, judged, state))(after)


def _hold(phi: Array, agreement: JudgedAgreement) -> JudgedAgreement:
    """Expected agreement of annotators with their views."""
    return JudgedAgreement((phi * agreement.judged.T).sum(1), (phi * agreement.same.T).sum(1))
