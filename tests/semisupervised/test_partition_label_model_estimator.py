"""PartitionLabelModel: fitted attributes, predictions and invariances."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.inspection import annotator_agreement
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_experts
from tests.quick_cases import some_quick


def quick(**parameters):
    """A model with a fixed prior variance and few restarts."""
    return PartitionLabelModel(**{"prior_variance": 1.0, "n_init": 4, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def iris():
    X, species = load_iris(return_X_y=True, as_frame=True)
    X.index = [f"flower {i}" for i in range(len(X))]
    X = (X - X.mean()) / X.std(ddof=0)
    experts = simulate_experts(species.to_numpy(), items=X.index, random_state=0)
    return X, species.to_numpy(), experts


@pytest.fixture(scope="module")
def fitted(iris):
    X, _, experts = iris
    return quick(prior_variance=2.0).fit(X, experts)


def test_recovers_clusters_mapping_and_accuracy():
    """Three distant blobs; annotators, right nine times in ten, merge two of the blobs or name all three."""
    rng = np.random.default_rng(0)
    X, blob = make_blobs([200, 150, 100], 2, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    meaning = [["b", "a", "a"], ["a", "b", "b"], ["x", "y", "z"], ["q", "p", "q"]]
    said = np.array(meaning)[:, blob]
    for row, names in zip(said, meaning):
        wrong = rng.random(len(blob)) < 0.1
        row[wrong] = rng.choice(sorted(set(names)), wrong.sum())
    model = quick().fit(StandardScaler().fit_transform(X), Groupings.from_matrix(said.T))
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.labels_, blob)  # blobs 0, 1, 2 are by falling size
    clusters = {row.group: row.clusters for row in model.annotator_mapping_.query("annotator == 2").itertuples()}
    assert clusters == {"x": (0,), "y": (1,), "z": (2,)}
    groups = model.annotator_groups()
    same = groups[groups["distinction"] == groups.loc[groups["n_groupings"].idxmax(), "distinction"]]
    assert set(same["clusters"]) == {((0,), (1, 2))}
    assert set(same["naming"]) == {("b", "a"), ("a", "b")}  # one distinction, two namings
    # a slip falls on the right name again one time in J, so .95 of two and .933 of three are right
    np.testing.assert_allclose(model.annotators_["accuracy"], [0.95, 0.95, 0.933, 0.95], atol=0.03)


@pytest.mark.slow
def test_finds_iris_species(iris, fitted):
    _, species, _ = iris
    assert nmi(species, fitted.labels_) > 0.9
    assert fitted.n_clusters_ in (3, 4)


def test_attributes_agree_with_each_other(iris, fitted):
    X, _, experts = iris
    p = fitted.responsibilities_
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_array_equal(p.argmax(1), fitted.labels_)
    assert list(np.bincount(fitted.labels_)) == sorted(np.bincount(fitted.labels_), reverse=True)
    score = X.to_numpy() @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_array_equal(fitted.predict(X), score.argmax(1))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(1), 1)
    assert fitted.lower_bound_ == fitted.lower_bounds_[-1] >= fitted.restart_bounds_.max()
    assert (np.diff(fitted.lower_bounds_) >= 0).all()
    assert len(fitted.lower_bounds_) == fitted.n_iter_
    assert list(fitted.items_) == list(X.index)
    assert list(fitted.annotators_.index) == list(experts.annotators)
    by_annotator = fitted.mapping_probabilities_.groupby(level="annotator").sum()
    np.testing.assert_allclose(by_annotator, 1)
    np.testing.assert_allclose(fitted.label_probabilities_.groupby(level="annotator").sum(), 1)


def test_accuracy_is_the_share_of_labels_predicted(iris, fitted):
    _, _, experts = iris
    table = experts.to_matrix()
    names = fitted.label_probabilities_.index
    for annotator in experts.annotators:
        mine = names.get_level_values("annotator") == annotator
        chance = fitted.responsibilities_ @ fitted.label_probabilities_[mine].to_numpy().T
        predicted = names.get_level_values("group")[mine].to_numpy()[chance.argmax(1)]
        given = table[annotator].notna().to_numpy()
        share = np.mean(predicted[given] == table[annotator].to_numpy()[given])
        assert fitted.annotators_.loc[annotator, "accuracy"] == pytest.approx(share)


def test_several_groupings_of_one_annotator_are_pooled(iris):
    X, species, _ = iris
    sheets = pd.DataFrame({"item": X.index, "annotator": "Ann", "grouping": np.arange(150) % 3, "group": species})
    model = quick().fit(X, Groupings.from_frame(sheets, items=X.index))
    assert len(model.groupings_) == 3
    pooled = np.average(model.groupings_["accuracy"], weights=model.groupings_["n_labels"])
    assert model.annotators_.loc["Ann", "accuracy"] == pytest.approx(pooled)
    assert tuple(model.annotators_.loc["Ann", ["n_labels", "n_groupings", "n_groups"]]) == (150, 3, 9)


def test_order_of_items_changes_nothing(iris, fitted):
    X, _, experts = iris
    shuffled = np.random.default_rng(1).permutation(150)
    other = quick(prior_variance=2.0).fit(X.iloc[shuffled], experts[shuffled])
    assert other.lower_bound_ == pytest.approx(fitted.lower_bound_, rel=1e-12)
    np.testing.assert_allclose(other.responsibilities_, fitted.responsibilities_[shuffled], atol=1e-8)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.slow
def test_order_of_features_changes_nothing(iris, fitted, seed):
    X, _, experts = iris
    shuffled = np.random.default_rng(seed).permutation(X.shape[1])
    unnamed = Groupings.from_matrix(experts.to_matrix().to_numpy())
    for given, said in ((X.iloc[:, shuffled], experts), (X.to_numpy()[:, shuffled], unnamed)):
        other = quick(prior_variance=2.0).fit(given, said)
        assert other.lower_bound_ == pytest.approx(fitted.lower_bound_, rel=1e-12)
        np.testing.assert_allclose(other.responsibilities_, fitted.responsibilities_, atol=1e-8)
        np.testing.assert_allclose(other.coef_, fitted.coef_[:, shuffled], atol=1e-8)


@pytest.mark.slow
def test_order_of_features_changes_nothing_where_they_are_selected(half_with_noise):
    X, _, experts = half_with_noise
    shuffled = np.random.default_rng(3).permutation(X.shape[1])
    a, b = (fast(n_init=1, max_clusters=6).fit(given, experts) for given in (X, X.iloc[:, shuffled]))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.features_used_[shuffled], b.features_used_)
    np.testing.assert_allclose(a.coef_[:, shuffled], b.coef_, atol=1e-8)
    assert not a.features_used_.all()  # so that the case is not that of the test before
    np.testing.assert_array_equal(a.predict(X), b.predict(X.iloc[:, shuffled]))


@pytest.mark.slow
def test_order_of_items_changes_nothing_with_auto(iris):
    X, _, experts = iris
    shuffled = np.random.default_rng(2).permutation(150)
    a, b = (
        quick(prior_variance="auto", n_init=1, max_clusters=6).fit(X.iloc[o], experts[o])
        for o in (np.arange(150), shuffled)
    )
    pd.testing.assert_frame_equal(a.prior_variance_search_, b.prior_variance_search_)
    np.testing.assert_array_equal(a.labels_[shuffled], b.labels_)


def test_names_of_labels_change_nothing(iris, fitted):
    X, _, experts = iris
    table = experts.to_matrix()
    renamed = table.replace({"positive": "no", "negative": "yes"})
    other = quick(prior_variance=2.0).fit(X, Groupings.from_matrix(renamed))
    np.testing.assert_allclose(other.responsibilities_, fitted.responsibilities_, atol=1e-8)


def test_results_do_not_depend_on_n_jobs(iris, fitted):
    X, _, experts = iris
    other = quick(prior_variance=2.0, n_jobs=2).fit(X, experts)
    np.testing.assert_array_equal(other.responsibilities_, fitted.responsibilities_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pipeline_with_cross_validate_on_a_data_frame(iris):
    X, _, experts = iris
    folds = KFold(3, shuffle=True, random_state=0)  # the flowers stand species by species
    pipeline = Pipeline([("scale", StandardScaler()), ("model", quick(n_init=2))]).set_output(transform="pandas")
    result = cross_validate(pipeline, X, experts, cv=folds, return_estimator=True, error_score="raise")
    assert (result["test_score"] > np.log(0.5)).all()  # better than guessing one of two labels
    assert result["estimator"][0][-1].n_features_in_ == 4
    search = GridSearchCV(pipeline, {"model__prior_variance": [1e-4, 1.0]}, cv=folds, error_score="raise").fit(
        X, experts
    )
    assert search.best_params_ == {"model__prior_variance": 1.0}


def test_score_is_the_mean_log_probability_of_the_labels(iris, fitted):
    X, _, experts = iris
    table, p = experts.to_matrix(), fitted.predict_proba(X)
    chance = fitted.label_probabilities_
    logs = [
        np.log(p[i] @ chance.loc[(annotator, annotator, label)].to_numpy())
        for annotator in table
        for i, label in enumerate(table[annotator])
        if not pd.isna(label)
    ]
    assert fitted.score(X, experts) == pytest.approx(np.mean(logs))


def test_predict_same(iris, fitted):
    X, _, _ = iris
    a, b = X.index[:3], X.index[[0, 60, 120]]
    same = fitted.predict_same(a, b)
    np.testing.assert_allclose(same, (fitted.responsibilities_[:3] * fitted.responsibilities_[[0, 60, 120]]).sum(1))
    assert fitted.predict_same(a[0], b[0]) == same[0]
    mine = fitted.label_probabilities_.loc["expert 1"].to_numpy()
    p = fitted.responsibilities_[[0, 60]] @ mine.T
    assert fitted.predict_same(a[0], b[1], annotator="expert 1") == pytest.approx(p[0] @ p[1])
    with pytest.raises(InputError, match="'tulip' was not fitted"):
        fitted.predict_same("tulip", a[0])
    with pytest.raises(InputError, match="Annotator 'nobody'"):
        fitted.predict_same(a[0], b[0], annotator="nobody")


@pytest.mark.slow
def test_auto_finds_a_variance_that_predicts_annotations(iris):
    X, species, experts = iris
    model = PartitionLabelModel(n_init=2, random_state=0).fit(X, experts)
    search = model.prior_variance_search_
    behind = search["log_probability"].max() - search["log_probability"]
    eligible = search[behind <= search["standard_error"]]
    assert model.prior_variance_ == eligible["prior_variance"].min()
    assert search["prior_variance"].tolist() == pytest.approx([v / 5 for v in (1, 3, 10, 30, 100)])  # 4 features and 1
    assert search["log_probability"].max() > np.log(0.5)  # better than guessing one of two labels
    assert nmi(species, model.labels_) > 0.85
    assert model.n_clusters_ == 3


@pytest.fixture(scope="module")
def with_noise(iris):
    """The flowers with 150 more features, of noise."""
    X, species, experts = iris
    noise = np.random.default_rng(0).normal(size=(150, 150))
    return X.join(pd.DataFrame(noise, index=X.index, columns=[f"noise {d}" for d in range(150)])), species, experts


@pytest.fixture(scope="module")
def half_with_noise(with_noise):
    """Every second flower, with half of the features of noise."""
    X, species, experts = with_noise
    return X.iloc[::2, :79], species[::2], experts[np.arange(0, 150, 2)]


def fast(**parameters):
    return PartitionLabelModel(**{"n_init": 2, "max_clusters": 10, "random_state": 0} | parameters)


@pytest.mark.slow
def test_features_that_annotations_do_not_depend_on_are_left_out(with_noise):
    X, species, experts = with_noise
    model = fast().fit(X, experts)
    assert model.features_used_[:4].all()
    assert model.features_used_[4:].sum() <= 4
    assert model.n_clusters_ == 3
    assert nmi(species, model.labels_) > 0.9
    assert nmi(species, model.predict(X)) > 0.8
    assert not model.coef_[:, ~model.features_used_].any()
    assert model.coef_[:, :4].all()
    search = model.feature_search_.set_index("features")
    assert search["n_features"]["all"] == 154
    assert search["n_features"]["associated"] <= model.features_used_.sum()
    lead = search["log_probability"]["associated"] - search["log_probability"]["all"]
    assert lead > 2 * search["standard_error"]["all"]
    assert model.prior_variance_ == search["prior_variance"]["associated"]
    assert model.prior_variance_ in model.prior_variance_search_["prior_variance"].to_list()
    assert model.notes_[0].startswith(f"Of the 154 features, {model.features_used_.sum()} are used")


@pytest.mark.slow
def test_features_that_few_labels_do_not_show_are_found_by_the_clusters():
    """Three features are far apart between kinds, and six a quarter as far; a third of the items have a label."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], 50)
    centre = 4 * np.eye(3)[kind]
    X = np.hstack([centre, centre / 4, centre / 4, np.zeros((150, 150))]) + rng.normal(size=(150, 159))
    said = np.where(rng.random((150, 5)) < 0.06, kind[:, None].astype(float), np.nan)
    model = fast().fit(StandardScaler().fit_transform(X), said)
    assert model.feature_search_.set_index("features")["n_features"]["associated"] <= 6
    assert model.features_used_[:9].all()
    assert model.features_used_[9:].sum() <= 4
    of_scores = model.prior_variance_ * (1 + model.features_used_.sum())  # of a typical item: features are standardised
    grid = model.prior_variance_search_["prior_variance"] / model.prior_variance_search_["prior_variance"][0]
    assert of_scores == pytest.approx(grid[(grid - of_scores).abs().idxmin()])


