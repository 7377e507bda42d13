"""The pages on data of people agree with the record of results; the crowds and figures are what the pages say."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from benchmarks.experiments import page
from benchmarks.people import PAGES, label_crowds
from benchmarks.people.__main__ import main
from benchmarks.people.label_crowds import (
    ACCURACY,
    LARGEST,
    N_AT_RANDOM,
    RATED,
    RECORDED,
    SIMULATED,
    Crowd,
    confusions,
    featured,
    rated,
    recorded,
    simulated,
    thinned,
    unlabelled,
)
from benchmarks.people.label_methods import (
    CROWDLAB,
    MODELS,
    OF_FEATURES,
    RATINGS,
    SMALLEST,
    WithFeatures,
    best_possible,
    calibration_error,
    figures,
    judged,
    of_crowdkit,
    right_of,
)
from benchmarks.people.labels import DRAWS, METHODS, ORDERED, PAGE
from consilience import Labels
from consilience.errors import MissingDataError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_page_and_record_agree(name):
    """After a change of a script or a template: `python -m benchmarks.people --write`."""
    assert list(page.problems(import_module(f"benchmarks.people.{name}").PAGE)) == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_gives_its_command(name):
    text = (ROOT / "docs" / "people" / f"{name}.rst").read_text("utf-8")
    assert text.startswith(
        f".. Made from {name}.rst.jinja and the record of results: python -m benchmarks.people {name}\n"
    )
    assert f"    python -m benchmarks.people {name}\n" in text


def test_unknown_pages_are_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.people", "label"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "There is no page label; there are labels, groupings, pairs." in capsys.readouterr().err


# ---- how methods are judged

SHARES = np.array([[0.5, 0.5, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 1.0], [0.3, 0.3, 0.4]])
TRUTH = np.array([0, 1, 1, -1])


def test_a_tie_is_shared_and_items_of_unknown_class_do_not_count():
    assert right_of(SHARES, TRUTH).tolist() == [0.5, 1.0, 0.0]


def test_accuracy_log_loss_and_calibration_by_hand():
    found = judged(SHARES, TRUTH)
    assert found["accuracy"] == pytest.approx(1.5 / 3)
    assert found["log_loss"] == pytest.approx(-np.log([0.5, 0.7, SMALLEST]).mean())
    # two classes share the first item; of the others each has a bin: .7 and right, 1 and wrong
    assert found["ties"] == pytest.approx(1 / 3)
    assert found["calibration"] == pytest.approx((0.3 + 1.0) / 2)
    assert np.isnan(judged(SHARES[:1], TRUTH[:1])["calibration"])
    assert judged(SHARES, TRUTH, are_probabilities=False) == {"accuracy": found["accuracy"]}


def test_errors_within_a_bin_cancel_and_those_of_bins_do_not():
    top = np.array([0.81, 0.89, 0.95, 0.65])
    assert calibration_error(top[:2], np.array([1.0, 0.7])) == pytest.approx(0.0)
    assert calibration_error(top[2:], np.array([0.9, 0.7])) == pytest.approx(0.05)
    assert calibration_error(np.array([1.0]), np.array([1.0])) == 0.0


def test_components_that_are_not_classes_are_no_answer():
    labels = Labels.from_matrix(np.tile([[0], [1], [2]], (4, 3)), classes=[0, 1, 2])
    crowd = Crowd(labels, np.tile([0, 1, 2], 4))
    model = MODELS["StagewiseEM"].__class__(n_clusters=2)
    found = figures("StagewiseEM", crowd, model, {})
    assert found["no_answer"] == "components are not classes"
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["log_loss"] == pytest.approx(np.log(3))
    assert found["lead"] == pytest.approx(1 / 3 - 1)


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.eval is deprecated")  # crowd-kit's own call
def test_scores_of_crowdkit_are_by_item_and_class():
    labels = Labels.from_matrix([["b", "b", "a"], ["c", "c", "c"], ["a", "a", "a"], ["b", "b", "b"]])
    shares = of_crowdkit("Wawa", labels)
    assert shares.argmax(axis=1).tolist() == [1, 2, 0, 1]
    np.testing.assert_allclose(shares.sum(axis=1), 1)


# ---- crowds


@pytest.mark.parametrize("name", ["bluebird, 2 labels an item", "dog, 3 labels an item"])
def test_few_labels_are_kept_of_each_item(name):
    try:
        whole = recorded(name.split(",")[0])
    except MissingDataError as error:
        pytest.skip(str(error))
    crowd = thinned(name, 1)
    each = int(name.split()[1])
    assert np.bincount(crowd.labels.item).tolist() == [each] * whole.labels.n_items
    np.testing.assert_array_equal(crowd.truth, whole.truth)
    given = set(whole.labels.to_frame().itertuples(index=False, name=None))
    kept = set(crowd.labels.to_frame().itertuples(index=False, name=None))
    assert kept < given
    assert kept != set(thinned(name, 3).labels.to_frame().itertuples(index=False, name=None))


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_crowds_are_of_the_kind_that_their_name_says(name):
    kind = SIMULATED[name]
    crowd = simulated(name, 2)
    sizes = np.bincount(crowd.truth)
    assert len(sizes) == kind.n_classes
    assert sizes.max() / sizes.sum() == pytest.approx(1 / kind.n_classes if kind.is_balanced else LARGEST, abs=0.01)
    assert sizes[1:].max() - sizes[1:].min() <= 1
    assert np.bincount(crowd.labels.item).tolist() == [kind.each] * len(crowd.truth)
    assert crowd.labels.n_annotators == 8 * N_AT_RANDOM


def test_simulated_annotators_know_the_classes_except_those_at_random():
    matrices = confusions(4, np.random.default_rng(0))
    np.testing.assert_allclose(matrices.sum(axis=2), 1)
    np.testing.assert_array_equal(matrices[:N_AT_RANDOM], 1 / 4)
    right = np.einsum("jkk->jk", matrices[N_AT_RANDOM:])
    np.testing.assert_allclose(right, right[:, [0, 0, 0, 0]])
    assert ACCURACY[0] <= right.min() < right.max() <= ACCURACY[1]


def test_the_best_possible_is_bayes_rule():
    confusion = np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]]])
    labels = Labels.from_matrix([[0, 1], [1, 1], [0, 0]], annotators=["u", "v"])
    found = best_possible(Crowd(labels, np.array([0, 1, 0]), confusion))
    joint = np.array(
        [[2 / 3 * 0.9 * 0.3, 1 / 3 * 0.4 * 0.8], [2 / 3 * 0.1 * 0.3, 1 / 3 * 0.6 * 0.8], [2 / 3 * 0.63, 1 / 3 * 0.08]]
    )
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kind", RATED)
def test_the_class_of_a_rated_item_is_its_level(kind):
    crowd = rated(kind, 2)
    assert crowd.labels.n_classes == 5
    assert set(crowd.truth) <= set(range(5))
    votes = MODELS["MajorityVote"].__class__().fit(crowd.labels).responsibilities_
    assert abs(votes @ np.arange(5) - crowd.truth).mean() < 1


def test_a_third_of_the_items_has_no_labels_and_alone_is_judged():
    whole, features = featured("weak", 2)
    crowd, same = unlabelled("weak", 2)
    n_labels = np.bincount(crowd.labels.item, minlength=len(whole.truth))
    is_hidden = n_labels == 0
    assert is_hidden.sum() == len(whole.truth) // 3
    np.testing.assert_array_equal(crowd.truth, np.where(is_hidden, whole.truth, -1))
    np.testing.assert_array_equal(n_labels[~is_hidden], np.bincount(whole.labels.item)[~is_hidden])
    np.testing.assert_array_equal(features, same)


@pytest.mark.filterwarnings("ignore:66 items have no annotations")
def test_a_model_beside_features_reads_them():
    crowd, features = unlabelled("separable", 2)
    model = OF_FEATURES["InductiveConsensus(MajorityVote)"]
    found = figures("InductiveConsensus(MajorityVote)", crowd, WithFeatures(model, features), {})
    assert found["accuracy"] > 0.6 > 0.4 > found["accuracy"] - found["lead"]


# ---- cells


def test_only_odd_draws_are_reported():
    assert all(draw % 2 for draw in DRAWS)
    assert {cell.draw for _, cell in PAGE.cells} == set(DRAWS)


def test_labels_of_which_only_the_counts_were_recorded(monkeypatch):
    counts = pd.DataFrame([[4, 1], [0, 5], [2, 2]], columns=["cat", "dog"])
    item, label = (np.repeat(place.ravel(), counts.to_numpy().ravel()) for place in np.indices(counts.shape))
    frame = pd.DataFrame({"item": item, "annotator": np.arange(len(item)), "label": counts.columns[label]})
    pictures = Bunch(annotations=Labels.from_frame(frame, items=[0, 1, 2], classes=["cat", "dog"]), counts=counts)
    monkeypatch.setattr(label_crowds, "load_cifar10h", lambda: pictures)
    for draw in range(5):
        crowd = label_crowds.counted("cifar10h, 2 labels an item", draw)
        assert np.bincount(crowd.labels.item).tolist() == [2, 2, 2]
        assert crowd.labels.n_annotators == 6  # nobody gave two labels
        said = np.histogram2d(crowd.labels.item, crowd.labels.label, [range(4), range(3)])[0]
        others = counts.to_numpy() - said
        expected = [row.argmax() if row[0] != row[1] else -1 for row in others]
        assert crowd.truth.tolist() == expected


def test_methods_that_are_left_out_are_the_slow_ones():
    run = {(cell.part, cell.data, cell.model) for _, cell in PAGE.cells}
    for part, data, _ in run:
        every = METHODS.get(part, (*MODELS, CROWDLAB))
        assert {name for where, what, name in run if (where, what) == (part, data)} >= set(every)
    missing = [data for data in RECORDED if ("recorded", data, "crowd-kit GLAD") not in run]
    assert missing == ["adult", "fact_eval"]
    assert {data for part, data, name in run if part == "recorded" and name == RATINGS} == {ORDERED}
