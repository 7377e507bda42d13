"""`ProductMixture` over partitions: as in memory, for any partitioning."""

import numpy as np
import pandas as pd
import pytest

from consilience.consensus import DawidSkene, ProductMixture
from consilience.errors import AnnotationWarning, InputError
from consilience.inference import parts
from consilience.partitions import PartitionedTable, fit
from consilience.partitions.models import product_mixture
from consilience.simulation import simulate_copies
from tests.partitions import made, same_fit
from tests.partitions.test_fitting import PARTITIONINGS
from tests.quick_cases import quick_in_turn

FIXED = {"copies": None, "random_state": 0}
RANDOM = FIXED | {"init": "random", "n_init": 2, "tol": 1e-12}
ARRAYS = ("weights_", "restart_bounds_", "log_likelihood_")


def assert_same_fit(settings, frames, **arguments):
    """Fit both ways, and compare."""
    return same_fit.assert_same_fit(ProductMixture(**settings), frames, arrays=ARRAYS, **arguments)


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 4), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    assert_same_fit(FIXED, cut(made.crowd()))


@pytest.mark.parametrize("settings", [FIXED, RANDOM | {"n_clusters": 4}], ids=["votes", "random"])
@pytest.mark.parametrize("n_sweeps", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 1), ids=PARTITIONINGS)
def test_each_sweep_is_that_in_memory(cut, n_sweeps, settings):
    assert_same_fit(settings | {"max_iter": n_sweeps, "tol": 0.0}, cut(made.crowd()), tolerance=1e-10)


@pytest.mark.parametrize(
    "settings",
    [RANDOM, RANDOM | {"n_clusters": 2}, FIXED | {"smoothing": 1.0, "init": "votes"}, RANDOM | {"init": "auto"}],
    ids=str,
)
def test_the_parameters_mean_the_same(settings):
    assert_same_fit(settings | {"max_iter": 2000}, made.cut(made.crowd(200, 8), 3))


def test_late_annotators_second_labels_and_items_without_labels_count_as_in_memory():
    frame = made.crowd()
    again = frame[:40].assign(label="cow")
    blank = pd.DataFrame({"item": range(600, 606), "annotator": None, "label": None})
    first, second = made.cut(pd.concat([frame, again[again["label"] != frame["label"][:40]], blank]), 2)
    late = second[second["label"].notna()][:30].assign(annotator="a late one")
    here, there = assert_same_fit(FIXED, [first, pd.concat([second, late])])
    assert pd.isna(here.labels_).sum() == 6
    assert there.annotators_.index[-1] == "a late one"


def test_a_large_table_starts_from_a_sample(monkeypatch):
    frame = made.crowd(2000)
    monkeypatch.setattr(product_mixture, "SAMPLE", 300)
    table = PartitionedTable(made.cut(frame, 4))
    model = fit(ProductMixture(n_init=4, init="random", **FIXED), table)
    here = ProductMixture(n_init=4, init="random", **FIXED).fit(made.whole([frame]))
    assert model.lower_bound_ == pytest.approx(here.lower_bound_, rel=1e-4)
    assert model.lower_bounds_.tolist() != here.lower_bounds_.tolist()


@pytest.mark.slow
def test_an_interrupted_fit_goes_on(tmp_path):
    table, path = PartitionedTable(made.cut(made.crowd(), 3)), tmp_path / "fit.npz"
    whole = fit(ProductMixture(**RANDOM), table)
    with made.interrupted_after(5 * len(table), parts, "sum_posteriors"):
        fit(ProductMixture(**RANDOM), table, checkpoint=path)
    resumed = fit(ProductMixture(**RANDOM), table, checkpoint=path)
    assert resumed.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    assert resumed.restart_bounds_.tolist() == whole.restart_bounds_.tolist()
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(ProductMixture(**RANDOM | {"n_clusters": 2}), table, checkpoint=path)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does(client):
    table = PartitionedTable(made.cut(made.crowd(), 5))
    here, there = fit(ProductMixture(**RANDOM), table), fit(ProductMixture(**RANDOM), table, client=client)
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(here.annotators_, there.annotators_, rtol=0, atol=0)


@pytest.mark.parametrize(
    "settings", [{}, RANDOM | {"n_clusters": 2, "copies": [["annotator 1", "annotator 5"]]}], ids=str
)
def test_copies_weigh_together_as_in_memory(settings):
    """Found, and given."""
    labels = simulate_copies(
        made.whole([made.crowd(per_item=8)]), "annotator 2", n_copies=2, alike=0.97, random_state=0
    )
    frames = made.cut(labels.to_frame().astype({"annotator": object, "label": object}), 4)
    here, there = assert_same_fit({"random_state": 0} | settings, frames)
    assert here.copies_["annotators"].tolist() == there.copies_["annotators"].tolist() != []
    if not settings:
        with pytest.warns(AnnotationWarning, match="ProductMixture: The annotators .* do not agree like that"):
            fit(ProductMixture(), PartitionedTable(frames))


def test_new_labels_are_classified():
    frame = made.crowd()
    model = fit(ProductMixture(**FIXED), PartitionedTable(made.cut(frame, 3)))
    here = ProductMixture(**FIXED).fit(made.whole([frame]))
    assert model.predict(made.whole([frame])).tolist() == here.labels_.tolist()
    fitted_before = fit(here, PartitionedTable(made.cut(frame, 3)))
    assert not hasattr(fitted_before, "labels_")


def test_what_partitions_cannot_fit_is_refused(tmp_path):
    table = PartitionedTable(made.cut(made.crowd(60), 3))
    with pytest.raises(
        InputError, match="must be 'auto', 'votes' or 'random': an array would need a row for each item"
    ):
        fit(ProductMixture(copies=None, init=np.ones((60, 3))), table)
    with pytest.raises(InputError, match="votes give no start for 5 components"):
        fit(ProductMixture(5, copies=None, init="votes"), table)
    with pytest.raises(InputError, match="the 'random_state' parameter of ProductMixture must be an int"):
        fit(ProductMixture(5, copies=None), table, checkpoint=tmp_path / "fit.npz")
    with pytest.raises(InputError, match="The 'smoothing' parameter of ProductMixture must be"):
        fit(ProductMixture(copies=None, smoothing=0.0), table)
    blank = pd.DataFrame({"item": [1, 2], "annotator": None, "label": None})
    with pytest.raises(InputError, match="ProductMixture needs labels, and none of the 2 items has any"):
        fit(ProductMixture(copies=None), PartitionedTable([blank]))
    with pytest.raises(InputError, match="more than"):
        fit(ProductMixture(10**8, copies=None), table)
    assert fit(DawidSkene(subtypes=1), table).n_clusters_ == 3
