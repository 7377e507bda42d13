"""Dawid-Skene against enumeration of all classes, its bound term by term, gold items and history."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln, logsumexp, xlogy
from scipy.stats import beta, dirichlet
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from consilience import Labels
from consilience.annotations import concat
from consilience.consensus import DawidSkene, ProductMixture
from consilience.consensus.labels.annotator_models import Hierarchical
from consilience.consensus.labels.dawid_skene import (
    SMOOTHING,
    DawidSkeneEvidence,
    imagined_sizes,
    init,
    labels_of,
    lower_bound,
    run,
    step,
)
from consilience.datasets import load_crowd_labels
from consilience.errors import AnnotationWarning, InputError, MissingDataError, UnannotatedWarning
from consilience.inference.product_distributions import OneHotLabels, posterior, vote_shares
from consilience.simulation import simulate_labels
from tests.consensus.labels.test_annotator_models import crowds_log_prior, explicit_log_prior
from tests.scrambled import scramble

SAID = [["a", "a", "b"], ["a", "a", None], ["b", "b", "b"], ["b", None, "a"]]
KINDS = list(itertools.product(["full", "one-coin"], ["learned", None]))
QUICK = 1e-4  # a tolerance that fewer sweeps reach; the tests do not need more
KNOWLEDGE = list(itertools.product([False, True], repeat=2))


def random_crowd(rng, n_items, n_annotators, n_classes, density=0.7, accuracies=(0.9, 0.6, 0.0)):
    """Labels with some structure: annotators who are right, often right, never right, or always give 0."""
    true = rng.integers(n_classes, size=n_items)
    right = rng.random((n_items, n_annotators)) < rng.choice(accuracies, n_annotators)
    said = np.where(right, true[:, None], rng.integers(n_classes, size=right.shape))
    said[:, rng.random(n_annotators) < 0.2] = 0
    said = np.where(rng.random(said.shape) < density, said, -1)
    said[0, 0] = 0
    return Labels.from_matrix(said, missing=-1, classes=range(n_classes)), true


def with_repeats(rng, labels):
    """The labels, and of a third of them a second by the same annotator of the same item, another class."""
    again = np.flatnonzero(rng.random(labels.n_rows) < 1 / 3)
    other = (labels.label[again] + rng.integers(1, labels.n_classes, len(again))) % labels.n_classes
    item, annotator = labels.item[again], labels.annotator[again]
    return concat([labels, replace(labels, item=item, annotator=annotator, label=other)])


def evidence_and_start(labels, known=None, history=0.0):
    """Evidence and first responsibilities from labels, as in `DawidSkene`."""
    n_classes = labels.n_classes
    column, shape = labels.annotator * n_classes + labels.label, (len(labels), labels.n_annotators * n_classes)
    onehot = OneHotLabels.of(labels.item, column, shape, n_classes, known=known)
    votes = vote_shares(labels)
    if known is not None:
        votes[known >= 0] = np.eye(n_classes)[known[known >= 0]]
    return DawidSkeneEvidence(onehot, history), votes


def states_of(labels, confusion, prior, n_steps, known=None, history=0.0):
    """The first state and those after each step."""
    evidence, votes = evidence_and_start(labels, known, history)
    learned = prior is not None
    states = [init(evidence, votes, one_coin=confusion == "one-coin", learned=learned)]
    for _ in range(n_steps):
        states.append(step(states[-1], evidence, learned=learned))
    return states, evidence, votes


def random_knowledge(rng, labels, true, *, gold, history):
    """Classes of some items, and whole counts of labels before."""
    shape = (labels.n_annotators, labels.n_classes, labels.n_classes)
    known = np.where(rng.random(len(labels)) < 0.4, true, -1) if gold else None
    return known, rng.integers(4, size=shape).astype(float) if history else 0.0


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
@pytest.mark.parametrize(("gold", "history"), KNOWLEDGE)
@pytest.mark.parametrize(("n_classes", "repeats"), [(1, False), (2, False), (4, False), (3, True)])
def test_bound_term_by_term(confusion, prior, gold, history, n_classes, repeats):
    """E ln p(labels, classes, history, parameters) - E ln q(classes, parameters) after 0 to 3 sweeps."""
    rng = np.random.default_rng(n_classes)
    labels, true = random_crowd(rng, 12, 4, n_classes)
    labels = with_repeats(rng, labels) if repeats else labels
    known, past = random_knowledge(rng, labels, true, gold=gold, history=history)
    states, evidence, votes = states_of(labels, confusion, prior, 3, known, past)
    q = votes
    for state in states:
        table = state.model.log_table
        sizes, q = q.sum(0), posterior(evidence.onehot, state.log_weights, table.reshape(-1, n_classes))
        items = -xlogy(q, q).sum() + (q @ state.log_weights).sum()
        for item, annotator, label in zip(labels.item, labels.annotator, labels.label):
            items += q[item] @ table[annotator, label]
        proportions = 0.0
        if n_classes > 1 and prior is None:
            pi = (sizes + SMOOTHING) / (sizes + SMOOTHING).sum()
            np.testing.assert_allclose(state.log_weights, np.log(pi))
            proportions = dirichlet.logpdf(pi, np.full(n_classes, 1 + SMOOTHING))
        elif n_classes > 1:
            # ln of the density of Dirichlet(1, …, 1) is the same everywhere
            proportions = gammaln(n_classes) + dirichlet.entropy(1 + sizes)
        beliefs = explicit_log_prior(state.model, np.broadcast_to(past, table.shape))
        assert lower_bound(state) == pytest.approx(items + proportions + beliefs, rel=1e-8, abs=1e-8)


def counts_of(labels, classes):
    counts = np.zeros((labels.n_annotators, labels.n_classes, labels.n_classes))
    np.add.at(counts, (labels.annotator, labels.label, np.asarray(classes)[labels.item]), 1)
    return counts


def log_polya(counts, concentration):
    """ln of the Polya distributions of the last axis, added up over all others but the first."""
    total = gammaln(concentration.sum(-1)) - gammaln((concentration + counts).sum(-1))
    total += (gammaln(concentration + counts) - gammaln(concentration)).sum(-1)
    return total.reshape(len(total), -1).sum(1)


def log_evidence_of_annotator(model, counts):
    """ln p(counts of one annotator | α, β, and s, e), the accuracy integrated out; counts (labels, components)."""
    n_classes = len(counts)
    if not isinstance(model, Hierarchical):
        right = np.trace(counts)
        wrong = counts.sum() - right
        return betaln(*np.add(model.crowd, [right, wrong])) - betaln(*model.crowd) - wrong * np.log(n_classes - 1)
    a = beta.ppf((np.arange(200) + 0.5) / 200, *model.crowd)[:, None, None]
    a = np.clip(a, 1e-12, 1 - 1e-12)
    mean = (a * np.eye(n_classes) + (1 - a) * model.errors).transpose(0, 2, 1)  # (accuracies, classes, labels)
    concentration = np.maximum(model.concentration[:, None] * mean, 1e-300).repeat(model.n_subtypes, axis=1)
    return logsumexp(log_polya(counts.T[None], concentration)) - np.log(len(a))


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
@pytest.mark.parametrize(("gold", "history"), KNOWLEDGE)
@pytest.mark.parametrize(("seed", "n_classes", "repeats"), [(0, 2, False), (1, 2, False), (2, 3, False), (3, 2, True)])
def test_bound_lies_below_the_exact_evidence(confusion, gold, history, seed, n_classes, repeats):
    """ln p(labels, gold, history) under the crowd found: every class of every item, π, θ and a integrated out."""
    rng = np.random.default_rng(seed)
    labels, true = random_crowd(rng, 5, 3, n_classes)
    labels = with_repeats(rng, labels) if repeats else labels
    known, past = random_knowledge(rng, labels, true, gold=gold, history=history)
    states, _, _ = states_of(labels, confusion, "learned", 12, known, past)
    model, cache, terms = states[-1].model, {}, []
    for z in itertools.product(range(n_classes), repeat=5):
        if known is not None and (np.array(z) != known)[known >= 0].any():
            continue
        sizes = np.bincount(z, minlength=n_classes).astype(float)
        total = log_polya(sizes[None], np.ones((1, n_classes)))[0]
        for counts in counts_of(labels, z) + past:
            if counts.tobytes() not in cache:
                cache[counts.tobytes()] = log_evidence_of_annotator(model, counts)
            total += cache[counts.tobytes()]
        terms.append(total)
    gap = logsumexp(terms) + crowds_log_prior(model) - lower_bound(states[-1])
    assert 0 <= gap < 5  # never above; mean field and Jensen give up a few nats on some fifteen labels


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("repeats", [False, True])
def test_without_a_prior_the_bound_is_the_joint_density(confusion, gold, repeats):
    """ln p(labels, θ, π) by enumeration: after an E-step nothing is given up."""
    rng = np.random.default_rng(3)
    labels, true = random_crowd(rng, 5, 3, 3)
    labels = with_repeats(rng, labels) if repeats else labels
    known = np.where([True, False, False, True, False], true, -1) if gold else None
    state = states_of(labels, confusion, None, 2, known)[0][-1]
    terms = []
    for z in itertools.product(range(3), repeat=5):
        if known is None or (np.array(z) == known)[known >= 0].all():
            likelihood = (counts_of(labels, z) * state.model.log_table).sum()
            terms.append(state.log_weights[list(z)].sum() + likelihood)
    prior = dirichlet.logpdf(np.exp(state.log_weights), np.full(3, 1 + SMOOTHING))
    prior += explicit_log_prior(state.model, np.zeros_like(state.model.log_table))
    assert lower_bound(state) == pytest.approx(logsumexp(terms) + prior, rel=1e-9)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    n_items=st.integers(1, 30),
    n_annotators=st.integers(1, 8),
    n_classes=st.integers(1, 5),
    density=st.sampled_from([0.1, 0.4, 1.0]),
    gold=st.booleans(),
    history=st.booleans(),
)
def test_no_step_lowers_the_bound(seed, kind, n_items, n_annotators, n_classes, density, gold, history):
    rng = np.random.default_rng(seed)
    labels, true = random_crowd(rng, n_items, n_annotators, n_classes, density)
    known, past = random_knowledge(rng, labels, true, gold=gold, history=history)
    bounds = [lower_bound(state) for state in states_of(labels, *kind, 8, known, past)[0]]
    # a count of 0 has a log probability of -1e12, of which 1e-16 is left where its label's class is excluded
    assert np.diff(bounds).min() >= -1e-8 * max(1, np.abs(bounds).max())


def fitted_as_ordered(labels):
    """Bound, prior accuracy of the crowd and responsibilities, without the canonical order of `DawidSkene.fit`."""
    evidence, votes = evidence_and_start(labels)
    trace = run(
        votes, replace(evidence, sizes=imagined_sizes(labels)), one_coin=False, learned=True, max_iter=500, tol=1e-6
    )
    state = trace.state
    table = state.model.log_table.reshape(-1, labels.n_classes)
    return trace.lower_bound, state.model.crowd, posterior(evidence.onehot, state.log_weights, table)


def test_the_concentration_does_not_follow_rounding():
    """No row of two single labels depends on s: its slope is of the size of rounding, and was followed."""
    rows = [(0, "u", "c1"), (1, "u", "c2"), (3, "u", "c2"), (4, "u", "c1"), *((n, "v", "c0") for n in (0, 2, 3, 4))]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    orders = (frame, frame[::-1], frame.sort_values("item", kind="stable"))
    found = [fitted_as_ordered(Labels.from_frame(one, items=range(5), classes=["c0", "c1", "c2"])) for one in orders]
    for bound, crowd, q in found[1:]:
        assert bound == pytest.approx(found[0][0], abs=1e-8)
        np.testing.assert_allclose(crowd, found[0][1], rtol=1e-8)
        np.testing.assert_allclose(q, found[0][2], atol=1e-8)


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 2000), marks=pytest.mark.slow)])
def test_the_order_of_items_annotators_and_classes_changes_nothing(seeds):
    different = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n_items, n_annotators, n_classes = rng.integers([2, 1, 2], [9, 5, 5])
        said = rng.integers(n_classes, size=(n_items, n_annotators))
        said[rng.random(said.shape) > rng.choice([0.3, 0.6, 1.0])] = -1
        said[0, 0] = 0
        labels = Labels.from_matrix(said, missing=-1, classes=range(n_classes))
        bound, _, q = fitted_as_ordered(labels)
        scrambled, place = scramble(labels, rng, rename=[]), rng.permutation(n_classes)
        moved = replace(scrambled.annotations, label=place[scrambled.annotations.label]).in_order()
        bound_now, _, q_now = fitted_as_ordered(moved)
        same = np.allclose(q_now[:, place], q[scrambled.items], atol=1e-6) and abs(bound_now - bound) < 1e-6
        different += [] if same else [seed]
    # when the concentration followed rounding, a tenth of the tables differed; when it did so only of classes without
    # labels, and where it had moved by rounding, 15 of 2000
    assert not different


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([[0, 1, 1, 1, 1, 2, 2, 1]], id="a concentration that has moved by rounding"),
        pytest.param([[0, 2, 0, 3]], id="a class whose labels are of the size of rounding"),
    ],
)
def test_rounding_decides_no_sweep(said):
    """One annotator's labels under renamed classes: bounds differed by .02 until the sweeps ended."""
    fits = [
        fitted_as_ordered(Labels.from_matrix(place[np.array(said).T], classes=range(4)))
        for place in map(np.array, ([0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0], [1, 3, 0, 2]))
    ]
    np.testing.assert_allclose([bound for bound, _, _ in fits], fits[0][0], atol=1e-7)


