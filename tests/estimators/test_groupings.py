"""Input that estimators of clusters from groupings accept, and input that they refuse."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.estimators.groupings import GroupingConsensus

NAMES = [["a", "x"], ["a", None], ["b", "y"]]


class Kept(GroupingConsensus):
    """An estimator that keeps what it reads; each item is a cluster."""

    def _fuse(self, groupings):
        self.threads_ = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def _restore(self, arrangement):
        super()._restore(arrangement)
        self.groupings_, self.labels_ = arrangement.given, np.arange(len(arrangement.given))


def frame(**columns):
    return pd.DataFrame({"item": ["p", "q", "q"], "group": ["s", "s", "t"]} | columns)


def test_groupings_are_used_unchanged():
    given_groupings = Groupings.from_matrix(NAMES)
    model = Kept()
    assert model.fit(given_groupings) is model
    assert model.groupings_ is given_groupings
    assert model.fit_predict(given_groupings).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (NAMES, Groupings.from_matrix(NAMES)),
        (np.array(NAMES, dtype=object), Groupings.from_matrix(NAMES)),
        ([[1.0, 2.0], [np.nan, 2.0]], Groupings.from_matrix([[1.0, 2.0], [None, 2.0]])),
        (
            pd.DataFrame({"Ann": ["a", "b"], "Bo": ["a", None]}, index=["p", "q"]),
            Groupings.from_matrix([["a", "a"], ["b", None]], items=["p", "q"], annotators=["Ann", "Bo"]),
        ),
        (frame(annotator=["u", "u", "v"]), Groupings.from_frame(frame(annotator=["u", "u", "v"]))),
        (frame(grouping=[1, 1, 2]), Groupings.from_frame(frame(grouping=[1, 1, 2]))),
        (
            frame(annotator="u", grouping=[1, 1, 2]),
            Groupings.from_frame(frame(annotator="u", grouping=[1, 1, 2])),
        ),
        # a further column changes nothing: the names of the others say what they hold
        (frame(annotator=["u", "u", "v"], more=1), Groupings.from_frame(frame(annotator=["u", "u", "v"]))),
        (Labels.from_matrix(NAMES), Labels.from_matrix(NAMES).to_groupings()),
    ],
    ids=["lists", "array", "numbers", "wide", "annotators", "groupings", "both", "further column", "labels"],
)
def test_accepted_forms_of_groupings(given, expected):
    assert Kept().fit(given).groupings_ == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "^Kept requires y to be passed, but the target y is None"),
        (
            Pairs.from_frame(pd.DataFrame({"item_a": ["p"], "item_b": ["q"], "annotator": ["u"], "same": [True]})),
            "Pairs",
        ),
        (csr_array(np.eye(2)), r"^Kept reads matrices of group names that are not sparse\. Got a sparse one\.$"),
        ([[1, 2], [3]], "rows of one length"),
        ([1, 2], r"shape \(2,\)"),
        (np.empty((0, 2)), r"^0 sample\(s\)"),
        ([[1j]], "^Complex data not supported"),
        ([[None, None], [np.nan, None]], "^Kept needs groupings, and none of the 2 items is in any.$"),
        (
            Groupings.from_lists([[[], []]], items=["p", "q"]),
            "^Kept needs groupings, and none of the 2 items is in any.$",
        ),
    ],
    ids=["nothing", "pairs", "sparse", "ragged", "flat", "no rows", "complex", "no groups", "empty groups"],
)
def test_refused_forms_of_groupings(given, message):
    with pytest.raises(InputError, match=message):
        Kept().fit(given)


def test_columns_of_a_matrix_are_forgotten_by_the_next_fit():
    model = Kept().fit(pd.DataFrame({"Ann": [1, 2], "Bo": [1, 1]}))
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (2, ["Ann", "Bo"])
    model.fit([[1, 2, 3], [1, 1, 2]])
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    model.fit(Groupings.from_matrix(NAMES))
    assert not hasattr(model, "n_features_in_")


def test_linear_algebra_uses_one_thread():
    with threadpool_limits(2, user_api="blas"):  # pools of OpenMP, which scikit-learn has, are not concerned
        assert Kept().fit(NAMES).threads_ == {1}
