"""Base of estimators of classes from labels: input, table of annotators, names of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from consilience import Groupings, Labels, Pairs
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture
from consilience.errors import AnnotationError, AnnotationWarning, InputError
from consilience.estimators import labels as aggregator
from consilience.estimators.annotator_tables import annotator_quality, information
from consilience.inference.product_distributions import vote_shares

FRAME = pd.DataFrame(
    {
        "item": ["p", "p", "q", "q", "r"],
        "annotator": ["Ann", "Bo", "Ann", "Bo", "Bo"],
        "label": ["cat", "cat", "dog", "cat", "dog"],
    }
)
WIDE = pd.DataFrame({"Ann": ["cat", "dog", None], "Bo": ["cat", "cat", "dog"]}, index=["p", "q", "r"])
SHARES = [[1, 0], [0.5, 0.5], [0, 1]]


@pytest.mark.parametrize(
    "annotations",
    [
        Labels.from_frame(FRAME),
        FRAME,
        FRAME[["label", "item", "annotator"]],
        FRAME.rename(columns={"item": "task", "annotator": "worker"}),
        pl.from_pandas(FRAME),
        WIDE,
    ],
    ids=["Labels", "long", "columns in another order", "crowd-kit", "polars", "wide"],
)
def test_tables_with_names(annotations):
    vote = MajorityVote().fit(annotations)
    assert vote.items_.tolist() == ["p", "q", "r"]
    assert vote.annotators_.index.tolist() == ["Ann", "Bo"]
    assert vote.classes_.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(vote.responsibilities_, SHARES)


@pytest.mark.parametrize(
    "matrix",
    [
        WIDE.to_numpy(),
        WIDE.to_numpy().tolist(),
        [["cat", "cat"], ["dog", "cat"], [np.nan, "dog"]],
        pl.from_pandas(WIDE),
        np.array([["cat", "cat"], ["dog", "cat"], ["", "dog"]]),
    ],
    ids=["array", "list", "NaN", "polars", "text"],
)
def test_matrices(matrix):
    vote = MajorityVote().fit(matrix)
    assert vote.items_.tolist() == [0, 1, 2]
    assert vote.n_features_in_ == 2
    assert vote.classes_.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(vote.responsibilities_, SHARES)


def test_numbers_are_names():
    vote = MajorityVote().fit(np.array([[3.0, 3.0], [7.0, np.nan]]))
    assert vote.labels_.tolist() == [3, 7]
    assert vote.predict([[3, 3]]).tolist() == [3]


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        (None, "MajorityVote needs annotations: Labels, a long table of labels or a label matrix. Got None."),
        (
            Groupings.from_matrix([["a"], ["b"]]),
            "MajorityVote reads Labels, whose names mean the same to all annotators. Got Groupings instead",
        ),
        (Pairs.from_frame(pd.DataFrame({"item_a": [0], "item_b": [1], "annotator": ["u"], "same": [1]})), "Got Pairs"),
        (csr_array(np.eye(2)), "MajorityVote reads label matrices that are not sparse. Got a sparse one; give Labels."),
        (np.eye(2) * 1j, "Complex data not supported"),
        (["a", "b"], r"MajorityVote expected a label matrix .* Got shape \(2,\)"),
        ("ab", r"expected a label matrix .* Got shape \(\)"),
        (np.zeros((2, 2, 2)), r"expected a label matrix .* Got shape \(2, 2, 2\)"),
        ([["a"], ["a", "b"]], "MajorityVote expected a label matrix with rows of one length. Got rows that differ."),
        (np.zeros((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required"),
        (np.zeros((2, 0)), r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required"),
        ([[None, None]] * 3, "MajorityVote needs labels, and none of the 3 items has any."),
        ([[1.0, np.inf]], r"The label of item 0 by annotator 1 is inf \(infinity\), which names no class."),
        (pd.DataFrame({"u": [0.0, 1.0], "v": [1.0, -np.inf]}), "The label of item 1 by annotator 1 is inf"),
    ],
)
def test_invalid_tables_raise(annotations, message):
    with pytest.raises(InputError, match=message):
        MajorityVote().fit(annotations)


def test_errors_in_a_long_table_are_those_of_labels():
    with pytest.warns(AnnotationWarning, match=r"^1 row without a label left out\."):
        vote = MajorityVote().fit(FRAME.assign(label=[*FRAME["label"][:1], "", *FRAME["label"][2:]]))
    assert vote.annotators_["n_labels"].sum() == len(FRAME) - 1
    with pytest.raises(AnnotationError, match="annotator in row 1 is missing or blank"):
        MajorityVote().fit(FRAME.assign(annotator=[*FRAME["annotator"][:1], "", *FRAME["annotator"][2:]]))


def test_a_long_table_may_hold_several_labels_of_an_item_by_one_annotator():
    said = FRAME.replace("q", "p")
    with pytest.warns(AnnotationWarning, match=r"^1 exact duplicate of a label is left out: the annotator 'Bo'"):
        vote = MajorityVote().fit(said)
    assert vote.annotators_["n_labels"].sum() == len(said) - 1


def test_too_many_different_labels_raise(monkeypatch):
    monkeypatch.setattr(aggregator, "MAX_TABLE_ENTRIES", 8)
    said = [["a", "b"], ["b", "a"]]
    MajorityVote().fit(said)  # 2 × 2 × 2
    with pytest.raises(InputError, match=r"2 × 3 × 3, more than 8\. Are the labels names of classes\?"):
        MajorityVote().fit([*said, ["c", "a"]])


def test_queries_before_fit_raise():
    for call in (lambda m: m.predict(FRAME), lambda m: m.predict_proba(FRAME), lambda m: m.predict_same("p", "q")):
        with pytest.raises(NotFittedError):
            call(MajorityVote())


def test_a_matrix_to_predict_has_the_columns_of_the_matrix_fitted():
    model = MajorityVote().fit([["a", "b"], ["b", "b"]])
    with pytest.raises(ValueError, match="X has 1 features, but MajorityVote is expecting 2"):
        model.predict([["a"]])
    assert model.predict(Labels.from_matrix([["a"]], annotators=[1])).tolist() == ["a"]


def test_a_new_fit_forgets_the_columns_of_the_previous_one():
    model = MajorityVote().fit(WIDE)
    model.fit(Labels.from_matrix([["a", "b", "b"]]))
    assert not {"n_features_in_", "feature_names_in_"} & set(vars(model))
    assert model.predict([["a", "a", "b"]]).tolist() == ["a"]


def test_vote_shares():
    votes = vote_shares(Labels.from_matrix([["b", "a", "b", "b"], [None, "a", None, None], [None] * 4]))
    np.testing.assert_array_equal(votes, [[0.25, 0.75], [1, 0], [0.5, 0.5]])


# annotators


def test_information_in_bits():
    perfect = np.eye(4)
    always_the_same = np.tile([0.0, 1.0, 0.0, 0.0], (4, 1))
    guess = np.full((4, 4), 0.25)
    names_swapped = np.roll(perfect, 1, axis=1)  # as informative as the truth
    one_bit = np.repeat(np.eye(2), 2, axis=0) @ np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    confusion = np.stack([perfect, always_the_same, guess, names_swapped, one_bit])
    np.testing.assert_allclose(information(np.full(4, 0.25), confusion), [2, 0, 0, 2, 1], atol=1e-12)
    # of classes that are there with probabilities 1/2, 1/4, 1/4, 0 the truth has 1.5 bits, and the pairs .811
    shares = np.array([0.5, 0.25, 0.25, 0])
    pair = -0.75 * np.log2(0.75) - 0.25 * np.log2(0.25)
    np.testing.assert_allclose(information(shares, confusion), [1.5, 0, 0, 1.5, pair], atol=1e-12)


def test_information_is_that_of_the_joint_table():
    rng = np.random.default_rng(0)
    share, matrix = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4), size=3)
    joint = share[:, None] * matrix
    explicit = sum(
        joint[k, label] * np.log2(joint[k, label] / (share[k] * joint[:, label].sum()))
        for k in range(3)
        for label in range(4)
    )
    np.testing.assert_allclose(information(share, matrix[None]), [explicit])


def test_agreement_and_accuracy_by_hand():
    labels = Labels.from_frame(FRAME)
    q = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    confusion = np.array([[[0.8, 0.2], [0.3, 0.7]], [[1.0, 0.0], [0.5, 0.5]], [[0.6, 0.4], [0.4, 0.6]]])
    names = pd.Index(["Ann", "Bo", "Cy"])  # Cy is from a history
    table = annotator_quality(labels, q, confusion, names, named=True)
    assert table.index.equals(names)
    assert table.index.name == "annotator"
    assert table["n_labels"].tolist() == [2, 3, 0]
    # Ann said cat of p, dog of q; Bo cat, cat, dog
    np.testing.assert_allclose(table["agreement"], [(0.9 + 0.6) / 2, (0.9 + 0.4 + 0.8) / 3, np.nan])
    np.testing.assert_allclose(table["accuracy"], [0.5 * 0.8 + 0.5 * 0.7, 0.5 + 0.25, 0.6])
    np.testing.assert_allclose(table["information"], information(np.array([0.5, 0.5]), confusion))
    unnamed = annotator_quality(labels, q, confusion, names, named=False)
    assert unnamed[["agreement", "accuracy"]].isna().all(axis=None)
    pd.testing.assert_series_equal(unnamed["information"], table["information"])


# pairs of items


def test_probability_of_the_same_class():
    vote = MajorityVote().fit(FRAME)  # shares [1, 0], [.5, .5], [0, 1]
    assert vote.predict_same("p", "q") == 0.5
    assert vote.predict_same("p", "r") == 0
    assert isinstance(vote.predict_same("p", "q"), float)
    for as_list in (list, np.array, pd.Index, pd.Series):
        np.testing.assert_array_equal(vote.predict_same(as_list(["p", "q"]), ["q", "q"]), [0.5, 0.5])
    assert vote.predict_same([], []).shape == (0,)


def test_probability_that_an_annotator_gives_the_same_label():
    vote = MajorityVote().fit(FRAME)
    cat, dog = vote.confusion_matrices_.loc["Bo"].to_numpy()
    either = (cat + dog) / 2
    assert vote.predict_same("p", "r", annotator="Bo") == pytest.approx(cat @ dog)
    np.testing.assert_allclose(vote.predict_same(["p", "q"], ["p", "r"], annotator="Bo"), [cat @ cat, either @ dog])


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("p", "z"), "Item 'z' was not fitted."),
        ((["p", "q"], ["q", 7]), "Item 7 was not fitted."),
        (("p", "q", "Cy"), "Annotator 'Cy' was not fitted."),
        (("p", ["q", "r"]), "item_a and item_b must be two names of items, or two lists of names of one length."),
        ((["p"], ["q", "r"]), "item_a and item_b must be two names of items, or two lists of names of one length."),
    ],
)
def test_invalid_pairs_raise(pair, message):
    with pytest.raises(InputError) as error:
        MajorityVote().fit(FRAME).predict_same(*pair)
    assert str(error.value) == message


def test_numbers_of_items_are_shown_as_numbers():
    with pytest.raises(InputError, match=r"^Item 7 was not fitted\.$"):
        MajorityVote().fit([["a"], ["b"]]).predict_same(0, 7)


# names

ODD = ["å", "漢字", "a,b", 'q"', "<b>", "line\nbreak", "1", "nan", "None", "-1"]
NAMES = {
    "text": ODD,
    "whole numbers": list(range(5, -5, -1)),
    "fractions": [x / 4 for x in range(10)],
    "truth values and text": [True, False, *ODD[:8]],
    "mixed": [1, "1", 2.5, "two", ("a", 1), -1, "z", "x", frozenset({1}), "y"],
}


@pytest.mark.parametrize("estimator", [MajorityVote(), DawidSkene(prior=None), ProductMixture()])
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_every_kind(estimator, kind):
    """Items, annotators and classes of these names are treated as those of numbers are."""
    names = pd.Series(NAMES[kind], dtype=object)
    rng = np.random.default_rng(0)
    said = np.where(rng.random((10, 4)) < 0.8, np.arange(10)[:, None] % 3, rng.integers(3, size=(10, 4)))
    item, annotator = np.indices(said.shape).reshape(2, -1)
    codes = pd.DataFrame({"item": item, "annotator": annotator, "label": said.ravel()})
    plain = clone(estimator).fit(Labels.from_frame(codes, classes=range(3)))
    named = codes.apply(lambda column: column.map(names))
    labels = Labels.from_frame(named, classes=list(names[:3]))
    model = clone(estimator).fit(labels)
    np.testing.assert_allclose(model.responsibilities_, plain.responsibilities_, atol=1e-12)
    assert list(model.items_) == list(names)
    assert list(model.classes_) == list(names[:3])
    assert list(model.labels_) == [names[k] for k in plain.labels_]
    assert list(model.annotators_.index) == list(names[:4])
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    one, other, who = names[0], names[1], names[2]
    assert model.predict_same(one, other) == pytest.approx(plain.predict_same(0, 1))
    assert model.predict_same(one, other, annotator=who) == pytest.approx(plain.predict_same(0, 1, annotator=2))
    np.testing.assert_allclose(
        model.predict_same([one, other], [other, who]), plain.predict_same([0, 1], [1, 2]), atol=1e-12
    )
    assert list(model._cluster_names()) == list(names[:3])
    np.testing.assert_array_equal(model._cluster_codes(), plain._cluster_codes())
