"""Results of items of MCVC and MECC that were fitted to partitions."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from consilience.errors import InputError
from consilience.partitions import PartitionedTable, fit, item_results, write_item_results
from consilience.partitions.models import mcvc_results
from tests.partitions.view_tables import (
    CLOSE,
    FEATURES,
    MODELS,
    SORTERS,
    in_memory,
    items,
    quietly,
    sorts,
    table_of,
    with_features,
)


@pytest.fixture(scope="module")
def table():
    frame = items()
    return table_of([frame[:60], frame[60:]])


@pytest.fixture(scope="module")
def fitted(table):
    return quietly(fit, MODELS["MCVC"](), table)


def test_new_items_are_predicted_as_in_memory(fitted):
    X, here = items(seed=1).set_index("item")[FEATURES], in_memory("MCVC")
    for view in range(len(here.views_)):
        np.testing.assert_allclose(fitted.predict_proba(X, view), here.predict_proba(X, view), **CLOSE)
    assert fitted.predict(X).tolist() == here.predict(X).tolist()


def test_attributes_of_items_are_not_had(fitted):
    assert not {"items_", "labels_", "responsibilities_", "view_labels_", "view_responsibilities_", "_given"} & set(
        vars(fitted)
    )


def test_results_have_a_column_for_each_view(fitted, table):
    found = next(item_results(fitted, table))
    assert found.columns.tolist() == [
        "item",
        *(f"{what} in view {view}" for view in range(len(fitted.views_)) for what in ("cluster", "probability")),
    ]
    each = next(item_results(fitted, table, responsibilities=True))
    assert each.columns[-1] == f"cluster {fitted.views_['n_clusters'].iloc[-1] - 1} in view {len(fitted.views_) - 1}"
    model = quietly(fit, MODELS["MECC"](), table)
    assert next(item_results(model, table)).columns.tolist() == ["item", "cluster", "probability"]


def test_an_item_without_labels_has_a_cluster_if_it_has_features(fitted, table):
    frame = items()
    blank = frame.assign(**dict.fromkeys(SORTERS))[:20]
    found = next(item_results(fitted, table_of([blank])))["cluster in view 0"]
    assert found.dtype == np.dtype(int)
    of_labels = sorts()
    nothing = pd.DataFrame({"item": ["u", "v"], "annotator": None, "label": None})
    blanks = PartitionedTable([of_labels, nothing, of_labels[:0]])
    model = quietly(fit, MODELS["MECC"](), blanks)
    _, missing, none = item_results(model, blanks, responsibilities=True)
    assert missing["cluster"].isna().all()
    assert missing["probability"].isna().all()
    np.testing.assert_allclose(missing.filter(like="cluster ").sum(axis=1), 1.0)
    assert len(none) == 0
    assert none.columns.tolist() == missing.columns.tolist()


def test_results_are_written(tmp_path):
    pytest.importorskip("pyarrow")
    frame = items().drop(columns="item")
    numbered = table_of([frame[:0], frame[:30], frame[30:]])
    model = quietly(fit, MODELS["MCVC"](), numbered)
    write_item_results(model, numbered, tmp_path, responsibilities=True)
    expected = pd.concat(item_results(model, numbered, responsibilities=True))
    assert expected["item"].tolist() == list(range(100))
    written = pd.concat(map(pd.read_parquet, sorted(tmp_path.iterdir())))
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_what_an_item_tells_its_groups_is_not_told_to_it():
    """A fixed point for weights of the own part of either sign, with one cluster that is certain, and without items."""
    rng = np.random.default_rng(0)
    told, own = 20 * rng.normal(size=(500, 4)), 10 * rng.normal(size=500)
    own[:50] = 0.0
    found = mcvc_results.settle_eta(told, own)
    np.testing.assert_allclose(softmax(told - own[:, None] * found, axis=1), found, atol=1e-8)
    np.testing.assert_allclose(found[:50], softmax(told[:50], axis=1), atol=1e-10)
    assert mcvc_results.settle_eta(told[:0], own[:0]).shape == (0, 4)


@pytest.mark.slow
def test_a_model_fitted_in_memory_has_no_results_of_partitions(table):
    model = quietly(fit, MODELS["MECC"](), table)
    with_features(model, items())
    with pytest.raises(InputError, match="This one was fitted in memory: see its view_labels_"):
        next(item_results(model, table))
    quietly(fit, model, table)
    assert not {"items_", "labels_", "view_labels_"} & set(vars(model))
