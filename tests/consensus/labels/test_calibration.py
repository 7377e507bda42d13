"""Calibrated probabilities: labels left out by counting again, and crowds whose errors are independent or shared."""

import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from consilience import Labels
from consilience.annotations import concat
from consilience.consensus import DawidSkene
from consilience.consensus.labels import calibration, samples
from consilience.consensus.labels.calibration import INDEPENDENT, RECORDED, Floors, said_by, with_best
from consilience.errors import AnnotationWarning, CalibrationWarning
from consilience.estimators.labels import posterior_of
from consilience.persistence.migrations import migrate
from consilience.simulation import simulate_labels
from tests.consensus.labels.test_annotator_models import MODELS, random_counts

CLIP = 1e-6


def log_loss(model, true):
    own = model.responsibilities_[np.arange(len(true)), true]
    return -np.log(np.clip(own, CLIP, 1)).mean()


@pytest.mark.parametrize("name", MODELS)
def test_a_label_left_out_is_a_count_less(name):
    """From the counts without it, and without the labels that the annotator gives the same item."""
    rng = np.random.default_rng(0)
    n_classes = 3
    model = MODELS[name](random_counts(rng, 4, n_classes) + 2)
    annotator, label = rng.integers(4, size=7), rng.integers(n_classes, size=7)
    annotator[1], label[1] = annotator[0], (label[0] + 1) % n_classes
    item = np.array([0, 0, 1, 2, 3, 4, 5])
    q = rng.dirichlet(np.ones(n_classes), size=6)[item]
    found = model.left_out(item, annotator, label, q)
    for row, (who, said) in enumerate(zip(annotator, label)):
        cell = [0, 1] if row < 2 else [row]
        if hasattr(model, "right_wrong"):
            right = model.crowd[0] + model.right_wrong[who, 0] - q[cell, label[cell]].sum()
            wrong = model.crowd[1] + model.right_wrong[who, 1] - (1 - q[cell, label[cell]]).sum()
            expected = np.full(n_classes, wrong / (right + wrong) / (n_classes - 1))
            expected[said] = right / (right + wrong)
        else:
            counts = model.counts[who].copy()
            counts[label[cell]] -= q[cell]
            prior = model._cells.prior(model._row_prior())[who] if hasattr(model, "concentration") else np.ones((3, 3))
            total = getattr(model, "concentration", np.full(3, 3.0))
            expected = ((prior + counts) / (total + counts.sum(0)))[said]
        np.testing.assert_allclose(found[row], expected)


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("is_even", [True, False])
def test_what_annotators_say_is_a_product(n_classes, is_even):
    rng = np.random.default_rng(0)
    confusion = rng.dirichlet(np.ones(n_classes), n_classes)
    if is_even and n_classes > 1:
        confusion = np.full((n_classes, n_classes), 0.3 / (n_classes - 1))
        np.fill_diagonal(confusion, 0.7)
    q = rng.dirichlet(np.ones(n_classes), 5)
    np.testing.assert_allclose(said_by(confusion, q), q @ confusion, atol=1e-15)


