"""The updates of BayesSCDC against numerical gradients and brute force, with linear networks.

With o = a x + b + noise, the exact encoder of x given o is linear too, and the expected log
density of o is known, so that nothing is drawn.
"""

import itertools
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import invgamma, norm

from consilience.deep import BayesSCDC, bayes_scdc, merging
from consilience.deep import exponential_family as families
from consilience.deep.bayes_scdc import BayesSCDCParameters, Posterior
from consilience.deep.exponential_family import ExpectedGaussian
from consilience.deep.judgements import PairJudgements, right_and_wrong
from consilience.deep.model import Data, Fit
from consilience.deep.networks import Encoder, Likelihood, Potential, UserModule
from consilience.deep.training import batches, survey, train
from tests.deep.precision import enable_x64
from tests.quick_cases import some_quick

SLOPE, OFFSET, NOISE = 2.0, -1.0, 0.5


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


class Silent(Likelihood):
    """The log density is added by the tests, in expectation and not at a draw."""

    @staticmethod
    def n_outputs(n_features):
        return n_features

    def log_probability(self, observed, latent):
        return jnp.zeros(len(latent))

    def mean(self, latent):
        return latent


def exact_networks():
    """Encoder whose potential is the likelihood of o, as a function of x."""
    line = eqx.nn.Linear(1, 2, key=jax.random.key(0))
    precision = (SLOPE / NOISE) ** 2
    raw = np.log(np.expm1(precision - 1e-3))  # softplus(raw) + 1e-3
    line = eqx.tree_at(
        lambda one: (one.weight, one.bias), line, (jnp.array([[1 / SLOPE], [0.0]]), jnp.array([-OFFSET / SLOPE, raw]))
    )
    return BayesSCDCParameters(Encoder(UserModule(line)), Silent(UserModule(line)))


def prior():
    made = bayes_scdc.prior_of(1, concentration=1.5, count=0.5, scale=2.0, reliability=(4.0, 2.0))
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), made)


def model():
    """The module that training uses, with this prior; its sizes do not matter if networks are given."""
    return replace(BayesSCDC(2, n_latent=1)._model(1), prior=prior())


def problem(seed, n_items=3):
    """Items in two blobs; all pairs judged by one annotator, one wrongly."""
    rng = np.random.default_rng(seed)
    z = np.arange(n_items) % 2
    o = SLOPE * (3 * z + rng.normal(size=n_items) * 0.3 - 1.5) + OFFSET + NOISE * rng.normal(size=n_items)
    a, b = np.triu_indices(n_items, 1)
    same = z[a] == z[b]
    same[0] ^= True
    judged = PairJudgements(
        n_pairs=jnp.array([float(len(a))]), n_same=jnp.array([float(same.sum())]), n_rows=len(a),
        item_a=jnp.asarray(a), item_b=jnp.asarray(b), annotator=jnp.zeros(len(a), int),
        said_same=jnp.asarray(same, jnp.float64),
    )  # fmt: skip
    data = Data(jnp.asarray(o[:, None]), jnp.empty(0, int), jnp.arange(n_items), judged)
    eta = jnp.asarray(rng.dirichlet(np.ones(2), size=n_items))
    right = jnp.array([[3.0, 1.0]])
    components = families.normal_wishart(
        jnp.array([[-1.0], [1.0]]), jnp.ones(2), 2 * jnp.ones((2, 1, 1)), 3 * jnp.ones(2)
    )
    posterior = Posterior(jnp.array([2.0, 2.5]), components, right, right, jnp.eye(2))
    return Fit(exact_networks(), None, posterior, eta, jax.random.key(0), jnp.int32(0)), data


def expected_log_density(data, found):
    """Σ E ln p(o | x)."""
    o, mean = data.observed[:, 0], found.latent.mean[:, 0]
    error = (o - SLOPE * mean - OFFSET) ** 2 + SLOPE**2 * found.latent.covariance[:, 0, 0]
    return float((-error / NOISE**2 / 2 - np.log(NOISE * np.sqrt(2 * np.pi))).sum())


def bound(fit, data, found):
    return float(bound_without_density(fit, data, found)) + expected_log_density(data, found)


@jax.jit
def bound_without_density(fit, data, found):
    messages = data.all_messages(fit.remembered, bayes_scdc.pair_weights(fit.posterior))
    return bayes_scdc.lower_bound(prior(), fit.posterior, found, messages, data.judgements)


