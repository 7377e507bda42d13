"""PartitionLabelModel fitted to partitions is PartitionLabelModel fitted in memory."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings, Labels, save
from consilience.errors import AnnotationWarning, InputError
from consilience.partitions import PartitionedItems, PartitionedTable, fit, item_results, write_item_results
from consilience.partitions.models import partition_label_model as over_partitions
from consilience.semisupervised import PartitionLabelModel, partition_label_model
from tests.partitions.item_tables import FEATURES, SETTINGS, SORTERS, in_memory, items, table_of
from tests.partitions.made import interrupted_after, kill_one_of
from tests.quick_cases import quick_in_turn, some_quick

CLOSE = {"rtol": 1e-6, "atol": 1e-6}

PARTITIONINGS = {
    "one": lambda frame: [frame],
    "interleaved": lambda frame: [frame[number::5] for number in range(5)],
    "skewed": lambda frame: [frame[:1], frame[1:]],
    "with empty ones": lambda frame: [frame[:0], frame[:0], frame[:100], frame[100:], frame[:0]],
    "one without labels": lambda frame: [
        frame[frame[SORTERS].isna().all(axis=1)],
        frame[frame[SORTERS].notna().any(axis=1)],
    ],
    "an annotator in one only": lambda frame: [frame[frame[SORTERS[0]].isna()], frame[frame[SORTERS[0]].notna()]],
}


def results_of(model, table, names):
    return pd.concat(item_results(model, table, responsibilities=True)).set_index("item").loc[names]


def assert_same(here, there, table, **close):
    """Compare all attributes without an axis of items, and the results of items."""
    assert here.n_iter_ == there.n_iter_
    assert here.n_clusters_ == there.n_clusters_
    for name in ("lower_bounds_", "restart_bounds_", "coef_", "intercept_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), **close)
    pd.testing.assert_frame_equal(there.annotators_, here.annotators_, **close)
    for name in ("groupings_", "mapping_probabilities_", "label_probabilities_"):
        found, expected = getattr(there, name), getattr(here, name)
        pd.testing.assert_frame_equal(found.sort_index(), expected.sort_index(), **close)
    columns = ["annotator", "grouping", "group"]
    mapped = [model.annotator_mapping_.set_index(columns).sort_index() for model in (there, here)]
    pd.testing.assert_frame_equal(*mapped, **close)
    results = results_of(there, table, here.items_)
    assert results["cluster"].tolist() == here.labels_.tolist()
    np.testing.assert_allclose(results.iloc[:, 2:], here.responsibilities_, **close)
    np.testing.assert_allclose(results["probability"], here.responsibilities_.max(1), **close)


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 1), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    frame = items()
    table = table_of(cut(frame))
    here, there = in_memory(frame, SETTINGS), fit(PartitionLabelModel(**SETTINGS), table)
    assert_same(here, there, table, **CLOSE)
    assert here.notes_ == there.notes_
    X = frame.set_index("item")[FEATURES]
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), **CLOSE)


@pytest.mark.parametrize("n_sweeps", [pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 2), ids=PARTITIONINGS)
def test_each_sweep_is_that_in_memory(cut, n_sweeps):
    frame, settings = items(), SETTINGS | {"max_iter": n_sweeps, "tol": 0.0}
    table = table_of(cut(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        here, there = in_memory(frame, settings), fit(PartitionLabelModel(**settings), table)
    assert_same(here, there, table, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "settings",
    [
        {"init": "random"},
        {"reliability": "prior"},
        {"rich_get_richer": 0.0},
        {"diagonal_concentration": 20.0, "prior_variance": 0.3},
        {"random_state": np.random.RandomState},
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in [{"n_init": 3}, {"prior_variance": "auto", "n_init": 2}, {"n_clusters": 2, "n_init": 2}]
        ),
    ],
    ids=str,
)
def test_the_parameters_mean_the_same(settings):
    frame = items()

    def parameters():
        return SETTINGS | {name: value(1) if callable(value) else value for name, value in settings.items()}

    table = table_of([frame[:90], frame[90:]])
    assert_same(in_memory(frame, parameters()), fit(PartitionLabelModel(**parameters()), table), table, **CLOSE)


def test_joined_clusters_are_those_in_memory():
    """Pairs of clusters whose labels are equal with certainty are tried in an order that rounding decides."""
    frame = items()
    table, settings = table_of([frame[:150], frame[150:]]), SETTINGS | {"merge": True}
    here, there = in_memory(frame, settings), fit(PartitionLabelModel(**settings), table)
    assert here.n_clusters_ == there.n_clusters_ == 4
    assert abs(there.lower_bound_ - here.lower_bound_) < 1e-5 * abs(here.lower_bound_)
    assert results_of(there, table, here.items_)["cluster"].tolist() == here.labels_.tolist()


def test_a_long_table_of_labels_is_that_of_columns():
    frame = items()
    long = frame.melt("item", SORTERS, "annotator", "label").dropna()
    frames = [frame[:150], frame[150:]]
    labels = PartitionedTable([long[long["item"].isin(one["item"])] for one in frames])
    table = PartitionedItems(frames, features=FEATURES, labels=labels)
    assert_same(in_memory(frame, SETTINGS), fit(PartitionLabelModel(**SETTINGS), table), table, **CLOSE)


def test_a_second_label_of_an_item_is_a_further_grouping():
    frame = items()
    long = frame.melt("item", SORTERS, "annotator", "label").dropna()
    again = long[:25].assign(label="another pile")
    long = pd.concat([long, again])
    named = frame.set_index("item")[FEATURES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        here = PartitionLabelModel(**SETTINGS).fit(named, Labels.from_frame(long, items=named.index))
    frames = [frame[:150], frame[150:]]
    labels = PartitionedTable([long[long["item"].isin(one["item"])] for one in frames])
    table = PartitionedItems(frames, features=FEATURES, labels=labels)
    there = fit(PartitionLabelModel(**SETTINGS), table)
    assert len(there.groupings_) > len(SORTERS)
    assert_same(here, there, table, **CLOSE)


def test_items_without_names_are_numbered_over_partitions():
    frame = items().drop(columns="item")
    table = table_of([frame[:150], frame[150:150], frame[150:]])
    here = PartitionLabelModel(**SETTINGS).fit(frame[FEATURES], Groupings.from_matrix(frame[SORTERS], missing=[]))
    there = fit(PartitionLabelModel(**SETTINGS), table)
    assert_same(here, there, table, **CLOSE)
    assert pd.concat(item_results(there, table))["item"].tolist() == list(range(240))


def test_threads_change_no_digit():
    frame = items()
    table = table_of([frame[number::5] for number in range(5)])
    settings = SETTINGS | {"tol": 1e-2}  # few sweeps
    one, several = (fit(PartitionLabelModel(**settings), table, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.lower_bounds_.tolist() == several.lower_bounds_.tolist()
    assert one.coef_.tolist() == several.coef_.tolist()


def test_the_start_of_many_items_is_that_of_a_sample_for_any_partitioning(monkeypatch):
    monkeypatch.setattr(over_partitions, "SAMPLE", 100)
    seen = []
    monkeypatch.setattr(over_partitions, "arrange", lambda *given: seen.append(given[0]) or ARRANGE(*given))
    frame = items()
    settings = SETTINGS | {"tol": 1e-3}
    models = [fit(PartitionLabelModel(**settings), table_of(cut(frame))) for cut in PARTITIONINGS.values()]
    assert {len(one) for one in seen} == {100}
    assert len({frozenset(one.items) for one in seen}) == 1
    for model in models[1:]:
        np.testing.assert_allclose(model.lower_bounds_, models[0].lower_bounds_, rtol=1e-9)


ARRANGE = over_partitions.arrange


# ---- results


@pytest.mark.parametrize("on_cluster", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_results_are_written_a_file_for_each_partition(tmp_path, request, on_cluster):
    pytest.importorskip("pyarrow")
    source, results = tmp_path / "in", tmp_path / "out"
    for folder in (source, results):
        folder.mkdir()
    frame = items()
    for number, one in enumerate([frame[:0], frame[:150], frame[150:]]):
        one.to_parquet(source / f"{number}.parquet", index=False)
    table = table_of(source)
    client = request.getfixturevalue("client") if on_cluster else None
    model = fit(PartitionLabelModel(**SETTINGS), table, client=client)
    assert fit(PartitionLabelModel(**SETTINGS), table_of([frame])).n_iter_ == model.n_iter_
    paths = write_item_results(model, table, results, responsibilities=True, client=client)
    assert [path.name for path in paths] == ["items-00001.parquet", "items-00002.parquet"]
    _, *others = item_results(model, table, responsibilities=True)
    for path, one in zip(paths, others, strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(path), one, check_dtype=False)
    with pytest.raises(InputError, match="holds the table itself"):
        write_item_results(model, table, source)


def test_numbered_items_are_written_with_their_numbers(tmp_path):
    pytest.importorskip("pyarrow")
    frame = items().drop(columns="item")
    table = table_of([frame[:150], frame[150:]])
    model = fit(PartitionLabelModel(**SETTINGS), table)
    write_item_results(model, table, tmp_path)
    assert pd.read_parquet(tmp_path)["item"].tolist() == list(range(240))


def test_new_items_are_clustered_by_their_features_and_labels():
    frame = items()
    model = fit(PartitionLabelModel(**SETTINGS), table_of([frame[:180]]))
    new = frame[180:].assign(**dict.fromkeys(SORTERS))
    found = pd.concat(item_results(model, table_of([new])))
    assert found["cluster"].tolist() == model.predict(new[FEATURES]).tolist()
    strange = new.assign(**{SORTERS[0]: "a new pile"})
    with pytest.raises(InputError, match="partition 0: the group 'a new pile' of annotator 'annotator 0' was not fit"):
        list(item_results(model, table_of([strange])))


def test_a_model_fitted_in_memory_has_no_results_of_partitions(tmp_path):
    frame = items()
    model = fit(PartitionLabelModel(**SETTINGS), table_of([frame]))
    named = frame.set_index("item")
    model.fit(named[FEATURES], Groupings.from_matrix(named[SORTERS], missing=[]))
    with pytest.raises(InputError, match="This one was fitted in memory: see its labels_ and predict"):
        next(item_results(model, table_of([frame])))
    save(model, tmp_path / "model.zip")  # nothing of the fit to partitions is left
    fit(model, table_of([frame]))
    assert not {"items_", "labels_", "responsibilities_", "_given"} & set(vars(model))


# ---- checkpoints


@pytest.mark.parametrize("sweep", some_quick([14, 2, 6]))
def test_an_interrupted_fit_goes_on_from_its_last_sweep(tmp_path, monkeypatch, sweep):
    """Restarts and mergers are runs of their own: interrupted are a merger, the first, and the second."""
    frame, settings = items(), SETTINGS | {"n_init": 2, "merge": True, "tol": 1e-3}
    table, path, swept = table_of([frame[:150], frame[150:]]), tmp_path / "fit.npz", []
    step = partition_label_model.step
    with monkeypatch.context() as patched:
        patched.setattr(partition_label_model, "step", lambda *given: swept.append(1) or step(*given))
        whole = fit(PartitionLabelModel(**settings), table)
        n_sweeps = len(swept)
        with interrupted_after(sweep, partition_label_model, "step"):
            fit(PartitionLabelModel(**settings), table, checkpoint=path)
        swept.clear()
        patched.setattr(partition_label_model, "step", lambda *given: swept.append(1) or step(*given))
        resumed = fit(PartitionLabelModel(**settings), table, checkpoint=path)
    assert sweep < n_sweeps
    assert len(swept) == n_sweeps - sweep
    assert resumed.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    assert resumed.coef_.tolist() == whole.coef_.tolist()


def test_the_checkpoint_of_another_fit_is_refused(tmp_path):
    frame, path = items(), tmp_path / "fit.npz"
    fit(PartitionLabelModel(**SETTINGS), table_of([frame]), checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its data differ"):
        fit(PartitionLabelModel(**SETTINGS), table_of([frame[:-1]]), checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(PartitionLabelModel(**SETTINGS | {"tol": 1e-3}), table_of([frame]), checkpoint=path)
    with pytest.raises(InputError, match=r"holds \d+ sweeps, more than max_iter=2"):
        fit(PartitionLabelModel(**SETTINGS | {"max_iter": 2}), table_of([frame]), checkpoint=path)


def test_a_fit_that_may_go_on_needs_a_seed(tmp_path):
    model = PartitionLabelModel(**SETTINGS | {"random_state": None})
    with pytest.raises(
        InputError, match=r"the 'random_state' parameter of PartitionLabelModel must be an int.*Got None"
    ):
        fit(model, table_of([items()]), checkpoint=tmp_path / "fit.npz")


# ---- clusters


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does(client):
    frame = items()
    table = table_of([frame[number::5] for number in range(5)])
    here, there = (fit(PartitionLabelModel(**SETTINGS), table, client=who) for who in (None, client))
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    assert here.coef_.tolist() == there.coef_.tolist()


@pytest.mark.slow
def test_a_dask_dataframe_has_partitions(client):
    dask = pytest.importorskip("dask.dataframe")
    frame = items()
    table = table_of(dask.from_pandas(frame, npartitions=3, sort=False))
    there = fit(PartitionLabelModel(**SETTINGS), table, client=client)
    assert_same(in_memory(frame, SETTINGS), there, table, **CLOSE)


@pytest.mark.slow
def test_a_fit_survives_a_worker_that_is_killed_between_sweeps(client, tmp_path):
    frame, path = items(), tmp_path / "fit.npz"
    table = table_of([frame[number::5] for number in range(5)])
    whole = fit(PartitionLabelModel(**SETTINGS), table)
    killed = kill_one_of(client, path)
    survived = fit(PartitionLabelModel(**SETTINGS), table, client=client, checkpoint=path)
    assert killed.is_set()
    assert survived.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    assert survived.coef_.tolist() == whole.coef_.tolist()
