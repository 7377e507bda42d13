"""Any consensus with any classifier: the two parts by hand, items without annotations, class names."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from consilience import Groupings, Labels, Pairs
from consilience.consensus import DawidSkene, MajorityVote, SubsetFusion
from consilience.consensus.groupings.cspa_estimator import CSPA
from consilience.consensus.groupings.kcc_estimator import KCC
from consilience.consensus.groupings.meta_clustering_estimator import MetaClustering
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.semisupervised.inductive_consensus_estimator import InductiveConsensus
from consilience.simulation import simulate_experts, simulate_labels

X, SPECIES = load_iris(return_X_y=True)
ANNOTATED, NEW = np.arange(0, 150, 2), np.arange(1, 150, 2)


@pytest.fixture(scope="module")
def experts():
    return simulate_experts(SPECIES, random_state=0)


@pytest.fixture(scope="module")
def partial(experts):
    """Every other item annotated."""
    return experts[ANNOTATED].reindex(experts.items)


@pytest.fixture(scope="module")
def model(partial):
    return InductiveConsensus(KCC(3), random_state=0).fit(X, partial)


@pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")  # KCC alone has no features
def test_equals_consensus_followed_by_classifier(partial):
    """The consensus of the annotated items, and the classifier trained on it by hand."""
    kcc, classifier = KCC(3, random_state=1), DecisionTreeClassifier(random_state=2)
    model = InductiveConsensus(kcc, classifier).fit(X, partial)
    alone = clone(kcc).fit(partial)
    np.testing.assert_array_equal(model.labels_[ANNOTATED], alone.labels_[ANNOTATED])
    tree = clone(classifier).fit(X[ANNOTATED], alone.labels_[ANNOTATED])
    np.testing.assert_array_equal(model.labels_[NEW], tree.predict(X[NEW]))
    np.testing.assert_array_equal(model.predict(X), tree.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
    np.testing.assert_array_equal(model.responsibilities_[ANNOTATED], alone.responsibilities_[ANNOTATED])
    np.testing.assert_array_equal(model.responsibilities_[NEW], tree.predict_proba(X[NEW]))
    pd.testing.assert_frame_equal(model.annotators_, alone.annotators_)
    assert not hasattr(kcc, "labels_")
    assert not hasattr(classifier, "tree_")


@pytest.mark.parametrize(
    "consensus",
    [
        KCC(3, utility="entropy"),
        CSPA(3),
        MetaClustering(3, n_views=1),
        SubsetFusion(3, refine=False),
    ],
    ids=lambda consensus: type(consensus).__name__,
)
@pytest.mark.parametrize("classifier", [None, KNeighborsClassifier(5)], ids=["default", "neighbours"])
def test_any_consensus_with_any_classifier_finds_the_species(consensus, classifier, partial):
    model = InductiveConsensus(consensus, classifier, random_state=0).fit(X, partial)
    assert model.n_clusters_ == 3
    assert nmi(SPECIES[ANNOTATED], model.labels_[ANNOTATED]) > 0.8
    assert nmi(SPECIES[NEW], model.labels_[NEW]) > 0.7  # of the classifier; with the true classes it is 0.8 to 0.9


def test_default_classifier_is_logistic_regression_on_standardised_features():
    found = InductiveConsensus(KCC(3), random_state=0).fit(X, Groupings.from_matrix(SPECIES))
    assert nmi(SPECIES, found.labels_) == pytest.approx(1)
    by_hand = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, found.labels_)
    np.testing.assert_allclose(found.predict_proba(X), by_hand.predict_proba(X))


@pytest.mark.parametrize(
    "consensus", [DawidSkene(calibrate=False, tol=1e-12), MajorityVote()], ids=["DawidSkene", "MajorityVote"]
)
@pytest.mark.slow
def test_models_of_labels_predict_class_names(consensus):
    names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
    items = [f"flower {i}" for i in range(150)]
    labels = simulate_labels(names, items=items, n_annotators=8, accuracy=0.9, annotators_per_item=4, random_state=0)[
        ANNOTATED
    ]
    features = pd.DataFrame(X, index=items)
    model = InductiveConsensus(consensus, random_state=0).fit(features, labels)
    assert model.labels_.shape == (150,)
    assert (model.labels_ == names).mean() > 0.9
    assert (model.predict(features) == names).mean() > 0.9
    alone = clone(consensus).fit(labels)
    np.testing.assert_array_equal(model.labels_[ANNOTATED], alone.labels_)
    # shares of classes are learned up to a tolerance, and items without labels count in them
    np.testing.assert_allclose(model.responsibilities_[ANNOTATED], alone.responsibilities_, atol=1e-5)
    np.testing.assert_array_equal(model.labels_, alone.classes_[model._cluster_codes()])
    assert model.cluster_profile(features).index.tolist() == ["setosa", "versicolor", "virginica"]
    with pytest.raises(InputError, match=r"reads Labels, whose names mean the same to all annotators\. Got Groupings"):
        InductiveConsensus(consensus).fit(features, labels.to_groupings())


def test_a_matrix_of_labels_is_read_as_the_consensus_reads_it():
    said = [["b", "b"], ["b", None], ["a", "a"], ["a", "a"], [None, None]]
    features = np.array([[0.0], [0.1], [5.0], [5.1], [4.9]])
    assert InductiveConsensus(MajorityVote()).fit(features, said).labels_.tolist() == ["b", "b", "a", "a", "a"]
    clusters = InductiveConsensus(CSPA(2, random_state=0)).fit(features, said).labels_
    assert clusters[0] == clusters[1] != clusters[2] == clusters[3] == clusters[4]  # two as large, before the last item
    frame = pd.DataFrame(said, index=list("pqrst"))
    by_name = pd.DataFrame(features, index=list("pqrst")).iloc[::-1]
    model = InductiveConsensus(MajorityVote()).fit(by_name, frame)
    assert model.labels_.tolist() == ["a", "a", "a", "b", "b"]
    assert model.items_.tolist() == list("tsrqp")


def test_aligns_features_and_annotations_by_name(model, partial):
    names = [f"i{i}" for i in range(150)]
    place = np.random.default_rng(0).permutation(150)
    named = Groupings.from_frame(partial.to_frame().assign(item=lambda rows: "i" + rows["item"].astype(str)))
    found = InductiveConsensus(KCC(3), random_state=0).fit(pd.DataFrame(X, index=names).iloc[place], named)
    assert found.items_.tolist() == [names[i] for i in place]
    assert nmi(model.labels_[place], found.labels_) > 0.9  # the order of other names: k-means draws anew


def test_order_of_items_changes_nothing(model, partial):
    place = np.random.default_rng(1).permutation(150)
    moved = InductiveConsensus(KCC(3), random_state=0).fit(X[place], partial[place])
    np.testing.assert_array_equal(moved.labels_, model.labels_[place])
    np.testing.assert_allclose(moved.responsibilities_, model.responsibilities_[place], atol=1e-4)  # of lbfgs


def test_a_class_without_items_has_a_column_of_zeros():
    labels = Labels.from_frame(
        pd.DataFrame({"item": [0, 1, 2, 3], "annotator": "u", "label": list("aacc")}),
        items=range(5),
        classes=["a", "b", "c"],
    )
    features = np.array([[0.0], [0.1], [5.0], [5.1], [4.9]])
    model = InductiveConsensus(MajorityVote(), KNeighborsClassifier(1)).fit(features, labels)
    assert model.labels_.tolist() == list("aaccc")
    assert model.predict_proba([[5.0]]).tolist() == [[0.0, 0.0, 1.0]]
    assert model.responsibilities_[4].tolist() == [0.0, 0.0, 1.0]


def test_one_cluster_needs_no_classifier():
    model = InductiveConsensus(CSPA(1, random_state=0)).fit([[0.0], [1.0], [2.0]], [["a"], ["a"], [None]])
    assert model.labels_.tolist() == [0, 0, 0]
    assert model.predict([[5.0]]).tolist() == [0]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_classifiers_without_probabilities(partial):
    model = InductiveConsensus(KCC(3), LinearSVC(), random_state=0).fit(X, partial)
    assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.responsibilities_, np.eye(3)[model.labels_])
    assert hasattr(InductiveConsensus(KCC(3)), "predict_proba")


def test_predict_same(model):
    items = list(model.items_)
    same = model.predict_same(items[:75], items[75:])
    np.testing.assert_allclose(same, (model.responsibilities_[:75] * model.responsibilities_[75:]).sum(1))
    assert model.predict_same(items[1], items[3]) == pytest.approx(
        model.responsibilities_[1] @ model.responsibilities_[3]
    )
    annotator = model.annotators_.index[0]
    expected = model.consensus_.predict_same(items[0], items[2], annotator=annotator)
    assert model.predict_same(items[0], items[2], annotator=annotator) == expected
    with pytest.raises(InputError, match="Annotator 'x' was not fitted"):
        model.predict_same(items[0], items[2], annotator="x")


def test_random_state_seeds_the_parts_without_one(partial):
    tree = DecisionTreeClassifier(max_features=1)
    one, two, other = (InductiveConsensus(KCC(3), tree, random_state=seed).fit(X, partial) for seed in (4, 4, 5))
    assert one.consensus_.random_state == two.consensus_.random_state != other.consensus_.random_state
    np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)
    kept = InductiveConsensus(KCC(3, random_state=9), tree, random_state=4).fit(X, partial)
    assert kept.consensus_.random_state == 9
    assert tree.random_state is None


def test_works_with_scikit_learns_tools(model, experts):
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    inner = InductiveConsensus(KCC(2, random_state=0), random_state=0).set_params(consensus__n_clusters=3)
    assert make_pipeline(StandardScaler(), inner).fit(X, experts)[-1].n_clusters_ == 3

    def agreement(estimator, features, annotations):
        return nmi(SPECIES[annotations.items.to_numpy(int)], estimator.predict(features))

    search = GridSearchCV(inner, {"consensus__n_clusters": [1, 3]}, scoring=agreement, cv=2)
    order = np.random.default_rng(0).permutation(150)
    search.fit(X[order], experts[order])
    assert search.best_params_ == {"consensus__n_clusters": 3}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"consensus": None}, "'consensus' parameter of InductiveConsensus must be an estimator .* Got None instead"),
        ({"consensus": LogisticRegression()}, "that needs no features, such as KCC.5.. Got LogisticRegression"),
        ({"consensus": PartitionLabelModel()}, "that needs no features, such as KCC.5.. Got PartitionLabelModel"),
        (
            {"classifier": 3},
            "'classifier' parameter of InductiveConsensus must be None or a scikit-learn classifier. Got 3 instead",
        ),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        InductiveConsensus(**({"consensus": CSPA(1)} | parameters)).fit([[0.0], [1.0]], [["a"], ["b"]])


def test_unreadable_input_raises(partial):
    with pytest.raises(InputError, match="requires y to be passed"):
        InductiveConsensus(CSPA(2)).fit(X)
    with pytest.raises(InputError, match=r"Feature .* is missing \(NaN\), one of 150 such values"):
        InductiveConsensus(CSPA(2)).fit(np.full((150, 1), np.nan), partial)
    pairs = Pairs.from_frame(
        pd.DataFrame({"item_a": [0], "item_b": [1], "annotator": "u", "same": True}), items=range(2)
    )
    for consensus in (CSPA(2), MajorityVote()):
        with pytest.raises(InputError, match="Pairs"):
            InductiveConsensus(consensus).fit([[0.0], [1.0]], pairs)
    with pytest.raises(NotFittedError):
        InductiveConsensus(CSPA(2)).predict(X)
