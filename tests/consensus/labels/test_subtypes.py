"""Subtypes of classes: the bound term by term and below the exact evidence, divisions, and what crowds show."""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import dirichlet

from consilience import Labels, load, save
from consilience.consensus import DawidSkene
from consilience.consensus.labels import dawid_skene_estimator, samples
from consilience.consensus.labels.dawid_skene import DawidSkeneEvidence, init, labels_of, lower_bound, state_of, step
from consilience.consensus.labels.subtypes import divide_subtypes, first_half, mean_rows, of_classes, subtype_of_item
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.product_distributions import OneHotLabels, posterior
from consilience.simulation import simulate_labels
from tests.consensus.labels.test_annotator_models import crowds_log_prior, explicit_log_prior
from tests.consensus.labels.test_dawid_skene import log_evidence_of_annotator, log_polya, random_crowd


def crowd_with_subtypes(seed, n_items=800, n_annotators=20, each=10):
    """Two classes; of two fifths of the first, a third of the annotators take most for the second."""
    rng = np.random.default_rng(seed)
    true = rng.integers(2, size=n_items)
    is_hard = (true == 0) & (rng.random(n_items) < 0.4)
    is_deceived = np.arange(n_annotators) % 3 == 0
    right = np.where(is_hard[:, None] & is_deceived, 0.1, 0.8)
    said = np.where(rng.random(right.shape) < right, true[:, None], 1 - true[:, None])
    given = rng.random(said.shape).argsort(1) < each
    return Labels.from_matrix(np.where(given, said, -1), missing=-1, classes=[0, 1]), true, is_hard


@cache
def fitted(seed):
    """A model of `crowd_with_subtypes`, for tests that only read it."""
    return DawidSkene().fit(crowd_with_subtypes(seed)[0])


def one_hot(labels):
    """Items × (annotators × labels)."""
    column = labels.annotator * labels.n_classes + labels.label
    shape = (len(labels), labels.n_annotators * labels.n_classes)
    return csr_array((np.ones(labels.n_rows), column, labels.indptr), shape=shape)


def evidence_of(labels, n_subtypes, known=None):
    n_classes = labels.n_classes
    column, shape = labels.annotator * n_classes + labels.label, (len(labels), labels.n_annotators * n_classes)
    onehot = OneHotLabels.of(labels.item, column, shape, n_classes * n_subtypes, known=known, n_classes=n_classes)
    return DawidSkeneEvidence(onehot, 0.0, 0.0, n_subtypes)