def test_each_of_several_labels_of_an_item_by_one_annotator_counts():
    """The E-step multiplies one probability a label, and the sums count each, by loops over the labels."""
    rng = np.random.default_rng(5)
    labels = with_repeats(rng, random_crowd(rng, 8, 3, 3)[0])
    assert labels.n_rows > labels.summary().annotators_per_item.sum()
    (state,), evidence, _ = states_of(labels, "full", "learned", 0)
    scores = np.tile(state.log_weights, (8, 1))
    for item, annotator, label in zip(labels.item, labels.annotator, labels.label):
        scores[item] += state.model.log_table[annotator, label]
    q = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(
        posterior(evidence.onehot, state.log_weights, state.model.log_table.reshape(-1, 3)), q, rtol=1e-10
    )
    counts = np.zeros((3, 3, 3))
    for item, annotator, label in zip(labels.item, labels.annotator, labels.label):
        counts[annotator, label] += q[item]
    np.testing.assert_allclose(labels_of(state.expected, evidence), counts, rtol=1e-10)


def crowd(seed, n_items=400, n_annotators=12, n_classes=3, low=0.4, high=0.9, **settings):
    rng = np.random.default_rng(seed)
    true, accuracy = rng.integers(n_classes, size=n_items), rng.uniform(low, high, n_annotators)
    labels = simulate_labels(true, n_annotators=n_annotators, accuracy=accuracy, random_state=seed, **settings)
    return labels, true, accuracy


