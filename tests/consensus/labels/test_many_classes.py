"""Sparse tables of annotators and classes tell what dense ones do."""

import numpy as np
import pandas as pd
import pytest

import consilience
from consilience import Labels
from consilience.analysis.certainty import certainty
from consilience.consensus import DawidSkene, MajorityVote
from consilience.estimators.annotator_tables import cells_with_labels
from consilience.inference import sparse_tables
from consilience.semisupervised import DawidSkeneClassifier
from consilience.semisupervised.dawid_skene_classifier import depths_for
from tests.quick_cases import some_quick

N_CLASSES = 12
MODELS = {
    "vote": MajorityVote(),
    "one-coin": DawidSkene("one-coin"),
    "one-coin, maximum likelihood": DawidSkene("one-coin", prior=None),
    "full": DawidSkene(subtypes=1),
    "full, maximum likelihood": DawidSkene(prior=None),
}
# Full ones leave out classes of an item that are less probable than a millionth. To maximum likelihood, which imagines
# a millionth of a label, such labels are many.
TOLERANCE = {"full": 2e-5, "full, maximum likelihood": 1e-2}


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(0)
    true = rng.integers(N_CLASSES - 1, size=150)
    said = np.where(rng.random((150, 9)) < 0.6, true[:, None], rng.integers(N_CLASSES, size=(150, 9))).astype(object)
    said[rng.random(said.shape) < 0.3] = None
    said[:, 7] = said[:, 6]  # a copy
    said[::2, 8], said[1::2, 8] = 3, None  # gives one label to everything
    return Labels.from_matrix(said)


@pytest.fixture
def sparse(monkeypatch):
    def of(model, labels, **given):
        with monkeypatch.context() as patch:
            patch.setattr(sparse_tables, "DENSE_CELLS", 0)
            patch.setattr(sparse_tables, "CELLS_PER_LABEL", 0)
            return model.fit(labels, **given)

    return of


def fits(name, labels, sparse, **given):
    dense = consilience.consensus.__dict__[type(MODELS[name]).__name__](**MODELS[name].get_params())
    other = type(dense)(**dense.get_params())
    return dense.fit(labels, **given), sparse(other, labels, **given)


def assert_frames_are_close(one, other, rtol):
    pd.testing.assert_frame_equal(one, other, rtol=rtol, atol=2e-5, check_dtype=False)


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_gold", some_quick([True, False]))
def test_sparse_tables_tell_the_same(name, with_gold, labels, sparse, tmp_path):
    given = {"gold": pd.Series([2, 5, 7], [0, 3, 4])} if with_gold else {}
    dense, other = fits(name, labels, sparse, **given)
    assert not any(table in vars(other) for table in ("confusion_matrices_", "confusion_counts_"))
    close = {"rtol": 1e-9, "atol": 1e-12} if name not in TOLERANCE else {"rtol": 0, "atol": TOLERANCE[name]}
    np.testing.assert_allclose(other.responsibilities_, dense.responsibilities_, **close)
    assert other.labels_.tolist() == dense.labels_.tolist()
    for table in ("annotators_", "confusion_matrices_", "confusion_counts_"):
        assert hasattr(other, table) == hasattr(dense, table)
        if hasattr(dense, table):
            assert_frames_are_close(
                getattr(other, table), getattr(dense, table), 1e-9 if name not in TOLERANCE else 1e-4
            )
    path = tmp_path / "model.zip"
    consilience.save(other, path)
    for model in (other, consilience.load(path)):
        new = Labels.from_frame(pd.DataFrame({"item": [0, 0, 1], "annotator": [2, "new", 5], "label": [4, 4, 1]}))
        np.testing.assert_allclose(model.predict_proba(new), dense.predict_proba(new), **close)
        assert model.score(new) == pytest.approx(dense.score(new), rel=1e-9 if name not in TOLERANCE else 1e-4)
        for annotator in (None, 2):
            same = [one.predict_same([0, 2], [1, 3], annotator=annotator) for one in (model, dense)]
            np.testing.assert_allclose(*same, **close)


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
def test_a_new_fit_forgets_the_tables_of_the_last(labels, sparse):
    model = sparse(DawidSkene("one-coin"), labels)
    sparse_ones = {"_sparse_matrices", "_sparse_counts"}
    assert sparse_ones <= set(vars(model))
    assert not sparse_ones & set(vars(model.fit(labels)))
    assert not {"confusion_matrices_", "confusion_counts_"} & set(vars(sparse(model, labels)))


def test_models_without_tables_are_not_fitted():
    assert not hasattr(MajorityVote(), "confusion_matrices_")
    assert not hasattr(DawidSkene(), "confusion_counts_")