def test_nothing_is_chosen_where_nearly_all_features_are_associated():
    kind = np.repeat([0, 1], 10)
    X = 4 * kind[:, None] + np.random.default_rng(0).normal(size=(20, 20))
    model = fast(n_init=1, max_clusters=3, tol=1e-3).fit(X, kind[:, None])
    assert model.features_used_.all()
    assert model.feature_search_ is None
    assert model.prior_variance_search_ is not None


@pytest.mark.slow
def test_without_associated_features_the_annotations_determine_the_clusters(with_noise):
    _, species, _ = with_noise
    rng = np.random.default_rng(0)
    said = np.where(rng.random((150, 6)) < 0.9, species[:, None], rng.integers(3, size=(150, 6)))
    model = fast().fit(rng.normal(size=(150, 150)), said)
    assert not model.features_used_.any()
    np.testing.assert_array_equal(model.coef_, np.zeros((3, 150)))
    assert nmi(species, model.labels_) > 0.9
    assert model.notes_[0].startswith("None of the 150 features is associated with the annotations")


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", some_quick([{"select_features": False}, {"prior_variance": 0.1}, {"rich_get_richer": 1e-6}])
)
def test_features_are_all_used_where_they_are_not_selected(half_with_noise, setting):
    X, _, experts = half_with_noise
    model = fast(n_init=1, max_clusters=4, **setting).fit(X, experts)
    assert model.features_used_.all()
    assert model.feature_search_ is None
    assert not [note for note in model.notes_ if "features" in note]