def best_possible(labels, true, accuracy):
    """Share of right classes given the true accuracies; classes are equally probable."""
    right, wrong = np.log(accuracy), np.log((1 - accuracy) / (labels.n_classes - 1))
    scores = np.zeros((len(labels), labels.n_classes))
    np.add.at(scores, (labels.item, labels.label), (right - wrong)[labels.annotator])
    return np.mean(scores.argmax(1) == true)


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_recovers_classes_and_accuracies(confusion, prior):
    labels, true, accuracy = crowd(0, 1500, annotators_per_item=8)
    model = DawidSkene(confusion, prior, tol=QUICK).fit(labels)
    assert np.mean(model.labels_ == true) > best_possible(labels, true, accuracy) - 0.01
    # 1000 labels each: three standard errors are .045
    np.testing.assert_allclose(model.annotators_["accuracy"], accuracy, atol=0.045)
    np.testing.assert_allclose(model.class_proportions_, np.bincount(true) / 1500, atol=0.02)
    assert model.converged_
    assert model.lower_bound_ == model.lower_bounds_[-1]
    assert len(model.lower_bounds_) == model.n_iter_


@pytest.mark.slow
def test_learned_prior_on_a_sparse_crowd():
    """500 labels per annotator for a hundred cells: single rows are noise, their common structure is not."""
    rng = np.random.default_rng(0)
    true, accuracy = rng.integers(10, size=10_000), rng.uniform(0.4, 0.92, 100)
    labels = simulate_labels(true, n_annotators=100, accuracy=accuracy, annotators_per_item=5, random_state=0)
    best = best_possible(labels, true, accuracy)
    learned, alone = (np.mean(DawidSkene(prior=p, tol=1e-5).fit(labels).labels_ == true) for p in ("learned", None))
    assert learned > best - 0.004
    assert alone < learned - 0.02


