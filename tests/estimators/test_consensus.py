"""Estimators without features: tags, checks of matrices, columns remembered and forgotten."""

import numpy as np
import pytest

from consilience.consensus import Crowdclustering
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.consensus import keep_columns
from consilience.estimators.groupings import GroupingConsensus
from consilience.estimators.labels import LabelAggregator


class Rows(CrowdEstimator):
    """Each row of a matrix is a cluster, `first` the number of the first."""

    _reads_alone = True

    def fit(self, annotations, y=None, *, first=0):
        self._forget_columns()
        keep_columns(self, annotations, reset=True)
        self.labels_ = first + np.arange(len(annotations))
        return self

    def read_again(self, annotations):
        keep_columns(self, annotations, reset=False)


def test_models_of_labels_groupings_and_pairs_need_no_features():
    for model in (LabelAggregator, GroupingConsensus, Crowdclustering):
        assert model._reads_alone
        assert not {"__sklearn_tags__", "fit_predict"} & set(vars(model))


def test_tags():
    tags = Rows().__sklearn_tags__()
    assert tags.estimator_type == "clusterer"
    assert not tags.target_tags.required
    assert (tags.input_tags.categorical, tags.input_tags.allow_nan, tags.input_tags.string) == (True, True, True)


def test_fit_predict_forwards_parameters_of_fit():
    assert Rows().fit_predict([[1], [2]]).tolist() == [0, 1]
    assert Rows().fit_predict([[1], [2]], first=3).tolist() == [3, 4]


def test_columns_are_compared_until_the_next_fit():
    model = Rows().fit([[1, 2], [3, None]])
    model.read_again([["x", "y"]])
    with pytest.raises(ValueError, match="3 features, but Rows is expecting 2"):
        model.read_again([[1, 2, 3]])
    assert model.fit([[1, 2, 3]]).n_features_in_ == 3
    model._forget_columns()
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[1], [2, 3]], "^Rows expected a label matrix with rows of one length"),
        ([1, 2], r"^Rows expected a label matrix of shape \(n_items, n_annotators\)"),
        (np.empty((2, 0)), r"^0 feature\(s\).* Rows needs labels\.$"),
        (np.array([[0.0, 1.0], [0.0, -np.inf]]), r"^The label of item 1 by annotator 1 is inf"),
        ([[1j]], "^Complex data"),
    ],
    ids=["ragged", "flat", "no columns", "infinite", "complex"],
)
def test_invalid_matrices_raise(matrix, sentence):
    with pytest.raises(InputError, match=sentence):
        Rows().fit(matrix)
