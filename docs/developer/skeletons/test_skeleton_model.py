"""The four tests that every model has: brute force, monotone bound, recovery, special = general; then the estimator."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from skeleton_model import LatentClassData, LatentClassPrior, init, lower_bound, step
from skeleton_model_estimator import LatentClassModel
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings
from consilience.errors import InputError
from consilience.metrics import ari
from consilience.persistence.validation import problem_of

PRIOR = LatentClassPrior(proportion=0.5, spread=1.0)


def simulate(rng, n_items, sizes, n_clusters, density=1.0):
    """Simulate groupings from the model itself: grouping m has sizes[m] groups."""
    truth = rng.integers(n_clusters, size=n_items)
    spread = [rng.dirichlet(np.full(size, 0.2), size=n_clusters) for size in sizes]
    labels = np.column_stack([[rng.choice(len(s[k]), p=s[k]) for k in truth] for s in spread]).astype(float)
    labels[rng.random(labels.shape) > density] = np.nan
    return Groupings.from_matrix(labels), truth


def log_marginal_likelihood(groupings, prior, n_clusters):
    """ln p(labels): sum over all assignments of items to clusters, with π and θ integrated out."""
    labels = groupings.incidence.toarray()
    grouping = groupings.grouping_of_group

    def log_polya(counts, concentration):
        total = gammaln(concentration * len(counts)) - gammaln(concentration * len(counts) + counts.sum())
        return total + (gammaln(concentration + counts) - gammaln(concentration)).sum()

    terms = []
    for z in itertools.product(range(n_clusters), repeat=len(labels)):
        hard = np.eye(n_clusters)[list(z)]
        counts = hard.T @ labels
        term = log_polya(hard.sum(0), prior.proportion)
        for k, m in itertools.product(range(n_clusters), np.unique(grouping)):
            term += log_polya(counts[k, grouping == m], prior.spread)
        terms.append(term)
    return logsumexp(terms)


@pytest.mark.parametrize("seed", range(5))
def test_bound_is_just_below_the_log_marginal_likelihood(seed):
    rng = np.random.default_rng(seed)
    groupings, _ = simulate(rng, 7, [2, 3], n_clusters=2)
    data = LatentClassData.of(groupings)
    state = init(data, PRIOR, 2, np.random.RandomState(seed))
    for _ in range(100):
        state = step(state, data, PRIOR)
    gap = log_marginal_likelihood(groupings, PRIOR, 2) - lower_bound(state, data, PRIOR)
    assert 0 <= gap < 4  # never above; the mean-field gap is a few nats on 14 labels


@pytest.mark.parametrize("seed", range(20))
def test_no_step_lowers_the_bound(seed):
    groupings, _ = simulate(np.random.default_rng(seed), 40, [2, 3, 4, 2], n_clusters=3, density=0.6)
    data = LatentClassData.of(groupings)
    state = init(data, PRIOR, 5, np.random.RandomState(seed))
    bounds = [lower_bound(state, data, PRIOR)]
    for _ in range(30):
        state = step(state, data, PRIOR)
        bounds.append(lower_bound(state, data, PRIOR))
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()  # rounding


def test_recovers_the_clusters_from_its_own_simulator():
    groupings, truth = simulate(np.random.default_rng(0), 600, [4] * 30, n_clusters=4, density=0.5)
    model = LatentClassModel(random_state=0).fit(groupings)
    assert model.n_clusters_ == 4
    assert ari(truth, model.labels_) > 0.99  # 15 labels per item leave no doubt


def test_a_grouping_of_one_group_changes_nothing():
    """The special case J = 1: a grouping with a single group is uninformative."""
    groupings, _ = simulate(np.random.default_rng(1), 30, [3, 3], n_clusters=3)
    labels = groupings.to_matrix()
    more = Groupings.from_matrix(labels.assign(silent="everything"))
    ends = []
    for data in (LatentClassData.of(more), LatentClassData.of(groupings)):
        state = init(data, PRIOR, 3, np.random.RandomState(0))
        for _ in range(20):
            state = step(state, data, PRIOR)
        ends.append(state.responsibilities)
    np.testing.assert_allclose(*ends, atol=1e-10)


def test_names_of_groups_mean_nothing():
    groupings, _ = simulate(np.random.default_rng(2), 30, [3, 4], n_clusters=3)
    renamed = Groupings.from_matrix(groupings.to_matrix().map(lambda name: None if name is None else f"group {name}"))
    one, other = (LatentClassModel(n_init=2, random_state=0).fit(g) for g in (groupings, renamed))
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_estimator():
    groupings, _ = simulate(np.random.default_rng(3), 30, [3, 3, 3], n_clusters=3)
    model = clone(LatentClassModel(max_clusters=4, n_init=2, random_state=0)).fit(groupings)
    again = LatentClassModel(max_clusters=4, n_init=2, random_state=0)
    np.testing.assert_array_equal(again.fit_predict(groupings), model.labels_)
    assert model.responsibilities_.shape == (30, model.n_clusters_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    assert problem_of(model, vars(model)) == ""  # it declares all that it learns
    assert model.predict_same(0, 0) == pytest.approx((model.responsibilities_[0] ** 2).sum())


def test_bad_input_is_refused_and_nonconvergence_is_reported():
    groupings, _ = simulate(np.random.default_rng(4), 20, [3, 3], n_clusters=3)
    with pytest.raises(InputError, match=r"^LatentClassModel reads partition labels, which Pairs do not contain"):
        LatentClassModel().fit(groupings.to_pairs())
    with pytest.raises(InputError, match="got two arguments"):
        LatentClassModel().fit(groupings, groupings)
    with pytest.raises(InputError, match=r"^None of the items is in a group"):
        LatentClassModel().fit(Groupings.from_matrix([[None], [None]]))
    with pytest.warns(ConvergenceWarning, match="still improved after max_iter=1 sweeps"):
        LatentClassModel(max_iter=1, random_state=0).fit(groupings)
