"""MCVC and MECC: fitted attributes, predictions and invariances."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi
from consilience.semisupervised.mcvc_estimator import MCVC, MECC, views_to_begin_with
from consilience.simulation.pairs import simulate_pairs
from tests.semisupervised.test_mcvc import planted_views


def recovery(model, views):
    """NMI of each planted view with that of its annotators, and whether every annotator is in the right one."""
    held = [model.annotators_["view"][model.annotators_.index.str.startswith(name)] for name in "ab"]
    found = [nmi(view, model.view_labels_[own.iloc[0]]) for view, own in zip(views, held)]
    return min(found), len(set(held[0])) == len(set(held[1])) == 1 and held[0].iloc[0] != held[1].iloc[0]


def quick(**parameters):
    return MECC(**{"n_clusters": 3, "n_init": 4, "random_state": 0} | parameters)


def quick_views(**parameters):
    return MCVC(**{"n_clusters": 3, "n_init": 8, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def iris():
    """Standardised features with names, species, and judgements of pairs by three annotators."""
    X, species = load_iris(return_X_y=True, as_frame=True)
    X.index = [f"flower {i}" for i in range(len(X))]
    judged = simulate_pairs(species, 3, 200, [0.95, 0.85, 0.75], random_state=0, items=X.index)
    return (X - X.mean()) / X.std(ddof=0), species.to_numpy(), judged


@pytest.fixture(scope="module")
def fitted(iris):
    X, _, judged = iris
    return quick().fit(X, judged)


@pytest.fixture(scope="module")
def two_views():
    return planted_views(0, n_items=120, n_each=3, pairs_each=250, accuracy=0.9)


@pytest.fixture(scope="module")
def views_model(two_views):
    X, _, judged = two_views
    return quick_views().fit(X, judged)


@pytest.mark.slow
def test_two_views_are_recovered():
    """In nine of ten draws, both views are nearly recovered, and each of twenty annotators is in the right one."""
    found = []
    for seed in range(10):
        X, views, judged = planted_views(seed)
        found.append(recovery(MCVC(3, n_init=20, random_state=0).fit(X, judged), views))
    assert sum(score >= 0.95 and right for score, right in found) >= 9, found


def test_recovers_clusters_and_reliabilities(iris, fitted):
    _, species, judged = iris
    assert nmi(species, fitted.labels_) > 0.9
    assert fitted.n_clusters_ == 3
    assert fitted.annotators_["n_pairs"].tolist() == [200] * 3
    assert list(fitted.annotators_.index) == list(judged.annotators)
    # 100 pairs of each kind and ten of the prior: three standard deviations
    np.testing.assert_allclose(fitted.annotators_["sensitivity"], [0.95, 0.85, 0.75], atol=0.12)
    np.testing.assert_allclose(fitted.annotators_["specificity"], [0.95, 0.85, 0.75], atol=0.12)
    assert (np.diff(fitted.annotators_["weight"]) < 0).all()


def test_attributes_agree_with_each_other(iris, fitted):
    X, _, _ = iris
    p = fitted.responsibilities_
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_array_equal(p.argmax(1), fitted.labels_)
    np.testing.assert_array_equal(fitted.view_labels_[0], fitted.labels_)
    assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
    assert fitted.view_responsibilities_[0] is p
    assert fitted.views_.to_dict("list") == {"n_annotators": [3], "weight": [1.0], "n_clusters": [3]}
    assert fitted.view_probabilities_.to_numpy().tolist() == [[1.0]] * 3
    assert fitted.items_.equals(X.index)
    assert fitted.lower_bound_ == fitted.lower_bounds_[-1] >= fitted.restart_bounds_.max()
    assert fitted.restart_bounds_.shape == (4,)
    assert len(fitted.lower_bounds_) == fitted.n_iter_
    assert fitted.converged_
    assert fitted.n_features_in_ == 4


def test_views_are_distinguished(two_views, views_model):
    _, views, judged = two_views
    model = views_model
    score, right = recovery(model, views)
    assert score > 0.95
    assert right
    assert model.views_["n_annotators"].tolist() == [3, 3]  # a third view, of three to begin with, is dropped
    assert model.views_["weight"].sum() == pytest.approx(1)
    assert list(model.annotators_.index) == list(judged.annotators)
    assert model.view_labels_.shape == (120, 2)
    np.testing.assert_allclose(model.view_probabilities_.to_numpy().sum(1), 1)
    np.testing.assert_array_equal(model.view_probabilities_.to_numpy().argmax(1), model.annotators_["view"])
    # of views as common, that of the annotator whose name comes first
    assert model.annotators_.loc["a 1", "view"] == 0
    one = quick().fit(two_views[0], judged)
    assert model.lower_bound_ > one.lower_bound_ + 50


def test_predict(iris, fitted):
    X, species, _ = iris
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_array_equal(fitted.predict(X), p.argmax(1))
    np.testing.assert_array_equal(p, fitted.predict_proba(X))  # the same draws
    np.testing.assert_allclose(p[::7], fitted.predict_proba(X.iloc[::7]))
    assert (fitted.predict(X) == fitted.labels_).mean() > 0.9
    half = np.arange(150) % 2 == 0
    model = quick().fit(X[half], iris[2][half])
    assert nmi(species[~half], model.predict(X[~half])) > 0.8
    # the mean softmax over q(W), here over other draws: of a hundred, to three standard errors of .5 / 10
    rng = np.random.default_rng(7)
    mean, deviation = fitted._weights[0]
    scores = [X.to_numpy() @ w[:-1] + w[-1] for w in mean + deviation * rng.normal(size=(2000, *mean.shape))]
    expected = softmax(scores, axis=2).mean(0)[:, fitted._owned[0]]
    np.testing.assert_allclose(p, expected, atol=0.15)


def test_predict_of_each_view(two_views, views_model):
    X, views, _ = two_views
    for view in (0, 1):
        assert nmi(views[view], views_model.predict(X, view=view)) > 0.8
        assert views_model.predict_proba(X, view).shape == (120, 3)
    for wrong in (2, -1, 0.5, True):
        with pytest.raises(InputError, match="'view' must be an int from 0 to 1"):
            views_model.predict(X, view=wrong)


def test_predict_same(iris, fitted):
    X, _, _ = iris
    a, b = X.index[:3], X.index[[0, 60, 120]]
    p = fitted.responsibilities_
    same = fitted.predict_same(list(a), list(b))
    np.testing.assert_allclose(same, (p[:3] * p[[0, 60, 120]]).sum(1))
    assert fitted.predict_same(a[1], b[1]) == same[1]
    own = fitted.annotators_.loc["annotator 3"]
    said = fitted.predict_same(a[1], b[1], annotator="annotator 3")
    assert said == pytest.approx(same[1] * own["sensitivity"] + (1 - same[1]) * (1 - own["specificity"]))
    with pytest.raises(InputError, match="'tulip' was not fitted"):
        fitted.predict_same("tulip", a[0])
    with pytest.raises(InputError, match="Annotator 'nobody' was not fitted"):
        fitted.predict_same(a[0], b[0], annotator="nobody")
    with pytest.raises(InputError, match="two lists of names of one length"):
        fitted.predict_same(list(a), list(b)[:2])


def test_predict_same_of_an_annotator_uses_the_annotators_view(two_views, views_model):
    _, views, _ = two_views
    a, b = np.triu_indices(120, 1)
    for view, name in zip(views, ("a 1", "b 1")):
        said = views_model.predict_same(a.tolist(), b.tolist(), annotator=name)
        assert ((said > 0.5) == (view[a] == view[b])).mean() > 0.95


def test_groupings_equal_their_pairs(iris):
    X, species, _ = iris
    said = species.astype(object)[:, None].repeat(2, axis=1)
    said[100:, 0] = None
    said[::3, 1] = "else"
    groupings = Groupings.from_matrix(pd.DataFrame(said, index=X.index, columns=["Ann", "Bo"]))
    every = quick(n_init=2, implied_pairs="all")
    implied, listed = clone(every).fit(X, groupings), every.fit(X, groupings.to_pairs())
    assert implied.lower_bound_ == pytest.approx(listed.lower_bound_, rel=1e-8)
    np.testing.assert_allclose(implied.responsibilities_, listed.responsibilities_, atol=1e-6)
    np.testing.assert_array_equal(implied.annotators_["n_pairs"], listed.annotators_["n_pairs"])


@pytest.mark.slow
def test_annotations_may_come_in_any_shape(iris, fitted):
    X, species, judged = iris
    np.testing.assert_array_equal(quick().fit_predict(X, judged.to_frame()), fitted.labels_)
    table = pd.DataFrame({"item": X.index, "annotator": "Ann", "label": species})
    shapes = [Labels.from_frame(table), species, species[:, None], Groupings.from_matrix(species, items=X.index)]
    models = [quick(n_init=1).fit(X, given) for given in shapes]
    for model in models:
        assert model.annotators_["n_pairs"].tolist() == [149]  # as many as are independent
        np.testing.assert_allclose(model.responsibilities_, models[0].responsibilities_, atol=1e-8)


def test_without_features_the_judgements_determine_the_clusters(iris):
    """Each item in about 13 pairs of each of six annotators."""
    X, species, judged = iris
    many = simulate_pairs(species, 6, 1000, 0.9, random_state=0, items=X.index)
    model = quick(n_init=8).fit(None, many)
    assert nmi(species, model.labels_) > 0.95
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(InputError, match="MECC was fitted without features"):
        model.predict(X)
    again = quick(n_init=2).fit(X, judged).set_params(n_init=8).fit(None, many)  # forgets the features of before
    np.testing.assert_array_equal(again.labels_, model.labels_)
    with pytest.raises(InputError, match="fitted without features"):
        again.predict(X)


def test_unjudged_items_are_clustered_by_their_features(iris):
    X, species, judged = iris
    some = judged[np.arange(0, 150, 2)].reindex(X.index)
    model = quick().fit(X, some)
    assert nmi(species[1::2], model.labels_[1::2]) > 0.75


def test_order_changes_nothing(two_views, views_model):
    """Of items, of rows of the table, of annotators: draws are made in the order of names."""
    X, _, judged = two_views
    shuffled = np.random.default_rng(1).permutation(120)
    features = pd.DataFrame(X).iloc[shuffled]
    rows = judged.to_frame().sample(frac=1, random_state=0)
    there = quick_views().fit(features, Pairs.from_frame(rows))
    assert there.lower_bound_ == pytest.approx(views_model.lower_bound_, rel=1e-9)
    np.testing.assert_array_equal(there.view_labels_, views_model.view_labels_.iloc[shuffled])
    pd.testing.assert_frame_equal(
        there.annotators_.sort_index(), views_model.annotators_.sort_index(), check_dtype=False, rtol=1e-6
    )
    pd.testing.assert_frame_equal(
        there.view_probabilities_.sort_index(), views_model.view_probabilities_.sort_index(), atol=1e-9
    )


def test_names_of_groups_change_nothing(iris):
    X, species, _ = iris
    here, there = (quick(n_init=2).fit(X, names[species]) for names in (np.array([*"abc"]), np.array([*"zyx"])))
    np.testing.assert_allclose(here.responsibilities_, there.responsibilities_, atol=1e-8)


@pytest.mark.parametrize("name", [str, lambda i: (i, "x"), lambda i: f"{i}" if i % 2 else i])
def test_names_of_items_of_every_kind(iris, name):
    X, species, judged = iris
    names = pd.Index([name(i) for i in range(150)], tupleize_cols=False, dtype=object)
    frame = judged.to_frame()
    for column in ("item_a", "item_b"):
        frame[column] = names[X.index.get_indexer(frame[column])]
    model = quick().fit(X.set_axis(names), Pairs.from_frame(frame))
    assert nmi(species, model.labels_) > 0.9
    assert list(model.items_) == list(names)
    assert model.predict_same(names[0], names[1]) > 0.9


@pytest.mark.slow
def test_annotators_without_judgements_stay_at_the_prior(two_views):
    X, views, judged = two_views
    more = replace(judged, annotators=judged.annotators.append(pd.Index(["Zoe"])))
    model = quick_views().fit(X, more)
    assert recovery_of_views(model, views) > 0.95
    own = model.annotators_.loc["Zoe"]
    assert own["n_pairs"] == 0
    assert [own["sensitivity"], own["specificity"]] == pytest.approx([10 / 11] * 2)
    np.testing.assert_allclose(model.view_probabilities_.loc["Zoe"], model.views_["weight"], rtol=1e-6)
    assert model.views_["n_annotators"].sum() == 6


def recovery_of_views(model, views):
    return min(max(nmi(view, found) for _, found in model.view_labels_.items()) for view in views)


def test_annotators_who_contradict_each_other(iris):
    """With one view, an annotator who contradicts four others is wrong, and has a negative weight."""
    X, species, _ = iris
    judged = simulate_pairs(species, 5, 300, [0.9] * 4 + [0.05], random_state=0, items=X.index)
    model = quick().fit(X, judged)
    assert nmi(species, model.labels_) > 0.85
    table = model.annotators_
    assert table["weight"].iloc[4] < 0 < table["weight"].iloc[:4].min()
    assert table[["sensitivity", "specificity"]].iloc[4].max() < 0.3


def test_one_annotator_who_contradicts_themselves():
    """Every pair once "same" and once "different": no information, and no error."""
    twice = Groupings.from_lists([[[*"abcdef"]], [[item] for item in "abcdef"]], annotators=["Ann", "Ann"])
    model = quick_views().fit(None, twice)
    assert len(model.views_) == 1
    assert model.annotators_["n_pairs"].tolist() == [30]
    assert np.isfinite(model.lower_bound_)


def test_superfluous_clusters_are_empty(iris):
    X, species, judged = iris
    model = quick(n_clusters=10).fit(X, judged)
    assert model.n_clusters_ < 10
    assert model.responsibilities_.shape == (150, model.n_clusters_)
    assert nmi(species, model.labels_) > 0.7
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    few = quick(n_clusters=10).fit(None, Groupings.from_lists([[["a", "b"], ["c"]]]))
    assert few.labels_.tolist() == [0, 0, 1]


def test_one_view_is_mecc(two_views):
    X, _, judged = two_views
    one, mecc = quick_views(max_views=1).fit(X, judged), quick(n_init=8).fit(X, judged)
    np.testing.assert_array_equal(one.responsibilities_, mecc.responsibilities_)
    assert one.lower_bound_ == mecc.lower_bound_


@pytest.mark.parametrize(("n_annotators", "expected"), [(1, 1), (2, 1), (5, 3), (19, 10), (60, 10)])
def test_initial_number_of_views(n_annotators, expected):
    assert views_to_begin_with(MCVC(), n_annotators) == expected
    assert views_to_begin_with(MCVC(max_views=4), n_annotators) == 4
    assert views_to_begin_with(MECC(), n_annotators) == 1


def test_the_same_seed_gives_the_same(iris, fitted):
    X, _, judged = iris
    again = clone(fitted).fit(X, judged)
    np.testing.assert_array_equal(again.responsibilities_, fitted.responsibilities_)
    np.testing.assert_array_equal(again.restart_bounds_, fitted.restart_bounds_)


def test_profile_and_association(iris, fitted):
    X, _, _ = iris
    assert fitted.cluster_profile(X)[("items", "")].tolist() == np.bincount(fitted.labels_).tolist()
    assert (fitted.association(X)["p_value"] < 1e-10).all()


def test_warns_when_it_has_not_converged(iris):
    X, _, judged = iris
    with pytest.warns(ConvergenceWarning, match="MECC: .* max_iter=2 sweeps. Raise max_iter."):
        model = quick(max_iter=2, n_init=1, tol=0).fit(X, judged)
    assert not model.converged_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("max_views", 0),
        ("max_views", "some"),
        ("reliability_prior", (10, 0)),
        ("reliability_prior", 10),
        ("reliability_prior", (1, 2, 3)),
        ("stick_concentration", 0),
        ("n_init", 0),
        ("max_iter", 0),
        ("tol", -1),
    ],
)
def test_invalid_parameters(iris, name, value):
    X, _, judged = iris
    with pytest.raises(InputError, match=f"The '{name}' parameter of MCVC must be .* instead"):
        MCVC(**{name: value}).fit(X, judged)


def test_invalid_input(iris):
    X, _, judged = iris
    with pytest.raises(InputError, match="MECC needs judgements of pairs; the annotations hold none"):
        quick().fit(None, Groupings.from_lists([[["a"]], [["b"]]]))
    with pytest.raises(InputError, match="missing"):
        quick().fit(X.mask(X > 2), judged)
    with pytest.raises(InputError, match="150 rows and the annotations 149 items"):
        quick().fit(X.to_numpy(), judged[:149].by_position())
    with pytest.raises(InputError, match="the target y is None"):
        quick().fit(X, None)
