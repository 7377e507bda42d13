"""Probabilities that gold calibrates, and gold that labels contradict: the formulas by hand, and simulated crowds."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from consilience import Labels, load, save
from consilience.analysis import findings
from consilience.consensus import DawidSkene
from consilience.consensus.labels import gold_calibration as core
from consilience.consensus.labels.annotator_models import OneCoin
from consilience.consensus.labels.calibration import RECORDED, Calibration
from consilience.consensus.labels.gold_calibration import GoldItems, calibrate_by_gold, scale_floors
from consilience.inspection import report
from consilience.simulation import simulate_labels
from tests.consensus.labels.test_calibration import log_loss, with_shared_errors

N_CLASSES = 3


def independent(seed, n_items=300):
    true = np.random.default_rng([seed, 1]).integers(N_CLASSES, size=n_items)
    labels = simulate_labels(true, n_annotators=15, accuracy=0.8, annotators_per_item=4, random_state=seed)
    return labels, true


def known(true, number, n_wrong=0):
    """The classes of the first items, of which the very first are wrong."""
    return {item: int((true[item] + (item < n_wrong)) % N_CLASSES) for item in range(number)}


def without(model, number):
    """The model with the items alone that are not gold, for their log loss."""
    rest = DawidSkene()
    rest.responsibilities_ = model.responsibilities_[number:]
    return rest


def gold_items(n_items=30, seed=0):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(4, np.full(N_CLASSES, 1 / N_CLASSES), size=n_items).astype(float)
    scores = rng.normal(scale=3, size=(n_items, N_CLASSES))
    classes = rng.integers(N_CLASSES, size=n_items)
    return GoldItems(np.arange(n_items), classes, scores, votes, np.log([0.2, 0.3, 0.5]))


FOUND = Calibration(1.1, RECORDED, np.full((N_CLASSES, N_CLASSES), 0.1) + 0.7 * np.eye(N_CLASSES))


def probability_by_hand(gold, item, floors, found=FOUND):
    temperature = max(found.temperature, min(1 + 3 * floors.slope, floors.highest))  # each has four labels
    q, w = softmax(gold.log_weights + gold.scores[item] / temperature), 1 - floors.kept / temperature
    mixed = (1 - w) * q + w * q @ found.confusion
    return (1 - floors.votes) * mixed + floors.votes * (gold.votes[item] + np.exp(gold.log_weights)) / 5


def test_floors_are_scaled_between_none_and_those_of_recorded_crowds():
    assert scale_floors(RECORDED, 1.0, 1.0) == RECORDED
    none = scale_floors(RECORDED, 0.0, 0.0)
    assert (none.slope, none.highest, none.kept, none.votes) == (0, 1, 1, 0)


def test_floors_are_the_most_probable_ones_in_each_direction():
    gold = gold_items()
    chosen = core.choose_floors(FOUND, gold)
    factor, of_votes = chosen.slope / RECORDED.slope, chosen.votes / RECORDED.votes

    def value(factor, of_votes):
        floors = scale_floors(RECORDED, factor, of_votes)
        own = [probability_by_hand(gold, item, floors)[gold.known[item]] for item in range(30)]
        return np.log(own).sum() - 0.5 * (np.log([factor, of_votes]) ** 2).sum() / core.SPREAD**2

    best = value(factor, of_votes)
    assert all(value(other, of_votes) <= best + 1e-9 for other in core.GRID)
    assert all(value(factor, other) <= best + 1e-9 for other in core.GRID)
    assert factor > 1  # this gold is at random


def test_factors_are_counts_against_what_was_expected():
    gold = gold_items()
    moved = calibrate_by_gold(FOUND, gold)
    plain = [probability_by_hand(gold, item, moved.floors) for item in range(30)]
    best = softmax(gold.log_weights + gold.scores, axis=1).argmax(1)
    for p, k in zip(plain, best):  # the consensus class has the largest probability
        top = p.argmax()
        p[k], p[top] = p[top], p[k]
    for k in range(N_CLASSES):
        own = [item for item in range(30) if best[item] == k]
        mean = np.mean([plain[item] for item in own], axis=0)
        counts = np.bincount(gold.known[own], minlength=N_CLASSES)
        np.testing.assert_allclose(moved.factors[k], (counts + 20 * mean) / ((len(own) + 20) * mean))


def test_a_gold_item_is_judged_without_its_class():
    """Its score is that of a model whose annotators have a count less for each of its labels."""
    labels, true = independent(0, 40)
    q = np.full((40, N_CLASSES), 1 / N_CLASSES)
    q[:10] = np.eye(N_CLASSES)[true[:10]]
    counts = np.zeros((15, N_CLASSES, N_CLASSES))
    np.add.at(counts, (labels.annotator, labels.label), q[labels.item])
    gold = GoldItems.of(labels, OneCoin.of(counts, 1.0), np.zeros(3), q, np.where(np.arange(40) < 10, true, -1))
    for item in range(10):
        score = 0
        for row in np.flatnonzero(labels.item == item):
            who, said = labels.annotator[row], labels.label[row]
            fewer = counts[who] - np.outer(np.eye(N_CLASSES)[said], q[item])
            right = (2 + np.trace(fewer)) / (4 + fewer.sum())
            score = score + np.log(np.where(np.arange(N_CLASSES) == said, right, (1 - right) / 2))
        np.testing.assert_allclose(gold.scores[item], score)
    np.testing.assert_array_equal(gold.votes.sum(1), 4)
    np.testing.assert_array_equal(gold.known, true[:10])


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
def test_gold_makes_independent_annotators_surer(confusion):
    labels, true = independent(1)
    alone, told = DawidSkene(confusion).fit(labels), DawidSkene(confusion).fit(labels, gold=known(true, 50))
    assert told._floors[0] < alone._floors[0]
    assert log_loss(without(told, 50), true[50:]) < log_loss(without(alone, 50), true[50:]) - 0.03
    same = DawidSkene(confusion, calibrate="independent").fit(labels, gold=known(true, 50))
    np.testing.assert_array_equal(told.labels_, same.labels_)


@pytest.mark.parametrize("seed", range(2))
def test_gold_helps_where_errors_are_shared(seed):
    labels, true = with_shared_errors(seed)
    alone, told = DawidSkene().fit(labels), DawidSkene().fit(labels, gold=known(true, 100))
    assert log_loss(without(told, 100), true[100:]) < log_loss(without(alone, 100), true[100:])
    np.testing.assert_allclose(told.predict_proba(labels)[100:], told.responsibilities_[100:], atol=1e-12)
    np.testing.assert_array_equal(told.responsibilities_[:100].argmax(1), true[:100])


def test_what_gold_tells_is_saved(tmp_path):
    labels, true = independent(6)
    model = DawidSkene().fit(labels, gold=known(true, 20, 6))
    save(model, tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert again.notes_ == model.notes_ != []
    np.testing.assert_array_equal(again.predict_proba(labels), model.predict_proba(labels))


def test_gold_without_labels_or_with_one_label_an_item_leaves_the_posterior():
    said = np.full((9, 3), -1)
    said[np.arange(8), np.arange(8) % 3] = np.arange(8) % 2
    labels = Labels.from_matrix(said, missing=-1, classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one_label = DawidSkene().fit(labels, gold={0: 0, 8: 1})
        many, _ = independent(3, 30)
        more = Labels.from_frame(many.to_frame(), items=[*many.items, "extra"])
        alone, silent = DawidSkene().fit(more), DawidSkene().fit(more, gold={"extra": 1})
    assert not one_label.calibrated().has_floors
    assert silent.calibrated().factors is None
    np.testing.assert_array_equal(silent._floors, alone._floors)


def test_wrong_gold_is_named_in_note_terminal_and_report(tmp_path):
    labels, true = independent(6)
    model = DawidSkene().fit(labels, gold=known(true, 20, 6))
    (note,) = model.notes_
    told = re.fullmatch(
        "Labels contradict the known class of 6 of 20 gold items, more than chance explains: (.*)[.] Check these: "
        "either their gold is wrong, or annotators share mistakes there[.]",
        note,
    )
    assert sorted(told[1].split(", ")) == list("012345")
    found = findings(model, labels, certainty=None)
    assert "Labels contradict the known class of 6 of 20 gold items" in str(found)
    report(found, path=tmp_path / "report.html")
    assert "contradict the known class of 6 of 20 gold" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert model.fit(labels).notes_ == []


@pytest.mark.parametrize("number", [20, 50])
def test_right_gold_is_not_named(number):
    """At most one crowd in forty would have a note if the range of the number of wrong ones kept its level."""
    crowds = [independent(seed, 120) for seed in range(5, 11)]
    fits = [DawidSkene(subtypes=1, copies=None).fit(labels, gold=known(true, number)) for labels, true in crowds]
    assert [fit.notes_ for fit in fits] == [[]] * len(fits)


def test_only_the_first_of_many_contradictions_are_named():
    gold = gold_items(100)
    contradicted = replace(gold, known=(gold.scores.argmax(1) + (np.arange(100) < 25)) % N_CLASSES)
    names = pd.Index([f"item {number}" for number in range(100)])
    sharp = replace(contradicted, scores=3 * gold.scores)
    (note,) = core.note_contradictions(sharp, 1.0, names)
    assert ", and " in note
    assert note.count("item ") == core.MOST_NAMED
