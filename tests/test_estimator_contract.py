"""What every estimator of the registry must do: scikit-learn's checks, and ours."""

import pickle
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_clusterer
from sklearn.utils.estimator_checks import estimator_checks_generator

from consilience import Groupings, Labels, Pairs, registry
from consilience.analysis import findings
from consilience.annotations import concat
from consilience.errors import InputError
from consilience.persistence import load, save
from consilience.workflows.result_folder import possible_files
from consilience.workflows.results import tables_of
from tests.quick_cases import COMPILED, QUICK, REPRESENTATIVES, is_quick

NAMES = list(registry.ESTIMATORS)
MARKED = [pytest.param(name, marks=pytest.mark.slow) if name in COMPILED else name for name in NAMES]


def reads_features(name):
    return registry.ESTIMATORS[name].kind == "semisupervised"


def skip_if_slips_make_clusters(name):
    if name in ("Crowdclustering", "CorrelationClustering"):
        pytest.skip("one item in a wrong group makes many wrong pairs, which it takes for independent")


def features_decide(name):
    """Whether an item's cluster follows from its features, whatever was said of it."""
    return name in {"PartitionLabelModel", "MPCKMeans", "ITMLClustering", "SemiCrowd"}


def settings(model):
    """Parameters, nested estimators as they are written."""
    return {key: repr(value) for key, value in model.get_params().items()}


def answers_in_classes(name):
    """Whether clusters are classes that annotators name, and not numbers."""
    return registry.ESTIMATORS[name].reads[0] == "labels"