def test_features_are_not_selected_where_they_are_few(iris):
    X, _, experts = iris
    model = fast(n_init=1, max_clusters=4).fit(X, experts)
    assert model.features_used_.all()
    assert model.feature_search_ is None


def test_without_features_the_labels_determine_the_clusters(iris):
    _, species, _ = iris
    experts = simulate_experts(species, n_annotators=20, random_state=0)
    model = quick().fit(None, experts)
    assert nmi(species, model.labels_) > 0.9
    with pytest.raises(InputError, match="fitted without features"):
        model.predict(np.zeros((3, 0)))


def test_items_without_labels_are_clustered_by_features(iris):
    X, species, experts = iris
    some = experts[np.arange(0, 150, 2)].reindex(X.index)
    model = quick().fit(X, some)
    assert len(model.labels_) == 150
    assert nmi(species[1::2], model.labels_[1::2]) > 0.8


def test_profile_and_association_follow_item_names(iris, fitted):
    X, _, _ = iris
    raw = X[::-1] * 3 + 1  # another order: matched by name
    profile = fitted.cluster_profile(raw)
    first = fitted.labels_ == 0
    expected = X[first].iloc[:, 0].mean() * 3 + 1
    assert profile.loc[0, (X.columns[0], "mean")] == pytest.approx(expected)
    assert profile.loc[0, ("items", "")] == first.sum()
    table = fitted.association(raw)
    assert (table["p_value"] < 1e-10).all()
    assert (table["adjusted_p_value"] >= table["p_value"]).all()
    with pytest.raises(InputError, match="no row for item 'flower 0', one of 10"):
        fitted.cluster_profile(X.iloc[10:])


