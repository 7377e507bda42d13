"""`KCC` over partitions: as in memory, for any partitioning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from consilience.consensus import KCC
from consilience.consensus.groupings.co_occurrence import Seen
from consilience.consensus.groupings.kcc import ItemsInMemory, update
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.iterate import UnsettledWarning
from consilience.metrics import ami
from consilience.partitions import PartitionedTable, fit, item_results, write_item_results
from consilience.partitions.engine.map_reduce import LocalParts
from consilience.partitions.models import kcc
from consilience.partitions.survey import item_survey
from tests.partitions import made
from tests.partitions.test_fitting import PARTITIONINGS
from tests.quick_cases import quick_in_turn

SETTINGS = {"n_clusters": 3, "n_init": 3, "random_state": 0}
OF_ANNOTATORS = ("centroids_", "annotators_")
NUMBERS = ("n_clusters_", "n_iter_", "converged_")
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def groups(n_items=400, n_annotators=8, seed=0):
    """Sorts of items into groups that only their annotator knows; some items have few."""
    frame = made.crowd(n_items, n_annotators, seed=seed)
    return frame.assign(label=frame["annotator"].str[-1] + " " + frame["label"])


def whole(frames):
    """All partitions in memory; each annotator has names of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Annotators share hardly any labels", AnnotationWarning)
        return made.whole(frames)


def assert_same_fit(settings, frames, **arguments):
    """Fit both ways, and compare all attributes without an axis of items, and the clusters of items."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        here = KCC(**settings).fit(whole(frames))
        there = fit(KCC(**settings), PartitionedTable(frames), **arguments)
        results = pd.concat(item_results(there, PartitionedTable(frames), responsibilities=True))
    for name in NUMBERS:
        assert getattr(here, name) == getattr(there, name)
    for name in OF_ANNOTATORS:
        pd.testing.assert_frame_equal(
            getattr(here, name).sort_index(),
            getattr(there, name).loc[getattr(here, name).index].sort_index(),
            check_index_type=False,
            **CLOSE,
        )
    for name in ("objective_", "utility_"):
        assert getattr(here, name) == pytest.approx(getattr(there, name), rel=1e-10)
    results = results.set_index("item").loc[here.items_]
    if here.converged_:
        assert results["cluster"].fillna(-1).tolist() == here.labels_.tolist()
        np.testing.assert_allclose(results.iloc[:, 1:], here.responsibilities_, **CLOSE)
    return here, there


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 4), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    assert_same_fit(SETTINGS, cut(groups()))


@pytest.mark.parametrize("n_sweeps", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 1), ids=PARTITIONINGS)
def test_each_sweep_is_that_in_memory(cut, n_sweeps):
    assert_same_fit(SETTINGS | {"max_iter": n_sweeps, "n_init": 1}, cut(groups(seed=1)))


@pytest.mark.parametrize(
    "settings",
    [
        {"utility": "entropy"},
        {"utility": "categorical", "normalize": True},
        {"utility": "cosine", "init": "k-means++"},
        {"p": 8.0, "n_clusters": 6},
    ],
    ids=str,
)
def test_the_parameters_mean_the_same(settings):
    assert_same_fit(SETTINGS | settings, made.cut(groups(seed=2), 3))


def test_empty_clusters_take_the_farthest_items_of_all_partitions():
    """Annotators who agree distinguish three items, and four clusters leave one empty."""
    frame = pd.DataFrame({"item": range(12), "label": list("aaaaabbbbccd")})
    sorts = pd.concat([frame.assign(annotator=name) for name in ("Ann", "Bo")])
    odd = pd.DataFrame({"item": [0, 1, 2], "label": ["x", "x", "y"], "annotator": "Cy"})
    for n_clusters in (4, 5, 7):
        settings = {"n_clusters": n_clusters, "n_init": 2, "random_state": 1}
        assert_same_fit(settings, made.cut(pd.concat([sorts, odd]), 3))


def test_a_sweep_fills_an_empty_cluster_as_in_memory(tmp_path):
    """From centroids of which one is nobody's."""
    given = whole([groups(60, 5)]).to_groupings()
    model = KCC(**SETTINGS)
    seen = Seen.of(given)
    problem = model.problem_of(seen.memberships)
    items = ItemsInMemory.of(seen.memberships.in_group)
    start = update(problem, items.count(np.zeros(60, dtype=int), 3))
    in_memory = items.assign(problem.table(start.shares))
    table = PartitionedTable(made.cut(groups(60, 5), 4))
    keys = given.vocabulary.group_keys()
    parts = [kcc.prepare_part(item_survey.read_labelled_items(one), keys) for one in enumerate(table.partitions)]
    counted = kcc.ItemsInParts(LocalParts(parts, tmp_path)).assign(problem.table(start.shares))
    assert counted.sizes.tolist() == in_memory.sizes.tolist() == np.bincount(in_memory.cluster, minlength=3).tolist()
    assert sorted(counted.sizes.tolist())[:2] == [1, 1]
    np.testing.assert_array_equal(counted.counts, in_memory.counts)


def test_threads_change_no_digit():
    table = PartitionedTable(made.cut(groups(), 5))
    one, several = fit(KCC(**SETTINGS), table), fit(KCC(**SETTINGS), table, n_jobs=3)
    assert one.objective_ == several.objective_
    pd.testing.assert_frame_equal(one.centroids_, several.centroids_, rtol=0, atol=0)