def random_start(rng, labels, n_subtypes, known):
    q = rng.dirichlet(np.ones(labels.n_classes * n_subtypes), size=len(labels))
    if known is not None:
        q[(np.arange(q.shape[1]) // n_subtypes != known[:, None]) & (known[:, None] >= 0)] = 0
    return q / q.sum(1, keepdims=True)


def states_from(labels, n_subtypes, n_steps, known=None, seed=0):
    """States from a random start with the hyperparameters of one subtype, and the responsibilities before the first."""
    rng = np.random.default_rng(seed)
    one = init(evidence_of(labels, 1, known), random_start(rng, labels, 1, known), one_coin=False, learned=True)
    evidence, q = evidence_of(labels, n_subtypes, known), random_start(rng, labels, n_subtypes, known)
    expected = evidence.onehot.expectation_of(q)
    states = [state_of(one.model.with_counts(labels_of(expected, evidence)), expected, evidence, learned=True)]
    for _ in range(n_steps):
        states.append(step(states[-1], evidence, learned=True))
    return states, evidence, q


@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize(("n_classes", "n_subtypes"), [(1, 2), (2, 2), (3, 3)])
def test_bound_term_by_term(n_classes, n_subtypes, gold):
    """E ln p(labels, components, parameters) - E ln q(components, parameters) after 0 to 3 sweeps."""
    rng = np.random.default_rng(n_classes)
    labels, true = random_crowd(rng, 12, 4, n_classes)
    known = np.where(rng.random(12) < 0.4, true, -1) if gold else None
    states, evidence, q = states_from(labels, n_subtypes, 3, known)
    for state in states:
        table = state.model.log_table
        sizes = q.sum(0).reshape(n_classes, n_subtypes)
        q = posterior(evidence.onehot, state.log_weights, table.reshape(-1, n_classes * n_subtypes))
        items = -xlogy(q, q).sum() + (q @ state.log_weights).sum()
        for item, annotator, label in zip(labels.item, labels.annotator, labels.label):
            items += q[item] @ table[annotator, label]
        proportions = 0.0 if n_classes == 1 else gammaln(n_classes) + dirichlet.entropy(1 + sizes.sum(1))
        for of_class in sizes:
            proportions += gammaln(n_subtypes) + dirichlet.entropy(1 + of_class)
        beliefs = explicit_log_prior(state.model, np.zeros_like(table))
        assert lower_bound(state) == pytest.approx(items + proportions + beliefs, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_bound_lies_below_the_exact_evidence(seed, gold):
    """ln p(labels, gold) under the crowd found: every component of every item, π, ρ and θ integrated out."""
    rng = np.random.default_rng(seed)
    labels, true = random_crowd(rng, 4, 3, 2)
    known = np.where(rng.random(4) < 0.5, true, -1) if gold else None
    states, _, _ = states_from(labels, 2, 12, known, seed)
    model, cache, terms = states[-1].model, {}, []
    for z in itertools.product(range(4), repeat=4):
        if known is not None and (np.array(z) // 2 != known)[known >= 0].any():
            continue
        sizes = np.bincount(z, minlength=4).astype(float).reshape(2, 2)
        total = log_polya(sizes.sum(1)[None], np.ones((1, 2)))[0] + log_polya(sizes, np.ones((2, 2))).sum()
        counts = np.zeros((labels.n_annotators, 2, 4))
        np.add.at(counts, (labels.annotator, labels.label, np.array(z)[labels.item]), 1)
        for own in counts:
            if own.tobytes() not in cache:
                cache[own.tobytes()] = log_evidence_of_annotator(model, own)
            total += cache[own.tobytes()]
        terms.append(total)
    gap = logsumexp(terms) + crowds_log_prior(model) - lower_bound(states[-1])
    assert 0 <= gap < 8  # never above; mean field gives up a few nats on twelve labels and four components


def bounds_of(seed, n_items, n_annotators, n_classes, n_subtypes, gold=False):
    """Bounds of the first state, and after each of twelve sweeps."""
    rng = np.random.default_rng(seed)
    labels, true = random_crowd(rng, n_items, n_annotators, n_classes)
    known = np.where(rng.random(n_items) < 0.4, true, -1) if gold else None
    return [lower_bound(state) for state in states_from(labels, n_subtypes, 12, known, seed)[0]]


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 2000), marks=pytest.mark.slow)])
def test_no_step_lowers_the_bound(seeds):
    for seed in seeds:
        sizes = np.random.default_rng([1, seed]).integers(1, [31, 9, 5, 5]).tolist()
        bounds = bounds_of(seed, *sizes, gold=bool(seed % 2))
        assert np.diff(bounds).min() >= -1e-8 * max(1, np.abs(bounds).max()), seed


def test_no_step_lowers_the_bound_of_counts_below_one():
    """Where expected counts are below 1, minorising steps alone went from -56 to -135 here."""
    bounds = bounds_of(381, 14, 7, 3, 3)
    assert np.diff(bounds).min() > 0
    assert bounds[-1] > -53.2


def test_the_first_half_is_the_leading_axis_of_the_correspondence_analysis():
    """Against the matrix C of the module, made item by item."""
    labels, _, _ = crowd_with_subtypes(1, 40, 6, 4)
    q = np.random.default_rng(0).random(40)
    q[:3] = 0
    share = np.zeros((6, 2)) + 0.25
    np.add.at(share, (labels.annotator, labels.label), q[labels.item])
    share /= share.sum(1, keepdims=True)
    similarity = np.zeros((40, 40))
    said = labels.to_matrix().to_numpy(dtype=float)
    for n, m in itertools.product(range(40), repeat=2):
        for j in range(6):
            if not np.isnan(said[n, j]) and not np.isnan(said[m, j]):
                similarity[n, m] += (said[n, j] == said[m, j]) / share[j, int(said[n, j])] - 1
    vector = np.linalg.eigh(similarity * np.sqrt(np.outer(q, q)))[1][:, -1]
    place = np.divide(vector, np.sqrt(q), out=np.zeros(40), where=q > 0) * np.sqrt(q.sum())
    assert (q @ place**2) / q.sum() == pytest.approx(1)
    half = first_half(q, one_hot(labels), 2)
    expected = 1 / (1 + np.exp(-2 * place * np.sign(place @ (half - 0.5))))
    np.testing.assert_allclose(half, expected, atol=1e-6)
    np.testing.assert_array_equal(half[:3], 0.5)