@jax.jit
def shared_step(fit, data, found, rate):
    posterior = model().shared_step(fit.posterior, found, jnp.ones(data.n_items), rate)
    agreement = data.judgements.agreement(found.responsibilities)
    return fit._replace(posterior=model().reliability_step(posterior, data.judgements, agreement, rate))


@jax.jit
def swept(fit, data):
    """Update items one by one, so that no two items of a judged pair move at once; return their local result."""

    def update(remembered, item):
        found = survey(model(), data, fit._replace(remembered=remembered))
        return remembered.at[item].set(found.responsibilities[item]), None

    remembered, _ = jax.lax.scan(update, fit.remembered, jnp.tile(jnp.arange(data.n_items), 3))
    fit = fit._replace(remembered=remembered)
    return fit, survey(model(), data, fit)


def log_evidence(data, n_draws=400_000):
    """ln p(O, L): sums over all clusterings, draws of what items share from its prior."""
    rng = np.random.default_rng(0)
    own = prior()
    mean, count, scale, degrees = (float(np.squeeze(part)) for part in families.standard(own.component))
    shares = rng.beta(1.5, 1.5, size=n_draws)
    variance = invgamma(degrees / 2, scale=scale / 2).rvs((n_draws, 2), random_state=rng)
    mu = mean + np.sqrt(variance / count) * rng.normal(size=(n_draws, 2))
    alpha, beta = rng.beta(4, 2, size=(2, n_draws))
    o, judged = np.asarray(data.observed[:, 0]), data.judgements
    density = norm.logpdf(o, SLOPE * mu[..., None] + OFFSET, np.sqrt(SLOPE**2 * variance[..., None] + NOISE**2))
    total = np.full(n_draws, -np.inf)
    for code in range(2 ** len(o)):
        z = code >> np.arange(len(o)) & 1
        log_p = density[:, z, np.arange(len(o))].sum(1)
        log_p += np.where(z, np.log(1 - shares)[:, None], np.log(shares)[:, None]).sum(1)
        together = z[np.asarray(judged.item_a)] == z[np.asarray(judged.item_b)]
        said = np.asarray(judged.said_same) > 0
        log_p += (together & said).sum() * np.log(alpha) + (together & ~said).sum() * np.log1p(-alpha)
        log_p += (~together & ~said).sum() * np.log(beta) + (~together & said).sum() * np.log1p(-beta)
        total = np.logaddexp(total, log_p)
    return logsumexp(total) - np.log(n_draws)


@pytest.mark.parametrize("seed", some_quick(range(2)))
def test_bound_lies_below_the_exact_evidence(seed):
    fit, data = problem(seed)
    for _ in range(40):
        fit, found = swept(fit, data)
        fit = shared_step(fit, data, found, 1.0)
    gap = log_evidence(data) - bound(fit, data, swept(fit, data)[1])
    assert -0.05 < gap < 5  # the evidence is known to some hundredths; a mean-field gap of a few nats


@pytest.mark.parametrize("seed", range(5))
def test_no_convex_step_lowers_the_bound(seed):
    fit, data = problem(seed, n_items=6)
    rate, bounds = [1.0, 0.5, 0.1][seed % 3], []
    for _ in range(20):
        fit, found = swept(fit, data)
        bounds.append(bound(fit, data, found))
        fit = shared_step(fit, data, found, rate)
    assert np.diff(bounds).min() >= -2e-3  # items settle to a tolerance of 1e-4 of a responsibility


def test_a_step_of_size_one_is_the_coordinate_update():
    """Where the gradient of the bound in the parameters of q is zero."""
    fit, data = problem(0, n_items=6)
    fit, found = swept(fit, data)
    fit = shared_step(fit, data, found, 1.0)

    @jax.jit
    def of(posterior):
        """The bound as a function of the global variables, with fixed q of the items."""
        expected = families.expected_gaussian(posterior.components)
        offsets = families.expected_log(posterior.concentration)
        inside = (found.responsibilities * (bayes_scdc.log_densities(found.latent, expected) + offsets)).sum()
        divergence = families.kl_dirichlet(posterior.concentration, prior().concentration)
        return inside - divergence - families.kl_normal_wishart(posterior.components, prior().component).sum()

    slope = jax.grad(of)(fit.posterior)
    for part in jax.tree.leaves((slope.concentration, slope.components)):
        np.testing.assert_allclose(part, 0, atol=1e-8)