@pytest.mark.parametrize(("name", "n_wrong", "n_items"), [("bluebird", 11, 108), ("dog", 127, 807), ("rte", 58, 800)])
def test_maximum_likelihood_on_real_crowds(name, n_wrong, n_items):
    """Errors .1019, .1574 and .0725: those of maximum likelihood begun at the votes."""
    try:
        data = load_crowd_labels(name)
    except MissingDataError as reason:
        pytest.skip(str(reason))
    model = DawidSkene(prior=None).fit(data.annotations)
    assert (model.labels_ != data.target_names[data.target]).sum() == n_wrong
    assert len(model.labels_) == n_items


def test_maximum_likelihood_is_the_mixture_with_small_pseudo_counts():
    labels, _, _ = crowd(1, 100)
    settings = {"max_iter": 20, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DawidSkene(prior=None, calibrate=False, **settings).fit(labels)
        mixture = ProductMixture(smoothing=SMOOTHING, **settings).fit(labels)
    np.testing.assert_allclose(model.responsibilities_, mixture.responsibilities_, atol=1e-9)
    np.testing.assert_allclose(model.lower_bounds_, mixture.lower_bounds_, rtol=1e-10)
    np.testing.assert_allclose(model.class_proportions_, mixture.weights_, atol=1e-4)  # a sweep later


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_order_of_items_and_names_of_classes_change_nothing(confusion, prior):
    labels, _, _ = crowd(2, 60)
    there = DawidSkene(confusion, prior, tol=QUICK).fit(labels)
    shuffled = np.random.default_rng(0).permutation(60)
    here = DawidSkene(confusion, prior, tol=QUICK).fit(labels[shuffled])
    np.testing.assert_allclose(here.responsibilities_, there.responsibilities_[shuffled], atol=1e-8)
    frame = labels.to_frame().replace({"label": {0: "two", 1: "zero", 2: "one"}})
    other = DawidSkene(confusion, prior, tol=QUICK).fit(frame)
    assert other.classes_.tolist() == ["one", "two", "zero"]
    np.testing.assert_allclose(other.responsibilities_, there.responsibilities_[:, [2, 0, 1]], atol=1e-8)


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_gold_decides_where_the_crowd_is_wrong(confusion, prior):
    """Three annotators mostly give the other class, two mostly the right one; a quarter of the classes is known."""
    rng = np.random.default_rng(4)
    true = rng.integers(2, size=200)
    accuracy = np.array([0.95, 0.95, 0.1, 0.1, 0.1])
    labels = simulate_labels(np.array(["ham", "spam"])[true], n_annotators=5, accuracy=accuracy, random_state=4)
    names = np.array(["ham", "spam"])[true]
    alone = DawidSkene(confusion, prior, tol=QUICK).fit(labels)
    assert np.mean(alone.labels_ == names) < 0.05  # the majority is wrong, and nothing tells
    gold = pd.Series(names, index=labels.items)[::4]
    model = DawidSkene(confusion, prior, tol=QUICK).fit(labels, gold=gold)
    assert np.mean(model.labels_ == names) > 0.95
    np.testing.assert_array_equal(model.responsibilities_[::4], np.eye(2)[true[::4]])
    np.testing.assert_allclose(model.annotators_["accuracy"], accuracy, atol=0.1)
    as_dict = DawidSkene(confusion, prior, tol=QUICK).fit_predict(labels, gold=gold.to_dict())
    np.testing.assert_array_equal(as_dict, model.labels_)


def test_gold_overrides_all_labels():
    model = DawidSkene(tol=QUICK).fit(SAID, gold={2: "a"})
    np.testing.assert_array_equal(model.responsibilities_[2], [1, 0])
    assert model.labels_[2] == "a"
    # predict is asked about labels, and knows nothing of gold
    assert model.predict_proba(SAID)[2, 0] < 1


def test_empty_gold_equals_no_gold():
    there = DawidSkene(prior=None).fit(SAID)
    for nothing in (None, {}, pd.Series(dtype=object)):
        model = DawidSkene(prior=None).fit(SAID, gold=nothing)
        np.testing.assert_allclose(model.responsibilities_, there.responsibilities_, rtol=1e-9)


def test_gold_of_tuples_and_numbers():
    frame = pd.DataFrame({"item": [("p", 1), ("p", 1), ("q", 2)], "annotator": ["Ann", "Bo", "Bo"], "label": [1, 2, 2]})
    model = DawidSkene().fit(frame, gold={("p", 1): 2.0})  # as pandas stores whole numbers beside missing ones
    assert model.labels_.tolist() == [2, 2]
    assert model.responsibilities_[0].tolist() == [0, 1]


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_history_is_as_informative_as_the_labels(confusion, prior):
    """Items A with all classes known leave counts; with those, items B fare as in one fit to A and B."""
    labels, true, _ = crowd(5, 300, n_annotators=6)
    old, new = labels[:200], labels[200:]
    gold = pd.Series(true[:200], index=old.items)
    counted = DawidSkene(confusion, prior).fit(old, gold=gold).confusion_counts_
    expected = counts_of(old, true[:200]).transpose(0, 2, 1).reshape(-1, 3)
    np.testing.assert_allclose(counted, expected, atol=1e-5 if prior else 1e-9)
    assert counted.index.equals(pd.MultiIndex.from_product([labels.annotators, range(3)], names=["annotator", "class"]))
    # gold also tells how far the probabilities can be trusted, a history of counts does not
    model = DawidSkene(confusion, prior, calibrate="independent", tol=1e-5 if prior else 1e-9)
    together, apart = clone(model).fit(labels, gold=gold), clone(model).fit(new, history=counted)
    # they differ in π, of which 300 items tell more than 100
    np.testing.assert_allclose(apart.responsibilities_, together.responsibilities_[200:], atol=0.03)
    np.testing.assert_allclose(apart.confusion_counts_, together.confusion_counts_, atol=0.5)
    np.testing.assert_allclose(apart.confusion_matrices_, together.confusion_matrices_, atol=0.01)
    assert apart.annotators_["n_labels"].tolist() == [100] * 6


def test_history_distinguishes_annotators_who_never_agree():
    said = [["a", "b"], ["b", "a"]]
    rows = pd.MultiIndex.from_product([[0, 1], ["a", "b"]], names=["annotator", "class"])
    history = pd.DataFrame([[9, 1], [1, 9], [5, 5], [5, 5]], index=rows, columns=["a", "b"])
    assert DawidSkene(tol=QUICK).fit(said, history=history).labels_.tolist() == ["a", "b"]
    swapped = history.set_axis(pd.MultiIndex.from_product([[1, 0], ["a", "b"]]))
    assert DawidSkene(tol=QUICK).fit(said, history=swapped).labels_.tolist() == ["b", "a"]


def test_history_is_matched_by_name():
    labels, _, _ = crowd(6, 60, n_annotators=4)
    history = DawidSkene(prior=None).fit(labels).confusion_counts_
    there = DawidSkene(prior=None).fit(labels, history=history)
    shuffled = history.iloc[np.random.default_rng(0).permutation(12)][[2, 0, 1]]
    here = DawidSkene(prior=None).fit(labels, history=shuffled)
    np.testing.assert_allclose(here.responsibilities_, there.responsibilities_, atol=1e-12)
    # rows and columns that are not there are zeros
    part = DawidSkene(prior=None).fit(labels, history=history.iloc[:4, :2])
    full = history.copy()
    full.iloc[4:], full.iloc[:, 2] = 0, 0
    np.testing.assert_allclose(
        part.responsibilities_, DawidSkene(prior=None).fit(labels, history=full).responsibilities_, atol=1e-12
    )


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
@pytest.mark.parametrize("prior", ["learned", None])
def test_a_batch_without_a_rare_class_has_the_classes_of_its_history(confusion, prior):
    names = np.array(["ant", "bee", "cow"])
    true = names[np.random.default_rng(0).choice(3, 300, p=[0.45, 0.45, 0.1])]
    labels = simulate_labels(true, n_annotators=8, accuracy=0.7, random_state=0)
    history = DawidSkene(confusion, prior, tol=QUICK).fit(labels).confusion_counts_
    few = Labels.from_matrix([["bee"] * 8, ["ant"] * 8, ["bee"] * 7 + [None]], annotators=list(labels.annotators))
    with pytest.warns(
        AnnotationWarning, match=r"^history has classes that no label here names, .* nevertheless: 'cow'"
    ):
        model = DawidSkene(confusion, prior, tol=QUICK).fit(few, history=history)
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert model.labels_.tolist() == ["bee", "ant", "bee"]
    assert model.confusion_counts_.to_numpy().sum() == pytest.approx(2400 + 23)
    # the same as a batch whose classes are all declared
    declared = Labels.from_frame(few.to_frame(), classes=names)
    there = DawidSkene(confusion, prior, tol=QUICK).fit(declared, history=history)
    np.testing.assert_array_equal(model.responsibilities_, there.responsibilities_)


def test_a_batch_with_a_class_that_its_history_does_not_know():
    """Its counts are 0; classes that are declared keep their order, and those of the history follow."""
    history = pd.DataFrame(
        [[9, 1], [1, 9], [8, 2], [2, 8]],
        index=pd.MultiIndex.from_product([[0, 1], ["a", "b"]], names=["annotator", "class"]),
        columns=["a", "b"],
    )
    said = [["c", "c"], ["c", "c"], ["a", "a"], ["a", "c"]]
    with pytest.warns(AnnotationWarning, match="nevertheless: 'b'"):
        model = DawidSkene(tol=QUICK, calibrate=False).fit(said, history=history)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.labels_.tolist()[:3] == ["c", "c", "a"]
    new = model.confusion_counts_.loc[(slice(None), "c"), ["a", "b"]]
    assert new["b"].eq(0).all()
    with pytest.warns(AnnotationWarning, match="nevertheless: 'b'"):
        model = DawidSkene(tol=QUICK).fit(Labels.from_matrix(said, classes=["c", "a"]), history=history)
    assert model.classes_.tolist() == ["c", "a", "b"]


def test_gold_of_a_class_that_only_the_history_has():
    history = DawidSkene(tol=QUICK).fit([["a", "a"], ["b", "b"], ["c", "c"]] * 4).confusion_counts_
    with pytest.warns(AnnotationWarning, match="nevertheless: 'c'"):
        model = DawidSkene(tol=QUICK).fit([["a", "a"], ["b", "b"]], history=history, gold={1: "c"})
    assert model.labels_.tolist() == ["a", "c"]


def test_annotators_only_in_the_history_are_kept_and_inform_the_crowd():
    labels, true, _ = crowd(7, 200, n_annotators=8)
    history = DawidSkene(tol=QUICK).fit(labels, gold=pd.Series(true, labels.items)).confusion_counts_
    few = simulate_labels(true[:10], n_annotators=2, accuracy=0.6, random_state=8)
    few = Labels.from_frame(few.to_frame().replace({"annotator": {"annotator 1": "Ann", "annotator 2": "Bo"}}))
    model = DawidSkene(tol=QUICK).fit(few, history=history)
    assert model.annotators_.index.tolist() == ["Ann", "Bo", *labels.annotators]
    assert model.annotators_["n_labels"].tolist() == [10, 10, *[0] * 8]
    assert model.annotators_["agreement"].isna().tolist() == [False] * 2 + [True] * 8
    pd.testing.assert_frame_equal(model.confusion_counts_.loc[list(labels.annotators)], history)
    alone = DawidSkene(tol=QUICK).fit(few)
    crowds_accuracy = history.to_numpy().reshape(8, 3, 3).trace(axis1=1, axis2=2).sum() / 1600

    def distance(fitted):
        return np.abs(fitted.annotators_["accuracy"].to_numpy()[:2] - crowds_accuracy)

    assert (distance(model) < distance(alone)).all()
    # an annotator who comes back without a label among these items is known too
    again = Labels.from_frame(pd.DataFrame({"item": ["new"], "annotator": ["annotator 3"], "label": [2]}))
    assert model.predict(again).tolist() == [2]


def test_an_item_without_labels_has_the_proportions():
    said = [*SAID, [None] * 3, ["b", "b", "b"]]
    with pytest.warns(UnannotatedWarning, match="^1 item has no annotations and no class .*: 4\\.$"):
        model = DawidSkene(prior=None).fit(said)
    np.testing.assert_allclose(model.responsibilities_[4], model.class_proportions_, atol=1e-4)
    assert model.labels_[4] is None
    assert DawidSkene(tol=QUICK).fit(said, gold={4: "a"}).labels_[4] == "a"  # what is known is no guess


def test_an_annotator_without_labels_has_the_crowds_distribution():
    labels, _, _ = crowd(9, 50, n_annotators=5)
    table = labels.to_matrix().assign(silent=None)
    model = DawidSkene(tol=QUICK).fit(Labels.from_matrix(table, classes=labels.classes))
    others = model.annotators_["accuracy"][:5]
    assert others.min() < model.annotators_.loc["silent", "accuracy"] < others.max()
    assert np.isnan(model.annotators_.loc["silent", "agreement"])
    with_counts = DawidSkene(prior=None).fit(Labels.from_matrix(table, classes=labels.classes))
    np.testing.assert_allclose(with_counts.confusion_matrices_.loc["silent"], 1 / 3)


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_one_class_one_item_one_annotator(confusion, prior):
    model = DawidSkene(confusion, prior, tol=QUICK).fit([["a", "a"], ["a", None]])
    np.testing.assert_allclose(model.responsibilities_, 1)
    np.testing.assert_allclose(model.confusion_matrices_, 1)
    assert model.annotators_["information"].tolist() == [0, 0]
    assert DawidSkene(confusion, prior, tol=QUICK).fit([["b"]]).labels_.tolist() == ["b"]
    with pytest.warns(AnnotationWarning, match="no item has two labels"):
        alone = DawidSkene(confusion, prior, tol=QUICK).fit([["b"], ["a"], ["b"]])
    assert alone.labels_.tolist() == ["b", "a", "b"]
    assert alone.responsibilities_.max() < 0.74


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_a_class_that_nobody_gave(confusion, prior):
    labels = Labels.from_matrix(SAID, classes=["a", "maybe", "b"])
    model = DawidSkene(confusion, prior, tol=QUICK).fit(labels)
    assert model.labels_.tolist() == ["a", "a", "b", "b"]
    assert model.responsibilities_[:, 1].max() < 0.15
    assert DawidSkene(confusion, prior, tol=QUICK).fit(labels, gold={3: "maybe"}).labels_[3] == "maybe"


@pytest.mark.parametrize(("confusion", "prior"), KINDS)
def test_predict_on_the_labels_fitted_gives_labels_(confusion, prior):
    labels, _, _ = crowd(10, 80)
    model = DawidSkene(confusion, prior, tol=QUICK)
    fitted = model.fit_predict(labels)
    np.testing.assert_array_equal(model.predict(labels), fitted)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-12)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("consilience.inference.product_distributions.CHUNK_ENTRIES", 100)
    labels, _, _ = crowd(11, 300)
    one, two = DawidSkene(prior=None).fit(labels), DawidSkene(prior=None, n_jobs=2).fit(labels)
    np.testing.assert_allclose(two.responsibilities_, one.responsibilities_, atol=1e-8)


