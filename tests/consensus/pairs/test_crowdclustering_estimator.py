"""Crowdclustering: crowds whose truth is known, fitted attributes, invalid input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings, Labels, Pairs
from consilience.consensus.pairs import point_mixture
from consilience.consensus.pairs.crowdclustering_estimator import Crowdclustering
from consilience.errors import InputError, UnannotatedWarning
from consilience.metrics.clusterings import nmi
from consilience.simulation.pairs import simulate_pairs

CLASSES = np.random.default_rng(0).permutation(np.arange(60) % 3)
ACCURACY = [0.95, 0.9, 0.9, 0.05, 0.5]  # the fourth judges the opposite, the fifth at random


def model_of(**parameters):
    return Crowdclustering(**({"max_clusters": 5, "n_init": 1, "tol": 1e-4, "random_state": 0} | parameters))


@pytest.fixture(scope="module")
def pairs():
    return simulate_pairs(CLASSES, 5, 400, ACCURACY, random_state=1)


@pytest.fixture(scope="module")
def model(pairs):
    return model_of().fit(pairs)


@pytest.mark.parametrize("two_stage", [True, False])
def test_recovers_clusters_and_their_number(pairs, two_stage):
    model = model_of(two_stage=two_stage, n_init=2).fit(pairs)
    assert nmi(CLASSES, model.labels_) > 0.95
    assert model.n_clusters_ == 3
    assert model.restart_bounds_.shape == (2,)
    assert model.lower_bound_ == model.restart_bounds_.max() == model.lower_bounds_[-1]
    assert (np.diff(model.lower_bounds_) >= -1e-8 * abs(model.lower_bound_)).all()
    assert model.converged_
    assert model.n_iter_ == len(model.lower_bounds_)


def test_fitted_attributes(model, pairs):
    assert model.items_.equals(pairs.items)
    assert model.embedding_.shape == (60, 4)
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), model.labels_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    table = model.annotators_
    assert table.index.equals(pairs.annotators)
    assert table["n_pairs"].tolist() == [400] * 5
    frame = pairs.to_frame()
    within = CLASSES[frame["item_a"]] == CLASSES[frame["item_b"]]
    for annotator, rows in frame.assign(within=within).groupby("annotator"):
        right = rows["same"] == rows["within"]
        expected = [right.mean(), right[rows["within"]].mean(), right[~rows["within"]].mean()]
        found = table.loc[annotator, ["accuracy", "sensitivity", "specificity"]].astype(float)
        np.testing.assert_allclose(found, expected, atol=0.02)  # responsibilities are nearly, not quite, 0 and 1


def test_probability_of_same_is_learned_for_each_annotator(model):
    a, b = np.triu_indices(60, 1)
    within = CLASSES[a] == CLASSES[b]
    a, b = a.tolist(), b.tolist()
    np.testing.assert_allclose(model.predict_same(a, b), within, atol=0.2)
    for annotator, accuracy in zip(model.annotators_.index, ACCURACY):
        same = model.predict_same(a, b, annotator=annotator)
        # of 400 judgements each; moderation draws towards 1/2
        assert same[within].mean() == pytest.approx(accuracy, abs=0.1)
        assert same[~within].mean() == pytest.approx(1 - accuracy, abs=0.1)
    assert model.predict_same(a[0], b[0], annotator="annotator 1") == pytest.approx(
        model.predict_same(a[:1], b[:1], annotator="annotator 1")[0]
    )


def test_probability_of_same_is_a_moderated_logistic_function(model):
    """Against the mean of σ(A) over draws from q."""
    rng = np.random.default_rng(0)
    layout = point_mixture.PointLayout.of(4)
    points = model._points[[0, 1]]
    mean = layout.means(points)
    spread = layout.second_moments(points) - mean[:, :, None] * mean[:, None, :]
    x, y = (rng.multivariate_normal(m, s, 20_000) for m, s in zip(mean, spread))
    weights = rng.multivariate_normal(model._weights[0], model._weight_covariances[0], 20_000)
    w = np.tensordot(weights[:, :-1], layout.weights[:-1, :4, :4], 1)
    drawn = expit(np.einsum("sd,sde,se->s", x, w, y) + weights[:, -1]).mean()
    assert model.predict_same(0, 1, annotator="annotator 1") == pytest.approx(drawn, abs=0.02)


@pytest.mark.slow
def test_annotators_who_use_different_dimensions():
    """Two annotators separate halves, two others different halves: the points represent both."""
    first, second = np.random.default_rng(3).permutation(np.arange(64) % 4) // np.array([[2], [1]]) % 2
    by = [simulate_pairs(first if j < 2 else second, 1, 500, 0.95, random_state=j).to_frame() for j in range(4)]
    frame = pd.concat([rows.assign(annotator=f"a{j}") for j, rows in enumerate(by)])
    model = model_of(n_init=2).fit(Pairs.from_frame(frame, items=range(64)))
    assert nmi(2 * first + second, model.labels_) > 0.8  # two of the four crossings stay one cluster
    a, b = (list(range(0, 64, 2)), list(range(1, 64, 2)))
    for j, view in ((0, first), (3, second)):
        same = model.predict_same(a, b, annotator=f"a{j}")
        np.testing.assert_array_equal(same > 0.5, view[a] == view[b])


def test_order_of_items_changes_nothing(model, pairs):
    place = np.random.default_rng(5).permutation(60)
    here = model_of().fit(pairs[place])
    np.testing.assert_allclose(here.responsibilities_, model.responsibilities_[place], atol=1e-8)
    np.testing.assert_allclose(here.embedding_, model.embedding_[place], atol=1e-8)
    assert here.lower_bound_ == pytest.approx(model.lower_bound_)


def test_parallel_restarts_equal_sequential_ones(pairs):
    one, two = (model_of(n_init=2, max_iter=2, tol=0.0, n_jobs=n).fit for n in (None, 2))
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        here = one(pairs)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        there = two(pairs)
    np.testing.assert_array_equal(here.restart_bounds_, there.restart_bounds_)
    np.testing.assert_array_equal(here.responsibilities_, there.responsibilities_)


def test_frames_of_pairs_and_pickles(model, pairs):
    again = model_of().fit(pairs.to_frame())
    places = again.items_.get_indexer(model.items_)
    np.testing.assert_allclose(again.responsibilities_[places], model.responsibilities_, atol=1e-8)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_same([0, 1], [2, 3]), model.predict_same([0, 1], [2, 3]))


@pytest.mark.slow
def test_groupings_and_labels_are_their_pairs():
    said = np.repeat((np.arange(30) % 3)[:, None], 3, axis=1)
    said[[0, 10, 20], [0, 1, 2]] = [1, 2, 0]  # one slip each
    groupings = Groupings.from_matrix(said)
    expected = model_of().fit(groupings.to_pairs())
    agreed = np.setdiff1d(np.arange(30), [0, 10, 20])  # the others may be a cluster of their own
    assert nmi(agreed % 3, expected.labels_[agreed]) == pytest.approx(1)
    for annotations in (groupings, Labels.from_matrix(said), said, groupings.to_frame()):
        found = model_of().fit(annotations)
        np.testing.assert_allclose(found.responsibilities_, expected.responsibilities_, atol=1e-8)


def test_items_and_annotators_without_annotations():
    """They are at their priors: the clusters' shares, the mean of the mixture, probability 1/2."""
    frame = simulate_pairs(CLASSES[:30], 2, 200, 0.95, random_state=0).to_frame()
    given = Pairs.from_frame(frame, items=range(32))
    silent = Pairs(
        **{name: getattr(given, name) for name in ("items", "named", "item_a", "item_b", "annotator", "same")},
        annotators=given.annotators.append(pd.Index(["silent"])),
        grouping=given.grouping,
        groupings=given.groupings,
    )
    with pytest.warns(UnannotatedWarning, match="^2 items have no judged pair and no cluster .label -1.: 30, 31"):
        model = model_of().fit(silent)
    np.testing.assert_array_equal(model.labels_[30:], -1)
    shares = model.responsibilities_[:30].mean(0)
    np.testing.assert_allclose(model.responsibilities_[30:], [shares, shares], atol=0.05)
    assert model.annotators_.loc["silent", "n_pairs"] == 0
    assert model.annotators_.loc["silent", ["accuracy", "sensitivity", "specificity"]].isna().all()
    assert model.predict_same(0, 1, annotator="silent") == pytest.approx(0.5)
    assert model.predict_same(0, 30) == pytest.approx(shares[model.labels_[0]], abs=0.1)
    assert 0 < model.predict_same(0, 31, annotator="annotator 1") < 1
    np.testing.assert_array_equal(model.embedding_[30], model.embedding_[31])


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("two_stage", [True, False])
def test_one_judgement(same, two_stage):
    frame = pd.DataFrame({"item_a": ["x"], "item_b": ["y"], "annotator": ["Ann"], "same": [same]})
    model = model_of(two_stage=two_stage, max_iter=100).fit(frame)
    assert model.labels_.shape == (2,)
    assert model.lower_bound_ < np.log(0.5)  # the evidence of one judgement


