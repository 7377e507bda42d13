"""Features that every model takes: scales far apart, and numbers too large to square."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import registry
from consilience.consensus import KCC
from consilience.errors import FeatureScaleWarning, InputError
from consilience.estimators.base import LARGEST, far_apart
from consilience.semisupervised import MECC, InductiveConsensus, ITMLClustering, MPCKMeans, PartitionLabelModel
from consilience.simulation import simulate_crowd
from tests.quick_cases import quick_in_turn

X = pd.DataFrame(
    np.random.default_rng(0).normal(size=(12, 3)) + np.repeat([[0.0], [4.0], [8.0]], 4, axis=0),
    columns=["length", "width", "mass"],
)
SORTS = np.repeat([["a", "p"], ["b", "q"], ["c", "q"]], 4, axis=0)
TAKE_FEATURES = [
    entry for entry in registry.ESTIMATORS.values() if entry.kind == "semisupervised" and "deep" not in entry.module
]


def small(entry):
    """An estimator that is fitted at once."""
    made = entry.load()
    estimator = made(KCC(3)) if entry.name == "InductiveConsensus" else made()
    quick = {"n_clusters": 3, "n_init": 1, "prior_variance": 1.0, "max_clusters": 4, "random_state": 0}
    return estimator.set_params(**{name: v for name, v in quick.items() if name in estimator.get_params()})


BY_SCALE = {"PartitionLabelModel", "MCVC", "MECC"}
RAW = X.assign(mass=X["mass"] * 1e5)


def warned(model, features):
    """Warnings of a fit about scales."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(features, SORTS)
    return [str(warning.message) for warning in caught if warning.category is FeatureScaleWarning]


def sentence(model):
    deviation = X[["length", "width"]].std()
    times = RAW["mass"].std() / deviation.min()
    return (
        f"The scale of feature 'mass' is {times:,.0f} times that of feature {deviation.idxmin()!r}, so that {model} "
        "sees little but the larger ones; standardise the features with StandardScaler."
    )


@pytest.mark.parametrize("entry", quick_in_turn(TAKE_FEATURES, 0, every=2), ids=lambda entry: entry.name)
@pytest.mark.filterwarnings("ignore:Annotators share hardly any labels")  # of a model that reads the sorts as labels
def test_only_scale_dependent_models_warn_of_different_scales(entry):
    found = warned(small(entry), RAW)
    assert warned(small(entry), X) == []
    if entry.name in BY_SCALE:
        assert found == [sentence(entry.name)]
    else:
        assert found == []
        np.testing.assert_array_equal(small(entry).fit(RAW, SORTS).labels_, small(entry).fit(X, SORTS).labels_)


@pytest.mark.parametrize(
    "model",
    [MPCKMeans(3, metric=None, random_state=0), ITMLClustering(3, prior="identity", random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_metrics_that_start_without_variances_depend_on_the_scale(model):
    assert warned(model, RAW) == [sentence(type(model).__name__)]


def test_features_without_names_are_numbered():
    with pytest.warns(FeatureScaleWarning, match="^The scale of feature 2 is "):
        PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(X.to_numpy() * [1, 1, 1e5], SORTS)


@pytest.mark.parametrize("data", [load_wine, load_breast_cancer], ids=["wine", "breast cancer"])
def test_warns_of_raw_but_not_of_standardised_tables(data):
    values = data().data
    assert far_apart(values) is not None
    assert far_apart(StandardScaler().fit_transform(values)) is None


@pytest.mark.parametrize("data", [load_iris, load_digits], ids=["iris", "digits"])
def test_tables_of_one_unit_do_not_warn(data):
    assert far_apart(data().data) is None


def test_standardised_pipelines_and_new_items_do_not_warn():
    raw = X.assign(mass=X["mass"] * 1e5, still=7.0)
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(raw, SORTS)
    pipeline.predict(raw * 1e9)
    fitted = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(X, SORTS)
    fitted.predict(raw[["length", "width", "mass"]])


def test_classifiers_do_not_warn_of_scales():
    forest = RandomForestClassifier(5, random_state=0)
    InductiveConsensus(KCC(3, random_state=0), forest).fit(X.assign(mass=X["mass"] * 1e5), SORTS)


def test_a_pixel_that_is_nearly_constant_does_not_warn():
    values = np.random.default_rng(0).uniform(0, 255, size=(100_000, 2))
    values[:, 1] = 0
    values[7, 1] = 20.0
    assert values[:, 0].std() > 1000 * values[:, 1].std()
    assert far_apart(values) is None


def test_variation_by_rounding_is_constant():
    values = np.column_stack([np.full(4, 0.3), np.arange(4.0)])
    values[0, 0] += 1e-16
    assert np.ptp(values[:, 0]) > 0
    assert far_apart(values) is None


@given(st.lists(st.floats(-1e5, 1e5), min_size=2, max_size=20), st.floats(0.01, 100), st.floats(1.5, 1e4))
def test_scale_ratio_depends_only_on_units(numbers, unit, times):
    """The ratio of a feature to itself in another unit is that of the units."""
    one = np.array(numbers)
    values = np.column_stack([one, one * times, np.full(len(one), 5.0)]) * unit
    assume(np.ptp(one) > 1e-9 * np.abs(one).max() and not 999 <= times <= 1001)
    assume(np.ptp(one) * unit >= 1 / LARGEST)  # estimators refuse less before they look at the scales: squares are zero
    found = far_apart(values)
    if times < 1000:
        assert found is None
    else:
        assert found[:2] == (0, 1)
        assert found[2] == pytest.approx(times, rel=1e-6)


def test_numbers_with_infinite_squares_raise():
    big = X.copy()
    big.loc[5, "width"] = -1e308
    for model in (PartitionLabelModel(prior_variance=1.0), MECC(3)):
        with pytest.raises(InputError, match=r"Feature 'width' of item 5 is -1e\+308, whose square is infinite\."):
            model.fit(big, SORTS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # one more thing that raw wine does
@pytest.mark.slow
def test_fit_warns_of_raw_wine():
    wine = load_wine(as_frame=True)
    crowd = simulate_crowd(wine.target, items_each=60, random_state=0)
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, max_clusters=6, random_state=0)
    with pytest.warns(FeatureScaleWarning, match="'proline' is .* times that of feature 'nonflavanoid_phenols'"):
        model.fit(wine.data, crowd)


@pytest.mark.parametrize("name", ["BayesSCDC", "SCDC"])
def test_networks_depend_on_the_scale_except_for_shares(name):
    pytest.importorskip("jax")
    made = registry.estimator(name)
    assert made(likelihood="gaussian")._depends_on_scale()
    assert not made(likelihood="bernoulli")._depends_on_scale()
