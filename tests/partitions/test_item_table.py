"""Tables of items in partitions: what is refused, of the data and of the parameters."""

import pandas as pd
import pytest

from consilience.errors import InputError
from consilience.partitions import PartitionedItems, PartitionedTable, fit
from consilience.semisupervised import PartitionLabelModel
from tests.partitions.item_tables import FEATURES, SETTINGS, SORTERS, in_memory, items, table_of


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"copies": "auto"}, "the 'copies' parameter of PartitionLabelModel must be None"),
        ({"n_clusters": 7}, "The 'n_clusters' parameter of PartitionLabelModel must be at most max_clusters, 6"),
        ({"tol": -1.0}, "The 'tol' parameter of PartitionLabelModel must be"),
        ({"rich_get_richer": 9.0}, "The 'rich_get_richer' parameter of PartitionLabelModel must be at most 0.0020833"),
        ({"max_clusters": 241}, "must be at most the number of items, 240"),
    ],
    ids=str,
)
def test_what_partitions_cannot_fit_is_refused(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        fit(PartitionLabelModel(**SETTINGS | settings), table_of([items()]))


def test_data_that_tell_nothing_are_refused():
    frame = items()
    with pytest.raises(InputError, match=r"needs more items than features\. Got 5 items and 5 features"):
        fit(PartitionLabelModel(**SETTINGS | {"max_clusters": 2}), table_of([frame[:5]]))
    with pytest.raises(InputError, match=r"Of 5 features of 10 items it would choose some: .* select_features=False"):
        fit(PartitionLabelModel(**SETTINGS | {"prior_variance": "auto"}), table_of([frame[:10]]))
    with pytest.raises(InputError, match="All 5 features are constant over the 240 items"):
        fit(PartitionLabelModel(**SETTINGS), table_of([frame.assign(**dict.fromkeys(FEATURES, 1.0))]))
    with pytest.raises(InputError, match="None of the items has a label"):
        fit(PartitionLabelModel(**SETTINGS), table_of([frame.assign(**dict.fromkeys(SORTERS))]))
    with pytest.raises(InputError, match="needs at least 2 items"):
        fit(PartitionLabelModel(**SETTINGS), table_of([frame[:0]]))


def test_an_item_in_two_partitions_is_named():
    frame = items()
    with pytest.raises(InputError, match="has rows in partition 0 and in partition 1"):
        fit(PartitionLabelModel(**SETTINGS), table_of([frame[:100], frame[99:]]))
    with pytest.raises(InputError, match="partition 0: The names of items must differ"):
        fit(PartitionLabelModel(**SETTINGS), table_of([pd.concat([frame, frame[:1]])]))


def test_features_that_are_no_finite_numbers_are_placed():
    frame = items()
    wrong = frame.assign(x1=frame["x1"].where(frame.index != 150))
    with pytest.raises(InputError, match=rf"partition 1: Feature 'x1' of item '{frame['item'][150]}' is missing"):
        fit(PartitionLabelModel(**SETTINGS), table_of([wrong[:100], wrong[100:]]))


def test_minus_one_has_to_be_explained():
    frame = items()
    codes = {name: frame[name].map({"pile 0": 0, "pile 1": 1, "pile 2": 2}).fillna(-1).astype(int) for name in SORTERS}
    coded = frame.assign(**codes)
    with pytest.raises(InputError, match=r"by PartitionedItems\(…, missing=-1\), or is a class, by missing=\[\]"):
        fit(PartitionLabelModel(**SETTINGS), table_of([coded]))
    there = fit(PartitionLabelModel(**SETTINGS), table_of([coded], missing=-1))
    assert there.annotators_["n_groups"].tolist() == [3] * 8
    assert there.lower_bound_ == pytest.approx(in_memory(frame, SETTINGS).lower_bound_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"features": []}, "needs features: give the names of their columns. Got none"),
        ({"features": "x0"}, "'features' must be a list of names of columns. Got 'x0'"),
        ({"features": ["x0", "x0"]}, "once. Got 'x0' twice"),
        ({"features": ["x9"]}, "the column 'x9' is missing"),
        ({"annotators": None}, "takes either 'annotators', columns of labels, or 'labels'. Got neither"),
        ({"annotators": None, "labels": 3}, "'labels' must be a PartitionedTable. Got a int"),
    ],
    ids=str,
)
def test_what_is_no_table_of_items_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        PartitionedItems([items()], **{"features": FEATURES, "annotators": SORTERS} | options)


def test_tables_of_labels_and_of_items_are_told_apart():
    frame = items()
    long = frame.melt("item", SORTERS, "annotator", "label").dropna()
    with pytest.raises(InputError, match=r"must be a PartitionedItems\. Got a PartitionedTable"):
        fit(PartitionLabelModel(**SETTINGS), PartitionedTable([long]))
    with pytest.raises(InputError, match="Got 2"):
        PartitionedItems([frame], features=FEATURES, labels=PartitionedTable([long, long]))
    with pytest.raises(InputError, match="say which labels are missing in PartitionedTable"):
        PartitionedItems([frame], features=FEATURES, labels=PartitionedTable([long]), missing=-1)
    with pytest.raises(InputError, match="the items need names"):
        PartitionedItems([frame.drop(columns="item")], features=FEATURES, labels=PartitionedTable([long]))
    elsewhere = PartitionedItems([frame[:100]], features=FEATURES, labels=PartitionedTable([long]))
    with pytest.raises(InputError, match="has labels in the partition of partition 0, and is not among its 100 items"):
        fit(PartitionLabelModel(**SETTINGS), elsewhere)
    assert repr(elsewhere) == "PartitionedItems(1 partition, 5 features, a long table of labels)"
