"""What every estimator of the registry must do: scikit-learn's checks, and ours."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import Groupings, registry
from consilience.persistence import load, save

QUICK = {"PartitionLabelModel": {"prior_variance": 1.0, "n_init": 1, "max_clusters": 3, "random_state": 0}}
NAMES = list(registry.ESTIMATORS)

# each skipped check with its reason
NOT_APPLICABLE = {
    "check_clustering": "fits without y; annotations are required",
    "check_clusterer_compute_labels_predict": "fits without y; annotations are required",
    "check_fit_score_takes_y": "the second argument is called annotations, and checked for being called y",
    "check_n_features_in_after_fitting": "hands score its second argument by the name y",
}


def estimators():
    return [registry.estimator(name)(**QUICK[name]) for name in NAMES]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(estimators(), expected_failed_checks=lambda _: NOT_APPLICABLE)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def small_study(seed=0, n_items=40):
    """Two blobs, four annotators who tell them apart nine times in ten and leave a fifth of the items out."""
    rng = np.random.default_rng(seed)
    blob = np.arange(n_items) % 2
    X = pd.DataFrame(rng.normal(size=(n_items, 2)) + 8 * blob[:, None], columns=["a", "b"])
    X.index = [f"item {i}" for i in range(n_items)]
    said = np.where(rng.random((n_items, 4)) < 0.1, 1 - blob[:, None], blob[:, None]).astype(float)
    said[rng.random(said.shape) < 0.2] = np.nan
    return (X - X.mean()) / X.std(), Groupings.from_matrix(said, items=X.index, annotators=list("wxyz")), blob


def fit(name, X, annotations):
    model = registry.estimator(name)(**QUICK[name])
    return model.fit(annotations) if registry.ESTIMATORS[name].kind == "consensus" else model.fit(X, annotations)


@pytest.mark.parametrize("name", NAMES)
class TestContract:
    def test_recovers_two_blobs(self, name):
        X, annotations, blob = small_study()
        labels = fit(name, X, annotations).labels_
        assert np.mean(labels == blob) in (0, 1)

    def test_common_attributes(self, name):
        X, annotations, _ = small_study()
        model = fit(name, X, annotations)
        assert model.labels_.shape == (40,)
        assert model.responsibilities_.shape == (40, model.n_clusters_)
        assert list(model.items_) == list(X.index)
        assert list(model.annotators_.index) == list("wxyz")
        assert set(np.unique(model.labels_)) == set(range(model.n_clusters_))

    def test_is_deterministic_and_leaves_its_parameters_alone(self, name):
        X, annotations, _ = small_study()
        one, two = fit(name, X, annotations), fit(name, X, annotations)
        np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)
        assert one.get_params() == registry.estimator(name)(**QUICK[name]).get_params()
        assert clone(one).get_params() == one.get_params()

    def test_pickles_and_saves(self, name, tmp_path):
        X, annotations, _ = small_study()
        model = fit(name, X, annotations)
        save(model, tmp_path / "model.zip")
        for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.zip")):
            assert vars(copy).keys() == vars(model).keys()
            np.testing.assert_array_equal(copy.responsibilities_, model.responsibilities_)
            pd.testing.assert_frame_equal(copy.annotators_, model.annotators_)

    def test_order_of_items_changes_nothing(self, name):
        X, annotations, _ = small_study()
        shuffled = np.random.default_rng(1).permutation(40)
        there = fit(name, X, annotations)
        here = fit(name, X.iloc[shuffled], annotations[shuffled])
        np.testing.assert_allclose(here.responsibilities_, there.responsibilities_[shuffled], atol=1e-8)

    def test_names_of_groups_change_nothing(self, name):
        X, annotations, _ = small_study()
        table = annotations.to_matrix().replace({0.0: "zebra", 1.0: "ant"})
        there, here = fit(name, X, annotations), fit(name, X, Groupings.from_matrix(table))
        np.testing.assert_allclose(here.responsibilities_, there.responsibilities_, atol=1e-8)

    def test_one_annotator_is_enough(self, name):
        X, annotations, _ = small_study()
        model = fit(name, X, annotations.restrict(annotators=["x"]))
        assert model.n_clusters_ >= 1
        assert np.isfinite(model.responsibilities_).all()

    def test_two_items_are_enough(self, name):
        model = registry.estimator(name)(**(QUICK[name] | {"max_clusters": 2}))
        model.fit(np.array([[0.0], [1.0]]), Groupings.from_matrix([["a"], ["b"]]))
        assert model.labels_.shape == (2,)

    def test_items_that_nobody_labelled(self, name):
        X, annotations, blob = small_study()
        model = fit(name, X, annotations[np.arange(20)].reindex(X.index))
        assert np.mean(model.labels_ == blob) in (0, 1)

    def test_names_of_every_kind(self, name):
        X, annotations, _ = small_study()
        odd_names = ["å", "漢字", "a,b", 'q"', "<b>", "line\nbreak", "1", "nan", "None", "-1"]
        names = pd.Index([*odd_names, *(f"item {i}" for i in range(30))])
        odd = Groupings.from_matrix(annotations.to_matrix().to_numpy(), items=names)
        model = fit(name, X.set_axis(odd.items), odd)
        assert list(model.items_) == list(odd.items)

    def test_probability_of_the_same_cluster(self, name):
        X, annotations, blob = small_study()
        model = fit(name, X, annotations)
        same = model.predict_same(list(X.index[:2]), [X.index[2], X.index[3]])
        assert ((same > 0.5) == (blob[:2] == blob[2:4])).all()
        assert 0 <= model.predict_same(X.index[0], X.index[1], annotator="w") <= 1
