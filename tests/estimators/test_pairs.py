"""Base of clusterings by features and judgements of pairs: reading, sampling, matching, numbering."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.estimators import pairs as module
from consilience.estimators.pairs import read_pairs
from consilience.semisupervised import ITMLClustering, MPCKMeans, SemiCrowd
from consilience.simulation import simulate_pairs

MODELS = [MPCKMeans(random_state=0), ITMLClustering(random_state=0), SemiCrowd(random_state=0)]
PAIR = pd.DataFrame({"item_a": ["a"], "item_b": ["d"], "annotator": ["x"], "same": [1]})


def rng(seed=0):
    return np.random.RandomState(seed)


each = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each
def test_judgements_are_matched_with_the_features_by_name(model):
    X = pd.DataFrame({"f": [0.0, 9.0, 8.0, 1.0]}, index=list("dcba"))
    for annotations in (Pairs.from_frame(PAIR), PAIR):
        model.fit(X, annotations)
        assert model.items_.equals(X.index)
        np.testing.assert_array_equal(model.labels_ == model.labels_[0], [True, False, False, True])
        assert model.annotators_.loc["x", ["n_pairs", "n_together"]].tolist() == [1, 1]  # a and d


@each
def test_items_named_by_tuples_are_matched(model):
    """Such as those of a frame with a MultiIndex."""
    X = pd.DataFrame({"f": [0.0, 1.0, 8.0, 9.0]}, index=pd.MultiIndex.from_product([["p", "q"], [1, 2]]))
    said = simulate_pairs([0, 0, 1, 1], 2, 4, 1.0, random_state=0, items=X.index)
    assert said.items.tolist() == [("p", 1), ("p", 2), ("q", 1), ("q", 2)]
    model.fit(X, said)
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], [True, True, False, False])
    assert model.predict_same(("p", 1), ("p", 2)) == 1


def test_groupings_labels_and_arrays_are_the_same_judgements():
    table = [["p", "q"], ["p", None], ["q", "q"]]
    X = np.array([[0.0], [1.0], [9.0]])
    arrays = (np.array(table, dtype=object), pd.DataFrame(table))
    for annotations in (Groupings.from_matrix(table), Labels.from_matrix(table), *arrays):
        model = MPCKMeans(random_state=0).fit(X, annotations)
        assert model.annotators_["n_pairs"].tolist() == [3, 1]
        assert model.n_contradicted_ == 1  # items 0 and 2, apart and together
    found, notes = read_pairs(Groupings.from_matrix(table), "M", None, rng())
    np.testing.assert_array_equal([found.item_a, found.item_b], [[0, 0, 0, 1], [1, 2, 2, 2]])
    np.testing.assert_array_equal(found.same, [True, False, True, False])
    assert notes == []


@pytest.mark.parametrize("kind", ["pairs", "groupings"])
def test_too_many_judgements_raise_or_are_sampled(kind, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 50)
    said = Groupings.from_matrix(np.random.default_rng(0).integers(3, size=(12, 2)))
    annotations = said.to_pairs() if kind == "pairs" else said
    with pytest.raises(InputError, match="hold 132 judgements of pairs, and M accepts at most 50"):
        read_pairs(annotations, "M", None, rng())
    drawn, notes = read_pairs(annotations, "M", 30, rng())
    assert drawn.n_rows == 30
    assert notes == ["Of 132 judgements of pairs, 30 were drawn at random."]
    whole = said.to_pairs()
    known = {*zip(whole.item_a.tolist(), whole.item_b.tolist(), whole.annotator.tolist(), whole.same.tolist())}
    assert {*zip(drawn.item_a.tolist(), drawn.item_b.tolist(), drawn.annotator.tolist(), drawn.same.tolist())} <= known


def test_pairs_drawn_from_groupings_are_uniform():
    said = Groupings.from_matrix(np.array([[0, 0], [0, 1], [1, None], [1, 1]], dtype=object))
    counts = np.zeros((4, 4))
    for seed in range(400):
        drawn, _ = read_pairs(said, "M", 3, rng(seed))
        np.add.at(counts, (drawn.item_a, drawn.item_b), 1)
    whole = np.zeros((4, 4))
    np.add.at(whole, (said.to_pairs().item_a, said.to_pairs().item_b), 400 / 3)  # 3 of 9 each
    np.testing.assert_allclose(counts, whole, atol=54)  # 4 standard errors of at most 13.4


def test_empty_clusters_are_dropped_and_the_largest_comes_first():
    model = MPCKMeans()
    kept = model._set_clusters(np.array([3, 3, 1, 3, 1, 0]))
    np.testing.assert_array_equal(kept, [3, 1, 0])
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 0, 1, 2])
    np.testing.assert_array_equal(model.responsibilities_, np.eye(3)[model.labels_])


@each
@pytest.mark.parametrize(
    ("annotations", "X", "message"),
    [
        (None, np.zeros((3, 1)), "requires y to be passed"),
        (simulate_pairs([0, 0, 1, 1], 1, 2, random_state=0), np.zeros((3, 1)), "X has 3 rows and the annotations 4"),
        (PAIR, pd.DataFrame({"f": [1, 2]}, index=["p", "q"]), "No item of the annotations"),
        (PAIR, pd.DataFrame({"f": [1, 2]}, index=["a", "a"]), "more than one row"),
        (PAIR, pd.DataFrame({"f": [1, 2]}, index=["a", "q"]), "has annotations but no row in X"),
        (PAIR, np.zeros((2, 1)), "the rows of X do not"),
        (simulate_pairs([0, 1], 1, 1, balanced=False, random_state=0), np.zeros((1, 1)), "X has 1 rows"),
    ],
)
def test_mismatched_features_raise(model, annotations, X, message):
    with pytest.raises(InputError, match=message):
        model.fit(X, annotations)


@each
def test_more_clusters_than_items_raise(model):
    said = simulate_pairs([0, 0, 1, 1], 1, 2, random_state=0)
    name = type(model).__name__
    with pytest.raises(InputError, match=f"'n_clusters' parameter of {name} must be at most the number of items, 4 "):
        type(model)(5).fit(np.zeros((4, 1)), said)