def test_everybody_contradicts_everybody():
    frame = simulate_pairs(CLASSES[:20], 2, 60, [0.9, 0.1], random_state=0).to_frame()
    both = pd.concat([frame, frame.assign(same=~frame["same"], grouping="again").assign(annotator="other")])
    model = model_of().fit(both.drop(columns="grouping").drop_duplicates(["item_a", "item_b", "annotator"]))
    assert np.isfinite(model.responsibilities_).all()


def test_one_cluster_if_all_items_are_the_same():
    items = [f"i{n}" for n in range(12)]
    model = model_of().fit(Groupings.from_lists([[items], [items]]))
    assert model.n_clusters_ == 1
    assert model.annotators_["specificity"].isna().all() or (model.annotators_["accuracy"] > 0.99).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_clusters": 0}, "'max_clusters' parameter of Crowdclustering must be an int from 1 to"),
        ({"n_components": 11}, "'n_components' parameter of Crowdclustering must be an int from 1 to 10"),
        ({"two_stage": "yes"}, "'two_stage' parameter"),
        ({"item_variance": 0}, "'item_variance' parameter"),
        ({"cluster_variance": 5.0}, "'cluster_variance' parameter of Crowdclustering must be less than item_variance"),
        ({"stick_concentration": -1}, "'stick_concentration' parameter"),
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
    with pytest.raises(InputError, match="Item 60 was not fitted"):
        model.predict_same(0, 60)