def test_settled_responsibilities_maximise_the_bound_of_an_item():
    fit, data = problem(0, n_items=5)
    expected = families.expected_gaussian(fit.posterior.components)
    potential = jax.vmap(fit.parameters.encoder)(data.observed)
    offsets = jnp.asarray(np.random.default_rng(0).normal(size=(5, 2)))
    found = bayes_scdc.settle(jnp.full((5, 2), 0.5), (potential, expected, offsets))

    @jax.jit
    def of(eta):
        latent = bayes_scdc.positions(eta, potential, expected)
        inside = (eta * (bayes_scdc.log_densities(latent, expected) + offsets - jnp.log(eta))).sum(1)
        said = latent.mean[:, 0] * potential.linear[:, 0]
        second = latent.mean[:, 0] ** 2 + latent.covariance[:, 0, 0]
        return inside + latent.entropy + said - second * potential.precision[:, 0] / 2

    best = of(found)
    for way in (-0.02, 0.02):
        moved = jnp.clip(found + jnp.array([way, -way]), 1e-9, 1)
        assert (best >= of(moved / moved.sum(1, keepdims=True)) - 1e-7).all()


def test_gradient_passes_through_the_fixed_point():
    fit, _ = problem(1, n_items=4)
    expected = families.expected_gaussian(fit.posterior.components)
    rng = np.random.default_rng(2)
    potential = Potential(jnp.asarray(rng.normal(size=(4, 1))), jnp.asarray(rng.uniform(0.2, 1, size=(4, 1))))
    offsets, weight = jnp.asarray(rng.normal(size=(4, 2))), jnp.asarray(rng.normal(size=(4, 2)))

    def value(linear):
        evidence = (potential._replace(linear=linear), expected, offsets)
        start = jnp.full((4, 2), 0.5)
        return (weight * bayes_scdc.settle(start, evidence)).sum()

    def deep(linear):  # so many sweeps that nothing is left of the tolerance
        evidence, eta = (potential._replace(linear=linear), expected, offsets), jnp.full((4, 2), 0.5)
        last, _ = jax.lax.scan(lambda eta, _: (bayes_scdc.sweep(eta, evidence), None), eta, length=200)
        return (weight * last).sum()

    np.testing.assert_allclose(
        jax.jit(jax.grad(value))(potential.linear), jax.jit(jax.grad(deep))(potential.linear), rtol=5e-3, atol=1e-4
    )


@pytest.mark.slow
def test_transposed_sweep_is_the_derivative_of_a_sweep():
    rng = np.random.default_rng(4)
    roots = rng.normal(size=(3, 2, 2))
    precision = jnp.asarray(roots @ roots.swapaxes(1, 2) + np.eye(2))
    expected = ExpectedGaussian(jnp.asarray(rng.normal(size=(3, 2))), precision, jnp.asarray(rng.normal(size=3)))
    potential = Potential(jnp.asarray(rng.normal(size=(5, 2))), jnp.asarray(rng.uniform(0.2, 1, size=(5, 2))))
    evidence = potential, expected, jnp.asarray(rng.normal(size=(5, 3)))
    found = jnp.asarray(rng.dirichlet(np.ones(3), size=5))
    pull = jnp.asarray(rng.normal(size=(5, 3)))
    _, derived = jax.vjp(lambda responsibilities: bayes_scdc.sweep(responsibilities, evidence), found)
    np.testing.assert_allclose(bayes_scdc.transposed_sweep(found, evidence)(pull), derived(pull)[0], atol=1e-10)


@pytest.fixture
def exact_fixed_point(monkeypatch):
    """Items settle to the last digits, so that the bound can be differentiated numerically."""
    monkeypatch.setattr(bayes_scdc, "SWEEP_TOL", 1e-14)


def through_the_fixed_point(posterior, data, weight, added=0.0, max_sweeps=500):
    """Weighted bound of items as a function of the statistics that enter (12) and (14) only."""
    messages = jnp.asarray(np.random.default_rng(3).normal(size=(data.n_items, 2)))

    def of(within):
        found = bayes_scdc.local(
            exact_networks(), posterior, data.observed, messages, jax.random.key(0), within, max_sweeps
        )
        return (weight * found.bound).sum() + added * density_at(found, data, weight)

    return jax.jit(of)


