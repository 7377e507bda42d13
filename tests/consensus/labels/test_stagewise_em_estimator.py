"""StagewiseEM: recovery of experts, results in the users' names, and the trace."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from consilience import Labels
from consilience.consensus import StagewiseEM
from consilience.datasets import load_crowd_labels
from consilience.errors import AnnotationWarning, InputError, MissingDataError
from consilience.inference.product_distributions import OneHotLabels, posterior
from consilience.simulation import simulate_labels, sparse_crowd

NAMES = np.array(["ash", "beech", "cherry"])
CIRCLES = "ignore:StagewiseEM. The state had not settled"  # the rounds of the stages may go in circles


def crowd(alpha, seed, *, accuracy=0.6, n_annotators=100, n_items=1000):
    """Labels of an α-sparse crowd, the items' classes, and its confusion matrices; section 4 of the paper."""
    matrices = sparse_crowd(n_annotators, 3, alpha=alpha, accuracy=accuracy, random_state=seed)
    classes = NAMES[np.random.default_rng(seed).integers(3, size=n_items)]
    return simulate_labels(classes, confusion=matrices, random_state=seed), classes, matrices


def error_of_truth(labels, classes, matrices):
    """Error of the posterior under the confusion matrices that made the labels."""
    table = np.log(np.maximum(matrices, 1e-12)).transpose(0, 2, 1).reshape(-1, 3)
    column = labels.annotator * 3 + labels.label
    onehot = OneHotLabels.of(labels.item, column, (len(labels), len(table)), 3)
    return (NAMES[posterior(onehot, np.zeros(3), table).argmax(1)] != classes).mean()


@pytest.mark.parametrize(("alpha", "n_experts"), [(0.05, 5), (0.15, 15)])
@pytest.mark.slow
def test_as_good_as_the_true_model_and_finds_its_experts(alpha, n_experts):
    errors, best, found = [], [], 0
    for seed in range(2):
        labels, classes, matrices = crowd(alpha, seed)
        model = StagewiseEM().fit(labels)
        errors.append((model.labels_ != classes).mean())
        best.append(error_of_truth(labels, classes, matrices))
        found += set(model.informative_set_) == set(labels.annotators[:n_experts])
    assert np.mean(errors) < np.mean(best) + 0.015  # two draws; the slow test below takes twenty
    assert found >= 1


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.10, 0.15, 0.20])
def test_within_half_a_percent_of_the_true_model(alpha):
    """The claim of the documentation: mean error over 20 draws, and the set of true experts in 18 of them."""
    errors, best, found = [], [], 0
    for seed in range(20):
        labels, classes, matrices = crowd(alpha, seed)
        model = StagewiseEM().fit(labels)
        errors.append((model.labels_ != classes).mean())
        best.append(error_of_truth(labels, classes, matrices))
        found += set(model.informative_set_) == set(labels.annotators[: round(100 * alpha)])
    assert np.mean(errors) <= np.mean(best) + 0.005
    assert found >= 18


def test_order_of_entry_begins_with_the_best():
    """Fig. 4 of the paper: 30 experts from 0.7 to 0.45; the first to enter are among the best."""
    labels, *_ = crowd(0.3, 0, accuracy=np.linspace(0.7, 0.45, 30))
    model = StagewiseEM(refine=None).fit(labels)
    first = labels.annotators.get_indexer(model.informative_set_[:4])
    assert first.max() < 12


@pytest.mark.filterwarnings(CIRCLES)
def test_trace_records_the_rounds():
    labels, *_ = crowd(0.3, 1, accuracy=np.linspace(0.7, 0.45, 30))
    model = StagewiseEM(refine=None).fit(labels)
    trace = model.trace_
    assert list(trace.index) == list(range(model.n_iter_ + 1))
    assert trace["n_components"].iloc[[0, -1]].tolist() == [1, 3]
    assert [name for names in trace["entered"] for name in names] == model.informative_set_
    np.testing.assert_array_equal(trace["n_informative"], trace["entered"].map(len).cumsum())
    assert trace["log_likelihood"].iloc[-1] > trace["log_likelihood"].iloc[0]
    assert trace["information"].iloc[-1] < 0.5 * trace["information"].iloc[0]
    # a run that is cut short is the beginning of the whole
    with pytest.warns(ConvergenceWarning, match=r"had not settled after max_iter=3 sweeps\. Raise max_iter"):
        short = StagewiseEM(refine=None, max_iter=3).fit(labels)
    pd.testing.assert_frame_equal(short.trace_, trace.iloc[:4])
    assert not short.converged_