@pytest.mark.parametrize("name", NAMES)
def test_tags_tell_what_finds_clusters(name):
    """Models of classes are no classifiers to scikit-learn, which would hand them features, and classes to learn."""
    model = registry.estimator(name)(**QUICK[name])
    assert not is_classifier(model)
    assert is_clusterer(model) != answers_in_classes(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_transforms_can_return_frames(name):
    model = registry.estimator(name)(**QUICK[name])
    if hasattr(model, "transform"):
        assert model.set_output(transform="pandas") is model
        assert hasattr(model, "get_feature_names_out")
    else:
        assert not hasattr(model, "fit_transform")


# each skipped check with its reason
REQUIRES_ANNOTATIONS = {
    "check_clustering": "fits without y; annotations are required",
    "check_clusterer_compute_labels_predict": "fits without y; annotations are required",
}


FEW_ANNOTATORS = dict.fromkeys(
    [
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_fit2d_1feature",
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
        "check_n_features_in",
    ],
    "has one or two annotators; moments need three groups of them, and the error says so",
)


FITTED_BEFORE = {
    "check_fit_score_takes_y": "hands partial_fit the groupings that it has fitted; the error says so",
    "check_n_features_in_after_fitting": "columns are annotators, and partial_fit takes others than fit did",
}


def not_applicable(name):
    if name == "SubsetFusion":
        return MEASUREMENTS | FITTED_BEFORE
    if name == "SpectralEM":
        return FEW_ANNOTATORS
    if name == "TagConsensus":
        return NAMES_OF_SETS
    if not reads_features(name):
        return {} if answers_in_classes(name) else MEASUREMENTS
    return REQUIRES_ANNOTATIONS


NAMES_OF_SETS = dict.fromkeys(
    ["check_methods_sample_order_invariance", "check_methods_subset_invariance", "check_fit_idempotent"],
    "subtracts predictions, and the name of a set of several tags is text",
)


MEASUREMENTS = {
    "check_clustering": "measurements are no groupings: each value would be a group of its own",
}


WITHOUT_FIT = {
    "check_array_api_input",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_sparse_tag",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
"""Checks of what every estimator declares, which take no time."""


def of_scikit_learn(name):
    """scikit-learn's checks of an estimator that stops early: they compare fits, and ask for no good ones."""
    model = registry.estimator(name)(**QUICK[name])
    if "max_iter" in model.get_params(deep=False):
        model.set_params(max_iter=5)
    for turn, (estimator, check) in enumerate(estimator_checks_generator(model)):
        kind = check.func.func if isinstance(check.func, partial) else check.func
        marks = [pytest.mark.xfail(reason=reason)] if (reason := not_applicable(name).get(kind.__name__)) else []
        if not (is_quick(name, turn) or (name not in COMPILED and kind.__name__ in WITHOUT_FIT)):
            marks.append(pytest.mark.slow)
        yield pytest.param(estimator, check, marks=marks, id=f"{name}-{kind.__name__}-{turn}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize(("estimator", "check"), [case for name in NAMES for case in of_scikit_learn(name)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_somebody_stands_for_every_fit():
    """The estimators that meet every case in the quick tests read annotations in all the ways that there are."""
    fits = {}
    for name in registry.ESTIMATORS.keys() - set(COMPILED):
        fits[name] = next(base for base in registry.estimator(name).__mro__ if "fit" in vars(base))
    assert {fits[name] for name in REPRESENTATIVES} == set(fits.values())


def small_study(seed=0, n_items=40):
    """Two blobs, four annotators who tell them apart nine times in ten and leave a fifth of the items out."""
    rng = np.random.default_rng(seed)
    blob = np.arange(n_items) % 2
    X = pd.DataFrame(rng.normal(size=(n_items, 2)) + 8 * blob[:, None], columns=["a", "b"])
    X.index = [f"item {i}" for i in range(n_items)]
    said = np.where(rng.random((n_items, 4)) < 0.1, 1 - blob[:, None], blob[:, None]).astype(float)
    said[rng.random(said.shape) < 0.2] = np.nan
    return (X - X.mean()) / X.std(), Groupings.from_matrix(said, items=X.index, annotators=list("wxyz")), blob


def said_again(annotations):
    """The groups as labels, with a second and different one of every fifth of them; and judgements given again."""
    frame = annotations.to_frame()[["item", "annotator", "group"]].rename(columns={"group": "label"})
    again = frame.iloc[::5].assign(label=1 - frame["label"].iloc[::5])
    labels = Labels.from_frame(pd.concat([frame, again]), items=annotations.items)
    pairs = annotations.to_pairs()
    repeated, contradicted = pairs.to_frame().iloc[::7], pairs.to_frame().iloc[3::11]
    contradicted = contradicted.assign(same=~contradicted["same"])
    return labels, concat([pairs, *(Pairs.from_frame(part) for part in (repeated, contradicted))])


def fit(name, X, annotations, **parameters):
    """Fit to groupings, or to the labels that the same names are."""
    model = registry.estimator(name)(**(QUICK[name] | parameters))
    said = said_to(name, annotations)
    return model.fit(X, said) if registry.ESTIMATORS[name].kind == "semisupervised" else model.fit(said)


def said_to(name, annotations):
    """Return groupings, or labels of the same names, as a model reads them."""
    if not answers_in_classes(name):
        return annotations
    labels = Labels.from_matrix(annotations.to_matrix())
    return labels.as_ratings(labels.classes) if name == "OrdinalRatings" else labels


@cache
def fitted(name):
    """A model of the small study, to look at."""
    X, annotations, _ = small_study()
    return fit(name, X, annotations)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("name", MARKED)
class TestContract:
    def test_recovers_two_blobs(self, name):
        skip_if_slips_make_clusters(name)
        _, _, blob = small_study()
        share = np.mean(fitted(name).labels_ == blob)
        if not answers_in_classes(name):  # numbered by size
            share = max(share, 1 - share)
        assert share == 1 if features_decide(name) else share >= 0.9  # else items may follow what was wrongly said

    def test_common_attributes(self, name):
        X, annotations, _ = small_study()
        model = fitted(name)
        assert model.labels_.shape == (40,)
        assert model.responsibilities_.shape == (40, model.n_clusters_)
        assert list(model.items_) == list(X.index)
        assert sorted(model.annotators_.index) == list("wxyz")
        names = getattr(model, "classes_", range(model.n_clusters_))
        assert set(np.unique(model.labels_)) == set(names)
        np.testing.assert_array_equal(model.labels_, np.array(names)[model.responsibilities_.argmax(1)])
        assert set(tables_of(findings(model, said_to(name, annotations), certainty=None))) < set(possible_files(name))

    def test_labels_as_a_series_by_item(self, name):
        X, annotations, _ = small_study()
        unfitted = registry.estimator(name)(**QUICK[name])
        assert not hasattr(unfitted, "labels_series_")
        model = fit(name, X, annotations)
        column = "label" if answers_in_classes(name) else "cluster"
        expected = pd.Series(model.labels_.copy(), index=pd.Index(list(X.index), name="item"), name=column)
        for fitted in (model, pickle.loads(pickle.dumps(model))):
            pd.testing.assert_series_equal(fitted.labels_series_, expected)
        assert model.labels_series_["item 3"] == model.labels_[3]
        series = model.labels_series_
        series.iloc[:] = model.labels_[::-1].copy()
        np.testing.assert_array_equal(model.labels_, expected)  # the series is a copy
        assert not hasattr(clone(model), "labels_series_")

    def test_is_deterministic_and_leaves_its_parameters_alone(self, name):
        X, annotations, _ = small_study()
        one, two = fitted(name), fit(name, X, annotations)
        np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)
        assert settings(one) == settings(registry.estimator(name)(**QUICK[name]))
        assert settings(clone(one)) == settings(one)

    def test_pickles_and_saves(self, name, tmp_path):
        model = fitted(name)
        save(model, tmp_path / "model.zip")
        for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.zip")):
            assert vars(copy).keys() == vars(model).keys()
            np.testing.assert_array_equal(copy.responsibilities_, model.responsibilities_)
            pd.testing.assert_frame_equal(copy.annotators_, model.annotators_)

    def test_order_of_items_changes_nothing(self, name):
        X, annotations, _ = small_study()
        shuffled = np.random.default_rng(1).permutation(40)
        there = fitted(name)
        here = fit(name, X.iloc[shuffled], annotations[shuffled])
        np.testing.assert_allclose(here.responsibilities_, there.responsibilities_[shuffled], atol=1e-8)

    def test_names_of_groups_change_nothing(self, name):
        X, annotations, _ = small_study()
        table = annotations.to_matrix().replace({0.0: "zebra", 1.0: "ant"})
        there, here = fitted(name), fit(name, X, Groupings.from_matrix(table))
        swapped = [1, 0] if answers_in_classes(name) else slice(None)  # classes are in the order of their names
        np.testing.assert_allclose(here.responsibilities_[:, swapped], there.responsibilities_, atol=1e-8)

    def test_what_annotators_say_again_is_evidence(self, name):
        X, annotations, _ = small_study()
        model = registry.estimator(name)(**QUICK[name])
        known = dict(zip(("labels", "pairs"), said_again(annotations), strict=True))
        for said in [known[kind] for kind in registry.ESTIMATORS[name].reads if kind in known]:
            args = (X, said) if registry.ESTIMATORS[name].kind == "semisupervised" else (said,)
            fitted = clone(model).fit(*args)
            assert fitted.labels_.shape == (40,)
            assert np.isfinite(fitted.responsibilities_).all()
            np.testing.assert_allclose(fitted.responsibilities_.sum(1), 1, atol=1e-6)
            same = fitted.predict_same(X.index[0], X.index[1])
            assert 0 <= same <= 1 + 1e-9
            if answers_in_classes(name):
                counts = said.to_frame()["annotator"].value_counts()
                assert fitted.annotators_["n_labels"].to_dict() == counts.to_dict()
                assert np.isfinite(fitted.predict_proba(args[0])).all()

    def test_one_annotator_is_enough(self, name):
        if name == "SpectralEM":
            pytest.skip("moments need three groups of annotators")
        X, annotations, _ = small_study()
        model = fit(name, X, annotations.restrict(annotators=["x"]))
        assert model.n_clusters_ >= 1
        assert np.isfinite(model.responsibilities_).all()

    def test_two_items_are_enough(self, name):
        if name == "SpectralEM":
            pytest.skip("moments need three groups of annotators")
        parameters = {"max_clusters": 2} if "max_clusters" in QUICK[name] else {}
        model = fit(name, np.array([[0.0], [1.0]]), Groupings.from_matrix([["a"], ["b"]]), **parameters)
        assert model.labels_.shape == (2,)

    def test_items_that_nobody_labelled(self, name):
        skip_if_slips_make_clusters(name)
        X, annotations, blob = small_study()
        parameters = {"refine": "informative"} if name == "StagewiseEM" else {}  # its slow default, for little data
        model = fit(name, X, annotations[np.arange(20)].reindex(X.index), **parameters)
        told = slice(None) if reads_features(name) else slice(20)  # the others have no features to tell them by
        share = np.mean((model.labels_ == blob)[told])
        assert share in (0, 1) if features_decide(name) else max(share, 1 - share) >= 0.9

    def test_names_of_every_kind(self, name):
        X, annotations, _ = small_study()
        odd_names = ["å", "漢字", "a,b", 'q"', "<b>", "line\nbreak", "1", "nan", "None", "-1"]
        names = pd.Index([*odd_names, *(f"item {i}" for i in range(30))])
        odd = Groupings.from_matrix(annotations.to_matrix().to_numpy(), items=names)
        model = fit(name, X.set_axis(odd.items), odd)
        assert list(model.items_) == list(odd.items)

    def test_probability_of_the_same_cluster(self, name):
        skip_if_slips_make_clusters(name)
        X, _, blob = small_study()
        model = fitted(name)
        same = model.predict_same(list(X.index[:2]), [X.index[2], X.index[3]])
        assert ((same > 0.5) == (blob[:2] == blob[2:4])).all()
        assert 0 <= model.predict_same(X.index[0], X.index[1], annotator="w") <= 1

    def test_a_name_beside_a_list_is_no_pair(self, name):
        X, _, _ = small_study()
        model = fitted(name)
        one, two, three = X.index[0], list(X.index[:2]), list(X.index[:3])
        for item_a, item_b in ((one, two), (two, one), (one, [one]), (two, three), ([one], two)):
            with pytest.raises(InputError, match="two names of items, or two lists of names of one length"):
                model.predict_same(item_a, item_b)
