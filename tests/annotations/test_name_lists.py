"""Lists of names: one name, a dict, a set, a table or a mask instead of one; and items as an index."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels
from consilience.annotations.name_lists import list_names
from consilience.consensus import KCC, DawidSkene, SubsetFusion
from consilience.errors import AnnotationError, InputError
from consilience.semisupervised import MCVC, MPCKMeans, PartitionLabelModel

NAMES = [f"card {i}" for i in range(6)]
SAID = np.array([["p", "x"], ["p", "x"], ["p", "y"], ["q", "y"], ["q", "z"], ["q", "z"]])
GROUPINGS = Groupings.from_matrix(SAID, items=NAMES, annotators=["ann0", "ann1"])
LABELS = Labels.from_matrix(SAID[:, [0, 0]], items=NAMES, annotators=["ann0", "ann1"])
ALL = [GROUPINGS, LABELS, GROUPINGS.to_pairs()]
KINDS = [type(annotations).__name__ for annotations in ALL]
X = pd.DataFrame({"size": np.arange(6.0), "weight": np.arange(6.0) ** 2}, index=NAMES)


@pytest.mark.parametrize("annotations", ALL, ids=KINDS)
def test_one_name_is_a_list_of_one(annotations):
    assert annotations.restrict(annotators="ann0") == annotations.restrict(annotators=["ann0"])
    assert annotations.restrict(items="card 3") == annotations.restrict(items=["card 3"])
    assert list_names(3, "items") == [3]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"card 3": 1}, "^'items' must be a list of names. Got a dict instead. Give a list of its keys"),
        ({"card 3"}, "^'items' must be a list of names. Got a set instead. A set has no order"),
        (X, "^'items' must be a list of names. Got a DataFrame instead. Give its index or one of its columns"),
        (np.arange(6) < 3, "^'items' must be a list of names. Got a mask instead; use it as an index"),
    ],
    ids=["dict", "set", "table", "mask"],
)
@pytest.mark.parametrize("annotations", ALL, ids=KINDS)
def test_things_that_are_not_lists_of_names(annotations, names, sentence):
    for method in (lambda: annotations.restrict(items=names), lambda: annotations.reindex(names)):
        with pytest.raises(AnnotationError, match=sentence):
            method()


@pytest.mark.parametrize("what", ["items", "annotators"])
def test_a_text_is_not_a_list_of_its_letters(what):
    with pytest.raises(AnnotationError, match=f"^'{what}' must be a list of names. Got the text 'pq' instead"):
        Groupings.from_matrix([["a", "b"], ["c", "d"]], **{what: "pq"})
    with pytest.raises(AnnotationError, match=r"^'classes' must be a list of names. Got the text 'ab'"):
        Labels.from_matrix([["a"], ["b"]], classes="ab")


@pytest.mark.parametrize("key", ["card 3", ["card 3", "card 4"], np.array(["card 3"]), 1.5, None])
@pytest.mark.parametrize("annotations", ALL, ids=KINDS)
def test_names_are_not_an_index(annotations, key):
    with pytest.raises(AnnotationError, match=r"^Annotations are indexed by the positions of items.*use restrict"):
        annotations[key]


@pytest.mark.parametrize("annotations", ALL, ids=KINDS)
def test_masks(annotations):
    first = annotations[:2]
    mask = pd.Series([True, True, False, False, False, False], index=NAMES)
    assert annotations[mask.to_numpy()] == first
    assert annotations[mask] == first
    assert annotations[mask.iloc[::-1]] == first
    assert annotations[mask.reset_index(drop=True)] == first
    with pytest.raises(AnnotationError, match=r"^A mask needs one entry for each of 6 items. Got shape \(2,\)"):
        annotations[np.array([True, False])]
    with pytest.raises(AnnotationError, match=r"^The index of the mask does not match the items"):
        annotations[mask.set_axis(range(6, 0, -1))]


@pytest.mark.parametrize("annotations", ALL, ids=KINDS)
def test_annotations_contain_items(annotations):
    assert "card 3" in annotations
    assert "ann0" not in annotations
    assert len(list(annotations)) == 6  # iteration ends, as scikit-learn's y does


@pytest.mark.parametrize(
    "model", [PartitionLabelModel(), MPCKMeans(2), MCVC(2)], ids=lambda model: type(model).__name__
)
def test_features_come_first(model):
    for arguments in ((GROUPINGS, X), (GROUPINGS,)):
        with pytest.raises(InputError, match=f"^{type(model).__name__} takes features first.*Got Groupings first"):
            model.fit(*arguments)


@pytest.mark.parametrize(
    "first", [StandardScaler(), make_column_transformer((StandardScaler(), ["size"]))], ids=["scaler", "columns"]
)
def test_features_come_first_in_a_pipeline(first):
    with pytest.raises(InputError, match="Give features first and annotations second: fit"):
        make_pipeline(first, PartitionLabelModel()).fit(GROUPINGS, X)


def test_features_that_are_none():
    with pytest.raises(InputError, match=r"^MPCKMeans needs features, and X is None"):
        MPCKMeans(2).fit(None, GROUPINGS)


@pytest.mark.parametrize(
    "model",
    [
        KCC(2, random_state=0).fit(GROUPINGS),
        DawidSkene().fit(ALL[1]),
        MPCKMeans(2, random_state=0).fit(X, GROUPINGS),
        PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(X, GROUPINGS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_names_of_items_and_annotators_to_predict(model):
    two = model.predict_same(pd.Series(NAMES[:2]), X.index[2:4])
    np.testing.assert_array_equal(two, model.predict_same(NAMES[:2], NAMES[2:4]))
    for names in ({"card 1"}, {"card 1": 1}, X):
        with pytest.raises(InputError, match=r"^'item_a' must be a list of names"):
            model.predict_same(names, names)
    with pytest.raises(InputError, match=r"^'annotator' must be one name. Got a list instead: \['ann0'\]"):
        model.predict_same("card 0", "card 1", annotator=["ann0"])
    with pytest.raises(InputError, match="'ann7' was not fitted"):
        model.predict_same("card 0", "card 1", annotator="ann7")


def test_one_item_of_a_table_of_pairs():
    assert SubsetFusion(2, random_state=0).fit(GROUPINGS).co_occurrence("card 1").shape == (1, 1)
