"""Models that are told their number of clusters, and the score by which scikit-learn chooses it."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels, registry
from consilience.consensus import CSPA, KCC, Crowdclustering, DawidSkene, MajorityVote, ProductMixture, SubsetFusion
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.scoring import rates, rates_of_table
from consilience.semisupervised import (
    MCVC,
    MECC,
    InductiveConsensus,
    ITMLClustering,
    MPCKMeans,
    PartitionLabelModel,
    SemiCrowd,
)
from consilience.simulation import simulate_pairs
from tests.quick_cases import quick_in_turn

KIND = np.random.default_rng(0).permutation(np.arange(90) % 3)
NAMES = [f"item {i}" for i in range(90)]
CORNERS = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
X = pd.DataFrame(CORNERS[KIND] + np.random.default_rng(1).normal(size=(90, 2)), index=NAMES, columns=["x", "y"])
FOLDS = KFold(3, shuffle=True, random_state=0)


def said(n_annotators=5, wrong=0.1, seed=2):
    rng = np.random.default_rng(seed)
    slips = rng.random((90, n_annotators)) < wrong
    return np.where(slips, rng.integers(3, size=(90, n_annotators)), KIND[:, None])


GROUPINGS = Groupings.from_matrix(said(), items=NAMES)
LABELS = Labels.from_matrix(said(), items=NAMES)
PAIRS = simulate_pairs(pd.Series(KIND, index=NAMES), 3, 300, 0.95, random_state=0)


@pytest.mark.parametrize("known", registry.ESTIMATORS.values(), ids=lambda known: known.name)
def test_the_number_of_clusters_has_one_name(known):
    parameters = inspect.signature(known.load()).parameters
    assert known.clusters in (None, "n_clusters")
    if known.clusters is None:  # classes have names of their own, or another model knows
        assert known.reads == ("labels",) or known.name == "InductiveConsensus"
    else:
        assert next(iter(parameters)) == "n_clusters"


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("merge", [True, False])
def test_partition_labels_with_a_number(number, merge):
    model = PartitionLabelModel(number, prior_variance=1.0, merge=merge, n_init=2, random_state=0).fit(X, GROUPINGS)
    assert model.n_clusters_ == number
    assert model.lower_bounds_[-1] == model.lower_bound_
    if number == 3:
        assert len(set(zip(model.labels_, KIND))) == 3


def test_partition_labels_where_fewer_can_be_told_apart():
    with pytest.warns(AnnotationWarning, match=r"^PartitionLabelModel found . clusters instead of the 30 requested"):
        model = PartitionLabelModel(30, prior_variance=1.0, n_init=1, random_state=0).fit(X, GROUPINGS)
    assert 3 <= model.n_clusters_ < 30


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"n_clusters": 0},
            "^The 'n_clusters' parameter of PartitionLabelModel must be 'auto' or a positive int. Got 0",
        ),
        ({"n_clusters": "many"}, "must be 'auto' or a positive int. Got 'many'"),
        ({"n_clusters": 91}, "must be at most the number of items, 90 .* Got 91 instead"),
        ({"n_clusters": 6, "max_clusters": 5}, "must be at most max_clusters, 5 .* Got 6 instead"),
    ],
)
def test_no_number_for_partition_labels(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        PartitionLabelModel(prior_variance=1.0, **parameters).fit(X, GROUPINGS)


@pytest.mark.parametrize("number", [2, 3])
def test_crowdclustering_with_a_number(number):
    model = Crowdclustering(number, n_init=1, random_state=0).fit(PAIRS)
    assert model.n_clusters_ == number


def test_crowdclustering_where_fewer_can_be_told_apart():
    with pytest.warns(AnnotationWarning, match=r"^Crowdclustering found . clusters instead of the 9 requested"):
        assert Crowdclustering(9, n_init=1, random_state=0).fit(PAIRS).n_clusters_ < 9
    with pytest.raises(InputError, match=r"must be at most the number of items, 90. Got 91 instead"):
        Crowdclustering(91).fit(PAIRS)


FEATURES = {
    "PartitionLabelModel": PartitionLabelModel(max_clusters=8, prior_variance=1.0, n_init=1, random_state=0),
    "MPCKMeans": MPCKMeans(random_state=0),
    "ITMLClustering": ITMLClustering(max_pairs=600, n_init=3, random_state=0),
    "SemiCrowd": SemiCrowd(random_state=0),
}


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("name", quick_in_turn(FEATURES, 1))
def test_a_search_finds_the_number_by_features(name):
    search = GridSearchCV(FEATURES[name], {"n_clusters": [2, 3, 5]}, cv=FOLDS).fit(X, GROUPINGS)
    assert search.best_params_ == {"n_clusters": 3}


def test_a_search_finds_the_number_of_a_consensus_in_a_pipeline():
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), InductiveConsensus(KCC(), LogisticRegression(), random_state=0)
    )
    grid = {"inductiveconsensus__consensus__n_clusters": [2, 3, 5]}
    search = GridSearchCV(pipeline, grid, cv=FOLDS).fit(X, GROUPINGS)
    assert list(search.best_params_.values()) == [3]


def test_a_search_finds_the_number_by_what_people_said():
    search = GridSearchCV(KCC(random_state=0), {"n_clusters": [2, 3, 5]}, cv=FOLDS).fit(GROUPINGS)
    assert search.best_params_ == {"n_clusters": 3}
    mixture = GridSearchCV(ProductMixture(random_state=0), {"n_clusters": [1, 2, 3]}, cv=FOLDS).fit(LABELS)
    assert mixture.best_params_ == {"n_clusters": 3}


VIEWS = {"MECC": MECC(3, n_init=2, random_state=0), "MCVC": MCVC(3, n_init=3, random_state=0)}


@pytest.mark.parametrize(
    ("name", "annotations"),
    [
        pytest.param("MECC", PAIRS, id="MECC-pairs"),
        pytest.param("MCVC", GROUPINGS, id="MCVC-groupings"),
        pytest.param("MECC", GROUPINGS, id="MECC-groupings", marks=pytest.mark.slow),
        pytest.param("MCVC", PAIRS, id="MCVC-pairs", marks=pytest.mark.slow),
    ],
)
def test_views_foresee_better_than_guesses(name, annotations):
    scores = cross_val_score(VIEWS[name], X, annotations, cv=FOLDS)
    assert (scores > -0.6365).all()  # what a third and two thirds cost: the shares of "same" and "apart"


def test_score_of_judgements_by_hand():
    model = MPCKMeans(3, random_state=0).fit(X, GROUPINGS)
    few = [0, 1, 2, 3]
    cluster, answers = model.predict(X.iloc[few]), said()[few]
    total = []
    for annotator in range(5):
        own = model.annotators_.loc[annotator]
        for a in range(4):
            for b in range(a):
                same = own["sensitivity"] if cluster[a] == cluster[b] else 1 - own["specificity"]
                probability = same if answers[a, annotator] == answers[b, annotator] else 1 - same
                total.append(np.log(np.clip(probability, 0.01, 0.99)))
    assert model.score(X.iloc[few], GROUPINGS[few]) == pytest.approx(np.mean(total))


def test_an_annotator_who_was_not_fitted_is_foreseen_as_the_crowd():
    model = MPCKMeans(3, random_state=0).fit(X, GROUPINGS)
    stranger = Groupings.from_matrix(KIND[:, None], items=NAMES, annotators=["stranger"])
    within, across = rates_of_table(model.annotators_)[-1]
    together = model.predict(X)[:, None] == model.predict(X)
    same, pairs = KIND[:, None] == KIND, np.triu_indices(90, 1)
    probability = np.where(together, within, across)
    expected = np.log(np.where(same, probability, 1 - probability))[pairs].mean()
    assert model.score(X, stranger) == pytest.approx(expected)


def test_rates_of_annotators_who_judged_nothing_are_the_crowds():
    more = Groupings.from_matrix(np.column_stack([said(), [None] * 90]), items=NAMES)
    found = rates(more, np.eye(3)[KIND])
    np.testing.assert_allclose(found[5], found[6])
    assert (found[:, 0] > 0.7).all()
    assert (found[:, 1] < 0.2).all()
    with pytest.raises(InputError, match=r"^The model was fitted without annotations"):
        rates_of_table(pd.DataFrame())


def test_nothing_to_score():
    model = MPCKMeans(3, random_state=0).fit(X, GROUPINGS)
    with pytest.raises(InputError, match=r"^No two of these items were judged"):
        model.score(X.iloc[:1], GROUPINGS[:1])


def test_score_of_labels_by_hand():
    model = DawidSkene().fit(LABELS[:80])
    size = model.responsibilities_.sum(0) + 1
    matrices = model.confusion_matrices_.to_numpy().reshape(5, 3, 3)
    logs = [
        logsumexp(np.log(size / size.sum()) + sum(np.log(matrices[a][:, label]) for a, label in enumerate(row)))
        for row in said()[80:]
    ]
    assert model.score(LABELS[80:]) == pytest.approx(np.sum(logs) / 50)
    shuffled = Labels.from_matrix(np.random.default_rng(0).permutation(said()[80:], axis=1), items=NAMES[80:])
    nonsense = Labels.from_matrix(np.random.default_rng(0).integers(3, size=(10, 5)), items=NAMES[80:])
    assert model.score(nonsense) < model.score(shuffled)
    with pytest.raises(InputError, match=r"was not fitted"):
        model.score(Labels.from_matrix([["new"] * 5]))


def test_models_of_labels_can_be_compared_by_score():
    better, worse = DawidSkene(), MajorityVote()
    assert cross_val_score(better, LABELS, cv=FOLDS).shape == (3,)
    assert np.isfinite(cross_val_score(worse, LABELS, cv=FOLDS)).all()


def test_score_of_groups_by_hand():
    model = KCC(3, random_state=0).fit(GROUPINGS[:80])
    rows, table = [], model._table.reshape(5, 3, 3)  # annotators, groups in order of appearance, clusters
    names = model.centroids_.index.get_level_values("group").to_numpy().reshape(5, 3)
    for answers in said()[80:]:
        codes = [int(np.flatnonzero(names[a] == answer)[0]) for a, answer in enumerate(answers)]
        for a, code in enumerate(codes):
            others = sum(table[b, other] for b, other in enumerate(codes) if b != a)
            cluster = int(np.argmin(others))
            mine = model.labels_ == cluster
            groups = said()[:80][:, a]
            habit = ((groups == names[a, code]).sum() + 1) / (80 + 3)
            rows.append(np.log(((groups[mine] == names[a, code]).sum() + 2 * habit) / (mine.sum() + 2)))
    assert model.score(GROUPINGS[80:]) == pytest.approx(np.mean(rows))


def test_an_item_of_one_group_may_be_of_any_cluster():
    model = KCC(3, random_state=0).fit(GROUPINGS)
    one = GROUPINGS.restrict(items=NAMES[:1], annotators=[0])
    group = said()[0, 0]
    share = model._expected_shares[model.centroids_.index.get_loc((0, 0, group))]
    assert model.score(one) == pytest.approx(np.log(share @ np.bincount(model.labels_) / 90))


@pytest.mark.parametrize("model", [SubsetFusion(), CSPA()], ids=str)
def test_models_that_place_no_new_items_name_what_compares_them(model):
    assert not hasattr(model, "score")
    with pytest.raises(AttributeError, match=f"^{type(model).__name__} cannot place new items.*selection.compare"):
        _ = model.score
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'"):
        _ = model.nothing


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("model", [SubsetFusion(3, random_state=0), CSPA(3)], ids=lambda model: type(model).__name__)
def test_models_that_place_no_new_items_name_what_predicts(model, method):
    name = type(model).__name__
    sentence = rf"^{name} cannot place new items, so it has no {method};.* InductiveConsensus\({name}\(\), classifier\)"
    for asked in (model, model.fit(GROUPINGS)):
        assert not hasattr(asked, method)
        with pytest.raises(AttributeError, match=sentence) as refused:
            getattr(asked, method)
        assert "PartitionLabelModel" in str(refused.value)


def test_a_model_that_places_new_items_is_not_said_to_place_none():
    with pytest.raises(AttributeError, match=r"^'KCC' object has no attribute 'predict_proba'"):
        _ = KCC(3).predict_proba


@pytest.mark.parametrize("known", registry.ESTIMATORS.values(), ids=lambda known: known.name)
def test_every_model_that_predicts_scores(known):
    found = known.load()
    assert hasattr(found, "score") == hasattr(found, "predict")