@pytest.mark.parametrize("kind", ["matrix", "frame", "labels", "one annotator"])
def test_annotations_may_come_in_any_shape(iris, kind):
    X, species, experts = iris
    table = experts.to_matrix()
    given = {
        "matrix": table.to_numpy(dtype=object),
        "frame": table,
        "labels": Labels.from_frame(
            experts.to_frame()[["item", "annotator", "group"]].rename(columns={"group": "label"})
        ),
        "one annotator": species,
    }[kind]
    model = quick(n_init=1).fit(X, given)
    assert model.n_clusters_ >= 2


def test_starts_at_random_as_in_the_paper(iris):
    X, species, experts = iris
    model = quick(prior_variance=2.0, init="random", merge=False).fit(X, experts)
    assert nmi(species, model.labels_) > 0.9
    assert model.lower_bound_ == model.restart_bounds_.max()  # nothing was merged


def test_warns_when_it_has_not_converged(iris):
    X, _, experts = iris
    with pytest.warns(ConvergenceWarning, match="max_iter=2 sweeps"):
        quick(max_iter=2, n_init=1).fit(X, experts)


def test_an_annotator_with_one_label_is_accepted(iris):
    X, _, experts = iris
    table = experts.to_matrix()
    table["expert 11"] = "all the same"
    model = quick().fit(X, Groupings.from_matrix(table))
    assert np.isfinite(model.lower_bound_)
    assert model.annotators_.loc["expert 11", "accuracy"] == 1
    np.testing.assert_allclose(model.label_probabilities_.loc["expert 11"], 1)