def test_many_classes_need_no_table_of_all():
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(2000), 3)
    label = np.where(rng.random(len(item)) < 0.7, item // 2, rng.integers(1000, size=len(item)))
    frame = pd.DataFrame({"item": item, "annotator": rng.integers(500, size=len(item))})
    frame["label"] = np.char.add("class ", label.astype(str))
    frame = frame.drop_duplicates(["item", "annotator"])
    for model in (
        MajorityVote(copies=None),
        DawidSkene("one-coin", calibrate=False, copies=None),
    ):
        model.fit(frame)  # its table of all would have 500,000,000 cells
        assert len(model.annotators_) == 500


def large_crowd(seed=0):
    """A crowd of 40 annotators and 120 classes, whose full matrices are sparse."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(360), 4)
    annotator = np.concatenate([rng.choice(40, 4, replace=False) for _ in range(360)])
    label = np.where(rng.random(len(item)) < 0.7, item % 120, rng.integers(120, size=len(item)))
    return Labels.from_frame(
        pd.DataFrame({"item": item, "annotator": annotator, "label": [f"class {each}" for each in label]})
    )


def test_full_matrices_of_many_classes_are_sparse():
    labels = large_crowd()
    model = DawidSkene(calibrate=False).fit(labels)
    assert "_sparse_matrices" in vars(model)
    assert model.n_subtypes_ == 1
    assert (np.diff(model.lower_bounds_) >= 0).all()
    assert np.mean([name == f"class {int(item) % 120}" for item, name in model.labels_series_.items()]) > 0.93
    rows = model._sparse_matrices.to_dense().sum(1)
    np.testing.assert_allclose(rows, 1.0, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
def test_people_of_a_sparse_model_are_weighed_as_those_of_a_dense_one(labels, sparse):
    model, labels = DawidSkene(subtypes=1, copies=None, calibrate=False), labels.restrict(annotators=range(6))
    stays = [
        certainty(fitted, labels, n_draws=5, random_state=0).items["stays"]
        for fitted in (model.fit(labels), sparse(DawidSkene(**model.get_params()), labels))
    ]
    assert (stays[0] == stays[1]).mean() > 0.98  # a draw at the edge of a probability may differ
    assert stays[0].between(0.01, 0.99).any()


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
def test_cells_with_labels_are_listed(labels, sparse):
    model = sparse(DawidSkene(subtypes=1, copies=None), labels)
    cells = cells_with_labels(model)
    matrices, counts = model.confusion_matrices_, model.confusion_counts_
    row = matrices.index.get_indexer(pd.MultiIndex.from_frame(cells[["annotator", "class"]]))
    column = matrices.columns.get_indexer(cells["label"])
    np.testing.assert_allclose(cells["probability"], matrices.to_numpy()[row, column])
    np.testing.assert_allclose(cells["n_labels"], counts.to_numpy()[row, column])
    assert cells["n_labels"].sum() == pytest.approx(counts.to_numpy().sum(), rel=1e-3)
    assert cells["n_labels"].min() >= 1e-3
    votes = cells_with_labels(sparse(MajorityVote(), labels))
    assert votes.columns.tolist() == ["annotator", "class", "label", "probability"]
    assert cells_with_labels(MajorityVote().fit(labels)) is None


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("tell", [False, True])
def test_features_go_with_sparse_tables(tell, labels, sparse, tmp_path):
    consensus = DawidSkene(subtypes=1, copies=None)
    codes = np.unique(consensus.fit(labels).labels_, return_inverse=True)[1]
    X = np.random.default_rng(0).normal(size=(150, N_CLASSES)) + 2 * tell * np.eye(N_CLASSES)[codes]
    X = pd.DataFrame(X, labels.items)
    dense = DawidSkeneClassifier(consensus=consensus, random_state=0).fit(X, labels)
    other = sparse(DawidSkeneClassifier(consensus=consensus, random_state=0), X, y=labels)
    assert dense.uses_features_ == other.uses_features_ == tell
    assert "confusion_matrices_" not in vars(other)
    consilience.save(other, tmp_path / "model.zip")
    for model in (other, consilience.load(tmp_path / "model.zip")):
        np.testing.assert_allclose(model.responsibilities_, dense.responsibilities_, atol=1e-3)
        assert_frames_are_close(model.annotators_, dense.annotators_, 1e-3)
        assert_frames_are_close(model.confusion_matrices_, dense.confusion_matrices_, 1e-2)
        assert model.score(X, labels) == pytest.approx(dense.score(X, labels), rel=1e-3)


def test_of_many_items_and_classes_only_the_first_depth_is_tried():
    assert depths_for(1000) == (1, 2, 3)
    assert depths_for(1_000_000) == (1,)
