"""StagewiseEM falls back to all annotators where these explain the labels better than an informative set."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln
from sklearn.exceptions import ConvergenceWarning

from benchmarks.people.label_crowds import recorded, thinned
from consilience import Labels
from consilience.consensus import DawidSkene, StagewiseEM
from consilience.consensus.labels import informative_set, stagewise_em_estimator
from consilience.consensus.labels.constant_annotators import count_labels
from consilience.consensus.labels.fall_back import evidence_of_frequencies, evidence_of_others, log_number_of_sets
from consilience.errors import AnnotationWarning, MissingDataError
from consilience.simulation import simulate_labels, sparse_crowd

GAVE_UP = r"^StagewiseEM fell back to DawidSkene with all annotators: its informative set of \d+ of \d+ annotators"


def few_labels(seed=0, n_items=400):
    """Thirty good annotators, two labels an item: no pair of them has many items in common."""
    true = np.random.default_rng(seed).integers(4, size=n_items)
    return simulate_labels(true, n_annotators=30, accuracy=0.8, annotators_per_item=2, random_state=seed), true


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_an_informed_crowd_of_few_labels_is_no_catastrophe(seed):
    labels, true = few_labels(seed)
    with pytest.warns(AnnotationWarning, match=GAVE_UP) as caught:
        model = StagewiseEM().fit(labels)
    assert len(caught) == 1
    assert model.fell_back_
    assert model.converged_
    same = DawidSkene(calibrate=False).fit(labels)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_allclose(model.responsibilities_, same.responsibilities_, atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-9)
    assert sorted(model.informative_set_) == sorted(labels.annotators)
    assert model.annotators_["informative"].all()
    assert model.starts_["n_informative"].max() < 30
    assert (model.labels_ != true).mean() < 0.3


def links(seed, n_items=1500, n_annotators=25, each=5):
    """Links of entities, a fifth of them right; half of the annotators take a third of the items for the other class.

    Three annotators label at random, and few give most of the labels.
    """
    rng = np.random.default_rng([seed, 5])
    true, is_hard = (rng.random(n_items) < 0.22).astype(int), rng.random(n_items) < 0.35
    accuracy, is_deceived = rng.beta(10.2, 1.8, n_annotators), rng.random(n_annotators) < 0.5
    is_random, rank = rng.permutation(n_annotators) < 3, rng.permutation(n_annotators) + 1
    eager = rng.gumbel(size=(n_items, n_annotators)) - np.log(rank)
    annotator, item = np.argsort(-eager, axis=1)[:, :each].ravel(), np.repeat(np.arange(n_items), each)
    right = rng.random(len(item)) < np.where(is_hard[item] & is_deceived[annotator], 0.15, accuracy[annotator])
    label = np.where(right, true[item], 1 - true[item])
    label = np.where(is_random[annotator], rng.random(len(item)) < 0.3, label)
    table = pd.DataFrame({"item": item, "annotator": annotator, "label": label.astype(int)})
    return Labels.from_frame(table, items=pd.RangeIndex(n_items), classes=[0, 1]), true


def errors_of_links(seeds):
    """Error of each draw by both models, and whether the set was given up."""
    errors = []
    for seed in seeds:
        labels, true = links(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)
            fits = [StagewiseEM(copies=None).fit(labels), DawidSkene(copies=None, calibrate=False).fit(labels)]
        errors.append([*((fit.responsibilities_.argmax(1) != true).mean() for fit in fits), fits[0].fell_back_])
    return np.array(errors)


def test_annotators_who_err_together_leave_place_for_the_others():
    """The set has most labels, and one class took a fourth of the items of the other: .26 of them were wrong."""
    labels, true = links(1)
    with pytest.warns(AnnotationWarning, match=GAVE_UP + ".*where classes have subtypes; DawidSkene itself also"):
        model = StagewiseEM(copies=None).fit(labels)
    assert model.fell_back_ is True
    assert (model.labels_ != true).mean() < 0.08
    np.testing.assert_array_equal(model.labels_, DawidSkene(subtypes=1, copies=None).fit(labels).labels_)


@pytest.mark.slow
def test_links_of_entities_are_no_catastrophe():
    """The claim of the documentation, on draws that the rule was not chosen by: the odd ones."""
    stagewise, dawid_skene, fell_back = errors_of_links(range(1, 40, 2)).T
    assert stagewise.mean() < 0.195  # .217 without subtypes, where 3 are more than .05 behind
    assert np.count_nonzero(stagewise > dawid_skene + 0.05) <= 1
    assert fell_back.mean() == 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("zencrowd_in", 0.21), ("fact_eval", 0.13)])
def test_recorded_crowds_whose_classes_have_subtypes(name, most):
    """Errors were .233 and .149; DawidSkene has .209 and .101."""
    try:
        crowd = recorded(name)
    except MissingDataError as error:
        pytest.skip(str(error))
    with pytest.warns(AnnotationWarning, match=GAVE_UP):
        found = StagewiseEM().fit(crowd.labels).responsibilities_.argmax(1)
    assert (found != crowd.truth)[crowd.truth >= 0].mean() < most


@pytest.mark.slow
def test_gold_counts_there_too():
    labels, _ = few_labels()
    with pytest.warns(AnnotationWarning, match=GAVE_UP):
        model = StagewiseEM().fit(labels, gold={0: 3, 1: 2})
    assert model.labels_[:2].tolist() == [3, 2]
    np.testing.assert_array_equal(model.labels_, DawidSkene().fit(labels, gold={0: 3, 1: 2}).labels_)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_sparse_crowds_keep_their_informative_set(alpha, seed):
    classes = np.random.default_rng(seed).integers(3, size=1000)
    matrices = sparse_crowd(100, 3, alpha=alpha, accuracy=0.6, random_state=seed)
    model = StagewiseEM().fit(simulate_labels(classes, confusion=matrices, random_state=seed))
    assert not model.fell_back_
    assert len(model.informative_set_) < 30


def test_others_who_label_uniformly_are_no_reason():
    """The learned frequencies of those outside the set cost no more than a learned prior of all."""
    matrices = np.full((60, 3, 3), 1 / 3)
    matrices[:6] = np.eye(3) * 0.55 + 0.15
    classes = np.arange(600) % 3
    model = StagewiseEM().fit(simulate_labels(classes, confusion=matrices, random_state=0))
    assert not model.fell_back_
    assert (model.labels_ == classes).mean() > 0.85


def test_a_set_of_all_annotators_has_nothing_to_fall_back_to():
    true = np.arange(300) % 3
    model = StagewiseEM().fit(simulate_labels(true, n_annotators=8, accuracy=0.8, random_state=0))
    assert len(model.informative_set_) == 8
    assert not model.fell_back_


def test_the_other_refinements_do_not_fall_back():
    labels, _ = few_labels()
    for refine in ("all", None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert StagewiseEM(refine=refine).fit(labels).fell_back_ is False


def test_evidence_of_frequencies_by_hand():
    """Two labels: ln of Beta functions, at the best α of a grid."""
    counts = np.array([[8.0, 2.0], [1.0, 6.0], [5.0, 5.0]])
    grid = np.exp(np.linspace(-2, 3, 200))
    first, second = np.meshgrid(grid, grid)
    values = sum(betaln(first + a, second + b) - betaln(first, second) for a, b in counts)
    assert evidence_of_frequencies(counts) == pytest.approx(values.max(), abs=1e-3)


def test_annotators_who_are_alike_are_cheap():
    """With frequencies that all share, ln p is that of independent draws."""
    counts = np.tile([[500.0, 500.0]], (40, 1))
    assert evidence_of_frequencies(counts) == pytest.approx(40_000 * np.log(0.5), abs=0.5)


def test_evidence_is_that_of_the_annotators_outside():
    labels = Labels.from_matrix([["a", "b", "a"], ["b", "b", None], ["a", "b", "a"]])
    expected = evidence_of_frequencies(np.array([[0.0, 3.0], [2.0, 0.0]]))
    counts = count_labels(labels)
    assert evidence_of_others(counts, (0,)) == pytest.approx(expected)
    assert evidence_of_others(counts, (0, 1, 2)) == 0


def test_number_of_sets():
    assert np.exp(log_number_of_sets(5, 2)) == pytest.approx(10)
    assert log_number_of_sets(5, 5) == pytest.approx(0)


@pytest.mark.parametrize("refine", [None, "informative", "all"])
def test_rounds_that_do_not_settle_are_told(refine, monkeypatch):
    monkeypatch.setattr(informative_set, "MOST_ROUNDS", 1)
    monkeypatch.setattr(stagewise_em_estimator, "MOST_ROUNDS", 1)
    monkeypatch.setattr(stagewise_em_estimator, "EM_ITER", 1)
    accuracy = 0.5 if refine == "informative" else 0.7
    matrices = sparse_crowd(60, 3, alpha=0.3, accuracy=accuracy, random_state=2)
    labels = simulate_labels(np.arange(300) % 3, confusion=matrices, random_state=2)
    sentence = {
        None: r"StagewiseEM: The state had not settled after max_iter=2 sweeps. Raise max_iter\.",
        "all": r"StagewiseEM: EM still improved after 1 rounds\.",
        "informative": r"StagewiseEM: the informative set still changed after 1 rounds\.",
    }[refine]
    with pytest.warns(ConvergenceWarning, match=f"^{sentence}$"):
        model = StagewiseEM(refine=refine, max_iter=2).fit(labels)
    assert not model.converged_


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "most"), [("dog, 2 labels an item", 0.31), ("rte, 2 labels an item", 0.2)])
def test_recorded_crowds_of_which_few_labels_are_kept(setting, most):
    """The claim of the documentation, on draws that the criterion was not chosen by: the odd ones."""
    errors = []
    for draw in range(1, 10, 2):
        try:
            crowd = thinned(setting, draw)
        except MissingDataError as error:
            pytest.skip(str(error))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnnotationWarning)
            found = StagewiseEM().fit(crowd.labels).responsibilities_.argmax(1)
        errors.append((found != crowd.truth)[crowd.truth >= 0].mean())
    assert np.mean(errors) < most