def test_the_largest_subtypes_are_divided_and_nothing_is_lost():
    labels, _, _ = crowd_with_subtypes(2, 60, 8, 5)
    q = np.random.default_rng(0).dirichlet([5, 1, 3, 1], size=60)  # two classes with two subtypes each
    found = divide_subtypes(q, one_hot(labels), 2, 3)
    np.testing.assert_allclose(found[:, [0, 1]].sum(1), q[:, 0])
    np.testing.assert_allclose(found[:, 2], q[:, 1])
    np.testing.assert_allclose(found[:, [3, 4]].sum(1), q[:, 2])
    np.testing.assert_allclose(found[:, 5], q[:, 3])
    assert np.abs(found[:, 0] - found[:, 1]).max() > 0.2
    assert divide_subtypes(q, one_hot(labels), 2, 4).shape == (60, 8)


def test_sums_over_subtypes():
    rng = np.random.default_rng(0)
    q = rng.random((5, 6))
    np.testing.assert_allclose(of_classes(q, 3), q[:, ::2] + q[:, 1::2])
    np.testing.assert_array_equal(of_classes(q, 6), q)
    rows, sizes = rng.dirichlet(np.ones(3), size=(4, 6)), rng.random(6)
    found = mean_rows(rows, sizes)
    for k in range(3):
        expected = (rows[:, 2 * k] * sizes[2 * k] + rows[:, 2 * k + 1] * sizes[2 * k + 1]) / sizes[
            2 * k : 2 * k + 2
        ].sum()
        np.testing.assert_allclose(found[:, k], expected)
    # the second subtype of class 0 is the larger one, and so the first in the result
    responsibilities = np.array(
        [[0.1, 0.8, 0.1, 0.0], [0.2, 0.7, 0.1, 0.0], [0.5, 0.1, 0.4, 0.0], [0.0, 0.1, 0.9, 0.0]]
    )
    np.testing.assert_array_equal(subtype_of_item(responsibilities, np.array([0, 0, 0, 1]), 2), [0, 0, 1, 0])


@pytest.mark.parametrize("seed", range(4))
def test_shared_errors_are_found_and_made_up_for(seed):
    labels, true, is_hard = crowd_with_subtypes(seed)
    model, one = fitted(seed), DawidSkene(subtypes=1).fit(labels)
    assert model.n_subtypes_ == 2
    assert model.lower_bound_ > one.lower_bound_ + 10
    assert np.mean(model.labels_ == true) > np.mean(one.labels_ == true)
    assert np.mean(model.labels_[is_hard] == 0) > np.mean(one.labels_[is_hard] == 0) + 0.03
    found = (true == 0) & (model.labels_ == 0)
    assert np.mean(model.subtypes_[found] == is_hard[found]) > 0.85  # the smaller one is the hard one
    assert model.score(labels) > one.score(labels)


@pytest.mark.slow
def test_independent_errors_have_one_subtype():
    number = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_classes = 2 + seed % 4
        true, accuracy = rng.integers(n_classes, size=200), rng.uniform(0.5, 0.9, 15)
        labels = simulate_labels(true, n_annotators=15, accuracy=accuracy, annotators_per_item=5, random_state=seed)
        number.append(DawidSkene().fit(labels).n_subtypes_)
    assert number == [1] * 20


def test_order_of_items_and_names_of_classes_change_nothing():
    labels, _, _ = crowd_with_subtypes(0)
    shuffled = np.random.default_rng(0).permutation(len(labels))
    there, here = fitted(0), DawidSkene().fit(labels[shuffled])
    assert here.n_subtypes_ == 2
    np.testing.assert_allclose(here.responsibilities_, there.responsibilities_[shuffled], atol=1e-4)
    np.testing.assert_array_equal(here.subtypes_, there.subtypes_[shuffled])