def test_second_labels_items_without_labels_and_late_annotators_count_as_in_memory():
    frame = groups()
    again = frame[:30].assign(label="another")
    blank = pd.DataFrame({"item": range(400, 406), "annotator": None, "label": None})
    late = frame[-10:].assign(annotator="a late one", label="late")
    frames = [*made.cut(pd.concat([frame, again, blank]), 3), late]
    last = frames[-1]["item"].tolist()
    frames = [one[~one["item"].isin(last)] for one in frames[:3]] + [
        pd.concat([late, *(one[one["item"].isin(last)] for one in frames[:3])])
    ]
    here, _ = assert_same_fit(SETTINGS, frames)
    assert (here.labels_ == -1).sum() == 6


def test_a_large_table_starts_from_a_sample(monkeypatch):
    """The same clusters up to a few items, and the same for any partitioning."""
    frame = groups(3000, 10)
    monkeypatch.setattr(kcc, "SAMPLE", 500)
    tables = [PartitionedTable(made.cut(frame, n)) for n in (2, 7)]
    fitted = [fit(KCC(**SETTINGS), table) for table in tables]
    found = [pd.concat(item_results(*one)).set_index("item")["cluster"] for one in zip(fitted, tables)]
    assert found[0].sort_index().tolist() == found[1].sort_index().tolist()
    here = KCC(**SETTINGS).fit(whole([frame]))
    assert fitted[0].objective_ <= here.objective_ * 1.01
    assert ami(here.labels_, found[0].loc[here.items_].to_numpy(int)) > 0.9


def test_new_items_are_placed_and_scored():
    frame = groups()
    model = fit(KCC(**SETTINGS), PartitionedTable(made.cut(frame, 3)))
    here = KCC(**SETTINGS).fit(whole([frame]))
    assert model.predict(whole([frame])).tolist() == here.labels_.tolist()
    assert model.score(whole([frame])) == pytest.approx(here.score(whole([frame])), rel=1e-10)
    assert not hasattr(model, "labels_")


def test_results_are_written(tmp_path):
    frames = made.cut(groups(), 3)
    model = fit(KCC(**SETTINGS), PartitionedTable(frames))
    paths = write_item_results(model, PartitionedTable(frames), tmp_path)
    written = pd.concat(map(pd.read_parquet, paths))
    pd.testing.assert_frame_equal(written, pd.concat(item_results(model, PartitionedTable(frames))), check_dtype=False)


# ---- checkpoints and clusters


def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch):
    table, path = PartitionedTable(made.cut(groups(seed=3), 3)), tmp_path / "fit.npz"
    settings = SETTINGS | {"init": "k-means++", "n_clusters": 5}
    whole = fit(KCC(**settings), table)
    with made.interrupted_after(3 * len(table), kcc, "sweep_part"):
        fit(KCC(**settings), table, checkpoint=path)
    resumed = fit(KCC(**settings), table, checkpoint=path)
    assert resumed.objective_ == whole.objective_
    pd.testing.assert_frame_equal(resumed.centroids_, whole.centroids_, rtol=0, atol=0)
    monkeypatch.setattr(kcc, "sweep_part", None)  # no sweep is left
    assert fit(KCC(**settings), table, checkpoint=path).objective_ == whole.objective_
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(KCC(**settings | {"n_clusters": 4}), table, checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its labels differ"):
        fit(KCC(**settings), PartitionedTable(made.cut(groups(), 3)), checkpoint=path)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does_and_survives_a_killed_worker(client, tmp_path):
    table, path = PartitionedTable(made.cut(groups(2000, 20), 5)), tmp_path / "fit.npz"
    settings = SETTINGS | {"init": "k-means++", "n_init": 20}
    here = fit(KCC(**settings), table)
    killed = made.kill_one_of(client, path)
    there = fit(KCC(**settings), table, client=client, checkpoint=path)
    assert killed.is_set()
    assert here.objective_ == there.objective_
    pd.testing.assert_frame_equal(here.centroids_, there.centroids_, rtol=0, atol=0)


# ---- what is refused


def test_what_partitions_cannot_fit_is_refused(tmp_path):
    table = PartitionedTable(made.cut(groups(), 3))
    with pytest.raises(InputError, match="The 'p' parameter of KCC must be a number above 1"):
        fit(KCC(p=1.0), table)
    with pytest.raises(InputError, match="the 'random_state' parameter of KCC must be an int"):
        fit(KCC(), table, checkpoint=tmp_path / "fit.npz")
    with pytest.raises(InputError, match="The table of a KCC must be a PartitionedTable"):
        fit(KCC(), groups())
    few = PartitionedTable([groups()[:3]])
    with pytest.raises(InputError, match="must be at most the number of items that are in some grouping"):
        fit(KCC(), few)
    blank = pd.DataFrame({"item": [1, 2], "annotator": None, "label": None})
    with pytest.raises(InputError, match="KCC needs labels, and none of the 2 items has any"):
        fit(KCC(), PartitionedTable([blank]))
    nothing = pytest.raises(InputError, match=r"items that are in some grouping \(n_samples = 0\)")
    with nothing, pytest.warns(AnnotationWarning):
        fit(KCC(2), PartitionedTable([groups().assign(label=-1)]))
    with pytest.raises(InputError, match="All rows of an item must be in one partition"):
        fit(KCC(2), PartitionedTable([groups()[:101], groups()[101:]]))


def test_a_fit_that_still_moves_is_told():
    table = PartitionedTable(made.cut(groups(seed=4), 3))
    with pytest.warns(UnsettledWarning, match="KCC: The objective still improved after max_iter=1 sweeps"):
        fit(KCC(5, init="k-means++", n_init=1, max_iter=1, random_state=0), table)