def density_at(found, data, weight):
    mean, variance = found.latent.mean[:, 0], found.latent.covariance[:, 0, 0]
    error = (data.observed[:, 0] - SLOPE * mean - OFFSET) ** 2 + SLOPE**2 * variance
    return -(weight * error).sum() / NOISE**2 / 2


class TestFullGradient:
    def test_second_term_is_the_slope_of_the_bound(self, exact_fixed_point):
        """Each natural parameter is paired with its statistic: −½ E Σ⁻¹ with S + κ m mᵀ, for example."""
        fit, data = problem(0, n_items=5)
        weight = jnp.arange(1.0, 6.0)
        of = through_the_fixed_point(fit.posterior, data, weight)
        within = bayes_scdc.expected_statistics(fit.posterior)
        found = bayes_scdc.second_term(jax.grad(of)(within))
        step = 1e-5

        def slope(change):
            more = of(jax.tree.map(lambda at, by: at + step * by, within, change))
            less = of(jax.tree.map(lambda at, by: at - step * by, within, change))
            return float(more - less) / (2 * step)

        still = jax.tree.map(jnp.zeros_like, within)
        for k in range(2):
            one = jnp.eye(2)[k]
            gaussians = still.gaussians
            changes = {
                "linear": gaussians._replace(linear=one[:, None]),
                "outer": gaussians._replace(precision=-2 * one[:, None, None]),
                "strength": gaussians._replace(constant=one),
            }
            for name, change in changes.items():
                expected = slope(still._replace(gaussians=change))
                value = np.squeeze(getattr(found.components, name)[k])
                np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-7, err_msg=name)
            expected = slope(still._replace(log_shares=one))
            np.testing.assert_allclose(found.concentration[k], expected, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(found.components.degrees, found.components.strength)
        assert min(np.abs(part).max() for part in jax.tree.leaves(found)) > 0.01

    def test_second_term_vanishes_where_the_potential_is_the_likelihood(self, exact_fixed_point):
        """The items then maximise the bound itself, not a surrogate of it."""
        fit, data = problem(1, n_items=5)
        within = bayes_scdc.expected_statistics(fit.posterior)
        exact = jax.grad(through_the_fixed_point(fit.posterior, data, jnp.ones(5), added=1.0))(within)
        for part in jax.tree.leaves(exact):
            np.testing.assert_allclose(part, 0, atol=1e-8)

    def test_outer_products_are_symmetric(self):
        gaussians = families.ExpectedGaussian(jnp.zeros((1, 2)), jnp.array([[[1.0, 4.0], [0.0, 3.0]]]), jnp.zeros(1))
        term = bayes_scdc.second_term(bayes_scdc.Expected(gaussians, jnp.zeros(1)))
        np.testing.assert_array_equal(term.components.outer[0], [[-2.0, -4.0], [-4.0, -6.0]])

    @pytest.mark.slow
    def test_a_training_step_has_the_second_term(self):
        fit, data = problem(0, n_items=6)
        full = replace(model(), full_gradient=True, batch_size=6, annotated_batch_size=6, descent="momentum")
        fit = fit._replace(optimiser=full.optimiser.init(fit.parameters))
        moved, found, slope = trained_once(full, data, fit)
        alone = bayes_scdc.mixture_step(prior(), fit.posterior, found, jnp.ones(6), 0.1)
        term = bayes_scdc.second_term(slope)
        np.testing.assert_allclose(moved.concentration, alone.concentration + 0.1 * term.concentration, rtol=1e-6)
        for ours, plain, more in zip(moved.components, alone.components, term.components, strict=True):
            np.testing.assert_allclose(ours, plain + 0.1 * more, rtol=1e-6)
        assert np.abs(term.components.linear).max() > 0.01


def trained_once(full, data, fit):
    """Mixture after an epoch of one step of all items, and local result and slope at its start."""
    after, _ = jax.jit(train)(full, data, fit)
    key_steps = jax.random.split(fit.key, 4)[2]
    order = np.asarray(batches(jax.random.split(fit.key, 4)[1], 6, 6, 1)[0])
    key_local = jax.random.split(jax.random.split(key_steps, 1)[0])[1]
    messages = data.all_messages(fit.remembered, full.pair_weights(fit.posterior))[order]

    def of(within):
        found = full.local(fit.parameters, fit.posterior, data.observed[order], messages, key_local, within)
        return found.bound.sum(), found

    slope, found = jax.grad(of, has_aux=True)(full.expected(fit.posterior))
    return after.posterior, found, slope


class TestMomentum:
    def local(self, seed=0):
        fit, data = problem(seed, n_items=6)
        return bayes_scdc.at_rest(fit.posterior), survey(model(), data, fit)

    def mixture(self, posterior):
        return jax.tree.leaves((posterior.concentration, posterior.components))

    @pytest.mark.slow
    def test_steps_accumulate(self):
        """Against steps by hand: v ← .9 v + .02 (η⁰ + statistics − η), η ← η + v."""
        posterior, found = self.local()
        optimum = bayes_scdc.mixture_step(prior(), posterior._replace(velocity=None), found, jnp.ones(6), 1.0)
        targets = [np.asarray(part) for part in self.mixture(optimum)]
        ours = [np.asarray(part) for part in self.mixture(posterior)]
        speed = [np.zeros_like(part) for part in ours]
        for _ in range(3):
            posterior = bayes_scdc.mixture_step(prior(), posterior, found, jnp.ones(6), 0.02, momentum=0.9)
            speed = [0.9 * v + 0.02 * (to - at) for v, to, at in zip(speed, targets, ours, strict=True)]
            ours = [at + v for at, v in zip(ours, speed, strict=True)]
        for part, expected in zip(self.mixture(posterior), ours, strict=True):
            np.testing.assert_allclose(part, expected, rtol=1e-12)
        for part, expected in zip(jax.tree.leaves(posterior.velocity), speed, strict=True):
            np.testing.assert_allclose(part, expected, rtol=1e-12)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"concentration": np.array([-2.0, 0.0])},
            {"outer": np.array([[[-50.0]], [[0.0]]])},
            {"strength": np.array([-2.0, 0.0])},
            {"degrees": np.array([-9.0, 0.0])},
            {"linear": np.array([[np.nan], [0.0]])},
        ],
        ids=lambda wrong: next(iter(wrong)),
    )
    def test_a_component_that_would_be_invalid_takes_a_convex_step(self, wrong):
        posterior, found = self.local()
        still = posterior.velocity
        of_shares = {name: part for name, part in wrong.items() if name == "concentration"}
        of_components = {name: part for name, part in wrong.items() if name != "concentration"}
        fast = still._replace(components=still.components._replace(**of_components), **of_shares)
        plain = bayes_scdc.mixture_step(prior(), posterior._replace(velocity=None), found, jnp.ones(6), 0.1)
        after = bayes_scdc.mixture_step(
            prior(), posterior._replace(velocity=fast), found, jnp.ones(6), 0.1, momentum=0.9
        )
        slow = bayes_scdc.mixture_step(prior(), posterior, found, jnp.ones(6), 0.1, momentum=0.9)
        for part, convex, other in zip(*map(self.mixture, (after, plain, slow)), strict=True):
            np.testing.assert_array_equal(part[0], convex[0])
            np.testing.assert_allclose(part[1], other[1], rtol=1e-12)  # the other component goes on
        assert all((part[0] == 0).all() for part in jax.tree.leaves(after.velocity))
        assert all((part[1] != 0).all() for part in jax.tree.leaves(after.velocity))

    def test_many_fast_steps_stay_valid(self):
        """With a rate of 1 and a momentum of .95, steps overshoot by far."""
        posterior, found = self.local()
        step = jax.jit(lambda one: bayes_scdc.mixture_step(prior(), one, found, jnp.ones(6), 1.0, momentum=0.95))
        for _ in range(60):
            posterior = step(posterior)
            _, count, scale, degrees = families.standard(posterior.components)
            assert (posterior.concentration >= prior().concentration).all()
            assert (count >= prior().component.strength).all()
            assert (degrees >= 1.5).all()
            assert (scale > 0).all()


