"""CorrelationClustering: crowds whose truth is known, fitted attributes, degenerate answers, invalid input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from consilience import Groupings, Labels, Pairs
from consilience.consensus import CorrelationClustering
from consilience.errors import AnnotationWarning, InputError, UnannotatedWarning
from consilience.metrics import nmi, pairwise_f
from consilience.simulation import simulate_pairs
from tests.quick_cases import some_quick

CLASSES = np.random.default_rng(0).permutation(np.arange(60) % 4)
ACCURACY = [0.95, 0.9, 0.9, 0.05, 0.5]  # the fourth judges the opposite, the fifth at random


def model_of(**parameters):
    return CorrelationClustering(**({"n_init": 2, "random_state": 0} | parameters))


def records(n_entities=120, per_pair=1, stray=3000, error=0.05, seed=0):
    """Judgements of all pairs of records of one entity, 1 to 5 of each, and of random other pairs."""
    rng = np.random.default_rng(seed)
    entity = np.repeat(np.arange(n_entities), 1 + np.arange(n_entities) % 5)
    a, b = np.triu_indices(len(entity), 1)
    within = entity[a] == entity[b]
    chosen = np.flatnonzero(within | (rng.random(len(a)) < stray / len(a)))
    rows = np.repeat(chosen, per_pair)
    frame = pd.DataFrame(
        {
            "item_a": a[rows],
            "item_b": b[rows],
            "annotator": np.tile(np.arange(per_pair), len(chosen)) + rng.integers(4, size=len(rows)) * per_pair,
            "same": within[rows] ^ (rng.random(len(rows)) < error),
        }
    )
    return Pairs.from_frame(frame, items=range(len(entity))), entity


@pytest.fixture(scope="module")
def pairs():
    return simulate_pairs(CLASSES, 5, 400, ACCURACY, random_state=1)


@pytest.fixture(scope="module")
def model(pairs):
    return model_of().fit(pairs)


def test_recovers_few_clusters_and_the_annotators(model):
    assert model.n_clusters_ == 4
    assert nmi(CLASSES, model.labels_) == pytest.approx(1)
    assert model.notes_ == []
    table = model.annotators_
    assert table.columns.tolist() == ["n_pairs", "accuracy", "sensitivity", "specificity"]
    for name in ("accuracy", "sensitivity", "specificity"):  # 200 judgements of each kind by each annotator
        np.testing.assert_allclose(table[name], ACCURACY, atol=0.1)


@pytest.mark.parametrize("per_pair", [1, 2])
def test_recovers_many_small_clusters(per_pair):
    given, entity = records(per_pair=per_pair)
    model = model_of().fit(given)
    assert abs(model.n_clusters_ - 120) <= 12
    assert pairwise_f(entity, model.labels_).f > 0.9


@pytest.mark.slow
def test_three_people_who_judge_few_pairs_of_iris():
    """With four judgements an item, one of them nearly at random, a single cluster is no answer."""
    classes = load_iris().target
    found = [
        nmi(classes, model_of().fit(simulate_pairs(classes, 3, 200, [0.95, 0.85, 0.6], random_state=seed)).labels_)
        for seed in range(4)
    ]
    assert np.mean(found) > 0.4


def test_fitted_attributes(model, pairs):
    assert model.items_.equals(pairs.items)
    assert model.responsibilities_.shape == (60, 4)
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), model.labels_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    assert model.objective_ == model.objectives_[-1] == model.restart_objectives_.max()
    assert model.n_iter_ == len(model.objectives_)
    assert model.converged_
    same = model.predict_same([0, 0], [1, 2])
    np.testing.assert_allclose(same, CLASSES[[0, 0]] == CLASSES[[1, 2]], atol=1e-3)
    own = model.annotators_.loc["annotator 4"]
    expected = own["sensitivity"] if CLASSES[0] == CLASSES[1] else 1 - own["specificity"]
    assert model.predict_same(0, 1, annotator="annotator 4") == pytest.approx(expected, abs=1e-3)


def test_probabilities_of_many_clusters_follow_the_judgements():
    """An item between two clusters: its probabilities, given the others, are those of Bayes' rule."""
    given, _ = records(60, stray=600)
    model = model_of().fit(given)
    assert model.n_clusters_ > 20
    share = model.responsibilities_
    np.testing.assert_allclose(share.sum(1), 1)
    np.testing.assert_array_equal(share.argmax(1), model.labels_)
    near = np.zeros(share.shape, dtype=bool)
    near[given.item_a, model.labels_[given.item_b]] = near[given.item_b, model.labels_[given.item_a]] = True
    near[np.arange(len(share)), model.labels_] = True
    assert (share[~near] == 0).all()