def test_warns_if_sweeps_do_not_suffice():
    with pytest.warns(ConvergenceWarning, match=r"DawidSkene: The objective still improved .* Raise max_iter\."):
        model = DawidSkene(max_iter=1).fit(SAID)
    assert not model.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"confusion": "half"},
            "The 'confusion' parameter of DawidSkene must be 'full' or 'one-coin'. Got 'half'",
        ),
        ({"prior": "flat"}, "The 'prior' parameter of DawidSkene must be 'learned' or None. Got 'flat' instead."),
        ({"max_iter": 0}, "The 'max_iter' parameter of DawidSkene must be a positive int. Got 0 instead."),
        ({"max_iter": 10.0}, "'max_iter' .* Got 10.0 instead."),
        ({"tol": -1}, "The 'tol' parameter of DawidSkene must be a number of at least 0. Got -1 instead."),
        ({"tol": "small"}, "'tol' .* Got 'small' instead."),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        DawidSkene(**parameters).fit(SAID)


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (["a"], "gold must be a Series or a dict of classes by item. Got list instead."),
        (
            pd.DataFrame({"x": ["a"]}),
            "gold must be a Series or a dict of classes by item, not a frame; give gold['x'].",
        ),
        (pd.Series(["a", "a"], index=[1, 1]), "gold has two classes for the item 1."),
        ({9: "a"}, "The gold item 9 is not among the items."),
        (
            {1: "a", 2: "c"},
            "The gold item 2 has the class 'c', which nobody gave. Name all classes when you create the Labels, with "
            "classes=[...].",
        ),
    ],
)
def test_invalid_gold(gold, message):
    with pytest.raises(InputError) as error:
        DawidSkene().fit(SAID, gold=gold)
    assert str(error.value) == message


