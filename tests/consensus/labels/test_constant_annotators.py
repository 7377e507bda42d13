"""Annotators who give the same label to everything: found, told, and without influence."""

import warnings

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.consensus import DawidSkene, StagewiseEM
from consilience.consensus.labels.constant_annotators import constant_annotators
from consilience.errors import AnnotationWarning
from consilience.simulation import simulate_labels

TOLD = (
    "DawidSkene: 1 annotator gave the same label to everything, whatever others say of it, and has no influence on the "
    "classes: 'const'."
)


def crowd(seed, n_classes=3, each=3, n_items=300):
    true = np.random.default_rng(seed).integers(n_classes, size=n_items)
    return simulate_labels(true, n_annotators=20, accuracy=0.75, annotators_per_item=each, random_state=seed), true


def with_more(labels, items, annotator, label):
    rows = pd.DataFrame({"item": items, "annotator": annotator, "label": label})
    return Labels.from_frame(pd.concat([labels.to_frame(), rows]), items=labels.items, classes=labels.classes)


@pytest.mark.parametrize("confusion", ["full", "one-coin"])
@pytest.mark.parametrize("seed", range(3))
def test_a_constant_annotator_changes_no_class(confusion, seed):
    labels, true = crowd(seed)
    alone = DawidSkene(confusion).fit(labels)
    with pytest.warns(AnnotationWarning) as caught:
        model = DawidSkene(confusion).fit(with_more(labels, range(300), "const", 0))
    assert [str(each.message) for each in caught] == [TOLD]
    # as close as EM converges: the sums run in another order
    np.testing.assert_allclose(model.responsibilities_, alone.responsibilities_, atol=1e-4)
    row = model.annotators_.loc["const"]
    assert row["n_labels"] == 300
    assert row["information"] == pytest.approx(0, abs=1e-9)
    assert row["agreement"] == pytest.approx((true == 0).mean(), abs=0.06)
    assert np.isnan(row["accuracy_low"])
    np.testing.assert_allclose(model.confusion_matrices_.loc["const"], [[301 / 303, 1 / 303, 1 / 303]] * 3)
    assert model.confusion_counts_.loc["const"].to_numpy().sum() == pytest.approx(300)
    rest = model.annotators_.loc[alone.annotators_.index]
    pd.testing.assert_frame_equal(rest, alone.annotators_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(with_more(labels, range(300), "const", 0)), model.responsibilities_)


def test_an_expert_who_saw_one_class_only_is_heard():
    """The others' labels of these items say that they are of this class."""
    for seed in range(5):
        labels, true = crowd(seed)
        both = with_more(labels, np.flatnonzero(true == 1)[:60], "expert", 1)
        assert not constant_annotators(both).any()
        assert DawidSkene().fit(both).annotators_.loc["expert", "accuracy"] > 0.7


def test_few_labels_are_no_evidence():
    labels, _ = crowd(0)
    assert not constant_annotators(with_more(labels, range(8), "newcomer", 0)).any()


def test_a_crowd_in_which_all_are_constant_is_heard():
    assert not constant_annotators(Labels.from_matrix([["a", "b"], ["a", "b"], ["a", "b"]])).any()
    assert not constant_annotators(Labels.from_matrix([["a", "a"]] * 50)).any()


def test_an_annotator_whom_the_history_knows_is_heard():
    labels, _ = crowd(1)
    rows = pd.MultiIndex.from_product([["const"], [0, 1, 2]], names=["annotator", "class"])
    history = pd.DataFrame(np.eye(3) * 8 + 1, index=rows, columns=[0, 1, 2])
    model = DawidSkene().fit(with_more(labels, range(300), "const", 0), history=history)
    assert model.confusion_counts_.loc["const"].to_numpy().sum() == pytest.approx(333)
    only = history.copy()
    only[[1, 2]] = 0
    with pytest.warns(AnnotationWarning, match="and has no influence on the classes: 'const'"):
        model = DawidSkene().fit(with_more(labels, range(300), "const", 0), history=only)
    assert model.confusion_counts_.loc["const"].to_numpy().sum() == pytest.approx(300 + only.to_numpy().sum())


def test_an_item_with_labels_of_constant_annotators_only_has_the_proportions():
    labels, _ = crowd(2)
    more = Labels.from_frame(labels.to_frame(), items=[*labels.items, "extra"])
    with pytest.warns(AnnotationWarning, match="no influence"):
        model = DawidSkene(calibrate=False).fit(with_more(more, [*range(300), "extra"], "const", 2))
    np.testing.assert_allclose(model.responsibilities_[-1], model.class_proportions_, atol=0.02)
    assert model.labels_[-1] == model.class_proportions_.argmax()


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 200), marks=pytest.mark.slow)])
def test_predictions_are_the_responsibilities_of_the_labels_fitted(seeds):
    """Of items that only a constant annotator labelled, too, which others make less sure by a temperature."""
    for seed in seeds:
        labels, _ = crowd(seed, n_items=80)
        some = np.random.default_rng(seed).random(labels.n_rows) < 0.9
        kept = labels._rows(some & (labels.item >= 5))
        both = with_more(kept, range(80), "const", 0)
        model = DawidSkene().fit(both)
        assert np.isnan(model.annotators_.loc["const", "accuracy_low"])  # found to be constant
        np.testing.assert_allclose(model.predict_proba(both), model.responsibilities_, atol=1e-9)


@pytest.mark.slow
def test_stagewise_falls_back_without_constant_annotators():
    labels, _ = crowd(3, n_classes=4, each=2)
    with pytest.warns(AnnotationWarning, match="fell back"):
        model = StagewiseEM().fit(with_more(labels, range(300), "const", 0))
    assert "const" not in model.informative_set_
    with pytest.warns(AnnotationWarning, match="no influence"):
        same = DawidSkene().fit(with_more(labels, range(300), "const", 0))
    np.testing.assert_array_equal(model.labels_, same.labels_)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_claimed():
    """At most 1 % of crowds: of annotators of the crowd, and of experts whose labels are all the same."""
    alarms, found = 0, 0
    for seed in range(1, 400, 2):
        rng = np.random.default_rng(seed)
        n_classes = int(rng.choice([2, 3, 5]))
        true = rng.choice(n_classes, 200, p=rng.dirichlet(np.full(n_classes, 3.0)))
        accuracy = rng.uniform(0.6, 0.95, 20)
        codes, known = np.unique(true, return_inverse=True)
        labels = simulate_labels(known, n_annotators=20, accuracy=accuracy, annotators_per_item=3, random_state=rng)
        for place in range(5):
            items = np.flatnonzero(known == rng.integers(len(codes)))[: int(rng.choice([5, 20, 60]))]
            labels = with_more(labels, items, f"expert {place}", known[items])
        labels = with_more(labels, rng.permutation(200)[:100], "const", 0)
        who = labels.annotators[constant_annotators(labels)]
        alarms += len(who.drop("const", errors="ignore")) > 0
        found += "const" in who
    assert alarms <= 2  # of 200
    assert found > 100


def test_nothing_is_told_of_maximum_likelihood():
    labels, _ = crowd(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AnnotationWarning)
        DawidSkene(prior=None, tol=1e-4).fit(with_more(labels, range(300), "const", 0))