def test_conditional_information_falls_to_the_noise():
    labels, *_ = crowd(0.3, 2, accuracy=0.75)
    model = StagewiseEM().fit(labels)
    information = model.conditional_information()
    assert list(information.index) == list(labels.annotators)
    values = information.to_numpy()
    np.testing.assert_array_equal(values, values.T)
    assert np.isnan(np.diag(values)).all()
    one = StagewiseEM(n_clusters=1, refine=None).fit(labels).conditional_information().to_numpy()
    assert np.nanmax(values) < 0.2 * np.nanmax(one)


def test_starts_are_compared_by_the_criterion():
    labels, *_ = crowd(0.15, 3)
    model = StagewiseEM().fit(labels)
    assert list(model.starts_.index) == ["stagewise", "votes"]
    best = model.starts_["criterion"].idxmax()
    assert model.starts_.loc[best, "n_informative"] == len(model.informative_set_)
    assert (model.starts_["criterion"] < model.starts_["log_likelihood"]).all()


def test_annotators_are_described():
    labels, *_ = crowd(0.1, 4)
    model = StagewiseEM().fit(labels)
    table = model.annotators_
    assert list(table.columns) == ["n_labels", "agreement", "accuracy", "information", "informative", "p_value"]
    assert set(table.index[table["informative"]]) == set(model.informative_set_)
    assert (table.loc[model.informative_set_, "p_value"] < 0.01).all()
    experts = table.iloc[:10]
    np.testing.assert_allclose(experts["accuracy"], 0.6, atol=0.12)
    assert experts["information"].min() > table["information"].iloc[10:].max()


def test_only_the_informative_set_decides_new_items():
    labels, *_ = crowd(0.1, 5)
    model = StagewiseEM().fit(labels)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-9)
    deaf = labels.restrict(annotators=[name for name in labels.annotators if name not in model.informative_set_])
    np.testing.assert_allclose(model.predict_proba(deaf), np.tile(model.weights_, (len(deaf), 1)), atol=1e-9)


@pytest.mark.filterwarnings(CIRCLES)
@pytest.mark.parametrize("refine", ["informative", "all", None])
def test_predicting_the_training_items_is_fitting(refine):
    labels, *_ = crowd(0.2, 6, n_items=400, n_annotators=40)
    model = StagewiseEM(refine=refine).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-9)


@pytest.mark.slow
def test_runs_weighted_and_unweighted():
    labels, classes, _ = crowd(0.2, 7)
    for weighted in (True, False):
        assert (StagewiseEM(weighted=weighted).fit(labels).labels_ != classes).mean() < 0.06


