"""Majority vote by hand."""

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.consensus import MajorityVote
from consilience.consensus.labels.majority_vote_estimator import SMOOTHING
from consilience.errors import AnnotationWarning, UnannotatedWarning

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")  # of item 3

#         Ann    Bo     Cy
SAID = [
    ["cat", "cat", "dog"],  # cat
    ["dog", None, "dog"],  # dog
    ["cat", "dog", None],  # tie
    [None, None, None],  # nothing
    ["dog", "ant", "ant"],  # ant
]
SHARES = np.array([[0, 2 / 3, 1 / 3], [0, 0, 1], [0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3], [2 / 3, 0, 1 / 3]])


@pytest.fixture
def vote():
    return MajorityVote().fit(Labels.from_matrix(SAID, annotators=["Ann", "Bo", "Cy"]))


def test_shares_of_the_votes(vote):
    assert vote.classes_.tolist() == ["ant", "cat", "dog"]
    np.testing.assert_allclose(vote.responsibilities_, SHARES)


def test_the_first_of_tied_classes_is_told(vote):
    assert vote.labels_.tolist() == ["cat", "dog", "cat", None, "ant"]
    assert vote.n_ties_ == 1  # the item without labels is none
    assert vote.undecided_.tolist() == [False, False, True, False, False]
    given = MajorityVote().fit(Labels.from_matrix(SAID, classes=["dog", "cat", "ant"]))
    assert given.labels_.tolist() == ["cat", "dog", "dog", None, "ant"]


def test_a_tie_is_shared():
    """Two people differ on 15 of 100 items: neither is more often right, whatever the names of the classes."""
    said = np.array([["b", "b"]] * 85 + [["a", "b"]] * 15)
    for names in ({"a": "a", "b": "b"}, {"a": "z", "b": "b"}):
        vote = MajorityVote(copies=None).fit(pd.DataFrame(said).replace(names))
        assert vote.n_ties_ == vote.undecided_.sum() == 15
        # 92.5 items are b: the first said b of 85 of them and a of the 7.5 others, the second b of all
        np.testing.assert_allclose(vote.annotators_[["agreement", "accuracy"]], 0.925, atol=1e-3)


def test_ties_are_counted_exactly_whatever_the_number_of_votes():
    """Thirds, sevenths and the like have no exact float, but equal votes have equal shares."""
    for n in range(1, 12):
        assert MajorityVote().fit([["a"] * n + ["b"] * n + ["c"]]).n_ties_ == (n >= 1)
        assert MajorityVote().fit([["a"] * (n + 1) + ["b"] * n + ["c"]]).n_ties_ == 0


def test_a_single_class_is_never_a_tie():
    vote = MajorityVote().fit([["a", "a"], [None, None]])
    assert (vote.labels_.tolist(), vote.n_ties_) == (["a", None], 0)


def test_confusion_matrices_are_shares_by_vote(vote):
    """Ann said cat of the items 0 (cat by vote) and 2 (cat or dog), dog of 1 (dog) and dog of 4 (ant)."""
    ann = vote.confusion_matrices_.loc["Ann"].loc[["ant", "cat", "dog"], ["ant", "cat", "dog"]].to_numpy()
    counts = np.array([[0, 0, 1], [0, 1.5, 0], [0, 0.5, 1]]) + SMOOTHING
    np.testing.assert_allclose(ann, counts / counts.sum(1, keepdims=True))
    # Cy labelled nothing that may be a cat by vote but item 0
    counts = np.array([0, 0, 1]) + SMOOTHING
    np.testing.assert_allclose(vote.confusion_matrices_.loc[("Cy", "cat")], counts / counts.sum())


def test_annotators(vote):
    table = vote.annotators_
    assert table["n_labels"].to_dict() == {"Ann": 4, "Bo": 3, "Cy": 3}
    # mean share of the votes for each label given: Ann's are cat 2/3, dog 1, cat 1/2, dog 1/3
    np.testing.assert_allclose(table["agreement"], [2.5 / 4, (2 / 3 + 1 / 2 + 2 / 3) / 3, (1 / 3 + 1 + 2 / 3) / 3])
    diagonal = vote.confusion_matrices_.loc["Ann"].to_numpy().diagonal()
    assert table.loc["Ann", "accuracy"] == pytest.approx(diagonal @ SHARES.mean(0))


def test_new_items_by_labels_that_were_fitted(vote):
    new = pd.DataFrame({"item": ["p", "p", "q"], "annotator": ["Cy", "Ann", "Bo"], "label": ["dog", "dog", "ant"]})
    np.testing.assert_allclose(vote.predict_proba(new), [[0, 0, 1], [1, 0, 0]])
    assert vote.predict(new).tolist() == ["dog", "ant"]
    silent = Labels.from_frame(new, items=["p", "q", "r"])
    np.testing.assert_allclose(vote.predict_proba(silent)[2], 1 / 3)
    with pytest.warns(UnannotatedWarning, match="^1 item has no annotations and no class .*: 'r'\\.$"):
        assert vote.predict(silent).tolist() == ["dog", "ant", None]
    with pytest.warns(AnnotationWarning, match="1 annotator was not fitted and is taken to be like the crowd: 'Di'"):
        assert vote.predict(new.replace("Cy", "Di")).tolist() == ["dog", "ant"]


def test_predict_on_the_labels_fitted_gives_labels_(vote):
    labels = Labels.from_matrix(SAID, annotators=["Ann", "Bo", "Cy"])
    np.testing.assert_array_equal(vote.predict(labels), vote.labels_)
    np.testing.assert_array_equal(vote.predict_proba(labels), vote.responsibilities_)
    np.testing.assert_array_equal(MajorityVote().fit_predict(labels), vote.labels_)


def test_a_class_that_nobody_gave_has_no_votes():
    vote = MajorityVote().fit(Labels.from_matrix(SAID, classes=["ant", "bee", "cat", "dog"]))
    np.testing.assert_array_equal(vote.responsibilities_[[0, 1, 2, 4], 1], 0)
    np.testing.assert_allclose(vote.responsibilities_[3], 1 / 4)


def test_a_second_label_by_the_same_annotator_is_another_vote():
    frame = pd.DataFrame(
        {"item": [1, 1, 1, 2], "annotator": ["Ann", "Ann", "Bo", "Bo"], "label": ["cat", "dog", "dog", "cat"]}
    )
    vote = MajorityVote().fit(frame)
    np.testing.assert_allclose(vote.responsibilities_, [[1 / 3, 2 / 3], [1, 0]])
    assert vote.annotators_["n_labels"].to_dict() == {"Ann": 2, "Bo": 2}
    assert vote.annotators_["agreement"].to_dict() == pytest.approx({"Ann": 1 / 2, "Bo": (2 / 3 + 1) / 2})
    np.testing.assert_allclose(vote.predict_proba(frame), vote.responsibilities_)