def with_value(X, item, value):
    spoilt = X.copy()
    spoilt.loc[item, "sepal width (cm)"] = value
    return spoilt


BAD = {
    "no annotations": (lambda X, e: (X, None), "Give the annotations"),
    "pairs": (lambda X, e: (X, e[:5].to_pairs()), "Pairs do not contain"),
    "missing feature": (
        lambda X, e: (with_value(X, "flower 3", np.nan), e),
        r"Feature 'sepal .*' of item 'flower 3' is missing \(NaN\)",
    ),
    "infinite": (lambda X, e: (with_value(X, "flower 7", np.inf), e), "an infinity"),
    "text": (lambda X, e: (with_value(X.astype(object), "flower 2", "big"), e), "of item 'flower 2' is 'big'"),
    "no overlap": (lambda X, e: (X.set_axis(range(150)), e), "No item of the annotations"),
    "half overlap": (lambda X, e: (X.iloc[:75], e), "flower 75"),
    "item twice": (lambda X, e: (X.set_axis(["a", "a", *X.index[2:]]), e), "Item 'a' has more than one row"),
    "too few rows": (lambda X, e: (X.to_numpy()[:10], e.by_position()), "10 rows and the annotations 150 items"),
    "unnamed": (lambda X, e: (X.to_numpy(), e), r"have names \(such as 'flower 0'\), but the rows of X do not"),
    "constant": (lambda X, e: (X * 0, e), "All 4 features are constant"),
    "one item": (lambda X, e: (X.iloc[:1], e[:1]), "at least 2 items"),
    "no labels": (lambda X, e: (X, e[:0].reindex(X.index)), "None of the items has a label"),
    "one label": (lambda X, e: (X, np.ones(150)), "one label only"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_input_raises_one_sentence(iris, case):
    X, _, experts = iris
    spoil, sentence = BAD[case]
    with pytest.raises(InputError, match=sentence) as caught:
        quick().fit(*spoil(X, experts))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_clusters", 0),
        ("max_clusters", 151),
        ("max_clusters", 2.5),
        ("prior_variance", -1),
        ("prior_variance", "large"),
        ("rich_get_richer", -0.1),
        ("rich_get_richer", 1.0),  # the limit is 1 / 300
        ("diagonal_concentration", 0),
        ("off_diagonal_concentration", np.nan),
        ("n_init", 0),
        ("init", "k-means"),
        ("merge", "yes"),
        ("select_features", "yes"),
        ("max_iter", True),
        ("tol", -1),
    ],
)
def test_a_wrong_parameter_is_named(iris, name, value):
    X, _, experts = iris
    with pytest.raises(InputError, match=f"The '{name}' parameter of PartitionLabelModel must be"):
        quick(**{name: value}).fit(X, experts)