def test_a_number_of_subtypes_is_what_was_asked_for():
    labels, _, _ = crowd_with_subtypes(3, 300)
    for n_subtypes in (2, 3, 5):
        model = DawidSkene(subtypes=n_subtypes).fit(labels)
        assert model.n_subtypes_ == n_subtypes
        assert model.subtypes_.max() < n_subtypes
        np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
        np.testing.assert_allclose(model.confusion_matrices_.sum(axis=1), 1)
        assert model.confusion_counts_.to_numpy().sum() == pytest.approx(labels.n_rows)


def test_predict_uses_the_subtypes(tmp_path):
    labels, true, _ = crowd_with_subtypes(1)
    model = DawidSkene().fit(labels[:700])
    assert model.n_subtypes_ == 2
    np.testing.assert_array_equal(model.predict(labels[:700]), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels[:700]), model.responsibilities_, atol=1e-12)
    one = DawidSkene(subtypes=1).fit(labels[:700])
    new = labels[700:]
    assert np.mean(model.predict(new) == true[700:]) >= np.mean(one.predict(new) == true[700:])
    assert model.score(new) > one.score(new)
    save(model, tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(again.subtypes_, model.subtypes_)
    assert again.score(new) == model.score(new)


def test_gold_items_keep_their_class():
    labels, true, _ = crowd_with_subtypes(0)
    gold = {n: int(true[n]) for n in range(0, 800, 8)}
    model = DawidSkene().fit(labels, gold=gold)
    assert model.n_subtypes_ == 2
    np.testing.assert_allclose(model.responsibilities_[::8], np.eye(2)[true[::8]], atol=1e-12)


def test_items_without_labels_have_no_subtype():
    labels, _, _ = crowd_with_subtypes(0)
    with pytest.warns(AnnotationWarning, match="no annotations"):
        model = DawidSkene().fit(Labels.from_frame(labels.to_frame(), items=range(803), classes=[0, 1]))
    assert model.n_subtypes_ == 2
    assert model.subtypes_[800:].tolist() == [-1] * 3
    assert model.subtypes_[:800].min() == 0


@pytest.mark.slow
def test_a_sample_decides_on_the_number_of_a_large_crowd(monkeypatch):
    labels, true, _ = crowd_with_subtypes(0, 3000)
    whole = DawidSkene().fit(labels)
    for module in (samples, dawid_skene_estimator):
        monkeypatch.setattr(module, "MOST_LABELS", 10_000)
    decided = DawidSkene().fit(labels)
    assert decided.n_subtypes_ == whole.n_subtypes_ == 2
    assert np.mean(decided.labels_ == whole.labels_) > 0.99
    # annotators with three labels each in the sample tell nothing about subtypes
    few = simulate_labels(true, n_annotators=3000, accuracy=0.8, annotators_per_item=4, random_state=0)
    assert DawidSkene().fit(few).n_subtypes_ == 1


def test_a_history_and_other_models_have_one_subtype():
    labels, _, _ = crowd_with_subtypes(0, 300)
    history = DawidSkene().fit(labels).confusion_counts_
    assert DawidSkene().fit(labels, history=history).n_subtypes_ == 1
    assert DawidSkene("one-coin").fit(labels).n_subtypes_ == 1
    assert DawidSkene(prior=None).fit(labels).n_subtypes_ == 1
    message = r"history has counts of classes, not of subtypes\. Leave out subtypes, or the history\."
    with pytest.raises(InputError, match=message):
        DawidSkene(subtypes=2).fit(labels, history=history)
    message = r"subtypes=2 of DawidSkene needs confusion='full' and prior='learned'\. Got confusion='one-coin' and"
    with pytest.raises(InputError, match=message):
        DawidSkene("one-coin", subtypes=2).fit(labels)
    with pytest.raises(InputError, match=r"'subtypes' parameter of DawidSkene must be .* Got 9 instead\."):
        DawidSkene(subtypes=9).fit(labels)