ROWS = pd.MultiIndex.from_tuples([("Ann", "a"), ("Ann", "b")], names=["annotator", "class"])
COUNTS = pd.DataFrame([[3, 1], [0, 2]], index=ROWS, columns=["a", "b"])
SHAPE = (
    "history must be a DataFrame indexed by annotator and class with a column for each label, such as "
    "confusion_counts_ of another fit."
)
TWICE = "history has a duplicate row or column. Expected one row for each annotator and class."


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (COUNTS.to_numpy(), SHAPE),
        (COUNTS.reset_index(drop=True), SHAPE),
        (COUNTS.set_axis([("Ann", "a"), ("Ann", "a")]).set_axis(ROWS[[0, 0]]), TWICE),
        (COUNTS.set_axis(["a", "a"], axis=1), TWICE),
        (COUNTS - 1, "history of the annotator 'Ann' has -1 in the column 'a'. Expected a count of at least 0."),
        (
            COUNTS.replace(2, np.nan),
            "history of the annotator 'Ann' has nan in the column 'b'. Expected a count of at least 0.",
        ),
        (
            COUNTS.astype(object).where(COUNTS != 1, "many"),
            "history of the annotator 'Ann' has 'many' in the column 'b'. Expected a count of at least 0.",
        ),
        (
            COUNTS.set_axis(["c", "d"], axis=1).rename(index={"a": "c", "b": "d"}),
            "history has none of the classes of the labels: it has 'c', 'd', the labels 'a', 'b'.",
        ),
    ],
)
def test_invalid_history(history, message):
    with pytest.raises(InputError) as error:
        DawidSkene().fit(SAID, history=history)
    assert str(error.value) == message