class TestMerging:
    def collapsed(self, found, eta):
        """The bound with the global variables at their optimum, up to a constant and the judged pairs."""
        totals = bayes_scdc.statistics(eta, found.latent, jnp.ones(len(eta)))
        entropy = -(eta * jnp.log(jnp.maximum(eta, 1e-300))).sum()
        return float(merging.evidence(prior(), totals).sum() + entropy)

    @pytest.mark.slow
    def test_gain_is_the_change_of_the_bound(self):
        fit, data = problem(0, n_items=8)
        found, rng = survey(model(), data, fit), np.random.default_rng(0)
        eta = jnp.asarray(rng.dirichlet(np.full(4, 0.3), size=8) * 0.999 + 0.00025)
        totals = bayes_scdc.statistics(eta, found.latent, jnp.ones(8))
        gain = merging.gains(prior(), totals, merging.lost_entropy(eta, jnp.ones(8)))
        before = self.collapsed(found, eta)
        for kept, gone in [(0, 1), (2, 3), (1, 3)]:
            merged = np.array(eta)
            merged[:, kept] += merged[:, gone]
            merged[:, gone] = 0
            change = self.collapsed(found, jnp.asarray(merged)) - before
            if np.isfinite(gain[kept, gone]):  # both own an item
                np.testing.assert_allclose(gain[kept, gone], change, atol=1e-6)
        assert np.isfinite(gain).any()

    def test_merges_the_best_pair_of_each_cluster(self):
        gain = np.full((6, 6), -1.0)
        for (one, other), value in {(0, 1): 5.0, (1, 2): 9.0, (3, 4): 1.0, (2, 3): 20.0, (4, 5): -1.0}.items():
            gain[one, other] = gain[other, one] = value
        np.fill_diagonal(gain, -np.inf)
        joined = jnp.eye(6)[jnp.array([0, 0, 0, 3, 3, 3])]  # 2 and 3 are in different clusters
        into = np.asarray(merging.choose_merges(jnp.asarray(gain), joined))
        assert into.argmax(1).tolist() == [0, 1, 1, 3, 3, 5]
        np.testing.assert_array_equal(into.sum(1), 1)
        np.testing.assert_array_equal(merging.choose_merges(jnp.asarray(gain), jnp.eye(6)), np.eye(6))

    def test_share_of_unjudged_items(self):
        size, judged = jnp.array([10.0, 30.0, 0.0]), jnp.array([10.0, 10.0, 0.0])
        share = merging.share_of_unjudged(size, judged)
        np.testing.assert_allclose(share[:2, :2], [[0, 0.5], [0.5, 2 / 3]])
        assert np.isfinite(share).all()

    @pytest.mark.parametrize(("n_judgements", "n_left"), some_quick([(40, 1), (1, 2), (0, 2)], 2))
    def test_components_are_merged_only_where_people_say_enough(self, n_judgements, n_left, monkeypatch):
        """Of two components that the bound would merge, two items were judged, once or again and again."""
        monkeypatch.setattr(merging, "gains", lambda *_: jnp.where(jnp.eye(2) > 0, -jnp.inf, 1.0))
        fit, data = problem(0, n_items=60)
        alike = jax.tree.map(lambda part: jnp.stack([part[0], part[0]]), fit.posterior.components)
        right = jnp.array([[4.0, 1.0]])
        posterior = fit.posterior._replace(
            concentration=jnp.full(2, 5.0), components=alike, sensitivity=right, specificity=right, joined=jnp.eye(2)
        )
        judged = PairJudgements(
            n_pairs=jnp.array([float(n_judgements)]),
            n_same=jnp.array([float(n_judgements)]),
            n_rows=n_judgements,
            item_a=jnp.zeros(n_judgements, int),
            item_b=jnp.ones(n_judgements, int),
            annotator=jnp.zeros(n_judgements, int),
            said_same=jnp.ones(n_judgements),
        )
        data = Data(data.observed, jnp.arange(2, 60), jnp.arange(2), judged)
        merged = merging.merge(model(), data, fit._replace(posterior=posterior, remembered=jnp.full((2, 2), 0.5)))
        sizes = merged.posterior.concentration - prior().concentration
        assert (sizes > merging.LEAST_SIZE).sum() == n_left

    def test_without_positive_gain_nothing_changes(self):
        one_cluster = jnp.eye(3)[jnp.zeros(3, int)]
        np.testing.assert_array_equal(merging.choose_merges(jnp.full((3, 3), -1.0), one_cluster), np.eye(3))