@pytest.mark.parametrize("prior", ["learned", None])
@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_independent_errors_leave_the_posterior_as_it_is(confusion, prior):
    true = np.arange(600) % 3
    labels = simulate_labels(true, n_annotators=20, accuracy=0.7, annotators_per_item=6, random_state=3)
    model = DawidSkene(confusion, prior, calibrate="independent").fit(labels)
    plain = DawidSkene(confusion, prior, calibrate=False).fit(labels)
    assert plain.temperature_ == 1
    assert model.temperature_ < 1.35
    assert log_loss(model, true) < log_loss(plain, true) + 0.02
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def with_shared_errors(seed, n_items=600):
    """On a fifth of the items, all annotators err towards the next class more often than not."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n_items)
    said = np.where(rng.random((n_items, 10)) < 0.8, true[:, None], rng.integers(3, size=(n_items, 10)))
    hard = rng.random(n_items) < 0.2
    wrong = rng.random((n_items, 10)) < 0.65
    said[hard] = np.where(wrong[hard], (true[hard, None] + 1) % 3, true[hard, None])
    return Labels.from_matrix(said), true


@pytest.mark.parametrize("seed", range(3))
def test_shared_errors_make_the_probabilities_less_sure(seed):
    labels, true = with_shared_errors(seed)
    model, plain = DawidSkene().fit(labels), DawidSkene(calibrate=False).fit(labels)
    assert model.temperature_ > 1.3
    assert log_loss(model, true) < 0.8 * log_loss(plain, true)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), plain.responsibilities_.argmax(1))
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-12)


def test_a_sample_of_the_items_gives_nearly_the_same(monkeypatch):
    labels, _ = with_shared_errors(5, 3000)
    whole = DawidSkene().fit(labels)
    monkeypatch.setattr(samples, "MOST_LABELS", 10_000)
    assert DawidSkene().fit(labels).temperature_ == pytest.approx(whole.temperature_, rel=0.15)


def test_gold_items_keep_their_class_and_items_without_labels_the_proportions():
    labels, true = with_shared_errors(1)
    said = np.vstack([labels.to_matrix(), np.full(10, -1)])
    with pytest.warns(AnnotationWarning, match="no annotations"):
        model = DawidSkene().fit(Labels.from_matrix(said, missing=-1), gold={0: int((true[0] + 1) % 3)})
    np.testing.assert_array_equal(model.responsibilities_[0], np.eye(3)[(true[0] + 1) % 3])
    assert model.temperature_ > 1
    np.testing.assert_allclose(model.responsibilities_[-1], model.class_proportions_, atol=0.01)


@pytest.mark.parametrize("prior", ["learned", None])
def test_an_annotators_labels_of_an_item_do_not_predict_each_other(prior):
    """Everybody gives each item a second, random label. As it always differs from the first, T was above 2."""
    rng = np.random.default_rng(0)
    true, said = rng.integers(3, size=300), rng.integers(3, size=(300, 6))
    labels = Labels.from_matrix(np.where(rng.random(said.shape) < 0.7, true[:, None], said), classes=range(3))
    twice = concat([labels, replace(labels, label=(labels.label + rng.integers(1, 3, labels.n_rows)) % 3)])
    assert DawidSkene(prior=prior).fit(twice, gold={item: true[item] for item in range(60)}).temperature_ < 1.1


def test_two_labels_by_one_annotator_tell_no_accuracy():
    said = np.arange(60) % 3
    one = Labels.from_matrix(np.column_stack([said, np.full(60, -1)]), missing=-1, classes=range(3))
    with pytest.warns(AnnotationWarning, match=r"no item has two labels by different annotators"):
        DawidSkene().fit(concat([one, replace(one, label=(one.label + 1) % 3)]))


def test_one_label_an_item_tells_no_accuracy():
    said = np.full((9, 3), -1)
    said[np.arange(9), np.arange(9) % 3] = np.arange(9) % 2
    labels = Labels.from_matrix(said, missing=-1, classes=[0, 1])
    with pytest.warns(AnnotationWarning, match=r"no item has two labels.* assume 73%\. Collect a second label"):
        model = DawidSkene().fit(labels)
    assert model.responsibilities_.max() < 0.74
    np.testing.assert_array_equal(model.labels_, np.arange(9) % 2)
    assert DawidSkene().fit(labels, gold={0: 0, 1: 1, 3: 1}).temperature_ == 1  # gold tells it


def test_with_best_exchanges_the_largest_probability():
    q = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]])
    np.testing.assert_array_equal(with_best(q.copy(), np.array([2, 1])), [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])


def test_floors_hold_whatever_the_temperature():
    floors = Floors(slope=0.5, highest=2.0, kept=0.8, votes=0.1)
    np.testing.assert_allclose(floors.temperatures(np.array([0.0, 1, 2, 3, 9]), 1.2), [1.2, 1.2, 1.5, 2, 2])
    np.testing.assert_allclose(floors.temperatures(np.array([1.0, 9]), 3.0), [3, 3])


def test_the_probabilities_are_those_of_the_formula():
    """Counted item by item, where the class that is most probable in the posterior is so by the formula, too."""
    labels, _ = with_shared_errors(2, 60)
    model, plain = DawidSkene(subtypes=1).fit(labels), DawidSkene(subtypes=1, calibrate=False).fit(labels)
    found, floors = model.calibrated(), RECORDED
    said, prior = labels.to_matrix().to_numpy().astype(int), softmax(model._log_weights)
    table = model._log_table.reshape(10, 3, 3)
    for item in range(len(labels)):
        score = sum(table[who, said[item, who]] for who in range(10))
        temperature = max(model.temperature_, min(1 + 9 * floors.slope, floors.highest))
        q, w = softmax(model._log_weights + score / temperature), 1 - floors.kept / temperature
        mixed = (1 - w) * q + w * q @ found.confusion
        votes = np.bincount(said[item], minlength=3)
        expected = (1 - floors.votes) * mixed + floors.votes * (votes + prior) / 11
        if expected.argmax() == plain.responsibilities_[item].argmax():
            np.testing.assert_allclose(model.responsibilities_[item], expected)


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_floors_change_no_class_and_make_no_item_surer(confusion):
    true = np.arange(300) % 3
    labels = simulate_labels(true, n_annotators=12, accuracy=0.8, annotators_per_item=4, random_state=0)
    fits = [DawidSkene(confusion, calibrate=way).fit(labels) for way in (True, "independent", False)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fits[0].labels_, fit.labels_)
    assert fits[0].temperature_ == fits[1].temperature_
    top = [fit.responsibilities_.max(1) for fit in fits]
    assert top[0].max() < 0.95
    assert (top[2] > 0.95).mean() > 0.5


def test_what_predicts_labels_reads_the_posterior():
    labels, _ = with_shared_errors(3, 100)
    model, plain = DawidSkene().fit(labels), DawidSkene(calibrate=False).fit(labels)
    np.testing.assert_allclose(posterior_of(model), plain.responsibilities_)
    who = labels.annotators[0]
    same = [fit.predict_same(list(range(9)), list(range(1, 10)), annotator=who) for fit in (model, plain)]
    np.testing.assert_allclose(*same)


def test_the_table_of_floors_has_their_spread():
    table = pd.read_csv(Path(calibration.__file__).with_name("floors.csv"), index_col="constant")
    assert list(table.index) == [field.name for field in fields(Floors)]
    assert (table["lowest"] <= table["value"]).all()
    assert (table["value"] <= table["highest"]).all()


def few_judges(n_judges):
    true = np.arange(60) % 3
    return simulate_labels(true, n_annotators=n_judges, accuracy=0.9, random_state=0)


def test_few_annotators_without_gold_are_warned_of():
    with pytest.warns(CalibrationWarning, match="There are 7 annotators and no gold, so the probabilities rest on"):
        DawidSkene().fit(few_judges(7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DawidSkene().fit(few_judges(8))
        DawidSkene().fit(few_judges(7), gold={0: 0})
        DawidSkene(calibrate=False).fit(few_judges(7))
    names = [f"annotator {number}" for number in range(1, 9)]
    with pytest.warns(CalibrationWarning, match="There are 7 annotators"):  # those of a group are one
        DawidSkene(copies=[names[:2]]).fit(few_judges(8))


def test_weak_agreement_is_warned_of():
    weak = simulate_labels(np.arange(60) % 3, n_annotators=10, accuracy=0.45, annotators_per_item=3, random_state=0)
    with pytest.warns(CalibrationWarning, match=r"κ = -?0\.\d\d beyond chance.*\(Spearman-Brown\), less than 0\.5"):
        DawidSkene().fit(weak)


def test_a_file_from_before_the_floors_keeps_its_probabilities():
    before = {"temperature_": 2.0, "_shared": 0.5}
    parameters, attributes = migrate("DawidSkene", {"calibrate": True}, before)
    assert parameters["calibrate"] == "independent"
    assert attributes.keys() == {"temperature_", "_floors"}
    assert Floors(*attributes["_floors"]) == INDEPENDENT
    assert migrate("DawidSkene", parameters, attributes) == (parameters, attributes)