def test_more_components_than_labels_are_numbered_by_size():
    """Four kinds of items, identified by two binary questions: labels do not name the kinds."""
    rng = np.random.default_rng(0)
    group = rng.choice(4, 2000, p=[0.4, 0.3, 0.2, 0.1])
    answer = np.column_stack([group // 2] * 4 + [group % 2] * 4)
    said = np.where(rng.random(answer.shape) < 0.1, 1 - answer, answer)
    model = StagewiseEM(n_clusters=4).fit(said)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (np.diff(np.bincount(model.labels_)) < 0).all()
    assert (model.labels_ == group).mean() > 0.9
    assert model.annotators_["accuracy"].isna().all()
    assert list(model.starts_.index) == ["stagewise"]


def test_fewer_components_than_requested_are_reported():
    said = np.random.default_rng(1).integers(2, size=(300, 6))
    with pytest.warns(AnnotationWarning, match="distinguish 1 of 2 components; there are fewer"):
        model = StagewiseEM(refine=None, entry_level=1e-9).fit(said)
    assert model.n_components_ == 1
    assert model.informative_set_ == []


def test_fewer_numbered_components_than_requested_are_reported():
    rng = np.random.default_rng(0)
    answer = np.column_stack([rng.integers(2, size=500)] * 4)
    said = np.where(rng.random(answer.shape) < 0.1, 1 - answer, answer)
    with pytest.warns(AnnotationWarning, match="of 5 components; there are fewer"):
        model = StagewiseEM(n_clusters=5).fit(said)
    assert 2 <= model.n_components_ < 5
    assert model.responsibilities_.shape == (500, model.n_components_)
    assert model.classes_.tolist() == list(range(model.n_components_))


def test_too_few_common_items_fall_back_to_the_votes():
    """Every item has three labels of 300 annotators: no pair has enough items in common for a table."""
    classes = np.arange(2000) % 2
    labels = simulate_labels(classes, n_annotators=300, accuracy=0.8, annotators_per_item=3, random_state=0)
    model = StagewiseEM().fit(labels)
    assert list(model.starts_.index) == ["votes"]
    assert (model.labels_ == classes).mean() > 0.85


@pytest.mark.filterwarnings("ignore:StagewiseEM fell back")  # most annotators are informed
@pytest.mark.parametrize(("name", "most"), [("bluebird", 0.1019), ("dog", 0.1673), ("rte", 0.073)])
def test_real_crowds(name, most):
    """As good as the paper's StageEM-refine where it has a figure (10.19 and 16.73 %)."""
    try:
        data = load_crowd_labels(name)
    except MissingDataError as error:
        pytest.skip(str(error))
    model = StagewiseEM().fit(data.annotations)
    assert (model.labels_ != data.target_names[data.target]).mean() <= most


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ("n_clusters", 0, "'auto' or a positive int"),
        ("refine", "some", "'informative', 'all' or None"),
        ("weighted", 1, "True or False"),
        ("level", 1.5, r"a number in \(0, 1\)"),
        ("entry_level", 0, r"a number in \(0, 1\)"),
        ("max_iter", 2.5, "a positive int"),
    ],
)
def test_invalid_parameters_are_named(parameter, value, expected):
    with pytest.raises(
        InputError, match=f"The '{parameter}' parameter of StagewiseEM must be {expected}. Got {value!r}"
    ):
        StagewiseEM(**{parameter: value}).fit([["a", "b"], ["b", "b"]])


@pytest.mark.parametrize(
    "said",
    [
        [["a", "a", "b"], ["b", "b", "b"]],  # two items
        [["a"], ["b"], ["a"]],  # one annotator
        [["a", "a"], ["a", "a"]],  # one class only
        [["a", None, None], [None, "b", None], [None, None, "a"]],  # nobody shares an item
        [["a", "b", None], ["b", "b", None], ["a", "a", None]],  # an annotator without labels
    ],
)
def test_minimal_inputs_are_accepted(said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        model = StagewiseEM().fit(said)
    assert len(model.labels_) == len(said)
    assert np.isfinite(model.responsibilities_).all()
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)


@pytest.mark.slow
def test_order_of_items_and_annotators_changes_nothing():
    labels, *_ = crowd(0.1, 8, n_items=600)
    model = StagewiseEM().fit(labels)
    rng = np.random.default_rng(0)
    items, annotators = rng.permutation(600), list(labels.annotators[rng.permutation(100)])
    other = StagewiseEM().fit(Labels.from_frame(labels[items].restrict(annotators=annotators).to_frame()))
    assert set(other.informative_set_) == set(model.informative_set_)
    np.testing.assert_allclose(
        other.responsibilities_, model.responsibilities_[model.items_.get_indexer(other.items_)], atol=1e-4
    )


def test_a_crowd_without_experts_is_reported():
    said = np.random.default_rng(2).integers(2, size=(300, 3))
    with pytest.warns(AnnotationWarning, match="no annotator's labels depend on those of the others"):
        StagewiseEM().fit(said)