def test_clone_keeps_the_parameters():
    model = quick(max_clusters=7)
    assert clone(model).get_params() == model.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(StandardScaler(), model)


def test_pairs_are_named_with_a_remedy():
    pairs = Pairs.from_frame(pd.DataFrame({"item_a": [0], "item_b": [1], "annotator": ["a"], "same": [True]}))
    with pytest.raises(InputError, match="Give Groupings or Labels"):
        quick().fit(np.zeros((2, 1)), pairs)


def said_of(classes, n_random, rng, n_annotators=8, right=0.9):
    """Groupings by annotators who name each class and are right with one probability, the first ones at random."""
    n_classes = classes.max() + 1
    wrong = (classes[:, None] + rng.integers(1, n_classes, (len(classes), n_annotators))) % n_classes
    said = np.where(rng.random(wrong.shape) < right, classes[:, None], wrong)
    said[:, :n_random] = rng.integers(n_classes, size=(len(classes), n_random))
    return said


@pytest.mark.slow
@pytest.mark.parametrize("n_random", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
def test_people_who_sort_at_random_change_little(n_random):
    X, kind = load_wine(return_X_y=True)
    said = said_of(kind, n_random, np.random.default_rng(n_random))
    model = PartitionLabelModel(random_state=0).fit(StandardScaler().fit_transform(X), said)
    assert abs(model.n_clusters_ - 3) <= 1
    assert nmi(kind, model.labels_) >= 0.97
    of = model.annotators_
    assert of["reliability"].iloc[:n_random].max() <= 0.5
    assert of["reliability"].iloc[n_random:].min() >= 0.75
    (note,) = model.notes_
    assert note.startswith(f"{n_random} of 8 annotators sort like people who guess, and hardly count")
    assert all(f"{name} (0." in note for name in range(n_random))
    assert of["expected_accuracy"].iloc[:n_random].max() < 0.55 < 0.78 < of["expected_accuracy"].iloc[n_random:].min()


def test_with_the_papers_prior_everybody_is_reliable(iris):
    X, _, experts = iris
    model = quick(reliability="prior", prior_variance=2.0).fit(X, experts)
    assert (model.annotators_["reliability"] == 1).all()
    assert model.notes_ == []


def test_someone_without_labels_is_reliable_and_named():
    said = np.column_stack([np.repeat([0, 1], 10)] * 2 + [np.full(20, -1)])
    groupings = Groupings.from_matrix(np.where(said < 0, np.nan, said), annotators=["Ann", "Bo", "Cy"])
    model = quick().fit(None, groupings)
    assert model.annotators_["reliability"].iloc[:2].tolist() == [1, 1]
    assert list(model.annotators_.index) == list(groupings.annotators)


@pytest.mark.parametrize("seed", range(3))
def test_who_sorts_at_random_is_seen_without_features(seed):
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1, 2], 40)
    said = np.where(rng.random((120, 5)) < 0.1, rng.integers(3, size=(120, 5)), kind[:, None])
    said[:, 4] = rng.integers(3, size=120)
    groupings = Groupings.from_matrix(said, annotators=["Ann", "Bo", "Cy", "Di", "Random"])
    model = quick(max_clusters=8).fit(None, groupings)
    others = model.annotators_.drop("Random")
    assert model.annotators_.loc["Random", "reliability"] <= 0.5 < others["reliability"].min()
    assert model.annotators_.loc["Random", "expected_accuracy"] < 0.55 < others["expected_accuracy"].min()
    agreement = annotator_agreement(groupings)
    with_others = (agreement.sum() - 1) / 4
    assert with_others.drop("Random").min() > 0.4
    assert abs(with_others["Random"]) < 0.1