@pytest.mark.parametrize("number", [1, 2, 6, 30])
def test_a_number_of_clusters(pairs, number):
    model = model_of(n_clusters=number).fit(pairs)
    assert model.n_clusters_ == number
    assert model.notes_ == []


def test_a_number_that_the_judgements_do_not_allow():
    frame = pd.DataFrame({"item_a": list("ace"), "item_b": list("bdf"), "annotator": "Ann", "same": True})
    with pytest.warns(AnnotationWarning, match="found 3 clusters instead of the 2 requested"):
        model = model_of(n_clusters=2).fit(frame)
    assert "The judged pairs fall into 3 parts that no chain of judged pairs links" in model.notes_[-1]


def test_no_cluster_spans_two_parts():
    halves = [simulate_pairs(np.arange(20) % 2, 3, 120, 0.95, random_state=seed).to_frame() for seed in (0, 1)]
    halves[1][["item_a", "item_b"]] += 20
    model = model_of().fit(pd.concat(halves))
    assert model.n_clusters_ == 4
    assert set(model.labels_[model.items_ < 20]).isdisjoint(model.labels_[model.items_ >= 20])
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)


def test_groupings_and_labels_are_their_pairs():
    said = np.repeat((np.arange(30) % 3)[:, None], 4, axis=1)
    said[[0, 10, 20], [0, 1, 2]] = [1, 2, 0]  # one slip each
    groupings = Groupings.from_matrix(said)
    expected = model_of().fit(groupings.to_pairs())
    assert nmi(np.arange(30) % 3, expected.labels_) == pytest.approx(1)
    for annotations in (groupings, Labels.from_matrix(said), said, groupings.to_frame()):
        found = model_of().fit(annotations)
        np.testing.assert_allclose(found.responsibilities_, expected.responsibilities_, atol=1e-8)


def test_items_and_annotators_without_judgements():
    frame = simulate_pairs(CLASSES[:30], 2, 200, 0.95, random_state=0).to_frame()
    with pytest.warns(UnannotatedWarning, match="^2 items have no judged pair and no cluster .label -1.: 30, 31"):
        model = model_of().fit(Pairs.from_frame(frame, items=range(32)))
    np.testing.assert_array_equal(model.labels_[30:], -1)
    shares = np.bincount(model.labels_[:30]) / 30
    np.testing.assert_allclose(model.responsibilities_[30:], [shares, shares])


@pytest.mark.parametrize("same", [True, False])
def test_one_judgement(same):
    frame = pd.DataFrame({"item_a": ["x"], "item_b": ["y"], "annotator": ["Ann"], "same": [same]})
    model = model_of().fit(frame)
    assert model.labels_.shape == (2,)
    assert np.isfinite(model.objective_)


def test_everybody_contradicts_everybody():
    """Judgements of no information: one cluster, and a note."""
    a, b = np.triu_indices(20, 1)
    both = [pd.DataFrame({"item_a": a, "item_b": b, "annotator": by, "same": by == "yes"}) for by in ("yes", "no")]
    model = model_of().fit(pd.concat(both))
    assert np.isfinite(model.responsibilities_).all()
    if model.n_clusters_ == 1:
        assert model.notes_[0].startswith("All 20 items are in one cluster, although 50%")


@pytest.mark.parametrize("same", some_quick([False, True]))
def test_unanimous_judgements(same):
    a, b = np.triu_indices(12, 1)
    frame = pd.concat([pd.DataFrame({"item_a": a, "item_b": b, "annotator": by, "same": same}) for by in "xyz"])
    model = model_of().fit(frame)
    assert model.n_clusters_ == (1 if same else 12)
    assert model.notes_ == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of CorrelationClustering must be"),
        ({"n_clusters": 61}, "'n_clusters' parameter of CorrelationClustering must be at most the number of items, 60"),
        ({"reliability_prior": (1.0, 0.0)}, "'reliability_prior' parameter"),
        ({"n_init": 0}, "'n_init' parameter"),
        ({"max_iter": 0.5}, "'max_iter' parameter"),
        ({"tol": -1}, "'tol' parameter"),
    ],
)
def test_invalid_parameters(pairs, parameters, message):
    with pytest.raises(InputError, match=message):
        model_of(**parameters).fit(pairs)


def test_what_is_refused(model, pairs):
    with pytest.raises(InputError, match="Annotator 'nobody' was not fitted"):
        model.predict_same(0, 1, annotator="nobody")
    with pytest.raises(AttributeError, match="CorrelationClustering"):
        model.predict(pairs)