class TestJoining:
    def partitions(self, n):
        """Every way to put n components into clusters, as one-hot rows."""
        for code in itertools.product(range(n), repeat=n):
            if all(value <= max(code[:place], default=-1) + 1 for place, value in enumerate(code)):
                yield np.eye(n)[list(code)]

    @pytest.mark.parametrize("seed", range(6))
    def test_recovers_planted_clusters(self, seed):
        rng = np.random.default_rng(seed)
        planted = rng.integers(3, size=6)
        same = planted[:, None] == planted
        affinity = np.where(same, 1.0, -1.0) * rng.uniform(0.5, 2, size=(6, 6))
        affinity = affinity + affinity.T
        found = np.asarray(merging.join(jnp.asarray(affinity)))
        assert ((found @ found.T > 0) == same).all()
        values = [np.trace(one.T @ affinity @ one) for one in self.partitions(6)]
        assert np.trace(found.T @ affinity @ found) == pytest.approx(max(values))

    def test_gain_of_joining_is_the_change_of_the_bound(self):
        """Of the whole bound, with all else as it is."""
        fit, data = problem(1, n_items=8)
        found = survey(model(), data, fit)
        affinity = found.components.T @ data.judgements.messages(
            found.components, *bayes_scdc.pair_weights(fit.posterior)
        )

        def relational(joined):
            of_clusters = found.components @ joined
            counts = right_and_wrong(data.judgements, data.judgements.agreement(of_clusters))
            sides = (fit.posterior.sensitivity, fit.posterior.specificity)
            return sum(float((n * families.expected_log(side)).sum()) for n, side in zip(counts, sides, strict=True))

        both = jnp.array([[1.0, 0.0], [1.0, 0.0]])
        change = relational(both) - relational(jnp.eye(2))
        assert affinity[0, 1] == pytest.approx(change)

    def test_better_current_clusters_are_kept(self):
        affinity = jnp.array([[0.0, 1.0], [1.0, 0.0]])
        both, alone = jnp.array([[1.0, 0.0], [1.0, 0.0]]), jnp.eye(2)
        np.testing.assert_array_equal(merging.better(alone, both, affinity), both)
        np.testing.assert_array_equal(merging.better(both, alone, affinity), both)

    def test_without_judgements(self):
        np.testing.assert_array_equal(merging.join(jnp.zeros((3, 3))), np.eye(3))

    def test_judgements_that_fit_worse_than_chance_join_nothing(self):
        """Where people keep apart what is in one cluster, "apart" would be evidence for joining the rest."""
        better, worse = jnp.array([8.0, 2.0]), jnp.array([2.0, 8.0])
        posterior = Posterior(None, None, jnp.stack([better, worse]), jnp.stack([better, worse]), jnp.eye(2))
        for clipped, full in zip(
            merging.weights_for_joining(posterior), bayes_scdc.pair_weights(posterior), strict=True
        ):
            assert clipped[0] == full[0] != 0
            assert clipped[1] == 0 != full[1]

    @pytest.mark.parametrize(("n_judgements", "clusters"), some_quick([(8, [0, 1, 0, 1]), (1, [0, 0, 2, 2])]))
    @pytest.mark.slow
    def test_a_suggestion_counts_as_one_judgement(self, n_judgements, clusters):
        """One item for each component; people say that 0 and 2, and 1 and 3, are the same, against the suggestion."""
        right = jnp.array([[4.0, 1.0]])
        posterior = Posterior(None, None, right, right, jnp.eye(4))
        pairs = {(0, 2): True, (1, 3): True, (0, 1): False, (2, 3): False}
        a, b = np.array(list(pairs)).repeat(n_judgements, 0).T
        said = np.array(list(pairs.values())).repeat(n_judgements)
        judged = PairJudgements(
            n_pairs=jnp.array([float(len(a))]),
            n_same=jnp.array([float(said.sum())]),
            n_rows=len(a),
            item_a=jnp.asarray(a),
            item_b=jnp.asarray(b),
            annotator=jnp.zeros(len(a), int),
            said_same=jnp.asarray(said, float),
        )
        data = Data(jnp.zeros((8, 2)), jnp.arange(4), jnp.arange(4, 8), judged)
        components = jnp.eye(4)[jnp.arange(8) % 4] * 0.98 + 0.005
        fit = Fit(None, None, posterior, jnp.eye(4), None, None)
        found = merging.join_as_suggested(data, fit, components, jnp.array([0, 0, 2, 2]))
        joined = np.asarray(found.posterior.joined)
        expected = np.equal.outer(clusters, clusters)
        np.testing.assert_array_equal(joined @ joined.T > 0, expected)
        np.testing.assert_allclose(found.remembered, components[4:] @ joined)
