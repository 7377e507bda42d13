"""Labels read under a prior by a classifier: its updates by brute force, no echo, the gate, what is calibrated."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from consilience import Labels
from consilience.annotations import concat
from consilience.consensus import DawidSkene, MajorityVote
from consilience.consensus.labels.dawid_skene import lower_bound, step
from consilience.errors import AnnotationWarning, InputError, UnannotatedWarning
from consilience.inference.iterate import Outcome, Trace
from consilience.inference.product_distributions import encode_labels
from consilience.semisupervised import DawidSkeneClassifier
from consilience.semisupervised import item_prior as prior_file
from consilience.semisupervised.cross_fitting import cross_fit, divide_folds
from consilience.semisupervised.crowd_alone import CrowdAlone
from consilience.semisupervised.dawid_skene_classifier import (
    Depth,
    LabelledItems,
    LabelsWithPrior,
    add_up_subtypes,
    deepen,
    init_features,
    run_features,
)
from consilience.semisupervised.item_prior import (
    LabelsToPredict,
    Mixing,
    floor_logs,
    mixing_of_labels,
    mixing_of_scores,
)
from consilience.semisupervised.learning_classifiers import FittedClassifier, default_classifier, learn_classifiers
from consilience.simulation import noisy_crowd, simulate_copies, simulate_labels, simulate_labels_with_features
from tests.quick_cases import some_quick

SMALL = {"n_items": 120, "n_features": 10, "n_classes": 3, "n_labelled": 90, "n_annotators": 10}


@pytest.fixture(scope="module")
def told():
    """Features that tell the classes."""
    return simulate_labels_with_features(**SMALL, shift=1.0, random_state=0)


@pytest.fixture(scope="module")
def untold():
    """Features that tell nothing."""
    return simulate_labels_with_features(**SMALL, shift=0.0, random_state=0)


@pytest.fixture(scope="module")
def model(told):
    return DawidSkeneClassifier(random_state=0).fit(told.data, told.annotations)


@pytest.fixture(scope="module")
def alone(told):
    return fit_alone(told)


def fit_alone(data, **settings):
    """Without features, of items some of which have no labels."""
    with pytest.warns(UnannotatedWarning):
        return DawidSkene(**settings).fit(data.annotations)


def share_right(names, data, where):
    return float((names == data.target)[where].mean())


def labelled(data):
    return np.diff(data.annotations.indptr) > 0


def small_items(known=(-1, -1, 1, -1)):
    """Four items, two annotators, two classes."""
    labels = Labels.from_matrix([[0, 0], [0, 1], [1, 1], [1, None]])
    return LabelledItems(labels, encode_labels(labels, 2), np.array(known), 0.0, one_coin=False, learned=True)


# ---- the mathematics


def test_the_expectation_is_that_of_all_assignments():
    """Of classes and of who tells them, enumerated; the class of a gold item is known."""
    items, rng = small_items(), np.random.default_rng(0)
    said = items.onehot.chunks[0].onehot.toarray()
    p, mixing = rng.dirichlet(np.ones(2), 4), Mixing(1.7, 0.6)
    log_weights, log_table = np.log([0.3, 0.5]), np.log(rng.dirichlet(np.ones(2), 4))
    of_classifier = softmax(1.7 * floor_logs(p), axis=1)
    by_class, by_crowd = np.zeros((4, 2)), np.zeros((4, 2))
    for n, (k, crowd) in product(range(4), product(range(2), (True, False))):
        prior = 0.4 * np.exp(log_weights[k]) if crowd else 0.6 * of_classifier[n, k]
        joint = prior * np.exp((said[n] * log_table[:, k]).sum()) * (n != 2 or k == 1)
        by_class[n, k] += joint
        by_crowd[n, k] += joint * crowd
    total = by_class.sum(1, keepdims=True)
    q = by_class / total
    found = LabelsWithPrior(items, p, mixing).expectation(log_weights, log_table)
    assert found.log_likelihood == pytest.approx(np.log(total).sum())
    np.testing.assert_allclose(found.sizes, (by_crowd / total).sum(0))
    np.testing.assert_allclose(found.counts, said.T @ q)
    np.testing.assert_allclose(LabelsWithPrior(items, p, mixing).posterior(log_weights, log_table), q)


def test_without_weight_it_is_dawid_skene(told):
    """With w = 0 the sums of an E-step are those of the model of labels."""
    labels = told.annotations[np.flatnonzero(labelled(told))]
    fitted = DawidSkene(subtypes=1, copies=None).fit(labels)
    crowd = CrowdAlone.of(fitted, labels, np.full(len(labels), -1))
    p = np.random.default_rng(0).dirichlet(np.ones(3), len(labels))
    found = LabelsWithPrior(crowd.items, p, Mixing(2.0, 0.0)).expectation(fitted._log_weights, fitted._log_table)
    onehot, _ = fitted._evidence(labels)
    table = np.vstack([fitted._log_table, np.zeros((3, 3))])
    expected = onehot.expectation(fitted._log_weights, table)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood)
    np.testing.assert_allclose(found.sizes, expected.sizes)
    np.testing.assert_allclose(found.counts, expected.counts[:-3], atol=1e-12)


def test_no_sweep_lowers_the_bound(told):
    """With a and w held."""
    labels = told.annotations[np.flatnonzero(labelled(told))]
    crowd = CrowdAlone.of(DawidSkene(subtypes=1).fit(labels), labels, np.full(len(labels), -1))
    p = np.random.default_rng(0).dirichlet(np.ones(3), len(labels))
    state = init_features(crowd.items, crowd.scores, crowd.log_weights, p, 1.0)
    bounds, now = [], state.dawid_skene
    for _ in range(15):
        now = step(now, state.evidence, learned=True)
        bounds.append(lower_bound(now))
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[0])
    trace = run_features(state, 1.0, max_iter=500, tol=1e-6)
    assert trace.converged
    assert abs(trace.state.change) <= 5e-6 * abs(trace.lower_bound)


def test_slopes_are_those_of_the_objectives(monkeypatch):
    """Of both objectives, at places that are no optimum, by differences."""
    rng, seen = np.random.default_rng(0), []

    def keep(objective, start, limits):
        seen.append((objective, start))
        return start

    monkeypatch.setattr(prior_file, "_climb", keep)
    p, log_weights = rng.dirichlet(np.ones(3), 20), np.log(np.array([0.2, 0.3, 0.5]))
    mixing_of_scores(rng.normal(size=(20, 3)), log_weights, p)
    item = np.repeat(np.arange(20), 2)
    labels = LabelsToPredict(item, rng.dirichlet(np.ones(3), 40), rng.normal(size=(40, 3)))
    mixing_of_labels(labels, log_weights, p)
    mixing_of_labels(LabelsToPredict(item, labels.probability, None), log_weights, p)
    prior_file.temperature_of_scores(rng.normal(size=(20, 3)), p, np.log(rng.dirichlet(np.ones(3), 20)))
    assert [len(start) for _, start in seen] == [2, 3, 2, 1]
    for objective, start in seen:
        place = start + 0.3
        value, slope = objective(place)
        np.testing.assert_allclose(approx_fprime(place, lambda x, f=objective: f(x)[0]), slope, atol=1e-6 * abs(value))


def test_probabilities_that_are_right_get_weight_and_others_none():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=400)
    scores = np.log(np.where(np.eye(3)[true] == 1, 0.6, 0.2))
    right = np.where(np.eye(3)[true] == 1, 0.8, 0.1)
    wrong = rng.dirichlet(np.full(3, 0.3), 400)
    trusted, doubted = (mixing_of_scores(scores, np.log(np.full(3, 1 / 3)), p) for p in (right, wrong))
    assert trusted.weight > 0.95
    flat = np.full(3, 1 / 3)
    assert np.abs(doubted.predict(np.log(flat), wrong) - flat).mean() < 0.1  # of wrong themselves, 0.3
    assert trusted.predict(np.log(flat), right)[np.arange(400), true].min() > 0.75


def test_subtypes_are_added_up():
    scores, log_weights = np.random.default_rng(0).normal(size=(5, 4)), np.log(np.array([0.1, 0.3, 0.2, 0.4]))
    added, of_classes = add_up_subtypes(scores, log_weights, 2)
    np.testing.assert_allclose(np.exp(of_classes), [0.4, 0.6])
    joint = np.exp(scores + log_weights)
    np.testing.assert_allclose(np.exp(added + of_classes), np.column_stack([joint[:, :2].sum(1), joint[:, 2:].sum(1)]))
    same, weights = add_up_subtypes(scores, log_weights, 4)
    np.testing.assert_allclose(same, scores)
    np.testing.assert_allclose(weights, log_weights)


# ---- cross-fitting


def learner(features):
    return learn_classifiers(make_pipeline(StandardScaler(), LogisticRegression()), features, None)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_label_returns_to_its_own_item(depth):
    """Other labels of one item change what other items are told, and nothing of what the items of its fold are told."""
    rng = np.random.default_rng(0)
    features, scores, fold = rng.normal(size=(50, 4)), 3 * rng.normal(size=(50, 3)), np.arange(50) % 5
    log_weights = np.log(np.full(3, 1 / 3))
    before, _ = cross_fit(learner(features), scores, log_weights, fold, depth)
    changed = scores.copy()
    changed[7] = [-9.0, 9.0, -9.0] if scores[7].argmax() != 1 else [9.0, -9.0, -9.0]
    after, _ = cross_fit(learner(features), changed, log_weights, fold, depth)
    np.testing.assert_array_equal(after[fold == 2], before[fold == 2])
    assert (np.abs(after - before)[fold != 2].max(1) > 1e-6).all()


def test_rounds_are_fitted_to_all_but_a_set_of_folds():
    """The items that each classifier learns from, by a stand-in that keeps them."""
    fold, asked = np.arange(10) % 5, []

    def learn(tasks):
        asked.extend(frozenset(fold[rows]) for rows, _ in tasks)
        return [lambda rows: np.full((len(rows), 2), 0.5) for _ in tasks]

    cross_fit(learn, np.zeros((10, 2)), np.log([0.5, 0.5]), fold, 3)
    assert [len(one) for one in asked] == [2] * 10 + [3] * 10 + [4] * 5 + [5]
    assert len(set(asked)) == 26


def test_folds_follow_the_seed_and_divide_every_class():
    classes = np.repeat([0, 1, 2], [50, 25, 10])
    one, two, other = (divide_folds(classes, np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    counts = np.array([np.bincount(one[classes == k], minlength=5) for k in range(3)])
    np.testing.assert_array_equal(counts, np.repeat([[10], [5], [2]], 5, axis=1))
    renamed = divide_folds(np.array([2, 0, 1])[classes], np.random.RandomState(0))
    np.testing.assert_array_equal(renamed, one)


def test_it_goes_deeper_as_long_as_the_bound_rises():
    def search(bounds):
        asked = []

        def fit_at(depth):
            asked.append(depth)
            ended = Trace(None, (float(bounds[depth - 1]),), Outcome.CONVERGED, "")
            return Depth(ended, np.empty((0, 2)), depth)

        return deepen(fit_at, (1, 2, 3), -100.0).predict, asked

    assert search([-99, -50, -10]) == (1, [1])  # a gain below two nats
    assert search([-90, -89, -10]) == (2, [1, 2])
    assert search([-90, -80, -70]) == (3, [1, 2, 3])
    assert search([-90, -95, -70]) == (1, [1, 2])


# ---- classifiers


@pytest.mark.parametrize(
    "classifier", some_quick([KNeighborsClassifier(5), GaussianNB(), CalibratedClassifierCV(GaussianNB(), cv=2)])
)
def test_any_classifier(classifier, told, alone):
    found = DawidSkeneClassifier(classifier, random_state=0).fit(told.data, told.annotations)
    where = labelled(told)
    assert found.uses_features_
    assert share_right(found.labels_, told, where) > share_right(alone.labels_, told, where)
    assert share_right(found.predict(told.data), told, ~where) > 0.8


def test_soft_targets_are_weights_of_rows():
    """A classifier that takes weights learns both classes of each item, else the most probable one."""
    features, targets = np.array([[0.0], [1.0]]), np.array([[0.75, 0.25], [0.1, 0.9]])

    class Soft(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            self.seen = (X.ravel().tolist(), y.tolist(), None if sample_weight is None else sample_weight.tolist())
            return super().fit(X, y, sample_weight)

    class Hard(Soft):
        def fit(self, X, y):
            return super().fit(X, y)

    for one, expected in (
        (Soft(), ([0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1], [0.75, 0.25, 0.1, 0.9])),
        (Hard(), ([0.0, 1.0], [0, 1], None)),
    ):
        (learned,) = learn_classifiers(one, features, None)([(np.arange(2), targets)])
        assert learned.classifier.seen == expected


@pytest.mark.slow
def test_default_classifier_of_all_items_gives_the_prediction(model, told):
    """`predict_proba` is the calibrated prior by the classifier that learned from all labelled items."""
    p = FittedClassifier(model.classifier_, told.data.to_numpy(), 3)(np.arange(120))
    expected = Mixing(model._sharpness, model._weight).predict(model._log_weights, p)
    np.testing.assert_allclose(model.predict_proba(told.data), expected)
    where = labelled(told)
    np.testing.assert_allclose(model.responsibilities_[~where], expected[~where])
    np.testing.assert_allclose(model.pred_probs_[~where], p[~where])
    assert np.abs(model.pred_probs_[where] - p[where]).max() > 0.01  # out of fold
    assert model.classifier_[-1].coef_.shape == (3, 10)
    assert repr(model.classifier_[0]) == repr(default_classifier()[0])
    assert model.classifier_[1].C == 0.1


# ---- the estimator


def test_features_mend_labelled_items_and_classify_others(model, told, alone):
    where = labelled(told)
    assert model.uses_features_
    assert model.gain_ > 10
    assert share_right(model.labels_, told, where) > share_right(alone.labels_, told, where) + 0.05
    assert share_right(model.labels_, told, ~where) > 0.9
    assert "take part" in model.notes_[0]
    assert model.annotators_["accuracy_low"].lt(model.annotators_["accuracy_high"]).all()
    true = Labels.from_matrix(told.target).label
    rows = told.annotations
    right = pd.Series(rows.label == true[rows.item]).groupby(rows.annotator).mean()
    errors = [
        np.abs(table["accuracy"].to_numpy() - right.to_numpy()).mean()
        for table in (model.annotators_, alone.annotators_)
    ]
    assert errors[0] < errors[1]


def test_probabilities_are_as_right_as_they_say(model, told):
    where = labelled(told)
    for part in (where, ~where):
        said, right = model.responsibilities_[part].max(1).mean(), share_right(model.labels_, told, part)
        assert abs(said - right) < 0.08  # of 90 and 30 items, the standard error of a share near .95 is .02 and .04


def test_features_that_tell_nothing_change_nothing(untold):
    found = DawidSkeneClassifier(random_state=0).fit(untold.data, untold.annotations)
    alone = fit_alone(untold)
    where = labelled(untold)
    assert not found.uses_features_
    assert found.gain_ < 10
    np.testing.assert_array_equal(found.responsibilities_[where], alone.responsibilities_[where])
    np.testing.assert_array_equal(found.labels_[where], alone.labels_[where])
    pd.testing.assert_frame_equal(found.annotators_, alone.annotators_)
    pd.testing.assert_frame_equal(found.confusion_matrices_, alone.confusion_matrices_)
    assert found.lower_bound_ == alone.lower_bound_
    assert "tell nothing" in found.notes_[0]
    assert found.responsibilities_[~where].max() < 0.6  # and it knows no more of items without labels


def test_given_probabilities_stand_for_a_classifier(told, model):
    """Columns by name, in any order; those out of fold by the default classifier give its result."""
    given = pd.DataFrame(model.pred_probs_, columns=[0, 1, 2])
    found = DawidSkeneClassifier("probabilities").fit(given, told.annotations)
    np.testing.assert_allclose(
        found.responsibilities_[labelled(told)], model.responsibilities_[labelled(told)], atol=1e-6
    )
    turned = DawidSkeneClassifier("probabilities").fit(given[[2, 0, 1]], told.annotations)
    np.testing.assert_allclose(turned.responsibilities_, found.responsibilities_, atol=1e-9)
    for columns in ([2, 0, 1], [0, 1, 2], [1, 2, 0]):
        np.testing.assert_allclose(turned.predict_proba(given[columns]), found.predict_proba(given), atol=1e-9)
    assert found.classifier_ is None
    array = DawidSkeneClassifier("probabilities").fit(given.to_numpy(), told.annotations)
    np.testing.assert_allclose(array.responsibilities_, found.responsibilities_)


def test_a_column_may_be_a_class_that_nobody_gave():
    said = Labels.from_matrix([["b", "b"], ["b", "b"], ["c", "c"], ["c", "b"]])
    given = pd.DataFrame({"a": [0.0, 0.1, 0.0, 0.2], "b": [1.0, 0.8, 0.1, 0.3], "c": [0.0, 0.1, 0.9, 0.5]})
    found = DawidSkeneClassifier("probabilities").fit(given, said)
    assert found.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found.pred_probs_, given)
    assert found.confusion_matrices_.columns.tolist() == ["a", "b", "c"]
    assert found.responsibilities_[:, 0].max() < 0.2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.full((2, 3), 1 / 3), r"There are 3 columns of probabilities, and the labels have 2 classes: 'a', 'b'"),
        (pd.DataFrame({"a": [1.0, 0.0], "x": [0.0, 1.0]}), "There is no column of probabilities for the class 'b'"),
        (pd.DataFrame(np.eye(2)[:, [0, 1, 1]], columns=["a", "b", "b"]), "Two features are named 'b'"),
        (pd.DataFrame(np.eye(2), columns=[1, "1"]), "Two features are named '1'"),
        (np.array([[0.5, 0.5], [0.7, 0.7]]), "The row of item 1 has values from 0.7 to 0.7 that sum to 1.4"),
        (np.array([[1.5, -0.5], [0.5, 0.5]]), "The row of item 0 has values from -0.5 to 1.5"),
    ],
)
def test_what_are_no_probabilities_of_the_classes_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        DawidSkeneClassifier("probabilities").fit(given, [["a", "a"], ["b", "b"]])


def test_one_label_an_item_is_doubted_where_features_speak_against_it():
    """EM from the labels themselves would take each as right."""
    data = simulate_labels_with_features(
        **SMALL | {"n_labelled": 120}, shift=1.5, annotators_per_item=1, random_state=1
    )
    found = DawidSkeneClassifier(random_state=0).fit(data.data, data.annotations)
    assert found.uses_features_
    labels = data.annotations
    assert found.temperature_ == pytest.approx(1, abs=1e-3)  # no item has another label that could tell
    assert (labels.label == data.target).mean() < 0.7
    assert share_right(found.labels_, data, slice(None)) > 0.85


def test_nothing_tells_how_often_a_label_is_right_without_features_or_a_second_label():
    data = simulate_labels_with_features(**SMALL, shift=0.0, annotators_per_item=1, random_state=1)
    with pytest.warns(AnnotationWarning, match="no item has two labels, and the features tell nothing"):
        found = DawidSkeneClassifier(random_state=0).fit(data.data, data.annotations)
    assert not found.uses_features_


def test_gold_items_keep_their_class_and_teach(told, model):
    wrong = (told.target[:5] + 1) % 3
    gold = pd.Series(wrong, index=range(5))
    found = DawidSkeneClassifier(random_state=0).fit(told.data, told.annotations, gold=gold)
    np.testing.assert_array_equal(found.labels_[:5], wrong)
    np.testing.assert_allclose(found.responsibilities_[np.arange(5), wrong], 1)
    assert (model.labels_[:5] != wrong).any()
    nothing = told.annotations[np.arange(100, 120)].reindex(told.annotations.items)
    gold = pd.Series(told.target[:100], index=range(100))
    taught = DawidSkeneClassifier(random_state=0).fit(told.data, nothing, gold=gold)
    assert share_right(taught.labels_, told, slice(100, None)) > 0.9


@pytest.mark.slow
def test_annotators_who_are_not_heard_and_copies(told):
    """Of one who says the same of everything, and of two copies: as in Dawid-Skene."""
    labels = simulate_copies(told.annotations, "annotator 1", n_copies=2, alike=1.0, random_state=0)
    groups = [["annotator 1", "annotator 1 (copy 1)", "annotator 1 (copy 2)"]]
    constant = Labels.from_matrix(np.zeros((120, 1), dtype=int), annotators=["constant"])
    labels = concat([labels, constant])
    with pytest.warns(AnnotationWarning, match="1 annotator gave the same label to everything"):
        found = DawidSkeneClassifier(consensus=DawidSkene(copies=groups), random_state=0).fit(told.data, labels)
    assert found.uses_features_
    assert found.annotators_["n_labels"]["constant"] == 120
    assert np.isnan(found.annotators_["accuracy_low"]["constant"])
    pd.testing.assert_frame_equal(
        found.confusion_matrices_.loc[["constant"]], found.consensus_.confusion_matrices_.loc[["constant"]]
    )
    with pytest.warns(AnnotationWarning, match="the same label"):
        apart = DawidSkeneClassifier(consensus=DawidSkene(copies=None), random_state=0).fit(told.data, labels)
    np.testing.assert_array_equal(found.labels_apart_, apart.labels_)
    assert found.copies_["annotators"].tolist() == groups


@pytest.mark.parametrize("settings", some_quick([{"confusion": "one-coin"}, {"prior": None}, {"calibrate": False}]))
def test_other_settings_of_the_model_of_labels(settings, told):
    found = DawidSkeneClassifier(consensus=DawidSkene(**settings), random_state=0).fit(told.data, told.annotations)
    where = labelled(told)
    assert found.uses_features_
    assert share_right(found.labels_, told, where) > share_right(found.consensus_.labels_, told, where)
    assert found.annotators_["accuracy_low"].isna().all() == ("prior" in settings)
    if settings == {"calibrate": False}:
        assert found.temperature_ == 1


def test_calibration_leaves_the_classes():
    """In a crowd that errs together, probabilities are lower, and the classes those of the posterior."""
    rng = np.random.default_rng(0)
    true = np.arange(120) % 3
    seen = np.where(rng.random(120) < 0.3, rng.integers(3, size=120), true)  # what everybody takes the item for
    labels = simulate_labels(seen, confusion=noisy_crowd(8, 3, low=0.7, high=0.9, random_state=0), random_state=0)
    X = (true[:, None] == np.arange(3)) * 2.0 + rng.normal(size=(120, 3))
    plain, calibrated = (
        DawidSkeneClassifier(consensus=DawidSkene(calibrate=calibrate, subtypes=1), random_state=0).fit(X, labels)
        for calibrate in (False, True)
    )
    np.testing.assert_array_equal(plain.labels_, calibrated.labels_)
    assert (calibrated.responsibilities_.max(1) <= plain.responsibilities_.max(1) + 1e-6).mean() > 0.9


def test_score_is_that_of_the_labels_under_the_prediction(model, told):
    where = np.flatnonzero(labelled(told))[:20]
    labels = told.annotations[where]
    matrices = model.confusion_matrices_.to_numpy().reshape(-1, 3, 3)
    p, total = model.predict_proba(told.data.iloc[where]), 0.0
    for n in range(20):
        rows = labels.item == n
        total += np.log((p[n] * matrices[labels.annotator[rows], :, labels.label[rows]].prod(0)).sum())
    assert model.score(told.data.iloc[where].reset_index(drop=True), labels.by_position()) == pytest.approx(
        total / labels.n_rows
    )


@pytest.mark.slow
def test_the_seed_decides_and_not_the_order_of_rows(told, model):
    order = np.random.default_rng(1).permutation(120)
    moved = DawidSkeneClassifier(random_state=0).fit(told.data.iloc[order], told.annotations[order])
    np.testing.assert_array_equal(moved.pred_probs_, model.pred_probs_[order])
    other = DawidSkeneClassifier(random_state=1).fit(told.data, told.annotations)
    assert np.abs(other.pred_probs_ - model.pred_probs_).max() > 1e-3


@pytest.mark.slow
def test_pipelines_clones_and_the_parts_of_other_models(told):
    piped = make_pipeline(StandardScaler(), DawidSkeneClassifier(random_state=0)).fit(told.data, told.annotations)
    assert share_right(piped.predict(told.data), told, slice(None)) > 0.9
    named = clone(DawidSkeneClassifier(GaussianNB(), DawidSkene())).set_params(consensus__copies=None)
    assert named.consensus.copies is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"classifier": 3}, "must be None, 'probabilities' or a scikit-learn classifier with predict_proba. Got 3"),
        ({"classifier": LinearSVC()}, "classifier with predict_proba. Got LinearSVC"),
        ({"classifier": "proba"}, "Got 'proba' instead"),
        ({"consensus": MajorityVote()}, "'consensus' parameter .* must be None or a DawidSkene. Got MajorityVote"),
        ({"consensus": DawidSkene(max_iter=0)}, "'max_iter' parameter of DawidSkene"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        DawidSkeneClassifier(**parameters).fit([[0.0], [1.0]], [["a"], ["b"]])


def test_labels_are_needed(told):
    with pytest.raises(InputError, match="needs labels, and none of the 2 items has any"):
        DawidSkeneClassifier().fit([[0.0], [1.0]], told.annotations[np.flatnonzero(~labelled(told))[:2]].by_position())
    with pytest.raises(InputError, match="requires y to be passed"):
        DawidSkeneClassifier().fit(told.data)
    with pytest.raises(InputError, match=r"^DawidSkeneClassifier reads Labels, whose names mean the same to all"):
        DawidSkeneClassifier().fit(told.data, told.annotations.to_groupings())
